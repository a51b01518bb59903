"""Dynamics, targets, schemes and builds from Python objects: what they state, read as their YAML would be.

A build's dynamics, target and scheme are there already, or are named as a file would name them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from recipe_compiler.errors import shown
from recipe_compiler.formula.python_declaration import Declared
from recipe_compiler.spec import model
from recipe_compiler.spec.load import around
from recipe_compiler.spec.python_nodes import Statement, kinds_of, rows_of, sizes_of
from recipe_compiler.spec.read_build import read_build
from recipe_compiler.spec.read_dynamics import read_dynamics
from recipe_compiler.spec.read_scheme import read_scheme
from recipe_compiler.spec.read_target import read_target
from recipe_compiler.spec.yaml_nodes import Node

FOLDERS = {"dynamics": "../dynamics", "target": "../targets", "scheme": "../schemes"}
"""Where a build's document looks for the others, as those of this project do."""


def state_build(
    *,
    name: str,
    dynamics: model.Dynamics | str | Path,
    target: model.Target | str | Path,
    scheme: model.Scheme | str | Sequence[object] | Mapping[str, object],
    order: Sequence[object],
    variant: str,
    bind: Mapping[object, object] | None,
    parameters: Mapping[object, object] | None,
    sizes: Mapping[str, int] | None,
    data: Mapping[str, object] | None,
    init: Mapping[object, object] | None,
    derived: Mapping[object, object] | None,
    gradient_noise: object,
    minibatch: Mapping[str, object] | None,
    run: Mapping[str, object],
    title: str,
    references: Sequence[str],
) -> model.Build:
    """Return the build that `recipe_compiler.Build` states; arguments and errors are those given there."""
    s = Statement()
    stated = {"dynamics": dynamics, "target": target}
    models = {key: part for key, part in stated.items() if isinstance(part, (model.Dynamics, model.Target))}
    parts = {**models, **({"scheme": scheme} if isinstance(scheme, model.Scheme) else {})}
    files = {key: f"{FOLDERS[key]}/{part.name}.yaml" for key, part in parts.items()}
    noise_of_gradient = gradient_noise if isinstance(gradient_noise, Mapping) else {"V": gradient_noise}
    declared = {item.name for part in models.values() for item in part.declarations.parameters}
    used = s.declared(parameters or {}, bind or {}, init or {}, derived or {}, noise_of_gradient)
    new = {item.name: item for item in used if item.name not in declared}
    root = s.document(
        name,
        title,
        references,
        **{key: files.get(key, part) for key, part in stated.items()},
        bind=bind or None,
        parameters=dict(_parameters(s, parameters or {}, new)) or None,
        scheme=_scheme(s, files.get("scheme"), scheme, order),
        variant=variant,
        gradient_noise=None if gradient_noise is None else noise_of_gradient,
        minibatch=minibatch,
        sizes=sizes or None,
        data=data,
        init=init or None,
        derived=derived or None,
        run=s.mapping(**run),
    )

    def read() -> model.Build:
        made = read_build(root, s.file, around(s.folder, parts, in_memory=data is None))
        s.demand_sizes(used, {*made.dynamics.declarations.sizes, *made.target.declarations.sizes})
        return made

    return s.read(read)


def _scheme(s: Statement, file: str | None, scheme: object, order: Sequence[object]) -> Node:
    """Return the scheme's entry: the file that its document would be in, its name, a word, or what a document has."""
    key = "use" if file else "name" if isinstance(scheme, str) else "split"
    stated = dict(cast("Mapping[str, object]", scheme)) if isinstance(scheme, Mapping) else {key: file or scheme}
    return s.mapping(**{**stated, **({"order": [s.name(block) for block in order]} if order else {})})


def _parameters(
    s: Statement, given: Mapping[object, object], new: Mapping[str, Declared]
) -> Iterator[tuple[str, object]]:
    """Yield the values of parameters; those that the build brings in are declared with them, by their objects."""
    named = [(s.name(key), value) for key, value in given.items()]
    s.demand_once("parameters", [name for name, _ in named])
    for name, value in named:
        rows = rows_of(value)
        stated = s.node(f"parameters.{name}.value", value if rows is None else rows)
        yield name, s.parameter(new[name], value=stated) if name in new else s.mapping(value=stated)


def state_scheme(
    *,
    name: str,
    split: object,
    pieces: Mapping[str, object] | None,
    flows: Mapping[str, str] | None,
    keep: int | str | None,
    claims: Mapping[str, object] | None,
    title: str,
    references: Sequence[str],
) -> model.Scheme:
    """Return the scheme that `recipe_compiler.Scheme` states; arguments and errors are those given there."""
    s = Statement()
    root = s.document(
        name,
        title,
        references,
        split=split,
        pieces=pieces or None,
        flows=flows or None,
        keep=keep,
        claims=claims or None,
    )
    return s.read(lambda: read_scheme(root, s.file))


def state_target(
    *,
    name: str,
    state: Sequence[object],
    potential: object = None,
    log_prior: object = None,
    log_likelihood: object = None,
    data: Sequence[object] = (),
    gradient: str | Path | None = None,
    parameters: Sequence[object] = (),
    assume: Sequence[object] = (),
    laws: Mapping[object, object] | None = None,
    derived: Mapping[object, object] | None = None,
    recursion: Mapping[object, Mapping[str, object]] | None = None,
    title: str = "",
    references: Sequence[str] = (),
) -> model.Target:
    """Return the target that `recipe_compiler.Target` states; arguments and errors are those given there."""
    s = Statement()
    assume, state = s.assumptions(assume), s.blocks(state)
    blocks, fields = s.state(state), s.declared(*data)
    stated_laws = s.keys("laws", laws, 'laws={tau: "Gamma(a, b)"}')
    formulas = s.keys("derived", derived, 'derived={"theta": mu + tau*eta}')
    passed = s.keys("recursion", recursion, 'recursion={s: {"start": 1, "next": s/2 + y}}')
    states = dict(_row_states(s, passed))
    rows = [formula for _, entry in states.values() for formula in entry.values()]
    used = s.declared(*parameters, *state, potential, log_prior, log_likelihood, *assume, *formulas.values(), *rows)
    taken = {**dict.fromkeys(states, "a state of the recursion"), **{item.name: "a block" for item in blocks}}
    taken |= {item.name: "a field of the data" for item in fields}
    lengths = sizes_of(*blocks, *fields, *used)
    root = s.document(
        name,
        title,
        references,
        state={block.name: s.block(block) for block in blocks} or None,
        data={field.name: _field(s, field) for field in fields} or None,
        parameters={i.name: s.parameter(i) for i in s.parameters(parameters, used, taken, lengths)} or None,
        assume=list(assume) or None,
        potential=potential,
        recursion={name: s.row_state(item, entry) for name, (item, entry) in states.items()} or None,
        log_prior=log_prior,
        log_likelihood=log_likelihood,
        gradient=gradient,
        laws=stated_laws or None,
        derived=formulas or None,
    )
    return s.read(lambda: read_target(root, s.file))


def _row_states(
    s: Statement, given: Mapping[str, object]
) -> Iterator[tuple[str, tuple[Declared, Mapping[str, object]]]]:
    """Yield the states of a recursion by their names, each as declared, with its formulas."""
    for key, entry in given.items():
        named = s.declared(key)
        if len(named) != 1 or named[0].of is not None:
            problem = f"found `{shown(key)}`, expected a name with its shape"
            s.fault("recursion", problem, 'write `s = scalar("s")` and `recursion={s: {...}}`')
            continue
        name = named[0].name
        yield name, (named[0], s.keys(f"recursion.{name}", entry, '{"start": 1, "next": s/2 + y}'))


def _field(s: Statement, field: Declared) -> Node:
    kinds, values = kinds_of(field), list(field.values) or None
    return s.mapping(shape=field.shape, in_=values, is_=kinds, index_of=field.index_of)


def state_dynamics(
    *,
    name: str,
    state: Sequence[object],
    H: object,
    D: object = None,
    Q: object = None,
    parameters: Sequence[object] = (),
    potential: object = "",
    assume: Sequence[object] = (),
    claims: Mapping[str, object] | None = None,
    title: str = "",
    references: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
) -> model.Dynamics:
    """Return the dynamics that `recipe_compiler.Dynamics` states; arguments and errors are those given there."""
    s = Statement()
    state, potential = s.blocks(state), s.potential(potential)
    assume, claims = s.assumptions(assume), s.keys("claims", claims, 'claims={"drift": {theta: ...}}')
    blocks = s.state(state)
    given = {key: stated for key, stated in claims.items() if s.is_text("claims", key)}
    draws = _draws(s, given)
    used = s.declared(*parameters, *state, H, D, Q, *assume, *given.values())
    taken = {**{item.name: "a draw" for item in draws}, **{item.name: "a block" for item in blocks}}
    lengths = sizes_of(*blocks, *used)
    functions = [item for item in used if item.of is not None]
    if potential and potential not in [item.name for item in functions]:
        s.fault("potential", f"found no function `{potential}`, expected the one a target binds")
    root = s.document(
        name,
        title,
        references,
        state={block.name: s.block(block) for block in blocks} or None,
        parameters={i.name: s.parameter(i) for i in s.parameters(parameters, used, taken, lengths)} or None,
        functions={f.name: s.function(f, "potential" if f.name == potential else f.role) for f in functions} or None,
        assume=list(assume) or None,
        units=s.keys("units", units, 'units={"theta": "length"}') or None,
        H=H,
        D=s.matrix("D", D),
        Q=s.matrix("Q", Q),
        claims=s.mapping(**dict(_claims(s, given, draws))) if given else None,
    )
    return s.read(lambda: read_dynamics(root, s.where.file))


def _claims(s: Statement, given: Mapping[str, object], draws: Sequence[Declared]) -> Iterator[tuple[str, object]]:
    for key, stated in given.items():
        match key:
            case "noise":
                yield key, {draw.name: s.mapping(shape=draw.shape) for draw in draws}
            case "diffusion":
                yield key, s.matrix(f"claims.{key}", stated)
            case _:
                yield key, s.node(f"claims.{key}", stated)


def _draws(s: Statement, claims: Mapping[str, object]) -> tuple[Declared, ...]:
    """Return the standard normal draws that a claimed update shares."""
    stated = claims.get("noise", ())
    if isinstance(stated, Mapping):
        problem = "found keys with values, expected the draws themselves"
        s.fault("claims.noise", problem, 'write `w = vector("w", "d")` and `"noise": [w]`')
        return ()
    return s.declared(*(cast("Sequence[object]", stated) if isinstance(stated, list | tuple) else (stated,)))

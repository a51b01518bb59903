"""Dynamics from Python objects: the document that they state, read as its YAML would be."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.declared import Declared
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec import model
from recipe_compiler.spec.python_nodes import Statement
from recipe_compiler.spec.read_dynamics import read_dynamics


def state_dynamics(
    *,
    name: str,
    state: Sequence[object],
    H: object,
    D: object = None,
    Q: object = None,
    parameters: Sequence[object] = (),
    potential: str = "",
    assume: Sequence[object] = (),
    claims: Mapping[str, object] | None = None,
    title: str = "",
    references: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
) -> model.Dynamics:
    """Return the dynamics that `recipe_compiler.Dynamics` states; arguments and errors are those given there."""
    s = Statement()
    blocks = s.state(state)
    given, draws = dict(claims or {}), _draws(s, claims or {})
    used = s.declared(*parameters, *state, H, D, Q, *assume, *given.values())
    own = {item.name for item in (*blocks, *draws)} | _counted((*blocks, *used))
    functions = [item for item in used if item.of is not None]
    if potential and potential not in [item.name for item in functions]:
        s.fault("potential", f"found no function `{potential}`, expected the one a target binds")
    root = s.mapping(
        format=1,
        name=name,
        title=title or None,
        references=list(references) or None,
        state={block.name: s.block(block) for block in blocks} or None,
        parameters={i.name: s.parameter(i) for i in used if i.of is None and i.name not in own} or None,
        functions={f.name: s.function(f, "potential" if f.name == potential else f.role) for f in functions} or None,
        assume=list(assume) or None,
        units=dict(units) if units else None,
        H=H,
        D=s.matrix("D", D),
        Q=s.matrix("Q", Q),
        claims=s.mapping(**dict(_claims(s, given, draws))) if given else None,
    )
    made = read_dynamics(root, s.where.file, s.faults)
    s.raise_faults()
    if made is None:
        raise ModelError([Fault(s.where, "document", "found no dynamics, expected some")])
    return made


def _claims(s: Statement, given: Mapping[str, object], draws: Sequence[Declared]) -> Iterator[tuple[str, object]]:
    """Yield the claims as a document has them."""
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
    return s.declared(*(cast("Sequence[object]", stated) if isinstance(stated, list | tuple) else (stated,)))


def _counted(names: Sequence[Declared]) -> set[str]:
    """Return the numbers that are the size of another name: a size is not declared."""
    sizes = {size for item in names for size in item.shape.sizes}
    return {item.name for item in names if item.name in sizes and item.shape == SCALAR and item.of is None}

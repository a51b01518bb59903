"""Builds stated in Python."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, cast

from recipe_compiler.formula.python_declaration import Declared
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.front.document import Document, derived
from recipe_compiler.front.dynamics import Dynamics
from recipe_compiler.front.scheme import Scheme
from recipe_compiler.front.target import Target
from recipe_compiler.report.found_q import with_proved_q
from recipe_compiler.spec import model
from recipe_compiler.spec.load import around
from recipe_compiler.spec.python_nodes import Statement, rows_of
from recipe_compiler.spec.read_build import read_build
from recipe_compiler.spec.schema_build import RunEntry
from recipe_compiler.spec.validate import fields_of
from recipe_compiler.spec.yaml_nodes import Node

if TYPE_CHECKING:
    from recipe_compiler.front.derivation import Derivation

FOLDERS = {"dynamics": "../dynamics", "target": "../targets", "scheme": "../schemes"}
"""Where a build's document looks for the others, as those of this project do."""


class Build(Document):
    """Everything one emitted module needs: dynamics, a target, values, a scheme, and how long to run.

    Parameters
    ----------
    name : str
        An ASCII identifier, the module's name.
    dynamics, target : Dynamics and Target, or the name of a YAML file of one
        Names of files, here and in `data`, are relative to the Python file, or to the working directory of a session.
        No target is named where H of the dynamics is complete: U is then what H says of one block.
    step_size : number, or "auto"
        eps; `auto`: chosen from the data before a run, with what is left out of `parameters` and of how long to run.
        To be left out of draws by conditional laws alone, which do not depend on it.
    share : number, optional
        Of `auto`: by what part of it a posterior sd may be off, 0.02 where it is left out.
    accept : number, optional
        Of `auto` with a Metropolis move: the mean probability that moves shall be accepted with, 0.8 where it is left
        out.
    warmup_seconds : number, optional
        Of `auto`: the processor seconds that chains may take to choose it, 60 where it is left out.
    scheme : str, Scheme, sequence of str, or mapping
        The rule that makes one step: `"euler"`, `"sequential_euler"`, a named word such as `"baoab"`, a `Scheme`, a
        word `["B/2", "A/2", "O", "A/2", "B/2"]`, or `{"split": ..., "pieces": ...}`, `{"use": FILE}`, `{"cycle":
        [{"refresh": r}, {"draw": tau}, {"metropolis": {"split": [...], "steps": 10, "flip": {r: -r}}}]}`, as in YAML.
        Left out: `"euler"`; of an equation without noise, moves that are accepted or refused, or draws by laws.
    order : sequence of blocks
        In which they are updated, of `sequential_euler`.
    variant : {"full", "minibatch"}
        What the gradient is computed from.
    bind : mapping, optional
        Parameter or function of the dynamics to the formula put in its place.
    parameters : mapping, optional
        Parameter, by its name or its object, to its value: a number, rows, an array, or the name of a .npy file. One
        that the build brings in is declared by the object that carries it; `None` leaves its value to `auto`.
    sizes : mapping, optional
        Symbolic sizes to numbers.
    data : mapping, table or dataset, optional
        `file` and, for each field of the target, its columns; `arrays`, `standardise`, `intercept`, ... as in YAML,
        where `file` may be a table. Or, in memory: field of the target to its numbers (an array, a list, a column or
        table of a data frame, an array of xarray), whose first axis counts the data; or a table or dataset whose
        columns are the fields. Left out, the data are given with each run.
    init : mapping, optional
        Blocks to where they start: formulas of parameters and draws `N(0, cov)`.
    derived : mapping, optional
        As of `Target`, of the target's blocks, and of parameters of all three documents.
    test : mapping, optional
        Rows that only scores see: `{"share": 0.2, "seed": 1}` of the data, another `file` or `arrays`, as in YAML; or
        the fields themselves, beside data in memory.
    scores : mapping, optional
        Name to a distance of the draws to a stated law, or `"log_predictive"`: `{"kl": {"kl": theta[0], "law":
        "N(0, 1)", "range": [-4, 4]}}`, as in YAML; the fit has them in its group `scores`.
    gradient_noise : formula, "estimate" or mapping, optional
        V, the covariance of the minibatch gradient; `{"V": V, "add": W}`, as in YAML.
    minibatch : mapping, optional
        `replacement`, `blocks`, `control_variates`, as in YAML.
    draws, warmup, thin, chains, seed, batch_size, lanes, schedule : optional
        How long to run, as in YAML; `Model.sample` may say otherwise.
    diagnostics : bool, optional
        Whether the emitted file holds what checks a run: U of all data, its gradient, the log likelihood of each datum.
    title, references : str, sequence of str
        As of `Dynamics`.

    Raises
    ------
    SpecError, ModelError
        As of `Dynamics`, of all three documents.

    Examples
    --------
    >>> theta = vector("theta", "d")
    >>> U = function("U", of=theta, role="potential")
    >>> sgld = Dynamics(name="sgld", state=[theta], H=U, D=[[I]], Q=[[0]])
    >>> normal = Target(name="normal", state=[theta], potential=theta.T @ theta / 2)
    >>> Build(name="sgld_normal", dynamics=sgld, target=normal, sizes={"d": 3}, step_size=0.05)
    <Build sgld_normal>
    """

    document: model.Build

    def __init__(
        self,
        *,
        name: str,
        dynamics: Dynamics | str | PathLike[str],
        target: Target | str | PathLike[str] | None = None,
        step_size: float | str | None = None,
        share: float | None = None,
        accept: float | None = None,
        warmup_seconds: float | None = None,
        scheme: Scheme | str | Sequence[object] | Mapping[str, object] | None = None,
        order: Sequence[object] = (),
        variant: str = "full",
        bind: Mapping[object, object] | None = None,
        parameters: Mapping[object, object] | None = None,
        sizes: Sizes | None = None,
        data: object = None,
        init: Mapping[object, object] | None = None,
        derived: Mapping[object, object] | None = None,
        test: Mapping[str, object] | None = None,
        scores: Mapping[str, object] | None = None,
        gradient_noise: object = None,
        minibatch: Mapping[str, object] | None = None,
        draws: int | None = None,
        warmup: int | None = None,
        thin: int | None = None,
        chains: int | None = None,
        seed: int | None = None,
        batch_size: int | None = None,
        lanes: bool | None = None,
        diagnostics: bool | None = None,
        schedule: Mapping[str, object] | None = None,
        title: str = "",
        references: Sequence[str] = (),
    ) -> None:
        given, s = locals().copy(), Statement()
        section, table = None, None
        if isinstance(data, Mapping) and data.keys() & {"file", "arrays"}:
            section = dict(cast("Mapping[str, object]", data))
            table = None if isinstance(section.get("file", ""), (str, PathLike)) else section["file"]
            section |= {} if table is None else {"file": "data"}
        is_section = test is not None and bool(test.keys() & {"share", "file", "arrays"})
        named = {"dynamics": dynamics, **({} if target is None else {"target": target})}
        stated = {key: part.document if isinstance(part, Document) else str(part) for key, part in named.items()}
        models = {key: part for key, part in stated.items() if isinstance(part, (model.Dynamics, model.Target))}
        parts = {**models, **({"scheme": scheme.document} if isinstance(scheme, Scheme) else {})}
        files = {key: f"{FOLDERS[key]}/{part.name}.yaml" for key, part in parts.items()}
        noise = gradient_noise if isinstance(gradient_noise, Mapping) else {"V": gradient_noise}
        declared = {item.name for part in models.values() for item in part.declarations.parameters}
        used = s.declared(parameters or {}, bind or {}, init or {}, derived or {}, scores or {}, noise)
        new = {item.name: item for item in used if item.name not in declared}

        def read(scheme: object = scheme, **run: object) -> model.Build:
            root = s.document(
                name,
                title,
                references,
                **{key: files.get(key, part) for key, part in stated.items()},
                bind=bind or None,
                parameters=dict(_parameters(s, parameters or {}, new)) or None,
                scheme=_scheme(s, files.get("scheme"), scheme, order),
                variant=variant,
                gradient_noise=None if gradient_noise is None else noise,
                minibatch=minibatch,
                sizes=sizes or None,
                data=section,
                init=init or None,
                derived=derived or None,
                test=test if is_section else None,
                scores=scores or None,
                run=s.mapping(**{key: given[key] for key in fields_of(RunEntry)} | run),
            )
            made = read_build(root, s.file, around(s.folder, parts, in_memory=section is None))
            s.demand_sizes(used, {*made.dynamics.declarations.sizes, *made.target.declarations.sizes})
            return made

        if scheme is None:
            from recipe_compiler.advise.choose import cycle_without_noise, name_of_length

            made = with_proved_q(s.read(lambda: read("euler", accept=None)))
            is_planned = step_size == "auto"
            cycle = cycle_without_noise(made, name_of_length(made.target, made.dynamics) if is_planned else "20")
            made = made if cycle is None and accept is None else s.read(lambda: read(cycle or "euler"))
        else:
            made = s.read(read)
        in_memory = table is not None or (data is not None and section is None)
        if test and not (is_section or in_memory):
            s.fault("test", "found fields without data in memory, expected `share`, `file` or `arrays`")
            raise s.faults.error()
        if in_memory:
            from recipe_compiler.run.data import data_for, data_of, of_test  # brings NumPy
            from recipe_compiler.run.observed import with_data, with_sizes

            held = data_for(made, data if table is None else {"file": table})
            with of_test():
                held = replace(held, test=data_of(test, made.target)) if test and not is_section else held
            made = with_sizes(with_data(replace(made, data=None), held))
        object.__setattr__(self, "document", with_proved_q(made))

    @property
    def dynamics(self) -> Dynamics:
        """The dynamics as their document states them, with nothing bound."""
        return Dynamics.of(self.document.stated_dynamics)

    @property
    def target(self) -> Target:
        """The target."""
        return Target.of(self.document.target)

    def derive(self) -> "Derivation":
        """Return grad H, Gamma and the drift of the dynamics with everything bound; errors are those of `Dynamics`."""
        from recipe_compiler.spec.bind import bind

        return derived(bind(self.document))


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
        rows, is_open = rows_of(value), value is None and name in new
        stated = None if is_open else s.node(f"parameters.{name}.value", value if rows is None else rows)
        yield name, s.parameter(new[name], value=stated) if name in new else s.mapping(value=stated)

"""Builds from Python objects: dynamics and a target that are there already, or are named as a file would name them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.declared import Declared
from recipe_compiler.spec import model
from recipe_compiler.spec.load import around
from recipe_compiler.spec.python_nodes import Statement, rows_of
from recipe_compiler.spec.read_build import read_build

FOLDERS = {"dynamics": "../dynamics", "target": "../targets"}
"""Where a build's document looks for the others, as those of this project do."""


def state_build(
    *,
    name: str,
    dynamics: model.Dynamics | str | Path,
    target: model.Target | str | Path,
    scheme: str,
    order: Sequence[object],
    variant: str,
    bind: Mapping[object, object] | None,
    parameters: Mapping[object, object] | None,
    sizes: Mapping[str, int] | None,
    data: Mapping[str, object] | None,
    init: Mapping[object, object] | None,
    gradient_noise: object,
    minibatch: Mapping[str, object] | None,
    noise: str | None,
    run: Mapping[str, object],
    title: str,
    references: Sequence[str],
) -> model.Build:
    """Return the build that `recipe_compiler.Build` states; arguments and errors are those given there."""
    s = Statement()
    stated = {"dynamics": dynamics, "target": target}
    parts = {key: part for key, part in stated.items() if isinstance(part, (model.Dynamics, model.Target))}
    files = {key: f"{FOLDERS[key]}/{part.name}.yaml" for key, part in parts.items()}
    noise_of_gradient = gradient_noise if isinstance(gradient_noise, Mapping) else {"V": gradient_noise}
    declared = {item.name for part in parts.values() for item in part.declarations.parameters}
    used = s.declared(parameters or {}, bind or {}, init or {}, noise_of_gradient)
    new = {item.name: item for item in used if item.name not in declared}
    root = s.mapping(
        format=1,
        name=name,
        title=title or None,
        references=list(references) or None,
        **{key: files.get(key, part) for key, part in stated.items()},
        bind=bind or None,
        parameters=dict(_parameters(s, parameters or {}, new)) or None,
        scheme=s.mapping(name=scheme, order=[s.name(block) for block in order] or None),
        variant=variant,
        gradient_noise=None if gradient_noise is None else noise_of_gradient,
        noise=None if noise is None else {"generator": noise},
        minibatch=minibatch,
        sizes=sizes or None,
        data=data,
        init=init or None,
        run=s.mapping(**run),
    )
    made = read_build(root, s.file, around(s.folder, parts, in_memory=data is None), s.faults)
    s.raise_faults()
    if made is None:
        raise ModelError([Fault(s.where, "document", "found no build, expected one")])
    return made


def _parameters(
    s: Statement, given: Mapping[object, object], new: Mapping[str, Declared]
) -> Iterator[tuple[str, object]]:
    """Yield the values of parameters; those that the build brings in are declared with them, by their objects."""
    for key, value in given.items():
        name = s.name(key)
        rows = rows_of(value)
        stated = s.node(f"parameters.{name}.value", value if rows is None else rows)
        yield name, s.parameter(new[name], value=stated) if name in new else s.mapping(value=stated)

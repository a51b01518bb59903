"""Documents from files: YAML, where the kind is seen from the keys, or Python."""

import os
from collections.abc import Callable
from collections.abc import Mapping as Table
from os import PathLike
from pathlib import Path
from typing import NoReturn, TypeVar

from recipe_compiler.errors import Fault, SpecError, nearest, spec_error
from recipe_compiler.spec.build_parts import Around, Stated, Unread
from recipe_compiler.spec.catalogue import every_name, is_plain, shipped
from recipe_compiler.spec.fields import shown
from recipe_compiler.spec.files import read_bytes
from recipe_compiler.spec.model import Build, Document
from recipe_compiler.spec.python_file import load_python
from recipe_compiler.spec.schema import EACH_HAS, KINDS
from recipe_compiler.spec.yaml_nodes import Mapping
from recipe_compiler.spec.yaml_reader import read_yaml

Found = TypeVar("Found")


def load(path: str | PathLike[str], name: str | None = None) -> Document:
    """Return the document in a file.

    Args:
        path: A YAML file, a Python file (a Python specification is code and runs as code), or the name of a document
            that ships with the package (`sghmc`), where no file has that name.
        name: The object to take from a Python file.

    Raises:
        SpecError: The document is malformed; holds every fault found, of the documents it names too.
        ModelError: It is well formed but means nothing.
    """
    try:
        file = _named(Path(path))
    except TypeError:
        problem = f"found an object of class {type(path).__name__}, expected a path, or the name of what ships"
        raise spec_error("python", "document", problem) from None
    return load_python(file, name) if file.suffix == ".py" else _load_yaml(file, _read_build)


def _named(path: Path) -> Path:
    """Return the shipped document of a plain name, where no file has it; any other path as it is. Raises SpecError."""
    name = str(path)
    if not is_plain(name) or os.path.isfile(path):
        return path
    if (found := shipped(name)) is not None:
        return found
    problem = f"found no file `{shown(name)}`, and no document that ships under that name; expected one of them"
    raise spec_error(name, "document", problem, nearest(name, every_name()) or "`recipe list` has them")


def _load_yaml(path: Path, of_build: Callable[[Mapping, str], Found]) -> Stated | Found:
    """Return the document in a YAML file; what becomes of a build, `of_build` says."""
    root = read_yaml(read_bytes(path), str(path))
    kind = _kind_of(root)
    return of_build(root, str(path)) if kind == "build" else reader_of(kind)(root, str(path))


def around(folder: Path, parts: Table[str, Stated] | None = None, *, in_memory: bool = False) -> Around:
    """Return what a build is read beside: the files of a folder, and parts that are there already."""
    return Around(folder, lambda part: _load_yaml(part, _leave_unread), parts or {}, in_memory)


def _read_build(root: Mapping, file: str) -> Build:
    from recipe_compiler.spec.read_build import read_build

    return read_build(root, file, around(Path(file).parent))


def _leave_unread(root: Mapping, file: str) -> Unread:
    del root, file
    return Unread()


def _kind_of(root: Mapping) -> str:
    keys = {key.text.casefold() for key, _ in root.entries}  # `h` for `H` is told where keys are
    counts = {kind: len(keys & {key.casefold() for key in own}) for kind, own in KINDS}
    kind = max(counts, key=lambda kind: counts[kind])
    if not counts[kind]:
        known = "H, potential, log_likelihood, split, dynamics"
        problem = f"found none of {known}: expected dynamics, a target, a scheme or a build"
        raise SpecError([Fault(root.place, "document", problem, EACH_HAS)])
    return kind


def reader_of(kind: str) -> Callable[[Mapping, str], Stated]:
    """Return what reads dynamics, a target or a scheme, imported here: of one kind, one is needed."""
    match kind:
        case "dynamics":
            from recipe_compiler.spec.read_dynamics import read_dynamics

            return read_dynamics
        case "scheme":
            from recipe_compiler.spec.read_scheme import read_scheme

            return read_scheme
        case "experiment":
            return refuse_experiment
        case _:
            from recipe_compiler.spec.read_target import read_target

            return read_target


def refuse_experiment(root: Mapping, file: str) -> NoReturn:
    """Raise SpecError: an experiment names documents, and is none that is checked or run itself."""
    problem = "found an experiment, expected dynamics, a target, a scheme or a build"
    raise SpecError([Fault(root.place, "document", problem, f"`recipe experiment {file}` runs it")])

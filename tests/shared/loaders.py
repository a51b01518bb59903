"""Documents whose kind a test knows: one of another kind is an error, and what is returned has its type."""

from os import PathLike
from typing import TypeVar

from recipe_compiler.run.observed import with_sizes
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics, Target

Kind = TypeVar("Kind", Dynamics, Target, Build)


def load_dynamics(path: str | PathLike[str], name: str | None = None) -> Dynamics:
    """Return the dynamics in a file; `name` is that of the object in a Python file."""
    return _load(Dynamics, path, name)


def load_target(path: str | PathLike[str], name: str | None = None) -> Target:
    """Return the target in a file; `name` is that of the object in a Python file."""
    return _load(Target, path, name)


def load_build(path: str | PathLike[str], name: str | None = None) -> Build:
    """Return the build in a file; `name` is that of the object in a Python file."""
    return _load(Build, path, name)


def load_sized(path: str | PathLike[str]) -> Build:
    """Return the build in a file, with the sizes of the target's blocks that its data give."""
    return with_sizes(load_build(path))


def _load(kind: type[Kind], path: str | PathLike[str], name: str | None) -> Kind:
    found = load(path, name)
    if not isinstance(found, kind):
        raise TypeError(f"{path}: found {type(found).__name__}, expected {kind.__name__}")
    return found

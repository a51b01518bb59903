"""Documents by the names they have on the command line."""

from pathlib import Path

from recipe_compiler.errors import Fault, ModelError, Place
from recipe_compiler.pipeline import load
from recipe_compiler.spec.model import Build, Dynamics, Target


def load_named(file: str) -> Dynamics | Target | Build:
    """Read a document; `my_spec.py:name` is the object `name` of a Python spec."""
    path, colon, name = file.rpartition(":")
    return load(Path(path), name) if colon and path.endswith(".py") else load(Path(file))


def load_build(file: str) -> Build:
    """Read a build. Raises ModelError for another document."""
    document = load_named(file)
    if not isinstance(document, Build):
        hint = "a build names dynamics, target, scheme and variant: see specs/builds"
        problem = f"found {type(document).__name__.lower()}, expected a build"
        raise ModelError([Fault(Place(file), "document", problem, hint)])
    return document

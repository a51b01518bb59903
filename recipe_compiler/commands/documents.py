"""Documents by the names they have on the command line, read within limits: a Python specification runs as code."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from recipe_compiler import limits
from recipe_compiler.errors import DocumentError, Fault, ModelError, Place, spec_error
from recipe_compiler.report.found_q import with_proved_q
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Document
from recipe_compiler.verify.core.time_limit import Unfinished, Work, run_all

_Faulty = tuple[type[DocumentError], tuple[Fault, ...]]

SECONDS = 20.0
"""What reading one document may take, the Python files that it names included."""
LIMITS = f"at most {SECONDS:g} s and {limits.MEMORY // 2**30} GiB"


def load_named(file: str) -> Document:
    """Read a document; `my_spec.py:name` is the object `name` of a Python spec.

    Raises:
        SpecError: the document is malformed, or reading it takes more than it may.
        ModelError: it is well formed but means nothing.
    """
    path, colon, name = file.rpartition(":")
    asked = (path, name) if colon and path.endswith(".py") else (file, None)
    (found,) = run_all(Work(partial(_jobs, *asked), 1), SECONDS, SECONDS)
    if isinstance(found, Unfinished):
        problem = f"reading it did not end ({found.reason}), expected a document that is read with {LIMITS}"
        raise spec_error(asked[0], "document", problem)
    if isinstance(found, tuple):
        error, faults = found
        raise error(faults)
    return with_proved_q(found) if isinstance(found, Build) else found


def _jobs(path: str, name: str | None) -> Sequence[Callable[[], Document | _Faulty]]:
    return [partial(_load, path, name)]


def _load(path: str, name: str | None) -> Document | _Faulty:
    """Return the document, or its faults: errors do not travel between processes."""
    try:
        return load(Path(path), name)
    except DocumentError as error:
        return type(error), error.faults


def demand_build(document: Document, file: str) -> Build:
    """Return a document that is a build. Raises ModelError for another."""
    if not isinstance(document, Build):
        hint = "a build names dynamics, target, scheme and variant: see specs/builds"
        problem = f"found {type(document).__name__.lower()}, expected a build"
        raise ModelError([Fault(Place(file), "document", problem, hint)])
    return document

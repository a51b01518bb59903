"""Documents from a Python file. Such a file is code and runs as code."""

import importlib.util
import os
import sys
from pathlib import Path

from recipe_compiler.errors import DocumentError, Fault, Place, SpecError, nearest, spec_error
from recipe_compiler.spec.model import Document, Dynamics


def load_python(path: Path, name: str | None) -> Document:
    """Run a Python file and return the document it calls `name` (the only one, if no name is given).

    A document is an object that the language states, or whatever holds one as its `document`.

    Raises SpecError if there is no such file or object, or the file raises.
    """
    file = str(path)
    if not os.path.isfile(path):
        what = "a folder, a pipe or a device" if os.path.exists(path) else "no such file"
        raise spec_error(file, "document", f"found {what}, expected a file")
    spec = importlib.util.spec_from_file_location(f"_recipe_spec_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise spec_error(file, "document", "found a file that Python cannot import, expected one")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except DocumentError:
        raise
    except (Exception, SystemExit) as error:  # the user's own code may raise anything
        line = _line_in(file)
        problem = f"found {type(error).__name__} when the file ran{f': {error}' if str(error) else ''}"
        raise SpecError([Fault(Place(file, line), "document", problem)]) from error
    held = ((key, getattr(value, "document", value)) for key, value in vars(module).items())
    stated = {key: document for key, document in held if isinstance(document, Document)}
    if name is None and len(stated) == 1:
        return next(iter(stated.values()))
    if name in stated:
        return stated[name]
    what = "dynamics" if all(isinstance(document, Dynamics) for document in stated.values()) else "documents"
    wanted = f"{what} called `{name}`" if name else "the name of one"
    hint = nearest(name, tuple(stated)) if name else f"write {path.name}:NAME"
    problem = f"found the {what} {', '.join(stated) or 'none'}, expected {wanted}"
    raise spec_error(file, name or "document", problem, hint)


def _line_in(file: str) -> int:
    """Return the last line of `file` in the traceback of the error being handled."""
    traceback = sys.exc_info()[2]
    line = 0
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line

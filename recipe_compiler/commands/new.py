"""`recipe new`."""

import re
from importlib import resources
from pathlib import Path

from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.display import say
from recipe_compiler.errors import nearest, spec_error
from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.spec.catalogue import FOLDERS, names, shipped
from recipe_compiler.spec.fields import name_problem, shown
from recipe_compiler.spec.files import no_file

STARTING = {"dynamics": "starting_spec", "target": "starting_target", "build": "starting_build"}
_ELSEWHERE = re.compile(r"\.\./(?:dynamics|targets|schemes|data)/(\w+)\.(?:yaml|csv)")
"""How shipped builds name what ships beside them: where a copy stands it has its own name alone."""
_NAME = re.compile(r"^name: .*$", re.M)


def write_new(name: str, kind: str | None, origin: str | None) -> ExitCode:
    """Write NAME.yaml in the working directory; what is there already is left alone.

    Args:
        name: of the document.
        kind: `dynamics`, `target` or `build`; None: what the shipped document is, else dynamics.
        origin: the shipped document that is copied; None: a commented one to start from.
    """
    if (problem := name_problem(name)) is not None:
        raise spec_error("recipe new", "NAME", problem[0], problem[1])
    text = _starting(kind or "dynamics", name) if origin is None else _copy(origin, kind, name)
    path = Path(f"{name}.yaml")
    try:
        path.touch(exist_ok=False)  # taken, or refused where something is there
    except FileExistsError:
        problem = f"found {no_file(path) or 'a file'} of that name, expected a name that is free"
        hint = f"`recipe check {path}` decides the existing file; give `recipe new` another name"
        raise spec_error(path, "NAME", problem, hint) from None
    try:
        write_whole(path, text.encode())
    except BaseException:  # an interrupt too: the name that was taken is free again
        path.unlink()
        raise
    say(f"{path}: written; next: recipe check {path}")
    return ExitCode.PROVED


def _starting(kind: str, name: str) -> str:
    file = resources.files("recipe_compiler.commands").joinpath(f"{STARTING[kind]}.yaml")
    return file.read_text(encoding="utf-8").replace("NAME", name)


def _copy(origin: str, kind: str | None, name: str) -> str:
    """Return a shipped document under another name, with what it names found from anywhere."""
    kinds = tuple(FOLDERS) if kind is None else (kind,)
    path = shipped(origin, kinds)
    if path is None:
        what = "document" if kind is None else kind
        problem = f"found `{shown(origin)}`, expected the name of a {what} that ships"
        hint = nearest(origin, tuple(known for one in kinds for known in names(one))) or "`recipe list` has them"
        raise spec_error("recipe new", "--from", problem, hint)
    text = _ELSEWHERE.sub(r"\1", path.read_text(encoding="utf-8"))
    return f"# A copy of {origin}, as it ships.\n{_NAME.sub(f'name: {name}', text, count=1)}"

"""`recipe new`."""

from importlib import resources
from pathlib import Path

from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.display import say
from recipe_compiler.errors import Fault, Place, SpecError
from recipe_compiler.run.write import write_whole
from recipe_compiler.spec.names import name_problem


def write_starting_spec(name: str) -> ExitCode:
    """Write NAME.yaml in the working directory; what is there already is left alone."""
    if (problem := name_problem(name)) is not None:
        raise SpecError([Fault(Place("recipe new"), "NAME", problem[0], problem[1])])
    text = resources.files("recipe_compiler.commands").joinpath("starting_spec.yaml").read_text(encoding="utf-8")
    path = Path(f"{name}.yaml")
    path.touch(exist_ok=False)  # taken, or refused where something is there
    try:
        write_whole(path, text.replace("NAME", name).encode())
    except BaseException:
        path.unlink()
        raise
    say(f"{path}: written; next: recipe check {path}")
    return ExitCode.PROVED

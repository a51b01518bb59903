"""`recipe new`."""

from importlib import resources
from pathlib import Path

from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.display import say
from recipe_compiler.errors import Fault, Place, SpecError
from recipe_compiler.run.write import write_whole
from recipe_compiler.spec.fields import name_problem
from recipe_compiler.spec.files import no_file


def write_starting_spec(name: str) -> ExitCode:
    """Write NAME.yaml in the working directory; what is there already is left alone."""
    if (problem := name_problem(name)) is not None:
        raise SpecError([Fault(Place("recipe new"), "NAME", problem[0], problem[1])])
    text = resources.files("recipe_compiler.commands").joinpath("starting_spec.yaml").read_text(encoding="utf-8")
    path = Path(f"{name}.yaml")
    try:
        path.touch(exist_ok=False)  # taken, or refused where something is there
    except FileExistsError:
        problem = f"found {no_file(path) or 'a file'} of that name, expected a name that is free"
        hint = f"it is left as it is: `recipe check {path}` decides it; `recipe new` takes another name"
        raise SpecError([Fault(Place(str(path)), "NAME", problem, hint)]) from None
    try:
        write_whole(path, text.replace("NAME", name).encode())
    except BaseException:  # an interrupt too: the name that was taken is free again
        path.unlink()
        raise
    say(f"{path}: written; next: recipe check {path}")
    return ExitCode.PROVED

"""What a step's code depends on besides its arguments, its draws and its file: all that is not known to be none of it.

A step may count its calls in an attribute of a function that it is given, read a level of `logging` or an option of
NumPy, or what a file beside it reads. No run in another process shows what it does where these are others. So its code
is read: that of the functions, classes and values of its file that it names, of those that they name, and of files in
its folder. Every name, attribute and kind of statement is one that `allowed.py` lists, or its own, or it is told by
its line, and nothing is said of the step. What its file keeps between calls is seen by calling it (`calls.py`).
"""

import ast
from collections.abc import Collection
from pathlib import Path

from recipe_compiler.lint.file_names import File
from recipe_compiler.lint.loading import look_at_loading, tell_switches
from recipe_compiler.lint.reached import Reached
from recipe_compiler.lint.reading import read_part
from recipe_compiler.lint.source import Source

NOT_FOLLOWED = "this dependence was not traced"
ADVICE = "take it out, or make it an argument that the document declares"
MOST = 5
"""What is told of one step."""


def dependencies(
    source: Source, replaced: Collection[str], generators: Collection[str] = (), given: Collection[str] = ()
) -> tuple[str, ...]:
    """Return in words, by line, what the code of a step depends on that is not followed.

    Args:
        source: the step.
        replaced: names of its file in whose place others are put when it is called.
        generators: its arguments that are generators.
        given: its arguments that are numbers, arrays, functions or generators, whatever the file's classes are.
    """
    file = File(Path(source.file), source.shown, ast.parse(source.text))
    reached = Reached(file, frozenset(replaced), {source.step: frozenset(given)})
    reached.reach(file, source.step)
    _look_at_all(reached)
    _tell_seeds(reached, len(generators))
    told = [f"{place}: it depends on {what}: {NOT_FOLLOWED}; {ADVICE}" for place, what in reached.found]
    left = len(told) - MOST
    return (*told[:MOST], *([f"{left} more such lines"] if left > 0 else []))


def _look_at_all(reached: Reached) -> None:
    """Look at all that is reached, and at what changes it that is not."""
    files = [file for file in reached.files.values() if file is not None]
    for file in files:
        look_at_loading(reached, file)
    while reached.left:
        read_part(reached, *reached.left.pop())
    for file in files:
        tell_switches(reached, file)
    for file, name, line in reached.either:
        if (file.path, name) in reached.read:
            reached.tell(file, line, f"`{name}`, which differs if a module is missing")
    for file, line, what in reached.asked if reached.swallows else ():
        reached.tell(file, line, f"`{what}`, beside `{reached.swallows[0]}`, which may hide its errors")


def _tell_seeds(reached: Reached, given: int) -> None:
    """Tell what seeds a generator where there is another one: they may draw the same numbers."""
    several = given + len(reached.made) + len(reached.shared) > 1
    for file, node, called, again, is_seeded in reached.made.values():
        if (several or again) and is_seeded:
            why = "with a seed in code that runs again" if again else "with a seed, beside another generator"
            reached.tell(file, node.lineno, f"`{called}` {why}: both may draw the same numbers")

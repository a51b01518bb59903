"""Functions of a user's Python file that documents name: read as names alone, and what is taken on their author's word.

No command runs them but `recipe run`, and that only if it is told to.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from recipe_compiler.spec.fields import shown
from recipe_compiler.spec.model import Build, Code
from recipe_compiler.spec.page import Page

_OF_GRADIENT, _OF_MOVE = "grad U is as", "the code of"


def read_code(at: Page, stated: str, folder: Path, example: str) -> Code:
    """Return the function that is named at a place; a fault is added where there is no such file. It is not looked at.

    Args:
        at: where it is named.
        stated: what stands there: a file and a function of it.
        folder: what names of files in the document are relative to.
        example: one that is right, for messages.
    """
    name, colon, function = stated.rpartition(":")
    file = folder / name
    if not colon or not name.endswith(".py") or not name.isprintable() or not function.isidentifier():
        problem = f"found `{shown(stated)}`, expected a function of a Python file: {example}"
        at.fault(problem, "names of files are relative to that of the document")
    elif not os.path.isfile(file):
        hint = "names are relative to the file of the document"
        at.fault(f"found no file `{shown(name)}`, expected one", hint)
    return Code(file, function, name)


def gradient_given(code: Code) -> str:
    """Return what is assumed of a gradient that is code."""
    return f"{_OF_GRADIENT} {code} computes it, U being smooth"


def kept_by(code: Code) -> str:
    """Return what is assumed of a move that is code."""
    return f"{_OF_MOVE} {code} preserves exp(-H)"


def moved_by(code: Code, block: str) -> str:
    """Return what is assumed of the same where no other move moves a block."""
    return f"{_OF_MOVE} {code} moves {block}"


def on_trust(build: Build, given: Iterable[str]) -> tuple[str, ...]:
    """Return of what claims are given what is taken on the word of those who wrote the code of a build."""
    begins = tuple(f"{what} {code} " for code in build.codes for what in (_OF_GRADIENT, _OF_MOVE))
    return tuple(one for one in dict.fromkeys(given) if one.startswith(begins))

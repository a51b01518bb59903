"""A move of a cycle that is code: the function, the blocks that it takes, and what its author states that it keeps."""

import pathlib

from recipe_compiler.errors import nearest
from recipe_compiler.spec.code import read_code
from recipe_compiler.spec.fields import shown
from recipe_compiler.spec.model import CodeMove, Dynamics, Target
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.schema_build import MoveEntry

KEPT = "exp(-H)"
"""The law that a move may be stated to keep: that of the chain."""


def read_code_move(at: Page, entry: MoveEntry, stated: str, folder: pathlib.Path) -> CodeMove:
    """Return a move that is code; a fault is added for what it does not say and has to.

    Args:
        at: where the move stands.
        entry: what stands there.
        stated: its function.
        folder: what names of files in the build are relative to.
    """
    code = read_code(at["code"], stated, folder, "my_moves.py:swap")
    if entry.keeps is None:
        hint = "`keeps: exp(-H)` is assumed, not proved, and printed with every verdict that depends on it"
        at["code"].fault(f"found code {code} without `keeps`, expected what it preserves", hint)
    elif "".join(entry.keeps.split()) != KEPT:
        problem = f"found `keeps: {shown(entry.keeps)}`, expected `keeps: {KEPT}`"
        at["keeps"].fault(problem)
    if not entry.changes:
        hint = "it is given these, and changes them in place: `changes: theta`; what it reads besides is `reads: r`"
        at["code"].fault(f"found code {code} that changes no block, expected `changes`", hint)
    return CodeMove(code, tuple(entry.changes), tuple(entry.reads), entry.every)


def check_code_move(at: Page, move: CodeMove, dynamics: Dynamics, target: Target) -> None:
    """Add a fault for each block that a move is given which is none of the dynamics, or is given twice."""
    names = tuple(block.name for block in dynamics.declarations.blocks)
    parts = {block.name for block in (target.declared or target).declarations.blocks}
    seen: list[str] = []
    for key, blocks in (("changes", move.changes), ("reads", move.reads)):
        for name in blocks:
            if name not in names:
                whole = f"code takes blocks of the dynamics, which hold those of the target: {', '.join(names)}"
                hint = whole if name in parts else nearest(name, names)
                problem = f"found `{name}`, expected a block of the dynamics ({', '.join(names)})"
                at[key].fault(problem, hint)
            elif name in seen:
                problem = f"found `{name}` a second time, expected each block once, under `changes` or `reads`"
                at[key].fault(problem, "what is changed is read too")
            seen.append(name)

"""Moves that are code: nobody reads what they do. That one preserves exp(-H) is given by its author, and named.

What a claim about a cycle needs of such a move is that exp(-H) is stationary for the kernel z -> z', of all blocks
together, and that it reads and changes no others than those it is stated to. The second is tried where chains start
(`run/move_trial.py`), and a part of the same word.
"""

from recipe_compiler.spec.code import kept_by, moved_by
from recipe_compiler.spec.model import CodeMove
from recipe_compiler.verdict import Answer, Proved
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.moves.conjunction import laws_kept
from recipe_compiler.verify.steps.split import Split


def code(split: Split, stages: Stages) -> Answer:
    """Take it as given of every move that is code that it preserves exp(-H): pi C = pi, C its kernel, pi = exp(-H).

    Nobody reads it: the answer is proved by assumption, and names each move. (Tierney 1994: a product of kernels that
    keep pi keeps pi.)
    """
    del stages
    return laws_kept([(str(m.code), given_to_keep(m)) for m in split.scheme.cycle if isinstance(m, CodeMove)])


def given_to_keep(move: CodeMove) -> Answer:
    """Return that a move preserves exp(-H), which its author says."""
    return Answer(Proved("assumption", (kept_by(move.code),)))


def given_to_move(move: CodeMove, block: str) -> Answer:
    """Return that a move moves a block, which its author says."""
    return Answer(Proved("assumption", (moved_by(move.code, block),)))

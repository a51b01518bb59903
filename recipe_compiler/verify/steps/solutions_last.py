"""What is taken for granted of flows whose solutions may end within a step: that they do not.

A chain ends there, so no law is kept by its steps and no moment is that of the equation, unless it happens never.
"""

from collections.abc import Iterable

from recipe_compiler.errors import ModelError
from recipe_compiler.splitting.flow_table import flow_of
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.verify.steps.split import Split


def assumed_to_last(split: Split, pieces: Iterable[Piece]) -> tuple[str, ...]:
    """Return what is assumed of pieces whose solutions may end within a step: that none does; else nothing."""
    names = [piece.name for piece in pieces if _may_end(split, piece)]
    return (f"no solution of {', '.join(names)} ends within a step",) if names else ()


def _may_end(split: Split, piece: Piece) -> bool:
    try:
        return flow_of(split.derivation, piece, split.numerical.get(piece.name, "")).may_end
    except ModelError:
        return False  # `flow` says that it has none

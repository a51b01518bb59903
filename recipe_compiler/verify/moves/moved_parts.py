"""The blocks that a move of a cycle moves: of the dynamics, or of the target where that moves by parts."""

from enum import IntEnum

from recipe_compiler.spec.model import Cir, CodeMove, Draw, Involution, Metropolis, Move, Refresh, Steps
from recipe_compiler.verify.moves.cycle import Cycle, Part
from recipe_compiler.verify.moves.involution import moved_by_involution


class Moved(IntEnum):
    """How a move changes a block, as far as the program knows."""

    PERHAPS = 0
    """An involution maps it, and may leave it where it is: part of a block, or all of it."""
    SAID = 1
    """The author of code says so."""
    SHOWN = 2


def moved_parts(cycle: Cycle, move: Move) -> dict[Part, Moved]:
    """Return the blocks that a move changes, each with how it changes."""
    match move:
        case Refresh(block):
            return dict.fromkeys(cycle.parts(block), Moved.SHOWN)
        case Draw(block) | Cir(block):
            return {Part(True, block): Moved.SHOWN}
        case CodeMove():
            return {part: Moved.SAID for name in move.changes for part in cycle.parts(name)}
        case Involution():
            moves = moved_by_involution(cycle, move)
            every = [(moves.get(name), cycle.parts(name)) for name in move.moved if moves.get(name) is not False]
            shown = {parts for is_moved, parts in every if is_moved and len(parts) == 1}
            return {part: Moved.SHOWN if parts in shown else Moved.PERHAPS for _, parts in every for part in parts}
        case Metropolis() | Steps():
            held = cycle.split.scheme.moved(move)
            names = dict.fromkeys(name for piece in cycle.split.used for name in piece.moved)
            parts = (part for name in names for part in cycle.parts(name))
            followed = (part for part in parts if not part.is_of_target or held is None or part.name in held.blocks)
            return dict.fromkeys(followed, Moved.SHOWN)

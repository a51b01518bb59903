"""The blocks that a move of a cycle moves, or may move: of the dynamics, or of the target where that moves by parts."""

from collections.abc import Iterator
from dataclasses import dataclass

from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.model import (
    Build,
    ByLaw,
    Cir,
    CodeMove,
    Draw,
    Involution,
    Metropolis,
    Move,
    Refresh,
    Steps,
)
from recipe_compiler.spec.words import letters
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.moves.draw import drawn_blocks
from recipe_compiler.verify.moves.involution import moved_by
from recipe_compiler.verify.steps.split import Split


@dataclass(frozen=True, slots=True)
class Part:
    """A block that has to be moved: of the target, whose name may be that of a block of the dynamics, or of these."""

    of_target: bool
    name: str


def moved_parts(split: Split, move: Move, stages: Stages) -> Iterator[Part]:
    """Yield the parts that a move is shown to move."""
    build = stages.build
    match move:
        case Refresh(block):
            yield from parts_of(split, block, build)
        case Draw(block) | Cir(block):
            yield Part(True, block)
        case CodeMove():
            pass
        case Involution():
            whether = moved_by(split, move, stages)
            every = (parts_of(split, name, build) for name in move.moved if whether.get(name))
            yield from (part for parts in every if len(parts) == 1 for part in parts)
        case Metropolis() | Steps():
            done = {letter.piece for letter in letters(split.scheme.split)}
            for piece in (piece for piece in split.pieces if piece.name in done):
                yield from (part for name in piece.moved for part in _followed(split, move, name, build))


def mapped_parts(split: Split, move: Move, stages: Stages) -> Iterator[Part]:
    """Yield the parts of blocks that an involution maps, and may move: of several it may leave some where they are."""
    if isinstance(move, Involution):
        whether = moved_by(split, move, stages)
        names = (name for name in move.moved if whether.get(name) is not False)
        yield from (part for name in names for part in parts_of(split, name, stages.build))


def coded_parts(split: Split, move: Move, stages: Stages) -> Iterator[Part]:
    """Yield the parts of blocks that code changes, as it is said to."""
    if isinstance(move, CodeMove):
        yield from (part for name in move.changes for part in parts_of(split, name, stages.build))


def _followed(split: Split, move: Metropolis | Steps, block: str, build: Build) -> tuple[Part, ...]:
    """Return the blocks of the target that a word moves of a block of the dynamics: those that are not held."""
    moved, parts = split.scheme.moved(move), parts_of(split, block, build)
    return parts if moved is None else tuple(part for part in parts if not part.of_target or part.name in moved.blocks)


def parts_of(split: Split, block: str, build: Build) -> tuple[Part, ...]:
    """Return the blocks of the target that a block of the dynamics holds: those of the potential's; else itself."""
    theta, apart = potential_blocks(split.subject.dynamics), split.scheme.use is not None
    apart = apart or any(isinstance(move, ByLaw) for move in split.scheme.cycle)
    if [one.name for one in theta] != [block] or not apart:
        return (Part(False, block),)
    return tuple(Part(True, one.name) for one in drawn_blocks(build.target))

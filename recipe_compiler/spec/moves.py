"""Moves of a cycle as documents state them, and the order in which they are done."""

from collections.abc import Iterable
from math import lcm

from recipe_compiler.formula.show import text
from recipe_compiler.spec.laws import law_text
from recipe_compiler.spec.model import (
    Cir,
    CodeMove,
    Draw,
    Involution,
    Metropolis,
    Move,
    Refresh,
    Scheme,
    Slices,
    Steps,
)
from recipe_compiler.spec.words import word_text

LONGEST_PERIOD = 1000
"""The cycles after which all moves of a cycle begin anew together, at most."""


def period(moves: Iterable[Move]) -> int:
    """Return the number of cycles after which all moves begin anew together."""
    return lcm(*(move.every for move in moves))


def over_a_period(moves: tuple[Move, ...]) -> tuple[Move, ...]:
    """Return the moves of as many cycles as go by until all begin anew together, in the order that they are done.

    A chain of such periods is one of a single kernel, the product of these moves.
    """
    cycles = range(period(moves))
    return tuple(move for cycle in cycles for move in moves if cycle % move.every == 0)


def cycle_text(scheme: Scheme) -> str:
    """Return the moves of a cycle: `[refresh: r, metropolis: {split: [B/2, A, B/2], steps: 10, flip: {r: -r}}]`."""
    moves = ((move, move_text(scheme, move)) for move in scheme.cycle)
    braced = (f"{{{said}}}" if _is_several(scheme, move) else said for move, said in moves)
    return f"[{', '.join(braced)}]"


def _is_several(scheme: Scheme, move: Move) -> bool:
    """Whether a move has several keys, and needs braces in a row."""
    used = scheme.use is not None and isinstance(move, Metropolis)
    drawn_first = (isinstance(move, Involution) and move.draws) or (isinstance(move, Draw) and move.slices)
    return used or isinstance(move, Steps | CodeMove) or move.every > 1 or bool(drawn_first)


def move_text(scheme: Scheme, move: Move) -> str:
    """Return one of them: `refresh: {r: 9/10}`; each has the word of the scheme, whatever document it is of."""
    split = f"split: {word_text(scheme.split)}"
    every = f", every: {move.every}" if move.every > 1 else ""
    match move:
        case Refresh(block, kept):
            return f"refresh: {{{block}: {kept}}}{every}" if kept else f"refresh: {block}{every}"
        case Draw(block, _, slices):
            return f"draw: {block}{'' if slices is None else slices_text(slices)}{every}"
        case Cir(block):
            return f"cir: {block}{every}"
        case Involution(maps, draws):
            mapped = ", ".join(f"{name}: {text(formula)}" for name, formula in maps)
            laws = ", ".join(f"{own.block.name}: {law_text(own.law)}" for own in draws)
            return f"involution: {{{mapped}}}" + (f", draws: {{{laws}}}" if laws else "") + every
        case CodeMove(code, changes, reads):
            read = f", reads: [{', '.join(reads)}]" if reads else ""
            return f"code: {code}, changes: [{', '.join(changes)}]{read}, keeps: exp(-H){every}"
        case Metropolis(steps, flip, _, scale):
            turned = ", ".join(f"{block}: -{block}" for block in flip)
            flipped = f", flip: {{{turned}}}" if flip else ""
            scaled = f", scale: {scale}" if scale != 1 else ""
            return f"{_of(scheme, move)}metropolis: {{{split}, steps: {_drawn(steps)}{scaled}{flipped}}}{every}"
        case Steps(count):
            return f"{_of(scheme, move)}{split}, steps: {count}{every}"


def _of(scheme: Scheme, move: Metropolis | Steps) -> str:
    """Return what a word follows and moves, where that is stated: `use: sghmc, of: {theta: [beta], r: p}, `."""
    use, moved = scheme.use, scheme.moved(move)
    if use is None or moved is None:
        return ""
    (theta, _), *others = use.blocks
    named = "" if use.document is None else f"use: {use.document.name}, "
    called = "".join(f", {name}: {here}" for name, here in others if name != here)
    return f"{named}of: {{{theta}: [{', '.join(moved.blocks)}]{called}}}, "


def slices_text(slices: Slices) -> str:
    """Return what is said beside a draw by slices: `, slice: log(w), left: log(1 - sum(w))`."""
    left = "" if slices.left is None else f", left: {text(slices.left)}"
    return f", slice: {text(slices.log_weights)}{left}"


def _drawn(steps: tuple[int, int | str]) -> str:
    least, most = steps
    return f"{least}" if least == most else f'"uniform({least}, {most})"'

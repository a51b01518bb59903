"""Moves that are code, tried before a chain trusts them: what any move is, whatever law it keeps.

It leads from finite numbers to finite numbers, changes the blocks that it is said to change and nothing else, and is a
function of what it is given: the same bits from the same state and the same stream. Tried from where chains start, and
from where the moves themselves lead. That it preserves exp(-H) is not tried: it is taken on its author's word.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from recipe_compiler.errors import RunError
from recipe_compiler.run.code_moves import Array, CalledMove, Words
from recipe_compiler.run.gradient_trial import bits, shown
from recipe_compiler.run.user_code import call_once

STARTS = 4
"""From so many starts of chains a move is done several times in a row."""

TIMES = 25
"""How often."""

MORE = 1000
"""How often besides, from where chains start, a move is done that has left a block as it was each time."""

MARGIN = 64
"""So many entries before and behind an array are looked at too: jitted code writes beyond one unseen."""

_UNTOUCHED = np.uint64(0x7FF8_5EED_5EED_5EED)
"""What stands there: a NaN that no arithmetic makes."""


def try_moves(moves: Sequence[CalledMove], starts: Sequence[tuple[Array, ...]]) -> None:
    """Check moves that are code at the states where chains start, and at those where they lead.

    Raises:
        RunError: one does not run, is not finite, changes what it is not said to change, or differs at a second call
            with the same state and stream; with numbers.
    """
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        for move in moves:
            before = [bits(value) for _, value in move.given]
            still = {*move.changes}
            for k, start in enumerate(starts):
                state = start
                for _ in range(TIMES if k < STARTS else 1):
                    made = _tried(move, state, _words(rng))
                    still -= _moved(move, state, made)
                    state = made
            for k in range(MORE if still else 0):
                start = starts[k % len(starts)]
                still -= _moved(move, start, _led(move, start, _words(rng)))
            _demand_kept(move, list(move.given), before)
            _demand_moved(move, sorted(still))


def _words(rng: np.random.Generator) -> Words:
    return rng.integers(1, 2**64, 4, dtype=np.uint64)


def _moved(move: CalledMove, before: tuple[Array, ...], after: tuple[Array, ...]) -> set[int]:
    """Return the places of the blocks that a move has changed, of those that it is said to change."""
    return {k for k in move.changes if bits(np.array(before[k])) != bits(after[k])}


def _demand_moved(move: CalledMove, still: Sequence[int]) -> None:
    """Demand that there are no blocks that a move has never changed."""
    if still:
        name = move.names[still[0]]
        expected = f"expected it to change {name} in place, `{name}[:] = -{name}`: `{name} = -{name}` is another array"
        raise RunError(f"{move.call} leaves {name} as it is, {MORE} times and more: {expected}")


def _tried(move: CalledMove, state: tuple[Array, ...], words: Words) -> tuple[Array, ...]:
    """Return where a move leads from a state, which stays as it is."""
    made = _led(move, state, words)
    again = _led(move, state, words)
    for k in move.changes:
        differ = np.flatnonzero(made[k].view(np.uint64) != again[k].view(np.uint64))
        if differ.size:
            at, name = differ[0], move.names[k]
            found = f"{name}[{at}] = {made[k][at]:.17g} at one call and {again[k][at]:.17g} at the next"
            expected = "expected the same, of the same state and stream: draw from `stream` alone"
            raise RunError(f"{move.call} gives {found}: {expected}")
        bad = np.flatnonzero(~np.isfinite(made[k]))
        if bad.size:
            found = f"{move.names[k]}[{bad[0]}] = {made[k][bad[0]]} {_at(move, state)}"
            raise RunError(f"{move.call} gives {found}: expected finite numbers")
    return made


def _led(move: CalledMove, state: tuple[Array, ...], words: Words) -> tuple[Array, ...]:
    """Return the state after one call, of which a copy is given, and nothing else changed."""
    given = (*state, words)
    guarded = tuple(map(_guarded, given))
    made = tuple(own[MARGIN:-MARGIN].view(np.float64) for own in guarded[:-1])
    stream = guarded[-1][MARGIN:-MARGIN].view(np.uint64)
    read = [(move.names[k], made[k]) for k in move.reads]
    before = [bits(value) for _, value in read]
    returned = call_once(move.call, _at(move, state), lambda: move(made, stream))
    for name, own in zip((*move.names, "stream"), guarded, strict=True):
        _demand_inside(move, name, own)
    _demand_kept(move, read, before)
    if returned is not None:
        names = ", ".join(move.names[k] for k in move.changes)
        raise RunError(f"{move.call} returns a value, which is ignored: expected it to change {names} in place")
    return made


def _guarded(values: Array | Words) -> Words:
    """Return a copy of an array, bit by bit, between entries that tell whether they were written to."""
    guarded = np.full(values.size + 2 * MARGIN, _UNTOUCHED)
    guarded[MARGIN:-MARGIN] = np.ascontiguousarray(values).view(np.uint64)
    return guarded


def _demand_inside(move: CalledMove, name: str, guarded: Words) -> None:
    """Demand that nothing was written before or behind an array."""
    around = guarded.copy()
    around[MARGIN:-MARGIN] = _UNTOUCHED
    touched = np.flatnonzero(around != _UNTOUCHED)
    if touched.size:
        expected = f"expected places from 0 to {guarded.size - 2 * MARGIN - 1} alone"
        raise RunError(f"{move.call} writes to {name}[{touched[0] - MARGIN}]: {expected}")


def _demand_kept(move: CalledMove, values: Sequence[tuple[str, Any]], before: Sequence[int]) -> None:
    """Demand that values by name are what they were before."""
    for (name, value), old in zip(values, before, strict=True):
        if bits(value) != old:
            stated = ", ".join(move.names[k] for k in move.changes)
            raise RunError(f"{move.call} writes to {name}: expected it to change {stated} alone, as `changes` says")


def _at(move: CalledMove, state: tuple[Array, ...]) -> str:
    """Return the blocks that a move takes, in words."""
    return f"at {', '.join(f'{move.names[k]} = {shown(state[k])}' for k in move.blocks)}"

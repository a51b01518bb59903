"""Races: contestants that do the same work, timed turn by turn in one process."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from recipe_compiler.formula.arrays import Array

TURN_SECONDS = 0.06
"""How long a turn should take; at least one call is made in every turn."""

SAMPLE_SECONDS = 5.0
"""How long making a chain for the comparison of moments may take."""

PIECES = 20
"""Pieces of a chain whose means give the error of a mean."""

STANDARD_ERRORS = 6.0
"""How far two moments may lie apart: with some thousand comparisons in a race, 5 would be met by chance."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """One who races: every call of `work` does `units` of work and goes on where the last one ended."""

    key: str
    """Its name in results: emitted, c, jax_scan, ..."""
    units: int
    work: Callable[[], Array | None]
    """Returns what was drawn, one row per draw, for the comparison of moments; None where nothing is compared."""
    compared: str = "all"
    """`all` moments, `mean` alone (of another law of the noise, whose mean is the same), or `nothing`."""
    slack: float = 0.0
    """How far moments may lie apart beyond chance, in standard deviations: for a scheme other than Euler's."""
    deviation: Callable[[], float] | None = None
    """Largest deviation from the same in NumPy, without noise: of gradients, or where a sample takes too long."""
    seconds: Callable[[], float] | None = None
    """One call timed by the contestant itself, in a process of its own."""
    clock: Callable[[], float] = time.thread_time
    note: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """Seconds per unit in every round."""

    key: str
    seconds: tuple[float, ...]
    note: str

    @property
    def median(self) -> float:
        """The median over the rounds."""
        return statistics.median(self.seconds)


def race(contestants: Sequence[Contestant], rounds: int) -> tuple[Result, ...]:
    """Time every contestant once per round, round robin, each after two calls that warm it up."""
    calls: dict[str, int] = {}
    for contestant in contestants:
        _seconds(contestant, 1)
        calls[contestant.key] = max(1, round(TURN_SECONDS / max(_seconds(contestant, 1), 1e-9)))
    times: dict[str, list[float]] = {contestant.key: [] for contestant in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            count = calls[contestant.key]
            times[contestant.key].append(_seconds(contestant, count) / (count * contestant.units))
    return tuple(Result(one.key, tuple(times[one.key]), one.note) for one in contestants)


def _seconds(contestant: Contestant, calls: int) -> float:
    if contestant.seconds is not None:
        return sum(contestant.seconds() for _ in range(calls))
    begin = contestant.clock()
    for _ in range(calls):
        contestant.work()
    return contestant.clock() - begin


def ratio(slower: Result, faster: Result) -> float:
    """Return how many times as long the first takes: the median of the ratios of each round."""
    return statistics.median(a / b for a, b in zip(slower.seconds, faster.seconds, strict=True))


def disagreements(contestants: Sequence[Contestant], results: Sequence[Result], units: int) -> list[str]:
    """Return what shows that contestants do not do the same work: moments that differ from the first one's.

    Each makes a chain of `units`, or a shorter one where that would take longer than SAMPLE_SECONDS; compared are the
    means of every column of its draws, and of its square.
    """
    faults = deviations(contestants)
    first = _moments(sample(contestants[0], units))
    for one, result in zip(contestants, results, strict=True):
        if one is contestants[0] or one.compared == "nothing":
            continue
        affordable = int(SAMPLE_SECONDS / result.median)
        faults.extend(_differences(one, first, _moments(sample(one, min(units, affordable)))))
    return faults


def deviations(contestants: Sequence[Contestant]) -> list[str]:
    """Return what deviates from the same work done in NumPy."""
    asked = [(one.key, one.deviation()) for one in contestants if one.deviation is not None]
    return [f"{key}: deviates by {worst:.2g} from the same in NumPy" for key, worst in asked if not worst < 1e-9]


def sample(contestant: Contestant, units: int) -> Array:
    """Return the draws of a chain of `units`, the first tenth left out."""
    parts: list[Array] = []
    for _ in range(math.ceil(units / contestant.units)):
        drawn = contestant.work()
        if drawn is None:
            raise TypeError(f"{contestant.key} draws nothing that could be compared")
        parts.append(np.array(drawn, dtype=np.float64))  # a copy: the next call writes over it
    draws = np.concatenate(parts)
    return draws[len(draws) // 10 :]


@dataclass(frozen=True, slots=True)
class _Moments:
    """Means of the columns and of their squares over each piece of a chain, and the standard deviations."""

    pieces: Array
    sd: Array


def _moments(draws: Array) -> _Moments:
    kept = draws[len(draws) % PIECES :]
    both = np.concatenate([kept, kept**2], axis=1)
    return _Moments(both.reshape(PIECES, -1, both.shape[1]).mean(axis=1), both.std(axis=0))


def _differences(one: Contestant, first: _Moments, other: _Moments) -> list[str]:
    error = np.sqrt((first.pieces.var(axis=0, ddof=1) + other.pieces.var(axis=0, ddof=1)) / PIECES)
    found, expected = other.pieces.mean(axis=0), first.pieces.mean(axis=0)
    excess = (np.abs(found - expected) - one.slack * first.sd) / error
    columns = len(excess) // 2
    if one.compared == "mean":
        excess = excess[:columns]
    worst = int(np.nan_to_num(excess, nan=np.inf).argmax())
    if excess[worst] <= STANDARD_ERRORS:
        return []
    what = f"square of column {worst - columns}" if worst >= columns else f"column {worst}"
    return [
        f"{one.key}: the mean of the {what} is {found[worst]:.4g}, expected {expected[worst]:.4g} +- {error[worst]:.2g}"
    ]

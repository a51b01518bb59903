"""The first two moments of a traced step, as far as they are known in powers of eps."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.lint.answer import Trace
from recipe_compiler.lint.series import NONE, Meaning, ScalarSeries, TraceReading
from recipe_compiler.verify.updates import gaussian_moments
from recipe_compiler.verify.updates.expansion import ZERO, NoExpansionError, added, shifted
from recipe_compiler.verify.updates.gaussian_moments import DrawGroup, StepMoments, standard

FEW, MANY = Fraction(2), Fraction(4)
ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Moments:
    """E[dz] (n) and Cov[dz] (n x n) of a step, and the power of eps up to which they are known."""

    step: StepMoments
    known: Fraction
    reading: TraceReading
    change: tuple[ScalarSeries, ...]
    """dz."""
    groups: tuple[DrawGroup, ...]


def moments_of(trace: Trace, meaning: Meaning, least: Fraction = ONE) -> Moments:
    """Return E[dz] and Cov[dz] given z, known at least up to a power of eps.

    Raises:
        NoExpansionError: no expansion about eps = 0 is known.
    """
    try:
        found = _upto(trace, meaning, FEW)
    except NoExpansionError:  # of a root of a high power
        found = _upto(trace, meaning, MANY)
    if found.known < least:
        found = _upto(trace, meaning, MANY)
    if found.known < least:
        raise NoExpansionError(f"the step is known up to eps^({found.known}) only")
    return found


def _upto(trace: Trace, meaning: Meaning, top: Fraction) -> Moments:
    reading = TraceReading(trace, meaning, top)
    places = [place for flat in trace.outputs for place in flat]
    if len(places) != len(meaning.z):
        raise NoExpansionError("the step does not return the whole state")
    change: list[ScalarSeries] = []
    for place, z in zip(places, meaning.z, strict=True):
        after = reading.of(place)
        change.append(ScalarSeries(added([after.terms, {NONE: -z}]), after.known))
    growth = min(ZERO, *(dz.low for dz in change))  # products of two changes are known that much less far
    known = min(top, *(dz.known for dz in change)) + growth
    alone = tuple(w for k, w in enumerate(reading.draws) if k not in reading.groups)
    groups = (standard(alone), *_groups(trace, reading))
    step = gaussian_moments.moments(meaning.z, meaning.eps, [dz.terms for dz in change], groups, top)
    return Moments(step, known, reading, tuple(change), groups)


def _groups(trace: Trace, reading: TraceReading) -> Iterator[DrawGroup]:
    """Yield the draws of several coordinates, with their covariances."""
    for draws, entries in trace.groups:
        read = [reading.of(place).terms for place in entries]
        if any(key[1] for terms in read for key in terms):
            raise NoExpansionError("the covariance of a draw depends on another draw")
        low = 2 * reading.powers[reading.draws[draws[0]]]
        if low < 0:
            raise NoExpansionError("the covariance of a draw grows as eps becomes small")
        n = len(draws)
        covariance = tuple(tuple(shifted(x, -low) for x in read[i * n : (i + 1) * n]) for i in range(n))
        yield DrawGroup(tuple(reading.draws[k] for k in draws), covariance)


def is_moved(series: ScalarSeries) -> bool:
    """Whether a coordinate is moved at all, as it is written."""
    return any(value != 0 for value in series.terms.values())

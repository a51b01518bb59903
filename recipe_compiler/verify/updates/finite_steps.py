"""What the finite steps of a claimed update or of linted code do, whose limit preserves exp(-H)."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Protocol

from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.trace.density_change import Density, density_change, noise_change
from recipe_compiler.trace.moments import Moments, amplitude
from recipe_compiler.trace.series import C, NoExpansionError, Series
from recipe_compiler.verify.core.first_witness import find_first_witness
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.updates.claimed_step import print_power

NO_NOISE = "the limiting equation has no noise, so it is not ergodic by itself"

Said = Iterator[tuple[str, tuple[str, str] | None]]
"""Sentences to add to a proof, empty or not, each with a formula it is about, by name."""


class FiniteStep(Protocol[C]):
    """A step with what tells its finite steps from their limit."""

    @property
    def unit(self) -> Fraction:
        """The power of eps that one step takes of time."""
        ...

    @property
    def declarations(self) -> Declarations:
        """What a point has to satisfy."""
        ...

    @property
    def sizes(self) -> tuple[Sizes, ...]:
        """Where the second engine looks."""
        ...

    @property
    def density(self) -> Density[C]:
        """exp(-H)."""
        ...

    def moments_to(self, power: Fraction) -> Moments[C]:
        """Return the moments of the step, known up to a power of eps if possible."""
        ...

    def change_at(self, sizes: Sizes, power: Fraction) -> Expr:
        """Return the part of the change of exp(-H) at a power of eps, over exp(-H), at fixed sizes."""
        ...

    def text(self, x: C) -> str:
        """Return a coefficient in the notation of the document."""
        ...


def describe_finite_steps(step: FiniteStep[C]) -> Said:
    """Yield the order in eps by which the stationary distribution of finite steps differs from exp(-H), and the cause.

    The change of exp(-H) in one step, over exp(-H), has parts that vanish up to a power q of eps: the stationary
    distribution of steps that take the time eps^u is off by order eps^(q-u). What the noise V of an estimated gradient
    leaves of it is named. (SGHMC without a correction, M = I, has C_2 = V in r: (r.T V r - tr V)/2.) Nothing is said
    of a power that no exact point shows not to vanish.
    """
    unit, top = step.unit, 2 * step.unit
    try:
        found = step.moments_to(top)
        S = found.S
        still = all(S.is_zero(S.ring.settled(x)) for row in found.at(unit).covariance for x in row)
        if still:
            yield NO_NOISE, None
        left = S.leading(density_change(found, step.density, top))
        S.at(left, top)
        if not left.parts:
            yield "", (_name_residual(top - unit), "0")
        elif left.low > unit:
            yield from _describe_bias(
                step, left, "exp(-H) changes at" if still else "the stationary distribution is off by"
            )
            yield from _describe_noise(step, found) if left.low == top else ()
    except NoExpansionError as reason:
        yield f"the bias at finite step size is not computed: {reason}", None


def _describe_bias(step: FiniteStep[C], left: Series[C], what: str) -> Said:
    """Yield by which power of eps finite steps differ from their limit, where a point shows it."""
    power, order = left.low, left.low - step.unit
    whole = step.text(left.parts[power])
    yield "", (_name_residual(order), whole)
    point = find_first_witness(lambda at: [("", step.change_at(at, power))], step.declarations, step.sizes[:2])
    if point is None:
        return
    at = point[-1]
    value = f"{format_value(at.value)} at {', '.join(f'{name} = {x}' for name, x in at.text)}"
    yield "", (f"{_name_residual(order)} at a point", value)
    by = f"by the residual {whole if len(whole) <= limits.CHARACTERS else value}"
    yield f"finite steps: {what} order {print_power(order)}, {by}", None


def _describe_noise(step: FiniteStep[C], found: Moments[C]) -> Said:
    """Yield the part of the residual from draws whose amplitude is of the order of the drift."""
    unit, ring = step.unit, found.S.ring
    slow = [x for x in found.draws if any(y.parts and y.low >= unit for y in amplitude(found, x))]
    noise = ring.settled(noise_change(found, step.density, 2 * unit)) if slow else found.S.zero
    if not found.S.is_zero(noise):
        source = ", ".join(dict.fromkeys(item.says for item in slow))
        said = f"noise of order {print_power(2 * unit)} ({source}) leaves the residual {abbreviate(step.text(noise))}"
        yield f"finite steps: {said}", (f"{_name_residual(unit)} that noise leaves", step.text(noise))


def _name_residual(power: Fraction) -> str:
    return f"{print_power(power)} part of the residual"


def abbreviate(text: str) -> str:
    """Return a formula, cut off after `limits.CHARACTERS` characters."""
    return text if len(text) <= limits.CHARACTERS else f"{text[: limits.CHARACTERS]} ..."

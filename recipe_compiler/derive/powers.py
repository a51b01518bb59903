"""Power series in the step size with tensors as coefficients: sums, products, powers and functions of them.

A series records the power up to which it is known, and every operation computes that of its result. Draws are
coordinates of blocks whose names no document can declare.

Worked example: z' = z exp(eps a + sqrt(eps) w), w ~ N(0, 2), has the argument R = eps**(1/2) w + eps a, and

    exp(R) = 1 + R + R**2/2 + ... = 1 + eps**(1/2) w + eps (a + w**2/2) + O(eps**(3/2)),

so that E[z' - z] = eps z (a + 1) + O(eps**2), as E w**2 = 2.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import factorial

from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.terms import Applied, Atom, Base, Coordinate, Index, Slot, Tensor

ZERO, ONE = Fraction(0), Fraction(1)
TOP = Fraction(3)
"""No higher power is ever kept."""

LONGEST = 8
"""Terms of a Taylor series that are looked at."""

ARGUMENT = Coordinate("x.")
"""The argument of a function that is expanded."""

DRAW = "draw."


class NotReadError(Exception):
    """A formula of an update whose expansion in eps is not known; the claim that needs it is undecided."""


@dataclass(frozen=True, slots=True)
class TensorSeries:
    """A truncated series sum_p a_p eps**p, p rational: tensors a_p with the same free indices, none zero."""

    parts: Mapping[Fraction, Tensor]
    upto: Fraction = TOP
    """All powers up to this one are known."""

    @property
    def low(self) -> Fraction:
        """The lowest power that occurs, or up to which none does."""
        return min(self.parts, default=self.upto)

    def at(self, power: Fraction) -> Tensor:
        """Return the coefficient of a power, zero if it does not occur.

        Raises:
            NotReadError: the series is not known up to that power.
        """
        if power > self.upto:
            raise NotReadError(f"the part eps^{power} of the step is not known")
        return self.parts.get(power, Tensor((), ()))


def draw(name: str, *at: Slot) -> Coordinate:
    """Return a component w_i of a draw, as a coordinate of a block of its own."""
    return Coordinate(DRAW + name, at)


def is_draw(atom: Atom) -> bool:
    """Whether an atom is a component of a draw."""
    return isinstance(atom, Coordinate) and atom.block.startswith(DRAW)


def monomial(power: Fraction, tensor: Tensor) -> TensorSeries:
    """Return the series a eps**p of a tensor a of any shape."""
    return _series({power: tensor}, TOP)


def added(c: Calculus, parts: Iterable[TensorSeries]) -> TensorSeries:
    """Return sum_k S_k, known up to the least of the powers up to which the summands are."""
    listed = tuple(parts)
    found: dict[Fraction, list[Tensor]] = {}
    for part in listed:
        for power, tensor in part.parts.items():
            found.setdefault(power, []).append(tensor)
    summed = {power: c.add(*tensors) for power, tensors in found.items()}
    return _series(summed, min((part.upto for part in listed), default=TOP))


def scaled(c: Calculus, series: TensorSeries, factor: Fraction | int) -> TensorSeries:
    """Return the series q S, q rational."""
    return _series({power: c.scale(tensor, factor) for power, tensor in series.parts.items()}, series.upto)


def shifted(series: TensorSeries, by: Fraction) -> TensorSeries:
    """Return eps**by times the series."""
    return _series({power + by: tensor for power, tensor in series.parts.items()}, series.upto + by)


def times(c: Calculus, left: TensorSeries, right: TensorSeries) -> TensorSeries:
    """Return the product S T of entries, nothing summed.

    It is known up to min(known(S) + low(T), known(T) + low(S)): (eps + o(eps**2)) (1 + o(eps)) = eps + o(eps**2).
    """
    upto = min(left.upto + right.low, right.upto + left.low, TOP)
    found: dict[Fraction, list[Tensor]] = {}
    for p, x in left.parts.items():
        for q, y in right.parts.items():
            if p + q <= upto:
                found.setdefault(p + q, []).append(c.multiply(x, y))
    return _series({power: c.add(*tensors) for power, tensors in found.items()}, upto)


def total(c: Calculus, series: TensorSeries, *over: Index) -> TensorSeries:
    """Return the sum over indices, sum_i S_i, whether or not they occur: n S for one that does not."""
    summed = {
        power: c.total(Tensor(sorted_indices((*tensor.free, *over)), tensor.terms), *over)
        for power, tensor in series.parts.items()
    }
    return _series(summed, series.upto)


def renamed(c: Calculus, series: TensorSeries, moves: Mapping[Index, Slot]) -> TensorSeries:
    """Return the series with free indices replaced, the coefficients a_i as a_j."""
    return _series({power: c.rename(tensor, moves) for power, tensor in series.parts.items()}, series.upto)


def differentiated(c: Calculus, series: TensorSeries, by: Coordinate) -> TensorSeries:
    """Return dS/dx of a coordinate x, coefficient by coefficient; the indices of x are free in the result, too."""
    return _series({power: c.diff(tensor, by) for power, tensor in series.parts.items()}, series.upto)


def composed(c: Calculus, fn: str, arg: TensorSeries) -> TensorSeries:
    """Return fn(S) = sum_k fn^(k)(a) R**k/k! of a scalar series S = a + R, a its value at eps = 0.

    exp(x + eps y) = exp(x) (1 + eps y + eps**2 y**2/2 + ...).

    Raises:
        NotReadError: a contains a draw, the series grows as eps becomes small, or more than 8 derivatives were needed.
    """
    first, rest = apart(arg, fn)
    value = c.applied(fn, c.atom(ARGUMENT)) if rest.parts else c.applied(fn, first)
    parts: list[TensorSeries] = []
    share = monomial(ZERO, c.constant(1))
    for k in range(LONGEST + 1):
        here = c.scale(_at(c, value, first), Fraction(1, factorial(k)))
        parts.append(times(c, share, monomial(ZERO, here)))
        share = times(c, share, rest)
        if not share.parts:
            return added(c, [*parts, share])
        value = c.diff(value, ARGUMENT)
    raise NotReadError(f"{fn} beyond the order kept here")


def raised(c: Calculus, base: TensorSeries, exponent: Fraction) -> TensorSeries:
    """Return S**q for a rational q: multiplied out, or by the binomial series about the lowest part.

    (eps a + R)**q = sum_k binom(q, k) (eps a)**(q-k) R**k; with q = 1/2 that of eps x is eps**(1/2) sqrt(x).

    Raises:
        NotReadError: S is not shown to differ from zero, its lowest part contains a draw, or more than 8 terms were
            needed.
    """
    if exponent.denominator == 1 and 0 <= exponent <= LONGEST:
        found = monomial(ZERO, c.constant(1))
        for _ in range(exponent.numerator):
            found = times(c, found, base)
        return found
    if not base.parts:
        raise NotReadError("a power of what may be zero")
    low = base.low
    first, rest = apart(shifted(base, -low), "a power")
    parts: list[TensorSeries] = []
    share, number = monomial(ZERO, c.constant(1)), ONE
    for k in range(LONGEST + 1):
        here = c.scale(c.power(first, exponent - k), number)
        parts.append(times(c, share, monomial(ZERO, here)))
        share = times(c, share, rest)
        if not share.parts:
            return shifted(added(c, [*parts, share]), low * exponent)
        number *= (exponent - k) / (k + 1)
    raise NotReadError("a power beyond the order kept here")


def apart(series: TensorSeries, what: str) -> tuple[Tensor, TensorSeries]:
    """Split S = a + R into its value a at eps = 0, which may contain no draw, and R, which vanishes with eps.

    Raises:
        NotReadError: a contains a draw, or the series grows as eps becomes small; `what` names the operation in the
            message.
    """
    if series.low < 0:
        raise NotReadError(f"{what} of what grows as eps becomes small")
    first = series.at(ZERO)
    if any(is_draw(atom) for term in first.terms for atom, _ in term.factors):
        raise NotReadError(f"{what} of a draw that does not become small with eps")
    return first, TensorSeries({power: tensor for power, tensor in series.parts.items() if power > 0}, series.upto)


def _series(parts: Mapping[Fraction, Tensor], upto: Fraction) -> TensorSeries:
    upto = min(upto, TOP)
    kept = {power: parts[power] for power in sorted(parts) if power <= upto and not parts[power].is_zero}
    return TensorSeries(kept, upto)


def _at(c: Calculus, tensor: Tensor, value: Tensor) -> Tensor:
    """Return a tensor without indices of its own, the formal argument replaced by a value."""
    parts = [
        c.multiply(
            c.constant(term.coefficient), *(_power_at(c, atom, exponent, value) for atom, exponent in term.factors)
        )
        for term in tensor.terms
    ]
    return c.add(Tensor(value.free, ()), *parts)


def _power_at(c: Calculus, atom: Atom, exponent: Fraction, value: Tensor) -> Tensor:
    match atom:
        case Coordinate() if atom == ARGUMENT:
            return c.power(value, exponent)
        case Applied(fn, args):
            return c.power(c.applied(fn, *(_at(c, arg, value) for arg in args)), exponent)
        case Base(arg):
            return c.power(_at(c, arg, value), exponent)
        case _:
            return c.atom(atom, exponent)

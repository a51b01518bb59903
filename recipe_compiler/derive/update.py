"""The moments of a claimed step, for every size: E[dz] and Cov[dz] given z, by powers of the step size.

Expectations are taken draw by draw, the last first, by Isserlis' theorem (Isserlis 1918) in the form E P(w) = [exp(C_ij
d_i d_j/2) P](0). Of a gradient's noise only mean and covariance are used. Nothing here looks at H or at the recipe:
this is the second way to f and D.
"""

from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.derive.ordered_update import ClaimedDraw, Step
from recipe_compiler.derive.powers import (
    ONE,
    TOP,
    ZERO,
    NotReadError,
    TensorSeries,
    added,
    differentiated,
    draw,
    monomial,
    renamed,
    scaled,
    shifted,
    times,
    total,
)
from recipe_compiler.derive.recipe import Matrix, Vector, col_slots, row_slots
from recipe_compiler.derive.update_series import HALF, StepReading
from recipe_compiler.formula.declaration import Block
from recipe_compiler.tensor.atoms import everywhere, nested
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.terms import Atom, Coordinate, Index, Tensor, Term

SECOND = Fraction(2)
DEGREE = 8
"""Of a polynomial in one draw."""


@dataclass(frozen=True, slots=True)
class Update:
    """The moments of one step, E[dz] and Cov[dz] given z, as series in eps.

    An entry of `mean` has the free indices `row_slots(a)` of its block, one of `covariance` these and `col_slots(b)`.
    In the limit f = E[dz]/eps and 2 D = Cov[dz]/eps as eps goes to 0.
    """

    step: Step
    change: tuple[TensorSeries, ...]
    """dz itself, draws included."""
    mean: tuple[TensorSeries, ...]
    covariance: tuple[tuple[TensorSeries, ...], ...]
    noise: Matrix
    """The part eps**2 of Cov[dz] that the covariances of the draws themselves bring, each at its lowest amplitude:
    the noise of an estimated gradient, and what is subtracted for it."""
    slow: tuple[str, ...]
    """Draws whose noise is of order eps**2: those of estimated gradients, and draws of small amplitude."""

    def mean_at(self, power: Fraction) -> Vector:
        """Return the coefficient of a power of eps in E[dz], a vector over z."""
        blocks = self.step.declarations.blocks
        return tuple(_free(part.at(power), row_slots(b)) for b, part in zip(blocks, self.mean, strict=True))

    def covariance_at(self, power: Fraction) -> Matrix:
        """Return the coefficient of a power of eps in Cov[dz], a matrix over z."""
        blocks = self.step.declarations.blocks
        return tuple(
            tuple(
                _free(part.at(power), (*row_slots(row), *col_slots(col)))
                for col, part in zip(blocks, line, strict=True)
            )
            for row, line in zip(blocks, self.covariance, strict=True)
        )

    @property
    def known(self) -> Fraction:
        """The highest power up to which every moment is known."""
        every = (*self.mean, *(part for line in self.covariance for part in line))
        return min((part.upto for part in every), default=TOP)

    @property
    def unit(self) -> Fraction:
        """The power of eps that one step takes of time: 1, or that of the covariance if nothing moves at a lower one.

        `theta - eps**2/2*grad(U, theta) + eps*N(0, I)` takes time of order eps**2. A step with anything of order eps is
        read with the unit 1, and so is one without noise.
        """
        low = min(self.powers_below(TOP), default=ONE)
        noisy = any(low in part.parts for line in self.covariance for part in line)
        return low if noisy and ONE < low <= min(SECOND, self.known) else ONE

    def powers_below(self, power: Fraction) -> tuple[Fraction, ...]:
        """Return the powers of eps below `power` that occur in a moment, in order."""
        every = (*self.mean, *(part for line in self.covariance for part in line))
        return tuple(sorted({p for part in every for p in part.parts if p < power}))


def read_update(step: Step) -> Update:
    """Return E[dz] and Cov[dz] = E[dz dz.T] - E[dz] E[dz].T of a step given z, by powers of eps, for every size.

    Expectations over a Gaussian draw w of covariance C are exact: E P(w) = [exp(C_ij d_i d_j/2) P](0), which is the sum
    over pairings (Isserlis 1918): E[w_i w_j w_k w_l] = C_ij C_kl + C_ik C_jl + C_il C_jk.

    Worked: theta' = theta - eps grad U + w with w ~ N(0, 2 eps I) has E[dz] = -eps grad U, Cov[dz] = 2 eps I, exactly.
    With grad_tilde in the place of grad, Cov[dz] = 2 eps I + eps**2 V.

    Raises:
        NotReadError: a formula whose expansion in eps is not known; a third moment of an estimated gradient's noise.
        ModelError: a formula that has no entrywise meaning.
    """
    c = calculus(step.declarations)
    reading = StepReading(step, c)
    blocks = step.declarations.blocks
    for a in step.order:
        reading.new(blocks[a].name)
    change = tuple(_change(c, reading, block) for block in blocks)
    mean = tuple(_settled(c, _expectation(reading, dz)) for dz in change)
    other = tuple(_as_columns(c, block, dz) for block, dz in zip(blocks, change, strict=True))
    as_columns = tuple(_as_columns(c, block, m) for block, m in zip(blocks, mean, strict=True))
    covariance = tuple(
        tuple(
            _settled(c, added(c, [_expectation(reading, times(c, x, y)), scaled(c, times(c, m, n), -1)]))
            for y, n in zip(other, as_columns, strict=True)
        )
        for x, m in zip(change, mean, strict=True)
    )
    amplitudes = [found for item in step.draws if (found := _amplitude(reading, change, item)) is not None]
    slow = tuple(found.item.says for found in amplitudes if found.power >= 1)
    return Update(step, change, mean, covariance, _noise(reading, amplitudes), slow)


def _change(c: Calculus, reading: StepReading, block: Block) -> TensorSeries:
    here = monomial(ZERO, c.coordinate(block.name, *row_slots(block)))
    return added(c, [reading.new(block.name), scaled(c, here, -1)])


def _as_columns(c: Calculus, block: Block, series: TensorSeries) -> TensorSeries:
    return renamed(c, series, dict(zip(row_slots(block), col_slots(block), strict=True)))


def _settled(c: Calculus, series: TensorSeries) -> TensorSeries:
    return TensorSeries({p: tensor for p, tensor in series.parts.items() if not c.is_zero(tensor)}, series.upto)


def _free(tensor: Tensor, slots: tuple[Index, ...]) -> Tensor:
    """Return a tensor with the free indices of its place, whether or not they occur."""
    return Tensor(sorted_indices((*tensor.free, *slots)), tensor.terms)


def _expectation(reading: StepReading, series: TensorSeries) -> TensorSeries:
    """Return E of a polynomial in the draws, given the state."""
    for item in reversed(reading.step.draws):
        series = _over(reading, series, item)
    return series


def _over(reading: StepReading, series: TensorSeries, item: ClaimedDraw) -> TensorSeries:
    """Return E over one draw, given the state and all earlier draws."""
    degree = max((_degree(tensor, item) for tensor in series.parts.values()), default=0)
    if degree == 0:
        return series
    if degree > (DEGREE if item.gaussian else 2):
        what = "only its mean and covariance are known" if not item.gaussian else "of too high a degree"
        raise NotReadError(f"a polynomial of degree {degree} in {item.says}: {what}")
    c = reading.c
    parts = [_without(series, item)]
    share = series
    for k in range(1, degree // 2 + 1):
        share = scaled(c, _laplacian(reading, share, item), HALF / k)
        parts.append(_without(share, item))
    return added(c, parts)


def _laplacian(reading: StepReading, series: TensorSeries, item: ClaimedDraw) -> TensorSeries:
    """Return sum_ij C_ij d_i d_j of a polynomial in a draw, C the covariance of the draw as it was scaled."""
    c = reading.c
    left, right = _pair(item)
    curved = differentiated(c, differentiated(c, series, draw(item.name, *left)), draw(item.name, *right))
    return total(c, times(c, _covariance(reading, item), curved), *left, *right)


def _covariance(reading: StepReading, item: ClaimedDraw) -> TensorSeries:
    """Return the covariance of a draw without the power of eps that was split off, in the slots of `_pair`."""
    block = Block(item.name, item.shape)
    left, right = _pair(item)
    slots = (*row_slots(block), *col_slots(block))
    moved = renamed(reading.c, reading.covariance(item), dict(zip(slots, (*left, *right), strict=True)))
    return shifted(moved, -2 * reading.scale(item))


def _pair(item: ClaimedDraw) -> tuple[tuple[Index, ...], tuple[Index, ...]]:
    sizes = item.shape.sizes
    return tuple(Index(size, "@i") for size in sizes), tuple(Index(size, "@j") for size in sizes)


def _own(atom: Atom, item: ClaimedDraw) -> bool:
    return isinstance(atom, Coordinate) and atom.block == draw(item.name).block


def _degree(tensor: Tensor, item: ClaimedDraw) -> int:
    """Return the degree of a polynomial in a draw."""
    found = 0
    for term in tensor.terms:
        exponents = [exponent for atom, exponent in term.factors if _own(atom, item)]
        if any(exponent.denominator != 1 or exponent < 0 for exponent in exponents):
            raise NotReadError(f"what is no polynomial in {item.says}")
        found = max(found, int(sum(exponents)))
        if any(_own(atom, item) for factor, _ in term.factors for arg in nested(factor) for atom in everywhere(arg)):
            raise NotReadError(f"a function of {item.says}")
    return found


def _without(series: TensorSeries, *items: ClaimedDraw) -> TensorSeries:
    """Return a polynomial where draws are zero."""
    kept = {
        power: Tensor(tensor.free, tuple(term for term in tensor.terms if not _has(term, items)))
        for power, tensor in series.parts.items()
    }
    return TensorSeries({power: tensor for power, tensor in kept.items() if not tensor.is_zero}, series.upto)


def _has(term: Term, items: tuple[ClaimedDraw, ...]) -> bool:
    return any(_own(atom, item) for atom, _ in term.factors for item in items)


@dataclass(frozen=True, slots=True)
class _Amplitude:
    """How strongly a draw moves the state: the lowest power of eps, and the coefficients there, block by block."""

    item: ClaimedDraw
    power: Fraction
    by_block: tuple[Tensor, ...]
    """With the slots of a vector and the first of `_pair`."""


def _amplitude(reading: StepReading, change: tuple[TensorSeries, ...], item: ClaimedDraw) -> _Amplitude | None:
    """Return the amplitude of a draw in dz, None if dz is not moved by it to first order."""
    left, _ = _pair(item)
    slopes = [differentiated(reading.c, dz, draw(item.name, *left)) for dz in change]
    slopes = [_without(slope, *reading.step.draws) for slope in slopes]
    power = min((slope.low for slope in slopes if slope.parts), default=None)
    if power is None:
        return None
    return _Amplitude(item, power, tuple(slope.at(power) for slope in slopes))


def _noise(reading: StepReading, amplitudes: list[_Amplitude]) -> Matrix:
    """Return the part eps**2 that the covariances of the draws bring at the lowest amplitude of each."""
    c, blocks = reading.c, reading.step.declarations.blocks
    return tuple(
        tuple(
            _free(
                c.settled(c.add(c.zero(), *(_sandwich(reading, one, (a, b)) for one in amplitudes))),
                (*row_slots(row), *col_slots(col)),
            )
            for b, col in enumerate(blocks)
        )
        for a, row in enumerate(blocks)
    )


def _sandwich(reading: StepReading, amplitude: _Amplitude, at: tuple[int, int]) -> Tensor:
    c = reading.c
    left, right = _pair(amplitude.item)
    power = 2 - 2 * amplitude.power
    covariance = _covariance(reading, amplitude.item)
    if power < 0 or power not in covariance.parts:
        return c.zero()
    other = reading.step.declarations.blocks[at[1]]
    moves = dict(zip((*row_slots(other), *left), (*col_slots(other), *right), strict=True))
    there = c.rename(amplitude.by_block[at[1]], moves)
    found = times(c, monomial(ZERO, amplitude.by_block[at[0]]), monomial(ZERO, covariance.parts[power]))
    return total(c, times(c, found, monomial(ZERO, there)), *left, *right).at(ZERO)

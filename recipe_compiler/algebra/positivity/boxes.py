"""Branch and bound by ball arithmetic where every name has bounds: each box is certified, split or outside the domain.

A box is certified if elimination on balls meets positive pivots only (for a scalar: if the ball is positive, or not
negative). Where the matrix is singular somewhere in the closed box this cannot end, and the answer stays open.
"""

from dataclasses import dataclass
from typing import cast

import flint
import sympy
from flint import arb, fmpq
from sympy import Expr

from recipe_compiler.algebra.positivity.region import Region, names_of
from recipe_compiler.algebra.positivity.straight_line_program import BALLS, ProgramSteps, steps
from recipe_compiler.algebra.scalars.evaluate import NoValueError
from recipe_compiler.algebra.scalars.matrices import Rows

BOXES = 2_500
"""Boxes looked at: a count, so that the answer is the same on every machine."""
BITS = 64
DIMENSIONS = 4

Box = tuple[tuple[fmpq, fmpq], ...]


@dataclass(frozen=True, slots=True)
class Covered:
    """Bounds of every name, and how many boxes it took."""

    bounds: tuple[tuple[Expr, fmpq, fmpq], ...]
    boxes: int

    def data(self) -> tuple[tuple[str, str], ...]:
        """Return the bounds and the count as text."""
        names = ", ".join(f"{name} in [{low}, {high}]" for name, low, high in self.bounds)
        return (("box", names), ("boxes", str(self.boxes)))


def covered(a: Rows, region: Region, strict: bool = False) -> Covered | None:
    """Return a proof that a symmetric matrix is positive semidefinite on a bounded region; None if not shown.

    A scalar (1 x 1) is positive, if `strict`. v.T a v >= 0 for the n x n matrix `a`; every name in it needs two finite
    bounds. Each box of the cover is outside the domain, or certified in ball arithmetic: elimination has positive
    pivots only (Johansson 2017).

    Worked: x**2 - x + 1 on [0, 1] evaluates on the whole box to [0, 1] - [0, 1] + 1 = [0, 2], not certainly positive;
    on the halves to [0.5, 1.25] and [0.25, 1.5], both positive. After 2,500 boxes the answer is None.
    """
    names = sorted(frozenset().union(*(names_of(x) for row in a for x in row)), key=str)
    bounds = bounds_of(region)
    if not names or len(names) > DIMENSIONS or not all(name in bounds for name in names):
        return None
    about = [fact for fact in region if fact.names <= set(names) and fact.op in {">", ">="}]
    wanted = steps([x for row in a for x in row] + [fact.value for fact in about])
    before = flint.ctx.prec
    flint.ctx.prec = BITS
    try:
        count = _search(wanted, names, tuple(bounds[name] for name in names), len(a), strict)
    except NoValueError:
        return None
    finally:
        flint.ctx.prec = before
    return None if count is None else Covered(tuple((name, *bounds[name]) for name in names), count)


def bounds_of(region: Region) -> dict[Expr, tuple[fmpq, fmpq]]:
    """Return rational bounds low <= x <= high of the names that have both, from facts that are linear in one name.

    x > 0 and 3 - 2 x >= 0 give 0 <= x <= 3/2.
    """
    low: dict[Expr, fmpq] = {}
    high: dict[Expr, fmpq] = {}
    zero = sympy.Integer(0)
    for fact in region:
        slopes = {name: sympy.diff(fact.value, name) for name in fact.names if isinstance(name, sympy.Symbol)}
        if (
            fact.op not in {">", ">="}
            or len(slopes) != len(fact.names)
            or not all(s.is_Rational for s in slopes.values())
        ):
            continue
        if len(slopes) == 1:
            ((name, slope),) = slopes.items()
            rest = cast(Expr, fact.value.xreplace({name: zero}))
            end = _rational_end(-rest / slope, up=bool(slope < 0))
            if end is not None and slope > 0:
                low[name] = max(low.get(name, end), end)
            elif end is not None and slope < 0:
                high[name] = min(high.get(name, end), end)
    _simplices(region, low, high)
    return {name: (low[name], high[name]) for name in low if name in high and low[name] < high[name]}


def _simplices(region: Region, low: dict[Expr, fmpq], high: dict[Expr, fmpq]) -> None:
    """Bound names above by facts `c - sum a_i x_i >= 0` with a_i > 0 where all x_i are bounded below."""
    for fact in region:
        slopes = {name: sympy.diff(fact.value, name) for name in fact.names if isinstance(name, sympy.Symbol)}
        linear = len(slopes) == len(fact.names) > 1 and all(s.is_Rational and s < 0 for s in slopes.values())
        if fact.op not in {">", ">="} or not linear or not all(name in low for name in slopes):
            continue
        rest = fact.value.xreplace(dict.fromkeys(slopes, sympy.Integer(0)))
        if not isinstance(rest, sympy.Rational):
            continue
        slack = fmpq(int(rest.p), int(rest.q))
        share = {name: fmpq(int(s.p), int(s.q)) for name, s in slopes.items() if isinstance(s, sympy.Rational)}
        for name in slopes:
            others = sum((share[x] * low[x] for x in slopes if x != name), fmpq(0))
            end = (slack + others) / -share[name]
            high[name] = min(high.get(name, end), end)


def _rational_end(value: Expr, up: bool) -> fmpq | None:
    """Return a rational at least (`up`) or at most as large as a constant."""
    if isinstance(value, sympy.Rational):
        return fmpq(int(value.p), int(value.q))
    try:
        ball: arb = steps([value]).run({}, BALLS)[0] * 2**20
    except NoValueError:
        return None
    whole = (ball.upper().ceil() if up else ball.lower().floor()).unique_fmpz() if ball.is_finite() else None
    return None if whole is None else fmpq(int(whole), 2**20)


def _search(wanted: ProgramSteps, names: list[Expr], whole: Box, n: int, strict: bool) -> int | None:
    """Return the number of boxes that cover the whole, None if they are too many."""
    left: list[Box] = [whole]
    count = 0
    while left:
        box = left.pop()
        count += 1
        if count > BOXES:
            return None
        leaves = {name: _ball(low, high) for name, (low, high) in zip(names, box, strict=True)}
        values: list[arb] = wanted.run(leaves, BALLS)
        if any(bool(fact < 0) for fact in values[n * n :]):
            continue
        if _certain([values[i * n : (i + 1) * n] for i in range(n)], strict):
            continue
        left += _halves(box, whole)
    return count


def _ball(low: fmpq, high: fmpq) -> arb:
    return arb(low).union(arb(high))


def _halves(box: Box, whole: Box) -> list[Box]:
    """Return a box split along its relatively longest side."""
    lengths = [(high - low) / (top - bottom) for (low, high), (bottom, top) in zip(box, whole, strict=True)]
    k = max(range(len(box)), key=lambda i: lengths[i])
    low, high = box[k]
    middle = (low + high) / 2
    return [(*box[:k], (low, middle), *box[k + 1 :]), (*box[:k], (middle, high), *box[k + 1 :])]


def _certain(a: list[list[arb]], strict: bool) -> bool:
    """Whether every symmetric matrix in the balls is positive semidefinite, by elimination with positive pivots."""
    if len(a) == 1:
        value = a[0][0]
        return bool(value > 0) or (not strict and bool(value >= 0))
    work = [list(row) for row in a]
    for k in range(len(work)):
        if not work[k][k] > 0:
            return False
        for i in range(k + 1, len(work)):
            share = work[i][k] / work[k][k]
            for j in range(i, len(work)):
                work[i][j] = work[i][j] - share * work[k][j]
                work[j][i] = work[i][j]
    return True

"""Is the integral over the scales finite? Power counting, with exact ranks.

Half of every light factor is kept for what cannot vanish. Of the rest, a basis B of forms out of all factors gives
int prod_i phi_i(sqrt(mu_i) l_i) dtheta <= C prod_{i in B} mu_i**(-1/2), whatever the scales are; with B at choice,
the integrand over t is at most C exp(-E(t)),

    E(t) = max_{x in P} sum_g x_g w_g.t / 2 + sum_v own_v(t_v) - sum_{v = exp(t_v)} t_v,

P the convex hull of what bases have of each group, whose vertices are ranks: x_g = r(before and g) - r(before) for
every order of the groups. Forms that do not vanish together at any theta give exp(-c min mu**a) besides: far out where
their scales grow, nothing is left to show. A pack of heavy forms that do not vanish together gives tail * max(w.t, 0).
E is positive homogeneous but for what is bounded, or grows faster; E > 0 on the rest of the sphere makes it finite.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

import numpy as np
from flint import fmpq

from recipe_compiler.verify.from_data.energy import Energy, Form, Group, Own
from recipe_compiler.verify.from_data.fitted import most_left_over
from recipe_compiler.verify.from_data.linear_programme import minimum
from recipe_compiler.verify.from_data.ranks import inconsistent_sets, is_consistent, rank_of
from recipe_compiler.verify.from_data.values import Coordinate, NotReadError

MOST_GROUPS = 6
MOST_SCALES = 6
MOST_CELLS = 64
ZERO = fmpq(0)


@dataclass(frozen=True, slots=True)
class Counted:
    """Groups of forms with their ranks: vertices of P, numbers of forms left over, sets that never vanish together."""

    groups: tuple[Group, ...]
    vertices: tuple[tuple[int, ...], ...]
    left_over: tuple[int, ...]
    never_zero: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A direction of the scales, a sign for each, in which growth is not shown."""

    signs: tuple[tuple[Coordinate, int], ...]


def counted(energy: Energy, confined: Sequence[Form]) -> Counted:
    """Return the ranks of the groups of an energy, the forms that are confined as one of known scale.

    With r(G) the rank of the forms of groups G, in m coordinates, the vertices of P are x_g = r(before and g) -
    r(before), one for each order of the groups (Edmonds 1970).

    Raises:
        NotReadError: there are too many groups.
    """
    width = len(energy.theta)
    known = (Group((), None, tuple(confined)),) if confined else ()
    groups = (*known, *energy.groups)
    if len(groups) > MOST_GROUPS:
        raise NotReadError(f"forms of {len(groups)} scales are not decided, at most {MOST_GROUPS} are")
    bases, left_over = zip(*(_reserved(group, width) for group in groups), strict=True) if groups else ((), ())
    ranks: dict[frozenset[int], int] = {frozenset(): 0}

    def rank(chosen: frozenset[int]) -> int:
        if chosen not in ranks:
            ranks[chosen] = rank_of([form for k in chosen for form in bases[k]], width).rank
        return ranks[chosen]

    vertices: dict[tuple[int, ...], None] = {}
    for order in permutations(range(len(groups))):
        x, before = [0] * len(groups), frozenset[int]()
        for k in order:
            x[k] = rank(before | {k}) - rank(before)
            before |= {k}
        vertices[tuple(x)] = None
    light = [k for k, group in enumerate(groups) if group.tail is None and group.weights]
    return Counted(groups, tuple(vertices), left_over, tuple(_never_zero(groups, light, width)))


def _reserved(group: Group, width: int) -> tuple[tuple[Form, ...], int]:
    """Return forms of a group that span all of them; of a heavy one also how many left_over the others make."""
    basis = rank_of(group.forms, width)
    own = tuple(group.forms[k] for k in basis.attained)
    if group.tail is None or not group.weights:
        return own, 0
    others = [form for k, form in enumerate(group.forms) if k not in set(basis.attained)]
    return own, most_left_over(others, width)


def _never_zero(groups: Sequence[Group], light: Sequence[int], width: int) -> Iterator[frozenset[int]]:
    """Yield the smallest sets of light groups whose forms never vanish together."""
    for found in inconsistent_sets([groups[k].forms for k in light], width):
        yield frozenset(light[k] for k in found)


def growth(own: Own, sign: int) -> fmpq | None:
    """Return the rate a of an energy's part in one scale, own(t) ~ a |t| as t -> sign * oo; None if it grows faster.

    N t has N towards oo and -N towards -oo; exp(t) none at oo, and 0 at -oo; n log(1 + exp(2 t)) has 2 n at oo.

    Raises:
        NotReadError: it falls faster than any multiple of |t|.
    """
    rate = sum((n * max(_fraction(c * sign) for c in rates) for n, rates in own.logs), ZERO)
    steep = {(c * sign, j): a * sign**j for (c, j), a in own.terms.items() if c * sign > 0 or (c == 0 and j > 1)}
    for key in sorted(steep, reverse=True):
        if steep[key] > 0:
            return None
        if steep[key] < 0:
            raise NotReadError("an energy that falls faster than any power")
    return rate + sign * own.terms.get((Fraction(0), 1), ZERO)


def _fraction(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def unshown(energy: Energy, found: Counted) -> Iterator[Way]:
    """Yield the orthants of t in which E(t) > 0 is not shown.

    E(t) = max_(x in P) sum_g x_g w_g.t/2 + sum_v own_v(t_v) - sum_(v = exp t_v) t_v, P the base polytope of the groups'
    ranks (Edmonds 1970). Linear in each orthant by duality: a linear programme proposes x and multipliers, exact
    numbers check them. Linear regression with flat beta in R**p and sigma, N data: towards sigma -> oo it needs N - p >
    1.

    Raises:
        NotReadError: there are too many scales or cells, or an energy falls.
    """
    if len(energy.scales) > MOST_SCALES:
        raise NotReadError(f"{len(energy.scales)} scales are not decided, at most {MOST_SCALES} are")
    cells = list(product(*found.never_zero))
    if len(cells) > MOST_CELLS:
        raise NotReadError("too many sets of forms never vanish together")
    for signs in product((-1, 1), repeat=len(energy.scales)):
        own = dict(zip(energy.scales, signs, strict=True))
        rates = {v: growth(energy.own[v], sign) for v, sign in own.items()}
        if not all(_grows(energy, found, own, rates, cell) for cell in cells):
            yield Way(tuple(own.items()))


def _grows(
    energy: Energy, found: Counted, signs: Mapping[Coordinate, int], rates: Mapping[Coordinate, fmpq | None],
    cell: Sequence[int],
) -> bool:  # fmt: skip
    """Whether E > 0 where no group of a cell grows: a linear programme proposes x in P and multipliers.

    Exact sums show it.
    """
    asked = [v for v in energy.scales if rates[v] is not None]
    if not asked:
        return True
    weights = [{v: _fraction(w) for v, w in group.weights} for group in found.groups]
    columns = [_halves(vertex, weights, asked) for vertex in found.vertices]
    tops: list[fmpq | None] = [None] * len(columns)
    for k, group in enumerate(found.groups):
        if found.left_over[k] and group.tail is not None:
            columns.append({v: weights[k].get(v, ZERO) for v in asked})
            tops.append(group.tail * found.left_over[k])
    for k in cell:
        columns.append({v: weights[k].get(v, ZERO) for v in asked})
        tops.append(None)
    fixed = {v: (rates[v] or ZERO) - (signs[v] if v in energy.half_lines else 0) for v in asked}
    amounts = _proposed(
        [[signs[v] * c[v] for v in asked] for c in columns], [fixed[v] for v in asked], tops, len(found.vertices)
    )
    if amounts is None:
        return False
    return all(
        fixed[v] + sum((a * signs[v] * c[v] for a, c in zip(amounts, columns, strict=True)), ZERO) > 0 for v in asked
    )


def _halves(
    vertex: Sequence[int], weights: Sequence[Mapping[Coordinate, fmpq]], asked: Sequence[Coordinate]
) -> dict[Coordinate, fmpq]:
    """Return sum_g x_g w_g / 2, by scale."""
    return {v: sum((x * w.get(v, ZERO) / 2 for x, w in zip(vertex, weights, strict=True)), ZERO) for v in asked}


def _proposed(
    columns: Sequence[Sequence[fmpq]], fixed: Sequence[fmpq], tops: Sequence[fmpq | None], vertices: int
) -> list[fmpq] | None:
    """Return exact amounts that are allowed: those of the vertices sum to 1, none is negative or above its top."""
    n, m = len(columns), len(fixed)
    A = np.array([[-float(columns[k][v]) for k in range(n)] + [1.0] for v in range(m)])
    sums = np.array([[1.0] * vertices + [0.0] * (n - vertices) + [0.0]])
    bounds = [(0.0, None if top is None else float(top)) for top in tops]
    answer = minimum(
        [0.0] * n + [-1.0], A_ub=A, b_ub=[float(x) for x in fixed], A_eq=sums, b_eq=[1.0],
        bounds=[*bounds, (None, 1.0)],
    )  # fmt: skip
    if answer.x is None or not answer.success:
        return None
    amounts = [_short(x, top) for x, top in zip(answer.x[:n], tops, strict=True)]
    whole = sum(amounts[:vertices], ZERO)
    return [a / whole for a in amounts[:vertices]] + amounts[vertices:] if whole > 0 else None


def _short(x: float, top: fmpq | None) -> fmpq:
    near = Fraction(max(x, 0.0)).limit_denominator(10**6)
    exact = fmpq(near.numerator, near.denominator)
    return exact if top is None else min(exact, top)


def diverges(energy: Energy, found: Counted) -> Way | None:
    """Return a scale, and an end of it towards which the integral is infinite: E <= 0 there, and nothing else decays.

    The energy must be exact and its groups light: by Cauchy and Binet, det sum_i mu_i a_i a_i.T = sum_B prod_B mu_i
    det(B)**2 over bases B, E is then the integral over theta, up to a factor between two positive numbers, where the
    forms of growing scale vanish together somewhere. None where that is not shown. Worked: flat beta in R**p and sigma,
    N data: towards sigma = oo E = (N - p - 1) t, so N = p + 1 is infinite.
    """
    width = len(energy.theta)
    if not energy.exact or any(group.tail is not None for group in found.groups):
        return None
    for v in energy.scales:
        for sign in (-1, 1):
            rate = growth(energy.own[v], sign)
            along = [_fraction(dict(group.weights).get(v, Fraction(0))) * sign for group in found.groups]
            growing = [form for group, w in zip(found.groups, along, strict=True) if w > 0 for form in group.forms]
            if rate is None or not is_consistent(growing, width):
                continue
            most = max(sum((x * w / 2 for x, w in zip(vertex, along, strict=True)), ZERO) for vertex in found.vertices)
            if most + rate - (sign if v in energy.half_lines else 0) <= 0:
                return Way(((v, sign),))
    return None

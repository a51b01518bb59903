"""Do convex functions of linear forms confine theta? A linear programme proposes, exact numbers decide.

U = sum_i f_i(l_i) + L, each f_i convex, slopes between a_i and b_i. Weights a_i <= s_i <= b_i with sum_i s_i l_i + L
constant give U >= c sum |l_i| - C over the i with a_i < s_i < b_i: of labels they are probabilities with X.T s = X.T y.
Else there is a direction along which U does not grow: of labels, one that separates the classes (Albert, Anderson 1984;
Silvapulle 1981).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, csr_matrix

from recipe_compiler import limits
from recipe_compiler.verify.from_data.ranks import are_independent, find_pivots

INSIDE = 1e-3
"""The least e_k at which a piece is taken for inside."""
LONGEST = 1e4
"""The largest tau: a point that is inside by less than 1/tau is missed."""
BITS = 40
"""Binary digits that proposed weights are rounded to."""
DENOMINATORS = (1, 2, 6, 60, 1000, 10**6)
"""Largest denominators that directions are rounded to, one after the other."""
ZERO = fmpq(0)

Form = tuple[fmpq, ...]
"""a_1 ... a_m, c of the form c + sum_j a_j theta_j."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A convex function of forms: `square` of one, `abs`, `exp` of one, or `log`: weight * log(1 + sum_k exp(l_k))."""

    kind: str
    weight: fmpq
    forms: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class _Slot:
    """The weight of a form: of which piece, and the ends of the interval it may lie in."""

    piece: int
    form: Form
    low: fmpq | None
    high: fmpq | None


def _bound_weight(k: int, piece: Piece, form: Form) -> _Slot:
    match piece.kind:
        case "square":
            return _Slot(k, form, None, None)
        case "exp":
            return _Slot(k, form, ZERO, None)
        case "abs":
            return _Slot(k, form, -piece.weight, piece.weight)
        case _:
            return _Slot(k, form, ZERO, piece.weight)


def is_confined(pieces: Sequence[Piece], linear: Form) -> bool:
    """Whether exact weights inside the slopes show that U grows in every direction of theta.

    x = (1, 1) with y = (0, 1) has s = (1/2, 1/2) and is confined; with y = (1, 1) it is not.

    Args:
        pieces: convex functions of forms.
        linear: the linear form L added to them.
    """
    slots = [_bound_weight(k, piece, form) for k, piece in enumerate(pieces) for form in piece.forms]
    width = len(linear) - 1
    proposed = _propose_weights(slots, pieces, linear, width) if slots else None
    if proposed is None:
        return False
    weights, inside = proposed
    confined = [list(form[:-1]) for k in sorted(inside) for form in pieces[k].forms]
    if not are_independent(confined, width):
        return False
    exact = _correct_weights(slots, weights, inside, linear, width)
    if exact is None:
        return False
    own = [[s for s, slot in zip(exact, slots, strict=True) if slot.piece == k] for k in range(len(pieces))]
    return all(_is_allowed(piece, own[k], open_=k in inside) for k, piece in enumerate(pieces))


def _is_allowed(piece: Piece, weights: Sequence[fmpq], *, open_: bool) -> bool:
    """Whether weights lie in the range of the slopes of a piece, or in its interior where that is required."""
    match piece.kind:
        case "square":
            return True
        case "exp":
            slack = [weights[0]]
        case "abs":
            slack = [weights[0] + piece.weight, piece.weight - weights[0]]
        case _:
            slack = [*weights, piece.weight - sum(weights, ZERO)]
    return all(x > 0 if open_ else x >= 0 for x in slack)


def _propose_weights(
    slots: Sequence[_Slot], pieces: Sequence[Piece], linear: Form, width: int
) -> tuple[list[fmpq], frozenset[int]] | None:
    """Return nearly allowed weights, with the pieces in whose ranges they are interior.

    maximise sum_k e_k over 0 <= e_k <= 1 and 1 <= tau: r_i/tau in the range of i, by e_k/tau away from its ends, and
    sum_i r_i l_i + tau L = 0. With tau large every piece that can be inside has e_k = 1. The weights are r_i/tau.
    """
    n, m = len(slots), len(pieces)
    A = np.array([[float(x) for x in slot.form[:-1]] for slot in slots])
    scale = np.maximum(np.abs(A).max(axis=0, initial=0.0), 1e-300)
    upper = coo_matrix(tuple(_list_range_conditions(slots, pieces)), shape=(2 * n + m, n + m + 1))
    right = np.array([float(x) for x in linear[:-1]]) / scale
    found = _solve_linear_programme(
        np.concatenate([np.zeros(n), -np.ones(m), [0.0]]), A_ub=csr_matrix(upper), b_ub=np.zeros(2 * n + m),
        A_eq=csr_matrix(np.hstack([(A / scale).T, np.zeros((width, m)), right[:, None]])), b_eq=np.zeros(width),
        bounds=[(None, None)] * n + [(0.0, 1.0)] * m + [(1.0, LONGEST)],
    )  # fmt: skip
    if found.x is None or not found.success:
        return None
    inside = frozenset(k for k in range(m) if found.x[n + k] > INSIDE)
    weights = found.x[:n] / found.x[-1]
    return [_round_weight(x, slot, slot.piece in inside) for x, slot in zip(weights, slots, strict=True)], inside


def _solve_linear_programme(cost: Any, **conditions: Any) -> Any:
    """Return what SciPy finds of the least c.x; it states no types of it, which to work out takes long."""
    return cast(Any, linprog)(cost, method="highs", **conditions)


def _list_range_conditions(slots: Sequence[_Slot], pieces: Sequence[Piece]) -> Iterator[Any]:
    """Yield the numbers of the conditions that weights are in their ranges, and their rows and columns."""
    n, m = len(slots), len(pieces)
    entries: list[tuple[float, int, int]] = []
    for k, slot in enumerate(slots):
        if slot.low is not None:
            entries += [(-1.0, k, k), (1.0, k, n + slot.piece), (float(slot.low), k, n + m)]
        if slot.high is not None and pieces[slot.piece].kind == "abs":
            entries += [(1.0, n + k, k), (1.0, n + k, n + slot.piece), (-float(slot.high), n + k, n + m)]
        if pieces[slot.piece].kind == "log":
            entries.append((1.0, 2 * n + slot.piece, k))
    for k, piece in enumerate(pieces):
        if piece.kind == "log":
            entries += [(1.0, 2 * n + k, n + k), (-float(piece.weight), 2 * n + k, n + m)]
    yield [value for value, _, _ in entries]
    yield [row for _, row, _ in entries], [column for _, _, column in entries]


def _round_weight(x: float, slot: _Slot, inside: bool) -> fmpq:
    """Return a proposed weight as a short number; the nearest end of its range, where it is not inside."""
    exact = Fraction(round(x * 2**BITS), 2**BITS) if abs(x) < 2**60 else Fraction(x)
    near = fmpq(exact.numerator, exact.denominator)
    ends = [] if inside else [end for end in (slot.low, slot.high) if end is not None]
    return min(ends, key=lambda end: abs(near - end)) if ends else near


def _correct_weights(
    slots: Sequence[_Slot], weights: list[fmpq], inside: frozenset[int], linear: Form, width: int
) -> list[fmpq] | None:
    """Return weights with sum_i s_i l_i + L = 0 exactly, changing those of independent interior forms; else None."""
    left = [
        linear[j] + sum((s * slot.form[j] for s, slot in zip(weights, slots, strict=True)), ZERO) for j in range(width)
    ]
    if not any(left):
        return weights

    def slack(k: int) -> float:
        ends = [end for end in (slots[k].low, slots[k].high) if end is not None]
        return min((abs(float(weights[k] - end)) for end in ends), default=float("inf"))

    movable = sorted((k for k, slot in enumerate(slots) if slot.piece in inside), key=slack, reverse=True)
    own = [movable[k] for k in find_pivots([list(slots[k].form[:-1]) for k in movable], width)]
    if len(own) < width:
        return None
    columns = fmpq_mat(width, width, [slots[k].form[j] for j in range(width) for k in own])
    try:
        change = columns.solve(fmpq_mat(width, 1, [-x for x in left]))
    except ZeroDivisionError:
        return None
    moved = list(weights)
    for row, k in enumerate(own):
        moved[k] += change[row, 0]
    return moved


# A direction along which U does not grow


def find_flat_direction(pieces: Sequence[Piece], linear: Form) -> tuple[fmpq, ...] | None:
    """Return d != 0 with lim_(s -> oo) U(s d)/s <= 0, exactly; None if none is found.

    U is convex, so it never grows along d, from any point, and int exp(-U) is infinite. Logistic regression with x =
    (-1, 1) and y = (0, 1) has d = 1.

    Args:
        pieces: convex functions of forms.
        linear: the linear form added to them.
    """
    width = len(linear) - 1
    rows = [form for piece in pieces for form in piece.forms]
    sizes = [max((abs(float(form[j])) for form in rows), default=0.0) for j in range(width)]
    scale = [2.0 ** round(np.log2(x)) if x > 0 else 1.0 for x in sizes]
    for trial in range(limits.TRIALS if width else 0):
        objective = (-1) ** trial * np.random.default_rng(trial // 2).normal(size=width)
        found = _propose_direction(pieces, linear, scale, objective)
        size = 0.0 if found is None else np.abs(found).max()
        for most in DENOMINATORS if size > 1e-7 else ():
            near = [Fraction(x / size).limit_denominator(most) / Fraction(s) for x, s in zip(found, scale, strict=True)]
            direction = tuple(fmpq(x.numerator, x.denominator) for x in near)
            if any(direction) and _compute_slope_at_infinity(pieces, linear, direction) <= 0:
                return direction
    return None


def _propose_direction(pieces: Sequence[Piece], linear: Form, scale: Sequence[float], objective: Any) -> Any:
    """Return d in the unit cube with U_inf(d) <= 0 that maximises an objective."""
    width, m = len(scale), len(pieces)
    upper: list[Any] = []
    equal: list[Any] = []
    for k, piece in enumerate(pieces):
        for form in piece.forms:
            row = np.zeros(width + m)
            row[:width] = [float(x) / s for x, s in zip(form, scale, strict=False)]
            if piece.kind == "square":
                equal.append(row)
                continue
            if piece.kind != "exp":
                row[:width] *= float(piece.weight)
            other = -row
            row[width + k] = other[width + k] = -float(piece.kind != "exp")
            upper += [row, other] if piece.kind == "abs" else [row]
    total = np.ones(width + m)
    total[:width] = [float(x) / s for x, s in zip(linear, scale, strict=False)]
    answer = _solve_linear_programme(
        np.concatenate([-objective, np.zeros(m)]), A_ub=np.array([*upper, total]), b_ub=np.zeros(len(upper) + 1),
        A_eq=np.array(equal) if equal else None, b_eq=np.zeros(len(equal)) if equal else None,
        bounds=[(-1.0, 1.0)] * width + [(0.0, None)] * m,
    )  # fmt: skip
    return None if answer.x is None else answer.x[:width]


def _compute_slope_at_infinity(pieces: Sequence[Piece], linear: Form, d: Sequence[fmpq]) -> fmpq | float:
    """Return the exact slope U_inf(d) at infinity, or infinity."""
    found = sum((a * x for a, x in zip(linear, d, strict=False)), ZERO)
    for piece in pieces:
        along = [sum((a * x for a, x in zip(form, d, strict=False)), ZERO) for form in piece.forms]
        match piece.kind:
            case "square" if along[0] != 0:
                return float("inf")
            case "exp" if along[0] > 0:
                return float("inf")
            case "square" | "exp":
                pass
            case "abs":
                found += piece.weight * abs(along[0])
            case _:
                found += piece.weight * max([ZERO, *along])
    return found

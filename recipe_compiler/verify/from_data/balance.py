"""Which forms a sum of convex functions confines: a linear programme proposes weights, exact numbers prove them.

U_0 = sum_i f_i(l_i) + L with f_i convex, of slopes a_i at -oo and b_i at oo. Where weights a_i <= s_i <= b_i have
sum_i s_i l_i + L constant, U_0 = sum_i (f_i(l_i) - s_i l_i) + a constant, each summand bounded below, and at least
c |l_i| - C where a_i < s_i < b_i. So U_0 >= c sum |l_i| - C over those i. For labels y_i and f_i = log(1 + exp(l_i))
they are probabilities s_i with X.T s = X.T y: classes are then not separable (Albert, Anderson 1984; Silvapulle 1981).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq
from scipy.sparse import coo_matrix, csr_matrix

from recipe_compiler.verify.from_data.energy import Form, Piece
from recipe_compiler.verify.from_data.linear_programme import minimum
from recipe_compiler.verify.from_data.ranks import rank_of, solved

LEAST = 1e-3
"""The least e_k at which a piece is taken for inside."""

LONGEST = 1e4
"""The largest tau: a point that is inside by less than 1/tau is missed."""

BITS = 40
"""Binary digits that proposed weights are rounded to."""


@dataclass(frozen=True, slots=True)
class Balance:
    """The forms that are confined, the pieces they belong to, and the weights of all forms that show it."""

    forms: tuple[Form, ...]
    inside: frozenset[int]
    weights: tuple[fmpq, ...]


@dataclass(frozen=True, slots=True)
class _Slot:
    """The weight of a form: of which piece, and the open interval it may lie in."""

    piece: int
    form: Form
    low: fmpq | None
    high: fmpq | None


def balance(pieces: Sequence[Piece], linear: Form) -> Balance | None:
    """Return which forms a sum of convex functions confines; None where it is not shown to be bounded below.

    Exact weights a_i <= s_i <= b_i in the ranges of the slopes, with sum_i s_i l_i + L constant, give U_0 >= c sum
    |l_i| - C over the i with a_i < s_i < b_i. For logistic regression s are probabilities with X.T s = X.T y (Albert
    and Anderson 1984; Silvapulle 1981): x = (1, 1) with y = (0, 1) has s = (1/2, 1/2) and is confined; with y = (1, 1)
    it is not.

    Args:
        pieces: convex functions of forms.
        linear: the linear form L added to them.
    """
    slots = [_slot(k, piece, form) for k, piece in enumerate(pieces) for form in piece.forms]
    width = len(linear) - 1
    if not slots:
        return Balance((), frozenset(), ()) if not any(linear[:-1]) else None
    proposed = _proposed(slots, pieces, linear, width)
    if proposed is None:
        return None
    weights, inside = proposed
    exact = _corrected(slots, weights, inside, linear, width)
    if exact is None:
        return None
    for k, piece in enumerate(pieces):
        own = [s for s, slot in zip(exact, slots, strict=True) if slot.piece == k]
        if not _allowed(piece, own, open_=k in inside):
            return None
    return Balance(tuple(form for k in sorted(inside) for form in pieces[k].forms), inside, tuple(exact))


def _slot(k: int, piece: Piece, form: Form) -> _Slot:
    match piece.kind:
        case "square":
            return _Slot(k, form, None, None)
        case "exp":
            return _Slot(k, form, fmpq(0), None)
        case "abs":
            return _Slot(k, form, -piece.weight, piece.weight)
        case _:
            return _Slot(k, form, fmpq(0), piece.weight)


def _allowed(piece: Piece, weights: Sequence[fmpq], *, open_: bool) -> bool:
    """Whether weights lie in the range of the slopes of a piece, or in its interior where that is required."""
    match piece.kind:
        case "square":
            return True
        case "exp":
            slack = [weights[0]]
        case "abs":
            slack = [weights[0] + piece.weight, piece.weight - weights[0]]
        case _:
            slack = [*weights, piece.weight - sum(weights, fmpq(0))]
    return all(x > 0 if open_ else x >= 0 for x in slack)


def _proposed(
    slots: Sequence[_Slot], pieces: Sequence[Piece], linear: Form, width: int
) -> tuple[list[fmpq], frozenset[int]] | None:
    """Return weights close to allowed ones, with the pieces in whose range they lie inside: as many as there can be.

    maximise sum_k e_k over 0 <= e_k <= 1 and 1 <= tau: r_i/tau in the range of i, by e_k/tau away from its ends, and
    sum_i r_i l_i + tau L = 0. With tau large every piece that can be inside has e_k = 1. The weights are r_i/tau.
    """
    n, m = len(slots), len(pieces)
    A = np.array([[float(x) for x in slot.form[:-1]] for slot in slots])
    scale = np.maximum(np.abs(A).max(axis=0, initial=0.0), 1e-300)
    upper = coo_matrix(tuple(_ranges(slots, pieces)), shape=(2 * n + m, n + m + 1))
    right = np.array([float(x) for x in linear[:-1]]) / scale
    equal = np.hstack([(A / scale).T, np.zeros((width, m)), right[:, None]])
    found = minimum(
        np.concatenate([np.zeros(n), -np.ones(m), [0.0]]), A_ub=csr_matrix(upper), b_ub=np.zeros(2 * n + m),
        A_eq=csr_matrix(equal), b_eq=np.zeros(width),
        bounds=[(None, None)] * n + [(0.0, 1.0)] * m + [(1.0, LONGEST)],
    )  # fmt: skip
    if found.x is None or not found.success:
        return None
    inside = frozenset(k for k in range(m) if found.x[n + k] > LEAST)
    weights = found.x[:n] / found.x[-1]
    return [_rounded(x, slot, slot.piece in inside) for x, slot in zip(weights, slots, strict=True)], inside


def _ranges(slots: Sequence[_Slot], pieces: Sequence[Piece]) -> Iterator[Any]:
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


def _rounded(x: float, slot: _Slot, inside: bool) -> fmpq:
    """Return a proposed weight as a short number; the nearest end of its range, where it is not inside."""
    exact = Fraction(round(x * 2**BITS), 2**BITS) if abs(x) < 2**60 else Fraction(x)
    near = fmpq(exact.numerator, exact.denominator)
    if inside:
        return near
    ends = [end for end in (slot.low, slot.high) if end is not None]
    return min(ends, key=lambda end: abs(near - end)) if ends else near


def _slack(slot: _Slot, weight: fmpq) -> float:
    """Return how far a weight is from the ends of its range."""
    return min((abs(float(weight - end)) for end in (slot.low, slot.high) if end is not None), default=float("inf"))


def _corrected(
    slots: Sequence[_Slot], weights: list[fmpq], inside: frozenset[int], linear: Form, width: int
) -> list[fmpq] | None:
    """Return weights with sum_i s_i l_i + L = 0 exactly, those of independent forms inside being changed; else None."""
    left = [
        linear[j] + sum((s * slot.form[j] for s, slot in zip(weights, slots, strict=True)), fmpq(0))
        for j in range(width)
    ]
    if not any(left):
        return weights
    movable = [k for k, slot in enumerate(slots) if slot.piece in inside]
    movable.sort(key=lambda k: _slack(slots[k], weights[k]), reverse=True)
    chosen = rank_of([slots[k].form for k in movable], width)
    own = [movable[k] for k in chosen.attained]
    # sum_k d_k l_k = -left: len(own) unknowns, width equations, the rows of which that are independent are solved
    columns = [[slots[k].form[j] for k in own] for j in range(width)]
    equations = rank_of(columns, len(own)).attained
    change = solved([columns[j] for j in equations], [-left[j] for j in equations])
    for j in set(range(width)) - set(equations):
        if sum((d * x for d, x in zip(change, columns[j], strict=True)), left[j]) != 0:
            return None
    moved = list(weights)
    for k, d in zip(own, change, strict=True):
        moved[k] += d
    return moved

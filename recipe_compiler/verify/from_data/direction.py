"""A direction along which a convex energy does not grow: proposed by a linear programme, checked exactly."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq

from recipe_compiler.verify.from_data.energy import Form, Piece
from recipe_compiler.verify.from_data.linear_programme import minimum

ZERO = fmpq(0)

TRIED = 8
"""Objectives tried; each finds a direction at an end of the cone."""

DENOMINATORS = (1, 2, 6, 60, 1000, 10**6)
"""Largest denominators that directions are rounded to, one after the other."""


def flat_direction(pieces: Sequence[Piece], linear: Form) -> tuple[fmpq, ...] | None:
    """Return d != 0 with lim_(s -> oo) U(s d)/s <= 0, U being the pieces plus the linear form; None if none is found.

    U is convex, so it never grows along d, from any point, and int exp(-U) is infinite. Proposed by a linear programme,
    checked exactly. (Albert and Anderson 1984: of logistic regression it separates the classes.) Logistic regression
    with x = (-1, 1) and y = (0, 1) has d = 1.
    """
    width = len(linear) - 1
    if not width:
        return None
    scale = _scales(pieces, linear, width)
    for trial in range(TRIED):
        objective = (-1) ** trial * np.random.default_rng(trial // 2).normal(size=width)
        found = _proposed(pieces, linear, scale, objective)
        if found is None:
            continue
        size = np.abs(found).max()
        for most in DENOMINATORS if size > 1e-7 else ():
            direction = tuple(_short(x / size, most) / _exact(s) for x, s in zip(found, scale, strict=True))
            if any(direction) and _slope(pieces, linear, direction) <= 0:
                return direction
    return None


def _scales(pieces: Sequence[Piece], linear: Form, width: int) -> list[float]:
    """Return powers of two of the size of each coordinate's numbers."""
    rows = [form for piece in pieces for form in piece.forms]
    sizes = [max((abs(float(form[j])) for form in rows), default=0.0) for j in range(width)]
    return [2.0 ** round(np.log2(x)) if x > 0 else 1.0 for x in sizes]


def _exact(x: float) -> fmpq:
    one = Fraction(x)
    return fmpq(one.numerator, one.denominator)


def _short(x: float, most: int) -> fmpq:
    near = Fraction(x).limit_denominator(most)
    return fmpq(near.numerator, near.denominator)


def _proposed(
    pieces: Sequence[Piece], linear: Form, scale: Sequence[float], objective: np.ndarray
) -> np.ndarray | None:
    """Return d in the unit cube with U_inf(d) <= 0, that goes far along an objective."""
    width, m = len(scale), len(pieces)
    upper: list[np.ndarray] = []
    equal: list[np.ndarray] = []
    for k, piece in enumerate(pieces):
        for form in piece.forms:
            row = np.zeros(width + m)
            row[:width] = [float(x) / s for x, s in zip(form, scale, strict=False)]
            if piece.kind == "square":
                equal.append(row)
                continue
            if piece.kind != "exp":
                row[:width] *= float(piece.weight)
                row[width + k] = -1.0
            upper.append(row)
            if piece.kind == "abs":
                other = -row
                other[width + k] = -1.0
                upper.append(other)
    total = np.ones(width + m)
    total[:width] = [float(x) / s for x, s in zip(linear, scale, strict=False)]
    answer = minimum(
        np.concatenate([-objective, np.zeros(m)]), A_ub=np.array([*upper, total]), b_ub=np.zeros(len(upper) + 1),
        A_eq=np.array(equal) if equal else None, b_eq=np.zeros(len(equal)) if equal else None,
        bounds=[(-1.0, 1.0)] * width + [(0.0, None)] * m,
    )  # fmt: skip
    return None if answer.x is None else answer.x[:width]


def _slope(pieces: Sequence[Piece], linear: Form, d: Sequence[fmpq]) -> fmpq | float:
    """Return U_inf(d), exactly; infinity where it is that."""
    found = sum((a * x for a, x in zip(linear, d, strict=False)), ZERO)
    for piece in pieces:
        along = [sum((a * x for a, x in zip(form, d, strict=False)), ZERO) for form in piece.forms]
        match piece.kind:
            case "square":
                if along[0] != 0:
                    return float("inf")
            case "exp":
                if along[0] > 0:
                    return float("inf")
            case "abs":
                found += piece.weight * abs(along[0])
            case _:
                found += piece.weight * max([ZERO, *along])
    return found

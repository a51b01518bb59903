"""Polynomial energies at fixed sizes: completed squares, then the leading form for some weights.

If the terms of the highest weighted degree add up to a form that is positive away from the origin, the polynomial grows
in every direction at least like a power, and exp(-H) has a finite integral.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.derivatives import slope

LARGEST_WEIGHT = 3
LARGEST_DIMENSION = 4
EFFORT = 3_000_000
"""Resource units that Z3 may spend on one form: the same on every machine."""


@dataclass(frozen=True, slots=True)
class Leading:
    """Why exp(-H) has a finite integral, for an independent check; `trusted` if it rests on Z3."""

    data: tuple[tuple[str, str], ...]
    trusted: bool


def leading(H: Expr, z: Sequence[Symbol]) -> Leading | None:
    """Return why exp(-H) has a finite integral over all real z (n coordinates, H a scalar), None if this was not shown.

    Coefficients may contain parameters, whose signs SymPy's symbols carry. Worked, H = x**4 + x y + y**2: the square in
    y is completed, (y + x/2)**2, and integrated out, which leaves x**4 - x**2/4; its leading form for the weight 1 is
    x**4 > 0 for x != 0.
    """
    left, energy = list(z), H
    squares: list[tuple[str, str]] = []
    while True:
        found = next(((x, p) for x in left if (p := _curvature(energy, x, left)) is not None), None)
        if found is None:
            break
        x, p = found
        at_zero = {x: sympy.Integer(0)}
        linear = cast(Expr, slope(energy, x).xreplace(at_zero))
        energy = sympy.expand(cast(Expr, energy.xreplace(at_zero)) - linear**2 / (2 * p))
        left.remove(x)
        squares.append((f"square in {x}", f"{p}"))
    if not left:
        return Leading(tuple(squares), trusted=False)
    if len(left) > LARGEST_DIMENSION:
        return None
    form = _leading_form(energy, left)
    return None if form is None else Leading((*squares, *form.data), form.trusted)


def _curvature(H: Expr, x: Symbol, z: Sequence[Symbol]) -> Expr | None:
    """Return d2H/dx2 if it is a positive constant."""
    P = sympy.expand(slope(slope(H, x), x))
    return P if not P.has(*z) and P.is_positive else None


def _leading_form(H: Expr, z: Sequence[Symbol]) -> Leading | None:
    try:
        terms = sympy.Poly(sympy.expand(H), *z).terms()
    except sympy.PolynomialError:
        return None
    for weights in sorted(product(range(1, LARGEST_WEIGHT + 1), repeat=len(z)), key=sum):
        degrees = [sum(int(e) * w for e, w in zip(exponents, weights, strict=True)) for exponents, _ in terms]
        top = max(degrees)
        form = [term for term, degree in zip(terms, degrees, strict=True) if degree == top]
        if top <= 0 or not _has_pure_powers(form, len(z)):
            continue
        plain = all(c.is_positive and all(int(e) % 2 == 0 for e in exponents) for exponents, c in form)
        if plain or _positive_by_z3(form, z):
            written = sympy.Add(*(c * sympy.Mul(*(x**e for x, e in zip(z, e_, strict=True))) for e_, c in form))
            by_weight = ", ".join(f"{x}: {w}" for x, w in zip(z, weights, strict=True))
            data = (("weights", by_weight), ("leading form", str(written)))
            return Leading(data if plain else (*data, ("trusted", "z3")), trusted=not plain)
    return None


def _has_pure_powers(form: list[tuple[Any, Any]], n: int) -> bool:
    """Whether every coordinate has an even power of its own, as a form that is positive on every axis needs."""
    pure = {
        next(k for k, e in enumerate(exponents) if e)
        for exponents, _ in form
        if sum(1 for e in exponents if e) == 1 and sum(int(e) for e in exponents) % 2 == 0
    }
    return len(pure) == n


def _positive_by_z3(form: list[tuple[Any, Any]], z: Sequence[Symbol]) -> bool:
    """Whether Z3 finds no point of the unit sphere at which a form is not positive."""
    import z3

    solver: Any = z3.SolverFor("QF_NRA")
    solver.set("rlimit", EFFORT)
    names: dict[Symbol, Any] = {x: z3.Real(f"x{k}") for k, x in enumerate(z)}
    value: Any = z3.RealVal(0)
    for exponents, coefficient in form:
        scale = _coefficient(coefficient, names, solver)
        if scale is None:
            return False
        for x, e in zip(z, exponents, strict=True):
            for _ in range(int(e)):
                scale = scale * names[x]
        value = value + scale
    solver.add(value <= 0, sum((names[x] * names[x] for x in z), z3.RealVal(0)) == 1)
    return bool(solver.check() == z3.unsat)


def _coefficient(coefficient: Expr, names: dict[Symbol, Any], solver: Any) -> Any | None:
    """Return a polynomial of the parameters in Z3's terms, with what is known of their signs; None of anything else."""
    import z3

    parameters = sorted((p for p in coefficient.free_symbols if isinstance(p, Symbol)), key=str)
    if len(parameters) < len(coefficient.free_symbols):
        return None
    for p in parameters:
        if p not in names:
            names[p] = z3.Real(f"p{len(names)}")
            if p.is_positive:
                solver.add(names[p] > 0)
            elif p.is_nonnegative:
                solver.add(names[p] >= 0)
    try:
        terms = sympy.Poly(coefficient, *parameters).terms() if parameters else [((), coefficient)]
    except sympy.PolynomialError:
        return None
    value: Any = z3.RealVal(0)
    for exponents, number in terms:
        if not isinstance(number, sympy.Rational):
            return None
        part: Any = z3.Q(int(number.p), int(number.q))
        for p, e in zip(parameters, exponents, strict=True):
            for _ in range(int(e)):
                part = part * names[p]
        value = value + part
    return value

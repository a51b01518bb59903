"""Minors of brackets without a common zero: at each state one of them shows that brackets span all directions.

Polynomials with rational coefficients have no common zero, real or complex, where 1 is a combination of them.
"""

from collections.abc import Iterator
from itertools import combinations, islice

import sympy
from sympy import Expr

from recipe_compiler.algebra.dynamics.brackets import fields
from recipe_compiler.algebra.dynamics.system import System
from recipe_compiler.algebra.scalars.matrices import determinant

LARGEST = 4
"""Coordinates up to which minors are formed."""
FIELDS, MINORS = 10, 60
"""The shortest brackets that minors are made of, and how many of these are formed."""
VARIABLES, DEGREE = 3, 16
"""Variables and total degree of minors that are looked at."""


def spanning(s: System) -> tuple[Expr, ...]:
    """Return minors of the columns of D and their brackets that vanish nowhere together; none where none are found."""
    if len(s.z) > LARGEST:
        return ()
    variables: set[sympy.Basic] = set()
    found: list[Expr] = []
    for minor in _minors(s):
        variables |= minor.free_symbols
        found.append(minor)
        if len(variables) > VARIABLES:
            return ()
    ordered = sorted(found, key=lambda e: (int(e.count_ops()), str(e)))
    kept = _without_common_zero(ordered, sorted(variables, key=str))
    return () if kept is None else tuple(kept)


def _minors(s: System) -> Iterator[Expr]:
    """Yield determinants of brackets that are polynomials with rational coefficients and not zero."""
    listed = sorted(fields(s), key=lambda v: (sum(int(x.count_ops()) for x in v), str(v)))[:FIELDS]
    for chosen in islice(combinations(listed, len(s.z)), MINORS):
        minor = sympy.expand(determinant(chosen))
        free = sorted(minor.free_symbols, key=str)
        if minor == 0 or set(free) - set(s.z) or not minor.is_polynomial(*free):
            continue
        if not free or (sympy.Poly(minor, *free).domain in {sympy.ZZ, sympy.QQ} and _degree(minor, free) <= DEGREE):
            yield minor


def _degree(e: Expr, free: list[sympy.Basic]) -> int:
    return int(sympy.Poly(e, *free).total_degree())


def _without_common_zero(minors: list[Expr], variables: list[sympy.Basic]) -> list[Expr] | None:
    """Return the first minors of which 1 is a combination."""
    ideal: list[Expr] = []
    used: list[Expr] = []
    for minor in minors:
        if not variables:
            return [minor]
        if ideal and sympy.reduced(minor, ideal, *variables, order="grevlex")[1] == 0:
            continue
        used.append(minor)
        ideal = list(sympy.groebner([*ideal, minor], *variables, order="grevlex").exprs)
        if ideal == [1]:
            return used
    return None

"""Signs of typed formulas, entry by entry, by the same proofs as those of matrices: what definedness rests on.

Where a document fixes all sizes its formulas are read entry by entry; else what has entries of a symbolic size is one
opaque scalar, and the answer holds for every size.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import combinations

from sympy import Expr

from recipe_compiler.algebra.positivity.abstract import Abstraction, SignOf
from recipe_compiler.algebra.positivity.prove import Shown, parts, scalar
from recipe_compiler.algebra.positivity.region import Region, region_at
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.matrices import Rows, TooLargeError, determinant, total
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula

MOST_ENTRIES = 36
"""Formulas with more entries than this are read as one opaque entry."""
LARGEST_MATRIX = 4


@lru_cache(maxsize=4096)
def shown(
    formula: Formula, op: str, declarations: Declarations, sign_of: SignOf, offset: int = 0, light: bool = False
) -> frozenset[str] | None:
    """Return what it rests on that every entry of a formula has `entry + offset op 0`, None if that is not shown.

    Args:
        formula: A scalar, or a vector or matrix.
        op: One of `> >= !=`.
        declarations: Of the document.
        sign_of: The structural rules, for opaque parts.
        offset: An integer added to every entry.
        light: By signs of terms and factors only.
    """
    try:
        entries, region = _entries(formula, declarations, sign_of)
        answers = [scalar(e + offset, op, region, light=light) for e in entries]
    except (NotScalarisableError, TooLargeError, NoNormalFormError):
        return None
    found = [answer for answer in answers if answer is not None]
    return frozenset[str]().union(*(answer.given for answer in found)) if len(found) == len(answers) else None


@lru_cache(maxsize=1024)
def definite(formula: Formula, declarations: Declarations) -> frozenset[str] | None:
    """Return what it rests on that a small square matrix of a document that fixes all sizes is positive definite.

    All characteristic coefficients of a symmetric matrix are positive exactly if all its eigenvalues are.
    """
    if declarations.sizes:
        return None
    try:
        a = rows(formula, Setting(declarations, {}))
        region = region_at(declarations, {})
        if len(a) > LARGEST_MATRIX or parts(a, region) is None:
            return None
        answers = [scalar(e, ">", region) for e in _coefficients(a)]
    except (NotScalarisableError, TooLargeError, NoNormalFormError):
        return None
    found = [answer for answer in answers if answer is not None]
    return frozenset[str]().union(*(answer.given for answer in found)) if len(found) == len(answers) else None


@lru_cache(maxsize=1024)
def invertible(formula: Formula, declarations: Declarations) -> frozenset[str] | None:
    """Return what it rests on that the determinant of a small matrix of fixed size has no zero."""
    if declarations.sizes:
        return None
    try:
        a = rows(formula, Setting(declarations, {}))
        if len(a) > LARGEST_MATRIX:
            return None
        answer: Shown | None = scalar(determinant(a), "!=", region_at(declarations, {}))
    except (NotScalarisableError, TooLargeError, NoNormalFormError):
        return None
    return None if answer is None else answer.given


def apart(declarations: Declarations, sizes: Mapping[str, int]) -> Callable[[Expr], bool]:
    """Return whether a scalar at fixed sizes is shown to have no zero where all that is declared holds."""

    def never_zero(e: Expr) -> bool:
        try:
            return scalar(e, "!=", region_at(declarations, sizes), light=True) is not None
        except (NotScalarisableError, TooLargeError, NoNormalFormError):
            return False

    return never_zero


def _coefficients(a: Rows) -> list[Expr]:
    """Return the sums of the principal minors of each size."""
    n = range(len(a))
    return [
        total([determinant(tuple(tuple(a[i][j] for j in at) for i in at)) for at in combinations(n, k)])
        for k in range(1, len(a) + 1)
    ]


def _entries(formula: Formula, declarations: Declarations, sign_of: SignOf) -> tuple[list[Expr], Region]:
    if not declarations.sizes:
        flat = [x for row in rows(formula, Setting(declarations, {})) for x in row]
        distinct = list(dict.fromkeys(flat))
        if len(distinct) <= MOST_ENTRIES:
            return distinct, region_at(declarations, {})
    abstraction = Abstraction(declarations, sign_of)
    entry = abstraction.scalar(formula)
    return [entry], abstraction.region()

"""Exact negative directions of a block matrix at admissible points: simple points first, then searched ones."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import sympy

from recipe_compiler.algebra.dynamics.system import block_matrix
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.defined_at import is_defined_at
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.evaluate import Value, rational_rows
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.negative_direction import form, negative_direction
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import FunctionAt, Symbol
from recipe_compiler.verify.core.searched_point import completed, names_in, spoken_of
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject

MANY, SOME, FEW = 120, 40, 8
"""Points looked at where nothing is known, of a larger matrix, and where a proof says that there is nothing to find."""

SMALL = 3
"""Rows of a matrix at which many points are cheap."""

LARGE = 12
"""Rows of a matrix from which on one point is enough where structure says that there is nothing to find."""


@dataclass(frozen=True, slots=True)
class Negative:
    """Sizes, the point as text, and a direction v with v.T A v < 0 there."""

    sizes: Sizes
    text: tuple[tuple[str, str], ...]
    direction: tuple[Fraction, ...]
    value: Value


def find_negative(matrix: Matrix, subject: Subject, sizes: Sizes, *, short: bool) -> Negative | None:
    """Return an exact negative direction of the symmetric part of a block matrix at an admissible point."""
    declarations = subject.dynamics.declarations
    a = block_matrix(matrix, subject.setting(sizes))
    attempts = (MANY if len(a) <= SMALL else SOME) if not short else FEW if len(a) <= LARGE else 1
    for at in points(declarations, sizes, attempts):
        numbers = _rational(a, at)
        if numbers is None or not is_defined_at(chain(*matrix), subject.setting(sizes), at.leaf):
            continue
        v = negative_direction(numbers)
        if v is not None and form(numbers, v) < 0:
            return Negative(sizes, _relevant(matrix, at.text, subject), v, form(numbers, v))
    return None


def search_negative(matrix: Matrix, subject: Subject, sizes: Sizes) -> Negative | None:
    """Return an exact negative direction that a numerical search proposes, at a point re-checked against all declared.

    Raises:
        entries.NotScalarisableError, matrices.TooLargeError: the matrix has no scalar entries.
        instances.NoInstanceError: kinds of which no instance is known.
    """
    from recipe_compiler.algebra.positivity.falsify import falsified  # imports NumPy, which most proofs need not

    declarations = subject.dynamics.declarations
    a = block_matrix(matrix, subject.setting(sizes))
    entries = [x for row in a for x in row]
    if len(a) > LARGE or any(x.has(sympy.Derivative) for x in entries):
        return None
    region = spoken_of(entries, declarations, sizes)
    found = falsified(a, region, names_in(entries, region))
    at = None if found is None else completed(found.at, declarations, sizes)
    if found is None or at is None or not is_defined_at(chain(*matrix), subject.setting(sizes), at.leaf):
        return None
    return Negative(sizes, _relevant(matrix, at.text, subject), found.direction, found.value)


def _rational(a: Rows, at: Point) -> tuple[tuple[Fraction, ...], ...] | None:
    """Return the symmetric part of a matrix at a point, None unless every entry is rational there."""
    exact = rational_rows(a, at.leaf)
    if exact is None:
        return None
    n = range(len(a))
    return tuple(tuple((exact[i][j] + exact[j][i]) / 2 for j in n) for i in n)


def _relevant(matrix: Matrix, text: tuple[tuple[str, str], ...], subject: Subject) -> tuple[tuple[str, str], ...]:
    """Return the values of a point that the matrix, an assumption or a bound speaks of, and the sizes."""
    formulas = [place for row in matrix for place in row]
    formulas += [side for c in subject.dynamics.declarations.assume for side in (c.left, c.right)]
    formulas += [bound for block in subject.dynamics.declarations.blocks for bound in block.domain.bounds]
    used = [node for f in formulas for node in nodes(f) if isinstance(node, (Symbol, FunctionAt))]
    names = {*subject.dynamics.declarations.sizes, *(node.name for node in used)}
    for node in used:
        names |= set(node.of) if isinstance(node, FunctionAt) else set()
    return tuple((name, value) for name, value in text if name.partition("(")[0] in names)

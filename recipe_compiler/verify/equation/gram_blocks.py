"""Block matrices as sums of `L (W x P) L.T`: every place written as `L_r P L_s.T` times a scalar, for every size.

Let the rows r belong to blocks a(r), each with a product of matrices L_r, and let all share one P. Then the matrix with
places D[a,b] = sum over r of a, s of b of W_rs L_r P L_s.T is L (W x P) L.T, with L the L_r put together: positive
semidefinite if P and the matrix of scalars W are. So is a sum of such matrices. `[[A A.T, A B.T], [B A.T, B B.T]]` has
P = I and W = [[1, 1], [1, 1]]; `[[C, -C], [-C, C]]` has P = C and W = [[1, -1], [-1, 1]].

The L_r are read off the diagonal places, where they stand as `L P L.T`; every other term must be one of their products.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from recipe_compiler.algebra.positivity.prove import Shown
from recipe_compiler.algebra.rewrite.transposes import chain, mirrored, plain, reflected
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.structure.psd import semidefinite
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Add, Filled, Formula, Identity, Multiply, Number
from recipe_compiler.formula.shapes import SCALAR, Size
from recipe_compiler.verify.equation.scalar_blocks import abstract

MOST_TERMS = 64
MOST_ROWS = 8
"""Larger matrices are not looked at."""

Factors = tuple[Formula, ...]
Core = Formula | Size | None
"""P: a formula, or the size of the identity that it is (None: a scalar)."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of a place: a scalar times a product of matrices."""

    row: int
    col: int
    weight: Formula
    factors: Factors
    height: Size | None
    """Rows of the place."""


@dataclass(slots=True)
class _Family:
    """All rows that share a P, and the scalars W."""

    core: Core
    rows: list[tuple[int, Factors]] = field(default_factory=list[tuple[int, Factors]])
    weights: dict[tuple[int, int], list[Formula]] = field(default_factory=dict[tuple[int, int], list[Formula]])

    @property
    def W(self) -> list[list[Formula]]:
        """The weights, summed."""
        n = range(len(self.rows))
        return [[Add((Number(Fraction(0)), *self.weights.get((i, j), ())), SCALAR) for j in n] for i in n]


def gram_of_blocks(matrix: Matrix, declarations: Declarations) -> Shown | None:
    """Return that a block matrix is a sum of `L (W x P) L.T` with P and W positive semidefinite, None if not seen."""
    terms = [
        _Term(a, b, weight, factors, place.shape.rows)
        for a, row in enumerate(matrix)
        for b, place in enumerate(row)
        for weight, factors in _terms(plain(place, declarations))
    ]
    if len(terms) > MOST_TERMS:
        return None
    families = _families(terms, declarations)
    if sum(len(family.rows) for family in families) > MOST_ROWS:
        return None
    if not all(_is_placed(term, families, declarations) for term in terms):
        return None
    given = frozenset[str]()
    for family in families:
        reasons = _semidefinite(family, declarations)
        if reasons is None:
            return None
        given |= reasons
    return Shown("structure of D", given)


def _terms(formula: Formula) -> Iterator[tuple[Formula, Factors]]:
    """Yield the terms of a plain formula, each a scalar and what it multiplies; without identities and zeros."""
    if isinstance(formula, Add) and formula.shape.sizes:
        for term in formula.terms:
            yield from _terms(term)
        return
    scalars, factors = chain(formula)
    weight: Formula = Number(Fraction(1))
    for scalar in scalars:
        weight = Multiply(weight, scalar, SCALAR)
    if any(isinstance(part, Filled) and part.value == 0 for part in factors):
        return
    yield weight, tuple(part for part in factors if not isinstance(part, Identity))


def _families(terms: list[_Term], declarations: Declarations) -> list[_Family]:
    """Return the rows that the diagonal places show, put together by what stands in their middle."""
    found: dict[Core, _Family] = {}
    for term in terms:
        split = _split(term, declarations) if term.row == term.col else None
        if split is None:
            continue
        left, core = split
        family = found.setdefault(core, _Family(core))
        if (term.row, left) not in family.rows:
            family.rows.append((term.row, left))
    return list(found.values())


def _split(term: _Term, declarations: Declarations) -> tuple[Factors, Core] | None:
    """Return L and P of a product that reads `L P L.T`, None of any other."""
    found = mirrored(term.factors, declarations)
    if found is None:
        return None
    left, core = found
    if core is not None:
        return None if semidefinite(core, declarations) is None else (left, core)
    return left, (left[-1].shape.cols if left else term.height)


def _is_placed(term: _Term, families: list[_Family], declarations: Declarations) -> bool:
    """Note the weight of a term in the family that has its product; false if none has."""
    for family in families:
        middle = (family.core,) if isinstance(family.core, Formula) else ()
        for i, (a, left) in enumerate(family.rows):
            for j, (b, right) in enumerate(family.rows):
                whole = (*left, *middle, *reflected(right, declarations))
                if (a, b) == (term.row, term.col) and whole == term.factors:
                    family.weights.setdefault((i, j), []).append(term.weight)
                    return True
    return False


def _semidefinite(family: _Family, declarations: Declarations) -> frozenset[str] | None:
    """Return what it rests on that P and W are positive semidefinite, None if that is not shown."""
    given = frozenset[str]()
    if isinstance(family.core, Formula):
        core = semidefinite(family.core, declarations)
        if core is None:
            return None
        given |= core.given
    try:
        found = abstract(family.W, declarations).by_signs()
    except NoNormalFormError:
        return None
    return None if found is None else given | found.given

"""Block matrices as sums of `L (W x P) L.T`: every place written as `L_r P L_s.T` times a scalar, for every size.

Let the rows r belong to blocks a(r), each with a product of matrices L_r, and let all share one P. Then the matrix with
places D[a,b] = sum over r of a, s of b of W_rs L_r P L_s.T is L (W x P) L.T, with L the L_r put together: positive
semidefinite if P and the matrix of scalars W are. So is a sum of such matrices. `[[A A.T, A B.T], [B A.T, B B.T]]` has
P = I and W = [[1, 1], [1, 1]]; `[[C, -C], [-C, C]]` has P = C and W = [[1, -1], [-1, 1]].

The L_r are read off the diagonal places, where they stand as `L P L.T`; every other term must be one of their products.
W is decided by the proofs for matrices of scalars, at the document's sizes or for every size.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from recipe_compiler.algebra.dynamics.system import block_matrix
from recipe_compiler.algebra.positivity.premise import Abstraction
from recipe_compiler.algebra.positivity.prove import DiagonalBlock, Shown, deeper, parts
from recipe_compiler.algebra.positivity.region import Region, region_at
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import Rows, TooLargeError
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.scalars.transposes import chain, mirrored, plain, reflected
from recipe_compiler.algebra.structure.psd import semidefinite, sign_by_rules
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Add, Apply, Filled, Formula, Identity, Multiply, Number
from recipe_compiler.formula.shapes import SCALAR, Size
from recipe_compiler.verify.core.subject import Subject

LARGEST = 8
"""Rows of a matrix of scalars that are looked at."""

MOST_TERMS = 64
MOST_ROWS = 8
"""Larger matrices are not looked at."""

Factors = tuple[Formula, ...]
Core = Formula | Size | None
"""P: a formula, or the size of the identity that it is (None: a scalar)."""


class ScalarBlock:
    """A group of blocks as a matrix of scalars on a region, with its connected parts."""

    def __init__(self, a: Rows, region: Region) -> None:
        self.a = a
        self.region = region
        found = parts(a, region)
        self.symmetric = found is not None
        self.parts: tuple[DiagonalBlock, ...] = found or ()

    def by_signs(self) -> Shown | None:
        """Return a proof by the signs of the characteristic coefficients e_k alone; None if they do not give one."""
        found = [part.by_signs for part in self.parts]
        return _joined([x for x in found if x is not None]) if self.symmetric and all(found) else None

    def deeper(self) -> Shown | list[str]:
        """Return a proof by sums of squares, Z3 or boxes, or what was tried on the first part without a proof."""
        if not self.symmetric:
            return ["not shown to be symmetric"]
        found: list[Shown] = []
        for part in self.parts:
            answer = part.by_signs or deeper(part, self.a, self.region)
            if not isinstance(answer, Shown):
                return answer
            found.append(answer)
        return _joined(found)


def scalar_block(matrix: Matrix, subject: Subject, group: tuple[int, ...]) -> ScalarBlock | str:
    """Return a group of blocks as a matrix of scalars that decides it, or why there is none.

    Where the document fixes all sizes every entry is written out, up to `LARGEST` rows. Otherwise every place must be a
    scalar, a multiple `c I` of one identity, or a diagonal `diag(v)` of one size: coordinates of one position then
    couple only among themselves, and the matrix of the c and of one entry of each v decides for every size. [[a I, b
    I], [b I, a I]] is decided by [[a, b], [b, a]]. Other names in it stand for any value, so that the answer holds at
    every position.
    """
    declarations = subject.dynamics.declarations
    try:
        if not declarations.sizes:
            a = block_matrix(matrix, subject.setting({}))
            return ScalarBlock(a, region_at(declarations, {})) if len(a) <= LARGEST else f"{len(a)} rows are too many"
        multiples = [[_multiple(place) for place in row] for row in matrix]
        same = len({declarations.blocks[k].shape for k in group}) == 1
        scalars = [[c for c in row if c is not None] for row in multiples]
        if not same or any(len(row) < len(matrix) for row in scalars) or len(matrix) > LARGEST:
            return "its entries are neither scalars nor diagonals of one size"
        return abstract(scalars, declarations)
    except (NotScalarisableError, TooLargeError, NoNormalFormError) as reason:
        return str(reason)


def abstract(scalars: list[list[Formula]], declarations: Declarations) -> ScalarBlock:
    """Return a matrix of scalar formulas as polynomials in what occurs in them, valid for every size.

    What is known of the signs of these is the region on which the matrix is decided.

    Raises:
        NoNormalFormError: an entry that cannot be read.
    """
    abstraction = Abstraction(declarations, sign_by_rules)
    a = tuple(tuple(abstraction.scalar(c) for c in row) for row in scalars)
    return ScalarBlock(a, abstraction.region())


def _multiple(place: Formula) -> Formula | None:
    """Return c of a place `c I`, v of `diag(v)`, a scalar place itself; None of any other."""
    match place:
        case _ if not place.shape.sizes:
            return place
        case Identity():
            return Number(Fraction(1))
        case Filled(0, _):
            return Number(Fraction(0))
        case Apply("diag", (entries,), _):
            return entries
        case Multiply(left, right) if not left.shape.sizes and isinstance(right, (Identity, Apply)):
            return _scaled(left, right)
        case Multiply(left, right) if not right.shape.sizes and isinstance(left, (Identity, Apply)):
            return _scaled(right, left)
        case _:
            return None


def _scaled(factor: Formula, place: Formula) -> Formula | None:
    inner = _multiple(place)
    return None if inner is None else Multiply(factor, inner, inner.shape)


def _joined(found: list[Shown]) -> Shown:
    """Return the proofs of all parts as one."""
    by = dict.fromkeys(shown.by for shown in found)
    given = frozenset[str]().union(*(shown.given for shown in found))
    if len(found) == 1:
        return found[0]
    data = tuple((f"block {k}: {name}", value) for k, shown in enumerate(found, 1) for name, value in shown.data)
    return Shown(", ".join(by), given, data)


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
    """Return a proof that a block matrix is a sum of L (W x P) L.T with P, W positive semidefinite; else None.

    The place (a, b) is sum_rs W_rs L_r P L_s.T over the rows r of a and s of b. `[[A A.T, A B.T], [B A.T, B B.T]]` has
    L = diag(A, B), P = I and W = [[1, 1], [1, 1]]; `[[C, -C], [-C, C]]` has L = diag(I, I), P = C and W = [[1, -1],
    [-1, 1]], and needs C to be positive semidefinite.
    """
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

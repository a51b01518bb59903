"""Blocks of D as matrices of scalars, and what the proofs for these say: at the document's sizes, or for every size."""

from fractions import Fraction

from recipe_compiler.algebra.dynamics.system import block_matrix
from recipe_compiler.algebra.positivity.abstract import Abstraction
from recipe_compiler.algebra.positivity.prove import Part, Shown, deeper, parts
from recipe_compiler.algebra.positivity.region import Region, region_at
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import Rows, TooLargeError
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.structure.psd import sign_by_rules
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Apply, Filled, Formula, Identity, Multiply, Number
from recipe_compiler.verify.core.subject import Subject

LARGEST = 8
"""Rows of a matrix of scalars that are looked at."""


class ScalarBlock:
    """A group of blocks as a matrix of scalars on a region, with its connected parts."""

    def __init__(self, a: Rows, region: Region) -> None:
        self.a = a
        self.region = region
        found = parts(a, region)
        self.symmetric = found is not None
        self.parts: tuple[Part, ...] = found or ()

    def by_signs(self) -> Shown | None:
        """Return a proof by the signs of characteristic coefficients alone."""
        found = [part.by_signs for part in self.parts]
        return _joined([x for x in found if x is not None]) if self.symmetric and all(found) else None

    def deeper(self) -> Shown | list[str]:
        """Return a proof by all that there is, or what was tried on the first part that has none."""
        if not self.symmetric:
            return ["not seen to be symmetric"]
        found: list[Shown] = []
        for part in self.parts:
            answer = part.by_signs or deeper(part, self.a, self.region)
            if not isinstance(answer, Shown):
                return answer
            found.append(answer)
        return _joined(found)


def scalar_block(matrix: Matrix, subject: Subject, group: tuple[int, ...]) -> ScalarBlock | str:
    """Return a group of blocks as a matrix of scalars, or why it is none.

    Where the document fixes all sizes every place is written out. Else all places must be scalars, multiples `c I` of
    one identity, or diagonals `diag(v)` of one size: then the coordinates of one position couple among themselves only,
    and the matrix of the c and of one entry of each v decides. What these are made of is opaque, so that the answer
    holds for every size and position.
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
            return "its places are not scalars, nor diagonals of one size"
        return abstract(scalars, declarations)
    except (NotScalarisableError, TooLargeError, NoNormalFormError) as reason:
        return str(reason)


def abstract(scalars: list[list[Formula]], declarations: Declarations) -> ScalarBlock:
    """Return a matrix of scalar formulas, for every size.

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

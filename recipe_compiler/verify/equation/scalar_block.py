"""Groups of blocks that D couples, as matrices of scalars: decided by signs of coefficients and sums of squares."""

from fractions import Fraction

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics.system import block_matrix
from recipe_compiler.algebra.positivity.prove import Shown, semidefinite
from recipe_compiler.algebra.positivity.region import region_at
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.facts.multiplied_out import Abstraction
from recipe_compiler.facts.semidefinite import sign_by_rules
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.expression import Apply, Filled, Formula, Identity, Multiply, Number
from recipe_compiler.verify.core.subject import Subject


def prove_by_scalars(matrix: Matrix, subject: Subject, group: tuple[int, ...]) -> Shown | str:
    """Return a proof that a group of blocks is positive semidefinite by a matrix of scalars, or what was tried.

    Where the document fixes all sizes every entry is written out, up to 8 rows. Otherwise every place must be a
    scalar, a multiple `c I` of one identity, or a diagonal `diag(v)` of one size: coordinates of one position then
    couple only among themselves, and the matrix of the c and of one entry of each v decides for every size. [[a I, b
    I], [b I, a I]] is decided by [[a, b], [b, a]]. Other names in it stand for any value, so that the answer holds at
    every position.
    """
    declarations = subject.declarations
    try:
        if not declarations.sizes:
            a = block_matrix(matrix, subject.setting({}))
            if len(a) > limits.COORDINATES:
                return f"{len(a)} rows are too many"
            return semidefinite(a, region_at(declarations, {}))
        multiples = [[_scalar_of_entry(place) for place in row] for row in matrix]
        same = len({declarations.blocks[k].shape for k in group}) == 1
        scalars = [[c for c in row if c is not None] for row in multiples]
        if not same or any(len(row) < len(matrix) for row in scalars) or len(matrix) > limits.COORDINATES:
            return "its entries are neither scalars nor diagonals of one size"
        abstraction = Abstraction(declarations, sign_by_rules)
        a = tuple(tuple(abstraction.scalar(c) for c in row) for row in scalars)
        return semidefinite(a, abstraction.region())
    except (NotScalarisableError, TooLargeError, NoNormalFormError) as reason:
        return str(reason)


def _scalar_of_entry(place: Formula) -> Formula | None:
    """Return c of an entry `c I`, v of `diag(v)`, or a scalar entry itself; None of any other."""
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
            return _multiply_scalar(left, right)
        case Multiply(left, right) if not right.shape.sizes and isinstance(left, (Identity, Apply)):
            return _multiply_scalar(right, left)
        case _:
            return None


def _multiply_scalar(factor: Formula, place: Formula) -> Formula | None:
    """Return the scalar of an entry times a factor; None if it has none."""
    inner = _scalar_of_entry(place)
    return None if inner is None else Multiply(factor, inner, inner.shape)

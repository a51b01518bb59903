"""Does what moves a piece without noise keep volume? An exact flow does where div f_k = 0; a numerical one need not.

* The generalised leapfrog is symplectic where f_k = -Q grad h with a constant Q that couples its two blocks alone
  (Hairer, Lubich, Wanner 2006, Thm. VI.3.3): J Q J.T = Q. For an invertible Q this gives |det J| = 1.
* The implicit midpoint has J = (1 - t A/2)^-1 (1 + t A/2), A = df_k/dz half way. In one and two dimensions det J = 1
  where tr A = 0, in more it need not be: in three det(1 + t A/2) - det(1 - t A/2) = t tr A + t**3 det(A)/4. Where
  A Q + Q A.T = 0 with a constant, invertible Q, A is similar to -A.T, and it is (Thm. VI.4.2).
"""

from recipe_compiler import limits
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.evaluate import rational_rows
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.rational_matrices import determinant
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.splitting.implicit import GENERALISED
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.reflection import REFLECTED
from recipe_compiler.tensor.definite import is_invertible, never_zero
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.core.conjunction import conjoin, is_proved, list_open_reasons
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.steps.kept import is_constant, keeps_form, keeps_volume, symplectic_form
from recipe_compiler.verify.steps.quantity import Quantity, matrix_of
from recipe_compiler.verify.steps.split import Split

PLANE = 2
"""Dimensions up to which the midpoint keeps the volume that its field keeps."""


def decide_volume(split: Split, piece: Piece) -> Answer:
    """Decide that the flow of a piece, exact or numerical, has |det d phi| = 1.

    div f_k = 0 decides for an exact flow, and for the implicit midpoint in one and two dimensions; otherwise the
    numerical flow has to keep a constant invertible Q (Hairer, Lubich, Wanner 2006, Thms. VI.3.3, VI.4.2). In three
    dimensions tr A = 0 is not enough for the midpoint: det(1 + t A/2) - det(1 - t A/2) = t**3 det(A)/4.
    """
    flow = split.numerical.get(piece.name)
    if flow in (None, REFLECTED) or (flow != GENERALISED and _is_at_most_planar(split, piece)):
        return keeps_volume(split, piece)
    Q, moved = symplectic_form(split), [n for n, name in enumerate(split.subject.names) if name in piece.moved]
    why = f"{flow} preserves volume if it preserves a constant, invertible Q"
    pairs = {(a, b) for a in moved for b in moved if (a != b) is (flow == GENERALISED)}
    held = {(a, b) for a, row in enumerate(Q) for b, entry in enumerate(row) if not entry.is_zero}
    if held != pairs or not held:
        return undecided(f"{why}, and Q does not couple {', '.join(piece.moved)} alone")
    if not all(is_regular(matrix_of(split, Q, split.form)[pair]) for pair in pairs):
        return undecided(f"{why}, and it is not shown that Q is invertible")
    kept = [("Q is constant", is_constant(split, Q)), (f"{piece.name} keeps Q", keeps_form(split, piece, Q))]
    found = conjoin(f"{flow}, symplectic", kept)
    return found if is_proved(found) else undecided(why, *list_open_reasons(kept))


def _is_at_most_planar(split: Split, piece: Piece) -> bool:
    """Return whether a piece moves only one or two coordinates at every size."""
    moved = [block for block in split.blocks if block.name in piece.moved]
    sizes = [size for block in moved for size in block.shape.sizes]
    return len(moved) == 1 and all(isinstance(size, int) and size <= PLANE for size in sizes)


def is_regular(matrix: Quantity) -> bool:
    """Return whether a matrix over two blocks is invertible: by structure at every size, and at all sampled points.

    The points are exact, by the second engine. False decides nothing.
    """
    split, (one, other) = matrix.split, matrix.over
    c, declarations = split.derivation.calculus, split.subject.declarations
    nonzero = frozenset(p.name for p in declarations.parameters if {Kind.POSITIVE, Kind.NONZERO} & set(p.kinds))
    if len(one.shape.sizes) != len(other.shape.sizes):
        return False
    A, rows, cols = matrix.tensor, matrix.slots(0), matrix.slots(1)
    by_form = is_invertible(c, A, rows[0], cols[0], nonzero) if rows else never_zero(c, A, nonzero)

    def is_singular(sizes: Sizes) -> bool:
        try:
            entries = matrix.rows(sizes)
            found = (rational_rows(entries, at.leaf) for at in points(declarations, sizes, limits.TRIALS))
            return any(numbers is not None and determinant(numbers) == 0 for numbers in found)
        except (NotScalarisableError, TooLargeError, NoInstanceError):
            return False

    return by_form and not any(map(is_singular, split.subject.sizes))

"""Patterns of matrices that hold for every size, entry by entry, and the kinds that they show."""

from recipe_compiler.algebra.scalars.transposes import kinds_of, plain
from recipe_compiler.facts.ranges import NOTHING, Given, known
from recipe_compiler.facts.semidefinite import semidefinite, sign
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.formula.triangular import diagonal, sides
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index

Formula = ex.Formula

MIXING = frozenset(
    ["sum", "dot", "norm2", "det", "logdet", "trace", "inv", "cholesky", "outer", "kron", "grad", "div", "hessian"]
)


def is_diagonal(formula: Formula, declarations: Declarations) -> bool:
    """Whether a square formula is diagonal, or a scalar: sums, multiples, products and inverses of such matrices."""
    match formula:
        case ex.Identity() | ex.Filled(0, _) | ex.Apply("diag", _):
            return True
        case ex.Symbol() | ex.FunctionAt() if formula.shape.sizes:
            return Kind.DIAGONAL in kinds_of(formula, declarations)
        case ex.Transpose(arg) | ex.Apply("inv" | "cholesky", (arg,)):
            return is_diagonal(arg, declarations)
        case ex.Add(terms):
            return all(is_diagonal(term, declarations) for term in terms)
        case ex.Multiply(left, right) if formula.shape.sizes:
            return any(part.shape.sizes and is_diagonal(part, declarations) for part in (left, right))
        case ex.MatMul(left, right) if left.shape == right.shape:
            return is_diagonal(left, declarations) and is_diagonal(right, declarations)
        case _:
            return not formula.shape.sizes


def nonsingular(formula: Formula, declarations: Declarations, *, assumed: bool = False) -> Given | None:
    """Return the declarations by which a square formula is nonsingular everywhere, d x d for any d; None if unknown.

    A scalar is nonsingular if it is not zero. Positive definite matrices are, products, transposes, inverses and
    Kronecker products of nonsingular ones, diagonals without zeros, and triangles that have no zero on theirs. Where
    `assumed`, so are abstract functions, and the assumption is listed.
    """
    found = semidefinite(formula, declarations) if formula.shape.sizes else None
    if found is not None and found.strict:
        return found.given
    shown = None if formula.shape.sizes else sign(formula, declarations).shows("!=")
    if shown is not None:
        return shown
    match formula:
        case ex.Transpose(arg) | ex.Apply("inv", (arg,)):
            factors: tuple[Formula, ...] = (arg,)
        case ex.Apply("diag", (arg,)):
            return sign(arg, declarations).shows("!=")
        case ex.Apply("kron", factors):
            pass
        case ex.MatMul(left, right) if left.shape == right.shape:
            factors = (left, right)
        case ex.Multiply(left, right) if not left.shape.sizes or not right.shape.sizes:
            factors = (left, right)
        case ex.Symbol() | ex.FunctionAt() if {Kind.DIAGONAL, Kind.NONZERO} <= set(kinds_of(formula, declarations)):
            return known(formula.name, "is diagonal and nonzero")
        case ex.FunctionAt(name) if assumed and not _is_odd_and_skew(formula, declarations):
            return frozenset({f"{name} {'is nonsingular' if formula.shape.sizes else 'does not vanish'}"})
        case _ if sides(formula, declarations):
            found = [sign(entry, declarations).shows("!=") for entry in diagonal(formula, declarations)]
            shown = [given for given in found if given is not None]
            return NOTHING.union(*shown) if len(shown) == len(found) else None
        case _:
            return None
    parts = [given for f in factors if (given := nonsingular(f, declarations, assumed=assumed)) is not None]
    return NOTHING.union(*parts) if len(parts) == len(factors) else None


def _is_odd_and_skew(formula: Formula, declarations: Declarations) -> bool:
    """Whether a name is skew and may have an odd number of rows: det(A) = det(A.T) = (-1)**d det(A) is 0 then."""
    even = isinstance(formula.shape.rows, int) and formula.shape.rows % 2 == 0
    return not even and is_skew(formula, declarations)


def is_skew(formula: Formula, declarations: Declarations) -> bool:
    """Whether a plain formula is zero, a skew name, or a multiple of one."""
    match formula:
        case ex.Filled(0, _):
            return True
        case ex.Symbol() | ex.FunctionAt():
            return Kind.SKEW in kinds_of(formula, declarations)
        case ex.Multiply(left, right) if not (left.shape.sizes and right.shape.sizes):
            return is_skew(right if right.shape.sizes else left, declarations)
        case _:
            return False


def is_entrywise(formula: Formula) -> bool:
    """Whether every entry of a formula is the same function of the entries at its own position: one stands for all.

    A size in it (`x**2 + 2 - d`) makes that function another one at every size, an entry (`a[0] * a`) at one position.
    """
    for node in nodes(formula):
        match node:
            case ex.FunctionAt() | ex.MatMul() | ex.Symbol(role=ex.Role.SIZE):
                return False
            case ex.Apply(fn, _) if fn in MIXING:
                return False
            case ex.Entry() if formula.shape.sizes:
                return False
            case _:
                continue
    vectors = any(isinstance(n, ex.Symbol) and n.role is ex.Role.BLOCK and n.shape.sizes for n in nodes(formula))
    entries = any(isinstance(n, ex.Entry) for n in nodes(formula))
    return not (vectors and not formula.shape.sizes and not entries)


def is_symmetric(matrix: Formula, declarations: Declarations) -> bool:
    """Whether a square matrix is shown to be symmetric, for every size.

    For inv(A) that is decided by A; a scalar is symmetric.
    """
    if matrix.shape == SCALAR:
        return True
    if isinstance(matrix, ex.Apply) and matrix.fn == "inv":
        return is_symmetric(matrix.args[0], declarations)
    rows, cols = matrix.shape.sizes
    c, i, j = calculus(declarations), Index(rows, "i"), Index(cols, "j")
    entry = convert(matrix, declarations, i, j)
    return c.is_zero(c.subtract(entry, c.rename(entry, {i: j, j: i})))


def is_of_kind(formula: Formula, kind: Kind, declarations: Declarations) -> bool:
    """Return whether structural rules show that a formula is of a kind, for all values of the names in it.

    A scalar for signs, an n x n matrix for `pd`, `psd`, `symmetric`, `skew` and `diagonal`. `A @ A.T` is shown to be
    psd for every A; `A @ A.T + I` is pd. False means "not shown", not "is not".
    """
    match kind:
        case Kind.REAL:
            return True
        case Kind.POSITIVE:
            return sign(formula, declarations).positive
        case Kind.NONNEGATIVE:
            return sign(formula, declarations).nonnegative
        case Kind.NONZERO:
            return sign(formula, declarations).nonzero
        case Kind.PD | Kind.PSD:
            found = semidefinite(formula, declarations)
            return found is not None and (found.strict or kind is Kind.PSD)
        case Kind.SYMMETRIC:
            return is_symmetric(formula, declarations)
        case Kind.SKEW:
            return is_skew(plain(formula, declarations), declarations)
        case Kind.DIAGONAL:
            return is_diagonal(plain(formula, declarations), declarations)
        case Kind.INTEGER | Kind.INCREASING:  # of data alone, whose numbers are looked at
            return False

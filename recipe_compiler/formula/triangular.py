"""Normal laws of which the Cholesky factor depends on the state, solved row by row in the formula itself.

    log N(x | mu, L L^T) = sum_i -z_i**2/2 - log L_ii - log(2 pi)/2,   z_i = (x_i - mu_i - sum_(j < i) L_ij z_j)/L_ii

Nothing is inverted then that a step could not compute. Which entries are zero is seen by what L is written as: a block
whose constraint makes it a factor, times numbers and diagonal matrices.
"""

from fractions import Fraction

from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import SCALAR

MOST_ROWS = 3
"""Rows of a factor that is solved with: z_i stands in every later one, so formulas double from row to row; of 4 they
take minutes to compile."""
FACTORS = frozenset({Constraint.CHOLESKY_CORR, Constraint.CHOLESKY_COV})
_ZERO = ex.Number(Fraction(0))


def log_normal(x: Formula, mu: Formula, L: Formula, declarations: Declarations) -> Formula | None:
    """Return log N(x | mu, L L^T) without an inverse; None where L is free of the state, or not seen to be a triangle.

    Args:
        x: a column of a number of entries.
        mu: another.
        L: its diagonal has to be positive.
        declarations: of the blocks in it.
    """
    size = L.shape.rows
    if not isinstance(size, int) or size > MOST_ROWS or not _moves(L):
        return None
    found = [[_place(L, i, j, declarations) for j in range(size)] for i in range(size)]
    entries = [[entry for entry in row if entry is not None] for row in found]
    if any(len(row) < size for row in entries) or any(
        entries[i][j] != _ZERO for i in range(size) for j in range(i + 1, size)
    ):
        return None
    z: list[Formula] = []
    terms: list[Formula] = []
    for i, row in enumerate(entries):
        known = [build.negate(_times(row[j], z[j])) for j in range(i) if row[j] != _ZERO]
        left = build.add([entry_at(x, i), build.negate(entry_at(mu, i)), *known], SCALAR)
        z.append(left if row[i] == build.ONE else _times(left, build.power(row[i], build.MINUS_ONE, SCALAR)))
        terms.append(_times(ex.Number(Fraction(-1, 2)), build.power(z[i], ex.Number(Fraction(2)), SCALAR)))
        terms += [] if row[i] == build.ONE else [build.negate(ex.Apply("log", (row[i],), SCALAR))]
    of_2_pi = ex.Apply("log", (_times(ex.Number(Fraction(2)), ex.Pi()),), SCALAR)
    return build.add([*terms, _times(ex.Number(Fraction(-size, 2)), of_2_pi)], SCALAR)


def _moves(formula: Formula) -> bool:
    """Whether a formula depends on the state."""
    return any(isinstance(node, ex.Symbol) and node.role is Role.BLOCK for node in build.nodes(formula))


def _place(formula: Formula, i: int, j: int, declarations: Declarations) -> Formula | None:
    """Return an entry of a matrix, 0 where it is none; None of what is not seen through."""
    match formula:
        case ex.Symbol(name, _, Role.BLOCK):
            block = declarations.find(name)
            if not isinstance(block, Block) or block.constraint not in FACTORS:
                return None
            if i == j == 0 and block.constraint is Constraint.CHOLESKY_CORR:
                return build.ONE
            return _ZERO if j > i else ex.Entry(formula, (i, j))
        case ex.Identity():
            return build.ONE if i == j else _ZERO
        case ex.Apply("diag", (v,)):
            return entry_at(v, i) if i == j else _ZERO
        case ex.Explicit(rows):
            return rows[i][j]
        case ex.Multiply(left, right) if SCALAR in (left.shape, right.shape):
            number, matrix = (left, right) if left.shape == SCALAR else (right, left)
            entry = _place(matrix, i, j, declarations)
            return None if entry is None else _times(number, entry)
        case ex.MatMul(ex.Apply("diag", (v,)), matrix):
            entry = _place(matrix, i, j, declarations)
            return None if entry is None else _times(entry_at(v, i), entry)
        case ex.MatMul(matrix, ex.Apply("diag", (v,))):
            entry = _place(matrix, i, j, declarations)
            return None if entry is None else _times(entry, entry_at(v, j))
        case _:
            return None


def entry_at(vector: Formula, i: int) -> Formula:
    """Return an entry of a column."""
    match vector:
        case ex.Filled(value):
            return ex.Number(Fraction(value))
        case ex.Explicit(rows):
            return build.entry_of(rows, (i,))
        case ex.Transpose(arg):
            return entry_at(arg, i)
        case ex.Multiply(left, right) if SCALAR in (left.shape, right.shape):
            number, column = (left, right) if left.shape == SCALAR else (right, left)
            return _times(number, entry_at(column, i))
        case ex.Multiply(left, right):
            return _times(entry_at(left, i), entry_at(right, i))
        case ex.Add(terms):
            return build.add([entry_at(term, i) for term in terms], SCALAR)
        case ex.Apply(fn, (arg,)) if fn in ex.ELEMENTWISE and arg.shape != SCALAR:
            return build.apply(fn, (entry_at(arg, i),), SCALAR)
        case ex.Power(base, exponent) if exponent.shape == SCALAR:
            return build.power(entry_at(base, i), exponent, SCALAR)
        case _:
            return ex.Entry(vector, (i,))


def _times(left: Formula, right: Formula) -> Formula:
    for one, other in ((left, right), (right, left)):
        if one in (build.ONE, _ZERO):
            return other if one == build.ONE else _ZERO
    return build.multiply(left, right, SCALAR)

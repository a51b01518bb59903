"""Is the law of a block given all others as claimed? d(U - E)/db, with E the energy of the law, data included.

A block b has the law exp(-E) given all others if and only if this is zero: U - E is then free of b, on a domain that is
connected. Of shares that add up to 1 it has to be zero along the simplex only: d(U - E)/db_i - d(U - E)/db_j = 0 for
all i and j. For a discrete block, differences of U - E between its values replace the derivative.
"""

from recipe_compiler.derive.discrete import increment_count, reduce_one_hot, substitute_category, unify_logarithms
from recipe_compiler.derive.law_energies import counted, energy, precision
from recipe_compiler.derive.recipe import row_slots, slots
from recipe_compiler.formula import build
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Add, Apply, Formula, Identity, MatMul, Multiply
from recipe_compiler.formula.shapes import SCALAR, Shape, Size
from recipe_compiler.spec.discrete import of_data, one_hot_blocks
from recipe_compiler.spec.laws import is_on_simplex, of_all_data
from recipe_compiler.spec.model import Law, Target
from recipe_compiler.spec.recursion import demand_apart
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor

OTHER = "j"
"""The index of the other share of a pair."""


def potential_of(target: Target, *, stated: bool = False) -> Tensor:
    """Return U = -log_prior - sum_n log_likelihood_n in index notation, a scalar; data are components like parameters.

    Args:
        target: whose formulas are converted.
        stated: whether factors stay as they are (`tensor.convert`).

    Raises:
        ModelError: a formula that has no entrywise meaning; a recursion.
    """
    demand_apart(target)
    c = calculus(of_all_data(target.declarations), stated=stated)
    parts = [c.zero()]
    for entry, formula, way in (
        ("potential", target.potential, 1),
        ("log_prior", target.log_prior, -1),
        ("log_likelihood", target.log_likelihood, -1),
    ):
        one = _potential_term(target, entry, formula, way, stated=stated)
        parts.append(c.total(one, *one.free))
    return c.add(*parts)


def _potential_term(target: Target, entry: str, formula: Formula | None, way: int, *, stated: bool = False) -> Tensor:
    """Return one formula of U with its sign, in index notation; that of a single datum has the free index n."""
    declared = target.declarations
    c = calculus(of_all_data(declared), stated=stated)
    if formula is None:
        return c.zero()
    datum = Index(declared.data[0].size, "n") if entry == "log_likelihood" and declared.data else None
    where = target.source.place(entry)
    return c.scale(convert(formula, declared, datum=datum, entry=entry, where=where, stated=stated), way)


def residual(U: Tensor, law: Law, block: Block, declarations: Declarations) -> Tensor:
    """Return d(U - E)/db: [n], with the free index i of the block: zero iff the law is that of b given all others.

    For N(m, cov) the gradient of E is P b - P m with P = inv(cov), and P m is u where m is written `cov @ u`. Of all
    shares of a simplex it is that entry less the entry with another index. Worked: with U = tau (y - mu)**2/2 + mu**2/2
    in mu, and the claim mu ~ N(tau y/(1 + tau), 1/(1 + tau)), dU/dmu = (1 + tau) mu - tau y = dE/dmu, so 0 is left.

    Args:
        U: the energy, a scalar.
        law: what is claimed.
        block: b.
        declarations: the names in both, data among the parameters.

    Raises:
        ModelError: the derivative of something that jumps would be needed.
    """
    c = calculus(declarations)
    slots = row_slots(block)
    slope = c.diff(U, Coordinate(block.name, slots))
    if law.name == "N" and block.shape != SCALAR:
        m, cov = law.arguments
        P = precision(cov)
        linear = convert(build.matmul(P, block.symbol, block.shape), declarations, *slots)
        own = c.subtract(linear, convert(apply_precision(m, cov, P, declarations), declarations, *slots))
    else:
        own = c.diff(convert(energy(law, block), declarations), Coordinate(block.name, slots))
    left = c.subtract(slope, own)
    if is_on_simplex(block):
        left = c.subtract(left, c.rename(left, {slots[0]: Index(slots[0].size, OTHER)}))
    return c.settled(_reduce_rows(c, left, declarations))


def discrete_residual(target: Target, law: Law, block: Block) -> Tensor:
    """Return U - E with a row z_n = e_j less the same with z_n = e_l: zero iff the law is that of z given all others.

    E = -sum_n logits_n . z_n of `Categorical(logits)`. The free indices of the result are the positions j and l, and n
    of a matrix.

    Args:
        target: with the block; in its log likelihood a matrix with a row for each datum stands for the datum's row.
        law: what is claimed.
        block: discrete.

    Raises:
        ModelError: the row occurs in an inverse, a determinant or a denominator.
    """
    declarations = of_all_data(target.declarations)
    c = calculus(declarations)
    *rows, size = block.shape.sizes
    row = tuple(Index(size, "n") for size in rows)
    place, other = Index(size, "j"), Index(size, "l")
    if block in of_data(target.declarations):
        likelihood = _potential_term(target, "log_likelihood", target.log_likelihood, -1)
        energy = substitute_category(c, likelihood, block, place)
    else:
        energy = substitute_category(c, potential_of(target), block, place, row[0] if row else None)
    logits = convert(law.arguments[0], declarations, *row, place)
    left = c.add(energy, logits)
    difference = c.subtract(left, c.rename(left, {place: other}))
    return c.settled(_reduce_rows(c, difference, declarations))


def counts_residual(target: Target, law: Law, block: Block) -> Tensor:
    """Return b exp(-V(z_n + 1) + V(z_n)) - a of a law of counts, p(z) ~ exp(-base(z)) (a/b)**z and V = U - base.

    Zero iff the law is that of z given all others: the ratio of the probabilities of z_n + 1 and z_n is then that of
    the law, for every z and n, and counts are independent of each other, as a and b are free of them. Of `Poisson(m)`
    base is sum_n log z_n!, a = m and b = 1; of `Binomial(n, p)` it is that and sum log (n - z)!, a = p, b = 1 - p.
    Worked: U = c - z log c + log z! has V(z + 1) - V(z) = -log c, so that the law is Poisson(c).

    The free index of the result is n of a column.

    Args:
        target: with the block.
        law: what is claimed.
        block: of counts.

    Raises:
        ModelError: a count occurs in an inverse, a determinant or a denominator.
    """
    declarations = of_all_data(target.declarations)
    c, own = calculus(declarations), counted(law, block)
    row = slots(block, "n")
    V = c.settled(_reduce_rows(c, c.subtract(potential_of(target), convert(own.base, declarations)), declarations))
    by_one = _reduce_rows(c, c.subtract(increment_count(c, V, block, *row), V), declarations)
    ratio = c.applied("exp", c.scale(unify_logarithms(c, by_one), -1))
    above, below = (convert(formula, declarations, *row) for formula in (own.above, own.below))
    return c.settled(_reduce_rows(c, c.subtract(c.multiply(below, ratio), above), declarations))


def _reduce_rows(c: Calculus, tensor: Tensor, declarations: Declarations) -> Tensor:
    """Return a tensor simplified by the relations of one-hot rows and of simplex components."""
    return reduce_one_hot(c, tensor, one_hot_blocks(declarations), filter(is_on_simplex, declarations.blocks))


def apply_precision(m: Formula, cov: Formula, P: Formula, declarations: Declarations) -> Formula:
    """Return P m with P = inv(cov): u where m is `cov @ u`, term by term in sums and multiples, else `P @ m`."""
    match m:
        case Add(terms, shape):
            return build.add([apply_precision(term, cov, P, declarations) for term in terms], shape)
        case Multiply(left, right, shape) if left.shape == SCALAR:
            return build.multiply(left, apply_precision(right, cov, P, declarations), shape)
        case Multiply(left, right, shape) if right.shape == SCALAR:
            return build.multiply(apply_precision(left, cov, P, declarations), right, shape)
        case MatMul(left, right, shape):
            return build.matmul(apply_precision(left, cov, P, declarations), right, shape)
        case _ if m.shape == cov.shape and _is_same(m, cov, declarations):
            return Identity(_row_count(cov))
        case _:
            return build.matmul(P, m, Shape(P.shape.rows, m.shape.cols))


def _is_same(left: Formula, right: Formula, declarations: Declarations) -> bool:
    """Whether two square matrices are the same, inv(A) and inv(B) where A and B are."""
    match left, right:
        case Apply("inv", (a,)), Apply("inv", (b,)):
            return _is_same(a, b, declarations)
        case _:
            c, i, j = calculus(declarations), *_matrix_indices(right.shape)
            return left.shape == right.shape and c.is_zero(
                c.subtract(convert(left, declarations, i, j), convert(right, declarations, i, j))
            )


def _matrix_indices(shape: Shape) -> tuple[Index, Index]:
    """Return the row index i and the column index j of a matrix."""
    rows, cols = shape.sizes
    return Index(rows, "i"), Index(cols, "j")


def _row_count(matrix: Formula) -> Size:
    """Return the number of rows of a matrix."""
    return matrix.shape.sizes[0]

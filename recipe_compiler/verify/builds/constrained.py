"""Is what is sampled of blocks that lie in sets the law of the blocks as they are declared? For all data.

With b = g(u), exp(-V(b)) db = exp(-U(u)) du iff J = V(g(u)) - U(u) is the logarithm of what volume g makes of du, up to
a constant. V occurs on both sides, so g and J alone decide it, block by block:

- an increasing column is the running sum, of determinant 1, of what is moved entry by entry: g_k' dJ/du_k = g_k'';
- shares are y/sum(y) with y = exp(u), and dy = s**(K - 1) ds db with s = sum(y): J is sum log b but for a function of
  t = sum(u)/sqrt(K), which is N(0, 1) and independent of b;
- directions are u/|u|, and du = r**(K - 1) dr dsigma(b): J is a function of r = |u|;
- matrices have triangular Jacobians, row by row: what their diagonal is multiplied to is exp(J), at the size declared.

The second engine has the whole Jacobian at fixed sizes. Matrices have no form in index notation: no word is said of
other sizes than the declared one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import cast

import sympy
from sympy import Add, Expr, Matrix, Symbol

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.constraints import log_jacobian, value
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.symbols import coordinates, length
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.formula.constraints import OF_MATRICES_IN_CONES, VECTORS, Constraint
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.spec.constraint import constrained
from recipe_compiler.spec.model import Target
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor
from recipe_compiler.verdict import Answer, Refuted
from recipe_compiler.verify.builds.transformed import decide_transformed_law
from recipe_compiler.verify.core.conjunction import conjoin_each
from recipe_compiler.verify.core.identities import Identity, Question, decide
from recipe_compiler.verify.core.sizes import Sizes


def has_constraints(target: Target) -> bool:
    """Whether a block has a constraint that no domain is."""
    return bool(constrained(target)) or any(one.bound is not None for one in target.transforms)


def keeps_law(target: Target) -> Answer:
    """Decide that exp(-U(u)) du of the sampled variables u is the law exp(-V(b)) db of the blocks b = g(u) as declared.

    J = V(g(u)) - U(u) has to be log |det dg/du| up to a constant, block by block: by the index calculus for columns,
    [n], of every size, by the second engine from the whole Jacobian at fixed sizes; of matrices, [n, n], at their own
    size alone. Refuted by an exact point; undecided where the determinant is too large to write out.

    Worked, an ordered column of 2: b = (u_0, u_0 + exp(u_1)), dg/du = [[1, 0], [1, exp(u_1)]], J = u_1. Of n entries J
    = sum_(k>=1) u_k.
    """
    where = target.source.place("state")
    found = [(block.name, _decide_block(target, block)) for block in constrained(target)]
    if target.transforms and target.gradient is None:
        found.append(("transformed blocks", decide_transformed_law(target)))
    return replace(conjoin_each(found), where=where)


def _decide_block(target: Target, block: Block) -> Answer:
    """Decide the change of variables of one block: of a column at every size, of a matrix at its own."""
    if block.constraint in VECTORS:
        block = replace(block, shape=Shape("K"))
    u = replace(block.sampled, name="u")
    declared = Declarations((u,))
    identities = tuple(_list_identities(target, block, u, declared))
    sizes: tuple[Sizes, ...] = tuple({"K": n} for n in (1, 2, 3)) if block.constraint in VECTORS else ({},)
    found = decide(Question(identities, declared, sizes, Obligations(), ""))
    if isinstance(found.decision, Refuted):
        about = f"{block.name} is {block.constraint}: {found.decision.residual}"
        return found.but(residual=about)
    return found


def _list_identities(target: Target, block: Block, u: Block, declared: Declarations) -> Iterator[Identity]:
    place = target.source.place(f"state.{block.name}.constraint")

    def entries(sizes: Sizes) -> Sequence[Expr]:
        return list(_write_scalar_residuals(block, u, sizes))

    for says, everywhere in _write_index_residuals(block, declared):
        yield Identity(says, place, everywhere, entries, f"the log Jacobian of {block.constraint} differs")


def _write_index_residuals(block: Block, declared: Declarations) -> Iterator[tuple[str, Tensor]]:
    """Yield the residuals in index notation; for matrices, which have none there, the nonzero 1."""
    c = calculus(declared)
    match block.constraint:
        case Constraint.ORDERED | Constraint.POSITIVE_ORDERED:
            yield "g' dJ/du - g''", _write_increasing_residual(c, block)
        case Constraint.SIMPLEX:
            yield "J + t**2/2 - sum log b", _write_share_residual(c, block)
        case Constraint.UNIT_VECTOR:
            yield from _write_direction_residuals(c, block)
        case _:
            yield f"the log Jacobian of {block.constraint}", c.constant(1)


def _write_increasing_residual(c: Calculus, block: Block) -> Tensor:
    """Return g_i' dJ/du_i - g_i'' of the increments: y_0 = u_0, or exp(u_0), and y_i = exp(u_i)."""
    i, j = (Index(block.shape.sizes[0], label) for label in "ij")
    whole = c.total(c.coordinate("u", j), j)
    first = c.applied("exp", c.coordinate("u", i))
    second = first
    if block.constraint is Constraint.ORDERED:
        plain = c.delta(i, 0)
        second = c.subtract(first, c.multiply(plain, first))
        first = c.add(second, plain)
    J = c.subtract(whole, c.coordinate("u", 0)) if block.constraint is Constraint.ORDERED else whole
    return c.settled(c.subtract(c.multiply(first, c.diff(J, Coordinate("u", (i,)))), second))


def _write_share_residual(c: Calculus, block: Block) -> Tensor:
    """Return J + t**2/2 - sum_i log b_i, where J + t**2/2 = sum(u) - K log sum(exp(u))."""
    size = block.shape.sizes[0]
    i, j, k = (Index(size, label) for label in "ijk")
    total = c.total(c.coordinate("u", i), i)
    sum_ = c.total(c.applied("exp", c.coordinate("u", j)), j)
    inverse = c.power(sum_, -1)
    stated = c.add(total, c.multiply(c.size(size), c.applied("log", inverse)))
    share = c.multiply(c.applied("exp", c.coordinate("u", k)), inverse)
    return c.settled(c.subtract(stated, c.total(c.applied("log", share), k)))


def _write_direction_residuals(c: Calculus, block: Block) -> Iterator[tuple[str, Tensor]]:
    """Yield |b|**2 - 1, and the slopes of J = -|u|**2/2 across u: u_i dJ/du_j - u_j dJ/du_i."""
    i, j, k = (Index(block.shape.sizes[0], label) for label in "ijk")
    square = c.total(c.power(c.coordinate("u", k), 2), k)
    b = c.multiply(c.coordinate("u", i), c.power(square, Fraction(-1, 2)))
    yield "|b|**2 - 1", c.settled(c.subtract(c.total(c.power(b, 2), i), c.constant(1)))
    J = c.scale(square, Fraction(-1, 2))
    by_i, by_j = (c.diff(J, Coordinate("u", (slot,))) for slot in (i, j))
    across = c.subtract(c.multiply(c.coordinate("u", i), by_j), c.multiply(c.coordinate("u", j), by_i))
    yield "u_i dJ/du_j - u_j dJ/du_i", c.settled(across)


# The second engine: Jacobians at fixed sizes.


def _write_scalar_residuals(block: Block, u: Block, sizes: Sizes) -> Iterator[Expr]:
    """Yield scalars that vanish if J is the log Jacobian of g."""
    if block.constraint is None:
        return
    rows = length(block.shape.sizes[0], sizes)
    at = coordinates(u, sizes)
    J, b = log_jacobian(block.constraint, at, rows), value(block.constraint, at, rows)
    if block.constraint is Constraint.SIMPLEX:
        yield from _write_simplex_scalars(J, [b[k,] for k in range(rows - 1)], Add(*at) / sympy.sqrt(rows), at)
    elif block.constraint is Constraint.UNIT_VECTOR:
        yield from _write_sphere_scalars(J, [b[k,] for k in range(rows)], at)
    else:
        yield from _write_triangular_scalars(J, [b[place] for place in _list_free_entries(block.constraint, rows)], at)


def _list_free_entries(constraint: Constraint, rows: int) -> list[tuple[int, ...]]:
    """Return the free entries of a block, in the order of their variables."""
    if constraint in VECTORS:
        return [(k,) for k in range(rows)]
    more = constraint in OF_MATRICES_IN_CONES
    return [(i, j) for i in range(rows) for j in range(i + more)]


def _write_triangular_scalars(J: Expr, b: Sequence[Expr], u: Sequence[Symbol]) -> Iterator[Expr]:
    """Yield the entries above the diagonal of db/du, and the slopes of sum log db_k/du_k - J, times that diagonal."""
    for k, entry in enumerate(b):
        yield from (slope(entry, x) for x in u[k + 1 :])
    diagonal = [slope(entry, x) for entry, x in zip(b, u, strict=True)]
    for x in u:
        yield Add(*(slope(d, x) / d for d in diagonal)) - slope(J, x)


def _write_simplex_scalars(J: Expr, b: Sequence[Expr], t: Expr, u: Sequence[Symbol]) -> Iterator[Expr]:
    """Yield the slopes of log det d(b, t)/du - t**2/2 - J, times the determinant."""
    if len(u) > limits.FEW_COORDINATES:
        raise TooLargeError(f"the determinant of {len(u)} variables")
    volume = Matrix([[slope(entry, x) for x in u] for entry in (*b, t)]).det(method="berkowitz")
    for x in u:
        yield slope(volume, x) - volume * (t * slope(t, x) + slope(J, x))


def _write_sphere_scalars(J: Expr, b: Sequence[Expr], u: Sequence[Symbol]) -> Iterator[Expr]:
    """Yield derivatives of J across u, and (det d(b, r)/du)**2 r**(2 K - 2) - b_last**2: du = r**(K - 1) dr dsigma."""
    yield from (x * slope(J, y) - y * slope(J, x) for x, y in pairwise(u))
    if len(u) > limits.FEW_COORDINATES:
        raise TooLargeError(f"the determinant of {len(u)} variables")
    square = Add(*(x**2 for x in u))
    r = sympy.sqrt(square)
    jacobian = Matrix([[slope(entry, x) for x in u] for entry in (*b[:-1], r)])
    volume = cast("Expr", jacobian.det(method="berkowitz"))
    yield volume**2 * square ** (len(u) - 1) - b[-1] ** 2

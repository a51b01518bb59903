"""Typed formulas to tensors: matrix products become sums over an index; grad, div and hessian are carried out.

With A, B matrices, v a vector, s a scalar and b a block of the state:

    (A @ B)_ik = sum_j A_ij B_jk        trace(A) = sum_i A_ii        grad(s, b)_i = ds/db_i
    div(A, b)_i = sum_j dA_ij/db_j      hessian(s, b)_ij = d2s/(db_i db_j)      diag(v)_ij = delta_ij v_i
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from recipe_compiler import limits
from recipe_compiler.errors import Fault, ModelError, Place
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import (
    ELEMENTWISE,
    ELEMENTWISE_PAIRS,
    Add,
    Apply,
    Compare,
    Entry,
    Explicit,
    Filled,
    Formula,
    FunctionAt,
    GradTilde,
    Identity,
    MatMul,
    Multiply,
    Next,
    Normal,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import Shape, Size
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.calculus_protocol import as_number, meaningless
from recipe_compiler.tensor.inverses import grid_indices
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.signs import is_nonnegative
from recipe_compiler.tensor.terms import Coordinate, Grid, Index, Slot, Tensor
from recipe_compiler.tensor.terms import Pi as PiAtom

NOWHERE = Place("")


def convert(
    formula: Formula,
    declarations: Declarations,
    *slots: Slot,
    datum: Index | None = None,
    entry: str = "formula",
    where: Place = NOWHERE,
    stated: bool = False,
) -> Tensor:
    """Return a formula as a tensor, with one slot per axis of its shape.

    A @ x with the slot i is sum_j A_ij x_j; grad(U, theta) with the slot i is d_theta[i] U; a literal position picks an
    entry. `datum` is the first slot of every data field. The free indices of the result are exactly those among the
    slots and `datum`, whether or not they occur. With `stated`, factors stay as they are (`Rules.stated`): such a
    tensor is computed with, not proved with.

    Raises:
        ModelError: under the name `entry`, for what only a claimed update may hold (N, next, grad_tilde), what has no
            entrywise meaning, division by zero, and derivatives across a jump.
    """
    try:
        result = _convert_cached(formula, declarations, slots, datum, stated)
    except ModelError as error:
        raise ModelError(
            Fault(fault.where if fault.where.file else where, entry, fault.problem, fault.hint)
            for fault in error.faults
        ) from None
    named = [slot for slot in (*slots, *((datum,) if datum else ())) if isinstance(slot, Index)]
    return Tensor(sorted_indices((*named, *result.free)), result.terms)


@lru_cache(maxsize=limits.REMEMBERED)
def _convert_cached(
    formula: Formula, declarations: Declarations, slots: tuple[Slot, ...], datum: Index | None, stated: bool
) -> Tensor:
    """Return the tensor of a formula at slots, computed once."""
    axes = {block.name: len(block.shape.sizes) for block in declarations.blocks}
    return _Conversion(calculus(declarations, stated=stated), datum, axes).tensor(formula, slots)


@dataclass(slots=True)
class _Conversion:
    """One conversion: the calculus, the index of the datum, and how many inner indices were needed so far."""

    c: Calculus
    datum: Index | None
    axes_of: Mapping[str, int]
    """How many axes each block has; a name with fewer is the row of the datum."""
    used: int = 0

    def inner(self, size: Size) -> Index:
        """Return an index that no caller uses, to be summed over."""
        self.used += 1
        return Index(size, f"@{self.used}")

    def axes(self, shape: Shape) -> tuple[Index, ...]:
        """Return inner indices for all axes of a shape."""
        return tuple(self.inner(size) for size in shape.sizes)

    def tensor(self, formula: Formula, at: tuple[Slot, ...]) -> Tensor:
        """Return the entry of a formula at the given slots."""
        c = self.c
        match formula:
            case Number(value):
                return c.constant(value)
            case Pi():
                return c.atom(PiAtom())
            case Symbol():
                return self.symbol(formula, at)
            case FunctionAt(name, _, _):
                return c.component(name, *at)
            case Identity():
                return c.delta(*at)
            case Filled(value, _):
                return c.constant(value)
            case Add(terms, _):
                return c.add(*(self.tensor(term, at) for term in terms))
            case Multiply(left, right, _):
                return c.multiply(self.spread(left, at), self.spread(right, at))
            case Power(base, exponent, _):
                return self.power(base, exponent, at)
            case MatMul(left, right, _):
                return self.product(left, right, at)
            case Transpose(arg, _):
                return self.tensor(arg, at[::-1])
            case Explicit(rows, shape):
                return self.explicit(rows, shape, at)
            case Entry(arg, places):
                return self.tensor(arg, places)
            case Apply(fn, args, shape):
                return self.apply(fn, args, shape, at)
            case Compare():
                raise meaningless("found a comparison outside the condition of where")
            case Normal() | Next() | GradTilde():
                raise meaningless("found what only a claimed update may hold", "N, next, grad_tilde belong in updates")

    def spread(self, formula: Formula, at: tuple[Slot, ...]) -> Tensor:
        """Return an operand that may be a scalar beside vectors or matrices."""
        return self.tensor(formula, at if formula.shape.sizes else ())

    def symbol(self, symbol: Symbol, at: tuple[Slot, ...]) -> Tensor:
        """Return the component of a declared name at slots."""
        match symbol.role:
            case Role.BLOCK if len(symbol.shape.sizes) < self.axes_of.get(symbol.name, 0):
                if self.datum is None:
                    raise meaningless(f"found the row of {symbol.name} where no datum is meant")
                return self.c.coordinate(symbol.name, self.datum, *at)
            case Role.BLOCK:
                return self.c.coordinate(symbol.name, *at)
            case Role.PARAMETER:
                return self.c.component(symbol.name, *at)
            case Role.SIZE:
                return self.c.size(symbol.name)
            case Role.DATUM | Role.INDEX if self.datum is not None:
                return self.c.component(symbol.name, self.datum, *at)
            case Role.DATUM | Role.INDEX:
                raise meaningless(f"found the data field {symbol.name} where no datum is meant")
            case Role.STEP | Role.NOISE:
                raise meaningless(f"found {symbol.name}, which only a claimed update may hold")

    def power(self, base: Formula, exponent: Formula, at: tuple[Slot, ...]) -> Tensor:
        """Return `base ** exponent`: exactly for a rational exponent, else exp(exponent log base), base >= 0."""
        below, above = self.tensor(base, at), self.tensor(exponent, ())
        number = as_number(above)
        if number is not None:
            return self.c.power(below, number)
        if not is_nonnegative(self.c.rules, below):
            raise meaningless(
                "found a power whose exponent is not a number, of a base that may be negative",
                "declare the base positive, or use a number as the exponent",
            )
        return self.c.applied("exp", self.c.multiply(above, self.c.applied("log", below)))

    def product(self, left: Formula, right: Formula, at: tuple[Slot, ...]) -> Tensor:
        """Return a matrix product: a sum over the inner axis, none for column times row."""
        inner = left.shape.cols
        outer = 0 if left.shape.rows is None else 1
        if inner is None:
            return self.c.multiply(self.tensor(left, at[:outer]), self.tensor(right, at[outer:]))
        index = self.inner(inner)
        product = self.c.multiply(self.tensor(left, (*at[:outer], index)), self.tensor(right, (index, *at[outer:])))
        return self.summed(product, index)

    def summed(self, tensor: Tensor, *over: Index) -> Tensor:
        """Sum over indices whether or not they are free in the tensor."""
        return self.c.total(Tensor(sorted_indices((*tensor.free, *over)), tensor.terms), *over)

    def explicit(self, rows: tuple[tuple[Formula, ...], ...], shape: Shape, at: tuple[Slot, ...]) -> Tensor:
        """Return sum_kl a_kl delta_ik delta_jl of a matrix written entry by entry; of a vector one delta."""
        terms: list[Tensor] = []
        for k, row in enumerate(rows):
            for n, entry in enumerate(row):
                places = tuple(p for p, size in zip((k, n), (shape.rows, shape.cols), strict=True) if size is not None)
                chosen = [self.c.delta(slot, place) for slot, place in zip(at, places, strict=True)]
                terms.append(self.c.multiply(*chosen, self.tensor(entry, ())))
        return self.c.add(*terms)

    def apply(self, fn: str, args: tuple[Formula, ...], shape: Shape, at: tuple[Slot, ...]) -> Tensor:
        """Return a function of the language."""
        if fn in ELEMENTWISE or fn in ELEMENTWISE_PAIRS:
            return self.c.applied(fn, *(self.spread(arg, at) for arg in args))
        rules: dict[str, Callable[..., Tensor]] = {
            "where": self.where, "inv": self.inverse, "cholesky": self.cholesky, "trace": self.trace, "sum": self.sum,
            "diag": self.diagonal, "outer": self.outer, "grad": self.gradient, "div": self.divergence,
            "hessian": self.hessian,
        }  # fmt: skip
        if fn in ("det", "logdet"):
            return self.determinant(args[0], log=fn == "logdet")
        if fn == "kron":
            return self.kron(args[0], args[1], at)
        if fn not in rules:
            raise meaningless(f"found the function {fn}, which has no entrywise meaning")
        return rules[fn](args, at)

    def where(self, args: tuple[Formula, ...], at: tuple[Slot, ...]) -> Tensor:
        """Return `where(left op right, yes, no)`."""
        condition, yes, no = args
        if not isinstance(condition, Compare):
            raise meaningless("found where without a comparison as its condition")
        parts = (condition.left, condition.right, yes, no)
        return self.c.applied(f"where {condition.op}", *(self.spread(part, at) for part in parts))

    def grid(self, matrix: Formula) -> Grid:
        """Return a square matrix entry by entry."""
        size = matrix.shape.rows
        if size is None or size != matrix.shape.cols:
            raise meaningless(f"found a function of a {matrix.shape}, expected a square matrix")
        row, col = grid_indices(size)
        here, there = self.inner(size), self.inner(size)
        entry = self.tensor(matrix, (here, there))
        entry = self.c.rename(entry, {here: row, there: col})
        return Grid(row, col, Tensor(sorted_indices((row, col, *entry.free)), entry.terms))

    def inverse(self, args: tuple[Formula, ...], at: tuple[Slot, ...]) -> Tensor:
        """Return `inv(A)`; inv(A B) = inv(B) inv(A) for square A and B."""
        match args[0]:
            case MatMul(left, right, shape) if left.shape == right.shape == shape:
                index = self.inner(shape.sizes[0])
                product = self.c.multiply(self.inverse((right,), (at[0], index)), self.inverse((left,), (index, at[1])))
                return self.summed(product, index)
            case matrix:
                row, col = at
                return self.c.inverse(self.grid(matrix), (row, col))

    def cholesky(self, args: tuple[Formula, ...], at: tuple[Slot, ...]) -> Tensor:
        """Return `cholesky(A)`."""
        row, col = at
        return self.c.cholesky(self.grid(args[0]), (row, col))

    def determinant(self, matrix: Formula, *, log: bool) -> Tensor:
        """Return `det(A)` or `logdet(A)`; det(A B) = det(A) det(B) for square A and B."""
        match matrix:
            case MatMul(left, right, shape) if left.shape == right.shape == shape:
                product = self.c.multiply(self.determinant(left, log=False), self.determinant(right, log=False))
                return self.c.applied("log", product) if log else product
            case _:
                return self.c.determinant(self.grid(matrix), log=log)

    def trace(self, args: tuple[Formula, ...], at: tuple[Slot, ...]) -> Tensor:
        """Return `trace(A)`."""
        index = self.inner(args[0].shape.sizes[0])
        return self.summed(self.tensor(args[0], (index, index)), index)

    def sum(self, args: tuple[Formula, ...], at: tuple[Slot, ...]) -> Tensor:
        """Return the sum over all entries."""
        axes = self.axes(args[0].shape)
        return self.summed(self.tensor(args[0], axes), *axes)

    def diagonal(self, args: tuple[Formula, ...], at: tuple[Slot, ...]) -> Tensor:
        """Return the matrix with v on its diagonal, or the diagonal of a matrix."""
        if len(args[0].shape.sizes) == 2:
            return self.tensor(args[0], (at[0], at[0]))
        return self.c.multiply(self.c.delta(*at), self.tensor(args[0], at[:1]))

    def outer(self, args: tuple[Formula, ...], at: tuple[Slot, ...]) -> Tensor:
        """Return u_i v_j."""
        return self.c.multiply(self.tensor(args[0], at[:1]), self.tensor(args[1], at[1:]))

    def kron(self, left: Formula, right: Formula, at: tuple[Slot, ...]) -> Tensor:
        """Return `kron(A, B)` of fixed sizes at literal positions; index notation has no composite index."""
        rows, cols = right.shape.sizes if len(right.shape.sizes) == 2 else (None, None)
        match at, rows, cols:
            case (int() as i, int() as j), int(), int():
                return self.c.multiply(
                    self.tensor(left, (i // rows, j // cols)), self.tensor(right, (i % rows, j % cols))
                )
            case _:
                raise meaningless("found kron, whose composite index has no index notation", "write its blocks out")

    def coordinates(self, block: Formula, at: tuple[Slot, ...]) -> Coordinate:
        """Return the coordinate of a block that grad, div or hessian differentiate by."""
        if not isinstance(block, Symbol) or block.role is not Role.BLOCK:
            raise meaningless("found a derivative by what is not a block of the state")
        return Coordinate(block.name, at)

    def gradient(self, args: tuple[Formula, ...], at: tuple[Slot, ...]) -> Tensor:
        """Return ds/db_i."""
        return self.derivative(self.tensor(args[0], ()), args[1], at)

    def hessian(self, args: tuple[Formula, ...], at: tuple[Slot, ...]) -> Tensor:
        """Return d2s/(db_i db_j)."""
        half = len(at) // 2
        return self.derivative(self.derivative(self.tensor(args[0], ()), args[1], at[:half]), args[1], at[half:])

    def divergence(self, args: tuple[Formula, ...], at: tuple[Slot, ...]) -> Tensor:
        """Return sum_j dA_ij/db_j of a matrix, sum_j dv_j/db_j of a vector."""
        over = self.axes(args[1].shape)
        field = self.tensor(args[0], (*at, *over)) if args[0].shape.sizes else self.tensor(args[0], ())
        return self.summed(self.derivative(field, args[1], over), *over)

    def derivative(self, tensor: Tensor, block: Formula, at: tuple[Slot, ...]) -> Tensor:
        """Differentiate by a coordinate; positions are put in last."""
        coordinate = self.coordinates(block, at)
        inner = self.axes(block.shape)
        moves: dict[Index, Slot] = dict(zip(inner, at, strict=True))
        result = self.c.diff(tensor, Coordinate(coordinate.block, inner))
        return self.c.rename(result, moves)

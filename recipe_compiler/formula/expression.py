"""The nodes of a typed formula: what text and SymPy objects become, and all that later stages see.

A formula is an immutable tree. Every node knows its `shape`; every size in it is resolved (a symbolic size or an
integer, never an unknown). Numbers are exact. Nothing here simplifies: nodes say what the author wrote, except that
`a - b` is `a + (-1)*b`, `a / b` is `a * b**(-1)`, `dot` and `norm2` are matrix products, `logsumexp(v)` is
`log(sum(exp(v)))`, and `eta[g]` with an index field g of the data is `g @ eta`, g a row with a single one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from operator import eq, ge, gt, le, lt
from typing import Any

from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.operators import Group, grouped
from recipe_compiler.formula.shapes import SCALAR, Shape, Size


class Role(StrEnum):
    """What a symbol stands for."""

    BLOCK = "block"
    PARAMETER = "parameter"
    DATUM = "datum"
    """A field of ONE datum (a row of `x`, an entry of `y`), in a target's log likelihood."""
    INDEX = "index"
    """An index field of one datum: the row that has a one at the position that the datum is, zeros elsewhere."""
    SIZE = "size"
    """A size used as a number: `d`."""
    STEP = "step"
    """The step size eps, in claimed updates."""
    NOISE = "noise"
    """A declared standard normal draw, in claimed updates."""


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational constant."""

    value: Fraction

    @property
    def shape(self) -> Shape:
        """A scalar."""
        return SCALAR


@dataclass(frozen=True, slots=True)
class Pi:
    """The constant pi."""

    @property
    def shape(self) -> Shape:
        """A scalar."""
        return SCALAR


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declared name with its shape: a block of the state, a parameter, a datum, a size, ..."""

    name: str
    shape: Shape
    role: Role


@dataclass(frozen=True, slots=True)
class FunctionAt:
    """A declared function, of a declared shape, at the blocks it was declared of, `U(theta)`, or at others: `U(phi)`.

    At others the call is its name: nothing is known of its values there but what is declared of every value.
    """

    name: str
    of: tuple[str, ...]
    shape: Shape
    home: tuple[str, ...] = ()
    """The blocks it was declared of, where `of` are others."""

    @property
    def declared(self) -> str:
        """The name it was declared by."""
        return self.name.partition("(")[0]

    def at(self, of: tuple[str, ...]) -> "FunctionAt":
        """Return the function at other blocks, or back at its own."""
        home = self.home or self.of
        if of == home:
            return FunctionAt(self.declared, of, self.shape)
        return FunctionAt(f"{self.declared}({', '.join(of)})", of, self.shape, home)

    def called(self, names: Mapping[str, str]) -> "FunctionAt":
        """Return the function with its name and its blocks renamed."""
        of, home = (tuple(names.get(block, block) for block in blocks) for blocks in (self.of, self.home or self.of))
        return FunctionAt(names.get(self.declared, self.declared), home, self.shape).at(of)


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity matrix `I` of a size."""

    size: Size

    @property
    def shape(self) -> Shape:
        """A square matrix."""
        return Shape(self.size, self.size)


@dataclass(frozen=True, slots=True)
class Filled:
    """A vector or matrix filled with one number: `0` (`value` 0) and `ones` (`value` 1)."""

    value: int
    shape: Shape


@dataclass(frozen=True, slots=True)
class Add:
    """A sum of terms of one shape, which is its own."""

    terms: tuple["Formula", ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Multiply:
    """`left * right`: one side a scalar, or both of one vector or matrix shape (then elementwise)."""

    left: "Formula"
    right: "Formula"
    shape: Shape


@dataclass(frozen=True, slots=True)
class Power:
    """`base ** exponent`, elementwise in the base; the exponent is a scalar."""

    base: "Formula"
    exponent: "Formula"
    shape: Shape


@dataclass(frozen=True, slots=True)
class MatMul:
    """`left @ right`: the matrix product (row @ column is a scalar, column @ row a matrix)."""

    left: "Formula"
    right: "Formula"
    shape: Shape


@dataclass(frozen=True, slots=True)
class Transpose:
    """arg.T: a (k, d) matrix of a (d, k) matrix, a row of a column."""

    arg: "Formula"
    shape: Shape


@dataclass(frozen=True, slots=True)
class Entry:
    """`arg[k]` of a vector or `arg[k, l]` of a matrix: a scalar, positions counted from 0."""

    arg: "Formula"
    at: tuple[int, ...]

    @property
    def shape(self) -> Shape:
        """A scalar."""
        return SCALAR


@dataclass(frozen=True, slots=True)
class Explicit:
    """A matrix of fixed size, entry by entry, each a scalar; with one column a column, with one row a row."""

    rows: tuple[tuple["Formula", ...], ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Compare:
    """`left op right` between scalars or equal vectors, `op` one of `> >= < <= ==`: conditions and assumptions."""

    op: str
    left: "Formula"
    right: "Formula"
    shape: Shape


HOLDS: Mapping[str, Callable[[Any, Any], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le, "==": eq}
"""By the `op` of a comparison, whether it holds for two exact numbers of one kind."""


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of the language applied to its arguments.

    The functions by groups, with the shapes of their results:

        entry by entry      those in `elementwise.FUNCTIONS`, minimum and maximum (of two), where (a `Compare`, two)
        matrices            inv cholesky (d x d), det logdet trace (scalars), diag, sum (a scalar), outer, kron
        calculus            grad(s, b)_i = ds/db_i, div(A, b)_i = sum_j dA_ij/db_j, hessian(s, b)_ij = d2s/(db_i db_j),
                            the block b a `Symbol`
    """

    fn: str
    args: tuple["Formula", ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Normal:
    """N(0, cov): an independent Gaussian draw, a column of d entries for a d x d `cov` (claimed updates only)."""

    cov: "Formula"
    shape: Shape


@dataclass(frozen=True, slots=True)
class Next:
    """next(b): the new value of a block, of its shape (claimed updates only)."""

    block: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class GradTilde:
    """grad_tilde(U, b): an unbiased estimate of grad(U, b), of b's shape, with covariance V (claimed updates only)."""

    function: str
    block: str
    shape: Shape


Formula = (
    Number
    | Pi
    | Symbol
    | FunctionAt
    | Identity
    | Filled
    | Add
    | Multiply
    | Power
    | MatMul
    | Transpose
    | Entry
    | Explicit
    | Compare
    | Apply
    | Normal
    | Next
    | GradTilde
)

ELEMENTWISE = frozenset(FUNCTIONS)
"""Scalar functions of one argument, applied entry by entry."""

ELEMENTWISE_PAIRS = grouped(Group.PAIR)
MATRIX_FUNCTIONS = grouped(Group.MATRIX)
CALCULUS = grouped(Group.CALCULUS)
UPDATE_FUNCTIONS = grouped(Group.UPDATE)

"""The other functions of the language, a row each: of matrices, of two numbers, choices, derivatives, updates.

The rows say how each is called and written, and how it scales. `type_calls` has the rule of its shape, `print_numpy`
what NumPy computes, `tensor/convert` what its entries are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from recipe_compiler.formula.elementwise import FUNCTIONS


class Group(StrEnum):
    """What a function is a function of."""

    PAIR = "two numbers, entry by entry"
    CHOICE = "a condition and two values"
    MATRIX = "vectors and matrices"
    CALCULUS = "a formula and a block"
    UPDATE = "what claimed updates alone hold"
    TARGET = "densities, in targets"


@dataclass(frozen=True, slots=True)
class Operator:
    """A function of the language, by its call: `outer(u, v)`."""

    call: str
    words: str
    """What `help` says it returns."""
    degrees: tuple[Fraction | int, ...] = ()
    """k of each argument, where `f(c x) = c**k f(x)`; of a block, in its unit."""
    latex: str = ""
    """It in LaTeX: `{0:power}` is the first argument, in parentheses where it binds less tightly than a power."""
    binds: str = "atom"
    """How tightly that binds: as a `sum`, `product`, `power` or `atom`."""
    shapes: str = ""
    """The shapes that it takes and gives, a letter for each axis, as NumPy's signatures: `kl, mn -> km, ln`."""

    @property
    def name(self) -> str:
        """The name it is called by."""
        return self.call.partition("(")[0]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of its arguments; `*` before the last, of which there may be several."""
        return tuple(self.call.partition("(")[2].removesuffix(")").split(", "))


_ROWS = {
    Group.PAIR: (
        Operator(
            "minimum(x, y)", "the smaller of two scalars or two vectors of one shape, entry by entry",
            latex=r"\min\left({0}, {1}\right)",
        ),
        Operator(
            "maximum(x, y)", "the larger of two scalars or two vectors of one shape, entry by entry",
            latex=r"\max\left({0}, {1}\right)",
        ),
    ),
    Group.CHOICE: (
        Operator(
            "where(condition, yes, no)",
            "`yes` where the condition holds, `no` elsewhere, entry by entry; all are scalars or of one shape",
            latex=r"\begin{{cases}} {1} & \text{{if }} {0} \\ {2} & \text{{otherwise}} \end{{cases}}",
        ),
    ),
    Group.MATRIX: (
        Operator(
            "inv(A)", "the d x d inverse of a square matrix, which has to be nonsingular wherever it is used",
            (-1,), "{{{0:atom}}}^{{-1}}", "power",
        ),
        Operator(
            "det(A)", "the determinant of a square matrix, a scalar", latex=r"\det\left({0}\right)", shapes="nn -> ",
        ),
        Operator(
            "logdet(A)", "log det A of a positive definite d x d matrix, a scalar",
            latex=r"\log\det\left({0}\right)", shapes="nn -> ",
        ),
        Operator(
            "cholesky(A)", "the lower triangular L with L @ L.T = A, positive definite, and a positive diagonal",
            (Fraction(1, 2),), r"\operatorname{{chol}}\left({0}\right)", shapes="nn -> n, n",
        ),
        Operator(
            "solve_triangular(L, b)",
            "inv(L) @ b of a column or matrix b, L lower triangular by its form, or upper as `L.T`",
        ),
        Operator(
            "trace(A)", "the trace sum_i A_ii of a square matrix, a scalar",
            (1,), r"\operatorname{{tr}}\left({0}\right)", shapes="nn -> ",
        ),
        Operator("diag(v)", "the d x d diagonal matrix of a column of d entries", (1,), shapes="n -> n, n"),
        Operator("sum(v)", "the sum of all entries of a vector or matrix, a scalar", (1,)),
        Operator(
            "dot(u, v)",
            "sum_i u_i v_i of two vectors of one size, or trace(A.T @ B) of two matrices of one shape: a scalar",
            shapes="n, n -> ",
        ),
        Operator(
            "norm2(v)", "the SQUARED Euclidean norm sum_i v_i**2 of a vector, or of the entries of a matrix, a scalar",
            shapes="n -> ",
        ),
        Operator("logsumexp(v)", "log(sum_i exp(v_i)), a scalar, of a column or a row", shapes="n -> "),
        Operator(
            "softmax(v)",
            "exp(v - logsumexp(v)*ones), of the shape of v, a column or a row: positive numbers whose sum is 1",
            shapes="n -> n",
        ),
        Operator(
            "outer(u, v)", "u @ v.T, the m x n matrix u_i v_j of vectors of m and n entries",
            (1, 1), r"{0:power} {{{1:atom}}}^\top", "product", shapes="m, n -> m, n",
        ),
        Operator(
            "kron(A, B)", "the Kronecker product of matrices k x l and m x n, (k m) x (l n): blocks a_ij B",
            (1, 1), r"{0:power} \otimes {1:power}", "sum", shapes="kl, mn -> km, ln",
        ),
        Operator(
            "gp_exp_quad_cov(x, alpha, rho)",
            "the n x n covariance alpha**2 exp(-(x_i - x_j)**2/(2 rho**2)) of a Gaussian process at n points x",
            shapes="n, ,  -> n, n",
        ),
    ),
    Group.CALCULUS: (
        Operator(
            "grad(s, block)", "the gradient ds/db_i of a scalar s by a block b, of the shape of the block",
            (1, -1), r"\nabla_{{{1}}} {0:power}", "product",
        ),
        Operator(
            "div(A, block)",
            "the divergence sum_j dA_ij/db_j of an m x n matrix by a block of n entries, a column; of a row, a scalar",
            (1, -1), r"\nabla_{{{1}}} \cdot {0:power}", "product",
        ),
        Operator(
            "hessian(s, block)",
            "the n x n matrix d2s/(db_i db_j) of second derivatives of a scalar by a column block of n entries",
            (1, -2), r"\nabla_{{{1}}}^2 {0:power}", "product",
        ),
    ),
    Group.UPDATE: (
        Operator(
            "N(mean, cov)",
            "a Gaussian draw of mean 0, a column for a d x d covariance; new wherever it stands: in updates and `init`",
        ),
        Operator("next(block)", "the next value of a block, where an update of another block uses it"),
        Operator(
            "grad_tilde(s, block)",
            "an unbiased estimate of grad(s, block) from a minibatch, of the shape of the block; in updates",
        ),
    ),
    Group.TARGET: (
        Operator(
            "mixture(weights, *densities)",
            "log(sum_k w_k exp(f_k)), in targets: of a density for each weight, or one of columns",
        ),
        Operator(
            "gaussian_process(y, x, alpha, rho, sigma)",
            "`multi_normal(y, 0, gp_exp_quad_cov(x, alpha, rho) + sigma**2*I)`: one path at points x, with noise",
        ),
    ),
}  # fmt: skip

INVERTING = frozenset({"inv", "det", "logdet", "cholesky"})
"""Functions for which a square matrix is factorised."""

OPERATORS: Mapping[str, Operator] = {row.name: row for rows in _ROWS.values() for row in rows}

ARITY: Mapping[str, int] = dict.fromkeys(FUNCTIONS, 1) | {
    name: len(row.arguments) for name, row in OPERATORS.items() if row not in _ROWS[Group.TARGET]
}
"""How many arguments each function of the language takes."""


def grouped(group: Group) -> frozenset[str]:
    """Return the names of the functions of a group."""
    return frozenset(row.name for row in _ROWS[group])


def degrees(fn: str) -> tuple[Fraction | int, ...] | None:
    """Return k of each argument of a function, where `f(c x) = c**k f(x)` for c > 0; None where there is no such k."""
    if fn not in FUNCTIONS:
        return OPERATORS[fn].degrees or None
    degree = FUNCTIONS[fn].homogeneous
    return None if degree is None else (degree,)

"""What follows from dynamics, as objects that show themselves in a notebook and go on into SymPy.

Entries become `theta[0, 0]` of a MatrixSymbol and `U(theta[0, 0], theta[1, 0])`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import sympy

from recipe_compiler.algebra.scalars.symbols import extent
from recipe_compiler.derive import recipe
from recipe_compiler.derive.show import (
    derivation_latex,
    derivation_text,
    matrix_latex,
    matrix_text,
    vector_latex,
    vector_text,
)
from recipe_compiler.errors import model_error, shown
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.shapes import SCALAR, Sizes
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.spec.positions import equation_formulas, smallest_sizes
from recipe_compiler.tensor.scalars import Leaf, scalarise
from recipe_compiler.tensor.terms import Index, Tensor
from recipe_compiler.verify.core.scalars import make_leaf

Expr = Any
"""A SymPy expression; SymPy ships no types."""

MOST_COORDINATES = 200
"""That are written out entry by entry: a matrix has as many squared."""


@dataclass(frozen=True, slots=True)
class Symbols:
    """The names of a document at fixed sizes."""

    declared: Declarations
    sizes: Sizes
    leaf: Leaf
    """Their scalars in the second engine."""

    def entry(self, tensor: Tensor, at: Mapping[Index, int]) -> Expr:
        """Return one entry of a tensor, entries of vectors and matrices as those of a MatrixSymbol."""
        found = scalarise(tensor, self.sizes, at, self.leaf, where=_piecewise)
        names = {symbol: symbol.name.removesuffix("]").split("[") for symbol in found.free_symbols}
        return found.xreplace({symbol: self._named(*name) for symbol, name in names.items() if len(name) > 1})

    def length(self, block: Block) -> int:
        """Return how many coordinates a block has."""
        return prod(extent(block.shape, self.sizes))

    def _named(self, name: str, at: str) -> Expr:
        item = self.declared.find(name)
        row, col = (*map(int, at.split(",")), 0)[:2]
        return sympy.MatrixSymbol(name, *extent(SCALAR if item is None else item.shape, self.sizes))[row, col]


_RELATIONS = {">": sympy.Gt, ">=": sympy.Ge, "<": sympy.Lt, "<=": sympy.Le, "==": sympy.Eq}


def _piecewise(op: str, left: Expr, right: Expr, yes: Expr, no: Expr) -> Expr:
    """Return where(left op right, yes, no) as SymPy's Piecewise((yes, left op right), (no, True))."""
    return sympy.Piecewise((yes, _RELATIONS[op](left, right)), (no, True))


def symbols_of(dynamics: Dynamics, sizes: Mapping[str, object]) -> Symbols:
    """Return the names of dynamics at sizes that are given.

    Raises:
        ModelError: a size is missing, is none of the document, or is less than a position that a formula names needs;
            there are more coordinates than are written out.
    """
    declared = dynamics.declarations
    least = smallest_sizes(declared, equation_formulas(dynamics))
    given = ", ".join(f"{name}={shown(size)}" for name, size in sizes.items()) or "no sizes"
    if sizes.keys() != least.keys():
        hint = f"write to_sympy({', '.join(f'{name}=2' for name in least)})"
        problem = f"found {given}, expected a number for each of {', '.join(least) or 'none'}"
        raise model_error("to_sympy", problem, hint)
    known = {name: size for name, size in sizes.items() if type(size) is int and size >= least[name]}
    if len(known) < len(sizes):
        expected = ", ".join(f"{name} >= {size}" for name, size in least.items())
        raise model_error("to_sympy", f"found {given}, expected whole numbers, {expected}")
    found = Symbols(declared, known, make_leaf(declared, known))
    count = sum(found.length(block) for block in declared.blocks)
    if count > MOST_COORDINATES:
        problem = f"found {shown(count)} coordinates ({given}), expected {MOST_COORDINATES} at most"
        hint = "every entry is written out: choose smaller sizes; emitted code has no such limit"
        raise model_error("to_sympy", problem, hint)
    return found


@dataclass(frozen=True, slots=True, repr=False)
class Vector:
    """A vector over z, such as the drift; `to_sympy` gives it entry by entry."""

    derivation: recipe.Derivation
    tensors: tuple[Tensor, ...]
    name: str

    def to_sympy(self, **sizes: int) -> Any:
        """Return the vector as a SymPy column over all coordinates of z.

        Parameters
        ----------
        **sizes : int
            A number for every symbolic size: `d=2`.

        Returns
        -------
        sympy.Matrix
            One row for each coordinate, in the order of the state. A block is a `MatrixSymbol` of its name, a scalar a
            `Symbol`; entries of symmetric and skew matrices are those above the diagonal, with their signs, and what a
            kind declares zero is 0.

        Raises
        ------
        ModelError
            A size is missing, unknown or too small for a formula, or there are more than 200 coordinates.

        Examples
        --------
        >>> theta = vector("theta", "d")
        >>> U = function("U", of=theta, role="potential")
        >>> sgld = Dynamics(name="sgld", state=[theta], H=U, D=[[I]], Q=[[0]])
        >>> sgld.derive().drift.to_sympy(d=1)
        Matrix([[-Derivative(U(theta[0, 0]), theta[0, 0])]])
        """
        symbols = symbols_of(self.derivation.dynamics, sizes)
        return sympy.Matrix([
            symbols.entry(tensor, dict.fromkeys(tensor.free, k))
            for block, tensor in zip(symbols.declared.blocks, self.tensors, strict=True)
            for k in range(symbols.length(block))
        ])  # fmt: skip

    def to_latex(self) -> str:
        """Return the vector as LaTeX, block by block."""
        return vector_latex(self.derivation, self.tensors)

    def __str__(self) -> str:
        return "\n".join(vector_text(self.derivation, self.tensors))

    def __repr__(self) -> str:
        return f"{self.name} of {self.derivation.dynamics.name}:\n{self}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"


@dataclass(frozen=True, slots=True, repr=False)
class Matrix:
    """A matrix over z, D or Q; `to_sympy` gives it entry by entry."""

    derivation: recipe.Derivation
    tensors: tuple[tuple[Tensor, ...], ...]
    name: str

    def to_sympy(self, **sizes: int) -> Any:
        """Return the matrix as SymPy's, over all coordinates of z; sizes and errors are as of `Vector.to_sympy`.

        Returns
        -------
        sympy.Matrix
            One row and one column for each coordinate, in the order of the state.
        """
        symbols = symbols_of(self.derivation.dynamics, sizes)
        places = [(b, k) for b, block in enumerate(symbols.declared.blocks) for k in range(symbols.length(block))]

        def entry(row: tuple[int, int], col: tuple[int, int]) -> Any:
            tensor = self.tensors[row[0]][col[0]]
            at = {index: row[1] if index.label == "i" else col[1] for index in tensor.free}
            return symbols.entry(tensor, at)

        return sympy.Matrix([[entry(row, col) for col in places] for row in places])

    def to_latex(self) -> str:
        """Return the matrix as LaTeX, block by block."""
        return matrix_latex(self.derivation, self.tensors)

    def __str__(self) -> str:
        return "\n".join(matrix_text(self.derivation, self.tensors))

    def __repr__(self) -> str:
        return f"{self.name} of {self.derivation.dynamics.name}:\n{self}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"


@dataclass(frozen=True, slots=True, repr=False)
class Derivation:
    """grad H, Gamma and the drift f = -(D+Q) grad H + Gamma of dynamics (Ma, Chen, Fox 2015, Eq. 3), for every size.

    Attributes
    ----------
    D, Q : Matrix
        As stated, a build's with everything bound.
    grad_H, Gamma, drift : Vector
        Gamma_i = sum_j d(D+Q)_ij/dz_j.
    """

    derivation: recipe.Derivation

    @property
    def D(self) -> Matrix:
        """The diffusion matrix."""
        return Matrix(self.derivation, self.derivation.D, "D")

    @property
    def Q(self) -> Matrix:
        """The curl matrix."""
        return Matrix(self.derivation, self.derivation.Q, "Q")

    @property
    def grad_H(self) -> Vector:
        """The gradient of the energy."""
        return Vector(self.derivation, self.derivation.grad_H, "grad_H")

    @property
    def Gamma(self) -> Vector:
        """The correction Gamma_i = sum_j d(D+Q)_ij/dz_j."""
        return Vector(self.derivation, self.derivation.Gamma, "Gamma")

    @property
    def drift(self) -> Vector:
        """The drift f = -(D+Q) grad H + Gamma."""
        return Vector(self.derivation, self.derivation.drift, "drift")

    def to_latex(self) -> str:
        """Return everything as one LaTeX `align*` environment (needs amsmath)."""
        return derivation_latex(self.derivation)

    def __str__(self) -> str:
        return derivation_text(self.derivation).rstrip()

    def __repr__(self) -> str:
        return f"<Derivation of {self.derivation.dynamics.name}; print() shows it>"

    def _repr_latex_(self) -> str:
        _, _, environment = self.to_latex().partition("\n")
        return environment.rstrip()

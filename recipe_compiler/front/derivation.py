"""What follows from dynamics, as objects that show themselves in a notebook and go on into SymPy."""

from dataclasses import dataclass
from typing import Any

from recipe_compiler.derive import recipe
from recipe_compiler.derive.show import (
    derivation_latex,
    derivation_text,
    matrix_latex,
    matrix_text,
    vector_latex,
    vector_text,
)
from recipe_compiler.tensor.terms import Tensor


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
            `Symbol`; entries of symmetric matrices are those above the diagonal.

        Raises
        ------
        ModelError
            A size is missing, unknown or too small for a formula.

        Examples
        --------
        >>> theta = vector("theta", "d")
        >>> U = function("U", of=theta, role="potential")
        >>> sgld = Dynamics(name="sgld", state=[theta], H=U, D=[[I]], Q=[[0]])
        >>> sgld.derive().drift.to_sympy(d=1)
        Matrix([[-Derivative(U(theta[0, 0]), theta[0, 0])]])
        """
        import sympy

        from recipe_compiler.front.symbols import symbols_of

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
        import sympy

        from recipe_compiler.front.symbols import symbols_of

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

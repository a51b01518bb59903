"""What the parts of the calculus need of each other, so that none of them imports `calculus`."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Protocol

from recipe_compiler.errors import ModelError, model_error
from recipe_compiler.tensor.rules import Rules
from recipe_compiler.tensor.terms import Coordinate, Grid, Index, Slot, Tensor, Term


class Arithmetic(Protocol):
    """The operations of `recipe_compiler.tensor.calculus.Calculus` that its parts call back."""

    def __hash__(self) -> int:
        """By which results are kept."""
        ...

    @property
    def rules(self) -> Rules:
        """The declared facts."""
        ...

    def collect(self, terms: Iterable[Term], free: Iterable[Index]) -> Tensor:
        """Canonical form of terms."""
        ...

    def add(self, *tensors: Tensor) -> Tensor:
        """Sum."""
        ...

    def scale(self, tensor: Tensor, factor: Fraction | int) -> Tensor:
        """Multiple."""
        ...

    def multiply(self, *tensors: Tensor) -> Tensor:
        """Product, nothing summed."""
        ...

    def distribute(self, *tensors: Tensor) -> Tensor:
        """Product, nothing summed, term by term of every factor."""
        ...

    def total(self, tensor: Tensor, *over: Index) -> Tensor:
        """Sum over indices."""
        ...

    def rename(self, tensor: Tensor, moves: Mapping[Index, Slot]) -> Tensor:
        """Replace free indices."""
        ...

    def power(self, tensor: Tensor, exponent: Fraction | int) -> Tensor:
        """Rational power."""
        ...

    def applied(self, fn: str, *args: Tensor) -> Tensor:
        """Scalar function."""
        ...

    def inverse(self, grid: Grid, at: tuple[Slot, Slot]) -> Tensor:
        """Entry of an inverse matrix."""
        ...

    def cholesky(self, grid: Grid, at: tuple[Slot, Slot]) -> Tensor:
        """Entry of a Cholesky factor."""
        ...

    def is_zero(self, tensor: Tensor) -> bool:
        """Whether a tensor is shown to be zero."""
        ...

    @property
    def plain(self) -> "Arithmetic":
        """The calculus that multiplies out what its formulas keep factored."""
        ...

    def diff(self, tensor: Tensor, coordinate: Coordinate, *, almost_everywhere: bool = False) -> Tensor:
        """Partial derivative."""
        ...


def constant(value: Fraction | int, free: Iterable[Index] = ()) -> Tensor:
    """Return a number as a tensor, constant along the axes `free`."""
    return Tensor(tuple(free), (Term(Fraction(value)),) if value else ())


def meaningless(problem: str, hint: str = "") -> ModelError:
    """Return the ModelError of an expression that has no value, or that index notation cannot express."""
    return model_error("formula", problem, hint)


def as_number(tensor: Tensor) -> Fraction | None:
    """Return the rational number that a tensor is, or None if it depends on anything.

    Pi and sizes are no numbers here.
    """
    match tensor.terms:
        case ():
            return Fraction(0)
        case (term,) if not term.factors:
            return term.coefficient
        case _:
            return None

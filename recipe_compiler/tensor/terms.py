"""What an index expression is made of: indices, atoms, terms, and the tensor that is their sum.

    tensor = sum over terms of   coefficient * prod_k atom_k**exponent_k

Each term is *summed over every index of it that is not free*. An index may occur any number of times, so that delta_ij
theta_i and sum_i log theta_i are ordinary terms: this is no Einstein convention, in which an index occurs once or
twice. A literal position (`theta[0]`) may take the place of an index.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from recipe_compiler.formula.shapes import Size


@dataclass(frozen=True, slots=True)
class Index:
    """An index that runs over 0 .. size-1. Labels that start with `_` are bound ones, named by the canonical form."""

    size: Size
    label: str


Slot = Index | int
"""The content of an index place: an index or a literal position counted from 0."""


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A coordinate of the state: `theta_i` is `Coordinate("theta", (i,))`, a scalar block has no slot."""

    block: str
    at: tuple[Slot, ...] = ()


@dataclass(frozen=True, slots=True)
class Component:
    """A component of a parameter, function or data field, differentiated by the coordinates `by`.

    `d^2 U / d theta_i d theta_j` is `Component("U", (), (theta_i, theta_j))`; the field `x` of datum n is
    `Component("x", (n, j))`.
    """

    name: str
    at: tuple[Slot, ...] = ()
    by: tuple[Coordinate, ...] = ()


@dataclass(frozen=True, slots=True)
class SizeNumber:
    """A symbolic size as a number: the `d` of `r.T @ r / d`."""

    name: str


@dataclass(frozen=True, slots=True)
class Pi:
    """The constant pi."""


@dataclass(frozen=True, slots=True)
class Delta:
    """Kronecker's delta of two slots of one size: delta_ij = 1 where i = j, else 0."""

    left: Slot
    right: Slot


@dataclass(frozen=True, slots=True)
class Applied:
    """A scalar function of whole index expressions: `exp(sum_j x_nj theta_j)`.

    Indices free in `args` are the term's; those summed inside an argument are its own.
    """

    fn: str
    args: tuple["Tensor", ...]


@dataclass(frozen=True, slots=True)
class Base:
    """An index expression raised, as a whole, to the exponent of its factor: (1 + theta_i**2)**(-1)."""

    arg: "Tensor"


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix as a function of two indices: `entry` has exactly the free indices `row` and `col`."""

    row: Index
    col: Index
    entry: "Tensor"


@dataclass(frozen=True, slots=True)
class MatrixFunction:
    """A number made of a square matrix A, or an entry of a matrix made of it: inv(A)_ij.

    Without slots `det` and `logdet`; with two `inv`, `cholesky`, the lower triangular L with A = L L^T and a positive
    diagonal, and, of a matrix of ones, `halved`: 1 below the diagonal, 1/2 on it, 0 above.
    """

    fn: str
    of: Grid
    at: tuple[Slot, ...] = ()


Atom = Coordinate | Component | SizeNumber | Pi | Delta | Applied | Base | MatrixFunction


@dataclass(frozen=True, slots=True)
class Term:
    """coefficient * prod atom**exponent, summed over the indices that are not free in its tensor.

    A_ij r_j is sum_j A_ij r_j in a tensor whose free index is i, and A_ij r_j, a matrix, in one whose are i and j.
    """

    coefficient: Fraction
    factors: tuple[tuple[Atom, Fraction], ...] = ()
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        """Return the hash, computed once: terms are looked up far more often than made."""
        if not self._hash:
            powers = [(atom, exponent.numerator, exponent.denominator) for atom, exponent in self.factors]
            found = hash((self.coefficient.numerator, self.coefficient.denominator, tuple(powers)))
            object.__setattr__(self, "_hash", found or 1)
        return self._hash

    def __reduce__(self) -> tuple[type["Term"], tuple[object, ...]]:
        """Leave the hash behind, which is another one in another process."""
        return Term, (self.coefficient, self.factors)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A sum of terms in canonical form, with its free indices: none for a scalar, one for a vector, two for a matrix.

    No terms: zero. Make one with the functions of `recipe_compiler.tensor`, never by hand: proofs rest on the equality
    of canonical forms.
    """

    free: tuple[Index, ...]
    terms: tuple[Term, ...]
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        """Return the hash, computed once, as that of a term is."""
        if not self._hash:
            object.__setattr__(self, "_hash", hash((self.free, self.terms)) or 1)
        return self._hash

    def __reduce__(self) -> tuple[type["Tensor"], tuple[object, ...]]:
        """Leave the hash behind, as a term does."""
        return Tensor, (self.free, self.terms)

    @property
    def is_zero(self) -> bool:
        """Whether the canonical form has no terms: then the expression is zero for every size and every field.

        The reverse does not hold; `Calculus.is_zero` tries harder.
        """
        return not self.terms

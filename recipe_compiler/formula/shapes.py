"""Sizes and shapes of formulas, the kinds of parameters and functions, the domains of blocks."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

Size = str | int
"""A symbolic size (`"d"`: some positive integer) or a fixed one."""

Sizes = Mapping[str, int]
"""Symbolic sizes with the integers they have."""

MAX_SIZE = 10**9
"""The largest number that is a size; positions along an axis are below it."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Rows and columns of a formula; `None` means that there is no such axis.

        Shape()             a scalar
        Shape("d")          a column of d entries
        Shape(None, "d")    a row of d entries
        Shape("d", "k")     a d x k matrix

    A vector of length one is not a scalar: `Shape(1)` has an axis, `Shape()` has none.
    """

    rows: Size | None = None
    cols: Size | None = None

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The sizes of the existing axes, rows first."""
        return tuple(size for size in (self.rows, self.cols) if size is not None)

    @property
    def transposed(self) -> "Shape":
        """The shape of the transpose."""
        return Shape(self.cols, self.rows)

    def __str__(self) -> str:
        """Name the shape as error messages do: `scalar`, `column [d]`, `row [d]`, `matrix [d, k]`."""
        match self.rows, self.cols:
            case None, None:
                return "scalar"
            case rows, None:
                return f"column [{rows}]"
            case None, cols:
                return f"row [{cols}]"
            case rows, cols:
                return f"matrix [{rows}, {cols}]"


SCALAR = Shape()


class Kind(StrEnum):
    """What is declared about the values of a parameter or a function (`is:` in a spec).

    Of every value, at every state:

        positive, nonnegative, nonzero      entries > 0, >= 0, != 0; of a diagonal matrix, those on its diagonal
        symmetric, skew                     A = A.T, A = -A.T
        psd, pd                             symmetric with v.T A v >= 0 for all v, > 0 for all v != 0
        diagonal                            A_ij = 0 for i != j
    """

    REAL = "real"
    POSITIVE = "positive"
    NONNEGATIVE = "nonnegative"
    NONZERO = "nonzero"
    SYMMETRIC = "symmetric"
    SKEW = "skew"
    PSD = "positive semidefinite"
    PD = "positive definite"
    DIAGONAL = "diagonal"
    INTEGER = "integer"
    """Whole numbers, for data alone."""
    INCREASING = "increasing"
    """For data alone: a number is at least that of the row before, an entry of a row above the one before it."""


OF_PARAMETERS = tuple(kind for kind in Kind if kind not in (Kind.INTEGER, Kind.INCREASING))
SIGNS = (Kind.POSITIVE, Kind.NONNEGATIVE, Kind.NONZERO)
"""What is declared of every entry, of a diagonal matrix of those on its diagonal."""
OF_DATA = (Kind.REAL, *SIGNS, Kind.INTEGER, Kind.INCREASING)
"""The kinds that a field of the data may be of: each is about every number in it."""
OF_ROW_STATES = (Kind.REAL, Kind.POSITIVE)
"""The kinds that a state of a recursion may be of: what is claimed of every entry of it before every row."""


class DomainName(StrEnum):
    """The set in which the coordinates of a block lie (`domain:` in a spec)."""

    REAL = "real"
    POSITIVE = "positive"
    NONNEGATIVE = "nonnegative"
    INTERVAL = "interval"
    CIRCLE = "circle"
    SIMPLEX = "simplex"
    ONE_HOT = "one_hot"
    """Rows with a one at one place and zeros elsewhere: a discrete block of a target, drawn by its law alone."""
    COUNTS = "counts"
    """Whole numbers 0, 1, 2, ..., or up to n of `counts(n)`: discrete as well."""


DISCRETE = frozenset({DomainName.ONE_HOT, DomainName.COUNTS})
"""Domains of blocks whose values can be counted: of targets alone."""

HALF_LINE = frozenset({DomainName.POSITIVE, DomainName.NONNEGATIVE})
"""Domains that end at 0."""

WITHOUT_BOUNDARY = frozenset({DomainName.REAL, DomainName.CIRCLE, *DISCRETE})
"""Domains that no step leaves."""

"""A formula of a target read at its data: every symbol a coordinate or an exact number."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from flint import fmpq, fmpq_mat

from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import (
    HOLDS,
    Add,
    Apply,
    Compare,
    Entry,
    Explicit,
    Filled,
    Formula,
    Identity,
    MatMul,
    Multiply,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import SCALAR, DomainName, Shape, Size
from recipe_compiler.verify.from_data.values import (
    ONE,
    Column,
    Coordinate,
    NotReadError,
    Value,
    called,
    coordinate,
    exponential,
    joined,
    logarithm,
    number,
    powered,
    product,
    scaled,
    total,
)

HALF_LINE = frozenset({DomainName.POSITIVE, DomainName.NONNEGATIVE})

Matrix = tuple[tuple[Value, ...], ...]
"""Entries row by row; a scalar is 1 x 1, a column n x 1."""


@dataclass(frozen=True, slots=True)
class Known:
    """The sizes, parameters and data of a target at which its formulas are read.

    `data` holds each field by the entries of one datum, row by row.
    """

    declarations: Declarations
    sizes: Mapping[str, int]
    parameters: Mapping[str, tuple[tuple[fmpq, ...], ...]]
    data: Mapping[str, tuple[tuple[Column, ...], ...]]
    divided: Mapping[Coordinate, Coordinate] = field(default_factory=dict)
    """Coordinates that are read as others over a positive one."""

    def coordinate(self, z: Coordinate) -> Value:
        """Return a coordinate as it is read."""
        if z not in self.divided:
            return coordinate(z)
        over = powered(coordinate(self.divided[z]), Fraction(-1), self.positive)
        return product(coordinate(z), over)

    def length(self, size: Size | None) -> int:
        """Return a size as a number, 1 where there is no axis."""
        if size is None:
            return 1
        if isinstance(size, int):
            return size
        if size not in self.sizes:
            raise NotReadError(f"the size {size} is not known")
        return self.sizes[size]

    def positive(self, z: Coordinate) -> bool:
        """Whether a coordinate lives on the positive half line."""
        return any(b.name == z[0] and b.domain.name in HALF_LINE for b in self.declarations.blocks)

    def on_line(self, z: Coordinate) -> bool:
        """Whether a coordinate runs over the whole line."""
        return any(b.name == z[0] and b.domain.name is DomainName.REAL for b in self.declarations.blocks)

    def coordinates(self, block: str) -> Iterator[Coordinate]:
        """Yield the coordinates of a block."""
        own = next(b for b in self.declarations.blocks if b.name == block)
        for k in range(self.length(own.shape.rows) * self.length(own.shape.cols)):
            yield block, k


def read(formula: Formula, known: Known) -> Value:
    """Return a scalar formula with everything that is known put in.

    Raises:
        NotReadError: it contains something that is not known, or of a form that is not read.
    """
    ((value,),) = read_matrix(formula, known)
    return value


def read_matrix(formula: Formula, known: Known) -> Matrix:
    """Return the entries of a formula, as `read` does."""
    return _Reading(known).of(formula)


@dataclass(frozen=True, slots=True)
class _Reading:
    known: Known

    def of(self, formula: Formula) -> Matrix:
        """Return the entries of a formula."""
        match formula:
            case Number(x):
                return ((number(fmpq(x.numerator, x.denominator)),),)
            case Pi():
                return ((called("pi", Value()),),)
            case Symbol():
                return self._symbol(formula)
            case Identity(size):
                n = self.known.length(size)
                return tuple(tuple(number(fmpq(int(i == j))) for j in range(n)) for i in range(n))
            case Filled(value, shape):
                return tuple((number(fmpq(value)),) * self.known.length(shape.cols) for _ in range(self._rows(shape)))
            case Add(terms):
                return self._sum([self.of(term) for term in terms])
            case Multiply(left, right):
                return self._times(self.of(left), self.of(right))
            case MatMul(left, right):
                return _matmul(self.of(left), self.of(right))
            case Transpose(arg):
                return tuple(zip(*self.of(arg), strict=True))
            case Entry(arg, at):
                return ((_entry(self.of(arg), at),),)
            case Explicit(rows):
                return tuple(tuple(self._scalar(x) for x in row) for row in rows)
            case Power(base, exponent):
                return self._power(base, exponent)
            case Apply("where", (Compare() as condition, yes, no)):
                return self._pieces(condition, yes, no)
            case Apply(fn, args):
                return self._applied(fn, args)
            case _:
                raise NotReadError(f"{type(formula).__name__.lower()} is not read")

    def _rows(self, shape: Shape) -> int:
        return self.known.length(shape.rows)

    def _scalar(self, formula: Formula) -> Value:
        ((value,),) = self.of(formula)
        return value

    def _symbol(self, symbol: Symbol) -> Matrix:
        match symbol.role:
            case Role.SIZE:
                return ((number(fmpq(self.known.length(symbol.name))),),)
            case Role.BLOCK:
                rows, cols = self._rows(symbol.shape), self.known.length(symbol.shape.cols)
                return tuple(
                    tuple(self.known.coordinate((symbol.name, i * cols + j)) for j in range(cols)) for i in range(rows)
                )
            case Role.PARAMETER if symbol.name in self.known.parameters:
                return tuple(tuple(number(x) for x in row) for row in self.known.parameters[symbol.name])
            case Role.DATUM | Role.INDEX if symbol.name in self.known.data:
                return tuple(tuple(number(x) for x in row) for row in self.known.data[symbol.name])
            case _:
                raise NotReadError(f"{symbol.name} is not known")

    @staticmethod
    def _sum(terms: list[Matrix]) -> Matrix:
        return tuple(
            tuple(total(term[i][j] for term in terms) for j in range(len(terms[0][0]))) for i in range(len(terms[0]))
        )

    @staticmethod
    def _times(left: Matrix, right: Matrix) -> Matrix:
        if _is_scalar(left) and not _is_scalar(right):
            return tuple(tuple(product(left[0][0], x) for x in row) for row in right)
        if _is_scalar(right) and not _is_scalar(left):
            return tuple(tuple(product(x, right[0][0]) for x in row) for row in left)
        return tuple(tuple(product(x, y) for x, y in zip(*rows, strict=True)) for rows in zip(left, right, strict=True))

    def _power(self, base: Formula, exponent: Formula) -> Matrix:
        k = self._scalar(exponent).number
        if not isinstance(k, fmpq):
            raise NotReadError("a power with an unknown exponent is not read")
        by = Fraction(int(k.p), int(k.q))
        return tuple(tuple(powered(x, by, self.known.positive) for x in row) for row in self.of(base))

    def _pieces(self, condition: Compare, yes: Formula, no: Formula) -> Matrix:
        """Return what a `where` is datum by datum: the data alone decide which piece it is."""
        if condition.shape != SCALAR:
            raise NotReadError("where() with a condition for each entry is not read")
        demand_unrounded(condition)
        left, right = self._scalar(condition.left).number, self._scalar(condition.right).number
        if left is None or right is None:
            raise NotReadError("where() with a condition on the state is not read")
        holds = joined(left, right, lambda x, y: fmpq(int(HOLDS[condition.op](x, y))))
        one, other = number(holds), number(joined(ONE, holds, lambda x, y: x - y))
        return self._sum([self._times(((one,),), self.of(yes)), self._times(((other,),), self.of(no))])

    def _applied(self, fn: str, args: tuple[Formula, ...]) -> Matrix:
        if fn in _OF_MATRICES:
            return _of_matrix(fn, self.of(args[0]))
        if fn in _OF_TWO:
            return _of_two(_OF_TWO[fn], *map(self.of, args))
        if len(args) != 1:
            raise NotReadError(f"{fn} is not read")
        return tuple(tuple(self._elementwise(fn, x) for x in row) for row in self.of(args[0]))

    def _elementwise(self, fn: str, x: Value) -> Value:
        positive = self.known.positive
        match fn:
            case "exp":
                return exponential(x)
            case "log":
                return logarithm(x, positive)
            case "log1p":
                return logarithm(total((number(ONE), x)), positive)
            case "expm1":
                return total((exponential(x), number(-ONE)))
            case "softplus":
                return logarithm(total((number(ONE), exponential(x))), positive)
            case "sqrt":
                return powered(x, Fraction(1, 2), positive)
            case _:
                return called(fn, x)


_OF_MATRICES = frozenset({"sum", "trace", "diag", "inv"})


def demand_unrounded(condition: Compare) -> None:
    """Raise NotReadError for a condition that rounding may decide in a run: 0.03 + 0.26 > 0.29 holds of doubles.

    Names, and numbers that a double holds, are compared there as they are.
    """
    for side in (condition.left, condition.right):
        if not isinstance(side, Symbol) and not _is_double(side):
            raise NotReadError("where() with a condition that rounding may decide is not read")


def _is_double(formula: Formula) -> bool:
    return isinstance(formula, Number) and Fraction(float(formula.value)) == formula.value


def _of_matrix(fn: str, matrix: Matrix) -> Matrix:
    match fn:
        case "sum":
            return ((total(x for row in matrix for x in row),),)
        case "trace":
            return ((total(row[k] for k, row in enumerate(matrix)),),)
        case "diag":
            column = [x for row in matrix for x in row]
            return tuple(tuple(x if i == j else Value() for j in range(len(column))) for i, x in enumerate(column))
        case _:
            return _inverse(matrix)


_OF_TWO = {"minimum": min, "maximum": max}


def _of_two(fn: Callable[[fmpq, fmpq], fmpq], left: Matrix, right: Matrix) -> Matrix:
    """Return the smaller or the larger one of known numbers, entry by entry."""
    found: list[tuple[Value, ...]] = []
    for xs, ys in zip(left, right, strict=True):
        pairs = [(x.number, y.number) for x, y in zip(xs, ys, strict=True)]
        if any(x is None or y is None for x, y in pairs):
            raise NotReadError("minimum or maximum of unknown numbers is not read")
        found.append(tuple(number(joined(x, y, fn)) for x, y in pairs if x is not None and y is not None))
    return tuple(found)


def _inverse(matrix: Matrix) -> Matrix:
    numbers = [x.number for row in matrix for x in row]
    known = [x for x in numbers if isinstance(x, fmpq)]
    if len(known) < len(numbers):
        raise NotReadError("the inverse of an unknown matrix is not read")
    try:
        found = fmpq_mat(len(matrix), len(matrix), known).inv()
    except ZeroDivisionError as error:
        raise NotReadError("a matrix is singular at the values of the build") from error
    return tuple(tuple(number(x) for x in row) for row in found.tolist())


def _matmul(left: Matrix, right: Matrix) -> Matrix:
    columns = tuple(zip(*right, strict=True))
    return tuple(
        tuple(total(_dot(x, y) for x, y in zip(row, column, strict=True)) for column in columns) for row in left
    )


def _dot(x: Value, y: Value) -> Value:
    for a, b in ((x, y), (y, x)):
        if a.number is not None:
            return scaled(b, a.number)
    return product(x, y)


def _entry(matrix: Matrix, at: tuple[int, ...]) -> Value:
    if len(at) == 2:
        return matrix[at[0]][at[1]]
    return matrix[at[0]][0] if len(matrix[0]) == 1 else matrix[0][at[0]]


def _is_scalar(matrix: Matrix) -> bool:
    return len(matrix) == len(matrix[0]) == 1

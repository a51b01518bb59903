"""Is a formula of a declared kind? By structure for every value it may take; refuted by an exact point."""

from fractions import Fraction

from recipe_compiler.algebra.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.evaluate import NoValueError, evaluate, is_certainly
from recipe_compiler.algebra.instances import NoInstanceError
from recipe_compiler.algebra.matrices import Rows, TooLargeError
from recipe_compiler.algebra.negative import negative_direction
from recipe_compiler.algebra.point import Point
from recipe_compiler.algebra.psd import semidefinite, sign
from recipe_compiler.algebra.transposes import is_symmetric, kinds_of, plain
from recipe_compiler.algebra.witness import points
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Apply, Filled, Formula, FunctionAt, Identity, Multiply, Number, Symbol
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.verify.sizes import Sizes

POINTS = 24


def is_of_kind(formula: Formula, kind: Kind, declarations: Declarations) -> bool:
    """Whether structure shows that a formula is of a kind, for all values of its names."""
    match kind:
        case Kind.REAL:
            return True
        case Kind.POSITIVE:
            return sign(formula, declarations).positive
        case Kind.NONNEGATIVE:
            return sign(formula, declarations).nonnegative
        case Kind.NONZERO:
            return sign(formula, declarations).nonzero
        case Kind.PD | Kind.PSD:
            found = semidefinite(formula, declarations)
            return found is not None and (found.strict or kind is Kind.PSD) and _symmetric(formula, declarations)
        case Kind.SYMMETRIC:
            return _symmetric(formula, declarations)
        case Kind.SKEW:
            return _is_skew(plain(formula, declarations), declarations)
        case Kind.DIAGONAL:
            return _is_diagonal(plain(formula, declarations), declarations)


def counterexample(
    formula: Formula, kind: Kind, declarations: Declarations, sizes: tuple[Sizes, ...]
) -> tuple[tuple[str, str], ...] | None:
    """Return exact values at which a formula is not of a kind; None if none was found."""
    for size in sizes:
        try:
            a = rows(formula, Setting(declarations, size))
            for at in points(declarations, size, POINTS):
                if _violates(a, kind, at):
                    return at.text
        except (NotScalarisableError, TooLargeError, NoInstanceError):
            continue
    return None


def violates_exactly(numbers: tuple[tuple[Fraction, ...], ...], kind: Kind) -> bool:
    """Whether numbers are not of a kind."""
    flat = [x for row in numbers for x in row]
    match kind:
        case Kind.REAL:
            return False
        case Kind.POSITIVE:
            return not all(x > 0 for x in flat)
        case Kind.NONNEGATIVE:
            return not all(x >= 0 for x in flat)
        case Kind.NONZERO:
            return not all(flat)
        case Kind.DIAGONAL:
            return any(x for i, row in enumerate(numbers) for j, x in enumerate(row) if i != j)
        case Kind.SKEW:
            return any(x != -numbers[j][i] for i, row in enumerate(numbers) for j, x in enumerate(row))
        case Kind.SYMMETRIC:
            return any(x != numbers[j][i] for i, row in enumerate(numbers) for j, x in enumerate(row))
        case Kind.PSD:
            return violates_exactly(numbers, Kind.SYMMETRIC) or negative_direction(numbers) is not None
        case Kind.PD:
            return violates_exactly(numbers, Kind.PSD) or _determinant(numbers) == 0


def _violates(a: Rows, kind: Kind, at: Point) -> bool:
    try:
        values = [[evaluate(x, at.leaf) for x in row] for row in a]
    except NoValueError:
        return False
    exact = tuple(tuple(x for x in row if isinstance(x, Fraction)) for row in values)
    if all(len(row) == len(line) for row, line in zip(exact, values, strict=True)):
        return violates_exactly(exact, kind)
    return kind in {Kind.POSITIVE, Kind.NONNEGATIVE} and any(is_certainly(x, -1) for row in values for x in row)


def _determinant(numbers: tuple[tuple[Fraction, ...], ...]) -> Fraction:
    """Return the determinant by elimination."""
    a = [list(row) for row in numbers]
    found = Fraction(1)
    for k in range(len(a)):
        pivot = next((i for i in range(k, len(a)) if a[i][k] != 0), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            a[k], a[pivot], found = a[pivot], a[k], -found
        found *= a[k][k]
        for i in range(k + 1, len(a)):
            share = a[i][k] / a[k][k]
            a[i] = [x - share * y for x, y in zip(a[i], a[k], strict=True)]
    return found


def _symmetric(formula: Formula, declarations: Declarations) -> bool:
    return not formula.shape.sizes or is_symmetric(formula, declarations)


def _is_skew(formula: Formula, declarations: Declarations) -> bool:
    """Whether a plain formula is zero, a skew name, or a multiple of one."""
    match formula:
        case Filled(0, _):
            return True
        case Symbol() | FunctionAt():
            return Kind.SKEW in kinds_of(formula, declarations)
        case Multiply(left, right) if not left.shape.sizes:
            return _is_skew(right, declarations)
        case Multiply(left, right) if not right.shape.sizes:
            return _is_skew(left, declarations)
        case _:
            return False


def _is_diagonal(formula: Formula, declarations: Declarations) -> bool:
    match formula:
        case Filled(0, _) | Identity() | Apply("diag"):
            return True
        case Symbol() | FunctionAt():
            return not formula.shape.sizes or Kind.DIAGONAL in kinds_of(formula, declarations)
        case Multiply(left, right) if not left.shape.sizes:
            return _is_diagonal(right, declarations)
        case Multiply(left, right) if not right.shape.sizes:
            return _is_diagonal(left, declarations)
        case Apply("inv", (arg,)):
            return _is_diagonal(arg, declarations)
        case _:
            return not formula.shape.sizes or isinstance(formula, Number)

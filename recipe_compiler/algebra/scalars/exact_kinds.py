"""Of which kinds are exact numbers? Decided, for a matrix of any size, in rational arithmetic."""

from fractions import Fraction
from functools import lru_cache

from recipe_compiler.algebra.scalars.negative_direction import REMEMBERED, determinant, negative_direction
from recipe_compiler.formula.shapes import Kind, Shape

Numbers = tuple[tuple[Fraction, ...], ...]

SIGNS = frozenset({Kind.POSITIVE, Kind.NONNEGATIVE, Kind.NONZERO})
"""Kinds that are about entries; of a diagonal matrix, about those on its diagonal."""


@lru_cache(maxsize=REMEMBERED)
def kinds_shown(numbers: Numbers, shape: Shape) -> tuple[Kind, ...]:
    """Return the kinds that numbers of a shape are of, each as narrow as it can be said."""
    if len(shape.sizes) < 2 or len(numbers) != len(numbers[0]):
        return _first(numbers, (Kind.POSITIVE, Kind.NONNEGATIVE, Kind.NONZERO)) or (Kind.REAL,)
    if not violates_exactly(numbers, Kind.DIAGONAL):
        diagonal = diagonal_of(numbers)
        definite = _first(numbers, (Kind.PD, Kind.PSD))
        return (Kind.DIAGONAL, *_first(diagonal, (Kind.POSITIVE, Kind.NONNEGATIVE, Kind.NONZERO)), *definite)
    if not violates_exactly(numbers, Kind.SKEW):
        return (Kind.SKEW,)
    if not violates_exactly(numbers, Kind.SYMMETRIC):
        return _first(numbers, (Kind.PD, Kind.PSD, Kind.SYMMETRIC))
    return _first(numbers, (Kind.POSITIVE, Kind.NONNEGATIVE)) or (Kind.REAL,)


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
            return violates_exactly(numbers, Kind.PSD) or determinant(numbers) == 0


def diagonal_of(numbers: Numbers) -> Numbers:
    """Return the diagonal of a square matrix as a column."""
    return tuple((row[k],) for k, row in enumerate(numbers))


def _first(numbers: Numbers, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
    """Return the first of some kinds that numbers are of, as a tuple of one; empty if they are of none."""
    return next(((kind,) for kind in kinds if not violates_exactly(numbers, kind)), ())

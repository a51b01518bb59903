"""Rational points inside the domains of blocks."""

from collections.abc import Mapping
from fractions import Fraction
from random import Random

from sympy import Expr, Symbol

from recipe_compiler.algebra.points import sample_fields as instances
from recipe_compiler.algebra.points.sample_fields import NoInstanceError, as_fraction
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, ball, evaluate, is_certainly
from recipe_compiler.algebra.scalars.symbols import positions
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.shapes import DomainName, Kind


class EmptyDomainError(Exception):
    """Nothing lies between the bounds at the parameters drawn: they are not admissible, others may be."""


def inside(
    block: Block,
    declarations: Declarations,
    sizes: Mapping[str, int],
    numbers: Mapping[Expr, Fraction],
    style: int,
    random: Random,
) -> tuple[Fraction, ...]:
    """Return rational coordinates in the interior of a block's domain; `numbers` holds the parameters its bounds need.

    Raises:
        EmptyDomainError: no rational point lies between the bounds.
        NoInstanceError: bounds that have no value.
    """
    n = len(positions(block.shape, sizes))
    match block.domain.name:
        case DomainName.REAL:
            return tuple(as_fraction(instances.number(style, random)) for _ in range(n))
        case DomainName.POSITIVE | DomainName.NONNEGATIVE:
            return tuple(as_fraction(instances.signed_number((Kind.POSITIVE,), style, random)) for _ in range(n))
        case DomainName.SIMPLEX:
            weights = [random.randint(1, 1 + style) for _ in range(n + 1)]
            return tuple(Fraction(w, sum(weights)) for w in weights[:n])
        case DomainName.INTERVAL | DomainName.CIRCLE:
            if not block.domain.bounds:
                return tuple(Fraction(random.randint(0, 6)) for _ in range(n))
            return tuple(_between(block, declarations, sizes, numbers, random) for _ in range(n))


def _between(
    block: Block,
    declarations: Declarations,
    sizes: Mapping[str, int],
    numbers: Mapping[Expr, Fraction],
    random: Random,
) -> Fraction:
    """Return a rational strictly between two bounds."""

    def leaf(e: Expr) -> Fraction:
        if isinstance(e, Symbol) and e in numbers:
            return numbers[e]
        raise NoValueError("a bound depends on the state")

    setting = Setting(declarations, sizes)
    try:
        low, high = (evaluate(rows(bound, setting)[0][0], leaf) for bound in block.domain.bounds)
    except NoValueError as reason:
        raise NoInstanceError(f"the bounds of {block.name}: {reason}") from None
    share = Fraction(random.randint(1, 7), 8)
    found = _rational(low) + (_rational(high) - _rational(low)) * share
    if not (_less(low, found) and _less(found, high)):
        raise EmptyDomainError(f"the domain of {block.name} is empty at the parameters drawn")
    return found


def _rational(value: Value) -> Fraction:
    """Return a simple rational close to a value."""
    if isinstance(value, Fraction):
        return value
    return Fraction(float(value.mid())).limit_denominator(64)


def _less(a: Value, b: Value) -> bool:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a < b
    return is_certainly(ball(b) - ball(a), 1)

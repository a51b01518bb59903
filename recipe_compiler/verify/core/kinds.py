"""Is a formula of a declared kind? Refuted by an exact point."""

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

from recipe_compiler import limits
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import is_defined_at, points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate, is_certainly
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.rational_matrices import violates_exactly
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.verdict import Evidence
from recipe_compiler.verify.core.sizes import Sizes


def find_counterexample(
    formula: Formula, kind: Kind, declarations: Declarations, sizes: tuple[Sizes, ...]
) -> Evidence | None:
    """Return exact values at which a formula is not of a kind; None where no such point was met, which is no proof.

    A: [n, n], or a scalar for signs. The point is one with A != A.T, or with a rational v and v.T A v < 0, all in exact
    arithmetic; it satisfies the declarations, and the formula has a value there. The values are pairs of a name and its
    text, sizes included.
    """
    for setting, at, values in _list_instances(formula, declarations, sizes):
        if _is_violated(values, kind) and is_defined_at((formula,), setting, at.leaf):
            return at.text
    return None


def is_of_kind_somewhere(formula: Formula, kind: Kind, declarations: Declarations, sizes: tuple[Sizes, ...]) -> bool:
    """Whether an exact point is known at which a formula is of a kind."""
    found = (_read_rationals(values) for _, _, values in _list_instances(formula, declarations, sizes))
    return any(exact is not None and not violates_exactly(exact, kind) for exact in found)


def _list_instances(
    formula: Formula, declarations: Declarations, sizes: tuple[Sizes, ...]
) -> Iterator[tuple[Setting, Point, list[list[Value]]]]:
    """Yield the values of a formula at admissible points, of some sizes in turn."""
    for size in sizes:
        setting = Setting(declarations, size)
        try:
            entries = rows(formula, setting)
            for at in points(declarations, size, limits.POINTS):
                with suppress(NoValueError):
                    yield setting, at, [[evaluate(x, at.leaf) for x in row] for row in entries]
        except (NotScalarisableError, TooLargeError, NoInstanceError):
            continue


def _read_rationals(values: list[list[Value]]) -> tuple[tuple[Fraction, ...], ...] | None:
    exact = tuple(tuple(x for x in row if isinstance(x, Fraction)) for row in values)
    return exact if all(len(row) == len(line) for row, line in zip(exact, values, strict=True)) else None


def _is_violated(values: list[list[Value]], kind: Kind) -> bool:
    """Whether values are certainly not of a kind."""
    exact = _read_rationals(values)
    if exact is not None:
        return violates_exactly(exact, kind)
    return kind in {Kind.POSITIVE, Kind.NONNEGATIVE} and any(is_certainly(x, -1) for row in values for x in row)

"""What is known of a datum in a branch of a `where` whose condition is about data alone.

In `where(y > 0, log(y), 0)` the logarithm is of a positive number: a branch counts for those data that select it.
"""

from dataclasses import dataclass, replace

from recipe_compiler.formula.declaration import Datum, Declarations
from recipe_compiler.formula.expression import Compare, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.formula.show import text

OPPOSITE = {">": "<=", "<=": ">", "<": ">=", ">=": "<"}
"""Comparisons of numbers, to what holds where they do not; what is not equal is on either side."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """Declarations that hold in a branch, and which facts in them come from its conditions."""

    declarations: Declarations
    facts: frozenset[str] = frozenset()

    def within(self, condition: Compare, *, holds: bool) -> "Guarded":
        """Return what is known where a condition on a datum holds, or fails: more kinds of its field, or the condition.

        A condition on vectors holds entry by entry, and gives nothing about their combinations.
        """
        if condition.shape != SCALAR:
            return self
        declared = self.declarations
        for datum in declared.data:
            if new := set(kinds_of_guard(condition, datum, holds=holds)) - set(datum.known):
                own = replace(datum, kinds=tuple(dict.fromkeys((*datum.kinds, *sorted(new)))))
                data = tuple(own if other is datum else other for other in declared.data)
                facts = {f"{datum.name} is {kind}" for kind in new}
                return Guarded(replace(declared, data=data), self.facts | facts)
        if not holds and condition.op not in OPPOSITE:
            return self
        kept = condition if holds else replace(condition, op=OPPOSITE[condition.op])
        more = replace(declared, assume=tuple(dict.fromkeys((*declared.assume, kept))))
        return Guarded(more, self.facts | {text(kept)} - {text(c) for c in declared.assume})


def is_zero_by_guard(condition: Compare, datum: Datum, *, holds: bool) -> bool:
    """Whether a field is 0 where a condition on it holds, or fails: y == 0, or y > 0 fails of a nonnegative y."""
    op = _comparison_with_zero(condition, datum)
    nonnegative = {Kind.POSITIVE, Kind.NONNEGATIVE} & set(datum.known)
    return (op, holds) == ("==", True) or bool(nonnegative and (op, holds) in {(">", False), ("<=", True)})


def kinds_of_guard(condition: Compare, datum: Datum, *, holds: bool) -> tuple[Kind, ...]:
    """Return the kinds that a field has where a condition on it holds, or fails: positive where y > 0."""
    op = _comparison_with_zero(condition, datum)
    nonnegative = {Kind.POSITIVE, Kind.NONNEGATIVE} & set(datum.known)
    if (op, holds) in {(">", True), ("<=", False)} or (nonnegative and (op, holds) == ("==", False)):
        return (Kind.POSITIVE,)
    if (op, holds) in {(">=", True), ("<", False)}:
        return (Kind.NONNEGATIVE,)
    return (Kind.NONZERO,) if (op, holds) == ("==", False) else ()


def _comparison_with_zero(condition: Compare, datum: Datum) -> str | None:
    """Return how a condition compares a field with 0; None where it does not."""
    match condition:
        case Compare(op, Symbol(name, _, Role.DATUM), Number(x)) if name == datum.name and x == 0:
            return op
        case _:
            return None

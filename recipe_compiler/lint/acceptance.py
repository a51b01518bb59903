"""By what a step is accepted: from a comparison with a uniform draw u to log u < L, with probability min(1, exp(L)).

It is read off the operations, so that exponentials are never taken to be undone.
"""

from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.lint.answer import Operation, Trace
from recipe_compiler.lint.visited import Evaluation, NotFollowedError, expanded


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A move is accepted where log u < L, or above; L is a sum of values of operations and of their logarithms."""

    terms: tuple[tuple[Fraction, int, bool], ...]
    """A factor, the place of an operation, and whether its logarithm is meant."""
    where_it_holds: bool
    """Whether log u < L is where the comparison holds."""

    def log_ratio(self, at: Evaluation) -> Expr:
        """Return L.

        Raises:
            NotFollowedError: the logarithm of what is not seen to be positive: u is never below a negative number.
        """
        found: list[Expr] = []
        for factor, place, is_logarithm in self.terms:
            value = at.value(place)
            if is_logarithm and not value.is_positive:
                raise NotFollowedError("the acceptance ratio is not known to be positive")
            found.append(rational(factor) * (sympy.log(value) if is_logarithm else value))
        return expanded(sympy.Add(*found))


def acceptance(trace: Trace) -> Acceptance:
    """Return what the comparison of a trace, `left < right`, says of its uniform draw.

    Raises:
        NotFollowedError: it is not log u < L or u < R, with what is no function of u on the other side.
    """
    reading = _Comparison(trace)
    left, right = trace.compared
    if (left in reading.by_chance) == (right in reading.by_chance):
        raise NotFollowedError("a move is accepted by something other than a comparison of u with a known value")
    return reading.below(left, right, True) if left in reading.by_chance else reading.below(right, left, False)


def _by_chance(trace: Trace) -> frozenset[int]:
    found: set[int] = set()
    for k, one in enumerate(trace.operations):
        if one.op == "uniform" or found.intersection(one.parts):
            found.add(k)
    return frozenset(found)


class _Comparison:
    """A comparison of a function of u with a bound."""

    def __init__(self, trace: Trace) -> None:
        self.operations = trace.operations
        self.by_chance = _by_chance(trace)

    def below(self, chance: int, bound: int, holds: bool) -> Acceptance:
        """Return what it says that a function of u is below a bound, or above where `holds` is False."""
        around: list[tuple[str, int]] = []
        while self.operations[chance].op in ("add", "mul") and not self._is_complement(chance):
            own, other = self._apart(chance)
            around.append((self.operations[chance].op, other))
            chance = own
        one = self.operations[chance]
        if one.op == "call" and one.name == "log" and self._is_uniform(one.parts[0]):
            return self._by_logarithm(bound, around, holds)
        if not self._is_uniform(chance) or any(op == "add" for op, _ in around):
            raise NotFollowedError("a move is not accepted when u, or log(u), is below a bound")
        others = [(-c, k, is_log) for _, place in around for c, k, is_log in self._logarithm(place)]
        return Acceptance((*self._logarithm(bound, whole=not around), *others), holds)

    def _by_logarithm(self, bound: int, around: list[tuple[str, int]], holds: bool) -> Acceptance:
        """Return log u < L, what stands around log u taken to the other side, the outermost first."""
        scale, added = Fraction(1), list[tuple[Fraction, int]]()
        for op, place in around:
            if op == "add":
                added.append((-1 / scale, place))
            elif self.operations[place].op == "number" and self.operations[place].value:
                scale *= self.operations[place].value
            else:
                raise NotFollowedError("log u is multiplied by something that is no number")
        if scale > 0 and not added:
            bound = self._unbounded(bound, 0)
        terms = [(1 / scale, bound), *added]
        return Acceptance(tuple((c, k, False) for c, k in terms), holds == (scale > 0))

    def _apart(self, place: int) -> tuple[int, int]:
        """Return the part that u stands in, and the other one."""
        a, b = self.operations[place].parts
        if (a in self.by_chance) and (b in self.by_chance):
            raise NotFollowedError("u occurs twice in the condition for acceptance")
        return (a, b) if a in self.by_chance else (b, a)

    def _is_uniform(self, place: int) -> bool:
        return self.operations[place].op == "uniform" or self._is_complement(place)

    def _is_complement(self, place: int) -> bool:
        """Whether an operation is 1 - u, as uniform as u."""
        one = self.operations[place]
        if one.op != "add":
            return False
        own, other = self._apart(place)
        inner = self.operations[own]
        turned = inner.op == "mul" and any(self.operations[k].op == "uniform" for k in inner.parts)
        minus = turned and any(_is_number(self.operations[k], -1) for k in inner.parts)
        return minus and _is_number(self.operations[other], 1)

    def _unbounded(self, place: int, most: int) -> int:
        """Return what min(most, x) is the smaller one of: log u is below 0, and u below 1, as it is."""
        one = self.operations[place]
        if one.op == "min" and any(_is_number(self.operations[k], most) for k in one.parts):
            return next((k for k in one.parts if not _is_number(self.operations[k], most)), place)
        return place

    def _logarithm(self, place: int, *, whole: bool = False) -> list[tuple[Fraction, int, bool]]:
        """Return the logarithm of what a ratio is made of; `whole`: of all of it, whose bound by 1 says nothing."""
        place = self._unbounded(place, 1) if whole else place
        one = self.operations[place]
        match one.op:
            case "call" if one.name == "exp":
                return [(Fraction(1), self._unbounded(one.parts[0], 0) if whole else one.parts[0], False)]
            case "mul":
                return [*self._logarithm(one.parts[0]), *self._logarithm(one.parts[1])]
            case "pow" if self.operations[one.parts[1]].op == "number":
                exponent = self.operations[one.parts[1]].value
                return [(exponent * c, k, is_log) for c, k, is_log in self._logarithm(one.parts[0])]
            case _:
                return [(Fraction(1), place, True)]


def _is_number(one: Operation, value: int) -> bool:
    return one.op == "number" and one.value == value

"""Pass: loops of a small literal count become straight lines.

The statements of a body are written out once per iteration, the loop variable replaced by its number; Kronecker deltas
then become 0 or 1, like terms are added up, and terms that are 0 are left out. A sum over such a loop becomes one
expression, its terms in the order of the iterations, so the value stays the same to the last bit, up to like terms.

Worked example: total = 0; for k in range(2): total += A[0, k] * r[k]; x = total becomes x = A[0, 0] * r[0] + A[0, 1] *
r[1].
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import groupby
from math import prod

from recipe_compiler.program.combine import plus, times
from recipe_compiler.program.loops import (
    Assign,
    Body,
    Call,
    Constant,
    For,
    Increment,
    Kronecker,
    Plus,
    Ref,
    Scalar,
    Statement,
    Times,
)
from recipe_compiler.program.traverse import parts_of, refs, refs_of, rewritten, with_bodies, with_parts

ITERATIONS = 16
"""The largest literal count of a loop that is written out."""
LINES = 64
"""The most iterations of loops in one another that are written out where nothing asks for it: those that make a matrix
of 11 rows and its inverse would be 4,000 lines."""

ZERO, ONE = Constant(Fraction(0)), Constant(Fraction(1))


def unroll(body: Iterable[Statement]) -> Body:
    """Return a body with loops of at most ITERATIONS iterations written out, and their sums as single expressions."""
    written_out = (one for statement in body for one in _unrolled(statement))
    return _summed(tuple(one for one in written_out if not (isinstance(one, Increment) and one.value == ZERO)))


def written_out(body: Iterable[Statement], arrays: Iterable[str]) -> Body:
    """Return a body with its loops written out, so that every position in `arrays` is a number; others stay if long."""
    names = frozenset(arrays)
    runs = groupby(body, key=lambda one: isinstance(one, For) and _iterations(one) > LINES and _literal(one, names))
    return tuple(one for stays, run in runs for one in (run if stays else unroll(run)))


def _iterations(loop: For) -> int:
    """Return how many iterations a loop and the longest within it come to; 0 where a count is no number."""
    inner = (_iterations(one) for one in loop.body if isinstance(one, For))
    return loop.count * max(inner, default=1) if isinstance(loop.count, int) else 0


def _literal(statement: Statement, names: frozenset[str]) -> bool:
    """Whether every position in arrays of some names is a number already."""
    return all(isinstance(place, int) for ref in refs((statement,)) if ref.name in names for place in ref.at)


def _unrolled(statement: Statement) -> Iterator[Statement]:
    match statement:
        case For(index, int(count), body) if count <= ITERATIONS:
            for iteration in range(count):
                yield from unroll(at_iteration(inner, index, iteration) for inner in body)
        case _:
            yield with_bodies(statement, unroll)


def at_iteration(statement: Statement, index: str, iteration: int) -> Statement:
    """Return a statement with a loop variable replaced by the number of its iteration."""
    return rewritten(
        statement, lambda value: _put(value, index, iteration), lambda target: _moved(target, index, iteration)
    )


def decided(value: Scalar) -> Scalar:
    """Return an expression of literal positions with its Kronecker deltas evaluated."""
    return _put(value, "", 0)


def _put(value: Scalar, index: str, iteration: int) -> Scalar:
    """Return an expression with a loop variable replaced, simplified where factors become 0 or 1."""
    parts = tuple(_put(part, index, iteration) for part in parts_of(value))
    match value:
        case Ref():
            return _moved(value, index, iteration)
        case Plus():
            return plus(_collected(parts))
        case Times():
            left = tuple(factor for factor in parts if factor != ONE)
            if ZERO in left:
                return ZERO
            return (left[0] if len(left) == 1 else Times(left)) if left else ONE
        case Kronecker(left, right):
            left, right = (iteration if place == index else place for place in (left, right))
            literal = isinstance(left, int) and isinstance(right, int)
            return (ONE if left == right else ZERO) if literal else Kronecker(left, right)
        case _:
            made = with_parts(value, parts)
            return ONE if made == Call("exp", (ZERO,)) else made


def _collected(terms: Iterable[Scalar]) -> tuple[Scalar, ...]:
    """Return terms with like ones added up; what cancels, as `mu[j] - mu[i]` does at j = i, is left out."""
    alike: dict[tuple[Scalar, ...], list[Scalar]] = {}
    for term in terms:
        alike.setdefault(tuple(sorted(_split(term)[1], key=repr)), []).append(term)
    found = (group[0] if len(group) == 1 else _added(group) for group in alike.values())
    return tuple(term for term in found if term != ZERO)


def _added(terms: list[Scalar]) -> Scalar:
    coefficient = sum((_split(term)[0] for term in terms), start=Fraction(0))
    return times(coefficient, _split(terms[0])[1]) if coefficient else ZERO


def _split(term: Scalar) -> tuple[Fraction, tuple[Scalar, ...]]:
    """Return the number in a product, and its other factors."""
    factors = term.factors if isinstance(term, Times) else (term,)
    number = prod((factor.value for factor in factors if isinstance(factor, Constant)), start=Fraction(1))
    return number, tuple(factor for factor in factors if not isinstance(factor, Constant))


def _moved(ref: Ref, index: str, iteration: int) -> Ref:
    return Ref(ref.name, tuple(iteration if place == index else place for place in ref.at))


def _summed(body: Body) -> Body:
    """Join `total = 0`, `total += a`, `total += b`, `x = total` into `x = a + b`."""
    found: list[Statement] = []
    place = 0
    while place < len(body):
        match body[place]:
            case Assign(target, value) if value == ZERO:
                end = place + 1
                while end < len(body) and _adds_to(body[end], target):
                    end += 1
                terms = tuple(one.value for one in body[place + 1 : end] if isinstance(one, Increment))
                joined = Assign(target, plus(tuple(term for term in terms if term != ZERO)))
                match body[end : end + 1]:
                    case (Assign(store, Ref() as stored),) if stored == target and target == Ref("total"):
                        found.append(Assign(store, joined.value))
                        end += 1
                    case _:
                        found.append(joined)
                place = end
            case statement:
                found.append(statement)
                place += 1
    return tuple(found)


def _adds_to(statement: Statement, target: Ref) -> bool:
    match statement:
        case Increment(own, value):
            return own == target and all(ref.name != target.name for ref in refs_of(value))
        case _:
            return False

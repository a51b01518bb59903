"""Signs that entries may have, as subsets of {-1, 0, 1}, and their arithmetic. Every rule may only widen a set."""

from collections.abc import Callable
from dataclasses import dataclass

from recipe_compiler.algebra.scalars.transposes import plain
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Filled, Formula, Number
from recipe_compiler.formula.shapes import DISCRETE, DomainName, Kind
from recipe_compiler.formula.show import text
from recipe_compiler.verdict import declared_of

MINUS, ZERO, PLUS = -1, 0, 1
ANY = frozenset({MINUS, ZERO, PLUS})


@dataclass(frozen=True, slots=True)
class Sign:
    """The signs that entries may have, and the declarations from which this is known."""

    may_be: frozenset[int] = ANY
    given: frozenset[str] = frozenset()

    @property
    def positive(self) -> bool:
        """Whether every entry is positive."""
        return self.may_be == frozenset({PLUS})

    @property
    def nonnegative(self) -> bool:
        """Whether no entry is negative."""
        return MINUS not in self.may_be

    @property
    def nonzero(self) -> bool:
        """Whether no entry is zero."""
        return ZERO not in self.may_be


UNKNOWN = Sign()


def sign_of(*values: int, given: str = "") -> Sign:
    """Return a sign that is one of the values."""
    return Sign(frozenset(values), frozenset({given} if given else ()))


def known(sign: Sign) -> Sign:
    """Return the sign without declarations if nothing is known."""
    return UNKNOWN if sign.may_be == ANY else sign


def product(a: Sign, b: Sign) -> Sign:
    """Return the sign of a product, entry by entry: all products of a sign of each, {0, 1} times {-1} is {0, -1}."""
    return known(Sign(frozenset(x * y for x in a.may_be for y in b.may_be), a.given | b.given))


def plus(a: Sign, b: Sign) -> Sign:
    """Return the sign of a sum of two: of {1} and {0, 1} it is {1}, of {1} and {-1} any."""
    found: set[int] = set()
    for x in a.may_be:
        for y in b.may_be:
            found |= ANY if x * y < 0 else {x or y}
    return known(Sign(frozenset(found), a.given | b.given))


def either(a: Sign, b: Sign) -> Sign:
    """Return the sign of one of two, the union: the sign of a `where` whose condition is unknown."""
    return known(Sign(a.may_be | b.may_be, a.given | b.given))


def extreme(a: Sign, b: Sign, choose: Callable[[int, int], int]) -> Sign:
    """Return the sign of the smaller (`min`) or larger (`max`) of two: max of {-1} and {0, 1} is {0, 1}."""
    return known(Sign(frozenset(choose(x, y) for x in a.may_be for y in b.may_be), a.given | b.given))


def summed(a: Sign) -> Sign:
    """Return the sign of a sum of one or more such entries."""
    return plus(a, a) if {MINUS, PLUS} <= a.may_be else a


def integer_power(a: Sign, n: int) -> Sign:
    """Return the sign of a**n wherever it is defined: for an even n never -1, for a negative n never 0."""
    if n == 0:
        return sign_of(PLUS)
    defined = [x for x in a.may_be if x or n > 0]
    if n % 2:
        return known(Sign(frozenset(defined), a.given))
    return Sign(frozenset(abs(x) for x in defined), frozenset() if ZERO in a.may_be else a.given)


def of_number(n: Number) -> Sign:
    """Return the sign of a constant."""
    return sign_of((n.value > 0) - (n.value < 0))


def of_kinds(name: str, kinds: tuple[Kind, ...], matrix: bool) -> Sign:
    """Return the sign of the entries of a parameter or function of some kinds."""
    off_diagonal = (ZERO,) if matrix and Kind.DIAGONAL in kinds else ()
    whole = not matrix or Kind.DIAGONAL in kinds
    for kind, values in ((Kind.POSITIVE, (PLUS,)), (Kind.NONNEGATIVE, (ZERO, PLUS)), (Kind.NONZERO, (MINUS, PLUS))):
        if kind in kinds:
            return sign_of(*values, *off_diagonal, given=declared_of(name, f"is {kind}"))
    for kind, values in ((Kind.PD, (PLUS,)), (Kind.PSD, (ZERO, PLUS))):
        if kind in kinds and whole:
            return sign_of(*values, *off_diagonal, given=declared_of(name, f"is {kind}"))
    return UNKNOWN


def of_block(block: Block) -> Sign:
    """Return the sign of the coordinates of a block in the interior of its domain."""
    name, bounds = block.domain.name, block.domain.bounds
    if name in {DomainName.POSITIVE, DomainName.NONNEGATIVE, DomainName.SIMPLEX}:
        return sign_of(PLUS, given=declared_of(block.name, "> 0 inside its domain"))
    if name in DISCRETE:
        return sign_of(ZERO, PLUS, given=declared_of(block.name, f"is {name}"))
    if name is DomainName.INTERVAL and len(bounds) == 2:
        low, high = bounds
        if isinstance(low, Number) and low.value >= 0:
            return sign_of(PLUS, given=declared_of(block.name, f"> {low.value} inside its domain"))
        if isinstance(high, Number) and high.value <= 0:
            return sign_of(MINUS, given=declared_of(block.name, f"< {high.value} inside its domain"))
    return UNKNOWN


def assumed(formula: Formula, declarations: Declarations) -> Sign | None:
    """Return the sign that an assumption gives to this very formula, None if there is no such assumption."""
    for compare in declarations.assume:
        for op, left, right in (
            (compare.op, compare.left, compare.right),
            (_mirrored(compare.op), compare.right, compare.left),
        ):
            if plain(left, declarations) != formula or not isinstance(right, Number | Filled):
                continue
            positive = right.value > 0 or (right.value == 0 and op == ">")
            if op in {">", ">="} and right.value >= 0:
                return sign_of(*((PLUS,) if positive else (ZERO, PLUS)), given=text(compare))
            if op in {"<", "<="} and right.value <= 0:
                strict = right.value < 0 or op == "<"
                return sign_of(*((MINUS,) if strict else (MINUS, ZERO)), given=text(compare))
    return None


def _mirrored(op: str) -> str:
    return {">": "<", "<": ">", ">=": "<=", "<=": ">="}.get(op, op)

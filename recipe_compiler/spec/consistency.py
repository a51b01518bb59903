"""Can all that a document declares about its scalars hold together? Where linear arithmetic says no, it is faulty.

Facts are inequalities between sums of atoms with rational coefficients; an atom is any scalar formula that is no such
sum, taken for a number of its own. Elimination (Fourier, Motzkin) adds multiples of facts: one that reads 0 > 0 shows
that those it was added up from exclude each other, whatever the atoms are. What it does not find says nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.expression import Add, Compare, Formula, Multiply, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind
from recipe_compiler.formula.show import text
from recipe_compiler.spec.declarations import Page

MOST_FACTS = 400
"""Facts kept during elimination; beyond it nothing is said."""

Sum = Mapping[Formula | None, Fraction]
"""Atoms to their coefficients; None is the constant."""


@dataclass(frozen=True, slots=True)
class _Declared:
    """What was declared: as written, its entry, and the path to it."""

    says: str
    entry: str
    path: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Fact:
    """`value > 0`, or `>=` where it is not strict, and what it was added up from."""

    value: Sum
    strict: bool
    sources: frozenset[_Declared]


def check_consistency(page: Page, declarations: Declarations) -> None:
    """Add a fault where the domains, signs and assumptions about scalars exclude each other."""
    guilty = _contradiction([*_facts(declarations)])
    if guilty is None:
        return
    last = max(guilty, key=lambda one: (one.path[0] == "assume", one.entry))
    others = sorted(f"`{one.says}`" for one in guilty if one != last)
    beside = f" beside {', '.join(others)}" if others else ""
    problem = f"found `{last.says}`{beside}, which no number satisfies: the domain is empty"
    page.fault(last.path, last.entry, problem, "mend one of them: of an empty domain everything would be true")


def _facts(declarations: Declarations) -> Iterator[_Fact]:
    for parameter in declarations.parameters:
        yield from _signs(parameter)
    for block in declarations.blocks:
        yield from _domain(block)
    for number, compare in enumerate(declarations.assume):
        yield from _compared(compare, _Declared(text(compare), f"assume[{number}]", ("assume", number)))


def _signs(parameter: Parameter) -> Iterator[_Fact]:
    for kind in parameter.kinds:
        if parameter.shape == SCALAR and kind in (Kind.POSITIVE, Kind.NONNEGATIVE):
            path = ("parameters", parameter.name, "is")
            by = _Declared(f"{parameter.name} is {kind.value}", ".".join(path), path)
            atom = Symbol(parameter.name, SCALAR, Role.PARAMETER)
            yield _Fact({atom: Fraction(1)}, kind is Kind.POSITIVE, frozenset({by}))


def _domain(block: Block) -> Iterator[_Fact]:
    """Yield what holds inside a domain, for every coordinate alike."""
    path = ("state", block.name, "domain")
    bounds = ", ".join(text(bound) for bound in block.domain.bounds)
    by = _Declared(f"{block.domain.name.value}({bounds})" if bounds else block.domain.name.value, ".".join(path), path)
    z = Symbol(block.name, SCALAR, Role.BLOCK)
    match block.domain.name, block.domain.bounds:
        case ((DomainName.POSITIVE | DomainName.NONNEGATIVE), _) if block.shape == SCALAR:
            yield from _less(Number(Fraction(0)), z, by)
        case ((DomainName.INTERVAL | DomainName.CIRCLE), (low, high)):
            yield from _less(low, high, by)
            if block.shape == SCALAR and block.domain.name is DomainName.INTERVAL:
                yield from _less(low, z, by)
                yield from _less(z, high, by)
        case _:
            return


def _less(low: Formula, high: Formula, by: _Declared) -> Iterator[_Fact]:
    yield from _compared(Compare("<", low, high, SCALAR), by)


def _compared(compare: Compare, by: _Declared) -> Iterator[_Fact]:
    if compare.left.shape != SCALAR or compare.right.shape != SCALAR:
        return
    left, right = _sum(compare.left), _sum(compare.right)
    strict = compare.op in ("<", ">")
    if compare.op in (">", ">=", "=="):
        yield _Fact(_combined(left, Fraction(1), right, Fraction(-1)), strict, frozenset({by}))
    if compare.op in ("<", "<=", "=="):
        yield _Fact(_combined(right, Fraction(1), left, Fraction(-1)), strict, frozenset({by}))


def _sum(formula: Formula) -> Sum:
    """Return a scalar formula by its atoms."""
    match formula:
        case Number(value):
            return {None: value}
        case Add(terms):
            found: Sum = {}
            for term in terms:
                found = _combined(found, Fraction(1), _sum(term), Fraction(1))
            return found
        case Multiply(left, Number(k)) | Multiply(Number(k), left):
            return _combined(_sum(left), k, {}, Fraction(0))
        case _:
            return {formula: Fraction(1)}


def _combined(left: Sum, a: Fraction, right: Sum, b: Fraction) -> Sum:
    """Return a left + b right; the constant is kept where it is 0, so that `0 > 0` is not empty."""
    found = {key: a * left.get(key, Fraction(0)) + b * right.get(key, Fraction(0)) for key in {**left, **right}}
    return {None: Fraction(0), **{key: value for key, value in found.items() if value or key is None}}


def _contradiction(facts: list[_Fact]) -> frozenset[_Declared] | None:
    """Return what excludes each other, the least of what was found; None where nothing was."""
    while len(facts) <= MOST_FACTS:
        wrong = [fact.sources for fact in facts if _is_false(fact)]
        if wrong:
            return min(wrong, key=len)
        atoms = dict.fromkeys(key for fact in facts for key in fact.value if key is not None)
        if not atoms:
            return None
        facts = _without(facts, min(atoms, key=lambda atom: _new(facts, atom)))
    return None


def _is_false(fact: _Fact) -> bool:
    constant = fact.value.get(None, Fraction(0))
    return set(fact.value) <= {None} and (constant < 0 or (fact.strict and constant == 0))


def _new(facts: list[_Fact], atom: Formula | None) -> int:
    """Return how many facts eliminating an atom makes."""
    return sum(fact.value.get(atom, 0) > 0 for fact in facts) * sum(fact.value.get(atom, 0) < 0 for fact in facts)


def _without(facts: list[_Fact], atom: Formula | None) -> list[_Fact]:
    """Return what follows about the other atoms."""
    found = [fact for fact in facts if not fact.value.get(atom)]
    for low in (fact for fact in facts if fact.value.get(atom, 0) > 0):
        for high in (fact for fact in facts if fact.value.get(atom, 0) < 0):
            value = _combined(low.value, -high.value[atom], high.value, low.value[atom])
            found.append(_Fact(value, low.strict or high.strict, low.sources | high.sources))
            if len(found) > MOST_FACTS:
                return found
    return found

"""Can all that a document declares about its scalars hold together? Where linear arithmetic says no, it is faulty.

Facts are inequalities between sums of atoms with rational coefficients; an atom is any scalar formula that is no such
sum, taken for a number of its own. Whether real numbers satisfy all of them is decided exactly, by elimination; facts
that exclude each other are named, whatever the atoms are.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.expression import Add, Compare, Formula, FunctionAt, Multiply, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind
from recipe_compiler.formula.show import text
from recipe_compiler.spec.declarations import domain_text
from recipe_compiler.spec.page import Page, Path, entry_name

MOST = 2_000
"""Inequalities that the elimination of one atom may leave; where there are more, nothing is said."""

Sum = Mapping[Formula | None, Fraction]
"""Atoms to their coefficients; None is the constant."""


@dataclass(frozen=True, slots=True)
class _Declared:
    """What was declared: as written, and where."""

    says: str
    path: Path


@dataclass(frozen=True, slots=True)
class _Fact:
    """`value > 0`, or `>=` where it is not strict, and what declares it."""

    value: Sum
    strict: bool
    by: _Declared


def check_consistency(page: Page, declarations: Declarations) -> None:
    """Add a fault where the domains, signs and assumptions about scalars exclude each other, or leave a surface."""
    for number, compare in enumerate(declarations.assume):
        if compare.op == "==" and _is_surface(compare):
            problem = f"found `{text(compare)}`, an equality of the state: exp(-H) has no density on a surface"
            hint = "express one coordinate by the others in all formulas, or declare the domain `simplex`"
            page["assume", number].fault(problem, hint)
    guilty = _contradiction([*_facts(declarations)])
    if not guilty:
        return
    last = max(guilty, key=lambda one: (one.path[0] == "assume", entry_name(one.path)))
    others = sorted(f"`{one.says}`" for one in guilty if one != last)
    beside = f" beside {', '.join(others)}" if others else ""
    problem = f"found `{last.says}`{beside}, which no number satisfies: the domain is empty"
    page[last.path].fault(problem, "correct one of them: on an empty domain every claim holds vacuously")


def _is_surface(compare: Compare) -> bool:
    """Whether blocks occur in an equality, and no abstract functions, which may be what it says at every state."""
    inside = [node for side in (compare.left, compare.right) for node in nodes(side)]
    of_blocks = any(isinstance(node, Symbol) and node.role is Role.BLOCK for node in inside)
    return of_blocks and not any(isinstance(node, FunctionAt) for node in inside)


def _facts(declarations: Declarations) -> Iterator[_Fact]:
    assumed = [
        fact
        for number, compare in enumerate(declarations.assume)
        for fact in _compared(compare, _Declared(text(compare), ("assume", number)))
    ]
    for parameter in declarations.parameters:
        yield from _signs(parameter)
    for block in declarations.blocks:
        yield from _domain(block, {atom for fact in assumed for atom in fact.value})
    yield from assumed


def _signs(parameter: Parameter) -> Iterator[_Fact]:
    for kind in parameter.kinds:
        if parameter.shape == SCALAR and kind in (Kind.POSITIVE, Kind.NONNEGATIVE):
            by = _Declared(f"{parameter.name} is {kind.value}", ("parameters", parameter.name, "is"))
            atom = Symbol(parameter.name, SCALAR, Role.PARAMETER)
            yield _Fact({atom: Fraction(1)}, kind is Kind.POSITIVE, by)


def _domain(block: Block, spoken_of: Set[Formula | None]) -> Iterator[_Fact]:
    """Yield what holds inside a domain, for every coordinate alike; of z itself only where something else does."""
    by = _Declared(domain_text(block.domain), ("state", block.name, "domain"))
    z = Symbol(block.name, SCALAR, Role.BLOCK)
    inside = block.shape == SCALAR and z in spoken_of
    match block.domain.name, block.domain.bounds:
        case ((DomainName.POSITIVE | DomainName.NONNEGATIVE), _) if inside:
            yield from _less(Number(Fraction(0)), z, by)
        case ((DomainName.INTERVAL | DomainName.CIRCLE), (low, high)):
            yield from _less(low, high, by)
            if inside and block.domain.name is DomainName.INTERVAL:
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
        yield _Fact(_combined(left, Fraction(1), right, Fraction(-1)), strict, by)
    if compare.op in ("<", "<=", "=="):
        yield _Fact(_combined(right, Fraction(1), left, Fraction(-1)), strict, by)


def _sum(formula: Formula) -> Sum:
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


def _is_true(fact: _Fact) -> bool:
    constant = fact.value.get(None, Fraction(0))
    return set(fact.value) <= {None} and (constant > 0 or (constant == 0 and not fact.strict))


def _contradiction(facts: Sequence[_Fact]) -> frozenset[_Declared]:
    """Return what excludes each other, no fact of which can be left out; nothing where none was found."""
    if not _is_empty(facts):
        return frozenset()
    kept = list(facts)
    for fact in facts:
        rest = [one for one in kept if one is not fact]
        kept = rest if _is_empty(rest) else kept
    return frozenset(fact.by for fact in kept)


def _is_empty(facts: Sequence[_Fact]) -> bool:
    """Whether no numbers satisfy all of some facts: atoms are eliminated one by one (Fourier and Motzkin).

    x - a > 0 and b - x > 0 leave b - a > 0. Facts exclude each other if an inequality between numbers is left that
    does not hold.
    """
    left: Sequence[_Fact] = [fact for fact in facts if not _is_true(fact)]
    while atom := next((atom for fact in left for atom in fact.value if atom is not None), None):
        above = [fact for fact in left if fact.value.get(atom, 0) > 0]
        below = [fact for fact in left if fact.value.get(atom, 0) < 0]
        if len(above) * len(below) > MOST:
            return False
        rest = [fact for fact in left if atom not in fact.value]
        for low, high in product(above, below):
            value = _combined(low.value, -high.value[atom], high.value, low.value[atom])
            rest.append(_Fact(value, low.strict or high.strict, low.by))
        left = [fact for fact in rest if not _is_true(fact)]
    return bool(left)

"""What is declared about the names of a document, as inequalities of scalars: the only premises of a proof."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.matrices import Rows, determinant, total
from recipe_compiler.algebra.scalars.rationals import fraction, rational
from recipe_compiler.algebra.scalars.symbols import component, coordinates, positions
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Function, Parameter
from recipe_compiler.formula.expression import (
    ELEMENTWISE,
    ELEMENTWISE_PAIRS,
    Add,
    Apply,
    Compare,
    Filled,
    Formula,
    FunctionAt,
    Multiply,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
)
from recipe_compiler.formula.shapes import DISCRETE, DomainName, Kind, Sizes
from recipe_compiler.formula.show import text
from recipe_compiler.verdict import Assumption, declared_of


@dataclass(frozen=True, slots=True)
class Fact:
    """The inequality `value op 0` of a scalar, true everywhere in the domain; `op` is one of `> >= == !=`.

    `says` names the declaration that it comes from.
    """

    value: Expr
    op: str
    says: str

    @property
    def names(self) -> frozenset[Expr]:
        """The symbols and undefined functions that occur in it."""
        return names_of(self.value)


Region = tuple[Fact, ...]
Point = dict[Expr, Fraction]


def names_of(e: Expr) -> frozenset[Expr]:
    """Return the symbols and undefined functions in a scalar."""
    return frozenset(e.atoms(sympy.Symbol, AppliedUndef))


def about(region: Region, scalars: Iterable[Expr]) -> Region:
    """Return the facts about the names in scalars, and about those that these facts connect them with.

    About x with the facts x < y, y < 1 and u > 0, they are x < y and, through y, y < 1.
    """
    names: frozenset[Expr] = frozenset().union(*(names_of(e) for e in scalars))
    found: list[Fact] = []
    left = list(region)
    while True:
        more = [fact for fact in left if fact.names & names]
        if not more:
            return tuple(fact for fact in region if fact in found)
        found += more
        left = [fact for fact in left if fact not in more]
        names = names.union(*(fact.names for fact in more))


def given(region: Region) -> frozenset[str]:
    """Return the declarations that facts come from."""
    return frozenset(fact.says for fact in region if fact.says)


def solved(at: Point, region: Region, pinned: frozenset[Expr] = frozenset()) -> Point:
    """Return a point moved onto equalities that are polynomials with a rational root in one name, the nearest.

    Each equality moves one name that is not pinned and has the root for a value, those first that none has moved: x +
    y == 1 at (1/3, 5) gives (-4, 5), x**2 + y**2 == 1 at (1, 3/5) gives (4/5, 3/5).
    """
    found, moved = dict(at), Counter[Expr]()
    equal = [fact for fact in region if fact.op == "=="]
    for fact in equal * len(equal):  # one may undo another
        numbers = {x: rational(v) for x, v in found.items()}
        if fact.value.xreplace(numbers) == 0:
            continue
        for name in sorted((fact.names & found.keys()) - pinned, key=lambda x: (moved[x], str(x))):
            others = {x: v for x, v in numbers.items() if x != name}
            try:
                roots = sympy.Poly(fact.value.xreplace(others), name, domain="QQ").ground_roots()
            except (sympy.PolynomialError, sympy.CoercionFailed):
                continue
            values = [fraction(root) for root in roots if _is_possible_value(name, root)]
            if values:
                found[name] = min(values, key=lambda x, name=name: abs(x - found[name]))
                moved[name] += 1
                break
    return found


def _is_possible_value(name: Expr, value: sympy.Rational) -> bool:
    """Whether a name may have a value, as far as SymPy knows its signs."""
    return not any(
        known and not holds
        for known, holds in (
            (name.is_positive, value > 0),
            (name.is_nonnegative, value >= 0),
            (name.is_nonzero, value != 0),
        )
    )


def equalities(declarations: Declarations, sizes: Sizes) -> Region:
    """Return the equalities that are assumed, entry by entry."""
    return _assumptions_as_facts([c for c in declarations.assume if c.op == "=="], Setting(declarations, sizes))


def _assumptions_as_facts(compares: Iterable[Compare], setting: Setting) -> Region:
    """Return the scalar facts that comparisons state, one for each pair of entries."""
    return tuple(
        assumed(compare, x, y)
        for compare in compares
        for p, q in zip(rows(compare.left, setting), rows(compare.right, setting), strict=True)
        for x, y in zip(p, q, strict=True)
    )


def region_at(declarations: Declarations, sizes: Sizes) -> Region:
    """Return all that is declared, as scalar facts at fixed sizes.

    Raises:
        entries.NotScalarisableError: an assumption without entries.
    """
    setting = Setting(declarations, sizes)
    found: list[Fact] = []
    for block in declarations.blocks:
        found += facts_of_block(block, coordinates(block, sizes), lambda bound: rows(bound, setting)[0][0])
    for item in (*declarations.parameters, *declarations.functions):
        found += _facts_of_item(item, declarations, sizes)
    found += _assumptions_as_facts(declarations.assume, setting)
    return tuple(fact for fact in found if not fact.value.is_number)


def region_alike(declarations: Declarations, sizes: Sizes) -> Region:
    """Return what is declared of every position alike, at sizes that stand for all of them.

    What is shown of one entry by these facts holds of every entry, at every size. Assumptions that connect entries,
    single one out or mention a size are left out: at d = 1, `sum(a) > 1` would give `a[0] > 1`.
    """
    alike = tuple(c for c in declarations.assume if _is_of_one_position(c.left) and _is_of_one_position(c.right))
    return region_at(replace(declarations, assume=alike), sizes)


def _is_of_one_position(formula: Formula) -> bool:
    """Whether a formula reads entry by entry, and the same at every size."""
    return all(
        isinstance(node, Number | Pi | FunctionAt | Filled | Add | Multiply | Power)
        or (isinstance(node, Symbol) and node.role is not Role.SIZE)
        or (isinstance(node, Apply) and node.fn in ELEMENTWISE | ELEMENTWISE_PAIRS)
        for node in nodes(formula)
    )


def assumed(compare: Compare, left: Expr, right: Expr) -> Fact:
    """Return an assumption about two scalars as a fact: l > r as l - r > 0, l < r as r - l > 0."""
    says = text(compare)
    match compare.op:
        case ">" | ">=" | "==":
            return Fact(left - right, compare.op, says)
        case _:
            return Fact(right - left, compare.op.replace("<", ">"), says)


def facts_of_block(block: Block, z: tuple[Expr, ...], scalar: Callable[[Formula], Expr]) -> Iterator[Fact]:
    """Yield what holds of the coordinates of a block in the interior of its domain (its boundary has measure zero).

    positive: x > 0; interval(a, b): x - a > 0, b - x > 0; simplex: x_k > 0, 1 - sum_k x_k > 0.
    """
    name, bounds = block.domain.name, block.domain.bounds
    if name in {DomainName.POSITIVE, DomainName.NONNEGATIVE, DomainName.SIMPLEX}:
        yield from (Fact(x, ">", declared_of(block.name, "> 0 inside its domain")) for x in z)
    if name in DISCRETE:
        yield from (Fact(x, ">=", declared_of(block.name, f"is {name}")) for x in z)
    if name is DomainName.SIMPLEX:
        yield Fact(1 - total(list(z)), ">", Assumption(f"sum({block.name}) < 1 inside its domain", subject=block.name))
    if name in {DomainName.INTERVAL, DomainName.CIRCLE}:
        zero, period = sympy.Integer(0), 2 * sympy.pi
        low, high = (scalar(bounds[0]), scalar(bounds[1])) if len(bounds) == 2 else (zero, period)
        op = ">" if name is DomainName.INTERVAL else ">="
        for x in z:
            yield Fact(x - low, op, declared_of(block.name, f"{op} {low} inside its domain"))
            yield Fact(high - x, op, declared_of(block.name, f"{op.replace('>', '<')} {high} inside its domain"))


def facts_of_kinds(name: str, value: Expr, kinds: tuple[Kind, ...]) -> Iterator[Fact]:
    """Yield the facts that the kinds of a scalar, or the signs declared of a matrix's entries, give for one entry."""
    for kind, op in ((Kind.POSITIVE, ">"), (Kind.NONNEGATIVE, ">="), (Kind.NONZERO, "!=")):
        if kind in kinds:
            yield Fact(value, op, declared_of(name, f"is {kind}"))


def facts_of_scalar(name: str, value: Expr, kinds: tuple[Kind, ...]) -> Iterator[Fact]:
    """Yield the facts that the kinds of a scalar give, definite meaning positive."""
    yield from facts_of_kinds(name, value, kinds)
    for kind, op in ((Kind.PD, ">"), (Kind.PSD, ">=")):
        if kind in kinds:
            yield Fact(value, op, declared_of(name, f"is {kind}"))


def facts_of_data(item: Datum, value: Expr) -> Iterator[Fact]:
    """Yield the facts about every number of a data field: its kinds, and the least and largest allowed value."""
    yield from facts_of_kinds(item.name, value, item.kinds)
    if item.values:
        says = f"{item.name} {item.says_values}"
        yield Fact(value - min(item.values), ">=", says)
        yield Fact(max(item.values) - value, ">=", says)


def _facts_of_item(item: Parameter | Function, declarations: Declarations, sizes: Sizes) -> Iterator[Fact]:
    """Yield the facts that the kinds of a parameter or function give; none if the parameter has a value."""
    if isinstance(item, Parameter) and item.value is not None:
        return
    found = {at: component(item, at, declarations, sizes) for at in positions(item.shape, sizes)}
    if len(item.shape.sizes) < 2:
        for value in found.values():
            yield from facts_of_scalar(item.name, value, item.kinds)
        return
    diagonal = Kind.DIAGONAL in item.kinds
    for at, value in found.items():
        if not diagonal or at[0] == at[1]:
            yield from facts_of_kinds(item.name, value, item.kinds)
    for kind, op in ((Kind.PD, ">"), (Kind.PSD, ">=")):
        if kind in item.kinds:
            n = 1 + max(i for i, _ in found)
            a: Rows = tuple(tuple(found[i, j] for j in range(n)) for i in range(n))
            yield from (Fact(minor, op, declared_of(item.name, f"is {kind}")) for minor in _principal_minors(a))


def _principal_minors(a: Rows) -> Iterator[Expr]:
    """Yield the determinants of principal submatrices; only the diagonal where the matrix is large."""
    n = len(a)
    for k in range(1, n + 1) if n <= limits.FEW_COORDINATES else (1,):
        for at in combinations(range(n), k):
            yield determinant(tuple(tuple(a[i][j] for j in at) for i in at))

"""Conditional laws as documents claim them: `laws: {tau: "Gamma(a + N/2, b + norm2(y - mu*ones)/2)"}`.

The head is the name of a law, which is no function of the language; its arguments are formulas, read by the parser of
all others. In them a data field is the whole of it: `x` of shape `[N, d]` is the matrix of all rows, `y` of shape `N` a
column.
"""

from collections.abc import Mapping as Table
from dataclasses import dataclass, replace
from enum import Enum, auto
from fractions import Fraction

from recipe_compiler.errors import ModelError, nearest
from recipe_compiler.formula import build, tree
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Parameter, by_name
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import (
    ELEMENTWISE,
    Add,
    Apply,
    Compare,
    Filled,
    Formula,
    Multiply,
    Number,
    Power,
    Role,
    Symbol,
)
from recipe_compiler.formula.shapes import HALF_LINE, SCALAR, DomainName, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import Entry, dependence
from recipe_compiler.spec.model import Law
from recipe_compiler.spec.page import Page

REAL, INTERVAL, SIMPLEX = (
    frozenset({DomainName.REAL}),
    frozenset({DomainName.INTERVAL}),
    frozenset({DomainName.SIMPLEX}),
)
ONE_HOT, COUNTS = frozenset({DomainName.ONE_HOT}), frozenset({DomainName.COUNTS})
UNIT = (Number(Fraction(0)), Number(Fraction(1)))


class Unit(Enum):
    """What a law is the law of, independent of the rest of the block: one entry, one row, or the whole block."""

    ENTRY = auto()
    ROW = auto()
    BLOCK = auto()


@dataclass(frozen=True, slots=True)
class LawFamily:
    """The laws of one name: what their parameters are called, and the domains of the blocks that have them."""

    arguments: tuple[str, ...]
    domains: frozenset[DomainName]
    scalars: frozenset[str] = frozenset()
    """The parameters that are one number, whatever the shape of the block; others have its shape."""
    unit: Unit = Unit.ENTRY
    """A matrix may have a law of rows alone; a scalar has every law of a block entry by entry."""


FAMILIES: Table[str, LawFamily] = {
    "N": LawFamily(("m", "cov"), REAL, unit=Unit.BLOCK),
    "Gamma": LawFamily(("shape", "rate"), HALF_LINE),
    "InverseGamma": LawFamily(("shape", "scale"), HALF_LINE),
    "Exponential": LawFamily(("rate",), HALF_LINE),
    "LogNormal": LawFamily(("m", "v"), HALF_LINE),
    "Beta": LawFamily(("a", "b"), INTERVAL),
    "Uniform": LawFamily(("a", "b"), INTERVAL, frozenset({"a", "b"})),
    "Dirichlet": LawFamily(("a", "b"), SIMPLEX, frozenset({"b"}), Unit.BLOCK),
    "Categorical": LawFamily(("logits",), ONE_HOT, unit=Unit.ROW),
    "Poisson": LawFamily(("mean",), COUNTS),
    "Binomial": LawFamily(("n", "p"), COUNTS),
}
"""The laws that a document may claim; what their densities are says `derive/law_energies.py`."""
OF_SETS: Table[Constraint, Table[str, LawFamily]] = {
    Constraint.SIMPLEX: {"Dirichlet": LawFamily(("alpha",), INTERVAL, unit=Unit.BLOCK)}
}
"""The laws of blocks that lie in a set as a whole: of all shares, where `domain: simplex` leaves the last one out."""


def families_of(block: Block) -> Table[str, LawFamily]:
    """Return the laws of blocks in a domain, or those of the set that a block lies in as a whole."""
    return FAMILIES if block.constraint is None else OF_SETS.get(block.constraint, {})


def is_of_rows(law: Law) -> bool:
    """Whether a law is one of rows, each with a one at one place: of a discrete block."""
    return FAMILIES[law.name].unit is Unit.ROW


def is_of_counts(law: Law) -> bool:
    """Whether a law is one of whole numbers."""
    return FAMILIES[law.name].domains == COUNTS


def is_on_simplex(block: Block) -> bool:
    """Whether a block is all of the shares of a whole: K numbers with the sum 1."""
    return block.constraint is Constraint.SIMPLEX


def of_all_data(declarations: Declarations) -> Declarations:
    """Return declarations in which a data field is all of its rows, as a parameter: N x d of `[N, d]`, N x 1 of `N`."""
    fields = tuple(Parameter(field.name, rows_of(field), field.known) for field in declarations.data)
    assume = tuple(of_all_rows(condition, declarations) for condition in declarations.assume)
    return replace(declarations, parameters=(*declarations.parameters, *fields), data=(), assume=assume)


def of_all_rows(condition: Compare, declarations: Declarations) -> Compare:
    """Return an assumption about each datum as one about columns, `y <= n` as `n - y >= 0`; any other as it is."""
    if not dependence(condition).data:
        return condition
    sides = [_column(side, declarations) for side in (condition.left, condition.right)]
    if "<" in condition.op:
        sides.reverse()
    left, right = sides
    if left is None or right is None:
        return condition
    off = build.add([left, build.negate(right)], left.shape)
    return Compare(condition.op.replace("<", ">"), off, Filled(0, left.shape), left.shape)


def _column(formula: Formula, declarations: Declarations) -> Formula | None:
    """Return a number of each datum as the column of all of them; None of what is not made entry by entry."""
    whole = Shape(declarations.data[0].size)
    if formula.shape == SCALAR and not dependence(formula).data:
        return build.multiply(formula, Filled(1, whole), whole)

    def of(*parts: Formula) -> list[Formula] | None:
        columns = [_column(part, declarations) for part in parts]
        return None if None in columns else [column for column in columns if column is not None]

    match formula:
        case Symbol(name, shape, Role.DATUM) if shape == SCALAR:
            return Symbol(name, whole, Role.PARAMETER)
        case Add(terms):
            columns = of(*terms)
            return None if columns is None else build.add(columns, whole)
        case Multiply(left, right):
            factors = [left] if not dependence(left).data else of(left)
            columns = of(right)
            return None if factors is None or columns is None else build.multiply(factors[0], columns[0], whole)
        case Power(base, exponent) if not dependence(exponent).data:
            columns = of(base)
            return None if columns is None else build.power(columns[0], exponent, whole)
        case Apply(fn, args) if fn in ELEMENTWISE:
            columns = of(*args)
            return None if columns is None else build.apply(fn, columns, whole)
        case _:
            return None


def rows_of(field: Datum) -> Shape:
    """Return the shape of all rows of a data field."""
    return Shape(field.size, field.shape.cols)


def read_laws(page: Page, names: tuple[str, ...], declarations: Declarations) -> tuple[tuple[str, Law], ...]:
    """Return block to law in the order of z, a fault added for each that means nothing."""
    blocks = by_name(declarations.blocks)
    for name in names:
        page["laws", name].knows(name, blocks, "a block of the state")
    scope = Scope(of_all_data(declarations))
    found: list[tuple[str, Law]] = []
    for name, block in blocks.items():
        if name in names and families_of(block):
            law = page["laws", name].read(lambda entry, block=block: read_law(entry, block, scope))
            found += [] if law is None else [(name, law)]
    return tuple(found)


def law_text(law: Law) -> str:
    """Return a law as a document has it."""
    return f"{law.name}({', '.join(map(text, law.arguments))})"


def read_law(entry: Entry, block: Block, scope: Scope) -> Law:
    """Return the law of a block that an entry says. Raises SpecError or ModelError."""
    parsed, families = entry.tree(), families_of(block)
    if not isinstance(parsed, tree.Call) or parsed.name not in FAMILIES:
        raise _no_law(entry, parsed, families)
    if parsed.name not in families:
        problem = f"found {parsed.name} of {block.name}, which is {block.constraint}, expected {_listed(families)}"
        raise entry.refused(problem)
    family = families[parsed.name]
    if len(parsed.args) != len(family.arguments):
        problem = f"found {len(parsed.args)} parameters of {parsed.name}, expected {_listed({parsed.name: family})}"
        shares = "for K components use `constraint: simplex`; `domain: simplex` omits the last component"
        raise entry.refused(problem, shares if parsed.name == "Dirichlet" else "")
    _check_domain(entry, parsed.name, family, block)
    made = (
        _argument(entry, part, name in family.scalars, name == "cov", block, scope)
        for name, part in zip(family.arguments, parsed.args, strict=True)
    )
    law = Law(parsed.name, tuple(made))
    if any(block.name in dependence(argument).blocks for argument in law.arguments):
        problem = f"found `{block.name}` in a parameter of its own law, expected the other blocks, parameters and data"
        raise entry.refused(problem)
    return law


def _no_law(entry: Entry, parsed: tree.Tree, families: Table[str, LawFamily]) -> ModelError:
    name = parsed.name if isinstance(parsed, tree.Call) else ""
    shown = f"the function `{name}`" if name else "a formula"
    return entry.refused(f"found {shown}, expected one of {_listed(families)}", nearest(name, tuple(families)))


def _listed(families: Table[str, LawFamily]) -> str:
    return ", ".join(f"{law}({', '.join(family.arguments)})" for law, family in families.items())


def _check_domain(entry: Entry, name: str, family: LawFamily, block: Block) -> None:
    """Raise ModelError where a block does not live where the laws of a name do."""
    domains, domain = family.domains, block.domain
    if block.shape.cols is not None and family.unit is not Unit.ROW:
        problem = f"found the law of a {block.shape}, expected a scalar or a column"
        raise entry.refused(problem, "laws of matrices are not supported: declare a column")
    if domain.name not in domains:
        expected = " or ".join(sorted(domains))
        raise entry.refused(f"found {name} of a block that is {domain.name}, expected one that is {expected}")
    if name == "Beta" and domain.bounds != UNIT:
        raise entry.refused("found Beta of a block in another interval, expected the domain interval(0, 1)")
    if name == "Poisson" and domain.bounds:
        end = text(domain.bounds[0])
        problem = f"found Poisson of {block.name}, whose counts end at {end}, expected Binomial({end}, p)"
        raise entry.refused(problem, "the domain of unbounded counts is `counts`")
    if name == "Binomial" and not domain.bounds:
        problem = f"found Binomial of {block.name}, whose counts are unbounded, expected Poisson(mean)"
        raise entry.refused(problem, "the domain of counts up to n is `counts(n)`")


def _argument(entry: Entry, part: tree.Tree, is_number: bool, is_square: bool, block: Block, scope: Scope) -> Formula:
    """Return a parameter of a law: of the block's shape, or one number for all entries; a covariance is square."""
    if is_number or block.shape == SCALAR:
        return entry.elaborated(part, scope, SCALAR)
    if is_square:
        return entry.elaborated(part, replace(scope, square=True), Shape(block.shape.rows, block.shape.rows))
    found = entry.in_first(part, scope, (block.shape, SCALAR))
    return found if found.shape == block.shape else build.multiply(found, Filled(1, block.shape), block.shape)

"""The named densities of a target: which, of what, with which arguments, and what has to hold for them to be densities.

What they need of data alone is decided on the data: a field that a density is of is then of the kinds of its support,
as if that were declared. What they need of blocks and parameters is to be shown.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.algebra.structure.data_guards import Guarded
from recipe_compiler.formula import tree
from recipe_compiler.formula.build import add
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Parameter, by_name
from recipe_compiler.formula.densities import DENSITIES, Density
from recipe_compiler.formula.density_terms import comparisons, type_density
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import (
    HOLDS,
    Apply,
    Compare,
    Entry,
    Explicit,
    Filled,
    Formula,
    Multiply,
    Number,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind
from recipe_compiler.formula.spellings import density_called
from recipe_compiler.spec import formulas
from recipe_compiler.spec.formulas import dependence, is_of_data
from recipe_compiler.spec.model import Guards, Stated, StatedDensity
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.recursion import SECTION
from recipe_compiler.spec.values import kind_problem

ENTRIES = ("log_prior", "log_likelihood", "potential")


def read_stated(page: Page, declarations: Declarations, states: Iterable[str] = ()) -> Stated:
    """Return the named densities of a target whose formulas are without fault.

    Args:
        page: the document.
        declarations: the names in its formulas, those of a recursion's states among the blocks.
        states: of a recursion, in whose formulas densities may stand as parts.
    """
    scope = Scope(declarations, densities=type_density)
    densities: list[StatedDensity] = []
    others: list[tuple[str, Formula]] = []
    for name in ENTRIES:
        text = page[name].entry
        if text is None:
            continue
        terms = tuple(_summands(text.tree()))
        rest: list[tree.Tree] = []
        for term in terms:
            calls = list(_calls(term, declarations))
            densities += (_stated(call, text, scope, name, is_term=call.part is term) for call in calls)
            rest += [] if any(call.part is term for call in calls) else [term]
        if rest:
            others.append((name, text.elaborated(_sum(rest), scope, SCALAR)))
    for state, formula in ((state, formula) for state in states for formula in ("start", "next")):
        entry = f"{SECTION}.{state}.{formula}"
        if (text := page[SECTION, state, formula].entry) is not None:
            calls = list(_calls(text.tree(), declarations))
            densities += (_stated(call, text, scope, entry, is_term=False) for call in calls)
    return Stated(tuple(densities), tuple(others), tuple(_needs(densities)))


def _summands(part: tree.Tree) -> Iterator[tree.Tree]:
    if not isinstance(part, tree.Sum):
        yield part
        return
    for term in part.terms:
        yield from _summands(term)


def _sum(terms: list[tree.Tree]) -> tree.Tree:
    return terms[0] if len(terms) == 1 else tree.Sum(tuple(terms))


@dataclass(frozen=True, slots=True)
class _Called:
    """A call of a density, and the conditions of the pieces of `where` that it stands in: whether each holds."""

    part: tree.Call
    guards: tuple[tuple[tree.Tree, bool], ...] = ()


def _calls(
    part: tree.Tree, declarations: Declarations, guards: tuple[tuple[tree.Tree, bool], ...] = ()
) -> Iterator[_Called]:
    """Yield the calls of named densities in a formula; a name that is declared is no density."""
    if isinstance(part, tree.Call) and _is_density(part, declarations):
        yield _Called(part, guards)
    match part:
        case tree.Call("where", (condition, yes, no)):
            yield from _calls(yes, declarations, (*guards, *((one, True) for one in _joined(condition, "And"))))
            yield from _calls(no, declarations, (*guards, *((one, False) for one in _joined(condition, "Or"))))
        case _:
            for inner in tree.parts(part):
                yield from _calls(inner, declarations, guards)


def _joined(condition: tree.Tree, by: str) -> Iterator[tree.Tree]:
    """Yield the comparisons that are joined to a condition; none of what is joined otherwise."""
    match condition:
        case tree.Comparison():
            yield condition
        case tree.Call(name, args) if name == by:
            for arg in args:
                yield from _joined(arg, by)
        case _:
            return


def _stated(call: _Called, text: formulas.Entry, scope: Scope, entry: str, *, is_term: bool) -> StatedDensity:
    row, arguments = text.density(call.part, scope)
    typed = ((text.comparison(condition, scope), holds) for condition, holds in call.guards)
    guards = tuple((one, holds) for one, holds in typed if is_of_data(one) and one.shape == SCALAR)
    return StatedDensity(row.name, arguments, entry, is_term, guards)


def _is_density(part: tree.Call, declarations: Declarations) -> bool:
    return density_called(part) is not None and (part.language or declarations.find(part.name) is None)


def _conditions(densities: Iterable[StatedDensity]) -> Iterator[tuple[StatedDensity, Compare]]:
    """Yield what the arguments of densities have to satisfy."""
    for one in densities:
        yield from ((one, condition) for condition in comparisons(DENSITIES[one.name], one.arguments))


def _needs(densities: Iterable[StatedDensity]) -> Iterator[Compare]:
    """Yield what is to be shown: conditions that are not about data alone."""
    for _, condition in _conditions(densities):
        if not is_of_data(condition) and None in (_number(condition.left), _number(condition.right)):
            yield condition


def with_data_of(page: Page, declarations: Declarations, stated: Stated) -> Declarations:
    """Return declarations with what densities say of data: kinds and values of fields, comparisons as assumptions."""
    fields = by_name(declarations.data)
    counts = {block.name for block in declarations.blocks if block.domain.name is DomainName.COUNTS}
    for one in stated.densities:
        row, first = DENSITIES[one.name], one.arguments[0]
        of = _field(first)
        if row.index:
            continue
        is_of_counts = one.of in counts
        if row.discrete and of is not None:
            fields[of] = _counted(page, fields[of], replace(row, values=()) if one.guards else row, one.entry)
        elif row.discrete and not (is_of_counts or isinstance(first, Number)):
            problem = f"found the discrete density {row.name}() of a formula, expected one of a field of the data"
            page[one.entry].fault(problem, "a block of whole numbers has `domain: counts`")
        elif is_of_counts and not row.discrete:
            problem = f"found {row.name}() of `{one.of}`, which are counts, expected a density of whole numbers"
            page[one.entry].fault(problem, "as poisson, binomial or neg_binomial_2")
        _check_covariance(page, one)
    assume = list(declarations.assume)
    for one, condition in _conditions(stated.densities):
        of, number = _field(condition.left), _number(condition.right)
        if not DENSITIES[one.name].increasing:
            _check_numbers(page, one, condition)
        if not (is_of_data(condition) or (DENSITIES[one.name].increasing and _is_of_parameters(condition))):
            continue
        if one.guards:
            assume += _beside_guards(condition, one.guards, declarations)
            continue
        kind = {">": Kind.POSITIVE, ">=": Kind.NONNEGATIVE}.get(condition.op) if number == 0 else None
        if of is not None and number is not None and fields[of].values:
            _check_values(page, fields[of], one, condition, number)
        elif of is not None and kind is not None:
            fields[of] = of_kind(fields[of], kind)
        else:
            assume.append(condition)
    return replace(declarations, data=tuple(fields.values()), assume=tuple(dict.fromkeys(assume)))


def _is_of_parameters(condition: Compare) -> bool:
    """Whether a condition is of parameters alone: cuts have no kind to be declared of."""
    uses = [dependence(side) for side in (condition.left, condition.right)]
    return any(use.parameters for use in uses) and not any((*use.blocks, *use.functions, *use.data) for use in uses)


def _beside_guards(condition: Compare, guards: Guards, declarations: Declarations) -> Iterator[Compare]:
    """Yield what is left to be looked at of a condition on data that take a piece of `where`; else it holds."""
    from recipe_compiler.algebra.structure.definedness import require_comparison  # brings SymPy, which few targets need

    known = Guarded(declarations)
    for guard, holds in guards:
        known = known.within(guard, holds=holds)
    if not require_comparison(condition, known.declarations).open:
        return
    left = condition.left
    step = Number(Fraction(1 if ">" in condition.op else -1))
    fits = add((condition.right, step), condition.right.shape)
    for guard, holds in guards:
        left = Apply("where", (guard, left, fits) if holds else (guard, fits, left), left.shape)
    yield replace(condition, left=left)


def demand_sets(page: Page, declarations: Declarations, stated: Stated) -> None:
    """Add a fault for a law of a set, of a block that does not lie in it by its constraint, or of no block.

    Of shares that are no block it is not looked at that they add up to 1.
    """
    blocks = by_name(declarations.blocks)
    for one in stated.densities:
        block, wanted = blocks.get(one.of), DENSITIES[one.name].of_set
        if wanted is None or (block is None and wanted is Constraint.SIMPLEX):
            continue
        if block is None or block.constraint is not wanted:
            expected, hint = _OF_SETS[wanted]
            of, name = f"`{block.name}`" if block else "something other than a block", block.name if block else "L"
            page[one.entry].fault(f"found {one.name}() of {of}, {expected}", hint.format(name))


def demand_increasing(page: Page, declarations: Declarations, stated: Stated) -> None:
    """Add a fault for a law between cuts that are a block in any order, or numbers in another one."""
    for one in stated.densities:
        row, cuts = DENSITIES[one.name], one.arguments[-1]
        block = declarations.find(cuts.name) if row.increasing and isinstance(cuts, Symbol) else None
        if isinstance(block, Block) and block.constraint not in _INCREASING:
            hint = f"declare `{block.name}: {{shape: {cuts.shape.rows}, constraint: ordered}}`"
            page[one.entry].fault(f"found {one.name}() of cuts that are a block in any order", hint)
        for pair in comparisons(row, one.arguments) if row.increasing else ():
            low, high = _number(pair.left), _number(pair.right)
            if low is not None and high is not None and low >= high:
                page[one.entry].fault(f"found {low} before {high} among the cuts of {one.name}(), expected more")


_INCREASING = (Constraint.ORDERED, Constraint.POSITIVE_ORDERED)

_OF_SETS = {
    Constraint.SIMPLEX: (
        "expected components that add up to 1",
        "declare `{}: {{constraint: simplex}}`, with all components; `domain: simplex` omits the last",
    ),
    Constraint.CHOLESKY_CORR: (
        "expected a block that is the Cholesky factor of a correlation matrix",
        "declare `{}: {{shape: [3, 3], constraint: cholesky_factor_corr}}`, of as many rows as there are variables",
    ),
}


def _field(formula: Formula) -> str | None:
    """Return the data field that a formula is, or is a position of."""
    match formula:
        case Symbol(name, _, Role.DATUM) | Entry(Symbol(name, _, Role.DATUM)) | Transpose(Symbol(name, _, Role.DATUM)):
            return name
        case _:
            return None


def _number(formula: Formula) -> Fraction | None:
    """Return the number that a formula is, or is filled with."""
    match formula:
        case Number(value) | Multiply(Number(value), Filled(1)):
            return value
        case Filled(value):
            return Fraction(value)
        case _:
            return None


def _counted(page: Page, field: Datum, row: Density, entry: str) -> Datum:
    """Return a field that a discrete law is of."""
    others = [value for value in field.values if row.values and value not in row.values]
    if others:
        expected = f"expected {', '.join(map(str, row.values))} alone"
        problem = f"found {row.name}() of `{field.name}`, which may be {others[0]}, {expected}"
        page[entry].fault(problem, f"declare `{field.name}: {{in: {list(row.values)}}}`")
    return replace(of_kind(field, Kind.INTEGER), values=field.values or row.values)


def of_kind(field: Datum, kind: Kind) -> Datum:
    """Return a field that is of a kind, too."""
    known = {Kind.POSITIVE, Kind.NONNEGATIVE} if kind is Kind.NONNEGATIVE else {kind}
    if known & set(field.known) or (field.values and kind is Kind.INTEGER):
        return field
    left = [have for have in field.kinds if have is not Kind.REAL and (have, kind) != (Kind.NONNEGATIVE, Kind.POSITIVE)]
    return replace(field, kinds=(*left, kind))


def _check_numbers(page: Page, one: StatedDensity, condition: Compare) -> None:
    """Add a fault where an argument is a number, or a column of which an entry is one, that it may not be."""
    entries = [x for row in condition.left.rows for x in row] if isinstance(condition.left, Explicit) else []
    right = _number(condition.right)
    found = [value for x in entries or [condition.left] if (value := _number(x)) is not None]
    wrong = [] if right is None else [value for value in found if not HOLDS[condition.op](value, right)]
    if wrong:
        row = DENSITIES[one.name]
        needed = ", ".join((*row.support, *row.needs))
        page[one.entry].fault(f"found {wrong[0]} in {row.name}(), expected {needed} in {row.call}")


def _check_covariance(page: Page, one: StatedDensity) -> None:
    """Add a fault where a covariance that is written out in numbers is not symmetric and positive definite."""
    for argument, name in zip(one.arguments, DENSITIES[one.name].arguments, strict=True):
        if name != "Sigma" or not isinstance(argument, Explicit):
            continue
        rows = tuple(tuple(value for x in row if (value := _number(x)) is not None) for row in argument.rows)
        if all(len(row) == len(rows) for row in rows):
            problem = kind_problem(rows, Parameter("Sigma", argument.shape, (Kind.PD,)))
            if problem:
                page[one.entry].fault(f"{problem} in {one.name}()")


def _check_values(page: Page, field: Datum, one: StatedDensity, condition: Compare, number: Fraction) -> None:
    """Add a fault where a value that a field may have is not in the support of a density that it has."""
    bad = [value for value in field.values if not HOLDS[condition.op](value, number)]
    if bad:
        at = page["data", field.name, "in"]
        problem = f"found {bad[0]} among the values of `{field.name}`, which {one.name}() needs to be"
        at.fault(f"{problem} {condition.op} {number}")

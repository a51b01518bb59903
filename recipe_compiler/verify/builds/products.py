"""A log density as products of named densities with other factors: exp(F) <= sum_j prod_i p_ji exp(rest_j).

Mixtures and pieces of a `where` on data are sums of products, `log(1 + exp(x))` is one of 1 and exp(x), and a factor
of the data that has few values is read at each of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler import limits
from recipe_compiler.facts.semidefinite import sign
from recipe_compiler.formula.build import add, depends_on_state, multiply, nodes, parts, replaced
from recipe_compiler.formula.declaration import Declarations, by_name
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.density_terms import log_density
from recipe_compiler.formula.expression import (
    HOLDS,
    Add,
    Apply,
    Compare,
    Entry,
    Explicit,
    Formula,
    Multiply,
    Number,
    Role,
    Symbol,
)
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.formulas import dependence, is_of_data
from recipe_compiler.spec.model import Guards, StatedDensity

ONE = Fraction(1)
Summands = tuple[tuple[Fraction, Formula], ...]


class TooManyError(ValueError):
    """A formula is a sum of more products than are looked at."""


@dataclass(frozen=True, slots=True)
class Law:
    """A named density that is a factor."""

    stated: StatedDensity
    is_of_entries: bool = False
    """Whether it is that of one entry of its column, a component of a mixture by columns."""


@dataclass(frozen=True, slots=True)
class Product:
    """One of the products whose sum a density is at most."""

    laws: tuple[Law, ...] = ()
    rest: Summands = ()
    """Number and formula of each other summand of its logarithm."""
    guards: Guards = ()
    """Conditions on a datum under which it is the density, and whether each holds."""
    is_mixed: bool = False
    """Whether it is one of several for the same datum."""


def products(formula: Formula, densities: Iterable[StatedDensity], declarations: Declarations) -> tuple[Product, ...]:
    """Return products with exp(F) <= sum_j prod_i p_ji exp(rest_j), of a log density F that holds named densities.

    F = log(w exp(f) + (1 - w) exp(g)), f and g named, has two: of f beside log(w), of g beside log(1 - w).

    Raises:
        TooManyError: there are more than are looked at.
    """
    named: dict[Formula, Law] = {}
    for one in densities:
        row = DENSITIES[one.name]
        named[log_density(row, one.arguments, declarations)] = Law(one)
        if row.of_entry and any(argument.shape != SCALAR for argument in one.arguments):
            named[log_density(row, one.arguments, declarations, entries=True)] = Law(one, is_of_entries=True)
    found: list[Product] = []
    for product in _expand([(ONE, formula)], Product(), named, declarations):
        found.append(product)
        if len(found) > limits.SUMMANDS:
            raise TooManyError
    return tuple(found)


def _expand(
    pending: list[tuple[Fraction, Formula]], done: Product, named: Mapping[Formula, Law], declarations: Declarations
) -> Iterator[Product]:
    """Yield products with all pending summands expanded."""
    while pending:
        c, term = pending.pop()
        if c == 0:
            continue
        if c == ONE and term in named:
            done = replace(done, laws=(*done.laws, named[term]))
            continue
        number, core = split_number(term)
        if isinstance(core, Add):
            pending += [(c * number, summand) for summand in core.terms]
            continue
        if number != ONE:
            pending.append((c * number, core))
            continue
        if (field := _find_field_of_few_values(core, declarations)) is not None:
            yield from _split_by_field(field, [*pending, (c, core)], done, named, declarations)
            return
        if c == ONE and (choices := _list_choices(core, declarations)) is not None:
            for terms, guards in choices:
                mixed = done.is_mixed or (len(choices) > 1 and not guards)
                own = replace(done, guards=(*done.guards, *guards), is_mixed=mixed)
                yield from _expand([*pending, *((ONE, one) for one in terms)], own, named, declarations)
            return
        done = replace(done, rest=(*done.rest, (c, core)))
    yield done


def _split_by_field(
    field: str, pending: list[tuple[Fraction, Formula]], done: Product, named: Mapping[Formula, Law],
    declarations: Declarations,
) -> Iterator[Product]:  # fmt: skip
    """Yield the products at each value of a field of the data."""
    datum = by_name(declarations.data)[field]
    for value in datum.values:
        put = {field: Number(Fraction(value))}

        def at(law: Law, put: Mapping[str, Formula] = put) -> Law:
            arguments = tuple(substitute(argument, put) for argument in law.stated.arguments)
            return replace(law, stated=replace(law.stated, arguments=arguments))

        guard = (Compare("==", Symbol(field, SCALAR, Role.DATUM), put[field], SCALAR), True)
        own = replace(
            done,
            laws=tuple(map(at, done.laws)),
            rest=tuple((c, substitute(term, put)) for c, term in done.rest),
            guards=(*done.guards, guard),
        )
        terms = [(c, choose_pieces(substitute(term, put))) for c, term in pending]
        yield from _expand(terms, own, {substitute(f, put): at(law) for f, law in named.items()}, declarations)


def flatten_sums(summands: Summands) -> Iterator[tuple[Fraction, Formula]]:
    """Yield the summands of sums in them, each with the number in front."""
    for c, term in summands:
        number, core = split_number(term)
        if isinstance(core, Add):
            yield from flatten_sums(tuple((c * number, one) for one in core.terms))
        else:
            yield c * number, core


def choose_pieces(formula: Formula) -> Formula:
    """Return a formula with the piece of each `where` whose condition numbers decide."""

    def chosen(part: Formula) -> Formula | None:
        match part:
            case Apply("where", (Compare(op, Number(left), Number(right)), yes, no)):
                return choose_pieces(yes if HOLDS[op](left, right) else no)
            case _:
                return None

    return replaced(formula, chosen)


def split_number(formula: Formula) -> tuple[Fraction, Formula]:
    """Return a number and a formula whose product a formula is: -2 and x*y of `(-x)*(2*y)`."""
    match formula:
        case Number(value):
            return value, Number(ONE)
        case Multiply(left, right):
            (a, one), (b, other) = split_number(left), split_number(right)
            if isinstance(one, Number) and other.shape == formula.shape:
                return a * b, other
            if isinstance(other, Number) and one.shape == formula.shape:
                return a * b, one
            return a * b, formula if (one, other) == (left, right) else multiply(one, other, formula.shape)
        case _:
            return ONE, formula


def _find_field_of_few_values(term: Formula, declarations: Declarations) -> str | None:
    """Return a field of few values in a factor without state that multiplies one with state."""
    match term:
        case Multiply(left, right) if depends_on_state(left) != depends_on_state(right):
            known = right if depends_on_state(left) else left
            fields = {d.name for d in declarations.data if d.is_choice}
            return next((name for name in dependence(known).data if name in fields), None)
        case _:
            return None


Choices = list[tuple[list[Formula], Guards]]


def _list_choices(term: Formula, declarations: Declarations) -> Choices | None:
    """Return the alternatives of a sum inside a term, each with its condition; None where there is no sum."""
    match term:
        case Apply("where", (Compare() as condition, yes, no)) if is_of_data(condition) and condition.shape == SCALAR:
            return [([yes], ((condition, True),)), ([no], ((condition, False),))]
        case Apply("softplus", (arg,)):
            return [([], ()), ([arg], ())]
        case Apply("log", (Apply("sum", (Apply("exp", (Explicit(rows),)),)),)):
            return [([entry], ()) for row in rows for entry in row]
        case Apply("log", (Apply("sum", (Apply("exp", (column,)),)),)):
            return [([column], ())]
        case Apply("log", (Add(terms),)):
            plain = [
                one for one in terms if not any(isinstance(node, Apply) and node.fn == "exp" for node in nodes(one))
            ]
            others = [one for one in terms if one not in plain]
            read = [_split_logarithm(one, declarations) for one in (*others, *([add(plain, SCALAR)] if plain else []))]
            return None if not others or any(one is None for one in read) else [(one or [], ()) for one in read]
        case Apply("log", (Multiply() as inner,)):
            read = _split_logarithm(inner, declarations)
            return None if read is None or read == [term] else [(read, ())]
        case Apply("log", (Apply("exp", (arg,)),)):
            return [([arg], ())]
        case _:
            return None


def _split_logarithm(formula: Formula, declarations: Declarations) -> list[Formula] | None:
    """Return the logarithms of the factors of a nonnegative product; None where a factor may be negative."""
    match formula:
        case Multiply(left, right):
            one, other = _split_logarithm(left, declarations), _split_logarithm(right, declarations)
            return None if one is None or other is None else [*one, *other]
        case Apply("exp", (arg,)):
            return [arg]
        case _:
            return [Apply("log", (formula,), formula.shape)] if sign(formula, declarations).nonnegative else None


def slots(formula: Formula) -> frozenset[tuple[str, tuple[int, ...] | None]]:
    """Return the blocks and data in a formula: name and position of each entry, None for a whole block or field."""
    match formula:
        case Entry(Symbol(name, _, Role.BLOCK | Role.DATUM), at):
            return frozenset({(name, at)})
        case Symbol(name, _, Role.BLOCK | Role.DATUM | Role.INDEX):
            return frozenset({(name, None)})
        case _:
            return frozenset[tuple[str, tuple[int, ...] | None]]().union(*map(slots, parts(formula)))


def overlap(
    one: Iterable[tuple[str, tuple[int, ...] | None]], other: Iterable[tuple[str, tuple[int, ...] | None]]
) -> bool:
    """Whether two sets of entries have one in common."""
    return any(a == b and (i is None or j is None or i == j) for a, i in one for b, j in other)

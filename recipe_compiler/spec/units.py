"""Units as a document states them: `length/time**2`, `1`, `mass**(1/2)`; products and powers of names, nothing else."""

from collections.abc import Iterable
from fractions import Fraction

from recipe_compiler.errors import Place, SpecError
from recipe_compiler.formula import tree
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.tree import fault_at
from recipe_compiler.formula.units import NONE, Unit, base
from recipe_compiler.spec.formulas import Entry
from recipe_compiler.spec.page import Page

EXPECTED = "expected a unit: names with * / and **, such as length/time**2, or 1"
LARGEST_EXPONENT = 64


def unit_of(formula: tree.Tree, entry: str, where: Place) -> Unit:
    """Return the unit that a syntax tree states. Raises SpecError."""
    match formula:
        case tree.Literal(value) if value == 1:
            return NONE
        case tree.Name(name):
            return base(name)
        case tree.Product(factors, operators):
            found = unit_of(factors[0], entry, where)
            for factor, operator in zip(factors[1:], operators, strict=True):
                own = unit_of(factor, entry, where)
                if operator not in {"*", "/"}:
                    raise SpecError([fault_at(where, factor.at, entry, f"found `{operator}`, {EXPECTED}")])
                found = found * own if operator == "*" else found / own
            return found
        case tree.Power(below, exponent):
            number = _number(exponent)
            if number is None or abs(number) > LARGEST_EXPONENT:
                problem = f"found a power of a unit that is not a number up to {LARGEST_EXPONENT}, {EXPECTED}"
                raise SpecError([fault_at(where, exponent.at, entry, problem, "write length**2 or length**(1/2)")])
            return unit_of(below, entry, where) ** number
        case tree.Literal(value):
            hint = "write 1 for no unit, and put scale factors into the formulas"
            raise SpecError([fault_at(where, formula.at, entry, f"found the number {value}, {EXPECTED}", hint)])
        case _:
            raise SpecError([fault_at(where, formula.at, entry, f"found another formula, {EXPECTED}")])


def _number(formula: tree.Tree) -> Fraction | None:
    """Return an exponent: an integer, a decimal, a ratio, with a sign."""
    match formula:
        case tree.Literal(value):
            return value
        case tree.Negate(arg):
            inner = _number(arg)
            return None if inner is None else -inner
        case tree.Product((above, below), ("/",)):
            top, bottom = _number(above), _number(below)
            return top / bottom if top is not None and bottom else None
        case _:
            return None


def read_units(page: Page, names: Iterable[str], declarations: Declarations) -> tuple[tuple[str, Unit], ...]:
    """Return names with their units, a fault added for each that is not declared, and for each that is no unit."""
    groups = (declarations.blocks, declarations.parameters, declarations.functions)
    known = tuple(item.name for items in groups for item in items)
    found: list[tuple[str, Unit]] = []
    for name in names:
        at = page["units", name]
        unit = at.read(_read) if at.knows(name, known, "a block, parameter or function") else None
        found += [] if unit is None else [(name, unit)]
    return tuple(found)


def _read(entry: Entry) -> Unit:
    parsed = entry.tree()
    with entry.placed(SpecError):
        return unit_of(parsed, entry.name, Place("", 1, 1))

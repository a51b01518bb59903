"""The untyped syntax tree of a formula, with places in the document: what text and Python both produce.

Sums and products are n-ary, so that a sum of thousands of terms is not thousands of nodes deep. A difference `a - b` is
a sum with a negated term; a product keeps the operator before each factor but the first.

The text of a tree is read again as that tree, up to what text does not say: that `I` or `exp` is the language's, where
a document declares that name itself; and up to the spelling of an explicit matrix, which is read as a call first.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Any, TypeVar, cast

from recipe_compiler.errors import Fault, Place


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a part starts in the text of its formula; both counted from 0."""

    line: int
    column: int


At = Spot | None
"""None: the part comes from a Python object, which has no text."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, exact."""

    value: Fraction
    at: At = None


@dataclass(frozen=True, slots=True)
class Name:
    """A name, not yet looked up."""

    name: str
    at: At = None


@dataclass(frozen=True, slots=True)
class Constant:
    """`I`, `ones`, `pi` or `True`, known to be the language's, whatever names are declared."""

    name: str
    at: At = None


@dataclass(frozen=True, slots=True)
class Call:
    """`name(args)`."""

    name: str
    args: tuple["Tree", ...]
    at: At = None
    language: bool = False
    """From Python: known to be the language's function, whatever names are declared."""


@dataclass(frozen=True, slots=True)
class Negate:
    """`-arg`."""

    arg: "Tree"
    at: At = None


@dataclass(frozen=True, slots=True)
class Sum:
    """`a + b - c`: two terms or more."""

    terms: tuple["Tree", ...]
    at: At = None


@dataclass(frozen=True, slots=True)
class Product:
    """`a * b / c @ e`, read from the left: `operators[k]` stands between `factors[k]` and `factors[k + 1]`."""

    factors: tuple["Tree", ...]
    operators: tuple[str, ...]
    at: At = None


@dataclass(frozen=True, slots=True)
class Power:
    """`base ** exponent`."""

    base: "Tree"
    exponent: "Tree"
    at: At = None


@dataclass(frozen=True, slots=True)
class Transposed:
    """`arg.T`."""

    arg: "Tree"
    at: At = None


@dataclass(frozen=True, slots=True)
class Subscript:
    """`arg[0]`, `arg[0, 1]`, and `arg[g]`, g a field of the data."""

    arg: "Tree"
    positions: tuple["Position", ...]
    at: At = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left op right`, `op` one of `> >= < <= ==`."""

    op: str
    left: "Tree"
    right: "Tree"
    at: At = None


@dataclass(frozen=True, slots=True)
class Group:
    """`(a, b)`, an argument of what SymPy prints so: a case of Piecewise."""

    items: tuple["Tree", ...]
    at: At = None


@dataclass(frozen=True, slots=True)
class Explicit:
    """A matrix, entry by entry."""

    rows: tuple[tuple["Tree", ...], ...]
    at: At = None


Node = TypeVar("Node")
Position = int | str
"""A place counted from 0, or the name of what says it."""

Tree = (
    Literal
    | Name
    | Constant
    | Call
    | Negate
    | Sum
    | Product
    | Power
    | Transposed
    | Subscript
    | Comparison
    | Group
    | Explicit
)


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    """Return the fields of a kind of node that hold its parts, by their annotations."""
    return tuple(field.name for field in fields(kind) if re.search("Tree|Formula", str(field.type)))


def parts(node: Any) -> tuple[Any, ...]:
    """Return the direct parts of a node of a tree, or of a typed formula, from left to right."""
    values = [getattr(node, name) for name in _fields(type(node))]
    while values and isinstance(values[0], tuple):
        values = [*chain(*values)]
    return tuple(values)


def with_parts(node: Node, new: Sequence[object]) -> Node:
    """Return a node with other parts, as many as it has; the node itself where they are the same objects."""
    if all(old is part for old, part in zip(parts(node), new, strict=True)):
        return node
    left = iter(new)

    def put(old: object) -> object:
        return tuple(map(put, old)) if isinstance(old, tuple) else next(left)

    return replace(cast(Any, node), **{name: put(getattr(node, name)) for name in _fields(type(node))})


def is_deeper(root: object, parts_of: Callable[[Any], Iterable[Any]], most: int) -> bool:
    """Whether a tree is nested more than so many levels deep, found without recursion; parts may be shared."""
    level: tuple[Any, ...] = (root,)
    for _ in range(most):
        level = tuple({id(part): part for node in level for part in parts_of(node)}.values())
    return bool(level)


def placed(tree: Tree, at: At) -> Tree:
    """Return a tree that is said to start elsewhere; its parts stay where they are."""
    return replace(tree, at=at)


def put(tree: Tree, named: Mapping[str, Tree]) -> Tree:
    """Return a tree with formulas in the place of names; each is one object, however often it stands there."""
    if isinstance(tree, Name) and tree.name in named:
        return placed(named[tree.name], tree.at)
    return with_parts(tree, [put(part, named) for part in parts(tree)])


def unplaced(tree: Tree) -> Tree:
    """Return a tree that is part of no text."""
    return placed(with_parts(tree, [unplaced(part) for part in parts(tree)]), None)


def language_names(tree: Tree) -> Iterator[str]:
    """Yield the names in a tree from Python that are known to be the language's, whatever is declared."""
    left = [tree]
    while left:
        part = left.pop()
        if isinstance(part, Constant) or (isinstance(part, Call) and part.language):
            yield part.name
        elif isinstance(part, Explicit):
            yield "Matrix"
        left += parts(part)


def place_at(where: Place, at: At) -> Place:
    """Return the place of a part of a formula whose text starts at `where`.

    On the first line of the text the column is counted on from `where.column`; on later lines from the line's start.
    """
    if at is None or not where.line:
        return where
    if at.line:
        return Place(where.file, where.line + at.line, at.column + 1)
    return Place(where.file, where.line, where.column + at.column if where.column else 0)


def fault_at(where: Place, at: At, entry: str, problem: str, hint: str = "") -> Fault:
    """Return the fault of a part; where the document has no columns, the problem says the column of the formula."""
    if at is not None and not (where.line and where.column):
        line = f"line {at.line + 1}, " if at.line else ""
        problem = f"{problem} ({line}column {at.column + 1} of the formula)"
    return Fault(place_at(where, at), entry, problem, hint)


_LEVELS = ("", "sum", "product", "unary", "power", "atom")

MOST_DIGITS = 20
"""Digits of a number that is written as a decimal; one with more is written as a ratio."""


@dataclass(frozen=True, slots=True)
class Part:
    """A node in a format string: `{0:power}` puts it in brackets where it binds less tightly than a power."""

    node: Any
    rule: Callable[[Any], tuple[str, str]]
    """Returns a format string of the parts of a node, and how tightly it binds."""
    brackets: str = "({})"

    def __format__(self, level: str) -> str:
        form, own = self.rule(self.node)
        inner = [Part(part, self.rule, self.brackets) for part in parts(self.node)]
        text = form.format(*inner) if inner else form
        return text if _LEVELS.index(own) >= _LEVELS.index(level) else self.brackets.format(text)


def listed(several: Sequence[object]) -> str:
    """Return the format string of parts with commas between them."""
    return ", ".join(["{}"] * len(several))


def written(part: Tree) -> str:
    """Return a formula as a document would hold it: `U(theta) + r.T @ inv(M) @ r / 2`."""
    return f"{Part(part, _form)}"


def _form(part: Tree) -> tuple[str, str]:
    match part:
        case Literal(value):
            return _number(value)
        case Name(name) | Constant(name):
            return name, "atom"
        case Call("Not", _, language=True):
            return "~({})", "sum"
        case Call("And" | "Or" as name, args, language=True):
            return (" & " if name == "And" else " | ").join(["({})"] * len(args)), "sum"
        case Call(name, args):
            return f"{name}({listed(args)})", "atom"
        case Negate():
            return "-{:unary}", "unary"
        case Sum(terms):
            signed = ((" - ", term.arg) if isinstance(term, Negate) else (" + ", term) for term in terms[1:])
            return "".join(f"{sign}{Part(term, _form):product}" for sign, term in (("", terms[0]), *signed)), "sum"
        case Product(factors, operators):
            return _product(factors, operators), "product"
        case Power():
            return "{:atom}**{:unary}", "power"
        case Transposed():
            return "{:atom}.T", "atom"
        case Subscript(_, positions):
            return f"{{:atom}}[{', '.join(map(str, positions))}]", "atom"
        case Group(items):
            return f"({listed(items)})", "atom"
        case Explicit(rows) if all(len(row) == 1 for row in rows):
            return f"[{listed(rows)}]", "atom"
        case Explicit(rows):
            return f"Matrix([{', '.join(f'[{listed(row)}]' for row in rows)}])", "atom"
        case Comparison(op):
            return f"{{}} {op} {{}}", "sum"


def _product(factors: tuple[Tree, ...], operators: tuple[str, ...]) -> str:
    """Write a product: `@` between spaces, and a division of what holds one."""
    text = f"{Part(factors[0], _form):unary}"
    for operator, factor in zip(operators, factors[1:], strict=True):
        apart = operator == "@" or (operator == "/" and "@" in text)
        text += f" {operator} {Part(factor, _form):unary}" if apart else f"{operator}{Part(factor, _form):unary}"
    return text


def _number(value: Fraction) -> tuple[str, str]:
    """Write a number: as a decimal where that is exact and short, else as a ratio."""
    if value.denominator == 1:
        return str(value), "atom"
    rest, places = value.denominator, 0
    while rest % 10 == 0 or rest % 2 == 0 or rest % 5 == 0:
        rest //= 10 if rest % 10 == 0 else 2 if rest % 2 == 0 else 5
        places += 1
    digits = str(value.numerator * 10**places // value.denominator)
    if rest > 1 or len(digits) > MOST_DIGITS or places > MOST_DIGITS:
        return f"{value.numerator}/{value.denominator}", "product"
    digits = digits.rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}", "atom"

"""The untyped syntax tree of a formula, with places in the document: what text and Python both produce.

Sums and products are n-ary, so that a sum of thousands of terms is not thousands of nodes deep. A difference `a - b` is
a sum with a negated term; a product keeps the operator before each factor but the first.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Any, TypeVar, cast

from recipe_compiler.errors import Fault, Place
from recipe_compiler.formula.shapes import Size


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
    """`(a, b)` or `[a, b]`, an argument of what SymPy prints so: a case of Piecewise, the rows of a Matrix."""

    items: tuple["Tree", ...]
    at: At = None


@dataclass(frozen=True, slots=True)
class Explicit:
    """A matrix, entry by entry."""

    rows: tuple[tuple["Tree", ...], ...]
    at: At = None


@dataclass(frozen=True, slots=True)
class Sized:
    """The identity (`I`), zeros (`0`) or ones (`1`) of a stated size, None along an axis of length 1."""

    name: str
    rows: Size | None
    cols: Size | None
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
    | Sized
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

"""What a document declares: blocks, parameters, functions and data, with their shapes, kinds and domains."""

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from recipe_compiler.formula.constraints import Constraint, sampled_shape
from recipe_compiler.formula.expression import Compare, Formula, FunctionAt, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape, Size


@dataclass(frozen=True, slots=True)
class Domain:
    """The set in which every coordinate of a block lies.

    `bounds` holds a and b of `interval(a, b)` and `circle(a, b)`, and n of `counts(n)`.
    """

    name: DomainName = DomainName.REAL
    bounds: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the state z: a scalar, a column, or (in targets) a matrix that is flattened row by row."""

    name: str
    shape: Shape = SCALAR
    domain: Domain = Domain()
    """The set in which every entry lies, also for a block that lies in a constrained set as a whole."""
    constraint: Constraint | None = None
    """The set that a block of a target lies in as a whole; it is sampled in other variables then."""

    @property
    def symbol(self) -> Symbol:
        """The block in a formula."""
        return Symbol(self.name, self.shape, Role.BLOCK)

    @property
    def sampled(self) -> "Block":
        """The block that a chain moves: this one, or the unconstrained variables of one in a constrained set."""
        if self.constraint is None:
            return self
        return Block(f"{self.constraint}_{self.name}", sampled_shape(self.constraint, self.shape))


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Exact numbers row by row: a scalar is 1 x 1, a column n x 1. Compared by identity: they may be many."""

    rows: tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constant of the chain: a number, vector or matrix of a declared kind."""

    name: str
    shape: Shape = SCALAR
    kinds: tuple[Kind, ...] = (Kind.REAL,)
    default: Formula | None = None
    value: Entries | None = None
    """Its value if it is known, in builds; it then has its kinds, which nothing else is used for."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of blocks, known only by its shape and kind until it is bound; or one at other blocks, as `U(phi)`."""

    name: str
    of: tuple[str, ...]
    shape: Shape = SCALAR
    kinds: tuple[Kind, ...] = (Kind.REAL,)
    role: str = ""
    """`"potential"`: the function a target binds."""
    home: tuple[str, ...] = ()
    """The blocks it was declared of, where `of` are others."""

    @property
    def value(self) -> FunctionAt:
        """The function at its blocks, as formulas have it."""
        return FunctionAt(self.name, self.of, self.shape, self.home)

    def named(self, value: FunctionAt) -> "Function":
        """Return the function by the name, and at the blocks, that formulas have it."""
        return replace(self, name=value.name, of=value.of, shape=value.shape, home=value.home)


@dataclass(frozen=True, slots=True)
class Datum:
    """A field of the data; `shape` is that of ONE datum, `size` the number of data."""

    name: str
    size: Size
    shape: Shape = SCALAR
    values: tuple[int, ...] = ()
    """The values allowed (`in: [0, 1]`), empty for any finite number."""
    kinds: tuple[Kind, ...] = (Kind.REAL,)
    """What every number of it is, which is looked at before anything runs."""

    is_index: bool = False
    """Whether a datum is a position, counted from 0, along axes as long as its row: formulas then mean by it the row
    that has a one at this position and zeros elsewhere, and arrays hold the position alone."""

    @property
    def known(self) -> tuple[Kind, ...]:
        """The kinds that are declared, and those that follow from the allowed values."""
        least = min(self.values, default=-1)
        shown = (Kind.POSITIVE,) if least > 0 else (Kind.NONNEGATIVE,) if least == 0 else ()
        return (*self.kinds, *shown) if self.values else self.kinds

    def says_kind(self, kind: Kind) -> str:
        """Return what a kind says of its numbers."""
        return "does not decrease" if kind is Kind.INCREASING and self.shape == SCALAR else f"is {kind}"

    @property
    def is_choice(self) -> bool:
        """Whether it is one number of a few."""
        return bool(self.values) and self.shape == SCALAR and not self.is_index

    @property
    def says_values(self) -> str:
        """What is declared of its values."""
        return f"is one of {', '.join(map(str, self.values))}"

    @property
    def axes(self) -> tuple[Size, ...]:
        """The sizes of the array that holds all data of the field."""
        return (self.size,) if self.is_index else (self.size, *self.shape.sizes)


@dataclass(frozen=True, slots=True)
class Declarations:
    """All names of a document, in the order declared. Names are unique over all four."""

    blocks: tuple[Block, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    functions: tuple[Function, ...] = ()
    data: tuple[Datum, ...] = ()
    assume: tuple[Compare, ...] = ()

    def find(self, name: str) -> Block | Parameter | Function | Datum | None:
        """Return the declaration of a name, or None."""
        for group in (self.blocks, self.parameters, self.functions, self.data):
            for declaration in group:
                if declaration.name == name:
                    return declaration
        return None

    @property
    def names(self) -> frozenset[str]:
        """Everything that has a name: what is declared, and the symbolic sizes."""
        groups = (self.blocks, self.parameters, self.functions, self.data)
        return frozenset((*self.sizes, *(item.name for group in groups for item in group)))

    @property
    def own_functions(self) -> tuple[Function, ...]:
        """The functions as declared, each once: at their own blocks."""
        return tuple(function for function in self.functions if not function.home)

    def blocks_of(self, function: str | None) -> frozenset[str]:
        """Return the blocks that a function is one of, wherever formulas have it."""
        return frozenset(block for f in self.functions if f.value.declared == function for block in f.of)

    @property
    def ends_in_order(self) -> tuple[Compare, ...]:
        """The condition a < b for every `interval(a, b)` and `circle(a, b)`, which otherwise is empty."""
        ends = [block.domain.bounds for block in self.blocks if len(block.domain.bounds) == 2]
        return tuple(Compare("<", low, high, SCALAR) for low, high in ends)

    @property
    def sizes(self) -> tuple[str, ...]:
        """The symbolic sizes in the shapes declared, in order of appearance."""
        shapes = [item.shape for item in (*self.blocks, *self.parameters, *self.functions, *self.data)]
        counts = [datum.size for datum in self.data]
        found = [size for shape in shapes for size in shape.sizes] + counts
        return tuple(dict.fromkeys(one for size in found if isinstance(size, str) for one in size.split("*")))


Item = TypeVar("Item", Block, Parameter, Function, Datum)


def by_name(items: Iterable[Item]) -> dict[str, Item]:
    """Return what is declared, by its name."""
    return {item.name: item for item in items}


def unused(name: str, taken: Container[str]) -> str:
    """Return a name that none has yet: the one wanted, with as many underscores behind it as it takes."""
    while name in taken:
        name += "_"
    return name

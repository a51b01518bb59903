"""What is computed before it is used: named arrays, for a whole chain, for a step, or for every row of the data."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.combine import Loops, first_free
from recipe_compiler.program.loops import Array, Assign, Call, For, Ref, Statement
from recipe_compiler.program.traverse import compared, refs
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Determinant,
    Index,
    Inverse,
    Pi,
    SizeNumber,
    Tensor,
)

DATUM = "n"
"""The label of the index over data."""

ROW = "row"
"""The loop variable that is the number of a row of the data."""

POSITION = f"[{DATUM}]"
"""How the label of a position ends that an index field of the datum says: `g[n]`."""

LETTERS = ("i", "j", "k", "l", "m", "n", "p", "q")
"""Loop variables, outermost first."""

Item = TypeVar("Item")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Definition:
    """An array or scalar that is computed before it is used, and the statements that compute it."""

    array: Array
    body: tuple[Statement, ...]
    constant: bool
    """Whether it stays the same along the chain."""
    of_datum: bool
    """Whether it has an entry for every row of the data that a step reads."""


def of_row(index: Index) -> bool:
    """Whether an index is fixed by the row of the data: the row's number, or a position given by an index field."""
    return index.label == DATUM or index.label.endswith(POSITION)


def reads_position(statement: Statement) -> bool:
    """Whether a statement reads a position that an index field says."""
    return isinstance(statement, Assign) and isinstance(statement.value, Call) and statement.value.fn == "uint64"


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of the data that a step reads: all of them, or those of a minibatch."""

    count: Size
    position: str
    """The variable that counts them; in a minibatch it is not the number of the row."""
    minibatch: bool
    index: Index
    """The number of a row in index notation."""
    places: tuple[tuple[Index, str, str], ...] = ()
    """Positions that index fields say, with their variables, and the fields."""

    def loop(self, body: tuple[Statement, ...]) -> Statement:
        """Return the loop over the rows; `ROW` is the number of the row, positions from index fields are read first."""
        used = {place for ref in refs(body) for place in ref.at} | set(compared(body))
        read = (Assign(Ref(v), Call("uint64", (Ref(field, (ROW,)),))) for _, v, field in self.places if v in used)
        return For(ROW, self.count, (*read, *body), position=self.position if self.minibatch else "")


@dataclass(frozen=True, slots=True)
class Definitions:
    """The arrays and scalars defined so far while tensors are lowered to scalar expressions, in the order they need.

    Lowering takes one and returns its result with the next: nothing here is mutable.
    """

    constants: frozenset[str]
    """Names whose components stay the same along the chain."""
    symmetric: frozenset[str]
    """Names of symmetric matrices."""
    taken: frozenset[str]
    """Names in use; loop variables and new names stay clear of them."""
    fixed: tuple[Definition, ...] = ()
    """What stays the same along the chain, for `prepare`."""
    changing: tuple[Definition, ...] = ()
    """What is computed at every step, in the procedure being lowered."""
    singletons: frozenset[str] = frozenset()
    """Names of arrays of length one that stand for a number: the gradient by a scalar block."""
    rows: Rows | None = None
    """The rows a gradient reads, while one is lowered."""
    ahead: bool = False
    """Whether a function of numbers of the state is computed ahead of the loop that it stands in."""
    meanings: tuple[tuple[object, str], ...] = ()
    """What names stand for, so that what is alike is computed once."""
    triangles: frozenset[str] = frozenset()
    """Blocks of the state that are zero above their diagonal."""
    definite: frozenset[str] = frozenset()
    """Blocks of the state that are symmetric and positive definite."""
    calculus: Calculus | None = None
    """Of what is declared: kinds of parameters."""
    fields: Mapping[str, Size] = field(default_factory=dict)
    """Index fields of the data, with the number of their positions."""

    def having(self, definition: Definition) -> "Definitions":
        """Return the definitions with one more, whose operands were added before."""
        if definition.constant:
            constants = self.constants | {definition.array.name}
            return replace(self, fixed=(*self.fixed, definition), constants=constants)
        return replace(self, changing=(*self.changing, definition))

    def naming(self, wanted: str) -> tuple[str, "Definitions"]:
        """Return `wanted`, or `wanted_2`, ... if it is taken, and the definitions in which the name is taken."""
        name = first_free(wanted, self.taken)
        return name, replace(self, taken=self.taken | {name})

    def meaning(self, what: object, name: str) -> "Definitions":
        """Return the definitions with a name recorded for an expression."""
        return replace(self, meanings=(*self.meanings, (what, name)))

    def name_of(self, what: object) -> str | None:
        """Return the name recorded for an expression, None if there is none."""
        return next((name for meant, name in self.meanings if meant == what), None)

    def forgetting(self, kept: int = 0) -> "Definitions":
        """Return the definitions without those of a step, except the first `kept`.

        A procedure cannot see what another one computes for itself, nor can what follows a loop see what an iteration
        computes.
        """
        own = {definition.array.name for definition in self.changing[kept:]}
        meanings = tuple(pair for pair in self.meanings if pair[1] not in own)
        return replace(self, changing=self.changing[:kept], meanings=meanings)

    def variables(self, indices: tuple[Index, ...]) -> dict[Index, str]:
        """Return loop variables for nested indices; the row of the data and positions in it have their own."""
        letters = [letter for letter in LETTERS if letter not in self.taken]
        nested = [index for index in indices if not of_row(index)]
        places = {} if self.rows is None else {index: variable for index, variable, _ in self.rows.places}
        return dict(zip(nested, letters, strict=False)) | {i: places.get(i, ROW) for i in indices if of_row(i)}

    def loops(self, sizes: tuple[Size, ...]) -> Loops:
        """Return the loop over the entries of a block: its free index `i`, or none for a scalar."""
        own = tuple(Index(size, label) for size, label in zip(sizes, ("i", "j"), strict=False))
        variables = self.variables(own)
        return tuple((index, variables[index]) for index in own)

    def is_constant(self, atom: Atom) -> bool:
        """Whether an atom stays the same along the chain."""
        match atom:
            case Component(name, _, by):
                return name in self.constants and not by
            case Coordinate():
                return False
            case Applied(_, args):
                return all(self.is_constant_tensor(arg) for arg in args)
            case Base(arg):
                return self.is_constant_tensor(arg)
            case Inverse(of, _) | Determinant(of, _):
                return self.is_constant_tensor(of.entry)
            case SizeNumber() | Pi() | Delta():
                return True

    def is_constant_tensor(self, tensor: Tensor) -> bool:
        """Whether a tensor stays the same along the chain."""
        return all(self.is_constant(atom) for term in tensor.terms for atom, _ in term.factors)


def each(
    lower: Callable[[Definitions, Item], tuple[Found, Definitions]], defined: Definitions, items: Iterable[Item]
) -> tuple[tuple[Found, ...], Definitions]:
    """Return the results for all items, in order, and the definitions after the last."""
    found: list[Found] = []
    for item in items:
        one, defined = lower(defined, item)
        found.append(one)
    return tuple(found), defined

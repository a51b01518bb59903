"""What is computed before it is used: named arrays, for a whole chain, for a step, or for every row of the data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.combine import Loops, first_free
from recipe_compiler.program.loops import Array, Assign, Body, Call, For, Ref, Statement
from recipe_compiler.program.program import STAGE, STEP
from recipe_compiler.program.traverse import compared, refs
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Index,
    MatrixFunction,
    Pi,
    SizeNumber,
    Tensor,
)

DATUM = "n"
"""The label of the index over data."""

ROW = "row"
"""The loop variable that is the number of a row of the data."""

OF_ROW = {DATUM: ROW, STEP: STEP, STAGE: STAGE}
"""Labels of indices that the row fixes, or its step and stage there, to their variables."""

POSITION = f"[{DATUM}]"
"""How the label of a position ends that an index field of the datum says: `g[n]`."""

LETTERS = ("i", "j", "k", "l", "m", "n", "p", "q")
"""Loop variables, outermost first."""


@dataclass(frozen=True, slots=True)
class Definition:
    """An array or scalar that is computed before it is used, and the statements that compute it."""

    array: Array
    body: Body
    of_datum: bool
    """Whether it has an entry for every row of the data that a step reads."""


def of_row(index: Index) -> bool:
    """Whether an index is fixed inside a row of the data: its number, a step in it, a position by an index field."""
    return index.label in OF_ROW or index.label.endswith(POSITION)


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

    def loop(self, body: Body) -> Statement:
        """Return the loop over the rows; `ROW` is the number of the row, positions from index fields are read first."""
        used = {place for ref in refs(body) for place in ref.at} | set(compared(body))
        read = (Assign(Ref(v), Call("uint64", (Ref(field, (ROW,)),))) for _, v, field in self.places if v in used)
        return For(ROW, self.count, (*read, *body), position=self.position if self.minibatch else "")


@dataclass(slots=True)
class Definitions:
    """The arrays and scalars defined so far while tensors are lowered to scalar expressions, in the order they need.

    Lowering adds to them. What its fields hold is not mutable, so that a copy (`replace`) is apart from what it copies.
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
    solves: bool = False
    """Whether a step solves equations: what an iteration computes is done again and again."""
    meanings: tuple[tuple[object, str], ...] = ()
    """What names stand for, so that what is alike is computed once."""
    triangles: frozenset[str] = frozenset()
    """Blocks of the state that are zero above their diagonal."""
    definite: frozenset[str] = frozenset()
    """Blocks of the state that are symmetric and positive definite."""
    calculus: Calculus | None = None
    """Knows what is declared: kinds of parameters."""
    fields: Mapping[str, Size] = field(default_factory=dict)
    """Index fields of the data, with the number of their positions."""

    def having(
        self, array: Array, body: Body, *, constant: bool = False, of_datum: bool = False,
        meant: object = None,
    ) -> None:  # fmt: skip
        """Take what computes an array or scalar, whose operands were taken before, and what it stands for."""
        definition = Definition(array, body, of_datum)
        if constant:
            self.constants |= {array.name}
            self.fixed += (definition,)
        else:
            self.changing += (definition,)
        if meant is not None:
            self.meaning(meant, array.name)

    def naming(self, wanted: str) -> str:
        """Take the name `wanted`, or `wanted_2`, ... if it is taken, and return it."""
        name = first_free(wanted, self.taken)
        self.taken |= {name}
        return name

    def named(self, wanted: Iterable[str]) -> tuple[str, ...]:
        """Take names like some, and return them in their order."""
        return tuple(map(self.naming, wanted))

    def meaning(self, what: object, name: str) -> None:
        """Record what a name stands for."""
        self.meanings += ((what, name),)

    def name_of(self, what: object) -> str | None:
        """Return the name recorded for an expression, None if there is none."""
        return next((name for meant, name in self.meanings if meant == what), None)

    def forget(self, kept: int = 0) -> None:
        """Forget what is computed at every step, except the first `kept`.

        A procedure cannot see what another one computes for itself, nor can what follows a loop see what an iteration
        computes.
        """
        own = {definition.array.name for definition in self.changing[kept:]}
        self.meanings = tuple(pair for pair in self.meanings if pair[1] not in own)
        self.changing = self.changing[:kept]

    def computed(self, begin: int = 0) -> tuple[Body, tuple[Array, ...]]:
        """Return the statements of what is computed at every step from the `begin`-th on, and the arrays it fills."""
        own = self.changing[begin:]
        statements = tuple(statement for definition in own for statement in definition.body)
        return statements, tuple(definition.array for definition in own if definition.array.sizes)

    def variables(self, indices: tuple[Index, ...]) -> dict[Index, str]:
        """Return loop variables for nested indices; the row of the data and positions in it have their own."""
        letters = [letter for letter in LETTERS if letter not in self.taken]
        nested = [index for index in indices if not of_row(index)]
        places = {} if self.rows is None else {index: variable for index, variable, _ in self.rows.places}
        return dict(zip(nested, letters, strict=False)) | {
            i: places.get(i, OF_ROW.get(i.label, ROW)) for i in indices if of_row(i)
        }

    def loops(self, sizes: tuple[Size, ...]) -> Loops:
        """Return the loop over the entries of a block: its free index `i`, or none for a scalar."""
        return self.over(tuple(Index(size, label) for size, label in zip(sizes, ("i", "j"), strict=False)))

    def over(self, indices: tuple[Index, ...]) -> Loops:
        """Return the loops over indices, the first outermost."""
        variables = self.variables(indices)
        return tuple((index, variables[index]) for index in indices)

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
            case MatrixFunction(_, of):
                return self.is_constant_tensor(of.entry)
            case SizeNumber() | Pi() | Delta():
                return True

    def is_constant_tensor(self, tensor: Tensor) -> bool:
        """Whether a tensor stays the same along the chain."""
        return all(self.is_constant(atom) for term in tensor.terms for atom, _ in term.factors)

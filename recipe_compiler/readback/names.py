"""The values of a program's names while its emitted text is read: symbols, or one exact rational point.

Inverses are exact.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from recipe_compiler.algebra.scalars.constraints import value
from recipe_compiler.algebra.scalars.matrices import inverse
from recipe_compiler.algebra.scalars.symbols import component, coordinate, label, length, positions
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Parameter, by_name
from recipe_compiler.formula.extents import valued
from recipe_compiler.formula.shapes import Kind, Size, Sizes
from recipe_compiler.program.atoms import matrix_name
from recipe_compiler.program.program import Program
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.scalars import Scalar, scalarise
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Grid, Index, MatrixFunction, Tensor

Value = Any
EPS = sp.Symbol("eps", positive=True)
BATCH = 2
"""Rows of the minibatches that are read; the data then have one row more."""
PRECISION = 80
"""Digits of numbers at a point where they are not exact: more than the 60 in which they are compared."""
LARGEST_SYMBOLIC = 4
"""Rows of a matrix that is inverted as symbols."""
TABLES, ENTRIES = 64, 2**16
"""Coordinates, gradients and inverses that are kept, and entries of parameters: a sum asks for every one many times."""


def exact_inverse(matrix: np.ndarray) -> np.ndarray:
    """Return the inverse of an n x n array of expressions, exactly; of decimals, to `PRECISION` digits."""
    flat = matrix.ravel()
    if any(entry.is_Float for entry in flat) and all(entry.is_number for entry in flat):
        with mpmath.workdps(PRECISION):
            found = mpmath.inverse(mpmath.matrix([[_number(entry) for entry in row] for row in matrix]))
            return np.array([[sp.Float(entry, PRECISION) for entry in row] for row in found.tolist()], object)
    return np.array(inverse(tuple(tuple(row) for row in matrix)), object)


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """The values of a program's names at fixed sizes: symbols, or the coordinates of one exact rational point.

    A value is only itself: what is worked out of it is kept by functions below.
    """

    program: Program
    sizes: Sizes
    at_point: bool = False
    turn: int = 0
    """How far the positions of index fields are turned: what is read of some is then read of others."""
    digits: int = 0
    """How many the numbers at a point have; 0: they are exact."""
    mirrored: bool = False
    """Whether the numbers at a point are below 0, of names that may be: |x| is x at one point, and -x at the other."""

    is_at_rest: bool = False
    """Whether eps and propagators are symbols, at a point too, and each gradient is that at the state."""
    known: Mapping[str, Callable[[tuple[int, ...]], Scalar]] = field(default_factory=dict)
    """The entries of values that are none of the program's names, or not what they are at the point, by position."""
    base: "Names | None" = None
    """The same without these: what does not depend on them is worked out once."""

    def given(self, moved: Mapping[str, Sequence[Scalar]]) -> "Names":
        """Return the same with the entries of other values by their names, or of blocks in the place of coordinates."""
        known = {**self.known, **{name: partial(_entry, entries) for name, entries in moved.items()}}
        return replace(self, known=known, base=self.base or self)

    @property
    def declarations(self) -> Declarations:
        """The program's names as declarations."""
        return Declarations(self.program.blocks, self.program.parameters, (), self.program.data)

    @property
    def eps(self) -> Scalar:
        """The step size."""
        return sp.Rational(1, 16) if self.at_point and not self.is_at_rest else EPS

    def block(self, block: Block) -> list[Scalar]:
        """Return the coordinates of a block."""
        return list(_coordinates(self, block.name).values())

    def block_at(self, entries: Sequence[Scalar]) -> str:
        """Return the name of the block that has these values; empty if there is none."""
        return next((block.name for block in self.program.blocks if self.block(block) == list(entries)), "")

    def gradient(self, value: str = "") -> list[Scalar]:
        """Return symbols for grad U (or its estimate) at the state, or for another value of it, entry by entry."""
        return list(_gradient(self, self.program.gradients.get(value, value) if self.is_at_rest else value))

    @property
    def potentials(self) -> Mapping[str, str]:
        """Other blocks that H has U at, to the names of its values there."""
        own = self.program.cycle.potential if self.program.cycle else None
        return dict(own.others if own else ())

    def potential(self, value: str) -> Scalar:
        """Return what stands for a value of U at another block."""
        return self.valued(sp.Symbol(value, real=True))

    def component(self, name: str, at: tuple[int, ...]) -> Scalar:
        """Return an entry of a parameter."""
        return _component(self, name, at)

    @property
    def for_steps(self) -> "Names":
        """The same at a point where a step inverts a large matrix; with many digits if one of the state, without noise.

        The inverse of a symbolic n x n matrix has n! terms; functions of one that depends on the state have no normal
        form.
        """
        shifts = () if self.program.noises else self.program.shifts
        if _invert_state(tuple(shift.rate for shift in shifts)):
            return replace(self, at_point=True, digits=PRECISION)
        matrices = (p.shape for p in self.program.parameters if p.shape.cols is not None and p.value is None)
        is_large = any(length(shape.sizes[0], self.sizes) > LARGEST_SYMBOLIC for shape in matrices)
        return replace(self, at_point=self.at_point or is_large)

    @property
    def for_gradients(self) -> "Names":
        """The same at a point with many digits if U has no normal form: on sets, of recursions, of inverted states."""
        gradient = self.program.gradient
        if gradient is None:
            return self
        in_sets = any(part.block.constraint is not None for part in gradient.parts)
        tensors = tuple(t for part in gradient.parts for t in (part.prior, part.datum) if t is not None)
        numeric = gradient.recursion or in_sets or _invert_state(tensors)
        return replace(self, at_point=True, digits=PRECISION) if numeric else self

    @property
    def signed(self) -> "tuple[Names, ...]":
        """The same; at a point a second one below 0, too."""
        return (self, replace(self, mirrored=True)) if self.at_point else (self,)

    def valued(self, value: Scalar) -> Scalar:
        """Return an expression in symbols; at a point, with a rational in (0, 2) for each, made from its name.

        Where the point is mirrored it is in (-2, 0), but of a symbol that is known to be positive.
        """
        if not self.at_point:
            return value
        numbers = {symbol: rational_of(symbol.name) for symbol in value.free_symbols}
        if self.mirrored:
            numbers = {x: number if x.is_nonnegative else -number for x, number in numbers.items()}
        return value.xreplace(
            {x: sp.Float(number, self.digits) if self.digits else number for x, number in numbers.items()}
        )

    def parameter(self, name: str) -> Scalar | np.ndarray:
        """Return a parameter: a number, or an array of them."""
        item = self.declarations.find(name)
        if not isinstance(item, Parameter):
            raise CompilerError(f"{name} is not a parameter of the program")
        return self.array(item.shape.sizes, partial(self.component, name))[()]

    @property
    def propagators(self) -> Mapping[str, tuple[Block, Block]]:
        """The arrays of propagators, each with its pair of blocks."""
        return {name: pair for own in self.program.propagators for name, pair in own.arrays.items()}

    def propagated(self, name: str, at: tuple[int, ...]) -> Scalar:
        """Return an entry of a matrix of a propagator; covariances are symmetric, as the flow that they are of says."""
        for own in self.program.propagators:
            for a, row in enumerate(own.covariance):
                for b, entry in enumerate(row):
                    if entry == name and (b, at[1]) < (a, at[0]):
                        return self.propagated(own.covariance[b][a], (at[1], at[0]))
        symbol = sp.Symbol(label(name, at), real=True)
        return symbol if self.is_at_rest else self.valued(symbol)

    def position(self, field: Datum, row: int) -> int:
        """Return the position of a row by an index field, 1, 1, 2, 2, 3, ..., turned: some rows share one."""
        turn = self.turn + [own.name for own in self.program.data if own.is_index].index(field.name)
        return (1 + row // 2 + turn) % length(field.shape.cols or 1, self.sizes)

    def datum(self, field: Datum, at: tuple[int, ...]) -> Scalar:
        """Return one entry of a field of the data, the row first; of an index field 1 at its position, else 0."""
        if field.is_index:
            return sp.Integer(at[1:] == (self.position(field, at[0]),))
        here = self if field.known == (Kind.REAL,) else replace(self, mirrored=False)
        return here.valued(sp.Symbol(label(field.name, at), real=True))

    def data(self, field: Datum) -> np.ndarray:
        """Return a field of the data as an array of symbols; positions are numbers."""
        entry = (lambda at: self.position(field, *at)) if field.is_index else partial(self.datum, field)
        return self.array(field.axes, entry)

    def invert(self, matrix: np.ndarray) -> np.ndarray:
        """Return the inverse of a matrix that the kernel inverts: as symbols if it is a parameter, else computed."""
        for parameter in self.program.parameters:
            if parameter.shape.cols is None:
                continue
            own = np.asarray(self.parameter(parameter.name))
            if own.shape == matrix.shape and all(a == b for a, b in zip(own.ravel(), matrix.ravel(), strict=True)):
                return _inverse(self, parameter.name)
        return exact_inverse(matrix)

    def inverses_written_out(self, expressions: Iterable[Scalar]) -> dict[Scalar, Scalar]:
        """Return the symbols in expressions that stand for entries of inverses, with what they stand for."""
        found: dict[Scalar, Scalar] = {}
        heads = {symbol.name.partition("[")[0] for e in expressions for symbol in e.free_symbols}
        for name in (p.name for p in self.program.parameters if f"inv({p.name})" in heads):
            written_out = exact_inverse(np.asarray(self.parameter(name)))
            found |= dict(zip(_inverse(self, name).ravel(), written_out.ravel(), strict=True))
        return found

    def array(self, sizes: Iterable[Size], entry: Callable[[tuple[int, ...]], Scalar]) -> np.ndarray:
        """Return an array of some sizes by its entries."""
        array = np.full(tuple(length(size, self.sizes) for size in sizes), None, object)
        for at in np.ndindex(array.shape):
            array[at] = entry(at)
        return array

    def atom(self, atom: Atom) -> Scalar | None:
        """Return the symbol of a coordinate or component with integer slots, None for what is computed from others."""
        base = self.base or self
        match atom:
            case Coordinate(name, at) if name in self.known:
                return self.known[name](integers(at))
            case Coordinate(name, at):
                return _coordinates(self, name)[integers(at)]
            case Component(name, at, ()):
                return (self.known.get(name) or _components(base)[name])(integers(at))
            case MatrixFunction("inv", of, (int(row), int(col))) if (name := matrix_name(of)) is not None:
                return _inverse(base, name)[row, col]
            case MatrixFunction(fn, of, at) if self.at_point and fn != "halved":
                return _at_matrix(self if depends_on_state(of) else base, fn, of)[integers(at)]
            case _:
                return None


def _entry(entries: Sequence[Scalar], at: tuple[int, ...]) -> Scalar:
    """Return an entry of a vector, or of a number."""
    return entries[at[0] if at else 0]


@lru_cache(maxsize=TABLES)
def _components(names: Names) -> Mapping[str, Callable[[tuple[int, ...]], Scalar]]:
    """Return what the names of a program mean that are no blocks, by position."""
    program = names.program
    return {
        **{parameter.name: partial(names.component, parameter.name) for parameter in program.parameters},
        "eps": lambda _: names.eps,
        **{name: partial(_entry, names.gradient(name)) for name in program.gradients},
        **{name: lambda _, name=name: names.potential(name) for name in names.potentials.values()},
        **{name: partial(names.propagated, name) for name in names.propagators},
        **{field.name: partial(names.datum, field) for field in program.data},
    }


@lru_cache(maxsize=TABLES)
def _invert_state(tensors: tuple[Tensor, ...]) -> bool:
    """Whether tensors have Cholesky factors, or inverses or determinants of matrices that depend on the state."""
    atoms = (atom for tensor in tensors for atom in everywhere(tensor))
    return any(atom.fn == "cholesky" or depends_on_state(atom.of) for atom in atoms if isinstance(atom, MatrixFunction))


@lru_cache(maxsize=ENTRIES)
def depends_on_state(grid: Grid) -> bool:
    """Whether an entry of a matrix is a function of coordinates."""
    return any(isinstance(atom, Coordinate) for atom in everywhere(grid.entry))


@lru_cache(maxsize=TABLES)
def _coordinates(names: Names, name: str) -> Mapping[tuple[int, ...], Scalar]:
    """Return the entries of a block by position; a target's block that is a part of the potential's is cut.

    Entries of one that lies in a set are what its variables make them.
    """
    gradient, sizes = names.program.gradient, names.sizes
    for part in gradient.parts if gradient is not None and gradient.stacked else ():
        if part.block.name == name and gradient is not None:
            start = valued(part.start, sizes)
            held = tuple(names.block(gradient.block)[start : start + len(positions(part.block.sampled.shape, sizes))])
            if part.block.constraint is not None:
                return dict(value(part.block.constraint, held, length(part.block.shape.sizes[0], sizes)))
            return dict(zip(positions(part.block.shape, sizes), held, strict=True))
    block = by_name(names.program.blocks)[name]
    entries = names.known.get(name) or (lambda at: names.valued(coordinate(block, at)))
    return {at: entries(at) for at in positions(block.shape, sizes)}


@lru_cache(maxsize=TABLES)
def _gradient(names: Names, value: str) -> tuple[Scalar, ...]:
    gradient = names.program.gradient
    if gradient is None:
        return ()
    places = positions(gradient.block.shape, names.sizes)
    return tuple(names.valued(sp.Symbol(label(value or gradient.name, at), real=True)) for at in places)


@lru_cache(maxsize=ENTRIES)
def _component(names: Names, parameter: str, at: tuple[int, ...]) -> Scalar:
    item = names.declarations.find(parameter)
    if not isinstance(item, Parameter):
        raise CompilerError(f"{parameter} is not a parameter of the program")
    # at a point, a heavy diagonal makes every matrix invertible and those declared definite definite
    is_heavy = names.at_point and item.value is None and len(at) == 2 and at[0] == at[1]
    heavy = 4 * names.sizes.get(str(item.shape.rows), 8) if is_heavy else 0
    return names.valued(component(item, at, names.declarations, names.sizes)) + heavy


@lru_cache(maxsize=TABLES)
def _inverse(names: Names, parameter: str) -> np.ndarray:
    """Return the inverse of a matrix parameter: one symbol for each entry, or numbers at a point."""
    matrix = np.asarray(names.parameter(parameter))
    if names.at_point or all(entry.is_Rational for entry in matrix.ravel()):
        return exact_inverse(matrix)
    symmetric = all(matrix[i, j] == matrix[j, i] for i in range(matrix.shape[0]) for j in range(i))
    diagonal = symmetric and all(matrix[i, j] == 0 for i in range(matrix.shape[0]) for j in range(i))
    found = np.full(matrix.shape, sp.Integer(0), object)
    for i, j in np.ndindex(matrix.shape):
        at = (min(i, j), max(i, j)) if symmetric else (i, j)
        if i == j or not diagonal:
            found[i, j] = sp.Symbol(label(f"inv({parameter})", at), real=True)
    return found


@lru_cache(maxsize=TABLES)
def _at_matrix(names: Names, fn: str, grid: Grid) -> np.ndarray:
    """Return a function of a matrix that is computed of others, at a point."""
    matrix = _matrix_at(names, grid)
    if fn == "inv":
        return exact_inverse(matrix)
    with mpmath.workdps(PRECISION):
        own = mpmath.matrix([[_number(entry) for entry in row] for row in matrix])
        if fn == "cholesky":
            return np.array([[sp.Float(x, PRECISION) for x in row] for row in mpmath.cholesky(own).tolist()], object)
        found = sp.Float(mpmath.det(own), PRECISION)
        return np.array(sp.log(found) if fn == "logdet" else found, object)


def _matrix_at(names: Names, grid: Grid) -> np.ndarray:
    def entry(at: tuple[int, ...]) -> Scalar:
        places = dict(zip((grid.row, grid.col), at, strict=True))
        return scalarise(grid.entry, names.sizes, places, names.atom, apart=True)

    return names.array((grid.row.size, grid.col.size), entry)


def known_numbers(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix with a number for each symbol in it, made from its name: what is compared is compared there."""
    if any(entry is None for entry in matrix.ravel()):
        raise CompilerError("the emitted text factorises a matrix with entries that it has not written")
    numbers = {symbol: rational_of(symbol.name) for entry in matrix.ravel() for symbol in entry.free_symbols}
    flat = [sp.Float(sp.N(entry.xreplace(numbers), PRECISION), PRECISION) for entry in matrix.ravel()]
    return np.array(flat, object).reshape(matrix.shape)


def _number(entry: Scalar) -> Any:
    """Return a number of SymPy as one of mpmath."""
    return mpmath.mpmathify(sp.N(entry, mpmath.mp.dps))


def rational_of(name: str) -> Scalar:
    """Return a rational number in (0, 2) that a name alone determines; never 1, which would hide a factor.

    Its denominator is small: exponentials of such numbers are powers of one of them, of a degree that grows with it.
    """
    digits = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    return sp.Rational(2 * (digits % 100) + 1, 100)


def rounded(value: Scalar, digits: int) -> Scalar:
    """Return a number in so many digits, as all others at a point are: of one like sin(1/4) sums stay unevaluated.

    What is no number, or is asked for in no digits, stays what it is.
    """
    if not digits or not isinstance(value, sp.Expr) or value.is_Float or not value.is_number:
        return value
    return sp.N(value, digits)


def integers(at: tuple[Index | int, ...]) -> tuple[int, ...]:
    """Return the slots of an atom whose slots all are positions."""
    return tuple(k for k in at if isinstance(k, int))

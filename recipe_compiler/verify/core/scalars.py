"""Tensors of the index calculus written out at fixed sizes in the names of the second engine."""

from itertools import product

from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.matrices import Rows, cholesky, inverse
from recipe_compiler.algebra.scalars.symbols import component, coordinate
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Function, Parameter
from recipe_compiler.tensor.scalars import Leaf, scalarise
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Grid, Index, MatrixFunction, Tensor
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject, once_at_sizes


def make_leaf(declarations: Declarations, sizes: Sizes) -> Leaf:
    """Return the function that maps an atom of the index calculus to its scalar in the second engine.

    The coordinate theta_1 becomes `theta[1]`, a component C_01 `C[0,1]`, a derivative of a function that of its scalar;
    an entry of an inverse becomes cofactor/determinant.

    Raises:
        CompilerError: a name that is not a block, or not declared.
    """

    def coordinate_symbol(place: Coordinate) -> Symbol:
        block = declarations.find(place.block)
        if not isinstance(block, Block):
            raise CompilerError(f"{place.block} is not a block")
        return coordinate(block, _require_integers(place.at))

    matrices: dict[tuple[str, Grid], Rows] = {}

    def of_matrix(fn: str, grid: Grid) -> Rows:
        if (fn, grid) not in matrices:
            a = tuple(
                tuple(
                    scalarise(grid.entry, sizes, {grid.row: i, grid.col: j}, leaf)
                    for j in _list_positions(grid.col, sizes)
                )
                for i in _list_positions(grid.row, sizes)
            )
            matrices[fn, grid] = inverse(a) if fn == "inv" else cholesky(a)
        return matrices[fn, grid]

    def leaf(atom: Atom) -> Expr | None:
        if isinstance(atom, Coordinate):
            return coordinate_symbol(atom)
        if isinstance(atom, MatrixFunction) and atom.at:
            i, j = _require_integers(atom.at)
            return of_matrix(atom.fn, atom.of)[i][j]
        if not isinstance(atom, Component):
            return None
        item = declarations.find(atom.name)
        if not isinstance(item, (Parameter, Function, Datum)):
            raise CompilerError(f"{atom.name} is not declared")
        found = component(item, _require_integers(atom.at), declarations, sizes)
        for z in atom.by:
            found = slope(found, coordinate_symbol(z))
        return found

    return leaf


def write_out(tensor: Tensor, sizes: Sizes, leaf: Leaf) -> tuple[Expr, ...]:
    """Return all entries of a tensor at fixed sizes, row by row of its free indices.

    One scalar without free indices, n for one, n * m for two.
    """
    places = product(*(_list_positions(index, sizes) for index in tensor.free))
    return tuple(scalarise(tensor, sizes, dict(zip(tensor.free, place, strict=True)), leaf) for place in places)


def _list_positions(index: Index, sizes: Sizes) -> range:
    return range(index.size if isinstance(index.size, int) else sizes[index.size])


def _require_integers(slots: tuple[object, ...]) -> tuple[int, ...]:
    found = tuple(slot for slot in slots if isinstance(slot, int))
    if len(found) != len(slots):
        raise CompilerError("an index was left without a position")
    return found


@once_at_sizes
def write_drift(subject: Subject, sizes: Sizes) -> dict[str, tuple[Expr, ...]]:
    """Return the derived drift f = -(D + Q) grad H + Gamma at fixed sizes, block by block, n_b scalars each.

    Derived by the index calculus and then written out: it is what the second engine judges. Empty where there is no D.
    (Ma, Chen, Fox 2015, Eq. 3.)
    """
    if subject.derivation is None:
        return {}
    leaf = make_leaf(subject.declarations, sizes)
    return {name: write_out(f, sizes, leaf) for name, f in zip(subject.names, subject.derivation.drift, strict=True)}

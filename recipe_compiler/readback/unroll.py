"""A recursion written out row by row, as its Program states it: U is differentiated as a whole, without an adjoint."""

import sympy as sp

from recipe_compiler.algebra.scalars.constraints import log_jacobian
from recipe_compiler.algebra.scalars.symbols import coordinates, length, positions
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.extents import valued
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.program import Gradient, Recursion, RowState
from recipe_compiler.readback.names import Names, integers
from recipe_compiler.tensor.scalars import Scalar, scalarise
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Index, Tensor

Held = dict[str, dict[tuple[int, ...], Scalar]]
"""State to its entries before a row."""


def unrolled(recursion: Recursion, count: Size, here: Names) -> tuple[Scalar, list[Scalar]]:
    """Return -log prior, and -log likelihood of every row, as functions of the coordinates, which stay symbols.

    s_0 = start, s_(n+1) = next(s_n, row n), row by row.
    """
    held: Held = {state.name: _entries(state, state.start, here, {}, 0) for state in recursion.states}
    terms: list[Scalar] = []
    for row in range(length(count, here.sizes)):
        terms.append(_value(recursion.term, here, held, row, ()))
        held = {state.name: _entries(state, state.next, here, held, row) for state in recursion.states}
    return _value(recursion.prior, here, {}, 0, ()), terms


def unrolled_gradient(gradient: Gradient, recursion: Recursion, here: Names) -> list[Scalar]:
    """Return dU/dz of the variables z that are sampled, U written out for all rows."""
    if gradient.count is None:
        raise CompilerError("a recursion without rows")
    prior, terms = unrolled(recursion, gradient.count, here)
    places = tuple((part.block, part.start) for part in gradient.parts)
    U = prior + sp.Add(*terms) - sp.Add(*log_jacobians(gradient.block, places, here))
    return [here.valued(sp.diff(U, z)) for z in coordinates(gradient.block, here.sizes)]


def log_jacobians(whole: Block, places: tuple[tuple[Block, Size], ...], here: Names) -> list[Scalar]:
    """Return the log Jacobian of each block that lies in a set, of its variables as symbols."""
    z = coordinates(whole, here.sizes)
    found: list[Scalar] = []
    for block, start in places:
        if block.constraint is not None:
            first = valued(start, here.sizes)
            u = z[first : first + len(positions(block.sampled.shape, here.sizes))]
            found.append(log_jacobian(block.constraint, u, length(block.shape.sizes[0], here.sizes)))
    return found


def _entries(state: RowState, tensor: Tensor, here: Names, held: Held, row: int) -> dict[tuple[int, ...], Scalar]:
    return {at: _value(tensor, here, held, row, at) for at in positions(state.shape, here.sizes)}


def _value(tensor: Tensor, here: Names, held: Held, row: int, at: tuple[int, ...]) -> Scalar:
    """Return an entry of a tensor of one row, given the states before it."""
    places: dict[Index, int] = {index: row if index.label == "n" else at[0] for index in tensor.free}

    def leaf(atom: Atom) -> Scalar | None:
        match atom:
            case Coordinate(name, slots):
                return here.symbols(name)[integers(slots)]
            case Component(name, (_, *rest), ()) if name in held:
                return held[name][integers(tuple(rest))]
            case Component(name, (int(n), *rest), ()) if name in here.data_names:
                return here.datum(name, n, integers(tuple(rest)))
            case _:
                return here.atom(atom)

    return scalarise(tensor, here.sizes, places, leaf)

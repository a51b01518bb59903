"""A recursion written out row by row, as its Program states it: U is differentiated as a whole, without an adjoint.

Differentiated at a point, by central differences in so many digits that they are the slopes in all that are compared:
written out, U of few rows of a filter is an expression of which SymPy makes no derivative in good time.
"""

from dataclasses import replace

import sympy as sp

from recipe_compiler.algebra.scalars.constraints import log_jacobian
from recipe_compiler.algebra.scalars.symbols import coordinates, length, positions
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.extents import valued
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.program import Gradient, Recursion, RowState
from recipe_compiler.readback.branches import scalarise
from recipe_compiler.readback.names import Names, integers
from recipe_compiler.tensor.scalars import Scalar
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Index, Tensor

Held = dict[str, dict[tuple[int, ...], Scalar]]
"""State to its entries before a row."""
Point = dict[Scalar, Scalar]
"""Coordinates to their values."""
DIGITS, STEP = 240, 80
"""Digits in which differences are taken, and the step, 10**-80: of the slopes 160 digits are left."""


def unrolled(recursion: Recursion, count: Size, here: Names, at: Point) -> tuple[Scalar, list[Scalar]]:
    """Return -log prior and -log likelihood of every row of a recursion, at values of the coordinates.

    s_0 = start, s_(n+1) = next(s_n, row n), written out row by row.
    """
    held: Held = {state.name: _entries(state, state.start, here, {}, 0, at) for state in recursion.states}
    terms: list[Scalar] = []
    for row in range(length(count, here.sizes)):
        terms.append(_value(recursion.term, here, held, row, (), at))
        held = {state.name: _entries(state, state.next, here, held, row, at) for state in recursion.states}
    return _value(recursion.prior, here, {}, 0, (), at), terms


def unrolled_gradient(gradient: Gradient, recursion: Recursion, here: Names) -> list[Scalar]:
    """Return dU/dz of the sampled variables by central differences, (U(z + h e_k) - U(z - h e_k))/(2 h), over all rows.

    With 240 digits and h = 1e-80 the error, h**2 times third derivatives, is far below the digits that are compared.

    Raises:
        CompilerError: the gradient has no number of rows.
    """
    if gradient.count is None:
        raise CompilerError("a recursion without rows")
    wide = replace(here, digits=DIGITS)
    places = tuple((part.block, part.start) for part in gradient.parts)

    def U(at: Point) -> Scalar:
        prior, terms = unrolled(recursion, gradient.count or 0, wide, at)
        jacobians = log_jacobians(gradient.block, places, wide)
        return sp.Add(prior, *terms) - sp.Add(*(one.xreplace(at) for one in jacobians))

    z = point(gradient.block, wide)
    h = sp.Float(10, DIGITS) ** -STEP
    return [(U({**z, x: value + h}) - U({**z, x: value - h})) / (2 * h) for x, value in z.items()]


def point(block: Block, here: Names) -> Point:
    """Return the coordinates of a block with their values at the point."""
    return {z: here.valued(z) for z in coordinates(block, here.sizes)}


def log_jacobians(whole: Block, places: tuple[tuple[Block, Size], ...], here: Names) -> list[Scalar]:
    """Return log |det dg/du| for each block b = g(u) that lies in a set, as an expression in u."""
    z = coordinates(whole, here.sizes)
    found: list[Scalar] = []
    for block, start in places:
        if block.constraint is not None:
            first = valued(start, here.sizes)
            u = z[first : first + len(positions(block.sampled.shape, here.sizes))]
            found.append(log_jacobian(block.constraint, u, length(block.shape.sizes[0], here.sizes)))
    return found


def _entries(
    state: RowState, tensor: Tensor, here: Names, held: Held, row: int, at: Point
) -> dict[tuple[int, ...], Scalar]:
    return {place: _value(tensor, here, held, row, place, at) for place in positions(state.shape, here.sizes)}


def _value(tensor: Tensor, here: Names, held: Held, row: int, place: tuple[int, ...], at: Point) -> Scalar:
    """Return an entry of a tensor of one row, given the states before it."""
    places: dict[Index, int] = {index: row if index.label == "n" else place[0] for index in tensor.free}

    def leaf(atom: Atom) -> Scalar | None:
        match atom:
            case Coordinate(name, slots):
                return here.symbols(name)[integers(slots)].xreplace(at)
            case Component(name, (_, *rest), ()) if name in held:
                return held[name][integers(tuple(rest))]
            case Component(name, (int(n), *rest), ()) if name in here.data_names:
                return here.datum(name, n, integers(tuple(rest)))
            case _:
                return here.atom(atom)

    return scalarise(tensor, here.sizes, places, leaf)

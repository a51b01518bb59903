"""Integrals of exp(-H) over blocks that are Gaussian given the others, one after the other, for every size.

For H = r.T P r/2 - b.T r + c with P positive definite and b, c, P free of r, the integral over r in R^n is

    int exp(-H) dr = (2 pi)**(n/2) exp(-H'),    H' = c + logdet(P)/2 - b.T inv(P) b/2.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.derive.recipe import col_slots, row_slots
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.definite import Definiteness, chain, definite_atom, definiteness
from recipe_compiler.tensor.inverses import grid_indices
from recipe_compiler.tensor.terms import (
    Component,
    Coordinate,
    Delta,
    Grid,
    Index,
    MatrixFunction,
    Slot,
    Tensor,
    Term,
)

HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Gaussian:
    """One integration over a block of n entries: its precision P, n x n, and the energy that is left, a scalar."""

    block: Block
    precision: Tensor
    """P, with the free indices i and j of the block (none of a scalar); positive definite by structure."""
    energy: Tensor
    """H' up to a constant: what is left of the energy."""
    shifted: bool
    """Whether b is not zero, so that a square was completed."""


@dataclass(frozen=True, slots=True)
class Integrated:
    """The energy after all integrations that could be done, a scalar; these in order; and the blocks left over."""

    energy: Tensor
    steps: tuple[Gaussian, ...]
    left: tuple[Block, ...]


def integrate(c: Calculus, energy: Tensor, over: Iterable[Block]) -> Integrated:
    """Return what is left of an energy H once every Gaussian block among `over` is integrated out, one after the other.

    int exp(-H) dr = (2 pi)**(n/2) exp(-H') with H = r.T P r/2 - b.T r + c and H' = c + logdet(P)/2 - b.T inv(P) b/2;
    numerical constants are left out. Ma, Chen, Fox 2015, Eq. 1, requires that what is left is U up to a constant.

    Worked: H = U(theta) + r.T inv(M) r/2 and r of size d leave U(theta) + logdet(inv(M))/2, which is U up to a
    constant. With M = G(theta) they leave U - logdet(G(theta))/2, which is not, unless H holds + logdet(G)/2, too.
    """
    left = list(over)
    steps: list[Gaussian] = []
    while True:
        found = next((g for g in (gaussian(c, energy, block) for block in left) if g is not None), None)
        if found is None:
            return Integrated(energy, tuple(steps), tuple(left))
        energy = found.energy
        steps.append(found)
        left.remove(found.block)


def gaussian(c: Calculus, energy: Tensor, block: Block) -> Gaussian | None:
    """Return the integral over a block r, None if it is not shown to be Gaussian with a positive definite P.

    P = d^2H/(dr dr') is n x n for a block of size n, and b = P r - dH/dr; neither may depend on r. A block with a
    boundary is never Gaussian, nor is one on a circle.
    """
    if block.domain.name is not DomainName.REAL or len(block.shape.sizes) > 1:
        return None
    row, col = row_slots(block), col_slots(block)
    try:
        slope = c.diff(energy, Coordinate(block.name, row))
        precision = c.diff(slope, Coordinate(block.name, col))
        if occurs(c, precision, block.name):
            return None
        moves: dict[Index, Slot] = dict(zip(row, col, strict=True))
        r, renamed = c.coordinate(block.name, *col), c.rename(slope, moves)
        shift = c.subtract(c.total(c.multiply(precision, r), *col), slope)
        linear = c.total(c.multiply(r, renamed), *col)
        here = c.rename(c.coordinate(block.name, *col), dict(zip(col, row, strict=True)))
        form = c.total(c.multiply(precision, here, r), *row, *col)
        rest = c.add(energy, c.scale(linear, -1), c.scale(form, HALF))
    except ModelError:
        return None
    if occurs(c, shift, block.name) or occurs(c, rest, block.name):
        return None
    if definiteness(c, precision) is not Definiteness.DEFINITE:
        return None
    energy = c.add(rest, _integrated_energy(c, block, precision, shift))
    return Gaussian(block, precision, energy, not shift.is_zero)


def occurs(c: Calculus, tensor: Tensor, block: str) -> bool:
    """Whether a coordinate of a block, or a function of it, occurs anywhere in a tensor."""
    return block in blocks_in(c, tensor)


def blocks_in(c: Calculus, tensor: Tensor) -> frozenset[str]:
    """Return the blocks on whose coordinates a tensor may depend."""
    found: set[str] = set()
    for atom in everywhere(tensor):
        match atom:
            case Coordinate(block, _):
                found.add(block)
            case Component(name, _, _):
                found |= {block for function, block in c.rules.depends if function == name}
            case _:
                continue
    return frozenset(found)


def _integrated_energy(c: Calculus, block: Block, precision: Tensor, shift: Tensor) -> Tensor:
    """Return logdet(P)/2 - b.inv(P) b/2, the energy that a Gaussian integral leaves."""
    if not block.shape.sizes:
        square = c.multiply(shift, shift, c.power(precision, -1))
        return c.add(c.scale(c.applied("log", precision), HALF), c.scale(square, -HALF))
    row, col = grid_indices(block.shape.sizes[0])
    grid = Grid(row, col, precision)
    logarithm = log_determinant(c, grid)
    if shift.is_zero:
        return c.scale(logarithm, HALF)
    mean = _solve_mean(c, precision, shift, row, col)
    if mean is None:
        mean = c.total(c.multiply(c.inverse(grid, (row, col)), c.rename(shift, {row: col})), col)
    square = c.total(c.multiply(shift, mean), row)
    return c.add(c.scale(logarithm, HALF), c.scale(square, -HALF))


def _solve_mean(c: Calculus, precision: Tensor, shift: Tensor, row: Index, col: Index) -> Tensor | None:
    """Return a column m with P m = b, as in (r - m).T P (r - m)/2 for any P; None if none is found."""
    columns: dict[Coordinate | Component, None] = {}
    for atom in everywhere(shift):
        match atom:
            case Coordinate(name, (Index(size),)) if size == col.size:
                columns[Coordinate(name, (col,))] = None
            case Component(name, (Index(size),), ()) if size == col.size:
                columns[Component(name, (col,))] = None
            case _:
                continue
    for column in columns:
        m = c.atom(column)
        if c.is_zero(c.subtract(shift, c.total(c.multiply(precision, m), col))):
            return c.rename(m, {col: row})
    return None


def log_determinant(c: Calculus, grid: Grid) -> Tensor:
    """Return log det A of a positive definite n x n matrix, a scalar.

        log det(c A B) = n log(c) + log det A + log det B        log det inv(A) = -log det A

    for A and B positive definite each; otherwise log det A is one atom.
    """
    whole = c.determinant(grid, log=True)
    if len(grid.entry.terms) != 1 or any(isinstance(atom, Delta) for atom, _ in grid.entry.terms[0].factors):
        return whole
    term = grid.entry.terms[0]
    found = chain(c, term, grid.row, grid.col)
    if found is None:
        return whole
    scalars, steps = found
    if not all(definite_atom(c, step.link.atom) is Definiteness.DEFINITE for step in steps):
        return whole
    scale = c.collect([Term(term.coefficient, tuple(scalars))], ())
    parts = [c.multiply(c.size(grid.row.size), c.applied("log", scale))]
    for step in steps:
        match step.link.atom:
            case MatrixFunction("inv", of):
                parts.append(c.scale(c.determinant(of, log=True), -1))
            case Component(name, _, _):
                entry = c.component(name, grid.row, grid.col)
                parts.append(c.determinant(Grid(grid.row, grid.col, entry), log=True))
            case _:
                return whole
    return c.add(*parts)

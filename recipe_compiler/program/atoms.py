"""Which indices, names and coordinates an index expression holds, and rebuilding it with other atoms."""

from collections.abc import Callable

from recipe_compiler.tensor.atoms import everywhere, slots
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Determinant,
    Grid,
    Index,
    Inverse,
    Tensor,
    Term,
)


def indices(atom: Atom) -> tuple[Index, ...]:
    """Return the indices of an atom, each once, in order of appearance."""
    return tuple(dict.fromkeys(slot for slot in slots(atom) if isinstance(slot, Index)))


def names_of(tensor: Tensor) -> frozenset[str]:
    """Return the names of all blocks, parameters, functions and data in a tensor."""
    found = (atom for atom in everywhere(tensor) if isinstance(atom, Coordinate | Component))
    return frozenset(atom.block if isinstance(atom, Coordinate) else atom.name for atom in found)


def replace_atoms(tensor: Tensor, rule: Callable[[Atom], Atom]) -> Tensor:
    """Return the tensor with every coordinate, component and size replaced by `rule`, inside arguments too.

    The rule must keep the slots of what it replaces, so the terms need no new canonical form to stay what they mean.
    """
    terms = tuple(
        Term(term.coefficient, tuple((_replace(atom, rule), exponent) for atom, exponent in term.factors))
        for term in tensor.terms
    )
    return Tensor(tensor.free, terms)


def _replace(atom: Atom, rule: Callable[[Atom], Atom]) -> Atom:
    match atom:
        case Applied(fn, args):
            return Applied(fn, tuple(replace_atoms(arg, rule) for arg in args))
        case Base(arg):
            return Base(replace_atoms(arg, rule))
        case Inverse(of, at):
            return Inverse(_replace_grid(of, rule), at)
        case Determinant(of, log):
            return Determinant(_replace_grid(of, rule), log)
        case _:
            return rule(atom)


def _replace_grid(grid: Grid, rule: Callable[[Atom], Atom]) -> Grid:
    return Grid(grid.row, grid.col, replace_atoms(grid.entry, rule))


def matrix_name(grid: Grid) -> str | None:
    """Return the name of the matrix that a grid is, None where it is computed from others."""
    match grid.entry.terms:
        case (Term(coefficient, ((Component(name, (row, col), ()), power),)),) if coefficient == power == 1:
            return name if {row, col} == {grid.row, grid.col} else None
        case _:
            return None

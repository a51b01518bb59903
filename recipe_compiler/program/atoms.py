"""The indices, names and coordinates that occur in an index expression, and rebuilding it with other atoms."""

from collections.abc import Callable, Iterable, Mapping

from recipe_compiler.program.program import Evaluate, Program
from recipe_compiler.program.rebuild import tensors_in
from recipe_compiler.tensor.atoms import everywhere, slots
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Grid,
    Index,
    MatrixFunction,
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


def noise_is_steady(program: Program, held: Iterable[str] = ()) -> bool:
    """Whether no covariance that a step draws from depends on its state, but for blocks that are held."""
    values = {block.name for block in program.blocks}.difference(held)
    values |= {shift.new for shift in program.shifts if shift.block.name in values}
    matrices = [matrix for noise in program.noises for matrix in (noise.two_D, noise.B_hat or ())]
    return all(values.isdisjoint(names_of(tensor)) for matrix in matrices for row in matrix for tensor in row)


def drift_is_linear(program: Program, held: Iterable[str] = ()) -> bool:
    """Whether steps move by rates that are affine in the state and grad U together, but for blocks that are held."""
    moving = [shift for shift in program.shifts if shift.block.name not in held]
    values = {name for shift in moving for name in (shift.block.name, shift.old, shift.new)}
    values |= {"" if program.gradient is None else program.gradient.name}  # of a step that carries it on
    values |= {own.new for own in program.statements if isinstance(own, Evaluate)}

    def is_affine(term: Term) -> bool:
        own = [f for f in term.factors if not values.isdisjoint(names_of(Tensor((), (Term(term.coefficient, (f,)),))))]
        return not own or (len(own) == 1 and own[0][1] == 1 and isinstance(own[0][0], Coordinate | Component))

    return all(is_affine(term) for shift in moving for term in shift.rate.terms)


def replace_atoms(tensor: Tensor, rule: Callable[[Atom], Atom]) -> Tensor:
    """Return the tensor with every coordinate, component and size replaced by `rule`, inside arguments too.

    The rule must keep the slots of what it replaces, so the terms need no new canonical form to keep their meaning; it
    may add free indices.
    """
    terms = tuple(
        Term(term.coefficient, tuple((_replace(atom, rule), exponent) for atom, exponent in term.factors))
        for term in tensor.terms
    )
    before, now = (
        {index for term in own for atom, _ in term.factors for index in indices(atom)} for own in (tensor.terms, terms)
    )
    return Tensor(sorted_indices((*tensor.free, *(now - before))) if now - before else tensor.free, terms)


def with_arrays(tensor: Tensor, arrays: Mapping[str, str], *row: Index) -> Tensor:
    """Return the tensor with coordinates of blocks as components of arrays, of a row of them: `s[n,i]` for `s[i]`."""

    def rule(atom: Atom) -> Atom:
        match atom:
            case Coordinate(block, at) if block in arrays:
                return Component(arrays[block], (*row, *at))
            case _:
                return atom

    return replace_atoms(tensor, rule)


def _replace(atom: Atom, rule: Callable[[Atom], Atom]) -> Atom:
    match atom:
        case Applied(fn, args):
            return Applied(fn, tuple(replace_atoms(arg, rule) for arg in args))
        case Base(arg):
            return Base(replace_atoms(arg, rule))
        case MatrixFunction(fn, of, at):
            return MatrixFunction(fn, Grid(of.row, of.col, replace_atoms(of.entry, rule)), at)
        case _:
            return rule(atom)


def matrix_name(grid: Grid) -> str | None:
    """Return the name of the matrix that a grid is, None if it is computed from others."""
    match grid.entry.terms:
        case (Term(coefficient, ((Component(name, (row, col), ()), power),)),) if coefficient == power == 1:
            return name if {row, col} == {grid.row, grid.col} else None
        case _:
            return None


# The smallest sizes at which a program means anything: those that have every position it names.


def smallest_sizes(program: Program) -> dict[str, int]:
    """Return symbolic sizes with the smallest value at which every literal position (`theta[2]`) exists."""
    shapes = {item.name: item.shape.sizes for item in (*program.blocks, *program.parameters)}
    shapes |= {datum.name: (datum.size, *datum.shape.sizes) for datum in program.data}
    shapes |= {shift.new: shift.block.shape.sizes for shift in program.shifts}
    if program.gradient is not None and program.gradient.recursion is not None:
        own = program.gradient.recursion.states
        shapes |= {state.name: (program.gradient.count or 1, *state.shape.sizes) for state in own}
    found: dict[str, int] = {}
    for tensor in tensors_in((program.statements, program.gradient)):
        for atom in everywhere(tensor):
            match atom:
                case Coordinate(name, at) | Component(name, at, _):
                    pairs = tuple(zip(shapes.get(name, ()), at, strict=False))
                case Delta(Index(size=size), int() as slot) | Delta(int() as slot, Index(size=size)):
                    pairs = ((size, slot),)
                case _:
                    continue
            for size, slot in pairs:
                if isinstance(size, str) and isinstance(slot, int):
                    found[size] = max(found.get(size, 1), slot + 1)
    return found

"""One step at small sizes, twice: as the emitted text computes it, and as its Program states it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from recipe_compiler.algebra.scalars.symbols import label, positions
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.program import Noise, symbolic_sizes
from recipe_compiler.readback.cuts import Cuts
from recipe_compiler.readback.interpreter import Reader
from recipe_compiler.readback.names import Names, Sizes, integers
from recipe_compiler.readback.noise import noise_of, without_noise
from recipe_compiler.readback.noise_factors import NoiseFactor
from recipe_compiler.tensor.scalars import Scalar, scalarise
from recipe_compiler.tensor.terms import Atom, Coordinate, Delta, Tensor


@dataclass(frozen=True, slots=True)
class Step:
    """One step given the batch, coordinate by coordinate: `next = value`.

    Values are in terms of eps, the old state, the gradient, and what was updated before; those read also of normals.
    """

    next: tuple[sp.Symbol, ...]
    """What stands for the new coordinates in the values of others."""
    values: tuple[Scalar, ...]
    """Where all normals are zero."""
    covariance: list[list[Scalar]]
    """Of what the normals add, which does not depend on the new coordinates."""


def step_of(
    entries: Sequence[Scalar], cuts: Cuts, factors: Sequence[NoiseFactor], normals: Sequence[sp.Symbol]
) -> Step:
    """Return the step that was read, from the entries of the state it left behind."""
    new, values = cuts.defined(entries)
    noise = noise_of(values, normals, frozenset(new), factors)
    return Step(new, tuple(without_noise(values, normals)), noise.covariance())


def prepared(module: Module, names: Names, reader: Reader) -> dict[str, object]:
    """Return the parameters and the constants of a run, as the emitted `prepare` computes them."""
    values: dict[str, object] = {p.name: names.parameter(p.name) for p in module.program.parameters}
    values |= {"eps": names.eps} | {size: names.sizes[size] for size in symbolic_sizes(module.program)}
    outputs = [array.name for array in module.kernel.prepare.outputs]
    constants = reader.call("prepare", values)
    return values | dict(zip(outputs, constants, strict=True))


def read_step(module: Module, names: Names) -> Step:
    """Return one step as the emitted `step` computes it, the gradient left as it is named."""
    normals = [sp.Symbol(name, real=True) for name in _normal_names(module, names)]
    cuts = Cuts(frozenset(name.rstrip("_") for u in module.program.updates for name in module.kernel.scalars(u.new)))
    reader = Reader(module.text, opaque={"gradient": names.gradient()}, invert=names.invert, cuts=cuts)
    return step_of(read_state(module, names, reader, normals), cuts, reader.factors, normals)


def _normal_names(module: Module, names: Names) -> list[str]:
    arrays = module.kernel.noises
    return [label(array.name, (k,)) for array in arrays for k in range(joined_shape(array.sizes, names.sizes)[0])]


def read_changes(module: Module, names: Names, reader: Reader, normals: Sequence[Scalar]) -> list[Scalar]:
    """Return z+ - z by coordinate as the emitted `step` computes it from given normals, one array after the other."""
    start = [entry for block in module.program.blocks for entry in names.block(block)]
    moved = read_state(module, names, reader, normals)
    return [new - old for new, old in zip(moved, start, strict=True)]


def read_state(module: Module, names: Names, reader: Reader, normals: Sequence[Scalar]) -> list[Scalar]:
    """Return z+ by coordinate, likewise."""
    sizes = names.sizes
    given = prepared(module, names, reader)
    left = list(normals)
    for array in module.kernel.noises:
        count = joined_shape(array.sizes, sizes)[0]
        given[array.name], left = np.array(left[:count], object), left[count:]
    for block in module.program.blocks:
        given[block.name] = np.array(names.block(block), object)
    step = module.kernel.step
    given = held(module, given)
    for array in step.work:
        given[array.name] = np.full(joined_shape(array.sizes, sizes), None, object)
    for array in () if step.returns else step.outputs:
        empty = np.full(joined_shape(array.sizes, sizes), None, object)
        given[array.name] = empty if reader.cuts is None else reader.cuts.array(empty)
    for array in step.inputs:
        given.setdefault(array.name, np.full((1,), None, object))
    returned = reader.call("step", given)
    moved = written(step, given, returned)
    _check_asked(module, reader, given, dict(zip((array.name for array in step.outputs), moved, strict=False)))
    return moved


def _check_asked(module: Module, reader: Reader, given: Mapping[str, object], new: Mapping[str, Scalar]) -> None:
    """Check that a gradient of scalars, which is not entered, was asked at the state that the Program says."""
    gradient = module.program.gradient
    if gradient is None or not reader.asked:
        return
    old_names, names = module.kernel.scalars(gradient.block.name), module.kernel.scalars(gradient.at)
    moves = dict(zip(old_names, names, strict=True))
    for name, value in reader.asked.items():
        stated = new[moves[name]] if moves.get(name) in new else given.get(name)
        if not np.array_equal(np.asarray(value, object), np.asarray(stated, object)):
            raise CompilerError(f"the emitted step asks for the gradient at another {name} than its Program")


def held(module: Module, given: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a procedure, with the entries of arrays that it takes as scalars under their names."""
    found = dict(given)
    for name, scalars in module.kernel.registers:
        if name in given:
            found |= dict(zip(scalars, np.asarray(given[name]).ravel(), strict=True))
    return found


def written(procedure: Procedure, given: Mapping[str, object], returned: object) -> list[Scalar]:
    """Return the entries of what a procedure computes: those it returned, or those of the arrays it wrote into."""
    if procedure.returns:
        return list(returned) if isinstance(returned, tuple) else [returned]
    return [entry for array in procedure.outputs for entry in np.asarray(given[array.name]).ravel()]


def joined_shape(sizes: tuple[int | str, ...], known: Sizes) -> tuple[int, ...]:
    """Return the integers that the sizes of an array are, those joined end to end (`d+k`) added."""
    return tuple(
        size
        if isinstance(size, int)
        else sum(known[part] for part in size.split("+") if part in known)
        + sum(int(part) for part in size.split("+") if part.isdigit())
        for size in sizes
    )


def stated_step(names: Names, new: Sequence[sp.Symbol]) -> Step:
    """Return the step that the Program states: `b+ = b + eps * drift + w`, w ~ N(0, eps (2D - eps B_hat)) by group.

    Args:
        names: the values of its names.
        new: what stands for the new coordinates.
    """
    program = names.program
    places = [(block, at) for block in program.blocks for at in positions(block.shape, names.sizes)]
    own = {block: [s for s, (b, _) in zip(new, places, strict=True) if b == block] for block in program.blocks}
    moved: dict[str, list[Scalar]] = {}
    values_: dict[Block, list[Scalar]] = {}
    for update in program.updates:
        drift = values(update.drift, names, update.block, moved)
        old = names.block(update.block)
        values_[update.block] = [z + names.eps * f for z, f in zip(old, drift, strict=True)]
        moved[update.new] = list(own[update.block])
    joint: list[list[Scalar]] = [[sp.Integer(0)] * len(new) for _ in new]
    for noise in program.noises:
        rows = [k for b in noise.blocks for k, (block, _) in enumerate(places) if block == b]
        entries = covariance(noise, names)
        for i, row in enumerate(rows):
            for j, col in enumerate(rows):
                joint[row][col] = entries[i, j]
    return Step(tuple(new), tuple(x for block in program.blocks for x in values_[block]), joint)


def stated_changes(names: Names, draws: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """Return z+ - z by coordinate as the Program states it, from the draws w of every group of blocks."""
    own: dict[str, list[Scalar]] = {}
    for noise, group in zip(names.program.noises, draws, strict=True):
        left = list(group)
        for block in noise.blocks:
            count = len(positions(block.shape, names.sizes))
            own[block.name], left = left[:count], left[count:]
    moved: dict[str, list[Scalar]] = {}
    changes: dict[str, list[Scalar]] = {}
    for update in names.program.updates:
        block = update.block
        drift = values(update.drift, names, block, moved)
        noise_ = own.get(block.name, [sp.Integer(0)] * len(drift))
        changes[block.name] = [names.eps * f + w for f, w in zip(drift, noise_, strict=True)]
        moved[update.new] = [z + dz for z, dz in zip(names.block(block), changes[block.name], strict=True)]
    return [dz for block in names.program.blocks for dz in changes[block.name]]


def values(tensor: Tensor, names: Names, block: Block, moved: Mapping[str, list[Scalar]] | None = None) -> list[Scalar]:
    """Return a vector over a block in symbols, updated blocks replaced by what they became."""
    index = next(iter(tensor.free), None)

    def leaf(atom: Atom) -> Scalar | None:
        if isinstance(atom, Coordinate) and moved and atom.block in moved:
            return moved[atom.block][integers(atom.at)[0] if atom.at else 0]
        return names.atom(atom)

    places = [{} if index is None else {index: at[0]} for at in positions(block.shape, names.sizes)]
    return [scalarise(tensor, names.sizes, place, leaf, apart=names.at_point) for place in places]


def covariance(noise: Noise, names: Names) -> sp.Matrix:
    """Return eps (2D - eps B_hat) of a group of blocks, over all its coordinates."""
    blocks = list(enumerate(noise.blocks))
    places = [(a, at) for a, block in blocks for at in positions(block.shape, names.sizes)]
    diagonal = {(a, b): all(map(_is_diagonal, _both(noise, a, b))) for a, _ in blocks for b, _ in blocks}
    found: dict[tuple[int, int], Scalar] = {}
    for row, (a, at) in enumerate(places):
        for col, (b, to) in enumerate(places):
            if at == to or not diagonal[a, b]:
                two_D, B_hat = (_entry(tensor, at, to, names) for tensor in _both(noise, a, b))
                found[row, col] = names.eps * (two_D - names.eps * B_hat)
    return sp.Matrix(sp.SparseMatrix(len(places), len(places), found))


def _both(noise: Noise, a: int, b: int) -> tuple[Tensor, Tensor]:
    """Return 2D and B_hat of two blocks of a group."""
    return noise.two_D[a][b], Tensor((), ()) if noise.B_hat is None else noise.B_hat[a][b]


def _is_diagonal(tensor: Tensor) -> bool:
    """Whether every term holds the delta of row and column."""
    free = set(tensor.free)
    return all(
        any(isinstance(atom, Delta) and {atom.left, atom.right} == free for atom, _ in term.factors)
        for term in tensor.terms
    )


def _entry(tensor: Tensor, row: tuple[int, ...], col: tuple[int, ...], names: Names) -> Scalar:
    places = {index: (row if index.label == "i" else col)[0] for index in tensor.free}
    return scalarise(tensor, names.sizes, places, names.atom, apart=names.at_point)

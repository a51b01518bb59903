"""One step at small sizes, twice: as the emitted text computes it, and as its Program states it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from recipe_compiler.algebra.symbols import label, positions
from recipe_compiler.emit.module import Module, symbolic_sizes
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.program import Noise
from recipe_compiler.tensor.scalars import Scalar, scalarise
from recipe_compiler.tensor.terms import Atom, Coordinate, Delta, Tensor
from recipe_compiler.verify.moments import Monomials, expectation, monomials, product
from recipe_compiler.verify.read_names import Names, Sizes, integers
from recipe_compiler.verify.reader import Reader


@dataclass(frozen=True, slots=True)
class Increment:
    """dz of one step given the batch, by coordinate of z, as polynomials in w ~ N(0, covariance)."""

    terms: tuple[Monomials, ...]
    covariance: sp.Matrix

    def mean(self, a: int) -> Scalar:
        """Return E[dz_a]."""
        return expectation(self.terms[a], self.covariance)

    def cross(self, a: int, b: int) -> Scalar:
        """Return Cov[dz_a, dz_b]."""
        both = expectation(product(self.terms[a], self.terms[b]), self.covariance)
        return both - self.mean(a) * self.mean(b)


def prepared(module: Module, names: Names, reader: Reader) -> dict[str, object]:
    """Return the parameters and the constants of a run, as the emitted `prepare` computes them."""
    values: dict[str, object] = {p.name: names.parameter(p.name) for p in module.program.parameters}
    values |= {"eps": names.eps} | {size: names.sizes[size] for size in symbolic_sizes(module.program)}
    outputs = [array.name for array in module.kernel.prepare.outputs]
    constants = reader.call("prepare", values)
    return values | dict(zip(outputs, constants, strict=True))


def read_increment(module: Module, names: Names) -> Increment:
    """Return dz as the emitted `step` computes it, the gradient left as it is named."""
    normals = [sp.Symbol(name, real=True) for name in _normal_names(module, names)]
    reader = Reader(module.text, opaque={"gradient": names.gradient()}, invert=names.invert)
    changes = [sp.expand(change) for change in read_changes(module, names, reader, normals)]
    return _whitened(changes, normals, reader)


def _normal_names(module: Module, names: Names) -> list[str]:
    arrays = module.kernel.noises
    return [label(array.name, (k,)) for array in arrays for k in range(joined_shape(array.sizes, names.sizes)[0])]


def read_changes(module: Module, names: Names, reader: Reader, normals: Sequence[Scalar]) -> list[Scalar]:
    """Return z+ - z by coordinate as the emitted `step` computes it from given normals, one array after the other."""
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
    for array in (*(() if step.returns else step.outputs), *step.work):
        given[array.name] = np.full(joined_shape(array.sizes, sizes), None, object)
    for array in step.inputs:
        given.setdefault(array.name, np.full((1,), None, object))
    returned = reader.call("step", given)
    moved = written(step, given, returned)
    _check_asked(module, reader, given, dict(zip((array.name for array in step.outputs), moved, strict=False)))
    start = [entry for block in module.program.blocks for entry in names.block(block)]
    return [new - old for new, old in zip(moved, start, strict=True)]


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


def _whitened(changes: list[Scalar], normals: list[sp.Symbol], reader: Reader) -> Increment:
    """Replace the products L n, where the kernel asked for a factor L, by draws of the covariance L stands for.

    A step that uses L in any other way than as L n is no step with that covariance, and is refused.
    """
    covariance = sp.eye(len(normals))
    start = 0
    for factor in reader.factors:
        size = factor.covariance.rows
        start = _offset(changes, normals, factor.entries, start)
        own = normals[start : start + size]
        if len(own) < size:
            raise CompilerError("the emitted step uses a factor of its noise with the wrong normals")
        unit = {factor.entries[i, j]: sp.Integer(i == j) for i in range(size) for j in range(size)}
        product_ = {n: sum(factor.entries[i, j] * own[j] for j in range(size)) for i, n in enumerate(own)}
        plain = [sp.expand(change.xreplace(unit)) for change in changes]
        again = [sp.expand(change.xreplace(product_)) for change in plain]
        if any(sp.expand(a - b) != 0 for a, b in zip(again, changes, strict=True)):
            raise CompilerError("the emitted step uses a factor of its noise in another way than L @ noise")
        changes = plain
        covariance[start : start + size, start : start + size] = factor.covariance
        start += size
    return Increment(tuple(monomials(change, normals) for change in changes), covariance)


def _offset(changes: list[Scalar], normals: list[sp.Symbol], entries: np.ndarray, start: int) -> int:
    """Return the place of the first normal that the factor multiplies."""
    first = entries[0, 0]
    for place in range(start, len(normals)):
        if any(change.coeff(first).has(normals[place]) for change in changes):
            return place
    raise CompilerError("the emitted step does not use a factor of its noise")


def stated_increment(names: Names) -> Increment:
    """Return dz as the Program states it: `eps * drift + w`, w ~ N(0, eps (2D - eps B_hat)) by group of blocks."""
    draws: list[list[Scalar]] = []
    for noise in names.program.noises:
        places = [(block, at) for block in noise.blocks for at in positions(block.shape, names.sizes)]
        draws.append([sp.Symbol(label(f"w_{block.name}", at), real=True) for block, at in places])
    covariances = [covariance(noise, names) for noise in names.program.noises]
    joint = sp.diag(*covariances) if covariances else sp.eye(0)
    everything = [w for group in draws for w in group]
    return Increment(tuple(monomials(dz, everything) for dz in stated_changes(names, draws)), joint)


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

"""One step at small sizes, twice: as the emitted text computes it, and as its Program states it."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import sympy as sp

from recipe_compiler.algebra.symbols import component, coordinate, label, length, positions
from recipe_compiler.emit.module import Module, symbolic_sizes
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Parameter
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.program.program import Noise, Program
from recipe_compiler.tensor.scalars import scalarise
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Index, Tensor
from recipe_compiler.verify.moments import Monomials, expectation, monomials, product
from recipe_compiler.verify.reader import Reader

Sizes = Mapping[str, int]
EPS = sp.Symbol("eps", positive=True)


@dataclass(frozen=True, slots=True)
class Increment:
    """dz of one step given the batch, by coordinate of z, as polynomials in w ~ N(0, covariance)."""

    terms: tuple[Monomials, ...]
    covariance: sp.Matrix

    def mean(self, a: int) -> sp.Expr:
        """Return E[dz_a]."""
        return expectation(self.terms[a], self.covariance)

    def cross(self, a: int, b: int) -> sp.Expr:
        """Return Cov[dz_a, dz_b]."""
        both = expectation(product(self.terms[a], self.terms[b]), self.covariance)
        return both - self.mean(a) * self.mean(b)


@dataclass(frozen=True, slots=True)
class Names:
    """The values of a program's names at fixed sizes: symbols, or the coordinates of one exact rational point."""

    program: Program
    sizes: Sizes
    at_point: bool = False

    @property
    def declarations(self) -> Declarations:
        """The program's names as declarations."""
        return Declarations(self.program.blocks, self.program.parameters, (), self.program.data)

    def block(self, block: Block) -> list[sp.Expr]:
        """Return the coordinates of a block."""
        return [self._valued(coordinate(block, at)) for at in positions(block.shape, self.sizes)]

    def gradient(self) -> list[sp.Expr]:
        """Return symbols for grad U at the state (or its estimate), entry by entry."""
        gradient = self.program.gradient
        if gradient is None:
            return []
        places = positions(gradient.block.shape, self.sizes)
        return [self._valued(sp.Symbol(label(gradient.name, at), real=True)) for at in places]

    def component(self, name: str, at: tuple[int, ...]) -> sp.Expr:
        """Return an entry of a parameter."""
        item = self.declarations.find(name)
        if not isinstance(item, Parameter):
            raise CompilerError(f"{name} is no parameter of the program")
        # at a point, a heavy diagonal makes every matrix invertible and those declared definite definite
        heavy = 4 * self.sizes.get(str(item.shape.rows), 8) if self.at_point and len(at) == 2 and at[0] == at[1] else 0
        return self._valued(component(item, at, self.declarations, self.sizes)) + heavy

    def _valued(self, value: sp.Expr) -> sp.Expr:
        """Return a symbol, or at a point a rational number in (0, 2) that its name alone determines."""
        if not self.at_point:
            return value
        return value.xreplace({symbol: _rational(symbol.name) for symbol in value.free_symbols})

    def parameter(self, name: str) -> sp.Expr | np.ndarray:
        """Return a parameter: a number, or an array of them."""
        item = self.declarations.find(name)
        if not isinstance(item, Parameter):
            raise CompilerError(f"{name} is no parameter of the program")
        if not item.shape.sizes:
            return self.component(name, ())
        return self._array(item.shape, lambda at: self.component(name, at))

    @property
    def data_names(self) -> frozenset[str]:
        """The fields of the data."""
        return frozenset(datum.name for datum in self.program.data)

    def datum(self, name: str, row: int, at: tuple[int, ...]) -> sp.Expr:
        """Return one entry of a field of the data."""
        return self._valued(sp.Symbol(label(name, (row, *at)), real=True))

    def data(self, datum: Datum) -> np.ndarray:
        """Return a field of the data as an array of symbols."""
        shape = (length(datum.size, self.sizes), *(length(size, self.sizes) for size in datum.shape.sizes))
        array = np.full(shape, None, object)
        for row in range(shape[0]):
            for at in positions(datum.shape, self.sizes):
                array[(row, *at)] = self.datum(datum.name, row, at)
        return array

    def _array(self, shape: Shape, entry: Callable[[tuple[int, ...]], sp.Expr]) -> np.ndarray:
        array = np.full(tuple(length(size, self.sizes) for size in shape.sizes), None, object)
        for at in positions(shape, self.sizes):
            array[at] = entry(at)
        return array

    def atom(self, atom: Atom) -> sp.Expr | None:
        """Return the symbol of a coordinate or component with integer slots, None for what is computed from others."""
        match atom:
            case Coordinate(name, at):
                return self._valued(coordinate(self._block(name), _integers(at)))
            case Component(name, at, ()) if self.program.gradient and name == self.program.gradient.name:
                return self.gradient()[_integers(at)[0] if at else 0]
            case Component(name, at, ()):
                return self.component(name, _integers(at))
            case _:
                return None

    def _block(self, name: str) -> Block:
        return next(block for block in self.program.blocks if block.name == name)


def _rational(name: str) -> sp.Rational:
    digits = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    return sp.Rational(1 + digits % 97, 50)


def _integers(at: tuple[Index | int, ...]) -> tuple[int, ...]:
    return tuple(k for k in at if isinstance(k, int))


def prepared(module: Module, names: Names, reader: Reader) -> dict[str, object]:
    """Return the parameters and the constants of a run, as the emitted `prepare` computes them."""
    values: dict[str, object] = {p.name: names.parameter(p.name) for p in module.program.parameters}
    values |= {"eps": EPS} | {size: names.sizes[size] for size in symbolic_sizes(module.program)}
    outputs = [array.name for array in module.kernel.prepare.outputs]
    constants = reader.call("prepare", values)
    return values | dict(zip(outputs, constants, strict=True))


def read_increment(module: Module, names: Names) -> Increment:
    """Return dz as the emitted `step` computes it, the gradient left as it is named."""
    sizes = names.sizes
    reader = Reader(module.text, opaque={"gradient": names.gradient()})
    values = prepared(module, names, reader)
    normals: list[sp.Symbol] = []
    for array in module.kernel.noises:
        draws = [sp.Symbol(label(array.name, (k,)), real=True) for k in range(joined_shape(array.sizes, sizes)[0])]
        values[array.name] = np.array(draws, object)
        normals += draws
    for block in module.program.blocks:
        values[block.name] = np.array(names.block(block), object)
    for array in (*module.kernel.step.outputs, *module.kernel.step.work):
        values[array.name] = np.full(joined_shape(array.sizes, sizes), None, object)
    for array in module.kernel.step.inputs:
        values.setdefault(array.name, np.full((1,), None, object))
    reader.call("step", values)
    outputs = module.kernel.step.outputs
    moved = [entry for array in outputs for entry in np.asarray(values[array.name]).ravel()]
    start = [entry for block in module.program.blocks for entry in names.block(block)]
    changes = [sp.expand(new - old) for new, old in zip(moved, start, strict=True)]
    return _whitened(changes, normals, reader)


def joined_shape(sizes: tuple[int | str, ...], known: Sizes) -> tuple[int, ...]:
    """Return the integers that the sizes of an array are, those joined end to end (`d+k`) added."""
    return tuple(
        size
        if isinstance(size, int)
        else sum(known[part] for part in size.split("+") if part in known)
        + sum(int(part) for part in size.split("+") if part.isdigit())
        for size in sizes
    )


def _whitened(changes: list[sp.Expr], normals: list[sp.Symbol], reader: Reader) -> Increment:
    """Replace the products L n, where the kernel asked for a factor L, by draws of the covariance L stands for.

    A step that uses L in any other way than as L n is no step with that covariance, and is refused.
    """
    covariance = sp.eye(len(normals))
    start = 0
    for factor in reader.factors:
        size = factor.covariance.rows
        start = _offset(changes, normals, factor.entries, start)
        own = normals[start : start + size]
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


def _offset(changes: list[sp.Expr], normals: list[sp.Symbol], entries: np.ndarray, start: int) -> int:
    """Return the place of the first normal that the factor multiplies."""
    first = entries[0, 0]
    for place in range(start, len(normals)):
        if any(change.coeff(first).has(normals[place]) for change in changes):
            return place
    raise CompilerError("the emitted step does not use a factor of its noise")


def stated_increment(names: Names) -> Increment:
    """Return dz as the Program states it: `eps * drift + w`, w ~ N(0, eps (2D - eps B_hat)) by group of blocks."""
    program, sizes = names.program, names.sizes
    draws: dict[str, list[sp.Symbol]] = {}
    everything: list[sp.Symbol] = []
    covariances: list[sp.Matrix] = []
    for noise in program.noises:
        own = [sp.Symbol(label(f"w_{b.name}", at), real=True) for b in noise.blocks for at in positions(b.shape, sizes)]
        covariances.append(_covariance(noise, names))
        everything += own
        for block in noise.blocks:
            count = len(positions(block.shape, sizes))
            draws[block.name], own = own[:count], own[count:]
    moved: dict[str, list[sp.Expr]] = {}
    changes: dict[str, list[sp.Expr]] = {}
    for update in program.updates:
        block = update.block
        drift = values(update.drift, names, block, moved)
        noise_ = draws.get(block.name, [sp.Integer(0)] * len(drift))
        changes[block.name] = [EPS * f + w for f, w in zip(drift, noise_, strict=True)]
        moved[update.new] = [z + dz for z, dz in zip(names.block(block), changes[block.name], strict=True)]
    flat = [sp.expand(dz) for block in program.blocks for dz in changes[block.name]]
    joint = sp.diag(*covariances) if covariances else sp.eye(0)
    return Increment(tuple(monomials(dz, everything) for dz in flat), joint)


def values(
    tensor: Tensor, names: Names, block: Block, moved: Mapping[str, list[sp.Expr]] | None = None
) -> list[sp.Expr]:
    """Return a vector over a block in symbols, updated blocks replaced by what they became."""
    index = next(iter(tensor.free), None)

    def leaf(atom: Atom) -> sp.Expr | None:
        if isinstance(atom, Coordinate) and moved and atom.block in moved:
            return moved[atom.block][_integers(atom.at)[0] if atom.at else 0]
        return names.atom(atom)

    places = [{} if index is None else {index: at[0]} for at in positions(block.shape, names.sizes)]
    return [scalarise(tensor, names.sizes, place, leaf) for place in places]


def _covariance(noise: Noise, names: Names) -> sp.Matrix:
    zero = Tensor((), ())
    rows: list[list[sp.Expr]] = []
    for a, block in enumerate(noise.blocks):
        for at in positions(block.shape, names.sizes):
            row: list[sp.Expr] = []
            for b, other in enumerate(noise.blocks):
                B_hat = zero if noise.B_hat is None else noise.B_hat[a][b]
                for to in positions(other.shape, names.sizes):
                    two_D, excess = (_entry(m, at, to, names) for m in (noise.two_D[a][b], B_hat))
                    row.append(EPS * (two_D - EPS * excess))
            rows.append(row)
    return sp.Matrix(rows)


def _entry(tensor: Tensor, row: tuple[int, ...], col: tuple[int, ...], names: Names) -> sp.Expr:
    places = {index: (row if index.label == "i" else col)[0] for index in tensor.free}
    return scalarise(tensor, names.sizes, places, names.atom)

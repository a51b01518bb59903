"""The emitted generator at small sizes, and L phi by the second engine, from D, Q and H entry by entry."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.algebra.dynamics.system import System, drift, system
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.symbols import length
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.lower_infinitesimal_generator import (
    LoweredInfinitesimalGenerator,
    lower_infinitesimal_generator,
)
from recipe_compiler.program.program import Gradient, InfinitesimalGenerator, Moment, symbolic_sizes
from recipe_compiler.readback.branches import scalarise
from recipe_compiler.readback.gradient import signs, stated_gradient
from recipe_compiler.readback.interpreter import Reader
from recipe_compiler.readback.names import Names, integers
from recipe_compiler.readback.point import equal
from recipe_compiler.readback.propagators import matrices_of
from recipe_compiler.tensor.scalars import Scalar, Sums
from recipe_compiler.tensor.terms import Atom, Component

Entries = dict[tuple[str, tuple[int, ...]], Scalar]
"""Values by the array that holds them and the place in it, `()` in an array that stands for a number."""


def read_moments(module: Module, names: Names) -> Entries:
    """Return L phi at one state as the emitted `generator` computes it, the gradient left as symbols."""
    generator = module.program.infinitesimal_generator
    if generator is None:
        return {}
    reader = Reader(module.text, matrices=matrices_of(names))
    lowered, values = _prepared(module, names, reader)
    reader.fills["full_gradient"] = lambda given: _gradient_at(lowered, generator.gradient, names, given)
    arrays = _read(reader, lowered.generator, values)
    return {
        (moment.name, at if moment.phi.free else ()): array[at]
        for moment, array in zip(generator.moments, arrays, strict=True)
        for at in np.ndindex(array.shape)
    }


def _gradient_at(
    lowered: LoweredInfinitesimalGenerator, gradient: Gradient, names: Names, given: list[Any]
) -> np.ndarray:
    """Return the symbols of the gradient by the block whose value it is given."""
    at = dict(zip((array.name for array in lowered.gradient.inputs), given, strict=True)).get(gradient.block.name, ())
    values = {block.name: names.block(block) for block in names.program.blocks}
    own = (block for block in gradient.places if np.array_equal(np.asarray(at, object), values[block]))
    return np.array(names.gradient(_array_at(names, next(own, gradient.block.name))), object)


def _array_at(names: Names, block: str) -> str:
    """Return the name of the gradient of the steps at a block: its symbols stand for that of all data, too."""
    own = names.program.gradient
    return own.places[block] if own is not None else ""


def read_full_gradient(module: Module, names: Names) -> list[Scalar]:
    """Return grad U of all data as the emitted `full_gradient` computes it."""
    reader = Reader(module.text, matrices=matrices_of(names))
    lowered, values = _prepared(module, names, reader)
    return list(_read(reader, lowered.gradient, values)[0])


def _prepared(module: Module, names: Names, reader: Reader) -> tuple[LoweredInfinitesimalGenerator, dict[str, object]]:
    """Return the procedures of the generator, and all that they may be given."""
    lowered = lower_infinitesimal_generator(module.program)
    if lowered is None:
        raise CompilerError("the module has no generator to read")
    return lowered, _at_state(module, names, reader, lowered.prepare)


def read_at_state(
    module: Module, names: Names, prepare: Procedure, procedures: Iterable[Procedure]
) -> dict[str, list[Scalar]]:
    """Return what procedures return of a state, entry by entry, by their names."""
    reader = Reader(module.text, matrices=matrices_of(names))
    values = _at_state(module, names, reader, prepare)
    found = {own.name: _read(reader, own, values)[0] for own in procedures}
    return {name: list(np.asarray(value, object).ravel()) for name, value in found.items()}


def _at_state(module: Module, names: Names, reader: Reader, prepare: Procedure) -> dict[str, object]:
    """Return the state, parameters, data, and constants as they are emitted."""
    values: dict[str, object] = {p.name: names.parameter(p.name) for p in module.program.parameters}
    if prepare.outputs:
        sizes = {size: names.sizes[size] for size in symbolic_sizes(module.program)}
        constants = reader.call(prepare.name, values | sizes)
        values |= dict(zip((array.name for array in prepare.outputs), constants, strict=True))
    values |= {block.name: np.array(names.block(block), object) for block in module.program.blocks}
    return values | {datum.name: names.data(datum) for datum in module.program.data}


def _read(reader: Reader, procedure: Procedure, values: dict[str, object]) -> tuple[np.ndarray, ...]:
    found = reader.call(procedure.name, values)
    return found if isinstance(found, tuple) else (found,)


def stated_moments(generator: InfinitesimalGenerator, names: Names) -> Entries:
    """Return L phi as the Program states it."""
    arrays = {name: _array_at(names, block) for block, name in generator.gradient.places.items()}

    def leaf(atom: Atom) -> Scalar | None:
        match atom:
            case Component(name, at, ()) if name in arrays:
                return names.gradient(arrays[name])[integers(at)[0] if at else 0]
            case _:
                return names.atom(atom)

    sums: Sums = {}

    def value(moment: Moment, at: tuple[int, ...]) -> Scalar:
        places = dict(zip(moment.phi.free, at, strict=True))
        return scalarise(moment.value, names.sizes, places, leaf, apart=names.at_point, sums=sums)

    return {(moment.name, at): value(moment, at) for moment in generator.moments for at in _places(moment, names)}


def polynomials(generator: InfinitesimalGenerator, names: Names) -> Entries:
    """Return phi itself, in the coordinates of the program."""
    return {
        (moment.name, at): scalarise(moment.phi, names.sizes, dict(zip(moment.phi.free, at, strict=True)), names.atom)
        for moment in generator.moments
        for at in _places(moment, names)
    }


def _places(moment: Moment, names: Names) -> list[tuple[int, ...]]:
    sizes = (names.sizes[index.size] if isinstance(index.size, str) else index.size for index in moment.phi.free)
    return list(np.ndindex(*sizes))


def derived_moments(derivation: Derivation, phis: Entries, sizes: Mapping[str, int]) -> Entries:
    """Return L phi = f . grad phi + tr(D Hess phi) by the second engine, which uses only D, Q and H of the derivation.

    Args:
        derivation: of the bound dynamics.
        phis: polynomials in the coordinates of its documents.
        sizes: of all blocks.
    """
    dynamics = derivation.dynamics
    if dynamics.D is None or dynamics.Q is None:
        raise CompilerError("a derivation without D and Q")
    there = system(dynamics.declarations, dynamics.H, dynamics.D, dynamics.Q, sizes)
    f = drift(there)
    return {place: _applied(there, f, phi) for place, phi in phis.items()}


def _applied(there: System, f: tuple[Scalar, ...], phi: Scalar) -> Scalar:
    slopes = [slope(phi, z) for z in there.z]
    first = sp.Add(*(entry * along for entry, along in zip(f, slopes, strict=True)))
    pairs = [(a, b) for a, along in enumerate(slopes) if along != 0 for b in range(len(f)) if there.D[a][b] != 0]
    return first + sp.Add(*(there.D[a][b] * slope(slopes[a], there.z[b]) for a, b in pairs))


def same_full_gradient(module: Module, gradient: Gradient, here: Names) -> None:
    """Compare the gradient of all data with its Program, entry by entry.

    Raises:
        CompilerError: they differ.
    """
    rows = range(0 if gradient.count is None else length(gradient.count, here.sizes))
    for at in signs(here):
        stated = stated_gradient(gradient, at, rows, sp.Integer(1))
        for k, (entry, value) in enumerate(zip(read_full_gradient(module, at), stated, strict=True)):
            equal(entry, value, f"entry {k} of the gradient of all data", at)

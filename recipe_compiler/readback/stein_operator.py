"""The emitted generator, compared with L phi by the second engine, from D, Q and H, or with its Program."""

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.algebra.scalars.symbols import length
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.lower_infinitesimal_generator import (
    LoweredInfinitesimalGenerator,
    lower_infinitesimal_generator,
)
from recipe_compiler.program.program import Gradient, InfinitesimalGenerator, Moment
from recipe_compiler.readback.branches import scalarise
from recipe_compiler.readback.calls import results_of
from recipe_compiler.readback.gradient import stated_gradient, turns
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.oracle import same
from recipe_compiler.readback.second_engine import Engine, polynomial_means
from recipe_compiler.tensor.scalars import Scalar, Sums
from recipe_compiler.tensor.terms import Tensor

Entries = dict[tuple[str, tuple[int, ...]], Scalar]
"""Values by the array that holds them and the place in it, `()` in an array that stands for a number."""


def check_generator(module: Module, here: Names, engine: Engine | None = None) -> None:
    """Compare the emitted L phi with the second engine's; at a point, and grad U of all data, with its Program.

    Raises:
        CompilerError: they differ.
    """
    generator = module.program.infinitesimal_generator
    if generator is None:
        return
    read = _read_moments(module, generator, here)
    if engine is not None and not here.at_point:
        phis = _stated(generator, here, attrgetter("phi"))
        stated = dict(zip(phis, polynomial_means(engine(), [*phis.values()]), strict=True))
        inverses = here.inverses_written_out(read.values())
        read = {place: value.xreplace(inverses) for place, value in read.items()}
    else:
        stated = _stated(generator, here, attrgetter("value"))
        rows = range(length(generator.gradient.count or 0, here.sizes))
        for at in turns(here.for_gradients):
            own = stated_gradient(generator.gradient, at, rows, sp.Integer(1))
            same(own, read_full_gradient(module, at), "the gradient of all data", at)
    same([*stated.values()], [read[place] for place in stated], "the generator", here)


def _read_moments(module: Module, generator: InfinitesimalGenerator, names: Names) -> Entries:
    """Return L phi at one state as the emitted `generator` computes it, the gradient left as symbols."""
    lowered = lower_infinitesimal_generator(module.program)
    if lowered is None:
        return {}
    fills = {"full_gradient": partial(_gradient_at, lowered, generator.gradient, names)}
    arrays = results_of(module, names, lowered.generator, prepare=lowered.prepare, fills=fills)
    return {
        (moment.name, at if moment.phi.free else ()): sp.Integer(0) + array[at]
        for moment, array in zip(generator.moments, arrays, strict=True)
        for at in np.ndindex(array.shape)
    }


def _gradient_at(
    lowered: LoweredInfinitesimalGenerator, gradient: Gradient, names: Names, given: list[Any]
) -> np.ndarray:
    """Return the symbols of the gradient by the block whose value it is given."""
    at = dict(zip((array.name for array in lowered.gradient.inputs), given, strict=True)).get(gradient.block.name, ())
    return np.array(names.gradient(_array_at(names, names.block_at(at) or gradient.block.name)), object)


def _array_at(names: Names, block: str) -> str:
    """Return the name of the gradient of the steps at a block: its symbols stand for that of all data, too."""
    own = names.program.gradient
    return own.places[block] if own is not None else ""


def read_full_gradient(module: Module, names: Names) -> list[Scalar]:
    """Return grad U of all data as the emitted `full_gradient` computes it."""
    lowered = lower_infinitesimal_generator(module.program)
    if lowered is None:
        raise CompilerError("the module has no generator to read")
    return results_of(module, names, lowered.gradient, prepare=lowered.prepare)[0].tolist()


def _stated(generator: InfinitesimalGenerator, names: Names, tensor: Callable[[Moment], Tensor]) -> Entries:
    """Return the entries of L phi as the Program states it, or of phi itself, in the coordinates of the program."""
    here = names.given({name: names.gradient(_array_at(names, at)) for at, name in generator.gradient.places.items()})
    sums: Sums = {}

    def value(moment: Moment, at: tuple[int, ...]) -> Scalar:
        places = dict(zip(moment.phi.free, at, strict=True))
        return scalarise(tensor(moment), names.sizes, places, here.atom, apart=names.at_point, sums=sums)

    return {(moment.name, at): value(moment, at) for moment in generator.moments for at in _places(moment, names)}


def _places(moment: Moment, names: Names) -> list[tuple[int, ...]]:
    sizes = (names.sizes[index.size] if isinstance(index.size, str) else index.size for index in moment.phi.free)
    return list(np.ndindex(*sizes))

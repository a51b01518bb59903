"""The emitted generator, compared with L phi by the second engine, from D, Q and H, or with its Program."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.algebra.scalars.symbols import length
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.lower_infinitesimal_generator import (
    lower_infinitesimal_generator,
)
from recipe_compiler.program.program import InfinitesimalGenerator, Moment
from recipe_compiler.readback.branches import scalarise
from recipe_compiler.readback.calls import block_given, results_of
from recipe_compiler.readback.gradient import stated_gradient, turns
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.oracle import replaced, same
from recipe_compiler.readback.second_engine import Engine, polynomial_means
from recipe_compiler.tensor.scalars import Scalar, Sums
from recipe_compiler.tensor.terms import Tensor


def check_generator(module: Module, here: Names, engine: Engine | None = None) -> None:
    """Compare the emitted L phi with the second engine's; at a point, and grad U of all data, with its Program.

    Raises:
        CompilerError: they differ.
    """
    generator, lowered = module.program.infinitesimal_generator, lower_infinitesimal_generator(module.program)
    if generator is None or lowered is None:
        return
    gradient = generator.gradient

    def gradient_at(given: list[Any]) -> np.ndarray:
        block = block_given(module, here, lowered.gradient, gradient.block.name, given)
        return np.array(here.gradient(_array_at(here, block or gradient.block.name)), object)

    fills = {"full_gradient": gradient_at}
    arrays = results_of(module, here, lowered.generator, prepare=lowered.prepare, fills=fills)
    read = [entry for array in arrays for entry in array.ravel()]
    if engine is not None and not here.at_point:
        stated = polynomial_means(engine(), _stated(generator, here, attrgetter("phi")))
        read = replaced(read, here.inverses_written_out(read))
    else:
        stated = _stated(generator, here, attrgetter("value"))
        rows = range(length(gradient.count or 0, here.sizes))
        for at in turns(here.for_gradients):
            own = stated_gradient(gradient, at, rows, sp.Integer(1))
            same(own, read_full_gradient(module, at), "the gradient of all data", at)
    same(stated, read, "the generator", here)


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


def _stated(
    generator: InfinitesimalGenerator, names: Names, tensor: Callable[[Moment], Tensor]
) -> list[Scalar]:  # fmt: skip
    """Return the entries of L phi as the Program states it, or of phi itself, in the coordinates of the program."""
    here = names.given({name: names.gradient(_array_at(names, at)) for at, name in generator.gradient.places.items()})
    sums: Sums = {}

    def value(moment: Moment, at: tuple[int, ...]) -> Scalar:
        places = dict(zip(moment.phi.free, at, strict=True))
        return scalarise(tensor(moment), names.sizes, places, here.atom, apart=names.at_point, sums=sums)

    shapes = ((own, [length(index.size, names.sizes) for index in own.phi.free]) for own in generator.moments)
    return [value(moment, at) for moment, shape in shapes for at in np.ndindex(*shape)]

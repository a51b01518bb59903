"""The energies: U against its Program and against the emitted gradient, H - U against H; grad U of all data."""

from functools import partial

import sympy as sp

from recipe_compiler.algebra.scalars.symbols import length, positions
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.extents import valued
from recipe_compiler.formula.shapes import DISCRETE
from recipe_compiler.program.lower_energies import LoweredEnergies, lower_energies, lower_full_gradient
from recipe_compiler.program.program import Potential
from recipe_compiler.readback.calls import Value, block_given, results_of
from recipe_compiler.readback.gradient import read_gradient, same_gradient, turns
from recipe_compiler.readback.mean import stated_value
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.oracle import same
from recipe_compiler.readback.second_engine import Engine
from recipe_compiler.readback.unroll import log_jacobians, unrolled
from recipe_compiler.tensor.scalars import Scalar, Sums


def check_energies(module: Module, here: Names, engine: Engine | None = None, *, of_moves: bool = False) -> None:
    """Check U, the log likelihood of every datum, and H - U: those that tell of draws, or that moves are accepted by.

    U(theta) = -log prior - sum_n log p(x_n | theta), over all rows of a small data set. Where names are symbols,
    dU/dtheta has to be the emitted gradient as well. H - U has to be that of the second engine, where that is given.

    Raises:
        CompilerError: one differs; names it.
    """
    program, kernel = module.program, module.kernel
    stated, lowered = program.energies, lower_energies(program)
    gradient = _read_full_gradient if program.full_gradient else None
    if of_moves:
        stated = program.cycle
        own = None if "potential" in program.functions else kernel.potential
        lowered = None if own is None else LoweredEnergies(kernel.prepare, own, None, kernel.rest)
        gradient = read_gradient if kernel.gradient else None
    if stated is None or stated.potential is None or lowered is None:
        return
    which = "" if of_moves else " of all data"
    for at in turns(here.for_gradients):
        (U,) = results_of(module, at, lowered.potential, prepare=lowered.prepare)
        value, data = _stated(stated.potential, at)
        same([value], U.ravel().tolist(), f"U{which}", at)
        if lowered.log_likelihood is not None:
            (rows,) = results_of(module, at, lowered.log_likelihood, prepare=lowered.prepare)
            same([-datum for datum in data], rows.tolist(), "the log likelihood of every datum", at)
        if not at.at_point and gradient is not None:
            slopes = _slopes(U.ravel()[0], stated.potential, at)
            same(gradient(module, at), slopes, f"the slope of U{which}", at)
    if lowered.rest is not None and stated.rest is not None:
        fills = {"potential": partial(_potential_at, module, here)}
        (rest,) = results_of(module, here, lowered.rest, prepare=lowered.prepare, fills=fills)
        same([stated_value(stated.rest, here, (), 0, {})], rest.ravel().tolist(), "H - U", here)
        if engine is not None:
            other = engine()
            other.same([other.there.H - other.U], rest.ravel().tolist(), "H - U beside H")


def check_full_gradient(module: Module, here: Names) -> None:
    """Compare grad U of all data with its Program.

    Raises:
        CompilerError: they differ.
    """
    gradient = module.program.full_gradient
    if gradient is None:
        return
    rows = range(length(gradient.count or 0, here.sizes))
    for at in turns(here.for_gradients):
        read = _read_full_gradient(module, at)
        same_gradient(gradient, read, at, rows, sp.Integer(1), "the gradient of all data")


def _read_full_gradient(module: Module, names: Names) -> list[Scalar]:
    """Return grad U of all data as the emitted `full_gradient` computes it."""
    lowered = lower_full_gradient(module.program)
    if lowered is None:
        raise CompilerError("the module has no gradient of all data to read")
    return results_of(module, names, lowered.gradient, prepare=lowered.prepare)[0].tolist()


def _slopes(U: Scalar, potential: Potential, here: Names) -> list[Scalar]:
    """Return dU/dtheta, and 0 by entries of discrete blocks, which no word moves."""
    held = {
        valued(start, here.sizes) + k
        for block, start in potential.places
        if block.domain.name in DISCRETE
        for k in range(len(positions(block.sampled.shape, here.sizes)))
    }
    return [sp.Integer(0) if k in held else sp.diff(U, z) for k, z in enumerate(here.block(potential.block))]


def _stated(potential: Potential, here: Names) -> tuple[Scalar, list[Scalar]]:
    """Return U over all rows, and -log likelihood of every datum."""
    own, jacobians = potential.recursion, log_jacobians(potential.block, potential.places, here)
    if own is not None:
        prior, data = unrolled(own, potential.count or 0, here)
    else:
        sums: Sums = {}  # all rows have sums of parameters and state in common
        prior, datum = stated_value(potential.prior, here, (), 0, {}), potential.datum
        rows = range(length(potential.count or 0, here.sizes))
        data = [stated_value(datum, here, (), row, sums) for row in rows] if datum is not None else []
    return prior - sp.Add(*jacobians) + sp.Add(*data), data


def _potential_at(module: Module, names: Names, given: list[Value]) -> Scalar:
    """Return the symbol of U by the other block whose value it is given; it is not entered.

    Raises:
        CompilerError: it is given none.
    """
    cycle, own = module.program.cycle, module.kernel.potential
    if own is not None and cycle is not None and cycle.potential is not None:
        other = block_given(module, names, own, cycle.potential.block.name, given)
        if other in names.potentials:
            return names.potential(names.potentials[other])
    raise CompilerError("the emitted H - U takes U at another value than those of its Program")

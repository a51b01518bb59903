"""The energies: U against its Program and against the emitted gradient, H - U against H.

Those that a move is accepted by, and those that tell of draws.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import numpy as np
import sympy as sp

from recipe_compiler.algebra.dynamics.system import system
from recipe_compiler.algebra.scalars.symbols import component, length, positions
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.extents import valued
from recipe_compiler.formula.shapes import DISCRETE
from recipe_compiler.program.lower_energies import lower_energies
from recipe_compiler.program.program import Potential
from recipe_compiler.readback.at_point import same_energy
from recipe_compiler.readback.calls import Value, results_of
from recipe_compiler.readback.gradient import read_gradient, signs, turns
from recipe_compiler.readback.mean import stated_value
from recipe_compiler.readback.names import Names, relabelled
from recipe_compiler.readback.oracle import same
from recipe_compiler.readback.point import equal
from recipe_compiler.readback.stein_operator import read_full_gradient
from recipe_compiler.readback.unroll import log_jacobians, point, unrolled
from recipe_compiler.tensor.scalars import Scalar, Sums
from recipe_compiler.tensor.terms import Tensor


def check_potential(module: Module, here: Names) -> None:
    """Check that the emitted U is that of its Program and, where names are symbols, that dU/dtheta is the gradient.

    U(theta) = -log prior - sum_n log p(x_n | theta), over all rows of a small data set.

    Raises:
        CompilerError: it differs; names what does.
    """
    potential = module.program.cycle.potential if module.program.cycle else None
    if potential is None or module.kernel.potential is None:
        return
    for at in turns(here.for_gradients):
        (U,) = results_of(module, at, module.kernel.potential)
        equal(U.ravel()[0], _stated(potential, at, _stated_data(potential, at)), "U", at)
        slopes = () if at.at_point or module.kernel.gradient is None else read_gradient(module, at, ())
        for k, (slope, own) in enumerate(zip(slopes, _slopes(U.ravel()[0], potential, here), strict=False)):
            equal(own, slope, f"the slope of U by entry {k}", at)


def _slopes(U: Scalar, potential: Potential, here: Names) -> Iterator[Scalar]:
    """Yield dU/dtheta, and 0 by entries of discrete blocks, which no word moves."""
    held = set[int]()
    for block, start in potential.places:
        first = valued(start, here.sizes)
        own = positions(block.sampled.shape, here.sizes) if block.domain.name in DISCRETE else ()
        held |= {first + k for k, _ in enumerate(own)}
    for k, z in enumerate(here.block(potential.block)):
        yield sp.Integer(0) if k in held else sp.diff(U, z)


def _stated(potential: Potential, here: Names, data: Iterable[Scalar]) -> Scalar:
    """Return prior + sum over all rows of datum, whose values are given."""
    own = potential.recursion
    prior = stated_value(potential.prior if own is None else own.prior, here, (), 0, {})
    jacobians = map(here.valued, log_jacobians(potential.block, potential.places, here))
    return prior - sp.Add(*jacobians) + sp.Add(*data)


def _stated_data(potential: Potential, here: Names) -> list[Scalar]:
    """Return -log likelihood of every datum."""
    if potential.datum is None or potential.count is None:
        return []
    if potential.recursion is not None:
        return unrolled(potential.recursion, potential.count, here, point(potential.block, here))[1]
    sums: Sums = {}  # all rows have sums of parameters and state in common
    rows = range(length(potential.count, here.sizes))
    return [stated_value(potential.datum, here, (), row, sums) for row in rows]


def check_rest(
    module: Module, here: Names, derivation: Derivation | None = None, names: Mapping[str, str] | None = None
) -> None:
    """Check that the emitted H - U is that of its Program, and of the second engine where its derivation is given.

    Raises:
        CompilerError: it differs.
    """
    rest = module.program.cycle.rest if module.program.cycle else None
    if rest is not None and module.kernel.rest is not None:
        fills = {"potential": partial(_potential_at, module, here)}
        (read,) = results_of(module, here, module.kernel.rest, fills=fills)
        _same_rest(read.ravel()[0], rest, here, derivation, names or {})


def _same_rest(
    read: Scalar, rest: Tensor, here: Names, derivation: Derivation | None, names: Mapping[str, str]
) -> None:
    """Compare H - U with that of the Program, and H of the second engine, with U an abstract function there."""
    equal(read, stated_value(rest, here, (), 0, {}), "H - U", here)
    if derivation is not None:
        (same_energy if here.at_point else _same_energy)(read, here, derivation, names)


def _potential_at(module: Module, names: Names, given: list[Value]) -> Scalar:
    """Return the symbol of U by the other block whose value it is given; it is not entered.

    Raises:
        CompilerError: it is given none.
    """
    cycle, own = module.program.cycle, module.kernel.potential
    if own is None or cycle is None or cycle.potential is None:
        raise CompilerError("the emitted text calls a potential that it has not")
    block = cycle.potential.block.name
    scalars = module.kernel.scalars(block) or (block,)
    at = dict(zip((array.name for array in (*own.inputs, *own.work)), given, strict=True))
    found = [entry for name in scalars for entry in np.asarray(at[name], object).ravel()]
    values = {b.name: names.block(b) for b in module.program.blocks}
    for other, its_value in names.potentials.items():
        if found == values[other]:
            return names.potential(its_value)
    raise CompilerError("the emitted H - U takes U at another value than those of its Program")


def _same_energy(read: Scalar, here: Names, derivation: Derivation, names: Mapping[str, str]) -> None:
    dynamics = derivation.dynamics
    declarations = dynamics.declarations
    potential = next((f for f in declarations.functions if f.role == "potential"), None)
    if potential is None or dynamics.D is None or dynamics.Q is None:
        raise CompilerError("H - U of dynamics without a potential, D or Q")
    H = system(declarations, dynamics.H, dynamics.D, dynamics.Q, here.sizes).H
    U = component(potential, (), declarations, here.sizes)
    functions = {names.get(f.of[0], f.of[0]): f for f in declarations.functions if f.value.declared == potential.name}
    values = {
        here.potential(value): component(functions[block], (), declarations, here.sizes)
        for block, value in here.potentials.items()
    }
    value = (sp.Integer(0) + read).xreplace(values)
    own = relabelled(value.xreplace(here.inverses_written_out([value])), {new: old for old, new in names.items()})
    equal(own, H - U, "H - U beside H", here)


def check_energies(
    module: Module, here: Names, derivation: Derivation | None = None, names: Mapping[str, str] | None = None
) -> None:
    """Check what diagnostics use: U, the log likelihood of every datum, and H - U are those of the Program.

    Where names are symbols, dU/dtheta has to be the gradient of all data as well, and H - U that of the second engine.

    Raises:
        CompilerError: one differs; names it.
    """
    stated, lowered = module.program.energies, lower_energies(module.program)
    if stated is None or lowered is None:
        return
    potential = stated.potential
    for at in signs(here.for_gradients):
        (U,) = results_of(module, at, lowered.potential, prepare=lowered.prepare)
        data = _stated_data(potential, at)
        equal(U.ravel()[0], _stated(potential, at, data), "U of all data", at)
        if lowered.log_likelihood is not None:
            (rows,) = results_of(module, at, lowered.log_likelihood, prepare=lowered.prepare)
            same([-datum for datum in data], rows.tolist(), "the log likelihood of every datum", at)
        if not at.at_point and module.program.infinitesimal_generator is not None:
            slopes = [*_slopes(U.ravel()[0], potential, here)]
            same(read_full_gradient(module, here), slopes, "the slope of U of all data", here)
    if lowered.rest is not None and stated.rest is not None:
        (rest,) = results_of(module, here, lowered.rest, prepare=lowered.prepare)
        _same_rest(rest.ravel()[0], stated.rest, here, derivation, names or {})

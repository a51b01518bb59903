"""The energies: U against its Program and against the emitted gradient, H - U against H.

Those that a move is accepted by, and those that tell of draws.
"""

from collections.abc import Iterable, Iterator, Mapping

import sympy as sp

from recipe_compiler.algebra.dynamics.system import system
from recipe_compiler.algebra.scalars.symbols import component, length, positions
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.extents import valued
from recipe_compiler.formula.shapes import DISCRETE
from recipe_compiler.program.lower_energies import LoweredEnergies, lower_energies
from recipe_compiler.program.program import Potential
from recipe_compiler.readback.gradient import read_gradient, read_sum, signs, turns
from recipe_compiler.readback.mean import stated_value
from recipe_compiler.readback.names import Names, relabelled
from recipe_compiler.readback.point import equal
from recipe_compiler.readback.stein_operator import read_at_state, read_full_gradient
from recipe_compiler.readback.unroll import log_jacobians, point, unrolled
from recipe_compiler.tensor.scalars import Scalar, Sums


def check_potential(module: Module, here: Names) -> None:
    """Check that the emitted U is that of its Program and, where names are symbols, that dU/dtheta is the gradient.

    U(theta) = -log prior - sum_n log p(x_n | theta), over all rows of a small data set.

    Raises:
        CompilerError: it differs; names what does.
    """
    potential = module.program.cycle.potential if module.program.cycle else None
    if potential is None or module.kernel.potential is None:
        return
    for turned in turns(here.for_gradients):
        (read,) = read_sum(module, turned, module.kernel.potential, ())
        equal(read, _stated(potential, turned, _stated_data(potential, turned)), "U", turned)
        alone = turned.at_point or module.kernel.gradient is None
        slopes = () if alone else read_gradient(module, turned, ())
        for k, (slope, own) in enumerate(zip(slopes, _slopes(read, potential, here), strict=False)):
            equal(own, slope, f"the slope of U by entry {k}", turned)


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


def check_rest(module: Module, here: Names) -> None:
    """Check that the emitted H - U is that of its Program.

    Raises:
        CompilerError: it differs.
    """
    cycle = module.program.cycle
    if cycle is None or cycle.rest is None or module.kernel.rest is None:
        return
    (read,) = read_sum(module, here, module.kernel.rest, ())
    equal(read, stated_value(cycle.rest, here, (), 0, {}), "H - U", here)


def check_energy(module: Module, here: Names, derivation: Derivation, names: Mapping[str, str]) -> None:
    """Check the emitted H - U against the H of the second engine, with U an abstract function there.

    Raises:
        CompilerError: it differs.
    """
    if module.kernel.rest is None:
        return
    (read,) = read_sum(module, here, module.kernel.rest, ())
    _same_energy(read, here, derivation, names)


def _same_energy(read: Scalar, here: Names, derivation: Derivation, names: Mapping[str, str]) -> None:
    """Compare H - U with H of the second engine."""
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


def _same_energies(module: Module, at: Names, potential: Potential, lowered: LoweredEnergies) -> Scalar:
    """Return U of all data as it is read, after comparing it, and the log likelihood of every datum."""
    of_target = [own for own in lowered.procedures if own != lowered.rest]
    read = read_at_state(module, at, lowered.prepare, of_target)
    U = read[lowered.potential.name][0]
    stated = _stated_data(potential, at)
    equal(U, _stated(potential, at, stated), "U of all data", at)
    if lowered.log_likelihood is not None:
        own = read[lowered.log_likelihood.name]
        for row, (value, datum) in enumerate(zip(own, stated, strict=True)):
            equal(value, -datum, f"the log likelihood of datum {row}", at)
    return U


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
    for at in signs(here.for_gradients):
        U = _same_energies(module, at, stated.potential, lowered)
        if not at.at_point and module.program.infinitesimal_generator is not None:
            slopes = zip(_slopes(U, stated.potential, here), read_full_gradient(module, here), strict=True)
            for k, (own, slope) in enumerate(slopes):
                equal(own, slope, f"the slope of U of all data by entry {k}", here)
    if lowered.rest is not None and stated.rest is not None:
        (rest,) = read_at_state(module, here, lowered.prepare, [lowered.rest])[lowered.rest.name]
        equal(rest, stated_value(stated.rest, here, (), 0, {}), "H - U at a state", here)
        if derivation is not None:
            _same_energy(rest, here, derivation, names or {})

"""The energies that a move is accepted by: U against its Program and against the emitted gradient, H - U against H."""

from collections.abc import Mapping

import sympy as sp

from recipe_compiler.algebra.dynamics.system import system
from recipe_compiler.algebra.scalars.symbols import component, length
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.program import Potential
from recipe_compiler.readback.gradient import read_gradient, read_sum, stated_value, turns
from recipe_compiler.readback.names import Names, relabelled
from recipe_compiler.readback.point import equal
from recipe_compiler.tensor.scalars import Scalar


def check_potential(module: Module, here: Names) -> None:
    """Check that U is that of its Program and, where names are symbols, that its slopes are the emitted gradient.

    Raises:
        CompilerError: it is another; names what differs.
    """
    potential = module.program.cycle.potential if module.program.cycle else None
    if potential is None or module.kernel.potential is None:
        return
    for turned in turns(here):
        (read,) = read_sum(module, turned, module.kernel.potential, ())
        equal(read, _stated(potential, turned), "U", turned)
        slopes = () if here.at_point else read_gradient(module, turned, ())
        for k, (z, slope) in enumerate(zip(here.block(potential.block), slopes, strict=False)):
            equal(sp.diff(read, z), slope, f"the slope of U by entry {k}", turned)


def _stated(potential: Potential, here: Names) -> Scalar:
    """Return prior + sum over all rows of datum."""
    total = stated_value(potential.prior, here, (), 0, {})
    if potential.datum is None or potential.count is None:
        return total
    rows = range(length(potential.count, here.sizes))
    return total + sp.Add(*(stated_value(potential.datum, here, (), row, {}) for row in rows))


def check_rest(module: Module, here: Names) -> None:
    """Check that H - U is that of its Program.

    Raises:
        CompilerError: it is another.
    """
    cycle = module.program.cycle
    if cycle is None or cycle.rest is None or module.kernel.rest is None:
        return
    (read,) = read_sum(module, here, module.kernel.rest, ())
    equal(read, stated_value(cycle.rest, here, (), 0, {}), "H - U", here)


def check_energy(module: Module, here: Names, derivation: Derivation, names: Mapping[str, str]) -> None:
    """Check H - U as it is emitted against H of the second engine, in which U is a function of its own.

    Raises:
        CompilerError: it is another.
    """
    dynamics = derivation.dynamics
    if module.kernel.rest is None or dynamics.D is None or dynamics.Q is None:
        return
    declarations = dynamics.declarations
    potential = next((f for f in declarations.functions if f.role == "potential"), None)
    if potential is None:
        raise CompilerError("a cycle accepts by H of dynamics without a potential")
    (read,) = read_sum(module, here, module.kernel.rest, ())
    H = system(declarations, dynamics.H, dynamics.D, dynamics.Q, here.sizes).H
    U = component(potential, (), declarations, here.sizes)
    value = sp.Integer(0) + read
    own = relabelled(value.xreplace(here.inverses_written_out([value])), {new: old for old, new in names.items()})
    equal(own, H - U, "H - U beside H", here)

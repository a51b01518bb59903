"""Lowering of propagators: the matrices of linear flows with constant coefficients, computed once before the chain."""

from recipe_compiler.program.definition import Definition, Definitions
from recipe_compiler.program.loops import Array, Propagate
from recipe_compiler.program.lowered_noise import assemble, length
from recipe_compiler.program.program import Propagator


def lower_propagator(defined: Definitions, propagator: Propagator) -> Definitions:
    """Return the definitions with F and 2D of a propagator, and the three matrices that follow from them."""
    F, defined = assemble(defined, "F", propagator.blocks, propagator.F)
    two_D, defined = assemble(defined, "two_D", propagator.blocks, propagator.two_D)
    targets = (propagator.change, propagator.integral, propagator.covariance)
    body = (Propagate(targets, F, two_D, propagator.share),)
    for name, (row, col) in propagator.arrays.items():
        array = Array(name, (length(row), length(col)))
        defined = defined.having(Definition(array, body, constant=True, of_datum=False))
        body = ()
    return defined

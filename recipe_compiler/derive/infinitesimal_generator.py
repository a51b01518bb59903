"""The generator of a recipe's equation, applied to a function of the state.

L phi = f . grad phi + tr(D Hess phi). Where exp(-H) is stationary, the mean of L phi over it is 0 for every phi that
does not grow too fast: what a chain with a finite step size or with noisy gradients samples shows itself there.
"""

from recipe_compiler.derive.recipe import Derivation, col_slots, row_slots
from recipe_compiler.tensor.terms import Coordinate, Tensor


def generator(derivation: Derivation, phi: Tensor) -> Tensor:
    """Return L phi for every size: f . grad phi + tr(D Hess phi), with f the derived drift, Gamma included.

    Args:
        derivation: gives f and D.
        phi: a function of the state. Its free indices are those of the result; none has the label `i` or `j`, which
            those of f and D have.
    """
    c = derivation.calculus
    blocks = derivation.dynamics.declarations.blocks
    parts = [c.zero(*phi.free)]
    for a, block in enumerate(blocks):
        slope = c.diff(phi, Coordinate(block.name, row_slots(block)))
        parts.append(c.total(c.distribute(derivation.drift[a], slope), *row_slots(block)))
        for b, other in enumerate(blocks):
            curvature = c.diff(slope, Coordinate(other.name, col_slots(other)))
            parts.append(c.total(c.distribute(derivation.D[a][b], curvature), *row_slots(block), *col_slots(other)))
    return c.add(*parts)

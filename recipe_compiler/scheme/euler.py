"""Euler-Maruyama: every block from the old state at once."""

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.program.program import Program
from recipe_compiler.scheme.assemble import SchemeSetting, assemble


def euler(derivation: Derivation, setting: SchemeSetting) -> Program:
    """Return z+ = z + eps f(z) + N(0, 2 eps D(z)), with a minibatch N(0, eps (2D - eps B_hat)).

    Ma, Chen, Fox (2015), Eqs. 6 and 9, with Gamma in the drift as in Eq. 3 (the printed sign is the opposite one). z
    and f are vectors over z, D and B_hat matrices over z; all blocks are read before any is written. Weak order 1. On U
    = theta**2/2 with D = 1 it samples the variance 1/(1 - eps/2) instead of 1.
    """
    order = tuple(block.name for block in derivation.dynamics.declarations.blocks)
    return assemble("euler", derivation, setting, order, sequential=False)

"""Sequential Euler: block after block, each from the newest values of the blocks before it."""

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.program.program import Program
from recipe_compiler.scheme.assemble import SchemeSetting, assemble


def sequential_euler(derivation: Derivation, setting: SchemeSetting, order: tuple[str, ...]) -> Program:
    """Return b+ = b + eps f_b(updated blocks before b, old ones after) + noise, for b in `order`.

    The noise covariance is that of the old state: a coefficient at an updated block would add a drift of order one.
    With momentum first this is the symplectic Euler rule for the Hamiltonian part (Chen, Fox, Guestrin 2014, Algorithm
    2 in the notation of Ma, Chen, Fox 2015, Eq. 12). Weak order 1.

    Worked, SGHMC with the order r, theta: r+ = r - eps grad U(theta) - eps C inv(M) r + N(0, 2 eps C), then theta+ =
    theta + eps inv(M) r+, with the new r.
    """
    return assemble("sequential_euler", derivation, setting, order, sequential=True)

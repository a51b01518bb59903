"""Steps that move every block once: Euler-Maruyama all from the old state, sequential Euler one after the other.

Sequential Euler takes the newest values of the blocks before.
"""

from recipe_compiler.derive.noise import noise_covariance
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.program.program import Program
from recipe_compiler.scheme.setting import SchemeSetting
from recipe_compiler.scheme.shifts_and_noise import Matrix, evaluated, noises, shifts


def euler(derivation: Derivation, setting: SchemeSetting) -> Program:
    """Return z+ = z + eps f(z) + N(0, 2 eps D(z)), with a minibatch N(0, eps (2D - eps B_hat)).

    Ma, Chen, Fox (2015), Eqs. 6 and 9, with Gamma in the drift as in Eq. 3 (the printed sign is the opposite one). z
    and f are vectors over z, D and B_hat matrices over z; all blocks are read before any is written. Weak order 1. On U
    = theta**2/2 with D = 1 it samples the variance 1/(1 - eps/2) instead of 1.
    """
    order = tuple(block.name for block in derivation.dynamics.declarations.blocks)
    return _assembled("euler", derivation, setting, order, sequential=False)


def sequential_euler(derivation: Derivation, setting: SchemeSetting, order: tuple[str, ...]) -> Program:
    """Return b+ = b + eps f_b(updated blocks before b, old ones after) + noise, for b in `order`.

    The noise covariance is that of the old state: a coefficient at an updated block would add a drift of order one.
    With momentum first this is the symplectic Euler rule for the Hamiltonian part (Chen, Fox, Guestrin 2014, Algorithm
    2 in the notation of Ma, Chen, Fox 2015, Eq. 12). Weak order 1.

    Worked, SGHMC with the order r, theta: r+ = r - eps grad U(theta) - eps C inv(M) r + N(0, 2 eps C), then theta+ =
    theta + eps inv(M) r+, with the new r.
    """
    return _assembled("sequential_euler", derivation, setting, order, sequential=True)


def _assembled(
    scheme: str, derivation: Derivation, setting: SchemeSetting, order: tuple[str, ...], *, sequential: bool
) -> Program:
    """Return the Program of one step that shifts every block once, in `order`, with noise drawn at the old state.

        z' = z + eps f + N(0, eps (2D - eps B_hat)),    B_hat = (D + Q) V (D + Q)^T

    which is Ma, Chen, Fox 2015, Eq. 9, with f as in Eq. 3; B_hat is 0 where V is. f is a vector, D and B_hat are
    matrices over z. A `sequential` step reads blocks that were shifted before at their new values. That 2D - eps B_hat
    is positive semidefinite is not decided here.
    """
    B_hat: Matrix | None = None
    if setting.V is not None and not setting.V.is_zero:
        B_hat = noise_covariance(derivation, setting.gradient.block.name, setting.V)
    draws = noises(derivation, B_hat)
    moves = shifts(derivation, setting.gradient, order, setting.declared, draws, sequential=sequential)
    statements = (*draws, *evaluated(moves, setting.gradient.places, sequential=sequential))
    return setting.program(scheme, derivation, statements)

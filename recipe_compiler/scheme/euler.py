"""Steps that move every block once: Euler-Maruyama all from the old state, sequential Euler one after the other.

Sequential Euler takes the newest values of the blocks before.
"""

from recipe_compiler.derive.noise import noise_covariance
from recipe_compiler.derive.recipe import Derivation, map_matrices
from recipe_compiler.errors import Fault, ModelError, Place
from recipe_compiler.program.program import Program, Shift
from recipe_compiler.scheme.shifts_and_noise import (
    SchemeSetting,
    arrays_of,
    fresh,
    noises,
    values_used,
    with_gradient,
)


def euler(derivation: Derivation, setting: SchemeSetting, order: tuple[str, ...] = ()) -> Program:
    """Return z+ = z + eps f(z) + N(0, 2 eps D(z)), with a minibatch N(0, eps (2D - eps B_hat)).

    B_hat = (D + Q) V (D + Q)^T. Ma, Chen, Fox (2015), Eqs. 6 and 9, with Gamma in the drift as in Eq. 3 (the printed
    sign is the opposite one). z and f are vectors over z, D and B_hat matrices over z. Weak order 1. On U = theta**2/2
    with D = 1 it samples the variance 1/(1 - eps/2) instead of 1. That 2D - eps B_hat is positive semidefinite is not
    decided here.

    With an `order` b+ = b + eps f_b(updated blocks before b, old ones after) + noise, sequential Euler. The noise
    covariance is that of the old state: a coefficient at an updated block would add a drift of order one. With momentum
    first this is the symplectic Euler rule for the Hamiltonian part (Chen, Fox, Guestrin 2014, Algorithm 2 in the
    notation of Ma, Chen, Fox 2015, Eq. 12). Weak order 1.

    Worked, SGHMC with the order r, theta: r+ = r - eps grad U(theta) - eps C inv(M) r + N(0, 2 eps C), then theta+ =
    theta + eps inv(M) r+, with the new r.

    Args:
        derivation: of the dynamics.
        setting: with the gradient of the target.
        order: of all blocks; empty where all of them move from the old state.

    Raises:
        ModelError: one block needs the gradient at the old value of its block, another at the new one.
    """
    c, blocks = derivation.calculus, {block.name: block for block in derivation.blocks}
    drifts = dict(zip(blocks, derivation.drift, strict=True))
    two_D = map_matrices(lambda entry: c.scale(entry, 2), derivation.D)
    B_hat = None
    if setting.V is not None and not setting.V.is_zero:
        B_hat = noise_covariance(derivation, setting.gradient.block.name, setting.V)
    draws = noises(derivation.blocks, {name: name for name in blocks}, two_D, B_hat)
    noise = {block.name: draw.name for draw in draws for block in draw.blocks}
    newest = dict[str, str]()
    moves: list[Shift] = []
    for name in order or blocks:
        rate = with_gradient(drifts[name], arrays_of(derivation, setting.gradient), newest)
        moves.append(Shift(blocks[name], name, fresh(f"{name}_new", setting.declared), rate, noise.get(name, "")))
        newest |= {name: moves[-1].new} if order else {}
    for block, gradient in setting.gradient.places.items():
        if len(values_used(moves, block, gradient)) > 1:
            problem = f"found an order that needs {gradient} at both the old and the new {block}"
            hint = f"put {block} last, or use the scheme euler"
            raise ModelError([Fault(Place(""), "scheme.order", problem, hint)])
    return setting.program("sequential_euler" if order else "euler", derivation, (*draws, *moves))

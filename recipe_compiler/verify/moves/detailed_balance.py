"""Does a piece with noise satisfy detailed balance, up to a flip F of momenta? Heat is then no part of the work.

With K_t(z, z') its density after a time t, exp(-H(z)) K_t(z, z') = exp(-H(z')) K_t(F z', F z) (Sivak, Chodera, Crooks
2013, Eq. 5; Nilmeier et al. 2011). Its generator is L = D_k : Hess - (D_k grad H - div D_k - J) . grad, whose adjoint
with respect to exp(-H) has -J for J where exp(-H) is stationary. So it is what F makes of L where H o F = H and

    F D_k(F z) F = D_k(z),    F J(F z) = -J(z),    J = f_k - div D_k + D_k grad H.

Friction with its noise has J = 0. Of pieces with noise flows are Gaussian in z or T(z), with coefficients that are
frozen: what holds of the generator holds of K_t. So it does of the implicit midpoint where J = 0: with f = -D_k grad H
linear, log K_t(z, z') is (H(z) - H(z'))/2 and what z and z' have alike.
"""

from sympy import Expr

from recipe_compiler.algebra.dynamics.system import correction, gradient
from recipe_compiler.algebra.scalars.matrices import dot
from recipe_compiler.derive.stationarity import current
from recipe_compiler.errors import ModelError
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.core.conjunction import conjoin
from recipe_compiler.verify.core.identities import Identity, list_faults
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.steps.kept import keeps_law
from recipe_compiler.verify.steps.quantity import noise_quantities, vector_of
from recipe_compiler.verify.steps.reversible import Flip, apply_flip, decide_flipped, reversal_identities
from recipe_compiler.verify.steps.split import Split, decide_identities


def detailed_balance(split: Split, piece: Piece, under: Flip) -> Answer:
    """Decide that a piece with noise has exp(-H(z)) K(z, z') = exp(-H(z')) K(F z', F z), K its density after a step.

    Obligations: exp(-H) is stationary for the piece; F D_k(F z) F = D_k(z); F J(F z) = -J(z) with J = f_k - div D_k +
    D_k grad H, or J = 0 where it is moved numerically (Sivak, Chodera, Crooks 2013, Eq. 5). O of Langevin dynamics, f =
    -C inv(M) r with D = C in the momentum, has J = 0.
    """
    try:
        J = current(split.derivation, piece.drift, piece.D)
    except ModelError as error:
        return undecided(*list_faults(error))

    def second_engine(sizes: Sizes) -> list[Expr]:
        f, D, z = split.drift(piece, sizes), split.diffusion(piece, sizes), split.z(sizes)
        slopes = gradient(split.subject.system(sizes).H, z)
        return [x - y + dot(row, slopes) for x, y, row in zip(f, correction(D, z), D, strict=True)]

    flow, says = vector_of(split, J, second_engine), f"the current of {piece.name} in {{}}"
    if piece.name in split.numerical or all(entry.is_zero for entry in J):
        of_current = ("no current flows", decide_identities(split, [own.vanishes(says, "D") for own in flow]))
    else:
        even = f"the even part of {says} under {under.says}"
        of_current = (
            "its current runs backwards",
            decide_flipped(split, under, lambda: reversal_identities(flow, under, even)),
        )
    same = f"D[{{}}] of {piece.name} minus that under {under.says}"

    def same_noise() -> list[Identity]:
        return [
            apply_flip(own, under).minus(own).vanishes(same, "D") for own in noise_quantities(split, piece).values()
        ]

    of_noise = ("its noise is the same", decide_flipped(split, under, same_noise))
    stationary = ("exp(-H) is stationary", keeps_law(split, piece))
    return conjoin("detailed balance", [stationary, of_current, of_noise])

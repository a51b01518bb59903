"""What the flow of each piece keeps: exp(-H), volume, a constant Q. Decided of fields, no flow being written out.

True of some pieces and false of others, which is no fault: kicks and drifts move along exp(-H) only together.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from sympy import Expr

from recipe_compiler.algebra.dynamics import pieces as second
from recipe_compiler.algebra.dynamics.system import residual as second_residual
from recipe_compiler.derive.recipe import Matrix, derive
from recipe_compiler.derive.stationarity import residual
from recipe_compiler.errors import ModelError
from recipe_compiler.splitting.implicit import GENERALISED
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.properties import compute_change_of_form, compute_divergence
from recipe_compiler.verdict import Answer, Refuted, undecided
from recipe_compiler.verify.core.conjunction import is_proved, name_those_with
from recipe_compiler.verify.core.identities import Identity, list_faults
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.equation.equation import Equation
from recipe_compiler.verify.infinity.at_infinity import exclude_flux_through_infinity
from recipe_compiler.verify.steps.flow import assume_existence
from recipe_compiler.verify.steps.quantity import matrix_of, noise_quantities
from recipe_compiler.verify.steps.split import Split, decide_identities


def keeps(split: Split) -> Answer:
    """Report the pieces for which exp(-H) is stationary (H the whole energy), and that it is not for the others.

    R_k = (1/p) [-div(f_k p) + sum_ij d_i d_j (D_k,ij p)] = 0 for p = exp(-H) (Ma, Chen, Fox 2015, Theorem 1). In
    Langevin dynamics O keeps it; A and B keep it only together. That a piece does not is no fault.
    """
    return list_pieces(split, keeps_law, split.numerical)


def list_pieces(
    split: Split, decide: Callable[[Split, Piece], Answer], unsaid: Mapping[str, str], among: str = ""
) -> Answer:
    """Return the answer that names the pieces for which a property is proved."""
    said = {piece.name: decide(split, piece) for piece in split.pieces if piece.name not in unsaid}
    return name_those_with(said, among, unsaid)


def keeps_law(split: Split, piece: Piece) -> Answer:
    """Decide that exp(-H) is stationary for one piece, dz = f_k dt + sqrt(2 D_k) dW, infinity included.

    R_k = (1/p) [-div(f_k p) + sum_ij d_i d_j (D_k,ij p)] = 0 with p = exp(-H), H the whole energy, f_k: [n], D_k: [n,
    n], by both engines and for every size (Ma, Chen, Fox 2015, Theorem 1, for f_k and D_k). Refuted by an exact point,
    or by a current through infinity; undecided as `exclude_flux_through_infinity` is. Where a solution without noise
    may end within a step, that none does is taken for granted.

    Worked, H = (theta**2 + r**2)/2: the drift A, theta' = r, has R = -0 + r theta, refuted at theta = r = 1; the
    friction O, dr = -c r dt + sqrt(2 c) dW, has R = c - c r**2 + c (r**2 - 1) = 0.
    """
    where = split.subject.place("H")
    try:
        left = residual(split.derivation, piece.drift, piece.D)
    except ModelError as error:
        return undecided(*list_faults(error), where=where)

    def drift(sizes: Sizes) -> tuple[Expr, ...]:
        return split.drift(piece, sizes)

    def entries(sizes: Sizes) -> list[Expr]:
        return [second_residual(split.subject.system(sizes), drift(sizes), split.diffusion(piece, sizes))]

    found = decide_identities(split, [Identity(f"the residual of {piece.name}", where, left, entries)])
    derivation = replace(split.derivation, drift=piece.drift, D=piece.D)
    own = Equation(
        split.subject, derivation, split.subject.formulas, (), drift, lambda sizes: split.diffusion(piece, sizes)
    )
    found = exclude_flux_through_infinity(split.subject, found, own)
    if not is_proved(found) or piece.is_noisy:
        return found
    return found.given_also(assume_existence(split, [piece]))


def list_volume_pieces(split: Split) -> Answer:
    """Report the pieces whose flow keeps volume: D_k = 0 and div f_k = 0 (Liouville)."""
    return list_pieces(split, keeps_volume, split.numerical)


def keeps_volume(split: Split, piece: Piece) -> Answer:
    """Decide that D_k = 0 and div f_k = sum_i df_k,i/dz_i = 0: the flow phi of the piece then has |det dphi| = 1.

    (Liouville; Hairer, Lubich, Wanner 2006, Lemma VI.9.1.) By both engines, for every size; refuted by an exact point.
    A kick dr = -grad U(theta) dt keeps it, as it is free of r; dr = -c r dt does not, div f = -c n.
    """
    left = compute_divergence(split.derivation.calculus, split.derivation.declarations.blocks, piece.drift)

    def entries(sizes: Sizes) -> list[Expr]:
        return [second.divergence(split.drift(piece, sizes), split.z(sizes))]

    own = Identity(f"div f of {piece.name}", split.subject.place("Q"), left, entries)
    return decide_identities(split, [*zero_noise_identities(split, piece), own])


def list_symplectic_pieces(split: Split) -> Answer:
    """Report the pieces whose flow phi keeps Q, dphi Q dphi.T = Q, where the Q of all pieces without noise is constant.

    Q: [n, n] over z, dphi: [n, n]. f_k = -Q grad H_k does: with F = df_k/dz, F Q + Q F.T = 0. The implicit midpoint
    keeps what its field keeps, as (1 - A)^-1 (1 + A) Q ((1 - A)^-1 (1 + A)).T = Q where A Q + Q A.T = 0; so does the
    generalised leapfrog where Q couples its two blocks alone (Hairer, Lubich, Wanner 2006, Thms. VI.3.3, VI.4.2). Only
    the places of Q by which these pieces move are looked at. Undecided where one of them is not shown to be constant.
    """
    Q = symplectic_form(split)
    if all(entry.is_zero for row in Q for entry in row):
        return list_pieces(split, lambda *_: Answer(Refuted("no piece without noise has a Q", ())), {})
    constant = is_constant(split, Q)
    if not is_proved(constant):
        return list_pieces(split, lambda *_: constant, {})
    unsaid = {
        piece.name: GENERALISED
        for piece in split.pieces
        if split.numerical.get(piece.name) == GENERALISED and not couples_alone(split, piece, Q)
    }
    return list_pieces(split, lambda own, piece: keeps_form(own, piece, Q), unsaid)


def couples_alone(split: Split, piece: Piece, Q: Matrix) -> bool:
    """Whether Q has places only between the two blocks that a piece moves."""
    moved = [n for n, name in enumerate(split.subject.names) if name in piece.moved]
    places = [(a, b) for a, row in enumerate(Q) for b, entry in enumerate(row) if not entry.is_zero]
    return all(a != b and a in moved and b in moved for a, b in places)


def is_constant(split: Split, Q: Matrix) -> Answer:
    """Decide that dQ_ab/dz = 0 for every place of a matrix over z, block by block."""
    return decide_identities(
        split,
        [
            own.slope(by).vanishes(f"dQ[{split.blocks[a].name},{split.blocks[b].name}]/d{by.name}", "Q")
            for (a, b), own in matrix_of(split, Q, split.form).items()
            for by in split.blocks
        ],
    )


def symplectic_form(split: Split) -> Matrix:
    """Return Q with zeros in all places by which no piece without noise moves: Q_ab moves a by dH/db and b by dH/da."""
    c = split.derivation.calculus
    parts = [derive(part) for piece in split.noiseless for part in piece.parts]

    def moves(a: int, b: int) -> bool:
        return any(not (of.Q[a][b].is_zero or (of.grad_H[a].is_zero and of.grad_H[b].is_zero)) for of in parts)

    return tuple(
        tuple(entry if moves(a, b) else c.zero(*entry.free) for b, entry in enumerate(row))
        for a, row in enumerate(split.derivation.Q)
    )


def keeps_form(split: Split, piece: Piece, Q: Matrix) -> Answer:
    """Decide that D_k = 0 and F Q + Q F.T = 0, F = df_k/dz: [n, n], for a constant Q: [n, n].

    The derivative J of the flow has J' = F J, so d(J Q J.T)/dt = 0 and J Q J.T = Q (Hairer, Lubich, Wanner 2006, Thm.
    VI.2.4, whose proof this is). By both engines; refuted by an exact point.

    Worked, d = 2, Q = [[0, -I], [I, 0]]: a kick f = (0, -K theta) has F = [[0, 0], [-K, 0]] and F Q + Q F.T = [[0, 0],
    [0, K - K.T]]: kept if and only if K is symmetric, a Hessian.
    """
    c, blocks = split.derivation.calculus, split.derivation.declarations.blocks
    says, left = f"the change of Q[{{}}] by {piece.name}", compute_change_of_form(c, blocks, piece.drift, Q)

    def entries(sizes: Sizes) -> tuple[tuple[Expr, ...], ...]:
        return second.change_of_form(split.drift(piece, sizes), split.form(sizes), split.z(sizes))

    changes = [own.vanishes(says, "Q") for own in matrix_of(split, left, entries).values()]
    return decide_identities(split, [*zero_noise_identities(split, piece), *changes])


def zero_noise_identities(split: Split, piece: Piece) -> list[Identity]:
    """Return the identities D_k = 0, place by place."""
    return [own.vanishes(f"D[{{}}] of {piece.name}", "D") for own in noise_quantities(split, piece).values()]

"""Does a piece with noise satisfy detailed balance, up to a flip F of momenta? Heat is then no part of the work.

With K_t(z, z') its density after a time t, exp(-H(z)) K_t(z, z') = exp(-H(z')) K_t(F z', F z) (Sivak, Chodera, Crooks
2013, Eq. 5; Nilmeier et al. 2011). Its generator is L = D_k : Hess - (D_k grad H - div D_k - J) . grad, whose adjoint
with respect to exp(-H) has -J for J where exp(-H) is stationary. So it is what F makes of L where H o F = H and

    F D_k(F z) F = D_k(z),    F J(F z) = -J(z),    J = f_k - div D_k + D_k grad H.

Friction with its noise has J = 0. Of pieces with noise flows are Gaussian in z or T(z), with coefficients that are
frozen: what holds of the generator holds of K_t. So it does of the implicit midpoint where J = 0: with f = -D_k grad H
linear, log K_t(z, z') is (H(z) - H(z'))/2 and what z and z' have alike.
"""

from collections.abc import Iterator

from sympy import Expr

from recipe_compiler.algebra.dynamics import pieces as second
from recipe_compiler.algebra.dynamics.system import correction, gradient
from recipe_compiler.algebra.scalars.matrices import total
from recipe_compiler.derive.recipe import Vector
from recipe_compiler.derive.stationarity import current
from recipe_compiler.errors import ModelError
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.properties import reflected, reflected_vector
from recipe_compiler.verdict import Answer, Undecided
from recipe_compiler.verify.core.identities import Identity, Scalars, faults_of
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.moves.conjunction import Obligation, is_shown, left_open, shown
from recipe_compiler.verify.steps.kept import keeps_law
from recipe_compiler.verify.steps.reversible import Flip, centres_at, of_reflections, unknown
from recipe_compiler.verify.steps.split import Split, decided


def detailed_balance(split: Split, piece: Piece, under: Flip) -> Answer:
    """Decide that a piece with noise has exp(-H(z)) K(z, z') = exp(-H(z')) K(F z', F z), K its density after a step.

    Obligations: exp(-H) is stationary for the piece; F D_k(F z) F = D_k(z); F J(F z) = -J(z) with J = f_k - div D_k +
    D_k grad H, or J = 0 where it is moved numerically (Sivak, Chodera, Crooks 2013, Eq. 5). O of Langevin dynamics, f =
    -C inv(M) r with D = C in the momentum, has J = 0.
    """
    try:
        J = current(split.derivation, piece.drift, piece.D)
    except ModelError as error:
        return Answer(Undecided(faults_of(error)))
    still = piece.name in split.numerical or all(entry.is_zero for entry in J)
    current_ = _no_current(split, piece, J) if still else _current_turned(split, piece, J, under)
    obligations: list[Obligation] = [
        ("exp(-H) is stationary", keeps_law(split, piece)),
        ("no current flows" if still else "its current runs backwards", current_),
        ("its noise is the same", _of(split, list(_noise(split, piece, under)), under)),
    ]
    if not is_shown(obligations):
        return Answer(Undecided(left_open(obligations)))
    return shown("detailed balance", obligations)


def _no_current(split: Split, piece: Piece, J: Vector) -> Answer:
    """Decide that J = 0."""
    where, names = split.subject.place("D"), split.subject.names
    return decided(
        split,
        [
            Identity(f"the current of {piece.name} in {name}", where, left, _current(split, piece, n))
            for n, (name, left) in enumerate(zip(names, J, strict=True))
        ],
    )


def _current_turned(split: Split, piece: Piece, J: Vector, under: Flip) -> Answer:
    """Decide that F J(F z) + J(z) = 0."""
    c, where, names = split.derivation.calculus, split.subject.place("Q"), split.subject.names
    turned = reflected_vector(c, split.derivation.dynamics.declarations.blocks, J, under.centres)
    if turned is None:
        return unknown(under)
    identities = [
        Identity(
            f"the even part of the current of {piece.name} in {name} under {under.says}",
            where,
            c.settled(c.add(there, here)),
            _even(split, piece, under, n),
        )
        for n, (name, there, here) in enumerate(zip(names, turned, J, strict=True))
    ]
    return of_reflections(split, identities)


def _of(split: Split, identities: list[Identity | None], under: Flip) -> Answer:
    known = [identity for identity in identities if identity is not None]
    return of_reflections(split, known) if len(known) == len(identities) else unknown(under)


def _noise(split: Split, piece: Piece, under: Flip) -> Iterator[Identity | None]:
    """Yield F D_k(F z) F - D_k(z) = 0, place by place; None where it is not known what F makes of a function."""
    c, names, where = split.derivation.calculus, split.subject.names, split.subject.place("D")
    for a, row in enumerate(piece.D):
        for b, entry in enumerate(row):
            there = reflected(c, entry, under.centres)
            if there is None:
                yield None
                continue
            sign = _sign(under, names[a]) * _sign(under, names[b])
            left = c.settled(c.subtract(c.scale(there, sign), entry))
            says = f"D[{names[a]},{names[b]}] of {piece.name} minus that under {under.says}"
            yield Identity(says, where, left, _turned_noise(split, piece, under, (a, b)))


def _sign(under: Flip, block: str) -> int:
    return -1 if block in under.centres else 1


def _turned_noise(split: Split, piece: Piece, under: Flip, at: tuple[int, int]) -> Scalars:
    def entries(sizes: Sizes) -> list[Expr]:
        D, centres = split.diffusion(piece, sizes), centres_at(split, under, sizes)
        sign = _sign(under, split.subject.names[at[0]]) * _sign(under, split.subject.names[at[1]])
        rows, columns = (split.places(block, sizes) for block in at)
        return [sign * second.reflected(D[i][j], centres) - D[i][j] for i in rows for j in columns]

    return entries


def _current_at(split: Split, piece: Piece, sizes: Sizes) -> list[Expr]:
    """Return f_k - div D_k + D_k grad H at fixed sizes, by the second engine."""
    f, D, z = split.drift(piece, sizes), split.diffusion(piece, sizes), split.z(sizes)
    slopes = gradient(split.subject.system(sizes).H, z)
    spread = correction(D, z)
    return [
        x - y + total([a * g for a, g in zip(row, slopes, strict=True)]) for x, y, row in zip(f, spread, D, strict=True)
    ]


def _current(split: Split, piece: Piece, block: int) -> Scalars:
    def entries(sizes: Sizes) -> list[Expr]:
        J = _current_at(split, piece, sizes)
        return [J[i] for i in split.places(block, sizes)]

    return entries


def _even(split: Split, piece: Piece, under: Flip, block: int) -> Scalars:
    def entries(sizes: Sizes) -> list[Expr]:
        J, z, centres = _current_at(split, piece, sizes), split.z(sizes), centres_at(split, under, sizes)
        sign = {x: -1 if x in centres else 1 for x in z}
        return [J[i] + sign[z[i]] * second.reflected(J[i], centres) for i in split.places(block, sizes)]

    return entries

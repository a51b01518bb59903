"""Which pieces run backwards under a flip of momenta, F f_k(F z) = -f_k(z), for an affine involution F with H o F = H?

Then F phi_t F is the inverse of phi_t, for every t; of the implicit midpoint and the generalised leapfrog, too, which
are symmetric (Hairer, Lubich, Wanner 2006, Sec. V.1). F turns the signs of blocks, about a centre where H has one:
r -> -r of Langevin dynamics, xi -> 2 A - xi of a thermostat.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.dynamics import pieces as second
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.properties import centre, reflected, reflected_vector
from recipe_compiler.splitting.reflection import REFLECTED
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, Undecided
from recipe_compiler.verify.core.identities import Identity, Scalars, faults_of
from recipe_compiler.verify.core.premises import restricts_state
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.steps.kept import noiseless
from recipe_compiler.verify.steps.split import Split, decided
from recipe_compiler.verify.steps.which_pieces import which_pieces

MOST = 4
"""Blocks of which all subsets are tried."""


@dataclass(frozen=True, slots=True)
class Flip:
    """An involution z_b -> 2 m_b - z_b of some blocks under which H stays the same."""

    centres: Mapping[str, Tensor]
    says: str
    """In words: `r -> -r, xi -> 2 A - xi`."""


def flip(c: Calculus, centres: Mapping[str, Tensor]) -> Flip:
    """Return the flip about some centres; without any, the identity."""
    images = {name: f"-{name}" if m.is_zero else f"{text(c.scale(m, 2))} - {name}" for name, m in centres.items()}
    return Flip(centres, ", ".join(f"{name} -> {image}" for name, image in images.items()) or "z -> z")


def reversible(split: Split) -> Answer:
    """Report the pieces with D_k = 0 and F f_k(F z) = -f_k(z), under the flip F that most of them have.

    Then F phi_t F is the inverse of phi_t for every t (Hairer, Lubich, Wanner 2006, Sec. V.1). Leapfrog has F: r -> -r.
    A drift theta' = r: F f(F z) = -r, as it should be.
    """
    try:
        found = flip_of(split)
    except ModelError as error:
        return Answer(Undecided(faults_of(error)))
    if found is None:
        return Answer(Undecided(("no sign flip of blocks was found that leaves H unchanged",)))
    unsaid = {name: flow for name, flow in split.numerical.items() if flow == REFLECTED}
    said = {piece.name: runs_back(split, piece, found) for piece in split.pieces if piece.name not in unsaid}
    return which_pieces(said, f" under {found.says}", unsaid=unsaid)


def flip_of(split: Split) -> Flip | None:
    """Return the flip F of fewest blocks that leaves H and under which most noiseless pieces run backwards; else None.

    F z_b = 2 m_b - z_b of some blocks b, [n_b] each, with H(F z) = H(z); counted are the pieces with F f_k(F z) =
    -f_k(z).
    """
    best: tuple[int, Flip] | None = None
    for under in _flips(split):
        count = sum(_is_odd(split, piece, under) for piece in split.noiseless)
        if best is None or count > best[0]:
            best = count, under
    return best[1] if best else None


def runs_back(split: Split, piece: Piece, under: Flip) -> Answer:
    """Decide that H(F z) = H(z), D_k = 0 and F f_k(F z) + f_k(z) = 0 for one piece, f_k: [n].

    Then F phi_t F = inv(phi_t) (Hairer, Lubich, Wanner 2006, Sec. V.1). By both engines and for every size; refuted by
    an exact point; undecided where it is not known what F makes of a function. Under F: r -> -r the kick dr = -grad
    U(theta) dt has F f(F z) = grad U = -f, friction dr = -C r dt has F f(F z) = -C r = f, and is refuted.
    """
    c, blocks = split.derivation.calculus, split.derivation.dynamics.declarations.blocks
    where, energy = split.subject.place("H"), energy_turned(split, under)
    turned = reflected_vector(c, blocks, piece.drift, under.centres)
    if energy is None or turned is None:
        return unknown(under)
    identities = [energy, *noiseless(split, piece)]
    for n, (block, there, here) in enumerate(zip(blocks, turned, piece.drift, strict=True)):
        says = f"the even part of f[{block.name}] of {piece.name} under {under.says}"
        identities.append(Identity(says, where, c.settled(c.add(there, here)), _even(split, piece, under, n)))
    return of_reflections(split, identities)


def energy_turned(split: Split, under: Flip) -> Identity | None:
    """Return the identity H(z) - H(F z) = 0; None where the effect of F on a function is not known."""
    c = split.derivation.calculus
    H = reflected(c, split.derivation.H, under.centres)
    if H is None:
        return None
    left = c.settled(c.subtract(split.derivation.H, H))
    return Identity(f"H minus H under {under.says}", split.subject.place("H"), left, _energy(split, under))


def unknown(under: Flip) -> Answer:
    """Return the answer where the effect of a flip on a function is not known."""
    return Answer(Undecided((f"the effect of {under.says} on a function is not known",)))


def of_reflections(split: Split, identities: Sequence[Identity]) -> Answer:
    """Return the answer of identities about quantities at F z, by both engines."""
    try:
        return decided(split, identities)
    except second.NotReflectedError as reason:
        return Answer(Undecided((f"second engine: {reason}",)))


def _flips(split: Split) -> Iterator[Flip]:
    """Yield the flips of blocks without the potential's under which H stays the same in index notation.

    Blocks with a boundary are not flipped: F has to lead from the state space into it.
    """
    derivation = split.derivation
    c, declarations = derivation.calculus, derivation.dynamics.declarations
    held = {name for f in declarations.functions if f.name == derivation.dynamics.potential for name in f.of}
    centres = {
        block.name: centre(c, block, slope)
        for block, slope in zip(declarations.blocks, derivation.grad_H, strict=True)
        if block.name not in held and block.domain.name is DomainName.REAL and not restricts_state(declarations)
    }
    for count in range(1, min(len(centres), MOST) + 1):
        for names in combinations(centres, count):
            found = flip(c, {name: centres[name] for name in names})
            H = reflected(c, derivation.H, found.centres)
            if H is not None and c.settled(c.subtract(derivation.H, H)).is_zero:
                yield found


def _is_odd(split: Split, piece: Piece, under: Flip) -> bool:
    c, blocks = split.derivation.calculus, split.derivation.dynamics.declarations.blocks
    turned = reflected_vector(c, blocks, piece.drift, under.centres)
    pairs = zip(turned or (), piece.drift, strict=False)
    return turned is not None and all(c.settled(c.add(there, here)).is_zero for there, here in pairs)


def centres_at(split: Split, under: Flip, sizes: Sizes) -> dict[Symbol, Expr]:
    """Return the centre m of every coordinate that is flipped; one that is not 0 from the second engine's H."""
    H, zero = split.subject.system(sizes).H, sympy.Integer(0)
    blocks = [block for block in split.subject.dynamics.declarations.blocks if block.name in under.centres]
    return {
        x: zero if under.centres[block.name].is_zero else second.centre(H, x)
        for block in blocks
        for x in coordinates(block, sizes)
    }


def _energy(split: Split, under: Flip) -> Scalars:
    def entries(sizes: Sizes) -> list[Expr]:
        H = split.subject.system(sizes).H
        return [H - second.reflected(H, centres_at(split, under, sizes))]

    return entries


def _even(split: Split, piece: Piece, under: Flip, block: int) -> Scalars:
    def entries(sizes: Sizes) -> list[Expr]:
        f, z, centres = split.drift(piece, sizes), split.z(sizes), centres_at(split, under, sizes)
        sign = {x: -1 if x in centres else 1 for x in z}
        return [f[i] + sign[z[i]] * second.reflected(f[i], centres) for i in split.places(block, sizes)]

    return entries

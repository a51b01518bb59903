"""Which pieces run backwards under a flip of momenta, F f_k(F z) = -f_k(z), for an affine involution F with H o F = H?

Then F phi_t F is the inverse of phi_t, for every t; of the implicit midpoint and the generalised leapfrog, too, which
are symmetric (Hairer, Lubich, Wanner 2006, Sec. V.1). F turns the signs of blocks, about a centre where H has one:
r -> -r of Langevin dynamics, xi -> 2 A - xi of a thermostat.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod

import sympy
from sympy import Expr, Symbol

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics import pieces as second
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.properties import find_centre, reflect
from recipe_compiler.splitting.reflection import REFLECTED
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.core.identities import Identity, list_faults
from recipe_compiler.verify.core.premises import has_state_assumptions
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.steps.kept import list_pieces, zero_noise_identities
from recipe_compiler.verify.steps.quantity import Quantity, drift_quantities, energy_quantity
from recipe_compiler.verify.steps.split import Split, decide_identities


@dataclass(frozen=True, slots=True)
class Flip:
    """An involution z_b -> 2 m_b - z_b of some blocks under which H stays the same."""

    centres: Mapping[str, Tensor]
    says: str
    """In words: `r -> -r, xi -> 2 A - xi`."""

    def sign(self, block: str) -> int:
        """Return -1 for a block that is turned, else 1."""
        return -1 if block in self.centres else 1


class UnknownImageError(Exception):
    """The effect of a flip on a function is not known."""


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
        found = choose_flip(split)
    except ModelError as error:
        return undecided(*list_faults(error))
    if found is None:
        return undecided("no sign flip of blocks was found that leaves H unchanged")
    unsaid = {name: flow for name, flow in split.numerical.items() if flow == REFLECTED}
    return list_pieces(split, lambda own, piece: runs_back(own, piece, found), unsaid, f" under {found.says}")


def choose_flip(split: Split) -> Flip | None:
    """Return the flip of fewest blocks that keeps H and reverses most noiseless pieces; None if there is none.

    F z_b = 2 m_b - z_b of some blocks b, [n_b] each, with H(F z) = H(z); counted are the pieces with F f_k(F z) =
    -f_k(z).
    """

    def backward(under: Flip) -> int:
        return sum(_is_reversed_by_flip(split, piece, under) for piece in split.noiseless)

    return max(_list_flips(split), key=backward, default=None)  # the first of several


def runs_back(split: Split, piece: Piece, under: Flip) -> Answer:
    """Decide that H(F z) = H(z), D_k = 0 and F f_k(F z) + f_k(z) = 0 for one piece, f_k: [n].

    Then F phi_t F = inv(phi_t) (Hairer, Lubich, Wanner 2006, Sec. V.1). By both engines and for every size; refuted by
    an exact point; undecided where it is not known what F makes of a function. Under F: r -> -r the kick dr = -grad
    U(theta) dt has F f(F z) = grad U = -f, friction dr = -C r dt has F f(F z) = -C r = f, and is refuted.
    """
    says = f"the even part of f[{{}}] of {piece.name} under {under.says}"

    def identities() -> list[Identity]:
        return [
            energy_identity(split, under),
            *zero_noise_identities(split, piece),
            *reversal_identities(drift_quantities(split, piece), under, says),
        ]

    return decide_flipped(split, under, identities)


def apply_flip(own: Quantity, under: Flip) -> Quantity:
    """Return T(F z) for a quantity T, negated once per flipped block among its indices.

    Raises:
        UnknownImageError: the effect of F on a function in it is not known.
    """
    c, sign = own.split.derivation.calculus, prod(under.sign(block.name) for block in own.over)
    found = reflect(c, own.tensor, under.centres)
    if found is None:
        raise UnknownImageError

    def entries(sizes: Sizes) -> list[Expr]:
        centres = centres_at(own.split, under, sizes)
        return [sign * second.reflected(x, centres) for x in own.entries(sizes)]

    return replace(own, tensor=c.scale(found, sign), entries=entries)


def energy_identity(split: Split, under: Flip) -> Identity:
    """Return the identity H(z) - H(F z) = 0. Raises UnknownImageError where F's effect on H is unknown."""
    H = energy_quantity(split)
    return H.minus(apply_flip(H, under)).vanishes(f"H minus H under {under.says}")


def reversal_identities(f: Sequence[Quantity], under: Flip, says: str) -> list[Identity]:
    """Return F f(F z) + f(z) = 0 of a vector over z, block by block. Raises UnknownImageError as `apply_flip` does."""
    return [own.plus(apply_flip(own, under)).vanishes(says) for own in f]


def decide_flipped(split: Split, under: Flip, identities: Callable[[], Sequence[Identity]]) -> Answer:
    """Return the answer for identities between quantities at F z, by both engines."""
    try:
        return decide_identities(split, identities())
    except UnknownImageError:
        return undecided(f"the effect of {under.says} on a function is not known")
    except second.NotReflectedError as reason:
        return undecided(f"second engine: {reason}")


def _list_flips(split: Split) -> Iterator[Flip]:
    """Yield the flips that leave H unchanged in index notation; the potential's block stays unflipped.

    Blocks with a boundary are not flipped: F has to lead from the state space into it.
    """
    derivation = split.derivation
    c, declarations = derivation.calculus, derivation.declarations
    held = declarations.blocks_of(derivation.dynamics.potential)
    centres = {
        block.name: find_centre(c, block, slope)
        for block, slope in zip(declarations.blocks, derivation.grad_H, strict=True)
        if block.name not in held and block.domain.name is DomainName.REAL and not has_state_assumptions(declarations)
    }
    for count in range(1, min(len(centres), limits.CASES) + 1):
        for names in combinations(centres, count):
            found = flip(c, {name: centres[name] for name in names})
            H = reflect(c, derivation.H, found.centres)
            if H is not None and c.settled(c.subtract(derivation.H, H)).is_zero:
                yield found


def _is_reversed_by_flip(split: Split, piece: Piece, under: Flip) -> bool:
    """Return whether index notation shows F f(F z) = -f(z) for a piece."""
    try:
        return all(own.everywhere.is_zero for own in reversal_identities(drift_quantities(split, piece), under, ""))
    except UnknownImageError:
        return False


def centres_at(split: Split, under: Flip, sizes: Sizes) -> dict[Symbol, Expr]:
    """Return the centre m of every coordinate that is flipped; one that is not 0 from the second engine's H."""
    H, zero = split.subject.system(sizes).H, sympy.Integer(0)
    return {
        x: zero if under.centres[block.name].is_zero else second.centre(H, x)
        for block in split.blocks
        if block.name in under.centres
        for x in coordinates(block, sizes)
    }

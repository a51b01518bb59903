"""Do the pieces of a word make the equation: is sum_k f_k = f and sum_k D_k = D, each done for the whole step?

Another equation is integrated otherwise, whatever the order of the word.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from sympy import Expr

from recipe_compiler.derive.recipe import Matrix, Vector
from recipe_compiler.spec.words import word_text
from recipe_compiler.splitting.pieces import Piece, missing, shares_of_gamma
from recipe_compiler.splitting.split_by import selections_of
from recipe_compiler.splitting.words import shares
from recipe_compiler.tensor.show import text
from recipe_compiler.verdict import Answer, Refuted
from recipe_compiler.verify.core.identities import Identity, Scalars
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import KEPT
from recipe_compiler.verify.steps.split import NOTHING, Split, decided, derived, derived_matrix

WHOLE = Fraction(1)


@lru_cache(maxsize=KEPT)
def pieces(split: Split) -> Answer:
    """Decide that sum_k s_k f_k = f and sum_k s_k D_k = D, s_k = 1 being the sum of the shares of piece k.

    f_k: [n] and D_k: [n, n] over z, for every size: the word then integrates the equation of f and D (Ma, Chen, Fox
    2015, Eq. 3). The second engine derives every piece by itself, compares, and adds up the letters of the word one by
    one. Refuted where shares do not add up, or where something of D, Q, H or Gamma is in no piece or in several. [B/2,
    A, O, B/2] does A, B and O once each.
    """
    done = shares(split.scheme.word)
    wrong = {name: done.get(name, Fraction(0)) for name in _names(split) if done.get(name) != WHOLE}
    if wrong:
        at = tuple((f"share of {name} in the step", str(share)) for name, share in wrong.items())
        by = f"the letters of {word_text(split.scheme.word)}: every piece is done for 1 step in all"
        return Answer(Refuted(by, at, _left_over(split, done)))
    found = decided(split, (*_derived_alike(split), *_sums(split)))
    if not isinstance(found.decision, Refuted):
        return found
    return replace(found, decision=replace(found.decision, by="; ".join((found.decision.by, *_astray(split)))))


def _astray(split: Split) -> Iterator[str]:
    """Yield what of Gamma is in several pieces, or in none, and what to do."""
    selections = selections_of(split.derivation, split.scheme)
    for (a, b), owners in shares_of_gamma(split.derivation, selections).items():
        if len(owners) != 1:
            who = f"the pieces {' and '.join(owners)}" if owners else "no piece"
            yield f"Gamma[{a},{b}] is in {who}: `Gamma: [[{a}, {b}]]` in one selection says in which"


def _names(split: Split) -> tuple[str, ...]:
    return tuple(piece.name for piece in split.pieces)


def _derived_alike(split: Split) -> Iterator[Identity]:
    """Yield for every piece that both engines derive the same f_k and D_k."""
    where = split.subject.place("D")
    for piece in split.pieces:
        yield Identity(f"f of {piece.name} minus that of the second engine", where, NOTHING, _f_apart(split, piece))
        yield Identity(f"D of {piece.name} minus that of the second engine", where, NOTHING, _D_apart(split, piece))


def _f_apart(split: Split, piece: Piece) -> Scalars:
    def entries(sizes: Sizes) -> list[Expr]:
        return [x - y for x, y in zip(derived(split, piece.drift, sizes), split.drift(piece, sizes), strict=True)]

    return entries


def _D_apart(split: Split, piece: Piece) -> Scalars:
    def entries(sizes: Sizes) -> list[Expr]:
        rows = zip(derived_matrix(split, piece.D, sizes), split.diffusion(piece, sizes), strict=True)
        return [x - y for row, own in rows for x, y in zip(row, own, strict=True)]

    return entries


def _sums(split: Split) -> Iterator[Identity]:
    """Yield f - sum_k f_k = 0 of every block, D - sum_k D_k = 0 of every place."""
    drift, D = missing(split.derivation, split.pieces)
    blocks = split.derivation.dynamics.declarations.blocks
    where = split.subject.place("D")
    for n, (block, left) in enumerate(zip(blocks, drift, strict=True)):
        yield Identity(f"f[{block.name}] minus the sum of the pieces", where, left, _f_left(split, n))
    for a, (one, row) in enumerate(zip(blocks, D, strict=True)):
        for b, (other, left) in enumerate(zip(blocks, row, strict=True)):
            says = f"D[{one.name},{other.name}] minus the sum of the pieces"
            yield Identity(says, where, left, _D_left(split, a, b))


def _f_left(split: Split, n: int) -> Scalars:
    def entries(sizes: Sizes) -> list[Expr]:
        return [split.equation(sizes)[0][i] - split.made(sizes)[0][i] for i in split.places(n, sizes)]

    return entries


def _D_left(split: Split, a: int, b: int) -> Scalars:
    def entries(sizes: Sizes) -> list[Expr]:
        places = [(i, j) for i in split.places(a, sizes) for j in split.places(b, sizes)]
        return [split.equation(sizes)[1][i][j] - split.made(sizes)[1][i][j] for i, j in places]

    return entries


def _left_over(split: Split, done: dict[str, Fraction]) -> str:
    """Return f - sum_k s_k f_k and D - sum_k s_k D_k, what is not zero of them, as text."""
    c = split.derivation.calculus
    drift, diffusion = split.derivation.drift, split.derivation.D
    for piece in split.pieces:
        share = done.get(piece.name, Fraction(0))
        drift = tuple(c.subtract(f, c.scale(own, share)) for f, own in zip(drift, piece.drift, strict=True))
        diffusion = tuple(
            tuple(c.subtract(x, c.scale(y, share)) for x, y in zip(row, own, strict=True))
            for row, own in zip(diffusion, piece.D, strict=True)
        )
    return "; ".join(_shown(split, drift, diffusion))


def _shown(split: Split, drift: Vector, D: Matrix) -> Iterator[str]:
    c, blocks = split.derivation.calculus, split.derivation.dynamics.declarations.blocks
    for block, f in zip(blocks, drift, strict=True):
        if not (left := c.settled(f)).is_zero:
            yield f"f[{block.name}]: {text(left)}"
    for one, row in zip(blocks, D, strict=True):
        for other, entry in zip(blocks, row, strict=True):
            if not (left := c.settled(entry)).is_zero:
                yield f"D[{one.name},{other.name}]: {text(left)}"

"""Do the pieces of a word make the equation: is sum_k f_k = f and sum_k D_k = D, each done for the whole step?

Another equation is integrated otherwise, whatever the order of the word.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product

from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.spec.words import word_text
from recipe_compiler.splitting.pieces import find_owners_of_gamma, subtract_pieces
from recipe_compiler.splitting.split_by import list_selections
from recipe_compiler.splitting.words import sum_shares
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, Refuted
from recipe_compiler.verify.core.identities import Identity
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.steps.quantity import drift_quantities, matrix_of, noise_quantities, vector_of
from recipe_compiler.verify.steps.split import Split, decide_identities


@lru_cache(maxsize=limits.SUBJECTS)
def pieces(split: Split) -> Answer:
    """Decide that sum_k s_k f_k = f and sum_k s_k D_k = D, s_k = 1 being the sum of the shares of piece k.

    f_k: [n] and D_k: [n, n] over z, for every size: the word then integrates the equation of f and D (Ma, Chen, Fox
    2015, Eq. 3). The second engine derives every piece by itself, compares, and adds up the letters of the word one by
    one. Refuted where shares do not add up, or where something of D, Q, H or Gamma is in no piece or in several. [B/2,
    A, O, B/2] does A, B and O once each.
    """
    done = sum_shares(split.scheme.word)
    wrong = {piece.name: done.get(piece.name, 0) for piece in split.pieces if done.get(piece.name) != 1}
    if wrong:
        at = tuple((f"share of {name} in the step", str(share)) for name, share in wrong.items())
        by = f"the letters of {word_text(split.scheme.word)}: every piece is done for 1 step in all"
        return Answer(Refuted(by, at, "; ".join(_list_residuals(split, done))))
    found = decide_identities(split, (*_compare_engines(split), *_sum_identities(split)))
    if not isinstance(found.decision, Refuted):
        return found
    return found.but(by="; ".join((found.decision.by, *_misplaced_gamma(split))))


def _misplaced_gamma(split: Split) -> Iterator[str]:
    """Yield each entry of Gamma that is in no piece or in several, with what to do."""
    selections = list_selections(split.derivation, split.scheme)
    for (a, b), owners in find_owners_of_gamma(split.derivation, selections).items():
        if len(owners) != 1:
            who = f"the pieces {' and '.join(owners)}" if owners else "no piece"
            yield f"Gamma[{a},{b}] is in {who}: `Gamma: [[{a}, {b}]]` in one selection says in which"


def _compare_engines(split: Split) -> Iterator[Identity]:
    """Yield the identities that both engines derive the same f_k and D_k, for every piece."""
    for piece in split.pieces:
        for name, parts in (("f", drift_quantities(split, piece)), ("D", noise_quantities(split, piece).values())):
            yield from (
                own.agrees(f"{name}[{{}}] of {piece.name} minus that of the second engine", "D") for own in parts
            )


def _sum_identities(split: Split) -> Iterator[Identity]:
    """Yield f - sum_k f_k = 0 for every block, and D - sum_k D_k = 0 for every entry."""
    drift, D = subtract_pieces(split.derivation, split.pieces)

    def f_left(sizes: Sizes) -> list[Expr]:
        return [x - y for x, y in zip(split.equation(sizes)[0], split.made(sizes)[0], strict=True)]

    def D_left(sizes: Sizes) -> Rows:
        return _subtract_rows(split.equation(sizes)[1], split.made(sizes)[1])

    for name, parts in (("f", vector_of(split, drift, f_left)), ("D", matrix_of(split, D, D_left).values())):
        yield from (own.vanishes(f"{name}[{{}}] minus the sum of the pieces", "D") for own in parts)


def _list_residuals(split: Split, done: dict[str, Fraction]) -> Iterator[str]:
    """Yield the nonzero entries of f - sum_k s_k f_k and D - sum_k s_k D_k, as text."""
    c, names = split.derivation.calculus, split.subject.names
    shares = [(done.get(piece.name, Fraction(0)), piece) for piece in split.pieces]

    def left(whole: Tensor, parts: Iterable[tuple[Fraction, Tensor]]) -> Tensor:
        for share, part in parts:
            whole = c.subtract(whole, c.scale(part, share))
        return c.settled(whole)

    for n, (name, f) in enumerate(zip(names, split.derivation.drift, strict=True)):
        own = left(f, ((share, piece.drift[n]) for share, piece in shares))
        if not own.is_zero:
            yield f"f[{name}]: {text(own)}"
    for a, b in product(range(len(names)), repeat=2):
        own = left(split.derivation.D[a][b], ((share, piece.D[a][b]) for share, piece in shares))
        if not own.is_zero:
            yield f"D[{names[a]},{names[b]}]: {text(own)}"


def _subtract_rows(left: Rows, right: Rows) -> Rows:
    """Return the difference of two matrices of scalars."""
    return tuple(tuple(x - y for x, y in zip(*rows, strict=True)) for rows in zip(left, right, strict=True))

"""What a word alone proves, for every dynamics, every target and every size: its shares, its symmetry, its order.

One step of the word `[X_1/s_1, ..., X_m/s_m]` acts on functions of the state as exp(s_1 eps L_1) ... exp(s_m eps L_m),
the first letter on the left, where L_k is the infinitesimal generator of piece k. It has weak order p for every
dynamics if its series in words of the L_k agrees with that of exp(eps (L_1 + L_2 + ...)) up to length p: an identity of
rational numbers in the free associative algebra (Blanes, Casas 2016, Sec. 2).

Worked example, `[A/2, B, A/2]`: exp(A/2) exp(B) exp(A/2) = 1 + (A + B) + (A A/2 + A B/2 + B A/2 + B B/2) + ..., the
terms of length 2 being those of (A + B)^2/2, so the order is 2 at least; A A B has the coefficient 1/8, not 1/6.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import factorial

from recipe_compiler.spec.words import Word, letters

HIGHEST = 4
"""Orders beyond this one are not looked for: a sum of shares in 1 with an order of 5 needs letters by the dozen."""
MOST_WORDS = 100_000
"""The coefficients of one length that are compared; a word of more pieces is compared up to a shorter one."""

Pieces = tuple[str, ...]
"""A product of generators by the names of their pieces, first letter first."""
ONE = Fraction(1)
ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Order:
    """The weak order of a word whatever its pieces are, and the first coefficients that are wrong beyond it."""

    order: int
    wrong: tuple[tuple[Pieces, Fraction], ...]
    """Products of order + 1 generators whose coefficient is off, and by how much; none where none was looked for."""


def sum_shares(word: Word) -> dict[str, Fraction]:
    """Return the share of the step that each piece has in all, in the order of their first letters.

    The word integrates the equation, and not another one, if every share is 1: `[B/2, A/2, O, A/2, B/2]` has the share
    1 of each of A, B and O.
    """
    found = defaultdict[str, Fraction](Fraction)
    for letter in letters(word):
        found[letter.piece] += letter.share
    return dict(found)


def find_first_asymmetry(word: Word) -> int | None:
    """Return the first position, from 0, whose letter differs from that at the mirrored position.

    None of a palindrome, a word that is its own reverse: its step is self-adjoint, and of even order.
    """
    written = [(letter.piece, letter.share) for letter in letters(word)]
    pairs = zip(written, reversed(written), strict=True)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), None)


def count_evaluations(word: Word, kicks: Collection[str], moves: Collection[str]) -> int:
    """Return how often a step evaluates the gradient that `kicks` take, at a block that `moves` move; none does both.

    What is known at the end of a step is known at the start of the next: `[B/2, A/2, O, A/2, B/2]` has one.
    """
    found = [letter.piece for letter in letters(word) if letter.piece in {*kicks, *moves}]
    return sum(here in kicks and before in moves for before, here in zip(found[-1:] + found, found, strict=False))


def expand_word(word: Word, longest: int) -> dict[Pieces, Fraction]:
    """Return the coefficients of exp(s_1 L_1) ... exp(s_m L_m) by products of up to `longest` generators, with eps = 1.

    `[A, B]`: 1, A, B, A A/2, A B, B B/2. A product of q generators belongs to eps**q.
    """
    found: dict[Pieces, Fraction] = {(): ONE}
    for letter in letters(word):
        grown = defaultdict[Pieces, Fraction](Fraction)
        for pieces, coefficient in found.items():
            for power in range(longest - len(pieces) + 1):
                more = pieces + (letter.piece,) * power
                grown[more] += coefficient * letter.share**power / factorial(power)
        found = dict(grown)
    return found


def find_order(word: Word, highest: int = HIGHEST) -> Order:
    """Return the largest p up to `highest` such that the word has weak order p whatever its pieces are.

    The coefficients of all products of up to p generators are those of exp(eps (L_1 + L_2 + ...)): 1/q! for every
    product of q (Blanes, Casas 2016, Sec. 2). It is a lower bound for given pieces: commutators of theirs may vanish.
    `[A, B]` has order 1, wrong by 1/2 in A B (1, not 1/2) and by -1/2 in B A; `[A/2, B, A/2]` has order 2.

        >>> from recipe_compiler.spec.words import Letter
        >>> find_order(tuple(Letter(piece, Fraction(1, n)) for piece, n in (("A", 2), ("B", 1), ("A", 2)))).order
        2
    """
    pieces = tuple(sum_shares(word))
    compared = next((p for p in range(highest, 1, -1) if len(pieces) ** p <= MOST_WORDS), 1)
    found = expand_word(word, compared)
    for length in range(1, compared + 1):
        wrong = tuple(_list_defects(found, pieces, length))
        if wrong:
            return Order(length - 1, wrong)
    return Order(compared, ())


def _list_defects(found: Mapping[Pieces, Fraction], pieces: Pieces, length: int) -> Iterator[tuple[Pieces, Fraction]]:
    """Yield the products of a length whose coefficient is not that of exp(L_1 + L_2 + ...), 1/length!."""
    for word in product(pieces, repeat=length):
        if defect := found.get(word, ZERO) - Fraction(1, factorial(length)):
            yield word, defect

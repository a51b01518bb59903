"""The part of its noise that a word gives up for that of a minibatch gradient, so that the sample is not widened.

One evaluation of the gradient has noise xi of covariance V, which every kick that uses it passes on: with the share s,
-s eps W xi. Letters of O with the share o multiply the momentum by E(o) = exp(-o eps F). Without forces, a unit of
momentum at a place p of the word displaces the position, in this and in all later steps, by

    eps P (sum_A s_A E(o(p, A))) (1 - E(1))^-1 = eps P g(p) (1 - E(1))^-1,

the sum over the drifts of one whole step from p on, o(p, A) the share of O on the way. The noise of an evaluation
displaces by K = sum s g(p) over its kicks, that of a letter j of O by g_j. So the displacement is what it is without
noise of the gradient, if the letters give up X_j with

    sum_j g_j X_j g_j^T = eps^2 sum K B K^T,   B = W V W^T,

the second sum over the evaluations of a step. The last letter before a drift has g = 1, if every drift comes before the
next letter of O: it gives up all. In `[B/2, A/2, O, A/2, B/2]` that is eps^2 (1 + E) B (1 + E)^T/4. Noise of the
gradient, and what is given up for it, then differ by a shift in time and by forces: for full matrices the covariance of
the position is off by O(eps^3), and by O(eps^2) if eps^2 B is given up. (The shift of noise of covariance Y by tau adds
tau d/dt exp(tL) Y exp(tL)^T, whose sum over all steps is -tau Y/eps: none of it in the position.)
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from recipe_compiler.spec.words import Letter, Word, letters

Powers = Mapping[Fraction, Fraction]
"""sum_o c_o E(o): the coefficient c_o by the share o of O."""
ZERO, ONE = Fraction(0), Fraction(1)


class NoiseRole(StrEnum):
    """The role of a letter for the noise of the gradient."""

    KICK = "adds it to the momentum"
    DRIFT = "moves the position by the momentum"
    DECAY = "lets the momentum decay, and has noise of its own"
    NONE = "nothing"


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The covariance that a letter of O gives up for gradient noise in a step: eps^2 sum_K K B K^T, n x n."""

    place: int
    """The position of the letter in the word, counted from 0."""
    share: Fraction
    """The share of the step that the letter takes."""
    responses: tuple[Powers, ...]
    """K of every evaluation."""


def find_given_up(word: Word, roles: Mapping[str, NoiseRole]) -> GivenUp | None:
    """Return the covariance eps**2 sum K B K.T, [n, n], that one letter of O gives up, or None if no letter can.

    `[B/2, A/2, O, A/2, B/2]`: both kicks of B use one evaluation (the last of a step and the first of the next), and
    each has g = 1/2 + E/2, one drift coming before O and one after it. So K = 1/2 + E/2, given up at place 2. None if
    drifts stand on both sides of a letter of O and of another: the noise of no letter then passes all drifts of a step
    before it decays.

    Args:
        word: in which the shares of every piece add up to 1.
        roles: of every piece in it.
    """
    written = tuple(letters(word))
    own = [place for place, letter in enumerate(written) if roles[letter.piece] is NoiseRole.DECAY]
    last = next((place for place in own if _compute_response(written, roles, place) == {ZERO: ONE}), None)
    if last is None:
        return None
    responses = tuple(_sum_responses(written, roles, group) for group in _list_evaluations(written, roles))
    return GivenUp(last, written[last].share, responses)


def format_powers(powers: Powers) -> str:
    """Return a sum of powers of E = E(1) as text: `1/2 + E/2`, `E^(1/2)`."""
    return " + ".join(_format_term(o, c) for o, c in sorted(powers.items()))


def _format_term(o: Fraction, c: Fraction) -> str:
    if not o:
        return str(c)
    power = "E" if o == 1 else f"E^({o})"
    times = "" if c.numerator == 1 else f"{c.numerator} "
    return f"{times}{power}{'' if c.denominator == 1 else f'/{c.denominator}'}"


def _list_evaluations(written: Sequence[Letter], roles: Mapping[str, NoiseRole]) -> Iterator[tuple[int, ...]]:
    """Yield, for each evaluation of the gradient, the kicks that use it: those between two drifts, round the end."""
    moved = [place for place, letter in enumerate(written) if roles[letter.piece] is NoiseRole.DRIFT]
    start = moved[0] if moved else 0
    group: list[int] = []
    for place in (*range(start, len(written)), *range(start)):
        match roles[written[place].piece]:
            case NoiseRole.KICK:
                group.append(place)
            case NoiseRole.DRIFT if group:
                yield tuple(group)
                group = []
            case _:
                pass
    if group:
        yield tuple(group)


def _sum_responses(written: Sequence[Letter], roles: Mapping[str, NoiseRole], kicks: Sequence[int]) -> Powers:
    """Return K = sum s g(p) over the kicks p of one evaluation, with shares s."""
    found = defaultdict[Fraction, Fraction](Fraction)
    for place in kicks:
        for o, c in _compute_response(written, roles, place).items():
            found[o] += written[place].share * c
    return {o: c for o, c in found.items() if c}


def _compute_response(written: Sequence[Letter], roles: Mapping[str, NoiseRole], place: int) -> Powers:
    """Return g(p) = sum_A s_A E(o(p, A)) over the letters after a place, once round, back to that place."""
    found, on_the_way = defaultdict[Fraction, Fraction](Fraction), ZERO
    for letter in (*written[place + 1 :], *written[: place + 1]):
        match roles[letter.piece]:
            case NoiseRole.DRIFT:
                found[on_the_way] += letter.share
            case NoiseRole.DECAY:
                on_the_way += letter.share
            case _:
                pass
    return {o: c for o, c in found.items() if c}

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

It is derived for Langevin's form: one piece kicks one block, the momentum, by -W grad U; one moves the position by P
times the momentum; one has noise, and multiplies the momentum by E = exp(-eps F); W, P, F and V do not depend on the
state. Words of another form give up nothing, and the reason is stated.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from recipe_compiler.derive.noise import noise_covariance, sandwich
from recipe_compiler.derive.recipe import Derivation, Matrix, col_coordinate, col_slots, row_slots, zero_matrix
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.program import EPS, Propagator
from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.words import Letter, Word, letter_text, letters
from recipe_compiler.splitting.constant_matrices import CONSTANT_MATRICES
from recipe_compiler.splitting.entrywise import ORNSTEIN_UHLENBECK, SHIFT
from recipe_compiler.splitting.flow import Flow, find_diagonal, find_friction
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.split_by import split_by
from recipe_compiler.tensor.terms import Component, Tensor

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


LOST = (
    "volume and reversibility concern a step given its minibatch, not the chain; the bias is of order 2 only where the "
    "noise of the gradient is subtracted"
)
"""What is not true of a word with minibatches, for headers and reports."""
Pieces = Mapping[str, tuple[Piece, Flow]]


@dataclass(frozen=True, slots=True)
class Subtraction:
    """What a letter of O gives up: its noise is drawn with eps^2 B_hat less covariance, for that of the gradient."""

    piece: str
    """O by its name."""
    block: str
    """The momentum."""
    given_up: GivenUp
    F: Tensor
    """F of E(o) = exp(-o eps F): n x n over the momentum, as D and B; free indices `i` and `j`."""
    D: Tensor
    """D of the noise of O, N(0, int_0^t exp(-u F) 2D exp(-u F)^T du) over a time t."""
    B: Tensor
    """W V W^T: a kick of the share s adds s^2 eps^2 B."""
    B_hat: Matrix
    """The letter adds that noise less eps^2 B_hat. It depends on eps."""
    propagators: tuple[Propagator, ...]
    """Arrays that are computed for B_hat before the chain."""


class OtherFormError(Exception):
    """The pieces have a form that the theory does not cover; the message says why, to the user."""


def find_subtraction(derivation: Derivation, scheme: Scheme, V: Tensor) -> Subtraction:
    """Return what the letters of a word give up for the noise of a gradient with covariance V.

    eps**2 B_hat = eps**2 sum K B K.T with B = W V W.T, all [n, n] over the momentum, K powers of E = exp(-eps F)
    (`find_given_up`). Only for Langevin's form: one kick dr = -W grad U dt, one drift, one letter with noise, W, F and
    V free of the state; of another form nothing is given up. (Ma, Chen, Fox 2015, Sec. 2.3, is that for one Euler
    step.)

    Args:
        derivation: of the bound dynamics, multiplied out.
        scheme: a word.
        V: n x n over the potential's block, free indices `i` and `j`.

    Raises:
        ModelError: as of `split_by`.
        OtherFormError: V is 0, or the word or the equation has another form.
    """
    if V.is_zero:
        raise OtherFormError("V = 0: gradient noise is not subtracted and widens the draws")
    pieces = split_by(derivation, scheme)
    kick, drift, decay = _find_langevin_pieces(derivation, pieces)
    B = _require_constants(derivation, kick, drift, decay, pieces, V)
    roles = dict.fromkeys(pieces, NoiseRole.NONE)
    roles |= {kick.name: NoiseRole.KICK, drift.name: NoiseRole.DRIFT, decay.name: NoiseRole.DECAY}
    found = find_given_up(scheme.split, roles)
    if found is None:
        raise OtherFormError(f"{drift.name} stands on either side of more than one letter of {decay.name}")
    (momentum,) = kick.moved
    place = [block.name for block in derivation.blocks].index(momentum)
    B_hat, propagators = _compute_given_up(derivation, decay, pieces[decay.name][1], place, found, B)
    F = find_friction(derivation, decay, place, place)
    return Subtraction(decay.name, momentum, found, F, decay.D[place][place], B, B_hat, propagators)


def find_kick_and_drift(derivation: Derivation, pieces: Sequence[Piece]) -> tuple[Piece, Piece]:
    """Return the piece that kicks the momentum by grad U, and that which moves the position, both without noise.

    Raises:
        OtherFormError: there are none or several, or one moves several blocks.
    """
    functions = derivation.declarations.functions
    potential = next((f for f in functions if f.name == derivation.dynamics.potential), None)
    if potential is None or len(potential.of) != 1:
        raise OtherFormError("there is no potential of one block")
    kick = _require_one([p for p in pieces if any(potential.name in names_of(f) for f in p.drift)], "take grad U")
    drift = _require_one([p for p in pieces if potential.of[0] in p.moved], f"move {potential.of[0]}")
    moved = (*drift.moved, *kick.moved)
    if drift.is_noisy or kick.is_noisy or len(moved) != 2 or len({*moved}) != 2:
        says = "; ".join(f"{p.name} moves {', '.join(p.moved)}" for p in (drift, kick))
        raise OtherFormError(f"{says}: not a drift and a kick of one block each, without noise")
    return kick, drift


def _find_langevin_pieces(derivation: Derivation, pieces: Pieces) -> tuple[Piece, Piece, Piece]:
    """Return the pieces that kick the momentum, move the position, and have noise: one each."""
    every = [piece for piece, _ in pieces.values()]
    kick, drift = find_kick_and_drift(derivation, every)
    noisy = _require_one([piece for piece in every if piece.is_noisy], "have noise")
    if noisy.moved != kick.moved or any(kick.moved[0] in piece.moved for piece in every if piece not in (kick, noisy)):
        what = "; ".join(f"{piece.name} moves {', '.join(piece.moved)}" for piece in every)
        raise OtherFormError(f"{what}: not a kick, a drift and a decay of one momentum")
    for piece in (kick, drift):
        if pieces[piece.name][1].row != SHIFT:
            raise OtherFormError(f"the flow of {piece.name} is not a shift")
    return kick, drift, noisy


def _require_one(found: list[Piece], what: str) -> Piece:
    if len(found) != 1:
        names = " and ".join(piece.name for piece in found) or "no piece"
        raise OtherFormError(f"{names} {what}, not one piece")
    return found[0]


def _require_constants(
    derivation: Derivation, kick: Piece, drift: Piece, decay: Piece, pieces: Pieces, V: Tensor
) -> Tensor:
    """Return B = W V W^T; it, friction, noise and velocity are free of the state."""
    blocks = derivation.blocks
    r, q = ([block.name for block in blocks].index(piece.moved[0]) for piece in (kick, drift))
    row = pieces[decay.name][1].row
    if row == ORNSTEIN_UHLENBECK:
        _check_friction(derivation, decay, r)
    elif row != CONSTANT_MATRICES:
        raise OtherFormError(f"the flow of {decay.name} is {row}")
    B = noise_covariance(derivation, blocks[q].name, V)[r][r]
    P = derivation.calculus.diff(drift.drift[q], col_coordinate(blocks[r]))
    places = {"V, or what the gradient is multiplied by,": B, f"the noise of {decay.name}": decay.D[r][r],
              f"the velocity of {drift.name}": P}  # fmt: skip
    for what, tensor in places.items():
        if held := _name_state_in(derivation, tensor):
            raise OtherFormError(f"{what} depends on {held}")
    if (names_of(drift.drift[q]) & list_state_names(derivation)) - {blocks[r].name}:
        raise OtherFormError(f"{drift.name} moves {blocks[q].name} by more than {blocks[r].name}")
    return B


def _check_friction(derivation: Derivation, decay: Piece, place: int) -> None:
    """Raise OtherFormError if the friction depends on the state; as a thermostat it absorbs noise itself."""
    F = find_friction(derivation, decay, place, place)
    a = find_diagonal(derivation, place, F) or F
    held = _name_state_in(derivation, a)
    thermostats = [b.name for b in derivation.blocks if not b.shape.sizes]
    if held in thermostats and a.terms == derivation.calculus.coordinate(held).terms:
        takes = f"absorbs noise of covariance v I by itself (with noise A I in {decay.name}, its mean is A + eps"
        raise OtherFormError(f"the friction of {decay.name} is the thermostat {held}, which {takes} v/2), and no other")
    if held:
        raise OtherFormError(f"the friction of {decay.name} depends on {held}")


def list_state_names(derivation: Derivation) -> frozenset[str]:
    """Return the names of all that varies with the state: blocks, and functions of them."""
    declarations = derivation.declarations
    return frozenset(item.name for group in (declarations.blocks, declarations.functions) for item in group)


def _name_state_in(derivation: Derivation, tensor: Tensor) -> str:
    return ", ".join(sorted(names_of(tensor) & list_state_names(derivation)))


def _write_power(
    derivation: Derivation, decay: Piece, flow: Flow, place: int, o: Fraction
) -> tuple[Tensor, tuple[Propagator, ...]]:
    """Return E(o) = exp(-o eps F) of the flow of O, n x n, and what has to be computed for it before the chain."""
    c, block = derivation.calculus, derivation.blocks[place]
    eps = c.atom(Component(EPS))
    one = c.delta(*row_slots(block), *col_slots(block)) if block.shape.sizes else c.constant(1)
    if not o:
        return one, ()
    own = flow.changes(derivation, decay, o)[0].propagator
    if own is not None:
        at = (*(row_slots(block) or (0,)), *(col_slots(block) or (0,)))
        return c.add(one, c.multiply(eps, c.atom(Component(own.change[0][0], at)))), (own,)
    a = find_diagonal(derivation, place, find_friction(derivation, decay, place, place))
    if a is None:
        raise CompilerError(f"no friction, entry by entry, of a flow that is {flow.row}")
    return c.multiply(one, c.applied("exp", c.scale(c.multiply(a, eps), -o))), ()


def _compute_given_up(
    derivation: Derivation, decay: Piece, flow: Flow, place: int, own: GivenUp, B: Tensor
) -> tuple[Matrix, tuple[Propagator, ...]]:
    """Return sum_K K B K^T, K = sum_o c_o E(o), with the arrays that its powers use."""
    c, block = derivation.calculus, derivation.blocks[place]
    known = {o: _write_power(derivation, decay, flow, place, o) for response in own.responses for o in response}
    needed = dict.fromkeys(propagator for _, needs in known.values() for propagator in needs)
    every = [
        c.add(c.zero(*B.free), *(c.scale(known[o][0], coefficient) for o, coefficient in response.items()))
        for response in own.responses
    ]
    B_hat = [[*row] for row in zero_matrix(c, derivation.blocks)]
    B_hat[place][place] = c.add(c.zero(*B.free), *(sandwich(c, block, K, B) for K in every))
    return tuple(map(tuple, B_hat)), tuple(needed)


def format_given_up(scheme: Scheme, found: Subtraction) -> str:
    """Return what is given up, and by which letter, as text: `O gives up eps^2 K B K^T with K = 1/2 + E/2`."""
    letter = tuple(letters(scheme.split))[found.given_up.place]
    what = " + ".join(f"K B K^T with K = {format_powers(response)}" for response in found.given_up.responses)
    return f"{letter_text(letter)} subtracts eps^2 {what}"

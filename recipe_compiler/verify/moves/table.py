"""The kinds of moves, a row each, and what follows for a cycle: all keep exp(-H), and every block is moved by one.

Each move is decided by itself; which of them preserves exp(-H) at every step size, and which does so as far as its word
does, is the claim `exact`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from recipe_compiler.spec.code import kept_by, moved_by
from recipe_compiler.spec.model import Cir, CodeMove, Draw, Involution, Metropolis, Move, Refresh, Steps
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, undecided
from recipe_compiler.verify.core.conjunction import (
    Obligation,
    conjoin,
    conjoin_each,
    is_proved,
    reject_if_refuted,
)
from recipe_compiler.verify.moves.cir import cir, describe_bias, is_shape_estimated
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.moves.draw import draw
from recipe_compiler.verify.moves.involution import involution
from recipe_compiler.verify.moves.limit import decide_limit_of_cycle
from recipe_compiler.verify.moves.metropolis import metropolis
from recipe_compiler.verify.moves.moved_parts import Moved, moved_parts
from recipe_compiler.verify.moves.refresh import refresh
from recipe_compiler.verify.moves.second_order import refute_limit
from recipe_compiler.verify.stationarity.stationary import stationary
from recipe_compiler.verify.steps.kept import keeps_law
from recipe_compiler.verify.steps.pieces import pieces

Decide = Callable[[Cycle, Any], Answer]


def decide_word_limit(cycle: Cycle, move: Steps) -> Answer:
    """Decide that the word integrates an equation for which exp(-H) is stationary."""
    subject = cycle.split.subject
    made = [("the pieces add up to the SDE", pieces(cycle.split)), ("exp(-H) is stationary", stationary(subject))]
    return conjoin("its equation preserves exp(-H)", made)


def steps(cycle: Cycle, move: Steps) -> Answer:
    """Decide that each piece of a word preserves exp(-H) by itself: then so do its steps, of every size.

    Where one does not, the word may depart from exp(-H), by an amount that the step size sets.
    """
    split = cycle.split
    found = [(piece.name, keeps_law(split, piece)) for piece in split.used]
    lost = ", ".join(name for name, answer in found if isinstance(answer.decision, Refuted))
    if lost:
        reason = f"{lost} does not preserve exp(-H) by itself, and no step is rejected: a discretisation bias"
        return undecided(reason)
    if split.numerical:
        return undecided(f"the flow of {', '.join(split.numerical)} is numerical, and no step is rejected")
    decide_each = [(f"{name} preserves exp(-H)", answer) for name, answer in found]
    return conjoin("each piece preserves exp(-H)", decide_each)


def decide_cir_at_all_steps(cycle: Cycle, move: Cir) -> Answer:
    """Decide that a flow preserves exp(-H) at every step size: with the shape of a minibatch it does not."""
    found = cir(cycle, move)
    if not (is_shape_estimated(cycle, move) and is_proved(found)):
        return found
    return undecided(f"its shape is estimated from a minibatch: {describe_bias(move)}")


def code(cycle: Cycle, move: CodeMove) -> Answer:
    """Take it as given of code that it preserves exp(-H): pi C = pi, C its kernel of all blocks, pi = exp(-H).

    Nobody reads it: the answer is proved by assumption. It has to read and change no others than those it is stated to,
    which is tried where chains start (`run/user_code.py`). (Tierney 1994: a product of kernels that keep pi keeps pi.)
    """
    return Answer(Proved("assumption", (kept_by(move.code),)))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of move: what it is called, and what decides that it preserves exp(-H)."""

    says: Callable[[Any], str]
    """A move of it in words."""
    keeps: Decide
    """Decides that a move of it preserves exp(-H) at every step size."""
    claim: str = ""
    """The claim that says why where this is open."""
    tends: Decide | None = None
    """Decides that it does so as eps goes to 0, where it may do so only then."""


KINDS: Mapping[type[Move], Kind] = {
    Refresh: Kind(lambda move: f"refresh of {move.block}", refresh, "refresh"),
    Draw: Kind(lambda move: f"draw of {move.block}{' by slices' if move.slices else ''}", draw, "draw"),
    Cir: Kind(lambda move: f"cir of {move.block}", decide_cir_at_all_steps, "cir", cir),
    Involution: Kind(lambda move: f"involution of {', '.join(move.moved)}", involution, "involution"),
    CodeMove: Kind(lambda move: f"code {move.code}", code),
    Metropolis: Kind(lambda _: "Metropolis", metropolis, "metropolis"),
    Steps: Kind(lambda _: "steps", steps, "", decide_word_limit),
}


def decide_each(kind: type[Move]) -> Callable[[Cycle], Answer]:
    """Return the function that decides that every move of a kind preserves exp(-H)."""
    row = KINDS[kind]

    def answer(cycle: Cycle) -> Answer:
        keeps = row.tends or row.keeps
        return conjoin_each(
            [(_name_move(cycle, k), keeps(cycle, move)) for k, move in _number_moves(cycle) if isinstance(move, kind)]
        )

    return answer


def has_move(*kinds: type[Move]) -> Callable[[Any], bool]:
    """Return whether the cycle of a build has a move of these kinds."""
    return lambda build: any(isinstance(move, kinds) for move in build.scheme.cycle)


def cycle(cycle: Cycle) -> Answer:
    """Decide that every move of a cycle preserves exp(-H), and that every block has a move that moves it.

    pi T_k = pi for each kernel T_k, pi = exp(-H), gives pi T_1 ... T_m = pi (Tierney 1994). Steps of a word without
    acceptance keep exp(-H) as eps -> 0, if it is stationary for their equation, and if the other moves do not undo what
    they do in the mean (`decide_limit_of_cycle`). Refuted by a block that no move updates, or by a move that changes
    exp(-H). It rests on the claim of each kind of move: `refresh`, `draw`, `cir`, `involution`, `metropolis`, `pieces`
    with `stationary`; of `code` it is given by its author that it keeps exp(-H), and where no other move moves a block,
    that it moves that. Undecided where one of these is, and where an involution is not shown to move a block that
    nothing else moves.
    """
    known = [(move, moved_parts(cycle, move)) for move in cycle.moves]
    every = [one for block in cycle.split.subject.names for one in cycle.parts(block)]
    best = {one: max((own[one] for _, own in known if one in own), default=None) for one in every}
    still = [one.name for one, moved in best.items() if moved is None]
    if still:
        by = f"no move updates {', '.join(still)}: it keeps its initial value"
        names = sorted({one.name for move, own in known for one in own if not isinstance(move, CodeMove)})
        return Answer(Refuted(by, (("blocks moved", ", ".join(names) or "nothing"),)))
    perhaps = [one.name for one, moved in best.items() if moved is Moved.PERHAPS]
    if perhaps:
        reason = f"not shown: an involution moves {', '.join(perhaps)} and not just a part of it"
        return undecided(reason)
    found = [_decide_as_eps_vanishes(cycle, k, move) for k, move in _number_moves(cycle)]
    for one, moved in best.items():
        if moved is Moved.SAID:
            move = next(move for move in cycle.of_kind(CodeMove) if one in moved_parts(cycle, move))
            given = Answer(Proved("assumption", (moved_by(move.code, one.name),)))
            found.append((f"{one.name} is updated by code", given))
    return _join_answers(found)


def exact(cycle: Cycle) -> Answer:
    """Decide that pi T_k = pi, pi = exp(-H), for every move k of a cycle at every step size eps.

    Steps of a word without acceptance do if each of its pieces keeps exp(-H) by itself and has an exact flow; a `cir`
    flow does unless its shape is estimated from a minibatch. Undecided, never refuted, if one move does not: others
    might make up for it.
    """
    found = [(_name_move(cycle, k), _decide_move(cycle, move)) for k, move in _number_moves(cycle)]
    lost = tuple(f"{what}, does not preserve exp(-H)" for what, answer in found if isinstance(answer.decision, Refuted))
    return undecided(*lost) if lost else _join_answers(found)


def _join_answers(found: list[Obligation]) -> Answer:
    """Return the conjunction of the answers about moves; a refutation names the move."""
    for what, answer in found:
        if isinstance(answer.decision, Refuted):
            return Answer(Refuted(f"{what}, does not preserve exp(-H)", answer.decision.witness), answer.for_d)
    return conjoin("; ".join(what for what, _ in found), found)


def _number_moves(cycle: Cycle) -> Iterable[tuple[int, Move]]:
    """Return the moves of a cycle, numbered from 1."""
    return enumerate(cycle.moves, 1)


def _name_move(cycle: Cycle, place: int) -> str:
    """Return a move's number and description, as reports print them."""
    move = cycle.moves[place - 1]
    return f"move {place}, {KINDS[type(move)].says(move)}"


def _decide_move(cycle: Cycle, move: Move) -> Answer:
    """Return the answer about a move at every step size; where it is open, a reference to the claim about it."""
    row = KINDS[type(move)]
    found = row.keeps(cycle, move)
    is_told = row.tends is not None and is_proved(row.tends(cycle, move))
    if not row.claim or is_told or not isinstance(found.decision, Undecided):
        return found
    return replace(found, decision=Undecided((f"see {row.claim}",)))


def _decide_as_eps_vanishes(cycle: Cycle, place: int, move: Move) -> Obligation:
    """Return the obligation that a move preserves exp(-H), at every eps or as eps -> 0."""
    row, name, found = KINDS[type(move)], _name_move(cycle, place), _decide_move(cycle, move)
    if row.tends is None or not isinstance(found.decision, Undecided):
        return name, found
    tends, name = row.tends(cycle, move), f"{name}, as eps goes to 0"
    if not is_proved(tends):
        return name, found if row.claim else tends
    law = ("the invariant distribution of the cycle tends to exp(-H)", decide_limit_of_cycle(cycle, move))
    by = tends.decision.by if isinstance(tends.decision, Proved) else ""
    whole, off = conjoin(by, [("by itself", tends), law]), refute_limit(cycle)
    return name, off if off is not None and not is_proved(whole) else reject_if_refuted(whole, off)

"""Do all moves of a cycle keep one law, exp(-H), and is every block moved by one? Then so does a chain of cycles.

Of a potential's block that no word moves, every block of the target has to be drawn.

Each move is decided by itself; which of them preserves exp(-H) at every step size, and which does so as far as its word
does, is the claim `exact`.
"""

from collections.abc import Iterator
from dataclasses import replace

from recipe_compiler.spec.model import (
    Cir,
    CodeMove,
    Draw,
    Involution,
    Metropolis,
    Move,
    Refresh,
    Steps,
)
from recipe_compiler.spec.words import letters
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.moves.cir import bias, flow_keeps, is_estimated
from recipe_compiler.verify.moves.code import given_to_keep, given_to_move
from recipe_compiler.verify.moves.conjunction import Obligation, is_shown, left_open, shown, unless_refuted
from recipe_compiler.verify.moves.draw import keeps_law_of
from recipe_compiler.verify.moves.involution import involution_keeps
from recipe_compiler.verify.moves.limit import law_in_the_limit
from recipe_compiler.verify.moves.metropolis import metropolis_keeps
from recipe_compiler.verify.moves.moved import coded_parts, mapped_parts, moved_parts, parts_of
from recipe_compiler.verify.moves.refresh import law_given_others
from recipe_compiler.verify.moves.second_order import limit_departs
from recipe_compiler.verify.stationarity.stationary import stationary
from recipe_compiler.verify.steps.kept import keeps_law
from recipe_compiler.verify.steps.pieces import pieces
from recipe_compiler.verify.steps.split import Split


def cycle(split: Split, stages: Stages) -> Answer:
    """Decide that every move of a cycle preserves exp(-H), and that every block has a move that moves it.

    pi T_k = pi for each kernel T_k, pi = exp(-H), gives pi T_1 ... T_m = pi (Tierney 1994). Steps of a word without
    acceptance keep exp(-H) as eps -> 0, if it is stationary for their equation, and if the other moves do not undo what
    they do in the mean (`law_in_the_limit`). Refuted by a block that no move updates, or by a move that does not keep
    exp(-H). It rests on the claim of each kind of move: `refresh`, `draw`, `cir`, `involution`, `metropolis`, `pieces`
    with `stationary`; of `code` it is given by its author that it keeps exp(-H), and where no other move moves a block,
    that it moves that. Undecided where one of these is, and where an involution is not shown to move a block that
    nothing else moves.
    """
    moved = {one for move in split.scheme.cycle for one in moved_parts(split, move, stages)}
    every = [one for block in split.subject.names for one in parts_of(split, block, stages.build)]
    mapped = {one for move in split.scheme.cycle for one in mapped_parts(split, move, stages)}
    code = [move for move in split.scheme.cycle if isinstance(move, CodeMove)]
    coded = {part: move for move in code for part in coded_parts(split, move, stages)}
    still = [one.name for one in every if one not in moved and one not in mapped and one not in coded]
    if still:
        by = f"no move updates {', '.join(still)}: it keeps its initial value"
        names = sorted({one.name for one in (*moved, *mapped)})
        return Answer(Refuted(by, (("blocks moved", ", ".join(names) or "nothing"),)))
    open_ = [one.name for one in every if one not in moved and one not in coded]
    if open_:
        reason = f"not shown: an involution moves {', '.join(open_)} and not just a part of it"
        return Answer(Undecided((reason,)))
    by_code = [
        (f"{one.name} is updated by code", given_to_move(coded[one], one.name))
        for one in every
        if one in coded and one not in moved
    ]
    return _all([*_kept(split, stages, at_every_step=False), *by_code])


def exact(split: Split, stages: Stages) -> Answer:
    """Decide that pi T_k = pi, pi = exp(-H), for every move k of a cycle at every step size eps.

    Steps of a word without acceptance do if each of its pieces keeps exp(-H) by itself and has an exact flow; a `cir`
    flow does unless its shape is estimated from a minibatch. Undecided, never refuted, if one move does not: others
    might make up for it.
    """
    found = list(_kept(split, stages, at_every_step=True))
    lost = tuple(f"{what}, does not preserve exp(-H)" for what, answer in found if isinstance(answer.decision, Refuted))
    return Answer(Undecided(lost)) if lost else _all(found)


def _all(found: list[Obligation]) -> Answer:
    """Return the answer of all moves: the guilty one is named, and its own claim says why."""
    for what, answer in found:
        if isinstance(answer.decision, Refuted):
            return Answer(Refuted(f"{what}, does not preserve exp(-H)", answer.decision.witness), answer.for_d)
    if not is_shown(found):
        return Answer(Undecided(left_open(found)))
    return shown("; ".join(what for what, _ in found), found)


def _kept(split: Split, stages: Stages, *, at_every_step: bool) -> Iterator[Obligation]:
    """Yield of every move, by its place in the cycle, that it preserves exp(-H)."""
    for place, move in enumerate(split.scheme.cycle, 1):
        match move:
            case Refresh(block):
                yield f"move {place}, refresh of {block}", _told(law_given_others(split, block), "refresh")
            case Draw(block, _, slices):
                by = "" if slices is None else " by slices"
                yield f"move {place}, draw of {block}{by}", _told(keeps_law_of(split, move, stages), "draw")
            case Cir(block):
                limit = is_estimated(stages.build, move) and not at_every_step
                says = f"move {place}, cir of {block}{', as eps goes to 0' if limit else ''}"
                found = _of_flow(split, move, stages, at_every_step=at_every_step)
                yield says, _beside_others(found, split, move, stages) if limit else found
            case Involution():
                says = f"move {place}, involution of {', '.join(move.moved)}"
                yield says, _told(involution_keeps(split, move, stages), "involution")
            case CodeMove():
                yield f"move {place}, code {move.code}", given_to_keep(move)
            case Metropolis():
                yield f"move {place}, Metropolis", _told(metropolis_keeps(split, move, stages), "metropolis")
            case Steps() if at_every_step:
                yield f"move {place}, steps", _of_each(split)
            case Steps():
                is_exact = isinstance(_of_each(split).decision, Proved)
                found = _of_equation(split)
                says = f"move {place}, steps, as eps goes to 0"
                yield says, found if is_exact else _beside_others(found, split, move, stages)


def _told(found: Answer, claim: str) -> Answer:
    """Return an answer that leaves it to a claim of its own to say what is open."""
    return replace(found, decision=Undecided((f"see {claim}",))) if isinstance(found.decision, Undecided) else found


def _of_flow(split: Split, move: Cir, stages: Stages, *, at_every_step: bool) -> Answer:
    """Decide that a flow preserves exp(-H); with the shape of a minibatch it does so as eps goes to 0 alone."""
    found = _told(flow_keeps(split, move, stages), "cir")
    if not (at_every_step and is_estimated(stages.build, move) and isinstance(found.decision, Proved)):
        return found
    return Answer(Undecided((f"its shape is estimated from a minibatch: {bias(move)}",)))


def _beside_others(found: Answer, split: Split, move: Move, stages: Stages) -> Answer:
    """Return an answer about a move as eps goes to 0 that rests on what the other moves leave of it as well."""
    if not isinstance(found.decision, Proved):
        return found
    both = [
        ("by itself", found),
        ("the invariant distribution of the cycle tends to exp(-H)", law_in_the_limit(split, move, stages)),
    ]
    off = limit_departs(split, stages)
    if not is_shown(both):
        return Answer(Undecided(left_open(both))) if off is None else off
    return unless_refuted(shown(found.decision.by, both), off)


def _of_equation(split: Split) -> Answer:
    """Decide that the word integrates an equation for which exp(-H) is stationary."""
    found = [("the pieces add up to the SDE", pieces(split)), ("exp(-H) is stationary", stationary(split.subject))]
    return shown("its equation preserves exp(-H)", found) if is_shown(found) else Answer(Undecided(left_open(found)))


def _of_each(split: Split) -> Answer:
    """Decide that each piece of a word preserves exp(-H) by itself: then so do its steps, of every size.

    Where one does not, the word may depart from exp(-H), by an amount that the step size sets.
    """
    done = {letter.piece for letter in letters(split.scheme.split)}
    found = {piece.name: keeps_law(split, piece) for piece in split.pieces if piece.name in done}
    lost = [name for name, answer in found.items() if isinstance(answer.decision, Refuted)]
    if lost:
        reason = (
            f"{', '.join(lost)} does not preserve exp(-H) by itself, and no step is rejected: a discretisation bias"
        )
        return Answer(Undecided((reason,)))
    if split.numerical:
        return Answer(Undecided((f"the flow of {', '.join(split.numerical)} is numerical, and no step is rejected",)))
    kept = [(f"{name} preserves exp(-H)", answer) for name, answer in found.items()]
    if not all(isinstance(answer.decision, Proved) for answer in found.values()):
        return Answer(Undecided(left_open(kept)))
    return shown("each piece preserves exp(-H)", kept)

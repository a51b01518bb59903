"""Does a Metropolis move keep exp(-H)? Of the word's fields and letters, for every size, every U and every step size.

With F an involution that keeps H and volume, z -> z' the path along the letters of a palindrome, and

* letters without noise whose flows keep volume and run backwards under F, F phi F = phi^-1,
* letters with noise in detailed balance up to F, exp(-H(z)) K(z, z') = exp(-H(z')) K(F z', F z),

the path from z to z' has the density exp(W - H(z') + H(z)) times that of the path from F z' to F z through the points
in reverse order, W the sum of H's changes over the letters without noise; the work of that path is -W. So z' taken with
probability min(1, exp(-W)), else F z, keeps exp(-H) (Sivak, Chodera, Crooks 2013; without noise, Tierney 1998). A flow
that ends before its time, or leaves its domain, gives no number, and is refused; the path backwards would come from
there, so is not taken either. The number of steps is drawn whatever the state: each keeps exp(-H), so their mean does.

Blocks that are drawn wholly anew before any move reads them may be turned or not: what is drawn then is the same.
Where none is, a point at which the move by itself changes exp(-H) refutes it: b' = c b + noise with c > 0 takes no two
laws to one. With c = 0 only the law of the other blocks is left, and that may be kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from recipe_compiler.derive.refresh import conditional_law
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.model import ByLaw, Cir, CodeMove, Draw, Involution, Metropolis, Move, Refresh, Steps
from recipe_compiler.spec.moves import move_text, over_a_period
from recipe_compiler.spec.read_involution import names_of
from recipe_compiler.spec.words import letters
from recipe_compiler.splitting.flow_table import flow_of
from recipe_compiler.splitting.implicit import EXACTLY, is_iterated
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.reflection import REFLECTED
from recipe_compiler.splitting.split_by import may_leave
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.core.identities import faults_of
from recipe_compiler.verify.core.premises import restricts_state
from recipe_compiler.verify.core.subject import KEPT
from recipe_compiler.verify.moves.conjunction import Obligation, is_shown, left_open, shown, unless_refuted
from recipe_compiler.verify.moves.detailed_balance import detailed_balance
from recipe_compiler.verify.moves.metropolis_witness import departure
from recipe_compiler.verify.moves.reflection import reflects
from recipe_compiler.verify.moves.second_order import move_departs
from recipe_compiler.verify.moves.volume import volume_kept
from recipe_compiler.verify.steps.order import is_palindrome
from recipe_compiler.verify.steps.reversible import (
    Flip,
    energy_turned,
    flip,
    flip_of,
    of_reflections,
    runs_back,
    unknown,
)
from recipe_compiler.verify.steps.split import Split, split_of

MINIBATCH = "the acceptance probability needs all data: `variant: full`"

NO_U = "the acceptance probability needs U, and the target has no formula for it"


@dataclass(frozen=True, slots=True)
class Turned:
    """The flip and the obligations by which a Metropolis move is shown to preserve exp(-H)."""

    under: Flip
    obligations: tuple[Obligation, ...]
    forgotten: tuple[str, ...] = ()
    """Blocks that a refused move leaves otherwise than the flip would, and that are drawn anew before they are read."""


def metropolis(split: Split, stages: Stages) -> Answer:
    """Decide that every Metropolis move of a cycle preserves exp(-H); refuted by an exact point at which one does not.

    The word leads from z to z', which is taken with probability min(1, exp(-W)), else F z; W is the sum of the changes
    of H over letters without noise. Obligations, for every size, U and step size: the word is a palindrome; H(F z) =
    H(z) and F is an involution; letters without noise have |det| = 1 and F phi F = phi^-1; letters with noise are in
    detailed balance up to F (Tierney 1998; Sivak, Chodera, Crooks 2013). F may be left out for blocks that are drawn
    wholly anew before anything reads their sign.

    Example: HMC, [B/2, A, B/2] with F: r -> -r and r drawn anew, is proved. With a partial refresh r' = c r + noise, 0
    < c < 1, and no flip after a refusal it is refuted: mass arrives at some z more often than it leaves.
    """
    accepted = [(n, move) for n, move in enumerate(split.scheme.cycle, 1) if isinstance(move, Metropolis)]
    found = [(f"move {place}", metropolis_keeps(split, move, stages)) for place, move in accepted]
    if len(found) == 1:
        return found[0][1]
    for what, answer in found:
        if isinstance(answer.decision, Refuted):
            return replace(answer, decision=replace(answer.decision, by=f"{what}: {answer.decision.by}"))
    if not is_shown(found):
        return Answer(Undecided(left_open(found)))
    proofs = [(what, answer.decision) for what, answer in found if isinstance(answer.decision, Proved)]
    whole = shown("; ".join(f"{what}: {proof.by}" for what, proof in proofs), found)
    remarks = tuple(dict.fromkeys(remark for _, proof in proofs for remark in proof.remarks))
    return replace(whole, decision=replace(whole.decision, remarks=remarks)) if remarks else whole


@lru_cache(maxsize=KEPT)
def metropolis_keeps(split: Split, move: Metropolis, stages: Stages) -> Answer:
    """Decide it of one of them, among the other moves of the cycle.

    What is shown of the word is so for every step size and whatever it holds, so for the scale and the part of the
    target of each move; which blocks a move turns, and what reads them after it, is its own.
    """
    refused = _not_asked(split, move, stages)
    if refused:
        return Answer(Undecided(refused))
    found = _shown(split, move)
    if isinstance(found.decision, Proved):
        once = replace(move, steps=(1, 1))  # a palindrome done once is a palindrome
        forgotten = bool(found.decision.remarks)
        off = move_departs(split, stages, move) if forgotten else departure(split, once, stages, against_proof=True)
        return unless_refuted(found, off)
    if not isinstance(found.decision, Undecided):
        return found
    why = "; ".join(found.decision.tried)
    drawn = ", ".join(dict.fromkeys(name for move in split.scheme.cycle for name in _drawn_wholly(move)))
    first = move_departs(split, stages, move) if drawn else None
    at = departure(split, move, stages) if first is None else None
    off = first if drawn else at
    if off is None and not drawn:
        off = move_departs(split, stages, move)
    if off is not None and isinstance(off.decision, Refuted):
        return replace(off, decision=replace(off.decision, by=f"{off.decision.by}; {why}"))
    return found if at is None else Answer(Undecided((*found.decision.tried, _open_after(at, drawn))))


def _open_after(at: Answer, drawn: str) -> str:
    """Return what is open where a move changes exp(-H) at a point, and some blocks are drawn anew."""
    witness = at.decision.witness if isinstance(at.decision, Refuted) else ()
    where = ", ".join(f"{name} = {value}" for name, value in witness)
    return f"the move alone does not preserve exp(-H), at {where}; not decided if {drawn} is refreshed fully"


def _drawn_wholly(move: Move) -> tuple[str, ...]:
    match move:
        case Refresh(block, kept):
            return () if kept else (block,)
        case Draw(block, _, None):
            return (block,)
        case Draw() | Metropolis() | Steps() | Cir() | Involution() | CodeMove():
            return ()


@lru_cache(maxsize=KEPT)
def _shown(split: Split, move: Metropolis) -> Answer:
    """Return the proof, with the flip that is stated or with another one, or what of it is not shown."""
    c = split.derivation.calculus
    stated = flip(c, dict.fromkeys(move.flip, c.zero()))
    own = _obligations(split, stated)
    if is_shown(own):
        return _proof(split, Turned(stated, own))
    try:
        other = flip_of(split)
    except ModelError as error:
        return Answer(Undecided((*left_open(own), *faults_of(error))))
    if other is None or other.centres == stated.centres:
        return Answer(Undecided(left_open(own)))
    needed = _obligations(split, other)
    if not is_shown(needed):
        return Answer(Undecided(left_open(own)))
    apart = tuple(
        name
        for name in split.subject.names
        if (name in stated.centres) is not (name in other.centres)
        or (name in stated.centres and stated.centres[name] != other.centres[name])
    )
    read = _read_before_drawn(split, move, frozenset(apart))
    if read:
        turned = stated.says if stated.centres else "nothing"
        reason = f"a rejected move must flip {other.says}, this one flips {turned}, and {read}"
        names = ", ".join(f"{name}: -{name}" for name, m in other.centres.items() if m.is_zero)
        hints = [f"state `flip: {{{names}}}`"] * bool(names)
        hints += [] if stated.centres else [f"refresh {', '.join(apart)} fully next"]
        return Answer(Undecided((f"{' or '.join(hints)}: {reason}" if hints else reason,)))
    return _proof(split, Turned(other, needed, apart))


def _proof(split: Split, found: Turned) -> Answer:
    noisy = [piece.name for piece in _done(split) if piece.is_noisy]
    iterated = any(is_iterated(flow_of(split.derivation, p, split.numerical.get(p.name, ""))) for p in _done(split))
    heat = f"; {', '.join(noisy)} in detailed balance" if noisy else ""
    says = f"a palindrome of pieces that preserve volume and are reversible under {found.under.says}{heat}"
    answer = shown(says, found.obligations, (EXACTLY,) if iterated else ())
    if not found.forgotten or not isinstance(answer.decision, Proved):
        return answer
    names = ", ".join(found.forgotten)
    remark = f"{names} is distributed as under exp(-H) after its refresh, but not right after a rejected move"
    says = f"{says}; {names} is refreshed before it is used"
    return replace(answer, decision=replace(answer.decision, by=says, remarks=(remark,)))


def _done(split: Split) -> tuple[Piece, ...]:
    """Return the pieces that have letters in the word."""
    names = {letter.piece for letter in letters(split.scheme.split)}
    return tuple(piece for piece in split.pieces if piece.name in names)


def _not_asked(split: Split, move: Metropolis, stages: Stages) -> tuple[str, ...]:
    """Return why it is not looked at what a move keeps; empty where it is."""
    declarations = split.subject.dynamics.declarations
    if stages.build.variant != "full":
        return (MINIBATCH,)
    if stages.build.target.gradient is not None:
        return (NO_U,)
    if split.scheme.keep:
        return ("draws are kept inside the word, before the accept/reject step",)
    if not split.scheme.split:
        return ("there is no word to accept or reject",)
    bounded = [b.name for b in declarations.blocks if b.name in move.flip and b.domain.name is not DomainName.REAL]
    if bounded:
        return (f"the flip changes the sign of {', '.join(bounded)}, whose domain is not the whole real line",)
    if restricts_state(declarations):
        return ("an assumption restricts the state, and it is not shown that moves out of it are rejected",)
    try:
        moves = [(p, flow_of(split.derivation, p, split.numerical.get(p.name, ""))) for p in _done(split)]
    except ModelError as error:
        return tuple(fault.problem for fault in error.faults)
    leaving = [name for name, ends in may_leave(declarations.blocks, moves).items() if not ends]
    if split.subject in stages.valued_parts and [own.row for _, own in moves] != _rows_as_declared(split, stages):
        return ("at the values of the build, its pieces have other flows than the emitted step",)
    return tuple(f"{name} has a boundary, and it is not shown that moves across it are rejected" for name in leaving)


def _rows_as_declared(split: Split, stages: Stages) -> list[str]:
    """Return the rows of the flows that a step is made of; none where a piece has none."""
    declared = split_of(stages.declared.wide or stages.declared, split.scheme)
    try:
        return [flow_of(declared.derivation, p, declared.numerical.get(p.name, "")).row for p in _done(declared)]
    except ModelError:
        return []


def _obligations(split: Split, under: Flip) -> tuple[Obligation, ...]:
    """Return all that a flip has to satisfy, by name; only the first, that H is the same, where H is not."""
    energy = energy_turned(split, under)
    same = unknown(under) if energy is None else of_reflections(split, [energy])
    first = (f"H is the same under {under.says}", same)
    return (first, *_asked(split, under)) if is_shown([first]) else (first,)


def _asked(split: Split, under: Flip) -> Iterator[Obligation]:
    for piece in _done(split):
        if piece.is_noisy:
            yield f"{piece.name} is in detailed balance up to {under.says}", detailed_balance(split, piece, under)
        else:
            yield f"{piece.name} is reversible under {under.says}", runs_back(split, piece, under)
            yield f"{piece.name} preserves volume", volume_kept(split, piece)
            if split.numerical.get(piece.name) == REFLECTED:
                yield f"{piece.name} is reflected with the momentum of its entry alone", reflects(split, piece)
    yield "the word is a palindrome", is_palindrome(split)


def _read_before_drawn(split: Split, move: Metropolis, blocks: frozenset[str]) -> str:
    """Return what reads the sign of some blocks after a Metropolis move, before all of them were drawn wholly anew.

    Moves follow each other in a circle: that of a period, where some are not done in each cycle. The laws of other
    blocks do not read it: H is even in a block whose own law is normal of mean 0, and what the target claims of its
    blocks is about them alone. An involution that does not name them is accepted by H, which is even in them; code that
    is not given them cannot. Empty where nothing does.
    """
    circle = over_a_period(split.scheme.cycle)
    places = (place for place, own in enumerate(circle) if own == move)
    read = (_read_after(split, blocks, (*circle[place + 1 :], *circle[: place + 1])) for place in places)
    return next(filter(None, read), "")


def _read_after(split: Split, blocks: frozenset[str], moves: tuple[Move, ...]) -> str:
    """Return what reads the sign of some blocks among the moves that follow, before all were drawn wholly anew."""
    left = set(blocks)
    for move in moves:
        if isinstance(move, ByLaw) and not left & {block.name for block in potential_blocks(split.subject.dynamics)}:
            continue
        if isinstance(move, Involution) and left.isdisjoint(names_of(move)):
            continue
        if isinstance(move, CodeMove) and left.isdisjoint((*move.changes, *move.reads)):
            continue
        if not left:
            return ""
        if not isinstance(move, Refresh):
            return f"{', '.join(sorted(left))} is not refreshed fully before `{move_text(split.scheme, move)}` uses it"
        if move.block in left and move.kept:
            return f"the refresh of {move.block} keeps {move.kept} of it"
        if conditional_law(split.derivation, move.block) is not None:
            left.discard(move.block)
    return ""

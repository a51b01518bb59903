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

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from recipe_compiler import limits
from recipe_compiler.derive.refresh import conditional_law
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.model import Cir, CodeMove, Draw, Involution, Metropolis, Move, Refresh
from recipe_compiler.spec.moves import move_text
from recipe_compiler.spec.read_moves import names_of
from recipe_compiler.splitting.flow import Flow
from recipe_compiler.splitting.flow_table import find_flow
from recipe_compiler.splitting.implicit import EXACTLY
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.reflection import REFLECTED
from recipe_compiler.splitting.split_by import list_leaving_blocks
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, undecided
from recipe_compiler.verify.core.conjunction import (
    Obligation,
    conjoin,
    format_point,
    is_all_proved,
    list_open_reasons,
    reject_if_refuted,
)
from recipe_compiler.verify.core.identities import list_faults
from recipe_compiler.verify.core.premises import has_state_assumptions
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.moves.detailed_balance import detailed_balance
from recipe_compiler.verify.moves.involution import MINIBATCH, NO_U
from recipe_compiler.verify.moves.reflection import decide_reflection
from recipe_compiler.verify.moves.second_order import refute_accepted_word
from recipe_compiler.verify.moves.volume import decide_volume
from recipe_compiler.verify.moves.witness import refute_invariance
from recipe_compiler.verify.steps.reversible import Flip, choose_flip, decide_flipped, energy_identity, flip, runs_back
from recipe_compiler.verify.steps.split import Split, split_of
from recipe_compiler.verify.words.letters import is_palindrome


def metropolis(cycle: Cycle, move: Metropolis) -> Answer:
    """Decide that a Metropolis move of a cycle preserves exp(-H); refuted by an exact point at which it does not.

    The word leads from z to z', which is taken with probability min(1, exp(-W)), else F z; W is the sum of the changes
    of H over letters without noise. Obligations, for every size, U and step size: the word is a palindrome; H(F z) =
    H(z) and F is an involution; letters without noise have |det| = 1 and F phi F = phi^-1; letters with noise are in
    detailed balance up to F (Tierney 1998; Sivak, Chodera, Crooks 2013). F may be left out for blocks that are drawn
    wholly anew before anything reads their sign.

    Example: HMC, [B/2, A, B/2] with F: r -> -r and r drawn anew, is proved. With a partial refresh r' = c r + noise, 0
    < c < 1, and no flip after a refusal it is refuted: mass arrives at some z more often than it leaves.
    """
    refused = _unsupported_reasons(cycle, move)
    if refused:
        return undecided(*refused)
    found = _prove_word(cycle, move)
    if isinstance(found.decision, Proved):
        once = replace(move, steps=(1, 1))  # a palindrome done once is a palindrome
        is_forgotten = bool(found.decision.remarks)
        off = refute_accepted_word(cycle, move) if is_forgotten else refute_invariance(cycle, once, against_proof=True)
        return reject_if_refuted(found, off)
    if not isinstance(found.decision, Undecided):
        return found
    tried = found.decision.tried
    drawn = ", ".join(dict.fromkeys(block for block, is_whole in _list_draws(cycle) if is_whole))
    first = refute_accepted_word(cycle, move) if drawn else None
    at = refute_invariance(cycle, move) if first is None else None
    off = first if drawn else at
    if off is None and not drawn:
        off = refute_accepted_word(cycle, move)
    if off is not None and isinstance(off.decision, Refuted):
        return off.but(by=f"{off.decision.by}; {'; '.join(tried)}")
    if at is None or not isinstance(at.decision, Refuted):
        return found
    where = format_point(at.decision.witness)
    reason = f"alone, the move does not preserve exp(-H) ({where}); with {drawn} refreshed fully, this is not decided"
    return undecided(*tried, reason)


def _list_draws(cycle: Cycle) -> Iterator[tuple[str, bool]]:
    """Yield each block that a move draws, with whether the new value is independent of the old one."""
    for move in cycle.moves:
        match move:
            case Refresh(block, kept):
                yield block, not kept
            case Draw(block, _, slices):
                yield block, slices is None
            case _:
                pass


@lru_cache(maxsize=limits.SUBJECTS)
def _prove_word(cycle: Cycle, move: Metropolis) -> Answer:
    """Return the proof under the stated flip or another one; else the open conditions."""
    split = cycle.split
    c = split.derivation.calculus
    stated = flip(c, dict.fromkeys(move.flip, c.zero()))
    own = _flip_obligations(split, stated)
    if is_all_proved(own):
        return _write_proof(split, stated, own)
    open_ = list_open_reasons(own)
    try:
        other = choose_flip(split)
    except ModelError as error:
        return undecided(*open_, *list_faults(error))
    needed = [] if other is None or other.centres == stated.centres else _flip_obligations(split, other)
    if other is None or not needed or not is_all_proved(needed):
        return undecided(*open_)
    apart = [name for name in split.subject.names if stated.centres.get(name) != other.centres.get(name)]
    read = _find_sign_reader(cycle, move, frozenset(apart))
    if not read:
        return _write_proof(split, other, needed, apart)
    reason = f"a rejected move must flip {other.says}, this one flips {stated.says if stated.centres else 'nothing'}"
    names = ", ".join(f"{name}: -{name}" for name, m in other.centres.items() if m.is_zero)
    hints = [f"state `flip: {{{names}}}`"] * bool(names)
    hints += [] if stated.centres else [f"refresh {', '.join(apart)} fully next"]
    hint = f"{' or '.join(hints)}: " if hints else ""
    return undecided(f"{hint}{reason}, and {read}", *open_)


def _write_proof(split: Split, under: Flip, obligations: Sequence[Obligation], forgotten: Sequence[str] = ()) -> Answer:
    """Return the proof that the word is reversible under a flip, with what it assumes.

    Args:
        split: the word.
        under: the flip.
        obligations: what was shown of it.
        forgotten: blocks that a refused move leaves otherwise, and that are drawn anew before they are read.
    """
    noisy = ", ".join(piece.name for piece in split.used if piece.is_noisy)
    is_exact = not any(flow.is_iterated for _, flow in _list_flows(split))
    heat = f"; {noisy} in detailed balance" if noisy else ""
    says = f"a palindrome of pieces that preserve volume and are reversible under {under.says}{heat}"
    names = ", ".join(forgotten)
    says += f"; {names} is refreshed before it is used" if names else ""
    proof = conjoin(says, obligations, () if is_exact else (EXACTLY,))
    remark = f"{names} is distributed as under exp(-H) after its refresh, but not right after a rejected move"
    return proof.but(remarks=(remark,)) if names else proof


def _list_flows(split: Split) -> list[tuple[Piece, Flow]]:
    """Return the flows that move the pieces of a word. Raises ModelError where one has none."""
    return [(p, find_flow(split.derivation, p, split.numerical.get(p.name, ""))) for p in split.used]


def _unsupported_reasons(cycle: Cycle, move: Metropolis) -> tuple[str, ...]:
    """Return why the program cannot decide what this move preserves; empty where it can."""
    split, stages = cycle.split, cycle.stages
    declarations = split.subject.declarations
    if not stages.build.has_exact_gradient:
        return (MINIBATCH if stages.build.W is None else "noise is added to the gradient",)
    if stages.build.target.gradient is not None and not stages.build.target.is_open:
        return (NO_U,)
    if split.scheme.keep:
        return ("draws are kept inside the word, before the accept/reject step",)
    if not split.scheme.split:
        return ("there is no word to accept or reject",)
    bounded = [b.name for b in declarations.blocks if b.name in move.flip and b.domain.name is not DomainName.REAL]
    if bounded:
        return (f"the flip changes the sign of {', '.join(bounded)}, whose domain is not the whole real line",)
    if has_state_assumptions(declarations):
        return ("an assumption restricts the state, and it is not shown that moves out of it are rejected",)
    try:
        flows = _list_flows(split)
    except ModelError as error:
        return tuple(fault.problem for fault in error.faults)
    leaving = [name for name, ends in list_leaving_blocks(declarations.blocks, flows).items() if not ends]
    if split.subject in stages.valued_parts and [own.row for _, own in flows] != _declared_flow_rows(cycle):
        return ("at the values of the build, its pieces have other flows than the emitted step",)
    return tuple(f"{name} has a boundary, and it is not shown that moves across it are rejected" for name in leaving)


def _declared_flow_rows(cycle: Cycle) -> list[str]:
    """Return the table rows of the word's flows; empty where a piece has none."""
    try:
        return [flow.row for _, flow in _list_flows(split_of(cycle.stages.declared.widest, cycle.split.scheme))]
    except ModelError:
        return []


def _flip_obligations(split: Split, under: Flip) -> list[Obligation]:
    """Return what has to be shown of a flip, by name; only H(F z) = H(z) where that fails."""
    says = under.says
    found = [(f"H is the same under {says}", decide_flipped(split, under, lambda: [energy_identity(split, under)]))]
    if not is_all_proved(found):
        return found
    for piece in split.used:
        name = piece.name
        if piece.is_noisy:
            found.append((f"{name} is in detailed balance up to {says}", detailed_balance(split, piece, under)))
            continue
        found.append((f"{name} is reversible under {says}", runs_back(split, piece, under)))
        found.append((f"{name} preserves volume", decide_volume(split, piece)))
        if split.numerical.get(name) == REFLECTED:
            found.append((f"{name} is reflected with the momentum of its entry alone", decide_reflection(split, piece)))
    return [*found, ("the word is a palindrome", Answer(is_palindrome(split.scheme.word)))]


def _find_sign_reader(cycle: Cycle, move: Metropolis, blocks: frozenset[str]) -> str:
    """Return the first move that reads the sign of these blocks before all are drawn afresh, in words; else empty.

    Moves follow each other in a circle: that of a period, where some are not done in each cycle. The laws of other
    blocks do not read it: H is even in a block whose own law is normal of mean 0, and what the target claims of its
    blocks is about them alone. An involution that does not name them is accepted by H, which is even in them; code that
    is not given them cannot. Empty where nothing does.
    """
    circle = cycle.period
    places = (place for place, own in enumerate(circle) if own == move)
    read = (_find_sign_reader_after(cycle, blocks, (*circle[place + 1 :], *circle[: place + 1])) for place in places)
    return next(filter(None, read), "")


def _find_sign_reader_after(cycle: Cycle, blocks: frozenset[str], moves: tuple[Move, ...]) -> str:
    """Return the first of the following moves that reads the sign of these blocks, in words; else empty."""
    left, held = set(blocks), {block.name for block in cycle.potential_blocks}
    for move in moves:
        match move:
            case Draw() | Cir() if not left & held:
                continue
            case Involution() if left.isdisjoint(names_of(move)):
                continue
            case CodeMove() if left.isdisjoint((*move.changes, *move.reads)):
                continue
            case _ if not left:
                return ""
            case Refresh(block, kept):
                if block in left and kept:
                    return f"the refresh of {block} keeps {kept} of it"
                if conditional_law(cycle.split.derivation, block) is not None:
                    left.discard(block)
            case _:
                by = move_text(cycle.split.scheme, move)
                return f"{', '.join(sorted(left))} is not refreshed fully before `{by}` uses it"
    return ""

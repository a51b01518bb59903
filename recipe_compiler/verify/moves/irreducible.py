"""Does a cycle reach every state from every other? Then exp(-H) is its only stationary law, and where its chains go.

Of the state (theta, r), where a refresh draws r' = c r + N(0, (1 - c^2) S), |c| < 1, from a law that is positive
everywhere, and the word moves theta once, theta' = theta + eps W (r + kicks(theta)) with a constant, invertible W:
theta' has a density that is positive everywhere, and so does r one cycle later, since the word is one to one. H is
finite everywhere, so what is proposed is accepted with a positive probability. Hence every set to which exp(-H) gives
one is reached by two cycles, and by any larger number (Tierney 1994, Thm. 1, Cor. 2).

Where the word moves some blocks of the target, others held, W = diag(moved) W0: with an invertible W0 the rows of W
that are moved are independent, so they have such a density given what is held. The draws after the word give one to
each block that is held, given the others, and so to all together.

That is of one step of the word. Of more it need not be so: on a quadratic U trajectories may close. With a number of
steps that is drawn, one step has a positive probability. Draws of blocks of the target between these moves do no harm:
they keep exp(-U) and do not read r, so that a density of theta that is positive everywhere stays one.

Where every block is drawn, those of the target from the laws that it claims, the word has nothing to reach. One after
the other the draws lead from every state to a density that is positive on the whole domain: it is a mean of products of
conditional densities, each positive there (Roberts, Smith 1994). So is that of a flow (`cir`) from everywhere, and of
rows by slices, whose levels may be below all weights. At most one word stands between them, K that keeps the law pi: it
takes what is positive where pi is to another such, since of a set A with K(z, A) = 0 for almost all z also pi(A) = int
pi K(., A) = 0. Hence two cycles reach every set to which exp(-H) gives anything, from wherever.

Of several moves with the word each has such a density in what it moves, given the rest, r being drawn anew next to it,
on either side. One after the other, the draws between them too, they have one in all that they move or draw together:
what a move holds keeps the density that it has, and what it moves has one given that.

Moves that are not done in each cycle make one kernel of a period: the moves of as many cycles as go by until all begin
anew together. Of draws a row of it without a word has to draw every block; of a word one move has to stand between two
refreshes, with no other word there. What comes before such a part leads somewhere, and what comes after it keeps
exp(-H), so takes what is positive where that is to another such.

That there is a law is a premise: conditional laws there may be where exp(-H) has no finite integral (Hobert, Casella
1996), and where a move with a word preserves exp(-H), chains then go to infinity, or back and forth without a law.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from sympy import Expr

from recipe_compiler.algebra.scalars.entries import rows
from recipe_compiler.derive.recipe import derive
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Filled, Role, Symbol
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.bind import replaced
from recipe_compiler.spec.model import ByLaw, CodeMove, Involution, Metropolis, Move, Refresh
from recipe_compiler.spec.words import letters
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.core.conjunction import conjoin, is_proved
from recipe_compiler.verify.core.identities import Identity, list_faults
from recipe_compiler.verify.core.premises import has_state_assumptions
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.moves.table import exact
from recipe_compiler.verify.moves.volume import is_regular
from recipe_compiler.verify.steps.quantity import Quantity, drift_quantities
from recipe_compiler.verify.steps.split import Split, decide_identities, split_of

KEPT = "every move preserves exp(-H) at every step size"
NOT_KEPT = f"not shown: {KEPT}, see exact"
Row = tuple[Move | None, tuple[Move, ...]]
"""A move that is no draw, and the draws after it."""


class _OtherFormError(Exception):
    """The cycle does not have a form for which irreducibility is known; the message says why."""


def irreducible(cycle: Cycle) -> Answer:
    """Decide that exp(-H) is the unique stationary law of a cycle, since every state is reached from every other.

    Shown for two forms. (1) A refresh r' = c r + N(0, (1 - c**2) S), and a word of one step that moves theta once,
    theta' = theta + eps W (r + ...) with a constant invertible W: theta' has a density that is positive everywhere
    (Tierney 1994, Thm. 1, Cor. 2); blocks that the word holds are drawn after it, or moved by the next move with it.
    (2) Every block is drawn, from laws that are positive on their whole domain (Roberts, Smith 1994). It rests on
    `exact`; that exp(-H) has a finite integral (Hobert, Casella 1996), and U a value and a gradient everywhere, are
    premises in the table of claims. Anything else is undecided: a fixed number of leapfrog steps may close its
    trajectories on a quadratic U.
    """
    if has_draws_of_every_block(cycle):
        return _decide_by_draws(cycle)
    split, mask = cycle.split, _mask_name(cycle.split)
    try:
        form = _recognise_form(cycle)
        whole = _split_without_mask(split, form.theta) if mask else split
        identities = [
            *_linear_kick_identities(split, form),
            *([_masked_mobility(split, whole, form)] if mask else []),
        ]
    except _OtherFormError as why:
        return undecided(str(why))
    except ModelError as error:
        return undecided(*list_faults(error))
    kept, theta, r, name = exact(cycle), form.theta, form.r, form.drift.name
    if not is_proved(kept):
        return undecided(NOT_KEPT)
    if mask and has_state_assumptions(cycle.target.declarations):
        return undecided("an assumption restricts the target: fixed blocks may confine the others")
    of_fields = f"{name} moves {theta.name} by W {r.name} with a constant W, kicks depend on {theta.name} alone"
    proof = conjoin(form.reaches, [(KEPT, kept), (of_fields, decide_identities(split, identities))])
    if not is_proved(proof):
        return proof
    if not is_regular(_differentiate_position_drift(whole, form)):
        beside = " with nothing held fixed" if mask else ""
        return undecided(f"not shown: d f[{theta.name}]/d{r.name} of {name} is invertible{beside}")
    return proof


def _mask_name(split: Split) -> str:
    """Return the name of the diagonal of the mask P in the borrowed dynamics; empty where the word borrows none."""
    return split.scheme.use.parts[0].mask if split.scheme.use else ""


def _split_without_mask(split: Split, theta: Block) -> Split:
    """Return the pieces of the dynamics with the mask P = I, so that every coordinate moves."""
    subject = split.subject
    dynamics = replaced(subject.whole, {_mask_name(split): Filled(1, theta.shape)})
    return split_of(replace(subject, dynamics=dynamics, derivation=derive(dynamics), any_size=None), split.scheme)


def _masked_mobility(split: Split, whole: Split, form: "_Form") -> Identity:
    """Return the identity W = diag(mask) W0, with W0 the mobility for P = I."""
    theta, c, mask = form.theta, split.derivation.calculus, _mask_name(split)
    W, W0 = _differentiate_position_drift(split, form), _differentiate_position_drift(whole, form)

    def entries(sizes: Sizes) -> list[Expr]:
        moved = rows(Symbol(mask, theta.shape, Role.PARAMETER), split.subject.setting(sizes))
        return [m * x for (m,), row in zip(moved, W0.rows(sizes), strict=True) for x in row]

    kept = replace(W0, tensor=c.multiply(c.component(mask, *W.slots(0)), W0.tensor), entries=entries)
    says = f"d f[{theta.name}]/d{form.r.name} of {form.drift.name} minus diag({mask}) times that with nothing held"
    return W.minus(kept).vanishes(says)


def has_draws_of_every_block(cycle: Cycle) -> bool:
    """Return whether consecutive draws of one period, with no word between them, draw every block."""
    held = {block.name for block in cycle.potential_blocks}
    others = {name for name in cycle.split.subject.names if name not in held}
    every = {block.name for block in cycle.drawn_blocks}
    return bool(held) and any(
        every <= _drawn_blocks(row) and others <= _refreshed_blocks(row) for _, row in _group_draws(cycle)
    )


def _drawn_blocks(moves: Iterable[Move]) -> set[str]:
    """Return the names of the blocks that some moves draw from a law of the target."""
    return {move.block for move in moves if isinstance(move, ByLaw)}


def _refreshed_blocks(moves: Iterable[Move]) -> set[str]:
    """Return the names of the blocks that some moves refresh."""
    return {move.block for move in moves if isinstance(move, Refresh)}


def _group_draws(cycle: Cycle) -> list[Row]:
    """Return each move that is no draw, over several periods, with the consecutive draws that follow it."""
    circle, found = cycle.period, list[tuple[Move, list[Move]]]()
    first = next((k for k, move in enumerate(circle) if not isinstance(move, ByLaw | Refresh)), None)
    if first is None:
        return [(None, circle)]
    for move in (*circle[first:], *circle[:first]):
        if isinstance(move, ByLaw | Refresh):
            found[-1][1].append(move)
        else:
            found.append((move, []))
    return [(move, tuple(draws)) for move, draws in found]


def _decide_by_draws(cycle: Cycle) -> Answer:
    """Return irreducibility from exact draws of every block; undecided where the domain may be disconnected."""
    if has_state_assumptions(cycle.split.subject.declarations) or has_state_assumptions(cycle.target.declarations):
        reason = "an assumption restricts the state: the domain may be disconnected under block updates"
        return undecided(reason)
    kept = exact(cycle)
    if not is_proved(kept):
        return undecided(NOT_KEPT)
    return conjoin("every block is drawn from a distribution that is positive on its whole domain", [(KEPT, kept)])


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of cycle for which one accepted step of the word suffices to reach every state."""

    theta: Block
    r: Block
    drift: Piece
    """What moves theta."""
    kicks: tuple[Piece, ...]
    """What moves r."""
    reaches: str
    """By what every state is reached."""


def _recognise_form(cycle: Cycle) -> _Form:
    """Return the form of a cycle with accepted words. Raises _OtherFormError for any other cycle."""
    split, declarations = cycle.split, cycle.split.subject.declarations
    moves = [*cycle.of_kind(Metropolis)]
    if not moves:
        raise _OtherFormError("decided only if all blocks are exact draws, or a Metropolis move takes the word")
    if len(declarations.blocks) != 2 or has_state_assumptions(declarations):
        raise _OtherFormError("decided only for an unrestricted position and momentum")
    held = cycle.potential_blocks
    others = [block for block in declarations.blocks if block not in held]
    if len(held) != 1 or any(block.domain.name is not DomainName.REAL for block in declarations.blocks):
        raise _OtherFormError("decided only for a position and a momentum on the whole real line")
    theta, r = held[0], others[0]
    if r.name not in _refreshed_blocks(cycle.moves):
        raise _OtherFormError(f"no move refreshes {r.name}: add `refresh: {r.name}`")
    if all(move.steps[0] != 1 for move in moves):
        least, most = moves[0].steps
        hint = f"try `uniform(1, {most})`"
        raise _OtherFormError(f"{least} or more steps: for quadratic U, trajectories may be periodic; {hint}")
    reaches = _moves_reaching_all(cycle, theta, r)
    drifts = [piece for piece in split.used if theta.name in piece.moved]
    count = sum(letter.piece == drifts[0].name for letter in letters(split.scheme.split)) if drifts else 0
    if len(drifts) != 1 or count != 1 or drifts[0].moved != (theta.name,) or drifts[0].name in split.numerical:
        raise _OtherFormError(
            f"decided only if exactly one letter of the word moves {theta.name}, and moves nothing else"
        )
    if any(piece.is_noisy or piece.name in split.numerical for piece in split.used):
        raise _OtherFormError("decided only for a word of exact flows without noise")
    return _Form(theta, r, drifts[0], tuple(piece for piece in split.used if piece != drifts[0]), reaches)


def _moves_reaching_all(cycle: Cycle, theta: Block, r: Block) -> str:
    """Return in words which moves reach every state: accepted words, with the draws after each.

    Known is the reach of a move of one step, or that may have one, with r drawn anew next to it, on either side.

    Raises:
        _OtherFormError: none are known to.
    """
    scheme, every = cycle.split.scheme, [block.name for block in cycle.drawn_blocks]
    found, mask = _group_draws(cycle), _mask_name(cycle.split)

    def is_known(n: int) -> bool:
        move, row = found[n]
        is_one_step = isinstance(move, Metropolis) and move.steps[0] == 1
        return is_one_step and r.name in _refreshed_blocks(row) and r.name in _refreshed_blocks(found[n - 1][1])

    known = [row if is_known(n) else None for n, row in enumerate(found)]
    if not any(known):
        if any(isinstance(move, Involution | CodeMove) for move in cycle.moves):
            raise _OtherFormError(f"decided only if {r.name} is refreshed directly before or after the word")
        raise _OtherFormError(f"{r.name} is refreshed less often than the word runs: trajectories may be periodic")
    for k in range(len(known)):
        run = [row for row in takewhile(bool, (*known[k:], *known[:k])) if row is not None]
        parts = [scheme.moved(move) for move, _ in run if isinstance(move, Metropolis)]
        moved = {name for part in parts for name in (every if part is None else part.blocks)}
        drawn = _drawn_blocks(own for _, row in run for own in row)
        if {*every} <= moved | drawn:
            named = ", ".join(name for name in every if name in moved) if mask else theta.name
            one = "one step reaches" if len(scheme.words) == 1 else "moves with the word reach"
            says = f"{one} every {named} from every other, as {r.name} is refreshed"
            late = ", ".join(name for name in every if name in drawn - moved) if mask else ""
            return f"{says}, and {late} after it" if late else says
    if len(scheme.words) == 1:
        whole = scheme.moved(scheme.words[0])
        held = ", ".join(name for name in every if whole is not None and name not in whole.blocks)
        raise _OtherFormError(f"the held blocks, {held}, are not all drawn between a word and the next move")
    raise _OtherFormError(
        f"no consecutive moves, each sometimes of one step and beside a refresh of {r.name}, update all of "
        f"{', '.join(every)}"
    )


def _linear_kick_identities(split: Split, form: _Form) -> Iterator[Identity]:
    """Yield df[theta]/dtheta = 0 and d^2 f[theta]/dr dz = 0 of the drift, and df[r]/dr = 0 of every kick."""
    theta, r, drift = form.theta, form.r, form.drift
    for piece, block in ((drift, theta), *((kick, r) for kick in form.kicks)):
        slope = _piece_drift(split, piece, block).slope(block)
        yield slope.vanishes(f"d f[{block.name}]/d{block.name} of {piece.name}")
    for block in (theta, r):
        curvature = _differentiate_position_drift(split, form).slope(block)
        yield curvature.vanishes(f"d^2 f[{theta.name}]/d{r.name} d{block.name} of {drift.name}")


def _differentiate_position_drift(split: Split, form: _Form) -> Quantity:
    """Return W = df[theta]/dr for the piece that moves theta."""
    piece = next(piece for piece in split.pieces if piece.name == form.drift.name)
    return _piece_drift(split, piece, form.theta).slope(form.r)


def _piece_drift(split: Split, piece: Piece, block: Block) -> Quantity:
    """Return the block's part of the drift f_k of a piece."""
    return drift_quantities(split, piece)[split.subject.names.index(block.name)]

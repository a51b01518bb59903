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

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from sympy import Expr

from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.entries import rows
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.derive.recipe import col_slots, derive, row_slots
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Filled, Role, Symbol
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.bind import replaced
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.model import Build, ByLaw, CodeMove, Involution, Metropolis, Move, Refresh, Steps
from recipe_compiler.spec.moves import over_a_period
from recipe_compiler.spec.words import letters
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor
from recipe_compiler.verdict import Answer, Proved, Undecided
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.core.identities import Identity, Scalars, faults_of
from recipe_compiler.verify.core.premises import restricts_state
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.moves.conjunction import is_shown, left_open, shown
from recipe_compiler.verify.moves.cycle import exact
from recipe_compiler.verify.moves.draw import drawn_blocks
from recipe_compiler.verify.moves.volume import is_regular
from recipe_compiler.verify.steps.split import Split, decided, split_of

KEPT = "every move preserves exp(-H) at every step size"
NOT_KEPT = f"not shown: {KEPT}, see exact"

_Word = tuple[Metropolis, tuple[Move, ...]]
"""A move with a word, and the draws after it."""


class _OtherFormError(Exception):
    """A cycle is not of the form for which it is known, and why."""


def irreducible(split: Split, stages: Stages) -> Answer:
    """Decide that exp(-H) is the only stationary law of a cycle, since every state is reached from every other.

    Shown for two forms. (1) A refresh r' = c r + N(0, (1 - c**2) S), and a word of one step that moves theta once,
    theta' = theta + eps W (r + ...) with a constant invertible W: theta' has a density that is positive everywhere
    (Tierney 1994, Thm. 1, Cor. 2); blocks that the word holds are drawn after it, or moved by the next move with it.
    (2) Every block is drawn, from laws that are positive on their whole domain (Roberts, Smith 1994). It rests on
    `exact`; that exp(-H) has a finite integral (Hobert, Casella 1996), and U a value and a gradient everywhere, are
    premises in the table of claims. Anything else is undecided: a fixed number of leapfrog steps may close its
    trajectories on a quadratic U.
    """
    if draws_in_a_row(split, stages.build):
        return _by_draws(split, stages)
    masked = bool(_mask(split))
    try:
        theta, r, drift, kicks, by = _form(split, stages.build)
        whole = _with_nothing_held(split, theta) if masked else split
        identities = list(_identities(split, theta, r, drift, kicks))
        identities += [_projected(split, whole, drift, (theta, r))] if masked else []
    except _OtherFormError as why:
        return Answer(Undecided((str(why),)))
    except ModelError as error:
        return Answer(Undecided(faults_of(error)))
    of_fields = f"{drift.name} moves {theta.name} by W {r.name} with a constant W, kicks depend on {theta.name} alone"
    kept = exact(split, stages)
    if not isinstance(kept.decision, Proved):
        return Answer(Undecided((NOT_KEPT,)))
    found = [(KEPT, kept), (of_fields, decided(split, identities))]
    if masked and restricts_state((stages.build.target.declared or stages.build.target).declarations):
        return Answer(Undecided(("an assumption restricts the target: fixed blocks may confine the others",)))
    if not is_shown(found):
        return Answer(Undecided(left_open(found)))
    of_all = _named(whole, drift)
    W = _slope(whole, of_all, theta, r)
    if not is_regular(whole, W, (theta, r), lambda sizes: slopes_at(whole, of_all, theta, r, sizes)):
        beside = " with nothing held fixed" if masked else ""
        return Answer(Undecided((f"not shown: d f[{theta.name}]/d{r.name} of {drift.name} is invertible{beside}",)))
    return shown(by, found)


def _mask(split: Split) -> str:
    """Return the name of P's diagonal in the equation that the word follows."""
    return split.scheme.use.parts[0].mask if split.scheme.use else ""


def _with_nothing_held(split: Split, theta: Block) -> Split:
    """Return the pieces of the equation in which P is the identity."""
    subject, mask = split.subject, _mask(split)
    dynamics = replaced(subject.whole, {mask: Filled(1, theta.shape)})
    return split_of(replace(subject, dynamics=dynamics, derivation=derive(dynamics), wide=None), split.scheme)


def _projected(split: Split, whole: Split, drift: Piece, of: tuple[Block, Block]) -> Identity:
    """Return W = diag(moved) W0, W0 being that of the equation in which nothing is held."""
    (theta, r), c, of_all = of, split.derivation.calculus, _named(whole, drift)
    mask = _mask(split)
    kept = c.multiply(c.component(mask, *row_slots(theta)), _slope(whole, of_all, theta, r))

    def entries(sizes: Sizes) -> list[Expr]:
        moved = rows(Symbol(mask, theta.shape, Role.PARAMETER), split.subject.setting(sizes))
        here, there = slopes_at(split, drift, theta, r, sizes), slopes_at(whole, of_all, theta, r, sizes)
        both = zip(moved, here, there, strict=True)
        return [x - m * y for (m,), row, other in both for x, y in zip(row, other, strict=True)]

    left = c.settled(c.subtract(_slope(split, drift, theta, r), kept))
    says = f"d f[{theta.name}]/d{r.name} of {drift.name} minus diag({mask}) times that with nothing held"
    return Identity(says, split.subject.place("H"), left, entries)


def _named(split: Split, piece: Piece) -> Piece:
    return next(own for own in split.pieces if own.name == piece.name)


def draws_in_a_row(split: Split, build: Build) -> bool:
    """Whether consecutive draws in a period of the cycle, with no word between them, draw every block."""
    return any(_draw_all(split, build, row) for _, row in _rows(split))


def _rows(split: Split) -> Iterator[tuple[Move | None, tuple[Move, ...]]]:
    """Yield the rows of draws of a period between one other move and the next, each after that; periods follow."""
    circle = over_a_period(split.scheme.cycle)
    others = [
        place for place, move in enumerate(circle) if isinstance(move, Metropolis | Steps | Involution | CodeMove)
    ]
    if not others:
        yield None, circle
    for place, following in zip(others, (*others[1:], *(w + len(circle) for w in others[:1])), strict=True):
        yield circle[place], (*circle, *circle)[place + 1 : following]


def _draw_all(split: Split, build: Build, moves: tuple[Move, ...]) -> bool:
    held = {block.name for block in potential_blocks(split.subject.dynamics)}
    drawn = {move.block for move in moves if isinstance(move, ByLaw)}
    refreshed = {move.block for move in moves if isinstance(move, Refresh)}
    others = {name for name in split.subject.names if name not in held}
    return bool(held) and {block.name for block in drawn_blocks(build.target)} <= drawn and others <= refreshed


def _by_draws(split: Split, stages: Stages) -> Answer:
    target = stages.build.target.declared or stages.build.target
    if restricts_state(split.subject.dynamics.declarations) or restricts_state(target.declarations):
        return Answer(
            Undecided(("an assumption restricts the state: the domain may be disconnected under block updates",))
        )
    kept = exact(split, stages)
    if not isinstance(kept.decision, Proved):
        return Answer(Undecided((NOT_KEPT,)))
    return shown("every block is drawn from a distribution that is positive on its whole domain", [(KEPT, kept)])


def _form(split: Split, build: Build) -> tuple[Block, Block, Piece, tuple[Piece, ...], str]:
    """Return theta, r, the piece that moves theta and those that kick r, and by what every state is reached."""
    declarations, scheme = split.subject.dynamics.declarations, split.scheme
    moves = [move for move in scheme.cycle if isinstance(move, Metropolis)]
    if not moves:
        raise _OtherFormError("decided only if all blocks are exact draws, or a Metropolis move takes the word")
    if len(declarations.blocks) != 2 or restricts_state(declarations):
        raise _OtherFormError("decided only for an unrestricted position and momentum")
    of_U = {name for f in declarations.functions if f.role == "potential" for name in f.of}
    theta = next((block for block in declarations.blocks if block.name in of_U), None)
    r = next((block for block in declarations.blocks if block.name not in of_U), None)
    if theta is None or r is None or any(b.domain.name is not DomainName.REAL for b in (theta, r)):
        raise _OtherFormError("decided only for a position and a momentum on the whole real line")
    if not any(isinstance(move, Refresh) and move.block == r.name for move in scheme.cycle):
        raise _OtherFormError(f"no move refreshes {r.name}: add `refresh: {r.name}`")
    if all(move.steps[0] != 1 for move in moves):
        least, most = moves[0].steps
        hint = f"try `uniform(1, {most})`"
        raise _OtherFormError(f"{least} or more steps: for quadratic U, trajectories may be periodic; {hint}")
    by = _reaching(split, build, theta, r)
    named, word = {piece.name: piece for piece in split.pieces}, [letter.piece for letter in letters(scheme.split)]
    drifts = [name for name in word if theta.name in named[name].moved]
    if len(drifts) != 1 or named[drifts[0]].moved != (theta.name,) or drifts[0] in split.numerical:
        raise _OtherFormError(
            f"decided only if exactly one letter of the word moves {theta.name}, and moves nothing else"
        )
    kicks = tuple(piece for name, piece in named.items() if name in word and name != drifts[0])
    if any(piece.is_noisy or piece.name in split.numerical for piece in (named[drifts[0]], *kicks)):
        raise _OtherFormError("decided only for a word of exact flows without noise")
    return theta, r, named[drifts[0]], kicks, by


def _reaching(split: Split, build: Build, theta: Block, r: Block) -> str:
    """Return by what every state is reached: moves with the word in a row, and the draws after each of them.

    Raises:
        _OtherFormError: none are known to.
    """
    cycle, every = split.scheme.cycle, [block.name for block in drawn_blocks(build.target)]
    around = _words_around(split, r)
    if not any(row for row in around):
        if any(isinstance(move, Involution | CodeMove) for move in cycle):
            raise _OtherFormError(f"decided only if {r.name} is refreshed directly before or after the word")
        raise _OtherFormError(f"{r.name} is refreshed less often than the word runs: trajectories may be periodic")
    runs = [[*takewhile(bool, (*around[k:], *around[:k]))] for k in range(len(around))]
    by = [_by_run([own for own in run if own], split, every) for run in runs]
    reached = [(moved, drawn) for moved, drawn in by if {*every} <= {*moved, *drawn}]
    if not reached and len(split.scheme.words) == 1:
        moved = split.scheme.moved(split.scheme.words[0])
        held = [name for name in every if moved is not None and name not in moved.blocks]
        raise _OtherFormError(f"the held blocks, {', '.join(held)}, are not all drawn between a word and the next move")
    if not reached:
        raise _OtherFormError(
            f"no consecutive moves, each sometimes of one step and beside a refresh of {r.name}, update all of "
            f"{', '.join(every)}"
        )
    moved, drawn = reached[0]
    named = ", ".join(moved) if _mask(split) else theta.name
    one = "one step reaches" if len(split.scheme.words) == 1 else "moves with the word reach"
    says = f"{one} every {named} from every other, as {r.name} is refreshed"
    late = [name for name in drawn if name not in moved] if _mask(split) else []
    return f"{says}, and {', '.join(late)} after it" if late else says


def _words_around(split: Split, r: Block) -> list[_Word | None]:
    """Return each move of a period that is no draw, with those after it; None where nothing is known of its reach.

    Known is that of a move of one step, or that may have one, with r drawn anew next to it, on either side.
    """

    def anew(row: tuple[Move, ...]) -> bool:
        return any(isinstance(own, Refresh) and own.block == r.name for own in row)

    found = list(_rows(split))
    around = zip((*found[-1:], *found[:-1]), found, strict=True)
    return [
        (move, after) if isinstance(move, Metropolis) and move.steps[0] == 1 and anew(before) and anew(after) else None
        for (_, before), (move, after) in around
    ]


def _by_run(run: Sequence[_Word], split: Split, every: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the blocks of the target that some words in a row move, and those that are drawn after them."""
    parts = [split.scheme.moved(move) for move, _ in run]
    moved = {name for part in parts for name in (every if part is None else part.blocks)}
    drawn = {own.block for _, row in run for own in row if isinstance(own, ByLaw)}
    return [name for name in every if name in moved], [name for name in every if name in drawn]


def _identities(split: Split, theta: Block, r: Block, drift: Piece, kicks: tuple[Piece, ...]) -> Iterator[Identity]:
    """Yield df[theta]/dtheta = 0 and d^2 f[theta]/dr dz = 0 of the drift, df[r]/dr = 0 of every kick."""
    c, where = split.derivation.calculus, split.subject.place("H")
    for piece, moved, by in ((drift, theta, theta), *((kick, r, r) for kick in kicks)):
        left = c.settled(_slope(split, piece, moved, by))
        says = f"d f[{moved.name}]/d{by.name} of {piece.name}"
        yield Identity(says, where, left, _slopes(split, piece, moved, by))
    W = _slope(split, drift, theta, r)
    for block in (theta, r):
        slots = tuple(Index(size, "k") for size in block.shape.sizes)
        left = c.settled(c.diff(W, Coordinate(block.name, slots)))
        says = f"d^2 f[{theta.name}]/d{r.name} d{block.name} of {drift.name}"
        yield Identity(says, where, left, _curvatures(split, drift, (theta, r), block))


def _slope(split: Split, piece: Piece, moved: Block, by: Block) -> Tensor:
    """Return df_i/dz_j of a piece, i of one block and j of another."""
    n = split.subject.names.index(moved.name)
    return split.derivation.calculus.diff(piece.drift[n], Coordinate(by.name, col_slots(by)))


def slopes_at(split: Split, piece: Piece, moved: Block, by: Block, sizes: Sizes) -> Rows:
    """Return df_i/dz_j of a piece at fixed sizes, n_moved x n_by scalars, by the second engine."""
    names, z, f = split.subject.names, split.z(sizes), split.drift(piece, sizes)
    rows, columns = (split.places(names.index(block.name), sizes) for block in (moved, by))
    return tuple(tuple(slope(off_kinks(f[i]), z[j]) for j in columns) for i in rows)


def _slopes(split: Split, piece: Piece, moved: Block, by: Block) -> Scalars:
    return lambda sizes: [x for row in slopes_at(split, piece, moved, by, sizes) for x in row]


def _curvatures(split: Split, piece: Piece, of: tuple[Block, Block], by: Block) -> Scalars:
    def entries(sizes: Sizes) -> list[Expr]:
        z = [split.z(sizes)[k] for k in split.places(split.subject.names.index(by.name), sizes)]
        return [slope(x, y) for row in slopes_at(split, piece, *of, sizes) for x in row for y in z]

    return entries

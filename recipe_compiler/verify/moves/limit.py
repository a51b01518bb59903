"""As eps goes to 0: do steps that nothing refuses leave a cycle the law exp(-H), beside moves that are never short?

A step of length eps moves z by eps L in the mean, and is off by eps**(p + 1), p its weak order. The other moves T of a
cycle are done at every step, however short. Where z moves on by P L P, P the mean over T, a chain takes 1/eps steps to
forget where it was, and errors of steps add up to eps**p. Where T forgets or undoes that mean, P L P = 0: momenta that
are drawn anew (all or part of them), a flip. Then it takes 1/eps**2 steps, of a flip 1/eps**3, and errors add up to
eps**(p - 1) or more: with p = 1 the law tends to another one. Of H = (theta**2 + r**2)/2 and the cycle "refresh r, B,
A" it is theta' = theta + eps (r - eps theta), var theta = 1/(2 - eps**2): 1/2 in the limit, not 1.

What is left at eps**2 is P L (I + T)(I - T)**-1 L P/2, which preserves exp(-H), and is not zero where T is a strict
contraction of what L makes of functions that T keeps: draws of blocks from their laws given the others, of momenta in
part too. Errors of steps of weak order 2 are smaller than that where it forgets all that the steps move: where brackets
carry noise, or what is drawn anew, to every block (Hoermander). What they do not reach, as (x, y) of x' = y psi(x, y)
beside momenta, keeps functions of its own, in which errors add up without end. A flip is no contraction. P L P leaves
nothing to smaller powers where steps have definite noise in all that they move, and the other moves leave that alone.
"""

from collections.abc import Sequence
from itertools import combinations

from recipe_compiler.derive.brackets import reach
from recipe_compiler.spec.model import Cir, Draw, Move, Refresh, Steps
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.definite import Definiteness, definiteness
from recipe_compiler.verdict import Answer, Proved, Undecided, undecided
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.moves.moved_parts import moved_parts
from recipe_compiler.verify.steps.order import bound_order
from recipe_compiler.verify.steps.split import Split

UNMIXED = (
    "not shown: noise, or what is drawn anew, reaches every block that the steps move, so that errors of the steps may "
    "add up in"
)
ENOUGH = 2
"""The weak order of steps beside blocks that are drawn anew."""


def decide_limit_of_cycle(cycle: Cycle, move: Move) -> Answer:
    """Decide that a cycle preserves exp(-H) as eps -> 0, although this move preserves it only in that limit.

    With L the generator of the move and P the mean over the others, T: proved beside moves that leave alone what it
    moves, if it has definite noise in all of that (P L P forgets in 1/eps steps); and beside draws and refreshes, where
    it is of weak order 2 in a build of all data (eps**2 P L (I + T) inv(I - T) L P/2 forgets in 1/eps**2 steps, and
    errors are eps**3 each) and noise, or what is refreshed, reaches all that it moves. Else undecided, where
    `refute_limit` may refute, as it does the cycle [refresh r, B, A] with H = (theta**2 + r**2)/2, Var theta = 1/(2 -
    eps**2).
    """
    split, noisy = cycle.split, _find_noisy_blocks(cycle.split)
    moved = {name for piece in split.used for name in piece.moved}
    own, mixes = moved_parts(cycle, move).keys(), isinstance(move, Cir) or moved <= noisy
    others = [(k, one) for k, one in enumerate(cycle.moves, 1) if not isinstance(one, Steps | Cir)]
    meeting = [(k, one) for k, one in others if not mixes or own & moved_parts(cycle, one).keys()]
    undoing = [(k, one) for k, one in meeting if not _is_independent_draw(one)]
    if undoing or (meeting and isinstance(move, Cir)):
        return _undecided_by_moves(undoing or meeting, "")
    if meeting and not cycle.build.has_exact_gradient:
        return _undecided_by_moves(meeting, " with minibatches")
    least = bound_order(split) if meeting else None
    if isinstance(least, Undecided):
        return Answer(least)
    if least is not None and least.order < ENOUGH:
        return _undecided_by_moves(meeting, f" of weak order {least.order}")
    random = noisy | {one.block for one in cycle.of_kind(Refresh)}
    still = () if mixes else moved - random - {step.block for step in reach(split.derivation, random)}
    if still:
        return undecided(f"{UNMIXED} {', '.join(sorted(still))}")
    if least is None:
        return Answer(Proved("no other move updates the same blocks"))
    return Answer(Proved(f"weak order {least.order}, with refreshes", least.given))


def _undecided_by_moves(meeting: Sequence[tuple[int, Move]], steps: str) -> Answer:
    """Return undecided, since the named moves may cancel the mean effect of the steps in each cycle."""
    moves = " and ".join(f"move {k}" for k, _ in meeting)
    reason = (
        f"{moves} may undo the mean effect of the steps{steps} in every cycle: what remains is of the order of their "
        "errors, and the invariant distribution need not tend to exp(-H)"
    )
    advice = "accept or reject them (`metropolis`), or combine a word of weak order 2 with refreshes and draws only"
    return undecided(f"{reason}; {advice}")


def _is_independent_draw(move: Move) -> bool:
    """Return whether a move replaces its block by a fresh draw (a refresh, or a draw without slices)."""
    return isinstance(move, Refresh) or (isinstance(move, Draw) and move.slices is None)


def _find_noisy_blocks(split: Split) -> frozenset[str]:
    """Return the blocks on which the word's noise is nonsingular; none where blocks share noise."""
    plain, every = calculus(split.subject.declarations), range(len(split.blocks))
    noise = [piece.D for piece in split.used if piece.is_noisy]
    if any(not D[n][m].is_zero for D in noise for n, m in combinations(every, 2)):
        return frozenset()
    places = {split.blocks[n].name: [plain.collect(D[n][n].terms, D[n][n].free) for D in noise] for n in every}
    return frozenset(
        name for name, own in places.items() if any(definiteness(plain, D) is Definiteness.DEFINITE for D in own)
    )

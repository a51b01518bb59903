"""How often does a step of a word evaluate the gradient, what is known being carried on?"""

from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.words import letters
from recipe_compiler.splitting.implicit import GENERALISED
from recipe_compiler.splitting.words import count_evaluations
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided, undecided

KICK, MOVE, POTENTIAL = "B", "A", "U"
"""The piece that takes the gradient, the one that moves the block it is of, and what the potential is called."""
BY = "counting where the word moves the potential's block between kicks"


def claimed_gradients(scheme: Scheme) -> Answer:
    """Decide how many times one step evaluates the gradient: once for each kick that finds the state has moved.

    Counted in a step that follows many others: BAOAB evaluates it once, since the last B of a step and the first B of
    the next see the same theta. Which piece takes the gradient follows from its name (B) or from what is stated of it
    (H: U); that only A moves its block is assumed. In a build the pieces themselves tell (`verify/steps/in_build.py`).
    """
    where = scheme.source.place("claims.gradients")
    kicks = (
        tuple(name for name, own in scheme.pieces if any(s.H is None or POTENTIAL in s.H for s in own))
        if scheme.pieces
        else (KICK,)
    )
    held = {letter.piece for letter in letters(scheme.split)}
    if MOVE not in held:
        tried = f"no piece is called {MOVE}: name the piece that moves the potential's block {MOVE}"
        return undecided(tried, where=where)
    if len(kicks) != 1:
        tried = f"found the pieces {', '.join(kicks) or 'none'} with {POTENTIAL}, expected one"
        return undecided(tried, where=where)
    if kicks[0] not in held:
        tried = f"no piece is called {kicks[0]}: name the piece that evaluates the gradient {kicks[0]}"
        return undecided(tried, where=where)
    given = (f"only {kicks[0]} evaluates the gradient, only {MOVE} moves its argument",)
    return Answer(count_gradients(scheme, kicks, (MOVE,), given), where=where)


def count_gradients(scheme: Scheme, kicks: tuple[str, ...], moves: tuple[str, ...], given: tuple[str, ...]) -> Decision:
    """Decide that a step evaluates grad U as often as claimed: once for each kick after theta has moved.

    Letters are read around the end of the step, as what the last kick knew is carried on: in [B/2, A/2, O, A/2, B/2]
    the first B follows the last, and the count is 1; in [A/2, B, A/2, B/2, O, B/2] it is 2, as the third B finds what
    the second left. Refuted by another count. Undecided where a piece takes the gradient and moves its block, or takes
    it within the flow `generalised`.

    Args:
        scheme: its word, its flows, and the number claimed.
        kicks: the pieces that take the gradient.
        moves: the pieces that move its block.
        given: what the answer takes for granted.
    """
    flows = dict(scheme.flows)
    for name in kicks:
        if name in moves:
            return Undecided((f"{name} evaluates the gradient and moves its argument: its flow decides how often",))
        if flows.get(name) == GENERALISED:
            return Undecided((f"{name} evaluates the gradient within the flow {GENERALISED}",))
    count = count_evaluations(scheme.split, kicks, moves)
    if count != scheme.claims.gradients:
        return Refuted(BY, (("gradients", str(count)),), given=given)
    return Proved(BY, given)

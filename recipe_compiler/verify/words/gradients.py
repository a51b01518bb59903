"""How often does a step of a word evaluate the gradient, what is known being carried on?"""

from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.words import letters
from recipe_compiler.splitting.words import gradients
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided

KICK, MOVE, POTENTIAL = "B", "A", "U"
"""The piece that takes the gradient, the one that moves the block it is of, and what the potential is called."""
BY = "where the word moves the block of the potential between kicks"


def claimed_gradients(scheme: Scheme) -> Answer:
    """Decide how often a kick finds that the gradient is not known at the newest state, in a step after many.

    Which piece takes the gradient is told by its name (B), or by what is stated of it (H: U); that none but A moves its
    block is taken as given.
    """
    where = scheme.source.place("claims.gradients")
    kicks = (
        tuple(name for name, own in scheme.pieces if any(s.H is None or POTENTIAL in s.H for s in own))
        if scheme.pieces
        else (KICK,)
    )
    held = {letter.piece for letter in letters(scheme.split)}
    if MOVE not in held:
        return Answer(
            Undecided((f"no piece of the word is called {MOVE}: what moves the potential's block?",)), where=where
        )
    if len(kicks) != 1:
        found = f"the pieces that hold {POTENTIAL} are {', '.join(kicks) or 'none'}: expected one"
        return Answer(Undecided((found,)), where=where)
    count = gradients(scheme.split, kicks[0], MOVE)
    given = (f"{kicks[0]} alone takes the gradient, {MOVE} alone moves what it is of",)
    if count != scheme.claims.gradients:
        return Answer(Refuted(BY, (("gradients", str(count)),), given=given), where=where)
    return Answer(Proved(BY, given), where=where)

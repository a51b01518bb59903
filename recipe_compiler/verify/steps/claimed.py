"""What a scheme claims of its word, decided of the pieces of a build: nothing is granted of their names."""

from recipe_compiler.program.atoms import names_of
from recipe_compiler.verdict import Answer, Undecided
from recipe_compiler.verify.steps.configurational import is_exact
from recipe_compiler.verify.steps.split import Split
from recipe_compiler.verify.words.gradients import counted
from recipe_compiler.verify.words.letters import claimed_order


def configurational_in(split: Split) -> Answer:
    """Decide that Cov theta = inv(K), [d, d], for quadratic U of Hessian K, in the draws where they are kept.

    As `is_exact`, of the pieces of a build (Leimkuhler, Matthews 2013).
    """
    return is_exact(split, split.scheme.word)


def order_claimed_in(split: Split) -> Answer:
    """Decide the weak order that a scheme claims of its word; which of its pieces have noise, those of a build tell."""
    return claimed_order(split.scheme, frozenset(piece.name for piece in split.pieces if piece.is_noisy))


def gradients_in(split: Split) -> Answer:
    """Decide how many times a step evaluates grad U, by which pieces take it and which move its block (`counted`).

    Pieces take it whose drift f_k holds U, and pieces move it that move the block of U; undecided where there is no
    potential.
    """
    dynamics = split.derivation.dynamics
    of = {name for f in dynamics.declarations.functions if f.name == dynamics.potential for name in f.of}
    if not of:
        return Answer(Undecided(("there is no potential",)))
    kicks = tuple(p.name for p in split.pieces if any(dynamics.potential in names_of(f) for f in p.drift))
    moves = tuple(p.name for p in split.pieces if of & {*p.moved})
    return Answer(counted(split.scheme, kicks, moves, ()))

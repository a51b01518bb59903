"""Has theta its own covariance under the steps of a word, where U is quadratic? Of Langevin dynamics, at every size."""

from collections.abc import Mapping

from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.words import Word, letter_text, letters
from recipe_compiler.splitting.configurational import find_counterexample, keeps_configurations, without_friction
from recipe_compiler.splitting.gradient_noise import NoiseRole
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided, undecided

ROLES: Mapping[str, NoiseRole] = {"A": NoiseRole.DRIFT, "B": NoiseRole.KICK, "O": NoiseRole.DECAY}
"""What the pieces do that follow from Langevin dynamics, by their names."""
BY = "between two O the word preserves diag(v, 1) (polynomials in eps omega): theta has the covariance of exp(-U)"
LANGEVIN = "A moves theta by W.T inv(M) r, B moves r by -W grad U, O moves r alone and keeps N(0, M)"
ON_LINE = "the distribution of its steps on the line, in rational numbers"


def claimed_configurational(scheme: Scheme) -> Answer:
    """Decide that the kept draws have Cov theta = inv(K) where exp(-U) has, for all K, M, C, stable steps and sizes d.

    For the pieces A, B and O of Langevin dynamics, by `splitting/configurational.py` (see the theory). BAOAB and
    ABOBA are exact (Leimkuhler, Matthews 2013). Refuted at d = 1, K = M = 1 by the law of the chain at a rational step
    size and friction: OBABO has omega**2 Var theta = 1/(1 - eps**2 omega**2/4).
    """
    where = scheme.source.place("claims.configurational")
    others = [name for name in dict.fromkeys(x.piece for x in letters(scheme.split)) if name not in ROLES]
    if scheme.pieces or scheme.flows or others:
        what = f"the letters {', '.join(others)}" if others else "stated pieces or flows"
        found = f"found {what}, expected A, B and O as they follow from Langevin dynamics, with exact flows"
        return undecided(found, "in a build, see `configurational` for its pieces", where=where)
    return Answer(exactness(scheme.word, ROLES, (LANGEVIN,)), where=where)


def exactness(word: Word, roles: Mapping[str, NoiseRole], given: tuple[str, ...]) -> Decision:
    """Decide that Cov theta = inv(K) under the steps of a word, U = theta.T K theta/2, at every size d.

    K and M are any positive definite [d, d] that need not commute, the friction is any, eps any step size at which the
    chain forgets its start. Proved by `keeps_configurations`, in polynomials of h = eps omega. Refuted at d = 1, K = M
    = 1 by the variance omega**2 Var theta != 1 of the chain at a rational h and exp(-gamma eps); without a letter O
    always, as det F = 1 and the word then has no law of its own. Undecided where a letter O has a negative share, and
    where neither is found. (Leimkuhler, Matthews 2013.)

    Worked, [O/2, B/2, A, B/2, O/2] with h = 1: between two letters O a pair (x, y) is moved by a = d = 1 - h**2/2 =
    1/2, b = h and c = -h (1 - h**2/4) = -3/4, so v = -b/c = 1/(1 - h**2/4) = 4/3 in the place of 1.

    Args:
        word: of kicks, drifts and letters of O.
        roles: of every piece in the word.
        given: what the answer takes for granted.
    """
    for place, letter in enumerate(letters(word), 1):
        if letter.share < 0 and roles[letter.piece] is NoiseRole.DECAY:
            return Undecided(
                (f"letter {place}, {letter_text(letter)}, has a negative share, impossible for a piece with noise",)
            )
    if keeps_configurations(word, roles):
        return Proved(BY, given)
    if not any(roles[letter.piece] is NoiseRole.DECAY for letter in letters(word)):
        return _refute_without_noise(word, roles)
    found = find_counterexample(word, roles)
    if found is None:
        return Undecided(("not for every friction; no step size was found at which the covariance differs",))
    over = "" if found.n == 1 else f"/{found.n}"
    witness = (
        ("eps omega", str(found.h)),
        (f"exp(-gamma eps{over})", str(found.decay)),
        ("omega^2 Var theta", str(found.variance)),
        ("expected", "1"),
    )
    return Refuted(ON_LINE, witness)


def _refute_without_noise(word: Word, roles: Mapping[str, NoiseRole]) -> Decision:
    """Return the refutation of a word without O: det F = 1, so many distributions are invariant."""
    variance = without_friction(word, roles)
    says = "no letter is an O: the word preserves volume and is not ergodic: its samples depend on the start"
    if variance is None:
        return Refuted(says, (("det F", "1"), ("expected", "below 1")))
    held = (("eps omega", "1"), ("omega^2 Var theta / Var r", str(variance)), ("expected", "1"))
    return Refuted(f"{says}; among the Gaussian distributions that it preserves", held)

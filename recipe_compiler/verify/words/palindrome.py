"""Is a word its own reverse? Then its step undoes itself with -eps, and its order is even."""

from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.words import letter_text, letters
from recipe_compiler.splitting.words import first_asymmetry
from recipe_compiler.verdict import Answer, Proved, Refuted


def claimed_palindrome(scheme: Scheme) -> Answer:
    """Decide that letter k equals letter m + 1 - k of m letters, in piece and share.

    With exact flows the step is then its own adjoint, Psi_eps = inv(Psi_-eps) where no piece has noise, and its order
    is even (Hairer, Lubich, Wanner 2006, Thm. II.3.2). Refuted by the first two letters that differ; never undecided.
    """
    where = scheme.source.place("claims.palindrome")
    place = first_asymmetry(scheme.split)
    if place is None:
        return Answer(Proved("letter by letter"), where=where)
    written = [letter_text(letter) for letter in letters(scheme.split)]
    mirrored = len(written) - 1 - place
    witness = tuple((f"letter {k + 1}", written[k]) for k in (place, mirrored))
    return Answer(Refuted("letter by letter", witness), where=where)

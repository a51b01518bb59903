"""What is claimed of a word and its letters alone decide, for every dynamics: shares, symmetry, weak order.

Is each piece moved for one step in all? Else another equation is integrated. Is the word its own reverse? Then its step
undoes itself with -eps, and its order is even.
"""

from fractions import Fraction
from math import factorial

from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.words import Word, letter_text, letters
from recipe_compiler.splitting.implicit import ORDER as IMPLICIT
from recipe_compiler.splitting.words import find_first_asymmetry, find_order, sum_shares
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided

BY = "coefficients in the free algebra of the pieces' generators"
SMOOTH = "the pieces are smooth, grow like polynomials at most, and are moved by their exact flows"
OF_ORDER_2 = f"{SMOOTH}, or by numerical ones of order {IMPLICIT}"


def check_shares(scheme: Scheme) -> Answer:
    """Decide that sum_m s_m = 1 over the letters of each piece, and that the word contains every stated piece.

    exp(s_1 eps L_1) ... exp(s_m eps L_m) is 1 + eps sum_k L_k + O(eps**2) if and only if that is so: otherwise another
    equation is integrated. Refuted by the shares that are not 1; never undecided.
    """
    found = {**dict.fromkeys(dict(scheme.pieces), 0), **sum_shares(scheme.split)}
    where = scheme.source.place("split")
    wrong = tuple((f"share of {name}", str(share)) for name, share in found.items() if share != 1)
    if wrong:
        return Answer(Refuted("the shares of each piece, added up", wrong), where=where)
    return Answer(Proved("the shares of each piece, added up"), where=where)


def claimed_palindrome(scheme: Scheme) -> Answer:
    """Decide that letter k equals letter m + 1 - k of m letters, in piece and share.

    With exact flows the step is then its own adjoint, Psi_eps = inv(Psi_-eps) where no piece has noise, and its order
    is even (Hairer, Lubich, Wanner 2006, Thm. II.3.2). Refuted by the first two letters that differ; never undecided.
    """
    return Answer(is_palindrome(scheme.split), where=scheme.source.place("claims.palindrome"))


def is_palindrome(word: Word) -> Decision:
    """Decide that a word is its own reverse; refuted by the first two letters that differ."""
    place = find_first_asymmetry(word)
    if place is None:
        return Proved("letter by letter")
    written = [letter_text(letter) for letter in letters(word)]
    mirrored = len(written) - 1 - place
    return Refuted("letter by letter", tuple((f"letter {k + 1}", written[k]) for k in (place, mirrored)))


def claimed_order(scheme: Scheme, noisy: frozenset[str] | None = None) -> Answer:
    """Decide that exp(s_1 eps L_1) ... exp(s_m eps L_m) equals exp(eps (L_1 + L_2 + ...)) up to eps**p, p as claimed.

    Compared are the coefficients of all products of up to p generators, rational numbers: that of L_i1 ... L_ik must be
    1/k!. The word then has weak order p for every dynamics with smooth pieces of polynomial growth (Talay, Tubaro
    1990). If a coefficient differs, some dynamics have a lower order: dz = X_k z dt with matrices X_k of which products
    of up to p + 1 are independent (Blanes, Casas 2016, Sec. 2). Numerical flows agree with exact ones up to eps**2;
    beyond that it is undecided.

    Example: [A/2, B, A/2] has A A: 1/8 + 1/4 + 1/8 = 1/2, A B: 1/2, B A: 1/2, B B: 1/2, order 2. [A, B] has A B: 1 in
    the place of 1/2, and is refuted if order 2 is claimed.

    Args:
        scheme: with the claim.
        noisy: the pieces with noise; None where no build says it, and then O is where no pieces are stated. Of those
            that go back there is no step, and the claim is undecided.
    """
    where = scheme.source.place("claims.order")
    return Answer(_decide_order(scheme, scheme.claims.order or 0, noisy), where=where)


def _decide_order(scheme: Scheme, claimed: int, noisy: frozenset[str] | None) -> Decision:
    """Return whether the word has the claimed order, with the first wrong product of generators if not."""
    own, flows = find_order(scheme.split, claimed), ", ".join(name for name, _ in scheme.flows)
    if own.wrong and not (flows and own.order >= IMPLICIT):
        pieces, defect = own.wrong[0]
        right, product = Fraction(1, factorial(len(pieces))), " ".join(pieces)
        off = ((f"coefficient of {product}", str(right + defect)), ("expected", str(right)))
        return Refuted(BY, (("weak order", str(own.order)), *off), f"{defect} eps**{len(pieces)} {product}")
    if flows and claimed > IMPLICIT:
        return Undecided((f"the numerical flows of {flows} have order {IMPLICIT}: a higher order is not decided",))
    if own.order < claimed:
        too_many = f"products of more than {own.order} generators are too many"
        return Undecided((f"{BY}: order {own.order} at least; {too_many}",))
    backward = dict.fromkeys(letter.piece for letter in letters(scheme.split) if letter.share < 0)
    known = frozenset("O") if noisy is None and not scheme.pieces else noisy or frozenset()
    if known & backward.keys():
        names = ", ".join(sorted(known & backward.keys()))
        return Undecided((f"{names} has noise and a negative share in the word, which is impossible",))
    no_noise = [f"{name} has no noise (its share is negative)" for name in backward if noisy is None]
    data = tuple((f"share of {name}", str(share)) for name, share in sum_shares(scheme.split).items())
    return Proved(BY, (OF_ORDER_2 if flows else SMOOTH, *no_noise), data)

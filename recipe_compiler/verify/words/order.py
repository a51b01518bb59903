"""Has a word the weak order that is claimed of it, for every dynamics?"""

from fractions import Fraction
from math import factorial

from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.words import letters
from recipe_compiler.splitting.implicit import ORDER as IMPLICIT
from recipe_compiler.splitting.words import order, shares
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided

BY = "coefficients in the free algebra of the pieces' generators"
SMOOTH = "the pieces are smooth, grow like polynomials at most, and are moved by their exact flows"
OF_ORDER_2 = f"{SMOOTH}, or by numerical ones of order {IMPLICIT}"


def claimed_order(scheme: Scheme) -> Answer:
    """Decide that exp(s_1 eps L_1) ... exp(s_m eps L_m) equals exp(eps (L_1 + L_2 + ...)) up to eps**p, p as claimed.

    Compared are the coefficients of all products of up to p generators, rational numbers: that of L_i1 ... L_ik must be
    1/k!. The word then has weak order p for every dynamics with smooth pieces of polynomial growth (Talay, Tubaro
    1990). If a coefficient differs, some dynamics have a lower order: dz = X_k z dt with matrices X_k of which products
    of up to p + 1 are independent (Blanes, Casas 2016, Sec. 2). Numerical flows agree with exact ones up to eps**2;
    beyond that it is undecided.

    Example: [A/2, B, A/2] has A A: 1/8 + 1/4 + 1/8 = 1/2, A B: 1/2, B A: 1/2, B B: 1/2, order 2. [A, B] has A B: 1 in
    the place of 1/2, and is refuted if order 2 is claimed.
    """
    claimed, where = scheme.claims.order or 0, scheme.source.place("claims.order")
    own = order(scheme.split, claimed)
    if own.wrong and not (scheme.flows and own.order >= IMPLICIT):
        pieces, defect = own.wrong[0]
        right = Fraction(1, factorial(len(pieces)))
        product = " ".join(pieces)
        witness = (
            ("weak order", str(own.order)),
            (f"coefficient of {product}", str(right + defect)),
            ("expected", str(right)),
        )
        return Answer(Refuted(BY, witness, f"{defect} eps**{len(pieces)} {product}"), where=where)
    if scheme.flows and claimed > IMPLICIT:
        names = ", ".join(name for name, _ in scheme.flows)
        tried = f"the flows stated of {names} are of order {IMPLICIT}: beyond it the letters alone decide nothing"
        return Answer(Undecided((tried,)), where=where)
    if own.order < claimed:
        tried = f"{BY}: order {own.order} at least; products of more than {own.order} generators are too many"
        return Answer(Undecided((tried,)), where=where)
    backward = dict.fromkeys(letter.piece for letter in letters(scheme.split) if letter.share < 0)
    given = (OF_ORDER_2 if scheme.flows else SMOOTH, *(f"{name} has no noise: it goes back" for name in backward))
    data = tuple((f"share of {name}", str(share)) for name, share in shares(scheme.split).items())
    return Answer(Proved(BY, given, data), where=where)

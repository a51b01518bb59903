"""Upper bounds of L W by c (1 + W), term by term: what W outweighs, or what is negative in L W itself.

A product of powers is at most a small share of sum_b |z_b|**g_b plus a constant where its share sum_b s_b / g_b is
below 1, and a multiple of it where that is 1 (weighted inequality of the means). y . X is at most C |y|**2 + k |X|**2,
for every k > 0: it is outweighed where L W holds a negative multiple of |X|**2. What abstract functions make of it, and
is not seen to be bounded, is named as a premise.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from recipe_compiler.tensor.atoms import Factor, indices
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor, Term
from recipe_compiler.verify.infinity.growth import Growth, Terms
from recipe_compiler.verify.integrability.growth import confinement

SOME = " for some c"
"""How a premise about growth ends."""
ONE, TWO = Fraction(1), Fraction(2)


@dataclass(frozen=True, slots=True)
class Weight:
    """What 1 + W is at least a positive multiple of: sum_b |z_b|**degrees[b], and `says`, for premises."""

    degrees: Mapping[str, Fraction]
    says: str
    logarithm: bool = False
    """Whether one logarithm may stand beside the largest powers: W = log(1 + |z|**2) then does it."""


@dataclass(slots=True)
class Bound:
    """Terms not shown to be at most c (1 + W), what is taken for granted of abstract functions, and a logarithm."""

    open: list[str] = field(default_factory=list[str])
    premises: list[str] = field(default_factory=list[str])
    logarithm: bool = False


def bound(terms: Terms, parts: Sequence[Tensor], weight: Weight) -> Bound:
    """Return how L W compares with c (1 + W), W a sum of positive multiples of functions and `parts` the L of each."""
    every = [term for part in parts for term in part.terms]
    falling = [term for term in every if terms.is_nonnegative(_negative(term))]
    rising = [term for term in every if term not in falling]
    stronger = _strengthened(terms, weight, falling)
    covered = frozenset(block for _, block in terms.c.rules.depends)
    found = Bound()
    abstract: list[Term] = []
    for term in rising:
        if _is_outweighed(terms, term, weight, stronger, found) or _is_compensated(terms, term, weight, falling):
            continue
        if not terms.blocks(term.factors) & covered or terms.is_steep(term.factors):
            found.open.append(text(_alone(terms, term)))
            continue
        moving = [f for f in term.factors if terms.blocks([f]) and not terms.blocks([f]) & covered]
        share = _share(terms.growth(moving), weight.degrees)
        if not moving:
            abstract.append(term)
        elif share is not None and share <= Fraction(1, 2):
            found.premises.append(_at_most(_square_of_rest(terms, term, moving), weight))
        else:
            found.open.append(text(_alone(terms, term)))
    whole = terms.c.collect(abstract, ())
    if abstract and not any(terms.is_abstract(term.factors) for term in abstract):
        found.open.append(text(whole))
    elif abstract:
        found.premises.append(_at_most(whole, weight))
    return found


def _at_most(tensor: Tensor, weight: Weight) -> str:
    return f"{text(tensor)} <= c ({weight.says}){SOME}"


def _alone(terms: Terms, term: Term) -> Tensor:
    return terms.c.collect([term], ())


def _negative(term: Term) -> Term:
    return Term(-term.coefficient, term.factors)


def _strengthened(terms: Terms, weight: Weight, falling: Sequence[Term]) -> Mapping[str, Fraction]:
    """Return the degrees of c (1 + W) - L W: those of W, or of what falls in L W, the larger ones."""
    found = dict(weight.degrees)
    for block in terms.unbounded:
        own = tuple(_negative(t) for t in falling if terms.blocks(t.factors) == frozenset({block.name}))
        confined = confinement(terms.c, terms.declarations, block, own)
        if confined is not None:
            found[block.name] = max(found.get(block.name, Fraction(0)), confined.degree)
    return found


def _share(growth: Growth | None, degrees: Mapping[str, Fraction]) -> Fraction | None:
    share = None if growth is None else growth.share(degrees)
    return None if share is None or growth is None or (growth.logs and share == 1) else share


def _is_outweighed(terms: Terms, term: Term, weight: Weight, stronger: Mapping[str, Fraction], found: Bound) -> bool:
    """Whether a term is at most c (1 + W), or less than what falls in L W."""
    falls = terms.falls_with_logarithm(term)
    growth = terms.growth(f for f in term.factors if f is not falls)
    if growth is None:
        return False
    by_W, by_both = growth.share(weight.degrees), growth.share(stronger)
    if by_both is not None and by_both < 1:
        return True
    if by_W == 1 and growth.logs <= (1 if weight.logarithm else 0):
        found.logarithm = found.logarithm or growth.logs == 1
        return True
    return False


def _is_compensated(terms: Terms, term: Term, weight: Weight, falling: Sequence[Term]) -> bool:
    """Whether a term is y . X with |y|**2 at most c (1 + W), and a negative multiple of |X|**2 falls."""
    for factor in term.factors:
        atom, exponent = factor
        if not isinstance(atom, Coordinate) or exponent != 1 or weight.degrees.get(atom.block, ONE) < TWO:
            continue
        square = _square_of_rest(terms, term, [factor])
        if square.terms and all(any(_holds(other, part) for other in falling) for part in square.terms):
            return True
    return False


def _holds(falling: Term, part: Term) -> bool:
    return part.coefficient > 0 and falling.coefficient < 0 and falling.factors == part.factors


def _square_of_rest(terms: Terms, term: Term, own: Iterable[Factor]) -> Tensor:
    """Return |X|**2 of a term `own . X`: X has the indices that it shares with `own`."""
    listed = list(own)
    rest = tuple(f for f in term.factors if f not in listed)
    shared = tuple(sorted(indices(listed) & indices(rest), key=lambda index: index.label))
    named = {index: Index(index.size, f"y{k}") for k, index in enumerate(shared)}
    x = terms.c.rename(Tensor(shared, (Term(ONE, rest),)), dict(named))  # named first: bound labels may be the same
    return terms.c.total(terms.c.multiply(x, x), *named.values())

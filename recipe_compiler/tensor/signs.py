"""Which expressions are positive or nonnegative wherever they are defined, on the declared domain, for every size.

Signs are read off structure: sums of nonnegative terms, products of nonnegative factors, even powers, functions with
positive values, names with declared signs. A fractional power is defined for nonnegative bases only, so it is
nonnegative itself. What no rule covers is unknown.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations

from recipe_compiler import limits
from recipe_compiler.formula.elementwise import named
from recipe_compiler.tensor.atoms import Factor, indices, moved
from recipe_compiler.tensor.rules import Rules
from recipe_compiler.tensor.terms import (
    Applied,
    Base,
    Component,
    Coordinate,
    Delta,
    Index,
    MatrixFunction,
    Pi,
    SizeNumber,
    Tensor,
    Term,
)

ZERO = Fraction(0)
_POSITIVE = named(lambda row: row.positive)


def is_positive(rules: Rules, tensor: Tensor) -> bool:
    """Whether every value is > 0: all terms are nonnegative, and one is positive (and no sum that may be empty).

    1 + x_i**2 is, by the 1. What is assumed counts, too: with a - b > 0 assumed, 2 a - 2 b + x**2 is positive, being
    twice the assumption plus a nonnegative term. False says nothing.
    """
    return _is_sum_nonnegative(rules, tensor.terms, strictly=True) or _follows_from_assumption(
        rules, tensor, strictly=True
    )


def is_nonnegative(rules: Rules, tensor: Tensor) -> bool:
    """Whether every value is >= 0, term by term or by an assumption as in `is_positive`: sum_i x_i**2.

    False says nothing.
    """
    return all(
        _is_term_nonnegative(rules, term, strictly=False) or (not tensor.free and _is_square(rules, term))
        for term in tensor.terms
    ) or _follows_from_assumption(rules, tensor, strictly=False)


def factor_is_nonnegative(rules: Rules, factor: Factor) -> bool:
    """Whether a power of an atom is >= 0 wherever it is defined: x**2 is, and x**(1/2).

    So are x and x**3 if x is declared nonnegative.
    """
    return _is_factor_nonnegative(rules, factor, strictly=False)


def factor_is_positive(rules: Rules, factor: Factor) -> bool:
    """Whether a power of an atom is > 0 wherever it is defined: exp(x) is; x**(-2), which has no value at 0, too."""
    return _is_factor_nonnegative(rules, factor, strictly=True)


def _is_sum_nonnegative(rules: Rules, terms: Iterable[Term], *, strictly: bool) -> bool:
    """Whether a sum of terms is >= 0 term by term; > 0 if `strictly`."""
    listed = tuple(terms)
    if not all(_is_term_nonnegative(rules, term, strictly=False) for term in listed):
        return False
    return not strictly or any(_is_term_nonnegative(rules, term, strictly=True) for term in listed)


def _follows_from_assumption(rules: Rules, tensor: Tensor, *, strictly: bool) -> bool:
    """Whether it is a positive multiple of a scalar that is assumed to have a sign, plus nonnegative terms."""
    own = {term.factors: term.coefficient for term in tensor.terms}
    for known, positive in rules.assumed:
        shares = {own.get(term.factors, ZERO) / term.coefficient for term in known.terms}
        for share in sorted(share for share in shares if share > 0):
            rest = dict(own)
            for term in known.terms:
                rest[term.factors] = rest.get(term.factors, ZERO) - share * term.coefficient
            left = [Term(coefficient, factors) for factors, coefficient in rest.items() if coefficient]
            if _is_sum_nonnegative(rules, left, strictly=strictly and not positive):
                return True
    return False


def _is_term_nonnegative(rules: Rules, term: Term, *, strictly: bool) -> bool:
    """Whether a term is >= 0, by its coefficient and factors; > 0 if `strictly`."""
    return term.coefficient > 0 and all(
        _is_factor_nonnegative(rules, factor, strictly=strictly) for factor in term.factors
    )


def _is_square(rules: Rules, term: Term) -> bool:
    """Whether a sum over all its indices is a positive one of squares: sum_j w_j (sum_i A_ji x_i)**2 for w_j >= 0.

    Some indices change places with others, i with k in x_i A_ji A_jk x_k, and the product stays what it is; no factor
    has one of both kinds. What has neither, w_j, is not negative.
    """
    bound = sorted(indices(term.factors), key=repr)
    if term.coefficient <= 0 or len(bound) > limits.EXCHANGED:
        return False
    for first, second in _exchanges(bound):
        places = [({*first} & own, {*second} & own) for own in (indices((factor,)) for factor in term.factors)]
        swap = dict(zip((*first, *second), (*second, *first), strict=True))
        if (
            not any(all(own) for own in places)
            and Counter((moved(atom, swap), exponent) for atom, exponent in term.factors) == Counter(term.factors)
            and all(any(own) or factor_is_nonnegative(rules, f) for own, f in zip(places, term.factors, strict=True))
        ):
            return True
    return False


def _exchanges(bound: Sequence[Index]) -> Iterator[tuple[tuple[Index, ...], tuple[Index, ...]]]:
    """Yield some indices and as many others, of the same sizes."""
    for n in range(1, len(bound) // 2 + 1):
        for chosen in permutations(bound, 2 * n):
            if all(a.size == b.size for a, b in zip(chosen[:n], chosen[n:], strict=True)):
                yield chosen[:n], chosen[n:]


def _is_factor_nonnegative(rules: Rules, factor: Factor, *, strictly: bool) -> bool:
    """Whether a power of an atom is >= 0 where it is defined; > 0 if `strictly`."""
    atom, exponent = factor
    if exponent < 0:  # where it is defined, what is nonnegative is positive
        strictly = False
    if _is_even(exponent) and not strictly:
        return True
    if exponent.denominator != 1 and not strictly:  # a fractional power is defined for nonnegative bases only
        return True
    match atom:
        case SizeNumber() | Pi():
            return True
        case Coordinate(name, _) | Component(name, _, ()):
            return name in (rules.positive if strictly else rules.nonnegative)
        case Applied(fn, _):
            return fn in _POSITIVE or (fn == "abs" and not strictly)
        case Base(arg):
            return is_positive(rules, arg) if strictly else is_nonnegative(rules, arg)
        case Delta():
            return not strictly
        case MatrixFunction("det", of):
            return _is_declared_definite(rules, of.entry)
        case MatrixFunction("cholesky", _, (row, col)):
            return row == col
        case _:
            return False


def _is_declared_definite(rules: Rules, entry: Tensor) -> bool:
    """Whether a matrix is a positive multiple of one declared definite."""
    match entry.terms:
        case (Term(coefficient, ((Component(name, _, ()), exponent),)),):
            return coefficient > 0 and exponent == 1 and name in rules.definite
        case _:
            return False


def _is_even(exponent: Fraction) -> bool:
    """Whether an exponent is an even integer."""
    return exponent.denominator == 1 and exponent.numerator % 2 == 0

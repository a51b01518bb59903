"""Logarithms of shares without loss: log(sigmoid(u)) as -softplus(-u), log(1 - sigmoid(u)) as -softplus(u).

As written, log(1 - v) of a share v that is rounded to 1 is -inf, and so is log(w) of one of many shares that is too
small for a double: these get an array of their logarithms. Only what draws compute is rewritten; reading them back
compares it with the law as stated.
"""

from collections.abc import Mapping
from fractions import Fraction

from recipe_compiler.tensor.terms import Applied, Atom, Base, Coordinate, Tensor, Term

ONE = Fraction(1)


def logs_of_shares(tensor: Tensor) -> Tensor:
    """Return a tensor with logarithms of shares rewritten where they are factors of terms."""
    return Tensor(tensor.free, tuple(map(_rewritten, tensor.terms)))


def _rewritten(term: Term) -> Term:
    coefficient, factors = term.coefficient, list(term.factors)
    for place, (atom, exponent) in enumerate(factors):
        softplus = _softplus(atom) if exponent == 1 else None
        if softplus is not None:
            coefficient, factors[place] = -coefficient, (softplus, ONE)
    return Term(coefficient, tuple(factors))


def _softplus(atom: Atom) -> Atom | None:
    """Return s of log(...) = -s, None of what is no logarithm of sigmoid(u) or 1 - sigmoid(u)."""
    match atom:
        case Applied("log", (Tensor(_, (Term(coefficient, ((Applied("sigmoid", (u,)), power),)),)),)):
            return Applied("softplus", (_negative(u),)) if coefficient == power == 1 else None
        case Applied("log", (Tensor(_, (first, second)),)):
            pairs = ((first, second), (second, first))
            return next((found for one, other in pairs if (found := _of_rest(one, other)) is not None), None)
        case _:
            return None


def _of_rest(one: Term, other: Term) -> Atom | None:
    """Return softplus(u) where two terms are 1 and -sigmoid(u)."""
    match one, other:
        case Term(whole, ()), Term(coefficient, ((Applied("sigmoid", (u,)), power),)):
            return Applied("softplus", (u,)) if whole == power == 1 and coefficient == -1 else None
        case _:
            return None


def logs_of_many(tensor: Tensor, arrays: Mapping[str, str]) -> Tensor:
    """Return a tensor with logarithms of shares of blocks replaced by entries of arrays, at every depth."""
    terms = (
        Term(term.coefficient, tuple((_logarithm(atom, arrays), exponent) for atom, exponent in term.factors))
        for term in tensor.terms
    )
    return Tensor(tensor.free, tuple(terms))


def _logarithm(atom: Atom, arrays: Mapping[str, str]) -> Atom:
    match atom:
        case Applied("log", (Tensor(_, (Term(coefficient, ((Coordinate(block, at), power),)),)),)) if (
            block in arrays and coefficient == power == 1
        ):
            return Coordinate(arrays[block], at)
        case Applied(fn, args):
            return Applied(fn, tuple(logs_of_many(arg, arrays) for arg in args))
        case Base(arg):
            return Base(logs_of_many(arg, arrays))
        case _:
            return atom


def _negative(u: Tensor) -> Tensor:
    return Tensor(u.free, tuple(Term(-term.coefficient, term.factors) for term in u.terms))

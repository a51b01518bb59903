"""Logarithms of sums of exponentials: how fast log(sum_k p_k exp(a_k)) grows, for positive p_k that are constants.

It lies between log(p_1) + a_1 and log(sum_k p_k) + max_k a_k, so its absolute value is at most C + max_k |a_k|.
"""

from fractions import Fraction

from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.tensor.atoms import Factor
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.signs import factor_is_nonnegative, factor_is_positive, is_nonnegative
from recipe_compiler.tensor.terms import Applied, Tensor, Term

ONE = Fraction(1)


def bounding(c: Calculus, term: Term) -> tuple[Term, ...]:
    """Return terms, whatever their signs, that grow as fast as a term may fall; itself where it has no such log.

    |K log(sum_k p_k exp(a_k))| is at most |K| (C + sum of the terms of all a_k). For negative K, terms of a_k that
    are never positive only help: log(sum_k p_k exp(a_k - q_k)) <= log(sum_k p_k exp(a_k)) for q_k >= 0.
    """
    logs = [factor for factor in term.factors if _is_log(factor)]
    rest = tuple(factor for factor in term.factors if factor not in logs)
    atom = logs[0][0] if len(logs) == 1 else None
    found = exponents(c, atom.args[0]) if isinstance(atom, Applied) else None
    if found is None:
        return (term,)
    falls = term.coefficient < 0 and all(factor_is_nonnegative(c.rules, factor) for factor in rest)
    kept = [t for t in found if not falls or not is_nonnegative(c.rules, _one(Term(-t.coefficient, t.factors)))]
    return (Term(ONE, rest), *(Term(ONE, (*rest, *t.factors)) for t in kept))


def exponents(c: Calculus, arg: Tensor) -> tuple[Term, ...] | None:
    """Return the terms of all exponents of a sum of exponentials with positive constants before them; else None."""
    found: list[Term] = []
    for term in arg.terms:
        own = [factor for factor in term.factors if _is_exponential(factor)]
        rest = tuple(factor for factor in term.factors if factor not in own)
        constant = not blocks_in(c, _one(Term(ONE, rest)))
        if term.coefficient <= 0 or not constant or not all(factor_is_positive(c.rules, factor) for factor in rest):
            return None
        found += [inner for atom, _ in own if isinstance(atom, Applied) for inner in atom.args[0].terms]
    return tuple(found)


def _one(term: Term) -> Tensor:
    return Tensor((), (term,))


def _is_log(factor: Factor) -> bool:
    atom, power = factor
    return isinstance(atom, Applied) and atom.fn == "log" and power == 1


def _is_exponential(factor: Factor) -> bool:
    atom, power = factor
    return isinstance(atom, Applied) and atom.fn == "exp" and power == 1

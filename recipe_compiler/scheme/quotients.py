"""Quotients of exponentials without overflow: exp(a)/sum_m p_m exp(b_m) as 1/sum_m p_m exp(b_m - a).

The gradient of a log-sum-exp is such a quotient. As written, numerator and denominator exceed the doubles where an
exponent passes 709; as rewritten, an exponential that overflows makes a quotient of 0, which is its value.
"""

from fractions import Fraction

from recipe_compiler.program.atoms import names_of
from recipe_compiler.tensor.atoms import Factor, occurring
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.signs import is_positive
from recipe_compiler.tensor.terms import Applied, Base, Tensor, Term

ONE = Fraction(1)


def without_overflow(c: Calculus, tensor: Tensor) -> Tensor:
    """Return the tensor with each such quotient rewritten, every p_m being positive wherever it is defined.

    The result equals the tensor exactly; it is meant to be computed, and is not in canonical form.

    exp(a)/(exp(a) + exp(b)) becomes 1/(1 + exp(b - a)).
    """
    return Tensor(tensor.free, tuple(_rewritten(c, term) for term in tensor.terms))


def _rewritten(c: Calculus, term: Term) -> Term:
    exponentials = [factor for factor in term.factors if _exponent(factor) is not None]
    base = next((factor for factor in term.factors if _is_divisor(c, factor, exponentials)), None)
    if base is None or not exponentials or not isinstance(base[0], Base):
        return term
    above = _sum_of_exponents(c, exponentials)
    summands = tuple(_divided(c, summand, above) for summand in base[0].arg.terms)
    free = sorted_indices((*base[0].arg.free, *above.free))
    kept = tuple(factor for factor in term.factors if factor != base and factor not in exponentials)
    return Term(term.coefficient, (*kept, (Base(occurring(Tensor(free, summands))), -ONE)))


def _exponent(factor: Factor) -> Tensor | None:
    """Return a of exp(a)."""
    atom, power = factor
    return atom.args[0] if isinstance(atom, Applied) and atom.fn == "exp" and power == 1 else None


def _sum_of_exponents(c: Calculus, exponentials: list[Factor]) -> Tensor:
    return c.add(c.zero(), *(a for a in map(_exponent, exponentials) if a is not None))


def _is_divisor(c: Calculus, factor: Factor, exponentials: list[Factor]) -> bool:
    """Whether a factor is 1/(a sum of positive terms that speaks of all that the exponents speak of)."""
    atom, power = factor
    if not isinstance(atom, Base) or power != -1:
        return False
    spoken_of = names_of(Tensor((), (Term(ONE, tuple(exponentials)),)))
    positive = all(is_positive(c.rules, Tensor(atom.arg.free, (summand,))) for summand in atom.arg.terms)
    return positive and spoken_of <= names_of(atom.arg)


def _divided(c: Calculus, summand: Term, above: Tensor) -> Term:
    """Return a term of the sum, divided by exp(above)."""
    own = [factor for factor in summand.factors if _exponent(factor) is not None]
    left = tuple(factor for factor in summand.factors if factor not in own)
    exponent = c.subtract(_sum_of_exponents(c, own), above)
    if exponent.is_zero:
        return Term(summand.coefficient, left)
    return Term(summand.coefficient, (*left, (Applied("exp", (occurring(exponent),)), ONE)))

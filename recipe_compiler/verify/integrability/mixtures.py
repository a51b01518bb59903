"""Mixtures: energies `-K log(sum_k T_k)`, decided component by component.

For K > 0 and T_k >= 0 the power (sum_k T_k)**K lies between the largest T_k**K and a multiple of their sum. So the
integral of `(sum_k T_k)**K exp(-R)` is finite if and only if that of every `T_k**K exp(-R)` is.
"""

from fractions import Fraction

from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.functions import inside_logarithm
from recipe_compiler.tensor.signs import is_nonnegative, is_positive
from recipe_compiler.tensor.terms import Applied, Tensor, Term

MANY = 16
"""More components are not looked at."""


def components(c: Calculus, energy: Tensor) -> tuple[Tensor, ...]:
    """Return the energies of the components, each of which needs a finite integral; none where there is no mixture.

    Only one mixture of exponentials is taken apart: what is left may hold another one.
    """
    for term in energy.terms:
        found = _mixture(c, term)
        if found is None:
            continue
        factor, arg = found
        rest = c.subtract(energy, Tensor((), (term,)))
        logs = (c.applied("log", Tensor((), (one,))) for one in arg.terms)
        return tuple(c.add(rest, c.multiply(factor, log)) for log in logs)
    return ()


def _mixture(c: Calculus, term: Term) -> tuple[Tensor, Tensor] | None:
    """Return -K and the sum of `-K log(sum)` with constant K > 0 and nonnegative summands, exponentials among them."""
    logs = [(factor, u) for factor in term.factors if (u := inside_logarithm(c, factor[0])) is not None]
    if len(logs) != 1 or logs[0][0][1] != 1 or logs[0][1].free:
        return None
    log, arg = logs[0]
    rest = tuple(factor for factor in term.factors if factor != log)
    factor = c.collect([Term(term.coefficient, rest)], ())
    exponential = any(isinstance(inner, Applied) and inner.fn == "exp" for inner in everywhere(arg))
    summands = 1 < len(arg.terms) <= MANY and is_nonnegative(c.rules, arg)
    return (factor, arg) if exponential and summands and is_positive(c.rules, c.scale(factor, Fraction(-1))) else None

"""The terms of a claimed update: which of them are noise, and which power of eps is the step size of all of them."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from recipe_compiler.formula.build import parts
from recipe_compiler.formula.expression import Apply, Formula, MatMul, Multiply, Normal, Role, Symbol, Transpose
from recipe_compiler.formula.orders import ONE, orders, terms_of


def unit_of(update: Sequence[Formula]) -> Fraction:
    """Return the power of eps that is the step size: 1, or that of all noise and drift, where no term has a lower one.

    `theta - eps**2/2*grad(U, theta) + eps*N(0, I)` is a step of size eps**2. A drift of order eps beside noise of
    covariance eps**2 has no such power, and is judged as it is written.
    """
    powers = [(orders(term), is_noise(term)) for formula in update for term in terms_of(formula)]
    noise = [2 * min(own) for own, noisy in powers if noisy and own]
    unit = min(noise, default=ONE)
    if unit <= ONE or any(not own for own, _ in powers):
        return ONE
    others = [power for own, noisy in powers if not noisy for power in own or () if power != 0]
    return unit if min(others, default=unit) >= unit else ONE


def draws_in(formula: Formula) -> Iterator[Formula]:
    """Yield the draws in a formula."""
    if isinstance(formula, Normal) or (isinstance(formula, Symbol) and formula.role is Role.NOISE):
        yield formula
    for part in parts(formula):
        yield from draws_in(part)


def is_noise(term: Formula) -> bool:
    """Whether a term is one draw, or a product with one draw: its mean is zero."""
    return _holds_factor(term) and sum(1 for _ in draws_in(term)) == 1


def _holds_factor(term: Formula) -> bool:
    match term:
        case Normal() | Symbol(_, _, Role.NOISE):
            return True
        case Multiply(left, right) | MatMul(left, right) | Apply("outer" | "kron" | "dot", (left, right)):
            return _holds_factor(left) or _holds_factor(right)
        case Transpose(arg):
            return _holds_factor(arg)
        case _:
            return False

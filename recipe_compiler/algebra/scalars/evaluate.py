"""The value of a scalar expression at a rational point: exact where it is rational, else a ball that contains it."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import cast

import flint
import sympy
from flint import arb, fmpq
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.elementwise import SCALAR_FUNCTIONS, ScalarFunction
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.rationals import fraction
from recipe_compiler.algebra.scalars.sign_cells import Cell, by_signs
from recipe_compiler.algebra.scalars.transcendentals import argument

Value = Fraction | arb
"""A rational number, or a ball that contains the real value."""


class NoValueError(Exception):
    """The expression has no real value there, or none that this evaluation can enclose."""


def evaluate(e: Expr, leaf: Callable[[Expr], Value]) -> Value:
    """Return the value of an expression, `leaf` giving that of symbols, undefined functions and their derivatives.

    A fraction if everything is rational, else a ball that contains the value (Johansson 2017): sqrt(4) is 2, sqrt(2) a
    ball of 256 bits.

    Raises:
        NoValueError: undefined at the point (division by zero, log of a negative number), or not enclosed.
    """
    known: dict[Expr, Value] = {}
    before = flint.ctx.prec
    flint.ctx.prec = limits.BITS
    try:
        return _evaluate_cached(e, leaf, known)
    finally:
        flint.ctx.prec = before


def rationals(row: Sequence[Expr], leaf: Callable[[Expr], Value]) -> tuple[Fraction, ...] | None:
    """Return the values of expressions, None unless every one is rational there."""
    try:
        values = [evaluate(x, leaf) for x in row]
    except NoValueError:
        return None
    exact = tuple(x for x in values if isinstance(x, Fraction))
    return exact if len(exact) == len(values) else None


def rational_rows(a: Rows, leaf: Callable[[Expr], Value]) -> tuple[tuple[Fraction, ...], ...] | None:
    """Return the values of a matrix, None unless every entry is rational there."""
    found = [rationals(row, leaf) for row in a]
    exact = tuple(row for row in found if row is not None)
    return exact if len(exact) == len(found) else None


def is_certainly(value: Value, sign: int) -> bool:
    """Whether a value is certainly positive (`sign` 1), negative (-1) or different from zero (0).

    False for a ball that contains 0.
    """
    if sign == 0:
        return bool(value > 0) or bool(value < 0)
    return bool(value > 0) if sign > 0 else bool(value < 0)


def compares(op: str, difference: Value) -> bool:
    """Whether `difference op 0` certainly holds; False of a ball that contains 0."""
    zero = isinstance(difference, Fraction) and difference == 0
    match op:
        case ">":
            return is_certainly(difference, 1)
        case "<":
            return is_certainly(difference, -1)
        case ">=":
            return zero or is_certainly(difference, 1)
        case "<=":
            return zero or is_certainly(difference, -1)
        case "!=":
            return is_certainly(difference, 0)
        case _:
            return zero


def _evaluate_cached(e: Expr, leaf: Callable[[Expr], Value], known: dict[Expr, Value]) -> Value:
    """Return the value of a subexpression, from `known` if it was evaluated before."""
    found = known.get(e)
    if found is None:
        found = known[e] = _evaluate_node(e, leaf, known)
    return found


def _evaluate_node(e: Expr, leaf: Callable[[Expr], Value], known: dict[Expr, Value]) -> Value:
    """Return the value of a node from those of its arguments, by the rule for its class."""
    match e:
        case sympy.Rational():
            return fraction(e)
        case sympy.Symbol() | AppliedUndef() | sympy.Derivative():
            return leaf(e)
        case sympy.Add():
            return _add_values([_evaluate_cached(x, leaf, known) for x in e.args])
        case sympy.Mul():
            return _multiply_values([_evaluate_cached(x, leaf, known) for x in e.args])
        case sympy.Pow():
            return _raise_value(_evaluate_cached(e.base, leaf, known), _evaluate_cached(e.exp, leaf, known))
        case sympy.Abs():
            return abs(_evaluate_cached(argument(e), leaf, known))
        case sympy.sign():
            return _sign_of_value(_evaluate_cached(argument(e), leaf, known))
        case Cell():
            side = _sign_of_value(_evaluate_cached(argument(e), leaf, known))
            if not side:
                raise NoValueError("on a kink")
            return side
        case sympy.Min() | sympy.Max():
            return _evaluate_cached(by_signs(e), leaf, known)
        case sympy.polygamma():
            return _polygamma(*(_evaluate_cached(cast(Expr, x), leaf, known) for x in e.args))
        case _ if e is sympy.pi:
            return arb.pi()
        case _ if e is sympy.E:
            return arb(1).exp()
        case _:
            row = SCALAR_FUNCTIONS.get(type(e))
            if row is None:
                raise NoValueError(f"{type(e).__name__} has no exact value")
            return function_at(row, _evaluate_cached(argument(e), leaf, known))


def ball(value: Value) -> arb:
    """Return a value as a ball."""
    return arb(fmpq(value.numerator, value.denominator)) if isinstance(value, Fraction) else value


def _require_finite(value: arb) -> arb:
    """Return a ball if it is finite; raise NoValueError otherwise."""
    if not value.is_finite():
        raise NoValueError("not finite")
    return value


def _add_values(values: list[Value]) -> Value:
    """Return the sum of fractions and balls, a fraction if there are no balls."""
    exact = sum((v for v in values if isinstance(v, Fraction)), Fraction(0))
    balls = [v for v in values if not isinstance(v, Fraction)]
    return sum(balls, ball(exact)) if balls else exact


def _multiply_values(values: list[Value]) -> Value:
    """Return the product of fractions and balls, a fraction if there are no balls or a fraction is 0."""
    exact = math.prod((v for v in values if isinstance(v, Fraction)), start=Fraction(1))
    balls = [v for v in values if not isinstance(v, Fraction)]
    if not balls or exact == 0:
        return exact
    found = ball(exact)
    for b in balls:
        found = found * b
    return found


def _raise_value(base: Value, exponent: Value) -> Value:
    """Return base**exponent, a fraction where the root is rational; NoValueError where it is undefined."""
    if isinstance(exponent, Fraction) and isinstance(base, Fraction):
        if base == 0 and exponent <= 0:
            if exponent == 0:
                return Fraction(1)
            raise NoValueError("division by zero")
        if exponent.denominator == 1:
            if abs(exponent) > limits.MOST_BITS:
                raise NoValueError("exponent too large")
            return base ** int(exponent)
        if base < 0:
            raise NoValueError("root of a negative number")
        root = _exact_root(base, exponent.denominator)
        if root is not None and abs(exponent.numerator) <= limits.MOST_BITS:
            return root**exponent.numerator
    if isinstance(exponent, Fraction) and exponent.denominator == 1 and abs(exponent) <= limits.MOST_BITS:
        return _require_finite(ball(base) ** int(exponent))
    if not is_certainly(base, 1):
        raise NoValueError("real power of a number that is not positive")
    return _require_finite((ball(exponent) * ball(base).log()).exp())


def _exact_root(value: Fraction, n: int) -> Fraction | None:
    """Return the n-th root of a nonnegative rational if it is rational."""
    top, exact_top = sympy.integer_nthroot(value.numerator, n)
    bottom, exact_bottom = sympy.integer_nthroot(value.denominator, n)
    return Fraction(int(top), int(bottom)) if exact_top and exact_bottom else None


def _sign_of_value(value: Value) -> Fraction:
    """Return 1, -1 or 0; raise NoValueError if the ball contains 0."""
    for sign in (1, -1):
        if is_certainly(value, sign):
            return Fraction(sign)
    if value == Fraction(0):
        return Fraction(0)
    raise NoValueError("sign not certain")


def _polygamma(order: Value, x: Value) -> Value:
    """Return the derivative of order n of the digamma function: (-1)**(n + 1) n! zeta(n + 1, x)."""
    if order == Fraction(0) and is_certainly(x, 1):
        return _require_finite(ball(x).digamma())
    if not isinstance(order, Fraction) or order.denominator != 1 or order < 1 or not is_certainly(x, 1):
        raise NoValueError("polygamma outside x > 0")
    n = int(order)
    return _require_finite(arb(n + 1).zeta(ball(x)) * math.factorial(n) * (-1) ** (n + 1))


def function_at(row: ScalarFunction, x: Value) -> Value:
    """Return a function of one argument at a number, in balls of the precision that is set.

    Raises:
        NoValueError: undefined there, or not enclosed.
    """
    if row.ball is None:
        raise NoValueError(f"{row.name} has no exact value")
    if isinstance(x, Fraction) and x in row.exact:
        return row.exact[x]
    if not all(need.cosine or is_certainly(x + need.offset, 1 if need.op == ">" else 0) for need in row.needs):
        raise NoValueError(f"{row.name} of a number that is not positive")
    return _require_finite(row.ball(ball(x)))

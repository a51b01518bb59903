"""SymPy's spellings of numbers, of sums and products, and of functions that are exact at whole numbers."""

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from math import comb
from math import factorial as whole_factorial

from recipe_compiler.formula import tree
from recipe_compiler.formula.context import Context
from recipe_compiler.formula.tree import At, Call, Literal, Tree

MOST_FACTORS = 20
"""binomial(n, k) of a number k up to this is the polynomial n (n - 1) ... / k!."""
MOST_WHOLE = 1000
"""Factorials and binomials are worked out up to this argument; beyond, they are out of bounds, or gamma functions."""
MOST_DERIVATIVES = 4

ONE = Literal(Fraction(1))


def value_of(part: Tree) -> Fraction | None:
    """Return the value of a constant made of numbers by + - * /, whose size has been bounded; None of any other."""
    match part:
        case Literal(value):
            return value
        case tree.Negate(arg):
            value = value_of(arg)
            return None if value is None else -value
        case tree.Sum(terms):
            values = [value_of(term) for term in terms]
            known = [value for value in values if value is not None]
            return sum(known, Fraction(0)) if len(known) == len(values) else None
        case tree.Product(factors, operators):
            return _product_of(factors, operators)
        case _:
            return None


def _product_of(factors: Sequence[Tree], operators: Sequence[str]) -> Fraction | None:
    total = Fraction(1)
    for operator, factor in zip(("*", *operators), factors, strict=True):
        value = value_of(factor)
        if value is None or operator == "@" or (operator == "/" and value == 0):
            return None
        total = total / value if operator == "/" else total * value
    return total


def whole_of(part: Tree) -> int | None:
    """Return the value of a constant that is a whole number."""
    value = value_of(part)
    return int(value) if value is not None and value.denominator == 1 else None


def number(value: Fraction | int, at: At) -> Tree:
    """Return a number where a part stood."""
    made = Literal(abs(Fraction(value)), at)
    return tree.Negate(made, at) if value < 0 else made


def integer(part: Call, context: Context) -> Tree | None:
    """Integer(n)."""
    value = whole_of(part.args[0]) if len(part.args) == 1 else None
    if value is None:
        context.fault(part, "found no whole number in Integer(...)", "write Integer(3), or 3")
        return None
    return number(value, part.at)


def rational(part: Call, context: Context) -> Tree | None:
    """Rational(p, q), Rational(p), Float(x): exact, a decimal as the ratio that it writes."""
    values = [value_of(arg) for arg in part.args]
    known = [value for value in values if value is not None]
    most = 2 if part.name == "Rational" else 1
    if len(known) < len(values) or len(values) > most or (len(known) == 2 and known[1] == 0):
        context.fault(part, f"found no number in {part.name}(...)", "write Rational(1, 2), or 1/2")
        return None
    return number(known[0] / (known[1] if len(known) == 2 else 1), part.at)


def add(part: Call, context: Context) -> Tree:
    """Add(a, b, ...)."""
    return part.args[0] if len(part.args) == 1 else tree.Sum(part.args, part.at)


def multiply(part: Call, context: Context) -> Tree:
    """Mul(a, b, ...), HadamardProduct(u, v, ...)."""
    return part.args[0] if len(part.args) == 1 else tree.Product(part.args, ("*",) * (len(part.args) - 1), part.at)


def largest(part: Call, context: Context) -> Tree:
    """Max(a, b, ...)."""
    return folded("maximum", part)


def smallest(part: Call, context: Context) -> Tree:
    """Min(a, b, ...)."""
    return folded("minimum", part)


def folded(name: str, part: Call) -> Tree:
    """Return a function of two arguments at all of a call's, the last two first."""
    return reduce(lambda right, left: call(name, part.at, left, right), reversed(part.args))


def call(name: str, at: At, *args: Tree) -> Call:
    """Return a call of the language's function."""
    return Call(name, args, at, language=True)


def factorial(part: Call, context: Context) -> Tree | None:
    """Return a factorial: a number at a whole number, else gamma(n + 1)."""
    if len(part.args) != 1:
        return _wrong_number(part, "factorial(n)", context)
    whole = whole_of(part.args[0])
    if whole is not None and whole < 0:
        context.fault(part, f"found factorial({whole}), which is not a number", "factorials need n = 0, 1, 2, ...")
        return None
    if whole is not None and whole <= MOST_WHOLE:
        return number(whole_factorial(whole), part.at)
    return call("gamma", part.at, tree.Sum((part.args[0], ONE), part.at))


def binomial(part: Call, context: Context) -> Tree | None:
    """Return a binomial: a number, or a polynomial in n, where k (and n) is whole; else by log gamma functions."""
    if len(part.args) != 2:
        return _wrong_number(part, "binomial(n, k)", context)
    n, k = part.args
    at, whole, of = part.at, whole_of(k), whole_of(n)
    if whole is not None and whole < 0:
        return number(0, at) if of is None or of >= 0 else _wrong_number(part, "binomial(n, k) of k >= 0", context)
    if whole is not None and of is not None and whole <= MOST_WHOLE and 0 <= of <= MOST_WHOLE:
        return number(comb(of, whole), at)
    if whole is not None and whole <= MOST_FACTORS:
        factors = [tree.Sum((n, tree.Negate(number(i, at), at)), at) if i else n for i in range(whole)]
        return tree.Product((ONE, *factors, number(whole_factorial(whole), at)), ("*",) * whole + ("/",), at)
    top, low = tree.Sum((n, ONE), at), tree.Sum((k, ONE), at)
    rest = tree.Sum((n, tree.Negate(k, at), ONE), at)
    logs = [call("loggamma", at, x) for x in (top, low, rest)]
    return call("exp", at, tree.Sum((logs[0], tree.Negate(logs[1], at), tree.Negate(logs[2], at)), at))


def polygamma(part: Call, context: Context) -> Tree | None:
    """Return the digamma function of order 0, the trigamma function of order 1."""
    order = whole_of(part.args[0])
    if len(part.args) != 2 or order not in (0, 1):
        context.fault(part, "found a polygamma(n, x) that formulas do not have, expected n = 0 or 1")
        return None
    return call("trigamma" if order else "digamma", part.at, part.args[1])


def log_sum_exp(part: Call, context: Context) -> Tree:
    """logsumexp(a, b, ...) of numbers; of one vector it is the language's own."""
    if len(part.args) == 1:
        return part
    return call("log", part.at, tree.Sum(tuple(call("exp", part.at, arg) for arg in part.args), part.at))


def derivative(part: Call, context: Context) -> Tree | None:
    """Derivative(f, x, (y, 2)), diff(f, x, x): gradients by blocks, or by an entry of one."""
    found, *variables = part.args
    orders = [_order(variable) for variable in variables]
    if not orders:
        context.fault(part, f"found no variable in {part.name}(...)", f"write {part.name}(f, x)")
        return None
    total = 0
    for variable, order in orders:
        total += order or MOST_DERIVATIVES + 1
        if order is None or order < 1 or total > MOST_DERIVATIVES:
            context.fault(part, f"found a derivative of another order, expected 1 to {MOST_DERIVATIVES} in all")
            return None
        for _ in range(order):
            found = _by(variable, found, part.at)
    return found


def _order(variable: Tree) -> tuple[Tree, int | None]:
    """Return a variable and how often is differentiated by it: `x`, `(x, 2)`."""
    match variable:
        case tree.Group((name, count)):
            return name, whole_of(count)
        case _:
            return variable, 1


def _by(variable: Tree, found: Tree, at: At) -> Tree:
    if isinstance(variable, tree.Subscript):
        return tree.Subscript(call("grad", at, found, variable.arg), variable.positions, at)
    return call("grad", at, found, variable)


def _wrong_number(part: Call, expected: str, context: Context) -> None:
    context.fault(part, f"found another {part.name}(...), expected {expected}")

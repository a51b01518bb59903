"""What a scalar expression is rational in: its kernels, and the true relations among them.

Everything that is not a sum, product or integer power becomes a generator of a polynomial ring: symbols, undefined
functions and their derivatives, exp, log, roots, sine and cosine. Relations used are true wherever both sides are
defined: `exp(a + b) = exp(a) exp(b)`, `(b**(1/q))**q = b`, `sin**2 = 1 - cos**2`, `|u| = sign(u) u`, `sign(u)**2 = 1`
(almost everywhere). Generators that depend on each other in ways not listed here can only make a zero go unseen.
"""

import math
from collections.abc import Iterator
from typing import cast

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

FORBIDDEN = (
    sympy.nan,
    sympy.zoo,
    sympy.oo,
    -sympy.oo,
    sympy.I,
)
"""Values that no real, defined expression contains."""

FORBIDDEN_FUNCTIONS = (sympy.DiracDelta, sympy.Heaviside, sympy.Piecewise, sympy.Integral, sympy.Sum, sympy.Product)


class NoNormalFormError(Exception):
    """An expression outside what the normal form decides: not real, not defined, not smooth, or too large."""


def argument(e: Expr) -> Expr:
    """Return the argument of a function of one scalar: the narrow door through SymPy's untyped `args`."""
    return cast(Expr, e.args[0])


def rewritten(e: Expr) -> Expr | None:
    """Return hyperbolic functions and the tangent by exponentials, sine and cosine; None if `e` is none of them."""
    x = argument(e) if e.args else e
    match e:
        case sympy.tan():
            return sympy.sin(x) / sympy.cos(x)
        case sympy.sinh():
            return (sympy.exp(x) - sympy.exp(-x)) / 2
        case sympy.cosh():
            return (sympy.exp(x) + sympy.exp(-x)) / 2
        case sympy.tanh():
            return (sympy.exp(2 * x) - 1) / (sympy.exp(2 * x) + 1)
        case _:
            return None


def exponent_parts(e: Expr) -> Iterator[tuple[Expr, int, int]]:
    """Yield an exponent as `sum of rest * numerator/denominator`, `rest` free of rational factors."""
    for term in sympy.Add.make_args(sympy.expand(e)):
        coefficient, rest = cast(tuple[sympy.Rational, Expr], term.as_coeff_Mul(rational=True))
        yield rest, int(coefficient.p), int(coefficient.q)


def powers(e: Expr) -> Iterator[tuple[Expr, Expr, int, int]]:
    """Yield `base ** exponent` as a product of `(base ** rest) ** (numerator/denominator)`; base is E for exp."""
    base, exponent = (sympy.E, argument(e)) if isinstance(e, sympy.exp) else e.as_base_exp()
    for rest, numerator, denominator in exponent_parts(exponent):
        yield base, rest, numerator, denominator


def is_opaque(e: Expr) -> bool:
    """Whether an expression is a generator as it stands: a symbol, a constant, an unknown function or derivative."""
    if isinstance(e, (sympy.Symbol, AppliedUndef, sympy.Derivative)) or e is sympy.pi:
        return True
    return isinstance(e, sympy.Function) and not isinstance(
        e, (sympy.exp, sympy.log, sympy.sin, sympy.cos, sympy.Abs, sympy.sign)
    )


def check_allowed(e: Expr) -> None:
    """Refuse what no true relation covers."""
    if e in FORBIDDEN:
        raise NoNormalFormError(f"{e} occurs")
    if isinstance(e, FORBIDDEN_FUNCTIONS):
        raise NoNormalFormError(f"{type(e).__name__} occurs: a jump was differentiated")


def log_parts(b: Expr) -> list[tuple[Expr, int]] | None:
    """Return log b as a sum of integer multiples of logs, splitting products of factors known positive."""
    if isinstance(b, sympy.Integer) and b > 1:
        found = sympy.factorint(int(b))
        return None if found == {int(b): 1} else [(sympy.Integer(p), n) for p, n in found.items()]
    if isinstance(b, sympy.Rational) and b > 0 and b.q != 1:
        return [(sympy.Integer(b.p), 1), (sympy.Integer(b.q), -1)]
    if isinstance(b, sympy.Mul) and all(x.is_positive for x in b.args):
        return [(x, 1) for x in b.args]
    if isinstance(b, sympy.Pow) and b.base.is_positive and b.exp.is_Integer:
        return [(b.base, int(b.exp))]
    return None


def common_denominators(e: Expr) -> dict[tuple[Expr, Expr], int]:
    """Return, for every `base ** rest` in an expression, the least common denominator of its exponents."""
    found: dict[tuple[Expr, Expr], int] = {}
    for node in sympy.preorder_traversal(e):
        if isinstance(node, (sympy.Pow, sympy.exp)) and not (isinstance(node, sympy.Pow) and node.exp.is_Integer):
            for base, rest, _, denominator in powers(node):
                key = (base, rest)
                found[key] = math.lcm(found.get(key, 1), denominator)
    return found

"""The transcendentals of a scalar expression, in which it is rational, and the true relations among them.

Everything that is not a sum, product or integer power becomes a generator of a polynomial ring: symbols, undefined
functions and their derivatives, exp, log, roots, signs, sine and cosine. Relations used are true wherever both sides
are defined:

    exp(a + b) = exp(a) exp(b)      (|f|**(1/q))**q = |f|       sin**2 = 1 - cos**2
    |u| = sign(u) u                 sign(u)**2 = 1 off {u = 0}

Generators that depend on each other in ways not listed here can only make a zero go unseen.
"""

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import cast

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.elementwise import SCALAR_FUNCTIONS

NO_NUMBERS = tuple(type(x) for x in (sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I))
"""What no real, defined expression contains: poles, infinities and i, each the only one of its class."""

FORBIDDEN_FUNCTIONS = (sympy.DiracDelta, sympy.Heaviside, sympy.Piecewise, sympy.Integral, sympy.Sum, sympy.Product)
_REWRITTEN = {row.of: row.elementary for row in SCALAR_FUNCTIONS.values() if row.elementary is not None}


def subexpressions(e: Expr) -> Iterator[sympy.Basic]:
    """Yield every subexpression of an expression once, its arguments before itself."""
    seen: set[sympy.Basic] = set()
    stack: list[tuple[sympy.Basic, bool]] = [(e, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args))


@lru_cache(maxsize=limits.REMEMBERED)
def contains(e: Expr, *kinds: type[sympy.Basic]) -> bool:
    """Whether a subexpression is of one of some classes."""
    seen, found = set[sympy.Basic](), [cast(sympy.Basic, e)]
    while found:
        node = found.pop()
        if isinstance(node, kinds):
            return True
        if node not in seen:
            seen.add(node)
            found += node.args
    return False


class NoNormalFormError(Exception):
    """An expression outside what the normal form decides: not real, not defined, not smooth, or too large."""


def argument(e: Expr, n: int = 0) -> Expr:
    """Return the n-th argument of a function of scalars, typed: SymPy's `args` are not."""
    return cast(Expr, e.args[n])


def elementary(e: Expr) -> Expr:
    """Return an expression with hyperbolic functions and tangents by exponentials, sine and cosine.

    tan(x) becomes sin(x)/cos(x).
    """
    if not contains(e, *_REWRITTEN):
        return e
    known: dict[sympy.Basic, sympy.Basic] = {}
    for node in subexpressions(e):
        args = tuple(known.get(arg, arg) for arg in node.args)
        known[node] = _rewrite_as_elementary(node, args)
    return cast(Expr, known[e])


def _rewrite_as_elementary(node: sympy.Basic, args: tuple[sympy.Basic, ...]) -> sympy.Basic:
    """Return a node by exponentials, sine and cosine if a row rewrites it, else with its new arguments."""
    elementary = _REWRITTEN.get(type(node))
    if elementary is not None:
        return elementary(cast(Expr, args[0]))
    return node.func(*args) if args and args != node.args else node


def exponent_parts(e: Expr) -> Iterator[tuple[Expr, int, int]]:
    """Yield an exponent as terms rest * numerator/denominator, `rest` free of rational factors.

    2 x/3 + y gives (x, 2, 3) and (y, 1, 1).
    """
    for term in sympy.Add.make_args(sympy.expand(e)):
        coefficient, rest = cast(tuple[sympy.Rational, Expr], term.as_coeff_Mul(rational=True))
        yield rest, int(coefficient.p), int(coefficient.q)


def is_opaque(e: Expr) -> bool:
    """Whether an expression is a generator as it is: a symbol, pi, an unknown function or a derivative of one."""
    return isinstance(e, (sympy.Symbol, AppliedUndef, sympy.Derivative)) or e is sympy.pi


def check_allowed(e: Expr) -> None:
    """Refuse expressions that no true relation covers.

    Raises:
        NoNormalFormError: a pole, infinity or i; a derivative of a jump.
    """
    if isinstance(e, NO_NUMBERS):
        raise NoNormalFormError(f"{e} occurs")
    if isinstance(e, FORBIDDEN_FUNCTIONS):
        raise NoNormalFormError(f"{type(e).__name__} occurs: a jump was differentiated")


def exponent(e: Expr) -> Expr:
    """Return the exponent of an exponential, however it is written."""
    match e:
        case sympy.exp():
            return argument(e)
        case sympy.Pow():
            return e.exp
        case _:
            return sympy.Integer(1)


def common_denominators(scalars: Iterable[Expr]) -> dict[tuple[object, Expr], int]:
    """Return, for every factor of exponents and angles in scalars, the least common denominator of its multiples.

    exp(x/2) and exp(x/3) have 6 for x: both are powers of the one generator exp(x/6). Exponents of real powers,
    exponentials and angles are kept apart: ("power", 1), ("exp", x), ("angle", x). Of real powers those of each base
    are there too: (x, 1).
    """
    found: dict[tuple[object, Expr], int] = {}
    for e in scalars:
        for node in subexpressions(e):
            for key, denominator in _list_denominators(node):
                found[key] = math.lcm(found.get(key, 1), denominator)
    return found


def _list_denominators(node: sympy.Basic) -> Iterator[tuple[tuple[object, Expr], int]]:
    """Yield, for each term of the exponent or angle of a node, its key without rational factor and its denominator."""
    match node:
        case sympy.exp():
            yield from ((("exp", rest), q) for rest, _, q in exponent_parts(argument(node)))
        case sympy.Pow() if not node.exp.is_Integer:
            base, exponent = node.as_base_exp()
            for rest, _, q in exponent_parts(exponent):
                yield from [(("exp", rest), q)] if base is sympy.E else [(("power", rest), q), ((base, rest), q)]
        case sympy.sin() | sympy.cos():
            yield from ((("angle", rest), q) for rest, _, q in exponent_parts(argument(node)))
        case _:
            return

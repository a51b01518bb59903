"""Real powers and exponentials taken apart: `base ** (sum of rest * p/q)`, hyperbolic functions by exponentials."""

import math
from collections.abc import Iterable, Iterator
from typing import cast

import sympy
from sympy import Expr

from recipe_compiler.algebra.scalars.elementwise import KERNELS

Part = tuple[Expr, Expr, int, int]
"""`(base ** rest) ** (numerator/denominator)`; the base of an exponential is E."""


def argument(e: Expr) -> Expr:
    """Return the argument of a function of one scalar."""
    return cast(Expr, e.args[0])


def rewritten(e: Expr) -> Expr | None:
    """Return hyperbolic functions and the tangent by exponentials, sine and cosine; None of any other."""
    kernel = KERNELS.get(type(e))
    return kernel.elementary(argument(e)) if kernel is not None and kernel.elementary is not None else None


def powers(e: Expr) -> Iterator[Part]:
    """Yield a power or exponential as a product of powers whose `rest` is free of rational factors."""
    base, exponent = (sympy.E, argument(e)) if isinstance(e, sympy.exp) else e.as_base_exp()
    for term in sympy.Add.make_args(sympy.expand(exponent)):
        coefficient, rest = cast(tuple[sympy.Rational, Expr], term.as_coeff_Mul(rational=True))
        yield base, rest, int(coefficient.p), int(coefficient.q)


def common_denominators(scalars: Iterable[Expr]) -> dict[tuple[Expr, Expr], int]:
    """Return, for every `base ** rest` in scalars, the least common denominator of its rational powers."""
    found: dict[tuple[Expr, Expr], int] = {}
    for e in scalars:
        for node in sympy.preorder_traversal(e):
            plain = rewritten(cast(Expr, node)) if isinstance(node, sympy.Function) else None
            for part in sympy.preorder_traversal(plain) if plain is not None else (node,):
                if isinstance(part, sympy.exp) or (isinstance(part, sympy.Pow) and not part.exp.is_Integer):
                    for base, rest, _, denominator in powers(cast(Expr, part)):
                        found[base, rest] = math.lcm(found.get((base, rest), 1), denominator)
    return found

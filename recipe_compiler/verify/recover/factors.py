"""What polynomials are multiplied with in an ansatz: the kernels that occur in the equations."""

from collections.abc import Iterator
from itertools import combinations_with_replacement

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.scalars.elementwise import KERNELS, Corner
from recipe_compiler.verify.recover.fields import Fields

MOST = 8
"""So many kernels are used, those of the drift first."""


def multipliers(at: Fields) -> tuple[list[Expr], list[Expr]]:
    """Return the kernels of the equations, and the products of two of them."""
    state = set(at.z)
    found: dict[Expr, None] = {}
    for e in (*at.W, *at.g):
        for node in sympy.preorder_traversal(e):
            if isinstance(node, Expr) and node.free_symbols & state:
                found.update(dict.fromkeys(_kernels(node)))
    single = list(found)[:MOST]
    return single, [a * b for a, b in combinations_with_replacement(single, 2)]


def _kernels(node: Expr) -> Iterator[Expr]:
    match node:
        case sympy.sin() | sympy.cos():
            yield from (sympy.sin(node.args[0]), sympy.cos(node.args[0]))
        case AppliedUndef():
            yield node
        case _ if type(node) in KERNELS and KERNELS[type(node)].corner is Corner.NONE:
            yield node
        case sympy.Pow() if not node.exp.is_Integer or node.exp < 0:
            yield node
        case _:
            return

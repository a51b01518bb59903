"""The subexpressions of a scalar, each once: those of an inverse share its determinant, and sums repeat their parts."""

from collections.abc import Iterator

import sympy
from sympy import Expr


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


def contains(e: Expr, *kinds: type[sympy.Basic]) -> bool:
    """Whether a subexpression is of one of some classes."""
    return any(isinstance(node, kinds) for node in subexpressions(e))

"""Is a scalar expression zero at every point, those on its kinks included? By cases, each a normal form.

Off {u = 0} the sign of u is a cell; on it the sign is zero, and u itself may be eliminated if it is linear in some
symbol. What holds in every case holds everywhere; a case that contains no point is decided all the same. A root of u
that occurs together with signs or moduli is a case of its own, too: off {u = 0} the normal form multiplies the signs of
its factors. Moduli need no case: |u| = u Cell(u) at every point.

Worked example, sign(x)**2 |x| - |x|: off {x = 0} it is Cell(x)**2 |x| - |x| = 0 as Cell(x)**2 = 1; on it, x = 0 makes
it 0 - 0. So it is zero everywhere, while sign(x)**2 - 1 is -1 at x = 0.
"""

from collections.abc import Callable, Iterator
from typing import cast

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.sign_cells import Cell, by_signs, off_kinks
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError, argument, contains, subexpressions
from recipe_compiler.algebra.zero.zero import is_zero

Apart = Callable[[Expr], bool]
"""Whether a scalar is shown to have no zero."""


def is_zero_everywhere(e: Expr, apart: Apart) -> bool:
    """Whether an expression is shown to vanish at every point at which it is defined, for all values of its symbols.

    |x| - x sign(x) does; sign(x)**2 - 1 does not, at x = 0, unless x is apart from 0. False decides nothing.

        >>> x = sympy.Symbol("x", real=True)
        >>> [is_zero_everywhere(e, lambda u: False) for e in (sympy.Abs(x) - x * sympy.sign(x), sympy.sign(x) ** 2 - 1)]
        [True, False]

    Args:
        e: the expression.
        apart: whether a scalar is shown to have no zero on the domain.

    Raises:
        NoNormalFormError: not real, not defined, too large, or with too many kinks.
    """
    return all(is_zero(case) for case in _split_cases(by_signs(e), apart, frozenset(), limits.CASES))


def _split_cases(e: Expr, apart: Apart, settled: frozenset[Expr], left: int) -> Iterator[Expr]:
    """Yield the values of an expression, case by case; `settled` are arguments of roots that are not zero."""
    u = _find_undecided_argument(e, settled)
    if u is None:
        if Cell(sympy.Integer(0)) not in e.atoms(Cell):  # else no point belongs to the case
            yield e
        return
    vanishes = is_zero(u)
    if not vanishes and not left:
        raise NoNormalFormError(f"more than {limits.CASES} kinks")
    if vanishes or not (u.is_nonzero or apart(u)):
        yield from _split_cases(_restrict_to_zeros(e, u), apart, settled, left - 1)
    if not vanishes:
        yield from _split_cases(
            _replace_node(e, sympy.sign(u), cast(Expr, Cell(off_kinks(u)))), apart, settled | {u}, left - 1
        )


def _find_undecided_argument(e: Expr, settled: frozenset[Expr]) -> Expr | None:
    """Return an innermost argument of a sign, or of a root beside signs and moduli, that may be zero."""
    beside = contains(e, sympy.sign, sympy.Abs, Cell)
    for node in subexpressions(e):
        match node:
            case sympy.sign():
                return argument(node)
            case sympy.Pow() if beside and _is_root(node) and node.base not in settled:
                return node.base
            case _:
                continue
    return None


def _is_root(node: sympy.Pow) -> bool:
    """Whether a power is a root that has a value, 0, where its base is zero, as it may be."""
    return bool(node.exp.is_Rational and not node.exp.is_Integer and node.exp.is_positive) and not node.base.is_positive


def _restrict_to_zeros(e: Expr, u: Expr) -> Expr:
    """Return an expression on {u = 0}, with a symbol that u is linear in eliminated if there is one."""
    plain = _replace_node(e, sympy.sign(u), sympy.Integer(0))
    roots = {node: sympy.Integer(0) for node in plain.atoms(sympy.Pow) if node.base == u and _is_root(node)}
    plain = cast(Expr, plain.xreplace(roots))
    for x in sorted(u.free_symbols, key=str):
        if not isinstance(x, Symbol) or any(call.has(x) for call in plain.atoms(AppliedUndef)):
            continue
        along = slope(u, x)
        if isinstance(along, sympy.Rational) and along != 0:
            return by_signs(cast(Expr, plain.xreplace({x: sympy.expand(x - u / along)})))
    return plain


def _replace_node(e: Expr, node: Expr, by: Expr) -> Expr:
    """Return an expression with one node replaced everywhere."""
    return cast(Expr, e.xreplace({node: by}))

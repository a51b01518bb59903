"""The acceptance ratio of a step: a comparison with a uniform draw u as log u < L, with probability min(1, exp(L))."""

from typing import cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler.lint.visited import UNIFORM, Least, NotFollowedError, expand, replace_parts

LOG = Symbol("log u", real=True)


def read_log_ratio(left: Expr, right: Expr) -> tuple[Expr, bool]:
    """Return L of the comparison `left < right`, and whether log u < L where it holds (not log u > L).

    u < exp(a) has L = a; with log u or 1 - u in the place of u it is read likewise.

    Raises:
        NotFollowedError: it is not log u < L or u < R, with a function of u on the other side.
    """
    by_chance = [_find_uniforms(left), _find_uniforms(right)]
    if len(by_chance[0]) + len(by_chance[1]) != 1:
        raise NotFollowedError("a move is accepted by something other than a comparison of u with a known value")
    (u,) = by_chance[0] | by_chance[1]
    chance, bound = (left, right) if by_chance[0] else (right, left)
    found, is_below = _solve_for_log_draw(chance, bound, u) or _solve_for_draw(chance, bound, u)
    return found, is_below == bool(by_chance[0])


def _find_uniforms(e: Expr) -> set[Symbol]:
    return {x for x in e.free_symbols if isinstance(x, Symbol) and x.name.startswith(UNIFORM)}


def _solve_for_log_draw(chance: Expr, bound: Expr, u: Symbol) -> tuple[Expr, bool] | None:
    """Return L of a log u + b < R, which is (R - b)/a, and whether a > 0; None where it has another form."""
    read = replace_parts(chance, {sympy.log(u): LOG, sympy.log(1 - u): LOG})
    factor = sympy.diff(read, LOG)
    if not read.has(LOG):
        return None
    if read.has(u) or not isinstance(factor, sympy.Rational):
        raise NotFollowedError("log u is multiplied by something that is no number")
    rest = expand(read - factor * LOG)
    if factor > 0 and rest == 0:
        bound = _drop_bound(bound, 0)
    return expand((bound - rest) / factor), bool(factor > 0)


def _solve_for_draw(chance: Expr, bound: Expr, u: Symbol) -> tuple[Expr, bool]:
    """Return L of a u < R, or of a (1 - u) < R, which is log R - log a."""
    factor = sympy.diff(chance, u)
    rest = expand(chance - factor * u)
    if rest == -factor:
        factor, rest = -factor, sympy.Integer(0)
    if factor.has(u) or rest != 0:
        raise NotFollowedError("a move is not accepted when u, or log(u), is below a bound")
    bound = _drop_bound(bound, 1) if factor == 1 else bound
    return expand(_take_log(bound, is_whole=factor == 1) - _take_log(factor)), True


def _drop_bound(e: Expr, most: int) -> Expr:
    """Return x of min(most, x): log u is never above 0, nor u above 1."""
    if isinstance(e, Least) and most in e.args:
        return next((cast(Expr, x) for x in e.args if x != most), e)
    return e


def _take_log(e: Expr, *, is_whole: bool = False) -> Expr:
    """Return log e, of products and exponentials by parts; if `is_whole`, a bound of all of e by 1 is dropped.

    Raises:
        NotFollowedError: the logarithm of an expression that is not known to be positive: u is never below a negative
        number.
    """
    match e:
        case sympy.exp():
            inner = cast(Expr, e.args[0])
            return _drop_bound(inner, 0) if is_whole else inner
        case sympy.Mul():
            return sympy.Add(*(_take_log(x) for x in e.args))
        case sympy.Pow() if e.exp.is_Rational:
            return e.exp * _take_log(e.base)
        case _ if e.is_positive:
            return cast(Expr, sympy.log(e))
    raise NotFollowedError("the acceptance ratio is not known to be positive")

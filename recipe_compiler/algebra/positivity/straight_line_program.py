"""Scalars as a list of steps, each subexpression once: run on arrays of floats to search, on balls to prove.

The steps are built node by node from the scalars; no text is made or evaluated.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import sympy
from flint import arb, fmpq
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.scalars import elementwise
from recipe_compiler.algebra.scalars.evaluate import NoValueError

T = TypeVar("T")

LARGEST_EXPONENT = 64


@dataclass(frozen=True, slots=True)
class ProgramArithmetic:
    """How numbers are made, raised to powers and put into functions; `+` and `*` are those of the numbers."""

    number: Callable[[int, int], Any]
    power: Callable[[Any, Any, sympy.Rational | None], Any]
    functions: Mapping[str, Callable[[Any], Any]]
    pi: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class ProgramSteps:
    """Each step is an expression with the numbers of the steps it needs; `results` are those of the scalars."""

    steps: tuple[tuple[Expr, tuple[int, ...]], ...]
    results: tuple[int, ...]

    def run(self, leaves: Mapping[Expr, Any], by: ProgramArithmetic) -> list[Any]:
        """Return the values of the scalars, `leaves` giving those of symbols and unknown functions.

        Raises:
            NoValueError: a function this arithmetic does not know.
        """
        done: list[Any] = []
        for e, needs in self.steps:
            done.append(_step(e, [done[k] for k in needs], leaves, by))
        return [done[k] for k in self.results]


def steps(scalars: list[Expr]) -> ProgramSteps:
    """Return scalars as a straight-line program: (x + 1)**2 and x + 1 share the step x + 1."""
    known: dict[Expr, int] = {}
    found: list[tuple[Expr, tuple[int, ...]]] = []

    def number_of(e: Expr) -> int:
        if e not in known:
            leaf = isinstance(e, (sympy.Symbol, AppliedUndef, sympy.Derivative)) or not e.args
            needs = () if leaf else tuple(number_of(cast(Expr, arg)) for arg in e.args)
            known[e] = len(found)
            found.append((e, needs))
        return known[e]

    results = tuple(number_of(e) for e in scalars)
    return ProgramSteps(tuple(found), results)


def _step(e: Expr, parts: list[Any], leaves: Mapping[Expr, Any], by: ProgramArithmetic) -> Any:
    match e:
        case sympy.Rational():
            return by.number(int(e.p), int(e.q))
        case sympy.Symbol() | AppliedUndef() | sympy.Derivative():
            if e not in leaves:
                raise NoValueError(f"{e} has no value")
            return leaves[e]
        case sympy.Add():
            return _folded(parts, lambda a, b: a + b)
        case sympy.Mul():
            return _folded(parts, lambda a, b: a * b)
        case sympy.Pow():
            return by.power(parts[0], parts[1], e.exp if isinstance(e.exp, sympy.Rational) else None)
        case _ if e is sympy.pi:
            return by.pi()
        case _ if e is sympy.E:
            return by.functions["exp"](by.number(1, 1))
        case _:
            name = type(e).__name__
            if name not in by.functions or len(parts) != 1:
                raise NoValueError(f"{name} has no value here")
            return by.functions[name](parts[0])


def _folded(parts: list[T], f: Callable[[T, T], T]) -> T:
    found = parts[0]
    for part in parts[1:]:
        found = f(found, part)
    return found


def _ball_power(base: arb, exponent: arb, rational: sympy.Rational | None) -> arb:
    if rational is not None and rational.q == 1 and abs(int(rational.p)) <= LARGEST_EXPONENT:
        found = _whole_power(base, abs(int(rational.p)))
        return found if rational.p > 0 else 1 / found
    if rational is not None and rational.q == 2 and abs(int(rational.p)) <= LARGEST_EXPONENT:
        found = _whole_power(_root(base), abs(int(rational.p)))
        return found if rational.p > 0 else 1 / found
    return (exponent * base.log()).exp()


def _whole_power(x: arb, n: int) -> arb:
    """Return the ball of x**n by its ends: exact zeros and even powers stay what they are."""
    ends = (x.abs_lower(), x.abs_upper()) if n % 2 == 0 else (x.lower(), x.upper())
    low, high = arb(1), arb(1)
    for _ in range(n):
        low, high = low * ends[0], high * ends[1]
    return low.union(high)


def _root(x: arb) -> arb:
    """Return the ball of square roots by its ends; not finite where x may be negative."""
    return x.lower().sqrt().union(x.upper().sqrt())


def _ball_sign(x: arb) -> arb:
    if x > 0:
        return arb(1)
    return arb(-1) if x < 0 else arb(0, 1)


BALLS = ProgramArithmetic(
    lambda p, q: arb(fmpq(p, q)),
    _ball_power,
    {**elementwise.BALLS, "Abs": abs, "sign": _ball_sign, "Cell": _ball_sign},
    arb.pi,
)
"""Balls that contain the value; what is not certainly defined is not finite."""

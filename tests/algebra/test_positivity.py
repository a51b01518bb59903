"""Proofs about scalars: what is true on the domain is shown, what is not never is; facts of functions hold."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import fmpq
from sympy import Abs, Expr, Rational, atan, cos, erf, exp, gamma, log, pi, sign, sin, sqrt, symbols, tan, tanh

from recipe_compiler.algebra.positivity.falsify import find_negative_direction
from recipe_compiler.algebra.positivity.polynomial_problem import PolynomialProblem, problem
from recipe_compiler.algebra.positivity.prove import Shown, scalar, semidefinite
from recipe_compiler.algebra.positivity.region import Fact, Region
from recipe_compiler.algebra.positivity.squares import null_space
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError

x, y, a, b = symbols("x y a b", real=True)
p, q = symbols("p q", positive=True)
f = sympy.Function("f", real=True)(x)
POSITIVE = (Fact(p, ">", "p is positive"), Fact(q, ">", "q is positive"))
UNIT = (Fact(x + 1, ">", "x > -1"), Fact(1 - x, ">", "x < 1"))
SIMPLEX = (*POSITIVE, Fact(1 - p - q, ">", "p + q < 1"))
NO: Region = ()


def rows(op: str, region: Region, *found: Expr) -> list[tuple[Expr, str, Region]]:
    return [(e, op, region) for e in found]


A, B = Fact(a, "!=", "a is nonzero"), Fact(b, "!=", "b is nonzero")
TRUE = [
    *rows(
        ">", NO, 1 + x**2, x**2 - 2 * x * y + 2 * y**2 + 1, 2 + sin(x), exp(x) - x, 1 + tanh(x),
        2 - atan(x), pi - 3, sympy.E - exp(Rational(1, 2)), f**2 + exp(f),
        tan(Rational(1, 6)), sin(pi * sqrt(sympy.Integer(2))) + 1,
    ),
    *rows(
        ">=", NO, x**2, x**2 - 2 * x + 1, exp(x) - 1 - x, exp(2 * x) - 2 * exp(x) + 1, Abs(x) - x,
        1 - erf(x) ** 2, x * erf(x), 1 + sign(x),
    ),
    *rows("!=", NO, cos(sympy.Integer(2)), -1 - x**2),
    *rows(">", POSITIVE, gamma(p), p**x, p / (p + q)),
    *rows(">", UNIT, 1 - x**2, 2 + x**3),
    *rows("!=", (A,), a),
    *rows("!=", (A, B), a * b),
    *rows(">", (Fact(a - b - 1, ">=", "a > b"),), a - b),
]  # fmt: skip
FALSE = [
    *rows(
        ">=", NO, x, 1 + x**3, exp(x) - 1 - Rational(1001, 1000) * x, exp(x) - 1, sqrt(x**2) - x - 1, Abs(x) - 2 * x,
        Rational(3, 2) - atan(x), Rational(99, 100) - erf(x), sign(x) ** 2 - 1, pi - Rational(355, 113),
        sin(sympy.Integer(1)) - Rational(8415, 10000), f, sin(x) + sin(2 * x) + 1,
    ),
    *rows(">", NO, x**2, 1 + sin(x), exp(x) - 1 - x, log(1 + x**2), tan(sympy.Integer(2))),
    *rows("!=", NO, x**2, sign(x)),
    *rows(">=", POSITIVE, 1 - log(p), 1 - p**2 - q**2 - p * q, sqrt(p) - p, p**x - 1),
    *rows(">=", UNIT, 1 - x**2 - Rational(1, 1000)),
    *rows(">=", (A,), a),
    *rows("!=", (A, B), a + b),
]  # fmt: skip


@pytest.mark.parametrize(("e", "op", "region"), TRUE, ids=lambda value: str(value)[:40])
def test_what_holds_is_shown(e: Expr, op: str, region: Region) -> None:
    assert scalar(e, op, region) is not None


@pytest.mark.parametrize(("e", "op", "region"), FALSE, ids=lambda value: str(value)[:40])
def test_what_does_not_hold_is_never_shown(e: Expr, op: str, region: Region) -> None:
    assert scalar(e, op, region) is None


TRANSCENDENTALS = [
    exp(x), exp(x * y / 2), exp(x) * exp(x / 3), sqrt(1 + x**2), (2 + y**2) ** Rational(2, 3), log(2 + x**2),
    log(p) * log(q), sin(x) * cos(x), Abs(x - y), sign(x) * atan(y), erf(x * y), gamma(p), p**x, pi * x, sympy.E * x,
    tanh(x), 1 / (1 + exp(x)), exp(1 / p), sqrt(p / (1 + x**2)), Abs(sin(x)) * exp(-Abs(y)),
]  # fmt: skip


def at_random(problem: PolynomialProblem, source: random.Random) -> dict[sympy.Symbol, float]:
    names = frozenset[sympy.Symbol]().union(*(name.free_symbols for name in problem.names))
    return {s: abs(source.gauss(0, 2)) + 0.01 if s.is_positive else source.gauss(0, 2) for s in names}


@pytest.mark.parametrize("e", TRANSCENDENTALS, ids=str)
def test_facts_about_kernels_are_true(e: Expr) -> None:
    """Every premise that proofs are given is checked at random points: a false one could prove anything."""
    found = problem(((e,),), POSITIVE)
    source = random.Random(3)
    for _ in range(25):
        at = at_random(found, source)
        numbers = {s: sympy.Float(v, 40) for s, v in at.items()}
        values = [float(name.xreplace(numbers).evalf(30)) for name in found.names]
        size = max(1.0, *map(abs, values)) ** 3

        def value(poly: object, values: list[float] = values) -> float:
            terms = poly.to_dict().items()
            return sum(float(c) * math.prod(v ** int(n) for v, n in zip(values, m, strict=True)) for m, c in terms)

        assert all(value(fact.value) > -1e-9 * size for fact in found.facts)
        assert all(abs(value(zero)) < 1e-9 * size**2 for zero in found.zeros)
        assert all(values[k] >= 0 for k in found.signs.nonnegative)
        assert all(values[k] != 0 for k in found.signs.nonzero)
        assert value(found.scale) > 0
        exact = float(e.xreplace(numbers).evalf(30))
        assert value(found.matrix[0][0]) == pytest.approx(exact * value(found.scale), rel=1e-6, abs=1e-9 * size)


def test_a_pole_is_no_proof_of_a_sign() -> None:
    """1/x has no sign; times x**2 it is x."""
    assert scalar(1 / x, ">=", NO) is None
    assert scalar(1 / x**2, ">", NO) is not None  # where it is defined, which is asked apart
    assert scalar(1 / (x**2 - 2) + 1, ">=", NO) is None


def test_what_is_not_symmetric_is_not_shown() -> None:
    assert semidefinite(((x**2, x), (-x, x**2)), NO) == "not shown to be symmetric"
    assert isinstance(semidefinite(((exp(2 * x), exp(x) * exp(y)), (exp(x + y), exp(2 * y))), NO), Shown)


def test_a_proposal_counts_only_if_it_is_exact() -> None:
    assert find_negative_direction(((x**2 - 2 * x + 1,),), NO, (x,)) is None
    found = find_negative_direction(((x**2 - 2 * x + 1 - Rational(1, 10**6),),), NO, (x,))
    assert found is not None
    assert isinstance(found.value, Fraction)
    assert (found.at[x] - 1) ** 2 - Fraction(1, 10**6) == found.value < 0


def test_a_falsified_point_lies_in_the_region() -> None:
    apart = Fact(p - q - Rational(1, 5), "==", "")
    found = find_negative_direction(((p * q - Rational(6, 25),),), (*SIMPLEX, apart), (p, q))
    assert found is not None
    assert found.at[p] - found.at[q] == Fraction(1, 5)
    assert 0 < found.at[q] < found.at[p] < 1 - found.at[q]


def test_the_kernel_of_a_gram_matrix_is_made_rational() -> None:
    null = null_space(np.array([[1.0, -0.5], [-0.5, 0.25]]) + 1e-12, 1e-6)
    assert null is not None
    (v,) = null
    assert v[0] / v[1] == fmpq(1, 2)


def test_what_is_not_real_is_refused() -> None:
    with pytest.raises(NoNormalFormError):
        problem(((sympy.I * x,),), NO)

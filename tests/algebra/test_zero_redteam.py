"""The zero test under fire: what is zero is seen, what is not zero never is, large residuals are fast."""

import random
import sys
from fractions import Fraction
from pathlib import Path
from typing import cast

import pytest
import sympy
from processor_time import ends
from sympy import Abs, Expr, Rational, exp, log, sqrt, symbols

from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate, is_certainly
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode leaves test folders off the path

import zero_redteam as redteam

NOT_SEEN = {"sqrt(3 + 2 sqrt 2) - 1 - sqrt 2", "atan x + atan 1/x - pi/2"}
"""True identities between transcendentals of which the normal form knows no relation."""

x, y = symbols("x y", real=True)
p, q = symbols("p q", positive=True)


@pytest.mark.parametrize("name", redteam.IDENTITIES)
def test_an_identity_is_seen(name: str) -> None:
    assert is_zero(redteam.IDENTITIES[name]) is (name not in NOT_SEEN)


@pytest.mark.parametrize(
    ("name", "e"), tuple(redteam.near_misses()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_near_miss_is_never_zero(name: str, e: Expr) -> None:
    assert not is_zero(e), name


@pytest.mark.parametrize("name", redteam.RESIDUALS)
def test_a_residual_vanishes_in_time(name: str) -> None:
    e = redteam.RESIDUALS[name]()
    with ends():
        assert is_zero(e)


@pytest.mark.parametrize("name", redteam.RESIDUALS)
def test_a_perturbed_residual_does_not(name: str) -> None:
    assert not is_zero(redteam.RESIDUALS[name]() + redteam.PERTURBATION)


@pytest.mark.parametrize(
    "e",
    [
        sqrt(p * q**3) - q * sqrt(p) * sqrt(q),
        log(Abs(x * y)) - log(Abs(x)) - log(Abs(y)),
        sqrt(x**2 * (1 + y**2)) - Abs(x) * sqrt(1 + y**2),
        sqrt(p + q / p**2) * p - sqrt(p**3 + q),
        log(exp(x) * p) - x - log(p),
        Abs(x) ** Rational(1, 2) * Abs(x) ** Rational(3, 2) - x**2,
        sympy.sign(x) ** 3 - sympy.sign(x),
        sympy.Max(x, y) + sympy.Min(x, y) - x - y,
        sympy.Piecewise((x, x > 0), (-x, True)) - Abs(x),
        sympy.diff(sqrt(x + q / y**2), y) * sqrt(x + q / y**2) + q / y**3,
    ],
    ids=str,
)
def test_moduli_roots_and_logarithms_have_one_form(e: Expr) -> None:
    assert is_zero(e)


def test_a_root_of_something_negative_has_no_normal_form() -> None:
    with pytest.raises(NoNormalFormError, match="negative"):
        is_zero(sqrt(-1 - x**2) - sqrt(-1 - x**2) * y)


def _random(depth: int, draw: random.Random) -> Expr:
    if not depth:
        return draw.choice([x, y, p, q, sympy.Integer(draw.randint(-3, 3)), Rational(draw.randint(1, 5), 3)])
    a, b = _random(depth - 1, draw), _random(depth - 1, draw)
    power = draw.choice([2, 3, -1, Rational(1, 2), Rational(-1, 2), Rational(1, 4), Rational(1, 3)])
    made = [a + b, a * b, a**power, Abs(a), log(a), exp(a), sympy.sin(2 * a), sympy.cos(a + x), sympy.tanh(a)]
    return draw.choice([*made, sqrt(a**2 * b), sympy.sign(a)])


def _identity(draw: random.Random) -> Expr:
    """Return the difference of two forms that are often, but not always, the same."""
    a, b = _random(draw.choice([1, 2, 2, 3]), draw), _random(2, draw)
    return draw.choice(
        [
            sqrt(a**2) - draw.choice([a, Abs(a)]),
            sqrt(a * b) - sqrt(a) * sqrt(b),
            sqrt(a * b) ** 2 - Abs(a) * Abs(b),
            log(a * b) - log(a) - log(b),
            sympy.expand(a) - a,
            a - b,
        ]
    )


def _is_on_a_kink(e: Expr, at: dict[Expr, Fraction]) -> bool:
    inner = [node.args[0] for node in e.atoms(sympy.sign, log)] + [node.base for node in e.atoms(sympy.Pow)]
    try:
        return not all(is_certainly(evaluate(cast(Expr, u), at.__getitem__), 0) for u in inner)
    except NoValueError:
        return True


@pytest.mark.slow
def test_nothing_called_zero_has_a_value_that_is_not() -> None:
    draw = random.Random(2015)
    zeros = 0
    for _ in range(400):
        e = _identity(draw)
        if e == 0 or e.has(sympy.zoo, sympy.nan, sympy.I, sympy.oo):
            continue
        try:
            if not is_zero(e):
                continue
        except NoNormalFormError:
            continue
        zeros += 1
        for _ in range(6):
            at: dict[Expr, Fraction] = {s: Fraction(draw.randint(-9, 9), draw.randint(1, 4)) for s in (x, y)}
            at |= {s: Fraction(draw.randint(1, 9), draw.randint(1, 4)) for s in (p, q)}
            try:
                value = evaluate(e, at.__getitem__)
            except NoValueError:
                continue
            assert not is_certainly(value, 0) or _is_on_a_kink(e, at), (e, at)
    assert zeros > 50

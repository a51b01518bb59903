"""The zero test: what is zero is seen, what is not zero never is, large residuals are fast."""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import cast

import pytest
import sympy
from processor_time import ends
from sympy import Abs, Expr, Function, Rational, cos, cosh, exp, gamma, log, sign, sin, sinh, sqrt, symbols, tan, tanh

from recipe_compiler.algebra.dynamics.system import System, drift, residual
from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate, is_certainly
from recipe_compiler.algebra.scalars.sign_cells import chosen
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero

x, y = symbols("x y", real=True)
p, q = symbols("p q", positive=True)
a, b, c = symbols("a b c", real=True)
U = Function("U", real=True)(x, y)
PERTURBATION = Rational(1, 10**30)

IDENTITIES: list[Expr] = [
    log(p * q) - log(p) - log(q) + log(8) - 3 * log(2), log(Abs(x * y)) - log(Abs(x)) - log(Abs(y)),
    log(exp(x) * p) - x - log(p), sympy.Mul(sqrt(p), sqrt(q), evaluate=False) - sqrt(p * q), exp(log(p) / 2) - sqrt(p),
    sqrt(x**2) - Abs(x), sqrt((1 + x**2) ** 2) - (1 + x**2), sqrt(1 + 2 * p + p**2) - 1 - p,
    sqrt(1 + 2 * x + x**2) - Abs(1 + x), sqrt(1 + x**2) ** 3 - (1 + x**2) * sqrt(1 + x**2),
    (sqrt(sqrt(1 + x**2) + 1)) ** 4 - (1 + x**2) - 1 - 2 * sqrt(1 + x**2),
    1 / (sqrt(x**2 + 1) + x) - (sqrt(x**2 + 1) - x), sqrt(p * q**3) - q * sqrt(p) * sqrt(q),
    sqrt(x**2 * (1 + y**2)) - Abs(x) * sqrt(1 + y**2), sqrt(p + q / p**2) * p - sqrt(p**3 + q),
    sqrt(a + b / c**2) * Abs(c) - sqrt(a * c**2 + b), sympy.diff(sqrt(x + q / y**2), y) * sqrt(x + q / y**2) + q / y**3,
    sqrt(exp(x)) - exp(x / 2), exp(x + y) - exp(x) * exp(y), exp(x / 3) ** 2 * exp(x / 6) ** 2 - exp(x),
    1 / (1 + exp(-x)) - exp(x) / (1 + exp(x)), sympy.diff(log(1 + exp(x)), x) - 1 / (1 + exp(-x)),
    log(1 + exp(x)) - x - log(1 + exp(-x)), sin(x) ** 2 + cos(x) ** 2 - 1, sin(2 * x) - 2 * sin(x) * cos(x),
    cos(x + y) - cos(x) * cos(y) + sin(x) * sin(y), tan(2 * x) - 2 * tan(x) / (1 - tan(x) ** 2),
    sympy.diff(tan(x), x) - 1 / cos(x) ** 2, tanh(x) - (exp(x) - exp(-x)) / (exp(x) + exp(-x)),
    tanh(x) - sinh(x) / cosh(x), p**a * p**b - p ** (a + b), p**x * p ** (1 - x) - p,
    (p ** Rational(1, 4)) ** 2 - sqrt(p), Abs(x) ** Rational(1, 2) * Abs(x) ** Rational(3, 2) - x**2,
    Abs(x * y) - Abs(x) * Abs(y), sign(x) * Abs(x) - x, sign(x) ** 3 - sign(x),
    sympy.Max(x, y) + sympy.Min(x, y) - x - y, chosen(">", x, Rational(0), x, -x) - Abs(x),
    gamma(p + 1) - p * gamma(p), sympy.erf(x) + sympy.erf(-x), 1 / (p - q) - 1 / (p + q) - 2 * q / (p**2 - q**2),
    sympy.diff(U**2, x, y) - 2 * sympy.diff(U, x) * sympy.diff(U, y) - 2 * U * sympy.diff(U, x, y),
    sympy.diff((1 + x + y + p + q) ** 60, x) - 60 * (1 + x + y + p + q) ** 59,
]  # fmt: skip
"""Zero wherever both sides are defined."""
NOT_SEEN: list[Expr] = [sqrt(3 + 2 * sqrt(2)) - 1 - sqrt(2), sympy.atan(p) + sympy.atan(1 / p) - sympy.pi / 2]
"""Zero too, between transcendentals of which the normal form knows no relation."""
FALSE: list[Expr] = [
    sympy.pi - Rational(22, 7), PERTURBATION, Rational(1, 10**12) * exp(-p), x - x * (1 + PERTURBATION), Abs(x) - x,
    sqrt(x**2) - x, sqrt(1 + 2 * x + x**2) - 1 - x, log(x**2) - 2 * log(Abs(x)) + PERTURBATION * x,
    Abs(x + y) - Abs(x) - Abs(y), sign(x * y) - sign(x), sin(3 * x) - 3 * sin(x),
    sqrt(a + b / c**2) * c - sqrt(a * c**2 + b), exp(x) - 1 - x - x**2 / 2, sympy.diff(U, x) - sympy.diff(U, y),
]  # fmt: skip
NO_FORM: list[Expr] = [
    sympy.nan, sympy.zoo + x, sympy.I * x - sympy.I * x * y, sympy.diff(sign(x), x),
    sqrt(-1 - x**2) - sqrt(-1 - x**2) * y, 1 / ((x + 1) ** 2 - x**2 - 2 * x - 1) - 1,
]  # fmt: skip


@pytest.mark.parametrize("e", IDENTITIES, ids=str)
def test_an_identity_is_seen_and_nothing_beside_it(e: Expr) -> None:
    assert is_zero(e)
    assert not is_zero(e + PERTURBATION)
    assert not is_zero(e + PERTURBATION * (1 + x**2))


@pytest.mark.parametrize("e", [*NOT_SEEN, *FALSE], ids=str)
def test_what_is_not_seen_to_be_zero(e: Expr) -> None:
    assert not is_zero(e)


@pytest.mark.parametrize("e", NO_FORM, ids=str)
def test_what_is_not_defined_has_no_normal_form(e: Expr) -> None:
    with pytest.raises(NoNormalFormError):
        is_zero(e)


# ---- residuals of right samplers


def dense(U: Expr, t: tuple[sympy.Symbol, ...], own: Callable[[int], Expr], other: Callable[[int, int], Expr]) -> Expr:
    """Return the residual of Langevin dynamics with the metric diag(own) + other."""
    n = range(len(t))
    D = tuple(tuple((own(i) if i == j else 0) + other(i, j) for j in n) for i in n)
    s = System(t, U, D, tuple(tuple(sympy.Integer(0) for _ in n) for _ in n))
    return residual(s, drift(s))


def rational_metric(d: int) -> Expr:
    t = symbols(f"t1:{d + 1}", real=True)
    q = 1 + sum(s**2 for s in t)
    U = sum((t[i] - t[i - 1] ** 2) ** 2 for i in range(d)) + log(q)
    return dense(U, t, lambda i: 1 / q, lambda i, j: t[i] * t[j] / q**2)


def exponential_metric(d: int) -> Expr:
    t = symbols(f"t1:{d + 1}", real=True)
    s = sum(exp(z) for z in t)
    return dense(log(s) + sum(z**2 for z in t), t, lambda i: exp(-t[i]) / s, lambda i, j: exp(2 * t[0]))


def hamiltonian(t: tuple[sympy.Symbol, ...], r: tuple[sympy.Symbol, ...], H: Expr, K: list[Expr]) -> Expr:
    """Return the residual of SGRHMC with a diagonal K: D_rr = K^2, Q = [[0, -K], [K, 0]]."""
    d, zero = len(t), sympy.Integer(0)
    n = range(2 * d)
    D = tuple(tuple(K[i - d] ** 2 if i == j >= d else zero for j in n) for i in n)
    Q = tuple(tuple(-K[i] if j == i + d else K[j] if i == j + d else zero for j in n) for i in n)
    s = System((*t, *r), H, D, Q)
    return residual(s, drift(s))


def root_metric(d: int) -> Expr:
    """Return the residual with G^(-1/2) = diag(sqrt(theta))."""
    t, r = symbols(f"t1:{d + 1}", positive=True), symbols(f"r1:{d + 1}", real=True)
    H = sum(s - log(s) / 3 for s in t) + log(1 + sum(t)) + sum(s**2 for s in r) / 2
    return hamiltonian(t, r, H, [sqrt(s) for s in t])


def potential_metric(U: Callable[[Expr], Expr]) -> Expr:
    """Return the residual with G^(-1) = 3/2 sqrt|U + 1/2| in one dimension."""
    t, r = symbols("t r", real=True)
    return hamiltonian((t,), (r,), U(t) + r**2 / 2, [sqrt(Rational(3, 2) * sqrt(Abs(U(t) + Rational(1, 2))))])


RESIDUALS: dict[str, Callable[[], Expr]] = {
    **{f"rational metric, d = {d}": lambda d=d: rational_metric(d) for d in (2, 5, 10)},
    **{f"root metric, d = {d}": lambda d=d: root_metric(d) for d in (1, 3, 10)},
    "metric of t^4 - 2 t^2": lambda: potential_metric(lambda t: t**4 - 2 * t**2),
    "metric of t^2/2": lambda: potential_metric(lambda t: t**2 / 2),
    **{f"metric of exponentials, d = {d}": lambda d=d: exponential_metric(d) for d in (2, 6)},
}


@pytest.mark.parametrize("name", RESIDUALS)
def test_a_residual_vanishes_in_time_and_a_perturbed_one_does_not(name: str) -> None:
    e = RESIDUALS[name]()
    with ends():
        assert is_zero(e)
    assert not is_zero(e + PERTURBATION)


# ---- by chance


def _random(depth: int, draw: random.Random) -> Expr:
    if not depth:
        return draw.choice([x, y, p, q, sympy.Integer(draw.randint(-3, 3)), Rational(draw.randint(1, 5), 3)])
    a, b = _random(depth - 1, draw), _random(depth - 1, draw)
    power = draw.choice([2, 3, -1, Rational(1, 2), Rational(-1, 2), Rational(1, 4), Rational(1, 3)])
    made = [a + b, a * b, a**power, Abs(a), log(a), exp(a), sin(2 * a), cos(a + x), tanh(a)]
    return draw.choice([*made, sqrt(a**2 * b), sign(a)])


def _identity(draw: random.Random) -> Expr:
    """Return the difference of two forms that are often, but not always, the same."""
    a, b = _random(draw.choice([1, 2, 2, 3]), draw), _random(2, draw)
    return draw.choice([
        sqrt(a**2) - draw.choice([a, Abs(a)]), sqrt(a * b) - sqrt(a) * sqrt(b), sqrt(a * b) ** 2 - Abs(a) * Abs(b),
        log(a * b) - log(a) - log(b), sympy.expand(a) - a, a - b,
    ])  # fmt: skip


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

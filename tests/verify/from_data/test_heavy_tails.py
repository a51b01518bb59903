"""Student errors and one scale, against integrals over the location by quadrature, far out in the scale."""

import random
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import fmpq
from mpmath import mp, mpf, quad

from recipe_compiler.verify.from_data.decide import Shown, decide
from recipe_compiler.verify.from_data.energy import Energy, Group, Own

NEAR, FAR = 7, 14
"""Distances in t at which the integrand is looked at."""
V = ("s", 0)


def integrand(data: list[int], tail: Fraction, power: Fraction, t: int) -> mpf:
    """Return log int prod_n (1 + exp(-2 t) (y_n - m)**2)**-tail dm - power t + t."""
    mu, p = mp.exp(-2 * t), mpf(tail.numerator) / tail.denominator
    width = mp.exp(t)
    steps = [mpf(0), *(width * mpf(10) ** k for k in range(-3, 24, 3))]
    edges = sorted({y + sign * step for y in data for step in steps for sign in (-1, 1)})

    def f(m: mpf) -> mpf:
        return mp.exp(-p * sum(mp.log1p(mu * (m - y) ** 2) for y in data))

    total = sum(quad(f, [a, b], maxdegree=3) for a, b in pairwise(edges))
    return mp.log(total) - mpf(power.numerator) / power.denominator * t + t


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_what_is_proved_of_student_errors_decays_on_both_sides(seed: int) -> None:
    rng = random.Random(seed)
    data = [rng.choice((0, 0, 0, 1, 3)) for _ in range(rng.randint(2, 7))]
    tail = Fraction(rng.choice((2, 3, 5)), 2)
    power = Fraction(len(data) + rng.choice((0, 0, 1)))
    form = [(fmpq(1), fmpq(-y)) for y in data]
    group = Group(((V, Fraction(-2)),), fmpq(tail.numerator, tail.denominator), tuple(form))
    own = Own({(Fraction(0), 1): fmpq(power.numerator, power.denominator)}, ())
    energy = Energy((("m", 0),), (V,), frozenset({V}), (group,), (), (fmpq(0), fmpq(0)), {V: own}, exact=True)
    if isinstance(decide(energy), Shown):
        with mp.workdps(20):
            for end in (-1, 1):
                grows = integrand(data, tail, power, end * FAR) - integrand(data, tail, power, end * NEAR)
                assert grows < -1, (data, tail, power, end, grows)


def test_where_most_data_are_the_same_tails_decide() -> None:
    found = {tail: isinstance(decide(ties(fmpq(tail, 2))), Shown) for tail in (2, 20)}
    assert found == {2: False, 20: True}


def ties(tail: fmpq) -> Energy:
    """Return the energy of eight equal data and four others, the scale flat."""
    form = [(fmpq(1), fmpq(-y)) for y in (*[0] * 8, 1, 2, 3, 4)]
    own = Own({(Fraction(0), 1): fmpq(12)}, ())
    group = Group(((V, Fraction(-2)),), tail, tuple(form))
    return Energy((("m", 0),), (V,), frozenset({V}), (group,), (), (fmpq(0), fmpq(0)), {V: own}, exact=True)

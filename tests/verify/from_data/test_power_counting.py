"""Finite integrals over theta and scales, against Gaussian integrals in closed form at 600 digits, far out."""

import random
from fractions import Fraction
from itertools import product

import pytest
from flint import fmpq
from mpmath import det, log, matrix, mp, mpf
from some import some

from recipe_compiler.verify.from_data.decide import Infinite, Open, Shown, decide
from recipe_compiler.verify.from_data.energy import Energy, Form, Group, Own

NEAR, FAR = 30, 60
"""Distances in t at which the integrand is looked at."""


def random_energy(rng: random.Random) -> Energy:
    """Return a Gaussian energy with forms of small integers, one or two scales, and powers of them."""
    width, scales = rng.randint(1, 3), rng.randint(1, 2)
    theta = tuple(("theta", k) for k in range(width))
    names = tuple(("s", k) for k in range(scales))

    def form() -> Form:
        constant = rng.choice((0, 0, 1, 2))
        return tuple(fmpq(x) for x in (*(rng.choice((-1, 0, 0, 1, 2)) for _ in theta), constant))

    groups = []
    for _ in range(rng.randint(1, 3)):
        weights = tuple((v, Fraction(w)) for v in names if (w := rng.choice((-2, -2, 0, 1, 2))) != 0)
        if weights not in [g.weights for g in groups]:
            groups.append(Group(weights, None, tuple(form() for _ in range(rng.randint(1, 5)))))
    own = {v: Own({(Fraction(0), 1): fmpq(rng.randint(-3, 8), 2)}, logs(rng)) for v in names}
    half = frozenset(v for v in names if rng.random() < 0.5)
    return Energy(theta, names, half, tuple(groups), (), (fmpq(0),) * (width + 1), own, exact=True)


def logs(rng: random.Random) -> tuple[tuple[fmpq, frozenset[Fraction]], ...]:
    if rng.random() < 0.5:
        return ()
    return ((fmpq(rng.randint(1, 6), 2), frozenset((Fraction(0), Fraction(rng.choice((-2, 1, 2)))))),)


def integrand(energy: Energy, t: tuple[int, ...]) -> mpf:
    """Return the logarithm of what is left over t once theta is integrated out, in closed form."""
    width, at = len(energy.theta), dict(zip(energy.scales, (mpf(x) for x in t), strict=True))
    A, b, c = matrix(width, width), matrix(width, 1), mpf(0)
    for group in energy.groups:
        mu = mp.exp(sum((mpf(w.numerator) / w.denominator * at[v] for v, w in group.weights), mpf(0)))
        for form in group.forms:
            x = [mpf(int(a.p)) / int(a.q) for a in form]
            c += mu * x[-1] ** 2
            for i in range(width):
                b[i] += mu * x[i] * x[-1]
                for j in range(width):
                    A[i, j] += mu * x[i] * x[j]
    found = -log(det(A)) / 2 - (c - (b.T * A**-1 * b)[0]) / 2
    for v, own in energy.own.items():
        found -= sum(mpf(int(a.p)) / int(a.q) * at[v] for a in own.terms.values())
        for n, rates in own.logs:
            found -= mpf(int(n.p)) / int(n.q) * log(sum(mp.exp(mpf(int(r)) * at[v]) for r in rates))
        found += at[v] if v in energy.half_lines else 0
    return found


def highest(energy: Energy, distance: int) -> mpf:
    """Return the largest integrand on the boundary of the cube of t."""
    points = range(-distance, distance + 1, distance // 6)
    return max(
        integrand(energy, t) for t in product(points, repeat=len(energy.scales)) if max(abs(x) for x in t) == distance
    )


@pytest.mark.parametrize("seed", some(range(60)))
def test_verdicts_on_gaussian_energies_are_those_of_their_closed_form(seed: int) -> None:
    energy = random_energy(random.Random(seed))
    found = decide(energy)
    if isinstance(found, Infinite) and "direction" in dict(found.witness):
        return  # the forms have no full rank: there is no closed form
    with mp.workdps(600):
        try:
            grows = highest(energy, FAR) - highest(energy, NEAR)
        except ZeroDivisionError:
            assert isinstance(found, (Infinite, Open))
            return
    if isinstance(found, Shown):
        assert grows < -1, (energy, grows)
    if isinstance(found, Infinite):
        assert grows > -1, (energy, grows)

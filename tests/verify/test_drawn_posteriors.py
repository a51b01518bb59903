"""Posteriors drawn from a grammar, at few data with ties: a verdict is held to how their integrals go at the ends.

Over a location m the integral is taken by quadrature, on a grid that is fine near every datum; it then goes like s**k
towards s = 0 and s = oo. Finite is k > -1 at 0 and k < -1 at oo.
"""

from random import Random

import numpy as np
import pytest
from answers import answer, document
from scipy.special import gammaln
from some import some

TARGET = """
name: model
state: {m: {}, s: {domain: positive, transform: log}}
data: {y: {shape: N}}
log_prior: PRIOR
log_likelihood: "LAW"
"""
BUILD = """
name: drawn
dynamics: SPECS/dynamics/sghmc.yaml
target: target.yaml
scheme: {name: baoab}
variant: full
data: {file: data.csv, y: y}
run: {step_size: auto}
"""


def normal(x, m, s):
    return -(((x - m) / s) ** 2) / 2 - np.log(s) - np.log(2 * np.pi) / 2


def student_t(x, nu, m, s):
    ratio = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu * np.pi) / 2
    return ratio - np.log(s) - (nu + 1) / 2 * np.log1p(((x - m) / s) ** 2 / nu)


def cauchy(x, m, s):
    return student_t(x, 1, m, s)


def laplace(x, m, s):
    return -abs(x - m) / s - np.log(2 * s)


def half_normal(s, scale):
    return -((s / scale) ** 2) / 2


def half_cauchy(s, scale):
    return -np.log1p((s / scale) ** 2)


def gamma(s, shape, rate):
    return (shape - 1) * np.log(s) - rate * s


def inverse_gamma(s, shape, scale):
    return -(shape + 1) * np.log(s) - scale / s


def mixture(weights, one, other):
    return np.logaddexp(one, other) + np.log(weights[0])


NAMED = {one.__name__: one for one in (normal, student_t, cauchy, laplace, half_normal, half_cauchy, gamma)}
NAMED |= {"inverse_gamma": inverse_gamma, "mixture": mixture, "where": np.where, "log": np.log, "sqrt": np.sqrt}
OF_LOCATIONS = ("0", "normal(m, 0, 1)", "normal(m, 0, s)", "normal(m, 1, s)", "cauchy(m, 0, s)", "laplace(m, 0, s)")
OF_SCALES = ("0", "-log(s)", "half_normal(s, 1)", "half_cauchy(s, 1)", "gamma(s, 1/2, 1)", "inverse_gamma(s, 2, 1)",
             "-2*log(1 + s)")  # fmt: skip
LAWS = (
    "normal(y, m, s)",
    "cauchy(y, m, s)",
    "student_t(y, 3, m, s)",
    "laplace(y, m, s)",
    "normal(y, m, 2*s)",
    "mixture([1/2, 1/2], normal(y, m, s), normal(y, 0, 1))",
    "mixture([1/2, 1/2], normal(y, m, s), normal(y, -m, s))",
    "normal(y, 0, s)",
    "normal(y, m, 1)",
    "normal(y, m, s) + log(s)/2",
    "normal(y, m, s) + normal(y, m, s)",
    "where(y > 0, normal(y, m, s), cauchy(y, m, s))",
    "where(y > 0, normal(y, m, s), normal(y, 0, 1))",
    "normal(y, m, sqrt(s))",
    "normal(y, m, 1/s)",
    "normal(y, s*m, s)",
    "normal(y, s, 1)",
)
DATA = ((0,), (2,), (0, 0), (1, 1), (0, 1), (0, 0, 0), (0, 1, 3), (0, 0, 1), (1, 1, 2, 2), (1, 1, 1, 2), (1, 2, 4, 7),
        (0, 0, 0, 0, 1, 2), (-1, 1), (-1, -1, 2))  # fmt: skip
NEAR = 0.05
"""What exponents are apart by from those of the limit, at most."""


def log_integral(formulas, data, s):
    """Return the logarithm of the integral over m, and the share of it that lies at the ends of the grid."""
    steps = np.logspace(-14, 14, 2500)
    marks = [0.0, 1.0, *data, *(-y for y in data), *(y / s for y in data)]
    m = np.unique(np.add.outer(marks, [steps, -steps, s * steps, -s * steps]))
    with np.errstate(all="ignore"):
        values = eval(formulas[0], {**NAMED, "m": m, "s": s}) + eval(formulas[1], {**NAMED, "s": s}) + 0 * m
        values = values + sum(eval(formulas[2], {**NAMED, "y": float(y), "m": m, "s": s}) for y in data)
    heights = np.exp(values - values.max())
    total = (np.diff(m) * (heights[1:] + heights[:-1])).sum() / 2
    return values.max() + np.log(total), max(heights[0] * abs(m[0]), heights[-1] * m[-1]) / total


def exponents(formulas, data):
    """Return k of s**k towards 0 and oo; None where the integral over m is infinite."""
    found = []
    for ends in ((1e-4, 1e-7), (1e4, 1e7)):
        (one, first), (other, second) = (log_integral(formulas, data, s) for s in ends)
        if max(first, second) > 1e-3:
            return None
        found.append((other - one) / np.log(ends[1] / ends[0]))
    return found


@pytest.mark.parametrize("seed", some(range(60), 8))
def test_what_is_proved_of_a_posterior_is_so(seed):
    random = Random(seed)
    for _ in range(5):
        *formulas, data = (random.choice(one) for one in (OF_LOCATIONS, OF_SCALES, LAWS, DATA))
        target = TARGET.replace("PRIOR", " + ".join(formulas[:2])).replace("LAW", formulas[2])
        rows = "\n".join(map(str, ("y", *data, "")))
        found = answer(document(BUILD, target=target, **{"data.csv": rows}), "normalisable").decision
        verdict, known = found.verdict.value, exponents(formulas, data)
        is_finite, is_infinite = known is not None, known is None
        if known is not None:
            is_finite = known[0] > NEAR - 1 and known[1] < -1 - NEAR
            is_infinite = known[0] < NEAR - 1 or known[1] > -1 - NEAR
        almost = any("null set" in fact for fact in found.given)
        assert verdict != "proved" or is_finite or almost, (formulas, data, known)
        assert verdict != "refuted" or is_infinite, (formulas, data, known)

"""`where` in log likelihoods as it is emitted: hurdles, censored data, pieces that the state chooses and that meet.

Gradient, U and log likelihood beside the models written by hand in 50 digits, on both sides of every condition and on
it; faults of the text are found by the read-back; data that are drawn have the two parts of their law.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from emitted_target import Emitted, emitted_target
from loaders import load_target

from recipe_compiler.errors import CompilerError
from recipe_compiler.program.canonical import check_canonical
from recipe_compiler.program.canonical_kernel import check_kernel
from recipe_compiler.run.hurdles import probability_above
from recipe_compiler.spec.model import Target

mp = mpmath.mp
Numbers = Sequence[Any]

HURDLE = """
state: {a: {}, b: {}, g: {shape: 2}, sigma: {constraint: positive}}
data: {y: {shape: N, is: nonnegative}, x: {shape: N}}
let: {odds: "g[0] + g[1]*x"}
log_prior: normal(a, 0, 5) + normal(b, 0, 5) + normal(g, 0, 5) + half_cauchy(sigma, 2)
log_likelihood: where(y > 0, bernoulli_logit(1, odds) + lognormal(y, a + b*x, sigma), bernoulli_logit(0, odds))
"""
CENSORED = """
state: {a: {}, b: {}, sigma: {constraint: positive}}
data: {y: {shape: N}, x: {shape: N}}
log_prior: normal(a, 0, 5) + normal(b, 0, 5) + half_cauchy(sigma, 2)
log_likelihood: where(y < 3/2, normal(y, a + b*x, sigma), log_ndtr((a + b*x - 3/2)/sigma))
"""
HUBER = """
state: {a: {}, b: {}}
data: {y: {shape: N}, x: {shape: N}}
log_prior: normal(a, 0, 5) + normal(b, 0, 5)
let: {e: y - a - b*x}
log_likelihood: where(e > 1, 1/2 - e, where(e < -1, 1/2 + e, -e**2/2))
"""
TARGETS = {"hurdle": HURDLE, "censored": CENSORED, "huber": HUBER}
THETA = {"hurdle": [0.3, -0.7, 0.4, 1.1, -0.6], "censored": [0.8, 0.4, -0.3], "huber": [0.25, 0.5]}
Y = {
    "hurdle": [0.0, 1.5, 0.25, 0.0, 3.0, 1e-3],
    "censored": [0.5, 1.5, -0.75, 1.5, 1.25, 1.5],
    "huber": [0.5, 9.0, -6.0, 1.25, 0.0, 4.25],
}
X = [1.0, -0.5, 2.0, 0.0, -1.5, 0.75]


def of_datum(name: str, y: Any, x: Any, z: Numbers) -> Any:
    """Return the log likelihood of a datum."""

    def normal(u: Any, m: Any, s: Any) -> Any:
        return -(((u - m) / s) ** 2) / 2 - mp.log(s) - mp.log(2 * mp.pi) / 2

    if name == "hurdle":
        a, b, g, k, t = z
        odds = g + k * x
        below = -mp.log(1 + mp.exp(odds))
        return below if y == 0 else odds + below + normal(mp.log(y), a + b * x, mp.exp(t)) - mp.log(y)
    if name == "censored":
        a, b, t = z
        above = (a + b * x - mp.mpf(3) / 2) / mp.exp(t)
        return normal(y, a + b * x, mp.exp(t)) if y < 1.5 else mp.log(mp.ncdf(above))
    e = y - z[0] - z[1] * x
    return -(e**2) / 2 if abs(e) <= 1 else mp.mpf(1) / 2 - abs(e)


def of_prior(name: str, z: Numbers) -> Any:
    free = z[: {"hurdle": 4, "censored": 2, "huber": 2}[name]]
    scale = [mp.exp(t) for t in z[len(free) :]]
    found = -sum(u**2 for u in free) / 50 - len(free) * (mp.log(5) + mp.log(2 * mp.pi) / 2)
    return found + sum(mp.log(s) - mp.log(1 + (s / 2) ** 2) - mp.log(2) + mp.log(2 / mp.pi) for s in scale)


def emitted(name: str) -> Emitted:
    return emitted_target(name, TARGETS[name], "y: y, x: x", "y,x\n1,2\n3,4\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_gradient_and_log_likelihood_are_those_by_hand(name: str) -> None:
    theta, data = np.array(THETA[name]), {"y": np.array(Y[name]), "x": np.array(X)}
    with mp.workdps(60):
        rows = [(mp.mpf(y), mp.mpf(x)) for y, x in zip(Y[name], X, strict=True)]
        z = [mp.mpf(float(t)) for t in theta]
        terms = [of_datum(name, y, x, z) for y, x in rows]

        def U(*at: Any) -> Any:
            return -of_prior(name, at) - sum(of_datum(name, y, x, at) for y, x in rows)

        slopes = [mp.diff(U, z, tuple(int(k == n) for k in range(len(z)))) for n in range(len(z))]
        whole = U(*z)
        expected, of_rows = np.array(list(map(float, slopes))), np.array(list(map(float, terms)))
    found = emitted(name).called("gradient", theta, data)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(emitted(name).called("log_likelihood", theta, data), of_rows, rtol=1e-13)
    assert float(emitted(name).called("full_potential", theta, data)) == pytest.approx(float(whole), rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_text_and_program_are_canonical_and_read_back(name: str) -> None:
    own = emitted(name)
    assert check_canonical(own.module.program) == ()
    assert check_kernel(own.module.kernel) == ()
    assert own.read()


def swapped(text: str) -> str:
    """Return a text with the pieces of its first choice by `y > 0` in each other's place."""
    line = next(line for line in text.splitlines() if " if y[row] > 0.0 else " in line and "where_y" in line)
    head, _, value = line.partition(" = ")
    yes, no = value.split(" if y[row] > 0.0 else ")
    return text.replace(line, f"{head} = {no} if y[row] > 0.0 else {yes}")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("hurdle", lambda text: text.replace("if y[row] > 0.0 else", "if y[row] >= 0.0 else")),
        ("hurdle", lambda text: text.replace("if y[row] > 0.0 else", "if x[row] > 0.0 else")),
        ("hurdle", swapped),
        ("censored", lambda text: text.replace("if y[row] < 1.5 else", "if y[row] < 1.25 else")),
        ("censored", lambda text: text.replace("if y[row] < 1.5 else", "if y[row] <= 1.5 else", 1)),
        ("huber", lambda text: text.replace("> 1.0", ">= 1.0", 1)),
        ("huber", lambda text: text.replace("< -1.0", "< 1.0", 1)),
    ],
)  # fmt: skip
def test_another_comparison_or_piece_is_found(name: str, change: Callable[[str], str]) -> None:
    own = emitted(name)
    assert change(own.module.text) != own.module.text
    with pytest.raises(CompilerError):
        own.read(change)


def target(folder: Path, text: str) -> Target:
    (folder / "target.yaml").write_text(f"name: hurdle\n{text}")
    return load_target(folder / "target.yaml")


def test_what_a_condition_does_not_imply_is_looked_at_where_it_holds(tmp_path: Path) -> None:
    text = "state: {a: {constraint: positive}}\ndata: {y: {shape: N}}\nlog_prior: exponential(a, 1)\n"
    own = target(tmp_path, f"{text}log_likelihood: where(y > -1, beta(y, a, 1), -a)\n")
    assert [(c.op, str(c.left)[:5]) for c in own.declarations.assume] == [(">", "Apply"), ("<", "Apply")]


@pytest.mark.parametrize(
    ("pieces", "is_law"),
    [
        ("bernoulli_logit(1, odds) + lognormal(y, a, sigma), bernoulli_logit(0, odds)", True),
        ("gamma(y, 2, sigma) - softplus(odds), -softplus(-odds)", True),
        ("log_ndtr(-odds) + weibull(y, 2, sigma), log_ndtr(odds)", False),  # the normal form does not know Phi
        ("bernoulli_logit(1, odds) + lognormal(y, a, sigma), bernoulli_logit(1, odds)", False),
        ("log(y) + bernoulli_logit(1, odds) + lognormal(y, a, sigma), bernoulli_logit(0, odds)", False),
        ("bernoulli_logit(1, odds) + 2*lognormal(y, a, sigma), bernoulli_logit(0, odds)", False),
        ("bernoulli_logit(1, odds*y) + lognormal(y, a, sigma), bernoulli_logit(0, odds*y)", False),
    ],
)
def test_a_law_with_zeros_is_one_where_its_parts_add_up_to_1(pieces: str, is_law: bool, tmp_path: Path) -> None:
    head, _, _ = HURDLE.partition("log_likelihood: ")
    own = target(tmp_path, f"{head}log_likelihood: where(y > 0, {pieces})\n")
    (density,) = [one for one in own.stated.densities if one.of == "y"]
    assert (probability_above(own, density) is not None) == is_law

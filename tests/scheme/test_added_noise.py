"""Noise that is added to the gradient: the law of the chain against NumPy's recursion, and what is read back of it."""

from dataclasses import replace

import numpy as np
import pytest
from answers import answer, expect
from certificates import made, rejected, said, sealed
from letters import FRICTION, MASS, NIL, ONE, SEQUENTIAL, SIGMA, K, langevin
from read_back import read_back
from scipy.linalg import expm, solve_discrete_lyapunov

from recipe_compiler.advise.forecast import forecast
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.audit.of_build import audit
from recipe_compiler.errors import CompilerError, ModelError, SpecError
from recipe_compiler.pipeline import emit_unread, make_ready, prepare_run
from recipe_compiler.report.check import check
from recipe_compiler.spec.model import Build

W = np.array([[5.0, 2.0], [2.0, 3.0]])
EPS = 0.1
NOISE = "variant: full\ngradient_noise: {add: W}"
VALUE = "  W: {shape: [d, d], is: positive semidefinite, value: [[5, 2], [2, 3]]}\nscheme:"
FREE = (("  C: {value: [[1, 1/3], [1/3, 2]]}\n", ""), ("dynamics: sghmc", "dynamics: hmc"))


def noisy(scheme: str = SEQUENTIAL, noise: str = NOISE, *changes: tuple[str, str]) -> Build:
    """Return SGHMC on a Gaussian with noise that is added to the gradient; K, M, C and W do not commute."""
    return langevin(scheme, EPS, ("variant: full", noise), ("scheme:", VALUE), *changes)


def euler(C: np.ndarray, more: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return F and Sigma of r' = r - eps (K theta + xi) - eps C inv(M) r + w, theta' = theta + eps inv(M) r'."""
    A = np.linalg.inv(MASS)
    left = np.hstack([-EPS * K, ONE - EPS * C @ A])
    G = np.vstack([EPS * A, ONE])
    return np.vstack([np.hstack([ONE, NIL]) + EPS * A @ left, left]), G @ (2 * EPS * C + EPS**2 * more) @ G.T


def baoab() -> tuple[np.ndarray, np.ndarray]:
    """Return F and Sigma over (theta, r, xi): the kicks on both sides of the end of a step share one xi."""
    A, nil = np.linalg.inv(MASS), np.zeros((2, 2))
    E = expm(-EPS * FRICTION @ A)
    kick = np.block([[ONE, nil, nil], [-EPS / 2 * K, ONE, -EPS / 2 * ONE], [nil, nil, ONE]])
    drift = np.block([[ONE, EPS / 2 * A, nil], [nil, ONE, nil], [nil, nil, ONE]])
    decay, anew = np.diag([1.0] * 6), np.diag([1.0] * 4 + [0.0] * 2)  # xi is drawn before the last kick
    decay[2:4, 2:4] = E
    of_O, of_xi = kick @ anew @ drift @ np.vstack([nil, ONE, nil]), kick @ np.vstack([nil, nil, ONE])
    noise = of_O @ (MASS - E @ MASS @ E.T) @ of_O.T + of_xi @ W @ of_xi.T
    return kick @ anew @ drift @ decay @ drift @ kick, noise


def factors(F: np.ndarray, Sigma: np.ndarray) -> np.ndarray:
    return np.sqrt(np.diag(solve_discrete_lyapunov(F, Sigma))[:2] / np.diag(SIGMA))


BY_HAND = {
    SEQUENTIAL: (NOISE, factors(*euler(FRICTION, W))),
    f"{SEQUENTIAL} ": (NOISE.replace("W}", "W, V: W}"), factors(*euler(FRICTION, NIL))),
    "{name: baoab}": (NOISE, factors(*baoab())),
}


@pytest.mark.parametrize("scheme", BY_HAND)
def test_audit_and_forecast_count_the_noise(scheme: str) -> None:
    noise, expected = BY_HAND[scheme]
    build = noisy(scheme.strip(), noise)
    (found,) = audit(build)
    sds = [float(x) for x in dict(found.formulas)["sd of theta over that of exp(-U)"].split(", ")]
    np.testing.assert_allclose(sds, expected, atol=1e-5)
    ready = make_ready(prepare_run(build, check(build), build.run))
    width = forecast(Sampler.of_run(ready)).width
    assert width is not None
    np.testing.assert_allclose(width.factors, expected, atol=1e-3)


def test_the_noise_is_not_lost_in_rounding() -> None:
    assert factors(*baoab())[0] > 1.1 > 1.01 > factors(*euler(FRICTION, NIL))[0]


@pytest.mark.parametrize("scheme", [SEQUENTIAL, "{name: euler}", "{name: baoab}"])
def test_a_text_with_other_noise_is_refused(scheme: str) -> None:
    W = "(1 + theta.T @ theta)*I + theta @ theta.T"
    build = noisy(scheme, NOISE.replace("{add: W}", f"{{add: {W}, V: 2*I}}" if "baoab" in scheme else f"{{add: {W}}}"))
    derivation, made = emit_unread(build)
    sizes = {"d": 2}
    read_back(made.module, derivation, made.names, sizes)
    lines = [line for line in made.module.text.splitlines() if line.lstrip().startswith("grad_U") and "+=" in line]
    assert lines
    for other in ("pass", lines[0].strip().replace("+= ", "+= 2.0 * "), lines[0].strip().replace("+=", "=")):
        text = made.module.text.replace(lines[0].strip(), other)
        with pytest.raises(CompilerError):
            read_back(replace(made.module, text=text), derivation, made.names, sizes)


def test_the_budget_is_about_what_is_added() -> None:
    assert "eps_max" in expect(answer(noisy(), "noise_budget"), "proved")
    for scheme in (SEQUENTIAL, "{split: [B/2, A, B/2]}"):
        refuted = expect(answer(noisy(scheme, NOISE, *FREE), "noise_budget"), "refuted")
        assert refuted["v.T @ D @ v"] == "0"
    negative = NOISE.replace("W}", '"-W"}')
    expect(answer(noisy(SEQUENTIAL, negative), "gradient_noise"), "refuted")


@pytest.mark.parametrize("scheme", [SEQUENTIAL, "{name: baoab}"])
def test_a_certificate_is_rechecked_with_what_is_added(scheme: str) -> None:
    words = "cannot read what a word subtracts" if "baoab" in scheme else "rechecked"
    assert words in said(made(noisy(scheme)))["noise_budget"]


def test_a_budget_that_is_spent_is_not_rechecked_as_held() -> None:
    whole = made(noisy())
    whole["documents"]["build"]["gradient_noise"]["add"] = "100*W"
    assert rejected(sealed(whole))


FAULTS = {
    "found `r`, expected parameters and theta": NOISE.replace("W}", '"(1 + r.T @ r)*I"}'),
    "found gradient noise of a full gradient": NOISE.replace("add: W", "V: W"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_be_added_is_a_fault(fault: str) -> None:
    with pytest.raises((SpecError, ModelError), match=fault):
        noisy(SEQUENTIAL, FAULTS[fault])


def test_a_move_that_is_accepted_takes_no_noise() -> None:
    cycle = "{cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}]}"
    build = noisy(cycle, NOISE, *FREE)
    expect(answer(build, "metropolis"), "undecided")
    with pytest.raises(ModelError, match="noise that is added to the gradient"):
        emit_unread(build)

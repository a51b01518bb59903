"""What `recipe check` says of a step where U is quadratic: its figures, and why there are none."""

import re

import numpy as np
import pytest
from answers import shipped
from letters import MASS, SEQUENTIAL, SIGMA, K, composed, langevin, law

from recipe_compiler.audit.figures import NoLawError
from recipe_compiler.audit.of_build import audit
from recipe_compiler.audit.thermostat import settles_at, thermostats, with_thermostats_held
from recipe_compiler.derive.recipe import derive
from recipe_compiler.report.check import check
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Explanation, Topic

SDS = "sd of theta over that of exp(-U)"
WITHOUT_FRICTION = (("sghmc", "hmc"), ("  C: {value: [[1, 1/3], [1/3, 2]]}\n", ""))


def said(build: Build) -> Explanation:
    (found,) = audit(build)
    return found


def numbers(found: Explanation, entry: str) -> list[float]:
    return [float(x) for x in dict(found.formulas)[entry].split(", ")]


@pytest.mark.parametrize(
    ("scheme", "word"), [(SEQUENTIAL, "E A"), ("{name: obabo, flows: {O: midpoint}}", "m/2 B/2 A B/2 m/2")]
)
def test_figures_are_those_of_the_law_of_the_letters(scheme: str, word: str) -> None:
    found = said(langevin(scheme))
    F, S = composed(word, 0.3)[0], law(word, 0.3)
    factors = np.sqrt(np.diag(S)[:2] / np.diag(SIGMA))
    assert (factors > 1.003).any()
    np.testing.assert_allclose(numbers(found, SDS), factors, atol=1e-5)
    (temperature,) = numbers(found, "effective temperature tr(S Hess U)/d")
    assert temperature == pytest.approx(np.trace(S[:2, :2] @ K) / 2, abs=1e-5)
    rho = np.array([np.diag(np.linalg.matrix_power(F, k) @ S)[:2] / np.diag(S)[:2] for k in range(400)])
    np.testing.assert_allclose(numbers(found, "steps per effective draw of theta"), 2 * rho.sum(0) - 1, rtol=1e-3)
    np.testing.assert_allclose(
        numbers(found, "steps per effective draw of its square"), 2 * (rho**2).sum(0) - 1, rtol=1e-3
    )
    (limit,) = numbers(found, "largest stable step size")
    radii = [abs(np.linalg.eigvals(composed(word, share * limit)[0])).max() for share in (0.999, 1.001)]
    assert radii[0] < 1 < radii[1]


@pytest.mark.parametrize(
    ("build", "says"),
    [
        ("sghmc_linear_regression", "its Hessian depends on the data"),
        (
            "gsgrhmc_gaussian",
            "the noise of r_new[0] depends on theta[0], theta[1], theta[2]: it has no single covariance",
        ),
        ("gsgrhmc_gaussian_baoab", "the noise of r_v2[0] depends on theta_v2[0]"),
    ],
)
def test_why_there_is_no_law_is_said(build: str, says: str) -> None:
    found = said(shipped(f"builds/{build}"))
    assert found.topic is Topic.STEP
    assert found.says.startswith(f"U is quadratic; the distribution of the chain is not computed: {says}")


@pytest.mark.parametrize("build", ["sghmc_double_well", "sghmc_logistic", "wright_fisher_dirichlet"])
def test_nothing_is_said_where_u_is_not_quadratic(build: str) -> None:
    assert audit(shipped(f"builds/{build}")) == ()


def test_a_step_that_is_too_large_is_said_to_be() -> None:
    found = said(langevin(step=5))
    assert "at the step size 5: the chain is unstable" in found.says
    limits = [numbers(one, "largest stable step size")[0] for one in (found, said(langevin()))]
    assert limits[0] == pytest.approx(limits[1], rel=3e-4)
    assert (
        "the chain is unstable: the step size is too large"
        in said(langevin("{name: leapfrog}", 3, *WITHOUT_FRICTION)).says
    )


@pytest.mark.parametrize(("word", "sign"), [("{name: leapfrog}", 1), ("{split: [A/2, B, A/2]}", -1)])
def test_leapfrog_alone_forgets_nothing_and_keeps_a_shadow(word: str, sign: int) -> None:
    """With r ~ N(0, M) it keeps (K - eps^2 K inv(M) K/4)^-1 of theta, and with drifts outside K^-1 - eps^2 inv(M)/4."""
    found = said(langevin(word, 0.5, *WITHOUT_FRICTION))
    assert "no noise at the step size 0.5: it is not ergodic" in found.says
    M_inv = np.linalg.inv(MASS)
    omega = np.sqrt(np.linalg.eigvals(M_inv @ K).max())
    assert numbers(found, "largest stable step size") == pytest.approx([2.0 / omega], rel=1e-3)
    S = np.linalg.inv(K - 0.25 * K @ M_inv @ K / 4) if sign > 0 else SIGMA - 0.25 * M_inv / 4
    factors = np.sqrt(np.diag(S) / np.diag(SIGMA))
    assert (sign * (factors - 1.0) > 0.01).all()
    (kept,) = [entry for entry, _ in found.formulas if entry.startswith("sd of theta")]
    assert "with r distributed as under exp(-H)" in kept
    np.testing.assert_allclose(numbers(found, kept), factors, atol=1e-5)


def test_a_word_that_is_no_palindrome_keeps_no_such_law() -> None:
    found = said(langevin("{split: [B, A]}", 0.5, *WITHOUT_FRICTION))
    assert "not ergodic" in found.says
    assert [entry for entry, _ in found.formulas] == ["largest stable step size"]


@pytest.mark.slow
def test_a_saddle_is_no_law() -> None:
    saddle = "name: saddle\nstate: {theta: {shape: 2}}\npotential: theta[0]**2/2 - theta[1]**2/2\n"
    values = "  mu: {value: [1, -2]}\n  Sigma: {value: [[1, -1/3], [-1/3, 3/2]]}\n"
    found = said(langevin(SEQUENTIAL, 0.3, ("gaussian", "saddle.yaml"), (values, ""), saddle=saddle))
    assert "the Hessian of U is not positive definite (smallest eigenvalue -1)" in found.says


@pytest.mark.slow
def test_the_report_holds_it() -> None:
    build = shipped("builds/sgld_gaussian")
    (found,) = check(build).explanations
    assert found == said(build)
    assert found.lines[0].startswith("step: bias and mixing of a chain for exp(-U) at the step size 0.05")
    assert check(build, advisory=False).explanations == ()


# Thermostats are held where they stay on average.


def thermostat(scheme: str, step: float) -> Build:
    matrices = "  M: {value: [[2, 1/2], [1/2, 1]]}\n  C: {value: [[1, 1/3], [1/3, 2]]}\n"
    return langevin(scheme, step, ("sghmc", "sgnht"), (matrices, "  A: {value: 3/2}\n"))


def held_at(found: Explanation) -> float:
    at = re.search(r"with xi fixed at its mean ([0-9.]+): a forecast", found.says)
    assert at is not None, found.says
    return float(at[1])


def test_euler_heats_and_the_thermostat_answers() -> None:
    """E |r|^2/d = 1 at the friction that is said, and not at A."""
    found = said(thermostat("{name: sequential_euler, order: [r, theta, xi]}", 0.2))
    one = np.eye(2)

    def own(friction: float) -> np.ndarray:
        return law("E A", 0.2, M=one, C=friction * one, D=1.5 * one)

    S = own(held_at(found))
    assert np.trace(S[2:, 2:]) / 2 == pytest.approx(1.0, abs=1e-4)
    assert abs(np.trace(own(1.5)[2:, 2:]) / 2 - 1.0) > 0.1
    factors = np.sqrt(np.diag(S)[:2] / np.diag(SIGMA))
    assert (factors < 0.96).all()
    np.testing.assert_allclose(numbers(found, SDS), factors, atol=1e-4)
    assert "largest stable step size" not in dict(found.formulas)


@pytest.mark.parametrize(
    ("scheme", "covariance"),
    [
        ("{name: badodab}", SIGMA),
        ("{split: [O/2, xi/2, B/2, A, B/2, xi/2, O/2]}", np.linalg.inv(K - 0.16 * K @ K / 4)),  # as wide as OBABO
    ],
)
def test_words_keep_their_thermostat_at_a(scheme: str, covariance: np.ndarray) -> None:
    found = said(thermostat(scheme, 0.4))
    assert held_at(found) == pytest.approx(1.5, abs=1e-4)
    np.testing.assert_allclose(numbers(found, SDS), np.sqrt(np.diag(covariance) / np.diag(SIGMA)), atol=1e-4)


def test_no_friction_is_enough_for_too_large_a_step() -> None:
    found = said(thermostat("{name: sequential_euler, order: [r, theta, xi]}", 2.5))
    assert "the distribution of the chain is not computed at the step size 2.5" in found.says


def test_what_is_held_is_read_where_it_stood() -> None:
    own = thermostat("{name: badodab}", 0.2)
    program = discretise(own, derive(bind(own), stated=True))
    assert thermostats(program) == ("xi",)
    held = with_thermostats_held(program)
    assert held != program
    assert with_thermostats_held(held) is held


def test_a_thermostat_that_settles_nowhere_is_said_to() -> None:
    assert settles_at(lambda x: 3.0 - x, "xi") == pytest.approx(3.0, rel=1e-4)
    with pytest.raises(NoLawError, match="no friction is enough"):
        settles_at(lambda x: 1.0 + 0.0 * x, "xi")
    with pytest.raises(NoLawError, match="too much friction without it"):
        settles_at(lambda x: -1.0 - 0.0 * x, "xi")


RELATIVISTIC = """
name: relativistic
state: {theta: {shape: d}, r: {shape: d}}
parameters: {m: {is: positive}, C: {shape: [d, d], is: positive semidefinite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + m*sqrt(1 + r.T @ r/m)
D: [[0, 0], [0, C]]
Q: [[0, -I], [I, 0]]
"""


def test_the_target_is_no_thermostat_though_it_moves_by_what_is_not_linear() -> None:
    """The velocity r/sqrt(1 + r.T r/m) of Lu and others (2017)."""
    mass = ("M: {value: [[2, 1/2], [1/2, 1]]}", "m: {value: 2}")
    own = langevin(SEQUENTIAL, 0.01, ("sghmc", "relativistic.yaml"), mass, relativistic=RELATIVISTIC)
    assert thermostats(discretise(own, derive(bind(own), stated=True))) == ()
    assert "not affine" in said(own).says

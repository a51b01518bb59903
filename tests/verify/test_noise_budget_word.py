"""What a word gives up for noise of the gradient: whether O has it, or why nothing is given up."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build
from scipy.linalg import expm
from scipy.optimize import brentq

from recipe_compiler.spec.bind import bind
from recipe_compiler.verdict import Decision, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.noise_budget import noise_budget

SPECS = Path(__file__).parents[2] / "specs"
BUILD = """
name: b
dynamics: DYNAMICS
target: SPECS/targets/logistic_regression.yaml
bind: BIND
parameters: {PARAMETERS}
scheme: SCHEME
variant: minibatch
gradient_noise: NOISE
data: {file: data.csv, x: [a, b], y: y}
run: {step_size: EPS, batch_size: 2}
"""
MATRICES = "M: {value: [[2, 1/2], [1/2, 1]]}, C: {value: [[1, 1/4], [1/4, 3]]}"
V0 = "V0: {shape: [d, d], is: positive semidefinite, value: [[5, 2], [2, 3]]}"
M, C, V = np.array([[2, 0.5], [0.5, 1]]), np.array([[1, 0.25], [0.25, 3]]), np.array([[5.0, 2.0], [2.0, 3.0]])
SCALARS = "m: {is: positive, value: 2}, c: {is: nonnegative, value: 3}"
DEFAULTS = {"DYNAMICS": f"{SPECS}/dynamics/sghmc.yaml", "SCHEME": "{name: baoab}", "EPS": "0.1", "BIND": "{}"}
Decide = Callable[..., Decision]


@pytest.fixture
def decided(tmp_path: Path) -> Decide:
    """Return what decides of a build with a word."""

    def decide(**given: str) -> Decision:
        (tmp_path / "data.csv").write_text("a,b,y\n1,-2,1\n0.5,1.5,0\n-1,0.25,1\n")
        text = BUILD
        for name, value in {**DEFAULTS, **given}.items():
            text = text.replace(name, value)
        (tmp_path / "build.yaml").write_text(text.replace("SPECS", str(SPECS)))
        build = load_build(tmp_path / "build.yaml")
        return noise_budget(build, bind(build)).decision

    return decide


def bracket(found: Decision) -> tuple[float, float]:
    shown = dict(found.data if isinstance(found, Proved) else found.witness if isinstance(found, Refuted) else ())
    return float(Fraction(shown["holds at"])), float(Fraction(shown["fails at"]))


LIMITS = {
    "{name: baoab}": lambda eps, E: eps**2 * (1 + E) ** 2 / 4 * 5 - 2 * (1 - E**2),
    "{name: aboba}": lambda eps, E: eps**2 * (1 + E) ** 2 / 4 * 5 - 2 * (1 - E**2),
    "{name: obabo}": lambda eps, E: eps**2 * (1 + E) ** 2 / 4 * 5 - 2 * (1 - E),
    "{name: lie}": lambda eps, E: eps**2 * 5 - 2 * (1 - E**2),
}


@pytest.mark.parametrize("scheme", LIMITS)
def test_multiples_of_the_identity_are_decided_at_every_size(decided: Decide, scheme: str) -> None:
    """M = 2 I, C = 3 I, V = 5 I: Sigma_O = 2 (1 - E^2) I, E = exp(-3 eps/2); of half a step 2 (1 - E) I."""
    limit = brentq(lambda eps: LIMITS[scheme](eps, np.exp(-1.5 * eps)), 1e-3, 5.0, xtol=1e-12)
    given = {"BIND": "{M: m*I, C: c*I}", "PARAMETERS": SCALARS, "NOISE": "{V: 5*I}", "SCHEME": scheme}
    below, above = (decided(**given, EPS=f"{factor * limit:.8f}") for factor in (0.99999, 1.00001))
    assert isinstance(below, Proved)
    assert isinstance(above, Refuted)
    for found in (below, above, decided(**given, EPS="0.01"), decided(**given, EPS="7")):
        low, high = bracket(found)
        assert low <= limit * (1 + 1e-9) < high * (1 + 2e-9)
        assert high / low < 1.0002


def least(eps: float) -> float:
    """Return the smallest eigenvalue of what is left of the noise of O in BAOAB."""
    E = expm(-eps * C @ np.linalg.inv(M))
    K = (np.eye(2) + E) / 2
    return float(np.linalg.eigvalsh(M - E @ M @ E.T - eps**2 * K @ V @ K.T)[0])


def test_full_matrices_are_decided_at_their_values(decided: Decide) -> None:
    given = {"PARAMETERS": f"{MATRICES}, {V0}", "NOISE": "{V: V0}"}
    limit = brentq(least, 0.05, 2.0, xtol=1e-12)
    below, above = (decided(**given, EPS=f"{factor * limit:.8f}") for factor in (0.9999, 1.0001))
    assert isinstance(below, Proved)
    assert isinstance(above, Refuted)
    low, high = bracket(below)
    assert low < limit * (1 + 1e-6)
    assert limit * (1 - 1e-6) < high
    shown = dict(above.witness)
    assert shown["v.T @ (Sigma - eps^2 B_hat) @ v"].startswith("< -")
    v = np.array([float(Fraction(x)) for x in shown["v"].strip("[]").split(", ")])
    eps = 1.0001 * limit
    E = expm(-eps * C @ np.linalg.inv(M))
    K = (np.eye(2) + E) / 2
    assert v @ (M - E @ M @ E.T - eps**2 * K @ V @ K.T) @ v < 0


@pytest.mark.parametrize("c", ["[0, 2]", "[0, 0]"])
def test_where_there_is_no_friction_nothing_can_be_given_up(decided: Decide, c: str) -> None:
    parameters = f"m: {{shape: d, is: positive, value: [1, 3]}}, c: {{shape: d, is: nonnegative, value: {c}}}, {V0}"
    found = decided(BIND="{M: diag(m), C: diag(c)}", PARAMETERS=parameters, NOISE="{V: V0}", EPS="1e-6")
    assert isinstance(found, Refuted)
    assert "holds at" not in dict(found.witness)


def test_what_has_no_noise_and_gives_nothing_up_is_proved(decided: Decide) -> None:
    """An entry of V without noise of its own, where C has none either: 0 >= 0, exactly."""
    parameters = (
        "m: {shape: d, is: positive, value: [1, 3]}, c: {shape: d, is: nonnegative, value: [0, 2]}, "
        "w: {shape: d, is: nonnegative, value: [0, 1]}"
    )
    found = decided(BIND="{M: diag(m), C: diag(c)}", PARAMETERS=parameters, NOISE="{V: diag(w)}")
    assert isinstance(found, Proved)


def test_what_has_no_value_is_undecided(decided: Decide) -> None:
    given = {"BIND": "{M: m*I, C: c*I}", "PARAMETERS": SCALARS}
    found = decided(**given, NOISE="{V: 5*I + ones @ ones.T}")
    assert isinstance(found, Undecided)
    assert "the size d is not known before the data are read" in found.tried[0]


def test_a_matrix_that_is_not_symmetric_is_no_covariance(decided: Decide) -> None:
    wrong = "V0: {shape: [d, d], value: [[5, 2], [1, 3]]}"
    found = decided(PARAMETERS=f"{MATRICES}, {wrong}", NOISE="{V: V0}")
    assert isinstance(found, Undecided)
    assert "not symmetric" in found.tried[0]


def test_strong_friction_takes_more_digits(decided: Decide) -> None:
    """exp(500) beside exp(-500), and a coordinate that hardly decays."""
    strong = "M: {value: [[1, 0.5], [0.5, 1]]}, C: {value: [[5000, 1], [1, 0.001]]}"
    found = decided(PARAMETERS=f"{strong}, {V0}", NOISE="{V: V0/1000000}")
    assert isinstance(found, Proved)


def test_an_estimate_is_left_to_the_run(decided: Decide) -> None:
    found = decided(BIND="{M: m*I, C: c*I}", PARAMETERS=SCALARS, NOISE="{V: estimate}")
    assert isinstance(found, Proved)
    assert any("V_hat that is estimated" in given for given in found.given)


SCALED = {"BIND": "{M: m*I, C: c*I}", "PARAMETERS": SCALARS, "NOISE": "{V: 5*I}"}
THERMOSTAT = {"DYNAMICS": "SPECS/dynamics/sgnht.yaml", "PARAMETERS": "A: {value: 1}", "NOISE": "{V: 5*I}"}
OTHERS = {
    "a thermostat": ({**THERMOSTAT, "SCHEME": "{name: badodab}"}, "takes up noise of covariance v I by itself"),
    "drifts around letters of O": (
        {**SCALED, "SCHEME": "{split: [O/2, A/2, O/4, B, A/2, O/4]}"}, "A stands on either side",
    ),
    "a kick that decays": (
        {**SCALED, "SCHEME": "{split: [A/2, B, A/2], pieces: {A: {Q: all, H: r}, B: [{Q: all, H: U}, {D: all}]}}"},
        "the flow of B is no shift",
    ),
    "V of the state": ({**SCALED, "NOISE": "{V: norm2(theta)*I}"}, "V, or what the gradient is multiplied by, depends"),
}  # fmt: skip


@pytest.mark.parametrize("what", OTHERS)
def test_what_is_of_another_form_gives_nothing_up_and_says_why(decided: Decide, what: str) -> None:
    given, why = OTHERS[what]
    found = decided(**given)
    assert isinstance(found, Proved), found
    assert found.by.startswith("nothing is given up: ")
    assert why in found.by
    assert any("stays in the chain" in remark for remark in found.remarks)


def test_what_is_lost_with_minibatches_is_said(decided: Decide) -> None:
    for noise in ("{V: 0}", "{V: 5*I}"):
        found = decided(**{**SCALED, "NOISE": noise})
        assert isinstance(found, Proved)
        assert any(remark.startswith("volume and reversibility are those of a step given") for remark in found.remarks)

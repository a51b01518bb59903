"""A thermostat held where it stays on average, in the report: by numpy alone, and by the laws of words."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from affine_builds import SPECS, written

from recipe_compiler.audit.figures import NoLawError
from recipe_compiler.audit.of_build import audit
from recipe_compiler.audit.thermostat import settles_at, thermostats, with_thermostats_held
from recipe_compiler.derive.recipe import derive
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Explanation

sys.path.insert(0, str(Path(__file__).parents[1] / "statistics"))
from lyapunov import euler_step

SIGMA = np.array([[1, -1 / 3], [-1 / 3, 3 / 2]])
BUILD = f"""
format: 1
name: thermostat
dynamics: {SPECS}/dynamics/sgnht.yaml
target: {SPECS}/targets/gaussian.yaml
parameters:
  A: {{value: 3/2}}
  mu: {{value: [1, -2]}}
  Sigma: {{value: [[1, -1/3], [-1/3, 3/2]]}}
scheme: SCHEME
variant: full
run: {{step_size: STEP}}
"""
EULER = "{name: sequential_euler, order: [r, theta, xi]}"
SDS = "sd of theta over that of exp(-U)"


def build(folder: Path, scheme: str = EULER, step: str = "0.2") -> Build:
    return written(folder, BUILD.replace("SCHEME", scheme).replace("STEP", step))


def said(folder: Path, scheme: str = EULER, step: str = "0.2") -> Explanation:
    (found,) = audit(build(folder, scheme, step))
    return found


def held_at(found: Explanation) -> float:
    at = re.search(r"with xi fixed at its mean ([0-9.]+): a forecast", found.says)
    assert at is not None, found.says
    return float(at[1])


def numbers(found: Explanation, entry: str) -> list[float]:
    return [float(x) for x in dict(found.formulas)[entry].split(", ")]


def test_euler_heats_and_the_thermostat_answers(tmp_path: Path) -> None:
    """F and Sigma with friction x by numpy alone: E |r|^2/d = 1 at the x that is said, and not at A."""
    found = said(tmp_path)
    x, zero, one = held_at(found), np.zeros((2, 2)), np.eye(2)
    K = np.linalg.inv(SIGMA)

    def law(friction: float) -> np.ndarray:
        f = np.block([[zero, one], [-K, -friction * one]])
        two_D = np.block([[zero, zero], [zero, 3.0 * one]])
        return euler_step({"theta": 2, "r": 2}, f, np.zeros(4), two_D, 0.2, ("r", "theta")).covariance()

    assert np.trace(law(x)[2:, 2:]) / 2 == pytest.approx(1.0, abs=1e-4)
    assert abs(np.trace(law(1.5)[2:, 2:]) / 2 - 1.0) > 0.1
    factors = np.sqrt(np.diag(law(x))[:2] / np.diag(SIGMA))
    assert (factors < 0.96).all()
    np.testing.assert_allclose(numbers(found, SDS), factors, atol=1e-4)
    assert "largest stable step size" not in dict(found.formulas)


def test_badodab_is_exact_with_its_thermostat_at_a(tmp_path: Path) -> None:
    found = said(tmp_path, "{name: badodab}", "0.4")
    assert held_at(found) == pytest.approx(1.5, abs=1e-4)
    np.testing.assert_allclose(numbers(found, SDS), [1.0, 1.0], atol=1e-4)


def test_a_word_with_its_noise_outside_is_as_wide_as_obabo(tmp_path: Path) -> None:
    """r has its own law where the thermostat looks at it, and theta that of a shadow of U."""
    found = said(tmp_path, "{split: [O/2, xi/2, B/2, A, B/2, xi/2, O/2]}", "0.4")
    K = np.linalg.inv(SIGMA)
    wide = np.linalg.inv(K - 0.16 * K @ K / 4)
    assert held_at(found) == pytest.approx(1.5, abs=1e-4)
    np.testing.assert_allclose(numbers(found, SDS), np.sqrt(np.diag(wide) / np.diag(SIGMA)), atol=1e-4)
    assert min(numbers(found, SDS)) > 1.005


def test_no_friction_is_enough_for_too_large_a_step(tmp_path: Path) -> None:
    assert "the distribution of the chain is not computed at the step size 2.5" in said(tmp_path, step="2.5").says


def test_what_is_held_is_read_where_it_stood(tmp_path: Path) -> None:
    of = build(tmp_path, "{name: badodab}")
    program = discretise(of, derive(bind(of), stated=True))
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


RELATIVISTIC = """\
format: 1
name: relativistic
state: {theta: {shape: d}, r: {shape: d}}
parameters: {m: {is: positive}, C: {shape: [d, d], is: positive semidefinite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + m*sqrt(1 + r.T @ r/m)
D: [[0, 0], [0, C]]
Q: [[0, -I], [I, 0]]
"""


def test_the_target_is_no_thermostat_though_it_moves_by_what_is_not_linear(tmp_path: Path) -> None:
    """The velocity r/sqrt(1 + r.T r/m) of Lu and others (2017)."""
    (tmp_path / "relativistic.yaml").write_text(RELATIVISTIC)
    text = BUILD.replace(f"{SPECS}/dynamics/sgnht.yaml", "relativistic.yaml").replace(
        "  A: {value: 3/2}", "  m: {value: 2}\n  C: {value: [[1, 1/2], [1/2, 2]]}"
    )
    of = written(
        tmp_path, text.replace("SCHEME", "{name: sequential_euler, order: [r, theta]}").replace("STEP", "0.01")
    )
    assert thermostats(discretise(of, derive(bind(of), stated=True))) == ()
    (found,) = audit(of)
    assert "not affine" in found.says, found.says

"""What `step_size: auto` chooses, against linear algebra of its own; what it leaves alone, and what it refuses."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build
from reports import required
from running import module_of
from scipy.linalg import solve_discrete_lyapunov

from recipe_compiler import pipeline
from recipe_compiler.advise.chosen import Plan
from recipe_compiler.advise.entries import ChosenEntries
from recipe_compiler.advise.plan_run import plan_run
from recipe_compiler.cache import NOTHING
from recipe_compiler.errors import RunError
from recipe_compiler.run.initial import first_states, starts_of
from recipe_compiler.run.sizes import given_arrays
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.to_yaml import restated, to_yaml

pytestmark = pytest.mark.usefixtures("without_reading_back")

SPECS = Path(__file__).parents[2] / "specs"
SIGMA = np.array([[2.0, 0.5, 0.25], [0.5, 1.0, -0.25], [0.25, -0.25, 1.5]]) * np.outer([1, 100, 0.01], [1, 100, 0.01])
"""Scales that differ by 10,000."""
ROWS = "[" + ", ".join("[" + ", ".join(repr(float(x)) for x in row) + "]" for row in SIGMA) + "]"
NARROW_SIGMA = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 1.5]])
NARROW = {ROWS: str(NARROW_SIGMA.tolist())}
"""One unit for all coordinates, in the place of three."""
GAUSSIAN = f"""
name: planned
dynamics: {SPECS}/dynamics/DYNAMICS.yaml
target: {SPECS}/targets/gaussian.yaml
bind: {{}}
parameters:
  mu: {{value: [1, -200, 0.03]}}
  Sigma: {{value: {ROWS}}}
scheme: SCHEME
variant: full
sizes: {{d: 3}}
run: {{step_size: AUTO}}
"""
EULER = "{name: sequential_euler, order: [r, theta]}"


@cache
def planned(text: str, folder: Path, verdict: str = "proved") -> Plan:
    path = folder / "planned.yaml"
    path.write_text(text)
    build = load_build(path)
    with required():
        found, report = plan_run(build, pipeline.check_once(build, NOTHING), allow_undecided=True)
    assert report.verdict.value == verdict
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plan")


def stated(dynamics: str = "sghmc", scheme: str = EULER, auto: str = "auto", **changes: str) -> str:
    text = GAUSSIAN.replace("DYNAMICS", dynamics).replace("SCHEME", scheme).replace("AUTO", auto)
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


def sds_of_sequential_euler(M: np.ndarray, C: np.ndarray, eps: float) -> np.ndarray:
    """Return sd(theta) of r' = r - eps K theta - eps C M^-1 r + sqrt(2 eps C) xi, theta' = theta + eps M^-1 r'."""
    K, W, one = np.linalg.inv(SIGMA), np.linalg.inv(M), np.eye(3)
    kick = np.hstack([-eps * K, one - eps * C @ W])
    F = np.vstack([np.hstack([one, 0 * one]) + eps * W @ kick, kick])
    G = np.vstack([eps * W, one])
    return np.sqrt(np.diag(solve_discrete_lyapunov(F, G @ (2 * eps * C) @ G.T))[:3])


def test_mass_is_the_hessian_and_sds_keep_to_the_share_and_no_more(folder: Path) -> None:
    build = planned(stated(auto="auto, share: 0.1"), folder).build
    values, eps = given_arrays(build), build.run.eps
    np.testing.assert_allclose(values["M"] @ SIGMA, np.eye(3), atol=5e-3)
    gamma = values["C"] / values["M"]
    np.testing.assert_allclose(gamma, gamma[0, 0])
    off = np.abs(np.log(sds_of_sequential_euler(values["M"], values["C"], eps) / np.sqrt(np.diag(SIGMA)))).max()
    assert 0.05 < off <= np.log(1.1)


@pytest.mark.slow
def test_a_preconditioner_is_the_inverse(folder: Path) -> None:
    build = planned(stated("sgld", "{name: euler}"), folder).build
    values, eps = given_arrays(build), build.run.eps
    np.testing.assert_allclose(values["D"] @ np.linalg.inv(SIGMA), np.eye(3), atol=5e-3)
    # theta' = (1 - eps) theta + sqrt(2 eps) xi in coordinates where D = K = 1: var 1/(1 - eps/2)
    assert 0.01 < 1.0 / np.sqrt(1.0 - eps / 2.0) - 1.0 <= 0.02


@pytest.mark.slow
def test_friction_alone_is_matched_where_the_mass_is_stated(folder: Path) -> None:
    own = f"parameters:\n  M_0: {{shape: [d, d], is: positive definite, value: {ROWS}}}\n  c: {{is: nonnegative}}"
    changes = {"bind: {}": "bind: {M: M_0, C: c*I}", "parameters:": own}
    values = given_arrays(planned(stated(scheme="{name: baoab}", **changes, **NARROW), folder).build)
    assert values["c"] > 0.0
    np.testing.assert_array_equal(values["M_0"], NARROW_SIGMA)
    with pytest.raises(RunError, match=r"steps, expected 1e\+06 at most; leave the mass"):
        planned(stated(scheme="{name: baoab}", **changes), folder)


@pytest.mark.slow
def test_a_scalar_friction_is_about_critical(folder: Path) -> None:
    identity = {"bind: {}": "bind: {M: I, C: c*I}", "parameters:": "parameters:\n  c: {is: nonnegative}"}
    c = given_arrays(planned(stated(scheme="{name: baoab}", **identity, **NARROW), folder).build)["c"]
    slowest = 1.0 / np.sqrt(np.linalg.eigvalsh(NARROW_SIGMA)[-1])
    assert slowest / 2.0 < c < 6.0 * slowest


@pytest.mark.slow
def test_what_is_stated_stays(folder: Path) -> None:
    asked = "auto, thin: 3, warmup: 7, draws: 50, chains: 2, seed: 5}\ninit: {theta: mu"
    build = planned(stated(auto=asked), folder).build
    run = build.run
    assert (run.thin, run.warmup, run.draws, run.chains, run.seed) == (3, 7, 50, 2, 5)
    assert [name for name, _ in build.init] == ["theta"]
    assert not any(name.startswith("start") for name, _ in build.values)
    assert not build.is_planned


TWO_BLOCKS = """
name: blocks
state: {mu: {shape: 2}, tau: {constraint: positive}}
potential: norm2(mu - Matrix([30, -40]))/2 + 2*(log(tau) - 3)**2
"""


def of_two_blocks(folder: Path, init: str, dynamics: str, scheme: str) -> Build:
    (folder / "blocks.yaml").write_text(TWO_BLOCKS)
    path = folder / "stated_init.yaml"
    path.write_text(
        f"name: stated_init\ndynamics: {SPECS}/dynamics/{dynamics}.yaml\ntarget: blocks.yaml\nscheme: {scheme}\n"
        f"variant: full\nbind: {{M: I, C: I}}\ninit: {init}\nrun: {{step_size: auto}}\n"
    )
    return load_build(path)


@pytest.mark.parametrize(
    ("init", "expected"), [("{mu: 'Matrix([1, 2])'}", (1.0, 2.0, 5.0)), ("{mu: 'Matrix([1, 2])', tau: 3}", None)]
)
def test_starts_stated_of_blocks_of_the_target_stay_beside_those_that_are_chosen(
    init: str, expected: tuple[float, ...] | None, folder: Path
) -> None:
    build = of_two_blocks(folder, init, "sghmc", "{name: baoab}")
    found = restated(build, {"init": {"theta": "5*ones"}, "run": {"step_size": "0.1"}})
    module = module_of(found)
    start = first_states(module, found, {}, {"d": 3})(0, 0)["theta"]
    np.testing.assert_allclose(start, (1.0, 2.0, np.log(3.0)) if expected is None else expected)
    (first, *_) = starts_of(module, found, {}, {"d": 3})
    np.testing.assert_allclose(first.theta, start)


@pytest.mark.parametrize(("goes_on", "left"), [(False, ["mu", "theta"]), (True, ["theta"])])
def test_where_warm_up_began_at_a_stated_start_chains_go_on_from_its_draws(
    goes_on: bool, left: list[str], folder: Path
) -> None:
    build = of_two_blocks(folder, "{mu: 'Matrix([1, 2])'}", "sghmc", "{name: baoab}")
    chosen = ChosenEntries(build, (), 0.1, 1, 10, None, {}, False, np.ones(3), np.eye(3), goes_on=goes_on)
    assert sorted(name for name, _ in restated(build, chosen.changes).init) == left


def test_the_plan_is_a_document(folder: Path) -> None:
    found = planned(stated(), folder)
    path = folder / "again.yaml"
    path.write_text(to_yaml(found.build))
    assert load(path) == found.build
    again, _ = plan_run(load_build(path), pipeline.check_once(found.build, NOTHING))
    assert (again.build, again.says) == (found.build, ())


def test_chains_start_wider_than_the_posterior(folder: Path) -> None:
    values = given_arrays(planned(stated(), folder).build)
    np.testing.assert_allclose(values["start"], [1.0, -200.0, 0.03], rtol=1e-6)
    np.testing.assert_allclose(values["start_covariance"] / SIGMA, 4.0, rtol=0.02)


@pytest.mark.slow
def test_a_target_that_bends_is_refused(tmp_path: Path) -> None:
    lines = [line for line in stated(scheme="{name: baoab}").splitlines() if "Sigma" not in line and "mu:" not in line]
    text = "\n".join(lines).replace("gaussian.yaml", "funnel.yaml").replace("{d: 3}", "{d: 4, k: 3}")
    says = r"U is far from a quadratic [13.5]+ sds from its mode .* Pilot chains do not help either: .* no constant"
    with pytest.raises(RunError, match=says):
        planned(text.replace("parameters:", ""), tmp_path)


@pytest.mark.slow
def test_a_mode_that_is_flatter_than_a_quadratic_is_planned_by_chains(tmp_path: Path) -> None:
    found = planned(target_of("sum(theta**4)", tmp_path), tmp_path)
    assert "not by the audit of a quadratic U" in found.says[0]
    assert "the Hessian of U at its mode is nearly singular" in found.says[1]
    # E theta^2 = gamma(3/4)/gamma(1/4): the mass is its inverse, as 11,200 draws of windows know it within 2 %
    np.testing.assert_allclose(given_arrays(found.build)["M"], np.eye(2) / 0.337989, atol=0.3)
    assert found.measured is not None
    np.testing.assert_allclose(found.measured.sds, np.sqrt(0.337989), rtol=0.02)


@pytest.mark.slow
def test_what_no_plan_can_know_is_named(tmp_path: Path) -> None:
    unknown = stated("generalised_langevin", "{name: baoab}", **{"{d: 3}": "{d: 3, k: 2}"})
    with pytest.raises(RunError, match="parameter `Lambda`: found no value with step_size: auto, and it occurs in Q"):
        planned(unknown, tmp_path)
    with pytest.raises(RunError, match="U does not rise along a direction from its mode"):
        planned(target_of("norm2(theta)/(1 + norm2(theta))", tmp_path), tmp_path)


def target_of(potential: str, folder: Path) -> str:
    """Return a build whose plan is of a potential of theta in two dimensions."""
    (folder / "own.yaml").write_text(f"name: own\nstate: {{theta: {{shape: 2}}}}\npotential: {potential}\n")
    return (
        f"name: planned\ndynamics: {SPECS}/dynamics/sghmc.yaml\ntarget: own.yaml\nscheme: {{name: baoab}}\n"
        "variant: full\nrun: {step_size: auto}\n"
    )

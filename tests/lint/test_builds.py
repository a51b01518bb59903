"""Steps judged by a build: with the target's U where they have their own gradient, with any U where it is given."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from some import some

from recipe_compiler.lint.against_build import binding_of_build
from recipe_compiler.lint.findings import AT_FIXED_SIZES, OF_BATCHES, OF_SOME_ROWS, Lint, lint
from recipe_compiler.lint.source import read_source
from recipe_compiler.run.observed import observed
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Decision, Finding, Proved, Refuted, Undecided

pytestmark = pytest.mark.usefixtures("few_calls")

HERE = Path(__file__).parent / "steps" / "of_builds.py"
BUILDS = Path(__file__).parents[2] / "specs" / "builds"

OF = {
    "gaussian": "sghmc_gaussian",
    "thermostat": "sgnht_gaussian",
    "funnel": "sghmc_funnel",
    "logistic": "sgld_logistic",
    "poisson": "sgld_poisson_regression",
    "linear": "sghmc_linear_regression",
    "softmax": "sghmc_softmax_regression",
    "schools": "sghmc_eight_schools",
    "intercepts": "sghmc_varying_intercepts",
    "accepted": "hmc_logistic",
}
"""The first word of a step to its build."""

PROVED = ("gaussian", "gaussian_given", "gaussian_any", "thermostat", "funnel")
HOLDS = {
    "logistic": "d = 2",
    "logistic_of_number": "d = 2",
    "logistic_turned": "d = 2",
    "poisson": "N = 2",
    "linear": "the rows that the step is given",
    "softmax": "K = 2, p = 2, d = 4",
    "schools": "J = 2, d = 4, N = 2",
    "accepted": "d = 2, N = 2",
}
"""Right, of sizes or rows that are fewer than the build's: no proof."""
WRONG = (
    *("wrong_gaussian", "wrong_gaussian_mass", "wrong_thermostat", "wrong_funnel", "wrong_poisson", "wrong_linear"),
    *("wrong_logistic_without_prior", "wrong_logistic_scale", "wrong_logistic_prior_scaled", "wrong_logistic_sign"),
    *("wrong_softmax", "wrong_schools"),
)
OPEN = {
    "logistic_without_data": "the step does not name its data x: take x as an argument, or say what holds them",
    "logistic_of_batch_size": "it computes with the build's batch_size = 128 as a number",
    "logistic_of_one_row": OF_SOME_ROWS,
    "logistic_of_squares": OF_SOME_ROWS,
    "logistic_accepted": OF_BATCHES,
    "intercepts": "its data g are positions",
}


@cache
def judged(step: str) -> Lint:
    build = observed(load(BUILDS / f"{OF[step.removeprefix('wrong_').split('_')[0]]}.yaml"))
    assert isinstance(build, Build)
    return lint(binding_of_build(read_source(f"{HERE}:{step}"), build, ()))


def finding(step: str) -> Finding:
    report = judged(step).report
    assert report is not None
    return report.findings[0]


@pytest.mark.slow
@pytest.mark.parametrize("step", PROVED)
def test_a_right_step_is_proved_at_the_sizes_of_the_build(step: str) -> None:
    decision = finding(step).decision
    assert isinstance(decision, Proved), decision


@pytest.mark.slow
@pytest.mark.parametrize("step", HOLDS)
def test_a_right_step_holds_where_it_is_followed_at_fewer_rows(step: str) -> None:
    decision = finding(step).decision
    assert isinstance(decision, Undecided)
    first, second = decision.tried
    assert first.partition(" (")[0] == f"holds at {HOLDS[step]}"
    assert second == AT_FIXED_SIZES


@pytest.mark.parametrize("step", some(WRONG, 3))
def test_a_wrong_step_is_refuted_by_a_point(step: str) -> None:
    decision = finding(step).decision
    assert isinstance(decision, Refuted), decision
    assert decision.witness


@pytest.mark.slow
@pytest.mark.parametrize("step", OPEN)
def test_what_does_not_tell_is_undecided_by_name(step: str) -> None:
    decision = finding(step).decision
    assert isinstance(decision, Undecided), decision
    assert any(OPEN[step] in reason for reason in decision.tried), decision.tried


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("gaussian", "U is that of the target gaussian; M, mu, Sigma as the build has them"),
        ("gaussian_given", "U is that of the target gaussian"),
        ("gaussian_any", "U is any function"),
        ("wrong_gaussian_mass", "U is any function; M as the build has it"),
        (
            "logistic",
            "U is that of the target logistic_regression, the data being any 2 rows of a minibatch of N = 569",
        ),
    ],
)
def test_it_is_said_what_a_step_is_judged_by(step: str, said: str) -> None:
    assert judged(step).followed[0] == f"judged by the build: {said}"


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "own.py"
        path.write_text(f"import numpy as np\n\n\n{text}", encoding="utf-8")
        return path

    return write


FULL = """
N_ALL = 569


def step(theta, r, x, y, prior_variance, m, eps, rng):
    grad = theta / prior_variance + N_ALL * x.T @ (1 / (1 + np.exp(-x @ theta)) - y) / {whole}
    return theta + eps * r / m, r - eps * grad
"""


@pytest.mark.slow
@pytest.mark.parametrize("whole", ["len(x)", "3", "7"])
def test_a_number_of_data_that_is_computed_with_is_no_refutation_at_two_rows(
    whole: str, written: Callable[[str], Path]
) -> None:
    """It may be right of all rows: with 569 of them N_ALL/len(x) is 1."""
    build = observed(load(BUILDS / "hmc_logistic.yaml"))
    assert isinstance(build, Build)
    report = lint(binding_of_build(read_source(f"{written(FULL.format(whole=whole))}:step"), build, ())).report
    assert report is not None
    decision = report.findings[0].decision
    assert isinstance(decision, Undecided)
    assert any("it computes with the build's N = 569 as a number" in reason for reason in decision.tried)


@pytest.mark.slow
def test_data_that_the_file_holds_are_mapped(written: Callable[[str], Path]) -> None:
    text = """
X = np.zeros((569, 30))


def step(theta, b, N, eps, rng):
    p = 1 / (1 + np.exp(-X @ theta))
    return theta - eps * (theta + N / len(X) * X.T @ (p - b)) + np.sqrt(2 * eps) * rng.standard_normal(len(theta))
"""
    build = observed(load(BUILDS / "sgld_logistic.yaml"))
    assert isinstance(build, Build)
    source = read_source(f"{written(text)}:step")
    report = lint(binding_of_build(source, build, (("X", "x"), ("b", "y")))).report
    assert report is not None
    decision = report.findings[0].decision
    assert isinstance(decision, Undecided)
    assert decision.tried[0] == "holds at d = 2"


IN_PLACE = """
def step(theta, r, x, y, prior_variance, m, eps, rng):
    left = y
    left -= 1 / (1 + np.exp(-x @ theta))
    grad = theta / prior_variance - x.T @ left
    return theta + eps * r / m, r - eps * grad
"""
OWN_GRADIENT = """
def grad_U(theta):
    return 7 * theta**3


def step(theta, r, M, C, eps, rng):
    noise = np.linalg.cholesky(2 * eps * C) @ rng.standard_normal(len(r))
    return theta + eps * np.linalg.solve(M, r), r - eps * grad_U(theta) - eps * C @ np.linalg.solve(M, r) + noise
"""


def decision_on(path: Path, name: str) -> Decision:
    """Return the verdict on the step of a file by a build."""
    build = observed(load(BUILDS / f"{name}.yaml"))
    assert isinstance(build, Build)
    report = lint(binding_of_build(read_source(f"{path}:step"), build, ())).report
    assert report is not None
    return report.findings[0].decision


def test_a_step_that_writes_into_its_data_is_undecided(written: Callable[[str], Path]) -> None:
    """The first call does what it should; the next is given residuals in the place of y."""
    decision = decision_on(written(IN_PLACE), "hmc_logistic")
    assert isinstance(decision, Undecided)
    assert "it changes its argument y in place" in decision.tried[0]


@pytest.mark.slow
def test_a_gradient_of_the_file_is_its_own(written: Callable[[str], Path]) -> None:
    """It is no gradient of the target, whatever it is called."""
    assert isinstance(decision_on(written(OWN_GRADIENT), "sghmc_gaussian"), Refuted)

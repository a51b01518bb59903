"""Steps that are accepted or refused: right ones hold at every size, wrong ones are refuted with a witness."""

import ast
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from recipe_compiler.lint.findings import TO_PROVE, Lint
from recipe_compiler.lint.metropolis import HOW, OF_THE_REST
from recipe_compiler.verdict import Finding, Proved, Refuted, Undecided

pytestmark = pytest.mark.usefixtures("few_calls")

HERE = Path(__file__).parent / "steps"
NOT_STEPS = {"U", "grad_U", "leapfrog"}

RIGHT = {
    "walk": "sgld_unit",
    "walk_by_the_ratio": "sgld_unit",
    "walk_by_an_exponential": "sgld_unit",
    "walk_by_an_exponential_and_a_minimum": "sgld_unit",
    "walk_refused_first": "sgld_unit",
    "mala": "sgld_unit",
    "hmc": "sgld_unit",
    "hmc_by_positions": "sgld_unit",
    "hmc_with_mass": "hmc",
    "hmc_with_a_covariance": "hmc",
    "walk_with_a_covariance": "sgld",
    "preconditioned_mala": "sgld",
    "ghmc": "hmc_unit",
    "persistent": "hmc_unit",
    "turned_where_accepted": "hmc_unit",
}
PROVED = {"lognormal_walk": "positive", "double_well": "double_well", "gaussian_mala": "gaussian"}

GAUSSIAN = "the law of a Gaussian changes in a step"
POINT = "exp(-H) changes in a step"
WRONG = {
    "walk_sign": ("sgld_unit", GAUSSIAN),
    "walk_above": ("sgld_unit", GAUSSIAN),
    "walk_with_a_drift": ("sgld_unit", GAUSSIAN),
    "mala_without_correction": ("sgld_unit", GAUSSIAN),
    "mala_correction_turned": ("sgld_unit", GAUSSIAN),
    "mala_correction_doubled": ("sgld_unit", GAUSSIAN),
    "hmc_sign": ("sgld_unit", GAUSSIAN),
    "hmc_momentum_forgotten": ("sgld_unit", GAUSSIAN),
    "hmc_last_kick_forgotten": ("sgld_unit", GAUSSIAN),
    "hmc_of_a_mass_forgotten": ("hmc", POINT),
    "hmc_of_the_inverse_covariance": ("hmc", POINT),
    "preconditioned_mala_correction_forgotten": ("sgld", GAUSSIAN),
    "ghmc_without_flip": ("hmc_unit", POINT),
    "persistent_without_flip": ("hmc_unit", POINT),
    "persistent_sign": ("hmc_unit", POINT),
    "persistent_without_momenta": ("hmc_unit", POINT),
    "double_well_kick": ("double_well", POINT),
}

MUTANTS = {
    "mala": [
        ("eps * grad_U(new)", "2 * eps * grad_U(new)"),
        ("np.sum(back**2)) / (4 * eps)", "np.sum(back**2)) / (2 * eps)"),
        ("np.sqrt(2 * eps) * np.random.randn", "np.sqrt(eps) * np.random.randn"),
    ],
    "hmc": [
        ("p = p - eps / 2 * grad_U(q)\n    for", "p = p - eps * grad_U(q)\n    for"),
        ("+ r @ r / 2 - U(q) - p @ p / 2))", "+ r @ r - U(q) - p @ p / 2))"),
        ("np.exp(U(theta)", "np.exp(1 + U(theta)"),
    ],
    "ghmc": [("0.8 * rng", "0.4 * rng")],
    "lognormal_walk": [(" + np.log(new / x)", ""), ("np.log(new / x)", "2 * np.log(new / x)")],
}
"""What is put in the place of a part of a right step: it holds at no size then."""

SLOW = {
    "walk_by_an_exponential", "walk_by_an_exponential_and_a_minimum", "hmc", "hmc_with_mass", "hmc_with_a_covariance",
    "hmc_by_positions", "preconditioned_mala", "turned_where_accepted", "walk_above", "mala_correction_turned",
    "mala_correction_doubled", "hmc_sign", "hmc_last_kick_forgotten", "persistent_sign", "persistent_without_momenta",
    "hmc_of_the_inverse_covariance", "hmc_of_a_mass_forgotten", "preconditioned_mala_correction_forgotten",
}  # fmt: skip
"""Computations of some seconds that are like others."""


def marked(names: Iterable[str]) -> list[ParameterSet]:
    """The names, those of long computations marked."""
    return [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in names]


def functions(file: str) -> set[str]:
    tree = ast.parse((HERE / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} - NOT_STEPS


def test_every_step_has_its_row() -> None:
    assert functions("accepted.py") == RIGHT.keys() | PROVED.keys()
    assert functions("accepted_wrong.py") == WRONG.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", marked(RIGHT))
def test_a_right_step_holds_at_every_size(name: str, step_finding: Callable[..., Finding]) -> None:
    found = step_finding(f"accepted.py:{name}", RIGHT[name])
    assert isinstance(found.decision, Undecided)
    assert found.decision.tried == (f"holds at d = 1; d = 2; d = 3 ({HOW})", TO_PROVE)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROVED)
def test_a_right_step_is_proved_where_the_sizes_are_fixed(name: str, step_finding: Callable[..., Finding]) -> None:
    decision = step_finding(f"accepted.py:{name}", PROVED[name]).decision
    assert isinstance(decision, Proved)
    assert decision.by.startswith(HOW)


@pytest.mark.parametrize("name", marked(WRONG))
def test_a_wrong_step_is_refuted_with_a_witness(name: str, step_finding: Callable[..., Finding]) -> None:
    spec, why = WRONG[name]
    decision = step_finding(f"accepted_wrong.py:{name}", spec).decision
    assert isinstance(decision, Refuted)
    assert why in decision.by
    assert decision.witness


@pytest.mark.parametrize(("name", "place"), [(name, k) for name in MUTANTS for k in range(len(MUTANTS[name]))])
@pytest.mark.slow
def test_no_mutant_holds_at_any_size(
    name: str, place: int, step_finding: Callable[..., Finding], tmp_path: Path
) -> None:
    was, put = MUTANTS[name][place]
    text = (HERE / "accepted.py").read_text(encoding="utf-8")
    assert text.count(was) == 1
    file = tmp_path / "accepted.py"
    file.write_text(text.replace(was, put), encoding="utf-8")
    found = step_finding(f"{file}:{name}", {**RIGHT, **PROVED}[name])
    assert not isinstance(found.decision, Proved)
    assert found.checked_at == ()


@pytest.mark.slow
def test_no_limit_of_small_steps_is_read(read: Callable[..., Lint]) -> None:
    found = read("accepted.py:walk", "sgld_unit")
    assert found.equation.reason.startswith("a step that is accepted or refused is judged as it is")
    assert found.report is not None
    assert [finding.id for finding in found.report.findings] == ["lint_metropolis"]
    assert any("about the step as it is" in caveat for caveat in found.report.caveats)


ACCEPT = "np.log(rng.random()) < U(theta) - U(new)"
OPEN = {
    "two_moves": (
        f"theta = new if {ACCEPT} else theta\n    return new if {ACCEPT} else theta",
        "a second comparison with a uniform draw",
    ),
    "of_a_metric": (
        f"new = theta + (1 + theta**2) * rng.normal(size=len(theta))\n    return new if {ACCEPT} else theta",
        "the log of the ratio is not H(z) - H(z') with its draws",
    ),
    "back_to_no_draw": (
        f"new = theta + rng.normal(size=len(theta)) ** 2\n    return new if {ACCEPT} else theta",
        "does not lead back",
    ),
    "noise_left": (f"return 2 * theta if {ACCEPT} else 3 * theta", "neither way leaves the state as it was"),
    "drawn_by_chance": ("return theta + rng.random() * (new - theta)", "the random draw `random`"),
    "of_two": (
        "return new if rng.random() < rng.random() * np.exp(U(theta) - U(new)) else theta",
        "something else than a comparison of u with what is known",
    ),
    "negative": ("return new if rng.random() < U(theta) - U(new) else theta", "not seen to be positive"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPEN)
def test_what_is_not_followed_says_why(name: str, step_finding: Callable[..., Finding], tmp_path: Path) -> None:
    body, why = OPEN[name]
    file = tmp_path / "step.py"
    head = "import numpy as np\n\ndef step(theta, U, rng):\n    new = theta + rng.normal(size=len(theta))\n    "
    file.write_text(f"{head}{body}\n", encoding="utf-8")
    decision = step_finding(f"{file}:step", "sgld_unit").decision
    assert isinstance(decision, Undecided)
    assert why in " ".join(decision.tried)


FRESH = """
import numpy as np


def step(theta, r, U, grad_U, eps, rng):
    p = OLD rng.standard_normal(len(r))
    k = p - eps / 2 * grad_U(theta)
    q = theta + eps * k
    k = k - eps / 2 * grad_U(q)
    if np.log(rng.random()) < U(theta) + p @ p / 2 - U(q) - k @ k / 2:
        return q, k
    return theta, p
"""


@pytest.mark.slow
@pytest.mark.parametrize("partly", [False, True])
def test_momenta_that_no_step_reads_may_be_left_as_they_are(
    partly: bool, tmp_path: Path, step_finding: Callable[..., Finding]
) -> None:
    """theta keeps its law where momenta are drawn anew; theta and r together do not, nor theta where r is read."""
    path = tmp_path / "own.py"
    path.write_text(FRESH.replace("OLD", "0.6 * r + 0.8 *" if partly else ""), encoding="utf-8")
    decision = step_finding(f"{path}:step", "hmc_unit").decision
    assert isinstance(decision, Refuted if partly else Undecided)
    if isinstance(decision, Undecided):
        assert OF_THE_REST in decision.tried[0]

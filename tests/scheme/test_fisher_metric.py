"""Riemannian HMC with a metric of rows: decided of any of its kind, read back at a point, exact by quadrature."""

from pathlib import Path

import numpy as np
import pytest
from loaders import load_build
from reports import report
from running import drawn, kept, off

from recipe_compiler.spec.bind import bind
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.definite import Definiteness, definiteness
from recipe_compiler.tensor.inverses import grid_indices
from recipe_compiler.verdict import Report, Verdict
from recipe_compiler.verify.builds.bindings import bindings
from recipe_compiler.verify.builds.unknown_inverses import leave_abstract

ROOT = Path(__file__).parents[2]
FISHER = ROOT / "specs/builds/rhmc_logistic.yaml"
MUTANTS = ROOT / "tests/mutants/metrics"


def verdicts(found: Report) -> dict[str, Verdict]:
    return {f.id: f.verdict for f in found.findings}


def test_a_metric_stays_bound_where_its_inverse_has_a_formula() -> None:
    funnel = load_build(ROOT / "specs/builds/rhmc_funnel.yaml")
    assert leave_abstract(funnel) is funnel
    assert leave_abstract(load_build(FISHER)).bind == ()


@pytest.mark.slow
def test_what_is_refuted_of_some_metric_is_decided_of_the_one_that_is_bound(tmp_path: Path) -> None:
    """log det G may be left out where det G = 1: of this G, not of any."""
    text = (MUTANTS / "fisher_metric_without_determinant.yaml").read_text(encoding="utf-8")
    bound, value = (next(line for line in text.splitlines() if line.startswith(key)) for key in ("bind", "parameters"))
    text = text.replace(bound, "bind: {G: (I + norm2(theta)*E) @ (I + norm2(theta)*E).T}")
    text = text.replace(value, "parameters: {E: {shape: [d, d], value: [[0, 1], [0, 0]]}}")
    path = tmp_path / "sheared.yaml"
    path.write_text(text.replace("../../../", f"{ROOT}/").replace("../rhmc", f"{MUTANTS.parent}/rhmc"), "utf-8")
    assert leave_abstract(load_build(path)).bind == ()
    found = verdicts(report(path))
    assert Verdict.REFUTED not in {found["marginal"], found["claimed_marginal"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "known"),
    [
        ("X.T @ diag(exp(X @ theta)) @ X", Definiteness.SEMIDEFINITE),
        ("X.T @ diag(exp(X @ theta)) @ X + I/prior_variance", Definiteness.DEFINITE),
        ("X.T @ diag(abs(X @ theta)) @ X", Definiteness.SEMIDEFINITE),
        ("X.T @ diag(X @ theta) @ X + I", Definiteness.UNKNOWN),
        ("-X.T @ diag(exp(X @ theta)) @ X + I", Definiteness.UNKNOWN),
        ("X.T @ diag(exp(X @ theta)) @ Y + I", Definiteness.UNKNOWN),
    ],
)
def test_weighted_squares_are_semidefinite(tmp_path: Path, metric: str, known: Definiteness) -> None:
    text = FISHER.read_text(encoding="utf-8").replace("../", f"{ROOT}/specs/")
    line = next(line for line in text.splitlines() if line.startswith("bind"))
    text = text.replace(line, f"bind: {{G: {metric}}}").replace(
        "  X:", f"  Y: {{shape: [n, d], value: {[[0, 1, 2]] * 24}}}\n  X:"
    )
    path = tmp_path / "metric.yaml"
    path.write_text(text, encoding="utf-8")
    build = load_build(path)
    declared = bind(build).declarations
    tensor = convert(dict(build.bind)["G"], declared, *grid_indices("d"))
    assert definiteness(calculus(declared), tensor) is known
    assert (bindings(build, bind(build)).decision.verdict is Verdict.PROVED) == (known is Definiteness.DEFINITE)


def posterior() -> tuple[np.ndarray, np.ndarray]:
    """Return means and variances of the posterior by quadrature."""
    rows = np.loadtxt(ROOT / "specs/data/few_trials.csv", delimiter=",", skiprows=1)
    x, y = np.column_stack([np.ones(len(rows)), rows[:, :2]]), rows[:, 2]
    grid = np.linspace(-8.0, 10.0, 121)
    theta = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    log_density = -(theta**2).sum(axis=1) / 20
    for row, outcome in zip(x, y, strict=True):
        log_density += outcome * (theta @ row) - np.logaddexp(0.0, theta @ row)
    weights = np.exp(log_density - log_density.max())
    mean = weights @ theta / weights.sum()
    return mean, weights @ (theta - mean) ** 2 / weights.sum()


@pytest.mark.slow
@pytest.mark.parametrize("eps", [0.2, 0.4])
def test_draws_have_the_moments_of_the_posterior_at_two_step_sizes(eps: float) -> None:
    """Standard errors are between 80 batches; false alarms of 6 figures at 5 of them: one in a hundred thousand."""
    mean, variance = posterior()
    found = drawn(load_build(FISHER), step_size=eps, draws=2100, warmup=100, chains=4, thin=2, seed=3)
    assert found.stats["unsolved"].sum() + found.stats["irreversible"].sum() < 0.02 * 4 * 2100 * 2
    theta = kept(found)
    assert max(off(theta, mean), off((theta - mean) ** 2, variance)) < 5.0

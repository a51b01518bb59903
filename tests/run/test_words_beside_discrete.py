"""Accepted words beside draws of discrete blocks: the joint law, by enumeration and quadrature, and Stein's identity.

y_n is N(mu_k, 1) for the place k of the one in z_n; caught[n], left[n] are counts of means exp(b_0 + x_n b_1)/2. Given
the data mu has a law that is summed over all allocations, and b one in which what is left has no part: both are known
apart from the sampler, which moves mu and b by HMC with z and left held, and draws these by their laws.
"""

from dataclasses import replace
from itertools import product
from math import lgamma
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.errors import DocumentError
from recipe_compiler.pipeline import compile_build, make_ready, prepare_run
from recipe_compiler.report.check import check
from recipe_compiler.run.stages import conclude, draw
from recipe_compiler.run.summary import summarise
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Verdict

ROOT = Path(__file__).parents[2]
ROWS = np.array([[-1.2, 0.3, 3], [0.4, -0.5, 1], [1.9, 1.1, 2], [0.1, -1.4, 0]])
TARGET = """
name: sites
state:
  mu: {shape: 2}
  z: {shape: [N, 2], domain: one_hot}
  b: {shape: 2}
  left: {shape: N, domain: counts}
data: {y: {shape: N}, x: {shape: N}, caught: {shape: N, is: [integer, nonnegative]}}
log_prior: -norm2(mu)/2 + mu[0]/2 - norm2(b)/2
log_likelihood: >-
  -(y - z @ mu)**2/2 + poisson(caught, exp(b[0] + x*b[1])/2) + poisson(left, exp(b[0] + x*b[1])/2)
laws:
  z: "Categorical(-(y @ ones.T - ones @ mu.T)**2/2)"
  left: "Poisson(exp(b[0]*ones + x*b[1])/2)"
"""
MASSES = ", ".join(["1", "2"] + ["1"] * 8 + ["3", "2"] + ["1"] * 4)
BUILD = f"""
name: sites
dynamics: {ROOT}/specs/dynamics/hmc.yaml
target: target.yaml
bind: {{M: diag(m)}}
parameters: {{m: {{shape: d, is: positive, value: [{MASSES}]}}}}
scheme:
  cycle:
    - draw: z
    - draw: left
    - refresh: r
    - {{of: {{theta: [mu, b]}}, metropolis: {{split: [B/2, A, B/2], steps: "uniform(1, 5)", flip: {{r: -r}}}}}}
variant: full
sizes: {{N: 4}}
data: {{file: rows.csv, y: y, x: x, caught: caught}}
run: {{step_size: 0.7, draws: 4000, warmup: 100, thin: 2, chains: 4, seed: 5}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "target.yaml").write_text(TARGET, encoding="utf-8")
    (tmp_path / "build.yaml").write_text(BUILD, encoding="utf-8")
    rows = "".join(f"{y},{x},{caught:g}\n" for y, x, caught in ROWS)
    (tmp_path / "rows.csv").write_text(f"y,x,caught\n{rows}", encoding="utf-8")
    return tmp_path


def of_mu() -> tuple[np.ndarray, np.ndarray]:
    """Return E mu and P(the one of z_n is at place 1), by all 16 allocations: given one, mu is Gaussian."""
    y, weights, means = ROWS[:, 0], list[float](), list[np.ndarray]()
    every = list(product((0, 1), repeat=4))
    for places in every:
        own = np.eye(2)[list(places)]
        precision, pull = np.eye(2) + own.T @ own, own.T @ y + np.array([0.5, 0.0])
        mean = np.linalg.solve(precision, pull)
        weights.append(float(np.exp(pull @ mean / 2) / np.sqrt(np.linalg.det(precision))))
        means.append(mean)
    share = np.array(weights) / sum(weights)
    return share @ np.array(means), share @ np.array(every, float)


def of_b() -> tuple[np.ndarray, np.ndarray]:
    """Return E b and E left_n = E exp(b_0 + x_n b_1)/2, by quadrature over b."""
    grid = np.linspace(-6.0, 6.0, 801)
    b = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    x, caught = ROWS[:, 1], ROWS[:, 2]
    eta = b[:, :1] + b[:, 1:] * x
    log_density = -(b**2).sum(1) / 2 + eta @ caught - np.exp(eta).sum(1) / 2 - sum(lgamma(k + 1) for k in caught)
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    return weight @ b, weight @ (np.exp(eta) / 2)


@pytest.mark.slow
@pytest.mark.parametrize("eps", [0.4, 0.8])
def test_all_blocks_have_the_joint_law(folder: Path, eps: float) -> None:
    """Twelve means within five of their standard errors, between 80 batches: a false alarm in 1e5."""
    build = load_build(folder / "build.yaml")
    report = check(build)
    checked = {one.id: one.verdict for one in report.findings}
    asked = ("draw", "refresh", "metropolis", "cycle", "exact", "irreducible")
    assert {checked[claim] for claim in asked} == {Verdict.PROVED}
    ready = make_ready(prepare_run(build, report, replace(build.run, step_size=eps)))
    draws = draw(ready)
    tree, diagnostics = conclude(ready, draws)
    (mu, places), (b, left) = of_mu(), of_b()
    posterior = tree.posterior
    for value, truth in (
        (posterior["mu"].values, mu), (posterior["z"].values[..., 1], places),
        (posterior["b"].values, b), (posterior["left"].values, left),
    ):  # fmt: skip
        batches = value.reshape(4, 20, 200, -1).mean(axis=2).reshape(80, -1)
        error = batches.std(axis=0, ddof=1) / np.sqrt(80)
        assert np.all(np.abs(batches.mean(axis=0) - truth) < 5 * error), (batches.mean(axis=0), truth, error)
    assert diagnostics.departures is not None
    assert not diagnostics.departures.flagged
    assert summarise(tree, draws, diagnostics).doubts == ()  # U has no slope along counts to tell of their tails


@pytest.mark.slow
def test_no_gradient_of_counts_is_computed(folder: Path) -> None:
    build = load_build(folder / "build.yaml")
    text = compile_build(build, check(build)).text
    assert "digamma" not in text
    assert "grad_U_left[i] = 0" in text


def test_a_step_size_is_not_planned_beside_counts(folder: Path) -> None:
    path = folder / "build.yaml"
    path.write_text(BUILD.replace("step_size: 0.7", "step_size: auto"), encoding="utf-8")
    with pytest.raises(DocumentError, match="step_size: auto beside `z`, which is discrete, expected a step size"):
        load(path)


def test_a_word_beside_counts_is_accepted_or_refused(folder: Path) -> None:
    path = folder / "build.yaml"
    plain = 'metropolis: {split: [B/2, A, B/2], steps: "uniform(1, 5)", flip: {r: -r}}'
    assert plain in BUILD
    path.write_text(BUILD.replace(plain, "split: [B/2, A, B/2]"), encoding="utf-8")
    with pytest.raises(DocumentError, match=r"found a word without `metropolis` beside `z`, which is discrete"):
        load(path)

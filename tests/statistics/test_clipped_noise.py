"""A chain whose 2D - eps B_hat loses definiteness: what is counted is what a replay in NumPy counts, and is told.

Steps see all data (a minibatch of all rows, each once), so that their drift is known, while V claims a noise so large
that eps D V D exceeds 2 D where D is large. Every state is kept: the covariance that a step was made with is that at
the state before it.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from answers import document

from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.data import Data, Field
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sample import Draws, sample
from recipe_compiler.run.store import to_datatree
from recipe_compiler.run.summary import summarise
from recipe_compiler.spec.model import Build

Array = np.ndarray

ROWS, EPS, DRAWS = 40, 0.004, 1500
PRIOR_VARIANCE, NOISE_VARIANCE = 10.0, 8.0
BUILD = """
name: clipped_{name}
dynamics: SPECS/dynamics/sgrld.yaml
target: SPECS/targets/linear_regression.yaml
bind: {{G_inverse: "{metric}"}}
parameters:
  v: {{is: positive, value: {v}}}
  noise_variance: {{value: 8}}
scheme: {{name: euler}}
variant: minibatch
gradient_noise: {{V: v*I}}
sizes: {{d: {d}}}
data: {{file: made.csv, x: [{columns}], y: y}}
run: {{step_size: {eps}, batch_size: {rows}, thin: 1, draws: {draws}, warmup: 0, chains: 2, seed: 4}}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """An inverse metric: its formula, its size, and what of the support code the emitted step calls."""

    name: str
    d: int
    metric: str
    calls: str
    v: float

    def D(self, theta: Array) -> Array:
        """Return the inverse metric."""
        if self.name == "diagonal":
            return np.diag(1.0 + theta**2)
        return np.eye(self.d) / 2 + np.outer(theta, theta)

    def Gamma(self, theta: Array) -> Array:
        """Return sum_j dD_ij/dtheta_j."""
        return 2 * theta if self.name == "diagonal" else (self.d + 1) * theta


CASES = [
    Case("diagonal", 2, "diag(ones + theta*theta)", "clipped", 300.0),
    Case("two", 2, "I/2 + theta @ theta.T", "_noise_root_2(", 400.0),
    Case("three", 3, "I/2 + theta @ theta.T", "_noise_root(", 200.0),
]


def data(d: int) -> Data:
    rng = np.random.default_rng(8)
    x = rng.standard_normal((ROWS, d))
    y = x @ np.linspace(-0.5, 0.5, d) + NOISE_VARIANCE**0.5 * rng.standard_normal(ROWS)
    return Data((Field("x", x, tuple("abc"[:d])), Field("y", y, ("y",))))


@cache
def chain(case: Case) -> tuple[Build, Draws]:
    """Return a build whose noise is more than its steps allow, and what it drew."""
    text = BUILD.format(
        name=case.name, metric=case.metric, v=case.v, d=case.d, columns=", ".join("abc"[: case.d]), eps=EPS, rows=ROWS,
        draws=DRAWS,
    )  # fmt: skip
    rows = "a,b,c,y\n1,2,3,4\n"
    build = document(text, **{"made.csv": rows})
    module = compile_build(build, allow_undecided=True)
    assert case.calls in module.text
    return build, sample(load_text(module.name, module.text), build, build.run, data(case.d))


def covariances(case: Case, theta: Array) -> Array:
    """Return eps (2D - eps D V D) at every state."""
    return np.array([EPS * (2 * D - EPS * case.v * D @ D) for D in map(case.D, theta)])


def grad_U(case: Case, theta: Array) -> Array:
    x, y = (field.values for field in data(case.d).fields)
    return theta / PRIOR_VARIANCE + (theta @ x.T - y) @ x / NOISE_VARIANCE


def states_and_noise(case: Case) -> tuple[Array, Array]:
    """Return the state before each step and the noise of that step, of all chains."""
    _, draws = chain(case)
    assert not any(draws.diverging)
    before, noise = [], []
    for theta in draws.block("theta"):
        old, moved = theta[:-1], np.diff(theta, axis=0)
        drift = [case.Gamma(z) - case.D(z) @ g for z, g in zip(old, grad_U(case, old), strict=True)]
        before.append(old)
        noise.append(moved - EPS * np.array(drift))
    return np.concatenate(before), np.concatenate(noise)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_covariances_that_are_none_are_counted_one_by_one_and_told(case: Case) -> None:
    """Per state, or of a diagonal one per coordinate; the state before the first step of a chain is not kept."""
    build, draws = chain(case)
    summary = summarise(to_datatree(draws, build, data(case.d), "0" * 64), draws)
    told = f"2D - eps B_hat was not positive semidefinite {sum(draws.clipped)} times"
    assert any(told in warning for warning in summary.warnings)
    for theta, counted in zip(draws.block("theta"), draws.clipped, strict=True):
        values = np.linalg.eigvalsh(covariances(case, theta[:-1]))
        lost = values < -1e-12 * np.abs(values).max(axis=1, keepdims=True)
        times = int(lost.sum() if case.name == "diagonal" else lost.any(axis=1).sum())
        assert 0.02 * DRAWS < times < 0.9 * DRAWS
        assert counted - times in ((0, 1, case.d) if case.name == "diagonal" else (0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_noise_is_cut_off_along_what_has_none_and_right_along_the_rest(case: Case) -> None:
    """In the basis of eigenvectors noise has the variances max(eigenvalue, 0): of n squares |z| <= 5 each."""
    states, noise = states_and_noise(case)
    values, vectors = np.linalg.eigh(covariances(case, states))
    along = np.einsum("nij,ni->nj", vectors, noise)
    none = values <= 0.0
    assert none.any()
    assert np.abs(along[none]).max() < 1e-9 * np.abs(along).max() * np.abs(states).max() ** 2
    squares = along[~none] ** 2 / values[~none]
    assert abs(squares.mean() - 1.0) < 5 * np.sqrt(2.0 / squares.size)

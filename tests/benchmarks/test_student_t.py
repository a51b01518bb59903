"""A target that the compiler was not written for: emitted Student-t regression beside a twin written by hand.

The twin has the shape that measurements found best for its size: up to 16 columns one loop over the rows with features
and sums in scalars and the data flat, else blocks of eight rows with sums of four rows at once; its normals are drawn
where they are used. Both draw by the same generators.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import emitted
import numpy as np
import pytest
import racing
from loaders import load_build
from numba import njit
from racing import Contestant

from recipe_compiler.emit.support.indices import _fill_indices
from recipe_compiler.emit.support.normals import _next_normal
from recipe_compiler.emit.support.seeds import _seed_words
from recipe_compiler.run.data import Data, Field
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.spec.model import Build, Value

Array = emitted.Array

REACHED = 0.8
"""Least speed of the emitted module over that of the twin."""

ROUNDS, NARROW, BATCH, THIN, MOMENT_UNITS = 15, 16, 100, 10, 20_000
NU, SCALE, PRIOR_VARIANCE, C = 4.0, 0.5, 10.0, 100.0
EPS = {"minibatch": 2e-4, "full": 1e-3}

TARGET = """\
format: 1
name: student_t_regression
title: Bayesian regression whose errors have Student's t distribution
state:
  theta: {shape: d}
data:
  x: {shape: [N, d]}
  y: {shape: N}
parameters:
  nu: {is: positive}
  scale: {is: positive}
  prior_variance: {is: positive}
log_prior: -theta.T @ theta / (2*prior_variance)
log_likelihood: -(nu + 1)/2 * log(1 + ((y - x @ theta)/scale)**2/nu)
"""

BUILD = """\
format: 1
name: sghmc_student_t_{d}_{variant}
title: SGHMC, Student-t regression in {d} dimensions
dynamics: {specs}/dynamics/sghmc.yaml
target: target.yaml
bind: {{M: I, C: c*I}}
parameters:
  c: {{is: nonnegative, value: {c}}}
  nu: {{value: {nu}}}
  scale: {{value: {scale}}}
  prior_variance: {{value: {prior_variance}}}
scheme: {{name: euler}}
variant: {variant}
{minibatch}
sizes: {{d: {d}}}
data: {{file: made.npy, x: [{columns}], y: "{d}"}}
run: {{step_size: {eps}, {batch} thin: 1, draws: 1000, warmup: 0, chains: 1, seed: 1}}
"""

TWIN = """\
@njit(error_model="numpy", fastmath={{"contract", "nsz", "arcp", "reassoc"}}, forceinline=True)
def gradient(grad, theta, x, flat, y, batch, count, nu, variance, weight):
{gradient}

@njit(error_model="numpy", fastmath={{"contract", "nsz", "arcp"}}, nogil=True)
def run(theta, r, x, y, count, nu, scale, prior_variance, c, eps, thin, noise_state, batch_state, draws):
    grad, weight, batch, flat = np.empty({d}), np.empty(8), np.empty(count, np.uint64), x.reshape(x.size)
    noise, ratio, variance = math.sqrt(2.0 * c * eps), {ratio}, nu * scale * scale
    s0, s1, s2, s3 = noise_state[0], noise_state[1], noise_state[2], noise_state[3]
    for kept in range(draws.shape[0]):
        for _ in range(thin):
            {fill}
            gradient(grad, theta, x, flat, y, batch, count, nu, variance, weight)
            for j in range(np.uint64({d})):
                normal, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
                old = r[j]
                r[j] = old - eps * (ratio * grad[j] + theta[j] / prior_variance + c * old) + noise * normal
                theta[j] += eps * old
        draws[kept] = theta
    noise_state[0], noise_state[1], noise_state[2], noise_state[3] = s0, s1, s2, s3
"""


def narrow_gradient(d: int, minibatch: bool) -> str:
    """Return the sum over rows with features and sums in scalars."""
    columns = range(d)
    return "\n".join([
        *(f"    theta_{j}, grad_{j} = theta[{j}], 0.0" for j in columns),
        "    for b in range(np.uint64(count)):",
        f"        row = {'batch[b]' if minibatch else 'b'}",
        *(f"        x_{j} = flat[row * np.uint64({d}) + np.uint64({j})]" for j in columns),
        f"        residual = {' + '.join(f'x_{j} * theta_{j}' for j in columns)} - y[row]",
        "        w = (nu + 1.0) * residual / (variance + residual * residual)",
        *(f"        grad_{j} += w * x_{j}" for j in columns),
        *(f"    grad[{j}] = grad_{j}" for j in columns),
    ])  # fmt: skip


def wide_gradient(d: int, minibatch: bool) -> str:
    """Return the sum over blocks of eight rows, and what is left of them row by row."""
    row = "batch[{}]" if minibatch else "{}"
    return "\n".join([
        f"    for j in range(np.uint64({d})):",
        "        grad[j] = 0.0",
        "    for block in range(np.uint64(count) // np.uint64(8)):",
        "        start = block * np.uint64(8)",
        "        for k in range(np.uint64(8)):",
        f"            row, total = {row.format('start + k')}, 0.0",
        f"            for j in range(np.uint64({d})):",
        "                total += x[row, j] * theta[j]",
        "            weight[k] = total - y[row]",
        "        for k in range(np.uint64(8)):",
        "            weight[k] = (nu + 1.0) * weight[k] / (variance + weight[k] * weight[k])",
        "        for half in range(np.uint64(2)):",
        "            first = half * np.uint64(4)",
        *(f"            row_{k} = {row.format(f'start + first + np.uint64({k})')}" for k in range(4)),
        *(f"            w_{k} = weight[first + np.uint64({k})]" for k in range(4)),
        f"            for j in range(np.uint64({d})):",
        f"                grad[j] += {' + '.join(f'w_{k} * x[row_{k}, j]' for k in range(4))}",
        "    for b in range(np.uint64(count) // np.uint64(8) * np.uint64(8), np.uint64(count)):",
        f"        row, total = {row.format('b')}, 0.0",
        f"        for j in range(np.uint64({d})):",
        "            total += x[row, j] * theta[j]",
        "        w = (nu + 1.0) * (total - y[row]) / (variance + (total - y[row]) ** 2)",
        f"        for j in range(np.uint64({d})):",
        "            grad[j] += w * x[row, j]",
    ])  # fmt: skip


@cache
def twin_run(d: int, variant: str) -> Callable[..., None]:
    """Return the loop of a chain, written by hand but for the columns counted out."""
    minibatch = variant == "minibatch"
    gradient = (narrow_gradient if d <= NARROW else wide_gradient)(d, minibatch)
    fill = "_fill_indices(batch_state, x.shape[0], batch)" if minibatch else "pass"
    ratio = "x.shape[0] / count" if minibatch else "1.0"
    names = {
        "njit": njit, "np": np, "math": math, "_fill_indices": _fill_indices, "_next_normal": _next_normal
    }  # fmt: skip
    exec(TWIN.format(d=d, gradient=gradient, fill=fill, ratio=ratio), names)
    return names["run"]


@dataclass(frozen=True, slots=True)
class Case:
    """A size, and whether steps see all data."""

    d: int
    variant: str
    rows: int

    @property
    def count(self) -> int:
        """Rows in a step."""
        return BATCH if self.variant == "minibatch" else self.rows

    def data(self, seed: int = 0) -> Data:
        """Return rows, and answers whose errors have Student's t distribution."""
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((self.rows, self.d))
        y = x @ rng.standard_normal(self.d) + SCALE * rng.standard_t(NU, self.rows)
        return Data((Field("x", x, tuple(map(str, range(self.d)))), Field("y", y, ("y",))))


CASES = [
    Case(d, variant, rows)
    for d, rows in ((5, 2000), (14, 690), (100, 5000))
    for variant in ("minibatch", "full")
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subject:
    """The build of a case, and its emitted module."""

    build: Build
    module: Emitted

    def chains(self, data: Data, thin: int, draws: int, c: float = C) -> emitted.Chains:
        """Return one chain from zero, of another friction where one is given."""
        values = {**dict(self.build.values), "c": Value(numbers=((Fraction(c),),))}
        build = replace(self.build, values=tuple(values.items()))
        return emitted.Chains(build, thin, draws, data, module=self.module)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case.d}-{case.variant}")
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture(scope="module")
def subject(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Subject:
    minibatch = case.variant == "minibatch"
    folder = tmp_path_factory.mktemp("student_t")
    (folder / "target.yaml").write_text(TARGET)
    (folder / "build.yaml").write_text(
        BUILD.format(
            d=case.d, variant=case.variant, specs=Path(__file__).parents[2] / "specs", c=C, nu=NU, scale=SCALE,
            prior_variance=PRIOR_VARIANCE, eps=EPS[case.variant], batch=f"batch_size: {BATCH}," if minibatch else "",
            minibatch="minibatch: {replacement: true}\ngradient_noise: {V: 0}" if minibatch else "",
            columns=", ".join(f'"{j}"' for j in range(case.d)),
        )
    )  # fmt: skip
    build = load_build(folder / "build.yaml")
    return Subject(build, emitted.compiled(build))


def twin(case: Case, data: Data, thin: int, draws: int, c: float = C) -> Callable[[], Array]:
    """Return the twin's chain from zero: every call moves it on by `draws * thin` steps, and returns its draws."""
    run, (x, y) = twin_run(case.d, case.variant), (field.values for field in data.fields)
    theta, r, kept = np.zeros(case.d), np.zeros(case.d), np.empty((draws, case.d))
    streams = _seed_words(7, 1, 0, 4)[0].copy(), _seed_words(7, 1, 1, 256)[0].copy()
    settings = (case.count, NU, SCALE, PRIOR_VARIANCE, c, EPS[case.variant], thin)

    def work() -> Array:
        run(theta, r, x, y, *settings, *streams, kept)
        return kept

    return work


@pytest.mark.slow
def test_without_noise_emitted_steps_are_those_of_the_twin_and_of_numpy(case: Case, subject: Subject):
    """Without friction there is no noise, and where all rows are one a minibatch has the gradient of all."""
    data = case.data()
    if case.variant == "minibatch":
        data = Data(tuple(replace(field, values=np.repeat(field.values[:1], case.rows, 0)) for field in data.fields))
    (x, y), eps, steps = (field.values for field in data.fields), EPS[case.variant], 40
    theta, r, expected = np.zeros(case.d), np.zeros(case.d), []
    for _ in range(steps):
        residual = x @ theta - y
        grad_U = theta / PRIOR_VARIANCE + x.T @ ((NU + 1.0) * residual / (NU * SCALE**2 + residual**2))
        theta, r = theta + eps * r, r - eps * grad_U
        expected.append(theta)
    found = {
        "emitted": subject.chains(data, 1, steps, c=0.0).work(),
        "twin": twin(case, data, 1, steps, c=0.0)(),
    }
    for theta in found.values():
        assert theta == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9 * np.abs(expected[-1]).max())


@pytest.mark.slow
def test_an_emitted_target_of_a_new_kind_is_nearly_as_fast_as_its_twin(case: Case, subject: Subject):
    data = case.data()
    units = max(1, 200_000 // (case.count * case.d))
    contestants = [
        Contestant("emitted", units, subject.chains(data, THIN, units).work),
        Contestant("twin", units, twin(case, data, THIN, units)),
    ]
    results = racing.race(contestants, ROUNDS)
    speed = 1.0 / racing.ratio(results[0], results[1])
    shown = ", ".join(f"{result.key} {1e6 / THIN * result.median:.3g} us/step" for result in results)
    print(f"{case.d} {case.variant}: {speed:.2f} of the twin's speed ({shown})")
    assert racing.disagreements(contestants, results, MOMENT_UNITS) == []
    assert speed >= REACHED

"""The settings of least work around a mode: what one step tells of all batches, against each of them alone."""

import math
from functools import cache

import numpy as np
import pytest
from answers import document

from recipe_compiler.advise.forecast import linearized_chain_of
from recipe_compiler.advise.linear_step import CONTROL_VARIATES
from recipe_compiler.advise.linearized_chain import LinearizedChain
from recipe_compiler.advise.plan import trial
from recipe_compiler.advise.roles import open_parameters
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.advise.search import OVERHEAD, Choice, choose
from recipe_compiler.pipeline import emit_unread
from recipe_compiler.run.data import load_data
from recipe_compiler.run.estimates import at_mode, gradient_noise
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.observed import with_data, with_sizes
from recipe_compiler.spec.model import Build

RNG = np.random.default_rng(2)
X = RNG.standard_normal((600, 2)) @ np.array([[1.0, 2.0], [0.0, 0.5]])
Y = X @ [1.0, -0.5] + RNG.standard_normal(600)
DATA = "a,b,y\n" + "\n".join(",".join(map(repr, row)) for row in np.column_stack([X, Y]).tolist())
BUILD = """
name: rows
dynamics: sghmc
target: linear_regression
PARAMETERS
scheme: {name: baoab}
variant: minibatch
data: {file: data.csv, x: [a, b], y: y}
run: {step_size: SIZE}
"""
MATRICES = "parameters: {M: {value: [[20, 5], [5, 10]]}, C: {value: [[300, -100], [-100, 600]]}}"
SUBTRACTING = "parameters: {M: {value: [[2000, 500], [500, 1000]]}, C: {value: [[30000, -10000], [-10000, 60000]]}}"
SUBTRACTING += "\ngradient_noise: {V: estimate}"
MODE = np.linalg.solve(X.T @ X + np.eye(2), X.T @ Y)


def build_of(parameters: str, run: str) -> Build:
    return document(BUILD.replace("PARAMETERS", parameters).replace("SIZE", run), **{"data.csv": DATA})


def chain_of(build: Build) -> LinearizedChain:
    """Return the chain of a build around the mode."""
    data = load_data(build.data, build.target)
    build = with_sizes(with_data(build, data))
    made = emit_unread(build)[1].module
    emitted = load_text(made.name, made.text)
    build = at_mode(build, plain().sampler.gradients, MODE, build.run) if build.estimated else build
    return linearized_chain_of(Sampler.of(build, made, emitted, data)).around(MODE)


@cache
def plain() -> LinearizedChain:
    return chain_of(build_of(MATRICES, "0.02, batch_size: 40"))


@pytest.mark.parametrize("parameters", [MATRICES, SUBTRACTING], ids=["as it is", "V subtracted"])
def test_a_batch_of_another_size_has_the_law_of_the_build_that_states_it(parameters: str) -> None:
    """M and C do not commute. Of V, which is estimated anew, as much is subtracted as there is."""
    begun = chain_of(build_of(parameters, "0.02, batch_size: 40"))
    begun.linear()
    for size in (10, 200):
        known, expected = (
            begun.with_batch(size).linear()[1],
            chain_of(build_of(parameters, f"0.02, batch_size: {size}")),
        )
        alone = expected.linear()[1]
        np.testing.assert_allclose(known.chain, alone.chain, rtol=1e-8)
        assert np.abs(known.chain - begun.linear()[1].chain).max() > 1e-5 * np.abs(alone.chain).max()


def test_the_noise_that_is_subtracted_is_that_of_the_batch() -> None:
    chain = chain_of(build_of(SUBTRACTING, "0.02, batch_size: 40"))
    V = gradient_noise(chain.sampler.gradients, MODE, 15, "without replacement")
    np.testing.assert_allclose(chain.with_batch(15).parameter(chain.sampler.build.estimated or ""), V, rtol=1e-9)


@cache
def chosen(size: int, noise: str, *, sizes: bool) -> Choice:
    build = with_sizes(build_of("bind: {}", "auto"))
    chain = chain_of(trial(build, 2, 600)).with_batch(size)
    chain = chain if noise != CONTROL_VARIATES else LinearizedChain(
        chain.sampler, chain.slope, chain.quadratic, chain.target, noise
    )  # fmt: skip
    return choose((chain,), open_parameters(build), chain.at_mode.K, 0.02, 1.0, sizes=sizes)


@pytest.mark.parametrize("noise", ["as it is", CONTROL_VARIATES])
def test_the_size_of_a_batch_is_that_of_least_work(noise: str) -> None:
    """Of factors of two from where the search begins, each planned by itself."""
    found = chosen(75, noise, sizes=True)
    size = found.linearized.inputs.batch_size or 0
    alone = {n: chosen(n, noise, sizes=False) for n in (size // 2, size, min(600, 2 * size)) if n}
    assert found.work == pytest.approx(alone[size].work, rel=0.05)
    assert found.work <= min(choice.work for choice in alone.values()) * 1.05
    assert found.width.off <= 1.02
    assert found.work == found.width.steps * (OVERHEAD + 2 + (1.0 + (noise == CONTROL_VARIATES)) * size)


def test_what_takes_more_work_than_another_choice_is_left() -> None:
    build = with_sizes(build_of("bind: {}", "auto"))
    chain = chain_of(trial(build, 2, 600))
    least = choose((chain,), open_parameters(build), chain.at_mode.K, 0.02, 1.0).work
    asked: list[str] = []
    for below in (math.inf, least / 1e3):
        asked.append("")
        arguments = (chain,), open_parameters(build), chain.at_mode.K, 0.02, 1.0, asked.append
        if below == math.inf:
            choose(*arguments, below=below)
            several = len(asked)
        else:
            with pytest.raises(Exception, match="no step size"):
                choose(*arguments, below=below)
    assert len(asked) - several < several

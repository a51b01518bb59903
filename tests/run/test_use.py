"""Chains whose word moves some blocks by other dynamics have the law of their target, in closed form.

Errors are those of means over batches; one of 14 numbers is more than 5 of them off once in 100,000 runs.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cycles import texts
from loaders import load_build

from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sample import sample

ROOT = Path(__file__).parents[2]
PAIR = """
format: 1
name: pair
state: {a: {shape: 2}, b: {shape: 2}}
parameters:
  A: {shape: [2, 2], is: positive definite}
  C_: {shape: [2, 2], is: positive definite}
  B: {shape: [2, 2]}
potential: a.T @ A @ a/2 + a.T @ B @ b + b.T @ C_ @ b/2 - sum(a)
assume: [normalisable]
laws: {b: "N(-inv(C_) @ B.T @ a, inv(C_))"}
"""
MOMENTUM = """
format: 1
name: momentum
state: {q: {shape: d}, p: {shape: d}}
parameters: {M: {shape: [d, d], is: positive definite}}
functions: {U: {of: q, role: potential}}
H: U(q) + p.T @ inv(M) @ p/2
D: [[0, 0], [0, 0]]
Q: [[0, 0], [0, 0]]
"""
"""An energy with momenta, and no equation of its own: what moves the state is what a move uses."""
BUILD = """
format: 1
name: used
dynamics: momentum.yaml
target: pair.yaml
parameters:
  A: {{value: [[3, 1], [1, 2]]}}
  B: {{value: [[1, -1/2], [1/4, 1/2]]}}
  C_: {{value: [[2, -1/2], [-1/2, 1]]}}
  M: {{value: [[2, 1/2, 0, 1/3], [1/2, 1, 1/4, 0], [0, 1/4, 3/2, 1/2], [1/3, 0, 1/2, 1]]}}
{more}
scheme: {{cycle: {cycle}}}
variant: full
run: {{step_size: {eps}, draws: 20000, warmup: 200, thin: 4, chains: 4, seed: 3}}
"""
SGHMC = """  C:
    value: [[1, 0, 1/2, 0], [0, 1/2, 1/4, 0], [1/2, 1/4, 1, 1/3], [0, 0, 1/3, 1]]"""
MOVES = {
    "hmc": (
        "[draw: b, refresh: p, {use: hmc, of: {theta: a, r: p}, metropolis: {split: [B/2, A, B/2], "
        'steps: "uniform(1, 4)", flip: {p: -p}}}]',
        "",
        "1/2",
    ),
    "sghmc": ("[{use: sghmc, of: {theta: a, r: p}, metropolis: {name: baoab, flip: {p: -p}}}, draw: b]", SGHMC, "1/2"),
    "nothing held": ("[{use: sghmc, of: {r: p}, metropolis: {name: baoab, flip: {p: -p}}}]", SGHMC, "1/2"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVES)
def test_moments_are_those_of_the_target(tmp_path: Path, name: str) -> None:
    cycle, more, eps = MOVES[name]
    (tmp_path / "momentum.yaml").write_text(MOMENTUM, encoding="utf-8")
    (tmp_path / "pair.yaml").write_text(PAIR, encoding="utf-8")
    (tmp_path / "used.yaml").write_text(BUILD.format(cycle=cycle, more=more, eps=eps), encoding="utf-8")
    build = load_build(tmp_path / "used.yaml")
    module = texts(build)["shipped"].module
    run = replace(build.run, draws=20_000)
    draws = sample(load_text(module.name, module.text), build, run, load_data(build.data, build.target))
    q = draws.block("q")[:, draws.warmup :]
    covariance = np.linalg.inv([[3, 1, 1, -0.5], [1, 2, 0.25, 0.5], [1, 0.25, 2, -0.5], [-0.5, 0.5, -0.5, 1]])
    mean = covariance @ [1, 1, 0, 0]
    off, (i, j) = q - mean, np.triu_indices(4)
    products = np.concatenate([off, off[..., i] * off[..., j]], axis=-1)
    exact = np.concatenate([np.zeros(4), covariance[i, j]])
    batches = products.reshape(4, 50, -1, products.shape[-1]).mean(axis=2).reshape(200, -1)
    errors = batches.std(axis=0, ddof=1) / np.sqrt(200)
    assert np.all(np.abs(batches.mean(axis=0) - exact) < 5 * errors), (batches.mean(axis=0) - exact) / errors

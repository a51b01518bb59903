"""The Gaussian audit of a word of a thousand letters: F and Sigma are those of its parts, squared again and again."""

import cProfile
import pstats
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.audit.at_values import audited
from recipe_compiler.derive.recipe import derive
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"
BUILD = """
format: 1
name: long
dynamics: SPECS/dynamics/sghmc.yaml
target: SPECS/targets/gaussian.yaml
bind: {C: c*I}
parameters:
  c: {is: nonnegative, value: 1}
  M: {value: [[2, 1/2], [1/2, 1]]}
  mu: {value: [1, -2]}
  Sigma: {value: [[2, -1/2], [-1/2, 1]]}
scheme: {split: WORD}
variant: full
sizes: {d: 2}
run: {step_size: 1/2}
"""
M, K = np.array([[2, 0.5], [0.5, 1]]), np.linalg.inv(np.array([[2, -0.5], [-0.5, 1]]))


def build(folder: Path, word: str) -> Build:
    path = folder / "long.yaml"
    path.write_text(BUILD.replace("SPECS", str(SPECS)).replace("WORD", word))
    return load_build(path)


def many(F: np.ndarray, Sigma: np.ndarray, times: int) -> tuple[np.ndarray, np.ndarray]:
    """Return F and Sigma of a step done many times, by squaring."""
    done, added = np.eye(len(F)), np.zeros_like(F)
    while times:
        if times % 2:
            done, added = F @ done, F @ added @ F.T + Sigma
        F, Sigma, times = F @ F, F @ Sigma @ F.T + Sigma, times // 2
    return done, added


def letters(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return F and Sigma of [B/2n, A/n, O/n, B/2n], eps = 1/2, C = c I, done n times."""
    n, eye, none = 2, np.eye(2), np.zeros((2, 2))
    s, h = 1 / count, 0.5 / count
    kick = np.block([[eye, none], [-h / 2 * K, eye]])
    drift = np.block([[eye, h * np.linalg.inv(M)], [none, eye]])
    values, vectors = np.linalg.eigh(np.linalg.inv(M))
    E = (vectors * np.exp(-0.5 * s * values)) @ vectors.T
    friction = np.block([[eye, none], [none, E]])
    noise = np.zeros((2 * n, 2 * n))
    noise[n:, n:] = M - E @ M @ E.T
    F = kick @ friction @ drift @ kick
    return many(F, kick @ noise @ kick.T, count)


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 60])
def test_repeated_parts_are_those_squared_again_and_again(tmp_path: Path, count: int) -> None:
    own = build(tmp_path, f"[{{repeat: {count}, of: [B/{2 * count}, A/{count}, O/{count}, B/{2 * count}]}}]")
    step = audited(own, discretise(own, derive(bind(own), stated=True))).step.at(0.5)
    F, Sigma = letters(count)
    assert np.abs(step.F - F).max() < 1e-12
    assert np.abs(step.Sigma - Sigma).max() < 1e-12


def calls(folder: Path, count: int) -> int:
    """Return the calls that the audit of a word of 4 count + 1 letters takes, at one step size."""
    own = build(folder, f"[{{repeat: {count}, of: [B/{2 * count}, A/{2 * count}, A/{2 * count}, B/{2 * count}]}}, O]")
    program = discretise(own, derive(bind(own), stated=True))
    profile = cProfile.Profile()
    profile.runcall(lambda: audited(own, program).step.at(0.5))
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


@pytest.mark.slow
def test_the_audit_of_a_word_takes_time_in_proportion_to_its_letters(tmp_path: Path) -> None:
    """A square would be 4 times: words of a thousand letters were left out, as is whatever takes more than 5 s."""
    few, more, many_ = (calls(tmp_path, count) for count in (10, 20, 40))
    assert many_ - more < 2.6 * (more - few)

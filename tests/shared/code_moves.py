"""Builds with moves that are code, beside files of such moves: of a Gaussian whose M and Sigma do not commute."""

from pathlib import Path

from cycles import DOCUMENT, LEAPFROG, VALUES
from loaders import load_build

from recipe_compiler.spec.model import Build

MOVES = '''
import math

import numpy as np
from numba import njit

from recipe_compiler.streams import integer, normal, uniform


@njit
def turn(theta, mu, Sigma, stream):
    """A reflection in the mean, with probability 1/2."""
    if uniform(stream) < 0.5:
        for i in range(theta.shape[0]):
            theta[i] = 2.0 * mu[i] - theta[i]


@njit
def hit_and_run(theta, mu, Sigma, stream):
    """A draw along a line in a random direction, of its law there."""
    u = np.empty(theta.shape[0])
    for i in range(u.shape[0]):
        u[i] = normal(stream)
    w = np.linalg.solve(Sigma, u)
    width = u @ w
    theta += ((w @ (mu - theta)) / width + normal(stream) / math.sqrt(width)) * u


@njit
def too_wide(theta, mu, Sigma, stream):
    """The same, of twice the variance."""
    u = np.empty(theta.shape[0])
    for i in range(u.shape[0]):
        u[i] = normal(stream)
    w = np.linalg.solve(Sigma, u)
    width = u @ w
    theta += ((w @ (mu - theta)) / width + math.sqrt(2.0 / width) * normal(stream)) * u


@njit
def along(theta, r, mu, Sigma, stream):
    """The same reflection, by what r is."""
    if r[0] > uniform(stream):
        for i in range(theta.shape[0]):
            theta[i] = 2.0 * mu[i] - theta[i]


@njit
def one_of(theta, prior_variance, x, y, stream):
    """What tells whether it was given the data, and its random numbers."""
    k = int(integer(stream, 0, x.shape[0] - 1))
    theta[0] = x[k, 1]
    theta[1] = y[k] + prior_variance
    theta[2] = k
'''
"""A file of moves; `too_wide` keeps another law."""

HMC = f"refresh: r, {{metropolis: {{{LEAPFROG}, steps: 3, flip: {{r: -r}}}}}}"


def code(function: str, *more: str, changes: str = "theta") -> str:
    """Return a move that is a function of that file."""
    return f"{{{', '.join((f'code: my_moves.py:{function}, changes: {changes}, keeps: exp(-H)', *more))}}}"


def written(folder: Path, cycle: str, *changes: tuple[str, str], target: str = "gaussian", moves: str = MOVES) -> Path:
    """Write a build and its file of moves into a folder, and return the build's path."""
    (folder / "my_moves.py").write_text(moves, encoding="utf-8")
    text = DOCUMENT.format(
        name="coded", target=target, values=VALUES[target], scheme=f"{{cycle: [{cycle}]}}", eps="1/4"
    )
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = folder / "coded.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def coded_build(folder: Path, cycle: str, *changes: tuple[str, str], target: str = "gaussian") -> Build:
    """Return that build."""
    return load_build(written(folder, cycle, *changes, target=target))

"""A small emitted module, written by hand, and the build it stands for: SGHMC on a Gaussian mean."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from answers import written
from loaders import load_build

from recipe_compiler.emit.support.text import support_text
from recipe_compiler.run.data import Data, Field
from recipe_compiler.spec.model import Build, Value

HEAD = '''
import math

import numpy as np
from numba import njit

FORMAT = 2
SPEC_DIGEST = "0123"
VARIANT = "{variant}"
REPLACEMENT = {replacement}
BLOCKS = (("theta", "d"), ("r", "d"))
SIZES = ("d",)
PARAMETERS = ("c", "limit")
CONSTANTS = ("sigma",)
DATA = ("x",)
POTENTIAL_BLOCK = "theta"
_NAMES = "theta, r, c, limit, sigma, x, {batch_size}eps, thin, noise_state, {batch_states}theta_draws, r_draws"
ARGUMENTS = tuple(_NAMES.split(", "))


def prepare(c, limit, eps, d):
    if eps > 1.0:
        raise ValueError("2D - eps B_hat is not positive semidefinite: take eps <= eps_max = 1")
    return (math.sqrt(2.0 * eps * c),)


@njit(nogil=True, cache=True)
def run(theta, r, c, limit, sigma, x, {batch_size}eps, thin, noise_state, {batch_states}theta_draws, r_draws):
    """SGHMC on U = sum_n |theta - x_n|^2/2; theta beyond `limit` becomes infinite."""
    rows = np.empty({n}, np.uint64)
    z = np.empty(theta.shape[0])
    theta_kept, r_kept = theta.copy(), r.copy()
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            {fill}
            _fill_normals(noise_state, z)
            g = (theta - x[rows]).sum(0)
            r += eps * (-g * x.shape[0] / rows.shape[0] - c * r) + sigma * z
            theta += eps * r
            theta[np.abs(theta) > limit] = math.inf
        if not np.isfinite(theta).all():
            theta[:] = theta_kept
            r[:] = r_kept
            return kept
        theta_kept[:] = theta
        r_kept[:] = r
        theta_draws[kept] = theta
        r_draws[kept] = r
    return theta_draws.shape[0]


def seed_streams(seed, chains):
    return _seed_words(seed, chains, 0, 4), _seed_words(seed, chains, 1, 256 if REPLACEMENT else 4)


def first_state(seed, chain, d):
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, 2)))
    return {{"theta": rng.standard_normal(d), "r": np.zeros(d)}}
'''

FULL = {
    "variant": "full", "replacement": False, "batch_size": "", "batch_states": "", "n": "x.shape[0]",
    "fill": "rows[:] = np.arange(x.shape[0]).astype(np.uint64)",
}  # fmt: skip
WITHOUT = {
    "variant": "minibatch", "replacement": False, "batch_size": "batch_size, ",
    "batch_states": "batch_state, permutation, ", "n": "batch_size",
    "fill": "_shuffle_indices(batch_state, permutation, rows)",
}  # fmt: skip
WITH = WITHOUT | {
    "replacement": True,
    "batch_states": "batch_state, ",
    "fill": "_fill_indices(batch_state, x.shape[0], rows)",
}


def module_text(options: dict[str, object]) -> str:
    names = {"_fill_normals", "_fill_indices", "_shuffle_indices", "_seed_words"}
    return HEAD.format(**options) + "\n\n" + support_text(names)


BUILD = """
name: hand
dynamics: dynamics.yaml
target: target.yaml
parameters: {c: {value: 3}}
scheme: {name: sequential_euler, order: [r, theta]}
variant: minibatch
data: {file: data.csv, x: [a, b, c]}
init: {theta: "N(0, I)", r: 0}
run: {step_size: 0.05, draws: 40, warmup: 5, thin: 2, chains: 4, seed: 1, batch_size: 4}
"""
BESIDE = {
    "dynamics": """
name: sghmc
state: {theta: {shape: d}, r: {shape: d}}
parameters: {c: {is: positive}, limit: {is: positive, default: 1000000000}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r/2
D: [[0, 0], [0, c*I]]
Q: [[0, -I], [I, 0]]
""",
    "target": "name: mean\nstate: {theta: {shape: d}}\ndata: {x: {shape: [N, d]}}\nlog_prior: 0\n"
    "log_likelihood: x @ theta\n",
}


def make_build(**changes: object) -> Build:
    """Return the build of the module above, in d dimensions read from the data."""
    return replace(load_build(written(BUILD, **BESIDE)), **{"variant": "full", "data": None, **changes})


def limited(build: Build, limit: str) -> Build:
    """Return the build with chains that end where a coordinate of theta is beyond a limit."""
    return replace(build, values=(build.values[0], ("limit", Value(((Fraction(limit),),)))))


def make_data() -> Data:
    """Return 20 data in 3 dimensions."""
    x = np.random.default_rng(0).normal(size=(20, 3)) * 0.5 + [1.0, 2.0, 3.0]
    return Data((Field("x", x, ("a", "b", "c")),))

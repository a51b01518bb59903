"""After a run: whether the draws are where the mode of U that a search finds is, as often as what it holds says.

Around a mode theta* with K = Hess U(theta*), B is where (theta - theta*)^T K (theta - theta*) is what it is for most
draws of N(theta*, K^-1). Its mass is a mean over these, Z_B = |2 pi K^-1|^(1/2) E[exp(-(U - w^T K w/2)) 1_B], w being
theta - theta*. Of draws of exp(-U) on any set R, of mean energy E U and covariance S,

    Z_R <= exp(-E U) |2 pi e S|^(1/2),

as no law of covariance S has a larger entropy than the Gaussian. Of draws of all of exp(-U) at least the part
Z_B / (Z_B + Z_R) is in B: where there are few, or none, chains stay out of what they should be in. R-hat, ESS and
Stein's identity say nothing of it: they ask of draws what they are where they are.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from recipe_compiler.errors import RunError
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.run.chain import Array, Inputs
from recipe_compiler.run.energies import potential_of
from recipe_compiler.run.gradients import full_gradient
from recipe_compiler.run.infinitesimal_means import chosen_draws
from recipe_compiler.run.linear_step import curvature
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.map_estimate import DENSE, FindMode, Start
from recipe_compiler.run.sample import Draws, potential_place
from recipe_compiler.spec.discrete import discrete_blocks
from recipe_compiler.spec.model import Build

DRAWS = 256
"""Of the Gaussian around the mode, by which the mass around it is known within a few per cent."""

SDS = 3.0
"""How far B reaches: the squared distance is so many sds above its mean d."""

LEAST = 0.1
"""What B has to hold: of 100 draws that count 10 are in it then, and that none is, is no chance."""

READ = 1e6
"""The most entries of data: of more a posterior is all but Gaussian, and a search for its mode takes minutes."""

MISSED = 0.2
"""The part of the draws that should be in B, below which it is missed."""


@dataclass(frozen=True, slots=True)
class Unvisited:
    """What there should be of draws around a mode, at least, and what there is."""

    expected: float
    found: float
    says: str
    """Where the search for the mode began."""

    @property
    def doubts(self) -> tuple[str, ...]:
        """That chains have missed the mode, if they have."""
        if not (self.expected >= LEAST and self.found < MISSED * self.expected):
            return ()
        return (
            f"the draws miss a mode of U, found by a search from {self.says}: at least {100.0 * self.expected:.2g} % "
            f"of exp(-U) is around it, and {100.0 * self.found:.2g} % of the draws. Chains that are elsewhere do not "
            "find it, whatever R-hat says. Try `init` on both sides, to see whether they pass, or another "
            "parameterisation.",
        )


def mode_unvisited(
    module: Emitted, build: Build, inputs: Inputs, draws: Draws, names: Sequence[str], starts: Sequence[Start],
    find: FindMode,
) -> Unvisited | None:  # fmt: skip
    """Return what there is of draws around the mode of U that a search finds; None where nothing can be said.

    Nothing is said of bounded states, of discrete blocks, which have no mode, of a gradient that is code, of more than
    `DENSE` coordinates, of more data than `READ`, and where no minimum is found.

    Args:
        module: emitted and imported.
        build: that was run.
        inputs: what its chains were given.
        draws: what was drawn.
        names: of the coordinates of the potential's block.
        starts: where the search begins, one after another.
        find: the search.
    """
    slope, potential = full_gradient(module, inputs), potential_of(module, inputs)
    bounded = any(b.domain.name is not DomainName.REAL for b in build.dynamics.declarations.blocks)
    bounded = bounded or bool(discrete_blocks(build.target.declarations))
    chosen = chosen_draws(inputs, draws)
    if slope is None or potential is None or chosen is None or bounded or inputs.gradient is not None:
        return None
    theta = draws.arrays[potential_place(module)][np.ix_(*chosen)]
    flat = theta.reshape(-1, theta.shape[2])
    if flat.shape[1] > DENSE or inputs.rows * flat.shape[1] > READ or not np.isfinite(flat).all():
        return None
    try:
        mode = find(slope, starts, names)
    except RunError:
        return None
    energies = np.array([potential(np.ascontiguousarray(one)) for one in flat])
    return unvisited(potential, mode.theta, curvature(slope, mode.theta), flat, energies, mode.says)


def unvisited(
    potential: Callable[[Array], float], mode: Array, K: Array, draws: Array, energies: Array, says: str
) -> Unvisited | None:
    """Return what part of the draws is around a mode, beside what part has to be there; None where it is no mode.

    Args:
        potential: theta to U.
        mode: a minimum of it, d numbers.
        K: the Hessian of U there, d x d.
        draws: of theta, draws x coordinates.
        energies: U at each of them.
        says: where the search for the mode began.
    """
    d = len(mode)
    values = np.linalg.eigvalsh(K) if np.isfinite(K).all() else np.zeros(1)
    S = np.atleast_2d(np.cov(draws, rowvar=False))
    if not (values[0] > 0.0 and np.isfinite(S).all() and np.linalg.eigvalsh(S)[0] > 0.0):
        return None
    root = np.linalg.cholesky(K)
    reach = d + SDS * math.sqrt(2.0 * d)
    z = np.random.default_rng(0).standard_normal((DRAWS, d))
    length = (z**2).sum(axis=1)
    at = mode + np.linalg.solve(root.T, z.T).T
    own = potential(np.ascontiguousarray(mode))
    with np.errstate(all="ignore"):
        rises = np.array([potential(np.ascontiguousarray(theta)) for theta in at]) - own
        within = np.where(length <= reach, np.exp(length / 2.0 - rises), 0.0)
        log_held = math.log(max(float(np.nan_to_num(within).mean()), 1e-300)) - np.linalg.slogdet(K)[1] / 2.0
        log_rest = own - float(np.mean(energies)) + d / 2.0 + np.linalg.slogdet(S)[1] / 2.0
    if not math.isfinite(log_held - log_rest):
        return None
    inside = (((draws - mode) @ root) ** 2).sum(axis=1) <= reach
    return Unvisited(1.0 / (1.0 + math.exp(min(log_rest - log_held, 700.0))), float(inside.mean()), says)

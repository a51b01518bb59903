"""Thinning by what chains do: a short pilot run tells what the step made linear at the mode cannot.

Where U is no quadratic a chain may take longer from one end of the posterior to the other than it does around the mode:
eight schools sampled as log tau, three times as long. The pilot's effective sample sizes, rank-normalised, of the bulk
and of the tails (Vehtari and others 2021), are those of the coordinates as they are sampled.
"""

import math
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.planner.plan import Plan
from recipe_compiler.spec.model import RunSettings
from recipe_compiler.spec.restate import restated

Array = NDArray[np.float64]

DRAWS, CHAINS, SEED = 250, 4, 2**40
"""Of the pilot. Its seed is its own, so that a plan is the same for every seed of the run."""

WANTED, LEAST = 0.5, 0.25
"""Effective draws a draw: what a plan is made for, and what is taken for it without another word."""

TAILS = 0.9
"""The part of the draws between the quantiles that tell the tails."""

MOST = 64
"""By which steps a draw are multiplied at most."""


def pilot(settings: RunSettings) -> RunSettings:
    """Return the settings of the pilot of a planned run."""
    return replace(settings, draws=DRAWS, chains=CHAINS, seed=SEED, lanes=False)


def paced(plan: Plan, draws: Array, names: tuple[str, ...]) -> Plan:
    """Return a plan with as many steps a draw as its pilot needed.

    They are multiplied by a power of two, so that the same data give the same plan on machines that round differently.

    Args:
        plan: with every setting.
        draws: of its pilot after warmup: chains x draws x coordinates.
        names: of the coordinates.
    """
    shares = effective_shares(draws)
    slowest = int(np.argmin(shares))
    if not np.isfinite(shares).all() or shares[slowest] >= LEAST:
        return plan
    factor = min(MOST, 2 ** math.ceil(math.log2(WANTED / max(float(shares[slowest]), WANTED / MOST))))
    thin = factor * plan.build.run.thin
    found = f"of its {CHAINS} x {DRAWS} draws of {names[slowest]} {100.0 * shares[slowest]:.2g} % count"
    says = (*plan.says, f"  thin: {thin} by a pilot run: {found}, {100.0 * WANTED:g} % were planned")
    return replace(plan, build=restated(plan.build, {"run": {"thin": str(thin)}}), says=says)


def effective_shares(draws: Array) -> Array:
    """Return the effective draws a draw by coordinate, the least of bulk and tails; chains x draws x coordinates."""
    from arviz_stats.base.array import array_stats

    ess = cast("Any", array_stats).ess
    bulk = np.atleast_1d(ess(draws, chain_axis=0, draw_axis=1, method="bulk"))
    tails = np.atleast_1d(ess(draws, chain_axis=0, draw_axis=1, method="tail", prob=TAILS))
    return np.minimum(bulk, tails) / (draws.shape[0] * draws.shape[1])

"""The plan of a run whose moves preserve exp(-H) at every step size: draws by laws, their exact flows, involutions.

There is nothing to tune but how many cycles lie between two draws, and how many draws are thrown away. Chains of the
build itself tell, from where those of a run begin.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.advise.chosen import Plan
from recipe_compiler.advise.entries import states
from recipe_compiler.advise.measure import LEAST, WANTED
from recipe_compiler.advise.moments import AGREE, effective_shares, r_hats
from recipe_compiler.advise.pilots import Pilots
from recipe_compiler.advise.plan import WARMUP
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.schema_build import OF_AUTO
from recipe_compiler.spec.to_yaml import Entry, restated

Array = NDArray[np.float64]

DRAWS = 500
"""Draws of a chain."""

FIRST = 250
"""Cycles that are not looked at."""

MOST = 1024
"""Cycles from one draw to the next."""

READ = 3e10
"""Entries of the data that draws may read: some tens of seconds."""


def plan_of_draws(stated: Build, pilots: Pilots, names: tuple[str, ...]) -> Plan:
    """Return how far apart draws of a cycle lie, so that a quarter of them count at least, and how many go before them.

    Args:
        stated: with `step_size: auto`.
        pilots: of the same.
        names: of the coordinates of the potential's block.

    Raises:
        RunError: exp(-H) has no number where a chain begins.
    """
    pilots.moved({}, 1.0, FIRST, 1)
    most = max(1, min(MOST, int(READ / (pilots.entries * DRAWS * len(pilots.chains)))))
    thin = 1
    while True:
        theta = pilots.moved({}, 1.0, thin, DRAWS).theta
        moving = theta.std(axis=(0, 1)) > 0.0  # rows that never chose a place show nothing
        with np.errstate(all="ignore"):  # rows may stand still in every chain, each at its own place
            shares = np.where(moving, np.nan_to_num(effective_shares(theta), nan=0.0), 1.0)
        counts = max(float(shares.min()), 1.0 / DRAWS)
        if counts >= LEAST or thin >= most:
            break
        thin = min(most, thin * 2 ** math.ceil(math.log2(WANTED / max(counts, WANTED / MOST))))
    doubts = tuple(_doubts(theta[:, :, moving], thin))
    own = stated.run.thin if states(stated, "thin") else thin
    warmup = math.ceil(WARMUP / counts * thin / own)
    run: dict[str, Entry | None] = dict.fromkeys(OF_AUTO)
    run |= {"step_size": "1" if stated.scheme.takes_time else None}
    run |= {name: str(n) for name, n in (("thin", thin), ("warmup", warmup)) if not states(stated, name)}
    build = restated(stated, {"run": run})
    part = f"{min(1.0, counts):.2g} per draw of {names[int(np.argmin(shares))]}, {thin} cycles apart"
    says = (
        f"plan: by {len(pilots.chains)} chains of {DRAWS} draws; its moves preserve exp(-H) at every step size",
        f"  thin: {build.run.thin}, warmup: {build.run.warmup} draws; effective sample size {part}",
        *(f"  doubt: {doubt}" for doubt in doubts),
    )
    return Plan(build, says, doubts=doubts)


def _doubts(theta: Array, thin: int) -> Iterator[str]:
    with np.errstate(all="ignore"):
        apart = float(np.max(np.nan_to_num(r_hats(theta), nan=np.inf), initial=1.0))
    if not apart <= AGREE:
        yield (
            f"chains of {DRAWS} draws, {thin} cycles apart, do not mix: R-hat is {apart:.3g}. Draw strongly correlated "
            "blocks together, or break the symmetry of exchangeable components (`constraint: ordered`)."
        )

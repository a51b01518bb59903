"""The plan of a run by its own moves: those accepted or refused, and those that are exact at every step size.

Of the first, step size, mass, thinning, warmup and where chains begin are chosen. Of the second (draws by laws, their
exact flows, involutions) there is nothing to tune but how many cycles lie between two draws, and how many draws are
thrown away: chains of the build itself tell, from where those of a run begin.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from recipe_compiler.advise.acceptance import (
    HARDLY,
    LENGTH_DRAWS,
    TRAJECTORY,
    WINDOWS,
    Tuned,
    measured,
    spread_of,
    tuned,
)
from recipe_compiler.advise.chosen import Pace, Plan
from recipe_compiler.advise.entries import ChosenEntries, matched_mass, states
from recipe_compiler.advise.missed_modes import READ, missed_mode, mode_of
from recipe_compiler.advise.moments import AGREE, LEAST, apart, effective_shares, least_share, r_hats
from recipe_compiler.advise.pilots import CHAINS, Pilots
from recipe_compiler.advise.plan import SPREAD, WARMUP
from recipe_compiler.advise.roles import LONGEST, ParameterRole, open_parameters
from recipe_compiler.advise.spread import MANY, inverse
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.program.atoms import names_of
from recipe_compiler.run.differences import known_curvature
from recipe_compiler.run.map_estimate import DENSE, Mode, Slope
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.schema_build import OF_AUTO
from recipe_compiler.spec.to_yaml import Entry, restated

LOOKED_AT = 1000
"""Draws of warm-up at which U is computed, to find modes that they miss."""

LONGER = 3
"""How often moves are made four times as long, and windows begun anew, where draws of the last hardly count: what they
say of a mass is then too little."""

HALVINGS = 12
"""How often a start is moved half of the way towards the mode."""


@dataclass(frozen=True, slots=True, eq=False)
class WarmChains:
    """Chains of moves that are accepted or refused, their settings chosen."""

    pilots: Pilots
    found: Tuned
    moves: int
    """How many make a draw of warm-up."""
    mode: Mode | None
    around: str
    """What the mass of the first window was, in words."""

    @property
    def draws(self) -> Array:
        """Chain x draw x coordinate."""
        return self.found.draws.reshape(CHAINS, -1, self.pilots.width)


def warm_up(stated: Build, pilots: Pilots) -> WarmChains:
    """Return the chains of a build of moves in the bulk of exp(-U), with settings that hold.

    Args:
        stated: with `step_size: auto`, and a move that is accepted or refused.
        pilots: of the same, with any values of what is to be chosen.

    Raises:
        RunError: no step size has moves that are accepted as often as wanted; says what to do.
    """
    sampler = pilots.sampler
    cycle, width = sampler.compiled.program.cycle, pilots.width
    if cycle is None or not cycle.accepted or cycle.rest is None:
        raise RunError(f"{stated.name}: found no Metropolis move, expected one")
    every, slope = open_parameters(stated), sampler.slope
    open_ones = tuple(one for one in every if one.role is not ParameterRole.LENGTH)
    pilots = pilots.lasting(LONGEST, (one.name for one in every if one not in open_ones))
    moves = 1 if pilots.lengths else max(1, math.ceil(TRAJECTORY / pilots.steps))
    say = pilots.budget.say
    say("searching for the mode of U")
    mode = mode_of(sampler) if _is_searched(pilots) or width <= MANY else None
    K, around = (None, "1") if slope is None or width > MANY else at_mode(slope, mode)
    if mode is not None and K is not None:
        pilots = pilots.around(starts_around(mode.theta, K, sampler.potential, CHAINS // 2))
    try:
        values, eps = tuned(pilots, open_ones, K, stated.accept, moves, say, slope)
    except RunError:
        if K is None:
            raise
        values, eps = tuned(pilots, open_ones, None, stated.accept, moves, say, slope)
        around = "1, as no move is accepted with the Hessian of U at its mode"
    for _ in range(LONGER if pilots.lengths else 0):
        if least_share(pilots.moved(values, eps, moves, LENGTH_DRAWS).theta) >= HARDLY:
            break
        pilots = pilots.lasting(4.0 * pilots.longest, pilots.lengths)
        mass = next((values[one.name] for one in open_ones if one.role is ParameterRole.MASS), None)
        values, eps = tuned(pilots, open_ones, mass, stated.accept, moves, say, slope)
    follows = sampler.module.potential_block in names_of(cycle.rest)
    found, pilots = measured(pilots, open_ones, values, eps, stated.accept, moves, None if follows else slope, say)
    return WarmChains(pilots, found, moves, mode, around)


def _is_searched(pilots: Pilots) -> bool:
    """Whether modes of U are searched for."""
    return pilots.entries <= READ and pilots.width <= DENSE


def plan_of_moves(stated: Build, pilots: Pilots) -> Plan:
    """Return what a run of a build should be, by chains that warm up; arguments and errors are those of `warm_up`."""
    warm, every = warm_up(stated, pilots), open_parameters(stated)
    pilots, found, sampler = warm.pilots, warm.found, pilots.sampler
    if (mass := matched_mass(stated, every)) is not None:
        found = replace(found, covariance=inverse(found.values[mass.name]))
    spread = spread_of(pilots, found)
    entries = ChosenEntries(
        stated, every, found.eps, found.thin, math.ceil(WARMUP / found.counts), None,
        {**found.values, **pilots.lengths}, False, found.mean, spread**2 * found.covariance, goes_on=True,
    )  # fmt: skip
    pilots.budget.say("searching for modes that warm-up missed")
    theta = warm.draws[:, :: max(1, len(found.draws) // LOOKED_AT)]
    missed = missed_mode(sampler, warm.mode, theta, pilots.entries) if _is_searched(pilots) else ""
    doubts = (*found.doubts, *filter(None, (missed,)))
    says = tuple(_says(entries, pilots, replace(found, doubts=doubts), warm.moves, warm.around, spread))
    pace = Pace(found.counts / (found.thin * pilots.steps), pilots.steps, found.seconds)
    return Plan(restated(stated, entries.changes), says, doubts=doubts, pace=pace, mode=warm.mode)


def at_mode(slope: Slope, mode: Mode | None) -> tuple[Array | None, str]:
    """Return the Hessian of U at a mode, d x d; None where none is positive definite, with what is used instead.

    Args:
        slope: theta to grad U.
        mode: of U, None where none was found.
    """
    if mode is None:
        return None, "1, as no mode of U was found"
    K = known_curvature(slope, mode.theta)
    if K is None:
        return None, "1, as the Hessian of U at its mode is not known to be positive definite"
    return K, f"the Hessian of U at the mode found from {mode.says}"


def starts_around(mode: Array, K: Array, potential: Callable[[Array], float] | None, count: int) -> Array:
    """Return states around a mode, of N(mode, `SPREAD`^2 K^-1), nearer where U rises twice as much as that Gaussian's.

    Args:
        mode: a minimum of U, d numbers.
        K: its Hessian there, d x d.
        potential: theta to U; None where it is not known.
        count: how many.
    """
    normals = SPREAD * np.random.default_rng(0).standard_normal((count, len(mode)))
    steps = np.linalg.solve(np.linalg.cholesky(K).T, normals.T).T
    least = 0.0 if potential is None else potential(mode)

    def start(step: Array, rise: float) -> Array:
        parts = [0.5**k for k in range(HALVINGS)]
        if potential is None:
            return mode + step
        with np.errstate(all="ignore"):
            near = (part for part in parts if potential(mode + part * step) - least <= part**2 * rise)
            return mode + next(near, 0.0) * step

    return np.array([start(step, float(z @ z)) for step, z in zip(steps, normals, strict=True)])


def _says(
    entries: ChosenEntries, pilots: Pilots, found: Tuned, moves: int, around: str, spread: float
) -> Iterator[str]:
    windows = ", ".join(map(str, WINDOWS))
    of = "" if moves == 1 else f" of {moves} moves"
    yield (
        f"plan: by warm-up, {len(pilots.chains)} chains in windows of {windows} draws{of}: log eps by dual averaging, "
        "then all is fixed"
    )
    for one in entries.open_ones:
        S = f"the {'covariance' if found.covariance.ndim == 2 else 'variances'} of draws of warm-up"
        first = f" (in the first window by {around})" if one.role is ParameterRole.MASS else ""
        yield f"  {one.name}: {entries.matched_to(one, f'the inverse of {S}', S, '1')}{first}"
    several = " of the kind with the least" if len(entries.stated.scheme.accepted) > 1 else ""
    yield (
        f"  step_size: {entries.eps:g}; moves{several} are accepted with probability {found.acceptance:.3f}, target "
        f"{entries.stated.accept:g}"
    )
    if found.shortened:
        yield "  shorter than the target needs: longer moves were rarely accepted where U is steepest"
    yield (
        f"  thin: {entries.thin}, warmup: {entries.warmup} draws; effective sample size "
        f"{min(1.0, found.counts):.2g} per draw, {found.thin} moves apart"
    )
    yield f"  init: around the mean of draws of warm-up, {spread:g} of their sds wide"
    yield from (f"  doubt: {doubt}" for doubt in found.doubts)


DRAWS = 500
"""Draws of a chain."""

FIRST = 250
"""Cycles that are not looked at."""

MOST = 1024
"""Cycles from one draw to the next."""

CYCLES_READ = 3e10
"""Entries of the data that draws may read: some tens of seconds."""


def plan_of_draws(stated: Build, pilots: Pilots) -> Plan:
    """Return how far apart draws of a cycle lie, so that a quarter of them count at least, and how many go before them.

    Args:
        stated: with `step_size: auto`.
        pilots: of the same.

    Raises:
        RunError: exp(-H) has no number where a chain begins.
    """
    pilots.moved({}, 1.0, FIRST, 1)
    most = max(1, min(MOST, int(CYCLES_READ / (pilots.entries * DRAWS * len(pilots.chains)))))
    thin = 1
    while True:
        theta = pilots.moved({}, 1.0, thin, DRAWS).theta
        moving = theta.std(axis=(0, 1)) > 0.0  # rows that never chose a place show nothing
        with np.errstate(all="ignore"):  # rows may stand still in every chain, each at its own place
            shares = np.where(moving, np.nan_to_num(effective_shares(theta), nan=0.0), 1.0)
        counts = max(float(shares.min()), 1.0 / DRAWS)
        if counts >= LEAST or thin >= most:
            break
        thin = apart(thin, counts, MOST, most)
    doubts = tuple(_doubts(theta[:, :, moving], thin))
    own = stated.run.thin if states(stated, "thin") else thin
    warmup = math.ceil(WARMUP / counts * thin / own)
    run: dict[str, Entry | None] = dict.fromkeys(OF_AUTO)
    run |= {"step_size": "1" if stated.scheme.takes_time else None}
    run |= {name: str(n) for name, n in (("thin", thin), ("warmup", warmup)) if not states(stated, name)}
    build = restated(stated, {"run": run})
    part = f"{min(1.0, counts):.2g} per draw of {pilots.sampler.names[int(np.argmin(shares))]}, {thin} cycles apart"
    says = (
        f"plan: by {len(pilots.chains)} chains of {DRAWS} draws; its moves preserve exp(-H) at every step size",
        f"  thin: {build.run.thin}, warmup: {build.run.warmup} draws; effective sample size {part}",
        *(f"  doubt: {doubt}" for doubt in doubts),
    )
    return Plan(build, says, doubts=doubts)


def _doubts(theta: Array, thin: int) -> Iterator[str]:
    with np.errstate(all="ignore"):
        r_hat = float(np.max(np.nan_to_num(r_hats(theta), nan=np.inf), initial=1.0))
    if not r_hat <= AGREE:
        yield (
            f"chains of {DRAWS} draws, {thin} cycles apart, do not mix: R-hat is {r_hat:.3g}. Draw strongly correlated "
            "blocks together, or break the symmetry of exchangeable components (`constraint: ordered`)."
        )

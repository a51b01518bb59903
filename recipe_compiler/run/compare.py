"""Runs side by side: what each was, what it is worth, and where their posteriors lie apart by more than chance.

With Monte Carlo errors e_a, e_b of the mean (or sd) of one coordinate by two runs, it lies apart by

    z = (m_b - m_a)/sqrt(e_a^2 + e_b^2),

which is N(0, 1) where both sample one law (Vehtari and others 2021 for the errors), and smaller where they share a
seed. The largest |z| of n numbers is beyond chance where it would be larger in one of a thousand comparisons of
runs of one law (Bonferroni).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recipe_compiler.errors import RunError
from recipe_compiler.run.posterior_numbers import COLUMNS, LEAST_DRAWS, final_scores, posterior_numbers, stored_standing
from recipe_compiler.run.store import stored

CHANCE = 1e-3
"""How often runs of one law may be said to lie apart."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as its file describes it."""

    file: str
    target: str
    scheme: str
    step_size: float
    thin: int
    chains: int
    draws: int
    seconds: float
    """Processor time of its draws."""
    trust: str
    scores: Mapping[str, Mapping[str, float]]
    """Score to its value by all draws, its error and its floor."""
    rows: Mapping[str, Mapping[str, float]]
    """Coordinate to its numbers, over chains that are finite to their end."""

    @property
    def least_ess(self) -> float:
        """The smallest effective sample size over all coordinates, in bulk and tails (Vehtari et al. 2021)."""
        return min(min(row["ess_bulk"], row["ess_tail"]) for row in self.rows.values())

    @property
    def r_hat(self) -> float:
        """The largest R-hat."""
        return max(row["r_hat"] for row in self.rows.values())

    @property
    def per_second(self) -> float:
        """Effective draws per second, of the coordinate with the fewest."""
        return self.least_ess / self.seconds if self.seconds > 0.0 else np.nan


@dataclass(frozen=True, slots=True)
class Apart:
    """The difference in one number of one coordinate between a run and the first run."""

    file: str
    name: str
    of: str
    """`mean` or `sd`."""
    first: float
    other: float
    in_sds: float
    """other - first, in posterior sds."""
    z: float


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Runs of one target, each compared with the first."""

    runs: tuple[StoredRun, ...]
    apart: tuple[Apart, ...]
    """Every mean and sd, the largest |z| first."""
    limit: float
    """The |z| beyond which chance is no explanation."""

    @property
    def contradictions(self) -> tuple[str, ...]:
        """The differences that exceed chance, in sentences: for each run the largest one."""
        found: dict[str, Apart] = {}
        for one in self.apart:
            if abs(one.z) > self.limit:
                found.setdefault(one.file, one)
        return tuple(
            f"{one.file}: the {one.of} of {one.name} is {one.other:.4g}, {one.first:.4g} in {self.runs[0].file}: "
            f"{abs(one.in_sds):.2g} posterior sds apart, |z| = {abs(one.z):.1f}, beyond chance from {self.limit:.1f}"
            for one in found.values()
        )


def compared(runs: Sequence[StoredRun]) -> RunComparison:
    """Return the comparison of runs with the first, for the mean and the sd of every common coordinate.

    z = (m_b - m_a)/sqrt(e_a**2 + e_b**2) with Monte Carlo standard errors e (Vehtari et al. 2021): N(0, 1) where both
    sample one law. Of n numbers the largest |z| contradicts above the level that one of 1000 comparisons exceeds
    (Bonferroni).

    Raises:
        RunError: they have different targets, or no coordinate in common.
    """
    first, *others = runs
    found: list[tuple[StoredRun, str, str]] = []
    for run in others:
        if run.target != first.target:
            problem = f"found the target {run.target}, expected {first.target} as in {first.file}"
            raise RunError(f"{run.file}: {problem}: only runs of one target are comparable")
        names = [name for name in first.rows if name in run.rows]
        if not names:
            raise RunError(f"{run.file}: found no coordinate that {first.file} has, expected {', '.join(first.rows)}")
        found += [(run, name, of) for name in names for of in ("mean", "sd")]
    apart = [_apart(first, *one) for one in found]
    ordered = sorted(apart, key=lambda one: -abs(one.z) if np.isfinite(one.z) else -np.inf)
    return RunComparison(tuple(runs), tuple(ordered), _limit(len(found)))


def _apart(first: StoredRun, run: StoredRun, name: str, of: str) -> Apart:
    a, b = first.rows[name], run.rows[name]
    error = float(np.hypot(a[f"mcse_{of}"], b[f"mcse_{of}"]))
    away = b[of] - a[of]
    z = away / error if error > 0.0 else (0.0 if away == 0.0 else float(np.inf))
    return Apart(run.file, name, of, a[of], b[of], away / a["sd"] if a["sd"] > 0.0 else float(np.nan), z)


def _limit(count: int) -> float:
    """Return the |z| that one of `count` normal numbers exceeds once in 1/CHANCE."""
    from scipy.special import ndtri

    return float(-ndtri(CHANCE / (2.0 * count)))


def stored_run(path: Path) -> StoredRun:
    """Return a run from the file that `recipe run` wrote.

    Raises:
        RunError: the file cannot be read, is not one of a run, or no chain in it has finite draws to the end.
    """
    tree = stored(path)
    missing = [name for name in ("target", "scheme", "step_size", "sampling_seconds") if name not in tree.attrs]
    if missing:
        raise RunError(f"{path}: found no run of this compiler in it, expected a file that `recipe run` wrote")
    attributes = tree.attrs
    over = stored_standing(tree)
    if not over.whole or over.length < LEAST_DRAWS:
        raise RunError(
            f"{path}: found no chain whose draws are finite to its end, expected one of {LEAST_DRAWS} or more"
        )
    return StoredRun(
        file=str(path),
        target=str(attributes["target"]),
        scheme=str(attributes["scheme"]),
        step_size=float(attributes["step_size"]),
        thin=int(attributes.get("thin", 1)),
        chains=len(over.chains),
        draws=over.length,
        seconds=float(attributes.get("processor_seconds", np.nan)),
        trust=str(attributes.get("trust", "")),
        scores=final_scores(tree),
        rows={row.name: dict(zip(COLUMNS, row.values, strict=True)) for row in posterior_numbers(tree).rows},
    )

"""After a run: means of L phi over the draws, which are 0 over exp(-H) whatever the step size and the minibatch.

They concern the whole state. A finite step leaves auxiliary blocks, such as momenta, O(eps) off, where the draws of the
target need not be: what is found here is reported, and no fault of the target's draws, which `advise/stein.py` judges.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.program.step_stats import ACCEPTANCE
from recipe_compiler.run.chain import Array, Inputs
from recipe_compiler.run.gradients import of_state
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.schedule import weights

Places = NDArray[np.intp]

FALSE_ALARM = 1e-3
"""How often a limit is passed by a run whose draws are those of exp(-H), all its means together (Bonferroni)."""

MOST_DRAWS, LEAST_DRAWS = 20_000, 200
"""Draws of all chains together that are looked at, evenly spaced."""

WORK = 2e9
"""Entries of the data that may be read for all of them, before there are fewer."""

BATCHES = 20
"""Stretches of a chain whose means give one of the two estimates of the error."""

MOST_Z = 1e6
"""The |z| of larger ones, and of values that are not finite."""

ENTRY_BY_ENTRY = 1000
"""The most entries of one family of polynomials that are shown apart; of longer ones the sum is."""


@dataclass(frozen=True, slots=True)
class InfinitesimalMean:
    """The mean of L phi over all draws, for one polynomial phi."""

    name: str
    """phi, as `theta[2]*r[2]` or `sum theta[i]*r[i]`."""
    mean: float
    sd: float
    """The sd of L phi over the draws."""
    z: float
    """The mean in units of its own error."""


@dataclass(frozen=True, slots=True)
class InfinitesimalMeans:
    """What the infinitesimal generator says of the whole state of a run: E[L phi] = 0 over exp(-H)."""

    largest: InfinitesimalMean
    """That with the largest |z|."""
    count: int
    draws: int
    limit: float
    """|z| that one right run in 1000 passes."""
    accepted: bool = False
    """Whether moves were accepted or refused by H, which no step size leaves another law to."""

    @property
    def seen(self) -> bool:
        """Whether the draws of the whole state contradict exp(-H)."""
        return not abs(self.largest.z) <= self.limit

    @property
    def says(self) -> str:
        """The result in a sentence."""
        worst = self.largest
        share = np.divide(abs(worst.mean), worst.sd)
        sure = f"|z| = {abs(worst.z):.1f}{'' if self.seen else ', no more than by chance'}"
        found = f"generator L of the whole state: the mean of L({worst.name}) is {share:.1g} of its sd ({sure})"
        off = "" if self.accepted else " a finite step leaves momenta O(eps) off, and"
        return f"{found};{off} the target's draws are judged apart"

    @property
    def attributes(self) -> dict[str, str | float]:
        """What the file of the draws keeps."""
        return {"generator_z": self.largest.z, "generator_of": self.largest.name, "generator_limit": self.limit}


def infinitesimal_means(sampler: Sampler, draws: Draws) -> InfinitesimalMeans | None:
    """Return the means of L phi over the draws after warmup, for the module's polynomials phi; None if unknown.

    L phi = f . grad phi + tr(D Hess phi) has the mean 0 over exp(-H), whatever the step size. Standard errors are the
    larger of two estimates: by the effective sample size (Vehtari et al. 2021), and by batch means. Chains that
    diverged are left out. None where the module or the run has none, and where the state is the target's block alone,
    which `advise/stein.py` judges.

    Args:
        sampler: whose chains they are.
        draws: what they drew.
    """
    module, inputs = sampler.module, sampler.inputs
    if module.generator is None or len(module.blocks) < 2:
        return None
    chosen = chosen_draws(inputs, draws)
    if chosen is None:
        return None
    polynomials, values = _values(module, inputs, [array[np.ix_(*chosen)] for array in draws.arrays])
    step_sizes = weights(draws.settings, int(chosen[1][-1]) + 1)
    if step_sizes is not None:
        values *= (step_sizes[chosen[1]] / step_sizes[chosen[1]].mean())[None, :, None]
    return replace(
        summed_up(_by_target(module, polynomials, sampler.names), values), accepted=ACCEPTANCE in module.told
    )


def chosen_draws(inputs: Inputs, draws: Draws) -> tuple[Places, Places] | None:
    """Return the chains that did not diverge, and evenly spaced draws of them; None where there are too few."""
    whole = [k for k, diverging in enumerate(draws.diverging) if not diverging]
    length = min((draws.kept[k] for k in whole), default=0) - draws.warmup
    if length < 2 * BATCHES:
        return None
    width = sum(array.shape[2] for array in draws.arrays)
    most = min(max(WORK / (1 + inputs.rows * width), LEAST_DRAWS), MOST_DRAWS)
    stride = max(1, int(np.ceil(length * len(whole) / most)))
    return np.array(whole), np.arange(draws.warmup, draws.warmup + length, stride)


def summed_up(names: list[str], values: Array) -> InfinitesimalMeans:
    """Return what values of L phi say, `[chain, draw, polynomial]`: the mean with the largest |z| and its limit.

    z = mean/standard error; the limit is the level that one right run in 1000 exceeds for that many polynomials
    (Bonferroni).
    """
    from scipy.stats import norm

    with np.errstate(all="ignore"):  # what is not finite is flagged
        mean, sd = values.mean(axis=(0, 1)), values.std(axis=(0, 1))
        error = errors_of(values)
        z = np.where(mean == 0.0, 0.0, mean / error)
    z = np.clip(np.nan_to_num(z, nan=MOST_Z), -MOST_Z, MOST_Z)
    worst = int(np.argmax(np.abs(z)))
    largest = InfinitesimalMean(names[worst], float(mean[worst]), float(sd[worst]), float(z[worst]))
    limit = float(norm.isf(FALSE_ALARM / (2 * len(names))))
    return InfinitesimalMeans(largest, len(names), values.shape[0] * values.shape[1], limit)


def errors_of(values: Array) -> Array:
    """Return standard errors of means over all draws `[chain, draw, value]`: the larger of two estimates.

    sd/sqrt(ESS), and the error from the means of stretches of the chains (batch means).
    """
    return np.maximum(_by_sample_size(values), _by_stretches(values))


def _by_sample_size(values: Array) -> Array:
    from arviz_stats.base.array import array_stats

    return np.asarray(cast("Any", array_stats).mcse(values, chain_axis=0, draw_axis=1, method="mean"))


def _by_stretches(values: Array) -> Array:
    """Return errors of the means over all chains by those of stretches of equal length."""
    length = values.shape[1] // BATCHES
    kept = values[:, : length * BATCHES]
    means = kept.reshape(values.shape[0] * BATCHES, length, -1).mean(axis=1)
    return means.std(axis=0, ddof=1) / np.sqrt(means.shape[0])


def _values(module: Emitted, inputs: Inputs, states: list[Array]) -> tuple[list[str], Array]:
    """Return the polynomials, and L phi for each at every state: `[chain, draw, polynomial]`."""
    generator, blocks = of_state(module, inputs, module.generator), [name for name, _ in module.blocks]
    names: list[str] = []
    chains, length = states[0].shape[:2]
    columns: list[Array] = []
    for chain in range(chains):
        for draw in range(length):
            found = generator({name: array[chain, draw] for name, array in zip(blocks, states, strict=True)})
            families = found if isinstance(found, tuple) else (found,)
            if not names:
                names = [name for says, one in zip(module.moments, families, strict=True) for name in _named(says, one)]
            columns.append(np.concatenate([part for one in families for part in _parts(one)]))
    return names, np.array(columns).reshape(chains, length, -1)


def _by_target(module: Emitted, polynomials: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return polynomials with the names that the target has for coordinates of the potential's block."""
    entry = re.compile(rf"\b{module.potential_block}(?:\[(\d+)\]|\b(?!\[))")
    return [entry.sub(lambda found: names[int(found[1] or 0)], polynomial) for polynomial in polynomials]


def _parts(family: Array) -> Iterator[Array]:
    """Yield the entries of one family of polynomials, and the sum of one that runs along blocks."""
    if family.size <= ENTRY_BY_ENTRY:
        yield family.ravel()
    if family.ndim == 1 and family.size > 1:
        yield np.array([family.sum()])


def _named(says: str, family: Array) -> Iterator[str]:
    """Yield their names: `theta[i]*r[i]` with the places written in."""
    if family.size <= ENTRY_BY_ENTRY:
        for at in np.ndindex(family.shape):
            yield says.replace("[i]", f"[{at[0]}]").replace("[j]", f"[{at[-1]}]")
    if family.ndim == 1 and family.size > 1:
        yield f"sum {says}"

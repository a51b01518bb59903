"""What the fixed steps of `solve` do to a posterior: U at twice the steps, at draws of a run.

With U_h of the steps taken, of order p, and U of the exact solutions, U - U_h is about (U_(h/2) - U_h) 2**p/(2**p - 1)
(Richardson; Hairer, Norsett, Wanner 1993, Sec. II.4). Draws of exp(-U_h) have the weights w = exp(U_h - U) under
exp(-U) (Timonen et al. 2023), so that for every function f of the state

    |E f - E_h f| <= sd_h(f) sd_h(w)/E_h w,    about sd_h(f) sd_h(U - U_h) where that is small

(Cauchy, Schwarz). A constant difference changes nothing. Half a step further is a row of data more: its time is in the
middle, its fields are those of the row reached, and its log likelihood is not counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.advise.stein import SMALL, chosen_draws
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.evaluate import evaluate
from recipe_compiler.run.gradients import of_state
from recipe_compiler.run.sample import Draws, prepare_inputs
from recipe_compiler.spec.model import RowState, Stages
from recipe_compiler.spec.recursion import TIMES

MOST = 64
"""Draws at which U is compared."""


@dataclass(frozen=True, slots=True)
class SolverError:
    """How far a posterior is from that of exact solutions."""

    steps: str
    """The method and its steps, in words."""
    shift: float
    """What bounds the error of every mean, in posterior sds; infinite where U is not finite at twice the steps."""
    why_unknown: str = ""

    @property
    def doubt(self) -> str:
        """Why the draws are not those of the equations; empty where they are."""
        if self.why_unknown or self.shift <= SMALL:
            return ""
        found = "U is not finite there"
        if np.isfinite(self.shift):
            found = f"U changes by {self.shift:.2g} (sd over the draws), and means may move by as many posterior sds"
        cure = "Try more `steps`, or `method: rk4`"
        return f"the solutions of `solve` are too coarse ({self.steps}): without their error {found}. {cure}."

    @property
    def says(self) -> str:
        """What was found, in a sentence."""
        if self.why_unknown:
            return f"solve: the error of its steps is not known: {self.why_unknown}"
        return (
            f"solve: by twice the steps, its error changes U by {self.shift:.2g} (sd over the draws), and no mean by "
            "more posterior sds"
        )


def solver_error_of(sampler: Sampler, draws: Draws) -> SolverError | None:
    """Return how far the draws after warmup are from those of exact solutions; None without any, or with few draws."""
    target, chosen = sampler.build.target, chosen_draws(sampler.inputs, draws)
    if target.stages is None or chosen is None:
        return None
    says = target.stages.says
    if any(not state.solves for state in target.recursion):
        return SolverError(says, 0.0, "the target has a recursion too")
    log_likelihood = sampler.module.log_likelihood
    finer = _at_twice_the_steps(sampler, target.stages, target.recursion)
    if finer is None or log_likelihood is None:
        return SolverError(says, 0.0, "the number of rows is fixed")
    coarse_at, fine_at = (of_state(sampler.module, own, log_likelihood) for own in (sampler.inputs, finer))
    places = [(chain, draw) for chain in chosen[0] for draw in chosen[1]]
    changes = list[float]()
    for chain, draw in places[:: max(1, len(places) // MOST)]:
        state = {name: own[chain, draw] for name, own in zip(draws.blocks, draws.arrays, strict=True)}
        changes.append(float(coarse_at(state).sum() - fine_at(state)[1::2].sum()))
    known = np.array(changes) / (1.0 - 0.5**target.stages.order)
    with np.errstate(all="ignore"):
        shift = float(known.std())
    return SolverError(says, shift if np.isfinite(shift) else np.inf)


def _at_twice_the_steps(sampler: Sampler, stages: Stages, recursion: Sequence[RowState]) -> Inputs | None:
    """Return what the chains are given, with a row halfway before every row; None where rows are of a fixed number."""
    counts = {datum.size for datum in sampler.build.target.declarations.data}
    if any(isinstance(count, int) for count in counts):
        return None
    begin = next(state.start for state in recursion if state.solves == TIMES)
    fields = [replace(one, values=np.repeat(one.values, 2, axis=0)) for one in sampler.data.fields]
    for own in fields:
        if own.name == stages.time:
            own.values[::2] = _halfway(own.values[1::2], float(evaluate(begin, sampler.point)))
    sizes = tuple((name, size) for name, size in sampler.build.sizes if name not in counts)
    build = replace(sampler.build, sizes=sizes)
    return prepare_inputs(sampler.module, build, build.run, replace(sampler.data, fields=tuple(fields)))


def _halfway(times: NDArray[np.floating] | NDArray[np.int64], begin: float) -> Array:
    before = np.concatenate([[begin], np.asarray(times[:-1], dtype=np.float64)])
    return (before + times) / 2.0

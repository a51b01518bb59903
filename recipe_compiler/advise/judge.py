"""Forecasts what a run will sample before it starts, and judges afterwards whether its draws can be trusted."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from recipe_compiler.advise.chosen import Plan
from recipe_compiler.advise.diagnostics import Diagnostics, Summary, summarise
from recipe_compiler.advise.forecast import Forecast, forecast
from recipe_compiler.advise.missed_modes import missed_mode_of_run
from recipe_compiler.advise.moments import least_share
from recipe_compiler.advise.one_thread import one_blas_thread
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.advise.solver_error import solver_error_of
from recipe_compiler.advise.stein import departures
from recipe_compiler.advise.tails import powers
from recipe_compiler.report.refuted import find_laws
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.scores import add_scores
from recipe_compiler.run.sizes import potential_block
from recipe_compiler.run.stages import Ready, conclude
from recipe_compiler.run.user_code import doubt_gradient
from recipe_compiler.spec.code import on_trust
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Proved, Report, Verdict

if TYPE_CHECKING:
    from xarray import DataTree


FEWEST = 40
"""Draws of a chain, below which no effective sample size is said."""


@one_blas_thread()
def forecast_run(ready: Ready, plan: Plan) -> Forecast:
    """Return what the chains of a run will sample: by the pilot chains of its plan, else by its step made linear."""
    run = ready.run
    if plan.measured is not None:
        block = potential_block(run.build)
        return Forecast.of(plan.measured, block, run.module.variant, ready.names, run.settings.thin)
    return forecast(Sampler.of_run(ready))


@one_blas_thread()
def judge_run(ready: Ready, plan: Plan, ahead: Forecast, draws: Draws) -> Summary:
    """Return the summary of a run with every reason to doubt it; the attributes of its tree say so, too.

    Args:
        ready: the run.
        plan: that it follows.
        ahead: what was forecast.
        draws: what was drawn.
    """
    tree, known = conclude(ready, draws)
    report, sampler, block = ready.run.report, Sampler.of_run(ready), potential_block(ready.run.build)
    gradients = 0.0 if ready.run.module.gradient is None else sampler.gradients_of_step()
    add_scores(ready, tree, draws, gradients)
    kernel, assumed = _kernel(report), on_trust(sampler.build, _given(report))
    diagnostics = Diagnostics(
        ahead,
        departures(sampler, draws, is_exact=bool(kernel) and not assumed),
        powers(sampler, draws),
        kernel,
        assumed,
        _pace(plan, sampler, draws),
        missed_mode_of_run(sampler, draws, ahead.mode or plan.mode, known.lp),
        solver_error_of(sampler, draws),
        *_of_mark(ready.run.build),
        "" if (own := sampler.inputs.gradient) is None else doubt_gradient(own, block, sampler.theta(draws)),
    )
    summary = summarise(tree, draws, diagnostics)
    _add_forecast(tree, ahead)
    if diagnostics.pace is not None:
        tree.attrs.update(zip(("ess_per_gradient_predicted", "ess_per_gradient"), diagnostics.pace, strict=True))
    tree.attrs.update({"assumed": "\n".join(diagnostics.assumed)} if diagnostics.assumed else {})
    tree.attrs.update({"samples_instead": "\n".join(diagnostics.laws)} if diagnostics.laws else {})
    tree.attrs.update({"plan": "\n".join(plan.says)} if plan.says else {})
    tree.attrs["forecast_lines"] = "\n".join(ahead.says)
    for one in (ahead, diagnostics.departures):
        tree.attrs.update({} if one is None else one.attributes)
    tree.attrs.update(summary.attributes)
    return summary


def _of_mark(build: Build) -> tuple[str, tuple[str, ...]]:
    """Return the doubt about a build that is run though it is refuted, and what it samples instead."""
    if build.mark is None:
        return "", ()
    claims = "; ".join(claim.partition(": ")[0] for claim in build.mark.claims)
    return f"a negative control, run by {build.mark.runs}; refuted: {claims}.", find_laws(build)


def _pace(plan: Plan, sampler: Sampler, draws: Draws) -> tuple[float, float] | None:
    """Return effective draws per gradient, as predicted and as found; None where nothing was predicted."""
    kept = [kept for kept, lost in zip(draws.kept, draws.diverging, strict=True) if not lost]
    if plan.pace is None or min(kept, default=0) < draws.warmup + FEWEST:
        return None
    whole = [k for k, lost in enumerate(draws.diverging) if not lost]
    theta = sampler.theta(draws)[whole, draws.warmup : min(kept)]
    return plan.pace.effective, least_share(theta) / (draws.settings.thin * sampler.gradients_of_step())


def _kernel(report: Report) -> str:
    """Return what is proved of the law that a step keeps at every step size: that it is exp(-H), and the only one."""
    proved = {finding.id for finding in report.findings if finding.verdict is Verdict.PROVED}
    if "exact" not in proved:
        return ""
    return "a step proved to preserve exp(-H)" + (" and no other distribution" if "irreducible" in proved else "")


def _given(report: Report) -> Iterator[str]:
    return (one for own in report.findings if isinstance(own.decision, Proved) for one in own.decision.given)


def _add_forecast(tree: "DataTree", forecast: Forecast) -> None:
    """Add what was forecast of each coordinate as the group `forecast`: mean, sd, that of the target, autocorrelation.

    Coordinates have the names of the summary, those of a block that is sampled in another variable that one's.
    """
    if not (group := forecast.group):
        return
    import xarray

    dims = {name: ("coordinate", "lag")[: values.ndim] for name, values in group.items()}
    lags = np.arange(group["autocorrelation"].shape[1])
    tree["forecast"] = xarray.DataTree(
        xarray.Dataset(
            {name: (dims[name], values) for name, values in group.items()},
            coords={"coordinate": list(forecast.names), "lag": lags},
        )
    )

"""A plan is made by what the build of a run does: draws by laws, moves that are accepted or refused, or steps."""

import math
from dataclasses import replace

from recipe_compiler.advise.budget import Budget
from recipe_compiler.advise.chosen import Plan
from recipe_compiler.advise.entries import demand_statable, with_diagonals
from recipe_compiler.advise.exact_chains import ExactDraws, hmc_of
from recipe_compiler.advise.linearized_chain import LinearizedChain
from recipe_compiler.advise.moments import moments_of
from recipe_compiler.advise.pilots import Pilots
from recipe_compiler.advise.plan import Bent, plan, plan_of_bulk, trial
from recipe_compiler.advise.plan_moves import plan_of_draws, plan_of_moves, warm_up
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.advise.subtracted import chain_subtracting, subtracting
from recipe_compiler.cache import Cache, check_once, within_limits
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.pipeline import compile_build, emit_unread, make_ready, prepare_run
from recipe_compiler.run.evaluate import extent
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.observed import data_of_build, with_data, with_sizes
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Report, Verdict

OF_NOISE = ("gradient_noise", "noise_budget")
"""The claims that a plan which subtracts V rests on."""


def make_plan(build: Build, report: Report, budget: Budget, *, allow_undecided: bool, cache: Cache) -> Plan:
    """Return what is chosen for a build, as `plan_run` does."""
    build = with_sizes(with_data(build))
    data = data_of_build(build)
    sizes = resolve_sizes(build, data)
    width = sum(
        math.prod(extent(size, sizes) for size in block.sampled.shape.sizes)
        for block in build.target.declarations.blocks
    )

    def sampled(build: Build, report: Report) -> Sampler:
        tried = trial(build, width, data.rows)
        made = compile_build(
            tried, report, allow_undecided=allow_undecided, cache=cache, with_file=False, say=budget.say
        )
        return Sampler.of(tried, made, load_text(made.name, made.loaded, build.codes), data)

    if build.has_acceptance:
        build = with_diagonals(build, width)
    if not build.is_exact_at_every_step:
        demand_statable(build, width)
    sampler = sampled(build, report)
    tried, module = sampler.build, sampler.compiled
    if build.is_exact_at_every_step:
        return plan_of_draws(build, Pilots.begun(sampler, budget))
    if build.has_acceptance:
        return plan_of_moves(build, Pilots.begun(sampler, budget))
    own = subtracting(build, tried, module)
    of_noise: list[Report] = []

    def less(plain: LinearizedChain, mode: Array) -> LinearizedChain | None:
        """Return the chain with V subtracted; None where that is no choice.

        Its step is made linear and not run, so that it is checked and read back only where the plan chooses it.
        """
        if own is None:
            return None
        made = emit_unread(with_sizes(own))[1].module
        return chain_subtracting(own, made, load_text(made.name, made.text, own.codes), data, plain, mode)

    def exact() -> ExactDraws:
        moves = with_diagonals(hmc_of(build), width)
        verdicts = check_once(moves, cache)
        if verdicts.verdict is not Verdict.PROVED:
            raise RunError(f"{moves.name} by HMC is {verdicts.verdict.value}")
        warm = warm_up(moves, Pilots.begun(sampled(moves, verdicts), replace(budget, began=None)))
        if warm.found.doubts:
            raise RunError(warm.found.doubts[0])
        return ExactDraws(warm.draws, moments_of(warm.draws))

    def may_subtract() -> bool:
        if own is None:
            return False
        if not of_noise:
            budget.say("checking the build that subtracts noise")
            of_noise.append(check_once(own, cache))
        return all(f.verdict is Verdict.PROVED for f in of_noise[0].findings if f.id in OF_NOISE)

    def walker_of(around: Plan | None) -> Pilots:
        walked = tried if around is None else around.build
        if walked is tried and not tried.estimates:
            return Pilots.begun(sampler, budget)
        known = report if around is None else check_once(walked, cache)
        run = prepare_run(walked, known, walked.run, allow_undecided=allow_undecided, cache=cache)
        return Pilots.begun(Sampler.of_run(make_ready(run)), budget, 1.0 if around is None else around.damping)

    found = plan(build, sampler, less, may_subtract, exact, budget)
    if isinstance(found, Bent):
        if not budget.seconds:
            raise RunError(f"step_size: auto: {found.what}, and pilot chains may take no time")
        found = plan_of_bulk(build, found, walker_of)
    return replace(found, by_limit=not all(map(within_limits, of_noise)))

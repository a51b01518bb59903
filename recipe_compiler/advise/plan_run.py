"""The plan of a run: everything that `step_size: auto` leaves to be chosen from the data, made once and kept."""

from collections.abc import Callable, Iterator

from recipe_compiler.advise.budget import Budget, OverBudgetError, cures
from recipe_compiler.advise.chosen import Plan, plan_of_text, plan_text, processor
from recipe_compiler.advise.one_thread import one_blas_thread
from recipe_compiler.cache import NOTHING, Cache, check_once, key_of
from recipe_compiler.run.observed import data_of_build, with_sizes
from recipe_compiler.run.sample import unsaid
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.run.store import sampled_names
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Report

PLANS = "plan"
"""Entries of the cache: what was chosen for a build with these data."""


def plan_run(
    build: Build, report: Report, *, allow_undecided: bool = False, cache: Cache = NOTHING,
    say: Callable[[str], None] = unsaid, begin: Callable[[], None] = lambda: None, seconds: float | None = None,
) -> tuple[Plan, Report]:  # fmt: skip
    """Return a build with everything that `step_size: auto` leaves to be chosen from the data, and the verdicts on it.

    A build that leaves nothing to be chosen is returned as it is.

    Args:
        build: what is to be run; it holds its data, or names their files.
        report: the verdicts about it.
        allow_undecided: as of `compile_build`.
        cache: as of `compile_build`; plans are kept there too.
        say: called with a line that describes the work that starts.
        begin: called before a plan is made, not where it is kept.
        seconds: that chains may take; as the build says where it is None.

    Raises:
        VerificationError, CompilerError: as of `compile_build`.
        DataError: the data do not fit the target.
        RunError: no step size keeps to the share; says what to do.
    """
    if not build.is_planned:
        return Plan(build, ()), report
    plans = NOTHING if build.codes else cache  # what that code depends on is not known
    key = (*_key_of_plan(build), str(allow_undecided)) if plans.folder is not None else ()
    kept = plans.read(PLANS, key)
    if kept is not None:
        found = plan_of_text(kept, build)
        return found, check_once(found.build, cache)
    from recipe_compiler.advise.make_plan import make_plan  # a known plan does without

    begin()
    budget = Budget(build.warmup_seconds if seconds is None else seconds, say)
    try:
        with one_blas_thread():
            found = make_plan(build, report, budget, allow_undecided=allow_undecided, cache=cache)
    except OverBudgetError:
        held = data_of_build(build)
        names = sampled_names(build, held, resolve_sizes(with_sizes(build), held))
        raise budget.refused(names, cures(build.target)) from None
    say("checking the plan")
    report = check_once(found.build, cache)
    if key and not found.by_limit and plan_of_text(plan_text(found), build).build == found.build:
        plans.write(PLANS, key, plan_text(found))
    return found, report


def _key_of_plan(build: Build) -> Iterator[str]:
    """Yield what a plan depends on."""
    yield from key_of(build)
    yield repr(build.source.places)  # the order of entries, in which it is printed
    yield processor()

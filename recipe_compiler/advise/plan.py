"""The plan of a run: everything a build leaves to `step_size: auto`, as entries of its document.

A plan is made around the mode theta* of U, with K = Hess U(theta*) by central differences of the emitted gradient,
where exp(-U) is near to N(theta*, K^-1); else of its bulk, as pilot chains find it (`bulk.py`, `measure.py`), begun
where exact moves are if U has no mode (`exact_chains.py`). What it chooses is put into the document as its author would
have put it there, and the build that results is decided, emitted and read back as any other: a plan proves nothing and
relies on nothing unproved.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

import numpy as np

from recipe_compiler.advise.budget import Budget
from recipe_compiler.advise.bulk import Bulk, first_guess, guessed, learnt, of_draws, scattered
from recipe_compiler.advise.chosen import Pace, Plan
from recipe_compiler.advise.entries import ChosenEntries, matched_mass, start_parameters
from recipe_compiler.advise.exact_chains import ExactDraws
from recipe_compiler.advise.forecast import LongStateError, NoForecastError, NotLinearError, linearized_chain_of
from recipe_compiler.advise.linear_step import CONTROL_VARIATES
from recipe_compiler.advise.linearized_chain import MOST_COORDINATES, LinearizedChain
from recipe_compiler.advise.measure import SHORTER, MeasuredSettings, measure
from recipe_compiler.advise.missed_modes import PLANNED, main_mode, minima
from recipe_compiler.advise.pilots import Pilots, value_of
from recipe_compiler.advise.roles import LONGEST, Open, ParameterRole, open_parameters
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.advise.search import Choice, choose, seconds_of_step, slowest
from recipe_compiler.advise.spread import MANY, decimals
from recipe_compiler.advise.steepness import AWAY, OTHERS, NotGaussianError, Surroundings, surroundings
from recipe_compiler.advise.suggestions import HELD_SHARPNESS
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.differences import curvature
from recipe_compiler.run.gradients import gradient_of_steps
from recipe_compiler.run.map_estimate import Mode, NoModeError, Slope, find_mode
from recipe_compiler.spec.build_minibatch import may_vary
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.to_yaml import restated

BATCH = 100
"""Data of a minibatch where the build does not say; of a plan around the mode only where the search for it begins."""

WARMUP = 20.0
"""Effective draws that are thrown away."""

SPREAD = 2.0
"""Chains start as widely as this many posterior sds, or less where U is steeper than a quadratic."""

BENT = 2.0
"""How many times as steep, or as flat, as at its mode U may be around it for a linear step to tell what chains do."""

NECK = (
    "Metropolis moves have no discretisation bias, and their runs show whether chains are stuck: "
    "dynamics `hmc` (`recipe run hmc TARGET --save FILE` makes the build; `accept: 0.98` under its `run` asks for "
    "shorter steps), or `rhmc`, whose metric follows theta"
)
"""What may serve a density that grows without limit where no step size that stays the same does."""

OTHERWISE = (
    "State a step size; or, for blocks with a bounded domain, sample them on the real line: "
    "`transform: log` (`logit`) or `constraint: simplex` beside their domain, with dynamics such as `sghmc` or `hmc`"
)
"""What to do where steps are near to no linear one, and pilot chains tell nothing."""

MOST_STEPS_A_DRAW = 1e6
"""That one effective draw may take by the audit: minutes of the smallest of targets."""

SEARCHED = 1e5
"""Entries of the data that a gradient reads in searches for modes, and around them; of more there is a sample."""

TRIAL = 2.0**-10
"""The step size of the module that computes the gradient; no chain is run with it."""


@dataclass(frozen=True, slots=True, eq=False)
class Bent:
    """A target for which no plan around one mode is made, and what is known of it before chains are run."""

    what: str
    serves: str
    """What to do where chains tell nothing either."""
    slope: Slope
    minima: tuple[Array, ...]
    begun: Bulk | ExactDraws | None
    """What U on rays from the first of them shows; draws of moves that are accepted or refused where there is none;
    None: chains begin where those of a run would."""
    own: tuple[Plan, ...] = ()
    """Plans around the mode all the same, of least work first: for what each makes of the gradient's noise."""


def trial(build: Build, width: int, rows: int) -> Build:
    """Return a build with arbitrary values for what is to be chosen, to be compiled for its gradient.

    Args:
        build: with `step_size: auto`.
        width: coordinates of the potential's block.
        rows: of the data.

    Raises:
        RunError: a parameter has no value, and nothing that it could be matched to.
    """

    def first(one: Open) -> Array:
        if one.role is ParameterRole.LENGTH:
            return np.array(LONGEST)
        return np.eye(width) if one.is_matrix else np.ones(() if one.is_number else width)

    ones = tuple((one.name, value_of(first(one))) for one in open_parameters(build))
    mass = matched_mass(build, open_parameters(build))
    starts = start_parameters(build, mass, is_diagonal=width > MANY) if build.has_acceptance else ()  # as its plan's
    ones += tuple((one.name, value_of(np.eye(width) if len(one.shape.sizes) > 1 else np.ones(width))) for one in starts)
    size = build.run.batch_size or min(BATCH, rows)
    run = replace(build.run, step_size=TRIAL, batch_size=size if build.variant == "minibatch" else None)
    return replace(
        build, values=(*build.values, *ones), parameters=(*build.parameters, *starts), run=run,
        stated_step_size=Fraction(TRIAL),
    )  # fmt: skip


def plan(
    stated: Build, sampler: Sampler, subtracting: Callable[[LinearizedChain, Array], LinearizedChain | None],
    may_subtract: Callable[[], bool], exact: Callable[[], ExactDraws], budget: Budget,
) -> Plan | Bent:  # fmt: skip
    """Return the plan of a run, by the step made linear at the mode; or what keeps that from being enough.

    With K = Hess U at the mode, exp(-U) ~ N(theta*, inv(K)): mass K, friction gamma and eps of least work per effective
    draw, with no sd off by more than the share (`search.choose`).

    Args:
        stated: with `step_size: auto`.
        sampler: of the same with arbitrary values.
        subtracting: the same chain at the mode with the gradient's noise given up; None where that is no choice.
        may_subtract: whether it is proved; called only where it is chosen.
        exact: draws exp(-U) by moves that need no mode.
        budget: the processor time that chains may take, and what reports progress.

    Raises:
        RunError: no step size keeps to the share, or it is not known; says what to do.
    """
    try:
        linearized = linearized_chain_of(sampler)
    except LongStateError as why:
        return _by_draws(str(why), OTHERS, sampler, budget, exact)
    except NotLinearError as why:
        steps = sampler.slope or gradient_of_steps(sampler.compiled, sampler.module, sampler.inputs)
        if steps is None or sampler.inputs.gradient is not None:
            raise RunError(f"step_size: auto: {why}, and its gradient is code. {OTHERWISE}") from None
        return Bent(str(why), OTHERWISE, steps, (), None)
    except NoForecastError as why:
        raise RunError(f"step_size: auto: {why}; state a step size, and a value of every parameter") from None
    few, starts = linearized.of_few(SEARCHED), sampler.starts
    slope = few.slope_of_few
    budget.say("searching for the mode of U")
    try:
        mode = find_mode(slope, starts, sampler.names)
    except NoModeError as why:
        return _by_draws(why.what, f"{why.falling}{NECK}", sampler, budget, exact)
    try:
        _demand_definite(curvature(slope, mode.theta))
        mode = linearized.refined(main_mode(slope, mode, starts, few.entries))
        slope = few.slope_around(mode.theta)
        around = surroundings(slope, mode.theta, _demand_definite(curvature(slope, mode.theta)))
    except NotGaussianError as why:
        calls = PLANNED / max(1, few.entries)
        found = why.minima or minima(slope, mode.theta, guessed(slope, mode.theta), starts, calls)
        return Bent(why.what, why.serves, slope, found, first_guess(slope, found))
    linearized = replace(linearized.around(mode.theta), sharpness=min(HELD_SHARPNESS, stated.share / 4.0))
    K = decimals(linearized.at_mode.K)
    bends = around.steepest > BENT or around.flattest * BENT < 1.0
    open_ones = open_parameters(stated)
    plain = stated.variant == "minibatch" and not stated.control
    varied = [replace(linearized, noise=CONTROL_VARIATES)] if plain and may_vary(stated.target) else []
    candidates = [*varied, linearized]
    sizes = linearized.has_batches and stated.run.batch_size is None
    budget.say("searching for the noise that may be subtracted")
    subtracted = [*filter(None, [subtracting(linearized, mode.theta)])]
    what = (
        f"U is not quadratic: up to {AWAY:g} sds from its mode its curvature is up to {around.steepest:.2g} and its "
        f"slope down to {around.flattest:.2g} of those of the quadratic at the mode"
    )
    choices: list[Choice] = []
    for some in (candidates, subtracted):
        if some and (not bends or len(candidates) + len(subtracted) > 1):
            try:
                below = math.inf if bends else min((choice.work for choice in choices), default=math.inf)
                choices.append(
                    choose(
                        tuple(some), open_ones, K, stated.share, around.steepest, budget.say, sizes=sizes, below=below
                    )
                )
            except RunError as why:
                what = f"the audit of the step at the mode ended with: {str(why).removeprefix('step_size: auto: ')}"
    choices.sort(key=lambda choice: choice.work)
    usable = (
        one for one in choices if one.linearized.sampler.build.estimated in (None, stated.estimated) or may_subtract()
    )
    choices = list(usable if bends else islice(usable, 1))
    if choices and choices[0].width.steps > MOST_STEPS_A_DRAW:
        raise RunError(_too_slow(choices[0].width.steps, open_ones))
    own = tuple(_around_mode(stated, open_ones, choice, mode, K, around) for choice in choices)
    if own and not bends:
        return own[0]
    guess = first_guess(slope, (mode.theta,))
    return Bent(what, f"{OTHERS}, or state a step size", slope, (mode.theta,), guess, own)


def _by_draws(what: str, serves: str, sampler: Sampler, budget: Budget, exact: Callable[[], ExactDraws]) -> Bent:
    """Return what is known of a target without a mode: draws of it, by moves that need none.

    Raises:
        RunError: they are not to be had; says what no mode is for, and what serves.
    """
    slope, names = sampler.slope, sampler.names
    try:
        if slope is None:
            raise RunError("its module has no U of all data")
        if not budget.seconds:
            raise RunError("they may take no time")
        if len(names) > MOST_COORDINATES:
            raise RunError(f"it has {len(names)} coordinates, too many to estimate covariances in seconds")
        budget.say("chains of HMC find the bulk of exp(-U)")
        draws = exact()
    except RunError as why:
        raise RunError(
            f"step_size: auto: {what}. Chains that need no mode do not help either: {why}. {_begun(serves)}"
        ) from None
    return Bent(what, serves, slope, (), draws)


def plan_of_bulk(stated: Build, bent: Bent, walker_of: Callable[[Plan | None], Pilots]) -> Plan:
    """Return the plan of a run by pilot chains, for a target that no step made linear at a mode describes.

    Where there are plans around its mode, chains are of the first of them whose gradient serves: V subtracted is that
    of the mode, and chains that go far from it may show a bias that no step size cures.

    Args:
        stated: with `step_size: auto`.
        bent: why no linear step is enough.
        walker_of: makes the walker of the build, or of a plan around its mode: with the gradient that this chose.

    Raises:
        RunError: pilot chains do not tell either; says what to do.
    """
    *others, last = bent.own or (None,)
    for own in others:
        try:
            return _by_pilots(stated, bent, walker_of(own))
        except RunError:
            continue
    return _by_pilots(stated, bent, walker_of(last))


def _by_pilots(stated: Build, bent: Bent, walker: Pilots) -> Plan:
    open_ones, names, build = open_parameters(stated), walker.sampler.names, walker.sampler.build
    try:
        if isinstance(bent.begun, ExactDraws):
            bulk = of_draws(bent.slope, open_ones, bent.begun.theta, walker)
            found = measure(walker, open_ones, bulk, stated.share, names, bent.begun.moments)
        else:
            bulk = learnt(bent.slope, walker, open_ones, bent.begun or scattered(walker.theta))
            found = measure(walker, open_ones, bulk, stated.share, names)
    except RunError as why:
        raise RunError(
            f"step_size: auto: {bent.what}. Pilot chains do not help either: {why}. {_begun(bent.serves)}"
        ) from None
    choice = ChosenEntries(
        stated, open_ones, found.settings.eps, found.settings.thin, found.warmup, build.run.batch_size,
        found.settings.values, bool(build.control) and not stated.control,
        bulk.mean, found.spread**2 * bulk.covariance,
        subtracts=build.estimated is not None and stated.estimated is None,
    )  # fmt: skip
    says = tuple(_says_measured(bent, bulk, found, choice, names, walker.damping))
    return Plan(restated(stated, choice.changes), says, found.measured, pace=Pace(1.0 / found.measured.steps, 1.0))


def _too_slow(steps: float, open_ones: tuple[Open, ...]) -> str:
    """Say that no run of a plan comes to an end."""
    cure = "leave the mass or the preconditioner without a value: it is then matched to the Hessian of U"
    if any(one.role is ParameterRole.MASS for one in open_ones):
        cure = (
            "state a mass (`bind: {M: I}`): where noise does not reach every momentum, a mass that is the Hessian of U "
            "gives all directions one frequency, and none exchange energy"
        )
    return (
        f"step_size: auto: with the settings of least work one effective draw takes {steps:.2g} steps, expected "
        f"{MOST_STEPS_A_DRAW:.0g} at most; {cure}, or state a step size"
    )


def _demand_definite(K: Array) -> Array:
    """Return the Hessian of U at the mode; a fault where nothing follows from it for the width of the posterior."""
    least = float(np.linalg.eigvalsh(K)[0]) if np.isfinite(K).all() else math.nan
    if least > 0.0:
        return K
    raise NotGaussianError(
        f"the Hessian of U at the mode is not positive definite (smallest eigenvalue {least:.3g}), so the "
        "width of the posterior is not known there",
        "state a step size, or another parameterisation",
    )


def _around_mode(
    stated: Build, open_ones: tuple[Open, ...], choice: Choice, mode: Mode, K: Array, around: Surroundings
) -> Plan:
    """Return the plan by the audit of the step made linear at the mode."""
    linearized, width = choice.linearized, choice.width
    thin = max(1, math.ceil(width.steps / 2.0))  # two draws in the time of one that counts
    entries = ChosenEntries(
        stated, open_ones, linearized.inputs.eps, thin, math.ceil(WARMUP * width.steps / thin),
        linearized.inputs.batch_size,
        {one.name: np.asarray(linearized.parameter(one.name)) for one in open_ones},
        linearized.noise == CONTROL_VARIATES, mode.theta, SPREAD**2 * around.spread,
        subtracts=linearized.sampler.build.estimated is not None,
    )  # fmt: skip
    says = tuple(_says_audited(entries, choice, mode, K))
    pace = Pace(1.0 / width.steps, 1.0, *seconds_of_step(linearized))
    return Plan(restated(stated, entries.changes), says, damping=choice.gamma / slowest(open_ones, K), pace=pace)


def _says_audited(entries: ChosenEntries, choice: Choice, mode: Mode, K: Array) -> Iterator[str]:
    """Yield a plan around the mode in lines."""
    d, condition = len(K), float(np.linalg.cond(K))
    shape = f"Hessian of U {d} x {d}, condition number {condition:.2g}"
    shape += f", {choice.linearized.of_how_many}" if choice.linearized.of_how_many else ""
    yield f"plan: around the mode found from {mode.says}; {shape}"
    of_K = "the Hessian of U", "the inverse of the Hessian of U", f"{choice.gamma:g}"
    for one in entries.open_ones:
        yield f"  {one.name}: {entries.matched_to(one, *of_K)}"
    stable = "" if choice.stable is None else f", stable up to {choice.stable:.2g}"
    yield f"  step_size: {entries.eps:g}{stable}; posterior sds at most {100.0 * (choice.width.off - 1.0):.2g} % off"
    yield from entries.of_batches
    worth = f"one effective draw takes {choice.width.steps:.3g} steps"
    yield f"  thin: {entries.thin}, warmup: {entries.warmup} draws; {worth}"
    if entries.starts_chosen:
        yield f"  init: around the mode, {SPREAD:g} posterior sds wide at most"


def _says_measured(
    bent: Bent, bulk: Bulk, found: MeasuredSettings, entries: ChosenEntries, names: tuple[str, ...], damping: float
) -> Iterator[str]:
    """Yield a plan by pilot chains in lines."""
    measured = found.measured
    several = f" from {len(bent.minima)} modes" if len(bent.minima) > 1 else ""
    yield (
        f"plan: by pilot chains{several}, not by the audit of a quadratic U: its curvature among their draws is up to "
        f"{bulk.steepest:.2g} of that of a Gaussian as wide as the bulk"
    )
    yield f"  because {bent.what}"
    if isinstance(bent.begun, ExactDraws):
        yield from bent.begun.agreement(found.moments, names)
    for one in entries.open_ones:
        S = "the covariance of pilot draws"
        yield f"  {one.name}: {entries.matched_to(one, f'the inverse of {S}', S, f'{damping:g}')}"
    yield (
        f"  step_size: {entries.eps:g}; measured against steps {SHORTER:g} times shorter, over {measured.draws} draws "
        f"of each: posterior sds off by {measured.off} at most, means by {measured.shift}"
    )
    if not measured.is_known:
        yield "  its bias is too small to measure in seconds, so it was measured at twice this step size"
    yield from entries.of_batches
    yield f"  thin: {entries.thin}, warmup: {entries.warmup} draws, by the effective sample sizes of pilot chains"
    if entries.starts_chosen:
        yield f"  init: around the mean of pilot draws, {found.spread:g} of their sds wide"


def _begun(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]

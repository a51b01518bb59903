"""Which sampler a target is run by where none is named: the one of most effective draws per processor second.

Samplers that preserve exp(-U) at every step size come first. Of few data theirs is the only plan: all of it takes
seconds. Of more, SGHMC is planned at the mode, which takes no chains, and its figure is compared with that of accepted
trajectories, most of which is their warm-up.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from recipe_compiler.advise.chosen import Pace, Plan
from recipe_compiler.derive.recipe import derive
from recipe_compiler.errors import DocumentError, Fault, ModelError, RunError
from recipe_compiler.run.observed import data_of_build, with_data
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.spec.read_scheme import named_scheme
from recipe_compiler.splitting.split_by import split_by
from recipe_compiler.verdict import Report

FEW = 3e4
"""Numbers of the data up to which one plan is made: the gradients of a warm-up take some 4 s."""

MANY = 1e6
"""Numbers of the data from which on a warm-up of trajectories takes longer than it may: SGHMC may run chains, too."""

WARM_UP = 80.0
"""Gradients of the warm-up of accepted trajectories, for each of 1,000 effective draws after it."""

OF_TRAJECTORIES = WARM_UP + 5.0
"""The same with those of the draw itself, where U is near quadratic: 2.5 d^(1/4), 3 to 9 for up to 150 coordinates."""

Entries = dict[str, Any]
Planned = tuple[Plan | None, Report]


def trajectories(longest: str = "20", momenta: Iterable[str] = ("r",), **word: object) -> Entries:
    """Return the cycle of trajectories that are accepted or refused, of leapfrog steps if no other word is stated."""
    flip = {name: f"-{name}" for name in momenta}
    move = {"split": ["B/2", "A", "B/2"], **word, "steps": f"uniform(1, {longest})", "flip": flip}
    return {"cycle": [*({"refresh": name} for name in flip), {"metropolis": move}]}


def name_of_length(*documents: Target | Dynamics) -> str:
    """Return the name of the parameter that says how long trajectories are."""
    taken = {name for own in documents for name in own.declarations.names}
    return next(name for k in count() if (name := f"longest{'_' * k}") not in taken)


def has_word(build: Build, word: str) -> bool:
    """Whether a word's letters are the pieces of a build's equation, each with an exact flow."""
    try:
        split_by(derive(bind(build)), named_scheme(word))
    except ModelError:
        return False
    return True


def cycle_without_noise(build: Build, longest: str = "20") -> Entries | None:
    """Return trajectories that are accepted or refused, or exact draws; None where the equation has noise, or nothing.

    Raises:
        ModelError: nothing moves, and a block has no law to be drawn from.
    """
    if any(not entry.is_zero for row in derive(bind(build)).D for entry in row):
        return None
    blocks, own = build.dynamics.declarations.blocks, {block.name for block in potential_blocks(build.dynamics)}
    momenta = [block.name for block in blocks if block.name not in own]
    if not momenta:
        return None if build.target.is_open else draws_by_laws(build.target)
    return trajectories(longest, momenta, **({} if has_word(build, "leapfrog") else IMPLICIT))


def draws_by_laws(target: Target) -> Entries:
    """Return the cycle of draws of all blocks by their laws. Raises ModelError where one has none."""
    declared = target.as_declared
    lacking = [block.name for block in declared.declarations.blocks if block.name not in dict(declared.laws)]
    if lacking:
        problem = f"found no `laws` claimed by {target.name} for {', '.join(lacking)}, expected one of each block"
        hint = (
            "`recipe derive` of the target lists laws that it finds; or use dynamics that move a block without one, "
            "beside draws of the others, with a step size, as the build `hmc_within_gibbs` does"
        )
        raise ModelError([Fault(target.source.place("laws"), "laws", problem, hint)])
    return {"cycle": [{"draw": block} for block, _ in declared.laws]}


IMPLICIT: Entries = {"split": ["H"], "pieces": {"H": {"Q": "all", "H": "all"}}, "flows": {"H": "generalised"}}
"""The word of a Hamiltonian whose pieces have no flow."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sampler that may be chosen, if the build that it makes of a target can be read."""

    name: str
    dynamics: str
    scheme: Callable[[Target, str], Entries]
    """As a document states it, with the length of trajectories, or its name."""
    is_exact: bool = True
    """Whether it preserves exp(-U) at every step size."""
    variant: str = "full"


CANDIDATES = (
    Candidate("hmc", "hmc", lambda _, n: trajectories(n)),
    Candidate("rhmc", "rhmc", lambda _, n: trajectories(n, **IMPLICIT)),  # if G is bound, which no other dynamics have
    Candidate("hmc_reflected", "hmc_reflected", lambda _, n: trajectories(n, flows={"A": "reflected"})),
    Candidate("draws by laws", "still", lambda own, _: draws_by_laws(own)),
    Candidate("sghmc in minibatches", "sghmc", lambda *_: {"name": "baoab"}, is_exact=False, variant="minibatch"),
    Candidate("sghmc", "sghmc", lambda *_: {"name": "baoab"}, is_exact=False),
)
"""The first exact one that can be read is compared with one that is not."""


Candidates = Mapping[Candidate, Build | DocumentError]


def candidates(made: Callable[[Candidate], Build], held: Callable[[Build], Build] = with_data) -> Candidates:
    """Return the builds of candidates, with their data, or the faults for which one cannot be read.

    Args:
        made: makes the build of a candidate.
        held: makes it hold its data.

    Raises:
        SpecError, ModelError: none can be read; with the faults that all of them have, or else of each.
        DataError: the data do not fit.
    """
    found = dict[Candidate, Build | DocumentError]()
    for one in CANDIDATES:
        try:
            found[one] = made(one)
        except DocumentError as error:
            found[one] = error
    first = next(iter(builds_of(found).values()), None)
    if first is None:
        raise _none_fits({one.name: error for one, error in found.items() if isinstance(error, DocumentError)})
    data = held(first).observed
    return {one: replace(own, observed=data) if isinstance(own, Build) else own for one, own in found.items()}


def builds_of(found: Candidates) -> dict[Candidate, Build]:
    """Return the builds that can be read."""
    return {one: build for one, build in found.items() if isinstance(build, Build)}


def _none_fits(refused: Mapping[str, DocumentError]) -> DocumentError:
    first, *others = refused.values()
    shared = [own for own in first.faults if all(own.problem in [f.problem for f in error.faults] for error in others)]
    each = dict[str, Fault]()
    for name, error in refused.items():
        for own in error.faults:
            each.setdefault(own.problem, replace(own, problem=f"{name}: {own.problem}"))
    return type(first)(shared or each.values())


def order_of(found: Iterable[Candidate], numbers: int) -> tuple[Candidate, ...]:
    """Return the candidates to plan, in order: the first that has a plan is taken; for data of so many numbers."""
    found = tuple(found)
    exact, others = [one for one in found if one.is_exact][:1], [one for one in found if not one.is_exact]
    if not exact:
        return tuple(others[:1])
    return (*exact, *others[-1:]) if numbers <= FEW else (*others[:1], *exact)


def choose(found: Candidates, planned: Callable[[Build, float | None], Planned]) -> Planned:
    """Return the plan of the sampler of most effective draws per processor second, and the verdicts on its build.

    Args:
        found: as `candidates` returns it.
        planned: returns the plan of a build, none where its verdicts forbid one, and these; it is given the processor
            seconds that chains may take, None: as the build says.

    Raises:
        RunError: no candidate has a plan; says why of each, of the exact one first.
    """
    builds, notes, refused = builds_of(found), list[str](), dict[bool, str]()
    data = data_of_build(next(iter(builds.values())))
    numbers = sum(field.values.size for field in data.fields)
    order, first = order_of(builds, numbers), found[CANDIDATES[0]]
    if isinstance(first, DocumentError):
        notes.append(f"  {CANDIDATES[0].name}: {first.faults[0].problem}")
    for place, one in enumerate(order):
        at_mode = not one.is_exact and len(order) > 1 and numbers <= MANY
        try:
            plan, report = planned(builds[one], 0.0 if at_mode else None)
        except RunError as why:
            refused[one.is_exact] = f"{one.name}: {why}"
            notes.append(f"  {one.name}: {str(why).removeprefix('step_size: auto: ')}")
            continue
        if plan is None:
            return plan, report
        others = order[place + 1 :]
        worth = gain(plan.pace) if others and not one.is_exact else math.inf
        if worth >= 1.0:
            reasons = (_reason(one, plan.pace, other.name, numbers, data.rows) for other in others)
            return replace(plan, says=(_figure(one, plan.pace), *notes, *reasons, *plan.says)), report
        notes.append(f"  {one.name}: predicted {worth:.2g} times as many by its plan at the mode")
    raise RunError("\n".join(refused[own] for own in sorted(refused, reverse=True)))


def gain(pace: Pace | None) -> float:
    """Return effective draws per processor second over those of accepted trajectories; infinity if not known."""
    if pace is None or pace.seconds is None:
        return math.inf
    return OF_TRAJECTORIES * (pace.of_all or pace.seconds) * pace.effective / pace.seconds


def _figure(one: Candidate, pace: Pace | None) -> str:
    chosen = f"sampler: {one.name}"
    if pace is None or pace.seconds is None:
        return chosen
    gradients = f"{1.0 / pace.effective:.3g} gradients each, {1e6 * pace.seconds:,.3g} us a gradient"
    return (
        f"{chosen}, predicted {pace.effective / pace.seconds:,.3g} effective draws per processor second ({gradients})"
    )


def _reason(one: Candidate, pace: Pace | None, other: str, numbers: int, rows: int) -> str:
    """Return why another candidate is not planned."""
    if one.is_exact:
        return (
            f"  {other}: not planned; the data are {numbers:,} numbers, and {one.name} has no discretisation bias (of "
            f"more than {FEW:,.0f} both are compared)"
        )
    if pace is None or pace.seconds is None:
        return f"  {other}: not planned; of {numbers:,} numbers of data its warm-up takes longer than it may"
    predicted = f"{pace.effective / pace.seconds / gain(pace):,.3g}"
    each = f"{OF_TRAJECTORIES:g} gradients of all {rows:,} data each, {WARM_UP:g} of them of its warm-up"
    return f"  {other}: predicted {predicted} ({each}), not planned"

"""Which D and Q explore a target faster: samplers planned alike, ranked by the gradients of one effective draw.

Every positive semidefinite D and skew Q preserves exp(-H) (Ma, Chen and Fox 2015, Theorem 1); how fast chains explore
is what they leave free (supplement E). A plan measures it to the same accuracy for all: by the audit of the step where
U is near quadratic, by pilot chains elsewhere, by warm-up where moves are accepted or refused.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from recipe_compiler.advise.chosen import Pace, Plan
from recipe_compiler.advise.plan_run import plan_run
from recipe_compiler.cache import Cache, check_once
from recipe_compiler.errors import RecipeError, RunError
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.show import text
from recipe_compiler.run.observed import with_data
from recipe_compiler.run.sample import unsaid
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.spec.to_yaml import restated
from recipe_compiler.verdict import Verdict


class Varies(StrEnum):
    """What a matrix of the recipe depends on."""

    ZERO = "0"
    CONSTANT = "constant"
    OF_STATE = "of the state"


def kind_of(matrix: Matrix) -> Varies:
    """Return whether D or Q is zero, constant, or depends on the state."""
    entries = [entry for row in matrix for entry in row if text(entry) != "0"]
    if any(dependence(entry).blocks for entry in entries):
        return Varies.OF_STATE
    return Varies.CONSTANT if entries else Varies.ZERO


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """A sampler of the table: its D and Q, and the plan by which it would be run; or why it has none."""

    name: str
    D: Varies
    Q: Varies
    step: str = ""
    """Its scheme, in a word."""
    plan: Plan | None = None
    why_not: str = ""

    @property
    def pace(self) -> Pace | None:
        """What its run would make of gradients; None where that is not known."""
        return None if self.plan is None else self.plan.pace

    @property
    def gradients(self) -> float:
        """Gradients that one effective draw takes; infinity where that is not known."""
        return float("inf") if self.pace is None else 1.0 / self.pace.effective

    @property
    def steps(self) -> float:
        """Steps, or cycles of moves, that one effective draw takes."""
        return self.gradients if self.pace is None else self.gradients / self.pace.gradients

    @property
    def bias(self) -> str:
        """How far its posterior sds are off."""
        if self.plan is None:
            return ""
        if self.plan.build.has_acceptance:
            return "none"
        found = self.plan.measured
        return f"within {100.0 * self.plan.build.share:g} %" if found is None else found.off

    @property
    def by(self) -> str:
        """What its figures are by."""
        if self.plan is None:
            return ""
        if self.plan.build.has_acceptance:
            return "chains that warmed up"
        return "audit of the step at the mode" if self.plan.measured is None else "pilot chains"


def design_of(dynamics: Dynamics) -> Design:
    """Return what kinds of D and Q dynamics have, as they are stated."""
    return Design(dynamics.name, kind_of(dynamics.D or ()), kind_of(dynamics.Q or ()))


def designed(build: Build, cache: Cache, seconds: float, say: Callable[[str], None] = unsaid) -> Design:
    """Return a build planned by `step_size: auto`, whatever step size it states.

    Args:
        build: dynamics and the target.
        cache: of verdicts and plans.
        seconds: of the processor, that chains may take.
        say: called with a line that describes the work that starts.
    """
    found = replace(design_of(bind(build)), name=build.name)
    try:
        build = with_data(build if build.is_planned else restated(build, {"run": {"step_size": "auto"}}))
        say(f"{build.name}: checking")
        report = check_once(build, cache)
        if report.verdict is not Verdict.PROVED:
            guilty = (own.says for own in report.findings if own.required and own.verdict is report.verdict)
            return replace(found, why_not=f"{report.verdict.value}: {', '.join(guilty)}")
        plan, _ = plan_run(build, report, cache=cache, say=lambda what: say(f"{build.name}: {what}"), seconds=seconds)
    except RecipeError as error:
        return replace(found, why_not=str(error).splitlines()[0].removeprefix("step_size: auto: "))
    if plan.doubts:
        return replace(found, why_not=plan.doubts[0])
    if plan.pace is None:
        return replace(found, why_not="it moves by draws of conditional laws, which take no gradients")
    return replace(found, step="trajectories" if plan.build.has_acceptance else plan.build.scheme.name, plan=plan)


def ranked(designs: Iterable[Design]) -> tuple[tuple[Design, ...], tuple[Design, ...]]:
    """Return those with a plan, the one that takes fewest gradients for an effective draw first, and the others.

    Raises:
        RunError: there is none with a plan; says why of each.
    """
    found = tuple(designs)
    planned = sorted((one for one in found if one.plan is not None), key=lambda one: one.gradients)
    others = tuple(one for one in found if one.plan is None)
    if not planned:
        raise RunError("no sampler has a plan" + "".join(f"\n  {one.name}: {one.why_not}" for one in others))
    return tuple(planned), others


def left_plain(build: Build) -> tuple[str, ...]:
    """Return functions of the dynamics that a build binds to I, or to 0: it is then a sampler without them."""
    own = {item.name for item in build.stated_dynamics.declarations.own_functions}
    return tuple(name for name, formula in build.bind if name in own and text(formula) in ("I", "0"))


def is_for_any_target(dynamics: Dynamics) -> bool:
    """Whether dynamics have a potential that a target binds, and move something."""
    designs = design_of(dynamics)
    moves = {designs.D, designs.Q} != {Varies.ZERO}
    return dynamics.potential is not None and len(potential_blocks(dynamics)) == 1 and moves


def map_of(designs: Sequence[Design]) -> dict[tuple[Varies, Varies], tuple[str, ...]]:
    """Return the names of samplers by the kinds of their D and Q (Ma, Chen and Fox 2015, Figure S.4)."""
    return {(D, Q): tuple(one.name for one in designs if (one.D, one.Q) == (D, Q)) for D in Varies for Q in Varies}

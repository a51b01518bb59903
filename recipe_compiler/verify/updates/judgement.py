"""Is a step, claimed or linted, one of an equation that preserves exp(-H), in the limit of small steps?

f = lim E[dz]/eps and D = lim Cov[dz]/(2 eps) are the limiting equation: where exp(-H) is not stationary for it the
step is wrong, however small eps is. A step whose noise and drift all begin at a higher power of eps takes that power of
time. A step that does not shrink with eps has no limiting equation: it is judged by the law that it must keep.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

from recipe_compiler.trace.gaussian import NotAffineError
from recipe_compiler.trace.series import ZERO
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, undecided
from recipe_compiler.verify.core.conjunction import is_proved

LIMIT = "the residual of the limiting equation"
NOISE = "the eps^0 part of Cov[dz], noise without a restoring drift"

K = TypeVar("K")
"""A condition: what must vanish, with its words."""


@dataclass(frozen=True, slots=True)
class Refreshed(Generic[K]):
    """The blocks that a step moves at eps = 0, and the conditions under which it preserves their law."""

    names: str
    """The names of what is moved."""
    conditions: tuple[K, ...]
    """That its mean and covariance stay."""
    is_whole: bool
    """Whether the step is a Gaussian draw of these and nothing else, for every eps."""
    unread: str = ""
    """Why a failure of the conditions refutes nothing; empty where it does."""


class Judged(Protocol[K]):
    """A step with the coefficients and conditions by which its limit is decided."""

    @property
    def powers(self) -> tuple[Fraction, ...]:
        """The powers of eps, up to 2, that do not vanish in the moments of the step."""
        ...

    @property
    def unit(self) -> Fraction:
        """The power of eps that one step takes of time."""
        ...

    @property
    def read_as(self) -> str:
        """As what the step size is read, to be put behind a verdict; empty where it is eps itself."""
        ...

    def decide(self, conditions: Sequence[K]) -> Answer:
        """Decide that conditions hold."""
        ...

    def stationary(self, power: Fraction, words: str) -> K:
        """Return the condition that the residual of a power of eps vanishes."""
        ...

    def growth(self, power: Fraction) -> Sequence[K]:
        """Return the conditions that a negative power of eps vanishes; none where they are not looked at."""
        ...

    def spread(self, words: str) -> Sequence[K]:
        """Return the conditions that Cov[dz] vanishes at eps = 0."""
        ...

    def has_mean_at_zero(self) -> bool:
        """Whether E[dz] does not vanish at eps = 0."""
        ...

    def refreshed(self) -> Refreshed[K]:
        """Return what the step at eps = 0 has to keep.

        Raises:
            NotAffineError: it is no affine step of what is Gaussian under exp(-H).
        """
        ...

    def with_square_potential(self) -> "tuple[Judged[K], str] | str":
        """Return the same step for one admissible potential, and the potential in words; else why not."""
        ...

    def moved_later(self) -> Sequence[str]:
        """Return the blocks that the step moves, but not at its own order."""
        ...


def decide_limit(step: Judged[K], completed: Callable[[Proved], Decision]) -> Answer:
    """Decide that exp(-H) is stationary for the limit of a step as eps -> 0.

    The residual (1/p) [-div(f p) + sum_ij d_i d_j (D_ij p)], p = exp(-H), of the limit is 0 (cf. Ma, Chen, Fox 2015,
    Eq. 5).

    Args:
        step: what is judged.
        completed: returns the decision where the limiting equation is right: what else it takes, and what is said
            beside it.
    """
    low = next(iter(step.powers), step.unit)
    if low < ZERO:
        return _refute_growing(step, low)
    if low == ZERO:
        return _decide_nonvanishing(step)
    if low != step.unit:
        return _refute_leading_part(step, low)
    answer = step.decide([step.stationary(low, LIMIT)])
    match answer.decision:
        case Proved(_, given) as proof:
            if slow := ", ".join(step.moved_later()):
                why = f"{slow} moves with higher powers of eps only, so the limiting equation does not describe it"
                return undecided(why, given=given)
            return replace(answer, decision=completed(proof))
        case _:
            return _reword_refutation(answer, f"wrong at every step size (eps^0): {{}}{step.read_as}")


def _reword_refutation(answer: Answer, words: str) -> Answer:
    """Return a refutation reworded around how it was found; any other answer unchanged."""
    if not isinstance(answer.decision, Refuted):
        return answer
    return answer.but(by=words.format(answer.decision.by))


def _refute_growing(step: Judged[K], low: Fraction) -> Answer:
    """Return the refutation of a step that grows as eps -> 0: z' eps^k -> 0, so no eps^-k part is stationary."""
    why = f"the step grows as eps becomes small, as eps^({low})"
    answer = step.decide(step.growth(low))
    if isinstance(answer.decision, Refuted):
        return _reword_refutation(answer, f"{why}: {{}}")
    return undecided(why)


def _refute_leading_part(step: Judged[K], low: Fraction) -> Answer:
    """Return the refutation of a step whose leading part, of another order than eps, does not preserve exp(-H)."""
    order = f"the step is of order eps^({low}), not eps"
    answer = step.decide([step.stationary(low, f"the residual of the eps^({low}) part of the step")])
    if is_proved(answer):
        return undecided(f"{order}; its further parts are not decided", given=answer.decision.given)
    return _reword_refutation(answer, f"{order}, and that part is wrong: {{}}")


def _decide_nonvanishing(step: Judged[K]) -> Answer:
    """Return the answer for a step that moves the state by O(1) as eps -> 0."""
    stays = "the step does not vanish as eps -> 0"
    if not step.has_mean_at_zero():
        answer = step.decide(step.spread(NOISE))
        if is_proved(answer):
            return undecided(f"{NOISE}, is not shown to vanish")
        return _reword_refutation(answer, "Cov[dz] does not shrink with eps: {}")
    try:
        law = step.refreshed()
    except NotAffineError as reason:
        return _refute_for_square_potential(step, f"{stays}: {reason}")
    answer = step.decide(law.conditions)
    match answer.decision:
        case Proved(by, given) if law.is_whole:
            given = tuple(sorted({*given, f"{law.names} is conditionally Gaussian under exp(-H)"}))
            by = f"an exact draw that preserves the distribution of {law.names}: {by}"
            return replace(answer, decision=Proved(by, given))
        case Proved(_, given):
            why = f"the step at eps = 0 preserves the distribution of {law.names}; the limit of the rest is not decided"
            return undecided(why, given=given)
        case Refuted() if law.unread:
            return undecided(law.unread)
        case _:
            return _reword_refutation(answer, f"{stays} and changes the distribution of {law.names}: {{}}")


def _refute_for_square_potential(step: Judged[K], why: str) -> Answer:
    """Return the refutation for the potential |theta|**2/2; undecided otherwise."""
    instance = step.with_square_potential()
    if isinstance(instance, str):
        return undecided(instance or why)
    other, potential = instance
    try:
        answer = other.decide(other.refreshed().conditions)
    except NotAffineError as reason:
        return undecided(f"{why}; for {potential}: {reason}")
    if not isinstance(answer.decision, Refuted):
        return undecided(why)
    by = f"the step does not vanish as eps -> 0 and changes the distribution for {potential}: {answer.decision.by}"
    point = (*answer.decision.witness, ("potential", potential))
    return answer.but(by=by, witness=point)

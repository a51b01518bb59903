"""Is the SDE of a build non-explosive? Assumptions about the growth of U are decided from the target's formulas."""

from dataclasses import replace
from fractions import Fraction

from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.code import gradient_given
from recipe_compiler.spec.constraint import constrained
from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.verdict import Answer, Refuted, Undecided, undecided
from recipe_compiler.verify.builds.boundary import average_data, bind_potential
from recipe_compiler.verify.builds.in_build import Stages, decided_by_kinds, once_in_build
from recipe_compiler.verify.builds.normalisable import normalisable_build
from recipe_compiler.verify.builds.target_integral import decide_agreement, list_target_parts
from recipe_compiler.verify.core.build_values import bind_target_values, sharpen_kinds
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.equation import Equation
from recipe_compiler.verify.growth.bounds import Terms
from recipe_compiler.verify.infinity.lyapunov import LOW, find_lower_bound, is_growth_premise
from recipe_compiler.verify.stationarity.explosion import decide_for_equation, explosion, prove_by_integrals


@once_in_build
def explosion_in(build: Build, bound: Dynamics) -> Answer:
    """Decide that no solution reaches infinity in finite time, with the target's potential in the place of U.

    For every U if possible; else for the target's, by W -> oo with L W <= c (1 + W) (Khasminskii 2012, Theorem 3.5), or
    by int |D|/(1 + |z|)**2 exp(-H) dz < oo and int |J|/(1 + |z|) exp(-H) dz < oo (Stannat 1999, Proposition 1.10). What
    is assumed of a U that is code stays an assumption.
    """
    of_any = _decide_explosion(build, bound)
    rests_on = [fact for fact in of_any.decision.given if is_growth_premise(fact)]
    if isinstance(of_any.decision, Refuted) or (is_proved(of_any) and not rests_on):
        return of_any
    if is_proved(of_any):
        if build.target.gradient is not None:
            given = (*of_any.decision.given, gradient_given(build.target.gradient))
            return of_any.but(given=given)
        settled = _replace_growth_premise(build, of_any, rests_on)
        if settled is not None:
            return settled
    stated = bind_potential(average_data(build), bound)
    of_target = None if stated is None else _decide_explosion(stated, bind(stated))
    if of_target is not None and (_assumes_nothing(of_target) or isinstance(of_target.decision, Refuted)):
        return replace(of_target, where=of_any.where)
    return _prove_by_integrals(build, bound, of_any, rests_on)


def _decide_explosion(build: Build, bound: Dynamics) -> Answer:
    return decided_by_kinds(explosion, build, bound)


def _assumes_nothing(found: Answer) -> bool:
    """Whether a proof rests on nothing about growth."""
    return is_proved(found) and not any(is_growth_premise(fact) for fact in found.decision.given)


def _replace_growth_premise(build: Build, found: Answer, rests_on: list[str]) -> Answer | None:
    """Return a proof whose only premise is that U falls no faster than |z|**2, once the target shows that."""
    of_U = f"{build.dynamics.potential}{LOW}"
    if any(not fact.startswith(of_U) for fact in rests_on) or not is_proved(found):
        return None
    for target in (build.target, bind_target_values(build)):
        shown = None if target is None else _bound_below_by_square(target)
        if shown is not None:
            own = (fact for fact in found.decision.given if fact not in rests_on)
            return found.but(given=tuple(sorted({*own, *shown})))
    return None


def _bound_below_by_square(target: Target) -> tuple[str, ...] | None:
    """Return the premises under which an energy is at least -c (1 + |z|**2); None where that is not shown."""
    if target.recursion:
        return None
    parts = list_target_parts(target)
    left = [part.energy for part in parts if not part.bounded_below]
    terms = Terms.of(target.declarations)
    squares = {block.name: Fraction(2) for block in terms.unbounded}
    if left and constrained(target):  # they are about the block itself, and far out its variables are logarithms of it
        return None
    if left and isinstance(find_lower_bound(terms, terms.c.add(*left), squares), str):
        return None
    answer = decide_agreement(target, parts)
    return answer.decision.given if is_proved(answer) else None


def _prove_by_integrals(build: Build, bound: Dynamics, found: Answer, rests_on: list[str]) -> Answer:
    """Return the proof by integrals against exp(-H), or the terms of the target that are open."""
    shown = [f"not shown for this target: {fact}" for fact in rests_on]
    tried = found.decision.tried if isinstance(found.decision, Undecided) else ()

    def answer(of: Equation) -> Answer:
        left = prove_by_integrals(of, normalisable_build(build, bound))
        return left if isinstance(left, Answer) else undecided(*tried, *shown, *left)

    stages = Stages(build, sharpen_kinds(build, bound))
    subjects: tuple[Subject | None, ...] = (stages.declared, stages.valued)
    answers = [decide_for_equation(subject, answer) for subject in subjects if subject is not None]
    return next((one for one in answers if is_proved(one)), answers[0])

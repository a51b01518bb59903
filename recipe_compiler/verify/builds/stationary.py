"""Is exp(-H) stationary in a build? Where that rests on how U grows, the target decides it."""

from dataclasses import replace

from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.explosion import explosion_in
from recipe_compiler.verify.builds.in_build import Claim, Stages, decided_in
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.infinity.at_infinity import OPEN, list_open_terms
from recipe_compiler.verify.infinity.lyapunov import GROWS, LOW, is_growth_premise


def stationary_in(claim: Claim, build: Build, bound: Dynamics) -> Answer:
    """Decide a claim that exp(-H) is stationary, with the growth of U that it assumes decided by the target.

    The residual vanishes for every U; that nothing passes through infinity does not follow. Where D = (1 +
    |theta|**2)**2 I is bound in SGRLD, U = log(1 + theta**2) makes int exp(U)/D finite, and solutions explode (Feller
    1952). Undecided where `explosion_in` does not prove that they stay finite and a known term of D or of the current
    is to be outgrown by U; that U itself grows, and what abstract functions alone decide, stay assumptions.

    Args:
        claim: decides it for the bound dynamics, where U may be any function.
        build: the build.
        bound: its dynamics, bound.
    """
    stages = Stages(build, bound)
    found = decided_in(claim, stages)
    rests_on = {fact for fact in found.decision.given if is_growth_premise(fact)}
    if not is_proved(found) or not rests_on:
        return found
    kept = explosion_in(build, bound).decision
    if isinstance(kept, Proved):
        given = tuple(sorted({*found.decision.given, *kept.given} - (rests_on - set(kept.given))))
        return found.but(given=given)
    derivation = stages.declared.derivation
    bounds = any(GROWS not in fact and LOW not in fact for fact in rests_on)
    open_ = () if derivation is None or not bounds else list_open_terms(derivation)
    left = tuple(f"{term.says}, {term.carries}" for term in open_ if not term.is_abstract)
    if not left and not isinstance(kept, Refuted):
        return found
    return replace(found, decision=Undecided((OPEN, *left), given=found.decision.given), checked_at=())

"""Does probability flow through the faces of the domain of a build? With the target's potential in the place of U.

Of dynamics alone U is any function, and what exp(-U) does at a face stays open; a target that states U decides it. A
proof that rests on chains being reflected is none of a build: no emitted step reflects.
"""

from dataclasses import replace

from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.known_potential import state_potential
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Answer, Proved, Undecided
from recipe_compiler.verify.builds.in_build import decided_by_kinds
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.uniqueness.boundary import REFLECTED, boundary


def boundary_in(build: Build, bound: Dynamics) -> Answer:
    """Decide the flux through every face of a build's domain: for every U if possible, else for the target's U.

    At distance y from a face p = exp(-H) ~ y**e and the face's row of D + Q ~ y**s need s + e > 0, as in
    `uniqueness.boundary`. A proof that rests on reflection does not hold of a build, and is undecided: no emitted step
    reflects.
    """
    of_any = _decide_flux(build, bound)
    stated = bind_potential(build, bound)
    if not isinstance(of_any.decision, Undecided) or stated is None:
        return of_any
    return replace(_decide_flux(stated, bind(stated)), where=of_any.where)


def _decide_without_reflection(subject: Subject) -> Answer:
    found = boundary(subject)
    rules = [fact for fact in found.decision.given if fact.startswith(REFLECTED)]
    if not isinstance(found.decision, Proved) or not rules:
        return found
    given = tuple(fact for fact in found.decision.given if fact not in rules)
    reason = f"exp(-H) is preserved if {'; '.join(rules)}, which emitted steps do not do"
    return replace(found, decision=Undecided((reason,), given=given))


def _decide_flux(build: Build, bound: Dynamics) -> Answer:
    return decided_by_kinds(_decide_without_reflection, build, bound)


def bind_potential(build: Build, bound: Dynamics) -> Build | None:
    """Return the build with U bound to the target's potential; None where U is made of data, or by no formula."""
    potential = state_potential(build, bound)
    if potential is None or bound.potential is None:
        return None
    parameters = (*build.parameters, *build.target.declarations.parameters)
    return replace(build, bind=(*build.bind, (bound.potential, potential)), parameters=parameters)

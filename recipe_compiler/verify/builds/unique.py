"""Is exp(-H) the only stationary law of a build's equation? At the values that the build gives."""

from functools import partial

from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Answer, Proved
from recipe_compiler.verify.builds.explosion import explosion_in
from recipe_compiler.verify.builds.in_build import Stages, decided_at_values
from recipe_compiler.verify.builds.normalisable import normalisable_build
from recipe_compiler.verify.core.build_values import entry_values, known_sizes, sharpened
from recipe_compiler.verify.core.subject import Subject, subject_of
from recipe_compiler.verify.stationarity.explosion import explosion
from recipe_compiler.verify.uniqueness.not_unique import AtValues, potential_of
from recipe_compiler.verify.uniqueness.unique import of_equation


def unique_in(build: Build, bound: Dynamics) -> Answer:
    """Decide that exp(-H) is the only stationary law at the values of a build, with the target's finite integral.

    As in `uniqueness.unique`, by D and its brackets with b = -Q grad H + div Q (Hormander 1967); a matrix declared
    positive semidefinite may be definite at the build's value. Refuted at the build's values by a conserved quantity;
    undecided else.
    """
    sizes, sharp = known_sizes(build, bound), sharpened(build, bound)
    known = all(size in sizes for size in bound.declarations.sizes)
    potential = potential_of(build, bound, known_sizes(build, build.target))
    at = AtValues(sizes, entry_values(build, sharp, sizes) if known else {}, potential)
    law = partial(normalisable_build, build, bound)

    def stays(subject: Subject) -> Answer:
        found = explosion_in(build, bound)
        return found if isinstance(found.decision, Proved) else explosion(subject)

    general = of_equation(subject_of(sharp), at, law, stays)
    stages, at_values = Stages(build, bound), AtValues(sizes, {}, potential)
    valued = stages.valued
    at_build = None if valued is None else partial(of_equation, valued, at_values, law, stays)
    return decided_at_values(general, at_build, stages.numbers)

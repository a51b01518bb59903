"""Is exp(-H) the only stationary law of a build's equation? At the values that the build gives."""

from functools import partial

from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Answer
from recipe_compiler.verify.builds.boundary import bind_potential
from recipe_compiler.verify.builds.in_build import Stages, decided_at_values, subject_at_values
from recipe_compiler.verify.core.build_values import fix_sizes, sharpen_kinds
from recipe_compiler.verify.core.subject import prepare_subject
from recipe_compiler.verify.uniqueness.unique import unique


def unique_in(build: Build, bound: Dynamics) -> Answer:
    """Decide that exp(-H) is the unique invariant distribution at the values of a build.

    As in `uniqueness.unique`, by D and its brackets with b = -Q grad H + div Q (Hormander 1967); a matrix declared
    positive semidefinite may be definite at the build's value, and a potential that the target states may make the
    equation linear. Refuted at the build's values by a conserved quantity; undecided else.
    """
    stated = bind_potential(build, bound)
    valued = subject_at_values(stated or build)
    if valued is None and stated is not None:
        valued = prepare_subject(bind(fix_sizes(stated)))
    general = unique(prepare_subject(sharpen_kinds(build, bound)))
    return decided_at_values(general, None if valued is None else partial(unique, valued), Stages(build, bound).numbers)

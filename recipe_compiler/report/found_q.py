"""The Q of a build whose dynamics state a drift and no Q: found, proved, and put in before anything else is decided."""

from collections.abc import Callable
from functools import partial

from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.spec.found_q import lacks_q, with_found_matrices
from recipe_compiler.spec.model import Build, Dynamics

Found = tuple[Matrix | None, Matrix | None]


def with_proved_q(build: Build) -> Build:
    """Return a build whose dynamics state a drift and no Q with one that is proved to give it; else as it is.

    It is one for all values as declared, and is looked for as long as a claim may take.
    """
    dynamics = build.stated_dynamics if build.is_complete else build.dynamics
    if not lacks_q(dynamics):
        return build
    from recipe_compiler.verify.core.time_limit import Unfinished, Work, run_all

    (found,) = run_all(Work(partial(_list_searches, dynamics), 1))
    return build if found is None or isinstance(found, Unfinished) else with_found_matrices(build, *found)


def _list_searches(dynamics: Dynamics) -> list[Callable[[], Found | None]]:
    from recipe_compiler.verify.core.subject import prepare_subject  # brings SymPy
    from recipe_compiler.verify.recover.search import with_recovered_q

    def find() -> Found | None:
        found = with_recovered_q(prepare_subject(dynamics))
        return None if found is None else (found.subject.dynamics.D, found.subject.dynamics.Q)

    return [find]

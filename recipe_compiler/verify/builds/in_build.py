"""Claims about dynamics and target within a build: for all values as declared where that can be, else at the build's.

What holds for every value of what is declared holds for the build's. Where that is not shown, or wrong, the claim is
decided at the values and sizes that the build gives; a refutation then names no others.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, wraps

from recipe_compiler.algebra.points.admissible_point import written
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Declarations, Parameter
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.spec.positions import stated_formulas
from recipe_compiler.verdict import AT_VALUES, Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.core.build_values import at_values, known_sizes, target_at_values
from recipe_compiler.verify.core.generalise_size import of_target
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import KEPT, Subject, at_sizes, find, subject_of

Claim = Callable[[Subject], Answer]
Witness = tuple[tuple[str, str], ...]

LISTED = 64
"""Numbers up to which a value is listed in a witness."""


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """The bound dynamics of a build: for all values as declared, and at the build's values; each made when needed."""

    build: Build
    bound: Dynamics

    @property
    def sizes(self) -> Sizes:
        """The sizes of the dynamics that the build fixes."""
        return known_sizes(self.build, self.bound)

    @property
    def declared(self) -> Subject:
        """The subject for all values as declared, at the sizes of the build."""
        return _declared(self)

    @property
    def valued(self) -> Subject | None:
        """The subject at the values of the build, None where it gives none."""
        return _valued(self)


@lru_cache(maxsize=KEPT)
def _declared(stages: Stages) -> Subject:
    return at_sizes(subject_of(stages.bound), stages.sizes)


@lru_cache(maxsize=KEPT)
def _valued(stages: Stages) -> Subject | None:
    try:
        dynamics = at_values(stages.build)
    except ModelError:  # a formula grows too large with the values in it
        return None
    return None if dynamics is None else subject_of(dynamics)


@dataclass(frozen=True, slots=True, eq=False)
class _Itself:
    """A build and what is bound in it, equal to themselves alone: equal ones may stand in other places."""

    build: Build
    bound: Dynamics

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.build is other.build and self.bound is other.bound

    def __hash__(self) -> int:
        return hash((id(self.build), id(self.bound)))


def once_in_build(find: Callable[[Build, Dynamics], Answer]) -> Callable[[Build, Dynamics], Answer]:
    """Return a claim about a build that is decided once, however many claims rest on it."""

    @lru_cache(maxsize=KEPT)
    def kept(itself: _Itself) -> Answer:
        return find(itself.build, itself.bound)

    @wraps(find)
    def found(build: Build, bound: Dynamics) -> Answer:
        return kept(_Itself(build, bound))

    return found


def decided_in(claim: Claim, stages: Stages) -> Answer:
    """Return the answer of a claim about the dynamics of a build: for all values if proved, else at the build's."""
    declared, valued = stages.declared, stages.valued
    if valued is None:
        return _of_free(find(claim, declared), stages.bound)
    general = find(claim, declared.wide or declared)
    if isinstance(general.decision, Proved):
        return general
    found = find(claim, valued)
    return narrowed(general, replace(found, where=found.where or general.where), stages.sizes, valued.dynamics)


def step_decided_in(claim: Claim, stages: Stages) -> Answer:
    """Return the answer of a claim about the moves of a build: for all values if proved, or refuted whatever they are.

    Else it is decided at the values and sizes of the build.
    """
    declared, valued = stages.declared, stages.valued
    general = find(claim, declared.wide or declared)
    if valued is None or isinstance(general.decision, Proved) or stages.build.scheme.use is not None:
        return general  # moves of parts have masks of their own, of which the build's value is that of one
    named = _named(general.decision.witness) if isinstance(general.decision, Refuted) else set[str]()
    values = {*stages.sizes, *(p.name for p in stages.bound.declarations.parameters)}
    if isinstance(general.decision, Refuted) and not named & values:
        return general
    try:
        found = find(claim, valued)
    except ModelError as error:  # its pieces are others: a summand of H may be gone
        found = Answer(Undecided(tuple(fault.problem for fault in error.faults)))
    if isinstance(general.decision, Undecided) and isinstance(found.decision, Undecided):
        return general
    return narrowed(general, found, stages.sizes, valued.dynamics)


def target_decided_in(claim: Callable[[Target], Answer], build: Build) -> Answer:
    """Return the answer of a claim about the target of a build: for all values if proved, else at the build's."""
    general = of_target(claim, build.target)
    if isinstance(general.decision, Proved):
        return general
    try:
        valued = target_at_values(build)
    except ModelError:
        return general
    if valued is None:
        return general
    return narrowed(general, of_target(claim, valued), known_sizes(build, build.target), valued)


def narrowed(general: Answer, found: Answer, sizes: Sizes, valued: Dynamics | Target) -> Answer:
    """Return an answer at values, with what is wrong at others, and the sizes that it is about."""
    found = _of_free(found, valued)
    match found.decision:
        case Refuted(witness=witness):
            decision = replace(found.decision, witness=with_values(witness, sizes, valued.declarations))
            return replace(found, decision=decision, for_d=_sizes_of(found, sizes))
        case Undecided(tried=tried) if isinstance(general.decision, Refuted):
            other = ", ".join(f"{name} = {value}" for name, value in general.decision.witness)
            hint = f"wrong at other values, which say nothing about these: {other}"
            return replace(found, decision=replace(found.decision, tried=(*tried, hint)))
        case Proved():
            decision = replace(found.decision, by=f"{found.decision.by}{AT_VALUES}")
            return replace(found, decision=decision, for_d=_sizes_of(found, sizes))
        case _:
            return found


def with_values(witness: Witness, sizes: Sizes, declared: Declarations) -> Witness:
    """Return a witness that begins with the sizes and values of the build; many numbers are named, not listed."""
    values = {p.name: shown_value(p) for p in declared.parameters if p.value is not None or p.default is not None}
    own = {**{name: str(n) for name, n in sizes.items()}, **values}
    return (*own.items(), *((name, value) for name, value in witness if name not in own))


def shown_value(parameter: Parameter) -> str:
    """Return the value of a parameter as text: its numbers where they are few, else how many they are."""
    if parameter.value is None:
        return "" if parameter.default is None else text(parameter.default)
    rows = parameter.value.rows
    if len(rows) * len(rows[0]) > LISTED:
        return f"the build's {len(rows)} x {len(rows[0])} numbers"
    exact = tuple(tuple(rational(x) for x in row) for row in rows)
    return written(exact, parameter.shape)


def _of_free(found: Answer, document: Dynamics | Target) -> Answer:
    """Return an answer; undecided instead of a refutation at values that the build does not have."""
    if not isinstance(found.decision, Refuted):
        return found
    free = sorted(_unvalued(document) & _named(found.decision.witness))
    if not free:
        return found
    at = ", ".join(f"{name} = {value}" for name, value in found.decision.witness)
    reason = f"wrong at {at}, and what {', '.join(free)} is in the build is not known before it runs"
    return replace(found, decision=Undecided((reason,)), for_d="all", checked_at=())


def _unvalued(document: Dynamics | Target) -> set[str]:
    """Return the parameters and data in the formulas of a document that have no value."""
    declared = document.declarations
    return set().union(*(unknown_names(formula, declared) for formula in stated_formulas(document)))


def unknown_names(formula: Formula, declared: Declarations) -> set[str]:
    """Return the parameters and data in a formula that have no value."""
    free = {p.name for p in declared.parameters if p.value is None and p.default is None}
    return set(dependence(formula).names) & (free | {datum.name for datum in declared.data})


def _sizes_of(found: Answer, sizes: Sizes) -> str | tuple[tuple[str, int], ...]:
    """Return the sizes an answer is about: those of the build, and any that it names itself."""
    own = dict(found.for_d) if not isinstance(found.for_d, str) else {}
    return tuple({**sizes, **own}.items()) or "all"


def _named(witness: Witness) -> set[str]:
    return {name.partition("(")[0].partition("[")[0] for name, _ in witness}

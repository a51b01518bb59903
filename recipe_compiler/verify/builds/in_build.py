"""Claims about dynamics and target within a build: for all values as declared where that can be, else at the build's.

What holds for every value of what is declared holds for the build's. Where that is not shown, or wrong, the claim is
decided at the values and sizes that the build gives; a refutation then names no others.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial, wraps

from recipe_compiler import limits
from recipe_compiler.algebra.points.admissible_point import written
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Declarations, Parameter
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.show import text
from recipe_compiler.spec.bind import bind, replaced
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.known_potential import state_potential, with_known_potential
from recipe_compiler.spec.model import Build, Data, Dynamics, Target
from recipe_compiler.spec.positions import stated_formulas
from recipe_compiler.spec.use import mask_value
from recipe_compiler.verdict import AT_VALUES, Answer, Evidence, Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.core.build_values import (
    bind_target_sizes,
    bind_target_values,
    bind_values,
    evaluate_bound_formulas,
    find_known_sizes,
    sharpen_kinds,
)
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.generalise_size import decide_target
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject, decide_claim, fix_build_sizes, prepare_subject
from recipe_compiler.verify.integrability.convex import STRICTLY_CONVEX

Claim = Callable[[Subject], Answer]


class Stages:
    """The bound dynamics of a build: for all values as declared, and at the build's values; each made when needed."""

    def __init__(self, build: Build, bound: Dynamics) -> None:
        self.build, self.bound = build, bound
        self.sizes = find_known_sizes(build, bound)

    @cached_property
    def declared(self) -> Subject:
        """The subject for all values as declared, at the sizes of the build."""
        return fix_build_sizes(prepare_subject(self.bound), self.sizes)

    @cached_property
    def valued(self) -> Subject | None:
        """The subject at the values of the build, None where it gives none."""
        return subject_at_values(self.build)

    @cached_property
    def known(self) -> Subject | None:
        """The subject with U everywhere as the target states it, None where D, Q and H need no formula of it."""
        build, known = with_known_potential(self.build)
        potential = None if known == bind(self.build) else state_potential(build, known)
        if potential is None:
            return None
        return fix_build_sizes(prepare_subject(replaced(known, {known.potential or "": potential})), self.sizes)

    @cached_property
    def numbers(self) -> "Numbers":
        """What the build says of the numbers of its dynamics."""
        return numbers_of(self.build, self.bound, self.bound if self.valued is None else self.valued.dynamics)

    @cached_property
    def valued_parts(self) -> tuple[Subject, ...]:
        """The subject at the values of the build, once for each part of the target that a word moves."""
        found = [self.valued, *map(subject_at_values, list_parts(self.build)[1:])]
        known = tuple(subject for subject in found if subject is not None)
        return known if len(known) == len(found) else ()


def subject_at_values(build: Build) -> Subject | None:
    """Return the bound dynamics of a build at its values, None where it gives none or they are too large to put in."""
    try:
        dynamics = bind_values(build)
    except ModelError:  # a formula grows too large with the values in it
        return None
    return None if dynamics is None else prepare_subject(dynamics)


@dataclass(frozen=True, slots=True, eq=False)
class _ByIdentity:
    """A build and its bound dynamics, compared by identity: equal ones may come from other places of a document."""

    build: Build
    bound: Dynamics

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and self.build is other.build and self.bound is other.bound

    def __hash__(self) -> int:
        return hash((id(self.build), id(self.bound)))


def once_in_build(find: Callable[[Build, Dynamics], Answer]) -> Callable[[Build, Dynamics], Answer]:
    """Return a claim about a build that is decided once, however many claims rest on it."""

    @lru_cache(maxsize=limits.SUBJECTS)
    def kept(itself: _ByIdentity) -> Answer:
        return find(itself.build, itself.bound)

    @wraps(find)
    def found(build: Build, bound: Dynamics) -> Answer:
        return kept(_ByIdentity(build, bound))

    return found


def decided_in(claim: Claim, stages: Stages) -> Answer:
    """Return the answer of a claim about the dynamics of a build: for all values if proved, else at the build's.

    What another U refutes of a D, Q or H that has U is decided of the one that the target states. Not a marginal
    that the logarithm of an integral, strictly convex in U, excludes for every U that is no constant.
    """
    found = _decide_for_every_potential(claim, stages)
    if not isinstance(found.decision, Refuted) or stages.known is None:
        return found
    if found.decision.by.startswith(STRICTLY_CONVEX):
        return found
    return decided_at_values(decide_claim(claim, stages.known), None, stages.numbers)


def _decide_for_every_potential(claim: Claim, stages: Stages) -> Answer:
    declared, valued = stages.declared, stages.valued
    if valued is None:
        return decided_at_values(decide_claim(claim, declared), None, stages.numbers)
    return decided_at_values(decide_claim(claim, declared.widest), partial(decide_claim, claim, valued), stages.numbers)


def decided_by_kinds(claim: Claim, build: Build, bound: Dynamics) -> Answer:
    """Return the answer of a claim about the dynamics of a build, whose values tell of which kinds they are.

    What is proved of these kinds, and not of those that are declared, is proved at the values of the build.
    """
    sharper = sharpen_kinds(build, bound)
    found = decided_in(claim, Stages(build, sharper))
    if not isinstance(found.decision, Proved) or AT_VALUES in found.decision.by or sharper == bound:
        return found
    of_all = decide_claim(claim, Stages(build, bound).declared.widest)
    at = "" if isinstance(of_all.decision, Proved) else AT_VALUES
    return found.but(by=f"{found.decision.by}{at}")


def step_decided_in(claim: Claim, stages: Stages) -> Answer:
    """Return the answer of a claim about the moves of a build: for all values if proved, or refuted whatever they are.

    Else it is decided at the values and sizes of the build, of each part of the target that a word moves.
    """
    declared, valued = stages.declared, stages.valued_parts
    general = decide_claim(claim, declared.widest)
    own = numbers_of(stages.build, stages.bound, valued[0].dynamics if valued else stages.bound)
    if not valued or (isinstance(general.decision, Refuted) and not own.find_named(general.decision.witness)):
        return decided_at_values(general, None, own)
    found = decided_at_values(general, partial(_decide_every_part, claim, valued), own)
    is_open = isinstance(general.decision, Undecided) and isinstance(found.decision, Undecided)
    return general if is_open else found


def _decide_every_part(claim: Claim, parts: tuple[Subject, ...]) -> Answer:
    """Return the conjunction of answers about subjects: the first refutation, else the first open one, else a proof."""
    found = [_decide_part(claim, part) for part in parts]
    order = (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.PROVED)
    return min(found, key=lambda answer: order.index(answer.verdict))


def _decide_part(claim: Claim, part: Subject) -> Answer:
    try:
        return decide_claim(claim, part)
    except ModelError as error:  # its pieces are others: a summand of H may be gone
        return Answer(Undecided(tuple(fault.problem for fault in error.faults)))


def target_decided_in(claim: Callable[[Target], Answer], build: Build) -> Answer:
    """Return the answer of a claim about the target of a build: for all values if proved, else at the build's."""
    general = decide_target(claim, build.target)
    try:
        valued = bind_target_values(build)
    except ModelError:
        valued = None
    if valued is None and not is_proved(general):
        valued = _fix_sizes(build)
    if valued is None:
        return _reopen_at_data_sizes(claim, build, build.target, general)
    found = decided_at_values(general, partial(decide_target, claim, valued), numbers_of(build, build.target, valued))
    return _reopen_at_data_sizes(claim, build, valued, found)


def _fix_sizes(build: Build) -> Target | None:
    """Return the target of a build at its sizes, if it has no data; None where no size is known."""
    sizes = find_known_sizes(build, build.target)
    try:
        return bind_target_sizes(build.target, sizes) if sizes and not build.target.declarations.data else None
    except ModelError:
        return None


def _reopen_at_data_sizes(claim: Callable[[Target], Answer], build: Build, target: Target, found: Answer) -> Answer:
    """Return a refutation at some number of data; open where the claim holds with as many as the build has.

    It is not proved then: a module takes other data as well.
    """
    if not isinstance(found.decision, Refuted) or not isinstance(build.observed, Data):
        return found
    sizes = {name: n for name, n in build.observed.sizes if name in target.declarations.sizes}
    try:
        own = decide_target(claim, bind_target_sizes(target, sizes)) if sizes else found
    except ModelError:
        return found
    if not is_proved(own):
        return found
    here = ", ".join(f"{name} = {n}" for name, n in sizes.items())
    at = ", ".join(f"{name} = {value}" for name, value in found.decision.witness)
    why = f"write the formula in terms of the size: it is right at {here}, that of the data, and wrong at {at}"
    return replace(found, decision=Undecided((why,)), for_d="all", checked_at=())


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a build says of the sizes, parameters and data that a witness may name."""

    document: Dynamics | Target
    """The one that a claim is about, at the values of the build."""
    sizes: Sizes
    values: Mapping[str, frozenset[str]]
    """By name, what it is as text: of what says which part of the target is moved, one for each part."""
    declared: frozenset[str]
    free: bool = False
    """Whether values that are not stated are any, as arguments of a module are: then any of them refutes."""

    def find_named(self, witness: Evidence) -> frozenset[str]:
        """Return the sizes and parameters that a witness names."""
        return self.declared & {_strip_position(entry) for entry, _ in witness}

    def find_other_values(self, witness: Evidence) -> tuple[str, ...]:
        """Return the entries of a witness, `T = 2`, that are not what the build says of them."""
        return tuple(
            f"{entry} = {value}"
            for entry, value in witness
            if entry in self.declared and value not in self.values.get(entry, frozenset({value}))
        )

    def find_unvalued(self, witness: Evidence) -> list[str]:
        """Return the names in a witness of parameters and data that have no value before the build runs."""
        if self.free:
            return []
        return sorted(_list_unvalued_names(self.document) & {_strip_position(entry) for entry, _ in witness})


def numbers_of(build: Build, bound: Dynamics | Target, valued: Dynamics | Target) -> Numbers:
    """Return what a build says of the numbers of its bound dynamics, or of its target; `valued` are they at values."""
    own, sizes = bound.declarations, find_known_sizes(build, bound)
    shapes = {p.name: p.shape for p in (*own.parameters, *valued.declarations.parameters)}
    values = {name: {str(n)} for name, n in sizes.items()}
    values |= {p.name: {text(p.default)} for p in own.parameters if p.default is not None}
    for part in list_parts(build):
        for name, value in evaluate_bound_formulas(part).values:
            if name in shapes and value.numbers is not None:
                exact = tuple(tuple(rational(x) for x in row) for row in value.numbers)
                values.setdefault(name, set()).add(written(exact, shapes[name]))
    frozen = {name: frozenset(texts) for name, texts in values.items()}
    return Numbers(valued, sizes, frozen, frozenset({*own.sizes, *shapes}), free=build.target.is_open)


def list_parts(build: Build) -> tuple[Build, ...]:
    """Return the build once for each part of the target that a word moves, the first word's mask having its value."""
    use = build.scheme.use
    if use is None or len(use.masks) <= 1:
        return (build,)
    return tuple(select_part(build, part) for part in range(len(use.parts)))


def select_part(build: Build, part: int) -> Build:
    """Return a build all words of which move one part of the target."""
    use = build.scheme.use
    if use is None or not use.masks:
        return build
    mask, declared = use.parts[0].mask, build.dynamics.declarations
    parameters = tuple(p for p in declared.parameters if p.name == mask or p.name not in use.masks)
    values = tuple(item for item in build.values if item[0] not in use.masks)
    return replace(
        build,
        dynamics=replace(build.dynamics, declarations=replace(declared, parameters=parameters)),
        values=(*values, (mask, mask_value(use.parts[part]))),
    )


def decided_at_values(general: Answer, at_build: Callable[[], Answer] | None, own: Numbers) -> Answer:
    """Return an answer for all values if it is a proof, else that at the values and sizes of a build.

    No number in the witness of a refutation is another one than the build's: where one is, or is not known before the
    build runs, the answer is undecided.

    Args:
        general: the answer for all values as declared.
        at_build: decides the claim at those of the build; None where it gives none.
        own: what it says of them.
    """
    if is_proved(general):
        return general
    if at_build is None:
        return _reopen_foreign_refutation(general, own)
    found = at_build()
    found = _reopen_foreign_refutation(replace(found, where=found.where or general.where), own)
    sizes = own.sizes
    match found.decision:
        case Refuted(witness=witness):
            decision = replace(found.decision, witness=complete_witness(witness, sizes, own.document.declarations))
            return replace(found, decision=decision, for_d=_join_sizes(found, sizes))
        case Undecided(tried=tried) if isinstance(general.decision, Refuted):
            other = ", ".join(f"{name} = {value}" for name, value in general.decision.witness)
            own_values = isinstance(_reopen_foreign_refutation(general, own).decision, Refuted)
            where = (
                "for some U, not shown for this one" if own_values else "at other values, so nothing follows for these"
            )
            hint = f"wrong {where}: {other}"
            return found.but(tried=(*tried, hint))
        case Proved():
            decision = replace(found.decision, by=f"{found.decision.by}{AT_VALUES}")
            return replace(found, decision=decision, for_d=_join_sizes(found, sizes))
        case _:
            return found


def _reopen_foreign_refutation(found: Answer, own: Numbers) -> Answer:
    """Return an answer; undecided instead of a refutation at numbers that the build does not have."""
    if not isinstance(found.decision, Refuted):
        return found
    witness = found.decision.witness
    unknown, others = own.find_unvalued(witness), own.find_other_values(witness)
    if not unknown and not others:
        return found
    at = ", ".join(f"{name} = {value}" for name, value in witness)
    why = f"the value of {', '.join(unknown)} in the build is not known before it runs" if unknown else ""
    why = why or f"the build has other values than {', '.join(others)}"
    return replace(found, decision=Undecided((f"wrong at {at}, and {why}",)), for_d="all", checked_at=())


def complete_witness(witness: Evidence, sizes: Sizes, declared: Declarations) -> Evidence:
    """Return a witness that begins with the sizes and values of the build; many numbers are named, not listed."""
    values = {p.name: format_value(p) for p in declared.parameters if p.value is not None or p.default is not None}
    own = {**{name: str(n) for name, n in sizes.items()}, **values}
    many = {p.name for p in declared.parameters if p.value is not None and _is_long(p)}
    own |= {name: value for name, value in witness if name in own and name not in many}
    return (*own.items(), *dict.fromkeys((name, value) for name, value in witness if name not in own))


def _is_long(parameter: Parameter) -> bool:
    rows = parameter.value.rows if parameter.value else ((),)
    return len(rows) * len(rows[0]) > limits.SUMMANDS


def format_value(parameter: Parameter) -> str:
    """Return the value of a parameter as text: its numbers where they are few, else how many they are."""
    if parameter.value is None:
        return "" if parameter.default is None else text(parameter.default)
    rows = parameter.value.rows
    if _is_long(parameter):
        return f"the build's {len(rows)} x {len(rows[0])} numbers"
    exact = tuple(tuple(rational(x) for x in row) for row in rows)
    return written(exact, parameter.shape)


def _list_unvalued_names(document: Dynamics | Target) -> set[str]:
    """Return the parameters and data in the formulas of a document that have no value."""
    declared = document.declarations
    return set().union(*(find_unvalued_names(formula, declared) for formula in stated_formulas(document)))


def find_unvalued_names(formula: Formula, declared: Declarations) -> set[str]:
    """Return the parameters and data in a formula that have no value."""
    free = {p.name for p in declared.parameters if p.value is None and p.default is None}
    return set(dependence(formula).names) & (free | {datum.name for datum in declared.data})


def _join_sizes(found: Answer, sizes: Sizes) -> str | tuple[tuple[str, int], ...]:
    """Return the sizes that an answer holds for: those of the build, and any that it names."""
    own = dict(found.for_d) if not isinstance(found.for_d, str) else {}
    return tuple({**sizes, **own}.items()) or "all"


def _strip_position(entry: str) -> str:
    return entry.partition("(")[0].partition("[")[0]

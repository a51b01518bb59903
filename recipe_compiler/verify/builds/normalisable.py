"""The finite integral of the law of a build: of its dynamics, and of its target for all data or its own."""

from dataclasses import replace
from fractions import Fraction

from recipe_compiler.derive.marginal import blocks_in, integrate
from recipe_compiler.formula.build import multiply
from recipe_compiler.formula.declaration import Declarations, Function
from recipe_compiler.formula.expression import Formula, Number
from recipe_compiler.spec.code import gradient_given
from recipe_compiler.spec.constraint import constrained
from recipe_compiler.spec.discrete import discrete_blocks
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Dynamics, Stated, Target
from recipe_compiler.spec.positions import smallest_sizes, stated_formulas
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.terms import Component
from recipe_compiler.verdict import AT_VALUES, Answer, Proved, Refuted, Undecided, undecided
from recipe_compiler.verify.builds.in_build import Stages, decided_by_kinds, once_in_build, target_decided_in
from recipe_compiler.verify.builds.proper_prior import ALMOST
from recipe_compiler.verify.builds.summed import sum_all_counts
from recipe_compiler.verify.builds.target_integral import normalisable_target
from recipe_compiler.verify.core.build_values import (
    evaluate_bound_formulas,
    find_known_sizes,
    list_rounded_builds,
)
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.integrability.normalisable import normalisable

FINITE = " has a finite integral"
STATED = Proved("as its author states", (f"exp(-U){FINITE}, as the document states under `assume`",))


@once_in_build
def normalisable_build(build: Build, bound: Dynamics) -> Answer:
    """Decide that int exp(-H) dz < oo, with the target's potential in the place of U, for all data or at the build's.

    The dynamics' proof rests on int exp(-U) < oo, which the target has to show. Exact values are used as far as they
    make parameters positive or definite. A witness at other sizes, values or data says nothing about the build. What
    the author states under `assume` is given, and listed.
    """
    found = _decide_build(build, bound)
    if not isinstance(found.decision, Refuted) or _is_witness_of_build(build, bound, found.for_d, found.decision):
        return found
    at = ", ".join(f"{name} = {value}" for name, value in found.decision.witness)
    reason = f"infinite at other sizes, values or data than those of the build: {at}"
    return undecided(reason, where=found.where)


def _accept_stated_integral(build: Build, bound: Dynamics, posterior: Answer) -> Answer:
    """Return a proof by the statement of the author in place of an answer that is open or refuted elsewhere."""
    decision = posterior.decision
    if not (build.assumes_integral or build.target.assumes_integral):
        return posterior
    here = isinstance(decision, Refuted) and _is_witness_of_build(build, bound, posterior.for_d, decision)
    return posterior if here or isinstance(decision, Proved) else replace(posterior, decision=STATED)


def normalisable_alone(target: Target) -> Answer:
    """Decide the finite integral of a target that is checked by itself, for all data.

    Where that is open: given if its author states it, otherwise with what the data of a build would have to show.
    """
    found = normalisable_target(target)
    if not isinstance(found.decision, Undecided):
        return found
    if target.assumes_integral:
        return replace(found, decision=STATED)
    from recipe_compiler.verify.builds.of_data import list_data_questions  # brings SciPy

    plain = sum_all_counts(target)
    asked = () if plain is None else list_data_questions(plain)
    return found.but(tried=(*found.decision.tried, *asked))


def _is_witness_of_build(
    build: Build, bound: Dynamics, for_d: str | tuple[tuple[str, int], ...], refuted: Refuted
) -> bool:
    """Whether a witness agrees with the known sizes and values of a build, and takes no data."""
    sizes = {**find_known_sizes(build, build.target), **find_known_sizes(build, bound)}
    values = {name for name, value in evaluate_bound_formulas(build).values if value.numbers is not None}
    declared = (*bound.declarations.parameters, *build.target.declarations.parameters, *build.target.declarations.data)
    free = {item.name for item in (*declared, *bound.declarations.functions)} - values
    named = {name.partition("(")[0].partition("[")[0] for name, _ in refuted.witness}
    if named & free or isinstance(for_d, str):
        return not named & free
    smallest = _find_free_sizes(build, bound)
    return all(sizes[name] == n if name in sizes else name in smallest and smallest[name] <= n for name, n in for_d)


def _find_free_sizes(build: Build, bound: Dynamics) -> dict[str, int]:
    """Return the sizes that may have any value, of blocks alone, with the smallest: claims are about all of these."""
    target = build.target
    own = (*bound.declarations.parameters, *target.declarations.parameters, *target.declarations.data)
    fixed = {size for item in own for size in item.shape.sizes} | {datum.size for datum in target.declarations.data}
    formulas = [*stated_formulas(bound), *stated_formulas(target), build.V]
    fixed |= {size for one in bound.declarations.assume for size in dependence(one).sizes}
    smallest = smallest_sizes(Declarations(blocks=bound.declarations.blocks), formulas)
    return {name: least for name, least in smallest.items() if name not in fixed}


def _decide_build(build: Build, bound: Dynamics) -> Answer:
    of_dynamics = decided_by_kinds(normalisable, build, bound)
    if not isinstance(of_dynamics.decision, Proved):
        return of_dynamics
    rests_on = {fact for fact in of_dynamics.decision.given if fact.endswith(FINITE)}
    if not rests_on:
        return of_dynamics
    other = sorted(rests_on - {f"exp(-{bound.potential}){FINITE}"})
    shares = _find_potential_factors(build, bound) if other else (Fraction(1),)
    if not shares or any(share <= 0 or (share != 1 and not _is_plain(build.target)) for share in shares):
        reason = f"assumed, but not shown by the target: {'; '.join(other)}"
        return undecided(reason, where=of_dynamics.where)
    if build.target.gradient is not None:
        own = of_dynamics.decision
        return replace(of_dynamics, decision=replace(own, given=(*own.given, gradient_given(build.target.gradient))))
    own, proofs = of_dynamics.decision, list[Proved]()
    for share in shares:
        posterior = _decide_posterior(build, bound, share)
        if not isinstance(posterior.decision, Proved):
            return _leave_posterior(build, bound, posterior)
        proofs.append(posterior.decision)
    both = {fact for fact in own.given if fact not in rests_on}.union(*(proof.given for proof in proofs))
    at_values = other or AT_VALUES in own.by
    by = proofs[0].by + (AT_VALUES if at_values and AT_VALUES not in proofs[0].by else "")
    data = dict.fromkeys((f"target: {k}", v) for proof in proofs for k, v in proof.data)
    proof = Proved(by, tuple(sorted(both)), (*own.data, *data))
    return Answer(proof, "all", of_dynamics.checked_at, of_dynamics.where)


def _decide_posterior(build: Build, bound: Dynamics, share: Fraction) -> Answer:
    """Decide that exp(-share U) of a build's target has a finite integral."""
    if share != 1:
        return _decide_at_values(replace(build, target=_scale_target(build.target, share)))
    return _accept_stated_integral(build, bound, _decide_by_data(build, _decide_at_values(build)))


def _leave_posterior(build: Build, bound: Dynamics, posterior: Answer) -> Answer:
    """Return the answer about exp(-H) where the integral of the target is open or infinite."""
    match posterior.decision:
        case Refuted() if not _is_potential_alone(build, bound):
            reason = "exp(-U) has no finite integral, and other terms of H depend on its blocks"
            return undecided(reason, where=posterior.where)
        case decision:
            return Answer(decision, posterior.for_d, posterior.checked_at, posterior.where)


def _decide_at_values(build: Build) -> Answer:
    """Decide the target at the values of a build: proved only if it is at the doubles and at the stated decimals."""
    found = target_decided_in(normalisable_target, build)
    if not isinstance(found.decision, Proved) or AT_VALUES not in found.decision.by:
        return found
    others = (target_decided_in(normalisable_target, other) for other in list_rounded_builds(build))
    try:
        if all(is_proved(other) for other in others):
            return found
        reason = "proved for the values as written or for the doubles that run, not for both"
    except OverflowError:
        reason = "a value is too large for a double, so it is infinite when the module runs"
    return replace(found, decision=Undecided((reason,)))


def _find_potential_factors(build: Build, bound: Dynamics) -> tuple[Fraction, ...]:
    """Return each k of a term k U in H at the values of the build.

    None at all where it is no such summand at one, or two share a block: the integral is then no product of theirs.
    """
    subject, potentials = _potentials_in(build, bound)
    if subject.derivation is None:
        return ()
    found: list[Fraction] = []
    for function in potentials:
        U = Component(function.name)
        own = [term for term in subject.derivation.H.terms if any(atom == U for atom, _ in term.factors)]
        if len(own) != 1 or own[0].factors != ((U, Fraction(1)),):
            return ()
        found.append(own[0].coefficient)
    blocks = [block for function in potentials for block in function.of]
    return tuple(dict.fromkeys(found)) if len({*blocks}) == len(blocks) else ()


def _is_potential_alone(build: Build, bound: Dynamics) -> bool:
    """Whether the terms of H besides U are free of its blocks, after integrating others out."""
    subject, potentials = _potentials_in(build, bound)
    if subject.derivation is None or not potentials:
        return False
    declarations = subject.declarations
    c, values = calculus(declarations), {Component(function.name) for function in potentials}
    theta = {block for function in potentials for block in function.of}
    others = [block for block in declarations.blocks if block.name not in theta]
    energy = integrate(c, subject.derivation.H, others).energy
    rest = [term for term in energy.terms if all(atom not in values for atom, _ in term.factors)]
    return not theta & blocks_in(c, c.collect(rest, ()))


def _potentials_in(build: Build, bound: Dynamics) -> tuple[Subject, list[Function]]:
    """Return the dynamics at a build's values, if any, and the potential at all blocks that they have it at."""
    stages = Stages(build, bound)
    subject = stages.valued or stages.declared
    functions = subject.declarations.functions
    return subject, [function for function in functions if function.value.declared == bound.potential]


def _is_plain(target: Target) -> bool:
    """Whether U is given by formulas alone, without a transform, a set, a sum, a state or code."""
    moved = target.transforms or constrained(target) or target.declared is not None
    return not (moved or discrete_blocks(target.declarations) or target.recursion or target.gradient is not None)


def _scale_target(target: Target, share: Fraction) -> Target:
    """Return the plain target of U times a number; named densities are then none."""

    def times(formula: Formula | None) -> Formula | None:
        return None if formula is None else multiply(Number(share), formula, formula.shape)

    return replace(
        target,
        potential=times(target.potential),
        log_prior=times(target.log_prior),
        log_likelihood=times(target.log_likelihood),
        stated=Stated(),
    )


def _decide_by_data(build: Build, general: Answer) -> Answer:
    """Return the answer about the target at the data of the build, given that for all data as declared."""
    decision, file = general.decision, build.data
    if isinstance(decision, Proved) and decision.by != ALMOST and (file is None or not file.made):
        return general
    from recipe_compiler.verify.builds.of_data import decide_by_data  # brings SciPy

    plain = sum_all_counts(build.target)
    return general if plain is None else decide_by_data(replace(build, target=plain), general)

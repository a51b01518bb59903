"""Has the posterior of a target a finite integral, for all data? By growth, or by a proper prior."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recipe_compiler.derive.marginal import integrate
from recipe_compiler.formula.build import add, negate
from recipe_compiler.formula.declaration import Datum
from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.orders import terms_of
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.constraint import constrained
from recipe_compiler.spec.discrete import held
from recipe_compiler.spec.model import Dynamics, Target
from recipe_compiler.spec.recursion import OPEN
from recipe_compiler.spec.transform import standard
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Applied, Index, Tensor
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, undecided
from recipe_compiler.verify.builds.one_datum import choose_small_sizes, compare_with_tensor, make_datum_index
from recipe_compiler.verify.builds.proper_prior import has_proper_prior, prove_by_proper_prior
from recipe_compiler.verify.builds.recursion import decide_same_reading
from recipe_compiler.verify.builds.summed import sum_over_counts
from recipe_compiler.verify.builds.target import lies_in_supports
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.identities import Identity, Question, Scalars, decide
from recipe_compiler.verify.core.premises import require_smooth_off_kinks
from recipe_compiler.verify.core.subject import prepare_subject
from recipe_compiler.verify.growth.bounds import UNCONFINED
from recipe_compiler.verify.growth.integral import EndCondition, Finiteness, decide_finite
from recipe_compiler.verify.integrability.bounded import bounded_above, bounded_below
from recipe_compiler.verify.integrability.infinite import refute_end_condition
from recipe_compiler.verify.integrability.marginal_law import list_restricted_blocks
from recipe_compiler.verify.integrability.normalisable import METHOD, normalisable

_ENDS = {name: row.ends for name, row in FUNCTIONS.items() if row.ends is not None}


@dataclass(frozen=True, slots=True)
class TargetPart:
    """A formula of a target as a part of the energy, summed over the data, by both engines."""

    entry: str
    energy: Tensor
    bounded_below: bool
    less: Scalars
    rest: "TargetPart | None" = None
    """Its summands without those that are each bounded below; None where none of them is, or all are."""


def normalisable_target(target: Target) -> Answer:
    """Decide that int exp(-U) < oo, U = -log_prior - sum_n log_likelihood_n, for all data and sizes.

    By growth (`coercive.finite`), or by a proper prior beside a likelihood that is bounded or a density of the data.
    Transformed blocks are decided as they are declared: with its Jacobian the integral is the same. Counts without an
    end are summed over first, other discrete blocks held.
    """
    fewer = sum_over_counts(target)
    if fewer.left:
        return undecided(*fewer.left, where=target.source.place("state"))
    found = _decide_continuous(held(fewer.target))
    if not (fewer.data and isinstance(found.decision, Proved)):
        return found
    given = tuple(sorted({*found.decision.given, *fewer.given}))
    return found.but(given=given, data=(*fewer.data, *found.decision.data))


def _decide_continuous(stated: Target) -> Answer:
    """Decide the integral of a target whose blocks are real and sampled as stated.

    Increasing columns are a part of all columns, of as many dimensions: an integral over all is at least as large.
    """
    target = standard(stated)
    if target.gradient is not None:
        reason = Undecided((f"U is known only by its gradient, which is code: {target.gradient}",))
        return Answer(reason, where=target.source.place("gradient"))
    is_plain = not (target.recursion or constrained(target))
    if is_plain and target.potential is not None and not target.declarations.data:
        return _decide_potential(target, target.potential)
    parts = [] if target.recursion else list_target_parts(target)
    found, kept = _try_growth(target, parts) if is_plain else (Finiteness((_explain_open(target),)), parts)
    proof = prove_by_proper_prior(stated) if found.reasons else Proved(METHOD, (), found.data)
    places = dict(target.source.places)
    where = next((places[e] for e in ("potential", "log_prior", "log_likelihood") if e in places), None)
    if proof is not None:
        is_read = not found.reasons or target.recursion or stated.stated.others
        return replace(_require_agreement(target, kept, proof) if is_read else Answer(proof), where=where)
    ways = (lambda: _decide_prior(target, stated, parts), lambda: _refute_at_ends(target, stated, found.needed))
    others = (way() for way in ways) if is_plain else ()
    other = next((one for one in others if one is not None), undecided(*_list_reasons(stated, found.reasons)))
    return replace(other, where=where)


def _explain_open(target: Target) -> str:
    """Return the reason that a target with sets or a recursion stays open without proper priors."""
    if target.recursion:
        return f"{OPEN}, and it is not shown to be bounded, or a density of the data, beside a proper prior"
    names = ", ".join(block.name for block in constrained(target))
    return f"no proper prior of all blocks was found beside {names}, with a likelihood of densities or bounded"


def _require_agreement(target: Target, parts: list[TargetPart], proof: Proved) -> Answer:
    """Return a proof if both engines read the formulas alike, else the answer about that."""
    answer = decide_same_reading(target) if target.recursion else decide_agreement(target, parts)
    if not is_proved(answer):
        return answer
    return replace(answer, decision=proof if proof.given else replace(proof, given=answer.decision.given))


def _try_growth(target: Target, parts: list[TargetPart]) -> tuple[Finiteness, list[TargetPart]]:
    """Return whether growth proves the integral, bounded parts dropped if needed, and the parts used."""
    found = _decide_growth(target, [part.energy for part in parts])
    for fewer, helping in _drop_bounded_parts(parts) if found.reasons else ():
        without = _decide_growth(target, [part.energy for part in fewer])
        if not without.reasons:
            kept = [*parts, *(part for part in fewer if part not in parts)]
            return Finiteness((), (*without.data, helping)), kept
    return found, parts


def _decide_prior(target: Target, stated: Target, parts: list[TargetPart]) -> Answer | None:
    """Decide a prior alone, or beside a likelihood that is bounded above, as the energy of dynamics; None where open.

    A prior without a finite integral may have one with its likelihood.
    """
    alone, declarations = target.log_likelihood is None, replace(target.declarations, data=())
    others = [part for part in parts if part.entry != "log_prior"]
    if target.log_prior is None or not all(part.bounded_below for part in others):
        return None
    found = normalisable(prepare_subject(Dynamics(target.name, declarations, negate(target.log_prior), None, None)))
    match found.decision:
        case Proved(data=data) as proof if not alone:
            helps = ("log_likelihood", "bounded above, so it can only help")
            return _require_agreement(target, parts, replace(proof, data=(*data, helps)))
        case Refuted() if not alone or not lies_in_supports(stated):
            return None
        case Undecided():
            return None
        case _:
            return found


def _refute_at_ends(target: Target, stated: Target, needed: Sequence[EndCondition]) -> Answer | None:
    """Return the refutation of an integral by a necessary condition at an end of a domain; None without one."""
    if list_restricted_blocks(target.declarations) or not lies_in_supports(stated):
        return None
    found = ((refute_end_condition(target.declarations, needed, at), at) for at in choose_small_sizes(target))
    return next((Answer(refuted, tuple(at.items()) or "all") for refuted, at in found if refuted is not None), None)


def _list_reasons(stated: Target, reasons: tuple[str, ...]) -> tuple[str, ...]:
    """Return why an integral is not shown: beside a proper prior it is the likelihood that may have no bound."""
    if stated.log_likelihood is None or not has_proper_prior(stated) or not lies_in_supports(stated):
        return tuple(dict.fromkeys(reasons))
    about_likelihood = [reason for reason in reasons if not reason.startswith(UNCONFINED)]
    first = "the prior is proper, but log_likelihood is not shown to be bounded above for all data"
    return tuple(dict.fromkeys((first, *about_likelihood)))


def _drop_bounded_parts(parts: list[TargetPart]) -> Iterator[tuple[list[TargetPart], tuple[str, str]]]:
    """Yield the parts with one that is bounded below dropped, or a bounded summand of one, with a remark.

    U >= V + c, where what is left out is bounded below by c: exp(-U) <= exp(-c) exp(-V).
    """
    for part in parts:
        if part.bounded_below:
            yield [other for other in parts if other is not part], (part.entry, "bounded above, so it can only help")
    for part in parts:
        if part.rest is not None:
            fewer = [part.rest if other is part else other for other in parts]
            yield fewer, (part.entry, "it has a part that is bounded above")


def decide_agreement(target: Target, parts: list[TargetPart]) -> Answer:
    """Return whether both engines read the same formulas of a target, defined everywhere, so that they may be used."""
    zero = Tensor((), ())
    identities = tuple(
        Identity(f"{p.entry} in index notation minus it entry by entry", target.source.place(p.entry), zero, p.less)
        for p in parts
    )
    needed = require_smooth_off_kinks((formula for _, formula in _list_formulas(target)), target.declarations)
    return decide(Question(identities, target.declarations, choose_small_sizes(target), needed, ""))


def _decide_growth(target: Target, energies: list[Tensor]) -> Finiteness:
    """Return whether the sum of energies has a finite integral, directly or after Gaussian integrals."""
    declarations = target.declarations
    c = calculus(declarations)
    energy = c.add(c.zero(), *energies)
    found = decide_finite(c, declarations, energy, declarations.blocks)
    if not found.reasons:
        return found
    after = integrate(c, energy, declarations.blocks)
    if not after.steps:
        return found
    then = decide_finite(c, declarations, after.energy, after.left)
    return Finiteness((*found.reasons, *then.reasons) if then.reasons else (), then.data, "", then.needed)


def _decide_potential(target: Target, potential: Formula) -> Answer:
    """Decide a potential without data as the energy of dynamics."""
    found = normalisable(prepare_subject(Dynamics(target.name, target.declarations, potential, None, None)))
    return replace(found, where=target.source.place("potential"))


def _list_formulas(target: Target) -> list[tuple[str, Formula]]:
    named = (
        ("potential", target.potential),
        ("log_prior", target.log_prior),
        ("log_likelihood", target.log_likelihood),
    )
    return [(entry, formula) for entry, formula in named if formula is not None]


def list_target_parts(target: Target) -> list[TargetPart]:
    """Return the formulas of a target, one about data as that of one datum."""
    return [_make_part(target, entry, formula) for entry, formula in _list_formulas(target)]


def _make_part(target: Target, entry: str, formula: Formula) -> TargetPart:
    c = calculus(target.declarations)
    way = 1 if entry == "potential" else -1
    datum = make_datum_index(target.declarations) if entry == "log_likelihood" else None
    tensor = convert(formula, target.declarations, datum=datum, entry=entry, where=target.source.place(entry))
    one = c.scale(tensor, way)
    helps = bounded_below if way > 0 else bounded_above
    bounded = helps(formula, target.declarations) or (datum is not None and _is_outgrown(target, one, datum))
    terms = terms_of(formula)
    left = [term for term in terms if not helps(term, target.declarations)]
    rest = _make_part(target, entry, add(left, SCALAR)) if 0 < len(left) < len(terms) else None
    less = compare_with_tensor(formula, tensor, target.declarations)
    return TargetPart(entry, c.total(one, *one.free), bounded, less, rest)


def _is_outgrown(target: Target, one: Tensor, datum: Index) -> bool:
    """Whether the energy of a datum is `f(t) - y t`, f growing like a t and b t at its ends, and a <= y <= b.

    It is bounded below: f(t) - b t is so for t > 0, and (b - y) t >= 0; f(t) - a t for t < 0, and (a - y) t >= 0. So
    `softplus(t) - y t` is for labels y in [0, 1].
    """
    declarations = target.declarations
    c = calculus(declarations)
    for term in one.terms:
        match term.factors:
            case ((Applied(fn, (arg,)), exponent),) if term.coefficient == exponent == 1 and fn in _ENDS:
                rest = c.subtract(one, c.collect([term], one.free))
                shares = (c.component(y.name, datum) for y in declarations.data if _has_values_within(y, *_ENDS[fn]))
                if any(c.is_zero(c.add(rest, c.multiply(y, arg))) for y in shares):
                    return True
            case _:
                continue
    return False


def _has_values_within(datum: Datum, low: int, high: int) -> bool:
    return bool(datum.values) and not datum.shape.sizes and min(datum.values) >= low and max(datum.values) <= high

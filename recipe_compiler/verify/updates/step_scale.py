"""Is a claimed update a small step? Drift terms must be O(eps), noise covariances O(eps): the commonest slips are not.

Decided by the powers of eps in the moments of the step alone: `sqrt(eps)` where `eps` is meant, `N(0, eps)` scaled by
eps once more, a term that lacks eps. What has the right order may have the wrong factor; that is decided by
`claimed_update`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.algebra.points.witness import Witness
from recipe_compiler.algebra.scalars.entries import rows
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import Formula, Next, Normal, Role, Symbol
from recipe_compiler.formula.orders import ONE, ZERO, holds_step, orders, terms_of
from recipe_compiler.formula.show import text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.trace.moments import Moments
from recipe_compiler.trace.of_formulas import tensor_moments
from recipe_compiler.trace.of_scalars import scalar_moments
from recipe_compiler.trace.series import TWO, NoExpansionError
from recipe_compiler.trace.stated_step import Step, stated_step
from recipe_compiler.verdict import Answer, Evidence, Proved, Refuted, Undecided, undecided
from recipe_compiler.verify.core.first_witness import Named, find_first_witness
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.updates.claimed_step import describe_step_size, print_power, time_unit, values_at


def step_scale(subject: Subject) -> Answer:
    """Decide that a claimed update has E[dz] = O(eps) and Cov[dz] = O(eps) in every block, for every size.

    Refuted also where D is not zero and all noise of the block is smaller than O(eps): N(0, 2 eps**2 I) with D = I is,
    and so is a drift sqrt(eps) grad U. A wrong factor is decided by `claimed_update`. Advisory.
    """
    where = subject.place("claims.update", "claims")
    update = dict(subject.dynamics.claims.update or ())
    if not any(map(holds_step, update.values())):
        return undecided("the update does not contain eps", where=where)
    blocks = _read_blocks(subject, update)
    unit = time_unit([block.moments for block in blocks])
    tried: list[str] = []
    small: list[tuple[str, str]] = []
    for block in blocks:
        if block.name not in update:
            continue
        if not holds_step(block.formula) and draws_in(block.formula):
            tried.append(f"{block.name} is refreshed, not moved by a small step")
            continue
        found = _refute_order(block, unit) or _refute_small_noise(block, unit, subject)
        if found is not None:
            sizes, decision = found
            place = subject.place(f"claims.update.{block.name}", "claims.update")
            return Answer(decision, tuple(sizes.items()) or "all", where=place)
        tried += _list_unproved_orders(block, unit)
        small += _list_small_noise(block, unit)
    by = "powers of eps in the moments of the step" + ("" if unit == ONE else f"; {describe_step_size(unit)}")
    return Answer(Undecided(tuple(tried)) if tried else Proved(by, (), tuple(small)), where=where)


@dataclass(frozen=True, slots=True)
class _BlockStep:
    """The update of one block."""

    step: Step
    place: int
    formula: Formula
    sizes: tuple[Sizes, ...]
    moments: Moments[Tensor] | None
    """None where they are not read up to eps**2."""

    @property
    def name(self) -> str:
        """The name of the block."""
        return self.step.declarations.blocks[self.place].name


def _read_blocks(subject: Subject, update: Mapping[str, Formula]) -> list[_BlockStep]:
    """Return the update of every block, read separately so that one failure does not affect the others."""
    step = stated_step(subject.dynamics)
    found: list[_BlockStep] = []
    for a, block in enumerate(step.declarations.blocks):
        try:
            moments = tensor_moments(step, (a,))
        except (NoExpansionError, ModelError):
            moments = None
        own = moments if moments is not None and moments.known >= TWO else None
        found.append(_BlockStep(step, a, update.get(block.name, step.new[a]), subject.sizes, own))
    return found


def draws_in(formula: Formula) -> list[Formula]:
    """Return the draws in a formula."""
    return [x for x in nodes(formula) if isinstance(x, Normal) or (isinstance(x, Symbol) and x.role is Role.NOISE)]


def _list_unproved_orders(block: _BlockStep, unit: Fraction) -> list[str]:
    """Return, in words, the parts of an update whose order in eps is not proved."""
    if block.moments is not None:
        powers = [power for power in block.moments.powers(unit) if power < unit]
        return [f"{block.name}: it is not shown that no part is of order {print_power(power)}" for power in powers]
    own = Symbol(block.name, block.formula.shape, Role.BLOCK)
    return [
        f"{block.name}: {text(term)} is not shown to be of order {print_power(unit)}"
        for term in terms_of(block.formula)
        if term != own and min(orders(term) or {ZERO}) < _required_order(term, unit)
    ]


def _required_order(term: Formula, unit: Fraction) -> Fraction:
    """Return the order in eps that a term must have: that of the step, or half of it for zero-mean noise."""
    return unit / 2 if len(draws_in(term)) == 1 else unit


def _list_small_noise(block: _BlockStep, unit: Fraction) -> Iterator[tuple[str, str]]:
    """Yield the draws whose covariance is smaller than O(eps), as for gradient noise, O(eps**2)."""
    for term in terms_of(block.formula):
        own = orders(term)
        if len(draws_in(term)) == 1 and own is not None and min(own) > unit / 2:
            yield f"the noise {text(term)} of {block.name}", f"covariance O({print_power(2 * min(own))})"


def _refute_order(block: _BlockStep, unit: Fraction) -> tuple[Sizes, Refuted] | None:
    """Return the sizes and the refutation by a nonzero coefficient of a power below eps at an exact point; or None."""

    def below(sizes: Sizes) -> Named:
        found = scalar_moments(block.step, sizes, (block.place,))
        for power in (power for power in found.powers(unit) if power < unit):
            part, at = values_at(found, power), f"at {print_power(power)}"
            yield from ((f"the drift {at}", x) for x in part.mean)
            yield from ((f"the noise covariance {at}", x) for row in part.covariance for x in row)

    sizes = sorted(block.sizes, key=lambda s: (min(s.values(), default=2) < 2, sum(s.values())))[:2]
    found = find_first_witness(below, block.step.declarations, sizes)
    if found is None:
        return None
    at, says, point = found
    return at, Refuted(
        "exact witness", _witness_rows(says, point), f"{says} in the update of {block.name}: {_name_low_terms(block)}"
    )


def _refute_small_noise(block: _BlockStep, unit: Fraction, subject: Subject) -> tuple[Sizes, Refuted] | None:
    """Return the refutation of noise smaller than O(eps) in a block whose D is not zero; None otherwise."""
    D, n, formula = subject.dynamics.D, block.place, block.formula
    drawn = [term for term in terms_of(formula) if draws_in(term)]
    noisy = block.moments is None or any(power <= unit for power in block.moments.covariance[0][0].parts)
    if D is None or not drawn or noisy or any(isinstance(node, Next) for node in nodes(formula)):
        return None
    place, own = f"D[{block.name},{block.name}]", D[n][n]

    def entries(sizes: Sizes) -> Named:
        yield from ((f"an entry of {place}", x) for row in rows(own, subject.setting(sizes)) for x in row)

    found = find_first_witness(entries, block.step.declarations, block.sizes)
    if found is None:
        return None
    sizes, says, point = found
    terms = ", ".join(map(text, drawn))
    residual = f"{place} is not zero, but all noise in {block.name} is smaller than O(eps): {terms}"
    return sizes, Refuted("powers of eps", _witness_rows(says, point), residual)


def _witness_rows(says: str, at: Witness) -> Evidence:
    """Return a point and the value found there, as rows of a witness."""
    return (*at.text, (says, format_value(at.value)))


def _name_low_terms(block: _BlockStep) -> str:
    """Return the terms of an update whose order in eps is too low, as text."""
    terms = terms_of(block.formula)
    guilty = [term for term in terms if min(orders(term) or {ONE}) < _required_order(term, ONE)]
    plain = [term for term in guilty if not isinstance(term, Symbol)] or guilty or [block.formula]
    return ", ".join(map(text, plain))

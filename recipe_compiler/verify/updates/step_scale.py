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
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.core.first_witness import Named, first_witness
from recipe_compiler.verify.core.identities import shown
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.updates.claimed_step import step_size, unit_of, values_at, written_power


def step_scale(subject: Subject) -> Answer:
    """Decide that a claimed update has E[dz] = O(eps) and Cov[dz] = O(eps) in every block, for every size.

    Refuted also where D is not zero and all noise of the block is smaller than O(eps): N(0, 2 eps**2 I) with D = I is,
    and so is a drift sqrt(eps) grad U. A wrong factor is decided by `claimed_update`. Advisory.
    """
    where = subject.place("claims.update", "claims")
    update = dict(subject.dynamics.claims.update or ())
    if not any(map(holds_step, update.values())):
        return Answer(Undecided(("the update does not contain eps",)), where=where)
    blocks = _blocks(subject, update)
    unit = unit_of([block.moments for block in blocks])
    tried: list[str] = []
    small: list[tuple[str, str]] = []
    for block in blocks:
        if block.name not in update:
            continue
        if not holds_step(block.formula) and draws_in(block.formula):
            tried.append(f"{block.name} is refreshed, not moved by a small step")
            continue
        found = _failure(block, unit) or _too_small(block, unit, subject)
        if found is not None:
            sizes, decision = found
            place = subject.place(f"claims.update.{block.name}", "claims.update")
            return Answer(decision, tuple(sizes.items()) or "all", where=place)
        tried += _open(block, unit)
        small += _small(block, unit)
    by = "powers of eps in the moments of the step" + ("" if unit == ONE else f"; {step_size(unit)}")
    return Answer(Undecided(tuple(tried)) if tried else Proved(by, (), tuple(small)), where=where)


@dataclass(frozen=True, slots=True)
class _BlockStep:
    """What a step does to one block."""

    step: Step
    place: int
    formula: Formula
    sizes: tuple[Sizes, ...]
    moments: Moments[Tensor] | None
    """None where they are not read up to eps**2."""

    @property
    def name(self) -> str:
        return self.step.declarations.blocks[self.place].name


def _blocks(subject: Subject, update: Mapping[str, Formula]) -> list[_BlockStep]:
    """Return what the step does to every block, each read alone: what keeps one from being read leaves the others."""
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


def _open(block: _BlockStep, unit: Fraction) -> list[str]:
    """Return what is not shown to be of the order that it should be, for every size."""
    if block.moments is not None:
        powers = [power for power in block.moments.powers(unit) if power < unit]
        return [f"{block.name}: it is not shown that no part is of order {written_power(power)}" for power in powers]
    own = Symbol(block.name, block.formula.shape, Role.BLOCK)
    return [
        f"{block.name}: {text(term)} is not shown to be of order {written_power(unit)}"
        for term in terms_of(block.formula)
        if term != own and min(orders(term) or {ZERO}) < _least(term, unit)
    ]


def _least(term: Formula, unit: Fraction) -> Fraction:
    """Return the order that a term of an update has to have; noise, whose mean is zero, half of that of the step."""
    return unit / 2 if len(draws_in(term)) == 1 else unit


def _small(block: _BlockStep, unit: Fraction) -> Iterator[tuple[str, str]]:
    """Yield the draws whose covariance is smaller than O(eps): that of gradient noise is O(eps**2)."""
    for term in terms_of(block.formula):
        own = orders(term)
        if len(draws_in(term)) == 1 and own is not None and min(own) > unit / 2:
            yield f"the noise {text(term)} of {block.name}", f"covariance O({written_power(2 * min(own))})"


def _failure(block: _BlockStep, unit: Fraction) -> tuple[Sizes, Refuted] | None:
    """Return the sizes and the refutation: a coefficient of a power below eps that is not zero at an exact point."""

    def below(sizes: Sizes) -> Named:
        found = scalar_moments(block.step, sizes, (block.place,))
        for power in (power for power in found.powers(unit) if power < unit):
            part, at = values_at(found, power), f"at {written_power(power)}"
            yield from ((f"the drift {at}", x) for x in part.mean)
            yield from ((f"the noise covariance {at}", x) for row in part.covariance for x in row)

    sizes = sorted(block.sizes, key=lambda s: (min(s.values(), default=2) < 2, sum(s.values())))[:2]
    found = first_witness(below, block.step.declarations, sizes)
    if found is None:
        return None
    at, says, point = found
    return at, Refuted("exact witness", _shown(says, point), f"{says} in the update of {block.name}: {_blamed(block)}")


def _too_small(block: _BlockStep, unit: Fraction, subject: Subject) -> tuple[Sizes, Refuted] | None:
    """Return the refutation where D is not zero but the noise of a block has a covariance smaller than O(eps)."""
    D, n, formula = subject.dynamics.D, block.place, block.formula
    drawn = [term for term in terms_of(formula) if draws_in(term)]
    noisy = block.moments is None or any(power <= unit for power in block.moments.covariance[0][0].parts)
    if D is None or not drawn or noisy or any(isinstance(node, Next) for node in nodes(formula)):
        return None
    place, own = f"D[{block.name},{block.name}]", D[n][n]

    def entries(sizes: Sizes) -> Named:
        yield from ((f"an entry of {place}", x) for row in rows(own, subject.setting(sizes)) for x in row)

    found = first_witness(entries, block.step.declarations, block.sizes)
    if found is None:
        return None
    sizes, says, point = found
    terms = ", ".join(map(text, drawn))
    residual = f"{place} is not zero, but all noise in {block.name} is smaller than O(eps): {terms}"
    return sizes, Refuted("powers of eps", _shown(says, point), residual)


def _shown(says: str, at: Witness) -> tuple[tuple[str, str], ...]:
    return (*at.text, (says, shown(at.value)))


def _blamed(block: _BlockStep) -> str:
    """Return the terms of an update that are of a lower order than they may be."""
    terms = terms_of(block.formula)
    guilty = [term for term in terms if min(orders(term) or {ONE}) < _least(term, ONE)]
    plain = [term for term in guilty if not isinstance(term, Symbol)] or guilty or [block.formula]
    return ", ".join(map(text, plain))

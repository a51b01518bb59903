"""The density that the claimed equation leaves stationary instead of exp(-H), where a small family holds it."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from recipe_compiler.errors import DocumentError
from recipe_compiler.explain.repair.changes import ENERGY, Change, proved, with_formulas
from recipe_compiler.explain.repair.equations import defects
from recipe_compiler.explain.repair.parametrise import sketch
from recipe_compiler.explain.repair.ratios import Ratio
from recipe_compiler.explain.repair.rescale import is_one, positive, written
from recipe_compiler.explain.repair.solve import Solution
from recipe_compiler.explain.repair.sum_of_terms import gathered, number, scaled, tensor_of, total
from recipe_compiler.explain.samples.candidate_densities import DensityFamily, family
from recipe_compiler.explain.samples.one_coordinate import on_a_line
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.order import spell_tensor
from recipe_compiler.verdict import Explanation, Topic, Verdict
from recipe_compiler.verify.core.stratonovich import NotConvertedError
from recipe_compiler.verify.core.subject import Subject, subject_of
from recipe_compiler.verify.integrability.normalisable import normalisable

LEAVES = "exp(-H) is a stationary density of the claimed equation, normalisable or not, for H = "

SHOWN = 2
TRIED = 6
LARGEST = 900
"""Where the equations have more terms, no more terms are added to H."""
SECONDS = 4.0
"""The outer limit, in processor time; what is found by then is shown."""


def samples_instead(subject: Subject) -> tuple[Explanation, ...]:
    """Return energies H' for which the claimed equation leaves exp(-H') stationary, proved by both engines.

    The residual of the claimed f and D vanishes for p = exp(-H'). Tried are H times a constant, one of its terms
    scaled, all of them scaled; the same with one term added (the logarithm of a field, of a determinant, of D; a scalar
    block, which shifts a quadratic energy), then with all; and on a line the integral of H' = (D' - f)/D. Nothing is
    returned where exp(-H) itself is stationary, or no drift is claimed. Whether exp(-H') has a finite integral is a
    further question.

    Example: naive SGRLD without Gamma, f = -D grad U with a scalar D(theta), samples exp(-U)/D: H' = U + log D.
    """
    dynamics = subject.dynamics
    if subject.derivation is None or dynamics.claims.drift is None:
        return ()
    end = time.process_time() + SECONDS
    found: list[Explanation] = []
    seen: set[str] = set()
    try:
        c = calculus(dynamics.declarations)
        if all(c.is_zero(defect) for defect in defects(dynamics, derived=False)):
            return ()
        for n, change in enumerate(_energies(dynamics, end)):
            if n == TRIED or len(found) == SHOWN or time.process_time() > end:
                break
            mark = spell_tensor(tensor_of(change.formulas[0][1], dynamics.declarations))
            if mark in seen:
                continue
            seen.add(mark)
            explanation = proved(dynamics, change, Topic.SAMPLES, derived=False)
            if explanation is not None:
                found.append(_with_integral(dynamics, change, explanation))
    except (DocumentError, NotConvertedError):
        pass
    return tuple(found)


def _with_integral(dynamics: Dynamics, change: Change, explanation: Explanation) -> Explanation:
    """Return the explanation, with what it comes to where exp(-H) is shown to have no finite integral."""
    law = normalisable(subject_of(with_formulas(dynamics, dict(change.formulas))))
    if law.verdict is not Verdict.REFUTED:
        return explanation
    tabled = dynamics.declarations.parameters or dynamics.declarations.functions
    where = " for some values of what is declared" if tabled else ""
    return replace(explanation, says=f"{explanation.says}; its integral is infinite{where}: nothing is sampled")


def _energies(dynamics: Dynamics, end: float) -> Iterator[Change]:
    of = family(dynamics)
    held = False
    chosen: list[tuple[int, ...]] = [(), *((n,) for n in range(len(of.added)))]
    if len(of.added) > 1:
        chosen.append(tuple(range(len(of.added))))
    for added in chosen:
        if time.process_time() > end:
            return
        wide = _Joint(dynamics, of, added)
        for change in wide.energies():
            held = True
            yield change
        if wide.size > LARGEST:
            break
    if not held:
        for new in on_a_line(dynamics):
            yield Change(ENERGY, 1, f"{LEAVES}{text(new)}", (("H", new),))


class _Joint:
    """The residual of the claim with every own term of H and some added ones under an unknown factor."""

    def __init__(self, dynamics: Dynamics, of: DensityFamily, added: tuple[int, ...]) -> None:
        self.dynamics = dynamics
        self.terms = (*of.own, *(of.added[n] for n in added))
        self.at = sketch(dynamics, len(self.terms))
        self.own = self.at.unknowns[: len(of.own)]
        self.added = self.at.unknowns[len(of.own) :]
        symbols = {name: self.at.symbol(n) for n, name in enumerate(self.at.unknowns)}
        self.given = self.at.equations({"H": self.energy(symbols)}, derived=False)

    @property
    def size(self) -> int:
        """How much there is to look through."""
        return sum(len(poly) for poly in self.given)

    def energy(self, values: Solution) -> Formula:
        """Return H with values of the factors."""
        pairs = zip(self.terms, self.at.unknowns, strict=True)
        kept = [t if is_one(values[name]) else scaled(t, values[name], self.at.ring) for t, name in pairs]
        return total(kept, SCALAR)

    def energies(self) -> Iterator[Change]:
        """Yield the energies at which the residual vanishes: few unknown factors first, one for all own terms, all."""
        ones, free = dict.fromkeys(self.own, 1), dict.fromkeys(self.added, 0)
        if self.added:
            yield from self.found(free, ones)
        if len(self.own) > 1 or not self.added:
            yield from self.tied(free)
        if len(self.own) > 1:
            if not self.added:
                for name in self.own:
                    yield from self.found({name: 1}, {other: 1 for other in self.own if other != name})
            yield from self.found({**ones, **free}, {})

    def found(self, defaults: Mapping[str, int], others: Mapping[str, int]) -> Iterator[Change]:
        """Yield the energies with the factors in `defaults` unknown, the others given."""
        nonzero = frozenset(self.own) & defaults.keys()
        for solution in self.at.solutions(self.given, defaults, others, nonzero):
            given = {name: number(value, self.at.ring) for name, value in others.items()}
            yield from self.change({**given, **solution})

    def tied(self, free: Mapping[str, int]) -> Iterator[Change]:
        """Yield the energies with one factor for all own terms."""
        if not self.own:
            return
        first = self.own[0]
        given = self.at.tied(self.given, self.own)
        for solution in self.at.solutions(given, {first: 1, **free}, {}, frozenset({first})):
            whole = {**solution, **dict.fromkeys(self.own, solution[first])}
            inverse = Ratio(solution[first].bottom, solution[first].top)
            at = "" if self.added else f", the stated one at temperature {written(inverse, self.at.ring)}"
            yield from self.change(whole, at)

    def change(self, values: Solution, more: str = "") -> Iterator[Change]:
        """Yield an energy if its own terms keep their signs."""
        if all(positive(values[name], self.at.ring) for name in self.own):
            new = gathered(self.energy(values), self.dynamics.declarations)
            plain = all(value.is_number for value in values.values())
            yield Change(ENERGY, 1, f"{LEAVES}{text(new)}{more}", (("H", new),), plain)

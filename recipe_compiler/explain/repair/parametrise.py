"""A document with unknown scalars in some of its formulas, and the values at which its claim holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from flint import fmpq

from recipe_compiler.explain.repair.changes import with_formulas
from recipe_compiler.explain.repair.equations import defects, equations
from recipe_compiler.explain.repair.ratios import Constants, Poly, Ratio, constants, with_unknowns
from recipe_compiler.explain.repair.solve import Solution, solve
from recipe_compiler.explain.repair.sparse_support import supports
from recipe_compiler.explain.repair.sums import number
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus

Formulas = Mapping[str, Formula]


@dataclass(frozen=True, slots=True)
class Sketch:
    """A document that declares unknown scalars, and the ring of its constants and those."""

    dynamics: Dynamics
    unknowns: tuple[str, ...]
    ring: Constants

    def symbol(self, n: int) -> Ratio:
        """Return the n-th unknown."""
        return Ratio(self.ring.constant(self.unknowns[n]), self.ring.number(1))

    def equations(self, formulas: Formulas, *, derived: bool) -> list[Poly]:
        """Return what must vanish in the document with these formulas (`equations.defects`)."""
        c = calculus(self.dynamics.declarations)
        return equations(defects(with_formulas(self.dynamics, formulas), derived=derived), c, self.ring)

    def solutions(
        self, given: Sequence[Poly], defaults: Mapping[str, int], others: Mapping[str, int], nonzero: frozenset[str]
    ) -> list[Solution]:
        """Return values of the unknowns in `defaults` at which polynomials vanish, the `others` being 0 or 1."""
        return solve(self.specialised(given, others), defaults, self.ring, nonzero=nonzero)

    def factors(self, given: Sequence[Poly], names: Sequence[str]) -> list[Ratio]:
        """Return the values, not 0, that some unknowns share at which polynomials vanish, the others being 1."""
        first = names[0]
        tied = self.tied(given, names)
        others = {name: 1 for name in self.unknowns if name not in names}
        found = self.solutions(tied, {first: 1}, others, frozenset({first}))
        return [solution[first] for solution in found]

    def sparse(
        self, formulas: Formulas, largest: int, *, derived: bool, most: int
    ) -> Iterator[tuple[tuple[str, ...], Solution]]:
        """Yield small sets of unknowns with values at which the document holds, the others 0."""
        given = self.equations(formulas, derived=derived)
        for subset in supports(given, self.unknowns, self.ring, largest, most=most):
            others = [name for name in self.unknowns if name not in subset]
            zeros = {name: number(0, self.ring) for name in others}
            nothing = dict.fromkeys(others, 0)
            for solution in self.solutions(given, dict.fromkeys(subset, 0), nothing, frozenset(subset)):
                yield subset, {**zeros, **solution}

    def specialised(self, polynomials: Sequence[Poly], values: Mapping[str, int]) -> list[Poly]:
        """Return polynomials with some unknowns at 0 or 1."""
        gone = [self.ring.names.index(name) for name, value in values.items() if not value]
        kept = {self.ring.names.index(name) for name, value in values.items() if value}
        return [self._moved(poly, gone, dict.fromkeys(kept, None)) for poly in polynomials]

    def tied(self, polynomials: Sequence[Poly], names: Sequence[str]) -> list[Poly]:
        """Return polynomials with some unknowns equal to the first of them."""
        first, *others = (self.ring.names.index(name) for name in names)
        return [self._moved(poly, [], dict.fromkeys(others, first)) for poly in polynomials]

    def _moved(self, poly: Poly, gone: Sequence[int], moves: Mapping[int, int | None]) -> Poly:
        """Return a polynomial without the terms that hold one of `gone`, powers moved to others, or away as 1."""
        found: dict[tuple[int, ...], fmpq] = {}
        for exponents, coefficient in poly.to_dict().items():
            if any(exponents[n] for n in gone):
                continue
            new = [0 if n in moves else int(e) for n, e in enumerate(exponents)]
            for old, at in moves.items():
                if at is not None:
                    new[at] += int(exponents[old])
            key = tuple(new)
            found[key] = found.get(key, fmpq(0)) + coefficient
        return self.ring.context.from_dict(found)


def sketch(dynamics: Dynamics, count: int) -> Sketch:
    """Return a document whose formulas may hold so many unknown scalars."""
    declarations, unknowns = with_unknowns(dynamics.declarations, count)
    return Sketch(replace(dynamics, declarations=declarations), unknowns, constants(declarations, unknowns))

"""A document with unknown factors before terms of its entries, and the values at which its claim holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from recipe_compiler.ansatz.equations import constant_names, equations, with_unknowns
from recipe_compiler.ansatz.solve import System
from recipe_compiler.ansatz.sums import Constants, Value, constants, sum_terms
from recipe_compiler.derive.recipe import derive, matrix, vector
from recipe_compiler.derive.stationarity import residual
from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.block_matrices import Matrix, zeros
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verify.core.stratonovich import convert_to_ito

Values = Mapping[int, Value]
"""The number of a part to the value of its unknown; the other unknowns are 0."""


def entries(dynamics: Dynamics) -> dict[str, Formula]:
    """Return all that may be changed by place: `H`, `D[r,r]`, `Q[r,xi]`, `claims.diffusion[r,r]`, `claims.drift.xi`."""
    names = [block.name for block in dynamics.declarations.blocks]
    found = {"H": dynamics.H}
    for name, places in (("D", dynamics.D), ("Q", dynamics.Q), ("claims.diffusion", dynamics.claims.diffusion)):
        for row, line in zip(names, places or (), strict=False):
            found |= {f"{name}[{row},{col}]": place for col, place in zip(names, line, strict=True)}
    return found | {f"claims.drift.{name}": formula for name, formula in dynamics.claims.drift or ()}


def with_entries(dynamics: Dynamics, formulas: Mapping[str, Formula]) -> Dynamics:
    """Return the dynamics with some entries replaced."""
    found = entries(dynamics) | dict(formulas)
    names = [block.name for block in dynamics.declarations.blocks]

    def places(name: str, old: Matrix | None) -> Matrix | None:
        return old and tuple(tuple(found[f"{name}[{row},{col}]"] for col in names) for row in names)

    claims = dynamics.claims
    drift = claims.drift and tuple((name, found[f"claims.drift.{name}"]) for name, _ in claims.drift)
    claims = replace(claims, drift=drift, diffusion=places("claims.diffusion", claims.diffusion))
    return replace(dynamics, H=found["H"], D=places("D", dynamics.D), Q=places("Q", dynamics.Q), claims=claims)


def defects(dynamics: Dynamics, *, derived: bool) -> tuple[Tensor, ...]:
    """Return what has to vanish for the claim to hold.

    With `derived` f - [-(D + Q) grad H + Gamma] block by block, [n_b], and the claimed diffusion less D place by place,
    [n_a, n_b]. Otherwise the Fokker-Planck residual of the claim, one scalar. (Ma, Chen, Fox 2015, Eqs. 3 and 5.)

    Raises:
        ModelError: a formula that has no meaning in index notation.
        NotConvertedError: a Stratonovich drift whose Ito drift is not known.
    """
    declarations = dynamics.declarations
    stated = replace(dynamics, D=dynamics.D or dynamics.claims.diffusion, Q=dynamics.Q or zeros(declarations.blocks))
    derivation, c = derive(stated, settle=False), calculus(declarations)
    D = dynamics.claims.diffusion or dynamics.D or ()
    drift, diffusion = vector(convert_to_ito(dynamics, D), declarations), matrix(D, declarations)
    if not derived:
        return (residual(derivation, drift, diffusion, settle=False),)
    drifts = [c.subtract(one, other) for one, other in zip(drift, derivation.drift, strict=True)]
    noises = [c.subtract(x, y) for p, q in zip(diffusion, derivation.D, strict=True) for x, y in zip(p, q, strict=True)]
    return (*drifts, *noises)


def has_no_defects(dynamics: Dynamics, *, derived: bool) -> bool:
    """Whether the index calculus shows that the claim holds. Raises as `defects` does."""
    return all(map(calculus(dynamics.declarations).is_zero, defects(dynamics, derived=derived)))


@dataclass(frozen=True)
class Part:
    """Terms of entries before which one unknown stands: c of a new term, 1 + c of one that the document has."""

    terms: tuple[tuple[str, Formula], ...]
    own: bool = True
    rank: int = 0
    whole: Formula | None = None
    """What is written in the place of all parts of it where none is changed."""
    fixed: bool = False
    """Whether it has no unknown."""


@dataclass(frozen=True)
class Ansatz:
    """A document whose entries are sums of parts, some with unknown factors."""

    dynamics: Dynamics
    parts: tuple[Part, ...]
    derived: bool
    """Whether the claimed drift has to be the recipe's, and not only to leave exp(-H) stationary."""

    @property
    def constants(self) -> Constants:
        """What the unknowns are ratios of."""
        return constants(self.dynamics.declarations)

    @cached_property
    def system(self) -> System:
        """What the unknowns have to satisfy."""
        declarations, names = with_unknowns(self.dynamics.declarations, len(self.parts))
        formulas: dict[str, list[Formula]] = {}
        for part, name in zip(self.parts, names, strict=True):
            unknown = ex.Symbol(name, SCALAR, Role.PARAMETER)
            for entry, term in part.terms:
                own = [term] if part.own else []
                more = [] if part.fixed else [build.multiply(unknown, term, term.shape)]
                formulas.setdefault(entry, []).extend((*own, *more))
        old = entries(self.dynamics)
        sums = {entry: sum_terms(terms, old[entry].shape) for entry, terms in formulas.items()}
        sketch = with_entries(replace(self.dynamics, declarations=declarations), sums)
        found = equations(calculus(declarations), defects(sketch, derived=self.derived), constant_names(declarations))
        return System(found, names, self.constants.field)

    def solutions(self, chosen: Sequence[str] | None) -> Iterator[Values]:
        """Yield values of some unknowns at which all that has to vanish does."""
        for solution in self.system.solutions(chosen) if chosen is not None else ():
            yield {n: solution[name] for n, name in enumerate(self.system.unknowns) if solution.get(name)}

    def sparse(self, largest: int, most: int) -> Iterator[Values]:
        """Yield values of few unknowns, none of them 0."""
        for support in self.system.supports(largest, most):
            yield from (values for values in self.solutions(support) if len(values) == len(support))

    def factor(self, n: int, values: Values) -> Value:
        """Return the factor of a part."""
        at = self.constants
        return values.get(n, at.number(0)) + at.number(1 if self.parts[n].own else 0)

    def written(self, values: Values) -> dict[str, Formula]:
        """Return the entries that are not as the document has them."""
        old = entries(self.dynamics)
        changed = {self.parts[n].whole for n in values}
        terms: dict[str, list[Formula]] = {}
        wholes: list[Formula] = []
        for n, part in enumerate(self.parts):
            factor = self.factor(n, values)
            for entry, term in part.terms:
                here = terms.setdefault(entry, [])
                if part.whole is not None and part.whole not in changed:
                    here += [part.whole] if part.whole not in wholes else []
                    wholes.append(part.whole)
                elif factor:
                    here.append(term if factor == 1 else self.constants.scaled(term, factor))
        touched = {entry for n in values for entry, _ in self.parts[n].terms}
        replaced = {entry for entry in terms if all(not p.own for p in self.parts if entry in dict(p.terms))}
        return {
            entry: sum_terms(found, old[entry].shape) for entry, found in terms.items() if entry in touched | replaced
        }

    def is_plain(self, values: Values) -> bool:
        """Whether all values are numbers."""
        return all(value.numer.is_ground and value.denom.is_ground for value in values.values())

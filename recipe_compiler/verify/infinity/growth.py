"""How fast terms grow towards infinity, at a distance from the faces of the domain: what happens at those is left out.

As in `integrability.factor_growth`, |product| <= C prod_b (1 + |z_b|)**s_b; but here a coordinate of a positive block
is at least some delta > 0, so that its negative powers are bounded, and so is its logarithm on one side. An energy, or
another function, is at least a power of each block far out, beside what is abstract of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.derive.recipe import col_slots, row_slots
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.elementwise import LOGARITHMS, named
from recipe_compiler.tensor.atoms import Factor, everywhere
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.definite import Definiteness, definiteness
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.signs import factor_is_positive, is_nonnegative
from recipe_compiler.tensor.terms import Applied, Base, Component, Coordinate, Determinant, Tensor, Term
from recipe_compiler.verify.integrability.coercive import degree_two
from recipe_compiler.verify.integrability.growth import COMPACT, bounding, confinement, degrees, growth_below

ONE = Fraction(1)
STEEP = named(lambda row: not row.tame)
"""What may be steeper than any power, itself or by a negative power: 1/sigmoid(-x) is 1 + exp(x)."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A bound C prod_b (1 + |z_b|)**powers[b] log**logs of a product, far out."""

    powers: Mapping[str, Fraction] = field(default_factory=dict[str, Fraction])
    logs: int = 0

    def share(self, of: Mapping[str, Fraction]) -> Fraction | None:
        """Return sum_b s_b/g_b for degrees g; None if a needed g is missing.

        Below 1, sum_b |z_b|**g_b outweighs prod_b |z_b|**s_b: for every k > 0 the product is at most k times the sum
        plus a constant (weighted inequality of arithmetic and geometric means). r**1 theta**1 against r**2 + theta**4
        has 1/2 + 1/4 = 3/4.
        """
        if any(power > 0 and name not in of for name, power in self.powers.items()):
            return None
        return sum((power / of[name] for name, power in self.powers.items() if power > 0), Fraction(0))


@dataclass(frozen=True, slots=True)
class Terms:
    """The calculus of a document, and what can be said about the growth of terms in it."""

    c: Calculus
    declarations: Declarations

    @classmethod
    def of(cls, declarations: Declarations) -> "Terms":
        """Return the calculus of a document for questions about growth."""
        return cls(calculus(declarations), declarations)

    @property
    def unbounded(self) -> tuple[Block, ...]:
        """The blocks that can run off to infinity."""
        return tuple(block for block in self.declarations.blocks if block.domain.name not in COMPACT)

    def blocks(self, factors: Iterable[Factor]) -> frozenset[str]:
        """Return the blocks that a product depends on."""
        return blocks_in(self.c, Tensor((), (Term(ONE, tuple(factors)),)))

    def growth(self, factors: Iterable[Factor]) -> Growth | None:
        """Return a bound of a product far out and away from the faces of the domain; None where no bound is known."""
        powers: dict[str, Fraction] = {}
        logs = 0
        for factor in factors:
            if not self.blocks([factor]) or self._stays_bounded(factor):
                continue
            if self._is_logarithm_of_coordinate(factor):
                logs += int(factor[1])
                continue
            found = degrees(self.c, self.declarations, (factor,))
            if found is None:
                return None
            logs += _logarithms(factor)
            for name, power in found.items():
                powers[name] = powers.get(name, Fraction(0)) + power
        return Growth(powers, logs)

    def is_abstract(self, factors: Iterable[Factor]) -> bool:
        """Whether a function of the state, of which nothing but its kind is known, occurs in a product."""
        names = {name for name, _ in self.c.rules.depends}
        atoms = everywhere(Tensor((), (Term(ONE, tuple(factors)),)))
        return any(isinstance(atom, Component) and atom.name in names for atom in atoms)

    def is_steep(self, factors: Iterable[Factor]) -> bool:
        """Whether a product has a factor, without a known bound, that holds something steeper than any power."""
        return any(
            self.growth([factor]) is None
            and any(
                isinstance(atom, Applied) and atom.fn in STEEP
                for atom in everywhere(Tensor((), (Term(ONE, (factor,)),)))
            )
            for factor in factors
        )

    def is_nonnegative(self, term: Term) -> bool:
        """Whether a term is nonnegative: by its signs, or as a semidefinite form in one block."""
        alone = Tensor((), (term,))
        if is_nonnegative(self.c.rules, alone):
            return True
        return any(
            degree_two(self.c, block, term) and self._hessian(block, alone) is not Definiteness.UNKNOWN
            for block in self.declarations.blocks
            if len(block.shape.sizes) <= 1
        )

    def is_definite(self, block: Block, terms: Iterable[Term]) -> bool:
        """Whether terms together are a form that is definite in a block wherever the others are."""
        forms = [term for term in terms if degree_two(self.c, block, term)]
        return bool(forms) and self._hessian(block, self.c.collect(forms, ())) is Definiteness.DEFINITE

    def falls_with_logarithm(self, term: Term) -> Factor | None:
        """Return the factor log(x) of a term `-k log(x)`, k >= 0 and x a positive coordinate: at most a bound times k.

        It is negative for x > 1, and log(x) is bounded for delta <= x <= 1.
        """
        own = [f for f in term.factors if f[1] == 1 and self._is_logarithm_of_coordinate(f)]
        if term.coefficient > 0 or len(own) != 1:
            return None
        rest = tuple(f for f in term.factors if f is not own[0])
        return own[0] if is_nonnegative(self.c.rules, Tensor((), (Term(ONE, rest),))) else None

    def _hessian(self, block: Block, form: Tensor) -> Definiteness:
        slope = self.c.diff(form, Coordinate(block.name, row_slots(block)))
        hessian = self.c.diff(slope, Coordinate(block.name, col_slots(block)))
        return definiteness(self.c, hessian)

    def _is_positive_coordinate(self, factor: Factor) -> bool:
        """Whether a factor is a power of a coordinate that stays at a distance from 0, as it does from all faces."""
        match factor[0]:
            case Coordinate(name, _):
                return name in self.c.rules.nonnegative
            case _:
                return False

    def _stays_bounded(self, factor: Factor) -> bool:
        """Whether a negative power is bounded, since what it is a power of stays away from 0."""
        atom, exponent = factor
        if exponent > 0:
            return False
        if isinstance(atom, Base):
            return bool(atom.arg.terms) and all(self._stays_positive(term) for term in atom.arg.terms)
        return self._is_positive_coordinate(factor)

    def _stays_positive(self, term: Term) -> bool:
        return term.coefficient > 0 and all(
            factor_is_positive(self.c.rules, factor)
            if not self.blocks([factor])
            else factor[1] > 0 and self._is_positive_coordinate(factor)
            for factor in term.factors
        )

    def _is_logarithm_of_coordinate(self, factor: Factor) -> bool:
        atom, exponent = factor
        match atom:
            case Applied("log", (Tensor(_, (Term(_, (inner,)),)),)) if exponent > 0 and exponent.denominator == 1:
                return inner[1] > 0 and self._is_positive_coordinate(inner)
            case _:
                return False


def _logarithms(factor: Factor) -> int:
    """Return how many logarithms a factor holds; one inside something else counts as many."""
    atom, exponent = factor
    inside = sum(
        isinstance(a, Determinant) or (isinstance(a, Applied) and a.fn in LOGARITHMS)
        for a in everywhere(Tensor((), (Term(ONE, (factor,)),)))
    )
    alone = isinstance(atom, Applied) and atom.fn in LOGARITHMS and exponent == 1
    return 1 if inside == 1 and alone else 2 * inside


@dataclass(frozen=True, slots=True)
class Confined:
    """A lower bound W >= sum_b c |z_b|**degrees[b] + abstract - C of a function, c > 0.

    `abstract` is the part over the blocks that abstract functions depend on: nothing is known of its growth.
    """

    degrees: Mapping[str, Fraction]
    abstract: Tensor


def confined(terms: Terms, energy: Tensor, besides: Mapping[str, Fraction]) -> Confined | str:
    """Return what a function W grows like, W >= sum_b c |z_b|**g_b + abstract - C, or why that is not known.

    Args:
        terms: the calculus.
        energy: W, a scalar in index notation.
        besides: degrees of blocks that are confined in another way, as by |z_b|**2 next to W.

    A block with a definite form only where the others are bounded has no degree. U(theta) + r.T inv(M) r/2 has g_r = 2
    and U as its abstract part.
    """
    names = {block.name for block in covered(terms)}
    if names and not any(terms.is_abstract(term.factors) for term in energy.terms):
        names = set[str]()
    own = [term for term in energy.terms if terms.blocks(term.factors) and terms.blocks(term.factors) <= names]
    rest = [term for term in energy.terms if term not in own]
    degrees = dict(besides)
    used: list[Term] = []
    for block in (block for block in terms.unbounded if block.name not in names):
        about = tuple(term for term in rest if terms.blocks(term.factors) == frozenset({block.name}))
        confined = confinement(terms.c, terms.declarations, block, about)
        if confined is not None:
            degrees[block.name] = confined.degree
            used += confined.terms
        elif block.name not in besides and not terms.is_definite(block, rest):
            return f"no term is known to confine {block.name}"
    for term in rest:
        if term in used or terms.is_nonnegative(term):
            continue
        if not all(_is_dominated(terms, part, degrees, besides) for part in bounding(terms.c, term)):
            return f"{text(terms.c.collect([term], ()))} is not dominated"
    return Confined(degrees, terms.c.collect(own, ()))


def _is_dominated(terms: Terms, term: Term, degrees: Mapping[str, Fraction], besides: Mapping[str, Fraction]) -> bool:
    """Whether what grows outweighs a term, or a large multiple of |z_b|**besides[b] does."""
    growth = terms.growth(term.factors)
    share = None if growth is None else growth.share(degrees)
    if growth is None or share is None:
        return False
    by_multiple = all(degrees[name] == besides.get(name) for name, power in growth.powers.items() if power > 0)
    return share < 1 or (share == 1 and not growth.logs and by_multiple)


def covered(terms: Terms) -> tuple[Block, ...]:
    """Return the blocks that abstract functions depend on and that are unbounded."""
    names = {block for _, block in terms.c.rules.depends}
    return tuple(block for block in terms.unbounded if block.name in names)


def grows(terms: Terms, energy: Tensor) -> bool:
    """Return whether an energy is shown to grow like a power in all unbounded blocks: H >= c |z|**g - C with c, g > 0.

    Every power of |z| is then integrable against exp(-H).
    """
    if growth_below(terms.c, terms.declarations, terms.unbounded, energy) is not None:
        return True
    found = confined(terms, energy, {})
    return not isinstance(found, str) and all(block.name in found.degrees for block in terms.unbounded)

"""Bounds of products over blocks of any size: powers of |z_b| and logarithms from above, powers from below.

If H >= sum_b c |z_b|**g_b - C prod_b (1 + |z_b|)**s_b with sum_b s_b / g_b < 1, then H >= sum_b c' |z_b|**g_b - C': by
the weighted inequality of the means the product is at most a small share of the sum, plus a constant. A logarithm grows
more slowly than any power and needs no room of its own, the inequality being strict.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.derive.recipe import col_coordinate, row_coordinate
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.elementwise import FUNCTIONS, named
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.tensor.atoms import Factor, everywhere, indices, slots
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.definite import Definiteness, definiteness
from recipe_compiler.tensor.rule_tensors import written
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.signs import factor_is_nonnegative, factor_is_positive, is_nonnegative, is_positive
from recipe_compiler.tensor.terms import Applied, Base, Component, Coordinate, Index, Tensor, Term
from recipe_compiler.verify.growth.ends import list_blocks_with_boundary

ONE = Fraction(1)
COMPACT = frozenset({DomainName.CIRCLE, DomainName.INTERVAL, DomainName.SIMPLEX})
UNCONFINED = "no term is known to confine "
"""How a reason begins that then names a block."""
STEEP = named(lambda row: not row.tame)
"""What may be steeper than any power, itself or by a negative power: 1/sigmoid(-x) is 1 + exp(x)."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound C prod_b (1 + |z_b|)**powers[b] log**logs of a modulus; where `is_steep`, on bounded sets only."""

    powers: Mapping[str, Fraction] = field(default_factory=dict[str, Fraction])
    logs: int = 0
    is_steep: bool = False

    def __mul__(self, other: "Bound") -> "Bound":
        """Return the bound of a product."""
        names = {**self.powers, **other.powers}
        powers = {name: self.powers.get(name, Fraction(0)) + other.powers.get(name, Fraction(0)) for name in names}
        return Bound(powers, self.logs + other.logs, self.is_steep or other.is_steep)

    def __or__(self, other: "Bound") -> "Bound":
        """Return the bound of a sum."""
        names = {**self.powers, **other.powers}
        powers = {name: max(self.powers.get(name, Fraction(0)), other.powers.get(name, Fraction(0))) for name in names}
        return Bound(powers, max(self.logs, other.logs), self.is_steep or other.is_steep)

    def __pow__(self, exponent: Fraction) -> "Bound":
        """Return the bound of a power, with a positive exponent."""
        powers = {name: power * exponent for name, power in self.powers.items()}
        return Bound(powers, ceil(self.logs * exponent), self.is_steep)

    def compute_share(self, of: Mapping[str, Fraction]) -> Fraction | None:
        """Return sum_b s_b/g_b for degrees g; None if a needed g is missing.

        Below 1, sum_b |z_b|**g_b outweighs prod_b |z_b|**s_b: for every k > 0 the product is at most k times the sum
        plus a constant (weighted inequality of arithmetic and geometric means). r**1 theta**1 against r**2 + theta**4
        has 1/2 + 1/4 = 3/4.
        """
        if any(power > 0 and name not in of for name, power in self.powers.items()):
            return None
        return sum((power / of[name] for name, power in self.powers.items() if power > 0), Fraction(0))


@dataclass(frozen=True, slots=True)
class Confinement:
    """The growth of terms in a block z: their sum is at least c |z|**degree - C, c > 0."""

    degree: Fraction
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """The calculus of a document, and bounds of products in it: over the whole domain, or at a distance from its faces.

    Where `away`, a coordinate of a positive block is at least some delta > 0: its negative powers are bounded, and so
    is its logarithm on one side. What happens at the faces is then left out.
    """

    c: Calculus
    declarations: Declarations
    away: bool = False

    @classmethod
    def of(cls, declarations: Declarations) -> "Terms":
        """Return the calculus of a document, over the whole domain."""
        return cls(calculus(declarations), declarations)

    @property
    def unbounded(self) -> tuple[Block, ...]:
        """The blocks that can go to infinity."""
        return tuple(block for block in self.declarations.blocks if block.domain.name not in COMPACT)

    def blocks(self, factors: Iterable[Factor]) -> frozenset[str]:
        """Return the blocks that a product depends on."""
        return blocks_in(self.c, Tensor((), (Term(ONE, tuple(factors)),)))

    def bound(self, factors: Iterable[Factor]) -> Bound | None:
        """Return a bound of a product by powers; None where none is known.

        theta_i r_j r_j has 1 in theta and 2 in r, sin(theta_i) nothing, log(1 + theta_i**2) one logarithm.
        """
        found = self.bound_locally(factors)
        return None if found is None or found.is_steep else found

    def bound_locally(self, factors: Iterable[Factor]) -> Bound | None:
        """Return a bound of a product, one on bounded sets included; None where it may be singular."""
        total, every = Bound(), tuple(factors)
        for factor in every:
            if self._is_logarithm_of_coordinate(factor, every):
                total *= Bound(logs=ceil(factor[1]))
                continue
            found = self._bound_factor(factor) if self.blocks([factor]) else Bound()
            if found is None:
                return None
            total *= found
        return total

    def bound_sum(self, tensor: Tensor) -> Bound | None:
        """Return a bound of every term of a sum."""
        total = Bound()
        for term in tensor.terms:
            found = self.bound_locally(term.factors)
            if found is None:
                return None
            total |= found
        return total

    def _bound_factor(self, factor: Factor) -> Bound | None:
        atom, exponent = factor
        match atom:
            case Coordinate(name, _) if exponent > 0:
                block = self.declarations.find(name)
                compact = isinstance(block, Block) and block.domain.name in COMPACT
                return Bound() if compact else Bound({name: exponent})
            case Coordinate():
                return Bound() if self._is_kept_from_zero(factor) else None
            case Applied("exp", (arg,)) if is_nonnegative(self.c.rules, self.c.scale(arg, -exponent)):
                return Bound()  # exp(-|theta|**2) is at most 1
            case Applied(fn, (arg,)) if exponent > 0 and fn in FUNCTIONS:
                return self._bound_function(fn, arg, exponent)
            case Applied(fn, (*_, yes, no)) if exponent > 0 and fn.split()[0] in {"where", "maximum", "minimum"}:
                one, other = self.bound_sum(yes), self.bound_sum(no)
                return None if one is None or other is None else (one | other) ** exponent
            case Base(arg) if exponent > 0:
                inner = self.bound_sum(arg)
                return None if inner is None else inner**exponent
            case Base(arg) if is_bounded_below(self.c, arg) or (
                arg.terms and all(map(self._is_kept_positive, arg.terms))
            ):
                return Bound()
            case _:
                return None

    def _bound_function(self, fn: str, arg: Tensor, exponent: Fraction) -> Bound | None:
        """Return the bound of a power of a function: bounded, like its argument, like a logarithm, or steep."""
        row = FUNCTIONS[fn]
        if row.bounded:
            return Bound()
        inner = self.bound_sum(arg)
        if inner is None or row.ends is not None:
            return None if inner is None else inner**exponent
        if row.logarithm_of:
            known = is_bounded_below(self.c, written(self.c, row.logarithm_of, arg))
            return Bound(logs=ceil(exponent), is_steep=inner.is_steep) if known else None
        if not row.total:
            return None
        return Bound(is_steep=bool(self.blocks([(Applied(fn, (arg,)), ONE)]) & {b.name for b in self.unbounded}))

    def is_abstract(self, factors: Iterable[Factor]) -> bool:
        """Whether a function of the state, of which nothing but its kind is known, occurs in a product."""
        names = {name for name, _ in self.c.rules.depends}
        atoms = everywhere(Tensor((), (Term(ONE, tuple(factors)),)))
        return any(isinstance(atom, Component) and atom.name in names for atom in atoms)

    def is_steep(self, factors: Iterable[Factor]) -> bool:
        """Whether a product has a factor, without a known bound, that holds something steeper than any power."""
        return any(
            self.bound([factor]) is None
            and any(
                isinstance(atom, Applied) and atom.fn in STEEP
                for atom in everywhere(Tensor((), (Term(ONE, (factor,)),)))
            )
            for factor in factors
        )

    def find_falling_logarithm(self, term: Term) -> Factor | None:
        """Return the factor log(x) of a term `-k log(x)`, k >= 0 and x a positive coordinate: at most a bound times k.

        It is negative for x > 1, and k log(x) is bounded by the rest of k for x <= 1.
        """
        own = [f for f in term.factors if f[1] == 1 and self._is_logarithm_of_coordinate(f, term.factors)]
        if term.coefficient > 0 or len(own) != 1:
            return None
        rest = tuple(f for f in term.factors if f is not own[0])
        return own[0] if is_nonnegative(self.c.rules, Tensor((), (Term(ONE, rest),))) else None

    def _is_kept_from_zero(self, factor: Factor) -> bool:
        """Whether a factor is a power of a coordinate that stays at a distance from 0, as it does from all faces."""
        match factor[0]:
            case Coordinate(name, _):
                return self.away and name in self.c.rules.nonnegative
            case _:
                return False

    def _is_kept_positive(self, term: Term) -> bool:
        return term.coefficient > 0 and all(
            factor_is_positive(self.c.rules, factor)
            if not self.blocks([factor])
            else factor[1] > 0 and self._is_kept_from_zero(factor)
            for factor in term.factors
        )

    def _is_logarithm_of_coordinate(self, factor: Factor, beside: Iterable[Factor]) -> bool:
        """Whether a factor is log(x)**n, x > 0 kept from 0 or with a power of x beside it: x log(x) -> 0 as x -> 0."""
        atom, exponent = factor
        match atom:
            case Applied("log", (Tensor(_, (Term(_, ((Coordinate(name, _) as x, power),)),)),)) if power > 0:
                known = name in self.c.rules.nonnegative and exponent > 0 and exponent.denominator == 1
                return known and (self.away or any(other == x and e > 0 for other, e in beside))
            case _:
                return False

    # From below: what confines each block, and whether it outweighs everything else.

    def classify_hessian(self, block: Block, terms: Iterable[Term]) -> Definiteness:
        """Return the definiteness of the Hessian, [n, n], of the terms that are of degree two in a block."""
        forms = [term for term in terms if self._is_form(block, term)]
        if not forms or len(block.shape.sizes) > 1:
            return Definiteness.UNKNOWN
        slope = self.c.diff(self.c.collect(forms, ()), row_coordinate(block))
        return definiteness(self.c, self.c.diff(slope, col_coordinate(block)))

    def _is_definite_given(self, block: Block, terms: Iterable[Term], held: Set[str]) -> bool:
        """Whether the forms in a block that hold only blocks of some set beside it are definite: then all are bounded.

        On a compact set, without faces, a definite form is at least c |z|**2, c > 0. x**2/(1 + y**2) + y**2/(1 + x**2)
        stays below 2 on x = y: neither of its forms holds a block that is confined before.
        """
        own = [term for term in terms if self.blocks(term.factors) <= {block.name, *held}]
        return self.classify_hessian(block, own) is Definiteness.DEFINITE

    def _is_form(self, block: Block, term: Term) -> bool:
        """Whether a term is of degree two in a block, as r_i r_j A_ij with any other factors."""
        ours = [(a, e) for a, e in term.factors if isinstance(a, Coordinate) and a.block == block.name]
        rest = [factor for factor in term.factors if factor not in ours]
        return (
            sum(e for _, e in ours) == 2 and block.name not in self.blocks(rest) and all(e in (1, 2) for _, e in ours)
        )

    def list_signed_terms(self, terms: Iterable[Term]) -> list[Term]:
        """Return the terms that are not shown to be nonnegative: by signs, or as semidefinite forms in one block."""
        left = [term for term in terms if not is_nonnegative(self.c.rules, Tensor((), (term,)))]
        for block in self.declarations.blocks:
            forms = [term for term in left if self._is_form(block, term)]
            known = self.classify_hessian(block, forms) is not Definiteness.UNKNOWN
            left = [
                t
                for t in left
                if t not in forms or not (known or self.classify_hessian(block, [t]) is not Definiteness.UNKNOWN)
            ]
        return left

    def find_confinement(self, block: Block, own: Iterable[Term]) -> Confinement | None:
        """Return what confines a block z, out of the terms that depend on it alone: the fastest c |z|**g - C shown.

        Powers sum_i w_i |z_i|**e with w_i > 0, g = e; powers of such sums, (1 + |z|**2)**(1/2) with g = 1; and
        quadratic forms whose Hessian, [n, n], is positive definite, g = 2. None where nothing does.
        """
        alone = tuple(term for term in own if self.blocks(term.factors) == {block.name})
        found = [
            Confinement(e, (term,)) for term in alone if (e := _find_definite_degree(self.c, block, term)) is not None
        ]
        for term in alone:
            power = self._match_power_of_sum(term)
            inner = None if power is None else self.find_lower_growth((block,), power[0])
            if power is not None and inner is not None:
                found.append(Confinement(inner * power[1], (term,)))
        if self.classify_hessian(block, alone) is Definiteness.DEFINITE:
            found.append(Confinement(Fraction(2), tuple(term for term in alone if self._is_form(block, term))))
        return max(found, key=lambda one: one.degree, default=None)

    def find_confinements(
        self,
        blocks: Iterable[Block],
        terms: Sequence[Term],
        besides: Mapping[str, Fraction] | None = None,
        *,
        pointwise: frozenset[str] | None = None,
    ) -> dict[str, Confinement] | str:
        """Return what confines each unbounded block, if together it outweighs every other term; else why not, as text.

        sum terms >= sum_b c |z_b|**g_b - C prod_b (1 + |z_b|)**s_b with sum_b s_b/g_b < 1 for every product left.

        Args:
            blocks: the blocks; those of compact domains need nothing.
            terms: a sum that depends on these blocks.
            besides: degrees of blocks that are confined by a large multiple of |z_b|**g_b next to the sum.
            pointwise: blocks that are confined in another way. A form that is definite in a block, for all values of
                these and of blocks confined before it, confines it with no degree.
        """
        found = {name: Confinement(degree, ()) for name, degree in (besides or {}).items()}
        left: list[Block] = []
        for block in (block for block in blocks if block.domain.name not in COMPACT):
            confinement = self.find_confinement(block, terms)
            if confinement is not None:
                found[block.name] = confinement
            elif block.name not in found:
                left.append(block)
        held = {*found, *(pointwise or ()), *(b.name for b in self.declarations.blocks if b.domain.name in COMPACT)}
        open_ = set() if self.away else {block.name for block in list_blocks_with_boundary(self.declarations)}
        while left:
            block = next(
                (b for b in left if pointwise is not None and self._is_definite_given(b, terms, held - open_)), None
            )
            if block is None:
                return f"{UNCONFINED}{left[0].name}"
            left.remove(block)
            held.add(block.name)
        used = {term for one in found.values() for term in one.terms}
        degrees = {name: one.degree for name, one in found.items()}
        for term in self.list_signed_terms(term for term in terms if term not in used):
            if not all(self._is_outweighed(part, degrees, besides or {}) for part in list_bounding_terms(self.c, term)):
                return f"{text(self.c.collect([term], ()))} is not dominated"
        return found

    def _is_outweighed(self, term: Term, degrees: Mapping[str, Fraction], besides: Mapping[str, Fraction]) -> bool:
        """Whether confining terms dominate a term, or a large multiple of |z_b|**besides[b] does."""
        bound = self.bound(term.factors)
        share = None if bound is None else bound.compute_share(degrees)
        if bound is None or share is None:
            return False
        by_multiple = all(degrees[name] == besides.get(name) for name, power in bound.powers.items() if power > 0)
        return share < 1 or (share == 1 and not bound.logs and by_multiple)

    def find_lower_growth(self, group: Sequence[Block], tensor: Tensor) -> Fraction | None:
        """Return g > 0 with tensor >= c |z|**g - C, z all blocks of a group together; None where none is known."""
        names = {block.name for block in group}
        own = [term for term in tensor.terms if self.blocks(term.factors) <= names]
        others = (term for term in tensor.terms if term not in own)
        if tensor.free or not all(is_nonnegative(self.c.rules, Tensor((), (term,))) for term in others):
            return None
        found = self.find_confinements(group, own)
        return None if isinstance(found, str) else min((one.degree for one in found.values()), default=None)

    def _match_power_of_sum(self, term: Term) -> tuple[Tensor, Fraction] | None:
        """Return a and e > 0 of `k a**e`, k a positive constant and a a whole sum."""
        moving = [factor for factor in term.factors if self.blocks([factor])]
        match moving:
            case [(Base(arg), exponent)] if exponent > 0 and not arg.free and term.coefficient > 0:
                rest = (factor for factor in term.factors if factor not in moving)
                return (arg, exponent) if all(factor_is_positive(self.c.rules, factor) for factor in rest) else None
            case _:
                return None


def _find_definite_degree(c: Calculus, block: Block, term: Term) -> Fraction | None:
    """Return the degree of a product of sums `sum_k w_k |z_k|**e` with positive w, None of anything else."""
    if term.coefficient <= 0:
        return None
    total = Fraction(0)
    seen: set[Index] = set()
    for factor in term.factors:
        atom, exponent = factor
        if not blocks_in(c, Tensor((), (Term(ONE, (factor,)),))):
            if not factor_is_positive(c.rules, factor):
                return None
            continue
        at = [slot for slot in slots(atom) if isinstance(slot, Index)]
        if not _is_coordinate_or_modulus(atom) or exponent <= 0 or not factor_is_nonnegative(c.rules, factor):
            return None
        if len(at) != len(block.shape.sizes) or seen & set(at) or len(set(at)) < len(at):
            return None  # a diagonal, sum_i z[i, i]**e, says nothing of the rest of a matrix
        seen |= set(at)
        total += exponent
    return total if total > 0 and indices(term.factors) <= seen else None


def _is_coordinate_or_modulus(atom: object) -> bool:
    """Whether an atom is a coordinate, or its absolute value."""
    match atom:
        case Coordinate():
            return True
        case Applied("abs", (Tensor(_, (Term(_, ((Coordinate(), _),)),)),)):
            return True
        case _:
            return False


def is_bounded_below(c: Calculus, arg: Tensor) -> bool:
    """Whether a sum is at least a positive constant: no term is negative, and one is a positive constant.

    1 + |x|**2 is. False may mean that it was not shown.
    """
    constants = [Tensor(arg.free, (t,)) for t in arg.terms if not blocks_in(c, Tensor(arg.free, (t,)))]
    return is_nonnegative(c.rules, arg) and any(is_positive(c.rules, one) for one in constants)


def list_bounding_terms(c: Calculus, term: Term) -> tuple[Term, ...]:
    """Return terms, of any sign, that grow at least as fast as a given term may fall; the term itself if it has no log.

    For constants p_k > 0, log(sum_k p_k exp(a_k)) lies between log(p_1) + a_1 and log(sum_k p_k) + max_k a_k, so
    |K log(sum_k p_k exp(a_k))| <= |K| (C + sum_k |a_k|), term by term of the a_k. Where K < 0, terms of a_k that are
    never positive only help and are dropped: log(sum_k p_k exp(a_k - q_k)) <= log(sum_k p_k exp(a_k)) for q_k >= 0.
    """
    logs = [factor for factor in term.factors if isinstance(factor[0], Applied) and factor[0].fn == "log"]
    rest = tuple(factor for factor in term.factors if factor not in logs)
    match logs:
        case [(Applied(_, (arg,)), exponent)] if exponent == 1 and (found := _list_exponents(c, arg)) is not None:
            falls = term.coefficient < 0 and all(factor_is_nonnegative(c.rules, factor) for factor in rest)
            help_ = [
                t for t in found if falls and is_nonnegative(c.rules, Tensor((), (Term(-t.coefficient, t.factors),)))
            ]
            return (Term(ONE, rest), *(Term(ONE, (*rest, *t.factors)) for t in found if t not in help_))
        case _:
            return (term,)


def _list_exponents(c: Calculus, arg: Tensor) -> list[Term] | None:
    """Return the terms of all exponents a_k of arg = sum_k p_k exp(a_k), p_k > 0 constant; None for any other sum."""
    found: list[Term] = []
    for term in arg.terms:
        own = [f for f in term.factors if isinstance(f[0], Applied) and f[0].fn == "exp" and f[1] == 1]
        rest = tuple(factor for factor in term.factors if factor not in own)
        constant = not blocks_in(c, Tensor((), (Term(ONE, rest),)))
        if term.coefficient <= 0 or not constant or not all(factor_is_positive(c.rules, factor) for factor in rest):
            return None
        found += [inner for atom, _ in own if isinstance(atom, Applied) for inner in atom.args[0].terms]
    return found

"""What must vanish for a claim to hold, as polynomial equations in unknown scalars of the document.

A tensor is put over a common denominator, and the coefficients of what is no constant are set to 0. Factors with
indices stay what they are, a key each term has. The others are generators; a sum that is divided by or raised to a
fraction is one too, and its whole powers are multiplied out.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor, lcm

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from recipe_compiler.derive.recipe import (
    Derivation,
    Matrix,
    Vector,
    apply_matrix,
    derive,
    divergence,
    matrix,
    row_slots,
    vector,
)
from recipe_compiler.explain.repair.ratios import Constants, Poly
from recipe_compiler.formula.block_matrices import zeros
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.atoms import ONE, Factor, indices
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.order import spell, spell_factors
from recipe_compiler.tensor.terms import Atom, Base, Component, Coordinate, SizeNumber, Tensor, Term
from recipe_compiler.verify.core.stratonovich import ito_drift

MAX_GENERATORS = 64
MAX_DEGREE = 24
"""Powers of sums beyond this are not multiplied out: nothing is read off."""

MAX_TERMS = 3000
"""Defects of more terms are not looked at."""


class NotPolynomialError(Exception):
    """A tensor that cannot be read as polynomials."""


@dataclass(slots=True)
class _Ring:
    """The generators of one tensor: its atoms without indices, each to the smallest fraction of a power it has."""

    constants: Constants
    names: dict[str, int] = field(default_factory=dict[str, int])
    roots: dict[str, int] = field(default_factory=dict[str, int])
    """The common denominator of an atom's exponents."""
    sums: dict[str, Base] = field(default_factory=dict[str, Base])
    """The sums whose whole powers are multiplied out."""
    context: fmpq_mpoly_ctx | None = None
    known: dict[tuple[str, int], fmpq_mpoly] = field(default_factory=dict[tuple[str, int], fmpq_mpoly])
    """Powers of sums."""

    def add(self, tensor: Tensor) -> None:
        """Note the generators of a tensor, those of its sums first."""
        for term in tensor.terms:
            for atom, exponent in term.factors:
                if indices(((atom, ONE),)):
                    continue
                key = _key(atom, self.constants)
                if isinstance(atom, Base) and is_plain(atom.arg):
                    if key not in self.sums:
                        self.add(atom.arg)
                    self.sums[key] = atom
                self.names.setdefault(key, len(self.names))
                self.roots[key] = lcm(self.roots.get(key, 1), exponent.denominator)

    def close(self) -> fmpq_mpoly_ctx:
        """Return the ring of polynomials in the generators."""
        if len(self.names) > MAX_GENERATORS:
            raise NotPolynomialError
        self.context = fmpq_mpoly_ctx.get([f"g{n}" for n in range(max(len(self.names), 1))], Ordering.degrevlex)
        return self.context


def is_plain(tensor: Tensor) -> bool:
    """Whether no index occurs in a tensor, nor in any sum inside it."""
    return all(
        not indices(((atom, ONE),)) and (not isinstance(atom, Base) or is_plain(atom.arg))
        for term in tensor.terms
        for atom, _ in term.factors
    )


def coefficients(tensor: Tensor, constants: Constants) -> list[Poly]:
    """Return polynomials in the constants that all vanish only where the tensor does.

    Where its atoms are independent, the tensor vanishes nowhere else.

    (c - 1) r_i + (c**2 - a) theta_i has c - 1 and c**2 - a.

    Raises:
        NotPolynomialError: more generators or higher powers than are read.
    """
    groups: dict[str, list[Term]] = {}
    for term in tensor.terms:
        rest = [factor for factor in term.factors if indices((factor,))]
        groups.setdefault(spell_factors(rest), []).append(term)
    found: list[Poly] = []
    for name in sorted(groups):
        part = Tensor((), tuple(groups[name]))
        ring = _Ring(constants)
        ring.add(part)
        ring.close()
        found += _by_constants(_numerator(groups[name], ring), ring)
    return found


def _numerator(terms: Sequence[Term], ring: _Ring) -> fmpq_mpoly:
    """Return the sum of terms times what clears every denominator."""
    powers = [dict(_powers(term.factors, ring)) for term in terms]
    lowest = {key: min(0, *(floor(own.get(key, Fraction(0))) for own in powers)) for key in ring.names}
    context = ring.context
    if context is None:
        raise NotPolynomialError
    total = context.constant(0)
    for term, own in zip(terms, powers, strict=True):
        product = context.constant(fmpq(term.coefficient.numerator, term.coefficient.denominator))
        exponents = [0] * max(len(ring.names), 1)
        for key, at in ring.names.items():
            whole, part = divmod(own.get(key, Fraction(0)) - lowest[key], 1)
            if key in ring.sums:
                if whole > MAX_DEGREE:
                    raise NotPolynomialError
                product = product * _power_of(key, int(whole), ring) if whole else product
                whole = 0
            exponents[at] = int((whole + part) * ring.roots[key])
        total += product * context.from_dict({tuple(exponents): fmpq(1)})
    return total


def _power_of(key: str, exponent: int, ring: _Ring) -> fmpq_mpoly:
    """Return a whole power of a sum, remembered."""
    found = ring.known.get((key, exponent))
    if found is None:
        found = ring.known[key, exponent] = _polynomial(ring.sums[key].arg, ring) ** exponent
    return found


def _polynomial(tensor: Tensor, ring: _Ring) -> fmpq_mpoly:
    """Return a sum without indices as a polynomial, its own fractions left to fail."""
    if any(exponent < 0 for term in tensor.terms for _, exponent in term.factors):
        raise NotPolynomialError
    return _numerator(tensor.terms, ring)


def _powers(factors: Sequence[Factor], ring: _Ring) -> Iterator[tuple[str, Fraction]]:
    for atom, exponent in factors:
        if not indices(((atom, ONE),)):
            yield _key(atom, ring.constants), exponent


def _by_constants(poly: fmpq_mpoly, ring: _Ring) -> list[Poly]:
    """Return the coefficients, polynomials in the constants, of the products of the other generators."""
    own = {at: ring.constants.names.index(key[1:]) for key, at in ring.names.items() if key.startswith("=")}
    roots = {at: ring.roots[key] for key, at in ring.names.items()}
    groups: dict[tuple[int, ...], dict[tuple[int, ...], fmpq]] = {}
    width = max(len(ring.constants.names), 1)
    for exponents, coefficient in poly.to_dict().items():
        outside = tuple(0 if at in own else int(e) for at, e in enumerate(exponents))
        inside = [0] * width
        for at, e in enumerate(exponents):
            if at in own:
                whole, part = divmod(int(e), roots[at])
                inside[own[at]] = whole
                if part:
                    outside = (*outside[:at], part, *outside[at + 1 :])
        groups.setdefault(outside, {})[tuple(inside)] = coefficient
    return [ring.constants.context.from_dict(groups[key]) for key in sorted(groups)]


def _key(atom: Atom, constants: Constants) -> str:
    """Return the name of a generator; that of a constant starts with `=`."""
    match atom:
        case SizeNumber(name) | Component(name, (), ()) if name in constants.names:
            return f"={name}"
        case _:
            return spell(atom)


def derivation_of(dynamics: Dynamics) -> Derivation:
    """Return the derivation, with the claimed diffusion where D is not given and Q = 0 where Q is not."""
    D = dynamics.D or dynamics.claims.diffusion
    return derive(replace(dynamics, D=D, Q=dynamics.Q or zeros(dynamics.declarations.blocks)))


def defects(dynamics: Dynamics, *, derived: bool) -> tuple[Tensor, ...]:
    """Return what has to vanish for the claim to hold.

    With `derived` (D and Q given) f - [-(D + Q) grad H + Gamma] block by block, [n_b], and the claimed diffusion less D
    place by place, [n_a, n_b]. Otherwise the Fokker-Planck residual of the claim, one scalar. (Ma, Chen, Fox 2015, Eqs.
    3 and 5.)

    Raises:
        ModelError: a formula that has no meaning in index notation.
        NotConvertedError: a Stratonovich drift whose Ito drift is not known.
    """
    derivation = derivation_of(dynamics)
    declarations = dynamics.declarations
    c = calculus(declarations)
    D = dynamics.claims.diffusion or dynamics.D or ()
    stated = ito_drift(dynamics, D)
    drift, diffusion = vector(stated, declarations), matrix(D, declarations)
    if not derived:
        return (_residual(c, derivation, drift, diffusion),)
    drifts = [c.subtract(one, other) for one, other in zip(drift, derivation.drift, strict=True)]
    noises = [c.subtract(x, y) for p, q in zip(diffusion, derivation.D, strict=True) for x, y in zip(p, q, strict=True)]
    return (*drifts, *noises)


def _residual(c: Calculus, derivation: Derivation, drift: Vector, D: Matrix) -> Tensor:
    """Return -(div - grad H .)(f - div D + D grad H), as it comes: what holds unknowns hardly cancels."""
    blocks = derivation.dynamics.declarations.blocks
    pushed = apply_matrix(c, blocks, D, derivation.grad_H)
    spread = divergence(c, blocks, D)
    parts = [c.zero()]
    for block, f, slope, push, grad in zip(blocks, drift, spread, pushed, derivation.grad_H, strict=True):
        flux, slots = c.add(f, c.scale(slope, -1), push), row_slots(block)
        out = c.diff(flux, Coordinate(block.name, slots))
        parts.append(c.total(c.subtract(c.multiply(flux, grad), out), *slots))
    return c.add(*parts)


def equations(tensors: Iterable[Tensor], c: Calculus, ring: Constants) -> list[Poly]:
    """Return the coefficients that must vanish, one for each product of quantities that are not constant.

    These products count as independent, so a solution is a guess that needs a proof of its own; so does one found after
    a tensor that was too large has been left out.
    """
    found: list[Poly] = []
    for tensor in tensors:
        try:
            whole = cleared(c, tensor)
            if len(whole.terms) <= MAX_TERMS:
                found += coefficients(whole, ring)
        except NotPolynomialError:
            continue
    return found


def cleared(c: Calculus, tensor: Tensor) -> Tensor:
    """Return a tensor times the sums over indices that its terms are divided by: no such denominator is left."""
    lowest: dict[Base, Fraction] = {}
    for term in tensor.terms:
        for atom, exponent in term.factors:
            if isinstance(atom, Base) and exponent < 0 and not indices(((atom, ONE),)) and not is_plain(atom.arg):
                lowest[atom] = min(lowest.get(atom, Fraction(0)), exponent)
    if not lowest or len(tensor.terms) > MAX_TERMS:
        return tensor
    return c.add(*(_lifted(c, term, tensor, lowest) for term in tensor.terms))


def _lifted(c: Calculus, term: Term, tensor: Tensor, lowest: dict[Base, Fraction]) -> Tensor:
    powers = dict(term.factors)
    more: list[Tensor] = []
    for base, low in lowest.items():
        exponent = powers.pop(base, Fraction(0)) - low
        whole, part = divmod(exponent, 1)
        more += [base.arg] * int(whole)
        if part:
            powers[base] = part
    return c.multiply(c.collect([Term(term.coefficient, tuple(powers.items()))], tensor.free), *more)

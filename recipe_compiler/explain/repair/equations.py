"""What must vanish for a claim to hold, as polynomial equations in unknown scalars of the document."""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from recipe_compiler.derive.recipe import (
    Derivation,
    Matrix,
    Vector,
    apply_matrix,
    col_slots,
    derive,
    divergence,
    row_slots,
)
from recipe_compiler.explain.repair.coefficients import TooLargeError, coefficients, is_plain
from recipe_compiler.explain.repair.ratios import Constants, Poly
from recipe_compiler.formula.block_matrices import zeros
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.atoms import ONE, indices
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Base, Coordinate, Tensor, Term
from recipe_compiler.verify.core.stratonovich import ito_drift

MAX_TERMS = 3000
"""Defects of more terms are not looked at."""


def derivation_of(dynamics: Dynamics) -> Derivation:
    """Return the derivation with the claimed diffusion where D is not given, and Q = 0 where Q is not."""
    D = dynamics.D or dynamics.claims.diffusion
    return derive(replace(dynamics, D=D, Q=dynamics.Q or zeros(dynamics.declarations.blocks)))


def defects(dynamics: Dynamics, *, derived: bool) -> tuple[Tensor, ...]:
    """Return what must vanish: the claimed drift and diffusion less the derived ones, or the residual of the claim.

    `derived` asks for the first, which needs D and Q.

    Raises:
        ModelError: a formula that has no meaning in index notation.
        NotConvertedError: a Stratonovich drift whose Ito drift is not known.
    """
    derivation = derivation_of(dynamics)
    declarations = dynamics.declarations
    blocks = declarations.blocks
    c = calculus(declarations)
    D = dynamics.claims.diffusion or dynamics.D or ()
    stated = ito_drift(dynamics, D)
    drift = tuple(convert(f, declarations, *row_slots(block)) for f, block in zip(stated, blocks, strict=True))
    diffusion = tuple(
        tuple(
            convert(place, declarations, *row_slots(row), *col_slots(col))
            for place, col in zip(line, blocks, strict=True)
        )
        for line, row in zip(D, blocks, strict=True)
    )
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
    """Return the coefficients that must vanish, one for each product of what is no constant.

    What is no constant counts as independent, so a solution is a guess that needs its own proof; so it does where a
    tensor is too large and is left out.
    """
    found: list[Poly] = []
    for tensor in tensors:
        try:
            whole = cleared(c, tensor)
            if len(whole.terms) <= MAX_TERMS:
                found += coefficients(whole, ring)
        except TooLargeError:
            continue
    return found


def cleared(c: Calculus, tensor: Tensor) -> Tensor:
    """Return a multiple of a tensor by the sums over indices that its terms are divided by, multiplied out."""
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

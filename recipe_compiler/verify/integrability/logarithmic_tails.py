"""Energies that grow like a logarithm: heavy tails over blocks of any size.

If H = sum_k K_k log(f_k) up to bounded terms, and f_k lies between two multiples of |z|**g_k far out, then exp(-H)
falls like |z|**-sum_k(K_k g_k). In n dimensions its integral is finite if and only if sum_k K_k g_k > n.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.elementwise import BOUNDED, LOGARITHMS
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.functions import inside_logarithm
from recipe_compiler.tensor.signs import is_nonnegative, is_positive
from recipe_compiler.tensor.terms import Applied, Tensor, Term
from recipe_compiler.verify.integrability.ends import EndCondition
from recipe_compiler.verify.integrability.growth import COMPACT, growth_above, growth_below, is_bounded_below

ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Tail:
    """What an integral needs at infinity, and whether that is necessary as well (`exact`)."""

    condition: EndCondition
    exact: bool


@dataclass(frozen=True, slots=True)
class _Logarithm:
    """`factor * log(arg)`."""

    factor: Tensor
    arg: Tensor


def tail(c: Calculus, declarations: Declarations, group: tuple[Block, ...], own: Sequence[Term]) -> Tail | None:
    """Return what int exp(-H) over some blocks needs at infinity, where H grows like a logarithm; None elsewhere.

    With H = sum_k K_k log(f_k) up to bounded terms, and f_k between two multiples of |z|**g_k far out, exp(-H) ~
    |z|**-sum_k(K_k g_k) in n dimensions: its integral is finite if and only if sum_k K_k g_k > n. Student's law, H =
    (nu + d)/2 log(1 + |x|**2/nu), has (nu + d)/2 * 2 = nu + d > d for every nu > 0. (Terms that are nonnegative and of
    another form are left out; the condition is then sufficient only.)

    Args:
        c: the calculus.
        declarations: the blocks with their domains.
        group: the blocks integrated over.
        own: the terms of the energy H.
    """
    unbounded = tuple(block for block in group if block.domain.name not in COMPACT)
    total, exact, found = c.zero(), True, False
    for term in own:
        logarithm = _logarithm(c, term)
        growth = None if logarithm is None else _growth(c, declarations, unbounded, logarithm)
        if growth is not None:
            total, exact, found = c.add(total, growth[0]), exact and growth[1], True
        elif is_nonnegative(c.rules, Tensor((), (term,))):
            exact = False
        elif not _is_bounded(c, term):
            return None
    if not found or not unbounded:
        return None
    dimension = c.add(c.zero(), *(c.multiply(c.constant(1), *map(c.size, b.shape.sizes)) for b in unbounded))
    needs = c.subtract(total, dimension)
    names = ", ".join(block.name for block in unbounded)
    return Tail(EndCondition(f"{names} -> oo", needs, is_positive(c.rules, needs), boundary=True), exact)


def _growth(
    c: Calculus, declarations: Declarations, group: tuple[Block, ...], logarithm: _Logarithm
) -> tuple[Tensor, bool] | None:
    """Return what `factor * log(arg)` is at least a multiple of log |z| of, and whether it is no more than that."""
    below = growth_below(c, declarations, group, logarithm.arg)
    above = growth_above(c, declarations, logarithm.arg)
    falls = is_nonnegative(c.rules, c.scale(logarithm.factor, -1))
    if not falls and not _stays_away_from_zero(c, declarations, logarithm.arg):
        return None
    if below is not None and below == above and not _holds_logarithm(logarithm.arg):
        return c.scale(logarithm.factor, below), True
    if below is not None and is_nonnegative(c.rules, logarithm.factor):
        return c.scale(logarithm.factor, below), False
    return (c.scale(logarithm.factor, above), False) if above is not None and falls else None


def _stays_away_from_zero(c: Calculus, declarations: Declarations, arg: Tensor) -> bool:
    """Whether what has a logarithm nears zero nowhere but, perhaps, at infinity: its domain then has no other edge."""
    blocks = (block for block in declarations.blocks if block.name in blocks_in(c, arg))
    return is_bounded_below(c, arg) or all(block.domain.name is DomainName.REAL for block in blocks)


def _holds_logarithm(arg: Tensor) -> bool:
    """Whether a bound of a sum by a power is not sharp."""
    return any(isinstance(atom, Applied) and atom.fn in LOGARITHMS for atom in everywhere(arg))


def _logarithm(c: Calculus, term: Term) -> _Logarithm | None:
    """Return a term as a constant times the logarithm of one sum."""
    moving = [factor for factor in term.factors if blocks_in(c, Tensor((), (Term(ONE, (factor,)),)))]
    match moving:
        case [(atom, exponent)] if exponent == 1 and (whole := inside_logarithm(c, atom)) and not whole.free:
            rest = tuple(factor for factor in term.factors if factor not in moving)
            return _Logarithm(c.collect([Term(term.coefficient, rest)], ()), whole)
        case _:
            return None


def _is_bounded(c: Calculus, term: Term) -> bool:
    """Whether a term is a constant times bounded functions."""
    moving = [factor for factor in term.factors if blocks_in(c, Tensor((), (Term(ONE, (factor,)),)))]
    return all(
        isinstance(atom, Applied) and atom.fn in BOUNDED and exponent > 0 and exponent.denominator == 1
        for atom, exponent in moving
    )

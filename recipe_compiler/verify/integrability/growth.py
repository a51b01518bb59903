"""How fast terms of an energy grow over blocks of any size: what confines, and what is dominated.

If H >= sum_b c |z_b|**g_b - C prod_b (1 + |z_b|)**s_b with sum_b s_b / g_b < 1, then exp(-H) has a finite integral:
by the weighted inequality of the means the product is at most a small share of the sum, plus a constant. A logarithm
grows more slowly than any power and needs no room of its own, the inequality being strict.

For positive constants p_k, log(sum_k p_k exp(a_k)) lies between log(p_1) + a_1 and log(sum_k p_k) + max_k a_k, so its
absolute value is at most C + max_k |a_k|.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.derive.recipe import col_slots, row_slots
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.elementwise import FUNCTIONS, Elementwise
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.tensor.atoms import Factor, indices, slots
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.definite import Definiteness, definiteness
from recipe_compiler.tensor.rule_tensors import written
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.signs import factor_is_nonnegative, factor_is_positive, is_nonnegative, is_positive
from recipe_compiler.tensor.terms import Applied, Base, Coordinate, Index, Tensor, Term

ONE = Fraction(1)
COMPACT = frozenset({DomainName.CIRCLE, DomainName.INTERVAL, DomainName.SIMPLEX})
UNCONFINED = "no term is known to confine "
"""How a reason begins that then names a block."""
Degrees = Mapping[str, Fraction]
"""By block, the power of its length that bounds a term."""


def bounding(c: Calculus, term: Term) -> tuple[Term, ...]:
    """Return terms, of any sign, that grow at least as fast as a given term may fall; the term itself if it has no log.

    For constants p_k > 0, |K log(sum_k p_k exp(a_k))| <= |K| (C + sum_k |a_k|), term by term of the a_k. Where K < 0,
    terms of a_k that are never positive only help and are dropped: log(sum_k p_k exp(a_k - q_k)) <= log(sum_k p_k
    exp(a_k)) for q_k >= 0.
    """
    logs = [factor for factor in term.factors if _is_log(factor)]
    rest = tuple(factor for factor in term.factors if factor not in logs)
    atom = logs[0][0] if len(logs) == 1 else None
    found = exponents(c, atom.args[0]) if isinstance(atom, Applied) else None
    if found is None:
        return (term,)
    falls = term.coefficient < 0 and all(factor_is_nonnegative(c.rules, factor) for factor in rest)
    kept = [t for t in found if not falls or not is_nonnegative(c.rules, _one(Term(-t.coefficient, t.factors)))]
    return (Term(ONE, rest), *(Term(ONE, (*rest, *t.factors)) for t in kept))


def exponents(c: Calculus, arg: Tensor) -> tuple[Term, ...] | None:
    """Return the terms of all exponents a_k of arg = sum_k p_k exp(a_k), p_k > 0 constant; None for any other sum."""
    found: list[Term] = []
    for term in arg.terms:
        own = [factor for factor in term.factors if _is_exponential(factor)]
        rest = tuple(factor for factor in term.factors if factor not in own)
        constant = not blocks_in(c, _one(Term(ONE, rest)))
        if term.coefficient <= 0 or not constant or not all(factor_is_positive(c.rules, factor) for factor in rest):
            return None
        found += [inner for atom, _ in own if isinstance(atom, Applied) for inner in atom.args[0].terms]
    return tuple(found)


def _one(term: Term) -> Tensor:
    return Tensor((), (term,))


def _is_log(factor: Factor) -> bool:
    atom, power = factor
    return isinstance(atom, Applied) and atom.fn == "log" and power == 1


def _is_exponential(factor: Factor) -> bool:
    atom, power = factor
    return isinstance(atom, Applied) and atom.fn == "exp" and power == 1


@dataclass(frozen=True, slots=True)
class Confinement:
    """What confines a block z: a lower bound c |z|**degree - C of the sum of these terms, c > 0."""

    degree: Fraction
    terms: tuple[Term, ...]


def degrees(c: Calculus, declarations: Declarations, factors: tuple[Factor, ...]) -> Degrees | None:
    """Return s_b with |product| <= C prod_b (1 + |z_b|)**s_b everywhere, z_b: [n_b]; None where none are known.

    theta_i r_j r_j has s = 1 in theta and 2 in r; a logarithm counts as 0, sin(theta_i) has none. Blocks of compact
    domains have none.
    """
    total: dict[str, Fraction] = {}
    for factor in factors:
        of_factor = _factor_degrees(c, declarations, factor)
        if of_factor is None:
            return None
        for block, degree in of_factor.items():
            total[block] = total.get(block, Fraction(0)) + degree
    return total


def _factor_degrees(c: Calculus, declarations: Declarations, factor: Factor) -> Degrees | None:
    atom, exponent = factor
    if not blocks_in(c, Tensor((), (Term(Fraction(1), (factor,)),))):
        return {}
    match atom:
        case Coordinate(name, _):
            if exponent < 0:
                return None
            return {name: exponent if _kind(declarations, name) not in COMPACT else Fraction(0)}
        case Applied("exp", (arg,)) if is_nonnegative(c.rules, c.scale(arg, -exponent)):
            return {}  # exp(-|theta|**2) is at most 1
        case Applied(fn, (arg,)) if exponent > 0 and fn in FUNCTIONS:
            return _applied_degrees(c, declarations, FUNCTIONS[fn], arg, exponent)
        case Base(arg) if exponent > 0:
            return _scaled(_largest(c, declarations, arg), exponent)
        case Base(arg) if is_bounded_below(c, arg):
            return {}
        case _:
            return None


def _applied_degrees(
    c: Calculus, declarations: Declarations, row: Elementwise, arg: Tensor, exponent: Fraction
) -> Degrees | None:
    """Return the degrees of a power of a function: bounded, like its argument, like a logarithm, or on compact sets."""
    if row.bounded:
        return {}
    inner = _largest(c, declarations, arg)
    if inner is None or row.ends is not None:
        return _scaled(inner, exponent)
    if row.logarithm_of:
        return _scaled(inner, Fraction(0)) if is_bounded_below(c, written(c, row.logarithm_of, arg)) else None
    compact = all(_kind(declarations, name) in COMPACT for name in blocks_in(c, arg))
    return {} if compact and row.total else None


def _largest(c: Calculus, declarations: Declarations, tensor: Tensor) -> Degrees | None:
    """Return degrees that bound every term of a sum."""
    total: dict[str, Fraction] = {}
    for term in tensor.terms:
        found = degrees(c, declarations, term.factors)
        if found is None:
            return None
        for block, degree in found.items():
            total[block] = max(total.get(block, Fraction(0)), degree)
    return total


def _scaled(found: Degrees | None, by: Fraction) -> Degrees | None:
    return None if found is None else {block: degree * by for block, degree in found.items()}


def is_bounded_below(c: Calculus, arg: Tensor) -> bool:
    """Whether a sum is at least a positive constant: no term is negative, and one is a positive constant.

    1 + |x|**2 is. False may mean that it was not shown.
    """
    if not is_nonnegative(c.rules, arg):
        return False
    constants = [Tensor(arg.free, (t,)) for t in arg.terms if not blocks_in(c, Tensor(arg.free, (t,)))]
    return any(is_positive(c.rules, one) for one in constants)


def _kind(declarations: Declarations, name: str) -> DomainName:
    item = declarations.find(name)
    return item.domain.name if isinstance(item, Block) else DomainName.REAL


def confinement(c: Calculus, declarations: Declarations, block: Block, own: tuple[Term, ...]) -> Confinement | None:
    """Return what confines a block z, out of the terms that depend on it alone: the fastest c |z|**g - C that is shown.

    Powers sum_i w_i |z_i|**e with w_i > 0, g = e; powers of such sums, (1 + |z|**2)**(1/2) with g = 1; and quadratic
    forms whose Hessian, [n, n], is positive definite, g = 2. None where nothing does.
    """
    found = [Confinement(degree, (term,)) for term in own if (degree := _definite_degree(c, block, term)) is not None]
    for term in own:
        power = _power_of_sum(c, term)
        inner = None if power is None else growth_below(c, declarations, (block,), power[0])
        if power is not None and inner is not None:
            found.append(Confinement(inner * power[1], (term,)))
    quadratic = tuple(term for term in own if _is_quadratic(c, block, term))
    if quadratic and _is_definite_form(c, block, quadratic):
        found.append(Confinement(Fraction(2), quadratic))
    return max(found, key=lambda one: one.degree, default=None)


def grown(
    c: Calculus, declarations: Declarations, group: tuple[Block, ...], own: Sequence[Term], left: Sequence[Term]
) -> dict[str, Confinement] | str:
    """Return what confines each block of a group, if it dominates every other term; otherwise why not, as text.

    H >= sum_b c |z_b|**g_b - C prod_b (1 + |z_b|)**s_b with sum_b s_b/g_b < 1 for every product that is left.

    Args:
        c: the calculus.
        declarations: the blocks with their domains; those of compact domains need nothing.
        group: the blocks.
        own: the terms of the energy that depend on these blocks alone.
        left: those of them that are not bounded below by themselves.
    """
    found: dict[str, Confinement] = {}
    for block in group:
        if block.domain.name in COMPACT:
            continue
        alone = tuple(term for term in own if blocks_in(c, Tensor((), (term,))) == frozenset({block.name}))
        confined = confinement(c, declarations, block, alone)
        if confined is None:
            return f"{UNCONFINED}{block.name}"
        found[block.name] = confined
    used = {term for confined in found.values() for term in confined.terms}
    for term in left:
        if term not in used and not all(_is_dominated(c, declarations, part, found) for part in bounding(c, term)):
            return f"{text(c.collect([term], ()))} is not dominated"
    return found


def _is_dominated(c: Calculus, declarations: Declarations, term: Term, by: Mapping[str, Confinement]) -> bool:
    bound = degrees(c, declarations, term.factors)
    return bound is not None and sum(s / by[b].degree for b, s in bound.items() if b in by) < 1


def growth_below(c: Calculus, declarations: Declarations, group: tuple[Block, ...], tensor: Tensor) -> Fraction | None:
    """Return g > 0 with tensor >= c |z|**g - C, z all blocks of a group together; None where none is known."""
    names = {block.name for block in group}
    signed = [term for term in tensor.terms if not is_nonnegative(c.rules, Tensor(tensor.free, (term,)))]
    own = [term for term in tensor.terms if blocks_in(c, Tensor(tensor.free, (term,))) <= names]
    if tensor.free or any(term not in own for term in signed):
        return None
    found = grown(c, declarations, group, own, signed)
    return None if isinstance(found, str) else min((one.degree for one in found.values()), default=None)


def growth_above(c: Calculus, declarations: Declarations, tensor: Tensor) -> Fraction | None:
    """Return s with |tensor| <= C (1 + |z|)**s, z all blocks together; None where none is known.

    Logarithms count as 0.
    """
    found = [degrees(c, declarations, term.factors) for term in tensor.terms]
    known = [sum(one.values(), Fraction(0)) for one in found if one is not None]
    return max(known, default=Fraction(0)) if len(known) == len(found) else None


def _power_of_sum(c: Calculus, term: Term) -> tuple[Tensor, Fraction] | None:
    """Return a and e > 0 of `k a**e`, k a positive constant and a a whole sum."""
    moving = [factor for factor in term.factors if blocks_in(c, Tensor((), (Term(Fraction(1), (factor,)),)))]
    match moving:
        case [(Base(arg), exponent)] if exponent > 0 and not arg.free and term.coefficient > 0:
            rest = (factor for factor in term.factors if factor not in moving)
            return (arg, exponent) if all(factor_is_positive(c.rules, factor) for factor in rest) else None
        case _:
            return None


def _definite_degree(c: Calculus, block: Block, term: Term) -> Fraction | None:
    """Return the degree of a product of sums `sum_k w_k |z_k|**e` with positive w, None of anything else."""
    if term.coefficient <= 0:
        return None
    total = Fraction(0)
    seen: set[Index] = set()
    for factor in term.factors:
        atom, exponent = factor
        holds = blocks_in(c, Tensor((), (Term(Fraction(1), (factor,)),)))
        if not holds:
            if not factor_is_positive(c.rules, factor):
                return None
            continue
        own = isinstance(atom, Coordinate) or (isinstance(atom, Applied) and atom.fn == "abs" and _is_coordinate(atom))
        at = [slot for slot in slots(atom) if isinstance(slot, Index)]
        if not own or exponent <= 0 or not factor_is_nonnegative(c.rules, factor) or len(at) != len(block.shape.sizes):
            return None
        if seen & set(at) or len(set(at)) < len(at):
            return None  # a diagonal, sum_i z[i, i]**e, says nothing of the rest of a matrix
        seen |= set(at)
        total += exponent
    return total if total > 0 and indices(term.factors) <= seen else None


def _is_coordinate(atom: Applied) -> bool:
    terms = atom.args[0].terms
    return len(terms) == 1 and len(terms[0].factors) == 1 and isinstance(terms[0].factors[0][0], Coordinate)


def _is_quadratic(c: Calculus, block: Block, term: Term) -> bool:
    """Whether a term is of degree two in a block, with factors that are constant otherwise."""
    powers = [exponent for atom, exponent in term.factors if isinstance(atom, Coordinate) and atom.block == block.name]
    rest = tuple(f for f in term.factors if not (isinstance(f[0], Coordinate) and f[0].block == block.name))
    constant = not blocks_in(c, Tensor((), (Term(Fraction(1), rest),)))
    return constant and sum(powers) == 2 and all(p.denominator == 1 for p in powers)


def _is_definite_form(c: Calculus, block: Block, terms: tuple[Term, ...]) -> bool:
    if len(block.shape.sizes) > 1:
        return False
    form = c.collect(terms, ())
    slope = c.diff(form, Coordinate(block.name, row_slots(block)))
    hessian = c.diff(slope, Coordinate(block.name, col_slots(block)))
    return definiteness(c, hessian) is Definiteness.DEFINITE

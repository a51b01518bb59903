"""Series whose scale passes from row to row: its posterior is finite where data differ, whatever the scale has been.

Let datum n have the density p h(p r_n), r_n = y_n - c_n - sum_j x_nj theta_j, 1/p its scale, with abs(u) h(u) and h
bounded, and let the state s before row n be at least omega > 0, p = s**-k, k = 1/2 or 1. Then for all s

    f_n <= C min(omega**-k, 1/abs(r_n)).

*Near.* Forms that do not vanish together are not all below some delta > 0 at any theta. So those that are, S, vanish
together somewhere; with e = |S| - rank S they leave omega**(-k e) (1 + abs(log omega))**rank S once theta is integrated
over, whose law has a bounded density. It is integrable where the law of omega is at most C omega**(a - 1), k e < a.

*Returning.* Let h fall faster than any power, and let what is before the next row be at most C (abs(r_n)**(1/k) + s).
With t_n = abs(r_n)/s_n**k it is at most C (1 + t_n)**(1/k) s_n, and h(t_n) takes all powers of t_n: if
abs(r_n') >= delta, s_n'**-k h(r_n'/s_n'**k) <= C s_n'**K for every K >= 0, and K = n' k takes all scales before n':

    prod_(n <= n') f_n <= C,    and <= C prod_(n <= n') (1 + abs(r_n))**-(1 - eta) for every eta > 0.

A scale is not small and then, with nothing to raise it, large. So only data after the last one that is far are near:
S is within the longest end of the series whose forms vanish together, in the place of any forms that do.

*Far out.* Of theta without a law, data that are never near are to hold two disjoint sets that determine theta: then
int prod (1 + abs(r_n))**-(1 - eta) is finite over what S leaves (Cauchy and Schwarz), and for omega >= 1 all of them
give omega**(-k (N - p)), p the number of theta. Where theta has a law that is omega**(-k N). So omega may have no law
where the exponent is below -1; it is integrated over, as are all other blocks before theta, being bounded or of proper
laws. A first row whose scale is a number is at most a constant.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import fmpq

from recipe_compiler.formula.build import add, multiply, negate
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Add, Apply, Compare, Formula, Multiply, Number, Power, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import RowState, StatedDensity, Target
from recipe_compiler.spec.recursion import of_rows
from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.cases import Sample
from recipe_compiler.verify.builds.proper_prior import ZERO, floors, has_known_ends, integrated_out
from recipe_compiler.verify.builds.recursion import read_alike
from recipe_compiler.verify.builds.target import beside_states, defined
from recipe_compiler.verify.core.premises import holds
from recipe_compiler.verify.from_data.energy import Form
from recipe_compiler.verify.from_data.fitted import consistent_end, disjoint_bases, excess, most_together
from recipe_compiler.verify.from_data.ranks import rank_of
from recipe_compiler.verify.from_data.reading import Known, read
from recipe_compiler.verify.from_data.values import NotReadError, at_row, scaled
from recipe_compiler.verify.integrability.bounded import bounded_above

METHOD = "a scale that is never below a block, data that differ"
ONE, HALF = Fraction(1), Fraction(1, 2)

OF_LIGHT_ERRORS = frozenset(("normal", "laplace", "logistic"))
"""Laws of a location and a scale with h falling faster than any power."""
OF_ERRORS = OF_LIGHT_ERRORS | {"cauchy"}
"""Such with abs(u) h(u) bounded; Student's with degrees of freedom that are a number, too."""
OF_LOCATIONS = OF_ERRORS | {"student_t"}
"""Laws with a bounded density."""
BOUNDED_AT_0 = frozenset(
    (
        *("half_normal", "half_cauchy", "half_student_t", "exponential", "uniform"),
        *("normal", "student_t", "cauchy", "laplace", "logistic"),
    )
)
"""Laws of omega with a bounded density."""
OF_A_POWER = frozenset(("gamma", "weibull"))
"""Those with omega**(a - 1) at 0, a their first parameter."""
FLAT_AT_0 = frozenset(("lognormal", "inverse_gamma"))
"""Those that vanish there faster than any power."""


@dataclass(frozen=True, slots=True)
class _Row:
    """What a series is of: the field, its residual, k of p = s**-k, and whether h falls faster than any power."""

    field: Symbol
    residual: Formula
    k: Fraction
    is_light: bool


@dataclass(frozen=True, slots=True)
class _Theta:
    """The forms of the residuals, a row each, of all coordinates of the blocks that are in them."""

    blocks: tuple[str, ...]
    forms: tuple[Form, ...]
    width: int


@dataclass(frozen=True, slots=True)
class _Near:
    """The excess of forms that are near zero together, and that of others so many disjoint sets determine theta."""

    excess: int
    bases: int
    fact: str


def by_floor(target: Target, sample: Sample) -> tuple[Proved, tuple[str, ...]] | None:
    """Return the proof of a finite integral by a scale with a positive floor and data that differ; None without one.

    A state s_n >= omega > 0 before row n gives datum n the density p h(p r_n), p = s_n**-k, k = 1/2 or 1, r_n a form of
    theta. With e the largest |S| - rank S of forms S that may be near zero together, N forms and p of theta, it is
    shown if

        k e < a,              the law of omega being at most C omega**(a - 1) at 0, a = 1 where it has none
        k (N - p) > 1         where omega has no law; k N > 1 if all theta have proper ones
        two disjoint sets     of forms that are never near determine theta, where a theta has no law.

    Worked: r_n = y_n - mu, k = 1/2, no law of mu and omega, and m the largest number of equal data: e = m - 1, so m <=
    2, and N >= 4. The head of this file has the bounds.

    Args:
        target: with a recursion, as it is sampled; looked at as it is declared.
        sample: its data, exact, in their order.

    Returns:
        the proof, and what it says of the data.
    """
    plain, stated = target.declared or target, target.stated
    of_data = [one for one in stated.densities if one.entry == "log_likelihood"]
    if plain.potential is not None or plain.log_likelihood is None or len(plain.recursion) != 1:
        return None
    if stated.others or len(of_data) != 1 or not of_data[0].is_term:
        return None
    (state,) = plain.recursion
    row, floor = _of_row(of_data[0], state), _floor(plain, state)
    if row is None or floor is None:
        return None
    omega, signs = floor
    from_row = _from_row(plain, state, omega)
    shown = defined(target).decision
    if from_row is None or not isinstance(shown, Proved) or not isinstance(read_alike(target).decision, Proved):
        return None
    try:
        theta = _theta(row, plain.declarations, sample, from_row)
        returns = row.is_light and _returns(row, plain, state, omega, sample.known)
        facts = _facts(theta, row, [one for one in stated.densities if one.entry == "log_prior"], omega, plain, returns)
    except NotReadError:
        return None
    if facts is None:
        return None
    order, words = facts
    data = (
        ("integrated out in this order", ", ".join((*order, *theta.blocks, omega))),
        ("never below", f"{omega}, of {state.block.name}"),
    )
    after = " after the first row" * from_row
    return Proved(METHOD, beside_states((*shown.given, *signs), target), data), tuple(one + after for one in words)


def _facts(
    theta: _Theta, row: _Row, priors: list[StatedDensity], omega: str, target: Target, returns: bool
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the order in which other blocks are integrated out, and what the data show; None if they do not."""
    declared = target.declarations
    order = _others(priors, declared, {*theta.blocks, omega})
    laws = {one.of: one for one in priors}
    own = [one for one in priors if one.of in (*theta.blocks, omega)]
    once = len({one.of for one in own}) == len(own) and omega not in theta.blocks
    if order is None or not once or not all(_may_be(name, laws.get(name), declared) for name in theta.blocks):
        return None
    known, power = _at_zero(laws.get(omega))
    near = _near(theta, row.field.name, returns)
    if not known or near is None or (power is not None and row.k * near.excess >= power):
        return None
    proper = all(name in laws or _is_within(name, declared) for name in theta.blocks)
    flat = 0 if proper else theta.width
    if omega not in laws and row.k * (len(theta.forms) - flat) <= 1:
        return None
    if proper:
        return order, (near.fact,)
    if near.bases < 2:
        return None
    return order, (near.fact, f"two disjoint sets of other data that determine {' and '.join(theta.blocks)}")


def _near(theta: _Theta, name: str, returns: bool) -> _Near | None:
    """Return what is known of forms that are near zero together; None where all vanish, or there are too many."""
    forms, width = theta.forms, theta.width
    if returns:
        end = consistent_end(forms, width)
        if end is None:
            return None
        last, others = forms[len(forms) - end :], forms[: len(forms) - end]
        left = end - rank_of(last, width).rank
        fact = f"residuals of the last {end + 1} {name}, which are not all zero at any state"
        return _Near(left, disjoint_bases(others, width), fact)
    most, left = most_together(forms, width), excess(forms, width)
    if most is None or left is None or most == len(forms):
        return None
    return _Near(left, disjoint_bases(forms, width) - most, f"at most {most} residuals of {name} zero at one state")


def _theta(row: _Row, declared: Declarations, sample: Sample, from_row: int) -> _Theta:
    """Return the residuals as forms.

    Raises:
        NotReadError: they are none, of known numbers.
    """
    found = read(row.residual, sample.known)
    blocks = tuple(dict.fromkeys(name for (name, _), _ in found.affine.slopes))
    if found.products or not blocks:
        raise NotReadError("residuals that are not linear forms")
    slopes = dict(found.affine.slopes)
    within = [z for name in blocks for z in sample.known.coordinates(name)]
    columns = [*(slopes.get(z, fmpq(0)) for z in within), found.affine.constant]
    forms = tuple(tuple(at_row(column, n) for column in columns) for n in range(from_row, sample.rows))
    if set(dependence(row.residual).blocks) != set(blocks):
        raise NotReadError("a block whose coordinates are multiplied by zeros alone")
    return _Theta(blocks, forms, len(within))


def _of_row(one: StatedDensity, state: RowState) -> _Row | None:
    """Return what a law is of, its scale being the state or its root."""
    arguments = one.arguments
    if one.name == "student_t" and isinstance(arguments[1], Number):
        arguments = (arguments[0], *arguments[2:])
    elif one.name not in OF_ERRORS:
        return None
    match arguments:
        case (Symbol(_, of, Role.DATUM) as field, location, scale) if of == location.shape == SCALAR:
            k = _power_of(scale, state)
            if k is None or state.block.name in dependence(location).blocks:
                return None
            return _Row(field, add([field, negate(location)], SCALAR), k, one.name in OF_LIGHT_ERRORS)
        case _:
            return None


def _power_of(scale: Formula, state: RowState) -> Fraction | None:
    """Return k of a scale s**k, s the state."""
    match scale:
        case Symbol(name, of) if name == state.block.name and of == SCALAR:
            return ONE
        case Apply("sqrt", (Symbol(name, of),)) if name == state.block.name and of == SCALAR:
            return HALF
        case Power(Symbol(name, of), Number(k)) if name == state.block.name and of == SCALAR and k == HALF:
            return HALF
        case _:
            return None


def _returns(row: _Row, target: Target, state: RowState, omega: str, known: Known) -> bool:
    """Whether what is before the next row is at most omega + C (abs(r)**(1/k) + s), C of numbers."""
    block = Symbol(omega, SCALAR, Role.BLOCK)
    terms = state.next.terms if isinstance(state.next, Add) else (state.next,)
    return all(term == block or _is_multiple(term, row, target, state, known) for term in terms)


def _is_multiple(term: Formula, row: _Row, target: Target, state: RowState, known: Known) -> bool:
    """Whether a term is s, or abs(r)**(1/k), times what is bounded for all states and all data."""
    factors = list(_factors(term))
    own = [k for k, factor in enumerate(factors) if _is_raised(factor, row, state, known)]
    if len(own) != 1:
        return False
    rest: Formula = Number(ONE)
    for k, factor in enumerate(factors):
        rest = rest if k in own else multiply(rest, factor, SCALAR)
    use = dependence(rest)
    return not use.data and state.block.name not in use.blocks and bounded_above(rest, target.declarations)


def _factors(term: Formula) -> Iterator[Formula]:
    match term:
        case Multiply(left, right, shape) if shape == SCALAR and left.shape == right.shape == SCALAR:
            yield from (*_factors(left), *_factors(right))
        case _:
            yield term


def _is_raised(factor: Formula, row: _Row, state: RowState, known: Known) -> bool:
    match factor:
        case Symbol(name, _, Role.BLOCK) if name == state.block.name:
            return True
        case Apply("abs", (base,)) if row.k == 1:
            return _is_residual(base, row, known)
        case Power(base, Number(exponent)) if row.k == HALF and exponent == 2:
            return _is_residual(base, row, known)
        case _:
            return False


def _is_residual(base: Formula, row: _Row, known: Known) -> bool:
    """Whether a formula is the residual, or its negative, at all data."""
    if {*dependence(base).blocks} != {*dependence(row.residual).blocks}:
        return False
    own, residual = read(base, known), read(row.residual, known)
    return own in (residual, scaled(residual, fmpq(-1)))


def _floor(target: Target, state: RowState) -> tuple[str, frozenset[str]] | None:
    """Return the positive number that the state is at least after the first row, and what that rests on."""
    for floor in floors(target, of_rows(target)):
        match floor.least:
            case Symbol(name, of, Role.BLOCK) if of == SCALAR:
                block = target.declarations.find(name)
                if isinstance(block, Block) and block.domain.name is DomainName.POSITIVE:
                    return name, floor.given
            case _:
                continue
    return None


def _from_row(target: Target, state: RowState, omega: str) -> int | None:
    """Return the first row before which the state is at least omega; None where the first one is not bounded either."""
    block = Symbol(omega, SCALAR, Role.BLOCK)
    start = state.start
    terms = start.terms if isinstance(start, Add) else (start,)
    if block in terms:
        others = add([term for term in terms if term != block] or [ZERO], SCALAR)
        if not holds((Compare(">=", others, ZERO, SCALAR),), target.declarations).open:
            return 0
    return None if dependence(start).blocks else 1


def _others(priors: list[StatedDensity], declared: Declarations, but: set[str]) -> tuple[str, ...] | None:
    """Return the order in which all blocks but some are integrated out, whatever these are."""
    if not all(one.is_term for one in priors):
        return None
    others = replace(declared, blocks=tuple(block for block in declared.blocks if block.name not in but))
    return integrated_out([one for one in priors if one.of not in but], others)


def _may_be(name: str, law: StatedDensity | None, declared: Declarations) -> bool:
    """Whether the coordinates of a block may be theta: of no law, or of one with a bounded density, numbers in it."""
    block = declared.find(name)
    if not isinstance(block, Block) or block.constraint is not None:
        return False
    if block.domain.name is not DomainName.REAL and not has_known_ends(block):
        return False
    return law is None or (law.name in OF_LOCATIONS | {"uniform"} and _is_of_numbers(law))


def _is_within(name: str, declared: Declarations) -> bool:
    """Whether a block lies in an interval, whose length is what its law comes to."""
    block = declared.find(name)
    return isinstance(block, Block) and has_known_ends(block)


def _at_zero(law: StatedDensity | None) -> tuple[bool, Fraction | None]:
    """Return whether the law of omega is known at 0, and a of the power a - 1 there; None of all powers."""
    if law is None:
        return True, ONE
    if not _is_of_numbers(law):
        return False, None
    match law.name, law.arguments:
        case name, _ if name in BOUNDED_AT_0:
            return True, ONE
        case name, (_, Number(a), *_) if name in OF_A_POWER:
            return True, a
        case name, _:
            return name in FLAT_AT_0, None


def _is_of_numbers(law: StatedDensity) -> bool:
    return all(isinstance(x, Number) for x in law.arguments[1:])

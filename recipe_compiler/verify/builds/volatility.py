"""Series whose scale passes from row to row: its posterior is finite where data differ, whatever the scale has been.

Let datum n have the density p h(p (y_n - m)), 1/p its scale, with abs(u) h(u) and h bounded, and let the state s before
row n be at least omega > 0, p = s**-1/2 or 1/s. Then f_n <= C min(omega**-k, 1/abs(y_n - m)), k = 1/2 or 1, for all s.
Of N >= 4 data that all differ at most one is near m, so that

    omega < 1:   prod_n f_n <= C (1 + sum_n min(omega**-k, 1/abs(y_n - m))) (1 + abs(m))**-N + C (1 + abs(m))**-N
    omega >= 1:  prod_n f_n <= C omega**(-N k a) (1 + abs(m))**(-N (1 - a)) for every 0 <= a <= 1.

The integral over m of the first is at most C (1 + abs(log omega)), which any power law of omega at 0 integrates; with
a = 3/5 the second has a finite integral over both. So m and omega may be flat, or have one law each, with a bounded
density and with a power at 0; all other blocks are integrated out first, being bounded or of proper laws. A first row
whose scale is a number is at most a constant. With equal data the integral may be infinite: two leave omega**-1/2,
three leave 1/omega.
"""

from dataclasses import replace
from fractions import Fraction

from recipe_compiler.formula.build import add
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Add, Apply, Compare, Formula, Number, Power, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import RowState, StatedDensity, Target
from recipe_compiler.spec.recursion import of_rows
from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.cases import Sample
from recipe_compiler.verify.builds.proper_prior import ZERO, floors, integrated_out
from recipe_compiler.verify.builds.recursion import read_alike
from recipe_compiler.verify.builds.target import beside_states, defined
from recipe_compiler.verify.core.premises import holds
from recipe_compiler.verify.from_data.values import NotReadError

METHOD = "a scale that is never below a block, data that differ"
LEAST = 4
"""Data that are enough for the integral over m and omega to be finite far out."""

OF_ERRORS = frozenset(("normal", "laplace", "logistic", "cauchy"))
"""Laws of a location and a scale with abs(u) h(u) bounded; Student's with degrees of freedom that are a number, too."""
OF_LOCATIONS = frozenset((*OF_ERRORS, "student_t"))
"""Laws with a bounded density."""
OF_SCALES = frozenset(
    (
        *("half_normal", "half_cauchy", "half_student_t", "gamma", "inverse_gamma", "exponential", "lognormal"),
        *("weibull", "uniform", "normal", "student_t", "cauchy", "laplace", "logistic"),
    )
)
"""Laws whose density is at most a power of omega that has an integral at 0, also times its logarithm."""


def by_floor(target: Target, sample: Sample) -> tuple[Proved, tuple[str, ...]] | None:
    """Return the proof of a finite integral by a scale with a positive floor and data that differ; None without one.

    With a state s_n >= omega > 0 and scales s_n**k, k = 1/2 or 1, of N >= 4 data that all differ; the head of this file
    has the bounds.

    Args:
        target: with a recursion, as it is sampled; looked at as it is declared.
        sample: its data, exact, in their order.
    """
    plain, stated = target.declared or target, target.stated
    of_data = [one for one in stated.densities if one.entry == "log_likelihood"]
    if plain.potential is not None or plain.log_likelihood is None or len(plain.recursion) != 1:
        return None
    if stated.others or len(of_data) != 1 or not of_data[0].is_term:
        return None
    (state,) = plain.recursion
    field, m = _of_row(of_data[0], state, plain.declarations)
    floor = _floor(plain, state)
    if field is None or m is None or floor is None:
        return None
    omega, signs = floor
    priors = [one for one in stated.densities if one.entry == "log_prior"]
    order = _others(priors, plain.declarations, {m, omega})
    laws = {one.of: one for one in priors}
    once = len([one for one in priors if one.of in (m, omega)]) == len({m, omega} & set(laws))
    may = once and _may_have(laws.get(m), OF_LOCATIONS) and _may_have(laws.get(omega), OF_SCALES)
    from_row = _from_row(plain, state, omega)
    shown = defined(target).decision
    if order is None or not may or from_row is None or not isinstance(shown, Proved):
        return None
    if not isinstance(read_alike(target).decision, Proved):
        return None
    try:
        numbers = sample.numbers(field)[from_row:]
    except NotReadError:
        return None
    if len(numbers) < LEAST or len(set(numbers)) < len(numbers):
        return None
    data = (
        ("integrated out in this order", ", ".join((*order, m, omega))),
        ("never below", f"{omega}, of {state.block.name}"),
    )
    of = " after the first row" * from_row
    return Proved(METHOD, beside_states((*shown.given, *signs), target), data), (
        f"numbers of {field.name}{of} that all differ",
    )


def _of_row(one: StatedDensity, state: RowState, declared: Declarations) -> tuple[Symbol | None, str | None]:
    """Return the field that a law is of and the block that is its location, its scale being the state or its root."""
    arguments = one.arguments
    if one.name == "student_t" and isinstance(arguments[1], Number):
        arguments = (arguments[0], *arguments[2:])
    elif one.name not in OF_ERRORS:
        return None, None
    match arguments:
        case (Symbol(_, of, Role.DATUM) as field, Symbol(m, _, Role.BLOCK), scale) if of == SCALAR:
            block = declared.find(m)
            free = isinstance(block, Block) and block.shape == SCALAR and block.constraint is None
            known = free and isinstance(block, Block) and block.domain.name is DomainName.REAL
            return (field, m) if known and _is_scale(scale, state) else (None, None)
        case _:
            return None, None


def _is_scale(scale: Formula, state: RowState) -> bool:
    match scale:
        case Symbol(name, of) | Apply("sqrt", (Symbol(name, of),)):
            return name == state.block.name and of == SCALAR
        case Power(Symbol(name, of), Number(k)):
            return name == state.block.name and of == SCALAR and k == Fraction(1, 2)
        case _:
            return False


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
    """Return the order in which all blocks but two are integrated out, whatever these are."""
    if not all(one.is_term for one in priors):
        return None
    others = replace(declared, blocks=tuple(block for block in declared.blocks if block.name not in but))
    return integrated_out([one for one in priors if one.of not in but], others)


def _may_have(law: StatedDensity | None, among: frozenset[str]) -> bool:
    """Whether a block has no law, or one of some, with numbers as its parameters."""
    return law is None or (law.name in among and all(isinstance(x, Number) for x in law.arguments[1:]))

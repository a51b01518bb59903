"""What a document assumes of its parameters, put into formulas: equalities, and signs of scalars.

Under `assume: ["a == b"]` a formula may be read with b in the place of a: both engines then see one name, and what is
declared of the other one stays declared, as a fact about the first. Under `assume: ["a < 1"]`, 1 - a is positive.
"""

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from fractions import Fraction

from recipe_compiler.errors import ModelError
from recipe_compiler.formula.build import add, depends_on_state, multiply, negate, nodes, power
from recipe_compiler.formula.declaration import Declarations, Parameter
from recipe_compiler.formula.expression import Add, Compare, Formula, Multiply, Number, Power, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.bind import replaced, replacing, rewritten
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.atoms import indices
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, Refuted
from recipe_compiler.verify.core.premises import find_contradiction

_NUMBER = re.compile(r"-?\d+(/\d+)?")
RESERVED = "V"
"""The covariance of an estimated gradient is a name that updates know."""


def with_assumed_signs(c: Calculus, declarations: Declarations) -> Calculus:
    """Return a calculus that knows the sign of every scalar difference that the document assumes.

    `l > r` gives l - r > 0, `l >= r` gives l - r >= 0; `l < r` and `l <= r` are read with the sides exchanged. Under
    `assume: ["a < 1"]` the term (1 - a) r_i r_i is nonnegative. Only scalars are used: a sum over positions says
    nothing about the sign of one entry, and a side with no meaning in index notation is skipped.
    """
    found: list[tuple[Tensor, bool]] = []
    for compare in declarations.assume:
        if compare.left.shape.sizes or compare.right.shape.sizes or compare.op == "==":
            continue
        try:
            left, right = (convert(side, declarations) for side in (compare.left, compare.right))
        except ModelError:
            continue
        up = compare.op in {">", ">="}
        difference = c.subtract(left, right) if up else c.subtract(right, left)
        if not any(indices(term.factors) for term in difference.terms):  # sums over positions say nothing of one
            found.append((difference, compare.op in {">", "<"}))
    return Calculus(replace(c.rules, assumed=tuple(found))) if found else c


def with_equalities(dynamics: Dynamics) -> tuple[Dynamics, frozenset[str]]:
    """Return the dynamics with assumed equalities of parameters substituted, and these equalities as reasons.

    Under `assume: ["a == b"]` H = a r**2/2 becomes b r**2/2, and the reasons are {"a == b"}. The name
    with fewer declared kinds is replaced; the declarations stay. Where the substituted formulas would be
    too large, the dynamics are returned unchanged, with no reasons. Where no rational point meets the equalities, as
    of `b == exp(a)`, the names that are replaced are no longer declared: what is declared of b is then said of exp(a).
    """
    replacements: dict[str, Formula] = {}
    reasons: set[str] = set()
    solved: set[Compare] = set()
    for stated in dynamics.declarations.assume:
        compare = substitute(stated, replacements)
        found = next(_solve_equality(compare, dynamics.declarations), None) if isinstance(compare, Compare) else None
        if found is None:
            continue
        name, new = found
        replacements = {n: substitute(f, {name: new}) for n, f in replacements.items()} | {name: new}
        reasons.add(text(stated))
        solved.add(stated)
    if not replacements:
        return dynamics, frozenset()
    try:
        found = replaced(dynamics, replacements)
    except ModelError:  # too large: it is then decided as it stands
        return dynamics, frozenset()
    kept = replace(found, declarations=dynamics.declarations, units=dynamics.units)
    kept = replace(kept, claims=replace(kept.claims, noise=dynamics.claims.noise))
    fewer = _drop_replaced_names(dynamics.declarations, replacements, solved) if find_contradiction(kept) else None
    if fewer is not None and not find_contradiction(narrow := replace(kept, declarations=fewer)):
        return narrow, frozenset(reasons)
    return kept, frozenset(reasons)


def with_equal_values(found: Answer, declarations: Declarations) -> Answer:
    """Return a refutation that also says what a parameter is which an assumption makes equal to others of its point.

    Under `assume: ["b == exp(a)", "a > 1"]` the formulas are read without b; at a = 9/8 it is exp(9/8).
    """
    if not isinstance(found.decision, Refuted):
        return found
    values = {name: value for name, value in found.decision.witness if declarations.find(name) is not None}
    fixed: dict[str, Formula] = {n: Number(Fraction(value)) for n, value in values.items() if _NUMBER.fullmatch(value)}
    equal = [own for compare in declarations.assume for own in _solve_equality(compare, declarations)]
    added: dict[str, str] = {}
    for name, new in equal * len(equal):  # one may rest on another that stands below it
        inside = {node.name for node in nodes(new) if isinstance(node, Symbol)}
        if name not in {*values, *added} and inside and inside <= fixed.keys() and not new.shape.sizes:
            fixed[name] = substitute(new, fixed)
            added[name] = text(fixed[name])
    witness = (*added.items(), *found.decision.witness)
    return found.but(witness=witness) if added else found


def _drop_replaced_names(
    declared: Declarations, replacements: Mapping[str, Formula], solved: Set[Compare]
) -> Declarations | None:
    """Return declarations without replaced scalars, their signs stated for the replacements; None for other kinds."""
    zero = Number(Fraction(0))
    said: list[Compare] = []
    for parameter in declared.parameters:
        new = replacements.get(parameter.name)
        if new is None:
            continue
        if parameter.shape.sizes or parameter.default is not None or parameter.value is not None:
            return None
        if not set(parameter.kinds) <= {Kind.REAL, Kind.POSITIVE, Kind.NONNEGATIVE}:
            return None
        of_positive = Kind.POSITIVE in parameter.kinds
        value = new if of_positive or Kind.NONNEGATIVE in parameter.kinds else multiply(new, new, SCALAR)
        said.append(Compare(">" if of_positive else ">=", value, zero, SCALAR))  # and it has a value
    left = tuple(compare for compare in declared.assume if compare not in solved)
    fewer = rewritten(replace(declared, assume=left), replacing(replacements))
    parameters = tuple(p for p in fewer.parameters if p.name not in replacements)
    return replace(fewer, parameters=parameters, assume=(*fewer.assume, *said))


def _solve_equality(compare: Compare, declarations: Declarations) -> Iterator[tuple[str, Formula]]:
    """Yield a parameter with the formula that an assumption equates to it, first the one with fewer declared kinds.

    Where no side is a name, sums and products are solved for one: `a + b == 1` gives a = 1 - b, and `a*b == 1` with a
    positive b gives a = 1/b.
    """
    if compare.op != "==" or any(depends_on_state(side) for side in (compare.left, compare.right)):
        return
    sides = [(compare.left, compare.right), (compare.right, compare.left)]
    named = [(side, other) for side, other in sides if isinstance(side, Symbol) and side.role is Role.PARAMETER]
    named = named or [solved for side, other in sides for solved in _solve_for_parameter(side, other, declarations)]
    for side, other in sorted(named, key=lambda pair: _count_kinds(pair[0], declarations)):
        inside = {node.name for node in nodes(other) if isinstance(node, Symbol)}
        if side.name not in inside | {RESERVED} and side.shape == other.shape:
            yield side.name, other


def _solve_for_parameter(side: Formula, other: Formula, declarations: Declarations) -> Iterator[tuple[Symbol, Formula]]:
    """Yield each parameter that an equation determines, as a term or beside a nonzero factor, with its value."""
    terms = side.terms if isinstance(side, Add) else (side,)
    for place, term in enumerate(terms):
        rest = add([other, *(negate(one) for one in (*terms[:place], *terms[place + 1 :]))], side.shape)
        match term:
            case Symbol(role=Role.PARAMETER):
                yield term, rest
            case Multiply(left, right, shape) if not shape.sizes:
                for name, factor in ((left, right), (right, left)):
                    if isinstance(name, Symbol) and name.role is Role.PARAMETER and _is_nonzero(factor, declarations):
                        yield name, multiply(rest, power(factor, Number(Fraction(-1)), shape), shape)
            case Power(Symbol(role=Role.PARAMETER) as name, Number(n)) if len(terms) == 1 and n.denominator == 1:
                item = declarations.find(name.name)
                is_positive = isinstance(item, Parameter) and Kind.POSITIVE in item.kinds and not name.shape.sizes
                if n > 0 and is_positive and isinstance(rest, Number) and rest.value > 0:
                    yield name, power(rest, Number(1 / n), SCALAR)
            case _:
                pass


def _is_nonzero(factor: Formula, declarations: Declarations) -> bool:
    """Whether a factor is a number, or declared to have no zero."""
    match factor:
        case Number(value):
            return bool(value)
        case Symbol(name):
            item = declarations.find(name)
            return isinstance(item, Parameter) and not {Kind.POSITIVE, Kind.NONZERO}.isdisjoint(item.kinds)
        case Multiply(left, right):
            return _is_nonzero(left, declarations) and _is_nonzero(right, declarations)
        case _:
            return False


def _count_kinds(symbol: Symbol, declarations: Declarations) -> int:
    """Return how many kinds are declared of a parameter."""
    item = declarations.find(symbol.name)
    kinds = item.kinds if isinstance(item, Parameter) else ()
    return sum(kind is not Kind.REAL for kind in kinds)

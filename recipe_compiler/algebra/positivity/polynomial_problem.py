"""A symmetric matrix of scalars on a domain as a matrix of polynomials with polynomial facts: the input of all provers.

Denominators are multiplied away: a factor of known sign as it is, any other one squared, so that the matrix of
polynomials is the given one times something positive wherever that is defined.
"""

from dataclasses import dataclass, replace

import sympy
from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.positivity.region import Region, about, given
from recipe_compiler.algebra.positivity.scalar_reader import ScalarReading
from recipe_compiler.algebra.positivity.signs import Known, Signs, sign_by_terms
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.quotient_reader import with_room
from recipe_compiler.algebra.scalars.quotients import Quotient
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError, common_denominators, elementary

Polynomials = tuple[tuple[fmpq_mpoly, ...], ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """generator**power = value, a polynomial in earlier generators: r**2 = 1 + x of r = sqrt(1 + x)."""

    generator: int
    power: int
    value: fmpq_mpoly


@dataclass(frozen=True, slots=True)
class PolynomialInequality:
    """`value > 0` if `strict`, else `value >= 0`."""

    value: fmpq_mpoly
    strict: bool


@dataclass(frozen=True, slots=True)
class PolynomialProblem:
    """Is the n x n `matrix` of polynomials positive semidefinite wherever all facts hold?

    Its generators are `names[k]`, printed `g{k}`; it is `scale` times the given matrix, `scale` > 0 wherever that is
    defined.
    """

    context: fmpq_mpoly_ctx
    names: tuple[Expr, ...]
    matrix: Polynomials
    scale: fmpq_mpoly
    """What the given matrix was multiplied with: positive wherever the matrix is defined."""
    signs: Signs
    facts: tuple[PolynomialInequality, ...]
    nonzero: tuple[fmpq_mpoly, ...]
    zeros: tuple[fmpq_mpoly, ...]
    relations: tuple[Relation, ...]
    """Those of `zeros` that rewrite a power of a generator, latest first."""
    given: frozenset[str]

    def reduced(self, p: fmpq_mpoly) -> fmpq_mpoly:
        """Return a polynomial with all relations applied.

        Raises:
            NoNormalFormError: more than 20,000 terms.
        """
        for relation in self.relations:
            k, n = relation.generator, relation.power
            while p.degrees()[k] >= n:
                p = _apply_relation(p, relation, self.context)
                if len(p) > limits.TERMS:
                    raise NoNormalFormError("too many terms")
        return p

    @property
    def known(self) -> tuple[Known, ...]:
        """The polynomials known to be nonnegative, and which of them positive, beyond signs of generators."""
        return tuple((fact.value, fact.strict) for fact in self.facts)


def problem(a: Rows, region: Region) -> PolynomialProblem:
    """Return the question whether a symmetric n x n matrix of scalars is positive semidefinite on a region.

    [[1/x]] with x > 0 becomes [[1]], multiplied by x; with x of either sign [[x]], multiplied by x**2.

    Raises:
        NoNormalFormError: an entry that is not real, not defined or too large.
    """
    relevant = about(region, [x for row in a for x in row])
    plain = tuple(tuple(map(elementary, row)) for row in a)
    facts = tuple(replace(fact, value=elementary(fact.value)) for fact in relevant)
    denominators = common_denominators([*(x for row in plain for x in row), *(fact.value for fact in facts)])
    return with_room(lambda room: _build_problem(plain, facts, ScalarReading(denominators, room)))


def shown(p: fmpq_mpoly) -> str:
    """Return a polynomial as text, powers written `**`."""
    return str(p).replace("^", "**")


def _build_problem(a: Rows, region: Region, reading: ScalarReading) -> PolynomialProblem:
    """Return the problem in one ring: facts about single names are read first, then the matrix, then other facts."""
    singles = [fact for fact in region if isinstance(fact.value, (sympy.Symbol, AppliedUndef)) and fact.op != "=="]
    for fact in singles:
        reading.of(fact.value)
        reading.signs.add(reading.ring.numbers[fact.value], fact.op)
    entries = [[reading.of(x) for x in row] for row in a]
    others = [(reading.of(fact.value), fact.op) for fact in region if fact not in singles]
    values = [*others, *((fact.value, fact.op) for fact in reading.facts)]
    small = _ShrunkRing(reading)
    scale = _positive_common_denominator([x for row in entries for x in row], reading)
    matrix = tuple(tuple(small.of(_clear_denominators(x, scale, reading)) for x in row) for row in entries)
    facts = [(small.of(_numerator_with_sign(value, reading)), op) for value, op in values]
    relations: list[Relation] = []
    zeros = [p for p, op in facts if op == "=="]
    for number, n, value in reversed(reading.ring.relations):
        power = small.context.gen(number) ** n
        if value.bottom:
            bottom = small.context.constant(fmpq(1))
            for factor, k in value.bottom:
                bottom = bottom * small.of(reading.ring.factors[factor]) ** k
            zeros.append(bottom * power - small.of(value.top))
        else:
            relations.append(Relation(number, n, small.of(value.top)))
            zeros.append(power - relations[-1].value)
    found = PolynomialProblem(
        small.context,
        tuple(reading.names),
        matrix,
        small.of(_clear_denominators(reading.one, scale, reading)),
        reading.signs,
        tuple(PolynomialInequality(p, op == ">") for p, op in facts if op in {">", ">="} and not p.is_constant()),
        tuple(p for p, op in facts if op == "!="),
        tuple(zeros),
        tuple(relations),
        given(region),
    )
    return replace(found, matrix=tuple(tuple(found.reduced(p) for p in row) for row in matrix))


class _ShrunkRing:
    """The ring of just the generators in use, into which polynomials are converted."""

    def __init__(self, reading: ScalarReading) -> None:
        self.count = len(reading.names)
        self.context = fmpq_mpoly_ctx.get([f"g{k}" for k in range(max(self.count, 1))], Ordering.degrevlex)

    def of(self, p: fmpq_mpoly) -> fmpq_mpoly:
        """Return a polynomial in the smaller ring."""
        if len(p) > limits.TERMS:
            raise NoNormalFormError("too many terms")
        width = max(self.count, 1)
        return self.context.from_dict({exponents[:width]: c for exponents, c in p.to_dict().items()})


Scale = dict[int, tuple[int, int]]
"""A positive product of denominators: each factor, by its number, with a sign and a power."""


def _positive_common_denominator(entries: list[Quotient], reading: ScalarReading) -> Scale:
    """Return a common multiple of all denominators that is positive wherever they do not vanish."""
    powers: dict[int, int] = {}
    for entry in entries:
        for factor, n in entry.bottom:
            powers[factor] = max(n, powers.get(factor, 0))
    found: Scale = {}
    for factor, n in powers.items():
        p = reading.ring.factors[factor]
        if sign_by_terms(p, reading.signs) is not None:
            found[factor] = (1, n)
        elif sign_by_terms(-p, reading.signs) is not None:
            found[factor] = (-1, n)
        else:
            found[factor] = (1, n + n % 2)
    return found


def _clear_denominators(a: Quotient, scale: Scale, reading: ScalarReading) -> fmpq_mpoly:
    """Return a quotient times the common multiple of its denominators."""
    have = dict(a.bottom)
    found = a.top
    for factor, (sign, n) in scale.items():
        found = found * reading.ring.factors[factor] ** (n - have.get(factor, 0)) * fmpq(sign**n)
        if len(found) > limits.TERMS:
            raise NoNormalFormError("too many terms")
    return found


def _numerator_with_sign(a: Quotient, reading: ScalarReading) -> fmpq_mpoly:
    """Return a polynomial with the sign of a quotient: factors of known sign are dropped, others multiply it once."""
    found = a.top
    for factor, n in a.bottom:
        p = reading.ring.factors[factor]
        if n % 2 and sign_by_terms(p, reading.signs) is None:
            found = -found if sign_by_terms(-p, reading.signs) is not None else found * p
    return found


def _apply_relation(p: fmpq_mpoly, relation: Relation, context: fmpq_mpoly_ctx) -> fmpq_mpoly:
    """Return a polynomial with `generator**power` replaced once, in every term that contains it, by its value."""
    kept: dict[tuple[int, ...], fmpq] = {}
    lowered: dict[tuple[int, ...], fmpq] = {}
    k, n = relation.generator, relation.power
    for exponents, coefficient in p.to_dict().items():
        if exponents[k] >= n:
            lowered[(*exponents[:k], exponents[k] - n, *exponents[k + 1 :])] = coefficient
        else:
            kept[exponents] = coefficient
    return context.from_dict(kept) + context.from_dict(lowered) * relation.value

"""Ratios of polynomials in the constants of a document: sizes, scalar parameters, and unknown scalars to be found.

python-flint has no type of them. SymPy's `QQ.frac_field` takes forty times as long to add and multiply them, and what
a search finds in its limit of processor time is what is said: the five operations here are on python-flint's own ring.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from recipe_compiler.formula.declaration import Declarations, Parameter
from recipe_compiler.formula.shapes import SCALAR

Poly = fmpq_mpoly


@dataclass(frozen=True, slots=True)
class Constants:
    """The ring of polynomials over Q in a document's constants (sizes, scalar parameters), the unknowns last."""

    names: tuple[str, ...]
    sizes: frozenset[str]
    unknowns: tuple[str, ...]
    context: fmpq_mpoly_ctx

    def number(self, value: Fraction | int) -> Poly:
        """Return a rational number."""
        value = Fraction(value)
        return self.context.constant(fmpq(value.numerator, value.denominator))

    def constant(self, name: str) -> Poly:
        """Return a constant by its name."""
        return self.context.gen(self.names.index(name))

    def degree(self, poly: Poly, name: str) -> int:
        """Return the degree of a polynomial in one constant, 0 for the zero polynomial."""
        return 0 if poly.is_zero() else int(poly.degrees()[self.names.index(name)])

    def occurring(self, poly: Poly) -> tuple[str, ...]:
        """Return the unknowns that occur in a polynomial."""
        return tuple(name for name in self.unknowns if self.degree(poly, name))

    def powers(self, poly: Poly, name: str) -> dict[int, Poly]:
        """Return the coefficients of the powers of one constant."""
        at = self.names.index(name)
        found: dict[int, dict[tuple[int, ...], fmpq]] = {}
        for exponents, coefficient in poly.to_dict().items():
            rest = (*exponents[:at], 0, *exponents[at + 1 :])
            found.setdefault(int(exponents[at]), {})[rest] = coefficient
        return {power: self.context.from_dict(terms) for power, terms in found.items()}


def constants(declarations: Declarations, unknowns: Sequence[str] = ()) -> Constants:
    """Return the ring of a document's constants and some unknowns."""
    scalars = [p.name for p in declarations.parameters if p.shape == SCALAR and p.name not in unknowns]
    names = (*declarations.sizes, *scalars, *unknowns)
    context = fmpq_mpoly_ctx.get([f"c{n}" for n in range(len(names))] or ["c0"], Ordering.degrevlex)
    return Constants(names, frozenset(declarations.sizes), tuple(unknowns), context)


def with_unknowns(declarations: Declarations, count: int) -> tuple[Declarations, tuple[str, ...]]:
    """Return declarations with `count` more scalar parameters under new names, and these names."""
    taken = {
        item.name for group in (declarations.blocks, declarations.parameters, declarations.functions) for item in group
    } | set(declarations.sizes)
    names: list[str] = []
    n = 0
    while len(names) < count:
        n += 1
        if f"unknown{n}" not in taken:
            names.append(f"unknown{n}")
    more = tuple(Parameter(name) for name in names)
    blocks, functions = declarations.blocks, declarations.functions
    parameters = (*declarations.parameters, *more)
    return Declarations(blocks, parameters, functions, declarations.data, declarations.assume), tuple(names)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A quotient of polynomials in lowest terms; the leading coefficient of its denominator is 1."""

    top: Poly
    bottom: Poly

    @property
    def is_number(self) -> bool:
        """Whether no constant occurs."""
        return bool(self.top.is_constant() and self.bottom.is_constant())


def ratio(top: Poly, bottom: Poly) -> Ratio:
    """Return top/bottom in lowest terms, the leading coefficient of the denominator 1.

    Raises:
        ZeroDivisionError: the denominator is zero.
    """
    if bottom.is_zero():
        raise ZeroDivisionError("a ratio with denominator 0")
    common = top.gcd(bottom)
    top, bottom = _divided(top, common), _divided(bottom, common)
    lead = bottom.leading_coefficient()
    return Ratio(top / lead, bottom / lead)


def times(*ratios: Ratio) -> Ratio:
    """Return the product a b c ... of one or more ratios, in lowest terms."""
    first, *others = ratios
    top, bottom = first.top, first.bottom
    for other in others:
        top, bottom = top * other.top, bottom * other.bottom
    return ratio(top, bottom)


def plus(left: Ratio, right: Ratio) -> Ratio:
    """Return the sum a/b + c/d = (a d + c b)/(b d), in lowest terms."""
    return ratio(left.top * right.bottom + right.top * left.bottom, left.bottom * right.bottom)


def power(base: Ratio, exponent: int) -> Ratio:
    """Return an integer power.

    Raises:
        ZeroDivisionError: a negative power of zero.
    """
    if exponent < 0:
        return power(ratio(base.bottom, base.top), -exponent)
    return Ratio(base.top**exponent, base.bottom**exponent)


def evaluated(poly: Poly, values: Mapping[str, Ratio], ring: Constants) -> Ratio:
    """Return a polynomial with ratios in the place of some of its constants."""
    one = ring.number(1)
    found = Ratio(ring.number(0), one)
    for exponents, coefficient in poly.to_dict().items():
        kept = [0] * len(exponents)
        parts = [Ratio(ring.context.constant(coefficient), one)]
        for at, exponent in enumerate(exponents):
            name = ring.names[at] if at < len(ring.names) else ""
            if exponent and name in values:
                parts.append(power(values[name], int(exponent)))
            else:
                kept[at] = int(exponent)
        parts.append(Ratio(ring.context.from_dict({tuple(kept): fmpq(1)}), one))
        found = plus(found, times(*parts))
    return found


def at_numbers(found: Ratio, values: Mapping[str, Fraction], ring: Constants) -> Fraction | None:
    """Return the value of a ratio at rational values of all its constants; None where the denominator vanishes."""
    top, bottom = (_at(poly, values, ring) for poly in (found.top, found.bottom))
    return top / bottom if bottom else None


def _at(poly: Poly, values: Mapping[str, Fraction], ring: Constants) -> Fraction:
    total = Fraction(0)
    for exponents, coefficient in poly.to_dict().items():
        term = Fraction(int(coefficient.p), int(coefficient.q))
        for at, exponent in enumerate(exponents):
            if exponent:
                term *= values[ring.names[at]] ** int(exponent)
        total += term
    return total


def _divided(poly: Poly, by: Poly) -> Poly:
    quotient, _ = divmod(poly, by)
    return quotient

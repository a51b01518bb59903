"""Solving polynomial equations for unknown scalars, as far as factors that are linear in one unknown lead."""

from collections.abc import Mapping, Sequence

from flint import fmpq

from recipe_compiler.explain.repair.ratios import Constants, Poly, Ratio, evaluated, ratio

MAX_STEPS = 60
"""Branches looked at for one system."""
LARGEST = 400
"""Polynomials of more terms are not factored."""
EQUATIONS = 120
"""The shortest equations that are solved; the others are left to the proof of what is found."""

Solution = Mapping[str, Ratio]


def solve(
    equations: Sequence[Poly], defaults: Mapping[str, int], ring: Constants, *, nonzero: frozenset[str] = frozenset()
) -> list[Solution]:
    """Return values of the unknowns in `defaults` at which all equations vanish, as ratios of the constants.

    An unknown that nothing determines keeps its default; those in `nonzero` are not 0. Not all solutions are found: a
    branch ends where no factor of its shortest equation is linear in an unknown. c**2 - c a = 0 has c = 0 and c = a;
    c**2 - a = 0 has no factor that is linear in c, and nothing is returned.
    """
    shortest = sorted(_primitive(equations, ring), key=lambda poly: (len(poly), str(poly)))[:EQUATIONS]
    search = _Search(ring, defaults, nonzero)
    return search.solutions(shortest, tuple(defaults))


class _Search:
    """A search through the factors, within a number of steps."""

    def __init__(self, ring: Constants, defaults: Mapping[str, int], nonzero: frozenset[str]) -> None:
        self.ring = ring
        self.defaults = defaults
        self.nonzero = nonzero
        self.steps = 0

    def solutions(self, equations: list[Poly], unknowns: tuple[str, ...]) -> list[Solution]:
        """Return the solutions of what is left."""
        self.steps += 1
        if self.steps > MAX_STEPS or any(poly.is_constant() for poly in equations):
            return []
        if not equations:
            one = self.ring.number(1)
            return [{name: Ratio(self.ring.number(self.defaults[name]), one) for name in unknowns}]
        found: list[Solution] = []
        for name, slope, rest in self.linear(equations[0], unknowns):
            left = _primitive([self.without(poly, name, slope, rest) for poly in equations[1:]], self.ring)
            others = tuple(other for other in unknowns if other != name)
            for solution in self.solutions(sorted(left, key=lambda poly: (len(poly), str(poly))), others):
                value = self.value(slope, rest, solution)
                if value is not None and not (name in self.nonzero and value.top.is_zero()):
                    found.append({**solution, name: value})
        return found

    def linear(self, poly: Poly, unknowns: tuple[str, ...]) -> list[tuple[str, Poly, Poly]]:
        """Return, for each factor linear in an unknown, the unknown and the factor as `slope * unknown + rest`."""
        factors = [part for part, _ in poly.factor()[1]] if len(poly) <= LARGEST else [poly]
        found: list[tuple[str, Poly, Poly]] = []
        for part in factors:
            choices: list[tuple[int, str, Poly, Poly]] = []
            for name in unknowns:
                if self.ring.degree(part, name) == 1:
                    powers = self.ring.powers(part, name)
                    slope, rest = powers[1], powers.get(0, self.ring.number(0))
                    if not (rest.is_zero() and name in self.nonzero):
                        choices.append((len(self.ring.occurring(slope)), name, slope, rest))
            found += [choice[1:] for choice in sorted(choices, key=lambda choice: choice[:2])[:1]]
        return found

    def without(self, poly: Poly, name: str, slope: Poly, rest: Poly) -> Poly:
        """Return a polynomial at `unknown = -rest/slope`, times a power of the slope."""
        powers = self.ring.powers(poly, name)
        highest = max(powers, default=0)
        total = self.ring.number(0)
        for n, coefficient in powers.items():
            total += coefficient * (-rest) ** n * slope ** (highest - n)
        return total

    def value(self, slope: Poly, rest: Poly, solution: Solution) -> Ratio | None:
        """Return `-rest/slope` at a solution of the other unknowns, None where it is not defined."""
        above, below = evaluated(-rest, solution, self.ring), evaluated(slope, solution, self.ring)
        if below.top.is_zero():
            return None
        return ratio(above.top * below.bottom, above.bottom * below.top)


def _primitive(equations: Sequence[Poly], ring: Constants) -> list[Poly]:
    """Return the equations that do not vanish, without factors free of unknowns, each once."""
    found: dict[str, Poly] = {}
    for poly in equations:
        if poly.is_zero():
            continue
        shared = _content(poly, ring)
        if not ring.occurring(poly):
            return [ring.number(1)]
        quotient, _ = divmod(poly, shared)
        quotient /= quotient.leading_coefficient()
        found.setdefault(str(quotient), quotient)
    return list(found.values())


def _content(poly: Poly, ring: Constants) -> Poly:
    """Return the greatest common divisor of the coefficients of a polynomial in the unknowns."""
    at = [ring.names.index(name) for name in ring.unknowns]
    parts: dict[tuple[int, ...], dict[tuple[int, ...], fmpq]] = {}
    for exponents, coefficient in poly.to_dict().items():
        key = tuple(int(exponents[n]) for n in at)
        rest = tuple(0 if n in at else int(e) for n, e in enumerate(exponents))
        parts.setdefault(key, {})[rest] = coefficient
    common = ring.number(0)
    for terms in parts.values():
        common = common.gcd(ring.context.from_dict(terms))
    return common

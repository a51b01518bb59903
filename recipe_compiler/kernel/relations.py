"""Whether a polynomial in functions is zero wherever it is defined, by the relations between its generators.

Worked example, sin(2 x) - 2 sin(x) cos(x): with E = exp(i x), sin(2 x) = (E**4 - 1)/(2 i E**2), and so on; multiplied
by the powers of E and of i that stand below, what is left is the zero polynomial.
"""

import math
from collections.abc import Iterator

from . import limits
from .field import RING, Field, Poly, TrustedError, constant, require

Monomial = tuple[int, ...]


def is_zero(f: Field, x: Poly) -> bool:
    """Whether relations reduce a polynomial to 0: then it is 0 at all values of its coordinates where it is defined.

    From the last generator to the first, since an argument holds earlier ones only: 1/u is removed by a power of u,
    which is not 0; t**n = u of a root of u; exponentials and, by exp(i u), sines and cosines are products of powers of
    exp(m/q), m a monomial. False decides nothing.

    Raises:
        TrustedError: too many terms, or generators.
    """
    if x == 0:
        return True
    relations = Relations(f)
    for _ in range(limits.PASSES):
        before = x
        for k in reversed(range(relations.end)):
            x = relations.without(x, k)
        if x == 0 or x == before:
            return bool(x == 0)
    return False


class Relations:
    """The relations of the generators of a field: exponentials of monomials, and i, are generators behind its own."""

    def __init__(self, f: Field) -> None:
        self.f = f
        parts = [(k, name, terms(u)) for k, (name, u) in enumerate(f.made) if name in ("exp", "sin", "cos")]
        self.denominators = dict[tuple[bool, Monomial], int]()
        for _, name, found in parts:
            for m, c in found:
                key = name != "exp", m
                self.denominators[key] = math.lcm(self.denominators.get(key, 1), int(c.q))
        first = len(f.made)
        self.numbers = {key: first + n for n, key in enumerate(self.denominators)}
        self.i = first + len(self.numbers)
        self.end = self.i + 1
        require(self.end <= limits.GENERATORS, "this many functions", TrustedError)

    def without(self, x: Poly, k: int) -> Poly:
        """Return a polynomial times what is not 0, in which a generator is replaced by those that it is made of."""
        if x == 0 or not x.degrees()[k]:
            return x
        if k == self.i:
            return powers_of_root(x, k, 2, constant(-1))
        if k >= len(self.f.made):
            return self.power_of_logarithm(x, k)
        name, u = self.f.made[k]
        if name == "inv":
            return replace_generator(x, k, constant(1), u)
        if name.startswith("root"):
            return powers_of_root(x, k, int(name.split()[1]), u)
        if name not in ("exp", "sin", "cos"):
            return x
        above, below = constant(1), constant(1)
        for m, c in terms(u):
            n = int((c * self.denominators[name != "exp", m]).p)
            power = RING.gen(self.numbers[name != "exp", m]) ** abs(n)
            above, below = (above * power, below) if n > 0 else (above, below * power)
        if name == "exp":
            return replace_generator(x, k, above, below)
        if name == "cos":
            return replace_generator(x, k, above**2 + below**2, 2 * above * below)
        return replace_generator(x, k, above**2 - below**2, 2 * RING.gen(self.i) * above * below)

    def power_of_logarithm(self, x: Poly, k: int) -> Poly:
        """Return a polynomial with exp(log(u)/q)**q = u, which is positive."""
        (is_angle, m), q = list(self.denominators.items())[k - len(self.f.made)]
        if is_angle or sum(m) != 1:
            return x
        name, u = self.f.made[m.index(1)]
        if name == "log" and (f"root {q}", u) in self.f.made:
            return replace_generator(x, k, RING.gen(self.f.made.index((f"root {q}", u))), constant(1))
        return powers_of_root(x, k, q, u) if name == "log" else x


def terms(u: Poly) -> Iterator[tuple[Monomial, Poly]]:
    """Return the monomials of an argument with their rational coefficients."""
    return ((tuple(map(int, m)), c) for m, c in u.terms())


def coefficients(x: Poly, k: int) -> dict[int, Poly]:
    """Return the coefficients of the powers of a generator."""
    found = dict[int, dict[Monomial, Poly]]()
    for m, c in terms(x):
        found.setdefault(m[k], {})[*m[:k], 0, *m[k + 1 :]] = c
    return {n: RING.from_dict(part) for n, part in found.items()}


def replace_generator(x: Poly, k: int, above: Poly, below: Poly) -> Poly:
    """Return below**n x, n its degree in a generator, which is above/below."""
    parts = coefficients(x, k)
    n, most = max(parts), max(map(len, parts.values()))
    require(most * (len(above) + len(below)) ** n <= limits.TERMS**2, "this many terms", TrustedError)
    return sum((part * above**j * below ** (n - j) for j, part in parts.items()), constant(0))


def powers_of_root(x: Poly, k: int, n: int, u: Poly) -> Poly:
    """Return a polynomial with generator**n = u."""
    t = RING.gen(k)
    return sum((part * u ** (j // n) * t ** (j % n) for j, part in coefficients(x, k).items()), constant(0))

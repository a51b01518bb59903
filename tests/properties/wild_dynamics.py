"""Random dynamics at the edge of what is right: kinks, comparisons, roots, logarithms, quotients of sizes, assumptions.

Nothing is right by construction. Entries are built of pieces that are nonnegative, equal or defined nearly everywhere,
or only under the assumptions that the document may or may not make; what is true of them, `wild_judge` finds at points.
"""

from dataclasses import dataclass, replace
from random import Random

from terms import ONE, ZERO, Term, call, name, slope, term, where

Matrix = tuple[tuple[Term, ...], ...]

VECTOR, SIZE = "theta", "d"
DOMAINS = ("real", "real", "real", "real", "positive", "positive", "nonnegative", "interval(0, 1)", "circle")
KINDS = ("real", "real", "real", "positive", "nonnegative", "nonzero")
ASSUMED = ("a == b", "a < 1", "a > 0", "a > b", "b >= a", "a**2 < 1", "a + b > 1", "a >= 0", "b == 1", "a*b > 0")
ASSUMED_OF_SIZES = ("d > 1", "d >= 3", "d < 3")


@dataclass(frozen=True)
class Wild:
    """Dynamics of scalar blocks and at most one column theta, which enters by norm2, sum and multiples of I only."""

    domains: tuple[tuple[str, str], ...]
    kinds: tuple[tuple[str, str], ...]
    assumed: tuple[str, ...]
    energy: Term
    D: Matrix
    Q: Matrix
    drift: tuple[Term, ...] = ()

    @property
    def blocks(self) -> tuple[str, ...]:
        """The names of the blocks, in order."""
        return tuple(block for block, _ in self.domains)

    def text(self) -> str:
        """Return the document."""
        lines = ["name: wild", "state:"]
        lines += [
            f"  {b}: {{shape: {SIZE}}}" if b == VECTOR else f'  {b}: {{domain: "{of}"}}' for b, of in self.domains
        ]
        lines += ["parameters:", *(f"  {p}: {{is: {kind}}}" for p, kind in self.kinds)]
        lines += [f'assume: ["{condition}"]' for condition in self.assumed]
        lines += [f'H: "{self.energy}"', "D:", *self._rows(self.D), "Q:", *self._rows(self.Q)]
        if self.drift:
            lines += ["claims:", "  drift:", *(f'    {b}: "{f}"' for b, f in zip(self.blocks, self.drift, strict=True))]
        return "\n".join([*lines, ""])

    def _rows(self, matrix: Matrix) -> list[str]:
        return [f"  - [{', '.join(self._entry(i, j, e) for j, e in enumerate(row))}]" for i, row in enumerate(matrix)]

    def _entry(self, i: int, j: int, entry: Term) -> str:
        of_vector = self.blocks[i] == self.blocks[j] == VECTOR
        return f'"{entry}*I"' if of_vector and entry != ZERO else f'"{entry}"'


def wild(random: Random) -> Wild:
    """Return random dynamics."""
    names = ("x", "y", "w")[: random.randint(1, 3)]
    domains = [(x, random.choice(DOMAINS)) for x in names]
    if random.random() < 0.25:
        domains.append((VECTOR, "real"))
    kinds = tuple((p, random.choice(KINDS)) for p in ("a", "b"))
    table = ASSUMED + (ASSUMED_OF_SIZES if domains[-1][0] == VECTOR else ())
    assumed = (random.choice(table),) if random.random() < 0.5 else ()
    pieces = Pieces(random, tuple(domains))
    blocks = [b for b, _ in domains]
    D = _symmetric(pieces, blocks)
    found = Wild(tuple(domains), kinds, assumed, pieces.energy(), D, _skew(pieces, blocks))
    if VECTOR in blocks or random.random() < 0.4:
        return found
    return replace(found, drift=_claimed(found, pieces))


def recipe(document: Wild) -> tuple[Term, ...]:
    """Return f_i = sum_j [-(D + Q)_ij dH/dz_j + d(D + Q)_ij/dz_j] for scalar blocks, off kinks."""
    A = [[d + q for d, q in zip(*rows, strict=True)] for rows in zip(document.D, document.Q, strict=True)]
    z = document.blocks
    return tuple(
        sum((slope(e, b) - e * slope(document.energy, b) for e, b in zip(row, z, strict=True)), ZERO) for row in A
    )


class Pieces:
    """Draws pieces of formulas over given blocks."""

    def __init__(self, random: Random, domains: tuple[tuple[str, str], ...]) -> None:
        self.random = random
        self.domains = dict(domains)
        self.scalars = [name(b) for b in self.domains if b != VECTOR]
        self.constants = [name("a"), name("b")]
        self.sizes = [name(SIZE)] if VECTOR in self.domains else []
        self.norms = [call("norm2", name(VECTOR)), call("sum", name(VECTOR))] if self.sizes else []

    def pick(self, *options: Term) -> Term:
        """Return one of several terms."""
        return self.random.choice(options)

    def atom(self) -> Term:
        """Return a name, rarely of a parameter or a function of theta."""
        return self.pick(*self.scalars, *self.scalars, *self.constants, *self.norms)

    def inner(self) -> Term:
        """Return something small to take a function of."""
        u, v = self.atom(), self.atom()
        return self.pick(u, u, u, u + v, u - v, u * v, u**2, u - 1, ONE - u, call("sin", u))

    def hidden_zero(self) -> Term:
        """Return a term that is zero everywhere, on part of the space, or where something is assumed."""
        u, v = self.inner(), self.atom()
        a, b = self.constants
        return self.pick(
            call("abs", u) - u,
            call("sin", u) ** 2 + call("cos", u) ** 2 - 1,
            call("minimum", u, 0),
            call("maximum", u, v) - (u + v + call("abs", u - v)) / 2,
            call("sign", u) * call("abs", u) - u,
            call("sqrt", u**2) - call("abs", u),
            call("log", call("exp", u)) - u,
            call("exp", call("log", v)) - v,
            call("sqrt", v) ** 2 - v,
            call("sign", u) ** 2 - 1,
            where(u, self.random.choice((">", ">=", "==", "<", "<=")), 0, u, call("abs", u)) - call("abs", u),
            (a - b) * v,
            (a - 1) * v,
            call("abs", a) - a,
            call("log", v**2) - call("log", v) * 2,
            u - v,
            *(((d - 3) / (d - 3) - 1) for d in self.sizes),
            *(((d - 1) * (d - 2) * (d - 3)) for d in self.sizes),
        )

    def nonnegative(self) -> Term:
        """Return a term that is nonnegative everywhere, nearly, or not at all."""
        u, v = self.inner(), self.atom()
        a, b = self.constants
        zero = self.hidden_zero()
        return self.pick(
            ONE,
            u**2,
            call("abs", u),
            call("sign", u) + 1,
            ONE - call("sign", u),
            ONE - call("sign", u) ** 2,
            call("sign", u) ** 2,
            call("maximum", u, 0),
            call("maximum", u, v) - u,
            call("abs", u) + call("minimum", u, 0),
            call("abs", u) - u,
            where(u, ">", 0, u, 0),
            where(u, ">=", v, u - v, 1),
            where(u, "==", 0, -1, 1),
            where(zero, "==", 0, self.pick(ONE, term(-1)), 1),
            where(zero, self.random.choice((">", "<")), 0, -1, 1),
            ONE - where(zero, "==", 0, 1, 0) * 2,
            call("exp", u),
            call("log", u**2 + 1),
            call("sqrt", u),
            call("sqrt", ONE - v),
            call("log", v),
            call("exp", call("log", v)),
            call("sqrt", v) ** 2,
            ONE / u**2,
            v / v,
            v,
            ONE - v,
            a,
            a - b,
            ONE - a,
            v**2 - v,
            ONE + call("sin", u),
            ONE - call("cos", u) ** 2 - call("sin", u) ** 2,
            u**2 + v**2 - u * v * 2,
            u**2 + v**2 - u * v * 3,
            call("sqrt", u**2) - u,
            *((d - 2) for d in self.sizes),
            *((d - 1) * (d - 2) * (d - 4) for d in self.sizes),
            *(((d - 5) / (d - 5)) for d in self.sizes),
            *((ONE / (d - 4) ** 2) for d in self.sizes),
            *((call("norm2", name(VECTOR)) * d - call("sum", name(VECTOR)) ** 2) for d in self.sizes),
        )

    def rewritten(self, e: Term) -> Term:
        """Return a term that equals e everywhere, in part, or only nearly."""
        u = self.inner()
        a, b = self.constants
        return self.pick(
            e,
            e,
            e,
            e + self.hidden_zero(),
            e + self.hidden_zero() * self.atom(),
            e * call("sign", u) ** 2,
            e * (call("sin", u) ** 2 + call("cos", u) ** 2),
            e * where(a, "==", b, 1, self.random.choice((1, 2))),
            call("exp", call("log", e)),
            e * u / u,
            where(u, ">", 0, e, e),
            where(self.hidden_zero(), "==", 0, e, -e),
        )

    def energy(self) -> Term:
        """Return an energy that confines every block, nearly."""
        total = ZERO
        for b, domain in self.domains.items():
            total = total + self._confining(b, domain)
        if self.random.random() < 0.5:
            total = total + self._perturbation()
        return total

    def _confining(self, b: str, domain: str) -> Term:
        x = name(b)
        match domain:
            case "positive" | "nonnegative":
                return self.pick(x - call("log", x), x, x**2 / 2, call("log", x + 1) * self.random.choice((1, 2)))
            case "circle":
                return self.pick(call("cos", x), ZERO, call("sin", x) ** 2, call("cos", x * 2))
            case "real" if b == VECTOR:
                return call("norm2", x) / 2
            case "real":
                heavy = call("log", x**2 + 1)
                return self.pick(x**2 / 2, x**2 / 2, x**4, call("abs", x), heavy / 2, heavy, call("sqrt", x**2 + 1))
            case _:
                return self.pick(ZERO, -call("log", x) - call("log", ONE - x), x**2)

    def _perturbation(self) -> Term:
        x = self.pick(*self.scalars)
        zero = self.hidden_zero()
        return self.pick(
            where(zero, "==", 0, 1, 0) * x**2,
            -where(zero, "==", 0, 1, 0) * x**2,
            -where(zero, ">", 0, x**2, 0),
            zero,
            zero * x**2,
            -(call("sign", zero) ** 2) * x**2,
            -(call("maximum", x, 0) ** 2) / 2,
            call("minimum", x**2, 1),
            self.inner(),
        )


def _symmetric(pieces: Pieces, blocks: list[str]) -> Matrix:
    n = range(len(blocks))
    found = [[ZERO for _ in n] for _ in n]
    for i in n:
        if pieces.random.random() < 0.8:
            found[i][i] = pieces.nonnegative()
        for j in range(i):
            if pieces.random.random() < 0.25 and VECTOR not in (blocks[i], blocks[j]):
                found[i][j] = pieces.inner()
                found[j][i] = pieces.rewritten(found[i][j])
                if pieces.random.random() < 0.6:  # diagonally dominant, nearly
                    found[i][i] = found[i][i] + call("abs", found[i][j])
                    found[j][j] = found[j][j] + pieces.rewritten(call("abs", found[i][j]))
    return tuple(map(tuple, found))


def _skew(pieces: Pieces, blocks: list[str]) -> Matrix:
    n = range(len(blocks))
    found = [[ZERO for _ in n] for _ in n]
    for i in n:
        if pieces.random.random() < 0.15:
            found[i][i] = pieces.hidden_zero()
        for j in range(i):
            if pieces.random.random() < 0.6 and VECTOR not in (blocks[i], blocks[j]):
                found[i][j] = pieces.pick(pieces.inner(), pieces.nonnegative())
                found[j][i] = -pieces.rewritten(found[i][j])
    return tuple(map(tuple, found))


def _claimed(document: Wild, pieces: Pieces) -> tuple[Term, ...]:
    """Return the recipe's drift; in half of all documents with something added to one block that is nearly zero."""
    drift = list(recipe(document))
    if pieces.random.random() < 0.5:
        k = pieces.random.randrange(len(drift))
        drift[k] = drift[k] + pieces.pick(pieces.hidden_zero(), pieces.hidden_zero() * pieces.atom())
    return tuple(drift)

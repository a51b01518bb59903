"""Whether exp(-H) has a finite integral, as rays far out tell: an oracle of the random documents, which proves nothing.

A ray is a way of one coordinate, of two at different speeds, or of several, to their ends. H is read at two distances,
at its least in what depends on how far out it is (Laplace); there it grows faster than the logarithm of the volume
where the integral is finite.
"""

import itertools
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat, fmpq

from recipe_compiler.kernel import limits
from recipe_compiler.kernel.equations import coordinates
from recipe_compiler.kernel.field import RING, Poly, UndefinedError, UnreadError, constant
from recipe_compiler.kernel.pages import FREE, Page

HARDLY, MOST_PAIRS, MOST_SETTLED, MOST_STEPS, MOST_PAIRS_OF_WAYS = fmpq(1, 1000), 5, 4, 40, 24
FAR, LOG_OF_FAR, FAR_ANGLE = (fmpq(10) ** 5, fmpq(10) ** 12), (arb(10) ** 7).log(), 10**4
MOST_SETTLED_TERMS, MOST_MADE = 60, 9
Json = dict[str, Any]


class FarPage(Page):
    """A page on which angles far out are coordinates of their own."""

    far = False

    def __init__(self, *args: Any, **more: Any) -> None:
        self.phases: list[tuple[Poly, int]] = []
        super().__init__(*args, **more)

    def of(self, name: str, u: Poly) -> Poly:
        """Return a function of a polynomial; of an angle far out that of its phase."""
        return super().of(name, self.phase(u) if self.far and name in ("sin", "cos") else u)

    def once(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return what is made of formulas, which far out is another."""
        return super().once((*key, self.far), make)

    def phase(self, u: Poly) -> Poly:
        """Return an angle far out as a coordinate of its own, or as a rational multiple of such."""
        value = arb(self.value(u))
        if u.is_constant() or abs(value) < FAR_ANGLE:
            return u
        for v, k in self.phases:
            ratio = u.leading_coefficient() / v.leading_coefficient()
            if u == ratio * v:
                return ratio * RING.gen(k)
        self.phases.append((u, self.coordinate(constant(1))))
        return RING.gen(self.phases[-1][1])


@dataclass(frozen=True)
class Way:
    """How a coordinate goes to an end: to where it is at a distance R, and the power of R that its volume grows by."""

    end: str
    at: Callable[[fmpq], Poly]
    power: int = 1
    bounded: bool = False

    def raised(self, n: int, factor: int = 1) -> "Way":
        """Return the same way at another speed: n = -1 leads to 0 in place of infinity, where that is inside."""
        n = abs(n) if self.bounded else n
        return Way(self.end, lambda R: self.at(R**n * factor), self.power * n, self.bounded)


def ends_of(page: FarPage, block: str) -> list[Way]:
    """Return the ends of the coordinates of a block."""
    domain, ends = page.d.blocks[block]["domain"], [page.scalar(end) for end in page.d.blocks[block]["ends"]]
    low, width = ends[0] if ends else constant(0), ends[1] - ends[0] if len(ends) > 1 else constant(1)
    bounded = domain in ("interval", "simplex")
    every = {
        "-oo": Way("-oo", lambda R: constant(-R)),
        "oo": Way("oo", lambda R: constant(R)),
        "low": Way("low", lambda R: low + width / R, -1, bounded),
        "high": Way("high", lambda R: low + width - width / R, -1, bounded),
    }
    known = {"real": ("-oo", "oo"), "circle": (), "interval": ("low", "high"), "simplex": ("low",)}
    return [every[end] for end in known.get(domain, ("oo", "low"))]


def far(page: FarPage, ways: Mapping[int, Way], read: Callable[[], Any], *, phases: bool = False) -> list[Any]:
    """Return what is read at both distances, when coordinates go to their ends; with phases where no slope is read."""
    before = {i: x for i, (_, x) in enumerate(page.made[: page.coordinates])}
    try:
        found, page.far = list[Any](), phases
        for R in FAR:
            page.move({i: way.at(R) for i, way in ways.items()})
            found.append(read())
        return found
    finally:
        page.far = False
        page.move(before)


def number(page: FarPage, x: Poly) -> arb:
    """Return a value as a ball, which has to be finite."""
    value = arb(page.value(x))
    if not value.is_finite():
        raise UndefinedError(f"{str(x)[:60]} at points this far out")
    return value


def settled(page: FarPage, energy: Callable[[], Poly], held: Iterable[int]) -> arb:
    """Return E + log det(hessian E)/2 where E is least in phases and in what depends on those held (Laplace)."""
    E, held = energy(), [*held]
    if len(held) > 1 or len(E) > MOST_SETTLED_TERMS or len(page.made) > MOST_MADE:
        return number(page, E)  # one page of each size, and formulas that are not long
    free = [k for block, _, k in coordinates(page) if page.d.blocks[block]["domain"] in FREE and k not in held]
    slopes = {k: page.slope(E, k) for k in (*free, *(k for _, k in page.phases))}
    ids = [k for k, g in slopes.items() if g != 0 and (k not in free or any(page.slope(g, i) != 0 for i in held))]
    if not ids or len(ids) > MOST_SETTLED:
        return number(page, E)
    second = [[page.slope(slopes[k], i) for i in ids] for k in ids]
    least, damping, g, bends = number(page, E), fmpq(0), list[arb](), list[list[arb]]()
    for _ in range(MOST_STEPS):
        if not g:  # after a step that did not lead down all is as it was
            g = [number(page, slopes[k]).mid() for k in ids]
            bends = [[number(page, x).mid() for x in row] for row in second]
        before, size = {k: page.made[k][1] for k in ids}, sum((abs(bends[i][i]) for i in range(len(ids))), arb(0)) + 1
        damped = arb_mat([[x + size * damping * (i == j) for j, x in enumerate(row)] for i, row in enumerate(bends)])
        try:
            step = damped.solve(arb_mat([[-x] for x in g]))
            to = {k: page.value(before[k]) + rational(step[i, 0]) for i, k in enumerate(ids)}
            page.move({k: constant(x) for k, x in to.items()})
            lower = number(page, E)
        except (ZeroDivisionError, UndefinedError, ValueError):
            lower = least
        if lower < least:
            least, damping, g = lower, damping / 10, []
        else:
            page.move(before)
            damping = damping * 10 + fmpq(1, 10**6)
        if damping > 10**6:
            break
    width = arb_mat([[number(page, x).mid() for x in row] for row in second]).det()
    return number(page, energy()) + (width.log() / 2 if width > 0 else 0)


def rational(x: arb) -> fmpq:
    """Return a rational number of few digits in a ball, or next to it."""
    whole, power = x.mid().man_exp() if x.is_finite() else (0, limits.BITS)
    if abs(power) >= limits.BITS:
        raise ZeroDivisionError
    cut = max(int(whole).bit_length() - 100, 0)
    return fmpq(int(whole) >> cut) * fmpq(2) ** (int(power) + cut)


def diverges(page: FarPage, ways: Mapping[int, Way], energy: Callable[[], Poly], spare: fmpq = HARDLY) -> bool:
    """Whether exp(-E) has no finite integral along a ray: E grows no faster than the logarithm of the volume there."""
    low, high = far(page, ways, lambda: settled(page, energy, ways), phases=True)
    return bool(high - low < (sum(way.power for way in ways.values()) + spare) * LOG_OF_FAR)


def rays(page: FarPage) -> list[dict[int, Way]]:
    """Return ways of one coordinate alone, of two at different speeds, and of several."""
    rng, most = random.Random(page.seed), MOST_PAIRS_OF_WAYS if len(page.made) <= MOST_MADE else MOST_PAIRS
    ends = [(k, way) for block, _, k in coordinates(page) for way in ends_of(page, block)]
    twos = [
        {k: one.raised(n), i: other.raised(m)}
        for (k, one), (i, other) in itertools.combinations(ends, 2)
        for n, m in ((1, -1), (1, -2), (-1, 1), (-2, 1), (1, 1), (1, 2), (2, 1))
        if k != i
    ]
    more = [{k: way.raised(rng.choice((-1, 1, 1, 2)), rng.randint(1, 3)) for k, way in ends if rng.random() < 0.7}]
    return [*({k: way} for k, way in ends), *rng.sample(twos, min(len(twos), most)), *filter(None, more)]


def has_no_integral(page: FarPage) -> bool:
    """Whether exp(-H) has no finite integral along a ray that can be read."""
    for ways in rays(page):
        try:
            if diverges(page, ways, lambda: page.scalar(page.d.dynamics["H"])):
                return True
        except UnreadError:
            continue
    return False

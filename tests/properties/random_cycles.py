"""Random cycles of moves for HMC and SGHMC in the plane, right or wrong by chance, and what is true of them.

The judge composes the maps of letters itself, in floating point, and shares nothing with the compiler. A Metropolis
move without noise is judged pointwise: with G the flip that it does and x = Psi^-1 y, by the reversed word of shares
with the other sign,

    (pi K)(y) - pi(y) = min(pi(x), pi(y)) + pi(G y) - min(pi(G y), pi(Psi G y)) - pi(y),

or, where the momentum is drawn wholly anew between each such move and the next, its integral over r. One with noise is
judged by means over pi: states drawn from pi, moved once, may not have changed the mean of any function. Draws of a
coordinate of theta from a normal law that is claimed of it are judged by differences of U along it. That finds what is
wrong, and proves nothing right.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import lcm
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

SPECS = Path(__file__).parents[2] / "specs"
Array = NDArray[np.float64]
Letter = tuple[str, Fraction]
Polynomial = Mapping[tuple[int, int], Fraction]
Matrix = tuple[tuple[int, int], tuple[int, int]]

OFF = 1e-7
"""Of a residual at a point, over pi: larger than rounding."""
OFF_LIMIT, SMALL = 1e-2, (Fraction(1, 64), Fraction(1, 128))
"""Of what a cycle changes over pi eps**2, and the step sizes at which that is the same."""
OFF_MARGINAL = 4e-3
"""Of one integrated over r on a grid, which kinks of `min` are not exact on."""
DEVIATIONS = 6.5
"""Standard errors at which a mean over pi has changed: by chance in 1 of 1e10."""
CLAIMS = ("draw", "metropolis", "cycle", "exact")
NAMES = ("a", "b")
"""The coordinates of theta where they are blocks of the target of their own."""
KEPT = (Fraction(0), Fraction(0), Fraction(1, 3), Fraction(9, 10), Fraction(-1, 2))


@dataclass(frozen=True)
class Claimed:
    """The law N(h(x)/P(x), 1/P(x)) that is claimed of one coordinate given the other, x: polynomials."""

    place: int
    h: tuple[Fraction, ...]
    P: tuple[Fraction, ...]

    def text(self) -> str:
        """Return it as a document states it."""
        x = NAMES[1 - self.place]
        h, P = (" + ".join(f"({c})*{x}**{n}" if n else f"({c})" for n, c in enumerate(p)) for p in (self.h, self.P))
        return f"N(({h})/({P}), 1/({P}))"

    def off(self, U: Callable[[Array], Array], rng: np.random.Generator) -> str:
        """Return by how much U - E changes along the coordinate; empty where it does not as far as one sees."""
        z, there = rng.normal(size=(2, 400, 2))
        there[:, 1 - self.place] = z[:, 1 - self.place]
        x = z[:, 1 - self.place]
        h, P = (sum((float(c) * x**n for n, c in enumerate(p)), np.zeros(len(x))) for p in (self.h, self.P))

        def rest(theta: Array) -> Array:
            y = theta[:, self.place]
            return U(theta) - P * y**2 / 2 + h * y

        off = float(np.abs(rest(z) - rest(there)).max())
        return f"U - E of {NAMES[self.place]} changes by {off:.3g}" if off > OFF else ""


@dataclass(frozen=True)
class Cycle:
    """A cycle of refreshes of r around one word, U, M, C and the step size."""

    dynamics: str
    word: tuple[Letter, ...]
    accepted: bool
    steps: tuple[int, int]
    flip: tuple[str, ...]
    before: tuple[Fraction, ...]
    after: tuple[Fraction, ...]
    """The shares of r that refreshes before and after the word keep."""
    U: Polynomial
    M: Matrix
    C: Matrix
    eps: Fraction
    laws: tuple[Claimed, ...] = ()
    draws: tuple[tuple[int, bool], ...] = ()
    """The coordinates that are drawn, and whether before the other moves."""
    every: int = 1
    """The word is done in each n-th cycle."""
    every_refresh: tuple[int, ...] = ()
    """So are the refreshes, in their order; in each where there are fewer numbers."""

    @property
    def forgets(self) -> bool:
        """Whether r is drawn wholly anew between each word that is done and the next, over a period."""
        shares = [*self.before, *self.after]
        often = [*self.every_refresh, *[1] * len(shares)][: len(shares)]
        once: list[tuple[Fraction | None, int]] = [*zip(shares, often, strict=True)]
        once.insert(len(self.before), (None, self.every))
        circle = [c for k in range(lcm(self.every, *often)) for c, n in once if k % n == 0]
        first = circle.index(None)
        rows = "".join("w" if c is None else "p" if c else "f" for c in (*circle[first:], *circle[:first])).split("w")
        return all("f" in row for row in rows[1:])

    def write(self, folder: Path) -> Path:
        """Write target and build; return the build."""
        terms = (f"{c}*{'*'.join(['theta[0]'] * i + ['theta[1]'] * j)}" for (i, j), c in self.U.items())
        target = f"name: plane\nstate: {{theta: {{shape: 2}}}}\npotential: {' + '.join(terms)}\n"
        if self.laws:
            for place, name in enumerate(NAMES):
                target = target.replace(f"theta[{place}]", name)
            laws = "".join(f'  {NAMES[law.place]}: "{law.text()}"\n' for law in self.laws)
            target = f"{target.replace('{theta: {shape: 2}}', '{a: {}, b: {}}')}laws:\n{laws}"
        (folder / "plane.yaml").write_text(target, encoding="utf-8")
        matrices = {"hmc": {"M": self.M}, "sghmc": {"M": self.M, "C": self.C}}.get(self.dynamics, {})
        values = ", ".join(f"{name}: {{value: {[[*row] for row in m]}}}" for name, m in matrices.items())
        moves = "".join(f"    - {move}\n" for move in self.moves())
        path = folder / "build.yaml"
        path.write_text(
            f"name: random_cycle\ndynamics: {SPECS}/dynamics/{self.dynamics}.yaml\ntarget: plane.yaml\n"
            f"parameters: {{{values}}}\nscheme:\n  cycle:\n{moves}"
            f"variant: full\nsizes: {{d: 2}}\nrun: {{step_size: {float(self.eps)}}}\n",
            encoding="utf-8",
        )
        return path

    def moves(self) -> Iterator[str]:
        """Yield the moves as a build states them."""
        shares = (*self.before, *self.after)
        often = (*self.every_refresh, *(1,) * len(shares))
        refreshes = [f"{{refresh: {{r: {c}}}, every: {n}}}" for c, n in zip(shares, often, strict=False)]
        split = ", ".join(f"{share.numerator}*{letter}/{share.denominator}" for letter, share in self.word)
        least, most = self.steps
        steps = str(least) if least == most else f'"uniform({least}, {most})"'
        flip = f", flip: {{{', '.join(f'{name}: -{name}' for name in self.flip)}}}" if self.flip else ""
        yield from (f"draw: {NAMES[place]}" for place, first in self.draws if first)
        yield from self._others(refreshes, split, steps, flip)
        yield from (f"draw: {NAMES[place]}" for place, first in self.draws if not first)

    def _others(self, refreshes: list[str], split: str, steps: str, flip: str) -> Iterator[str]:
        if not self.word:
            return
        yield from refreshes[: len(self.before)]
        word = f"split: [{split}], steps: {steps}"
        every = f", every: {self.every}"
        yield f"{{metropolis: {{{word}{flip}}}{every}}}" if self.accepted else f"{{{word}{every}}}"
        yield from refreshes[len(self.before) :]


def random_cycle(random: Random) -> Cycle:
    """Return a cycle, half of them near to a right one."""
    dynamics = random.choice(("hmc", "hmc", "sghmc"))
    noisy = dynamics == "sghmc"
    accepted = random.random() < 0.8
    least = random.choice((1, 1, 2, 3))
    steps = (1, 1) if noisy else (least, least) if random.random() < 0.6 or not accepted else (least, least + 2)
    flip = random.choice(((), ("r",), ("r",), ("r",), ("theta",), ("theta", "r"))) if accepted else ()
    word, before, after = _word(random, "ABO" if noisy else "AB"), _shares(random), _shares(random)
    U, (M, C), eps = random_potential(random), _matrices(random), Fraction(random.choice((3, 5, 8)), 10)
    every, *every_refresh = (random.choice((1, 1, 1, 2, 3)) for _ in range(1 + len(before) + len(after)))
    often = {"every": every, "every_refresh": tuple(every_refresh)} if random.random() < 0.5 else {}
    made = replace(Cycle(dynamics, word, accepted, steps, flip, before, after, U, M, C, eps), **often)
    return _with_draws(random, made) if random.random() < 0.4 else made


def random_drawn(random: Random) -> Cycle:
    """Return a cycle with draws of coordinates beside other moves."""
    while not (found := _with_draws(random, random_cycle(random))).word:
        pass
    return found


def _with_draws(random: Random, cycle: Cycle) -> Cycle:
    """Return a cycle with draws of coordinates, most of their laws right, the word left out in some."""
    two, mixed, tilt, square, quartic = (
        Fraction(random.choice(few), 2) for few in ((3, 4, 5), (-1, 1, 2), (0, 1), (0, 1), (0, 0, 0, 1))
    )
    own = {(2, 0): two, (0, 2): two + 1, (1, 1): mixed, (1, 0): tilt, (2, 2): square, (0, 4): quartic}
    given = {
        0: Claimed(0, (-tilt, -mixed), (2 * two, Fraction(0), 2 * square)),
        1: Claimed(1, (Fraction(0), -mixed), (2 * two + 2, Fraction(0), 2 * square)),
    }
    laws = tuple(_bent(random, law) for law in given.values())
    places = random.choice(((0,), (1,), (0, 1), (1, 0), (0, 1, 0)))
    draws = tuple((place, random.random() < 0.5) for place in places)
    U = {powers: c for powers, c in own.items() if c}
    alone = random.random() < 0.3
    changed = replace(cycle, U=U, laws=laws, draws=draws)
    still = replace(changed, dynamics="still", word=(), accepted=False, before=(), after=(), every=1, every_refresh=())
    return still if alone else changed


def _bent(random: Random, law: Claimed) -> Claimed:
    """Return a law, or one with another variance, mean, or coupling."""
    kind = random.choice((*["right"] * 12, "half", "sign", "free", "shift"))
    match kind:
        case "half":
            return replace(law, P=tuple(c / 2 for c in law.P))
        case "sign":
            return replace(law, h=tuple(-c for c in law.h))
        case "free":
            return replace(law, P=law.P[:1])
        case "shift":
            return replace(law, h=(law.h[0] + 1, *law.h[1:]))
        case _:
            return law


def _shares(random: Random) -> tuple[Fraction, ...]:
    return tuple(random.choice(KEPT) for _ in range(random.choice((0, 0, 1, 1, 2))))


def _word(random: Random, names: str) -> tuple[Letter, ...]:
    """Return a palindrome, one with a share or a letter out of place, or letters by chance."""
    half = [(random.choice(names), Fraction(random.randint(1, 4))) for _ in range(random.randint(1, 3))]
    middle = [(random.choice(names), Fraction(random.randint(1, 4)))] * random.randint(0, 1)
    word = [*half, *middle, *half[::-1]]
    kind = random.random()
    if kind < 0.15:
        k = random.randrange(len(word))
        word[k] = (word[k][0], word[k][1] + 1)
    elif kind < 0.3:
        random.shuffle(word)
    elif kind < 0.4:  # a letter in two parts, which is the same map
        k = random.randrange(len(word))
        letter, share = word[k]
        word[k : k + 1] = [(letter, share / 3), (letter, 2 * share / 3)]
    elif kind < 0.45:  # steps back, of a map that has an inverse
        k = random.randrange(len(word))
        word[k] = (word[k][0], word[k][1] * (1 if word[k][0] == "O" else -1))
    missing = [name for name in names if not sum(share for letter, share in word if letter == name)]
    word = [*((name, Fraction(1)) for name in missing), *word, *((name, Fraction(1)) for name in reversed(missing))]
    total = {name: sum(share for letter, share in word if letter == name) for name in names}
    if any(not total[name] or abs(share / total[name]) > 1 for name, share in word):  # far steps are never taken
        return _word(random, names)
    return tuple((letter, share / total[letter]) for letter, share in word)


def random_potential(random: Random) -> Polynomial:
    """Return a quadratic, with a quartic, or odd terms, or both; it grows."""
    a, c, b = random.randint(3, 5), random.randint(3, 5), random.choice((-1, 1, 3))
    found = {(2, 0): Fraction(a, 2), (0, 2): Fraction(c, 2), (1, 1): Fraction(b, 2)}
    if random.random() < 0.5:
        found |= {(4, 0): Fraction(1, 4), (2, 2): Fraction(random.randint(0, 2), 4), (0, 4): Fraction(1, 3)}
    if random.random() < 0.5:
        found |= {random.choice(((1, 0), (0, 1))): Fraction(random.choice((-1, 1)), 2)}
        if (4, 0) in found:
            found |= {random.choice(((3, 0), (2, 1))): Fraction(random.choice((-1, 1)), 3)}
    return {powers: c for powers, c in found.items() if c}


def _matrices(random: Random) -> tuple[Matrix, Matrix]:
    """Return M and C, positive definite, that do not commute."""
    while True:
        (m, n), (c, k) = ((random.randint(1, 3), random.randint(1, 3)) for _ in range(2))
        q, w = random.choice((-1, 1)), random.choice((0, 1))
        if m * n > q * q and c * k > w * w and m * w + q * k != c * q + w * n:
            return ((m, q), (q, n)), ((c, w), (w, k))


@dataclass(frozen=True)
class Judge:
    """Maps, H and samples of pi of one cycle. States are arrays (states, 4): theta, then r."""

    cycle: Cycle

    def wrong_claims(self, seed: int) -> dict[str, str]:
        """Return the claims that fail, each with why."""
        cycle = self.cycle
        names = {letter for letter, _ in cycle.word}
        drawn = {place for place, _ in cycle.draws}
        still = [] if "A" in names or drawn == {0, 1} else ["theta"]
        rng = np.random.default_rng(seed)
        lost = [why for law in cycle.laws if law.place in drawn and (why := law.off(self.U, rng))]
        found = self._of_the_rest(names, still, seed) if cycle.word else ({"cycle": str(still)} if still else {})
        return {**found, **dict.fromkeys(("draw", "cycle", "exact"), lost[0])} if lost else found

    def _of_the_rest(self, names: set[str], still: list[str], seed: int) -> dict[str, str]:
        cycle = self.cycle
        whole = all(sum(share for letter, share in cycle.word if letter == name) == 1 for name in names)
        found = {"cycle": f"{still} has no move"} if still else {}
        off = self._off(np.random.default_rng(seed))
        if off and cycle.accepted:
            return {**dict.fromkeys(CLAIMS[1:], off), **found}
        if off:
            found["exact"] = off
        if whole and not cycle.accepted and (limit := self._off_limit(np.random.default_rng(seed))):
            found["cycle"] = limit
        return found if whole or cycle.accepted else {**found, "cycle": "another equation"}

    def _off_limit(self, rng: np.random.Generator) -> str:
        """Return how a word that is not accepted changes the law of what moves slowly, by eps**2; empty where not.

        That is theta that is not drawn, where r is refreshed; friction leaves the law of r, and changes it by eps**3.
        """
        cycle = self.cycle
        slow = [k for k in (0, 1) if k not in {place for place, _ in cycle.draws}]
        if not slow or not (cycle.before or cycle.after):
            return ""
        word = tuple((name, share) for name, share in cycle.word if name != "O")
        changes: list[list[float]] = []
        y, weight = self._fast(rng.normal(size=(4, 2)), slow)
        for eps in SMALL:
            one = Judge(replace(cycle, word=word, eps=eps))
            changes.append([float(w @ one._residual(z)) / float(eps) ** 2 for z, w in zip(y, weight, strict=True)])
        near, far = np.array(changes)
        certain = (np.abs(near) > OFF_LIMIT) & (np.abs(near - far) < 0.2 * np.abs(near))
        return f"the law of theta changes by {far[certain][0]:.3g} eps**2" if certain.any() else ""

    def _fast(self, at: Array, slow: list[int]) -> tuple[list[Array], list[Array]]:
        """Return states around some theta, over a grid of r and of the coordinate that is drawn, with their weights."""
        u, v = np.linspace(-5.5, 5.5, 41), np.linspace(-6, 6, 61) if len(slow) == 1 else np.zeros(1)
        grid = np.array(list(product(v, u, u)))
        r = grid[:, 1:] @ np.linalg.cholesky(np.array(self.cycle.M, float)).T
        states: list[Array] = []
        weights: list[Array] = []
        for theta in at:
            z = np.hstack([np.broadcast_to(theta, (len(grid), 2)), r])
            if len(slow) == 1:
                z[:, 1 - slow[0]] = grid[:, 0]
            H = self.H(z)
            weight = np.exp(H.min() - H)
            states.append(z)
            weights.append(weight / weight.sum())
        return states, weights

    def _off(self, rng: np.random.Generator) -> str:
        """Return how the move departs from pi; empty where it does not as far as one sees."""
        full = self.cycle.forgets
        if any(letter == "O" for letter, _ in self.cycle.word):
            return self._off_means(rng, full=full)
        if full and self.cycle.accepted:
            return self._off_marginal(rng)
        y = rng.normal(size=(800, 4)) * np.repeat((0.2, 1.5), 400)[:, None]
        off = float(np.abs(self._residual(y)).max())
        return f"(pi K - pi)/pi = {off:.3g}" if off > OFF else ""

    def _residual(self, y: Array) -> Array:
        """Return (pi K - pi)/pi."""
        counts = range(self.cycle.steps[0], self.cycle.steps[1] + 1)
        total, Gy = np.zeros(len(y)), self._turned(y)
        for count in counts:
            x = self._map(y, count, -1)
            here = self.H(y)
            if not self.cycle.accepted:
                total += np.exp(here - self.H(x)) - 1
                continue
            ahead = self._map(Gy, count, 1)
            at_x, at_G, at_ahead = (np.exp(np.minimum(here - self.H(z), 600)) for z in (x, Gy, ahead))
            total += np.minimum(at_x, 1) + at_G - np.minimum(at_G, at_ahead) - 1
        return total / len(counts)

    def _off_marginal(self, rng: np.random.Generator) -> str:
        """Return how the law of theta departs after the move, by a sum over a grid of momenta."""
        u = np.linspace(-5.5, 5.5, 71)
        grid = np.array(list(product(u, u)))
        weight = np.exp(-(grid**2).sum(1) / 2) * (u[1] - u[0]) ** 2 / (2 * np.pi)
        r = grid @ np.linalg.cholesky(np.array(self.cycle.M, float)).T
        states = [np.hstack([np.broadcast_to(theta, r.shape), r]) for theta in rng.normal(size=(4, 2))]
        worst = max(abs(float(weight @ self._residual(y))) for y in states)
        if worst > OFF_MARGINAL:
            return f"the law of theta is off by {worst:.3g}"
        near, far = (
            np.array([float(weight @ replace(self, cycle=replace(self.cycle, eps=eps))._residual(y)) for y in states])
            / float(eps) ** 2
            for eps in SMALL
        )
        certain = (np.abs(near) > OFF_LIMIT) & (np.abs(near - far) < 0.2 * np.abs(near))
        return f"the law of theta changes by {far[certain][0]:.3g} eps**2" if certain.any() else ""

    def _off_means(self, rng: np.random.Generator, *, full: bool) -> str:
        """Return a mean over pi that a move with noise changes; of theta only, where r is drawn anew."""
        z = self.sample(rng, 60_000)
        new, work = self._noisy(z, rng)
        if self.cycle.accepted:
            taken = np.exp(np.minimum(-work, 0))
            back = self._turned(z)
        else:
            taken, back = np.ones(len(z)), z
        seen = slice(0, 2) if full and self.cycle.accepted else slice(0, 4)
        for name, at, at_new, at_back in zip(*functions(z[:, seen], new[:, seen], back[:, seen]), strict=True):
            change = taken * at_new + (1 - taken) * at_back - at
            error = float(change.std()) / len(z) ** 0.5
            if abs(float(change.mean())) > DEVIATIONS * error + 1e-12:
                return f"E {name} changes by {change.mean():.3g} +- {error:.1g}"
        return ""

    def _noisy(self, z: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return where the word leads, and its work: what letters without noise add to H."""
        M, C, work = np.array(self.cycle.M, float), np.array(self.cycle.C, float), np.zeros(len(z))
        L = np.linalg.cholesky(M)
        rates, V = np.linalg.eigh(np.linalg.solve(L, np.linalg.solve(L, C).T))
        for _ in range(self.cycle.steps[0]):
            for letter, share in self.cycle.word:
                h = float(share * self.cycle.eps)
                if letter != "O":
                    new = self.letter(z, letter, h)
                    work += self.H(new) - self.H(z)
                    z = new
                    continue
                decay = np.exp(-rates * h)
                x = np.linalg.solve(L, z[:, 2:].T).T @ V
                x = decay * x + np.sqrt(1 - decay**2) * rng.normal(size=x.shape)
                z = np.hstack([z[:, :2], x @ V.T @ L.T])
        return z, work

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Return states with the law exp(-H), theta by rejection from a normal law."""
        found: list[Array] = []
        u = np.linspace(-5, 5, 201)
        grid = np.array(list(product(u, u)))
        lowest = float((self.U(grid) - 0.4 * (grid**2).sum(1)).min()) - 0.05
        while sum(map(len, found)) < count:
            x = rng.normal(size=(count, 2)) / 0.8**0.5
            found.append(x[-np.log(rng.random(count)) > self.U(x) - 0.4 * (x**2).sum(1) - lowest])
        theta = np.vstack(found)[:count]
        return np.hstack([theta, rng.normal(size=(count, 2)) @ np.linalg.cholesky(np.array(self.cycle.M, float)).T])

    @property
    def W(self) -> Array:
        """Return inv(M)."""
        return np.linalg.inv(np.array(self.cycle.M, float))

    def U(self, theta: Array) -> Array:
        """Return the potential."""
        return sum((float(c) * theta[:, 0] ** i * theta[:, 1] ** j for (i, j), c in self.cycle.U.items()), np.zeros(1))

    def H(self, z: Array) -> Array:
        """Return U + r.T inv(M) r/2."""
        r = z[:, 2:]
        return self.U(z[:, :2]) + (r @ self.W * r).sum(1) / 2

    def letter(self, z: Array, letter: str, h: float) -> Array:
        """Return where a letter without noise leads in a time."""
        theta, r = z[:, :2], z[:, 2:]
        if letter == "A":
            return np.hstack([theta + h * r @ self.W, r])
        slope = np.zeros_like(theta)
        for (i, j), c in self.cycle.U.items():
            slope[:, 0] += float(c) * (i * theta[:, 0] ** (i - 1) * theta[:, 1] ** j if i else 0)
            slope[:, 1] += float(c) * (j * theta[:, 0] ** i * theta[:, 1] ** (j - 1) if j else 0)
        return np.hstack([theta, r - h * slope])

    def _map(self, z: Array, count: int, sign: int) -> Array:
        """Return where the word leads, done so often; its inverse for the sign -1."""
        for _ in range(count):
            for letter, share in self.cycle.word[::sign]:
                z = np.clip(self.letter(z, letter, sign * float(share * self.cycle.eps)), -1e30, 1e30)
        return z

    def _turned(self, z: Array) -> Array:
        signs = [-1.0 if name in self.cycle.flip else 1.0 for name in ("theta", "theta", "r", "r")]
        return z * np.array(signs)


def functions(*states: Array) -> tuple[tuple[str, ...], *tuple[list[Array], ...]]:
    """Return names, and values at each array of states: coordinates, their products, waves, a fourth power."""
    n = states[0].shape[1]
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    names = (*(f"z{i}" for i in range(n)), *(f"z{i} z{j}" for i, j in pairs), "cos z0", "sin z1", "z0^4", "|z0 - z1|")

    def values(z: Array) -> list[Array]:
        z = np.clip(z, -20, 20)
        products = [z[:, i] * z[:, j] for i, j in pairs]
        more = [np.cos(z[:, 0]), np.sin(z[:, 1]), z[:, 0] ** 4, np.abs(z[:, 0] - z[:, 1])]
        return [*(z[:, i] for i in range(n)), *products, *more]

    return (names, *(values(z) for z in states))

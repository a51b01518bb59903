"""Random cycles of refreshes, words and draws in the plane, right or wrong by chance, and what is true of them.

The judge composes the maps of letters itself, in floating point, and shares nothing with the compiler. A Metropolis
move without noise is judged pointwise: with G the flip that it does and x = Psi^-1 y, by the reversed word of shares
with the other sign,

    (pi K)(y) - pi(y) = min(pi(x), pi(y)) + pi(G y) - min(pi(G y), pi(Psi G y)) - pi(y),

or, where the momentum is drawn wholly anew between each such move and the next, its integral over r. One with noise is
judged by means over pi: states drawn from pi, moved once, may not have changed the mean of any function. Draws of a
coordinate from a normal law that is claimed of it are judged by differences of U along it. That finds what is wrong,
and proves nothing right.

A word may hold a coordinate, follow a step size of its own, or other dynamics with E = U + k r.T inv(M) r/2, which is
H = T U + r.T inv(M) r/2 where both are 1; a law claimed under exp(-U) is one of exp(-H) where T = 1.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import lcm
from random import Random
from typing import Any

import numpy as np
from parts import Array, Drawn, build, fails, few

Letter = tuple[str, Fraction]
Polynomial = Mapping[tuple[int, int], Fraction]
Matrix = tuple[tuple[int, int], tuple[int, int]]
ONE = ((1, 0), (0, 1))

OFF = 1e-7
"""Of a residual at a point, over pi: larger than rounding."""
OFF_LIMIT, SMALL = 1e-2, (Fraction(1, 64), Fraction(1, 128))
"""Of what a cycle changes over pi eps**2, and the step sizes at which that is the same."""
OFF_MARGINAL = 4e-3
"""Of one integrated over r on a grid, which kinks of `min` are not exact on."""
DEVIATIONS, STATES = 6.5, 60_000
"""Standard errors at which a mean over pi has changed: by chance in 1 of 1e10."""
NAMES = ("a", "b")
"""The coordinates of theta where they are blocks of the target of their own."""
KEPT = (Fraction(0), Fraction(0), Fraction(1, 3), Fraction(9, 10), Fraction(-1, 2))
"""The shares of r that refreshes keep."""


@dataclass(frozen=True)
class Plane:
    """H = U + r.T inv(M) r/2 and its letters. States are arrays (states, 4): theta, then r."""

    U: Polynomial
    M: Matrix = ONE
    C: Matrix = ONE

    @property
    def L(self) -> Array:
        """The Cholesky factor of M."""
        return np.linalg.cholesky(np.array(self.M, float))

    def energy(self, theta: Array) -> Array:
        """Return U."""
        return sum((float(c) * theta[:, 0] ** i * theta[:, 1] ** j for (i, j), c in self.U.items()), np.zeros(1))

    def slope(self, theta: Array) -> Array:
        """Return grad U."""
        found = np.zeros_like(theta)
        for (i, j), c in self.U.items():
            found[:, 0] += float(c) * (i * theta[:, 0] ** (i - 1) * theta[:, 1] ** j if i else 0)
            found[:, 1] += float(c) * (j * theta[:, 0] ** i * theta[:, 1] ** (j - 1) if j else 0)
        return found

    def H(self, z: Array) -> Array:
        """Return H."""
        r = z[:, 2:]
        return self.energy(z[:, :2]) + (r @ np.linalg.inv(np.array(self.M, float)) * r).sum(1) / 2

    def letter(self, z: Array, letter: str, h: float) -> Array:
        """Return where a letter without noise leads in a time."""
        theta, r = z[:, :2], z[:, 2:]
        if letter == "A":
            return np.hstack([theta + h * r @ np.linalg.inv(np.array(self.M, float)), r])
        return np.hstack([theta, r - h * self.slope(theta)])

    def sample(self, rng: np.random.Generator) -> Array:
        """Return states with the law exp(-H), theta by rejection from a normal law."""
        found: list[Array] = []
        grid = np.array(list(product(np.linspace(-5, 5, 201), repeat=2)))
        lowest = float((self.energy(grid) - 0.4 * (grid**2).sum(1)).min()) - 0.05
        while sum(map(len, found)) < STATES:
            x = rng.normal(size=(STATES, 2)) / 0.8**0.5
            found.append(x[-np.log(rng.random(STATES)) > self.energy(x) - 0.4 * (x**2).sum(1) - lowest])
        return np.hstack([np.vstack(found)[:STATES], rng.normal(size=(STATES, 2)) @ self.L.T])


def off_means(z: Array, new: Array, back: Array, taken: Array) -> str:
    """Return a mean that a move changes, taken with some probability; empty where none is seen to."""
    n = z.shape[1]
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    names = (*(f"z{i}" for i in range(n)), *(f"z{i} z{j}" for i, j in pairs), "cos z0", "sin z1", "z0^4", "|z0 - z1|")

    def values(z: Array) -> list[Array]:
        z = np.clip(z, -20, 20)
        products = [z[:, i] * z[:, j] for i, j in pairs]
        return [*z.T, *products, np.cos(z[:, 0]), np.sin(z[:, 1]), z[:, 0] ** 4, np.abs(z[:, 0] - z[:, 1])]

    for name, at, at_new, at_back in zip(names, *map(values, (z, new, back)), strict=True):
        change = taken * at_new + (1 - taken) * at_back - at
        error = float(change.std()) / len(z) ** 0.5
        if abs(float(change.mean())) > DEVIATIONS * error + 1e-12:
            return f"E {name} changes by {change.mean():.3g} +- {error:.1g}"
    return ""


# Moves of a cycle


@dataclass(frozen=True)
class Draw:
    """A draw of a coordinate from its law."""

    place: int


@dataclass(frozen=True)
class Refresh:
    """r' = share r + ..."""

    share: Fraction
    every: int = 1


@dataclass(frozen=True)
class Word:
    """A word, as often as it is done, and accepted or not; what it flips and moves, and its step size."""

    letters: tuple[Letter, ...]
    steps: tuple[int, int] = (1, 1)
    flip: tuple[str, ...] = ()
    every: int = 1
    accepted: bool = True
    moved: tuple[int, ...] = (0, 1)
    scale: Fraction = Fraction(1)


Move = Draw | Refresh | Word


def stated(move: Move, *, used: bool) -> dict[str, Any]:
    """Return a move as a build states it."""
    if isinstance(move, Draw):
        return {"draw": NAMES[move.place]}
    often = {"every": move.every} if move.every > 1 else {}
    if isinstance(move, Refresh):
        return {"refresh": {"r": move.share}, **often}
    least, most = move.steps
    word = {
        "split": [f"{share.numerator}*{letter}/{share.denominator}" for letter, share in move.letters],
        "steps": least if least == most else f"uniform({least}, {most})",
        **({"scale": move.scale} if move.scale != 1 else {}),
        **({"flip": {name: f"-{name}" for name in move.flip}} if move.flip else {}),
    }
    if not move.accepted:
        return {**word, **often}
    of = {"of": {"theta": [NAMES[k] for k in move.moved]}} if used or len(move.moved) < 2 else {}
    return {**({"use": "used.yaml"} if used else {}), **of, "metropolis": word, **often}


def is_anew(moves: tuple[Move, ...], word: Word) -> bool:
    """Whether r is drawn wholly anew between a word, wherever it is done, and the next that is done, over a period."""
    timed = [move for move in moves if not isinstance(move, Draw)]
    circle = [m for k in range(lcm(*(move.every for move in timed))) for m in timed if k % m.every == 0]
    for start in (k for k, move in enumerate(circle) if move is word):
        after = [*circle[start + 1 :], *circle[: start + 1]]
        until = next(k for k, move in enumerate(after) if isinstance(move, Word))
        if not any(isinstance(move, Refresh) and move.share == 0 for move in after[:until]):
            return False
    return True


@dataclass(frozen=True)
class Judge:
    """Says whether one word departs from pi, as far as one sees."""

    plane: Plane
    word: Word
    eps: Fraction
    is_anew: bool

    def off(self, rng: np.random.Generator) -> str:
        """Return how the move departs from pi; empty where it does not as far as one sees."""
        if any(letter == "O" for letter, _ in self.word.letters):
            return self._off_noisy(rng)
        if self.is_anew and self.word.accepted:
            return self._off_marginal(rng)
        off = float(np.abs(self.residual(rng.normal(size=(800, 4)) * np.repeat((0.2, 1.5), 400)[:, None])).max())
        return f"(pi K - pi)/pi = {off:.3g}" if off > OFF else ""

    def letter(self, z: Array, letter: str, h: float) -> Array:
        """Return where a letter leads in a time; it leaves the coordinates that are held, and their momenta."""
        new = self.plane.letter(z, letter, h)
        held = [k + (2 if letter == "B" else 0) for k in (0, 1) if k not in self.word.moved]
        new[:, held] = z[:, held]
        return new

    def _map(self, z: Array, count: int, sign: int) -> Array:
        """Return where the word leads, done so often; its inverse for the sign -1."""
        for letter, share in count * self.word.letters[::sign]:
            z = np.clip(self.letter(z, letter, sign * float(share * self.word.scale * self.eps)), -1e30, 1e30)
        return z

    def _turned(self, z: Array) -> Array:
        return z * np.array([-1.0 if name in self.word.flip else 1.0 for name in ("theta", "theta", "r", "r")])

    def residual(self, y: Array) -> Array:
        """Return (pi K - pi)/pi."""
        counts = range(self.word.steps[0], self.word.steps[1] + 1)
        total, Gy, here = np.zeros(len(y)), self._turned(y), self.plane.H(y)
        for count in counts:
            x = self._map(y, count, -1)
            if not self.word.accepted:
                total += np.exp(here - self.plane.H(x)) - 1
                continue
            states = x, Gy, self._map(Gy, count, 1)
            at_x, at_G, at_ahead = (np.exp(np.minimum(here - self.plane.H(z), 600)) for z in states)
            total += np.minimum(at_x, 1) + at_G - np.minimum(at_G, at_ahead) - 1
        return total / len(counts)

    def _off_small(self, states: list[Array], weights: list[Array]) -> str:
        """Return by how much the law of theta changes over eps**2, where that is the same at two small steps."""
        judges = [replace(self, eps=eps) for eps in SMALL]
        changes = [[w @ one.residual(z) for z, w in zip(states, weights, strict=True)] for one in judges]
        near, far = (np.array(row) / float(eps) ** 2 for row, eps in zip(changes, SMALL, strict=True))
        certain = (np.abs(near) > OFF_LIMIT) & (np.abs(near - far) < 0.2 * np.abs(near))
        return f"the law of theta changes by {far[certain][0]:.3g} eps**2" if certain.any() else ""

    def _off_marginal(self, rng: np.random.Generator) -> str:
        """Return how the law of theta departs after the move, by a sum over a grid of momenta."""
        u = np.linspace(-5.5, 5.5, 71)
        grid = np.array(list(product(u, u)))
        weight = np.exp(-(grid**2).sum(1) / 2) * (u[1] - u[0]) ** 2 / (2 * np.pi)
        r = grid @ self.plane.L.T
        states = [np.hstack([np.broadcast_to(theta, r.shape), r]) for theta in rng.normal(size=(4, 2))]
        worst = max(abs(float(weight @ self.residual(y))) for y in states)
        off = f"the law of theta is off by {worst:.3g}" if worst > OFF_MARGINAL else ""
        return off or self._off_small(states, [weight] * 4)

    def off_limit(self, rng: np.random.Generator, slow: list[int]) -> str:
        """Return how a word that is not accepted changes the law of what moves slowly, by eps**2; empty where not.

        That is theta that is not drawn, where r is refreshed; friction leaves the law of r, and changes it by eps**3.
        Sums are over a grid of r, and of the coordinate that is drawn.
        """
        u, v = np.linspace(-5.5, 5.5, 41), np.linspace(-6, 6, 61) if len(slow) == 1 else np.zeros(1)
        grid = np.array(list(product(v, u, u)))
        states, weights = list[Array](), list[Array]()
        for theta in rng.normal(size=(4, 2)):
            z = np.hstack([np.broadcast_to(theta, (len(grid), 2)), grid[:, 1:] @ self.plane.L.T])
            if len(slow) == 1:
                z[:, 1 - slow[0]] = grid[:, 0]
            H = self.plane.H(z)
            weight = np.exp(H.min() - H)
            states.append(z)
            weights.append(weight / weight.sum())
        quiet = tuple((name, share) for name, share in self.word.letters if name != "O")
        return replace(self, word=replace(self.word, letters=quiet))._off_small(states, weights)

    def _off_noisy(self, rng: np.random.Generator) -> str:
        """Return a mean over pi that a move with noise changes; of theta only, where r is drawn anew."""
        z = self.plane.sample(rng)
        new, work = self._noisy(z, rng)
        taken, back = np.ones(len(z)), z
        if self.word.accepted:
            taken, back = np.exp(np.minimum(-work, 0)), self._turned(z)
        seen = slice(0, 2 if self.is_anew and self.word.accepted else 4)
        return off_means(z[:, seen], new[:, seen], back[:, seen], taken)

    def _noisy(self, z: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return where the word leads, and its work: what letters without noise add to H."""
        L, work = self.plane.L, np.zeros(len(z))
        rates, V = np.linalg.eigh(np.linalg.solve(L, np.linalg.solve(L, np.array(self.plane.C, float)).T))
        for letter, share in self.word.steps[0] * self.word.letters:
            h = float(share * self.eps)
            if letter != "O":
                new = self.letter(z, letter, h)
                work += self.plane.H(new) - self.plane.H(z)
                z = new
                continue
            decay = np.exp(-rates * h)
            x = np.linalg.solve(L, z[:, 2:].T).T @ V
            x = decay * x + np.sqrt(1 - decay**2) * rng.normal(size=x.shape)
            z = np.hstack([z[:, :2], x @ V.T @ L.T])
        return z, work


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

    def off(self, plane: Plane, rng: np.random.Generator) -> str:
        """Return by how much U - E changes along the coordinate; empty where it does not as far as one sees."""
        z, there = rng.normal(size=(2, 400, 2))
        x = there[:, 1 - self.place] = z[:, 1 - self.place]
        h, P = (sum((float(c) * x**n for n, c in enumerate(p)), np.zeros(len(x))) for p in (self.h, self.P))
        one, other = (plane.energy(at) - P * at[:, self.place] ** 2 / 2 + h * at[:, self.place] for at in (z, there))
        off = float(np.abs(one - other).max())
        return f"U - E of {NAMES[self.place]} changes by {off:.3g}" if off > OFF else ""


@dataclass(frozen=True)
class Cycle:
    """Moves in a plane, with the laws that are claimed of its coordinates, and how energies are scaled."""

    dynamics: str
    plane: Plane
    eps: Fraction
    moves: tuple[Move, ...]
    laws: tuple[Claimed, ...] = ()
    named: bool = False
    """Whether coordinates are blocks of their own, which the laws need."""
    T: Fraction | None = None
    k: Fraction | None = None
    """None where the words follow the dynamics of the build."""

    @property
    def words(self) -> list[Word]:
        """The moves that are words."""
        return [move for move in self.moves if isinstance(move, Word)]

    def document(self) -> Drawn:
        """Return the documents, with their judge."""
        return Drawn(self.files(), self.judge)

    def files(self) -> dict[str, Any]:
        """Return target and build, and the dynamics if they are others."""
        names = NAMES if self.named or self.laws else ("theta[0]", "theta[1]")
        terms = (f"{c}*{'*'.join([names[0]] * i + [names[1]] * j)}" for (i, j), c in self.plane.U.items())
        state = {"a": {}, "b": {}} if names is NAMES else {"theta": {"shape": 2}}
        target: dict[str, Any] = {"name": "plane", "state": state, "potential": " + ".join(terms)}
        target |= {"laws": {NAMES[law.place]: law.text() for law in self.laws}} if self.laws else {}
        matrices = {"hmc": {"M": self.plane.M}, "sghmc": {"M": self.plane.M, "C": self.plane.C}}
        values = {name: {"value": matrix} for name, matrix in matrices.get(self.dynamics, {}).items()}
        cycle = [stated(move, used=self.k is not None) for move in self.moves]
        whole = build("random_cycle", self.dynamics, scheme={"cycle": cycle}, run={"step_size": float(self.eps)})
        files = {"target.yaml": target}
        if self.T is not None:
            turn, still = [[0, "-I"], ["I", 0]], [[0, 0], [0, 0]]
            files["own.yaml"] = own("T*U(theta) + r.T @ inv(M) @ r/2", "T", turn if self.k is None else still)
            files["used.yaml"] = own("U(theta) + k*r.T @ inv(M) @ r/2", "k", turn)
            values |= {name: {"value": x} for name, x in (("T", self.T), ("k", self.k)) if x is not None}
            whole["dynamics"] = "own.yaml"
        return files | {"build.yaml": whole | {"parameters": values}}

    def judge(self, rng: np.random.Generator) -> dict[str, str]:
        """Return the claims that fail, each with why."""
        T = 1 if self.T is None else self.T
        plane = replace(self.plane, U={powers: T * c for powers, c in self.plane.U.items()})
        seed = rng.integers(2**32)
        drawn = {move.place for move in self.moves if isinstance(move, Draw)}
        moved = drawn | {k for word in self.words if "A" in dict(word.letters) for k in word.moved}
        still = {0, 1} - moved
        found = {"cycle": f"{still} has no move"} if still else {}
        for word in self.words:
            judge = Judge(plane, word, self.eps, is_anew(self.moves, word))
            off = judge.off(np.random.default_rng(seed))
            if word.accepted:
                found |= fails("metropolis cycle exact", off)
                continue
            found |= fails("exact", off) | self._off_limit(judge, sorted({0, 1} - drawn), np.random.default_rng(seed))
        laws = [law.off(plane, np.random.default_rng(seed)) for law in self.laws if law.place in drawn]
        found |= fails("draw cycle exact", next(filter(None, laws), ""))
        if self.k is not None and (self.k != 1 or self.T != 1) and any(word.moved for word in self.words):
            found["use"] = f"the energy used is another one: k = {self.k}, T = {self.T}"
        return found

    def _off_limit(self, judge: Judge, slow: list[int], rng: np.random.Generator) -> dict[str, str]:
        letters = judge.word.letters
        if any(sum(share for letter, share in letters if letter == name) != 1 for name, _ in letters):
            return {"cycle": "another equation"}
        refreshed = any(isinstance(move, Refresh) for move in self.moves)
        return fails("cycle", judge.off_limit(rng, slow)) if slow and refreshed else {}


def own(H: str, number: str, Q: list[list[Any]]) -> dict[str, Any]:
    """Return dynamics without noise, with a number that scales one energy."""
    return {
        "name": "own" if number == "T" else "used",
        "state": {"theta": {"shape": "d"}, "r": {"shape": "d"}},
        "parameters": {"M": {"shape": ["d", "d"], "is": "positive definite"}, number: {"is": "positive"}},
        "functions": {"U": {"of": "theta", "role": "potential"}},
        "H": H,
        "D": [[0, 0], [0, 0]],
        "Q": Q,
    }


# What is drawn


def random_cycle(random: Random) -> Cycle:
    """Return a cycle of one word, half of them near to a right one; or with draws of coordinates."""
    dynamics = random.choice(("hmc", "hmc", "sghmc"))
    noisy = dynamics == "sghmc"
    accepted = random.random() < 0.8
    least = random.choice((1, 1, 2, 3))
    steps = (1, 1) if noisy else (least, least) if random.random() < 0.6 or not accepted else (least, least + 2)
    flip = random.choice(((), ("r",), ("r",), ("r",), ("theta",), ("theta", "r"))) if accepted else ()
    letters, before, after = _letters(random, "ABO" if noisy else "AB"), _shares(random), _shares(random)
    U, (M, C), eps = random_potential(random), _matrices(random), Fraction(random.choice((3, 5, 8)), 10)
    every = [random.choice((1, 1, 1, 2, 3)) for _ in range(1 + len(before) + len(after))]
    if random.random() >= 0.5:
        every = [1] * len(every)
    refreshes = [Refresh(*one) for one in zip((*before, *after), every[1:], strict=True)]
    word = Word(letters, steps, flip, every[0], accepted)
    moves = (*refreshes[: len(before)], word, *refreshes[len(before) :])
    made = Cycle(dynamics, Plane(U, M, C), eps, moves)
    if random.random() >= 0.4:
        return made
    U, laws, draws, alone = random_laws(random)
    moves = _around(draws, () if alone else moves)
    return Cycle("still" if alone else dynamics, Plane(U, M, C), eps, moves, laws)


def random_laws(random: Random) -> tuple[Polynomial, tuple[Claimed, ...], list[tuple[Draw, bool]], bool]:
    """Return a potential with laws of its coordinates, most right, draws by them, and whether these are alone."""
    two, mixed, tilt, square, quartic = (
        Fraction(random.choice(numbers), 2) for numbers in ((3, 4, 5), (-1, 1, 2), (0, 1), (0, 1), (0, 0, 0, 1))
    )
    own = {(2, 0): two, (0, 2): two + 1, (1, 1): mixed, (1, 0): tilt, (2, 2): square, (0, 4): quartic}
    laws = (
        _bent(random, Claimed(0, (-tilt, -mixed), (2 * two, Fraction(0), 2 * square))),
        _bent(random, Claimed(1, (Fraction(0), -mixed), (2 * two + 2, Fraction(0), 2 * square))),
    )
    places = random.choice(((0,), (1,), (0, 1), (1, 0), (0, 1, 0)))
    draws = [(Draw(place), random.random() < 0.5) for place in places]
    return {powers: c for powers, c in own.items() if c}, laws, draws, random.random() < 0.3


def _around(draws: list[tuple[Draw, bool]], moves: Iterable[Move]) -> tuple[Move, ...]:
    """Return moves between the draws that come first, and the others."""
    return (*(draw for draw, first in draws if first), *moves, *(draw for draw, first in draws if not first))


def _bent(random: Random, law: Claimed) -> Claimed:
    """Return a law, or one with another variance, mean, or coupling."""
    match random.choice((*["right"] * 12, "half", "sign", "free", "shift")):
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


def _shares(random: Random, counts: tuple[int, ...] = (0, 0, 1, 1, 2)) -> tuple[Fraction, ...]:
    return tuple(random.choice(KEPT) for _ in range(random.choice(counts)))


def _letters(random: Random, names: str) -> tuple[Letter, ...]:
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
    missing = [(name, Fraction(1)) for name in names if not sum(share for letter, share in word if letter == name)]
    word = [*missing, *word, *missing[::-1]]
    total = {name: sum(share for letter, share in word if letter == name) for name in names}
    if any(not total[name] or abs(share / total[name]) > 1 for name, share in word):  # far steps are never taken
        return _letters(random, names)
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


def random_words(random: Random) -> Cycle:
    """Return a cycle of two or three words, about half of them near to a right one."""
    cycle = random_cycle(random)
    while cycle.dynamics != "hmc" or cycle.laws:
        cycle = random_cycle(random)
    right, count = random.random() < 0.5, random.choice((2, 2, 3))
    letters = cycle.words[0].letters
    if right:
        one, other = random.choice((("A", "B"), ("B", "A")))
        letters = ((one, Fraction(1, 2)), (other, Fraction(1)), (one, Fraction(1, 2)))
    often, moves = random.random() < 0.3, list[Move]()
    for _ in range(count):
        moves += map(Refresh, _shares(random, (0, 1, 1, 2)))
        moved = random.choice(((0,), (1,), (0, 1), (0, 1)))
        scale, steps = few(random, 1, "1/2", "3/2", "2/3"), random.choice(((1, 1), (2, 2), (1, 3)))
        flip = ("r",) if random.random() < (0.9 if right else 0.7) else ()
        every = random.choice((1, 1, 2)) if often else 1
        moves.append(Word(letters, steps, flip, every, moved=moved, scale=scale))
    return replace(cycle, moves=(*moves, *map(Refresh, _shares(random, (0, 1, 1, 2)))), named=True)


def random_held(random: Random) -> Drawn:
    """Return a cycle in which words hold blocks, or follow other dynamics, most numbers right."""
    cycle = random_words(random)
    while True:
        beside, (U, laws, draws, alone) = random_cycle(random), random_laws(random)
        if beside.words and not alone:
            break
    moves = cycle.moves
    if random.random() < 0.6:  # a word of what is not drawn
        draws = draws[:1]
        first, *_, last = (k for k, move in enumerate(moves) if isinstance(move, Word))
        word = replace(cycle.words[0], moved=(1 - draws[0][0].place,))
        moves = (*moves[:first], word, *moves[last + 1 :])
    T = few(random, 1, 1, 1, 2, "1/2")
    k = random.choice((None, None, Fraction(1), Fraction(1), Fraction(2)))
    plane = replace(cycle.plane, U=U)
    return replace(cycle, plane=plane, moves=_around(draws, moves), laws=laws, T=T, k=k).document()

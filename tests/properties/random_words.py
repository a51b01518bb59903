"""Random cycles of several Metropolis moves in the plane, each of coordinates, steps, flip and step size of its own.

The judge composes the maps of each move itself, in floating point: letters that move the coordinates of that move, for
scale*eps. Each move is judged as the one of a cycle that has no other (`random_cycles`): pointwise, or by the law of
theta where the momentum is drawn wholly anew before another move reads it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from pathlib import Path
from random import Random

import numpy as np
from random_cycles import KEPT, NAMES, Array, Cycle, Judge, random_cycle

WORDS_CLAIMS = ("metropolis", "cycle", "exact")


@dataclass(frozen=True)
class Word:
    """A move with the word, and the refreshes before it."""

    before: tuple[Fraction, ...]
    """The shares of r that they keep."""
    moved: tuple[int, ...]
    """The coordinates of theta that it moves."""
    scale: Fraction
    steps: tuple[int, int]
    flip: bool
    every: int

    def text(self, split: str) -> Iterator[str]:
        """Yield the refreshes, and the move, as a build states them."""
        yield from (f"{{refresh: {{r: {c}}}}}" for c in self.before)
        least, most = self.steps
        steps = str(least) if least == most else f'"uniform({least}, {most})"'
        flip = ", flip: {r: -r}" if self.flip else ""
        of = f"of: {{theta: [{', '.join(NAMES[k] for k in self.moved)}]}}, " if len(self.moved) < 2 else ""
        move = f"metropolis: {{split: [{split}], steps: {steps}, scale: {self.scale}{flip}}}"
        yield f"{{{of}{move}, every: {self.every}}}"


@dataclass(frozen=True)
class OneOf(Judge):
    """The judge of one of the moves: its letters leave the coordinates of theta that it holds, and their momenta."""

    moved: tuple[int, ...]
    again: bool
    """Whether the momentum is drawn wholly anew before another move reads it."""

    def letter(self, z: Array, letter: str, h: float) -> Array:
        """Return where a letter leads in a time."""
        new = super().letter(z, letter, h)
        held = [k for k in (0, 1) if k not in self.moved]
        columns = [k + (2 if letter == "B" else 0) for k in held]
        new[:, columns] = z[:, columns]
        return new

    def off(self, seed: int) -> str:
        """Return how the move departs from pi; empty where it does not as far as one sees."""
        rng = np.random.default_rng(seed)
        if self.again:
            return self._off_marginal(rng)
        y = rng.normal(size=(800, 4)) * np.repeat((0.2, 1.5), 400)[:, None]
        off = float(np.abs(self._residual(y)).max())
        return f"(pi K - pi)/pi = {off:.3g}" if off > 1e-7 else ""


@dataclass(frozen=True)
class Words:
    """Several moves with one word, U, M and the step size."""

    of: Cycle
    """A cycle with that word, whose own moves are not looked at."""
    words: tuple[Word, ...]
    after: tuple[Fraction, ...]
    """The shares of r that refreshes behind the last move keep."""

    def write(self, folder: Path) -> Path:
        """Write target and build; return the build."""
        path = self.of.write(folder)
        target = (folder / "plane.yaml").read_text(encoding="utf-8").replace("{theta: {shape: 2}}", "{a: {}, b: {}}")
        for place, name in enumerate(NAMES):
            target = target.replace(f"theta[{place}]", name)
        (folder / "plane.yaml").write_text(target, encoding="utf-8")
        head, _, tail = path.read_text(encoding="utf-8").partition("  cycle:\n")
        split = ", ".join(f"{share.numerator}*{letter}/{share.denominator}" for letter, share in self.of.word)
        moves = [move for word in self.words for move in word.text(split)]
        moves += [f"{{refresh: {{r: {c}}}}}" for c in self.after]
        listed = "".join(f"    - {move}\n" for move in moves)
        path.write_text(f"{head}  cycle:\n{listed}variant{tail.partition('variant')[2]}", encoding="utf-8")
        return path

    def wrong_claims(self, seed: int) -> dict[str, str]:
        """Return the claims that fail, each with why."""
        moved = (
            {k for word in self.words for k in word.moved} if any(name == "A" for name, _ in self.of.word) else set()
        )
        still = [name for k, name in enumerate(NAMES) if k not in moved]
        found = {"cycle": f"{still} has no move"} if still else {}
        for place, word in enumerate(self.words):
            flip, eps = ("r",) if word.flip else (), word.scale * self.of.eps
            own = replace(self.of, accepted=True, steps=word.steps, flip=flip, eps=eps)
            off = OneOf(own, word.moved, self._again(place)).off(seed)
            if off:
                return {**dict.fromkeys(WORDS_CLAIMS, f"move {place + 1} with a word: {off}"), **found}
        return found

    def _again(self, place: int) -> bool:
        """Whether r is drawn wholly anew between a move, wherever it is done, and the next that is, over a period."""
        circle: list[int | Fraction] = []
        for k in range(lcm(*(word.every for word in self.words))):
            for n, word in enumerate(self.words):
                circle += word.before
                circle += [n] if k % word.every == 0 else []
            circle += self.after
        rows: list[bool] = []
        for start in (k for k, one in enumerate(circle) if type(one) is int and one == place):
            after = [*circle[start + 1 :], *circle[: start + 1]]
            until = next(k for k, one in enumerate(after) if type(one) is int)
            rows.append(any(one == 0 for one in after[:until]))
        return all(rows)


def random_words(random: Random) -> Words:
    """Return a cycle of two or three moves with a word, about half of them near to a right one."""
    cycle = random_cycle(random)
    while cycle.dynamics != "hmc" or cycle.laws:
        cycle = random_cycle(random)
    right = random.random() < 0.5
    count = random.choice((2, 2, 3))
    own = replace(cycle, word=_leapfrog(random)) if right else cycle
    every = random.random() < 0.3
    words = tuple(
        Word(
            _refreshes(random),
            random.choice(((0,), (1,), (0, 1), (0, 1))),
            random.choice((Fraction(1), Fraction(1, 2), Fraction(3, 2), Fraction(2, 3))),
            random.choice(((1, 1), (2, 2), (1, 3))),
            random.random() < (0.9 if right else 0.7),
            random.choice((1, 1, 2)) if every else 1,
        )
        for _ in range(count)
    )
    return Words(own, words, _refreshes(random))


def _leapfrog(random: Random) -> tuple[tuple[str, Fraction], ...]:
    half, whole = Fraction(1, 2), Fraction(1)
    one, other = random.choice((("A", "B"), ("B", "A")))
    return ((one, half), (other, whole), (one, half))


def _refreshes(random: Random) -> tuple[Fraction, ...]:
    return tuple(random.choice(KEPT) for _ in range(random.choice((0, 1, 1, 2))))

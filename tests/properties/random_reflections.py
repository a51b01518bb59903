"""Random moves on theta > 0 whose positions are reflected at 0, right or wrong by chance, and what is true of them.

Kinetic energies have masses of each entry, or full matrices; words are palindromes, or lack a share of one; the flip
may be left out. The judge does the word in floating point from random states near 0, turns the momentum, does it again
and turns it back: it has to be where it began, and its differences have a determinant of +-1. It shares nothing with
the compiler. Momenta are drawn wholly anew before the move, so a flip that is missing is no fault.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
REFLECTION_CLAIMS = ("metropolis", "cycle", "exact")
EPS, STEP, OFF = 0.7, 1e-6, 1e-4
TARGET = "name: positive\nstate: {theta: {shape: d, domain: positive}}\npotential: 3*sum(theta)/2 + norm2(theta)\n"
DYNAMICS = """
name: reflected
state: {{theta: {{shape: d, domain: positive}}, r: {{shape: d}}}}
parameters: {{M: {{shape: [d, d], is: {kind}}}}}
functions: {{U: {{of: theta, role: potential}}}}
H: U(theta) + {kinetic}
D: [[0, 0], [0, 0]]
Q: [[0, -I], [I, 0]]
"""
WORDS = {
    "[B/2, A, B/2]": (("B", 0.5), ("A", 1.0), ("B", 0.5)),
    "[A/2, B, A/2]": (("A", 0.5), ("B", 1.0), ("A", 0.5)),
    "[B/4, A/2, B/2, A/2, B/4]": (("B", 0.25), ("A", 0.5), ("B", 0.5), ("A", 0.5), ("B", 0.25)),
    "[B, A]": (("B", 1.0), ("A", 1.0)),
    "[A/3, B, 2*A/3]": (("A", 1 / 3), ("B", 1.0), ("A", 2 / 3)),
}


@dataclass(frozen=True)
class Move:
    """A word with its reflection, the inverse masses of its kinetic energy, and how both are written."""

    word: str
    kind: str
    kinetic: str
    masses: str
    inverse: Array
    """What takes r to the velocity of theta."""
    flip: str
    steps: int

    def write(self, folder: Path) -> Path:
        """Write dynamics, target and build; return the build."""
        (folder / "target.yaml").write_text(TARGET, encoding="utf-8")
        dynamics = DYNAMICS.format(kind=self.kind, kinetic=self.kinetic)
        (folder / "dynamics.yaml").write_text(dynamics, encoding="utf-8")
        path = folder / "build.yaml"
        path.write_text(
            "name: moves\ndynamics: dynamics.yaml\ntarget: target.yaml\n"
            f"parameters: {{M: {{value: {self.masses}}}}}\n"
            f"scheme: {{cycle: [{{refresh: r}}, {{metropolis: {{split: {self.word}, flows: {{A: reflected}}, "
            f"steps: {self.steps}{self.flip}}}}}]}}\nvariant: full\nsizes: {{d: 2}}\nrun: {{step_size: 0.7}}\n",
            encoding="utf-8",
        )
        return path

    def wrong_claims(self, seed: int) -> dict[str, str]:
        """Return the claims that fail, each with why."""
        rng = np.random.default_rng(seed)
        states = (np.concatenate((rng.exponential(0.5, 2), 2 * rng.normal(size=2))) for _ in range(60))
        found = next(filter(None, map(self._off, states)), "")
        return dict.fromkeys(REFLECTION_CLAIMS, found) if found else {}

    def _off(self, z: Array) -> str:
        """Return what is wrong with it at a state; empty where nothing is as far as one sees."""
        turn = np.array([1.0, 1.0, -1.0, -1.0])
        back = turn * self.moved(turn * self.moved(z))
        if np.abs(back - z).max() > OFF:
            return f"the way back leads from {z} to {back}"
        columns = [(self.moved(z + e) - self.moved(z - e)) / (2 * STEP) for e in STEP * np.eye(4)]
        size = abs(float(np.linalg.det(np.stack(columns))))
        jumps = max(float(np.abs(column).max()) for column in columns) > 1e3  # a corner between the two points
        return f"|det| = {size}" if abs(size - 1) > OFF and not jumps else ""

    def moved(self, z: Array) -> Array:
        """Return where the word leads, as often as it is done."""
        theta, r = z[:2].copy(), z[2:].copy()
        for letter, share in self.steps * WORDS[self.word]:
            if letter == "B":
                r = r - share * EPS * (1.5 + 2 * theta)
            else:
                theta = theta + share * EPS * (self.inverse @ r)
                r = np.where(theta < 0, -r, r)
                theta = np.abs(theta)
        return np.concatenate((theta, r))


def random_reflection(random: Random) -> Move:
    """Return a move; half of them with masses that are correlated, or a word that is no palindrome."""
    a, b, c = random.choice((1, 2, 3)), random.choice((1, 2)), random.choice((-1, 1)) if random.random() < 0.4 else 0
    M, kind = [[a, c / 2], [c / 2, b]], "positive definite"
    shown: Sequence[object] = [[a, f"{c}/2"], [f"{c}/2", b]]
    if not c and random.random() < 0.6:
        kind, shown = "[positive definite, diagonal]", [[a, 0], [0, b]]
    inverse = np.linalg.inv(np.array(M, float))
    kinetic = "r.T @ inv(M) @ r / 2"
    if random.random() < 0.3:
        kinetic, inverse = "r.T @ M @ r / 2", np.array(M, float)
    word = random.choice([*list(WORDS)[:3], *list(WORDS)[:3], *WORDS])
    flip = ", flip: {r: -r}" if random.random() < 0.8 else ""
    return Move(word, kind, kinetic, str(shown).replace("'", ""), inverse, flip, random.choice((1, 2, 3)))

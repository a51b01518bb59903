"""Random cycles in the plane whose words hold blocks, or follow other dynamics, beside draws of blocks from their laws.

H = T U(theta) + r.T inv(M) r/2 with a T that is 1 in the build, or not: a law that is claimed under exp(-U) is one of
exp(-H) where T = 1. A word that follows other dynamics has E = U(theta) + k r.T inv(M) r/2 there, the H of the build
where k = 1. The judge composes the maps of each move itself (`random_words`) and takes differences of U along what is
drawn (`random_cycles`).

Some are words of Langevin dynamics that keep draws within, and claim that theta has the covariance of exp(-U): the
judge composes the step from one draw to the next of some quadratic U, and solves for its covariance.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
from random_cycles import NAMES, SPECS, Judge, Letter, random_drawn
from random_words import Words, random_words

HELD_CLAIMS = ("use", "draw", "metropolis", "cycle", "exact", "claimed_configurational", "configurational")
OWN = """
name: own
state: {theta: {shape: d}, r: {shape: d}}
parameters: {M: {shape: [d, d], is: positive definite}, NUMBER: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: ENERGY
D: [[0, 0], [0, 0]]
Q: COUPLING
"""


@dataclass(frozen=True)
class Held:
    """Moves with a word among draws, and the values by which H and that of the dynamics used are scaled."""

    words: Words
    T: Fraction
    k: Fraction | None
    """None where the words follow the dynamics of the build."""

    def write(self, folder: Path) -> Path:
        """Write the target, the dynamics and the build; return the build."""
        path = self.words.write(folder)
        head, _, tail = path.read_text(encoding="utf-8").partition("  cycle:\n")
        moves, _, tail = tail.partition("variant")
        lines = moves.splitlines(keepends=True)
        if self.k is not None:
            both = f"of: {{theta: [{', '.join(NAMES)}]}}, "
            lines = [line.replace("- {metropolis", f"- {{{both}metropolis") for line in lines]
            lines = [line.replace("- {of", "- {use: used.yaml, of") for line in lines]
        drawn = [f"    - draw: {NAMES[place]}\n" for place, _ in self.words.of.draws]
        first = [line for line, (_, is_first) in zip(drawn, self.words.of.draws, strict=True) if is_first]
        last = [line for line, (_, is_first) in zip(drawn, self.words.of.draws, strict=True) if not is_first]
        still = self.k is not None
        for name, energy, number, coupling in (
            ("own", "T*U(theta) + r.T @ inv(M) @ r/2", "T", "[[0, 0], [0, 0]]" if still else "[[0, -I], [I, 0]]"),
            ("used", "U(theta) + k*r.T @ inv(M) @ r/2", "k", "[[0, -I], [I, 0]]"),
        ):
            text = OWN.replace("ENERGY", energy).replace("NUMBER", number).replace("COUPLING", coupling)
            (folder / f"{name}.yaml").write_text(text.replace("name: own", f"name: {name}"), encoding="utf-8")
        numbers = {"T": self.T} | ({} if self.k is None else {"k": self.k})
        values = "".join(f"{name}: {{value: {value}}}, " for name, value in numbers.items())
        lead = [f"dynamics: {folder}/own.yaml" if line.startswith("dynamics:") else line for line in head.splitlines()]
        head = "\n".join(lead).replace("parameters: {", f"parameters: {{{values}")
        path.write_text(f"{head}\n  cycle:\n{''.join([*first, *lines, *last])}variant{tail}", encoding="utf-8")
        return path

    def wrong_claims(self, seed: int) -> dict[str, str]:
        """Return the claims that fail, each with why."""
        own = self.words.of
        scaled = replace(own, U={powers: self.T * c for powers, c in own.U.items()}, laws=(), draws=())
        drawn = {place for place, _ in own.draws}
        found = replace(self.words, of=scaled).wrong_claims(seed)
        if found.get("cycle", "").endswith("has no move"):
            moved = {k for word in self.words.words for k in word.moved} | drawn
            still = len(moved) < len(NAMES) or (drawn != {0, 1} and all(name != "A" for name, _ in own.word))
            found = found if still else {claim: why for claim, why in found.items() if claim != "cycle"}
            found |= {"cycle": found["metropolis"]} if "metropolis" in found else {}
        rng = np.random.default_rng(seed)
        lost = [why for law in own.laws if law.place in drawn and (why := law.off(Judge(scaled).U, rng))]
        found |= dict.fromkeys(("draw", "cycle", "exact"), lost[0]) if lost else {}
        if self.k is not None and (self.k != 1 or self.T != 1) and any(word.moved for word in self.words.words):
            found["use"] = f"the energy used is another one: k = {self.k}, T = {self.T}"
        return found


@dataclass(frozen=True)
class Kept:
    """A word of A, B and O, and after how many of its letters draws are kept."""

    word: tuple[Letter, ...]
    keep: int

    def write(self, folder: Path) -> Path:
        """Write the target, the word with its claim, and the build; return the build."""
        split = ", ".join(f"{share.numerator}*{letter}/{share.denominator}" for letter, share in self.word)
        (folder / "plane.yaml").write_text(
            "name: plane\nstate: {theta: {shape: 2}}\npotential: theta[0]**2 + theta[0]*theta[1]/2 + theta[1]**2\n",
            encoding="utf-8",
        )
        (folder / "word.yaml").write_text(
            f"name: word\nsplit: [{split}]\nkeep: {self.keep}\nclaims: {{configurational: exact}}\n", encoding="utf-8"
        )
        path = folder / "build.yaml"
        path.write_text(
            f"name: kept\ndynamics: {SPECS}/dynamics/sghmc.yaml\ntarget: plane.yaml\nscheme: {{use: word.yaml}}\n"
            "parameters: {M: {value: [[2, 1], [1, 3]]}, C: {value: [[1, 0], [0, 2]]}}\n"
            "variant: full\nsizes: {d: 2}\nrun: {step_size: 0.25}\n",
            encoding="utf-8",
        )
        return path

    def wrong_claims(self, seed: int) -> dict[str, str]:
        """Return the claims that fail, each with why."""
        rng = np.random.default_rng(seed)
        off = max(self._off(rng) for _ in range(4))
        return dict.fromkeys(("claimed_configurational", "configurational"), f"off by {off:.2g}") if off > 1e-7 else {}

    def _off(self, rng: np.random.Generator) -> float:
        """Return how far the covariance of theta is from that of exp(-U), of some U, M and C."""
        K, M, C = (A @ A.T + np.eye(2) for A in rng.normal(size=(3, 2, 2)))
        eps, (F, S) = 0.2, (np.eye(4), np.zeros((4, 4)))
        for letter, share in (*self.word[self.keep :], *self.word[: self.keep]):
            by, noise = np.eye(4), np.zeros((4, 4))
            t = float(share) * eps
            if letter == "A":
                by[:2, 2:] = t * np.linalg.inv(M)
            elif letter == "B":
                by[2:, :2] = -t * K
            else:
                L = np.linalg.cholesky(M)
                rates, V = np.linalg.eigh(np.linalg.solve(L, np.linalg.solve(L, C).T))
                by[2:, 2:] = L @ V @ np.diag(np.exp(-t * rates)) @ V.T @ np.linalg.inv(L)
                noise[2:, 2:] = M - by[2:, 2:] @ M @ by[2:, 2:].T
            F, S = by @ F, by @ S @ by.T + noise
        law = np.linalg.solve(np.eye(16) - np.kron(F, F), S.ravel()).reshape(4, 4)
        return float(np.abs(law[:2, :2] - np.linalg.inv(K)).max())


def random_kept(random: Random) -> Kept:
    """Return a word that keeps draws after one of its letters, half of them a splitting that is its own reverse."""
    one, other, third = random.sample("ABO", 3)
    half, whole = Fraction(1, 2), Fraction(1)
    if random.random() < 0.5:
        word = ((one, half), (other, half), (third, whole), (other, half), (one, half))
    else:
        word = ((one, half), (other, whole), (third, whole), (one, half))
    return Kept(word, random.randint(1, len(word)))


def random_held(random: Random) -> Held | Kept:
    """Return a cycle in which words hold blocks, or follow other dynamics, most numbers right; or `random_kept`."""
    if random.random() < 0.2:
        return random_kept(random)
    words = random_words(random)
    drawn = random_drawn(random)
    own = replace(words.of, U=drawn.U, laws=drawn.laws, draws=drawn.draws)
    if random.random() < 0.6:  # a word of what is not drawn
        own = replace(own, draws=own.draws[:1])
        moved = (1 - own.draws[0][0],)
        words = replace(words, words=tuple(replace(word, moved=moved) for word in words.words[:1]))
    T = random.choice((Fraction(1), Fraction(1), Fraction(1), Fraction(2), Fraction(1, 2)))
    k = random.choice((None, None, Fraction(1), Fraction(1), Fraction(2)))
    return Held(replace(words, of=own), T, k)

"""Random cycles in the plane whose words hold blocks, or follow other dynamics, beside draws of blocks from their laws.

H = T U(theta) + r.T inv(M) r/2 with a T that is 1 in the build, or not: a law that is claimed under exp(-U) is one of
exp(-H) where T = 1. A word that follows other dynamics has E = U(theta) + k r.T inv(M) r/2 there, the H of the build
where k = 1. The judge composes the maps of each move itself (`random_words`) and takes differences of U along what is
drawn (`random_cycles`).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
from random_cycles import NAMES, Judge, random_drawn
from random_words import Words, random_words

HELD_CLAIMS = ("use", "draw", "metropolis", "cycle", "exact")
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


def random_held(random: Random) -> Held:
    """Return a cycle in which words hold blocks, or follow other dynamics, most of its numbers right."""
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

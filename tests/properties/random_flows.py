"""Random targets of gamma laws with data, in the plane of log g, right or wrong by chance, and what is true of them.

U is stated with random coefficients, the laws of g and s as they follow from it or with one fault. The judge looks at U
- E along the block at random data and states, in floating point; where E is what a minibatch makes of it the chain has
another variance, so that it is not exact.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

SPECS = Path(__file__).parents[2] / "specs"
Array = NDArray[np.float64]
FLOW_CLAIMS = ("draw", "cir", "cycle", "exact")
OFF = 1e-9
TARGET = """
name: gammas
state:
  g: {{shape: 2, domain: positive, transform: log}}
  s: {{shape: scalar, domain: positive, transform: log}}
data: {{z: {{shape: [N, 2], in: [0, 1]}}, y: {{shape: N, in: [0, 1, 2]}}}}
parameters: {{a: {{shape: 2, is: positive}}}}
log_prior: sum((a - ones)*log(g)) - {by_s}*s*sum(g) - {alone}*sum(g) + {power}*log(s) - 3*s
log_likelihood: {of_z}*(z @ log(g)) + {of_zy}*y*(z @ log(g)) - {of_y}*y*sum(g)
laws:
  g: "Gamma({shape})"
  s: "Gamma({of_s})"
"""


@dataclass(frozen=True)
class Law:
    """shape = a + base + one z.T ones + both z.T y + number N, rate = by_s s + alone + of_y sum(y)."""

    base: Fraction
    one: Fraction
    both: Fraction
    number: Fraction
    by_s: Fraction
    alone: Fraction
    of_y: Fraction

    def text(self) -> str:
        """Return its parameters as a document states them."""
        shape = {"ones": self.base, "N*ones": self.number, "z.T @ ones": self.one, "z.T @ y": self.both}
        rate = {"s": self.by_s, "1": self.alone, "sum(y)": self.of_y}
        parts = (" + ".join(f"({c})*{what}" for what, c in own.items() if c) for own in (shape, rate))
        return "a + {}, {}".format(*parts) if any(shape.values()) else "a, {1}".format(*parts)

    def parameters(self, a: Array, s: float, z: Array, y: Array) -> tuple[Array, float]:
        """Return shape and rate at a state."""
        shape = (
            a + float(self.base) + float(self.number) * len(y) + float(self.one) * z.sum(0) + float(self.both) * y @ z
        )
        return shape, float(self.by_s) * s + float(self.alone) + float(self.of_y) * y.sum()


@dataclass(frozen=True)
class Flow:
    """A target, claimed laws of g and s, and the moves of both."""

    right: Law
    claimed: Law
    power: Fraction
    of_s: tuple[Fraction, Fraction]
    """Shape and the multiple of sum(g) in the rate that are claimed of s; right are power + 1 and that of g."""
    moves: tuple[tuple[str, str], ...]
    variant: str

    def write(self, folder: Path) -> Path:
        """Write target, data and build; return the build."""
        right = self.right
        target = TARGET.format(
            by_s=right.by_s, alone=right.alone, power=self.power, of_z=right.one, of_zy=right.both, of_y=right.of_y,
            shape=self.claimed.text(), of_s=f"{self.of_s[0]}, 3 + {self.of_s[1]}*sum(g)",
        )  # fmt: skip
        (folder / "target.yaml").write_text(target, encoding="utf-8")
        rows = "".join(f"{k % 2},{k // 2 % 2},{k % 3}\n" for k in range(12))
        (folder / "data.csv").write_text(f"u,v,y\n{rows}", encoding="utf-8")
        path = folder / "build.yaml"
        batch = ", batch_size: 4" if self.variant == "minibatch" else ""
        path.write_text(
            f"name: random_flow\ndynamics: {SPECS}/dynamics/still.yaml\ntarget: target.yaml\n"
            f"scheme: {{cycle: [{', '.join(f'{move}: {block}' for move, block in self.moves)}]}}\n"
            f"variant: {self.variant}\nparameters: {{a: {{value: [1/2, 2]}}}}\nsizes: {{d: 3}}\n"
            f"data: {{file: data.csv, z: [u, v], y: y}}\nrun: {{step_size: 1/4{batch}}}\n",
            encoding="utf-8",
        )
        return path

    def wrong_claims(self, seed: int) -> dict[str, str]:
        """Return the claims that fail, each with why."""
        rng = np.random.default_rng(seed)
        off = {"g": self._off_g(rng), "s": self._off_s(rng)}
        found: dict[str, str] = {}
        for move, block in self.moves:
            if off[block]:
                found |= dict.fromkeys(("draw" if move == "draw" else "cir", "cycle", "exact"), off[block])
        still = {"g", "s"} - {block for _, block in self.moves}
        estimated = self.variant == "minibatch" and bool(self.claimed.one or self.claimed.both)
        if estimated and ("cir", "g") in self.moves:
            found["exact"] = "the shape of a minibatch widens the law"
        return found | ({"cycle": f"{still} has no move"} if still else {})

    def _off_g(self, rng: np.random.Generator) -> str:
        """Return by how much U - E changes with g; empty where it does not as far as one sees."""
        for count in (1, 2, 5):
            z, y = rng.integers(0, 2, (count, 2)).astype(float), rng.integers(0, 3, count).astype(float)
            a, s = rng.gamma(2, size=2) + 0.1, float(rng.gamma(2)) + 0.1
            (shape, rate), (own, other) = (law.parameters(a, s, z, y) for law in (self.right, self.claimed))
            g = rng.gamma(1, size=2) + 0.1
            slope = (rate - (shape - 1) / g) - (other - (own - 1) / g)
            if np.abs(slope).max() > OFF:
                return f"d(U - E)/dg = {slope}"
        return ""

    def _off_s(self, rng: np.random.Generator) -> str:
        g, s = rng.gamma(1, size=2), float(rng.gamma(2)) + 0.1
        stated = (3 + float(self.of_s[1]) * g.sum()) - (float(self.of_s[0]) - 1) / s
        slope = (3 + float(self.right.by_s) * g.sum()) - float(self.power) / s - stated
        return f"d(U - E)/ds = {slope:.3g}" if abs(slope) > OFF else ""


def random_flow(random: Random) -> Flow:
    """Return a target with its laws, half of them with a fault."""
    few: Callable[..., Fraction] = lambda *numbers: Fraction(random.choice(numbers))  # noqa: E731
    minibatch = random.random() < 0.5
    one, both = few(0, 1, 2), few(0, 1, 3)
    right = Law(Fraction(0), one, both, Fraction(0), few(1, 2), few(1, 3), Fraction(0) if minibatch else few(0, 0, 1))
    claimed = _bent(random, right) if random.random() < 0.5 else right
    power = few(1, 2, 4)
    of_s = (power + 1, right.by_s)
    if random.random() < 0.15:
        of_s = random.choice(((power, right.by_s), (power + 2, right.by_s), (power + 1, right.by_s / 2)))
    of_g = "cir" if minibatch or random.random() < 0.6 else "draw"
    moves = [(of_g, "g"), (random.choice(("draw", "cir")), "s")]
    if random.random() < 0.1:
        moves.pop(random.randrange(2))
    elif random.random() < 0.2:
        moves.append(moves[0])
    random.shuffle(moves)
    return Flow(right, claimed, power, of_s, tuple(moves), "minibatch" if minibatch else "full")


def _bent(random: Random, law: Law) -> Law:
    """Return a law with one fault: the Jacobian of log g, a lost half, the count of data, a sum left out."""
    kind = random.choice(("jacobian", "less", "half", "number", "one", "both", "rate", "doubled", "free"))
    match kind:
        case "jacobian":
            return replace(law, base=law.base + 1)
        case "less":
            return replace(law, base=law.base - Fraction(1, 4))
        case "half":
            return replace(law, one=law.one / 2, both=law.both / 2)
        case "number":
            return replace(law, number=Fraction(1, 2))
        case "one":
            return replace(law, one=law.one + 1)
        case "both":
            return replace(law, both=Fraction(0))
        case "rate":
            return replace(law, alone=law.alone + 1)
        case "doubled":
            return replace(law, by_s=2 * law.by_s)
        case _:
            return replace(law, by_s=Fraction(0))

"""Random targets with shares of a whole and allocations by them, right or wrong by chance, and what is true of them.

U is stated with random coefficients, the laws of w, g and z as they follow from it or with one fault. The judge looks
at U - E between two points of the simplex, along g, and between places of rows, in floating point at random data.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

SPECS = Path(__file__).parents[2] / "specs"
Array = NDArray[np.float64]
SHARES_CLAIMS = ("draw", "cycle", "exact")
OFF = 1e-9
BLOCKS = ("w", "g", "z")
TARGET = """
name: shares
state:
  w: {{shape: {K}, constraint: simplex}}
  g: {{domain: positive, transform: log}}
  z: {{shape: [N, {K}], domain: one_hot}}
data: {{y: {{shape: N, in: [0, 1, 2]}}}}
parameters: {{a: {{shape: {K}, is: positive}}, c: {{shape: {K}, is: nonnegative}}}}
assume: [normalisable]
log_prior: sum((a - ones)*log(w)) + {by_g}*g*(c.T @ log(w)) + {power}*log(g) - 3*g - {alike}*g*sum(w)
log_likelihood: ({one} + {both}*y)*(z @ log(w)) - {square}*g*(y - z @ c)**2
laws:
  w: "Dirichlet({shape})"
  g: "Gamma({of_g})"
  z: "Categorical({logits})"
"""


@dataclass(frozen=True)
class Coefficients:
    """Those of U, or those that the laws of the blocks are claimed with."""

    prior: Fraction
    """Of a in the parameters of w."""
    base: Fraction
    by_g: Fraction
    one: Fraction
    both: Fraction
    square: Fraction
    power: Fraction
    alike: Fraction

    def shape(self) -> str:
        """Return the parameters of w's law as a document states them."""
        parts = {"a": self.prior, "ones": self.base, "g*c": self.by_g, "z.T @ ones": self.one, "z.T @ y": self.both}
        return " + ".join(f"({c})*{what}" for what, c in parts.items() if c)

    def of_g(self) -> str:
        """Return the parameters of g's law; the residuals are those of rows."""
        rate = f"3 + {self.alike} + {self.square}*norm2(y - z @ c) - {self.by_g}*c.T @ log(w)"
        return f"{self.power + 1}, {rate}"

    def logits(self) -> str:
        """Return the logits of z's law."""
        return f"({self.one}*ones + {self.both}*y) @ log(w).T - {self.square}*g*(y @ ones.T - ones @ c.T)**2"


@dataclass(frozen=True)
class Shares:
    """A target, the coefficients that each law is claimed with, and the blocks that are drawn."""

    right: Coefficients
    of_w: Coefficients
    of_g: Coefficients
    of_z: Coefficients
    moves: tuple[str, ...]
    K: int

    def write(self, folder: Path) -> Path:
        """Write target, data and build; return the build."""
        own = self.right
        target = TARGET.format(
            K=self.K, by_g=own.by_g, power=own.power, alike=own.alike, one=own.one, both=own.both, square=own.square,
            shape=self.of_w.shape(), of_g=self.of_g.of_g(), logits=self.of_z.logits(),
        )  # fmt: skip
        (folder / "target.yaml").write_text(target, encoding="utf-8")
        (folder / "data.csv").write_text("y\n" + "".join(f"{k % 3}\n" for k in range(4)), encoding="utf-8")
        path = folder / "build.yaml"
        path.write_text(
            f"name: random_shares\ndynamics: {SPECS}/dynamics/still.yaml\ntarget: target.yaml\n"
            f"scheme: {{cycle: [{', '.join(f'draw: {block}' for block in self.moves)}]}}\nvariant: full\n"
            f"parameters: {{a: {{value: {['1/2', 2, 1][: self.K]}}}, c: {{value: {[0, '3/2', 2][: self.K]}}}}}\n"
            f"data: {{file: data.csv, y: y}}\nrun: {{step_size: 1/4}}\n",
            encoding="utf-8",
        )
        return path

    def wrong_claims(self, seed: int) -> dict[str, str]:
        """Return the claims that fail, each with why."""
        rng = np.random.default_rng(seed)
        off = {block: self._off(block, rng) for block in BLOCKS}
        found: dict[str, str] = {}
        for block in self.moves:
            if off[block]:
                found |= dict.fromkeys(SHARES_CLAIMS, off[block])
        still = set(BLOCKS) - set(self.moves)
        return found | ({"cycle": f"{still} has no move"} if still else {})

    def _off(self, block: str, rng: np.random.Generator) -> str:
        """Return by how much U - E differs between two values of a block; empty where it does not as one sees."""
        for count in (1, 2, 4):
            for K in (2, 3):
                a, c = rng.gamma(2, size=K) + 0.1, rng.gamma(1, size=K)
                y, z = rng.integers(0, 3, count).astype(float), np.eye(K)[rng.integers(0, K, count)]
                state = {"w": rng.dirichlet(np.ones(K)), "g": float(rng.gamma(2)) + 0.1, "z": z}
                other = dict(state)
                match block:
                    case "w":
                        other["w"] = rng.dirichlet(np.ones(K))
                    case "g":
                        other["g"] = float(rng.gamma(2)) + 0.1
                    case _:
                        other["z"] = np.eye(K)[rng.integers(0, K, count)]
                less = [self._energy(block, a, c, y, **x) - self.U(a, c, y, **x) for x in (state, other)]
                if abs(less[0] - less[1]) > OFF * (1 + max(map(abs, less))):
                    return f"U - E of {block} changes by {less[0] - less[1]:.3g}"
        return ""

    def U(self, a: Array, c: Array, y: Array, w: Array, g: float, z: Array) -> float:
        """Return the energy of the target."""
        k = _floats(self.right)
        prior = (a - 1) @ np.log(w) + k["by_g"] * g * (c @ np.log(w)) + k["power"] * np.log(g) - 3 * g - k["alike"] * g
        rows = (k["one"] + k["both"] * y) @ (z @ np.log(w)) - k["square"] * g * np.sum((y - z @ c) ** 2)
        return -float(prior + rows)

    def _energy(self, block: str, a: Array, c: Array, y: Array, w: Array, g: float, z: Array) -> float:
        """Return the energy of the law that is claimed of a block."""
        match block:
            case "w":
                k = _floats(self.of_w)
                alpha = k["prior"] * a + k["base"] + k["by_g"] * g * c + (k["one"] + k["both"] * y) @ z
                return -float((alpha - 1) @ np.log(w))
            case "g":
                k = _floats(self.of_g)
                rate = 3 + k["alike"] + k["square"] * np.sum((y - z @ c) ** 2) - k["by_g"] * (c @ np.log(w))
                return float(rate * g - k["power"] * np.log(g))
            case _:
                k = _floats(self.of_z)
                logits = np.outer(k["one"] + k["both"] * y, np.log(w)) - k["square"] * g * (y[:, None] - c) ** 2
                return -float(np.sum(z * logits))


def _floats(own: Coefficients) -> dict[str, float]:
    return {name: float(getattr(own, name)) for name in Coefficients.__dataclass_fields__}


def random_shares(random: Random) -> Shares:
    """Return a target with its laws, most of them with a fault in one."""
    right = Coefficients(
        Fraction(1), Fraction(0), *(Fraction(random.choice(few)) for few in ((0, 1, 2), (1, 2), (0, 1, 3))),
        *(Fraction(random.choice(few)) for few in ((0, 1, 2), (1, 2, 4), (0, 1))),
    )  # fmt: skip
    claimed = dict.fromkeys(("of_w", "of_g", "of_z"), right)
    if random.random() < 0.6:
        name = random.choice(("of_w", "of_w", "of_w", "of_g", "of_z"))
        claimed[name] = _bent(random, right)
    moves = list(BLOCKS)
    random.shuffle(moves)
    if random.random() < 0.1:
        moves.pop()
    elif random.random() < 0.2:
        moves.append(moves[0])
    return Shares(right, moves=tuple(moves), K=random.choice((2, 3)), **claimed)


def _bent(random: Random, own: Coefficients) -> Coefficients:
    """Return coefficients with one fault: the prior left out or twice, the Jacobian, a sum that is lost or doubled."""
    kind = random.choice(("prior", "twice", "jacobian", "less", "by_g", "one", "both", "square", "power", "alike"))
    match kind:
        case "prior":
            return replace(own, prior=Fraction(0), base=own.base + 1)
        case "twice":
            return replace(own, prior=Fraction(2))
        case "jacobian":
            return replace(own, base=own.base + 1)
        case "less":
            return replace(own, base=own.base - Fraction(1, 4))
        case _:
            value: Fraction = getattr(own, kind)
            return replace(own, **{kind: random.choice((value + 1, value / 2, 2 * value))})

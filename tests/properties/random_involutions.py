"""Random involutions with what they draw, right or wrong by chance, and what is true of them.

Maps are written with random coefficients, or with a fault: a sign that does not turn, a shift, another scale back. Laws
of what is drawn may follow the state. What is claimed of the log of the ratio is the right multiple of what is drawn or
has a fault: the Jacobian left out, of another power, of the way back, a law that is forgotten. The judge applies it
twice, takes the determinant of its differences, and densities, at random states in floating point: it shares nothing
with the compiler.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

SPECS = Path(__file__).parents[2] / "specs"
Array = NDArray[np.float64]
INVOLUTION_CLAIMS = ("involution", "cycle", "exact")
STEP, OFF = 1e-5, 1e-5
TARGETS = {
    True: "name: positive\nstate: {theta: {shape: d, domain: positive}}\n"
    "potential: 3*sum(theta) - 2*sum(log(theta)) + norm2(theta)\n",
    False: "name: plane\nstate: {theta: {shape: d}}\npotential: norm2(theta)**2/4 + sum(theta)\n",
}
SIZE = {"": 0, "w": 1, "v": 2}
SHAPE = {"w": "", "v": "shape: d, "}
SUM = {"w": "w", "v": "sum(v)"}


@dataclass(frozen=True)
class Map:
    """What an involution makes of theta and of what it draws, as a document says it and as numbers do."""

    text: dict[str, str]
    draw: str
    """`w` is one number, `v` two; empty where nothing is drawn."""
    apply: Callable[[Array, Array], tuple[Array, Array]]
    jacobian: Fraction = Fraction(0)
    """log |det| is this times the sum of what is drawn."""
    positive: bool = False
    """Whether it is of positive coordinates."""


@dataclass(frozen=True)
class Reflected:
    """A map, the law N(mean + slope theta, variance) of what it draws, and what is claimed of the ratio."""

    map: Map
    mean: Fraction
    slope: Fraction
    variance: Fraction
    claimed: Fraction | None
    """The log of the ratio beside H is this times the sum of what is drawn."""

    def write(self, folder: Path) -> Path:
        """Write target and build; return the build."""
        (folder / "target.yaml").write_text(TARGETS[self.map.positive], encoding="utf-8")
        maps = ", ".join(f"{name}: {text}" for name, text in self.map.text.items())
        parts, draw = [f"involution: {{{maps}}}"], self.map.draw
        if draw:
            state = "theta" if draw == "v" else "sum(theta)"
            law = f"N({self.mean}{'*ones' if draw == 'v' else ''} + {self.slope}*{state}, {self.variance}"
            parts.append(f'draws: {{{draw}: {{{SHAPE[draw]}law: "{law}{"*I" if draw == "v" else ""})"}}}}')
        parts += [f"log_ratio: {self.claimed}*{SUM[draw]}"] if self.claimed is not None else []
        path = folder / "build.yaml"
        dynamics = "sgrld_positive" if self.map.positive else "still"
        path.write_text(
            f"name: reflected\ndynamics: {SPECS}/dynamics/{dynamics}.yaml\ntarget: target.yaml\n"
            f"scheme: {{cycle: [{{{', '.join(parts)}}}]}}\nvariant: full\nsizes: {{d: 2}}\nrun: {{step_size: 1/4}}\n",
            encoding="utf-8",
        )
        return path

    def wrong_claims(self, seed: int) -> dict[str, str]:
        """Return the claims that fail, each with why."""
        rng = np.random.default_rng(seed)
        found = next(filter(None, (self._off(rng) for _ in range(50))), "")
        return dict.fromkeys(INVOLUTION_CLAIMS, found) if found else {}

    def _off(self, rng: np.random.Generator) -> str:
        """Return what is wrong with it at a random state; empty where nothing is as far as one sees."""
        theta = rng.gamma(2.0, size=2) + 0.2 if self.map.positive else rng.normal(size=2)
        drawn = 2 * rng.normal(size=SIZE[self.map.draw])
        there = self.map.apply(theta, drawn)
        if self.map.positive and there[0].min() <= 0:
            return f"theta becomes {there[0]}"
        back = self.map.apply(*there)
        gap = float(np.abs(np.concatenate(back) - np.concatenate((theta, drawn))).max())
        if gap > OFF:
            return f"applied twice it is {gap:.3g} off"
        if self.claimed is None:
            return ""
        ratio = self._log_density(*there) - self._log_density(theta, drawn) + self._log_determinant(theta, drawn)
        off = abs(float(self.claimed) * drawn.sum() - ratio)
        return f"the log of its ratio is {off:.3g} off" if off > OFF else ""

    def _log_density(self, theta: Array, drawn: Array) -> float:
        center = float(self.mean) + float(self.slope) * (theta if self.map.draw == "v" else theta.sum())
        return float(-((drawn - center) ** 2).sum() / (2 * float(self.variance)))

    def _log_determinant(self, theta: Array, drawn: Array) -> float:
        """Return log |det| of the map, by differences."""
        z = np.concatenate((theta, drawn))

        def image(z: Array) -> Array:
            return np.concatenate(self.map.apply(z[:2], z[2:]))

        columns = [(image(z + e) - image(z - e)) / (2 * STEP) for e in STEP * np.eye(len(z))]
        return float(np.linalg.slogdet(np.stack(columns))[1])


def random_involution(random: Random) -> Reflected:
    """Return a map with what it draws and what is claimed of it, half of them with a fault."""
    few: Callable[..., Fraction] = lambda *numbers: Fraction(random.choice(numbers))  # noqa: E731
    own = _map(random)
    mean, slope, variance = few(0, 0, "1/2", -1), few(0, 0, 0, "1/3"), few(1, "1/4", 2)
    if not own.draw or random.random() < 0.3:
        return Reflected(own, mean, slope, variance, None)
    right = own.jacobian - 2 * mean / variance  # of w -> -w: log q(-w) - log q(w) = -2 m w/s^2
    faults = (own.jacobian, right - own.jacobian, right - 2 * own.jacobian, right - own.jacobian / 2, right + 1)
    return Reflected(own, mean, slope, variance, random.choice(faults) if random.random() < 0.5 else right)


def _map(random: Random) -> Map:
    c = Fraction(random.choice(("1/2", 1, 2, "-1/3")))
    f, fault = float(c), random.random() < 0.35
    back = random.choice(("", "-2*", "-1/2*")) if fault else "-"
    by = {"": 1.0, "-": -1.0, "-2*": -2.0, "-1/2*": -0.5}[back]
    match random.choice(("scale", "scales", "walk", "shift", "swap", "mirror", "inverse", "out", "affine")):
        case "scale":
            return Map(
                {"theta": f"theta*exp({c}*w)", "w": f"{back}w"}, "w",
                lambda t, w: (t * np.exp(f * w), by * w), 2 * c, positive=random.random() < 0.5,
            )  # fmt: skip
        case "scales":
            return Map(
                {"theta": f"theta*exp({c}*v)", "v": f"{back}v"}, "v",
                lambda t, v: (t * np.exp(f * v), by * v), c, positive=random.random() < 0.5,
            )  # fmt: skip
        case "walk":
            return Map(
                {"theta": f"theta + {c}*v", "v": f"{back}v"}, "v", lambda t, v: (t + f * v, by * v)
            )  # fmt: skip
        case "shift":
            return Map(
                {"theta": f"theta + {c}*w*ones", "w": f"{back}w"}, "w", lambda t, w: (t + f * w, by * w)
            )  # fmt: skip
        case "swap":
            other = "theta" if not fault else f"{c}*theta"
            g = 1.0 if not fault else f
            return Map({"theta": "v", "v": other}, "v", lambda t, v: (v, g * t))
        case "mirror":
            sign = "" if fault else "-"
            s = 1.0 if fault else -1.0
            return Map({"theta": f"{c}*ones {sign or '+'} theta"}, "", lambda t, w: (f + s * t, w))
        case "inverse":
            power = "theta**2" if fault else "theta"
            k = 2 if fault else 1
            return Map({"theta": f"{abs(c)}/{power}"}, "", lambda t, w: (abs(f) / t**k, w), positive=True)
        case "out":
            return Map({"theta": "theta + w*ones", "w": "-w"}, "w", lambda t, w: (t + w, -w), positive=True)
        case _:
            s = -1.0 if not fault else 1.0
            sign = "-" if not fault else ""
            return Map(
                {"theta": f"{sign}theta + exp(w)*ones", "w": "w"}, "w", lambda t, w: (s * t + np.exp(w), w)
            )  # fmt: skip

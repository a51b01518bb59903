"""Random steps of Python that are accepted or refused, right or wrong by chance, and what is true of them.

A step proposes by a trajectory, or by one normal draw around a shift along grad U, and takes what it proposes by a
ratio. Its coefficients are right, or one or two of them are not. The judge computes the step itself from these, in
floating point, and shares nothing with the compiler: states drawn from pi, moved once, may not have changed the mean
of any function. What has all its coefficients as they have to be is right by construction.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

import numpy as np
from numpy.typing import NDArray
from random_cycles import DEVIATIONS, Cycle, Judge, functions, random_potential

Array = NDArray[np.float64]
STATES = 60_000
HEAD = """import numpy as np


def grad_U(theta):
    raise NotImplementedError


def U(theta):
    raise NotImplementedError


"""
ACCEPT = (
    "np.log(rng.random()) < ratio",
    "ratio > np.log(rng.uniform())",
    "rng.random() < np.exp(ratio)",
    "rng.uniform() < min(1, np.exp(ratio))",
    "-rng.standard_exponential() < np.minimum(0, ratio)",
    "not np.log(1 - rng.random()) > ratio",
)
"""The same in other words."""


@dataclass(frozen=True)
class Step:
    """A step by its coefficients."""

    kind: str
    """`hidden` momenta are drawn in the step and forgotten, others kept in part; `langevin` proposes by one draw."""
    kicks: tuple[Fraction, ...]
    drifts: tuple[Fraction, ...]
    kept: Fraction = Fraction(0)
    drawn: Fraction = Fraction(1)
    """r' = kept r + drawn w."""
    kinetic: Fraction = Fraction(1, 2)
    potential: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)
    """The log of the ratio is potential (U - U') + kinetic (|r|^2 - |r'|^2) + shift."""
    flip: bool = True
    """Whether a refused move turns what is kept of r."""
    accept: str = ACCEPT[0]
    eps: Fraction = Fraction(1, 2)

    @property
    def is_right(self) -> bool:
        """Whether all is as it has to be."""
        law = self.kept**2 + self.drawn**2 == 1
        ratio = (self.kinetic, self.potential, self.shift) == (Fraction(1, 2), 1, 0)
        if self.kind == "langevin":
            return self.kicks == self.drifts and law and ratio
        palindrome = self.kicks == self.kicks[::-1] and self.drifts == self.drifts[::-1]
        return palindrome and law and ratio and (self.flip or not self.keeps_r)

    @property
    def keeps_r(self) -> bool:
        """Whether r is a block of the state."""
        return self.kind == "kept"

    def text(self) -> str:
        """Return the file with the step."""
        if self.kind == "langevin":
            return f"{HEAD}{self._langevin()}"
        lines = ["w = rng.standard_normal(len(theta))"]
        lines += [f"r = {_number(self.kept)} * r + {_number(self.drawn)} * w" if self.keeps_r else
                  f"r = {_number(self.drawn)} * w"]  # fmt: skip
        lines += ["q, p = theta, r"]
        for k, kick in enumerate(self.kicks):
            lines.append(f"p = p - {_number(kick)} * eps * grad_U(q)")
            lines += [f"q = q + {_number(self.drifts[k])} * eps * p"] if k < len(self.drifts) else []
        lines.append(
            f"ratio = {_number(self.potential)} * (U(theta) - U(q)) + {_number(self.kinetic)} * (r @ r - p @ p)"
            f" + {_number(self.shift)}"
        )
        taken, refused = ("q, p", f"theta, {'-' if self.flip else ''}r") if self.keeps_r else ("q", "theta")
        lines += [f"if {self.accept}:", f"    return {taken}", f"return {refused}"]
        arguments = "theta, r, eps, rng" if self.keeps_r else "theta, eps, rng"
        return HEAD + f"def step({arguments}):\n" + "".join(f"    {line}\n" for line in lines)

    def _langevin(self) -> str:
        (drift,), scale, weight = self.kicks, _number(self.drawn), _number(self.kinetic)
        lines = [
            f"g = {_number(drift)} * grad_U(theta)",
            f"new = theta - eps * g + {scale} * np.sqrt(2 * eps) * rng.standard_normal(len(theta))",
            "forth = new - theta + eps * g",
            f"back = theta - new + eps * {_number(self.drifts[0])} * grad_U(new)",
            f"ratio = {_number(self.potential)} * (U(theta) - U(new)) + {_number(self.shift)}",
            f"ratio = ratio + {weight} * (forth @ forth - back @ back) / (2 * eps)",
            f"return np.where({self.accept}, new, theta)",
        ]
        return "def step(theta, eps, rng):\n" + "".join(f"    {line}\n" for line in lines)

    def document(self) -> str:
        """Return the dynamics that it is judged by."""
        names = ["theta", *(["r"] if self.keeps_r else [])]
        zeros = f"[{', '.join(['0'] * len(names))}]"
        state = ", ".join(f"{name}: {{shape: d}}" for name in names)
        H = "U(theta) + norm2(r)/2" if self.keeps_r else "U(theta)"
        matrix = f"[{', '.join([zeros] * len(names))}]"
        functions_ = "functions: {U: {of: theta, role: potential}}"
        return f"name: random_step\nstate: {{{state}}}\n{functions_}\nH: {H}\nD: {matrix}\nQ: {matrix}\n"

    def off(self, seed: int) -> str:
        """Return a mean over pi that a step changes; empty where none is seen to."""
        rng, random = np.random.default_rng(seed), Random(seed)
        word, one = (("A", Fraction(1)),), ((1, 0), (0, 1))
        plane = Judge(Cycle("hmc", word, True, (1, 1), (), (), (), random_potential(random), one, one, self.eps))
        z = plane.sample(rng, STATES)
        w = rng.normal(size=(STATES, 2))
        new, back, ratio = (self._langevin_at if self.kind == "langevin" else self._trajectory_at)(plane, z, w)
        taken = np.exp(np.clip(ratio, -700, 0))[:, None]
        seen = slice(0, 4 if self.keeps_r else 2)
        for name, at, at_new, at_back in zip(*functions(z[:, seen], new[:, seen], back[:, seen]), strict=True):
            change = taken[:, 0] * at_new + (1 - taken[:, 0]) * at_back - at
            error = float(change.std()) / STATES**0.5
            if abs(float(change.mean())) > DEVIATIONS * error + 1e-12:
                return f"E {name} changes by {change.mean():.3g} +- {error:.1g}"
        return ""

    def _trajectory_at(self, plane: Judge, z: Array, w: Array) -> tuple[Array, Array, Array]:
        start = np.hstack([z[:, :2], float(self.kept) * z[:, 2:] + float(self.drawn) * w])
        now = start
        for k, kick in enumerate(self.kicks):
            now = plane.letter(now, "B", float(kick * self.eps))
            now = plane.letter(now, "A", float(self.drifts[k] * self.eps)) if k < len(self.drifts) else now
            now = np.clip(now, -1e30, 1e30)
        squares = [(x[:, 2:] ** 2).sum(1) for x in (start, now)]
        ratio = float(self.potential) * (plane.U(start[:, :2]) - plane.U(now[:, :2]))
        ratio += float(self.kinetic) * (squares[0] - squares[1]) + float(self.shift)
        sign = -1.0 if self.flip else 1.0
        return now, start * np.array([1.0, 1.0, sign, sign]), np.nan_to_num(ratio, nan=-np.inf)

    def _langevin_at(self, plane: Judge, z: Array, w: Array) -> tuple[Array, Array, Array]:
        eps = float(self.eps)
        theta = z[:, :2]

        def slope(at: Array) -> Array:
            still = np.hstack([at, np.zeros_like(at)])
            return -plane.letter(still, "B", 1.0)[:, 2:]

        g = float(self.kicks[0]) * slope(theta)
        new = theta - eps * g + float(self.drawn) * np.sqrt(2 * eps) * w
        forth, back = new - theta + eps * g, theta - new + eps * float(self.drifts[0]) * slope(new)
        ratio = float(self.potential) * (plane.U(theta) - plane.U(new)) + float(self.shift)
        ratio += float(self.kinetic) * ((forth**2).sum(1) - (back**2).sum(1)) / (2 * eps)
        return np.hstack([new, z[:, 2:]]), z, np.nan_to_num(ratio, nan=-np.inf)


def _number(x: Fraction) -> str:
    return f"({x.numerator} / {x.denominator})" if x.denominator != 1 else f"({x.numerator})"


def random_step(random: Random) -> Step:
    """Return a step, half of them right."""
    half = Fraction(1, 2)
    accept, eps = random.choice(ACCEPT), Fraction(random.choice((1, 2, 3)), 5)
    kind = random.choice(("hidden", "kept", "langevin"))
    if kind == "langevin":
        drift = Fraction(random.choice((0, 1, 1, 1)))
        made = Step(kind, (drift,), (drift,), accept=accept, eps=eps)
    else:
        count = random.choice((1, 2, 3))
        kicks = (half, *(Fraction(1),) * (count - 1), half)
        kept, drawn = random.choice(((0, 1), (Fraction(3, 5), Fraction(4, 5)), (1, 0))) if kind == "kept" else (0, 1)
        drifts = (Fraction(1),) * count
        made = Step(kind, kicks, drifts, Fraction(kept), Fraction(drawn), accept=accept, eps=eps)
    for _ in range(random.choice((0, 0, 1, 2))):
        made = _bent(random, made)
    return made


def _bent(random: Random, step: Step) -> Step:
    """Return a step with another coefficient somewhere."""
    factor = Fraction(random.choice((-1, 2, 3)), random.choice((1, 2)))
    what = random.choice(("kick", "drift", "kinetic", "potential", "shift", "flip", "drawn"))
    match what:
        case "kick" | "drift":
            own = list(step.kicks if what == "kick" else step.drifts)
            k = random.randrange(len(own))
            own[k] *= factor
            return replace(step, kicks=tuple(own)) if what == "kick" else replace(step, drifts=tuple(own))
        case "kinetic" | "potential":
            return replace(step, **{what: getattr(step, what) * factor})
        case "shift":
            return replace(step, shift=Fraction(random.choice((-1, 1)), 2))
        case "flip":
            return replace(step, flip=not step.flip)
        case _:
            return replace(step, drawn=step.drawn * factor)

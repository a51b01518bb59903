"""Random steps of Python that are accepted or refused, right or wrong by chance, and what is true of them.

A step proposes by a trajectory, or by one normal draw around a shift along grad U, and takes what it proposes by a
ratio. Its coefficients are right, or one or two of them are not. The judge computes the step itself from these, in
floating point, and shares nothing with the compiler: states drawn from pi, moved once, may not have changed the mean
of any function. What has all its coefficients as they have to be is right by construction.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
from parts import Array, few
from words import STATES, Plane, off_means, random_potential

HEAD = """import numpy as np


def grad_U(theta):
    raise NotImplementedError


def U(theta):
    raise NotImplementedError


def step({}, eps, rng):
    {}
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
        return palindrome and law and ratio and (self.flip or self.kind != "kept")

    def text(self) -> str:
        """Return the file with the step."""
        lines = self._langevin() if self.kind == "langevin" else self._trajectory()
        return HEAD.format("theta, r" if self.kind == "kept" else "theta", "\n    ".join(lines))

    def _trajectory(self) -> list[str]:
        keeps = self.kind == "kept"
        lines = ["w = rng.standard_normal(len(theta))"]
        lines += [f"r = {f'{_number(self.kept)} * r + ' if keeps else ''}{_number(self.drawn)} * w", "q, p = theta, r"]
        for k, kick in enumerate(self.kicks):
            lines.append(f"p = p - {_number(kick)} * eps * grad_U(q)")
            lines += [f"q = q + {_number(self.drifts[k])} * eps * p"] if k < len(self.drifts) else []
        ratio = f"{_number(self.potential)} * (U(theta) - U(q)) + {_number(self.kinetic)} * (r @ r - p @ p)"
        taken, refused = ("q, p", f"theta, {'-' if self.flip else ''}r") if keeps else ("q", "theta")
        lines.append(f"ratio = {ratio} + {_number(self.shift)}")
        return [*lines, f"if {self.accept}:", f"    return {taken}", f"return {refused}"]

    def _langevin(self) -> list[str]:
        (forth,), (back,) = self.kicks, self.drifts
        return [
            f"g = {_number(forth)} * grad_U(theta)",
            f"new = theta - eps * g + {_number(self.drawn)} * np.sqrt(2 * eps) * rng.standard_normal(len(theta))",
            "forth = new - theta + eps * g",
            f"back = theta - new + eps * {_number(back)} * grad_U(new)",
            f"ratio = {_number(self.potential)} * (U(theta) - U(new)) + {_number(self.shift)}",
            f"ratio = ratio + {_number(self.kinetic)} * (forth @ forth - back @ back) / (2 * eps)",
            f"return np.where({self.accept}, new, theta)",
        ]

    def document(self) -> dict[str, Any]:
        """Return the dynamics that it is judged by."""
        names = ["theta", "r"] if self.kind == "kept" else ["theta"]
        return {
            "name": "random_step",
            "state": {name: {"shape": "d"} for name in names},
            "functions": {"U": {"of": "theta", "role": "potential"}},
            "H": "U(theta) + norm2(r)/2" if self.kind == "kept" else "U(theta)",
            **dict.fromkeys("DQ", [[0] * len(names)] * len(names)),
        }

    def off(self, seed: int) -> str:
        """Return a mean over pi that a step changes; empty where none is seen to."""
        rng, plane = np.random.default_rng(seed), Plane(random_potential(Random(seed)))
        z = plane.sample(rng)
        w = rng.normal(size=(STATES, 2))
        new, back, ratio = (self._langevin_at if self.kind == "langevin" else self._trajectory_at)(plane, z, w)
        seen = slice(0, 4 if self.kind == "kept" else 2)
        taken = np.exp(np.clip(np.nan_to_num(ratio, nan=-np.inf), -700, 0))
        return off_means(z[:, seen], new[:, seen], back[:, seen], taken)

    def _trajectory_at(self, plane: Plane, z: Array, w: Array) -> tuple[Array, Array, Array]:
        start = now = np.hstack([z[:, :2], float(self.kept) * z[:, 2:] + float(self.drawn) * w])
        for k, kick in enumerate(self.kicks):
            now = plane.letter(now, "B", float(kick * self.eps))
            now = plane.letter(now, "A", float(self.drifts[k] * self.eps)) if k < len(self.drifts) else now
            now = np.clip(now, -1e30, 1e30)
        kinetic = float(self.kinetic) * ((start[:, 2:] ** 2).sum(1) - (now[:, 2:] ** 2).sum(1))
        ratio = float(self.potential) * (plane.energy(start[:, :2]) - plane.energy(now[:, :2])) + kinetic
        return now, start * np.array([1, 1, *[-1 if self.flip else 1] * 2]), ratio + float(self.shift)

    def _langevin_at(self, plane: Plane, z: Array, w: Array) -> tuple[Array, Array, Array]:
        eps, theta = float(self.eps), z[:, :2]
        g = float(self.kicks[0]) * plane.slope(theta)
        new = theta - eps * g + float(self.drawn) * np.sqrt(2 * eps) * w
        forth, back = new - theta + eps * g, theta - new + eps * float(self.drifts[0]) * plane.slope(new)
        ratio = float(self.potential) * (plane.energy(theta) - plane.energy(new)) + float(self.shift)
        ratio += float(self.kinetic) * ((forth**2).sum(1) - (back**2).sum(1)) / (2 * eps)
        return np.hstack([new, z[:, 2:]]), z, ratio


def _number(x: Fraction) -> str:
    return f"({x.numerator} / {x.denominator})" if x.denominator != 1 else f"({x.numerator})"


def random_step(random: Random) -> Step:
    """Return a step, half of them right."""
    half, one = Fraction(1, 2), Fraction(1)
    accept, eps = random.choice(ACCEPT), Fraction(random.choice((1, 2, 3)), 5)
    kind = random.choice(("hidden", "kept", "langevin"))
    if kind == "langevin":
        drift = few(random, 0, 1, 1, 1)
        made = Step(kind, (drift,), (drift,), accept=accept, eps=eps)
    else:
        count = random.choice((1, 2, 3))
        kept, drawn = random.choice(((0, 1), ("3/5", "4/5"), (1, 0))) if kind == "kept" else (0, 1)
        kicks, drifts = (half, *(one,) * (count - 1), half), (one,) * count
        made = Step(kind, kicks, drifts, Fraction(kept), Fraction(drawn), accept=accept, eps=eps)
    for _ in range(random.choice((0, 0, 1, 2))):
        made = _bent(random, made)
    return made


def _bent(random: Random, step: Step) -> Step:
    """Return a step with another coefficient somewhere."""
    factor = Fraction(random.choice((-1, 2, 3)), random.choice((1, 2)))
    match random.choice(("kicks", "drifts", "kinetic", "potential", "shift", "flip", "drawn")):
        case "kicks" | "drifts" as what:
            own = list(getattr(step, what))
            own[random.randrange(len(own))] *= factor
            return replace(step, **{what: tuple(own)})
        case "shift":
            return replace(step, shift=Fraction(random.choice((-1, 1)), 2))
        case "flip":
            return replace(step, flip=not step.flip)
        case what:
            return replace(step, **{what: getattr(step, what) * factor})

"""The laws that scores compare draws with, in numbers: distribution functions, and shares of bins."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.formula.show import text
from recipe_compiler.run.data import field_rows
from recipe_compiler.run.evaluate import Point, evaluate, evaluate_rows
from recipe_compiler.run.sample import known_values
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import VALUE, Build, Data, Law, Score

NODES = 10
"""Points of the Gauss-Legendre rule in each bin."""


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A score whose law is known in numbers."""

    score: Score
    arguments: tuple[Array, ...] = ()
    shares: Array | None = None
    """What the law has in each bin, given that it is in one of them."""
    beyond: float = math.nan
    """What it has outside of the range; NaN where that is not known."""


def demand_scores(build: Build, data: Data) -> tuple[Reference, ...]:
    """Return the scores of a build with their laws in numbers.

    Raises:
        RunError: parameters of a law that are none; a density that is negative, not finite, or zero in the range.
    """
    sizes = resolve_sizes(build, data)
    return tuple(_reference(one, build, data, sizes) for one in build.scores)


def _reference(score: Score, build: Build, data: Data, sizes: Sizes) -> Reference:
    if score.law is None:
        if data.test is None:
            hint = "a `test` section, or the fields of `test=` in Python"
            raise RunError(f"scores.{score.name}: found no rows that are held out, expected {hint}")
        return Reference(score)
    at = Point(known_values(build, sizes) | _all_rows(score, build, data, sizes), sizes)
    edges = np.linspace(*score.range, score.bins + 1)
    if not isinstance(score.law, Law):
        return Reference(score, shares=_shares(score, edges, at))
    arguments = tuple(evaluate(one, at) for one in score.law.arguments)
    law, length = score.law.name, max(one.size for one in arguments[:1])
    if not (np.abs(uniforms(law, np.full(length, 0.5), arguments) - 0.5) <= 0.5).all():
        found = ", ".join(f"{np.ravel(one)[0]:g}{', ...' * (one.size > 1)}" for one in arguments)
        raise RunError(f"scores.{score.name}: found {law}({found}), which is no distribution")
    if score.kind == "ks":
        return Reference(score, arguments)
    below = uniforms(law, edges[:, None], arguments)[:, 0]
    inside = float(below[-1] - below[0])
    if not inside > 0:
        raise RunError(f"scores.{score.name}: found no mass of {law} in range, expected some")
    return Reference(score, arguments, np.diff(below) / inside, 1.0 - inside)


def _all_rows(score: Score, build: Build, data: Data, sizes: Sizes) -> dict[str, Array]:
    """Return the fields of the data that the law of a score names, each as the matrix of its rows."""
    named = {name for formula in score.formulas for name in dependence(formula).parameters}
    declared = build.target.as_declared.declarations
    fields = [field for field in data.fields if field.name in named]
    return {f.name: field_rows(declared, f.name, f.values, sizes).reshape(len(f.values), -1) for f in fields}


def _shares(score: Score, edges: Array, at: Point) -> Array:
    """Return the shares of bins by an unnormalised density, by Gauss-Legendre in each."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(edges)[:, None] / 2.0
    places = edges[:-1, None] + half * (1.0 + nodes)
    density = evaluate_rows(cast("Any", score.law), at, {VALUE.name: places.reshape(-1, 1, 1)}).reshape(-1)
    density = np.broadcast_to(density, places.size)
    wrong = np.flatnonzero(~(np.isfinite(density) & (density >= 0.0)))
    if wrong.size or not density.any():
        k = wrong[0] if wrong.size else 0
        found = f"found {density[k] + 0.0:g} as the density of {text(cast('Any', score.of))} at {places.ravel()[k]:g}"
        raise RunError(f"scores.{score.name}: {found}, expected a number >= 0, above 0 somewhere in the range")
    mass = (density.reshape(places.shape) * weights * half).sum(axis=1)
    return mass / mass.sum()


def uniforms(law: str, x: Array, arguments: tuple[Array, ...]) -> Array:
    """Return the Rosenblatt transform `[..., k]` of `x`, `[..., n]`: independent and uniform where x has the law.

    Entry by entry F(x_i) where these are independent. Of N(m, cov) the entries of L^-1 (x - m), cov = L L^T. Of shares
    with a Dirichlet law x_i/(x_i + ... + x_n) ~ Beta(a_i, a_(i+1) + ... + a_n), given those before.

    Raises:
        RunError: a covariance that is not positive definite.
    """
    from scipy import special

    if law == "N":
        m, cov = arguments[0].reshape(-1), np.atleast_2d(arguments[1])
        try:
            root = np.linalg.cholesky(cov)
        except np.linalg.LinAlgError as error:
            raise RunError("scores: found a covariance of N that is not positive definite") from error
        return special.ndtr(np.linalg.solve(root, (x - m).reshape(-1, m.size).T).T.reshape(x.shape))
    if law == "Dirichlet":
        a = np.concatenate([one.reshape(-1) for one in arguments])
        x = x if len(arguments) == 1 else np.concatenate([x, 1.0 - x.sum(axis=-1, keepdims=True)], axis=-1)
        left, rest = (np.flip(np.cumsum(np.flip(own, -1), -1), -1) for own in (x, a))
        share = np.divide(x[..., :-1], left[..., :-1], out=np.zeros_like(x[..., :-1]), where=left[..., :-1] > 0.0)
        return special.betainc(a[:-1], rest[1:], share)
    with np.errstate(all="ignore"):
        return _DISTRIBUTIONS[law](special, x, *(one.reshape(-1) for one in arguments))


_DISTRIBUTIONS: Mapping[str, Callable[..., Array]] = {
    "Gamma": lambda s, x, shape, rate: s.gammainc(shape, rate * np.maximum(x, 0.0)),
    "InverseGamma": lambda s, x, shape, scale: s.gammaincc(shape, scale / np.maximum(x, 0.0)),
    "Exponential": lambda _, x, rate: -np.expm1(-rate * np.maximum(x, 0.0)),
    "LogNormal": lambda s, x, m, v: s.ndtr((np.log(np.maximum(x, 0.0)) - m) / np.sqrt(v)),
    "Beta": lambda s, x, a, b: s.betainc(a, b, np.clip(x, 0.0, 1.0)),
    "Uniform": lambda _, x, a, b: np.where(a < b, np.clip((x - a) / (b - a), 0.0, 1.0), np.nan),
}
"""Distribution functions, entry by entry."""

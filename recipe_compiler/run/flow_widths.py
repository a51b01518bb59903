"""Before a run: how much too wide a flow whose shape minibatches estimate leaves the block that it moves.

Given all others its variance is (a + tanh(rate eps/2) Var[A])/rate^2 where its law has a/rate^2, A being the estimate
of the shape a from a minibatch (`verify/moves/cir.py`), and its mean is exact. A is a sum over the data, so that Var[A]
is known from what single data add to it: (N^2/n) S^2, (1 - n/N) of it where no datum is drawn twice. For batches that
are blocks of the data it is the mean over all orders of them.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import DataError
from recipe_compiler.formula.expression import Formula
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.evaluate import Array, Point, evaluate
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.suggestions import WIDE
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Cir, Target

MOST_ROWS = 1000
"""Data that tell what data add to a shape; of more, so many drawn at random."""


@dataclass(frozen=True, slots=True)
class FlowWidth:
    """By how much a `cir` flow whose shape minibatches estimate makes its block too wide."""

    block: str
    factor: float
    """The factor on its sd given all others, at the entry where it is largest; NaN where it is not known."""
    entry: int
    step_size: float
    """That at which the sd would be `WIDE` at most."""

    @property
    def says(self) -> tuple[str, ...]:
        """What will come, in lines."""
        if not self.factor >= 1.0:
            return (
                f"forecast: cir of {self.block}: its shape takes minibatches and other blocks; its sd is not known",
            )
        first = (
            f"forecast: cir of {self.block} by minibatches: its mean exact, its sd {self._wide} at most "
            f"({self.block}[{self.entry}]), given all others"
        )
        cure = f"  step_size: {self.step_size:.2g}: {100.0 * (WIDE - 1.0):.0f} % too wide at most"
        return (first, cure) if self.factor > WIDE else (first,)

    @property
    def doubt(self) -> str:
        """Why the posterior of the run is not to be believed; empty where it is."""
        if self.factor <= WIDE:
            return ""
        cure = "take a smaller step size, a larger batch or `variant: full`."
        if not self.factor >= 1.0:
            found = (
                f"cir of {self.block} takes its shape from minibatches: its variance is too large, by an unknown amount"
            )
            return f"{found}; {cure}"
        return (
            f"by the forecast the sd of {self.block} is {self._wide}, as cir takes its shape from minibatches; {cure}"
        )

    @property
    def _wide(self) -> str:
        return f"{100.0 * (self.factor - 1.0):.1f} % too wide"


def flow_widths(
    build: Build, module: Emitted, inputs: Inputs, known: Mapping[str, Array], sizes: Mapping[str, int]
) -> Iterator[FlowWidth]:
    """Yield how wide each `cir` flow of a cycle leaves its block, where minibatches estimate the shape a.

    Given all others the variance is (a + tanh(b eps/2) Var[A])/b**2 where the law Gamma(a, b) has a/b**2, A being the
    unbiased estimate of a; the mean is exact (Baker, Fearnhead, Fox, Nemeth 2018). Var[A] = (N**2/n) S**2, times (N -
    n)/(N - 1) where no datum is drawn twice, with S**2 the variance of what one datum adds to a.

    Args:
        build: with the moves, and the laws of its target.
        module: says how batches are drawn.
        inputs: what the chains are given.
        known: values of parameters in the shapes that formulas use.
        sizes: symbolic sizes.
    """
    target = build.target.declared or build.target
    fields = {field.name for field in target.declarations.data}
    for move in build.scheme.cycle:
        if not isinstance(move, Cir) or inputs.batch_size is None:
            continue
        shape, rate = dict(target.laws)[move.block].arguments
        if not fields & {*dependence(shape).names}:
            continue
        data = {name: _rows(values) for name, values in zip(module.data, inputs.data, strict=True)}
        try:
            a, spread = _moments(shape, target, data, known, sizes)
            b = np.broadcast_to(evaluate(rate, Point(known, sizes)), a.shape)
        except DataError:  # of other blocks
            yield FlowWidth(move.block, math.nan, 0, math.nan)
            continue
        n, N = inputs.batch_size, inputs.rows
        noise = N**2 / n * spread * (1.0 if module.replacement else (N - n) / max(N - 1, 1))
        excess = (noise / a).reshape(-1)
        factors = np.sqrt(1.0 + np.tanh(b.reshape(-1) * inputs.eps / 2.0) * excess)
        worst = int(np.argmax(factors))
        most = min((WIDE**2 - 1.0) / max(excess[worst], 1e-300), 1.0 - 1e-12)
        yield FlowWidth(move.block, float(factors[worst]), worst, 2.0 * math.atanh(most) / float(b.reshape(-1)[worst]))


def _rows(values: NDArray[Any]) -> Array:
    """Return a data field as formulas of all its rows have it: N x d, or N x 1."""
    return np.asarray(values, dtype=np.float64).reshape(len(values), -1)


def _moments(
    shape: Formula, target: Target, data: Mapping[str, Array], known: Mapping[str, Array], sizes: Mapping[str, int]
) -> tuple[Array, Array]:
    """Return the shape of all data, and the variance of what one datum adds to it. Raises DataError."""
    count = target.declarations.data[0].size
    N = len(next(iter(data.values())))

    def of(rows: slice) -> Array:
        own = {name: values[rows] for name, values in data.items()}
        held = {**sizes, **({count: len(next(iter(own.values())))} if isinstance(count, str) else {})}
        return np.asarray(evaluate(shape, Point({**known, **own}, held)), dtype=np.float64)

    chosen = np.arange(N) if N <= MOST_ROWS else np.random.default_rng(0).choice(N, MOST_ROWS, replace=False)
    added = np.stack([of(slice(k, k + 1)) for k in chosen.tolist()])
    return of(slice(None)), added.var(axis=0)

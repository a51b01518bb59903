"""The emitted module of a build, driven by the functions that `recipe run` uses."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from recipe_compiler.formula.arrays import Array
from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.chain import LANES, Inputs, advance, start_chain
from recipe_compiler.run.data import Data, Field
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import prepare_inputs
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build

BUILDS = Path(__file__).parent / "builds"


def load_build(name: str, **sizes: int) -> Build:
    """Return a build of benchmarks/builds, with the sizes given taking the place of its own."""
    build = load(BUILDS / f"{name}.yaml")
    if not isinstance(build, Build):
        raise TypeError(f"{name} is no build")
    return replace(build, sizes=tuple({**dict(build.sizes), **sizes}.items()))


def compiled(build: Build) -> Emitted:
    """Return its module, by way of the whole pipeline. What is undecided is compiled: no verdict is raced here."""
    return load_text(build.name, compile_build(build, allow_undecided=True).text)


class Chains:
    """Chains of an emitted module, all started at zero; every call moves them on by `draws * thin` steps."""

    def __init__(self, build: Build, thin: int, draws: int, data: Data | None = None, chains: int = 1,
                 module: Emitted | None = None, seed: int = 1, lanes: bool = False) -> None:  # fmt: skip
        self.module = module or compiled(build)
        settings = replace(build.run, thin=thin, draws=draws)
        self.inputs: Inputs = prepare_inputs(self.module, build, settings, data or Data(), draws)
        sizes = [size if isinstance(size, int) else dict(build.sizes)[size] for _, size in self.module.blocks]
        state = {name: np.zeros(max(size, 1)) for (name, _), size in zip(self.module.blocks, sizes, strict=True)}
        noise, batch = self.module.seed_streams(seed, chains)
        self.chains = [start_chain(self.module, self.inputs, state, noise[k], batch[k]) for k in range(chains)]
        self.lanes, together = lanes, LANES if lanes else 1
        self.groups = [self.chains[k : k + together] for k in range(0, chains, together)]

    def advance(self) -> None:
        """Move every chain on. Raises ArithmeticError where one leaves the finite numbers."""
        for chain in self.chains:
            chain.done = 0
        for group in self.groups:
            advance(self.module, self.inputs, group, self.inputs.draws, lanes=self.lanes)
        if any(chain.diverging for chain in self.chains):
            raise ArithmeticError(f"{self.module.name} left the finite numbers")

    def theta(self) -> Array:
        """Return the draws of theta of the last call: one row per draw, or per chain the last draw of many chains."""
        if len(self.chains) == 1:
            return next(iter(self.chains[0].draws.values()))
        return np.stack([next(iter(chain.draws.values()))[-1] for chain in self.chains])

    def work(self) -> Array:
        """Move on and return the draws of theta."""
        self.advance()
        return self.theta()


def logistic_data(rows: int, columns: int, seed: int = 0, scale: float = 1.0) -> Data:
    """Return standard normal rows, and labels of a logistic model whose coefficients have a deviation of `scale`."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns))
    predictor = x @ (scale * rng.standard_normal(columns))
    y = (rng.random(rows) < 1.0 / (1.0 + np.exp(-predictor))).astype(np.float64)
    names = tuple(str(k) for k in range(columns))
    return Data((Field("x", x, names), Field("y", y, ("y",))))

"""Stand-ins of random generators: every draw is a new symbol of known mean and covariance, or one that is uniform."""

from typing import Any

import numpy as np

from recipe_compiler.lint import nodes
from recipe_compiler.lint.arrays import Traced, traced
from recipe_compiler.lint.nodes import KNOWN, Node, UntraceableError
from recipe_compiler.lint.values import apply, made, node_of


class NormalGenerator:
    """A generator of normal numbers; it refuses to draw anything else."""

    def __init__(self, *seeds: object, **named: object) -> None:
        """Make one; a seed in the step would make all steps draw the same."""
        if any(seed is not None for seed in (*seeds, *named.values())):
            _seeded()

    def standard_normal(self, size: Any = None, dtype: object = None, out: Any = None) -> Any:
        """Return draws of N(0, 1)."""
        if out is not None:
            out[...] = _normals(np.shape(out))
            return out
        return _normals(size)

    def randn(self, *shape: int) -> Any:
        """Return draws of N(0, 1)."""
        return _normals(shape or None)

    def normal(self, loc: Any = 0, scale: Any = 1, size: Any = None) -> Any:
        """Return draws of N(loc, scale**2)."""
        shape = size if size is not None else (np.broadcast(_boxed(loc), _boxed(scale)).shape or None)
        return loc + scale * _normals(shape)

    def random(self, size: Any = None, *_: object, **__: object) -> Any:
        """Return draws that are uniform between 0 and 1."""
        return _uniform("random", size)

    def rand(self, *shape: int) -> Any:
        """Return draws that are uniform between 0 and 1."""
        return _uniform("rand", shape or None)

    def uniform(self, low: Any = 0, high: Any = 1, size: Any = None) -> Any:
        """Return draws that are uniform between two numbers."""
        return low + (high - low) * _uniform("uniform", size)

    def exponential(self, scale: Any = 1, size: Any = None) -> Any:
        """Return exponential draws: what -scale log u is of a uniform u."""
        return -scale * _logarithm(_uniform("exponential", size))

    def standard_exponential(self, size: Any = None, *_: object, **__: object) -> Any:
        """Return exponential draws of mean 1."""
        return -_logarithm(_uniform("standard_exponential", size))

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, *_: object, **__: object) -> Any:
        """Return a draw of N(mean, cov)."""
        mean, cov = traced(mean), traced(cov)
        if size is not None or cov.ndim != 2 or mean.shape != cov.shape[:1] or cov.shape[0] != cov.shape[1]:
            raise UntraceableError(f"multivariate_normal of shapes {mean.shape}, {cov.shape} and size {size}")
        own = [nodes.draw() for _ in range(len(mean))]
        if not nodes.tape.running:
            return mean + _symbols(own)
        covariance = [[node for x in row if (node := node_of(x)) is not None] for row in cov]
        places = [int(node.args[0]) for node in own if isinstance(node.args[0], int)]
        nodes.tape.groups.append((places, covariance))
        return mean + _symbols(own)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UntraceableError(f"the random draw `{name}`: only {KNOWN} can be followed")


def _symbols(own: list[Node]) -> Any:
    found = np.empty(len(own), dtype=object)
    found[:] = [made(node) for node in own]
    return found.view(Traced)


def _normals(size: Any) -> Any:
    if size is None or size == ():
        return made(nodes.draw())
    found = np.empty(size, dtype=object)
    for at in np.ndindex(found.shape):
        found[at] = made(nodes.draw())
    return found.view(Traced)


def _uniform(name: str, size: Any) -> Any:
    if size is None or size == ():
        return made(nodes.uniform(name))
    found = np.empty(size, dtype=object)
    for at in np.ndindex(found.shape):
        found[at] = made(nodes.uniform(name))
    return found.view(Traced)


def _logarithm(u: Any) -> Any:
    return np.log(u) if isinstance(u, np.ndarray) else apply("log", u)


def _boxed(x: Any) -> Any:
    return np.empty(np.shape(x))


GENERATOR = NormalGenerator()


def _seeded(*_: object, **__: object) -> None:
    """Refuse a seed in the step; when the file is loaded it does nothing, for symbols have none."""
    if nodes.tape.running:
        raise UntraceableError("a seed set in the step: every step draws the same numbers")


def _restored(*_: object, **__: object) -> None:
    """Refuse the state of a generator that is read or set in the step."""
    if nodes.tape.running:
        raise UntraceableError("the state of a generator read or set in the step: steps may draw the same numbers")


def _refused(name: str) -> Any:
    def refuse(*_: object, **__: object) -> Any:
        return getattr(GENERATOR, name)

    return refuse


RANDOM: dict[str, Any] = {
    "randn": GENERATOR.randn,
    "normal": GENERATOR.normal,
    "standard_normal": GENERATOR.standard_normal,
    "multivariate_normal": GENERATOR.multivariate_normal,
    "default_rng": NormalGenerator,
    "RandomState": NormalGenerator,
    "Generator": NormalGenerator,
    "seed": _seeded,
    **dict.fromkeys(("get_state", "set_state", "get_bit_generator", "set_bit_generator"), _restored),
    "rand": GENERATOR.rand,
    **dict.fromkeys(("random", "random_sample", "ranf", "sample"), GENERATOR.random),
    "uniform": GENERATOR.uniform,
    "exponential": GENERATOR.exponential,
    "standard_exponential": GENERATOR.standard_exponential,
    **{
        name: _refused(name)
        for name in (
            "randint", "random_integers", "choice", "shuffle",
            "permutation", "gamma", "beta", "binomial", "poisson", "standard_t", "laplace",
            "standard_gamma", "standard_cauchy", "chisquare", "noncentral_chisquare",
            "dirichlet", "multinomial", "bytes", "lognormal", "logistic", "gumbel", "geometric", "weibull", "pareto",
            "negative_binomial", "triangular", "vonmises", "wald", "rayleigh", "hypergeometric", "power", "zipf", "f",
        )
    },
}  # fmt: skip
"""Names of `numpy.random` in the child."""

PYTHON: dict[str, Any] = {
    "gauss": lambda mu=0, sigma=1: GENERATOR.normal(mu, sigma),
    "normalvariate": lambda mu=0, sigma=1: GENERATOR.normal(mu, sigma),
    "seed": _seeded,
    "getstate": _restored,
    "setstate": _restored,
    "random": GENERATOR.random,
    "uniform": GENERATOR.uniform,
    "expovariate": lambda lambd=1: GENERATOR.exponential(1 / lambd),
    **{
        name: _refused(name)
        for name in (
            "randint", "randrange", "choice", "choices", "sample", "shuffle",
            "betavariate", "gammavariate", "lognormvariate", "getrandbits", "triangular", "paretovariate",
            "weibullvariate", "vonmisesvariate",
        )
    },
}  # fmt: skip
"""Names of Python's `random` in the child."""


def normals(shape: tuple[int, ...]) -> Any:
    """Return draws of N(0, I)."""
    return _normals(shape or None)

"""Random generators of a step: how every way of drawing comes down to normal and uniform numbers."""

import random
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from recipe_compiler.lint import nodes
from recipe_compiler.lint.arrays import TracedArray, trace_array
from recipe_compiler.lint.nodes import KNOWN, UntraceableError, tape
from recipe_compiler.lint.values import apply, find_node, make_number

NOT_THE_DRAWS = "it draws other numbers than when it was traced"


class Draws:
    """A generator; where its numbers come from says who derives from it. What it does not know, it refuses to draw."""

    def __init__(self, *seeds: object, **named: object) -> None:
        """Make one; a seed in the step would make all steps draw the same."""
        if any(seed is not None for seed in (*seeds, *named.values())):
            refuse_in_step("a seed set in the step: every step draws the same numbers")

    def normals(self, size: Any) -> Any:
        """Return draws of N(0, 1)."""
        raise NotImplementedError

    def uniforms(self, name: str, size: Any) -> Any:
        """Return draws that are uniform between 0 and 1; `name` is how they were called."""
        raise NotImplementedError

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, *_: object, **__: object) -> Any:
        """Return a draw of N(mean, cov)."""
        raise NotImplementedError

    def logarithm(self, u: Any) -> Any:
        """Return log u of uniform draws."""
        return np.log(u)

    def refuse(self, name: str) -> Any:
        """Refuse a draw of another law.

        Raises:
            UntraceableError: always.
        """
        raise UntraceableError(f"the random draw `{name}`: only {KNOWN} can be traced")

    def _refuse_options(self, name: str, **asked: object) -> None:
        """Refuse options of a draw that cannot be traced."""
        dtype = asked.pop("dtype", None)
        not_followed = [key for key, value in asked.items() if value is not None]
        if dtype is not None and not (dtype is float or dtype is np.float64 or dtype in ("d", "float64")):
            not_followed.insert(0, "dtype")
        if not_followed:
            self.refuse(f"{name}(..., {not_followed[0]}=...)")

    def standard_normal(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Return draws of N(0, 1)."""
        self._refuse_options("standard_normal", dtype=dtype)
        if out is not None:
            out[...] = self.normals(np.shape(out))
            return out
        return self.normals(size)

    def normal(self, loc: Any = 0, scale: Any = 1, size: Any = None) -> Any:
        """Return draws of N(loc, scale**2)."""
        shape = np.broadcast(np.empty(np.shape(loc)), np.empty(np.shape(scale))).shape if size is None else size
        return loc + scale * self.normals(None if shape == () else shape)

    gauss = normalvariate = normal

    def random(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Return draws that are uniform between 0 and 1."""
        self._refuse_options("random", dtype=dtype, out=out)
        return self.uniforms("random", size)

    random_sample = ranf = random

    def uniform(self, low: Any = 0, high: Any = 1, size: Any = None) -> Any:
        """Return draws that are uniform between two numbers."""
        return low + (high - low) * self.uniforms("uniform", size)

    def exponential(self, scale: Any = 1, size: Any = None) -> Any:
        """Return exponential draws: what -scale log u is of a uniform u."""
        return -scale * self.logarithm(self.uniforms("exponential", size))

    def expovariate(self, lambd: Any = 1) -> Any:
        """Return an exponential draw of rate lambd."""
        return self.exponential(1 / lambd)

    def standard_exponential(self, size: Any = None, dtype: Any = None, method: Any = None, out: Any = None) -> Any:
        """Return exponential draws of mean 1."""
        self._refuse_options("standard_exponential", dtype=dtype, method=method, out=out)
        return -self.logarithm(self.uniforms("standard_exponential", size))

    def randn(self, *shape: int) -> Any:
        """Return draws of N(0, 1)."""
        return self.normals(shape or None)

    def rand(self, *shape: int) -> Any:
        """Return draws that are uniform between 0 and 1."""
        return self.uniforms("rand", shape or None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: self.refuse(name)


class FollowedDraws(Draws):
    """A generator whose draws are symbols."""

    def normals(self, size: Any) -> Any:
        """Return draws of N(0, 1)."""
        return _draw_array(nodes.draw, size)

    def uniforms(self, name: str, size: Any) -> Any:
        """Return draws that are uniform between 0 and 1."""
        return _draw_array(lambda: nodes.uniform(name), size)

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, *_: object, **__: object) -> Any:
        """Return a draw of N(mean, cov), which is the same law however it is made, and whatever is checked."""
        mean, cov = trace_array(mean), trace_array(cov)
        if size is not None or cov.ndim != 2 or mean.shape != cov.shape[:1] or cov.shape[0] != cov.shape[1]:
            raise UntraceableError(f"multivariate_normal of shapes {mean.shape}, {cov.shape} and size {size}")
        noise = self.normals(mean.shape)
        if tape.running:
            places = [node.position for x in noise if (node := find_node(x))]
            tape.groups.append((places, [[node for x in row if (node := find_node(x)) is not None] for row in cov]))
        return mean + noise

    def logarithm(self, u: Any) -> Any:
        """Return log u of uniform draws."""
        return np.log(u) if isinstance(u, np.ndarray) else apply("log", u)


def _draw_array(draw: Any, size: Any) -> Any:
    if size is None or size == ():
        return make_number(draw())
    found = np.empty(size, dtype=object)
    for at in np.ndindex(found.shape):
        found[at] = make_number(draw())
    return found.view(TracedArray)


REAL = np.random.default_rng


class StatedDraws(Draws):
    """A generator whose draws are stated beforehand for each call; while a file is loaded they are random numbers."""

    stated: "tuple[list[float], list[float]] | None" = None
    """Normal and uniform numbers that are left."""
    covariances: ClassVar[list[np.ndarray]] = []

    @classmethod
    def state(cls, normal: Sequence[float], uniform: Sequence[float]) -> None:
        """State the numbers that the next call draws."""
        cls.stated = [*normal], [*uniform]
        cls.covariances.clear()

    @classmethod
    def are_left(cls) -> bool:
        """Whether numbers are left that were stated."""
        return cls.stated is not None and any(cls.stated)

    def normals(self, size: Any) -> Any:
        """Return the next normal numbers."""
        return REAL().standard_normal(size) if self.stated is None else _take_stated(self.stated[0], size)

    def uniforms(self, name: str, size: Any) -> Any:
        """Return the next uniform numbers."""
        return REAL().random(size) if self.stated is None else _take_stated(self.stated[1], size)

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, *_: object, **__: object) -> Any:
        """Return the mean with the next numbers added; of what covariance they are to be is noted."""
        self.covariances.append(np.asarray(cov, dtype=float))
        return np.asarray(mean, dtype=float) + self.normals(np.shape(mean))


def _take_stated(left: list[float], size: Any) -> Any:
    count = 1 if size is None else int(np.prod(size, dtype=int))
    if count > len(left):
        raise UntraceableError(NOT_THE_DRAWS)
    found, left[:count] = left[:count], []
    return found[0] if size is None else np.array(found).reshape(size)


def refuse_in_step(reason: str) -> None:
    """Refuse what a step must not do; when the file is loaded it does nothing.

    Raises:
        UntraceableError: a step is running.
    """
    if tape.running:
        raise UntraceableError(reason)


def _refuse_seed(*_: object, **__: object) -> None:
    refuse_in_step("a seed set in the step: every step draws the same numbers")


def _refuse_state(*_: object, **__: object) -> None:
    refuse_in_step("the state of a generator read or set in the step: steps may draw the same numbers")


def list_random_names(kind: type[Draws]) -> dict[str, Any]:
    """Return what names of `numpy.random`, and of Python's `random`, stand for."""
    own = kind()
    states = ("get_state", "set_state", "get_bit_generator", "set_bit_generator", "getstate", "setstate")
    functions = {name for module in (np.random, random) for name in module.__all__ if name[0].islower()}
    return {
        **{name: getattr(own, name) for name in functions},
        **dict.fromkeys(("default_rng", "Generator", "RandomState"), kind),
        **dict.fromkeys(states, _refuse_state),
        **{"seed": _refuse_seed, "sample": own.random},
    }


def replace_randomness(kind: type[Draws]) -> None:
    """Let all modules find the same generators: real random numbers would be taken for constants."""
    for name, stand_in in list_random_names(kind).items():
        for module in (np.random, random):
            if hasattr(module, name):
                setattr(module, name, stand_in)

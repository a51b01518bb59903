"""What stands for random generators: how every way of drawing comes down to normal and uniform numbers.

Where these come from says who derives from it: symbols, where a step is followed; stated numbers, where it is run.
"""

from typing import Any

import numpy as np

REFUSED = (
    "randint", "random_integers", "choice", "shuffle",
    "permutation", "gamma", "beta", "binomial", "poisson", "standard_t", "laplace",
    "standard_gamma", "standard_cauchy", "chisquare", "noncentral_chisquare",
    "dirichlet", "multinomial", "bytes", "lognormal", "logistic", "gumbel", "geometric", "weibull", "pareto",
    "negative_binomial", "triangular", "vonmises", "wald", "rayleigh", "hypergeometric", "power", "zipf", "f",
)  # fmt: skip
"""Draws of `numpy.random` that are not followed."""
PYTHON_REFUSED = (
    "randint", "randrange", "choice", "choices", "sample", "shuffle",
    "betavariate", "gammavariate", "lognormvariate", "getrandbits", "triangular", "paretovariate",
    "weibullvariate", "vonmisesvariate",
)  # fmt: skip
"""The same of Python's `random`."""
UNIFORM = ("random", "random_sample", "ranf", "sample")
"""Names of `numpy.random` for uniform draws."""


class Draws:
    """Ways to draw, by normal numbers, uniform ones and normal ones of a covariance, which are for others to give."""

    def normals(self, size: Any) -> Any:
        """Return draws of N(0, 1)."""
        raise NotImplementedError

    def uniforms(self, name: str, size: Any) -> Any:
        """Return draws that are uniform between 0 and 1; `name` is how they were called."""
        raise NotImplementedError

    def jointly(self, mean: Any, cov: Any, size: Any) -> Any:
        """Return a draw of N(mean, cov)."""
        raise NotImplementedError

    def logarithm(self, u: Any) -> Any:
        """Return log u of uniform draws."""
        raise NotImplementedError

    def refuse(self, name: str) -> Any:
        """Refuse a draw of another law."""
        raise NotImplementedError

    def as_drawn(self, name: str, **asked: object) -> None:
        """Refuse arguments of a draw that are not followed: doubles, in an array of their own, are."""
        dtype = asked.pop("dtype", None)
        not_followed = [key for key, value in asked.items() if value is not None]
        if dtype is not None and not (dtype is float or dtype is np.float64 or dtype in ("d", "float64")):
            not_followed.insert(0, "dtype")
        if not_followed:
            self.refuse(f"{name}(..., {not_followed[0]}=...)")

    def standard_normal(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Return draws of N(0, 1)."""
        self.as_drawn("standard_normal", dtype=dtype)
        if out is not None:
            out[...] = self.normals(np.shape(out))
            return out
        return self.normals(size)

    def normal(self, loc: Any = 0, scale: Any = 1, size: Any = None) -> Any:
        """Return draws of N(loc, scale**2)."""
        shape = size if size is not None else (np.broadcast(_boxed(loc), _boxed(scale)).shape or None)
        return loc + scale * self.normals(shape)

    def random(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Return draws that are uniform between 0 and 1."""
        self.as_drawn("random", dtype=dtype, out=out)
        return self.uniforms("random", size)

    def uniform(self, low: Any = 0, high: Any = 1, size: Any = None) -> Any:
        """Return draws that are uniform between two numbers."""
        return low + (high - low) * self.uniforms("uniform", size)

    def exponential(self, scale: Any = 1, size: Any = None) -> Any:
        """Return exponential draws: what -scale log u is of a uniform u."""
        return -scale * self.logarithm(self.uniforms("exponential", size))

    def standard_exponential(self, size: Any = None, dtype: Any = None, method: Any = None, out: Any = None) -> Any:
        """Return exponential draws of mean 1."""
        self.as_drawn("standard_exponential", dtype=dtype, method=method, out=out)
        return -self.logarithm(self.uniforms("standard_exponential", size))

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: Any = None, tol: Any = None, *, method: Any = None
    ) -> Any:
        """Return a draw of N(mean, cov), which is the same law however it is made, and whatever is checked."""
        return self.jointly(mean, cov, size)


class LegacyDraws(Draws):
    """The same with the names that `numpy.random.RandomState` has besides."""

    def randn(self, *shape: int) -> Any:
        """Return draws of N(0, 1)."""
        return self.normals(shape or None)

    def rand(self, *shape: int) -> Any:
        """Return draws that are uniform between 0 and 1."""
        return self.uniforms("rand", shape or None)


def numpy_names(own: LegacyDraws) -> dict[str, Any]:
    """Return what names of `numpy.random` draw by a generator."""
    same = (
        "randn", "normal", "standard_normal", "multivariate_normal", "rand", "uniform", "exponential",
        "standard_exponential",
    )  # fmt: skip
    return {
        **{name: getattr(own, name) for name in same},
        **dict.fromkeys(UNIFORM, own.random),
        **{name: _refused(own, name) for name in REFUSED},
    }


def python_names(own: LegacyDraws) -> dict[str, Any]:
    """Return what names of Python's `random` draw by a generator."""

    def gauss(mu: Any = 0, sigma: Any = 1) -> Any:
        return own.normal(mu, sigma)

    def expovariate(lambd: Any = 1) -> Any:
        return own.exponential(1 / lambd)

    return {
        **{name: _refused(own, name) for name in PYTHON_REFUSED},
        **{"gauss": gauss, "normalvariate": gauss, "expovariate": expovariate},
        **{"random": own.random, "uniform": own.uniform},
    }


def _refused(own: LegacyDraws, name: str) -> Any:
    def refuse(*_: object, **__: object) -> Any:
        return own.refuse(name)

    return refuse


def _boxed(x: Any) -> Any:
    return np.empty(np.shape(x))

"""Random generators of a step that is followed: every draw is a new symbol of known mean and covariance, or uniform."""

from typing import Any

import numpy as np

from recipe_compiler.lint import nodes
from recipe_compiler.lint.arrays import Traced, traced
from recipe_compiler.lint.nodes import KNOWN, Node, UntraceableError
from recipe_compiler.lint.plain_run.generators import LegacyDraws, numpy_names, python_names
from recipe_compiler.lint.values import apply, made, node_of


class FollowedDraws(LegacyDraws):
    """A generator of normal numbers, and of uniform ones to compare with; it refuses to draw anything else."""

    def __init__(self, *seeds: object, **named: object) -> None:
        """Make one; a seed in the step would make all steps draw the same."""
        if any(seed is not None for seed in (*seeds, *named.values())):
            _seeded()

    def normals(self, size: Any) -> Any:
        """Return draws of N(0, 1)."""
        if size is None or size == ():
            return made(nodes.draw())
        found = np.empty(size, dtype=object)
        for at in np.ndindex(found.shape):
            found[at] = made(nodes.draw())
        return found.view(Traced)

    def uniforms(self, name: str, size: Any) -> Any:
        """Return draws that are uniform between 0 and 1."""
        if size is None or size == ():
            return made(nodes.uniform(name))
        found = np.empty(size, dtype=object)
        for at in np.ndindex(found.shape):
            found[at] = made(nodes.uniform(name))
        return found.view(Traced)

    def jointly(self, mean: Any, cov: Any, size: Any) -> Any:
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

    def logarithm(self, u: Any) -> Any:
        """Return log u of uniform draws."""
        return np.log(u) if isinstance(u, np.ndarray) else apply("log", u)

    def refuse(self, name: str) -> Any:
        """Refuse a draw of another law.

        Raises:
            UntraceableError: always.
        """
        raise UntraceableError(f"the random draw `{name}`: only {KNOWN} can be traced")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.refuse(name)


def _symbols(own: list[Node]) -> Any:
    found = np.empty(len(own), dtype=object)
    found[:] = [made(node) for node in own]
    return found.view(Traced)


def _seeded(*_: object, **__: object) -> None:
    """Refuse a seed in the step; when the file is loaded it does nothing, for symbols have none."""
    if nodes.tape.running:
        raise UntraceableError("a seed set in the step: every step draws the same numbers")


def _restored(*_: object, **__: object) -> None:
    """Refuse the state of a generator that is read or set in the step."""
    if nodes.tape.running:
        raise UntraceableError("the state of a generator read or set in the step: steps may draw the same numbers")


GENERATOR = FollowedDraws()

RANDOM: dict[str, Any] = {
    **numpy_names(GENERATOR),
    **dict.fromkeys(("default_rng", "RandomState", "Generator"), FollowedDraws),
    "seed": _seeded,
    **dict.fromkeys(("get_state", "set_state", "get_bit_generator", "set_bit_generator"), _restored),
}
"""Names of `numpy.random` in the child."""

PYTHON: dict[str, Any] = {
    **python_names(GENERATOR),
    "seed": _seeded,
    **dict.fromkeys(("getstate", "setstate"), _restored),
}
"""Names of Python's `random` in the child."""

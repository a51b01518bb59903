"""Workload first_call: from importing numba to the first draw of a module, in fresh processes.

Two emitted modules, the double well and logistic regression of 30 columns in minibatches, and beside them what one
writes by hand for the double well: seconds depend on the machine, how many times as long as that much less.
"""

import statistics
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import cold_start
import numpy as np

from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build
from workloads.workload import Workload

REPEATS = 5
BUILDS = cold_start.BUILD.parent

NATURAL = """
import math

import numpy as np
from numba import njit


@njit(cache=True)
def run(theta, r, c, eps, thin, draws):
    scale = math.sqrt(2.0 * c * eps)
    for kept in range(draws.size):
        for _ in range(thin):
            grad_U = 4.0 * theta * (theta * theta - 1.0)
            r_new = r - eps * (grad_U + c * r) + scale * np.random.normal()
            theta, r = theta + eps * r, r_new
        draws[kept] = theta
"""


def first_call() -> Workload:
    """Return no race: what counts is told by `cold` and `cached`."""
    return Workload("s", 1.0, (), {}, extra=_figures, about="first call, beyond importing numba, double well")


def _figures() -> Mapping[str, float]:
    well = _medians(lambda folder: cold_start.write(_build("sghmc_double_well"), folder))
    logistic = _medians(lambda folder: cold_start.write(_build("sghmc_logistic"), folder))
    natural = _medians(_write_natural)
    return {
        "emitted": well[0], "cold": well[0], "cached": well[1], "cold_logistic": logistic[0],
        "cached_logistic": logistic[1], "natural_numba": natural[0], "natural_numba_cached": natural[1],
    }  # fmt: skip


def _build(name: str) -> Build:
    build = load(BUILDS / f"{name}.yaml")
    if not isinstance(build, Build):
        raise TypeError(f"{name} is no build")
    return build


def _medians(write: Callable[[Path], None]) -> tuple[float, float]:
    """Return the seconds of a cold and of a cached first call."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        pairs = [cold_start.starts(Path(folder), "without") for _ in range(REPEATS)]
    cold, cached = (statistics.median(pair[k].first for pair in pairs) for k in (0, 1))
    return cold, cached


def _write_natural(folder: Path) -> None:
    (folder / "emitted.py").write_text(NATURAL, encoding="utf-8")
    np.savez(folder / "arguments.npz", theta=0.1, r=0.0, c=1.0, eps=0.01, thin=1, draws=np.empty(1))

"""Workload first_call: from importing numba to the first draw of an emitted module, in fresh processes."""

import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path

import cold_start

from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build
from workloads.workload import KEYS, Workload

REPEATS = 3


def first_call() -> Workload:
    """Return no race: what counts is told by `cold` and `cached`."""
    absent = dict.fromkeys(KEYS[1:], "no emitted file to be called for the first time")
    return Workload("s", 1.0, (), absent, extra=_figures, about="first call, beyond importing numba")


def _figures() -> Mapping[str, float]:
    build = load(cold_start.BUILD)
    if not isinstance(build, Build):
        raise TypeError(f"{cold_start.BUILD} is no build")
    with tempfile.TemporaryDirectory() as folder:
        cold_start.write(build, Path(folder))
        pairs = [cold_start.starts(Path(folder), "without") for _ in range(REPEATS)]
    cold, cached = (statistics.median(pair[k].first for pair in pairs) for k in (0, 1))
    return {"emitted": cold, "cold": cold, "cached": cached}

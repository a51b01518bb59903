"""What a run must share with one that it continues: by name, so that what differs can be named."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.show import text
from recipe_compiler.run.checkpoint import Facts
from recipe_compiler.run.data import Data
from recipe_compiler.run.estimates import without_estimates
from recipe_compiler.run.sample import known_values
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.spec.model import Build, RunSettings

SAMPLED = 256
"""Of a field of the data larger than `SAMPLED` pieces, as many pieces are hashed, evenly spread, first and last too."""

PIECE = 1 << 20
"""Bytes of such a piece."""


def checkpoint_facts(code: Mapping[str, str], build: Build, settings: RunSettings, data: Data) -> Facts:
    """Return what a run must share with the one it continues.

    Values that a run estimates are left out: it estimates them again.

    Args:
        code: what makes its draws (`stepping_code`).
        build: gives values of parameters and initial states.
        settings: those of the run; with another number of `draws` it is the same run.
        data: the fields of the target.
    """
    sizes = resolve_sizes(build, data)
    values = known_values(without_estimates(build), sizes)
    code_of_gradient = build.target.gradient
    return {
        "code": dict(code) | ({} if code_of_gradient is None else {"gradient": _read(code_of_gradient.file)}),
        **{name: value for name, value in asdict(settings).items() if name != "draws"},
        **{f"size {name}": size for name, size in sizes.items()},
        **{f"parameter {name}": value.item() if value.size == 1 else _digest(value) for name, value in values.items()},
        **{f"init {name}": text(formula) for name, formula in build.init},
        **{f"data {item.name}": _digest(item.values) for item in data.fields},
    }


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _digest(values: NDArray[np.generic]) -> str:
    """Return the SHA-256 of an array, of pieces spread over it where it is large: it may not fit into memory."""
    flat = values.reshape(-1)
    length = PIECE // flat.itemsize
    pieces = range(0, flat.size, length)
    if len(pieces) > SAMPLED:
        pieces = [int(start) for start in np.linspace(0, flat.size - length, SAMPLED)]
    found = hashlib.sha256(f"{values.shape} {values.dtype.str}".encode("ascii"))
    for start in pieces:
        found.update(np.ascontiguousarray(flat[start : start + length]).tobytes())
    return found.hexdigest()

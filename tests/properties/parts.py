"""What random documents have in common: how they are written, and what their formulas are worth in numbers.

Judges evaluate the very texts that the compiler reads, as Python does: on columns of NumPy, or on balls of flint. They
share nothing with the compiler.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from types import CodeType
from typing import Any

import numpy as np

from recipe_compiler.formula.arrays import Array

SPECS = Path(__file__).parents[2] / "specs"
Files = Mapping[str, Any]
"""Names of files to documents, as dictionaries; a table of data is a text."""


@dataclass(frozen=True)
class Drawn:
    """A random document, with what is known of its truth."""

    files: Files
    judge: Callable[[np.random.Generator], Mapping[str, str]]
    """Gives the claims that fail, each with why."""


def write(files: Files, folder: Path) -> Path:
    """Write documents, as JSON, which is YAML; return the build."""
    for name, document in files.items():
        text = document if isinstance(document, str) else json.dumps(document, indent=1, default=str)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "build.yaml"


def build(name: str, dynamics: str, **parts: Any) -> dict[str, Any]:
    """Return a build of shipped dynamics and the target beside it."""
    rest = {"target": "target.yaml", "variant": "full", "sizes": {"d": 2}, "run": {"step_size": "1/4"}}
    return {"name": name, "dynamics": f"{SPECS}/dynamics/{dynamics}.yaml", **rest, **parts}


def fails(claims: str, why: str) -> dict[str, str]:
    """Return claims that fail for one reason, if there is one."""
    return dict.fromkeys(claims.split(), why) if why else {}


def few(random: Random, *numbers: Any) -> Fraction:
    """Return one of a few numbers."""
    return Fraction(random.choice(numbers))


@cache
def _compiled(text: str) -> CodeType:
    return compile(text.strip(), text, "eval")


def evaluate(text: str, functions: dict[str, Any], names: Mapping[str, Any]) -> Any:
    """Return the value of a formula that one of these modules wrote."""
    return eval(_compiled(text), functions, names)


class Ones:
    """A column of ones, as long as it has to be."""

    __array_ufunc__ = None
    T = property(lambda self: self)
    __add__ = __radd__ = lambda self, x: 1 + x
    __mul__ = __rmul__ = lambda self, x: x

    def __sub__(self, x: Any) -> Any:
        return 1 - x

    def __rsub__(self, x: Any) -> Any:
        return x - 1

    def __matmul__(self, row: Array) -> Array:
        return row

    def __rmatmul__(self, matrix: Array) -> Array:
        return matrix.sum(1, keepdims=True)


COLUMNS: dict[str, Any] = {
    "__builtins__": {},
    "log": np.log,
    "exp": np.exp,
    "sum": np.sum,
    "norm2": lambda x: (x**2).sum(),
    "ones": Ones(),
}


def value(text: str, **names: Any) -> Any:
    """Return the value of a formula; vectors are columns."""
    with np.errstate(all="ignore"):
        return evaluate(text, COLUMNS, names)

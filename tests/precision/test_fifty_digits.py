"""The jitted step agrees with a 50-digit evaluation of the same step within 8 u times the sum of absolute terms.

The text is executed once more on numbers of 50 digits that carry, beside their value, the sum of the absolute values
of the terms they were added from: what rounding can be blamed for.
"""

import re
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import mpmath
import numpy as np
import pytest
from emitted_file import shipped_file
from emitted_step import plain_module
from shipped_text import BUILDS, shipped_text
from some import some

ENDINGS = ("_gaussian", "_logistic")
"""Targets whose arguments `arguments` knows; gradients of all targets are in `test_target_gradients.py`."""
SOLVED_FOR = {"rhmc_logistic"}
"""Steps that iterate until doubles no longer change; these are read back at a point in 80 digits."""
POSITIVE = {"x"}
"""Blocks that have to be positive."""
UNIT = 2.0**-53
ALLOWED = 8


@dataclass(frozen=True)
class Wide:
    """A 50-digit value and the sum of absolute terms behind it."""

    value: mpmath.mpf
    size: mpmath.mpf

    @staticmethod
    def of(number: "float | Wide") -> "Wide":
        if isinstance(number, Wide):
            return number
        exact = mpmath.mpf(float(number))
        return Wide(exact, abs(exact))

    def __add__(self, other: "float | Wide") -> "Wide":
        other = Wide.of(other)
        return Wide(self.value + other.value, self.size + other.size)

    __radd__ = __add__

    def __neg__(self) -> "Wide":
        return Wide(-self.value, self.size)

    def __sub__(self, other: "float | Wide") -> "Wide":
        return self + -Wide.of(other)

    def __rsub__(self, other: "float | Wide") -> "Wide":
        return Wide.of(other) - self

    def __mul__(self, other: "float | Wide") -> "Wide":
        other = Wide.of(other)
        return Wide(self.value * other.value, self.size * other.size)

    __rmul__ = __mul__

    def __truediv__(self, other: "float | Wide") -> "Wide":
        other = Wide.of(other)
        return Wide(self.value / other.value, self.size / abs(other.value) * (other.size / abs(other.value)))

    def __pow__(self, exponent: int) -> "Wide":
        return Wide(self.value**exponent, self.size**exponent)

    def __rtruediv__(self, other: "float | Wide") -> "Wide":
        return Wide.of(other) / self


def through(function: Callable[[mpmath.mpf], mpmath.mpf]) -> Callable[[Wide], Wide]:
    """Return a scalar function on wide numbers: an error of its argument comes through by its derivative."""

    def apply(number: float | Wide) -> Wide:
        x = Wide.of(number)
        value = function(x.value)
        return Wide(value, abs(value) + abs(mpmath.diff(function, x.value)) * x.size)

    return apply


def wide_module(text: str) -> dict[str, object]:
    """Return the text's functions, run by plain Python, its scalar functions replaced by 50-digit ones."""
    space = plain_module(text)
    space["math"] = types.SimpleNamespace(sqrt=through(mpmath.sqrt), exp=through(mpmath.exp), log=through(mpmath.log))
    space["_exp"] = space["_inverse_log"] = through(mpmath.exp)
    space["_exprel"] = through(lambda x: mpmath.expm1(x) / x if x else mpmath.mpf(1))
    space["_sigmoid"] = through(lambda x: 1 / (1 + mpmath.exp(-x)))
    space["_softplus"] = through(lambda x: mpmath.log1p(mpmath.exp(x)))
    return space


def sizes_of(module: types.ModuleType) -> dict[str, int]:
    return {name: size or 1 for name, size in module.BLOCKS}


def arguments(module: types.ModuleType, rng: np.random.Generator, scale: float) -> dict[str, object]:
    """Return random arguments of a step; the constants are those of `prepare`."""
    found: dict[str, object] = {}
    sizes = sizes_of(module)
    d, k = sizes["theta"], sizes.get("w", sizes["theta"])
    shapes = {"M": (d, d), "C": (d, d), "D": (d, d), "A": (k, k), "Sigma": (d, d), "Lambda": (d, k), "mu": (d,)}
    shapes |= {"m": (sizes["x"],)} if "x" in sizes else {}
    for name in module.PARAMETERS:
        square = name in {"M", "C", "D", "Sigma"} or (name == "A" and "xi" not in sizes)
        if square:
            root = rng.standard_normal(shapes[name])
            found[name] = root @ root.T + np.eye(shapes[name][0])
        elif name in {"Lambda", "mu"} or (name == "m" and name in shapes):
            found[name] = rng.standard_normal(shapes[name])
        else:
            found[name] = float(rng.uniform(0.5, 3.0))
    found["eps"] = 0.02
    constants = module.prepare(*(found[name] for name in module.PARAMETERS), found["eps"])
    found |= dict(zip(module.CONSTANTS, constants, strict=True))
    found |= {name: scale * rng.standard_normal(size) for name, size in sizes.items()}
    found |= {name: scale * np.exp(rng.standard_normal(sizes[name])) for name in POSITIVE & {*sizes}}
    if module.DATA:
        found["x"] = rng.standard_normal((64, d))
        found["y"] = rng.integers(0, 2, 64).astype(float)
        found["batch"] = rng.choice(64, 32, replace=False).astype(np.uint64)
    return found


@pytest.mark.parametrize(
    "name", some(sorted({path.stem for path in BUILDS if path.stem.endswith(ENDINGS)} - SOLVED_FOR), 2)
)
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_step_against_fifty_digits(name: str, scale: float, tmp_path: Path) -> None:
    module = shipped_file(name, tmp_path)
    code = module.step.py_func.__code__
    names = code.co_varnames[: code.co_argcount]
    rng = np.random.default_rng(7)
    given = arguments(module, rng, scale)
    sizes = sizes_of(module)
    for argument in names:
        if argument.startswith("noise_"):
            array, blocks = drawn(argument, names, sizes)
            given.setdefault(array, rng.standard_normal(sum(sizes[block] for block in blocks)))
    if "grad_U_0" in names:  # carried on from the step before
        given["grad_U"] = scale * rng.standard_normal(sizes["theta"])
    given |= in_scalars(given, names)
    new = {f"{block}_new": np.zeros(size) for block, size in sizes.items()}
    text = shipped_text(name)
    lengths = {work: int(length) for work, length in re.findall(r"^    (\w+) = np\.empty\((\d+)\)$", text, re.M)}
    outputs = {argument: np.zeros(lengths.get(argument, 64)) for argument in names if argument not in given} | new
    returned = module.step(*(given.get(argument, outputs.get(argument)) for argument in names))
    jitted = new_state(returned, [outputs[key] for key in new])

    with mpmath.workdps(50):
        space = wide_module(text)
        wide = {argument: widened(value) for argument, value in given.items()}
        results = {argument: np.full(array.shape, Wide.of(0.0), object) for argument, array in outputs.items()}
        returned = space["step"](*(wide.get(argument, results.get(argument)) for argument in names))
        exact = new_state(returned, [results[key] for key in new])
        for entry, (number, one) in enumerate(zip(jitted, exact, strict=True)):
            error = abs(mpmath.mpf(float(number)) - one.value)
            assert error <= ALLOWED * UNIT * one.size, f"entry {entry} is off by {float(error / one.size / UNIT)} u"


def drawn(argument: str, names: Sequence[str], sizes: dict[str, int]) -> tuple[str, list[str]]:
    """Return the array of normals that an argument is, or is an entry of, with its blocks.

    `noise_r_w` and `noise_x_2`, the second that is drawn for x, are arrays; `noise_r_w_0`, `noise_x_2_0` are entries.
    """
    blocks = [part for part in argument.removeprefix("noise_").split("_") if part in sizes]
    array = "_".join(("noise", *blocks))
    numbers = argument.removeprefix(array).split("_")[1:]
    of_entries = array not in names
    return "_".join((array, *(numbers[:-1] if of_entries else numbers))), blocks


def in_scalars(given: dict[str, object], names: Sequence[str]) -> dict[str, object]:
    """Return the entries of arrays under the names that a step on scalars gives them: `theta_0` for `theta[0]`."""
    entries = {
        f"{name}_{k}": float(entry)
        for name, value in given.items()
        if isinstance(value, np.ndarray) and value.ndim == 1
        for k, entry in enumerate(value)
    }
    return {name: entries[name.rstrip("_")] for name in names if name.rstrip("_") in entries}


def new_state(returned: object, written: list[np.ndarray]) -> list[object]:
    """Return the new state, whether a step returned scalars or wrote arrays."""
    if returned is None:
        return [entry for array in written for entry in array]
    return list(returned) if isinstance(returned, tuple) else [returned]


def widened(value: object) -> object:
    if isinstance(value, np.ndarray) and value.dtype != np.uint64:
        return np.vectorize(Wide.of, otypes=[object])(value)
    return Wide.of(value) if isinstance(value, float) else value

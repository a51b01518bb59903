"""Emitted modules imported as plain Python, with the numbers that the jit has: words that wrap, infinities for errors.

To compile a step takes longer than thousands of them do in Python. What an addition rounds to may differ in the last
bit, as products and sums are not fused.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import emitted_file
import numba
import numpy as np
import pytest
from numba.core.extending import _Intrinsic

from recipe_compiler.run import load_module

IEEE = SimpleNamespace(**vars(math) | {name: getattr(np, name) for name in ("exp", "expm1", "log", "log1p", "sqrt")})
"""`math` without its errors: the logarithm of 0 is -inf, as the jit has it."""
COMPILED = (
    "run", "run_lanes", "first_values", "gradient", "full_gradient", "full_potential", "log_likelihood",
    "auxiliary_energy", "step",
)  # fmt: skip
"""The functions of a module that others call, of those that the jit compiles."""
_now: list[bool] = []


def are_plain() -> bool:
    """Return whether modules are imported as plain Python now."""
    return bool(_now) and _now[-1]


def make_plain(space: dict[str, Any], folder: Path | None = None) -> None:
    """Let the functions of a module that was imported without the jit compute as with it; in the place of sharing."""
    del folder
    space["math"] = IEEE
    for name, value in [*space.items()]:
        if isinstance(value, _Intrinsic):  # hints to the processor
            space[name] = lambda *_: None
        elif isinstance(value, FunctionType):
            code = value.__code__
            doubles = (np.float64(one) if type(one) is float else one for one in code.co_consts)
            value.__code__ = code.replace(co_consts=tuple(doubles))  # 0.0/0.0 of them is no number, and no error
            if name in COMPILED:
                space[name] = _without_warnings(value)


def _without_warnings(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(*given: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*given)

    return called


@contextmanager
def plain_modules() -> Iterator[None]:
    """Import emitted modules and files as plain Python meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((load_module, "_import"), (emitted_file, "execute")):
            patch.setattr(module, name, _without_jit(getattr(module, name)))
            patch.setattr(module, "share_functions", _sharing(module.share_functions))
        _now.append(True)
        yield
        _now.pop()


@contextmanager
def compiled_modules() -> Iterator[None]:
    """Let the jit compile them meanwhile, within `plain_modules`."""
    _now.append(False)
    yield
    _now.pop()


def _without_jit(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*given: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(numba.config, "DISABLE_JIT", int(are_plain()))
            return function(*given)

    return called


def _sharing(share: Callable[..., None]) -> Callable[..., None]:
    return lambda *given: (make_plain if are_plain() else share)(*given)

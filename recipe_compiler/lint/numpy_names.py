"""What a traced file finds under the names `numpy` and `math`: the same functions, kept exact."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.lint import nodes
from recipe_compiler.lint.arrays import ELEMENTWISE, LINEAR, TAKEN, TracedArray, is_real, trace_array, unwrap, wrap
from recipe_compiler.lint.draws import FollowedDraws, list_random_names
from recipe_compiler.lint.nodes import UntraceableError
from recipe_compiler.lint.values import ExactOperators, Symbolic, apply, make_number, raise_exactly


class ModuleNames(ModuleType):
    """A module with some names of its own; all others are those of the real one."""

    def __init__(self, real: ModuleType, own: dict[str, Any], otherwise: Callable[[str, Any], Any]) -> None:
        super().__init__(real.__name__)
        vars(self).update(own)
        self._real, self._otherwise = real, otherwise
        self.__all__ = list(getattr(real, "__all__", []))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        return found if name.startswith("__") else self._otherwise(name, found)


class ExactElementwise:
    """One of NumPy's elementwise functions that keeps plain numbers exact."""

    def __init__(self, real: np.ufunc) -> None:
        self.real = real

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the function at its arguments."""
        return self.real(*(_make_exact(x) for x in args), **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def _make_exact(x: Any) -> Any:
    """Return floats, and lists of numbers, as exact ones."""
    if isinstance(x, float) and not isinstance(x, ExactOperators):
        return make_number(nodes.read_float(x)) if math.isfinite(x) else x
    if isinstance(x, (list, tuple)) or (isinstance(x, int) and not isinstance(x, bool)):
        return array(x, dtype=float)[()]
    return x


def array(x: Any, dtype: Any = None, *_: Any, copy: Any = True, **kwargs: Any) -> Any:
    """Return an array: of whole numbers or truth values as NumPy makes it, of any others one that is followed.

    Raises:
        UntraceableError: values that are followed in an array of another type than real numbers.
    """
    if isinstance(x, TracedArray):
        return x.astype(dtype, copy=bool(copy))
    found = np.array(x, dtype=object)
    kinds = {type(entry) for entry in found.reshape(-1)}
    followed = any(issubclass(kind, ExactOperators) for kind in kinds)
    if followed and not is_real(dtype):
        raise UntraceableError(f"an array of {np.dtype(dtype)} of traced values")
    real = all(issubclass(kind, (ExactOperators, float, np.floating, int, np.integer)) for kind in kinds)
    if real and (followed or (dtype is not None and is_real(dtype)) or _has_float(kinds)) and is_real(dtype):
        return trace_array(found)
    return np.array(x, dtype=dtype, **kwargs)


def _has_float(kinds: set[type]) -> bool:
    return any(issubclass(kind, (float, np.floating)) for kind in kinds)


def asarray(x: Any, dtype: Any = None, *_: Any, **__: Any) -> Any:
    """Return an array, the same one where it is followed already."""
    return array(x, dtype, copy=False)


def _make_contiguous(x: Any, dtype: Any = None) -> Any:
    """Return an array that lies in one piece, a copy where it does not."""
    found = asarray(x, dtype)
    return wrap(np.ascontiguousarray(unwrap(found))) if isinstance(found, TracedArray) else np.ascontiguousarray(found)


def _make_filled(value: int) -> Callable[..., Any]:
    """Return the substitute for `zeros` and `ones`."""

    def make(shape: Any, dtype: Any = None, *_: Any, **__: Any) -> Any:
        return trace_array(np.full(shape, value)) if is_real(dtype) else np.full(shape, value, dtype=dtype)

    return make


def _make_empty(shape: Any, dtype: Any = None, *_: Any, **__: Any) -> Any:
    """Return an array whose entries are nothing until they are set."""
    return np.full(shape, None).view(TracedArray) if is_real(dtype) else np.zeros(shape, dtype=dtype)


def _make_like(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return the substitute for `zeros_like` and others."""

    def alike(x: Any, dtype: Any = None, *_: Any, shape: Any = None, **__: Any) -> Any:
        own = asarray(x).dtype if dtype is None else np.dtype(dtype)
        return make(np.shape(x) if shape is None else shape, own)

    return alike


def full(shape: Any, value: Any, dtype: Any = None, *_: Any, **__: Any) -> Any:
    """Return an array with one number everywhere."""
    found = np.empty(shape, dtype=object)
    found[...] = value
    return array(found.tolist() if found.ndim else value, dtype)


def full_like(x: Any, value: Any, dtype: Any = None, *_: Any, **__: Any) -> Any:
    """Return an array with one number everywhere."""
    return full(np.shape(x), value, float if dtype is None and isinstance(x, TracedArray) else dtype)


def eye(n: int, m: int | None = None, k: int = 0, dtype: Any = None, *_: Any, **__: Any) -> Any:
    """Return the identity matrix."""
    found = np.eye(n, m, k, dtype=int)
    return trace_array(found) if is_real(dtype) else found.astype(dtype)


def identity(n: int, dtype: Any = None) -> Any:
    """Return the identity matrix."""
    return eye(n, dtype=dtype)


def linspace(start: Any, stop: Any, num: int = 50) -> Any:
    """Return evenly spaced numbers, exact."""
    share = [make_number(nodes.number(Fraction(k, max(num - 1, 1)))) for k in range(num)]
    return trace_array([start + (stop - start) * part for part in share])


def _is_scalar(x: Any) -> bool:
    return isinstance(x, ExactOperators) or bool(np.isscalar(x))


def _wrap_ufunc(name: str, found: Any) -> Any:
    if isinstance(found, np.ufunc):
        return ExactElementwise(found)
    return found


def _trace_linear(name: str, found: Any) -> Any:
    """Return the traced substitute for a function of `numpy.linalg`, if there is one."""
    if name not in LINEAR or not callable(found):
        return found

    def call(*args: Any, **kwargs: Any) -> Any:
        return LINEAR[name](*args, **kwargs)

    return call


MATHEMATICS = {row.emitted.removeprefix("math."): row.name for row in FUNCTIONS.values() if row.ufunc}
"""Names in Python's `math` of what can be traced."""


def _trace_math(name: str, found: Any) -> Any:
    """Return the traced substitute for a function of `math`, if there is one."""
    own = {**ELEMENTWISE, **MATHEMATICS}
    if name in own:
        return partial(apply, own[name])
    return partial(_answer_test, name, found) if name in TAKEN else found


def _answer_test(name: str, found: Callable[..., Any], x: Any) -> Any:
    return TAKEN[name] if isinstance(x, Symbolic) else found(x)


def clip(x: Any, least: Any, most: Any) -> Any:
    """Return min(max(x, least), most), entry by entry."""
    return np.minimum(np.maximum(asarray(x), least), most)


def _take_array(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy that takes lists as arrays that are followed."""

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        return function(asarray(x), *args, **kwargs)

    return call


def _log(x: Any, base: Any = None) -> Any:
    return apply("log", x) if base is None else apply("log", x) / apply("log", base)


def replace_numpy() -> ModuleNames:
    """Return what stands for NumPy."""
    made_pi, e = make_number(nodes.pi()), apply("exp", 1)
    arrays = {
        "array": array, "asarray": asarray, "asanyarray": asarray, "ascontiguousarray": _make_contiguous, "copy": array,
        "zeros": _make_filled(0), "empty": _make_empty, "ones": _make_filled(1), "zeros_like":
        _make_like(_make_filled(0)), "empty_like": _make_like(_make_empty), "ones_like": _make_like(_make_filled(1)),
        "full": full, "full_like": full_like, "eye": eye, "identity": identity, "linspace": linspace,
    }  # fmt: skip
    own: dict[str, Any] = {
        **arrays,
        **{function.__name__: _take_array(function) for function in (np.sum, np.mean, np.prod, np.diag)},
        "clip": clip,
        "isscalar": _is_scalar,
        "pi": made_pi,
        "e": e,
        "random": ModuleNames(np.random, list_random_names(FollowedDraws), _return_found),
        "linalg": ModuleNames(np.linalg, {}, _trace_linear),
    }
    return ModuleNames(np, own, _wrap_ufunc)


def replace_math() -> ModuleNames:
    """Return what stands for Python's `math`."""
    own: dict[str, Any] = {
        "pi": make_number(nodes.pi()),
        "e": apply("exp", 1),
        "log": _log,
        "pow": raise_exactly,
        "fsum": sum,
    }
    return ModuleNames(math, own, _trace_math)


def _return_found(name: str, found: Any) -> Any:
    return found

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
from recipe_compiler.lint.arrays import ELEMENTWISE, LINEAR, TAKEN, Traced, is_real, plain, traced, wrapped
from recipe_compiler.lint.draws import FollowedDraws, random_names
from recipe_compiler.lint.nodes import UntraceableError
from recipe_compiler.lint.values import ExactOperators, Symbolic, apply, made, raised


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
        return self.real(*(_exact(x) for x in args), **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def _exact(x: Any) -> Any:
    """Return floats, and lists of numbers, as exact ones."""
    if isinstance(x, float) and not isinstance(x, ExactOperators):
        return made(nodes.of_float(x)) if math.isfinite(x) else x
    if isinstance(x, (list, tuple)) or (isinstance(x, int) and not isinstance(x, bool)):
        return array(x, dtype=float)[()]
    return x


def array(x: Any, dtype: Any = None, *_: Any, copy: Any = True, **kwargs: Any) -> Any:
    """Return an array: of whole numbers or truth values as NumPy makes it, of any others one that is followed.

    Raises:
        UntraceableError: values that are followed in an array of another type than real numbers.
    """
    if isinstance(x, Traced):
        return x.astype(dtype, copy=bool(copy))
    found = np.array(x, dtype=object)
    kinds = {type(entry) for entry in found.reshape(-1)}
    followed = any(issubclass(kind, ExactOperators) for kind in kinds)
    if followed and not is_real(dtype):
        raise UntraceableError(f"an array of {np.dtype(dtype)} of traced values")
    real = all(issubclass(kind, (ExactOperators, float, np.floating, int, np.integer)) for kind in kinds)
    if real and (followed or (dtype is not None and is_real(dtype)) or _has_float(kinds)) and is_real(dtype):
        return traced(found)
    return np.array(x, dtype=dtype, **kwargs)


def _has_float(kinds: set[type]) -> bool:
    return any(issubclass(kind, (float, np.floating)) for kind in kinds)


def asarray(x: Any, dtype: Any = None, *_: Any, **__: Any) -> Any:
    """Return an array, the same one where it is followed already."""
    return array(x, dtype, copy=False)


def _contiguous(x: Any, dtype: Any = None) -> Any:
    """Return an array that lies in one piece, a copy where it does not."""
    found = asarray(x, dtype)
    return wrapped(np.ascontiguousarray(plain(found))) if isinstance(found, Traced) else np.ascontiguousarray(found)


def _filled(value: int) -> Callable[..., Any]:
    def make(shape: Any, dtype: Any = None, *_: Any, **__: Any) -> Any:
        return traced(np.full(shape, value)) if is_real(dtype) else np.full(shape, value, dtype=dtype)

    return make


def _empty(shape: Any, dtype: Any = None, *_: Any, **__: Any) -> Any:
    """Return an array whose entries are nothing until they are set."""
    return np.full(shape, None).view(Traced) if is_real(dtype) else np.zeros(shape, dtype=dtype)


def _like(make: Callable[..., Any]) -> Callable[..., Any]:
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
    return full(np.shape(x), value, float if dtype is None and isinstance(x, Traced) else dtype)


def eye(n: int, m: int | None = None, k: int = 0, dtype: Any = None, *_: Any, **__: Any) -> Any:
    """Return the identity matrix."""
    found = np.eye(n, m, k, dtype=int)
    return traced(found) if is_real(dtype) else found.astype(dtype)


def identity(n: int, dtype: Any = None) -> Any:
    """Return the identity matrix."""
    return eye(n, dtype=dtype)


def linspace(start: Any, stop: Any, num: int = 50) -> Any:
    """Return evenly spaced numbers, exact."""
    share = [made(nodes.number(Fraction(k, max(num - 1, 1)))) for k in range(num)]
    return traced([start + (stop - start) * part for part in share])


def _is_scalar(x: Any) -> bool:
    return isinstance(x, ExactOperators) or bool(np.isscalar(x))


def _numpy(name: str, found: Any) -> Any:
    if isinstance(found, np.ufunc):
        return ExactElementwise(found)
    return found


def _linear(name: str, found: Any) -> Any:
    if name not in LINEAR or not callable(found):
        return found

    def call(*args: Any, **kwargs: Any) -> Any:
        return LINEAR[name](*args, **kwargs)

    return call


MATHEMATICS = {row.emitted.removeprefix("math."): row.name for row in FUNCTIONS.values() if row.ufunc}
"""Names in Python's `math` of what can be traced."""


def _mathematics(name: str, found: Any) -> Any:
    own = {**ELEMENTWISE, **MATHEMATICS}
    if name in own:
        return partial(apply, own[name])
    return partial(_taken, name, found) if name in TAKEN else found


def _taken(name: str, found: Callable[..., Any], x: Any) -> Any:
    return TAKEN[name] if isinstance(x, Symbolic) else found(x)


def clip(x: Any, least: Any, most: Any) -> Any:
    """Return min(max(x, least), most), entry by entry."""
    return np.minimum(np.maximum(asarray(x), least), most)


def _of_array(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy that takes lists as arrays that are followed."""

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        return function(asarray(x), *args, **kwargs)

    return call


def _log(x: Any, base: Any = None) -> Any:
    return apply("log", x) if base is None else apply("log", x) / apply("log", base)


def numpy_names() -> ModuleNames:
    """Return what stands for NumPy."""
    made_pi, e = made(nodes.pi()), apply("exp", 1)
    arrays = {
        "array": array, "asarray": asarray, "asanyarray": asarray, "ascontiguousarray": _contiguous,
        "copy": array, "zeros": _filled(0), "empty": _empty, "ones": _filled(1),
        "zeros_like": _like(_filled(0)), "empty_like": _like(_empty), "ones_like": _like(_filled(1)), "full": full,
        "full_like": full_like, "eye": eye, "identity": identity, "linspace": linspace,
    }  # fmt: skip
    own: dict[str, Any] = {
        **arrays,
        **{function.__name__: _of_array(function) for function in (np.sum, np.mean, np.prod, np.diag)},
        "clip": clip,
        "isscalar": _is_scalar,
        "pi": made_pi,
        "e": e,
        "random": ModuleNames(np.random, random_names(FollowedDraws), _plain),
        "linalg": ModuleNames(np.linalg, {}, _linear),
    }
    return ModuleNames(np, own, _numpy)


def math_names() -> ModuleNames:
    """Return what stands for Python's `math`."""
    own: dict[str, Any] = {"pi": made(nodes.pi()), "e": apply("exp", 1), "log": _log, "pow": raised, "fsum": sum}
    return ModuleNames(math, own, _mathematics)


def _plain(name: str, found: Any) -> Any:
    return found

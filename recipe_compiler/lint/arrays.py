"""Arrays of a traced step: NumPy's own arrays of objects, whose entries are exact numbers and symbols."""

from collections.abc import Callable
from typing import Any

import numpy as np

from recipe_compiler.lint import linear, nodes
from recipe_compiler.lint.nodes import UntraceableError
from recipe_compiler.lint.values import (
    METHODS,
    ExactOperators,
    apply,
    find_greatest,
    find_least,
    find_node,
    make_number,
)

ELEMENTWISE = {**METHODS, "fabs": "abs"}
"""NumPy's functions of one argument, and what they are called here."""

EXTREMES = {"minimum": find_least, "fmin": find_least, "maximum": find_greatest, "fmax": find_greatest}

TAKEN = {"isfinite": True, "isnan": False, "isinf": False}
"""What is taken to be so of every value."""

LINEAR: dict[str, Callable[..., Any]] = {
    "inv": linear.invert, "det": linear.compute_determinant, "solve": linear.solve, "cholesky": linear.factorise,
    "norm": linear.compute_norm, "multi_dot": linear.multiply_chain,
}  # fmt: skip
"""Functions of `numpy.linalg` that can be traced."""


class TracedArray(np.ndarray):
    """An array of exact numbers and symbols."""

    @property
    def dtype(self) -> Any:
        """Return the type of real numbers: that is what a file may request."""
        return np.dtype(float)

    @property
    def __class__(self) -> type:
        """What is seen of its type: that of NumPy's arrays."""
        return np.ndarray

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return apply_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = getattr(func, "__name__", "")
        if getattr(func, "__module__", "") == "numpy.linalg":
            if name not in LINEAR:
                raise UntraceableError(f"np.linalg.{name} of {'a traced array'}")
            return wrap(LINEAR[name](*args, **kwargs))
        return wrap(func(*(unwrap(arg) for arg in args), **{key: unwrap(value) for key, value in kwargs.items()}))

    def astype(self, dtype: Any, *args: Any, copy: Any = True, **kwargs: Any) -> Any:
        """Return a copy, whose numbers stay what they are; the array itself where NumPy would."""
        if not is_real(dtype):
            raise UntraceableError(f"an array made one of {np.dtype(dtype)}")
        return self if not copy and is_double(dtype) else self.copy()


class TracedArrayFunction(TracedArray):
    """An array that depends on the state: its value there, and a function of the state."""

    at: Callable[..., Any] | None = None

    def __array_finalize__(self, obj: Any) -> None:
        self.at = None

    def __call__(self, *arguments: object) -> Any:
        """Return the value elsewhere."""
        if self.at is None:
            raise UntraceableError("an array called like a function")
        return self.at(*arguments)


def is_real(dtype: Any) -> bool:
    """Whether a type of numbers is that of real ones."""
    return dtype is None or np.dtype(dtype).kind in "fO"


def is_double(dtype: Any) -> bool:
    """Whether a type of numbers is the one arrays have already."""
    return dtype is None or np.dtype(dtype) == np.dtype(float)


def trace_array(x: Any) -> Any:
    """Return an array (or what makes one) as a traced array, its entries exact.

    Raises:
        UntraceableError: an entry is no number.
    """
    found = np.array(unwrap(x), dtype=object)
    flat = found.reshape(-1)
    for k, entry in enumerate(flat):
        if not isinstance(entry, ExactOperators):
            node = find_node(entry)
            if node is None:
                raise UntraceableError(f"an array that holds {type(entry).__name__}")
            flat[k] = make_number(node)
    return flat.reshape(found.shape).view(TracedArray)


def wrap(x: Any) -> Any:
    """Return arrays of objects as arrays that are followed, anything else as it is."""
    if isinstance(x, np.ndarray) and not isinstance(x, TracedArray) and x.dtype == object:
        return x.view(TracedArray) if x.ndim else x.item()
    if isinstance(x, (list, tuple)):
        return type(x)(wrap(part) for part in x) if type(x) in (list, tuple) else x
    return x


def unwrap(x: Any) -> Any:
    """Return a traced array as NumPy's own, also inside lists and tuples."""
    if isinstance(x, TracedArray):
        return x.view(np.ndarray)
    if type(x) in (list, tuple):
        return type(x)(unwrap(part) for part in x)
    return x


def apply_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what one of NumPy's elementwise functions gives.

    Raises:
        UntraceableError: with `where`, or written into an array of plain numbers.
    """
    name = ufunc.__name__
    if kwargs.pop("where", True) is not True:
        raise UntraceableError(f"np.{name} with `where`")
    for key in ("dtype", "casting"):
        kwargs.pop(key, None)
    out = kwargs.pop("out", None)
    if name in TAKEN and method == "__call__":
        word = "finite" if name == "isfinite" else name.removeprefix("is")
        nodes.tape.given[f"np.{name} (line {nodes.tape.line()}) finds {'' if TAKEN[name] else 'nothing '}{word}"] = None
        return np.full(np.shape(unwrap(inputs[0])), TAKEN[name])[()]
    if name in EXTREMES and method == "__call__":
        return wrap(np.frompyfunc(EXTREMES[name], 2, 1)(*(_box_operand(x, method) for x in inputs)))
    if name in ELEMENTWISE and method == "__call__":
        result: Any = _apply_entrywise(ELEMENTWISE[name], inputs[0])
    elif any(isinstance(target, np.ndarray) and not isinstance(target, TracedArray) for target in out or ()):
        raise UntraceableError(f"np.{name} writes into an array of plain numbers")
    else:
        result = getattr(ufunc, method)(*(_box_operand(x, method) for x in inputs), **kwargs)
        if method == "at":
            return None
    if out is not None and out[0] is not None:
        out[0][...] = result
        return out[0]
    return wrap(result)


def _box_operand(x: Any, method: str) -> Any:
    """Return an operand as NumPy's own array of objects; indices stay what they are."""
    if isinstance(x, TracedArray):
        return x.view(np.ndarray)
    if isinstance(x, np.ndarray) and x.dtype.kind == "f" and method != "at":
        return trace_array(x).view(np.ndarray)
    if isinstance(x, ExactOperators):
        boxed = np.empty((), dtype=object)
        boxed[()] = x
        return boxed
    return x


def _apply_entrywise(function: str, x: Any) -> Any:
    if isinstance(x, ExactOperators) or not isinstance(x, np.ndarray):
        return apply(function, x) if not isinstance(x, (list, tuple)) else _apply_entrywise(function, trace_array(x))
    found = np.empty(x.shape, dtype=object)
    for at in np.ndindex(x.shape):
        found[at] = apply(function, x[at])
    return found if found.ndim else found.item()


ExactOperators.of_ufunc = staticmethod(apply_ufunc)

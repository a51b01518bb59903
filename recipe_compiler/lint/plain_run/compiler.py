"""What stands for numba: functions stay what they are in Python, and are refused where compiled ones would be others.

numba takes what a function reads of its file, and of functions around it, for constants: those of its first call, or of
where it is compiled, if its types are given.
"""

from collections.abc import Collection, Iterator
from functools import partial, wraps
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .handed import KeptElsewhereError
from .state import is_filled


class Compiler(ModuleType):
    """A module of numba whose decorators change nothing."""

    prange = range

    def __init__(self, name: str, replaced: Collection[str] | None = None) -> None:
        """Make one; `replaced` are names of the file in whose place others are put for a call, None asks no names."""
        super().__init__(name)
        self.replaced = replaced

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in {"jit", "njit", "generated_jit"}:
            return partial(_as_it_is, self.replaced)
        return _Anything()


class _Anything:
    """A type or signature that nothing is done with."""

    def __call__(self, *_: object, **__: object) -> "_Anything":
        return self

    def __getitem__(self, _: object) -> "_Anything":
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def _as_it_is(replaced: Collection[str] | None, *args: Any, **_: Any) -> Any:
    if len(args) == 1 and callable(args[0]) and not isinstance(args[0], _Anything):
        return _compiled(args[0], replaced, now=False)

    def same(function: Any) -> Any:
        return _compiled(function, replaced, now=bool(args))

    return same


def _compiled(function: Any, replaced: Collection[str] | None, *, now: bool) -> Any:
    """Return a function that says so where what it reads of its file is no longer what it was compiled with."""
    if replaced is None or not isinstance(function, FunctionType):
        return function
    first = [dict(_constants(function, replaced))] if now else []

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        here = dict(_constants(function, replaced))
        if not first:
            first.append(here)
        other = next((name for name, value in here.items() if first[0].get(name, value) != value), None)
        if other is not None:
            raise KeptElsewhereError(
                f"{function.__name__} is compiled by numba, which keeps the first value of {other}, but that "
                "changes: make it an argument"
            )
        return function(*args, **named)

    return call


def _constants(function: FunctionType, replaced: Collection[str]) -> Iterator[tuple[str, object]]:
    """Yield the numbers and arrays that a function reads of its file, of modules, and of functions around it."""
    names = {name for code in _codes(function.__code__) for name in code.co_names}
    found = {name: function.__globals__[name] for name in names - {*replaced} if name in function.__globals__}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found |= {name: cell.cell_contents for name, cell in cells if is_filled(cell)}
    for name, value in sorted(found.items()):
        if isinstance(value, ModuleType):
            yield from ((f"{name}.{one}", _held(vars(value)[one])) for one in sorted(names & {*vars(value)}))
        else:
            yield name, _held(value)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


def _held(value: Any) -> object:
    """Return what numbers and arrays are now, None for anything else."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, (tuple, list)):
        return tuple(map(_held, value))
    return repr(value) if isinstance(value, (int, float, complex, np.generic)) else None

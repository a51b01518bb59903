"""What stands for numba: functions stay what they are in Python."""

from types import ModuleType
from typing import Any


class Compiler(ModuleType):
    """A module of numba whose decorators change nothing."""

    prange = range

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in {"jit", "njit", "generated_jit"}:
            return _as_it_is
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


def _as_it_is(*args: Any, **_: Any) -> Any:
    if len(args) == 1 and callable(args[0]) and not isinstance(args[0], _Anything):
        return args[0]

    def same(function: Any) -> Any:
        return function

    return same

"""Functions that emitted modules have in common, compiled once: in a process, and on disk.

Every module has its own copy of what it calls, and the jit compiles each copy. A copy with the bytecode, the options
and the meaning of all names of one that is there already gives way to it: support code, which is a third of what a
module takes, and whatever a change of a build leaves as it is, by its name, its settings or the words of its documents.

What is kept on disk of a caller names the modules of what it calls, and another process looks them up. So what is
shared is in a module whose name is made of its content, which every process has that imports a copy of it. What is
kept of it is filed under its content too, not under the file that it was compiled from.
"""

import dis
import sys
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

MODULE = "_recipe_shared_"
"""What the name of a module of a shared function begins with; its content follows."""


@dataclass(frozen=True, slots=True)
class _Function:
    """A compiled function: two of the same meaning are equal, whichever module they are in."""

    module: str
    itself: Any = field(compare=False)


class _OwnError(Exception):
    """Something is called whose content is not known: the user's function of a gradient."""


def share_functions(space: dict[str, Any], folder: Path | None = None) -> None:
    """Let equal functions of all modules of this process be the ones of the first that brought them.

    To be called with the names of a module before anything of it is compiled: the jit looks them up when it compiles.

    Args:
        space: the names of the module.
        folder: where compiled code is kept, of functions that ask for it; None leaves those the module's own.
    """
    found: dict[str, Any] = {name: None for name in space if folder is None and _kept(space[name])}
    for name in space:
        _shared(name, space, found)
    shared = {name: function for name, function in found.items() if function is not None}
    space.update(shared)
    if folder is not None:
        for function in filter(_kept, shared.values()):
            _keep(function, folder)


def _shared(name: str, space: dict[str, Any], found: dict[str, Any]) -> Any:
    """Return the shared function for one of a module; None where that is its own, or no function."""
    if name not in found:
        found[name] = None  # calls itself: its own
        plain, options = _parts(space[name])
        if plain is not None:
            try:
                names = tuple((used, _meaning(used, space, found)) for used in _names(plain.__code__) if used in space)
            except _OwnError:
                return None
            content = sha256(repr((_code(plain.__code__, plain.__doc__), options, names)).encode()).hexdigest()
            found[name] = _first(_Function(MODULE + content, space[name]))
    return found[name]


@cache
def _first(function: _Function) -> Any:
    """Return the function itself, the one of the first call for all that are equal."""
    plain, _ = _parts(function.itself)
    assert plain is not None
    plain.__module__ = function.module
    sys.modules[function.module] = ModuleType(function.module)
    return function.itself


def _kept(value: object) -> bool:
    """Return whether a value is a function of which compiled code is kept on disk."""
    from numba.core.caching import FunctionCache

    return isinstance(getattr(value, "_cache", None), FunctionCache)


def _keep(function: Any, folder: Path) -> None:
    """File what is kept of a function under its content."""
    from numba.core.caching import IndexDataCacheFile

    from recipe_compiler.run.kept_code import KeptCode

    plain = function.py_func
    place = folder / plain.__module__.removeprefix(MODULE)[:24]
    if function._cache.cache_path != str(place):
        place.mkdir(parents=True, exist_ok=True)
        kept = function._cache = cast("Any", KeptCode)(plain)
        kept._cache_path = str(place)
        name = f"{plain.__name__}.{sys.implementation.cache_tag}"
        kept._cache_file = IndexDataCacheFile(str(place), name, plain.__module__)


def _parts(value: Any) -> tuple[FunctionType | None, Hashable]:
    """Return the plain function and the options of a jitted one, or of an intrinsic."""
    from numba.core.dispatcher import Dispatcher
    from numba.core.extending import _Intrinsic

    match value:
        case Dispatcher():
            plain = value.py_func
            options = _kept(value), *((key, _written(one)) for key, one in sorted(value.targetoptions.items()))
        case _Intrinsic():
            plain, options = value._defn, "intrinsic"
        case _:
            return None, ()
    return (plain, options) if plain.__closure__ is None and plain.__defaults__ is None else (None, ())


def _meaning(name: str, space: dict[str, Any], found: dict[str, Any]) -> Hashable:
    """Return what a global name means to the functions that use it: equal where it means the same."""
    value = space[name]
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type):
        return value.__module__, value.__qualname__
    function = _shared(name, space, found)
    if function is None:
        return _constant(value)
    plain, _ = _parts(function)
    return plain and plain.__module__


def _constant(value: Any) -> Hashable:
    match value:
        case np.ndarray() if value.dtype.hasobject:
            raise _OwnError
        case np.ndarray():
            return value.dtype.str, value.shape, value.tobytes()
        case bool() | int() | float() | str():
            return type(value).__name__, repr(value)  # 0.0 is no -0.0, 1 no 1.0
        case tuple():
            return tuple(_constant(one) for one in value)
        case _:
            raise _OwnError


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _code(code: CodeType, words: str | None = None) -> Hashable:
    """Return what a function does, wherever it stands and in any process: its code without lines, files and words."""
    constants = tuple(_code(one) if isinstance(one, CodeType) else _written(one) for one in code.co_consts)
    if words is not None and code.co_consts[:1] == (words,) and not _loads_first(code):
        constants = constants[1:]
    variables = code.co_varnames, code.co_cellvars, code.co_freevars, code.co_argcount, code.co_kwonlyargcount
    return code.co_name, code.co_code, code.co_flags, code.co_exceptiontable, code.co_names, *variables, constants


def _loads_first(code: CodeType) -> bool:
    """Return whether the first constant, which is where Python has what a function says of itself, is computed with."""
    return any(one in dis.hasconst and at == 0 for one, at in zip(code.co_code[::2], code.co_code[1::2], strict=True))


def _written(constant: object) -> tuple[str, str]:
    """Return a constant with its type; sets in order, which hashes give them anew in every process."""
    in_order = sorted(constant, key=repr) if isinstance(constant, set | frozenset) else constant
    return type(constant).__name__, repr(in_order)

"""What a user's file keeps between calls of its step, as text that is equal where nothing has changed.

Everything that the file's names lead to is looked at: containers, arrays, attributes, closures, defaults, generators
and iterators, classes and functions of the file and of others in its folder. What lies behind modules of others is
looked at by its names only. An object that shows nothing of itself is named as such.
"""

import functools
import gc
import inspect
import os
import types
from collections import defaultdict, deque
from collections.abc import Container, Iterator, Mapping
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

MOST = 50_000
"""Objects that are looked at; where there are more, not all is known."""
ATOMS = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    Fraction,
    range,
    slice,
    type(Ellipsis),
    np.dtype,
    np.generic,
)
"""Objects that never change."""
PYTHONS = frozenset({"__builtins__", "__loader__", "__spec__", "__cached__", "__dict__", "__weakref__"})
CACHED = type(functools.lru_cache(repr))
"""A function that remembers its results."""
OF_C = (
    types.BuiltinFunctionType,
    types.CodeType,
    np.ufunc,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodWrapperType,
)
"""Functions and what classes hold that are written in C: beside their attributes they keep nothing."""
BARE = frozenset(id(kind) for kind in OF_C if kind is not np.ufunc)
"""Those of them that have no attributes either, most of what is met: their identities, which no class can take on."""
UNSEEN = "(not seen)"
"""What stands for the state of an object that does not show it."""


class KeptState:
    """One look at what a file keeps."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.left = MOST
        self.places: dict[int, int] = {}
        self.alive: list[object] = []
        self.kinds: dict[int, tuple[type, bool]] = {}
        """Classes by their identities, with whether what is of them never changes."""

    def followed(self, obj: object) -> str | None:
        """Return what a value is that is followed, None of any other."""
        return None

    def is_followed(self, obj: object) -> bool:
        """Whether something that looks like a number is none that is known."""
        return False

    def text(self, obj: object) -> str:
        """Return what an object is and holds; of one that was met before, where."""
        kind = type(obj)
        bare = id(kind) in BARE
        if not bare and self._is_atom(kind) and not self.is_followed(obj):
            return f"{kind.__name__}:{obj!r}"
        if (place := self.places.get(id(obj))) is not None:
            return f"#{place}"
        self.places[id(obj)] = len(self.places)
        self.alive.append(obj)
        self.left -= 1
        if self.left < 0:
            return UNSEEN
        return f"{kind.__name__}({id(obj) if bare else ';'.join(self._parts(obj))})"

    def _is_atom(self, kind: type) -> bool:
        found = self.kinds.get(id(kind))
        if found is None:
            found = self.kinds[id(kind)] = kind, issubclass(kind, ATOMS)
        return found[1]

    def _parts(self, obj: Any) -> Iterator[str]:
        followed = self.followed(obj)
        if followed is not None:
            yield followed
            return
        yield from self._beside(obj)
        if issubclass(type(obj), OF_C):
            yield str(id(obj))
            return
        match obj:
            case list() | tuple() | deque():
                yield from (self.text(item) for item in obj)
            case dict() | types.MappingProxyType():
                yield from (f"{self.text(key)}={self.text(value)}" for key, value in obj.items())
            case set() | frozenset():
                yield from sorted(self.text(item) for item in obj)
            case bytearray():
                yield bytes(obj).hex()
            case np.ndarray():
                kind = np.ndarray.dtype.__get__(obj)
                yield f"{kind}{obj.shape}"
                if kind.hasobject:
                    yield from (self.text(item) for item in obj.ravel().tolist())
                else:
                    yield sha256(obj.tobytes()).hexdigest()
            case types.FunctionType():
                yield from self._function(obj)
            case types.MethodType():
                yield from (self.text(obj.__self__), self.text(obj.__func__))
            case types.ModuleType():
                yield from self._module(obj)
            case type():
                yield from self._class(obj)
            case types.GeneratorType():
                yield from self._generator(obj)
            case types.CellType():
                yield self.text(obj.cell_contents) if is_filled(obj) else "empty"
            case functools.partial():
                yield from (self.text(part) for part in (obj.func, obj.args, obj.keywords))
            case property() | staticmethod() | classmethod():
                yield from (self.text(getattr(obj, part, None)) for part in ("fget", "fset", "__func__"))
            case _ if isinstance(obj, CACHED):
                yield from self._cached(obj)
            case _:
                yield from self._instance(obj)

    def _beside(self, obj: object) -> Iterator[str]:
        """Yield what an object holds beside what it is: attributes, and what makes the values that are missing."""
        own = None if isinstance(obj, (type, types.ModuleType)) else getattr(obj, "__dict__", None)
        if own:
            yield self.text(own)
        if isinstance(obj, defaultdict):
            yield self.text(obj.default_factory)

    def _generator(self, obj: "types.GeneratorType[Any, Any, Any]") -> Iterator[str]:
        """Yield what a generator is that has ended, or not begun: the loops that one is in stand in no name."""
        state, frame = inspect.getgeneratorstate(obj), obj.gi_frame
        if frame is not None and state == inspect.GEN_CREATED:
            yield self.text(frame.f_locals)
        yield state if state in (inspect.GEN_CREATED, inspect.GEN_CLOSED) else UNSEEN

    def _function(self, obj: types.FunctionType) -> Iterator[str]:
        yield str(id(obj.__code__))
        if not self._is_own(obj.__code__.co_filename):
            return
        for part in (obj.__doc__, obj.__defaults__, obj.__kwdefaults__, obj.__closure__):
            yield self.text(part)

    def _cached(self, obj: Any) -> Iterator[str]:
        """Yield what a function that remembers its results was called with, and what it remembers."""
        yield self.text(obj.__wrapped__)
        results = [part for part in gc.get_referents(obj) if part is not obj.__dict__ and part is not obj.__wrapped__]
        yield from (self.text(part) for part in results if not _is_of_cache(part))

    def _module(self, obj: types.ModuleType) -> Iterator[str]:
        if self._is_own(getattr(obj, "__file__", None) or ""):
            yield from (f"{name}={self.text(value)}" for name, value in vars(obj).items() if not is_pythons(name))
        else:
            yield ",".join(f"{name}:{id(value)}" for name, value in sorted(vars(obj).items()) if not is_pythons(name))

    def _class(self, obj: type) -> Iterator[str]:
        if obj.__module__ in {"_recipe_lint", "__main__"} or self._is_own(_file_of(obj)):
            yield from (f"{name}={self.text(value)}" for name, value in vars(obj).items() if not is_pythons(name))
        else:
            yield str(id(obj))
            yield from (
                f"{name}={self._of_library(value)}" for name, value in vars(obj).items() if not is_pythons(name)
            )

    def _of_library(self, obj: object) -> str:
        """Return what a class that is not the user's holds: the file may have put it there; by its name if it hides."""
        text = self.text(obj)
        return str(id(obj)) if UNSEEN in text else text

    def _is_own(self, file: str) -> bool:
        """Whether a file is the user's, or one beside it."""
        return _is_beside(file, self.file)

    def _instance(self, obj: object) -> Iterator[str]:
        """Yield what an instance shows: its attributes, its items, or how it would be made again."""
        own = getattr(obj, "__dict__", None)
        slots = [name for cls in type(obj).__mro__ for name in _slots(cls) if hasattr(obj, name)]
        if own is not None or slots:
            yield self.text(own)
            yield from (f"{name}={self.text(getattr(obj, name))}" for name in slots)
        if isinstance(obj, (list, tuple, dict, set, deque)):
            return
        if own is None and not slots:
            try:
                made = obj.__reduce_ex__(2)
            except Exception:  # of a class of the user's, that may raise anything
                yield UNSEEN
                return
            yield self.text(made)


def kept(look: KeptState, names: Mapping[str, Any], replaced: Container[str]) -> dict[str, str]:
    """Return what each name of a file leads to, those that are given for the call left out."""
    shown = {name: value for name, value in names.items() if not is_pythons(name) and name not in replaced}
    return {name: look.text(value) for name, value in shown.items()}


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names that lead to something else than before."""
    return tuple(name for name in {**before, **after} if before.get(name) != after.get(name))


def unseen(now: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names that lead to something that does not show what it keeps."""
    return tuple(name for name, text in now.items() if UNSEEN in text)


@functools.cache
def _is_beside(file: str, other: str) -> bool:
    return file.startswith(str(Path(other).parent) + os.sep) and "site-packages" not in file


def _file_of(cls: type) -> str:
    import sys

    module = sys.modules.get(cls.__module__)
    return getattr(module, "__file__", None) or ""


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    return (
        (slots,) if isinstance(slots, str) else tuple(name for name in slots if name not in {"__dict__", "__weakref__"})
    )


def _is_of_cache(part: object) -> bool:
    """Whether something is how a cache is kept, not what it holds: its links are seen by what they lead to."""
    linked = isinstance(part, dict) and any(type(link).__name__ == "_lru_list_elem" for link in part.values())
    return linked or (isinstance(part, type) and part.__name__ == "_lru_list_elem")


def is_filled(cell: types.CellType) -> bool:
    """Whether a variable of a closure has a value."""
    try:
        cell.cell_contents  # noqa: B018 - it raises where the variable has no value yet
    except ValueError:
        return False
    return True


def is_pythons(name: str) -> bool:
    """Whether a name is one that Python gives to modules and classes, or one of the rewritten file."""
    return name in PYTHONS or name.startswith("_recipe_lint_")

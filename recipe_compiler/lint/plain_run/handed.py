"""Arrays that a step returns, or was given, and that its file keeps: the next call may overwrite them."""

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from .state import KeptState, is_pythons

RETURN_A_COPY = "which the next call may overwrite: return a copy"


class KeptElsewhereError(BaseException):
    """Something that was returned or given is kept by the file, changed by a later call, or keeps something itself."""


class Reached(KeptState):
    """One look at what names lead to, of which no text is asked for."""

    def _module(self, obj: ModuleType) -> Iterator[str]:
        return super()._module(obj) if self._is_own(getattr(obj, "__file__", None) or "") else iter(())


class Handed:
    """What calls returned, or were given, with what it held then."""

    def __init__(self) -> None:
        self.before: list[tuple[np.ndarray, bytes]] = []

    def look(self, values: Iterable[object], file: str, names: Mapping[str, Any], replaced: Container[str]) -> None:
        """Look at what a call returned and was given as the state, and at that of calls before.

        Raises:
            KeptElsewhereError: the file keeps some of it, or this call changed what was returned before.
        """
        refuse_changed(self.before)
        own = self.look_at_kept(values, file, names, replaced)
        self.before += [(one, one.tobytes()) for one in own if isinstance(one, np.ndarray)]

    def look_at_kept(
        self, values: Iterable[object], file: str, names: Mapping[str, Any], replaced: Container[str]
    ) -> list[object]:
        """Return what may change of what a call returned and was given.

        Raises:
            KeptElsewhereError: the file keeps some of it.
        """
        own = [*_changeable(Reached(file), values)]
        shown = {name: value for name, value in names.items() if not is_pythons(name) and name not in replaced}
        look = Reached(file)
        if not _share(own, _changeable(look, shown.values())) and look.left >= 0:
            return own
        for name, value in shown.items():  # each by itself, to tell which it is
            if _share(own, _changeable(Reached(file), [value])):
                raise KeptElsewhereError(
                    f"it returns, or is given, an array that the file keeps in {name}, {RETURN_A_COPY}"
                )
        return own


def refuse_changed(before: Iterable[tuple[np.ndarray, bytes]], given: Iterable[object] = ()) -> None:
    """Refuse what changed arrays of calls before, but for those that a call was given, which it may change.

    Raises:
        KeptElsewhereError: one holds something else.
    """
    own = [*given]
    for array, held in before:
        if array.tobytes() != held and not any(_is_shared(array, one) for one in own):
            raise KeptElsewhereError(
                f"a call changes an array that an earlier one returned or was given, {RETURN_A_COPY}"
            )


def _changeable(look: Reached, values: Iterable[object]) -> Iterator[object]:
    """Yield the arrays and containers that values lead to, and what shows attributes of its own."""
    for value in values:
        look.text(value)
    for one in look.alive:
        own = hasattr(one, "__dict__") and not callable(one)
        if own or isinstance(one, (np.ndarray, list, dict, set, deque, bytearray)):
            yield one


def _share(own: Iterable[object], kept: Iterable[object]) -> bool:
    """Return whether something of one is something of the other."""
    others = [*kept]
    return any(_is_shared(one, other) for one in own for other in others)


def _is_shared(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.may_share_memory(one, other)
    return one is other

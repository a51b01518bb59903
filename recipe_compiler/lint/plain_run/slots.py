"""The numbers that a file keeps, each with what puts another in its place."""

from collections.abc import Callable, Container, Iterator, Mapping
from functools import partial
from typing import Any

from .state import is_filled, is_pythons

MOST_SLOTS = 10_000
"""Places of numbers that are looked through."""
Slot = tuple[str, Any, Callable[[Any], None]]
"""Where a number stands, the number, and what puts another there."""


def numbers_of(names: Mapping[str, Any], replaced: Container[str]) -> dict[str, Any]:
    """Return the numbers that a file's names lead to, by where they stand."""
    return {label: value for label, value, _ in slots(names, replaced)}


def slots(names: Mapping[str, Any], replaced: Container[str]) -> Iterator[Slot]:
    """Yield the places of numbers that a file's names lead to, through containers, instances, functions and classes."""
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", names)]
    count = 0
    while waiting and count < MOST_SLOTS:
        label, holder = waiting.pop()
        if id(holder) in seen:
            continue
        seen.add(id(holder))
        for key, value, set_to in _items(holder, names):
            if label == "" and (is_pythons(str(key)) or key in replaced):
                continue
            count += 1
            at = f"{label}.{key}"
            if issubclass(type(value), (int, float)) and type(value) is not bool:
                yield at, value, set_to
            elif not isinstance(value, (str, bytes)):
                waiting.append((at, value))


def _items(holder: Any, names: Mapping[str, Any]) -> Iterator[tuple[Any, Any, Callable[[Any], None]]]:
    """Yield what a container holds, or an object's attributes, each with what replaces it."""
    if isinstance(holder, dict):
        yield from ((key, value, partial(holder.__setitem__, key)) for key, value in [*holder.items()])
    elif isinstance(holder, list):
        yield from ((k, value, partial(holder.__setitem__, k)) for k, value in enumerate([*holder]))
    cells = [cell for cell in getattr(holder, "__closure__", None) or () if is_filled(cell)]
    for k, cell in enumerate(cells):
        yield f"cell {k}", cell.cell_contents, partial(setattr, cell, "cell_contents")
    module = getattr(type(holder) if not isinstance(holder, type) else holder, "__module__", "")
    if module == names.get("__name__") or cells or hasattr(holder, "__code__"):
        own = [*getattr(holder, "__dict__", {}).items()]
        yield from ((key, value, partial(setattr, holder, key)) for key, value in own if not is_pythons(key))

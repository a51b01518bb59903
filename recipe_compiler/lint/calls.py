"""A step called again and again: every call must do what the first one did, and no later one may do otherwise.

What a file keeps between calls is looked at after each (`state.py`). Where it no longer changes, later calls begin as
the last one did, and end as it did. Where only numbers change, as those of a counter, they are given as symbols in one
more call: if that does the same, and decides nothing by them, their values do not matter.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol

from recipe_compiler.lint import nodes
from recipe_compiler.lint.nodes import UntraceableError
from recipe_compiler.lint.state import changed, is_filled, is_pythons, kept, unseen
from recipe_compiler.lint.values import Symbolic, made

CALLS, FEWEST = 50, 3
"""Times that a step is called, and those that one of many operations is called at least."""
OPERATIONS = 200_000
"""Operations in all calls together beyond which there are fewer: a count, not a time, is the same on every machine."""
MOST_SLOTS = 10_000
"""Places of numbers that are looked through."""

Json = dict[str, Any]


class FollowedCall(Protocol):
    """One call of the step, followed."""

    def __call__(self, *, closely: bool) -> Json:
        """Return what it computed."""
        ...


Slot = tuple[str, Any, Callable[[Any], None]]
"""Where a number stands, the number, and what puts another there."""


def called_often(call: FollowedCall, names: Mapping[str, Any], replaced: frozenset[str]) -> tuple[Json, int]:
    """Return what a step computed, in every one of many calls, and how many.

    Raises:
        UntraceableError: a call did something else, or a later one may.
    """
    before = kept(names, replaced)
    first = call(closely=True)
    now = kept(names, replaced)
    numbers = _numbers(names, replaced)
    still: tuple[str, ...] = changed(before, now)
    calls = max(FEWEST, min(CALLS, OPERATIONS // (1 + nodes.tape.used)))
    for k in range(2, calls + 1):
        found = call(closely=k == calls)
        if found != first:
            why = "it depends on more than its arguments and the draws that are known"
            raise UntraceableError(f"call {k} did something else than call 1: {why}{_keeps(still)}")
        last, now = now, kept(names, replaced)
        still = changed(last, now)
        if still and k < calls:
            numbers = _numbers(names, replaced)
    hidden = unseen(now)
    if hidden:
        raise UntraceableError(f"{', '.join(hidden)} may keep something between calls that cannot be looked at")
    if still and not _does_not_matter(call, first, names, replaced, numbers):
        what = f"{', '.join(still)} still changes from call to call: a later one may do something else"
        raise UntraceableError(f"{calls} calls did the same, but {what}")
    return first, calls


def _keeps(names: tuple[str, ...]) -> str:
    return f"; it keeps {', '.join(names)} between calls" if names else ""


def _does_not_matter(
    call: FollowedCall, first: Json, names: Mapping[str, Any], replaced: frozenset[str], before: dict[str, Any]
) -> bool:
    """Whether only numbers change, and a call at symbols in their place does what the first one did."""
    slots = [slot for slot in _slots(names, replaced) if slot[0] in before and before[slot[0]] != slot[1]]
    if not slots:
        return False

    def put(values: list[Any]) -> None:
        for (_, _, set_to), value in zip(slots, values, strict=True):
            set_to(value)

    own = [value for _, value, _ in slots]
    blank: list[Any] = [0] * len(slots)
    put(blank)
    without = kept(names, replaced)
    put([made(nodes.leaf("(kept)", k)) for k in range(len(slots))])
    try:
        found = call(closely=True)
        put(blank)
        return found == first and not changed(without, kept(names, replaced))
    except UntraceableError:
        nodes.tape.failed = None
        return False
    finally:
        put(own)


def _numbers(names: Mapping[str, Any], replaced: frozenset[str]) -> dict[str, Any]:
    return {label: value for label, value, _ in _slots(names, replaced)}


def _slots(names: Mapping[str, Any], replaced: frozenset[str]) -> Iterator[Slot]:
    """Yield the places of numbers that a file's names lead to, through containers, instances, functions and classes."""
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", names)]
    count = 0
    while waiting and count < MOST_SLOTS:
        label, holder = waiting.pop()
        if id(holder) in seen:
            continue
        seen.add(id(holder))
        for key, value, set_to in _items(holder):
            if label == "" and (is_pythons(str(key)) or key in replaced):
                continue
            count += 1
            at = f"{label}.{key}"
            if isinstance(value, (int, float)) and not isinstance(value, (bool, Symbolic)):
                yield at, value, set_to
            elif not isinstance(value, (str, bytes)):
                waiting.append((at, value))


def _items(holder: Any) -> Iterator[tuple[Any, Any, Callable[[Any], None]]]:
    """Yield what a container holds, or an object's attributes, each with what replaces it."""
    if isinstance(holder, dict):
        yield from ((key, value, partial(holder.__setitem__, key)) for key, value in [*holder.items()])
    elif isinstance(holder, list):
        yield from ((k, value, partial(holder.__setitem__, k)) for k, value in enumerate([*holder]))
    cells = [cell for cell in getattr(holder, "__closure__", None) or () if is_filled(cell)]
    for k, cell in enumerate(cells):
        yield f"cell {k}", cell.cell_contents, partial(setattr, cell, "cell_contents")
    module = getattr(type(holder) if not isinstance(holder, type) else holder, "__module__", "")
    if module == "_recipe_lint" or cells or hasattr(holder, "__code__"):
        own = [*getattr(holder, "__dict__", {}).items()]
        yield from ((key, value, partial(setattr, holder, key)) for key, value in own if not is_pythons(key))

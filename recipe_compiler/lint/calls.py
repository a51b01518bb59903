"""A step called again and again: every call must do what the first one did, and no later one may do otherwise.

What a file keeps between calls is looked at after each (`state.py`). Where it no longer changes, later calls begin as
the last one did, and end as it did. Where only numbers change, as those of a counter, they are given as symbols in one
more call: if that does the same, and decides nothing by them, their values do not matter.
"""

from collections.abc import Container, Mapping
from typing import Any, Protocol

import numpy as np

from recipe_compiler.lint import nodes
from recipe_compiler.lint.nodes import Node, UntraceableError, tape
from recipe_compiler.lint.plain_run import state
from recipe_compiler.lint.plain_run.slots import numbers_of, slots
from recipe_compiler.lint.plain_run.state import KeptState, changed, unseen
from recipe_compiler.lint.values import Symbolic, made, node_of

CALLS, FEWEST = 50, 3
"""Times that a step is called, and those that one of many operations is called at least."""
OPERATIONS = 200_000
"""Operations in all calls together beyond which there are fewer: a count, not a time, is the same on every machine."""

Json = dict[str, Any]


class FollowedCall(Protocol):
    """One call of the step, followed."""

    def __call__(self, *, closely: bool) -> Json:
        """Return what it computed."""
        ...


class _FollowedState(KeptState):
    """One look at what a file keeps: values that are followed are told by their operations."""

    def __init__(self) -> None:
        super().__init__(tape.file)
        self.texts: dict[int, str] = {}

    def is_followed(self, obj: object) -> bool:
        """Whether something that looks like a number is a symbol."""
        return isinstance(obj, Symbolic)

    def followed(self, obj: object) -> str | None:
        """Return a followed value by its operations; one of an earlier call is what it was computed of."""
        node = obj if isinstance(obj, Node) else None if isinstance(obj, np.ndarray) else node_of(obj)
        if node is None:
            return None
        waiting = [node]
        while waiting:
            one = waiting[-1]
            parts = [part for part in one.args if isinstance(part, Node)]
            missing = [part for part in parts if part.serial not in self.texts]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            told = (self.texts[a.serial] if isinstance(a, Node) else str(a) for a in one.args)
            self.texts[one.serial] = str(hash((one.op, one.number, *told)))
        return self.texts[node.serial]


def called_often(call: FollowedCall, names: Mapping[str, Any], replaced: frozenset[str]) -> Json:
    """Return what a step computed in every one of many calls, how many, and what changes without being looked at.

    Raises:
        UntraceableError: a call did something else, or a later one may.
    """
    before = _kept(names, replaced)
    first = call(closely=True)
    now = _kept(names, replaced)
    numbers = numbers_of(names, replaced)
    still: tuple[str, ...] = changed(before, now)
    calls = max(FEWEST, min(CALLS, OPERATIONS // (1 + tape.used)))
    for k in range(2, calls + 1):
        found = call(closely=k == calls)
        if found != first:
            why = "it depends on more than its arguments and the known draws"
            raise UntraceableError(f"call {k} differed from call 1: {why}{_keeps(still)}")
        last, now = now, _kept(names, replaced)
        still = changed(last, now)
        if still and k < calls:
            numbers = numbers_of(names, replaced)
    hidden = unseen(now)
    if hidden:
        raise UntraceableError(f"{', '.join(hidden)} may keep state between calls that cannot be inspected")
    if still and not _does_not_matter(call, first, names, replaced, numbers):
        what = f"{', '.join(still)} still changes from call to call: a later call may differ"
        raise UntraceableError(f"{calls} calls agreed, but {what}")
    return first | {"calls": calls, "changing": list(still)}


def _kept(names: Mapping[str, Any], replaced: Container[str]) -> dict[str, str]:
    """Return what each name of a file leads to, those that are given for the call left out."""
    return state.kept(_FollowedState(), names, replaced)


def _keeps(names: tuple[str, ...]) -> str:
    return f"; it keeps {', '.join(names)} between calls" if names else ""


def _does_not_matter(
    call: FollowedCall, first: Json, names: Mapping[str, Any], replaced: frozenset[str], before: dict[str, Any]
) -> bool:
    """Whether only numbers change, and a call at symbols in their place does what the first one did."""
    places = [slot for slot in slots(names, replaced) if slot[0] in before and before[slot[0]] != slot[1]]
    if not places:
        return False

    def put(values: list[Any]) -> None:
        for (_, _, set_to), value in zip(places, values, strict=True):
            set_to(value)

    own = [value for _, value, _ in places]
    blank: list[Any] = [0] * len(places)
    put(blank)
    without = _kept(names, replaced)
    put([made(nodes.leaf("(kept)", k)) for k in range(len(places))])
    try:
        found = call(closely=True)
        put(blank)
        return found == first and not changed(without, _kept(names, replaced))
    except UntraceableError:
        tape.failed = None
        return False
    finally:
        put(own)

"""What the child process answered: read strictly, for the file that it ran may have written there too."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from recipe_compiler.lint.nodes import FOLLOWED, LONGEST_NUMBER

OPERATIONS = {"add": 2, "mul": 2, "pow": 2, "min": 2}
MOST_LINES = 200_000
_NUMBER = re.compile(r"-?[0-9]+(/[1-9][0-9]*)?")


class UnreadableError(Exception):
    """No answer, or none of the form agreed on."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation; its parts are places of older ones."""

    op: str
    """`number pi leaf draw uniform add mul pow min call field`."""
    parts: tuple[int, ...] = ()
    name: str = ""
    """Of a leaf or field: the argument it belongs to; of a call: the function."""
    position: int = 0
    """Of a leaf, field, draw or uniform draw."""
    value: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Partial:
    """An operation that is not defined everywhere."""

    what: str
    argument: int
    line: int


@dataclass(frozen=True, slots=True)
class Trace:
    """What one call of a step computed."""

    operations: tuple[Operation, ...]
    outputs: tuple[tuple[int, ...], ...]
    draws: int
    """Normal numbers that it drew."""
    uniforms: int
    """Uniform numbers that it drew."""
    groups: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    """Draws that are not independent standard normals: their numbers, and their covariance row by row."""
    partial: tuple[Partial, ...]
    given: tuple[str, ...]
    rounded: tuple[tuple[str, int], ...]
    order: tuple[int, ...]
    """For every output, in the order of the document, which of the values returned it was."""
    calls: int
    """How often the step was called."""
    left: tuple[int, ...]
    """Lines of the functions it entered that no call ran."""
    changing: tuple[str, ...] = ()
    """Names whose numbers change from call to call, which nothing depends on."""
    runs: int = 0
    """How often it was called with plain numbers, and did what was followed."""
    lines: tuple[int, ...] = ()
    """The line of the file at which each operation was done; 0 where that is not known."""
    compared: tuple[int, ...] = ()
    """Both sides of the comparison with a uniform draw, where there is one: this is where the first is less."""
    otherwise: "Trace | None" = None
    """What the call computes where it is not."""


@dataclass(frozen=True, slots=True)
class Untraced:
    """Why a step could not be followed, and the line of the file (0: not known)."""

    reason: str
    line: int = 0
    exception: str = ""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What came of running the file: a failure of the file itself, or one trace or failure per choice of sizes."""

    file: Untraced | None
    cases: tuple[Trace | Untraced, ...]


def read_answer(data: Any, count: int) -> FileOutcome:
    """Return the answer.

    Raises:
        UnreadableError: it is not of the form agreed on.
    """
    try:
        if "file" in data:
            return FileOutcome(_untraced(data["file"]), ())
        cases = tuple(_untraced(case["failed"]) if "failed" in case else _trace(case) for case in data["cases"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise UnreadableError("an answer that cannot be read") from error
    if len(cases) != count:
        raise UnreadableError("an answer that cannot be read")
    return FileOutcome(None, cases)


def _untraced(data: Any) -> Untraced:
    return Untraced(_text(data["reason"]), _whole(data["line"], 10**9), _text(data.get("exception", "")))


def _trace(data: Any) -> Trace:
    lines = data["nodes"]
    if len(lines) > MOST_LINES:
        raise ValueError
    draws = _whole(data["draws"], MOST_LINES)
    operations = tuple(_operation(line, k, draws) for k, line in enumerate(lines))
    last = len(operations)
    groups: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for own, covariance in data["groups"]:
        if len(covariance) != len(own) ** 2:
            raise ValueError
        groups.append((_places(own, draws), _places(covariance, last)))
    found = Trace(
        operations,
        tuple(_places(flat, last) for flat in data["outputs"]),
        draws,
        _whole(data["uniforms"], MOST_LINES),
        tuple(groups),
        tuple(Partial(_text(what), _whole(k, last), _whole(line, 10**9)) for what, k, line in data["partial"]),
        tuple(_text(line) for line in data["given"]),
        tuple((_text(text), _whole(line, 10**9)) for text, line in data["rounded"]),
        _order(data["order"], len(data["outputs"])),
        _whole(data.get("calls", 0), 10**9),
        tuple(_whole(line, 10**9) for line in data.get("left", ())),
        tuple(_text(name) for name in data.get("changing", ())),
        lines=tuple(_whole(line, 10**9) for line in data.get("at", ())),
        compared=_places(data.get("compared", ()), last),
    )
    return _both_ways(found, data)


def _both_ways(found: Trace, data: Any) -> Trace:
    """Return a trace with that of the other answer, where something was compared; what both are made of is noted."""
    if "otherwise" not in data:
        return found
    other = _trace(data["otherwise"])
    if len(found.compared) != 2 or len(other.compared) != 2 or other.otherwise is not None:
        raise ValueError
    given, rounded = (tuple(dict.fromkeys((*own, *its))) for own, its in _noted(found, other))
    return replace(found, otherwise=other, given=given, rounded=rounded)


def _noted(found: Trace, other: Trace) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    return (found.given, other.given), (found.rounded, other.rounded)


def _order(places: Any, count: int) -> tuple[int, ...]:
    if sorted(places) != list(range(count)):
        raise ValueError
    return _places(places, count)


def _operation(line: Any, k: int, draws: int) -> Operation:
    op, *rest = line
    match op:
        case "number":
            if not isinstance(rest[0], str) or len(rest[0]) > LONGEST_NUMBER or not _NUMBER.fullmatch(rest[0]):
                raise ValueError
            return Operation("number", value=Fraction(rest[0]))
        case "pi":
            return Operation("pi")
        case "draw":
            return Operation("draw", position=_whole(rest[0], draws))
        case "uniform":
            return Operation("uniform", position=_whole(rest[0], MOST_LINES))
        case "leaf":
            return Operation("leaf", (), _text(rest[0]), _whole(rest[1], MOST_LINES))
        case "field":
            return Operation("field", _places(rest[2:], k), _text(rest[0]), _whole(rest[1], MOST_LINES))
        case "call":
            name, part = rest
            if name not in FOLLOWED:
                raise ValueError
            return Operation("call", _places([part], k), name)
        case _:
            if len(rest) != OPERATIONS[op]:
                raise ValueError
            return Operation(op, _places(rest, k))


def _places(numbers: Sequence[Any], below: int) -> tuple[int, ...]:
    return tuple(_whole(k, below) for k in numbers)


def _whole(value: Any, below: int) -> int:
    if type(value) is not int or not 0 <= value < below:
        raise ValueError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value[:400]

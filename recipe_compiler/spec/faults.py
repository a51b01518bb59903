"""Gathering the faults of a document, so that all of them are reported at once, each cause by one of them."""

import re
from collections.abc import Callable
from typing import TypeVar

from recipe_compiler.errors import DocumentError, Fault, ModelError, Place, SpecError

T = TypeVar("T")

_MEANT = re.compile(r"(?:did you mean|here it is called) `(\w+)`", re.ASCII)
_DECLARING = frozenset({"state", "parameters", "functions", "data"})


class Faults:
    """The faults found so far while one document is read; `finish` raises them together."""

    def __init__(self) -> None:
        self.found: list[Fault] = []
        self.malformed = False

    def malformed_at(self, where: Place, entry: str, problem: str, hint: str = "") -> None:
        """Add a fault of the language: keys, names, grammar."""
        self.malformed = True
        self.found.append(Fault(where, entry, problem, hint))

    def meaningless_at(self, where: Place, entry: str, problem: str, hint: str = "") -> None:
        """Add a fault of the meaning: an unknown name, a shape, a missing value."""
        self.found.append(Fault(where, entry, problem, hint))

    def catch(self, attempt: Callable[[], T]) -> T | None:
        """Return what `attempt` returns; None and its faults added if it finds some."""
        try:
            return attempt()
        except DocumentError as error:
            self.malformed = self.malformed or isinstance(error, SpecError)
            self.found += error.faults
            return None

    def finish(self) -> None:
        """Raise everything found; nothing if all is well."""
        if self.found:
            raise self.error()

    def error(self) -> DocumentError:
        """Return everything found, in the order of the document, to be raised."""
        meant = tuple(filter(None, map(_meant_by, self.found)))
        unique: dict[tuple[object, ...], Fault] = {}
        for fault in [fault for fault in self.found if not _follows(fault, meant)] or self.found:
            unique.setdefault(_identity(fault), fault)
        ordered = sorted(unique.values(), key=lambda fault: (fault.where.file, fault.where.line, fault.where.column))
        return (SpecError if self.malformed else ModelError)(ordered)


def _meant_by(fault: Fault) -> tuple[str, str] | None:
    """Return the file, and the name that is meant by one that is unknown there; None where none is near."""
    near = _MEANT.search(fault.hint)
    return None if near is None else (fault.where.file, near[1])


def _follows(fault: Fault, meant: tuple[tuple[str, str], ...]) -> bool:
    """Whether a fault goes once keys of its file are written as they are meant: it misses one, or what it declares."""
    keys = [key for file, key in meant if file == fault.where.file]
    if " no " in fault.problem:
        return any(f"`{key}`" in fault.problem or f" no {key}," in fault.problem for key in keys)
    declares = bool(_DECLARING.intersection(keys))
    return (declares and "is not declared" in fault.problem) or (bool(keys) and ", as declared" in fault.problem)


def _identity(fault: Fault) -> tuple[object, ...]:
    """Return what makes a fault another one: of moves that are written out several times the same is reported once."""
    return (fault.where, fault.problem, fault.hint) if fault.where.line else (fault,)

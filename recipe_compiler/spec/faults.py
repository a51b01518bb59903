"""Gathering the faults of a document, so that all of them are reported at once, each cause by one of them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from recipe_compiler.errors import DocumentError, Fault, ModelError, Place, SpecError, nearest
from recipe_compiler.spec.yaml_nodes import Mapping, Node, Scalar, Sequence

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
        """Raise everything found, in the order of the document; nothing if all is well."""
        if not self.found:
            return
        meant = tuple(filter(None, map(_meant_by, self.found)))
        unique: dict[tuple[object, ...], Fault] = {}
        for fault in [fault for fault in self.found if not _follows(fault, meant)] or self.found:
            unique.setdefault(_identity(fault), fault)
        ordered = sorted(unique.values(), key=lambda fault: (fault.where.file, fault.where.line, fault.where.column))
        raise (SpecError if self.malformed else ModelError)(ordered)


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


def told_once(root: Mapping, sizes: tuple[str, ...], faults: Faults, before: int, read: Callable[..., object]) -> None:
    """Replace faults that vanish where one size is another, nearly called so, by the one of that size.

    Args:
        root: the document.
        sizes: its symbolic sizes, in order of appearance.
        faults: those found; from the number `before` on they are the document's.
        before: how many there were.
        read: what reads a document, and adds its faults to the last argument.
    """
    own = faults.found[before:]
    written = [*_sizes(root, "")]
    counts = {size: sum(scalar.text == size for _, scalar in written) for size in sizes}
    for late in sorted(sizes, key=lambda size: (counts[size], -sizes.index(size))):
        others = tuple(size for size in sizes if size != late)
        hint = nearest(late, others)
        near = next((size for size in others if f"`{size}`" in hint), None)
        if near is None:
            continue
        left = Faults()
        read(_renamed(root, late, near, inside=False), left)
        if len(left.found) < len(own) and all(fault in own for fault in left.found):
            entry, place = next((entry, scalar.place) for entry, scalar in written if scalar.text == late)
            problem = f"found the size `{late}` beside `{near}`, with which formulas do not fit"
            faults.found[before:] = [Fault(place, entry, problem, hint), *left.found]
            return


def _sizes(node: Node, entry: str) -> Iterator[tuple[str, Scalar]]:
    """Yield what is written under `shape`, with its entry."""
    match node:
        case Scalar():
            if entry.endswith(".shape"):
                yield entry, node
        case Sequence(items=items):
            for item in items:
                yield from _sizes(item, entry)
        case Mapping(entries=entries):
            for key, value in entries:
                yield from _sizes(value, f"{entry}.{key.text}".removeprefix("."))


def _renamed(node: Node, old: str, new: str, *, inside: bool) -> Node:
    """Return a document with one size called as another."""
    match node:
        case Scalar(text=text):
            return replace(node, text=new) if inside and text == old else node
        case Sequence(items=items):
            return replace(node, items=tuple(_renamed(item, old, new, inside=inside) for item in items))
        case Mapping(entries=entries):
            new_entries = ((key, _renamed(value, old, new, inside=key.text == "shape")) for key, value in entries)
            return replace(node, entries=tuple(new_entries))

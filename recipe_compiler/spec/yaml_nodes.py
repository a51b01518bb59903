"""The one door from YAML: bytes to nodes whose scalars are raw text with their places.

Read from parse events, not from a loader: nothing is constructed, resolved or recursed into. `1e-3`, `010`, `no` stay
text until the schema decides what they mean.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from recipe_compiler.errors import Place
from recipe_compiler.formula.tree import Tree


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar as written: its text and where each part of the text stands."""

    text: str
    place: Place
    plain: bool = True
    """Written without quotes and without `|` or `>`."""
    pieces: tuple[tuple[int, Place], ...] = ()
    """Offsets in the text to their places, where the file holds the text word for word."""
    comment: str = ""
    """What follows ` #` on the same line."""
    formula: Tree | None = None
    """What the text was written from, where a formula is an object of Python and no text of a file."""

    def locate(self, offset: int) -> Place:
        """Return the place of the character at `offset`."""
        for start, place in reversed(self.pieces):
            if start <= offset:
                return Place(place.file, place.line, place.column + offset - start)
        return self.place

    def part(self, start: int, stop: int) -> "Scalar":
        """Return the text from `start` to `stop`, without the spaces around it, as a scalar of its own."""
        text = self.text[start:stop]
        start += len(text) - len(text.lstrip())
        text = text.strip()
        inner = [(offset - start, place) for offset, place in self.pieces if start < offset < start + len(text)]
        first = [(0, self.locate(start))] if self.pieces else []
        return Scalar(text, self.locate(start), False, (*first, *inner), self.comment)


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    items: tuple["Node", ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys, each with its node, in the order written."""

    entries: tuple[tuple[Scalar, "Node"], ...]
    place: Place

    def get(self, key: str) -> "Node | None":
        """Return the node under `key`, or None."""
        return next((node for name, node in self.entries if name.text == key), None)

    def key(self, key: str) -> Scalar | None:
        """Return the key itself, with its place."""
        return next((name for name, _ in self.entries if name.text == key), None)


Node = Scalar | Sequence | Mapping

Plain = str | list["Plain"] | dict[str, "Plain"] | None
"""What the schema sees: text, lists and dictionaries; None where nothing is written."""


def plain(node: Node) -> Plain:
    """Return a node as text, lists and dictionaries."""
    match node:
        case Scalar(text=text):
            return None if node.plain and not text else text
        case Sequence(items=items):
            return [plain(item) for item in items]
        case Mapping(entries=entries):
            return {key.text: plain(value) for key, value in entries}


Renew = Callable[[Scalar, tuple[str, ...], bool], Scalar]
"""Returns what stands in the place of a scalar, of the keys that lead to it, and of whether it is a key itself."""


def rewritten(root: Mapping, new: Renew, path: tuple[str, ...] = ()) -> Mapping:
    """Return a mapping with other scalars."""
    pairs = ((new(key, path, True), _rewritten(value, new, (*path, key.text))) for key, value in root.entries)
    return replace(root, entries=tuple(pairs))


def _rewritten(node: Node, new: Renew, path: tuple[str, ...]) -> Node:
    match node:
        case Scalar():
            return new(node, path, False)
        case Sequence(items=items):
            return replace(node, items=tuple(_rewritten(item, new, path) for item in items))
        case Mapping():
            return rewritten(node, new, path)


def descend(node: Node | None, path: tuple[str | int, ...]) -> tuple[Place, Node | None]:
    """Return the deepest place on a path into a node, and what stands at its end; None if nothing does."""
    place = Place("") if node is None else node.place
    for step in path:
        if isinstance(node, Mapping) and isinstance(step, str) and (key := node.key(step)) is not None:
            place, node = key.place, node.get(step)
        elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
            place = node.place
        else:
            return place, None
    return place, node


def _unclosed(text: str) -> int:
    return text.count("(") - text.count(")")


def _join(parts: list[Scalar]) -> Scalar:
    """Return one scalar for text that YAML cut at the commas inside parentheses: `[minimum(x, y), 0]`."""
    text = ""
    pieces: list[tuple[int, Place]] = []
    for part in parts:
        text += ", " if text else ""
        pieces += [(len(text) + start, place) for start, place in part.pieces]
        text += part.text
    return Scalar(text, parts[0].place, True, tuple(pieces), parts[-1].comment)


def rejoined_items(nodes: list[Node]) -> tuple[Node, ...]:
    """Undo the cuts at commas inside parentheses. No formula has an unclosed parenthesis, so none changes meaning."""
    items: list[Node] = []
    waiting: list[Scalar] = []
    for node in nodes:
        if not isinstance(node, Scalar) or not node.plain or not (waiting or _unclosed(node.text) > 0):
            items += [*waiting, node]
            waiting = []
            continue
        waiting.append(node)
        if _unclosed("".join(part.text for part in waiting)) == 0:
            items.append(_join(waiting))
            waiting = []
    return (*items, *waiting)


def rejoined_values(pairs: list[tuple[Node, Node]]) -> list[tuple[Node, Node]]:
    """Undo the same cuts in `{theta: N(0, I)}`, which YAML reads as `theta: N(0` and a key ` I)` without a value."""
    joined: list[tuple[Node, Node]] = []
    for key, value in pairs:
        empty = isinstance(value, Scalar) and value.plain and not value.text
        if joined and empty and isinstance(key, Scalar) and key.plain:
            name, before = joined[-1]
            if isinstance(before, Scalar) and before.plain and _unclosed(before.text) > 0:
                joined[-1] = (name, _join([before, key]))
                continue
        joined.append((key, value))
    return joined

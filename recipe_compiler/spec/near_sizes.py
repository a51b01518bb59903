"""A size that is nearly another one, `D` for `d`, told once in the place of every shape that does not fit for it."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from recipe_compiler.errors import Fault, nearest
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.yaml_nodes import Mapping, Node, Scalar, Sequence


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

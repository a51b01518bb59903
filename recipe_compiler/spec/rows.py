"""Block matrices as written: nested lists, a quoted nested list, or a `|` block with a row on each line."""

import re

from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.yaml_nodes import Node, Scalar, Sequence

_MATRIX = re.compile(r"\s*Matrix\((.*)\)\s*", re.DOTALL)
_FORMS = "quote an entry that holds a comma or bracket, or use a block: `|`, then a row on each line"


def block_rows(
    node: Node, entry: str, blocks: tuple[str, ...], faults: Faults
) -> tuple[tuple[Scalar, ...], ...] | None:
    """Return the places of a block matrix, one row and column for each block; None where a fault was added."""
    match node:
        case Scalar():
            rows = _split(_inside_matrix(node) if len(blocks) > 1 else node)
        case Sequence(items=items) if items and all(isinstance(item, Sequence) for item in items):
            rows = [_scalars(item, entry, faults) for item in items if isinstance(item, Sequence)]
        case _:
            example = "[[0, 0], [0, C]]" if len(blocks) > 1 else "[[C]]"
            faults.malformed_at(node.place, entry, f"found no matrix, expected rows such as {example}", _FORMS)
            return None
    if any(len(row) != len(blocks) for row in rows) or len(rows) != len(blocks):
        lengths = ", ".join(str(len(row)) for row in rows[:20])
        expected = f"{len(blocks)} rows of {len(blocks)}: one for each of {', '.join(blocks)}"
        faults.malformed_at(node.place, entry, f"found rows of {lengths} entries, expected {expected}", _FORMS)
        return None
    return tuple(tuple(row) for row in rows)


def _scalars(row: Sequence, entry: str, faults: Faults) -> list[Scalar]:
    """Return the entries of a row; a list in place of an entry is a fault, and an empty entry stands for it."""
    for item in row.items:
        if not isinstance(item, Scalar):
            faults.malformed_at(item.place, entry, "found a list in place of an entry, expected a formula", _FORMS)
    return [item if isinstance(item, Scalar) else Scalar("0", item.place) for item in row.items]


def _split(scalar: Scalar) -> list[list[Scalar]]:
    whole = scalar.part(0, len(scalar.text))
    inside = _inside(whole)
    if inside is not None and inside.text.startswith("["):
        rows = _at_commas(inside)
    elif "\n" in whole.text:
        rows = _lines(whole)
    else:
        rows = [whole]
    return [_at_commas(_inside(row) or row) for row in rows if row.text]


def _inside_matrix(scalar: Scalar) -> Scalar:
    """Return the rows of `Matrix([[0, -1], [1, 0]])`, as SymPy prints them; any other text as it is."""
    found = _MATRIX.fullmatch(scalar.text)
    return scalar if found is None else scalar.part(*found.span(1))


def _inside(scalar: Scalar) -> Scalar | None:
    """Return what stands between the brackets around the whole text, None if there are none."""
    text, depth = scalar.text, 0
    if not text.startswith("["):
        return None
    for at, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth == 0:
            return scalar.part(1, at) if at == len(text) - 1 else None
    return None


def _lines(scalar: Scalar) -> list[Scalar]:
    parts: list[Scalar] = []
    start = 0
    for line in scalar.text.split("\n"):
        row = line.rstrip().removesuffix(",")
        parts.append(scalar.part(start, start + len(row)))
        start += len(line) + 1
    return parts


def _at_commas(scalar: Scalar) -> list[Scalar]:
    """Cut at the commas outside of parentheses and brackets."""
    parts: list[Scalar] = []
    start = depth = 0
    for at, character in enumerate(scalar.text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(scalar.part(start, at))
            start = at + 1
    return [*parts, scalar.part(start, len(scalar.text))]

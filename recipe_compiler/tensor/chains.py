"""Factors with indices as chains of matrices and columns: `a - B - c` is `a.T @ B @ c`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from recipe_compiler.tensor.style import Style
from recipe_compiler.tensor.terms import Index, Slot
from recipe_compiler.tensor.walks import Step, backwards, between, is_product, uses, walk


@dataclass(frozen=True, slots=True)
class Link:
    """A matrix (two ends) or a column (its second end is None), as written."""

    written: str
    ends: tuple[Slot, Slot | None]
    symmetry: int = 0
    """1 for a symmetric matrix, -1 for a skew one: they need no transpose."""
    sign: int = 1


Chain = tuple[Step[Link], ...]

Part = tuple[int, str, list[Link]]
"""A chain's sign and text, and the links that are left."""


@dataclass(frozen=True, slots=True)
class Chains:
    """A product as written: its sign, the chain through the free indices (empty without any), the closed ones."""

    sign: int
    opened: str
    closed: tuple[str, ...]


def chains(style: Style, links: Sequence[Link], free: tuple[Index, ...]) -> Chains | None:
    """Return factors with indices as chains, None where they are not matrix products."""
    if not is_product(links, free):
        return None
    opened = _opened(style, list(links), free, uses(links))
    if opened is None:
        return None
    sign, written, rest = opened
    sign *= (-1) ** sum(link.sign < 0 for link in links)
    closed: list[str] = []
    while rest:
        scalar = _closed(style, rest)
        if scalar is None:
            return None
        sign *= scalar[0]
        closed.append(scalar[1])
        rest = scalar[2]
    return Chains(sign, written, tuple(closed))


def _opened(style: Style, links: list[Link], free: tuple[Index, ...], ends: Counter[Slot]) -> Part | None:
    match free:
        case ():
            return 1, "", links
        case (index,) if ends[index] == 1:
            steps, end, rest = walk(index, links)
            chain = backwards(steps) if index.label == "j" else steps
            return None if end is not None or not steps else (*write_chain(style, chain), rest)
        case (row, col) if ends[row] == ends[col] == 1:
            return _matrix(style, links, row, col)
        case (row, col) if {ends[row], ends[col]} == {1, 2}:
            return _diagonal(style, links, row, col)
        case _:
            return None


def _matrix(style: Style, links: list[Link], row: Index, col: Index) -> Part | None:
    found = between(row, col, links)
    return None if found is None else (*write_chain(style, found[0]), found[1])


def _diagonal(style: Style, links: list[Link], row: Index, col: Index) -> Part | None:
    delta = next((link for link in links if set(link.ends) == {row, col} and link.written == "I"), None)
    if delta is None:
        return None
    others = [link for link in links if link is not delta]
    held = row if any(row in link.ends for link in others) else col
    steps, end, rest = walk(held, others)
    if end is not None:
        return None
    sign, written = write_chain(style, steps)
    return sign, style.call("diag", [written]), rest


def _closed(style: Style, links: list[Link]) -> Part | None:
    column = next((n for n, link in enumerate(links) if link.ends[1] is None), None)
    if column is not None:
        first = links[column]
        steps, end, rest = walk(first.ends[0], [*links[:column], *links[column + 1 :]])
        return None if end is not None else (*write_chain(style, (Step(first, forwards=False), *steps)), rest)
    start = links[0]
    if start.ends[0] == start.ends[1]:
        return 1, style.call("trace", [start.written]), links[1:]
    steps, end, rest = walk(start.ends[1], links[1:])
    if end != start.ends[0]:
        return None
    sign, written = write_chain(style, (Step(start, forwards=True), *steps))
    return sign, style.call("trace", [written]), rest


def write_chain(style: Style, chain: Sequence[Step[Link]]) -> tuple[int, str]:
    """Return sign and text of a chain as a matrix product, identities left out."""
    shown = [step for step in chain if step.link.written != "I"] or list(chain[:1])
    flips = sum(step.link.symmetry < 0 and not step.forwards for step in shown)
    return (-1) ** flips, style.chain.join(_step(style, step, alone=len(shown) == 1) for step in shown)


def _step(style: Style, step: Step[Link], *, alone: bool) -> str:
    written = step.link.written
    if not step.forwards and not step.link.symmetry:
        return style.transpose(written)
    return written if alone else style.factor(written)

"""Products of matrices and columns, followed from index to index: a_i B_ij c_j is a.T @ B @ c."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from recipe_compiler.tensor.terms import Index, Slot


class Ended(Protocol):
    """A matrix or a column in a product."""

    @property
    def ends(self) -> tuple[Slot, Slot | None]:
        """The slots of a matrix; the second is None for a column."""
        ...


L = TypeVar("L", bound=Ended)


@dataclass(frozen=True, slots=True)
class DirectedLink(Generic[L]):
    """A link with the direction in which it is passed: backwards, it stands transposed in the product."""

    link: L
    forwards: bool


def uses(links: Iterable[Ended]) -> Counter[Slot]:
    """Return how often every slot is an end of a link."""
    return Counter(end for link in links for end in link.ends if end is not None)


def is_product(links: Iterable[Ended], free: Iterable[Index]) -> bool:
    """Whether links may be a matrix product: each bound index is at exactly two ends, and no slot is a literal.

    A_ij B_jk c_k may be, with i free; A_ij B_ij c_j, where j is at three ends, is not.
    """
    found, outside = uses(links), set(free)
    return all(isinstance(end, Index) and (end in outside or count == 2) for end, count in found.items())


def walk(start: Slot | None, links: Sequence[L]) -> tuple[tuple[DirectedLink[L], ...], Slot | None, list[L]]:
    """Follow links from a slot: return them in order, the slot at the end (None after a column), the other links."""
    steps: list[DirectedLink[L]] = []
    here = start
    rest = list(links)
    while here is not None:
        at = next((n for n, link in enumerate(rest) if here in link.ends), None)
        if at is None:
            break
        link = rest.pop(at)
        forwards = link.ends[0] == here
        steps.append(DirectedLink(link, forwards))
        here = link.ends[1] if forwards else link.ends[0]
    return tuple(steps), here, rest


def between(row: Index, col: Index, links: Sequence[L]) -> tuple[tuple[DirectedLink[L], ...], list[L]] | None:
    """Return the product from `row` to `col` and the links left; None if no product joins them.

    A column ends the walk from either side: v_i w_j is v @ w.T, from i to j.
    """
    steps, end, rest = walk(row, links)
    if end == col:
        return steps, rest
    others, last, rest = walk(col, rest)
    if end is not None or last is not None or not steps or not others:
        return None
    return (*steps, *backwards(others)), rest


def backwards(chain: Sequence[DirectedLink[L]]) -> tuple[DirectedLink[L], ...]:
    """Return a product transposed: (A B).T = B.T A.T, each link turned around, in reverse order."""
    return tuple(DirectedLink(step.link, not step.forwards) for step in reversed(chain))

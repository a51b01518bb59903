"""What one call of a step computed: operations in order, or why it was not followed.

A trace is evaluated on carriers: power series in the step size, expressions, balls.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation; its parts are places of older ones."""

    op: str
    """`number pi leaf draw uniform add mul pow min call field`."""
    parts: tuple[int, ...] = ()
    name: str = ""
    """The argument that a leaf or field belongs to; the function of a call."""
    position: int = 0
    """The position of a leaf, field, draw or uniform draw."""
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
    left: tuple[int, ...] = ()
    """Lines of the functions it entered that no call ran."""
    runs: int = 0
    """How often it was called with floats, and did what was followed."""
    lines: tuple[int, ...] = ()
    """The line of the file at which each operation was done; 0 where that is not known."""
    compared: tuple[int, ...] = ()
    """Both sides of the comparison with a uniform draw, where there is one: `outputs` are where the first is less."""
    otherwise: tuple[tuple[int, ...], ...] = ()
    """The outputs where it is not."""


@dataclass(frozen=True, slots=True)
class Untraced:
    """Why a step could not be followed, and the line of the file (0: not known)."""

    reason: str
    line: int = 0
    raised_at_load: bool = False
    """Whether the file itself raised an exception when it was run."""


class Carrier(Protocol[V]):
    """What the operations of a trace are done with."""

    def done(self, one: Operation, parts: Sequence[V], /) -> V:
        """Return the value of an operation by those of its parts; it may raise that it is not known how."""
        ...


def inside(operations: Sequence[Operation], place: int, known: Container[int] = ()) -> list[int]:
    """Return the places of what an operation is made of, and its own, the oldest first; nothing that is known."""
    found: set[int] = set()
    waiting = [place]
    while waiting:
        k = waiting.pop()
        if k not in found and k not in known:
            found.add(k)
            waiting += operations[k].parts
    return sorted(found)


class Evaluation(Generic[V]):
    """The values of operations on a carrier, each computed once, when it is first needed."""

    def __init__(
        self, operations: Sequence[Operation], carrier: Carrier[V], known: Mapping[int, V] = MappingProxyType({})
    ) -> None:
        """Make one; `known` has the values of operations that are given."""
        self.operations, self.carrier = operations, carrier
        self.known: dict[int, V] = dict(known)

    def value(self, place: int) -> V:
        """Return the value of an operation; what the carrier raises is raised."""
        for k in inside(self.operations, place, self.known):
            if k not in self.known:
                one = self.operations[k]
                self.known[k] = self.carrier.done(one, [self.known[n] for n in one.parts])
        return self.known[place]

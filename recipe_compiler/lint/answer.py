"""What one call of a step computed: operations in order, or why it was not followed."""

from dataclasses import dataclass
from fractions import Fraction


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
    left: tuple[int, ...] = ()
    """Lines of the functions it entered that no call ran."""
    runs: int = 0
    """How often it was called with floats, and did what was followed."""
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
    raised_at_load: bool = False
    """Whether the file itself raised an exception when it was run."""

"""What a traced step computed: operations on exact numbers, names and draws, in order. Nothing is simplified.

This is used in the child process that runs a user's file.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from types import CodeType
from typing import NoReturn

import numpy as np

from recipe_compiler import limits
from recipe_compiler.formula.elementwise import FUNCTIONS, Elementwise
from recipe_compiler.trace.operations import Operation

MOST_DIGITS = 15
"""Significant digits that a number in binary surely keeps: one with more of them is taken for a rounded one."""

DEPENDS = "a value that depends on the state, on parameters or on draws"
KNOWN = "standard_normal, normal and multivariate_normal"


class UntraceableError(BaseException):
    """Something that cannot be traced on symbols. No `except Exception` of a user's file may swallow it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        if tape.failed is None:
            tape.failed = (tape.line(), reason)


class Node:
    """An operation as it is done (see `Operation`); its parts are older than itself."""

    __slots__ = ("by_chance", "line", "name", "number", "op", "parts", "position", "rounded", "serial", "value")

    def __init__(
        self,
        op: str,
        *parts: "Node",
        name: str = "",
        position: int = 0,
        number: Fraction | None = None,
        value: float | None = None,
    ) -> None:
        self.op, self.parts, self.name, self.position, self.number = op, parts, name, position, number
        self.value = value
        """An approximation, where no name and no draw is in it."""
        self.rounded: tuple[str, int] | None = None
        """How a number that seems to be rounded is written, and the line where it was met."""
        self.serial = tape.next()
        self.line = tape.line() if tape.running else 0
        self.by_chance: bool = op == "uniform" or any(part.by_chance for part in parts)
        """Whether a uniform draw is in it."""


@dataclass(slots=True)
class Tape:
    """What is known of one call of the step besides its operations."""

    file: str = ""
    running: bool = False
    """Whether the step is being called; before that the file is loaded."""
    draws: int = 0
    groups: list[tuple[list[int], list[list[Node]]]] = field(default_factory=list[tuple[list[int], list[list[Node]]]])
    """Draws that are not independent standard normals, with their covariance."""
    uniforms: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """The line of each uniform draw, and how it is called there."""
    answer: bool = True
    """What a comparison by chance is taken to be."""
    compared: "tuple[Node, Node] | None" = None
    """Both sides of the comparison by chance: whether the first is less."""
    partial: list[tuple[str, Node, int]] = field(default_factory=list[tuple[str, Node, int]])
    """Operations that are not defined everywhere: name, argument, line."""
    given: dict[str, None] = field(default_factory=dict[str, None])
    failed: tuple[int, str] | None = None
    lines: set[int] = field(default_factory=set[int])
    """Lines of the file that calls ran."""
    codes: set[CodeType] = field(default_factory=set[CodeType])
    """Functions of the file that calls entered."""
    serial: "count[int]" = field(default_factory=count)
    start: int = 0
    """The first number of a node of this call."""
    left: int = limits.DATA

    def next(self) -> int:
        """Return the number of a new node."""
        self.left -= 1
        if self.left < 0:
            self.left = limits.DATA
            raise UntraceableError(f"more than {limits.DATA} operations in one step")
        return next(self.serial)

    def line(self) -> int:
        """Return the line of the file that is being run."""
        frame = inspect.currentframe()
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        return 0 if frame is None else frame.f_lineno

    def begin(self, *, answer: bool = True) -> None:
        """Forget the last call, and be ready for one."""
        self.running = True
        self.draws, self.left = 0, limits.DATA
        self.failed = self.compared = None
        self.answer = answer
        for record in (self.groups, self.partial, self.given, self.uniforms):
            record.clear()
        self.start = next(self.serial)


tape = Tape()
"""The one tape of this process."""


def number(value: Fraction, *parts: Node) -> Node:
    """Return an exact number, computed of others: one made of rounded numbers is a rounded one.

    Raises:
        UntraceableError: it has too many bits.
    """
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > limits.MOST_BITS:
        raise UntraceableError(f"a number of more than {limits.MOST_BITS} bits")
    made = Node("number", number=value, value=float(value))
    made.rounded = next((part.rounded for part in parts if part.rounded is not None), None)
    return made


def read_float(value: float) -> Node:
    """Return a number of the file, read as its decimals; one with many of them is noted as rounded: 0.1 is 1/10.

    Raises:
        UntraceableError: it is infinite or no number.
    """
    if not math.isfinite(value):
        raise UntraceableError(f"the number {value}")
    text = repr(float(value))
    digits = text.lower().partition("e")[0].replace(".", "").lstrip("-0").rstrip("0")
    found = number(Fraction(text))
    if len(digits) > MOST_DIGITS:
        found.rounded = text, tape.line()
    return found


def pi() -> Node:
    """Return pi."""
    return Node("pi", value=math.pi)


def leaf(name: str, position: int) -> Node:
    """Return an entry of an argument."""
    return Node("leaf", name=name, position=position)


def draw() -> Node:
    """Return a new draw; one from before the step is called is the same in every step, and no step may use it."""
    if not tape.running:
        return Node("old draw")
    tape.draws += 1
    return Node("draw", position=tape.draws - 1)


def uniform(name: str) -> Node:
    """Return a new number that is uniform between 0 and 1: what a move is accepted by, and nothing else."""
    if not tape.running:
        return Node("old draw")
    tape.uniforms.append((tape.line(), name))
    return Node("uniform", position=len(tape.uniforms) - 1)


def is_less(a: Node, b: Node) -> bool:
    """Return whether a < b is taken to be so, where a uniform draw decides it: a call is followed both ways.

    Raises:
        UntraceableError: none does, or a second one.
    """
    plain = next((x for x, other in ((a, b), (b, a)) if x.by_chance and other.value is not None), None)
    if plain is not None:
        refuse_uniform()
    if not a.by_chance and not b.by_chance:
        raise UntraceableError(f"a comparison of {DEPENDS}: branches on it cannot be traced")
    if tape.compared is not None:
        raise UntraceableError("a second comparison with a uniform draw: a step may accept or reject one move")
    tape.compared = a, b
    return tape.answer


def refuse_uniform() -> NoReturn:
    """Refuse the last uniform draw, by its line.

    Raises:
        UntraceableError: always.
    """
    line, name = tape.uniforms[-1]
    reason = f"the random draw `{name}`: only {KNOWN} and one uniform number for acceptance can be traced"
    tape.failed = tape.failed or (line, reason)
    raise UntraceableError(reason)


def least(a: Node, b: Node) -> Node:
    """Return the smaller of two, which is not smooth where they are equal."""
    if a.value is not None and b.value is not None:
        return a if a.value <= b.value else b
    apart = add(a, multiply(number(Fraction(-1)), b))
    tape.partial.append(("min", apart, tape.line()))
    return Node("min", a, b)


def entry(name: str, position: int, arguments: Sequence[Node]) -> Node:
    """Return an entry of a function of the document at a point."""
    return Node("field", *arguments, name=name, position=position)


def add(a: Node, b: Node) -> Node:
    """Return a + b."""
    if a.number is not None and b.number is not None:
        return number(a.number + b.number, a, b)
    if a.number == 0 or b.number == 0:
        return b if a.number == 0 else a
    return Node("add", a, b, value=None if a.value is None or b.value is None else a.value + b.value)


def multiply(a: Node, b: Node) -> Node:
    """Return a b. A product with the number 0 is 0: what its other factor needs to be defined has been noted."""
    if a.number is not None and b.number is not None:
        return number(a.number * b.number, a, b)
    for x, y in ((a, b), (b, a)):
        if x.number == 0 or x.number == 1:
            return x if x.number == 0 else y
    return Node("mul", a, b, value=None if a.value is None or b.value is None else a.value * b.value)


def power(base: Node, exponent: Node, guarded: bool = False) -> Node:
    """Return base**exponent. `guarded`: NumPy itself stops where it is not defined.

    Raises:
        UntraceableError: a power, not a whole one, of a negative number; a number of too many bits.
    """
    e = exponent.number
    if e is not None and e.denominator == 1:
        if e == 1:
            return base
        if e == 0:
            return number(Fraction(1))
        if base.number is not None and abs(e) <= limits.MOST_BITS:
            return number(base.number ** int(e), base)
        if e > 0:
            return _make_power(base, exponent)
    if base.value is not None:
        if base.value < 0:
            raise UntraceableError(f"a power of the negative number {base.value}")
    elif not guarded:
        word = "division" if e is not None and e.denominator == 1 else "power"
        tape.partial.append((word if e is None or e < 0 else "root", base, tape.line()))
    return _make_power(base, exponent)


def _make_power(base: Node, exponent: Node) -> Node:
    known = None if base.value is None or exponent.value is None else math.pow(base.value, exponent.value)
    return Node("pow", base, exponent, value=known)


def _find_function(row: Elementwise) -> Callable[[float], float]:
    """Return a function of a number: that of `math` where it has the name, else NumPy's."""
    return getattr(math, row.name, None) or getattr(np, row.ufunc)


FOLLOWED = {row.name: _find_function(row) for row in FUNCTIONS.values() if row.ufunc and row.name != "sqrt"}
"""What can be traced, and what it is of a number; a root is a power."""

PARTIAL = frozenset(name for name in FOLLOWED if not FUNCTIONS[name].smooth)


def call(function: str, x: Node) -> Node:
    """Return an elementwise function of x."""
    if x.value is not None:
        if function == "sign":
            return number(Fraction((x.value > 0) - (x.value < 0)))
        if function == "abs":
            return x if x.value >= 0 else multiply(number(Fraction(-1)), x)
        return Node("call", x, name=function, value=float(FOLLOWED[function](x.value)))
    if function in PARTIAL and x.op != "uniform":
        tape.partial.append((function, x, tape.line()))
    return Node("call", x, name=function)


OF_A_CALL = frozenset({"leaf", "draw", "uniform", "field"})
"""What a call is given: of another call, it has another value."""


@dataclass(frozen=True, slots=True)
class OperationList:
    """Operations, oldest first; the place of each by its serial number; its line; the rounded numbers among them."""

    operations: tuple[Operation, ...]
    place: dict[int, int]
    lines: tuple[int, ...]
    rounded: tuple[tuple[str, int], ...]


def collect_operations(roots: Sequence[Node]) -> OperationList:
    """Return all operations that some nodes are made of.

    Raises:
        UntraceableError: a random number, or a value, of an earlier call or of loading the file.
    """
    found: dict[int, Node] = {}
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node.serial not in found:
            found[node.serial] = node
            waiting += node.parts
    ordered = [found[serial] for serial in sorted(found)]
    place = {node.serial: k for k, node in enumerate(ordered)}
    for node in ordered:
        if node.op == "old draw":
            raise UntraceableError(
                "a random number that was drawn when the file was loaded: it is the same in every step"
            )
        if node.op in OF_A_CALL and node.serial < tape.start:
            raise UntraceableError("a value of an earlier call: it is kept from one to the next")
    rounded = dict.fromkeys(node.rounded for node in ordered if node.rounded is not None)
    operations = tuple(
        Operation(
            node.op,
            tuple(place[part.serial] for part in node.parts),
            node.name,
            node.position,
            node.number or Fraction(0),
        )
        for node in ordered
    )
    return OperationList(operations, place, tuple(node.line for node in ordered), tuple(rounded))

"""What a computation asks for and does not compute: random numbers, calls that are read by themselves.

The n-th request of a name has the same answer from every oracle. So two computations are the same where they make the
same requests of each name, in order, and their results are the same functions of the answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy.core.function import UndefinedFunction

from recipe_compiler.readback.names import Names
from recipe_compiler.readback.point import equal
from recipe_compiler.readback.text import require
from recipe_compiler.tensor.scalars import Scalar

Entries = list[Any]
"""The entries of a value, one after the other."""
CHOOSE = UndefinedFunction("choose")
"""One of two values by a flag: `taken if flag else refused`."""

PLACE, PLACE_ABOVE = "a place by logits", "a place above a level"
UNSET = sp.Symbol("not set")
"""Stands for the logit of a place that does not reach a level: it is not read."""


@dataclass(slots=True)
class Oracle:
    """Answers requests with symbols that name the request, and keeps what each was given."""

    trace: dict[str, list[dict[str, Entries]]] = field(default_factory=dict[str, list[dict[str, Entries]]])
    """By the name of the request: what it was given, by name, request by request."""
    known: Mapping[str, Sequence[Entries]] = field(default_factory=dict[str, Sequence[Entries]])
    """The answers to requests of some names, one after the other."""

    here: Names | None = None
    """The values of names where variates are numbers at a point, below 1."""
    drawn: str = ""
    """What requests are for: a part of their names."""
    first: int = 0
    """Which place the first category is: that of the next is one further."""

    def ask(self, what: str, given: Mapping[str, Sequence[Scalar]], count: int = 0) -> Entries:
        """Record a request, and return so many symbols, which are the same for the n-th request of this name."""
        what = f"{what} for {self.drawn}" if self.drawn else what
        asked = self.trace.setdefault(what, [])
        asked.append({name: list(entries) for name, entries in given.items()})
        if what in self.known:
            require(len(asked) <= len(self.known[what]), f"takes {what} more than {len(self.known[what])} times")
            return list(self.known[what][len(asked) - 1])
        return [sp.Symbol(f"{what} {len(asked)}[{k}]") for k in range(count)]

    def _turn(self, what: str, given: Mapping[str, Sequence[Scalar]]) -> int:
        """Record a request, and return how many of its name there were before it, from the first place on."""
        self.ask(what, given)
        return self.first + len(self.trace[f"{what} for {self.drawn}"]) - 1

    def variate(self, law: str, parameters: Sequence[Scalar] = ()) -> Scalar:
        """Return a variate of a law of rate 1, or on (0, 1); of some laws its logarithm is asked for."""
        name = law.removeprefix("log ")
        (draw,) = self.ask(name, {"parameters": parameters}, 1)
        if self.here is not None:
            draw = self.here.valued(sp.Symbol(draw.name, positive=True)) / (2 if self.here.at_point else 1)
        return draw if law == name else sp.log(draw)

    def place(self, what: str, given: Mapping[str, Sequence[Scalar]]) -> int:
        """Return a place, whatever its logits: it is of what else is given that a text may err."""
        return self._turn(what, given) % len(given["logits"])

    def reaches(self, height: Scalar, level: Scalar) -> bool:
        """Return whether a place reaches a level: of any two in a row one does."""
        return self._turn("a comparison", {"place": [height], "level": [level]}) % 2 == 0

    def vector(
        self, what: str, vector: Sequence[Scalar], lower: Sequence[Scalar], normals: Sequence[Scalar]
    ) -> Entries:
        """Return a normal vector; of its matrix the lower triangle counts."""
        return self.ask(what, {"vector": vector, "matrix": lower, "normals": normals}, len(vector))


def same(stated: Sequence[Scalar], read: Sequence[Scalar], what: str, here: Names) -> None:
    """Require that entries which were read are those that are stated.

    Raises:
        CompilerError: one differs, or is not set.
        ReadBackError: it is not decided whether one differs.
    """
    require(len(stated) == len(read), f"has {len(read)} entries in {what}, expected {len(stated)}")
    require(all(entry is not None for entry in read), f"does not set {what}")
    for k, (one, other) in enumerate(zip(stated, read, strict=True)):
        if one is not other and one != other:
            equal(sp.Integer(0) + other, one, f"entry {k} of {what}" if len(stated) > 1 else what, here)


def same_covariance(
    stated: Mapping[tuple[int, int], Scalar], read: Mapping[tuple[int, int], Scalar], what: str, here: Names
) -> None:
    """Require that a covariance is the stated one; its entries are 0 where they do not stand."""
    places = sorted((a, b) for a, b in {*stated, *read} if a >= b)
    own, other = ([found.get(at, sp.Integer(0)) for at in places] for found in (stated, read))
    same(own, other, f"the covariance of {what}", here)


def same_trace(stated: Oracle, read: Oracle, known: Mapping[Scalar, Scalar], here: Names) -> None:
    """Require that a text asks for what its Program asks for: of each name as often, in order, with the same values.

    Args:
        stated: what the Program asks.
        read: what the text asks, which need not be given all that the Program's request is.
        known: what symbols in the Program's values stand for.
        here: the names in them.

    Raises:
        CompilerError: a request differs.
    """
    for what in dict.fromkeys((*stated.trace, *read.trace)):
        wanted, found = stated.trace.get(what, []), read.trace.get(what, [])
        require(len(wanted) == len(found), f"takes {what} {len(found)} times, expected {len(wanted)}")
        for own, others in zip(wanted, found, strict=True):
            for name, entries in others.items():
                require(name in own, f"gives {what} {name}, which its Program does not")
                same(replaced(own[name], known), entries, f"the {name} that {what} is given", here)


def replaced(entries: Sequence[Scalar], known: Mapping[Scalar, Scalar]) -> Entries:
    """Return entries with what symbols in them stand for."""
    return [entry.xreplace(known) if isinstance(entry, sp.Basic) else entry for entry in entries]

"""Loops over scalars: the form between index notation and printed text.

Scalar expressions refer to elements of arrays by loop variables or positions; statements assign them in loops. The
printer in `emit/` turns these into Python; it prints nothing else.
"""

from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula.shapes import Size


@dataclass(frozen=True, slots=True)
class Constant:
    """An exact rational number."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Ref:
    """A scalar variable (no positions) or an element of an array, at loop variables, integers or places."""

    name: str
    at: tuple["str | int | Unsigned", ...] = ()


@dataclass(frozen=True, slots=True)
class Unsigned:
    """An unsigned integer: `stride` times the first of `terms`, and the other terms.

    With `count`, the last of so many places stands for those beyond it.
    """

    terms: tuple[str | int, ...]
    stride: int = 1
    count: Size | None = None


@dataclass(frozen=True, slots=True)
class Literal:
    """Python text that names nothing: an integer, a word in quotes, None."""

    text: str


@dataclass(frozen=True, slots=True)
class Plus:
    """A sum."""

    terms: tuple["Scalar", ...]


@dataclass(frozen=True, slots=True)
class Times:
    """A product."""

    factors: tuple["Scalar", ...]


@dataclass(frozen=True, slots=True)
class Raise:
    """A rational power."""

    base: "Scalar"
    exponent: Fraction


@dataclass(frozen=True, slots=True)
class Call:
    """An elementwise function of the language, a comparison, or a choice by a flag, of scalars."""

    fn: str
    args: tuple["Scalar", ...]


@dataclass(frozen=True, slots=True)
class Kronecker:
    """1 where two loop positions agree, else 0."""

    left: str | int
    right: str | int


CHANGE, SIZE = "_change", "_size"
"""What an iteration changed, and how large it is; no name of a user's begins so."""
STREAM_WORDS = tuple(map(Ref, ("s0", "s1", "s2", "s3")))
"""The words of a stream while it is drawn from: names that every module has for itself."""

Scalar = Constant | Ref | Unsigned | Literal | Plus | Times | Raise | Call | Kronecker
Argument = str | Scalar | tuple["Argument", ...]
"""The name of a whole array, which may be written into; a scalar, which is read; a list of arguments."""
Target = Ref | tuple["Target", ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`."""

    target: Ref
    value: Scalar


@dataclass(frozen=True, slots=True)
class Increment:
    """`target += value`."""

    target: Ref
    value: Scalar


@dataclass(frozen=True, slots=True)
class For:
    """`for index in range(count): body`; with `beyond`, only the iterations beyond whole blocks of so many.

    With `backwards`, from the last one to the first. With `position`, over the rows of one minibatch: `for position in
    range(batch_size): index = batch[position]; body`.
    """

    index: str
    count: Size
    body: "Body"
    beyond: int = 0
    backwards: bool = False
    position: str = ""


@dataclass(frozen=True, slots=True)
class Repeat:
    """`for _ in range(count): body`: so often, a number or a variable, from where the iteration before left off."""

    count: int | str
    body: "Body"


@dataclass(frozen=True, slots=True)
class ForBlocks:
    """`for start in range(first, count - count % block, block): body`, the starts of whole blocks, counted unsigned.

    With `along`, an array of length `count` along its `axis`, that length is counted to in place of the number. With
    `whole`, the count is rounded up to the next multiple of it, and `block` is 1.
    """

    start: str
    count: Size
    block: int
    body: "Body"
    along: str | None = None
    first: Size = 0
    whole: int = 1
    axis: int = 0


@dataclass(frozen=True, slots=True)
class Iterate:
    """`body`, then `advance`, until the sides of an equation are `tolerance` apart in the body, `most` times at most.

    They are compared by `_progress`, which adds to CHANGE and SIZE. Without success `unsolved` becomes not a number.
    """

    most: int
    tolerance: Fraction
    body: "Body"
    advance: "Body"
    unsolved: Ref


@dataclass(frozen=True, slots=True)
class View:
    """`name = source[start : ...]` in a shape of its own: a part of an array, or all of it (None), nothing copied."""

    name: str
    source: str
    start: Size | None
    sizes: tuple[Size, ...]
    """None for a scalar, which is an array of length one; of all of an array none: it is flat."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A line for the reader: the equation that the next statements compute."""

    text: str


@dataclass(frozen=True, slots=True)
class When:
    """`body` is done where `flag` holds, `otherwise` where it does not; what one alone writes is not read after it."""

    flag: Scalar
    body: "Body"
    otherwise: "Body" = ()


@dataclass(frozen=True, slots=True)
class Stream:
    """`body` takes the words of a random stream, one draw after the other, and leaves those behind the last."""

    state: str
    """The array of its words, STREAM_WORDS meanwhile."""
    body: "Body"


@dataclass(frozen=True, slots=True)
class Invoke:
    """`targets = procedure(arguments)`: a call of another procedure of the module, or of a support function.

    What writes into arrays alone returns nothing.
    """

    procedure: str
    arguments: tuple[Argument, ...]
    targets: tuple[Target, ...] = ()


Compound = When | Stream | For | Repeat | ForBlocks | Iterate
Statement = Assign | Increment | Invoke | View | Comment | Compound
Body = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """A named work array or scalar: no sizes for a scalar."""

    name: str
    sizes: tuple[Size, ...] = ()

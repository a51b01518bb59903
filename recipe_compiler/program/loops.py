"""Loops over scalars: the form between index notation and printed text.

Scalar expressions refer to elements of arrays by loop variables or positions; statements assign them in loops. The
printer in `emit/` turns these into Python; it prints nothing else.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula.shapes import Size


@dataclass(frozen=True, slots=True)
class Constant:
    """An exact rational number."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Ref:
    """A scalar variable (no positions) or an element of an array, at loop variables or integers."""

    name: str
    at: tuple[str | int, ...] = ()


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
    """An elementwise function of the language, applied to scalars."""

    fn: str
    args: tuple["Scalar", ...]


@dataclass(frozen=True, slots=True)
class Kronecker:
    """1 where two loop positions agree, else 0."""

    left: str | int
    right: str | int


Scalar = Constant | Ref | Plus | Times | Raise | Call | Kronecker


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

    With `backwards`, from the last one to the first.
    """

    index: str
    count: Size
    body: tuple["Statement", ...]
    beyond: int = 0
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class Repeat:
    """`for _ in range(count): body`: so often, a number or a variable, from where the iteration before left off."""

    count: int | str
    body: tuple["Statement", ...]


@dataclass(frozen=True, slots=True)
class ForBatch:
    """`for position in range(batch_size): index = batch[position]; body`, the rows of one minibatch.

    With `beyond`, only the rows beyond whole blocks of so many.
    """

    index: str
    position: str
    body: tuple["Statement", ...]
    beyond: int = 0


@dataclass(frozen=True, slots=True)
class ForBlocks:
    """`for start in range(first, count - count % block, block): body`, the starts of whole blocks, counted unsigned.

    With `along`, an array of length `count` along its `axis`, that length is counted to in place of the number. With
    `whole`, the count is rounded up to the next multiple of it, and `block` is 1.
    """

    start: str
    count: Size
    block: int
    body: tuple["Statement", ...]
    along: str | None = None
    first: Size = 0
    whole: int = 1
    axis: int = 0


@dataclass(frozen=True, slots=True)
class Iterate:
    """`body`, then `advance`, until the sides of an equation are `tolerance` apart in the body, `most` times at most.

    They are compared by the `Progress` statements in it. Without success `unsolved` becomes not a number.
    """

    most: int
    tolerance: Fraction
    body: tuple["Statement", ...]
    advance: tuple["Statement", ...]
    unsolved: Ref


@dataclass(frozen=True, slots=True)
class Progress:
    """One entry of what an iteration solves for: where it started, its value, and the other side of the equation."""

    start: Ref
    value: Ref
    next: Ref


@dataclass(frozen=True, slots=True)
class Take:
    """`target` is the element of `source` at the sum of unsigned `places`, or that sum where there is no source.

    With `count`, the last of so many elements is taken for those beyond it. With `signed`, the element is a signed
    integer that is not negative, and `target` the unsigned one.
    """

    target: str
    source: str | None
    places: tuple[str | int, ...]
    count: Size | None = None
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Pack:
    """`array[w * position + k] = values[k]`, counted unsigned: row `position` of a flat array of w columns."""

    array: str
    position: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unpack:
    """`targets[k] = array[w * position + k]`, counted unsigned: row `position` of a flat array of w columns."""

    array: str
    position: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inside:
    """`target` is 1 where `position`, counted unsigned, is one of the first `count`, else 0."""

    target: str
    position: str
    count: Size


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
class Invert:
    """target = inv(source) of a constant n x n matrix."""

    target: str
    source: str


@dataclass(frozen=True, slots=True)
class Factor:
    """targets = L, row block by row block, with L L^T = eps (two_D - eps B_hat), n x n; refuses what is not PSD.

    `two_D` and `B_hat` name one array per pair of blocks.
    """

    targets: tuple[str, ...]
    blocks: tuple[str, ...]
    two_D: tuple[tuple[str, ...], ...]
    B_hat: tuple[tuple[str, ...], ...] | None
    of_flow: bool = False
    """Whether they depend on eps, as those of an exact flow do: their ratio is then no largest step."""
    time: Scalar = Ref("eps")
    """What stands for eps: 1 where it is the covariance of a draw, not of what a step adds."""


@dataclass(frozen=True, slots=True)
class Propagate:
    """`targets` = change, integral and covariance of dz = -F z dt + sqrt(two_D) dW over the time eps share.

    Each is a matrix of names, one array per pair of blocks, and so are `F` and `two_D` (program/program.py,
    Propagator).
    """

    targets: tuple[tuple[tuple[str, ...], ...], ...]
    F: tuple[tuple[str, ...], ...]
    two_D: tuple[tuple[str, ...], ...]
    share: Fraction

    @property
    def computed(self) -> tuple[str, ...]:
        """The names of all targets."""
        return tuple(name for matrix in self.targets for row in matrix for name in row)

    @property
    def given(self) -> tuple[str, ...]:
        """The names of what it reads."""
        return (*(name for matrix in (self.F, self.two_D) for row in matrix for name in row), "eps")


@dataclass(frozen=True, slots=True)
class Scale:
    """target = sqrt(eps (two_D - eps B_hat)) of scalars; refuses a negative one. What `Factor` is for matrices."""

    target: Ref
    block: str
    two_D: Scalar
    B_hat: Scalar
    of_flow: bool = False
    """As of `Factor`."""
    time: Scalar = Ref("eps")
    """As of `Factor`."""


@dataclass(frozen=True, slots=True)
class Uniform:
    """`target` is drawn uniformly from the integers `least` to `most`, made of two normals."""

    target: str
    least: int
    most: int
    normals: tuple[Ref, Ref]


@dataclass(frozen=True, slots=True)
class Accept:
    """`flag` is set with `probability` min(1, exp(log_ratio)), which is kept.

    -log u = (a^2 + b^2)/2 of two normals a, b.
    """

    flag: str
    probability: Ref
    log_ratio: str
    normals: tuple[Ref, Ref]


@dataclass(frozen=True, slots=True)
class Choose:
    """`target = taken if flag else refused`."""

    target: Ref
    flag: str
    taken: Scalar
    refused: Scalar


@dataclass(frozen=True, slots=True)
class Decide:
    """`flag` is what a support function finds of some numbers: whether a move is due, a place is above a level."""

    flag: str
    function: str
    read: tuple[Ref, ...]
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class When:
    """`body` is done where `flag` is set, `otherwise` where it is not; what one alone writes is not read after it."""

    flag: str
    body: tuple["Statement", ...]
    otherwise: tuple["Statement", ...]


@dataclass(frozen=True, slots=True)
class Variate:
    """`target` is drawn by a support function of the stream around, which moves on."""

    target: Ref
    function: str
    parameters: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Stream:
    """`body` takes the words of a random stream, one draw after the other, and leaves those behind the last."""

    state: str
    """The array of its words."""
    body: tuple["Statement", ...]


@dataclass(frozen=True, slots=True)
class Clip:
    """If `target` is negative, set it to 0 and count it in `counter`: a covariance that is not PSD at this state."""

    target: Ref
    counter: str


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call another procedure of the module; `arguments` are names of arrays and scalars.

    `targets` name the scalars that take what it returns; a procedure that writes into arrays returns nothing.
    """

    procedure: str
    arguments: tuple[str, ...]
    targets: tuple[str, ...] = ()


Loop = For | Repeat | ForBatch | ForBlocks | Iterate
Copy = Take | Pack | Unpack | Inside | View
Matrix = Invert | Factor | Propagate
Move = Uniform | Accept | Choose | Decide | When
Random = Variate | Stream
Statement = Assign | Increment | Move | Random | Loop | Copy | Comment | Progress | Matrix | Scale | Clip | Invoke


@dataclass(frozen=True, slots=True)
class Array:
    """A named work array or scalar: no sizes for a scalar."""

    name: str
    sizes: tuple[Size, ...] = ()


def parts_of(value: Scalar) -> tuple[Scalar, ...]:
    """Return the direct operands of an expression."""
    match value:
        case Plus(parts) | Times(parts) | Call(_, parts):
            return parts
        case Raise(base, _):
            return (base,)
        case Constant() | Ref() | Kronecker():
            return ()


def refs_of(value: Scalar) -> Iterator[Ref]:
    """Yield every scalar and element that an expression reads."""
    if isinstance(value, Ref):
        yield value
    for part in parts_of(value):
        yield from refs_of(part)


def names_in(body: Iterable[Statement]) -> frozenset[str]:
    """Return every name that statements read, write or pass on; loop counts are sizes and not among them."""
    return frozenset(name for statement in body for name in _names(statement))


def takes_of(body: Iterable[Statement]) -> Iterator[Take]:
    """Yield the statements of a body, its inner loops left out, that read where others read or write."""
    yield from (statement for statement in body if isinstance(statement, Take))


def _names_of_random(statement: Move | Random) -> Iterator[str]:
    match statement:
        case Uniform(target, _, _, normals):
            yield from (target, *(ref.name for ref in normals))
        case Accept(flag, probability, log_ratio, normals):
            yield from (flag, probability.name, log_ratio, *(ref.name for ref in normals))
        case Choose(target, flag, taken, refused):
            yield from (target.name, flag, *(ref.name for value in (taken, refused) for ref in refs_of(value)))
        case Decide(flag, _, read):
            yield from (flag, *(ref.name for ref in read))
        case When(flag, body, otherwise):
            yield from (flag, *names_in((*body, *otherwise)))
        case Variate(target, _, parameters):
            yield from (target.name, *(ref.name for value in parameters for ref in refs_of(value)))
        case Stream(state, body):
            yield from (state, *names_in(body))


def _names_of_matrices(statement: Matrix | Scale | Clip) -> Iterator[str]:
    match statement:
        case Invert(target, source):
            yield from (target, source)
        case Factor(targets, _, two_D, B_hat):
            yield from targets
            yield from (name for row in (*two_D, *(B_hat or ())) for name in row)
            yield from (ref.name for ref in refs_of(statement.time))
        case Propagate():
            yield from (*statement.computed, *statement.given)
        case Scale(target, _, two_D, B_hat):
            yield target.name
            yield from (ref.name for value in (two_D, B_hat, statement.time) for ref in refs_of(value))
        case Clip(target, counter):
            yield from (target.name, counter)


def _names(statement: Statement) -> Iterator[str]:
    match statement:
        case Assign(target, value) | Increment(target, value):
            yield target.name
            yield from (ref.name for ref in refs_of(value))
        case For(_, _, body) | ForBlocks(_, _, _, body):
            yield from names_in(body)
        case Repeat(count, body):
            yield from (*((count,) if isinstance(count, str) else ()), *names_in(body))
        case Uniform() | Accept() | Choose() | Decide() | When() | Variate() | Stream():
            yield from _names_of_random(statement)
        case Iterate(_, _, body, advance, unsolved):
            yield from (*names_in((*body, *advance)), unsolved.name)
        case Progress(start, value, following):
            yield from (start.name, value.name, following.name)
        case Take(target, source):
            yield from (target,) if source is None else (target, source)
        case ForBatch(_, _, body):
            yield "batch"
            yield from names_in(body)
        case Pack(array, _, scalars) | Unpack(array, _, scalars):
            yield from (array, *scalars)
        case Inside(target):
            yield target
        case View(target, source):
            yield from (target, source)
        case Invert() | Factor() | Propagate() | Scale() | Clip():
            yield from _names_of_matrices(statement)
        case Invoke(_, arguments, targets):
            yield from arguments
            yield from targets
        case Comment():
            return

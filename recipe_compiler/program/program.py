"""One step of a chain as a list of few statements in index notation.

A Program knows nothing of loops, arrays or Python: it says what is computed, for every size. Names that the Program
introduces (`r_new`, `grad_U_tilde`, `noise_r`) stand in its tensors as coordinates and components like any other.

Worked example, SGHMC by sequential Euler with r first (Chen, Fox, Guestrin 2014), M and C constant d x d matrices:

    Noise     w ~ N(0, eps 2C)
    Evaluate  grad_U = grad U(theta)
    Shift     r_new = r + eps (-grad_U - C inv(M) r) + w
    Shift     theta_new = theta + eps inv(M) r_new
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block, Datum, Parameter
from recipe_compiler.formula.shapes import Shape, Size
from recipe_compiler.formula.transforms import Transform
from recipe_compiler.tensor.terms import Tensor

EPS = "eps"
"""The step size, as tensors of statements name it."""


Grid = tuple[tuple[Tensor, ...], ...]
"""A matrix of tensors by pairs of blocks, with free indices `i` of the row's block and `j` of the column's."""
Names = tuple[tuple[str, ...], ...]
"""A matrix of names by pairs of blocks."""


@dataclass(frozen=True, slots=True)
class Part:
    """The gradient by one block of the target: of -log prior, and of -log likelihood of datum n.

    Both tensors have the shape of the block; the second has the datum as a first axis.
    """

    block: Block
    """The target's block by the name its coordinates have in these tensors; the potential's own if it is the whole."""
    start: Size
    """The place of its first entry in the potential's block; its entries follow row by row.

    Of a block that lies in a set, its variables stand there, and the tensors are about the block itself: U is what they
    say of it less the log Jacobian (`formula/constraints.py`).
    """
    prior: Tensor
    """Free indices `i` and `j`, as many as the block has axes."""
    datum: Tensor | None
    """Free indices `n` (the datum) and those of `prior`; None for a target without data."""
    stated_prior: Tensor
    """Equal to `prior`, its sums and products as the target states them: what is computed; `prior` is what it is."""
    stated_datum: Tensor | None
    """Equal to `datum`, likewise."""


@dataclass(frozen=True, slots=True)
class RowState:
    """A state s that passes from row to row: s_0 = start, s_(n+1) = next; of two axes at most, the rows the first.

    Tensors of a row refer to it, as a component `s[n,i]`, by its value before that row. In the gradient there is its
    adjoint, too: a[n,i] = dU/ds_(n+1)[i], the slope of U after row n, and before the first row dU/ds_0.
    """

    name: str
    """The name of the array that holds it before every row."""
    passed: str
    """The name of what a row passes on to the next one."""
    shape: Shape
    start: Tensor
    """Free index `i`, if it is a column."""
    next: Tensor
    """Free indices `n`, the row, and that of `start`."""
    stated_start: Tensor
    """Equal to `start`, its sums and products as they are stated: what is computed; `start` is what it is."""
    stated_next: Tensor
    adjoint: str
    """The name of the array that holds the adjoint after every row, 0 after the last."""
    first: str
    """The name of dU/ds before the row that is read, in the end before the first."""
    slope: Tensor | None
    """dU/ds_n[i] given the adjoints after row n, with the free indices of `next`; None if no block moves it.

    Of a solution what row n alone adds to it, after its stages.
    """
    at: str = ""
    """The name of the array with a solution before every stage of a row, with indices of step and stage in `next`."""
    of_stage: Tensor | None = None
    """dU/ds before a stage given the adjoints after it."""


STEP, STAGE = "at_step", "at_stage"
"""The labels of the indices of steps, and of stages in them, and their variables."""


@dataclass(frozen=True, slots=True)
class Summed:
    """What all stages of all rows add to dU/db of a block b: the sum of `slope` over them, with its free indices."""

    name: str
    shape: Shape
    slope: Tensor


@dataclass(frozen=True, slots=True)
class Stages:
    """How solutions pass on before their row is read: in steps, each of the same stages (`spec/solve.py`)."""

    count: Size
    """The steps, by their name at the head of the text, or a number."""
    steps: int
    """Their number."""
    weights: tuple[tuple[str, tuple[Fraction, ...]], ...]
    """Name to its number at each stage."""
    sums: tuple[Summed, ...]


@dataclass(frozen=True, slots=True)
class Recursion:
    """States that pass from row to row of the data, and U as a function of them: prior + sum_n term(s_n, row n)."""

    states: tuple[RowState, ...]
    prior: Tensor
    """-log prior, without a free index."""
    term: Tensor
    """-log likelihood of row n, the free index, given the rows before it."""
    stages: Stages | None = None

    @property
    def names(self) -> frozenset[str]:
        """All names that it introduces."""
        names = {name for s in self.states for name in (s.name, s.passed, s.adjoint, s.first, s.at)} - {""}
        if self.stages is None:
            return frozenset(names)
        own = (*(name for name, _ in self.stages.weights), *(one.name for one in self.stages.sums))
        return frozenset({*names, *own, STEP, STAGE, *filter(None, [str(self.stages.count)])})


REST, ROWS = "data", "rows"
"""Arguments of a module of any U: a tuple that its functions are given last, and how many rows of data there are."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """grad U of the target as a function of a value of its block, or its minibatch estimate.

        full data       prior + sum_n datum
        minibatch       prior + (N/n) sum_{n in batch} datum                      (Ma, Chen, Fox 2015, Eq. 7)

    The sum is scaled, the prior is not. Several blocks of a target are laid end to end in the potential's block.
    """

    name: str
    """`grad_U`, or `grad_U_tilde` for the estimate."""
    block: Block
    """The block of the state that U depends on."""
    parts: tuple[Part, ...]
    """By the blocks of the target, in order."""
    count: Size | None
    """The number of data N; None for a target without data."""
    minibatch: bool
    code: str = ""
    """The user's function that computes it, in place of parts: `my_gradient.py:grad_U`."""
    given: tuple[str, ...] = ()
    """What that function is given after the array it writes: the block, parameters, data, and the batch."""
    rest: str = ""
    """The name of the tuple of whatever else it is given, last, where no target declares that; `given` has it, too."""
    recursion: Recursion | None = None
    """What rows that are not independent pass on: parts are then given the states and their adjoints."""
    others: tuple[tuple[str, str], ...] = ()
    """Other blocks that U is taken at, as in U(x) + b U(y), with the names of its gradients there."""

    @property
    def places(self) -> Mapping[str, str]:
        """The blocks of the state that it is taken at, its own first, to its names there."""
        return {self.block.name: self.name, **dict(self.others)}

    @property
    def stacked(self) -> bool:
        """Whether the potential's block is cut into blocks of the target."""
        return any(part.block != self.block for part in self.parts)


def steps_at_head(gradient: Gradient | None) -> tuple[tuple[str, int], ...]:
    """Return the name of the steps from row to row of a gradient's recursion, and their number, if any."""
    own = gradient.recursion.stages if gradient is not None and gradient.recursion is not None else None
    return ((own.count, own.steps),) if own is not None and isinstance(own.count, str) else ()


@dataclass(frozen=True, slots=True)
class Potential:
    """U of the target, a scalar function of a value of the potential's block: prior + sum_n datum, of all data."""

    name: str
    block: Block
    """The block of the state that U depends on."""
    places: tuple[tuple[Block, Size], ...]
    """The blocks of the target with the place of their first entry in the potential's block."""
    prior: Tensor
    """No free index; as the target states it, as `datum` is."""
    datum: Tensor | None
    """Free index `n`, the datum; None for a target without data."""
    count: Size | None
    recursion: Recursion | None = None
    """What makes the states that `datum` names."""
    others: tuple[tuple[str, str], ...] = ()
    """Other blocks that H has U at, with the names of its values there, as H - U has them."""
    code: str = ""
    """The user's function that computes it, in place of prior and datum."""
    given: tuple[str, ...] = ()
    """What that function is given."""

    @property
    def stacked(self) -> bool:
        """Whether the potential's block is cut into blocks of the target."""
        return any(block != self.block for block, _ in self.places)


@dataclass(frozen=True, slots=True)
class Evaluate:
    """The gradient of the potential is evaluated: `new = grad U(at)`."""

    at: str
    """The value of the gradient's block that it is evaluated at."""
    new: str
    noise: str = ""
    """The draw that is added, of covariance two_D, t = 1; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Noise:
    """A Gaussian draw w ~ N(0, t (two_D - t B_hat)) for blocks whose noise is correlated; t is eps, or 1 of a refresh.

    `two_D[a][b]` and `B_hat[a][b]` have free indices `i` of block a and `j` of block b (those that exist). `B_hat` is
    None if the gradient is exact or its covariance is taken to be zero. (Ma, Chen, Fox 2015, Eq. 9.)
    """

    name: str
    """The name of the draw: shifts say which one they add."""
    blocks: tuple[Block, ...]
    two_D: Grid
    B_hat: Grid | None
    at_once: bool = False
    """Whether t = 1: what is drawn anew is not what a flow adds in the time eps."""


@dataclass(frozen=True, slots=True)
class Shift:
    """`T(new) = T(old) + eps * rate + w`, a new value of a block from the one before it; T(x) = x if none is stated."""

    block: Block
    old: str
    """The newest value of the block before: its name, at the start of a step."""
    new: str
    rate: Tensor
    """In the values that stand before; it may depend on eps, as that of an exact flow does."""
    noise: str = ""
    """The draw that is added; empty where there is none."""
    slope: Tensor | None = None
    """d rate_i/d new_j of an equation, whose rate names `new` itself, for Newton's iteration that solves it."""
    transform: Transform | None = None
    """T, entry by entry; `new` is not a number where the sum is no value of T."""
    image: bool = False
    """Whether `new = rate`, in which `old` stands: what reflects a position that has left its domain, say."""
    again: bool = False
    """Whether it is one more substitution into the equation of the shift before it: from the same `old`."""

    @property
    def implicit(self) -> bool:
        """Whether it is an equation, solved by iteration from `old`."""
        return self.slope is not None


@dataclass(frozen=True, slots=True)
class Propagator:
    """What dz = -F z dt + sqrt(two_D) dW does to some blocks together in a time t = eps share; F, two_D are constant.

    Three matrices, as names of arrays by pairs of blocks, each array with an axis for either block, of length one for a
    scalar block, constant along the chain:

        change      (exp(-t F) - 1)/eps
        integral    (1/eps) int_0^t exp(-u F) du
        covariance  (1/eps) int_0^t exp(-u F) two_D exp(-u F)^T du
    """

    blocks: tuple[Block, ...]
    F: Grid
    two_D: Grid
    share: Fraction
    change: Names
    integral: Names
    covariance: Names

    @property
    def arrays(self) -> Mapping[str, tuple[Block, Block]]:
        """The names of all arrays, with the pair of blocks of each."""
        pairs = [(row, col) for row in self.blocks for col in self.blocks]
        named = (self.change, self.integral, self.covariance)
        return {
            name: pair for names in named for name, pair in zip((n for row in names for n in row), pairs, strict=True)
        }


@dataclass(frozen=True, slots=True)
class Heat:
    """(H - U)(after) - (H - U)(before), added to the heat of a step: the change of H by a letter with noise.

    A path is accepted by its work, the change of H less the heat (Sivak, Chodera, Crooks 2013).
    """

    before: tuple[str, ...]
    """The values of all blocks before the letter, in their order."""
    after: tuple[str, ...]
    """Those after it; the letter does not move the block that U depends on."""


TOLERANCE = Fraction(1, 10**12)
"""How far the two sides of an implicit shift may be apart, in units of the block's own size."""
ITERATIONS = 100
"""After so many iterations an implicit shift has no solution that is found, and the state becomes not a number."""

Statement = Propagator | Evaluate | Noise | Shift | Heat


@dataclass(frozen=True, slots=True)
class Refresh:
    """new = kept * old + w, w ~ N(0, (1 - kept^2) S): a block redrawn from its law N(0, S) given all others.

    It keeps that law: kept^2 S + (1 - kept^2) S = S (Horowitz 1991).
    """

    block: Block
    old: str
    new: str
    kept: Fraction
    noise: Noise
    every: int = 1
    """It is done where the cycles before it are a multiple of this; elsewhere `new` is `old`."""


SLICES = "Slices"
"""The law of rows that are drawn by slices, from those before: its parameters are logits less log w, and log w."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A block b of the target is redrawn given all others: `new` is `old` except for the entries of b.

    For `CIR` b moves on for the time eps, db = (shape - rate b) dt + sqrt(2 b) dW, entry by entry: with e = exp(-rate
    eps) and c = (1 - e)/rate it becomes c G, G ~ Gamma(shape + K, 1), K ~ Poisson(b e/c) (Cox, Ingersoll, Ross 1985).

    Of `Slices` a row at its place z has the level log w_z - E, E ~ Exponential(1), and is drawn by exp(logits)/w among
    the places k with log w_k at the level or above it (Walker 2007). A third parameter is the logarithm of the weights
    that no place holds: it is told whether a level is below that.
    """

    block: Block
    """The potential's block, of whose entries those of b are some."""
    old: str
    new: str
    places: tuple[tuple[Block, Size], ...]
    """The blocks of the target with the place of their first entry in the potential's block, at the values before."""
    drawn: Block
    """b: one of them."""
    name: str
    """The name of b, as the target declares it."""
    law: str
    """The name of the law: `N`, `Gamma`; `CIR` of the flow that keeps `Gamma`, from the value of b before; `Slices`."""
    parameters: tuple[Tensor, ...]
    """Those of the law, free of b; a data field in them is all of its rows."""
    by_precision: bool = False
    """Whether they are u and P = inv(cov), P m = u, in the place of m and cov."""
    via: str = ""
    """`log` or `logit` where the entries are those of b in an unbounded variable."""
    datum: Tensor | None = None
    """What a datum adds to the first parameter, with the free index `n`, where a minibatch estimates it.

    parameters[0] + (N/n) sum over the batch; None where `parameters` is all of it.
    """
    count: Size | None = None
    """The number of data N, likewise."""
    every: int = 1
    """As of `Refresh`."""
    reported: str = ""
    """What is 1 where a level is below what no place holds, else 0; empty where that is not told."""

    @property
    def start(self) -> int:
        """The place of the first entry of b, of a target whose sizes are numbers."""
        place = dict(self.places)[self.drawn]
        if isinstance(place, str):
            raise CompilerError(f"{self.drawn.name} stands at {place}, expected a number")
        return place

    @property
    def stacked(self) -> bool:
        """Whether b is a part of the potential's block."""
        return any(block != self.block for block, _ in self.places)


@dataclass(frozen=True, slots=True)
class Along:
    """Something that a trajectory moves: a block, the gradient or U carried along."""

    name: str
    """What the statements call it that are given it."""
    shape: Shape
    start: str
    """The newest value before the trajectory."""
    at: str
    """The value on the way."""
    end: str
    """The value that it leaves; empty where nobody reads it."""
    back: str = ""
    """The value on the way back, where a step is solved for and it is tried whether it leads back."""


@dataclass(frozen=True, slots=True)
class Kick:
    """e: `b -> b + eps rate`, made once before the first step of a trajectory and taken back after its last."""

    block: Block
    rate: Tensor
    """In the gradient that is carried along, by its own name, and constants; with the free index `i`."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The statements of the Program from the newest values on, several times in a row.

    Taken with probability min(1, exp(H(z) - H(z'))) if `metropolis`, else the old state with the signs of some blocks
    turned (Duane et al. 1987; Horowitz 1991); always taken if not. A trajectory whose steps are solved by iteration is
    refused if the same number of steps from its end, turned round, does not lead back to its start: otherwise detailed
    balance would hold only as far as the iterations find one solution (Brofos and Lederman 2021).
    """

    least: int
    most: int | str
    """How often: a number drawn uniformly from `least` to `most`, which may be a parameter, rounded up."""
    values: tuple[Along, ...]
    """All that it moves: the blocks in their order, then what is carried along."""
    metropolis: bool
    flip: tuple[str, ...] = ()
    anew: bool = False
    """Whether the gradient and U are evaluated where it starts: other moves moved the block that they depend on."""
    every: int = 1
    """As of `Refresh`; what it moves stays as it is elsewhere."""
    kick: Kick | None = None
    """e, where the statements are V of a word W = e^-1 o V o e, so that n steps of W are e^-1 o V^n o e."""
    scale: Fraction = Fraction(1)
    """The statements are done with scale*eps in the place of eps."""
    given: tuple[tuple[str, str], ...] = ()
    """Parameters that they name to those that are given in their place."""

    @property
    def is_solved(self) -> bool:
        """Whether its steps are solved for by iteration, and it is tried whether they lead back."""
        return any(value.back for value in self.values)

    @property
    def names(self) -> tuple[str, ...]:
        """All names that it introduces."""
        own = (name for value in self.values for name in (value.at, value.end, value.back) if name)
        return (*own, *(value.start for value in self.values if not value.end))


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """A block w, a scalar or a vector, that an involution draws for itself: w = mean + n, n normal of mean 0."""

    block: Block
    """By the name of its value."""
    mean: Tensor
    """A formula of the state, with the free index `i`."""
    noise: Noise
    """Formulas of constants alone."""


@dataclass(frozen=True, slots=True)
class Image:
    """What an involution maps a block to."""

    block: Block
    old: str
    """The newest value before."""
    at: str
    """What is proposed."""
    new: str
    """The value that it leaves: what is proposed, or the old one."""
    value: Tensor
    """In the newest values, and in what is drawn; with the free index `i`."""


@dataclass(frozen=True, slots=True)
class Involution:
    """(z', w') = S(z, w), taken with probability min(1, exp(H(z) - H(z') + log_ratio)), else z stays (Green 1995)."""

    draws: tuple[Auxiliary, ...]
    images: tuple[Image, ...]
    log_ratio: Tensor
    """log q(w'|z') - log q(w|z) + log |det DS|, of z and w; without a free index."""
    start: tuple[tuple[str, str], ...]
    """Every block to its newest value before."""
    every: int = 1
    """As of `Refresh`: elsewhere each block is left as it is."""

    @property
    def proposed(self) -> Mapping[str, str]:
        """Every block to its value under S."""
        return {**dict(self.start), **{image.block.name: image.at for image in self.images}}


@dataclass(frozen=True, slots=True)
class Handed:
    """A block that code is handed."""

    block: Block
    old: str
    """The newest value before."""
    new: str
    """A copy of it, in place of which code leaves another."""


@dataclass(frozen=True, slots=True)
class CodeMove:
    """The user's function changes blocks in place, by their newest values and a stream of random words of its own.

    All blocks are handed as copies: what it writes where it is not said to goes nowhere.
    """

    argument: str
    """What the chain calls the function, which it is given."""
    code: str
    """Whose it is, for readers: `my_moves.py:swap`."""
    changed: tuple[Handed, ...]
    """What it takes first."""
    read: tuple[Handed, ...]
    """Other blocks that it takes behind those, of which the chain takes nothing back."""
    given: tuple[str, ...]
    """The parameters and data that it takes behind those, before its stream."""
    stream: str
    """Four words that the chain's own stream gives it: how many it takes of them does not matter to the chain."""
    every: int = 1
    """As of `Refresh`."""

    @property
    def handed(self) -> tuple[Handed, ...]:
        """All blocks that it takes, in order."""
        return (*self.changed, *self.read)

    @property
    def arguments(self) -> tuple[str, ...]:
        """What it takes, in order, by the names that readers have for it: blocks by their own."""
        return (*(one.block.name for one in self.handed), *self.given, "stream")


Move = Refresh | Draw | Trajectory | Involution | CodeMove


def changes(move: Move) -> tuple[tuple[str, str, str, Shape], ...]:
    """Return what a move changes: what it is called, its value before, that which is left, and its shape."""
    match move:
        case Trajectory(values=values):
            return tuple((value.name, value.start, value.end, value.shape) for value in values if value.end)
        case Involution(images=changed) | CodeMove(changed=changed):
            return tuple((one.block.name, one.old, one.new, one.block.shape) for one in changed)
        case _:
            return ((move.block.name, move.old, move.new, move.block.shape),)


@dataclass(frozen=True, slots=True)
class Cycle:
    """The moves that are one step of the chain, in order; and H = U + rest, if a move is accepted by it."""

    moves: tuple[Move, ...]
    potential: Potential | None = None
    rest: Tensor | None = None
    """H - U, without a free index, at a state of blocks by their own names."""
    counter: str = ""
    """The number of cycles before this one, carried on; empty where every move is done in each."""
    counted: str = ""
    """The value of it that a cycle leaves, one more."""

    @property
    def trajectories(self) -> tuple[Trajectory, ...]:
        """The moves that make the statements of the Program, in order: alike in all that concerns these."""
        return tuple(move for move in self.moves if isinstance(move, Trajectory))

    @property
    def trajectory(self) -> Trajectory | None:
        """The first of them."""
        return next(iter(self.trajectories), None)

    @property
    def varied(self) -> frozenset[str]:
        """What is not the same in the statements of all trajectories: `eps`, and parameters."""
        scaled = {EPS} if any(move.scale != 1 for move in self.trajectories) else set[str]()
        return frozenset(scaled | {name for move in self.trajectories for pair in move.given for name in pair})

    @property
    def left(self) -> Mapping[str, str]:
        """The names of the values that moves are given, to those that they leave."""
        found = {name: new for move in self.moves for name, _, new, _ in changes(move)}
        return found | ({self.counter: self.counted} if self.counter else {})

    @property
    def names(self) -> frozenset[str]:
        """All names that the moves introduce."""
        drawn = (move.new for move in self.moves if isinstance(move, Refresh | Draw))
        along = (name for own in self.trajectories for name in own.names)
        images = (name for own in self.involutions for image in own.images for name in (image.at, image.new))
        own = (drawn.block.name for move in self.involutions for drawn in move.draws)
        reported = (draw.reported for draw in self.draws)
        handed = (one.new for move in self.codes for one in move.handed)
        coded = (*(name for move in self.codes for name in (move.argument, move.stream)), *handed)
        return frozenset(
            (*drawn, *along, *images, *own, *coded, *filter(None, (self.counter, self.counted, *reported)))
        )

    @property
    def schedules(self) -> tuple[int, ...]:
        """The numbers n of moves that are done in every n-th cycle only, in their order."""
        moves = (*self.refreshes, *self.draws, *self.involutions, *self.codes, *self.trajectories)
        return tuple(dict.fromkeys(move.every for move in moves if move.every > 1))

    @property
    def refreshes(self) -> tuple[Refresh, ...]:
        """What is refreshed, in order."""
        return tuple(move for move in self.moves if isinstance(move, Refresh))

    @property
    def involutions(self) -> tuple[Involution, ...]:
        """What is mapped and accepted or refused, in order."""
        return tuple(move for move in self.moves if isinstance(move, Involution))

    @property
    def codes(self) -> tuple[CodeMove, ...]:
        """What the user's functions change, in order."""
        return tuple(move for move in self.moves if isinstance(move, CodeMove))

    @property
    def begins_anew(self) -> bool:
        """Whether moves other than a trajectory move the block that U depends on: no gradient or U is carried on."""
        return bool(self.draws or self.involutions or self.codes)

    @property
    def accepted(self) -> tuple[Trajectory, ...]:
        """The trajectories that are accepted or refused."""
        return tuple(move for move in self.trajectories if move.metropolis)

    @property
    def kinds(self) -> tuple[tuple[Trajectory, ...], ...]:
        """The trajectories that are accepted or refused by what they are told apart by, in the order of the first."""
        found = dict[object, tuple[Trajectory, ...]]()
        for move in self.accepted:
            key = (move.least, move.most, move.flip, move.every, move.scale, move.given)
            found[key] = (*found.get(key, ()), move)
        return tuple(found.values())

    @property
    def draws(self) -> tuple[Draw, ...]:
        """What is drawn by its law, in order."""
        return tuple(move for move in self.moves if isinstance(move, Draw))


@dataclass(frozen=True, slots=True)
class Energies:
    """Diagnostics of draws, at a state of blocks by their own names: U, the log likelihood of each datum, and H - U."""

    potential: Potential
    rest: Tensor | None
    """H - U, without a free index; None where U is no summand of H."""


@dataclass(frozen=True, slots=True)
class Program:
    """One step as statements, done in order; every value has a name of its own. Rules: docs/program.md."""

    scheme: str
    variant: str
    replacement: bool
    blocks: tuple[Block, ...]
    """The state z, in the order of the dynamics."""
    parameters: tuple[Parameter, ...]
    """All constants of the chain: of the dynamics, of the build, of the target."""
    data: tuple[Datum, ...]
    gradient: Gradient | None
    statements: tuple[Statement, ...]
    cycle: Cycle | None = None
    """The moves of which the statements are one, in a step of the chain; None where they are the step."""
    carried: bool = False
    """Whether a step begins with the gradient that the one before evaluated last, at the state it left behind."""
    full_gradient: Gradient | None = None
    """grad U of all data, whatever the steps take; None where it is code, or every block has ends."""
    energies: Energies | None = None
    """None where the gradient is code, which tells no U."""
    contiguous: bool = False
    """Whether a minibatch is a block of consecutive rows."""
    narrow: bool = False
    """Whether the data are stored in float32."""
    mapped: bool = False
    """Whether the data are mapped from files, row by row, instead of loaded."""
    heads: tuple[tuple[str, int], ...] = ()
    """Sizes of a stacked target that its text has as numbers at its head: it is a text for all of them."""

    @property
    def functions(self) -> Mapping[str, str]:
        """The arguments of a chain that are functions of the user's, to whose they are: `my_moves.py:swap`."""
        potential = self.cycle.potential if self.cycle else None
        stated = {"potential": potential, "gradient": self.gradient}
        own = {name: one.code for name, one in stated.items() if one is not None and one.code}
        return own | {move.argument: move.code for move in (self.cycle.codes if self.cycle else ())}

    @property
    def rest(self) -> str:
        """The name of the tuple that a gradient of any U is given of the caller; empty where a target says it all."""
        return self.gradient.rest if self.gradient is not None else ""

    @property
    def rows(self) -> str:
        """How many rows minibatches are of, as Python."""
        return ROWS if self.rest else f"{self.data[0].name}.shape[0]"

    @property
    def propagators(self) -> tuple[Propagator, ...]:
        """What linear flows do, in order."""
        return tuple(statement for statement in self.statements if isinstance(statement, Propagator))

    @property
    def evaluations(self) -> tuple[Evaluate, ...]:
        """Where the gradient is evaluated, in order."""
        return tuple(statement for statement in self.statements if isinstance(statement, Evaluate))

    @property
    def gradients(self) -> Mapping[str, str]:
        """The names of all values of the gradient, to those that it has at the state which a step is given."""
        if self.gradient is None:
            return {}
        places = self.gradient.places
        of = {**{name: name for name in places}, **{shift.new: shift.block.name for shift in self.shifts}}
        return {name: name for name in places.values()} | {e.new: places[of[e.at]] for e in self.evaluations}

    @property
    def noises(self) -> tuple[Noise, ...]:
        """The draws, in order."""
        return tuple(statement for statement in self.statements if isinstance(statement, Noise))

    @property
    def shifts(self) -> tuple[Shift, ...]:
        """What moves the state, in order."""
        return tuple(statement for statement in self.statements if isinstance(statement, Shift))

    @property
    def heats(self) -> tuple[Heat, ...]:
        """The letters with noise of a word that is accepted by its work, in order."""
        return tuple(statement for statement in self.statements if isinstance(statement, Heat))

    @property
    def passed_on(self) -> Mapping[str, str]:
        """The names that the statements are given, to those that they leave: blocks, a gradient carried on."""
        found = {block.name: self.newest(block) for block in self.blocks}
        return found | ({self.gradient.name: self.evaluations[-1].new} if self.gradient and self.carried else {})

    @property
    def left(self) -> Mapping[str, str]:
        """The names that a step of the chain is given by the one before, to those that it leaves for the next.

        Blocks, a gradient carried on and, of a cycle that accepts by it, U; blocks alone if both are evaluated anew.
        """
        if self.cycle is None:
            return self.passed_on
        return {block.name: block.name for block in self.blocks} | dict(self.cycle.left)

    @property
    def carries(self) -> bool:
        """Whether a step of the chain is given the gradient by the one before."""
        return self.gradient is not None and self.gradient.name in self.left

    def newest(self, block: Block) -> str:
        """Return the name of the value of a block that a step leaves behind."""
        return next((shift.new for shift in reversed(self.shifts) if shift.block == block), block.name)


def symbolic_sizes(program: Program) -> tuple[str, ...]:
    """Return the sizes of the state that are known only when the module runs."""
    return tuple(dict.fromkeys(s for b in program.blocks for s in b.shape.sizes if isinstance(s, str)))

"""What documents mean once read: Dynamics, Target, Scheme, Build. Frozen, complete, typed; none of them is faulty."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recipe_compiler.errors import CompilerError, Place
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.expression import Compare, Formula, Role, Symbol, Transpose
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.units import Unit
from recipe_compiler.spec.words import Pair, Word, rotated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Formulas = tuple[tuple[str, Formula], ...]
"""Names to formulas, in order."""
Rows = tuple[tuple[Fraction, ...], ...]
"""Numbers of an array, row by row."""


@dataclass(frozen=True, slots=True)
class Source:
    """The document something was read from."""

    file: str
    document: str
    """Canonical JSON of the document as written: sorted keys, no spaces, scalars as text."""
    places: tuple[tuple[str, Place], ...] = ()
    """Entry (`H`, `D[r,r]`, `claims.drift.theta`) to its place."""

    def place(self, entry: str) -> Place:
        """Return where `entry` stands; the file alone if that is not known."""
        return dict(self.places).get(entry, Place(self.file))


@dataclass(frozen=True, slots=True)
class Image:
    """Other dynamics, the map from their blocks to these, and its inverse."""

    of: "Dynamics"
    map: Formulas
    inverse: Formulas


@dataclass(frozen=True, slots=True)
class Claims:
    """What an author states; None where nothing is."""

    drift: Formulas | None = None
    """Block to its drift f (column of the block's shape), every block once."""
    diffusion: Matrix | None = None
    """D of the claimed equation, block by block."""
    stratonovich: bool = False
    marginal: Formulas | None = None
    lyapunov: Formula | None = None
    """A function W >= 0 of the state that keeps solutions from running off to infinity: L W <= c (1 + W)."""
    image: Image | None = None
    energy: Formula | None = None
    """H of the dynamics that the word of a build uses (`Use`): with it in the place of H the drift is the same."""
    update: Formulas | None = None
    """Block to its next value; a block that is left out stays as it is."""
    noise: tuple[Block, ...] = ()
    """Standard normal draws that several blocks of the update share."""


@dataclass(frozen=True, slots=True)
class Dynamics:
    """The mathematics of a sampler: dz = f dt + sqrt(2D) dW, f = -(D+Q) grad H + Gamma (Ma, Chen, Fox 2015, Eq. 3)."""

    name: str
    declarations: Declarations
    H: Formula
    D: Matrix | None
    """Block matrix in the order of the blocks; place (i, j) has shape size(i) x size(j). None: not given."""
    Q: Matrix | None
    claims: Claims = Claims()
    title: str = ""
    references: tuple[str, ...] = ()
    source: Source = field(default=Source("", "{}"), compare=False)
    units: tuple[tuple[str, Unit], ...] = ()
    """Name to its unit; empty where a document declares none."""
    called: tuple[tuple[Formula, tuple[str, ...]], ...] = field(default=(), compare=False)
    """Summands of H to the functions that stood in them before these were bound."""
    as_claimed: bool = False
    """Whether its equation is the claimed one, f and D as claimed, whatever follows from D, Q and H: of a `Mark`."""

    @property
    def matrix_entries(self) -> tuple[Formula, ...]:
        """The entries of D and Q, as far as these are stated, by pairs of blocks."""
        return tuple(entry for matrix in (self.D, self.Q) for row in matrix or () for entry in row)

    @property
    def potential(self) -> str | None:
        """The name of the function a target binds, if the dynamics declare one."""
        return next((f.name for f in self.declarations.functions if f.role == "potential"), None)


@dataclass(frozen=True, slots=True)
class Selection:
    """Places of D, of Q and summands of H: what moves the state by -(D_k + Q_k) grad H_k. None: all of them."""

    D: tuple[Pair, ...] | None = ()
    """Each pair with the one across the diagonal."""
    Q: tuple[Pair, ...] | None = ()
    H: tuple[str, ...] | None = None
    """Names of summands: a function in one, or the blocks one is of."""
    Gamma: tuple[Pair, ...] = ()
    """Places (a, b) whose d(D+Q)_ab/dz_b belongs here, where it does not follow to which piece it does."""


@dataclass(frozen=True, slots=True)
class WordClaims:
    """What a scheme's author states of its word, each decided apart; None, or false, where nothing is."""

    order: int | None = None
    """The weak order, for every dynamics."""
    palindrome: bool = False
    gradients: int | None = None
    """How often a step evaluates the gradient of the potential."""
    configurational: bool = False
    """Whether theta has its covariance under exp(-U) exactly, where U is quadratic."""


@dataclass(frozen=True, slots=True)
class Refresh:
    """A block b is drawn anew given all others: b' = c b + N(0, (1 - c^2) S), with N(0, S) its law under exp(-H)."""

    block: str
    kept: Fraction = Fraction(0)
    """c, -1 < c < 1: 0 of a full refresh."""
    every: int = 1
    """It is done in the first cycle of a chain, and in each n-th after it."""


@dataclass(frozen=True, slots=True)
class Metropolis:
    """The scheme's word, several times in a row, taken with probability min(1, exp(-W)); else the start, turned round.

    W is the sum of H(z') - H(z) over the letters without noise: H(z') - H(z) in all where no letter has any.
    """

    steps: tuple[int, int | str] = (1, 1)
    """How often the word is done, at least and at most: a number drawn uniformly between them, both included. From 1 to
    a positive parameter of the build, rounded up, where that is named."""
    flip: tuple[str, ...] = ()
    """The blocks whose sign is turned where the move is refused: (b, ...) -> (-b, ...)."""
    every: int = 1
    """As of `Refresh`."""
    scale: Fraction = Fraction(1)
    """Its steps are of the length scale*eps."""
    part: int = 0
    """Which of the parts of the target that words move, `Scheme.use` says them, its word moves."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The scheme's word, several times in a row, as it comes: exp(-H) is kept as far as the word keeps it."""

    count: int = 1
    every: int = 1
    """As of `Refresh`."""
    part: int = 0
    """As of `Metropolis`."""


@dataclass(frozen=True, slots=True)
class Slices:
    """How rows z_n are drawn below levels: u_n ~ Uniform(0, w[z_n]), then z_n by its law among places with w_k > u_n.

    That is, by its logits less log w_k (Walker 2007; Neal 2003). The levels are forgotten when the move is done.
    """

    log_weights: Formula
    """log w: a column for all rows, or a matrix of the block's shape; free of the block."""
    left: Formula | None = None
    """log of the weights that no place holds: how often a level is below it is counted. None where all are held."""

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """All that it is made of."""
        return (self.log_weights, *(() if self.left is None else (self.left,)))


@dataclass(frozen=True, slots=True)
class Draw:
    """A block of the target is drawn anew given all others, by its law as `laws:` of the target claims it.

    Rows may be drawn by slices: not independent of what they were, but of the same law.
    """

    block: str
    """As the target declares it, also where it is sampled in an unbounded variable."""
    every: int = 1
    """As of `Refresh`."""
    slices: Slices | None = None
    """The slices by which a discrete block is drawn; None where it is drawn from its law at once."""


@dataclass(frozen=True, slots=True)
class Cir:
    """A positive block g of the target moves along d g = (shape - rate g) dt + sqrt(2 g) dW for the time eps, exactly.

    Of its law given all others, Gamma(shape, rate) as `laws:` of the target claims it. That is the process of Cox,
    Ingersoll and Ross (1985); with the shape of a minibatch, stochastic CIR (Baker, Fearnhead, Fox, Nemeth 2018).
    """

    block: str
    """As the target declares it, also where it is sampled in an unbounded variable."""
    every: int = 1
    """As of `Refresh`."""


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """A block w that an involution draws for itself, and forgets: w ~ N(m, cov), m a function of the state."""

    block: Block
    law: "Law"


@dataclass(frozen=True, slots=True)
class Involution:
    """(z, w) -> S(z, w) with S o S = id, taken with probability min(1, a), else z stays (Green 1995; Tierney 1998).

    a = exp(H(z) - H(z')) q(w'|z')/q(w|z) |det DS(z, w)| for (z', w') = S(z, w), w ~ q(w|z).
    """

    maps: Formulas
    """A block of the dynamics, or what is drawn, to its value under S; others stay as they are."""
    draws: tuple[Auxiliary, ...] = ()
    log_ratio: Formula | None = None
    """What its author claims of log a beside H(z) - H(z'); None where nothing is."""
    every: int = 1
    """As of `Refresh`."""

    @property
    def moved(self) -> tuple[str, ...]:
        """The blocks of the dynamics that it moves."""
        own = {drawn.block.name for drawn in self.draws}
        return tuple(name for name, _ in self.maps if name not in own)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """All that it is made of."""
        laws = (argument for drawn in self.draws for argument in drawn.law.arguments)
        claimed = () if self.log_ratio is None else (self.log_ratio,)
        return (*(formula for _, formula in self.maps), *laws, *claimed)


@dataclass(frozen=True, slots=True)
class CodeMove:
    """A function of a Python file changes blocks of the dynamics. That it preserves exp(-H) is its author's word."""

    code: "Code"
    changes: tuple[str, ...]
    """The blocks that it changes, in the order that it takes them."""
    reads: tuple[str, ...] = ()
    """Others that it is given, behind those."""
    every: int = 1
    """As of `Refresh`."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Which blocks of the target a word moves, the others held."""

    blocks: tuple[str, ...]
    """As the target declares them."""
    mask: str = ""
    """The parameter of P; empty where all blocks of the target are moved, by every word."""
    rows: tuple[bool, ...] = ()
    """Its value: of each coordinate of the potential's block, whether it is moved."""


@dataclass(frozen=True, slots=True)
class Use:
    """Whose D and Q the word of a cycle follows, and which blocks of the target it moves, the others held.

    With P = diag(moved) in the place of the potential's block, 1 in those of others, the build's dynamics have P D P
    and P Q P of those used, and their own H: P D P is positive semidefinite and P Q P skew where D and Q are. Where
    moves differ in what they move the dynamics have the P of the first, and the word is done with that of each move:
    whatever is shown of the word is so of every P.
    """

    own: Dynamics
    """The build's, as their document states them."""
    document: Dynamics | None
    """Those used, as theirs states them; None where the word follows the build's own."""
    blocks: tuple[tuple[str, str], ...]
    """A block of those used to what is called so here."""
    parts: tuple[Moved, ...]
    """What words move, each once; the first is that of the first word."""

    @property
    def masks(self) -> tuple[str, ...]:
        """The parameters of P of all words; none where each moves all blocks of the target."""
        return tuple(part.mask for part in self.parts if part.mask)


ByLaw = Draw | Cir
"""The moves of a block of the target by its claimed law."""
Beside = ByLaw | Involution | CodeMove
"""The moves beside which a word begins anew: U and its gradient are those of a state that they have changed."""
Move = Refresh | Metropolis | Steps | Beside

MOST_MOVES = 100
"""The moves that a cycle may have."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """The rule that makes one step of a chain: a word over pieces of (D, Q, H), a cycle of moves, or one of Euler's."""

    name: str
    """`euler`, `sequential_euler`, that of a document, `split` or `cycle`."""
    split: Word = ()
    """Empty for Euler's; of a cycle the word that its Metropolis moves, or its move of steps, repeat, if it has any."""
    pieces: tuple[tuple[str, tuple[Selection, ...]], ...] = ()
    """What each letter of the word selects; empty: what follows from the dynamics (`splitting/defaults.py`)."""
    flows: tuple[tuple[str, str], ...] = ()
    """The numerical flows of pieces; those of the others are exact."""
    order: tuple[str, ...] = ()
    """The blocks in the order in which `sequential_euler` updates them."""
    reflect: tuple[str, ...] = ()
    """The blocks that an Euler step reflects at 0."""
    scale: tuple[tuple[str, Fraction], ...] = ()
    """Block b to s_b: in a step of eps it moves as in one of s_b eps, by s_b times its rows of D and Q."""
    keep: int = 0
    """After how many letters of the word draws are kept; 0: at its end."""
    cycle: tuple[Move, ...] = ()
    """The moves of one step of the chain in order; several of them have the word if all of these are accepted or
    refused, none where others draw blocks of the target; empty: the word is the step."""
    use: Use | None = None
    """What the word of a cycle follows, and moves, where that is stated."""
    claims: WordClaims = WordClaims()
    source: Source = field(default=Source("", "{}"), compare=False)
    """That of its own document; none where the build states it, or names one that the compiler knows."""

    @property
    def word(self) -> Word:
        """The step from one draw to the next: `split`, begun after the letter at which draws are kept."""
        return rotated(self.split, self.keep, dict(self.flows)) if self.keep else self.split

    @property
    def is_used(self) -> bool:
        """Whether it is read from a document of its own, which is then a part of the build."""
        return self.source.document != "{}"

    def moved(self, move: "Metropolis | Steps") -> Moved | None:
        """Return what the word of a move moves; None where nothing is said of it, and it moves all."""
        return None if self.use is None else self.use.parts[move.part]

    @property
    def accepted(self) -> "tuple[Metropolis, ...]":
        """The moves of a cycle that are accepted or refused, each kind once, in order."""
        return tuple(dict.fromkeys(move for move in self.cycle if isinstance(move, Metropolis)))

    def kind_of(self, move: "Metropolis") -> str:
        """Return in words what tells moves of a kind from others of the cycle."""
        moved, (least, most) = self.moved(move), move.steps
        blocks = f"moves of {', '.join(moved.blocks)}" if moved is not None and moved.mask else "moves of all blocks"
        steps = f"{least} to {most} steps" if least != most else f"{most} step{'s' if most != 1 else ''}"
        scale = f"scale {move.scale}" if move.scale != 1 else ""
        every = f"every {move.every}" if move.every > 1 else ""
        return ", ".join(filter(None, (blocks, steps, scale, every, "" if move.flip else "no flip")))

    @property
    def words(self) -> "tuple[Metropolis | Steps, ...]":
        """The moves of a cycle that repeat its word, in order."""
        return tuple(move for move in self.cycle if isinstance(move, Metropolis | Steps))

    @property
    def takes_time(self) -> bool:
        """Whether a step depends on the step size: it integrates, or moves a block by a flow; draws alone do not."""
        return bool(self.split) or not self.cycle or any(isinstance(move, Cir) for move in self.cycle)


@dataclass(frozen=True, slots=True)
class Transform:
    """A bounded block that is sampled in an unbounded variable (`spec/transform.py`)."""

    block: Block
    """As declared: draws are of it."""
    via: str
    """`log` or `logit`; `lower` or `upper` where it has one bound."""
    inner: str
    """The name of the unbounded block that stands in its place."""
    bound: Formula | None = None
    """The one bound; None where the domain of the block tells its bounds."""


@dataclass(frozen=True, slots=True)
class Code:
    """A function of a Python file. Only `recipe run` runs it, and only if it is allowed to."""

    file: Path
    function: str
    stated: str
    """The file as its document names it: relative to that, so that two files of one name are two. Empty: none is
    named, and the function is an argument of `sample`."""

    def __str__(self) -> str:
        """Name it as its document does: `my_gradient.py:grad_U`."""
        return f"{self.stated}:{self.function}" if self.stated else self.function


@dataclass(frozen=True, slots=True)
class Law:
    """The law of a block given all others, with its parameters: `Gamma(shape, rate)` (`spec/laws.py`)."""

    name: str
    arguments: tuple[Formula, ...]
    """In them a data field is all of its rows."""


Guards = tuple[tuple[Compare, bool], ...]
"""Conditions, and whether each holds."""


@dataclass(frozen=True, slots=True)
class StatedDensity:
    """A named density as it stands in a target's formula: `normal(y, x @ theta, sigma)` (`formula/densities.py`)."""

    name: str
    """That of its row."""
    arguments: tuple[Formula, ...]
    """By the blocks as declared, whatever is sampled in another variable; the first is what it is a density of."""
    entry: str
    """`log_prior`, `log_likelihood` (then of ONE datum), `potential`, or a formula of a recursion's state."""
    is_term: bool
    """Whether it is a summand of that formula, and not a part of one."""
    guards: Guards = ()
    """The conditions on a datum of the pieces of `where` that it stands in."""

    @property
    def of(self) -> str:
        """The block or data field that it is a density of; empty where that is a formula."""
        match self.arguments[0]:
            case Symbol(name, _, Role.BLOCK | Role.DATUM) | Transpose(Symbol(name, _, Role.DATUM | Role.INDEX)):
                return name
            case _:
                return ""


@dataclass(frozen=True, slots=True)
class Stated:
    """What a target states by named densities, about the blocks as declared."""

    densities: tuple[StatedDensity, ...] = ()
    """In the order they are written, log_prior first."""
    others: Formulas = ()
    """Entry to the sum of its summands that are none; an entry all of whose summands are densities is left out."""
    needs: tuple[Compare, ...] = ()
    """What has to hold for these to be densities, and is to be shown: `sigma > 0`."""

    def terms(self, entry: str) -> tuple[tuple[str, tuple[Formula, ...]], ...]:
        """Return the summands of an entry as they are written: named densities with their arguments, other formulas.

        Another formula has no name. Nothing is returned of an entry that has no density, or one inside a summand.
        """
        own = [one for one in self.densities if one.entry == entry]
        if not own or not all(one.is_term and not one.guards for one in own):
            return ()
        others = [("", (formula,)) for name, formula in self.others if name == entry]
        return (*((one.name, one.arguments) for one in own), *others)


@dataclass(frozen=True, slots=True)
class RowState:
    """A state of a recursion over the rows of the data: s_0 = start, s_(n+1) = next(s_n, row n).

    What is stated of row n reads s_n: what the rows before it make.
    """

    block: Block
    """By its name; its domain is what is claimed of it before every row, to be shown by induction."""
    start: Formula
    """Without data."""
    next: Formula
    """The value after ONE datum, by all states before it; that of a solution after one stage of a step."""
    solves: str = ""
    """The entry of `solve` that it belongs to."""
    staged: bool = False
    """Whether it passes on at every stage of every step, before its row is read."""


@dataclass(frozen=True, slots=True)
class Stages:
    """How states of solutions pass from row to row: in so many steps, each of the same stages."""

    steps: int
    weights: tuple[tuple[str, tuple[Fraction, ...]], ...]
    """Names in `next` to their numbers by stage; they are blocks there, as states are."""
    order: int
    says: str
    """The method and its steps, in words."""
    time: str
    slopes: Formulas
    """Solution z to dz/dt, as it is stated."""


@dataclass(frozen=True, slots=True)
class Target:
    """A statistical model: U = -log_prior - sum_n log_likelihood_n, or a `potential`, or code for grad U, alone."""

    name: str
    declarations: Declarations
    potential: Formula | None = None
    log_prior: Formula | None = None
    log_likelihood: Formula | None = None
    """That of ONE datum; with a recursion, by its states before it, which are blocks there and in no declarations."""
    gradient: Code | None = None
    """What computes grad U where no formula states U: nothing about it is proved."""
    title: str = ""
    references: tuple[str, ...] = ()
    source: Source = field(default=Source("", "{}"), compare=False)
    laws: tuple[tuple[str, Law], ...] = ()
    """Block to its claimed law given all others, about the blocks as declared."""
    transforms: tuple[Transform, ...] = ()
    """Blocks whose unbounded variables the formulas are about."""
    declared: "Target | None" = None
    """The target before these transforms; None without any."""
    stated: Stated = Stated()
    """The named densities in it."""
    derived: Formulas = ()
    """Name to what is computed from every draw, of the blocks as declared (`spec/let.py`)."""
    assumes_integral: bool = False
    """Whether its author states that exp(-U) has a finite integral: it is then given, never proved."""
    recursion: tuple[RowState, ...] = ()
    """The states that pass from row to row. With any, U is no sum of independent rows (`spec/recursion.py`)."""
    stages: Stages | None = None
    """Those of the method by which some of the states solve differential equations (`spec/solve.py`)."""

    @property
    def as_declared(self) -> "Target":
        """The target in the blocks that its author declares."""
        return self.declared or self

    @property
    def is_open(self) -> bool:
        """Whether U is any: its gradient, and U where a move needs it, are arguments of the module."""
        return self.gradient is not None and not self.gradient.stated


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a parameter: exact numbers row by row, or an array file."""

    numbers: Rows | None = None
    """A scalar is 1 x 1, a column is n x 1."""
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class MadeColumn:
    """A column that is made of others, row by row."""

    name: str
    formula: Formula
    """That of ONE row: the columns in it are data that are numbers. A comparison is 1 where it holds, else 0."""
    uses: tuple[str, ...]
    """The columns in the formula, of the file or made before."""
    whole: str = ""
    """What is taken of the formula's values in all rows, `mean`, `sd`, `centre` or `standardise`; empty: the values."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """Where the data come from and which columns make which field."""

    file: Path
    columns: tuple[tuple[str, tuple[str, ...]], ...]
    """Field of the target to the columns of the file that make it."""
    standardise: tuple[str, ...] = ()
    intercept: bool = False
    indicators: tuple[tuple[str, int], ...] = ()
    """Fields that hold a one at the place that their one column counts, and how many places they have."""
    from_one: tuple[str, ...] = ()
    """Index fields whose columns count positions from 1."""
    names: tuple[str, ...] = ()
    """Names of the columns of a plain array, in order."""
    dtype: str = "float64"
    """In what the data are stored, `float64` or `float32`; arithmetic is in float64."""
    shuffle: int | None = None
    """Seed of the random order that the rows are put in; None: as in the file."""
    shuffled: bool = False
    """Whether the build says that the file's rows stand in random order."""
    arrays: tuple[tuple[str, Path], ...] = ()
    """Field of the target to the `.npy` file that is this field as a whole, mapped; `file` is the first of them."""
    made: tuple[MadeColumn, ...] = ()
    """Columns that are made of those of the file, as far as fields need them, each after those that it uses."""

    @property
    def read(self) -> tuple[str, ...]:
        """The columns of the file that fields are made of, directly or by made columns, each once."""
        used = [names for _, names in self.columns] + [column.uses for column in self.made]
        made = {column.name for column in self.made}
        return tuple(dict.fromkeys(name for names in used for name in names if name not in made))


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The rows that only scores see: a share of those of the data, or those of another file."""

    share: Fraction | None = None
    seed: int = 0
    """Of the draw of a share."""
    file: DataFile | None = None
    """As that of the data, but for the names of files."""


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field of the data: `[N]` for a scalar datum, `[N, k]` for a vector, contiguous, float64 or float32.

    Positions of an index field are int64.
    """

    name: str
    values: "NDArray[np.floating[Any]] | NDArray[np.int64]"
    columns: tuple[str, ...]


UNREAD = "its data cannot be used: "
"""What begins why the data of a build, which might be read, are not known."""
GIVEN = "the data given"
"""In place of the name of a file, of data that are given in Python."""


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The fields of a target, in the order declared."""

    fields: tuple[Field, ...] = ()
    file: str = ""
    """The name of the file that they were read from, or `GIVEN`."""
    sizes: tuple[tuple[str, int], ...] = ()
    """What a build and they fix."""
    columns: "Mapping[str, NDArray[np.float64]]" = field(default_factory=dict[str, "NDArray[np.float64]"])
    """The columns of the file that made ones are made of."""
    test: "Data | None" = None
    """The rows that are held out, of which these have none."""

    @property
    def rows(self) -> int:
        """The number of data."""
        return self.fields[0].values.shape[0] if self.fields else 0

    @property
    def arrays(self) -> "dict[str, NDArray[Any]]":
        """Field of the target to its numbers, the first axis counting the data."""
        return {field.name: field.values for field in self.fields}


@dataclass(frozen=True, slots=True)
class Schedule:
    """How the step size falls along a chain, from `step_size` at its start (`run/schedule.py`)."""

    name: str = "constant"
    """`constant`, `power` or `cyclic`."""
    b: float = 1.0
    """The number of steps after which a step size of `power` falls."""
    c: float = 0.0
    """How fast a step size of `power` falls."""
    period: int = 1
    """The steps of a cycle of `cyclic`."""

    @property
    def in_the_limit(self) -> str:
        """What averages weighted by eps_t tend to as chains grow (Teh, Thiery, Vollmer 2016, for SGLD); "" if constant.

        Theirs needs eps_t -> 0 and sum eps_t = oo; Welling and Teh (2011) ask for sum eps_t**2 < oo as well.
        """
        means = "averages weighted by eps_t tend to those of exp(-H) (Teh, Thiery, Vollmer 2016, for SGLD)"
        if self.name == "power" and self.c > 0.5:
            return f"sum eps_t = oo and sum eps_t**2 < oo; {means}"
        if self.name == "power":
            return f"sum eps_t = oo and, since c <= 1/2, sum eps_t**2 = oo; still {means}, fastest with c = 1/3"
        kept = "eps_t does not tend to 0: averages keep the discretisation bias of a step, where it has one"
        return kept if self.name == "cyclic" else ""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How long to run; every name as in the `run:` section and the options of `recipe run`."""

    step_size: float | None
    """None: `auto`, which `advise` replaces by a number before a run."""
    draws: int = 1000
    warmup: int = 1000
    thin: int = 1
    chains: int = 4
    seed: int = 0
    batch_size: int | None = None
    lanes: bool = False
    """Whether chains are run 64 side by side, with the noise of lanes: other draws of the same law."""
    schedule: Schedule = Schedule()

    @property
    def eps(self) -> float:
        """The step size of a run that has one."""
        if self.step_size is None:
            raise CompilerError("found a run whose step size is not chosen yet, expected a number")
        return self.step_size


@dataclass(frozen=True, slots=True)
class Control:
    """The parameters that hold a block of the target at the mode, and the gradient of U by it there."""

    mode: str
    at_mode: str


@dataclass(frozen=True, slots=True)
class Score:
    """A number that a run computes from its draws, and from growing parts of them (`run/scores.py`)."""

    name: str
    kind: str
    """`ks`, `kl` or `log_predictive`."""
    of: Formula | None = None
    """The quantity, of the target's blocks as declared; None of `log_predictive`."""
    law: "Law | Formula | None" = None
    """The law that it is compared with, data in it as all of their rows; or an unnormalised density of `VALUE`."""
    bins: int = 0
    range: tuple[float, float] = (0.0, 0.0)
    """The interval that the bins divide."""

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """All that it is made of."""
        law = self.law.arguments if isinstance(self.law, Law) else (self.law,)
        return tuple(one for one in (self.of, *law) if one is not None)


VALUE = Symbol("the value", SCALAR, Role.BLOCK)
"""The number that a density of a score is a function of."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What is said of a refuted build wherever it is run or emitted: it is a negative control."""

    claims: tuple[str, ...]
    """The refuted claims, each with a witness."""
    runs: str
    """What is run: the claimed equation, or the recipe's; with which noise."""


@dataclass(frozen=True, slots=True)
class Build:
    """Everything one emitted module needs."""

    name: str
    dynamics: Dynamics
    target: Target
    bind: Formulas
    """Parameter or function of the dynamics to the formula bound to it."""
    parameters: tuple[Parameter, ...]
    """New parameters declared by the build (those of dynamics and target keep their own declarations)."""
    values: tuple[tuple[str, Value], ...]
    """Value of each parameter of dynamics, target or build that is not bound."""
    scheme: Scheme
    variant: str
    """`full` or `minibatch`."""
    replacement: bool
    """Whether a minibatch is drawn with replacement."""
    V: Formula
    """Covariance of the minibatch gradient, of the potential block's square shape."""
    sizes: tuple[tuple[str, int], ...]
    data: DataFile | None
    init: Formulas
    run: RunSettings
    source: Source = field(default=Source("", "{}"), compare=False)
    contiguous: bool = False
    """Whether a minibatch is a block of consecutive rows, the first row following the last."""
    control: tuple[Control, ...] = ()
    """The control variates of a gradient, by the blocks of the target in order; empty without."""
    estimated: str | None = None
    """The parameter that V is made of where a run estimates it: a matrix, or a vector for its diagonal."""
    moving: float | None = None
    """The least weight of the newest estimate, where V follows each chain."""
    stated_step_size: Fraction | None = None
    """eps as the document writes it; a run takes the double nearest to it, `run.step_size`."""
    derived: Formulas = ()
    """As of the target, which may have more."""
    scores: tuple[Score, ...] = ()
    test: HeldOut | None = None
    diagnostics: bool = False
    """Whether the emitted file holds what tells of a run: `recipe run` has it whatever this says."""
    share: float = 0.02
    """By what part of it a posterior sd may be off, of `step_size: auto`."""
    accept: float = 0.8
    """The mean probability that moves shall be accepted with, of `step_size: auto`."""
    warmup_seconds: float = 60.0
    """The processor seconds that chains may take to choose what is left open, of `step_size: auto`."""
    assumes_integral: bool = False
    """Whether its author states that exp(-U) has a finite integral, as of a target."""
    named: Dynamics | None = field(default=None, compare=False, repr=False)
    """The dynamics as their own document has them, where it has other names (`clashing_names.py`) or a whole H."""
    observed: Data | str = field(default="", compare=False, repr=False)
    """The data, read once, or why they are not known yet."""
    W: Formula | None = None
    """The covariance of the noise that is added to each gradient, of the shape of V; None where none is."""
    mark: Mark | None = field(default=None, compare=False)
    """Of a build that is run although it is refuted (`report/refuted.py`); nothing is proved of one that has it."""

    @property
    def parts(self) -> Mapping[str, Dynamics | Target | Scheme]:
        """The documents that it names, by their kinds, as they state them."""
        scheme, use = {"scheme": self.scheme} if self.scheme.is_used else {}, self.scheme.use
        used = {} if use is None or use.document is None else {"use": use.document}
        target = {} if self.is_complete else {"target": self.target}
        return {"dynamics": self.stated_dynamics, **target, **scheme, **used}

    @property
    def stated_dynamics(self) -> Dynamics:
        """The dynamics as their own document states them: of a cycle that has a `Use`, not those that are followed."""
        return self.named or self.dynamics if self.scheme.use is None else self.scheme.use.own

    @property
    def is_complete(self) -> bool:
        """Whether its document names no target, as H of its dynamics has no U to fill (`spec/complete.py`)."""
        return self.stated_dynamics.potential is None

    @property
    def eps(self) -> Fraction:
        """The step size, exactly: as it is stated where that is what runs, else the double itself."""
        stated = self.stated_step_size
        return stated if stated is not None and float(stated) == self.run.eps else Fraction(self.run.eps)

    @property
    def codes(self) -> tuple[Code, ...]:
        """The functions of its author that a run calls, each once: the gradient of its target, then its moves."""
        gradient = () if self.target.gradient is None else (self.target.gradient,)
        moves = (move.code for move in self.scheme.cycle if isinstance(move, CodeMove))
        return tuple(dict.fromkeys((*gradient, *moves)))

    @property
    def has_exact_gradient(self) -> bool:
        """Whether a step takes grad U as it is: of all data, and without noise that is added."""
        return self.variant == "full" and self.W is None

    @property
    def has_acceptance(self) -> bool:
        """Whether a move of its scheme is a word that is accepted or refused."""
        return any(isinstance(move, Metropolis) for move in self.scheme.cycle)

    @property
    def is_exact_at_every_step(self) -> bool:
        """Whether its scheme is a cycle without words, of moves that preserve exp(-H) at every step size."""
        exact = all(isinstance(move, Refresh | Draw | Cir | Involution) for move in self.scheme.cycle)
        return bool(self.scheme.cycle) and exact and self.variant == "full"

    @property
    def is_planned(self) -> bool:
        """Whether step size, and values that are not stated, are chosen from the data before a run."""
        return self.run.step_size is None

    @property
    def estimates(self) -> frozenset[str]:
        """The parameters whose values a run estimates from the data before it begins."""
        of_control = (name for one in self.control for name in (one.mode, one.at_mode))
        return frozenset((*of_control, *([] if self.estimated is None else [self.estimated])))


Document = Dynamics | Target | Scheme | Build
"""Whatever a file may hold."""

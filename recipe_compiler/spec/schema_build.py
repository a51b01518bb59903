"""What may stand under the keys of a build."""

from fractions import Fraction
from typing import Annotated, Literal

from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.fields import (
    A_CYCLE,
    SOME,
    Bins,
    Chains,
    Count,
    CountOrZero,
    FilePath,
    FlipField,
    FormulaText,
    KeepField,
    Keywords,
    Kinds,
    MovesNumber,
    Name,
    Names,
    Numbers,
    Positive,
    Probability,
    Range,
    Raw,
    RefreshField,
    ScaleNumber,
    ScoreText,
    Seed,
    ShapeField,
    SizeNumber,
    SomeNames,
    StepsField,
    StepSize,
    StepsNumber,
    Text,
    Truth,
    Weight,
    check_move,
    check_moves,
    left_out,
)
from recipe_compiler.spec.model import MOST_MOVES
from recipe_compiler.spec.schema import Document, Part
from recipe_compiler.spec.schema_scheme import WordEntry
from recipe_compiler.spec.schema_target import Derived


class BuildParameterEntry(Part):
    """A new parameter with its value, or the value alone of one that dynamics or target declare."""

    shape: ShapeField | None = None
    is_: Kinds | None = None
    value: Numbers = None


class MetropolisEntry(WordEntry):
    """The word that a Metropolis move repeats, and what becomes of the start where it is refused."""

    steps: Annotated[StepsField, 'how often the word is done: 10, "uniform(1, 20)", "uniform(1, longest)"'] = (
        1,
        1,
    )
    flip: Annotated[FlipField, "signs that flip when the move is rejected: {r: -r}"] = ()

    scale: Annotated[ScaleNumber, "its steps are of the length scale*eps"] = Fraction(1)


class AuxiliaryEntry(Part):
    """What an involution draws for itself: a column, say, where a law alone is of a scalar."""

    shape: ShapeField = SCALAR
    law: Annotated[FormulaText, "N(m, cov), m of blocks and parameters, cov of parameters"]


Of = Annotated[
    dict[Name, SomeNames],
    SOME,
    "blocks that a word moves, the others held; `use` then names dynamics: {theta: beta, r: p}",
    Keywords(type=["object", "array"]),
]


class MoveEntry(Part):
    """One move of a cycle; the key that it has to have says which."""

    hint = f"each move is an item of its own: {A_CYCLE}"
    every: Annotated[StepsNumber, "the move is done in each n-th cycle, the first of a chain on"] = 1
    repeat: Annotated[MovesNumber, "how often the move is done in a row"] = 1


class RefreshEntry(MoveEntry):
    """A block drawn given all others."""

    refresh: Annotated[RefreshField, "a block drawn given all others; {r: 0.9} keeps that share of it"]


class DrawEntry(MoveEntry):
    """A block of the target drawn from its law given all others."""

    draw: Annotated[Name, "a block of the target drawn from its law given all others, one of its `laws`"]
    slice: Annotated[
        FormulaText | None, "of one_hot rows: log w, below which levels are drawn, u_n ~ Uniform(0, w[z_n])"
    ] = None
    left: Annotated[FormulaText | None, "by slices: log of the remaining weight; levels below it are counted"] = None


class CirEntry(MoveEntry):
    """A block of the target moved by the flow that preserves its law given all others."""

    cir: Annotated[Name, "a block of the target moved by an exact flow that preserves its Gamma law under `laws`"]


class InvolutionEntry(MoveEntry):
    """An involution that is accepted or rejected."""

    involution: Annotated[
        dict[Name, FormulaText],
        "blocks and draws to their new values; twice is the identity: {theta: theta*exp(w), w: -w}",
    ]
    draws: Annotated[
        dict[Name, FormulaText | AuxiliaryEntry], "what an involution draws first, by its law: {w: N(0, s**2)}"
    ] = {}
    log_ratio: Annotated[
        FormulaText | None,
        "claimed: the log of an involution's acceptance ratio beside H(z) - H(z'), which is derived",
    ] = None


class CodeEntry(MoveEntry):
    """A function of a Python file, which is not proved."""

    code: Annotated[Text, "my_moves.py:swap, a function that changes blocks of the dynamics; not proved: see `keeps`"]
    changes: Annotated[SomeNames, "the blocks of the dynamics that it changes, which it takes first"]
    reads: Annotated[Names, "other blocks that it takes, and leaves as they are"] = []
    keeps: Annotated[Literal["exp(-H)"], "exp(-H), which its author states that it preserves: assumed, not proved"]


class WordMove(MoveEntry, WordEntry):
    """A word as it comes, of all blocks or of some."""

    of: Of = {}
    steps: Annotated[StepsNumber, "how often the word is done"] = 1


class MetropolisMove(MoveEntry):
    """A word that is accepted or rejected as a whole, of all blocks or of some."""

    metropolis: Annotated[MetropolisEntry, check_move, left_out, "the word"]
    of: Of = {}
    use: Annotated[FilePath | None, "beside `of`: dynamics, relative to this file"] = None


WordStated = MetropolisMove | WordMove
MoveStated = RefreshEntry | DrawEntry | CirEntry | InvolutionEntry | CodeEntry | WordStated


class SchemeEntry(WordEntry):
    """The rule that makes one step of a chain: one of Euler's, or a word."""

    words = dict[int, WordStated]()
    """Those of a cycle's moves."""
    order: Annotated[list[Name], "blocks in the order they are updated"] = []
    reflect: Annotated[SomeNames, "blocks that an Euler step reflects at 0, with their momenta"] = []
    scale: Annotated[dict[Name, ScaleNumber], "blocks to s: their steps are of the length s*eps"] = {}
    keep: Annotated[KeepField | None, "after which letter draws are kept: O, or 2"] = None


class CycleEntry(Part):
    """The rule that makes one step of a chain: a cycle of moves."""

    hint = "a word goes into a move, with its pieces and flows; a cycle fixes the order, and keeps draws at its end"
    cycle: Annotated[
        Annotated[list[Annotated[MoveStated, check_move]], check_moves, Keywords(minItems=1, maxItems=MOST_MOVES)],
        "moves in order, each done once: [{refresh: r}, {metropolis: {split: [B/2, A, B/2]}}]",
    ]

    @property
    def words(self) -> dict[int, WordStated]:
        """The moves of a cycle that repeat a word, by their places."""
        return {place: own for place, own in enumerate(self.cycle) if isinstance(own, WordStated)}


class GradientNoiseEntry(Part):
    """Covariance of the noise of the gradient: of what is subtracted, and of what is added."""

    V: Annotated[FormulaText, "a formula, or `estimate`: from the data, before the run"] = "0"
    form: Annotated[Literal["dense", "diagonal"], "of an estimated V"] = "dense"
    moving: Annotated[
        Weight | None, "of an estimated V: it follows each chain, the newest estimate having this weight at least"
    ] = None
    add: Annotated[FormulaText, "W: each gradient gets noise N(0, W), new wherever it is evaluated"] = "0"


class MinibatchEntry(Part):
    """How a minibatch is drawn, and what is estimated from it."""

    replacement: Annotated[Truth, "draw data with replacement; false: all of a batch differ"] = False
    blocks: Annotated[Literal["contiguous"] | None, "consecutive rows of shuffled data, starting at a random one"] = (
        None
    )
    control_variates: Annotated[
        Literal["mode"] | None, "differences to the gradients at the mode, which are summed once"
    ] = None


class DataEntry(Part):
    """The data; every other key is a field of the target with the columns of `file` that make it."""

    others: dict[str, Raw] = {}
    """Every other key."""
    file: Annotated[FilePath | None, "a table: .csv, .npy or .parquet, relative to this file"] = None
    arrays: Annotated[dict[Name, FilePath], "in place of `file`: field to the .npy file that is the whole field"] = {}
    names: Annotated[list[Text], "of all columns of a plain .npy array, in order"] = []
    columns: Annotated[dict[Name, FormulaText], "made columns: name to a formula of a row: {logx: log(x)}"] = {}
    dtype: Annotated[Literal["float64", "float32"], "storage; arithmetic is in float64"] = "float64"
    shuffle: Annotated[Seed | None, "seed of the random order that rows are put in"] = None
    shuffled: Annotated[Truth, "the rows of the file are in random order"] = False
    standardise: Names = []
    indicator: Annotated[
        Names,
        "fields of one column of whole numbers k = 0, 1, ...: a one at place k, else zeros",
    ] = []
    from_one: Annotated[
        Names,
        "index fields whose columns count positions 1, 2, ... in place of 0, 1, ...",
    ] = []
    intercept: Truth = False


class TestEntry(Part):
    """Rows that nothing but scores sees."""

    hint = "its columns are those that `data` names, and made in the same way"
    share: Annotated[Probability | None, "of the rows of the data, drawn at random"] = None
    seed: Annotated[Seed, "of this draw"] = 0
    file: Annotated[FilePath | None, "another table with the columns of that of `data`"] = None
    arrays: Annotated[dict[Name, FilePath], "other arrays for those of `data`"] = {}


class ScheduleEntry(Part):
    """How the step size falls along a chain: constant; (1 + t/b)**-c; or cycles of (1 + cos(pi t/period))/2."""

    name: Literal["constant", "power", "cyclic"]
    b: Annotated[Positive | None, "of power: steps, > 0"] = None
    c: Annotated[Positive | None, "of power: 0 < c <= 1"] = None
    period: Annotated[Count | None, "of cyclic: steps of a cycle"] = None


class RunEntry(Part):
    """How long to run; warmup counts draws, thin is the steps per kept draw."""

    step_size: Annotated[StepSize | None, "may be left out if every move is a draw from a law"] = None
    share: Annotated[Positive | None, "of `step_size: auto`: the largest relative error of a posterior sd (0.02)"] = (
        None
    )
    accept: Annotated[
        Probability | None,
        "of `step_size: auto`: the mean acceptance probability to aim at (0.8)",
    ] = None
    warmup_seconds: Annotated[
        Positive | None,
        "of `step_size: auto`: the most processor seconds to choose it (60)",
    ] = None
    draws: Count = 1000
    warmup: CountOrZero = 1000
    thin: Count = 1
    chains: Chains = 4
    seed: Seed = 0
    batch_size: Count | None = None
    lanes: Annotated[Truth, "64 chains side by side, with noise of their own"] = False
    diagnostics: Annotated[Truth, "the emitted file also forecasts what a run samples"] = False
    schedule: ScheduleEntry = ScheduleEntry(name="constant")


OF_AUTO = ("share", "accept", "warmup_seconds")
"""Settings of a run that `step_size: auto` alone has."""


class ScoreEntry(Part):
    """The distance of the draws of a quantity to a stated law."""

    ks: Annotated[FormulaText | None, "Kolmogorov-Smirnov distance of a number or column: theta, theta[0], omega"] = (
        None
    )
    kl: Annotated[FormulaText | None, "KL(draws || law) of a number, by a histogram"] = None
    law: Annotated[FormulaText, "N(0, 1), Dirichlet(alpha + ones); of `kl` also a density: exp(-theta[0]**4)"]
    bins: Annotated[Bins | None, "of `kl`: intervals of equal length (100)"] = None
    range: Annotated[Range | None, "of `kl`: what they divide, [-4, 4]"] = None


class BuildDocument(Document):
    """Everything one emitted module needs."""

    dynamics: Annotated[FilePath, "relative to this file"]
    target: Annotated[FilePath | None, "relative to this file; left out, U is an argument, or all of H is stated"] = (
        None
    )
    bind: dict[Name, FormulaText] = {}
    parameters: dict[Name, BuildParameterEntry] = {}
    scheme: CycleEntry | SchemeEntry
    variant: Literal["full", "minibatch"]
    gradient_noise: GradientNoiseEntry = GradientNoiseEntry()
    minibatch: MinibatchEntry | None = None
    sizes: dict[Name, SizeNumber] = {}
    assume: Annotated[list[Literal["normalisable"]], "that exp(-U) has a finite integral: assumed, not proved"] = []
    data: DataEntry | None = None
    test: TestEntry | None = None
    init: dict[Name, FormulaText] = {}
    derived: Derived = {}
    scores: Annotated[dict[Name, ScoreText | ScoreEntry], "computed from the draws, part by part"] = {}
    run: Annotated[RunEntry, left_out] = RunEntry()

"""The four kinds of document: the keys they are known by, which there are and what may stand under them.

Texts that are formulas stay text here; their readers (`read_dynamics`, `read_target`, ...) elaborate them.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.spec.fields import (
    MOST_MOVES,
    Chains,
    CirField,
    Count,
    CountOrZero,
    DataKinds,
    DrawField,
    FilePath,
    FlipField,
    Format,
    FormulaText,
    KeepField,
    Kinds,
    LeftOut,
    Matrix,
    MoveField,
    MovesField,
    MovesNumber,
    Name,
    Numbers,
    OneOrMore,
    OneOrMoreParts,
    OrderNumber,
    Pairs,
    Positive,
    Probability,
    RefreshField,
    RowStateKinds,
    SchemeName,
    Seed,
    ShapeField,
    SizeField,
    SizeNumber,
    StepsField,
    StepSize,
    StepsNumber,
    Summands,
    Text,
    Truth,
    WholeNumber,
    WordField,
)

BUILD = frozenset({"dynamics", "target", "bind", "scheme", "variant", "run", "sizes", "gradient_noise", "init"})
DYNAMICS = frozenset({"H", "D", "Q", "claims", "functions"})
TARGET = frozenset({"let", "potential", "recursion", "log_prior", "log_likelihood", "gradient", "data"})
SCHEME = frozenset({"split", "pieces", "cycle"})

KINDS = (("build", BUILD), ("scheme", SCHEME), ("dynamics", DYNAMICS), ("target", TARGET))
"""Kinds with the keys that tell them, the first first where a document has as many of two."""
EACH_HAS = (
    "dynamics have H, D and Q; a target has log_likelihood or potential; a build has dynamics and target; a scheme has "
    "split"
)


class Part(BaseModel):
    """A mapping whose keys are all known."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, defer_build=True)


class BlockEntry(Part):
    """A block of the state."""

    shape: ShapeField = SCALAR
    domain: Annotated[
        FormulaText,
        Field(description="real, positive, nonnegative, interval(a, b), circle, simplex, one_hot"),
    ] = "real"


class TargetBlockEntry(BlockEntry):
    """A block of a target's state."""

    transform: Literal["log", "logit", "stick_breaking"] | None = None
    constraint: Annotated[
        FormulaText | None,
        Field(
            description="positive, lower(a), upper(b), interval(a, b), ordered, positive_ordered, simplex, "
            "unit_vector, cholesky_factor_corr, corr_matrix, cholesky_factor_cov, cov_matrix"
        ),
    ] = None


class ParameterEntry(Part):
    """A constant of the chain."""

    shape: ShapeField = SCALAR
    is_: Annotated[Kinds, Field(alias="is")] = (Kind.REAL,)
    default: FormulaText | None = None


class FunctionEntry(Part):
    """A function of blocks, abstract until it is bound."""

    of: Annotated[list[Name], OneOrMore, Field(min_length=1), WithJsonSchema({"type": ["string", "array"]})]
    shape: ShapeField = SCALAR
    is_: Annotated[Kinds, Field(alias="is")] = (Kind.REAL,)
    role: Literal["potential", ""] = ""


class DatumEntry(Part):
    """A field of the data; the first size counts the data."""

    shape: ShapeField
    in_: Annotated[list[WholeNumber] | None, Field(alias="in")] = None
    is_: Annotated[DataKinds, Field(alias="is")] = (Kind.REAL,)
    index_of: Annotated[
        SizeField | None, Field(description="the length of an axis along which each datum is a position, from 0")
    ] = None


class NoiseEntry(Part):
    """A standard normal draw that several blocks of a claimed update share."""

    shape: ShapeField = SCALAR


class ClaimsEntry(Part):
    """What an author states; each is decided apart."""

    drift: dict[Name, FormulaText] | None = None
    diffusion: Matrix = None
    interpretation: Literal["ito", "stratonovich"] = "ito"
    marginal: dict[Name, FormulaText] | None = None
    lyapunov: Annotated[
        FormulaText | None, Field(description="W(z) with L W <= c (1 + W) that goes to infinity with z")
    ] = None
    update: dict[Name, FormulaText] | None = None
    noise: dict[Name, Annotated[NoiseEntry, LeftOut]] = {}


class Document(Part):
    """What every document may say about itself."""

    format: Format = 1
    name: Name
    title: Text = ""
    references: Annotated[list[Text], Field(description="keys of references.bib")] = []


class DynamicsDocument(Document):
    """The mathematics of a sampler: state, energy H, diffusion D, curl Q, and what its author claims."""

    state: Annotated[dict[Name, Annotated[BlockEntry, LeftOut]], Field(min_length=1)]
    parameters: dict[Name, Annotated[ParameterEntry, LeftOut]] = {}
    functions: dict[Name, FunctionEntry] = {}
    assume: list[FormulaText] = []
    units: Annotated[
        dict[Name, FormulaText], Field(description="unit of blocks, parameters and functions, such as `length/time`")
    ] = {}
    H: FormulaText
    D: Matrix = None
    Q: Matrix = None
    claims: Annotated[ClaimsEntry, LeftOut] = ClaimsEntry()


Laws = Annotated[
    dict[Name, FormulaText],
    Field(description="block to its law given all others, in which data are all rows: Gamma(a + N/2, b + ...)"),
]


Derived = Annotated[
    dict[Name, FormulaText],
    Field(description="name to what is computed from every draw: a formula of the target's blocks, parameters, sizes"),
]


class RowStateEntry(Part):
    """A state that passes from one row of the data to the next."""

    shape: ShapeField = SCALAR
    is_: Annotated[RowStateKinds, Field(alias="is")] = (Kind.REAL,)
    start: Annotated[FormulaText, Field(description="the state before the first row")]
    next: Annotated[FormulaText, Field(description="the state after a row: of the states before it, and of its data")]


Recursion = Annotated[
    dict[Name, RowStateEntry],
    Field(description="states that pass from row to row, which log_likelihood reads as they are before its row"),
]


class TargetDocument(Document):
    """A statistical model: log_prior and log_likelihood of one datum, or a potential alone."""

    state: Annotated[dict[Name, Annotated[TargetBlockEntry, LeftOut]], Field(min_length=1)]
    data: dict[Name, DatumEntry] = {}
    parameters: dict[Name, Annotated[ParameterEntry, LeftOut]] = {}
    assume: list[FormulaText] = []
    potential: FormulaText | None = None
    let: Annotated[dict[Name, FormulaText], Field(description="names for parts of the formulas below")] = {}
    recursion: Recursion = {}
    log_prior: FormulaText | None = None
    log_likelihood: FormulaText | None = None
    gradient: Annotated[Text | None, Field(description="my_gradient.py:grad_U, code that is not proved")] = None
    laws: Laws = {}
    derived: Derived = {}


class BuildParameterEntry(Part):
    """A new parameter with its value, or the value alone of one that dynamics or target declare."""

    shape: ShapeField | None = None
    is_: Annotated[Kinds | None, Field(alias="is")] = None
    value: Numbers = None


class SelectionEntry(Part):
    """Places of D and Q, and summands of H, that belong to a piece."""

    D: Annotated[Pairs, Field(description="all, or pairs of blocks")] = ()
    Q: Annotated[Pairs, Field(description="all, or pairs of blocks, each with the one across the diagonal")] = ()
    H: Annotated[Summands, Field(description="all, or names of summands: a function in it, or its blocks")] = None
    Gamma: Annotated[Pairs, Field(description="places whose d(D+Q)_ab/dz_b belongs here")] = ()


Pieces = dict[Name, Annotated[list[SelectionEntry], OneOrMore, Field(min_length=1), OneOrMoreParts()]]
"""What each letter of a word selects."""


Flows = Annotated[
    dict[Name, Literal["midpoint", "generalised", "reflected"]],
    Field(description="numerical flows of pieces that have no exact one, or whose exact one is not wanted"),
]


class WordEntry(Part):
    """A word that is stated, named or of a document, with what its letters select and how they move."""

    name: SchemeName | None = None
    use: Annotated[FilePath | None, Field(description="a document of a scheme, relative to this file")] = None
    split: Annotated[WordField | None, Field(description="pieces with their shares: [B/2, A/2, O, A/2, B/2]")] = None
    pieces: Pieces = {}
    flows: Flows = {}


class MetropolisEntry(WordEntry):
    """The word that a Metropolis move repeats, and what becomes of the start where it is refused."""

    steps: Annotated[StepsField, Field(description='how often the word is done: 10, or "uniform(1, 20)"')] = (1, 1)
    flip: Annotated[FlipField, Field(description="signs that are turned where the move is refused: {r: -r}")] = ()


class AuxiliaryEntry(Part):
    """What an involution draws for itself: a column, say, where a law alone is of a scalar."""

    shape: ShapeField = SCALAR
    law: Annotated[FormulaText, Field(description="N(m, cov), m of blocks and parameters, cov of parameters")]


class MoveEntry(WordEntry):
    """One move of a cycle: a refresh, a draw or flow by a law, a Metropolis move, an involution, or a word."""

    refresh: Annotated[
        RefreshField, Field(description="a block drawn given all others; {r: 0.9} keeps that share of it")
    ] = None
    draw: Annotated[
        DrawField, Field(description="a block of the target drawn from its law given all others, one of its `laws`")
    ] = None
    cir: Annotated[
        CirField,
        Field(description="a block of the target moved by the exact flow that keeps its Gamma law, one of its `laws`"),
    ] = None
    metropolis: Annotated[
        MetropolisEntry | None, MoveField, LeftOut, Field(description="a word that is accepted, or refused, as a whole")
    ] = None
    involution: Annotated[
        dict[Name, FormulaText] | None,
        Field(description="blocks and draws to what they become; twice is once nothing: {theta: theta*exp(w), w: -w}"),
    ] = None
    draws: Annotated[
        dict[Name, FormulaText | AuxiliaryEntry],
        Field(description="what an involution draws first, by its law: {w: N(0, s**2)}"),
    ] = {}
    log_ratio: Annotated[
        FormulaText | None,
        Field(description="claimed: the log of an involution's acceptance ratio beside H(z) - H(z'), which is derived"),
    ] = None
    steps: Annotated[StepsNumber, Field(description="how often the word is done")] = 1
    every: Annotated[StepsNumber, Field(description="the move is done in each n-th cycle, the first of a chain on")] = 1
    repeat: Annotated[MovesNumber, Field(description="how often the move is done in a row")] = 1


class SchemeEntry(WordEntry):
    """The rule that makes one step of a chain: one of Euler's, a word, or a cycle of moves."""

    order: Annotated[list[Name], Field(description="blocks in the order they are updated")] = []
    keep: Annotated[KeepField | None, Field(description="after which letter draws are kept: O, or 2")] = None
    cycle: Annotated[
        Annotated[list[Annotated[MoveEntry, MoveField]], MovesField, Field(min_length=1, max_length=MOST_MOVES)] | None,
        Field(description="moves in order, each done once: [{refresh: r}, {metropolis: {split: [B/2, A, B/2]}}]"),
    ] = None


class WordClaimsEntry(Part):
    """What the author of a scheme states of its word; each is decided apart."""

    order: Annotated[OrderNumber | None, Field(description="weak order, for every dynamics")] = None
    palindrome: Annotated[Truth, Field(description="the word is its own reverse")] = False
    gradients: Annotated[CountOrZero | None, Field(description="evaluations of the gradient in one step")] = None
    configurational: Annotated[
        Literal["exact"] | None, Field(description="of a quadratic U: the covariance of theta is that of exp(-U)")
    ] = None


class SchemeDocument(Document):
    """A step as a word: pieces in the order they are done, each with its share of the step."""

    split: Annotated[WordField, Field(description="pieces with their shares: [B/2, A/2, O, A/2, B/2]")]
    pieces: Annotated[Pieces, Field(description="left out: those that follow from the dynamics")] = {}
    flows: Flows = {}
    keep: Annotated[KeepField | None, Field(description="after which letter draws are kept: O, or 2")] = None
    claims: Annotated[WordClaimsEntry, LeftOut] = WordClaimsEntry()


class GradientNoiseEntry(Part):
    """Covariance of the minibatch gradient."""

    V: Annotated[FormulaText, Field(description="a formula, or `estimate`: from the data, before the run")] = "0"
    form: Annotated[Literal["dense", "diagonal"], Field(description="of an estimated V")] = "dense"


class StreamEntry(Part):
    """Which random numbers the noise of a step is made of."""

    generator: Annotated[
        Literal["xoshiro", "philox", "numpy"],
        Field(description="xoshiro256++; Philox counters; a numpy.random.Generator of each chain"),
    ] = "xoshiro"


class MinibatchEntry(Part):
    """How a minibatch is drawn, and what is estimated from it."""

    replacement: Annotated[Truth, Field(description="draw data with replacement; false: all of a batch differ")] = False
    blocks: Annotated[
        Literal["contiguous"] | None, Field(description="consecutive rows of shuffled data, from a random one on")
    ] = None
    control_variates: Annotated[
        Literal["mode"] | None, Field(description="differences to the gradients at the mode, which are summed once")
    ] = None


class DataEntry(BaseModel):
    """The data; every other key is a field of the target with the columns of `file` that make it."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    file: Annotated[FilePath | None, Field(description="a table: .csv, .npy or .parquet, relative to this file")] = None
    arrays: Annotated[
        dict[Name, FilePath], Field(description="in place of `file`: field to the .npy file that is the whole field")
    ] = {}
    names: Annotated[list[Text], Field(description="of all columns of a plain .npy array, in order")] = []
    columns: Annotated[
        dict[Name, FormulaText], Field(description="made columns: name to a formula of a row: {logx: log(x)}")
    ] = {}
    memory_map: Annotated[Truth, Field(description="map the data, converted once, instead of loading them")] = False
    dtype: Annotated[Literal["float64", "float32"], Field(description="storage; arithmetic is in float64")] = "float64"
    shuffle: Annotated[Seed | None, Field(description="seed of the random order that rows are put in")] = None
    shuffled: Annotated[Truth, Field(description="the rows of the file stand in random order")] = False
    standardise: Annotated[list[Name], OneOrMore, WithJsonSchema({"type": ["string", "array"]})] = []
    indicator: Annotated[
        list[Name],
        OneOrMore,
        Pairs,
        WithJsonSchema({"type": ["string", "array"]}),
        Field(description="fields of one column of whole numbers k = 0, 1, ...: a one at place k, else zeros"),
    ] = []
    from_one: Annotated[
        list[Name],
        OneOrMore,
        WithJsonSchema({"type": ["string", "array"]}),
        Field(description="index fields whose columns count positions 1, 2, ... in place of 0, 1, ..."),
    ] = []
    intercept: Truth = False


class ScheduleEntry(Part):
    """How the step size falls along a chain: constant; (1 + t/b)**-c; or cycles of (1 + cos(pi t/period))/2."""

    name: Literal["constant", "power", "cyclic"]
    b: Annotated[Positive | None, Field(description="of power: steps, > 0")] = None
    c: Annotated[Positive | None, Field(description="of power: 0 < c <= 1")] = None
    period: Annotated[Count | None, Field(description="of cyclic: steps of a cycle")] = None


class RunEntry(Part):
    """How long to run; warmup counts draws, thin is the steps per kept draw."""

    step_size: Annotated[
        StepSize | None, Field(description="may be left out where no move takes time: of draws by laws alone")
    ] = None
    share: Annotated[
        Positive | None, Field(description="of `step_size: auto`: by what part of it a posterior sd may be off (0.02)")
    ] = None
    accept: Annotated[
        Probability | None,
        Field(description="of `step_size: auto`: the mean probability that moves shall be accepted with (0.8)"),
    ] = None
    draws: Count = 1000
    warmup: CountOrZero = 1000
    thin: Count = 1
    chains: Chains = 4
    seed: Seed = 0
    batch_size: Count | None = None
    lanes: Annotated[Truth, Field(description="64 chains side by side, with noise of their own")] = False
    diagnostics: Annotated[Truth, Field(description="the emitted file also tells what a run samples")] = False
    schedule: ScheduleEntry = ScheduleEntry(name="constant")


class BuildDocument(Document):
    """Everything one emitted module needs."""

    dynamics: Annotated[FilePath, Field(description="relative to this file")]
    target: Annotated[FilePath, Field(description="relative to this file")]
    bind: dict[Name, FormulaText] = {}
    parameters: dict[Name, BuildParameterEntry] = {}
    scheme: SchemeEntry
    variant: Literal["full", "minibatch"]
    gradient_noise: GradientNoiseEntry = GradientNoiseEntry()
    noise: StreamEntry = StreamEntry()
    minibatch: MinibatchEntry | None = None
    sizes: dict[Name, SizeNumber] = {}
    assume: Annotated[
        list[Literal["normalisable"]], Field(description="that exp(-U) has a finite integral: given, not proved")
    ] = []
    data: DataEntry | None = None
    init: dict[Name, FormulaText] = {}
    derived: Derived = {}
    run: RunEntry

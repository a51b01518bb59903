"""What may stand under the keys of an experiment: builds to run, figures of their draws, and what a paper claims."""

from fractions import Fraction
from typing import Annotated, Literal

from recipe_compiler.spec.fields import (
    SOME,
    Chains,
    Count,
    CountOrZero,
    FilePath,
    FormulaText,
    Name,
    Positive,
    Probability,
    Raw,
    Seed,
    SomeNames,
    StepSize,
    Text,
    Truth,
)
from recipe_compiler.spec.schema import Document, Part


class ColumnEntry(Part):
    """A figure of every run: one statistic, of a coordinate of the posterior (`theta[0]`) or of a derived quantity."""

    title: Text = ""
    mean: Text | None = None
    sd: Text | None = None
    rmse: Annotated[Text | None, "root of the mean squared distance of draws from `to`"] = None
    to: FormulaText = "0"
    quantile: Annotated[Text | None, "at the probability `at`"] = None
    at: Probability | None = None
    score: Annotated[Name | None, "the final value of one of the build's `scores`"] = None
    forecast: Annotated[Text | None, "sd of a coordinate, by the linear step before anything is drawn"] = None
    cost: Annotated[
        Literal["ess_per_gradient", "ess_per_second", "ms_per_step", "seconds", "r_hat", "finite"] | None,
        "of the run: ESS is that of the coordinate with the fewest; `finite` the share of chains that stay finite",
    ] = None
    fact: Annotated[
        Literal["document", "verdict", "module", "trust", "command"] | None, "of the build or the document, in words"
    ] = None
    exact: Annotated[FormulaText | None, "what it should be: a number such as sqrt(2)"] = None
    oracle: Annotated[Text, "where `exact` comes from"] = ""


Columns = dict[Name, ColumnEntry]


class BestEntry(Part):
    """Of a sweep: the cells that are kept."""

    over: Annotated[Name, "the setting that is chosen, for each combination of the others"]
    by: Annotated[Name, "the column that is least there"]


class SettingsEntry(Part):
    """Settings of a run, in the place of those of its build."""

    step_size: StepSize | None = None
    draws: Count | None = None
    warmup: CountOrZero | None = None
    thin: Count | None = None
    chains: Chains | None = None
    seed: Seed | None = None
    batch_size: Count | None = None


class SweepEntry(Part):
    """Settings of the cells of a sweep: all combinations."""

    batch_size: list[Count] = []
    thin: list[Count] = []
    step_size: list[Positive] = []
    seed: list[Seed] = []


class QuickEntry(SettingsEntry):
    """Settings of all runs with --quick."""

    values: Annotated[Count | None, "of each list of a sweep the first so many"] = None


class ExperimentRunEntry(Part):
    """A row of the table: a build that is run, documents that are checked alone, or what is missing and why."""

    title: Text = ""
    build: Annotated[Raw, "the name of a build, or the entries that the shared `build` leaves open"] = None
    check: Annotated[SomeNames | list[FilePath], "documents that are decided, and not run"] = []
    missing: Annotated[Text, "why there is no run"] = ""
    settings: SettingsEntry = SettingsEntry()
    for_: Annotated[SweepEntry, "a sweep: setting to its values; rows are averaged over those of `seed`"] = SweepEntry()
    best: BestEntry | None = None
    allow: Annotated[Literal["undecided", "refuted"] | None, "run although claims are: `refuted` is a control"] = None
    trusted: Annotated[Truth, "whether the summary of the run should be trusted"] = True
    columns: Annotated[Columns, "in the place of those of the experiment"] = {}
    published: Annotated[dict[Name, Text], "column to what the paper prints"] = {}


class ClaimEntry(Part):
    """A claim of the paper about figures: `run.column`, `run[batch_size=10].column`, `exact.column`, or numbers."""

    says: Text
    larger: Annotated[list[Text], "each is larger than the next, by more than two standard errors"] = []
    times: Annotated[Positive, "of `larger`: at least so many times"] = Fraction(1)
    equal: Annotated[list[Text], "all are the first, within three standard errors, or within a relative distance"] = []
    within: Positive | None = None


class PlotEntry(Part):
    """A picture."""

    title: Text = ""
    runs: Annotated[list[Text], "those that it shows, by their names or as `run[batch_size=10]`; all if left out"] = []
    bars: Annotated[list[Name], "columns, a bar for each run"] = []
    lines: Annotated[Name | None, "a column against the setting `against`"] = None
    against: Name | None = None
    boxes: Annotated[list[Name], "columns that are quantiles, from the lowest to the highest"] = []
    contours: Annotated[list[Text], "two coordinates: contours of U, and the first draws of one chain"] = []
    points: Annotated[Count, "of `contours`"] = 10
    scores: Annotated[Name | None, "a score along the chain"] = None


class PublishedEntry(Part):
    """What the paper prints, and where."""

    where: Text
    says: Text


class ExperimentDocument(Document):
    """An experiment of a paper: builds, settings, figures of them, and what is claimed."""

    published: PublishedEntry | None = None
    settings: Annotated[SettingsEntry, "of all runs"] = SettingsEntry()
    quick: QuickEntry = QuickEntry()
    build: Annotated[Raw, "entries that all builds share"] = None
    runs: Annotated[dict[Name, ExperimentRunEntry], SOME]
    reference: Annotated[Name | None, "the run whose figures are exact up to their errors"] = None
    columns: Columns
    claims: list[ClaimEntry] = []
    plots: dict[Name, PlotEntry] = {}

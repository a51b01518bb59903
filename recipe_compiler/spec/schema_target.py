"""What may stand under the keys of a target."""

from typing import Annotated, Literal

from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.spec.fields import (
    SOME,
    DataKinds,
    FormulaText,
    Name,
    RowStateKinds,
    ShapeField,
    SizeField,
    StepsNumber,
    Text,
    WholeNumber,
    left_out,
)
from recipe_compiler.spec.schema import BlockEntry, Document, ParameterEntry, Part


class TargetBlockEntry(BlockEntry):
    """A block of a target's state."""

    transform: Literal["log", "logit"] | None = None
    constraint: Annotated[
        FormulaText | None,
        "positive, lower(a), upper(b), interval(a, b), ordered, positive_ordered, simplex, "
        "unit_vector, cholesky_factor_corr, corr_matrix, cholesky_factor_cov, cov_matrix",
    ] = None


class DatumEntry(Part):
    """A field of the data; the first size counts the data."""

    shape: ShapeField
    in_: list[WholeNumber] | None = None
    is_: DataKinds = (Kind.REAL,)
    index_of: Annotated[SizeField | None, "the length of an axis along which each datum is a position, from 0"] = None


Laws = Annotated[
    dict[Name, FormulaText],
    "block to its conditional law, with data as all rows: Gamma(a + N/2, b + ...)",
]


Derived = Annotated[
    dict[Name, FormulaText],
    "name to a formula of the target's blocks, parameters and sizes, computed for every draw",
]


class RowStateEntry(Part):
    """A state that passes from one row of the data to the next."""

    shape: ShapeField = SCALAR
    is_: RowStateKinds = (Kind.REAL,)
    start: Annotated[FormulaText, "the state before the first row"]
    next: Annotated[FormulaText, "the state after a row: of the states before it, and of its data"]


Recursion = Annotated[
    dict[Name, RowStateEntry],
    "states that pass from row to row, which log_likelihood reads as they are before its row",
]


class SolvedEntry(Part):
    """A solution z of dz/dt = slope, from z = start on."""

    shape: ShapeField = SCALAR
    start: Annotated[FormulaText, "the solution at `from`"]
    slope: Annotated[FormulaText, "dz/dt: of the solutions, of the state, of the data of the row, and of the time"]


class SolveEntry(Part):
    """Ordinary differential equations, solved from row to row in fixed steps; every other key is a solution."""

    others: dict[Name, SolvedEntry] = {}
    """Every other key."""
    times: Annotated[Name, "the field of the data that is the time of a row; in a slope, the time there"]
    from_: Annotated[FormulaText, "the time of the start: a number, or a formula of parameters"]
    steps: Annotated[StepsNumber, "steps from the time of a row to that of the next"]
    method: Annotated[Literal["euler", "midpoint", "heun", "ralston", "rk4"], "of fixed steps"] = "rk4"


class TargetDocument(Document):
    """A statistical model: log_prior and log_likelihood of one datum, log_prior alone, or a potential alone."""

    state: Annotated[dict[Name, Annotated[TargetBlockEntry, left_out]], SOME]
    data: dict[Name, DatumEntry] = {}
    parameters: dict[Name, Annotated[ParameterEntry, left_out]] = {}
    assume: list[FormulaText] = []
    potential: FormulaText | None = None
    let: Annotated[dict[Name, FormulaText], "names for parts of the formulas below"] = {}
    recursion: Recursion = {}
    solve: SolveEntry | None = None
    log_prior: FormulaText | None = None
    log_likelihood: FormulaText | None = None
    gradient: Annotated[Text | None, "my_gradient.py:grad_U, code that is not proved"] = None
    laws: Laws = {}
    derived: Derived = {}

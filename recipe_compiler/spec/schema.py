"""The kinds of document, the keys they are known by, and what may stand under the keys of dynamics.

Texts that are formulas stay text here; their readers (`read_dynamics`, `read_target`, ...) elaborate them. What the
other kinds hold stands in files of their own: of a document, the classes of its own kind alone are made.
"""

from typing import Annotated, Any, Literal, Self

from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.spec.fields import (
    SOME,
    Format,
    FormulaText,
    Kinds,
    Matrix,
    Name,
    ShapeField,
    SomeNames,
    Text,
    left_out,
)

BUILD = frozenset({"dynamics", "target", "bind", "scheme", "variant", "run", "sizes", "gradient_noise", "init"})
DYNAMICS = frozenset({"H", "D", "Q", "claims", "functions"})
TARGET = frozenset({"let", "potential", "recursion", "log_prior", "log_likelihood", "gradient", "data"})
SCHEME = frozenset({"split", "pieces", "cycle"})
EXPERIMENT = frozenset({"runs", "columns", "published", "quick", "plots", "reference"})

KINDS = (("experiment", EXPERIMENT), ("build", BUILD), ("scheme", SCHEME), ("dynamics", DYNAMICS), ("target", TARGET))
"""Kinds with the keys that tell them, the first first where a document has as many of two."""
EACH_HAS = (
    "dynamics have H, D and Q; a target has log_likelihood, log_prior or potential; a build has dynamics and target; a "
    "scheme has split"
)


class Part:
    """A mapping whose keys are all known, `is_` for `is`: of one that is left out there is the default of the class."""

    hint = ""
    """What to do about an unknown key that is near to none."""

    def __init__(self, **stated: Any) -> None:
        vars(self).update(stated)

    @property
    def stated(self) -> frozenset[str]:
        """The keys that are written."""
        return frozenset(vars(self))

    def but(self, **others: Any) -> Self:
        """Return a part that states something else under some keys."""
        return type(self)(**{**vars(self), **others})


class BlockEntry(Part):
    """A block of the state."""

    shape: ShapeField = SCALAR
    domain: Annotated[
        FormulaText,
        "real, positive, nonnegative, interval(a, b), circle, simplex, one_hot, counts, counts(n)",
    ] = "real"


class ParameterEntry(Part):
    """A constant of the chain."""

    shape: ShapeField = SCALAR
    is_: Kinds = (Kind.REAL,)
    default: FormulaText | None = None


class FunctionEntry(Part):
    """A function of blocks, abstract until it is bound."""

    of: SomeNames
    shape: ShapeField = SCALAR
    is_: Kinds = (Kind.REAL,)
    role: Literal["potential", ""] = ""


class NoiseEntry(Part):
    """A standard normal draw that several blocks of a claimed update share."""

    shape: ShapeField = SCALAR


class ImageEntry(Part):
    """Other dynamics, and the change of variables that takes their equation to this one."""

    of: Annotated[Text, "a file, relative to this one, or the name of dynamics that ship"]
    map: dict[Name, FormulaText]
    inverse: dict[Name, FormulaText]


class ClaimsEntry(Part):
    """What an author states; each is decided apart."""

    drift: dict[Name, FormulaText] | None = None
    diffusion: Matrix = None
    interpretation: Literal["ito", "stratonovich"] = "ito"
    marginal: dict[Name, FormulaText] | None = None
    lyapunov: Annotated[FormulaText | None, "W(z) with L W <= c (1 + W) that goes to infinity with z"] = None
    image: ImageEntry | None = None
    update: dict[Name, FormulaText] | None = None
    noise: dict[Name, Annotated[NoiseEntry, left_out]] = {}


class Document(Part):
    """What every document may say about itself."""

    format: Format = 1
    name: Name
    title: Text = ""
    references: Annotated[list[Text], "keys of references.bib"] = []


class DynamicsDocument(Document):
    """The mathematics of a sampler: state, energy H, diffusion D, curl Q, and what its author claims."""

    state: Annotated[dict[Name, Annotated[BlockEntry, left_out]], SOME]
    parameters: dict[Name, Annotated[ParameterEntry, left_out]] = {}
    functions: dict[Name, FunctionEntry] = {}
    assume: list[FormulaText] = []
    units: Annotated[dict[Name, FormulaText], "unit of blocks, parameters and functions, such as `length/time`"] = {}
    H: FormulaText
    D: Matrix = None
    Q: Matrix = None
    claims: Annotated[ClaimsEntry, left_out] = ClaimsEntry()

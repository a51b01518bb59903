"""What the typing of one formula knows and gathers: the names in scope, the unknown sizes, the faults."""

from dataclasses import dataclass, field

from recipe_compiler.errors import Fault, Place
from recipe_compiler.formula import tree
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.places import fault_at
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.unknowns import Unknowns, is_open, shown


@dataclass(frozen=True, slots=True)
class Scope:
    """The names a formula may use."""

    declarations: Declarations
    update: bool = False
    """Whether eps, N(0, cov), next(b) and grad_tilde(U, b) are allowed."""
    noise: tuple[Block, ...] = ()
    """Declared standard normal draws, of claimed updates."""
    square: bool = False
    """Whether the whole formula stands at a place of a matrix: there `I` is the identity of a scalar, too."""


@dataclass(slots=True)
class Context:
    """The state of the typing of one formula."""

    scope: Scope
    entry: str
    where: Place
    unknowns: Unknowns = field(default_factory=Unknowns)
    faults: list[Fault] = field(default_factory=list[Fault])
    opened: list[tuple[tree.Tree, str, Shape]] = field(default_factory=list[tuple[tree.Tree, str, Shape]])
    """Parts that brought unknowns in, as they were written."""

    def fault(self, part: tree.Tree, problem: str, hint: str = "") -> None:
        """Note a fault of a part."""
        self.faults.append(fault_at(self.where, part.at, self.entry, problem, hint))

    def shape(self, formula: Formula) -> Shape:
        """Return what is known of a formula's shape by now."""
        return self.unknowns.shape(formula.shape)

    def shown(self, formula: Formula) -> str:
        """Name a formula's shape in a message."""
        return shown(self.shape(formula))

    def fit(self, formula: Formula, expected: Shape, part: tree.Tree) -> Formula | None:
        """Make a formula's shape the one expected, or note the fault and return None."""
        found, expected = self.shape(formula), self.unknowns.shape(expected)
        if self.unknowns.same_shape(found, expected):
            return formula
        self.fault(part, f"found a {shown(found)}, expected a {shown(expected)}", misfit_hint(found, expected))
        return None


def misfit_hint(found: Shape, expected: Shape) -> str:
    """Say how a shape usually is made to fit."""
    if found == SCALAR and expected.rows is not None and expected.cols is not None:
        square = expected.rows == expected.cols
        return "a multiple of the identity is written c*I" if square else "only 0 fits any place"
    if found == SCALAR:
        return "a vector with every entry c is written c*ones" + ("" if expected.cols is None else ", a row c*ones.T")
    if found.transposed == expected and found.rows != found.cols:
        return "transpose it with .T"
    return ""


def is_scalar(shape: Shape) -> bool:
    """Whether a shape is known to be a scalar's."""
    return shape == SCALAR


def is_matrix(shape: Shape) -> bool:
    """Whether a shape has both axes, or may have."""
    return shape.rows is not None and shape.cols is not None


def may_be_square(shape: Shape) -> bool:
    """Whether a shape is a square matrix's, or may turn out to be."""
    return is_matrix(shape) and (shape.rows == shape.cols or is_open(shape.rows) or is_open(shape.cols))

"""The interface of flows: the table gives one for a piece, and a word becomes statements by its changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from recipe_compiler.derive.recipe import Derivation, Matrix, Vector
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.transforms import Transform
from recipe_compiler.program.program import Propagator
from recipe_compiler.splitting.degree import find_degree
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.terms import Tensor


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of a flow, or of one of its stages, on blocks of the state: T(z') = T(z) + eps rate + N(0, eps two_D).

    T is the identity except for blocks with a transform. `rate` is a vector over the state, `two_D` a matrix over it.
    """

    moved: tuple[str, ...]
    """The blocks that it moves, all at once."""
    rate: Vector
    """It may depend on eps."""
    two_D: Matrix
    propagator: Propagator | None = None
    """Arrays that are computed for them before the chain."""
    B_hat: Tensor | None = None
    """The covariance that its noise gives up for that of the gradient: N(0, eps (two_D - eps B_hat))."""
    implicit: bool = False
    """Whether the rate is taken at the value that the block moves to: there is one block then, and no noise."""
    turns: int = 0
    """How many substitutions solve an implicit change exactly; 0 if it is solved by iteration."""
    image: bool = False
    """Whether the rates are the new values themselves, free of eps; without noise."""
    transforms: Mapping[str, Transform] = field(default_factory=dict[str, Transform])
    """T by block."""


class Flow(Protocol):
    """The flow of a piece over a time t = s eps, everything that the piece does not move being frozen meanwhile."""

    @property
    def row(self) -> str:
        """The row of the table, as reports name it."""
        ...

    @property
    def says(self) -> str:
        """The flow after a time t as a formula, with its assumptions."""
        ...

    @property
    def as_stated(self) -> bool:
        """Whether it is computed from the formulas as they are stated, not multiplied out."""
        ...

    @property
    def order(self) -> int | None:
        """The weak order of a numerical flow; None of an exact one."""
        ...

    @property
    def may_end(self) -> bool:
        """Whether a solution may leave its domain, or the finite numbers, within a step: it is not a number then."""
        ...

    def changes(self, derivation: Derivation, piece: Piece, share: Fraction) -> tuple[Change, ...]:
        """Return its changes in a share of the step, stage by stage; an exact flow has one.

        Args:
            derivation: of the dynamics.
            piece: whose flow it is; where `as_stated`, made of the formulas as they are stated.
            share: s, of the step.
        """
        ...


@dataclass(frozen=True, slots=True)
class NoRow:
    """The reason why a row of the table is not the flow of a piece, as text for the user."""

    why: str


def find_affine_degree(piece: Piece, declarations: Declarations) -> int | NoRow:
    """Return the degree of the drift of a piece in the blocks that it moves, jointly, if that is 0 or 1.

    Else the reason.
    """
    moved = frozenset(piece.moved)
    degrees = [find_degree(f, moved, declarations) for f in piece.drift]
    if None in degrees:
        return NoRow(f"its drift is not a polynomial in {', '.join(piece.moved)}")
    highest = max((n for n in degrees if n is not None), default=0)
    return NoRow(f"its drift is of degree {highest} in {', '.join(piece.moved)}") if highest > 1 else highest

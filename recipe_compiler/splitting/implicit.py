"""Numerical flows of pieces that have no exact one: the implicit midpoint and the generalised leapfrog.

Over a time t, with f the drift of a piece and w ~ N(0, 2 D t) its noise,

* midpoint: m = z + t/2 f(m), z' = m + t/2 f(m), which is z' = z + t f((z + z')/2) (Hairer, Lubich, Wanner 2006, Sec.
  VI.4). Where f is affine and D frozen, y = z + t/2 f(z) + w, z' = y + t/2 f(z') is the same with noise: for f = -D
  S^-1 z it keeps N(0, S), whatever t is.
* generalised leapfrog, of a position q and a momentum p: p1 = p + t/2 f_p(q, p1), q1 = q + t/2 f_q(q, p1), q' = q1 +
  t/2 f_q(q', p1), p' = p1 + t/2 f_p(q', p1) (Leimkuhler, Reich 2004, Sec. 4.3; Girolami, Calderhead 2011).

Both are of order 2 and equal to their own inverse backward in time; for H with a constant Q they are symplectic. The
equations are solved exactly by substitutions where entries depend on each other in an order (`substitution`), else by
iteration.

Worked example, why N(0, S) is kept, on the line with D = S = 1: (1 + t/2) z' = (1 - t/2) z + w, and from Var z = 1 the
right side has the variance (1 - t/2)^2 + 2 t = (1 + t/2)^2.
"""

from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.derive.recipe import Derivation, Matrix, Vector, col_slots, row_slots
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.atoms import names_of
from recipe_compiler.splitting.degree import find_degree
from recipe_compiler.splitting.flow import Change, Flow, NoRow
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.substitution import count_substitutions

ORDER = 2
"""The weak order of both."""
EXACTLY = "implicit equations are solved exactly, and the reverse step finds the old state"
"""The assumption of a numerical flow: iterations end at a tolerance."""
MIDPOINT = "midpoint"
GENERALISED = "generalised"


@dataclass(frozen=True, slots=True)
class Midpoint:
    """The implicit midpoint z' = z + t f((z + z')/2) + N(0, 2 D t), z: [n], of a piece that moves one block.

    Of order 2, and its own inverse backward in time; without noise it keeps every constant Q that the field keeps
    (Hairer, Lubich, Wanner 2006, Sec. VI.4). With f = -D inv(S) z it keeps N(0, S), whatever t is.
    """

    noisy: bool
    turns: int = 0
    """Substitutions that solve its equation; 0 where it is iterated."""
    as_stated: bool = True
    may_end: bool = False
    row: str = MIDPOINT
    order: int = ORDER

    @property
    def says(self) -> str:
        """The flow after a time t."""
        noise = " + N(0, 2 D t)" if self.noisy else ""
        return f"z' = z + t f((z + z')/2){noise}, solved by {_describe_solution(self.turns)}; of order 2"

    def changes(self, derivation: Derivation, piece: Piece, share: Fraction) -> tuple[Change, ...]:
        """Return a half step that is solved for, and one that is not: first, where it draws the noise."""
        c = derivation.calculus
        half = tuple(c.scale(f, share / 2) for f in piece.drift)
        two_D = tuple(tuple(c.scale(entry, 2 * share) for entry in row) for row in piece.D)
        explicit = Change(piece.moved, half, two_D)
        implicit = Change(piece.moved, half, _make_zero_matrix(derivation), implicit=True, turns=self.turns)
        return (explicit, implicit) if self.noisy else (implicit, explicit)


@dataclass(frozen=True, slots=True)
class GeneralisedLeapfrog:
    """The generalised leapfrog of a piece that moves two blocks q and p, scalars or vectors.

        p1 = p + t/2 f_p(q, p1),   q' = q + t/2 (f_q(q, p1) + f_q(q', p1)),   p' = p1 + t/2 f_p(q', p1)

    (Leimkuhler, Reich 2004, Sec. 4.3; Girolami, Calderhead 2011.)
    """

    position: str
    momentum: str
    turns: tuple[int, int] = (0, 0)
    """Substitutions that solve for the position and for the momentum; 0 for one that is solved by iteration."""
    as_stated: bool = True
    may_end: bool = False
    row: str = GENERALISED
    order: int = ORDER

    @property
    def says(self) -> str:
        """The flow after a time t."""
        found = "p1 = p + t/2 f_p(q, p1), q' = q + t/2 (f_q(q, p1) + f_q(q', p1)), p' = p1 + t/2 f_p(q', p1)"
        names = ((self.position, self.turns[0]), (self.momentum, self.turns[1]))
        solved = "".join(f"; {name} by {_describe_solution(turns)}" for name, turns in names if turns > 1)
        return f"{found}{solved}; of order 2"

    def changes(self, derivation: Derivation, piece: Piece, share: Fraction) -> tuple[Change, ...]:
        """Return the half steps of p, q, q and p: the first of p and the second of q are solved for."""
        c, blocks = derivation.calculus, derivation.dynamics.declarations.blocks

        def half(name: str, *, implicit: bool, turns: int = 0) -> Change:
            rate: Vector = tuple(
                c.scale(f, share / 2) if block.name == name else c.zero(*row_slots(block))
                for block, f in zip(blocks, piece.drift, strict=True)
            )
            return Change((name,), rate, _make_zero_matrix(derivation), implicit=implicit, turns=turns)

        q, p = self.position, self.momentum
        for_q, for_p = self.turns
        return (
            half(p, implicit=True, turns=for_p),
            half(q, implicit=False),
            half(q, implicit=True, turns=for_q),
            half(p, implicit=False),
        )


def is_iterated(flow: Flow) -> bool:
    """Whether a step solves the equations of a flow by iteration, to a tolerance."""
    match flow:
        case Midpoint(turns=turns):
            return not turns
        case GeneralisedLeapfrog(turns=turns):
            return not all(turns)
        case _:
            return False


def _describe_solution(turns: int) -> str:
    return f"{turns} substitutions" if turns > 1 else "a substitution" if turns else "iteration"


def find_midpoint(derivation: Derivation, piece: Piece) -> Midpoint | NoRow:
    """Return the implicit midpoint of a piece that moves one block, [n]; else why a step cannot solve for it.

    It has none if the equation would evaluate the gradient of U, or if there is noise and f is not affine or D not
    frozen.
    """
    declarations = derivation.dynamics.declarations
    if len(piece.moved) != 1:
        return NoRow(f"it moves {', '.join(piece.moved)}, and midpoint solves for one block")
    (block,) = (block for block in declarations.blocks if block.name in piece.moved)
    if _has_gradient_drift(derivation, piece, block):
        return NoRow(f"it takes the gradient of the potential at the {block.name} that is solved for")
    if piece.is_noisy:
        moved = frozenset(piece.moved)
        if any(find_degree(entry, moved, declarations) != 0 for row in piece.D for entry in row):
            return NoRow(f"its noise depends on {block.name}")
        degrees = [find_degree(f, moved, declarations) for f in piece.drift]
        if any(n is None or n > 1 for n in degrees):
            return NoRow(f"it has noise, and its drift is not linear in {block.name}")
    return Midpoint(piece.is_noisy, count_substitutions(derivation, block, piece.drift))


def find_generalised_leapfrog(derivation: Derivation, piece: Piece) -> GeneralisedLeapfrog | NoRow:
    """Return the generalised leapfrog of a piece that moves two blocks without noise; else the reason.

    The position is the block that the potential depends on, if the piece moves it. Its drift must not use grad U, which
    would be evaluated in every iteration.
    """
    declarations = derivation.dynamics.declarations
    if len(piece.moved) != 2 or piece.is_noisy:
        noise = " with noise" if piece.is_noisy else ""
        return NoRow(f"it moves {', '.join(piece.moved)}{noise}, and the generalised leapfrog two blocks without noise")
    potential = declarations.blocks_of(derivation.dynamics.potential)
    position = next((name for name in piece.moved if name in potential), piece.moved[0])
    momentum = next(name for name in piece.moved if name != position)
    (block,) = (block for block in declarations.blocks if block.name == position)
    (other,) = (block for block in declarations.blocks if block.name == momentum)
    if _has_gradient_drift(derivation, piece, block):
        return NoRow(
            f"the drift of {position} takes the gradient of the potential at the {position} that is solved for"
        )
    turns = (count_substitutions(derivation, block, piece.drift), count_substitutions(derivation, other, piece.drift))
    return GeneralisedLeapfrog(position, momentum, turns)


def _has_gradient_drift(derivation: Derivation, piece: Piece, block: Block) -> bool:
    """Whether the drift of a block takes the gradient of the potential, and moves what that depends on."""
    declarations, potential = derivation.dynamics.declarations, derivation.dynamics.potential
    of = [f.name for f in declarations.functions if f.value.declared == potential and block.name in f.of]
    return not names_of(piece.drift[declarations.blocks.index(block)]).isdisjoint(of)


def _make_zero_matrix(derivation: Derivation) -> Matrix:
    c, blocks = derivation.calculus, derivation.dynamics.declarations.blocks
    return tuple(tuple(c.zero(*row_slots(a), *col_slots(b)) for b in blocks) for a in blocks)

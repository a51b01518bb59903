"""Numerical flows of pieces that have no exact one: the implicit midpoint and the generalised leapfrog.

Over a time t, with f the drift of a piece and w ~ N(0, 2 D t) its noise,

* midpoint: m = z + t/2 f(m), z' = m + t/2 f(m), which is z' = z + t f((z + z')/2) (Hairer, Lubich, Wanner 2006, Sec.
  VI.4). Where f is affine and D frozen, y = z + t/2 f(z) + w, z' = y + t/2 f(z') is the same with noise: for f = -D
  S^-1 z it keeps N(0, S), whatever t is.
* generalised leapfrog, of a position q and a momentum p: p1 = p + t/2 f_p(q, p1), q1 = q + t/2 f_q(q, p1), q' = q1 +
  t/2 f_q(q', p1), p' = p1 + t/2 f_p(q', p1) (Leimkuhler, Reich 2004, Sec. 4.3; Girolami, Calderhead 2011).

Both are of order 2 and equal to their own inverse backward in time; for H with a constant Q they are symplectic. The
equations are solved exactly by substitutions where entries depend on each other in an order, else by iteration.

Worked example, why N(0, S) is kept, on the line with D = S = 1: (1 + t/2) z' = (1 - t/2) z + w, and from Var z = 1 the
right side has the variance (1 - t/2)^2 + 2 t = (1 + t/2)^2.

Repeated substitution solves new = old + eps rate(new) where its entries depend on each other in an order.
With Phi(x) = old + eps rate(x) and J its slopes, J_ij = d rate_i/d x_j, the slopes of Phi(Phi(x)) are eps^2 J(y) J(x),
y = Phi(x). If J(y) J(x) = 0 for all y and x, Phi(Phi(x)) is one value c for all x, so Phi(c) = Phi(Phi(Phi(x))) = c,
and c is the only solution: two substitutions, from any start, solve the equation exactly. The same holds for n
substitutions and n slopes at n points. This is so if the entries have an order in which each depends only on those
before it: the first substitution is right in the entries that depend on none, the next in those that depend on these.

Worked example: rate(x) = (1, x_0**2) has J = [[0, 0], [2 x_0, 0]], and J(y) J(x) = 0. From x = (0, 0) the first
substitution gives (old_0 + eps, old_1), the second (old_0 + eps, old_1 + eps (old_0 + eps)**2), which is the solution.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial

from recipe_compiler.derive.recipe import (
    Derivation,
    Vector,
    col_coordinate,
    col_slots,
    map_matrices,
    row_slots,
    zero_matrix,
    zero_vector,
)
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.rename import renamed
from recipe_compiler.splitting.flow import Change, Flow, NoRowError, find_degree, is_frozen
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.expand_factors import opened
from recipe_compiler.tensor.terms import Base, Tensor

ORDER = 2
"""The weak order of both."""
EXACTLY = "implicit equations are solved exactly, and the reverse step finds the old state"
"""The assumption of a numerical flow: iterations end at a tolerance."""
MIDPOINT = "midpoint"
GENERALISED = "generalised"


def _describe_solution(turns: int) -> str:
    return f"{turns} substitutions" if turns > 1 else "a substitution" if turns else "iteration"


def find_midpoint(derivation: Derivation, piece: Piece) -> Flow:
    """Return the implicit midpoint of a piece that moves one block, [n]; else why a step cannot solve for it.

    It has none if the equation would evaluate the gradient of U, or if there is noise and f is not affine or D not
    frozen.
    """
    declarations = derivation.declarations
    if len(piece.moved) != 1:
        raise NoRowError(f"it moves {', '.join(piece.moved)}, and midpoint solves for one block")
    (block,) = (block for block in declarations.blocks if block.name in piece.moved)
    if _has_gradient_drift(derivation, piece, block):
        raise NoRowError(f"it takes the gradient of the potential at the {block.name} that is solved for")
    if piece.is_noisy:
        moved = frozenset(piece.moved)
        if not is_frozen(derivation, piece, *(entry for row in piece.D for entry in row)):
            raise NoRowError(f"its noise depends on {block.name}")
        degrees = [find_degree(f, moved, declarations) for f in piece.drift]
        if any(n is None or n > 1 for n in degrees):
            raise NoRowError(f"it has noise, and its drift is not linear in {block.name}")
    turns = count_substitutions(derivation, block, piece.drift)
    noise = " + N(0, 2 D t)" if piece.is_noisy else ""
    says = f"z' = z + t f((z + z')/2){noise}, solved by {_describe_solution(turns)}; of order 2"
    return Flow(MIDPOINT, says, partial(_change_halves, turns), as_stated=True, order=ORDER, is_iterated=not turns)


def _change_halves(turns: int, derivation: Derivation, piece: Piece, share: Fraction) -> tuple[Change, ...]:
    """Return a half step that is solved for, and one that is not: first, where it draws the noise."""
    c = derivation.calculus
    half = tuple(c.scale(f, share / 2) for f in piece.drift)
    two_D = map_matrices(lambda entry: c.scale(entry, 2 * share), piece.D)
    explicit = Change(piece.moved, half, two_D)
    implicit = Change(piece.moved, half, zero_matrix(c, derivation.blocks), implicit=True, turns=turns)
    return (explicit, implicit) if piece.is_noisy else (implicit, explicit)


def find_generalised_leapfrog(derivation: Derivation, piece: Piece) -> Flow:
    """Return the generalised leapfrog of a piece that moves two blocks without noise; else the reason.

    The position is the block that the potential depends on, if the piece moves it. Its drift must not use grad U, which
    would be evaluated in every iteration.
    """
    declarations = derivation.declarations
    if len(piece.moved) != 2 or piece.is_noisy:
        noise = " with noise" if piece.is_noisy else ""
        raise NoRowError(
            f"it moves {', '.join(piece.moved)}{noise}, and the generalised leapfrog two blocks without noise"
        )
    potential = declarations.blocks_of(derivation.dynamics.potential)
    position = next((name for name in piece.moved if name in potential), piece.moved[0])
    momentum = next(name for name in piece.moved if name != position)
    named = {block.name: block for block in declarations.blocks}
    block, other = named[position], named[momentum]
    if _has_gradient_drift(derivation, piece, block):
        raise NoRowError(
            f"the drift of {position} takes the gradient of the potential at the {position} that is solved for"
        )
    turns = (count_substitutions(derivation, block, piece.drift), count_substitutions(derivation, other, piece.drift))
    solved = "".join(
        f"; {name} by {_describe_solution(count)}"
        for name, count in zip((position, momentum), turns, strict=True)
        if count > 1
    )
    says = f"p1 = p + t/2 f_p(q, p1), q' = q + t/2 (f_q(q, p1) + f_q(q', p1)), p' = p1 + t/2 f_p(q', p1){solved}"
    return Flow(
        GENERALISED,
        f"{says}; of order 2",
        partial(_change_in_turn, position, momentum, turns),
        as_stated=True,
        order=ORDER,
        is_iterated=not all(turns),
    )


def _change_in_turn(
    q: str, p: str, turns: tuple[int, int], derivation: Derivation, piece: Piece, share: Fraction
) -> tuple[Change, ...]:
    """Return the half steps of p, q, q and p: the first of p and the second of q are solved for."""
    c, blocks = derivation.calculus, derivation.blocks

    def half(name: str, *, implicit: bool, turns: int = 0) -> Change:
        rate = tuple(
            _multiply_out(c, c.scale(f, share / 2)) if block.name == name else zero
            for block, f, zero in zip(blocks, piece.drift, zero_vector(c, blocks), strict=True)
        )
        return Change((name,), rate, zero_matrix(c, blocks), implicit=implicit, turns=turns)

    for_q, for_p = turns
    return (
        half(p, implicit=True, turns=for_p),
        half(q, implicit=False),
        half(q, implicit=True, turns=for_q),
        half(p, implicit=False),
    )


def _multiply_out(c: Calculus, rate: Tensor) -> Tensor:
    """Return a rate with matrix sums multiplied out where they are applied.

    d (X.T W X)_jk v_j v_k costs n d**3 operations entry by entry, and n d as sums over (X v)_p**2.
    """
    parts: list[Tensor] = []
    for term in rate.terms:
        match term.factors:
            case ((Base(arg), exponent),) if exponent == 1:
                parts.append(c.scale(arg, term.coefficient))
            case _:
                parts.append(Tensor(rate.free, (term,)))
    return opened(c, c.add(c.zero(*rate.free), *parts)) if c.rules.stated else rate


def _has_gradient_drift(derivation: Derivation, piece: Piece, block: Block) -> bool:
    """Whether the drift of a block takes the gradient of the potential, and moves what that depends on."""
    declarations, potential = derivation.declarations, derivation.dynamics.potential
    of = [f.name for f in declarations.functions if f.value.declared == potential and block.name in f.of]
    return not names_of(piece.drift[declarations.blocks.index(block)]).isdisjoint(of)


MOST_TURNS = 3
"""Substitutions that are tried. A longer chain of entries is solved by iteration."""


def count_substitutions(derivation: Derivation, block: Block, drift: Vector) -> int:
    """Return how many substitutions solve the equation of a block exactly, for every size; 0 if that is not shown.

    It is the least n <= 3 with J(x_1) ... J(x_n) = 0 identically, J = d rate/dx: [m, m] for a block of m entries, and
    x_1, ..., x_n any points.

    Args:
        derivation: of the dynamics.
        block: the unknown; it ranges over all real numbers, so that no substitution leads outside.
        drift: by blocks of the state; that of the block is the rate, up to a factor.
    """
    if block.domain.name is not DomainName.REAL:
        return 0
    c = derivation.calculus.plain
    rate = drift[derivation.blocks.index(block)]
    try:
        slope = c.diff(rate, col_coordinate(block))
        products = slope
        for turn in range(1, MOST_TURNS + 1):
            if c.is_zero(products):
                return turn
            products = _multiply_slopes(c, block, products, _move_to_point(c, block, slope, turn), turn)
    except ModelError:  # it jumps, or has no slope that is known
        return 0
    return 0


def _multiply_slopes(c: Calculus, block: Block, left: Tensor, right: Tensor, turn: int) -> Tensor:
    """Return sum_k left_ik right_kj."""
    rows, columns = row_slots(block), col_slots(block)
    between = tuple(replace(index, label=f"k{turn}") for index in rows)
    first = c.rename(left, dict(zip(columns, between, strict=True)))
    second = c.rename(right, dict(zip(rows, between, strict=True)))
    return c.total(c.add(c.zero(*between), c.multiply(first, second)), *between)


def _move_to_point(c: Calculus, block: Block, slope: Tensor, turn: int) -> Tensor:
    """Return slopes at another point, with renamed coordinates and functions."""
    names = {block.name, *(function for function, of in c.rules.depends if of == block.name)}
    there = renamed(slope, {name: f"{name}'{turn}" for name in names})
    return c.collect(there.terms, there.free)

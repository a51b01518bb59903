"""Is a move its own inverse, and what is its Jacobian? Read off the points that it takes functions at.

With v the momenta or draws, a trajectory from (theta, v) visits x_0 = theta, x_1, ..., x_L. Where x_1 = m(theta) + C v
and each later point is x_{k+1} = a x_k + b x_{k-1} + G(x_k), the points say all: (x_{k-1}, x_k) to (x_k, x_{k+1}) has
the determinant (-b)^d whatever G is, and that of the move is their product.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler.lint.proposal import ZERO, Moved, Proposal
from recipe_compiler.lint.visited import Coordinates, NotFollowedError, Visited, replaced

LARGEST_JACOBIAN = 6


@dataclass(frozen=True, slots=True)
class Involution:
    """S(y, w) = (to, hidden), which is its own inverse, and log |det DS|."""

    to: Coordinates
    hidden: Coordinates
    log_det: Expr


def involution(proposal: Proposal) -> Involution:
    """Return the move with the draws that lead back, shown to be its own inverse.

    Raises:
        NotFollowedError: it is not shown to be.
    """
    here = {x: x for x in proposal.z}
    forward = proposal.moved(here, proposal.hidden)
    for hidden in _candidates(proposal, forward):
        back = proposal.moved(dict(zip(proposal.z, forward.to, strict=True)), hidden)
        if not all(proposal.visited.same(x, z) for x, z in zip(back.to, proposal.z, strict=True)):
            continue
        if _leads_back(proposal, forward, back, hidden):
            return Involution(forward.to, hidden, _log_det(proposal, forward, back, hidden))
    what = "a move from where it leads" + (", with any draws that are found," if proposal.hidden else "")
    raise NotFollowedError(f"{what} does not lead back")


def _candidates(proposal: Proposal, forward: Moved) -> Iterator[Coordinates]:
    """Yield the draws that may lead back: w turned, or those by which the first point is the last but one."""
    if not proposal.hidden:
        yield ()
        return
    yield tuple(-w for w in proposal.hidden)
    route = _route(proposal, forward, proposal.z)
    again = _drawn_back(proposal)
    back = proposal.moved(dict(zip(proposal.z, forward.to, strict=True)), again)
    places = _route(proposal, back, forward.to)
    points = proposal.visited.points
    first = points[places[1]][1] if len(places) > 1 else back.to
    target = points[route[-2]][1] if len(route) > 1 else proposal.z
    solved = _solved(proposal.visited, first, again, target)
    if solved is not None:
        yield solved


def _solved(visited: Visited, x: Coordinates, by: tuple[Symbol, ...], target: Coordinates) -> Coordinates | None:
    """Return the values of some symbols by which x is the target, where x is affine in them."""
    rows = [k for k, e in enumerate(x) if visited.depends(e, frozenset(by))]
    C = [[sympy.diff(x[k], w) for w in by] for k in rows]
    none: dict[Symbol, Expr] = dict.fromkeys(by, ZERO)
    left = [target[k] - replaced(x[k], none) for k in rows]
    if len(rows) != len(by) or any(visited.depends(e, frozenset(by)) for e in (*left, *(e for row in C for e in row))):
        return None
    if (matrix := sympy.Matrix(C)).det() == 0:
        return None
    return tuple(sympy.expand(e) for e in matrix.inv() * sympy.Matrix(left))


def _of(proposal: Proposal) -> tuple[Symbol, ...]:
    """Return the coordinates whose functions are taken at the points of a trajectory; none where they are several."""
    kinds = {of for of, _ in proposal.visited.points}
    return next(iter(kinds)) if len(kinds) == 1 else ()


def _route(proposal: Proposal, moved: Moved, start: Coordinates) -> list[int]:
    """Return the places of x_0, ..., x_L; empty where functions are taken at points of several kinds."""
    of = _of(proposal)
    if not of:
        return []
    at = [proposal.z.index(x) for x in of]
    first, last = (proposal.visited.place(of, tuple(z[k] for k in at)) for z in (start, moved.to))
    return [first, *(place for place in moved.route if place not in (first, last)), last]


def _leads_back(proposal: Proposal, forward: Moved, back: Moved, hidden: Coordinates) -> bool:
    """Whether the draws that lead back from where a move leads are those that led there."""
    if hidden == tuple(-w for w in proposal.hidden):
        return True
    there, again = _route(proposal, forward, proposal.z), _route(proposal, back, forward.to)
    return not there or there == again[::-1]


def _log_det(proposal: Proposal, forward: Moved, back: Moved, hidden: Coordinates) -> Expr:
    visited = proposal.visited
    after = (*forward.to, *hidden)
    if not any(visited.inside(x) for x in after):
        return _of_jacobian(proposal, after)
    there, again = _route(proposal, forward, proposal.z), _route(proposal, back, forward.to)
    if len(there) < 2 or there != again[::-1]:
        raise NotFollowedError("the reverse trajectory visits other points: the determinant is not known")
    return _of_trajectory(proposal, forward, there)


def _of_jacobian(proposal: Proposal, after: Coordinates) -> Expr:
    before = (*proposal.z, *proposal.hidden)
    moved = [k for k, (x, own) in enumerate(zip(after, before, strict=True)) if x != own]
    if len(moved) > LARGEST_JACOBIAN:
        raise NotFollowedError(f"a Jacobian of more than {LARGEST_JACOBIAN} rows")
    det = cast(Expr, sympy.Matrix([[sympy.diff(after[i], before[j]) for j in moved] for i in moved]).det())
    square = sympy.expand(det**2)
    if proposal.visited.same(square, sympy.Integer(1)):
        return ZERO
    return sympy.expand(sympy.log(sympy.powsimp(square)) / 2)


def _of_trajectory(proposal: Proposal, forward: Moved, route: list[int]) -> Expr:
    """Return the sum of log |b|^d, which has to be of numbers."""
    visited, of = proposal.visited, _of(proposal)
    points = [visited.points[place][1] for place in route]
    if len(set(route)) != len(route):
        raise NotFollowedError("a trajectory visits a point twice")
    if len(route) == 2 and len(of) == len(proposal.z) == len(proposal.hidden):
        return _of_one_draw(proposal, forward)
    others = [x for x in (*proposal.z, *proposal.hidden) if x not in of]
    by = [x for x in others if any(visited.depends(e, frozenset((x,))) for e in points[1])]
    unmoved = [x for x, to in zip(proposal.z, forward.to, strict=True) if x not in of and x not in by and to != x]
    if len(by) != len(of) or unmoved:
        raise NotFollowedError("what moves is not one block and its momenta, or as many draws")
    C = [[sympy.diff(e, v) for v in by] for e in points[1]]
    own = frozenset((*proposal.z, *proposal.hidden))
    varies = any(visited.depends(e, own) for row in C for e in row)
    if varies or sympy.Matrix(C).det() == 0 or not set(_places(visited, points[1])) <= {route[0]}:
        raise NotFollowedError("the first step of a trajectory is not affine in its momenta, with a constant matrix")
    product: Expr = sympy.Integer(1)
    times = [_time(e, by, C) for e in points]
    for k in range(1, len(points) - 1):
        b = sympy.cancel((times[k] - times[k + 1]) / (times[k] - times[k - 1]))
        rest = [
            sympy.expand(after - (1 - b) * now - b * before)
            for after, now, before in zip(points[k + 1], points[k], points[k - 1], strict=True)
        ]
        if not all(_is_of_point(visited, e, route[k], own) for e in rest):
            raise NotFollowedError("a step of a trajectory is not drift, kick, drift")
        product *= b
    if not visited.same(product**2, sympy.Integer(1)):
        raise NotFollowedError("a trajectory does not preserve volume")
    return ZERO


def _of_one_draw(proposal: Proposal, forward: Moved) -> Expr:
    """Return log |det C(x)/det C(x')| where x' = m(x) + C(x) w: (x, w) -> (x, x') -> (x', x) -> (x', w')."""
    visited, again = proposal.visited, _drawn_back(proposal)
    back = proposal.moved(dict(zip(proposal.z, forward.to, strict=True)), again)
    squares: list[Expr] = []
    for to, draws in ((forward.to, proposal.hidden), (back.to, again)):
        C = [[sympy.diff(x, w) for w in draws] for x in to]
        if any(visited.depends(e, frozenset(draws)) for row in C for e in row if draws == again or e.has(*draws)):
            raise NotFollowedError("what is proposed is not affine in its draws")
        squares.append(cast(Expr, sympy.Matrix(C).det()) ** 2)
    return cast(Expr, sympy.log(sympy.cancel(squares[0] / squares[1])) / 2)


def _drawn_back(proposal: Proposal) -> tuple[Symbol, ...]:
    return tuple(Symbol(f"{w}.back", real=True) for w in proposal.hidden)


def _places(visited: Visited, point: Coordinates) -> Iterator[int]:
    for e in point:
        yield from visited.inside(e)


def _time(point: Coordinates, by: Sequence[Symbol], C: Sequence[Sequence[Expr]]) -> Expr:
    """Return t where a point is t C v and what does not hold v, by one entry."""
    i, j = next((i, j) for i, row in enumerate(C) for j, e in enumerate(row) if e != 0)
    return sympy.cancel(sympy.diff(point[i], by[j]) / C[i][j])


def _is_of_point(visited: Visited, e: Expr, place: int, own: frozenset[Symbol]) -> bool:
    """Whether an expression holds nothing of the state but functions at one point."""
    foreign = [
        x
        for x in e.free_symbols
        if isinstance(x, Symbol) and (x in own or (x in visited.opaque and visited.opaque[x].place != place))
    ]
    return all(visited.same(sympy.diff(e, x), ZERO) for x in foreign)

"""Does a step that is accepted or rejected preserve exp(-H), as it is and at every step size? At fixed sizes.

T of (y, w), w being the draws that no one sees, is accepted with min(1, exp(L)), else y becomes G y. With draws w' that
lead back this is a move by S(y, w) = (T(y, w), w'), judged as any other (`algebra.dynamics.acceptance`) with the energy
H(y) + w.T P w/2, P the precision of w. What is drawn before keeps exp(-H) by itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.dynamics.acceptance import RATIO, Acceptance, Image, obligations
from recipe_compiler.algebra.positivity.region import region_at
from recipe_compiler.algebra.scalars.matrices import dot, inverse
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.lint.formulas import format_expression
from recipe_compiler.lint.metropolis_witness import OPEN, refute_proposal
from recipe_compiler.lint.proposal import ZERO, Proposal, WholeStep, list_proposals, read_whole_step
from recipe_compiler.lint.read import MomentReader, Outcome, list_nonzero
from recipe_compiler.lint.step_definedness import require_every_step_size
from recipe_compiler.lint.visited import NotFollowedError, compute_sparse_determinant, replace_parts
from recipe_compiler.trace.gaussian import invariance_at
from recipe_compiler.verify.core.premises import has_state_assumptions

HOW = "an involution, accepted by its ratio"
NONSINGULAR = "covariances of draws are nonsingular"
OF_THE_REST = (
    "is refreshed in every step, and the distribution of the rest is preserved; so is the joint one if an accepted "
    "move flips the sign of what it leaves"
)


class _WrongRatioError(NotFollowedError):
    """The log of the ratio is not what it has to be; what is left."""

    def __init__(self, left: Expr) -> None:
        super().__init__("the log of the ratio is not H(z) - H(z') with its draws")
        self.left = left


def decide_metropolis(read: MomentReader) -> Outcome:
    """Return whether a step with an acceptance preserves exp(-H)."""
    problem = read.problem
    try:
        step = read_whole_step(problem)
        found = _decide_proposals(step, list_proposals(step))
    except OPEN as reason:
        return Outcome(problem.at, reason=str(reason))
    if found.holds and problem.trace.groups:
        found = replace(found, given=(NONSINGULAR,))
    if not found.holds or problem.subject.declarations.sizes:
        return replace(found, given=(*found.given, *problem.trace.given))
    needs = _require_defined(step)
    return replace(found, given=tuple(sorted(needs.given.union(found.given))), left=needs.open)


def _require_defined(step: WholeStep) -> Obligations:
    """Return what both branches require to be defined."""
    try:
        region = region_at(step.problem.subject.declarations, step.problem.sizes)
        return require_every_step_size(step.problem.trace, step.plain, step.visited, region)
    except OPEN as reason:
        return Obligations(frozenset(), (str(reason),))


def _decide_proposals(step: WholeStep, found: Sequence[Proposal]) -> Outcome:
    problem = step.problem
    reasons: list[str] = []
    left = ""
    for proposal in found:
        try:
            _require_preserved(proposal)
        except _WrongRatioError as reason:
            reasons.append(str(reason))
            left = left or format_expression(reason.left)
        except OPEN as reason:
            reasons.append(str(reason))
        else:
            return Outcome(problem.at, holds=True, by=HOW)
    for proposal in found:
        if proposal.refreshed is not None and _has_rest_preserved(proposal):
            return Outcome(problem.at, reason=f"{proposal.refreshed.coordinates[0]} {OF_THE_REST}")
    for proposal in found:
        refuted = refute_proposal(proposal)
        if refuted is not None:
            by, point = refuted
            return Outcome(problem.at, by=by, witness=point, residual=left)
    return Outcome(problem.at, reason="; ".join(dict.fromkeys(reasons)), residual=left)


def _has_rest_preserved(proposal: Proposal) -> bool:
    """Whether the step preserves exp(-H) once it flips refreshed coordinates, which no later step reads."""
    turned = proposal.flip_refreshed()
    try:
        if turned is not None:
            _require_preserved(turned)
    except OPEN:
        return False
    return turned is not None


def _require_preserved(proposal: Proposal) -> None:
    """Show that a step preserves exp(-H).

    Raises:
        NotFollowedError: it is not shown; why.
    """
    if not proposal.where_it_holds:
        raise NotFollowedError("a move is accepted where the uniform draw is above the ratio, not below")
    _require_whole_space(proposal)
    drawn, visited = proposal.refreshed, proposal.visited
    problem = proposal.problem
    if drawn and list_nonzero(invariance_at(problem.setting, drawn.moments(proposal.z), problem.H).conditions):
        raise NotFollowedError("what is drawn before the move does not have its distribution under exp(-H)")
    why = "a move from where it leads" + (", with any draws that are found," if proposal.hidden else "")
    for hidden in _list_draws_back(proposal):
        image = {x: e for x, e in {**proposal.to, **hidden}.items() if e != x}
        move = Acceptance(image, proposal.energy, proposal.log_ratio, proposal.refused, visited)
        name, left = next(
            ((name, e) for name, e in obligations(move) if not visited.has_same_value(e, ZERO)), ("", ZERO)
        )
        if name == RATIO:
            raise _WrongRatioError(visited.plain(left))
        if not name:
            return
    raise NotFollowedError(f"{why} does not lead back")


def _list_draws_back(proposal: Proposal) -> Iterator[Image]:
    """Yield candidates for the draws of the reverse move: w negated, or those that return to the last but one point."""
    if not proposal.hidden:
        yield {}
        return
    yield {w: -w for w in proposal.hidden}
    visited, back = proposal.visited, {w: Symbol(f"{w}.back", real=True) for w in proposal.hidden}
    of, route = _list_visited_points(proposal)
    first = route[1] if len(route) > 1 else tuple(proposal.to[x] for x in of)
    target = route[-1]
    reached = [visited.after({**proposal.to, **back}, e) for e in first]
    rows = [k for k, e in enumerate(reached) if visited.has_any_of(e, frozenset(back.values()))]
    C = tuple(tuple(sympy.diff(reached[k], w) for w in back.values()) for k in rows)
    left = [target[k] - replace_parts(reached[k], dict.fromkeys(back.values(), ZERO)) for k in rows]
    is_affine = not any(
        visited.has_any_of(e, frozenset(back.values())) for e in (*left, *(e for row in C for e in row))
    )
    if len(rows) == len(back) and is_affine and compute_sparse_determinant(C) != 0:
        yield {w: sympy.expand(dot(row, left)) for w, row in zip(back, inverse(C), strict=True)}


def _list_visited_points(proposal: Proposal) -> tuple[tuple[Symbol, ...], list[tuple[Expr, ...]]]:
    """Return the coordinates that functions depend on, and the points where a move evaluates them before its end."""
    visited = proposal.visited
    places = {visited.opaque[x].place for e in proposal.to.values() for x in visited.reached(e)}
    kinds = {visited.points[k][0] for k in places}
    of = next(iter(kinds)) if len(kinds) == 1 else proposal.z
    ends = [visited.place(of, tuple(e[x] for x in of)) for e in ({x: x for x in of}, proposal.to)]
    middle = [k for k in sorted(places if len(kinds) == 1 else ()) if k not in ends]
    return of, [visited.points[k][1] for k in (ends[0], *middle)]


def _require_whole_space(proposal: Proposal) -> None:
    declarations = proposal.problem.subject.declarations
    if has_state_assumptions(declarations):
        raise NotFollowedError(
            "an assumption restricts the state, and it is not shown that moves out of it are rejected"
        )
    for block in declarations.blocks:
        own = coordinates(block, proposal.problem.sizes)
        inside = block.domain.name is DomainName.POSITIVE and all(proposal.to[x].is_positive for x in own)
        if block.domain.name is not DomainName.REAL and not inside:
            raise NotFollowedError(
                f"{block.name} has a boundary, and it is not shown that moves across it are rejected"
            )

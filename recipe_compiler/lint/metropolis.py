"""Does a step that is accepted or refused preserve exp(-H), as it is and at every step size? At fixed sizes.

S of (y, w), w being the draws that no one sees, is accepted with min(1, exp(L)). With E = w.T P w/2, P their
precision, that keeps exp(-H(y) - E(w)) where S is its own inverse and L = H(y) + E(w) - H(y') - E(w') + log |det DS|
(Tierney 1998; Green 1995). What is drawn before, and signs that are turned after, keep it by themselves.
"""

from dataclasses import replace

import sympy
from sympy import Expr

from recipe_compiler.algebra.positivity.region import region_at
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.lint.formulas import formula
from recipe_compiler.lint.involution import Involution, involution
from recipe_compiler.lint.metropolis_witness import departure
from recipe_compiler.lint.proposal import ZERO, Proposal, both_ways, proposals
from recipe_compiler.lint.read import UNREAD, Read, Seen, TracedProblem, not_zero
from recipe_compiler.lint.step_definedness import needed_at_every_step_size
from recipe_compiler.lint.visited import NotFollowedError, expanded
from recipe_compiler.trace.gaussian import NotAffineError, invariance_at
from recipe_compiler.verify.core.premises import restricts_state

HOW = "an involution, accepted by its ratio"
NONSINGULAR = "covariances of draws are nonsingular"
OF_THE_REST = (
    "is refreshed in every step, and the distribution of the rest is preserved; so is the joint one if an accepted "
    "move flips the sign of what it leaves"
)
OPEN = (*UNREAD, NotFollowedError, NotAffineError)


class _WrongRatioError(NotFollowedError):
    """The log of the ratio is not what it has to be; what is left."""

    def __init__(self, left: Expr) -> None:
        super().__init__("the log of the ratio is not H(z) - H(z') with its draws")
        self.left = left


def metropolis(read: Read) -> Seen:
    """Return whether a step with an acceptance preserves exp(-H)."""
    problem = read.problem
    found = _seen(problem)
    if found.holds and problem.trace.groups:
        found = replace(found, given=(NONSINGULAR,))
    if not found.holds or problem.subject.dynamics.declarations.sizes:
        return replace(found, given=(*found.given, *problem.trace.given))
    needs = _needs(problem)
    return replace(found, given=tuple(sorted(needs.given.union(found.given))), left=needs.open)


def _needs(problem: TracedProblem) -> Obligations:
    """Return what both ways need to be defined."""
    try:
        region = region_at(problem.subject.dynamics.declarations, problem.sizes)
        found = [needed_at_every_step_size(at.trace, at, region) for at in both_ways(problem)]
    except OPEN as reason:
        return Obligations(frozenset(), (str(reason),))
    return Obligations(
        frozenset[str]().union(*(one.given for one in found)), tuple(x for one in found for x in one.open)
    )


def _seen(problem: TracedProblem) -> Seen:
    try:
        found = proposals(problem)
    except OPEN as reason:
        return Seen(problem.at, reason=str(reason))
    reasons: list[str] = []
    left = ""
    for proposal in found:
        try:
            _shown(proposal)
        except _WrongRatioError as reason:
            reasons.append(str(reason))
            left = left or formula(reason.left)
        except OPEN as reason:
            reasons.append(str(reason))
        else:
            return Seen(problem.at, holds=True, by=HOW)
    for proposal in found:
        if proposal.refreshed is not None and _keeps_the_rest(proposal):
            return Seen(problem.at, reason=f"{proposal.refreshed.coordinates[0]} {OF_THE_REST}")
    for proposal in found:
        refuted = departure(proposal)
        if refuted is not None:
            by, point = refuted
            return Seen(problem.at, by=by, witness=point, residual=left)
    return Seen(problem.at, reason="; ".join(dict.fromkeys(reasons)), residual=left)


def _keeps_the_rest(proposal: Proposal) -> bool:
    """Whether a step would preserve exp(-H) that differs in what it leaves of coordinates which no step reads."""
    try:
        if not proposal.forgets():
            return False
        _shown(replace(proposal, is_turned=True))
    except OPEN:
        return False
    return True


def _shown(proposal: Proposal) -> None:
    """Show that a step preserves exp(-H).

    Raises:
        NotFollowedError: it is not shown; why.
    """
    if not proposal.where_it_holds:
        raise NotFollowedError("a move is accepted where the uniform draw is above the ratio, not below")
    _whole_space(proposal)
    if not law_is_kept(proposal):
        raise NotFollowedError("what is drawn before the move does not have its distribution under exp(-H)")
    if not is_even(proposal):
        raise NotFollowedError("H changes when signs are flipped after the move")
    move = involution(proposal)
    left = expanded(proposal.log_ratio() - _expected(proposal, move))
    if not proposal.visited.same(left, ZERO):
        raise _WrongRatioError(proposal.visited.plain(left))


def _expected(proposal: Proposal, move: Involution) -> Expr:
    """Return H(y) + w.T P w/2 - H(y') - w'.T P w'/2 + log |det DS|."""
    H, z = proposal.problem.H, proposal.z
    here = proposal.visited.at(H, {x: x for x in z})
    there = proposal.visited.at(H, dict(zip(z, move.to, strict=True)))
    return here - there + _energy(proposal, proposal.hidden) - _energy(proposal, move.hidden) + move.log_det


def _energy(proposal: Proposal, w: tuple[Expr, ...]) -> Expr:
    """Return w.T P w/2 of the hidden draws."""
    P = proposal.precision
    return sympy.Add(*(P[i][j] * x * y / 2 for i, x in enumerate(w) for j, y in enumerate(w) if P[i][j] != 0))


def _whole_space(proposal: Proposal) -> None:
    declarations = proposal.problem.subject.dynamics.declarations
    if restricts_state(declarations):
        raise NotFollowedError(
            "an assumption restricts the state, and it is not shown that moves out of it are rejected"
        )
    where = proposal.moved({x: x for x in proposal.z}, proposal.hidden).to
    after = dict(zip(proposal.z, where, strict=True))
    for block in declarations.blocks:
        inside = block.domain.name is DomainName.POSITIVE and all(
            after[x].is_positive for x in coordinates(block, proposal.problem.sizes)
        )
        if block.domain.name is not DomainName.REAL and not inside:
            raise NotFollowedError(
                f"{block.name} has a boundary, and it is not shown that moves across it are rejected"
            )


def law_is_kept(proposal: Proposal) -> bool:
    """Whether what is drawn before the move has the law that exp(-H) gives it, after the draw as before.

    Raises:
        NotAffineError: H is not quadratic in it.
    """
    if proposal.refreshed is None:
        return True
    return not not_zero(invariance_at(proposal.z, proposal.refreshed.moments, proposal.problem.H).conditions)


def is_even(proposal: Proposal) -> bool:
    """Whether H is the same where signs are turned."""
    turned = {x: sign * x for x, sign in zip(proposal.z, proposal.signs, strict=True) if sign < 0}
    H = proposal.problem.H
    return not turned or is_zero(sympy.expand(H.xreplace(turned) - H))

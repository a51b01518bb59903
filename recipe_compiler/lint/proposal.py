"""The parts of a step with acceptance: the draws before it, the proposed point, and the state after a rejection.

With w the hidden draws, a step z -> z' is looked at as two that follow each other:

    y = (z, some coordinates drawn anew)      read off what a rejected move leaves,
    y -> T(y, w) with probability min(1, exp(L(y, w))), else G y, signs: a flip of momenta, or nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.dynamics.acceptance import Image
from recipe_compiler.algebra.scalars.matrices import inverse
from recipe_compiler.lint.acceptance import read_log_ratio
from recipe_compiler.lint.read import TracedProblem, bind_leaves
from recipe_compiler.lint.visited import (
    UNIFORM,
    AtState,
    Least,
    NotFollowedError,
    Visited,
    is_same,
    name_draw,
    replace_parts,
)
from recipe_compiler.trace.moments import Coefficients
from recipe_compiler.trace.of_operations import Meaning
from recipe_compiler.trace.operations import Evaluation, Trace

ZERO = sympy.Integer(0)
Matrix = tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """Coordinates that are drawn before anything is accepted."""

    coordinates: tuple[Symbol, ...]
    mean: tuple[Expr, ...]
    covariance: Matrix
    draws: frozenset[Symbol]

    @property
    def forgets(self) -> bool:
        """Whether they are drawn anew whatever they were: no step reads what the one before left of them."""
        return not any(e.has(*self.coordinates) for row in (self.mean, *self.covariance) for e in row)

    def moments(self, z: tuple[Symbol, ...]) -> Coefficients[Expr]:
        """Return E[y - z] and Cov[y], in all coordinates."""
        at = {x: k for k, x in enumerate(self.coordinates)}
        rows = [[self.covariance[at[x]][at[y]] if x in at and y in at else ZERO for y in z] for x in z]
        return Coefficients(tuple(self.mean[at[x]] - x if x in at else ZERO for x in z), tuple(map(tuple, rows)))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A step, taken apart."""

    problem: TracedProblem
    meaning: Meaning
    visited: Visited
    trace: Trace
    """Its outputs are where a move is accepted."""
    to: Image
    """T(y, w) without the part of w."""
    signs: Mapping[Symbol, int]
    """G."""
    log_ratio: Expr
    where_it_holds: bool
    """Whether a move is accepted where log u < L, not above."""
    refreshed: Refreshed | None
    hidden: tuple[Symbol, ...]
    """Draws on which the state after a rejection does not depend."""
    precision: Matrix
    """That of the hidden draws, whose law is exp(-w.T P w/2)."""

    @property
    def z(self) -> tuple[Symbol, ...]:
        """Return the coordinates, of z and of y."""
        return self.problem.z

    @property
    def energy(self) -> Expr:
        """Return H(y) + w.T P w/2."""
        P, w = self.precision, self.hidden
        own = (P[i][j] * x * y / 2 for i, x in enumerate(w) for j, y in enumerate(w) if P[i][j] != 0)
        return sympy.Add(self.visited.at(self.problem.H, {x: x for x in self.z}), *own)

    @property
    def refused(self) -> Image:
        """Return what a rejected move does to the coordinates that it changes."""
        return {x: -x for x, sign in self.signs.items() if sign < 0}

    def flip_refreshed(self) -> "Proposal | None":
        """Return the step that flips what it leaves of refreshed coordinates; None where a later step reads them."""
        if self.refreshed is None or not self.refreshed.forgets:
            return None
        anew = self.refreshed.coordinates
        return replace(self, to={x: -e if x in anew else e for x, e in self.to.items()})


@dataclass(frozen=True, slots=True)
class WholeStep:
    """A step whose operations are read at a state and draws."""

    problem: TracedProblem
    meaning: Meaning
    visited: Visited
    plain: Evaluation[Expr]
    """Its operations at the symbols of the coordinates."""

    @property
    def draws(self) -> tuple[Symbol, ...]:
        """Return the symbols of all normal draws."""
        return tuple(map(name_draw, range(self.problem.trace.draws)))

    def covariances(self) -> dict[tuple[Symbol, Symbol], Expr]:
        """Return the covariances of all draws that are not zero, by pairs of them.

        Raises:
            NotFollowedError: one depends on the state or on draws, or is not shown to be symmetric.
        """
        draws, visited, at = self.draws, self.visited, self.plain
        found: dict[tuple[Symbol, Symbol], Expr] = {(w, w): sympy.Integer(1) for w in draws}
        for own, places in self.problem.trace.groups:
            pairs = product([draws[k] for k in own], [draws[k] for k in own])
            found |= dict(zip(pairs, map(at.value, places), strict=True))
        foreign = frozenset((*self.problem.z, *draws))
        for (v, w), x in found.items():
            if visited.has_any_of(x, foreign) or visited.symbols(x):
                raise NotFollowedError("the covariance of a draw depends on the state, or on another draw")
            if not visited.has_same_value(x, found[w, v]):
                raise NotFollowedError("a covariance that is not known to be symmetric")
        return found


def read_whole_step(problem: TracedProblem) -> WholeStep:
    """Return a step to be read; parameters are the step size and what is no state and no function of it."""
    own = bind_leaves(problem)
    plain = (e for name, entries in own.leaves.items() if not own.points.get(name) for e in entries)
    symbols = {own.eps, *(x for e in plain for x in e.free_symbols if isinstance(x, Symbol))}
    visited = Visited(frozenset(symbols - set(problem.z)), own.others)
    at = AtState(own, visited, {x: x for x in problem.z})
    return WholeStep(problem, own, visited, Evaluation(problem.trace.operations, at))


def list_proposals(step: WholeStep) -> list[Proposal]:
    """Return the ways in which a step can be taken apart: what is drawn may be turned by G, or not.

    Raises:
        NotFollowedError: none is known.
    """
    trace = step.problem.trace
    # what is accepted is what moves the state, whichever way that is: the other leaves it, but for signs and draws
    ways = [(trace.outputs, trace.otherwise, True), (trace.otherwise, trace.outputs, False)]
    found: list[Proposal] = []
    reasons: list[str] = []
    for taken, left, is_first in ways:
        own = replace(trace, outputs=taken)
        try:
            found += _list_readings(step, own, [k for flat in left for k in flat], is_first)
        except NotFollowedError as reason:
            reasons.append(str(reason))
    if not found:
        raise NotFollowedError("; ".join(reasons) or "no branch returns the old state, up to signs and a normal draw")
    return [proposal for proposal in found if proposal.refreshed is None] or found


def _list_readings(step: WholeStep, trace: Trace, left: Sequence[int], is_first: bool) -> Iterator[Proposal]:
    """Yield the readings of a step whose rejected move has the given outputs."""
    visited, z, at = step.visited, step.problem.z, step.plain
    states = {x: at.value(k) for x, k in zip(z, left, strict=True)}
    anew = [x for x in z if visited.has_any_of(states[x], frozenset(step.draws))]
    signs = {x: next((s for s in (1, -1) if is_same(states[x], s * x)), 0) for x in z}
    if not all(signs[x] or x in anew for x in z):
        return
    for sign in (1, -1) if anew else (1,):
        own = {x: s or sign for x, s in signs.items()}
        refreshed = _read_refreshed(step, {x: sympy.expand(own[x] * states[x]) for x in anew}) if anew else None
        cut = [pair for x, k in zip(z, left, strict=True) if x in anew for pair in _list_cuts(trace, k, own[x] * x)]
        old = {x: Symbol(f"{x}.old", real=True) if x in anew else x for x in z}
        read = Evaluation(trace.operations, AtState(step.meaning, visited, old), dict(cut))
        to = {x: read.value(k) for x, k in zip(z, (k for flat in trace.outputs for k in flat), strict=True)}
        L, is_below = read_log_ratio(*map(read.value, trace.compared))
        reads = (*to.values(), L)
        everything = [part for e in reads for part in visited.with_points(e)]
        inside = frozenset(x for e in everything for x in e.free_symbols if isinstance(x, Symbol))
        if any(x.name.startswith(UNIFORM) for x in inside) or any(e.has(Least) for e in everything):
            raise NotFollowedError("the smaller of two values, or a uniform draw, outside the condition for acceptance")
        used = frozenset() if refreshed is None else refreshed.draws
        if anew and not inside.isdisjoint(used.union(old[x] for x in anew)):
            raise NotFollowedError(f"{anew[0]}, or its draw, is used before it is refreshed")
        hidden = tuple(w for w in step.draws if w not in used and w in inside)
        P = _compute_precision(step, hidden)
        yield Proposal(
            step.problem, step.meaning, visited, trace, to, own, L, is_below == is_first, refreshed, hidden, P
        )


def _list_cuts(trace: Trace, place: int, value: Expr) -> Iterator[tuple[int, Expr]]:
    """Yield places of a trace with a known value: an operation, and the operand of its sign flip."""
    yield place, value
    one = trace.operations[place]
    turned = [k for k in one.parts if one.op == "mul" and trace.operations[k].value != -1]
    yield from ((k, -value) for k in turned if len(turned) == 1)


def _compute_precision(step: WholeStep, hidden: tuple[Symbol, ...]) -> Matrix:
    """Return the inverse covariance of hidden draws, which have to be independent of all others."""
    known = step.covariances()
    if any((v in hidden) != (w in hidden) for v, w in known):
        raise NotFollowedError("a draw that is not returned depends on one that is")
    S = tuple(tuple(step.visited.plain(known.get((v, w), ZERO)) for w in hidden) for v in hidden)
    return inverse(S) if hidden else ()


def _read_refreshed(step: WholeStep, y: Mapping[Symbol, Expr]) -> Refreshed:
    """Return the mean and covariance of the coordinates drawn before the move.

    Raises:
        NotFollowedError: not in an affine way.
    """
    visited, name = step.visited, next(iter(y))
    draws = tuple(w for w in step.draws if any(visited.has_any_of(x, frozenset((w,))) for x in y.values()))
    B = [[sympy.diff(x, w) for w in draws] for x in y.values()]
    if any(visited.has_any_of(x, frozenset(draws)) for row in B for x in row):
        raise NotFollowedError(f"{name} is not an affine function of normal draws")
    none: dict[Symbol, Expr] = dict.fromkeys(draws, ZERO)
    mean = [sympy.expand(replace_parts(x, none)) for x in y.values()]
    if any(visited.symbols(x) for x in (*mean, *(x for row in B for x in row))):
        raise NotFollowedError(f"{name} is drawn by a function of the document")
    known = step.covariances()
    pairs = [(m, n, S) for m, v in enumerate(draws) for n, w in enumerate(draws) if (S := known.get((v, w), ZERO)) != 0]
    spread = [[visited.plain(sympy.Add(*(a[m] * S * b[n] for m, n, S in pairs))) for b in B] for a in B]
    return Refreshed(tuple(y), tuple(map(visited.plain, mean)), tuple(map(tuple, spread)), frozenset(draws))

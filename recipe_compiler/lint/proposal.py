"""A step that is accepted or refused, taken apart: what is drawn before, where a move leads, what a refused one leaves.

With w the draws, a step z -> z' is looked at as three that follow each other:

    y = (z, some coordinates drawn anew)      read off what a refused move leaves,
    y -> S(y, w) with probability min(1, exp(L(y, w))), else y,
    y -> G y, signs: a flip of momenta, or nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler.lint.acceptance import acceptance
from recipe_compiler.lint.answer import Trace
from recipe_compiler.lint.read import TracedProblem, meaning
from recipe_compiler.lint.series import Meaning
from recipe_compiler.lint.visited import (
    Evaluation,
    Here,
    NotFollowedError,
    Shapes,
    Visited,
    is_same,
    replaced,
    symbols_of,
)
from recipe_compiler.trace.moments import Coefficients

ZERO = sympy.Integer(0)


@dataclass(frozen=True, slots=True)
class Refreshed:
    """Coordinates that are drawn before anything is accepted: y = at(z, w), and the draws that lead to y."""

    coordinates: tuple[Symbol, ...]
    moments: Coefficients[Expr]
    """E[y - z] and Cov[y], in all coordinates."""
    at: tuple[tuple[int, Symbol, int], ...]
    """Where a trace has such a coordinate of y, or -y: the place, the coordinate, the sign."""
    draws: frozenset[Symbol]


@dataclass(frozen=True, slots=True)
class Moved:
    """Where a move leads from a point: S(y, w) without the part of w, and the way it took."""

    to: tuple[Expr, ...]
    route: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A step, taken apart."""

    problem: TracedProblem
    meaning: Meaning
    visited: Visited
    trace: Trace
    """What is computed where a move is accepted."""
    signs: tuple[int, ...]
    """G."""
    refreshed: Refreshed | None
    hidden: tuple[Symbol, ...]
    """Draws that are not seen in what a refused move leaves."""
    precision: tuple[tuple[Expr, ...], ...]
    """That of the hidden draws, whose law is exp(-w.T P w/2)."""
    where_it_holds: bool
    """Whether a move is accepted where log u < L."""
    is_turned: bool = False
    """Whether what was drawn anew is looked at as if an accepted move turned it."""

    @property
    def z(self) -> tuple[Symbol, ...]:
        """Return the coordinates, of z and of y."""
        return self.problem.z

    def moved(self, here: Here, hidden: Sequence[Expr]) -> Moved:
        """Return where a move leads from y = here with some draws.

        Raises:
            NotFollowedError: an operation that is not known, or old values of what was drawn anew are read.
        """
        at = self._at(here, hidden)
        places = (k for group in self.trace.outputs for k in group)
        anew = self.refreshed.coordinates if self.refreshed is not None and self.is_turned else ()
        signs = (-sign if z in anew else sign for sign, z in zip(self.signs, self.z, strict=True))
        to = tuple(sign * at.value(k) for sign, k in zip(signs, places, strict=True))
        self._reads_no_old(to)
        return Moved(to, tuple(self.visited.route))

    def log_ratio(self) -> Expr:
        """Return L(y, w).

        Raises:
            NotFollowedError: as for `moved`.
        """
        found = acceptance(self.trace).log_ratio(self._at({x: x for x in self.z}, self.hidden))
        self._reads_no_old((found,))
        return found

    def forgets(self) -> bool:
        """Whether coordinates are drawn anew whatever they were: no step reads what the one before left of them."""
        anew = self.refreshed
        if anew is None:
            return False
        own = {x: k for k, x in enumerate(self.z) if x in anew.coordinates}
        means = (sympy.expand(anew.moments.mean[k] + x) for x, k in own.items())
        spreads = (e for k in own.values() for e in anew.moments.covariance[k])
        return not any(e.has(*own) for e in (*means, *spreads))

    def _at(self, here: Here, hidden: Sequence[Expr]) -> Evaluation:
        own = {**{w: w for w in symbols_of(self.trace)}, **dict(zip(self.hidden, hidden, strict=True))}
        anew = self.refreshed
        cut = {} if anew is None else {place: sign * here[x] for place, x, sign in anew.at}
        old = {} if anew is None else {x: _old(x) for x in anew.coordinates}
        return evaluation(self.trace, self.meaning, self.visited, {**here, **old}, tuple(own.values()), cut)

    def _reads_no_old(self, found: tuple[Expr, ...]) -> None:
        anew = self.refreshed
        if anew is None:
            return
        old = frozenset((*map(_old, anew.coordinates), *anew.draws))
        if any(self.visited.depends(x, old) for x in found):
            raise NotFollowedError(f"{anew.coordinates[0]}, or its draw, is used before it is refreshed")


def _old(x: Symbol) -> Symbol:
    return Symbol(f"{x}.old", real=True)


def proposals(problem: TracedProblem) -> list[Proposal]:
    """Return the ways in which a step can be taken apart: what is drawn may be turned by G, or not.

    Raises:
        NotFollowedError: none is known.
    """
    both = both_ways(problem)
    rules = [acceptance(at.trace) for at in both]
    ratios = [rule.log_ratio(at) for rule, at in zip(rules, both, strict=True)]
    if rules[0].where_it_holds != rules[1].where_it_holds or not both[0].visited.same(*ratios):
        raise NotFollowedError("the condition for acceptance depends on its own outcome")
    holds = rules[0].where_it_holds
    # what is accepted is what moves the state, whichever way that is: the other leaves it, but for signs and draws
    ways = [(both[0], both[1], holds), (both[1], both[0], not holds)]
    found: list[Proposal] = []
    why = "no branch returns the old state, up to signs and a normal draw"
    for taken, left, is_taken in ways:
        try:
            found += _apart(problem, taken, left, ratios[0], is_taken)
        except NotFollowedError as reason:
            why = str(reason)
    if not found:
        raise NotFollowedError(why)
    plain = [proposal for proposal in found if proposal.refreshed is None]
    return plain or found


def both_ways(problem: TracedProblem) -> list[Evaluation]:
    """Return what is computed where the comparison holds, and where it does not, at any state and draws.

    Raises:
        NotFollowedError: nothing is compared, or the ways differ in the order of what they return.
    """
    one, other = problem.trace, problem.trace.otherwise
    if other is None:
        raise NotFollowedError("nothing is accepted or rejected")
    own = meaning(problem)
    if one.order != other.order:
        raise NotFollowedError("accepted and rejected moves return the blocks in different orders")
    visited = Visited(_parameters(own, problem))
    return [_plainly(trace, own, visited, problem) for trace in (one, other)]


def _parameters(own: Meaning, problem: TracedProblem) -> frozenset[Symbol]:
    """Return the step size, and the symbols of arguments that are no state and no function of it."""
    plain = (e for name, entries in own.leaves.items() if not own.points.get(name) for e in entries)
    symbols = {own.eps, *(x for e in plain for x in e.free_symbols if isinstance(x, Symbol))}
    return frozenset(symbols - set(problem.z))


def evaluation(
    trace: Trace,
    own: Meaning,
    visited: Visited,
    here: Here,
    draws: Sequence[Expr],
    cut: Mapping[int, Expr] = MappingProxyType({}),
) -> Evaluation:
    """Return a trace to be evaluated at a state and draws; `visited.route` is the way that it takes from here."""
    visited.route.clear()
    return Evaluation(trace, own, visited, here, draws, cut)


def _plainly(trace: Trace, own: Meaning, visited: Visited, problem: TracedProblem) -> Evaluation:
    return evaluation(trace, own, visited, {x: x for x in problem.z}, tuple(symbols_of(trace)))


def _outputs(at: Evaluation) -> list[int]:
    return [k for group in at.trace.outputs for k in group]


def _apart(
    problem: TracedProblem, taken: Evaluation, left: Evaluation, log_ratio: Expr, holds: bool
) -> Iterator[Proposal]:
    """Yield the ways to take a step apart where `left` is a refused move, `taken` an accepted one."""
    visited = taken.visited
    states = [left.value(k) for k in _outputs(left)]
    draws = tuple(symbols_of(taken.trace))
    drawn = [k for k, x in enumerate(states) if visited.depends(x, frozenset(draws))]
    signs = [0 if k in drawn else _sign(x, z) for k, (x, z) in enumerate(zip(states, problem.z, strict=True))]
    if any(s == 0 and k not in drawn for k, s in enumerate(signs)):
        return
    reads = [*(taken.value(k) for k in _outputs(taken)), log_ratio]
    for sign in (1, -1) if drawn else (1,):
        turned = tuple(s or sign for s in signs)
        refreshed = _refreshed(problem.z, taken, left, drawn, turned) if drawn else None
        seen = frozenset[Symbol]() if refreshed is None else refreshed.draws
        hidden = tuple(w for w in draws if w not in seen and any(visited.depends(x, frozenset((w,))) for x in reads))
        P = _precision(taken, hidden)
        yield Proposal(problem, taken.meaning, visited, taken.trace, turned, refreshed, hidden, P, holds)


def covariances(at: Evaluation) -> dict[tuple[Symbol, Symbol], Expr]:
    """Return the covariances of all draws that are not zero, by pairs of them.

    Raises:
        NotFollowedError: one depends on the state or on draws, or is not seen to be symmetric.
    """
    draws = tuple(symbols_of(at.trace))
    found: dict[tuple[Symbol, Symbol], Expr] = {(w, w): sympy.Integer(1) for w in draws}
    for own, places in at.trace.groups:
        for row, i in enumerate(own):
            for column, j in enumerate(own):
                found[draws[i], draws[j]] = at.value(places[row * len(own) + column])
    foreign = frozenset((*at.here, *draws))
    for (v, w), x in found.items():
        if at.visited.depends(x, foreign) or at.visited.inside(x):
            raise NotFollowedError("the covariance of a draw depends on the state, or on another draw")
        if not at.visited.same(x, found[w, v]):
            raise NotFollowedError("a covariance that is not known to be symmetric")
    return found


def _precision(at: Evaluation, hidden: tuple[Symbol, ...]) -> tuple[tuple[Expr, ...], ...]:
    """Return the inverse covariance of hidden draws, which have to be independent of all others."""
    known = covariances(at)
    if any((v in hidden) != (w in hidden) for v, w in known):
        raise NotFollowedError("a draw that is not returned depends on one that is")
    n = len(hidden)
    S = sympy.Matrix(n, n, [at.visited.plain(known.get((v, w), ZERO)) for v in hidden for w in hidden])
    P = S if sympy.eye(n) == S else S.inv()
    return tuple(tuple(cast(Expr, P[i, j]) for j in range(n)) for i in range(n))


def _sign(x: Expr, z: Symbol) -> int:
    return next((s for s in (1, -1) if is_same(x, s * z)), 0)


def _refreshed(
    z: tuple[Symbol, ...], taken: Evaluation, left: Evaluation, drawn: list[int], signs: tuple[int, ...]
) -> Refreshed:
    """Return what is drawn before.

    Raises:
        NotFollowedError: not in an affine way.
    """
    places = _outputs(left)
    y = [sympy.expand(signs[k] * left.value(places[k])) for k in drawn]
    draws = tuple(w for w in symbols_of(left.trace) if any(left.visited.depends(x, frozenset((w,))) for x in y))
    B = [[sympy.diff(x, w) for w in draws] for x in y]
    if any(left.visited.depends(x, frozenset(draws)) for row in B for x in row):
        raise NotFollowedError(f"{z[drawn[0]]} is not an affine function of normal draws")
    none: dict[Symbol, Expr] = dict.fromkeys(draws, ZERO)
    mean = [sympy.expand(replaced(x, none)) for x in y]
    known = covariances(left)
    pairs = [(m, n, S) for m, v in enumerate(draws) for n, w in enumerate(draws) if (S := known.get((v, w), ZERO)) != 0]
    spread = [[sympy.Add(*(one[m] * S * two[n] for m, n, S in pairs)) for two in B] for one in B]
    if any(left.visited.inside(x) for x in (*mean, *(x for row in B for x in row))):
        raise NotFollowedError(f"{z[drawn[0]]} is drawn by a function of the document")
    at = {k: n for n, k in enumerate(drawn)}
    plain = left.visited.plain
    moments = Coefficients(
        tuple(plain(mean[at[k]]) - z[k] if k in at else ZERO for k in range(len(z))),
        tuple(
            tuple(plain(spread[at[i]][at[j]]) if i in at and j in at else ZERO for j in range(len(z)))
            for i in range(len(z))
        ),
    )
    cut = tuple(found for k in drawn for found in _where(taken.trace, left.trace, places[k], z[k], signs[k]))
    return Refreshed(tuple(z[k] for k in drawn), moments, cut, frozenset(draws))


def _where(taken: Trace, left: Trace, place: int, x: Symbol, sign: int) -> Iterator[tuple[int, Symbol, int]]:
    """Yield where one trace has an operation of another one, or what is turned in it."""
    shapes = Shapes()
    own, other = shapes.of(taken), shapes.of(left)
    operation = left.operations[place]
    turned = [k for k in operation.parts if operation.op == "mul" and left.operations[k].value != -1]
    pairs = [(place, sign), *((k, -sign) for k in turned if len(turned) == 1)]
    for at, its in pairs:
        yield from ((k, x, its) for k, shape in enumerate(own) if shape == other[at])

"""Exact witnesses that a step with acceptance does not preserve exp(-H).

If all draws of a step are in the state, by a point: with T where a move leads, p(z) the probability that it does and
G what else happens, a density pi = exp(-H) comes to

    (pi K)(T x) >= pi(x) p(x)/|det DT(x)| + pi(G y) (1 - p(G y)),    y = T x,

in which other points that lead to y have no part: where that is above pi(y), exp(-H) is not preserved. If draws
are hidden, by a Gaussian law of one coordinate: in polar coordinates of (theta, w) the change of E theta^2 in a step
is an integral over an angle, which balls enclose.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import flint
import sympy
from flint import arb
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics import balance
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, ball, evaluate
from recipe_compiler.algebra.scalars.matrices import determinant, inverse
from recipe_compiler.algebra.scalars.rationals import fraction, rational
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.lint.proposal import ZERO, Proposal
from recipe_compiler.lint.read import UNREAD, decide, list_nonzero
from recipe_compiler.lint.visited import NotFollowedError, Visited, is_same
from recipe_compiler.trace.gaussian import NotAffineError, invariance_at
from recipe_compiler.trace.moments import Coefficients, expectation
from recipe_compiler.trace.of_operations import TraceReading
from recipe_compiler.trace.scalars import Poly, value_of
from recipe_compiler.trace.series import TWO, Series
from recipe_compiler.verdict import Evidence, Refuted
from recipe_compiler.verify.updates.claimed_step import residual_of

STEP_SIZES = (Fraction(1, 2), Fraction(1), Fraction(1, 8))
ANGLES = 4096
"""Parts of the circle over which an integral is enclosed."""
OPEN = (*UNREAD, NotFollowedError, NotAffineError)
"""What may keep a move from being judged."""
Refutation = tuple[str, Evidence]


def refute_proposal(proposal: Proposal) -> Refutation | None:
    """Return a refutation of the claim that a step preserves exp(-H); None if none is found."""
    declarations = proposal.problem.subject.declarations
    plain = proposal.visited.plain
    proposal = replace(proposal, to={x: plain(e) for x, e in proposal.to.items()}, log_ratio=plain(proposal.log_ratio))
    try:
        if list_nonzero(conditions := _list_law_conditions(proposal)):
            return _refute_draw(proposal, conditions)
        if (found := _refute_limit_or_none(proposal)) is not None:
            return found
        if any(block.domain.name is not DomainName.REAL for block in declarations.blocks):
            return None
        return next((_refute_by_gaussian if proposal.hidden else _refute_at_points)(proposal), None)
    except (*OPEN, NoValueError):
        return None


def _refute_limit_or_none(proposal: Proposal) -> Refutation | None:
    try:
        return _refute_limit(proposal)
    except (*UNREAD, NotFollowedError):
        return None


def _list_law_conditions(proposal: Proposal) -> Sequence[tuple[str, Expr]]:
    """Return the conditions, scalars that vanish, under which draws before the move have their law under exp(-H)."""
    drawn, H = proposal.refreshed, proposal.problem.H
    if drawn is None:
        return ()
    try:
        return invariance_at(proposal.problem.setting, drawn.moments(proposal.z), H).conditions
    except NotAffineError:
        if not drawn.forgets:
            raise
    words = "the Hessian of H in {}, {} minus the precision that these are drawn with"
    rows = zip(drawn.coordinates, inverse(drawn.covariance), strict=True)
    return [
        (words.format(x, y), sympy.diff(H, x, y) - p)
        for x, row in rows
        for y, p in zip(drawn.coordinates, row, strict=True)
    ]


def _refute_draw(proposal: Proposal, conditions: Sequence[tuple[str, Expr]]) -> Refutation | None:
    """Return the refutation of a wrong draw that only flips under which H is even follow, as eps -> 0."""
    problem, visited, eps = proposal.problem, proposal.visited, proposal.meaning.eps
    if not problem.step_size or any(e.has(eps) for _, e in conditions):
        return None
    to, ratio = (
        {x: visited.after({eps: ZERO}, e) for x, e in proposal.to.items()},
        visited.after({eps: ZERO}, proposal.log_ratio),
    )
    H = visited.at(problem.H, {x: x for x in proposal.z})
    if not all(is_same(e**2, x**2) for x, e in to.items()):
        return None
    if not visited.has_same_value(ratio, ZERO) or not visited.has_same_value(visited.after(to, H), H):
        return None
    name = ", ".join(map(str, proposal.refreshed.coordinates if proposal.refreshed else ()))
    by = f"as eps -> 0 the step leaves {name} as it is drawn, not as exp(-H) has it: exact witness"
    return _refute_by_witness(proposal, by, conditions)


def _refute_by_witness(proposal: Proposal, by: str, conditions: Sequence[tuple[str, Expr]]) -> Refutation | None:
    decision = decide(proposal.problem, conditions).decision
    return (by, decision.witness) if isinstance(decision, Refuted) else None


def _refute_limit(proposal: Proposal) -> Refutation | None:
    """Return the refutation of the limit eps -> 0 of a step that is accepted with probability min(1, exp(L)).

    Where dz and L begin with the same power of eps, both odd in the draws, 2 min(0, L) = L - |L| has |L| even, and
    E[dz min(0, L)] is E[dz L]/2 at twice that power: the drift is E[dz] + E[dz L]/2. Accepted where log u is above L,
    it is -E[dz L]/2, without noise.
    """
    if proposal.refreshed is not None or proposal.refused or not proposal.hidden:
        return None
    reading = TraceReading(proposal.trace, proposal.meaning, TWO)
    S, dz = reading.S, [reading.S.leading(x) for x in reading.moments.change]
    L = S.leading(_expand(proposal, reading, proposal.log_ratio))
    low = min(x.low for x in dz)
    if low <= 0 or L.low < low or not all(_is_odd(x.parts.get(low, {})) for x in (*dz, L)):
        return None
    own = reading.moments.at(2 * low)
    both = [S.at(expectation(S, S.multiply(x, L), reading.moments.draws), 2 * low) for x in dz]
    bias = [value_of(x) / 2 for x in both]
    if proposal.where_it_holds:
        mean = tuple(value_of(x) + y for x, y in zip(own.mean, bias, strict=True))
        part = Coefficients(mean, tuple(tuple(map(value_of, row)) for row in own.covariance))
    else:
        part = Coefficients(tuple(-x for x in bias), tuple(tuple(ZERO for _ in row) for row in own.covariance))
    words = "the residual of the limiting equation, acceptance included"
    left = residual_of(proposal.z, part, proposal.problem.H)
    return _refute_by_witness(proposal, "wrong at every small step size: exact witness", [(words, left)])


def _expand(proposal: Proposal, reading: TraceReading, e: Expr) -> Series[Poly]:
    """Return an expression as a series, functions included, at the points where they were evaluated."""
    visited, known = proposal.visited, reading.scalars.known
    for x in visited.symbols(e):
        if x not in known:
            of, point = visited.points[visited.opaque[x].place]
            parts = [_expand(proposal, reading, visited.plain(y)) for y in point]
            known[x] = reading.at_point(off_kinks(visited.opaque[x].call), of, parts, str(x))
    return reading.scalars.series(e)


def _is_odd(x: Poly) -> bool:
    return all(len(draws) % 2 for draws in x)


def _refute_at_points(proposal: Proposal) -> Iterator[Refutation]:
    problem = proposal.problem
    for at in points(problem.subject.declarations, problem.sizes, limits.POINTS // 2):
        for eps in STEP_SIZES if problem.step_size else STEP_SIZES[:1]:
            try:
                found = _find_excess(proposal, replace(at, numbers={**at.numbers, proposal.meaning.eps: eps}))
            except (NoValueError, ZeroDivisionError):
                continue
            if found is not None:
                given = (("eps", str(eps)),) if problem.step_size else ()
                why = ("the density at T z after a step from exp(-H), over exp(-H) there: at least", found)
                yield "exact witness: exp(-H) changes in a step", (*at.text, *given, why)


def _find_excess(proposal: Proposal, at: Point) -> str | None:
    """Return (pi K)(y)/pi(y) at y = T x where it is certainly above 1: at least what comes from x and from G y."""
    to, H, L = proposal.to, proposal.problem.H, proposal.log_ratio
    here = _PointReader(proposal.visited, at)
    y = {z: here.value(e) for z, e in to.items()}
    turned = {z: proposal.signs[z] * value for z, value in y.items()}
    there, back = (_PointReader(proposal.visited, replace(at, numbers={**at.numbers, **own})) for own in (y, turned))
    rows = [[here.slope(e, z) for z in to] for e in to.values()]
    volume = determinant(tuple(tuple(map(rational, row)) for row in rows))
    if not isinstance(volume, sympy.Rational) or volume == 0:
        return None
    leaving = back.value(H)
    terms: dict[Fraction, Fraction] = defaultdict(Fraction)
    for exponent, c in _write_accepted_density(proposal, here.value(H), here.value(L)):
        terms[exponent] += c / abs(fraction(volume))
    terms[leaving] += 1
    for exponent, c in _write_accepted_density(proposal, leaving, back.value(L)):
        terms[exponent] -= c
    found = balance.value({a: c for a, c in terms.items() if c}, there.value(H))
    return found.str(6, radius=False) if found > 1 else None


def _write_accepted_density(proposal: Proposal, energy: Fraction, ratio: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return exp(-H) p, p the probability that a move is accepted, as a sum of c exp(-a)."""
    accepted = energy - min(Fraction(0), ratio)
    return [(accepted, Fraction(1))] if proposal.where_it_holds else [(energy, Fraction(1)), (accepted, Fraction(-1))]


class _PointReader:
    """Values and slopes of expressions at a point, functions at the points that were visited among them."""

    def __init__(self, visited: Visited, at: Point) -> None:
        self.visited, self.at = visited, at
        self.known: dict[Symbol, Fraction] = {}
        self.slopes: dict[tuple[Symbol, Symbol], Fraction] = {}

    def value(self, e: Expr) -> Fraction:
        """Return the value of an expression."""
        found = evaluate(e, self._leaf)
        if not isinstance(found, Fraction):
            raise NoValueError("not rational")
        return found

    def slope(self, e: Expr, by: Symbol) -> Fraction:
        """Return the derivative of an expression, through the points that functions are taken at."""
        through = ((x, self._find_slope(x, by)) for x in self.visited.symbols(e))
        return self.value(slope(e, by)) + sum(self.value(slope(e, x)) * along for x, along in through if along)

    def _leaf(self, e: Expr) -> Value:
        """Return the value of a symbol, functions at the points that they were taken at."""
        if not isinstance(e, Symbol) or e not in self.visited.opaque:
            return self.at.leaf(e)
        if e not in self.known:
            self.known[e] = _PointReader(self.visited, self._map_point(e)).value(self.visited.opaque[e].call)
        return self.known[e]

    def _map_point(self, x: Symbol) -> Point:
        """Return the point that a symbol's function is taken at."""
        of, point = self.visited.points[self.visited.opaque[x].place]
        own = {z: self.value(self.visited.plain(e)) for z, e in zip(of, point, strict=True)}
        return replace(self.at, numbers={**self.at.numbers, **own})

    def _find_slope(self, x: Symbol, by: Symbol) -> Fraction:
        """Return the derivative of a symbol's function through its point."""
        if (x, by) not in self.slopes:
            of, point = self.visited.points[self.visited.opaque[x].place]
            there = _PointReader(self.visited, self._map_point(x))
            along = [(z, self.slope(self.visited.plain(e), by)) for z, e in zip(of, point, strict=True)]
            found = (there.value(slope(self.visited.opaque[x].call, z)) * s for z, s in along if s)
            self.slopes[x, by] = sum(found, Fraction(0))
        return self.slopes[x, by]


def _refute_by_gaussian(proposal: Proposal) -> Iterator[Refutation]:
    """Yield a refutation by U = x**2/2 of one coordinate x that a single draw moves.

    In the others U is delta y**2/2: as delta -> 0 their gradients vanish, and so do their parts of the ratio where they
    are translated by what does not depend on them. What a step changes of E x**2 is continuous in delta there.
    """
    problem = proposal.problem
    if problem.subject.declarations.assume or proposal.refreshed is not None:
        return
    for x in proposal.z if _is_translation(proposal) else proposal.z[: len(proposal.z) == 1]:
        for at in points(problem.subject.declarations, problem.sizes, limits.TRIALS):
            for eps in STEP_SIZES if problem.step_size else STEP_SIZES[:1]:
                try:
                    change = _compute_change_at(proposal, at, eps, x)
                except NoValueError:
                    continue
                if change > 0 or change < 0:
                    yield _write_change(proposal, at, eps, x, change)


def _is_translation(proposal: Proposal) -> bool:
    """Whether every coordinate is shifted by terms that depend on coordinates only through functions.

    So it is with the ratio, in which the values of U at the points that are visited come with factors of sum 0.
    """
    visited, own = proposal.visited, set(proposal.z)
    shifts = [to - z for to, z in ((e, x) for x, e in proposal.to.items())]
    shifts += [e - z for of, point in visited.points for z, e in zip(of, point, strict=True)]
    U = [x for x, one in visited.opaque.items() if isinstance(one.call, AppliedUndef)]
    weight = sympy.expand(sympy.Add(*(sympy.diff(proposal.log_ratio, x) for x in U)))
    return weight == 0 and not any(sympy.expand(e).free_symbols & own for e in (*shifts, proposal.log_ratio))


def _compute_change_at(proposal: Proposal, at: Point, eps: Fraction, x: Symbol) -> arb:
    """Return the relative change of E[x^2] at values of the parameters.

    Raises:
        NoValueError: what is proposed is not linear in x and one draw, or a log density not quadratic in them.
    """
    numbers: dict[Expr, Expr] = {s: rational(value) for s, value in at.numbers.items() if s not in proposal.z}
    square = _QuadraticReader(proposal, {**numbers, proposal.meaning.eps: rational(eps)}, x)
    to, ratio = square.of(proposal.to[x]), square.of(proposal.log_ratio)
    drawn = [w for w in proposal.hidden if w in to.free_symbols | ratio.free_symbols]
    if len(drawn) != 1:
        raise NoValueError("several draws")
    k = proposal.hidden.index(drawn[0])
    P = proposal.precision[k]
    if any(e != 0 for n, e in enumerate(P) if n != k):
        raise NoValueError("draws that depend on each other")
    energy = square.of(square.plain(proposal.problem.H) + P[k] * drawn[0] ** 2 / 2)
    pair = (x, drawn[0])
    own = sympy.expand(energy.xreplace({z: ZERO for z in proposal.z if z != x}))
    others = sympy.expand(energy - own)
    if others.has(*pair):
        raise NoValueError("coupled coordinates")
    linear, *quadratic = _read_form(to, pair, 1), *(_read_form(e, pair, 2) for e in (ratio, own))
    return _integrate_change(linear, *quadratic, where_it_holds=proposal.where_it_holds)


def _write_change(proposal: Proposal, at: Point, eps: Fraction, x: Symbol, change: arb) -> Refutation:
    """Return the refutation by a relative change of E[x**2]."""
    problem = proposal.problem
    parameters = {parameter.name for parameter in problem.subject.declarations.parameters}
    named = [(name, value) for name, value in at.text if name in parameters]
    U, others = problem.subject.dynamics.potential, [str(z) for z in proposal.z if z != x]
    rest = f" + delta*({' + '.join(f'{z}**2' for z in others)})/2, delta -> 0" if others else ""
    potential = [("potential", f"{U} = {x}**2/2{rest}")] if problem.H.atoms(AppliedUndef) else []
    given = [("eps", str(eps))] if problem.step_size else []
    sizes = ((name, str(n)) for name, n in problem.sizes.items())
    words = f"the relative change of E[{x}**2] in a step"
    least = f"{0.99 * float(change.abs_lower()):.3g}"  # three digits, rounded, are still less
    found = f"above {least}" if change > 0 else f"below -{least}"
    return (
        "exact witness: a step changes a Gaussian distribution, with its draws integrated out",
        (*sizes, *named, *potential, *given, (words, found)),
    )


class _QuadraticReader:
    """Expressions where the potential is x**2/2 of one coordinate x, and every other function 1."""

    def __init__(self, proposal: Proposal, numbers: dict[Expr, Expr], x: Symbol) -> None:
        self.visited, self.numbers, self.x = proposal.visited, numbers, x
        self.potential = proposal.problem.subject.dynamics.potential
        self.known: dict[Symbol, Expr] = {}

    def of(self, e: Expr) -> Expr:
        """Return an expression multiplied out."""
        found: dict[Expr, Expr] = dict(self.numbers)
        for s in e.free_symbols:
            if isinstance(s, Symbol) and s in self.visited.opaque:
                found[s] = self._read_symbol(s)
        return sympy.expand(e.xreplace(found))

    def plain(self, e: Expr) -> Expr:
        """Return an expression of the coordinates themselves."""
        return e.xreplace({call: self._replace_call(call) for call in e.atoms(AppliedUndef)}).doit()

    def _replace_call(self, call: Expr) -> Expr:
        """Return x**2/2 for the potential of x, and 1 for a positive function."""
        if type(call).__name__ == self.potential and self.x in call.args:
            return self.x**2 / 2
        if not call.is_positive:
            raise NoValueError("a function that may not take the value 1")
        return sympy.Integer(1)

    def _read_symbol(self, s: Symbol) -> Expr:
        """Return the value of an opaque symbol by the quadratic potential."""
        if s not in self.known:
            of, point = self.visited.points[self.visited.opaque[s].place]
            own = self.plain(self.visited.opaque[s].call)
            self.known[s] = sympy.expand(
                own.xreplace({z: self.of(self.visited.plain(e)) for z, e in zip(of, point, strict=True)})
            )
        return self.known[s]


def _read_form(e: Expr, by: tuple[Symbol, Symbol], degree: int) -> list[arb]:
    """Return the coefficients of a form of a degree in two symbols, those of x^n, x^(n-1) w, ..., w^n.

    Raises:
        NoValueError: it is none, or has other symbols.
    """
    if e != 0 and (not e.is_polynomial(*by) or e.has(sympy.zoo, sympy.nan)):
        raise NoValueError("no polynomial")
    read = sympy.Poly(e, *by)
    if any(sum(powers) != degree for powers in read.monoms() if e != 0):
        raise NoValueError("no form")
    return [
        ball(evaluate(read.coeff_monomial(by[0] ** (degree - k) * by[1] ** k), _refuse_leaf)) for k in range(degree + 1)
    ]


def _refuse_leaf(e: Expr) -> Fraction:
    raise NoValueError(f"{e} has no value")


def _integrate_change(to: list[arb], ratio: list[arb], energy: list[arb], *, where_it_holds: bool) -> arb:
    """Return E[x'^2]/E[x^2] - 1 under exp(-E), E = H + P w^2/2, as a ball.

    x' is a form of x and w with probability p, else +-x; along a ray all of it is rho^3 exp(-rho^2 (E - min(0, q)))
    times what the angle says, whose integral over rho is 1/(2 (E - min(0, q))^2).
    """
    before = flint.ctx.prec
    flint.ctx.prec = 64
    try:
        total, before_it = arb(0), arb(0)
        part = 2 * arb.pi() / ANGLES
        for k in range(ANGLES):
            angle = part * arb(k + 0.5, 0.5)
            c, s = angle.cos(), angle.sin()
            E = energy[0] * c * c + energy[1] * c * s + energy[2] * s * s
            q = ratio[0] * c * c + ratio[1] * c * s + ratio[2] * s * s
            refused = (q - abs(q)) / 2
            if not (E > 0):
                raise NoValueError("the Gaussian has no finite integral")
            moved = (to[0] * c + to[1] * s) ** 2 - c * c
            before_it += part * c * c / (2 * E * E)
            accepted = moved / (2 * (E - refused) ** 2)
            total += part * (accepted if where_it_holds else moved / (2 * E * E) - accepted)
        return total / before_it
    finally:
        flint.ctx.prec = before

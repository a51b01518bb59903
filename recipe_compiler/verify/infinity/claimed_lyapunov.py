"""Is the W that an author states a Lyapunov function: W -> oo, and L W <= c (1 + W) for some c?

Refuted where W is bounded far out, or along a ray z = z_0 + t v of exact numbers on which W and L W are polynomials in
t: one of W that does not go to infinity, or one of L W that is of a higher degree than W and does.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

import sympy
from sympy import Expr, Poly, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.dynamics.system import state
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Answer, Refuted, Undecided
from recipe_compiler.verify.core.premises import restricts_state
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.equation.equation import Equation
from recipe_compiler.verify.growth.bounds import Terms
from recipe_compiler.verify.infinity.lyapunov import LyapunovFunction, stated_function
from recipe_compiler.verify.infinity.stays_finite import ShownFinite, checked, generated, inequality

STARTS, LARGEST = 2, 6
"""Exact points from which rays start, and the number of coordinates up to which they are looked at."""
T = sympy.Dummy("t")
FAR = 10
"""The t of the point that a refutation names."""


def claims_lyapunov(dynamics: Dynamics) -> bool:
    """Whether a Lyapunov function is stated."""
    return dynamics.claims.lyapunov is not None


def lyapunov_of(of: Equation) -> Answer:
    """Decide that the stated W goes to infinity, and L W <= c (1 + W) for some c, L W = f . grad W + tr(D Hess W).

    For every size (Khasminskii 2012, Theorem 3.5), as `stays_finite` does; refuted along a ray of exact numbers.
    W = -x**4 does not go to infinity; of dx = x**3 dt and W = x**2 it is L W = 2 x**4 that no c (1 + x**2) bounds.
    """
    terms = Terms.of(of.subject.dynamics.declarations)
    if not terms.unbounded:
        return checked(of, ShownFinite("the domain is bounded"))
    candidate = stated_function(of.subject, terms)
    if candidate is None:
        return Answer(Undecided(("no function is stated",)))
    found = inequality(of, terms, candidate)
    if not found.open:
        return checked(of, found)
    bounded = _bounded(of, terms, candidate)
    against = _refuted(of, candidate) if bounded is None else bounded
    return Answer(Undecided(found.open)) if against is None else against


def _bounded(of: Equation, terms: Terms, candidate: LyapunovFunction) -> Answer | None:
    """Return the refutation of a W that stays bounded as one block goes to infinity, whatever its parameters are."""
    bounds = [terms.bound(term.factors) for part in candidate.parts for term in part.tensor.terms]
    if of.subject.contradiction or restricts_state(of.subject.dynamics.declarations):
        return None
    known = [bound for bound in bounds if bound is not None and not bound.logs]
    for block in terms.unbounded if len(known) == len(bounds) else ():
        if all(bound.powers.get(block.name, 0) <= 0 for bound in known):
            along = (f"W as {block.name} goes to infinity", "bounded")
            return Answer(Refuted("growth far out", (along,), "W does not go to infinity"))
    return None


def _refuted(of: Equation, candidate: LyapunovFunction) -> Answer | None:
    declarations = of.subject.dynamics.declarations
    if of.subject.contradiction or restricts_state(declarations):
        return None
    for sizes in of.subject.sizes:
        try:
            W = sympy.Add(*(part.scalar(sizes) for part in candidate.parts))
            z = state(declarations, sizes)
            if len(z) > LARGEST:
                continue
            both = (W, generated(of, W, sizes))
            for at in islice(points(declarations, sizes), STARTS):
                for z0, v in product(_starts(of, at, z), _directions(of, sizes)):
                    against = _along(at, {x: x0 + way * T for x, x0, way in zip(z, z0, v, strict=True)}, v, both)
                    if against is not None:
                        return Answer(against, tuple(sizes.items()) or "all")
        except (NoInstanceError, NotScalarisableError, TooLargeError):
            continue
    return None


def _starts(of: Equation, at: Point, z: Sequence[Symbol]) -> Iterator[list[Expr]]:
    """Yield where rays start: at 0 where the domain is all of space, and at the point."""
    if all(block.domain.name is DomainName.REAL for block in of.subject.dynamics.declarations.blocks):
        yield [sympy.Integer(0)] * len(z)
    yield [rational(at.numbers[x]) for x in z]


def _directions(of: Equation, sizes: Sizes) -> Iterator[tuple[int, ...]]:
    """Yield directions in which the domain is unbounded: along each axis, then along several at once."""
    ways: list[tuple[int, ...]] = []
    for block in of.subject.dynamics.declarations.blocks:
        real = block.domain.name is DomainName.REAL
        half = block.domain.name in (DomainName.POSITIVE, DomainName.NONNEGATIVE)
        ways += [(1, -1) if real else (1,) if half else ()] * len(coordinates(block, sizes))
    for k, own in enumerate(ways):
        yield from (tuple(way * (n == k) for n in range(len(ways))) for way in own)
    yield tuple(own[0] if own else 0 for own in ways)
    yield tuple(own[-1] * (-1) ** n if len(own) == 2 else sum(own) for n, own in enumerate(ways))


def _along(at: Point, own: Mapping[Symbol, Expr], v: Sequence[int], both: tuple[Expr, Expr]) -> Refuted | None:
    """Return that W or L W is not as it should be at z_0 + t v, t -> oo."""
    W, L = (_polynomial(e, at, own) for e in both)
    if W is None or not any(v):
        return None
    there = tuple((str(x), str(along.subs(T, FAR))) for x, along in own.items())
    given = tuple((str(x), str(n)) for x, n in at.numbers.items() if x in _free(both) - {*own})
    ray = ("towards", f"({', '.join(map(str, v))})*oo")
    point = (*given, *there, ("W there", str(W.as_expr().subs(T, FAR))), ray)
    if W.degree() <= 0 or W.LC() < 0:
        return Refuted("exact ray", point, "W does not go to infinity")
    if L is not None and L.degree() > W.degree() and L.LC() > 0:
        found = (*point[:-1], ("L W there", str(L.as_expr().subs(T, FAR))), ray)
        return Refuted("exact ray", found, "L W grows faster than W: no c has L W <= c (1 + W)")
    return None


def _free(both: tuple[Expr, ...]) -> set[sympy.Basic]:
    return set[sympy.Basic]().union(*(e.free_symbols for e in both))


def _polynomial(e: Expr, at: Point, own: Mapping[Symbol, Expr]) -> Poly | None:
    """Return an expression along a ray as a polynomial in t with rational coefficients; None where it is none."""
    if e.has(AppliedUndef):
        return None
    numbers = {x: rational(n) for x, n in at.numbers.items() if x not in own}
    along = sympy.expand(e.xreplace({**numbers, **own}))
    if along.free_symbols - {T} or not along.is_polynomial(T):
        return None
    found = Poly(along, T)
    return found if all(c.is_Rational for c in found.all_coeffs()) else None

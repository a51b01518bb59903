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
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verdict import Answer, Refuted, Undecided
from recipe_compiler.verify.core.premises import restricts_state
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.equation.equation import Equation
from recipe_compiler.verify.growth.bounds import Terms
from recipe_compiler.verify.infinity.lyapunov import LyapunovFunction, stated_function
from recipe_compiler.verify.infinity.stays_finite import ShownFinite, checked, generated, inequality, scalar_of

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
    tensors = [convert(part, terms.declarations) for part in candidate.parts]
    bounds = [terms.bound(term.factors) for tensor in tensors for term in tensor.terms]
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
            W = sympy.Add(*(scalar_of(of, part, sizes) for part in candidate.parts))
            z = state(declarations, sizes)
            both = (W, generated(of, W, sizes)) if len(z) <= LARGEST else ()
            inside = [b.domain.name is not DomainName.REAL for b in declarations.blocks for _ in coordinates(b, sizes)]
            for at, v in product(islice(points(declarations, sizes), STARTS) if both else (), _directions(of, sizes)):
                starts = [
                    rational(at.numbers[x]) if held else sympy.Integer(0) for x, held in zip(z, inside, strict=True)
                ]
                ray = {x: start + way * T for x, start, way in zip(z, starts, v, strict=True)}
                against = _along(at, ray, both)
                if against is not None:
                    return Answer(against, tuple(sizes.items()) or "all")
        except (NoInstanceError, NotScalarisableError, TooLargeError):
            continue
    return None


def _directions(of: Equation, sizes: Sizes) -> Iterator[tuple[int, ...]]:
    """Yield directions in which the domain is unbounded: along each axis, then along several at once."""
    ways: list[tuple[int, ...]] = []
    for block in of.subject.dynamics.declarations.blocks:
        own = {DomainName.REAL: (1, -1), DomainName.POSITIVE: (1,), DomainName.NONNEGATIVE: (1,)}
        ways += [own.get(block.domain.name, ())] * len(coordinates(block, sizes))
    for k, own in enumerate(ways):
        yield from (tuple(way * (n == k) for n in range(len(ways))) for way in own)
    for sign in (1, -1):
        yield tuple(sign**n if len(own) == 2 else sum(own) for n, own in enumerate(ways))


def _along(at: Point, ray: Mapping[Symbol, Expr], both: Sequence[Expr]) -> Refuted | None:
    """Return that W or L W is not as it should be on a ray z_0 + t v, t -> oo."""
    numbers = {x: rational(n) for x, n in at.numbers.items() if x not in ray}
    known = [e for e in both if not e.has(AppliedUndef)]
    along = [sympy.expand(e.xreplace({**numbers, **ray})) for e in known]
    W, L = ([Poly(e, T) if e.is_polynomial(T) else None for e in along] + [None, None])[:2]
    if (
        both[0] not in known
        or W is None
        or not any(x.has(T) for x in ray.values())
        or not all(c.is_Rational for c in W.all_coeffs())
    ):
        return None
    free = set[sympy.Basic]().union(*(e.free_symbols for e in both))
    point = [(str(x), str(n)) for x, n in numbers.items() if x in free]
    point += [(str(x), str(e.subs(T, FAR))) for x, e in ray.items()]
    point.append(("W there", str(along[0].subs(T, FAR))))
    ends = ("towards", f"({', '.join(str(sympy.diff(x, T)) for x in ray.values())})*oo")
    if W.degree() <= 0 or W.LC() < 0:
        return Refuted("exact ray", (*point, ends), "W does not go to infinity")
    if L is not None and L.degree() > W.degree() and L.LC().is_Rational and L.LC() > 0:
        there = ("L W there", str(along[1].subs(T, FAR)))
        return Refuted("exact ray", (*point, there, ends), "L W grows faster than W: no c has L W <= c (1 + W)")
    return None

"""Is the W that an author states a Lyapunov function: W -> oo, and L W <= c (1 + W) for some c?

Refuted along a ray z = z_0 + t v of exact numbers on which W and L W are polynomials in t: one of W that does not go to
infinity, or one of L W that is of a higher degree than W and does.
"""

from collections.abc import Iterator, Mapping

import sympy
from sympy import Expr, Poly
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
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
from recipe_compiler.verdict import Answer, Refuted, undecided
from recipe_compiler.verify.core.premises import has_state_assumptions
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.equation.equation import Equation, apply_generator
from recipe_compiler.verify.growth.bounds import Terms
from recipe_compiler.verify.infinity.lyapunov import LyapunovFunction, read_stated_function
from recipe_compiler.verify.infinity.stays_finite import (
    NonExplosionProof,
    check_obligations,
    decide_inequality,
    write_scalar,
)

T = sympy.Dummy("t")
FAR = 10
"""The t of the point that a refutation names."""
WAYS = {DomainName.REAL: (1, -1), DomainName.POSITIVE: (1,), DomainName.NONNEGATIVE: (1,)}
"""The ways to infinity of a coordinate."""


def claims_lyapunov(dynamics: Dynamics) -> bool:
    """Whether a Lyapunov function is stated."""
    return dynamics.claims.lyapunov is not None


def decide_stated_function(of: Equation) -> Answer:
    """Decide that the stated W goes to infinity, and L W <= c (1 + W) for some c, L W = f . grad W + tr(D Hess W).

    For every size (Khasminskii 2012, Theorem 3.5), as `stays_finite` does; refuted along a ray of exact numbers.
    W = -x**4 does not go to infinity; of dx = x**3 dt and W = x**2 it is L W = 2 x**4 that no c (1 + x**2) bounds.
    """
    declarations = of.subject.declarations
    terms = Terms.of(declarations)
    if not terms.unbounded:
        return check_obligations(of, NonExplosionProof("the domain is bounded"))
    candidate = read_stated_function(of.subject, terms)
    if candidate is None:
        return undecided("no function is stated")
    found = decide_inequality(of, terms, candidate)
    if not found.open:
        return check_obligations(of, found)
    sizes = () if of.subject.contradiction or has_state_assumptions(declarations) else of.subject.sizes
    against = ((_refute_at_sizes(of, candidate, at), at) for at in sizes)
    answers = (Answer(refuted, tuple(at.items()) or "all") for refuted, at in against if refuted is not None)
    return next(answers, undecided(*found.open))


def _refute_at_sizes(of: Equation, candidate: LyapunovFunction, sizes: Sizes) -> Refuted | None:
    try:
        W = sympy.Add(*(write_scalar(of, part, sizes) for part in candidate.parts))
        at = next(points(of.subject.declarations, sizes), None)
        if at is None or len(state(of.subject.declarations, sizes)) > limits.COORDINATES:
            return None
        L = apply_generator(of, W, sizes)
        found = (_refute_on_ray(at, ray, W, L) for ray in _list_rays(of, at, sizes))
        return next((refuted for refuted in found if refuted is not None), None)
    except (NoInstanceError, NotScalarisableError, TooLargeError):
        return None


def _list_rays(of: Equation, at: Point, sizes: Sizes) -> Iterator[dict[Expr, Expr]]:
    """Yield rays in directions in which the domain is unbounded: along each axis, then along several at once."""
    blocks = of.subject.declarations.blocks
    ways = {x: WAYS.get(block.domain.name, ()) for block in blocks for x in coordinates(block, sizes)}
    starts = {x: sympy.Integer(0) if len(own) == 2 else rational(at.numbers[x]) for x, own in ways.items()}
    axes = [{x: way} for x, own in ways.items() for way in own]
    several = [
        {x: sign**n if len(own) == 2 else sum(own) for n, (x, own) in enumerate(ways.items())} for sign in (1, -1)
    ]
    for direction in (*axes, *several):
        yield {x: start + direction.get(x, 0) * T for x, start in starts.items()}


def _refute_on_ray(at: Point, ray: Mapping[Expr, Expr], W: Expr, L: Expr) -> Refuted | None:
    """Return the refutation by W or L W on a ray z_0 + t v, t -> oo; None without one."""
    numbers = {x: rational(n) for x, n in at.numbers.items() if x not in ray}
    along_W, along_L = (_restrict_to_ray(e, {**numbers, **ray}) for e in (W, L))
    if along_W is None or not any(x.has(T) for x in ray.values()):
        return None
    free = W.free_symbols | L.free_symbols
    point = [(str(x), str(n)) for x, n in numbers.items() if x in free]
    point += [(str(x), str(e.subs(T, FAR))) for x, e in ray.items()]
    point.append(("W there", str(along_W.as_expr().subs(T, FAR))))
    ends = ("towards", f"({', '.join(str(sympy.diff(x, T)) for x in ray.values())})*oo")
    if along_W.degree() <= 0 or along_W.LC() < 0:
        return Refuted("exact ray", (*point, ends), "W does not go to infinity")
    if along_L is not None and along_L.degree() > along_W.degree() and along_L.LC() > 0:
        there = ("L W there", str(along_L.as_expr().subs(T, FAR)))
        return Refuted("exact ray", (*point, there, ends), "L W grows faster than W: no c has L W <= c (1 + W)")
    return None


def _restrict_to_ray(e: Expr, values: Mapping[Expr, Expr]) -> Poly | None:
    """Return an expression on a ray as a polynomial in t with rational coefficients, None if it is not one."""
    found = None if e.has(AppliedUndef) else sympy.expand(e.xreplace(dict(values)))
    if found is None or not found.is_polynomial(T):
        return None
    polynomial = Poly(found, T)
    return polynomial if all(c.is_Rational for c in polynomial.all_coeffs()) else None

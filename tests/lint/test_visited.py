"""Maps in which functions stand that are not known, against the same maps with a function that is."""

import pytest
import sympy
from sympy import Expr, Matrix, Rational, Symbol
from sympy.core.function import UndefinedFunction

from recipe_compiler.algebra.dynamics.acceptance import RATIO, Acceptance, obligations
from recipe_compiler.lint.visited import Visited, replace_parts

x, y, r, s = z = sympy.symbols("x y r s", real=True)
U = UndefinedFunction("U", real=True)(x, y)
QUARTIC = x**4 / 4 + x**2 * y + y**2
EPS = Rational(1, 3)
W = Matrix([[2, 1], [1, 3]])


def leapfrog(visited: Visited, steps: int) -> dict[Symbol, Expr]:
    """Return some steps of half a kick, a drift by a full matrix and half a kick, with a flip."""
    theta, p = Matrix([x, y]), Matrix([r, s])

    def kick() -> Matrix:
        return (
            EPS / 2 * Matrix([visited.at(U.diff(own), dict(zip((x, y), theta.flat(), strict=True))) for own in (x, y)])
        )

    for _ in range(steps):
        p = p - kick()
        theta = (theta + EPS * W * p).expand()
        p = (p - kick()).expand()
    return dict(zip(z, [*theta.flat(), *(-p).flat()], strict=True))


def length(visited: Visited) -> dict[Symbol, Expr]:
    """Return a step r times 1 + |grad U|**2 along x, with the r that leads back."""

    def factor(here: Expr) -> Expr:
        return sympy.Add(1, *(visited.at(U.diff(own), {x: here, y: y}) ** 2 for own in (x, y)))

    to = x + factor(x) * r
    return {x: to, r: (x - to) / factor(to)}


def with_quartic(visited: Visited, e: Expr) -> Expr:
    """Return an expression with a known function in the place of U."""
    found: dict[Expr, Expr] = {}
    for own in visited.symbols(e):
        call, (of, point) = visited.opaque[own].call, visited.points[visited.opaque[own].place]
        there = {v: with_quartic(visited, e) for v, e in zip(of, point, strict=True)}
        found[own] = replace_parts(call.subs(U, QUARTIC).doit(), there)
    return replace_parts(e, found)


@pytest.mark.slow
def test_the_determinant_of_an_involution_has_no_derivatives_that_it_does_not_hold() -> None:
    at = {x: Rational(1, 2), y: Rational(2, 3), r: Rational(-1, 5), s: Rational(3, 7)}
    for make in (lambda visited: leapfrog(visited, 1), length):
        visited = Visited(frozenset())
        image = make(visited)
        known = [with_quartic(visited, e) for e in image.values()]
        exact = Matrix([[e.diff(own) for own in image] for e in known]).subs(at).det()
        assert with_quartic(visited, visited.jacobian(image)).subs(at) == exact != 0


@pytest.mark.slow
def test_a_trajectory_leads_back_whatever_the_function_is() -> None:
    visited = Visited(frozenset())
    image = leapfrog(visited, 2)
    energy = visited.at(U, {x: x, y: y}) + (Matrix([r, s]).T * W * Matrix([r, s]))[0] / 2
    for ratio, wrong in ((energy - visited.after(image, energy), set()), (0 * x, {RATIO})):
        left = obligations(Acceptance(image, energy, ratio, functions=visited))
        assert {name for name, e in left if not visited.has_same_value(e, 0 * x)} == wrong

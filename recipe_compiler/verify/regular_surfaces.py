"""Surfaces {g = 0} on which D and Q degenerate, at fixed sizes: do chains cross them?

With v = (D + Q).T grad g, the generator gives L g = exp(H) div(exp(-H) v), and the quadratic variation of g grows at
the rate 2 grad g . v. Let v = g w and grad g . v = g**2 u, with w and u smooth. Then div v = grad g . w + g div w and
grad g . w = g u, so that log|g| has bounded drift and noise wherever z is bounded (Ito), and g never becomes 0. If g
is linear, a smooth v that vanishes on {g = 0} is such a multiple, and so is grad g . v if its slope vanishes there too
(Hadamard). Conversely chains cross where v is not zero on a dense part of {g = 0}.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.brackets import never_zero
from recipe_compiler.algebra.entries import NotScalarisableError
from recipe_compiler.algebra.evaluate import NoValueError, evaluate, is_certainly
from recipe_compiler.algebra.instances import NoInstanceError
from recipe_compiler.algebra.kernels import NoNormalFormError
from recipe_compiler.algebra.matrices import Rows, TooLargeError, add, total, transpose
from recipe_compiler.algebra.symbols import coordinates
from recipe_compiler.algebra.system import System, gradient
from recipe_compiler.algebra.witness import points
from recipe_compiler.algebra.zero import is_zero
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.verify.case import Case
from recipe_compiler.verify.premises import restricts_state, smoothness
from recipe_compiler.verify.sizes import Sizes

CANDIDATES = 12
"""Functions g that are looked at, the shortest first."""
LARGEST = 400
"""Operations in an entry beyond which it is not factored."""
LARGEST_DIMENSION = 6
SCALES = (Fraction(1), Fraction(0), Fraction(1, 4), Fraction(4))
_FREE = frozenset({DomainName.REAL, DomainName.CIRCLE})
_SMOOTH = (sympy.Add, sympy.Mul, sympy.sin, sympy.cos, sympy.exp, sympy.tanh, sympy.atan)


@dataclass(frozen=True, slots=True)
class Wall:
    """A surface that no chain crosses, with admissible states on both sides of it."""

    g: Expr
    sizes: Sizes

    @property
    def witness(self) -> tuple[tuple[str, str], ...]:
        """The surface, in words."""
        return (("surface", f"{self.g} = 0"), ("(D + Q).T n on it, with its normal n", "0: no chain crosses"))


def wall(case: Case) -> Wall | None:
    """Return a surface that splits the state space; None if none was found."""
    whole = case.whole
    formulas = [whole.H, *(x for m in (whole.D, whole.Q) for row in m or () for x in row)]
    if restricts_state(whole.declarations) or smoothness(formulas, whole.declarations).open:
        return None
    for sizes in case.sizes:
        try:
            found = _wall_at(case, sizes)
        except (NotScalarisableError, TooLargeError, NoInstanceError, NoNormalFormError, sympy.PolynomialError):
            continue
        if found is not None:
            return Wall(found, sizes)
    return None


def _wall_at(case: Case, sizes: Sizes) -> Expr | None:
    s = case.system(sizes)
    if len(s.z) > LARGEST_DIMENSION:
        return None
    blocks = {x: block for block in case.whole.declarations.blocks for x in coordinates(block, sizes)}
    A = transpose(add((s.D, s.Q)))
    for g in _candidates(s):
        v = _pushed(A, gradient(g, s.z))
        linear = is_linear(g, s.z)
        free = all(blocks[x].domain.name in _FREE for x in s.z if x in g.free_symbols)
        fits = _fits(g, s.z, blocks, linear=linear) and _is_wall(g, v, s, linear=linear)
        if fits and _both_sides(case, g, sizes, free=free):
            return g
    return None


def _candidates(s: System) -> list[Expr]:
    """Return functions of z that occur in D and Q as factors, bases or arguments, the shortest first."""
    found: set[Expr] = set()
    for e in {e for A in (s.D, s.Q) for row in A for e in row if e.free_symbols & set(s.z)}:
        factored = sympy.factor(e) if e.is_polynomial(*s.z) and e.count_ops() < LARGEST else e
        for node in (*sympy.preorder_traversal(e), *sympy.preorder_traversal(factored)):
            if isinstance(node, Expr) and node.free_symbols & set(s.z) and _is_smooth(node):
                found.add(node.base if isinstance(node, sympy.Pow) and node.exp.is_Integer else node)
    return sorted(found, key=lambda g: (int(g.count_ops()), str(g)))[:CANDIDATES]


def _is_smooth(g: Expr) -> bool:
    """Whether a function is built from what is smooth everywhere, without parameters."""
    return all(
        node.is_Rational
        or node is sympy.pi
        or isinstance(node, (Symbol, *_SMOOTH))
        or (isinstance(node, sympy.Pow) and bool(node.exp.is_Integer and node.exp > 0))
        for node in sympy.preorder_traversal(g)
    )


def is_linear(g: Expr, z: tuple[Symbol, ...]) -> bool:
    """Whether g is a combination of coordinates with numbers as factors, and a constant."""
    slopes = gradient(g, z)
    return all(x.is_Rational for x in slopes) and any(x != 0 for x in slopes)


def _fits(g: Expr, z: tuple[Symbol, ...], blocks: dict[Symbol, Block], *, linear: bool) -> bool:
    """Whether g means something on the domain, and where it vanishes is no part of a face."""
    inside = [x for x in z if x in g.free_symbols]
    if not inside or g.free_symbols - set(z):
        return False
    for x in inside:
        match blocks[x].domain.name:
            case DomainName.REAL:
                continue
            case DomainName.CIRCLE if not blocks[x].domain.bounds:
                if g.xreplace({x: x + 2 * sympy.pi}) != g:
                    return False
            case DomainName.CIRCLE:
                return False
            case _ if not linear or len(inside) > 1:
                return False
            case _:
                continue
    return True


def _pushed(A: Rows, n: tuple[Expr, ...]) -> tuple[Expr, ...]:
    return tuple(total([a * x for a, x in zip(row, n, strict=True)]) for row in A)


def _is_wall(g: Expr, v: tuple[Expr, ...], s: System, *, linear: bool) -> bool:
    """Whether v = g w and grad g . v = g**2 u with smooth w and u."""
    across = total([n * x for n, x in zip(gradient(g, s.z), v, strict=True)])
    if linear:
        x, at = solved(g, s.z)
        slope = sympy.diff(across, x)
        return all(_vanishes(restricted(e, x, at)) for e in (*v, slope))
    return all(_is_multiple(e, g) for e in v) and _is_multiple(across, g**2)


def solved(g: Expr, z: tuple[Symbol, ...]) -> tuple[Symbol, Expr]:
    """Return a coordinate and what it is on {g = 0}, g linear."""
    x = next(x for x in z if g.diff(x) != 0)
    return x, sympy.expand(x - g / g.diff(x))


def restricted(e: Expr, x: Symbol, at: Expr) -> Expr:
    """Return an expression on a surface."""
    found = e.xreplace({x: at})
    return found if isinstance(found, Expr) else e


def _vanishes(e: Expr) -> bool:
    return e == 0 or (not e.has(sympy.nan, sympy.zoo, sympy.oo) and is_zero(e))


def _is_multiple(e: Expr, g: Expr) -> bool:
    """Whether e/g is smooth: after cancelling, its denominator vanishes nowhere."""
    _, below = sympy.fraction(sympy.cancel(sympy.together(e / g)))
    return bool(below.is_number and below != 0) or never_zero(below)


def _both_sides(case: Case, g: Expr, sizes: Sizes, *, free: bool) -> bool:
    """Whether g is positive at one exact admissible point, and negative at another.

    Coordinates that are `free` may have all values: points are moved towards the origin and away from it too.
    """
    signs: set[int] = set()
    for at in points(case.whole.declarations, sizes):
        for scale in SCALES if free else (1,):
            try:
                value = evaluate(g, lambda e, at=at, scale=scale: scale * at.leaf(e))
            except NoValueError:
                continue
            signs |= {sign for sign in (1, -1) if is_certainly(value, sign)}
        if len(signs) > 1:
            return True
    return False


def crossed(case: Case, g: Expr, sizes: Sizes) -> bool:
    """Whether chains cross {g = 0}, g linear, whatever the parameters: v is not zero on a dense part of it."""
    s = case.system(sizes)
    x, at = solved(g, s.z)
    v = _pushed(transpose(add((s.D, s.Q))), gradient(g, s.z))
    return any(is_dense(restricted(e, x, at), s.z) for e in v)


def is_dense(e: Expr, z: tuple[Symbol, ...]) -> bool:
    """Whether an expression is a polynomial in the state that is not zero, whatever the parameters."""
    try:
        polynomial = sympy.Poly(e, *z)
    except sympy.PolynomialError:
        return False
    return any(never_zero(c) for c in polynomial.coeffs())


def factors(e: Expr, z: tuple[Symbol, ...]) -> Iterator[Expr]:
    """Yield the factors of an expression that depend on the state, their powers left out."""
    for factor in sympy.Mul.make_args(cast(Expr, sympy.factor(e))):
        base = factor.base if isinstance(factor, sympy.Pow) and bool(factor.exp.is_positive) else factor
        if base.free_symbols & set(z):
            yield base

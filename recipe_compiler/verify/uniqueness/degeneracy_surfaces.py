"""Surfaces {g = 0} on which D degenerates, or D and Q do, at fixed sizes: do chains cross them?

With v = (D + Q).T grad g, the generator gives L g = exp(H) div(exp(-H) v), and the quadratic variation of g grows at
the rate 2 G, G = grad g . v = grad g . D grad g. If L g = g w and G = g**2 u, with w and u smooth, log|g| has bounded
drift and noise wherever z is bounded (Ito), and g never becomes 0. If g is linear, what is smooth and vanishes on
{g = 0} is such a multiple, that of g**2 if its slope vanishes there too (Hadamard).

Conversely chains cross where G, or b . grad g with b = -Q grad H + div Q, is not zero on a dense part of {g = 0}. Noise
does it where G > 0. Where G = 0 on all of the surface, D grad g and its slope vanish there (D >= 0 is smooth), so that
L g = b . grad g; times exp(-H) it is the flux through the surface, which sums to 0, so that it has both signs. That v
is not zero is not enough: v may be tangent, and some Q do nothing at all (a constant skew matrix times exp(H)).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.dynamics.brackets import circulation, never_zero
from recipe_compiler.algebra.dynamics.system import System, gradient
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars import untyped
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.elementwise import SMOOTH
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate, is_certainly
from recipe_compiler.algebra.scalars.matrices import TooLargeError, add, total, transpose
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.verify.core.premises import restricts_state, smoothness
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject

CANDIDATES = 12
"""Functions g that are looked at, the shortest first."""
LARGEST = 400
"""Operations in an entry beyond which it is not factored."""
LARGEST_DIMENSION = 6
SCALES = (Fraction(1), Fraction(0), Fraction(1, 4), Fraction(4))
_FREE = frozenset({DomainName.REAL, DomainName.CIRCLE})
_SMOOTH = (sympy.Add, sympy.Mul, *SMOOTH)


@dataclass(frozen=True, slots=True)
class Wall:
    """A surface {g = 0} that no chain crosses, with admissible states on both sides."""

    g: Expr
    sizes: Sizes

    @property
    def witness(self) -> tuple[tuple[str, str], ...]:
        """The surface, in words."""
        return (("surface", f"{self.g} = 0"), ("noise and drift across it, on it", "0: no chain crosses"))


def wall(subject: Subject, *, degenerate: bool = False) -> Wall | None:
    """Return a surface {g = 0} that splits the state space, or None; if `degenerate`, one where D or D + Q degenerates.

    With v = (D + Q).T grad g, L g = div v - v . grad H. If L g = g w and grad g . D grad g = g**2 u with smooth w and
    u, then by Ito's formula (Arnold 1974) log|g| has bounded drift and noise in bounded sets, and g keeps its sign. g
    runs over factors of the entries of D and Q, at fixed sizes; both signs of g must occur at exact admissible points.

    Example: D = theta**2, Q = 0 and H = theta**2/2 on the line, with g = theta. v = theta**2, L g = 2 theta - theta**3
    = theta (2 - theta**2), grad g . D grad g = theta**2: chains never cross 0.
    """
    whole = subject.whole
    formulas = [whole.H, *(x for m in (whole.D, whole.Q) for row in m or () for x in row)]
    if restricts_state(whole.declarations) or smoothness(formulas, whole.declarations).open:
        return None
    for sizes in subject.sizes:
        try:
            found = _wall_at(subject, sizes, degenerate=degenerate)
        except (NotScalarisableError, TooLargeError, NoInstanceError, NoNormalFormError, sympy.PolynomialError):
            continue
        if found is not None:
            return Wall(found, sizes)
    return None


def _wall_at(subject: Subject, sizes: Sizes, *, degenerate: bool) -> Expr | None:
    s = subject.system(sizes)
    if len(s.z) > LARGEST_DIMENSION:
        return None
    blocks = {x: block for block in subject.whole.declarations.blocks for x in coordinates(block, sizes)}
    for g in _candidates(s):
        free = all(blocks[x].domain.name in _FREE for x in s.z if x in g.free_symbols)
        if not _fits(g, s.z, blocks, linear=is_linear(g, s.z)):
            continue
        through = across(g, s)
        if degenerate and not _is_singled_out(g, through, s):
            continue
        if _is_wall(g, through, s) and _both_sides(subject, g, sizes, free=free):
            return g
    return None


def _candidates(s: System) -> list[Expr]:
    """Return functions of z that occur in D, Q and b as factors, bases or arguments, the shortest first."""
    found: set[Expr] = set()
    for e in {e for row in (*s.D, *s.Q, circulation(s)) for e in row if e.free_symbols & set(s.z)}:
        factored = untyped.factor(e) if e.is_polynomial(*s.z) and e.count_ops() < LARGEST else e
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
    """Whether g = a . z + c with rational a, not all zero, over n coordinates."""
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


@dataclass(frozen=True, slots=True)
class Across:
    """What passes through the surfaces g = constant: v = (D + Q).T grad g, grad g . D grad g, and L g."""

    v: tuple[Expr, ...]
    noise: Expr
    drift: Expr


def across(g: Expr, s: System) -> Across:
    """Return v = (D + Q).T grad g: [n], the noise grad g . D grad g and the drift L g of a scalar function g.

    L g = exp(H) div(exp(-H) v) = div v - v . grad H, for a symmetric D and a skew Q.
    """
    n = gradient(g, s.z)
    v = tuple(total([a * x for a, x in zip(row, n, strict=True)]) for row in transpose(add((s.D, s.Q))))
    noise = total([x * y for x, y in zip(n, v, strict=True)])
    slopes = [slope(off_kinks(x), at) for x, at in zip(v, s.z, strict=True)]
    force = [-x * h for x, h in zip(v, gradient(s.H, s.z), strict=True)]
    return Across(v, noise, total([*slopes, *force]))


def crossing(g: Expr, s: System) -> tuple[Expr, ...]:
    """Return the noise in g, grad g . D grad g, and the current through its surfaces, b . grad g.

    b = -Q grad H + div Q. One that contains an abstract function is left out, as its values on a surface are not known.
    """
    n = gradient(g, s.z)
    current = total([x * b for x, b in zip(n, circulation(s), strict=True)])
    return tuple(e for e in (across(g, s).noise, current) if not is_abstract(e))


def _is_singled_out(g: Expr, through: Across, s: System) -> bool:
    """Whether it is the surface only that nothing crosses: noise or drift crosses others, or v is a multiple of g."""
    if not _vanishes(through.noise):
        return True
    if is_linear(g, s.z):
        if not _vanishes(through.drift):
            return True
        x, at = solved(g, s.z)
        return all(_vanishes(restricted(e, x, at)) for e in through.v)
    return all(_is_multiple(e, g) for e in through.v)


def _is_wall(g: Expr, through: Across, s: System) -> bool:
    """Whether L g = g w and grad g . D grad g = g**2 u with smooth w and u."""
    if is_linear(g, s.z):
        x, at = solved(g, s.z)
        bare = [_bare(e) for e in (through.noise, slope(through.noise, x), through.drift)]
        return all(_vanishes(restricted(e, x, at)) for e in bare)
    return _is_multiple(through.drift, g) and _is_multiple(through.noise, g**2)


def is_abstract(e: Expr) -> bool:
    """Whether an abstract function occurs in an expression: what it is on a surface is not known."""
    return bool(e.atoms(sympy.Derivative, sympy.Subs, AppliedUndef))


def _bare(e: Expr) -> Expr:
    """Return an expression with a symbol for every abstract function: it vanishes if this one does."""
    unknown = {x: sympy.Dummy(real=True) for x in e.atoms(sympy.Derivative, sympy.Subs, AppliedUndef)}
    return cast(Expr, e.xreplace(unknown))


def solved(g: Expr, z: tuple[Symbol, ...]) -> tuple[Symbol, Expr]:
    """Return a coordinate x, and what it equals on {g = 0}, for a linear g: x - y has x and y."""
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


def _both_sides(subject: Subject, g: Expr, sizes: Sizes, *, free: bool) -> bool:
    """Whether g is positive at one exact admissible point, and negative at another.

    Coordinates that are `free` may have all values: points are moved towards the origin and away from it too.
    """
    signs: set[int] = set()
    for at in points(subject.whole.declarations, sizes):
        for scale in SCALES if free else (1,):
            try:
                value = evaluate(g, lambda e, at=at, scale=scale: scale * at.leaf(e))
            except NoValueError:
                continue
            signs |= {sign for sign in (1, -1) if is_certainly(value, sign)}
        if len(signs) > 1:
            return True
    return False


def crossed(subject: Subject, g: Expr, sizes: Sizes) -> bool:
    """Whether chains cross {g = 0}, g a linear scalar function of the n coordinates, for all values of the parameters.

    They do if grad g . D grad g or b . grad g, with b = -Q grad H + div Q, is not zero on a dense part of the surface.
    For H = (x**2 + r**2)/2, D = diag(0, 1) and Q_12 = -1 the plane x = 0 is crossed: b_x = r.
    """
    s = subject.system(sizes)
    x, at = solved(g, s.z)
    return any(is_dense(restricted(e, x, at), s.z) for e in crossing(g, s))


def is_dense(e: Expr, z: tuple[Symbol, ...]) -> bool:
    """Whether an expression is a polynomial in the state that is not zero, for all values of the parameters.

    It is then nonzero on a dense set.
    """
    try:
        polynomial = sympy.Poly(e, *z)
    except sympy.PolynomialError:
        return False
    return any(never_zero(c) for c in polynomial.coeffs())


def factors(e: Expr, z: tuple[Symbol, ...]) -> tuple[Expr, tuple[Expr, ...]]:
    """Return the constant factor of an expression, and the factors that depend on the state, without their powers.

    2 a x**2 (x - y) has 2 a, and x, x - y.
    """
    constant: Expr = sympy.Integer(1)
    found: list[Expr] = []
    for factor in sympy.Mul.make_args(cast(Expr, untyped.factor(e))):
        if not factor.free_symbols & set(z):
            constant *= factor
            continue
        found.append(factor.base if isinstance(factor, sympy.Pow) and bool(factor.exp.is_positive) else factor)
    return constant, tuple(found)

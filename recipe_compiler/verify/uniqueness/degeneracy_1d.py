"""One entry of D or Q as a function of one coordinate: where it is rough, where it vanishes, what crosses that."""

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.dynamics.brackets import circulation, never_zero
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, rows
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.scalars.transcendentals import argument
from recipe_compiler.algebra.structure.regularity import (
    RoughPoint,
    Smoothness,
    find_rough_points,
    has_unknown_edges,
    is_defined_between,
    is_inside,
)
from recipe_compiler.algebra.zero.zeros_on_line import Root, order, roots
from recipe_compiler.facts.patterns import is_diagonal, is_entrywise, nonsingular
from recipe_compiler.formula.build import depends_on_state
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula, MatMul, Multiply, Transpose
from recipe_compiler.formula.show import text
from recipe_compiler.verdict import Decision, Evidence, Proved, Refuted
from recipe_compiler.verify.core.premises import has_state_assumptions
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.uniqueness.degeneracy_rank import MatrixEntry
from recipe_compiler.verify.uniqueness.degeneracy_surfaces import (
    is_densely_nonzero,
    list_crossing_terms,
    restrict_to_surface,
)


@dataclass(frozen=True, slots=True)
class EntryOnLine:
    """An entry of D or Q as a function f of one coordinate x, with values for everything else in it."""

    x: Symbol
    block: Block
    f: Expr
    constants: dict[Expr, Fraction]
    at: Evidence
    whole: bool
    """Whether it stands for every entry and size, whatever the parameters."""
    alike: bool
    """Whether it stands for every entry and size, at values of the parameters."""


def read_entry_on_line(subject: Subject, formula: Formula) -> EntryOnLine | None:
    """Return an entry, at the smallest sizes, as a function of one coordinate; None if it is zero, or none."""
    sizes = subject.sizes[0]
    declarations = subject.declarations
    try:
        found = [e for row in rows(formula, subject.setting(sizes)) for e in row if e != 0]
        at = next(iter(points(declarations, sizes)), None)
    except (NotScalarisableError, TooLargeError, NoInstanceError):
        return None
    if not found or at is None or found[0].atoms(AppliedUndef):
        return None
    owner = {z: block for block in declarations.blocks for z in coordinates(block, sizes)}
    moving = [s for s in found[0].free_symbols if s in owner]
    if len(moving) != 1 or not isinstance(moving[0], Symbol):
        return None
    x = moving[0]
    constants = {cast(Expr, s): at.numbers[cast(Expr, s)] for s in found[0].free_symbols if s != x}
    parameters = {p.name for p in declarations.parameters}
    named = tuple((name, value) for name, value in at.text if name in parameters or name in sizes)
    alike = is_alike(subject, formula) and (len(formula.shape.sizes) < 2 or is_diagonal(formula, declarations))
    return EntryOnLine(x, owner[x], found[0], constants, named, not constants and alike, alike)


def is_alike(subject: Subject, formula: Formula) -> bool:
    """Whether one entry of a formula, [n] or [n, n], stands for all, at every size, up to constant nonsingular factors.

    theta**2 does; so does M @ theta**2 with a constant nonsingular M; theta.T @ theta does not. False decides nothing.
    """
    if is_entrywise(formula):
        return True
    match formula:
        case Transpose(arg):
            return is_alike(subject, arg)
        case Multiply(left, right) | MatMul(left, right):
            for factor, other in ((left, right), (right, left)):
                square = factor.shape.rows == factor.shape.cols
                if square and not depends_on_state(factor) and nonsingular(factor, subject.declarations) is not None:
                    return is_alike(subject, other)
            return False
        case _:
            return False


def drop_constant_factor(line: EntryOnLine) -> EntryOnLine | None:
    """Return an entry without its constant factor, which is never 0; None if that does not leave a function of x alone.

    The result stands for every size and all values of the parameters: c x**2 with c > 0 gives x**2.
    """
    factor, f = line.f.as_independent(line.x, as_Add=False)
    if not line.alike or f.free_symbols != {line.x} or not never_zero(factor):
        return None
    return EntryOnLine(line.x, line.block, f, {}, (), whole=True, alike=True)


def decide_lipschitz(subject: Subject, place: MatrixEntry, line: EntryOnLine) -> Decision | None:
    """Decide that an entry, as a function of one coordinate x, is locally Lipschitz; None if that is not known.

    Its zeros and kinks are isolated as algebraic numbers, and its order |y|**k at each decides. sqrt(|x|) and 1 +
    sqrt(|x|) are refuted at x = 0; |x| is Lipschitz.
    """
    found = find_rough_points(line.f, line.x, line.block, line.constants)
    if found is None:
        return None
    for spot in found:
        if spot.behaviour is Smoothness.ROUGH and is_certainly_inside(subject, spot.at, line.block):
            return refute_at_zero(place, line, spot.at, _describe_roughness(spot))
    if not line.whole or any(spot.behaviour is not Smoothness.LIPSCHITZ for spot in found):
        return None
    if not is_defined_between(line.f, line.x, line.block, found, line.constants):
        return None
    return Proved("isolated zeros", ())


def isolate_roots(line: EntryOnLine | None) -> tuple[Root, ...] | None:
    """Return the zeros of a function of one coordinate inside its domain, isolated exactly; None if unknown."""
    if line is None:
        return None
    numbers = {s: rational(v) for s, v in line.constants.items()}
    found = roots(_find_vanishing_part(cast(Expr, line.f.xreplace(numbers))), line.x)
    return None if found is None else tuple(root for root in found if is_inside(root, line.block))


def _find_vanishing_part(f: Expr) -> Expr:
    """Return a function with the same zeros, without moduli, powers and exponentials."""
    match f:
        case sympy.Abs():
            return _find_vanishing_part(argument(f))
        case sympy.Pow() if f.exp.is_positive:
            return _find_vanishing_part(f.base)
        case sympy.exp():
            return sympy.Integer(1)
        case sympy.Mul():
            return sympy.Mul(*(_find_vanishing_part(arg) for arg in f.args if not arg.is_number))
        case _:
            return f


def is_crossed(subject: Subject, line: EntryOnLine, root: Root) -> bool | None:
    """Whether chains cross {x = root}; False if the row of x in D and Q vanishes there; None if it is not known.

    They cross where D_xx, or b_x with b = -Q grad H + div Q: [n], is not zero on a dense part of the surface. For
    Langevin dynamics with Q[theta, r] = -theta, b_theta = theta r, and the row of theta vanishes at theta = 0: not
    crossed.
    """
    system = subject.system(subject.sizes[0])
    k = system.z.index(line.x)
    if any(_is_dense_at(e, line, root, system.z) for e in list_crossing_terms(line.x, system)):
        return True
    unknown = False
    for entry in (*system.D[k], *system.Q[k]):
        if entry == 0:
            continue
        if entry.free_symbols - {line.x} - set(line.constants):
            unknown = True
            continue
        found = order(off_kinks(entry), line.x, root, line.constants) or order(entry, line.x, root, line.constants)
        if found is None or found.power <= 0:
            unknown = True
        elif entry == system.D[k][k] and found.power == 1 and not found.even:
            unknown = True  # D changes its sign there: that is another claim's to refute
    return None if unknown else False


def varies_along(subject: Subject, line: EntryOnLine, root: Root) -> bool:
    """Whether the current b_x, b = -Q grad H + div Q, [n], depends on another coordinate on {x = root}."""
    system = subject.system(subject.sizes[0])
    b = circulation(system)[system.z.index(line.x)]
    known = not b.atoms(sympy.Derivative, sympy.Subs, AppliedUndef)
    return known and any(_is_dense_at(b.diff(z), line, root, system.z) for z in system.z if z != line.x)


def _is_dense_at(e: Expr, line: EntryOnLine, root: Root, z: tuple[Symbol, ...]) -> bool:
    """Whether an expression is a polynomial in the other coordinates that is not zero on a surface."""
    if root.low == root.high and is_densely_nonzero(restrict_to_surface(e, line.x, rational(root.low)), z):
        return True
    others = [x for x in z if x != line.x]
    try:
        coefficients = sympy.Poly(e, *others).coeffs() if others else [e]
    except sympy.PolynomialError:
        return False
    known = {line.x, *line.constants}
    orders = (order(off_kinks(c), line.x, root, line.constants) for c in coefficients if c.free_symbols <= known)
    return any(found is not None and found.power <= 0 for found in orders)


def is_certainly_inside(subject: Subject, root: Root, block: Block) -> bool:
    """Whether a root, with its whole isolating interval, lies inside the domain; False if its ends are unknown."""
    if has_unknown_edges(block) or has_state_assumptions(subject.declarations):
        return False
    ends = (Root(root.of, root.low, root.low), Root(root.of, root.high, root.high))
    return all(is_inside(end, block) for end in ends)


def refute_at_zero(place: MatrixEntry, line: EntryOnLine, root: Root, says: str) -> Refuted:
    """Return the refutation by what an entry does at an exact zero."""
    label = str(line.x)
    return Refuted("exact zero", (*line.at, (label, root.text), (place.name, says)), text(place.formula))


def _describe_roughness(spot: RoughPoint) -> str:
    if spot.order is None:
        return "not locally Lipschitz there"
    if spot.order.power == 0:
        return "jumps, or its slope is not bounded"
    return f"behaves as |y|**({spot.order.power}) at distance y: not locally Lipschitz"

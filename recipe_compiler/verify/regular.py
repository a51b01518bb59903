"""Are D and Q locally Lipschitz, and is the state space in one piece for the dynamics?

Where an entry of D or Q jumps or has a root of a zero, the drift has a singular term that no step resolves. Where
nT (D + Q) = 0 on a surface with normal n, noise and drift are tangent to it (D >= 0 has no slope across its zeros), so
that chains do not cross: started on one side they sample that side only. (SGRHMC with K = sqrt(3/2 sqrt|U + 1/2|):
for E = r**2/2 + U - log K, L E = (1 - r**2) K**2, so that zeros of K are never reached.)
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.cells import off_kinks
from recipe_compiler.algebra.entries import NotScalarisableError, rows
from recipe_compiler.algebra.instances import NoInstanceError
from recipe_compiler.algebra.kernels import NoNormalFormError, argument
from recipe_compiler.algebra.matrices import Rows, TooLargeError, add, determinant
from recipe_compiler.algebra.positivity.prove import scalar
from recipe_compiler.algebra.positivity.region import region_alike
from recipe_compiler.algebra.regularity import (
    Smoothness,
    Spot,
    has_unknown_edges,
    is_defined_between,
    is_diagonal,
    is_entrywise,
    is_inside,
    nonsingular,
    spots,
)
from recipe_compiler.algebra.symbols import coordinates
from recipe_compiler.algebra.witness import points
from recipe_compiler.algebra.zeroset import Root, order, roots
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula, FunctionAt, MatMul, Multiply, Transpose
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Decision, Finding, Proved, Refuted, Undecided
from recipe_compiler.verify.case import Case
from recipe_compiler.verify.kinks import lipschitz
from recipe_compiler.verify.premises import depends_on_state, restricts_state
from recipe_compiler.verify.regular_rank import Pivot, Place, constant_rank, places

LARGEST = 4
"""Determinants of matrices larger than this are not formed."""

REGULAR = ("regular", "D and Q are locally Lipschitz, and vanish nowhere that splits the state space")


@dataclass(frozen=True, slots=True)
class _Line:
    """One entry as a function of one coordinate, and values of all else."""

    x: Symbol
    block: Block
    f: Expr
    constants: dict[Expr, Fraction]
    at: tuple[tuple[str, str], ...]
    whole: bool
    """Whether it tells of every entry and size, whatever the parameters."""


def varies(dynamics: Dynamics) -> bool:
    """Whether D or Q depends on the state."""
    return any(depends_on_state(place) for matrix in (dynamics.D, dynamics.Q) for row in matrix or () for place in row)


def regular(case: Case) -> Finding:
    """Decide the regularity of D and Q: entry by entry whether they are Lipschitz, together whether they degenerate."""
    where = case.place("D", "claims.diffusion")
    given: set[str] = set()
    tried: list[str] = []
    entries = tuple(places(case))
    for place in entries:
        if not place.moves:
            continue
        decision = _of_place(case, place)
        if isinstance(decision, Refuted):
            sizes = tuple(case.sizes[0].items())
            return Finding(*REGULAR, True, decision, sizes or "all", where=case.place(place.name, place.matrix))
        given |= set(decision.given)
        tried += decision.tried if isinstance(decision, Undecided) else ()
    rank = constant_rank(entries, lambda place: _pivot(case, place))
    whole = _without_zeros(case, "D + Q", _whole(case)) if rank.open else None
    if rank.open and whole is None:
        tried.append(f"not shown: {rank.open} degenerates nowhere that splits the state space")
    pivots = [whole] if whole is not None else rank.pivots
    given |= {reason for pivot in pivots for reason in pivot.given}
    tried += [case.contradiction] if case.contradiction else []
    reasons = tuple(sorted(given))
    if tried:
        return Finding(*REGULAR, True, Undecided(tuple(tried), given=reasons), where=where)
    data = tuple(dict.fromkeys(item for pivot in pivots for item in pivot.data))
    by = "Lipschitz; " + "; ".join(dict.fromkeys(pivot.by for pivot in pivots))
    return Finding(*REGULAR, True, Proved(by.removesuffix("; "), reasons, data), where=where)


def _of_place(case: Case, place: Place) -> Decision:
    """Decide that an entry is Lipschitz, and look for a zero of it that chains do not cross."""
    kinks = lipschitz((place.formula,), case.dynamics.declarations)
    given = tuple(sorted(kinks.premises.given))
    line = _line(case, place.formula)
    rough = _roughness(case, place, line) if kinks.premises.open and line is not None else None
    if isinstance(rough, Refuted):
        return rough
    for root in _roots(line) or ():
        if line is not None and _is_crossed(case, line, root) is False and _is_certainly_inside(case, root, line.block):
            bent = bool(spots(line.f, line.x, line.block, line.constants))
            row = f"the row of {line.x} in D and Q vanishes"
            says = (
                f"{row}, with a kink: the drift jumps where there is no noise" if bent else f"{row}: no chain crosses"
            )
            return _refuted(place, line, root, says)
    if kinks.premises.open and rough is None:
        return Undecided(tuple(f"{place.name}: not shown: {what}" for what in kinks.premises.open), given=given)
    return Proved("Lipschitz", given)


def _pivot(case: Case, place: Place) -> Pivot | None:
    """Return why an entry is nonsingular everywhere, off surfaces that chains cross; None if that is not known."""
    formula, declarations = place.formula, case.dynamics.declarations
    if formula.shape.rows != formula.shape.cols:
        return None
    known = nonsingular(formula, declarations)
    if known is not None:
        return Pivot("nonsingular by structure", known)
    fields = _fields(case, formula)
    if fields is not None:
        return Pivot("nonsingular as assumed", fields)
    if declarations.sizes and not (is_entrywise(formula) and is_diagonal(formula, declarations)):
        return None
    try:
        entries = rows(formula, case.setting(case.sizes[0]))
    except (NotScalarisableError, TooLargeError):
        return None
    found = _without_zeros(case, place.name, entries)
    if found is not None:
        return found
    line = _line(case, formula)
    zeros = _roots(line)
    if line is None or zeros is None or not line.whole or not all(_is_crossed(case, line, zero) for zero in zeros):
        return None
    if zeros and declarations.sizes and not all(is_entrywise(p.formula) for p in places(case) if p.row == place.row):
        return None  # what crosses them at the smallest size may vanish at another
    listed = ", ".join(zero.text for zero in zeros) or "none"
    return Pivot(f"zeros of {place.name} isolated, crossed", data=((f"zeros of {place.name} in {line.x}", listed),))


def _fields(case: Case, formula: Formula) -> frozenset[str] | None:
    """Return the assumption under which a formula is nonsingular: that an abstract function in it is; else None."""
    match formula:
        case FunctionAt(name, _, shape):
            return frozenset({f"{name} {'is nonsingular' if shape.sizes else 'does not vanish'}"})
        case Transpose(arg):
            return _fields(case, arg)
        case MatMul(left, right) if left.shape.rows == left.shape.cols and right.shape.rows == right.shape.cols:
            parts = (_fields(case, left), _fields(case, right))
        case Multiply(left, right) if not left.shape.sizes or not right.shape.sizes:
            parts = (_fields(case, left), _fields(case, right))
        case _:
            return nonsingular(formula, case.dynamics.declarations)
    return None if parts[0] is None or parts[1] is None else parts[0] | parts[1]


def _line(case: Case, formula: Formula) -> _Line | None:
    """Return an entry on the smallest sizes as a function of one coordinate, if it is one and not zero."""
    sizes = case.sizes[0]
    declarations = case.dynamics.declarations
    try:
        found = [e for row in rows(formula, case.setting(sizes)) for e in row if e != 0]
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
    alike = is_entrywise(formula) and (len(formula.shape.sizes) < 2 or is_diagonal(formula, declarations))
    return _Line(x, owner[x], found[0], constants, named, not constants and alike)


def _roughness(case: Case, place: Place, line: _Line) -> Decision | None:
    """Decide that an entry is locally Lipschitz; None if it is not known."""
    found = spots(line.f, line.x, line.block, line.constants)
    if found is None:
        return None
    for spot in found:
        if spot.behaviour is Smoothness.ROUGH and _is_certainly_inside(case, spot.at, line.block):
            return _refuted(place, line, spot.at, _rough(spot))
    if not line.whole or any(spot.behaviour is not Smoothness.LIPSCHITZ for spot in found):
        return None
    if not is_defined_between(line.f, line.x, line.block, found, line.constants):
        return None
    return Proved("isolated zeros", ())


def _roots(line: _Line | None) -> tuple[Root, ...] | None:
    """Return the zeros of a function of one coordinate inside the domain; None if they are not known."""
    if line is None:
        return None
    numbers = {s: sympy.Rational(v.numerator, v.denominator) for s, v in line.constants.items()}
    found = roots(_numerator(cast(Expr, line.f.xreplace(numbers))), line.x)
    return None if found is None else tuple(root for root in found if is_inside(root, line.block))


def _without_zeros(case: Case, name: str, matrix: Rows) -> Pivot | None:
    """Return a proof that the determinant of a square matrix at the smallest sizes has no zeros."""
    if not 0 < len(matrix) <= LARGEST:
        return None
    try:
        found = scalar(determinant(matrix), "!=", region_alike(case.dynamics.declarations, case.sizes[0]))
    except (NotScalarisableError, TooLargeError, NoNormalFormError):
        return None
    if found is None:
        return None
    return Pivot(f"{name} without zeros by {found.by}", found.given, tuple((f"{name}: {n}", v) for n, v in found.data))


def _whole(case: Case) -> Rows:
    """Return D + Q where the document fixes its sizes; nothing where it does not."""
    if case.dynamics.declarations.sizes or case.whole.D is None or case.whole.Q is None:
        return ()
    system = case.system({})
    return add((system.D, system.Q))


def _numerator(f: Expr) -> Expr:
    """Return something with the zeros of a function, of moduli and powers too."""
    match f:
        case sympy.Abs():
            return _numerator(argument(f))
        case sympy.Pow() if f.exp.is_positive:
            return _numerator(f.base)
        case sympy.exp():
            return sympy.Integer(1)
        case sympy.Mul():
            return sympy.Mul(*(_numerator(arg) for arg in f.args if not arg.is_number))
        case _:
            return f


def _is_crossed(case: Case, line: _Line, root: Root) -> bool | None:
    """Whether an entry of the row of the coordinate is not zero on the surface; False if all vanish; None: unknown."""
    system = case.system(case.sizes[0])
    k = system.z.index(line.x)
    unknown = False
    for entry in (*system.D[k], *system.Q[k]):
        if entry == 0:
            continue
        others = {s for s in entry.free_symbols if s not in line.constants and s != line.x}
        if entry.free_symbols - {line.x} - set(line.constants) or others:
            unknown = True
            continue
        found = order(off_kinks(entry), line.x, root, line.constants) or order(entry, line.x, root, line.constants)
        if found is None:
            unknown = True
        elif found.power <= 0:
            return True
        elif entry == system.D[k][k] and found.power == 1 and not found.even:
            unknown = True  # D changes its sign there: that is another claim's to refute
    return None if unknown else False


def _is_certainly_inside(case: Case, root: Root, block: Block) -> bool:
    """Whether a root lies inside the domain, its whole interval with it; not known where that is not of numbers."""
    if has_unknown_edges(block) or restricts_state(case.dynamics.declarations):
        return False
    ends = (Root(root.of, root.low, root.low), Root(root.of, root.high, root.high))
    return all(is_inside(end, block) for end in ends)


def _refuted(place: Place, line: _Line, root: Root, says: str) -> Refuted:
    label = str(line.x)
    return Refuted("exact zero", (*line.at, (label, root.text), (place.name, says)), text(place.formula))


def _rough(spot: Spot) -> str:
    if spot.order is None:
        return "not locally Lipschitz there"
    if spot.order.power == 0:
        return "jumps, or its slope is not bounded"
    return f"behaves as |y|**({spot.order.power}) at distance y: not locally Lipschitz"

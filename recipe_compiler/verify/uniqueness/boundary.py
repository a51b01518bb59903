"""Does probability flow through the faces of the domain? Face by face, in the distance y to it.

For smooth phi, by parts over {y > delta}, the weak Fokker-Planck equation leaves the integrals of D n . grad phi p and
of n . J phi p over the face, with J = div(Q p)/p for the recipe: both vanish in the limit if the row n of D + Q times
p = exp(-H) does. With p ~ y**e and the row ~ y**s that is s + e > 0. Where D n p stays, the law is kept if chains are
reflected (grad phi . n = 0 there). Where Q n p stays and carries a velocity r of which H is even, its flux is odd in r:
the law is kept if r is reversed with the reflection. Either rule makes phi good up to O(y) only: s + e > -1 is needed.
In one dimension a face is reached if and only if the scale density 1/(D p) is integrable, s + e < 1 (Feller 1952),
e > -1 being needed for exp(-H) to be.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.positivity.prove import scalar
from recipe_compiler.algebra.positivity.region import region_alike
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate, is_certainly
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.structure.asymptotics import EdgeSize
from recipe_compiler.errors import Place
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Formula,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided
from recipe_compiler.verify.core.domain_faces import Face, NotKnownError, bounded, density_at, faces, written
from recipe_compiler.verify.core.parity import is_even
from recipe_compiler.verify.core.premises import depends_on_state, restricts_state
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.recover.search import UNKNOWN, represented, states_equation
from recipe_compiler.verify.uniqueness.boundary_rows import row_size

# Is each coordinate of a bounded block a diffusion by itself? D is then diagonal, and H a sum over coordinates.


def is_alone(subject: Subject, face: Face) -> bool:
    """Whether each coordinate of a block is a diffusion by itself.

    D[b,b]: [n, n] is diagonal there, and H a sum over coordinates. Feller's condition s + e < 1 then tells whether the
    face is reached (Feller 1952). False decides nothing.
    """
    if not is_diagonal(own(subject, face)):
        return False
    terms = subject.whole.H.terms if isinstance(subject.whole.H, Add) else (subject.whole.H,)
    return all(_is_separate(term, face) for term in terms)


def _is_separate(term: Formula, face: Face) -> bool:
    """Whether a term of H is free of a block, or a sum over its coordinates alone."""
    inside = [n for n in nodes(term) if isinstance(n, Symbol) and n.role is Role.BLOCK]
    if any(isinstance(n, FunctionAt) and face.block.name in n.of for n in nodes(term)):
        return False
    if not any(n.name == face.block.name for n in inside):
        return True
    if any(n.name != face.block.name for n in inside):
        return False
    match term:
        case Multiply(left, right) if not depends_on_state(left):
            return _is_separate(right, face)
        case Multiply(left, right) if not depends_on_state(right):
            return _is_separate(left, face)
        case MatMul(Transpose(Symbol() as left), Symbol() as right):
            return left == right
        case Apply("sum" | "norm2", (arg,)):
            return not any(isinstance(n, Apply) and n.fn in {"sum", "norm2", "dot"} for n in nodes(arg))
        case _:
            return not face.block.shape.sizes


def own(subject: Subject, face: Face) -> Formula:
    """Return D[b, b] of the block b of a face, n_b x n_b."""
    D = subject.whole.D or ()
    return D[face.number][face.number]


def is_diagonal(formula: Formula) -> bool:
    """Whether a formula is a diagonal matrix as written, or a scalar."""
    match formula:
        case Identity() | Apply("diag", _):
            return True
        case Multiply(left, right) if not left.shape.sizes or not right.shape.sizes:
            return is_diagonal(right if not left.shape.sizes else left)
        case _:
            return not formula.shape.sizes


REFLECTED = "chains are reflected at "
"""How the rule begins that a proof may rest on."""


@dataclass(slots=True)
class _Found:
    """What is known of one face: in words, from which declarations, under which rule of reflection."""

    says: list[str] = field(default_factory=list[str])
    given: set[str] = field(default_factory=set[str])
    data: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def has_boundary(dynamics: Dynamics) -> bool:
    """Whether the domain of the state has a boundary: a bounded block, or an assumption about the state."""
    restricted = (depends_on_state(side) for c in dynamics.declarations.assume for side in (c.left, c.right))
    return bool(bounded(dynamics.declarations)) or any(restricted)


def boundary(subject: Subject) -> Answer:
    """Decide that no probability flux through the boundary, face by face, for every size.

    At distance y let p = exp(-H) ~ y**e and let the face's row of D + Q be of size y**s. Integrating by parts over {y >
    delta} leaves terms of size delta**(s+e): nothing flows where s + e > 0 for all parameters. Refuted where e <= -1,
    as exp(-H) is then not integrable. Where s + e > -1 only, reflection keeps the law if it is D p that stays, or Q p
    with a velocity of which H is even and which is reversed; the rule is then listed as an assumption. Where Q is not
    given, it is the one recovered for the claimed drift: the current does not depend on which Q represents it.

    Example: CIR with D = theta and H = theta - (a - 1) log(theta) has s + e = 1 + (a - 1) = a > 0 at theta = 0, proved
    for a > 0. The face is reached if and only if s + e = a < 1 (Feller 1952), which the verdict says.
    """
    where = subject.place("state", "H")
    of = represented(subject)
    if of is None:
        why = UNKNOWN if states_equation(subject.dynamics) else "the noise, or Q, is not given"
        return Answer(Undecided((f"{why}: the current is not known",)), where=where)
    return _answer(of.subject, where, of.given)


def _answer(subject: Subject, where: Place, reasons: frozenset[str]) -> Answer:
    declarations = subject.dynamics.declarations
    tried = [f"the face of the domain on which {where_} is not decided" for where_ in _restrictions(subject.dynamics)]
    found = _Found(given=set(reasons))
    try:
        for face in faces(declarations):
            decision = _at_face(subject, face, found)
            if isinstance(decision, Refuted) and restricts_state(subject.dynamics.declarations):
                tried.append(f"not known whether {face.says} is a face of the domain under the assumptions")
                continue
            if isinstance(decision, Refuted):
                return Answer(decision, where=where)
            tried += decision.tried if isinstance(decision, Undecided) else ()
    except NotKnownError as reason:
        tried.append(f"not known: {reason}")
    tried += [subject.contradiction] if subject.contradiction else []
    given = tuple(sorted(found.given))
    if tried:
        return Answer(Undecided(tuple(tried), given=given), where=where)
    return Answer(Proved("; ".join(found.says), given, tuple(found.data)), where=where)


def _restrictions(dynamics: Dynamics) -> list[str]:
    return [
        f"{text(c.left)} {c.op} {text(c.right)} ends"
        for c in dynamics.declarations.assume
        if depends_on_state(c.left) or depends_on_state(c.right)
    ]


def _at_face(subject: Subject, face: Face, found: _Found) -> Decision | None:
    """Decide one face; None where it is proved, and `found` says how."""
    try:
        p, exact, reasons = density_at(subject, face)
        rows = _rows(subject, face)
    except NotKnownError as reason:
        return Undecided((f"not known: {reason}",))
    found.given |= reasons
    if p.barrier is not None:
        return _at_barrier(subject, face, p.barrier, exact, found)
    e = p.exponent
    decision = _integrable(subject, face, e, exact, found)
    if decision is not None:
        return decision
    open_ = [(name, size, _above(subject, e + rational(size.power), found)) for name, size in rows.items()]
    left = [(name, size) for name, size, shown in open_ if not shown]
    smallest = min((size.power for size in rows.values()), default=Fraction(0))
    found.data += [
        (f"exponent of exp(-H) at {face.says}", written(e)),
        (f"least of D, Q at {face.says}", str(smallest)),
    ]
    reach = _reach(subject, face, e, exact, rows)
    if not left:
        found.says.append(f"D and Q times exp(-H) vanish at {face.says}{reach}")
        return None
    return _reflected(subject, face, e, left, reach, found)


def _rows(subject: Subject, face: Face) -> dict[tuple[str, int], EdgeSize]:
    """Return the sizes of the entries in the row of a face."""
    found: dict[tuple[str, int], EdgeSize] = {}
    for name, matrix in (("D", subject.whole.D), ("Q", subject.whole.Q)):
        for b, formula in enumerate((matrix or ())[face.number]):
            if _is_zero(subject, name, face.number, b):
                continue
            size = row_size(subject, face, formula)
            if size is not None:
                found[name, b] = size
    return found


def _is_zero(subject: Subject, name: str, a: int, b: int) -> bool:
    if subject.derivation is None:
        return False
    return (subject.derivation.D if name == "D" else subject.derivation.Q)[a][b].is_zero


def _at_barrier(subject: Subject, face: Face, barrier: Expr, exact: bool, found: _Found) -> Decision | None:
    if _above(subject, barrier, found):
        found.says.append(f"exp(-H) falls faster than every power of the distance at {face.says}: not reached")
        return None
    against = _negative(subject, barrier) if exact else None
    if against is not None:
        what = (f"coefficient of the largest term of H at {face.says}", str(_value(barrier, against)))
        return Refuted("leading term at the face", (*_parameters(subject, against), what), "exp(-H) is not integrable")
    return Undecided((f"the sign of {written(barrier)}, the leading coefficient of H at {face.says}",))


def _integrable(subject: Subject, face: Face, e: Expr, exact: bool, found: _Found) -> Decision | None:
    """Return a refutation, or that it is open, unless exp(-H) is integrable at a face."""
    if _above(subject, e + 1, found):
        return None
    against = _negative(subject, e + 1, or_zero=True) if exact else None
    if against is not None:
        at = (f"exponent of exp(-H) in the distance to {face.says}", str(_value(e, against)))
        says = f"exp(-H) ~ y**({written(e)}) is not integrable at {face.says}"
        return Refuted("leading exponents", (*_parameters(subject, against), at), says)
    return Undecided((f"not shown: {written(e)} > -1, the exponent of exp(-H) at {face.says}",))


def _reach(subject: Subject, face: Face, e: Expr, exact: bool, rows: dict[tuple[str, int], EdgeSize]) -> str:
    """Return whether a face is reached, for a coordinate that is a diffusion by itself; else nothing."""
    noise = rows.get(("D", face.number))
    if noise is None or len(rows) > 1 or not (exact and noise.is_exact) or face.is_total or not is_alone(subject, face):
        return ""
    c = e + rational(noise.power)
    if _shown(subject, c - 1, ">=") is not None:
        return ": not reached (Feller)"
    if _shown(subject, 1 - c, ">") is not None:
        return ": reached (Feller)"
    return f": reached where {written(c)} < 1 (Feller)"


def _reflected(
    subject: Subject, face: Face, e: Expr, left: list[tuple[tuple[str, int], EdgeSize]], reach: str, found: _Found
) -> Decision | None:
    """Decide a face that something of the flux reaches, by the rule of reflection that keeps the law."""
    reversed_: list[str] = []
    conditions: list[Expr] = []
    for (name, b), size in left:
        conditions.append(e + rational(size.power))
        place = f"{name}[{face.block.name},{subject.names[b]}]"
        if not _above(subject, conditions[-1] + 1, found):
            return Undecided((f"not shown: {place} exp(-H) grows slower than 1/y at {face.says}",))
        other = subject.dynamics.declarations.blocks[b]
        if name == "D" and b == face.number and is_diagonal(own(subject, face)) and not face.is_total:
            continue
        entry = (subject.whole.Q or ())[face.number][b]
        even = is_even(subject.whole.H, other.name) and is_even(entry, other.name)
        if name == "Q" and other not in bounded(subject.dynamics.declarations) and even:
            reversed_.append(other.name)
            continue
        return Undecided((f"not shown: {place} exp(-H) vanishes at {face.says}, or a reflection makes up for it",))
    if len(reversed_) < len(left) and reversed_:
        return Undecided((f"D and Q both carry a flux to {face.says}: no rule of reflection is known",))
    where = " or ".join(dict.fromkeys(f"{written(c)} <= 0" for c in conditions if not c.is_number))
    rule = f"{REFLECTED}{face.says}"
    if reversed_:
        rule += f", {', '.join(reversed_)} reversed with it"
    found.given.add(rule + (f", where {where}" if where else ""))
    kept = f"the flux is odd in {', '.join(reversed_)}" if reversed_ else "the current vanishes"
    found.says.append(f"{kept} at {face.says}{reach}")
    return None


def _above(subject: Subject, e: Expr, found: _Found) -> bool:
    """Whether e > 0 for all parameters."""
    shown = _shown(subject, e, ">")
    if shown is not None:
        found.given |= shown
    return shown is not None


def _shown(subject: Subject, e: Expr, op: str) -> frozenset[str] | None:
    if isinstance(e, sympy.Rational):
        return frozenset() if (e > 0 if op == ">" else e >= 0) else None
    found = scalar(e, op, region_alike(subject.dynamics.declarations, subject.sizes[0]))
    return None if found is None else found.given


def _negative(subject: Subject, e: Expr, or_zero: bool = False) -> Point | None:
    """Return an admissible point at which e < 0 (or e = 0, if requested): a coefficient that is zero says nothing."""
    try:
        for at in points(subject.dynamics.declarations, subject.sizes[0]):
            value = _value(e, at)
            if value is not None and (is_certainly(value, -1) or (or_zero and value == Fraction(0))):
                return at
    except NoInstanceError:
        return None
    return None


def _value(e: Expr, at: Point) -> Value | None:
    try:
        return evaluate(e, at.leaf)
    except (NoValueError, KeyError):
        return None


def _parameters(subject: Subject, at: Point) -> tuple[tuple[str, str], ...]:
    names = {p.name for p in subject.dynamics.declarations.parameters} | set(subject.dynamics.declarations.sizes)
    return tuple((name, value) for name, value in at.text if name in names)

"""Does probability flow through the faces of the domain? Face by face, in the distance y to it.

For smooth phi, by parts over {y > delta}, the weak Fokker-Planck equation leaves the integrals of D n . grad phi p and
of n . J phi p over the face, with J = div(Q p)/p for the recipe: both vanish in the limit if the row n of D + Q times
p = exp(-H) does. With p ~ y**e and the row ~ y**s that is s + e > 0. Where D n p stays, the law is kept if chains are
reflected (grad phi . n = 0 there). Where Q n p stays and carries a velocity r of which H is even, its flux is odd in r:
the law is kept if r is reversed with the reflection. Either rule makes phi good up to O(y) only: s + e > -1 is needed.

A step that reflects an entry, S: (theta_i, r_i) -> (-theta_i, -r_i), is one of the equation mirrored by S: phi = phi o
S. With A = D - Q and k any coordinate, the flux int p sum_k A_ik d_k phi through theta_i = 0 vanishes for all such phi
if p A_ik is even in r_i for k = theta_i and r_i, and 0 for all other k. With g = sum_{k != theta_i} d_k (p A_ik), by
parts, it does not where g(S z) is not -g(z): so D e_i has to be parallel to e_i on the face. Where s + e < 0 the drift,
(s + e) y**(s - 1), is not integrable against p, and steps need not converge to that equation.
In one dimension a face is reached if and only if the scale density 1/(D p) is integrable, s + e < 1 (Feller 1952),
e > -1 being needed for exp(-H) to be.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.positivity.prove import scalar
from recipe_compiler.algebra.positivity.region import region_alike
from recipe_compiler.algebra.scalars.derivatives import slope_off_kinks
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.derive.recipe import Derivation, col_slots, row_coordinate, row_slots
from recipe_compiler.errors import ModelError, Place
from recipe_compiler.facts.parity import is_even
from recipe_compiler.formula.build import depends_on_state
from recipe_compiler.formula.declaration import Block, Declarations, by_name
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.splitting.reflection import list_momenta, take_off_diagonal
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text as tensor_text
from recipe_compiler.tensor.signs import is_positive
from recipe_compiler.tensor.terms import Coordinate, Delta, Tensor, Term
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided, undecided
from recipe_compiler.verify.core.first_witness import find_first_witness
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.premises import has_state_assumptions, list_facts, list_state_assumptions
from recipe_compiler.verify.core.scalars import make_leaf, write_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.growth.bounds import Terms
from recipe_compiler.verify.growth.ends import (
    AT_ZERO,
    LOGARITHM,
    End,
    Order,
    UnknownGrowthError,
    Y,
    find_growth,
    find_leading_order,
    has_coordinate,
    list_blocks_with_boundary,
    multiply_growths,
    replace_coordinate,
    require_bounded_at_vertex,
    with_distance,
)
from recipe_compiler.verify.growth.integral import (
    EndCondition,
    bound_term_below,
    express_by_slack,
    find_common_slots,
    is_coupled_at_face,
)
from recipe_compiler.verify.integrability.infinite import refute_end_condition
from recipe_compiler.verify.recover.search import UNKNOWN, states_equation, with_recovered_q

REFLECTED = "chains are reflected at "
"""How the rule begins that a proof may rest on."""
UNBOUNDED = "steps from near the face may lead far, and need not converge: the drift is not shown to be bounded"
"""It is (s + e) y**(s - 1) there, to leading order."""
ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Face:
    """A face of the domain of one block: `theta = 0`, `theta = b`, or `sum(theta) = 1` of a simplex."""

    block: Block
    number: int
    says: str
    end: End | None
    """Where a coordinate goes; None for the face on which the coordinates of a simplex sum to 1."""

    @property
    def y(self) -> Coordinate:
        """The distance to the face, of each coordinate of the block."""
        return Coordinate(Y, () if self.end is None else row_slots(self.block))


@dataclass(frozen=True, slots=True)
class Density:
    """exp(-H) at a face: at most C y**factor; at a barrier with a positive factor, less than every power of y."""

    factor: Tensor
    is_barrier: bool
    is_exact: bool


@dataclass(frozen=True, slots=True)
class RowSize:
    """|row| <= C y**power at a face, and no smaller where it `is_exact`."""

    power: Fraction
    is_exact: bool


def list_faces(declarations: Declarations) -> Iterator[Face]:
    """Yield the faces of all bounded blocks; one face stands for all coordinates of a block.

    y > 0 is the distance: theta = y at the face `theta = 0`, theta = b - y at the upper end b of an interval, and
    sum(theta) = 1 - y at the last face of a simplex.

    Raises:
        UnknownGrowthError: an end of an interval depends on the state.
    """
    for number, block in enumerate(declarations.blocks):
        if block not in list_blocks_with_boundary(declarations):
            continue
        ends = AT_ZERO[1:]
        if block.domain.name is DomainName.INTERVAL:
            low, high = (convert(edge, declarations) for edge in block.domain.bounds)
            if low.free or high.free or any(depends_on_state(edge) for edge in block.domain.bounds):
                raise UnknownGrowthError(f"the ends of the domain of {block.name}")
            ends = (End(low, 1), End(high, -1))
        for end in ends:
            yield Face(block, number, f"{block.name} = {end.name[:-1]}", end)
        if block.domain.name is DomainName.SIMPLEX:
            yield Face(block, number, f"sum({block.name}) = 1", None)


@dataclass(frozen=True, slots=True)
class EquationAtFace:
    """A face, and how the parts of an equation behave near it."""

    subject: Subject
    of: Derivation
    face: Face
    terms: Terms
    """With a calculus that knows that y is positive."""
    is_mirrored: bool = False
    """Whether a step reflects each entry of the block at the face."""

    @property
    def block(self) -> Block:
        """The block of the face."""
        return self.face.block

    def write_scalar(self, tensor: Tensor) -> Expr:
        """Return the first entry of a tensor of parameters at the smallest sizes; the others are alike."""
        sizes = self.subject.sizes[0]
        return sympy.expand(write_out(tensor, sizes, make_leaf(self.subject.declarations, sizes))[0])

    def find_density(self) -> Density:
        """Return the behaviour of p = exp(-H).

        p ~ y**e at distance y, faster than every power where there is a barrier. For H = theta - (a - 1) log(theta) at
        theta = 0 the exponent is e = a - 1; a term 1/theta makes the barrier 1. Only terms of H matter that are not
        bounded near the face; each must be a sum of functions of one coordinate, or have a lower bound that is one.

        Raises:
            UnknownGrowthError: another term is not bounded, or the exponent depends on the state.
        """
        c, exact = self.terms.c, True
        singular = c.zero()
        for term in self.of.H.terms:
            if self._is_bounded(term):
                continue
            lowered = None if self.face.end is None else bound_term_below(c, term)
            exact = exact and lowered is None
            for one in (Tensor((), (term,)) if lowered is None else lowered).terms:
                if is_coupled_at_face(self.terms, one):
                    raise UnknownGrowthError(f"{self._format_term(one)} may fall as other coordinates go to infinity")
                singular = c.add(singular, self._express_by_distance(one))
        found = find_leading_order(c, singular, self.face.y, far=False)
        exact = exact and (found is None or found.is_complete)
        if found is None or found.order < LOGARITHM:
            return Density(c.zero(), False, exact)
        if blocks_in(c, found.factor):
            raise UnknownGrowthError(f"its exponent {tensor_text(found.factor)} depends on the state")
        return Density(found.factor, found.order > LOGARITHM, exact)

    def _is_bounded(self, term: Term) -> bool:
        """Whether a term is bounded on bounded sets, up to the faces."""
        names = {block.name for block in list_blocks_with_boundary(self.terms.declarations)}
        return not self.terms.blocks(term.factors) & names or self.terms.bound_locally(term.factors) is not None

    def _express_by_distance(self, term: Term) -> Tensor:
        """Return the contribution of a term of H near the face, as a function of the distance y.

        Coordinates that stay inside give what is bounded. Faces that meet have independent normals, so that a product
        of powers above -1 of the distances is integrable.
        """
        c, block = self.terms.c, self.block
        at, slack = find_common_slots(c, block, term), express_by_slack(c, block, term)
        others = {one.name for one in list_blocks_with_boundary(self.terms.declarations)} - {block.name}
        if self.terms.blocks(term.factors) & others and (at is not None or slack is not None):
            raise UnknownGrowthError(f"{self._format_term(term)} joins several bounded coordinates")
        if at is None and slack is None:
            raise UnknownGrowthError(self._format_term(term))
        x = row_coordinate(block)
        alone = None if at is None else c.rename(Tensor(at, (term,)), dict(zip(at, x.at, strict=True)))
        if alone is None and slack is not None:
            require_bounded_at_vertex(c, slack, Coordinate(Y))
        elif alone is not None and slack is None and block.domain.name is DomainName.SIMPLEX:
            require_bounded_at_vertex(c, alone, x)
        if self.face.end is None or alone is None:
            return c.zero() if slack is None or self.face.end is not None else slack
        return replace_coordinate(c, alone, x, self.face.end.place(c, self.face.y))

    def _format_term(self, term: Term) -> str:
        return tensor_text(Tensor((), (term,)))

    def measure_row(self, entry: Tensor) -> RowSize | None:
        """Return s with |row| <= C y**s for the row that an entry of D or Q has at the face; None where it is zero.

        D = diag(theta) has s = 1 at theta = 0. On the last face of a simplex, with the normal (1, ..., 1), it is the
        sum of all rows of the block: diag(w) - w w.T has w_j (1 - sum(w)) there, s = 1.

        Raises:
            UnknownGrowthError: the size is not known.
        """
        c, y = self.terms.c, self.face.y
        if self.face.end is None:
            entry = c.total(entry, *(index for index in row_slots(self.block) if index in entry.free))
            entry = replace_coordinate(c, entry, self.block.name, c.subtract(c.constant(1), c.coordinate(Y)))
        else:
            entry = replace_coordinate(c, entry, row_coordinate(self.block), self.face.end.place(c, y))
        orders: dict[Order, list[Tensor]] = {}
        for term in entry.terms:
            own = [factor for factor in term.factors if has_coordinate(factor, y)]
            rest = Term(term.coefficient, tuple(factor for factor in term.factors if factor not in own))
            growth = multiply_growths(c, (find_growth(c, factor, y, far=False) for factor in own))
            if growth is None or growth.order[0] or growth.order[2] or not self._is_bounded(rest):
                raise UnknownGrowthError(self._format_term(term))
            if not self._is_uniform(growth.scale):
                raise UnknownGrowthError(f"{self._format_term(term)} joins several coordinates near the face")
            scale = c.scale(c.multiply(c.collect([rest], entry.free), growth.scale), growth.sign)
            orders.setdefault(growth.order, []).append(scale)
        if not orders:
            return None
        largest = max(orders)
        total = c.add(*orders[largest])
        exact = not blocks_in(c, total) and self._is_diagonal_positive(total)
        return RowSize(-largest[1], exact)

    def _is_uniform(self, scale: Tensor) -> bool:
        """Whether the factor C of C y**s is bounded: over what other coordinates go to, faces and infinity included.

        x/(x + y)**2 is at most x/y**2 for each y > 0, and as large as 1/x where y is.
        """
        bounds = [self.terms.bound(term.factors) for term in scale.terms]
        return all(bound is not None and not bound.logs and not any(bound.powers.values()) for bound in bounds)

    def _is_diagonal_positive(self, total: Tensor) -> bool:
        """Whether a factor is positive, for a matrix where its two indices agree."""
        factors = (tuple(f for f in term.factors if not isinstance(f[0], Delta)) for term in total.terms)
        terms = [Term(term.coefficient, own) for term, own in zip(total.terms, factors, strict=True)]
        return is_positive(self.terms.c.rules, Tensor(total.free, tuple(terms)))

    def is_diagonal(self) -> bool:
        """Whether D[b, b] of the block b of the face is a diagonal matrix, or a scalar."""
        entry = self.of.D[self.face.number][self.face.number]
        return len(entry.free) < 2 or all(any(isinstance(a, Delta) for a, _ in t.factors) for t in entry.terms)

    def has_independent_coordinates(self) -> bool:
        """Whether each coordinate of the block is a diffusion by itself.

        D[b,b]: [n, n] is diagonal there, and H a sum over coordinates. Feller's condition s + e < 1 then tells whether
        the face is reached (Feller 1952). False decides nothing.
        """
        own = frozenset({self.block.name})
        H = [term for term in self.of.H.terms if self.terms.blocks(term.factors) & own]
        alone = all(
            self.terms.blocks(t.factors) == own and find_common_slots(self.terms.c, self.block, t) is not None
            for t in H
        )
        return self.is_diagonal() and alone


@dataclass(slots=True)
class _Findings:
    """Findings about the faces: in words, the declarations used, and exponents as data."""

    says: list[str] = field(default_factory=list[str])
    given: set[str] = field(default_factory=set[str])
    data: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    remarks: list[str] = field(default_factory=list[str])


def has_boundary(dynamics: Dynamics) -> bool:
    """Whether the domain of the state has a boundary: a bounded block, or an assumption about the state."""
    return bool(list_blocks_with_boundary(dynamics.declarations)) or has_state_assumptions(dynamics.declarations)


def boundary(subject: Subject, reflected: Collection[str] = ()) -> Answer:
    """Decide that no probability flux through the boundary, face by face, for every size.

    At distance y let p = exp(-H) ~ y**e and let the face's row of D + Q be of size y**s. Integrating by parts over {y >
    delta} leaves terms of size delta**(s+e): nothing flows where s + e > 0 for all parameters. Refuted where e <= -1,
    as exp(-H) is then not integrable. Where s + e > -1 only, reflection keeps the law if it is D p that stays, or Q p
    with a velocity of which H is even and which is reversed; the rule is then listed as an assumption. Where Q is not
    given, it is the one recovered for the claimed drift: the current does not depend on which Q represents it.

    A step that reflects a block, entry by entry with its momentum, is proved to need no rule, or refuted by a point of
    the face at which another flux stays.

    Example: CIR with D = theta and H = theta - (a - 1) log(theta) has s + e = 1 + (a - 1) = a > 0 at theta = 0, proved
    for a > 0. The face is reached if and only if s + e = a < 1 (Feller 1952), which the verdict says.
    """
    where = subject.place("state", "H")
    of = with_recovered_q(subject)
    if of is None or of.subject.derivation is None:
        why = UNKNOWN if states_equation(subject.dynamics) else "the noise, or Q, is not given"
        return undecided(f"{why}: the current is not known", where=where)
    return _decide_faces(of.subject, of.subject.derivation, where, of.given, reflected)


def _decide_faces(
    subject: Subject, derivation: Derivation, where: Place, reasons: frozenset[str], reflected: Collection[str]
) -> Answer:
    declarations = subject.declarations
    restricted = list_state_assumptions(declarations)
    tried = [f"the face of the domain on which {says} ends is not decided" for says in restricted]
    found = _Findings(given=set(reasons))
    terms = Terms(with_distance(derivation.calculus), declarations)
    try:
        for face in list_faces(declarations):
            is_mirrored = face.block.name in reflected and face.end is AT_ZERO[1]
            decision = _decide_face(EquationAtFace(subject, derivation, face, terms, is_mirrored), found)
            if isinstance(decision, Refuted) and restricted:
                tried.append(f"not known whether {face.says} is a face of the domain under the assumptions")
                continue
            if isinstance(decision, Refuted):
                return Answer(decision, where=where)
            tried += decision.tried if isinstance(decision, Undecided) else ()
    except UnknownGrowthError as reason:
        tried.append(f"not known: {reason}")
    tried += [subject.contradiction] if subject.contradiction else []
    given = tuple(sorted(found.given))
    if tried:
        return undecided(*tried, given=given, where=where)
    return Answer(Proved("; ".join(found.says), given, tuple(found.data), tuple(found.remarks)), where=where)


def _decide_face(at: EquationAtFace, found: _Findings) -> Decision | None:
    """Decide one face; return None where it is proved, with the reason added to `found`."""
    says = at.face.says
    try:
        p = at.find_density()
        rows = _measure_rows(at)
    except (UnknownGrowthError, ModelError) as reason:
        return Undecided((f"not known at {says}: {reason}",))
    if not p.is_exact:
        found.given |= list_facts([at.subject.dynamics.H], at.subject.declarations)
    open_ = _check_integrable(at, p, found)
    if open_ is not None:
        return open_
    if p.is_barrier:
        found.says.append(f"exp(-H) falls faster than every power of the distance at {says}: not reached")
        return None
    e = at.write_scalar(p.factor)
    left = [(name, size) for name, size in rows.items() if not _is_positive(at, e + rational(size.power), found)]
    smallest = min((size.power for size in rows.values()), default=Fraction(0))
    found.data += [(f"exponent of exp(-H) at {says}", format_exponent(e)), (f"least of D, Q at {says}", str(smallest))]
    reach = _describe_reach(at, e, rows) if p.is_exact else ""
    steep = [e + rational(size.power) for size in rows.values() if at.is_mirrored and size.power < 1]
    if any(_prove_sign(at.subject, sign * k, ">=") is None for k in steep for sign in (1, -1)):
        found.remarks.append(f"{UNBOUNDED} at {says}")
    if not left:
        found.says.append(
            f"D and Q times exp(-H) vanish at {says}{', where a step is reflected' * at.is_mirrored}{reach}"
        )
        return None
    return _decide_reflection(at, e, left, reach, found)


def _measure_rows(at: EquationAtFace) -> dict[tuple[str, int], RowSize]:
    """Return the sizes of the places in the row of a face; of a mirrored one, apart those off a diagonal."""
    row, sizes = at.face.number, dict[tuple[str, int], RowSize | None]()
    own = (row, *_find_momentum(at)) if at.is_mirrored else ()
    for (name, M), b in product((("D", at.of.D), ("Q", at.of.Q)), range(len(at.of.blocks))):
        between = take_off_diagonal(at.terms.c, M[row][b]) if b in own else at.terms.c.zero()
        sizes[name, b] = at.measure_row(at.terms.c.subtract(M[row][b], between))
        sizes[f"the off-diagonal {name}", b] = at.measure_row(between)
    return {place: size for place, size in sizes.items() if size is not None}


def _find_momentum(at: EquationAtFace) -> tuple[int, ...]:
    """Return the place of the block that a reflection at a face turns; nothing without one."""
    found = tuple(map(at.of.blocks.index, list_momenta(at.of, at.block)))
    return found if len(found) == 1 else ()


def format_exponent(e: Expr) -> str:
    """Return an exponent as text, without the positions: the exponents of all coordinates are alike."""
    return str(e).replace("[0]", "")


def _check_integrable(at: EquationAtFace, p: Density, found: _Findings) -> Decision | None:
    """Return a refutation or an open condition unless exp(-H) ~ y**e is integrable at a face: e > -1."""
    needed = p.factor if p.is_barrier else at.terms.c.add(p.factor, at.terms.c.constant(1))
    if _is_positive(at, at.write_scalar(needed), found):
        return None
    condition = EndCondition(f"exp(-H) at {at.face.says}", needed, holds=False, boundary=not p.is_barrier)
    try:
        against = (
            refute_end_condition(at.subject.declarations, (condition,), at.subject.sizes[0]) if p.is_exact else None
        )
    except NoInstanceError:
        against = None
    return Undecided((condition.unmet,)) if against is None else against


def _describe_reach(at: EquationAtFace, e: Expr, rows: dict[tuple[str, int], RowSize]) -> str:
    """Return, as text, whether Feller's test says that a face is reached; empty if it does not apply."""
    noise = rows.get(("D", at.face.number))
    if (
        noise is None
        or len(rows) > 1
        or not noise.is_exact
        or at.face.end is None
        or not at.has_independent_coordinates()
    ):
        return ""
    k = e + rational(noise.power)
    if _prove_sign(at.subject, k - 1, ">=") is not None:
        return ": not reached (Feller)"
    if _prove_sign(at.subject, 1 - k, ">") is not None:
        return ": reached (Feller)"
    return f": reached where {format_exponent(k)} < 1 (Feller)"


def _decide_reflection(
    at: EquationAtFace, e: Expr, left: list[tuple[tuple[str, int], RowSize]], reach: str, found: _Findings
) -> Decision | None:
    """Decide a face with a nonzero flux, by the rule of reflection that preserves exp(-H)."""
    subject, face = at.subject, at.face
    reversed_: list[str] = []
    even = [subject.whole.H]
    conditions: list[Expr] = []
    for (name, b), size in left:
        conditions.append(e + rational(size.power))
        place = f"{name}[{face.block.name},{subject.names[b]}]"
        if not _is_positive(at, conditions[-1] + 1, found):
            return Undecided((f"not shown: {place} exp(-H) grows slower than 1/y at {face.says}",))
        if at.is_mirrored:
            continue
        other = subject.declarations.blocks[b]
        if name == "D" and b == face.number and at.is_diagonal() and face.end is not None:
            continue
        if name == "Q" and other not in list_blocks_with_boundary(subject.declarations):
            reversed_.append(other.name)
            even.append((subject.whole.Q or ())[face.number][b])
        if not reversed_ or not all(is_even(f, r, subject.whole.declarations) for f in even for r in reversed_):
            return Undecided((f"not shown: {place} exp(-H) vanishes at {face.says}, or a reflection makes up for it",))
    if at.is_mirrored and any(_prove_sign(subject, k, ">=") is None for k in conditions):
        k = " or ".join(dict.fromkeys(map(format_exponent, conditions)))
        reason = f"not shown: {k} >= 0, for the drift to be integrable against exp(-H) at {face.says}"
        return Undecided((f"{reason}; else reflected steps need not converge",))
    if at.is_mirrored:
        return _decide_mirrored(at, {place for place, _ in left}, reach, found)
    if len(reversed_) < len(left) and reversed_:
        return Undecided((f"D and Q both carry a flux to {face.says}: no rule of reflection is known",))
    where = " or ".join(dict.fromkeys(f"{format_exponent(k)} <= 0" for k in conditions if not k.is_number))
    rule = f"{REFLECTED}{face.says}"
    if reversed_:
        rule += f", {', '.join(reversed_)} reversed with it"
    found.given.add(rule + (f", where {where}" if where else ""))
    kept = f"the flux is odd in {', '.join(reversed_)}" if reversed_ else "the current vanishes"
    found.says.append(f"{kept} at {face.says}{reach}")
    return None


def _decide_mirrored(at: EquationAtFace, left: set[tuple[str, int]], reach: str, found: _Findings) -> Decision | None:
    """Decide a face at which a step reflects each entry of a block, with places of its row that do not vanish there."""
    row, turned = at.face.number, _find_momentum(at)
    names = [at.of.blocks[m].name for m in turned]
    even = [at.of.D[row][row], *(M[row][m] for M in (at.of.D, at.of.Q) for m in turned)]
    free = not any(at.terms.blocks(term.factors) & {*names} for entry in even for term in entry.terms)
    if left <= {("D", row), *((name, m) for name in "DQ" for m in turned)} and free and _is_even_by_entry(at, names):
        with_it = f", with {names[0]}" if names else ""
        found.says.append(f"no net flux where a step is reflected at {at.face.says}{with_it}{reach}")
        return None
    names = [f"{name}[{at.block.name},{at.subject.names[b]}]" for name, b in sorted(left)]
    tried = f"not shown: the flux of {', '.join(names)} through {at.face.says} vanishes where a step is reflected"
    against = _refute_mirrored(at, turned)
    return Undecided((tried,)) if against is None else against


def _is_even_by_entry(at: EquationAtFace, momenta: list[str]) -> bool:
    """Whether H is shown to be even in each entry of a momentum alone: in all at once, and a sum over entries."""
    for name in momenta:
        c, block = at.terms.c, by_name(at.of.blocks)[name]
        twice = c.diff(c.diff(at.of.H, Coordinate(name, row_slots(block))), Coordinate(name, col_slots(block)))
        apart = c.settled(take_off_diagonal(c, twice)).is_zero
        if not apart or not is_even(at.subject.whole.H, name, at.subject.whole.declarations):
            return False
    return True


def _refute_mirrored(at: EquationAtFace, turned: tuple[int, ...]) -> Refuted | None:
    """Return a point of the face at which g(S z) is not -g(z); None says nothing."""
    subject = at.subject

    def fluxes(sizes: Sizes) -> Iterator[tuple[str, Expr]]:
        of, x = subject.system(sizes), coordinates(at.block, sizes)[0]
        mirror = {r: -r for r in (coordinates(at.of.blocks[m], sizes)[0] for m in turned)}
        i = of.z.index(x)
        row = [(d - q, y) for d, q, y in zip(of.D[i], of.Q[i], of.z, strict=True) if y != x]
        g = sympy.Add(*(slope_off_kinks(a, y) - a * slope_off_kinks(of.H, y) for a, y in row)).subs(x, 0)
        H = of.H.subs(x, 0)
        if not (g + H).has(sympy.nan, sympy.oo, sympy.zoo, sympy.Derivative, AppliedUndef):
            weight = sympy.exp(sympy.expand(H - H.xreplace(mirror)))
            says = f"exp(H) sum_k d/dk ((D - Q)[{x},k] exp(-H)) at {x} = 0 over k other than {x}"
            yield f"{says}{', and its mirror image' * bool(mirror)}", g + weight * g.xreplace(mirror) if mirror else g

    off = find_first_witness(fluxes, subject.declarations, subject.sizes)
    return off and Refuted("exact witness", (*off[2].text, (off[1], format_value(off[2].value))))


def _is_positive(at: EquationAtFace, e: Expr, found: _Findings) -> bool:
    """Whether e > 0 for all parameters."""
    shown = _prove_sign(at.subject, e, ">")
    found.given |= shown or set()
    return shown is not None


def _prove_sign(subject: Subject, e: Expr, op: str) -> frozenset[str] | None:
    """Return the facts by which e > 0, or e >= 0, for all parameters; None if that is not shown."""
    if isinstance(e, sympy.Rational):
        return frozenset() if (e > 0 if op == ">" else e >= 0) else None
    found = scalar(e, op, region_alike(subject.declarations, subject.sizes[0]))
    return None if found is None else found.given

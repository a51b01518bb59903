"""What makes an SDE explosive, or carries mass through infinity: steep drifts, currents on a line, steep noise.

Where x . f >= c |x|**r - C with r > 2, and |D| <= C (1 + |x|)**q with q < r, the bounded V = -(1 + |x|**2)**(1 - r/2)
has an L V that is bounded away from 0 far out: from there V would rise without end unless x reaches infinity in finite
time, with positive probability (Khasminskii 2012, Theorem 3.6). Without noise it is the time int dx/f that is finite.

Let z_k have f_k and D_kk that depend on z_k alone, and H = h(z_k) + what is free of z_k. If exp(-H) is the law of z at
all times, the mean of phi(z_k) stays for every phi that is constant near both ends, so that the integral of L phi,
which is that of phi' J_k exp(-h) with J_k = f_k - D_kk' + D_kk h', vanishes: J_k = 0. Fokker and Planck's equation asks
for J_k exp(-h) = c only; with c != 0 probability comes in from one end and goes out at the other, where the integral of
(s(end) - s) dm = int exp(-h)/c is finite: solutions get there in finite time (Feller 1952). Where J_k = 0 the scale
density is exp(h)/D_kk, and an end is reached in finite time if that is integrable there as exp(-h) is.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import Witness, witness
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.evaluate import is_certainly
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.derive.recipe import col_coordinate, col_slots, row_coordinate, row_slots
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.elementwise import FUNCTIONS, Corner
from recipe_compiler.formula.shapes import HALF_LINE, DomainName
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.signs import is_positive
from recipe_compiler.tensor.terms import Applied, Atom, Coordinate, Tensor
from recipe_compiler.verdict import Answer, Refuted
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.premises import has_state_assumptions
from recipe_compiler.verify.core.scalars import make_leaf, write_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.equation.equation import Equation
from recipe_compiler.verify.growth.bounds import Terms
from recipe_compiler.verify.growth.ends import (
    DOWN,
    UP,
    End,
    UnknownGrowthError,
    find_leading_order_at,
    list_blocks_with_boundary,
    with_distance,
)
from recipe_compiler.verify.growth.integral import list_end_conditions

THERE = "solutions get there in finite time"


@dataclass(frozen=True, slots=True)
class Line:
    """A coordinate x, one for all entries of a block, whose drift f_x and noise D_xx depend on x alone, smoothly."""

    number: int
    block: Block
    x: Coordinate
    drift: Tensor
    noise: Tensor

    @property
    def ends(self) -> tuple[End, ...]:
        """The infinite ends of its domain."""
        real = self.block.domain.name is DomainName.REAL
        return (UP, DOWN) if real else (UP,) if self.block.domain.name in HALF_LINE else ()


def _list_blocks(of: Equation) -> tuple[tuple[int, Block], ...]:
    """Return the blocks with their numbers; none where the state is restricted beside their domains."""
    declarations = of.subject.declarations
    return (
        () if of.subject.contradiction or has_state_assumptions(declarations) else tuple(enumerate(declarations.blocks))
    )


def _list_lines(of: Equation) -> Iterator[Line]:
    """Yield the coordinates that are diffusions on a line by themselves."""
    c, d = of.derivation.calculus, of.derivation
    for k, block in _list_blocks(of):
        x, domain = row_coordinate(block), block.domain.name
        noise = _take_diagonal(c, block, d.D[k][k])
        bent = domain is DomainName.CIRCLE or (domain is DomainName.SIMPLEX and x.at)
        if not bent and _has_coordinate_alone(c, x, d.drift[k], noise):
            yield Line(k, block, x, d.drift[k], noise)


def _list_line_currents(of: Equation) -> Iterator[tuple[Line, Tensor, Tensor]]:
    """Yield the lines on which the slope h' of H depends on x alone, with J = f - D' + D h' and h'."""
    c = of.derivation.calculus
    for line in _list_lines(of):
        force = of.derivation.grad_H[line.number]
        if _has_coordinate_alone(c, line.x, force):
            spread = c.subtract(c.multiply(line.noise, force), _differentiate_on_line(c, line, line.noise))
            yield line, c.settled(c.add(line.drift, spread)), force


def _differentiate_on_line(c: Calculus, line: Line, tensor: Tensor) -> Tensor:
    """Return the derivative by x of a function of x."""
    return _take_diagonal(c, line.block, c.diff(tensor, col_coordinate(line.block)))


def _take_diagonal(c: Calculus, block: Block, entry: Tensor) -> Tensor:
    return c.rename(entry, dict(zip(col_slots(block), row_slots(block), strict=True)))


def _has_coordinate_alone(c: Calculus, x: Coordinate, *tensors: Tensor) -> bool:
    """Whether tensors are functions of x alone, without kinks or jumps."""
    inside = [atom for tensor in tensors for atom in everywhere(tensor)]
    own = all(a == x for a in inside if isinstance(a, Coordinate))
    smooth = all(FUNCTIONS[a.fn].corner is Corner.NONE for a in inside if isinstance(a, Applied) and a.fn in FUNCTIONS)
    abstract = x.at and any(name == x.block for _, name in c.rules.depends)
    return own and smooth and not abstract and all(blocks_in(c, tensor) <= {x.block} for tensor in tensors)


def refute_by_steep_drift(of: Equation) -> Answer | None:
    """Return that a drift carries a block to infinity in finite time, whatever noise there is; None if none does.

    x . f >= c |x|**r - C with r > 2 and |D| <= C (1 + |x|)**q with q < r (Khasminskii 2012, Theorem 3.6), at an end of
    a line or in all directions of a block. x' = x**2 gets there, and so does dx = |x|**2 x dt + sqrt(2) dW.
    """
    terms, d = Terms.of(of.subject.declarations), of.derivation
    for line in _list_lines(of):
        if _may_meet_boundary_first(of, line.block):
            continue
        end = next((end for end in line.ends if _has_outrunning_drift(terms.c, line, end)), None)
        if end is not None:
            return _write_outrun(f"{line.block.name} -> {end.name}", line.drift, line.noise)
    for k, block in _list_blocks(of):
        f, D = d.drift[k], d.D[k][k]
        product = terms.c.total(terms.c.multiply(terms.c.coordinate(block.name, *f.free), f), *f.free)
        r, q = terms.find_lower_growth((block,), product), terms.bound_sum(D)
        own = block.domain.name is DomainName.REAL and blocks_in(terms.c, product) | blocks_in(terms.c, D)
        if (
            own == {block.name}
            and not _may_meet_boundary_first(of, block)
            and r is not None
            and r > 2
            and q is not None
            and not q.is_steep
            and q.powers.get(block.name, 0) < r
        ):
            return _write_outrun(f"{block.name} -> oo", f, D)
    return None


def _may_meet_boundary_first(of: Equation, block: Block) -> bool:
    """Whether a block drives another one that has a boundary, which solutions may meet before they reach infinity."""
    c, d, declarations = of.derivation.calculus, of.derivation, of.subject.declarations
    read = [
        frozenset().union(*(blocks_in(c, tensor) for tensor in (f, *row))) for f, row in zip(d.drift, d.D, strict=True)
    ]
    driven = {block.name}
    while new := {b.name for b, names in zip(declarations.blocks, read, strict=True) if names & driven} - driven:
        driven |= new
    return any(other.name in driven - {block.name} for other in list_blocks_with_boundary(declarations))


def _has_outrunning_drift(c: Calculus, line: Line, end: End) -> bool:
    """Whether the drift points to an infinite end and outruns the noise there."""
    c = with_distance(c)
    try:
        f = find_leading_order_at(c, c.scale(line.drift, end.sign), line.x, end)
        D = find_leading_order_at(c, line.noise, line.x, end)
    except UnknownGrowthError:
        return False
    if f is None or f.order[:2] <= (0, 1) or not is_positive(c.rules, f.factor):
        return False
    return D is None or (D.is_complete and not D.order[0] and (f.order[0] == 1 or D.order[1] < f.order[1] + 1))


def _write_outrun(end: str, drift: Tensor, noise: Tensor) -> Answer:
    at = (("end", end), ("drift", text(drift)), ("D", text(noise)))
    return Answer(Refuted("the drift outruns the noise", at, THERE))


@dataclass(frozen=True, slots=True)
class LineCurrent:
    """A current along a line: the sizes and an exact point at which it is not zero."""

    name: str
    sizes: Sizes
    found: Witness
    explodes: bool
    """Whether it ends at infinity, which solutions then reach in finite time."""

    def refuted(self, by: str) -> Refuted:
        """Return a refutation by it; `by` says what it contradicts."""
        witness = (*self.found.text, (f"current of {self.name}", format_value(self.found.value)))
        return Refuted(by, witness, f"the current f - D' + D H' of {self.name} is a multiple of exp(H)")


def find_line_current(of: Equation) -> LineCurrent | None:
    """Return a current along a line that is not zero at an exact point; None where none is found.

    For a coordinate x whose f, D and h (its part of H) depend on x alone, a stationary law has J = f - D' + D h' = 0,
    while R = 0 gives only J exp(-h) = c. f = -x + exp(x**2/2) with D = 1 and h = x**2/2 has J = exp(x**2/2), hence c =
    1: what comes in from -oo leaves at oo. Not on a circle, where such a current is no fault.
    """
    declarations, c = of.subject.declarations, of.derivation.calculus
    for line, J, force in _list_line_currents(of):
        multiple = not J.is_zero and c.is_zero(c.subtract(_differentiate_on_line(c, line, J), c.multiply(J, force)))
        for sizes in of.subject.sizes if multiple else ():
            try:
                found = witness(write_out(J, sizes, make_leaf(declarations, sizes))[0], declarations, sizes)
            except (NoNormalFormError, NotScalarisableError, TooLargeError, NoInstanceError):
                continue
            if found is not None:
                away = line.block.domain.name is DomainName.REAL or is_certainly(found.value, 1)
                plain = line.noise.is_zero or is_positive(c.rules, line.noise)
                name = str(coordinates(line.block, sizes)[0])
                first = not _may_meet_boundary_first(of, line.block)
                return LineCurrent(name, sizes, found, bool(line.ends) and away and plain and first)
    return None


def refute_by_feller(of: Equation) -> Refuted | None:
    """Return that a scalar block without a current reaches infinity, by Feller's test; None if that is not shown.

    The scale density is exp(h)/D. Where it is integrable at an infinite end, as exp(-h) is, solutions get there in
    finite time (Feller 1952): h = x**2/2 with D = exp(x**2/2) (1 + x**2) has exp(h)/D = 1/(1 + x**2). The caller has to
    know that exp(-H) is integrable.
    """
    c = of.derivation.calculus
    for line, J, _ in _list_line_currents(of):
        about = [term for term in of.derivation.H.terms if line.block.name in blocks_in(c, Tensor((), (term,)))]
        h = c.collect(about, ())
        if line.x.at or _may_meet_boundary_first(of, line.block) or not J.is_zero:
            continue
        if not _has_coordinate_alone(c, line.x, h) or not is_positive(c.rules, line.noise):
            continue
        scale = c.subtract(_take_log(c, line.noise), h)
        ends = list_end_conditions(c, of.subject.declarations, line.block, line.x, scale)
        for end in ends.conditions:
            if end.holds and end.end.endswith("oo"):
                integrable = ("exp(H)/D and exp(-H)", f"integrable as {end.end}")
                return Refuted("Feller's test", (("end", end.end), integrable), THERE)
    return None


def _take_log(c: Calculus, noise: Tensor) -> Tensor:
    """Return log D, with log(exp(a) D') = a + log(D') of exponentials that all terms share."""
    powers = [dict(term.factors) for term in noise.terms]
    shared = set[Atom].intersection(*(set(own) for own in powers))
    found = c.zero()
    for atom in shared:
        if isinstance(atom, Applied) and atom.fn == "exp":
            least = min(own[atom] for own in powers)
            noise = c.multiply(noise, c.atom(atom, -least))
            found = c.add(found, c.scale(atom.args[0], least))
    return c.add(found, c.applied("log", noise))

"""How a sum of products behaves as one coordinate goes to an end of its domain: exponentials, powers, logarithms.

The coordinate x is replaced by its distance y > 0: x = e + y or e - y at a finite end e, with L = 1/y, and x = y or -y
at infinity, with L = y. A factor is then a power of y, or a power, logarithm or exponential of a polynomial in y, whose
leading term decides; what is bounded is left out, and anything else has no known growth.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.elementwise import FUNCTIONS, named
from recipe_compiler.formula.shapes import HALF_LINE, DomainName
from recipe_compiler.tensor.atoms import Factor, everywhere
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.functions import inside_logarithm
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.signs import is_nonnegative, is_positive
from recipe_compiler.tensor.substitute import occurs, substituted
from recipe_compiler.tensor.terms import Applied, Base, Component, Coordinate, MatrixFunction, Tensor, Term

ONE = Fraction(1)
Y = "(y)"
"""The name of the distance; no block can be called this."""
Order = tuple[int, Fraction, int]
"""The sign of an exponential, the power of L, the power of log L: larger orders grow faster."""
BOUNDED: Order = (0, Fraction(0), 0)
LOGARITHM: Order = (0, Fraction(0), 1)
ABSOLUTE = (-1, 1)
"""|u| is -u and u at its ends; so is log(cosh(u)), up to a bounded term."""
_PARTIAL = named(lambda row: not row.total)


class UnknownGrowthError(Exception):
    """The growth of an expression at an end is not known; the message says why."""


@dataclass(frozen=True, slots=True)
class End:
    """An end of a coordinate's domain: infinity (`at` is None), or a finite place that is left up (1) or down (-1)."""

    at: Tensor | None
    sign: int

    @property
    def name(self) -> str:
        """The end as text: `oo`, `-oo`, `0+`, `1-`."""
        if self.at is None:
            return "oo" if self.sign > 0 else "-oo"
        return f"{text(self.at)}{'+' if self.sign > 0 else '-'}"

    def place(self, c: Calculus, y: Coordinate) -> Tensor:
        """Return the coordinate as a function of its distance y."""
        moved = c.scale(c.coordinate(y.block, *y.at), self.sign)
        return moved if self.at is None else c.add(self.at, moved)


UP, DOWN = End(None, 1), End(None, -1)
AT_ZERO = (End(Tensor((), ()), -1), End(Tensor((), ()), 1))
VERTEX = End(Tensor((), (Term(ONE, ()),)), -1)
"""Where a coordinate of a simplex, or what the coordinates leave of 1, goes to 1: several faces meet there."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A product near an end: sign * scale * L**p log(L)**q, up to terms of order `rest`; sign 0 if it is not known."""

    order: Order
    sign: int
    scale: Tensor
    """Nonnegative, and free of the coordinate."""
    rest: Order | None = None
    """None where nothing is left out."""


@dataclass(frozen=True, slots=True)
class LeadingOrder:
    """The largest order of a sum that is above `BOUNDED`, with its factor; whether no term was left out."""

    order: Order
    factor: Tensor
    is_complete: bool


def with_distance(c: Calculus) -> Calculus:
    """Return a calculus that knows that y is positive."""
    rules = c.rules
    return Calculus(replace(rules, positive=rules.positive | {Y}, nonnegative=rules.nonnegative | {Y}))


def list_blocks_with_boundary(declarations: Declarations) -> tuple[Block, ...]:
    """Return the blocks whose domain has a boundary: neither the real line nor a circle."""
    inner = {DomainName.REAL, DomainName.CIRCLE}
    return tuple(block for block in declarations.blocks if block.domain.name not in inner)


def list_ends(c: Calculus, declarations: Declarations, block: Block, h: Tensor) -> tuple[End, ...] | None:
    """Return the ends of a coordinate's domain, and both sides of 0 where h may be singular inside it.

    x > 0 has 0+ and oo; the real line -oo and oo, with 0- and 0+ as well for h = log|x|. None where an end depends on
    the state, or it is not known whether 0 lies inside.
    """
    inside = AT_ZERO if _has_possible_singularity(h, block.name) else ()
    match block.domain.name:
        case name if name in HALF_LINE:
            return AT_ZERO[1], UP
        case DomainName.REAL:
            return DOWN, *inside, UP
        case DomainName.SIMPLEX:
            return AT_ZERO[1], VERTEX
        case DomainName.INTERVAL:
            low, high = (convert(edge, declarations) for edge in block.domain.bounds)
            if low.free or high.free or blocks_in(c, c.add(low, high)):
                return None
            if is_nonnegative(c.rules, low) or is_nonnegative(c.rules, c.scale(high, -1)):
                inside = ()
            elif inside and not all(is_positive(c.rules, end) for end in (c.scale(low, -1), high)):
                return None
            return End(low, 1), *inside, End(high, -1)
        case _:
            return None


def _has_possible_singularity(h: Tensor, block: str) -> bool:
    """Whether h contains a logarithm, a function with poles or a negative power of a coordinate of the block."""
    for term in h.terms:
        for atom, exponent in term.factors:
            inside = list(everywhere(Tensor((), (Term(ONE, ((atom, ONE),)),))))
            if not any(isinstance(a, Coordinate) and a.block == block for a in inside):
                continue
            if exponent < 0 or any(isinstance(a, Applied) and a.fn in _PARTIAL for a in inside):
                return True
    return False


def replace_coordinate(c: Calculus, tensor: Tensor, x: Coordinate | str, by: Tensor) -> Tensor:
    """Return a tensor with `by` in the place of a coordinate x, or of the sum of all coordinates of a block x.

    With 1 - y in the place of sum_k w_k, log(1 - sum_k w_k) is log(y).

    Raises:
        UnknownGrowthError: it occurs in an inverse or a determinant.
        ModelError: the result has no value.
    """
    found = substituted(c, tensor, x, by)
    matrices = (atom.of.entry for atom in everywhere(found) if isinstance(atom, MatrixFunction))
    if any(occurs(entry, x) for entry in matrices):
        raise UnknownGrowthError("a matrix that depends on it")
    return found


def has_coordinate(factor: Factor, x: Coordinate) -> bool:
    """Whether a coordinate occurs in a factor, at any depth."""
    return occurs(Tensor((), (Term(ONE, (factor,)),)), x)


def find_leading_order_at(c: Calculus, h: Tensor, x: Coordinate, end: End) -> LeadingOrder | None:
    """Return the largest order in a sum h as its coordinate x goes to an end; None where all of it stays bounded.

    Orders of terms that cancel are passed over; so are nonnegative terms of unknown growth, and then the result is a
    lower bound of h and not complete. -(a - 1) log(x) + x has the order (0, 0, 1) at 0+ with L = 1/x, and a - 1.

    Args:
        c: a calculus from `with_distance`.
        h: a tensor in which x is a coordinate with free indices.
        x: the coordinate.
        end: where it goes.

    Raises:
        UnknownGrowthError: the largest term, or its sign, is not known.
    """
    y = Coordinate(Y, x.at)
    if any(isinstance(atom, Component) and (atom.name, x.block) in c.rules.depends for atom in everywhere(h)):
        raise UnknownGrowthError(f"a function of {x.block}")
    try:
        return find_leading_order(c, replace_coordinate(c, h, x, end.place(c, y)), y, far=end.at is None)
    except ModelError:
        raise UnknownGrowthError("a term that has no value there") from None


def require_bounded_at_vertex(c: Calculus, h: Tensor, x: Coordinate) -> None:
    """Raise unless a part h(x) of an energy stays bounded at a vertex of a simplex: then only its faces decide.

    exp(-sum_i h_i(x_i)) is at most a product of functions of the distances to the faces only if none of the h_i falls
    at x_i -> 1, as 2 log(1 - x_i) does; where one rises, a face that is too steep may do no harm at d = 1.

    Raises:
        UnknownGrowthError: it is not shown to stay bounded.
    """
    if find_leading_order_at(c, h, x, VERTEX) is not None:
        raise UnknownGrowthError("a term that is not shown to be bounded at a vertex of the simplex")


def find_leading_order(c: Calculus, h: Tensor, y: Coordinate, *, far: bool) -> LeadingOrder | None:
    """Return the largest order in a sum as y > 0 goes to infinity, or to 0; as `find_leading_order_at` does."""
    groups: dict[Order, list[tuple[Growth, Tensor]]] = {}
    complete = True
    for term in h.terms:
        own = [factor for factor in term.factors if has_coordinate(factor, y)]
        rest = c.collect([Term(term.coefficient, tuple(f for f in term.factors if f not in own))], h.free)
        growth = multiply_growths(c, (find_growth(c, factor, y, far=far) for factor in own))
        if growth is None or (growth.sign == 0 and growth.order > BOUNDED):
            if is_nonnegative(c.rules, Tensor(h.free, (term,))):
                complete = False
                continue
            if growth is None:
                raise UnknownGrowthError("a term of unknown growth")
        groups.setdefault(growth.order, []).append((growth, rest))
    floor: Order = BOUNDED
    for order in sorted((order for order in groups if order > BOUNDED), reverse=True):
        group = groups[order]
        if order <= floor:
            raise UnknownGrowthError("leading terms that may cancel and leave others that grow")
        if any(growth.sign == 0 for growth, _ in group):
            raise UnknownGrowthError("a leading term of unknown sign")
        total = c.add(c.zero(*h.free), *(_compute_factor(c, growth, rest) for growth, rest in group))
        if order[0] == 1:
            if _has_positive_largest_exponential(c, groups):
                return LeadingOrder(order, total, complete)
            complete = False
            continue
        if is_positive(c.rules, total) or not (total.is_zero or is_nonnegative(c.rules, total)):
            return LeadingOrder(order, total, complete)
        if order == LOGARITHM and all((growth.rest or BOUNDED) <= BOUNDED for growth, _ in group):
            return LeadingOrder(order, total, complete)
        complete = complete and total.is_zero
        floor = max(floor, *(growth.rest or BOUNDED for growth, _ in group))
    if floor > BOUNDED:
        raise UnknownGrowthError("leading terms that may cancel and leave others that grow")
    return None if complete else LeadingOrder(BOUNDED, c.zero(*h.free), is_complete=False)


def _has_positive_largest_exponential(c: Calculus, groups: dict[Order, list[tuple[Growth, Tensor]]]) -> bool:
    """Whether no exponential is negative, and one is positive: those of one order may differ in their rates.

    Raises:
        UnknownGrowthError: one may be negative.
    """
    parts = [
        _compute_factor(c, growth, rest) for order, group in groups.items() if order[0] == 1 for growth, rest in group
    ]
    if not all(is_nonnegative(c.rules, part) for part in parts):
        raise UnknownGrowthError("an exponential that is not shown to be positive")
    return any(is_positive(c.rules, part) for part in parts)


def _compute_factor(c: Calculus, growth: Growth, rest: Tensor) -> Tensor:
    """Return the factor of the order in a term."""
    return c.scale(c.multiply(rest, growth.scale), growth.sign)


def multiply_growths(c: Calculus, growths: Iterable[Growth | None]) -> Growth | None:
    """Return the growth of a product; None where that of a factor is unknown, or one grows and one decays steeply."""
    found = Growth(BOUNDED, 1, c.constant(1))
    for growth in growths:
        if growth is None or found.order[0] * growth.order[0] < 0:
            return None
        rests = [_multiply_orders(a, b) for a, b in ((found.order, growth.rest), (found.rest, growth.order)) if a and b]
        sign, scale = found.sign * growth.sign, c.multiply(found.scale, growth.scale)
        found = Growth(_multiply_orders(found.order, growth.order), sign, scale, max(rests, default=None))
    return found


def _multiply_orders(left: Order, right: Order) -> Order:
    steep = left[0] or right[0]
    return (steep, left[1] + right[1], left[2] + right[2])


def find_growth(c: Calculus, factor: Factor, y: Coordinate, *, far: bool) -> Growth | None:
    """Return how a factor that holds y > 0 grows, as y goes to infinity or to 0; None if that is unknown.

    (1 + y**2)**(1/2) grows like L far out, with a rest of order 1/L; near 0 it is bounded.
    """
    atom, exponent = factor
    whole = exponent.denominator == 1 and exponent > 0
    if isinstance(atom, Coordinate):
        return Growth((0, exponent if far else -exponent, 0), 1, c.constant(1))
    if isinstance(atom, Base):
        return _raise_growth(c, _find_polynomial_growth(c, atom.arg, y, far=far), exponent)
    if not isinstance(atom, Applied) or atom.fn not in FUNCTIONS:
        return None
    row, arg = FUNCTIONS[atom.fn], atom.args[0]
    if row.bounded:
        return _find_bounded_growth(c, atom, y, far=far) if whole else None
    if atom.fn == "abs":
        top = _find_polynomial_growth(c, arg, y, far=far)
        size = None if top is None or top.sign == 0 else replace(top, sign=1)
        return (
            _raise_growth(c, size, exponent)
            if size or exponent != 1
            else _find_growth_by_ends(c, atom, ABSOLUTE, y, far=far)
        )
    inside = inside_logarithm(c, atom) if whole else None
    if inside is not None:
        return _find_logarithm_growth(c, inside, int(exponent), y, far=far)
    if exponent != 1:
        return None
    if atom.fn == "exp":
        top = _find_polynomial_growth(c, arg, y, far=far)
        if top is None or (top.sign == 0 and top.order > BOUNDED):
            return None
        steep: Order = (top.sign, Fraction(0), 0)
        return Growth(steep, 1, c.constant(1)) if top.order > BOUNDED else _find_bounded_growth(c, atom, y, far=far)
    return None if row.ends is None else _find_growth_by_ends(c, atom, row.ends, y, far=far)


def _find_bounded_growth(c: Calculus, atom: Applied, y: Coordinate, *, far: bool) -> Growth:
    """Return the growth of a bounded function: near 0 its value there, if that is shown to be positive."""
    powers = _collect_powers(c, atom.args[0], y)
    if not far and FUNCTIONS[atom.fn].smooth and powers and min(powers) >= 0:
        value = c.applied(atom.fn, powers.pop(Fraction(0), c.zero(*atom.args[0].free)))
        if value.is_zero and not any(blocks_in(c, factor) for factor in powers.values()):
            return Growth((0, -min(powers), 0), 0, c.constant(1))
        if is_positive(c.rules, value):
            return Growth(BOUNDED, 1, value, (0, -min(powers), 0))
    return Growth(BOUNDED, 0, c.constant(1))


def _find_polynomial_growth(c: Calculus, arg: Tensor, y: Coordinate, *, far: bool) -> Growth | None:
    """Return the growth of a polynomial in y by its leading term; None of anything else."""
    found = _collect_powers(c, arg, y)
    if not found:
        return None
    top, *others = sorted(found, reverse=far)
    way = 1 if far else -1
    sign = next((sign for sign in (1, -1) if is_positive(c.rules, c.scale(found[top], sign))), 0)
    rest: Order | None = (0, way * others[0], 0) if others else None
    return Growth((0, way * top, 0), sign, c.scale(found[top], sign or 1), rest)


def _collect_powers(c: Calculus, arg: Tensor, y: Coordinate) -> dict[Fraction, Tensor]:
    """Return the coefficients of the powers of y in a sum; nothing where y occurs in other ways."""
    found: dict[Fraction, list[Term]] = {}
    for term in arg.terms:
        others = tuple(f for f in term.factors if f[0] != y)
        if any(has_coordinate(factor, y) for factor in others):
            return {}
        degree = sum((exponent for atom, exponent in term.factors if atom == y), Fraction(0))
        found.setdefault(degree, []).append(Term(term.coefficient, others))
    return {degree: c.collect(terms, arg.free) for degree, terms in found.items()}


def _raise_growth(c: Calculus, top: Growth | None, exponent: Fraction) -> Growth | None:
    """Return the growth of a power of a polynomial; None if its sign makes it undefined."""
    if top is None or (top.sign < 0 and exponent.denominator != 1) or (top.sign == 0 and exponent < 0):
        return None
    order = (0, top.order[1] * exponent, 0)
    if top.sign == 0:
        return Growth(BOUNDED, 0, c.constant(1)) if order <= BOUNDED else None
    sign = -1 if top.sign < 0 and exponent.numerator % 2 else 1
    rest = None if top.rest is None else (0, order[1] - top.order[1] + top.rest[1], 0)
    return Growth(order, sign, c.power(top.scale, exponent), rest)


def _find_growth_by_ends(
    c: Calculus, atom: Applied, ends: tuple[int, int], y: Coordinate, *, far: bool
) -> Growth | None:
    """Return the growth of a function that is a u for u -> -oo and b u for u -> oo, u a polynomial."""
    top = _find_polynomial_growth(c, atom.args[0], y, far=far)
    if top is None or top.order <= BOUNDED:
        return None if top is None else _find_bounded_growth(c, atom, y, far=far)
    rest = max(top.rest or BOUNDED, BOUNDED)
    if top.sign == 0:
        scale = c.applied("abs", top.scale)
        return Growth(top.order, 1, scale, rest) if ends == ABSOLUTE else None
    slope = ends[1] if top.sign > 0 else -ends[0]
    if not slope:
        return Growth(BOUNDED, 0, c.constant(1))
    return Growth(top.order, 1 if slope > 0 else -1, c.scale(top.scale, abs(slope)), rest)


def _find_logarithm_growth(c: Calculus, arg: Tensor, n: int, y: Coordinate, *, far: bool) -> Growth | None:
    """Return the growth of log(arg)**n, arg y, a hyperbolic cosine or a polynomial that is positive near the end."""
    match arg.terms:
        case (Term(_, ((Applied("cosh", (inner,)), exponent),)),) if exponent == n == 1:
            return _find_growth_by_ends(c, Applied("abs", (inner,)), ABSOLUTE, y, far=far)
        case _:
            top = _find_polynomial_growth(c, arg, y, far=far)
    if top is None or top.sign <= 0:
        return None
    power = top.order[1]
    if not power:
        return Growth(BOUNDED, 0, c.constant(1))
    sign = (1 if power > 0 else -1) ** n
    rest: Order = (0, Fraction(0), n - 1)
    return Growth((0, Fraction(0), n), sign, c.constant(abs(power) ** n), rest)

"""Lowering of blocks that lie in sets: b = g(u) before a target is summed up, the chain rule through g after it.

    U(u) = V(g(u)) - J(u),    dU/du_k = sum_i dV/db_i dg_i/du_k - dJ/du_k

The chain rule runs backwards through the statements of g, each stated with its derivatives. g and J are those of
`formula/constraints.py`; nothing overflows whose value is not too large itself: exponentials of a softmax are at most
1, and small entries of a correlation are products of 1/cosh, without a difference.

Worked example, an ordered column b = (u_0, u_0 + e^{u_1}), J = u_1: with t_1 = dV/db_1 and t_0 = dV/db_0 + t_1, dU/du_0
= t_0 and dU/du_1 = exp(u_1) t_1 - 1.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.constraints import OF_MATRICES_IN_CONES, Constraint, sampled_place
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.combine import plus, times
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.logs_of_shares import logs_of_many
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Body,
    Call,
    Constant,
    Raise,
    Ref,
    Scalar,
    Statement,
    Times,
    View,
)
from recipe_compiler.program.traverse import value_with_refs, with_refs
from recipe_compiler.tensor.terms import Tensor

FACTOR = "factor"

ONE, MINUS, ZERO = (Constant(Fraction(number)) for number in (1, -1, 0))


@dataclass(frozen=True, slots=True)
class Chained:
    """The names around one constrained block: u, b = g(u), and the gradients by both, empty if only U is needed."""

    constraint: Constraint
    rows: int
    u: str
    b: str
    grad_u: str = ""
    grad_b: str = ""
    log_b: str = ""
    """The name of log b of shares, if their logarithms are needed: a share may be too small for a double."""

    @property
    def x(self) -> tuple[Ref, ...]:
        """The entries of u of a column."""
        return tuple(Ref(self.u, (k,)) for k in range(self.rows))

    def below(self, i: int, j: int) -> Ref:
        """Return the entry of u for row i and column j of a matrix."""
        return Ref(self.u, (sampled_place(self.constraint, i, j),))

    def own(self, what: str) -> Ref:
        """Return a scalar by a name beside that of b."""
        return Ref(f"{self.b}_{what}")


Slopes = Mapping[Ref, Scalar]
"""What a value is made of, to the derivatives of the value."""


@dataclass(frozen=True, slots=True)
class Line:
    """`target = value`, one statement of g."""

    target: Ref
    value: Scalar
    slopes: Slopes = field(default_factory=dict[Ref, Scalar])


@dataclass(frozen=True, slots=True)
class Transformed:
    """The statements of g, J(u) = log |det dg/du| up to a constant, and the derivatives of -J by u."""

    lines: tuple[Line, ...]
    log_jacobian: Scalar
    less: Slopes = field(default_factory=dict[Ref, Scalar])
    after: Body = ()
    """What writes grad U in u, where it is not the chain rule through the lines."""


@dataclass(frozen=True, slots=True)
class ConstraintCode:
    """The statements before and after the sum of a target for one block that lies in a set."""

    arrays: tuple[Array, ...]
    """Work arrays: of the block, of the gradient by it, of its factor."""
    views: tuple[View, ...]
    """The names of its variables in the potential's block, and of the gradient by them."""
    before: Body
    after: Body
    """None where U alone is computed."""
    log_jacobian: Scalar


def around(
    defined: Definitions,
    block: Block,
    whole: str,
    start: Size,
    slopes: tuple[str, str] | None = None,
    log_b: str = "",
) -> ConstraintCode:
    """Return the statements before and after the sum of a target for one of its blocks.

    Args:
        defined: the definitions so far, whose names are taken.
        block: one with a constraint, of fixed sizes.
        whole: the array that holds its variables from `start` on.
        start: see above.
        slopes: the array of dV/db, and the one that grad U is written into; None if it is not needed.
        log_b: the array that logarithms of shares are put into; empty if they are not needed.
    """
    moved, rows = block.sampled, block.shape.rows
    if block.constraint is None or not isinstance(rows, int):
        raise CompilerError(f"the block {block.name} lies in no set, or has no fixed size")
    u = defined.naming(moved.name)
    sizes = tuple(size for size in moved.shape.sizes if isinstance(size, int))
    views = [View(u, whole, start, sizes)]
    c = Chained(block.constraint, rows, u, block.name, log_b=log_b)
    if slopes is not None:
        grad_b, out = slopes
        grad_u = defined.naming(f"{out}_{moved.name}")
        views.append(View(grad_u, out, start, sizes))
        c = replace(c, grad_u=grad_u, grad_b=grad_b)
    made = _transformed(c)
    after = tuple(_backward(c, made)) if slopes else ()
    before = tuple(Assign(line.target, line.value) for line in made.lines)
    known = {c.b, c.grad_b, c.grad_u, c.log_b}
    written = [s.target.name for s in (*before, *after) if isinstance(s, Assign)]
    names: dict[str, str] = {}
    for name in dict.fromkeys(name for name in written if name not in known):
        names[name] = defined.naming(name)

    def renamed(ref: Ref) -> Ref:
        return Ref(names.get(ref.name, ref.name), ref.at)

    own = (c.b, c.grad_b, c.log_b, names.get(f"{c.b}_{FACTOR}", ""))
    arrays = tuple(Array(name, block.shape.sizes) for name in own if name)
    before, after = (tuple(with_refs(s, renamed) for s in side) for side in (before, after))
    return ConstraintCode(arrays, tuple(views), before, after, value_with_refs(made.log_jacobian, renamed))


def around_by_logs(
    defined: Definitions, sets: Iterable[tuple[Block, Size]], whole: str, tensors: tuple[Tensor, ...]
) -> tuple[tuple[ConstraintCode, ...], tuple[Tensor, ...]]:
    """Return what computes blocks in sets from their variables, and tensors that read logarithms of shares from arrays.

    Args:
        defined: the definitions so far.
        sets: blocks with a constraint, each with where its variables start.
        whole: the array that holds them.
        tensors: functions of the blocks; a block of shares gets an array of logarithms if these occur.
    """
    sets, arrays = tuple(sets), dict[str, str]()
    for block, _ in sets:
        if block.constraint is Constraint.SIMPLEX:
            arrays[block.name] = defined.naming(f"log_{block.name}")
    rewritten = tuple(logs_of_many(tensor, arrays) for tensor in tensors)
    taken = frozenset[str]().union(*map(names_of, rewritten))
    logs = {name: array for name, array in arrays.items() if array in taken}
    codes = tuple(around(defined, place[0], whole, place[1], log_b=logs.get(place[0].name, "")) for place in sets)
    return (tuple(codes), rewritten)


def _transformed(c: Chained) -> Transformed:
    match c.constraint:
        case Constraint.ORDERED | Constraint.POSITIVE_ORDERED:
            return _increasing(c)
        case Constraint.SIMPLEX:
            return _shares(c)
        case Constraint.UNIT_VECTOR:
            return _direction(c)
        case _:
            return _matrix(c)


def _backward(c: Chained, made: Transformed) -> Iterator[Statement]:
    """Yield the statements that write grad U in u, given that in b: the slope of U by each target, from the last on."""
    yield from made.after
    first = {ref: line for line in reversed(made.lines) for ref in line.slopes}
    parts: dict[Ref, list[Scalar]] = {}

    def slope_of(ref: Ref) -> Scalar:
        given = (Ref(c.grad_b, ref.at),) if ref.name == c.b else ()
        less = (made.less[ref],) if ref in made.less else ()
        return plus((*given, *parts.get(ref, ()), *less))

    for line in reversed(made.lines):
        if not line.slopes:
            continue
        slope = Ref("_".join((line.target.name, "slope", *map(str, line.target.at))))
        yield Assign(slope, slope_of(line.target))
        for ref, by in line.slopes.items():
            parts.setdefault(ref, []).append(slope if by == ONE else product(by, slope))
            if ref.name == c.u and first[ref] is line:
                yield Assign(Ref(c.grad_u, ref.at), slope_of(ref))


def product(*factors: Scalar) -> Scalar:
    """Return a product without products as factors."""
    flat = (part for factor in factors for part in (factor.factors if isinstance(factor, Times) else (factor,)))
    return times(Fraction(1), tuple(flat))


def _reciprocal(value: Scalar) -> Scalar:
    return Raise(value, Fraction(-1))


def _exp(value: Scalar) -> Scalar:
    return Call("exp", (value,))


def _minus(value: Scalar) -> Scalar:
    return times(Fraction(-1), (value,))


def _increasing(c: Chained) -> Transformed:
    """Return increasing columns: b_k = b_(k-1) + exp(u_k)."""
    free = c.x[c.constraint is Constraint.ORDERED :]
    lines = list[Line]()
    for k, x in enumerate(c.x):
        own, by = (_exp(x), _exp(x)) if x in free else (x, ONE)
        before = {Ref(c.b, (k - 1,)): ONE} if k else dict[Ref, Scalar]()
        lines.append(Line(Ref(c.b, (k,)), plus((*before, own)), {x: by, **before}))
    return Transformed(tuple(lines), plus(free), dict.fromkeys(free, MINUS))


def _shares(c: Chained) -> Transformed:
    """Return shares: b_k = exp(u_k - max u)/sum_j exp(u_j - max u).

    With s = sum_j b_j dV/db_j, dU/du_k = b_k (dV/db_k - s + K) - 1 + sum(u)/K.
    """
    K, largest, total, found = c.rows, c.own("largest"), c.own("total"), list[Scalar](c.x)
    while len(found) > 1:  # by pairs, so that it nests no deeper than it must
        pairs = [found[k : k + 2] for k in range(0, len(found), 2)]
        found = [Call("maximum", tuple(pair)) if len(pair) > 1 else pair[0] for pair in pairs]
    parts, b = [c.own(f"part_{k}") for k in range(K)], [Ref(c.b, (k,)) for k in range(K)]
    log_total, sum_, s = plus((largest, Call("log", (total,)))), plus(c.x), c.own("slope")
    lines = (
        Line(largest, found[0]),
        *(Line(part, _exp(plus((x, _minus(largest))))) for x, part in zip(c.x, parts, strict=True)),
        Line(total, plus(tuple(parts))),
        *(Line(own, product(part, _reciprocal(total))) for own, part in zip(b, parts, strict=True)),
        *(Line(Ref(c.log_b, (k,)), plus((x, _minus(log_total)))) for k, x in enumerate(c.x) if c.log_b),
    )
    after = [Assign(s, plus(tuple(product(own, Ref(c.grad_b, own.at)) for own in b)))]
    for own in b:
        along = product(own, plus((Ref(c.grad_b, own.at), _minus(s), Constant(Fraction(K)))))
        after.append(Assign(Ref(c.grad_u, own.at), plus((along, MINUS, times(Fraction(1, K), (sum_,))))))
    square = times(Fraction(-1, 2 * K), (Raise(sum_, Fraction(2)),))
    return Transformed(lines, plus((sum_, times(Fraction(-K), (log_total,)), square)), after=tuple(after))


def _direction(c: Chained) -> Transformed:
    """Return directions: b = u/|u|."""
    length, square = c.own("length"), plus(tuple(Raise(x, Fraction(2)) for x in c.x))
    over = _reciprocal(length)
    lines = [Line(length, Call("sqrt", (square,)), {x: product(x, over) for x in c.x})]
    for k, x in enumerate(c.x):
        b = Ref(c.b, (k,))
        lines.append(Line(b, product(x, over), {x: over, length: times(Fraction(-1), (b, over))}))
    return Transformed(tuple(lines), times(Fraction(-1, 2), (square,)), {x: x for x in c.x})


def _matrix(c: Chained) -> Transformed:
    """Return matrices: a lower triangular L, or L L^T."""
    is_product = c.constraint in {Constraint.CORR, Constraint.COV}
    name, rows = f"{c.b}_{FACTOR}" if is_product else c.b, range(c.rows)
    lines = [*_factor(c, name), *(_product(c, name) if is_product else ())]
    if c.constraint in OF_MATRICES_IN_CONES:
        volume = {c.below(i, i): c.rows - i + 1 if is_product else 1 for i in rows}
        J = plus(tuple(times(Fraction(power), (x,)) for x, power in volume.items()))
        return Transformed(tuple(lines), J, {x: Constant(Fraction(-power)) for x, power in volume.items()})
    lost = {c.below(i, j): Fraction(c.rows - j if is_product else i - j + 1) for i in rows for j in range(i)}
    J = plus(tuple(times(-power, (_log_cosh(x),)) for x, power in lost.items()))
    return Transformed(tuple(lines), J, {x: times(power, (Call("tanh", (x,)),)) for x, power in lost.items()})


def _log_cosh(x: Scalar) -> Scalar:
    """Return log cosh(x) + log 2 = softplus(2 x) - x, which does not overflow."""
    return plus((Call("softplus", (times(Fraction(2), (x,)),)), _minus(x)))


def _factor(c: Chained, L: str) -> Iterator[Line]:
    """Yield what writes the lower triangular factor, zeros above its diagonal.

    Of correlations l_(j+1) = l_j/cosh(u_j) and L_ij = l_j tanh(u_j), l_j what j entries of row i leave of its length.
    """
    for i in range(c.rows):
        left: Ref | Constant = ONE
        for j in range(i):
            x, place = c.below(i, j), Ref(L, (i, j))
            if c.constraint in OF_MATRICES_IN_CONES:
                yield Line(place, x, {x: ONE})
                continue
            tangent, sech = Call("tanh", (x,)), _reciprocal(Call("cosh", (x,)))
            before = (left,) if isinstance(left, Ref) else ()
            following = c.own(f"left_{i}_{j + 1}")
            by, lost = product(following, sech), times(Fraction(-1), (following, tangent))
            yield Line(place, product(tangent, *before), {x: by, **dict.fromkeys(before, tangent)})
            yield Line(following, product(*before, sech), {x: lost, **dict.fromkeys(before, sech)})
            left = following
        if c.constraint in OF_MATRICES_IN_CONES:
            x = c.below(i, i)
            yield Line(Ref(L, (i, i)), _exp(x), {x: _exp(x)})
        else:
            yield Line(Ref(L, (i, i)), left, {left: ONE} if isinstance(left, Ref) else {})
        yield from (Line(Ref(L, (i, j)), ZERO) for j in range(i + 1, c.rows))


def _product(c: Chained, L: str) -> Iterator[Line]:
    """Yield what writes b = L L^T."""
    for i in range(c.rows):
        for j in range(i + 1):
            pairs = [(Ref(L, (i, k)), Ref(L, (j, k))) for k in range(j + 1)]
            by = {one: other if i > j else times(Fraction(2), (one,)) for one, other in pairs}
            by |= {other: one for one, other in pairs} if i > j else {}
            if i == j and c.constraint is Constraint.CORR:
                yield Line(Ref(c.b, (i, j)), ONE)
            else:
                yield Line(Ref(c.b, (i, j)), plus(tuple(product(*pair) for pair in pairs)), by)
            if i > j:
                yield Line(Ref(c.b, (j, i)), Ref(c.b, (i, j)), {Ref(c.b, (i, j)): ONE})

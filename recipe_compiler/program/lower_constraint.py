"""Lowering of blocks that lie in sets: b = g(u) before a target is summed up, the chain rule through g after it.

    U(u) = V(g(u)) - J(u),    dU/du_k = sum_i dV/db_i dg_i/du_k - dJ/du_k

The chain rule runs backwards through the computation of g, one statement per entry. g and J are those of
`formula/constraints.py`; nothing overflows whose value is not too large itself: exponentials of a softmax are at most
1, and small entries of a correlation are products of 1/cosh, without a difference.

Worked example, an ordered column b = (u_0, u_0 + e^{u_1}), J = u_1: with t_1 = dV/db_1 and t_0 = dV/db_0 + t_1, dU/du_0
= t_0 and dU/du_1 = exp(u_1) t_1 - 1.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.constraints import OF_MATRICES_IN_CONES, Constraint, sampled_place
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.combine import plus, times
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.logs_of_shares import logs_of_many
from recipe_compiler.program.loops import Array, Assign, Call, Constant, Raise, Ref, Scalar, Statement, View
from recipe_compiler.program.traverse import value_with_refs, with_refs
from recipe_compiler.tensor.terms import Tensor

FACTOR = "factor"

ONE, ZERO = Constant(Fraction(1)), Constant(Fraction(0))


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
    """Of shares, if their logarithms are needed: a share may be too small for a double."""

    def x(self, *at: int) -> Ref:
        """Return an entry of u."""
        return Ref(self.u, at)

    def below(self, i: int, j: int) -> Ref:
        """Return the entry of u for row i and column j of a matrix."""
        return Ref(self.u, (sampled_place(self.constraint, i, j),))


@dataclass(frozen=True, slots=True)
class ConstraintCode:
    """The statements before and after the sum of a target for one block that lies in a set."""

    arrays: tuple[Array, ...]
    """Work arrays: of the block, of the gradient by it, of its factor."""
    views: tuple[View, ...]
    """The names of its variables in the potential's block, and of the gradient by them."""
    before: tuple[Statement, ...]
    after: tuple[Statement, ...]
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
    after: tuple[Statement, ...] = ()
    if slopes is not None:
        grad_b, out = slopes
        grad_u = defined.naming(f"{out}_{moved.name}")
        views.append(View(grad_u, out, start, sizes))
        c = replace(c, grad_u=grad_u, grad_b=grad_b)
        after = backward(c)
    before = forward(c)
    known = {c.b, c.grad_b, c.grad_u, c.log_b}
    written = [s.target.name for s in (*before, *after) if isinstance(s, Assign)]
    names: dict[str, str] = {}
    for name in dict.fromkeys(name for name in written if name not in known):
        names[name] = defined.naming(name)

    def renamed(ref: Ref) -> Ref:
        return Ref(names.get(ref.name, ref.name), ref.at)

    own = [*(name for name in (c.b, c.grad_b, c.log_b) if name), *([names[f] for f in [_own(c, FACTOR)] if f in names])]
    arrays = tuple(Array(name, block.shape.sizes) for name in own)
    before, after = (tuple(with_refs(s, renamed) for s in side) for side in (before, after))
    return ConstraintCode(arrays, tuple(views), before, after, value_with_refs(log_jacobian(c), renamed))


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


def forward(c: Chained) -> tuple[Statement, ...]:
    """Return the statements that write b = g(u)."""
    match c.constraint:
        case Constraint.ORDERED | Constraint.POSITIVE_ORDERED:
            return tuple(_running_sums(c))
        case Constraint.SIMPLEX:
            return tuple(_shares(c))
        case Constraint.UNIT_VECTOR:
            length = _length(c)
            entries = (Assign(Ref(c.b, (k,)), times_(c.x(k), _reciprocal(length))) for k in range(c.rows))
            return (Assign(length, Call("sqrt", (_square(c),))), *entries)
        case Constraint.CHOLESKY_CORR | Constraint.CHOLESKY_COV:
            return tuple(_factor(c, c.b))
        case Constraint.CORR | Constraint.COV:
            return (*_factor(c, _own(c, FACTOR)), *_product(c))


def log_jacobian(c: Chained) -> Scalar:
    """Return J(u) = log |det dg/du| up to a constant, as a scalar expression."""
    K, below = c.rows, [(i, j) for i in range(c.rows) for j in range(i)]
    match c.constraint:
        case Constraint.ORDERED:
            return plus(tuple(c.x(k) for k in range(1, K)))
        case Constraint.POSITIVE_ORDERED:
            return _total(c)
        case Constraint.SIMPLEX:
            log_total = plus((_largest(c), Call("log", (_total_of_shares(c),))))
            square = times(Fraction(-1, 2 * K), (Raise(_total(c), Fraction(2)),))
            return plus((_total(c), times(Fraction(-K), (log_total,)), square))
        case Constraint.UNIT_VECTOR:
            return times(Fraction(-1, 2), (_square(c),))
        case Constraint.CHOLESKY_CORR:
            return plus(tuple(times(Fraction(-(i - j + 1)), (_log_cosh(c.below(i, j)),)) for i, j in below))
        case Constraint.CORR:
            return plus(tuple(times(Fraction(-(K - j)), (_log_cosh(c.below(i, j)),)) for i, j in below))
        case Constraint.CHOLESKY_COV | Constraint.COV:
            return plus(tuple(times(Fraction(power), (c.below(i, i),)) for i, power in enumerate(_powers(c))))


def backward(c: Chained) -> tuple[Statement, ...]:
    """Return the statements that write grad U in u, given that in b: dU/du = (dg/du)^T dV/db - grad J."""
    match c.constraint:
        case Constraint.ORDERED | Constraint.POSITIVE_ORDERED:
            return tuple(_suffix_sums(c))
        case Constraint.SIMPLEX:
            return tuple(_back_from_shares(c))
        case Constraint.UNIT_VECTOR:
            return tuple(_back_from_direction(c))
        case _:
            return tuple(_back_from_matrix(c))


def times_(*factors: Scalar) -> Scalar:
    """Return a product."""
    return times(Fraction(1), factors)


def minus(value: Scalar) -> Scalar:
    """Return the negative."""
    return times(Fraction(-1), (value,))


def _own(c: Chained, what: str) -> str:
    """Return a name beside that of b."""
    return f"{c.b}_{what}"


def _reciprocal(value: Scalar) -> Scalar:
    return Raise(value, Fraction(-1))


def _exp(value: Scalar) -> Scalar:
    return Call("exp", (value,))


def _total(c: Chained) -> Scalar:
    return plus(tuple(c.x(k) for k in range(c.rows)))


# Increasing columns: b_k = b_(k-1) + exp(u_k).


def _running_sums(c: Chained) -> Iterator[Statement]:
    yield Assign(Ref(c.b, (0,)), c.x(0) if c.constraint is Constraint.ORDERED else _exp(c.x(0)))
    for k in range(1, c.rows):
        yield Assign(Ref(c.b, (k,)), plus((Ref(c.b, (k - 1,)), _exp(c.x(k)))))


def _suffix_sums(c: Chained) -> Iterator[Statement]:
    """Yield t_k = dV/db_k + t_(k+1), and dU/du_k = exp(u_k) t_k - 1; u_0 of an ordered column is b_0 itself."""
    above: Scalar | None = None
    for k in reversed(range(c.rows)):
        sum_ = Ref(_own(c, f"slope_{k}"))
        own = Ref(c.grad_b, (k,))
        yield Assign(sum_, own if above is None else plus((own, above)))
        plain = k == 0 and c.constraint is Constraint.ORDERED
        yield Assign(Ref(c.grad_u, (k,)), sum_ if plain else plus((times_(_exp(c.x(k)), sum_), minus(ONE))))
        above = sum_


# Shares: b_k = exp(u_k - max u)/sum_j exp(u_j - max u).


def _largest(c: Chained) -> Ref:
    return Ref(_own(c, "largest"))


def _total_of_shares(c: Chained) -> Ref:
    return Ref(_own(c, "total"))


def _maximum(c: Chained) -> Scalar:
    """Return the largest of u, by pairs, so that it nests no deeper than it must."""
    found: list[Scalar] = [c.x(k) for k in range(c.rows)]
    while len(found) > 1:
        pairs = [found[k : k + 2] for k in range(0, len(found), 2)]
        found = [Call("maximum", tuple(pair)) if len(pair) > 1 else pair[0] for pair in pairs]
    return found[0]


def _shares(c: Chained) -> Iterator[Statement]:
    parts = [Ref(_own(c, f"part_{k}")) for k in range(c.rows)]
    yield Assign(_largest(c), _maximum(c))
    yield from (Assign(part, _exp(plus((c.x(k), minus(_largest(c)))))) for k, part in enumerate(parts))
    yield Assign(_total_of_shares(c), plus(tuple(parts)))
    share = _reciprocal(_total_of_shares(c))
    yield from (Assign(Ref(c.b, (k,)), times_(part, share)) for k, part in enumerate(parts))
    if c.log_b:
        log_total = plus((_largest(c), Call("log", (_total_of_shares(c),))))
        yield from (Assign(Ref(c.log_b, (k,)), plus((c.x(k), minus(log_total)))) for k in range(c.rows))


def _back_from_shares(c: Chained) -> Iterator[Statement]:
    """Yield s = sum_j b_j dV/db_j, and dU/du_k = b_k (dV/db_k - s) - 1 + K b_k + sum(u)/K."""
    K, s = c.rows, Ref(_own(c, "slope"))
    yield Assign(s, plus(tuple(times_(Ref(c.b, (j,)), Ref(c.grad_b, (j,))) for j in range(K))))
    for k in range(K):
        along = times_(Ref(c.b, (k,)), plus((Ref(c.grad_b, (k,)), minus(s), Constant(Fraction(K)))))
        yield Assign(Ref(c.grad_u, (k,)), plus((along, minus(ONE), times(Fraction(1, K), (_total(c),)))))


# Directions: b = u/|u|.


def _square(c: Chained) -> Scalar:
    return plus(tuple(Raise(c.x(k), Fraction(2)) for k in range(c.rows)))


def _length(c: Chained) -> Ref:
    return Ref(_own(c, "length"))


def _back_from_direction(c: Chained) -> Iterator[Statement]:
    """Yield s = sum_j b_j dV/db_j, and dU/du_k = (dV/db_k - b_k s)/|u| + u_k."""
    s = Ref(_own(c, "slope"))
    yield Assign(s, plus(tuple(times_(Ref(c.b, (j,)), Ref(c.grad_b, (j,))) for j in range(c.rows))))
    for k in range(c.rows):
        across = plus((Ref(c.grad_b, (k,)), minus(times_(Ref(c.b, (k,)), s))))
        yield Assign(Ref(c.grad_u, (k,)), plus((times_(across, _reciprocal(_length(c))), c.x(k))))


# Matrices: a lower triangular L, or L L^T.


def _powers(c: Chained) -> list[int]:
    """Return by which power of each diagonal entry exp(u_ii) of L volume grows."""
    return [c.rows - i + 1 if c.constraint is Constraint.COV else 1 for i in range(c.rows)]


def _sech(value: Scalar) -> Scalar:
    return _reciprocal(Call("cosh", (value,)))


def _log_cosh(x: Scalar) -> Scalar:
    """Return log cosh(x) + log 2 = softplus(2 x) - x, which does not overflow."""
    return plus((Call("softplus", (times(Fraction(2), (x,)),)), minus(x)))


def _left(c: Chained, i: int, j: int) -> Ref:
    """Return the scalar that holds what the first j entries of row i leave of its length."""
    return Ref(_own(c, f"left_{i}_{j}"))


def _factor(c: Chained, L: str) -> Iterator[Statement]:
    """Yield what writes the lower triangular factor, zeros above its diagonal."""
    for i in range(c.rows):
        if c.constraint in OF_MATRICES_IN_CONES:
            for j in range(i):
                yield Assign(Ref(L, (i, j)), c.below(i, j))
            yield Assign(Ref(L, (i, i)), _exp(c.below(i, i)))
        else:
            for j in range(i):
                left = _left(c, i, j) if j else ONE
                tangent = Call("tanh", (c.below(i, j),))
                yield Assign(Ref(L, (i, j)), times_(tangent, left) if j else tangent)
                next_ = _sech(c.below(i, j))
                yield Assign(_left(c, i, j + 1), times_(left, next_) if j else next_)
            yield Assign(Ref(L, (i, i)), _left(c, i, i) if i else ONE)
        for j in range(i + 1, c.rows):
            yield Assign(Ref(L, (i, j)), ZERO)


def _product(c: Chained) -> Iterator[Statement]:
    """Yield what writes b = L L^T."""
    L = _own(c, FACTOR)
    for i in range(c.rows):
        for j in range(i + 1):
            terms = tuple(times_(Ref(L, (i, k)), Ref(L, (j, k))) for k in range(j + 1))
            unit = i == j and c.constraint is Constraint.CORR
            yield Assign(Ref(c.b, (i, j)), ONE if unit else plus(terms))
            if i != j:
                yield Assign(Ref(c.b, (j, i)), Ref(c.b, (i, j)))


def _slopes(c: Chained) -> tuple[list[Statement], Callable[[int, int], Ref]]:
    """Return dV/dL of the factor, with the statements that make it where V is of L L^T: (G + G^T) L."""
    if c.constraint in {Constraint.CHOLESKY_CORR, Constraint.CHOLESKY_COV}:
        return [], lambda i, j: Ref(c.grad_b, (i, j))
    L, G = _own(c, FACTOR), c.grad_b

    def name(i: int, j: int) -> Ref:
        return Ref(_own(c, f"slope_{i}_{j}"))

    def entry(i: int, j: int) -> Scalar:
        both = (times_(plus((Ref(G, (i, k)), Ref(G, (k, i)))), Ref(L, (k, j))) for k in range(j, c.rows))
        return plus(tuple(both))

    made: list[Statement] = [Assign(name(i, j), entry(i, j)) for i in range(c.rows) for j in range(i + 1)]
    return made, name


def _back_from_matrix(c: Chained) -> Iterator[Statement]:
    made, slope = _slopes(c)
    yield from made
    for i in range(c.rows):
        if c.constraint in OF_MATRICES_IN_CONES:
            yield from _back_from_free_row(c, i, slope)
        else:
            yield from _back_from_unit_row(c, i, slope)


def _back_from_free_row(c: Chained, i: int, slope: Callable[[int, int], Ref]) -> Iterator[Statement]:
    for j in range(i):
        yield Assign(Ref(c.grad_u, (sampled_place(c.constraint, i, j),)), slope(i, j))
    last = times_(_exp(c.below(i, i)), slope(i, i))
    power = Constant(Fraction(-_powers(c)[i]))
    yield Assign(Ref(c.grad_u, (sampled_place(c.constraint, i, i),)), plus((last, power)))


def _back_from_unit_row(c: Chained, i: int, slope: Callable[[int, int], Ref]) -> Iterator[Statement]:
    """Yield dU/du_ij, from the last column to the first; `after` is dV by what is left of the row's length.

    l_(j+1) = l_j/cosh(u_j) and L_ij = l_j tanh(u_j), so dV/du_j = dV/dL_ij l_j/cosh(u_j)**2 - after l_(j+1) tanh(u_j).
    """
    after: Scalar = slope(i, i)
    for j in reversed(range(i)):
        x = c.below(i, j)
        tangent, sech = Call("tanh", (x,)), _sech(x)
        power = c.rows - j if c.constraint is Constraint.CORR else i - j + 1
        along = times_(slope(i, j), _left(c, i, j + 1), sech)
        across = times(Fraction(-1), (after, _left(c, i, j + 1), tangent))
        own = plus((along, across, times(Fraction(power), (tangent,))))
        yield Assign(Ref(c.grad_u, (sampled_place(c.constraint, i, j),)), own)
        before = Ref(_own(c, f"after_{i}_{j}"))
        if j:
            yield Assign(before, plus((times_(after, sech), times_(slope(i, j), tangent))))
        after = before

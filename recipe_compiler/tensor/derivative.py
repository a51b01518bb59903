"""Partial derivatives of terms, by four rules.

    product rule        d(a b) = (da) b + a (db)
    chain rule          d f(u) = f'(u) du, f' being the slope of f's row in `formula.elementwise`
    inverse             d inv(A)_ij = -sum_kl inv(A)_ik (dA_kl) inv(A)_lj
    determinant         d log det A = sum_kl inv(A)_lk dA_kl,    d det A = det(A) d log det A        (Jacobi's formula)

The derivative of `abs` is `sign`, which is right almost everywhere; proofs may use it since abs is Lipschitz.
"""

from recipe_compiler.errors import ModelError
from recipe_compiler.formula.elementwise import FUNCTIONS, Corner
from recipe_compiler.formula.shapes import Size
from recipe_compiler.tensor.atoms import ONE, indices
from recipe_compiler.tensor.branch_continuity import step_between
from recipe_compiler.tensor.calculus_protocol import Arithmetic, as_number, constant, meaningless
from recipe_compiler.tensor.inverses import halved_triangle
from recipe_compiler.tensor.rule_tensors import written
from recipe_compiler.tensor.show import write
from recipe_compiler.tensor.style import PLAIN
from recipe_compiler.tensor.substitute import unbound
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Grid,
    Index,
    MatrixFunction,
    Pi,
    SizeNumber,
    Slot,
    Tensor,
    Term,
)

_MEETING = (
    "write pieces that agree there, as where(x > 1, 2*x - 1, x**2) does, or minimum, maximum, abs, or a smooth formula"
)


def branches(c: Arithmetic, fn: str, args: tuple[Tensor, ...]) -> tuple[str, tuple[Tensor, ...]] | None:
    """Return a function with branches as `where ...` and its arguments (left, right, yes, no); None for any other.

    minimum(a, b) is where(a <= b, a, b), maximum(a, b) is where(a >= b, a, b).
    """
    match fn:
        case "minimum":
            return "where <=", (*args, *args)
        case "maximum":
            return "where >=", (*args, *args)
        case _:
            return (fn, args) if fn.startswith("where ") else None


def jump(fn: str) -> ModelError:
    """Return the ModelError of differentiating a function across its jump, where the derivative holds a point mass."""
    hint = "abs, minimum and maximum have kinks and no jumps; or take a smooth function"
    return meaningless(f"found the derivative of {fn} across its jump, where it has a point mass", hint)


def apart(left: Tensor, right: Tensor, step: Tensor | None) -> ModelError:
    """Return the ModelError of differentiating a `where` whose branches are not shown to meet.

    `step` is yes - no on {left = right} as `step_between` returns it; the error states it, or that none could be
    computed.
    """
    free = dict.fromkeys(index for part in (left, right, step) if part is not None for index in part.free)
    letters = dict(zip(free, "ijkl", strict=False))
    boundary = f"{write(PLAIN, left, letters)} = {write(PLAIN, right, letters)}"
    if step is None:
        what = f"not shown: the pieces of where meet on {boundary}, in which no coordinate stands alone, to be put in"
        return meaningless(what, f"{_MEETING}, or a condition such as x > c")
    there = f"one less the other is {write(PLAIN, step, letters)} there"
    if as_number(step) is None:
        return meaningless(f"not shown: the pieces of where meet on {boundary}; {there}", _MEETING)
    return meaningless(f"the pieces of where do not meet on {boundary}: {there}, a jump with a point mass", _MEETING)


def slope(c: Arithmetic, fn: str, x: Tensor, *, almost_everywhere: bool) -> Tensor:
    """Return the derivative f'(x) of a scalar function at x, entry by entry: x of any shape, with its free indices.

    That of abs is sign. sign itself jumps: with `almost_everywhere` its derivative is zero, which emitted gradients may
    use.

    Raises:
        ModelError: for a function without a derivative in its table, or that jumps.
    """
    row = FUNCTIONS.get(fn)
    if row is None or not row.slope:
        raise meaningless(f"found the derivative of {fn}, which the calculus does not know")
    if row.corner is Corner.JUMP and not almost_everywhere:
        raise jump(fn)
    return written(c, row.stated_slope if c.rules.stated and row.stated_slope else row.slope, x)


def term_derivative(
    c: Arithmetic, term: Term, free: tuple[Index, ...], by: Coordinate, *, almost_everywhere: bool
) -> Tensor:
    """Return the derivative of one term by a coordinate, factor by factor, summed over what the term is summed over.

        d(c a**n b)/dz = c n a**(n-1) (da/dz) b + c a**n (db/dz)

    The result has the free indices of the term and those of the coordinate: sum_j r_j**2 by r_i is sum_j 2 r_j delta_ij
    = 2 r_i.
    """
    factors, over = unbound(term, free)
    parts: list[Tensor] = []
    for n, (atom, exponent) in enumerate(factors):
        inner = _atom_derivative(c, atom, by, almost_everywhere=almost_everywhere)
        if inner.is_zero:
            continue
        others = (*factors[:n], *factors[n + 1 :])
        rest = (*others, (atom, exponent - 1)) if exponent != 1 else others
        outer = c.collect([Term(term.coefficient * exponent, rest)], (*free, *over))
        parts.append(c.distribute(outer, inner))
    return c.total(c.add(*parts), *over) if parts else Tensor((), ())


def _atom_derivative(c: Arithmetic, atom: Atom, by: Coordinate, *, almost_everywhere: bool) -> Tensor:
    """Return the derivative of one atom by a coordinate, by the rule for its class."""
    match atom:
        case Coordinate(block, at):
            if block != by.block:
                return constant(0)
            factors = tuple((Delta(one, other), ONE) for one, other in zip(at, by.at, strict=True))
            return c.collect([Term(ONE, factors)], indices(factors))
        case Component(name, at, derived):
            if (name, by.block) not in c.rules.depends:
                return constant(0)
            factor = (Component(name, at, (*derived, by)), ONE)
            return c.collect([Term(ONE, (factor,))], indices((factor,)))
        case Applied(fn, args):
            return _differentiate_function(c, fn, args, by, almost_everywhere=almost_everywhere)
        case Base(arg):
            return c.diff(arg, by, almost_everywhere=almost_everywhere)
        case MatrixFunction():
            return _matrix_function_derivative(c, atom, by)
        case SizeNumber() | Pi() | Delta():
            return constant(0)


def _differentiate_function(
    c: Arithmetic, fn: str, args: tuple[Tensor, ...], by: Coordinate, *, almost_everywhere: bool
) -> Tensor:
    """Return the derivative of a function of tensors by the chain rule, `where` branch by branch."""
    inner = tuple(c.diff(arg, by, almost_everywhere=almost_everywhere) for arg in args)
    if all(part.is_zero for part in inner):
        return constant(0)
    branched = branches(c, fn, args)
    if branched is None:
        return c.distribute(slope(c, fn, args[0], almost_everywhere=almost_everywhere), inner[0])
    where, (left, right, *_) = branched
    continuous = fn != where
    moving = not (inner[0].is_zero and inner[1].is_zero)
    yes, no = inner[-2:]
    if moving and not continuous and not (almost_everywhere and where != "where =="):
        step = step_between(c.plain, left, right, *args[2:])
        if step is not None and c.plain.is_zero(step):
            return no if where == "where ==" else c.applied(where, left, right, yes, no)
        if not almost_everywhere:
            raise apart(left, right, step)
    return c.applied(where, left, right, yes, no)


def _matrix_function_derivative(c: Arithmetic, atom: MatrixFunction, by: Coordinate) -> Tensor:
    """Return the derivative of a function of a matrix A by a coordinate z, an entry of it where it is a matrix.

        d inv(A) = -inv(A) dA inv(A)        d log det A = trace(inv(A) dA)
        d L = L (H * (inv(L) dA inv(L).T)),  A = L L.T, * entry by entry, H_ij = 1 below the diagonal, 1/2 on it

    The last is Eq. 9 of Murray, Differentiation of the Cholesky decomposition (2016), arXiv:1602.07527.
    """
    of, at = atom.of, atom.at
    left, right, k = _unused_indices(of.row.size, (*at, *by.at))
    inner = c.diff(c.rename(of.entry, {of.row: left, of.col: right}), by)
    if inner.is_zero:
        return constant(0)
    if atom.fn == "inv":
        product = c.multiply(c.inverse(of, (at[0], left)), inner, c.inverse(of, (right, at[1])))
        return c.scale(c.total(product, left, right), -1)
    if atom.fn == "cholesky":
        root = Grid(of.row, of.col, c.cholesky(of, (of.row, of.col)))
        halved = c.multiply(c.cholesky(of, (at[0], k)), halved_triangle(c, of.row.size, (k, at[1])))
        sides = c.multiply(halved, c.inverse(root, (k, left)), c.inverse(root, (at[1], right)))
        return c.total(c.distribute(sides, inner), left, right, k)
    logarithmic = c.total(c.multiply(c.inverse(of, (right, left)), inner), left, right)
    value = Tensor((), (Term(ONE, ((MatrixFunction("det", of), ONE),)),))
    return logarithmic if atom.fn == "logdet" else c.multiply(value, logarithmic)


def _unused_indices(size: Size, taken: tuple[Slot, ...]) -> list[Index]:
    """Return three indices apart from those taken, to be summed over."""
    candidates = (Index(size, f"%{n}") for n in range(len(taken) + 3))
    return [index for index in candidates if index not in taken][:3]

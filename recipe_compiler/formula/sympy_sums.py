"""SymPy's sums over whole axes as matrix products: `Sum(A[i, j]*v[j, 0], (j, 0, d - 1))` is `A @ v` at i.

SymPy writes an entry of a product, `(p.T*M.I*p)[0, 0]`, as such a sum. Each index is summed away in turn: the vectors
that it occurs in are multiplied entry by entry, and of matrices at most two are, as `A @ diag(v) @ B`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy.core.function import AppliedUndef
from sympy.matrices.expressions.matexpr import MatrixElement

from recipe_compiler.formula import tree
from recipe_compiler.formula.python_declaration import refusal
from recipe_compiler.formula.spelled import call
from recipe_compiler.formula.sympy_names import Object, means_its_name
from recipe_compiler.formula.tree import Tree

Read = Callable[[Object], Tree]

MOST_TERMS = 1000
"""Terms of a sum with numbers for its limits, which is written out."""
ONES = tree.Constant("ones")


@dataclass(frozen=True, slots=True)
class _Factor:
    """A scalar (no index), the column over an index, or the matrix over two."""

    over: tuple[Object, ...]
    tree: Tree


def contracted(obj: Object, read: Read) -> Tree:
    """Return a sum of SymPy's that has no index left. Raises SpecError for one that is no matrix product."""
    return _sum([_times([one.tree for one in product]) for product in _products(obj, (), read)])


def _products(obj: Object, free: tuple[Object, ...], read: Read) -> list[list[_Factor]]:
    """Return the terms of a sum, each a product in which the free indices alone are left."""
    found: list[list[_Factor]] = []
    for term in sympy.Add.make_args(_expanded(obj.function)):
        found += _contract(term, obj.limits, free, read)
    return found


def _expanded(obj: Object) -> Object:
    return sympy.expand_mul(obj)


def _contract(term: Object, limits: Sequence[Object], free: tuple[Object, ...], read: Read) -> list[list[_Factor]]:
    (index, low, high), *outer = limits
    if low.is_Integer and high.is_Integer:
        if not 0 <= high - low < MOST_TERMS:
            raise refusal(f"found a sum over {index} from {low} to {high}, expected 1 to {MOST_TERMS} terms")
        terms = [term.subs(index, sympy.Integer(k)) for k in range(int(low), int(high) + 1)]
        whole: Object = sympy.Add(*terms)
        if outer:
            return [one for part in sympy.Add.make_args(_expanded(whole)) for one in _contract(part, outer, free, read)]
        return [[_Factor((), read(whole))]] if not free else [[_factor(whole, free, read)]]
    indices = tuple(limit[0] for limit in limits)
    factors = [_factor(factor, (*indices, *free), read) for factor in sympy.Mul.make_args(term)]
    for limit in limits:
        _check_range(term, limit)
        factors = _without(limit[0], limit[2] + 1 - limit[1], factors, read)
    return [factors]


def _check_range(term: Object, limit: Object) -> None:
    """Raise SpecError unless an index runs over the whole of every axis that it counts."""
    index, low, high = limit
    for entry in term.atoms(MatrixElement):
        for position, size in zip(entry.args[1:], entry.args[0].shape, strict=True):
            if position == index and (low != 0 or sympy.expand(high + 1 - size) != 0):
                whole = f"0 to {size - 1}"
                raise refusal(f"found a sum over {index} from {low} to {high}, expected the whole axis, {whole}")


def _factor(obj: Object, indices: tuple[Object, ...], read: Read) -> _Factor:
    """Return a factor over those of some indices that occur in it."""
    used = tuple(index for index in indices if index in obj.free_symbols)
    if len(used) == 0:
        return _Factor((), read(obj))
    if isinstance(obj, MatrixElement):
        return _entry(obj, read)
    if len(used) > 1:
        raise refusal(
            f"found {obj} within a sum, expected a function of one index", "name a part, or write u.T @ A @ v"
        )
    return _Factor(used, _lifted(obj, *used, read))


def _entry(obj: Object, read: Read) -> _Factor:
    matrix, *positions = obj.args
    over = tuple(position for position, size in zip(positions, matrix.shape, strict=True) if size != 1)
    if any(not position.is_Symbol for position in over) or len(over) < 1:
        raise refusal(f"found {obj} within a sum, expected entries at the index alone")
    written = read(matrix)
    if len(over) == 2 and over[0] == over[1]:
        return _Factor(over, written)
    return _Factor(over, tree.Transposed(written) if matrix.shape[0] == 1 else written)


def _lifted(obj: Object, index: Object, read: Read) -> Tree:
    """Return the column of the values of an expression over an index."""
    if index not in obj.free_symbols:
        return tree.Product((read(obj), ONES), ("*",))
    match obj:
        case MatrixElement():
            return _entry(obj, read).tree
        case sympy.Sum():
            terms = [_times([one.tree for one in product]) for product in _products(obj, (index,), read)]
            return _sum(terms)
        case sympy.Add():
            return _sum([_lifted(term, index, read) for term in obj.as_ordered_terms()])
        case sympy.Mul():
            return _times([_scalar_or_lifted(factor, index, read) for factor in obj.as_ordered_factors()])
        case sympy.Pow() if index not in obj.exp.free_symbols:
            return tree.Power(_lifted(obj.base, index, read), read(obj.exp))
        case sympy.Function() if means_its_name(type(obj)) and not isinstance(obj, AppliedUndef | sympy.Piecewise):
            return call(type(obj).__name__, None, *(_lifted(arg, index, read) for arg in obj.args))
        case _:
            raise refusal(f"found {obj} within a sum, expected entries and functions of them")


def _scalar_or_lifted(obj: Object, index: Object, read: Read) -> Tree:
    return _lifted(obj, index, read) if index in obj.free_symbols else read(obj)


def _without(index: Object, size: Object, factors: Sequence[_Factor], read: Read) -> list[_Factor]:
    rest = [one for one in factors if index not in one.over]
    vectors = [one.tree for one in factors if one.over == (index,)]
    matrices = [one for one in factors if index in one.over and len(one.over) == 2]
    column = _times(vectors) if vectors else None
    match matrices:
        case []:
            summed = read(size) if column is None else call("sum", None, column)
            return [_Factor((), summed), *rest]
        case [_Factor((left, right), matrix)] if left == right:
            whole = matrix if column is None else _matmul(matrix, call("diag", None, column))
            return [_Factor((), call("trace", None, whole)), *rest]
        case [_Factor((left, right), matrix)]:
            other, turned = (left, matrix) if right == index else (right, tree.Transposed(matrix))
            return [_Factor((other,), _matmul(turned, ONES if column is None else column)), *rest]
        case [_Factor((a, b), first), _Factor((c, d), second)] if a != b and c != d:
            row, before = (a, first) if b == index else (b, tree.Transposed(first))
            col, after = (d, second) if c == index else (c, tree.Transposed(second))
            middle = [] if column is None else [call("diag", None, column)]
            return [_Factor((row, col), _matmul(before, *middle, after)), *rest]
        case _:
            raise refusal(f"found a sum over {index} that is not a matrix product", "name a part of it")


def _matmul(*factors: Tree) -> Tree:
    return tree.Product(factors, ("@",) * (len(factors) - 1))


def _times(factors: Sequence[Tree]) -> Tree:
    kept = [one for one in factors if one != tree.Literal(Fraction(1))] or [tree.Literal(Fraction(1))]
    return tree.Product(tuple(kept), ("*",) * (len(kept) - 1)) if len(kept) > 1 else kept[0]


def _sum(terms: Sequence[Tree]) -> Tree:
    return tree.Sum(tuple(terms)) if len(terms) > 1 else terms[0]

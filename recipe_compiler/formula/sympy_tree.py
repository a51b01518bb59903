"""SymPy objects to syntax trees, as SymPy prints them: an object and its text are one formula.

What has no counterpart in the language is refused, its class named. Sums over whole axes are matrix products:
`Sum(A[i, j]*v[j, 0], (j, 0, d - 1))` is `A @ v` at i. SymPy writes an entry of a product, `(p.T*M.I*p)[0, 0]`, as such
a sum. Each index is summed away in turn: the vectors that it occurs in are multiplied entry by entry, and of matrices
at most two are, as `A @ diag(v) @ B`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

# `c*(a + b)` as its printer sees it, c not distributed: there is no public function for that
from sympy.core.mul import _keep_coeff
from sympy.core.relational import Relational
from sympy.matrices.expressions.matexpr import MatrixElement

from recipe_compiler.formula import tree
from recipe_compiler.formula.bounds import MAX_DEPTH
from recipe_compiler.formula.names import LANGUAGE, WRITE_INSTEAD
from recipe_compiler.formula.python_declaration import Declared, checked_name, literal, merged, refusal
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape, Size
from recipe_compiler.formula.spelled import JOINTS
from recipe_compiler.formula.spellings import SPELLED
from recipe_compiler.formula.tree import Tree, is_deeper

Object = Any
"""An object of SymPy's, which ships no types; what is read off it here has one again."""


def sympy_names(obj: Object) -> tuple[Declared, ...]:
    """Return the symbols, matrix symbols and undefined functions of a SymPy object, by name.

    A symbol that occurs as the size of a matrix is a size and not declared; another one of its name, of which something
    else is assumed, is. Raises SpecError for a name that formulas cannot use, or one that stands for two things.
    """
    found: list[Declared] = []
    sized = obj.atoms(sympy.MatrixSymbol, sympy.Identity, sympy.ZeroMatrix, sympy.OneMatrix)
    sizes = {size for node in sized for size in node.shape}
    counted = {limit[0] for sum_ in obj.atoms(sympy.Sum) for limit in sum_.limits}
    for node in sympy.preorder_traversal(obj):
        if isinstance(node, sympy.MatrixSymbol):
            found.append(Declared(checked_name(str(node.name)), matrix_shape(node), stated=False))
        elif isinstance(node, AppliedUndef):
            blocks = tuple(block_name(arg) for arg in node.args)
            name = checked_name(type(node).__name__)
            found.append(Declared(name, SCALAR, symbol_kinds(node), of=blocks, stated=False, lost=_lost(node)))
        elif isinstance(node, sympy.Symbol) and node not in counted | sizes:
            kinds = symbol_kinds(node)
            found.append(Declared(checked_name(node.name), SCALAR, kinds, stated=False, lost=_lost(node)))
    functions = tuple(item for item in found if item.of is not None)
    others = tuple(item for item in found if item.of is None)
    matrices = {item.name for item in others if item.shape != SCALAR}
    # SymPy keeps the name of a matrix symbol as a plain symbol inside it; that one is not declared by itself.
    kept = [item for item in others if item.shape != SCALAR or item.name not in matrices]
    return merged(functions, tuple(kept))


def matrix_shape(node: Object) -> Shape:
    """Return the shape that formulas give a SymPy matrix: [d, 1] is a column, [1, d] a row, [1, 1] a scalar."""
    rows, cols = (_size(size) for size in node.shape)
    return Shape(None if rows == 1 else rows, None if cols == 1 else cols)


def symbol_kinds(symbol: Object) -> tuple[Kind, ...]:
    """Return the kind that a symbol's assumptions state."""
    if symbol.is_positive:
        return (Kind.POSITIVE,)
    if symbol.is_nonnegative:
        return (Kind.NONNEGATIVE,)
    return (Kind.NONZERO,) if symbol.is_nonzero else (Kind.REAL,)


_NAMED_FIRST = ("negative", "nonpositive", "zero", "integer", "rational", "irrational", "imaginary", "infinite")
"""Assumptions that declarations have no words for, the plainest first: they imply others."""
_KEPT = {
    Kind.POSITIVE: sympy.Symbol("kept", positive=True),
    Kind.NONNEGATIVE: sympy.Symbol("kept", nonnegative=True),
    Kind.NONZERO: sympy.Symbol("kept", nonzero=True),
    Kind.REAL: sympy.Symbol("kept", real=True),
}
"""What SymPy knows of a symbol of a kind: it has simplified by all that it knows, so nothing more may be known."""


def _lost(obj: Object) -> str:
    """Return an assumption of a symbol or function that a declaration could not keep, empty if there is none."""
    if isinstance(obj, sympy.Dummy | sympy.Wild):
        return f"a {type(obj).__name__}: another one than the symbol of its name"
    if isinstance(obj, AppliedUndef):  # of a matrix, it is not commutative: what was said of it is what counts
        obj = sympy.Symbol("said", **getattr(type(obj), "_kwargs", {}))
    (kind,) = symbol_kinds(obj)
    known, kept = obj.assumptions0, _KEPT[kind].assumptions0
    words = sorted(known, key=lambda word: (word not in _NAMED_FIRST, word))
    more = {word: known[word] for word in words if known[word] not in (None, kept.get(word))}
    return next((w for w, holds in more.items() if holds), next((f"not {w}" for w in more), ""))


def block_name(arg: Object) -> str:
    """Return the name of a block that an undefined function is of. Raises SpecError."""
    if isinstance(arg, sympy.Symbol | sympy.MatrixSymbol):
        return checked_name(str(arg.name))
    raise refusal(f"found a function of a {type(arg).__name__}, expected functions of whole blocks")


def means_its_name(kind: type) -> bool:
    """Whether a class is SymPy's or of this package: somebody else's may be called `exp` and be another function."""
    module = kind.__module__ or ""  # an undefined function has none
    return module.partition(".")[0] in ("sympy", __name__.partition(".")[0])


def is_one_by_one(node: Object) -> bool:
    """Whether a SymPy matrix expression is what formulas call a scalar."""
    return bool(getattr(node, "is_Matrix", False)) and matrix_shape(node) == SCALAR


def entry_positions(node: Object) -> tuple[int, ...]:
    """Return the positions of an entry, those along an axis of size 1 left out. Raises SpecError."""
    matrix = node.args[0]
    positions: list[int] = []
    for position, size in zip(node.args[1:], matrix.shape, strict=True):
        if not isinstance(position, sympy.Integer):
            raise refusal(f"found an entry at position {position}, expected an integer")
        if size != 1:
            positions.append(int(position))
    return tuple(positions)


def _size(size: Object) -> Size:
    if isinstance(size, sympy.Integer) and size > 0:
        return int(size)
    if isinstance(size, sympy.Symbol):
        return checked_name(size.name)
    raise refusal(f"found the size {size}, expected a symbol or a positive integer")


_RELATIONS = frozenset({">", ">=", "<", "<=", "=="})
_ONE = tree.Literal(Fraction(1))
_ONES = tree.Constant("ones")
MOST_TERMS = 1000
"""Terms of a sum with numbers for its limits, which is written out."""


def sympy_tree(obj: Object) -> Tree:
    """Return the tree of a SymPy object. Raises SpecError for a class that the language does not have."""
    if is_deeper(obj, lambda node: getattr(node, "args", node), MAX_DEPTH):  # of a mutable matrix its entries
        raise refusal(f"nested more than {MAX_DEPTH} deep", "name a part, or split the formula")
    return _read(obj)


def _read(obj: Object) -> Tree:
    found = _atom(obj) or _arithmetic(obj) or _matrix(obj) or _function(obj)
    if found is None:
        kind = type(obj)
        hint = "formulas are of real numbers" if obj.has(sympy.I) else WRITE_INSTEAD.get(kind.__name__, "")
        if not means_its_name(kind):
            hint = "only SymPy's own classes can be read: write the formula"
        raise refusal(f"found a SymPy object of class {kind.__name__}, which formulas do not have", hint)
    return found


def _call(name: str, *args: Tree) -> Tree:
    return tree.Call(name, args, language=True)


def _atom(obj: Object) -> Tree | None:
    if obj in (sympy.oo, -sympy.oo, sympy.zoo, sympy.nan):
        raise refusal(f"found {obj}, which is not a number", "formulas are finite everywhere on their domain")
    match obj:
        case sympy.Rational():
            return literal(Fraction(int(obj.p), int(obj.q)))
        case sympy.Float():
            # As everywhere, a float is the decimal it is printed as: all digits of a Float, the shortest of a double.
            double = float(obj)
            return literal(Fraction(repr(double)) if sympy.Float(double) == obj else Fraction(str(obj)))
        case sympy.NumberSymbol() | sympy.true if (name := str(obj)) in SPELLED | {"pi", "True"}:
            return tree.Constant(name)
        case sympy.Symbol() | sympy.MatrixSymbol():
            return tree.Name(checked_name(str(obj.name)))
        case sympy.Identity():
            return tree.Constant("I")
        case sympy.ZeroMatrix():
            return tree.Literal(Fraction(0))
        case sympy.OneMatrix():
            row = tree.Transposed(_ONES)
            return _ONES if obj.shape[1] == 1 else row if obj.shape[0] == 1 else _times([_ONES, row], "@")
        case sympy.Tuple() if obj.args[1:] == (1,):
            return _read(obj.args[0])
        case sympy.Tuple():
            return tree.Group(tuple(map(_read, obj.args)))
        case _:
            return None


def _arithmetic(obj: Object) -> Tree | None:
    match obj:
        case sympy.MatMul():  # before Mul, of which it is a subclass; so is MatAdd of Add
            return _matrix_product(obj)
        case sympy.MatAdd():
            return tree.Sum(tuple(map(_read, obj.args)))
        case sympy.Add():
            first, *others = obj.as_ordered_terms()
            return tree.Sum((_read(first), *map(_term, others)))
        case sympy.Mul():
            return _product(obj)
        case sympy.Pow():
            return _power(obj)
        case Relational() if obj.rel_op in _RELATIONS:
            return tree.Comparison(obj.rel_op, _read(obj.lhs), _read(obj.rhs))
        case sympy.Ne():
            return _call("Ne", *map(_read, obj.args))
        case _:
            return None


def _times(factors: Sequence[Tree], operator: str = "*") -> Tree:
    return tree.Product(tuple(factors), (operator,) * (len(factors) - 1)) if len(factors) > 1 else factors[0]


def _term(term: Object) -> Tree:
    """Write a term behind the first: `- x` where its number is negative."""
    if not term.as_coeff_Mul()[0].is_negative:
        return _read(term)
    return tree.Negate(_quotient(term) if term.is_Mul else _read(-term))


def _product(obj: Object) -> Tree:
    """Write `-2*x/3` and not `(-2/3)*x`."""
    found = _quotient(obj)
    if not obj.as_coeff_Mul()[0].is_negative:
        return found
    if not isinstance(found, tree.Product):
        return tree.Negate(found)
    first, *others = found.factors
    return tree.Product((tree.Negate(first), *others), found.operators)


def _quotient(obj: Object) -> Tree:
    """Return a product without the sign of its number, one fraction: `x*y/(z*w)`."""
    coefficient, rest = obj.as_coeff_Mul()
    if coefficient.is_negative:
        obj = _keep_coeff(-coefficient, rest)
    sides = (side.as_ordered_factors() for side in sympy.fraction(obj, exact=True))
    above, below = ([_read(factor) for factor in side if factor != 1] for side in sides)
    parts = above or [_ONE]
    return tree.Product((*parts, _times(below)), ("*",) * (len(parts) - 1) + ("/",)) if below else _times(parts)


def _power(obj: Object) -> Tree:
    base, exponent = obj.args
    half = abs(exponent) == sympy.S.Half
    if half or exponent == -1:
        below = _call("sqrt", _read(base)) if half else _read(base)
        return below if exponent.is_positive else tree.Product((_ONE, below), ("/",))
    return tree.Power(_read(base), _read(exponent))


def _matrix_product(obj: Object) -> Tree:
    """Write scalars, and 1 x 1 products that act as such, with `*`; the rest with `@`."""
    coefficient, matrices = obj.as_coeff_matrices()
    product = _times([*map(_read, matrices)], "@")
    if abs(coefficient) == 1:
        return product if coefficient == 1 else tree.Negate(product)
    return tree.Product((_read(coefficient), product), ("*",))


def _matrix(obj: Object) -> Tree | None:
    match obj:
        case sympy.Transpose():
            return tree.Transposed(_read(obj.args[0]))
        case sympy.Trace() if is_one_by_one(obj.args[0]):
            return _read(obj.args[0])
        case MatrixElement():
            positions = entry_positions(obj)
            return tree.Subscript(_read(obj.args[0]), positions) if positions else _read(obj.args[0])
        case sympy.MatPow():
            return _matrix_power(obj)
        case sympy.MatrixBase() if obj.shape == (1, 1):
            return _read(obj[0, 0])
        case sympy.MatrixBase() if 0 not in obj.shape:
            return tree.Explicit(tuple(tuple(map(_read, row)) for row in obj.tolist()))
        case sympy.BlockMatrix():
            raise refusal("found a BlockMatrix within a formula", "blocks of D and Q go row by row; name the rest")
        case _:
            return None


def _matrix_power(obj: Object) -> Tree:
    base, exponent = _read(obj.args[0]), obj.args[1]
    if not isinstance(exponent, sympy.Integer) or exponent == 0 or abs(exponent) > 20:
        raise refusal(f"found a matrix to the power {exponent}, expected an integer from -20 to 20 that is not 0")
    factor = base if exponent > 0 else _call("inv", base)
    return _times([factor] * abs(int(exponent)), "@")


def _function(obj: Object) -> Tree | None:
    """Return a call of what has the name of a function that formulas have, or read; or of a declared function."""
    kind = type(obj)
    match obj:
        case AppliedUndef():
            return tree.Call(checked_name(kind.__name__), tuple(tree.Name(block_name(arg)) for arg in obj.args))
        case sympy.Sum():
            return _contracted(obj)
        case _ if not means_its_name(kind) or kind.__name__ not in LANGUAGE | SPELLED | JOINTS:
            return None
        case sympy.Heaviside():
            return _call("Heaviside", *map(_read, obj.pargs))
        case sympy.Max() | sympy.Min():
            return _call(kind.__name__, *map(_read, sorted(obj.args, key=sympy.default_sort_key)))
        case _:
            return _call(kind.__name__, *map(_read, obj.args))


@dataclass(frozen=True, slots=True)
class _Factor:
    """A scalar (no index), the column over an index, or the matrix over two."""

    over: tuple[Object, ...]
    tree: Tree


def _contracted(obj: Object, *free: Object) -> Tree:
    """Return a sum in which the free indices alone are left. Raises SpecError for one that is no matrix product."""
    (index, low, high), *outer = obj.limits
    if low.is_Integer and high.is_Integer:
        if not 0 <= high - low < MOST_TERMS:
            raise refusal(f"found a sum over {index} from {low} to {high}, expected 1 to {MOST_TERMS} terms")
        terms = (obj.function.subs(index, sympy.Integer(k)) for k in range(int(low), int(high) + 1))
        whole: Object = sympy.Add(*terms)
        if outer:
            return _contracted(sympy.Sum(whole, *outer), *free)
        return _lifted(whole, *free) if free else _read(whole)
    products: list[list[_Factor]] = []
    for term in sympy.Add.make_args(sympy.expand_mul(obj.function)):
        factors = [_factor(one, (*(limit[0] for limit in obj.limits), *free)) for one in sympy.Mul.make_args(term)]
        for limit in obj.limits:
            _check_range(term, limit)
            factors = _without(limit[0], limit[2] + 1 - limit[1], factors)
        products.append(factors)
    return _sum([_multiplied([one.tree for one in factors]) for factors in products])


def _check_range(term: Object, limit: Object) -> None:
    """Raise SpecError unless an index runs over the whole of every axis that it counts."""
    index, low, high = limit
    for entry in term.atoms(MatrixElement):
        for position, size in zip(entry.args[1:], entry.args[0].shape, strict=True):
            if position == index and (low != 0 or sympy.expand(high + 1 - size) != 0):
                whole = f"0 to {size - 1}"
                raise refusal(f"found a sum over {index} from {low} to {high}, expected the whole axis, {whole}")


def _factor(obj: Object, indices: tuple[Object, ...]) -> _Factor:
    """Return a factor over those of some indices that occur in it."""
    used = tuple(index for index in indices if index in obj.free_symbols)
    if len(used) == 0:
        return _Factor((), _read(obj))
    if isinstance(obj, MatrixElement):
        return _entry(obj)
    if len(used) > 1:
        raise refusal(
            f"found {obj} within a sum, expected a function of one index", "name a part, or write u.T @ A @ v"
        )
    return _Factor(used, _lifted(obj, *used))


def _entry(obj: Object) -> _Factor:
    matrix, *positions = obj.args
    over = tuple(position for position, size in zip(positions, matrix.shape, strict=True) if size != 1)
    if any(not position.is_Symbol for position in over) or len(over) < 1:
        raise refusal(f"found {obj} within a sum, expected entries at the index alone")
    written = _read(matrix)
    if len(over) == 2 and over[0] == over[1]:
        return _Factor(over, written)
    return _Factor(over, tree.Transposed(written) if matrix.shape[0] == 1 else written)


def _lifted(obj: Object, index: Object) -> Tree:
    """Return the column of the values of an expression over an index."""
    if index not in obj.free_symbols:
        return tree.Product((_read(obj), _ONES), ("*",))
    match obj:
        case MatrixElement():
            return _entry(obj).tree
        case sympy.Sum():
            return _contracted(obj, index)
        case sympy.Add():
            return _sum([_lifted(term, index) for term in obj.as_ordered_terms()])
        case sympy.Mul():
            factors = obj.as_ordered_factors()
            return _multiplied([_lifted(one, index) if index in one.free_symbols else _read(one) for one in factors])
        case sympy.Pow() if index not in obj.exp.free_symbols:
            return tree.Power(_lifted(obj.base, index), _read(obj.exp))
        case sympy.Function() if means_its_name(type(obj)) and not isinstance(obj, AppliedUndef | sympy.Piecewise):
            return _call(type(obj).__name__, *(_lifted(arg, index) for arg in obj.args))
        case _:
            raise refusal(f"found {obj} within a sum, expected entries and functions of them")


def _without(index: Object, size: Object, factors: Sequence[_Factor]) -> list[_Factor]:
    rest = [one for one in factors if index not in one.over]
    vectors = [one.tree for one in factors if one.over == (index,)]
    column = _multiplied(vectors) if vectors else None
    scale = [] if column is None else [_call("diag", column)]
    matrices = [one for one in factors if index in one.over and len(one.over) == 2]
    turned = [
        (a, one.tree) if b == index else (b, tree.Transposed(one.tree)) for one in matrices for a, b in [one.over]
    ]
    match turned:  # the index is the second of each
        case []:
            summed = _read(size) if column is None else _call("sum", column)
            return [_Factor((), summed), *rest]
        case [(other, matrix)] if other == index:
            return [_Factor((), _call("trace", _times([matrix, *scale], "@"))), *rest]
        case [(other, matrix)]:
            return [_Factor((other,), _times([matrix, column or _ONES], "@")), *rest]
        case [(row, first), (col, second)] if index not in (row, col):
            after = second.arg if isinstance(second, tree.Transposed) else tree.Transposed(second)
            return [_Factor((row, col), _times([first, *scale, after], "@")), *rest]
        case _:
            raise refusal(f"found a sum over {index} that is not a matrix product", "name a part of it")


def _multiplied(factors: Sequence[Tree]) -> Tree:
    """Return a product without its factors 1."""
    return _times([one for one in factors if one != _ONE] or [_ONE])


def _sum(terms: Sequence[Tree]) -> Tree:
    return tree.Sum(tuple(terms)) if len(terms) > 1 else terms[0]

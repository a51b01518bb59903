"""Python objects to syntax trees: the only door from Python. Operators, and SymPy's objects.

Names carry their own declaration (`formula/declaring.py`); operators build trees. Nothing is computed: what Python
writes is what the text of the same formula would give.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sympy
from numpy.typing import NDArray

from recipe_compiler.errors import DocumentError, Place, shown
from recipe_compiler.formula import tree
from recipe_compiler.formula.bounds import check_bounds
from recipe_compiler.formula.declaration import Block, Declarations, Function
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.latex import latex
from recipe_compiler.formula.python_declaration import PYTHON, Declared, exact, literal, merged, refusal
from recipe_compiler.formula.shapes import MAX_SIZE
from recipe_compiler.formula.sympy_tree import sympy_names, sympy_tree
from recipe_compiler.formula.syntax import parse
from recipe_compiler.formula.tree import written

MOST_NUMBERS = 1000
"""Numbers of an array that stands in a formula."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A formula made in Python: its tree, and the names it uses."""

    tree: tree.Tree
    names: tuple[Declared, ...] = ()

    def __repr__(self) -> str:
        return written(self.tree)

    def _repr_latex_(self) -> str | None:
        """Return the formula as LaTeX where the names it carries say what it is; None where a text names others."""
        blocks = tuple(Block(item.name, item.shape) for item in self.names if item.of is None)
        functions = tuple(Function(item.name, item.of, item.shape) for item in self.names if item.of is not None)
        scope = Scope(Declarations(blocks, (), functions), update=True)
        try:
            return f"$\\displaystyle {latex(elaborate(self.tree, scope, None, 'formula', PYTHON))}$"
        except DocumentError:
            return None

    __iter__: ClassVar[None] = None  # __getitem__ alone would make it an endless sequence

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: object) -> "Expression":
        """Return what an operator of NumPy's makes of arrays and formulas; NumPy would take them apart."""
        apply = _OPERATORS.get(ufunc.__name__)
        if apply is not None and method == "__call__" and not options:
            return apply(*(expression(one) for one in inputs))
        name = ufunc.__name__
        hint = f"write recipe_compiler.{name}(...)" if name in FUNCTIONS else "use the functions of recipe_compiler"
        raise refusal(f"found numpy.{name} of a formula, which is not a number", hint)

    def __xor__(self, other: object) -> "Expression":
        """Refuse: in Python ^ is no power."""
        raise refusal("found ^ between formulas, which is not a power in Python", "write **")

    def __add__(self, other: object) -> "Expression":
        return _sum(self, expression(other))

    def __radd__(self, other: object) -> "Expression":
        return _sum(expression(other), self)

    def __sub__(self, other: object) -> "Expression":
        return _sum(self, -expression(other))

    def __rsub__(self, other: object) -> "Expression":
        return _sum(expression(other), -self)

    def __mul__(self, other: object) -> "Expression":
        return _product(self, "*", expression(other))

    def __rmul__(self, other: object) -> "Expression":
        return _product(expression(other), "*", self)

    def __truediv__(self, other: object) -> "Expression":
        return _product(self, "/", expression(other))

    def __rtruediv__(self, other: object) -> "Expression":
        return _product(expression(other), "/", self)

    def __matmul__(self, other: object) -> "Expression":
        return _product(self, "@", expression(other))

    def __rmatmul__(self, other: object) -> "Expression":
        return _product(expression(other), "@", self)

    def __pow__(self, other: object) -> "Expression":
        exponent = expression(other)
        return Expression(tree.Power(self.tree, exponent.tree), merged(self.names, exponent.names))

    def __rpow__(self, other: object) -> "Expression":
        return expression(other) ** self

    def __neg__(self) -> "Expression":
        return Expression(tree.Negate(self.tree), self.names)

    def __abs__(self) -> "Expression":
        return Expression(tree.Call("abs", (self.tree,), language=True), self.names)

    def __gt__(self, other: object) -> "Expression":
        return _comparison(self, ">", other)

    def __ge__(self, other: object) -> "Expression":
        return _comparison(self, ">=", other)

    def __lt__(self, other: object) -> "Expression":
        return _comparison(self, "<", other)

    def __le__(self, other: object) -> "Expression":
        return _comparison(self, "<=", other)

    def __bool__(self) -> bool:
        raise TypeError("a formula has no truth value; only where() and assumptions take conditions")

    def __getitem__(self, at: "int | Expression | tuple[int | Expression, ...]") -> "Expression":
        """Return an entry or a row at positions that are numbers or index fields of the data."""
        positions: list[tree.Position] = []
        names = self.names
        for one in at if isinstance(at, tuple) else (at,):
            match one:
                case int(k) if type(k) is int and 0 <= k < MAX_SIZE:  # no slices, and True is no position
                    positions.append(k)
                case Expression(tree=tree.Name(name)):
                    positions.append(name)
                    names = merged(names, one.names)
                case _:
                    expected = f"expected a whole number from 0 to {MAX_SIZE - 1}, or an index field of the data"
                    raise refusal(f"found the position {shown(one)}, {expected}")
        return Expression(tree.Subscript(self.tree, tuple(positions)), names)

    def __call__(self, *blocks: object) -> "Expression":
        """Return a declared function at its blocks."""
        if not (isinstance(self.tree, tree.Name) and self.names and self.names[0].of is not None):
            raise refusal("found a formula that is called, expected a declared function", "is a * missing?")
        args = [expression(block) for block in blocks]
        names = merged(self.names, *(arg.names for arg in args))
        return Expression(tree.Call(self.tree.name, tuple(arg.tree for arg in args)), names)

    @property
    def T(self) -> "Expression":
        """The transpose."""
        return Expression(tree.Transposed(self.tree), self.names)


def expression(obj: object) -> Expression:
    """Return any object that means a formula as an Expression. Raises SpecError naming the class of any other."""
    if isinstance(obj, Expression):
        return obj
    if isinstance(obj, str):
        return Expression(parse(obj, "formula", PYTHON))
    number = exact(obj)
    if number is not None:
        return Expression(literal(number))
    if isinstance(obj, sympy.Basic | sympy.MatrixBase):
        return Expression(sympy_tree(obj), sympy_names(obj))
    if isinstance(obj, np.ndarray):
        return Expression(_of_array(obj))
    if isinstance(obj, complex):
        raise refusal(f"found the complex number {obj}, expected a real one", "formulas are of real numbers")
    kind = type(obj)
    raise refusal(f"found an object of class {kind.__module__}.{kind.__qualname__}, expected a formula")


def _of_array(array: NDArray[Any]) -> tree.Tree:
    """Return an array of numbers as the column, or the matrix, that it is."""
    if array.ndim == 0:
        return expression(array.item()).tree
    if array.ndim > 2 or not 0 < array.size <= MOST_NUMBERS:
        expected = f"1 to {MOST_NUMBERS} numbers in a vector or matrix"
        hint = "declare a parameter, and give it the array as a value in the build"
        raise refusal(f"found an array of shape {array.shape}, expected {expected}", hint)
    rows = [[entry] for entry in array.tolist()] if array.ndim == 1 else array.tolist()
    return tree.Explicit(tuple(tuple(expression(entry).tree for entry in row) for row in rows))


def tree_of(obj: object, entry: str = "formula", where: Place = PYTHON) -> tree.Tree:
    """Return the syntax tree of a Python object: an Expression, a number, a SymPy object, or a text of the language.

    Raises:
        SpecError: The object has no meaning in the language (its class is named), or it is out of bounds.
    """
    if isinstance(obj, str):
        return parse(obj, entry, where)
    made = expression(obj).tree
    check_bounds(made, entry, where)
    return made


def declared_in(obj: object) -> tuple[Declared, ...]:
    """Return the names that a Python object declares, in order of first use; a text declares none."""
    return () if isinstance(obj, str) else expression(obj).names


def block_rows(obj: object) -> tuple[tuple[object, ...], ...]:
    """Return the places of a D or Q given as nested lists, as a SymPy `Matrix` or as a `BlockMatrix`.

    Raises SpecError if it is none of them.
    """
    if isinstance(obj, sympy.BlockMatrix):
        obj = obj.blocks
    if isinstance(obj, sympy.MatrixBase):
        rows, cols = obj.shape
        return tuple(tuple(obj[i, j] for j in range(cols)) for i in range(rows))
    if isinstance(obj, list | tuple) and all(isinstance(row, list | tuple) for row in obj):
        return tuple(tuple(row) for row in obj)
    raise refusal(f"found a {type(obj).__name__}, expected rows: [[0, -I], [I, 0]]")


def _sum(left: Expression, right: Expression) -> Expression:
    terms = left.tree.terms if isinstance(left.tree, tree.Sum) else (left.tree,)
    return Expression(tree.Sum((*terms, right.tree)), merged(left.names, right.names))


def _product(left: Expression, operator: str, right: Expression) -> Expression:
    names = merged(left.names, right.names)
    if isinstance(left.tree, tree.Product):
        factors, operators = (*left.tree.factors, right.tree), (*left.tree.operators, operator)
        return Expression(tree.Product(factors, operators), names)
    return Expression(tree.Product((left.tree, right.tree), (operator,)), names)


def _comparison(left: Expression, op: str, other: object) -> Expression:
    right = expression(other)
    return Expression(tree.Comparison(op, left.tree, right.tree), merged(left.names, right.names))


_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "matmul": operator.matmul, "power": operator.pow, "negative": operator.neg, "absolute": operator.abs,
    "greater": operator.gt, "greater_equal": operator.ge, "less": operator.lt, "less_equal": operator.le,
}  # fmt: skip
"""Operators of arrays, by NumPy's names: of an array and a formula they are asked of the array first."""

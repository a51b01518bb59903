"""What a Q may be made of: the matrices, columns and scalars that occur in a document."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from recipe_compiler.errors import ModelError
from recipe_compiler.formula.build import nodes, parts
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import (
    ELEMENTWISE,
    Add,
    Apply,
    Entry,
    Formula,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Number,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import SCALAR, DomainName, Shape, Size
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, Tensor
from recipe_compiler.verify.recover.to_formula import transpose

LARGEST = 24
"""So many different formulas of one shape are kept, the first ones."""


@dataclass(slots=True)
class Material:
    """Formulas that Q may be made of, by shape; no two are multiples of each other."""

    declarations: Declarations
    calculus: Calculus
    by_shape: dict[Shape, list[Formula]] = field(default_factory=dict[Shape, list[Formula]])
    seen: set[tuple[Shape, Tensor]] = field(default_factory=set[tuple[Shape, Tensor]])

    def add(self, formula: Formula) -> None:
        """Keep a formula unless a multiple of it is kept already."""
        kept = self.by_shape.setdefault(formula.shape, [])
        if len(kept) < LARGEST and self.is_new(formula):
            kept.append(formula)

    def is_new(self, formula: Formula) -> bool:
        """Whether a formula is neither zero nor a rational multiple of one seen before."""
        tensor = tensor_of(self.calculus, self.declarations, formula)
        if tensor is None or tensor.is_zero:
            return False
        key = (formula.shape, self.calculus.scale(tensor, 1 / tensor.terms[0].coefficient))
        new = key not in self.seen
        self.seen.add(key)
        return new

    def columns(self, size: Size | None) -> Sequence[Formula]:
        """Return the columns of a size."""
        return self.by_shape.get(Shape(size), ()) if size is not None else ()

    def matrices(self, rows: Size | None, cols: Size | None) -> Sequence[Formula]:
        """Return the matrices of a shape, the identity first."""
        return self.by_shape.get(Shape(rows, cols), ())

    @property
    def scalars(self) -> Sequence[Formula]:
        """Scalars that are no number, size or scalar parameter."""
        return self.by_shape.get(SCALAR, ())


def tensor_of(c: Calculus, declarations: Declarations, formula: Formula) -> Tensor | None:
    """Return a formula in index notation; None where it has no meaning there.

    A column has the free index i, a row j, a matrix i and j.
    """
    labels = "ij" if formula.shape.rows is not None else "j"
    slots = [Index(size, label) for size, label in zip(formula.shape.sizes, labels, strict=False)]
    try:
        return convert(formula, declarations, *slots)
    except ModelError:
        return None


def gathered(c: Calculus, declarations: Declarations, formulas: Sequence[Formula]) -> Material:
    """Return the ingredients in some formulas: names first, then functions of them, then products as written.

    Identities of the sizes of all blocks are added, and diag(v) of elementwise columns v. Blocks on circles are used
    inside sine, cosine and declared functions only.
    """
    found = Material(declarations, c)
    for size in dict.fromkeys(block.shape.rows for block in declarations.blocks):
        if size is not None:
            found.add(Identity(size))
    circles = {block.name for block in declarations.blocks if block.domain.name is DomainName.CIRCLE}
    listed = [node for formula in formulas for node in nodes(formula) if _comes_back(node, circles)]
    for kind in (_is_name, _is_function, _is_product):
        for node in (node for node in listed if kind(node)):
            for formula in _useful(node, declarations):
                found.add(formula)
    for shape, columns in list(found.by_shape.items()):
        if shape.rows is not None and shape.cols is None:
            for column in columns:
                if _is_elementwise(column):
                    found.add(Apply("diag", (column,), Shape(shape.rows, shape.rows)))
    return found


def _comes_back(node: Formula, circles: Set[str]) -> bool:
    """Whether blocks on circles stand inside sine, cosine and declared functions only."""
    match node:
        case Symbol(name):
            return name not in circles
        case Apply("sin" | "cos"):
            return True
        case Apply("grad" | "div" | "hessian", (arg, _)):
            return _comes_back(arg, circles)
        case _:
            return not circles or all(_comes_back(part, circles) for part in parts(node))


def _useful(node: Formula, declarations: Declarations) -> Iterator[Formula]:
    """Yield a node as Q may hold it: columns upright, matrices both ways, no numbers."""
    match node.shape.rows, node.shape.cols:
        case None, None:
            if not isinstance(node, Number) and not _in_field(node):
                yield node
        case None, _:
            yield transpose(node, declarations)
        case _, None:
            yield node
        case _, _:
            yield node
            yield transpose(node, declarations)


def _in_field(node: Formula) -> bool:
    """Whether a scalar is a size or a scalar parameter: coefficients may depend on those anyhow."""
    return isinstance(node, Symbol) and node.role is not Role.BLOCK


def _is_name(node: Formula) -> bool:
    return isinstance(node, Symbol | FunctionAt)


def _is_function(node: Formula) -> bool:
    match node:
        case Apply() | Entry():
            return True
        case Power(base, exponent):
            whole = isinstance(exponent, Number) and exponent.value.denominator == 1
            return not (whole and (_in_field(base) or isinstance(base, Number)))
        case _:
            return False


def _is_product(node: Formula) -> bool:
    """Whether a node is a product of names and functions, not of sums or multiples."""
    match node:
        case MatMul(left, right):
            return _is_factor(left) and _is_factor(right)
        case Multiply(left, right, shape):
            return left.shape == right.shape and shape != SCALAR and _is_factor(left) and _is_factor(right)
        case _:
            return False


def _is_factor(node: Formula) -> bool:
    match node:
        case Add() | Number():
            return False
        case Transpose(arg):
            return _is_factor(arg)
        case MatMul() | Multiply():
            return _is_product(node)
        case _:
            return True


def _is_elementwise(column: Formula) -> bool:
    return isinstance(column, Power | Multiply) or (isinstance(column, Apply) and column.fn in ELEMENTWISE)

"""What the typing of one formula knows and gathers: the names in scope, the unknown sizes, the faults.

While a formula is being typed, an axis of a shape may be an unknown, written `?1`, `?2`, ... (no name of a document
starts so): what `0`, `I` and `ones` leave open, to be unified with what stands around them. An unknown stands for a
size or, unless it is marked present, for the absence of the axis. `K*d` is the size of a Kronecker product; its factors
may be unknowns too.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from recipe_compiler.errors import Fault, Place
from recipe_compiler.formula import build, tree
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Shape, Size
from recipe_compiler.formula.tree import fault_at

Axis = Size | None


def product_size(left: Size, right: Size) -> Size:
    """Return the size of a Kronecker product or of a flattened matrix: 6 for 2 and 3, `K*d` for symbolic ones."""
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    if left == 1 or right == 1:
        return right if left == 1 else left
    return f"{left}*{right}"


def is_open(axis: Axis) -> bool:
    """Whether an axis holds an unknown."""
    return isinstance(axis, str) and "?" in axis


def _single(axis: Axis) -> bool:
    return isinstance(axis, str) and axis.startswith("?") and "*" not in axis


def _factors(axis: Axis) -> list[str]:
    return str(axis).split("*")


def shown(shape: Shape) -> str:
    """Name a shape in a message; unknown sizes are question marks."""
    axes = ["?" if is_open(axis) else axis for axis in (shape.rows, shape.cols)]
    return str(Shape(*axes))


@dataclass(slots=True)
class Unknowns:
    """The unknowns of one formula and what is known of them."""

    count: int = 0
    found: dict[str, Axis] = field(default_factory=dict[str, Axis])
    present: set[str] = field(default_factory=set[str])
    """Unknowns that stand for a size: the axis is there."""

    def fresh(self, *, present: bool = False) -> str:
        """Return a new unknown."""
        self.count += 1
        name = f"?{self.count}"
        if present:
            self.present.add(name)
        return name

    def axis(self, axis: Axis) -> Axis:
        """Return what is known of an axis."""
        while isinstance(axis, str) and axis in self.found:
            axis = self.found[axis]
        if not is_open(axis) or _single(axis):
            return axis
        sizes = [self.axis(int(f) if f.isdigit() else f) for f in _factors(axis)]
        product: Size = 1
        for size in sizes:
            product = product_size(product, 1 if size is None else size)
        return product

    def shape(self, shape: Shape) -> Shape:
        """Return what is known of a shape."""
        return Shape(self.axis(shape.rows), self.axis(shape.cols))

    def require(self, axis: Axis) -> bool:
        """Mark an axis as present; False if it is known to be absent."""
        axis = self.axis(axis)
        if _single(axis):
            self.present.add(str(axis))
        return axis is not None

    def same(self, left: Axis, right: Axis) -> bool:
        """Make two axes one; False if they cannot be."""
        left, right = self.axis(left), self.axis(right)
        if left == right:
            return True
        if not _single(left):
            left, right = right, left
        if _single(left):
            return self._bind(str(left), right)
        if not (is_open(left) or is_open(right)):
            return False
        return self._same_products(left, right)

    def same_shape(self, left: Shape, right: Shape) -> bool:
        """Make two shapes one; False if they cannot be."""
        return self.same(left.rows, right.rows) and self.same(left.cols, right.cols)

    def _bind(self, unknown: str, axis: Axis) -> bool:
        if axis is None and unknown in self.present:
            return False
        if isinstance(axis, str) and unknown in _factors(axis):
            return False
        if _single(axis) and unknown in self.present:
            self.present.add(str(axis))
        self.found[unknown] = axis
        return True

    def _same_products(self, left: Axis, right: Axis) -> bool:
        if left is None or right is None:
            return False
        ours, theirs = _factors(left), _factors(right)
        if isinstance(left, int) or isinstance(right, int):
            number = left if isinstance(left, int) else right
            factors = ours if isinstance(right, int) else theirs
            unknown = [f for f in factors if f.startswith("?")]
            fixed = [int(f) for f in factors if f.isdigit()]
            if len(unknown) != 1 or len(unknown) + len(fixed) < len(factors) or not isinstance(number, int):
                return False
            divisor = 1
            for f in fixed:
                divisor *= f
            return number % divisor == 0 and self._bind(unknown[0], number // divisor)
        if len(ours) != len(theirs):
            return False
        return all(
            self.same(int(a) if a.isdigit() else a, int(b) if b.isdigit() else b)
            for a, b in zip(ours, theirs, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """The names a formula may use."""

    declarations: Declarations
    update: bool = False
    """Whether eps, N(0, cov), next(b) and grad_tilde(U, b) are allowed."""
    noise: tuple[Block, ...] = ()
    """Declared standard normal draws, of claimed updates."""
    square: bool = False
    """Whether the whole formula stands at a place of a matrix: there `I` is the identity of a scalar, too."""
    densities: "Callable[[tree.Call, Context], Formula | None] | None" = None
    """What types the call of a named density; in the formulas of a target alone."""
    entrywise: bool = False
    """Whether a number beside a vector is that of every entry, and all is computed entry by entry, of matrices too."""
    at_any_blocks: bool = False
    """Whether a declared function may be taken at any blocks like its own, not only at those of `declarations`."""


@dataclass(slots=True)
class Context:
    """The state of the typing of one formula."""

    scope: Scope
    entry: str
    where: Place
    unknowns: Unknowns = field(default_factory=Unknowns)
    faults: list[Fault] = field(default_factory=list[Fault])
    opened: list[tuple[tree.Tree, str, Shape]] = field(default_factory=list[tuple[tree.Tree, str, Shape]])
    """Parts that brought unknowns in, as they were written."""

    def fault(self, part: tree.Tree, problem: str, hint: str = "") -> None:
        """Note a fault of a part."""
        self.faults.append(fault_at(self.where, part.at, self.entry, problem, hint))

    def shape(self, formula: Formula) -> Shape:
        """Return what is known of a formula's shape by now."""
        return self.unknowns.shape(formula.shape)

    def shown(self, formula: Formula) -> str:
        """Name a formula's shape in a message."""
        return shown(self.shape(formula))

    def spread(self, formula: Formula, shape: Shape) -> Formula:
        """Return a number as the vector of it in each entry, where all is computed entry by entry."""
        if not self.scope.entrywise or self.shape(formula) != SCALAR or shape == SCALAR:
            return formula
        return build.multiply(formula, ex.Filled(1, shape), shape)

    def is_ambiguous(self, shape: Shape) -> bool:
        """Whether an operation on the entries could be meant as one on a matrix."""
        return may_be_square(shape) and not self.scope.entrywise

    def fit(self, formula: Formula, expected: Shape, part: tree.Tree) -> Formula | None:
        """Make a formula's shape the one expected, or note the fault and return None."""
        found, expected = self.shape(formula), self.unknowns.shape(expected)
        if self.unknowns.same_shape(found, expected):
            return formula
        self.fault(part, f"found a {shown(found)}, expected a {shown(expected)}", misfit_hint(found, expected))
        return None


def misfit_hint(found: Shape, expected: Shape) -> str:
    """Say how a shape usually is made to fit."""
    if found == SCALAR and expected.rows is not None and expected.cols is not None:
        square = expected.rows == expected.cols
        return "a multiple of the identity is written c*I" if square else "only 0 fits any shape"
    if found == SCALAR:
        return "a vector with every entry c is written c*ones" + ("" if expected.cols is None else ", a row c*ones.T")
    if expected == SCALAR:
        return "sum(v) adds the entries of a vector, norm2(v) their squares" if None in (found.rows, found.cols) else ""
    if found.transposed == expected and found.rows != found.cols:
        return "transpose it with .T"
    return size_hint(found.rows, expected.rows) or size_hint(found.cols, expected.cols)


def size_hint(left: Axis, right: Axis) -> str:
    """Say how two sizes that differ usually are made to agree, one being a name."""
    if left == right:
        return ""
    if isinstance(left, str) and isinstance(right, str) and "*" in left + right:
        return "kron(A, B) of A [K, K] and B [d, d] has the size K d: it fits a block whose size is a number, as 6"
    if {type(left), type(right)} == {int, str}:
        declared = "declare a parameter of that shape, and give them as its `default`, or in a build as its `value`"
        return f"numbers have a size of their own: {declared}"
    return ""


def is_scalar(shape: Shape) -> bool:
    """Whether a shape is known to be a scalar's."""
    return shape == SCALAR


def is_matrix(shape: Shape) -> bool:
    """Whether a shape has both axes, or may have."""
    return shape.rows is not None and shape.cols is not None


def may_be_square(shape: Shape) -> bool:
    """Whether a shape is a square matrix's, or may turn out to be."""
    return is_matrix(shape) and (shape.rows == shape.cols or is_open(shape.rows) or is_open(shape.cols))

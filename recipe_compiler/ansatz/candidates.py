"""Candidates for a place of a document: what occurs in it, products of two of these, and scalars times those."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement, product

from recipe_compiler import limits
from recipe_compiler.ansatz.simplify import direction, normalise_signs
from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import nodes, parts
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import SCALAR, DomainName, Shape
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.spec.positions import equation_formulas


@dataclass(slots=True)
class Material:
    """Formulas that candidates are made of, by shape; no two are multiples of each other."""

    declarations: Declarations
    by_shape: dict[Shape, list[Formula]] = field(default_factory=dict[Shape, list[Formula]])
    seen: set[str] = field(default_factory=set[str])

    def add(self, formula: Formula) -> None:
        """Keep a formula unless a multiple of it is kept already."""
        kept = self.by_shape.setdefault(formula.shape, [])
        if len(kept) < limits.CANDIDATES and self.is_new(formula):
            kept.append(formula)

    def is_new(self, formula: Formula) -> bool:
        """Whether a formula is neither zero nor a rational multiple of one seen before."""
        found = direction(formula, self.declarations)
        new = found is not None and found not in self.seen
        self.seen |= {found} if found is not None else set[str]()
        return new

    def candidates(self, shape: Shape, level: int) -> Iterator[Formula]:
        """Yield formulas of a shape: at level 0 what occurs, at 1 products of two, at each later one times a scalar."""
        if shape.rows is None and shape.cols is not None:
            yield from (build.transpose(column) for column in self.candidates(shape.transposed, level))
        elif level == 0:
            yield from ([build.ONE] if shape == SCALAR else []) + self.by_shape.get(shape, [])
        else:
            yield from filter(self.is_new, self._list_products(shape, level))

    def _list_products(self, shape: Shape, level: int) -> Iterator[Formula]:
        """Yield products of some depth that have a shape: of two candidates, times scalars."""
        if level == 1:
            everything = [formula for formulas in self.by_shape.values() for formula in formulas]
            if shape.rows == shape.cols is not None:
                yield from (ex.Apply("diag", (column,), shape) for column in self.by_shape.get(Shape(shape.rows), ()))
            for left, right in product(everything, everything):
                if (
                    SCALAR not in (left.shape, right.shape)
                    and (found := _multiply_to_shape(left, right, shape)) is not None
                ):
                    yield found
        inner = self.by_shape.get(shape, ()) if level == 1 else self._list_products(shape, level - 1)
        scalars = self.by_shape.get(SCALAR, ())
        yield from (build.multiply(scalar, formula, shape) for formula in inner for scalar in scalars)


def _multiply_to_shape(left: Formula, right: Formula, shape: Shape) -> Formula | None:
    """Return the product of two columns or matrices that has a shape: an outer product, a dot product, A v or A B."""
    if isinstance(left, ex.Identity) or isinstance(right, ex.Identity):
        return None
    columns = left.shape.cols is None, right.shape.cols is None
    if all(columns) and shape == Shape(left.shape.rows, right.shape.rows):
        return ex.Apply("outer", (left, right), shape)
    if all(columns) and shape == SCALAR and left.shape == right.shape:
        return ex.MatMul(build.transpose(left), right, SCALAR)
    if not columns[0] and left.shape.cols == right.shape.rows and shape == Shape(left.shape.rows, right.shape.cols):
        return ex.MatMul(left, right, shape)
    return None


def material(dynamics: Dynamics) -> Material:
    """Return the ingredients of a document: names first, then functions of them, then products as written.

    Identities of the sizes of all blocks are added, and diag(v) of elementwise columns v. Blocks on circles are used
    inside sine, cosine and declared functions only.
    """
    declarations = dynamics.declarations
    found = Material(declarations)
    for size in dict.fromkeys(block.shape.rows for block in declarations.blocks):
        if size is not None:
            found.add(ex.Identity(size))
    circles = {block.name for block in declarations.blocks if block.domain.name is DomainName.CIRCLE}
    listed = [
        x for formula in equation_formulas(dynamics) for x in nodes(formula) if _is_periodic_on_circles(x, circles)
    ]
    for kind in (_is_name, _is_nonlinear_part, _is_product):
        for node in filter(kind, listed):
            upright = normalise_signs(build.transpose(node), declarations) if node.shape.rows is None else node
            if not (isinstance(upright, ex.Number) or _is_constant(upright)):
                found.add(upright)
            if len(node.shape.sizes) == 2:
                found.add(normalise_signs(build.transpose(node), declarations))
    for shape, columns in list(found.by_shape.items()):
        for column in columns if shape.rows is not None and shape.cols is None else ():
            if _is_elementwise(column):
                found.add(ex.Apply("diag", (column,), Shape(shape.rows, shape.rows)))
    return found


def monomials(found: Material, kernel: int, degree: int = limits.MONOMIALS) -> list[Formula]:
    """Return products of coordinates and of at most two scalars that occur, the simplest first.

    Coordinates are scalar blocks and entries of columns of fixed sizes, those on circles left out. Scalars that occur
    are roots, exp, declared functions, sine and with it cosine, ...; each counts as much as `kernel` coordinates.
    """
    blocks = [block for block in found.declarations.blocks if block.domain.name is not DomainName.CIRCLE]
    z = [entry for block in blocks for entry in coordinates(block)]
    powers = [(n, _multiply_powers(x)) for n in range(degree + 1) for x in combinations_with_replacement(z, n)]
    new = Material(found.declarations)
    plain = [(n, power) for n, power in powers if new.is_new(power)]
    single = [scalar for scalar in _list_kernels(found) if new.is_new(scalar)][: limits.TRIALS]
    double = [build.multiply(x, y, SCALAR) for x, y in combinations_with_replacement(single, 2)]
    kernels = [*((kernel, x) for x in single), *((2 * kernel, x) for x in double)]
    more = [(n + m, _multiply_scalars(x, power)) for m, x in kernels for n, power in powers if n + m <= limits.POWER]
    return [formula for _, formula in sorted([*plain, *more], key=lambda pair: pair[0])]


def coordinates(block: Block) -> list[Formula]:
    """Return the coordinates of a block of a fixed size."""
    symbol = block.symbol
    return [ex.Entry(symbol, (k,)) for k in range(int(block.shape.rows or 0))] if block.shape.sizes else [symbol]


def _list_kernels(found: Material) -> Iterator[Formula]:
    """Yield columns and scalars whose monomials are tried; for a sine also the cosine, and the reverse."""
    for shape, formulas in found.by_shape.items():
        for formula in formulas if shape.cols is None else ():
            for k in range(int(shape.rows)) if shape.rows is not None else (None,):
                node = formula if k is None else ex.Entry(formula, (k,))
                yield node
                match formula:
                    case ex.Apply("sin" | "cos" as fn, args, _):
                        other = ex.Apply("cos" if fn == "sin" else "sin", args, shape)
                        yield other if k is None else ex.Entry(other, (k,))


def _multiply_powers(factors: Sequence[Formula]) -> Formula:
    """Return the product of scalars, equal factors as a power."""
    found: Formula = build.ONE
    for factor in dict.fromkeys(factors):
        n = factors.count(factor)
        found = _multiply_scalars(found, factor if n == 1 else build.power(factor, ex.Number(Fraction(n)), SCALAR))
    return found


def _multiply_scalars(left: Formula, right: Formula) -> Formula:
    """Return a product of scalars; a factor 1 is left out."""
    return right if left == build.ONE else left if right == build.ONE else build.multiply(left, right, SCALAR)


def _is_periodic_on_circles(node: Formula, circles: Set[str]) -> bool:
    """Return whether blocks on circles occur only inside sine, cosine and declared functions."""
    match node:
        case ex.Symbol(name):
            return name not in circles
        case ex.Apply("sin" | "cos"):
            return True
        case ex.Apply("grad" | "div" | "hessian", (arg, _)):
            return _is_periodic_on_circles(arg, circles)
        case _:
            return not circles or all(_is_periodic_on_circles(part, circles) for part in parts(node))


def _is_constant(node: Formula) -> bool:
    """Whether a scalar is a size or a scalar parameter: coefficients may depend on those anyhow."""
    return isinstance(node, ex.Symbol) and node.shape == SCALAR and node.role is not Role.BLOCK


def _is_name(node: Formula) -> bool:
    return isinstance(node, ex.Symbol | ex.FunctionAt)


def _is_nonlinear_part(node: Formula) -> bool:
    """Return whether a node is a function, an entry, or a power other than an integer one of constants."""
    match node:
        case ex.Apply() | ex.Entry():
            return True
        case ex.Power(base, exponent):
            whole = isinstance(exponent, ex.Number) and exponent.value.denominator == 1
            return not (whole and (_is_constant(base) or isinstance(base, ex.Number)))
        case _:
            return False


def _is_product(node: Formula) -> bool:
    """Whether a node is a product of names and functions, not of sums or multiples."""
    match node:
        case ex.MatMul(left, right):
            return _is_indivisible(left) and _is_indivisible(right)
        case ex.Multiply(left, right, shape):
            return left.shape == right.shape and shape != SCALAR and _is_indivisible(left) and _is_indivisible(right)
        case _:
            return False


def _is_indivisible(node: Formula) -> bool:
    """Return whether a node is a factor: no sum and no number, nor a product that contains one."""
    match node:
        case ex.Add() | ex.Number():
            return False
        case ex.Transpose(arg):
            return _is_indivisible(arg)
        case ex.MatMul() | ex.Multiply():
            return _is_product(node)
        case _:
            return True


def _is_elementwise(column: Formula) -> bool:
    return isinstance(column, ex.Power | ex.Multiply) or (isinstance(column, ex.Apply) and column.fn in ex.ELEMENTWISE)

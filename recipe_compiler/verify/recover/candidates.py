"""Candidates for the places of Q at every size, simple ones first, and what each adds to the drift."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from recipe_compiler.derive.recipe import Vector, col_slots, row_slots
from recipe_compiler.formula import build
from recipe_compiler.formula.block_matrices import place_shape
from recipe_compiler.formula.expression import Apply, Formula, Identity, MatMul
from recipe_compiler.formula.shapes import SCALAR, Shape, Size
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor
from recipe_compiler.verify.recover.ingredients import Material, tensor_of
from recipe_compiler.verify.recover.skew_problem import SkewProblem
from recipe_compiler.verify.recover.to_formula import times

LEVELS = 3
MOST = (60, 90, 60)
"""So many candidates are taken of each level."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A formula X, n_a x n_b, for the place (a, b) of Q; Q[b, a] is -X.T. Where a = b, Q[a, a] is X - X.T."""

    a: int
    b: int
    formula: Formula


def candidates(problem: SkewProblem, material: Material, level: int) -> list[Candidate]:
    """Return the candidates of a level, one from each place of Q in turn, so that no place uses up the limit.

    Level 0 has what occurs in the document, level 1 products of two of these, each later level a scalar more.
    """
    blocks = problem.dynamics.declarations.blocks
    made: dict[Shape, list[Formula]] = {}
    turns: list[Iterator[Candidate]] = []
    for a, row in enumerate(blocks):
        for b, col in enumerate(blocks[a:], start=a):
            shape = place_shape(row, col)
            if shape not in made:
                made[shape] = list(_of_shape(material, shape, level))
            formulas = made[shape] if a != b else _without_symmetric(problem, made[shape])
            turns.append(iter([Candidate(a, b, formula) for formula in formulas]))
    return list(islice(_in_turns(turns), MOST[level]))


def added_drift(problem: SkewProblem, candidate: Candidate) -> Vector:
    """Return what a candidate adds to the drift, -Q grad H + div Q, a vector over z that is zero outside rows a and b.

    With Q[theta,r] = X: -X dH/dr + div_r X in the row of theta, X.T dH/dtheta - div_theta X.T in that of r.
    """
    declarations, c = problem.dynamics.declarations, problem.calculus
    row, col = declarations.blocks[candidate.a], declarations.blocks[candidate.b]
    X = convert(candidate.formula, declarations, *row_slots(row), *col_slots(col))
    swap = dict(zip(row_slots(row), col_slots(row), strict=True)) | dict(
        zip(col_slots(col), row_slots(col), strict=True)
    )
    opposite = c.scale(c.rename(X, swap), -1)
    found = [c.zero(*row_slots(block)) for block in declarations.blocks]
    for place, other, entry in ((candidate.a, candidate.b, X), (candidate.b, candidate.a, opposite)):
        found[place] = c.add(found[place], _acted(problem, entry, other))
    return tuple(found)


def _acted(problem: SkewProblem, entry: Tensor, other: int) -> Tensor:
    """Return `sum_j (dX_ij/dz_j - X_ij dH/dz_j)` over a block."""
    c, block = problem.calculus, problem.dynamics.declarations.blocks[other]
    moves = dict(zip(row_slots(block), col_slots(block), strict=True))
    slope = c.rename(problem.derivation.grad_H[other], moves)
    spread = c.diff(entry, Coordinate(block.name, col_slots(block)))
    return c.total(c.subtract(spread, c.multiply(entry, slope)), *col_slots(block))


def _of_shape(material: Material, shape: Shape, level: int) -> Iterator[Formula]:
    """Yield the formulas of one level: what occurs, products of two, and those times a scalar."""
    if level == 0:
        yield from _plain(material, shape)
        return
    products = _products(material, shape, level)
    yield from islice((formula for formula in products if material.is_new(formula)), MOST[level])


def _without_symmetric(problem: SkewProblem, formulas: list[Formula]) -> list[Formula]:
    """Return the formulas X with X - X.T neither zero nor a multiple of an earlier one."""
    c, seen, kept = problem.calculus, set[Tensor](), list[Formula]()
    for formula in formulas:
        X = tensor_of(c, problem.dynamics.declarations, formula)
        if X is None or len(X.free) != 2:
            continue
        i, j = X.free
        skew = c.subtract(X, c.rename(X, {i: Index(i.size, j.label), j: Index(j.size, i.label)}))
        if skew.is_zero:
            continue
        key = c.scale(skew, 1 / skew.terms[0].coefficient)
        if key not in seen:
            seen.add(key)
            kept.append(formula)
    return kept


def _plain(material: Material, shape: Shape) -> Iterator[Formula]:
    if shape == SCALAR:
        yield build.ONE
        yield from material.scalars
    elif shape.rows is None:
        yield from (build.transpose(column) for column in material.columns(shape.cols))
    elif shape.cols is None:
        yield from material.columns(shape.rows)
    else:
        yield from material.matrices(shape.rows, shape.cols)


def _products(material: Material, shape: Shape, level: int) -> Iterator[Formula]:
    if level == 1:
        yield from _pairs(material, shape)
    inner = _plain(material, shape) if level == 1 else _products(material, shape, level - 1)
    scalars = list(material.scalars)
    for formula in inner:
        for scalar in scalars:
            if formula != build.ONE:
                yield times(scalar, formula)


def _pairs(material: Material, shape: Shape) -> Iterator[Formula]:
    """Yield products of two things that occur."""
    if shape == SCALAR:
        yield from _dots(material)
    elif shape.rows is None:
        yield from (build.transpose(product) for product in _applied(material, shape.cols))
    elif shape.cols is None:
        yield from _applied(material, shape.rows)
    else:
        if shape.rows == shape.cols:
            yield from (Apply("diag", (column,), shape) for column in material.columns(shape.rows))
        for left in material.columns(shape.rows):
            yield from (Apply("outer", (left, right), shape) for right in material.columns(shape.cols))
        for left, right in _linked(material, shape):
            yield MatMul(left, right, shape)


def _dots(material: Material) -> Iterator[Formula]:
    for shape, columns in list(material.by_shape.items()):
        if shape.cols is None and shape.rows is not None:
            for n, left in enumerate(columns):
                for right in columns[n:]:
                    yield MatMul(build.transpose(left), right, SCALAR)


def _applied(material: Material, rows: Size | None) -> Iterator[Formula]:
    """Yield matrices with so many rows, applied to columns."""
    for shape, matrices in list(material.by_shape.items()):
        if shape.rows == rows and shape.cols is not None:
            for column in material.columns(shape.cols):
                yield from (MatMul(m, column, Shape(rows)) for m in matrices if not isinstance(m, Identity))


def _linked(material: Material, shape: Shape) -> Iterator[tuple[Formula, Formula]]:
    """Yield two matrices whose product has a shape."""
    for inner, lefts in list(material.by_shape.items()):
        if inner.rows == shape.rows and inner.cols is not None and shape.cols is not None:
            for left in lefts:
                for right in material.matrices(inner.cols, shape.cols):
                    if not isinstance(left, Identity) and not isinstance(right, Identity):
                        yield left, right


def _in_turns(turns: list[Iterator[Candidate]]) -> Iterator[Candidate]:
    """Yield one of each, then the next of each, until all are exhausted."""
    while turns:
        left: list[Iterator[Candidate]] = []
        for turn in turns:
            found = next(turn, None)
            if found is not None:
                yield found
                left.append(turn)
        turns = left

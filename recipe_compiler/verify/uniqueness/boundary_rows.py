"""How large the entries of D and Q are in the row of a face: powers of the distance y to it."""

from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.structure.asymptotics import (
    Edge,
    EdgeSize,
    NotEntrywiseError,
    NotExpandedError,
    entry,
    size,
)
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Add, Apply, Formula, Identity, MatMul, Multiply, Role, Transpose
from recipe_compiler.formula.expression import Symbol as Name
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.formula.show import text
from recipe_compiler.verify.core.domain_faces import Face, NotKnownError, Y, bounded, is_bounded, states
from recipe_compiler.verify.core.premises import depends_on_state
from recipe_compiler.verify.core.subject import Subject


def row_size(subject: Subject, face: Face, formula: Formula) -> EdgeSize | None:
    """Return s with |row| <= C y**s for the row: [n_b] that an entry of D or Q has at a face; None where it is zero.

    D = diag(theta) has s = 1 at theta = 0. On the last face of a simplex, with the normal (1, ..., 1), it is the sum of
    all rows of the block: diag(w) - w w.T has w_j (1 - sum(w)) there, s = 1.

    Raises:
        NotKnownError: the size is not known.
    """
    declarations = subject.dynamics.declarations
    try:
        if face.is_total:
            return _size(_column_sum(formula, declarations, face.edge), declarations)
        return _row(formula, declarations, face)
    except (NotEntrywiseError, NotExpandedError):
        raise NotKnownError(f"{text(formula)} at {face.says}") from None


def _size(e: Expr, declarations: Declarations) -> EdgeSize | None:
    """Return the size of an entry whose dependence on other bounded coordinates is bounded up to their edges."""
    others = states(e, bounded(declarations)) - {Y}
    if not all(e.is_polynomial(other) for other in others):
        raise NotEntrywiseError
    return size(e, Y)


def _row(formula: Formula, declarations: Declarations, face: Face) -> EdgeSize | None:
    match formula:
        case Identity():
            return EdgeSize(Fraction(0), is_exact=True)
        case Transpose(Apply("diag", _) as arg):
            return _row(arg, declarations, face)
        case Apply("diag", (arg,)):
            return _size(entry(arg, declarations, face.edge), declarations)
        case Add(terms):
            found = [s for s in (_row(term, declarations, face) for term in terms) if s is not None]
            return EdgeSize(min(s.power for s in found), is_exact=False) if found else None
        case Multiply(left, right) if formula.shape.sizes and not (left.shape.sizes and right.shape.sizes):
            scalar, other = (left, right) if not left.shape.sizes else (right, left)
            return _times(_scalar(scalar, declarations, face), _row(other, declarations, face))
        case Apply("outer", (left, right)) | MatMul(left, right):
            if not is_bounded(right, declarations, face):
                raise NotEntrywiseError
            return _times(_row(left, declarations, face), EdgeSize(Fraction(0), is_exact=False))
        case _ if formula.shape.cols is None or not formula.shape.sizes:
            return _size(entry(formula, declarations, face.edge), declarations)
        case _ if not depends_on_state(formula) or is_bounded(formula, declarations, face):
            return EdgeSize(Fraction(0), is_exact=False)
        case _:
            raise NotEntrywiseError


def _scalar(formula: Formula, declarations: Declarations, face: Face) -> EdgeSize | None:
    """Return the size of a scalar factor: bounded, or a function of a scalar block."""
    if is_bounded(formula, declarations, face):
        return EdgeSize(Fraction(0), is_exact=not depends_on_state(formula))
    if any(isinstance(n, Name) and n.role is Role.BLOCK and n.shape.sizes for n in nodes(formula)):
        raise NotEntrywiseError
    return _size(entry(formula, declarations, face.edge), declarations)


def _times(a: EdgeSize | None, b: EdgeSize | None) -> EdgeSize | None:
    return None if a is None or b is None else EdgeSize(a.power + b.power, a.is_exact and b.is_exact)


def _column_sum(formula: Formula, declarations: Declarations, edge: Edge) -> Expr:
    """Return an entry of `ones.T @ A` on the last face of a simplex."""
    match formula:
        case Identity():
            return sympy.Integer(1)
        case Apply("diag", (arg,)):
            return entry(arg, declarations, edge)
        case Add(terms):
            return sympy.Add(*(_column_sum(term, declarations, edge) for term in terms))
        case Multiply(left, right) if not left.shape.sizes or not right.shape.sizes:
            scalar, other = (left, right) if not left.shape.sizes else (right, left)
            return entry(scalar, declarations, edge) * _column_sum(other, declarations, edge)
        case Apply("outer", (left, right)) | MatMul(left, right) if right.shape.rows is None or isinstance(
            formula, Apply
        ):
            total = Apply("sum", (left,), Shape())
            return entry(total, declarations, edge) * entry(right, declarations, edge)
        case _:
            raise NotEntrywiseError

"""Formulas written anew: as the index calculus writes them, or with signs in front and transposes at their parts."""

from fractions import Fraction

from recipe_compiler.ansatz.sums import expand_sum
from recipe_compiler.errors import DocumentError, ModelError, Place
from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.formula.syntax import parse
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.matrixform import as_matrices
from recipe_compiler.tensor.order import spell_tensor
from recipe_compiler.tensor.style import PLAIN
from recipe_compiler.tensor.terms import Index, Tensor

SYMMETRIC = frozenset({Kind.SYMMETRIC, Kind.PSD, Kind.PD, Kind.DIAGONAL})
_HERE = Place("", 1, 1)


def read(written: str, declarations: Declarations, shape: Shape, entry: str = "formula") -> Formula:
    """Return the formula that a text states.

    Raises:
        SpecError: it is no formula.
        ModelError: its names or shapes do not fit.
    """
    return elaborate(parse(written, entry, _HERE), Scope(declarations, square=True), shape, entry, _HERE)


def tensor_of(formula: Formula, declarations: Declarations) -> Tensor:
    """Return a formula in index notation, with the free index i of a vector, i and j of a matrix, j of a row.

    Raises:
        ModelError: it has no entrywise meaning.
    """
    labels = ("i", "j") if formula.shape.rows is not None else ("j",)
    return convert(formula, declarations, *map(Index, formula.shape.sizes, labels))


def canonical_text(formula: Formula, declarations: Declarations) -> str:
    """Return a text that is the same for all formulas with the same tensor.

    Raises:
        ModelError: the formula has no entrywise meaning.
    """
    return spell_tensor(tensor_of(formula, declarations))


def direction(formula: Formula, declarations: Declarations) -> str | None:
    """Return a text that all rational multiples of a formula share; None of zero, and of what has no tensor."""
    try:
        tensor = tensor_of(formula, declarations)
    except ModelError:
        return None
    if tensor.is_zero:
        return None
    return f"{formula.shape}{spell_tensor(calculus(declarations).scale(tensor, 1 / tensor.terms[0].coefficient))}"


def gather_terms(formula: Formula, declarations: Declarations) -> Formula:
    """Return a sum as the index calculus writes it if that has fewer terms; otherwise unchanged."""
    try:
        fewer = len(tensor_of(formula, declarations).terms) < len(expand_sum(formula))
    except DocumentError:
        return formula
    return simplest(formula, declarations) if fewer else formula


def simplest(formula: Formula, declarations: Declarations) -> Formula:
    """Return the shortest of a formula, the same as the index calculus writes it, and the same resolved."""
    c = calculus(declarations)
    try:
        tensor = tensor_of(formula, declarations)
        texts = (as_matrices(c, PLAIN, tensor), text(normalise_signs(formula, declarations)))
        for written in sorted(filter(None, texts), key=len):
            if len(written) > len(text(formula)):
                break
            again = read(written, declarations, formula.shape)
            if c.is_zero(c.subtract(tensor_of(again, declarations), tensor)):
                return again
    except DocumentError:
        pass
    return formula


def normalise_signs(formula: Formula, declarations: Declarations) -> Formula:
    """Return a formula with one number in front and transposes at its parts: diag(v) for -(-diag(v)).T."""
    factor, rest = _factor_out(formula, declarations, transposed=False)
    return rest if factor == 1 else build.multiply(ex.Number(factor), rest, rest.shape)


def _factor_out(formula: Formula, declarations: Declarations, *, transposed: bool) -> tuple[Fraction, Formula]:
    """Return the number in front of a formula, or of its transpose, and the rest."""
    shape = formula.shape.transposed if transposed else formula.shape
    match formula:
        case ex.Transpose(arg):
            return _factor_out(arg, declarations, transposed=not transposed)
        case ex.Multiply(ex.Number(value), arg) | ex.Multiply(arg, ex.Number(value)):
            factor, rest = _factor_out(arg, declarations, transposed=transposed)
            return factor * value, rest
        case ex.Multiply(left, right) | ex.MatMul(left, right) | ex.Apply("outer", (left, right)) if shape != SCALAR:
            outer = isinstance(formula, ex.Apply)
            (a, x), (b, y) = (_factor_out(p, declarations, transposed=transposed and not outer) for p in (left, right))
            new = (y, x) if transposed and not isinstance(formula, ex.Multiply) else (x, y)
            return a * b, build.rebuild(formula, new, lambda _: shape)
        case ex.Add(terms):
            parts = [_factor_out(term, declarations, transposed=transposed) for term in terms]
            signed = [x if a == 1 else build.multiply(ex.Number(a), x, shape) for a, x in parts]
            return Fraction(1), build.add(signed, shape)
        case ex.Apply("inv", (arg,)):
            factor, rest = _factor_out(arg, declarations, transposed=transposed)
            return 1 / factor, build.apply("inv", (rest,), shape)
        case ex.Apply("div", (matrix, block)):
            factor, rest = _factor_out(matrix, declarations, transposed=False)
            found = build.apply("div", [rest, block], formula.shape)
            return factor, build.transpose(found) if transposed else found
        case ex.Apply("diag" | "hessian") | ex.Identity():
            return Fraction(1), formula
        case ex.Filled(value):
            return Fraction(1), ex.Filled(value, shape)
        case ex.Symbol(name) | ex.FunctionAt(name) if transposed and len(shape.sizes) == 2:
            kinds = {*getattr(declarations.find(name), "kinds", ())}
            factor = Fraction(-1 if Kind.SKEW in kinds else 1)
            return factor, formula if kinds & {*SYMMETRIC, Kind.SKEW} else build.transpose(formula)
        case _:
            return Fraction(1), build.transpose(formula) if transposed else formula

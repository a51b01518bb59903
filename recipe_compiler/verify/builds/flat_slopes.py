"""Flat coefficients in concave functions of linear predictors: confined, or free along a direction."""

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq

from recipe_compiler.formula.build import add, depends_on_state, multiply, negate
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Formula,
    MatMul,
    Multiply,
    Number,
    Power,
    Transpose,
)
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.verify.builds.flat_model import (
    NOT_GROWING,
    ONE,
    ZERO,
    FlatModel,
    Infinite,
    Shown,
    join_names,
)
from recipe_compiler.verify.builds.products import flatten_sums
from recipe_compiler.verify.from_data.columns import NotReadError, Rows, Sum, fill_column
from recipe_compiler.verify.from_data.ranks import (
    are_independent,
    find_null_vector,
    stack_columns,
)
from recipe_compiler.verify.from_data.separation import Form, Piece, find_flat_direction, is_confined
from recipe_compiler.verify.integrability.bounded import bounded_above

UNBOUNDED_SLOPES = ("exp", "square")
"""Kinds of pieces that do not cancel, not even but for what is bounded, where arguments differ by constants."""


def decide_by_slopes(model: FlatModel) -> Shown | Infinite | None:
    """Decide by exact weights inside the slopes of convex functions, or by a direction along which U does not grow."""
    if model.scale is not None or not model.coefficients:
        return None
    reader = _ConvexReader(model)
    for c, term, rows in model.summands:
        reader.read(c, term, rows)
    width, pieces = len(reader.atoms), reader.list_pieces()
    linear = (*reader.linear, ZERO)
    forms = [list(form[:-1]) for piece in pieces for form in piece.forms]
    names = join_names(model.coefficients)
    exact = reader.is_exact
    if not are_independent(forms, width, model.rows.clear):
        direction = find_null_vector(forms, width) if forms else [ONE, *[ZERO] * (width - 1)]
        if not exact or direction is None:
            return None
        slope = sum((a * b for a, b in zip(direction, linear, strict=False)), ZERO)
        if slope == 0:
            return Infinite("a direction that nothing depends on", (("direction", model.text_of(direction)),))
        direction = direction if slope < 0 else [-x for x in direction]
        return Infinite(NOT_GROWING, (("direction", model.text_of(direction)),))
    if is_confined(pieces, linear):
        kinds = {piece.kind for piece in pieces}
        words = [f"forms of {names} of full rank {width}"]
        if not kinds <= {"square"}:
            what = "classes that no direction of {} separates" if "log" in kinds else "counts that bound {}"
            words.append(what.format(names))
        how = "weights inside the slopes, exact: sum_i s_i l_i + L = 0"
        return Shown(tuple((one, how) for one in words))
    found = find_flat_direction(pieces, linear) if exact else None
    if found is None or model.target.declarations.assume:
        return None
    return Infinite(NOT_GROWING, (("direction", model.text_of(found)),))


class _ConvexReader:
    """An energy as convex functions of forms of coordinates, and a linear form."""

    def __init__(self, model: FlatModel) -> None:
        self.model = model
        self.atoms = model.atoms
        self.weights: dict[tuple[str, tuple[Form, ...]], fmpq] = {}
        self.linear: list[fmpq] = [ZERO] * len(self.atoms)
        self.is_exact = model.is_exact

    def read_forms(self, found: Sum, rows: Rows) -> list[Form]:
        """Return an affine scalar in every row, but for its constant, which no slope depends on.

        Raises:
            NotReadError: it is not affine in the flat coordinates, or depends on others.
        """
        if any(len(key) > 1 or (key and key[0] not in self.atoms) for key in found):
            raise NotReadError("a form that is not linear")
        columns = [fill_column(found.get((atom,), ZERO), rows.count) for atom in self.atoms]
        if not all(isinstance(x, fmpq) for column in columns for x in column):
            raise NotReadError("a form with irrational numbers")
        return [(*line, ZERO) for line in stack_columns(columns, rows.count)]

    def read(self, c: Fraction, term: Formula, rows: Rows) -> None:
        """Add -c times a summand of the log posterior, in each of some rows.

        Raises:
            NotReadError: it is neither convex in a form nor bounded below.
        """
        weight, core = _split_weight(term)
        number = ONE if weight is None else rows.number(weight)
        kind, sign, arg = _match_convex(core) or ("", 1, core)
        if kind == "terms":
            for k, one in flatten_sums(((c, arg),)):
                self.read(k, one if weight is None else multiply(weight, one, SCALAR), rows)
            return
        scaled = [-sign * fmpq(c.numerator, c.denominator) * x for x in fill_column(number, rows.count)]
        try:
            forms = [self.read_forms(one, rows) for line in rows.entries(arg) for one in line] if kind else []
        except NotReadError:
            kind = ""
        if not kind or (kind in UNBOUNDED_SLOPES and not all(w >= 0 for w in scaled)):
            self._add_linear(c, term, rows)
        elif kind == "sum":
            self._add_log_sum(forms, scaled)
        else:
            for own in forms:
                self._add_pieces(kind, scaled, [(form,) for form in own])

    def list_pieces(self) -> list[Piece]:
        """Return the pieces, those of forms that are equal but for constants taken together.

        Raises:
            NotReadError: one is concave.
        """
        if any(not (weight == 0 or weight > 0) for weight in self.weights.values()):
            raise NotReadError("a concave piece")
        return [Piece(kind, weight, forms) for (kind, forms), weight in self.weights.items() if weight != 0]

    def _add_pieces(self, kind: str, weights: Sequence[fmpq], forms: Sequence[tuple[Form, ...]]) -> None:
        for weight, own in zip(weights, forms, strict=True):
            self.weights[kind, own] = self.weights.get((kind, own), ZERO) + weight

    def _add_log_sum(self, forms: Sequence[Sequence[Form]], weights: Sequence[fmpq]) -> None:
        """Add log sum_k exp(l_k) = l_0 + log(1 + sum_k exp(l_k - l_0))."""
        apart: list[tuple[Form, ...]] = []
        for weight, (first, *others) in zip(weights, zip(*forms, strict=True), strict=True):
            self.linear = [a + weight * b for a, b in zip(self.linear, first, strict=False)]
            apart.append(tuple(tuple(a - b for a, b in zip(form, first, strict=True)) for form in others))
        self._add_pieces("log", weights, apart)

    def _add_linear(self, c: Fraction, term: Formula, rows: Rows) -> None:
        by = fmpq(c.numerator, c.denominator)
        if not depends_on_state(term):
            return
        try:
            for form in self.read_forms(rows.sum(term), rows):
                self.linear = [a - by * b for a, b in zip(self.linear, form, strict=False)]
        except NotReadError:
            if not bounded_above(multiply(Number(c), term, term.shape), self.model.target.declarations):
                raise
            self.is_exact = False


def _match_convex(core: Formula) -> tuple[str, int, Formula] | None:
    """Return a convex function, the sign in front of it, and its argument: `sum` is log(sum(exp(x))).

    log Phi(x) is less an `exp` of -x; log s(x) = x - softplus(x) and log(1 - s(x)) = -softplus(x) of the sigmoid s.
    """
    match core:
        case Apply("softplus", (arg,)):
            return "log", 1, arg
        case Apply("exp" | "abs" as fn, (arg,)):
            return fn, 1, arg
        case Apply("log", (Add((Apply("exp", (arg,)), Number(c)) | (Number(c), Apply("exp", (arg,)))),)) if c > 0:
            return "log", 1, arg  # log(exp(x) + c) - log(c) is log(1 + exp(x - log(c)))
        case Apply("log_ndtr", (arg,)):
            return "exp", -1, negate(arg)
        case Power(arg, Number(n)) if n == 2:
            return "square", 1, arg
        case Apply("sum", (Power(arg, Number(n)),)) if n == 2:
            return "square", 1, arg
        case MatMul(Transpose(left), right) if left == right and left.shape.cols is None:
            return "square", 1, left
        case Apply("trace", (MatMul(left, Transpose(right)),)) if left == right:
            return "square", 1, left
        case Apply("log", (Apply("sum", (Apply("exp", (column,)),)),)):
            return "sum", 1, column
        case Apply("log" | "log1p" as fn, (inner,)):
            match fn, [one for one in flatten_sums(((Fraction(1), inner),)) if one[0]]:
                case "log", [(1, Apply("exp", (arg,)))]:
                    return "terms", 1, arg
                case "log", [(1, Apply("sigmoid", (arg,)))]:
                    return "terms", 1, add([arg, negate(Apply("softplus", (arg,), arg.shape))], arg.shape)
                case "log1p", [(-1, Apply("sigmoid", (arg,)))]:
                    return "log", -1, arg
                case _:
                    return None
        case _:
            return None


def _split_weight(term: Formula) -> tuple[Formula | None, Formula]:
    """Return the factor of a product that the data determine, and the rest."""
    match term:
        case Multiply(left, right) if not depends_on_state(left):
            weight, core = _split_weight(right)
            return (left if weight is None else multiply(left, weight, SCALAR)), core
        case Multiply(left, right) if not depends_on_state(right):
            weight, core = _split_weight(left)
            return (right if weight is None else multiply(weight, right, SCALAR)), core
        case _:
            return None, term

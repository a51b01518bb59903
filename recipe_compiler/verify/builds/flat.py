"""Coefficients without a proper law, in linear predictors, with at most one scale: is the posterior proper at its data?

With X the columns of p flat coefficients in a location mu, and y in the span of no columns of mu,

    int prod_n h((y_n - mu_n)/sigma)/sigma dbeta <= C sigma**-(N - p) exp(-r/sigma),

which any proper law of sigma makes finite if N >= p, and a flat one if N - p > 1. Log likelihoods that are concave in
linear predictors confine them where nothing separates the data (`separation`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from recipe_compiler.formula.build import depends_on_state, multiply
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.densities import DENSITIES, Density
from recipe_compiler.formula.density_terms import log_density
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Formula,
    MatMul,
    Multiply,
    Number,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity, Target
from recipe_compiler.verify.builds.at_data import Response, form_at, responses, why_bounded
from recipe_compiler.verify.builds.bounded_terms import Limits
from recipe_compiler.verify.builds.products import Law, TooManyError, numbered, written_out
from recipe_compiler.verify.builds.proper_prior import (
    Parts,
    finite_group,
    likelihood_products,
    parts_of,
    prior_products,
)
from recipe_compiler.verify.core.premises import smoothness
from recipe_compiler.verify.from_data.columns import Atom, NotReadError, Rows, Sum, full
from recipe_compiler.verify.from_data.ranks import (
    are_independent,
    fewest_off,
    independent_columns,
    kernel,
    matrix,
    pivots,
)
from recipe_compiler.verify.from_data.separation import Form, Piece, confines, flat_direction
from recipe_compiler.verify.integrability.bounded import bounded_above

ONE, ZERO = fmpq(1), fmpq(0)
NOT_GROWING = "a direction along which a convex energy does not grow"
HALF_LINE = frozenset({DomainName.POSITIVE, DomainName.NONNEGATIVE})


@dataclass(frozen=True, slots=True)
class Shown:
    """The integral is finite, by facts of the data: each in words, and how it was decided."""

    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Infinite:
    """The integral is infinite, at the data."""

    by: str
    witness: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Model:
    """What flat coefficients stand in: rows of the data with locations of one scale, and other summands."""

    target: Target
    rows: Rows
    parts: Parts
    coefficients: tuple[Block, ...]
    scale: Block | None
    power: Fraction
    """k, where the prior of the scale holds k log sigma."""
    is_exact: bool
    """Whether nothing was left out that depends on what is flat."""
    located: list[tuple[StatedDensity, Rows]] = field(default_factory=list[tuple[StatedDensity, Rows]])
    summands: list[tuple[Fraction, Formula, Rows]] = field(default_factory=list[tuple[Fraction, Formula, Rows]])

    @property
    def flat_blocks(self) -> tuple[Block, ...]:
        """What has no proper law."""
        return (*self.coefficients, *([self.scale] if self.scale else ()))

    @property
    def flat(self) -> frozenset[str]:
        """The names of what has no proper law."""
        return frozenset(block.name for block in self.flat_blocks)

    @property
    def atoms(self) -> list[Atom]:
        """The flat coordinates."""
        return [
            (block.name, i, j)
            for block in self.coefficients
            for i in range(self.rows.length(block.shape.rows))
            for j in range(self.rows.length(block.shape.cols))
        ]

    def holds_flat(self, formula: Formula) -> bool:
        """Whether something flat is in a formula."""
        return not self.flat.isdisjoint(dependence(formula).blocks)


def decide_flat(target: Target, rows: Rows) -> Shown | Infinite | None:
    """Decide a posterior with flat coefficients in linear predictors, and at most one scale; None where that is open.

    Finite by the ranks of columns and N - p > k + 1, infinite at an end of the scale, or along a direction that nothing
    depends on or that separates the data. y = (1, 3, 2, 5) on a line with flat coefficients and scale has N - p = 2.

    Args:
        target: of the blocks as they are declared.
        rows: its data.
    """
    if target.recursion or target.potential is not None:
        return None
    try:
        if (infinite := infinite_at_zero(target, rows)) is not None:
            return infinite
        model = _model(target, rows)
        if model is None or not _gather(model):
            return None
        if model.located and model.summands and not _only_help(model):
            return None
        if not model.located and not model.summands and model.is_exact and rows.is_whole:
            return Infinite("a direction that nothing depends on", (("direction", _names(model.flat_blocks)),))
        return _by_scale(model) if model.located else _by_slopes(model)
    except (NotReadError, TooManyError):
        return None


def _model(target: Target, rows: Rows) -> _Model | None:
    """Return what has no proper law; None where that is nothing, or more than coefficients and one scale."""
    prior = prior_products(target, target.stated.densities)
    parts = parts_of(prior[0], target.declarations) if len(prior) == 1 else None
    if parts is None or parts.absorbed:
        return None
    groups = [group for group in parts.groups if finite_group(group, target.declarations) is None]
    blocks = [block for own, _ in groups for block in own]
    scales = [block for block in blocks if block.domain.name in HALF_LINE and block.shape == SCALAR]
    lines = [block for block in blocks if block.domain.name is DomainName.REAL]
    if not blocks or len(scales) > 1 or len(scales) + len(lines) < len(blocks):
        return None
    if any(block.constraint is not None for block in blocks):
        return None
    found = _Model(target, rows, parts, tuple(lines), scales[0] if scales else None, Fraction(0), is_exact=True)
    for _, terms in groups:
        for c, term in terms:
            match term:
                case Apply("log", (Symbol(name),)) if scales and name == scales[0].name:
                    found.power += c
                case _:
                    found.summands.append((c, term, rows.at_one()))
    for law in parts.others:
        if any(map(found.holds_flat, law.stated.arguments)):
            found.summands += [(c, term, rows.at_one()) for c, term in _summands(law, target)]
    found.summands += [(c, term, rows.at_one()) for c, term in parts.rest if found.holds_flat(term)]
    inside = [argument for law in parts.laws.values() for argument in law.arguments]
    return None if any(map(found.holds_flat, inside)) else found


def _gather(model: _Model) -> bool:
    """Add the likelihood to a model; whether all of it is read."""
    target = model.target
    limits = Limits(target.declarations)
    for product in likelihood_products(target, target.stated.densities):
        rows = model.rows.under(product.guards)
        if rows.count == 0:
            continue
        if product.is_mixed:
            return False
        for law in product.laws:
            row = DENSITIES[law.stated.name]
            if not any(map(model.holds_flat, law.stated.arguments)):
                if limits.of_law(law) is None and not why_bounded(product, law, model.rows):
                    return False
            elif not rows.is_whole and (row.tail or not (row.location or limits.of_law(law) == frozenset())):
                return False  # other rows may have a density without a bound
            elif row.location and not row.matrices and not _is_convex(row, law.stated):
                if not _has_flat_location(model, row, law.stated):
                    return False
                model.located.append((law.stated, rows))
            else:
                model.summands += [(c, term, rows) for c, term in _summands(law, target)]
        for c, term in product.rest:
            if model.holds_flat(term) and rows.is_whole:
                model.summands.append((c, term, rows))
            elif not bounded_above(multiply(Number(c), term, term.shape), target.declarations):
                return False
    return True


def _has_flat_location(model: _Model, row: Density, law: StatedDensity) -> bool:
    """Whether what is flat is in the location of a density, or is its scale, and nowhere else in it."""
    for name, argument in zip(row.arguments, law.arguments, strict=True):
        if name == row.scale:
            _move_scale(model, argument)
            if model.holds_flat(argument) and (model.scale is None or _exponent(argument, model.scale) is None):
                return False
        elif name != row.location and model.holds_flat(argument):
            return False
    return True


def _move_scale(model: _Model, scale: Formula) -> None:
    """Take the flat logarithm of a scale for what it is, and for no coefficient: exp(s), exp(s/2)."""
    match scale:
        case Apply("exp", (arg,)) if model.scale is None:
            _, core = numbered(arg)
            own = [b for b in model.coefficients if core == Symbol(b.name, SCALAR, Role.BLOCK)]
            if own:
                model.scale, model.coefficients = own[0], tuple(b for b in model.coefficients if b not in own)
        case _:
            pass


def _is_convex(row: Density, law: StatedDensity) -> bool:
    """Whether the logarithm of a density of known scale is concave in its location."""
    return not row.tail and not depends_on_state(law.arguments[row.arguments.index(row.scale)])


def _summands(law: Law, target: Target) -> Iterator[tuple[Fraction, Formula]]:
    value = log_density(DENSITIES[law.stated.name], law.stated.arguments, target.declarations)
    yield from written_out(((Fraction(1), value),))


def _only_help(model: _Model) -> bool:
    """Whether summands beside locations are at most a constant; they are then left out."""
    model.is_exact = False
    declared = model.target.declarations
    return all(bounded_above(multiply(Number(c), term, term.shape), declared) for c, term, _ in model.summands)


# Locations of one scale


def _by_scale(model: _Model) -> Shown | Infinite | None:
    """Decide by ranks, and by the power of the scale."""
    (first, _), *others = model.located
    scale = _scale(first)
    if any(_scale(law) != scale for law, _ in others) or (depends_on_state(scale) and dependence(scale).data):
        return None
    ys, size, columns, beside = _stacked(model)
    p, count = len(columns), len(ys)
    lines = matrix(columns, count) if columns else [[] for _ in ys]
    names = _names(model.coefficients)
    if p and not are_independent(lines, p, model.rows.clear):
        direction = kernel(lines, p)
        if direction is None or not model.is_exact or model.summands:
            return None
        along = ", ".join(f"{_name(atom, model)} = {x}" for atom, x in zip(model.atoms, direction, strict=True) if x)
        return Infinite("a direction that nothing depends on", (("direction", along),))
    facts = [(f"forms of {names} of full rank {p}", "a minor that is not zero")] if p else []
    if not depends_on_state(scale):
        return None if model.scale else Shown(tuple(facts))
    exponent = None if model.scale is None else _exponent(scale, model.scale)
    if model.scale is not None and exponent is None:
        return None
    is_logarithm = isinstance(scale, Apply) and scale.fn == "exp"
    taken = Fraction(0) if exponent is None or is_logarithm else (model.power + 1) / exponent
    spanning = independent_columns([*columns, *beside], count, model.rows.clear)
    if spanning is not None and are_independent(
        matrix([*spanning, ys], count), len(spanning) + 1, model.rows.clear, size
    ):
        enough = count >= p if exponent is None else count - p > taken
        if enough and _keeps(model, columns, spanning, ys, taken):
            words = f"residuals of scale {text(scale)} that no {names or 'state'} makes all zero"
            return Shown((*facts, (words, "the rank of [A c] is that of A and 1")))
    if (
        model.scale is None
        or exponent is None
        or not model.is_exact
        or model.summands
        or model.target.declarations.assume
    ):
        return None
    low = "-oo" if is_logarithm else "0"
    ends = ("oo", low) if exponent > 0 else (low, "oo")
    if count - p <= taken:
        return Infinite("power counting", (("towards", f"{model.scale.name} -> {ends[0]}"),))
    if not beside and count - p >= taken and _is_in_span(columns, ys, count):
        return Infinite("power counting", (("towards", f"{model.scale.name} -> {ends[1]}"),))
    return None


def _scale(law: StatedDensity) -> Formula:
    row = DENSITIES[law.name]
    return law.arguments[row.arguments.index(row.scale)]


def _exponent(scale: Formula, block: Block) -> Fraction | None:
    """Return q of a scale v**q, or exp(q v) of a real v; None where it is neither."""
    v = Symbol(block.name, SCALAR, Role.BLOCK)
    match scale:
        case Apply("exp", (arg,)) if block.domain.name is DomainName.REAL:
            q, core = numbered(arg)
            return q if core == v and q != 0 else None
        case _ if block.domain.name is DomainName.REAL:
            return None
        case Apply("sqrt", (arg,)) if arg == v:
            return Fraction(1, 2)
        case Power(arg, Number(q)) if arg == v and q != 0:
            return q
        case _:
            return Fraction(1) if scale == v else None


def _stacked(model: _Model) -> tuple[Any, float, list[Any], list[Any]]:
    """Return the responses of all rows, their size, and the columns of flat coordinates and of other functions.

    Raises:
        NotReadError: something flat is in a location otherwise than as a coefficient.
    """
    atoms = model.atoms
    found: list[tuple[Response, int]] = []
    for law, rows in model.located:
        found += [(one, rows.count) for one in responses(DENSITIES[law.name], law, rows)]
    keys = list(dict.fromkeys(key for one, _ in found for key in one.location))
    for key in keys:
        if any(atom[0] in model.flat for atom in key) and (len(key) > 1 or key[0] not in atoms):
            raise NotReadError("a location that is not linear")
        is_function = len(key) > 1 or key[0] not in atoms
        if is_function and any(name in atom[0] for atom in key for name in model.flat):
            raise NotReadError("a function of something flat in a location")

    def column(key: tuple[Atom, ...]) -> Any:
        return [x for one, count in found for x in full(one.location.get(key, ZERO), count)]

    y = np.array([x for one, _ in found for x in one.y], dtype=object)
    others = [np.array(column(key), dtype=object) for key in keys if not (len(key) == 1 and key[0] in atoms)]
    size = max((one.size for one, _ in found), default=0.0)
    return y, size, [np.array(column((atom,)), dtype=object) for atom in atoms], others


def _keeps(model: _Model, columns: Sequence[Any], spanning: Sequence[Any], ys: Any, taken: Fraction) -> bool:
    """Whether densities keep a scale from 0: light tails do, heavy ones by rows that are off at every state."""
    tails: list[Fraction] = []
    for law, _ in model.located:
        row = DENSITIES[law.name]
        if not row.tail:
            continue
        tail = Number(Fraction(1)) if row.tail == "1" else law.arguments[row.arguments.index(row.tail)]
        if not isinstance(tail, Number):
            return False
        tails.append(tail.value)
    if not tails:
        return True
    count, width, p = len(ys), len(spanning), len(columns)
    lines = matrix([*spanning, ys], count)
    basis = set(pivots(matrix(columns, count), p))  # integrated over; the others keep the scale from 0
    left = [line for k, line in enumerate(lines) if k not in basis]
    return fewest_off(left, width + 1) * (1 + min(tails)) > count - p - min(taken, Fraction(0))


def _is_in_span(columns: Sequence[Any], ys: Any, count: int) -> bool:
    """Whether y is exactly in the span of independent columns."""
    found = kernel(matrix([*columns, ys], count), len(columns) + 1)
    return found is not None and found[-1] != 0


def infinite_at_zero(target: Target, rows: Rows) -> Infinite | None:
    """Return that an integral is infinite towards a scale 0 where all else is positive there; None where not shown.

    Where N residuals A theta - y of a scale sigma vanish together, A of rank r, and the rest is sigma**k times what is
    positive and continuous at 0, it is at least c int sigma**(k + r - N) dsigma: infinite for N > r + k. Data on a line
    have N > 2; normal(theta, mu, tau) has N = r, and tau**-1 in its prior k = -1.
    """
    declared, densities = target.declarations, target.stated.densities
    prior, likelihood = prior_products(target, densities), likelihood_products(target, densities)
    one_of_each = len(prior) == len(likelihood) == 1 and not likelihood[0].guards
    if not (one_of_each and rows.is_whole) or target.recursion or declared.assume:
        return None
    laws = [*((law, rows.at_one()) for law in prior[0].laws), *((law, rows) for law in likelihood[0].laws)]
    lines = {b.name for b in declared.blocks if b.domain.name is DomainName.REAL and b.constraint is None}
    for block in (b for b in declared.blocks if b.domain.name in HALF_LINE and b.shape == SCALAR):
        sigma = Symbol(block.name, SCALAR, Role.BLOCK)
        log = Apply("log", (sigma,), SCALAR)
        own = [(law, at) for law, at in laws if DENSITIES[law.stated.name].location and _scale(law.stated) == sigma]
        others = [law for law, _ in laws if all(law is not one for one, _ in own)]
        beside = [term for _, term in (*prior[0].rest, *likelihood[0].rest) if term != log]
        beside += [term for law in others for _, term in _summands(law, target)]
        power = sum((c for c, term in prior[0].rest if term == log), Fraction(0))
        try:
            residuals = [form for law, at in own for form in _forms(law, at)]
            at_zero = [substitute(term, {block.name: Number(Fraction(0))}) for term in beside]
        except (NotReadError, ZeroDivisionError):
            continue
        keys = list(dict.fromkeys(key for form in residuals for key in form if key))
        columns = [np.array([form.get(key, ZERO) for form in residuals], dtype=object) for key in keys]
        spanning = independent_columns(columns, len(residuals), rows.clear)
        if spanning is None or not {key[0][0] for key in keys} <= lines or smoothness(at_zero, declared).open:
            continue
        ends = np.array([form[()] for form in residuals], dtype=object)
        fits = not residuals or _is_in_span(spanning, ends, len(residuals))
        if fits and power + len(spanning) - len(residuals) <= -1:
            return Infinite("power counting", (("towards", f"{block.name} -> 0"),))
    return None


def _forms(law: Law, rows: Rows) -> list[Sum]:
    """Return the residuals of a law, row by row.

    Raises:
        NotReadError: they are not linear in coordinates, or its tail is one of the state.
    """
    row, stated = DENSITIES[law.stated.name], law.stated
    own = {row.arguments[0], row.location, row.scale}
    others = [x for name, x in zip(row.arguments, stated.arguments, strict=True) if name not in own]
    if law.is_of_entries or not row.of_entry or any(map(depends_on_state, others)):
        raise NotReadError("a density of another form")
    return [form_at(one, n) for one in responses(row, stated, rows) for n in range(rows.count)]


def _names(blocks: Sequence[Block]) -> str:
    return ", ".join(block.name for block in blocks)


def _name(atom: Atom, model: _Model) -> str:
    """Return a coordinate as formulas name it; a block of one by its name."""
    block = next(one for one in model.coefficients if one.name == atom[0])
    match len(block.shape.sizes), block.shape.rows:
        case 0, _:
            return atom[0]
        case 1, rows:
            return f"{atom[0]}[{atom[1] if rows is not None else atom[2]}]"
        case _:
            return f"{atom[0]}[{atom[1]}, {atom[2]}]"


# Concave functions of linear predictors


def _by_slopes(model: _Model) -> Shown | Infinite | None:
    """Decide by exact weights inside the slopes of convex functions, or by a direction along which U does not grow."""
    if model.scale is not None or not model.coefficients:
        return None
    reader = _Convex(model)
    for c, term, rows in model.summands:
        reader.read(c, term, rows)
    width = len(reader.atoms)
    linear = (*reader.linear, ZERO)
    forms = [list(form[:-1]) for piece in reader.pieces for form in piece.forms]
    names = _names(model.coefficients)
    exact = reader.is_exact
    if not are_independent(forms, width, model.rows.clear):
        direction = kernel(forms, width) if forms else [ONE, *[ZERO] * (width - 1)]
        if not exact or direction is None:
            return None
        slope = sum((a * b for a, b in zip(direction, linear, strict=False)), ZERO)
        if slope == 0:
            return Infinite("a direction that nothing depends on", (("direction", reader.written(direction)),))
        direction = direction if slope < 0 else [-x for x in direction]
        return Infinite(NOT_GROWING, (("direction", reader.written(direction)),))
    if confines(reader.pieces, linear):
        kinds = {piece.kind for piece in reader.pieces}
        words = [f"forms of {names} of full rank {width}"]
        if not kinds <= {"square"}:
            what = "classes that no direction of {} separates" if "log" in kinds else "counts that bound {}"
            words.append(what.format(names))
        how = "weights inside the slopes, exact: sum_i s_i l_i + L = 0"
        return Shown(tuple((one, how) for one in words))
    found = flat_direction(reader.pieces, linear) if exact else None
    if found is None or model.target.declarations.assume:
        return None
    return Infinite(NOT_GROWING, (("direction", reader.written(found)),))


class _Convex:
    """An energy as convex functions of forms of coordinates, and a linear form."""

    def __init__(self, model: _Model) -> None:
        self.model = model
        self.atoms = model.atoms
        self.pieces: list[Piece] = []
        self.linear: list[fmpq] = [ZERO] * len(self.atoms)
        self.is_exact = model.is_exact

    def written(self, direction: Sequence[fmpq]) -> str:
        """Return a direction as its coordinates that move."""
        return ", ".join(f"{_name(z, self.model)} = {x}" for z, x in zip(self.atoms, direction, strict=True) if x)

    def forms(self, found: Sum, rows: Rows) -> list[Form]:
        """Return an affine scalar in every row, but for its constant, which no slope depends on.

        Raises:
            NotReadError: it is not affine in the flat coordinates, or depends on others.
        """
        if any(len(key) > 1 or (key and key[0] not in self.atoms) for key in found):
            raise NotReadError("a form that is not linear")
        columns = [full(found.get((atom,), ZERO), rows.count) for atom in self.atoms]
        if not all(isinstance(x, fmpq) for column in columns for x in column):
            raise NotReadError("a form with irrational numbers")
        return [(*line, ZERO) for line in matrix(columns, rows.count)]

    def read(self, c: Fraction, term: Formula, rows: Rows) -> None:
        """Add -c times a summand of the log posterior, in each of some rows.

        Raises:
            NotReadError: it is neither convex in a form nor bounded below.
        """
        weight, core = _weighted(term)
        number = ONE if weight is None else rows.number(weight)
        scaled = [-fmpq(c.numerator, c.denominator) * x for x in full(number, rows.count)]
        match _piece(core):
            case ("below", arg) if all(w <= 0 for w in scaled):
                below = [{key: -x for key, x in one.items()} for line in rows.entries(arg) for one in line]
                self._add("exp", [-w for w in scaled], below, rows)
            case ("sum", arg) if all(w >= 0 for w in scaled):
                self._log_sum([one for line in rows.entries(arg) for one in line], scaled, rows)
            case (str(kind), arg) if kind != "below" and all(w >= 0 for w in scaled):
                self._add(kind, scaled, [one for line in rows.entries(arg) for one in line], rows)
            case _:
                self._linear(c, term, rows)

    def _add(self, kind: str, weights: Sequence[fmpq], entries: Sequence[Sum], rows: Rows) -> None:
        for entry in entries:
            pairs = zip(weights, self.forms(entry, rows), strict=True)
            self.pieces += [Piece(kind, weight, (form,)) for weight, form in pairs if weight > 0]

    def _log_sum(self, entries: Sequence[Sum], weights: Sequence[fmpq], rows: Rows) -> None:
        """Add log sum_k exp(l_k) = l_0 + log(1 + sum_k exp(l_k - l_0))."""
        lines = list(zip(*(self.forms(entry, rows) for entry in entries), strict=True))
        for weight, (first, *others) in zip(weights, lines, strict=True):
            self.linear = [a + weight * b for a, b in zip(self.linear, first, strict=False)]
            apart = tuple(tuple(a - b for a, b in zip(form, first, strict=True)) for form in others)
            if weight > 0 and apart:
                self.pieces.append(Piece("log", weight, apart))

    def _linear(self, c: Fraction, term: Formula, rows: Rows) -> None:
        by = fmpq(c.numerator, c.denominator)
        try:
            for form in self.forms(rows.sum(term), rows):
                self.linear = [a - by * b for a, b in zip(self.linear, form, strict=False)]
        except NotReadError:
            if not bounded_above(multiply(Number(c), term, term.shape), self.model.target.declarations):
                raise
            self.is_exact = False


def _piece(core: Formula) -> tuple[str, Formula] | None:
    """Return a convex function and its argument: `below` is -log Phi(x), `sum` is log(sum(exp(x)))."""
    match core:
        case Apply("softplus", (arg,)):
            return "log", arg
        case Apply("exp" | "abs" as fn, (arg,)):
            return fn, arg
        case Apply("log", (Add((Apply("exp", (arg,)), Number(c)) | (Number(c), Apply("exp", (arg,)))),)) if c > 0:
            return "log", arg  # log(exp(x) + c) - log(c) is log(1 + exp(x - log(c)))
        case Apply("log_ndtr", (arg,)):
            return "below", arg
        case Power(arg, Number(n)) if n == 2:
            return "square", arg
        case Apply("sum", (Power(arg, Number(n)),)) if n == 2:
            return "square", arg
        case MatMul(Transpose(left), right) if left == right and left.shape.cols is None:
            return "square", left
        case Apply("trace", (MatMul(left, Transpose(right)),)) if left == right:
            return "square", left
        case Apply("log", (Apply("sum", (Apply("exp", (column,)),)),)):
            return "sum", column
        case _:
            return None


def _weighted(term: Formula) -> tuple[Formula | None, Formula]:
    """Return what the data alone decide of a product, and the rest."""
    match term:
        case Multiply(left, right) if not depends_on_state(left):
            weight, core = _weighted(right)
            return (left if weight is None else multiply(left, weight, SCALAR)), core
        case Multiply(left, right) if not depends_on_state(right):
            weight, core = _weighted(left)
            return (right if weight is None else multiply(weight, right, SCALAR)), core
        case _:
            return None, term

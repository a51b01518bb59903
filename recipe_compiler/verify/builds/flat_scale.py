"""Flat coefficients in locations of one scale: ranks, the power of the scale, and scales that vanish."""

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from recipe_compiler.formula.build import depends_on_state
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.expression import (
    Apply,
    Number,
    Role,
    Symbol,
)
from recipe_compiler.formula.shapes import HALF_LINE, SCALAR, DomainName
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Target
from recipe_compiler.verify.builds.at_data import Response, read_residual, read_responses
from recipe_compiler.verify.builds.flat_model import (
    ZERO,
    FlatModel,
    Infinite,
    Shown,
    get_scale,
    join_names,
    list_summands,
    read_scale_exponent,
)
from recipe_compiler.verify.builds.priors import prior_products
from recipe_compiler.verify.builds.products import Law
from recipe_compiler.verify.builds.row_laws import likelihood_products
from recipe_compiler.verify.core.premises import require_smooth
from recipe_compiler.verify.from_data.columns import Atom, NotReadError, Rows, Sum, fill_column
from recipe_compiler.verify.from_data.ranks import (
    are_independent,
    count_nonzero_rows,
    find_null_vector,
    select_independent_columns,
    stack_columns,
)


def decide_by_scale(model: FlatModel) -> Shown | Infinite | None:
    """Decide by ranks, and by the power of the scale."""
    (first, _), *others = model.located
    scale = get_scale(first)
    if any(get_scale(law) != scale for law, _ in others) or (depends_on_state(scale) and dependence(scale).data):
        return None
    ys, size, columns, beside = _stack_responses(model)
    p, count = len(columns), len(ys)
    lines = stack_columns(columns, count) if columns else [[] for _ in ys]
    names = join_names(model.coefficients)
    if p and not are_independent(lines, p, model.rows.clear):
        direction = find_null_vector(lines, p)
        if direction is None or not model.is_exact or model.summands:
            return None
        return Infinite("a direction that nothing depends on", (("direction", model.text_of(direction)),))
    facts = [(f"forms of {names} of full rank {p}", "a minor that is not zero")] if p else []
    if not depends_on_state(scale):
        return None if model.scale else Shown(tuple(facts))
    exponent = None if model.scale is None else read_scale_exponent(scale, model.scale)
    if model.scale is not None and exponent is None:
        return None
    is_logarithm = isinstance(scale, Apply) and scale.fn == "exp"
    taken = Fraction(0) if exponent is None or is_logarithm else (model.power + 1) / exponent
    spanning = select_independent_columns([*columns, *beside], count, model.rows.clear)
    if spanning is not None and are_independent(
        stack_columns([*spanning, ys], count), len(spanning) + 1, model.rows.clear, size
    ):
        kept = _count_kept_powers(model, spanning, ys)
        if kept >= count - p >= 0 if exponent is None else kept > count - p - taken > 0:
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


def _stack_responses(model: FlatModel) -> tuple[Any, float, list[Any], list[Any]]:
    """Return the responses of all rows, their size, and the columns of flat coordinates and of other functions.

    Raises:
        NotReadError: something flat is in a location otherwise than as a coefficient.
    """
    atoms = model.atoms
    found: list[tuple[Response, int]] = []
    for law, rows in model.located:
        found += [(one, rows.count) for one in read_responses(DENSITIES[law.name], law, rows)]
    keys = list(dict.fromkeys(key for one, _ in found for key in one.location))
    for key in keys:
        if any(atom[0] in model.flat for atom in key) and (len(key) > 1 or key[0] not in atoms):
            raise NotReadError("a location that is not linear")
        is_function = len(key) > 1 or key[0] not in atoms
        if is_function and any(name in atom[0] for atom in key for name in model.flat):
            raise NotReadError("a function of something flat in a location")

    def column(key: tuple[Atom, ...]) -> Any:
        return [x for one, count in found for x in fill_column(one.location.get(key, ZERO), count)]

    y = np.array([x for one, _ in found for x in one.y], dtype=object)
    others = [np.array(column(key), dtype=object) for key in keys if not (len(key) == 1 and key[0] in atoms)]
    size = max((one.size for one, _ in found), default=0.0)
    return y, size, [np.array(column((atom,)), dtype=object) for atom in atoms], others


def _count_kept_powers(model: FlatModel, spanning: Sequence[Any], ys: Any) -> Fraction | float:
    """Return k where residuals keep densities of a scale below sigma**k times their scales: oo of light tails.

    Let M of N rows vanish together at most. Integrated over p coefficients by rows of the smallest residuals, N - M of
    the others are off at every state: int prod_n h(r_n/sigma)/sigma dbeta <= C sigma**((N - M)(nu + 1) - (N - p)).
    """
    tails: list[Fraction] = []
    for law, _ in model.located:
        row = DENSITIES[law.name]
        if not row.tail:
            continue
        tail = Number(Fraction(1)) if row.tail == "1" else law.arguments[row.arguments.index(row.tail)]
        if not isinstance(tail, Number):
            return Fraction(-1)
        tails.append(tail.value)
    lines = stack_columns([*spanning, ys], len(ys))
    return count_nonzero_rows(lines, len(spanning) + 1, model.rows.clear) * (1 + min(tails)) if tails else inf


def _is_in_span(columns: Sequence[Any], ys: Any, count: int) -> bool:
    """Whether y is exactly in the span of independent columns."""
    found = find_null_vector(stack_columns([*columns, ys], count), len(columns) + 1)
    return found is not None and found[-1] != 0


def refute_at_zero_scale(target: Target, rows: Rows) -> Infinite | None:
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
    laws = [*((law, rows.take_one_row()) for law in prior[0].laws), *((law, rows) for law in likelihood[0].laws)]
    lines = {b.name for b in declared.blocks if b.domain.name is DomainName.REAL and b.constraint is None}
    for block in (b for b in declared.blocks if b.domain.name in HALF_LINE and b.shape == SCALAR):
        sigma = Symbol(block.name, SCALAR, Role.BLOCK)
        log = Apply("log", (sigma,), SCALAR)
        own = [(law, at) for law, at in laws if DENSITIES[law.stated.name].location and get_scale(law.stated) == sigma]
        others = [law for law, _ in laws if all(law is not one for one, _ in own)]
        beside = [term for _, term in (*prior[0].rest, *likelihood[0].rest) if term != log]
        beside += [term for law in others for _, term in list_summands(law, target)]
        powers = [*prior[0].rest, *((rows.count * c, term) for c, term in likelihood[0].rest)]
        power = sum((c for c, term in powers if term == log), Fraction(0))
        try:
            residuals = [form for law, at in own for form in _read_residuals(law, at)]
            at_zero = [substitute(term, {block.name: Number(Fraction(0))}) for term in beside]
        except (NotReadError, ZeroDivisionError):
            continue
        keys = list(dict.fromkeys(key for form in residuals for key in form if key))
        columns = [np.array([form.get(key, ZERO) for form in residuals], dtype=object) for key in keys]
        spanning = select_independent_columns(columns, len(residuals), rows.clear)
        if spanning is None or not {key[0][0] for key in keys} <= lines or require_smooth(at_zero, declared).open:
            continue
        ends = np.array([form[()] for form in residuals], dtype=object)
        fits = not residuals or _is_in_span(spanning, ends, len(residuals))
        if fits and power + len(spanning) - len(residuals) <= -1:
            return Infinite("power counting", (("towards", f"{block.name} -> 0"),))
    return None


def _read_residuals(law: Law, rows: Rows) -> list[Sum]:
    """Return the residuals of a law, row by row.

    Raises:
        NotReadError: they are not linear in coordinates, or its tail is one of the state.
    """
    row, stated = DENSITIES[law.stated.name], law.stated
    own = {row.arguments[0], row.location, row.scale}
    others = [x for name, x in zip(row.arguments, stated.arguments, strict=True) if name not in own]
    if law.is_of_entries or not row.of_entry or any(map(depends_on_state, others)):
        raise NotReadError("a density of another form")
    return [read_residual(one, n) for one in read_responses(row, stated, rows) for n in range(rows.count)]

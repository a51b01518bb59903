"""Densities of data that are bounded at the data of a build, and data that may lie in the null set of a proof.

A density of (y - mu)/sigma over sigma that falls as an exponential is bounded, over all its rows, whatever mu and sigma
are, where mu is a sum of functions of the state times columns of the data and y is in the span of none of these: with r
its distance, prod_n p_n <= C sigma**-N exp(-r/sigma).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from flint import arb, fmpq

from recipe_compiler.formula.densities import DENSITIES, Density
from recipe_compiler.formula.expression import Formula, MatMul, Number, Role, Symbol
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity, Target
from recipe_compiler.verify.builds.products import Law, Product, overlap, slots
from recipe_compiler.verify.from_data.columns import NotReadError, Rows, Sum, full
from recipe_compiler.verify.from_data.ranks import (
    are_independent,
    fewest_off,
    independent_columns,
    is_general,
    matrix,
)


def why_bounded(product: Product, law: Law, rows: Rows) -> str:
    """Return what of the data shows that a density is bounded, in words; empty where nothing does."""
    row = DENSITIES[law.stated.name]
    if product.is_mixed or law.is_of_entries or not row.location:
        return ""
    try:
        own = rows.under(product.guards)
        groups = list(_groups(row, law.stated, own))
        shown = all(_is_apart(row, law.stated, part) for part in groups)
    except NotReadError:
        return ""
    of = text(law.stated.arguments[0])
    return f"residuals of {of} that no state makes {'zero, most of them' if row.tail else 'all zero'}" if shown else ""


def _argument(row: Density, law: StatedDensity, name: str) -> Formula:
    return law.arguments[row.arguments.index(name)]


def _groups(row: Density, law: StatedDensity, rows: Rows) -> Iterator[Rows]:
    """Yield the rows of each scale: all of them, or those at each position of an index field."""
    match _argument(row, law, row.scale):
        case MatMul(Symbol(field, _, Role.INDEX), scales) if not dependence(scales).data and rows.is_whole:
            places = np.array([[float(x) for x in full(line, rows.count)] for line in rows.data[field][0]])
            position = places.argmax(axis=0)
            yield from (rows.at(np.flatnonzero(position == k)) for k in np.unique(position))
        case scale:
            of_rows = [x for line in rows.entries(scale) for one in line for x in one.values()]
            if dependence(scale).data and not (len(of_rows) == 1 and all(x > 0 for x in full(of_rows[0], rows.count))):
                raise NotReadError("a scale that depends on the data otherwise than by a positive factor")
            if rows.count:
                yield rows


@dataclass(frozen=True, slots=True)
class Response:
    """What a density is of: y less what is known of its location, the size of y, and the rest of its location."""

    y: Any
    size: float
    location: Sum


def responses(row: Density, law: StatedDensity, rows: Rows) -> list[Response]:
    """Return what a density is of, for each entry.

    Raises:
        NotReadError: it is not read.
    """
    first, location = rows.entries(law.arguments[0]), rows.entries(_argument(row, law, row.location))
    flat = [one for line in first for one in line]
    locations = [dict(one) for line in location for one in line]
    count = max(len(flat), len(locations))
    flat, locations = flat * (count // len(flat)), [dict(one) for one in locations * (count // len(locations))]
    found: list[Response] = []
    for one, mu in zip(flat, locations, strict=True):
        if one.keys() - {()}:
            raise NotReadError("a density of the state")
        y = full(one.get((), fmpq(0)), rows.count)
        if row.of_logarithm:
            y = np.array([_log(x) for x in y], dtype=object)
        known = mu.pop((), None)
        size = max((abs(float(x)) for x in y), default=0.0)
        found.append(Response(y if known is None else y - known, size, mu))
    return found


def _log(x: Any) -> Any:
    if not x > 0:
        raise NotReadError("a logarithm of a number that is not positive")
    return arb(x).log()


def _is_apart(row: Density, law: StatedDensity, rows: Rows) -> bool:
    """Whether residuals keep a density bounded, whatever locations and scale are."""
    found = responses(row, law, rows)
    columns = independent_columns([x for one in found for x in one.location.values()], rows.count, rows.clear)
    if columns is None:
        return False
    width = len(columns) + len(found)
    lines = matrix([*columns, *(one.y for one in found)], rows.count)
    if not row.tail:
        return are_independent(lines, width, rows.clear, found[-1].size)
    tail = Number(Fraction(1)) if row.tail == "1" else _argument(row, law, row.tail)
    if (
        not isinstance(tail, Number)
        or len(found) != 1
        or not rows.is_whole
        or not are_independent(lines, width, rows.clear, found[0].size)
    ):
        return False
    return fewest_off(lines, width) * (1 + tail.value) >= rows.count


def why_not_general(product: Product, law: Law, rows: Rows) -> str:
    """Return why data may lie in the null set of a proof for almost every data set; empty where nothing is seen.

    Equal data, data on a hyperplane of as few coefficients as a location has, zeros.
    """
    row, first = DENSITIES[law.stated.name], law.stated.arguments[0]
    of = text(first)
    try:
        own = rows.under(product.guards)
    except NotReadError as error:
        return str(error)
    if own.count == 0:
        return ""
    try:
        entries = [one for line in own.entries(first) for one in line]
        values = [full(one.get((), fmpq(0)), own.count) for one in entries]
    except NotReadError:
        return ""
    if len(values) > 1 and not law.is_of_entries:
        seen = {tuple(float(x) for x in line) for line in zip(*values, strict=True)}
        if len(seen) < own.count:
            return f"{of} has equal rows"
        lines, width = matrix([np.array([fmpq(1)] * own.count, dtype=object), *values], own.count), len(values) + 1
        return "" if own.count < width or are_independent(lines, width, own.clear) else f"{of} lies in a plane"
    ones = np.array([fmpq(1)] * own.count, dtype=object)
    tried: list[tuple[list[Any], Any, float, str]] = [([ones], values[0], 0.0, "equal")]
    if not row.location:
        tried.append(([], values[0], 0.0, "zero"))
    else:
        try:
            for one in responses(row, law.stated, own):
                columns = independent_columns([*one.location.values()], own.count, own.clear)
                if columns is None:
                    continue
                words = "equal" if len(columns) == 1 and _is_constant(columns[0]) else "on a line"
                if own.count <= len(columns):  # any data of so few rows fit, and may lie at what priors favour
                    return f"as few {of} as coefficients"
                tried = [*tried[1:], (columns, one.y, one.size, words)]
        except NotReadError:
            if dependence(_argument(row, law.stated, row.location)).data:
                return f"the location of {of} is not linear in columns"
    for columns, y, size, words in tried:
        if not is_general(matrix([*columns, y], own.count), len(columns) + 1, own.clear, size):
            return f"some {of} are {words}"
    return ""


def _is_constant(column: Any) -> bool:
    return not isinstance(column, np.ndarray) or all(x == column[0] for x in column)


def meeting_laws(left: Sequence[tuple[Product, Law]]) -> Iterator[str]:
    """Yield which densities share a scale and a location: data of both may fit together at one value of these."""
    stated = dict.fromkeys((law.stated, product.guards) for product, law in left)
    for (one, _), (other, _) in combinations(stated, 2):
        if all(overlap(_coordinates(one, part), _coordinates(other, part)) for part in ("scale", "location")):
            yield f"densities of {text(one.arguments[0])} and {text(other.arguments[0])} share a scale and a location"


def _coordinates(law: StatedDensity, part: str) -> frozenset[tuple[str, tuple[int, ...] | None]]:
    row = DENSITIES[law.name]
    name = row.scale if part == "scale" else row.location
    if not name:
        return frozenset()
    argument = _argument(row, law, name)
    return frozenset(slot for slot in slots(argument) if slot[0] in dependence(argument).blocks)


def shared_scale(product: Product, law: Law, target: Target) -> str:
    """Return which scale of a component of a mixture is one of a prior as well; empty where none is.

    Where it vanishes coefficients meet their locations, and fewer data have to fit.
    """
    row = DENSITIES[law.stated.name]
    if not product.is_mixed or not row.scale:
        return ""
    own = {*dependence(_argument(row, law.stated, row.scale)).blocks}
    priors = [one for one in target.stated.densities if one.entry == "log_prior"]
    used = {name for one in priors for argument in one.arguments[1:] for name in dependence(argument).blocks}
    return f"{', '.join(sorted(own & used))} is a scale of coefficients, too" if own & used else ""

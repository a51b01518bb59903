"""Densities that are bounded at the data of a build, and data that may lie in the null set that a proof excludes.

A density of (y - mu)/sigma over sigma that falls as an exponential is bounded, over all its rows, whatever mu and sigma
are, where mu is a sum of functions of the state times columns of the data and y is in the span of none of these: with r
its distance, prod_n p_n <= C sigma**-N exp(-r/sigma).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from flint import arb, fmpq
from scipy.linalg import null_space

from recipe_compiler import limits
from recipe_compiler.formula.build import multiply
from recipe_compiler.formula.densities import DENSITIES, Density
from recipe_compiler.formula.expression import Formula, MatMul, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity
from recipe_compiler.verify.builds.bounded_terms import Limits
from recipe_compiler.verify.builds.products import Law, Product
from recipe_compiler.verify.builds.proper_prior import Posterior
from recipe_compiler.verify.builds.row_laws import find_row_block
from recipe_compiler.verify.from_data.columns import Atom, NotReadError, Rows, Sum, fill_column
from recipe_compiler.verify.from_data.ranks import (
    Matrix,
    are_apart,
    are_independent,
    count_nonzero_rows,
    select_independent_columns,
    stack_columns,
)
from recipe_compiler.verify.integrability.bounded import bounded_above

ZERO = fmpq(0)


def explain_bound(product: Product, law: Law, rows: Rows) -> str:
    """Return which property of the data bounds a density, in words; empty if none does."""
    row = DENSITIES[law.stated.name]
    if product.is_mixed or law.is_of_entries or not row.location:
        return ""
    try:
        own = rows.select_rows(product.guards)
        groups = list(_split_by_scale(row, law.stated, own))
        shown = all(_is_bounded_by_residuals(row, law.stated, part) for part in groups)
    except NotReadError:
        return ""
    of = text(law.stated.arguments[0])
    return f"residuals of {of} that no state makes {'zero, most of them' if row.tail else 'all zero'}" if shown else ""


def _get_argument(row: Density, law: StatedDensity, name: str) -> Formula:
    return law.arguments[row.arguments.index(name)]


def _split_by_scale(row: Density, law: StatedDensity, rows: Rows) -> Iterator[Rows]:
    """Yield the rows with a common scale: all rows, or those at each position of an index field."""
    match _get_argument(row, law, row.scale):
        case MatMul(Symbol(field, _, Role.INDEX), scales) if not dependence(scales).data and rows.is_whole:
            places = np.array([[float(x) for x in fill_column(line, rows.count)] for line in rows.data[field][0]])
            position = places.argmax(axis=0)
            yield from (rows.at(np.flatnonzero(position == k)) for k in np.unique(position))
        case scale:
            of_rows = [x for line in rows.entries(scale) for one in line for x in one.values()]
            if dependence(scale).data and not (
                len(of_rows) == 1 and all(x > 0 for x in fill_column(of_rows[0], rows.count))
            ):
                raise NotReadError("a scale that depends on the data otherwise than by a positive factor")
            if rows.count:
                yield rows


@dataclass(frozen=True, slots=True)
class Response:
    """The response of a density: y less the known part of its location, the size of y, and the rest of the location."""

    y: Any
    size: float
    location: Sum


def read_responses(row: Density, law: StatedDensity, rows: Rows) -> list[Response]:
    """Return the responses of a density, entry by entry.

    Raises:
        NotReadError: it is not read.
    """
    first, location = rows.entries(law.arguments[0]), rows.entries(_get_argument(row, law, row.location))
    flat = [one for line in first for one in line]
    locations = [dict(one) for line in location for one in line]
    count = max(len(flat), len(locations))
    flat, locations = flat * (count // len(flat)), [dict(one) for one in locations * (count // len(locations))]
    found: list[Response] = []
    for one, mu in zip(flat, locations, strict=True):
        for key in one.keys() - {()}:
            mu[key] = mu.get(key, ZERO) - one[key]
        y = fill_column(one.get((), ZERO), rows.count)
        if row.of_logarithm and one.keys() - {()}:
            raise NotReadError("a density of the logarithm of a state")
        if row.of_logarithm:
            y = np.array([_take_log(x) for x in y], dtype=object)
        known = mu.pop((), None)
        size = max((abs(float(x)) for x in y), default=0.0)
        found.append(Response(y if known is None else y - known, size, mu))
    return found


def _take_log(x: Any) -> Any:
    if not x > 0:
        raise NotReadError("a logarithm of a number that is not positive")
    return arb(x).log()


def _is_bounded_by_residuals(row: Density, law: StatedDensity, rows: Rows) -> bool:
    """Whether residuals keep a density bounded, whatever locations and scale are."""
    found = read_responses(row, law, rows)
    columns = select_independent_columns([x for one in found for x in one.location.values()], rows.count, rows.clear)
    if columns is None:
        return False
    width = len(columns) + len(found)
    lines = stack_columns([*columns, *(one.y for one in found)], rows.count)
    if not row.tail:
        return are_independent(lines, width, rows.clear, found[-1].size)
    tail = Number(Fraction(1)) if row.tail == "1" else _get_argument(row, law, row.tail)
    if (
        not isinstance(tail, Number)
        or len(found) != 1
        or not rows.is_whole
        or not are_independent(lines, width, rows.clear, found[0].size)
    ):
        return False
    return count_nonzero_rows(lines, width, rows.clear) * (1 + tail.value) >= rows.count


# Residuals that vanish together


@dataclass(frozen=True, slots=True)
class VanishingResiduals:
    """Residuals c + a . theta of a law that vanish where scales do: all of them, or any of them where `apart`."""

    of: str
    forms: tuple[Sum, ...]
    apart: bool
    scale: Formula | None
    """Equal for residuals that vanish together."""

    @property
    def coordinates(self) -> frozenset[Atom]:
        """The coordinates in the forms."""
        return frozenset(atom for form in self.forms for key in form for atom in key)


def explain_unbounded(posterior: Posterior, left: Sequence[tuple[Product, Law]], rows: Rows) -> tuple[str, bool]:
    """Return why unbounded densities may be infinite at the data (empty if they are not), and whether that is exact.

    int prod_n h((c_n + a_n . theta)/s_n)/s_n p(theta) dtheta is bounded, whatever the scales are, if p is bounded and
    sets of residuals that vanish together, those of one scale all or none, vanish at no theta or have independent a_n:
    in the order of their scales the independent ones are integrated over, and the first that are not keep the others
    from 0. Coefficients of a prior with a scale are residuals, too. With normal(y, m, s)
    as a component of a mixture two equal data have m - y_1 = m - y_2 = 0: then it is s**-1.
    """
    try:
        own = _Residuals(posterior, rows)
        own.read(left)
        exact = own.is_exact and rows.is_whole
        for part in _group_by_coordinates(own.found):
            why = find_dependent_residuals(part, rows)
            if why:
                return why, False
            exact = exact and len(part) <= limits.CASES and not any(one.apart for one in part)
    except NotReadError as error:
        return str(error), False
    return "", exact


class _Residuals:
    """Residuals of unbounded densities, and of the priors of their coefficients."""

    def __init__(self, posterior: Posterior, rows: Rows) -> None:
        self.posterior, self.rows, self.found = posterior, rows, list[VanishingResiduals]()
        self.is_exact = len(posterior.parts) == 1
        self.limits = Limits(posterior.target.declarations)
        self.scales: set[str] = set()

    def read(self, left: Sequence[tuple[Product, Law]]) -> None:
        """Read laws of data, and the priors of their coefficients.

        Raises:
            NotReadError: a residual is not linear in coefficients, or a prior may favour some of their values.
        """
        known: dict[object, tuple[Product, Law]] = {}
        times = Counter[object]()
        for product, law in left:
            row = DENSITIES[law.stated.name]
            same = (law.stated.arguments[0], _get_argument(row, law.stated, row.location) if row.location else row.name)
            times[id(product), same] += 1  # a factor twice is no component of a mixture
            alone = None if product.is_mixed else id(product)
            known.setdefault((same, product.guards, times[id(product), same], alone), (product, law))
        for product, law in known.values():
            self._add_residuals(law, self.rows.select_rows(product.guards), mixed=product.is_mixed)
        done: set[str] = set()
        while names := self._collect_coefficients() - done:
            for name in sorted(names):
                self._read_prior(name)
            done |= names
        given = (x for block, law, _, _ in self._list_priors() if block not in done for x in law.stated.arguments[1:])
        beside = {*self.scales, *self.posterior.absorbed, *(name for x in given for name in dependence(x).blocks)}
        declared = {block.name for block in self.posterior.target.declarations.blocks}
        self.is_exact &= not done & beside and self.scales <= declared

    def _list_priors(self) -> Iterator[tuple[str, Law, Rows, bool]]:
        """Yield the prior laws of blocks, of latent blocks row by row, and whether each is a component of a mixture."""
        for parts in self.posterior.parts:
            for (block, _), law in parts.laws.items():
                yield block, Law(law), self.rows.take_one_row(), len(self.posterior.parts) > 1
        for product in self.posterior.likelihood:
            for law in product.laws:
                if block := find_row_block(law):
                    yield block, law, self.rows.select_rows(product.guards), False

    def _collect_coefficients(self) -> set[str]:
        return {atom[0] for one in self.found for atom in one.coordinates}

    def _read_prior(self, name: str) -> None:
        """Read the prior of a coefficient: a bounded density, or residuals over a scale."""
        declared = self.posterior.target.declarations
        own = [one for one in self._list_priors() if one[0] == name]
        for _, law, rows, mixed in own:
            self._add_residuals(law, rows, mixed=mixed)
        for blocks, terms in (group for parts in self.posterior.parts for group in parts.groups if not own):
            if name in {block.name for block in blocks}:
                self.is_exact = False
                inside = (bounded_above(multiply(Number(c), x, SCALAR), declared) for c, x in terms)
                if len(blocks) > 1 or not all(inside):
                    raise NotReadError(f"the prior of {name} may favour some of its values")

    def _add_residuals(self, law: Law, rows: Rows, *, mixed: bool) -> None:
        """Add the residuals of a law; a bounded law of numbers has none."""
        row, (first, *others) = DENSITIES[law.stated.name], law.stated.arguments
        if self.limits.bound_law(law) == frozenset():
            self.scales |= {name for x in others for name in dependence(x).blocks}
            return
        of = text(first)
        if rows.count == 0:
            return
        if row.matrices or not row.location:
            if not dependence(first).data or find_row_block(law):
                raise NotReadError(f"the prior of {of} may favour some of its values")
            self.is_exact = False
            _require_general_position(row, law, rows)
            return
        scale = _get_argument(row, law.stated, row.scale)
        self.scales |= {*dependence(scale).blocks}
        apart = mixed or law.is_of_entries or bool(row.tail) or scale.shape != SCALAR
        try:
            parts = [rows] if apart else list(_split_by_scale(row, law.stated, rows))
        except NotReadError:
            parts, apart = [rows], True
        for part in parts:
            forms = tuple(
                read_residual(one, n) for one in read_responses(row, law.stated, part) for n in range(part.count)
            )
            same = [one for one in self.found if one.scale == scale] if not apart and not dependence(scale).data else []
            self.found = [one for one in self.found if one not in same]
            joined = tuple(form for one in same for form in one.forms)
            of = ", ".join(dict.fromkeys([*(one.of for one in same), of]))
            self.found.append(VanishingResiduals(of, (*joined, *forms), apart, None if apart else scale))


def read_residual(response: Response, n: int) -> Sum:
    """Return the residual of one row.

    Raises:
        NotReadError: it is not linear in coordinates.
    """
    found: Sum = {(): response.y[n]}
    for key, column in response.location.items():
        x = column[n] if isinstance(column, np.ndarray) else column
        if x != 0 and (len(key) != 1 or not key[0][0].isidentifier()):
            raise NotReadError("a location that is not linear in coefficients")
        if x != 0:
            found[key] = x
    return found


def _require_general_position(row: Density, law: Law, rows: Rows) -> None:
    """Raise NotReadError if the data of a density of another form are not in general position: equal, 0, in a plane."""
    first, *others = law.stated.arguments
    entries = [one for line in rows.entries(first) for one in line]
    values = [fill_column(one.get((), ZERO), rows.count) for one in entries]
    ones = np.array([fmpq(1)] * rows.count, dtype=object)
    if not row.location and any(dependence(x).data for x in others):
        raise NotReadError(f"a density of {text(first)} whose arguments depend on the data")
    columns = [ones]
    if row.location and rows.count > 1:
        inside = [x for one in read_responses(row, law.stated, rows) for x in one.location.values()]
        columns = select_independent_columns([ones, *inside], rows.count, rows.clear) or columns
    numbers = [[float(x) for x in line] for line in values]
    if not row.matrices or rows.count == 1:
        numbers = [[x for line in numbers for x in line]]
    if any(0 in line or len({*line}) < len(line) for line in numbers):
        raise NotReadError(f"some {text(first)} are equal, or 0")
    for k in range(len(values)) if len(values) > 1 else ():
        turned = [*columns, *values[k + 1 :], *values[: k + 1]]
        if not are_apart(stack_columns(turned, rows.count), len(turned), rows.clear):
            raise NotReadError(f"some {text(first)} lie in a plane")


def _group_by_coordinates(found: Sequence[VanishingResiduals]) -> list[list[VanishingResiduals]]:
    """Return residuals in groups that share coordinates."""
    parts: list[list[VanishingResiduals]] = []
    for one in found:
        own = [part for part in parts if any(one.coordinates & other.coordinates for other in part)]
        parts = [*(part for part in parts if part not in own), [one, *(other for part in own for other in part)]]
    return parts


def find_dependent_residuals(part: Sequence[VanishingResiduals], rows: Rows) -> str:
    """Return which residuals vanish together though their forms are dependent; empty where none do."""
    keys = sorted(frozenset[Atom]().union(*(one.coordinates for one in part)))
    whole = [one for one in part if not one.apart]
    whole = whole if len(whole) <= limits.CASES else []
    single = [one for one in part if one not in whole]
    others = _stack_forms(single, keys)
    for chosen in (found for k in range(len(whole) + 1) for found in combinations(whole, k)):
        lines = _stack_forms(chosen, keys)
        if limits.ROWS < len(lines) <= len(keys):
            return f"more than {limits.ROWS} coefficients are not looked at"
        if not are_independent([list(x) for x in zip(*lines, strict=True)][:-1], len(lines), rows.clear):
            if _has_no_zero(lines, len(keys), rows.clear):
                continue
            return f"some {_join_names(chosen)} may be fitted exactly"
        if others and not _is_general_on_zeros(lines, others, len(keys), rows.clear):
            return f"some {_join_names([*chosen, *single])} may be fitted exactly: they are equal, or on a line"
    return ""


def _stack_forms(found: Sequence[VanishingResiduals], keys: Sequence[Atom]) -> Matrix:
    """Return the residuals as rows [a c]."""
    forms = [form for one in found for form in one.forms]
    return [[*(form.get((key,), ZERO) for key in keys), form[()]] for form in forms]


def _has_no_zero(lines: Matrix, width: int, clear: float) -> bool:
    """Whether residuals [a c] vanish at no theta."""
    *columns, ends = (np.array(x, dtype=object) for x in zip(*lines, strict=True))
    spanning = select_independent_columns(columns, len(lines), clear)
    if spanning is None:
        return False
    size = max(abs(float(x)) for x in ends)
    return are_independent(stack_columns([*spanning, ends], len(lines)), len(spanning) + 1, clear, size)


def _join_names(found: Sequence[VanishingResiduals]) -> str:
    return ", ".join(dict.fromkeys(one.of for one in found))


def _is_general_on_zeros(lines: Matrix, others: Matrix, width: int, clear: float) -> bool:
    """Whether no dependent residuals among the others vanish, up to rounding, where independent ones do."""
    (A, c), (B, d) = (
        np.split(np.array(one, dtype=float).reshape(-1, width + 1), [width], axis=1) for one in (lines, others)
    )
    if len(A):
        theta = np.linalg.lstsq(A, -c, rcond=None)[0]
        B, d = B @ null_space(A), d + B @ theta
    rank = int(np.linalg.matrix_rank(B)) if B.size else 0
    if rank == len(B):
        return True
    B = B @ np.linalg.svd(B, full_matrices=False)[2][:rank].T if rank else B[:, :0]
    return are_apart(np.hstack([B, d]).tolist(), rank + 1, clear)

"""Conditions under which a traced step is defined for small step sizes, at fixed sizes: shown, assumed, or open."""

from collections.abc import Callable
from fractions import Fraction

from sympy import Expr

from recipe_compiler.algebra.positivity.prove import Shown, scalar, semidefinite
from recipe_compiler.algebra.positivity.region import Region
from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS, Corner, Function
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.lint.visited import NotFollowedError, Visited, name_draw
from recipe_compiler.trace.of_operations import TraceReading
from recipe_compiler.trace.operations import Evaluation, Partial, Trace
from recipe_compiler.trace.scalars import NO_DRAW, Poly, series_expression, value_of
from recipe_compiler.trace.series import NoExpansionError, Series

NEEDS = {"division": "!=", "root": ">", "power": ">"}
"""What the base of a power has to be."""


Shows = Callable[[Partial], frozenset[str] | None]
"""What shows that an operation is defined and smooth, None if nothing does."""
ShowsCovariance = Callable[[tuple[int, ...], int], frozenset[str] | None]
"""What shows that a covariance, by its entries and the number of its rows, is one."""


def require_small_steps(trace: Trace, reading: TraceReading, region: Region) -> Obligations:
    """Return what is used, and what is not shown, of every operation that is not defined everywhere."""
    return _collect_obligations(
        trace,
        lambda partial: _prove_defined(partial, reading, region),
        lambda entries, n: _prove_covariance(entries, n, reading, region),
    )


def require_every_step_size(trace: Trace, at: Evaluation[Expr], visited: Visited, region: Region) -> Obligations:
    """Return what is used, and what is not shown, of every such operation at every step size and for all draws."""
    draws = tuple(map(name_draw, range(trace.draws)))

    def sign(place: int, op: str, offset: int) -> frozenset[str] | None:
        """Return what shows the sign of an operation, by its form or, where no draw is in it, by the region."""
        try:
            x = visited.plain(at.value(place)) + offset
        except NotFollowedError:
            return None
        if x.is_positive or (op == "!=" and x.is_nonzero):
            return frozenset()
        return None if x.has(*draws, *visited.opaque) else _prove_sign(x, op, region)

    def shown(partial: Partial) -> frozenset[str] | None:
        if partial.what == "min":  # of the ratio alone, which need not be smooth
            return frozenset()
        function = FUNCTIONS.get(partial.what)
        if function is not None and (function.corner is not Corner.NONE or any(need.cosine for need in function.needs)):
            return None
        needs = [(need.op, need.offset) for need in function.needs] if function else [(NEEDS[partial.what], 0)]
        found = [sign(partial.argument, *need) for need in needs]
        return None if None in found else frozenset[str]().union(*(one for one in found if one is not None))

    def covariance(entries: tuple[int, ...], n: int) -> frozenset[str] | None:
        flat = [visited.plain(at.value(place)) for place in entries]
        return _prove_semidefinite(tuple(tuple(flat[i : i + n]) for i in range(0, len(flat), n)), region)

    return _collect_obligations(trace, shown, covariance)


def _collect_obligations(trace: Trace, shown: Shows, covariance: ShowsCovariance) -> Obligations:
    """Return the obligations of partial operations and covariances, by deciders of each."""
    found = [(f"the {one.what} at line {one.line} is defined and smooth", shown(one)) for one in trace.partial]
    words = "the covariance of multivariate_normal is positive semidefinite"
    pairs = [*found, *((words, covariance(entries, len(own))) for own, entries in trace.groups)]
    given = frozenset(trace.given).union(*(one for _, one in pairs if one is not None))
    return Obligations(given, tuple(dict.fromkeys(what for what, one in pairs if one is None)))


def _prove_defined(partial: Partial, reading: TraceReading, region: Region) -> frozenset[str] | None:
    """Return the facts by which an operation is defined for small eps; None if it is not proved."""
    try:
        x = reading.S.leading(reading.of(partial.argument))
    except NoExpansionError:
        return None
    if partial.what in FUNCTIONS or partial.what == "min":
        return _prove_function_defined(FUNCTIONS.get(partial.what, FUNCTIONS["abs"]), x, region)
    if not x.parts:
        return frozenset() if partial.what == "root" else None
    op = ">=" if partial.what == "root" and sum(map(len, x.parts.values())) == 1 else NEEDS[partial.what]
    return _prove_leading_sign(x, op, region)


def _prove_function_defined(function: Function, x: Series[Poly], region: Region) -> frozenset[str] | None:
    """Return the facts by which an elementwise function is defined and smooth at its argument; None if not proved."""
    given: set[str] = set()
    for need in function.needs:
        if need.offset or need.cosine:  # the argument at eps = 0 decides, where it does not grow
            first = x.parts.get(Fraction(0), {})
            known = x.low >= 0 and set(first) <= {NO_DRAW}
            found = _prove_sign(need.of(value_of(first)), need.op, region) if known else None
        else:
            found = _prove_leading_sign(x, need.op, region)
        if found is None:
            return None
        given |= found
    if function.corner is Corner.NONE:
        return frozenset(given)
    off = _prove_leading_sign(x, "!=", region) if x.low == 0 else None
    return None if off is None else off | given


def _prove_leading_sign(x: Series[Poly], op: str, region: Region) -> frozenset[str] | None:
    """Return the facts that prove the sign of the lowest power of an expansion without draws; None if not proved."""
    if not x.parts or set(x.parts[x.low]) != {NO_DRAW}:
        return None
    return _prove_sign(value_of(x.parts[x.low]), op, region)


def _prove_sign(c: Expr, op: str, region: Region) -> frozenset[str] | None:
    found = scalar(c, op, region)
    return None if found is None else found.given


def _prove_covariance(entries: tuple[int, ...], n: int, reading: TraceReading, region: Region) -> frozenset[str] | None:
    """Return the facts by which the leading part of a covariance is positive semidefinite; None if not proved."""
    try:
        read = [reading.of(place) for place in entries]
    except NoExpansionError:
        return None
    low = min((x.low for x in read if x.parts), default=Fraction(0))
    if any(power != low or set(terms) != {NO_DRAW} for x in read for power, terms in x.parts.items()):
        return None
    flat = [value_of(x.parts.get(low, {})) for x in read]
    a = tuple(tuple(flat[i * n : (i + 1) * n]) for i in range(n))
    return _prove_semidefinite(a, region)


def _prove_semidefinite(a: Rows, region: Region) -> frozenset[str] | None:
    """Return the facts by which a symmetric matrix is positive semidefinite; None if not proved."""
    try:
        found = semidefinite(a, region)
    except NoNormalFormError:
        return None
    return found.given if isinstance(found, Shown) else None


def is_symmetric(entries: tuple[int, ...], n: int, reading: TraceReading) -> bool:
    """Whether C_ij = C_ji of an n x n covariance, given row by row, as far as the normal form sees it."""
    flat = [series_expression(reading.of(place), reading.meaning.eps) for place in entries]
    return all(is_zero(flat[i * n + j] - flat[j * n + i]) for i in range(n) for j in range(i))

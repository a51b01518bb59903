"""The moments of a claimed step at fixed sizes, by the second engine: its formulas are read entry by entry.

Nothing is shared with index notation but the arithmetic of series.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Protocol, TypeVar, cast

from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.matrices import Rows, identity
from recipe_compiler.algebra.scalars.symbols import coordinates, extent, label, positions
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import replaced
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.trace.moments import Moments, moments
from recipe_compiler.trace.scalars import Poly, PolyDraw, Scalars, poly_arithmetic
from recipe_compiler.trace.series import TWO, ZERO, NoExpansionError, Series
from recipe_compiler.trace.stated_step import ClaimedDraw, Step

TOPS = (TWO, 2 * TWO)
"""Powers of eps up to which moments are read: the second where the first does not tell enough of them."""


def scalar_moments(step: Step, sizes: Sizes, only: Sequence[int] = (), least: Fraction = TWO) -> Moments[Poly]:
    """Return E[dz] (n) and Cov[dz] (n x n) of a claimed step at fixed sizes, by the second engine.

    They are known up to a power `least` of eps if possible, and are those of all coordinates, or of those of some
    blocks `only`.

    Raises:
        NoExpansionError: no expansion about eps = 0 is known, or a third moment of a gradient's noise is needed.
        entries.NotScalarisableError, matrices.TooLargeError: as for `entries.rows`.
    """
    return read_precisely(lambda top: _expand_moments(step, Setting(step.declarations, sizes), top, only), least)


class Known(Protocol):
    """What was read of a step, with some powers of eps."""

    @property
    def known(self) -> Fraction:
        """The highest power up to which its moments are known."""
        ...


R = TypeVar("R", bound=Known)


def read_precisely(read: Callable[[Fraction], R], least: Fraction) -> R:
    """Return a reading that is known up to a power of eps if possible, keeping as many powers as that takes.

    Raises:
        NoExpansionError: no expansion about eps = 0 is known.
    """
    few, many = TOPS
    try:
        found = read(few)
        if found.known >= least:
            return found
    except NoExpansionError:  # of a root of a high power
        pass
    return read(many)


def _expand_moments(step: Step, at: Setting, top: Fraction, only: Sequence[int]) -> Moments[Poly]:
    """Return the moments of dz from the formulas of a step, keeping powers of eps up to `top`."""
    read = Scalars(poly_arithmetic(top), Symbol("eps", positive=True), {})
    new: dict[Expr, Expr] = {}
    values: dict[str, tuple[Expr, ...]] = {}
    for a in step.order:
        block = step.declarations.blocks[a]
        values[block.name] = tuple(x for row in _formula_entries(step.new[a], at, new) for x in row)
        places = positions(block.shape, at.sizes)
        new |= {_next_symbol(block.name, here): x for here, x in zip(places, values[block.name], strict=True)}
    draws = [_read_draw(item, at, read, new) for item in step.draws]
    blocks = [step.declarations.blocks[a] for a in only or range(len(step.new))]
    z = (x for block in blocks for x in coordinates(block, at.sizes))
    after = (x for block in blocks for x in values[block.name])
    change = [read.S.subtract(read.series(x), read.constant(y)) for x, y in zip(after, z, strict=True)]
    if any(dz.low < 0 for dz in change):
        raise NoExpansionError("the step grows as eps becomes small")
    return moments(read.S, change, draws)


def _read_draw(item: ClaimedDraw, at: Setting, read: Scalars, new: Mapping[Expr, Expr]) -> PolyDraw:
    """Return the entries of one claimed draw, scaled by their power of eps, which `read` notes."""
    symbols = tuple(Symbol(label(item.name, here), real=True) for here in positions(item.shape, at.sizes))
    stated = item.covariance
    entries = identity(extent(item.shape, at.sizes)[0]) if stated is None else _formula_entries(stated, at, new)
    pairs = zip(product(symbols, symbols), (x for row in entries for x in row), strict=True)
    found = {pair: read.series(x) for pair, x in pairs}
    return scale_draws(symbols, found, read, item.says, gaussian=item.gaussian)


def scale_draws(
    symbols: tuple[Symbol, ...],
    covariance: Mapping[tuple[Symbol, Symbol], Series[Poly]],
    read: Scalars,
    says: str = "",
    *,
    gaussian: bool = True,
) -> PolyDraw:
    """Return jointly made draws divided by their power of eps, half the lowest one in their covariance.

    Raises:
        NoExpansionError: it grows as eps becomes small.
    """
    low = min((x.low for x in covariance.values() if x.parts), default=min(x.known for x in covariance.values()))
    low = ZERO if low > 1000 else low
    if low < 0:
        raise NoExpansionError(f"the covariance of {says or 'a draw'} grows as eps becomes small")
    read.powers.update(dict.fromkeys(symbols, low / 2))
    shifted = {pair: read.S.shift(x, -low) for pair, x in covariance.items()}
    return PolyDraw(symbols, lambda v, w: shifted[v, w], read.S, says, gaussian)


def _formula_entries(formula: Formula, at: Setting, new: Mapping[Expr, Expr]) -> Rows:
    """Return the entries of a formula with the next values substituted."""
    found = rows(_name_next_values(formula), at)
    return tuple(tuple(cast(Expr, x.xreplace(dict(new))) for x in row) for row in found)


def _name_next_values(formula: Formula) -> Formula:
    """Return a formula with each `next(b)` replaced by a symbol."""
    return replaced(
        formula, lambda x: ex.Symbol(f"next.{x.block}", x.shape, Role.NOISE) if isinstance(x, ex.Next) else None
    )


def _next_symbol(block: str, here: tuple[int, ...]) -> Symbol:
    """Return the SymPy symbol of one entry of a next value."""
    return Symbol(label(f"next.{block}", here), real=True)

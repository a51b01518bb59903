"""Residuals that nothing makes zero, beside a proper prior: the data bound a likelihood with an unknown scale.

Of data y_n of normal(y_n, m_n, sigma), with m = sum_j c_j g_j(z), c_j columns of the data and g_j any functions of the
state, let y not lie in the span of the c_j. Its distance r from the span is positive, and for all z and sigma > 0

    prod_n sigma**(-1) exp(-(y_n - m_n)**2/(2 sigma**2)) <= sigma**(-N) exp(-r**2/(2 sigma**2)) <= C,

so too with exp(-|y_n - m_n|/sigma), sum_n |y_n - m_n| >= r. A proper prior times what is bounded has a finite integral.
"""

from collections.abc import Iterator
from fractions import Fraction

from flint import fmpq

from recipe_compiler.formula.expression import Formula, MatMul
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity, Target
from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.proper_prior import by_proper_prior
from recipe_compiler.verify.core.premises import depends_on_state
from recipe_compiler.verify.from_data.decide import Fact
from recipe_compiler.verify.from_data.ranks import is_consistent
from recipe_compiler.verify.from_data.reading import Known, read_matrix
from recipe_compiler.verify.from_data.values import NotReadError
from recipe_compiler.verify.integrability.summands import (
    Leaf,
    Monomial,
    Reader,
    TooLargeError,
    formula_of,
    parted,
)

OF_RESIDUALS = frozenset({"normal", "laplace", "logistic"})
"""Laws of a location and a scale whose densities fall like exp(-|y - m|/sigma) at least."""

Vector = tuple[fmpq, ...]
"""A number for each datum."""


def by_residuals(target: Target, known: Known, rows: int) -> tuple[Proved, Fact] | None:
    """Return the proof of a finite integral that a proper prior and residuals give, with the fact of the data.

    Args:
        target: as it is sampled.
        known: its data, and what is declared of the blocks as they are declared.
        rows: the number of data.
    """
    of_data = [one for one in target.stated.densities if one.entry == "log_likelihood" and one.is_term]
    bounded = [one for one in of_data if _is_kept_from_zero(one, known, rows)]
    proof = by_proper_prior(target, bounded) if bounded else None
    if proof is None:
        return None
    scales = " and ".join(dict.fromkeys(text(one.arguments[2]) for one in bounded))
    words = f"residuals of scale {scales} that no state makes zero"
    return proof, Fact(words, "the rank of [A y] is that of A and 1", asks=words)


def _is_kept_from_zero(density: StatedDensity, known: Known, rows: int) -> bool:
    """Whether the data are in the span of no location, whatever the state is; the scale is one for all of them."""
    if density.name not in OF_RESIDUALS:
        return False
    y, location, scale = density.arguments
    if any(argument.shape != SCALAR for argument in density.arguments) or depends_on_state(y) or _with_data(scale):
        return False
    try:
        columns = [*_spanning(location, known, rows), *_columns(y, known, rows)]
    except (NotReadError, TooLargeError):
        return False
    forms = list(zip(*columns, strict=True))
    return not is_consistent(forms, len(columns) - 1)


def _spanning(location: Formula, known: Known, rows: int) -> Iterator[Vector]:
    """Yield columns of which a location is a sum of multiples, whatever the state is.

    Raises:
        NotReadError: it is not seen to be one.
        TooLargeError: it has too many terms.
    """
    for monomial, _ in Reader(known.declarations).read(location):
        same, moving = parted(monomial)
        factor = _of_data(same, known, rows)
        wide = [(atom, k) for atom, k in moving if _has_data(atom)]
        match wide:
            case []:
                yield factor
            case [(Leaf(MatMul(row, column)), k)] if k == 1 and not depends_on_state(row) and not _with_data(column):
                for own in _columns(row, known, rows):
                    yield tuple(x * y for x, y in zip(factor, own, strict=True))
            case _:
                raise NotReadError("a location that is no sum of columns of the data")


def _has_data(atom: object) -> bool:
    """Whether data occur in an atom; of one that is not looked into they may."""
    return not isinstance(atom, Leaf) or _with_data(atom.formula)


def _with_data(formula: Formula) -> bool:
    return bool(dependence(formula).data)


def _of_data(same: Monomial, known: Known, rows: int) -> Vector:
    """Return the value of a product of what is the same for every state, for each datum."""
    formula = formula_of(frozenset({(same, Fraction(1))}))
    if formula is None:
        raise NotReadError("a factor that is not read")
    (column,) = _columns(formula, known, rows)
    return column


def _columns(formula: Formula, known: Known, rows: int) -> Iterator[Vector]:
    """Yield the entries of a row that the data alone decide, each as its number for every datum."""
    for entry in (x for row in read_matrix(formula, known) for x in row):
        match entry.number:
            case None:
                raise NotReadError("an entry that is no known number")
            case fmpq() as number:
                yield (number,) * rows
            case column:
                yield tuple(column)

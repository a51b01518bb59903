"""Of many data some are looked at, evenly spaced; of the others only what their densities are at most.

For likelihoods f_n with f_n <= C_n g for all states, g free of the data,

    int prior prod_n f_n dz  <=  C int prior prod_(n in S) f_n g**(N - |S|) dz.

So what is finite with the data S and N - |S| times log g is finite with all N. For y_n of N(x_n beta, sigma**2) g is
1/sigma; of a discrete law it is 1. Nothing infinite is concluded from a part.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recipe_compiler.formula.build import add
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.density_terms import at_most, log_density
from recipe_compiler.formula.expression import Add, Formula
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Observed, StatedDensity, Target
from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.target import defined
from recipe_compiler.verify.from_data.terms import MANY
from recipe_compiler.verify.integrability.bounded import bounded_above

FEW = 20_000
"""Numbers of a part: many times what shows a rank, and read in a second."""
ROWS_EACH = 4
"""Data of a part for each number of a datum, at least."""


@dataclass(frozen=True, slots=True)
class Rest:
    """The data beside a part: what log f_n of one of them is at most, but for a constant, and how many there are."""

    log_g: Formula
    count: int
    given: tuple[str, ...]
    """What it rests on: `y <= n` of data, and of parameters."""


def numbers_of(observed: Observed) -> int:
    """Return how many numbers the data have."""
    return sum(values.size for _, values in observed.fields)


def part_of(observed: Observed) -> Observed | None:
    """Return evenly spaced data, the first and the last among them; None where all of them are as few."""
    width = numbers_of(observed) // observed.rows
    count = max(FEW // max(width, 1), ROWS_EACH * width, 2)
    if 2 * count > observed.rows or count * width > MANY:
        return None
    rows = np.linspace(0, observed.rows - 1, count).astype(np.intp)
    fields = tuple((name, values[rows]) for name, values in observed.fields)
    columns = tuple((name, values[rows]) for name, values in observed.columns)
    return replace(observed, rows=count, fields=fields, columns=columns, of=observed)


def rest_of(build: Build, target: Target, part: Observed) -> Rest | None:
    """Return what is known of the data beside a part S; None where nothing is.

    That is g, free of the data, with f_n <= C_n g for all states: int p_0 prod_n f_n dz <= C int p_0 prod_(n in S) f_n
    g**(N - |S|) dz. Of y ~ N(x.T beta, sigma**2) g is 1/sigma, of a discrete law 1.

    Args:
        build: says of which columns a field is.
        target: of the blocks as they are declared, or as distances to their bounds.
        part: the data that are looked at.
    """
    if part.of is None or target.recursion or target.log_likelihood is None:
        return None
    shown = defined(build.target).decision  # data are in the supports, and scales positive
    if rests_on_made_kinds(build, target) or not isinstance(shown, Proved):
        return None
    log_g = _most(target)
    assumed = (text(condition) for condition in target.declarations.assume)
    given = tuple(sorted({*shown.given, *assumed}))
    return None if log_g is None else Rest(log_g, part.of.rows - part.rows, given)


def rests_on_made_kinds(build: Build, target: Target) -> bool:
    """Whether made numbers are declared to be of a kind, which of all of them as they are written is not seen."""
    if build.data is None:
        return False
    file = build.data
    made = {column.name for column in file.made} | {*file.standardise}
    of_kind = [d.name for d in target.declarations.data if d.values or d.kinds != (Kind.REAL,)]
    return any(made & {name, *dict(file.columns).get(name, ())} for name in of_kind)


def _most(target: Target) -> Formula | None:
    """Return log g of a target's likelihood; None where no such is known."""
    declared, stated = target.declarations, target.stated
    terms = [one for one in stated.densities if one.entry == "log_likelihood" and one.is_term and not one.guards]
    others = [formula for entry, formula in stated.others if entry == "log_likelihood"]
    if not terms:
        return None if target.log_likelihood is None else _above(target.log_likelihood, declared)
    return _sum([*(_of_density(one, declared) for one in terms), *(_above(formula, declared) for formula in others)])


def _of_density(one: StatedDensity, declared: Declarations) -> Formula | None:
    """Return what a named density is at most, free of the data."""
    row, args = DENSITIES[one.name], one.arguments
    stated = (at_most(row, bound.at_most, args) for bound in row.bounds)
    found = (_above(formula, declared) for formula in (*stated, log_density(row, args, declared)))
    return next((log_g for log_g in found if log_g is not None), None)


def _above(formula: Formula, declared: Declarations) -> Formula | None:
    """Return a formula free of the data that a formula is at most, but for a constant; None where none is seen."""
    if bounded_above(formula, declared):
        return add([], SCALAR)
    if not dependence(formula).data:
        return formula
    match formula:
        case Add(terms):
            return _sum([_above(term, declared) for term in terms])
        case _:
            return None


def _sum(terms: Sequence[Formula | None]) -> Formula | None:
    known = [term for term in terms if term is not None]
    return add(known, SCALAR) if len(known) == len(terms) else None

"""Do the units that a document declares fit its formulas? The cheapest of checks, and it finds the commonest slips.

H has no unit, D and Q have that of state times state per time, drifts that of state per time; numbers have none.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from recipe_compiler.formula.expression import Compare, Formula
from recipe_compiler.formula.show import text
from recipe_compiler.formula.units import NONE, TIME, FormulaUnits, MismatchError, NotMeasuredError, Unit, base, unknown
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Answer, Proved, Refuted, undecided
from recipe_compiler.verify.core.subject import Subject


@dataclass(frozen=True, slots=True)
class _Demand:
    """An entry of the document, its formula, and the unit it must have; None for an energy."""

    entry: str
    formula: Formula
    unit: Unit | None


def declares_units(dynamics: Dynamics) -> bool:
    """Whether the document has a `units:` section."""
    return bool(dynamics.units)


def units(subject: Subject) -> Answer:
    """Decide that all terms have the unit of their place, for some units of the names that declare none.

    [H] = 1, [D_ab] = [Q_ab] = [z_a][z_b]/time, [f_a] = [z_a]/time; numbers have no unit, both sides of a comparison
    have the same. Refuted by the term that does not fit, with its unit and the one expected. A proof gives the units
    found for undeclared names. Undecided where a formula has no rule, such as a power with a parameter as exponent.
    """
    dynamics = subject.dynamics
    measure = FormulaUnits(dict(dynamics.units))
    for demand in _list_demands(dynamics, measure):
        where = subject.place(demand.entry, demand.entry.partition("[")[0], demand.entry.rpartition(".")[0])
        try:
            if demand.unit is None:
                measure.energy(demand.formula)
            elif isinstance(demand.formula, Compare):
                measure.of(demand.formula)
            else:
                measure.require(demand.formula, demand.unit)
        except MismatchError as fault:
            unit = (("term", text(fault.part)), ("its unit", str(fault.found)), ("expected", str(fault.expected)))
            residual = f"{text(fault.part)} in {demand.entry} has the unit {fault.found}, not {fault.expected}"
            return Answer(Refuted("units", unit, residual), where=where)
        except NotMeasuredError as reason:
            return undecided(f"{demand.entry}: {reason}", where=where)
    data = tuple(
        (name, str(measure.settled(measure.declared.get(name, unknown(name))))) for name in _list_names(dynamics)
    )
    return Answer(Proved("units of every term", (), data), where=subject.place("units"))


def _list_names(dynamics: Dynamics) -> list[str]:
    """Return the names of all blocks, parameters and functions."""
    declared = dynamics.declarations
    return [item.name for items in (declared.blocks, declared.parameters, declared.own_functions) for item in items]


def _list_demands(dynamics: Dynamics, measure: FormulaUnits) -> Iterator[_Demand]:
    """Yield every formula with the unit it must have; the energy comes first and fixes the others."""
    of = {b.name: measure.declared.get(b.name, unknown(b.name)) for b in dynamics.declarations.blocks}
    rate = base(TIME)
    yield _Demand("H", dynamics.H, None)
    matrices = (("D", dynamics.D), ("Q", dynamics.Q), ("claims.diffusion", dynamics.claims.diffusion))
    for name, matrix in matrices:
        for row, line in zip(of, matrix or (), strict=matrix is not None):
            for col, place in zip(of, line, strict=True):
                yield _Demand(f"{name}[{row},{col}]", place, of[row] * of[col] / rate)
    claims = dynamics.claims
    for block, formula in claims.drift or ():
        yield _Demand(f"claims.drift.{block}", formula, of[block] / rate)
    for block, formula in claims.update or ():
        yield _Demand(f"claims.update.{block}", formula, of[block])
    for block, formula in claims.marginal or ():
        yield _Demand(f"claims.marginal.{block}", formula, None)
    for number, condition in enumerate(dynamics.declarations.assume):
        yield _Demand(f"assume[{number}]", condition, NONE)

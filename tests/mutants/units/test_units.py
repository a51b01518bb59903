"""Units of measurement, read and written; what is found by them is in `tests/documents/mutants/units.yaml`."""

from fractions import Fraction

import pytest

from recipe_compiler.errors import Place, SpecError
from recipe_compiler.formula.syntax import parse
from recipe_compiler.formula.units import NONE, Unit, base
from recipe_compiler.spec.units import unit_of


def read(text: str, where: Place) -> Unit:
    return unit_of(parse(text, "units.x", where), "units.x", where)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("1", NONE),
        ("length", base("length")),
        ("length/time**2", base("length") / base("time") ** Fraction(2)),
        ("mass*length**2/time**2/mass", base("length") ** Fraction(2) / base("time") ** Fraction(2)),
        ("1/(length*time)", NONE / (base("length") * base("time"))),
        ("mass**(1/2)", base("mass") ** Fraction(1, 2)),
        ("mass**-0.5", base("mass") ** Fraction(-1, 2)),
        ("(length/time)**(-2/3)", (base("length") / base("time")) ** Fraction(-2, 3)),
        ("length/length", NONE),
    ],
)
def test_units_are_read_and_written(text: str, unit: Unit) -> None:
    found = read(text, Place("test", 1, 1))
    assert found == unit
    assert read(str(found), Place("test", 1, 1)) == unit


@pytest.mark.parametrize(
    ("text", "column"),
    [("2*length", 1), ("length + time", 1), ("length**x", 9), ("length @ time", 10), ("sqrt(length)", 1), ("0", 1),
     ("length**(1/0)", 12), ("length**100", 9), ("length^2", 7), ("length*", 8)],
)  # fmt: skip
def test_what_is_no_unit_is_refused_at_its_place(text: str, column: int) -> None:
    with pytest.raises(SpecError) as caught:
        read(text, Place("test", 3, 1))
    (fault,) = caught.value.faults
    assert (fault.where.line, fault.where.column) == (3, column)
    assert fault.problem

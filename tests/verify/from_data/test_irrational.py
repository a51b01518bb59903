"""What is asked of numbers that are no fractions is certain, or is not read."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random

import flint
import numpy as np
import pytest
from flint import arb, fmpq

from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.model import DataFile, MadeColumn
from recipe_compiler.verify.builds.as_written import columns_as_written
from recipe_compiler.verify.from_data.fitted import most_together
from recipe_compiler.verify.from_data.irrational import BITS, Unit, in_ball, is_fraction, times_unit
from recipe_compiler.verify.from_data.ranks import rank_of, solved
from recipe_compiler.verify.from_data.values import NotReadError


@pytest.fixture(autouse=True)
def _precise() -> Iterator[None]:
    with flint.ctx.workprec(BITS):
        yield


def root(n: int) -> fmpq:
    return in_ball(arb(n).sqrt())


def test_what_is_apart_is_told_and_what_is_the_same_is_not() -> None:
    assert root(2) < root(3)
    assert root(2) > 1
    assert root(2) != fmpq(7, 5)
    assert float(root(2) * 3 - 1) == pytest.approx(3 * 2**0.5 - 1)
    assert root(9) == 3
    assert is_fraction(root(9))
    for ask in (lambda x, y: x < y, lambda x, y: x == y, lambda x, y: x >= y, lambda x, y: bool(x - y)):
        with pytest.raises(NotReadError):
            ask(root(2) * root(3), root(6))
    with pytest.raises(NotReadError):
        1 / (root(2) * root(3) - root(6))
    with pytest.raises(NotReadError):
        root(2).p  # noqa: B018


def test_multiples_of_a_unit_are_compared_exactly() -> None:
    unit = Unit(arb(2).sqrt())
    x, y = times_unit(fmpq(1, 3), unit), times_unit(fmpq(2, 3), unit)
    assert x + x == y
    assert y - x == x
    assert not x - x
    assert is_fraction(y - 2 * x)
    assert times_unit(fmpq(0), unit) == 0
    with pytest.raises(NotReadError):
        bool(x * 3 - root(2))


@pytest.mark.parametrize("width", [1, 2, 4])
def test_ranks_and_common_zeros_are_those_of_multiples_by_any_positive_number(width: int) -> None:
    """Of columns times units exactly; of columns times a root where they are certain, and never others."""
    rng, certain = Random(width), 0
    for _ in range(120):
        forms = [tuple(fmpq(rng.randrange(-2, 3)) for _ in range(width + 1)) for _ in range(rng.randrange(1, 7))]
        units = [Unit(arb(rng.randrange(2, 9)).sqrt()) for _ in range(width + 1)]
        scaled = [tuple(times_unit(x, u) for x, u in zip(form, units, strict=True)) for form in forms]
        assert rank_of(scaled, width).rank == rank_of(forms, width).rank
        assert most_together(scaled, width) == most_together(forms, width)
        rooted = [(form[0] * root(2), *form[1:]) for form in forms]
        try:
            found = rank_of(rooted, width)
        except NotReadError:
            continue
        certain += 1
        assert found.rank == rank_of(forms, width).rank == len(found.attained)
        assert rank_of([forms[k] for k in found.attained], width).rank == found.rank
    assert certain > 60


def test_equations_are_solved_in_balls() -> None:
    A = [[root(2), fmpq(1)], [fmpq(3), root(5)]]
    x = solved(A, [fmpq(1), root(7)])
    for row, b in zip(A, (fmpq(1), root(7)), strict=True):
        assert abs(row[0] * x[0] + row[1] * x[1] - b - fmpq(1, 2**200)) < fmpq(1, 2**199)
    with pytest.raises(NotReadError):
        solved([[root(2), root(6)], [fmpq(1), root(3)]], [fmpq(1), fmpq(1)])


def test_a_column_is_read_by_its_decimals_whatever_its_doubles_are() -> None:
    read = {"a": np.array([0.1, 0.2, 0.7]), "b": np.array([0.2, 0.1, 0.4])}
    made = tuple(
        MadeColumn(f"{whole} of a", Symbol("a", SCALAR, Role.DATUM), ("a",), whole)
        for whole in ("mean", "centre", "standardise")
    )
    file = DataFile(Path("data.csv"), (("x", ("a", "b")),), made=made)
    found = columns_as_written(file, read).known
    assert found["a"] == (fmpq(1, 10), fmpq(1, 5), fmpq(7, 10))
    assert set(found["mean of a"]) == {fmpq(1, 3)}
    assert [Fraction(int(x.p), int(x.q)) for x in found["centre of a"]] == [
        Fraction(x) - Fraction("1/3") for x in ("0.1", "0.2", "0.7")
    ]
    standardised = [float(x) for x in found["standardise of a"]]
    assert standardised == pytest.approx((read["a"] - read["a"].mean()) / read["a"].std(), rel=1e-14)
    assert not any(map(is_fraction, found["standardise of a"]))

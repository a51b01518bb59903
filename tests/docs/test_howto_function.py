"""The page that adds a function adds it: to a copy of the package, by its rows alone. What lacks a row is said."""

from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "howto_function.md").read_text(encoding="utf-8")
COPIED = ("tests/formula",)

pytestmark = pytest.mark.filterwarnings("error")


def test_the_page_adds_a_function(house: Any) -> None:
    for row in house.added:
        house.put(row)
    assert len(house.typed) == 4
    house.prints_what_the_page_says()
    assert "math.asinh(theta" in (house.at / "out" / "slow_growth_plane.py").read_text()
    facts = house.run("pytest tests/formula/test_elementwise.py -q -p no:cacheprovider -k 'arsinh or engines'")
    assert " passed" in facts, facts
    assert "failed" not in facts, facts


def test_only_the_files_of_the_page_are_touched(house: Any) -> None:
    assert {row["file"] for row in house.added} == {
        "recipe_compiler/formula/elementwise.py",
        "recipe_compiler/algebra/scalars/elementwise.py",
        "recipe_compiler/kernel/formulas.py",
    }


def test_a_missing_row_is_named_and_nothing_is_proved(house: Any) -> None:
    first, meaning, scalar, _ = house.added
    house.put(first)
    said = house.run("recipe check dynamics.yaml")
    assert "slow_growth: undecided" in said
    assert "arsinh of 1 arguments is not known to the second engine" in said
    assert "arsinh(theta) has a value: the second engine's table lacks arsinh" in said
    house.put(meaning)
    house.put(scalar)
    house.run("recipe check --certificate proof.json dynamics.yaml")
    assert "UnreadError: arsinh(theta)" in house.run("recheck proof.json")


def test_a_wrong_derivative_in_one_table_proves_nothing(house: Any) -> None:
    first, meaning, scalar, _ = house.added
    house.put(first, first["code"].replace("1/sqrt(1 + x**2)", "1/(1 + x**2)"))
    house.put(meaning)
    house.put(scalar)
    said = house.run("recipe check dynamics.yaml")
    assert "slow_growth: refuted" in said
    assert "the engines disagree on the residual" in said

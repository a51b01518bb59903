"""The page that builds a sampler builds it, and its table has the order that the page says."""

import json
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "howto_sampler.md").read_text(encoding="utf-8")
COPIED = ("specs",)

pytestmark = pytest.mark.filterwarnings("error")


def test_the_page_builds_a_sampler(house: Any) -> None:
    assert len(house.typed) == 3
    house.prints_what_the_page_says()
    assert (house.at / "pictures/design.png").stat().st_size > 10_000
    found = json.loads(house.run("recipe design correlated_plane uphill.yaml hmc sghmc sgld --json"))
    assert [one["name"] for one in found["samplers"]] == ["hmc", "sghmc", "uphill.yaml", "sgld"]
    stated = [[cell.strip() for cell in row.split("|")[1:6]] for row in PAGE.splitlines() if row.startswith("| ")]
    rows = {row[0]: float(row[4]) for row in stated if row[4].isdigit()}
    assert set(rows) == {one["name"] for one in found["samplers"]}
    for one in found["samplers"]:
        assert 0.7 < one["gradients_per_effective_draw"] / rows[one["name"]] < 1.4, one

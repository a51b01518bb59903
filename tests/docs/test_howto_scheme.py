"""The page that adds a scheme adds it: one document, known by its name, whose step has the law that the page says."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

PAGE = (Path(__file__).parents[2] / "docs" / "howto_scheme.md").read_text(encoding="utf-8")
COPIED = ("specs",)
SCHEME = "specs/schemes/oabao.yaml"
BUILD = "specs/builds/sghmc_normal_oabao.yaml"

pytestmark = pytest.mark.filterwarnings("error")


def test_the_page_adds_a_scheme_by_one_file(house: Any) -> None:
    assert not house.added
    assert len(house.typed) == 5
    assert (house.at / "recipe_compiler/catalogue/schemes/oabao.yaml").read_text() == (house.at / SCHEME).read_text()
    house.prints_what_the_page_says()
    text = (house.at / "out/sghmc_normal_oabao.py").read_text()
    (step,) = (part for part in text.split("\ndef ") if part.startswith("step("))
    assert step.count("gradient(") == 1
    with xarray.open_datatree(house.at / "draws/sghmc_normal_oabao.nc") as tree:
        draws = tree["posterior"]["theta"].to_numpy()
    # 16,000 numbers, some 10,000 of which count: a standard error of 0.01; 1 is 24 of them away
    assert abs(np.var(draws) - 0.75) < 0.06

"""Data are what their target says: kinds of fields, and what is assumed of rows, looked at before anything runs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from answers import document
from emitted_file import module_of

from recipe_compiler.cache import NOTHING
from recipe_compiler.errors import DataError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.report.check import check
from recipe_compiler.run.data import data_of, load_data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.observed import with_data
from recipe_compiler.spec.model import Build

TARGET = """
name: trials
state: {b: {shape: k}}
data: {x: {shape: [N, k]}, y: {shape: N}, n: {shape: N, is: integer}, z: {shape: N, is: nonzero}}
parameters: {most: {is: positive, default: 9}}
assume: ["n <= most", "x[0] >= x[1]"]
log_prior: normal(b, 0, 2)
log_likelihood: binomial_logit(y, n, x @ b + 1/z)
"""
BUILD = """
name: build
dynamics: sgld
target: target.yaml
bind: {D: I}
scheme: {name: euler}
variant: full
sizes: {k: 2}
data: {file: data.csv, x: [p, q], y: y, n: n, z: z}
run: {step_size: 0.01, draws: 20, warmup: 10}
"""
GOOD = {"x": [[1, 0.5], [1, -0.5], [2, 2]], "y": [1, 0, 4], "n": [3, 4, 4], "z": [-1, 0.5, 2]}


GOOD_FILE = "p,q,y,n,z\n1,0.5,1,3,-1\n1,-0.5,0,4,0.5\n2,2,4,4,2\n"


@pytest.fixture
def build() -> Build:
    return document(BUILD, target=TARGET, **{"data.csv": GOOD_FILE})


def test_what_is_declared_is_accepted(build: Build) -> None:
    with_data(build)
    with_data(build, data_of(GOOD, build.target))


@pytest.mark.parametrize(
    ("field", "values", "problem"),
    [
        ("y", [1, 0.5, 4], "data, row 2: found 0.5, expected integer, nonnegative numbers for `y`"),
        ("y", [1, -1, 4], "row 2: found -1"),
        ("n", [3, 4.5, 5], "row 2: found 4.5, expected integer"),
        ("z", [1, 1, 0], "row 3: found 0, expected nonzero numbers for `z`"),
        ("y", [1, 0, 5], "found y = 5 and n = 4 in row 3, expected y <= n, which binomial_logit(y, n, eta) needs"),
        ("n", [3, 10, 4], "data: found n = 10 and most = 9 in row 2, expected n <= most, as trials assumes"),
        ("x", [[1, 2], [1, 0], [2, 2]], "data: found x[0] = 1 and x[1] = 2 in row 1, expected x[0] >= x[1]"),
    ],
)
def test_another_number_is_refused_with_its_row(build: Build, field: str, values: list[float], problem: str) -> None:
    with pytest.raises(DataError) as caught:
        with_data(build, data_of({**GOOD, field: values}, build.target))
    assert problem in str(caught.value)


def test_a_file_is_refused_with_row_and_column(build: Build, tmp_path: Path) -> None:
    assert build.data is not None
    (tmp_path / "data.csv").write_text(GOOD_FILE.replace("0,4,0.5", "0.5,4,0.5"))
    with pytest.raises(DataError, match=r"row 2 \(line 3\), column `y`: found 0.5, expected integer, nonnegative num"):
        load_data(replace(build.data, file=tmp_path / "data.csv"), build.target)


@pytest.mark.slow
def test_the_build_is_proved_and_says_what_is_looked_at(build: Build) -> None:
    report = check(build)
    (found,) = [finding for finding in report.findings if finding.id == "assumptions"]
    assert found.decision.given == ("n <= most", "x[0] >= x[1]", "y <= n")
    assert report.verdict.value == "proved"


@pytest.mark.slow
def test_the_emitted_file_looks_at_them_too(build: Build) -> None:
    module = compile_build(build, check(build), cache=NOTHING)
    sample = vars(module_of(load_text(module.name, module.file)))["sample"]
    given = {name: np.asarray(values, float) for name, values in GOOD.items()}
    assert sample(*given.values(), draws=3, warmup=2, chains=1)["b"].shape == (1, 3, 2)
    with pytest.raises(ValueError, match=r"y: found 0.5 at \[0\], expected integer numbers"):
        sample(*{**given, "y": np.array([0.5, 0, 4])}.values())
    with pytest.raises(ValueError, match="data: found otherwise in row 3, expected y <= n"):
        sample(*{**given, "y": np.array([1.0, 0, 5])}.values())


@pytest.mark.slow
def test_the_emitted_file_refuses_what_its_float32_does_not_hold(build: Build) -> None:
    assert build.data is not None
    narrow = replace(build, data=replace(build.data, dtype="float32"))
    module = compile_build(narrow, check(narrow), cache=NOTHING)
    sample = vars(module_of(load_text(module.name, module.file)))["sample"]
    given = {name: np.asarray(values, float) for name, values in GOOD.items()}
    assert sample(*given.values(), draws=3, warmup=2, chains=1)["b"].shape == (1, 3, 2)
    assert sample(*{**given, "x": given["x"].tolist()}.values(), draws=3, warmup=2, chains=1)["b"].shape == (1, 3, 2)
    for small in (1e-46, 1e-44):
        x = np.where(given["x"] == 0.5, small, given["x"])
        for one in (x, x.tolist(), np.asfortranarray(x)):
            with pytest.raises(ValueError, match=rf"x: found {small} at \[0, 1\], expected numbers that float32 holds"):
                sample(*{**given, "x": one}.values(), draws=3, warmup=2, chains=1)
    with pytest.raises(ValueError, match=r"x: found inf at \[0, 1\], expected finite numbers"):
        sample(*{**given, "x": np.where(given["x"] == 0.5, 1e300, given["x"])}.values(), draws=3, warmup=2, chains=1)
    held = np.where(given["x"] == 0.5, 2.0**-149, given["x"])
    assert sample(*{**given, "x": held}.values(), draws=3, warmup=2, chains=1)["b"].shape == (1, 3, 2)

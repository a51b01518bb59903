"""Every specification that ships is read, and its data are there."""

import csv
from pathlib import Path

import pytest

from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics, Scheme, Target

SPECS = Path(__file__).parents[2] / "specs"
KINDS = {"dynamics": Dynamics, "targets": Target, "schemes": Scheme, "builds": Build}
FILES = sorted(file for kind in KINDS for file in (SPECS / kind).glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_spec_is_read_and_called_as_its_file(file: Path) -> None:
    document = load(file)
    assert isinstance(document, KINDS[file.parent.name])
    assert document.name == file.stem


@pytest.mark.parametrize("file", [file for file in FILES if file.parent.name == "dynamics"], ids=lambda file: file.stem)
def test_dynamics_claim_their_drift_and_marginal(file: Path) -> None:
    claims = load(file).claims
    assert claims.drift is not None
    assert claims.marginal is not None


def test_the_data_are_as_their_note_says() -> None:
    with (SPECS / "data/breast_cancer.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert (len(rows), len(header), header[-1]) == (569, 31, "diagnosis")
    assert sum(row[-1] == "1" for row in rows) == 357
    assert all(len(row) == 31 for row in rows)
    build = load(SPECS / "builds/sghmc_logistic.yaml")
    assert list(dict(build.data.columns)["x"]) == header[:-1]

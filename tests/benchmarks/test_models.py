"""The panel of models: documents that are read, data that are what their script makes, references for all."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build

MODELS = Path(__file__).parents[2] / "benchmarks" / "models"
BUILDS = sorted(path.stem for path in (MODELS / "builds").glob("*.yaml"))
REFERENCES = json.loads((MODELS / "references.json").read_text(encoding="utf-8"))
TEXTBOOK = 19
ANOTHER_TABLE = {"counties"}
"""Of varying intercepts."""
HIERARCHIES = {"crossed", "exam", "radon", "correlated_slopes", "poll"}
FURTHER = {*ANOTHER_TABLE, "garch", *HIERARCHIES}


def test_there_are_nineteen_models_five_hierarchies_and_what_is_published() -> None:
    assert len(set(BUILDS) - FURTHER - {"diamonds"}) == TEXTBOOK
    assert {path.stem for path in (MODELS / "targets").glob("*.yaml")} == set(BUILDS) - ANOTHER_TABLE


@pytest.mark.parametrize("name", sorted(set(BUILDS) & set(REFERENCES)))
def test_a_model_states_nothing_of_its_run_and_has_a_reference(name: str) -> None:
    build = load(MODELS / "builds" / f"{name}.yaml")
    assert isinstance(build, Build)
    assert build.name == name
    assert build.is_planned
    assert not build.values
    moments = REFERENCES[name]["moments"]
    sampled = {block.name for block in (build.target.declared or build.target).declarations.blocks}
    assert sampled <= {label.partition("[")[0] for label in moments}
    assert all(np.isfinite([one["mean"], one["sd"]]).all() and one["sd"] > 0 for one in moments.values())
    assert name not in HIERARCHIES or 40 < len(moments) <= 150
    assert max(one.get("r_hat", 1.0) for one in moments.values()) < 1.01


def test_the_tables_are_what_their_script_makes() -> None:
    made = runpy.run_path(str(MODELS / "make_data.py"))["files"]()
    assert len(made) == TEXTBOOK + len(FURTHER) - 2  # eight schools ship
    for name, text in made.items():
        assert (MODELS / "data" / f"{name}.csv").read_text(encoding="utf-8") == text


@pytest.mark.slow
def test_the_panel_starts_as_it_is_told_to() -> None:
    """Not in this process, nor forked from it: the tests have folders on their path that a script does not."""
    found = subprocess.run([sys.executable, str(MODELS / "panel.py"), "--help"], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert "schools_centred" in found.stdout

"""A target of one scalar block for dynamics of a column: it is the column's one entry."""

from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.pipeline import compile_build

SPECS = Path(__file__).parents[2] / "specs"
TARGET = """
format: 1
name: level
title: A level
state: {m: {shape: scalar}}
data: {y: {shape: N}}
log_prior: -m**2/2
log_likelihood: -(y - m)**2/2
"""
BUILD = """
format: 1
name: sgld_level
title: SGLD for a level
dynamics: SPECS/dynamics/sgld.yaml
target: level.yaml
bind: {D: I}
scheme: {name: euler}
variant: full
run: {step_size: 0.01, draws: 10}
data: {file: data.csv, y: y}
"""


@pytest.mark.slow
def test_a_scalar_target_is_compiled_for_a_column(tmp_path: Path) -> None:
    (tmp_path / "level.yaml").write_text(TARGET, encoding="utf-8")
    (tmp_path / "data.csv").write_text("y\n1\n2\n", encoding="utf-8")
    (tmp_path / "build.yaml").write_text(BUILD.replace("SPECS", str(SPECS)), encoding="utf-8")
    build = load_build(tmp_path / "build.yaml")
    text = compile_build(build, allow_undecided=True).text
    assert "weight = -(y[row] - theta[0])" in text
    assert 'BLOCKS = (("theta", 1),)' in text

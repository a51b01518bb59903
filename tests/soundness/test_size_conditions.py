"""Sizes from which positions exist, in what is printed, emitted and run (`documents/soundness/sizes.yaml`)."""

import json
import runpy
from dataclasses import replace
from pathlib import Path

import pytest
from answers import document

from recipe_compiler.derive.recipe import derive
from recipe_compiler.derive.show import derivation_latex, derivation_text
from recipe_compiler.errors import DataError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.report.as_json import make_certificate
from recipe_compiler.report.check import check
from recipe_compiler.run.data import load_data
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.spec.model import Build

BUILD = """
name: build
dynamics: sgld
target: target.yaml
bind: {D: "(1 + a[1]**2)*I"}
scheme: {name: euler}
variant: full
parameters: {a: {shape: k, value: [1, 1]}}
sizes: {d: 3}
run: {step_size: 0.01}
"""
TARGET = "state: {theta: {shape: d}}\npotential: norm2(theta)/2 + theta[2]\n"


def build() -> Build:
    return document(BUILD, target=TARGET)


@pytest.mark.slow
def test_reports_certificates_and_derivations_say_it() -> None:
    text = "state: {theta: {shape: d}}\nH: norm2(theta)/2 + theta[1]\nD: [[I]]\nQ: [[0]]\n"
    dynamics = document(text)
    report = check(dynamics)
    assert "given: d >= 2" in str(report)
    assert "d >= 2" in json.loads(json.dumps(make_certificate(dynamics, report)))["assumptions"]
    assert derivation_text(derive(dynamics)).endswith("given     d >= 2\n")
    assert r"d &\geq 2" in derivation_latex(derive(dynamics))
    assert "given" not in derivation_text(derive(document(text.replace("[1]", "[0]"))))


@pytest.mark.slow
def test_a_file_refuses_a_smaller_size(tmp_path: Path) -> None:
    path = tmp_path / "emitted.py"
    path.write_text(compile_build(document(BUILD.replace("sizes: {d: 3}\n", ""), target=TARGET)).file, encoding="utf-8")
    sample = runpy.run_path(str(path))["sample"]
    with pytest.raises(ValueError, match="d: found 2, expected 3 or more: a formula names position 2"):
        sample(d=2, draws=3)
    assert sample(d=3, draws=3)["theta"].shape == (4, 3, 3)


def test_a_run_refuses_a_smaller_size() -> None:
    data = load_data(None, build().target)
    assert resolve_sizes(build(), data) == {"d": 3, "k": 2}
    with pytest.raises(DataError, match=r"size d: found 2 by `sizes`, but a formula names position 2"):
        resolve_sizes(replace(build(), sizes=(("d", 2),)), data)

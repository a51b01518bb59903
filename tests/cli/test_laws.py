"""Conditional laws on the command line."""

from pathlib import Path

import pytest

TARGET = "specs/targets/regression_precision.yaml"


@pytest.mark.slow
def test_derive_prints_the_laws_of_a_target(recipe) -> None:
    found = recipe("derive", TARGET)
    assert found.code == 0
    assert "tau ~ Gamma(N/2 + shape, rate + sum_i" in found.out
    assert r"\begin{align*}" in recipe("derive", TARGET, "--latex").out


@pytest.mark.slow
def test_check_names_the_law_that_is_wrong(recipe, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / TARGET).read_text(encoding="utf-8")
    path = tmp_path / "wrong.yaml"
    path.write_text(text.replace("shape + N/2", "shape + N"), encoding="utf-8")
    found = recipe("check", path)
    assert found.code == 1
    line = text[: text.index('  tau: "Gamma')].count("\n") + 1
    assert f"{path}:{line}:8  refuted: each claimed law is that of its block given all others" in found.out
    assert "d(U - E)/dtau for Gamma(shape + N" in found.out
    assert "residual: N/(2 tau)" in found.out

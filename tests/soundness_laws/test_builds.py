"""A build is about its own sizes and values: what fails at others is no reason against it."""

from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.spec.bind import bind
from recipe_compiler.verdict import Answer, Verdict
from recipe_compiler.verify.builds.normalisable import normalisable_build, normalisable_target

DYNAMICS = """
name: langevin
state: {theta: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta)
D: [[I]]
Q: [[0]]
"""
TARGET = """
name: target
state: {q: {shape: d}}
parameters: {a: {is: nonnegative}}
potential: POTENTIAL
"""
BUILD = """
name: build
dynamics: dynamics.yaml
target: target.yaml
parameters: {a: {value: VALUE}}
scheme: {name: euler}
variant: full
sizes: {d: 2}
run: {step_size: 0.01}
"""


def in_build(at: Path, potential: str, value: str = "2") -> tuple[Answer, Answer]:
    """Return what is found of the build, and of its target alone."""
    (at / "dynamics.yaml").write_text(DYNAMICS, encoding="utf-8")
    (at / "target.yaml").write_text(TARGET.replace("POTENTIAL", potential), encoding="utf-8")
    (at / "build.yaml").write_text(BUILD.replace("VALUE", value), encoding="utf-8")
    build = load_build(at / "build.yaml")
    return normalisable_build(build, bind(build)), normalisable_target(build.target)


def test_a_value_that_the_build_does_not_have_refutes_nothing(tmp_path: Path) -> None:
    found, target = in_build(tmp_path, "a*norm2(q)/2")
    assert target.verdict is Verdict.REFUTED
    assert found.verdict is Verdict.PROVED


@pytest.mark.parametrize("factor", ["1", "a"])
def test_a_size_that_the_build_does_not_have_refutes_nothing(tmp_path: Path, factor: str) -> None:
    found, target = in_build(tmp_path, f"{factor}*q[0]**2/2 + (q[1] - q[0]**2)**2/2")
    assert target.verdict is not Verdict.PROVED
    assert found.verdict is not Verdict.REFUTED


def test_what_fails_at_its_own_is_not_proved(tmp_path: Path) -> None:
    found, _ = in_build(tmp_path, "a*norm2(q)/2", value="0")
    assert found.verdict is not Verdict.PROVED

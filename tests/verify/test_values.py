"""Values in files: exact as they are read, or left to the run (`documents/verify/values.yaml` holds all others)."""

from fractions import Fraction

import numpy as np
import pytest
from answers import answer, document, expect, saved

from recipe_compiler.errors import ModelError
from recipe_compiler.report.in_builds import list_build_caveats

BUILD = """
name: b
dynamics: DYNAMICS
target: SPECS/targets/standard_normal.yaml
bind: {BIND}
parameters: {VALUES}
scheme: {name: euler}
variant: full
run: {step_size: 0.02}
"""
OF_DEFAULT = """
state: {theta: {shape: d}}
parameters: {C: {shape: [d, d], default: I}}
functions: {U: {of: theta, role: potential}}
H: U(theta)
D: [[C]]
Q: [[0]]
"""
MANY = "recipe_compiler.spec.npy.MANY"


def build(array, bind="M: I", values="C: {value: C.npy}", dynamics=""):
    text = BUILD.replace("BIND", bind).replace("VALUES", values)
    text = text.replace("DYNAMICS", "own.yaml" if dynamics else "SPECS/dynamics/sghmc.yaml")
    return document(text, own=dynamics, **{"C.npy": saved(array)})


@pytest.mark.slow
def test_an_array_file_is_the_exact_value_of_its_doubles():
    """0.1 + 0.2 is not 0.3: the determinant of the doubles is not zero, and its sign decides."""
    assert Fraction(0.3) < Fraction(0.1 + 0.2)
    expect(answer(build([[0.3, 0.1 + 0.2], [0.1 + 0.2, 0.3]]), "bindings"), "refuted", "rounding")


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, "proved"), pytest.param(-1.0, "refuted", marks=pytest.mark.slow)])
def test_a_hundred_rows_are_decided_exactly(shift, verdict):
    A = np.random.default_rng(0).normal(size=(100, 100))
    S = A @ A.T
    own = build((S + S.T) / 2 + shift * np.eye(100), "M: I, C: C0", "C0: {shape: [d, d], value: C.npy}")
    expect(answer(own, "bindings"), verdict)
    at = expect(answer(own, "d_psd"), verdict)
    assert verdict == "proved" or at["C0"] == "the build's 100 x 100 numbers"


def test_what_is_not_known_before_the_run_refutes_nothing(monkeypatch):
    monkeypatch.setattr(MANY, 3)
    own = build(np.eye(2))
    for claim in ("bindings", "d_symmetric", "stationary", "normalisable"):
        expect(answer(own, claim), "not refuted")


@pytest.mark.slow
def test_no_default_stands_for_a_value_that_the_run_reads(monkeypatch):
    """D = C with C = -I in a file: as its default, I, it would be a sampler."""
    expect(answer(build(-np.eye(2), bind="", dynamics=OF_DEFAULT), "d_psd"), "refuted")
    monkeypatch.setattr(MANY, 3)
    for claim in ("d_psd", "d_symmetric"):
        expect(answer(build(-np.eye(2), bind="", dynamics=OF_DEFAULT), claim), "not proved")


@pytest.mark.parametrize(("most", "later"), [(250_000, False), (3, True)])
def test_kinds_are_left_to_the_run_only_where_numbers_are_not_known(monkeypatch, most, later):
    monkeypatch.setattr(MANY, most)
    caveats = list_build_caveats(build(np.eye(2)))
    assert any("the kind of C is checked when its file is read" in caveat for caveat in caveats) is later


@pytest.mark.parametrize(
    ("array", "says"), [([[1.0, np.nan], [0.0, 1.0]], r"nan at \[0,1\]"), ([[1.0, 0.0]], r"\[1, 2\]")]
)
def test_arrays_that_are_no_values_are_faults(array, says):
    with pytest.raises(ModelError, match=says):
        build(array)

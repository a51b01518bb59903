"""Builds are judged at their own values: matrices are put in as scalars are, exactly, in every claim."""

from fractions import Fraction

import numpy as np
import pytest
from answers import SPECS, answer, document, expect

from recipe_compiler.errors import ModelError
from recipe_compiler.report.check import check
from recipe_compiler.report.in_builds import build_caveats

SGHMC = (SPECS / "dynamics/sghmc.yaml").read_text()
LANGEVIN = """
state: {theta: {shape: d}}
parameters: {PARAMETERS}
functions: {U: {of: theta, role: potential}}
H: U(theta)
D: [["DIFFUSION"]]
Q: [["CURL"]]
"""
NORMAL = "state: {theta: {shape: d}}\npotential: theta.T @ theta/2\n"
GAUSSIAN = "state: {theta: {shape: d}}\nparameters: {mu: {shape: d}, P: {shape: [d, d]}}\n"
GAUSSIAN += 'potential: "(theta - mu).T @ P @ (theta - mu)/2"\n'
BUILD = """
name: b
dynamics: dynamics.yaml
target: target.yaml
bind: {BIND}
parameters: {VALUES}
scheme: {name: euler}
variant: full
run: {step_size: 0.02}
"""
SQUARE, MANY = "shape: [d, d]", "recipe_compiler.spec.npy.MANY"


def langevin(parameters, diffusion="I", curl="0"):
    return LANGEVIN.replace("PARAMETERS", parameters).replace("DIFFUSION", diffusion).replace("CURL", curl)


def build(dynamics, values, bind="", target=NORMAL, more="", **files):
    text = BUILD.replace("BIND", bind).replace("VALUES", values) + more
    return document(text, dynamics=dynamics, target=target, **{f"{name}.npy": own for name, own in files.items()})


def friction(C0, **files):
    return build(SGHMC, f"C0: {{{SQUARE}, value: {C0}}}", "M: I, C: C0", **files)


def numbers(tmp_path, array):
    """Return what a file of an array holds."""
    np.save(tmp_path / "of.npy", np.array(array))
    return (tmp_path / "of.npy").read_bytes()


def verdicts(own):
    return {one.verdict.value for one in check(own, advisory=False).findings if one.required}


PRODUCT = langevin(f"A: {{{SQUARE}}}, B: {{{SQUARE}}}", "A @ B", "A - A.T")
AB = f"A: {{{SQUARE}, value: [[1, 2], [0, 1]]}}, B: {{{SQUARE}, value: [[3, 1], [1, 3]]}}"
DEFAULT = f"C: {{{SQUARE}, default: 3*I}}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "more"),
    [
        *(
            ((SGHMC, f"C0: {{{SQUARE}, value: {C0}}}", "M: I, C: C0"), "")
            for C0 in ("[[1, 0], [0, 1]]", "[[2, 1], [1, 2]]", "[[1, 1], [1, 1]]", "[[0, 0], [0, 0]]")
        ),
        ((SGHMC, AB, 'M: "A.T @ A + B", C: "A @ A.T"'), ""),  # through bindings
        ((PRODUCT, "A: {value: [[2, 1], [1, 2]]}, B: {value: [[2, -1], [-1, 2]]}"), ""),  # matrices that commute
        ((langevin("s: {shape: d}", "diag(s)"), "s: {value: [1, 0, 3]}"), ""),
        ((langevin(DEFAULT, "C"), ""), "sizes: {d: 2}\n"),
    ],
)
def test_a_build_is_proved_by_its_values(given, more):
    assert verdicts(build(*given, more=more)) == {"proved"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "claim", "witness"),
    [
        (
            (SGHMC, f"C0: {{{SQUARE}, value: [[1, 2], [2, 1]]}}", "M: I, C: C0"), "d_psd",
            {"C0": "[[1, 2], [2, 1]]", "d": "2", "v.T @ D[r,r] @ v": "-3"},
        ),
        (
            (SGHMC, f"C0: {{{SQUARE}, value: [[1, 0], [0, -1]]}}", "M: I, C: C0"), "d_psd",
            {"C0": "[[1, 0], [0, -1]]", "d": "2", "v.T @ D[r,r] @ v": "-1"},
        ),
        (
            (SGHMC, f"C0: {{{SQUARE}, value: [[1, 2], [2, 1]]}}", "M: I, C: C0"), "bindings",
            {"C0": "[[1, 2], [2, 1]]"},
        ),
        (
            (SGHMC, f"C0: {{{SQUARE}, value: [[1, 1], [0, 1]]}}", "M: I, C: C0"), "d_symmetric",
            {"C0": "[[1, 1], [0, 1]]", "C": None},
        ),
        ((SGHMC, AB, 'M: "A.T @ A + B", C: "A @ A.T - B"'), "bindings", {}),
        ((SGHMC, AB, 'M: "A.T @ A + B", C: "B @ A"'), "bindings", {}),
        (
            (PRODUCT, "A: {value: [[2, 1], [1, 2]]}, B: {value: [[2, 1], [-1, 2]]}"), "d_symmetric",
            {"B": "[[2, 1], [-1, 2]]"},
        ),
        ((langevin("s: {shape: d}", "diag(s)"), "s: {value: [1, 0, -3]}"), "d_psd", {"s": "[1, 0, -3]"}),
        ((langevin("c: {}", "c*I"), "c: {value: -7/2}"), "d_psd", {"c": "-7/2"}),
        (
            (langevin(f"S: {{{SQUARE}}}", "I", "S"), "S: {value: [[0, 2], [-2, 1]]}"), "q_skew",
            {"S": "[[0, 2], [-2, 1]]"},
        ),
    ],
)  # fmt: skip
def test_a_build_is_refuted_at_its_values(given, claim, witness):
    at = expect(answer(build(*given), claim), "refuted")
    assert {name: at.get(name) for name in witness} == witness


OF_DEFAULT = 'C: {{shape: [d, d], is: positive semidefinite, default: "{}"}}'
ASSUMING = langevin("s: {shape: d}, a: {}") + 'assume: ["ASSUME"]\n'
AT = "s: {value: [2, 1]}, a: {value: 2.7182818}"
LOG = 'state: {theta: {shape: d}}\nparameters: {a: {}}\npotential: "log(a)*norm2(theta)"\n'


@pytest.mark.parametrize(
    ("dynamics", "values", "target", "claim", "verdict"),
    [
        (langevin(f"S: {{{SQUARE}}}", "I", "S"), "S: {value: [[0, 2], [-2, 0]]}", NORMAL, "q_skew", "proved"),
        (langevin(OF_DEFAULT.format("2*I"), "C"), "", NORMAL, "bindings", "proved"),
        (langevin(OF_DEFAULT.format("-I"), "C"), "", NORMAL, "bindings", "refuted"),
        (langevin(""), "mu: {value: [1, -1]}, P: {value: [[2, 1], [1, 2]]}", GAUSSIAN, "normalisable", "proved"),
        (langevin(""), "mu: {value: [1, -1]}, P: {value: [[1, 2], [2, 1]]}", GAUSSIAN, "normalisable", "refuted"),
        *((langevin(""), "a: {value: 2}", LOG, claim, "proved") for claim in ("defined", "gradient")),
        *((langevin(""), "a: {value: -2}", LOG, claim, "undecided") for claim in ("defined", "gradient")),
        (ASSUMING.replace("ASSUME", "s[0] > s[1]"), AT, NORMAL, "assumptions", "proved"),
        (ASSUMING.replace("ASSUME", "s[1] > s[0]"), AT, NORMAL, "assumptions", "refuted"),
        (ASSUMING.replace("ASSUME", "a < exp(1)"), AT, NORMAL, "assumptions", "proved"),
    ],
)
def test_values_defaults_and_what_is_assumed_are_decided(dynamics, values, target, claim, verdict):
    more = "sizes: {d: 2}\n" if "default" in dynamics else ""
    expect(answer(build(dynamics, values, target=target, more=more), claim), verdict)


# values in files


@pytest.mark.slow
def test_an_array_file_is_the_exact_value_of_its_doubles(tmp_path):
    """0.1 + 0.2 is not 0.3: the determinant of the doubles is not zero, and its sign decides."""
    C = numbers(tmp_path, [[0.3, 0.1 + 0.2], [0.1 + 0.2, 0.3]])
    assert Fraction(0.3) < Fraction(0.1 + 0.2)
    expect(answer(build(SGHMC, "C: {value: C.npy}", "M: I", C=C), "bindings"), "refuted", "rounding")


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, "proved"), pytest.param(-1.0, "refuted", marks=pytest.mark.slow)])
def test_a_hundred_rows_are_decided_exactly(tmp_path, shift, verdict):
    A = np.random.default_rng(0).normal(size=(100, 100))
    S = A @ A.T
    own = friction("C.npy", C=numbers(tmp_path, (S + S.T) / 2 + shift * np.eye(100)))
    expect(answer(own, "bindings"), verdict)
    at = expect(answer(own, "d_psd"), verdict)
    assert verdict == "proved" or at["C0"] == "the build's 100 x 100 numbers"


def test_what_is_not_known_before_the_run_refutes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(MANY, 3)
    own = friction("C.npy", C=numbers(tmp_path, np.eye(2)))
    for claim in ("bindings", "d_symmetric", "stationary", "normalisable"):
        expect(answer(own, claim), "not refuted")
    expect(answer(own, "d_psd"), "undecided", "C0")


@pytest.mark.slow
def test_no_default_stands_for_a_value_that_the_run_reads(tmp_path, monkeypatch):
    """D = A with A = -I in a file: as its default, I, it would be a sampler."""
    given, A = (langevin("A: {shape: [d, d], default: I}", "A"), "A: {value: A.npy}"), numbers(tmp_path, -np.eye(2))
    expect(answer(build(*given, A=A), "d_psd"), "refuted")
    monkeypatch.setattr(MANY, 3)
    own = build(*given, A=A)
    expect(answer(own, "d_psd"), "not proved")
    expect(answer(own, "d_symmetric"), "not proved")


@pytest.mark.parametrize(("most", "later"), [(250_000, False), (3, True)])
def test_kinds_are_left_to_the_run_only_where_numbers_are_not_known(tmp_path, monkeypatch, most, later):
    monkeypatch.setattr(MANY, most)
    caveats = build_caveats(build(SGHMC, "C: {value: C.npy}", "M: I", C=numbers(tmp_path, np.eye(2))))
    assert any("the kind of C is checked when its file is read" in caveat for caveat in caveats) is later


@pytest.mark.parametrize(
    ("array", "says"), [([[1.0, np.nan], [0.0, 1.0]], r"nan at \[0,1\]"), ([[1.0, 0.0]], r"\[1, 2\]")]
)
def test_arrays_that_are_no_values_are_faults(tmp_path, array, says):
    with pytest.raises(ModelError, match=says):
        build(SGHMC, "C: {value: C.npy}", "M: I", C=numbers(tmp_path, array))


def test_values_that_disagree_about_a_size_are_a_fault():
    with pytest.raises(ModelError, match="d = 3 by the value of `C`, but 2 by that of `M`"):
        check(build(SGHMC, "M: {value: [[1, 0], [0, 1]]}, C: {value: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}"))

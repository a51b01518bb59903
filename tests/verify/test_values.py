"""Builds are judged at their own values: matrices are put in as scalars are, exactly, in every claim."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.errors import ModelError
from recipe_compiler.report.check import check
from recipe_compiler.report.in_builds import build_caveats
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Finding, Refuted, Undecided, Verdict

SPECS = Path(__file__).parents[2] / "specs"
SGHMC = (SPECS / "dynamics" / "sghmc.yaml").read_text()
LANGEVIN = """
name: langevin
state: {theta: {shape: d}}
parameters: {PARAMETERS}
functions: {U: {of: theta, role: potential}}
H: U(theta)
D: [["DIFFUSION"]]
Q: [["CURL"]]
"""
TARGET = "name: normal\nstate: {theta: {shape: d}}\npotential: theta.T @ theta/2\n"
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
SQUARE = "shape: [d, d]"

Findings = dict[str, Finding]
Decide = Callable[..., Findings]


@pytest.fixture
def decided(tmp_path: Path) -> Decide:
    """The findings, by id, about a build of some dynamics, bindings and values."""

    def decide(dynamics: str, values: str, bind: str = "", target: str = TARGET, more: str = "") -> Findings:
        (tmp_path / "dynamics.yaml").write_text(dynamics)
        (tmp_path / "target.yaml").write_text(target)
        (tmp_path / "build.yaml").write_text(BUILD.replace("BIND", bind).replace("VALUES", values) + more)
        return {finding.id: finding for finding in check(load(tmp_path / "build.yaml"), advisory=False).findings}

    return decide


def langevin(parameters: str, diffusion: str, curl: str = "0") -> str:
    return LANGEVIN.replace("PARAMETERS", parameters).replace("DIFFUSION", diffusion).replace("CURL", curl)


def refuted(found: Findings) -> dict[str, dict[str, str]]:
    """Return the witnesses of what is refuted."""
    return {id_: dict(f.decision.witness) for id_, f in found.items() if isinstance(f.decision, Refuted)}


def required(found: Findings) -> set[Verdict]:
    return {finding.verdict for finding in found.values() if finding.required}


@pytest.mark.slow
@pytest.mark.parametrize("C0", ["[[1, 0], [0, 1]]", "[[2, 1], [1, 2]]", "[[1, 1], [1, 1]]", "[[0, 0], [0, 0]]"])
def test_a_matrix_that_is_semidefinite_by_its_value_is_friction(decided: Decide, C0: str) -> None:
    assert required(decided(SGHMC, f"C0: {{{SQUARE}, value: {C0}}}", "M: I, C: C0")) == {Verdict.PROVED}


@pytest.mark.slow
@pytest.mark.parametrize(("C0", "value"), [("[[1, 2], [2, 1]]", "-3"), ("[[1, 0], [0, -1]]", "-1")])
def test_one_that_is_not_is_refuted_at_its_value(decided: Decide, C0: str, value: str) -> None:
    witnesses = refuted(decided(SGHMC, f"C0: {{{SQUARE}, value: {C0}}}", "M: I, C: C0"))
    assert witnesses["d_psd"]["C0"] == witnesses["bindings"]["C0"] == C0
    assert witnesses["d_psd"]["d"] == "2"
    assert witnesses["d_psd"]["v.T @ D[r,r] @ v"] == value


@pytest.mark.slow
def test_a_matrix_that_is_not_symmetric_is_refuted_at_its_value(decided: Decide) -> None:
    witnesses = refuted(decided(SGHMC, f"C0: {{{SQUARE}, value: [[1, 1], [0, 1]]}}", "M: I, C: C0"))
    assert witnesses["d_symmetric"]["C0"] == "[[1, 1], [0, 1]]"
    assert "C" not in witnesses["d_symmetric"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("C", "verdict"), [("A @ A.T", Verdict.PROVED), ("A @ A.T - B", Verdict.REFUTED), ("B @ A", Verdict.REFUTED)]
)
def test_values_are_followed_through_bindings(decided: Decide, C: str, verdict: Verdict) -> None:
    values = f"A: {{{SQUARE}, value: [[1, 2], [0, 1]]}}, B: {{{SQUARE}, value: [[3, 1], [1, 3]]}}"
    found = decided(SGHMC, values, f'M: "A.T @ A + B", C: "{C}"')
    assert found["bindings"].verdict is verdict
    assert (Verdict.REFUTED in required(found)) is (verdict is Verdict.REFUTED)


@pytest.mark.slow
@pytest.mark.parametrize(("B", "verdict"), [("[[2, -1], [-1, 2]]", Verdict.PROVED), ("[[2, 1], [-1, 2]]", None)])
def test_products_of_values_are_decided_as_numbers(decided: Decide, B: str, verdict: Verdict | None) -> None:
    """A and B commute, do not, and neither is declared symmetric."""
    dynamics = langevin(f"A: {{{SQUARE}}}, B: {{{SQUARE}}}", "A @ B", "A - A.T")
    found = decided(dynamics, f"A: {{value: [[2, 1], [1, 2]]}}, B: {{value: {B}}}")
    if verdict is None:
        assert refuted(found)["d_symmetric"]["B"] == B
    else:
        assert required(found) == {verdict}


@pytest.mark.parametrize(
    ("S", "verdict"), [("[[0, 2], [-2, 0]]", Verdict.PROVED), ("[[0, 2], [-2, 1]]", Verdict.REFUTED)]
)
def test_a_curl_is_skew_by_its_value(decided: Decide, S: str, verdict: Verdict) -> None:
    found = decided(langevin(f"S: {{{SQUARE}}}", "I", "S"), f"S: {{value: {S}}}")
    assert found["q_skew"].verdict is verdict
    assert verdict is Verdict.PROVED or refuted(found)["q_skew"]["S"] == S


def test_a_witness_names_the_value_of_a_scalar(decided: Decide) -> None:
    witnesses = refuted(decided(langevin("c: {}", "c*I"), "c: {value: -7/2}"))
    assert witnesses["d_psd"]["c"] == "-7/2"


@pytest.mark.slow
def test_a_vector_is_put_in_entry_by_entry(decided: Decide) -> None:
    good = decided(langevin("s: {shape: d}", "diag(s)"), "s: {value: [1, 0, 3]}")
    bad = refuted(decided(langevin("s: {shape: d}", "diag(s)"), "s: {value: [1, 0, -3]}"))
    assert required(good) == {Verdict.PROVED}
    assert bad["d_psd"]["s"] == "[1, 0, -3]"


@pytest.mark.slow
@pytest.mark.parametrize(("default", "verdict"), [("2*I", Verdict.PROVED), ("-I", Verdict.REFUTED)])
def test_defaults_are_values_and_of_their_kinds(decided: Decide, default: str, verdict: Verdict) -> None:
    dynamics = langevin(f'C: {{{SQUARE}, is: positive semidefinite, default: "{default}"}}', "C")
    assert decided(dynamics, "", more="sizes: {d: 2}\n")["bindings"].verdict is verdict


@pytest.mark.slow
def test_a_default_without_a_kind_is_put_in(decided: Decide) -> None:
    found = decided(langevin(f'C: {{{SQUARE}, default: "3*I"}}', "C"), "", more="sizes: {d: 2}\n")
    assert required(found) == {Verdict.PROVED}


@pytest.mark.slow
def test_values_of_the_target_are_put_in_and_fix_sizes(decided: Decide) -> None:
    potential = "(theta - mu).T @ P @ (theta - mu)/2"
    for P, verdict in (("[[2, 1], [1, 2]]", Verdict.PROVED), ("[[1, 2], [2, 1]]", Verdict.REFUTED)):
        target = f"name: g\nstate: {{theta: {{shape: d}}}}\nparameters: {{mu: {{shape: d}}, P: {{{SQUARE}}}}}\n"
        found = decided(
            langevin("", "I"),
            f"mu: {{value: [1, -1]}}, P: {{value: {P}}}",
            target=f'{target}potential: "{potential}"\n',
        )
        assert found["normalisable"].verdict is verdict


@pytest.mark.parametrize(("a", "verdict"), [("2", Verdict.PROVED), ("-2", Verdict.UNDECIDED)])
def test_claims_about_the_target_are_decided_at_its_values(decided: Decide, a: str, verdict: Verdict) -> None:
    target = 'name: g\nstate: {theta: {shape: d}}\nparameters: {a: {}}\npotential: "log(a)*norm2(theta)"\n'
    found = decided(langevin("", "I"), f"a: {{value: {a}}}", target=target)
    assert found["defined"].verdict is found["gradient"].verdict is verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    ("assume", "verdict"),
    [("s[0] > s[1]", Verdict.PROVED), ("s[1] > s[0]", Verdict.REFUTED), ("a < exp(1)", Verdict.PROVED)],
)
def test_assumptions_are_decided_at_values(decided: Decide, assume: str, verdict: Verdict) -> None:
    dynamics = langevin("s: {shape: d}, a: {}", "I") + f'assume: ["{assume}"]\n'
    assert decided(dynamics, "s: {value: [2, 1]}, a: {value: 2.7182818}")["assumptions"].verdict is verdict


@pytest.mark.slow
def test_an_array_file_is_the_exact_value_of_its_doubles(decided: Decide, tmp_path: Path) -> None:
    """0.1 + 0.2 is not 0.3: the determinant of the doubles is not zero, and its sign decides."""
    np.save(tmp_path / "C.npy", np.array([[0.3, 0.1 + 0.2], [0.1 + 0.2, 0.3]]))
    found = decided(SGHMC, "C: {value: C.npy}", "M: I")
    assert Fraction(0.3) < Fraction(0.1 + 0.2)
    assert "rounding" in str(found["bindings"].decision)
    assert found["bindings"].verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("shift", "verdict"), [(0.0, Verdict.PROVED), pytest.param(-1.0, Verdict.REFUTED, marks=pytest.mark.slow)]
)
def test_a_hundred_rows_are_decided_exactly(decided: Decide, tmp_path: Path, shift: float, verdict: Verdict) -> None:
    A = np.random.default_rng(0).normal(size=(100, 100))
    S = A @ A.T
    np.save(tmp_path / "C.npy", (S + S.T) / 2 + shift * np.eye(100))
    found = decided(SGHMC, f"C0: {{{SQUARE}, value: C.npy}}", "M: I, C: C0")
    assert found["d_psd"].verdict is found["bindings"].verdict is verdict
    assert verdict is Verdict.PROVED or refuted(found)["d_psd"]["C0"] == "the build's 100 x 100 numbers"


def test_what_is_not_known_before_the_run_refutes_nothing(
    decided: Decide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recipe_compiler.spec.npy.MANY", 3)
    np.save(tmp_path / "C.npy", np.eye(2))
    found = decided(SGHMC, f"C0: {{{SQUARE}, value: C.npy}}", "M: I, C: C0")
    assert Verdict.REFUTED not in required(found)
    assert isinstance(found["d_psd"].decision, Undecided)
    assert "C0" in found["d_psd"].decision.tried[0]


@pytest.mark.slow
def test_no_default_stands_for_a_value_that_the_run_reads(
    decided: Decide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D = A with A = -I in a file: as its default, I, it would be a sampler."""
    np.save(tmp_path / "A.npy", -np.eye(2))
    dynamics = langevin("A: {shape: [d, d], default: I}", "A")
    assert decided(dynamics, "A: {value: A.npy}")["d_psd"].verdict is Verdict.REFUTED
    monkeypatch.setattr("recipe_compiler.spec.npy.MANY", 3)
    found = decided(dynamics, "A: {value: A.npy}")
    assert Verdict.PROVED not in {found["d_psd"].verdict, found["d_symmetric"].verdict}


@pytest.mark.slow
@pytest.mark.parametrize(("most", "later"), [(250_000, False), (3, True)])
def test_kinds_are_left_to_the_run_only_where_numbers_are_not_known(
    decided: Decide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, later: bool
) -> None:
    monkeypatch.setattr("recipe_compiler.spec.npy.MANY", most)
    np.save(tmp_path / "C.npy", np.eye(2))
    decided(SGHMC, "C: {value: C.npy}", "M: I")
    build = load_build(tmp_path / "build.yaml")
    caveats = build_caveats(build)
    assert any("the kind of C is checked when its file is read" in caveat for caveat in caveats) is later


@pytest.mark.parametrize(("numbers", "says"), [([[1.0, np.nan], [0.0, 1.0]], "nan at [0,1]"), ([[1.0, 0.0]], "[1, 2]")])
def test_arrays_that_are_no_values_are_faults(
    decided: Decide, tmp_path: Path, numbers: list[list[float]], says: str
) -> None:
    np.save(tmp_path / "C.npy", np.array(numbers))
    with pytest.raises(ModelError, match="expected") as error:
        decided(SGHMC, "C: {value: C.npy}", "M: I")
    assert says in str(error.value)


def test_values_that_disagree_about_a_size_are_a_fault(decided: Decide) -> None:
    with pytest.raises(ModelError, match="d = 3 by the value of `C`, but 2 by that of `M`"):
        decided(SGHMC, "M: {value: [[1, 0], [0, 1]]}, C: {value: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}")

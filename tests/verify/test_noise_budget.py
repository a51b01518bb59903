"""2D - eps B_hat: proved at exact values and by structure, refuted with the direction in which it is negative."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy
from loaders import load_build

from recipe_compiler.spec.bind import bind
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.builds.noise_budget import noise_budget

SPECS = Path(__file__).parents[2] / "specs"
BUILDS = sorted((SPECS / "builds").glob("*.yaml"))

BUILD = """
name: b
dynamics: {dynamics}
target: {specs}/targets/logistic_regression.yaml
bind: {bind}
parameters: {parameters}
scheme: {{name: euler}}
variant: minibatch
gradient_noise: {{V: {V}}}
{sizes}
data: {{file: data.csv, x: [a, b], y: y}}
run: {{step_size: {eps}, batch_size: 2}}
"""
STATE = "name: m\nstate: {theta: {shape: d}, r: {shape: d}}\n"
CANONICAL = "Q: [[0, -I], [I, 0]]\n"
SGHMC = str(SPECS / "dynamics" / "sghmc.yaml")
MATRICES = "M: {value: [[2, 0.5], [0.5, 1]]}, C: {value: [[1, 0.25], [0.25, 3]]}"
V0 = "V0: {shape: [d, d], is: positive semidefinite, value: [[0.5, 0.125], [0.125, 0.25]]}"

Decide = Callable[..., Answer]


@pytest.fixture
def decided(tmp_path: Path) -> Decide:
    """The finding about a minibatch build of some dynamics, bindings, values, V and step size."""

    def decide(dynamics: str, bind_: str, parameters: str, V: str, eps: str, sizes: str = "") -> Answer:
        (tmp_path / "data.csv").write_text("a,b,y\n1,-2,1\n0.5,1.5,0\n-1,0.25,1\n")
        if "\n" in dynamics:
            (tmp_path / "dynamics.yaml").write_text(dynamics)
            dynamics = "dynamics.yaml"
        text = BUILD.format(
            dynamics=dynamics, specs=SPECS, bind=bind_, parameters=parameters, V=f'"{V}"', eps=eps, sizes=sizes
        )
        (tmp_path / "build.yaml").write_text(text)
        build = load_build(tmp_path / "build.yaml")
        return noise_budget(build, bind(build))

    return decide


@pytest.mark.parametrize("path", BUILDS, ids=lambda path: path.stem)
def test_every_shipped_build_keeps_to_its_budget(path: Path) -> None:
    build = load_build(path)
    assert noise_budget(build, bind(build)).verdict is Verdict.PROVED


@pytest.mark.parametrize(("eps", "verdict"), [("0.5", Verdict.PROVED), ("0.5000001", Verdict.REFUTED)])
def test_multiples_of_the_identity_are_decided_at_every_size(decided: Decide, eps: str, verdict: Verdict) -> None:
    found = decided(SGHMC, "{M: I, C: c*I}", "{c: {is: nonnegative, value: 2}}", "8*I", eps).decision
    assert found.verdict is verdict
    data = found.data if isinstance(found, Proved) else found.witness if isinstance(found, Refuted) else ()
    assert dict(data)["eps_max"] == "1/2"


def test_full_matrices_are_decided_at_their_values(decided: Decide) -> None:
    C, V = np.array([[1, 0.25], [0.25, 3]]), np.array([[0.5, 0.125], [0.125, 0.25]])
    limit = 2.0 / np.linalg.eigvals(np.linalg.solve(C, V)).real.max()
    below, above = (
        decided(SGHMC, "{}", f"{{{MATRICES}, {V0}}}", "V0", f"{x * limit:.9f}") for x in (0.999999, 1.000001)
    )
    assert isinstance(below.decision, Proved)
    assert float(Fraction(dict(below.decision.data)["eps_max"])) == pytest.approx(limit, rel=1e-12)
    assert isinstance(above.decision, Refuted)
    witness = dict(above.decision.witness)
    v = np.array([float(Fraction(x)) for x in witness["v"].strip("[]").split(", ")])
    eps = float(Fraction(witness["eps"]))
    assert v @ (2 * C - eps * V) @ v == pytest.approx(float(Fraction(witness["v.T @ (2D - eps B_hat) @ v"])))
    assert v @ (2 * C - eps * V) @ v < 0


def test_no_step_is_small_enough_without_noise_to_take_from(decided: Decide) -> None:
    hmc = STATE + "functions: {U: {of: theta, role: potential}}\nH: U(theta) + r.T @ r/2\nD: [[0, 0], [0, 0]]\n"
    found = decided(hmc + CANONICAL, "{}", "{}", "I", "1e-9").decision
    assert isinstance(found, Refuted)
    assert "no step size" in found.residual


def test_gradient_noise_outside_the_range_of_d_is_refuted(decided: Decide) -> None:
    singular = "{M: {value: [[1, 0], [0, 1]]}, C: {value: [[1, 1], [1, 1]]}, " + V0 + "}"
    found = decided(SGHMC, "{}", singular, "V0", "1e-9").decision
    assert isinstance(found, Refuted)
    assert "no step size" in found.residual
    assert dict(found.witness)["v.T @ D @ v"] == "0"
    inside = decided(SGHMC, "{}", singular, "C/4", "1e-3").decision
    assert inside.verdict is Verdict.PROVED


@pytest.mark.parametrize(("V", "verdict"), [("4*I", Verdict.PROVED), ("5*I", Verdict.UNDECIDED)])
def test_a_metric_cancels_where_it_stands_in_noise_and_gradient_alike(
    decided: Decide, V: str, verdict: Verdict
) -> None:
    sgrhmc = (
        STATE + "functions: {U: {of: theta, role: potential}, K: {of: theta, shape: [d, d], is: positive definite}}\n"
    )
    sgrhmc += "H: U(theta) + r.T @ r/2\nD: [[0, 0], [0, K @ K]]\nQ: [[0, -K], [K, 0]]\n"
    found = decided(sgrhmc, '{K: "diag(ones + theta**2)"}', "{}", V, "0.5")
    assert found.verdict is verdict  # eps V <= 2 I, whatever the metric


def test_a_metric_that_does_not_cancel_is_undecided(decided: Decide) -> None:
    sgrld = "name: m\nstate: {theta: {shape: d}}\nfunctions: {U: {of: theta, role: potential}}\nH: U(theta)\n"
    sgrld += "D: [[diag(ones + theta**2)]]\nQ: [[0]]\n"
    assert decided(sgrld, "{}", "{}", "I", "0.01").verdict is Verdict.UNDECIDED
    assert decided(sgrld, "{}", "{}", "0", "0.01").verdict is Verdict.PROVED


def test_b_hat_is_derived_through_d_and_q(decided: Decide) -> None:
    """With D = C in theta, B_hat is C V C: twice the friction is four times the noise taken out."""
    for c, eps, verdict in (("1", "1.9", Verdict.PROVED), ("2", "1.1", Verdict.REFUTED), ("2", "0.9", Verdict.PROVED)):
        found = decided(
            str(SPECS / "dynamics" / "sgld.yaml"), "{D: c*I}", f"{{c: {{is: positive, value: {c}}}}}", "I", eps
        )
        assert found.verdict is verdict


def test_a_scalar_state_uses_the_same_rules(decided: Decide) -> None:
    for V, verdict in (("9/2", Verdict.REFUTED), ("4", Verdict.PROVED)):
        found = decided(SGHMC, "{M: I, C: I}", "{}", f"({V})*I", "0.5", "sizes: {d: 2}")
        assert found.verdict is verdict


def test_a_value_from_a_file_is_the_exact_value_of_its_doubles(decided: Decide, tmp_path: Path) -> None:
    np.save(tmp_path / "C.npy", 0.1 * np.eye(2))
    found = decided(SGHMC, "{M: I}", "{C: {value: C.npy}}", "I", "0.2")
    assert isinstance(found.decision, Proved)
    assert dict(found.decision.data)["eps_max"] == str(2 * Fraction(0.1))
    assert decided(SGHMC, "{M: I}", "{C: {value: C.npy}}", "I", "0.21").verdict is Verdict.REFUTED


def test_a_file_too_large_to_look_at_is_left_to_the_module(
    decided: Decide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recipe_compiler.spec.npy.MANY", 3)
    np.save(tmp_path / "C.npy", np.eye(2))
    found = decided(SGHMC, "{M: I}", "{C: {value: C.npy}}", "I", "0.01").decision
    assert isinstance(found, Undecided)
    assert any("C is read from a file" in reason for reason in found.tried)


TIED = (
    "{M: {value: [[2, 0], [0, 1]]}, C: {value: [[1, 0], [0, 1]]}, "
    "V0: {shape: [d, d], is: positive definite, value: [[2, 1], [1, 2]]}}"
)


@pytest.mark.parametrize(
    ("eps", "verdict"),
    [
        ("2/3", Verdict.PROVED),
        ("0.66666666666666666666", Verdict.PROVED),
        ("0.66666666666666666667", Verdict.REFUTED),
        ("0.6666666666666667", Verdict.REFUTED),
    ],
)
def test_the_step_size_is_the_decimal_that_is_written(decided: Decide, eps: str, verdict: Verdict) -> None:
    """eps_max is 2/3; the double nearest to it and to both long decimals is below."""
    found = decided(SGHMC, "{}", TIED, "V0", eps).decision
    assert found.verdict is verdict
    data = found.data if isinstance(found, Proved) else found.witness if isinstance(found, Refuted) else ()
    assert dict(data)["eps_max"] == "2/3"
    assert dict(data)["eps"] == str(Fraction(eps))


def test_what_runs_is_told_where_rounding_decides(decided: Decide) -> None:
    """1/10 is allowed and its double, which is above it, is not; the other way round at a long decimal."""
    at = "{c: {is: nonnegative, value: 1}}"
    proved = decided(SGHMC, "{M: I, C: c*I}", at, "20*I", "0.1").decision
    refuted = decided(SGHMC, "{}", TIED, "V0", "0.66666666666666666667").decision
    assert isinstance(proved, Proved)
    assert Fraction(0.1) > Fraction(1, 10)
    assert "what runs is 0.1" in proved.remarks[0]
    assert "does not" in proved.remarks[0]
    assert isinstance(refuted, Refuted)
    assert refuted.residual.endswith("which keeps to it")


def test_a_surd_is_written_as_one(decided: Decide) -> None:
    values = TIED.replace("[[1, 0], [0, 1]]", "[[1, 0], [0, 2]]")
    found = decided(SGHMC, "{}", values, "V0", "0.7").decision
    assert isinstance(found, Proved)
    assert dict(found.data)["eps_max"] == "2 - 2*sqrt(3)/3"  # det(2C - eps V) = 3 eps**2 - 12 eps + 8
    assert dict(found.data)["where"] == "0.845299461620 < eps_max < 0.845299461621"


@pytest.mark.parametrize("digits", [13, 20, 60])
def test_no_enclosure_contradicts_the_verdict(decided: Decide, digits: int) -> None:
    values = TIED.replace("[[1, 0], [0, 1]]", "[[1, 0], [0, 2]]")
    root = str((2 - 2 * sympy.sqrt(3) / 3).evalf(90))[: digits + 2]
    below = decided(SGHMC, "{}", values, "V0", root).decision
    above = decided(SGHMC, "{}", values, "V0", str(Fraction(root) + Fraction(1, 10**digits))).decision
    assert isinstance(below, Proved)
    assert isinstance(above, Refuted)
    assert Fraction(root) <= Fraction(dict(below.data)["where"].partition(" < ")[0])
    assert Fraction(dict(above.witness)["where"].rpartition(" < ")[2]) <= Fraction(dict(above.witness)["eps"])


def test_a_root_of_higher_degree_is_named_by_its_polynomial(decided: Decide) -> None:
    C = "C: {value: [[2, 1, 0], [1, 3, 1], [0, 1, 1]]}"
    V = "V0: {shape: [d, d], is: positive definite, value: [[1, 1, 0], [1, 2, 0], [0, 0, 1]]}"
    found = decided(SGHMC, "{M: I}", f"{{{C}, {V}}}", "V0", "0.1").decision
    assert isinstance(found, Proved)
    assert dict(found.data)["eps_max"] == "the least positive root of eps**3 - 12*eps**2 + 36*eps - 24"
    C0, V1 = np.array([[2, 1, 0], [1, 3, 1], [0, 1, 1]]), np.array([[1, 1, 0], [1, 2, 0], [0, 0, 1]])
    at = np.linspace(-1.0, 3.0, 7)
    whole = np.array([np.linalg.det(2 * C0 - eps * V1) for eps in at])
    stated = np.polyval([1, -12, 36, -24], at)
    np.testing.assert_allclose(stated * whole[0] / stated[0], whole, atol=1e-9)


def test_sizes_fixed_by_a_value_are_not_read_from_the_data(decided: Decide) -> None:
    found = decided(SGHMC, "{M: I, C: '2*C0 - I'}", "{C0: {shape: [d, d], value: [[1, 0], [0, 3]]}}", "I", "2").decision
    assert isinstance(found, Proved)
    assert dict(found.data)["eps_max"] == "2"

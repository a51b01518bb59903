"""2D - eps B_hat, and what a word gives up for noise of the gradient: proved at exact values and by structure, refuted
with the direction in which it is negative, or why nothing is given up."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from answers import document, expect, vector
from scipy.linalg import expm
from scipy.optimize import brentq

from recipe_compiler.spec.bind import bind
from recipe_compiler.verify.builds.noise_budget import noise_budget

BUILD = """
name: b
dynamics: DYNAMICS
target: SPECS/targets/logistic_regression.yaml
bind: BIND
parameters: PARAMETERS
scheme: SCHEME
variant: minibatch
gradient_noise: {V: VALUE}
data: {file: data.csv, x: [a, b], y: y}
run: {step_size: EPS, batch_size: 2}
"""
DATA = {"data.csv": "a,b,y\n1,-2,1\n0.5,1.5,0\n-1,0.25,1\n"}
DEFAULTS = {"DYNAMICS": "SPECS/dynamics/sghmc.yaml", "SCHEME": "{name: euler}", "BIND": "{}", "PARAMETERS": "{}"}
STATE = "state: {theta: {shape: d}, r: {shape: d}}\n"
HMC = STATE + "functions: {U: {of: theta, role: potential}}\nH: U(theta) + r.T @ r/2\nD: [[0, 0], [0, 0]]\n"
HMC += "Q: [[0, -I], [I, 0]]\n"
SGRHMC = STATE + "functions: {U: {of: theta, role: potential}, K: {of: theta, shape: [d, d], is: positive definite}}\n"
SGRHMC += "H: U(theta) + r.T @ r/2\nD: [[0, 0], [0, K @ K]]\nQ: [[0, -K], [K, 0]]\n"
SGRLD = "state: {theta: {shape: d}}\nfunctions: {U: {of: theta, role: potential}}\nH: U(theta)\n"
SGRLD += "D: [[diag(ones + theta**2)]]\nQ: [[0]]\n"
MATRICES = "M: {value: [[2, 1/2], [1/2, 1]]}, C: {value: [[1, 1/4], [1/4, 3]]}"
V0 = "V0: {shape: [d, d], is: positive semidefinite, value: [[1/2, 1/8], [1/8, 1/4]]}"
TIED = (
    "{M: {value: [[2, 0], [0, 1]]}, C: {value: [[1, 0], [0, 1]]}, "
    "V0: {shape: [d, d], is: positive definite, value: [[2, 1], [1, 2]]}}"
)
SURD = TIED.replace("[[1, 0], [0, 1]]", "[[1, 0], [0, 2]]")
SINGULAR = f"{{M: {{value: [[1, 0], [0, 1]]}}, C: {{value: [[1, 1], [1, 1]]}}, {V0}}}"
THREE = "{C: {value: [[2, 1, 0], [1, 3, 1], [0, 1, 1]]}, "
THREE += "V0: {shape: [d, d], is: positive definite, value: [[1, 1, 0], [1, 2, 0], [0, 0, 1]]}}"


def decided(VALUE, EPS, files=(), **given):
    """Return the answer about a minibatch build of some dynamics, bindings, values, V and step size."""
    own = {**DEFAULTS, **given}
    dynamics = own["DYNAMICS"]
    if "\n" in dynamics:
        own["DYNAMICS"] = "dynamics.yaml"
    text = BUILD
    for name, value in {**own, "VALUE": f'"{VALUE}"', "EPS": EPS}.items():
        text = text.replace(name, value)
    build = document(text, dynamics=dynamics, **DATA, **dict(files))
    return noise_budget(build, bind(build))


@pytest.mark.parametrize(
    ("V", "eps", "given", "verdict", "shown"),
    [
        ("8*I", "0.5", {"BIND": "{M: I, C: c*I}", "PARAMETERS": "{c: {is: nonnegative, value: 2}}"}, "proved", "1/2"),
        (
            "8*I", "0.5000001", {"BIND": "{M: I, C: c*I}", "PARAMETERS": "{c: {is: nonnegative, value: 2}}"},
            "refuted", "1/2",
        ),
        ("9/2*I", "0.5", {"BIND": "{M: I, C: I}"}, "refuted", ""),
        ("4*I", "0.5", {"BIND": "{M: I, C: I}"}, "proved", ""),
        # a metric cancels where it stands in noise and gradient alike: eps V <= 2 I, whatever the metric
        ("4*I", "0.5", {"DYNAMICS": SGRHMC, "BIND": '{K: "diag(ones + theta**2)"}'}, "proved", ""),
        ("5*I", "0.5", {"DYNAMICS": SGRHMC, "BIND": '{K: "diag(ones + theta**2)"}'}, "undecided", ""),
        ("I", "0.01", {"DYNAMICS": SGRLD}, "undecided", ""),
        ("0", "0.01", {"DYNAMICS": SGRLD}, "proved", ""),
        # with D = C in theta, B_hat is C V C: twice the friction is four times the noise taken out
        *(
            (
                "I", eps, {
                    "DYNAMICS": "SPECS/dynamics/sgld.yaml", "BIND": "{D: c*I}",
                    "PARAMETERS": f"{{c: {{is: positive, value: {c}}}}}",
                }, verdict, "",
            )
            for c, eps, verdict in (("1", "1.9", "proved"), ("2", "1.1", "refuted"), ("2", "0.9", "proved"))
        ),
        ("C/4", "1e-3", {"PARAMETERS": SINGULAR}, "proved", ""),
        # the step size is the decimal that is written; the double nearest to 2/3 and to both long decimals is below
        ("V0", "2/3", {"PARAMETERS": TIED}, "proved", "2/3"),
        ("V0", "0.66666666666666666666", {"PARAMETERS": TIED}, "proved", "2/3"),
        ("V0", "0.66666666666666666667", {"PARAMETERS": TIED}, "refuted", "2/3"),
        ("V0", "0.6666666666666667", {"PARAMETERS": TIED}, "refuted", "2/3"),
        ("V0", "0.7", {"PARAMETERS": SURD}, "proved", "2 - 2*sqrt(3)/3"),  # det(2C - eps V) = 3 eps**2 - 12 eps + 8
        (
            "V0", "0.1", {"BIND": "{M: I}", "PARAMETERS": THREE}, "proved",
            "the least positive root of eps**3 - 12*eps**2 + 36*eps - 24",
        ),
        # sizes fixed by a value are not read from the data
        (
            "I", "2",
            {"BIND": "{M: I, C: '2*C0 - I'}", "PARAMETERS": "{C0: {shape: [d, d], value: [[1, 0], [0, 3]]}}"},
            "proved", "2",
        ),
    ],
)  # fmt: skip
def test_the_budget_is_decided(V, eps, given, verdict, shown):
    data = expect(decided(V, eps, **given), verdict)
    assert not shown or data["eps_max"] == shown
    assert given.get("PARAMETERS") != TIED or data["eps"] == str(Fraction(eps))
    assert "sqrt" not in shown or data["where"] == "0.845299461620 < eps_max < 0.845299461621"


def test_the_polynomial_of_a_root_is_a_determinant():
    C, V = np.array([[2, 1, 0], [1, 3, 1], [0, 1, 1]]), np.array([[1, 1, 0], [1, 2, 0], [0, 0, 1]])
    at = np.linspace(-1.0, 3.0, 7)
    whole, stated = np.array([np.linalg.det(2 * C - eps * V) for eps in at]), np.polyval([1, -12, 36, -24], at)
    np.testing.assert_allclose(stated * whole[0] / stated[0], whole, atol=1e-9)


@pytest.mark.parametrize("given", [{"DYNAMICS": HMC}, {"PARAMETERS": SINGULAR}], ids=["no noise", "singular"])
def test_no_step_is_small_enough_without_noise_to_take_from(given):
    at = expect(decided("V0" if "PARAMETERS" in given else "I", "1e-9", **given), "refuted", "no step size")
    assert "PARAMETERS" not in given or at["v.T @ D @ v"] == "0"


def test_full_matrices_are_decided_at_their_values():
    C, V = np.array([[1, 0.25], [0.25, 3]]), np.array([[0.5, 0.125], [0.125, 0.25]])
    limit = 2.0 / np.linalg.eigvals(np.linalg.solve(C, V)).real.max()
    below, above = (decided("V0", f"{x * limit:.9f}", PARAMETERS=f"{{{MATRICES}, {V0}}}") for x in (0.999999, 1.000001))
    assert float(Fraction(expect(below, "proved")["eps_max"])) == pytest.approx(limit, rel=1e-12)
    witness = expect(above, "refuted")
    v, eps = np.array(vector(witness["v"]), float), float(Fraction(witness["eps"]))
    assert v @ (2 * C - eps * V) @ v == pytest.approx(float(Fraction(witness["v.T @ (2D - eps B_hat) @ v"])))
    assert v @ (2 * C - eps * V) @ v < 0


def file_of(tmp_path, matrix):
    np.save(tmp_path / "C.npy", matrix)
    return {"C.npy": (tmp_path / "C.npy").read_bytes()}


def test_a_value_from_a_file_is_the_exact_value_of_its_doubles(tmp_path):
    given = {"files": file_of(tmp_path, 0.1 * np.eye(2)), "BIND": "{M: I}", "PARAMETERS": "{C: {value: C.npy}}"}
    assert expect(decided("I", "0.2", **given), "proved")["eps_max"] == str(2 * Fraction(0.1))
    expect(decided("I", "0.21", **given), "refuted")


def test_a_file_too_large_to_look_at_is_left_to_the_module(tmp_path, monkeypatch):
    monkeypatch.setattr("recipe_compiler.spec.npy.MANY", 3)
    files = file_of(tmp_path, np.eye(2))
    found = decided("I", "0.01", files, BIND="{M: I}", PARAMETERS="{C: {value: C.npy}}")
    expect(found, "undecided", "C is read from a file")


def test_what_runs_is_told_where_rounding_decides():
    """1/10 is allowed and its double, which is above it, is not; the other way round at a long decimal."""
    proved = decided("20*I", "0.1", BIND="{M: I, C: c*I}", PARAMETERS="{c: {is: nonnegative, value: 1}}")
    assert Fraction(0.1) > Fraction(1, 10)
    expect(proved, "proved", "what runs is 0.1", "does not")
    refuted = decided("V0", "0.66666666666666666667", PARAMETERS=TIED)
    expect(refuted, "refuted", "which keeps to it")


@pytest.mark.parametrize("digits", [13, 20, 60])
def test_no_enclosure_contradicts_the_verdict(digits):
    root = str((2 - 2 * sympy.sqrt(3) / 3).evalf(90))[: digits + 2]
    below = expect(decided("V0", root, PARAMETERS=SURD), "proved")
    above = expect(decided("V0", str(Fraction(root) + Fraction(1, 10**digits)), PARAMETERS=SURD), "refuted")
    assert Fraction(root) <= Fraction(below["where"].partition(" < ")[0])
    assert Fraction(above["where"].rpartition(" < ")[2]) <= Fraction(above["eps"])


# words: whether O has the noise that is given up

BAOAB = {"SCHEME": "{name: baoab}"}
SCALED = {
    "SCHEME": "{name: baoab}",
    "BIND": "{M: m*I, C: c*I}",
    "PARAMETERS": "{m: {is: positive, value: 2}, c: {is: nonnegative, value: 3}}",
}
W0 = "V0: {shape: [d, d], is: positive semidefinite, value: [[5, 2], [2, 3]]}"
DIAGONAL = "{{m: {{shape: d, is: positive, value: [1, 3]}}, c: {{shape: d, is: nonnegative, value: {}}}, {}}}"
W = "w: {shape: d, is: nonnegative, value: [0, 1]}"
LIMITS = {
    "{name: baoab}": lambda eps, E: eps**2 * (1 + E) ** 2 / 4 * 5 - 2 * (1 - E**2),
    "{name: aboba}": lambda eps, E: eps**2 * (1 + E) ** 2 / 4 * 5 - 2 * (1 - E**2),
    "{name: obabo}": lambda eps, E: eps**2 * (1 + E) ** 2 / 4 * 5 - 2 * (1 - E),
    "{name: lie}": lambda eps, E: eps**2 * 5 - 2 * (1 - E**2),
}


@pytest.mark.parametrize("scheme", LIMITS)
def test_multiples_of_the_identity_in_a_word_are_decided_at_every_size(scheme):
    """M = 2 I, C = 3 I, V = 5 I: Sigma_O = 2 (1 - E^2) I, E = exp(-3 eps/2); of half a step 2 (1 - E) I."""
    limit = brentq(lambda eps: LIMITS[scheme](eps, np.exp(-1.5 * eps)), 1e-3, 5.0, xtol=1e-12)
    steps = {f"{0.99999 * limit:.8f}": True, f"{1.00001 * limit:.8f}": False, "0.01": True, "7": False}
    for eps, holds in steps.items():
        shown = expect(decided("5*I", eps, **{**SCALED, "SCHEME": scheme}), "proved" if holds else "refuted")
        low, high = (float(Fraction(shown[name])) for name in ("holds at", "fails at"))
        assert low <= limit * (1 + 1e-9) < high * (1 + 2e-9)
        assert high / low < 1.0002


def test_full_matrices_in_a_word_are_decided_at_their_values():
    M, C, V = np.array([[2, 0.5], [0.5, 1]]), np.array([[1, 0.25], [0.25, 3]]), np.array([[5.0, 2.0], [2.0, 3.0]])

    def left(eps):
        """Return what is left of the noise of O in BAOAB."""
        E = expm(-eps * C @ np.linalg.inv(M))
        K = (np.eye(2) + E) / 2
        return M - E @ M @ E.T - eps**2 * K @ V @ K.T

    limit = brentq(lambda eps: float(np.linalg.eigvalsh(left(eps))[0]), 0.05, 2.0, xtol=1e-12)
    given = {**BAOAB, "PARAMETERS": f"{{{MATRICES}, {W0}}}"}
    below = expect(decided("V0", f"{0.9999 * limit:.8f}", **given), "proved")
    assert float(Fraction(below["holds at"])) < limit * (1 + 1e-6)
    assert limit * (1 - 1e-6) < float(Fraction(below["fails at"]))
    above = expect(decided("V0", f"{1.0001 * limit:.8f}", **given), "refuted")
    assert above["v.T @ (Sigma - eps^2 B_hat) @ v"].startswith("< -")
    v = np.array(vector(above["v"]), float)
    assert v @ left(1.0001 * limit) @ v < 0


STRONG = f"{{M: {{value: [[1, 0.5], [0.5, 1]]}}, C: {{value: [[5000, 1], [1, 0.001]]}}, {W0}}}"
SKEWED = f"{{{MATRICES}, V0: {{shape: [d, d], value: [[5, 2], [1, 3]]}}}}"
OF_DIAGONALS = {**BAOAB, "BIND": "{M: diag(m), C: diag(c)}"}
LOST = "volume and reversibility are those of a step given"


@pytest.mark.parametrize(
    ("V", "eps", "given", "verdict", "says"),
    [
        # where there is no friction nothing can be given up
        ("V0", "1e-6", {**OF_DIAGONALS, "PARAMETERS": DIAGONAL.format("[0, 2]", W0)}, "refuted", ""),
        ("V0", "1e-6", {**OF_DIAGONALS, "PARAMETERS": DIAGONAL.format("[0, 0]", W0)}, "refuted", ""),
        # an entry of V without noise of its own, where C has none either: 0 >= 0, exactly
        ("diag(w)", "0.1", {**OF_DIAGONALS, "PARAMETERS": DIAGONAL.format("[0, 2]", W)}, "proved", ""),
        ("5*I + ones @ ones.T", "0.1", SCALED, "undecided", "the size d is not known before the data are read"),
        ("V0", "0.1", {**BAOAB, "PARAMETERS": SKEWED}, "undecided", "not symmetric"),
        # exp(500) beside exp(-500), and a coordinate that hardly decays
        ("V0/1000000", "0.1", {**BAOAB, "PARAMETERS": STRONG}, "proved", ""),
        ("estimate", "0.1", SCALED, "proved", "V_hat that is estimated"),
        ("0", "0.1", SCALED, "proved", LOST),
        ("5*I", "0.1", SCALED, "proved", LOST),
    ],
)
def test_what_o_has_of_the_noise_that_is_given_up(V, eps, given, verdict, says):
    shown = expect(decided(V, eps, **given), verdict, says)
    assert verdict != "refuted" or "holds at" not in shown


ANOTHER = {
    "takes up noise of covariance v I by itself": {
        "DYNAMICS": "SPECS/dynamics/sgnht.yaml", "PARAMETERS": "{A: {value: 1}}", "SCHEME": "{name: badodab}",
    },
    "A stands on either side": {**SCALED, "SCHEME": "{split: [O/2, A/2, O/4, B, A/2, O/4]}"},
    "the flow of B is no shift": {
        **SCALED,
        "SCHEME": "{split: [A/2, B, A/2], pieces: {A: {Q: all, H: r}, B: [{Q: all, H: U}, {D: all}]}}",
    },
    "V, or what the gradient is multiplied by, depends": SCALED,
}  # fmt: skip


@pytest.mark.parametrize("why", ANOTHER)
def test_what_is_of_another_form_gives_nothing_up_and_says_why(why):
    found = decided("norm2(theta)*I" if why.startswith("V, ") else "5*I", "0.1", **ANOTHER[why])
    expect(found, "proved", why, "biases the chain")
    assert found.decision.by.startswith("nothing is subtracted: ")

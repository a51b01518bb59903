"""What steps of Langevin dynamics sample of a Gaussian, in closed form, by F and Sigma as they are read back.

On the line U has the Hessian 1/Sigma, omega^2 = 1/(Sigma m), c = exp(-C eps/m) (Leimkuhler and Matthews 2013). With
matrices, K being the Hessian: O keeps r ~ N(0, M) whatever C is, and kicks and drifts keep a quadratic form, so that
every palindrome of A, B and O has a law that does not depend on C. No random numbers anywhere.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from affine_builds import LANGEVIN, module_of, read, written

from recipe_compiler.audit.affine import Affine, AffineStep
from recipe_compiler.audit.figures import covariance, largest_stable, radius
from recipe_compiler.errors import CompilerError

WORDS = {
    "BAOAB": "{name: baoab}",
    "ABOBA": "{name: aboba}",
    "OBABO": "{name: obabo}",
    "OABAO": "{split: [O/2, A/2, B, A/2, O/2]}",
}
LINE = """
bind: {M: m*I, C: c*I}
parameters: {m: {is: positive, value: 1}, c: {is: positive, value: 1}, mu: {value: [0]}, Sigma: {value: [[1]]}}
"""
eps, m, g, s = (sp.Symbol(name, positive=True) for name in ("eps", "m", "c", "Sigma[0,0]"))
x = eps**2 / (m * s)
"""eps^2 omega^2."""
c = sp.exp(-g * eps / m)


def on_line(folder: Path, scheme: str, fault: tuple[str, str] = ("", "")) -> Affine:
    """Return a step on the line, all parameters being symbols; of a text with a fault, if one is given."""
    build = replace(written(folder, LANGEVIN.replace("PARAMETERS", LINE).replace("SCHEME", scheme)), values=())
    module = module_of(build)
    assert fault[0] in module.text
    return read(build, {"d": 1}, replace(module, text=module.text.replace(*fault))).composed()


def keeps(step: Affine, var_theta: sp.Expr, var_r: sp.Expr) -> bool:
    """Whether S = diag(var_theta, var_r) solves S = F S F^T + Sigma."""
    S = sp.diag(var_theta, var_r)
    F = sp.Matrix(step.F)
    return sp.simplify(F * S * F.T + sp.Matrix(step.Sigma) - S) == sp.zeros(2)


LAWS = {
    "BAOAB": (s, m * (1 - x / 4)),
    "ABOBA": (s, m / (1 - x / 4)),
    "OBABO": (s / (1 - x / 4), m),
    "OABAO": (s * (1 - x / 4), m),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WORDS)
def test_a_palindrome_has_the_law_of_its_row(tmp_path: Path, name: str) -> None:
    step = on_line(tmp_path, WORDS[name])
    F = sp.Matrix(step.F)
    assert keeps(step, *LAWS[name])
    assert sp.simplify(F.trace() - (1 + c) * (1 - x / 2)) == 0
    assert sp.simplify(F.det() - c) == 0  # so that it is stable if and only if eps omega < 2 (Jury)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "variance", "trace", "determinant"),
    [
        ("{name: lie}", (1 + c) ** 2 / (2 * (1 + c) - x), 1 + c - x, c),
        (
            "{name: sequential_euler, order: [r, theta]}",
            2 * (2 - g * eps / m) / (4 - 2 * g * eps / m - x), 2 - g * eps / m - x, 1 - g * eps / m,
        ),
    ],
)  # fmt: skip
def test_steps_of_order_1_have_a_law_too(
    tmp_path: Path, scheme: str, variance: sp.Expr, trace: sp.Expr, determinant: sp.Expr
) -> None:
    """The word is [B, A, O]: read after O, its law of theta is the one of the row."""
    step = on_line(tmp_path, scheme)
    F = sp.Matrix(step.F)
    a, b, d = sp.symbols("S11 S12 S22")
    S = sp.Matrix([[a, b], [b, d]])
    (law,) = sp.solve(list(F * S * F.T + sp.Matrix(step.Sigma) - S), [a, b, d], dict=True)
    assert sp.simplify(law[a] / s - variance) == 0
    assert sp.simplify(F.trace() - trace) == 0
    assert sp.simplify(F.det() - determinant) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("step_factor * grad_U_new[i]", "0.5 * step_factor * grad_U_new[i]"),
        ("step_factor_2 * r_v1[i]", "0.0 * r_v1[i]"),
        ("_exprel(-2.0 * c * eps / m)", "_exprel(-c * eps / m)"),
        ("scale_r * noise_r[i]", "2.0 * scale_r * noise_r[i]"),
        ("gradient(grad_U_new, theta_new,", "gradient(grad_U_new, theta,"),
    ],
)
def test_a_fault_in_the_text_is_a_step_with_another_law(tmp_path: Path, right: str, wrong: str) -> None:
    """A kick too short, a lost drift, Euler's noise at an exact decay, too much noise; a stale gradient is not read."""
    if "gradient" in right:
        with pytest.raises(CompilerError, match="asks for the gradient at another theta"):
            on_line(tmp_path, WORDS["BAOAB"], (right, wrong))
        return
    assert not keeps(on_line(tmp_path, WORDS["BAOAB"], (right, wrong)), *LAWS["BAOAB"])


PLANES = """
parameters:
  M: {value: [[2, 1/2, 0], [1/2, 1, 1/4], [0, 1/4, 3/2]]}
  C: {value: [[1, 1/3, 1/4], [1/3, 2, -1/2], [1/4, -1/2, 3/2]]}
  mu: {value: [1, -2, 1/2]}
  Sigma: {value: [[2, 1/2, 1/3], [1/2, 1, -1/4], [1/3, -1/4, 3/2]]}
"""
K = np.linalg.inv([[2.0, 1 / 2, 1 / 3], [1 / 2, 1.0, -1 / 4], [1 / 3, -1 / 4, 3 / 2]])
M = np.array([[2.0, 1 / 2, 0.0], [1 / 2, 1.0, 1 / 4], [0.0, 1 / 4, 3 / 2]])
STEP = 0.3


def matrices(folder: Path, scheme: str) -> AffineStep:
    return read(written(folder, LANGEVIN.replace("PARAMETERS", PLANES).replace("SCHEME", scheme)), {"d": 3})


def law(name: str, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariances of theta and r at a step size, by the quadratic form that kicks and drifts keep."""
    inv, M_inv = np.linalg.inv, np.linalg.inv(M)
    match name:
        case "BAOAB":
            return inv(K), M - h**2 * K / 4
        case "ABOBA":
            return inv(K), inv(M_inv - h**2 * M_inv @ K @ M_inv / 4)
        case "OBABO":
            return inv(K - h**2 * K @ M_inv @ K / 4), M
        case _:
            return inv(K) - h**2 * M_inv / 4, M


@pytest.mark.parametrize("name", WORDS)
def test_the_laws_hold_for_matrices(tmp_path: Path, name: str) -> None:
    step = matrices(tmp_path, WORDS[name]).at(STEP)
    S = covariance(step.F, step.Sigma)
    of_theta, of_r = law(name, STEP)
    np.testing.assert_allclose(S, np.block([[of_theta, 0 * K], [0 * K, of_r]]), rtol=0, atol=1e-12)
    center = np.linalg.solve(np.eye(6) - step.F, step.a)
    np.testing.assert_allclose(center, [1, -2, 1 / 2, 0, 0, 0], rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*WORDS, "leapfrog"])
def test_palindromes_are_stable_up_to_2_over_omega(tmp_path: Path, name: str) -> None:
    if name == "leapfrog":
        text = LANGEVIN.replace("sghmc", "hmc").replace("PARAMETERS", re.sub("  C: .*\n", "", PLANES))
        step = read(written(tmp_path, text.replace("SCHEME", "{name: leapfrog}")), {"d": 3})
    else:
        step = matrices(tmp_path, WORDS[name])
    omega = np.sqrt(np.linalg.eigvals(np.linalg.inv(M) @ K).real.max())
    below, above = (radius(step.at(share / omega).F) for share in (1.99, 2.01))
    if name == "leapfrog":
        assert below == pytest.approx(1.0, abs=1e-9)  # it keeps volume: nothing is forgotten
    else:
        assert below < 1.0
    assert above > 1.0
    found = largest_stable(lambda h: step.at(h).F, 0.01, 1.05, 1e-6)
    assert found == pytest.approx(2.0 / omega, rel=2e-6)

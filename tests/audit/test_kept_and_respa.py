"""Draws kept within a word, and words with two forces: their laws and orders by F and Sigma as they are read."""

from pathlib import Path

import pytest
import sympy as sp
from affine_builds import LANGEVIN, SPECS, read, written

from recipe_compiler.audit.affine import Affine
from recipe_compiler.pipeline import compile_build
from recipe_compiler.spec.model import Build

eps = sp.Symbol("eps", positive=True)
m, g, s, k = sp.Rational(3, 2), sp.Rational(1, 2), sp.Rational(2), sp.Rational(5)
"""Mass, friction, variance of the target; the stiffness of the fast force."""
c = sp.exp(-g * eps / m)
LINE = """
bind: {M: m*I, C: c*I}
parameters: {m: {is: positive, value: 3/2}, c: {is: positive, value: 1/2}, mu: {value: [0]}, Sigma: {value: [[2]]}}
"""
TWO_FORCES = """
format: 1
name: two_forces
state:
  theta: {shape: d}
  r: {shape: d}
parameters:
  M: {shape: [d, d], is: positive definite}
  C: {shape: [d, d], is: positive semidefinite}
functions:
  U: {of: theta, role: potential}
  V: {of: theta}
H: U(theta) + V(theta) + r.T @ inv(M) @ r / 2
D: [[0, 0], [0, C]]
Q: [[0, -I], [I, 0]]
claims:
  marginal: {theta: U(theta) + V(theta)}
"""
RESPA = """
bind: {M: m*I, C: FRICTION, V: k*theta.T @ theta/2}
parameters:
  m: {is: positive, value: 3/2}
  c: {is: positive, value: 1/2}
  k: {is: positive, value: 5}
  mu: {value: [0]}
  Sigma: {value: [[2]]}
"""
WITH_NOISE = """{
  split: [S/2, {repeat: 2, of: [F/4, A/4, O/2, A/4, F/4]}, S/2],
  pieces: {S: {Q: all, H: U}, F: {Q: all, H: V}, A: {Q: all, H: r}, O: {D: all}}}"""


def kick(share: sp.Expr, stiffness: sp.Expr = 1 / s) -> sp.Matrix:
    return sp.Matrix([[1, 0], [-share * eps * stiffness, 1]])


def drift(share: sp.Expr) -> sp.Matrix:
    return sp.Matrix([[1, share * eps / m], [0, 1]])


def line(folder: Path, scheme: str) -> Affine:
    """Return a step on the line as its text is read."""
    return read(written(folder, LANGEVIN.replace("PARAMETERS", LINE).replace("SCHEME", scheme)), {"d": 1}).composed()


HALF = sp.Rational(1, 2)
BAOAB = (kick(HALF), drift(HALF), None, drift(HALF), kick(HALF))


@pytest.mark.slow
@pytest.mark.parametrize("keep", [1, 2, 3, 4, 5, "O"])
def test_draws_kept_within_a_word_have_the_law_that_its_letters_carry_there(tmp_path: Path, keep: int | str) -> None:
    """From diag(s, m (1 - eps^2 omega^2/4)), which BAOAB keeps, letter by letter to where the draws are kept."""
    S = sp.diag(s, m * (1 - eps**2 / (4 * m * s)))
    for flow in BAOAB[: keep if isinstance(keep, int) else 3]:
        S = sp.diag(1, c) * S * sp.diag(1, c) + sp.diag(0, m * (1 - c**2)) if flow is None else flow * S * flow.T
    step = line(tmp_path, f"{{name: baoab, keep: {keep}}}")
    F = sp.Matrix(step.F)
    assert sp.simplify(F * S * F.T + sp.Matrix(step.Sigma) - S) == sp.zeros(2)
    expected = s if keep in (1, 4, 5) else s * (1 - eps**2 / (4 * m * s))
    assert sp.simplify(S[0, 0] - expected) == 0


def two_forces(folder: Path, scheme: str, friction: str) -> Build:
    (folder / "two_forces.yaml").write_text(TWO_FORCES)
    text = LANGEVIN.replace(f"{SPECS}/dynamics/sghmc.yaml", "two_forces.yaml").replace("PARAMETERS", RESPA)
    return written(folder, text.replace("FRICTION", friction).replace("SCHEME", scheme))


@pytest.mark.slow
def test_multiple_time_steps_are_the_word_as_it_is_written(tmp_path: Path) -> None:
    """F of the step that is read is the product of its fourteen letters, and of order 2: not of order 3."""
    build = two_forces(tmp_path, f"{{use: {SPECS}/schemes/respa.yaml}}", "0*I")
    F = sp.Matrix(read(build, {"d": 1}).composed().F)
    inner = kick(sp.Rational(1, 8), k) * drift(sp.Rational(1, 4)) * kick(sp.Rational(1, 8), k)
    assert sp.expand(F - kick(HALF) * inner**4 * kick(HALF)) == sp.zeros(2)
    generator = sp.Matrix([[0, 1 / m], [-1 / s - k, 0]])
    exact = sum((eps**n * generator**n / sp.factorial(n) for n in range(1, 4)), sp.eye(2))
    off = (F - exact).applyfunc(sp.expand)
    assert all(entry.coeff(eps, n) == 0 for entry in off for n in range(3))
    assert any(entry.coeff(eps, 3) != 0 for entry in off)


@pytest.mark.slow
def test_two_forces_with_noise_have_a_law_of_order_2(tmp_path: Path) -> None:
    """The covariance of theta is 1/(1/s + k) to order eps^2, by the law of the step that is read."""
    build = two_forces(tmp_path, WITH_NOISE, "c*I")
    assert "gradient(" in compile_build(build).text
    step = read(build, {"d": 1}).composed()

    def variance(size: sp.Rational) -> sp.Expr:
        F, Sigma = (sp.Matrix(matrix).xreplace({eps: size}).evalf(40) for matrix in (step.F, step.Sigma))
        a, b, d = sp.symbols("a b d")
        S = sp.Matrix([[a, b], [b, d]])
        off = F * S * F.T + Sigma - S
        found = sp.solve([off[0, 0], off[0, 1], off[1, 1]], [a, b, d])
        return found[a]

    errors = [abs(variance(sp.Rational(1, n)) - 1 / (1 / s + k)) for n in (8, 16)]
    assert errors[0] > 1e-6
    assert abs(errors[0] / errors[1] - 4) < 0.6


@pytest.mark.slow
def test_a_bound_function_is_still_called_by_its_name(tmp_path: Path) -> None:
    """V is bound and gone from H; its summand is not that of U, though both are of theta."""
    build = two_forces(tmp_path, f"{{use: {SPECS}/schemes/respa.yaml}}", "0*I")
    text = compile_build(build).file
    assert "S/2, {repeat: 4, of: [F/8, A/4, F/8]}, S/2" in text

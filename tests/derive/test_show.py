"""The whole equation for readers."""

from dataclasses import replace
from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.derive.recipe import derive
from recipe_compiler.derive.show import compilable, derivation_latex, derivation_text

SPECS = Path(__file__).parents[2] / "specs"
CANONICAL = {"theta,r": "-I", "r,theta": "I"}
SGHMC = (
    "theta:d; r:d", "M:d d:positive definite; C:d d:positive semidefinite", "U:theta",
    "U + r.T @ inv(M) @ r / 2", {"r,r": "C"}, CANONICAL,
)  # fmt: skip
SGNHT = (
    "theta:d; r:d; xi:", "A::positive", "U:theta",
    "U + r.T @ r / 2 + d/2*(xi - A)**2", {"r,r": "A*I"}, {**CANONICAL, "r,xi": "r/d", "xi,r": "-r.T/d"},
)  # fmt: skip

SGHMC_TEXT = """\
test

state     z = (theta [d], r [d])

energy    H = U(theta) + r.T @ inv(M) @ r / 2

D         [0  0]
          [0  C]

Q         [0  -I]
          [I   0]

grad H    theta: grad(U, theta)
          r:     inv(M) @ r

Gamma     vanishes

drift     f = -(D + Q) grad H + Gamma
          theta: inv(M) @ r
          r:     -C @ inv(M) @ r - grad(U, theta)

equation  dz = f dt + sqrt(2 D) dW
          d theta = inv(M) @ r dt
          d r     = (-C @ inv(M) @ r - grad(U, theta)) dt + sqrt(2*C) dW_r

step      z' = z + eps f(z) + N(0, 2 eps D(z))
"""


def test_text_of_sghmc(make):
    assert derivation_text(derive(make(*SGHMC))) == SGHMC_TEXT


def test_text_of_sgnht_has_its_correction(make):
    shown = derivation_text(derive(make(*SGNHT)))
    assert "          xi:    -1\n" in shown
    assert "d xi    = (r.T @ r/d - 1) dt\n" in shown
    assert "+ sqrt(2*A) dW_r" in shown


@pytest.mark.parametrize(
    "line",
    [
        r"D(z) &= \begin{pmatrix} 0 & 0 \\ 0 & C \end{pmatrix}, \qquad "
        r"Q(z) = \begin{pmatrix} 0 & -I_{d} \\ I_{d} & 0 \end{pmatrix} \\",
        r"\nabla H &= \begin{pmatrix} \nabla_{\theta} U \\ M^{-1} r \end{pmatrix} \\",
        r"\Gamma &= 0 \\",
        r"\mathrm{d}r &= \left(-C M^{-1} r - \nabla_{\theta} U\right) \, \mathrm{d}t + \sqrt{2 C} \, \mathrm{d}W_{r}",
    ],
)
def test_latex_of_sghmc(make, line):
    lines = [written.strip() for written in derivation_latex(derive(make(*SGHMC))).splitlines()]
    assert line in lines


@pytest.mark.slow
def test_latex_has_balanced_braces(make):
    for system in (SGHMC, SGNHT):
        shown = derivation_latex(derive(make(*system)))
        assert shown.count("{") == shown.count("}")
        assert shown.count(r"\left") == shown.count(r"\right")


def test_latex_keeps_the_authors_matrices_and_puts_indices_around_the_rest(make):
    places = {"r,r": "(1 + theta.T @ theta)*I"}
    curl = {"theta,r": "-diag(sqrt(ones + theta**2))", "r,theta": "diag(sqrt(ones + theta**2))"}
    shown = derivation_latex(derive(make("theta:d; r:d", "", "U:theta", "U + r.T @ r / 2", places, curl)))
    assert r"\delta" not in shown
    assert r"\left(1 + {\theta}^\top \theta\right) I_{d}" in shown
    assert r"-\operatorname{diag}\left(\sqrt{\mathbf{1} + {\theta}^{2}}\right)" in shown
    assert (
        r"\Gamma &= \begin{pmatrix} 0 \\ \left(\frac{\theta_{i}}{\sqrt{\theta_{i}^{2} + 1}}\right)_{i} \end{pmatrix}"
        in shown
    )


def test_equations_compile_under_the_title_of_their_document():
    dynamics = load_dynamics(SPECS / "dynamics/sghmc.yaml")
    shown = compilable(dynamics, "x_1")
    assert shown.startswith("\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n")
    assert "\\section*{Stochastic gradient Hamiltonian Monte Carlo}" in shown
    assert shown.endswith("x_1\n\\end{document}\n")
    assert "\\section*{a\\_b \\& c}" in compilable(replace(dynamics, title="a_b & c"), "")


def test_what_has_no_matrix_notation_is_written_with_its_index(make):
    shown = derivation_text(
        derive(make("theta:d:positive", "a::positive", "", "sum(theta) - (a - 1)*sum(log(theta))",
                    {"theta,theta": "diag(theta)"}, {}))
    )  # fmt: skip
    assert "d theta[i] = (a - theta[i]) dt + (sqrt(2*diag(theta)) dW_theta)[i]" in shown


def test_small_fixed_sizes_are_written_place_by_place(make):
    shown = derivation_text(derive(make("x:2", "", "", "x[0]**4 + x[0]*x[1]", {"x,x": "I"}, {})))
    assert "d x[0] = (-4 x[0]**3 - x[1]) dt + (sqrt(2) dW_x)[0]" in shown
    assert "d x[1] = -x[0] dt + (sqrt(2) dW_x)[1]" in shown


def test_noise_shared_by_blocks_is_not_split(make):
    shown = derivation_text(
        derive(make("x:d; y:d", "", "U:x", "U + y.T @ y / 2", {"x,x": "I", "x,y": "I", "y,x": "I", "y,y": "I"}, {}))
    )
    assert "(sqrt(2 D) dW)_x" in shown

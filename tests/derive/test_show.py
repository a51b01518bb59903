"""The whole equation for readers."""

from dataclasses import replace

import pytest
from answers import document, shipped

from recipe_compiler.derive.recipe import derive
from recipe_compiler.derive.show import compilable, derivation_latex, derivation_text

POTENTIAL = "functions: {U: {of: theta, role: potential}}"
SGHMC_TEXT = """\
sghmc: Stochastic gradient Hamiltonian Monte Carlo

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
SGHMC_LATEX = [
    r"D(z) &= \begin{pmatrix} 0 & 0 \\ 0 & C \end{pmatrix}, \qquad "
    r"Q(z) = \begin{pmatrix} 0 & -I_{d} \\ I_{d} & 0 \end{pmatrix} \\",
    r"\nabla H &= \begin{pmatrix} \nabla_{\theta} U \\ M^{-1} r \end{pmatrix} \\",
    r"\Gamma &= 0 \\",
    r"\mathrm{d}r &= \left(-C M^{-1} r - \nabla_{\theta} U\right) \, \mathrm{d}t + \sqrt{2 C} \, \mathrm{d}W_{r}",
]


def test_sghmc_in_text_and_latex() -> None:
    own = shipped("dynamics/sghmc")
    assert derivation_text(derive(own)).startswith(SGHMC_TEXT)
    latex = derivation_latex(derive(own))
    assert {*SGHMC_LATEX} <= {line.strip() for line in latex.splitlines()}
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\left") == latex.count(r"\right")
    shown = compilable(own, "x_1")
    assert shown.startswith("\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n")
    assert "\\section*{Stochastic gradient Hamiltonian Monte Carlo}" in shown
    assert shown.endswith("x_1\n\\end{document}\n")
    assert "\\section*{a\\_b \\& c}" in compilable(replace(own, title="a_b & c"), "")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            f"state: {{theta: {{shape: d}}, r: {{shape: d}}, xi: {{}}}}\n{POTENTIAL}\n"
            "parameters: {A: {is: positive}}\n"
            "H: U + r.T @ r / 2 + d/2*(xi - A)**2\nD: [[0, 0, 0], [0, A*I, 0], [0, 0, 0]]\n"
            "Q: [[0, -I, 0], [I, 0, r/d], [0, -r.T/d, 0]]",
            ["          xi:    -1\n", "d xi    = (r.T @ r/d - 1) dt\n", "+ sqrt(2*A) dW_r"],
        ),
        (
            "state: {theta: {shape: d, domain: positive}}\nparameters: {a: {is: positive}}\n"
            "H: sum(theta) - (a - 1)*sum(log(theta))\nD: [[diag(theta)]]\nQ: [[0]]",
            ["d theta[i] = (a - theta[i]) dt + (sqrt(2*diag(theta)) dW_theta)[i]"],
        ),
        (
            "state: {x: {shape: 2}}\nH: 'x[0]**4 + x[0]*x[1]'\nD: [[I]]\nQ: [[0]]",
            ["d x[0] = (-4 x[0]**3 - x[1]) dt + (sqrt(2) dW_x)[0]", "d x[1] = -x[0] dt + (sqrt(2) dW_x)[1]"],
        ),
        (
            f"state: {{theta: {{shape: d}}, y: {{shape: d}}}}\n{POTENTIAL}\nH: U + y.T @ y / 2\nD: [[I, I], [I, I]]\n"
            "Q: [[0, 0], [0, 0]]",
            ["(sqrt(2 D) dW)_theta"],
        ),
    ],
)
def test_corrections_indices_and_joint_noise_in_text(text: str, lines: list[str]) -> None:
    shown = derivation_text(derive(document(text)))
    assert [line for line in lines if line not in shown] == [], shown


def test_latex_keeps_the_authors_matrices_and_puts_indices_around_the_rest() -> None:
    metric = "diag(sqrt(ones + theta**2))"
    shown = derivation_latex(derive(document(
        f"state: {{theta: {{shape: d}}, r: {{shape: d}}}}\n{POTENTIAL}\nH: U + r.T @ r / 2\n"
        f"D: [[0, 0], [0, (1 + theta.T @ theta)*I]]\nQ: [[0, -{metric}], [{metric}, 0]]"
    )))  # fmt: skip
    assert r"\delta" not in shown
    assert r"\left(1 + {\theta}^\top \theta\right) I_{d}" in shown
    assert r"-\operatorname{diag}\left(\sqrt{\mathbf{1} + {\theta}^{2}}\right)" in shown
    gamma = r"\begin{pmatrix} 0 \\ \left(\frac{\theta_{i}}{\sqrt{\theta_{i}^{2} + 1}}\right)_{i} \end{pmatrix}"
    assert rf"\Gamma &= {gamma}" in shown

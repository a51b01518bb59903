import pytest

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.expression import Role
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.show import latex, text

COLUMN = Shape("d")


def test_text_looks_like_the_page(typed):
    for written in (
        "U(theta) + r.T @ inv(M) @ r / 2",
        "-grad(U, theta) - C @ inv(M) @ r",
        "theta[0]**4/10 + (4*(theta[1] + 6/5) - theta[0]**2)**2/2",
        "y*(x @ theta) - softplus(x @ theta)",
        "(r.T @ r / d - 1)*xi",
        "-(c + xi)**2/(2*c)",
        "where(c > 0, c, -c)",
        "trace(B @ B.T)*pi - 2**(1/2)",
        "1/(1 + exp(-c))",
        "M[0, 1]",
    ):
        assert text(typed(written, None)) == written


def test_updates_are_written_as_they_are_read(typed):
    written = "next(r) - eps*grad_tilde(U, theta) + N(0, 2*eps*I)"
    assert text(typed(written, COLUMN, update=True)) == written


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("theta", r"\theta"),
        ("C @ inv(M) @ r", r"C {M}^{-1} r"),
        ("-grad(U, theta)", r"-\nabla_{\theta} U(\theta)"),
        ("r.T @ r / 2", r"\frac{1}{2} {r}^\top r"),
        ("c/(2*xi)", r"\frac{c}{2 \xi}"),
        ("(c + xi)**2", r"{\left(c + \xi\right)}^{2}"),
        ("c - (c + xi)", r"c - \left(c + \xi\right)"),
        ("r*theta", r"r \odot \theta"),
        ("theta[0]", r"{\theta}_{0}"),
        ("softplus(c)", r"\operatorname{softplus}\left(c\right)"),
        ("sqrt(c)*abs(xi)", r"\sqrt{c} \left|\xi\right|"),
        ("c*I + M", r"c I_{d} + M"),
        ("where(c > 0, c, 0)", r"\begin{cases} c & \text{if } c > 0 \\ 0 & \text{otherwise} \end{cases}"),
        ("kron(R, M) ", r"R \otimes M"),
        ("2*3**c", r"2 {3}^{c}"),
    ],
)
def test_latex(typed, written: str, printed: str):
    assert latex(typed(written, None)) == printed


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("friction", r"\mathrm{friction}"), ("prior_variance", r"\mathrm{prior}_{\mathrm{variance}}"),
        ("theta_1", r"\theta_{1}"), ("beta2", r"\beta_{2}"), ("Lambda", r"\Lambda"), ("eps", r"\epsilon"),
        ("a_b_c", r"a_{\mathrm{b\_c}}"),
    ],
)  # fmt: skip
def test_names_in_latex(name: str, printed: str):
    assert latex(ex.Symbol(name, SCALAR, Role.PARAMETER)) == printed

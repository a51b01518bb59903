"""Relations of generators: what is zero is reduced to zero, and nothing beside it; values at a point follow it."""

import pytest

from recipe_compiler.kernel import field, pages
from recipe_compiler.kernel.relations import is_zero

STATED = {
    "state": {"x": {"domain": "positive"}, "y": {}, "q": {"shape": 2}},
    "parameters": {"a": {}, "M": {"shape": [2, 2], "is": "positive definite"}, "S": {"shape": [2, 2], "is": "skew"}},
    "functions": {"U": {"of": "q"}, "G": {"of": "q", "shape": [2, 2], "is": "symmetric"}},
    "H": "0",
}
POINT = {"x": "2", "y": "-1/3"}

ZERO = """
sin(x)**2 + cos(x)**2 - 1; sin(2*x) - 2*sin(x)*cos(x); cos(x + y) - cos(x)*cos(y) + sin(x)*sin(y)
cos(x/2)**2 - (1 + cos(x))/2; tan(x)*cos(x) - sin(x); exp(x + y) - exp(x)*exp(y); exp(x/3)**2*exp(x/6)**2 - exp(x)
1/(1 + exp(-x)) - exp(x)/(1 + exp(x)); grad(softplus(x), x) - sigmoid(x); cosh(x)**2 - sinh(x)**2 - 1
tanh(x) - (1 - exp(-2*x))/(1 + exp(-2*x)); sqrt(x)**2 - x; exp(log(x)/2) - sqrt(x); exp(2*log(x)) - x**2
x**a/x - x**(a - 1); grad(x**a, x) - a*x**(a - 1); sqrt(1 + y**2)**3 - (1 + y**2)*sqrt(1 + y**2)
1/(sqrt(y**2 + 1) + y) - (sqrt(y**2 + 1) - y); (sqrt(sqrt(1 + y**2) + 1))**4 - (1 + y**2) - 1 - 2*sqrt(1 + y**2)
1/(x - y) - 1/(x + y) - 2*y/(x**2 - y**2); y/y - 1; trace(inv(M) @ M) - 2; det(M) - M[0, 0]*M[1, 1] + M[0, 1]**2
sum(S); M[0, 1] - M[1, 0]; hessian(U, q)[0, 1] - hessian(U, q)[1, 0]; sum(G - G.T)
grad(exp(-U), q)[0] + exp(-U)*grad(U, q)[0]
"""
IDENTITIES = [one.strip() for one in ZERO.strip().replace("\n", ";").split(";")]


def page(**more: str) -> pages.Page:
    return pages.Page(pages.Documents({"dynamics": STATED}), {**POINT, **more}, "seed", is_open=True)


@pytest.mark.parametrize("text", IDENTITIES)
def test_an_identity_is_reduced_to_zero_and_nothing_beside_it(text: str) -> None:
    p = page()
    assert is_zero(p, p.scalar(text))
    assert not is_zero(p, p.scalar(f"{text} + exp(-x)/10**30"))
    assert not is_zero(p, p.scalar(f"({text}) + a*y/10**30"))


@pytest.mark.parametrize(
    "text",
    ["sin(x) - x", "pi - 22/7", "exp(x) - 1 - x - x**2/2", "sin(3*x) - 3*sin(x)", "sqrt(x*y**2) - sqrt(x)*y",
     "grad(U, q)[0] - grad(U, q)[1]", "G[0, 1] - G[0, 0]", "M[0, 1]",
     "1/(1 + exp(x)) - sigmoid(x)",
     "cos(x)**2 + 2*sin(x)**2 - 1", "exp(U) - 1"],
)  # fmt: skip
def test_what_is_not_zero_is_not_reduced(text: str) -> None:
    p = page()
    assert not is_zero(p, p.scalar(text))
    assert p.sign(p.scalar(text)) != 0


def test_derivatives_of_an_unknown_function_commute_and_have_the_values_of_its_instance() -> None:
    p = page(**{"U(q)": "q[0]**3*q[1]", "q": "[2, 5]"})
    H = p.formula("hessian(U, q)")
    assert H[0, 1] == H[1, 0]
    assert [p.value(x) for x in H.flat] == [60, 12, 12, 0]
    assert is_zero(p, H[1, 1]) is False  # of every U, not of the instance


def test_a_formula_read_elsewhere_is_undefined_where_it_has_no_value() -> None:
    p = page()
    one = p.scalar("y/y")
    assert p.value(one) == 1
    p.move({1: field.constant(0)})
    for text in ("y/y", "y/y - 1", "log(y)"):
        with pytest.raises(field.UndefinedError):
            p.scalar(text)
    with pytest.raises(field.UndefinedError):
        p.value(one)
    p.move({1: field.constant(3)})
    assert p.vanish([p.scalar("y/y - 1")])

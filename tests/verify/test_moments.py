"""What a step is as a polynomial of its noise: the monomials add up to it, and whatever is none is refused."""

import pytest
import sympy as sp

from recipe_compiler.errors import CompilerError
from recipe_compiler.verify.moments import monomials

w, v = sp.symbols("w v", real=True)
a, b = sp.symbols("a b")


@pytest.mark.parametrize(
    "value",
    [
        sp.Integer(0),
        a,
        (w + a) ** 2 * (v - sp.sqrt(b)) / (a + b),
        sp.exp(a) * w * (v + w) ** 3 + b * v,
        (w - v) * (w + v) - w**2 + v**2,
    ],
)
def test_monomials_add_up_to_the_polynomial(value: sp.Expr) -> None:
    found = monomials(value, (w, v))
    assert sp.simplify(sp.Add(*(c * w**m * v**n for (m, n), c in found.items())) - value) == 0
    assert all(c.free_symbols.isdisjoint((w, v)) for c in found.values())


@pytest.mark.parametrize("value", [sp.exp(w), 1 / w, a / (1 + v), sp.sqrt(w), a**w, w**a, abs(w), sp.sqrt(w + v)])
def test_what_is_no_polynomial_is_refused(value: sp.Expr) -> None:
    with pytest.raises(CompilerError, match="not a polynomial in its noise"):
        monomials(value, (w, v))


def test_a_degree_beyond_what_is_known_is_refused() -> None:
    with pytest.raises(CompilerError, match="polynomial of degree 9"):
        monomials(w**4 * v**5, (w, v))

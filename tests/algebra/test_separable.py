"""Hessians of sums over coordinates are the diagonals that they are said to be; nothing else is said to be one."""

from collections.abc import Callable

import pytest

from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.transposes import diagonal_hessian
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula

Reader = Callable[..., Formula]
SEPARABLE = [
    "sum(x*log(x))", "sum(x**4) - a*sum(b*x**3) + a**2*sum(b)",
    "sum(b*exp(a*x))/2 - sum(log(x + exp(x)))", "sum(sqrt(ones + x**2)) + sum(x*x*x)",
    "sum(log(x))*a - sum(x**(-2)) + sum(x)", "sum(b*x)",
]  # fmt: skip


@pytest.mark.parametrize("f", SEPARABLE)
def test_the_diagonal_is_the_hessian(formula: Reader, declarations: Declarations, f: str) -> None:
    hessian = formula(f"hessian({f}, x)")
    found = diagonal_hessian(hessian)
    assert found is not None
    one, other = (rows(matrix, Setting(declarations, {"d": 3})) for matrix in (hessian, found))
    assert all(is_zero(x - z) for pair in zip(one, other, strict=True) for x, z in zip(*pair, strict=True))


@pytest.mark.parametrize(
    "f", ["sum(x)**2", "x.T @ M @ x", "sum(x)*sum(x*log(x))", "sum(x**2*theta)", "sum((A @ x)**2)", "sum(x[0]*x)"]
)
def test_what_couples_coordinates_is_no_diagonal(formula: Reader, f: str) -> None:
    assert diagonal_hessian(formula(f"hessian({f}, x)")) is None

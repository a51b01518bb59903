"""Sums of products of scalars: what is multiplied by 0 is left out, unless it is no number."""

from collections.abc import Sequence

import pytest
import sympy
from sympy import Expr, Rational, exp, symbols

from recipe_compiler.algebra.scalars.matrices import dot, product
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero

x, y = symbols("x y", real=True)
ZERO = sympy.Integer(0)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((x, ZERO, y - x), (y, exp(x) + x * y, 1 / y)),
        ((ZERO, ZERO), (x, y)),
        ((x + 1, Rational(1, 3)), (x - 1, ZERO)),
        ((), ()),
    ],
)
def test_a_dot_product_is_the_sum_of_products(left: Sequence[Expr], right: Sequence[Expr]) -> None:
    assert dot(left, right) == sympy.Add(*(a * b for a, b in zip(left, right, strict=True)))


@pytest.mark.parametrize("pole", [sympy.zoo, sympy.oo, -sympy.oo, sympy.nan, x + sympy.zoo])
@pytest.mark.parametrize("first", [True, False])
def test_zero_times_what_is_no_number_is_no_number(pole: Expr, first: bool) -> None:
    found = dot((x, ZERO), (y, pole)) if first else dot((pole, x), (ZERO, y))
    assert found is sympy.nan
    with pytest.raises(NoNormalFormError):
        is_zero(found)


def test_a_product_of_matrices_keeps_a_pole_beside_a_zero() -> None:
    ((entry,),) = product(((ZERO, x),), ((sympy.zoo,), (y,)))
    assert entry is sympy.nan

"""What is too large to be written out is compared at points: exactly what agrees everywhere passes."""

import pytest
import sympy as sp

from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.errors import CompilerError, ReadBackError
from recipe_compiler.readback import point
from recipe_compiler.readback.names import Names

X, Y = sp.symbols("x y", real=True)
P, Q = sp.symbols("p q", positive=True)


@pytest.fixture
def too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> bool:
        raise NoNormalFormError("product of polynomials with 1240029 and 4 terms is too large")

    point._agree.cache_clear()
    monkeypatch.setattr(point, "is_zero", refuse)


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize(
    ("read", "stated", "fault"),
    [
        (sp.log(P * Q**2 * (1 + X**2)), sp.log(P) + 2 * sp.log(Q) + sp.log(1 + X**2), None),
        ((X + Y) ** 5 / (1 + Y**2), sp.expand((X + Y) ** 5) / (1 + Y**2), None),
        (sp.log(P * Q), sp.log(P) + sp.log(Q + 1), CompilerError),
        (X * sp.Abs(Y), X * Y, ReadBackError),  # alike where Y is positive
    ],
)
def test_what_has_no_normal_form_is_compared_at_points(
    read: sp.Expr, stated: sp.Expr, fault: type[Exception] | None
) -> None:
    here = Names(None, {})  # ty: ignore[invalid-argument-type] - of no program
    if fault is None:
        point.equal(read, stated, "U", here)
        return
    with pytest.raises(fault):
        point.equal(read, stated, "U", here)

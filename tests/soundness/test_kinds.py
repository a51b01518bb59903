"""Kinds of formulas that change at a kink."""

import pytest
from answers import document

from recipe_compiler.formula.shapes import Kind
from recipe_compiler.verify.core.kinds import counterexample, is_of_kind


@pytest.mark.parametrize(
    ("D", "kind"),
    [
        ("where(a == 0, -1, 1)", Kind.POSITIVE),
        ("sign(a)**2", Kind.POSITIVE),
        ("1 - 2*where(sin(a)**2 + cos(a)**2 == 1, 1, 0)", Kind.NONNEGATIVE),
        ("sign(a)", Kind.NONZERO),
        ("1 - where(abs(a) - a == 0, 1, 0)", Kind.NONZERO),
        ("sign(a)**2 - 1/2", Kind.PSD),
    ],
)
def test_a_kind_on_a_kink_is_not_shown(D: str, kind: Kind) -> None:
    own = document(f'state: {{x: {{}}}}\nparameters: {{a: {{}}}}\nH: x**2/2\nD: [["{D}"]]\nQ: [[0]]\n')
    assert not is_of_kind(own.D[0][0], kind, own.declarations)
    assert counterexample(own.D[0][0], kind, own.declarations, ({},)) is not None

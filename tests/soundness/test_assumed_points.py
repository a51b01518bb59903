"""Assumptions about the state or a function: what holds at one drawn point only tells nothing."""

from collections.abc import Callable

import pytest

from recipe_compiler.errors import ModelError
from recipe_compiler.verdict import Report, Verdict

Check = Callable[[str], Report]


@pytest.mark.slow
@pytest.mark.parametrize(("assumed", "D"), [("f(x) == 1", "f(x)"), ("f(x)**2 <= 0", "1 + f(x)")])
def test_a_function_that_meets_an_assumption_at_one_point_refutes_nothing(checked: Check, assumed: str, D: str) -> None:
    found = checked(f"""
state: {{x: {{}}}}
functions: {{f: {{of: x}}}}
assume: ["{assumed}"]
H: x**2/2
D: [["{D}"]]
Q: [[0]]
claims: {{drift: {{x: -x}}}}
""")
    assert {f.verdict for f in found.findings} <= {Verdict.UNDECIDED, Verdict.PROVED}
    assert found.verdict is Verdict.UNDECIDED


def test_a_surface_is_no_domain(checked: Check) -> None:
    with pytest.raises(ModelError, match="an equality of the state"):
        checked('state: {x: {}}\nassume: ["x == 1"]\nH: x**2/2\nD: [[x]]\nQ: [[0]]\n')

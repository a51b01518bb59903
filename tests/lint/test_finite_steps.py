"""By which power of eps the stationary law of finite steps is off: said where it is 1, of no scheme of order 2."""

from collections.abc import Callable

import pytest

from recipe_compiler.lint.findings import Lint

pytestmark = pytest.mark.usefixtures("few_calls")


@pytest.mark.parametrize(
    ("name", "remark"),
    [("second_order", ""), ("without_the_middle", "finite steps: their stationary law is off by order eps, ")],
)
def test_only_a_step_of_order_one_is_said_to_be_off_by_eps(name: str, remark: str, read: Callable[..., Lint]) -> None:
    found = read(f"second_order.py:{name}", "friction")
    assert found.report is not None
    assert found.report.findings[0].checked_at == ((("d", 1),), (("d", 2),), (("d", 3),))
    assert found.equation.bias.startswith(remark)
    assert bool(found.equation.bias) == bool(remark)

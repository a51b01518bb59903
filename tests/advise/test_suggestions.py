"""What a cure of a thermostat costs: every value at which it is tried is a step made linear."""

import pytest

from recipe_compiler import limits
from recipe_compiler.audit.thermostat import settles_at


def test_where_nothing_helps_little_is_tried() -> None:
    """A step that is unstable at six frictions in a row is so at more; the reason is that of the last."""
    asked: list[float] = []

    def change(x: float) -> float:
        asked.append(x)
        raise ValueError("the chain is unstable: the step size is too large")

    with pytest.raises(ValueError, match="the chain is unstable"):
        settles_at(change, "xi")
    assert asked == [2.0**k for k in range(limits.CASES + 1)]


@pytest.mark.parametrize(("heat", "most"), [(1.3, 6), (40.0, 10)])
def test_a_thermostat_is_found_in_a_few_steps(heat: float, most: int) -> None:
    """E |r|^2/d - 1 = heat/x - 1, with a little that is not linear in 1/x."""
    asked: list[float] = []

    def change(x: float) -> float:
        asked.append(x)
        return 0.02 * (heat / x + 0.01 * (heat / x) ** 2 - 1.01)

    assert settles_at(change, "xi", 1e-2) == pytest.approx(heat, rel=1e-2)
    assert len(asked) <= most
    assert len(asked) == len(set(asked))

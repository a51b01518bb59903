import numpy as np
import pytest
import racing
from racing import Contestant


def normal(mean: float, sd: float, seed: int):
    rng = np.random.default_rng(seed)
    return lambda: mean + sd * rng.standard_normal((500, 2))


@pytest.mark.parametrize(
    ("mean", "sd", "compared", "told"),
    [
        (0.0, 1.0, {}, None), (0.1, 1.0, {}, "column"), (0.0, 1.1, {}, "square"), (0.0, 0.0, {}, "square"),
        (0.0, 2.0, {"compared": "mean"}, None), (0.5, 2.0, {"compared": "mean"}, "column"),
        (0.1, 1.0, {"slack": 0.2}, None), (0.4, 1.0, {"slack": 0.2}, "column"),
    ],
)  # fmt: skip
def test_another_law_is_told(mean: float, sd: float, compared: dict, told: str | None):
    first, other = (Contestant(str(k), 500, normal(mean * k, sd if k else 1.0, 1 + k), **compared) for k in (0, 1))
    found = racing.disagreements((first, other), racing.race((first, other), 1), 20_000)
    assert len(found) == (told is not None)
    assert all(fault.startswith("1: the mean of the") and told in fault for fault in found)


@pytest.mark.parametrize("worst", [1e-6, float("nan"), float("inf")])
def test_a_deviation_is_told(worst: float):
    one = Contestant("one", 1, lambda: None, "nothing", deviation=lambda: worst)
    (fault,) = racing.deviations((one,))
    assert fault.startswith("one: deviates by")


def test_times_are_per_unit():
    slow = Contestant("slow", 10, lambda: None, "nothing", seconds=lambda: 0.5)
    fast = Contestant("fast", 100, lambda: None, "nothing", seconds=lambda: 0.5)
    of_slow, of_fast = racing.race((slow, fast), 3)
    assert (of_slow.median, of_fast.median) == (0.05, 0.005)
    assert racing.ratio(of_slow, of_fast) == pytest.approx(10.0)

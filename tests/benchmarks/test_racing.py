import numpy as np
import pytest
import racing
from racing import Contestant


def normal(mean: float, sd: float, seed: int):
    rng = np.random.default_rng(seed)
    return lambda: mean + sd * rng.standard_normal((500, 2))


def differences(other: Contestant) -> list[str]:
    first = Contestant("first", 500, normal(0.0, 1.0, 1))
    return racing.disagreements((first, other), racing.race((first, other), 1), 20_000)


def test_the_same_law_agrees():
    assert differences(Contestant("same", 500, normal(0.0, 1.0, 2))) == []


@pytest.mark.parametrize(("mean", "sd", "told"), [(0.1, 1.0, "column"), (0.0, 1.1, "square")])
def test_another_law_does_not(mean: float, sd: float, told: str):
    (fault,) = differences(Contestant("other", 500, normal(mean, sd, 2)))
    assert fault.startswith("other: the mean of the")
    assert told in fault


def test_a_sampler_that_stands_still_does_not():
    (fault,) = differences(Contestant("still", 500, lambda: np.zeros((500, 2))))
    assert "square" in fault


def test_one_of_another_noise_is_compared_by_its_mean():
    assert differences(Contestant("wide", 500, normal(0.0, 2.0, 2), compared="mean")) == []
    assert differences(Contestant("off", 500, normal(0.5, 2.0, 2), compared="mean")) != []


def test_slack_is_in_standard_deviations():
    assert differences(Contestant("near", 500, normal(0.1, 1.0, 2), slack=0.2)) == []
    assert differences(Contestant("far", 500, normal(0.4, 1.0, 2), slack=0.2)) != []


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

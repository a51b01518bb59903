"""Dual averaging of the step size, against sums of its own, and what it settles at."""

import math

import numpy as np
import pytest

from recipe_compiler.planner.averaging import Averaging


def test_the_recurrence_is_the_one_of_the_paper() -> None:
    """log eps_{m+1} = mu - sqrt(m)/0.05 1/(m + 10) sum of shortfalls, averaged with weights m^-0.75."""
    rng = np.random.default_rng(4)
    seen, found = rng.uniform(size=30), Averaging.around(0.7)
    assert found.eps == pytest.approx(0.07)
    mean = 0.0
    for m in range(1, 31):
        found = found.after(float(seen[m - 1]), 0.65)
        log_eps = math.log(0.7) - math.sqrt(m) / 0.05 * float(np.sum(0.65 - seen[:m])) / (m + 10.0)
        mean = m**-0.75 * log_eps + (1.0 - m**-0.75) * mean
        assert math.log(found.eps) == pytest.approx(log_eps, rel=1e-12)
        assert math.log(found.settled) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize(("wanted", "aim"), [(0.8, 1.0), (0.6, 50.0), (0.9, 1e-3)])
def test_it_settles_where_moves_are_accepted_as_wanted(wanted: float, aim: float) -> None:
    """Of moves accepted with probability exp(-eps^2), seen as means of eight uniform on 0.2 around it."""
    rng, found = np.random.default_rng(5), Averaging.around(aim)
    for _ in range(250):
        found = found.after(math.exp(-(found.eps**2)) + float(rng.uniform(-0.1, 0.1, 8).mean()), wanted)
    assert math.exp(-(found.settled**2)) == pytest.approx(wanted, abs=0.03)

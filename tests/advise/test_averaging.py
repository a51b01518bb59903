"""Dual averaging of the step size, against sums of its own."""

import math

import numpy as np
import pytest

from recipe_compiler.advise.acceptance import Averaging


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

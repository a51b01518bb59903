"""Numbers that the theory states, computed."""

import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov


@pytest.mark.parametrize(("sequential", "stated"), [(True, 1.003), (False, 1.114)])
def test_the_stationary_variance_of_both_euler_rules(sequential: bool, stated: float) -> None:
    """theta ~ N(0, 1), M = C = 1, eps = 0.1; z = (theta, r)."""
    eps = 0.1
    kick = np.array([[1.0, 0.0], [-eps, 1.0 - eps]])
    move = np.array([[1.0, eps], [0.0, 1.0]])
    noise = np.diag([0.0, 2.0 * eps])
    step = move @ kick if sequential else kick + np.array([[0.0, eps], [0.0, 0.0]])
    added = move @ noise @ move.T if sequential else noise
    assert round(float(solve_discrete_lyapunov(step, added)[0, 0]), 3) == stated

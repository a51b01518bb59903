"""How long chains stand still."""

import numpy as np

from recipe_compiler.run.stuck import longest_stay


def test_the_longest_stay_is_counted_wherever_it_is() -> None:
    theta = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 2.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [3.0, 1.0]])
    assert longest_stay(theta) == 2
    assert longest_stay(theta[2:4]) == 0
    assert longest_stay(theta[:1]) == 0
    assert longest_stay(theta[3:6]) == 2
    assert longest_stay(np.zeros((100, 3))) == 99

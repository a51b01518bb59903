"""Figures of a linear chain against closed forms and sums that are worked out term by term."""

import numpy as np
import pytest

from recipe_compiler.audit.figures import NoLawError, covariance, figures, largest_stable


@pytest.mark.parametrize("phi", [0.999, 0.3, -0.8])
def test_one_coordinate_has_its_closed_form(phi: float) -> None:
    """z' = phi z + N(0, v): variance v/(1 - phi^2), times (1 + phi)/(1 - phi) and (1 + phi^2)/(1 - phi^2)."""
    F = np.array([[phi]])
    found = figures(F, covariance(F, np.array([[2.0]])), np.array([[0.5]]), slice(0, 1))
    variance = 2.0 / (1.0 - phi**2)
    assert found.sds == pytest.approx([np.sqrt(variance)])
    assert found.factors == pytest.approx([np.sqrt(variance / 2.0)])
    assert found.temperature == pytest.approx(variance / 2.0)
    assert found.times == pytest.approx([(1.0 + phi) / (1.0 - phi)])
    assert found.times_of_squares == pytest.approx([(1.0 + phi**2) / (1.0 - phi**2)])
    assert found.slowest == max(found.times[0], found.times_of_squares[0])


@pytest.mark.parametrize(
    ("F", "K", "says"),
    [
        ([[1.01]], [[1.0]], "unstable: the step size is too large"),
        ([[1.0]], [[1.0]], "not ergodic"),
        ([[0.5]], [[-1.0]], "not positive definite"),
    ],
)
def test_a_chain_without_a_law_is_said_to_have_none(F: list[list[float]], K: list[list[float]], says: str) -> None:
    with pytest.raises(NoLawError, match=says):
        figures(np.array(F), covariance(np.array(F), np.eye(1)), np.array(K), slice(0, 1))


def test_the_largest_stable_step_is_where_an_eigenvalue_leaves_the_circle() -> None:
    assert largest_stable(lambda h: np.array([[1.0 - 3.0 * h]]), 0.01, 1.1, 1e-6) == pytest.approx(2.0 / 3.0, rel=1e-5)
    assert largest_stable(lambda h: np.array([[1.0 / (1.0 + h)]]), 0.01, 2.0, 1e-3) is None

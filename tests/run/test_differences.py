"""Derivatives by central differences: of any scale, and where a step stands still."""

import numpy as np
import pytest

from recipe_compiler.run.differences import curvature, jacobian, standstill

WIDTHS = np.full(2, 1e-5)


def test_a_standstill_is_found_from_afar() -> None:
    def change(z: np.ndarray) -> np.ndarray:
        return np.array([np.arctan(z[0] - 3.0), z[1] - z[0] ** 2])

    z, slopes = standstill(change, np.zeros(2), WIDTHS)
    np.testing.assert_allclose(z, [3.0, 9.0], atol=1e-8)
    np.testing.assert_allclose(slopes, [[1.0, 0.0], [-6.0, 1.0]], atol=1e-6)
    np.testing.assert_allclose(jacobian(change, z, WIDTHS), slopes, atol=1e-6)


@pytest.mark.parametrize(
    "change", [lambda z: 1.0 + z**2, lambda z: np.ones(2) + 0.0 * z, lambda z: np.log(z - 1.0)],
    ids=["no root", "a singular matrix", "values that are not finite"],
)  # fmt: skip
def test_that_no_state_stands_still_is_said(change) -> None:
    with pytest.raises(ValueError, match="no state was found where the mean step is zero: "):
        standstill(change, np.array([0.3, 0.2]), WIDTHS)


def test_a_curvature_of_any_scale_is_found() -> None:
    """U = sum_i exp(z_i/s_i) - z_i/s_i + z_1 z_2/(2 s_1 s_2): sds s_i of 1e-7 and 1e5, mode 0."""
    s = np.array([1e-7, 1e5])

    def slope(z: np.ndarray) -> np.ndarray:
        return (np.exp(z / s) - 1.0 + (z / s)[::-1] / 2.0) / s

    np.testing.assert_allclose(curvature(slope, np.zeros(2)) * np.outer(s, s), [[1.0, 0.5], [0.5, 1.0]], rtol=1e-4)

"""Where moves of a chain are hardly ever accepted."""

import numpy as np
import pytest

from recipe_compiler.run.stuck import STUCK, least_accepted


def found(rates: np.ndarray, moves: np.ndarray) -> tuple[float, int]:
    least = least_accepted(rates, moves)
    assert least is not None
    return least


def test_the_least_is_found_wherever_it_is() -> None:
    rates = np.full(400, 0.9)
    rates[130 : 130 + STUCK] = 0.01
    assert found(rates, np.ones(400)) == (pytest.approx(0.01), STUCK)
    assert found(rates[:180], np.ones(180)) == (pytest.approx(0.01), STUCK)
    assert found(rates[131:], np.ones(269))[0] == pytest.approx((0.01 * 49 + 0.9) / 50)


def test_moves_of_a_draw_stay_together() -> None:
    """Of 30 moves a draw two are looked at; of 256 one is, whose chain need not have stood still."""
    rates = np.array([0.8, 0.1, 0.02, 0.04, 0.9])
    assert found(rates, np.full(5, 30.0)) == (pytest.approx(0.03), 60)
    assert found(rates, np.full(5, 256.0)) == (pytest.approx(0.02), 256)


def test_draws_without_a_move_say_nothing() -> None:
    rates, moves = np.full(200, 0.5), np.ones(200)
    rates[::2], moves[::2] = np.nan, 0.0
    least, count = found(rates, moves)
    assert least == pytest.approx(0.5)
    assert count == STUCK


def test_of_few_moves_nothing_is_said() -> None:
    assert least_accepted(np.zeros(STUCK - 1), np.ones(STUCK - 1)) is None
    assert least_accepted(np.zeros(0), np.zeros(0)) is None
    assert found(np.zeros(STUCK), np.ones(STUCK)) == (0.0, STUCK)

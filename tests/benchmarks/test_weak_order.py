"""Every scheme that ships has the order it claims, by the moments of one emitted step at eps and at eps/2."""

import pytest
import weak_order


@pytest.mark.slow
@pytest.mark.parametrize("scheme", list(weak_order.schemes()))
def test_a_scheme_has_the_order_that_it_claims(scheme: str) -> None:
    found = weak_order.errors(scheme)
    assert found.holds, found
    assert found.fine > 1e-10  # far above rounding


@pytest.mark.slow
@pytest.mark.parametrize("word", ["[B/2, A/2, O, B/2, A/2]", "[B/2, A, O, B/2]", "[B/4, A/2, O, A/2, 3*B/4]"])
def test_a_word_of_order_1_is_not_taken_for_one_of_order_2(word: str) -> None:
    found = weak_order.errors("baoab", f"{{split: {word}}}")
    assert found.claimed == 2
    assert not found.holds
    assert found.ratio == pytest.approx(4.0, rel=weak_order.WITHIN)

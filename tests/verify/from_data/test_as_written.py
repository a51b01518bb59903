"""The decimals that data are written as: the shortest that are read as their floats, of 64 bits and of 32."""

from fractions import Fraction

import numpy as np
import pytest

from recipe_compiler.verify.builds.as_written import decimals


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_they_are_the_shortest_that_are_read_as_the_float(dtype: type[np.floating]) -> None:
    numbers = np.array([0.1, -0.0, 1 / 3, 2.5, 65504, 5.1e-5, -7], dtype)
    assert [Fraction(int(x.p), int(x.q)) for x in decimals(numbers)] == [Fraction(str(x)) for x in numbers]


def test_a_whole_float_of_32_bits_stands_for_a_shorter_one() -> None:
    (large,) = decimals(np.array([123456790000.0], np.float32))
    assert float(np.float32(123456790000.0)) != 123456790000.0
    assert large == 123456790000


def test_integers_and_flags_are_themselves() -> None:
    assert decimals(np.array([2**62 + 1, -3])) == (2**62 + 1, -3)
    assert decimals(np.array([True, False])) == (1, 0)


def test_exponents_are_read_exactly() -> None:
    (tiny, huge) = decimals(np.array([5e-324, 1.7976931348623157e308]))
    assert Fraction(int(tiny.p), int(tiny.q)) == Fraction("5e-324")
    assert Fraction(int(huge.p), int(huge.q)) == Fraction("1.7976931348623157e308")

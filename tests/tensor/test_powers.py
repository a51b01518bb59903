"""Powers, roots, fractions; only identities that hold on the declared domain."""

from fractions import Fraction

import pytest

from recipe_compiler.errors import ModelError
from recipe_compiler.tensor.powers import root
from recipe_compiler.tensor.terms import Index

HALF = Fraction(1, 2)


def zero(c, tensor) -> bool:
    return c.is_zero(tensor)


@pytest.mark.parametrize(
    "text",
    [
        "sqrt(a)*sqrt(a) - a",
        "a/(a + b) + b/(a + b) - 1",
        "1/(a + 1/b) - b/(a*b + 1)",
        "1/a - 1/(a + 1) - 1/(a*(a + 1))",
        "(a**2 - b**2)/(a + b) - a + b",
        "sqrt(c**2) - c",
        "sqrt(4*c) - 2*sqrt(c)",
        "sqrt(12)/sqrt(3) - 2",
        "sqrt(2)*sqrt(3) - sqrt(6)",
        "(a + b)**3 - a**3 - 3*a**2*b - 3*a*b**2 - b**3",
        "(1 + norm2(theta))**(3/2) - sqrt(1 + norm2(theta)) - norm2(theta)*sqrt(1 + norm2(theta))",
        "norm2(theta)/(1 + norm2(theta)) + 1/(1 + norm2(theta)) - 1",
        "1/(a - b) + 1/(b - a)",
        "1/(2*a + 2*b) - 1/(a + b)/2",
        "a/(a*b + a*c) - 1/(b + c)",
        "(c**(1/2))**4 - c**2",
        "(c*a)**(1/2) - c**(1/2)*a**(1/2)",
        "exp(a)*exp(-a) - 1",
        "exp(a + b) - exp(a)*exp(b)",
        "exp(a)**2 - exp(2*a)",
        "exp(2*log(c)) - c**2",
        "exp(log(a)) - a",
        "log(exp(a)) - a",
        "log(c**2) - 2*log(c)",
        "log(12) - log(3) - 2*log(2)",
        "sin(a)**2 + cos(a)**2 - 1",
        "cosh(a)**2 - sinh(a)**2 - 1",
        "tanh(-a) + tanh(a)",
        "cos(a - b) - cos(b - a)",
        "abs(a)**2 - a**2",
        "abs(c) - c",
        "sqrt(theta.T @ theta)**2 - norm2(theta)",
        "c**(a + 1) - c*c**a",
    ],
)
def test_vanishes(c, read, text):
    assert zero(c, read(text)), read(text)


@pytest.mark.parametrize(
    "text",
    [
        "sqrt(a**2) - a",
        "(a**2)**(1/2) - a",
        "(a**4)**(1/4) - a",
        "sqrt(a*b) - sqrt(a)*sqrt(b)",
        "sqrt(a**2*c) - a*sqrt(c)",
        "log(a**2) - 2*log(a)",
        "log(a*b) - log(a) - log(b)",
        "abs(a) - a",
        "(a**2)**(3/2) - a**3",
        "sqrt((a - b)**2) - a + b",
        "a/(a + b) + b/(a + b) - 2",
        "exp(a*b) - exp(a)*exp(b)",
        "1/(a + b) - 1/a - 1/b",
        "sqrt(a + b) - sqrt(a) - sqrt(b)",
        "sin(a)**2 - cos(a)**2",
        "cos(-a) + cos(a)",
    ],
)
def test_does_not_vanish(c, read, text):
    assert not zero(c, read(text))


def test_root_of_a_square_stays_unless_nonnegative(c, read):
    square_root = read("sqrt(a**2)")
    assert not zero(c, c.subtract(square_root, read("a")))
    assert not zero(c, c.add(square_root, read("a")))
    assert zero(c, c.subtract(c.power(square_root, 2), read("a**2")))


def test_root_of_a_square_of_a_positive_block(c):
    i = Index("d", "i")
    q, r = c.coordinate("q", i), c.coordinate("r", i)
    assert c.power(c.power(q, 2), HALF) == q
    assert c.power(c.power(r, 2), HALF) != r


def test_root_of_an_odd_power_is_defined_for_a_nonnegative_base_only(c, read):
    assert zero(c, c.subtract(read("sqrt(a**3)"), read("a*sqrt(a)")))


def test_fractions_with_free_indices(c):
    i = Index("d", "i")
    x = c.coordinate("r", i)
    below = c.add(c.constant(1), c.power(x, 2))
    one = c.multiply(below, c.power(below, -1))
    assert zero(c, c.subtract(one, c.constant(1)))


def test_sum_of_fractions_is_not_multiplied_through_where_it_is_summed(c):
    """sum_i 1/(1 + r_i**2) is no fraction over a common denominator: it must not be cleared as if it were."""
    i = Index("d", "i")
    below = c.add(c.constant(1), c.power(c.coordinate("r", i), 2))
    total = c.total(c.power(below, -1), i)
    assert not zero(c, total)
    assert not zero(c, c.subtract(total, c.size("d")))


def test_division_by_zero_is_refused(read):
    with pytest.raises(ModelError, match="division by an expression that is zero"):
        read("1/(a - a)")


def test_root_of_a_negative_number_is_refused(read):
    with pytest.raises(ModelError, match="fractional power"):
        read("sqrt(-4)")


def test_logarithm_of_a_negative_number_is_refused(read):
    with pytest.raises(ModelError, match="logarithm"):
        read("log(-1)")


def test_symbolic_exponent_needs_a_base_that_is_not_negative(read):
    with pytest.raises(ModelError, match="exponent is not a number"):
        read("a**b")


@pytest.mark.parametrize(
    ("value", "exponent", "outside", "inside"),
    [
        (Fraction(8), HALF, Fraction(2), ((2, HALF),)),
        (Fraction(9, 4), HALF, Fraction(3, 2), ()),
        (Fraction(1, 2), HALF, Fraction(1, 2), ((2, HALF),)),
        (Fraction(27), Fraction(-2, 3), Fraction(1, 9), ()),
    ],
)
def test_exact_roots(value, exponent, outside, inside):
    assert root(value, exponent) == (outside, inside)


def test_sums_over_a_fixed_size_are_written_out(c, read):
    assert zero(c, read("two.T @ two - two[0]**2 - two[1]**2"))
    assert zero(c, read("trace(square) - square[0, 0] - square[1, 1]"))
    assert not zero(c, read("two.T @ two - two[0]**2"))


def test_more_places_of_a_fixed_size_than_are_gone_through_show_nothing(c):
    """The last place of many must not be forgotten: delta_i0 + ... + delta_i(n-2) - 1 is not zero at i = n-1."""
    index = Index(700, "i")
    almost = c.add(*(c.delta(index, n) for n in range(699)), c.constant(-1))
    assert not zero(c, almost)


def test_every_place_of_a_fixed_size_counts(c):
    index = Index(4, "i")
    assert zero(c, c.add(*(c.delta(index, n) for n in range(4)), c.constant(-1)))
    assert not zero(c, c.add(*(c.delta(index, n) for n in range(3)), c.constant(-1)))


def test_product_with_a_large_power_is_still_exact(c, read):
    assert zero(c, read("(a + b)**20/(a + b)**19 - a - b"))

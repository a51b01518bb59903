"""Integrals of exp(-H) that are known to be finite or not, from patterns with drawn exponents."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recipe_compiler.derive.recipe import row_slots
from recipe_compiler.formula.declaration import Block, Declarations, Domain
from recipe_compiler.formula.shapes import DomainName, Shape
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.terms import Coordinate, Tensor
from recipe_compiler.verify.growth.bounds import Terms
from recipe_compiler.verify.growth.ends import (
    AT_ZERO,
    LOGARITHM,
    UP,
    UnknownGrowthError,
    find_leading_order_at,
    with_distance,
)
from recipe_compiler.verify.growth.integral import Finiteness, decide_finite

X, Z = Block("x", Shape()), Block("z", Shape("d"))
POSITIVE = Domain(DomainName.POSITIVE)
nonzero = st.fractions(-3, 3, max_denominator=3).filter(bool)
positive = st.fractions(Fraction(1, 3), 4, max_denominator=3)


def decided(block: Block, energy: Tensor, *others: Block) -> Finiteness:
    declared = Declarations(blocks=(block, *others))
    return decide_finite(calculus(declared), declared, energy, declared.blocks)


def power(c: Calculus, block: str, exponent: Fraction, of: str = "abs") -> Tensor:
    x = c.coordinate(block)
    return c.power(c.applied("abs", x) if of else x, exponent)


@settings(max_examples=12)
@given(nonzero, nonzero, nonzero)
def test_a_power_and_a_logarithm_on_a_half_line(a: Fraction, p: Fraction, k: Fraction) -> None:
    block = replace(X, domain=POSITIVE)
    c = calculus(Declarations(blocks=(block,)))
    found = decided(block, c.add(c.scale(power(c, "x", p, ""), a), c.scale(c.applied("log", c.coordinate("x")), k)))
    at_infinity = a > 0 if p > 0 else k > 1
    at_zero = a > 0 if p < 0 else k < 1
    assert (not found.reasons) == (at_infinity and at_zero)
    assert bool(found.needed) == (not (at_infinity and at_zero))


@settings(max_examples=12)
@given(nonzero, nonzero)
def test_heavy_tails(k: Fraction, e: Fraction) -> None:
    c = calculus(Declarations(blocks=(X,)))
    inner = c.add(c.constant(1), c.power(c.coordinate("x"), 2))
    tail = c.add(c.scale(c.applied("log", inner), k), c.scale(c.applied("exp", c.scale(c.coordinate("x"), e)), 0))
    assert (not decided(X, tail).reasons) == (2 * k > 1)


@settings(max_examples=12)
@given(positive, positive, positive, positive)
def test_a_product_is_outweighed_where_its_share_is_below_1(a: Fraction, b: Fraction, s: Fraction, t: Fraction) -> None:
    y = Block("y", Shape())
    c = calculus(Declarations(blocks=(X, y)))
    coupled = c.multiply(power(c, "x", s), power(c, "y", t))
    found = decided(X, c.subtract(c.add(power(c, "x", a), power(c, "y", b)), coupled), y)
    assert (not found.reasons) == (s / a + t / b < 1)


@pytest.mark.parametrize("shift", [0, 1])
@settings(max_examples=12)
@given(st.integers(1, 2), st.integers(1, 3))
def test_valleys_are_never_proved(shift: int, m: int, n: int) -> None:
    y = Block("y", Shape())
    c = calculus(Declarations(blocks=(X, y)))
    product = c.subtract(c.multiply(c.power(c.coordinate("x"), m), c.power(c.coordinate("y"), n)), c.constant(shift))
    assert decided(X, c.power(product, 2), y).reasons


@settings(max_examples=12)
@given(positive, positive)
def test_student_in_any_dimension(k: Fraction, extra: Fraction) -> None:
    c = calculus(Declarations(blocks=(Z,)))
    (i,) = row_slots(Z)
    square = c.total(c.power(c.coordinate("z", i), 2), i)
    log = c.applied("log", c.add(c.constant(1), square))
    half = c.scale(c.size("d"), Fraction(1, 2))
    assert not decided(Z, c.multiply(c.add(half, c.constant(extra)), log)).reasons
    assert decided(Z, c.multiply(c.subtract(half, c.constant(extra)), log)).needed
    assert decided(Z, c.scale(log, k)).reasons  # not enough for large d


@pytest.mark.parametrize(
    ("energy", "end", "order", "factor"),
    [
        (lambda c, x: c.subtract(c.applied("exp", x), c.power(x, 5)), UP, (1, 0, 0), None),
        (lambda c, x: c.multiply(c.applied("log", x), c.applied("exp", c.scale(x, -1))), AT_ZERO[1], LOGARITHM, -1),
        (lambda c, x: c.power(c.applied("log", x), 3), AT_ZERO[1], (0, 0, 3), -1),
        (lambda c, x: c.subtract(c.power(x, -2), c.power(x, -1)), AT_ZERO[1], (0, 2, 0), 1),
        (lambda c, x: c.add(c.power(c.applied("log", x), 4), c.scale(c.power(x, -1), -2)), AT_ZERO[1], (0, 1, 0), -2),
        (lambda c, x: c.power(c.subtract(c.applied("log", x), c.constant(3)), 2), AT_ZERO[1], (0, 0, 2), 1),
        (lambda c, x: c.scale(c.applied("log", c.scale(x, 2)), -3), AT_ZERO[1], LOGARITHM, 3),
        (lambda c, x: c.multiply(c.applied("tanh", x), c.power(x, -2)), AT_ZERO[1], None, None),
        (lambda c, x: c.applied("log1p", x), UP, LOGARITHM, 1),
        (lambda c, x: c.power(c.add(c.power(x, 2), x), Fraction(3, 2)), UP, (0, 3, 0), 1),
    ],
)
def test_the_largest_order_at_an_end(energy, end, order, factor) -> None:  # type: ignore[no-untyped-def]
    block = replace(X, domain=POSITIVE)
    c = with_distance(calculus(Declarations(blocks=(block,))))
    if order is None:
        with pytest.raises(UnknownGrowthError):
            find_leading_order_at(c, energy(c, c.coordinate("x")), Coordinate("x"), end)
        return
    found = find_leading_order_at(c, energy(c, c.coordinate("x")), Coordinate("x"), end)
    assert found is not None
    assert found.order == order
    assert factor is None or found.factor == c.constant(factor)


@pytest.mark.parametrize(
    "energy",
    [
        lambda c, x: c.add(c.power(x, 2), c.applied("log1p", x)),
        lambda c, x: c.multiply(x, c.power(c.applied("log", x), 3)),
        lambda c, x: c.applied("sin", c.power(x, -1)),
        lambda c, x: c.power(c.add(x, c.constant(2)), -2),
    ],
)
def test_what_stays_bounded_at_0(energy) -> None:  # type: ignore[no-untyped-def]
    block = replace(X, domain=POSITIVE)
    c = with_distance(calculus(Declarations(blocks=(block,))))
    assert find_leading_order_at(c, energy(c, c.coordinate("x")), Coordinate("x"), AT_ZERO[1]) is None


@pytest.mark.parametrize(
    "energy",
    [
        lambda c, x: c.subtract(c.power(c.add(c.power(x, 2), c.constant(1)), Fraction(1, 2)), x),
        lambda c, x: c.subtract(c.scale(c.applied("exp", x), 2), c.applied("exp", c.scale(x, 2))),
    ],
)
def test_what_cancels_is_not_known(energy) -> None:  # type: ignore[no-untyped-def]
    c = with_distance(calculus(Declarations(blocks=(X,))))
    h = energy(c, c.coordinate("x"))
    with pytest.raises(UnknownGrowthError):
        find_leading_order_at(c, c.multiply(h, c.power(c.coordinate("x"), 2)), Coordinate("x"), UP)


def test_bounds_on_bounded_sets_are_no_bounds_far_out() -> None:
    declared = Declarations(blocks=(X,))
    c = calculus(declared)
    terms = Terms(c, declared)
    (steep,) = c.applied("log", c.add(c.constant(1), c.applied("cosh", c.power(c.coordinate("x"), 2)))).terms
    assert terms.bound(steep.factors) is None
    assert terms.bound_locally(steep.factors) is not None
    (pole,) = c.power(c.coordinate("x"), -1).terms
    assert terms.bound_locally(pole.factors) is None

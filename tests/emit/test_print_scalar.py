"""Printed scalars mean what they were: random expressions against exact arithmetic."""

import re
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recipe_compiler.emit.print_scalar import print_scalar
from recipe_compiler.errors import ModelError
from recipe_compiler.program.loops import Call, Constant, Plus, Raise, Ref, Scalar, Times

VALUES = {"a": Fraction(3, 2), "b": Fraction(-5, 4), "c": Fraction(7)}

leaves = st.one_of(
    st.sampled_from([Ref(name) for name in VALUES]),
    st.fractions(-5, 5, max_denominator=8).map(Constant),
)
powers = st.sampled_from([Fraction(n) for n in (-2, -1, 1, 2, 3)])
scalars = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map(lambda terms: Plus(tuple(terms))),
        st.lists(inner, min_size=2, max_size=4).map(lambda factors: Times(tuple(factors))),
        st.builds(Raise, inner, powers),
    ),
    max_leaves=12,
)


def exact(value: Scalar) -> Fraction:
    match value:
        case Constant(number):
            return number
        case Ref(name, ()):
            return VALUES[name]
        case Plus(terms):
            return sum((exact(term) for term in terms), Fraction(0))
        case Times(factors):
            product = Fraction(1)
            for factor in factors:
                product *= exact(factor)
            return product
        case Raise(base, exponent):
            return exact(base) ** int(exponent)
        case _:
            raise AssertionError(value)


def evaluated(text: str) -> Fraction:
    ratios = re.sub(r"(?<![\w.])(\d+\.\d+)", r"Fraction('\1')", text)
    return eval(ratios, {"Fraction": Fraction} | VALUES)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # by the clock: other programs run beside it
@given(scalars)
def test_the_text_means_the_expression(value: Scalar) -> None:
    try:
        stated = exact(value)
    except ZeroDivisionError:
        return
    assert evaluated(print_scalar(value)) == stated


def test_a_function_nobody_can_compute_is_named() -> None:
    with pytest.raises(ModelError, match="polygamma"):
        print_scalar(Call("polygamma", (Ref("a"),)))

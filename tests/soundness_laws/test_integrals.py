"""Energies whose integral is infinite, though each of their terms taken alone looks as if it confined."""

from pathlib import Path

import pytest
from written import POTENTIAL, subject

from recipe_compiler.verdict import Verdict
from recipe_compiler.verify.integrability.normalisable import normalisable

INFINITE = {
    "the faster exponential is the negative one": ("x: {}", "x**2 + x*exp(x) - exp(2*x)", ""),
    "so on a half line, for every size": ("x: {shape: d, domain: positive}", "sum(x*exp(x)) - sum(exp(2*x))", ""),
    "a positive function may vanish at infinity": (
        "x: {shape: d}",
        "V(x)*sum(x**2)",
        "V: {of: x, is: positive}",
    ),
    "so beside a potential of another block": (
        "theta: {shape: d}, y: {shape: d}",
        "U(theta) + V(y)*sum(y**2)",
        f"{POTENTIAL}, V: {{of: y, is: positive}}",
    ),
    "in the exponent of a simplex": (
        "x: {shape: d, domain: simplex}",
        "V(x)*sum(log(x))",
        "V: {of: x, is: positive}",
    ),
}


@pytest.mark.parametrize("name", INFINITE)
def test_an_infinite_integral_is_never_proved_finite(tmp_path: Path, name: str) -> None:
    state, H, functions = INFINITE[name]
    assert normalisable(subject(tmp_path, state, H, functions=functions)).verdict is not Verdict.PROVED


@pytest.mark.parametrize("H", ["x**2 + x*exp(x) + exp(2*x)", "exp(x) + exp(-2*x)", "3*exp(2*x) - x**3"])
def test_exponentials_of_one_sign_still_confine(tmp_path: Path, H: str) -> None:
    domain = "x: {domain: positive}" if "x**3" in H else "x: {}"
    assert normalisable(subject(tmp_path, domain, H)).verdict is Verdict.PROVED


def test_a_function_of_another_block_is_a_constant_beside_the_coordinate(tmp_path: Path) -> None:
    functions = f"{POTENTIAL}, V: {{of: theta, is: positive}}"
    found = normalisable(subject(tmp_path, "theta: {}, y: {}", "U(theta) + y**2 + V(theta)*y**2", functions=functions))
    assert found.verdict is Verdict.PROVED

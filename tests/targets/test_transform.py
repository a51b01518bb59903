"""Bounded blocks sampled in unbounded variables: Jacobians, and what is claimed of them."""

import numpy as np
import pytest
import sympy as sp
from answers import document

from recipe_compiler.algebra.scalars.entries import Setting, rows


def energy(text: str, sizes: dict[str, int]) -> sp.Expr:
    target = document(text)
    return rows(target.potential, Setting(target.declarations, sizes))[0][0]


def test_log_adds_the_sum_of_the_logarithms() -> None:
    text = "state: {x: {shape: d, domain: positive, transform: log}}\nparameters: {a: {is: positive}}\n"
    u, a = sp.symbols("log_x[0] log_x[1]", real=True), sp.Symbol("a", positive=True)
    expected = sum(sp.exp(v) - a * v - v for v in u)
    assert sp.simplify(energy(f"{text}potential: sum(x) - a*sum(log(x))\n", {"d": 2}) - expected) == 0


def test_logit_keeps_probabilities() -> None:
    """The integral of exp(-U) over u is that over the interval, up to its constant length."""
    found = energy("state: {p: {domain: 'interval(-1, 3)', transform: logit}}\npotential: p**2\n", {})
    u, p = np.linspace(-40, 40, 400_001), np.linspace(-1, 3, 400_001)
    over_u = 4 * np.trapezoid(np.exp(-sp.lambdify(sp.Symbol("logit_p", real=True), found, "numpy")(u)), u)
    assert over_u == pytest.approx(np.trapezoid(np.exp(-(p**2)), p), rel=1e-6)


def test_the_new_name_meets_no_declared_one() -> None:
    text = "state: {x: {domain: positive, transform: log}, log_x: {}}\npotential: x + log_x**2\n"
    assert [block.name for block in document(text).declarations.blocks] == ["log_x_", "log_x"]

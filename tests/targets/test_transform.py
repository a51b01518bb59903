"""Bounded blocks sampled in unbounded variables: Jacobians, and what is claimed of them."""

import numpy as np
import pytest
import sympy as sp
from loaders import load_target

from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.spec.model import Target

GAMMA = "name: t\nstate: {x: {shape: d, domain: positive, transform: log}}\nparameters: {a: {is: positive}}\n"
BETA = "name: t\nstate: {p: {domain: 'interval(-1, 3)', transform: logit}}\n"


def target(tmp_path, text: str) -> Target:
    (tmp_path / "t.yaml").write_text(text)
    return load_target(tmp_path / "t.yaml")


def energy(of: Target, sizes: dict[str, int]) -> sp.Expr:
    assert of.potential is not None
    return rows(of.potential, Setting(of.declarations, sizes))[0][0]


def test_log_adds_the_sum_of_the_logarithms(tmp_path) -> None:
    found = target(tmp_path, GAMMA + "potential: sum(x) - a*sum(log(x))\n")
    u = sp.symbols("log_x[0] log_x[1]", real=True)
    a = sp.Symbol("a", positive=True)
    expected = sum(sp.exp(v) - a * v - v for v in u)
    assert sp.simplify(energy(found, {"d": 2}) - expected) == 0


def test_logit_keeps_probabilities(tmp_path) -> None:
    """The integral of exp(-U) over u is that over the interval, up to its constant length."""
    found = target(tmp_path, BETA + "potential: p**2\n")
    U = sp.lambdify(sp.Symbol("logit_p", real=True), energy(found, {}), "numpy")
    u = np.linspace(-40, 40, 400_001)
    over_u = 4 * np.trapezoid(np.exp(-U(u)), u)  # the length of the interval is the constant left out
    p = np.linspace(-1, 3, 400_001)
    assert over_u == pytest.approx(np.trapezoid(np.exp(-(p**2)), p), rel=1e-6)


def test_the_new_name_meets_no_declared_one(tmp_path) -> None:
    text = "name: t\nstate: {x: {domain: positive, transform: log}, log_x: {}}\npotential: x + log_x**2\n"
    assert [b.name for b in target(tmp_path, text).declarations.blocks] == ["log_x_", "log_x"]

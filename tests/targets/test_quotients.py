"""exp(a)/sum exp(b) is computed without overflow, and is what it was."""

import numpy as np
import pytest
import sympy as sp
from answers import document, shipped

from recipe_compiler.algebra.scalars.symbols import label
from recipe_compiler.scheme.quotients import without_overflow
from recipe_compiler.spec.model import Target
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.scalars import scalarise
from recipe_compiler.tensor.terms import Component, Coordinate, Index, Tensor

TEXT = "state: {{theta: {{shape: d}}}}\nparameters: {{p: {{is: positive}}, q: {{}}}}\npotential: {}\n"


def slopes(target: Target) -> tuple[Tensor, Tensor]:
    c = calculus(target.declarations)
    block = target.declarations.blocks[0]
    n = Index("N", "n") if target.declarations.data else None
    at = tuple(Index(size, slot) for size, slot in zip(block.shape.sizes, "ij", strict=False))
    formula = target.potential or target.log_likelihood
    assert formula is not None
    slope = c.diff(convert(formula, target.declarations, datum=n), Coordinate(block.name, at))
    return slope, without_overflow(c, slope)


def value(tensor, scale: int) -> list[float]:
    def leaf(atom):
        if not isinstance(atom, (Coordinate, Component)):
            return None
        name = label(getattr(atom, "block", None) or atom.name, atom.at)
        return sp.Rational(scale * (sum(map(ord, name)) % 41) + 1, 7)

    places = [{index: (k + j) % 2 for j, index in enumerate(tensor.free)} for k in range(2)]
    return [scalarise(tensor, {"d": 3, "K": 3, "p": 2, "N": 2}, at, leaf) for at in places]


@pytest.mark.parametrize("name", ["gaussian_mixture", "softmax_regression"])
def test_the_slope_is_the_same(name: str) -> None:
    slope, computed = slopes(shipped(f"targets/{name}"))
    assert slope.terms != computed.terms
    for one, other in zip(value(slope, 1), value(computed, 1), strict=True):
        assert abs(sp.N(one - other, 50)) < 1e-40


@pytest.mark.parametrize(
    "formula", ["logsumexp(theta)", "log(p*exp(theta[0]) + exp(theta[1]))", "log(1 + exp(theta[0]))"]
)
def test_large_exponents_do_not_overflow(formula: str) -> None:
    slope, computed = slopes(document(TEXT.format(formula)))
    for one, other in zip(value(slope, 400), value(computed, 400), strict=True):
        with np.errstate(over="ignore"):
            found = eval_float(other)
        assert np.isfinite(found)
        assert found == pytest.approx(float(sp.N(one, 50)), rel=1e-12, abs=1e-300)


def eval_float(value: sp.Expr) -> float:
    """Return a number in doubles, an overflowing exponential being infinite."""
    if value.is_Add:
        return sum(eval_float(arg) for arg in value.args)
    if value.is_Mul:
        return float(np.prod([eval_float(arg) for arg in value.args]))
    if isinstance(value, sp.exp):
        return float(np.exp(np.float64(eval_float(value.args[0]))))
    if value.is_Pow:
        return float(np.float64(eval_float(value.base)) ** eval_float(value.exp))
    return float(value)


def test_a_sum_that_may_vanish_stays_as_it_is() -> None:
    slope, computed = slopes(document(TEXT.format("log(q**2*exp(theta[0]) + q*exp(theta[1]) + p)")))
    assert slope.terms == computed.terms

"""Friction that is a sum of functions of what stands still: the flow of O is exact, and shown to be."""

from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from loaders import load_dynamics

from recipe_compiler.algebra.dynamics.flows import NotPutError, StepLaw
from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.words import Letter
from recipe_compiler.verdict import Proved, Undecided
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.steps.flow import flow
from recipe_compiler.verify.steps.split import split_of

OWN = """
format: 1
name: own
state:
  theta: {shape: d}
  r: {shape: d}
parameters:
  c: {is: positive}
  M: {is: positive}
functions:
  U: {of: theta, role: potential}
H: U(theta) + r.T @ r/(2*M)
D: [[0, 0], [0, FRICTION]]
Q: [[0, -I], [I, 0]]
"""
eps, a, b, c = sympy.symbols("eps a b c", positive=True)


FRICTIONS = (
    "(1 + theta.T @ theta)*I",
    "(c + exp(theta.T @ theta))*I",
    "c*I/(1 + norm2(theta))",
    "diag(c*ones + theta**2)",
)


@pytest.mark.slow
@pytest.mark.parametrize("friction", FRICTIONS)
def test_the_flow_of_friction_that_is_a_sum_is_shown(tmp_path: Path, friction: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN.replace("FRICTION", friction))
    shares = {"B": Fraction(1, 2), "A": Fraction(1, 2), "O": Fraction(1)}
    word = tuple(Letter(piece, shares[piece]) for piece in "BAOAB")
    found = flow(split_of(subject_of(load_dynamics(path)), Scheme("split", word))).decision
    assert not isinstance(found, Undecided), found.tried
    assert isinstance(found, Proved)
    assert "O: Ornstein-Uhlenbeck, entry by entry" in found.by


@pytest.mark.parametrize(
    ("e", "value"),
    [
        (eps * (sympy.exp(-eps * (a + b)) - 1) / (-eps * a - eps * b), 0),
        (eps * c / (-eps * a - eps * b), -c / (a + b)),
        (eps**2 * c / (eps * a + eps**2 * b) ** 2, c / a**2),
        (eps / (1 / (eps * a + eps * b) + 1 / (2 * eps)), 0),
        (1 + eps * c / (eps * a + b), 1),
    ],
)
def test_a_power_of_eps_is_taken_out_of_what_divides(e: sympy.Expr, value: sympy.Expr) -> None:
    law = StepLaw(eps, (a,), (a,), ((sympy.Integer(0),),))
    assert sympy.simplify(law.at_zero(sympy.expand(e)) - value) == 0
    assert sympy.simplify(law.at_zero(e) - value) == 0


@pytest.mark.parametrize(
    "e",
    [
        c / (eps * a + eps * b),
        (sympy.exp(eps * a) - 1) / (eps * a + eps * b),
        eps / (sympy.exp(eps * a) - 1),  # 1/a, and not 0
        eps * c / (sympy.cos(eps) - 1) ** 2,
    ],
)
def test_what_is_left_over_eps_has_no_value_that_is_known(e: sympy.Expr) -> None:
    with pytest.raises(NotPutError):
        StepLaw(eps, (a,), (a,), ((sympy.Integer(0),),)).at_zero(e)

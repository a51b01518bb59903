"""What Python states of a name is kept or refused: nothing is dropped because another thing has its name."""

from collections.abc import Callable
from typing import Any

import pytest
import sympy

import recipe_compiler as rc

theta, r = rc.vector("theta", "d"), rc.vector("r", "d")
U = rc.function("U", of=theta, role="potential")
d = sympy.Symbol("d", integer=True, positive=True)
n, F, COLUMN = sympy.Symbol("n", integer=True), sympy.Function("f"), sympy.MatrixSymbol("theta", d, 1)
K = rc.scalar("k", default=1)
FAT = rc.log(1 + theta.T @ theta)
"""exp(-c FAT) has a finite integral where 2 c > d, and so for no c at every d."""


class sigmoid(sympy.Function):
    """Another function than the logistic one."""


def dynamics(**stated: Any) -> rc.Dynamics:
    return rc.Dynamics(**{"name": "o", "state": [theta], "H": FAT, "D": [[rc.I]], "Q": [[0]], **stated})


def target(**stated: Any) -> rc.Target:
    y = rc.data("y", "N")
    formulas = {"log_prior": -theta.T @ theta, "log_likelihood": -((y - theta[0]) ** 2)}
    return rc.Target(**{"name": "t", "state": [theta], "data": [y], **formulas, **stated})


def build(**stated: Any) -> rc.Build:
    c = rc.scalar("c", is_="positive")
    own = dynamics(H=U, D=[[c * rc.I]])
    return rc.Build(**{"name": "b", "dynamics": own, "target": target(), "step_size": 0.1, **stated})


def drifts(*, named: str) -> dict[str, Any]:
    return {"drift": {theta: -rc.grad(U, theta), named: 5 * theta}}


@pytest.mark.parametrize(
    ("attempt", "entry", "problem"),
    [
        (lambda: dynamics(H=rc.scalar("d", is_="positive", default="1/10") * FAT), "parameters.d", "already a size"),
        (lambda: dynamics(H=rc.scalar("d", is_="positive") * FAT), "parameters.d", "of a scalar that is positive"),
        (lambda: dynamics(H=sympy.Symbol("d", positive=True) * FAT), "parameters.d", "already a size"),
        (lambda: dynamics(D=[[rc.scalar("d", default=-1) * rc.I]]), "parameters.d", "with a default"),
        (lambda: dynamics(parameters=[rc.scalar("d")]), "parameters.d", "among the parameters"),
        (lambda: dynamics(parameters=[rc.vector("theta", "d")]), "parameters.theta", "already a block"),
        (lambda: target(parameters=[rc.scalar("N", default=4)]), "parameters.N", "already a size"),
        (lambda: target(parameters=[rc.vector("y", "N")]), "parameters.y", "already a field of the data"),
        (lambda: build(bind={"c": rc.scalar("d", default=7)}), "parameters.d", "already a size"),
        (lambda: build(parameters={"c": 1, rc.scalar("c", is_="positive"): 2}), "parameters", "found `c` 2 times"),
        (lambda: build(bind={"c": 1, rc.scalar("c", is_="positive"): 2}), "bind", "found `c` 2 times"),
        (lambda: dynamics(state=[theta, theta]), "state", "found `theta` 2 times"),
        (lambda: dynamics(H=U, claims=drifts(named="theta")), "claims.drift", "found `theta` 2 times"),
        (lambda: dynamics(units={"theta": "length", theta: "mass"}), "units", "found `theta` 2 times"),
        (lambda: dynamics(claims={"noise": {"w": {"shape": "d"}}}), "claims.noise", "expected the draws themselves"),
        (lambda: dynamics(claims={1: 2}), "claims", "found 1 as a key"),
        (lambda: dynamics(units=["m"]), "units", "expected keys with values"),
        (
            lambda: dynamics(H=rc.scalar("k", default=1) * rc.scalar("k", default=2)),
            "formula",
            "declarations that differ",
        ),
        (lambda: dynamics(H=sigmoid(sympy.Symbol("a"))), "H", "class sigmoid"),
        (lambda: dynamics(state=[COLUMN], H=sympy.Sum(sigmoid(COLUMN[n, 0]), (n, 0, d - 1))), "H", "within a sum"),
        (lambda: dynamics(state=[COLUMN], H=sympy.Sum(F(COLUMN[n, 0]), (n, 0, d - 1))), "H", "within a sum"),
        (lambda: rc.load(3), "document", "found an object of class int"),
    ],
)
def test_a_name_is_of_one_thing(attempt: Callable[[], object], entry: str, problem: str) -> None:
    with pytest.raises((rc.SpecError, rc.ModelError)) as caught:
        attempt()
    assert any(problem in fault.problem for fault in caught.value.faults if fault.entry == entry), caught.value


@pytest.mark.parametrize("size", [rc.scalar("d"), d, sympy.Symbol("d")])
def test_a_number_of_which_nothing_else_is_said_is_the_size_of_its_name(size: object) -> None:
    stated = dynamics(H=size * (theta.T @ theta))
    assert stated.document.declarations.parameters == ()
    assert stated.digest == dynamics(H="d*(theta.T @ theta)").digest


def test_a_symbol_that_is_the_size_of_a_matrix_is_that_size_whatever_is_assumed() -> None:
    n = sympy.Symbol("d", positive=True)
    column = sympy.MatrixSymbol("theta", n, 1)
    stated = dynamics(state=[column], H=n * (column.T * column)[0, 0])
    assert stated.document.declarations.parameters == ()


def test_energies_are_judged_by_the_parameter_that_is_stated() -> None:
    found = dynamics(H=rc.scalar("c", is_="positive", default="1/10") * FAT).check()
    assert next(finding.verdict for finding in found.findings if finding.id == "normalisable").value != "proved"

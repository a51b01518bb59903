"""Builds without a target: what of a complete H is U, and what is left."""

import pytest
from answers import document

from recipe_compiler.errors import ModelError
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Build

BUILD = """
name: whole
dynamics: part.yaml
scheme: {name: euler}
variant: full
run: {step_size: 0.1}
"""
TWO = """
name: part
state: {theta: {shape: d}, r: {shape: d}}
parameters: {M: {shape: [d, d], is: positive definite}, c: {is: positive, default: 2}}
D: [[0, 0], [0, I]]
Q: [[0, -I], [I, 0]]
"""
M = "parameters: {M: {value: [[2, 1], [1, 3]]}}"


def said(formula: Formula) -> str:
    return text(formula).replace(" / ", "/")


def whole(H: str, build: str = M, claims: str = "") -> Build:
    return document(BUILD + build, part=f"{TWO}H: {H}\n{claims}")


@pytest.mark.parametrize(
    ("H", "claims", "U", "rest"),
    [
        ("theta.T @ theta/2 + r.T @ M @ r/2", "", "theta.T @ theta/2", "U(theta) + r.T @ M @ r/2"),
        (
            "c*sum(theta**4) + r.T @ r + theta.T @ theta + c",
            "",
            "c*sum(theta**4) + theta.T @ theta",
            "U(theta) + r.T @ r + c",
        ),
        ("r.T @ r", "", "0", "U(theta) + r.T @ r"),
        (
            "r.T @ r/2 + theta.T @ theta + theta.T @ theta",
            "claims: {marginal: {theta: theta.T @ theta}}",
            "theta.T @ theta",
            "U(theta) + r.T @ r/2 + theta.T @ theta",
        ),
        (
            "(r - theta).T @ (r - theta)/2 + theta.T @ theta/2",
            "claims: {marginal: {r: r.T @ r/4}}",
            "r.T @ r/4",
            "U(r) + (r - theta).T @ (r - theta)/2 + theta.T @ theta/2 - r.T @ r/4",
        ),
    ],
)
def test_u_is_the_claimed_marginal_or_what_h_says_of_the_first_block(H: str, claims: str, U: str, rest: str) -> None:
    build = whole(H, claims=claims)
    assert build.target.potential is not None
    assert (said(build.target.potential), said(build.dynamics.H)) == (U, rest)
    assert build.is_complete
    assert "target" not in build.parts
    assert said(build.stated_dynamics.H) == H


def test_what_is_bound_stands_in_the_potential_too() -> None:
    build = whole("c*(theta.T @ theta) + r.T @ r", f"bind: {{c: 1 + k}}\n{M[:-1]}, k: {{is: positive, value: 3}}}}")
    assert build.target.potential is not None
    assert said(build.target.potential) == "(1 + k)*(theta.T @ theta)"
    assert [parameter.name for parameter in build.target.declarations.parameters] == ["k"]


def test_a_coupled_h_without_a_claimed_marginal_says_what_to_state() -> None:
    with pytest.raises(
        ModelError, match=r"theta stands beside other blocks(.|\n)*claims: \{marginal: \{theta: \.\.\.\}\}"
    ):
        whole("(r - theta).T @ (r - theta)/2 + theta.T @ theta/2")


def test_an_abstract_u_is_an_argument() -> None:
    build = document(BUILD.replace("part.yaml", "sgld"))
    assert build.target.is_open
    assert build.parts["target"] == build.target

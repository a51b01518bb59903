"""Updates whose noise is no noise at any small step size, or whose blocks carry a gradient's noise into a product."""

from pathlib import Path

import pytest
from written import POTENTIAL, document

from recipe_compiler.verdict import Decision, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.minibatch_independence import independent_update
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.updates.claimed_update import claimed_update

DRIFT = "theta - eps*(%s) @ grad(U, theta) + "
PSD = "C: {shape: [d, d], is: positive semidefinite}"
SYMMETRIC = "B: {shape: [d, d], is: symmetric}"

NO_COVARIANCE = {
    "what follows a part that cancels": ("C - C", "N(0, eps*(C - C) - eps**2*I)", PSD),
    "definite at a size of 1 only": ("outer(v, v)", "N(0, 2*eps*outer(v, v) - eps**2*I)", "v: {shape: d}"),
    "not symmetric after its leading part": ("1*I", "N(0, eps*(2*I + eps*B))", "B: {shape: [d, d]}"),
}


def _update(at: Path, D: str, noise: str, parameters: str) -> Decision:
    """Return what is said of theta - eps D grad U + noise."""
    entries = {"D": f"[[{D}]]", "Q": "[[0]]", "parameters": parameters, "functions": POTENTIAL}
    return claimed_update(
        subject_of(document(at, "theta: {shape: d}", "U(theta)", update={"theta": DRIFT % D + noise}, **entries))
    ).decision


@pytest.mark.parametrize("name", NO_COVARIANCE)
def test_a_draw_without_a_covariance_is_not_proved(tmp_path: Path, name: str) -> None:
    D, noise, parameters = NO_COVARIANCE[name]
    found = _update(tmp_path, D, noise, parameters)
    assert isinstance(found, Undecided)
    assert "the engines disagree" not in " ".join(found.tried)
    assert "the covariance of" in found.tried[0]


def test_indefinite_draws_do_not_make_up_for_each_other(tmp_path: Path) -> None:
    found = _update(tmp_path, "C", "N(0, eps*(C - B)) + N(0, eps*(C + B))", f"{PSD}, {SYMMETRIC}")
    assert isinstance(found, Refuted)


@pytest.mark.parametrize("noise", ["N(0, 2*eps*C)", "N(0, eps*(2*C - eps*C @ B @ C))", "sqrt(2)*N(0, eps*C)"])
def test_what_the_leading_part_outweighs_is_proved(tmp_path: Path, noise: str) -> None:
    found = _update(tmp_path, "C", noise, f"{PSD}, {SYMMETRIC}")
    assert isinstance(found, Proved)


def _independent(at: Path, theta: str, r: str) -> Decision:
    update = {"theta": theta, "r": r}
    state = "theta: {shape: d}, r: {shape: d}"
    return independent_update(
        subject_of(document(at, state, "U(theta) + r.T @ r/2", functions=POTENTIAL, update=update))
    ).decision


def test_a_block_as_updated_carries_the_estimate_into_a_product(tmp_path: Path) -> None:
    found = _independent(tmp_path, "theta - eps*next(r)*(next(r).T @ next(r))", "grad_tilde(U, theta)")
    assert isinstance(found, Undecided)
    assert "next(r).T @ next(r)" in found.tried[0]


def test_where_it_is_of_order_eps_there_it_does_no_harm(tmp_path: Path) -> None:
    found = _independent(tmp_path, "theta + eps*next(r)*(r.T @ next(r))", "r - eps*grad_tilde(U, theta)")
    assert isinstance(found, Proved)

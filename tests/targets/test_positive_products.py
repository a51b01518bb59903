"""Products of positive blocks under index fields are positive; means by shares stay where their entries are."""

from pathlib import Path

import pytest
from loaders import load_target

from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.normalisable import normalisable_alone
from recipe_compiler.verify.builds.target import defined

POSITIVE = "phi: {shape: [V, K], constraint: positive}, theta: {shape: [M, K], constraint: positive}"
SHARES = "w: {shape: K, constraint: simplex}, p: {shape: K, constraint: 'interval(0, 1)'}"
ROWS = "w: {shape: K, constraint: simplex}, P: {shape: [V, K], constraint: 'interval(0, 1)'}"
FACTORS = "gamma(phi, 2, 1) + gamma(theta, 2, 1)"
SHARED = "dirichlet(w, ones)"
SHOWN = (
    (POSITIVE, FACTORS, "poisson(y, phi[v] @ theta[m].T)"),
    (POSITIVE, FACTORS, "poisson(y, theta[m] @ phi[v].T)"),
    (POSITIVE, FACTORS, "poisson(y, dot(phi[v], theta[m]))"),
    (POSITIVE, FACTORS, "poisson(y, sum(phi[v]*theta[m]))"),
    (POSITIVE, FACTORS, "poisson(y, exp(phi[v]) @ sqrt(theta[m]).T)"),
    (SHARES, SHARED, "bernoulli(y, w.T @ p)"),
    (SHARES, SHARED, "bernoulli(y, dot(p, w))"),
    (ROWS, SHARED, "bernoulli(y, P[v] @ w)"),
)
NOT_SHOWN = (
    (POSITIVE.replace(", constraint: positive}", "}", 1), "normal(phi, 0, 1) + gamma(theta, 2, 1)", SHOWN[0][2]),
    (SHARES, SHARED, "bernoulli(y, 2*w.T @ p)"),
    (SHARES.replace("simplex", "positive"), "gamma(w, 2, 1)", "bernoulli(y, w.T @ p)"),
)


def _decided(folder: Path, state: str, prior: str, likelihood: str) -> tuple[object, object]:
    fields = "y: {shape: N}, v: {shape: N, index_of: V}, m: {shape: N, index_of: M}"
    (folder / "t.yaml").write_text(
        f"name: t\nstate: {{{state}}}\ndata: {{{fields}}}\nlog_prior: {prior}\nlog_likelihood: {likelihood}\n"
    )
    target = load_target(folder / "t.yaml")
    return defined(target).decision, normalisable_alone(target).decision


@pytest.mark.parametrize(("state", "prior", "likelihood"), SHOWN)
def test_it_is_shown(tmp_path: Path, state: str, prior: str, likelihood: str) -> None:
    assert all(isinstance(one, Proved) for one in _decided(tmp_path, state, prior, likelihood))


@pytest.mark.parametrize(("state", "prior", "likelihood"), NOT_SHOWN)
def test_what_may_be_out_of_the_domain_is_not(tmp_path: Path, state: str, prior: str, likelihood: str) -> None:
    assert not isinstance(_decided(tmp_path, state, prior, likelihood)[0], Proved)

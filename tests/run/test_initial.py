"""Where chains start."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from answers import document

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, with_starts
from recipe_compiler.emit.support.starts import _LONGEST_LAW
from recipe_compiler.errors import DataError
from recipe_compiler.run.initial import at_rest, first_states
from recipe_compiler.spec.bind import bind

PRECISION = np.array([[2.0, 0.6], [0.6, 1.0]])
CENTRE = np.array([[0.5], [-3.0]])
KNOWN = {"A": PRECISION, "m": CENTRE, "c": np.asarray(3.0)}
BUILD = """name: start
dynamics: own.yaml
target: target.yaml
scheme: {name: euler}
variant: full
init: {INIT}
run: {step_size: 0.1}
"""
DYNAMICS = """state: {theta: {shape: d}, r: {shape: d}}
parameters: {A: {shape: [d, d], is: symmetric, default: I}, m: {shape: d, default: ones}, c: {default: 3}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + (r - m).T @ A @ (r - m)/2
D: [[0, 0], [0, 0]]
Q: [[0, -I], [I, 0]]
"""
DRAWN = 'theta: "N(0, I)", r: 0*ones'


def build(init: str = "", *changes: tuple[str, str]) -> Any:
    """Return a build with starts of its own, some of its dynamics changed."""
    own = DYNAMICS
    for old, new in changes:
        assert old in own
        own = own.replace(old, new)
    target = f"{own.partition(', r')[0]}}}\npotential: norm2(theta)\n"
    return document(BUILD.replace("{INIT}", f"{{{init}}}"), own=own, target=target)


def starts(build: Any, chains: int = 1, d: int = 2, seed: int = 0) -> list[np.ndarray]:
    """Return, per block, the starts of all chains."""
    found = [first(build, d)(seed, k) for k in range(chains)]
    return [np.stack([one[name] for one in found]) for name in found[0]]


def first(build: Any, d: int = 2) -> Any:
    space: dict[str, Any] = {"np": np}
    exec(with_starts(Module("start", "", None, None), build, derive(bind(build)), {}).starts, space)
    return first_states(SimpleNamespace(name="start", **space), build, KNOWN, {"d": d})


def test_formulas_of_init_are_evaluated() -> None:
    theta, r = starts(build("theta: m, r: ones"))
    np.testing.assert_array_equal(theta[0], [0.5, -3.0])
    np.testing.assert_array_equal(r[0], [1.0, 1.0])


@pytest.mark.slow
def test_draws_of_init_differ_from_chain_to_chain_and_have_their_law() -> None:
    theta, _ = starts(build(DRAWN), chains=4000)
    assert theta.shape == (4000, 2)
    assert np.abs(theta.mean(axis=0)).max() <= 5 / math.sqrt(4000)
    assert np.abs(np.cov(theta.T) - np.eye(2)).max() <= 5 * math.sqrt(2 / 4000)


def test_starts_depend_on_the_seed_and_not_on_the_number_of_chains() -> None:
    own = build(DRAWN)
    np.testing.assert_array_equal(starts(own, 2)[0], starts(own, 5)[0][:2])
    assert not np.any(starts(own, 3)[0] == starts(own, 3, seed=1)[0])


def test_the_potential_block_starts_overdispersed() -> None:
    theta, r = starts(build(), chains=2000)
    assert np.abs(theta).max() <= 2.0
    assert abs(theta.var() - 4 / 3) <= 0.1
    assert (at_rest(build(), first(build())(0, 0))["r"] == 0.0).all()
    assert (r != 0.0).all()


@pytest.mark.slow
def test_a_gaussian_block_starts_from_its_law() -> None:
    _, r = starts(build(), chains=4000)
    covariance = np.linalg.inv(PRECISION)
    assert np.abs(r.mean(axis=0) - CENTRE[:, 0]).max() <= 5 * math.sqrt(covariance.max() / 4000)
    assert np.abs(np.cov(r.T) - covariance).max() <= 5 * covariance.max() * math.sqrt(2 / 4000)


@pytest.mark.parametrize("inverse", ["inv(A)", "inv(diag(A @ ones))"])
def test_a_law_of_an_inverse_inverts_once_for_all_its_values(inverse: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inverted: list[int] = []
    inv = np.linalg.inv
    given = build("", ("@ A @", f"@ {inverse} @"), ("is: symmetric", "is: positive definite"))
    start = first(given)
    monkeypatch.setattr(np.linalg, "inv", lambda A: inverted.append(len(A)) or inv(A))
    drawn = np.stack([start(0, k)["r"] for k in range(4000)])
    assert inverted == [2] * 4000
    wanted = PRECISION if inverse == "inv(A)" else np.diag(PRECISION.sum(axis=1))
    assert np.abs(np.cov(drawn.T) - wanted).max() < 0.15


def test_a_block_whose_law_is_improper_or_long_starts_at_zero() -> None:
    upside_down = build("", ("U(theta) + (r", "-U(theta) - (r"))
    np.testing.assert_array_equal(starts(upside_down)[1], 0.0)
    np.testing.assert_array_equal(starts(build(), d=_LONGEST_LAW + 1)[1], 0.0)


def test_a_standard_normal_block_starts_from_its_law_however_long_it_is() -> None:
    _, r = starts(build("", ("(r - m).T @ A @ (r - m)", "norm2(r)")), chains=40, d=_LONGEST_LAW + 1)
    assert abs(r.mean()) <= 5 / math.sqrt(r.size)
    assert abs(r.var() - 1.0) <= 5 * math.sqrt(2 / r.size)
    assert np.unique(r).size == r.size


@pytest.mark.parametrize(
    ("domain", "low", "high"),
    [
        ("positive", 0.0, math.inf), ("nonnegative", 0.0, math.inf), ('"interval(3, 5)"', 3.0, 5.0),
        ("circle", 0.0, math.tau), ("simplex", 0.0, 1.0),
    ],
)  # fmt: skip
def test_bounded_blocks_start_inside_their_domain(domain: str, low: float, high: float) -> None:
    theta, _ = starts(build("", ("theta: {shape: d}", f"theta: {{shape: d, domain: {domain}}}")), chains=200)
    assert ((theta > low) & (theta < high)).all()
    assert theta.std() > 0.1
    if domain == "simplex":
        assert (theta.sum(axis=1) < 1.0).all()


def test_scalar_blocks_are_arrays_of_length_one() -> None:
    still = ("Q: [[0, -I], [I, 0]]", "Q: [[0, 0], [0, 0]]")
    own = build("r: c", ("r: {shape: d}", "r: {}"), ("(r - m).T @ A @ (r - m)/2", "r**2/2"), still)
    assert starts(own)[1].tolist() == [[3.0]]


@pytest.mark.parametrize(
    ("init", "says"),
    [
        ("log(0*ones)", "expected finite numbers"), ("exp(1000*ones)", "expected finite numbers"),
        ('"N(0, -I)"', "not positive semidefinite"),
    ],
)  # fmt: skip
def test_init_that_does_not_fit_is_refused(init: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        starts(build(f"theta: {init}"))


def test_functions_that_numpy_lacks_have_values_where_chains_start() -> None:
    theta, _ = starts(build("theta: loggamma(c)*softplus(m)"))
    np.testing.assert_allclose(theta[0], math.log(2.0) * np.log1p(np.exp(CENTRE[:, 0])))


def test_a_start_at_the_end_of_an_interval_is_refused() -> None:
    own = document(
        "name: ends\ndynamics: sgld\ntarget: target.yaml\nbind: {D: I}\nscheme: {name: euler}\nvariant: full\n"
        "init: {i: 1}\nrun: {step_size: 0.1}\n",
        target='state: {i: {constraint: "interval(0, 1)"}}\nlog_prior: beta(i, 2, 2)\n',
    )
    with pytest.raises(DataError, match="init of `i`: found the end of its domain"):
        starts(own, d=1)

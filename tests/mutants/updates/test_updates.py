"""Claimed updates, right and wrong, several of them published: each with the verdict it must get, and why."""

from functools import cache
from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.updates.claimed_update import claimed_update
from recipe_compiler.verify.updates.step_scale import step_scale

HERE = Path(__file__).parent

EXACT = (
    "sgld",
    "sgld_subtracted",
    "sghmc_simultaneous",
    "sgrhmc_algorithm_1",
    "sgrld",
    "temperature",
)
"""Right, and the moments of a step leave nothing at eps^1 either."""

COMPOSED = (
    "sghmc_sequential",
    "sghmc_half_estimate",
    "sghmc_shared_noise",
    "sgnht",
    "sgnht_em_friction",
    "sgnht_em_trace",
    "langevin_exact",
)
"""Right; the moments at eps**2 are not those of an Euler step, and nothing is said of a bias by noise."""

BIASED = {
    "sghmc_naive": "sum_ijkl r[i] inv(M)[j,i] V[k,j] inv(M)[k,l] r[l]/2 - sum_ij V[i,j] inv(M)[i,j]/2",
    "sghmc_naive_noise": "sum_ijkl r[i] inv(M)[j,i] V[k,j] inv(M)[k,l] r[l]/2 - sum_ij V[i,j] inv(M)[i,j]/2",
    "sgld_minibatch": "V",
    "sgrhmc_estimate": "V",
}
"""Right in the limit only: what the noise of order eps**2 leaves at eps^1."""

SQUARED = {"sgld_squared": "step size read as eps**2/2", "sghmc_squared": "step size read as eps**2"}
"""Right with another power of eps as the step size, which is said."""

DRAWS = ("refresh", "decay")
"""Steps of a fixed size that keep the law of the momentum exactly."""

WRONG_LIMIT = {
    "sgld_noise_eps": 1,
    "sghmc_em_force": 1,
    "sghmc_transposed": 2,
    "hmc_half_step": 1,
    "temperature_squared": 1,
    "sgrhmc_printed": 1,
    "sgrhmc_gamma_sign": 1,
    "sgrld_gamma_sign": 1,
    "sgrld_gamma_dropped": 1,
    "sgnht_energy": 2,
    "sgnht_norm": 1,
    "sgnht_em_printed": 1,
    "sgnht_em_force": 1,
    "sgld_squared_drift": 1,
    "sgld_squared_order": 1,
    "sgld_squared_later": 1,
    "sghmc_squared_transposed": 2,
}
"""Wrong at eps^0, and the smallest size that shows it."""

WRONG_SIZE = {
    "sgld_squared_between": "the step is of order eps^(3/2), not eps, and that part is wrong",
    "sgld_noise_no_step": "Cov[dz] does not shrink with eps",
    "sgld_drift_no_step": "changes the law for U = theta.T @ theta / 2",
    "refresh_half": "changes the law of r",
    "decay_fixed": "changes the law of r",
    "sghmc_whole_estimate": "is not positive semidefinite",
}
"""Wrong because of a part that does not shrink with eps, or of a draw that is none."""

OPEN = ("decay_with_force",)


@cache
def finding(name: str) -> Answer:
    document = load_dynamics(HERE / f"{name}.yaml")
    return claimed_update(subject_of(document))


def proof(name: str) -> Proved:
    decision = finding(name).decision
    assert isinstance(decision, Proved)
    assert finding(name).for_d == "all"
    assert {size for sizes in finding(name).checked_at for _, size in sizes} >= {1, 2, 3}
    return decision


def refutation(name: str) -> Refuted:
    decision = finding(name).decision
    assert isinstance(decision, Refuted)
    assert decision.witness
    assert decision.residual
    return decision


def test_every_update_has_its_row() -> None:
    listed = [*EXACT, *COMPOSED, *BIASED, *SQUARED, *DRAWS, *WRONG_LIMIT, *WRONG_SIZE, *OPEN]
    assert sorted(listed) == sorted(path.stem for path in HERE.glob("*.yaml"))


@pytest.mark.parametrize("name", EXACT)
def test_an_update_with_exact_moments_is_proved_without_remark(name: str) -> None:
    found = proof(name)
    assert found.by == "index calculus for every size; second engine"
    assert dict(found.data)["eps^1 part of the residual of the moments"] == "0"


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPOSED)
def test_a_composed_step_is_proved_and_its_moments_are_told(name: str) -> None:
    found = proof(name)
    assert "biased" not in " ".join(found.remarks)
    assert "moments of the step: the eps^1 part of their residual does not vanish" in " ".join(found.remarks)
    assert "eps^1 part at a point" in dict(found.data)


@pytest.mark.parametrize("name", BIASED)
def test_noise_that_nothing_balances_is_a_bias_of_finite_steps(name: str) -> None:
    found = proof(name)
    assert "biased at finite step: noise of order eps**2" in " ".join(found.remarks)
    left = dict(found.data)["eps^1 part of the residual that noise leaves"]
    assert BIASED[name] in left
    assert left == dict(found.data)["eps^1 part of the residual of the moments"]


def test_the_naive_sampler_is_said_to_have_a_limit_without_noise() -> None:
    assert "the limiting equation has no noise" in " ".join(proof("sghmc_naive").remarks)


@pytest.mark.parametrize("name", SQUARED)
def test_the_power_of_eps_that_is_time_is_read_and_said(name: str) -> None:
    assert any(remark.startswith(SQUARED[name]) for remark in proof(name).remarks)
    document = load_dynamics(HERE / f"{name}.yaml")
    scale = step_scale(subject_of(document)).decision
    assert isinstance(scale, Proved)
    assert "step size read as eps**2" in scale.by


@pytest.mark.parametrize("name", ["sgld_squared_order", "sgld_squared_between"])
def test_no_power_of_eps_fits_a_drift_before_its_noise(name: str) -> None:
    document = load_dynamics(HERE / f"{name}.yaml")
    assert isinstance(step_scale(subject_of(document)).decision, Refuted)


def test_a_wrong_update_is_told_at_the_block_and_beside_what_was_expected() -> None:
    found = finding("sgld_squared_drift")
    assert found.where.line == 15
    residual = refutation("sgld_squared_drift").residual
    assert "its drift of theta less the recipe's is -sum_j A[j,i] d_theta[j] U/2: found -sum_j A" in residual
    assert "(step size read as eps**2/2)" in residual


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_that_keeps_its_law_is_proved(name: str) -> None:
    assert "an exact draw that keeps the law of r" in proof(name).by


@pytest.mark.parametrize("name", WRONG_LIMIT)
def test_a_wrong_limit_is_refuted_at_the_smallest_size_that_shows_it(name: str) -> None:
    found = refutation(name)
    assert found.by.startswith("wrong at every step size (eps^0): exact witness")
    assert finding(name).for_d[0] == ("d", WRONG_LIMIT[name])
    assert dict(found.witness)["the residual of the limiting equation"] != "0"


@pytest.mark.parametrize("name", WRONG_SIZE)
def test_what_does_not_shrink_is_refuted_by_name(name: str) -> None:
    assert WRONG_SIZE[name] in refutation(name).by


@pytest.mark.parametrize("name", OPEN)
def test_what_is_not_decided_says_why(name: str) -> None:
    decision = finding(name).decision
    assert isinstance(decision, Undecided)
    assert "keeps the law of r" in decision.tried[0]


@pytest.mark.parametrize("name", ["sghmc_simultaneous", "sghmc_sequential"])
def test_what_the_noise_needs_is_listed(name: str) -> None:
    given = proof(name).given
    assert "grad_tilde(U, theta) is unbiased, with covariance V(theta), new in every step" in given
    assert "V is positive semidefinite" in given
    assert any("is positive semidefinite for small eps" in line for line in given)


SGHMC = (HERE / "sghmc_shared_noise.yaml").read_text(encoding="utf-8")
CHANGES = {
    "r - eps*grad(U, theta)": ("r + eps*grad(U, theta)", "r", "r - 2*eps*grad(U, theta)"),
    "- eps*B @ B.T @ inv(M) @ r": ("+ eps*B @ B.T @ inv(M) @ r", "", "- eps*B @ B.T @ r", "- eps*B @ B.T @ M @ r"),
    "+ sqrt(2*eps)*B @ w": ("", "+ sqrt(eps)*B @ w", "+ 2*sqrt(eps)*B @ w", "+ sqrt(2*eps)*B @ w + sqrt(eps)*B @ w"),
    "eps*inv(M) @ next(r)": ("eps*next(r)", "eps*M @ next(r)", "-eps*inv(M) @ next(r)", "0*r"),
}


@pytest.mark.parametrize(("old", "new"), [(old, new) for old, changed in CHANGES.items() for new in changed])
def test_no_changed_update_is_proved(old: str, new: str, tmp_path: Path) -> None:
    assert SGHMC.count(old) == 1
    path = tmp_path / "changed.yaml"
    path.write_text(SGHMC.replace(old, new), encoding="utf-8")
    document = load_dynamics(path)
    assert claimed_update(subject_of(document)).verdict is Verdict.REFUTED

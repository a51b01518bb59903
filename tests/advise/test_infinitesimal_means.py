"""Means of the generator over draws: what they say of exact draws, of a step in closed form, and of a planted fault.

False alarms of the tests themselves: seeds are fixed, so there are none from run to run.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loaders import load_build, load_dynamics, load_target
from read_back import check_shipped, read_back

from recipe_compiler.advise.infinitesimal_means import InfinitesimalMeans, infinitesimal_means, summed_up
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.lower import lower
from recipe_compiler.program.program import Moment
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import Draws
from recipe_compiler.scheme.discretise import discretise, pinned_sizes, small_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.tensor.terms import Tensor, Term

pytestmark = pytest.mark.usefixtures("without_reading_back")

SPECS = Path(__file__).parents[2] / "specs"
NOTHING = Data(())
NAMES = ("b[age]", "b[bmi]", "log_tau")
"""Those of the target, of coordinates that the dynamics call theta."""


@cache
def compiled(name: str) -> tuple[Build, Emitted, Any]:
    build = load_build(SPECS / "builds" / f"{name}.yaml")
    module = compile_build(build)
    return build, load_text(module.name, module.loaded), module


def values(name: str) -> dict[str, np.ndarray]:
    """Return the values of a build's parameters."""
    build = compiled(name)[0]
    return {n: np.array(v.numbers, dtype=float) for n, v in build.values if v.numbers is not None}


def drawn(name: str, arrays: tuple[np.ndarray, ...]) -> Draws:
    """Return draws from elsewhere as those of a run."""
    build = compiled(name)[0]
    chains, length = arrays[0].shape[:2]
    return Draws(
        blocks=tuple(block.name for block in build.dynamics.declarations.blocks), arrays=arrays, warmup=0,
        kept=(length,) * chains, diverging=(False,) * chains, stopped=None, clipped=(0,) * chains,
        settings=replace(build.run, chains=chains, draws=length, warmup=0), sizes=build.sizes, seconds=1.0,
    )  # fmt: skip


def sampler(name: str) -> Sampler:
    build, emitted, module = compiled(name)
    return replace(Sampler.of(build, module, emitted, NOTHING), names=NAMES)


def means(name: str, draws: Draws) -> InfinitesimalMeans:
    found = infinitesimal_means(sampler(name), draws)
    assert found is not None
    return found


def exact_sghmc(seed: int) -> Draws:
    """Return independent draws of exp(-H) = N(mu, Sigma) N(0, M)."""
    given, rng = values("sghmc_gaussian"), np.random.default_rng(seed)
    theta = given["mu"].ravel() + rng.standard_normal((4, 1000, 3)) @ np.linalg.cholesky(given["Sigma"]).T
    r = rng.standard_normal((4, 1000, 3)) @ np.linalg.cholesky(given["M"]).T
    return drawn("sghmc_gaussian", (theta, r))


@pytest.mark.slow
def test_exact_draws_are_seen_to_be_right() -> None:
    found = means("sghmc_gaussian", exact_sghmc(5))
    assert found.count == 3 + 3 + 2 + 3 * 9  # entries of theta and r, their sums, products
    assert not found.seen


def test_momenta_of_another_law_are_seen() -> None:
    """r of covariance 1.2 M, theta right: R-hat and ESS of theta are perfect."""
    right = exact_sghmc(5)
    wrong = replace(right, arrays=(right.arrays[0], np.sqrt(1.2) * right.arrays[1]))
    found = means("sghmc_gaussian", wrong)
    assert found.seen
    assert "r[" in found.largest.name
    assert "of its sd" in found.says


def test_coordinates_have_the_names_of_the_target() -> None:
    right = exact_sghmc(5)
    found = means("sghmc_gaussian", replace(right, arrays=(right.arrays[0], right.arrays[0]))).largest.name
    assert "theta" not in found
    assert any(name in found for name in NAMES)


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_stated() -> None:
    """200 runs of 4 correlated chains of 400 draws, 12 means each: one in 1000 is stated; 4 or more are p < 1e-4."""
    rng, flagged = np.random.default_rng(0), 0
    for _ in range(200):
        noise = rng.standard_normal((4, 500, 12))
        chain = np.zeros_like(noise)
        for t in range(1, 500):
            chain[:, t] = 0.6 * chain[:, t - 1] + noise[:, t]
        flagged += summed_up([f"phi{k}" for k in range(12)], chain[:, 100:]).seen
    assert flagged < 4


def test_chains_that_diverged_are_left_out_and_few_draws_say_nothing() -> None:
    right = exact_sghmc(6)
    broken = tuple(array.copy() for array in right.arrays)
    broken[0][1, 500:] = np.nan
    found = means(
        "sghmc_gaussian",
        replace(right, arrays=broken, kept=(1000, 500, 1000, 1000), diverging=(False, True, False, False)),
    )
    assert found.draws == 3000
    assert not found.seen
    assert infinitesimal_means(sampler("sghmc_gaussian"), replace(right, kept=(30,) * 4)) is None


def test_long_blocks_are_summed_up() -> None:
    own = sampler("sghmc_gaussian")

    @wraps(own.module.generator)  # its arguments are those that a module's has
    def long(theta: np.ndarray, *_: object) -> tuple[np.ndarray, np.ndarray]:
        return np.repeat(theta, 400), theta

    families = replace(own.module, generator=long, moments=("theta[i]", "r[i]"))
    found = infinitesimal_means(replace(own, module=families), exact_sghmc(7))
    assert found is not None
    assert found.count == 1 + 3 + 1  # 1200 entries as their sum alone


FAULTS = [
    ("sghmc_gaussian", "L_r[i] = -C_inv_M_r[i] - grad_U[i]", "L_r[i] = C_inv_M_r[i] - grad_U[i]"),
    ("sghmc_gaussian", "L_r_r[i, j] = (\n                2.0 * C[i, j]", "L_r_r[i, j] = (\n                C[i, j]"),
    ("sghmc_gaussian", "L_theta_theta[i, j] = theta[i] * inv_M_r[j]", "L_theta_theta[i, j] = theta[j] * inv_M_r[j]"),
    (
        "sghmc_gaussian",
        "grad_U[i] = -inv_Sigma_difference[i]\n    return",
        "grad_U[i] = inv_Sigma_difference[i]\n    return",
    ),
    ("sgnht_gaussian", "L_xi[0] = r_r / 3.0 - 1.0", "L_xi[0] = r_r / 3.0"),
]


@pytest.mark.parametrize(("name", "good", "bad"), FAULTS)
def test_a_fault_planted_in_the_generator_is_found_by_reading_it_back(name: str, good: str, bad: str) -> None:
    build, _, module = compiled(name)
    assert module.text.count(good) == 1, "the text has changed: plant the fault elsewhere"
    check_shipped(module, dict(build.sizes))
    with pytest.raises(CompilerError, match=r"generator|gradient of all data"):
        check_shipped(replace(module, text=module.text.replace(good, bad)), dict(build.sizes))


def test_a_state_with_ends_has_no_generator_means() -> None:
    """What flows over the end of a domain makes the mean of L phi another number than 0."""
    from recipe_compiler.scheme.moments import moments
    from recipe_compiler.scheme.posterior import SampledTarget

    dynamics = load_dynamics(SPECS / "dynamics" / "cir.yaml")
    target = load_target(SPECS / "targets" / "gaussian.yaml")
    block = dynamics.declarations.blocks[0]
    gradient = SampledTarget(target, "U", block, frozenset(), {}).gradient(minibatch=False)
    assert moments(derive(dynamics), gradient, frozenset(), {}) is None


def without_curvature(moment: Moment) -> Tensor:
    """Return L phi without the terms of factor 2: of tr(D Hess phi), and of products of a coordinate with itself."""
    return Tensor(moment.value.free, tuple(t for t in moment.value.terms if t.coefficient != 2))


def turned(moment: Moment) -> Tensor:
    """Return L phi with the sign of its first term turned."""
    first, *others = moment.value.terms
    return Tensor(moment.value.free, (Term(-first.coefficient, first.factors), *others))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["sghmc_gaussian", "sgnht_gaussian", "generalised_langevin_gaussian", "sghmc_logistic"]
)
@pytest.mark.parametrize("fault", [without_curvature, turned])
def test_a_fault_in_the_calculus_is_found_by_the_second_engine(name: str, fault: Callable[[Moment], Tensor]) -> None:
    build = load_build(SPECS / "builds" / f"{name}.yaml")
    derivation = derive(bind(build))
    program = discretise(build, derive(bind(build), stated=True), next(iter(small_sizes(build))))
    assert program.infinitesimal_generator is not None
    wrong = tuple(replace(moment, value=fault(moment)) for moment in program.infinitesimal_generator.moments)
    assert wrong != program.infinitesimal_generator.moments
    planted = replace(program, infinitesimal_generator=replace(program.infinitesimal_generator, moments=wrong))
    right = emit_module(build.name, program, lower(program), "A test.\n", "0" * 64)
    read_back(right, derivation, {}, pinned_sizes(build, program))
    module = emit_module(build.name, planted, lower(planted), "A test.\n", "0" * 64)
    with pytest.raises(CompilerError, match=r"differs from its Program in L\("):
        read_back(module, derivation, {}, pinned_sizes(build, planted))


def test_values_that_are_not_finite_are_seen() -> None:
    values = np.random.default_rng(2).standard_normal((2, 100, 3))
    values[0, 5, 1] = np.inf
    found = summed_up(["a", "b", "c"], values)
    assert found.seen
    assert found.largest.name == "b"
    assert np.isfinite(found.largest.z)

"""Plans where no step is linear: bounded domains, noise that depends on the state. By pilot chains, in the domain."""

from pathlib import Path

import numpy as np
import pytest

import recipe_compiler as rc
from recipe_compiler.errors import RunError
from recipe_compiler.pipeline import load
from recipe_compiler.planner.metric import StateMetric, depends_on_theta, metric_of
from recipe_compiler.run.evaluate import Point
from recipe_compiler.run.infinitesimal_means import errors_of
from recipe_compiler.spec.model import Build

ROOT = Path(__file__).parents[2]
SHARE = 0.02


def shipped(name: str, folder: Path) -> rc.Model:
    """Return a build that ships with nothing stated of its run, and of where its chains start."""
    lines = (ROOT / f"specs/builds/{name}.yaml").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("run:", "init:"))]
    text = "\n".join([*kept, "run: {step_size: auto}", ""]).replace("../", f"{ROOT}/specs/")
    (folder / f"{name}.yaml").write_text(text)
    return rc.compile(folder / f"{name}.yaml")


def dirichlet(shares: list[float], total: float | None) -> tuple[list[float], list[float]]:
    """Return means and sds of shares, or, of a total that is Gamma(total, 1), of what they are shares of."""
    a, A = np.array(shares), sum(shares)
    first, second = a / A, a * (a + 1.0) / (A * (A + 1.0))
    first, second = (first, second) if total is None else (total * first, total * (total + 1.0) * second)
    return list(first), list(np.sqrt(second - first**2))


def inverse_gaussian() -> tuple[list[float], list[float]]:
    """Return those of two inverse Gaussian variables coupled by their sum, by quadrature."""
    x = np.linspace(1e-3, 25.0, 3000)
    X, Y = np.meshgrid(x, x, indexing="ij")
    U = 1.5 * (np.log(X) + np.log(Y)) + 6.0 / X + 2.0 / Y + X / 2.0 + Y / 3.0 + (X + Y) ** 2 / 8.0
    law = np.exp(U.min() - U)
    law /= law.sum()
    means = [float((law * V).sum()) for V in (X, Y)]
    return means, [float(np.sqrt((law * (V - m) ** 2).sum())) for V, m in zip((X, Y), means, strict=True)]


S = np.array([[2.0, 1 / 2, 1 / 3], [1 / 2, 1.0, -1 / 4], [1 / 3, -1 / 4, 3 / 2]])
GAUSSIAN = [1.0, -2.0, 0.5], list(np.sqrt(np.diag(S)))

BUILDS = {
    "sgrld_categories": dirichlet([8.0, 12.0, 7.0], 10.0),
    "wright_fisher_dirichlet": tuple(part[:2] for part in dirichlet([8.0, 6.0, 5.0], None)),
    "sgrhmc_inverse_gaussian_baoab": inverse_gaussian(),
    "sgrld_banana": ([0.0, 0.0], [2.0, 3.0**0.5]),
    "gsgrhmc_gaussian": GAUSSIAN,
    "gsgrhmc_gaussian_baoab": GAUSSIAN,
}


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible", "without_reading_back")
@pytest.mark.parametrize("name", BUILDS)
def test_what_no_linear_step_tells_is_planned_by_chains_in_its_domain(name: str, tmp_path: Path) -> None:
    """Means and sds within the share and 5 Monte Carlo errors: of 30 numbers one in 10^4 runs is a false alarm."""
    fit = shipped(name, tmp_path).sample(progress=False)
    assert fit.verdict.trust.startswith("trust: yes"), fit.verdict
    assert "not by the audit of a quadratic U" in fit.attrs["plan"]
    draws = fit["posterior"]["theta"].to_numpy()
    mean, sd = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
    of_means, of_squares = np.split(errors_of(np.concatenate([draws, (draws - mean) ** 2], axis=2)), 2)
    means, sds = map(np.array, BUILDS[name])
    assert (np.abs(mean - means) <= SHARE * sds + 5.0 * of_means).all(), (mean, means, of_means)
    assert (np.abs(sd - sds) <= SHARE * sds + 5.0 * of_squares / (2.0 * sd)).all(), (sd, sds)


@pytest.mark.slow
def test_a_law_whose_chains_leave_the_domain_at_every_step_is_refused_with_what_serves(tmp_path: Path) -> None:
    """Gamma(1/2, 1): half of its mass within 0.23 of the boundary, at which its density is infinite."""
    (tmp_path / "sparse.yaml").write_text(
        "name: sparse\nstate: {theta: {shape: d, domain: positive}}\npotential: sum(theta) + sum(log(theta))/2\n"
    )
    model = rc.compile("sgrld_positive", tmp_path / "sparse.yaml", scheme="euler", variant="full", sizes={"d": 2},
                       step_size="auto")  # fmt: skip
    with pytest.raises(RunError, match=r"bounded domain.* Pilot chains do not either.*`transform: log`"):
        model.plan()


def metric(name: str) -> tuple[Build, StateMetric]:
    build = load(ROOT / f"specs/builds/{name}.yaml")
    assert isinstance(build, Build)
    values = {n: np.array(v.numbers, dtype=float) for n, v in build.values if v.numbers is not None}
    known = {n: array if array.shape[0] == array.shape[1] > 1 else array.reshape(()) for n, array in values.items()
             if n in ("A", "s", "b")}  # fmt: skip
    known |= {n: values[n].reshape(-1, 1) for n in ("e_1", "e_2") if n in values}
    found = metric_of(build, Point(known, dict(build.sizes)), ())
    assert isinstance(found, StateMetric)
    return build, found


def test_forces_are_multiplied_by_noise_or_by_what_moves_theta() -> None:
    """K K of gSGRHMC, whose momenta move theta; G^-1 of SGRLD, whose noise is theta's own."""
    theta = np.array([1.0, -2.0, 0.5])
    build, of_momenta = metric("gsgrhmc_gaussian")
    A = np.array([[1.0, 0.25, 0.0], [0.25, 1.5, -0.25], [0.0, -0.25, 1.0]])
    K = np.sqrt(1.0 + theta @ theta / 4.0) * A
    np.testing.assert_allclose(of_momenta.at(theta), K @ K, rtol=1e-12)
    assert depends_on_theta(build)
    assert of_momenta.by_root
    build, of_noise = metric("sgrld_banana")
    v = np.array([1.0, theta[0] / 2.0])
    np.testing.assert_allclose(of_noise.at(theta[:2]), np.eye(2) / 2.0 + 2.0 * np.outer(v, v), rtol=1e-12)
    assert depends_on_theta(build)
    assert not of_noise.by_root


def test_a_metric_that_is_the_same_everywhere_is_none_of_the_state() -> None:
    build = load(ROOT / "specs/builds/sghmc_gaussian_baoab.yaml")
    assert isinstance(build, Build)
    assert not depends_on_theta(build)

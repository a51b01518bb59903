"""Plans of cycles that have nothing to tune: how many cycles apart draws are, so that they count, and agree."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaln

import recipe_compiler as rc
from recipe_compiler.run.infinitesimal_means import errors_of

pytestmark = [
    pytest.mark.slow, pytest.mark.usefixtures("interruptible", "without_reading_back"),
    pytest.mark.filterwarnings("ignore:the tails of:recipe_compiler.front.model.SampleWarning"),
]  # fmt: skip

ROOT = Path(__file__).parents[2]
Y = np.loadtxt(ROOT / "specs/data/few_of_two_groups.csv", skiprows=1)


def shipped(name: str, folder: Path, run: str = "{step_size: auto}") -> rc.Model:
    """Return a build that ships with nothing stated of its run."""
    lines = (ROOT / f"specs/builds/{name}.yaml").read_text().splitlines()
    text = "\n".join([*(line for line in lines if not line.startswith("run:")), f"run: {run}", ""])
    (folder / f"{name}.yaml").write_text(text.replace("../", f"{ROOT}/specs/"))
    return rc.compile(folder / f"{name}.yaml")


def mixture(alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and sds of the component means of a mixture, by the sum over all allocations of ten data."""
    K = len(alpha)
    z = np.array(list(itertools.product(range(K), repeat=len(Y))))
    n = np.stack([(z == k).sum(axis=1) for k in range(K)], axis=1)
    s = np.stack([((z == k) * Y).sum(axis=1) for k in range(K)], axis=1)
    precision = n + 0.25
    log_weight = (gammaln(alpha + n) - np.log(precision) / 2.0 + s**2 / precision / 2.0).sum(axis=1)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = weight @ (s / precision)
    return mean, np.sqrt(weight @ ((s / precision) ** 2 + 1.0 / precision) - mean**2)


@pytest.mark.parametrize(
    ("name", "alpha"), [("gibbs_mixture", [1.0, 1.0]), ("gibbs_weights", [2.0, 1.0, 0.5])]
)  # fmt: skip
def test_draws_of_a_mixture_are_as_far_apart_as_they_need(name: str, alpha: list[float], tmp_path: Path) -> None:
    """A cycle apart a twentieth counts, with R-hat above 1.01. Within 5 Monte Carlo errors: one in 10^5 runs fails."""
    fit = shipped(name, tmp_path).sample(progress=False)
    assert fit.verdict.trust.startswith("trust: yes"), fit.verdict
    draws = fit["posterior"]["mu"].to_numpy()
    means, sds = mixture(np.array(alpha))
    mean = draws.mean(axis=(0, 1))
    of_means, of_squares = np.split(errors_of(np.concatenate([draws, (draws - mean) ** 2], axis=2)), 2)
    assert (np.abs(mean - means) <= 5.0 * of_means).all(), (mean, means)
    assert (np.abs(draws.std(axis=(0, 1)) - sds) <= 5.0 * of_squares / (2.0 * sds)).all()


@pytest.mark.parametrize("name", ["gibbs_removal", "gibbs_dp_mixture", "gibbs_regression", "cir_categories"])
def test_other_cycles_are_planned_too(name: str, tmp_path: Path) -> None:
    model = shipped(name, tmp_path)
    planned = model.plan().document.run
    assert planned.thin >= (4 if name in ("gibbs_removal", "gibbs_dp_mixture") else 1)
    fit = model.sample(progress=False)
    assert fit.verdict.trust.startswith("trust: yes"), fit.verdict
    assert "its moves keep exp(-H) at every step size" in fit.attrs["plan"]


def test_what_is_stated_stays(tmp_path: Path) -> None:
    planned = shipped("gibbs_mixture", tmp_path, "{step_size: auto, thin: 3, draws: 200}").plan().document.run
    assert (planned.thin, planned.draws) == (3, 200)
    assert planned.warmup >= 20 * 8 / 3  # of draws 8 cycles apart not one in two counts


def test_components_between_which_no_chain_passes_are_told(tmp_path: Path) -> None:
    """Two groups 12 sds apart: their names change places in no run."""
    rng = np.random.default_rng(3)
    y = np.concatenate([rng.normal(-6.0, 1.0, 30), rng.normal(6.0, 1.0, 30)])
    model = rc.compile(
        "still", "mixture_allocations", scheme={"cycle": [{"draw": b} for b in ("theta", "mu", "z")]}, variant="full",
        sizes={"K": 2, "N": 60}, step_size="auto",
    )  # fmt: skip
    with pytest.warns(rc.DoubtWarning, match="do not pass from one end of the law to the other"):
        model.plan({"y": y})

"""What is sampled at the first attempt with nothing chosen by hand, and what is refused with what serves.

Means and sds are held against closed forms, sums and quadrature, within the share of 2 % and 5 Monte Carlo standard
errors: of all numbers here one in about 10^4 runs is a false alarm. Draws repeat bit for bit, and so do the tests.
"""

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from scipy.special import gammaln

import recipe_compiler as rc
from recipe_compiler.advise import forecast
from recipe_compiler.advise import plan as planner
from recipe_compiler.advise.bulk import Bulk
from recipe_compiler.advise.chosen import Plan
from recipe_compiler.advise.metric import Pace, metric_of
from recipe_compiler.advise.moments import errors_of
from recipe_compiler.advise.plan import Bent, plan_of_bulk
from recipe_compiler.errors import RunError
from recipe_compiler.pipeline import load
from recipe_compiler.run import estimates, gradients
from recipe_compiler.run.evaluate import Point
from recipe_compiler.spec.model import Build

pytestmark = [
    pytest.mark.usefixtures("interruptible", "without_reading_back"),
    pytest.mark.filterwarnings("ignore:the tails of:recipe_compiler.front.model.SampleWarning"),
]

Array = np.ndarray
Moments = Mapping[str, tuple[Any, Any]]
"""Means and sds of blocks, entry by entry."""
ROOT = Path(__file__).parents[2]
MODELS = ROOT / "benchmarks" / "models"
SHARE = 0.02
FAR, CHAINS, EXACT = (
    "not by the audit of a quadratic U",
    "plan: by pilot chains",
    "its moves preserve exp(-H) at every step",
)


def demand_moments(fit: rc.Fit, moments: Moments) -> None:
    for block, (mean, sd) in moments.items():
        draws = fit["posterior"][block].to_numpy()
        draws = draws.reshape(*draws.shape[:2], -1)
        own, width = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
        of_means, of_squares = np.split(errors_of(np.concatenate([draws, (draws - own) ** 2], axis=2)), 2)
        sds = np.array(sd, float)
        assert (np.abs(own - mean) <= SHARE * sds + 5.0 * of_means).all(), (block, own, mean, of_means)
        assert (np.abs(width - sds) <= SHARE * sds + 5.0 * of_squares / (2.0 * sds)).all(), (block, width, sd)


# what is sampled


def stated(
    target: str, folder: Path, dynamics: str = "sghmc", scheme: str = "baoab", variant: str = "full", **more: Any
) -> rc.Model:
    """Return a build with `step_size: auto` and nothing else of a run; a target that ships, or a text."""
    if "\n" in target:
        (folder / "own.yaml").write_text(f"name: own\n{target}\n")
        target = str(folder / "own.yaml")
    return rc.compile(
        dynamics, target, name="planned", scheme=scheme, variant=variant, step_size="auto", allow_undecided=True, **more
    )


def shipped(name: str, folder: Path, run: str = "{step_size: auto}") -> rc.Model:
    """Return a build that ships with nothing stated of its run, and of where its chains start."""
    lines = (ROOT / f"specs/builds/{name}.yaml").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("run:", "init:"))]
    (folder / f"{name}.yaml").write_text("\n".join([*kept, f"run: {run}", ""]).replace("../", f"{ROOT}/specs/"))
    return rc.compile(folder / f"{name}.yaml")


def panel(name: str, _: Path) -> rc.Model:
    return rc.compile(MODELS / "builds" / f"{name}.yaml")


def of_panel(name: str) -> Moments:
    found: dict[str, tuple[list[float], list[float]]] = {}
    for label, known in json.loads((MODELS / "references.json").read_text())[name]["moments"].items():
        means, sds = found.setdefault(label.partition("[")[0], ([], []))
        means.append(known["mean"])
        sds.append(known["sd"])
    return found


def quadrature(log_density: Callable[[Array], Array], low: float, high: float) -> tuple[float, float]:
    x = np.linspace(low, high, 400_001)
    law = np.exp(log_density(x))
    law /= law.sum()
    mean = float(law @ x)
    return mean, float(np.sqrt(law @ (x - mean) ** 2))


def grid(U: Callable[..., Array], *axes: Array) -> Moments:
    """Return moments by a sum over a grid."""
    at = np.meshgrid(*axes, indexing="ij")
    law = np.exp((level := U(*at)).min() - level)
    law /= law.sum()
    means = [float((law * x).sum()) for x in at]
    return {"theta": (means, [float(np.sqrt((law * (x - m) ** 2).sum())) for x, m in zip(at, means, strict=True)])}


def dirichlet(shares: list[float], total: float | None) -> tuple[Array, Array]:
    """Return means and sds of shares, or, of a total that is Gamma(total, 1), of what they are shares of."""
    a, A = np.array(shares), sum(shares)
    first, second = a / A, a * (a + 1.0) / (A * (A + 1.0))
    first, second = (first, second) if total is None else (total * first, total * (total + 1.0) * second)
    return first, np.sqrt(second - first**2)


def mixture(alpha: list[float]) -> Moments:
    """Return those of the component means of a mixture, by the sum over all allocations of ten data."""
    Y = np.loadtxt(ROOT / "specs/data/few_of_two_groups.csv", skiprows=1)
    z = np.array(list(itertools.product(range(len(alpha)), repeat=len(Y))))[:, :, None] == np.arange(len(alpha))
    n, s = z.sum(axis=1), (z * Y[:, None]).sum(axis=1)
    precision = n + 0.25
    log_weight = (gammaln(np.array(alpha) + n) - np.log(precision) / 2.0 + s**2 / precision / 2.0).sum(axis=1)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = weight @ (s / precision)
    return {"mu": (mean, np.sqrt(weight @ ((s / precision) ** 2 + 1.0 / precision) - mean**2))}


RNG = np.random.default_rng(11)
X = np.column_stack([np.ones(240), RNG.normal(5.0, [1.0, 300.0], size=(240, 2))])
DATA = {"x": X, "y": X @ [1.0, -2.0, 0.01] + RNG.normal(size=240)}
P = X.T @ X + np.eye(3) / 10.0
UNCENTRED = {"theta": (np.linalg.solve(P, X.T @ DATA["y"]), np.sqrt(np.diag(np.linalg.inv(P))))}
RNG = np.random.default_rng(4)
X_FEW = RNG.standard_normal((40, 2)) * [1.0, 1.5]
Y_FEW = (RNG.random(40) < 1.0 / (1.0 + np.exp(-(X_FEW @ [1.2, -1.0] + 0.3)))).astype(int)
X_FEW = np.column_stack([np.ones(40), np.round(X_FEW, 3)])
"""So few that U bends."""


def U_few(*theta: Array) -> Array:
    level = sum(t**2 for t in theta) / 8.0
    for x, y in zip(X_FEW, Y_FEW, strict=True):
        eta = sum(a * t for a, t in zip(x, theta, strict=True))
        level = level + np.logaddexp(0.0, eta) - y * eta
    return level


def U_inverse_gaussian(x: Array, y: Array) -> Array:
    return 1.5 * np.log(x * y) + 6.0 / x + 2.0 / y + x / 2.0 + y / 3.0 + (x + y) ** 2 / 8.0


S, LOGISTIC = np.array([[2.0, 0.9, 0.3], [0.9, 1.0, -0.2], [0.3, -0.2, 0.5]]), "logistic_regression"
STUDENT = """state: {theta: {shape: 3}}
parameters: {S: {shape: [3, 3], is: positive definite}}
potential: 4*log(1 + theta.T @ inv(S) @ theta / 5)"""
"""With 5 degrees of freedom: 5/3 S is its covariance, and the fourth moments, of which errors of sds are, finite."""
NEAR = """state: {theta: {shape: 2}}
potential: -log(exp(-norm2(theta - 3/2*ones)/2) + exp(-norm2(theta + 3/2*ones)/2)/2)"""
"""Two modes, of 2/3 and 1/3, whose components are 4.2 sds apart."""
WALL = "state: {theta: {shape: 2}}\npotential: 20*softplus(-theta[0]) + theta[0]**2/2000 + theta[1]**2/2"
WALLED = quadrature(lambda x: -20.0 * np.logaddexp(0.0, -x) - x**2 / 2000.0, -20.0, 300.0)
WELL = quadrature(lambda x: 2.0 * x**2 - x**4, -4.0, 4.0)
GAUSSIAN = {"theta": ([1.0, -2.0, 0.5], np.sqrt([2.0, 1.0, 1.5]))}
BANANA = {"theta": ([0.0, 0.0], [2.0, 3.0**0.5])}


@dataclass(frozen=True)
class Case:
    """A model, made in a folder; its moments, made when asked for; what its plan says; and its data."""

    model: Callable[[Path], rc.Model]
    moments: Callable[[], Moments] | Moments
    says: str = FAR
    data: Mapping[str, Any] | None = None


CASES = {
    "double well": Case(partial(stated, "double_well"), {"theta": WELL}),
    "correlated plane": Case(
        partial(stated, "correlated_plane"), {"theta": ([0.0, -0.932796], [1.068815**0.5, 0.147352**0.5])}
    ),
    "banana": Case(partial(stated, "banana"), BANANA),
    "funnel": Case(
        partial(stated, "funnel", sizes={"d": 4, "k": 3}, parameters={"spread": 1}),
        {"v": (0.0, 1.0), "x": (np.zeros(3), np.full(3, np.exp(0.25)))},
    ),
    "Student": Case(
        partial(stated, STUDENT, parameters={"S": S.tolist()}), {"theta": (np.zeros(3), np.sqrt(5 / 3 * np.diag(S)))}
    ),
    "two modes": Case(partial(stated, NEAR), {"theta": ([0.5, 0.5], [3.0**0.5] * 2)}),
    "a wall": Case(partial(stated, WALL), {"theta": ([WALLED[0], 0.0], [WALLED[1], 1.0])}),
    "regression, full": Case(partial(stated, "linear_regression"), UNCENTRED, "", DATA),
    "regression, minibatch": Case(
        partial(stated, "linear_regression", variant="minibatch"), UNCENTRED, "control variates", DATA
    ),
    "V of the mode subtracted": Case(
        partial(stated, LOGISTIC, variant="minibatch", parameters={"prior_variance": 4}, batch_size=16, draws=2000),
        lambda: grid(U_few, *(np.linspace(at - far, at + far, 121) for at, far in ((0.8, 3), (1.1, 4), (-1.5, 4)))),
        "its noise at the mode subtracted", {"x": X_FEW, "y": Y_FEW},
    ),
    "positive": Case(partial(shipped, "sgrld_categories"), {"theta": dirichlet([8.0, 12.0, 7.0], 10.0)}),
    "a simplex": Case(
        partial(shipped, "wright_fisher_dirichlet"),
        {"theta": tuple(part[:2] for part in dirichlet([8.0, 6.0, 5.0], None))},
    ),
    "inverse Gaussians": Case(
        partial(shipped, "sgrhmc_inverse_gaussian_baoab"),
        lambda: grid(U_inverse_gaussian, *[np.linspace(1e-3, 25.0, 3000)] * 2),
    ),
    "a metric that bends": Case(partial(shipped, "sgrld_banana"), BANANA),
    "noise of the state": Case(partial(shipped, "gsgrhmc_gaussian"), GAUSSIAN),
    "noise of the state in a word": Case(partial(shipped, "gsgrhmc_gaussian_baoab"), GAUSSIAN),
    "draws of a mixture": Case(partial(shipped, "gibbs_mixture"), lambda: mixture([1.0, 1.0]), EXACT),
    "draws of weights": Case(partial(shipped, "gibbs_weights"), lambda: mixture([2.0, 1.0, 0.5]), EXACT),
    **{
        name: Case(partial(shipped, name), {}, EXACT)
        for name in ("gibbs_removal", "gibbs_dp_mixture", "gibbs_regression", "cir_categories")
    },
    **{
        name: Case(partial(panel, name), partial(of_panel, name), "draws by HMC: from theirs")
        for name in ("varying_slopes", "counties")
    },
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_target_is_sampled_at_the_first_attempt(name: str, tmp_path: Path) -> None:
    """Student's law has Pareto's k of 0.2, of which estimates pass 0.25 now and then: its sds are held to, too."""
    case = CASES[name]
    model = case.model(tmp_path)
    fit = model.sample(progress=False) if case.data is None else model.sample(case.data, progress=False)
    assert fit.verdict.trust.startswith("trust: yes"), fit.verdict
    assert not fit.attrs["doubts"]
    assert case.says in fit.attrs["plan"]
    demand_moments(fit, case.moments() if callable(case.moments) else case.moments)


N, d, FEW = 20_000, 3, 1000
RNG = np.random.default_rng(3)
X_MANY = RNG.standard_normal((N, d)) @ np.array([[1.0, 0.0, 0.0], [0.8, 0.5, 0.0], [-0.3, 0.4, 2.0]]).T
MANY = {"x": X_MANY, "y": (RNG.random(N) < 1 / (1 + np.exp(-X_MANY @ [1.0, -1.0, 0.5]))).astype(int)}


def laplace() -> tuple[Array, Array]:
    """Return the mode and the Hessian of U there, by Newton's method on all data, all too many to be read again."""
    theta, K = np.zeros(d), np.eye(d)
    for _ in range(12):
        p = 1 / (1 + np.exp(-X_MANY @ theta))
        K = np.eye(d) / 10.0 + (X_MANY * (p * (1 - p))[:, None]).T @ X_MANY
        theta = theta - np.linalg.solve(K, theta / 10.0 + X_MANY.T @ (p - MANY["y"]))
    return theta, K


@pytest.mark.slow
def test_a_plan_from_some_of_the_data_samples_the_posterior_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mode of 1,000 data alone would be sqrt(N/1,000) = 4.5 sds away."""
    model = stated(LOGISTIC, tmp_path, variant="minibatch", sizes={"d": d}, batch_size=200, draws=1000)
    monkeypatch.setattr(gradients, "LEAST_ROWS", FEW // 2)
    monkeypatch.setattr(planner, "SEARCHED", FEW * (d + 1) / 2.0)  # a row is x and y
    for room in (forecast, estimates):
        monkeypatch.setattr(room, "ENTRIES", FEW * (d + 1))
    mode, K = laplace()
    start, M = (
        np.array([[float(x) for x in row] for row in dict(model.plan(MANY).document.values)[name].numbers])
        for name in ("start", "M")
    )
    assert np.abs((start[:, 0] - mode) @ np.linalg.cholesky(K)).max() < 0.01  # of all data, which the sample's is not
    assert 1e-3 < np.abs(np.linalg.eigvals(np.linalg.solve(K, M)) - 1.0).max() < 0.5  # of 1,000 rows
    fit = model.sample(MANY, progress=False)
    assert f"of {N} data, drawn at random" in fit.attrs["plan"]
    assert f"of {N} data, drawn at random" in fit.attrs["forecast_lines"]
    assert fit.verdict.trust.startswith("trust: yes"), fit.verdict
    demand_moments(fit, {"theta": (mode, np.sqrt(np.diag(np.linalg.inv(K))))})


# what is refused

SPARSE = "state: {theta: {shape: d, domain: positive}}\npotential: sum(theta) + sum(log(theta))/2"
"""Gamma(1/2, 1): half of its mass within 0.23 of the boundary, at which its density is infinite."""
RNG = np.random.default_rng(5)
GROUPS = {"y": np.concatenate([RNG.normal(-2.0, 1.0, 60), RNG.normal(2.0, 1.0, 40)])}
NO_MODE = ("no minimum of U was found", "mu + tau*eta", "recipe run hmc TARGET", "`rhmc`")
REFUSED: dict[str, tuple[Callable[[Path], rc.Model], Mapping[str, Any] | None, tuple[str, ...]]] = {
    "exchangeable components": (
        partial(stated, "gaussian_mixture", sizes={"K": 2}), GROUPS,
        ("several modes: ", "chains do not help either: 8 chains ", "do not mix", "break the symmetry in the target"),
    ),
    "chains that leave the domain": (
        partial(stated, SPARSE, dynamics="sgrld_positive", scheme="euler", sizes={"d": 2}), None,
        ("bounded domain", "Pilot chains do not help either", "`transform: log`"),
    ),
    **{name: (partial(panel, name), None, NO_MODE) for name in ("schools_centred", "varying_intercepts")},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_what_no_plan_serves_is_refused_with_what_does(name: str, tmp_path: Path) -> None:
    make, data, says = REFUSED[name]
    with pytest.raises(RunError) as caught:
        make(tmp_path).plan(data) if data else make(tmp_path).plan()
    assert [words for words in says if words not in str(caught.value)] == []


@pytest.mark.slow
def test_what_is_stated_stays_and_a_step_size_is_not_given_twice(tmp_path: Path) -> None:
    planned = shipped("gibbs_mixture", tmp_path, "{step_size: auto, thin: 3, draws: 200}").plan().document.run
    assert (planned.thin, planned.draws) == (3, 200)
    assert planned.warmup >= 20 * 8 / 3  # of draws 8 cycles apart not one in two counts
    with pytest.raises(RunError, match=r"step_size: found 0\.1 for a build with step_size: auto"):
        stated("linear_regression", tmp_path).sample(DATA, step_size=0.1)


@pytest.mark.slow
def test_components_between_which_no_chain_passes_are_told() -> None:
    """Two groups 12 sds apart: their names change places in no run."""
    rng = np.random.default_rng(3)
    y = np.concatenate([rng.normal(-6.0, 1.0, 30), rng.normal(6.0, 1.0, 30)])
    model = rc.compile(
        "still", "mixture_allocations", scheme={"cycle": [{"draw": b} for b in ("theta", "mu", "z")]}, variant="full",
        sizes={"K": 2, "N": 60}, step_size="auto",
    )  # fmt: skip
    with pytest.warns(rc.DoubtWarning, match="do not mix"):
        model.plan({"y": y})


def test_the_plan_is_made_without_v_where_no_step_with_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    """V of the mode may be far from that of the bulk."""
    one, other = (Plan(cast("Build", name), ()) for name in ("subtracted", "as it is"))
    bulk = Bulk(np.zeros(2), np.eye(2), 1.0, 1.0, 0.5, 2, np.zeros((8, 2)))
    bent = Bent("U bends", "serves", lambda theta: theta, (np.zeros(2),), bulk, (one, other))
    serves = {other.build}

    def by_pilots(_stated: Build, _bent: Bent, walker: Plan) -> Plan:
        if walker.build in serves:
            return walker
        raise RunError(f"no step size serves {walker.build}")

    def plan_of(found: Bent) -> Plan:
        return plan_of_bulk(cast("Build", None), found, cast("Any", lambda own: own))

    monkeypatch.setattr(planner, "_by_pilots", by_pilots)
    assert plan_of(bent) is other
    assert plan_of(replace(bent, own=(other, one))) is other
    serves.clear()
    with pytest.raises(RunError, match="no step size serves as it is"):
        plan_of(bent)


# metrics of the state


def metric(name: str, d: int) -> Pace:
    build = load(ROOT / f"specs/builds/{name}.yaml")
    assert isinstance(build, Build)
    values = {n: np.array(v.numbers, dtype=float) for n, v in build.values if v.numbers is not None}
    known = {n: array if array.shape[0] == array.shape[1] > 1 else array.reshape(()) for n, array in values.items()
             if n in ("A", "s", "b")}  # fmt: skip
    known |= {n: values[n].reshape(-1, 1) for n in ("e_1", "e_2") if n in values}
    draws = np.random.default_rng(0).standard_normal((50, d))
    return metric_of(build, Point(known, dict(build.sizes)), ())(draws, np.eye(d))


def forces(pace: Pace, theta: Array) -> Array:
    """Return what forces are multiplied by at a state."""
    return pace.root(theta) @ pace.root(theta).T


def test_forces_are_multiplied_by_noise_or_by_what_moves_theta() -> None:
    """K K of gSGRHMC, whose momenta move theta; G^-1 of SGRLD, whose noise is theta's own."""
    theta = np.array([1.0, -2.0, 0.5])
    of_momenta = metric("gsgrhmc_gaussian", 3)
    K = np.sqrt(1.0 + theta @ theta / 4.0) * np.array([[1.0, 0.25, 0.0], [0.25, 1.5, -0.25], [0.0, -0.25, 1.0]])
    np.testing.assert_allclose(forces(of_momenta, theta), K @ K, rtol=1e-12)
    assert of_momenta.by_root
    of_noise = metric("sgrld_banana", 2)
    v = np.array([1.0, theta[0] / 2.0])
    np.testing.assert_allclose(forces(of_noise, theta[:2]), np.eye(2) / 2.0 + 2.0 * np.outer(v, v), rtol=1e-12)
    assert not of_noise.by_root
    even = metric("sghmc_gaussian_baoab", 3)
    np.testing.assert_array_equal(forces(even, theta), np.eye(3))

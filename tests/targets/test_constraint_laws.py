"""Laws of blocks that lie in sets, in closed form: by sums over a grid of their variables, and by chains."""

import math
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from plain_gradients import plain
from scipy.special import iv

import recipe_compiler as rc
from recipe_compiler.emit.support import constraints as support

BUILD = """
name: law
dynamics: {dynamics}
target: t.yaml
bind: {{M: I}}
scheme: {{cycle: [{{refresh: r}}, {{metropolis: {{split: [B/2, A, B/2], steps: "uniform(3, 12)", flip: {{r: -r}}}}}}]}}
variant: full
run: {{step_size: {eps}, draws: {draws}, warmup: 500, chains: 4, seed: 5}}
"""
DYNAMICS = Path(__file__).parents[2] / "specs" / "dynamics" / "hmc.yaml"


def written(folder: Path, state: str, potential: str, *, eps: float = 0.1, draws: int = 100) -> Path:
    (folder / "t.yaml").write_text(f"name: t\nstate: {{{state}}}\npotential: {potential}\n")
    (folder / "b.yaml").write_text(BUILD.format(dynamics=DYNAMICS, eps=eps, draws=draws))
    return folder / "b.yaml"


Grid = tuple[float, float]
"""How far it goes, and its step: trapezoidal sums of analytic functions are exact but for what is far out."""

LAWS: dict[str, tuple[str, str, int, Grid, Callable[[np.ndarray], dict[str, np.ndarray]], dict[str, float]]] = {
    "shares of Dirichlet(2, 3)": (
        "w: {shape: 2, constraint: simplex}", "-log(w[0]) - 2*log(w[1])", 2, (24.0, 0.4),
        lambda u: {"mean": support._simplex(u)[..., 0], "square": support._simplex(u)[..., 0] ** 2},
        {"mean": 0.4, "square": 0.2},
    ),
    "two ordered normals": (
        "x: {shape: 2, constraint: ordered}", "norm2(x)/2", 2, (16.0, 0.2),
        lambda u: {"least": support._ordered(u)[..., 0], "most": support._ordered(u)[..., 1]},
        {"least": -1 / math.sqrt(math.pi), "most": 1 / math.sqrt(math.pi)},
    ),
    "two ordered exponentials": (
        "x: {shape: 2, constraint: positive_ordered}", "sum(x)", 2, (24.0, 0.25),
        lambda u: {"least": support._positive_ordered(u)[..., 0], "most": support._positive_ordered(u)[..., 1]},
        {"least": 0.5, "most": 1.5},
    ),
    "a direction of von Mises": (
        "v: {shape: 2, constraint: unit_vector}", "-2*v[0]", 2, (7.0, 0.1),
        lambda u: {"cosine": support._unit_vector(u)[..., 0]},
        {"cosine": float(iv(1, 2.0) / iv(0, 2.0))},
    ),
    "the factor of LKJ(2)": (
        "L: {shape: [2, 2], constraint: cholesky_factor_corr}", "-2*log(L[1, 1])", 1, (20.0, 0.1),
        lambda u: {"square": support._cholesky_factor_corr(u, 2)[..., 1, 0] ** 2},
        {"square": 1 / 5},
    ),
    "correlations of LKJ(1)": (
        "R: {shape: [3, 3], constraint: corr_matrix}", "0*R[0, 1]", 3, (9.0, 0.6),
        lambda u: {
            "first": support._corr_matrix(u, 3)[..., 1, 0] ** 2,
            "last": support._corr_matrix(u, 3)[..., 2, 1] ** 2,
            "product": np.prod([support._corr_matrix(u, 3)[..., i, j] for i, j in ((1, 0), (2, 0), (2, 1))], axis=0),
        },
        {"first": 1 / 4, "last": 1 / 4, "product": 1 / 16},
    ),
    "a Wishart of 6 degrees": (
        "S: {shape: [2, 2], constraint: cov_matrix}",
        "(S[0, 0] + S[1, 1])/2 - 3/2*log(S[0, 0]*S[1, 1] - S[1, 0]**2)", 3, (6.0, 0.3),
        lambda u: {"first": support._cov_matrix(u, 2)[..., 0, 0], "last": support._cov_matrix(u, 2)[..., 1, 1]},
        {"first": 6.0, "last": 6.0},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_means_over_a_grid_are_those_of_the_law(law: str, tmp_path: Path) -> None:
    state, potential, width, (far, step), functions, expected = LAWS[law]
    module = plain(written(tmp_path, state, potential), width)
    axis = np.arange(-far, far + step / 2, step) + 0.01  # a direction has no variable at 0
    points = np.array(list(product(axis, repeat=width)))
    with np.errstate(all="ignore"):
        weights = np.exp(-np.array([module.U(u) for u in points]))
        weights = np.nan_to_num(weights / np.nansum(weights))
        found = {name: float(np.nansum(weights * values)) for name, values in functions(points).items()}
    assert found == pytest.approx(expected, rel=2e-3, abs=2e-3)


@pytest.mark.slow
def test_chains_have_the_laws_of_their_blocks(tmp_path: Path) -> None:
    """Dirichlet, order statistics of normals, and correlations of LKJ(2), by Hamiltonian moves: exact at any step.

    Means of 40,000 draws, at 5 standard errors of their effective number: a false alarm in 10**5.
    """
    state = (
        "w: {shape: 3, constraint: simplex}, x: {shape: 3, constraint: ordered}, "
        "L: {shape: [3, 3], constraint: cholesky_factor_corr}"
    )
    # LKJ(2): exponents K - k + 2 eta - 2 of the diagonal, k from 1
    potential = "-log(w[0]) - 2*log(w[1]) - 3*log(w[2]) + norm2(x)/2 - 3*log(L[1, 1]) - 2*log(L[2, 2])"
    tree = rc.compile(rc.load(written(tmp_path, state, potential, eps=0.25, draws=10_000))).sample(progress=False)
    import arviz_stats

    w, x, L = (tree["posterior"][name].to_numpy() for name in ("w", "x", "L"))
    R = L @ np.swapaxes(L, -1, -2)
    top = 1.5 / math.sqrt(math.pi)
    means = {
        "w0": (w[..., 0], 2 / 9), "w2": (w[..., 2], 4 / 9), "w0 w2": (w[..., 0] * w[..., 2], 8 / 90),
        "least": (x[..., 0], -top), "middle": (x[..., 1], 0.0), "most": (x[..., 2], top),
        "middle, squared": (x[..., 1] ** 2, 1 - math.sqrt(3) / math.pi),
        **{f"R{i}{j} squared": (R[..., i, j] ** 2, 1 / 6) for i, j in ((1, 0), (2, 0), (2, 1))},
        "R10": (R[..., 1, 0], 0.0), "R21": (R[..., 2, 1], 0.0),
    }  # fmt: skip
    for name, (values, mean) in means.items():
        ess = float(arviz_stats.base.array.array_stats.ess(values, chain_axis=0, draw_axis=1, method="mean"))
        z = (values.mean() - mean) / (values.std() / math.sqrt(ess))
        assert abs(z) < 5, (name, values.mean(), mean, ess)
        assert values.std() / math.sqrt(ess) < 0.02, (name, ess)

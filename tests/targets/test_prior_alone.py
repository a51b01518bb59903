"""A target of `log_prior` alone: checked as what its densities say, and sampled."""

from pathlib import Path

import pytest

import recipe_compiler as rc

STATE = "name: t\nstate: {b: {shape: 2}, s: {shape: 2, constraint: positive}}\n"
PRIOR = "multi_normal(b, [1, -1], [[2, 1], [1, 1]]) + gamma(s, [3, 4], 2)"
BUILD = """
name: of_prior
dynamics: hmc
target: t.yaml
bind: {M: I}
scheme: {cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 4, flip: {r: -r}}}]}
variant: full
run: {step_size: 0.4, draws: 4000, warmup: 100, chains: 2, seed: 1}
"""


def _written(folder: Path, text: str) -> Path:
    (folder / "t.yaml").write_text(STATE + text)
    return folder / "t.yaml"


@pytest.mark.slow
def test_its_draws_have_the_moments_of_the_prior(tmp_path: Path) -> None:
    """Means of 8,000 draws, at 5 standard errors of their effective number: a false alarm in 10**5."""
    import arviz_stats

    _written(tmp_path, f"log_prior: {PRIOR}\n")
    (tmp_path / "build.yaml").write_text(BUILD)
    tree = rc.compile(rc.load(tmp_path / "build.yaml")).sample(progress=False)
    b, s = (tree["posterior"][name].to_numpy() for name in ("b", "s"))
    product = (b[..., 0] - 1) * (b[..., 1] + 1)
    expected = ((b[..., 0], 1.0), (b[..., 1], -1.0), (product, 1.0), (s[..., 0], 1.5), (s[..., 1], 2.0))
    for values, mean in expected:
        ess = float(arviz_stats.base.array.array_stats.ess(values, chain_axis=0, draw_axis=1, method="mean"))
        error = values.std() / ess**0.5
        assert abs(values.mean() - mean) < 5 * error, (values.mean(), mean, ess)
        assert error < 0.1, ess

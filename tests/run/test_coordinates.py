"""Names of coordinates: what is said of one before and after a run has the name that the summary gives it."""

from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.run.data import load_data
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.run.store import sampled_names

BUILDS = Path(__file__).parents[2] / "specs" / "builds"

TARGET = """
format: 1
name: regression
state:
  beta_: {shape: p}
  W: {shape: [2, 2]}
  sigma: {domain: positive, transform: log}
data: {x: {shape: [N, p]}, y: {shape: N}}
log_prior: -norm2(beta_) - sum(W @ W.T) - sigma
log_likelihood: -(y - x @ beta_)**2/sigma**2 - log(sigma)
"""

BUILD = """
format: 1
name: regression
dynamics: DYNAMICS
target: target.yaml
bind: {M: I, C: I}
scheme: {name: euler}
variant: full
sizes: {p: 2, d: 7}
data: {file: data.csv, x: [age, "body mass"], y: y}
run: {step_size: 0.01}
"""


def names(path: Path) -> tuple[str, ...]:
    build = load_build(path)
    data = load_data(build.data, build.target)
    return sampled_names(build, data, resolve_sizes(build, data))


def test_they_are_those_of_the_target_and_its_columns(tmp_path: Path) -> None:
    rows = np.random.default_rng(1).standard_normal((5, 3))
    lines = [",".join(f"{value:.3f}" for value in row) for row in rows]
    tmp_path.joinpath("data.csv").write_text("\n".join(["age,body mass,y", *lines, ""]))
    tmp_path.joinpath("target.yaml").write_text(TARGET)
    dynamics = BUILDS.parent / "dynamics" / "sghmc.yaml"
    tmp_path.joinpath("build.yaml").write_text(BUILD.replace("DYNAMICS", str(dynamics)))
    assert names(tmp_path / "build.yaml") == (
        "beta_[age]", "beta_[body mass]", "W[0, 0]", "W[0, 1]", "W[1, 0]", "W[1, 1]", "log_sigma",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("build", "some"),
    [
        ("sghmc_logistic", {9: "theta[mean_fractal_dimension]"}),
        ("sghmc_eight_schools", {0: "mu", 1: "log_tau", 9: "eta[school_7]"}),
        ("sgld_gaussian", {2: "theta[2]"}),
    ],
)
def test_of_shipped_builds(build: str, some: dict[int, str]) -> None:
    found = names(BUILDS / f"{build}.yaml")
    assert {place: found[place] for place in some} == some

"""Names of coordinates: what is said of one before and after a run has the name that the summary gives it."""

import pytest
from answers import document, shipped

from recipe_compiler.run.data import load_data
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.run.store import sampled_names

TARGET = """
state:
  beta_: {shape: p}
  W: {shape: [2, 2]}
  sigma: {domain: positive, transform: log}
data: {x: {shape: [N, p]}, y: {shape: N}}
log_prior: -norm2(beta_) - sum(W @ W.T) - sigma
log_likelihood: -(y - x @ beta_)**2/sigma**2 - log(sigma)
"""
BUILD = """
dynamics: sghmc
target: target.yaml
bind: {M: I, C: I}
scheme: {name: euler}
variant: full
sizes: {p: 2, d: 7}
data: {file: data.csv, x: [age, "body mass"], y: y}
run: {step_size: 0.01}
"""
OWN = {0: "beta_[age]", 1: "beta_[body mass]", 2: "W[0, 0]", 3: "W[0, 1]", 4: "W[1, 0]", 5: "W[1, 1]", 6: "log_sigma"}


@pytest.mark.parametrize(
    ("build", "some"),
    [
        ("own", OWN),
        ("sghmc_logistic", {9: "theta[mean_fractal_dimension]"}),
        ("sghmc_eight_schools", {0: "mu", 1: "log_tau", 9: "eta[school_7]"}),
        ("sgld_gaussian", {2: "theta[2]"}),
    ],
)
def test_they_are_those_of_the_target_and_its_columns(build: str, some: dict[int, str]) -> None:
    beside = {"target": f"name: t{TARGET}", "data.csv": "age,body mass,y\n1,2,3\n4,5,7\n"}
    own = document(BUILD, **beside) if build == "own" else shipped(f"builds/{build}")
    data = load_data(own.data, own.target)
    found = sampled_names(own, data, resolve_sizes(own, data))
    assert {place: found[place] for place in some} == some
    assert build != "own" or len(found) == 7

"""A target's names beside the same names of the dynamics are no clash."""

from pathlib import Path

import pytest

from recipe_compiler.formula.show import text
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build

DYNAMICS = """
name: frictional
state: {theta: {shape: d}, r: {shape: d}}
parameters: {c: {is: positive}, mu: {is: positive, default: 2}, M: {shape: [d, d], is: positive definite}}
functions: {U: {of: theta, role: potential}}
units: {theta: length, mu: 1/time}
H: U(theta) + mu*r.T @ inv(M) @ r / 2
D: [[0, 0], [0, c*I]]
Q: [[0, -I], [I, 0]]
"""
TARGET = """
name: line
state: {mu: {}, b: {shape: d}}
data: {x: {shape: [N, d]}, y: {shape: N}}
parameters: {c: {is: positive, default: 3}}
log_prior: normal(mu, 0, c) + normal(b, 0, c)
log_likelihood: normal(y, mu + x @ b, 1)
"""
BUILD = """
name: apart
dynamics: dynamics.yaml
target: target.yaml
bind: {M: 2*I, c: 1/2}
parameters: {c: {value: 4}, mu: {value: 5}}
scheme: {name: euler}
variant: full
sizes: {d: 2}
data: {file: data.csv, x: [p, q], y: y}
run: {step_size: 0.01}
"""

SHIPPED = sorted((Path(__file__).parents[2] / "specs/builds").glob("*.yaml"))


def built(folder: Path, build: str = BUILD, target: str = TARGET) -> Build:
    for name, written in (("dynamics", DYNAMICS), ("target", target), ("build", build)):
        (folder / f"{name}.yaml").write_text(written)
    made = load(folder / "build.yaml")
    assert isinstance(made, Build)
    return made


def test_the_target_keeps_its_names_and_the_dynamics_get_others(tmp_path: Path) -> None:
    build = built(tmp_path)
    assert [block.name for block in build.target.declarations.blocks] == ["mu", "b"]
    assert [parameter.name for parameter in build.dynamics.declarations.parameters] == ["c_", "mu_", "M"]
    assert build.dynamics.declarations.sizes == ("d_",)
    assert dict(build.dynamics.units) == {"theta": "length", "mu_": "1/time"}


def test_keys_of_bind_and_values_mean_whom_they_can(tmp_path: Path) -> None:
    """`bind` the dynamics; `parameters` the target's c, and the mu of the dynamics, for the target's is a block."""
    build = built(tmp_path)
    assert [(name, text(formula)) for name, formula in build.bind] == [("M", "2*I"), ("c_", "1/2")]
    assert {name: value.numbers for name, value in build.values} == {"c": (((4),),), "mu_": (((5),),)}
    assert text(bind(build).H) == "U(theta) + 1/2*(mu_*r.T) @ r / 2"


def test_other_names_are_other_still(tmp_path: Path) -> None:
    """A name that the target has, too, is none to give."""
    build = built(
        tmp_path,
        target=TARGET.replace("x: {", "mu_: {").replace("x @ b", "mu_ @ b"),
        build=BUILD.replace("x: [", "mu_: ["),
    )
    assert [parameter.name for parameter in build.dynamics.declarations.parameters] == ["c_", "mu__", "M"]


def test_a_block_of_one_size_shares_it(tmp_path: Path) -> None:
    target = "name: t\nstate: {b: {shape: d}}\ndata: {y: {shape: N}}\nlog_likelihood: normal(y, 0, 1) - b.T @ b"
    build = built(tmp_path, BUILD.replace("x: [p, q], ", "").replace("c: {value: 4}, ", ""), target)
    assert build.dynamics.declarations.sizes == ("d",)


@pytest.mark.parametrize(
    "file", sorted((Path(__file__).parents[2] / "specs/builds").glob("*.yaml")), ids=lambda f: f.stem
)
def test_shipped_builds_are_as_they_were(file: Path) -> None:
    build = load(file)
    assert isinstance(build, Build)
    assert not [item.name for item in build.dynamics.declarations.parameters if item.name.endswith("_")]
    assert not [size for size in build.dynamics.declarations.sizes if size.endswith("_")]

"""A target's names beside the same names of the dynamics are no clash."""

import pytest
from answers import document

from recipe_compiler.formula.show import text
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.moves import cycle_text
from recipe_compiler.spec.to_yaml import restated

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


def built(build: str = BUILD, target: str = TARGET, dynamics: str = DYNAMICS) -> Build:
    return document(build, target=target, dynamics=dynamics, **{"data.csv": "p,q,y\n1,2,3\n"})


def test_the_target_keeps_its_names_and_the_dynamics_get_others() -> None:
    build = built()
    assert [block.name for block in build.target.declarations.blocks] == ["mu", "b"]
    assert [parameter.name for parameter in build.dynamics.declarations.parameters] == ["c_", "mu_", "M"]
    assert build.dynamics.declarations.sizes == ("d_",)
    assert {name: str(unit) for name, unit in build.dynamics.units} == {"theta": "length", "mu_": "1/time"}


def test_a_block_that_is_sampled_by_another_name_keeps_its_own() -> None:
    """`d` is sampled as log_d: the size `d` of the dynamics is another all the same."""
    target = TARGET.replace("mu: {}, b", "d: {shape: [J, 2], constraint: positive}, mu: {}, b").replace("d}}", "K}}")
    target = target.replace("[N, d]", "[N, K]").replace("log_prior: ", "log_prior: exponential(d, 1) + ")
    build = built(BUILD.replace("{d: 2}", "{J: 3}"), target)
    assert "d_" in build.dynamics.declarations.sizes
    assert build.dynamics.declarations.blocks[0].shape.rows == "d_"


def test_keys_of_bind_and_values_mean_whom_they_can() -> None:
    """`bind` the dynamics; `parameters` the target's c, and the mu of the dynamics, for the target's is a block."""
    build = built()
    assert [(name, text(formula)) for name, formula in build.bind] == [("M", "2*I"), ("c_", "1/2")]
    assert {name: value.numbers for name, value in build.values} == {"c": (((4),),), "mu_": (((5),),)}
    assert text(bind(build).H) == "U(theta) + 1/2*(mu_*r.T) @ r / 2"


def test_other_names_are_other_still() -> None:
    """A name that the target has, too, is none to give."""
    build = built(
        target=TARGET.replace("x: {", "mu_: {").replace("x @ b", "mu_ @ b"),
        build=BUILD.replace("x: [", "mu_: ["),
    )
    assert [parameter.name for parameter in build.dynamics.declarations.parameters] == ["c_", "mu__", "M"]


def test_a_block_of_one_size_shares_it() -> None:
    target = "name: t\nstate: {b: {shape: d}}\ndata: {y: {shape: N}}\nlog_likelihood: normal(y, 0, 1) - b.T @ b"
    build = built(BUILD.replace("x: [p, q], ", "").replace("c: {value: 4}, ", ""), target)
    assert build.dynamics.declarations.sizes == ("d",)


OWN_NAMES = """
name: other
state: {r: {shape: 2}, b: {shape: 2}}
parameters: {U: {default: 3}}
data: {theta: {shape: N}, G: {shape: [N, 2]}}
log_prior: normal(r, 0, U) + normal(b, 0, 1)
log_likelihood: normal(theta, G @ (b + r), 1)
"""
WITH_FUNCTION = """
name: metric
state: {theta: {shape: d}, r: {shape: d}}
functions:
  U: {of: theta, role: potential}
  G: {of: theta, shape: [d, d], is: positive definite}
H: U(theta) + r.T @ r / 2
D: [[0, 0], [0, G(theta)]]
Q: [[0, -I], [I, 0]]
claims: {drift: {theta: r, r: "-grad(U, theta) - G(theta) @ r"}, marginal: {theta: U(theta)}}
"""
OTHER = """
name: apart
dynamics: dynamics.yaml
target: target.yaml
bind: {G: (1 + theta.T @ theta)*I}
variant: full
data: {file: data.csv, theta: p, G: [p, q]}
init: {theta: 0}
run: {step_size: 0.01}
"""
SCHEMES = {
    "{name: sequential_euler, order: [r, theta], scale: {r: 1/2, theta: 1/2}}": "r_, theta_",
    "{cycle: [refresh: {r: 9/10}, metropolis: {split: [B/2, A, B/2], flip: {r: -r}}]}": (
        "refresh: {r_: 9/10}, metropolis: {split: [B/2, A, B/2], steps: 1, flip: {r_: -r_}}"
    ),
    "{cycle: [involution: {theta: theta + r, r: -r}, draw: b]}": "involution: {theta_: theta_ + r_, r_: -r_}, draw: b",
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_blocks_and_functions_of_the_dynamics_are_renamed_wherever_they_are_named(scheme: str) -> None:
    laws = "laws: {b: N(0, I)}\n" if "draw" in scheme else ""
    likelihood = OWN_NAMES.replace(" @ (b + r)", " @ r") if laws else OWN_NAMES
    made = built(f"{OTHER}scheme: {scheme}", likelihood + laws, WITH_FUNCTION)
    assert [block.name for block in made.dynamics.declarations.blocks] == ["theta_", "r_"]
    assert [f.name for f in made.dynamics.declarations.functions] == ["U_", "G_"]
    assert text(made.dynamics.H) == "U_(theta_) + r_.T @ r_ / 2"
    assert [(name, text(formula)) for name, formula in made.bind] == [("G_", "(1 + theta_.T @ theta_)*I")]
    assert [name for name, _ in made.init] == ["theta_"]
    assert [(name, text(f)) for name, f in made.dynamics.claims.drift or ()] == [
        ("theta_", "r_"), ("r_", "-grad(U_, theta_) - G_(theta_) @ r_"),
    ]  # fmt: skip
    assert (cycle_text(made.scheme).strip("[]") if made.scheme.cycle else ", ".join(made.scheme.order)) == SCHEMES[
        scheme
    ]


def test_a_build_is_read_again_with_the_names_of_its_documents() -> None:
    made = built()
    again = restated(made, {"run": {"step_size": "0.02"}})
    assert again.bind == made.bind
    assert again.dynamics == made.dynamics
    assert again.stated_dynamics == made.stated_dynamics != made.dynamics

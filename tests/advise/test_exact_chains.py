"""HMC of what another build samples: the moves that find a bulk which no mode leads to (`test_planned_targets.py`)."""

import pytest
from answers import document

from recipe_compiler.advise.exact_chains import hmc_of
from recipe_compiler.advise.roles import ParameterRole, open_parameters
from recipe_compiler.errors import RunError

TARGET = """
state: {longest: {shape: J}, mu: {}, log_tau: {}}
parameters: {s: {is: positive}, t: {is: positive, default: 2}}
log_prior: normal(longest, mu, exp(log_tau)) + normal(mu, 0, t) + normal(log_tau, 0, s)
"""
OWN = "parameters: {c: {is: positive, value: 3}, s: {value: 1/5}, t: {value: 4}}\nbind: {C: c*I}"
BUILD = f"""
name: planned
dynamics: sghmc
target: own.yaml
{OWN}
scheme: {{name: baoab}}
variant: full
sizes: {{J: 8}}
run: {{step_size: auto, share: 0.01}}
"""


def test_hmc_has_the_target_its_values_and_sizes_and_nothing_else_of_a_build() -> None:
    build = document(BUILD, own=TARGET)
    made, values = hmc_of(build), dict(build.values)
    assert (made.dynamics.name, made.target, made.sizes, made.bind) == ("hmc", build.target, build.sizes, ())
    assert dict(made.values) == {name: values[name] for name in ("s", "t")}
    roles = {one.name: one.role for one in open_parameters(made)}
    assert roles == {"M": ParameterRole.MASS, "longest_": ParameterRole.LENGTH}


def test_a_state_that_hmc_does_not_move_is_refused() -> None:
    changes = ((OWN, ""), ("sghmc", "sgrld_positive"), ("baoab", "euler"), ("sizes: {J: 8}", ""))
    text = BUILD
    for old, new in changes:
        text = text.replace(old, new)
    build = document(text, own="state: {g: {shape: 2, domain: positive}}\npotential: sum(g) - sum(log(g))\n")
    with pytest.raises(RunError, match="HMC does not sample it: found "):
        hmc_of(build)

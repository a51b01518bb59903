"""What is not shown of a target comes with the declarations that would show it, and with what its data would."""

from pathlib import Path

import pytest
from loaders import load_target

from recipe_compiler.verdict import Proved, Undecided
from recipe_compiler.verify.builds.normalisable import normalisable_alone
from recipe_compiler.verify.builds.target import defined

COUNTS = """
name: counts
state: {b: {shape: 2}, phi: {constraint: positive}}
data: {y: {shape: N}, n: {shape: N}, x: {shape: [N, 2]}}
let: {s: sigmoid(x @ b)*phi}
log_prior: normal(b, 0, 2) + gamma(phi, 2, 1)
log_likelihood: loggamma(y + s) + loggamma(n - y + phi) - loggamma(n + phi)
"""
DECLARED = COUNTS.replace("{shape: N}", "{shape: N, is: nonnegative}").replace("\nlet", '\nassume: ["y <= n"]\nlet')
PROCESS = """
name: process
state: {alpha: {constraint: positive}, rho: {constraint: positive}, sigma: {constraint: positive}}
parameters: {x: {shape: 3}}
data: {y: {shape: [N, 3]}}
log_prior: half_normal(alpha, 2) + lognormal(rho, 0, 1) + half_normal(sigma, 1)
log_likelihood: multi_normal(y, 0, gp_exp_quad_cov(x, alpha, rho) + sigma**2*I)
"""


def _written(folder: Path, text: str) -> Path:
    (folder / "t.yaml").write_text(text)
    return folder / "t.yaml"


def test_signs_and_an_order_of_data_are_named_and_show_it(tmp_path: Path) -> None:
    found = defined(load_target(_written(tmp_path, COUNTS))).decision
    assert isinstance(found, Undecided)
    assert found.tried[3:] == (
        "`y: {is: nonnegative}`, `n: {is: nonnegative}` would show y + sigmoid(x @ b)*exp(log_phi) > 0; "
        "n + exp(log_phi) > 0",
        '`assume: ["y <= n"]` would show n - y + exp(log_phi) > 0',
    )
    assert isinstance(defined(load_target(_written(tmp_path, DECLARED))).decision, Proved)


def test_a_sign_of_a_parameter_is_named(tmp_path: Path) -> None:
    text = "name: t\nstate: {b: {shape: 2}}\nparameters: {a: {}, c: {shape: 2}}\npotential: norm2(b)/a + sum(c*b)\n"
    found = defined(load_target(_written(tmp_path, text))).decision
    assert isinstance(found, Undecided)
    assert found.tried == ("not shown: a is not zero", "`a: {is: positive}` would show a is not zero")


@pytest.mark.slow
def test_a_process_beside_a_proper_prior_is_left_to_its_data(tmp_path: Path) -> None:
    found = normalisable_alone(load_target(_written(tmp_path, PROCESS))).decision
    assert isinstance(found, Undecided)
    assert found.tried == (
        "the prior is proper, and log_likelihood is not shown to be bounded above, whatever the data are",
        "the data of a build would decide it: points that all differ, y not at its mean",
    )

"""Vectors and matrices of numbers as arguments of densities and functions: signs and integrals of them are decided."""

from pathlib import Path

import pytest
from loaders import load_target

from recipe_compiler.errors import DocumentError
from recipe_compiler.verdict import Proved, Undecided
from recipe_compiler.verify.builds.normalisable import normalisable_alone
from recipe_compiler.verify.builds.target import defined

REAL, POSITIVE = "{shape: 2}", "{shape: 2, constraint: positive}"
PRIORS = (
    (REAL, "normal(b, [0, -1], [4, 2])"),
    (REAL, "student_t(b, [3, 4], [0, -1], [4, 2])"),
    (REAL, "normal(b, 0, [5, 6] - [1, 5])"),
    (REAL, "normal(b, 0, [5, 6]*[1, 5])"),
    (REAL, "normal(b, 0, diag([2, 3]) @ [2, 1])"),
    (REAL, "multi_normal(b, [0, -1], [[2, 1], [1, 2]])"),
    (REAL, "multi_normal_cholesky(b, [0, -1], [[2, 0], [1, 2]])"),
    (REAL, "multi_normal(b, 0, gp_exp_quad_cov([0, 1], 1, 2) + I/100)"),
    (POSITIVE, "gamma(b, [4, 2], [1, 1/2])"),
    (POSITIVE, "inverse_gamma(b, [4, 2], [1, 1/2])"),
    (POSITIVE, "weibull(b, [1/2, 2], [1, 1/2])"),
    ("{shape: 2, constraint: 'interval(0, 1)'}", "beta(b, [1/2, 2], [1, 1/2])"),
    ("{shape: 2, domain: 'interval(4, 5)'}", "uniform(b, [0, 4], [6, 5])"),
    ("{shape: 2, constraint: simplex}", "dirichlet(b, [4, 2])"),
    ("{shape: 3, constraint: simplex}", "dirichlet(b, [1/2, 3, 1])"),
)


def _stated(tmp_path: Path, block: str, prior: str) -> Path:
    path = tmp_path / "t.yaml"
    text = f"log_prior: {prior}\nlog_likelihood: cos(z*b[0])\n"
    path.write_text(f"name: t\nstate: {{b: {block}}}\ndata: {{z: {{shape: N}}}}\n{text}")
    return path


@pytest.mark.parametrize(("block", "prior"), PRIORS)
def test_a_prior_of_literal_arguments_is_proper(tmp_path: Path, block: str, prior: str) -> None:
    target = load_target(_stated(tmp_path, block, prior))
    assert isinstance(defined(target).decision, Proved)
    assert isinstance(normalisable_alone(target).decision, Proved)


@pytest.mark.parametrize(
    ("block", "prior"),
    [
        (REAL, "normal(b, 0, [5, 6] - [1, 7])"),
        (REAL, "multi_normal(b, 0, [[1, 2], [2, 1]])"),
        (REAL, "multi_normal(b, 0, [[2, 1], [0, 2]])"),
        ("{shape: 2, constraint: simplex}", "dirichlet(b, [4, -2])"),
    ],
)
def test_one_bad_entry_of_a_literal_is_not_proved(tmp_path: Path, block: str, prior: str) -> None:
    try:
        target = load_target(_stated(tmp_path, block, prior))
    except DocumentError:
        return
    assert isinstance(defined(target).decision, Undecided)
    assert not isinstance(normalisable_alone(target).decision, Proved)

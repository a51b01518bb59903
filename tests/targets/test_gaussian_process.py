"""`gaussian_process`: the normal law of a path at points, with noise, in formulas, proofs and in Python."""

from pathlib import Path

import numpy as np
import pytest
from loaders import load_target
from scipy import stats

import recipe_compiler as rc
from recipe_compiler.run.evaluate import Point, evaluate

STATE = "name: t\nstate: {f: {shape: 3}, alpha: {constraint: positive}, rho: {constraint: positive}}\n"
DATA = "parameters: {x: {shape: 3}}\ndata: {y: {shape: N}, i: {shape: N, index_of: 3}}\n"
PRIOR = "log_prior: half_normal(alpha, 1) + lognormal(rho, 0, 1) + {}\nlog_likelihood: poisson_log(y, f[i])\n"
CALL = "gaussian_process(f, x, alpha, rho, 1/10)"
WRITTEN_OUT = "multi_normal(f, 0, gp_exp_quad_cov(x, alpha, rho) + (1/10)**2*I)"


def _target(folder: Path, law: str, state: str = STATE) -> rc.Target:
    (folder / "t.yaml").write_text(state + DATA + PRIOR.format(law))
    return load_target(folder / "t.yaml")


def test_it_is_the_normal_law_written_out(tmp_path: Path) -> None:
    target = _target(tmp_path, CALL)
    assert target.log_prior == _target(tmp_path, WRITTEN_OUT).log_prior
    assert [one.name for one in target.stated.densities] == ["half_normal", "lognormal", "multi_normal", "poisson_log"]


def test_its_value_is_that_of_scipy(tmp_path: Path) -> None:
    declared = _target(tmp_path, CALL)
    law = (declared.declared or declared).log_prior
    assert law is not None
    f, x, alpha, rho = np.array([0.4, -0.2, 1.1]), np.array([0.0, 0.5, 2.0]), 0.8, 1.3
    names = {"f": f.reshape(3, 1), "x": x.reshape(3, 1), "alpha": np.asarray(alpha), "rho": np.asarray(rho)}
    K = alpha**2 * np.exp(-((x[:, None] - x) ** 2) / (2 * rho**2)) + np.eye(3) / 100
    wanted = stats.multivariate_normal.logpdf(f, np.zeros(3), K)
    wanted += stats.halfnorm.logpdf(alpha) + stats.lognorm.logpdf(rho, 1)
    assert float(evaluate(law, Point(names, {}))) == pytest.approx(wanted, rel=1e-12)


def test_python_says_the_same(tmp_path: Path) -> None:
    f, x = rc.vector("f", 3), rc.vector("x", 3)
    made = rc.Target(name="t", state=[f], parameters=[x], log_prior=rc.gaussian_process(f, x, 2, 1, 1))
    text = "name: t\nstate: {f: {shape: 3}}\nparameters: {x: {shape: 3}}\nlog_prior: gaussian_process(f, x, 2, 1, 1)\n"
    (tmp_path / "t.yaml").write_text(text)
    assert made.document.log_prior == load_target(tmp_path / "t.yaml").log_prior

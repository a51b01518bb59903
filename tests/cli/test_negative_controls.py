"""Refuted builds that are run on purpose: what is run, how it is marked, and what has nothing to run."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray
from command import ROOT, recipe
from scipy.integrate import quad
from scipy.linalg import solve_continuous_lyapunov

import recipe_compiler as rc
from recipe_compiler.emit.module import REFUTED
from recipe_compiler.errors import CompilerError
from recipe_compiler.readback.file_text import check_mark

NAIVE = ROOT / "tests/mutants/sgrhmc_naive.yaml"
STATE = "state: {theta: {shape: 2}, r: {shape: 2}}"
ENERGY = "H: U(theta) + r.T @ inv(M) @ r / 2"
M, C, K = (np.array(own) for own in ([[2, 0.5], [0.5, 1]], [[1, 0.25], [0.25, 3]], [[1.5, 0.5], [0.5, 1]]))
FRICTION = f"""name: friction
{STATE}
parameters:
  M: {{shape: [2, 2], is: positive definite}}
  C: {{shape: [2, 2], is: positive definite}}
functions:
  U: {{of: theta, role: potential}}
{ENERGY}
D: [[0, 0], [0, C]]
claims: {{drift: {{theta: inv(M) @ r, r: "-grad(U, theta) - C @ r"}}}}
"""
RUN = "run: {step_size: 0.01, thin: 100, draws: 500, warmup: 50, chains: 8, seed: 1}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a target and two builds: naive SGRHMC, and friction C r for C inv(M) r, without a Q."""
    metric = "sqrt(3/2*sqrt(theta.T @ theta/2 + 1/2))*I"
    euler = "scheme: {name: sequential_euler, order: [r, theta]}\nvariant: full"
    values = f"{{M: {{value: {M.tolist()}}}, C: {{value: {C.tolist()}}}}}"
    written = {
        "plane": "name: plane\nstate: {theta: {shape: 2}}\npotential: theta.T @ theta/2",
        "oval": "name: oval\nstate: {theta: {shape: 2}}\nparameters: {P: {shape: [2, 2], is: pd}}\n"
        "potential: theta.T @ P @ theta/2",
        "friction": FRICTION,
        "naive": f"name: naive\ndynamics: {NAIVE}\ntarget: plane.yaml\nbind: {{K: {metric}}}\n{euler}\n"
        f"sizes: {{d: 2}}\n{RUN}",
        "wrong": f"name: wrong\ndynamics: friction.yaml\ntarget: plane.yaml\nparameters: {values}\n{euler}\n{RUN}",
    }
    for name, text in written.items():
        (tmp_path / f"{name}.yaml").write_text(text.replace("is: pd", "is: positive definite"), encoding="utf-8")
    return tmp_path


def theta(folder: Path, name: str) -> np.ndarray:
    tree = xarray.load_datatree(folder / f"runs/{name}.nc", engine="h5netcdf")
    return tree["posterior"]["theta"].to_numpy()


def test_naive_riemannian_hmc_samples_the_law_that_is_found(folder: Path) -> None:
    code, out, err = recipe("run", "naive.yaml", "--allow-refuted", folder=folder)
    assert code == 1
    waited = re.compile(r"(reading the documents and data|checking) \(\d+ s\)")  # before there is a verdict
    lines = [line for line in (out + err).splitlines() if not waited.fullmatch(line)]
    assert all(line.startswith("refuted: ") for line in lines)
    assert "H = U(theta) + r.T @ r / 2 + log(theta.T @ theta / 2 + 1/2) / 4" in out
    assert "trust: no" in out

    def mass(power: int) -> float:
        return quad(lambda x: x**power * np.exp(-(x**2) / 2) * (x**2 / 2 + 0.5) ** -0.25, 0, 40)[0]

    squares = (theta(folder, "naive") ** 2).mean(axis=(1, 2))
    law, error = mass(3) / mass(1) / 2, squares.std(ddof=1) / np.sqrt(len(squares))
    assert abs(squares.mean() - law) < 4 * error < 0.1
    assert abs(squares.mean() - 1) > 6 * error
    attributes = xarray.load_datatree(folder / "runs/naive.nc", engine="h5netcdf").attrs
    assert "the claimed drift equals the derived drift: fails at" in attributes["refuted"]
    assert "the claimed equation" in attributes["refuted_runs"]
    assert "log(theta.T @ theta / 2 + 1/2) / 4" in attributes["samples_instead"]


def test_a_claimed_drift_runs_without_any_Q(folder: Path) -> None:
    """dz = F z dt + N, F = (0, inv(M); -I, -C): its covariance S solves F S + S F' = -2D, with no inv(M) beside C."""
    code, out, _ = recipe("run", "wrong.yaml", "--allow-refuted", "--draws", "2000", folder=folder)
    assert (code, "samples instead: no energy was found" in out) == (1, True)
    F = np.block([[np.zeros((2, 2)), np.linalg.inv(M)], [-np.eye(2), -C]])
    noise = np.block([[np.zeros((2, 4))], [np.zeros((2, 2)), 2 * C]])
    expected = solve_continuous_lyapunov(F, -noise)[:2, :2]
    draws = theta(folder, "wrong")
    by_chain = np.array([np.cov(own.T) for own in draws])
    error = by_chain.std(axis=0, ddof=1) / np.sqrt(len(by_chain))
    assert np.all(np.abs(by_chain.mean(axis=0) - expected) < 4 * error + 0.02)
    assert abs(expected[0, 0] - 1) > 0.2


def test_a_marked_run_is_repeated_and_compared_as_one(folder: Path) -> None:
    few = ("--draws", "20", "--chains", "2")
    found = json.loads(recipe("run", "naive.yaml", "--allow-refuted", "--json", *few, folder=folder).out)
    assert found["refuted"]["claims"][0].startswith("the claimed drift equals the derived drift")
    assert found["trust"].startswith("trust: no")
    assert recipe("rerun", "runs/naive.nc", folder=folder).code == 1
    again = recipe("rerun", "runs/naive.nc", "--allow-refuted", folder=folder)
    assert (again.code, "refuted: the draws of runs/naive.nc again, bit for bit" in again.out) == (1, True)
    out = recipe("compare", "runs/naive.nc", "runs/again/naive.nc", folder=folder).out
    assert out.count("trust: no, a negative control, run by the claimed equation") == 2


def test_the_emitted_file_says_that_it_is_refuted(folder: Path) -> None:
    made = recipe("compile", "naive.yaml", "--allow-refuted", folder=folder)
    assert (made.code, all(line.startswith("refuted: ") for line in made.out.splitlines())) == (1, True)
    model = rc.compile(str(folder / "naive.yaml"), allow_refuted=True)
    text = (folder / "generated/naive.py").read_text(encoding="utf-8")
    assert text.startswith('"""REFUTED: naive: ')
    assert "Proved" not in text
    module = model.load()
    with pytest.warns(UserWarning, match="a negative control, refuted: the claimed drift equals the derived drift; "):
        assert module.sample(draws=2, warmup=0, chains=1)["theta"].shape == (1, 2, 2)
    check_mark(text, module.REFUTED)
    for spoilt in (
        text.replace(f"{REFUTED} = (", f"{REFUTED} = ('nothing', "),
        text.replace(": fails at", ": holds at"),
    ):
        with pytest.raises(CompilerError, match="refuted"):
            check_mark(spoilt, module.REFUTED)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        fit = model.sample(draws=20, warmup=0, chains=2, progress=False)
    assert fit.attrs["refuted"].splitlines() == [*module.REFUTED]
    assert any("negative control" in str(one.message) for one in seen)


def test_what_is_not_refuted_is_not_marked(folder: Path) -> None:
    few = ("--draws", "200", "--chains", "2", "--warmup", "5", "--thin", "5")
    code, out, _ = recipe("run", "sgld_gaussian", *few, "--allow-refuted", "-o", folder)
    assert (code in (0, 4), "refuted: " in out) == (True, False)
    assert REFUTED not in rc.compile("sgld_gaussian", allow_refuted=True).text


NOTHING = {
    "sqrt(2D) does not exist, as D is not positive semidefinite": ("D: [[0, 0], [0, C]]", "D: [[0, 0], [0, -C]]"),
    "sqrt(2D) does not exist, as D is not symmetric": ("D: [[0, 0], [0, C]]", "D: [[0, 0], [0, C @ M]]"),
}


@pytest.mark.parametrize("why", NOTHING)
def test_what_has_nothing_to_run_says_why(folder: Path, why: str) -> None:
    text = (folder / "friction.yaml").read_text(encoding="utf-8")
    (folder / "friction.yaml").write_text(text.replace(*NOTHING[why]), encoding="utf-8")
    code, _, err = recipe("run", "wrong.yaml", "--allow-refuted", folder=folder)
    assert (code, why in err) == (1, True)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [("step_size: 0.01", "step_size: auto", "plans for a right sampler"),
     ("{name: sequential_euler, order: [r, theta]}", "{name: baoab}", "`scheme: {name: euler}` or sequential_euler")],
)  # fmt: skip
def test_schemes_that_a_wrong_drift_has_not_are_refused(folder: Path, old: str, new: str, why: str) -> None:
    text = (folder / "naive.yaml").read_text(encoding="utf-8").replace(old, new)
    (folder / "naive.yaml").write_text(text.replace("sqrt(3/2*sqrt(theta.T @ theta/2 + 1/2))*I", "I + theta @ theta.T"))
    code, _, err = recipe("run", "naive.yaml", "--allow-refuted", folder=folder)
    assert (code, why in err) == (1, True), err


def test_without_the_flag_the_refusal_names_it(folder: Path) -> None:
    code, out, err = recipe("run", "naive.yaml", folder=folder)
    assert (code, "--allow-refuted" in err, "refuted: " in out.splitlines()[0][:9]) == (1, True, False)
    with pytest.raises(rc.VerificationError, match="allow_refuted=True"):
        rc.compile(str(folder / "naive.yaml"))


METRICS = {
    "k(theta)*I": "log(k(theta))",
    "diag(sqrt(ones + theta**2))": "logdet(diag(sqrt(ones + theta**2)) @ diag(sqrt(ones + theta**2))) / 2",
    "[[1 + theta.T @ theta, 0], [0, 1]]": "",
}


@pytest.mark.parametrize("metric", METRICS)
def test_a_law_is_found_of_metrics_that_have_one(folder: Path, metric: str) -> None:
    """exp(-H) phi is stationary where K grad log phi = -div K: phi = 1/k for K = k I, 1/det K where K_ii is of theta_i,
    and none for the last one, as inv(K) div K is no gradient.
    """
    d = "d" if METRICS[metric] else "2"
    text = f"""name: metric
state: {{theta: {{shape: {d}}}, r: {{shape: {d}}}}}
functions:
  U: {{of: theta, role: potential}}
  k: {{of: theta, is: positive}}
H: U(theta) + r.T @ r / 2
D: [[0, 0], [0, "({metric}) @ ({metric})"]]
Q: [[0, "-({metric})"], ["{metric}", 0]]
claims: {{drift: {{theta: "({metric}) @ r", r: "-({metric}) @ grad(U, theta) - ({metric}) @ ({metric}) @ r"}}}}
"""
    (folder / "metric.yaml").write_text(text, encoding="utf-8")
    report = rc.load(str(folder / "metric.yaml")).check()
    found = [line for one in report.explanations for line in one.lines if line.startswith("samples instead")]
    assert [METRICS[metric] in line for line in found] == ([True] if METRICS[metric] else [])

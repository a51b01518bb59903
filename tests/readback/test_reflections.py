"""Positions that are reflected: the law of a step is exact, and what is not reflected says so."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build
from reports import only
from shipped_text import shipped_text

from recipe_compiler.errors import ModelError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.report.check import check
from recipe_compiler.verdict import Undecided

ROOT = Path(__file__).parents[2]
REFLECTED = ROOT / "specs/builds/hmc_reflected_categories.yaml"


def off(folder: Path, old: str = "", new: str = "") -> float:
    """Return by how many standard errors moments are off, of a law with half of its mass near faces; with a fault."""
    values = {"alpha": [1.0, 1.5, 1.25], "n": [0.0, 0.0, 0.0]}
    text = shipped_text(REFLECTED.stem)
    assert old in text
    (folder / f"{folder.name}.py").write_text(text.replace(old, new), encoding="utf-8")
    spec = spec_from_file_location(folder.name, folder / f"{folder.name}.py")
    assert spec is not None
    assert spec.loader is not None
    emitted = module_from_spec(spec)
    spec.loader.exec_module(emitted)
    found = emitted.sample(
        **{name: np.array(value) for name, value in values.items()},
        step_size=0.4, chains=64, draws=2000, warmup=200, thin=4, seed=5, init={"theta": np.array([1.0, 1.5, 1.25])},
    )["theta"]  # fmt: skip
    a, total = np.array(values["alpha"]), sum(values["alpha"])
    omega = found / found.sum(axis=2, keepdims=True)
    pairs = [
        (omega, a / total), (omega**2, a * (a + 1) / (total * (total + 1))),
        (omega[..., :1] * omega[..., 1:], a[0] * a[1:] / (total * (total + 1))),
        (found.sum(axis=2, keepdims=True) ** np.array([1, 2]), np.array([total, total * (total + 1)])),
    ]  # fmt: skip
    means = [(values.mean(axis=1), expected) for values, expected in pairs]
    return max(
        float(np.max(np.abs(own.mean(axis=0) - expected) / (own.std(axis=0, ddof=1) / 8.0))) for own, expected in means
    )


@pytest.mark.slow
def test_shares_are_dirichlet_and_their_sum_is_gamma(tmp_path: Path) -> None:
    """Nothing is allowed for a bias. Ten moments by 64 chains: 5 standard errors are a chance of 5e-5."""
    assert off(tmp_path) < 5.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("r_v2_0 = -r_0 if theta_v1_0 < 0.0 else r_0", "r_v2_0 = -r_0"),
        ("theta_new_0 = -theta_v1_0 if", "theta_new_0 = 1.0 - theta_v1_0 if"),
    ],
)
def test_a_fault_is_seen_in_the_law(tmp_path: Path, old: str, new: str) -> None:
    assert off(tmp_path, old, new) > 7.0


@pytest.mark.parametrize(
    ("flow", "problem"),
    [
        ("{B: reflected}", "r has the domain real, and what is reflected is positive, at 0"),
        ("{A: reflected, B: reflected}", "r has the domain real, and what is reflected is positive, at 0"),
    ],
)
def test_what_is_not_reflected_says_so(tmp_path: Path, flow: str, problem: str) -> None:
    text = REFLECTED.read_text(encoding="utf-8").replace("../", f"{ROOT}/specs/")
    (tmp_path / "build.yaml").write_text(text.replace("{A: reflected}", flow), encoding="utf-8")
    with pytest.raises(ModelError, match=problem):
        compile_build(load_build(tmp_path / "build.yaml"), allow_undecided=True)


def test_between_two_walls_it_is_said_how_to_sample(tmp_path: Path) -> None:
    dynamics = (ROOT / "specs/dynamics/hmc_reflected.yaml").read_text(encoding="utf-8")
    (tmp_path / "walls.yaml").write_text(dynamics.replace("domain: positive", 'domain: "interval(0, 1)"'))
    (tmp_path / "own.yaml").write_text(
        'format: 1\nname: own\nstate: {theta: {shape: d, domain: "interval(0, 1)"}}\npotential: sum(2*theta)\n'
    )
    (tmp_path / "build.yaml").write_text(
        "format: 1\nname: between\ndynamics: walls.yaml\ntarget: own.yaml\nparameters: {m: {value: [1, 2]}}\n"
        "scheme: {cycle: [refresh: r, {metropolis: {split: [B/2, A, B/2], flows: {A: reflected}, flip: {r: -r}}}]}\n"
        "variant: full\nsizes: {d: 2}\nrun: {step_size: 0.3}\n"
    )
    with only("metropolis"):
        found = check(load_build(tmp_path / "build.yaml"))
    (decision,) = (finding.decision for finding in found.findings if finding.id == "metropolis")
    assert isinstance(decision, Undecided)
    says = (
        "theta has the domain interval, and what is reflected is positive, at 0; between two walls sample an unbounded"
    )
    assert says in " ".join(decision.tried)


def test_the_velocity_of_an_entry_is_of_its_momentum_alone() -> None:
    with only("metropolis"):
        found = check(load_build(ROOT / "tests/mutants/moves/reflection_with_masses_that_are_correlated.yaml"))
    (decision,) = (finding.decision for finding in found.findings if finding.id == "metropolis")
    assert isinstance(decision, Undecided)

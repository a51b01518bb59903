"""What is stated in Python is the document that YAML states: the same digest, the same formulas, and back again."""

from pathlib import Path

import pytest
from in_python import stated
from some import some

import recipe_compiler as rc

ROOT = Path(__file__).parents[2]
SPELLED = (
    "funnel", "gibbs_mixture", "gibbs_regression", "gibbs_weights", "hmc_in_turn", "hmc_within_gibbs", "sgnht_gaussian",
    "sgnht_gaussian_badodab", "sgnht_logistic", "sgnht_standard_normal", "inverse_gaussian_baoab",
    "sghmc_varying_intercepts", "sgld_poisson_regression",
)  # fmt: skip
"""Builds of which Python writes a formula or a number with other spaces or digits."""


def written(folder: Path, build: rc.Build) -> Path:
    """Write a build beside its dynamics and its target, each as YAML."""
    for name, document in (("dynamics", build.dynamics), ("targets", build.target), ("builds", build)):
        (folder / name).mkdir()
        (folder / name / f"{document.name}.yaml").write_text(document.to_yaml())
    return folder / "builds" / f"{build.name}.yaml"


@pytest.mark.parametrize("name", some(sorted(path.stem for path in (ROOT / "specs/builds").glob("*.yaml")), 8))
def test_a_build_stated_in_python_is_that_of_its_yaml_and_writes_it(name: str, tmp_path: Path) -> None:
    path = ROOT / f"specs/builds/{name}.yaml"
    ours, theirs = stated(path), rc.load(path)
    assert ours.digest == rc.load(written(tmp_path, ours)).digest
    assert (ours.digest == theirs.digest) is (not name.endswith(SPELLED))
    assert ours.dynamics.document == theirs.dynamics.document
    assert ours.target.document == theirs.target.document
    for part in ("bind", "values", "parameters", "V", "run", "scheme", "init", "sizes"):
        assert getattr(ours.document, part) == getattr(theirs.document, part)


def test_other_values_and_other_formulas_have_other_digests() -> None:
    x = rc.scalar("x")
    stated = {"name": "ou", "state": [x], "H": x**2 / 2, "D": [[1]], "Q": [[0]]}
    ou = rc.Dynamics(**stated)
    assert ou.digest == rc.Dynamics(**{**stated, "H": "x**2/2"}).digest
    assert ou.digest != rc.Dynamics(**{**stated, "H": x**2}).digest
    assert ou.digest != rc.Dynamics(**{**stated, "D": [[2]]}).digest


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["specs/dynamics", "specs/targets", "specs/builds", "tests/repair", "tests/recover"])
def test_yaml_of_what_was_loaded_is_the_same_document(folder: str, tmp_path: Path) -> None:
    documents = sorted((ROOT / folder).glob("*.yaml"))
    assert documents
    for path in documents:
        document = rc.load(path)
        text = document.to_yaml()  # reads itself again, and refuses to differ
        again = tmp_path / path.name
        again.write_text(text.replace("../", f"{ROOT}/specs/"))
        if not isinstance(document, rc.Build):
            assert rc.load(again).digest == document.digest


def test_a_name_that_yaml_readers_take_for_a_truth_value_is_quoted() -> None:
    on = rc.scalar("on")
    text = rc.Dynamics(name="no", state=[on], H=on**2 / 2, D=[[1]], Q=[[0]]).to_yaml()
    assert 'name: "no"' in text
    assert '"on": {shape: scalar}' in text


def test_a_build_with_data_in_memory_has_a_yaml_that_lacks_them(tmp_path: Path) -> None:
    theta, x = rc.vector("theta", "d"), rc.data("x", "N", "d")
    target = rc.Target(name="t", state=[theta], data=[x], log_prior=0, log_likelihood=-((x @ theta) ** 2))
    U = rc.function("U", of=theta, role="potential")
    sgld = rc.Dynamics(name="sgld", state=[theta], H=U, D=[[rc.I]], Q=[[0]])
    build = rc.Build(name="b", dynamics=sgld, target=target, sizes={"d": 2}, step_size=0.1)
    with pytest.raises(rc.ModelError, match="found no `data`, expected columns for x"):
        rc.load(written(tmp_path, build))


@pytest.mark.slow
def test_what_no_file_can_hold_is_refused_by_its_yaml() -> None:
    theta = rc.vector("theta", "d")
    U = rc.function("U", of=theta, role="potential")
    long = rc.Dynamics(name="long", state=[theta], H=sum((theta.T @ theta * k for k in range(1, 1000)), U), D=0, Q=0)
    with pytest.raises(rc.SpecError, match="expected at most 10,000"):
        long.to_yaml()

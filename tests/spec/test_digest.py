"""A digest changes with what a document says, and with nothing else."""

from pathlib import Path

import pytest

from recipe_compiler.spec.load import load
from recipe_compiler.spec.places import compiled_digest, digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("H: U", "# a comment\nH: U"),
        ("H: U", "H:   U"),
        ("is: positive definite}", 'is: "positive definite"}'),
        ("{shape: d}\n  r", "\n    shape: d\n  r"),
    ],
)
def test_form_does_not_matter(load_spoiled, specs: Path, old: str, new: str) -> None:
    assert digest(load_spoiled("dynamics/sghmc", (old, new))) == digest(load(specs / "dynamics/sghmc.yaml"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("r.T @ inv(M) @ r / 2", "r.T @ inv(M) @ r / 3"),
        ("is: positive semidefinite", "is: positive definite"),
        ("theta: {shape: d}\n  r: {shape: d}", "r: {shape: d}\n  theta: {shape: d}"),
    ],
)
def test_meaning_and_the_order_of_z_do(load_spoiled, specs: Path, old: str, new: str) -> None:
    assert digest(load_spoiled("dynamics/sghmc", (old, new))) != digest(load(specs / "dynamics/sghmc.yaml"))


def test_the_digest_of_a_build_covers_its_target(load_spoiled, tmp_path: Path, specs: Path) -> None:
    text = (specs / "targets/logistic_regression.yaml").read_text()
    change = (f"{specs}/targets/logistic_regression.yaml", "target.yaml")
    (tmp_path / "target.yaml").write_text(text)
    before = digest(load_spoiled("builds/sghmc_logistic", change))
    (tmp_path / "target.yaml").write_text(text.replace("default: 10", "default: 11"))
    assert digest(load_spoiled("builds/sghmc_logistic", change)) != before


def test_a_module_is_not_made_of_the_settings_of_runs(load_spoiled) -> None:
    build, other = (load_spoiled("builds/sghmc_logistic", ("draws: ", f"draws: {n}")) for n in (1, 2))
    assert build.run != other.run
    assert digest(build) != digest(other)
    assert compiled_digest(build) == compiled_digest(other)


def test_a_module_is_made_of_values(load_spoiled) -> None:
    value = "is: nonnegative, value: "
    build, other = (load_spoiled("builds/sghmc_logistic", (f"{value}2", f"{value}{n}")) for n in (1, 3))
    assert compiled_digest(build) != compiled_digest(other)

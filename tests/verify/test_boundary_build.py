"""Faces of a build's domain: decided with the target's potential, and open where that leaves probability to flow."""

from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.spec.bind import bind
from recipe_compiler.verdict import Answer, Verdict
from recipe_compiler.verify.builds.boundary import boundary_in

SPECS = Path(__file__).parents[2] / "specs"


def decided(folder: Path, name: str, target: str, *changes: tuple[str, str]) -> Answer:
    """Return the finding of a shipped build with a target of its own."""
    text = (SPECS / "targets" / f"{target}.yaml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "target.yaml").write_text(text)
    build = (SPECS / "builds" / f"{name}.yaml").read_text()
    build = build.replace(f"../targets/{target}.yaml", "target.yaml").replace("../", f"{SPECS}/")
    (folder / "build.yaml").write_text(build)
    read = load_build(folder / "build.yaml")
    return boundary_in(read, bind(read))


@pytest.mark.parametrize(
    ("name", "target"), [("sgrld_categories", "categories"), ("wright_fisher_dirichlet", "dirichlet")]
)
def test_a_target_shows_that_nothing_flows(tmp_path: Path, name: str, target: str) -> None:
    found = decided(tmp_path, name, target)
    assert found.verdict is Verdict.PROVED
    assert found.for_d == "all"


@pytest.mark.parametrize(
    ("name", "target", "change"),
    [
        ("sgrld_categories", "categories", ("alpha: {shape: d, is: positive}", "alpha: {shape: d}")),
        ("wright_fisher_dirichlet", "dirichlet", ("b: {is: positive}", "b: {}")),
    ],
)
def test_values_show_what_no_kind_is_declared_for(
    tmp_path: Path, name: str, target: str, change: tuple[str, str]
) -> None:
    assert decided(tmp_path, name, target, change).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("name", "target", "change", "expected"),
    [
        ("sgrld_categories", "categories", ("(alpha - ones + n)", "(-alpha - ones)"), Verdict.UNDECIDED),
        ("wright_fisher_dirichlet", "dirichlet", ("(b - 1)*log", "(-b - 1)*log"), Verdict.REFUTED),
    ],
)
def test_a_density_that_does_not_vanish_is_not_proved(
    tmp_path: Path, name: str, target: str, change: tuple[str, str], expected: Verdict
) -> None:
    assert decided(tmp_path, name, target, change).verdict is expected


def test_what_only_a_reflection_keeps_is_not_proved(tmp_path: Path) -> None:
    """With a constant D an exponential law is kept by chains that are reflected at 0, and by no emitted step."""
    constant = (SPECS / "dynamics/sgrld_positive.yaml").read_text().replace("D: [[diag(theta)]]", "D: [[I]]")
    (tmp_path / "constant.yaml").write_text(constant.partition("claims:")[0])
    (tmp_path / "build.yaml").write_text(
        f"""
name: exponential
dynamics: constant.yaml
target: {SPECS}/targets/categories.yaml
parameters: {{alpha: {{value: [1, 1]}}, n: {{value: [0, 0]}}}}
scheme: {{name: euler}}
variant: full
sizes: {{d: 2}}
run: {{step_size: 0.01}}
"""
    )
    read = load_build(tmp_path / "build.yaml")
    found = boundary_in(read, bind(read))
    assert found.verdict is Verdict.UNDECIDED
    assert "chains are reflected at theta = 0" in str(found.decision)
    assert "no emitted step does that" in str(found.decision)


def test_a_block_of_another_name_is_put_in(tmp_path: Path) -> None:
    found = decided(tmp_path, "sgrld_categories", "categories", ("theta", "share"))
    assert found.verdict is Verdict.PROVED

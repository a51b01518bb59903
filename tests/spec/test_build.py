"""Builds from YAML: what is bound, valued and scheduled, and what does not fit together."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from recipe_compiler.errors import ModelError, SpecError
from recipe_compiler.formula.expression import Filled, Identity
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Value

SPECS = Path(__file__).parents[2] / "specs"
LOGISTIC, GAUSSIAN = "builds/sghmc_logistic", "builds/sghmc_gaussian"


def test_a_build_holds_all_that_a_module_needs(specs: Path, load_spoiled) -> None:
    build = load_spoiled(LOGISTIC)
    assert build.bind[0] == ("M", Identity("d"))
    assert build.values == (
        ("prior_variance", Value(((Fraction(10),),))),
        ("c", Value(((Fraction(2),),))),
    )
    assert (build.scheme.name, build.scheme.order, build.variant) == ("sequential_euler", ("r", "theta"), "minibatch")
    assert not build.replacement
    assert Filled(0, Shape("d", "d")) == build.V
    assert build.sizes == (("d", 30),)
    assert len(dict(build.data.columns)["x"]) == 30
    assert build.data.file.resolve() == (specs / "data/breast_cancer.csv").resolve()
    assert build.run.step_size > 0
    assert build.run.batch_size is not None


def test_paths_are_relative_to_the_build(specs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(specs / "builds/sghmc_logistic.yaml").dynamics.name == "sghmc"


def test_settings_left_out_have_their_defaults(specs: Path, load_spoiled) -> None:
    (settings,) = re.findall(r"(?m)^run: .*$", (specs / f"{GAUSSIAN}.yaml").read_text(encoding="utf-8"))
    run = load_spoiled(GAUSSIAN, (settings, "run: {step_size: 1e-3}")).run
    assert (run.step_size, run.draws, run.warmup, run.thin, run.chains, run.seed) == (0.001, 1000, 1000, 1, 4, 0)


def test_a_batch_may_be_drawn_with_replacement(load_spoiled) -> None:
    assert load_spoiled(LOGISTIC, ("variant:", "minibatch: {replacement: true}\nvariant:")).replacement


def test_gradient_noise_has_the_square_shape_of_the_potentials_block(load_spoiled) -> None:
    assert load_spoiled(LOGISTIC, ("V: 0", "V: c*I")).V.shape == Shape("d", "d")


def test_a_start_may_be_a_draw(load_spoiled) -> None:
    build = load_spoiled(LOGISTIC, ("run:", "init: {theta: N(0, I), r: c*ones}\nrun:"))
    assert [name for name, _ in build.init] == ["theta", "r"]


def test_faults_of_all_three_documents_come_together(spoiled, tmp_path: Path, specs: Path) -> None:
    broken = (specs / "dynamics/sghmc.yaml").read_text().replace("[0, C]]", "[0, K]]")
    (tmp_path / "sghmc.yaml").write_text(broken)
    path = spoiled(LOGISTIC, (f"{specs}/dynamics/sghmc.yaml", "sghmc.yaml"), ("thin: 40", "thin: 0"))
    with pytest.raises(SpecError) as caught:
        load(path)
    assert [fault.entry for fault in caught.value.faults] == ["run.thin", "D[r,r]"]


def test_the_target_has_the_coordinates_of_the_potentials_block(refused, tmp_path: Path, specs: Path) -> None:
    text = "name: t\nstate: {W: {shape: [2, p]}, b: {}}\npotential: trace(W @ W.T) + b**2"
    (tmp_path / "target.yaml").write_text(text)
    faults = refused(GAUSSIAN, (f"{specs}/targets/gaussian.yaml", "target.yaml"))
    assert any("a target of 2*p + 1 coordinates (W, b), expected 3" in fault.problem for fault in faults)


def test_several_target_blocks_fit_when_they_add_up(load_spoiled, tmp_path: Path, specs: Path) -> None:
    text = "name: t\nstate: {v: {shape: p}, b: {}}\npotential: v.T @ v + b**2"
    (tmp_path / "target.yaml").write_text(text)
    values = "  mu: {value: [1, -2, 1/2]}\n  Sigma:\n    value: [[2, 1/2, 1/3],\n            "
    values += "[1/2, 1, -1/4],\n            [1/3, -1/4, 3/2]]\n"
    changes = (f"{specs}/targets/gaussian.yaml", "target.yaml"), (values, ""), ("sizes: {d: 3}", "sizes: {d: 3, p: 2}")
    assert load_spoiled(GAUSSIAN, *changes).target.name == "t"


def test_domains_of_target_and_dynamics_agree(refused, tmp_path: Path, specs: Path) -> None:
    text = (specs / "targets/gaussian.yaml").read_text().replace("{shape: d}\npar", "{shape: d, domain: positive}\npar")
    (tmp_path / "target.yaml").write_text(text)
    (fault,) = refused(GAUSSIAN, (f"{specs}/targets/gaussian.yaml", "target.yaml"))
    assert "found the domain positive of the target's `theta`, expected real" in fault.problem


def test_a_position_beyond_a_fixed_size_is_refused(refused, tmp_path: Path, specs: Path) -> None:
    text = (specs / "targets/gaussian.yaml").read_text().replace("potential: ", "potential: theta[3] + ")
    (tmp_path / "target.yaml").write_text(text)
    (fault,) = refused(GAUSSIAN, (f"{specs}/targets/gaussian.yaml", "target.yaml"))
    assert (fault.entry, "expected d >= 4" in fault.problem) == ("sizes.d", True)


def test_a_build_never_runs_a_python_file(spoiled, tmp_path: Path, specs: Path) -> None:
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'CANARY')!r}, 'w')")
    with pytest.raises(ModelError):
        load(spoiled(LOGISTIC, (f"{specs}/dynamics/sghmc.yaml", "evil.py")))
    assert not (tmp_path / "CANARY").exists()


def test_columns_give_the_sizes_of_a_target_of_several_blocks(
    load_spoiled, refused, tmp_path: Path, specs: Path
) -> None:
    text = (specs / "targets/linear_regression.yaml").read_text().replace("{shape: d}", "{shape: k}\n  b: {}")
    (tmp_path / "target.yaml").write_text(text.replace("[N, d]", "[N, k]").replace("x @ theta)", "x @ theta - b)"))
    target = (f"{specs}/targets/linear_regression.yaml", "target.yaml")
    assert load_spoiled("builds/sghmc_linear_regression", target, ("sizes: {d: 5}\n", "")).sizes == (("k", 5),)
    faults = refused("builds/sghmc_linear_regression", target, ("sizes: {d: 5}\n", "sizes: {k: 4}\n"))
    assert [fault.problem for fault in faults] == ["found 4 columns and the intercept, expected 4: k"]


def test_a_field_of_a_blocks_name_keeps_it(load_spoiled, tmp_path: Path, specs: Path) -> None:
    target = (specs / "targets/logistic_regression.yaml").read_text()
    (tmp_path / "target.yaml").write_text(target.replace("  y: {", "  r: {").replace("y*", "r*").replace("(y,", "(r,"))
    build = load_spoiled(LOGISTIC, (f"{specs}/targets/logistic_regression.yaml", "target.yaml"), (" y: ", " r: "))
    assert [block.name for block in build.dynamics.declarations.blocks] == ["theta", "r_"]
    assert build.scheme.order == ("r_", "theta")

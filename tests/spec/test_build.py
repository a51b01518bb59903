"""Builds from YAML: what is bound, valued and scheduled, and what does not fit together."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
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


def test_the_gaussian_build_has_matrices_that_do_not_commute(specs: Path) -> None:
    values = dict(load(specs / "builds/sghmc_gaussian.yaml").values)
    M, C = (np.array([[float(n) for n in row] for row in values[name].numbers]) for name in ("M", "C"))
    assert np.abs(M @ C - C @ M).max() > 0.1


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


@pytest.mark.parametrize(
    ("old", "new", "entry", "part"),
    [
        ("M: I, C", "M: c, C", "bind.M", "found a scalar, expected a matrix [d, d]"),
        ("M: I, C", "K: I, C", "bind.K", "parameter or function of the dynamics (M, C)"),
        ("M: I, C", "C", "parameters.M", "found no value of `M`"),
        ("M: I, C", "U: 3, M: I, C", "bind.U", "which the target binds"),
        ("M: I, C", "M: I + r @ r.T, C", "bind.M", "found `r` in the parameter `M`"),
        ("M: I, C", "M: nu*I, C", "bind.M", "not declared"),
        ("value: 2", "value: -2", "parameters.c.value", "found c = -2, expected c nonnegative"),
        ("value: 2", "value: 0x2", "parameters.c.value", "expected a number"),
        ("value: 2", "value: [1, 2]", "parameters.c.value", "found 2 x 1 numbers, expected 1 x 1"),
        (", value: 2", "", "parameters.c", "found no value of `c`"),
        ("  c: {is", "  M: {value: [[1]]}\n  c: {is", "parameters.M.value", "which is bound"),
        ("  c: {is", "  prior_variance: {is: positive}\n  c: {is", "parameters.prior_variance.is", "declared already"),
        ("  c: {is", "  r: {value: 1}\n  c: {is", "parameters.r", "use already"),
        ("order: [r, theta]", "order: [r]", "scheme.order", "each block once: theta, r"),
        ("order: [r, theta]", "order: [r, r]", "scheme.order", "each block once"),
        ("sequential_euler", "euler", "scheme.order", "expected none"),
        ("sequential_euler", "leapfrogs", "scheme.name", "one of euler, sequential_euler"),
        ("variant: minibatch", "variant: full", "run.batch_size", "expected none"),
        ("variant: minibatch", "variant: mini", "variant", "'minibatch'"),
        ("batch_size: 64, ", "", "run.batch_size", "found no `batch_size`"),
        ("seed: 1}", "seed: 1, lanes: true}", "run.lanes", "expected false: every step reads data"),
        ("seed: 1}", "seed: 1, lanes: 64}", "run.lanes", "true or false"),
        ("d: 30", "d: 30, N: 32", "run.batch_size", "found a batch of 64 from 32 data"),
        ("d: 30", "d: 29", "data.x", "found 30 columns, expected 29"),
        ("d: 30", "D: 30", "sizes.D", "expected one of d, N"),
        ("V: 0", "V: -thta*I", "gradient_noise.V", "not declared"),
        ("run:", "init: {r: 0*theta}\nrun:", "init.r", "found `theta` in a start"),
        ("run:", "init: {q: 0}\nrun:", "init.q", "a block of the dynamics or of the target (theta, r)"),
        ("y: diagnosis", "z: diagnosis", "data.y", "no columns for `y`"),
        ("standardise: [x]", "standardise: [u]", "data.standardise", "a field of the target (x, y)"),
        ("intercept: false", "intercept: no", "data.intercept", "true or false"),
        ("intercept: false", "intercept: true", "data.x", "30 columns and the intercept, expected 30"),
        ("sghmc.yaml", "nowhere.yaml", "dynamics", "found no file"),
        ("sghmc.yaml", f"{'a' * 300}.yaml", "dynamics", "found no file"),  # longer than systems take
        (f"{SPECS}/dynamics/sghmc.yaml", "a" * 300, "dynamics", "YAML file"),
        ("sghmc.yaml", "sghmc.py", "dynamics", "YAML file"),
        ("dynamics/sghmc.yaml", "targets/gaussian.yaml", "dynamics", "found a target"),
    ],
)
def test_a_fault_names_its_entry(refused, old: str, new: str, entry: str, part: str) -> None:
    faults = refused(LOGISTIC, (old, new))
    assert any(part in fault.problem for fault in faults if fault.entry == entry), faults


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("step_size: 0.02", "step_size: 0"),
        ("step_size: 0.02", "step_size: -1"),
        ("step_size: 0.02", "step_size: .nan"),
        ("step_size: 0.02", "step_size: .inf"),
        ("step_size: 0.02", "step_size: true"),
        ("step_size: 0.02", "step_size: 1e-400"),
        ("draws: 4000", "draws: 0"),
        ("draws: 4000", "draws: 1000000000000000000"),
        ("draws: 4000", "draws: 1_000"),
        ("draws: 4000", "draws: 1:30"),
        ("draws: 4000", "draws: 010"),
        ("draws: 4000", "draws: 1.5"),
        ("warmup: 1000", "warmup: -1"),
        ("thin: 40", "thin: 0"),
        ("chains: 4", "chains: -1"),
        ("batch_size: 64", "batch_size: 0"),
        ("seed: 1", "seed: -1"),
        ("seed: 1", "seed: 9223372036854775808"),
    ],
)
def test_run_settings_have_ranges(refused, old: str, new: str) -> None:
    name, _, value = new.partition(": ")
    (fault,) = [fault for fault in refused(LOGISTIC, (f"{old}", new)) if fault.entry == f"run.{name}"]
    assert f"found `{value}`, expected a" in fault.problem


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("tune", "warmup"),
        ("num_warmup", "warmup"),
        ("burn_in", "warmup"),
        ("num_samples", "draws"),
        ("eps", "step_size"),
        ("stepsize", "step_size"),
        ("random_seed", "seed"),
        ("thinning", "thin"),
        ("num_chains", "chains"),
    ],
)
def test_names_of_other_programs_are_hints_and_never_read(refused, alias: str, name: str) -> None:
    faults = refused(LOGISTIC, ("run: {", f"run: {{{alias}: 1, "))
    assert [(fault.entry, fault.hint) for fault in faults] == [(f"run.{alias}", f"here it is called `{name}`")]


def test_draws_that_need_more_than_eight_gibibytes_are_refused(refused) -> None:
    (fault,) = refused(LOGISTIC, ("draws: 4000", "draws: 100000000"))
    assert "about 89.4 GiB" in fault.problem


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


def test_columns_fix_no_size_of_a_module_for_every_size(load_spoiled) -> None:
    assert load_spoiled("builds/sghmc_linear_regression", ("sizes: {d: 5}\n", "")).sizes == ()


def test_a_field_of_a_blocks_name_keeps_it(load_spoiled, tmp_path: Path, specs: Path) -> None:
    target = (specs / "targets/logistic_regression.yaml").read_text()
    (tmp_path / "target.yaml").write_text(target.replace("  y: {", "  r: {").replace("y*", "r*").replace("(y,", "(r,"))
    build = load_spoiled(LOGISTIC, (f"{specs}/targets/logistic_regression.yaml", "target.yaml"), (" y: ", " r: "))
    assert [block.name for block in build.dynamics.declarations.blocks] == ["theta", "r_"]
    assert build.scheme.order == ("r_", "theta")

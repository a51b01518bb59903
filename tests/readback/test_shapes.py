"""Every shape a kernel is given is read back in the text that is emitted, and faults planted in it are found."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from loaders import load_build
from some import some

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.readback.file import check_diagnostics
from recipe_compiler.readback.readback import check_shipped
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

BUILDS = Path(__file__).parents[2] / "specs" / "builds"


@cache
def shipped(name: str, d: int | None) -> Module:
    """Return the module of a build as it is shipped, its size d a number or left open."""
    build = load_build(BUILDS / f"{name}.yaml")
    program = discretise(build, derive(bind(build), stated=True))
    program = program if d is None else rename(program, {"d": d})
    return emit_module(build.name, program, schedule(program, lower(program)), "A test.\n", "0" * 64)


@pytest.mark.parametrize(
    ("name", "d", "shape"),
    [
        ("sghmc_gaussian", 2, "Registers"),
        ("sgnht_gaussian", 3, "Registers"),
        ("sghmc_logistic", 2, "Small rows"),
        ("sgnht_logistic", 14, "Small rows"),
        ("sghmc_logistic", 17, "Blocks of rows"),
        ("sghmc_logistic", 32, "Blocks of rows"),
        ("sgld_logistic", None, "Blocks of rows"),
    ],
)
def test_every_shape_is_chosen_by_the_sizes_and_read_back(name: str, d: int | None, shape: str) -> None:
    module = shipped(name, d)
    assert module.kernel.shape.startswith(shape)
    assert shape in module.text, "the module says which shape it has"
    check_shipped(module, {"d": 3 if d is None else d})


# ruff: noqa: E501
FAULTS = [
    ("registers: a swapped result", "sghmc_gaussian", 2, "return theta_new_0, theta_new_1", "return theta_new_1, theta_new_0"),
    ("registers: an old value", "sghmc_gaussian", 2, "inv_M[0, 1] * r_new_1", "inv_M[0, 1] * r_1"),
    ("registers: another's gradient", "sghmc_gaussian", 2, "grad_U_0, grad_U_1 = gradient(", "grad_U_1, grad_U_0 = gradient("),
    ("registers: another's noise", "sghmc_gaussian", 2, "L_r[1, 1] * noise_r_1", "L_r[1, 1] * noise_r_0"),
    ("registers: arguments swapped", "sghmc_gaussian", 2, "= gradient(theta_0, theta_1,", "= gradient(theta_1, theta_0,"),
    ("rows: a feature twice", "sghmc_logistic", 2, "x_1 = x[row, 1]", "x_1 = x[row, 0]"),
    ("rows: a sum of another", "sghmc_logistic", 2, "grad_U_tilde_1 += x_1", "grad_U_tilde_1 += x_0"),
    ("rows: a lost row", "sghmc_logistic", 2, "range(np.uint64(batch_size))", "range(np.uint64(batch_size - 1))"),
    ("rows: a row that is not copied", "sghmc_logistic", 2, "range(np.uint64(batch_size)):\n        row", "range(np.uint64(batch_size - 1)):\n        row"),
    ("rows: copied over another column", "sghmc_logistic", 2, "x_batch_0_1[np.uint64(2) * b + np.uint64(1)] = x_1", "x_batch_0_1[np.uint64(2) * b] = x_1"),
    ("rows: copied over another row", "sgnht_logistic", 14, "np.uint64(4) * b", "np.uint64(2) * b"),
    ("rows: those that fill a vector counted", "sgnht_logistic", 14, "np.float64(b < np.uint64(batch_size))", "np.float64(b < np.uint64(batch_size + 1))"),
    ("rows: one of those that fill a vector not copied", "sgnht_logistic", 14, "range(np.uint64(batch_size), np.uint64(batch_size + 7", "range(np.uint64(batch_size + 1), np.uint64(batch_size + 7"),
    ("rows: a sum over those that fill a vector too", "sgnht_logistic", 14, "grad_U_tilde_1 += inside * x_1", "grad_U_tilde_1 += x_1"),
    ("rows: the copy of another column", "sghmc_logistic", 2, "x_1 = x_batch_0_1[np.uint64(2) * b + np.uint64(1)]", "x_1 = x_batch_0_1[np.uint64(2) * b]"),
    ("rows: the copy of another row", "sghmc_logistic", 2, "y_row = y_batch[b]", "y_row = y_batch[0]"),
    ("rows: the label for a feature", "sghmc_logistic", 2, "y_batch[b] = y_row", "y_batch[b] = x_0"),
    ("rows: the place for the row", "sghmc_logistic", 2, "row = batch[b]", "row = b"),
    ("rows: stored elsewhere", "sghmc_logistic", 2, "grad_U_tilde[1] = grad_U_tilde_1", "grad_U_tilde[1] = grad_U_tilde_0"),
    ("blocks: the wrong row of four", "sghmc_logistic", 17, "row_2 = batch[start + first + np.uint64(2)]", "row_2 = batch[start + first + np.uint64(3)]"),
    ("blocks: the wrong weight of four", "sghmc_logistic", 17, "weight_2 = weight[first + np.uint64(2)]", "weight_2 = weight[first + np.uint64(1)]"),
    ("blocks: rows of the first block only", "sghmc_logistic", 17, "row_0 = batch[start + first]", "row_0 = batch[first + np.uint64(4)]"),
    ("blocks: three fours of four", "sghmc_logistic", 17, "np.uint64(weight.shape[0]), np.uint64(4)", "np.uint64(weight.shape[0] - 4), np.uint64(4)"),
    ("blocks: a dot product of one feature less", "sghmc_logistic", 17, "for i in range(np.uint64(x.shape[1]))", "for i in range(np.uint64(x.shape[1] - 1))"),
    ("blocks: a dot product of as many features as rows", "sghmc_logistic", 17, "for i in range(np.uint64(x.shape[1]))", "for i in range(np.uint64(x_theta.shape[0]))"),
    ("blocks: a sum of one feature less", "sghmc_logistic", 17, "for i in range(np.uint64(17))", "for i in range(np.uint64(16))"),
    ("blocks: no rows beyond them", "sghmc_logistic", 17, "range(batch_size - batch_size % 8, batch_size)", "range(batch_size - batch_size % 8, batch_size - 1)"),
    ("blocks: a row twice", "sghmc_logistic", 17, "range(batch_size - batch_size % 8, batch_size)", "range(batch_size - batch_size % 8 - 1, batch_size)"),
    ("blocks: too few whole ones", "sghmc_logistic", 17, "np.uint64(batch_size - batch_size % 8)", "np.uint64(batch_size - batch_size % 16)"),
    ("blocks: one product for all rows", "sghmc_logistic", 17, "_sigmoid(x_theta[k])", "_sigmoid(x_theta[0])"),
    ("blocks: as many rows as features", "sghmc_logistic", 17, "range(np.uint64(x_theta.shape[0])):", "range(np.uint64(theta.shape[0])):"),
    ("blocks: a row too few", "sghmc_logistic", 17, "range(np.uint64(x_theta.shape[0])):", "range(np.uint64(x_theta.shape[0] - 1)):"),
    ("blocks: the label of another row", "sghmc_logistic", 17, "y_row[k] = y[row]", "y_row[k] = y[start]"),
    ("blocks: one label for all rows", "sghmc_logistic", 17, "weight[k] = -y_row[k]", "weight[k] = -y_row[0]"),
    ("blocks: a row asked for beyond the batch", "sghmc_logistic", 32, "min(start + k + np.uint64(8), np.uint64(batch_size - 1))", "start + k + np.uint64(8)"),
    ("blocks: the place asked for beyond the data", "sghmc_logistic", 32, "_read_ahead(y, ahead)", "_read_ahead(x_theta, ahead)"),
    ("blocks: the row asked for in place of its own", "sghmc_logistic", 32, "row = batch[start + k]\n            total", "row = ahead\n            total"),
    ("blocks: a weight of the block beyond it", "sghmc_logistic", 17, "grad_U_tilde[i] += weight_alone", "grad_U_tilde[i] += weight_0"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "d", "found", "wrong"), some([fault[1:] for fault in FAULTS], 2), ids=[f[0] for f in FAULTS]
)
def test_faults_in_a_shape_are_found(name: str, d: int, found: str, wrong: str) -> None:
    module = shipped(name, d)
    assert found in module.text, "the fault must have a place"
    with pytest.raises(CompilerError):
        check_shipped(replace(module, text=module.text.replace(found, wrong)), {"d": d})


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("generator", "def generator(", "def generator ("),
        ("full_potential", "U_value = 0.0", "U_value = 1.0"),
        ("_softplus", "def _softplus(x):", "def _softplus(x, y=0.0):"),
    ],
)
def test_what_tells_of_draws_is_the_same_in_every_shape(name: str, right: str, wrong: str) -> None:
    """It is read back in one of them, and in the others it has to be that text, with all that it calls."""
    scheduled = shipped("sghmc_logistic", 2)
    plain = emit_module("plain", scheduled.program, lower(scheduled.program), "A test.\n", "0" * 64)
    assert plain.text != scheduled.text
    check_diagnostics(scheduled, plain)
    before, head, rest = scheduled.text.partition(f"def {name}(")
    assert right in head + rest, "the fault must have a place"
    faulty = before + (head + rest).replace(right, wrong, 1)
    with pytest.raises(CompilerError, match=f"{name} is another one in another shape"):
        check_diagnostics(replace(scheduled, text=faulty), plain)

"""Gradients with control variates, of contiguous blocks and of float32 data are read back; planted faults are found."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from loaders import load_build

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.program import Program
from recipe_compiler.readback.gradient import batches, stated_gradient
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.readback import read_back
from recipe_compiler.run.load_module import load_text
from recipe_compiler.scheme.discretise import discretise, with_control_variates
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Control

SPECS = Path(__file__).parents[2] / "specs"
TARGET = """
name: squares
state: {theta: {shape: d}}
data:
  x: {shape: [N, d]}
  y: {shape: N}
log_prior: -theta.T @ theta / 2
log_likelihood: -y*y*(x @ theta)**2/2 - exp(x @ theta)
"""
BUILD = f"""
name: squares
dynamics: {SPECS}/dynamics/sgld.yaml
target: target.yaml
bind: {{D: I}}
scheme: {{name: euler}}
variant: minibatch
MORE
data: {{file: data.csv, x: [a, b], y: y, shuffled: true, DATA}}
run: {{step_size: 0.01, batch_size: 2}}
"""


@pytest.fixture
def built(tmp_path: Path) -> Callable[..., tuple[Build, Derivation, Program]]:
    def made(more: str = "", data: str = "dtype: float64") -> tuple[Build, Derivation, Program]:
        (tmp_path / "target.yaml").write_text(TARGET)
        (tmp_path / "build.yaml").write_text(BUILD.replace("MORE", more).replace("DATA", data))
        build = load_build(tmp_path / "build.yaml")
        derivation = derive(bind(build))
        return build, derivation, discretise(build, derive(bind(build), stated=True))

    return made


def emitted(program: Program, change: Callable[[Kernel], Kernel] = lambda kernel: kernel) -> Module:
    return emit_module("squares", program, change(schedule(program, lower(program))), "A test.\n", "0" * 64)


CONTROL = "minibatch: {control_variates: mode}"
BLOCKS = "minibatch: {blocks: contiguous}"


@pytest.mark.parametrize("more", ["", CONTROL, BLOCKS, "minibatch: {blocks: contiguous, control_variates: mode}"])
@pytest.mark.parametrize("data", ["dtype: float64", "dtype: float32"])
def test_the_module_is_read_back(built, more: str, data: str) -> None:
    _, derivation, program = built(more, data)
    module = emitted(program)
    read_back(module, derivation, {})
    assert ("np.float64(x[" in module.text) == (data == "dtype: float32")
    assert ("_block_indices(batch_state" in module.text) == ("contiguous" in more)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("+ grad_U_mode[i]", "- grad_U_mode[i]"),
        ("- theta_mode[i]", "+ theta_mode[i]"),
        ("x_theta_mode", "x_theta"),
        ("np.float64(y[row])", "np.float64(y[0])"),
        ("np.float64(y[row])", "np.float32(y[row])"),
    ],
)
def test_planted_faults_are_found(built, old: str, new: str) -> None:
    _, derivation, program = built(CONTROL, "dtype: float32")
    module = emitted(program)
    assert old in module.text
    with pytest.raises(CompilerError):
        read_back(replace(module, text=module.text.replace(old, new)), derivation, {})


@pytest.mark.parametrize("more", ["", "minibatch: {replacement: true}", BLOCKS])
def test_control_variates_are_unbiased_for_every_mode_in_symbols(built, more: str) -> None:
    _, _, program = built(more)
    plain = program.gradient
    control = with_control_variates(plain, [Control("mode", "at_mode")])
    parameters = (
        tuple(replace(program.parameters[0], name=name) for name in ("mode", "at_mode")) if program.parameters else ()
    )
    if not parameters:
        from recipe_compiler.formula.declaration import Parameter

        parameters = tuple(Parameter(name, program.blocks[0].shape) for name in ("mode", "at_mode"))
    names = Names(replace(program, gradient=control, parameters=parameters), {"d": 2, "N": 3, "batch_size": 2})
    full = stated_gradient(plain, names, range(3), sp.Integer(1))
    theta, mode = names.block(program.blocks[0]), [names.component("mode", (k,)) for k in range(2)]
    at_mode = [entry.xreplace(dict(zip(theta, mode, strict=True))) for entry in full]
    known = {names.component("at_mode", (k,)): at_mode[k] for k in range(2)}
    every = batches(program, 3, 2)
    read = [stated_gradient(control, names, batch, sp.Rational(3, 2)) for batch in every]
    for k in range(2):
        mean = sp.Add(*(values[k] for values in read)) / len(every)
        assert sp.expand(mean.xreplace(known) - full[k]) == 0
        assert sp.expand(mean - full[k]) != 0


def test_every_row_is_in_as_many_contiguous_blocks_as_any_other(built) -> None:
    _, _, program = built(BLOCKS)
    assert batches(program, 5, 2) == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("width", [2, 20])
def test_arithmetic_on_float32_data_is_that_of_doubles(built, width: int) -> None:
    """The gradient has y[n]*y[n], whose product in float32 would be rounded to seven digits."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(9, width)).astype(np.float32), rng.normal(size=9).astype(np.float32)
    theta = rng.normal(size=width) / width
    z, w = (x.astype(np.float64) @ theta), y.astype(np.float64)
    exact = theta + 9 / 9 * (x.astype(np.float64) * (w**2 * z + np.exp(z))[:, None]).sum(axis=0)
    errors = {}
    for dtype in ("float64", "float32"):
        _, _, program = built("", f"dtype: {dtype}")
        module = emitted(program)
        gradient = load_text(f"squares_{dtype}_{width}", module.text).gradient
        procedure = module.kernel.gradient
        sizes = {"d": width, "N": 9, "batch_size": 9}
        values = {"theta": theta, "x": x, "y": y, "batch": np.arange(9, dtype=np.uint64)}
        for array in (*procedure.outputs, *procedure.work):
            values[array.name] = np.zeros(tuple(sizes.get(size, size) for size in array.sizes))
        gradient(*(values[array.name] for array in (*procedure.outputs, *procedure.inputs, *procedure.work)))
        errors[dtype] = abs(values[procedure.outputs[0].name] / exact - 1).max()
    assert errors["float32"] < 1e-13
    assert errors["float64"] > 1e-10  # the module for doubles, given float32: what the conversion is for

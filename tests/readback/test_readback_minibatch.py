"""Gradients with control variates and of contiguous blocks are unbiased; arithmetic on float32 data is of doubles."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from cycles import texts
from emitted_texts import squares

from recipe_compiler.derive.recipe import derive
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.program.program import Program
from recipe_compiler.readback.gradient import batches, stated_gradient
from recipe_compiler.readback.names import Names
from recipe_compiler.run.load_module import load_text
from recipe_compiler.scheme.discretise import discretise, with_control_variates
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Control


def program_of(minibatch: str = "") -> Program:
    build = squares(minibatch)
    return discretise(build, derive(bind(build), stated=True))


@pytest.mark.parametrize("minibatch", ["", "replacement: true", "blocks: contiguous"])
def test_control_variates_are_unbiased_for_every_mode_in_symbols(minibatch: str) -> None:
    program = program_of(minibatch)
    plain = program.gradient
    control = with_control_variates(plain, [Control("mode", "at_mode")])
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


def test_every_row_is_in_as_many_contiguous_blocks_as_any_other() -> None:
    assert batches(program_of("blocks: contiguous"), 5, 2) == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("width", [2, 20])
def test_arithmetic_on_float32_data_is_that_of_doubles(width: int) -> None:
    """The gradient has y[n]*y[n], whose product in float32 would be rounded to seven digits."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(9, width)).astype(np.float32), rng.normal(size=9).astype(np.float32)
    theta = rng.normal(size=width) / width
    z, w = (x.astype(np.float64) @ theta), y.astype(np.float64)
    exact = theta + 9 / 9 * (x.astype(np.float64) * (w**2 * z + np.exp(z))[:, None]).sum(axis=0)
    errors = {}
    for dtype in ("float64", "float32"):
        module = texts(squares(dtype=dtype))["scheduled"].module
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

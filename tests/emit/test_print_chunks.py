"""Steps taken chunk by chunk: chosen where no entry touches another, and the same numbers as a step written by hand."""

from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

SPECS = Path(__file__).parents[2] / "specs"

WELLS = """
format: 1
name: wells
state:
  theta: {shape: d}
parameters:
  mu: {shape: d}
potential: sum((theta - mu)**4) / 4
"""
COUPLED = """
format: 1
name: coupled
state:
  theta: {shape: d}
potential: (theta.T @ theta)**2 / 4
"""

BUILD = """
format: 1
name: chunked
dynamics: {specs}/dynamics/{dynamics}.yaml
target: {target}.yaml
bind: {bind}
parameters: {parameters}
scheme: {{name: euler}}
variant: full
run: {{step_size: 0.05, draws: 10, chains: 1}}
"""


def module_of(folder: Path, dynamics: str, target: str, bind_: str, parameters: str, d: int | None = None) -> Module:
    (folder / "wells.yaml").write_text(WELLS)
    (folder / "coupled.yaml").write_text(COUPLED)
    file = folder / "build.yaml"
    text = BUILD.format(specs=SPECS, dynamics=dynamics, target=target, bind=bind_, parameters=parameters)
    file.write_text(text)
    build = load_build(file)
    program = discretise(build, derive(bind(build), stated=True))
    if d is not None:
        program = rename(program, {"d": d})
    return emit_module(build.name, program, schedule(program, lower(program)), "A test.\n", "0" * 64)


@pytest.mark.parametrize(
    ("dynamics", "target", "bind_", "parameters", "d", "expected"),
    [
        ("sgld", "wells", "{D: I}", "{mu: {value: 0}}", None, True),
        ("sgld", "wells", "{D: I}", "{mu: {value: 0}}", 64, True),
        ("sgld", "wells", "{D: I}", "{mu: {value: 0}}", 63, False),
        ("sghmc", "wells", "{M: I, C: c*I}", "{mu: {value: 0}, c: {value: 1, is: positive}}", None, True),
        ("sgld", "coupled", "{D: I}", "{}", None, False),
        ("sgld", "wells", "{D: I/d}", "{mu: {value: 0}}", None, False),
        ("sgld", "wells", "{}", "{mu: {value: 0}, D: {value: 1}}", None, False),
        ("sgnht", "wells", "{}", "{mu: {value: 0}, A: {value: 1}}", None, False),
    ],
    ids=["sgld", "long", "short", "sghmc", "coupled target", "their number", "a matrix D", "thermostat"],
)
def test_chunks_are_chosen_where_no_entry_touches_another(
    tmp_path: Path, dynamics: str, target: str, bind_: str, parameters: str, d: int | None, expected: bool
) -> None:
    module = module_of(tmp_path, dynamics, target, bind_, parameters, d)
    assert bool(module.kernel.chunked) == expected
    assert ("def sweep(" in module.text) == expected

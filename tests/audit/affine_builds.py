"""Builds whose step is affine, and that step as it is read back from the text that is emitted for every size."""

from dataclasses import replace
from pathlib import Path

import sympy as sp
from loaders import load_build

from recipe_compiler.audit.affine import AffineStep, affine_step
from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.formula.declaration import Entries
from recipe_compiler.program.lower import lower
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.step import read_step, values
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"

LANGEVIN = f"""
format: 1
name: langevin
dynamics: {SPECS}/dynamics/sghmc.yaml
target: {SPECS}/targets/gaussian.yaml
PARAMETERS
scheme: SCHEME
variant: full
run: {{step_size: 0.1}}
"""


def written(folder: Path, text: str) -> Build:
    file = folder / "langevin.yaml"
    file.write_text(text)
    return load_build(file)


def module_of(build: Build) -> Module:
    """Return the module that is emitted for every size, not yet read back."""
    program = discretise(build, derive(bind(build), stated=True))
    return emit_module(build.name, program, lower(program), "Read.", "0" * 64)


def read(build: Build, sizes: dict[str, int], module: Module | None = None) -> AffineStep:
    """Return the step of a build as its emitted text computes it, at its values, symbols standing for what has none."""
    module = module_of(build) if module is None else module
    program = module.program
    numbers = {name: Entries(value.numbers) for name, value in build.values if value.numbers is not None}
    valued = tuple(replace(p, value=numbers.get(p.name)) for p in program.parameters)
    names = Names(replace(program, parameters=valued), sizes)
    return affine_step(read_step(module, names), names, slopes(names))


def slopes(names: Names) -> list[sp.Expr]:
    """Return grad U of all data in the coordinates of its block."""
    generator = names.program.infinitesimal_generator
    assert generator is not None
    return [entry for part in generator.gradient.parts for entry in values(part.prior, names, part.block)]

"""Targets of several blocks, and of matrices: faults planted in what they are cut into are found by reading back."""

from dataclasses import replace
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.loops import View
from recipe_compiler.program.lower import lower
from recipe_compiler.readback.readback import read_back
from recipe_compiler.scheme.discretise import discretise, pinned_sizes
from recipe_compiler.spec.bind import bind

BUILDS = Path(__file__).parents[2] / "specs" / "builds"


def read(name: str, sizes: dict[str, int], change=lambda view: view) -> None:
    build = load_build(BUILDS / f"{name}.yaml")
    derivation = derive(bind(build))
    program = discretise(build, derive(bind(build), stated=True), sizes)
    kernel = _changed(lower(program), change)
    module = emit_module(build.name, program, kernel, "A test.", "0" * 64)
    read_back(module, derivation, {}, pinned_sizes(build, program))


def _changed(kernel: Kernel, change) -> Kernel:
    gradient = kernel.gradient
    assert gradient is not None
    body = tuple(change(s) if isinstance(s, View) else s for s in gradient.body)
    return replace(kernel, gradient=replace(gradient, body=body))


SIZES = {"sghmc_softmax_regression": {"K": 2, "p": 3}, "sghmc_funnel": {"k": 2}, "sgld_gaussian_mixture": {"K": 2}}


@pytest.mark.parametrize("name", SIZES)
def test_a_stacked_target_reads_back(name: str) -> None:
    read(name, SIZES[name])


def transposed(view: View) -> View:
    return replace(view, sizes=view.sizes[::-1])


def only_the_gradient_transposed(view: View) -> View:
    return transposed(view) if view.source.startswith("grad") else view


def moved(view: View) -> View:
    """Let the second block start where the first does."""
    return replace(view, start=0)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sghmc_softmax_regression", transposed),
        ("sghmc_softmax_regression", only_the_gradient_transposed),
        ("sghmc_funnel", moved),
        ("sgld_gaussian_mixture", moved),
    ],
)
def test_a_view_that_is_not_the_block_is_found(name: str, change) -> None:
    with pytest.raises(CompilerError):
        read(name, SIZES[name], change)


def test_blocks_in_another_order_are_found() -> None:
    def swapped(view: View) -> View:
        return replace(view, start=2 - view.start) if view.source.startswith("grad") else view

    with pytest.raises(CompilerError):
        read("sgld_gaussian_mixture", {"K": 2}, swapped)

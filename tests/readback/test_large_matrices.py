"""Steps whose matrices are too large to be inverted as symbols: these are rational numbers, the rest symbols."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.lower import lower
from recipe_compiler.readback.names import LARGEST_SYMBOLIC
from recipe_compiler.readback.readback import check_shipped, read_back
from recipe_compiler.scheme.discretise import discretise, pinned_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.tensor.calculus import calculus

RATS = Path(__file__).parents[1] / "posteriors" / "builds" / "rats.yaml"
BUILD = load_build(RATS)
ONE_RAT = 7
"""Coordinates of the hierarchical model with one group: SGHMC by BAOAB with a full mass and full friction."""


@cache
def derived() -> Derivation:
    return derive(bind(BUILD))


@cache
def emitted(derivation: Derivation | None = None) -> Module:
    program = discretise(BUILD, derivation or derive(derived().dynamics, stated=True), {"J": 1})
    return emit_module(BUILD.name, program, lower(program), "A test.\n", "0" * 64)


def read(module: Module, derivation: Derivation | None = None) -> None:
    read_back(module, derivation or derived(), {}, pinned_sizes(BUILD, module.program))


@pytest.mark.slow
def test_a_step_of_full_matrices_is_read_back() -> None:
    assert ONE_RAT > LARGEST_SYMBOLIC
    read(emitted())
    check_shipped(emitted(), {"J": 1})


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("inv_M[i, j] * r_v1[j]", "inv_M[i, i] * r_v1[j]"),
        ("inv_M[i, j] * r_v2[j]", "change_O[i, j] * r_v2[j]"),
        ("C[i, k] * inv_M[j, k]", "C[i, k] * inv_M[k, k]"),
        ("C[i, k] * inv_M[j, k]", "C[i, k] * M[j, k]"),
        ("2.0 * C[i, j]", "C[i, j]"),
        ("np.linalg.inv(M)", "np.linalg.inv(C)"),
        ("eps / 2.0", "eps / 4.0"),
        ("L_r[i, j] * noise_r[j]", "L_r[j, i] * noise_r[j]"),
    ],
)
def test_a_fault_of_the_text_is_found(right: str, wrong: str) -> None:
    text = emitted().text
    assert right in text, text
    with pytest.raises(CompilerError):
        read(replace(emitted(), text=text.replace(right, wrong, 1)))


@pytest.mark.slow
def test_a_diffusion_that_is_not_the_dynamics_own_is_found_by_the_second_engine() -> None:
    rules = calculus(derived().dynamics.declarations)
    halved = tuple(tuple(rules.scale(entry, Fraction(1, 2)) for entry in row) for row in derived().D)
    wrong = replace(derived(), D=halved)
    with pytest.raises(CompilerError):
        read(emitted(), wrong)

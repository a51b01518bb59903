"""What tells of draws is read back: U, the log likelihood of every datum and H - U, each with faults in its text."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.lower import lower
from recipe_compiler.readback.readback import check_shipped, energy_readings
from recipe_compiler.scheme.discretise import discretise, pinned_sizes, small_sizes
from recipe_compiler.spec.bind import bind

BUILDS = Path(__file__).parents[2] / "specs" / "builds"


@cache
def emitted(name: str) -> tuple[Module, Derivation, dict[str, int]]:
    build = load_build(BUILDS / f"{name}.yaml")
    derivation = derive(bind(build))
    program = discretise(build, derive(derivation.dynamics, stated=True), list(small_sizes(build))[-1])
    module = emit_module(build.name, program, lower(program), "A test.\n", "0" * 64)
    return module, derivation, pinned_sizes(build, program)


FAULTS = [
    ("sghmc_eight_schools", "full_potential", "theta[2:4]", "theta[1:3]", "U of all data"),
    ("sghmc_eight_schools", "full_potential", "- log_tau[0]", "+ log_tau[0]", "U of all data"),
    ("sghmc_eight_schools", "log_likelihood", "= -(w[row] ** 2)", "= w[row] ** 2", "log likelihood of datum 0"),
    ("sghmc_linear_regression", "full_potential", "(2.0 * noise_variance)", "noise_variance", "U of all data"),
    ("sghmc_linear_regression", "log_likelihood", "y[row]", "y[0]", "log likelihood of datum 1"),
    ("sghmc_linear_regression", "auxiliary_energy", "/ (2.0 * m)", "/ 2.0", "H - U"),
    ("../../tests/shared/guarded_funnel", "prepare_energies", "1.0 - e[i]", "1.0 + e[i]", "H - U"),
]


def read(module: Module, derivation: Derivation, pinned: dict[str, int]) -> None:
    for reading in energy_readings(module, derivation, {}, pinned):
        reading.job()


@pytest.mark.parametrize(("name", "function", "right", "wrong", "said"), FAULTS)
def test_a_fault_in_what_tells_of_draws_is_found(name: str, function: str, right: str, wrong: str, said: str) -> None:
    module, derivation, pinned = emitted(name)
    before, head, rest = module.text.partition(f"def {function}(")
    body, end, after = rest.partition("\n\n\n")
    assert right in body, body
    faulty = replace(module, text=before + head + body.replace(right, wrong) + end + after)
    with pytest.raises(CompilerError, match=said):
        read(faulty, derivation, pinned)
    read(module, derivation, pinned)


def test_the_shipped_text_is_read_at_its_own_sizes() -> None:
    module, _, _ = emitted("sghmc_linear_regression")
    before, head, rest = module.text.partition("def log_likelihood(")
    faulty = replace(module, text=before + head + rest.replace("= -(part", "= (part", 1))
    with pytest.raises(CompilerError, match="log likelihood of datum 0"):
        check_shipped(faulty, {"d": 2})

"""The generator that is emitted, L phi: a planted fault is found by reading it back, and one of the calculus."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from loaders import load_build, load_dynamics, load_target
from read_back import check_shipped, read_back

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.lower import lower
from recipe_compiler.program.program import Moment
from recipe_compiler.scheme.discretise import discretise, pinned_sizes, small_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.tensor.terms import Tensor, Term

pytestmark = pytest.mark.usefixtures("without_reading_back")

SPECS = Path(__file__).parents[2] / "specs"


@cache
def compiled(name: str) -> tuple[Build, Module]:
    build = load_build(SPECS / "builds" / f"{name}.yaml")
    return build, compile_build(build)


FAULTS = [
    ("sghmc_gaussian", "L_r[i] = -C_inv_M_r[i] - grad_U[i]", "L_r[i] = C_inv_M_r[i] - grad_U[i]"),
    ("sghmc_gaussian", "L_r_r[i, j] = (\n                2.0 * C[i, j]", "L_r_r[i, j] = (\n                C[i, j]"),
    ("sghmc_gaussian", "L_theta_theta[i, j] = theta[i] * inv_M_r[j]", "L_theta_theta[i, j] = theta[j] * inv_M_r[j]"),
    (
        "sghmc_gaussian",
        "grad_U[i] = -inv_Sigma_difference[i]\n    return",
        "grad_U[i] = inv_Sigma_difference[i]\n    return",
    ),
    ("sgnht_gaussian", "L_xi[0] = r_r / 3.0 - 1.0", "L_xi[0] = r_r / 3.0"),
]


@pytest.mark.parametrize(("name", "good", "bad"), FAULTS)
def test_a_fault_planted_in_the_generator_is_found_by_reading_it_back(name: str, good: str, bad: str) -> None:
    build, module = compiled(name)
    assert module.text.count(good) == 1, "the text has changed: plant the fault elsewhere"
    check_shipped(module, dict(build.sizes))
    with pytest.raises(CompilerError, match=r"generator|gradient of all data"):
        check_shipped(replace(module, text=module.text.replace(good, bad)), dict(build.sizes))


def test_a_state_with_ends_has_no_generator_means() -> None:
    """What flows over the end of a domain makes the mean of L phi another number than 0."""
    from recipe_compiler.scheme.moments import moments
    from recipe_compiler.scheme.posterior import SampledTarget

    dynamics = load_dynamics(SPECS / "dynamics" / "cir.yaml")
    target = load_target(SPECS / "targets" / "gaussian.yaml")
    block = dynamics.declarations.blocks[0]
    gradient = SampledTarget(target, "U", block, frozenset(), {}).gradient(minibatch=False)
    assert moments(derive(dynamics), gradient, frozenset(), {}) is None


def without_curvature(moment: Moment) -> Tensor:
    """Return L phi without the terms of factor 2: of tr(D Hess phi), and of products of a coordinate with itself."""
    return Tensor(moment.value.free, tuple(t for t in moment.value.terms if t.coefficient != 2))


def turned(moment: Moment) -> Tensor:
    """Return L phi with the sign of its first term turned."""
    first, *others = moment.value.terms
    return Tensor(moment.value.free, (Term(-first.coefficient, first.factors), *others))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["sghmc_gaussian", "sgnht_gaussian", "generalised_langevin_gaussian", "sghmc_logistic"]
)
@pytest.mark.parametrize("fault", [without_curvature, turned])
def test_a_fault_in_the_calculus_is_found_by_the_second_engine(name: str, fault: Callable[[Moment], Tensor]) -> None:
    build = load_build(SPECS / "builds" / f"{name}.yaml")
    derivation = derive(bind(build))
    program = discretise(build, derive(bind(build), stated=True), next(iter(small_sizes(build))))
    assert program.infinitesimal_generator is not None
    wrong = tuple(replace(moment, value=fault(moment)) for moment in program.infinitesimal_generator.moments)
    assert wrong != program.infinitesimal_generator.moments
    planted = replace(program, infinitesimal_generator=replace(program.infinitesimal_generator, moments=wrong))
    right = emit_module(build.name, program, lower(program), "A test.\n", "0" * 64)
    read_back(right, derivation, {}, pinned_sizes(build, program))
    module = emit_module(build.name, planted, lower(planted), "A test.\n", "0" * 64)
    with pytest.raises(CompilerError, match=r"differs from its Program in entry \d+ of the generator"):
        read_back(module, derivation, {}, pinned_sizes(build, planted))

"""Faults planted in the derivation, the lowering and the printed text are each found by reading the text back."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from loaders import load_sized
from some import some

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.loops import Constant, Increment, Raise, Ref, Scale, Times
from recipe_compiler.program.lower import lower
from recipe_compiler.readback.of_build import of_its_sizes
from recipe_compiler.readback.readback import check_shipped, read_back
from recipe_compiler.scheme.discretise import discretise, pinned_sizes, small_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.tensor.calculus import calculus

BUILDS = Path(__file__).parents[2] / "specs" / "builds"
NAMES = sorted(path.stem for path in BUILDS.glob("*.yaml"))


@cache
def derived(name: str) -> tuple[Build, Derivation]:
    build = load_sized(BUILDS / f"{name}.yaml")
    return build, derive(bind(build))


@cache
def right(name: str) -> Module:
    """Return the module of a build as it should be."""
    return emitted(name)


def emitted(
    name: str, derivation: Derivation | None = None, change: Callable[[Kernel], Kernel] | None = None
) -> Module:
    build, right = derived(name)
    shipped = derive(right.dynamics, stated=True)
    program = discretise(build, derivation or shipped, list(small_sizes(build))[-1])
    kernel = lower(program)
    return emit_module(build.name, program, change(kernel) if change else kernel, "A test.\n", "0" * 64)


def read(name: str, module: Module, derivation: Derivation | None = None) -> None:
    build, right = derived(name)
    read_back(module, derivation or right, {}, pinned_sizes(build, module.program))


@pytest.mark.parametrize("name", some(NAMES, 3))
def test_every_build_reads_back(name: str) -> None:
    """As a compilation reads it, which in one run of the tests is done once of every text."""
    compile_build(derived(name)[0])


# ---- faults in the derivation: SGNHT has Gamma_xi = -1


def with_gamma(derivation: Derivation, factor: Fraction) -> Derivation:
    """Return the derivation with Gamma multiplied by a factor, in the drift too."""
    rules = calculus(derivation.dynamics.declarations)
    excess = [rules.scale(g, factor - 1) for g in derivation.Gamma]
    drift = tuple(rules.add(f, e) for f, e in zip(derivation.drift, excess, strict=True))
    return replace(derivation, Gamma=tuple(rules.scale(g, factor) for g in derivation.Gamma), drift=drift)


@pytest.mark.parametrize(
    "factor",
    [Fraction(0), Fraction(1, 2), Fraction(-1)],
    ids=["Gamma dropped", "Gamma halved", "Gamma of the transpose (its sign, Q being skew)"],
)
def test_wrong_gamma_is_found_by_the_second_engine(factor: Fraction) -> None:
    wrong = with_gamma(derived("sgnht_gaussian")[1], factor)
    with pytest.raises(CompilerError, match="Fokker-Planck"):
        read("sgnht_gaussian", emitted("sgnht_gaussian", wrong), wrong)


def test_a_compilation_compares_with_the_derived_equation_whatever_the_shapes() -> None:
    build, right = derived("sgnht_gaussian")
    wrong = with_gamma(right, Fraction(-1))
    module, pinned = emitted("sgnht_gaussian", wrong), dict(build.sizes)
    readings = of_its_sizes([([module, module], {})], module, wrong, {}, pinned)
    with pytest.raises(CompilerError, match="Fokker-Planck"):
        [reading.job() for reading in readings]


def test_wrong_sign_of_the_whole_drift_is_found() -> None:
    right = derived("sghmc_gaussian")[1]
    rules = calculus(right.dynamics.declarations)
    wrong = replace(right, drift=tuple(rules.scale(f, -1) for f in right.drift))
    with pytest.raises(CompilerError, match="Fokker-Planck"):
        read("sghmc_gaussian", emitted("sghmc_gaussian", wrong), wrong)


def test_a_diffusion_that_is_not_the_dynamics_own_is_found() -> None:
    right = derived("sghmc_gaussian")[1]
    rules = calculus(right.dynamics.declarations)
    halved = tuple(tuple(rules.scale(entry, Fraction(1, 2)) for entry in row) for row in right.D)
    wrong = replace(right, D=halved)
    with pytest.raises(CompilerError, match="Fokker-Planck"):
        read("sghmc_gaussian", emitted("sghmc_gaussian", wrong), wrong)


# ---- faults in the lowering


def rewritten(value: object, rule: Callable[[object], object]) -> object:
    """Return a tree of dataclasses and tuples with `rule` applied from the leaves up."""
    if isinstance(value, tuple):
        return rule(tuple(rewritten(item, rule) for item in value))
    if is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: rewritten(getattr(value, f.name), rule) for f in fields(value)}
        return rule(replace(value, **parts))
    return rule(value)


def upside_down(value: object) -> object:
    """n/N for N/n."""
    match value:
        case Times((Ref("N"), Raise(Ref("batch_size"), exponent), out)) if exponent == -1:
            return Times((Ref("batch_size"), Raise(Ref("N"), Fraction(-1)), out))
        case _:
            return value


def half_the_noise(value: object) -> object:
    """sqrt(D) for sqrt(2D)."""
    match value:
        case Scale(target, block, two_D, B_hat):
            return Scale(target, block, Times((Constant(Fraction(1, 2)), two_D)), B_hat)
        case _:
            return value


def wrong_row(value: object) -> object:
    """x[row, i] of the weighted sum read at another place."""
    match value:
        case Increment(Ref("grad_U_tilde", at), Times((weight, Ref("x", (row, _))))):
            return Increment(Ref("grad_U_tilde", at), Times((weight, Ref("x", (row, 0)))))
        case _:
            return value


def lost_sum(value: object) -> object:
    """The sum over the data never added."""
    match value:
        case Increment(Ref("grad_U_tilde", at), _):
            return Increment(Ref("grad_U_tilde", at), Constant(Fraction(0)))
        case _:
            return value


@pytest.mark.parametrize("fault", [upside_down, half_the_noise, wrong_row, lost_sum])
def test_faults_of_the_lowering_are_found(fault: Callable[[object], object]) -> None:
    def change(kernel: Kernel) -> Kernel:
        changed = rewritten(kernel, fault)
        assert isinstance(changed, Kernel)
        assert changed != kernel, "the fault must be there to be found"
        return changed

    with pytest.raises(CompilerError, match="read back"):
        read("sghmc_logistic", emitted("sghmc_logistic", change=change))


# ---- faults in the text


FAULTS = [
    ("sghmc_logistic", "eps * (-grad_U_tilde[i]", "eps * (grad_U_tilde[i]"),
    ("sghmc_logistic", "- c * r[i])", "+ c * r[i])"),
    ("sghmc_logistic", "- c * r[i])", "- c * theta[i])"),
    ("sghmc_logistic", "eps * r_new[i]", "eps * r[i]"),
    ("sghmc_logistic", "eps * r_new[i]", "math.sqrt(eps) * r_new[i]"),
    ("sghmc_logistic", "scale_r * noise_r[i]", "eps * scale_r * noise_r[i]"),
    ("sghmc_logistic", "scale_r * noise_r[i]", "scale_r * noise_r[0]"),
    ("sghmc_logistic", "sigmoid_x_theta[b] - y[row]", "sigmoid_x_theta[b] + y[row]"),
    ("sghmc_logistic", "_sigmoid(x_theta[b])", "_softplus(x_theta[b])"),
    ("sghmc_logistic", "N * grad_U_tilde[i] / batch_size", "batch_size * grad_U_tilde[i] / N"),
    ("sghmc_logistic", "theta[i] / prior_variance", "N * theta[i] / prior_variance"),
    ("sghmc_logistic", "row = batch[b]", "row = b"),
    ("sghmc_gaussian", "C[i, j] * inv_M_r[j]", "C[j, i] * inv_M_r[i]"),
    ("sghmc_gaussian", "2.0 * C[i, j]", "C[i, j]"),
    ("sghmc_gaussian", "L_r[i, j] * noise_r[j]", "L_r[j, i] * noise_r[j]"),
    ("sghmc_gaussian", "np.linalg.inv(M)", "M"),
    ("sgnht_gaussian", "- 1.0)", "- 0.5)"),
    ("sgnht_gaussian", "- 1.0)", "+ 1.0)"),
    ("generalised_langevin_gaussian", "Lambda[j, i]", "Lambda[i, j]"),
]


@pytest.mark.parametrize(("name", "found", "wrong"), FAULTS)
def test_faults_of_the_text_are_found(name: str, found: str, wrong: str) -> None:
    module = right(name)
    assert found in module.text, "the fault must have a place"
    with pytest.raises(CompilerError):
        read(name, replace(module, text=module.text.replace(found, wrong)))


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        ("eps * r_new[i]", "eps * np.sum(r_new)"),
        ("eps * r_new[i]", "eps * r_new[i] if i > 0 else 0.0"),
        ("eps * r_new[i]", "eps * r_new[-1]"),
        ("eps * r_new[i]", "eps * theta_new[i]"),
    ],
)
def test_what_cannot_be_read_is_not_shipped(found: str, wrong: str) -> None:
    module = right("sghmc_logistic")
    assert found in module.text, "the fault must have a place"
    with pytest.raises(CompilerError):
        read("sghmc_logistic", replace(module, text=module.text.replace(found, wrong)))


@pytest.mark.parametrize(("name", "found", "wrong"), FAULTS)
def test_faults_are_found_at_the_shipped_sizes_too(name: str, found: str, wrong: str) -> None:
    module = right(name)
    sizes = {"d": 5, "k": 4} if name.startswith("generalised") else {"d": 5}
    with pytest.raises(CompilerError):
        check_shipped(replace(module, text=module.text.replace(found, wrong)), sizes)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_sizes_agree_with_the_program(name: str) -> None:
    sizes = {"d": 5, "k": 4} if name.startswith("generalised") else {"d": 5}
    check_shipped(right(name), sizes)

"""Steps that are taken chunk by chunk: read back as they run, and every fault planted in their text is found."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.readback.readback import check_shipped, read_back
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"

TARGET = """
format: 1
name: wells
state:
  theta: {shape: d}
parameters:
  mu: {shape: d}
  k: {is: positive}
potential: k * sum((theta - mu)**4) / 4
"""

BUILD = """
format: 1
name: chunked_{dynamics}
dynamics: {specs}/dynamics/{dynamics}.yaml
target: wells.yaml
bind: {bind}
parameters: {parameters}
scheme: {scheme}
variant: full
run: {{step_size: 0.05, draws: 10, chains: 1}}
"""

CASES = {
    "sgld": {"bind": "{D: I}", "parameters": "{mu: {value: 1}, k: {value: 2}}", "scheme": "{name: euler}"},
    "sghmc": {
        "bind": "{M: I, C: c*I}", "parameters": "{c: {is: positive, value: 1}, mu: {value: 1}, k: {value: 2}}",
        "scheme": "{name: sequential_euler, order: [theta, r]}",
    },
    "hmc": {
        "bind": "{M: I}", "parameters": "{mu: {value: 1}, k: {value: 2}}",
        "scheme": "{name: sequential_euler, order: [r, theta]}",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chunks")
    (path / "wells.yaml").write_text(TARGET)
    return path


def build_of(folder: Path, dynamics: str) -> Build:
    file = folder / f"{dynamics}_build.yaml"
    file.write_text(BUILD.format(dynamics=dynamics, specs=SPECS, **CASES[dynamics]))
    return load_build(file)


@cache
def made(folder: Path, dynamics: str) -> tuple[Module, Derivation]:
    build = build_of(folder, dynamics)
    derivation = derive(bind(build))
    program = discretise(build, derive(bind(build), stated=True))
    kernel = schedule(program, lower(program))
    assert kernel.chunked
    return emit_module(build.name, program, kernel, "A test.\n", "0" * 64), derivation


@pytest.mark.parametrize("dynamics", CASES)
def test_a_step_without_coupling_is_chunked_and_reads_back(folder: Path, dynamics: str) -> None:
    module, derivation = made(folder, dynamics)
    assert len(read_back(module, derivation, {})) == 3
    check_shipped(module, {})


FAULTS = {
    "the first entry left out": ("range(0, theta", "range(1, theta"),
    "the last entry left out": ("range(0, theta.shape[0], ", "range(0, theta.shape[0] - 1, "),
    "no remainder": ("last = min(first + noise_{r}.shape[0], theta.shape[0])", "last = first + noise_{r}.shape[0]"),
    "chunks that overlap": ("theta.shape[0], noise_{r}.shape[0]):", "theta.shape[0], 1):"),
    "old noise in part of a chunk": ("noise_{r}[: last - first])", "noise_{r}[: last - first - 1])"),
    "old noise in every chunk but the first": (
        "        _fill_normals_lanes(noise_state, noise_{r}[: last - first])",
        "        if first < 0.0:\n            first = 0.0",
    ),
    "the first chunk again and again": ("step(theta[first:last]", "step(theta[0 : last - first]"),
    "noise of one entry for all": ("noise_{r}_i = noise_{r}[i]", "noise_{r}_i = noise_{r}[0]"),
    "an entry too far": ("    theta_i = theta[i]", "    theta_i = theta[entries - 1 - i]"),
    "a parameter of another entry": ("mu[first:last]", "mu[0 : last - first]"),
    "a parameter of another entry within a chunk": ("mu_i = mu[i]", "mu_i = mu[0]"),
    "the state not stored": ("        theta[i] = theta_new_i\n", ""),
    "the gradient of another function": ("def gradient(theta_i, mu_i, k):", "def gradient(theta_i, k, mu_i):"),
    "the gradient at another point": ("gradient({at}, mu_i, k)\n", "gradient(mu_i, {at}, k)\n"),
    "a noise scale lost": ("scale_{r} * noise_{r}_i", "noise_{r}_i"),
    "eps twice": ("eps * (", "2.0 * eps * ("),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("dynamics", "noisy", "at"), [("sgld", "theta", "theta_i"), ("sghmc", "r", "theta_new_i")])
def test_faults_of_the_text_are_found(folder: Path, dynamics: str, noisy: str, at: str, fault: str) -> None:
    module, derivation = made(folder, dynamics)
    found, wrong = (part.replace("{r}", noisy).replace("{at}", at) for part in FAULTS[fault])
    assert found in module.text, module.text
    faulty = replace(module, text=module.text.replace(found, wrong))
    with pytest.raises(CompilerError):
        read_back(faulty, derivation, {})
    with pytest.raises(CompilerError):
        check_shipped(faulty, {})


def test_a_gradient_at_the_old_state_is_not_taken_for_one_at_the_new(folder: Path) -> None:
    module, derivation = made(folder, "sghmc")
    found = "= gradient(theta_new_i, mu_i, k)"
    assert found in module.text
    faulty = replace(module, text=module.text.replace(found, "= gradient(theta_i, mu_i, k)"))
    with pytest.raises(CompilerError, match="of the gradient"):
        read_back(faulty, derivation, {})

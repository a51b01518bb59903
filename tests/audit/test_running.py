"""Steps as they run, made linear by differences: those that were read, and the law over all minibatches."""

import itertools

import numpy as np
import pytest
from answers import document
from letters import SEQUENTIAL, composed, langevin, law

from recipe_compiler.advise.forecast import linearized_chain_of
from recipe_compiler.advise.linear_step import AS_IT_IS, LinearStep, StepAtMode
from recipe_compiler.advise.quadratic_target import quadratic_module
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.advise.target_at_mode import target_at_mode
from recipe_compiler.emit.module import Module
from recipe_compiler.pipeline import derive, discretise, emit_module, lower, rename, schedule
from recipe_compiler.run.data import Data, load_data
from recipe_compiler.run.gradients import full_gradient
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.map_estimate import Start, find_mode
from recipe_compiler.run.observed import with_data, with_sizes
from recipe_compiler.run.one_step import OneStep, one_step
from recipe_compiler.run.sample import prepare_inputs
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

pytestmark = pytest.mark.slow

STANDARD = """
name: standard
dynamics: sghmc
target: standard_normal
bind: {M: m*I, C: c*I}
parameters: {m: {is: positive, value: 2}, c: {is: positive, value: 1/2}}
scheme: {name: sequential_euler, order: [r, theta]}
variant: full
sizes: {d: SIZE}
run: {step_size: 0.1}
"""


def linear(build: Build, d: int) -> tuple[Module, LinearStep]:
    """Return the module that ships, and its step made linear as it runs."""
    general = discretise(build, derive(bind(build), stated=True))
    fixed = rename(general, {"d": d})
    chunked = bool(schedule(fixed, lower(fixed)).chunked)
    program = general if chunked else fixed
    module = emit_module(f"{build.name}_{d}", program, schedule(program, lower(program)), "Linear.", "0" * 64)
    emitted = load_text(module.name, module.loaded)
    inputs = prepare_inputs(emitted, build, build.run, Data(()))
    slope = full_gradient(emitted, inputs)
    assert slope is not None
    mode = find_mode(slope, (Start("ones", np.ones(d)),)).theta
    step = StepAtMode.of(quadratic_module(module, emitted), inputs, target_at_mode(slope, mode, None))
    return module, step.linear(0.0, AS_IT_IS)


@pytest.mark.parametrize("d", [9, 80])
def test_a_step_in_arrays_and_by_chunks_is_made_linear(d: int) -> None:
    h = 0.1
    module, found = linear(document(STANDARD.replace("SIZE", str(d))), d)
    assert bool(module.kernel.chunked) is (d == 80)
    one = np.array([[1.0 - h**2 / 2.0, h / 2.0 * (1.0 - h / 4.0)], [-h, 1.0 - h / 4.0]])
    np.testing.assert_allclose(found.F, np.kron(one, np.eye(d)), atol=1e-8)
    noise = np.kron(h * np.array([[(h / 2.0) ** 2, h / 2.0], [h / 2.0, 1.0]]), np.eye(d))
    np.testing.assert_allclose(found.chain, found.F @ found.chain @ found.F.T + noise, atol=1e-7)


@pytest.mark.parametrize(("scheme", "word"), [("{name: baoab}", "B/2 A/2 O A/2 B/2"), (SEQUENTIAL, "E A")])
def test_a_step_in_registers_has_the_law_of_its_letters(scheme: str, word: str) -> None:
    module, found = linear(langevin(scheme), 2)
    assert module.kernel.registers
    np.testing.assert_allclose(found.chain[:4, :4], law(word, 0.3), rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.z[:4], [1, -2, 0, 0], atol=1e-8)
    if not module.program.carried:
        np.testing.assert_allclose(found.F, composed(word, 0.3)[0], rtol=0, atol=1e-8)


ROWS = 6
DATA = "a,b,y\n1,0.1,1\n-2,0.5,-1\n0.2,3,2\n0.1,-1,0.5\n4,0.3,3\n-0.3,2,1\n"
BATCHES = """
name: rows
dynamics: sghmc
target: linear_regression
parameters: {M: {value: [[20, 5], [5, 10]]}, C: {value: [[30, -10], [-10, 60]]}}
scheme: SCHEME
variant: minibatch
data: {file: data.csv, x: [a, b], y: y}
run: {step_size: 0.1, batch_size: SIZE}
"""


def over_all_batches(step: OneStep, z: np.ndarray, size: int) -> np.ndarray:
    """Return S = E F_b S F_b^T + E c_b c_b^T + E G_b G_b^T over all subsets b of the rows: a linear system.

    A step with the batch b is z+ - z* = F_b (z - z*) + c_b + G_b xi, as U is quadratic.
    """
    n, quiet = step.width, np.zeros(step.normals)
    left, noise = np.eye(n * n), np.zeros((n, n))
    batches = [np.array(one, dtype=np.uint64) for one in itertools.combinations(range(ROWS), size)]
    for batch in batches:
        start = step.after(z, batch, quiet)
        c = start - z
        F = np.array([step.after(z + unit, batch, quiet) - start for unit in np.eye(n)]).T
        G = np.array([step.after(z, batch, unit) - start for unit in np.eye(step.normals)]).T
        left -= np.kron(F, F) / len(batches)
        noise += (np.outer(c, c) + G @ G.T) / len(batches)
    return np.linalg.solve(left, noise.ravel()).reshape(n, n)


@pytest.mark.parametrize("size", [ROWS, 3])
@pytest.mark.parametrize("scheme", ["{name: baoab}", "{name: obabo}", "{split: [O/2, A/2, B, A/2, O/2]}"])
def test_minibatches_of_rows_that_differ_have_the_law_over_all_of_them(scheme: str, size: int) -> None:
    """The forecast takes F and G of all rows: right to first order in eps beside what V makes of the law."""
    own = document(BATCHES.replace("SCHEME", scheme).replace("SIZE", str(size)), **{"data.csv": DATA})
    data = load_data(own.data, own.target)
    build = with_sizes(with_data(own, data))
    program = discretise(build, derive(bind(build), stated=True))
    module = emit_module(build.name, program, schedule(program, lower(program)), "Rows.", "0" * 64)
    emitted = load_text(module.name, module.loaded)
    sampler = Sampler.of(build, module, emitted, data)
    chain = linearized_chain_of(sampler)
    found = chain.around(find_mode(chain.slope, (Start("zero", np.zeros(2)),)).theta).linear()[1]
    expected = over_all_batches(one_step(module, emitted, sampler.inputs), found.z, size)
    if size == ROWS:
        np.testing.assert_allclose(found.chain, expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.chain, found.exact, rtol=1e-6, atol=1e-9)
        return
    wider = expected[:2, :2] - found.exact[:2, :2]
    assert np.linalg.eigvalsh(wider)[0] > 0.0
    np.testing.assert_allclose(found.chain[:2, :2], expected[:2, :2], rtol=0, atol=0.01 * np.abs(wider).max())

"""What no way of running changes: calls of `run` go on where the one before ended, and so do runs from a checkpoint."""

import io
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from answers import document, shipped
from code_moves import HMC, code, coded_build
from cycles import ONE_OF_EACH, cycle_build
from draws import draws_build
from running import data_of, in_pieces, module_of
from some import some

from recipe_compiler.run import chains as chains_module
from recipe_compiler.run.chain import start_chain
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.rerun import checkpoint_facts
from recipe_compiler.run.sample import Draws, prepare_inputs, sample
from recipe_compiler.spec.model import Build

SGHMC = """
name: kept
dynamics: sghmc
target: logistic_regression
bind: {M: I, C: 2*I}
scheme: {name: NAME}
variant: minibatch
minibatch: {DRAWN}
sizes: {d: 3}
data: {file: data.csv, x: [a, b, c], y: y, shuffled: true}
run: {step_size: 0.05, batch_size: 10}
"""
SGLD = """
name: bowl
dynamics: sgld
target: bowl.yaml
bind: {D: I}
scheme: {name: euler}
variant: full
sizes: {d: SIZE}
init: {theta: "0"}
run: {step_size: 0.5}
"""


def sghmc(drawn: str, name: str) -> Build:
    """Return a build that takes minibatches in some way, or all data, and leaves a gradient for the next step."""
    rng, file = np.random.default_rng(8), io.StringIO()
    rows = np.column_stack([rng.normal(size=(60, 3)), (rng.random(60) < 0.4).astype(float)])
    np.savetxt(file, rows, delimiter=",", header="a,b,c,y", comments="")
    text = SGHMC.replace("DRAWN", drawn).replace("NAME", name)
    if drawn == "all":
        text = text.replace("variant: minibatch\nminibatch: {all}", "variant: full").replace(", batch_size: 10", "")
    return document(text, **{"data.csv": file.getvalue()})


def bowl(size: int) -> Build:
    """Return a build of theta <- theta/2 + N(0, I): in registers, or in chunks."""
    return document(SGLD.replace("SIZE", str(size)), bowl="state: {theta: {shape: d}}\npotential: sum(theta**2) / 2\n")


KINDS: dict[str, Callable[[], Build]] = {
    **{name: partial(cycle_build, *own) for name, own in ONE_OF_EACH.items()},
    **{
        name: partial(draws_build, name)
        for name in ("gibbs_regression", "hmc_between", "every", "removal", "slices", "sets", "cir_minibatch")
    },
    "scir": partial(shipped, "builds/scir_sparse"),
    **{
        f"{drawn}, {name}": partial(sghmc, drawn, name)
        for drawn, name in (
            ("replacement: false", "baoab"), ("replacement: true", "baoab"), ("blocks: contiguous", "baoab"),
            ("all", "baoab"), ("replacement: false", "aboba"),
        )
    },
    **{f"bowl, {d}": partial(bowl, d) for d in (3, 1001)},
}  # fmt: skip
SETTINGS = {"draws": 7, "warmup": 2, "thin": 2, "chains": 3, "seed": 3}


def demand_one_run(build: Build, folder: Path) -> None:
    """Demand the same bits by one call or many, on one thread or two, in one run or a continued one."""
    whole = in_pieces(build, (9,))
    for pieces in ((1,) * 9, (2, 7)):
        np.testing.assert_array_equal(in_pieces(build, pieces), whole)
    module, data, run = module_of(build), data_of(build), replace(build.run, **SETTINGS)

    def drawn(draws: int, cores: int, *, resume: bool = False) -> Draws:
        own = replace(run, draws=draws)
        with Checkpoint(folder / "kept", checkpoint_facts({}, build, own, data)) as kept:
            return sample(module, build, own, data, cores=cores, checkpoint=kept, resume=resume)

    drawn(3, 1)
    rest, once = drawn(7, 2, resume=True), sample(module, build, run, data, cores=1)
    assert rest.stats.keys() == once.stats.keys()
    for one, other in ((rest.arrays, once.arrays), (rest.stats.values(), once.stats.values())):
        assert all(np.array_equal(left, right, equal_nan=True) for left, right in zip(one, other, strict=True))


FAST = (
    "between_gaussian", "again_every_double_well", "walk_every_gaussian", "removal", "every", "bowl, 3",
    "replacement: false, baoab", "replacement: false, aboba",
)  # fmt: skip
"""Those whose steps are few operations."""


@pytest.mark.parametrize("kind", some(FAST, 2))
def test_a_run_is_the_same_bits_however_it_is_cut(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 1e-9)
    demand_one_run(KINDS[kind](), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "code"])
def test_compiled_runs_are_the_same_bits_however_they_are_cut(kind: str, tmp_path: Path) -> None:
    code_moves = partial(coded_build, tmp_path, f"{HMC}, {code('hit_and_run', 'every: 2')}")
    demand_one_run((KINDS | {"code": code_moves})[kind](), tmp_path)


@pytest.mark.parametrize("drawn", ["replacement: false", "all"])
def test_the_gradient_that_a_step_leaves_for_the_next_is_state(drawn: str) -> None:
    """A chain begins with that of a minibatch at its state, for which the stream of minibatches moves on."""
    build = sghmc(drawn, "baoab")
    module, data = module_of(build), data_of(build)
    inputs = prepare_inputs(module, build, build.run if drawn == "all" else replace(build.run, batch_size=60), data)
    noise, batch = module.seed_streams(3, 1)
    before, theta = batch[0].copy(), np.array([0.5, -0.25, 1.0])
    chain = start_chain(module, inputs, {"theta": theta, "r": np.zeros(3)}, noise[0], batch[0])
    x, y = (field.values for field in data.fields)
    expected = theta / 10 + (1 / (1 + np.exp(-x @ theta)) - y.ravel()) @ x
    np.testing.assert_allclose(chain.state[module.carried[0][0]], expected, rtol=1e-12)
    assert np.array_equal(chain.state["batch_state"], before) is (drawn == "all")

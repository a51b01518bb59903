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
from reference_draws import box_muller
from running import data_of, in_pieces, module_of
from some import some

from recipe_compiler.run import chains as chains_module
from recipe_compiler.run.chain import start_chain
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.checkpoint_facts import checkpoint_facts
from recipe_compiler.run.rng_state import set_words, words_of
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
noise: {generator: GENERATOR}
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
noise: {generator: GENERATOR}
sizes: {d: SIZE}
init: {theta: "0"}
run: {step_size: 0.5}
"""


def sghmc(generator: str, drawn: str, name: str) -> Build:
    """Return a build that takes minibatches in some way, or all data, and leaves a gradient for the next step."""
    rng, file = np.random.default_rng(8), io.StringIO()
    rows = np.column_stack([rng.normal(size=(60, 3)), (rng.random(60) < 0.4).astype(float)])
    np.savetxt(file, rows, delimiter=",", header="a,b,c,y", comments="")
    text = SGHMC.replace("GENERATOR", generator).replace("DRAWN", drawn).replace("NAME", name)
    if drawn == "all":
        text = text.replace("variant: minibatch\nminibatch: {all}", "variant: full").replace(", batch_size: 10", "")
    return document(text, **{"data.csv": file.getvalue()})


def bowl(generator: str, size: int) -> Build:
    """Return a build of theta <- theta/2 + N(0, I): in registers, or in chunks."""
    text = SGLD.replace("GENERATOR", generator).replace("SIZE", str(size))
    return document(text, bowl="state: {theta: {shape: d}}\npotential: sum(theta**2) / 2\n")


KINDS: dict[str, Callable[[], Build]] = {
    **{name: partial(cycle_build, *own) for name, own in ONE_OF_EACH.items()},
    **{
        name: partial(draws_build, name)
        for name in ("gibbs_regression", "hmc_between", "every", "removal", "slices", "sets", "cir_minibatch")
    },
    "scir": partial(shipped, "builds/scir_sparse"),
    **{
        f"{generator}, {drawn}, {name}": partial(sghmc, generator, drawn, name)
        for generator, drawn, name in (
            ("xoshiro", "replacement: false", "baoab"), ("philox", "replacement: false", "baoab"),
            ("numpy", "replacement: false", "baoab"), ("xoshiro", "replacement: true", "baoab"),
            ("xoshiro", "blocks: contiguous", "baoab"), ("xoshiro", "all", "baoab"),
            ("xoshiro", "replacement: false", "aboba"),
        )
    },
    **{f"{kind}, {d}": partial(bowl, kind, d) for kind in ("philox", "numpy") for d in (3, 1001)},
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
    for name in ("arrays", "acceptance", "tried", "mapped", "mapped_tried", "too_few"):
        one, other = getattr(rest, name), getattr(once, name)
        assert (one is None) is (other is None)
        if one is not None:
            assert all(np.array_equal(left, right, equal_nan=True) for left, right in zip(one, other, strict=True))


FAST = (
    "between_gaussian", "again_every_double_well", "walk_every_gaussian", "removal", "every", "numpy, 3",
    "philox, replacement: false, baoab", "xoshiro, replacement: false, aboba",
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
    build = sghmc("xoshiro", drawn, "baoab")
    module, data = module_of(build), data_of(build)
    inputs = prepare_inputs(module, build, build.run if drawn == "all" else replace(build.run, batch_size=60), data, 1)
    noise, batch = module.seed_streams(3, 1)
    before, theta = batch[0].copy(), np.array([0.5, -0.25, 1.0])
    chain = start_chain(module, inputs, (theta, np.zeros(3)), noise[0], batch[0])
    x, y = (field.values for field in data.fields)
    expected = theta / 10 + (1 / (1 + np.exp(-x @ theta)) - y.ravel()) @ x
    np.testing.assert_allclose(chain.carried[0], expected, rtol=1e-12)
    assert np.array_equal(chain.batch_state, before) is (drawn == "all")


def philox_normals(key: int, chain: int, step: int, count: int) -> np.ndarray:
    """Return the normals of a step, from Philox4x32-10 in Python's integers (Salmon et al. 2011)."""
    low, words = 2**32 - 1, list[int]()
    for place in range((count + 1) // 2):
        c, k = [place, chain, step & low, step >> 32], [key & low, key >> 32]
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(b >> 32) ^ c[1] ^ k[0], b & low, (a >> 32) ^ c[3] ^ k[1], a & low]
            k = [(k[0] + 0x9E3779B9) & low, (k[1] + 0xBB67AE85) & low]
        words += [c[0] | c[1] << 32, c[2] | c[3] << 32]
    return np.array(box_muller(words)[:count])


@pytest.mark.parametrize("size", [3, pytest.param(1001, marks=pytest.mark.slow)])
@pytest.mark.parametrize("generator", ["numpy", "philox"])
def test_noise_is_that_of_its_generator(generator: str, size: int) -> None:
    """NumPy's own draws bit for bit, as all products are exact; Philox is a function of key, chain, step and place."""
    build = bowl(generator, size)
    module = module_of(build)
    inputs = prepare_inputs(module, build, replace(build.run, thin=2), data_of(build), 3)
    noise, batch = module.seed_streams(7, 2)
    (key,) = np.random.SeedSequence(7).generate_state(1, np.uint64)
    for k, seed in enumerate(np.random.SeedSequence(7).spawn(2)):
        first, rng, theta = k * (2**32 - 3), np.random.default_rng(seed.spawn(2)[0]), np.zeros(size)
        if generator == "philox":
            noise[k][2] = first  # as if it had gone that far: a chain can start anywhere
        chain = start_chain(module, inputs, (theta,), noise[k], batch[k])
        for step in range(6):
            own = rng.standard_normal(size) if generator == "numpy" else philox_normals(int(key), k, first + step, size)
            theta = theta + own - 0.5 * theta  # in the order of the emitted sum
            if step % 2:
                kept = np.empty((1, size))
                chain.draws = (kept,)
                chain.done = 0
                module.run(*(_argument(name, chain, inputs, kept) for name in module.arguments))
                np.testing.assert_allclose(kept[0], theta, rtol=1e-12, atol=1e-13)
        words = words_of(chain.noise_state)
        assert np.array_equal(words, words_of(rng) if generator == "numpy" else [key, k, first + 6])


def _argument(name: str, chain: object, inputs: object, kept: np.ndarray) -> object:
    known = {"theta": chain.blocks[0], "noise_state": chain.noise_state, "theta_draws": kept, "thin": 2, "eps": 0.5}
    return known[name] if name in known else inputs.constants[0]


def test_a_generator_of_numpy_has_no_lanes() -> None:
    build = bowl("numpy", 3)
    assert module_of(build).run_lanes is None
    with pytest.raises(Exception, match="lanes"):
        sample(module_of(build), build, replace(build.run, lanes=True), data_of(build))


def test_words_of_a_generator_are_all_of_it() -> None:
    rng, other = np.random.default_rng(5), np.random.default_rng(6)
    rng.standard_normal(101)
    rng.integers(0, 2**31, 3, np.uint32)  # leaves half of a word over
    words = words_of(rng)
    assert words.dtype == np.uint64
    assert words[4] == 1
    set_words(other, words)
    np.testing.assert_array_equal(other.integers(0, 2**31, 3, np.uint32), rng.integers(0, 2**31, 3, np.uint32))
    np.testing.assert_array_equal(other.standard_normal(100), rng.standard_normal(100))

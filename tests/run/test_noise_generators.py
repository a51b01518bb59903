"""What noise is drawn from: Philox is a function of (key, chain, step, place); numpy draws what numpy itself draws."""

import math
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build
from numba import njit
from stopping import stopping

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import emit_module
from recipe_compiler.emit.support.box_muller import _normal_pair
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.run import chains as chains_module
from recipe_compiler.run.chain import Chain, Inputs, start_chain
from recipe_compiler.run.chains import run_chains
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.checkpoint_facts import checkpoint_facts
from recipe_compiler.run.data import Data, Field
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.rng_state import set_words, words_of
from recipe_compiler.run.sample import sample
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

pytestmark = pytest.mark.usefixtures("without_reading_back", "interruptible")

SPECS = Path(__file__).parents[2] / "specs"

TARGETS = {
    "bowl": "state: {theta: {shape: d}}\npotential: sum(theta**2) / 2",
    "mean": "state: {theta: {shape: d}}\ndata: {x: {shape: [N, d]}}\nlog_prior: -norm2(theta) / 2\n"
    "log_likelihood: -norm2(x.T - theta) / 2",
}
BUILD = """
format: 1
name: {name}
dynamics: {specs}/dynamics/{dynamics}.yaml
target: {target}.yaml
bind: {bind}
scheme: {{name: euler}}
{variant}
noise: {{generator: {generator}}}
sizes: {{d: {d}}}
init: {{theta: "0"}}
run: {{step_size: {eps}, draws: 60, warmup: 0, thin: 5, chains: 3, seed: 4{batch}}}
"""
SGLD = {"dynamics": "sgld", "bind": "{D: I}", "target": "bowl", "variant": "variant: full", "batch": "", "eps": "0.5"}
DATA = SGLD | {
    "target": "mean", "eps": "0.02", "batch": ", batch_size: 4",
    "variant": "variant: minibatch\nminibatch: {replacement: true}\ndata: {arrays: {x: x.npy}}",
}  # fmt: skip
SHAPES = {"registers": SGLD | {"d": 3}, "chunks": SGLD | {"d": 1001}, "rows": DATA | {"d": 3}}
X = np.random.default_rng(3).normal(1.0, 1.0, (20, 3))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Emitted, Build]]:
    """Return modules by shape and generator, with their builds."""
    folder = tmp_path_factory.mktemp("generators")
    np.save(folder / "x.npy", X)
    for name, text in TARGETS.items():
        (folder / f"{name}.yaml").write_text(f"format: 1\nname: {name}\n{text}\n")
    return lambda shape, generator: emitted(folder, shape, generator)


@cache
def emitted(folder: Path, shape: str, generator: str) -> tuple[Emitted, Build]:
    file = folder / f"{shape}_{generator}.yaml"
    file.write_text(BUILD.format(specs=SPECS, name=f"{shape}_{generator}", generator=generator, **SHAPES[shape]))
    build = load_build(file)
    program = rename(discretise(build, derive(bind(build), stated=True)), {"d": dict(build.sizes)["d"]})
    kernel = schedule(program, lower(program))
    wanted = {"registers": "Registers", "chunks": "Chunks", "rows": "Small rows"}[shape]
    assert kernel.shape.startswith(wanted)
    text = emit_module(build.name, program, kernel, "A test.\n", "0" * 64).text
    return load_text(build.name, text), build


def data_of(shape: str) -> Data:
    return Data((Field("x", X, ("a", "b", "c")),) if shape == "rows" else ())


def inputs_of(module: Emitted, thin: int, draws: int, eps: float = 0.5) -> Inputs:
    return Inputs((), tuple(float(x) for x in module.prepare(eps)), (), 0, None, eps, thin, draws)


def chains_of(module: Emitted, inputs: Inputs, count: int, d: int) -> list[Chain]:
    noise, batch = module.seed_streams(7, count)
    return [start_chain(module, inputs, (np.zeros(d),), noise[k], batch[k]) for k in range(count)]


def drawn(module: Emitted, inputs: Inputs, chains: list[Chain], cores: int = 1, *, lanes: bool = False) -> np.ndarray:
    run_chains(module, inputs, chains, cores, lambda done, total: None, lanes=lanes)
    assert [chain.done for chain in chains] == [inputs.draws] * len(chains)
    return np.stack([chain.draws[0] for chain in chains])


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["registers", "chunks"])
def test_numpy_draws_what_the_loop_in_numpy_draws(made, shape: str) -> None:
    """Bit for bit: with eps = 1/2 and D = I all products are exact, so that no compiler can round otherwise."""
    module, build = made(shape, "numpy")
    d = dict(build.sizes)["d"]
    inputs = inputs_of(module, thin=3, draws=20)
    chains = chains_of(module, inputs, 2, d)
    found = drawn(module, inputs, chains)
    for k, seed in enumerate(np.random.SeedSequence(7).spawn(2)):
        rng = np.random.default_rng(seed.spawn(2)[0])
        theta = np.zeros(d)
        for draw in range(20):
            for _ in range(3):
                theta = theta + rng.standard_normal(d) - 0.5 * theta  # in the order of the emitted sum
            np.testing.assert_array_equal(found[k, draw], theta)
        stream = chains[k].noise_state
        assert isinstance(stream, np.random.Generator)
        assert stream.bit_generator.state == rng.bit_generator.state


@njit
def pair(a: np.uint64, b: np.uint64) -> tuple[float, float]:
    return _normal_pair(a, b)


def philox_normals(key: int, chain: int, step: int, count: int) -> np.ndarray:
    """Return the normals of a step, from Philox4x32-10 in Python's integers (Salmon et al. 2011)."""
    low, found = 2**32 - 1, []
    for place in range((count + 1) // 2):
        c, k = [place, chain, step & low, step >> 32], [key & low, key >> 32]
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(b >> 32) ^ c[1] ^ k[0], b & low, (a >> 32) ^ c[3] ^ k[1], a & low]
            k = [(k[0] + 0x9E3779B9) & low, (k[1] + 0xBB67AE85) & low]
        found += pair(np.uint64(c[0] | c[1] << 32), np.uint64(c[2] | c[3] << 32))
    return np.array(found[:count])


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["registers", "chunks"])
def test_philox_noise_is_a_function_of_key_chain_step_and_place(made, shape: str) -> None:
    module, build = made(shape, "philox")
    d = dict(build.sizes)["d"]
    inputs = inputs_of(module, thin=2, draws=3)
    chains = chains_of(module, inputs, 2, d)
    chains[1].noise_state[2] = 2**32 - 3  # as if it had gone that far
    found = drawn(module, inputs, chains)
    (key,) = np.random.SeedSequence(7).generate_state(1, np.uint64)
    for k, first in ((0, 0), (1, 2**32 - 3)):
        theta = np.zeros(d)
        for step in range(6):
            theta = 0.5 * theta + philox_normals(int(key), k, first + step, d)
            if step % 2:
                np.testing.assert_allclose(found[k, step // 2], theta, rtol=1e-12, atol=1e-13)
        assert chains[k].noise_state.tolist() == [key, k, first + 6]


@pytest.mark.slow
@pytest.mark.parametrize("generator", ["philox", "numpy"])
def test_draws_depend_on_neither_chains_cores_nor_pieces(made, generator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, _ = made("registers", generator)
    inputs = inputs_of(module, thin=3, draws=40)
    many = drawn(module, inputs, chains_of(module, inputs, 20, 3), cores=os.cpu_count() or 2)
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 1e-9)
    np.testing.assert_array_equal(drawn(module, inputs, chains_of(module, inputs, 2, 3)), many[:2])
    assert np.unique(many[:, -1, 0]).size == 20


def test_a_philox_chain_can_start_anywhere(made) -> None:
    """Without the draws before: given where its state stood, the second half is that of the whole."""
    module, _ = made("registers", "philox")
    inputs = inputs_of(module, thin=3, draws=40)
    whole = drawn(module, inputs, chains_of(module, inputs, 1, 3))[0]
    (later,) = chains_of(module, inputs, 1, 3)
    later.blocks[0][:] = whole[19]
    later.noise_state[2] = 20 * 3
    rest = replace(inputs, draws=20)
    np.testing.assert_array_equal(drawn(module, rest, [later])[0][:20], whole[20:])


@pytest.mark.slow
def test_lanes_of_philox_draw_what_every_chain_draws_alone(made) -> None:
    module, _ = made("registers", "philox")
    inputs = inputs_of(module, thin=3, draws=40)
    lanes, alone = chains_of(module, inputs, 70, 3), chains_of(module, inputs, 70, 3)
    side_by_side = drawn(module, inputs, lanes, lanes=True)
    np.testing.assert_allclose(side_by_side, drawn(module, inputs, alone), rtol=1e-11, atol=1e-12)
    for one, other in zip(lanes, alone, strict=True):
        np.testing.assert_array_equal(one.noise_state, other.noise_state)


def test_a_generator_of_numpy_has_no_lanes(made) -> None:
    module, build = made("registers", "numpy")
    assert module.run_lanes is None
    with pytest.raises(Exception, match="lanes"):
        sample(module, build, replace(build.run, lanes=True), Data(()))


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("generator", ["philox", "numpy"])
def test_chains_have_the_law_of_the_step(made, shape: str, generator: str) -> None:
    """theta+ = (1 - eps) theta + sqrt(2 eps) w has variance 2/(2 - eps); of the mean with data only its place is told.

    Of 4 chains in d coordinates; thresholds of 5 sigma.
    """
    module, build = made(shape, generator)
    settings = replace(build.run, draws=600 if shape == "chunks" else 20_000, warmup=20, thin=20, chains=4)
    theta = sample(module, build, settings, data_of(shape)).block("theta")[:, 20:]
    n = theta.size
    if shape == "rows":
        mode = X.sum(axis=0) / 21.0
        assert np.abs(theta.mean(axis=(0, 1)) - mode).max() <= 5.0 * theta.std() / math.sqrt(n / 3 / 10)
        return
    variance = 2.0 / (2.0 - 0.5)
    assert abs(theta.mean()) <= 5.0 * math.sqrt(variance / n)
    assert abs((theta**2).mean() - variance) <= 5.0 * variance * math.sqrt(2.0 / n)
    neighbours = (theta[..., :-1] * theta[..., 1:]).mean()
    assert abs(neighbours) <= 5.0 * variance / math.sqrt(n * (theta.shape[-1] - 1) / theta.shape[-1])


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("generator", ["philox", "numpy"])
def test_a_stopped_run_goes_on_as_if_it_had_not_stopped(
    made, shape: str, generator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 0.01)
    module, build = made(shape, generator)
    settings = replace(build.run, draws=200, thin=300 if shape == "chunks" else 20_000)
    data = data_of(shape)
    whole = sample(module, build, settings, data)
    facts = checkpoint_facts({}, build, settings, data)
    for turn, count in enumerate((5, 25, 201)):
        with Checkpoint(tmp_path, facts, every=0.05) as checkpoint, stopping(count):
            part = sample(module, build, settings, data, cores=2, checkpoint=checkpoint, resume=turn > 0)
        assert (part.stopped is signal.SIGTERM) == (turn < 2)
    assert part.kept == whole.kept == (200,) * 3
    np.testing.assert_array_equal(part.block("theta"), whole.block("theta"))


@pytest.mark.slow
@pytest.mark.parametrize(("generator", "says"), [("philox", "normals by Philox4x32-10"), ("numpy", "numpy.random")])
def test_the_module_says_what_it_draws_from(generator: str, says: str) -> None:
    build = load_build(SPECS / "builds" / "sghmc_double_well.yaml")
    texts = [compile_build(replace(build, bit_generator=one)).file.split('"""')[1] for one in ("xoshiro", generator)]
    assert [says in text for text in texts] == [False, True]


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

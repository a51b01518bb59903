"""Words with minibatches: the gradient that a step leaves for the next is state, in checkpoints and between calls."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from emitted_file import module_of
from loaders import load_build
from reports import decided
from stopping import stopping

from recipe_compiler.pipeline import compile_build
from recipe_compiler.run import chains as chains_module
from recipe_compiler.run import checkpoint as checkpoint_module
from recipe_compiler.run.chain import Chain, run_arguments, start_chain
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import Draws, prepare_inputs, sample
from recipe_compiler.spec.model import Build

pytestmark = pytest.mark.usefixtures("without_reading_back", "interruptible")

SPECS = Path(__file__).parents[2] / "specs"
BUILD = f"""
name: kept
dynamics: {SPECS}/dynamics/sghmc.yaml
target: {SPECS}/targets/logistic_regression.yaml
bind: {{M: I, C: 2*I}}
scheme: {{name: NAME}}
variant: minibatch
minibatch: {{DRAWN}}
noise: {{generator: GENERATOR}}
data: {{file: data.csv, x: [a, b, c], y: y, shuffled: true}}
run: {{step_size: 0.05, batch_size: 10, draws: 300, warmup: 0, thin: 400, chains: 2, seed: 4}}
"""
SCRIPT = """
import sys
from dataclasses import replace
from pathlib import Path

from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_file
from recipe_compiler.run.sample import sample
from recipe_compiler.spec.load import load

build, module = load(Path({build!r})), load_file(Path({module!r}))
said = False


def progress(done, total):
    global said
    if min(done) > 5 and not said:
        said = True
        print("drawing", flush=True)


with Checkpoint(Path({folder!r}), {{}}, every=0.0) as checkpoint:
    data = load_data(build.data, build.target)
    draws = sample(module, build, replace(build.run, thin={thin}), data, progress, 2, checkpoint, resume={resume})
sys.exit(128 + draws.stopped if draws.stopped else 0)
"""
Made = Callable[..., tuple[Emitted, Build]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return the module of a build by generator, way of drawing minibatches (`all`: of all data) and word."""
    folder = tmp_path_factory.mktemp("kept")
    rng = np.random.default_rng(8)
    rows = np.column_stack([rng.normal(size=(60, 3)), (rng.random(60) < 0.4).astype(float)])
    lines = "\n".join(",".join(repr(float(v)) for v in row) for row in rows)
    (folder / "data.csv").write_text(f"a,b,c,y\n{lines}\n")

    @cache
    def make(generator: str = "xoshiro", drawn: str = "replacement: false", name: str = "baoab"):
        path = folder / f"{generator}.{drawn.partition(':')[2].strip()}.{name}.yaml"
        text = BUILD.replace("GENERATOR", generator).replace("DRAWN", drawn).replace("NAME", name)
        if drawn == "all":
            text = text.replace("variant: minibatch\nminibatch: {all}", "variant: full").replace("batch_size: 10, ", "")
        path.write_text(text)
        build = load_build(path)
        module = compile_build(build, decided(build, advisory=False))
        return load_text(module.name, module.text), build

    return make


def drawn_by(module: Emitted, build: Build, *given: object, **named: object) -> Draws:
    return sample(module, build, build.run, load_data(build.data, build.target), *given, **named)


def same(one: Draws, other: Draws) -> bool:
    return all(np.array_equal(left, right) for left, right in zip(one.arrays, other.arrays, strict=True))


def stopped_and_continued(module: Emitted, build: Build, folder: Path) -> Draws:
    for turn in range(2):
        with Checkpoint(folder, {}, every=0.02) as checkpoint, stopping(5 + 80 * turn):
            part = drawn_by(module, build, cores=2, checkpoint=checkpoint, resume=turn > 0)
        assert part.stopped is signal.SIGTERM
        assert part.kept[0] < build.run.draws
    with Checkpoint(folder, {}) as checkpoint:
        return drawn_by(module, build, cores=2, checkpoint=checkpoint, resume=True)


KINDS = [
    ("xoshiro", "replacement: false"), ("philox", "replacement: false"), ("numpy", "replacement: false"),
    ("xoshiro", "replacement: true"), ("xoshiro", "blocks: contiguous"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("generator", "drawn"), KINDS)
def test_a_stopped_run_goes_on_as_if_it_had_not_stopped(
    generator: str, drawn: str, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 0.005)
    module, build = made(generator, drawn)
    assert same(stopped_and_continued(module, build, tmp_path), drawn_by(module, build))


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["block", "batch", "gradient"])
def test_what_a_checkpoint_loses_shows(lost: str, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each alone of what the next draw depends on: the state, the stream of minibatches, the gradient of the last."""
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 0.005)
    module, build = made()
    set_state = checkpoint_module._set_state

    def losing(chain: Chain, state: object, k: int) -> None:
        where = {"block": chain.blocks[1], "batch": chain.batch_state, "gradient": chain.carried[0]}
        before = where[lost].copy()
        set_state(chain, state, k)
        where[lost][:] = before

    monkeypatch.setattr(checkpoint_module, "_set_state", losing)
    assert not same(stopped_and_continued(module, build, tmp_path), drawn_by(module, build))


@pytest.mark.slow
@pytest.mark.parametrize(
    "generator", ["xoshiro", *(pytest.param(name, marks=pytest.mark.slow) for name in ("philox", "numpy"))]
)
def test_a_killed_process_is_continued_with_the_same_bits(generator: str, made: Made, tmp_path: Path) -> None:
    module, build = made(generator)
    build = replace(build, run=replace(build.run, thin=8000))  # a second and more on any machine
    path = module_of(module).__file__ or ""
    given = {"build": build.source.file, "module": path, "folder": str(tmp_path), "thin": build.run.thin}
    stops = 0
    for turn in range(3):
        text = SCRIPT.format(**given, resume=(tmp_path / "state").is_file())
        run = [sys.executable, "-c", text]
        child = subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert child.stdout is not None
        child.stdout.readline()
        while not (tmp_path / "state").is_file() and child.poll() is None:
            time.sleep(0.01)
        time.sleep(0.02 * turn)
        child.send_signal(signal.SIGKILL)
        _, errors = child.communicate(timeout=60)
        if child.returncode == 0:
            break
        stops += 1
        assert child.returncode == -signal.SIGKILL, errors
    assert stops > 0
    with Checkpoint(tmp_path, {}) as checkpoint:
        rest = drawn_by(module, build, cores=2, checkpoint=checkpoint, resume=True)
    assert same(rest, drawn_by(module, build))


@pytest.mark.slow
@pytest.mark.parametrize("drawn", ["replacement: false", "all"])
def test_calls_of_run_go_on_where_the_one_before_ended(drawn: str, made: Made) -> None:
    """One draw a call, or all in one: the same bits, but for a gradient that is not passed on."""
    module, build = made(drawn=drawn)
    inputs = prepare_inputs(module, build, build.run, load_data(build.data, build.target), 6)

    def chain() -> Chain:
        noise, batch = module.seed_streams(3, 1)
        return start_chain(module, inputs, (np.array([0.1, 0.2, 0.3]), np.zeros(3)), noise[0], batch[0])

    def run(pieces: Sequence[int], *, forget: bool = False) -> np.ndarray:
        own = chain()
        for count in pieces:
            own.done += module.run(*run_arguments(module, inputs, own, count))
            if forget:
                own.carried[0][:] = 0.0
        return own.draws[0]

    np.testing.assert_array_equal(run([6]), run([1, 2, 3]))
    assert not np.array_equal(run([6]), run([1, 2, 3], forget=True))


def test_a_chain_begins_with_the_gradient_of_a_minibatch_at_its_state(made: Made) -> None:
    """Of all 60 rows it is that of all data; the stream of minibatches has moved on."""
    module, build = made()
    settings = replace(build.run, batch_size=60)
    data = load_data(build.data, build.target)
    inputs = prepare_inputs(module, build, settings, data, 1)
    noise, batch = module.seed_streams(3, 1)
    before = batch[0].copy()
    theta = np.array([0.5, -0.25, 1.0])
    chain = start_chain(module, inputs, (theta, np.zeros(3)), noise[0], batch[0])
    x, y = (field.values for field in data.fields)
    expected = theta / 10 + (1 / (1 + np.exp(-x @ theta)) - y.ravel()) @ x
    np.testing.assert_allclose(chain.carried[0], expected, rtol=1e-12)
    assert not np.array_equal(chain.batch_state, before)


@pytest.mark.slow
def test_a_word_that_carries_no_gradient_on_keeps_none(made: Made) -> None:
    module, build = made(name="aboba")
    assert module.first_values is None
    draws = drawn_by(module, build)
    assert np.isfinite(draws.arrays[0]).all()

"""Checkpoints: stopped and continued is the same, bit for bit, as never stopped; nothing wrong is ever continued."""

import fcntl
import hashlib
import io
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from emitted_file import module_of
from some import some
from stopping import stopping

from recipe_compiler.errors import RunError
from recipe_compiler.run import chains as chains_module
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.checkpoint_facts import checkpoint_facts
from recipe_compiler.run.checkpoint_file import KIND, VERSION, write_sealed
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.sample import Draws, sample
from recipe_compiler.spec.model import Build, RunSettings, Value

pytestmark = pytest.mark.usefixtures("interruptible")

CODE = {"run": "def run():\n    x = 1\n    y = 2", "step": "def step():\n    pass"}
"""What makes the draws, as a checkpoint is told: here, any text."""

VARIANTS = ("full", "without", "with")

SCRIPT = """
import resource
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, {tests!r})
import conftest as fixtures

from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.load_module import load_file
from recipe_compiler.run.sample import sample

module = load_file(Path({module!r}))
build, data = fixtures.make_build(), fixtures.make_data()
said = False


def progress(done, total):
    global said
    if min(done) > 5 and not said:
        said = True
        print("drawing", flush=True)


with Checkpoint(Path({folder!r}), {{"seed": 1}}, every={every}) as checkpoint:
    settings = replace(build.run, draws={draws}, thin=2000)
    draws = sample(module, build, settings, data, progress, 2, checkpoint, resume={resume})
sys.exit(128 + draws.stopped if draws.stopped else 0)
"""


def run(
    module: Emitted, build: Build, data: Data, folder: Path, settings: RunSettings, *, resume: bool = False
) -> Draws:
    facts = checkpoint_facts(CODE, build, settings, data)
    with Checkpoint(folder, facts) as checkpoint:
        return sample(module, build, settings, data, cores=2, checkpoint=checkpoint, resume=resume)


def same(one: Draws, other: Draws) -> None:
    assert one.kept == other.kept
    for left, right in zip(one.arrays, other.arrays, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.fixture(scope="module")
def left_alone(modules: dict[str, Emitted], build: Build, data: Data) -> Callable[[str], Draws]:
    """Return the draws of a long run of a variant that nothing stops."""
    return cache(lambda variant: sample(modules[variant], build, replace(build.run, draws=1500, thin=2000), data))


@pytest.mark.parametrize("variant", some(VARIANTS))
def test_a_stopped_run_goes_on_as_if_it_had_not_stopped(
    variant: str,
    modules: dict[str, Emitted],
    build: Build,
    data: Data,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    left_alone: Callable[[str], Draws],
) -> None:
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 0.01)
    module = modules[variant]
    settings = replace(build.run, draws=1500, thin=2000)
    facts = checkpoint_facts(CODE, build, settings, data)
    for turn in range(3):
        with Checkpoint(tmp_path, facts, every=0.05) as checkpoint, stopping(10 + 300 * turn):
            part = sample(module, build, settings, data, cores=2, checkpoint=checkpoint, resume=turn > 0)
        assert part.stopped is signal.SIGTERM
        assert part.kept[0] < 1510
    rest = run(module, build, data, tmp_path, settings, resume=True)
    assert rest.stopped is None
    same(rest, left_alone(variant))


def test_a_finished_run_goes_on_to_more_draws(full_module: Emitted, build: Build, data: Data, tmp_path: Path) -> None:
    more = replace(build.run, draws=500)
    run(full_module, build, data, tmp_path, build.run)
    same(run(full_module, build, data, tmp_path, more, resume=True), sample(full_module, build, more, data))
    with pytest.raises(RunError, match="found 510 draws and warmup, expected at most the 110 asked for"):
        run(full_module, build, data, tmp_path, build.run, resume=True)


def test_a_diverged_chain_stays_where_it_ended(full_module: Emitted, build: Build, data: Data, tmp_path: Path) -> None:
    limited = replace(build, values=(*build.values, ("limit", Value(((Fraction(385, 100),),)))))
    settings = replace(build.run, draws=2000, thin=1)
    more = replace(settings, draws=4000)
    first = run(full_module, limited, data, tmp_path, settings)
    rest = run(full_module, limited, data, tmp_path, more, resume=True)
    same(rest, sample(full_module, limited, more, data))
    assert any(first.diverging)
    assert not all(rest.diverging)
    assert all(now == before for now, before, lost in zip(rest.kept, first.kept, first.diverging, strict=True) if lost)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_signals_to_the_real_process(
    number: signal.Signals,
    full_module: Emitted,
    build: Build,
    data: Data,
    tmp_path: Path,
    left_alone: Callable[[str], Draws],
) -> None:
    """Killed again and again, at moments of no choosing, and continued: the bits of a run that was left alone."""
    module = Path(module_of(full_module).__file__ or "")
    script = {"tests": str(Path(__file__).parent), "module": str(module), "folder": str(tmp_path), "draws": 1500}
    stops = 0
    for turn in range(4 if number is signal.SIGKILL else 1):
        resume = (tmp_path / "state").is_file()
        text = SCRIPT.format(**script, every=0.0, resume=resume)
        child = subprocess.Popen(
            [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        while not (tmp_path / "state").is_file() and child.poll() is None:
            time.sleep(0.01)
        time.sleep(0.02 * (turn % 7))
        child.send_signal(number)
        _, errors = child.communicate(timeout=60)
        if child.returncode == 0:
            break
        stops += 1
        assert child.returncode == (-number if number is signal.SIGKILL else 128 + number), errors
    assert stops > 0
    settings = replace(build.run, draws=1500, thin=2000)
    with Checkpoint(tmp_path, {"seed": 1}) as checkpoint:
        rest = sample(full_module, build, settings, data, cores=2, checkpoint=checkpoint, resume=True)
    same(rest, left_alone("full"))
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_a_full_disk_ends_no_run_and_leaves_the_checkpoint_before(
    full_module: Emitted, build: Build, data: Data, tmp_path: Path
) -> None:
    run(full_module, build, data, tmp_path, build.run)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    script = """
import resource, signal, sys
sys.path.insert(0, {tests!r})
import conftest as fixtures
from dataclasses import replace
from pathlib import Path
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.checkpoint_facts import checkpoint_facts
from recipe_compiler.run.load_module import load_file
from recipe_compiler.run.sample import sample

module = load_file(Path({module!r}))
build, data = fixtures.make_build(), fixtures.make_data()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
settings = replace(build.run, draws=20000)
with Checkpoint(Path({folder!r}), checkpoint_facts({code!r}, build, settings, data)) as checkpoint:
    sample(module, build, replace(settings, draws=1000), data)  # compiled while there is room
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    checkpoint.every = 0.0
    draws = sample(module, build, settings, data, checkpoint=checkpoint, resume=True)
    print(min(draws.kept), max(draws.kept), checkpoint.refused, checkpoint.what_is_kept, sep="; ")
"""
    module = Path(module_of(full_module).__file__ or "")
    text = script.format(tests=str(Path(__file__).parent), module=str(module), folder=str(tmp_path), code=CODE)
    child = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)
    assert child.returncode == 0, child.stderr
    assert "20010; 20010; File too large; " in child.stdout
    assert "holds 110 draws and warmup of each chain: make room, then `recipe run --resume` goes on" in child.stdout
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.slow
def test_what_could_not_be_written_is_written_by_the_next_checkpoint(
    full_module: Emitted, build: Build, data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first write is refused, the later ones are not: the checkpoint then holds every draw."""
    from recipe_compiler.run import checkpoint as module

    refused: list[Path] = []

    def full(path: Path, *given: object) -> str:
        if not refused:
            refused.append(path)
            raise OSError(28, "No space left on device", str(path))
        return write_sealed(path, *given)

    monkeypatch.setattr(module, "write_sealed", full)
    settings = replace(build.run, draws=1500, thin=1000)
    with Checkpoint(tmp_path, checkpoint_facts(CODE, build, settings, data), every=0.0) as checkpoint:
        whole = sample(full_module, build, settings, data, checkpoint=checkpoint)
        assert checkpoint.refused is None
    assert len(refused) == 1
    same(run(full_module, build, data, tmp_path, settings, resume=True), whole)


def test_one_process_writes_at_a_time(full_module: Emitted, build: Build, data: Data, tmp_path: Path) -> None:
    with (tmp_path / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(RunError, match="found another run that writes there"):
            run(full_module, build, data, tmp_path, build.run)
    run(full_module, build, data, tmp_path, build.run)


def test_an_unfinished_run_is_not_thrown_away(full_module: Emitted, build: Build, data: Data, tmp_path: Path) -> None:
    settings = replace(build.run, draws=200_000, thin=1000)
    with Checkpoint(tmp_path, {}) as checkpoint, stopping(3):
        sample(full_module, build, settings, data, cores=2, checkpoint=checkpoint)
    with pytest.raises(RunError, match="continue it with --resume, or remove the folder"):
        run(full_module, build, data, tmp_path, build.run)


def test_there_must_be_something_to_continue(full_module: Emitted, build: Build, data: Data, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="found no checkpoint, expected one"):
        run(full_module, build, data, tmp_path, build.run, resume=True)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": 3}, "seed: found 1 in the checkpoint, expected 3"),
        ({"step_size": 0.01}, "step_size: found"),
        ({"thin": 7}, "thin: found"),
        ({"chains": 2}, "chains: found 4 in the checkpoint, expected 2"),
        ({"warmup": 11}, "warmup: found 10 in the checkpoint, expected 11"),
    ],
)
def test_another_run_is_refused_by_name(
    change: dict[str, int], says: str, full_module: Emitted, build: Build, data: Data, tmp_path: Path
) -> None:
    run(full_module, build, data, tmp_path, build.run)
    with pytest.raises(RunError, match=says):
        run(full_module, build, data, tmp_path, replace(build.run, draws=200, **change), resume=True)


def test_other_code_is_refused_by_what_differs(
    full_module: Emitted, build: Build, data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(full_module, build, data, tmp_path, build.run)
    changed = {**CODE, "run": CODE["run"].replace("y = 2", "y = 3"), "more": "def more():\n    pass"}
    monkeypatch.setattr(sys.modules[__name__], "CODE", changed)
    with pytest.raises(RunError) as caught:
        run(full_module, build, data, tmp_path, replace(build.run, draws=200), resume=True)
    assert "code run: found `y = 2` in the checkpoint, expected `y = 3`" in str(caught.value)
    assert "code more: found None in the checkpoint, expected `def more():`" in str(caught.value)
    assert "code step" not in str(caught.value)


def test_other_values_are_refused(full_module: Emitted, build: Build, data: Data, tmp_path: Path) -> None:
    run(full_module, build, data, tmp_path, build.run)
    limited = replace(build, values=(*build.values, ("limit", Value(((Fraction(385, 100),),)))))
    with pytest.raises(RunError, match=r"parameter limit: found .* in the checkpoint, expected 3.85"):
        run(full_module, limited, data, tmp_path, replace(build.run, draws=200), resume=True)


def test_other_data_are_refused(full_module: Emitted, build: Build, data: Data, tmp_path: Path) -> None:
    run(full_module, build, data, tmp_path, build.run)
    values = data.fields[0].values.copy()
    values[3, 1] = np.nextafter(values[3, 1], 9.0)
    other = Data((replace(data.fields[0], values=values),))
    with pytest.raises(RunError, match="data x: found"):
        run(full_module, build, other, tmp_path, replace(build.run, draws=200), resume=True)


@pytest.mark.slow
def test_every_damage_is_seen(full_module: Emitted, build: Build, data: Data, tmp_path: Path) -> None:
    run(full_module, build, data, tmp_path, build.run)
    rng = np.random.default_rng(5)
    more = replace(build.run, draws=200)
    for name in ("state", "draws-000000"):
        whole = (tmp_path / name).read_bytes()
        places = [*range(100), *rng.integers(0, len(whole), 40)]
        for place in places:
            damaged = bytearray(whole)
            damaged[place] ^= 1 << int(rng.integers(0, 8))
            (tmp_path / name).write_bytes(damaged)
            with pytest.raises(RunError, match="found"):
                run(full_module, build, data, tmp_path, more, resume=True)
        (tmp_path / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(RunError, match="found damaged"):
            run(full_module, build, data, tmp_path, more, resume=True)
        (tmp_path / name).write_bytes(whole)
    (tmp_path / "draws-000000").unlink()
    with pytest.raises(RunError, match="found no such file"):
        run(full_module, build, data, tmp_path, more, resume=True)


def test_draws_of_another_run_are_refused(full_module: Emitted, build: Build, data: Data, tmp_path: Path) -> None:
    run(full_module, build, data, tmp_path / "one", build.run)
    run(full_module, build, data, tmp_path / "other", replace(build.run, seed=9))
    (tmp_path / "one" / "draws-000000").write_bytes((tmp_path / "other" / "draws-000000").read_bytes())
    with pytest.raises(RunError, match="found other draws than those that `state` names"):
        run(full_module, build, data, tmp_path / "one", replace(build.run, draws=200), resume=True)


class Bomb:
    """Touches a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize("kind", ["pickle", "npz", "sealed"])
def test_nothing_is_unpickled(kind: str, full_module: Emitted, build: Build, data: Data, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    bomb = Bomb(canary)
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    state = folder / "state"
    if kind == "pickle":
        state.write_bytes(pickle.dumps(bomb))
    elif kind == "npz":
        with state.open("wb") as file:
            np.savez(file, allow_pickle=True, a=np.array([bomb], object))
    else:  # sealed as ours, with objects inside
        payload = io.BytesIO()
        np.savez(payload, allow_pickle=True, a=np.array([bomb], object))
        body = b'{"facts": {}, "done": [0]}\n' + payload.getvalue()
        digest = hashlib.sha256(body).hexdigest()
        state.write_bytes(f"{KIND} {VERSION}\n{digest}\n".encode() + body)
    with pytest.raises(RunError, match="found"):
        run(full_module, build, data, folder, build.run, resume=True)
    assert not canary.exists()


def test_another_version_is_refused_by_its_number(
    full_module: Emitted, build: Build, data: Data, tmp_path: Path
) -> None:
    run(full_module, build, data, tmp_path, build.run)
    text = (tmp_path / "state").read_bytes()
    (tmp_path / "state").write_bytes(text.replace(b"checkpoint 3\n", b"checkpoint 4\n", 1))
    with pytest.raises(RunError, match="found a checkpoint of version 4, expected 3"):
        run(full_module, build, data, tmp_path, replace(build.run, draws=200), resume=True)

"""Checkpoints: stopped and continued is the same, bit for bit, as never stopped; nothing wrong is ever continued."""

import fcntl
import hashlib
import io
import os
import pickle
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hand_module import limited, make_build, make_data
from stopping import stopping

from recipe_compiler.errors import RunError
from recipe_compiler.run import chains as chains_module
from recipe_compiler.run import checkpoint as checkpoint_module
from recipe_compiler.run.checkpoint import KIND, VERSION, Checkpoint, write_sealed
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.rerun import checkpoint_facts
from recipe_compiler.run.sample import Draws, sample

pytestmark = pytest.mark.usefixtures("interruptible")

CODE = {"run": "def run():\n    x = 1\n    y = 2", "step": "def step():\n    pass"}
"""What makes the draws, as a checkpoint is told: here, any text."""
BUILD, DATA = make_build(), make_data()


@pytest.fixture
def run(full_module: Emitted, tmp_path: Path) -> Callable[..., Draws]:
    """Return what runs the module with a checkpoint, by some changes of its settings, build, data, code or folder."""

    def run(
        *, resume: bool = False, module: Emitted = full_module, build: object = BUILD, data: Data = DATA,
        code: object = CODE, folder: Path = tmp_path, every: float = 30.0, **settings: object,
    ) -> Draws:  # fmt: skip
        asked = replace(BUILD.run, **settings)
        with Checkpoint(folder, checkpoint_facts(code, build, asked, data), every=every) as checkpoint:
            return sample(module, build, asked, data, cores=2, checkpoint=checkpoint, resume=resume)

    return run


def same(one: Draws, other: Draws) -> None:
    assert one.kept == other.kept
    for left, right in zip(one.arrays, other.arrays, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("variant", ["full", "without", "with"])
def test_a_stopped_run_goes_on_as_if_it_had_not_stopped(
    variant: str, modules: dict[str, Emitted], run: Callable[..., Draws], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 1e-9)
    own = {"module": modules[variant], "thin": 1}
    for turn in range(2):
        with stopping(10 + 15 * turn):
            part = run(**own, every=0.01, resume=turn > 0)
        assert part.stopped is signal.SIGTERM
        assert part.kept[0] < 45
    rest = run(**own, resume=True)
    assert rest.stopped is None
    same(rest, sample(modules[variant], BUILD, replace(BUILD.run, thin=1), DATA))


def test_a_finished_run_goes_on_to_more_draws(full_module: Emitted, run: Callable[..., Draws]) -> None:
    run()
    same(run(draws=80, resume=True), sample(full_module, BUILD, replace(BUILD.run, draws=80), DATA))
    with pytest.raises(RunError, match="found 85 draws and warmup, expected at most the 45 asked for"):
        run(resume=True)


def test_a_diverged_chain_stays_where_it_ended(full_module: Emitted, run: Callable[..., Draws]) -> None:
    own = {"build": limited(BUILD, "4.1"), "thin": 1, "seed": 2}
    first, rest = run(**own), run(**own, draws=80, resume=True)
    same(rest, sample(full_module, own["build"], replace(BUILD.run, draws=80, thin=1, seed=2), DATA))
    assert first.diverging == rest.diverging == (False, False, True, False)
    assert first.kept[2] == rest.kept[2] < 45


def test_what_could_not_be_written_ends_no_run_and_is_written_by_the_next_checkpoint(
    run: Callable[..., Draws], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[Path] = []

    def full(path: Path, *given: object) -> str:
        if not refused:
            refused.append(path)
            raise OSError(28, "No space left on device", str(path))
        return write_sealed(path, *given)

    monkeypatch.setattr(checkpoint_module, "write_sealed", full)
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 0.001)
    whole = run(draws=300, every=0.0)
    assert len(refused) == 1
    same(run(draws=300, resume=True), whole)


def test_a_full_disk_ends_no_run_and_leaves_the_checkpoint_before(
    run: Callable[..., Draws], full_module: Emitted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *_: object) -> str:
        raise OSError(27, "File too large", str(path))

    run()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr(checkpoint_module, "write_sealed", full)
    asked = replace(BUILD.run, draws=80)
    with Checkpoint(tmp_path, checkpoint_facts(CODE, BUILD, asked, DATA), every=0.0) as kept:
        found = sample(full_module, BUILD, asked, DATA, checkpoint=kept, resume=True)
        same(found, sample(full_module, BUILD, asked, DATA))
        assert kept.refused == "File too large"
        says = "holds 45 draws and warmup of each chain: make room, then `recipe run --resume` goes on"
        assert says in kept.what_is_kept
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_one_process_writes_at_a_time(run: Callable[..., Draws], tmp_path: Path) -> None:
    with (tmp_path / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(RunError, match="found another run that writes there"):
            run()
    run()


def test_an_unfinished_run_is_not_thrown_away_and_nothing_is_not_continued(run: Callable[..., Draws]) -> None:
    with pytest.raises(RunError, match="found no checkpoint, expected one"):
        run(resume=True)
    with stopping(3):
        run(draws=200_000)
    with pytest.raises(RunError, match="continue it with --resume, or remove the folder"):
        run()


OTHER = DATA.fields[0].values.copy()
OTHER[3, 1] = np.nextafter(OTHER[3, 1], 9.0)
CHANGED = {**CODE, "run": CODE["run"].replace("y = 2", "y = 3"), "more": "def more():\n    pass"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": 3}, "seed: found 1 there, expected 3"),
        ({"step_size": 0.01}, "step_size: found"),
        ({"thin": 7}, "thin: found"),
        ({"chains": 2}, "chains: found 4 there, expected 2"),
        ({"warmup": 11}, "warmup: found 5 there, expected 11"),
        ({"build": limited(BUILD, "3.85")}, r"parameter limit: found .* there, expected 3.85"),
        ({"data": Data((replace(DATA.fields[0], values=OTHER),))}, "data x: found"),
        ({"code": CHANGED}, r"code run: found \w{24} there, expected \w{24}"),
        ({"code": CHANGED}, r"code more: found None there, expected \w{24}"),
    ],
)
def test_another_run_is_refused_by_what_differs(
    change: dict[str, object], says: str, run: Callable[..., Draws]
) -> None:
    run()
    with pytest.raises(RunError, match=says) as caught:
        run(draws=80, resume=True, **change)
    assert "code step" not in str(caught.value)


def test_damage_is_seen_wherever_it_is(run: Callable[..., Draws], tmp_path: Path) -> None:
    run()
    rng = np.random.default_rng(5)
    for name in ("state", "draws-000000"):
        whole = (tmp_path / name).read_bytes()
        for place in [*range(0, 100, 9), *rng.integers(0, len(whole), 20)]:
            damaged = bytearray(whole)
            damaged[place] ^= 1 << int(rng.integers(0, 8))
            (tmp_path / name).write_bytes(damaged)
            with pytest.raises(RunError, match="found"):
                run(draws=80, resume=True)
        (tmp_path / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(RunError, match="found damaged"):
            run(draws=80, resume=True)
        (tmp_path / name).write_bytes(whole)
    run(folder=tmp_path / "other", seed=9)
    (tmp_path / "draws-000000").write_bytes((tmp_path / "other" / "draws-000000").read_bytes())
    with pytest.raises(RunError, match="found other draws than those that `state` names"):
        run(draws=80, resume=True)
    (tmp_path / "draws-000000").unlink()
    with pytest.raises(RunError, match="found no such file"):
        run(draws=80, resume=True)
    text = (tmp_path / "state").read_bytes()
    (tmp_path / "state").write_bytes(text.replace(b"checkpoint 5\n", b"checkpoint 6\n", 1))
    with pytest.raises(RunError, match="found a checkpoint of version 6, expected 5"):
        run(draws=80, resume=True)


class Bomb:
    """Makes a folder where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize("kind", ["pickle", "npz", "sealed"])
def test_nothing_is_unpickled(kind: str, run: Callable[..., Draws], tmp_path: Path) -> None:
    bomb, folder, payload = Bomb(tmp_path / "canary"), tmp_path / "checkpoint", io.BytesIO()
    folder.mkdir()
    np.savez(payload, allow_pickle=True, a=np.array([bomb], object))
    body = b'{"facts": {}, "done": [0]}\n' + payload.getvalue()
    sealed = f"{KIND} {VERSION}\n{hashlib.sha256(body).hexdigest()}\n".encode() + body  # as ours, with objects inside
    written = {"pickle": pickle.dumps(bomb), "npz": payload.getvalue(), "sealed": sealed}
    (folder / "state").write_bytes(written[kind])
    with pytest.raises(RunError, match="found"):
        run(folder=folder, resume=True)
    assert not bomb.path.exists()

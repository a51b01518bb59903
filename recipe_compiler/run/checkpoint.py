"""Checkpoints: a chain that is stopped and continued draws the same bits as one that never stopped.

A checkpoint is a folder: the draws in segments, each written once, and `state`, replaced as a whole, which holds all
that the next draws depend on and names the segments it stands on. Whatever happens while one is written, what `state`
names is there. Each file notices every change: kind and version, a digest, a header, npz. A process that writes holds
a lock, which the system takes from it when it ends, however it ends.
"""

import hashlib
import io
import json
import platform
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import RunError
from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.run.chain import Chain
from recipe_compiler.version import OWN, versions

KIND = "recipe_compiler checkpoint"
VERSION = 5
Facts = Mapping[str, Any]
Copies = dict[str, NDArray[Any]]


def held(path: Path) -> IO[bytes] | None:
    """Return the file at `path`, made where it is not there and locked until it is closed; None if another holds it.

    By `flock`, by `msvcrt.locking` on Windows. Raises OSError where the file cannot be opened, or not be locked.
    """
    file = path.open("ab")
    try:
        try:
            fcntl = import_module("fcntl")
        except ModuleNotFoundError:
            msvcrt = import_module("msvcrt")
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        if isinstance(error, BlockingIOError | PermissionError):  # the latter is what Windows says of a held one
            return None
        error.filename = str(path)
        raise
    return file


@dataclass(frozen=True, slots=True, eq=False)
class Sealed:
    """What a sealed file holds."""

    header: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    digest: str
    """SHA-256 of header and arrays."""


def write_sealed(path: Path, header: Mapping[str, object], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Write a sealed file, whole or not at all; return its digest."""
    payload = io.BytesIO()
    np.savez(payload, allow_pickle=False, **dict(arrays))
    body = json.dumps(header, sort_keys=True).encode("ascii") + b"\n" + payload.getvalue()
    digest = hashlib.sha256(body).hexdigest()
    write_whole(path, f"{KIND} {VERSION}\n{digest}\n".encode("ascii") + body)
    return digest


def read_sealed(path: Path) -> Sealed:
    """Return what a sealed file holds. No object is ever unpickled.

    Raises:
        RunError: it is no such file, of another version, or not as it was written.
        OSError: it cannot be read.
    """
    text = path.read_bytes()
    kind, _, rest = text.partition(b"\n")
    digest, _, body = rest.partition(b"\n")
    if not kind.startswith(KIND.encode("ascii")):
        raise RunError(f"{path}: found no checkpoint of this program, expected one: remove it, or run without --resume")
    if kind != f"{KIND} {VERSION}".encode("ascii"):
        version = kind[len(KIND) + 1 : len(KIND) + 20].decode("ascii", "replace")
        raise RunError(f"{path}: found a checkpoint of version {version}, expected {VERSION}: run without --resume")
    found = hashlib.sha256(body).hexdigest().encode("ascii")
    if digest != found:
        raise RunError(f"{path}: found damaged (its SHA-256 is {found[:12]!r}..., expected {digest[:12]!r}...)")
    header, _, payload = body.partition(b"\n")
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
            return Sealed(json.loads(header), {name: arrays[name] for name in arrays.files}, digest.decode("ascii"))
    except (ValueError, zipfile.BadZipFile) as error:
        raise RunError(f"{path}: found no plain arrays, expected a checkpoint: {error}") from error


@dataclass(slots=True, eq=False)
class Checkpoint:
    """A folder of checkpoints, held by this process alone while it is open.

    Args:
        folder: where it is; made where it is not.
        facts: what a run must share with the one it continues, by name.
        every: seconds between two checkpoints.
    """

    folder: Path
    facts: Facts
    every: float = 60.0
    notes: tuple[str, ...] = ()
    """What is different here from where the run was begun, and may change the last bits."""
    refused: str | None = None
    """Why the last checkpoint could not be written; None where it was."""
    _segments: list[str] = field(default_factory=list)
    """Digests of the segments so far."""
    _kept: list[int] = field(default_factory=list)
    """Draws of every chain that are in the segments."""
    _lock: IO[bytes] | None = None
    _last: float = field(default_factory=time.monotonic)

    def __enter__(self) -> Self:
        """Take the lock; raise RunError where another process has it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = held(self.folder / "lock")
        if self._lock is None:
            what = "found another run that writes there, expected none: wait for it, or choose another -o"
            raise RunError(f"{self.folder}: {what}")
        for left in self.folder.glob(".*"):  # what a killed process was writing
            left.unlink()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the lock back."""
        del kind, error, trace
        if self._lock is not None:
            self._lock.close()

    def begin(self) -> None:
        """Remove what an earlier run left, `state` first: no file is left that names one that is gone.

        Raises:
            RunError: it was not finished, so that it may still be wanted.
        """
        path = self.folder / "state"
        header = dict[str, Any](finished=True)
        with suppress(FileNotFoundError, RunError):  # damaged: nobody can go on from it
            header = read_sealed(path).header
        if not header["finished"]:
            what = f"found a run that was not finished ({min(header['done'])} draws and warmup of each chain)"
            raise RunError(f"{self.folder}: {what}: continue it with --resume, or remove the folder")
        path.unlink(missing_ok=True)
        for segment in self.folder.glob("draws-*"):
            segment.unlink()

    def restore(self, chains: Sequence[Chain]) -> None:
        """Put chains that stand at their start where the checkpoint has them, with their draws so far.

        Raises:
            RunError: there is no checkpoint, it is damaged, or it is of another run; says what differs.
        """
        path = self.folder / "state"
        if not path.is_file():
            raise RunError(f"{self.folder}: found no checkpoint, expected one: run without --resume")
        state = read_sealed(path)
        self._compare(path, state.header)
        done: list[int] = state.header["done"]
        most = _most(chains[0])
        if max(done) > most:
            raise RunError(f"{self.folder}: found {max(done)} draws and warmup, expected at most the {most} asked for")
        self._segments, self._kept = list(state.header["segments"]), [0] * len(chains)
        for number, digest in enumerate(self._segments):
            self._restore_draws(chains, self._segment(number), digest)
        for k, chain in enumerate(chains):
            _set_state(chain, state, k)
            chain.done, chain.diverging = done[k], state.header["diverging"][k]

    def is_due(self) -> bool:
        """Whether the last checkpoint is long ago."""
        return time.monotonic() - self._last >= self.every

    @property
    def what_is_kept(self) -> str:
        """What can be gone on with, in words."""
        if self.refused is None:
            return "all draws are in the checkpoint, `recipe run --resume` goes on with them"
        draws = min(self._kept, default=0)
        if not self._kept:
            return f"no checkpoint could be written ({self.refused}): make room and run it anew"
        return (
            f"the checkpoint, which could not be written again ({self.refused}), holds {draws} draws and "
            "warmup of each chain: make room, then `recipe run --resume` goes on from there"
        )

    def copy(self, chains: Sequence[Chain]) -> Callable[[], None]:
        """Copy chains that stand still; return what writes the copies.

        A disk that is full, or a file that the system refuses, ends no run: it is noted, the chains go on with all
        their draws in memory, and the next checkpoint writes what this one could not.
        """
        begins = self._kept or [0] * len(chains)
        done = [chain.done for chain in chains]
        draws = {
            f"{name} {k}": array[begins[k] : chain.done].copy()
            for k, chain in enumerate(chains)
            for name, array in chain.draws.items()
        }
        state = {f"{name} {k}": own.copy() for k, chain in enumerate(chains) for name, own in chain.state.items()}
        diverging = [chain.diverging for chain in chains]
        finished = all(chain.diverging or chain.done == _most(chain) for chain in chains)
        header = {"facts": dict(self.facts), "done": done, "diverging": diverging, "finished": finished}
        return lambda: self._write(draws, state, {"begins": begins, "ends": done}, header)

    def _write(self, draws: Copies, state: Copies, ends: dict[str, list[int]], header: dict[str, Any]) -> None:
        """Write copies, or note why that cannot be done now."""
        segments, self._last, self.refused = self._segments, time.monotonic(), None
        try:
            if any(array.shape[0] for array in draws.values()):
                segments = [*segments, write_sealed(self._segment(len(segments)), ends, draws)]
            write_sealed(self.folder / "state", {**_versions(), **header, "segments": segments}, state)
        except OSError as error:
            self.refused = error.strerror or str(error)
        else:
            self._segments, self._kept = segments, ends["ends"]

    def _segment(self, number: int) -> Path:
        return self.folder / f"draws-{number:06d}"

    def _compare(self, path: Path, header: Mapping[str, Any]) -> None:
        demand_same(header["facts"], self.facts, f"{path} is of another run: continue that, or run without --resume")
        self.notes = tuple(
            f"{name} was {header.get(name)}, is {value}: draws from here on may differ in their last bits"
            for name, value in _versions().items()
            if header.get(name) != value
        )

    def _restore_draws(self, chains: Sequence[Chain], path: Path, digest: str) -> None:
        if not path.is_file():
            raise RunError(f"{path}: found no such file, expected the draws that `state` names")
        segment = read_sealed(path)
        if segment.digest != digest:
            raise RunError(f"{path}: found other draws than those that `state` names")
        for k, chain in enumerate(chains):
            first, last = segment.header["begins"][k], segment.header["ends"][k]
            for name, array in chain.draws.items():
                array[first:last] = segment.arrays[f"{name} {k}"]
        self._kept = list(segment.header["ends"])


def demand_same(before: Facts, now: Facts, problem: str) -> None:
    """Raise RunError where draws would be others than those of an earlier run, with what differs."""
    names = [name for name in dict.fromkeys((*now, *before)) if before.get(name) != now.get(name)]
    if names:
        raise RunError(
            "\n".join((problem, *(f"{n}: found {before.get(n)} there, expected {now.get(n)}" for n in names)))
        )


def _versions() -> dict[str, str]:
    found = {"machine": platform.machine(), "python": platform.python_version()}
    return found | versions(("numpy", "numba", OWN))


def _most(chain: Chain) -> int:
    """Return how many draws a chain has room for."""
    return len(next(iter(chain.draws.values())))


def _set_state(chain: Chain, state: Sealed, k: int) -> None:
    for name, array in chain.state.items():
        found = state.arrays.get(f"{name} {k}")
        if found is None or found.shape != array.shape or found.dtype != array.dtype:
            raise RunError(f"found a checkpoint without the array {name} of shape {array.shape}, expected it")
        array[:] = found

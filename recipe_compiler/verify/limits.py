"""Deciding under a limit that holds: the work runs in a child process, which is ended when it takes too long.

One child does all jobs in order and sends each result as it is made. If one job does not end, the child is killed, that
job is unfinished, and a new child goes on with the next. What the jobs share is prepared first, under the same limit:
where that does not end, none of them is tried again.
"""

import multiprocessing
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic, TypeVar

from recipe_compiler.errors import DocumentError, Fault, ModelError
from recipe_compiler.verdict import Finding

CLAIM_SECONDS = 5.0
"""What one job may take, and what preparing all of them may."""

DOCUMENT_SECONDS = 30.0
"""What all jobs about one document may take together."""

MEMORY = 2**30
"""Address space, in bytes, that a child may take beyond what it starts with."""

SPARE_SECONDS = 60
"""Processor time a child may take beyond its limits before the system ends it, should nobody else."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A job without a result, and why."""

    reason: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """Prepares what the jobs share and returns them, `count` in number."""

    jobs: Callable[[], Sequence[Callable[[], T]]]
    count: int


@dataclass(frozen=True, slots=True)
class _Faulty:
    """The document turned out to mean nothing; errors do not travel between processes, their faults do."""

    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class _Ready:
    """What the jobs share is there."""


def run_all(
    work: Work[T], seconds: float = CLAIM_SECONDS, total: float = DOCUMENT_SECONDS
) -> tuple[T | Unfinished, ...]:
    """Return the result of every job, or why there is none. Leaves no process behind.

    Raises:
        ModelError: preparing the jobs found the document faulty.
    """
    found: list[T | Unfinished] = []
    end = time.monotonic() + total
    while len(found) < work.count:
        if time.monotonic() >= end:
            over = Unfinished(f"the {total:g} s for one document were over")
            return (*found, *([over] * (work.count - len(found))))
        ready, more = _one_child(work, len(found), seconds, end)
        found += more
        if not ready:
            found += [found[-1]] * (work.count - len(found))
    return tuple(found)


def timed(job: Callable[[], Finding]) -> Finding:
    """Return a finding with the seconds it took."""
    start = time.perf_counter()
    finding = job()
    return replace(finding, seconds=time.perf_counter() - start)


def _one_child(work: Work[T], first: int, seconds: float, end: float) -> tuple[bool, list[T | Unfinished]]:
    """Return whether the jobs could be prepared, and the results of one child, the last of them why it ended early."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = _child(work, first, sender, min(seconds * (work.count - first + 1), max(end - time.monotonic(), 0)))
    with warnings.catch_warnings():
        # Python warns of forks beside threads; the child computes and answers, and takes no lock of another thread.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    sender.close()
    ready, found = False, list[T | Unfinished]()
    try:
        while first + len(found) < work.count:
            limit = min(seconds, max(end - time.monotonic(), 0))
            if not receiver.poll(limit):
                found.append(Unfinished(f"did not end in {limit:.3g} s", limit))
                break
            message = receiver.recv()
            match message:
                case _Ready():
                    ready = True
                case _Faulty(faults):
                    raise ModelError(faults)
                case _:
                    found.append(message)
    except EOFError:
        found.append(Unfinished("its process ended without an answer (out of memory?)"))
    finally:
        receiver.close()
        if first + len(found) < work.count or child.is_alive():
            child.kill()
        child.join()
        child.close()
    return ready, found


def _child(work: Work[T], first: int, sender: Any, seconds: float) -> BaseProcess:
    """Return the child: a fork where there is one, which starts at once and inherits what was imported."""
    args = (work, first, sender, seconds)
    if "fork" in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("fork").Process(target=_work, args=args, daemon=True)
    return multiprocessing.get_context("spawn").Process(target=_work, args=args, daemon=True)


def _work(work: Work[T], first: int, sender: Any, seconds: float) -> None:
    """Do the jobs from `first` on and send every result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle: it ends the child
    _limit(seconds)
    try:
        todo = work.jobs()[first:]
    except DocumentError as error:
        sender.send(_Faulty(error.faults))
        return
    except Exception as error:
        sender.send(Unfinished(_named(error)))
        return
    sender.send(_Ready())
    for job in todo:
        try:
            sender.send(job())
        except Exception as error:
            sender.send(Unfinished(_named(error)))


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _limit(seconds: float) -> None:
    """Bound address space and processor time, where the system can: also a child whose parent is gone ends."""
    try:
        import resource

        now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return
    for what, limit in ((resource.RLIMIT_AS, now + MEMORY), (resource.RLIMIT_CPU, int(seconds) + SPARE_SECONDS)):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))

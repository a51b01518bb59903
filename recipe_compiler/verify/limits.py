"""Deciding under a limit that holds: the work runs in a child process, which is ended when it takes too long.

One child decides all claims in order and sends each finding as it is made. If one claim does not end, the child is
killed, that claim is undecided, and a new child goes on with the next.
"""

import multiprocessing
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from recipe_compiler.errors import DocumentError, Fault, ModelError
from recipe_compiler.verdict import Finding

CLAIM_SECONDS = 10.0
"""What one claim may take; the derivation counts with the first."""

MEMORY = 2**30
"""Address space, in bytes, that a child may take beyond what it starts with."""

SPARE_SECONDS = 60
"""Processor time a child may take beyond its limits before the system ends it, should nobody else."""

Job = Callable[[], Finding]
Jobs = Callable[[], Sequence[Job]]
"""Prepares what the claims share, and returns one job per claim."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A job without a finding, and why."""

    reason: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Faulty:
    """The document turned out to mean nothing; errors do not travel between processes, their faults do."""

    faults: tuple[Fault, ...]


def run_all(jobs: Jobs, count: int, seconds: float = CLAIM_SECONDS) -> tuple[Finding | Unfinished, ...]:
    """Return the finding of every job, or why there is none. Leaves no process behind.

    Raises:
        ModelError: preparing the jobs found the document faulty.
    """
    found: list[Finding | Unfinished] = []
    while len(found) < count:
        found += _one_child(jobs, len(found), count, seconds)
    return tuple(found)


def _one_child(jobs: Jobs, first: int, count: int, seconds: float) -> list[Finding | Unfinished]:
    """Return the findings of one child, the last of them why it ended early."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = _child(jobs, first, sender, seconds * (count - first))
    with warnings.catch_warnings():
        # Python warns of forks beside threads; the child computes and answers, and takes no lock of another thread.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    sender.close()
    found: list[Finding | Unfinished] = []
    try:
        while first + len(found) < count:
            if not receiver.poll(seconds):
                found.append(Unfinished(f"did not end in {seconds:g} s", seconds))
                break
            message = receiver.recv()
            if isinstance(message, _Faulty):
                raise ModelError(message.faults)
            found.append(message)
    except EOFError:
        found.append(Unfinished("its process ended without an answer (out of memory?)"))
    finally:
        receiver.close()
        if first + len(found) < count or child.is_alive():
            child.kill()
        child.join()
        child.close()
    return found


def _child(jobs: Jobs, first: int, sender: Any, seconds: float) -> BaseProcess:
    """Return the child: a fork where there is one, which starts at once and inherits what was imported."""
    args = (jobs, first, sender, seconds)
    if "fork" in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("fork").Process(target=_work, args=args, daemon=True)
    return multiprocessing.get_context("spawn").Process(target=_work, args=args, daemon=True)


def _work(jobs: Jobs, first: int, sender: Any, seconds: float) -> None:
    """Decide the claims from `first` on and send every finding."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle: it ends the child
    _limit(seconds)
    try:
        todo = jobs()[first:]
    except DocumentError as error:
        sender.send(_Faulty(error.faults))
        return
    except Exception as error:
        sender.send(Unfinished(_named(error)))
        return
    for job in todo:
        try:
            sender.send(timed(job))
        except Exception as error:
            sender.send(Unfinished(_named(error)))


def timed(job: Job) -> Finding:
    """Return a finding with the seconds it took."""
    start = time.perf_counter()
    finding = job()
    return replace(finding, seconds=time.perf_counter() - start)


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

"""Deciding under a limit that holds: the work runs in a child process, which is ended when it takes too long.

One child decides all claims in order and sends each finding as it is made. If one claim does not end, the child is
killed, that claim is undecided, and a new child goes on with the next.
"""

import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from typing import Any

from recipe_compiler.errors import DocumentError, Fault, ModelError
from recipe_compiler.verdict import Finding

CLAIM_SECONDS = 20.0
"""What one claim may take; the derivation counts with the first."""

MEMORY = 4 * 2**30
"""Address space, in bytes, that a child may take beyond what it starts with."""

Job = Callable[[], Finding]
Jobs = Callable[[], Sequence[Job]]
"""Prepares what the claims share, and returns one job per claim."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A job without a finding, and why."""

    reason: str


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
    child = _child(jobs, first, sender)
    child.start()
    sender.close()
    found: list[Finding | Unfinished] = []
    try:
        while first + len(found) < count:
            if not receiver.poll(seconds):
                found.append(Unfinished(f"did not end in {seconds:g} s"))
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


def _child(jobs: Jobs, first: int, sender: Any) -> BaseProcess:
    """Return the child: a fork where there is one, which starts at once and inherits what was imported."""
    if "fork" in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("fork").Process(target=_work, args=(jobs, first, sender), daemon=True)
    return multiprocessing.get_context("spawn").Process(target=_work, args=(jobs, first, sender), daemon=True)


def _work(jobs: Jobs, first: int, sender: Any) -> None:
    """Decide the claims from `first` on and send every finding."""
    _limit_memory()
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


def _limit_memory() -> None:
    """Bound the address space, where the system can."""
    try:
        import resource
    except ImportError:
        return
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = now + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))

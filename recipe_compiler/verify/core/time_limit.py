"""Deciding under a limit that holds: the work runs in a child process, which is ended when it takes too long.

One child does all jobs in order and sends each result as it is made. If one job does not end, the system ends the
child, that job is unfinished, and a new child continues with the next. What the jobs share is prepared first, under the
same limit: where that does not end, none of them is tried again. Seconds are processor time: a busy machine changes
when an answer comes, and not which.
"""

import gc
import multiprocessing
import os
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic, TypeVar

from recipe_compiler import limits
from recipe_compiler.errors import CompilerError, DocumentError, ModelError, RecipeError
from recipe_compiler.verdict import OWN_FAULT, Finding
from recipe_compiler.verify.core import processes
from recipe_compiler.verify.core.processes import SPARE_SECONDS, Watch, die_with_parent, limit_process

OWN_FILES = str(Path(__file__).parents[2])
"""The folder of this program: a fault is reported at the last place inside it."""

_HAS_TIMER = hasattr(signal, "setitimer")
"""Whether the system counts processor time for us; where not, the limits are of the wall clock."""

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


class _Message(Enum):
    """A message of a child, sent with a result and its processor time so far."""

    READY = "what the jobs share is there"
    FAULTY = "the document means nothing: errors do not travel between processes, their faults do"
    RESULT = "the next result"


def run_all(
    work: Work[T], seconds: float = limits.CLAIM_SECONDS, total: float = limits.DOCUMENT_SECONDS
) -> tuple[T | Unfinished, ...]:
    """Return the result of every job, or why there is none. Leaves no process behind.

    Args:
        work: prepares the jobs, in a child process.
        seconds: processor time for each job, and for preparing all.
        total: processor time for all together; jobs that it does not reach are `Unfinished`.

    Raises:
        ModelError: preparing the jobs showed the document to be faulty.
    """
    found: list[T | Unfinished] = []
    left = total
    while len(found) < work.count:
        if left <= 0:
            over = Unfinished(f"the {total:g} s for one document were over")
            return (*found, *([over] * (work.count - len(found))))
        results, is_ready, spent = _run_child(work, len(found), seconds, left)
        found += results
        left -= spent
        if not is_ready:
            found += [found[-1]] * (work.count - len(found))
    return tuple(found)


def time_job(job: Callable[[], Finding]) -> Finding:
    """Return a finding with the processor time it took."""
    start = time.process_time()
    finding = job()
    return replace(finding, seconds=time.process_time() - start)


def _run_child(work: Work[T], first: int, seconds: float, left: float) -> tuple[list[T | Unfinished], bool, float]:
    """Return the results of the jobs from `first` on by one child, whether they could be prepared, and its time.

    The last result says why it ended early.
    """
    receiver, sender = multiprocessing.Pipe(duplex=False)
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    args = (work, first, sender, seconds, left, os.getpid())
    context: Any = multiprocessing.get_context(method)
    child = context.Process(target=_run_in_child, args=args, daemon=True)
    with warnings.catch_warnings():
        # Python warns of forks beside threads; the child computes and answers, and takes no lock of another thread.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    sender.close()
    results, is_ready, spent = list[T | Unfinished](), False, 0.0
    try:
        while first + len(results) < work.count:
            limit = min(seconds, left - spent)
            says, found, taken = _receive(receiver, child, limit)
            if says is _Message.FAULTY:
                raise ModelError(found)
            spent = spent + limit if says is None else taken
            is_ready |= says is _Message.READY
            results += [] if says is _Message.READY else [found]
            if says is None:
                break
    finally:
        receiver.close()
        if first + len(results) < work.count or child.is_alive():
            child.kill()
        child.join()
        child.close()
    return results, is_ready, spent


def _receive(receiver: Any, child: BaseProcess, limit: float) -> tuple[_Message | None, Any, float]:
    """Return the next message of a child; where there is none, an `Unfinished` that says why."""
    try:
        if _wait_for_message(receiver, child, limit):
            return receiver.recv()
        return None, Unfinished(f"did not end: its process stood still for {processes.STILL:g} s"), limit
    except (EOFError, OSError):  # the end of what it said, or in the middle of it
        child.join()
    if _HAS_TIMER and child.exitcode in {-signal.SIGPROF, -signal.SIGXCPU}:
        return None, Unfinished(f"did not end in {limit:.3g} s", limit), limit
    return None, Unfinished("its process ended without an answer (out of memory?)"), limit


def _wait_for_message(receiver: Any, child: BaseProcess, limit: float) -> bool:
    """Wait for a child that works; return whether it has sent a message, or has ended."""
    if not _HAS_TIMER:
        return receiver.poll(limit)
    watch = Watch(child.pid or 0)
    while not receiver.poll(processes.STILL):
        if watch.is_asleep():
            return False
    return True


def _run_in_child(work: Work[T], first: int, sender: Any, seconds: float, left: float, parent: int) -> None:
    """Do the jobs from `first` on and send every result. Some run a user's code, which may do anything."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle: it ends the child
    gc.freeze()  # what it inherited is not its to give back, and looking it over would copy it
    die_with_parent(parent)
    limit_process(limits.MEMORY, left + SPARE_SECONDS)
    _set_timer(min(seconds, left))
    try:
        for says, found in _run_jobs(work, first, seconds, left):
            sender.send((says, found, time.process_time()))
    except OSError:  # the way to the parent is closed: there is nobody to tell
        os._exit(1)


def _run_jobs(work: Work[T], first: int, seconds: float, left: float) -> Iterator[tuple[_Message, Any]]:
    try:
        todo = work.jobs()[first:]
    except DocumentError as error:
        yield _Message.FAULTY, error.faults
        return
    except BaseException as error:  # an interrupt too: none but the work's own comes here
        yield _Message.RESULT, Unfinished(_explain_error(error))
        return
    yield _Message.READY, None
    for job in todo:
        _set_timer(min(seconds, left - time.process_time()))
        yield _Message.RESULT, _run_job(job)


def _run_job(job: Callable[[], T]) -> T | Unfinished:
    try:
        return job()
    except BaseException as error:  # the timer's, or any other: a claim that does not end is undecided
        return Unfinished(_explain_error(error))


def _set_timer(seconds: float) -> None:
    """Have the system end this process after some processor time, even inside one call of a library."""
    if _HAS_TIMER:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-6))


def _explain_error(error: BaseException) -> str:
    """Return why a job ended: on purpose, by its limits, or by a fault of ours, with its place."""
    if isinstance(error, RecursionError):
        return "something in it is nested too deeply, or contains itself"
    if isinstance(error, RecipeError) and not isinstance(error, CompilerError):
        return str(error)
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return said if isinstance(error, (MemoryError, KeyboardInterrupt, SystemExit)) else describe_own_fault(said, error)


def describe_own_fault(said: str, error: BaseException) -> str:
    """Return the reason that an exception leaves which nothing raises on purpose: what it is, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    last = next((f for f in reversed(frames) if f.filename.startswith(OWN_FILES)), frames[-1] if frames else None)
    where = "" if last is None else f", raised at {Path(last.filename).name}:{last.lineno}, in {last.name}"
    return f"{OWN_FAULT}: {' '.join(said.split())}{where}; please report it, with the document"

"""Deciding under a limit that holds: the work runs in a child process, which is ended when it takes too long.

One child does all jobs in order and sends each result as it is made. If one job does not end, the system ends the
child, that job is unfinished, and a new child goes on with the next. What the jobs share is prepared first, under the
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic, TypeVar

from recipe_compiler.errors import CompilerError, DocumentError, Fault, ModelError, RecipeError
from recipe_compiler.verdict import OWN_FAULT, Finding
from recipe_compiler.verify.core import processes
from recipe_compiler.verify.core.processes import SPARE_SECONDS, Watch, bound, end_with

CLAIM_SECONDS = 5.0
"""Processor time that one job may take, and preparing all of them."""

DOCUMENT_SECONDS = 30.0
"""Processor time that all jobs about one document may take together."""

MEMORY = 2**30
"""Address space, in bytes, that a child may take beyond what it starts with."""

OWN_FILES = str(Path(__file__).parents[2])
"""Where the files of this program are: a fault is told by the last place among them."""

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


@dataclass(frozen=True, slots=True)
class _Faulty:
    """The document turned out to mean nothing; errors do not travel between processes, their faults do."""

    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class _Ready:
    """What the jobs share is there."""


@dataclass(frozen=True, slots=True)
class _Answer(Generic[T]):
    """A result, and the processor time that its child has taken so far."""

    result: T | Unfinished
    spent: float


@dataclass(slots=True)
class _Found(Generic[T]):
    """What one child found: whether the jobs could be prepared, their results, the last of them why it ended early."""

    results: list[T | Unfinished]
    ready: bool = False
    spent: float = 0.0
    """Processor time it is known to have taken."""


def run_all(
    work: Work[T], seconds: float = CLAIM_SECONDS, total: float = DOCUMENT_SECONDS
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
        of_child = _one_child(work, len(found), seconds, left)
        found += of_child.results
        left -= of_child.spent
        if not of_child.ready:
            found += [found[-1]] * (work.count - len(found))
    return tuple(found)


def timed(job: Callable[[], Finding]) -> Finding:
    """Return a finding with the processor time it took."""
    start = time.process_time()
    finding = job()
    return replace(finding, seconds=time.process_time() - start)


def _one_child(work: Work[T], first: int, seconds: float, left: float) -> _Found[T]:
    """Return what one child makes of the jobs from `first` on in the time that is left."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = _child(work, first, sender, seconds, left)
    with warnings.catch_warnings():
        # Python warns of forks beside threads; the child computes and answers, and takes no lock of another thread.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    sender.close()
    found = _Found[T]([])
    try:
        while first + len(found.results) < work.count and _answers(receiver, child, found, seconds, left):
            pass
    finally:
        receiver.close()
        if first + len(found.results) < work.count or child.is_alive():
            child.kill()
        child.join()
        child.close()
    return found


def _answers(receiver: Any, child: BaseProcess, found: _Found[T], seconds: float, left: float) -> bool:
    """Take the next answer of a child; return whether there may be another."""
    limit = min(seconds, left - found.spent)
    try:
        message = receiver.recv() if _speaks(receiver, child, limit) else None
    except (EOFError, OSError):  # the end of what it said, or in the middle of it
        child.join()
        found.results.append(_ended(child, limit))
        found.spent += limit
        return False
    match message:
        case None:
            found.results.append(Unfinished(f"did not end: its process stood still for {processes.STILL:g} s"))
            found.spent += limit
        case _Ready():
            found.ready = True
        case _Faulty(faults):
            raise ModelError(faults)
        case _:
            found.results.append(message.result)
            found.spent = message.spent
    return message is not None


def _speaks(receiver: Any, child: BaseProcess, limit: float) -> bool:
    """Wait for a child that works; return whether it has something to say, or has ended."""
    if not _HAS_TIMER:
        return receiver.poll(limit)
    watch = Watch(child.pid or 0)
    while not receiver.poll(processes.STILL):
        if watch.sleeps():
            return False
    return True


def _ended(child: BaseProcess, limit: float) -> Unfinished:
    """Return why a child ended without an answer."""
    if _HAS_TIMER and child.exitcode in {-signal.SIGPROF, -signal.SIGXCPU}:
        return Unfinished(f"did not end in {limit:.3g} s", limit)
    return Unfinished("its process ended without an answer (out of memory?)")


def _child(work: Work[T], first: int, sender: Any, seconds: float, left: float) -> BaseProcess:
    """Return the child: a fork where there is one, which starts at once and inherits what was imported."""
    args = (work, first, sender, seconds, left, os.getpid())
    if "fork" in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("fork").Process(target=_work, args=args, daemon=True)
    return multiprocessing.get_context("spawn").Process(target=_work, args=args, daemon=True)


def _work(work: Work[T], first: int, sender: Any, seconds: float, left: float, parent: int) -> None:
    """Do the jobs from `first` on and send every result. Some run a user's code, which may do anything."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle: it ends the child
    gc.freeze()  # what it inherited is not its to give back, and looking it over would copy it
    end_with(parent)
    bound(MEMORY, left + SPARE_SECONDS)
    _set_timer(min(seconds, left))
    try:
        _answer(work, first, sender, seconds, left)
    except OSError:  # the way to the parent is closed: there is nobody to tell
        os._exit(1)


def _answer(work: Work[T], first: int, sender: Any, seconds: float, left: float) -> None:
    try:
        todo = work.jobs()[first:]
    except DocumentError as error:
        sender.send(_Faulty(error.faults))
        return
    except BaseException as error:  # an interrupt too: none but the work's own comes here
        sender.send(_Answer(Unfinished(_named(error)), time.process_time()))
        return
    sender.send(_Ready())
    for job in todo:
        _set_timer(min(seconds, left - time.process_time()))
        try:
            sender.send(_Answer(job(), time.process_time()))
        except BaseException as error:  # the timer's, or any other: a claim that does not end is undecided
            sender.send(_Answer(Unfinished(_named(error)), time.process_time()))


def _set_timer(seconds: float) -> None:
    """Have the system end this process when it has computed so long, be it inside one call of a library."""
    if _HAS_TIMER:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-6))


def _named(error: BaseException) -> str:
    """Return why a job ended: on purpose, by its limits, or by a fault of ours, with its place."""
    if isinstance(error, RecursionError):
        return "something in it is nested too deeply, or contains itself"
    if isinstance(error, RecipeError) and not isinstance(error, CompilerError):
        return str(error)
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return said if isinstance(error, (MemoryError, KeyboardInterrupt, SystemExit)) else own_fault(said, error)


def own_fault(said: str, error: BaseException) -> str:
    """Return the reason that an exception leaves which nothing raises on purpose: what it is, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    last = next((f for f in reversed(frames) if f.filename.startswith(OWN_FILES)), frames[-1] if frames else None)
    where = "" if last is None else f", raised at {Path(last.filename).name}:{last.lineno}, in {last.name}"
    return f"{OWN_FAULT}: {' '.join(said.split())}{where}; please report it, with the document"

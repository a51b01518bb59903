"""Limits hold: what does not end is undecided, the rest is decided, and no process is left."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

import psutil
import pytest
import sympy

from recipe_compiler.errors import CompilerError, Fault, ModelError, Place
from recipe_compiler.verdict import OWN_FAULT, Finding, Proved
from recipe_compiler.verify.core import processes
from recipe_compiler.verify.core.time_limit import Unfinished, Work, run_all, time_job


def quick(name: str) -> Finding:
    return Finding(name, name, True, Proved("test"))


def endless() -> Finding:
    deadline = time.process_time() + 60
    while time.process_time() < deadline:
        pass
    return quick("endless")


def asleep() -> Finding:
    time.sleep(600)
    return quick("asleep")


def computing(seconds: float) -> Finding:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return quick("computing")


def dying() -> Finding:
    os._exit(9)


def greedy() -> Finding:
    return quick(str(len(bytearray(64 * 2**30))))


def bottomless() -> Finding:
    return bottomless()


def broken() -> Finding:
    raise ArithmeticError("too large")


def hung_in_one_call() -> Finding:
    """Loop inside one call of SymPy that no signal handler of Python interrupts half-way: a huge integer power."""
    return quick(str(sympy.factorint(2**1277 - 1)))


def misled() -> Finding:
    raise CompilerError("a block of no shape")


def refusing() -> Finding:
    raise ModelError([Fault(Place("a.yaml"), "H", "found no energy, expected one")])


Job = Callable[[], Finding]


def jobs(*todo: Job) -> Sequence[Job]:
    return todo


def of_children() -> float:
    """Return the processor time of the children that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def outcomes(*todo: Job, seconds: float = 5.0, total: float = 60.0) -> list[str]:
    found = run_all(Work(partial(jobs, *todo), len(todo)), seconds, total)
    return [f.reason if isinstance(f, Unfinished) else f.id for f in found]


SAID = [
    (partial(quick, "a"), "a"),
    pytest.param(endless, "did not end in 0.5 s", marks=pytest.mark.slow),
    (dying, ".*ended without an answer.*"),
    (greedy, "MemoryError"),
    (bottomless, "something in it is nested too deeply, or contains itself"),
    (
        broken,
        f"{OWN_FAULT}: ArithmeticError: too large, raised at time_limit.py:.*; please report it, with the document",
    ),
    (misled, f"{OWN_FAULT}: CompilerError: a block of no shape.*"),
    (refusing, f"(?!.*{OWN_FAULT}).*found no energy.*"),
]


@pytest.mark.parametrize(("todo", "said"), SAID)
def test_what_does_not_end_as_it_should_is_said_and_the_rest_goes_on(todo: Job, said: str) -> None:
    first, found, last = outcomes(
        partial(quick, "a"), todo, partial(quick, "b"), seconds=0.5 if todo is endless else 5.0
    )
    assert (first, last) == ("a", "b")
    assert re.fullmatch(said, found, re.DOTALL), found
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_a_claim_that_hangs_inside_one_call_of_sympy_ends_within_its_budget() -> None:
    mine = psutil.Process()
    before = set(mine.children(recursive=True))  # what other tests keep warm
    start = of_children()
    assert outcomes(hung_in_one_call, seconds=2.0) == ["did not end in 2 s"]
    assert of_children() - start < 1.2 * 2.0
    assert set(mine.children(recursive=True)) <= before


@pytest.mark.slow
def test_what_cannot_be_prepared_is_not_tried_again() -> None:
    def prepare() -> Sequence[Job]:
        endless()
        return [partial(quick, name) for name in "abc"]

    start = of_children()
    found = run_all(Work(prepare, 3), 2.0)
    assert [f.reason for f in found if isinstance(f, Unfinished)] == ["did not end in 2 s"] * 3
    assert of_children() - start < 1.2 * 2.0


@pytest.mark.slow
def test_a_document_has_a_limit_of_its_own() -> None:
    start = of_children()
    found = outcomes(partial(quick, "a"), *([endless] * 20), seconds=1.0, total=2.5)
    assert of_children() - start < 1.2 * 2.5
    assert found[:2] == ["a", "did not end in 1 s"]
    assert found[-1] == "the 2.5 s for one document were over"


@pytest.mark.slow
@pytest.mark.usefixtures("busy_machine")
def test_other_programs_do_not_use_up_the_limit() -> None:
    """A second of processor time takes several by the clock."""
    assert outcomes(partial(computing, 1.0), seconds=1.5) == ["computing"]


def test_what_sleeps_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "STILL", 1.0)
    assert outcomes(asleep, partial(quick, "b")) == ["did not end: its process stood still for 1 s", "b"]
    assert multiprocessing.active_children() == []


def starved(cpu: int) -> None:
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    endless()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process says what it waits for")
def test_what_is_given_no_processor_does_not_sleep() -> None:
    """It is idle class, on the processor of one that takes all: of a second it gets a few milliseconds."""
    fork = multiprocessing.get_context("fork")
    cpu = min(os.sched_getaffinity(0))
    busy = fork.Process(target=lambda: (os.sched_setaffinity(0, {cpu}), endless()), daemon=True)
    waiting = fork.Process(target=starved, args=(cpu,), daemon=True)
    busy.start()
    waiting.start()
    try:
        watch = processes.Watch(waiting.pid or 0)
        for _ in range(3):
            time.sleep(1.0)
            assert not watch.is_asleep()
    finally:
        for one in (busy, waiting):
            one.kill()
            one.join()


PARENT = """
import sys
from recipe_compiler.verify.core import processes
from recipe_compiler.verify.core.time_limit import Work, run_all

def endless():
    print(flush=True)
    while True:
        pass

run_all(Work(lambda: [endless], 1), 60.0, 60.0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a child ends at its limits")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_ends_with_its_parent(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline()  # of the child: it works
        (child,) = psutil.Process(parent.pid).children()
        parent.send_signal(number)
        assert parent.wait(60) == -number
        assert child.wait(30) is None  # of another's child only that it ended is known; its limit is twice as far


def test_a_faulty_document_is_one() -> None:
    fault = Fault(Place("spec.yaml", 3), "H", "found nothing, expected something")

    def prepare() -> Sequence[Job]:
        raise ModelError([fault])

    with pytest.raises(ModelError) as caught:
        run_all(Work(prepare, 2))
    assert caught.value.faults == (fault,)
    assert multiprocessing.active_children() == []


def test_seconds_are_measured() -> None:
    (found,) = run_all(Work(partial(jobs, partial(time_job, partial(computing, 0.1))), 1))
    assert isinstance(found, Finding)
    assert 0.1 <= found.seconds < 1.0

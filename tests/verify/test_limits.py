"""Limits hold: what does not end is undecided, the rest is decided, and no process is left."""

import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from functools import partial

import psutil
import pytest
import sympy

from recipe_compiler.errors import Fault, ModelError, Place
from recipe_compiler.verdict import Finding, Proved
from recipe_compiler.verify.limits import Unfinished, Work, run_all, timed


def quick(name: str) -> Finding:
    return Finding(name, name, True, Proved("test"))


def endless() -> Finding:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        pass
    return quick("endless")


def dying() -> Finding:
    os._exit(9)


def greedy() -> Finding:
    return quick(str(len(bytearray(64 * 2**30))))


def broken() -> Finding:
    raise RecursionError("too deep")


def hung_in_one_call() -> Finding:
    """Loop inside one call of SymPy that no signal handler of Python interrupts half-way: a huge integer power."""
    return quick(str(sympy.factorint(2**1277 - 1)))


Job = Callable[[], Finding]


def jobs(*todo: Job) -> Sequence[Job]:
    return todo


def outcomes(*todo: Job, seconds: float = 5.0, total: float = 60.0) -> list[str]:
    found = run_all(Work(partial(jobs, *todo), len(todo)), seconds, total)
    return [f.reason if isinstance(f, Unfinished) else f.id for f in found]


def test_findings_come_in_order() -> None:
    assert outcomes(partial(quick, "a"), partial(quick, "b")) == ["a", "b"]


def test_what_does_not_end_is_stopped_and_the_rest_goes_on() -> None:
    start = time.monotonic()
    assert outcomes(partial(quick, "a"), endless, partial(quick, "b"), seconds=0.5) == [
        "a",
        "did not end in 0.5 s",
        "b",
    ]
    assert time.monotonic() - start < 10
    assert multiprocessing.active_children() == []


def test_a_claim_that_hangs_inside_one_call_of_sympy_ends_within_its_budget() -> None:
    mine = psutil.Process()
    start = time.monotonic()
    assert outcomes(hung_in_one_call, seconds=2.0) == ["did not end in 2 s"]
    assert time.monotonic() - start < 1.2 * 2.0
    assert mine.children(recursive=True) == []


def test_what_cannot_be_prepared_is_not_tried_again() -> None:
    def prepare() -> Sequence[Job]:
        endless()
        return [partial(quick, name) for name in "abc"]

    start = time.monotonic()
    found = run_all(Work(prepare, 3), 2.0)
    assert [f.reason for f in found if isinstance(f, Unfinished)] == ["did not end in 2 s"] * 3
    assert time.monotonic() - start < 1.2 * 2.0


def test_a_document_has_a_limit_of_its_own() -> None:
    start = time.monotonic()
    found = outcomes(partial(quick, "a"), *([endless] * 20), seconds=1.0, total=2.5)
    assert time.monotonic() - start < 1.2 * 2.5
    assert found[:2] == ["a", "did not end in 1 s"]
    assert found[-1] == "the 2.5 s for one document were over"


def test_a_child_that_dies_is_noticed() -> None:
    found = outcomes(dying, partial(quick, "b"))
    assert "ended without an answer" in found[0]
    assert found[1] == "b"


def test_memory_is_bounded() -> None:
    assert outcomes(greedy, partial(quick, "b")) == ["MemoryError", "b"]


def test_an_exception_is_named() -> None:
    assert outcomes(broken, partial(quick, "b")) == ["RecursionError: too deep", "b"]


def test_a_faulty_document_is_one() -> None:
    fault = Fault(Place("spec.yaml", 3), "H", "found nothing, expected something")

    def prepare() -> Sequence[Job]:
        raise ModelError([fault])

    with pytest.raises(ModelError) as caught:
        run_all(Work(prepare, 2))
    assert caught.value.faults == (fault,)
    assert multiprocessing.active_children() == []


def test_seconds_are_measured() -> None:
    (found,) = run_all(Work(partial(jobs, partial(timed, partial(quick, "a"))), 1))
    assert isinstance(found, Finding)
    assert found.seconds > 0

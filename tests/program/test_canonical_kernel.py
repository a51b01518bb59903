"""Each invariant of a Kernel is found broken where it is; all tests ask for it after every pass (`conftest.py`)."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from loaders import load_sized

from recipe_compiler import pipeline
from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import renames
from recipe_compiler.program.canonical_kernel import INVARIANTS, check_kernel
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Constant,
    For,
    ForBatch,
    ForBlocks,
    Increment,
    Invoke,
    Ref,
    Statement,
    View,
)
from recipe_compiler.program.lower import lower
from recipe_compiler.program.program import Program
from recipe_compiler.program.rename import rename
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

BUILDS = Path(__file__).parents[2] / "specs/builds"
GAUSSIAN, LOGISTIC, SCHOOLS = "sghmc_gaussian", "sghmc_logistic", "sghmc_eight_schools"
ZERO = Constant(Fraction(0))


@cache
def program_of(name: str) -> Program:
    """Return the Program of a build, for every size."""
    build = load_sized(BUILDS / f"{name}.yaml")
    program = discretise(build, derive(bind(build), stated=True))
    return rename(program, renames(program))


def step(kernel: Kernel, *more: Statement) -> Kernel:
    return replace(kernel, step=replace(kernel.step, body=(*kernel.step.body, *more)))


def without(kernel: Kernel, kind: type[Statement]) -> Kernel:
    body = tuple(s for s in kernel.step.body if not isinstance(s, kind))
    return replace(kernel, step=replace(kernel.step, body=body))


def short_call(kernel: Kernel) -> Kernel:
    body = tuple(replace(s, arguments=s.arguments[:-1]) if isinstance(s, Invoke) else s for s in kernel.step.body)
    return replace(kernel, step=replace(kernel.step, body=body))


MUTANTS: dict[str, tuple[int, str, Callable[[Kernel], Kernel]]] = {
    "work under the name of an input": (
        1, GAUSSIAN, lambda k: replace(k, step=replace(k.step, work=(*k.step.work, Array("theta", ("d",))))),
    ),
    "a name that nothing assigns": (2, GAUSSIAN, lambda k: step(k, Assign(Ref("x"), Ref("y")))),
    "a sum before its start": (2, GAUSSIAN, lambda k: step(k, Increment(Ref("x"), ZERO))),
    "a scalar of a loop that has ended": (
        2, GAUSSIAN, lambda k: step(k, For("q", "d", (Assign(Ref("x"), ZERO),)), Assign(Ref("y"), Ref("x"))),
    ),
    "a view of nothing": (2, GAUSSIAN, lambda k: step(k, View("w", "nothing", 0, (2,)))),
    "a minibatch that is not given": (
        2, GAUSSIAN, lambda k: step(k, ForBatch("row", "place", (Assign(Ref("x"), ZERO),))),
    ),
    "the old state written": (
        3, GAUSSIAN, lambda k: step(k, For("q", "d", (Assign(Ref("theta", ("q",)), ZERO),))),
    ),
    "a view of the old state written": (
        3, SCHOOLS, lambda k: step(k, View("w", "theta", 0, (2,)), Assign(Ref("w", (0,)), ZERO)),
    ),
    "a new state that is not written": (4, GAUSSIAN, lambda k: without(k, For)),
    "an element with a position too many": (
        5, GAUSSIAN, lambda k: step(k, For("q", "d", (Assign(Ref("theta_new", ("q", "q")), ZERO),))),
    ),
    "an element beyond the end": (5, SCHOOLS, lambda k: step(k, Assign(Ref("theta_new", (10**6,)), ZERO))),
    "a position of no loop": (6, GAUSSIAN, lambda k: step(k, Assign(Ref("theta_new", ("q",)), ZERO))),
    "a loop by the variable of the one around": (
        6, GAUSSIAN, lambda k: step(k, For("q", "d", (For("q", "d", (Assign(Ref("x"), ZERO),)),))),
    ),
    "a loop by an array": (6, GAUSSIAN, lambda k: step(k, For("theta", "d", (Assign(Ref("x"), ZERO),)))),
    "a loop to a size of nothing": (7, GAUSSIAN, lambda k: step(k, For("q", "k", (Assign(Ref("x"), ZERO),)))),
    "a loop to the length of a longer array": (
        7, GAUSSIAN, lambda k: step(k, ForBlocks("q", 2, 1, (Assign(Ref("x"), ZERO),), "theta")),
    ),
    "a loop to the length of an axis that is none": (
        7, GAUSSIAN, lambda k: step(k, ForBlocks("q", 2, 1, (Assign(Ref("x"), ZERO),), "theta", axis=1)),
    ),
    "a call with an argument too few": (8, LOGISTIC, short_call),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_fault_is_found_by_its_number(mutant: str) -> None:
    number, name, change = MUTANTS[mutant]
    kernel = lower(program_of(name))
    assert check_kernel(kernel) == ()
    found = check_kernel(change(kernel))
    assert number in {broken.number for broken in found}, found


def test_every_invariant_has_a_mutant() -> None:
    assert {number for number, _, _ in MUTANTS.values()} == set(range(1, len(INVARIANTS) + 1))


def test_what_a_pass_breaks_stops_the_compilation_there() -> None:
    program = program_of(GAUSSIAN)
    with pytest.raises(AssertionError, match="2: step: y is read and not known"):
        pipeline.schedule(program, step(lower(program), Assign(Ref("x"), Ref("y"))))

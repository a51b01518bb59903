"""Kernels keep their canonical form through every pass over loops; each invariant is found broken where it is."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, wraps
from pathlib import Path

import pytest
from cycles import ONE_OF_EACH, cycle_build
from loaders import load_sized
from some import some

from recipe_compiler import pipeline
from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import renames
from recipe_compiler.program import loop_passes as passes
from recipe_compiler.program.canonical_kernel import INVARIANTS, check_kernel, check_procedure
from recipe_compiler.program.kernel import Kernel, Procedure
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
from recipe_compiler.program.lower_infinitesimal_generator import lower_infinitesimal_generator
from recipe_compiler.program.program import Program
from recipe_compiler.program.rename import rename
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

ROOT = Path(__file__).parents[2]
FOLDERS = ("specs/builds", "tests/targets/builds", "benchmarks/builds")
BUILDS = {path.stem: path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.yaml"))}
GAUSSIAN, LOGISTIC, SCHOOLS = "sghmc_gaussian", "sghmc_logistic", "sghmc_eight_schools"
OVER_KERNELS = ("widen", "chunks", "registers")
OVER_PROCEDURES = ("flat", "small_rows", "packs", "flat_rows", "gather_rows", "blocks", "shorten")
OVER_STATEMENTS = ("unroll", "share", "without_views")
ZERO = Constant(Fraction(0))


@cache
def programs(name: str) -> tuple[Program, Program]:
    """The program with its sizes as they are declared, and with those of the build."""
    build = load_sized(BUILDS[name]) if name in BUILDS else cycle_build(*ONE_OF_EACH[name])
    program = discretise(build, derive(bind(build), stated=True))
    names = renames(program)
    named = rename(program, names)
    return named, rename(named, {names.get(size, size): number for size, number in build.sizes})


@pytest.mark.parametrize("name", some([*BUILDS, *ONE_OF_EACH], 8))
def test_every_pass_keeps_the_canonical_form(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def checked(make: Callable[..., Kernel | Procedure | None]) -> Callable[..., Kernel | Procedure | None]:
        @wraps(make)
        def found(*args: object) -> Kernel | Procedure | None:
            made = make(*args)
            asked.append(make.__name__)
            broken = check_kernel(made) if isinstance(made, Kernel) else check_procedure(made) if made else ()
            assert broken == (), make.__name__
            return made

        return found

    for one in (*OVER_KERNELS, *OVER_PROCEDURES, "_shaped", "_in_registers", "_by_rows"):
        monkeypatch.setattr(passes, one, checked(getattr(passes, one)))
    for program in programs(name):
        kernel = lower(program)
        assert check_kernel(kernel) == ()
        assert check_kernel(passes.schedule(program, kernel)) == ()
        generator = lower_infinitesimal_generator(program)
        for procedure in (generator.prepare, generator.gradient, generator.generator) if generator else ():
            assert check_procedure(procedure) == ()
    assert {"widen", "shorten"} <= set(asked)


def test_every_pass_of_the_schedule_is_one_that_is_asked_after() -> None:
    """Passes over statements alone are asked after with the procedure they are put into."""
    text = (ROOT / "recipe_compiler" / "program" / "loop_passes.py").read_text(encoding="utf-8")
    files = re.findall(r"^from recipe_compiler\.program\.(\w+) import (.*)$", text, re.M)
    imported = {
        name
        for file, names in files
        if (ROOT / f"recipe_compiler/program/{file}.py").read_text(encoding="utf-8").startswith('"""Pass:')
        for name in names.split(", ")
        if name.islower()
    }
    assert imported - {"fuse", "has_small_rows", "gathers"} == {*OVER_KERNELS, *OVER_PROCEDURES, *OVER_STATEMENTS}


def test_the_document_numbers_what_is_checked() -> None:
    text = (ROOT / "docs" / "program.md").read_text(encoding="utf-8").partition("# The canonical form of a Kernel")[2]
    listed = re.findall(r"^(\d+)\. \*\*(.*?)\*\*(.*?)(?=^\d+\.|\Z)", text, re.M | re.S)
    assert [f"{number}. {' '.join(says.split())}" for number, says, _ in listed] == list(INVARIANTS)
    assert all(" Without: " in " ".join(rest.split()) for _, _, rest in listed)


def scheduled(name: str) -> Kernel:
    program, _ = programs(name)
    return lower(program)


def step(kernel: Kernel, *more: Statement, first: bool = False) -> Kernel:
    body = (*more, *kernel.step.body) if first else (*kernel.step.body, *more)
    return replace(kernel, step=replace(kernel.step, body=body))


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
    kernel = scheduled(name)
    assert check_kernel(kernel) == ()
    found = check_kernel(change(kernel))
    assert number in {broken.number for broken in found}, found


def test_every_invariant_has_a_mutant() -> None:
    assert {number for number, _, _ in MUTANTS.values()} == set(range(1, len(INVARIANTS) + 1))


def test_tests_ask_after_the_passes_of_the_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fixture of all tests stands between the passes: what a pass breaks stops the compilation there."""
    program, _ = programs(GAUSSIAN)
    kernel = step(lower(program), Assign(Ref("x"), Ref("y")))
    with pytest.raises(AssertionError, match="2: step: y is read and not known"):
        pipeline.schedule(program, kernel)

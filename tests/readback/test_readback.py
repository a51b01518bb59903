"""Faults planted in the derivation and in a Program are found by reading the text back."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from emitted_texts import build_of, text_of
from read_back import read_back

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.build import add
from recipe_compiler.program.lower import lower
from recipe_compiler.program.program import Move, Refresh, Trajectory
from recipe_compiler.readback.readback import equation_readings, readings_of_build
from recipe_compiler.scheme.discretise import discretise, pinned_sizes, small_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.tensor.calculus import calculus


@cache
def derived(name: str) -> Derivation:
    return derive(bind(build_of(name)))


def emitted(name: str, derivation: Derivation | None = None) -> Module:
    build = build_of(name)
    stated = derivation or derive(derived(name).dynamics, stated=True)
    program = discretise(build, stated, list(small_sizes(build))[-1])
    return emit_module(build.name, program, lower(program), "A test.\n", "0" * 64)


def read(name: str, module: Module, derivation: Derivation | None = None) -> None:
    read_back(module, derivation or derived(name), {}, pinned_sizes(build_of(name), module.program))


# ---- faults in the derivation: SGNHT has Gamma_xi = -1


def with_gamma(derivation: Derivation, factor: Fraction) -> Derivation:
    """Return the derivation with Gamma multiplied by a factor, in the drift too."""
    rules = calculus(derivation.dynamics.declarations)
    excess = [rules.scale(g, factor - 1) for g in derivation.Gamma]
    drift = tuple(rules.add(f, e) for f, e in zip(derivation.drift, excess, strict=True))
    return replace(derivation, Gamma=tuple(rules.scale(g, factor) for g in derivation.Gamma), drift=drift)


def with_drift(derivation: Derivation, factor: Fraction) -> Derivation:
    rules = calculus(derivation.dynamics.declarations)
    return replace(derivation, drift=tuple(rules.scale(f, factor) for f in derivation.drift))


def with_diffusion(derivation: Derivation, factor: Fraction) -> Derivation:
    rules = calculus(derivation.dynamics.declarations)
    return replace(derivation, D=tuple(tuple(rules.scale(entry, factor) for entry in row) for row in derivation.D))


@pytest.mark.parametrize(
    ("name", "change", "factor", "says"),
    [
        ("sgnht_gaussian", with_gamma, Fraction(0), "of the drift"),
        ("sgnht_gaussian", with_gamma, Fraction(1, 2), "of the drift"),
        ("sgnht_gaussian", with_gamma, Fraction(-1), "of the drift"),
        ("sghmc_gaussian", with_drift, Fraction(-1), "of the drift"),
        ("sghmc_gaussian", with_diffusion, Fraction(1, 2), "of 2D"),
    ],
)
def test_a_wrong_derivation_is_found_by_the_second_engine(
    name: str, change: Callable[[Derivation, Fraction], Derivation], factor: Fraction, says: str
) -> None:
    wrong = change(derived(name), factor)
    with pytest.raises(CompilerError, match=says):
        read(name, emitted(name, wrong), wrong)


@pytest.mark.parametrize("name", ["sghmc_gaussian", "rhmc_funnel"])  # as functions, and at a point
def test_a_step_and_an_energy_of_another_H_are_found(name: str) -> None:
    right = derived(name)
    H = right.dynamics.H
    other = replace(right, dynamics=replace(right.dynamics, H=add((H, H), H.shape)))
    module, pinned = emitted(name), pinned_sizes(build_of(name), emitted(name).program)
    for reading in equation_readings(module, other, {}, pinned):
        says = "of the drift" if reading.says.startswith("the equation") else "H - U beside H"
        with pytest.raises(CompilerError, match=says):
            reading.job()


def test_a_compilation_compares_with_the_derived_equation_whatever_the_shapes() -> None:
    wrong = with_gamma(derived("sgnht_gaussian"), Fraction(-1))
    module, pinned = emitted("sgnht_gaussian", wrong), dict(build_of("sgnht_gaussian").sizes)
    readings = readings_of_build([([module, module], {})], module, wrong, {}, pinned)
    with pytest.raises(CompilerError, match="of the drift"):
        [reading.job() for reading in readings]


# ---- faults in a Program


@pytest.mark.parametrize("kind", [Refresh, Trajectory])
def test_a_program_whose_moves_begin_with_what_is_gone_is_not_believed(kind: type[Move]) -> None:
    """The text may make what its Program says, and that begin with a value that another move has changed since."""

    def stale(move: Move) -> Move:
        if isinstance(move, Refresh) and kind is Refresh and move.old != move.block.name:
            return replace(move, old=move.block.name)
        if isinstance(move, Trajectory) and kind is Trajectory:
            old = {"theta": "theta", "r": "r_drawn"}
            return replace(move, values=tuple(replace(v, start=old.get(v.name, v.start)) for v in move.values))
        return move

    text = text_of("again of gaussian", "scheduled")
    program, cycle = text.module.program, text.module.program.cycle
    assert cycle is not None
    moved = replace(program, cycle=replace(cycle, moves=tuple(map(stale, cycle.moves))))
    with pytest.raises(CompilerError, match="not with the current"):
        text.read(replace(text.module, program=moved))


@pytest.mark.slow
def test_a_step_that_is_solved_for_has_its_own_length_on_the_way_back_too() -> None:
    text = text_of("rhmc_logistic in halves", "scheduled")
    text.read()
    forth, back = (text.module.text.rindex(f"{name}, X") for name in ("grad_U_at", "grad_U_back"))
    for place in (forth, back):
        changed = text.module.text[:place] + text.module.text[place:].replace("eps_scaled", "eps", 1)
        with pytest.raises(CompilerError, match="the eps that step is given"):
            text.read(replace(text.module, text=changed))

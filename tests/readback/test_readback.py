"""Faults planted in the derivation and in a Program are found by reading the text back."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from cycles import texts
from emitted_texts import build_of, text_of

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.lower import lower
from recipe_compiler.program.program import Move, Refresh, Trajectory
from recipe_compiler.readback.file import check_diagnostics
from recipe_compiler.readback.of_build import of_its_sizes
from recipe_compiler.readback.readback import read_back
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
        ("sgnht_gaussian", with_gamma, Fraction(0), "Fokker-Planck"),
        ("sgnht_gaussian", with_gamma, Fraction(1, 2), "Fokker-Planck"),
        ("sgnht_gaussian", with_gamma, Fraction(-1), "Fokker-Planck"),
        ("sghmc_gaussian", with_drift, Fraction(-1), "Fokker-Planck"),
        ("sghmc_gaussian", with_diffusion, Fraction(1, 2), "Fokker-Planck"),
        pytest.param("rats", with_diffusion, Fraction(1, 2), None, marks=pytest.mark.slow),
    ],
)
def test_a_wrong_derivation_is_found_by_the_second_engine(
    name: str, change: Callable[[Derivation, Fraction], Derivation], factor: Fraction, says: str | None
) -> None:
    wrong = change(derived(name), factor)
    with pytest.raises(CompilerError, match=says):
        read(name, emitted(name, wrong if says else None), wrong)


def test_a_compilation_compares_with_the_derived_equation_whatever_the_shapes() -> None:
    wrong = with_gamma(derived("sgnht_gaussian"), Fraction(-1))
    module, pinned = emitted("sgnht_gaussian", wrong), dict(build_of("sgnht_gaussian").sizes)
    readings = of_its_sizes([([module, module], {})], module, wrong, {}, pinned)
    with pytest.raises(CompilerError, match="Fokker-Planck"):
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


# ---- texts beside each other


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("generator", "def generator(", "def generator ("),
        ("full_potential", "U_value = 0.0", "U_value = 1.0"),
        ("_softplus", "def _softplus(x):", "def _softplus(x, y=0.0):"),
    ],
)
def test_what_tells_of_draws_is_the_same_in_every_shape(name: str, right: str, wrong: str) -> None:
    """It is read back in one of them, and in the others it has to be that text, with all that it calls."""
    scheduled = texts(build_of("sghmc_logistic, d = 2"))["shipped"].module
    plain = emit_module("plain", scheduled.program, lower(scheduled.program), "A test.\n", "0" * 64)
    assert plain.text != scheduled.text
    check_diagnostics(scheduled, plain)
    before, head, rest = scheduled.text.partition(f"def {name}(")
    assert right in head + rest, "the fault must have a place"
    faulty = before + (head + rest).replace(right, wrong, 1)
    with pytest.raises(CompilerError, match=f"{name} differs between the shapes"):
        check_diagnostics(replace(scheduled, text=faulty), plain)


@pytest.mark.slow
def test_a_step_that_is_solved_for_has_its_own_length_on_the_way_back_too() -> None:
    text = text_of("rhmc_logistic in halves", "scheduled")
    text.read()
    forth, back = (text.module.text.rindex(f"{name}, X") for name in ("grad_U_at", "grad_U_back"))
    for place in (forth, back):
        changed = text.module.text[:place] + text.module.text[place:].replace("eps_scaled", "eps", 1)
        with pytest.raises(CompilerError, match="the eps that step is given"):
            text.read(replace(text.module, text=changed))

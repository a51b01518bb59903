"""Programs keep their canonical form through every pass; each invariant is found broken where it is."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest
from cycles import ONE_OF_EACH, cycle_build
from draws import GIBBS, draws_build
from loaders import load_build, load_sized
from some import some

from recipe_compiler import pipeline
from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import renames
from recipe_compiler.formula.declaration import Block, Parameter
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.formula.transforms import Family, Transform
from recipe_compiler.program.canonical import INVARIANTS, check_canonical
from recipe_compiler.program.program import (
    Draw,
    Evaluate,
    Kick,
    Move,
    Noise,
    Program,
    Propagator,
    Refresh,
    Shift,
    Statement,
    Trajectory,
)
from recipe_compiler.program.rename import rename
from recipe_compiler.scheme.discretise import discretise, small_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.tensor.terms import Component, Coordinate, Delta, Index, SizeNumber, Tensor, Term

ROOT = Path(__file__).parents[2]
BUILDS = {
    path.stem: path
    for folder in ("specs/builds", "tests/targets/builds", "benchmarks/builds")
    for path in sorted((ROOT / folder).glob("*.yaml"))
}
ONE = Fraction(1)
Kind = TypeVar("Kind", Evaluate, Noise, Shift)
Moved = TypeVar("Moved", Draw, Refresh, Trajectory)


def build_of(name: str) -> Build:
    if name in GIBBS:
        return draws_build(name)
    return load_sized(BUILDS[name]) if name in BUILDS else cycle_build(*ONE_OF_EACH[name])


@cache
def program_of(name: str) -> Program:
    build = build_of(name)
    return discretise(build, derive(bind(build), stated=True))


@pytest.mark.parametrize("stated", [False, True], ids=["multiplied out", "as stated"])
@pytest.mark.parametrize("name", some([*BUILDS, *ONE_OF_EACH, *GIBBS], 8))
def test_every_pass_keeps_the_canonical_form(name: str, *, stated: bool) -> None:
    build = build_of(name)
    derivation = derive(bind(build), stated=stated)
    for sizes in (None, *small_sizes(build)):
        program = discretise(build, derivation, sizes)
        names = renames(program)
        named = rename(program, names)
        fixed = rename(named, {names.get(size, size): number for size, number in build.sizes})
        for made in (program, named, fixed, rename(named, {"d": 1, "k": 1, "N": 7})):
            assert check_canonical(made) == ()


def test_the_document_numbers_what_is_checked() -> None:
    text = (ROOT / "docs" / "program.md").read_text(encoding="utf-8").partition("# The canonical form of a Kernel")[0]
    listed = re.findall(r"^(\d+)\. \*\*(.*?)\*\*(.*?)(?=^\d+\.|\Z)", text, re.M | re.S)
    assert [f"{number}. {' '.join(says.split())}" for number, says, _ in listed] == list(INVARIANTS)
    assert all(" Without: " in " ".join(rest.split()) for _, _, rest in listed)


def factor(atom: Component | Coordinate | SizeNumber | Delta) -> Term:
    return Term(ONE, ((atom, ONE),))


def changed(program: Program, kind: type[Kind], change: Callable[[Kind], Iterable[Statement]]) -> Program:
    """Return the program with its first statement of a kind replaced by what `change` makes of it."""
    place, found = next((k, s) for k, s in enumerate(program.statements) if isinstance(s, kind))
    return replace(program, statements=(*program.statements[:place], *change(found), *program.statements[place + 1 :]))


def with_rate(program: Program, change: Callable[[Tensor], Tensor]) -> Program:
    return changed(program, Shift, lambda shift: [replace(shift, rate=change(shift.rate))])


def plus(term: Term) -> Callable[[Tensor], Tensor]:
    return lambda tensor: replace(tensor, terms=(*tensor.terms, term))


def renamed_value(program: Program) -> Program:
    return changed(program, Shift, lambda shift: [replace(shift, new="C")])


def evaluated_at(value: str) -> Callable[[Program], Program]:
    return lambda program: changed(program, Evaluate, lambda evaluation: [replace(evaluation, at=value)])


def shifted(program: Program) -> Program:
    assert program.gradient is not None
    first, second, *rest = program.gradient.parts
    return replace(program, gradient=replace(program.gradient, parts=(first, replace(second, start=2), *rest)))


def short(program: Program) -> Program:
    assert program.gradient is not None
    return replace(program, gradient=replace(program.gradient, parts=program.gradient.parts[:-1]))


def uncounted(program: Program) -> Program:
    assert program.gradient is not None
    return replace(program, gradient=replace(program.gradient, count=None))


def with_generator(program: Program, **changes: object) -> Program:
    assert program.infinitesimal_generator is not None
    return replace(program, infinitesimal_generator=replace(program.infinitesimal_generator, **changes))


def estimated(program: Program) -> Program:
    """The generator takes the estimate of a minibatch."""
    assert program.infinitesimal_generator is not None
    return with_generator(program, gradient=replace(program.infinitesimal_generator.gradient, minibatch=True))


def summed_moment(program: Program) -> Program:
    assert program.infinitesimal_generator is not None
    first, *rest = program.infinitesimal_generator.moments
    return with_generator(program, moments=(replace(first, value=Tensor((), first.value.terms)), *rest))


def flow_of(program: Program, change: Callable[[Tensor], Tensor]) -> Program:
    return changed(program, Propagator, lambda flow: [flow.mapped(change)])


def noise_of(program: Program, change: Callable[[Tensor], Tensor]) -> Program:
    return changed(program, Noise, lambda noise: [noise.mapped(change)])


def moved(program: Program, kind: type[Moved], change: Callable[[Moved], Iterable[Move]]) -> Program:
    """Return the program with the first move of a kind replaced by what `change` makes of it."""
    assert program.cycle is not None
    moves = program.cycle.moves
    place, found = next((k, move) for k, move in enumerate(moves) if isinstance(move, kind))
    made = (*moves[:place], *change(found), *moves[place + 1 :])
    return replace(program, cycle=replace(program.cycle, moves=made))


def trajectory(**changes: object) -> Callable[[Program], Program]:
    return lambda program: moved(program, Trajectory, lambda move: [replace(move, **changes)])


def after(move: Trajectory) -> Trajectory:
    """Return the same again, from where it ends."""
    values = (replace(v, start=v.end, at=f"{v.end}_at", end=f"{v.end}_next") for v in move.values)
    return replace(move, values=tuple(values))


def kicked(change: Callable[[Program, Kick], Kick]) -> Callable[[Program], Program]:
    """Return what changes the kick of the trajectory."""

    def changed(program: Program) -> Program:
        return moved(program, Trajectory, lambda move: [replace(move, kick=move.kick and change(program, move.kick))])

    return changed


def without(name: str) -> Callable[[Program], Program]:
    """Nothing moves it along the trajectory."""
    return lambda program: moved(
        program, Trajectory, lambda move: [replace(move, values=tuple(v for v in move.values if v.name != name))]
    )


def beginning(name: str, start: str) -> Callable[[Program], Program]:
    """A value of a trajectory begins elsewhere."""
    return lambda program: moved(
        program,
        Trajectory,
        lambda move: [
            replace(move, values=tuple(replace(v, start=start) if v.name == name else v for v in move.values))
        ],
    )


def with_cycle(**changes: object) -> Callable[[Program], Program]:
    return lambda program: replace(program, cycle=replace(program.cycle, **changes))


ROW, COL = Index("d", "i"), Index("d", "j")
XI = Block("xi", Shape("d"))
FRICTION = "sghmc_lognormal_friction_gaussian"
GAUSSIAN, LOGISTIC, SCHOOLS, WORD = "sghmc_gaussian", "sghmc_logistic", "sghmc_eight_schools", "sghmc_gaussian_baoab"
HMC, STEPS, BETWEEN = "hmc_gaussian", "steps_logistic_regression", "between_gaussian"
PATH = "baoab_path_double_well"
DRAWS, ROW_OF_BETA = "hmc_between", Index("p", "i")
MUTANTS: dict[str, tuple[int, str, Callable[[Program], Program]]] = {
    "a new value under a parameter's name": (1, GAUSSIAN, renamed_value),
    "a parameter named as a size": (
        1, GAUSSIAN, lambda p: replace(p, parameters=(*p.parameters, Parameter("d"))),
    ),
    "a block without a shift": (2, GAUSSIAN, lambda p: changed(p, Shift, lambda shift: [])),
    "two shifts from one value": (
        2, GAUSSIAN, lambda p: changed(p, Shift, lambda shift: [shift, replace(shift, new="r_2", noise="")]),
    ),
    "a new value before it is there": (
        3, GAUSSIAN, lambda p: with_rate(p, plus(factor(Coordinate("theta_new", (ROW,))))),
    ),
    "a flow that depends on the state": (
        3, WORD, lambda p: flow_of(p, plus(Term(ONE, ((Coordinate("r", (ROW,)), ONE), (Delta(ROW, COL), ONE))))),
    ),
    "a flow after its matrices": (
        3, WORD, lambda p: replace(p, statements=(*p.statements[1:], p.statements[0])),
    ),
    "data in the prior": (
        3, LOGISTIC,
        lambda p: replace(p, gradient=replace(p.gradient, parts=tuple(
            replace(part, stated_prior=plus(factor(Component("y", (0,))))(part.stated_prior))
            for part in p.gradient.parts))),
    ),
    "the gradient of the potential as it stands": (
        4, GAUSSIAN, lambda p: with_rate(p, plus(factor(Component("C", (ROW, ROW), (Coordinate("theta", (ROW,)),))))),
    ),
    "one slot of a matrix": (5, GAUSSIAN, lambda p: with_rate(p, plus(factor(Component("C", (ROW,)))))),
    "a position beyond the end": (
        5, GAUSSIAN, lambda p: with_rate(rename(p, {"d": 3}), plus(factor(Coordinate("theta", (3,))))),
    ),
    "a drift that is summed": (6, GAUSSIAN, lambda p: with_rate(p, lambda t: Tensor((), t.terms))),
    "a flow with its row alone": (6, WORD, lambda p: flow_of(p, lambda t: Tensor((ROW,), t.terms))),
    "a size that nothing has": (7, GAUSSIAN, lambda p: with_rate(p, plus(factor(SizeNumber("m"))))),
    "a coefficient of zero": (
        8, GAUSSIAN, lambda p: with_rate(p, plus(Term(Fraction(0), ((Coordinate("theta", (ROW,)), ONE),)))),
    ),
    "noise that is zero": (9, GAUSSIAN, lambda p: noise_of(p, lambda t: Tensor(t.free, ()))),
    "a draw that is added twice": (
        9, GAUSSIAN, lambda p: changed(p, Shift, lambda s: [s, replace(s, old=s.new, new="r_2")]),
    ),
    "a draw after its shift": (
        9, GAUSSIAN,
        lambda p: replace(p, statements=(*(s for s in p.statements if not isinstance(s, Noise)), *p.noises)),
    ),
    "B_hat of an exact gradient": (
        9, GAUSSIAN, lambda p: changed(p, Noise, lambda noise: [replace(noise, B_hat=noise.two_D)]),
    ),
    "a gradient before its place": (10, GAUSSIAN, evaluated_at("theta_new")),
    "a gradient carried on from another value": (10, GAUSSIAN, lambda p: replace(p, carried=True)),
    "a gap between two parts": (11, SCHOOLS, shifted),
    "parts that end early": (11, SCHOOLS, short),
    "data without their number": (12, LOGISTIC, uncounted),
    "a number that no field has": (12, LOGISTIC, lambda p: replace(p, gradient=replace(p.gradient, count="d"))),
    "the generator of an estimate": (13, LOGISTIC, estimated),
    "a moment without its index": (13, GAUSSIAN, summed_moment),
    "a substitution into no shift before it": (
        2, GAUSSIAN, lambda p: changed(p, Shift, lambda s: [replace(s, again=True)]),
    ),
    "an equation that does not name what it solves for": (
        14, GAUSSIAN, lambda p: changed(p, Shift, lambda s: [replace(s, slope=Tensor((ROW, COL), ()))]),
    ),
    "an equation that draws": (
        14, "gsgrhmc_gaussian_baoab", lambda p: replace(p, statements=tuple(
            replace(s, noise="w_r_v2") if isinstance(s, Shift) and s.slope else s for s in p.statements)),
    ),
    "an equation of a transform": (
        15, FRICTION, lambda p: replace(p, statements=tuple(
            replace(s, slope=s.rate) if isinstance(s, Shift) and s.transform else s for s in p.statements)),
    ),
    "the logarithm of what may be negative": (
        15, GAUSSIAN, lambda p: changed(p, Shift, lambda s: [replace(s, transform=Transform(Family.LOG))]),
    ),
    "a refresh that makes the parameter M": (
        1, HMC, lambda p: moved(p, Refresh, lambda move: [replace(move, new="M")]),
    ),
    "a refresh by a function that is not bound": (
        3, HMC, lambda p: moved(p, Refresh, lambda move: [
            replace(move, noise=move.noise.mapped(plus(Term(ONE, ((Component("U"), ONE), (Delta(ROW, COL), ONE))))))]),
    ),
    "H - U with an index": (6, HMC, lambda p: with_cycle(rest=replace(p.cycle.rest, free=(ROW,)))(p)),
    "a trajectory from the momentum before the refresh": (16, HMC, beginning("r", "r")),
    "a refresh from the value before": (
        16, BETWEEN, lambda p: replace(p, cycle=replace(p.cycle, moves=(
            *p.cycle.moves[:-1], replace(p.cycle.moves[-1], old="r_drawn")))),
    ),
    "a refresh of what is no block": (
        16, HMC, lambda p: moved(p, Refresh, lambda move: [
            replace(move, block=XI, old="xi", noise=replace(move.noise, blocks=(XI,))), move]),
    ),
    "a refresh by what a flow adds": (
        16, HMC, lambda p: moved(p, Refresh, lambda move: [replace(move, noise=replace(move.noise, at_once=False))]),
    ),
    "no trajectory": (16, STEPS, lambda p: moved(p, Trajectory, lambda _: [])),
    "two trajectories as they come": (16, STEPS, lambda p: moved(p, Trajectory, lambda move: [move, after(move)])),
    "two trajectories by one noise": (16, PATH, lambda p: moved(p, Trajectory, lambda move: [move, after(move)])),
    "a second trajectory of another kick": (
        16, HMC, lambda p: moved(p, Trajectory, lambda move: [move, replace(after(move), kick=None)]),
    ),
    "steps back": (16, HMC, trajectory(scale=Fraction(-1))),
    "another parameter in the place of a matrix": (16, HMC, trajectory(given=(("M", "mu"),))),
    "a block that stays": (16, HMC, without("r")),
    "a trajectory of a parameter": (
        16, HMC, lambda p: moved(p, Trajectory, lambda move: [replace(move, values=(
            *move.values, replace(move.values[0], name="mu", start="mu", at="mu_at", end="mu_next")))]),
    ),
    "a move that is accepted without U": (16, HMC, with_cycle(potential=None)),
    "H where nothing is accepted": (16, HMC, trajectory(metropolis=False, flip=())),
    "a flip of the position": (16, HMC, trajectory(flip=("theta",))),
    "a kick of the position": (16, HMC, kicked(lambda p, kick: replace(kick, block=p.blocks[0]))),
    "a kick by where it is": (
        3, HMC, kicked(
            lambda _, kick: replace(kick, rate=plus(factor(Coordinate("theta", kick.rate.free)))(kick.rate))),
    ),
    "a trajectory of no step": (16, HMC, trajectory(least=0)),
    "a draw from the value before": (
        16, DRAWS, lambda p: moved(p, Draw, lambda move: [replace(move, old="theta_new")]),
    ),
    "a law by the block that is drawn": (
        3, DRAWS, lambda p: moved(p, Draw, lambda move: [replace(move, parameters=tuple(
            plus(factor(Coordinate("beta", (ROW_OF_BETA,))))(t) for t in move.parameters))]),
    ),
    "a draw in another place": (
        17, DRAWS, lambda p: moved(p, Draw, lambda move: [replace(move, places=tuple(
            (block, start + 1) for block, start in move.places))]),
    ),
    "a draw from a law that no step computes": (
        17, DRAWS, lambda p: moved(p, Draw, lambda move: [replace(move, law="Cauchy")]),
    ),
    "a trajectory that goes on with the gradient of before a draw": (17, DRAWS, trajectory(anew=False)),
    "a gradient that is carried on to what is drawn": (
        17, DRAWS, lambda p: moved(p, Trajectory, lambda move: [replace(move, values=tuple(
            value if value.end else replace(value, end=f"{value.name}_next") for value in move.values))]),
    ),
    "an image that draws": (
        18, "hmc_reflected_categories", lambda p: replace(p, statements=tuple(
            replace(s, noise="w_r") if isinstance(s, Shift) and s.image else s for s in p.statements)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_fault_is_found_by_its_number(mutant: str) -> None:
    number, name, change = MUTANTS[mutant]
    assert check_canonical(program_of(name)) == ()
    found = check_canonical(change(program_of(name)))
    assert number in {broken.number for broken in found}, found


def test_every_invariant_has_a_mutant() -> None:
    assert {number for number, _, _ in MUTANTS.values()} == set(range(1, len(INVARIANTS) + 1))


def test_tests_ask_after_every_pass_of_the_pipeline() -> None:
    """The fixture of all tests stands between the passes: what a pass breaks stops the compilation there."""
    build = load_build(BUILDS[GAUSSIAN])
    with pytest.raises(AssertionError, match="3: the rate of r names U"):
        pipeline.rename(with_rate(program_of(GAUSSIAN), plus(factor(Component("U")))), {})
    derivation = derive(bind(build))
    wrong = plus(factor(Component("C", (ROW, ROW), (Coordinate("theta", (ROW,)),))))
    with pytest.raises(AssertionError, match="4: the rate of r holds a derivative of C"):
        pipeline.discretise(build, replace(derivation, drift=tuple(map(wrong, derivation.drift))))

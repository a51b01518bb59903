"""Each invariant of a Program is found broken where it is; all tests ask for it after every pass (`conftest.py`)."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cycles import ONE_OF_EACH, cycle_build
from draws import GIBBS, draws_build
from loaders import load_sized

from recipe_compiler import pipeline
from recipe_compiler.derive.recipe import derive
from recipe_compiler.formula.transforms import Family, Transform
from recipe_compiler.program import program as ir
from recipe_compiler.program.canonical import INVARIANTS, check_canonical
from recipe_compiler.program.canonical_kernel import INVARIANTS as OF_KERNELS
from recipe_compiler.program.program import Program
from recipe_compiler.program.rename import rename
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.tensor.terms import Component, Coordinate, Delta, Index, SizeNumber, Tensor, Term

ROOT = Path(__file__).parents[2]
ROW, COL, ONE = Index("d", "i"), Index("d", "j"), Fraction(1)
Change = Callable[[Any], Any]


@cache
def program_of(name: str) -> Program:
    own = cycle_build(*ONE_OF_EACH[name]) if name in ONE_OF_EACH else draws_build(name) if name in GIBBS else None
    build = own or load_sized(ROOT / f"specs/builds/{name}.yaml")
    return discretise(build, derive(bind(build), stated=True))


@pytest.mark.parametrize(("part", "invariants"), [(0, INVARIANTS), (2, OF_KERNELS)])
def test_the_document_numbers_what_is_checked(part: int, invariants: tuple[str, ...]) -> None:
    text = (
        (ROOT / "docs" / "program.md").read_text(encoding="utf-8").partition("# The canonical form of a Kernel")[part]
    )
    listed = re.findall(r"^(\d+)\. \*\*(.*?)\*\*(.*?)(?=^\d+\.|\Z)", text, re.M | re.S)
    assert [f"{number}. {' '.join(says.split())}" for number, says, _ in listed] == list(invariants)
    assert all(" Without: " in " ".join(rest.split()) for _, _, rest in listed)


def plus(*atoms: Any, times: int = 1) -> Change:
    """Return what adds a product to a tensor."""
    return lambda t: replace(t, terms=(*t.terms, Term(Fraction(times), tuple((atom, ONE) for atom in atoms))))


def first(kind: type, change: Change, among: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return statements or moves, the first of a kind replaced by what `change` makes of it: one, several or none."""
    place, found = next((k, one) for k, one in enumerate(among) if isinstance(one, kind))
    made = change(found)
    return (*among[:place], *(made if isinstance(made, list) else [made]), *among[place + 1 :])


def statement(kind: type, change: Change) -> Change:
    return lambda p: replace(p, statements=first(kind, change, p.statements))


def rate(change: Change) -> Change:
    return statement(ir.Shift, lambda s: replace(s, rate=change(s.rate)))


def shift(**changes: object) -> Change:
    return statement(ir.Shift, lambda s: replace(s, **changes))


def every(is_one: Callable[[ir.Shift], object], change: Change) -> Change:
    """Return what changes all shifts of some kind."""
    return lambda p: replace(
        p, statements=tuple(change(s) if isinstance(s, ir.Shift) and is_one(s) else s for s in p.statements)
    )


def gradient(change: Change) -> Change:
    return lambda p: replace(p, gradient=replace(p.gradient, **change(p.gradient)))


def generator(change: Change) -> Change:
    return lambda p: replace(p, infinitesimal_generator=replace(p.infinitesimal_generator, **change(p)))


def move(kind: type, change: Change) -> Change:
    return lambda p: replace(p, cycle=replace(p.cycle, moves=first(kind, change, p.cycle.moves)))


def trajectory(**changes: object) -> Change:
    return move(ir.Trajectory, lambda m: replace(m, **changes))


def values(change: Change) -> Change:
    return move(ir.Trajectory, lambda m: replace(m, values=tuple(change(m.values))))


def after(move: ir.Trajectory) -> ir.Trajectory:
    """Return the same again, from where it ends."""
    return replace(
        move, values=tuple(replace(v, start=v.end, at=f"{v.end}_at", end=f"{v.end}_next") for v in move.values)
    )


GAUSSIAN, LOGISTIC, WORD, HMC, DRAWS = (
    "sghmc_gaussian",
    "sghmc_logistic",
    "sghmc_gaussian_baoab",
    "hmc_gaussian",
    "hmc_between",
)
THETA = Coordinate("theta", (ROW,))
MUTANTS: dict[str, tuple[int, str, Change]] = {
    "a new value under a parameter's name": (1, GAUSSIAN, shift(new="C")),
    "a refresh that makes the parameter M": (1, HMC, move(ir.Refresh, lambda m: replace(m, new="M"))),
    "a block without a shift": (2, GAUSSIAN, statement(ir.Shift, lambda s: [])),
    "two shifts from one value": (2, GAUSSIAN, statement(ir.Shift, lambda s: [s, replace(s, new="r_2", noise="")])),
    "a substitution into no shift before it": (2, GAUSSIAN, shift(again=True)),
    "a new value before it is there": (3, GAUSSIAN, rate(plus(Coordinate("theta_new", (ROW,))))),
    "a flow that depends on the state": (
        3, WORD, statement(ir.Propagator, lambda f: f.mapped(plus(Coordinate("r", (ROW,)), Delta(ROW, COL)))),
    ),
    "a flow after its matrices": (3, WORD, lambda p: replace(p, statements=(*p.statements[1:], p.statements[0]))),
    "data in the prior": (3, LOGISTIC, gradient(lambda g: {"parts": tuple(
        replace(part, stated_prior=plus(Component("y", (0,)))(part.stated_prior)) for part in g.parts)})),
    "a refresh by a function that is not bound": (3, HMC, move(ir.Refresh, lambda m: replace(
        m, noise=m.noise.mapped(plus(Component("U"), Delta(ROW, COL)))))),
    "a kick by where it is": (3, HMC, move(ir.Trajectory, lambda m: replace(m, kick=replace(
        m.kick, rate=plus(Coordinate("theta", m.kick.rate.free))(m.kick.rate))))),
    "a law by the block that is drawn": (3, DRAWS, move(ir.Draw, lambda m: replace(
        m, parameters=tuple(map(plus(Coordinate("beta", (Index("p", "i"),))), m.parameters))))),
    "the gradient of the potential as it stands": (4, GAUSSIAN, rate(plus(Component("C", (ROW, ROW), (THETA,))))),
    "one slot of a matrix": (5, GAUSSIAN, rate(plus(Component("C", (ROW,))))),
    "a position beyond the end": (5, GAUSSIAN, lambda p: rate(plus(Coordinate("theta", (3,))))(rename(p, {"d": 3}))),
    "a drift that is summed": (6, GAUSSIAN, rate(lambda t: Tensor((), t.terms))),
    "H - U with an index": (6, HMC, lambda p: replace(
        p, cycle=replace(p.cycle, rest=replace(p.cycle.rest, free=(ROW,))))),
    "a size that nothing has": (7, GAUSSIAN, rate(plus(SizeNumber("m")))),
    "a coefficient of zero": (8, GAUSSIAN, rate(plus(THETA, times=0))),
    "noise that is zero": (9, GAUSSIAN, statement(ir.Noise, lambda n: n.mapped(lambda t: Tensor(t.free, ())))),
    "a draw that is added twice": (9, GAUSSIAN, statement(ir.Shift, lambda s: [s, replace(s, old=s.new, new="r_2")])),
    "a draw after its shift": (9, GAUSSIAN, lambda p: replace(
        p, statements=(*(s for s in p.statements if not isinstance(s, ir.Noise)), *p.noises))),
    "B_hat of an exact gradient": (9, GAUSSIAN, statement(ir.Noise, lambda n: replace(n, B_hat=n.two_D))),
    "a gradient before its place": (10, GAUSSIAN, statement(ir.Evaluate, lambda e: replace(e, at="theta_new"))),
    "a gradient carried on from another value": (10, GAUSSIAN, lambda p: replace(p, carried=True)),
    "a gap between two parts": (11, "sghmc_eight_schools", gradient(
        lambda g: {"parts": (g.parts[0], replace(g.parts[1], start=2), *g.parts[2:])})),
    "parts that end early": (11, "sghmc_eight_schools", gradient(lambda g: {"parts": g.parts[:-1]})),
    "data without their number": (12, LOGISTIC, gradient(lambda _: {"count": None})),
    "a number that no field has": (12, LOGISTIC, gradient(lambda _: {"count": "d"})),
    "the generator of an estimate": (13, LOGISTIC, generator(
        lambda p: {"gradient": replace(p.infinitesimal_generator.gradient, minibatch=True)})),
    "a moment without its index": (13, GAUSSIAN, generator(lambda p: {"moments": tuple(
        replace(m, value=Tensor((), m.value.terms)) for m in p.infinitesimal_generator.moments)})),
    "an equation that does not name what it solves for": (14, GAUSSIAN, shift(slope=Tensor((ROW, COL), ()))),
    "an equation that draws": (14, "gsgrhmc_gaussian_baoab", every(
        lambda s: s.slope, lambda s: replace(s, noise="w_r_v2"))),
    "an equation of a transform": (15, "sghmc_lognormal_friction_gaussian", every(
        lambda s: s.transform, lambda s: replace(s, slope=s.rate))),
    "the logarithm of what may be negative": (15, GAUSSIAN, shift(transform=Transform(Family.LOG))),
    "a trajectory from before the refresh": (16, HMC, values(
        lambda all_: (replace(v, start="r") if v.name == "r" else v for v in all_))),
    "a refresh by what a flow adds": (16, HMC, move(ir.Refresh, lambda m: replace(
        m, noise=replace(m.noise, at_once=False)))),
    "no trajectory": (16, "steps_logistic_regression", move(ir.Trajectory, lambda _: [])),
    "two trajectories as they come": (16, "steps_logistic_regression", move(ir.Trajectory, lambda m: [m, after(m)])),
    "two trajectories by one noise": (16, "baoab_path_double_well", move(ir.Trajectory, lambda m: [m, after(m)])),
    "a second trajectory of another kick": (16, HMC, move(ir.Trajectory, lambda m: [m, replace(after(m), kick=None)])),
    "steps back": (16, HMC, trajectory(scale=Fraction(-1))),
    "another parameter in the place of a matrix": (16, HMC, trajectory(given=(("M", "mu"),))),
    "a block that stays": (16, HMC, values(lambda all_: (v for v in all_ if v.name != "r"))),
    "a move that is accepted without U": (16, HMC, lambda p: replace(p, cycle=replace(p.cycle, potential=None))),
    "H where nothing is accepted": (16, HMC, trajectory(metropolis=False, flip=())),
    "a flip of the position": (16, HMC, trajectory(flip=("theta",))),
    "a kick of the position": (16, HMC, lambda p: move(ir.Trajectory, lambda m: replace(
        m, kick=replace(m.kick, block=p.blocks[0])))(p)),
    "a trajectory of no step": (16, HMC, trajectory(least=0)),
    "a draw from the value before": (16, DRAWS, move(ir.Draw, lambda m: replace(m, old="theta_new"))),
    "a draw in another place": (17, DRAWS, move(ir.Draw, lambda m: replace(
        m, places=tuple((block, start + 1) for block, start in m.places)))),
    "a draw from a law that no step computes": (17, DRAWS, move(ir.Draw, lambda m: replace(m, law="Cauchy"))),
    "a trajectory that goes on with the gradient of before a draw": (17, DRAWS, trajectory(anew=False)),
    "a gradient that is carried on to what is drawn": (17, DRAWS, values(
        lambda all_: (v if v.end else replace(v, end=f"{v.name}_next") for v in all_))),
    "an image that draws": (18, "hmc_reflected_categories", every(
        lambda s: s.image, lambda s: replace(s, noise="w_r"))),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_fault_is_found_by_its_number(mutant: str) -> None:
    number, name, change = MUTANTS[mutant]
    assert check_canonical(program_of(name)) == ()
    found = check_canonical(change(program_of(name)))
    assert number in {broken.number for broken in found}, found


def test_every_invariant_has_a_mutant() -> None:
    assert {number for number, _, _ in MUTANTS.values()} == set(range(1, len(INVARIANTS) + 1))


def test_what_a_pass_breaks_stops_the_compilation_there() -> None:
    with pytest.raises(AssertionError, match="3: the rate of r names U"):
        pipeline.rename(rate(plus(Component("U")))(program_of(GAUSSIAN)), {})

"""n steps of a word are a kick, n steps of what is left between, and the kick taken back: exactly, by any gradient."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
import sympy as sp
from cycles import FLIP, cycle_build

from recipe_compiler.derive.recipe import derive
from recipe_compiler.program.atoms import replace_atoms
from recipe_compiler.program.program import Evaluate, Kick, Program, Shift
from recipe_compiler.readback.mean import values
from recipe_compiler.readback.names import Names
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.scheme.joined_kicks import join_kicks
from recipe_compiler.spec.bind import bind
from recipe_compiler.tensor.scalars import Scalar
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Tensor

State = dict[str, list[Scalar]]
STEPS = "[{{refresh: r}}, {{metropolis: {{split: {word}, steps: {steps}, {flip}}}}}]"
LEAPFROG = "[B/2, A, B/2]"
TWO_STAGES = "[B/6, A/2, 2/3*B, A/2, B/6]"
"""Its kicks are by 1/6, and one more stands between (Omelyan, Mryglod, Folk 2002)."""


def of(target: str, word: str, steps: int) -> Program:
    """Return the Program of HMC of a target by a word."""
    build = cycle_build(target, STEPS.format(word=word, steps=steps, flip=FLIP))
    return discretise(build, derive(bind(build), stated=True))


def word_of(target: str, word: str) -> Program:
    """Return that of one step of the word, as it is stated."""
    return replace(of(target, word, 1), cycle=None)


def force(theta: list[Scalar]) -> list[Scalar]:
    """Return a field that is no gradient and not linear: what is joined does not rest on either."""
    turned = [*theta[1:], theta[0]]
    return [a**2 - 2 * b + sp.Rational(k + 1, 3) for k, (a, b) in enumerate(zip(theta, turned, strict=True))]


def rate_at(rate: Tensor, names: Names, shift: Shift | Kick, at: Mapping[str, list[Scalar]]) -> list[Scalar]:
    """Return a rate with the gradients' values among those on the way."""

    def rule(atom: Atom) -> Atom:
        return Coordinate(atom.name, atom.at) if isinstance(atom, Component) and atom.name in at else atom

    return values(replace_atoms(rate, rule), names, shift.block, at)


def stepped(program: Program, names: Names, state: State) -> State:
    """Return the state after one step of a Program, with the gradient that is carried."""
    at = dict(state)
    for statement in program.statements:
        match statement:
            case Evaluate(place, new):
                at[new] = force(at[place])
            case Shift(_, old, new, rate):
                change = rate_at(rate, names, statement, at)
                at[new] = [z + names.eps * f for z, f in zip(at[old], change, strict=True)]
            case _:
                pytest.fail(f"no step of this test has a {type(statement).__name__}")
    return {name: at[new] for name, new in program.passed_on.items()}


def kicked(kick: Kick, names: Names, state: State, sign: int) -> State:
    change = rate_at(kick.rate, names, kick, state)
    moved = [b + sign * names.eps * f for b, f in zip(state[kick.block.name], change, strict=True)]
    return {**state, kick.block.name: moved}


@pytest.mark.parametrize("word", [LEAPFROG, TWO_STAGES])
@pytest.mark.parametrize("target", ["gaussian", "logistic_regression"])
def test_steps_between_two_kicks_are_steps_of_the_word(target: str, word: str) -> None:
    """At an exact point in three dimensions, the mass full where it is a matrix, by three steps."""
    program = word_of(target, word)
    names = Names(program, {"d": 3, "N": 2, "batch_size": 2}, at_point=True)
    start = {block.name: names.block(block) for block in program.blocks}
    start["grad_U"] = force(start["theta"])
    inner, kick = join_kicks(program)
    assert kick is not None
    stated, joined = start, kicked(kick, names, start, 1)
    for _ in range(3):
        stated, joined = stepped(program, names, stated), stepped(inner, names, joined)
    assert kicked(kick, names, joined, -1) == stated
    assert joined != stated
    assert len(inner.shifts) == len(program.shifts) - 1


@pytest.mark.parametrize(
    ("target", "word", "steps"),
    [
        ("gaussian", LEAPFROG, 1),  # one step has no kicks to join
        ("gaussian", "[A/2, B, A/2]", 10),  # ends with a move of the position
    ],
)
def test_words_without_kicks_that_meet_stay_as_they_are(target: str, word: str, steps: int) -> None:
    program = of(target, word, steps)
    assert program.cycle is not None
    assert program.cycle.trajectory is not None
    assert program.cycle.trajectory.kick is None
    assert program.statements == word_of(target, word).statements


def test_kicks_that_differ_are_not_joined() -> None:
    """Another share, a kick that reads the position, one by the gradient before: none is the kick at the other end."""
    program = word_of("gaussian", LEAPFROG)
    first, *inner, last = program.statements
    assert isinstance(first, Shift)
    assert isinstance(last, Shift)
    position = Tensor(first.rate.free, (replace(first.rate.terms[0], factors=(
        (Coordinate("theta", first.rate.free), first.rate.terms[0].factors[0][1]),)),))  # fmt: skip
    twice = replace(last, rate=Tensor(last.rate.free, tuple(replace(t, coefficient=2 * t.coefficient)
                                                            for t in last.rate.terms)))  # fmt: skip
    for begin, end in ((first, twice), (replace(first, rate=position), replace(last, rate=position)),
                       (first, replace(last, rate=first.rate)), (replace(first, noise="w"), last)):  # fmt: skip
        changed = replace(program, statements=(begin, *inner, end))
        assert join_kicks(changed) == (changed, None)

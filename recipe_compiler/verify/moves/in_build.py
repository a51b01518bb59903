"""Claims about the cycle of a build: for all values as declared, else at its own, as those about its word are."""

from collections.abc import Callable
from dataclasses import replace

from recipe_compiler.spec.model import Build, Cir, CodeMove, Draw, Involution, Metropolis, Refresh, Steps
from recipe_compiler.verdict import Answer
from recipe_compiler.verify.builds.in_build import Stages, step_decided_in
from recipe_compiler.verify.steps.split import Split, split_of


def steps_by_cycle(build: Build) -> bool:
    """Whether one step of a chain is a cycle of moves."""
    return bool(build.scheme.cycle)


def refreshes(build: Build) -> bool:
    """Whether a move of a cycle draws a block anew."""
    return any(isinstance(move, Refresh) for move in build.scheme.cycle)


def draws(build: Build) -> bool:
    """Whether a move of a cycle draws a block of the target from its law."""
    return any(isinstance(move, Draw) for move in build.scheme.cycle)


def diffuses(build: Build) -> bool:
    """Whether a move of a cycle is the flow that keeps the law of a block of the target."""
    return any(isinstance(move, Cir) for move in build.scheme.cycle)


def reflects(build: Build) -> bool:
    """Whether a move of a cycle is an involution, accepted or refused."""
    return any(isinstance(move, Involution) for move in build.scheme.cycle)


def calls_code(build: Build) -> bool:
    """Whether a move of a cycle is code."""
    return any(isinstance(move, CodeMove) for move in build.scheme.cycle)


def integrates(build: Build) -> bool:
    """Whether a chain follows the equation, step by step, as it comes: not where a move is accepted or nothing is."""
    return not build.scheme.cycle or any(isinstance(move, Steps) for move in build.scheme.cycle)


def accepts(build: Build) -> bool:
    """Whether a move of a cycle is accepted or refused."""
    return any(isinstance(move, Metropolis) for move in build.scheme.cycle)


def of_cycle(decide: Callable[[Split, Stages], Answer]) -> Callable[[Stages], Answer]:
    """Return what decides a claim about the moves of a cycle: for all values, at the build's where that is wrong."""

    def answer(stages: Stages) -> Answer:
        scheme = stages.build.scheme
        found = step_decided_in(lambda subject: decide(split_of(subject, scheme), stages), stages)
        return replace(found, where=stages.build.source.place("scheme"))

    return answer

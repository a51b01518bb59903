"""Claims about the step of a build: for all values as declared and every size.

A module takes values as arguments, so its step is one for all of them; values that a build states decide nothing here
but whether the pieces add up to the SDE.
"""

from collections.abc import Callable
from dataclasses import replace

from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.errors import ModelError
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.places import placed
from recipe_compiler.splitting.split_by import selections_of
from recipe_compiler.verdict import Answer, Proved
from recipe_compiler.verify.builds.boundary import with_potential
from recipe_compiler.verify.builds.in_build import Stages, step_decided_in
from recipe_compiler.verify.core.build_values import at_values, from_files, sized
from recipe_compiler.verify.core.subject import Subject, find, subject_of
from recipe_compiler.verify.steps.euler import euler_order
from recipe_compiler.verify.steps.order import word_order
from recipe_compiler.verify.steps.split import Split, split_of

ALL_DATA = "gradients use all data"
"""Noise of minibatches adds O(eps^2) to the covariance of a step."""
ONE_WORD = "it is the order of the word inside a move"
MOST_COORDINATES = 8
"""Of states that have more it is not looked at how a step with the values of a build is off."""


def steps_by_word(build: Build) -> bool:
    """Whether a step of a build does a word of pieces: it is one, or a move of its cycle does one."""
    return bool(build.scheme.split)


def of_word(decide: Callable[[Split], Answer]) -> Callable[[Stages], Answer]:
    """Return what decides a claim about the letters of a build's word, or about what its pieces add up to."""

    def answer(stages: Stages) -> Answer:
        scheme = stages.build.scheme
        return _decided(stages, lambda subject: decide(split_of(subject, scheme)))

    return answer


def of_pieces(decide: Callable[[Split], Answer]) -> Callable[[Stages], Answer]:
    """Return what decides a claim about what the pieces of a word add up to, at the build's values where it is wrong.

    Nothing else about a word is: which flow moves a piece is the same for all values, as a module takes them.
    """

    def answer(stages: Stages) -> Answer:
        scheme = stages.build.scheme
        found = step_decided_in(lambda subject: decide(split_of(subject, scheme)), stages)
        return replace(found, where=stages.build.source.place("scheme"))

    return answer


def of_flows(decide: Callable[[Split], Answer]) -> Callable[[Stages], Answer]:
    """Return what decides a claim about the flows of a build's word; with minibatches, as if of all data."""
    return lambda stages: _of_all_data(stages, of_word(decide)(stages))


def order_in(stages: Stages) -> Answer:
    """Report the weak order p of one step of a build: E phi(z') is that of the equation but for O(eps**(p + 1)).

    Of Euler's rules by `euler_order`, of a word by `word_order`; with minibatches, of a step with the gradients of all
    data, which is then among what is taken for granted.
    """
    build, own = stages.build, own_subject(stages)

    def decide(subject: Subject) -> Answer:
        if not steps_by_word(build):
            return euler_order(subject, build.scheme, own)
        split = split_of(subject, build.scheme)
        stated = replace(build.scheme, pieces=tuple(selections_of(split.derivation, build.scheme).items()))
        return word_order(split, None if own is None else split_of(own, stated))

    return _of_the_word(build, _of_all_data(stages, _decided(stages, decide)))


def _of_the_word(build: Build, found: Answer) -> Answer:
    """Return an answer about a step, with what it is one of where a chain makes others."""
    if not build.scheme.cycle or not isinstance(found.decision, Proved):
        return found
    return replace(found, decision=replace(found.decision, remarks=(ONE_WORD,)))


def own_subject(stages: Stages) -> Subject | None:
    """Return the dynamics with the U and the values of a build; None where these are not a few numbers and formulas."""
    try:
        build = sized(stages.build)
        stated = with_potential(build, bind(build))
        dynamics = None if stated is None or from_files(stated) else at_values(stated) or bind(stated)
    except ModelError:  # a formula grows too large with the values in it
        return None
    if dynamics is None:
        return None
    subject = subject_of(dynamics)
    blocks = dynamics.declarations.blocks
    count = sum(len(coordinates(block, subject.sizes[0])) for block in blocks)
    return subject if subject.derivation is not None and count <= MOST_COORDINATES else None


def _of_all_data(stages: Stages, found: Answer) -> Answer:
    """Return an answer that holds of a step with the gradients of all data, and says so where there are others."""
    if stages.build.variant == "full" or not isinstance(found.decision, Proved):
        return found
    given = tuple(sorted({*found.decision.given, ALL_DATA}))
    return replace(found, decision=replace(found.decision, given=given))


def check_pieces(stages: Stages) -> None:
    """Check that the pieces and the letters of a word name things that exist.

    Raises:
        ModelError: one does not.
    """
    if steps_by_word(stages.build):
        with placed(stages.build.source, "scheme"):
            declared = stages.declared
            split_of(declared.wide or declared, stages.build.scheme)


def _decided(stages: Stages, decide: Callable[[Subject], Answer]) -> Answer:
    declared = stages.declared
    return replace(find(decide, declared.wide or declared), where=stages.build.source.place("scheme"))

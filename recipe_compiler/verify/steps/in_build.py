"""Claims about the step of a build: for all values as declared and every size.

A module takes values as arguments, so its step is one for all of them; values that a build states decide nothing here
but whether the pieces add up to the SDE.
"""

from collections.abc import Callable
from dataclasses import replace

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.errors import ModelError
from recipe_compiler.program.atoms import names_of
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.places import placed
from recipe_compiler.splitting.split_by import list_selections
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.builds.boundary import bind_potential
from recipe_compiler.verify.builds.in_build import Stages, step_decided_in
from recipe_compiler.verify.core.build_values import bind_values, fix_sizes, list_unread_parameters
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.subject import Subject, decide_claim, prepare_subject
from recipe_compiler.verify.steps.order import euler_order, word_order
from recipe_compiler.verify.steps.split import Split, split_of
from recipe_compiler.verify.words.gradients import count_gradients
from recipe_compiler.verify.words.letters import claimed_order

ALL_DATA = "gradients use all data"
"""Noise of minibatches adds O(eps^2) to the covariance of a step."""
ONE_WORD = "it is the order of the word inside a move"


def has_word(build: Build) -> bool:
    """Return whether a step of a build composes pieces: the whole step, or a Metropolis move of its cycle."""
    return bool(build.scheme.split)


def decide_word(decide: Callable[[Split], Answer]) -> Callable[[Stages], Answer]:
    """Return a decider for the letters of a build's word, or for the sum of its pieces."""
    return lambda stages: _decide_subject(stages, lambda subject: decide(split_of(subject, stages.build.scheme)))


def decide_pieces(decide: Callable[[Split], Answer]) -> Callable[[Stages], Answer]:
    """Return a decider for the pieces or moves of a build, repeated at the build's values after a refutation.

    Nothing else about a word is: which flow moves a piece is the same for all values, as a module takes them.
    """

    def answer(stages: Stages) -> Answer:
        scheme = stages.build.scheme
        found = step_decided_in(lambda subject: decide(split_of(subject, scheme)), stages)
        return replace(found, where=stages.build.source.place("scheme"))

    return answer


def decide_flows(decide: Callable[[Split], Answer]) -> Callable[[Stages], Answer]:
    """Return a decider for the flows of a build's word; with minibatches it assumes the gradient of all data."""
    return lambda stages: _assume_all_data(stages, decide_word(decide)(stages))


def order_in(stages: Stages) -> Answer:
    """Report the weak order p of one step of a build: E phi(z') is that of the equation but for O(eps**(p + 1)).

    Of Euler's rules by `euler_order`, of a word by `word_order`; with minibatches, of a step with the gradients of all
    data, which is then among what is taken for granted.
    """
    scheme, own = stages.build.scheme, valued_subject(stages)

    def decide(subject: Subject) -> Answer:
        if not scheme.split:
            return euler_order(subject, scheme, own)
        split = split_of(subject, scheme)
        stated = replace(scheme, pieces=tuple(list_selections(split.derivation, scheme).items()))
        return word_order(split, None if own is None else split_of(own, stated))

    found = _assume_all_data(stages, _decide_subject(stages, decide))
    if not scheme.cycle or not is_proved(found):
        return found
    return found.but(remarks=(ONE_WORD,))


def order_claimed_in(split: Split) -> Answer:
    """Decide the weak order that a scheme claims of its word; which of its pieces have noise, those of a build tell."""
    return claimed_order(split.scheme, frozenset(piece.name for piece in split.pieces if piece.is_noisy))


def gradients_in(split: Split) -> Answer:
    """Decide how often a step evaluates grad U, by the pieces that take it and that move its block (`count_gradients`).

    Pieces take it whose drift f_k holds U, and pieces move it that move the block of U; undecided where there is no
    potential.
    """
    dynamics = split.derivation.dynamics
    blocks = dynamics.declarations.blocks_of(dynamics.potential)
    if not blocks:
        return undecided("there is no potential")
    kicks = tuple(p.name for p in split.pieces if any(dynamics.potential in names_of(f) for f in p.drift))
    moves = tuple(p.name for p in split.pieces if blocks & {*p.moved})
    return Answer(count_gradients(split.scheme, kicks, moves, ()))


def valued_subject(stages: Stages) -> Subject | None:
    """Return the dynamics with a build's U and values; None unless these are few numbers and formulas."""
    try:
        build = fix_sizes(stages.build)
        stated = bind_potential(build, bind(build))
        dynamics = None if stated is None or list_unread_parameters(stated) else bind_values(stated) or bind(stated)
    except ModelError:  # a formula grows too large with the values in it
        return None
    if dynamics is None:
        return None
    subject = prepare_subject(dynamics)
    count = sum(len(coordinates(block, subject.sizes[0])) for block in dynamics.declarations.blocks)
    return subject if subject.derivation is not None and count <= limits.COORDINATES else None


def _assume_all_data(stages: Stages, found: Answer) -> Answer:
    """Return a proof with the assumption that steps use all data, if the build uses minibatches."""
    if stages.build.has_exact_gradient or not is_proved(found):
        return found
    return found.given_also((ALL_DATA,))


def check_pieces(stages: Stages) -> None:
    """Check that the pieces and the letters of a word name things that exist.

    Raises:
        ModelError: one does not.
    """
    if has_word(stages.build):
        with placed(stages.build.source, "scheme"):
            split_of(stages.declared.widest, stages.build.scheme)


def _decide_subject(stages: Stages, decide: Callable[[Subject], Answer]) -> Answer:
    """Return the answer for the dynamics at every size, located at the scheme of the build."""
    return replace(decide_claim(decide, stages.declared.widest), where=stages.build.source.place("scheme"))

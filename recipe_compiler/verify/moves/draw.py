"""Is a block of the target drawn from its law under exp(-H) given all others? Then the draw preserves exp(-H).

The potential's block theta holds the blocks of the target one below the other, b = g(u) where one is sampled in an
unbounded variable. With H = U(theta) + K, and K free of theta, the law of theta given the other blocks of the dynamics
is exp(-U), and that of b given all others the one that `laws` of the target claims. A draw of b and u = g^-1(b) keeps
exp(-H), since the law of all others is what it was (Gelfand, Smith 1990; Geman, Geman 1984).

Of an H whose K depends on theta, as one with a metric does, the law of b is another: exp(-E) exp(-K).

Rows z_n with the law Categorical(logits) given all others are drawn by slices, too: u_n ~ Uniform(0, w[z_n]), then z_n
with the probability exp(logits_k)/w_k among the places with w_k > u_n. Given all others z_n and u_n have the density
exp(logits[z_n])/w[z_n] on 0 < u_n < w[z_n] then, up to a constant: under it z_n has its law, u_n given z_n is that
uniform one, and z_n given u_n what is drawn (Walker 2007). So the law of z_n is kept, whatever w is, as long as it is
free of z, and a positive number: log w has to have a value. Every place is reached from every other, as u_n may be
below all weights. Levels are forgotten: no other move reads them, and none can be drawn beside one that is out of date.
"""

from collections.abc import Iterator
from functools import lru_cache, partial

from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import witness
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.derive.law_energies import energy, minus
from recipe_compiler.derive.recipe import row_slots
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula, FunctionAt
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.discrete import discrete_blocks
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.laws import is_on_simplex, law_text, of_all_data
from recipe_compiler.spec.model import Build, Draw, Slices, Target
from recipe_compiler.spec.transform import standard
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Coordinate
from recipe_compiler.verdict import AT_VALUES, Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import Stages, target_decided_in
from recipe_compiler.verify.builds.laws import drawn_data, law_of, scalar_potential, sizes_of
from recipe_compiler.verify.builds.transformed import law_is_kept
from recipe_compiler.verify.core.build_values import known_sizes, target_at_values
from recipe_compiler.verify.core.identities import Identity, faults_of
from recipe_compiler.verify.core.premises import restricts_state, values
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import KEPT
from recipe_compiler.verify.moves.conjunction import Obligation, is_shown, laws_kept, left_open, shown, unless_refuted
from recipe_compiler.verify.moves.law_witness import departs, moved
from recipe_compiler.verify.steps.split import Split, decided

OF_A_BATCH = "a conditional distribution needs all data: `variant: full`"


def draw(split: Split, stages: Stages) -> Answer:
    """Decide that every block of the target that a cycle draws is drawn from its law given all others (Gibbs sampling).

    pi(b, rest) = pi(rest) p(b | rest) is kept by b' ~ p(b | rest), pi = exp(-H) (Geman and Geman 1984; Gelfand and
    Smith 1990). Refuted or undecided where one of the laws is (`keeps_law_of`).
    """
    return laws_kept([(f"p({move.block} | rest)", keeps_law_of(split, move, stages)) for move in draws(split)])


def draws(split: Split) -> Iterator[Draw]:
    """Yield the moves of a cycle that draw a block of the target."""
    return (move for move in split.scheme.cycle if isinstance(move, Draw))


def drawn_blocks(target: Target) -> tuple[Block, ...]:
    """Return the blocks of a target as it declares them: what the potential's block consists of, in order."""
    return (target.declared or target).declarations.blocks


def keeps_law_of(split: Split, move: Draw, stages: Stages) -> Answer:
    """Decide that a draw keeps the law of its block under exp(-H) given all others: at once, or by slices.

    By slices, rows z_n with the law Categorical(logits_n) are drawn by u_n ~ Uniform(0, w[z_n]), then z_n by
    exp(logits_n)/w among the places k with w_k > u_n: under exp(logits_n[z_n])/w[z_n] on 0 < u_n < w[z_n] these are the
    laws of each given the other, and z_n alone has exp(logits_n), whatever w > 0 is (Walker 2007). It rests on the law
    itself (`law_under_H`) and on log w having a value for all others; undecided where that is not shown.
    """
    of_law = drawn_from_law(split, move.block, stages)
    if move.slices is None or not isinstance(of_law.decision, Proved):
        return of_law
    return _by_slices(move, move.slices, stages.build.target, of_law)


def _by_slices(move: Draw, slices: Slices, target: Target, of_law: Answer) -> Answer:
    """Decide that levels are drawn below weights that are positive numbers, for all values of what they are made of."""
    declared = of_all_data((target.declared or target).declarations)
    needed = values(slices.formulas, declared)
    if needed.open:
        return Answer(
            Undecided(tuple(f"not shown: {what}, in the slice weights of {move.block}" for what in needed.open))
        )
    says = f"{move.block} is drawn below levels, u ~ Uniform(0, w) with log w = {text(slices.log_weights)}"
    has_values = Answer(
        Proved("log w is defined everywhere and does not depend on the block", tuple(sorted(needed.given)))
    )
    law = of_law.decision.by if isinstance(of_law.decision, Proved) else ""
    return shown(f"{law}; {says}", [(law, of_law), (says, has_values)])


@lru_cache(maxsize=KEPT)
def drawn_from_law(split: Split, block: str, stages: Stages) -> Answer:
    """Decide that a block is drawn from its law under exp(-H) given all others, and all data."""
    return law_under_H(split, block, stages)


@lru_cache(maxsize=KEPT)
def law_under_H(split: Split, block: str, stages: Stages, *, of_a_batch: bool = False) -> Answer:
    """Decide that the law which a target claims for a block b is its law under exp(-H) given all others, and all data.

    It rests on: d(U - E)/db = 0 for the energy E of the claimed law (`laws`); dK/dtheta = 0 for K = H - U(theta), so
    that the law under exp(-H) is that under exp(-U); and, for transformed blocks, that what is sampled has the law as
    declared. The law of b under exp(-U) given all others is then drawn from (Gelfand and Smith 1990). Refuted by an
    exact point at which one of the derivatives is not zero. Undecided where steps see a minibatch only.

    Example: U = sum_n (y_n - mu)**2/2 + mu**2/2 with N data has N((sum_n y_n)/(N + 1), 1/(N + 1)) as the law of mu,
    since dU/dmu = (N + 1) mu - sum_n y_n is that of E.

    Args:
        split: the dynamics.
        block: of the target.
        stages: the build.
        of_a_batch: whether it is decided also where steps use a minibatch of the data.
    """
    build = stages.build
    refused = _not_asked(split, block, build, of_a_batch=of_a_batch)
    if refused:
        return Answer(Undecided((refused,)))
    of_target = target_decided_in(partial(law_of, name=block), build)
    if isinstance(of_target.decision, Refuted):
        return of_target
    try:
        of_rest = _rest_is_free(split)
    except ModelError as error:
        return Answer(Undecided(faults_of(error)))
    if not isinstance(of_rest.decision, Proved):
        held = _held(split, block, build)
        if held is not None:
            return held
        of_rest = Answer(Undecided((f"d({_rest_text(split)})/d{_theta(split).name} is not zero, or not shown to be",)))
    obligations = [
        (f"{block} has the claimed law under exp(-U)", of_target),
        *_of_transforms(build),
        (f"{_rest_text(split)} is free of {_theta(split).name}", of_rest),
    ]
    if not is_shown(obligations):
        return Answer(Undecided(left_open(obligations)))
    law = dict((build.target.declared or build.target).laws)[block]
    proof = shown(f"{block} ~ {law_text(law)} given all others", obligations)
    at_values = isinstance(of_target.decision, Proved) and AT_VALUES in of_target.decision.by
    return unless_refuted(proof, draw_departs((at_values and target_at_values(build)) or build.target, block))


def draw_departs(target: Target, block: str) -> Answer | None:
    """Return the refutation by U(b') - U(b) != E(b') - E(b), exp(-E) the claimed law; None where no point shows it."""
    target = standard(target)
    declared, law = drawn_data(target.declarations), dict(target.laws)[block]
    own = next(one for one in declared.blocks if one.name == block)
    if discrete_blocks(target.declarations) or target.recursion or is_on_simplex(own):
        return None
    sizes = sizes_of(target)[-1]

    def off(_: Point, other: Point) -> list[Expr]:
        left = scalar_potential(target, sizes) - rows(energy(law, own), Setting(declared, sizes))[0][0]
        return [moved(left, coordinates(own, sizes), other) - left]

    by = f"exact witness: U depends on {block} differently from its claimed law"
    return departs(by, off, declared, sizes, (*filter(None, (target.potential, target.log_prior)), energy(law, own)))


def _of_transforms(build: Build) -> Iterator[Obligation]:
    """Yield that the law of what is sampled is that of the blocks as declared, where any is transformed."""
    if build.target.transforms:
        names = ", ".join(f"{one.inner} = {one.via}({one.block.name})" for one in build.target.transforms)
        yield f"exp(-U) is the same distribution in {names}", target_decided_in(law_is_kept, build)


def _not_asked(split: Split, block: str, build: Build, *, of_a_batch: bool) -> str:
    """Return why it is not looked at which law a block is drawn from; empty where it is."""
    target = build.target.declared or build.target
    if block not in dict(target.laws):
        return f"the target {target.name} claims no law of {block}"
    if build.variant != "full" and not of_a_batch and _takes_data(target, block):
        return OF_A_BATCH
    if len(potential_blocks(split.subject.dynamics)) != 1:
        return "the dynamics have no potential of one block, so the target's blocks cannot be identified in them"
    if restricts_state(split.subject.dynamics.declarations):
        return "an assumption restricts the state, which changes the conditional distributions"
    return ""


def _takes_data(target: Target, block: str) -> bool:
    """Whether the claimed law of a block has data in its parameters."""
    fields = {field.name for field in target.declarations.data}
    return any(fields & {*dependence(argument).names} for argument in dict(target.laws)[block].arguments)


def _theta(split: Split) -> Block:
    (theta,) = potential_blocks(split.subject.dynamics)
    return theta


def _rest(split: Split) -> Formula:
    """Return K = H - U(theta)."""
    dynamics = split.subject.dynamics
    return minus(dynamics.H, FunctionAt(dynamics.potential or "", (_theta(split).name,), SCALAR))


def _rest_text(split: Split) -> str:
    return f"H - {split.subject.dynamics.potential}({_theta(split).name})"


def _rest_is_free(split: Split) -> Answer:
    """Decide dK/dtheta = 0. Raises ModelError where K jumps."""
    theta, c = _theta(split), split.derivation.calculus
    K = convert(_rest(split), split.subject.dynamics.declarations)
    left = c.settled(c.diff(K, Coordinate(theta.name, row_slots(theta))))
    place = split.subject.names.index(theta.name)

    def entries(sizes: Sizes) -> list[Expr]:
        return _slopes(split, split.places(place, sizes), sizes)

    says = f"d({_rest_text(split)})/d{theta.name}"
    return decided(split, [Identity(says, split.subject.place("H"), left, entries)])


def _slopes(split: Split, places: range, sizes: Sizes) -> list[Expr]:
    """Return dK/dz at some places of z, by the second engine."""
    K = off_kinks(rows(_rest(split), split.subject.setting(sizes))[0][0])
    z = split.z(sizes)
    return [slope(K, z[k]) for k in places]


def _held(split: Split, block: str, build: Build) -> Answer | None:
    """Return the refutation by a point at which K depends on what is drawn, whatever U is; None where none was found.

    Looked for at the sizes of the build: they say which coordinates of theta those of a block are.
    """
    sizes = known_sizes(build, split.subject.dynamics)
    places = places_of(split, _theta(split).name, block, build, sizes)
    declarations, reads = split.subject.dynamics.declarations, split.formulas
    if places is None:
        return None
    try:
        for entry in _slopes(split, places, sizes):
            found = None if entry.atoms(AppliedUndef) else witness(entry, declarations, sizes, reads)
            if found is not None:
                by = f"exact witness: {_rest_text(split)} depends on {block}, which is then not distributed as claimed"
                at = (*found.text, (f"d({_rest_text(split)})/d{block}", str(found.value)))
                return Answer(Refuted(by, at), tuple(sizes.items()) or "all", where=split.subject.place("H"))
    except (NotScalarisableError, TooLargeError, NoInstanceError):
        return None
    return None


def places_of(split: Split, theta: str, block: str, build: Build, sizes: Sizes) -> range | None:
    """Return the places of z at which a block of the target stands in theta; None where the build fixes none."""
    known = {**known_sizes(build, build.target), **sizes}
    blocks = drawn_blocks(build.target)
    asked = (*split.subject.dynamics.declarations.blocks, *blocks)
    if any(isinstance(n, str) and n not in known for one in asked for n in one.shape.sizes):
        return None
    at = split.places(split.subject.names.index(theta), sizes).start
    place = [one.name for one in blocks].index(block)
    counts = [len(coordinates(one, known)) for one in blocks]
    return range(at + sum(counts[:place]), at + sum(counts[: place + 1]))

"""Is a block of the target drawn from its law under exp(-H) given all others? Then the draw preserves exp(-H).

The potential's block theta holds the blocks of the target one below the other, b = g(u) where one is sampled in an
unbounded variable. With H = U(theta) + K, and K free of theta, the law of theta given the other blocks of the dynamics
is exp(-U), and that of b given all others the one that `laws` of the target claims. A draw of b and u = g^-1(b) keeps
exp(-H), since the law of all others is what it was (Gelfand, Smith 1990; Geman, Geman 1984).

If K depends on theta, as with a metric, the law of b is another: exp(-E) exp(-K).

Rows z_n with the law Categorical(logits) given all others are drawn by slices, too: u_n ~ Uniform(0, w[z_n]), then z_n
with the probability exp(logits_k)/w_k among the places with w_k > u_n. Given all others z_n and u_n have the density
exp(logits[z_n])/w[z_n] on 0 < u_n < w[z_n] then, up to a constant: under it z_n has its law, u_n given z_n is that
uniform one, and z_n given u_n what is drawn (Walker 2007). So the law of z_n is kept, whatever w is, as long as it is
free of z, and a positive number: log w has to have a value. Every place is reached from every other, as u_n may be
below all weights. Levels are forgotten: no other move reads them, and none can be drawn beside one that is out of date.
"""

from functools import lru_cache, partial

from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import witness
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.derive.law_energies import energy, minus
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import by_name
from recipe_compiler.formula.expression import FunctionAt
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text
from recipe_compiler.spec.discrete import discrete_blocks
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.laws import is_on_simplex, law_text, of_all_data
from recipe_compiler.spec.model import Draw, Target
from recipe_compiler.spec.transform import standard
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verdict import AT_VALUES, Answer, Proved, Refuted, undecided
from recipe_compiler.verify.builds.in_build import target_decided_in
from recipe_compiler.verify.builds.laws import choose_sizes, decide_law, declare_all_rows, scalar_potential
from recipe_compiler.verify.builds.transformed import decide_transformed_law
from recipe_compiler.verify.core.build_values import bind_target_values, find_known_sizes
from recipe_compiler.verify.core.conjunction import conjoin, is_proved, reject_if_refuted
from recipe_compiler.verify.core.identities import list_faults
from recipe_compiler.verify.core.premises import has_state_assumptions, require_values
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.moves.witness import refute_at_point, substitute_point
from recipe_compiler.verify.steps.quantity import Quantity
from recipe_compiler.verify.steps.split import decide_identities

OF_A_BATCH = "a conditional distribution needs all data: `variant: full`"


def draw(cycle: Cycle, move: Draw) -> Answer:
    """Decide that a draw preserves the law of its block under exp(-H) given all others: at once, or by slices.

    pi(b, rest) = pi(rest) p(b | rest) is kept by b' ~ p(b | rest), pi = exp(-H) (Geman and Geman 1984; Gelfand and
    Smith 1990). By slices, rows z_n with the law Categorical(logits_n) are drawn by u_n ~ Uniform(0, w[z_n]), then z_n
    by exp(logits_n)/w among the places k with w_k > u_n: under exp(logits_n[z_n])/w[z_n] on 0 < u_n < w[z_n] these are
    the laws of each given the other, and z_n alone has exp(logits_n), whatever w > 0 is (Walker 2007). It rests on the
    law itself (`check_conditional_law`) and on log w having a value for all others; undecided where that is not shown.
    """
    law = check_conditional_law(cycle, move.block)
    if move.slices is None or not isinstance(law.decision, Proved):
        return law
    weights = move.slices.log_weights
    needed = require_values(move.slices.formulas, of_all_data(cycle.target.declarations))
    if needed.open:
        open_ = (f"not shown: {what}, in the slice weights of {move.block}" for what in needed.open)
        return undecided(*open_)
    says = f"{move.block} is drawn below levels, u ~ Uniform(0, w) with log w = {text(weights)}"
    free = Proved("log w is defined everywhere and does not depend on the block", tuple(sorted(needed.given)))
    return conjoin(f"{law.decision.by}; {says}", [(law.decision.by, law), (says, Answer(free))])


@lru_cache(maxsize=limits.SUBJECTS)
def check_conditional_law(cycle: Cycle, block: str, *, is_of_a_batch: bool = False) -> Answer:
    """Decide that the law claimed for a block b is its law under exp(-H) given all other blocks and all data.

    It rests on: d(U - E)/db = 0 for the energy E of the claimed law (`laws`); dK/dtheta = 0 for K = H - U(theta), so
    that the law under exp(-H) is that under exp(-U); and, for transformed blocks, that what is sampled has the law as
    declared. The law of b under exp(-U) given all others is then drawn from (Gelfand and Smith 1990). Refuted by an
    exact point at which one of the derivatives is not zero. Undecided where steps see a minibatch only.

    Example: U = sum_n (y_n - mu)**2/2 + mu**2/2 with N data has N((sum_n y_n)/(N + 1), 1/(N + 1)) as the law of mu,
    since dU/dmu = (N + 1) mu - sum_n y_n is that of E.

    Args:
        cycle: the moves.
        block: of the target.
        is_of_a_batch: whether it is decided also where steps use a minibatch of the data.
    """
    build, split, law = cycle.build, cycle.split, dict(cycle.target.laws).get(block)
    refused = _unsupported_draw_reason(cycle, block, is_of_a_batch=is_of_a_batch)
    if law is None or refused:
        return undecided(refused or f"the target {cycle.target.name} claims no law of {block}")
    of_target = target_decided_in(partial(decide_law, name=block), build)
    if isinstance(of_target.decision, Refuted):
        return of_target
    theta, K = cycle.potential_blocks[0], f"H - {split.subject.dynamics.potential}({cycle.potential_blocks[0].name})"
    try:
        of_rest = decide_identities(split, [_differentiate_other_energy(cycle).vanishes(f"d({K})/d{theta.name}")])
    except ModelError as error:
        return undecided(*list_faults(error))
    if not is_proved(of_rest):
        moved = _refute_by_other_energy(cycle, block, K)
        if moved is not None:
            return moved
        of_rest = undecided(f"d({K})/d{theta.name} is not zero, or not shown to be")
    obligations = [(f"{block} has the claimed law under exp(-U)", of_target)]
    if build.target.transforms:
        names = ", ".join(f"{one.inner} = {one.via}({one.block.name})" for one in build.target.transforms)
        obligations.append(
            (f"exp(-U) is the same distribution in {names}", target_decided_in(decide_transformed_law, build))
        )
    obligations.append((f"{K} is free of {theta.name}", of_rest))
    proof = conjoin(f"{block} ~ {law_text(law)} given all others", obligations)
    at_values = isinstance(of_target.decision, Proved) and AT_VALUES in of_target.decision.by
    return reject_if_refuted(proof, refute_draw((at_values and bind_target_values(build)) or build.target, block))


def refute_draw(target: Target, block: str) -> Answer | None:
    """Return the refutation by U(b') - U(b) != E(b') - E(b), exp(-E) the claimed law; None where no point shows it."""
    target = standard(target)
    declared, law = declare_all_rows(target.declarations), dict(target.laws)[block]
    own = by_name(declared.blocks)[block]
    if discrete_blocks(target.declarations) or target.recursion or is_on_simplex(own):
        return None
    sizes, E = choose_sizes(target)[-1], energy(law, own)

    def off(_: Point, other: Point) -> list[Expr]:
        left = scalar_potential(target, sizes) - rows(E, Setting(declared, sizes))[0][0]
        return [substitute_point(left, coordinates(own, sizes), other) - left]

    by = f"exact witness: U depends on {block} differently from its claimed law"
    return refute_at_point(by, off, declared, sizes, (*filter(None, (target.potential, target.log_prior)), E))


def _unsupported_draw_reason(cycle: Cycle, block: str, *, is_of_a_batch: bool) -> str:
    """Return why the law that a block is drawn from cannot be checked; empty where it can."""
    target, law = cycle.target, dict(cycle.target.laws).get(block)
    fields = {field.name for field in target.declarations.data}
    takes_data = law is not None and any(fields & {*dependence(argument).names} for argument in law.arguments)
    if cycle.build.variant != "full" and not is_of_a_batch and takes_data:
        return OF_A_BATCH
    if len(cycle.potential_blocks) != 1:
        return "the dynamics have no potential of one block, so the target's blocks cannot be identified in them"
    if has_state_assumptions(cycle.split.subject.declarations):
        return "an assumption restricts the state, which changes the conditional distributions"
    return ""


def _differentiate_other_energy(cycle: Cycle) -> Quantity:
    """Return dK/dtheta of K = H - U(theta). Raises ModelError where K jumps."""
    split, dynamics, (theta,) = cycle.split, cycle.split.subject.dynamics, cycle.potential_blocks
    K = minus(dynamics.H, FunctionAt(dynamics.potential or "", (theta.name,), SCALAR))
    tensor = convert(K, dynamics.declarations)
    return Quantity(split, (), tensor, lambda sizes: rows(K, split.subject.setting(sizes))[0]).slope(theta)


def _refute_by_other_energy(cycle: Cycle, block: str, says: str) -> Answer | None:
    """Return the refutation by a point at which K = H - U depends on the drawn block; None where none was found.

    Looked for at the sizes of the build: they say which coordinates of theta those of a block are.
    """
    subject, (theta,) = cycle.split.subject, cycle.potential_blocks
    sizes = find_known_sizes(cycle.build, subject.dynamics)
    places = cycle.places(block, sizes)
    if places is None:
        return None
    start = cycle.split.places(subject.names.index(theta.name), sizes).start
    try:
        for entry in _differentiate_other_energy(cycle).entries(sizes)[places.start - start : places.stop - start]:
            of_U = bool(entry.atoms(AppliedUndef))
            found = None if of_U else witness(entry, subject.declarations, sizes, subject.formulas)
            if found is not None:
                by = f"exact witness: {says} depends on {block}, which is then not distributed as claimed"
                at = (*found.text, (f"d({says})/d{block}", str(found.value)))
                return Answer(Refuted(by, at), tuple(sizes.items()) or "all", where=subject.place("H"))
    except (NotScalarisableError, TooLargeError, NoInstanceError):
        pass
    return None

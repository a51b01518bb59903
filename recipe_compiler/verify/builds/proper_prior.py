"""A proper prior and a bounded likelihood: exp(-U) then has a finite integral, by what the target states.

Where every block has one named density in the log prior, its arguments free of the block and of any cycle, the blocks
are integrated out one after the other, each integral being at most 1: one that stands in no argument any more goes
first. theta of normal(theta, mu, tau) goes before mu and tau. Bounded by a constant, the likelihood changes nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from recipe_compiler.formula.build import add
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.density_terms import log_density
from recipe_compiler.formula.expression import Add, Compare, Formula, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Stated, StatedDensity, Target
from recipe_compiler.spec.recursion import of_rows
from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.cases import Sample
from recipe_compiler.verify.builds.ceiling import Ceiling, Floor, ceiling
from recipe_compiler.verify.builds.inequality import Moments
from recipe_compiler.verify.builds.latent import ceiling_of_latent, latent
from recipe_compiler.verify.builds.locations import ceiling_at_locations, locations
from recipe_compiler.verify.builds.target import beside_states, defined
from recipe_compiler.verify.core.premises import depends_on_state, holds

ZERO = Number(Fraction(0))
METHOD = "proper prior, bounded likelihood"


def by_proper_prior(target: Target) -> Proved | None:
    """Return the proof by a proper prior and a bounded likelihood, whatever the data are; None where there is none.

    int exp(-U) <= C prod_b int p_b db <= C: every block has one named density, of integral at most 1, its arguments
    free of itself and of cycles, and the blocks are integrated out in order. theta ~ normal(mu, tau) goes before mu and
    tau.

    Args:
        target: as it is sampled; its densities are about the blocks as they are declared.
    """
    found = by_prior_and_data(target, None)
    return None if found is None else found[0]


def has_proper_prior(target: Target) -> bool:
    """Whether every block has one named density of integral 1 in the log prior, and nothing stands beside them."""
    plain, stated = target.declared or target, target.stated
    priors = [one for one in stated.densities if one.entry == "log_prior"]
    alone = target.potential is None and "log_prior" not in dict(stated.others) and all(one.is_term for one in priors)
    return alone and integrated_out(priors, plain.declarations) is not None


def by_prior_and_data(target: Target, sample: Sample | None) -> tuple[Proved, tuple[str, ...]] | None:
    """Return the proof by a proper prior and a bounded likelihood, with the facts of data that it rests on; else None.

    int exp(-U) <= C int prod_b p_b prod_j v_j**k_j exp(c_j h_j) db < oo, where log p(x | z) <= log C + sum_j k_j log
    v_j + c_j h_j (`ceiling`) and the moments on the right are finite under the laws p_b. At exact data locations may be
    integrated over first (`ceiling_at_locations`), or one block whose laws are in the likelihood (`ceiling_of_latent`).
    A target with a recursion is decided for all data only.

    Args:
        target: as it is sampled; its densities are about the blocks as they are declared.
        sample: its data, exact; None for all data.
    """
    plain = target.declared or target
    declared, stated = plain.declarations, target.stated
    if target.potential is not None or target.gradient is not None or not stated.densities:
        return None
    if target.recursion and sample is not None:  # a datum says nothing apart from the rows before it
        return None
    priors = [one for one in stated.densities if one.entry == "log_prior" and one.is_term]
    order, block = _order(priors, declared, sample)
    if order is None:
        return None
    of_data = [one for one in stated.densities if one.entry == "log_likelihood"]
    found = _ceilings(target, priors, sample, block)
    if found is None:
        return None
    beside, likelihood = found
    shown = defined(target).decision  # the blocks are in the supports, and scales positive
    if not isinstance(shown, Proved):
        return None
    data = (
        ("prior, integrated out in this order", ", ".join(order)),
        ("bounded", ", ".join(one.name for one in of_data if one.is_term) or "likelihood"),
    )
    absorbed = ", ".join(sorted({*beside.absorbed, *likelihood.absorbed}))
    given = beside_states((*shown.given, *beside.given, *likelihood.given), target)
    proof = Proved(METHOD, given, (*data, *((("moments of the prior", absorbed),) if absorbed else ())))
    return proof, likelihood.facts


def _order(
    priors: list[StatedDensity], declared: Declarations, sample: Sample | None
) -> tuple[tuple[str, ...] | None, str]:
    """Return the order in which blocks are integrated out, and a first one whose laws the likelihood has to show."""
    order = integrated_out(priors, declared)
    block = latent(declared, priors) if order is None and sample is not None else None
    if block is None:
        return order, ""
    others = replace(declared, blocks=tuple(other for other in declared.blocks if other != block))
    order = integrated_out(priors, others)
    return None if order is None else (block.name, *order), block.name


def _ceilings(
    target: Target, priors: list[StatedDensity], sample: Sample | None, block: str
) -> tuple[Ceiling, Ceiling] | None:
    """Return what stands beside the laws of the prior is at most, and the likelihood.

    At exact data where need be once locations are integrated over, whose moments then absorb nothing; or the block that
    has its laws in the likelihood.
    """
    plain, stated = target.declared or target, target.stated
    declared = plain.declarations
    others = add([formula for entry, formula in stated.others if entry == "log_prior"] or [ZERO], SCALAR)
    of_prior = [one for one in stated.densities if one.entry == "log_prior"]
    of_data = [one for one in stated.densities if one.entry == "log_likelihood"]
    moments = {one.of: DENSITIES[one.name].moments for one in priors if not _moves(one)}
    formula = _of_data(plain, stated, sample)
    beside = ceiling(others, of_prior, declared, moments)
    if beside is not None and sample is not None and block:
        likelihood = ceiling_of_latent(formula, of_data, declared, moments, sample, block)
        return None if likelihood is None else (beside, likelihood)
    if target.recursion:
        rows = _of_rows(plain, formula, of_data, moments) if beside is not None else None
        return None if beside is None or rows is None else (beside, rows)
    likelihood = ceiling(formula, of_data, declared, moments, sample) if beside is not None else None
    if sample is not None and likelihood is None:
        located = locations(priors, formula, declared, moments, sample)
        fewer = {name: known for name, known in moments.items() if name not in located}
        beside = ceiling(others, of_prior, declared, fewer) if located else None
        if beside is not None:
            likelihood = ceiling_at_locations(formula, of_data, declared, fewer, sample, located)
    return None if beside is None or likelihood is None else (beside, likelihood)


def _of_rows(target: Target, formula: Formula, of_data: list[StatedDensity], moments: Moments) -> Ceiling | None:
    """Return what the log likelihood of a row is at most, of the first row and of all others.

    States are those of `start` in the first. In others they are `next` of some states, so at least what stands in it
    beside terms that are not negative: omega, of omega + alpha (y - mu)**2 + beta s.
    """
    start: dict[str, Formula] = {state.block.name: state.start for state in target.recursion}
    densities = [replace(one, arguments=tuple(substitute(a, start) for a in one.arguments)) for one in of_data]
    first = ceiling(substitute(formula, start), densities, target.declarations, moments)
    declared = of_rows(target)
    known = tuple(floors(target, declared))
    others = ceiling(formula, of_data, declared, moments, floors=known)
    if first is None or others is None:
        return None
    given = first.given.union(others.given, *(floor.given for floor in known))
    return Ceiling(tuple(sorted({*first.absorbed, *others.absorbed})), given)


def floors(target: Target, declared: Declarations) -> Iterator[Floor]:
    """Yield lower bounds of states after the first row: the terms of `next` that contain no row and no state.

    All other terms are shown to be nonnegative, whatever the states and the data are.
    """
    states = {state.block.name for state in target.recursion}
    for state in target.recursion:
        if state.block.shape != SCALAR:
            continue
        terms = state.next.terms if isinstance(state.next, Add) else (state.next,)
        uses = [(term, dependence(term)) for term in terms]
        same = [term for term, use in uses if not use.data and not states & set(use.blocks)]
        others = add([term for term in terms if term not in same] or [ZERO], SCALAR)
        shown = holds((Compare(">=", others, ZERO, SCALAR),), declared)
        if same and not shown.open:
            yield Floor(Symbol(state.block.name, SCALAR, Role.BLOCK), add(same, SCALAR), shown.given)


def _of_data(target: Target, stated: Stated, sample: Sample | None) -> Formula:
    """Return the log likelihood; at exact data with logistic errors as Laplace's, which are at least half as likely."""
    terms = [one for one in stated.densities if one.entry == "log_likelihood" and one.is_term]
    if sample is None or not any(one.name == "logistic" for one in terms):
        return target.log_likelihood or ZERO
    rows = [(DENSITIES["laplace" if one.name == "logistic" else one.name], one.arguments) for one in terms]
    others = [formula for entry, formula in stated.others if entry == "log_likelihood"]
    return add([*(log_density(row, args, target.declarations) for row, args in rows), *others], SCALAR)


def _moves(one: StatedDensity) -> bool:
    """Whether a law depends on the state otherwise than as the law of its block."""
    return any(depends_on_state(argument) for argument in one.arguments[1:])


def integrated_out(priors: list[StatedDensity], declared: Declarations) -> tuple[str, ...] | None:
    """Return an order in which the blocks are integrated out, each law having integral at most 1; None without one.

    Blocks without a law in an interval of known ends come last: the interval has a finite length.
    """
    blocks = [block.name for block in declared.blocks]
    of = {one.of: one for one in priors}
    short = [block.name for block in declared.blocks if block.name not in of and has_known_ends(block)]
    if sorted(one.of for one in priors) != sorted(set(blocks) - set(short)):
        return None
    sets = {block.name: block.constraint for block in declared.blocks}
    laws = [one for one in priors if _is_proper(one, sets[one.of])]
    if len(laws) < len(priors) or not all(isinstance(one.arguments[0], Symbol) for one in priors):
        return None
    needed = {name: {b for arg in one.arguments[1:] for b in dependence(arg).blocks} for name, one in of.items()}
    order: list[str] = []
    while left := [name for name in of if name not in order]:
        free = [name for name in left if not any(name in needed[other] for other in left)]
        if not free:
            return None
        order.append(free[0])
    return (*order, *short)


def has_known_ends(block: Block) -> bool:
    """Whether every entry of a block lies in an interval whose ends are numbers."""
    ends = block.domain.bounds
    known = all(isinstance(end, Number) for end in ends)
    return block.constraint is None and block.domain.name is DomainName.INTERVAL and known


def _is_proper(one: StatedDensity, set_: Constraint | None) -> bool:
    """Whether a law has an integral of at most 1 over its block, its arguments being shown to be those of one.

    The logarithm of its determinant asks that a covariance is positive definite, and that a factor's is not 0. Of one
    number beside a column of arguments a density is a product of several of that number, which is no law. Over
    increasing columns an integral is at most that over all; other sets have measures of their own, and laws.

    Args:
        one: the density.
        set_: what its block lies in as a whole.
    """
    row, own = DENSITIES[one.name], one.arguments[0].shape
    beside = {*row.matrices} - {row.arguments[0]}
    others = [a.shape for name, a in zip(row.arguments, one.arguments, strict=True) if name not in beside]
    fits = row.proper and row.of_set is None if set_ in _PARTS else row.of_set is set_
    return fits and all(shape in (SCALAR, own) for shape in others)


_PARTS = (None, Constraint.ORDERED, Constraint.POSITIVE_ORDERED)
"""Sets that are of as many dimensions as entries, measured as all columns are."""

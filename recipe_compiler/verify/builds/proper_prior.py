"""Is a posterior proper? Two integrals exchanged: a proper prior beside densities of the data.

With prior pi(z) of integral at most 1 and densities p(y | z) of the data, int int pi(z) p(y | z) dy dz <= 1, so int
pi(z) p(y | z) dz is finite for almost every y (Tonelli's theorem); for every y where p(y | z) <= C. Rows of a recursion
are conditional densities given the rows before, whose product is a joint density. Blocks and data have densities one
given others, without cycles.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.formula.build import ONE, negate, nodes, replaced, same_shape
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.density_terms import log_density
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Entry,
    Filled,
    Formula,
    MatMul,
    Multiply,
    Number,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.spec.bind import Part, Rewriting, rewritten
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity, Target
from recipe_compiler.spec.recursion import of_rows
from recipe_compiler.verdict import Evidence, Proved
from recipe_compiler.verify.builds.bounded_terms import Limits
from recipe_compiler.verify.builds.priors import Parts, Prior, Slot, has_law_shapes, order_blocks, prove_prior
from recipe_compiler.verify.builds.products import Law, Product, Summands, TooManyError, overlap, slots
from recipe_compiler.verify.builds.row_laws import (
    find_latent_blocks,
    find_row_block,
    likelihood_products,
    list_bounded_states,
    list_floors,
)
from recipe_compiler.verify.builds.target import defined, drop_state_domains
from recipe_compiler.verify.from_data.columns import Rows

BOUNDED = "proper prior, bounded likelihood"
ALMOST = "proper prior, densities of the data"
OUTSIDE = "data outside a null set (ties may be in it)"


@dataclass(frozen=True, slots=True)
class Posterior:
    """A proper prior, and a likelihood that is bounded but for densities of data."""

    target: Target
    given: tuple[str, ...]
    data: Evidence
    """What the proof consists of, by name."""
    unbounded: tuple[tuple[Product, Law], ...]
    """The densities that are not bounded for all data, each with the product that contains it."""
    parts: tuple["Parts", ...]
    """The prior, product by product."""
    likelihood: tuple[Product, ...]
    absorbed: frozenset[str]
    """Blocks whose moments show that what stands beside is bounded."""

    def prove(self) -> Proved | None:
        """Return the proof for every data set, or for almost every one; None where there is none."""
        if not self.unbounded:
            return Proved(BOUNDED, self.given, self.data)
        if not are_densities(self.target, self.unbounded):
            return None
        return Proved(ALMOST, tuple(sorted({*self.given, OUTSIDE})), self.data)


def read_posterior(target: Target, rows: Rows | None = None) -> Posterior | None:
    """Return a posterior with a proper prior and a likelihood of densities and bounded factors; None for any other.

    int int prior(z) p(y | z) dz dy <= 1 where each block has one proper law, arguments free of cycles, or lies in a
    bounded set; and each factor of the likelihood is a density of data or is bounded. theta ~ normal(mu, tau) goes
    before mu and tau; y ~ normal(theta, s) is a density of y, and of no bound where s may vanish.

    Args:
        target: as it is sampled; its densities are about the blocks as they are declared.
        rows: its data, where a block may have its law in the likelihood: one entry for each row.
    """
    plain, densities, centred = _centre(_move_potential_to_prior(target.as_declared), target.stated.densities)
    if plain.potential is not None or target.gradient is not None:
        return None
    try:
        latent = frozenset[str]() if rows is None else find_latent_blocks(plain, densities, rows)
        prior = prove_prior(plain, densities, latent)
        found = None if prior is None else _find_unbounded(plain, densities, prior, latent)
    except TooManyError:
        return None
    if prior is None or found is None:
        return None
    absorbed, unbounded = found
    shown = defined(target).decision  # the blocks are in the supports, and scales positive
    if not isinstance(shown, Proved):
        return None
    data = [("prior, integrated out in this order", ", ".join(prior.order))]
    if target.log_likelihood is not None:
        of_data = dict.fromkeys(law.stated.name for _, law in unbounded)
        names = dict.fromkeys(one.name for one in densities if one.entry == "log_likelihood")
        bounded = [name for name in names if name not in of_data]
        data += [("densities of the data", ", ".join(of_data))] if of_data else []
        data += [("bounded", ", ".join(bounded) or "likelihood")] if bounded or not of_data else []
    moments = ", ".join(sorted(prior.absorbed | absorbed))
    data += [("moments of the prior", moments)] if moments else []
    given = drop_state_domains((*shown.given, *prior.given), target)
    data += [("centred", ", ".join(centred))] if centred else []
    likelihood = likelihood_products(plain, densities)
    return Posterior(plain, given, tuple(data), tuple(unbounded), prior.parts, likelihood, prior.absorbed | absorbed)


def _move_potential_to_prior(target: Target) -> Target:
    """Return a target whose potential, without data, is the negative logarithm of a prior."""
    if target.potential is None or target.declarations.data:
        return target
    return replace(target, potential=None, log_prior=negate(target.potential))


def _centre(
    target: Target, densities: tuple[StatedDensity, ...]
) -> tuple[Target, tuple[StatedDensity, ...], list[str]]:
    """Return a target and its densities with f = cholesky(S) @ z in the place of blocks z, and the names of these.

    z is N(0, I) and occurs in this product alone: then f is N(0, S), and the integral stays the same.
    """
    centred: list[str] = []
    for law in densities:
        z, *others = law.arguments
        if (law.name, law.entry, others) != ("normal", "log_prior", [Number(Fraction(0)), ONE]):
            continue
        old = log_density(DENSITIES["normal"], law.arguments, target.declarations)
        stated = tuple(x for x in (target.log_prior, target.log_likelihood) if x is not None)
        beside = _with(stated, {old: Number(Fraction(0))})
        used = {node for x in beside for node in nodes(x) if isinstance(node, MatMul) and node.right == z}
        match [*used]:
            case [MatMul(Apply("cholesky", (S,)), Symbol(name), shape) as product]:
                rest = (S, *_with(beside, {product: Filled(0, shape)}))
            case _:
                continue
        if dependence(S).data or any(name in dependence(x).blocks for x in rest):
            continue
        normal = replace(law, name="multi_normal", arguments=(z, Filled(0, shape), S))
        new = log_density(DENSITIES[normal.name], normal.arguments, target.declarations)
        log_prior, log_likelihood = _with((target.log_prior, target.log_likelihood), {product: z, old: new})
        target = replace(target, log_prior=log_prior, log_likelihood=log_likelihood)
        densities = _with(tuple(normal if one == law else one for one in densities), {product: z})
        centred.append(name)
    return target, densities, centred


def _with(part: Part, places: Mapping[Formula, Formula]) -> Part:
    return rewritten(part, Rewriting(lambda formula: replaced(formula, places.get), same_shape))


def prove_by_proper_prior(target: Target) -> Proved | None:
    """Return the proof of `read_posterior`, for every data set or almost every one; None where there is none.

    Args:
        target: as it is sampled; its densities are about the blocks as they are declared.
    """
    found = read_posterior(target)
    return None if found is None else found.prove()


def has_proper_prior(target: Target) -> bool:
    """Whether the prior of a target has a finite integral over all blocks.

    Args:
        target: as it is sampled; its densities are about the blocks as they are declared.
    """
    plain = target.as_declared
    try:
        return plain.potential is None and prove_prior(plain, target.stated.densities) is not None
    except TooManyError:
        return False


# Densities of the data


def _find_unbounded(
    target: Target, densities: Sequence[StatedDensity], prior: Prior, latent: frozenset[str]
) -> tuple[frozenset[str], list[tuple[Product, Law]]] | None:
    """Return blocks whose moments a likelihood rests on, and its densities without a bound; None if not shown."""
    declared = of_rows(target)
    limits = Limits(declared, prior.moments, frozenset(list_bounded_states(target)), dict(list_floors(target)))
    absorbed: frozenset[str] = frozenset()
    unbounded: list[tuple[Product, Law]] = []
    for product in likelihood_products(target, densities):
        beside = limits.find_absorbing_blocks(product.rest)
        if beside is None:
            beside, product = (
                limits.find_absorbing_blocks(_write_out_laws(product, declared)),
                replace(product, laws=()),
            )
        if beside is None:
            return None
        absorbed |= beside
        outcomes: list[Law] = []
        for law in product.laws:
            if find_row_block(law) in latent:
                continue
            shown = limits.bound_law(law)
            if shown is None:
                outcomes.append(law)
            else:
                absorbed |= shown
        unbounded += [(product, law) for law in outcomes]
    return absorbed, unbounded


def _write_out_laws(product: Product, declared: Declarations) -> Summands:
    """Return the summands of a product with those of its laws, which may cancel others."""
    laws = [law.stated for law in product.laws if not law.is_of_entries]
    whole = laws if len(laws) == len(product.laws) else []
    densities = ((Fraction(1), log_density(DENSITIES[law.name], law.arguments, declared)) for law in whole)
    return (*product.rest, *densities)


def are_densities(target: Target, unbounded: Sequence[tuple[Product, Law]]) -> bool:
    """Whether laws of each product are densities of different data, one given others, without cycles."""
    by_product: dict[Product, list[Law]] = {}
    for product, law in unbounded:
        by_product.setdefault(product, []).append(law)
    for laws in by_product.values():
        outcomes = [find_outcome(law, target.declarations) for law in laws]
        known = {slot: law.stated for slot, law in zip(outcomes, laws, strict=True) if slot is not None}
        if len(known) < len(laws) or any(overlap({a}, {b}) for a in known for b in known if a != b):
            return False
        if order_blocks(known) is None:
            return False
    return True


def find_outcome(law: Law, declared: Declarations) -> Slot | None:
    """Return the field of the data, or its entry, that a law is a density of; None where it is a density of none.

    For a y + b it is one up to a constant factor, for log(y) up to a factor of the data.
    """
    row, first = DENSITIES[law.stated.name], law.stated.arguments[0]
    if not row.proper or row.discrete or row.index or row.of_set is not None:
        return None
    slot = _find_variable(first, entries=law.is_of_entries)
    if slot is None or not (law.is_of_entries or has_law_shapes(law.stated)):
        return None
    datum = next((one for one in declared.data if one.name == slot[0]), None)
    if datum is None or datum.values or datum.is_index or Kind.INTEGER in datum.known:
        return None
    return None if any(overlap({slot}, slots(argument)) for argument in law.stated.arguments[1:]) else slot


def _find_variable(formula: Formula, *, entries: bool) -> Slot | None:
    """Return the field of which a formula is an invertible function."""
    match formula:
        case Symbol(name, _, Role.DATUM) | Transpose(Symbol(name, _, Role.DATUM)):
            return name, None
        case Entry(Symbol(name, _, Role.DATUM), at):
            return name, at
        case Apply("log", (arg,)):
            return _find_variable(arg, entries=entries)
        case Multiply(Number(value), arg) | Multiply(arg, Number(value)) if value != 0:
            return _find_variable(arg, entries=entries)
        case Multiply(arg, Filled()) | Multiply(Filled(), arg) if entries:
            return _find_variable(arg, entries=entries)
        case Add((arg, Number())) | Add((Number(), arg)):
            return _find_variable(arg, entries=entries)
        case _:
            return None

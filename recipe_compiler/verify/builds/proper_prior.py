"""Is a posterior proper? Two integrals exchanged: a proper prior beside densities of the data.

With prior pi(z) of integral at most 1 and densities p(y | z) of the data, int int pi(z) p(y | z) dy dz <= 1, so int
pi(z) p(y | z) dz is finite for almost every y (Tonelli's theorem); for every y where p(y | z) <= C. Rows of a recursion
are conditional densities given the rows before, whose product is a joint density. Blocks and data have densities one
given others, without cycles.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from recipe_compiler.facts.semidefinite import sign
from recipe_compiler.formula.build import add, depends_on_state, multiply, negate, parts
from recipe_compiler.formula.constraints import THIN, Constraint
from recipe_compiler.formula.declaration import Block, Declarations
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
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.orders import terms_of
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Dynamics, StatedDensity, Target
from recipe_compiler.spec.recursion import of_rows
from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.bounded_terms import Limits, Moments
from recipe_compiler.verify.builds.products import Law, Product, Summands, TooManyError, overlap, products, slots
from recipe_compiler.verify.builds.target import defined, drop_state_domains
from recipe_compiler.verify.builds.written_densities import recognise_laws
from recipe_compiler.verify.core.premises import list_facts
from recipe_compiler.verify.core.subject import prepare_subject
from recipe_compiler.verify.from_data.columns import NotReadError, Rows
from recipe_compiler.verify.integrability.bounded import bounded_above
from recipe_compiler.verify.integrability.normalisable import normalisable

ZERO = Number(Fraction(0))
BOUNDED = "proper prior, bounded likelihood"
ALMOST = "proper prior, densities of the data"
OUTSIDE = "data outside a null set (ties may be in it)"


K = TypeVar("K", str, int)


@dataclass(frozen=True, slots=True)
class Prior:
    """A proper prior: the order in which its blocks are integrated out, and what that rests on."""

    order: tuple[str, ...]
    moments: Moments
    absorbed: frozenset[str]
    given: frozenset[str]
    parts: tuple["Parts", ...]
    """What the proof is about, of each product."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """A proper prior, and a likelihood that is bounded but for densities of data."""

    target: Target
    given: tuple[str, ...]
    data: tuple[tuple[str, str], ...]
    """What the proof consists of, by name."""
    unbounded: tuple[tuple[Product, Law], ...]
    """The densities that are not bounded for all data, each with the product that it stands in."""
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
    plain, stated = _move_potential_to_prior(target.declared or target), target.stated
    if plain.potential is not None or target.gradient is not None:
        return None
    try:
        latent = frozenset[str]() if rows is None else find_latent_blocks(plain, stated.densities, rows)
        prior = prove_prior(plain, stated.densities, latent)
        found = None if prior is None else _find_unbounded(plain, stated.densities, prior, latent)
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
        names = dict.fromkeys(one.name for one in stated.densities if one.entry == "log_likelihood")
        bounded = [name for name in names if name not in of_data]
        data += [("densities of the data", ", ".join(of_data))] if of_data else []
        data += [("bounded", ", ".join(bounded) or "likelihood")] if bounded or not of_data else []
    moments = ", ".join(sorted(prior.absorbed | absorbed))
    data += [("moments of the prior", moments)] if moments else []
    given = drop_state_domains((*shown.given, *prior.given), target)
    likelihood = likelihood_products(plain, stated.densities)
    return Posterior(plain, given, tuple(data), tuple(unbounded), prior.parts, likelihood, prior.absorbed | absorbed)


def _move_potential_to_prior(target: Target) -> Target:
    """Return a target whose potential, without data, is the negative logarithm of a prior."""
    if target.potential is None or target.declarations.data:
        return target
    return replace(target, potential=None, log_prior=negate(target.potential))


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
    plain = target.declared or target
    try:
        return plain.potential is None and prove_prior(plain, target.stated.densities) is not None
    except TooManyError:
        return False


# The prior


@dataclass(frozen=True, slots=True)
class Parts:
    """A product of the prior: blocks with a proper law, and the others by the groups that summands join."""

    laws: "Laws"
    order: tuple[str, ...]
    groups: tuple["Group", ...]
    moments: Moments
    absorbed: frozenset[str]
    """Blocks whose moments show that what stands beside is bounded."""
    others: tuple[Law, ...]
    """Densities beside the laws of blocks."""
    rest: Summands
    """Summands beside them, and those of the groups."""


def prove_prior(
    target: Target, densities: Sequence[StatedDensity], latent: frozenset[str] = frozenset()
) -> Prior | None:
    """Return the proof that a log prior has a finite integral over all blocks but some; None where there is none."""
    every: list[Parts] = []
    given: set[str] = set()
    order: list[str] = []
    for product in prior_products(target, densities):
        own = split_prior(product, target.declarations)
        if own is None or any(latent & {*dependence(x).blocks} for law in own.laws.values() for x in law.arguments):
            return None
        groups = [(blocks, terms) for blocks, terms in own.groups if terms or not {b.name for b in blocks} <= latent]
        finite = [prove_group(group, target.declarations) for group in groups]
        if any(one is None for one in finite):
            return None
        given = given.union(*(one or frozenset[str]() for one in finite))
        lawless = (block.name for blocks, _ in groups for block in blocks)
        order = order or [*sorted(latent), *own.order, *lawless]
        every.append(own)
    moments = {name: frozenset.intersection(*(one.moments.get(name, frozenset()) for one in every))
               for name in every[0].moments}  # fmt: skip
    absorbed = frozenset[str]().union(*(one.absorbed for one in every))
    return Prior(tuple(order), moments, absorbed, frozenset(given), tuple(every))


def prior_products(target: Target, densities: Sequence[StatedDensity]) -> tuple[Product, ...]:
    """Return the products whose sum a prior is at most."""
    own = [one for one in densities if one.entry == "log_prior"]
    return products(target.log_prior or ZERO, own, target.declarations)


Slot = tuple[str, tuple[int, ...] | None]
Laws = dict[Slot, StatedDensity]
Group = tuple[list[Block], list[tuple[Fraction, Formula]]]


def split_prior(product: Product, declared: Declarations) -> Parts | None:
    """Return the laws of blocks, without cycles, and the blocks without one; None where the rest is not bounded."""
    sets = {block.name: block for block in declared.blocks}
    laws: Laws = {}
    others: list[Law] = []
    for law in product.laws:
        slot = _find_slot(law, sets)
        if slot is None or overlap({slot}, laws):
            others.append(law)
        else:
            laws[slot] = law.stated
    covered = {name for name in sets if _is_covered(sets[name], laws)}
    others += [Law(law) for slot, law in laws.items() if slot[0] not in covered]
    laws = {slot: law for slot, law in laws.items() if slot[0] in covered}
    groups, rest = _group_summands(product.rest, [block for name, block in sets.items() if name not in covered])
    order = _order_blocks(laws)
    moments = {
        name: DENSITIES[law.name].moments
        for (name, at), law in laws.items()
        if at is None and not any(map(depends_on_state, law.arguments[1:]))
    }
    limits = Limits(declared, moments)
    shown = [limits.find_absorbing_blocks(rest), *(limits.bound_law(law) for law in others)]
    if order is None or any(one is None for one in shown):
        return None
    absorbed = frozenset[str]().union(*(one or frozenset[str]() for one in shown))
    return Parts(laws, order, tuple(groups), moments, absorbed, tuple(others), rest)


def _find_slot(law: Law, blocks: dict[str, Block]) -> Slot | None:
    """Return the block, or the entry of one, that a law is proper for; None where it is no proper law of one."""
    row, first = DENSITIES[law.stated.name], law.stated.arguments[0]
    match first:
        case Symbol(name, _, Role.BLOCK):
            slot = (name, None)
        case Entry(Symbol(name, _, Role.BLOCK), at):
            slot = (name, at)
        case _:
            return None
    inside = blocks.get(name)
    if inside is None or row.discrete or row.index or law.is_of_entries or not _has_law_shapes(law.stated):
        return None
    if any(overlap({slot}, slots(argument)) for argument in law.stated.arguments[1:]):
        return None
    set_ = inside.constraint
    allowed = row.proper and row.of_set is None if set_ in _PARTS else row.of_set is set_ and slot[1] is None
    return slot if allowed else None


_PARTS = (None, Constraint.ORDERED, Constraint.POSITIVE_ORDERED)
"""Sets that are of as many dimensions as entries, measured as all columns are: an integral is at most that over all."""


def _has_law_shapes(one: StatedDensity) -> bool:
    """Whether the other arguments are numbers, or of the shape of the first, as those of a law are."""
    row, own = DENSITIES[one.name], one.arguments[0].shape
    beside = {*row.matrices} - {row.arguments[0]}
    others = [a.shape for name, a in zip(row.arguments, one.arguments, strict=True) if name not in beside]
    return all(shape in (SCALAR, own) for shape in others)


def _is_covered(block: Block, laws: Iterable[Slot]) -> bool:
    """Whether a block has a law, whole or entry by entry."""
    own = {at for name, at in laws if name == block.name}
    if None in own:
        return True
    sizes = block.shape.sizes
    numbers = [size for size in sizes if isinstance(size, int)]
    count = 1
    for size in numbers:
        count *= size
    return bool(own) and len(numbers) == len(sizes) and len(own) == count


def _order_blocks(laws: Laws) -> tuple[str, ...] | None:
    """Return an order in which blocks are integrated out, each standing in no law that is left; None without one."""
    needed = {slot: frozenset().union(*map(slots, law.arguments[1:])) for slot, law in laws.items()}
    order: list[str] = []
    while needed:
        free = next((slot for slot in needed if not any(overlap({slot}, inside) for inside in needed.values())), None)
        if free is None:
            return None
        del needed[free]
        order.append(free[0] if free[1] is None else f"{free[0]}{list(free[1])}")
    return tuple(order)


def _group_summands(rest: Summands, lawless: Sequence[Block]) -> tuple[list[Group], Summands]:
    """Return the blocks without a law by the groups that summands join, with these summands; and all others."""
    names = {block.name for block in lawless}
    uses = [(c, term, frozenset(dependence(term).blocks)) for c, term in rest]
    groups: list[frozenset[str]] = [frozenset({name}) for name in sorted(names)]
    inside = [(c, term, own) for c, term, own in uses if own and own <= names]
    for _, _, own in inside:
        joined = [group for group in groups if group & own]
        groups = [*(group for group in groups if not group & own), frozenset().union(*joined)]
    found = [
        ([block for block in lawless if block.name in group], [(c, term) for c, term, own in inside if own <= group])
        for group in groups
    ]
    return found, tuple((c, term) for c, term, own in uses if not (own and own <= names))


def prove_group(group: Group, declared: Declarations) -> frozenset[str] | None:
    """Return what is given where exp of a sum has a finite integral; None where that is not shown.

    A bounded one has over sets of finite measure, and Dirichlet's; others by growth.
    """
    blocks, terms = group
    unbounded = [(c, term) for c, term in terms if not bounded_above(multiply(Number(c), term, term.shape), declared)]
    if all(_has_finite_measure(block) for block in blocks):
        if not unbounded:
            return frozenset()
        simplices = [block for block in blocks if block.constraint is Constraint.SIMPLEX]
        if len(unbounded) == len(blocks) == len(simplices) == 1 and _is_dirichlet(*unbounded[0], blocks[0], declared):
            return list_facts([unbounded[0][1]], declared)
    if any(block.constraint is not None for block in blocks):
        return None
    names = {block.name for block in blocks}
    assume = tuple(one for one in declared.assume if {*dependence(one).blocks} <= names and not dependence(one).data)
    alone = replace(declared, blocks=tuple(blocks), data=(), assume=assume)
    energy = negate(add([multiply(Number(c), term, SCALAR) for c, term in terms] or [ZERO], SCALAR))
    found = normalisable(prepare_subject(Dynamics("prior", alone, energy, None, None))).decision
    return frozenset(found.given) if isinstance(found, Proved) else None


def _has_finite_measure(block: Block) -> bool:
    """Whether a block lies in a set of finite measure: a bounded one, or an interval whose ends are numbers."""
    if block.constraint is not None:
        return block.constraint in THIN
    ends = block.domain.bounds
    return block.domain.name is DomainName.INTERVAL and all(isinstance(end, Number) for end in ends)


def _is_dirichlet(c: Fraction, term: Formula, block: Block, declared: Declarations) -> bool:
    """Whether a summand is sum_i c_i log b_i with all c_i > -1."""
    for factor, logs in _split_log_factor(term):
        match logs:
            case Apply("log", (Symbol(name) | Entry(Symbol(name)) as arg,)) if name == block.name:
                if isinstance(arg, Entry) and factor.shape != SCALAR:
                    continue  # a sum over copies of one logarithm
                if _is_above_minus_one(multiply(Number(c), factor, factor.shape), declared):
                    return True
            case _:
                pass
    return False


def _split_log_factor(term: Formula) -> Iterator[tuple[Formula, Formula]]:
    """Yield c and log b of a summand that is c times log b, summed over entries."""
    match term:
        case Apply("sum", (Multiply(left, right),)):
            yield from ((left, right), (right, left))
        case Apply("sum", (arg,)):
            yield Number(Fraction(1)), arg
        case MatMul(Transpose(left), right) if left.shape == right.shape and left.shape.cols is None:
            yield from ((left, right), (right, left))
        case Multiply(left, Apply("sum", (right,))) | Multiply(Apply("sum", (right,)), left):
            yield left, right
        case Multiply(left, right):
            yield from ((left, right), (right, left))
        case _:
            yield Number(Fraction(1)), term


def _is_above_minus_one(c: Formula, declared: Declarations) -> bool:
    """Whether every entry of a constant is above -1."""
    if dependence(c).blocks:
        return False
    one = Number(Fraction(1))
    return sign(add([c, one if c.shape == SCALAR else Filled(1, c.shape)], c.shape), declared).positive


# The likelihood


def likelihood_products(target: Target, densities: Sequence[StatedDensity]) -> tuple[Product, ...]:
    """Return the products whose sum the likelihood of a datum is at most, written-out densities by their names."""
    own = [one for one in densities if one.entry == "log_likelihood"]
    return tuple(map(recognise_laws, products(target.log_likelihood or ZERO, own, of_rows(target))))


def _find_unbounded(
    target: Target, densities: Sequence[StatedDensity], prior: Prior, latent: frozenset[str]
) -> tuple[frozenset[str], list[tuple[Product, Law]]] | None:
    """Return blocks whose moments a likelihood rests on, and its densities without a bound; None if not shown."""
    declared = of_rows(target)
    limits = Limits(declared, prior.moments, frozenset(_list_bounded_states(target)), dict(_list_floors(target)))
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
        if _order_blocks(known) is None:
            return False
    return True


def find_outcome(law: Law, declared: Declarations) -> Slot | None:
    """Return the field of the data, or its entry, that a law is a density of; None where it is a density of none.

    Of a y + b it is one but for a constant factor, of log(y) but for one of the data.
    """
    row, first = DENSITIES[law.stated.name], law.stated.arguments[0]
    if not row.proper or row.discrete or row.index or row.of_set is not None:
        return None
    slot = _find_variable(first, entries=law.is_of_entries)
    if slot is None or not (law.is_of_entries or _has_law_shapes(law.stated)):
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


def find_latent_blocks(target: Target, densities: Sequence[StatedDensity], rows: Rows) -> frozenset[str]:
    """Return the blocks each entry of which has one law in the likelihood, given entries with laws of their own.

    With t = (0, 1, 2) and before = (0, 0, 1), `where(first, normal(h[t], m, 1), normal(h[t], h[before], s))` is the law
    of h[0], that of h[1] given h[0], and that of h[2] given h[1].
    """
    fields = {datum.name for datum in target.declarations.data if not datum.is_index}
    outcomes = fields & {name for one in densities for name in dependence(one.arguments[0]).data}
    needed: dict[str, set[str]] = {}
    for one in densities:
        if name := find_row_block(Law(one)):
            given = [dependence(argument) for argument in one.arguments[1:]]
            if any(outcomes & {*on.data} for on in given):
                return frozenset()  # a law given data that have one given the block
            needed.setdefault(name, set()).update(*(on.blocks for on in given))
    try:
        likelihood = likelihood_products(target, densities)
        found = {name: others - {name} for name, others in needed.items() if _has_row_laws(name, likelihood, rows)}
    except NotReadError:
        return frozenset()
    return frozenset(found) if not _has_cycle(found) else frozenset()


def _has_cycle(needed: Mapping[K, Set[K]]) -> bool:
    """Whether some of what is needed needs itself, through others."""
    while free := {name for name, others in needed.items() if not others & needed.keys()}:
        needed = {name: others for name, others in needed.items() if name not in free}
    return bool(needed)


def find_row_block(law: Law) -> str:
    """Return the block of whose entry, at the position of a row, a density is; empty for any other."""
    match law.stated.arguments[0]:
        case MatMul(Symbol(_, _, Role.INDEX), Symbol(name, _, Role.BLOCK)) if not law.is_of_entries:
            return name
        case _:
            return ""


def _has_row_laws(name: str, likelihood: Sequence[Product], rows: Rows) -> bool:
    needed: dict[int, set[int]] = {}
    if not rows.is_whole:
        return False
    for product in likelihood:
        own = [law for law in product.laws if find_row_block(law) == name]
        part = rows.select_rows(product.guards)
        if part.count == 0:
            continue
        if (
            len(own) != 1
            or product.is_mixed
            or not _has_law_shapes(own[0].stated)
            or not DENSITIES[own[0].stated.name].proper
        ):
            return False
        first, *others = own[0].stated.arguments
        if DENSITIES[own[0].stated.name].discrete or not isinstance(first, MatMul):
            return False
        givens = [list_positions(one, name, part) for one in others]
        for k, place in enumerate(list_positions(first, name, part)[0]):
            if place in needed:
                return False
            needed[place] = {given[k] for lists in givens for given in lists}
    block = next(one for one in rows.declarations.blocks if one.name == name)
    if {*needed} != {*range(rows.length(block.shape.rows))} or len(block.shape.sizes) != 1:
        return False
    return not _has_cycle(needed)


def list_positions(formula: Formula, name: str, rows: Rows) -> list[list[int]]:
    """Return the positions of a block's entries in a formula, row by row, for each index field that it stands behind.

    Raises:
        NotReadError: the block stands there otherwise.
    """
    match formula:
        case MatMul(Symbol(field, _, Role.INDEX), Symbol(block, _, Role.BLOCK)) if block == name:
            (lines,) = rows.data[field]
            return [[next(k for k, line in enumerate(lines) if line[n]) for n in range(rows.count)]]
        case Symbol(block, _, Role.BLOCK) if block == name:
            raise NotReadError(f"{name} as a whole")
        case _:
            return [one for part in parts(formula) for one in list_positions(part, name, rows)]


def _list_bounded_states(target: Target) -> Iterator[str]:
    """Yield states of a recursion that are bounded: means of bounded numbers with positive weights, in every row."""
    declared = of_rows(target)
    for state in target.recursion:
        match state.next:
            case Multiply(Add(above), Power(Add(below), Number(minus))) if minus == -1 and len(above) == len(below):
                pairs = zip(above, below, strict=True)
                if bounded_above(state.start, declared) and all(_is_share(a, b, declared) for a, b in pairs):
                    yield state.block.name
            case _:
                continue


def _list_floors(target: Target) -> Iterator[tuple[str, tuple[Formula, ...]]]:
    """Yield positive states with their start, and what is left of `next` without what is nonnegative in every row."""
    declared = of_rows(target)
    states = {state.block.name for state in target.recursion}
    for state in target.recursion:
        uses = [(term, dependence(term)) for term in terms_of(state.next)]
        same = [term for term, use in uses if not use.data and not states & {*use.blocks}]
        others = [term for term, _ in uses if term not in same]
        if state.block.shape == SCALAR and same and all(sign(term, declared).nonnegative for term in others):
            yield state.block.name, (state.start, add(same, SCALAR))


def _is_share(above: Formula, below: Formula, declared: Declarations) -> bool:
    """Whether a formula is a bounded factor times a positive one."""
    if not sign(below, declared).positive:
        return False
    match above:
        case Multiply(p, f) if f == below:
            return bounded_above(p, declared)
        case Multiply(f, p) if f == below:
            return bounded_above(p, declared)
        case _:
            return False

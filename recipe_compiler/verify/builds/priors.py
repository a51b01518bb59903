"""Has a prior a finite integral? Blocks with laws are integrated out in turn, others by what is known of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.facts.semidefinite import sign
from recipe_compiler.formula.build import add, depends_on_state, multiply, negate
from recipe_compiler.formula.constraints import THIN, Constraint
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.expression import (
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
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Dynamics, StatedDensity, Target
from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.bounded_terms import Limits, Moments
from recipe_compiler.verify.builds.products import Law, Product, Summands, overlap, products, slots
from recipe_compiler.verify.core.premises import list_facts
from recipe_compiler.verify.core.subject import prepare_subject
from recipe_compiler.verify.integrability.bounded import bounded_above
from recipe_compiler.verify.integrability.normalisable import normalisable

ZERO = Number(Fraction(0))


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
    order = order_blocks(laws)
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
    """Return the block, or the entry of one, for which a law is a proper prior; None if it is none."""
    row, first = DENSITIES[law.stated.name], law.stated.arguments[0]
    match first:
        case Symbol(name, _, Role.BLOCK):
            slot = (name, None)
        case Entry(Symbol(name, _, Role.BLOCK), at):
            slot = (name, at)
        case _:
            return None
    inside = blocks.get(name)
    if inside is None or row.discrete or row.index or law.is_of_entries or not has_law_shapes(law.stated):
        return None
    if any(overlap({slot}, slots(argument)) for argument in law.stated.arguments[1:]):
        return None
    set_ = inside.constraint
    allowed = row.proper and row.of_set is None if set_ in _PARTS else row.of_set is set_ and slot[1] is None
    return slot if allowed else None


_PARTS = (None, Constraint.ORDERED, Constraint.POSITIVE_ORDERED)
"""Sets that are of as many dimensions as entries, measured as all columns are: an integral is at most that over all."""


def has_law_shapes(one: StatedDensity) -> bool:
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


def order_blocks(laws: Laws) -> tuple[str, ...] | None:
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
    """Return the blocks without a law in groups that summands couple, with these summands; and all others."""
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

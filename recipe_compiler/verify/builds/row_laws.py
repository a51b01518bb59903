"""Laws in the rows of a likelihood: those of the entries of a block, and what bounds the states of a recursion."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TypeVar

from recipe_compiler.facts.semidefinite import sign
from recipe_compiler.formula.build import add, parts
from recipe_compiler.formula.declaration import Declarations, by_name
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.expression import (
    Add,
    Formula,
    MatMul,
    Multiply,
    Number,
    Power,
    Role,
    Symbol,
)
from recipe_compiler.formula.orders import terms_of
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity, Target
from recipe_compiler.spec.recursion import of_rows
from recipe_compiler.verify.builds.priors import ZERO, has_law_shapes
from recipe_compiler.verify.builds.products import Law, Product, products
from recipe_compiler.verify.builds.written_densities import recognise_laws
from recipe_compiler.verify.from_data.columns import NotReadError, Rows
from recipe_compiler.verify.integrability.bounded import bounded_above

K = TypeVar("K", str, int)


def likelihood_products(target: Target, densities: Sequence[StatedDensity]) -> tuple[Product, ...]:
    """Return the products whose sum the likelihood of a datum is at most, written-out densities by their names."""
    own = [one for one in densities if one.entry == "log_likelihood"]
    return tuple(map(recognise_laws, products(target.log_likelihood or ZERO, own, of_rows(target))))


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
    """Whether a dependence graph has a cycle."""
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
            or not has_law_shapes(own[0].stated)
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
    block = by_name(rows.declarations.blocks)[name]
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


def list_bounded_states(target: Target) -> Iterator[str]:
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


def list_floors(target: Target) -> Iterator[tuple[str, tuple[Formula, ...]]]:
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

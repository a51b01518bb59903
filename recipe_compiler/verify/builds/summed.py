"""Counts are summed over: exp(-U) has a finite integral and sum where exp(-V) has a finite integral.

V = -log sum_z exp(-U(x, z)) is a potential of the other blocks x, by Tonelli's theorem whatever the order. It is known
in two ways:

- A named law of z, over all counts of its domain, is a summand of log p, the rest of which is free of z. Its sum over z
  is one: without that summand log p is -V.
- The law of z given all others is Poisson(m) or Binomial(n, p), by the claim `laws`. Then exp(-U) is exp(-U at z = 0)
  times the product of all m_k**z_k/z_k!, whose sum over all z is exp(sum_k m_k), or of all binomial coefficients times
  (p_k/(1 - p_k))**z_k, whose sum is prod_k (1 - p_k)**-n_k.

Worked: log p = y log(c p) - c p + z log(c (1 - p)) - c (1 - p) - log(y! z!) is -U of Poisson(c) counts of which y were
seen, and z not. At z = 0 what is left of z is -c (1 - p), and m = c (1 - p): V is that of y ~ Poisson(c p).
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import overload

from recipe_compiler import limits
from recipe_compiler.formula.build import add, matmul, multiply, negate, parts, rebuild
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.density_terms import comparisons, log_density
from recipe_compiler.formula.expression import (
    ELEMENTWISE,
    Add,
    Apply,
    Compare,
    Filled,
    Formula,
    MatMul,
    Multiply,
    Power,
    Role,
    Symbol,
)
from recipe_compiler.formula.rebuild import zero
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.discrete import is_counts, of_data, with_ends
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.laws import law_text
from recipe_compiler.spec.model import Law, Stated, StatedDensity, Target
from recipe_compiler.spec.transform import standard
from recipe_compiler.verdict import Evidence, Proved
from recipe_compiler.verify.builds.laws import decide_law
from recipe_compiler.verify.core.premises import require_comparisons

FROM_ZERO, TO_THE_END = ("y >= 0",), ("y >= 0", "y <= n")
"""The supports of named laws whose sum over all counts is one, and over those up to their second argument."""


@dataclass(frozen=True, slots=True)
class Summed:
    """A target without some of its blocks of counts, and how each was summed over."""

    target: Target
    data: Evidence = ()
    given: frozenset[str] = frozenset()

    @property
    def left(self) -> tuple[str, ...]:
        """Why a sum over counts is not known, for each block that is left."""
        expected = "expected a named density of it with all other terms free of it, or a proved law Poisson(mean)"
        return tuple(
            f"the sum over all {block.name} is not known: {expected}" for block in list_endless_counts(self.target)
        )


def list_endless_counts(target: Target) -> tuple[Block, ...]:
    """Return the blocks of counts without an end, over which a sum has infinitely many terms."""
    return tuple(b for b in target.declarations.blocks if is_counts(b) and not b.domain.bounds)


def sum_all_counts(target: Target) -> Target | None:
    """Return a target whose counts are summed over; None where some are left, with or without an end."""
    fewer = sum_over_counts(target).target
    return None if any(map(is_counts, fewer.declarations.blocks)) else fewer


def _list_count_blocks(target: Target) -> tuple[Block, ...]:
    return tuple(filter(is_counts, target.declarations.blocks))


@lru_cache(maxsize=limits.SUBJECTS)
def sum_over_counts(target: Target) -> Summed:
    """Return a target with its counts summed over, as far as the sums are known: exp(-V(x)) = sum_z exp(-U(x, z)).

    exp(-U) has a finite integral and sum if and only if exp(-V) has a finite integral (Tonelli). A named law of z adds
    up to 1; a law that the target claims, and is shown to have, gives the sum by its value at 0: exp(m - U(x, 0)) of
    Poisson(m), exp(-U(x, 0)) (1 - p)**-n of Binomial(n, p). Of one that has any counts the blocks are as it declares
    them; any other target is returned as it is.
    """
    if not _list_count_blocks(target) or target.gradient is not None or target.recursion:
        return Summed(target)
    found = Summed(standard(target))
    while True:
        ways = (
            way(found, block)
            for block in _list_count_blocks(found.target)
            for way in (_sum_out_block, _sum_claimed_law)
        )
        fewer = next((one for one in ways if one is not None), None)
        if fewer is None:
            return found
        found = fewer


def _sum_out_block(found: Summed, block: Block) -> Summed | None:
    """Return a target with a block summed out by its named law, whose sum is 1; None if another term depends on it."""
    target, stated = found.target, found.target.stated
    # as log p, and once: summed over the data, the law of a block without rows would be a power of it
    entry = "log_likelihood" if block in of_data(target.declarations) else "log_prior"
    own = [one for one in stated.densities if one.of == block.name and one.is_term and one.entry == entry]
    if len(own) != 1 or not isinstance(own[0].arguments[0], Symbol):
        return None
    law, row = own[0], DENSITIES[own[0].name]
    if not _is_over_all(law, block) or any(arg.shape not in _list_fitting_shapes(law) for arg in law.arguments):
        return None
    others = tuple(one for one in stated.densities if one is not law)
    arguments = (*law.arguments[1:], *(arg for one in others for arg in one.arguments))
    if any(_has_block(formula, block) for formula in (*arguments, *(rest for _, rest in stated.others))):
        return None
    needs = require_comparisons(comparisons(row, law.arguments), with_ends(target.declarations))
    if needs.open:
        return None
    left = [condition for condition in stated.needs if not _has_block(condition, block)]
    fewer = replace(stated, densities=others, needs=tuple(left))
    data = (*found.data, (f"summed over {block.name}", f"{row.name}, whose sum is 1"))
    return Summed(_rebuild_formulas(replace(_drop_block(target, block), stated=fewer)), data, found.given | needs.given)


def _is_over_all(law: StatedDensity, block: Block) -> bool:
    """Whether the probabilities of a named law add up to one over the domain of a block of counts."""
    row = DENSITIES[law.name]
    match block.domain.bounds:
        case (end,):
            return row.discrete and row.support == TO_THE_END and law.arguments[1] == end
        case _:
            return row.discrete and row.support == FROM_ZERO


def _list_fitting_shapes(law: StatedDensity) -> tuple[Shape, ...]:
    """Return the shapes of arguments beside which each count has one law: of one count many parameters make no law."""
    return (SCALAR, law.arguments[0].shape)


def _sum_claimed_law(found: Summed, block: Block) -> Summed | None:
    """Return a target with a block summed out by its claimed conditional law; None where the law is not proved."""
    target, law = found.target, dict(found.target.laws).get(block.name)
    if law is None:
        return None
    shown = decide_law(target, block.name).decision
    total = _place_log_sum(target, law, block)
    if not isinstance(shown, Proved) or total is None:
        return None
    entry, formula = total
    way = formula if entry != "potential" else negate(formula)
    at_zero = {
        "potential": _put_zero(target.potential, target, block),
        "log_prior": _put_zero(target.log_prior, target, block),
        "log_likelihood": _put_zero(target.log_likelihood, target, block),
    }
    own = at_zero[entry]
    at_zero[entry] = way if own is None else add([way, own], SCALAR)
    left = _state_at_zero(target, block, entry, way)
    data = (*found.data, (f"summed over {block.name}", f"by its law {law_text(law)}"))
    fewer = replace(_drop_block(target, block), stated=left, **at_zero)
    return Summed(fewer, data, found.given | frozenset(shown.given))


def _place_log_sum(target: Target, law: Law, block: Block) -> tuple[str, Formula] | None:
    """Return log sum_z exp(-U(z) + U(0)) and the entry of the target that it belongs to."""
    every = _write_log_sums(law)
    if block in of_data(target.declarations):
        one = _read_one_datum(every, target.declarations)
        return None if one is None else ("log_likelihood", one)
    if {field.name for field in target.declarations.data} & {*dependence(every).names}:
        return None
    entry = "log_prior" if target.potential is None else "potential"
    return entry, every if every.shape == SCALAR else Apply("sum", (every,), SCALAR)


def _write_log_sums(law: Law) -> Formula:
    """Return the logarithm of the sum over each count: its mean, or -n log(1 - p)."""
    if law.name == "Poisson":
        return law.arguments[0]
    n, p = law.arguments
    left = Apply("log1p", (negate(p),), p.shape)
    return negate(multiply(n, left, p.shape))


def _read_one_datum(formula: Formula, declared: Declarations) -> Formula | None:
    """Return the entry of one datum of a column that a law has, in the names of one datum; None of any other form."""
    fields, size = {field.name: field for field in declared.data}, declared.data[0].size
    rows = {block.name for block in of_data(declared)}
    if not {*fields, *rows} & {*dependence(formula).names} and formula.shape == SCALAR:
        return formula

    match formula:
        case Symbol(name, Shape(rows=count)) if name in fields and count == size:
            field = fields[name]
            return Symbol(name, field.shape, Role.INDEX if field.is_index else Role.DATUM)
        case Symbol(name, Shape(rows=count)) if name in rows and count == size:
            return Symbol(name, SCALAR, Role.BLOCK)
        case Filled() | Add() | Multiply() | Power() | Apply() if formula.shape == Shape(size):
            if isinstance(formula, Apply) and formula.fn not in ELEMENTWISE:
                return None
            found = [_read_one_datum(part, declared) for part in parts(formula)]
            whole = [one for one in found if one is not None]
            return rebuild(formula, whole, lambda shape: SCALAR) if len(whole) == len(found) else None
        case MatMul(Symbol(name) as left, right) if name in fields and right.shape == Shape(fields[name].shape.cols):
            row = _read_one_datum(left, declared)
            reads = {*fields, *rows} & {*dependence(right).names}
            return None if row is None or reads else matmul(row, right, SCALAR)
        case _:
            return None


def _state_at_zero(target: Target, block: Block, entry: str, total: Formula) -> Stated:
    """Return the stated densities with a block set to 0; named laws that contained it become plain terms."""
    parts: dict[str, list[Formula]] = {entry: [total]}
    for one in target.stated.densities:
        if _is_law_with_block(one, block):
            told = log_density(DENSITIES[one.name], one.arguments, target.declarations)
            parts.setdefault(one.entry, []).append(_put_zero(told, target, block))
    for name, formula in target.stated.others:
        parts.setdefault(name, []).append(_put_zero(formula, target, block))
    named = (one for one in target.stated.densities if not _is_law_with_block(one, block))
    densities = (replace(one, arguments=tuple(_put_zero(a, target, block) for a in one.arguments)) for one in named)
    needs = (_put_zero(condition, target, block) for condition in target.stated.needs)
    others = tuple((name, add(terms, SCALAR)) for name, terms in parts.items())
    return Stated(tuple(densities), others, tuple(one for one in needs if isinstance(one, Compare)))


def _is_law_with_block(one: StatedDensity, block: Block) -> bool:
    """Whether a summand is a named law in which a block stands, so that it is none of a name at 0."""
    return one.is_term and any(_has_block(argument, block) for argument in one.arguments)


@overload
def _put_zero(formula: Formula, target: Target, block: Block) -> Formula: ...
@overload
def _put_zero(formula: None, target: Target, block: Block) -> None: ...
def _put_zero(formula: Formula | None, target: Target, block: Block) -> Formula | None:
    """Return a formula of a target with a block put to 0, that of one datum where it has a row for each."""
    if formula is None:
        return None
    shape = SCALAR if block in of_data(target.declarations) else block.shape
    return substitute(formula, {block.name: zero(shape)})


def _has_block(formula: Formula, block: Block) -> bool:
    return block.name in dependence(formula).blocks


def _drop_block(target: Target, block: Block) -> Target:
    """Return a target without a block and without laws that contain it."""
    declared = target.declarations
    blocks = tuple(other for other in declared.blocks if other != block)
    laws = tuple(
        (name, law)
        for name, law in target.laws
        if name != block.name and not any(_has_block(argument, block) for argument in law.arguments)
    )
    return replace(target, declarations=replace(declared, blocks=blocks), laws=laws)


def _rebuild_formulas(target: Target) -> Target:
    """Return a target with the formulas that are stated of it."""
    stated = target.stated

    def formula_of(entry: str) -> Formula:
        named = [one for one in stated.densities if one.entry == entry and one.is_term]
        terms = [log_density(DENSITIES[one.name], one.arguments, target.declarations) for one in named]
        terms += [formula for name, formula in stated.others if name == entry]
        return add(terms, SCALAR) if terms else zero(SCALAR)

    return replace(
        target,
        potential=None if target.potential is None else formula_of("potential"),
        log_prior=None if target.log_prior is None else formula_of("log_prior"),
        log_likelihood=None if target.log_likelihood is None else formula_of("log_likelihood"),
    )

"""Is a claimed law that of its block given all others? For all data, every number of them and every size.

The law is exp(-E); it is right iff d(U - E)/db = 0 everywhere in the domain of b, which is connected. Its parameters
must be those of a law for all values of the other blocks, and the domain of b that of the law. For a discrete block the
difference of U - E between two places of a row, or two consecutive counts, stands for the derivative; the second engine
writes out all rows, and counts from 0 on. Of shares with the sum 1 it is the difference of two derivatives; the second
engine puts 1 less the others for the last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from typing import cast

from sympy import Add, Expr, Integer

from recipe_compiler import limits
from recipe_compiler.algebra.points.witness import witness
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.matrices import product as times
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.algebra.scalars.symbols import component, coordinate, coordinates, length, positions
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.derive.conditional import (
    counts_residual,
    discrete_residual,
    potential_of,
    residual,
)
from recipe_compiler.derive.law_energies import energy, minus, needs
from recipe_compiler.errors import ModelError
from recipe_compiler.facts.patterns import is_symmetric
from recipe_compiler.formula.declaration import Block, Declarations, by_name
from recipe_compiler.formula.expression import Compare, Formula
from recipe_compiler.formula.orders import terms_of
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.discrete import discrete_blocks, ends_of_all, is_counts, largest, of_data, with_ends
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.laws import (
    is_of_counts,
    is_of_rows,
    is_on_simplex,
    law_text,
    of_all_data,
    of_all_rows,
    rows_of,
)
from recipe_compiler.spec.model import Law, Target
from recipe_compiler.spec.positions import smallest_sizes, stated_formulas
from recipe_compiler.spec.recursion import demand_apart
from recipe_compiler.spec.transform import standard
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, Tensor
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, undecided
from recipe_compiler.verify.builds.discrete_rows import (
    Configuration,
    configurations,
    format_configuration,
    map_entries_to_values,
    neighbours,
    require_counts_in_range,
)
from recipe_compiler.verify.core.conjunction import conjoin, list_open_reasons
from recipe_compiler.verify.core.identities import Identity, Question, Scalars, decide, list_faults
from recipe_compiler.verify.core.premises import require_smooth, require_values
from recipe_compiler.verify.core.sizes import Sizes


def laws(target: Target) -> Answer:
    """Decide that each claimed law is the conditional distribution of its block b, for all data and sizes.

    The law is exp(-E); it is right if and only if d(U - E)/db = 0 on the domain of b, which is connected. U =
    -log_prior - sum_n log_likelihood_n, or the potential, of the blocks as declared. For rows with a one at one place
    the difference of U - E at two places is used instead of the derivative, for counts that at two consecutive ones;
    for shares the difference of two derivatives. Obligations: parameters of a law wherever they can be, the whole
    domain of b, smooth U and E. (Gelfand and Smith 1990.)
    """
    target = standard(target)
    found = [(f"law of {name}", decide_law(target, name)) for name, _ in target.laws]
    kinds = (Refuted, Undecided)
    first = next((answer for kind in kinds for _, answer in found if isinstance(answer.decision, kind)), None)
    if first is not None:
        is_open = isinstance(first.decision, Undecided)
        return first.but(tried=list_open_reasons(found)) if is_open else first
    by = "; ".join(dict.fromkeys(answer.decision.by for _, answer in found if isinstance(answer.decision, Proved)))
    data = tuple((f"law[{name}]", law_text(law)) for name, law in target.laws)
    whole = conjoin(by, found)
    return replace(whole, decision=replace(whole.decision, data=data), where=target.source.place("laws"))


def decide_law(target: Target, name: str) -> Answer:
    """Decide that the claimed law exp(-E) of one block b: [n] is its law given all others, and all data.

    d(U - E)/db = 0 on its domain, as `laws` says (Gelfand and Smith 1990).
    """
    target = standard(target)
    return _decide_block_law(target, _find_block(target, name), dict(target.laws)[name])


def _decide_block_law(target: Target, block: Block, law: Law) -> Answer:
    where = target.source.place(f"laws.{block.name}")
    if target.gradient is not None:
        reason = f"U is known only by its gradient, which is code: {target.gradient}"
        return undecided(reason, where=where)
    undefined = require_values(list_formulas(target), with_ends(target.declarations))
    try:
        left = _compute_index_residual(target, law, block)
        needed = undefined | _collect_premises(target, block, law)
        identities = (
            Identity(_name_residual(law, block), where, left, _make_scalar_residuals(target, law, block)),
            *_compare_ends(target, law, block),
        )
    except ModelError as error:
        return undecided(*list_faults(error), where=where)
    reads = _drop_discrete_formulas(target, (*_list_data_free_formulas(target), energy(law, block), *law.arguments))
    question = Question(identities, _declare_drawn_names(target), choose_sizes(target), needed, "", reads=reads)
    found = _add_rows_to_witness(decide(question), target, law, block)
    sets = tuple(
        f"{b.name} is {b.constraint}"
        for b in target.declarations.blocks
        if b.constraint is not None and not is_on_simplex(b)
    )
    if isinstance(found.decision, Refuted) and (undefined.open or sets):  # a point beside the sets says nothing
        tried = tuple(f"not shown: {what}" for what in (*undefined.open, *sets))
        found = Answer(Undecided(tried, found.decision.residual, found.decision.given))
    return replace(found, where=where)


def _compute_index_residual(target: Target, law: Law, block: Block) -> Tensor:
    """Return the residual of U - E in index notation. Raises ModelError."""
    if is_of_rows(law):
        return discrete_residual(target, law, block)
    if is_of_counts(law):
        return counts_residual(target, law, block)
    return residual(potential_of(target), law, block, of_all_data(target.declarations))


def _name_residual(law: Law, block: Block) -> str:
    """Return the name of the residuals of `_make_scalar_residuals` in reports."""
    b = block.name
    if is_of_counts(law):
        one = f"a count of {b}" if block.shape.sizes else b
        return f"U - E with {one} one larger minus U - E, for {law_text(law)}"
    if is_of_rows(law):
        row = f"a row of {b}" if len(block.shape.sizes) == 2 else b
        return f"U - E with {row} at one place minus that at another, for {law_text(law)}"
    if _is_vector_normal(law, block):
        return f"an entry of cov dU/d{b} - ({b} - m) for {law_text(law)}"
    if is_on_simplex(block):
        return f"d(U - E)/d{b} along the simplex for {law_text(law)}"
    return f"d(U - E)/d{b} for {law_text(law)}"


def _is_vector_normal(law: Law, block: Block) -> bool:
    return law.name == "N" and block.shape != SCALAR


def _collect_premises(target: Target, block: Block, law: Law) -> Obligations:
    """Return the premises besides the identity: a smooth U, valid parameters of a law, the whole domain of b.

    Where both are smooth, also in what else they hold, what vanishes off kinks vanishes everywhere.
    """
    declared, every = target.declarations, of_all_data(target.declarations)
    whole = replace(every, assume=(*every.assume, *ends_of_all(declared)))
    own = (term for formula in list_formulas(target) for term in terms_of(formula))
    smooth = require_smooth((term for term in own if block.name in dependence(term).blocks), with_ends(declared))
    of_law = require_smooth((energy(law, block), *needs(law, block)), whole)
    left = [
        f"{text(c.left)} {c.op} {text(c.right)} leaves {block.name} its whole domain"
        for c in _find_restrictions(block, declared)
    ]
    if law.name == "N" and not is_symmetric(law.arguments[1], whole):
        left.append(f"{text(law.arguments[1])} is symmetric")
    return smooth | replace(of_law, given=_restate_for_one_row(of_law.given, declared)) | Obligations(open=tuple(left))


def _restate_for_one_row(given: frozenset[str], declared: Declarations) -> frozenset[str]:
    """Return premises with conditions on all rows stated for one: `y <= n` for `n - y >= 0`."""
    one = with_ends(declared).assume
    every = (*(of_all_rows(condition, declared) for condition in declared.assume), *ends_of_all(declared))
    said = {text(whole): text(own) for own, whole in zip(one, every, strict=True)}
    return frozenset(said.get(fact, fact) for fact in given)


def _find_restrictions(block: Block, declared: Declarations) -> Iterator[Compare]:
    """Yield the assumptions that restrict a block."""
    return (c for c in declared.assume if block.name in dependence(c).blocks)


def _compare_ends(target: Target, law: Law, block: Block) -> Iterator[Identity]:
    """Yield equalities of the ends of a uniform or binomial law with those of the domain of its block."""
    declared = target.declarations
    ends: tuple[tuple[str, Formula, Formula], ...] = ()
    if law.name == "Uniform":
        ends = tuple(zip(("lower", "upper"), block.domain.bounds, law.arguments, strict=True))
    elif is_counts(block) and (n := largest(block, declared)) is not None:
        ends = (("upper", n, law.arguments[0]),)
    for end, bound, stated in ends:
        off = minus(stated, bound)
        says = f"the {end} end of {law_text(law)} minus that of the domain of {block.name}"
        where, slots = target.source.place(f"laws.{block.name}"), tuple(Index(n, "n") for n in off.shape.sizes)
        yield Identity(
            says, where, convert(off, of_all_data(declared), *slots), partial(_scalarise_entries, off, declared)
        )


def _scalarise_entries(formula: Formula, declared: Declarations, sizes: Sizes) -> Sequence[Expr]:
    return [x for row in rows(formula, Setting(declare_all_rows(declared), sizes)) for x in row]


def _make_scalar_residuals(target: Target, law: Law, block: Block) -> Scalars:
    """Return the residuals of the second engine: d(U - E)/db, or cov dU/db - (b - m) for N(m, cov), by law."""
    return lambda sizes: [
        entry
        for configuration in configurations(discrete_blocks(target.declarations), sizes)
        for entry in _list_scalar_residuals(target, law, block, sizes, configuration)
    ]


def _list_scalar_residuals(
    target: Target, law: Law, block: Block, sizes: Sizes, configuration: Configuration
) -> Iterator[Expr]:
    """Yield the residuals at given rows of discrete blocks."""
    last = _eliminate_last_shares(target, sizes)
    if is_of_rows(law) or is_of_counts(law):
        differences = _list_differences(target, law, block, sizes, configuration)
        yield from (cast(Expr, entry.xreplace(last)) for entry in differences) if last else differences
        return
    entries, own = (
        _compute_slopes(target, law, block, tuple(sizes.items())),
        {**map_entries_to_values(configuration, sizes), **last},
    )
    yield from (cast(Expr, entry.xreplace(own)) for entry in entries) if own else entries


def _eliminate_last_shares(target: Target, sizes: Sizes) -> dict[Expr, Expr]:
    """Return a formula in which the last of some shares is 1 less the others."""
    blocks = filter(is_on_simplex, target.declarations.blocks)
    shares = (coordinates(block, sizes) for block in blocks)
    return {last: 1 - Add(*others) for *others, last in shares}


def _list_differences(
    target: Target, law: Law, block: Block, sizes: Sizes, configuration: Configuration
) -> Iterator[Expr]:
    """Yield the changes of U - E from a row at the first place to each other one, or from a count to the next."""
    V = _compute_energy_difference(target, law, block, tuple(sizes.items()))
    there = map_entries_to_values(configuration, sizes)
    for other in neighbours(configuration, block, sizes):
        yield cast(Expr, V.xreplace(map_entries_to_values(other, sizes))) - cast(Expr, V.xreplace(there))


@lru_cache(maxsize=limits.SUBJECTS)
def _compute_energy_difference(target: Target, law: Law, block: Block, sizes: tuple[tuple[str, int], ...]) -> Expr:
    """Return U - E at fixed sizes."""
    setting = Setting(declare_all_rows(target.declarations), dict(sizes))
    return scalar_potential(target, dict(sizes)) - rows(energy(law, block), setting)[0][0]


def _add_rows_to_witness(found: Answer, target: Target, law: Law, block: Block) -> Answer:
    """Return an answer whose witness also states the rows of discrete blocks."""
    blocks = discrete_blocks(target.declarations)
    if not blocks or not isinstance(found.decision, Refuted):
        return found
    sizes = dict(found.for_d) if not isinstance(found.for_d, str) else {}
    reads = _drop_discrete_formulas(target, (*_list_data_free_formulas(target), *law.arguments))
    for configuration in configurations(blocks, sizes):
        entries = _list_scalar_residuals(target, law, block, sizes, configuration)
        if any(
            not is_zero(entry) and witness(off_kinks(entry), _declare_drawn_names(target), sizes, reads) is not None
            for entry in entries
        ):
            *at, value = found.decision.witness
            return replace(
                found,
                decision=replace(found.decision, witness=(*at, *format_configuration(configuration, sizes), value)),
            )
    return found


def _declare_drawn_names(target: Target) -> Declarations:
    """Return the declarations of a witness: data as data, without discrete blocks, whose rows are written out."""
    declared, discrete = declare_all_rows(target.declarations), discrete_blocks(target.declarations)
    ends = tuple(end for block in discrete if (end := require_counts_in_range(block, declared)) is not None)
    blocks = tuple(block for block in declared.blocks if block not in discrete)
    return replace(declared, blocks=blocks, assume=(*declared.assume, *ends))


def _drop_discrete_formulas(target: Target, formulas: Sequence[Formula]) -> tuple[Formula, ...]:
    """Return the formulas without a discrete block."""
    names = {block.name for block in discrete_blocks(target.declarations)}
    return tuple(formula for formula in formulas if not names & {*dependence(formula).blocks})


@lru_cache(maxsize=limits.SUBJECTS)
def _compute_slopes(target: Target, law: Law, block: Block, sizes: tuple[tuple[str, int], ...]) -> Sequence[Expr]:
    """Return d(U - E)/db entry by entry, and of N(m, cov) cov dU/db - (b - m).

    Of shares that of each less that of the last.
    """
    at = Setting(declare_all_rows(target.declarations), dict(sizes))
    U, b = off_kinks(scalar_potential(target, dict(sizes))), coordinates(block, at.sizes)
    if not _is_vector_normal(law, block):
        E = off_kinks(rows(energy(law, block), at)[0][0])
        slopes = [slope(U - E, x) for x in b]
        return [x - slopes[-1] for x in slopes[:-1]] if is_on_simplex(block) else slopes
    m, cov = (rows(argument, at) for argument in law.arguments)
    pushed = times(cov, tuple((slope(U, x),) for x in b))
    return [row[0] - x + mean[0] for row, x, mean in zip(pushed, b, m, strict=True)]


def scalar_potential(target: Target, sizes: Sizes) -> Expr:
    """Return U at fixed sizes as one scalar, the likelihood summed datum by datum.

    Raises:
        ModelError: the target has a recursion.
    """
    demand_apart(target)
    declared, whole = target.declarations, declare_all_rows(target.declarations)
    if target.potential is not None:
        return rows(target.potential, Setting(declared, sizes))[0][0]
    prior = Integer(0) if target.log_prior is None else rows(target.log_prior, Setting(declared, sizes))[0][0]
    if target.log_likelihood is None:
        return -prior
    one = rows(target.log_likelihood, Setting(declared, sizes))[0][0]
    fields = list(zip(declared.data, whole.data, strict=True))
    allocations = of_data(declared)
    found = [prior]
    for n in range(length(declared.data[0].size, sizes)):
        datum = {
            component(field, at, declared, sizes): component(every, (n, *at), whole, sizes)
            for field, every in fields
            for at in positions(field.shape, sizes)
        }
        datum |= {
            coordinate(block, at): coordinate(block, (n, *at))
            for block in allocations
            for at in positions(Shape(block.shape.cols), sizes)
        }
        found.append(cast(Expr, one.xreplace(datum)))
    return -Add(*found)


def declare_all_rows(declared: Declarations) -> Declarations:
    """Return declarations whose data fields are all of their rows, and are drawn as data: of the values allowed."""
    assume = tuple(of_all_rows(condition, declared) for condition in declared.assume)
    return replace(declared, data=tuple(replace(field, shape=rows_of(field)) for field in declared.data), assume=assume)


def list_formulas(target: Target) -> tuple[Formula, ...]:
    """Return the formulas of a target."""
    return (*_list_data_free_formulas(target), *(() if target.log_likelihood is None else (target.log_likelihood,)))


def _list_data_free_formulas(target: Target) -> tuple[Formula, ...]:
    return tuple(formula for formula in (target.potential, target.log_prior) if formula is not None)


def choose_sizes(target: Target) -> tuple[Sizes, ...]:
    """Return the sizes at which the second engine looks: 1 and 2 in all combinations, and three data."""
    declared = target.declarations
    smallest = smallest_sizes(declared, stated_formulas(target))
    if not smallest:
        return ({},)
    few = len(smallest) <= limits.SIZES
    choices = product((0, 1), repeat=len(smallest)) if few else [(k,) * len(smallest) for k in (0, 1)]
    found = [{name: low + k for (name, low), k in zip(smallest.items(), more, strict=True)} for more in choices]
    counts = {field.size for field in declared.data} or set(smallest)
    found.append({name: max(low, limits.SIZES) if name in counts else low + 1 for name, low in smallest.items()})
    return tuple(sorted(found, key=lambda sizes: sum(sizes.values())))


def _find_block(target: Target, name: str) -> Block:
    return by_name(target.declarations.blocks)[name]

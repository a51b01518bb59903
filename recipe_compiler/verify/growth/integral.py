"""Is the integral of exp(-H) over blocks of the state finite, for every size?

exp(-U) is integrable by assumption. Nonnegative terms only help. Blocks that no term of unknown sign couples are
decided separately: coordinate by coordinate where the energy is a sum over coordinates (`list_end_conditions`), by
powers that dominate all other terms (`Terms.find_confinements`), or by a logarithm of a large enough factor
(`_decide_by_tail`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler import limits
from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.derive.recipe import slots
from recipe_compiler.formula.declaration import Block, Declarations, Function
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.tensor.atoms import everywhere, indices, moved_factors
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.functions import inside_logarithm
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.signs import factor_is_positive, is_nonnegative, is_positive
from recipe_compiler.tensor.terms import Applied, Component, Coordinate, Index, Slot, Tensor, Term
from recipe_compiler.verdict import Assumes, Assumption, Evidence
from recipe_compiler.verify.core.assumed_relations import with_assumed_signs
from recipe_compiler.verify.growth.bounds import COMPACT, Bound, Terms, is_bounded_below
from recipe_compiler.verify.growth.ends import (
    AT_ZERO,
    LOGARITHM,
    LeadingOrder,
    UnknownGrowthError,
    Y,
    find_leading_order_at,
    list_blocks_with_boundary,
    list_ends,
    replace_coordinate,
    require_bounded_at_vertex,
    with_distance,
)

ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class EndCondition:
    """A scalar that must be positive for an integral to converge at an end: K - 1 for K log|x| at infinity."""

    end: str
    factor: Tensor
    holds: bool
    """Whether structure shows that it is positive."""
    boundary: bool
    """Whether the integral diverges where the factor is zero, too."""

    @property
    def unmet(self) -> str:
        """The condition in words, as long as it is not shown."""
        if self.factor.is_zero:
            return f"{self.end}: no term is shown to grow"
        return f"{self.end} needs {text(self.factor)} > 0"


@dataclass(frozen=True, slots=True)
class Finiteness:
    """The outcome for an integral: shown to be finite if there are no `reasons` against it."""

    reasons: tuple[str, ...] = ()
    data: Evidence = ()
    assumed: str = ""
    """What is assumed of abstract functions: `exp(-U) has a finite integral`."""
    needed: tuple[EndCondition, ...] = ()
    """Conditions not shown without which the integral is infinite."""
    names: frozenset[str] = frozenset()
    """The blocks that a part is about."""


@dataclass(frozen=True, slots=True)
class EndConditions:
    """The conditions at all ends, what could not be analysed, and the unmet conditions that are necessary."""

    conditions: tuple[EndCondition, ...]
    reasons: tuple[str, ...]
    needed: tuple[EndCondition, ...] = ()


def list_end_conditions(
    c: Calculus, declarations: Declarations, block: Block, x: Coordinate, h: Tensor
) -> EndConditions:
    """Return what int exp(-h(x)) dx over one coordinate x of a block needs at each end of its domain.

    x is one entry of b: [n], h a scalar function. Let L = |x| at infinity and 1/|x - e| at a finite end e. The term of
    largest order decides: K log L needs K > 1 at infinity and K > -1 at e; what grows faster needs a positive factor.
    A condition is necessary unless a term was left out there because it is nonnegative.

    Example, the gamma density: h = x - (a - 1) log(x) over x > 0. At oo the term x has the factor 1 > 0. At 0, with L =
    1/x, h ~ (a - 1) log L, and K = a - 1 > -1 means a > 0.
    """
    c = with_distance(c)
    ends = list_ends(c, declarations, block, h)
    if ends is None:
        return EndConditions((), (f"the ends of {block.name} are not known",))
    conditions: list[EndCondition] = []
    reasons: list[str] = []
    needed: list[EndCondition] = []
    for end in ends:
        name = f"{block.name} -> {end.name}"
        try:
            found = find_leading_order_at(c, h, x, end)
        except UnknownGrowthError as reason:
            reasons.append(f"{name}: {reason}")
            continue
        condition = _find_condition(c, name, found, far=end.at is None)
        conditions += [condition] if condition is not None else []
        if condition is not None and not condition.holds and (found is None or found.is_complete):
            needed.append(condition)
    defined = not reasons or len(ends) == 2  # beside 0, an energy that is unknown on one side may have no value there
    return EndConditions(tuple(conditions), tuple(reasons), tuple(needed) if defined else ())


def _find_condition(c: Calculus, name: str, found: LeadingOrder | None, *, far: bool) -> EndCondition | None:
    """Return the condition for convergence at an end; None where a finite end has none."""
    if found is None or found.order < LOGARITHM:
        return EndCondition(name, c.zero(), holds=False, boundary=True) if far else None
    least = found.factor
    if found.order == LOGARITHM:
        least = c.add(least, c.constant(-1 if far else 1))
    return EndCondition(name, least, is_positive(c.rules, least), boundary=found.order == LOGARITHM)


def decide_by_coordinates(terms: Terms, block: Block, own: list[Term], left: list[Term]) -> Finiteness | None:
    """Decide a block of n entries whose energy is a sum over its coordinates, sum_i h(x_i); None if it is not one.

    int exp(-H) is then prod_i int exp(-h_i(x)) dx, each decided at the ends of the domain (`list_end_conditions`). On a
    simplex functions of 1 - sum x count, too: int prod x_i**-k_i (1 - sum x)**-k dx < oo if and only if all k < 1
    (Dirichlet). Where a term was left out, since it only helps, conditions that fail do not refute.
    """
    c = terms.c
    opened = slots(block, "x")
    x = Coordinate(block.name, opened)
    generic: list[Term] = []
    slack: list[Term] = []
    complete = True
    for term in own:
        at = find_common_slots(c, block, term)
        if at is not None:
            moves: dict[Index, Slot] = dict(zip(at, opened, strict=True))
            generic.append(Term(term.coefficient, moved_factors(term.factors, moves)))
        elif (last := express_by_slack(c, block, term)) is not None:
            slack += last.terms
        elif term in left:
            return None
        else:
            complete = False
    if block.domain.name is DomainName.CIRCLE or not (generic or slack or complete):
        return None
    if block.domain.name is DomainName.SIMPLEX and block.shape.sizes:
        found = _list_simplex_conditions(c, block, x, c.collect(generic, opened), c.collect(slack, ()))
    else:
        found = list_end_conditions(c, terms.declarations, block, x, c.collect(generic, opened))
    open_ = [one for one in found.conditions if not one.holds]
    unmet = (one.unmet if complete else f"{one.end}: not confined coordinate by coordinate" for one in open_)
    data = tuple((one.end, f"{text(one.factor)} > 0") for one in found.conditions) or ((block.name, "bounded domain"),)
    return Finiteness((*found.reasons, *unmet), data, needed=found.needed if complete else ())


def _list_simplex_conditions(c: Calculus, block: Block, x: Coordinate, inner: Tensor, outer: Tensor) -> EndConditions:
    """Return the conditions at the faces of a simplex, for a sum over coordinates plus a function of 1 - sum x.

    Both parts must be bounded where faces meet at a vertex; nothing is refuted where that is not shown.
    """
    c = with_distance(c)
    conditions: list[EndCondition] = []
    reasons: list[str] = []
    needed: list[EndCondition] = []
    for name, h, at in ((f"{block.name} -> 0", inner, x), (f"{block.name} -> 1 in sum", outer, Coordinate(Y))):
        try:
            found = find_leading_order_at(c, h, at, AT_ZERO[1]) or LeadingOrder(LOGARITHM, c.zero(*h.free), True)
            require_bounded_at_vertex(c, h, at)
        except UnknownGrowthError as reason:
            reasons.append(f"{name}: {reason}")
            continue
        least = _find_condition(c, name, found, far=False)
        conditions += [least] if least is not None else []
        needed += [least] if least is not None and not least.holds and found.is_complete else []
    return EndConditions(tuple(conditions), tuple(reasons), () if reasons else tuple(needed))


def find_common_slots(c: Calculus, block: Block, term: Term) -> tuple[Index, ...] | None:
    """Return the indices of the one coordinate of a block that a term is about, summed over; None if there is none.

    None, too, where a function of the block occurs: it is no constant beside the coordinate, however it is declared.
    """
    inside = list(everywhere(Tensor((), (term,))))
    if any(isinstance(a, Component) and (a.name, block.name) in c.rules.depends for a in inside):
        return None
    places = {a.at for a in inside if isinstance(a, Coordinate) and a.block == block.name}
    if len(places) != 1:
        return None
    at = tuple(slot for slot in places.pop() if isinstance(slot, Index))
    return at if len(at) == len(block.shape.sizes) == len(set(at)) and set(at) <= indices(term.factors) else None


def is_coupled_at_face(terms: Terms, term: Term) -> bool:
    """Whether a term may fall without bound where one coordinate nears a face and others go to infinity with it.

    Such a density need not fall along a way into that corner: (y - 1/x)**2 holds -2 y/x, and is 0 on y = 1/x.
    """
    held, faces = terms.blocks(term.factors), list_blocks_with_boundary(terms.declarations)
    near = [factor for factor in term.factors if terms.blocks([factor]) & _collect_names(faces)]
    if terms.bound_locally(near) is not None or is_nonnegative(terms.c.rules, Tensor((), (term,))):
        return False
    return bool(held & _collect_names(terms.unbounded)) and not any(
        held == {b.name} and find_common_slots(terms.c, b, term) is not None for b in faces
    )


def express_by_slack(c: Calculus, block: Block, term: Term) -> Tensor | None:
    """Return a term as a function of the distance y = 1 - sum x on a simplex; None of anything else."""
    if block.domain.name is not DomainName.SIMPLEX:
        return None
    c = with_distance(c)
    try:
        found = replace_coordinate(c, Tensor((), (term,)), block.name, c.subtract(c.constant(1), c.coordinate(Y)))
    except UnknownGrowthError:
        return None
    return None if block.name in blocks_in(c, found) else found


# Mixtures: energies `-K log(sum_k T_k)`, decided component by component.
#
# For K > 0 and T_k >= 0 the power (sum_k T_k)**K lies between the largest T_k**K and a multiple of their sum. So the
# integral of `(sum_k T_k)**K exp(-R)` is finite if and only if that of every `T_k**K exp(-R)` is.


def split_mixture(c: Calculus, energy: Tensor) -> tuple[Tensor, ...]:
    """Return the H_k = H_0 - K log T_k of a mixture H = H_0 - K log(sum_k T_k) with T_k >= 0, K > 0; else nothing.

    exp(-H) has a finite integral if and only if every exp(-H_k) has one, since max_k T_k**K <= (sum_k T_k)**K <= C
    sum_k T_k**K. Only one mixture is taken apart; a component may hold another. -log(exp(-x**2) + exp(-(x - 1)**2)) has
    the components x**2 and (x - 1)**2.
    """
    for term in energy.terms:
        logs = [(factor, u) for factor in term.factors if (u := inside_logarithm(c, factor[0])) is not None]
        if len(logs) != 1 or logs[0][0][1] != 1 or logs[0][1].free:
            continue
        log, arg = logs[0]
        factor = c.collect([Term(term.coefficient, tuple(f for f in term.factors if f != log))], ())
        exponential = any(isinstance(inner, Applied) and inner.fn == "exp" for inner in everywhere(arg))
        summands = 1 < len(arg.terms) <= limits.SUMMANDS and is_nonnegative(c.rules, arg)
        if exponential and summands and is_positive(c.rules, c.scale(factor, Fraction(-1))):
            rest = c.subtract(energy, Tensor((), (term,)))
            parts = (c.applied("log", Tensor((), (one,))) for one in arg.terms)
            return tuple(c.add(rest, c.multiply(factor, part)) for part in parts)
    return ()


def decide_finite(
    c: Calculus,
    declarations: Declarations,
    energy: Tensor,
    over: tuple[Block, ...],
    abstract: tuple[Function, ...] = (),
) -> Finiteness:
    """Return whether int exp(-energy) over some blocks is finite, whatever the values of the other blocks.

    Shown where H >= sum_b c |z_b|**g_b - C prod_b (1 + |z_b|)**s_b with c > 0 and sum_b s_b/g_b < 1, up to bounded
    terms: the product is at most a small share of the sum plus a constant (weighted inequality of the means), z_b:
    [n_b]. Blocks that no term of unknown sign couples are decided separately, coordinate by coordinate where possible;
    a mixture is decided by its components.

    Example: theta**4 + r**2 - theta r is shown, as 1/4 + 1/2 < 1. theta**2 + r**2 - 3 theta r is not: 1/2 + 1/2 = 1.

    Args:
        c: the calculus.
        declarations: the blocks with their domains, and what is assumed.
        energy: H, a scalar in index notation.
        over: the blocks integrated over.
        abstract: energies, functions of some of these blocks, of whose sum S it is assumed that int exp(-S) < oo.
    """
    terms = Terms(with_assumed_signs(c, declarations), declarations)
    found = _decide_without_mixtures(terms, energy, over, abstract)
    parts = split_mixture(terms.c, energy) if found.reasons else ()
    if not parts:
        return found
    each = [decide_finite(c, declarations, part, over, abstract) for part in parts]
    assumed = {part.assumed for part in each}
    reasons = tuple(dict.fromkeys(reason for part in each for reason in part.reasons))
    if len(assumed) > 1 and not reasons:
        return found
    data = tuple((f"component {k}: {end}", says) for k, part in enumerate(each, 1) for end, says in part.data)
    return Finiteness(reasons, data, min(assumed), tuple(condition for part in each for condition in part.needed))


def _decide_without_mixtures(
    terms: Terms, energy: Tensor, over: tuple[Block, ...], abstract: tuple[Function, ...]
) -> Finiteness:
    c, names = terms.c, {block.name for block in over}
    lowered = _bound_energy_below(c, energy)
    left = [term for term in lowered.terms if terms.blocks(term.factors) & names]
    if any(terms.blocks(term.factors) - names for term in left):
        return Finiteness((f"{text(c.collect(left, ()))} couples them to other blocks",))
    assumed_of = [term for term in left if any(_is_multiple_of_energy(terms, function, term) for function in abstract)]
    covered = frozenset[str]().union(*(terms.blocks(term.factors) for term in assumed_of))
    left = [term for term in left if term not in assumed_of]
    assumed, exact = "", energy.terms == lowered.terms
    if assumed_of:
        energy = c.collect(assumed_of, ())
        says = f"exp({text(c.scale(energy, -1))}) has a finite integral"
        assumed = Assumption(says, Assumes.INTEGRAL, text(energy))
    elif any(function.role == "potential" for function in abstract):
        return Finiteness((f"the energy {text(energy)} is not a multiple of the potential plus other terms",))
    signed = terms.list_signed_terms(left)
    uncovered = [term for term in signed if terms.blocks(term.factors) & covered]
    if uncovered:
        return Finiteness((f"no assumption covers {text(c.collect(uncovered, ()))}",))
    rest = tuple(block for block in over if block.name not in covered)
    parts = _decide_groups(terms, group_coupled_blocks(terms, rest, signed), left, signed)
    alone = all(any(terms.blocks(term.factors) <= part.names for part in parts) for term in left)
    return Finiteness(
        tuple(reason for part in parts for reason in part.reasons),
        tuple(item for part in parts for item in part.data),
        assumed,
        tuple(condition for part in parts for condition in part.needed) if alone and exact else (),
    )


def list_abstract_energies(declarations: Declarations) -> tuple[Function, ...]:
    """Return the functions that stand for an energy: the potential; without one, every scalar function."""
    potential = tuple(f for f in declarations.functions if f.role == "potential")
    return potential or tuple(f for f in declarations.functions if not f.shape.sizes)


def _is_multiple_of_energy(terms: Terms, function: Function, term: Term) -> bool:
    """Whether a term is a constant multiple of an abstract energy, a positive one of the potential."""
    own = (Component(function.name, (), ()), ONE)
    rest = tuple(factor for factor in term.factors if factor != own)
    if own not in term.factors or terms.blocks(rest):
        return False
    positive = term.coefficient > 0 and all(factor_is_positive(terms.c.rules, factor) for factor in rest)
    return positive or function.role != "potential"


def group_coupled_blocks(terms: Terms, blocks: Iterable[Block], signed: Iterable[Term]) -> list[tuple[Block, ...]]:
    """Return the blocks in groups that terms couple."""
    groups = [{block.name} for block in blocks]
    for term in signed:
        touching = [group for group in groups if group & terms.blocks(term.factors)]
        groups = [group for group in groups if group not in touching] + [set[str]().union(*touching)]
    return [tuple(block for block in blocks if block.name in group) for group in groups if group]


def _decide_groups(
    terms: Terms, groups: list[tuple[Block, ...]], every: list[Term], signed: list[Term]
) -> list[Finiteness]:
    """Decide every group separately, and those left open together, too."""
    parts = [_decide_group(terms, group, every, signed) for group in groups]
    open_ = [group for group, part in zip(groups, parts, strict=True) if part.reasons and not part.needed]
    if len(open_) < 2:
        return parts
    joint = _decide_by_tail(terms, tuple(block for group in open_ for block in group), every)
    others = [part for group, part in zip(groups, parts, strict=True) if group not in open_]
    return parts if joint is None else [*others, joint]


def _decide_group(terms: Terms, group: tuple[Block, ...], every: list[Term], signed: list[Term]) -> Finiteness:
    """Decide one group; `signed` are the terms that are not bounded below by themselves."""
    names = _collect_names(group)
    own = [term for term in every if terms.blocks(term.factors) <= names]
    single = decide_by_coordinates(terms, group[0], own, signed) if len(group) == 1 else None
    if single is not None and not single.reasons:
        return replace(single, names=names)
    by_powers = terms.find_confinements(group, own)
    if not isinstance(by_powers, str):
        texts = {name: text(terms.c.collect(x.terms, ())) for name, x in by_powers.items()}
        data = [(f"growth of {name}", f"{texts[name]} of degree {x.degree}") for name, x in by_powers.items()]
        return Finiteness((), tuple(data) or tuple((block.name, "bounded domain") for block in group), names=names)
    by_tail = None if single is not None and single.needed else _decide_by_tail(terms, group, every)
    if by_tail is not None and (not by_tail.reasons or by_tail.needed):
        return by_tail
    tried = (*(single.reasons if single else ()), by_powers, *(by_tail.reasons if by_tail else ()))
    return Finiteness(tried, needed=single.needed if single is not None else (), names=names)


def _collect_names(group: Iterable[Block]) -> frozenset[str]:
    return frozenset(block.name for block in group)


def _bound_energy_below(c: Calculus, energy: Tensor) -> Tensor:
    """Return a lower bound of an energy: `n_i log(sum_j f_j) >= n_i log(f_i)` for n_i >= 0 and positive f_j."""
    return c.add(c.zero(), *(bound_term_below(c, term) or Tensor((), (term,)) for term in energy.terms))


def bound_term_below(c: Calculus, term: Term) -> Tensor | None:
    """Return sum_i n_i log(f_i), a lower bound of (sum_i n_i) log(sum_j f_j); None of any other term."""
    for factor in term.factors:
        atom, exponent = factor
        if not (isinstance(atom, Applied) and atom.fn == "log" and exponent == 1 and len(atom.args[0].terms) == 1):
            continue
        summand = atom.args[0].terms[0]
        bound = indices(summand.factors) - set(atom.args[0].free)
        rest = tuple(other for other in term.factors if other != factor)
        here = [index for index in indices(rest) if len(bound) == 1 and index.size == next(iter(bound)).size]
        coefficient = c.collect([Term(term.coefficient, rest)], tuple(here))
        constant = not blocks_in(c, coefficient) and is_nonnegative(c.rules, coefficient)
        if len(here) != 1 or atom.args[0].free or not constant:
            continue
        moves: dict[Index, Slot] = {next(iter(bound)): here[0]}
        one = c.collect([Term(summand.coefficient, moved_factors(summand.factors, moves))], here)
        if is_positive(c.rules, one):
            return c.total(c.multiply(coefficient, c.applied("log", one)), *here)
    return None


# Energies that grow like a logarithm: heavy tails over blocks of any size.


def _decide_by_tail(terms: Terms, group: tuple[Block, ...], every: Sequence[Term]) -> Finiteness | None:
    """Decide a group whose energy grows like a logarithm in all coordinates, by its condition at infinity.

    With H = sum_k K_k log(f_k) up to bounded terms, and f_k between two multiples of |z|**g_k far out, exp(-H) ~
    |z|**-sum_k(K_k g_k) in n dimensions: its integral is finite if and only if sum_k K_k g_k > n. Student's law, H =
    (nu + d)/2 log(1 + |x|**2/nu), has (nu + d)/2 * 2 = nu + d > d for every nu > 0. Terms that are nonnegative and of
    another form are left out; the condition is then sufficient only. None where the energy does not grow like that.
    """
    c, names = terms.c, _collect_names(group)
    unbounded = tuple(block for block in group if block.domain.name not in COMPACT)
    total, exact, found = c.zero(), True, False
    for term in (term for term in every if terms.blocks(term.factors) <= names):
        growth = _measure_logarithm(terms, unbounded, term)
        if growth is not None:
            total, exact, found = c.add(total, growth[0]), exact and growth[1], True
        elif is_nonnegative(c.rules, Tensor((), (term,))):
            exact = False
        elif terms.bound(term.factors) != Bound():
            return None
    if not found or not unbounded:
        return None
    dimension = c.add(c.zero(), *(c.multiply(c.constant(1), *map(c.size, b.shape.sizes)) for b in unbounded))
    needs = c.subtract(total, dimension)
    end = f"{', '.join(block.name for block in unbounded)} -> oo"
    condition = EndCondition(end, needs, is_positive(c.rules, needs), boundary=True)
    if condition.holds:
        return Finiteness((), ((end, f"{text(needs)} > 0"),), names=names)
    return Finiteness((condition.unmet,), needed=(condition,) if exact else (), names=names)


def _measure_logarithm(terms: Terms, group: tuple[Block, ...], term: Term) -> tuple[Tensor, bool] | None:
    """Return k where `K log(f)` is at least k log |z|, and whether it is no more than that."""
    c = terms.c
    moving = [factor for factor in term.factors if terms.blocks([factor])]
    match moving:
        case [(atom, exponent)] if exponent == 1 and (arg := inside_logarithm(c, atom)) and not arg.free:
            factor = c.collect([Term(term.coefficient, tuple(f for f in term.factors if f not in moving))], ())
        case _:
            return None
    falls = is_nonnegative(c.rules, c.scale(factor, -1))
    blocks = (block for block in terms.declarations.blocks if block.name in blocks_in(c, arg))
    if not falls and not (is_bounded_below(c, arg) or all(b.domain.name is DomainName.REAL for b in blocks)):
        return None  # it may near zero, where the domain then has another edge
    below, largest = terms.find_lower_growth(group, arg), [terms.bound(term.factors) for term in arg.terms]
    sizes = [(sum(one.powers.values(), Fraction(0)), one.logs) for one in largest if one is not None]
    above = max(sizes)[0] if len(sizes) == len(largest) else None
    if below is not None and below == above and not any(logs for _, logs in sizes):
        return c.scale(factor, below), True
    if below is not None and is_nonnegative(c.rules, factor):
        return c.scale(factor, below), False
    return (c.scale(factor, above), False) if above is not None and falls else None

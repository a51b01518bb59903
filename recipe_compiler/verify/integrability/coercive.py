"""Is the integral of exp(-H) over blocks of the state finite, for every size?

exp(-U) is integrable by assumption; what is nonnegative besides only helps; blocks that nothing of either sign couples
are decided apart: coordinate by coordinate where the energy is a sum over coordinates, else by how fast it grows.
"""

from dataclasses import replace
from fractions import Fraction

from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.derive.recipe import col_slots, row_slots
from recipe_compiler.formula.declaration import Block, Declarations, Function
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.tensor.atoms import everywhere, indices, moved
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.definite import Definiteness, definiteness
from recipe_compiler.tensor.functions import inside_logarithm
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.signs import factor_is_positive, is_nonnegative, is_positive
from recipe_compiler.tensor.terms import Applied, Component, Coordinate, Index, Slot, Tensor, Term
from recipe_compiler.verdict import Assumes, Assumption
from recipe_compiler.verify.core.assumed_relations import with_assumed_signs
from recipe_compiler.verify.integrability.ends import ONE, EndCondition, Finite, at_ends
from recipe_compiler.verify.integrability.growth import grown
from recipe_compiler.verify.integrability.logarithmic_tails import tail

# Is the integral over a block finite where its energy is a sum over coordinates, or over those of a simplex?


def one_by_one(c: Calculus, block: Block, own: list[Term], left: list[Term]) -> Finite | None:
    """Decide a block of n entries whose energy is a sum over its coordinates, sum_i h(x_i); None if it is not one.

    int exp(-H) is then prod_i int exp(-h_i(x)) dx, each decided at the ends of the domain (`at_ends`). On a simplex
    sums of logarithms are decided as a Dirichlet density: int prod x_i**-k_i (1 - sum x)**-k dx < oo if and only if all
    k < 1. Where a term was left out, since it only helps, conditions that fail do not refute.
    """
    if block.domain.name is DomainName.SIMPLEX:
        return _dirichlet(c, block, own)
    if block.domain.name is DomainName.CIRCLE:
        return None
    generic: list[Term] = []
    opened = tuple(Index(size, "x") for size in block.shape.sizes)
    complete = True
    for term in own:
        at = _common_slots(c, block, term)
        if at is None:
            if term in left:
                return None
            complete = False
            continue
        moves: dict[Index, Slot] = dict(zip(at, opened, strict=True))
        generic.append(Term(term.coefficient, tuple((moved(atom, moves), e) for atom, e in term.factors)))
    if not generic and not complete:
        return None
    h = c.collect(generic, opened)
    found = at_ends(c, block, Coordinate(block.name, opened), h)
    open_ = [x for x in found.conditions if not x.holds]
    reasons = [
        *found.reasons,
        *(x.unmet if complete else f"{x.end}: not confined coordinate by coordinate" for x in open_),
    ]
    data = tuple((x.end, f"{text(x.factor)} > 0") for x in found.conditions)
    needed = tuple(open_) if found.exact and complete else ()
    return Finite(tuple(reasons), data, "", needed)


def _common_slots(c: Calculus, block: Block, term: Term) -> tuple[Index, ...] | None:
    """Return the indices of the one coordinate of a block that a term is about, summed over; None if there is none.

    None, too, where a function of the block occurs: it is no constant beside the coordinate, however it is declared.
    """
    if any(
        isinstance(a, Component) and (a.name, block.name) in c.rules.depends for a in everywhere(Tensor((), (term,)))
    ):
        return None
    places = {a.at for a in everywhere(Tensor((), (term,))) if isinstance(a, Coordinate) and a.block == block.name}
    if len(places) != 1:
        return None
    at = tuple(slot for slot in places.pop() if isinstance(slot, Index))
    own = indices(term.factors)
    return at if len(at) == len(block.shape.sizes) == len(set(at)) and set(at) <= own else None


def _dirichlet(c: Calculus, block: Block, own: list[Term]) -> Finite | None:
    """Decide sums of logarithms on the simplex: `prod x_i**-k_i (1 - sum x)**-k` is integrable where all k < 1."""
    (size,) = block.shape.sizes or (None,)
    if size is None:
        return None
    x, i = Index(size, "x"), Index(size, "i")
    slack = c.subtract(c.constant(1), c.total(c.coordinate(block.name, i), i))
    inner, outer = c.zero(x), c.zero()
    for term in own:
        logs = [f for f in term.factors if isinstance(f[0], Applied) and f[0].fn == "log" and f[1] == 1]
        rest = Term(term.coefficient, tuple(f for f in term.factors if f not in logs))
        if len(logs) != 1 or blocks_in(c, Tensor((), (rest,))):
            return None
        atom = logs[0][0]
        arg = atom.args[0] if isinstance(atom, Applied) else slack
        at = _common_slots(c, block, term)
        if arg.terms == slack.terms:
            outer = c.add(outer, c.collect([rest], ()))
        elif at is not None and arg.terms == (Term(ONE, ((Coordinate(block.name, at), ONE),)),):
            moves: dict[Index, Slot] = {at[0]: x}
            inner = c.add(
                inner, c.collect([Term(rest.coefficient, tuple((moved(a, moves), e) for a, e in rest.factors))], (x,))
            )
        else:
            return None
    conditions = [("0", c.subtract(c.constant(1), inner)), ("1 in sum", c.subtract(c.constant(1), outer))]
    found = [EndCondition(f"{block.name} -> {end}", k, is_positive(c.rules, k), boundary=True) for end, k in conditions]
    open_ = tuple(x for x in found if not x.holds)
    reasons = tuple(x.unmet for x in open_)
    return Finite(reasons, tuple((x.end, f"{text(x.factor)} > 0") for x in found), "", open_)


# Mixtures: energies `-K log(sum_k T_k)`, decided component by component.
#
# For K > 0 and T_k >= 0 the power (sum_k T_k)**K lies between the largest T_k**K and a multiple of their sum. So the
# integral of `(sum_k T_k)**K exp(-R)` is finite if and only if that of every `T_k**K exp(-R)` is.


MANY = 16
"""More components are not looked at."""


def components(c: Calculus, energy: Tensor) -> tuple[Tensor, ...]:
    """Return the H_k = H_0 - K log T_k of a mixture H = H_0 - K log(sum_k T_k) with T_k >= 0, K > 0; else nothing.

    exp(-H) has a finite integral if and only if every exp(-H_k) has one, since max_k T_k**K <= (sum_k T_k)**K <= C
    sum_k T_k**K. Only one mixture is taken apart; a component may hold another. -log(exp(-x**2) + exp(-(x - 1)**2)) has
    the components x**2 and (x - 1)**2.
    """
    for term in energy.terms:
        found = _mixture(c, term)
        if found is None:
            continue
        factor, arg = found
        rest = c.subtract(energy, Tensor((), (term,)))
        logs = (c.applied("log", Tensor((), (one,))) for one in arg.terms)
        return tuple(c.add(rest, c.multiply(factor, log)) for log in logs)
    return ()


def _mixture(c: Calculus, term: Term) -> tuple[Tensor, Tensor] | None:
    """Return -K and the sum of `-K log(sum)` with constant K > 0 and nonnegative summands, exponentials among them."""
    logs = [(factor, u) for factor in term.factors if (u := inside_logarithm(c, factor[0])) is not None]
    if len(logs) != 1 or logs[0][0][1] != 1 or logs[0][1].free:
        return None
    log, arg = logs[0]
    rest = tuple(factor for factor in term.factors if factor != log)
    factor = c.collect([Term(term.coefficient, rest)], ())
    exponential = any(isinstance(inner, Applied) and inner.fn == "exp" for inner in everywhere(arg))
    summands = 1 < len(arg.terms) <= MANY and is_nonnegative(c.rules, arg)
    return (factor, arg) if exponential and summands and is_positive(c.rules, c.scale(factor, Fraction(-1))) else None


def finite(
    c: Calculus,
    declarations: Declarations,
    energy: Tensor,
    over: tuple[Block, ...],
    abstract: tuple[Function, ...] = (),
) -> Finite:
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
    c = with_assumed_signs(c, declarations)
    found = _as_it_stands(c, declarations, energy, over, abstract)
    parts = components(c, energy) if found.reasons else ()
    if not parts:
        return found
    of_parts = [finite(c, declarations, part, over, abstract) for part in parts]
    assumed = {part.assumed for part in of_parts}
    reasons = tuple(dict.fromkeys(reason for part in of_parts for reason in part.reasons))
    if len(assumed) > 1 and not reasons:
        return found
    data = tuple((f"component {k}: {end}", says) for k, part in enumerate(of_parts, 1) for end, says in part.data)
    return Finite(reasons, data, min(assumed), tuple(condition for part in of_parts for condition in part.needed))


def _as_it_stands(
    c: Calculus, declarations: Declarations, energy: Tensor, over: tuple[Block, ...], abstract: tuple[Function, ...]
) -> Finite:
    names = {block.name for block in over}
    terms = [term for term in _lowered(c, energy).terms if _blocks(c, term) & names]
    if any(_blocks(c, term) - names for term in terms):
        return Finite((f"{text(_sum(c, terms))} couples them to other blocks",))
    covered: frozenset[str] = frozenset()
    assumed = ""
    own = [term for term in terms if any(_is_energy(c, function, term) for function in abstract)]
    if own:
        covered = frozenset().union(*(_blocks(c, term) for term in own))
        terms = [term for term in terms if term not in own]
        energy = _sum(c, own)
        says = f"exp({text(c.scale(energy, -1))}) has a finite integral"
        assumed = Assumption(says, Assumes.INTEGRAL, text(energy))
    elif any(function.role == "potential" for function in abstract):
        return Finite((f"the energy {text(energy)} is not a multiple of the potential plus other terms",))
    helping = _helping(c, terms, over)
    left = [term for term in terms if term not in helping]
    uncovered = [term for term in left if _blocks(c, term) & covered]
    if uncovered:
        return Finite((f"no assumption covers {text(_sum(c, uncovered))}",))
    rest = tuple(block for block in over if block.name not in covered)
    parts = _parts(c, declarations, _groups(c, rest, left), terms, left)
    reasons = tuple(reason for part in parts for reason in part.reasons)
    data = tuple(item for part in parts for item in part.data)
    alone = all(any(_blocks(c, term) <= part.names for part in parts) for term in terms)
    exact = alone and energy.terms == _lowered(c, energy).terms
    needed = tuple(condition for part in parts for condition in part.needed) if exact else ()
    return Finite(reasons, data, assumed, needed)


def abstract_energies(declarations: Declarations) -> tuple[Function, ...]:
    """Return the functions that stand for an energy: the potential; without one, every scalar function."""
    potential = tuple(f for f in declarations.functions if f.role == "potential")
    return potential or tuple(f for f in declarations.functions if not f.shape.sizes)


def _is_energy(c: Calculus, function: Function, term: Term) -> bool:
    """Whether a term is a constant multiple of an abstract energy, a positive one of the potential."""
    own = (Component(function.name, (), ()), ONE)
    rest = tuple(factor for factor in term.factors if factor != own)
    if own not in term.factors or _blocks(c, Term(ONE, rest)):
        return False
    positive = term.coefficient > 0 and all(factor_is_positive(c.rules, factor) for factor in rest)
    return positive or function.role != "potential"


def _blocks(c: Calculus, term: Term) -> frozenset[str]:
    return blocks_in(c, Tensor((), (term,)))


def _sum(c: Calculus, terms: list[Term]) -> Tensor:
    return c.collect(terms, ())


def _helping(c: Calculus, terms: list[Term], over: tuple[Block, ...]) -> list[Term]:
    """Return terms whose sum is bounded below: nonnegative ones, and semidefinite forms in one block."""
    found = [term for term in terms if is_nonnegative(c.rules, Tensor((), (term,)))]
    for block in over:
        if len(block.shape.sizes) != 1:
            continue
        forms = [term for term in terms if term not in found and degree_two(c, block, term)]
        slope = c.diff(_sum(c, forms), Coordinate(block.name, row_slots(block)))
        hessian = c.diff(slope, Coordinate(block.name, col_slots(block)))
        if forms and definiteness(c, hessian) is not Definiteness.UNKNOWN:
            found += forms
    return found


def degree_two(c: Calculus, block: Block, term: Term) -> bool:
    """Whether a term is of degree two in a block, as r_i r_j A_ij, whatever else its other factors hold."""
    ours = [(a, e) for a, e in term.factors if isinstance(a, Coordinate) and a.block == block.name]
    rest = Term(ONE, tuple(factor for factor in term.factors if factor not in ours))
    return sum(e for _, e in ours) == 2 and block.name not in _blocks(c, rest) and all(e in (1, 2) for _, e in ours)


def _groups(c: Calculus, blocks: tuple[Block, ...], left: list[Term]) -> list[tuple[Block, ...]]:
    """Return the blocks in groups that terms of unknown sign couple."""
    groups = [{block.name} for block in blocks]
    for term in left:
        touching = [group for group in groups if group & _blocks(c, term)]
        groups = [group for group in groups if group not in touching] + [set[str]().union(*touching)]
    return [tuple(block for block in blocks if block.name in group) for group in groups if group]


def _parts(
    c: Calculus, declarations: Declarations, groups: list[tuple[Block, ...]], terms: list[Term], left: list[Term]
) -> list[Finite]:
    """Decide every group by itself; those of which nothing is known are looked at together, too."""
    parts = [_component(c, declarations, group, terms, left) for group in groups]
    open_ = [group for group, part in zip(groups, parts, strict=True) if part.reasons and not part.needed]
    if len(open_) < 2:
        return parts
    union = tuple(block for group in open_ for block in group)
    joint = _by_tail(c, declarations, union, [term for term in terms if _blocks(c, term) <= _names(union)])
    if joint is None:
        return parts
    return [*(part for group, part in zip(groups, parts, strict=True) if group not in open_), joint]


def _component(
    c: Calculus, declarations: Declarations, group: tuple[Block, ...], terms: list[Term], left: list[Term]
) -> Finite:
    """Decide one group; `left` are the terms that are not bounded below by themselves."""
    names = _names(group)
    own = [term for term in terms if _blocks(c, term) <= names]
    single = one_by_one(c, group[0], own, left) if len(group) == 1 else None
    if single is not None and not single.reasons:
        return replace(single, names=names)
    by_growth = _by_growth(c, declarations, group, own, [term for term in left if term in own])
    if not by_growth.reasons:
        return replace(by_growth, names=names)
    by_tail = None if single is not None and single.needed else _by_tail(c, declarations, group, own)
    if by_tail is not None and (not by_tail.reasons or by_tail.needed):
        return by_tail
    tried = [found for found in (single, by_growth, by_tail) if found is not None]
    reasons = tuple(reason for found in tried for reason in found.reasons)
    return Finite(reasons, needed=single.needed if single is not None else (), names=names)


def _by_tail(c: Calculus, declarations: Declarations, group: tuple[Block, ...], own: list[Term]) -> Finite | None:
    """Decide by logarithmic growth, in all coordinates together; None if the energy does not grow like that."""
    found = tail(c, declarations, group, own)
    if found is None:
        return None
    if found.condition.holds:
        shown = (found.condition.end, f"{text(found.condition.factor)} > 0")
        return Finite((), (shown,), names=_names(group))
    needed = (found.condition,) if found.exact else ()
    return Finite((found.condition.unmet,), needed=needed, names=_names(group))


def _names(group: tuple[Block, ...]) -> frozenset[str]:
    return frozenset(block.name for block in group)


def _by_growth(
    c: Calculus, declarations: Declarations, group: tuple[Block, ...], own: list[Term], left: list[Term]
) -> Finite:
    """Decide by growth: every block confined, every other term bounded below or dominated."""
    found = grown(c, declarations, group, own, left)
    if isinstance(found, str):
        return Finite((found,))
    data = [(f"growth of {name}", f"{text(_sum(c, list(x.terms)))} of degree {x.degree}") for name, x in found.items()]
    return Finite((), tuple(data) or tuple((block.name, "bounded domain") for block in group))


def _lowered(c: Calculus, energy: Tensor) -> Tensor:
    """Return a lower bound of an energy: `n_i log(sum_j f_j) >= n_i log(f_i)` for n_i >= 0 and positive f_j."""
    parts = [_log_of_one(c, term) or Tensor((), (term,)) for term in energy.terms]
    return c.add(c.zero(), *parts)


def _log_of_one(c: Calculus, term: Term) -> Tensor | None:
    for factor in term.factors:
        atom, exponent = factor
        if not (isinstance(atom, Applied) and atom.fn == "log" and exponent == 1 and len(atom.args[0].terms) == 1):
            continue
        summand = atom.args[0].terms[0]
        bound = indices(summand.factors) - set(atom.args[0].free)
        rest = tuple(other for other in term.factors if other != factor)
        here = [index for index in indices(rest) if len(bound) == 1 and index.size == next(iter(bound)).size]
        coefficient = c.collect([Term(term.coefficient, rest)], tuple(here))
        if (
            len(here) != 1
            or atom.args[0].free
            or _blocks(c, Term(ONE, rest))
            or not is_nonnegative(c.rules, coefficient)
        ):
            continue
        moves: dict[Index, Slot] = {next(iter(bound)): here[0]}
        one = c.collect([Term(summand.coefficient, tuple((moved(a, moves), e) for a, e in summand.factors))], here)
        if is_positive(c.rules, one):
            return c.total(c.multiply(coefficient, c.applied("log", one)), *here)
    return None

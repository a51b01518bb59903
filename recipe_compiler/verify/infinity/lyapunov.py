"""Lyapunov functions: W with L W <= c (1 + W) that goes to infinity keeps solutions from doing so in finite time.

Then exp(-c t) (1 + W(z_t)) is a supermartingale up to the time at which W passes n, and the probability that this is
before t is at most exp(c t) (1 + W(z_0))/(1 + n) (Khasminskii, Theorem 3.5; Meyn and Tweedie 1993, Theorem 2.1). Tried
are |z|**2 (or its logarithm), H, and H beside |z|**2, and before all of them what the author states.

L W is bounded by c (1 + W) term by term: by what W outweighs, or by what is negative in L W itself. A product of powers
is at most a small share of sum_b |z_b|**g_b plus a constant where its share sum_b s_b / g_b is below 1, and a multiple
of it where that is 1 (weighted inequality of the means). y . X is at most C |y|**2 + k |X|**2, for every k > 0: it is
outweighed where L W holds a negative multiple of |X|**2. Terms of abstract functions that are not shown to be
bounded become premises.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.formula.build import add
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Apply, Formula, Number, Power
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text as formula_text
from recipe_compiler.tensor.atoms import Factor, indices
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.signs import is_positive
from recipe_compiler.tensor.terms import Base, Coordinate, Index, Tensor, Term
from recipe_compiler.verdict import Assumes, Assumption
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.growth.bounds import Bound, Terms, is_bounded_below

SOME = " for some "
"""How a premise about growth ends, before the name of the constant."""

CONSTANTS = ("c", *(f"c{k}" for k in range(1, 1000)))
"""Names of the constant: the first that the document does not declare."""

ONE = Fraction(1)
TWO = Fraction(2)
GROWS = " -> oo as "
"""In a premise that a function goes to infinity."""

LOW = " >= -"
"""In a premise that a function does not fall faster than |z|**2."""


@dataclass(frozen=True, slots=True)
class Weight:
    """What 1 + W is at least a positive multiple of: 1 + sum_b |z_b|**degrees[b]; `says` is its text in premises."""

    degrees: Mapping[str, Fraction]
    says: str
    logarithm: bool = False
    """Whether one logarithm may multiply the largest powers: W = log(1 + |z|**2) then suffices."""
    is_abstract: bool = False
    """Whether W holds an abstract function: how fast that grows may then be a premise by itself."""


@dataclass(slots=True)
class GrowthBound:
    """How L W compares with c (1 + W): terms that are not bounded by it, and what the others take for granted.

    `premises` are inequalities about abstract functions, as text; `logarithm` says that W has to be replaced by log(1 +
    W).
    """

    open: list[str] = field(default_factory=list[str])
    premises: list[str] = field(default_factory=list[str])
    logarithm: bool = False


def bound_generator(terms: Terms, parts: Sequence[Tensor], weight: Weight) -> GrowthBound:
    """Return which terms of L W, the sum of `parts` with any positive weights, c (1 + W) does not bound, and premises.

    Term by term, c depending on the parameters but not on z. What is nonpositive in L W is dropped, or used up: a
    product with the powers s_b is outweighed where sum_b s_b/g_b <= 1 for W >= sum_b |z_b|**g_b (< 1 where the g_b come
    from negative terms of L W), and y . X is where |y|**2 <= W and L W holds a negative multiple of |X|**2. What
    abstract functions leave is a premise, unless none of them meets it: x**4 sqrt(1 + g**2) is at least x**4.
    (Khasminskii 2012, Theorem 3.5; Meyn, Tweedie 1993, Theorem 2.1.)

    Example, SGHMC with W = H + k |theta|**2: L H = tr(C inv(M)) - r.T inv(M) C inv(M) r, a constant and what only
    helps; L |theta|**2 = 2 theta.T inv(M) r has share 1/2 + 1/2 = 1 of |theta|**2 + |r|**2. Nothing is open; the only
    premise, that U >= -c (1 + |theta|**2), is that of W itself.
    """
    every = [term for part in parts for term in part.terms]
    falling = [term for term in every if not terms.list_signed_terms([_negate(term)])]
    rising = [term for term in every if term not in falling]
    stronger = _strengthen_degrees(terms, weight, falling)
    covered = frozenset(block for _, block in terms.c.rules.depends)
    found = GrowthBound()
    abstract: list[Term] = []
    for term in rising:
        if _is_outweighed(terms, term, weight, stronger, found) or _is_compensated(terms, term, weight, falling):
            continue
        meets = terms.is_abstract(term.factors) or (weight.is_abstract and terms.blocks(term.factors) & covered)
        if not meets or terms.is_steep(term.factors):
            found.open.append(text(_make_scalar(terms, term)))
            continue
        moving = [f for f in term.factors if terms.blocks([f]) and not terms.blocks([f]) & covered]
        share = _compute_share(terms.bound(moving), weight.degrees)
        half = share is not None and share <= Fraction(1, 2)
        asked = _square_rest(terms, term, moving) if moving and half else _make_scalar(terms, term)
        if (moving and not half) or any(_outgrows(terms, one, weight) for one in asked.terms):
            found.open.append(text(_make_scalar(terms, term)))
        elif moving:
            found.premises.append(_assume_at_most(terms, asked, weight))
        else:
            abstract.append(term)
    if abstract:
        found.premises.append(_assume_at_most(terms, terms.c.collect(abstract, ()), weight))
    return found


def _outgrows(terms: Terms, term: Term, weight: Weight) -> bool:
    """Return whether a term exceeds c (1 + W), whatever its abstract functions are: they make factors >= some k > 0."""
    abstract = [factor for factor in term.factors if terms.is_abstract([factor])]
    if weight.is_abstract or not all(
        isinstance(atom, Base) and power > 0 and is_bounded_below(terms.c, atom.arg) for atom, power in abstract
    ):
        return False
    share = _compute_share(terms.bound(factor for factor in term.factors if factor not in abstract), weight.degrees)
    return share is None or share > 1


def _assume_at_most(terms: Terms, tensor: Tensor, weight: Weight) -> str:
    return _assume_for_some_constant(terms, f"{text(tensor)} <= ", weight.says)


def _assume_for_some_constant(terms: Terms, begins: str, says: str) -> Assumption:
    """Return the premise that a term is at most c (1 + W), with a name c that the document does not use."""
    declared = terms.declarations
    taken = {*declared.sizes, *(name for name in CONSTANTS if declared.find(name) is not None)}
    c = next(name for name in CONSTANTS if name not in taken)
    return Assumption(f"{begins}{c} ({says}){SOME}{c}", Assumes.GROWTH)


def _make_scalar(terms: Terms, term: Term) -> Tensor:
    return terms.c.collect([term], ())


def _negate(term: Term) -> Term:
    return Term(-term.coefficient, term.factors)


def _strengthen_degrees(terms: Terms, weight: Weight, falling: Sequence[Term]) -> Mapping[str, Fraction]:
    """Return the degrees of c (1 + W) - L W: by block the larger of those of W and of negative terms of L W."""
    found = dict(weight.degrees)
    for block in terms.unbounded:
        own = tuple(map(_negate, falling))
        falls = terms.find_confinement(block, own)
        if falls is not None:
            found[block.name] = max(found.get(block.name, Fraction(0)), falls.degree)
    return found


def _compute_share(growth: Bound | None, degrees: Mapping[str, Fraction]) -> Fraction | None:
    share = None if growth is None else growth.compute_share(degrees)
    return None if share is None or growth is None or (growth.logs and share == 1) else share


def _is_outweighed(
    terms: Terms, term: Term, weight: Weight, stronger: Mapping[str, Fraction], found: GrowthBound
) -> bool:
    """Whether a term is at most c (1 + W), or dominated by negative terms of L W."""
    falls = terms.find_falling_logarithm(term)
    growth = terms.bound(f for f in term.factors if f is not falls)
    if growth is None:
        return False
    by_W, by_both = growth.compute_share(weight.degrees), growth.compute_share(stronger)
    if by_both is not None and by_both < 1:
        return True
    if by_W == 1 and growth.logs <= (1 if weight.logarithm else 0):
        found.logarithm = found.logarithm or growth.logs == 1
        return True
    return False


def _is_compensated(terms: Terms, term: Term, weight: Weight, falling: Sequence[Term]) -> bool:
    """Whether a term is y . X with |y|**2 at most c (1 + W), and L W contains a negative multiple of |X|**2."""
    for factor in term.factors:
        atom, exponent = factor
        if not isinstance(atom, Coordinate) or exponent != 1 or weight.degrees.get(atom.block, ONE) < TWO:
            continue
        square = _square_rest(terms, term, [factor])
        if square.terms and all(any(_is_negative_multiple(other, part) for other in falling) for part in square.terms):
            return True
    return False


def _is_negative_multiple(falling: Term, part: Term) -> bool:
    return part.coefficient > 0 and falling.coefficient < 0 and falling.factors == part.factors


def _square_rest(terms: Terms, term: Term, own: Iterable[Factor]) -> Tensor:
    """Return |X|**2 of a term `own . X`: X has the indices that it shares with `own`."""
    listed = list(own)
    rest = tuple(f for f in term.factors if f not in listed)
    shared = tuple(sorted(indices(listed) & indices(rest), key=lambda index: index.label))
    named = {index: Index(index.size, f"y{k}") for k, index in enumerate(shared)}
    x = terms.c.rename(Tensor(shared, (Term(ONE, rest),)), dict(named))  # named first: bound labels may be the same
    return terms.c.total(terms.c.multiply(x, x), *named.values())


def is_growth_premise(fact: str) -> bool:
    """Whether a premise of a proof is about how abstract functions grow."""
    return isinstance(fact, Assumption) and fact.kind is Assumes.GROWTH


@dataclass(frozen=True, slots=True)
class LyapunovFunction:
    """A candidate W, a sum of positive multiples of `parts`, with what it outweighs."""

    says: str
    parts: tuple[Formula, ...]
    weight: Weight
    premises: tuple[str, ...] = ()
    """Why W goes to infinity, where abstract functions decide that."""
    open: str = ""
    """Why W is not known to go to infinity; it may at fixed sizes."""


def list_candidates(subject: Subject, terms: Terms) -> Iterator[LyapunovFunction]:
    """Yield candidates for W: |z|**2, then H + k |theta|**2 with theta the blocks of abstract functions, then H.

    The W that the author states (`claims.lyapunov`) comes before them. Over bounded blocks nothing is needed: |z|**2 is
    taken over the unbounded ones.
    """
    stated = read_stated_function(subject, terms)
    if stated is not None:
        yield stated
    yield _propose_square(terms)
    if any(block for _, block in terms.c.rules.depends):
        beside = _propose_energy_and_square(terms, subject.whole.H)
        if beside is not None:
            yield beside
    yield _propose_function(terms, subject.whole.H, "H")


def read_stated_function(subject: Subject, terms: Terms) -> LyapunovFunction | None:
    """Return the W that the author states, None where none is."""
    stated = subject.dynamics.claims.lyapunov
    if stated is None:
        return None
    return _propose_function(terms, stated, f"{formula_text(stated)}, as stated")


@dataclass(frozen=True, slots=True)
class LowerBound:
    """A lower bound W >= sum_b c |z_b|**degrees[b] + abstract - C of a function, c > 0.

    `abstract` is the part over the blocks that abstract functions depend on: nothing is known of its growth.
    """

    degrees: Mapping[str, Fraction]
    abstract: Tensor


def find_lower_bound(terms: Terms, energy: Tensor, besides: Mapping[str, Fraction]) -> LowerBound | str:
    """Return what a function W grows like, W >= sum_b c |z_b|**g_b + abstract - C, or why that is not known.

    A block with a definite form only where others are bounded has no degree. U(theta) + r.T inv(M) r/2 has g_r = 2
    and U as its abstract part.

    Args:
        terms: the calculus.
        energy: W, a scalar in index notation.
        besides: degrees of blocks that are confined in another way, as by |z_b|**2 next to W.
    """
    covered = {block.name for block in list_abstract_blocks(terms)}
    of_terms = (terms.blocks(term.factors) for term in energy.terms if terms.is_abstract(term.factors))
    names = frozenset[str]().union(*(blocks for blocks in of_terms if blocks <= covered))
    own = [term for term in energy.terms if terms.blocks(term.factors) and terms.blocks(term.factors) <= names]
    rest = [term for term in energy.terms if term not in own]
    blocks = (block for block in terms.unbounded if block.name not in names)
    found = terms.find_confinements(blocks, rest, besides, pointwise=names)
    if isinstance(found, str):
        return found
    return LowerBound({name: one.degree for name, one in found.items()}, terms.c.collect(own, ()))


def list_abstract_blocks(terms: Terms) -> tuple[Block, ...]:
    """Return the blocks that abstract functions depend on and that are unbounded."""
    names = {block for _, block in terms.c.rules.depends}
    return tuple(block for block in terms.unbounded if block.name in names)


def has_power_growth(terms: Terms, energy: Tensor) -> bool:
    """Return whether an energy is shown to grow like a power in all unbounded blocks: H >= c |z|**g - C with c, g > 0.

    Every power of |z| is then integrable against exp(-H).
    """
    if terms.find_lower_growth(terms.unbounded, energy) is not None:
        return True
    found = find_lower_bound(terms, energy, {})
    return not isinstance(found, str) and all(block.name in found.degrees for block in terms.unbounded)


def _write_square(blocks: tuple[Block, ...]) -> Formula:
    """Return |z|**2 over some blocks."""
    squares = ((Power(b.symbol, Number(TWO), b.shape), b.shape) for b in blocks)
    return add([Apply("sum", (x,), SCALAR) if shape.sizes else x for x, shape in squares], SCALAR)


def _format_norms(blocks: tuple[Block, ...]) -> str:
    return " + ".join(f"norm2({b.name})" if b.shape.sizes else f"{b.name}**2" for b in blocks)


def _propose_square(terms: Terms) -> LyapunovFunction:
    """Return |z|**2 over the unbounded blocks as a candidate."""
    blocks = terms.unbounded
    weight = Weight(
        {block.name: TWO for block in blocks},
        f"1 + {_format_norms(list_abstract_blocks(terms) or blocks)}",
        logarithm=True,
    )
    return LyapunovFunction(_format_norms(blocks), (_write_square(blocks),), weight)


def _propose_energy_and_square(terms: Terms, H: Formula) -> LyapunovFunction | None:
    """Return k H + |z|**2 over the blocks of abstract functions; None if H does not confine the others."""
    blocks = list_abstract_blocks(terms)
    found = find_lower_bound(terms, convert(H, terms.declarations), {block.name: TWO for block in blocks})
    if isinstance(found, str) or not blocks or not found.abstract.terms:
        return None
    weight = Weight(found.degrees, f"1 + {_format_norms(blocks)} + {text(found.abstract)}", is_abstract=True)
    low = _assume_for_some_constant(
        terms, f"{text(_drop_positive_factor(terms, found.abstract))}{LOW}", f"1 + {_format_norms(blocks)}"
    )
    says = f"H + k ({_format_norms(blocks)}), k large"
    return LyapunovFunction(says, (H, _write_square(blocks)), weight, (low,))


def _drop_positive_factor(terms: Terms, abstract: Tensor) -> Tensor:
    """Return U of k U, k > 0 a constant; both fall no faster than |z|**2, or neither."""
    if len(abstract.terms) != 1:
        return abstract
    (term,) = abstract.terms
    moving = tuple(factor for factor in term.factors if terms.blocks([factor]))
    rest = Term(term.coefficient, tuple(factor for factor in term.factors if factor not in moving))
    positive = is_positive(terms.c.rules, Tensor((), (rest,)))
    return terms.c.collect([Term(Fraction(1), moving)], ()) if positive else abstract


def _propose_function(terms: Terms, W: Formula, says: str) -> LyapunovFunction:
    """Return a function as a candidate; its abstract part is assumed to grow."""
    found = find_lower_bound(terms, convert(W, terms.declarations), {})
    if isinstance(found, str):
        return LyapunovFunction(says, (W,), Weight({}, "1"), open=found)
    blocks = tuple(b for b in list_abstract_blocks(terms) if b.name in blocks_in(terms.c, found.abstract))
    if not blocks:
        return LyapunovFunction(says, (W,), Weight(found.degrees, "1"))
    weight = Weight(found.degrees, f"1 + {text(found.abstract)}", is_abstract=True)
    grows = Assumption(f"{text(found.abstract)}{GROWS}{_format_norms(blocks)} -> oo", Assumes.GROWTH)
    return LyapunovFunction(says, (W,), weight, (grows,))

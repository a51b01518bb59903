"""Blocks that lie in bounded sets, taken out of an integral: what holds them is bounded, or a Dirichlet's.

The measure of a simplex, of directions and of correlations is finite. Where every summand of a log posterior that holds
such a block b is at most a constant, for all values of the other blocks,

    int exp(-U) <= C int exp(-rest), over the other blocks alone,

and so it is beside one summand sum_i c_i log b_i of a simplex with all c_i > -1, whose own integral is Dirichlet's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.facts.semidefinite import sign
from recipe_compiler.formula.build import add, nodes
from recipe_compiler.formula.constraints import OF_MATRICES_IN_CONES, THIN, Constraint
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
    Symbol,
    Transpose,
)
from recipe_compiler.formula.orders import terms_of
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Stated, Target
from recipe_compiler.verify.builds.ceiling import ceiling
from recipe_compiler.verify.core.premises import depends_on_state
from recipe_compiler.verify.integrability.bounded import bounded_above, bounded_below

ZERO = Number(Fraction(0))
ENTRIES = ("potential", "log_prior", "log_likelihood")


@dataclass(frozen=True, slots=True)
class Reduced:
    """A target without the blocks whose integral is bounded for all values of the others; `reasons` if not known."""

    target: Target | None
    """None where no block is left."""
    data: tuple[tuple[str, str], ...]
    """What was left out, by entry."""
    reasons: tuple[str, ...]
    """Why it is not known; then nothing else counts."""


def without_sets(target: Target) -> Reduced:
    """Return a target, as declared, without its blocks in bounded sets.

    int exp(-U) <= C int exp(-rest) over the other blocks, if every summand of the log posterior that contains such a
    block is at most a constant; besides, one summand sum_i c_i log b_i with all c_i > -1 has Dirichlet's integral.
    """
    declared = target.declarations
    sets = {b.name: b for b in declared.blocks if b.constraint in THIN or b.constraint in OF_MATRICES_IN_CONES}
    reasons = [f"{b.name} is a {b.constraint}, an unbounded set" for b in sets.values() if b.constraint not in THIN]
    kept: dict[str, list[Formula]] = {entry: [] for entry in ENTRIES}
    data: list[tuple[str, str]] = []
    dirichlet: set[str] = set()
    for entry in ENTRIES:
        formula: Formula | None = getattr(target, entry)
        together: list[Formula] = []
        unseen: list[str] = []
        for term in () if formula is None else terms_of(formula):
            held = sets.keys() & set(dependence(term).blocks)
            of = _of_dirichlet(term, declared) if entry == "log_prior" else None  # that of a datum stands N times
            if not held:
                kept[entry].append(term)
            elif (bounded_below if entry == "potential" else bounded_above)(term, declared):
                together.append(term)
                data.append((entry, f"{text(term)} is bounded, so it can only help"))
            elif of is not None and of.name not in dirichlet and of.name in sets:
                dirichlet.add(of.name)
                data.append((entry, f"{text(term)} is a Dirichlet's"))
            else:
                together.append(term)
                unseen.append(f"{text(term)} is not shown to be bounded where {', '.join(sorted(held))} is")
        if unseen and _have_ceiling(together, target, entry):
            data.append((entry, f"the terms in {', '.join(sorted(sets))} are bounded together, so they can only help"))
        else:
            reasons += unseen
    blocks = tuple(block for block in declared.blocks if block.name not in sets)
    if reasons or not blocks:
        return Reduced(None, tuple(data), tuple(reasons))
    fewer = replace(declared, blocks=blocks, data=declared.data if kept["log_likelihood"] else ())
    left = {entry: _without_constants(terms, frozenset(fewer.sizes)) for entry, terms in kept.items()}
    if not any(left.values()):
        left["log_prior"] = ZERO
    dropped = frozenset(entry for entry in ENTRIES if left[entry] is None)
    stated = _without(target.stated, declared, fewer, dropped)
    return Reduced(replace(target, declarations=fewer, laws=(), stated=stated, **left), tuple(data), ())


def _have_ceiling(terms: list[Formula], target: Target, entry: str) -> bool:
    """Whether the sum of terms of a log posterior is at most a constant, as y eta - log(1 + exp(eta)) is of a label."""
    densities = [one for one in target.stated.densities if one.entry == entry]
    return entry != "potential" and ceiling(add(terms, SCALAR), densities, target.declarations, {}) is not None


def _without_constants(terms: list[Formula], known: frozenset[str]) -> Formula | None:
    """Return the sum of terms without constants of sizes that are not known any more; None where none is left."""
    left = [term for term in terms if not _is_constant_of(term, known)]
    return add(left, SCALAR) if left else None


def _is_constant_of(term: Formula, known: frozenset[str]) -> bool:
    """Whether a summand is a constant of a size that nothing left has: log Gamma(K) of `dirichlet(w, ones)`."""
    sizes = [size for node in nodes(term) for size in node.shape.sizes if isinstance(size, str)]
    return not depends_on_state(term) and not known.issuperset(name for size in sizes for name in size.split("*"))


def _without(stated: Stated, declared: Declarations, fewer: Declarations, dropped: frozenset[str]) -> Stated:
    """Return the named densities, and other summands, of the entries that are left, in which no block of sets is.

    Of a density that holds such a block, the summands without one are left: -log(s) of `normal(w, 0, s)`.
    """
    sets = {block.name for block in declared.blocks} - {block.name for block in fewer.blocks}
    kept = [one for one in stated.densities if one.entry not in dropped]
    held = [one for one in kept if any(sets & set(dependence(arg).blocks) for arg in one.arguments)]
    parts = [(one.entry, log_density(DENSITIES[one.name], one.arguments, declared)) for one in held if one.is_term]
    left: dict[str, list[Formula]] = {}
    for entry, formula in (*stated.others, *parts):
        if entry not in dropped:
            left.setdefault(entry, []).extend(t for t in terms_of(formula) if not sets & set(dependence(t).blocks))
    sums = ((entry, _without_constants(terms, frozenset(fewer.sizes))) for entry, terms in left.items())
    others = tuple((entry, formula) for entry, formula in sums if formula is not None)
    return replace(stated, densities=tuple(one for one in kept if one not in held), others=others)


def _of_dirichlet(term: Formula, declared: Declarations) -> Block | None:
    """Return the simplex b of a summand sum_i c_i log b_i with all c_i > -1; under a sum one log b_i counts often."""
    is_sum = isinstance(term, Apply) and term.fn == "sum"
    for c, logs in _products(term):
        match logs:
            case Apply("log", (Entry(),)) if is_sum:
                pass
            case Apply("log", (Symbol(name) | Entry(Symbol(name)),)):
                block = declared.find(name)
                if isinstance(block, Block) and block.constraint is Constraint.SIMPLEX and _above(c, declared):
                    return block
            case _:
                pass
    return None


def _products(term: Formula) -> Iterator[tuple[Formula, Formula]]:
    """Yield c and log b of a summand that is c times log b, summed over entries."""
    one = Number(Fraction(1))
    match term:
        case Apply("sum", (arg,)):
            yield from _products(arg)
        case MatMul(Transpose(left), right) if left.shape == right.shape and left.shape.cols is None:
            yield from ((left, right), (right, left))
        case Multiply(left, Apply("sum", (right,))) | Multiply(Apply("sum", (right,)), left):
            yield left, right
        case Multiply(left, right):
            yield from ((left, right), (right, left))
        case Apply("log"):
            yield one, term
        case _:
            return


def _above(c: Formula, declared: Declarations) -> bool:
    """Whether every entry of a constant is above -1."""
    if dependence(c).blocks:
        return False
    if sign(c, declared).nonnegative:
        return True
    number, rest = Fraction(0), list[Formula]()
    for term in c.terms if isinstance(c, Add) else (c,):
        match term:
            case Number(value) | Multiply(Number(value), Filled(1)) | Multiply(Filled(1), Number(value)):
                number += value
            case Filled(value):
                number += value
            case _:
                rest.append(term)
    signs = [sign(term, declared) for term in rest]
    nonnegative = all(one.nonnegative for one in signs)
    return nonnegative and (number > -1 or (number == -1 and any(one.positive for one in signs)))

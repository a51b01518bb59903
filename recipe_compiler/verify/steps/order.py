"""The weak order of one step: up to which power of eps is E phi(z') that of the equation, for smooth phi?

A word of exact flows acts on functions as exp(s_1 eps L_1) ... exp(s_m eps L_m). It has order p where its coefficients
of products of up to p generators are those of exp(eps sum L), whatever the pieces are; commutators of given pieces may
vanish, so that is a lower bound. It is the order where what is off at p + 1, applied to some phi, is not zero.

Steps of Euler's are no products of exponentials. b' = b + eps f_b(z) + noise moves every block from the old state, or
those before it moved already: their moments show order 1.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import factorial

import sympy
from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics.pieces import Pieces, apply_generators, generator
from recipe_compiler.algebra.dynamics.system import drift
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import WITHOUT_BOUNDARY
from recipe_compiler.kernel.words import coefficient
from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.words import letters, word_text
from recipe_compiler.splitting.flow_table import find_flow
from recipe_compiler.splitting.split_by import list_leaving_blocks
from recipe_compiler.splitting.words import Order, find_order
from recipe_compiler.verdict import Answer, Assumes, Assumption, Evidence, Proved, Refuted, Undecided, undecided
from recipe_compiler.verify.core.conjunction import format_point
from recipe_compiler.verify.core.first_witness import find_first_witness
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.premises import has_state_assumptions, require_smooth
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.steps.flow import assume_existence
from recipe_compiler.verify.steps.pieces import pieces
from recipe_compiler.verify.steps.split import ZERO, Split
from recipe_compiler.verify.words.letters import is_palindrome

NO_MORE, IN_GENERAL = "and not higher", "and not higher for general U and values"
"""Shown of the U and the values of a build; or of some, which says nothing of these."""
REFLECTED_STEP = "a reflected step is not a smooth function of its start"
Look = tuple[str, Subject, Callable[[Sizes], Iterable[tuple[str, Expr]]]]


def palindrome(split: Split) -> Answer:
    """Report whether a word is its own reverse; both answers are proofs.

    If it is, its step is its own adjoint, and its order is even (Hairer, Lubich, Wanner 2006, Thm. II.3.2).
    """
    match is_palindrome(split.scheme.word):
        case Refuted(witness=witness):
            letters_ = ", ".join(f"{name} is {value}" for name, value in witness)
            return Answer(Proved(f"it is not a palindrome: {letters_}"))
        case _:
            return Answer(Proved("it is a palindrome"))


def word_order(split: Split, own: Split | None = None) -> Answer:
    """Report the weak order of one step of a word: by its letters at least, and by a function that shows it is no more.

    E phi(z') = exp(s_1 eps L_1) ... exp(s_m eps L_m) phi must agree with exp(eps L) phi up to eps**p. The second engine
    finds every coefficient letter by letter, and applies the products whose coefficients are wrong at p + 1 to
    coordinates and their squares, until one is not zero at an exact point. It rests on `pieces`, on exact flows (a
    numerical one limits the order), smooth formulas, and growth like powers (Talay, Tubaro 1990).

    Args:
        split: with an abstract U, and all values as declared.
        own: the same with the U and the values of a build: an error for some U need not be one for this U.
    """
    made = pieces(split)
    if isinstance(made.decision, Refuted):
        return Answer(Proved("weak order 0: the pieces do not add up to the SDE"))
    if isinstance(made.decision, Undecided):
        return undecided("not shown: the pieces add up to the SDE")
    least = bound_order(split)
    if isinstance(least, Undecided):
        return Answer(least)
    found, data = least.of_letters, (("word", word_text(split.scheme.word)), ("order", str(least.order)))
    if least.by_flows:  # beyond it, what is off in the word and in a flow may cancel
        return answer_order(least.order, "its letters and its flows", least.given, data, ())
    splits = [(NO_MORE, own), (IN_GENERAL, split)] if found.wrong else []
    looks = [(says, of.subject, partial(_mean_errors, of, dict(found.wrong))) for says, of in splits if of is not None]
    return answer_order(least.order, "its letters", least.given, data, looks)


def euler_order(subject: Subject, scheme: Scheme, own: Subject | None = None) -> Answer:
    """Report that one step of Euler's has weak order 1, with a coordinate whose mean shows that it has no higher one.

    Undecided of a step that is reflected.

    E[z'] - z = eps f + O(eps**2) and Cov[z'] = 2 eps D + O(eps**2) (Talay, Tubaro 1990). In eps**2, E[b'] has L_b f_b
    with L_b the generator of the blocks moved before b, and the equation has L f_b/2. For dx = -x dt + sqrt(2) dW the
    step has 0 there, and the equation x/2.

    Args:
        subject: with an abstract U, and all values as declared.
        scheme: one of Euler's.
        own: the same with the U and the values of a build: an error for some U need not be one for this U.
    """
    if scheme.reflect:
        return undecided(REFLECTED_STEP)
    needed = require_smooth(subject.formulas, subject.declarations)
    if needed.open:
        return Answer(Undecided(tuple(f"not shown: {what}" for what in needed.open)))
    given = (*needed.given, *weak_order_premises(subject, [block.name for block in bounded_blocks(subject)]))
    subjects = [(NO_MORE, own), (IN_GENERAL, subject)]
    looks = [(says, of, partial(_euler_mean_errors, of, scheme)) for says, of in subjects if of is not None]
    return answer_order(1, "its moments", given, (("scheme", scheme.name), ("order", "1")), looks)


def _euler_mean_errors(subject: Subject, scheme: Scheme, sizes: Sizes) -> Iterator[tuple[str, Expr]]:
    """Yield the eps^2 part of E[x'] minus that of the equation, for every coordinate x."""
    of, blocks = subject.system(sizes), subject.declarations.blocks
    f, block_of = drift(of), [block.name for block in blocks for _ in coordinates(block, sizes)]
    moved: set[int] = set()
    for name in scheme.order or subject.names:
        own = {k for k, block in enumerate(block_of) if block == name}
        before = moved if scheme.order else set[int]()
        part = tuple(x if i in before else ZERO for i, x in enumerate(f))
        D = tuple(tuple(x if {i, j} <= before else ZERO for j, x in enumerate(row)) for i, row in enumerate(of.D))
        for i in sorted(own):
            there, here = generator(part, D, of.z, f[i]), generator(f, of.D, of.z, f[i])
            yield str(of.z[i]), sympy.expand(there - here / 2)
        moved |= own


@dataclass(frozen=True, slots=True)
class Least:
    """The weak order that a step certainly has, if its pieces add up to the equation."""

    order: int
    of_letters: Order
    by_flows: bool
    """Whether numerical flows have an order of their own, which may be less than that of the letters."""
    given: tuple[str, ...]


def bound_order(split: Split) -> Least | Undecided:
    """Return the weak order guaranteed by the word and its numerical flows; undecided if none is.

    The least of the order of the word and of those of its numerical flows. Undecided where the engines differ on a
    coefficient of exp(s_1 eps L_1) ... exp(s_m eps L_m), where D, Q or H is not shown to be smooth, where a step is
    reflected, and where a piece has no flow. (Talay, Tubaro 1990; Blanes, Casas 2016, Sec. 2.)
    """
    found = find_order(split.scheme.word)
    apart = _find_disagreement(split, found)
    if apart:
        return Undecided((f"the engines disagree on the coefficient of {' '.join(apart)}; please report this",))
    needed = require_smooth(split.subject.formulas, split.subject.declarations)
    if needed.open:
        return Undecided(tuple(f"not shown: {what}" for what in needed.open))
    bounded = bounded_blocks(split.subject)
    try:
        known = [piece for piece in split.pieces if bounded or piece.name in split.numerical]
        flows = [(piece, find_flow(split.derivation, piece, split.numerical.get(piece.name, ""))) for piece in known]
        if any(flow.momentum for _, flow in flows):
            return Undecided((REFLECTED_STEP,))
        numbers = [flow.order for _, flow in flows if flow.order is not None]
        leaving = tuple(list_leaving_blocks(bounded, flows))
    except ModelError as error:
        return Undecided(tuple(fault.problem for fault in error.faults))
    given = (*needed.given, *assume_existence(split, split.pieces), *weak_order_premises(split.subject, leaving))
    return Least(min(found.order, *numbers) if numbers else found.order, found, bool(numbers), given)


def bounded_blocks(subject: Subject) -> tuple[Block, ...]:
    """Return the blocks whose domain has a boundary."""
    return tuple(block for block in subject.declarations.blocks if block.domain.name not in WITHOUT_BOUNDARY)


def weak_order_premises(subject: Subject, leaving: Collection[str]) -> Iterator[str]:
    """Yield what the theorem on weak orders requires besides smoothness (Talay, Tubaro 1990).

    For a block that steps keep inside its domain, moments of 1/x must be finite as those of x are: growth is meant in
    both.

    Args:
        subject: the dynamics.
        leaving: the blocks that a step may take over a boundary.
    """
    energy = subject.dynamics.potential or "H"
    yield Assumption(f"{energy} and its derivatives grow like powers", Assumes.POWERS, energy)
    kept = [block.name for block in bounded_blocks(subject) if block.name not in leaving]
    yield from (f"drifts and noise grow like powers of {name} and 1/{name}" for name in kept)
    if leaving or has_state_assumptions(subject.declarations):
        yield "steps stay inside the domain"


def answer_order(order: int, by: str, given: tuple[str, ...], data: Evidence, looks: Iterable[Look]) -> Answer:
    """Return the answer that a step has an order, with a function whose mean errs at the next power, if any.

    Args:
        order: the one that it has at least.
        by: what shows that.
        given: what it rests on.
        data: added to the proof.
        looks: what a proof says where the order is no higher, the subject, and functions that yield at fixed sizes what
            the means of some functions of the state are off by.
    """
    known = tuple(sorted(set(given)))
    for says, subject, deviations in looks:
        declarations, sizes = subject.declarations, subject.sizes[: limits.SIZES]
        off = find_first_witness(deviations, declarations, sizes, subject.formulas)
        if off is not None:
            _, name, at = off
            value = f"off by {format_value(at.value)} eps^{order + 1} at {format_point(at.text)}"
            beyond = ("beyond", f"E[{name}] after a step is {value}")
            return Answer(Proved(f"weak order {order}, {says}", known, (*data, beyond)))
    return Answer(Proved(f"weak order {order} at least, by {by}", known, data))


def _find_disagreement(split: Split, found: Order) -> Pieces | None:
    """Return the first product of generators whose coefficient differs between the engines; None if all agree."""
    word = [(x.piece, x.share) for x in letters(split.scheme.word)]
    names = tuple(piece.name for piece in split.pieces)
    wrong = dict(found.wrong)
    products = (of for length in range(1, found.order + bool(wrong) + 1) for of in product(names, repeat=length))
    expected = ((of, Fraction(1, factorial(len(of))) + wrong.get(of, 0)) for of in products)
    return next((of for of, value in expected if coefficient(word, of) != value), None)


def _mean_errors(split: Split, defects: Mapping[Pieces, Fraction], sizes: Sizes) -> Iterator[tuple[str, Expr]]:
    """Yield coordinates, squares and products of two, each with the mean error that the wrong products cause."""
    named = {piece.name: piece for piece in split.pieces}

    def apply(name: str, phi: Expr) -> Expr:
        return generator(split.drift(named[name], sizes), split.diffusion(named[name], sizes), split.z(sizes), phi)

    firsts = [split.z(sizes)[split.places(n, sizes)[0]] for n in range(len(split.subject.names))]
    tried = [*firsts, *(x**2 for x in firsts), *(x * y for x, y in combinations(firsts, 2))]
    yield from ((str(phi), apply_generators(defects, apply, phi)) for phi in tried)

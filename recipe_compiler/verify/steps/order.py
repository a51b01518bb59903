"""The weak order of one step: up to which power of eps is E phi(z') that of the equation, for smooth phi?

A word of exact flows acts on functions as exp(s_1 eps L_1) ... exp(s_m eps L_m). It has order p where its coefficients
of products of up to p generators are those of exp(eps sum L), whatever the pieces are; commutators of given pieces may
vanish, so that is a lower bound. It is the order where what is off at p + 1, applied to some phi, is not zero.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import factorial

from sympy import Expr

from recipe_compiler.algebra.dynamics.pieces import generator
from recipe_compiler.algebra.dynamics.words import Pieces, applied, coefficient
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import Witness, witness
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import WITHOUT_BOUNDARY
from recipe_compiler.spec.words import Letter, letter_text, letters, word_text
from recipe_compiler.splitting.flow import Flow
from recipe_compiler.splitting.flow_table import flow_of
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.reflection import Reflected
from recipe_compiler.splitting.split_by import may_leave
from recipe_compiler.splitting.words import Order, first_asymmetry, order
from recipe_compiler.verdict import Answer, Assumes, Assumption, Proved, Refuted, Undecided
from recipe_compiler.verify.core.identities import shown
from recipe_compiler.verify.core.premises import restricts_state, smoothness
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.steps.flow import assumed_to_last
from recipe_compiler.verify.steps.pieces import pieces
from recipe_compiler.verify.steps.split import Split

NO_MORE, IN_GENERAL = "and not higher", "and not higher for general U and values"
"""Shown of the U and the values of a build; or of some, which says nothing of these."""
Data = tuple[tuple[str, str], ...]
LOOKED_AT = 2
"""Sizes at which a function is looked for that shows an order to be no higher."""


def palindrome(split: Split) -> Answer:
    """Report whether a word is its own reverse; both answers are proofs.

    If it is, its step is its own adjoint, and its order is even (Hairer, Lubich, Wanner 2006, Thm. II.3.2). Undecided
    only where two ways of reading it backwards disagree.
    """
    found = is_palindrome(split)
    match found.decision:
        case Proved():
            return Answer(Proved("it is a palindrome"))
        case Refuted(witness=witness):
            return Answer(
                Proved(f"it is not a palindrome: {', '.join(f'{name} is {value}' for name, value in witness)}")
            )
        case Undecided():
            return found


def is_palindrome(split: Split) -> Answer:
    """Decide that a word is its own reverse, letter by letter, by two ways of comparing."""
    place = first_asymmetry(split.scheme.word)
    found = [(x.piece, x.share) for x in letters(split.scheme.word)]
    if (place is None) is not (found == found[::-1]):
        return Answer(Undecided(("the two ways of reading the word backwards disagree; please report this",)))
    if place is None:
        return Answer(Proved("letters and shares"))
    here, there = found[place], found[-1 - place]
    at = ((f"letter {place + 1}", _shown(here)), (f"letter {len(found) - place}", _shown(there)))
    return Answer(Refuted("letters and shares", at))


def _shown(letter: tuple[str, Fraction]) -> str:
    return letter_text(Letter(*letter))


def word_order(split: Split, own: Split | None = None) -> Answer:
    """Report the weak order of one step of a word: by its letters at least, and by a function that shows it is no more.

    E phi(z') = exp(s_1 eps L_1) ... exp(s_m eps L_m) phi must agree with exp(eps L) phi up to eps**p. The second engine
    finds every coefficient by matrices, and applies the products whose coefficients are wrong at p + 1 to coordinates
    and their squares, until one is not zero at an exact point. It rests on `pieces`, on exact flows (a numerical one
    limits the order), smooth formulas, and growth like powers (Talay, Tubaro 1990).

    Args:
        split: with an abstract U, and all values as declared.
        own: the same with the U and the values of a build: an error for some U need not be one for this U.
    """
    made = pieces(split)
    if isinstance(made.decision, Refuted):
        return Answer(Proved("weak order 0: the pieces do not add up to the SDE"))
    if isinstance(made.decision, Undecided):
        return Answer(Undecided(("not shown: the pieces add up to the SDE",)))
    least = order_at_least(split)
    if isinstance(least, Undecided):
        return Answer(least)
    given, found = least.given, least.of_letters
    data = (("word", word_text(split.scheme.word)), ("order", str(least.order)))
    says = f"weak order {least.order}"
    if least.by_flows:  # beyond it, what is off in the word and in a flow may cancel
        return ordered(f"{says} at least, by its letters and its flows", given, data)
    for of in (own, split) if found.wrong else ():
        off = None if of is None else _beyond(of, found)
        if off is not None:
            return ordered(f"{says}, {NO_MORE if of is own else IN_GENERAL}", given, data, off, found.order + 1)
    return ordered(f"{says} at least, by its letters", given, data)


@dataclass(frozen=True, slots=True)
class Least:
    """The weak order that a step whose pieces make the equation has at least."""

    order: int
    of_letters: Order
    by_flows: bool
    """Whether numerical flows have an order of their own, which may be less than that of the letters."""
    given: tuple[str, ...]


def order_at_least(split: Split) -> Least | Undecided:
    """Return the weak order that the letters of a word, and its numerical flows, show; or what is not shown.

    The least of the order of the word and of those of its numerical flows. Undecided where the engines differ on a
    coefficient of exp(s_1 eps L_1) ... exp(s_m eps L_m), where D, Q or H is not shown to be smooth, where a step is
    reflected, and where a piece has no flow. (Talay, Tubaro 1990; Blanes, Casas 2016, Sec. 2.)
    """
    found = order(split.scheme.word)
    apart = _disagreements(split, found)
    if apart:
        return Undecided((f"the engines disagree on the coefficient of {' '.join(apart)}; please report this",))
    needed = smoothness(split.formulas, split.subject.dynamics.declarations)
    if needed.open:
        return Undecided(tuple(f"not shown: {what}" for what in needed.open))
    bounded = bounded_blocks(split.subject)
    try:
        if any(isinstance(flow, Reflected) for flow in _numerical(split)):
            return Undecided(("a reflected step is not a smooth function of its start",))
        numbers = [flow.order for flow in _numerical(split) if flow.order is not None]
        leaving = tuple(may_leave(bounded, _flows(split))) if bounded else ()
    except ModelError as error:
        return Undecided(tuple(fault.problem for fault in error.faults))
    given = (*needed.given, *assumed_to_last(split, split.pieces), *asked_for(split.subject, leaving))
    return Least(min(found.order, *numbers) if numbers else found.order, found, bool(numbers), given)


def _beyond(split: Split, found: Order) -> tuple[str, Witness] | None:
    """Return a function whose mean is wrong in the next power of eps, with a point; None where none was found."""
    sizes = split.subject.sizes[:LOOKED_AT]
    seen = (point_of(_off(split, dict(found.wrong), at), split.subject, at, split.formulas) for at in sizes)
    return next((off for off in seen if off is not None), None)


def _numerical(split: Split) -> Iterator[Flow]:
    """Yield the flows of a word that are not exact."""
    for piece in split.pieces:
        if piece.name in split.numerical:
            yield flow_of(split.derivation, piece, split.numerical[piece.name])


def _flows(split: Split) -> Iterator[tuple[Piece, Flow]]:
    """Yield the pieces of a word with the flows that move them."""
    for piece in split.pieces:
        yield piece, flow_of(split.derivation, piece, split.numerical.get(piece.name, ""))


def bounded_blocks(subject: Subject) -> tuple[Block, ...]:
    """Return the blocks whose domain has a boundary."""
    return tuple(block for block in subject.dynamics.declarations.blocks if block.domain.name not in WITHOUT_BOUNDARY)


def asked_for(subject: Subject, leaving: Collection[str]) -> Iterator[str]:
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
    if leaving or restricts_state(subject.dynamics.declarations):
        yield "steps stay inside the domain"


def ordered(
    says: str, given: tuple[str, ...], data: Data, off: tuple[str, Witness] | None = None, power: int = 0
) -> Answer:
    """Return the answer that a step has an order, with the function that is wrong in the next power of eps, if any."""
    if off is not None:
        name, at = off
        point = ", ".join(f"{x} = {value}" for x, value in at.text)
        data = (*data, ("beyond", f"E[{name}] after a step is off by {shown(at.value)} eps^{power} at {point}"))
    return Answer(Proved(says, tuple(sorted(set(given))), data))


def point_of(
    functions: Iterable[tuple[str, Expr]], subject: Subject, sizes: Sizes, formulas: tuple[Formula, ...]
) -> tuple[str, Witness] | None:
    """Return the first named function that is not zero at an exact point, with that point; None where none is found."""
    try:
        for name, e in functions:
            found = witness(e, subject.dynamics.declarations, sizes, formulas)
            if found is not None:
                return name, found
    except (NoInstanceError, NotScalarisableError, TooLargeError):
        pass
    return None


def _disagreements(split: Split, found: Order) -> Pieces | None:
    """Return the first product whose coefficient is not what the order says, by the second engine."""
    word = [(x.piece, x.share) for x in letters(split.scheme.word)]
    names = tuple(piece.name for piece in split.pieces)
    wrong = dict(found.wrong)
    last = found.order + bool(wrong)
    products = (of for length in range(1, last + 1) for of in product(names, repeat=length))
    for of in products:
        if coefficient(word, of) - Fraction(1, factorial(len(of))) != wrong.get(of, 0):
            return of
    return None


def _off(split: Split, defects: Mapping[Pieces, Fraction], sizes: Sizes) -> Iterator[tuple[str, Expr]]:
    """Yield functions of the state by name, with what the first wrong products make of each."""
    named = {piece.name: piece for piece in split.pieces}

    def apply(name: str, phi: Expr) -> Expr:
        return generator(split.drift(named[name], sizes), split.diffusion(named[name], sizes), split.z(sizes), phi)

    yield from ((str(phi), applied(defects, apply, phi)) for phi in _tried(split, sizes))


def _tried(split: Split, sizes: Sizes) -> Iterator[Expr]:
    """Yield the functions that are tried: coordinates, their squares, products of two."""
    firsts = [split.z(sizes)[split.places(n, sizes)[0]] for n in range(len(split.subject.names))]
    yield from firsts
    yield from (x**2 for x in firsts)
    yield from (x * y for x, y in combinations(firsts, 2))

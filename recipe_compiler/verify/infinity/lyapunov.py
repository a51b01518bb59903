"""Lyapunov functions: W with L W <= c (1 + W) that goes to infinity keeps solutions from doing so in finite time.

Then exp(-c t) (1 + W(z_t)) is a supermartingale up to the time at which W passes n, and the probability that this is
before t is at most exp(c t) (1 + W(z_0))/(1 + n) (Khasminskii, Theorem 3.5; Meyn and Tweedie 1993, Theorem 2.1). Tried
are |z|**2 (or its logarithm), H, and H beside |z|**2, and before all of them what the author states.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.scalars.entries import rows
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.derive.recipe import row_slots
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.show import text as formula_text
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.signs import is_positive
from recipe_compiler.tensor.terms import Tensor, Term
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.infinity.bounds import SOME, Weight
from recipe_compiler.verify.infinity.confined import confined, covered
from recipe_compiler.verify.infinity.growth import Terms

TWO = Fraction(2)
GROWS = " -> oo as "
"""In a premise that a function goes to infinity."""
LOW = " >= -c "
"""In a premise that a function does not fall faster than |z|**2."""


def is_growth(fact: str) -> bool:
    """Whether a premise of a proof is about how abstract functions grow."""
    return GROWS in fact or fact.endswith(SOME)


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a sum W: in index notation, and at fixed sizes by the second engine."""

    tensor: Tensor
    scalar: Callable[[Sizes], Expr]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A function W, as a sum of positive multiples of functions, with what it outweighs."""

    says: str
    parts: tuple[Function, ...]
    weight: Weight
    premises: tuple[str, ...] = ()
    """Why W goes to infinity, where abstract functions decide that."""
    formulas: tuple[Formula, ...] = ()
    """What W is made of besides |z|**2."""
    open: str = ""
    """Why W is not known to go to infinity; it may at fixed sizes."""


def candidates(subject: Subject, terms: Terms) -> Iterator[Candidate]:
    """Yield functions W, that of the author alone where one is stated."""
    stated = subject.dynamics.claims.lyapunov
    if stated is not None:
        says = f"{formula_text(stated)}, as stated"
        yield _alone(terms, _function(subject, stated), says, stated)
        return
    yield _squares(terms)
    energy = _function(subject, subject.whole.H)
    if any(block for _, block in terms.c.rules.depends):
        beside = _beside(terms, energy, subject.whole.H)
        if beside is not None:
            yield beside
    yield _alone(terms, energy, "H", subject.whole.H)


def _function(subject: Subject, formula: Formula) -> Function:
    tensor = convert(formula, subject.dynamics.declarations)
    return Function(tensor, lambda sizes: rows(formula, subject.setting(sizes))[0][0])


def _square(terms: Terms, blocks: tuple[Block, ...]) -> Function:
    c = terms.c
    found = c.zero()
    for block in blocks:
        x = c.coordinate(block.name, *row_slots(block))
        found = c.add(found, c.total(c.multiply(x, x), *row_slots(block)))

    def scalar(sizes: Sizes) -> Expr:
        return sympy.Add(*(x**2 for block in blocks for x in coordinates(block, sizes)))

    return Function(found, scalar)


def _norms(blocks: tuple[Block, ...]) -> str:
    return " + ".join(f"norm2({b.name})" if b.shape.sizes else f"{b.name}**2" for b in blocks)


def _squares(terms: Terms) -> Candidate:
    blocks = terms.unbounded
    weight = Weight({block.name: TWO for block in blocks}, f"1 + {_norms(covered(terms) or blocks)}", logarithm=True)
    return Candidate(_norms(blocks), (_square(terms, blocks),), weight)


def _beside(terms: Terms, energy: Function, H: Formula) -> Candidate | None:
    """Return k H + |z|**2 over the blocks of abstract functions, H confining the others; None if it does not."""
    blocks = covered(terms)
    found = confined(terms, energy.tensor, {block.name: TWO for block in blocks})
    if isinstance(found, str) or not blocks or not found.abstract.terms:
        return None
    weight = Weight(found.degrees, f"1 + {_norms(blocks)} + {text(found.abstract)}")
    low = f"{text(_without_factor(terms, found.abstract))}{LOW}(1 + {_norms(blocks)}){SOME}"
    says = f"H + k ({_norms(blocks)}), k large"
    return Candidate(says, (energy, _square(terms, blocks)), weight, (low,), (H,))


def _without_factor(terms: Terms, abstract: Tensor) -> Tensor:
    """Return U of k U, k > 0 a constant: what falls no faster than |z|**2 does so with any factor."""
    if len(abstract.terms) != 1:
        return abstract
    (term,) = abstract.terms
    moving = tuple(factor for factor in term.factors if terms.blocks([factor]))
    rest = Term(term.coefficient, tuple(factor for factor in term.factors if factor not in moving))
    positive = is_positive(terms.c.rules, Tensor((), (rest,)))
    return terms.c.collect([Term(Fraction(1), moving)], ()) if positive else abstract


def _alone(terms: Terms, function: Function, says: str, formula: Formula) -> Candidate:
    """Return a function by itself; of what abstract functions make up it is taken for granted that it grows."""
    found = confined(terms, function.tensor, {})
    if isinstance(found, str):
        return Candidate(says, (function,), Weight({}, "1"), formulas=(formula,), open=found)
    blocks = tuple(block for block in covered(terms) if block.name not in found.degrees)
    if not blocks:
        return Candidate(says, (function,), Weight(found.degrees, "1"), formulas=(formula,))
    weight = Weight(found.degrees, f"1 + {text(found.abstract)}")
    grows = f"{text(found.abstract)}{GROWS}{_norms(blocks)} -> oo"
    return Candidate(says, (function,), weight, (grows,), (formula,))

"""Do formulas mean anything on a circle? What is stated of a block on a circle must come back to itself around it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import witness
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.everywhere import is_zero_everywhere
from recipe_compiler.errors import Place
from recipe_compiler.facts.multiplied_out import apart
from recipe_compiler.formula.build import parts
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.elementwise import named
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Entry,
    Formula,
    FunctionAt,
    GradTilde,
    Multiply,
    Next,
    Number,
    Pi,
    Role,
    Symbol,
)
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics, Target
from recipe_compiler.spec.positions import smallest_sizes, stated_formulas
from recipe_compiler.spec.recursion import of_rows
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject

TURN = Multiply(Number(Fraction(2)), Pi(), SCALAR)
"""2 pi."""

TURNING = named(lambda row: row.periodic)


def circle_blocks(declarations: Declarations) -> tuple[Block, ...]:
    """Return the blocks whose domain is a circle."""
    return tuple(block for block in declarations.blocks if block.domain.name is DomainName.CIRCLE)


def periodic(subject: Subject) -> Answer:
    """Decide that H, D, Q and what is claimed of them are periodic on circles: F(z + T e_i) = F(z), with period T.

    i runs over the coordinates of blocks on a circle; the next value of such a coordinate may change by whole periods.
    By structure (sin and cos of whole multiples), or else by the second engine, which forms F(z + T e_i) - F(z).
    Abstract functions are assumed to be periodic, and listed. On a circle of length 2 pi, cos(3 phi) is proved and
    cos(phi/2) is refuted: it changes by -2 cos(phi/2).
    """
    dynamics = subject.dynamics
    stated = _Stated(
        tuple(_list_stated_formulas(dynamics)), dynamics.declarations, subject.sizes, dynamics.claims.update or ()
    )
    return _decide_periodic(stated, subject.place("H"))


def target_periodic(target: Target) -> Answer:
    """Decide that the potential is periodic on circles of period T: U(theta + T e_i) = U(theta)."""
    stated = tuple(f for f in (target.potential, target.log_prior, target.log_likelihood) if f is not None)
    stated += tuple(formula for state in target.recursion for formula in (state.start, state.next))
    sizes = (smallest_sizes(target.declarations, stated_formulas(target)),)
    return _decide_periodic(_Stated(stated, of_rows(target), sizes), target.source.place("potential"))


@dataclass(frozen=True, slots=True)
class _Stated:
    """The formulas that must be periodic, and the sizes at which the second engine checks them."""

    formulas: tuple[Formula, ...]
    declarations: Declarations
    sizes: tuple[Sizes, ...]
    update: tuple[tuple[str, Formula], ...] = ()


def _list_stated_formulas(dynamics: Dynamics) -> list[Formula]:
    """Return H, all entries of the matrices and the claimed drift."""
    matrices = (dynamics.D, dynamics.Q, dynamics.claims.diffusion)
    found = [dynamics.H, *(place for matrix in matrices for row in matrix or () for place in row)]
    return found + [formula for _, formula in dynamics.claims.drift or ()]


def _decide_periodic(stated: _Stated, where: Place | None) -> Answer:
    """Return the answer by structure; whatever remains open, by the second engine once around the circle."""
    given: set[str] = set()
    open_: list[str] = []
    by = "structure"
    for block in circle_blocks(stated.declarations):
        whole = not block.domain.bounds or [text(edge) for edge in block.domain.bounds] == ["0", "2*pi"]
        for formula in stated.formulas:
            if _find_nonperiodic(formula, block.name, given) is None and (whole or _is_free_of(formula, block.name)):
                continue
            found = _check_around_circle(formula, block, stated)
            if isinstance(found, tuple):
                refuted, sizes = found
                decision = replace(refuted, given=tuple(sorted(given)))
                return Answer(decision, tuple(sizes.items()) or "all", where=where)
            if found:
                open_.append(f"not shown: {text(formula)} is periodic in {block.name}: {found}")
            else:
                by = "structure; normal form once around the circle"
        open_ += _unproved_updates(stated.update, block.name, given, whole=whole)
    reasons = tuple(sorted(given))
    decision: Decision = Undecided(tuple(open_), given=reasons) if open_ else Proved(by, reasons)
    return Answer(decision, where=where)


def _unproved_updates(
    update: tuple[tuple[str, Formula], ...], name: str, given: set[str], *, whole: bool
) -> Iterator[str]:
    """Yield which updates are not shown to be periodic in a block; its own may add whole periods."""
    for updated, formula in update:
        terms = formula.terms if isinstance(formula, Add) else (formula,)
        left = [term for term in terms if not (updated == name and _is_whole_term(term, name))]
        if any(
            _find_nonperiodic(term, name, given) is not None or not (whole or _is_free_of(term, name)) for term in left
        ):
            yield f"not shown: the update of {updated} is periodic in {name}"


def _check_around_circle(formula: Formula, block: Block, stated: _Stated) -> tuple[Refuted, Sizes] | str:
    """Return a point where a formula changes once around the circle; or why that is open; empty if it is periodic.

    What is abstract is left as it is: that it is periodic is assumed.
    """
    for sizes in stated.sizes:
        try:
            for entry in _entry_changes(formula, block, Setting(stated.declarations, sizes)):
                if is_zero_everywhere(entry, apart(stated.declarations, sizes)):
                    continue
                found = witness(entry, stated.declarations, sizes, (formula,))
                if found is not None:
                    says = (f"the change of {text(formula)} once around {block.name}", format_value(found.value))
                    return Refuted("exact witness", (*found.text, says), str(entry)), sizes
                return "it occurs outside sin and cos of integer multiples, and no witness was found"
        except (NoNormalFormError, NotScalarisableError, TooLargeError, NoInstanceError) as reason:
            return f"second engine: {reason}"
    return "second engine: it is at small sizes" if stated.declarations.sizes else ""


def _entry_changes(formula: Formula, block: Block, setting: Setting) -> Iterator[Expr]:
    """Yield the change of every entry of a formula once around the circle of one coordinate."""
    for row in rows(formula, setting):
        for entry in row:
            yield from period_changes(entry, block, setting)


def period_changes(entry: Expr, block: Block, setting: Setting) -> Iterator[Expr]:
    """Yield F(x + T) - F(x) for each coordinate x of a block on a circle of period T, abstract functions left as is."""
    low, high = (rows(edge, setting)[0][0] for edge in block.domain.bounds or (Number(Fraction(0)), TURN))
    abstract = {call: sympy.Dummy(real=True) for call in entry.atoms(sympy.Derivative, sympy.Subs, AppliedUndef)}
    plain = cast(Expr, entry.xreplace(abstract))
    back = {name: call for call, name in abstract.items()}
    for x in coordinates(block, setting.sizes):
        moved = cast(Expr, sympy.expand_mul(plain.xreplace({x: x + high - low})))
        yield cast(Expr, (moved - plain).xreplace(back))


def _find_nonperiodic(formula: Formula, name: str, given: set[str]) -> Formula | None:
    """Return an occurrence of a block not shown to be periodic; periodicity of abstract functions is assumed."""
    match formula:
        case Symbol(same, _, Role.BLOCK) | Next(same) if same == name:
            return formula
        case GradTilde(function):
            given.add(f"{function} is periodic in {name}")
            return None
        case FunctionAt(of=of, home=home):
            if name in of:
                given.add(f"{formula.declared} is periodic in {(home or of)[of.index(name)]}")
            return None
        case Apply(fn, (arg,), _) if fn in TURNING and _is_whole_multiple(arg, name):
            return None
        case Apply("grad" | "div" | "hessian", (arg, Symbol()), _):
            return _find_nonperiodic(arg, name, given)
        case _:
            return next((found for part in parts(formula) if (found := _find_nonperiodic(part, name, given))), None)


def _is_whole_multiple(arg: Formula, name: str) -> bool:
    """Return whether an angle changes by whole turns once around the block's circle."""
    return all(_is_whole_term(term, name) for term in (arg.terms if isinstance(arg, Add) else (arg,)))


def _is_whole_term(term: Formula, name: str) -> bool:
    """Return whether a term is a whole multiple of the block, or free of it."""
    match term:
        case Symbol(same, _, Role.BLOCK) | Entry(Symbol(same, _, Role.BLOCK)) if same == name:
            return True
        case Multiply(Number(number), other, _) | Multiply(other, Number(number), _):
            return _is_free_of(other, name) or (number.denominator == 1 and _is_whole_term(other, name))
        case _:
            return _is_free_of(term, name)


def _is_free_of(formula: Formula, name: str) -> bool:
    """Return whether a formula does not depend on a block."""
    match formula:
        case Symbol(same, _, Role.BLOCK) | Next(same):
            return same != name
        case GradTilde():
            return False
        case FunctionAt(_, of, _):
            return name not in of
        case _:
            return all(_is_free_of(part, name) for part in parts(formula))

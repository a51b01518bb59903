"""Is a claimed update a small step? Drift terms must be O(eps), noise covariances O(eps): the commonest slips are not.

Decided by the powers of eps alone: `sqrt(eps)` where `eps` is meant, `N(0, eps)` scaled by eps once more, a term that
lacks eps. What has the right order may have the wrong factor; that is decided by `claimed_update`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import witness
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, rows
from recipe_compiler.algebra.scalars.matrices import Rows, TooLargeError, add, product, transpose
from recipe_compiler.algebra.scalars.symbols import label, positions
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.build import add as plus
from recipe_compiler.formula.build import negate, parts, rebuild
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import (
    Apply,
    Formula,
    GradTilde,
    MatMul,
    Multiply,
    Next,
    Normal,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.orders import HALF, ONE, ZERO, at_zero, holds_step, is_settled, orders, terms_of
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided
from recipe_compiler.verify.core.identities import shown
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.updates.finite_step import read_as

# The terms of a claimed update: which of them are noise, and which power of eps is the step size of all of them.


def unit_of(update: Sequence[Formula]) -> Fraction:
    """Return the power of eps that is the step size: 1, or that of all noise and drift if it is higher.

    theta - eps**2/2 grad U + eps N(0, I) is a step of size eps**2: noise covariance and drift both begin there. With a
    drift of order eps next to noise of covariance eps**2 there is no such power, and the step is judged as written, in
    eps.
    """
    powers = [(orders(term), is_noise(term)) for formula in update for term in terms_of(formula)]
    noise = [2 * min(own) for own, noisy in powers if noisy and own]
    unit = min(noise, default=ONE)
    if unit <= ONE or any(not own for own, _ in powers):
        return ONE
    others = [power for own, noisy in powers if not noisy for power in own or () if power != 0]
    return unit if min(others, default=unit) >= unit else ONE


def draws_in(formula: Formula) -> Iterator[Formula]:
    """Yield the draws in a formula."""
    if isinstance(formula, Normal) or (isinstance(formula, Symbol) and formula.role is Role.NOISE):
        yield formula
    for part in parts(formula):
        yield from draws_in(part)


def is_noise(term: Formula) -> bool:
    """Whether a term is a draw, or a product with exactly one draw: its mean is zero."""
    return _holds_factor(term) and sum(1 for _ in draws_in(term)) == 1


def _holds_factor(term: Formula) -> bool:
    match term:
        case Normal() | Symbol(_, _, Role.NOISE):
            return True
        case Multiply(left, right) | MatMul(left, right) | Apply("outer" | "kron" | "dot", (left, right)):
            return _holds_factor(left) or _holds_factor(right)
        case Transpose(arg):
            return _holds_factor(arg)
        case _:
            return False


LARGEST = 6
"""Coordinates of a block up to which entries are looked at."""


def claims_update(dynamics: Dynamics) -> bool:
    """Whether an update is claimed."""
    return dynamics.claims.update is not None


def step_scale(subject: Subject) -> Answer:
    """Decide that a claimed update has E[dz] = O(eps) and Cov[dz] = O(eps) in every block, for every size.

    Refuted also where D is not zero and all noise of the block is smaller than O(eps): N(0, 2 eps**2 I) with D = I is,
    and so is a drift sqrt(eps) grad U. A wrong factor is decided by `claimed_update`. Advisory.
    """
    where = subject.place("claims.update", "claims")
    update = subject.dynamics.claims.update or ()
    blocks = {block.name: block for block in subject.dynamics.declarations.blocks}
    if not any(holds_step(formula) for _, formula in update):
        return Answer(Undecided(("the update does not contain eps",)), where=where)
    unit = unit_of([formula for _, formula in update])
    tried: list[str] = []
    small: list[tuple[str, str]] = []
    for name, formula in update:
        if not holds_step(formula) and any(True for _ in draws_in(formula)):
            tried.append(f"{name} is refreshed, not moved by a small step")
            continue
        own = _open(blocks[name], formula, subject, unit)
        failed = _failure(blocks[name], formula, subject) or _too_small(blocks[name], formula, subject, unit)
        if failed is not None:
            at, decision = failed
            place = subject.place(f"claims.update.{name}", "claims.update")
            return Answer(decision, tuple(at.items()) or "all", where=place)
        tried += own
        small += _small(name, formula, unit)
    by = "powers of eps in every term" if unit == ONE else f"powers of eps in every term; {read_as(unit)}"
    decision: Decision = Undecided(tuple(tried)) if tried else Proved(by, (), tuple(small))
    return Answer(decision, where=where)


def _open(block: Block, formula: Formula, subject: Subject, unit: Fraction) -> list[str]:
    """Return the terms whose power of eps is not shown to be right, for every size."""
    still: list[Formula] = []
    found: list[str] = []
    for term in terms_of(formula):
        own = orders(term)
        if own is None:
            found.append(f"{block.name}: {text(term)} has eps inside a function, whose order is not computed")
        elif min(own) >= (unit / 2 if is_noise(term) else unit):
            continue
        elif is_settled(own) and not any(True for _ in draws_in(term)):
            still.append(at_zero(term))
        elif isinstance(term, Normal) and is_settled(orders(term.cov)) and _vanishes(at_zero(term.cov), subject):
            continue
        else:
            found.append(f"{block.name}: {text(term)} is of order {_eps(min(own))}")
    rest = plus([*still, negate(Symbol(block.name, block.shape, Role.BLOCK))], block.shape)
    if not _vanishes(rest, subject):
        terms = " + ".join(text(term) for term in still) or "0"
        found.append(f"{block.name}: {terms} is not shown to be {block.name} as eps goes to 0")
    return found


def _vanishes(formula: Formula, subject: Subject) -> bool:
    """Whether index calculus shows, for every size, that a formula is zero as eps goes to 0."""
    declarations = subject.dynamics.declarations
    slots = tuple(Index(size, name) for size, name in zip(formula.shape.sizes, "ij", strict=False))
    try:
        return calculus(declarations).is_zero(convert(_settled(formula), declarations, *slots))
    except ModelError:
        return False


def _small(name: str, formula: Formula, unit: Fraction) -> Iterator[tuple[str, str]]:
    """Yield the draws whose covariance is smaller than O(eps): that of gradient noise is O(eps**2)."""
    for term in terms_of(formula):
        own = orders(term)
        if is_noise(term) and own is not None and min(own) > unit / 2:
            yield f"the noise {text(term)} of {name}", f"covariance O({_eps(2 * min(own))})"


def _eps(power: Fraction) -> str:
    return f"eps**{power}" if power.denominator == 1 else f"eps**({power})"


def _settled(formula: Formula) -> Formula:
    """Return a formula with updated blocks as the blocks they become as eps goes to 0."""
    if isinstance(formula, Next):
        return Symbol(formula.block, formula.shape, Role.BLOCK)
    return rebuild(formula, [_settled(part) for part in parts(formula)], lambda shape: shape)


@dataclass(slots=True)
class _Entries:
    """An update entry by entry: draws as symbols, the step size as s**2."""

    subject: Subject
    sizes: Sizes
    covariances: list[tuple[Symbol, Formula | None]] = field(default_factory=list["tuple[Symbol, Formula | None]"])

    def named(self, formula: Formula) -> Formula:
        """Return a formula with every draw and gradient estimate as a symbol."""
        match formula:
            case Normal(cov, shape):
                draw = Symbol(f"draw {len(self.covariances)}", shape, Role.NOISE)
                self.covariances.append((draw, cov))
                return draw
            case GradTilde(function, block, shape):
                return Symbol(f"grad_tilde({function}, {block})", shape, Role.NOISE)
            case Next(block, shape):
                return Symbol(block, shape, Role.BLOCK)
            case Symbol(name, _, Role.NOISE):
                if all(draw.name != name for draw, _ in self.covariances):
                    self.covariances.append((formula, None))
                return formula
            case _:
                return rebuild(formula, [self.named(part) for part in parts(formula)], lambda shape: shape)

    def of(self, formula: Formula) -> Rows:
        """Return the entries of a formula without draws, eps put as s**2."""
        setting = self.subject.setting(self.sizes)
        return tuple(tuple(_in_root(x) for x in row) for row in rows(formula, setting))


S = sympy.Symbol("s.step", positive=True)
"""The root of eps."""


def _in_root(e: Expr) -> Expr:
    steps = {symbol: S**2 for symbol in e.atoms(sympy.Symbol) if str(symbol) == "eps"}
    found = e.xreplace(steps) if steps else e
    return found if isinstance(found, Expr) else e


def _failure(block: Block, formula: Formula, subject: Subject) -> tuple[Sizes, Refuted] | None:
    """Return the sizes and the refutation: a coefficient of eps**0 or eps**(1/2) that is not zero at an exact point."""
    for sizes in sorted(subject.sizes, key=lambda s: (min(s.values(), default=2) < 2, sum(s.values())))[:2]:
        try:
            for says, coefficient in _coefficients(block, formula, subject, sizes):
                found = None if is_zero(coefficient) else witness(coefficient, subject.dynamics.declarations, sizes)
                if found is not None:
                    residual = f"{says} in the update of {block.name}: {_blamed(formula)}"
                    return sizes, Refuted("exact witness", (*found.text, (says, shown(found.value))), residual)
        except (NotScalarisableError, TooLargeError, NoNormalFormError, NoInstanceError):
            continue
    return None


def _too_small(block: Block, formula: Formula, subject: Subject, unit: Fraction) -> tuple[Sizes, Refuted] | None:
    """Return the refutation where D is not zero but every draw in the update has a covariance smaller than O(eps)."""
    own = [orders(term) for term in terms_of(formula)]
    drawn = [term for term in terms_of(formula) if any(True for _ in draws_in(term))]
    powers = [orders(term) for term in drawn]
    if not drawn or None in own or any(min(p or {ZERO}) <= unit / 2 for p in powers) or _holds_next(formula):
        return None
    n = subject.names.index(block.name)
    D = subject.dynamics.D
    for sizes in subject.sizes if D is not None else ():
        try:
            entries = [x for row in rows(D[n][n], subject.setting(sizes)) for x in row] if D is not None else []
            for entry in entries:
                found = None if is_zero(entry) else witness(entry, subject.dynamics.declarations, sizes)
                if found is not None:
                    says = f"D[{block.name},{block.name}]"
                    residual = f"{says} is not zero, but all noise in {block.name} is smaller than O(eps): "
                    residual += ", ".join(text(term) for term in drawn)
                    return sizes, Refuted(
                        "powers of eps", (*found.text, (f"an entry of {says}", shown(found.value))), residual
                    )
        except (NotScalarisableError, TooLargeError, NoNormalFormError, NoInstanceError):
            continue
    return None


def _holds_next(formula: Formula) -> bool:
    return isinstance(formula, Next) or any(_holds_next(part) for part in parts(formula))


def _blamed(formula: Formula) -> str:
    guilty = [t for t in terms_of(formula) if min(orders(t) or {ONE}) < (HALF if is_noise(t) else ONE)]
    plain = [t for t in guilty if not isinstance(t, Symbol)] or guilty or [formula]
    return ", ".join(text(term) for term in plain)


def _coefficients(block: Block, formula: Formula, subject: Subject, sizes: Sizes) -> Iterator[tuple[str, Expr]]:
    """Yield what must vanish: mean and covariance of the increment at the orders below eps."""
    made = _Entries(subject, sizes)
    own = made.named(formula)
    F = [x for row in made.of(own) for x in row]
    if len(F) > LARGEST:
        return
    at_rest = [x for row in made.of(Symbol(block.name, block.shape, Role.BLOCK)) for x in row]
    w = [_symbols(draw, sizes) for draw, _ in made.covariances]
    every = [x for xs in w for x in xs]
    if any(slope(slope(x, v), u) != 0 for x in F for v in every for u in every):
        return
    no_draws: dict[Expr, Expr] = {x: sympy.Integer(0) for xs in w for x in xs}
    for x, z in zip(F, at_rest, strict=True):
        mean = _put(x, no_draws) - z
        yield from _below("the drift", mean, made)
    total: Rows | None = None
    for (_, cov), xs in zip(made.covariances, w, strict=True):
        A = tuple(tuple(_put(slope(x, v), no_draws) for v in xs) for x in F)
        half = A if cov is None else product(A, made.of(made.named(cov)))
        own_part = product(half, transpose(A))
        total = own_part if total is None else add((total, own_part))
    for i, row in enumerate(total or ()):
        yield from _below("the noise covariance", row[i], made)


def _below(what: str, e: Expr, made: _Entries) -> Iterator[tuple[str, Expr]]:
    """Yield the coefficients of s**0 and s**1: of eps**0 and eps**(1/2)."""
    for power, coefficient in enumerate((e, slope(e, S))):
        found = _put(coefficient, {S: sympy.Integer(0)})
        if found.has(sympy.zoo, sympy.nan, sympy.oo):
            return
        estimates: dict[Expr, Expr] = {x: sympy.Integer(1) for x in found.atoms(sympy.Symbol) if "(" in str(x)}
        yield f"{what} at {_eps(Fraction(power, 2))}", _put(found, estimates)


def _symbols(draw: Symbol, sizes: Sizes) -> list[Expr]:
    places = positions(draw.shape, sizes)
    return [sympy.Symbol(label(draw.name, at), real=True) for at in places]


def _put(e: Expr, values: dict[Expr, Expr]) -> Expr:
    found = e.xreplace(values)
    return found if isinstance(found, Expr) else e

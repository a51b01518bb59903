"""Positive semidefiniteness and signs of typed formulas by structure: for every size, everywhere on the domain.

Each rule is a theorem: sums of positive semidefinite (PSD) matrices, nonnegative multiples, L P L.T with P PSD, A A.T,
inverses of positive definite (PD) matrices, Gaussian kernels of differences, diagonals of nonnegatives,
Kronecker products of PSD matrices, identities that dominate what is subtracted (`dominance.py`). What no rule covers is
unknown, which does not say that it is not PSD. Definedness of roots, logarithms and quotients inside is shown apart
(`definedness.py`).

Worked example, D = B C B.T + exp(y) I with C declared PSD, B any d x k matrix: the product is a chain (B, C, B.T) that
equals its own transpose reversed, with the middle C, so it is PSD; exp(y) is positive and I is PD. The sum is PD, given
"C is psd".
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from recipe_compiler.algebra.scalars.transposes import chain, kinds_of, mirrored, plain, scaled
from recipe_compiler.facts import multiplied_out
from recipe_compiler.facts.dominance import Judge, collected, outweighed
from recipe_compiler.facts.fold import asking
from recipe_compiler.facts.ranges import Bound, Range, Ranges
from recipe_compiler.formula.build import negate
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Explicit,
    Filled,
    Formula,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Number,
    Power,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.kernels import column_apart, differences
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.verdict import declared_of


@dataclass(frozen=True, slots=True)
class Definite:
    """A symmetric matrix of any size is positive semidefinite, definite if `strict`, by the declarations `given`."""

    strict: bool
    given: frozenset[str] = frozenset()


def semidefinite(formula: Formula, declarations: Declarations) -> Definite | None:
    """Return why a square formula, [d, d] for any d, is positive semidefinite; None if no rule shows it.

    Rules are theorems about parts: A + B, c A with c >= 0, L P L.T, inv(P), diag(a) with a >= 0, kron(P, R) of such,
    and exp(-s (u_i - u_j)**2), s >= 0, as powers of u u.T are semidefinite entry by entry (Schur 1911); `dominance` has
    those with minus signs. x x.T + exp(y) I is positive definite for every size. Symmetry is part of the answer: every
    rule yields symmetric matrices.
    """
    return _definite(plain(formula, declarations), declarations)


def sign(formula: Formula, declarations: Declarations) -> Range:
    """Return between which numbers the entries of a formula of any shape lie, on the domain, for every size."""
    return _clear_sign(plain(formula, declarations), declarations)


def sign_by_rules(formula: Formula, declarations: Declarations) -> Range:
    """Return between which numbers the entries of a formula lie, by rules about its parts one at a time."""
    return asking(RANGES, declarations)(plain(formula, declarations))


def _clear_sign(formula: Formula, declarations: Declarations) -> Range:
    """Return a range by the rules; of what is put together from scalars, also by multiplying it out."""
    found = asking(RANGES, declarations)(formula)
    if found.nonnegative or not isinstance(formula, (Add, Multiply, Power, Apply)):
        return found
    for op in (">", ">="):
        given = multiplied_out.shown(formula, op, declarations, sign_by_rules, light=True)
        if given is not None:
            return RANGES.meet(found, Range(Bound(Fraction(0), op == ">", given)))
    return found


def _definite(formula: Formula, declarations: Declarations) -> Definite | None:
    if not formula.shape.sizes:
        return _of_entries(formula, declarations)
    match formula:
        case Identity():
            return Definite(True)
        case Filled(value, shape):  # of ones it is ones @ ones.T
            return Definite(False) if shape.rows == shape.cols and value >= 0 else None
        case Symbol() | FunctionAt() | Explicit():
            return _declared(formula, declarations)
        case Transpose(arg):
            return _definite(arg, declarations)
        case Add(terms):
            found = _sum([_definite(term, declarations) for term in collected(terms)])
            return found if found is not None else _outweighed(terms, declarations)
        case Multiply() | MatMul() | Apply("outer"):
            return _product(formula, declarations)
        case Apply(fn, args):
            return _applied_definite(fn, args, declarations)
        case _:
            return None


def _of_entries(formula: Formula, declarations: Declarations) -> Definite | None:
    """Return what is known of a scalar, or of a diagonal, by the signs of its entries."""
    found = _clear_sign(formula, declarations)
    return Definite(found.positive, found.given) if found.nonnegative else None


def _applied_definite(fn: str, args: tuple[Formula, ...], declarations: Declarations) -> Definite | None:
    """Return what is known of a function of matrices, or of scalars entry by entry."""
    match fn, args:
        case "inv", (arg,):
            inner = _definite(arg, declarations)
            return inner if inner and inner.strict else None
        case "diag", (arg,):
            return _of_entries(arg, declarations)
        case "kron", _:
            return _both([_definite(arg, declarations) for arg in args])
        case "exp", (arg,):
            return _kernel(arg, declarations)
        case _:
            return None


def _kernel(exponent: Formula, declarations: Declarations) -> Definite | None:
    """Return that exp(-s (u_i - u_j)**2) is semidefinite, entry by entry, s >= 0.

    It is exp(-s u_i**2) exp(-s u_j**2) exp(2 s u_i u_j), and powers of u u.T are semidefinite entry by entry (Schur).
    """
    match exponent:
        case Multiply(rate, Multiply(apart, other)) if apart == other and not rate.shape.sizes:
            falls = _clear_sign(plain(negate(rate), declarations), declarations)
            points = column_apart(apart)
            same = points is not None and plain(differences(points), declarations) == apart
            return Definite(False, falls.given) if same and falls.nonnegative else None
        case _:
            return None


def _declared(formula: Symbol | FunctionAt | Explicit, declarations: Declarations) -> Definite | None:
    """Return what the kinds of a name say, or those that the numbers of a matrix are of."""
    kinds = kinds_of(formula, declarations)
    for kind in (Kind.PD, Kind.PSD):
        if kind in kinds:
            named = (
                frozenset[str]()
                if isinstance(formula, Explicit)
                else frozenset({declared_of(formula.name, f"is {kind}")})
            )
            return Definite(kind is Kind.PD, named)
    if Kind.DIAGONAL in kinds and not isinstance(formula, Explicit):
        for kind in (Kind.POSITIVE, Kind.NONNEGATIVE):
            if kind in kinds:
                return Definite(
                    kind is Kind.POSITIVE,
                    frozenset({declared_of(formula.name, f"is {kind} and diagonal")}),
                )
    return None


def _sum(terms: list[Definite | None]) -> Definite | None:
    found = [term for term in terms if term is not None]
    if len(found) < len(terms):
        return None
    return Definite(any(term.strict for term in found), frozenset().union(*(term.given for term in found)))


def _outweighed(terms: tuple[Formula, ...], declarations: Declarations) -> Definite | None:
    """Return that identities or a diagonal outweigh what is subtracted from them."""

    def nonnegative(scalar: Formula) -> frozenset[str] | None:
        found = _clear_sign(plain(scalar, declarations), declarations)
        return found.given if found.nonnegative else None

    def positive(scalar: Formula) -> frozenset[str] | None:
        found = _clear_sign(plain(scalar, declarations), declarations)
        return found.given if found.positive else None

    def psd(matrix: Formula) -> frozenset[str] | None:
        found = _definite(matrix, declarations)
        return None if found is None else found.given

    found = outweighed(terms, Judge(nonnegative, positive, psd))
    return None if found is None else Definite(found.strict, found.given)


def _both(parts: list[Definite | None]) -> Definite | None:
    found = _sum(parts)
    return None if found is None else Definite(all(part.strict for part in parts if part), found.given)


def _product(formula: Formula, declarations: Declarations) -> Definite | None:
    """Return what is known of `s L P L.T`: scalars first, then a chain that is its own transpose."""
    scalars, factors = chain(formula)
    powers = [RANGES.power(_clear_sign(s, declarations), Fraction(n)) for s, n in Counter(scalars).items()]
    scale = reduce(RANGES.times, powers, RANGES.number(Fraction(1)))
    core = _congruence(factors, declarations) if factors else None
    if core is None or not scale.nonnegative:
        return None
    return Definite(core.strict and scale.positive, core.given | scale.given)


def _congruence(factors: tuple[Formula, ...], declarations: Declarations) -> Definite | None:
    """Return what is known of `L P L.T` (P may be absent: then it is the identity)."""
    found = mirrored(factors, declarations)
    if found is None:
        return None
    left, middle = found
    centre = Definite(True) if middle is None else _single(middle, declarations)
    outer = [_single(factor, declarations) for factor in left]
    # L P L.T is definite only if every factor of L is; otherwise it is semidefinite with no condition on L.
    strict = all(part is not None and part.strict for part in outer)
    if centre is None:
        return None
    given = frozenset().union(*(part.given for part in outer if part)) if strict and centre.strict else frozenset()
    return Definite(centre.strict and strict, centre.given | given)


def _single(factor: Formula, declarations: Declarations) -> Definite | None:
    """Return what is known of one factor that is not itself a product."""
    is_product = isinstance(factor, (MatMul, Multiply)) and chain(factor)[1] == (factor,)
    return None if is_product else _definite(factor, declarations)


def _scaled_form(formula: Formula, declarations: Declarations) -> tuple[Formula, frozenset[str]] | None:
    """Return s, and what P is semidefinite by, of a scalar `s x.T P x`; None of anything else."""
    scalars, factors = scaled(formula)
    form = _congruence(factors, declarations)
    scale: Formula = reduce(lambda a, b: Multiply(a, b, SCALAR), scalars, Number(Fraction(1)))
    return None if form is None else (scale, form.given)


def _form(matrix: Formula, declarations: Declarations) -> tuple[bool, frozenset[str]] | None:
    found = _definite(matrix, declarations)
    return None if found is None else (found.strict, found.given)


RANGES = Ranges(_scaled_form, _form)

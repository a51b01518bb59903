"""Multiples of the identity, and diagonals, that dominate what is subtracted from them: for every size.

    P <= trace(P) I                 P positive semidefinite; so u u.T <= (u.T u) I (Cauchy and Schwarz)
    a a.T <= sum(a) diag(a)         a >= 0 entry by entry

So t I - s P is positive semidefinite if t - s trace(P) >= 0, and c diag(a) - s a a.T if c - s sum(a) >= 0, with s >= 0.

Worked example, the covariance diag(p) - p p.T of a multinomial law with p > 0 and sum(p) < 1: c = s = 1, and 1 - sum(p)
> 0. For the second inequality, (a.T x)**2 = (sum_i sqrt(a_i) sqrt(a_i) x_i)**2 <= sum(a) sum_i a_i x_i**2.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.algebra.scalars.transposes import chain
from recipe_compiler.formula.expression import Add, Apply, Formula, Identity, MatMul, Multiply, Number, Transpose
from recipe_compiler.formula.shapes import SCALAR

Weight = Callable[[Formula], frozenset[str] | None]
"""What it rests on that a scalar is nonnegative, None if it is not known to be."""


@dataclass(frozen=True, slots=True)
class Judge:
    """How parts are judged: scalars and entries as nonnegative or positive, matrices as positive semidefinite."""

    nonnegative: Weight
    positive: Weight
    semidefinite: Weight


@dataclass(frozen=True, slots=True)
class Outweighed:
    """The matrix is positive semidefinite, definite if `strict`."""

    strict: bool
    given: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Term:
    weight: Formula
    factors: tuple[Formula, ...]


def outweighed(terms: tuple[Formula, ...], judge: Judge) -> Outweighed | None:
    """Return that a sum of plain [d, d] matrices is positive semidefinite as its identity or diagonal dominates.

    t I - s P >= 0 if t - s trace(P) >= 0, as x.T P x <= trace(P) x.T x; c diag(a) - s a a.T >= 0 if c - s sum(a) >= 0,
    as (a.T x)**2 <= sum(a) sum_i a_i x_i**2 (Cauchy and Schwarz), with s, a >= 0 and P positive semidefinite. None if
    this is not shown.

    Worked, d = 2: (1 + norm2(x)) I - x x.T has t - s trace(P) = 1 > 0. diag(p) - p p.T with p = (1/2, 1/3) has c - s
    sum(a) = 1/6; its matrix [[1/4, -1/6], [-1/6, 2/9]] has the determinant 1/36.
    """
    parts = [_term(term) for term in _flat(terms)]
    kept: list[_Term] = []
    given: frozenset[str] = frozenset()
    for part in parts:
        known = None if _is_heavy(part) else _semidefinite(part, judge)
        if known is None:
            kept.append(part)
        else:
            given |= known
    heavy = [part for part in kept if _is_heavy(part)]
    light = [part for part in kept if not _is_heavy(part)]
    if not heavy or not light or len({part.factors for part in heavy}) > 1:
        return None
    for bounds in _bounds(light, heavy[0].factors[0], judge):
        margin = Add((*(part.weight for part in heavy), *bounds), SCALAR)
        reasons = judge.nonnegative(margin)
        if reasons is None:
            continue
        signs = [judge.nonnegative(_times(Number(Fraction(-1)), part.weight)) for part in light]
        known_signs = [sign for sign in signs if sign is not None]
        if len(known_signs) < len(signs):
            return None
        entries = _entries(heavy[0].factors[0], judge)
        if entries is None:
            return None
        strict = _strict(margin, heavy[0].factors[0], judge)
        cores = [judge.semidefinite(_matrix(part)) or frozenset() for part in light]
        return Outweighed(strict is not None, given.union(reasons, entries, strict or (), *known_signs, *cores))
    return None


def collected(terms: tuple[Formula, ...]) -> list[Formula]:
    """Return the terms of a sum of matrices, multiples of one product as one: C - C/2 as (1 - 1/2) C."""
    groups: dict[tuple[Formula, ...], list[Formula]] = {}
    for part, term in ((_term(term), term) for term in _flat(terms)):
        groups.setdefault(part.factors, []).append(term)
    found: list[Formula] = []
    for factors, alike in groups.items():
        weight = Add(tuple(_term(term).weight for term in alike), SCALAR)
        product = _matrix(_Term(weight, factors))
        found.append(alike[0] if len(alike) == 1 else Multiply(weight, product, product.shape))
    return found


def _flat(terms: tuple[Formula, ...]) -> Iterator[Formula]:
    for term in terms:
        if isinstance(term, Add):
            yield from _flat(term.terms)
        else:
            yield term


def _term(formula: Formula) -> _Term:
    scalars, factors = chain(formula)
    weight: Formula = Number(Fraction(1))
    for s in scalars:
        weight = s if weight == Number(Fraction(1)) else _times(weight, s)
    return _Term(weight, factors)


def _times(left: Formula, right: Formula) -> Formula:
    if isinstance(left, Number) and isinstance(right, Number):
        return Number(left.value * right.value)
    return Multiply(left, right, SCALAR)


def _is_heavy(part: _Term) -> bool:
    """Whether a term is a multiple of an identity or of a diagonal written as such."""
    match part.factors:
        case (Identity(),) | (Apply("diag", _, _),):
            return True
        case _:
            return False


def _matrix(part: _Term) -> Formula:
    """Return the product of the matrix factors of a term."""
    found = part.factors[0]
    for factor in part.factors[1:]:
        found = MatMul(found, factor, type(found.shape)(found.shape.rows, factor.shape.cols))
    return found


def _semidefinite(part: _Term, judge: Judge) -> frozenset[str] | None:
    scale = judge.nonnegative(part.weight)
    core = None if scale is None else judge.semidefinite(_matrix(part))
    return None if scale is None or core is None else scale | core


def _entries(heavy: Formula, judge: Judge) -> frozenset[str] | None:
    """Return what it rests on that the entries of a diagonal are nonnegative."""
    match heavy:
        case Apply("diag", (a,), _):
            return judge.nonnegative(a)
        case _:
            return frozenset()


def _strict(margin: Formula, heavy: Formula, judge: Judge) -> frozenset[str] | None:
    """Return what it rests on that a positive share of a positive definite diagonal is left over."""
    left = judge.positive(margin)
    match heavy:
        case Apply("diag", (a,), _):
            entries = judge.positive(a)
            return None if left is None or entries is None else left | entries
        case _:
            return left


def _bounds(light: list[_Term], heavy: Formula, judge: Judge) -> Iterator[tuple[Formula, ...]]:
    """Yield, for all subtracted terms at once, their weights times what bounds their matrices."""
    choices: list[tuple[Formula, ...]] = [()]
    for part in light:
        options = tuple(_bound(part, heavy, judge))
        choices = [(*chosen, _times(part.weight, option)) for chosen in choices for option in options]
    yield from choices


def _bound(part: _Term, heavy: Formula, judge: Judge) -> Iterator[Formula]:
    """Yield scalars q with `P <= q I` (or `P <= q diag(a)`) for the matrix P of a term."""
    match heavy, part.factors:
        case Apply("diag", (a,), _), (left, Transpose(right, _)) if left == right == a:
            yield Apply("sum", (a,), SCALAR)
        case Identity(), (left, Transpose(right, _)) if left == right and left.shape.cols is None:
            yield MatMul(Transpose(left, left.shape.transposed), left, SCALAR)
        case Identity(), _ if judge.semidefinite(_matrix(part)) is not None:
            yield Apply("trace", (_matrix(part),), SCALAR)
            if len(part.factors) == 2:
                mirrored = _Term(part.weight, (part.factors[1], part.factors[0]))
                yield Apply("trace", (_matrix(mirrored),), SCALAR)
        case _:
            return

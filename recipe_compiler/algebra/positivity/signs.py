"""Signs of polynomials in generators of known sign: term by term, factor by factor, or by one known inequality."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from flint import fmpq, fmpq_mpoly

from recipe_compiler import limits

Known = tuple[fmpq_mpoly, bool]
"""A polynomial that is nonnegative, and whether it is positive."""


@dataclass(slots=True)
class Signs:
    """Numbers of generators known to be positive, nonnegative, nonzero; a positive one is in all three sets."""

    positive: set[int] = field(default_factory=set)
    nonnegative: set[int] = field(default_factory=set)
    nonzero: set[int] = field(default_factory=set)

    def add(self, generator: int, op: str) -> None:
        """Note that `generator op 0`."""
        if op in {">", "!="}:
            self.nonzero.add(generator)
        if op in {">", ">="}:
            self.nonnegative.add(generator)
        if self.nonnegative & self.nonzero:
            self.positive |= self.nonnegative & self.nonzero


@dataclass(frozen=True, slots=True)
class ShownSign:
    """A polynomial is nonnegative, positive if `strict`; `by` names the rule."""

    strict: bool
    by: str


def sign_by_terms(p: fmpq_mpoly, signs: Signs) -> ShownSign | None:
    """Return that a polynomial is a sum of nonnegative terms, None if that is not seen: x**2 + y with y >= 0."""
    strict = False
    for exponents, coefficient in p.to_dict().items():
        if coefficient < 0:
            return None
        positive = True
        for k, n in enumerate(exponents):
            if n and n % 2 and k not in signs.nonnegative:
                return None
            positive = positive and (not n or k in signs.nonzero)
        strict = strict or positive
    return ShownSign(strict, "its terms")


def sign_by_factors(p: fmpq_mpoly, signs: Signs, known: Iterable[Known]) -> ShownSign | None:
    """Return that a polynomial is a product of nonnegative factors: even powers, and factors with a sign of their own.

    (x - y)**2 (1 + z) with z >= 0 is.
    """
    if len(p) > limits.FACTORED:
        return None
    scale, factors = p.factor()
    positive, strict = scale > 0, bool(scale != 0)
    for factor, n in factors:
        up = _sign_by_terms_or_subtraction(factor, signs, known)
        down = None if up else _sign_by_terms_or_subtraction(-factor, signs, known)
        found = up or down
        strict = strict and found is not None and found.strict
        if n % 2:
            if found is None:
                return None
            positive = positive == (up is not None)
    return ShownSign(strict, "its factors") if positive else None


def sign_of(p: fmpq_mpoly, signs: Signs, known: Iterable[Known] = ()) -> ShownSign | None:
    """Return that a polynomial is nonnegative, None if no rule shows it; `known` are polynomials >= 0 (or > 0).

    With x, y >= 0, x y + 1 is positive by its terms; x**2 - 2 x y + y**2 is nonnegative by its factors, (x - y)**2;
    with y - x >= 0 known, 2 y - 2 x + x**2 is twice that and a square.
    """
    if p.is_zero():
        return ShownSign(False, "zero")
    listed = tuple(known)
    ways = (
        _sign_by_terms_or_subtraction(p, signs, listed),
        sign_by_factors(p, signs, listed),
        _sign_by_known_multiple(p, signs, listed),
    )
    found = [x for x in ways if x is not None]
    return next((x for x in found if x.strict), found[0] if found else None)


def _sign_by_known_multiple(p: fmpq_mpoly, signs: Signs, known: tuple[Known, ...]) -> ShownSign | None:
    """Return that a polynomial is a known one times a nonnegative one: a b (1 - c**2), whose factors have no signs."""
    for q, strict in known:
        if q.is_constant():
            continue
        quotient, rest = divmod(p, q)
        found = sign_of(quotient, signs, known) if rest.is_zero() else None
        if found is not None:
            return ShownSign(strict and found.strict, f"({q}) times what is by {found.by}")
    return None


def is_nonzero(p: fmpq_mpoly, signs: Signs, known: Iterable[Known], nonzero: Iterable[fmpq_mpoly]) -> bool:
    """Whether no factor of a polynomial vanishes: each is a power of a sign, a nonzero generator or known not to be 0.

    a (1 + b**2) with a nonzero is.
    """
    if p.is_zero() or len(p) > limits.FACTORED:
        return False
    listed, never = tuple(known), [q / q.leading_coefficient() for q in nonzero]

    def has_no_zero(q: fmpq_mpoly) -> bool:
        strict = any(
            found is not None and found.strict
            for found in (_sign_by_terms_or_subtraction(e, signs, listed) for e in (q, -q))
        )
        alone = len(q) == 1 and all(k in signs.nonzero for k, n in enumerate(q.monoms()[0]) if n)
        return strict or alone or q / q.leading_coefficient() in never

    return all(has_no_zero(q) for q, _ in p.factor()[1])


def _sign_by_terms_or_subtraction(p: fmpq_mpoly, signs: Signs, known: Iterable[Known]) -> ShownSign | None:
    """Return that p is nonnegative by its terms, or that p - c q is for a known q >= 0 and some c > 0."""
    found = sign_by_terms(p, signs)
    if found is not None:
        return found
    weak: ShownSign | None = None
    negative = _list_negative_terms(p, signs)
    for q, strict in known if negative else ():
        share = _smallest_cancelling_multiple(negative, q)
        rest = None if share is None else sign_by_terms(p - share * q, signs)
        if rest is not None:
            found = ShownSign(rest.strict or strict, f"{share} times ({q}) and terms")
            if found.strict:
                return found
            weak = weak or found
    return weak


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of a polynomial that may be negative."""

    exponents: tuple[int, ...]
    coefficient: fmpq
    even: bool
    """Whether only its coefficient makes it so."""


def _list_negative_terms(p: fmpq_mpoly, signs: Signs) -> list[_Term]:
    """Return the terms of p that may be negative."""
    found = list[_Term]()
    for exponents, coefficient in p.to_dict().items():
        even = all(not n % 2 or k in signs.nonnegative for k, n in enumerate(exponents))
        if not even or coefficient < 0:
            found.append(_Term(exponents, coefficient, even))
    return found


def _smallest_cancelling_multiple(negative: list[_Term], q: fmpq_mpoly) -> fmpq | None:
    """Return the least c > 0 for which p - c q has no negative term of p left; None if there is none."""
    least = fmpq(0)
    for term in negative:
        there = q[term.exponents]
        if there == 0 or (term.coefficient > 0) != (there > 0):
            return None
        ratio = term.coefficient / there
        if not term.even and least not in (0, ratio):
            return None
        least = max(least, ratio)
    return least if least > 0 else None

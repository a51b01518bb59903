"""What a traced step needs to be defined for small step sizes, at fixed sizes: shown, given, or left open."""

from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.positivity.prove import Shown, deeper, parts, scalar
from recipe_compiler.algebra.positivity.region import Region
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.lint.answer import Partial, Trace
from recipe_compiler.lint.series import NONE, Reading, Series
from recipe_compiler.verify.updates.expansion import NoExpansionError

NEEDS = {"division": "!=", "root": ">", "power": ">", "logarithm": ">", "kink": "!="}
"""What the argument of an operation has to be."""


def needed(trace: Trace, reading: Reading, region: Region) -> Obligations:
    """Return what is used, and what is not shown, of every operation that is not defined everywhere."""
    given: set[str] = set(trace.given)
    left: list[str] = []
    for partial in trace.partial:
        found = _shown(partial, reading, region)
        if found is None:
            left.append(f"the {partial.what} at line {partial.line} is defined and smooth")
        else:
            given |= found
    for draws, entries in trace.groups:
        found = _covariance(entries, len(draws), reading, region)
        if found is None:
            left.append("the covariance of multivariate_normal is positive semidefinite")
        else:
            given |= found
    return Obligations(frozenset(given), tuple(dict.fromkeys(left)))


def _shown(partial: Partial, reading: Reading, region: Region) -> frozenset[str] | None:
    """Return what shows that an operation is defined where eps is small, None if nothing does."""
    try:
        x = reading.leading(reading.of(partial.argument))
    except NoExpansionError:
        return None
    if not x.terms:
        return frozenset() if partial.what in {"root", "logarithm of 1 +"} else None
    if partial.what == "logarithm of 1 +":
        return _sign(1 + x.first, ">", region) if _is_plain(x, Fraction(0)) or x.low > 0 else None
    if not _is_plain(x, x.low) or (partial.what == "kink" and x.low != 0):
        return None
    c = next(value for (power, _), value in x.terms.items() if power == x.low)
    if partial.what == "tangent":
        return _sign(sympy.cos(c), "!=", region)
    op = ">=" if partial.what == "root" and len(x.terms) == 1 else NEEDS[partial.what]
    return _sign(c, op, region)


def _is_plain(x: Series, power: Fraction) -> bool:
    """Whether no draw occurs at a power."""
    return all(key == (power, NONE[1]) for key in x.terms if key[0] == power)


def _sign(c: Expr, op: str, region: Region) -> frozenset[str] | None:
    found = scalar(c, op, region)
    return None if found is None else found.given


def _covariance(entries: tuple[int, ...], n: int, reading: Reading, region: Region) -> frozenset[str] | None:
    """Return what shows that the leading part of a covariance is one."""
    try:
        read = [reading.of(place) for place in entries]
    except NoExpansionError:
        return None
    low = min((x.low for x in read if x.terms), default=Fraction(0))
    flat = [x.terms.get((low, ()), sympy.Integer(0)) for x in read]
    a = tuple(tuple(flat[i * n : (i + 1) * n]) for i in range(n))
    if any(key[0] != low or key[1] for x in read for key in x.terms):
        return None
    try:
        found = parts(a, region)
        proofs = [part.by_signs or deeper(part, a, region) for part in found or ()]
    except NoNormalFormError:
        return None
    if found is None or not all(isinstance(proof, Shown) for proof in proofs):
        return None
    return frozenset[str]().union(*(proof.given for proof in proofs if isinstance(proof, Shown)))


def is_symmetric(entries: tuple[int, ...], n: int, reading: Reading) -> bool:
    """Whether a covariance is symmetric, as far as the normal form sees it."""
    written = [reading.written(reading.of(place)) for place in entries]
    return all(is_zero(written[i * n + j] - written[j * n + i]) for i in range(n) for j in range(i))

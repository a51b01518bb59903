"""Does a word of kicks, drifts and letters of O sample the exact covariance of theta for a quadratic potential?

Langevin's form is a kick dr = -W K theta dt, a drift dtheta = W^T M^-1 r dt, and letters of O, which move r only and
keep N(0, M), whatever else they do. In theta = K^-1/2 x and r = M^1/2 y, kick and drift are dy = -G x dt and dx =
G^T y dt with G = M^-1/2 W K^1/2, and in the singular vectors of G pairs of numbers, one for each singular value omega,

    kick: y - s h x,     drift: x + s h y,     h = eps omega,

for every size and all K, M and W. Only O, with its own friction matrix, mixes the pairs. So if the word between one O
and the next keeps Cov(x, y) = diag(v, 1) of every pair, that is the covariance before and after each O, and the chain
keeps it for every friction (Leimkuhler, Matthews 2013, for BAOAB). A stretch [[a, b], [c, d]], of determinant 1, does
so if and only if a = d and v = -b/c. theta then has the covariance of exp(-U) where draws are kept if the letters from
the last O to there take diag(v, 1) to a variance of x that is 1: identities of polynomials in h^2, for every step size.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import lcm

from recipe_compiler.spec.words import Letter, Word, letters
from recipe_compiler.splitting.gradient_noise import NoiseRole

Polynomial = tuple[Fraction, ...]
"""Coefficients of 1, h^2, h^4, ... without zeros at the end."""
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The linear map of letters without O on a pair: x' = a x + h b y, y' = h c x + d y."""

    a: Polynomial = (ONE,)
    b: Polynomial = ()
    c: Polynomial = ()
    d: Polynomial = (ONE,)

    def then(self, role: NoiseRole, share: Fraction) -> "_Stretch":
        """Return the map with one more letter at the end."""
        s, h2 = (share,), (ZERO, ONE)
        if role is NoiseRole.DRIFT:
            a, b = (
                _add_polynomials(self.a, _multiply_polynomials(s, h2, self.c)),
                _add_polynomials(self.b, _multiply_polynomials(s, self.d)),
            )
            return _Stretch(a, b, self.c, self.d)
        c, d = (
            _add_polynomials(self.c, _multiply_polynomials((-share,), self.a)),
            _add_polynomials(self.d, _multiply_polynomials((-share,), h2, self.b)),
        )
        return _Stretch(self.a, self.b, c, d)

    @property
    def is_nothing(self) -> bool:
        """Whether it is the identity."""
        return self == _Stretch()


@dataclass(frozen=True, slots=True)
class Sample:
    """What a word samples of one pair at one step size and friction: an exact variance other than that of exp(-U)."""

    h: Fraction
    """eps omega."""
    decay: Fraction
    """exp(-gamma eps/n), gamma being the friction."""
    n: int
    """The common denominator of the shares of O."""
    variance: Fraction
    """The variance of theta times omega^2 at M = 1: 1 under exp(-U)."""


def keeps_configurations(word: Word, roles: Mapping[str, NoiseRole]) -> bool:
    """Whether a word preserves the covariance of theta under exp(-U), for all quadratic U, step sizes and frictions.

    Leimkuhler and Matthews 2013 show it for BAOAB. U = theta.T K theta/2 with any positive definite d x d matrix K, and
    the mass matrix M need not commute with it. `[B/2, A/2, O, A/2, B/2]`: from O to O, a = d = 1 - h^2/2 and v = -b/c =
    1 - h^2/4; at the end x has the variance v + h^2/4 = 1. False says that it is not shown: a law may depend on the
    friction.

    Args:
        word: with positive shares of O.
        roles: of every piece in it: a kick, a drift, or a piece that moves the momentum alone and preserves its law.
    """
    written = tuple(letters(word))
    stretches = tuple(_list_stretches(written, roles))
    if len(stretches) < 2:
        return False
    first, *inner, last = stretches
    cycle = [one for one in (_join_ends(last, first), *(_compose_letters(own) for own in inner)) if not one.is_nothing]
    if not cycle or any(one.a != one.d for one in cycle):
        return False
    b, c = cycle[0].b, cycle[0].c
    if any(_multiply_polynomials(one.b, c) != _multiply_polynomials(one.c, b) for one in cycle):
        return False
    tail = _compose_letters(last)
    squares = _multiply_polynomials((-ONE,), tail.a, tail.a, b), _multiply_polynomials((ZERO, ONE), tail.b, tail.b, c)
    return bool(c) and _add_polynomials(*squares) == c


def find_counterexample(word: Word, roles: Mapping[str, NoiseRole]) -> Sample | None:
    """Return a step size and a friction at which theta has another variance, on the line; None if none was found.

    The stationary covariance S = F S F.T + Sigma ([2, 2], of x and y) is solved in rational numbers, at eight pairs of
    a step size and a friction, where the chain forgets its start: |tr F| < 1 + det F < 2 (Schur and Cohn). On such a
    point the variance is exact, so that a value other than 1 refutes.

        >>> roles = {"A": NoiseRole.DRIFT, "B": NoiseRole.KICK, "O": NoiseRole.DECAY}
        >>> obabo = tuple(Letter(x, Fraction(1, n)) for x, n in (("O", 2), ("B", 2), ("A", 1), ("B", 2), ("O", 2)))
        >>> find_counterexample(obabo, roles)
        Sample(h=Fraction(1, 1), decay=Fraction(1, 2), n=2, variance=Fraction(4, 3))
    """
    written = tuple(letters(word))
    n = lcm(*(letter.share.denominator for letter in written if roles[letter.piece] is NoiseRole.DECAY))
    for h in (ONE, Fraction(1, 2), Fraction(1, 4), Fraction(1, 16)):
        for decay in (Fraction(1, 2), Fraction(1, 3)):
            variance = _compute_variance(written, roles, h, decay, n)
            if variance is not None and variance != 1:
                return Sample(h, decay, n, variance)
    return None


def without_friction(word: Word, roles: Mapping[str, NoiseRole], h: Fraction = ONE) -> Fraction | None:
    """Return the variance of theta over that of r in the laws that a word without O keeps, t diag(v, 1) for every t.

    In units of those of exp(-H); None if the laws that it keeps are of another form. `[B/2, A, B/2]` at h = 1: 4/3, the
    1/(1 - h^2/4) of leapfrog (cf. Leimkuhler, Matthews 2013).
    """
    own = _compose_letters([(roles[letter.piece], letter.share) for letter in letters(word)])
    b, c = (sum((k * h ** (2 * n) for n, k in enumerate(p)), ZERO) for p in (own.b, own.c))
    return -b / c if own.a == own.d and c else None


def _list_stretches(
    written: Sequence[Letter], roles: Mapping[str, NoiseRole]
) -> Iterator[list[tuple[NoiseRole, Fraction]]]:
    """Yield the letters before the first O, those between one and the next, and those after the last."""
    found: list[tuple[NoiseRole, Fraction]] = []
    for letter in written:
        if roles[letter.piece] is NoiseRole.DECAY:
            yield found
            found = []
        else:
            found.append((roles[letter.piece], letter.share))
    yield found


def _compose_letters(own: Sequence[tuple[NoiseRole, Fraction]]) -> _Stretch:
    return reduce(lambda made, letter: made.then(*letter), own, _Stretch())


def _join_ends(last: Sequence[tuple[NoiseRole, Fraction]], first: Sequence[tuple[NoiseRole, Fraction]]) -> _Stretch:
    """Return the map of the letters around the end of a step, from its last O to the first O of the next."""
    return _compose_letters([*last, *first])


def _compute_variance(
    written: Sequence[Letter], roles: Mapping[str, NoiseRole], h: Fraction, decay: Fraction, n: int
) -> Fraction | None:
    """Return the stationary variance of x for a chain of steps on the line; None without one."""
    a, b, c, d = ONE, ZERO, ZERO, ONE
    p, q, r = ZERO, ZERO, ZERO  # what the noise adds to Var x, Cov(x, y) and Var y
    for letter in written:
        s = letter.share * h
        match roles[letter.piece]:
            case NoiseRole.DRIFT:
                a, b = a + s * c, b + s * d
                p, q = p + 2 * s * q + s * s * r, q + s * r
            case NoiseRole.KICK:
                c, d = c - s * a, d - s * b
                q, r = q - s * p, r - 2 * s * q + s * s * p
            case _:
                e = decay ** int(letter.share * n)
                c, d = e * c, e * d
                q, r = e * q, e * e * r + 1 - e * e
    trace, det = a + d, a * d - b * c
    if not abs(trace) < 1 + det < 2:
        return None
    rows = (
        (1 - a * a, -2 * a * b, -b * b, p),
        (-a * c, 1 - a * d - b * c, -b * d, q),
        (-c * c, -2 * c * d, 1 - d * d, r),
    )
    return _compute_determinant([(row[3], row[1], row[2]) for row in rows]) / _compute_determinant(
        [row[:3] for row in rows]
    )


def _compute_determinant(rows: Sequence[tuple[Fraction, Fraction, Fraction]]) -> Fraction:
    (a, b, c), (d, e, f), (g, h, i) = rows
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def _add_polynomials(*polynomials: Polynomial) -> Polynomial:
    found = [ZERO] * max(map(len, polynomials))
    for polynomial in polynomials:
        for n, coefficient in enumerate(polynomial):
            found[n] += coefficient
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def _multiply_polynomials(*factors: Polynomial) -> Polynomial:
    found: Polynomial = (ONE,)
    for factor in factors:
        made = [ZERO] * max(len(found) + len(factor) - 1, 0)
        for n, one in enumerate(found):
            for m, other in enumerate(factor):
                made[n + m] += one * other
        found = _add_polynomials(tuple(made))
    return found

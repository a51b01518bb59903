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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from flint import fmpq, fmpq_mat, fmpq_poly

from recipe_compiler.algebra.scalars.rational_matrices import fraction
from recipe_compiler.spec.words import Letter, Word, letters
from recipe_compiler.splitting.gradient_noise import NoiseRole

H2 = fmpq_poly([0, 1])
"""h^2."""
IDENTITY = (fmpq_poly([1]), fmpq_poly(), fmpq_poly(), fmpq_poly([1]))


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
    first, *others = _list_stretches(letters(word), roles)
    if not others:
        return False
    *inner, last = others
    cycle = [one for own in ([*last, *first], *inner) if (one := _compose_letters(own)) != IDENTITY]
    if not cycle or any(a != d for a, _, _, d in cycle):
        return False
    (_, b, c, _), (tail_a, tail_b, _, _) = cycle[0], _compose_letters(last)
    same = all(own_b * c == own_c * b for _, own_b, own_c, _ in cycle)
    return same and c != 0 and H2 * tail_b * tail_b * c - tail_a * tail_a * b == c


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
    for h in (Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(1, 16)):
        for decay in (Fraction(1, 2), Fraction(1, 3)):
            variance = _compute_variance(written, roles, h, decay, n)
            if variance is not None and variance != 1:
                return Sample(h, decay, n, variance)
    return None


def without_friction(word: Word, roles: Mapping[str, NoiseRole]) -> Fraction | None:
    """Return the variance of theta over that of r in the laws that a word without O keeps, t diag(v, 1) for every t.

    At h = 1, in units of those of exp(-H); None if the laws that it keeps are of another form. `[B/2, A, B/2]`: 4/3,
    the 1/(1 - h^2/4) of leapfrog (cf. Leimkuhler, Matthews 2013).
    """
    a, b, c, d = _compose_letters((roles[letter.piece], letter.share) for letter in letters(word))
    over, under = (polynomial(fmpq(1)) for polynomial in (-b, c))
    return fraction(over / under) if a == d and under else None


def _rational(number: Fraction) -> fmpq:
    return fmpq(number.numerator, number.denominator)


def _list_stretches(
    written: Iterable[Letter], roles: Mapping[str, NoiseRole]
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


def _compose_letters(own: Iterable[tuple[NoiseRole, Fraction]]) -> tuple[fmpq_poly, ...]:
    """Return the linear map of letters without O on a pair: x' = a x + h b y, y' = h c x + d y."""
    a, b, c, d = IDENTITY
    for role, share in own:
        s = _rational(share)
        if role is NoiseRole.DRIFT:
            a, b = a + s * H2 * c, b + s * d
        else:
            c, d = c - s * a, d - s * H2 * b
    return a, b, c, d


def _compute_variance(
    written: Sequence[Letter], roles: Mapping[str, NoiseRole], h: Fraction, decay: Fraction, n: int
) -> Fraction | None:
    """Return the stationary variance of x for a chain of steps on the line; None without one."""
    F, noise = fmpq_mat(2, 2, [1, 0, 0, 1]), fmpq_mat(2, 2)
    for letter in written:
        s, e = _rational(letter.share * h), fmpq(1)
        match roles[letter.piece]:
            case NoiseRole.DRIFT:
                G = fmpq_mat(2, 2, [1, s, 0, 1])
            case NoiseRole.KICK:
                G = fmpq_mat(2, 2, [1, 0, -s, 1])
            case _:
                e = _rational(decay ** int(letter.share * n))
                G = fmpq_mat(2, 2, [1, 0, 0, e])
        F, noise = G * F, G * noise * G.transpose() + fmpq_mat(2, 2, [0, 0, 0, 1 - e * e])
    a, b, c, d = F.entries()
    if not abs(a + d) < 1 + F.det() < 2:
        return None
    rows = [1 - a * a, -2 * a * b, -b * b, -a * c, 1 - a * d - b * c, -b * d, -c * c, -2 * c * d, 1 - d * d]
    p, q, _, r = noise.entries()
    return fraction(fmpq_mat(3, 3, rows).solve(fmpq_mat(3, 1, [p, q, r]))[0, 0])

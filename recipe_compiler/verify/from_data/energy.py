"""An energy as a sum over affine forms of the state: what is read off it, at exact data.

U = sum_i c_i (mu_i l_i**2)**(q_i/2) + sum_i p_i log(1 + c_i mu_i l_i**2)    forms l_i(theta), scales mu_i = exp(w_i.t)
    + convex functions of forms + a linear form                              of theta alone
    + sum_v own_v(t_v)                                                       of one scale each

t_v = log v of a positive coordinate v that multiplies forms, or v itself where exp(v) does; theta is all the rest.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import fmpq, fmpq_mat

from recipe_compiler.verify.from_data.irrational import over_units, units_of
from recipe_compiler.verify.from_data.values import Coordinate, NotReadError

Form = tuple[fmpq, ...]
"""a_1 ... a_m, c of the form c + sum_j a_j theta_j."""

Weights = tuple[tuple[Coordinate, Fraction], ...]
"""w of a scale mu = exp(w . t), by its scales; empty where it is known: mu = 1."""


@dataclass(frozen=True, slots=True)
class Group:
    """Forms of one scale: factors of exp(-U) fall exponentially in u = sqrt(mu) l, or as (1 + u**2)**-tail."""

    weights: Weights
    tail: fmpq | None
    forms: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A convex function of forms: an even power or `abs` of one, `exp` of one, or weight * log(1 + sum_k exp(l_k))."""

    kind: str
    weight: fmpq
    forms: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Own:
    """The part of an energy in one scale t: coefficients of exp(c t) t**j by (c, j), and logarithms.

    The latter are n log(sum_k a_k exp(c_k t)), all a_k > 0, by n and the c_k.
    """

    terms: Mapping[tuple[Fraction, int], fmpq]
    logs: tuple[tuple[fmpq, frozenset[Fraction]], ...]


@dataclass(frozen=True, slots=True)
class Energy:
    """What has been read of U: everything except terms that are at least a constant."""

    theta: tuple[Coordinate, ...]
    scales: tuple[Coordinate, ...]
    half_lines: frozenset[Coordinate]
    """The scales that are positive coordinates: v = exp(t)."""
    groups: tuple[Group, ...]
    pieces: tuple[Piece, ...]
    linear: Form
    own: Mapping[Coordinate, Own]
    exact: bool
    """Whether what is left out stays bounded, and no domain is narrower than what is integrated over."""


def unit(theta: Iterable[Coordinate], z: Coordinate) -> Form:
    """Return the form that is one coordinate of theta."""
    return (*(fmpq(int(other == z)) for other in theta), fmpq(0))


def over_its_units(energy: Energy) -> Energy:
    """Return an energy in coordinates u_j theta_j, where u_j is the unit of all that multiplies theta_j.

    u_j > 0 is a number: an integral is finite in these coordinates where it is in theta.
    """
    rows = [energy.linear, *(form for part in (*energy.groups, *energy.pieces) for form in part.forms)]
    units = units_of(rows, len(energy.theta))
    if not any(units):
        return energy
    groups = tuple(replace(group, forms=tuple(over_units(group.forms, units))) for group in energy.groups)
    pieces = tuple(replace(piece, forms=tuple(over_units(piece.forms, units))) for piece in energy.pieces)
    return replace(energy, groups=groups, pieces=pieces, linear=over_units([energy.linear], units)[0])


def squares(form: Mapping[tuple[int, int], fmpq], width: int) -> Iterator[Form]:
    """Yield forms l_k with q(theta) = sum_k c_k l_k**2, all c_k > 0, by exact symmetric elimination (L D L.T).

    q = theta.T A theta, A: [m, m] of rationals; q >= 0 everywhere if and only if no pivot is negative, and a pivot 0
    has a row of zeros (Sylvester's law of inertia). theta_1**2 + 2 theta_1 theta_2 + 2 theta_2**2 gives theta_1 +
    theta_2, and theta_2.

        >>> [tuple(map(int, form)) for form in squares({(0, 0): fmpq(1), (0, 1): fmpq(2), (1, 1): fmpq(2)}, 2)]
        [(1, 1, 0), (0, 1, 0)]

    Args:
        form: coefficients of theta_i theta_j by (i, j), i <= j.
        width: how many coordinates theta has.

    Raises:
        NotReadError: the quadratic form takes negative values.
    """
    used = sorted({i for key, a in form.items() if a != 0 for i in key})
    A = fmpq_mat(len(used), len(used))
    for (i, j), a in form.items():
        if a != 0:
            A[used.index(i), used.index(j)] += a / 2
            A[used.index(j), used.index(i)] += a / 2
    for k in range(len(used)):
        pivot = A[k, k]
        if pivot == 0 and all(A[k, j] == 0 for j in range(k, len(used))):
            continue
        if pivot <= 0:
            raise NotReadError("a quadratic form that takes negative values")
        row = [A[k, j] / pivot for j in range(len(used))]
        own = [fmpq(0)] * (width + 1)
        for j in range(k, len(used)):
            own[used[j]] = row[j]
        yield tuple(own)
        for i in range(k + 1, len(used)):
            if A[i, k] != 0:
                for j in range(k, len(used)):
                    A[i, j] -= A[i, k] * row[j] if j != k else 0
        for i in range(k + 1, len(used)):
            A[i, k] = fmpq(0)

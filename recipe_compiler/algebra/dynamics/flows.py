"""Is a step in eps the flow of an equation? The identities that show it, entry by entry.

dz = s f dt + sqrt(2 s D) dW over a time eps, where D is constant and f affine in what it moves: from z the law is N(m,
C) with m(0) = z, C(0) = 0 and

    dm/deps = s f(m),     dC/deps = s (J C + C J.T + 2 D),     J = df/dz,

and these have one solution (Arnold 1974, Sec. 8.2). The law may be that of w = T(z), entry by entry: f and D are then
those of w by Ito's formula, and J = df/dw.

Worked example, dr = -g r dt + sqrt(2 g) dW and the step m = exp(-g eps) r, C = 1 - exp(-2 g eps): dm/deps = -g m; J =
-g and D = g, so J C + C J + 2 D = -2 g C + 2 g = 2 g exp(-2 g eps) = dC/deps; and m(0) = r, C(0) = 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import sympy
from sympy import Expr, Pow, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.dynamics.system import Vector
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.matrices import Rows, add, product, transpose


class NotPutError(Exception):
    """The value of a function after a step is unknown: it depends on what moves, or has no value at eps = 0."""


@dataclass(frozen=True, slots=True)
class StepLaw:
    """The law N(m, C) of a step over n coordinates, m a vector and C an n x n matrix, functions of eps and z."""

    eps: Symbol
    z: tuple[Symbol, ...]
    mean: Vector
    covariance: Rows
    w: Vector = ()
    """T(z), whose law it is, in terms of z; empty if that is z."""
    rates: Mapping[Expr, Expr] = field(default_factory=dict[Expr, Expr])
    """Derivatives of functions in them by eps to what these are."""
    first: Mapping[Expr, Expr] = field(default_factory=dict[Expr, Expr])
    """Functions in them to what they are at eps = 0."""

    @property
    def start(self) -> Vector:
        """The vector whose law it is, before the step: z, or w = T(z)."""
        return self.w or self.z

    def slope(self, e: Expr) -> Expr:
        """Return de/deps."""
        return cast(Expr, slope(e, self.eps).xreplace(self.rates))

    def along(self, e: Expr, n: int) -> Expr:
        """Return de/dw_n."""
        by = slope(e, self.z[n])
        return by / slope(self.w[n], self.z[n]) if self.w else by

    def at_zero(self, e: Expr) -> Expr:
        """Return e at eps = 0, if multiplying out removes every division by eps.

        Raises:
            NotPutError: it does not.
        """
        rests = dict[Expr, Expr]()  # by name while all else is multiplied out, which would join them with eps again

        def apart(divisor: Pow) -> Expr:
            power, rest = _split_off_eps_power(divisor, self.eps)
            name = rests.setdefault(rest, sympy.Dummy())
            return power * name

        begun = cast(Expr, e.xreplace(self.first).replace(_is_divisor, apart))
        back = {name: rest for rest, name in rests.items()}
        found = cast(Expr, sympy.expand(begun).xreplace({self.eps: sympy.Integer(0)}))
        while not found.free_symbols.isdisjoint(back):
            found = cast(Expr, found.xreplace(back).xreplace({self.eps: sympy.Integer(0)}))
        if found.has(sympy.nan, sympy.zoo, sympy.oo):
            raise NotPutError("its value at eps = 0 is not known")
        return found


def _is_divisor(e: Expr) -> bool:
    """Whether an expression is a negative integer power."""
    return isinstance(e, Pow) and e.exp.is_Integer and bool(e.exp.is_negative)


def _split_off_eps_power(divisor: Pow, eps: Symbol) -> tuple[Expr, Expr]:
    """Return 1/(a eps + b eps + ...)^n as the factors eps^-n and 1/(a + b + ...)^n.

    Raises:
        NotPutError: the second has no value at eps = 0.
    """
    terms = sympy.Add.make_args(sympy.expand(divisor.base))
    power = min(term.as_powers_dict().get(eps, sympy.Integer(0)) for term in terms)
    rest = sympy.Add(*(term / eps**power for term in terms))
    if sympy.expand(rest.xreplace({eps: sympy.Integer(0)})) == 0:
        raise NotPutError("its value at eps = 0 is not known")
    return eps ** (power * divisor.exp), rest**divisor.exp


def substitute_coordinates(e: Expr, z: Sequence[Symbol], values: Vector) -> Expr:
    """Return e with values substituted for coordinates.

    Raises:
        NotPutError: an undefined function depends on a coordinate that moves.
    """
    moved = {x: value for x, value in zip(z, values, strict=True) if x != value}
    for call in e.atoms(AppliedUndef):
        if call.free_symbols & moved.keys():
            raise NotPutError(f"{type(call).__name__} depends on what the piece moves")
    return cast(Expr, e.xreplace(moved))


def transform_by_ito(law: StepLaw, f: Vector, D: Rows) -> tuple[Vector, Rows]:
    """Return the drift T' f + T'' D_ii, a vector, and the noise T' D T', n x n, of w = T(z) by Ito's formula.

    f and D themselves where w is z.
    """
    if not law.w:
        return f, D
    first = [slope(T, x) for T, x in zip(law.w, law.z, strict=True)]
    second = [slope(T, x) for T, x in zip(first, law.z, strict=True)]
    drift = tuple(a * own + b * D[n][n] for n, (own, a, b) in enumerate(zip(f, first, second, strict=True)))
    return drift, tuple(
        tuple(a * x * b for x, b in zip(row, first, strict=True)) for row, a in zip(D, first, strict=True)
    )


def initial_defects(law: StepLaw) -> Iterator[Expr]:
    """Yield m(0) - w and C(0), entry by entry of the vector and the matrix: all zero for a flow."""
    yield from (law.at_zero(m - x) for m, x in zip(law.mean, law.start, strict=True))
    yield from (law.at_zero(entry) for row in law.covariance for entry in row)


def mean_defects(law: StepLaw, share: Expr, f: Vector) -> Iterator[Expr]:
    """Yield dm/deps - s f(m), entry by entry of the vector: all zero for a flow (Arnold 1974, Sec. 8.2).

    For a transform f is affine (`gaussian_defects`): f(m) = f + J (m - w).
    """
    moves = [m - x for m, x in zip(law.mean, law.start, strict=True)]
    for m, own in zip(law.mean, f, strict=True):
        if law.w:
            there = own + sum((law.along(own, n) * by for n, by in enumerate(moves) if by != 0), sympy.Integer(0))
        else:
            there = substitute_coordinates(own, law.z, law.mean)
        yield law.slope(m) - share * there


def covariance_defects(law: StepLaw, share: Expr, f: Vector, D: Rows) -> Iterator[Expr]:
    """Yield dC/deps - s (J C + C J.T + 2 D), entry by entry of the n x n matrix: all zero for a flow.

    (Arnold 1974, Sec. 8.2: with `initial_defects` and `mean_defects` these equations have one solution.)
    """
    J = tuple(tuple(law.along(x, n) for n in range(len(law.z))) for x in f)
    turned = product(J, law.covariance)
    wanted = add((turned, transpose(turned), D, D))
    for row, own in zip(law.covariance, wanted, strict=True):
        yield from (law.slope(x) - share * y for x, y in zip(row, own, strict=True))


def gaussian_defects(law: StepLaw, f: Vector, D: Rows) -> Iterator[Expr]:
    """Yield d2f/(dw dw') and dD/dw over the coordinates that move: the law is Gaussian if they vanish.

    Without noise and transform f may be anything: the law is a point, which `mean_defects` follows along f.
    """
    if not law.w and all(entry == 0 for rows in (D, law.covariance) for row in rows for entry in row):
        return
    moved = [n for n, (x, m) in enumerate(zip(law.start, law.mean, strict=True)) if x != m]
    noisy = [n for n, row in enumerate(D) if any(entry != 0 for entry in row)]
    places = list(dict.fromkeys((*moved, *noisy)))
    yield from (law.along(law.along(x, n), m) for x in f for n in places for m in places)
    yield from (law.along(entry, n) for row in D for entry in row for n in places)

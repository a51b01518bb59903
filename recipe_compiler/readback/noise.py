"""The noise of a step that was read: linear in its normals, w = W n, and the covariance W W^T that it has by that.

Where the kernel computes a factor L of a covariance S, a matrix of symbols with L L^T = S, the columns of W are P L
with one P, and P S P^T is what they add: a step that uses L in any other way than as L n is no step with that
covariance, and is refused. How factors are computed is support code.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.errors import CompilerError
from recipe_compiler.tensor.scalars import Scalar

Value = Any
Find = Callable[[sp.Matrix], np.ndarray]
"""What gives a factor of a covariance."""

ZERO = sp.Integer(0)


@dataclass(frozen=True, slots=True)
class NoiseFactor:
    """A factor L that the kernel requested: `entries` are symbols, L L.T = `covariance`, n x n."""

    entries: np.ndarray
    covariance: sp.Matrix


def symbolic(number: int, covariance: sp.Matrix) -> NoiseFactor:
    """Return the factor of a covariance as a matrix of symbols, the `number`-th of its kernel."""
    size = covariance.rows
    names = [[sp.Symbol(f"L{number}[{i},{j}]", real=True) for j in range(size)] for i in range(size)]
    return NoiseFactor(np.array(names, object), covariance)


def constant_factor(two_D: list[Value], B_hat: list[Value] | None, eps: Scalar, find: Find) -> list[np.ndarray]:
    """Return the factor L that `_noise_factor` returns, L L.T = eps (2D - eps B_hat), one row block per block."""
    doubled = np.block(two_D)
    excess = doubled * 0 if B_hat is None else np.block(B_hat)
    entries = find(sp.Matrix(eps * (doubled - eps * excess)))
    ends = np.cumsum([row[0].shape[0] for row in two_D])
    return np.split(entries, ends[:-1])


def state_factor(arguments: list[Value], find: Find) -> Value:
    """Return the entries that `_noise_root_2` returns, or write those of `_noise_root` into its second argument.

    The covariance is what these functions read: the lower triangle of their argument.
    """
    if len(arguments) == 4:
        s00, s10, s11, _ = arguments
        entries = find(sp.Matrix([[s00, s10], [s10, s11]]))
        entries[0, 1] = sp.Integer(0)
        return entries[0, 0], entries[1, 0], entries[1, 1]
    S, L, _ = arguments
    size = len(S)
    lower = [[S[max(i, j), min(i, j)] for j in range(size)] for i in range(size)]
    if L.shape != S.shape or any(entry is None for row in lower for entry in row):
        raise CompilerError("the emitted kernel factors a covariance that it has not set")
    L[:] = find(sp.Matrix(lower))
    return None


@dataclass(frozen=True, slots=True)
class StepNoise:
    """The noise of a step, w = W n with independent standard normals n: columns of W, and factors used in them."""

    size: int
    """The number of coordinates."""
    columns: tuple[tuple[Scalar, ...], ...]
    """For every normal, what it is multiplied by."""
    factors: tuple[NoiseFactor, ...]

    def covariance(self) -> list[list[Scalar]]:
        """Return Cov[w] = W W.T (size x size), with L L.T replaced by the covariance that L is a factor of.

        For the columns of one factor, W = P L with one P, and P S P.T is their share.

        Raises:
            CompilerError: a factor is used in another way than as L n.
        """
        owners = {entry: f for f, factor in enumerate(self.factors) for entry in factor.entries.ravel() if entry != 0}
        found = [[ZERO] * self.size for _ in range(self.size)]
        used: dict[int, dict[int, tuple[Scalar, ...]]] = {f: {} for f in range(len(self.factors))}
        for column in self.columns:
            own = {owners[s] for entry in column for s in entry.free_symbols if s in owners}
            if not own:
                there = _entries(column)
                _add(found, there, there, sp.Integer(1))
            elif len(own) == 1:
                (f,) = own
                j = _place(self.factors[f], column)
                if j in used[f]:
                    raise CompilerError("the emitted step uses a factor of its noise with the wrong normals")
                used[f][j] = column
            else:
                raise CompilerError("the emitted step uses two factors of its noise with one normal")
        for f, factor in enumerate(self.factors):
            P = [_entries(column) for column in _before(factor, used[f])]
            for i, left in enumerate(P):
                for j, right in enumerate(P):
                    _add(found, left, right, factor.covariance[i, j])
        return found


def noise_of(values: Sequence[Scalar], normals: Sequence[sp.Symbol], factors: Sequence[NoiseFactor]) -> StepNoise:
    """Return the noise of what a step writes: the coefficients of its normals.

    Args:
        values: the next state by coordinate, in terms of the old state, normals, and each other.
        normals: independent standard normals.
        factors: those that the kernel asked for.

    Raises:
        CompilerError: a value is not linear in the normals.
    """
    apart = frozenset(normals)
    columns: dict[sp.Symbol, list[Scalar]] = {normal: [ZERO] * len(values) for normal in normals}
    for row, value in enumerate(values):
        for normal, factor in _coefficients(value, apart).items():
            columns[normal][row] = factor
    return StepNoise(len(values), tuple(tuple(columns[normal]) for normal in normals), tuple(factors))


def _coefficients(value: Scalar, apart: frozenset[sp.Symbol]) -> dict[sp.Symbol, Scalar]:
    """Return by what a value multiplies every normal that it has.

    A sum is taken term by term, not derived as a whole by one normal after the other: d coordinates have d normals.

    Raises:
        CompilerError: the value is not linear in the normals.
    """
    terms: defaultdict[sp.Symbol, list[Scalar]] = defaultdict(list)
    for term in sp.Add.make_args(value):
        for normal in apart & term.free_symbols:
            terms[normal].append(sp.diff(term, normal))
    found: dict[sp.Symbol, Scalar] = {}
    for normal, parts in terms.items():
        factor = sp.Add(*parts)
        factor = factor if factor.free_symbols.isdisjoint(apart) else sp.expand(factor)
        if not factor.free_symbols.isdisjoint(apart):
            raise CompilerError(f"a step is not linear in its noise: {normal} is multiplied by {factor}")
        found[normal] = factor
    return found


def without_noise(values: Sequence[Scalar], normals: Sequence[sp.Symbol]) -> list[Scalar]:
    """Return what a step writes where all normals are zero."""
    none: Mapping[Scalar, Scalar] = dict.fromkeys(normals, ZERO)
    return [value.xreplace(none) for value in values]


def _entries(column: Sequence[Scalar]) -> list[tuple[int, Scalar]]:
    return [(a, x) for a, x in enumerate(column) if x != 0]


def _add(
    found: list[list[Scalar]], left: list[tuple[int, Scalar]], right: list[tuple[int, Scalar]], scale: Scalar
) -> None:
    """Add scale left right^T to a matrix."""
    for a, x in left if scale != 0 else ():
        for b, y in right:
            found[a][b] += x * y * scale


def _place(factor: NoiseFactor, column: Sequence[Scalar]) -> int:
    """Return which column of the factor a column of the noise is made of."""
    symbols = {s for entry in column for s in entry.free_symbols}
    places = {int(j) for (_, j), entry in np.ndenumerate(factor.entries) if entry in symbols}
    if len(places) != 1:
        raise CompilerError("the emitted step uses a factor of its noise other than as L @ noise")
    return places.pop()


def _before(factor: NoiseFactor, used: Mapping[int, tuple[Scalar, ...]]) -> list[tuple[Scalar, ...]]:
    """Return the columns of P, where the columns of the noise are those of P L."""
    size = factor.covariance.rows
    if len(used) != size:
        raise CompilerError("the emitted step does not use a factor of its noise, or a part of it")
    L = factor.entries
    P = [tuple(sp.diff(entry, L[i, i]) for entry in used[i]) for i in range(size)]
    own = {entry for entry in L.ravel() if entry != 0}
    rows = [[(i, P[i][a]) for i in range(size) if P[i][a] != 0] for a in range(len(used[0]))]
    again = {j: [sp.Add(*(p * L[i, j] for i, p in row)) for row in rows] for j in range(size)}
    exact = all(x == y or sp.expand(x - y) == 0 for j in used for x, y in zip(used[j], again[j], strict=True))
    if not exact or any(not entry.free_symbols.isdisjoint(own) for column in P for entry in column):
        raise CompilerError("the emitted step uses a factor of its noise other than as L @ noise")
    return P

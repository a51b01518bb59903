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

Column = dict[int, Scalar]
"""What a normal is multiplied by in each value that it is added to, by the place of the value."""
ZERO = sp.Integer(0)
MISUSED = "the emitted step uses a factor of its noise other than as L @ noise"


@dataclass(frozen=True, slots=True)
class NoiseFactor:
    """A factor L that the kernel requested: `entries` are symbols, L L.T = `covariance`, n x n."""

    entries: np.ndarray
    covariance: sp.Matrix


def symbolic(number: int | str, covariance: sp.Matrix) -> NoiseFactor:
    """Return the factor of a covariance as a matrix of symbols, the `number`-th of its kernel, or that of a draw."""
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


def drawn(name: str, covariance: Mapping[tuple[int, int], Scalar], size: int) -> tuple[list[Scalar], NoiseFactor]:
    """Return a vector of N(0, S) as L n with symbols for L and the normals n, which begin with the name of the draw."""
    factor = symbolic(name, sp.Matrix(size, size, lambda i, j: covariance.get((i, j), ZERO)))
    return [
        sp.Add(*(x * n for x, n in zip(row, normals_of(name, size), strict=True))) for row in factor.entries
    ], factor


def normals_of(name: str, size: int) -> list[Scalar]:
    """Return the symbols of the normals of a draw."""
    return [sp.Symbol(f"{name}[{j}]", real=True) for j in range(size)]


def covariance_of(
    values: Sequence[Scalar], normals: Sequence[Scalar], factors: Sequence[NoiseFactor]
) -> dict[tuple[int, int], Scalar]:
    """Return Cov[w] = W W.T of the noise w = W n in some values, where it is not 0; factors of covariances replaced.

    For the columns of one factor L, W = P L with one P, and P S P.T is their share.

    Args:
        values: in terms of the old state, normals, and each other.
        normals: independent standard normals n.
        factors: those that the kernel asked for; of some, other moves of a cycle make use.

    Raises:
        CompilerError: a value is not linear in the normals, or a factor is used in another way than as L n.
    """
    apart, columns = frozenset(normals), defaultdict[Scalar, Column](dict)
    for row, value in enumerate(values):
        for normal, coefficient in _coefficients(value, apart).items():
            if coefficient != 0:
                columns[normal][row] = coefficient
    owners = {x: (f, j) for f, own in enumerate(factors) for (_, j), x in np.ndenumerate(own.entries) if x != 0}
    found = defaultdict[tuple[int, int], Scalar](lambda: ZERO)
    used: list[dict[int, Column]] = [{} for _ in factors]
    for column in columns.values():
        own = {owners[s] for entry in column.values() for s in entry.free_symbols if s in owners}
        if not own:
            _add(found, column, column, sp.Integer(1))
            continue
        (f, j), *others = own
        if others or j in used[f]:
            raise CompilerError(MISUSED)
        used[f][j] = column
    for factor, own in zip(factors, used, strict=True):
        P = _before(factor, own) if own else []
        for i, left in enumerate(P):
            for j, right in enumerate(P):
                _add(found, left, right, factor.covariance[i, j])
    return dict(found)


def _coefficients(value: Scalar, apart: frozenset[Scalar]) -> dict[Scalar, Scalar]:
    """Return by what a value multiplies every normal that it has.

    Raises:
        CompilerError: the value is not a sum of products with one normal each, and of what has none.
    """
    terms = defaultdict[Scalar, list[Scalar]](list)

    def collect(part: Scalar, scale: Scalar) -> None:
        own = [x for x in part.args if not x.free_symbols.isdisjoint(apart)]
        if part in apart:
            terms[part].append(scale)
        elif part.is_Add:
            for x in own:
                collect(x, scale)
        elif part.is_Mul and len(own) == 1:
            collect(own[0], sp.Mul(scale, *(x for x in part.args if x is not own[0])))
        elif own:
            raise CompilerError(f"a step is not linear in its noise: {part}")

    collect(value, sp.Integer(1))
    return {normal: sp.Add(*parts) for normal, parts in terms.items()}


def without_noise(values: Sequence[Scalar], normals: Sequence[Scalar]) -> list[Scalar]:
    """Return what a step writes where all normals are zero."""
    none: Mapping[Scalar, Scalar] = dict.fromkeys(normals, ZERO)
    return [value.xreplace(none) for value in values]


def _add(found: dict[tuple[int, int], Scalar], left: Column, right: Column, scale: Scalar) -> None:
    """Add scale left right^T to a matrix."""
    for a, x in left.items() if scale != 0 else ():
        for b, y in right.items():
            found[a, b] += x * y * scale


def _before(factor: NoiseFactor, used: Mapping[int, Column]) -> list[Column]:
    """Return the columns of P, where the columns of the noise are those of P L."""
    size, L = factor.covariance.rows, factor.entries
    if len(used) != size:
        raise CompilerError(MISUSED)
    rows = sorted({a for column in used.values() for a in column})
    P = [{a: p for a, entry in used[i].items() if (p := sp.diff(entry, L[i, i])) != 0} for i in range(size)]
    of_row = {a: [(i, P[i][a]) for i in range(size) if a in P[i]] for a in rows}
    own = {entry for entry in L.ravel() if entry != 0}
    exact = all(
        sp.expand(used[j].get(a, ZERO) - sp.Add(*(p * L[i, j] for i, p in of_row[a]))) == 0 for j in used for a in rows
    )
    if not exact or any(not entry.free_symbols.isdisjoint(own) for column in P for entry in column.values()):
        raise CompilerError(MISUSED)
    return P

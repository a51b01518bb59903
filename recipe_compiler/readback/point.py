"""One step at one exact rational point: for sizes at which symbols would be too many."""

from dataclasses import dataclass, field
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.readback.interpreter import Reader
from recipe_compiler.readback.names import Names, rational_of
from recipe_compiler.readback.noise_factors import Find
from recipe_compiler.readback.step import covariance, joined_shape, read_changes, stated_changes, values
from recipe_compiler.tensor.scalars import Scalar

Number = Any
"""A complex number of mpmath."""

DIGITS = 60
"""Digits in which numbers with roots and exponentials are compared at a point."""
GUARD = 20
"""Digits more than those, in which factors are computed."""


@dataclass(slots=True)
class PointFactors:
    """Factors L of the noise as arbitrary numbers: what matters is that the step adds L n, and of which covariance."""

    covariances: list[sp.Matrix] = field(default_factory=list)
    factors: list[np.ndarray] = field(default_factory=list)

    def factor(self, stated: sp.Matrix) -> np.ndarray:
        """Return the factor of a covariance the kernel asks for."""
        number, size = len(self.factors), stated.rows
        entries = [[rational_of(f"L{number}[{i},{j}]") for j in range(size)] for i in range(size)]
        self.covariances.append(stated)
        self.factors.append(np.array(entries, object))
        return self.factors[-1]


def vanishes(difference: Scalar) -> bool:
    """Whether a number is zero: exactly, or to 60 digits where it holds roots and exponentials of rationals."""
    exact = sp.expand(difference)
    return exact == 0 or abs(sp.N(exact, DIGITS)) < sp.Float(10) ** (GUARD - DIGITS)


def seems_zero(difference: Scalar) -> bool:
    """Whether an expression is zero to 60 digits at a point: then it may be zero, whatever a normal form says."""
    fields = difference.atoms(AppliedUndef, sp.Derivative)
    numbers = {field: rational_of(str(field)) for field in fields}
    value = difference.xreplace(numbers)
    value = value.xreplace({symbol: rational_of(symbol.name) for symbol in value.free_symbols})
    return bool(abs(sp.N(value, DIGITS)) < sp.Float(10) ** (GUARD - DIGITS))


def changes_at_point(module: Module, names: Names) -> tuple[list[Scalar], list[Scalar]]:
    """Return z+ - z at a point, as the emitted text computes it and as its Program states it, from the same normals.

    Raises:
        CompilerError: the covariance of the noise is not that of the Program.
    """
    counts = [joined_shape(array.sizes, names.sizes)[0] for array in module.kernel.noises]
    stated = [covariance(noise, names) for noise in module.program.noises]
    normals = [
        [rational_of(f"{array.name}[{k}]") for k in range(count)]
        for array, count in zip(module.kernel.noises, counts, strict=True)
    ]
    if counts != [own.rows for own in stated]:
        return _by_columns(module, names, normals, stated)
    known = PointFactors()
    read = read_changes(module, names, _reader(module, names, known.factor), [n for group in normals for n in group])
    factors = list(zip(known.covariances, known.factors, strict=True))
    if len(factors) != sum(not own.is_diagonal() for own in stated):
        return _by_columns(module, names, normals, stated)
    draws: list[list[Scalar]] = []
    for covariance_, group in zip(stated, normals, strict=True):
        if covariance_.is_diagonal():
            draws.append([sp.sqrt(covariance_[k, k]) * n for k, n in enumerate(group)])
            continue
        own, L = factors.pop(0)
        if own != covariance_:
            return _by_columns(module, names, normals, stated)
        draws.append(list(L @ np.array(group, object)))
    return read, stated_changes(names, draws)


def _reader(module: Module, names: Names, factor: Find) -> Reader:
    return Reader(module.text, opaque={"gradient": names.gradient()}, invert=names.invert, factor=factor)


def root_of(stated: sp.Matrix) -> np.ndarray:
    """Return L with L L^T = covariance, to many digits; complex where the covariance is not definite at the point."""
    size = stated.rows
    with mpmath.workdps(DIGITS + GUARD):
        S = [[_number(stated[i, j]) for j in range(size)] for i in range(size)]
        scale = max(abs(x) for row in S for x in row)
        L = [[mpmath.mpc(0)] * size for _ in range(size)]
        for j in range(size):
            pivot = S[j][j] - mpmath.fsum(x * x for x in L[j][:j])
            if abs(pivot) <= scale * mpmath.mpf(10) ** -DIGITS:
                continue
            L[j][j] = mpmath.sqrt(pivot)
            for i in range(j + 1, size):
                rest = mpmath.fsum(L[i][k] * L[j][k] for k in range(j))
                L[i][j] = (S[i][j] - rest) / L[j][j]
        return np.array([[_scalar(x) for x in row] for row in L], object)


def _by_columns(
    module: Module, names: Names, normals: list[list[Scalar]], stated: list[sp.Matrix]
) -> tuple[list[Scalar], list[Scalar]]:
    """Return z+ - z read and stated, the noise being what the step makes of unit normals: w = W n, W W^T = covariance.

    For noise that is written as sums of products, with more or fewer normals than coordinates.
    """
    given = [n for group in normals for n in group]
    rows = [k for own in _rows(names) for k in own]

    def drawn(normals_: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        read = read_changes(module, names, _reader(module, names, root_of), normals_)
        w = _noise_of(read, names)
        return read, [w[k] for k in rows]

    with mpmath.workdps(DIGITS + GUARD):
        columns = [
            [_number(w) for w in drawn([sp.Integer(k == one) for k in range(len(given))])[1]]
            for one in range(len(given))
        ]
        joint = sp.diag(*stated)
        for a in range(joint.rows):
            for b in range(a + 1):
                read = mpmath.fsum(column[a] * column[b] for column in columns)
                if not vanishes(_scalar(read) - joint[a, b]):
                    raise CompilerError("the emitted noise has not the covariance of its Program at a point")
        read, _ = drawn(given)
        w = [
            _scalar(mpmath.fsum(_number(n) * c[a] for n, c in zip(given, columns, strict=True)))
            for a in range(len(rows))
        ]
    draws: list[list[Scalar]] = []
    for own in stated:
        draws.append(w[: own.rows])
        w = w[own.rows :]
    return read, stated_changes(names, draws)


def _rows(names: Names) -> list[list[int]]:
    """Return, group by group, the places of the noisy coordinates among all."""
    ends: dict[str, list[int]] = {}
    count = 0
    for block in names.program.blocks:
        size = len(names.block(block))
        ends[block.name] = list(range(count, count + size))
        count += size
    return [[k for block in noise.blocks for k in ends[block.name]] for noise in names.program.noises]


def _noise_of(read: list[Scalar], names: Names) -> list[Scalar]:
    """Return z+ - z - eps drift by coordinate, the drift at the blocks as the step moved them."""
    changes: dict[str, list[Scalar]] = {}
    left = list(read)
    for block in names.program.blocks:
        size = len(names.block(block))
        changes[block.name], left = left[:size], left[size:]
    moved: dict[str, list[Scalar]] = {}
    found: dict[str, list[Scalar]] = {}
    for update in names.program.updates:
        own = changes[update.block.name]
        drift = values(update.drift, names, update.block, moved)
        found[update.block.name] = [dz - names.eps * f for dz, f in zip(own, drift, strict=True)]
        moved[update.new] = [z + dz for z, dz in zip(names.block(update.block), own, strict=True)]
    return [w for block in names.program.blocks for w in found[block.name]]


def _number(value: Scalar) -> Number:
    real, imaginary = sp.N(value, DIGITS + GUARD).as_real_imag()
    return mpmath.mpc(str(real), str(imaginary))


def _scalar(value: Number) -> Scalar:
    real, imaginary = (sp.Float(str(part), DIGITS + GUARD) for part in (value.real, value.imag))
    return real + sp.I * imaginary

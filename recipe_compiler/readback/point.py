"""One step at one exact rational point, for sizes at which symbols would be too many, and the comparison after it.

What was read is what is stated, or the text is not written.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from flint import arb
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.scalars.transforms import transformed
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError, ReadBackError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.readback.names import Names, Sizes, rational_of
from recipe_compiler.readback.noise import Find
from recipe_compiler.readback.step import (
    covariance,
    cuts_of,
    guarded,
    joined_shape,
    read_values,
    reader_of,
    stated_changes,
    values,
)
from recipe_compiler.readback.transforms import transforms_of, undone
from recipe_compiler.tensor.scalars import Scalar

Number = Any
"""A complex number of mpmath."""
Values = dict[str, list[Scalar]]
"""The values that shifts make, by their names, entry by entry."""

DIGITS = 60
"""Digits in which numbers with roots and exponentials are compared at a point."""

COMPARED = 2**12
"""Pairs that are remembered: a draw compares what it shares between rows, places and readings again and again."""

GUARD = 20
"""Digits more than those, in which factors are computed."""

POINTS = 3
"""Points at which functions are compared whose difference is too large to be written out."""

NOTHING = arb(10) ** (GUARD - DIGITS)
"""What such numbers differ by at most."""


def equal(read: Scalar, stated: Scalar, what: str, here: Names) -> None:
    """Check that two expressions are the same function or, at a point, the same number.

    In symbols by the normal form of their difference, or at three points where that is too large; at a point exactly,
    or to 40 digits where roots and exponentials occur.

    Args:
        read: from the emitted text.
        stated: by its Program, or derived.
        what: they are, for messages.
        here: the names in them.

    Raises:
        CompilerError: they differ.
        ReadBackError: it is not decided whether they do.
    """
    agree = _agree(read, stated, at_point=here.at_point)
    if agree:
        return
    if agree is None:
        raise ReadBackError(f"{what} was not shown to equal that of its Program{at_sizes(here.sizes)}")
    raise CompilerError(f"the emitted text was read back and differs from its Program in {what}{at_sizes(here.sizes)}")


@lru_cache(maxsize=COMPARED)
def _agree(read: Scalar, stated: Scalar, *, at_point: bool) -> bool | None:
    """Whether two expressions are the same, as `equal` has it; None where that is not decided."""
    difference = read - stated
    at_point = at_point and not difference.free_symbols  # what calls of a cycle give stays a symbol there
    if at_point:
        return difference == 0 or vanishes(difference)
    try:
        if difference == 0 or is_zero(difference):
            return True
    except NoNormalFormError:  # too large: the logarithm of a product of many factors, say
        if all(seems_zero(difference, which) for which in range(POINTS)):
            return True
    return None if seems_zero(difference) else False


def at_sizes(sizes: Sizes) -> str:
    """Return the sizes for the end of a message."""
    return f" ({', '.join(f'{name} = {number}' for name, number in sizes.items())})" if sizes else ""


@dataclass(slots=True)
class PointFactors:
    """Factors L of the noise as arbitrary rational numbers: compared is that the step adds L n, and its L L.T."""

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
    """Whether a number is zero: exactly, or below 1e-40 where it holds roots and exponentials of rationals.

    A ball that lies there whole says so at once. Else SymPy asks for as many digits as it takes.
    """
    try:
        value = evaluate(difference, _no_leaf)
    except NoValueError:
        value = None
    if isinstance(value, arb) and abs(value) < NOTHING:
        return True
    exact = sp.expand(difference)
    if exact is sp.nan:  # a number divided by zero on the way
        return False
    return exact == 0 or abs(sp.N(exact, DIGITS)) < sp.Float(10) ** (GUARD - DIGITS)


def _no_leaf(e: Scalar) -> Value:
    raise NoValueError(f"{e} is no number")


def seems_zero(difference: Scalar, which: int = 0) -> bool:
    """Whether an expression is zero to many digits at one point, so that it may be zero whatever a normal form says.

    At the first point all symbols are positive, at the second those are negative that may be, at others some of them.
    """

    def number(name: str, *, is_signed: bool) -> Scalar:
        found = rational_of(f"{name} at {which}" if which else name)
        return -found if is_signed and (which == 1 or (which > 1 and found.p % 2)) else found

    fields = difference.atoms(AppliedUndef, sp.Derivative)
    value = difference.xreplace({field: number(str(field), is_signed=not field.is_nonnegative) for field in fields})
    symbols = value.free_symbols
    value = value.xreplace({one: number(one.name, is_signed=not one.is_nonnegative) for one in symbols})
    return bool(abs(sp.N(value, DIGITS)) < sp.Float(10) ** (GUARD - DIGITS))


def changes_at_point(module: Module, names: Names) -> tuple[list[Scalar], list[Scalar]]:
    """Return what each shift adds at a rational point: as the emitted text computes it, and as its Program states it.

    Both use the same normals and the same intermediate values. Every new value is a fresh number in what follows, so
    that a step of many shifts is compared shift by shift and no number grows with how many there are.

    Raises:
        CompilerError: the covariance of the noise is not that of the Program.
    """
    counts = [joined_shape(array.sizes, names.sizes)[0] for array in module.kernel.noises]
    normals = [
        [rational_of(f"{array.name}[{k}]") for k in range(count)]
        for array, count in zip(module.kernel.noises, counts, strict=True)
    ]
    if not names.program.noises:
        moved, read = _read(module, names, root_of, [n for group in normals for n in group])
        return _joined(read), _joined(stated_changes(names, {}, moved))
    if counts != [sum(len(names.block(block)) for block in noise.blocks) for noise in names.program.noises]:
        return _by_columns(module, names, normals)
    known = PointFactors()
    moved, read = _read(module, names, known.factor, [n for group in normals for n in group])
    stated = _covariances(names, moved)
    factors = list(zip(known.covariances, known.factors, strict=True))
    if len(factors) != sum(not own.is_diagonal() for own in stated.values()):
        return _by_columns(module, names, normals)
    draws: dict[str, list[Scalar]] = {}
    for (name, covariance_), group in zip(stated.items(), normals, strict=True):
        if covariance_.is_diagonal():
            draws[name] = [sp.sqrt(covariance_[k, k]) * n for k, n in enumerate(group)]
            continue
        own, L = factors.pop(0)
        if own != covariance_:
            return _by_columns(module, names, normals)
        draws[name] = list(L @ np.array(group, object))
    return _joined(read), _joined(stated_changes(names, draws, moved))


def _joined(changes: list[list[Scalar]]) -> list[Scalar]:
    return [dz for own in changes for dz in own]


def _covariances(names: Names, moved: Values) -> dict[str, sp.SparseMatrix]:
    """Return the covariance of every draw as the Program states it, at the values on the way."""
    return {noise.name: covariance(noise, names, moved) for noise in names.program.noises}


def _read(module: Module, names: Names, factor: Find, normals: list[Scalar]) -> tuple[Values, list[list[Scalar]]]:
    """Return the number that stands for every new value, and by what T of it was read to differ from T before it."""

    def found(stated: sp.Matrix) -> np.ndarray:
        return factor(stated.xreplace({symbol: rational_of(symbol.name) for symbol in stated.free_symbols}))

    cuts = cuts_of(module)
    reader = reader_of(module, names, cuts, found)
    new, entries = cuts.defined(_joined(read_values(module, names, reader, normals)))
    made = undone(entries, transforms_of(names))
    numbers = {symbol: rational_of(symbol.name) for symbol in new}
    left = [(numbers[symbol], value.xreplace(numbers)) for symbol, value in zip(new, made, strict=True)]
    moved: Values = {}
    changes: list[list[Scalar]] = []
    positive = [y.xreplace(numbers) for y in reader.guarded]
    for shift in names.program.shifts:
        start = moved.get(shift.old) or names.block(shift.block)
        own, left = left[: len(start)], left[len(start) :]
        if not shift.implicit and not all(any(vanishes(y - x) for x in positive) for y in guarded(shift, names, moved)):
            raise CompilerError(f"the emitted step divides in {shift.new} by a value not required to be positive")
        moved[shift.new] = [number for number, _ in own]
        before = (transformed(shift.transform, z) for z in start)
        changes.append([value - z for z, (_, value) in zip(before, own, strict=True)])
    return moved, changes


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


def _by_columns(module: Module, names: Names, normals: list[list[Scalar]]) -> tuple[list[Scalar], list[Scalar]]:
    """Return the changes read and stated, the noise being what the step makes of its normals: w = W n, W W^T = cov.

    For noise that is written as sums of products, with more or fewer normals than coordinates. A column of W is what
    one more of a normal adds to the first draw that it changes; draws after that one may depend on it in any way.
    """
    given = [n for group in normals for n in group]

    def drawn(normals_: list[Scalar]) -> tuple[Values, list[list[Scalar]], dict[str, list[Number]]]:
        moved, read = _read(module, names, root_of, normals_)
        return moved, read, {name: [_number(w) for w in own] for name, own in _noise_of(read, moved, names).items()}

    with mpmath.workdps(DIGITS + GUARD):
        moved, read, added = drawn(given)
        columns: dict[str, list[tuple[Scalar, list[Number]]]] = {name: [] for name in added}
        for one, n in enumerate(given):
            _, _, more = drawn([n + 1 if k == one else m for k, m in enumerate(given)])
            for name, own in added.items():
                column = [after - before for after, before in zip(more[name], own, strict=True)]
                if any(abs(x) > mpmath.mpf(10) ** -DIGITS for x in column):
                    columns[name].append((n, column))
                    break
        for name, stated in _covariances(names, moved).items():
            _same_covariance([column for _, column in columns[name]], stated)
        draws = {
            name: [_scalar(mpmath.fsum(_number(n) * column[a] for n, column in columns[name])) for a in range(len(own))]
            for name, own in added.items()
        }
    return _joined(read), _joined(stated_changes(names, draws, moved))


def _same_covariance(columns: list[list[Number]], stated: sp.SparseMatrix) -> None:
    for a in range(stated.rows):
        for b in range(a + 1):
            read = mpmath.fsum(column[a] * column[b] for column in columns)
            if not vanishes(_scalar(read) - stated[a, b]):
                raise CompilerError("the emitted noise does not have the covariance of its Program at a point")


def _noise_of(read: list[list[Scalar]], moved: Values, names: Names) -> dict[str, list[Scalar]]:
    """Return what every draw adds: the change of each of its blocks, less eps times the rate at the values `moved`."""
    found: dict[tuple[str, Block], list[Scalar]] = {}
    for shift, changes in zip(names.program.shifts, read, strict=True):
        rate = values(shift.rate, names, shift.block, moved)
        found[shift.noise, shift.block] = [dz - names.eps * f for dz, f in zip(changes, rate, strict=True)]
    return {noise.name: [w for b in noise.blocks for w in found[noise.name, b]] for noise in names.program.noises}


def _number(value: Scalar) -> Number:
    real, imaginary = sp.N(value, DIGITS + GUARD).as_real_imag()
    return mpmath.mpc(str(real), str(imaginary))


def _scalar(value: Number) -> Scalar:
    real, imaginary = (sp.Float(str(part), DIGITS + GUARD) for part in (value.real, value.imag))
    return real + sp.I * imaginary

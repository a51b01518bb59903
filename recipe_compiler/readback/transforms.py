"""Shifts of transforms as an emitted step takes them: the new value is the inverse of T, called of what T(new) is.

Inverses are support code, and are not entered: read is what they are given, and that nothing else is made of it. So
`T(new) = T(old) + eps rate + w` is compared as a shift of any coordinate is, noise being linear in it.
"""

from collections.abc import Iterator, Sequence

import sympy as sp
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.transforms import Family, Transform
from recipe_compiler.readback.names import Names
from recipe_compiler.tensor.scalars import Scalar

INVERSES = {Family.LOG: "_inverse_log", Family.POWER: "_inverse_power", Family.EXP: "_inverse_exp"}
"""What computes the inverse of a transform in an emitted module."""


def transforms_of(names: Names) -> list[Transform | None]:
    """Return the transform T of every entry of the new values, in the order of the shifts; None where there is none."""
    return [shift.transform for shift in names.program.shifts for _ in names.block(shift.block)]


def undone(values: Sequence[Scalar], transforms: Sequence[Transform | None]) -> Iterator[Scalar]:
    """Yield T(new) for every new value read: the argument of T's inverse; the value itself where there is no transform.

    Raises:
        CompilerError: a value is not the inverse of its transform, called once with everything that makes it.
    """
    for value, transform in zip(values, transforms, strict=True):
        yield value if transform is None else _given(value, transform)


def _given(value: Scalar, transform: Transform) -> Scalar:
    name, c = INVERSES[transform.family], rational(transform.number)
    numbers = {Family.LOG: (), Family.POWER: (1 / c,), Family.EXP: (c,)}[transform.family]
    if not isinstance(value, AppliedUndef) or value.func != sp.Function(name) or value.args[1:] != numbers:
        raise CompilerError(f"the emitted step does not move {transform.says('x')} as its Program does")
    return value.args[0]

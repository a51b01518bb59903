"""Whether what was read is what is stated: as functions of symbols, or as numbers at one exact rational point."""

from functools import lru_cache

import sympy as sp
from flint import arb
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.errors import CompilerError, ReadBackError
from recipe_compiler.readback.names import Names, Sizes, rational_of
from recipe_compiler.tensor.scalars import Scalar

DIGITS = 60
"""Digits in which numbers with roots and exponentials are compared at a point."""

COMPARED = 2**12
"""Pairs that are remembered: a draw compares what it shares between rows, places and readings again and again."""

GUARD = 20
"""Digits that may be lost of these."""

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
    if read.is_Symbol and stated.is_Symbol:
        return read == stated
    difference = read - stated
    at_point = at_point and not difference.free_symbols  # what calls of a cycle give stays a symbol there
    if at_point:
        if difference == 0 or vanishes(difference):
            return True
        rounded = isinstance(stated, sp.Expr) and stated.has(sp.Float)
        size = abs(sp.N(stated, DIGITS)) if rounded else 0  # digits are counted from the first one on
        return bool(size > 1) and vanishes(difference / size)
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

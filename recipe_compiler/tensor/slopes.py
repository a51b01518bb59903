"""Derivatives of the scalar functions with respect to their arguments."""

from recipe_compiler.errors import ModelError
from recipe_compiler.formula.elementwise import FUNCTIONS, Corner
from recipe_compiler.tensor.arithmetic import Arithmetic, as_number, meaningless
from recipe_compiler.tensor.show import write
from recipe_compiler.tensor.style import PLAIN
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.tensor.written import written

_MEETING = (
    "write pieces that agree there, as where(x > 1, 2*x - 1, x**2) does, or minimum, maximum, abs, or a smooth "
    "function such as softplus or sigmoid"
)


def branches(c: Arithmetic, fn: str, args: tuple[Tensor, ...]) -> tuple[str, tuple[Tensor, ...]] | None:
    """Return a function with branches as `where ...` and its arguments (left, right, yes, no); None for any other."""
    match fn:
        case "minimum":
            return "where <=", (*args, *args)
        case "maximum":
            return "where >=", (*args, *args)
        case _:
            return (fn, args) if fn.startswith("where ") else None


def jump(fn: str) -> ModelError:
    """Return the error of a derivative that would hold a point mass."""
    hint = f"abs, minimum and maximum have kinks and no jumps; tanh(c*x) is a smooth {fn}"
    return meaningless(f"found the derivative of {fn} across its jump, where it has a point mass", hint)


def apart(left: Tensor, right: Tensor, step: Tensor | None) -> ModelError:
    """Return the error of a derivative of pieces that are not shown to meet, with what was found on their boundary."""
    free = dict.fromkeys(index for part in (left, right, step) if part is not None for index in part.free)
    letters = dict(zip(free, "ijkl", strict=False))
    boundary = f"{write(PLAIN, left, letters)} = {write(PLAIN, right, letters)}"
    if step is None:
        what = f"not shown: the pieces of where meet on {boundary}, in which no coordinate stands alone, to be put in"
        return meaningless(what, f"{_MEETING}, or a condition such as x > c")
    there = f"one less the other is {write(PLAIN, step, letters)} there"
    if as_number(step) is None:
        return meaningless(f"not shown: the pieces of where meet on {boundary}; {there}", _MEETING)
    return meaningless(f"the pieces of where do not meet on {boundary}: {there}, a jump with a point mass", _MEETING)


def slope(c: Arithmetic, fn: str, x: Tensor, *, almost_everywhere: bool) -> Tensor:
    """Return the derivative of `fn` at x.

    That of abs is sign, right for proofs since abs is Lipschitz. sign jumps: its derivative is a ModelError, or zero if
    `almost_everywhere` is asked for, as emitted gradients may.
    """
    row = FUNCTIONS.get(fn)
    if row is None or not row.slope:
        raise meaningless(f"found the derivative of {fn}, which the calculus does not know")
    if row.corner is Corner.JUMP and not almost_everywhere:
        raise jump(fn)
    return written(c, row.stated_slope if c.rules.stated and row.stated_slope else row.slope, x)

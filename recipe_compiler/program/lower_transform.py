"""Lowering of transforms: T(old) of the coordinate that a step moves, and the new value with a given T(new)."""

from recipe_compiler.formula.transforms import Family, Transform
from recipe_compiler.program.combine import times
from recipe_compiler.program.loops import Call, Constant, Raise, Scalar


def forward(transform: Transform | None, x: Scalar) -> Scalar:
    """Return T(x) = log x, x**c or exp(c x) as a scalar expression; x if there is no transform."""
    if transform is None:
        return x
    c = transform.number
    match transform.family:
        case Family.LOG:
            return Call("log", (x,))
        case Family.POWER:
            return Raise(x, c)
        case Family.EXP:
            return Call("exp", (times(c, (x,)),))


def inverse(transform: Transform | None, y: Scalar) -> Scalar:
    """Return the x with T(x) = y as a scalar expression, not a number if there is none; y if there is no transform."""
    if transform is None:
        return y
    c = transform.number
    match transform.family:
        case Family.LOG:
            return Call("inverse_log", (y,))
        case Family.POWER:
            return Call("inverse_power", (y, Constant(1 / c)))
        case Family.EXP:
            return Call("inverse_exp", (y, Constant(c)))

"""Derivatives of the scalar functions with respect to their arguments."""

from recipe_compiler.errors import ModelError
from recipe_compiler.formula.elementwise import FUNCTIONS, Corner
from recipe_compiler.tensor.arithmetic import Arithmetic, meaningless
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.tensor.written import written


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
    name = fn.split(" ")[0]
    return meaningless(f"found the derivative of {name} across its jump, where it has a point mass")


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

"""Derivatives of the scalar functions with respect to their arguments."""

from fractions import Fraction

from recipe_compiler.errors import ModelError
from recipe_compiler.tensor.arithmetic import Arithmetic, constant, meaningless
from recipe_compiler.tensor.terms import Circle, Tensor, Term

HALF = Fraction(1, 2)


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
    if fn == "sign":
        if not almost_everywhere:
            raise jump(fn)
        return constant(0)
    return _slope(c, fn, x)


def _slope(c: Arithmetic, fn: str, x: Tensor) -> Tensor:
    def square(name: str) -> Tensor:
        return c.power(c.applied(name, x), 2)

    match fn:
        case "exp" | "expm1":
            return c.applied("exp", x)
        case "log":
            return c.power(x, -1)
        case "log1p":
            return c.power(c.add(constant(1), x), -1)
        case "sin":
            return c.applied("cos", x)
        case "cos":
            return c.scale(c.applied("sin", x), -1)
        case "tan":
            return c.add(constant(1), square("tan"))
        case "tanh" if c.rules.stated:  # 1 - tanh(x)**2 cancels where |x| is large
            return c.power(c.applied("cosh", x), -2)
        case "tanh":
            return c.add(constant(1), c.scale(square("tanh"), -1))
        case "atan":
            return c.power(c.add(constant(1), c.power(x, 2)), -1)
        case "cosh":
            return c.applied("sinh", x)
        case "sinh":
            return c.applied("cosh", x)
        case "softplus":
            return c.applied("sigmoid", x)
        case "sigmoid" if c.rules.stated:  # so does 1 - sigmoid(x)
            return c.multiply(c.applied("sigmoid", x), c.applied("sigmoid", c.scale(x, -1)))
        case "sigmoid":
            return c.add(c.applied("sigmoid", x), c.scale(square("sigmoid"), -1))
        case "erf":
            pi = Tensor((), (Term(Fraction(2), ((Circle(), -HALF),)),))
            return c.multiply(pi, c.applied("exp", c.scale(c.power(x, 2), -1)))
        case "gamma":
            return c.multiply(c.applied("gamma", x), c.applied("digamma", x))
        case "loggamma":
            return c.applied("digamma", x)
        case "digamma":
            return c.applied("trigamma", x)
        case "abs":
            return c.applied("sign", x)
        case _:
            raise meaningless(f"found the derivative of {fn}, which the calculus does not know")

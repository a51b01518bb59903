"""Derivatives of the scalar functions with respect to their arguments."""

from fractions import Fraction

from recipe_compiler.tensor.arithmetic import Arithmetic, constant, meaningless
from recipe_compiler.tensor.terms import Circle, Tensor, Term

HALF = Fraction(1, 2)


def slope(c: Arithmetic, fn: str, args: tuple[Tensor, ...], by: int, *, almost_everywhere: bool) -> Tensor:
    """Return the partial derivative of `fn(*args)` by argument number `by`.

    abs, minimum and maximum are Lipschitz: their derivative almost everywhere is the one proofs need. That of a
    jump (sign, the condition of where) is not: there the derivative holds a point mass, so it is a ModelError unless
    `almost_everywhere` is asked for, as emitted gradients may.
    """
    one, nothing = constant(1), constant(0)
    match fn, by:
        case "minimum" | "maximum", _:
            op = "where <=" if fn == "minimum" else "where >="
            return c.applied(op, *args, *((one, nothing) if by == 0 else (nothing, one)))
        case _, 0 | 1 if fn == "sign" or fn.startswith("where "):
            if not almost_everywhere:
                name = fn.split(" ")[0]
                raise meaningless(f"found the derivative of {name} across its jump, where it has a point mass")
            return nothing
        case _ if fn.startswith("where "):
            return c.applied(fn, *args[:2], *((one, nothing) if by == 2 else (nothing, one)))
        case _:
            return _slope(c, fn, args[0])


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

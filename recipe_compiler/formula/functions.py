"""The functions of the language for formulas made in Python; Python's own names get a trailing underscore.

`grad(U, theta)`, `div(A, theta)_i = sum_j dA_ij/dtheta_j`, `norm2(v) = v.T @ v`: each gives the tree that the same
text would. Shapes and numbers of arguments are checked where the formula is put in its place.
"""

from recipe_compiler.formula import tree
from recipe_compiler.formula.declared import merged
from recipe_compiler.formula.symbolic import Expression, expression


def _call(name: str, *args: object) -> Expression:
    parts = [expression(arg) for arg in args]
    called = tree.Call(name, tuple(part.tree for part in parts), language=True)
    return Expression(called, merged(*(part.names for part in parts)))


def exp(x: object) -> Expression:
    """Return e**x, entry by entry."""
    return _call("exp", x)


def log(x: object) -> Expression:
    """Return the natural logarithm, entry by entry."""
    return _call("log", x)


def log1p(x: object) -> Expression:
    """Return log(1 + x), entry by entry."""
    return _call("log1p", x)


def expm1(x: object) -> Expression:
    """Return exp(x) - 1, entry by entry."""
    return _call("expm1", x)


def sqrt(x: object) -> Expression:
    """Return the square root, entry by entry."""
    return _call("sqrt", x)


def abs_(x: object) -> Expression:
    """Return the absolute value, entry by entry."""
    return _call("abs", x)


def sign(x: object) -> Expression:
    """Return the sign (0 at 0), entry by entry."""
    return _call("sign", x)


def sin(x: object) -> Expression:
    """Return the sine, entry by entry."""
    return _call("sin", x)


def cos(x: object) -> Expression:
    """Return the cosine, entry by entry."""
    return _call("cos", x)


def tan(x: object) -> Expression:
    """Return the tangent, entry by entry."""
    return _call("tan", x)


def tanh(x: object) -> Expression:
    """Return the hyperbolic tangent, entry by entry."""
    return _call("tanh", x)


def atan(x: object) -> Expression:
    """Return the arc tangent, entry by entry."""
    return _call("atan", x)


def cosh(x: object) -> Expression:
    """Return the hyperbolic cosine, entry by entry."""
    return _call("cosh", x)


def sinh(x: object) -> Expression:
    """Return the hyperbolic sine, entry by entry."""
    return _call("sinh", x)


def softplus(x: object) -> Expression:
    """Return log(1 + exp(x)), entry by entry."""
    return _call("softplus", x)


def sigmoid(x: object) -> Expression:
    """Return 1/(1 + exp(-x)), entry by entry."""
    return _call("sigmoid", x)


def erf(x: object) -> Expression:
    """Return the error function, entry by entry."""
    return _call("erf", x)


def gamma(x: object) -> Expression:
    """Return the gamma function, entry by entry."""
    return _call("gamma", x)


def loggamma(x: object) -> Expression:
    """Return the logarithm of the gamma function, entry by entry."""
    return _call("loggamma", x)


def digamma(x: object) -> Expression:
    """Return the derivative of loggamma, entry by entry."""
    return _call("digamma", x)


def trigamma(x: object) -> Expression:
    """Return the second derivative of loggamma, entry by entry."""
    return _call("trigamma", x)


def minimum(x: object, y: object) -> Expression:
    """Return the smaller of two, entry by entry."""
    return _call("minimum", x, y)


def maximum(x: object, y: object) -> Expression:
    """Return the larger of two, entry by entry."""
    return _call("maximum", x, y)


def where(condition: object, yes: object, no: object) -> Expression:
    """Return `yes` where the condition holds, `no` elsewhere."""
    return _call("where", condition, yes, no)


def inv(A: object) -> Expression:
    """Return the inverse of a square matrix."""
    return _call("inv", A)


def det(A: object) -> Expression:
    """Return the determinant."""
    return _call("det", A)


def logdet(A: object) -> Expression:
    """Return the logarithm of the determinant."""
    return _call("logdet", A)


def trace(A: object) -> Expression:
    """Return the trace."""
    return _call("trace", A)


def diag(v: object) -> Expression:
    """Return the diagonal matrix of a column."""
    return _call("diag", v)


def sum_(v: object) -> Expression:
    """Return the sum of all entries."""
    return _call("sum", v)


def dot(u: object, v: object) -> Expression:
    """Return u.T @ v."""
    return _call("dot", u, v)


def norm2(v: object) -> Expression:
    """Return v.T @ v, the SQUARED Euclidean norm."""
    return _call("norm2", v)


def logsumexp(v: object) -> Expression:
    """Return log(sum(exp(v))) of a column or a row."""
    return _call("logsumexp", v)


def outer(u: object, v: object) -> Expression:
    """Return u @ v.T."""
    return _call("outer", u, v)


def kron(A: object, B: object) -> Expression:
    """Return the Kronecker product."""
    return _call("kron", A, B)


def grad(s: object, block: object) -> Expression:
    """Return the gradient of a scalar by a block."""
    return _call("grad", s, block)


def div(A: object, block: object) -> Expression:
    """Return the divergence by a block, summed over the columns of A."""
    return _call("div", A, block)


def hessian(s: object, block: object) -> Expression:
    """Return the matrix of second derivatives of a scalar by a block."""
    return _call("hessian", s, block)

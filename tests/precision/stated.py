"""Formulas at 200 digits exactly as they are stated, node by node, and how much their gradient minds roundings.

The condition number of a formula as stated: every entry of every node of its tree, leaves (coordinates, parameters,
data) included, is multiplied by 1 + delta, one at a time; the gradient of the formula so changed moves by
delta * c_k; and the condition of the gradient is sum_k abs(c_k). It is what rounding every input and every
intermediate value once, relatively by u, can do to first order: no arithmetic in doubles that follows the formula does
better than a small multiple of u times it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import mpmath
import numpy as np

from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Compare,
    Entry,
    Explicit,
    Filled,
    Formula,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import Shape

DIGITS = 200
STEP = mpmath.mpf(10) ** -60
"""Of central differences by a coordinate: their error is its square."""
CHANGE = mpmath.mpf(10) ** -40
"""Relative change of a node."""

SCALAR: dict[str, Any] = {
    "exp": mpmath.exp, "log": mpmath.log, "log1p": lambda x: mpmath.log(1 + x), "expm1": lambda x: mpmath.exp(x) - 1,
    "sqrt": mpmath.sqrt, "abs": abs, "sign": mpmath.sign, "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan,
    "tanh": mpmath.tanh, "atan": mpmath.atan, "cosh": mpmath.cosh, "sinh": mpmath.sinh, "erf": mpmath.erf,
    "ndtr": mpmath.ncdf, "log_ndtr": lambda x: mpmath.log(mpmath.ncdf(x)),
    "inverse_mills": lambda x: mpmath.npdf(x) / mpmath.ncdf(x), "gamma": mpmath.gamma, "loggamma": mpmath.loggamma,
    "digamma": mpmath.digamma,
    "trigamma": lambda x: mpmath.polygamma(1, x), "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "softplus": lambda x: mpmath.log(1 + mpmath.exp(x)), "minimum": min, "maximum": max,
}  # fmt: skip


@dataclass
class Stated:
    """One formula at one point: all arrays have two axes, of length one where the shape has none."""

    sizes: Mapping[str, int]
    known: Mapping[str, np.ndarray]
    """Values of blocks, parameters and fields of one datum."""
    changed: int = -1
    """The number of the entry that is changed, in the order of evaluation; none where negative."""
    count: int = field(default=0)
    functions: Mapping[str, Formula] = field(default_factory=dict)
    """What functions of the state stand for."""

    def value(self, formula: Formula) -> np.ndarray:
        """Return the entries of a formula, the one that is to be changed times 1 + delta."""
        found = self._value(formula)
        if isinstance(formula, Number | Identity | Filled | Transpose):
            return found  # numbers are exact, and nothing is computed
        return self._rounded(found)

    def _rounded(self, found: np.ndarray) -> np.ndarray:
        found = found.copy()
        place = self.changed - self.count
        self.count += found.size
        if 0 <= place < found.size:
            found.flat[place] = found.flat[place] * (1 + CHANGE)
        return found

    def _extent(self, shape: Shape) -> tuple[int, int]:
        rows, cols = (1 if s is None else self.sizes.get(s, s) for s in (shape.rows, shape.cols))
        return int(rows), int(cols)

    def _value(self, formula: Formula) -> np.ndarray:
        match formula:
            case Number(value):
                return _array([[mpmath.mpf(value.numerator) / value.denominator]])
            case Pi():
                return _array([[mpmath.pi()]])
            case Symbol(name, _, Role.SIZE):
                return _array([[mpmath.mpf(self.sizes[name])]])
            case Symbol(name, shape, _):
                return self.known[name].reshape(self._extent(shape))
            case FunctionAt(name, _, _):
                return self.value(self.functions[name])
            case Identity(size):
                n = int(self.sizes.get(size, size))
                return _array([[mpmath.mpf(i == j) for j in range(n)] for i in range(n)])
            case Filled(value, shape):
                rows, cols = self._extent(shape)
                return _array([[mpmath.mpf(value)] * cols] * rows)
            case Add(terms, _):
                return sum((self.value(term) for term in terms[1:]), self.value(terms[0]))
            case Multiply(left, right, _):
                return self.value(left) * self.value(right)
            case Power(base, exponent, _):
                above = self.value(exponent)[0, 0]
                whole = above == mpmath.nint(above)
                return _each(lambda x: x ** (int(above) if whole else above), self.value(base))
            case MatMul(left, right, _):
                a, b = self.value(left), self.value(right)
                products = self._rounded(a[:, :, None] * b[None, :, :])
                return products.sum(axis=1)
            case Transpose(arg, _):
                return self.value(arg).T
            case Entry(arg, at):
                found = self.value(arg)
                return _array([[found.reshape(found.shape if len(at) == 2 else -1)[at]]])
            case Explicit(rows, _):
                return _array([[self.value(entry)[0, 0] for entry in row] for row in rows])
            case Apply("where", (Compare(op, left, right, _), yes, no), _):
                a, b = self.value(left)[0, 0], self.value(right)[0, 0]
                holds = {">": a > b, ">=": a >= b, "<": a < b, "<=": a <= b, "==": a == b}[op]
                return self.value(yes if holds else no)
            case Apply(fn, args, _):
                return self._applied(fn, [self.value(arg) for arg in args])
            case _:
                raise AssertionError(f"no formula of a target: {formula}")

    def _applied(self, fn: str, args: list[np.ndarray]) -> np.ndarray:
        match fn:
            case "inv":
                n = len(args[0])
                return _array((mpmath.matrix(args[0].tolist()) ** -1).tolist()).reshape(n, n)
            case "trace":
                return _array([[np.trace(args[0])]])
            case "sum":
                return _array([[args[0].sum()]])
            case "outer":
                return args[0].reshape(-1, 1) * args[1].reshape(1, -1)
            case "diag":
                return np.diag(args[0][:, 0]) if 1 in args[0].shape else np.diag(args[0]).reshape(-1, 1)
            case _:
                return _each(SCALAR[fn], *args)


def gradients(
    formula: Formula, sizes: Mapping[str, int], known: Mapping[str, np.ndarray], blocks: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient of a formula by blocks, end to end, and the condition of every entry of it."""
    places = [(name, k) for name in blocks for k in range(known[name].size)]
    with mpmath.workdps(DIGITS):
        plain = Stated(sizes, known)
        plain.value(formula)
        exact = _array([_slope(formula, sizes, known, place, -1) for place in places])
        moved = [[_slope(formula, sizes, known, place, k) for place in places] for k in range(plain.count)]
        condition = sum((abs(_array(row) - exact) / CHANGE for row in moved), _array([mpmath.mpf(0)] * len(places)))
        return exact, condition


def _slope(
    formula: Formula, sizes: Mapping[str, int], known: Mapping[str, np.ndarray], place: tuple[str, int], changed: int
) -> Any:
    name, k = place
    ends: list[Any] = []
    for sign in (1, -1):
        moved = known[name].copy()
        moved.flat[k] += sign * STEP
        ends.append(Stated(sizes, {**known, name: moved}, changed).value(formula)[0, 0])
    return (ends[0] - ends[1]) / (2 * STEP)


def wide(values: Any) -> np.ndarray:
    """Return doubles as an array of numbers of many digits, exactly."""
    return np.vectorize(lambda x: mpmath.mpf(float(x)), otypes=[object])(np.asarray(values, float))


def _array(values: Any) -> np.ndarray:
    return np.array(values, object)


def _each(function: Any, *args: np.ndarray) -> np.ndarray:
    return np.vectorize(function, otypes=[object])(*args)

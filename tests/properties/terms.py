"""Formulas for random documents: their text, their exact value at a point, their derivative.

An evaluator that shares nothing with the compiler: values are rationals where they can be, else balls of 256 bits that
enclose them. What a ball cannot tell (is this zero?) raises `UnknownError`; what has no value raises `UndefinedError`.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from flint import arb, fmpq

BITS = 256
"""The precision of balls that values at a point are computed with, and with no other thing beside them."""

Value = fmpq | arb
Point = Mapping[str, "Value | tuple[fmpq, ...]"]


NO_NUMBER = fmpq(0)


class UndefinedError(Exception):
    """A formula has no real value at a point: log 0, 1/0, the root of a negative number."""


class UnknownError(Exception):
    """A ball does not tell whether a number is zero, or which sign it has."""


@dataclass(frozen=True)
class Term:
    """A node: an operation and its arguments; a name or a number has no arguments."""

    op: str
    args: tuple["Term", ...] = ()
    number: fmpq = NO_NUMBER

    def __add__(self, other: "Term | int") -> "Term":
        return self if (o := term(other)) == ZERO else o if self == ZERO else Term("+", (self, o))

    def __sub__(self, other: "Term | int") -> "Term":
        return self + (-term(other))

    def __neg__(self) -> "Term":
        return self if self == ZERO else Term("neg", (self,))

    def __mul__(self, other: "Term | int") -> "Term":
        o = term(other)
        if ZERO in (self, o):
            return ZERO
        return o if self == ONE else self if o == ONE else Term("*", (self, o))

    def __truediv__(self, other: "Term | int") -> "Term":
        return Term("/", (self, term(other)))

    def __pow__(self, n: int) -> "Term":
        return Term("**", (self, term(n)))

    def __str__(self) -> str:
        match self.op:
            case "number":
                return f"({self.number})" if self.number < 0 or self.number.q > 1 else str(self.number)
            case "+" | "*" | "/" | "**":
                return f"({self.args[0]} {self.op} {self.args[1]})"
            case "neg":
                return f"(-{self.args[0]})"
            case "where":
                relation, left, right, yes, no = self.args
                return f"where({left} {relation.op} {right}, {yes}, {no})"
            case _:
                return f"{self.op}({', '.join(map(str, self.args))})" if self.args else self.op


def term(x: "Term | int | fmpq") -> Term:
    """Return a number as a term."""
    return x if isinstance(x, Term) else Term("number", number=fmpq(x))


ZERO, ONE = term(0), term(1)


def name(of: str) -> Term:
    """Return a name."""
    return Term(of)


def call(function: str, *args: Term | int) -> Term:
    """Return a function of the language at its arguments."""
    return Term(function, tuple(map(term, args)))


def holds(relation: str, left: Value, right: Value) -> bool:
    """Return whether a comparison holds."""
    s = sign(left - right)
    return {"==": s == 0, "<": s < 0, "<=": s <= 0, ">": s > 0, ">=": s >= 0}[relation]


def sign(x: Value) -> int:
    """Return the sign of a value.

    Raises:
        UnknownError: the ball holds zero and more.
    """
    if isinstance(x, fmpq):
        return (x > 0) - (x < 0)
    if x.is_zero():
        return 0
    if x.contains(0):
        raise UnknownError
    return 1 if x > 0 else -1


def value(t: Term, at: Point) -> Value:
    """Return the value of a term at a point; only the branch that is taken of `where`.

    Raises:
        UndefinedError: there is none.
        UnknownError: the balls are too wide to tell.
    """
    if t.op == "number":
        return t.number
    if t.op == "where":
        relation, left, right, yes, no = t.args
        return value(yes if holds(relation.op, value(left, at), value(right, at)) else no, at)
    if t.op in _OF_VECTORS:
        return _OF_VECTORS[t.op](at[t.args[0].op])
    if not t.args:
        found = _CONSTANTS[t.op]() if t.op in _CONSTANTS else at[t.op]
        assert not isinstance(found, tuple), t.op
        return found
    return _OPERATIONS[t.op](*(value(arg, at) for arg in t.args))


def slope(t: Term, by: str) -> Term:
    """Return the derivative by a scalar name, off the kinks of the term."""
    if t.op == by:
        return ONE
    if not t.args or t.op in _OF_VECTORS:
        return ZERO
    if t.op == "where":
        relation, left, right, yes, no = t.args
        d_yes, d_no = slope(yes, by), slope(no, by)
        return d_yes if d_yes == d_no else Term("where", (relation, left, right, d_yes, d_no))
    if t.op in {"minimum", "maximum"}:
        u, v = t.args
        relation = Term("<=" if t.op == "minimum" else ">=")
        return Term("where", (relation, u, v, slope(u, by), slope(v, by)))
    d = [slope(arg, by) for arg in t.args]
    if all(x == ZERO for x in d):
        return ZERO
    u = t.args[0]
    match t.op:
        case "+":
            return d[0] + d[1]
        case "neg":
            return -d[0]
        case "*":
            return d[0] * t.args[1] + u * d[1]
        case "/":
            v = t.args[1]
            whole = ZERO if d[0] == ZERO else d[0] / v
            return whole if d[1] == ZERO else whole - u * d[1] / v**2
        case "**":
            n = int(t.args[1].number.p)
            return d[0] * n * (u if n == 2 else u ** (n - 1)) if n != 1 else d[0]
        case _:
            return parse(_SLOPES[t.op], u=u) * d[0]


def parse(text: str, **names: Term) -> Term:
    """Return the term of a formula, with terms in the place of names.

    Raises:
        ValueError: something else.
    """
    return _read(_parsed(text), names)


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


_RELATIONS = {ast.Eq: "==", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def _read(node: ast.expr, names: Mapping[str, Term]) -> Term:
    match node:
        case ast.Constant(value=int() as n):
            return term(n)
        case ast.Constant(value=float()):
            return term(fmpq(*Fraction(ast.unparse(node)).as_integer_ratio()))
        case ast.Name(id=id):
            return names.get(id, name(id))
        case ast.UnaryOp(op=ast.USub(), operand=x):
            return -_read(x, names)
        case ast.BinOp(left=a, op=op, right=b):
            x, y = _read(a, names), _read(b, names)
            match op:
                case ast.Add():
                    return x + y
                case ast.Sub():
                    return x - y
                case ast.Mult():
                    return x * y
                case ast.Div():
                    return x / y
            power = value(y, {})
            if power == fmpq(1, 2):
                return call("sqrt", x)
            if isinstance(power, fmpq) and power.q == 1:
                return x ** int(power.p)
        case ast.Call(func=ast.Name(id="where"), args=[ast.Compare(left=a, ops=[op], comparators=[b]), yes, no]):
            return Term("where", (Term(_RELATIONS[type(op)]), *(_read(x, names) for x in (a, b, yes, no))))
        case ast.Call(func=ast.Name(id=function), args=args):
            return call(function, *(_read(x, names) for x in args))
        case _:
            pass
    raise ValueError(ast.unparse(node))


def _over(x: Value, y: Value) -> Value:
    if sign(y) == 0:
        raise UndefinedError
    return x / y


def _power(x: Value, n: fmpq) -> Value:
    k = int(n.p)
    return x**k if k >= 0 else _over(fmpq(1), x**-k)


def _root(x: Value) -> Value:
    if sign(x) < 0:
        raise UndefinedError
    if isinstance(x, fmpq) and x.p.is_square() and x.q.is_square():
        return fmpq(x.p.isqrt(), x.q.isqrt())
    return arb(x).sqrt()


def _logarithm(x: Value) -> Value:
    if sign(x) <= 0:
        raise UndefinedError
    return fmpq(0) if isinstance(x, fmpq) and x == 1 else arb(x).log()


def _smooth(of: Callable[[arb], arb], at_zero: int) -> Callable[[Value], Value]:
    return lambda x: fmpq(at_zero) if isinstance(x, fmpq) and x == 0 else of(arb(x))


_OPERATIONS: dict[str, Callable[..., Value]] = {
    "+": lambda x, y: x + y,
    "*": lambda x, y: x * y,
    "/": _over,
    "**": _power,
    "neg": lambda x: -x,
    "sqrt": _root,
    "log": _logarithm,
    "exp": _smooth(arb.exp, 1),
    "sin": _smooth(arb.sin, 0),
    "cos": _smooth(arb.cos, 1),
    "tanh": _smooth(arb.tanh, 0),
    "atan": _smooth(arb.atan, 0),
    "abs": lambda x: x * sign(x),
    "sign": lambda x: fmpq(sign(x)),
    "minimum": lambda x, y: x if holds("<=", x, y) else y,
    "maximum": lambda x, y: x if holds(">=", x, y) else y,
}
_CONSTANTS: dict[str, Callable[[], Value]] = {"pi": arb.pi}
_OF_VECTORS: dict[str, Callable[..., Value]] = {
    "norm2": lambda v: sum((x * x for x in v), fmpq(0)),
    "sum": lambda v: sum(v, fmpq(0)),
}
_SLOPES = {
    "sqrt": "1/(sqrt(u)*2)",
    "log": "1/u",
    "exp": "exp(u)",
    "sin": "cos(u)",
    "cos": "-sin(u)",
    "tanh": "1 - tanh(u)**2",
    "atan": "1/(u**2 + 1)",
    "abs": "sign(u)",
    "sign": "0",
}

"""Formulas for random documents: their text, their exact value at a point, their derivative.

An evaluator that shares nothing with the compiler: values are rationals where they can be, else balls of 256 bits that
enclose them. What a ball cannot tell (is this zero?) raises `UnknownError`; what has no value raises `UndefinedError`.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import flint

BITS = 256
"""The precision of balls that values at a point are computed with, and with no other thing beside them."""

Value = Fraction | flint.arb
Point = Mapping[str, "Value | tuple[Fraction, ...]"]


class UndefinedError(Exception):
    """A formula has no real value at a point: log 0, 1/0, the root of a negative number."""


class UnknownError(Exception):
    """A ball does not tell whether a number is zero, or which sign it has."""


@dataclass(frozen=True)
class Term:
    """A node: an operation and its arguments; a name or a number has no arguments."""

    op: str
    args: tuple["Term", ...] = ()
    number: Fraction = Fraction(0)

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
                return f"({self.number})" if self.number < 0 or self.number.denominator > 1 else str(self.number)
            case "+" | "*" | "/" | "**":
                return f"({self.args[0]} {self.op} {self.args[1]})"
            case "neg":
                return f"(-{self.args[0]})"
            case "where":
                relation, left, right, yes, no = self.args
                return f"where({left} {relation.op} {right}, {yes}, {no})"
            case _:
                return f"{self.op}({', '.join(map(str, self.args))})" if self.args else self.op


def term(x: "Term | int | Fraction") -> Term:
    """Return a number as a term."""
    return x if isinstance(x, Term) else Term("number", number=Fraction(x))


ZERO, ONE = term(0), term(1)


def name(of: str) -> Term:
    """Return a name."""
    return Term(of)


def call(function: str, *args: Term | int) -> Term:
    """Return a function of the language at its arguments."""
    return Term(function, tuple(map(term, args)))


def where(left: Term | int, relation: str, right: Term | int, yes: Term | int, no: Term | int) -> Term:
    """Return `where(left relation right, yes, no)`."""
    return Term("where", (Term(relation), *map(term, (left, right, yes, no))))


def holds(relation: str, left: Value, right: Value) -> bool:
    """Return whether a comparison holds."""
    s = sign(_plus(left, _times(right, Fraction(-1))))
    return {"==": s == 0, "<": s < 0, "<=": s <= 0, ">": s > 0, ">=": s >= 0}[relation]


def sign(x: Value) -> int:
    """Return the sign of a value.

    Raises:
        UnknownError: the ball holds zero and more.
    """
    if isinstance(x, Fraction):
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
        return where(u, "<=" if t.op == "minimum" else ">=", v, slope(u, by), slope(v, by))
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
            n = int(t.args[1].number)
            return d[0] * n * (u if n == 2 else u ** (n - 1)) if n != 1 else d[0]
        case _:
            return _SLOPES[t.op](u) * d[0]


def parse(text: str) -> Term:
    """Return the term of a number as reports print it: rationals, roots, pi, functions of the language.

    Raises:
        ValueError: something else.
    """
    return _read(ast.parse(text, mode="eval").body)


def _read(node: ast.expr) -> Term:
    match node:
        case ast.Constant(value=int() as n):
            return term(n)
        case ast.Constant(value=float()):
            return term(Fraction(ast.unparse(node)))
        case ast.Name(id=id):
            return name(id)
        case ast.UnaryOp(op=ast.USub(), operand=x):
            return -_read(x)
        case ast.BinOp(left=a, op=ast.Add(), right=b):
            return _read(a) + _read(b)
        case ast.BinOp(left=a, op=ast.Sub(), right=b):
            return _read(a) - _read(b)
        case ast.BinOp(left=a, op=ast.Mult(), right=b):
            return _read(a) * _read(b)
        case ast.BinOp(left=a, op=ast.Div(), right=b):
            return _read(a) / _read(b)
        case ast.BinOp(left=a, op=ast.Pow(), right=b):
            power = value(_read(b), {})
            if power == Fraction(1, 2):
                return call("sqrt", _read(a))
            assert isinstance(power, Fraction)
            if power.denominator == 1:
                return _read(a) ** int(power)
        case ast.Call(func=ast.Name(id=function), args=args):
            return call(function, *map(_read, args))
        case _:
            pass
    raise ValueError(ast.unparse(node))


def _ball(x: Value) -> flint.arb:
    return flint.arb(flint.fmpq(x.numerator, x.denominator)) if isinstance(x, Fraction) else x


def _plus(x: Value, y: Value) -> Value:
    return x + y if isinstance(x, Fraction) and isinstance(y, Fraction) else _ball(x) + _ball(y)


def _times(x: Value, y: Value) -> Value:
    return x * y if isinstance(x, Fraction) and isinstance(y, Fraction) else _ball(x) * _ball(y)


def _over(x: Value, y: Value) -> Value:
    if sign(y) == 0:
        raise UndefinedError
    return x / y if isinstance(x, Fraction) and isinstance(y, Fraction) else _ball(x) / _ball(y)


def _power(x: Value, n: Value) -> Value:
    assert isinstance(n, Fraction)
    k = int(n)
    if k < 0:
        return _over(Fraction(1), _power(x, -n))
    return x**k


def _root(x: Value) -> Value:
    if sign(x) < 0:
        raise UndefinedError
    if isinstance(x, Fraction):
        p, q = flint.fmpz(x.numerator), flint.fmpz(x.denominator)
        if p.is_square() and q.is_square():
            return Fraction(int(p.isqrt()), int(q.isqrt()))
    return _ball(x).sqrt()


def _logarithm(x: Value) -> Value:
    if sign(x) <= 0:
        raise UndefinedError
    return Fraction(0) if x == 1 else _ball(x).log()


def _smooth(of: Callable[[flint.arb], flint.arb], at_zero: int) -> Callable[[Value], Value]:
    return lambda x: Fraction(at_zero) if isinstance(x, Fraction) and x == 0 else of(_ball(x))


_OPERATIONS: dict[str, Callable[..., Value]] = {
    "+": _plus,
    "*": _times,
    "/": _over,
    "**": _power,
    "neg": lambda x: _times(x, Fraction(-1)),
    "sqrt": _root,
    "log": _logarithm,
    "exp": _smooth(flint.arb.exp, 1),
    "sin": _smooth(flint.arb.sin, 0),
    "cos": _smooth(flint.arb.cos, 1),
    "tanh": _smooth(flint.arb.tanh, 0),
    "atan": _smooth(flint.arb.atan, 0),
    "abs": lambda x: _times(x, Fraction(sign(x))),
    "sign": lambda x: Fraction(sign(x)),
    "minimum": lambda x, y: x if holds("<=", x, y) else y,
    "maximum": lambda x, y: x if holds(">=", x, y) else y,
}
_CONSTANTS: dict[str, Callable[[], Value]] = {"pi": flint.arb.pi}
_OF_VECTORS: dict[str, Callable[..., Value]] = {
    "norm2": lambda v: sum((x * x for x in v), Fraction(0)),
    "sum": lambda v: sum(v, Fraction(0)),
}
_SLOPES: dict[str, Callable[[Term], Term]] = {
    "sqrt": lambda u: ONE / (call("sqrt", u) * 2),
    "log": lambda u: ONE / u,
    "exp": lambda u: call("exp", u),
    "sin": lambda u: call("cos", u),
    "cos": lambda u: -call("sin", u),
    "tanh": lambda u: ONE - call("tanh", u) ** 2,
    "atan": lambda u: ONE / (u**2 + 1),
    "abs": lambda u: call("sign", u),
    "sign": lambda u: ZERO,
}

"""Typed formulas as text, in the language they are written in: reading the text again gives the same formula.

The same up to where signs and parentheses stand in a product (`-x*y` is read as `(-x)*y`), and where the place of the
formula says its shape (`0`, `I` and `ones` do not).
"""

from fractions import Fraction

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.latex import latex

__all__ = ["latex", "text", "unsigned"]

_SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(5)


def text(formula: Formula) -> str:
    """Return a formula in the spec language."""
    if isinstance(formula, ex.Compare):
        return f"{text(formula.left)} {formula.op} {text(formula.right)}"
    return _write(formula, _SUM)


def unsigned(term: Formula) -> Formula | None:
    """Return `-term` where `term` starts with a minus sign, else None."""
    match term:
        case ex.Number(value) if value < 0:
            return ex.Number(-value)
        case ex.Multiply(ex.Number(value), right) if value == -1:
            return right
        case ex.Multiply(left, right, shape):
            inner = unsigned(left)
            return None if inner is None else ex.Multiply(inner, right, shape)
        case ex.MatMul(left, right, shape):
            inner = unsigned(left)
            return None if inner is None else ex.MatMul(inner, right, shape)
        case _:
            return None


def _write(formula: Formula, level: int) -> str:
    """Write a formula where only what binds as tightly as `level` goes without parentheses."""
    written, own = _written(formula)
    return written if own >= level else f"({written})"


def _written(formula: Formula) -> tuple[str, int]:
    match formula:
        case ex.Number(value):
            return _number(value)
        case ex.Add(terms):
            return _sum(terms), _SUM
        case ex.Multiply():
            return _product(formula), _PRODUCT
        case ex.MatMul(ex.Symbol(name, _, ex.Role.INDEX), arg) | ex.MatMul(
            arg, ex.Transpose(ex.Symbol(name, _, ex.Role.INDEX))
        ):
            return f"{_write(arg, _ATOM)}[{name}]", _ATOM
        case ex.MatMul(left, right):
            return f"{_write(left, _PRODUCT)} @ {_write(right, _POWER)}", _PRODUCT
        case ex.Power(base, exponent):
            return f"{_write(base, _ATOM)}**{_write(exponent, _UNARY)}", _POWER
        case ex.Transpose(arg):
            return f"{_write(arg, _ATOM)}.T", _ATOM
        case ex.Entry(arg, at):
            return f"{_write(arg, _ATOM)}[{', '.join(str(k) for k in at)}]", _ATOM
        case ex.Filled(value, shape) if value and shape.rows is None:
            return "ones.T", _ATOM
        case ex.Filled(value, shape) if value and shape.cols is not None:
            return "ones @ ones.T", _PRODUCT
        case _:
            return _atom(formula), _ATOM


def _atom(formula: Formula) -> str:
    match formula:
        case ex.Pi():
            return "pi"
        case ex.Identity():
            return "I"
        case ex.Filled(value):
            return "ones" if value else "0"
        case ex.Symbol(name):
            return name
        case ex.FunctionAt(name, of, _, home):
            return name if home else f"{name}({', '.join(of)})"
        case ex.Apply(fn, (ex.FunctionAt(name), block)) if fn in ex.CALCULUS:
            return f"{fn}({name}, {text(block)})"
        case ex.Apply(fn, args):
            return f"{fn}({', '.join(text(arg) for arg in args)})"
        case ex.Explicit(rows):
            written = ", ".join(f"[{', '.join(map(text, row))}]" for row in rows)
            return f"Matrix([{written}])"
        case ex.Normal(cov):
            return f"N(0, {text(cov)})"
        case ex.Next(block):
            return f"next({block})"
        case ex.GradTilde(function, block):
            return f"grad_tilde({function}, {block})"
        case _:
            return f"({text(formula)})"


def _number(value: Fraction) -> tuple[str, int]:
    if value < 0:
        return str(value), _PRODUCT if value.denominator > 1 else _UNARY
    return str(value), _PRODUCT if value.denominator > 1 else _ATOM


def _sum(terms: tuple[Formula, ...]) -> str:
    written = [_write(terms[0], _PRODUCT)]
    for term in terms[1:]:
        positive = unsigned(term)
        written.append(f"+ {_write(term, _PRODUCT)}" if positive is None else f"- {_write(positive, _PRODUCT)}")
    return " ".join(written)


def _product(formula: ex.Multiply) -> str:
    left, right = formula.left, formula.right
    if isinstance(left, ex.Number) and left.value == -1:
        return f"-{_write(right, _PRODUCT)}"
    before = _write(left, _PRODUCT)
    slash = " / " if "@" in before else "/"
    match right:
        case ex.Power(base, ex.Number(value)) if value == -1:
            return f"{before}{slash}{_write(base, _POWER)}"
        case ex.Number(value) if value.numerator == 1 and value.denominator > 1:
            return f"{before}{slash}{value.denominator}"
        case _:
            return f"{before}*{_write(right, _POWER)}"

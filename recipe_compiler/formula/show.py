"""Typed formulas as text, in the language they are written in: reading the text again gives the same formula.

The same up to where signs and parentheses stand in a product (`-x*y` is read as `(-x)*y`), and where the place of the
formula says its shape (`0`, `I` and `ones` do not).
"""

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.latex import latex
from recipe_compiler.formula.tree import Part, listed

__all__ = ["latex", "text", "unsigned"]


def text(formula: Formula) -> str:
    """Return a formula in the spec language."""
    return f"{_part(formula)}"


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


def _part(formula: Formula) -> Part:
    return Part(formula, _form)


def _form(formula: Formula) -> tuple[str, str]:
    match formula:
        case ex.Number(value):
            return str(value), "product" if value.denominator > 1 else "unary" if value < 0 else "atom"
        case ex.Add(terms):
            return _sum(terms), "sum"
        case ex.Multiply():
            return _product(formula), "product"
        case ex.MatMul(ex.Symbol(name, _, ex.Role.INDEX)):
            return f"{{1:atom}}[{name}]", "atom"
        case ex.MatMul(_, ex.Transpose(ex.Symbol(name, _, ex.Role.INDEX))):
            return f"{{0:atom}}[{name}]", "atom"
        case ex.MatMul():
            return "{:product} @ {:power}", "product"
        case ex.Power():
            return "{:atom}**{:unary}", "power"
        case ex.Transpose():
            return "{:atom}.T", "atom"
        case ex.Entry(_, at):
            return f"{{:atom}}[{', '.join(map(str, at))}]", "atom"
        case ex.Filled(value, shape) if value and shape.cols is not None:
            return ("ones.T", "atom") if shape.rows is None else ("ones @ ones.T", "product")
        case ex.Compare(op):
            return f"{{}} {op} {{}}", "sum"
        case _:
            return _atom(formula), "atom"


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
        case ex.Apply(fn, (ex.FunctionAt(name), _)) if fn in ex.CALCULUS:
            return f"{fn}({name}, {{1}})"
        case ex.Apply(fn, args):
            return f"{fn}({listed(args)})"
        case ex.Explicit(rows):
            return f"Matrix([{', '.join(f'[{listed(row)}]' for row in rows)}])"
        case ex.Normal():
            return "N(0, {})"
        case ex.Next(block):
            return f"next({block})"
        case ex.GradTilde(function, block):
            return f"grad_tilde({function}, {block})"
        case _:
            return text(formula)


def _sum(terms: tuple[Formula, ...]) -> str:
    written = [f"{_part(terms[0]):product}"]
    for term in terms[1:]:
        positive = unsigned(term)
        written.append(f"+ {_part(term):product}" if positive is None else f"- {_part(positive):product}")
    return " ".join(written)


def _product(formula: ex.Multiply) -> str:
    left, right = formula.left, formula.right
    if isinstance(left, ex.Number) and left.value == -1:
        return f"-{_part(right):product}"
    before = f"{_part(left):product}"
    slash = " / " if "@" in before else "/"
    match right:
        case ex.Power(base, ex.Number(value)) if value == -1:
            return f"{before}{slash}{_part(base):power}"
        case ex.Number(value) if value.numerator == 1 and value.denominator > 1:
            return f"{before}{slash}{value.denominator}"
        case _:
            return f"{before}*{_part(right):power}"

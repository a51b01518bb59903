"""Syntax trees as text of the language: reading the text again gives the same tree.

The same up to what text does not say: that `I` or `exp` is the language's, where a document declares that name itself;
and up to the spelling of an explicit matrix, which is read as a call first.
"""

from fractions import Fraction

from recipe_compiler.formula import tree
from recipe_compiler.formula.tree import Tree

_SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(5)

MOST_DIGITS = 20
"""Digits of a number that is written as a decimal; one with more is written as a ratio."""


def written(part: Tree) -> str:
    """Return a formula as a document would hold it: `U(theta) + r.T @ inv(M) @ r / 2`."""
    if isinstance(part, tree.Comparison):
        return f"{written(part.left)} {part.op} {written(part.right)}"
    return _text(part, _SUM)


def _text(part: Tree, level: int) -> str:
    """Write a part where only what binds as tightly as `level` goes without parentheses."""
    text, own = _written(part)
    return text if own >= level else f"({text})"


def _written(part: Tree) -> tuple[str, int]:
    match part:
        case tree.Literal(value):
            return _number(value)
        case tree.Name(name) | tree.Constant(name):
            return name, _ATOM
        case tree.Call("And" | "Or" | "Not" as name, args, language=True):
            return _condition(name, args), _SUM
        case tree.Call(name, args):
            return f"{name}({', '.join(written(arg) for arg in args)})", _ATOM
        case tree.Negate(arg):
            return f"-{_text(arg, _UNARY)}", _UNARY
        case tree.Sum(terms):
            return _sum(terms), _SUM
        case tree.Product(factors, operators):
            return _product(factors, operators), _PRODUCT
        case tree.Power(base, exponent):
            return f"{_text(base, _ATOM)}**{_text(exponent, _UNARY)}", _POWER
        case tree.Transposed(arg):
            return f"{_text(arg, _ATOM)}.T", _ATOM
        case tree.Subscript(arg, positions):
            return f"{_text(arg, _ATOM)}[{', '.join(map(str, positions))}]", _ATOM
        case tree.Group(items):
            inside = ", ".join(written(item) for item in items)
            return f"({inside})" if len(items) > 1 else f"[{inside}]", _ATOM
        case tree.Explicit(rows) if all(len(row) == 1 for row in rows):
            return f"[{', '.join(written(entry) for (entry,) in rows)}]", _ATOM
        case tree.Explicit(rows):
            lists = ", ".join(f"[{', '.join(map(written, row))}]" for row in rows)
            return f"Matrix([{lists}])", _ATOM
        case tree.Sized(name, rows, cols):
            function = {"I": "Identity", "0": "ZeroMatrix", "1": "OneMatrix"}[name]
            sizes = (rows,) if name == "I" else (rows or 1, cols or 1)
            return f"{function}({', '.join(map(str, sizes))})", _ATOM
        case tree.Comparison():
            return written(part), _SUM


def _condition(name: str, args: tuple[Tree, ...]) -> str:
    """Write conditions that are joined, each in parentheses."""
    sides = [f"({written(arg)})" for arg in args]
    return f"~{sides[0]}" if name == "Not" else (" & " if name == "And" else " | ").join(sides)


def _sum(terms: tuple[Tree, ...]) -> str:
    """Write a sum; a sum within it keeps its parentheses, and so does a sign within a difference."""
    text = [_text(terms[0], _PRODUCT)]
    for term in terms[1:]:
        minus = isinstance(term, tree.Negate)
        text.append(f"- {_text(term.arg, _PRODUCT)}" if minus else f"+ {_text(term, _PRODUCT)}")
    return " ".join(text)


def _product(factors: tuple[Tree, ...], operators: tuple[str, ...]) -> str:
    """Write a product: `@` between spaces, and a division of what holds one."""
    text = _text(factors[0], _UNARY)
    for operator, factor in zip(operators, factors[1:], strict=True):
        apart = operator == "@" or (operator == "/" and "@" in text)
        text += f" {operator} {_text(factor, _UNARY)}" if apart else f"{operator}{_text(factor, _UNARY)}"
    return text


def _number(value: Fraction) -> tuple[str, int]:
    """Write a number: as a decimal where that is exact and short, else as a ratio."""
    if value.denominator == 1:
        return str(value), _ATOM
    rest, places = value.denominator, 0
    while rest % 10 == 0 or rest % 2 == 0 or rest % 5 == 0:
        rest //= 10 if rest % 10 == 0 else 2 if rest % 2 == 0 else 5
        places += 1
    digits = str(value.numerator * 10**places // value.denominator)
    if rest > 1 or len(digits) > MOST_DIGITS or places > MOST_DIGITS:
        return f"{value.numerator}/{value.denominator}", _PRODUCT
    digits = digits.rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}", _ATOM

"""Typed formulas as LaTeX, in the letters of the papers."""

import re
from fractions import Fraction

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.operators import OPERATORS
from recipe_compiler.formula.shapes import SCALAR, Size
from recipe_compiler.formula.tree import Part, listed

_GREEK = frozenset({
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu",
    "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta",
    "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
})  # fmt: skip
_RELATIONS = {">": ">", ">=": r"\ge", "<": "<", "<=": r"\le", "==": "="}


def latex(formula: Formula) -> str:
    r"""Return a formula as LaTeX: `\theta` for theta, `\mathrm{...}` for longer names, `\nabla_{\theta}` for grad."""
    return f"{_part(formula)}"


def latex_name(name: str) -> str:
    r"""Return a name as LaTeX, `U(\phi)`; what follows an underscore, and digits at the end, are a subscript."""
    function, _, blocks = name.partition("(")
    if blocks:
        return rf"{latex_name(function)}({', '.join(latex_name(block) for block in blocks[:-1].split(', '))})"
    base, _, below = name.partition("_")
    match = re.fullmatch(r"([A-Za-z]+?)([0-9]+)", base)
    if match and not below:
        base, below = match.groups()
    letter = base if len(base) == 1 else rf"\{base}" if base in _GREEK else rf"\mathrm{{{base}}}"
    if base == "eps":
        letter = r"\epsilon"
    inside = below.replace("_", r"\_")
    return letter if not below else rf"{letter}_{{{inside if len(below) == 1 or below.isdigit() else _roman(below)}}}"


def _roman(below: str) -> str:
    return rf"\{below}" if below in _GREEK else r"\mathrm{" + below.replace("_", r"\_") + "}"


def _part(formula: Formula) -> Part:
    return Part(formula, _form, r"\left({}\right)")


def _form(formula: Formula) -> tuple[str, str]:
    match formula:
        case ex.Number(value):
            return _number(value)
        case ex.Pi():
            return r"\pi", "atom"
        case ex.Symbol(name):
            return latex_name(name), "atom"
        case ex.FunctionAt(_, of):
            return f"{latex_name(formula.declared)}({', '.join(latex_name(block) for block in of)})", "atom"
        case ex.Identity(size):
            return f"I_{{{_size(size)}}}", "atom"
        case ex.Filled(value):
            return r"\mathbf{1}" if value else "0", "atom"
        case ex.Add(terms):
            return _fixed(_sum(terms)), "sum"
        case ex.Multiply():
            return _fixed(_product(formula)), "product"
        case ex.MatMul(left, right):
            return _fixed(f"{_part(left):product} {_following(right)}"), "product"
        case ex.Power():
            return "{{{:atom}}}^{{{}}}", "power"
        case ex.Transpose():
            return r"{{{:atom}}}^\top", "power"
        case ex.Entry(_, at):
            return f"{{{{{{:atom}}}}}}_{{{{{','.join(map(str, at))}}}}}", "power"
        case ex.Explicit(rows):
            lines = r" \\ ".join(" & ".join(["{}"] * len(row)) for row in rows)
            return rf"\begin{{{{pmatrix}}}} {lines} \end{{{{pmatrix}}}}", "atom"
        case ex.Compare(op):
            return f"{{}} {_RELATIONS[op]} {{}}", "sum"
        case ex.Normal():
            return r"\mathcal{{N}}\left(0, {}\right)", "atom"
        case ex.Next(block):
            return f"{latex_name(block)}'", "power"
        case ex.GradTilde(function, block):
            return rf"\nabla_{{{latex_name(block)}}} \tilde{{{latex_name(function)}}}", "product"
        case ex.Apply(fn, args):
            return _call(fn, args)


def _call(fn: str, args: tuple[Formula, ...]) -> tuple[str, str]:
    if fn in FUNCTIONS:
        return _fixed(FUNCTIONS[fn].latex_of(latex(args[0]))), "atom"
    row = OPERATORS[fn]
    return row.latex or rf"\operatorname{{{{{fn}}}}}\left({listed(args)}\right)", row.binds


def _fixed(written: str) -> str:
    """Return a format string that says no more than a text."""
    return written.replace("{", "{{").replace("}", "}}")


def _size(size: Size) -> str:
    return r" \cdot ".join(latex_name(factor) if factor[0].isalpha() else factor for factor in str(size).split("*"))


def _number(value: Fraction) -> tuple[str, str]:
    sign = "-" if value < 0 else ""
    if value.denominator == 1:
        return str(value), "sum" if sign else "atom"
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", "sum" if sign else "product"


def _sum(terms: tuple[Formula, ...]) -> str:
    written = ""
    for term in terms:
        one = f"{_part(term):product}" if isinstance(term, ex.Add) else latex(term)
        written += one if not written else f" - {one[1:].lstrip()}" if one.startswith("-") else f" + {one}"
    return written


def _product(formula: ex.Multiply) -> str:
    left, right = formula.left, formula.right
    if isinstance(left, ex.Number) and left.value == -1:
        return f"-{_part(right):product}"
    match right:
        case ex.Power(base, ex.Number(value)) if value == -1 and base.shape == SCALAR:
            return rf"\frac{{{latex(left)}}}{{{latex(base)}}}"
        case ex.Number(value) if value.denominator > 1 and value > 0:
            written = f"{_part(left):product}"
            sign = "-" if written.startswith("-") else ""
            return f"{sign}{_number(value)[0]} {written.removeprefix('-')}"
        case _:
            pass
    if SCALAR in (left.shape, right.shape):
        dot = r" \cdot " if isinstance(right, ex.Number) else " "
        return f"{_part(left):product}{dot}{_following(right)}"
    return rf"{_part(left):product} \odot {_following(right)}"


def _following(factor: Formula) -> str:
    """Write a factor behind another, where a sign at its start would be that of a difference."""
    written = f"{_part(factor):product}"
    return rf"\left({written}\right)" if written.startswith("-") else written

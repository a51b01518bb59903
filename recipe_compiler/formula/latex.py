"""Typed formulas as LaTeX, in the letters of the papers."""

import re
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.operators import OPERATORS
from recipe_compiler.formula.shapes import SCALAR, Size

_GREEK = frozenset({
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu",
    "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta",
    "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
})  # fmt: skip
_RELATIONS = {">": ">", ">=": r"\ge", "<": "<", "<=": r"\le", "==": "="}
_SUM, _PRODUCT, _POWER, _ATOM = range(4)
_LEVELS = {"": _SUM, "sum": _SUM, "product": _PRODUCT, "power": _POWER, "atom": _ATOM}


@dataclass(frozen=True, slots=True)
class _Argument:
    """An argument in a row's LaTeX: in `{0:power}`, what binds less tightly than a power stands in parentheses."""

    formula: Formula

    def __format__(self, level: str) -> str:
        return _write(self.formula, _LEVELS[level])


def latex(formula: Formula) -> str:
    r"""Return a formula as LaTeX: `\theta` for theta, `\mathrm{...}` for longer names, `\nabla_{\theta}` for grad."""
    return _write(formula, _SUM)


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


def _write(formula: Formula, level: int) -> str:
    written, own = _written(formula)
    return written if own >= level else rf"\left({written}\right)"


def _written(formula: Formula) -> tuple[str, int]:
    match formula:
        case ex.Number(value):
            return _number(value)
        case ex.Pi():
            return r"\pi", _ATOM
        case ex.Symbol(name):
            return latex_name(name), _ATOM
        case ex.FunctionAt(_, of):
            return f"{latex_name(formula.declared)}({', '.join(latex_name(block) for block in of)})", _ATOM
        case ex.Identity(size):
            return f"I_{{{_size(size)}}}", _ATOM
        case ex.Filled(value):
            return r"\mathbf{1}" if value else "0", _ATOM
        case ex.Add(terms):
            return _sum(terms), _SUM
        case ex.Multiply():
            return _product(formula), _PRODUCT
        case ex.MatMul(left, right):
            return f"{_write(left, _PRODUCT)} {_following(right)}", _PRODUCT
        case ex.Power(base, exponent):
            return f"{{{_write(base, _ATOM)}}}^{{{latex(exponent)}}}", _POWER
        case ex.Transpose(arg):
            return f"{{{_write(arg, _ATOM)}}}^\\top", _POWER
        case ex.Entry(arg, at):
            return f"{{{_write(arg, _ATOM)}}}_{{{','.join(str(k) for k in at)}}}", _POWER
        case ex.Explicit(rows):
            written = r" \\ ".join(" & ".join(map(latex, row)) for row in rows)
            return rf"\begin{{pmatrix}} {written} \end{{pmatrix}}", _ATOM
        case ex.Compare(op, left, right):
            return f"{latex(left)} {_RELATIONS[op]} {latex(right)}", _SUM
        case ex.Normal(cov):
            return rf"\mathcal{{N}}\left(0, {latex(cov)}\right)", _ATOM
        case ex.Next(block):
            return f"{latex_name(block)}'", _POWER
        case ex.GradTilde(function, block):
            return rf"\nabla_{{{latex_name(block)}}} \tilde{{{latex_name(function)}}}", _PRODUCT
        case ex.Apply(fn, args):
            return _apply(fn, args)


def _size(size: Size) -> str:
    return r" \cdot ".join(latex_name(factor) if factor[0].isalpha() else factor for factor in str(size).split("*"))


def _number(value: Fraction) -> tuple[str, int]:
    sign = "-" if value < 0 else ""
    if value.denominator == 1:
        return str(value), _SUM if sign else _ATOM
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", _SUM if sign else _PRODUCT


def _sum(terms: tuple[Formula, ...]) -> str:
    written = ""
    for term in terms:
        one = _write(term, _PRODUCT) if isinstance(term, ex.Add) else latex(term)
        written += one if not written else f" - {one[1:].lstrip()}" if one.startswith("-") else f" + {one}"
    return written


def _product(formula: ex.Multiply) -> str:
    left, right = formula.left, formula.right
    if isinstance(left, ex.Number) and left.value == -1:
        return f"-{_write(right, _PRODUCT)}"
    match right:
        case ex.Power(base, ex.Number(value)) if value == -1 and base.shape == SCALAR:
            return rf"\frac{{{latex(left)}}}{{{latex(base)}}}"
        case ex.Number(value) if value.denominator > 1 and value > 0:
            written = _write(left, _PRODUCT)
            sign = "-" if written.startswith("-") else ""
            return f"{sign}{_number(value)[0]} {written.removeprefix('-')}"
        case _:
            pass
    if SCALAR in (left.shape, right.shape):
        dot = r" \cdot " if isinstance(right, ex.Number) else " "
        return f"{_write(left, _PRODUCT)}{dot}{_following(right)}"
    return rf"{_write(left, _PRODUCT)} \odot {_following(right)}"


def _following(factor: Formula) -> str:
    """Write a factor behind another, where a sign at its start would be that of a difference."""
    written = _write(factor, _PRODUCT)
    return rf"\left({written}\right)" if written.startswith("-") else written


def _apply(fn: str, args: tuple[Formula, ...]) -> tuple[str, int]:
    if fn in FUNCTIONS:
        return FUNCTIONS[fn].latex_of(latex(args[0])), _ATOM
    row = OPERATORS[fn]
    if row.latex:
        return row.latex.format(*map(_Argument, args)), _LEVELS[row.binds]
    return rf"\operatorname{{{fn}}}\left({', '.join(map(latex, args))}\right)", _ATOM

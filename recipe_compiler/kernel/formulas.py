"""The language of formulas in documents: its functions, and their SymPy spellings."""

import ast
import functools
import itertools
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from . import limits
from .field import (
    Array,
    Field,
    Poly,
    UnreadError,
    array,
    characteristic,
    cholesky,
    constant,
    diagonal,
    inverse,
    product,
    require,
)

Json = dict[str, Any]
CALCULUS = ("grad", "div", "hessian", "Derivative", "diff")
DECIMAL = re.compile(r"(?<![\w.])(\d*\.\d+|\d+\.?(?=[eE]))([eE][+-]?\d{1,3})?\b")
OPERATORS: dict[str, Callable[[Field, Array, Array], Array]] = {
    "Add": lambda f, A, B: A + B,
    "Sub": lambda f, A, B: A - B,
    "Mult": lambda f, A, B: product(A, B, np.multiply),
    "Div": lambda f, A, B: A * np.frompyfunc(lambda x: f.power(x, constant(-1)), 1, 1)(B),
    "Pow": lambda f, A, B: np.frompyfunc(f.power, 2, 1)(A, B),
    "MatMult": lambda f, A, B: product(A, B),
}


def binomial(f: Field, n: Poly, k: Poly) -> Poly:
    """Return a binomial: a polynomial in n of a whole number k, else by gamma functions."""
    if k.is_constant() and f.value(k) in range(limits.ROOT):
        return math.prod(((n - i) / (i + 1) for i in range(f.whole(k))), start=constant(1))
    log = [f.of("polygamma 0", x + 1) for x in (n, k, n - k)]
    return f.of("exp", log[0] - log[1] - log[2])


SIDES: dict[Any, set[int]] = {
    ast.Gt: {1},
    ast.GtE: {0, 1},
    ast.Lt: {-1},
    ast.LtE: {-1, 0},
    ast.Eq: {0},
    ast.NotEq: {-1, 1},
}
APPLIED = ("exp", "log", "sin", "cos", "atan", "asinh", "erf", "gamma")
SCALAR: dict[str, Callable[[Field, Poly], Poly]] = {
    **{name: lambda f, u, name=name: f.of(name, u) for name in APPLIED},
    "loggamma": lambda f, u: f.of("polygamma 0", u),
    "digamma": lambda f, u: f.of("polygamma 1", u),
    "trigamma": lambda f, u: f.of("polygamma 2", u),
    "sign": lambda f, u: constant(f.side(u)),
    "abs": lambda f, u: u * f.side(u),
}
MATRIX: dict[str, Callable[[Field, Array], Any]] = {
    **{name: lambda f, A, of=of: np.frompyfunc(lambda u: of(f, u), 1, 1)(A) for name, of in SCALAR.items()},
    "inv": lambda f, A: inverse(f, A)[0],
    "cholesky": cholesky,
    "det": lambda f, A: characteristic(A)[1][-1],
    "sum": lambda f, A: sum(A.flat, constant(0)),
    "trace": lambda f, A: sum(np.diag(A), constant(0)),
    "diag": lambda f, A: diagonal(A.flat),
}
PAIRS: dict[str, Callable[[Field, Array, Array], Any]] = {
    "kron": lambda f, A, B: array(np.kron(A, B)),
    "binomial": lambda f, n, k: binomial(f, n.item(), k.item()),
    "polygamma": lambda f, n, x: SCALAR[{0: "digamma", 1: "trigamma"}[f.whole(n.item())]](f, x.item()),
}
TABLES: dict[int, dict[str, Callable[..., Any]]] = {1: MATRIX, 2: PAIRS}
MEANT = """
sqrt(x): _x**(1/2); cbrt(x): _x**(1/3); root(x, y): _x**(1/_y); Pow(x, y): _x**_y; HadamardPower(x, y): _x**_y
ln(x): log(_x); log(x, y): log(_x)/log(_y); log1p(x): log(_x + 1); expm1(x): exp(_x) - 1; exprel(x): (exp(_x) - 1)/_x
sqrtcoth(x): where(_x == 0, 1, where(_x > 0, sqrt(abs(_x))/tanh(sqrt(abs(_x))), sqrt(abs(_x))/tan(sqrt(abs(_x)))))
sigmoid(x): 1/(exp(-_x) + 1); softplus(x): log(exp(_x) + 1); logsumexp(x): log(sum(exp(_x))); reciprocal(x): 1/_x
softmax(x): exp(_x)/sum(exp(_x))
ndtr(x): (1 + erf(_x/sqrt(2)))/2; log_ndtr(x): log(ndtr(_x)); inverse_mills(x): exp(-_x**2/2)/(sqrt(2*pi)*ndtr(_x))
erfc(x): 1 - erf(_x); gp_exp_quad_cov(x, y, z): _y**2*exp(-(_x @ exp(0*_x).T - exp(0*_x) @ _x.T)**2/(2*_z**2))
cosh(x): (exp(_x) + exp(-_x))/2; sinh(x): (exp(_x) - exp(-_x))/2; tanh(x): 1 - 2/(exp(2*_x) + 1)
sec(x): 1/cos(_x); tan(x): sin(_x)/cos(_x); csc(x): 1/sin(_x); cot(x): cos(_x)/sin(_x); acot(x): atan(1/_x)
asin(x): 2*atan(_x/(1 + sqrt(1 - _x**2))); acos(x): pi/2 - 2*atan(_x/(1 + sqrt(1 - _x**2)))
sech(x): 1/cosh(_x); csch(x): 1/sinh(_x); coth(x): 1/tanh(_x); acsch(x): asinh(1/_x)
acosh(x): log(_x + sqrt(_x - 1)*sqrt(_x + 1)); asech(x): log(1/_x + sqrt(1/_x - 1)*sqrt(1/_x + 1))
atanh(x): (log1p(_x) - log1p(-_x))/2; acoth(x): (log1p(1/_x) - log1p(-1/_x))/2
minimum(x, y): (_x + _y - abs(_x - _y))/2; maximum(x, y): (_x + _y + abs(_x - _y))/2; Abs(x): abs(_x)
Heaviside(x): (1 + sign(_x))/2; Heaviside(x, y): where(_x == 0, _y, (1 + sign(_x))/2)
factorial(x): gamma(_x + 1); beta(x, y): exp(loggamma(_x) + loggamma(_y) - loggamma(_x + _y))
norm2(x): sum(_x*_x); dot(x, y): sum(_x*_y); outer(x, y): _x @ _y.T; logdet(x): log(det(_x))
Transpose(x): _x.T; Inverse(x): inv(_x); Trace(x): trace(_x); Determinant(x): det(_x); DiagMatrix(x): diag(_x)
DotProduct(x, y): dot(_x, _y); solve_triangular(x, y): inv(_x) @ _y
S(x): _x; Float(x): _x; Rational(x): _x; Rational(x, y): _x/_y
HadamardProduct(x, y): _x*_y; Max(x, y): maximum(_x, _y)
Min(x, y): minimum(_x, _y); KroneckerProduct(x, y): kron(_x, _y)
E: exp(1); EulerGamma: -digamma(1); GoldenRatio: (1 + sqrt(5))/2
"""
"""Functions by others, and what SymPy prints; what has arguments of any number is `translate_sympy` below."""
MEANINGS = {x: ast.parse(meaning, mode="eval").body for x, meaning in re.findall(r"\s*([^;\n]+?): ([^;\n]+)", MEANT)}
JOINED = ("HadamardProduct", "Max", "Min", "KroneckerProduct")
RELATIONS: dict[str, type] = {"Eq": ast.Eq, "Gt": ast.Gt, "Ge": ast.GtE, "Lt": ast.Lt, "Le": ast.LtE, "Ne": ast.NotEq}


def make_call(name: str, *args: ast.expr) -> ast.expr:
    """Return the syntax tree of a call."""
    return ast.Call(ast.Name(name), [*args], [])


def translate_sympy(name: str, args: list[Any]) -> Any:
    """Return a call as SymPy prints it, rewritten in the language's functions; None if no rule applies."""
    match name, args:
        case "Derivative" | "diff", [found, _, *_]:
            for by in args[1:]:
                variable, times = by.elts if isinstance(by, ast.Tuple) and len(by.elts) == 2 else (by, ast.Constant(1))
                times, block = getattr(times, "value", 0), getattr(variable, "value", variable)
                if times not in range(1, limits.ROOT) or not isinstance(block, ast.Name):
                    return None
                for _ in range(times):
                    found = make_call("grad", found, block)
                    found = ast.Subscript(found, variable.slice) if isinstance(variable, ast.Subscript) else found
            return found
        case "Matrix", [rows]:
            return rows
        case "Piecewise", [*cases, ast.Tuple([found, ast.Constant(True)])]:
            for case in reversed(cases):
                found = make_call("where", case.elts[1], case.elts[0], found)
            return found
        case _ if name in RELATIONS and len(args) == 2:
            return ast.Compare(args[0], [RELATIONS[name]()], [args[1]])
        case _:
            return None


@functools.lru_cache(maxsize=limits.REMEMBERED)
def parse(text: str) -> Any:
    """Read a formula, whose grammar is a part of that of Python; nothing of it is run."""
    exact = DECIMAL.sub(lambda found: f"({Fraction(found[0])})", " ".join(text.split()))
    deepest = max(itertools.accumulate((c in "([") - (c in ")]") for c in exact), default=0)
    require(len(text) <= limits.CHARACTERS and deepest <= limits.NESTING, "a formula of this size", UnreadError)
    try:
        return ast.parse(exact, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise UnreadError(f"the formula {text[:60]!r}") from None


def is_formula(text: str) -> bool:
    """Whether a text can be read."""
    try:
        return parse(text) is not None
    except UnreadError:
        return False


def listed(one: Any) -> list[Any]:
    """Return a list, of one item if it is none."""
    return one if isinstance(one, list) else [] if one is None else [one]


def declared(document: Json, key: str) -> dict[str, Json]:
    """Return names to what is declared of them, in order and complete; a document holds pairs, or a mapping."""
    given, found = document.get(key) or [], dict[str, Json]()
    for name, entry in given.items() if isinstance(given, dict) else given:
        whole = entry or {}
        domain, _, ends = str(whole.get("constraint") or whole.get("domain", "real")).partition("(")
        found[str(name)] = {
            **whole,
            "is": listed(whole.get("is")),
            "of": listed(whole.get("of")),
            "domain": domain.strip(),
            "shape": [str(s) for s in listed(whole.get("shape")) if str(s) != "scalar"],
            "ends": [ast.unparse(end) for end in parse(f"({ends[:-1]},)").elts] if ends.strip(") ") else [],
        }
    return found


def places(matrix: Any) -> list[list[str]]:
    """Return the places of a block matrix: nested lists, such a list quoted, or a text with a row on each line."""
    if isinstance(matrix, list):
        return [[str(x) for x in row] for row in matrix]
    lines = [line.strip().removesuffix(",") for line in str(matrix).strip().splitlines()]
    whole = parse(lines[0] if len(lines) == 1 else f"[{', '.join(x if x[0] == '[' else f'[{x}]' for x in lines)}]")
    return [[ast.unparse(x) for x in getattr(row, "elts", [row])] for row in getattr(whole, "elts", [whole])]

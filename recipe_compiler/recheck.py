"""Re-check a certificate of `recipe check --certificate` without the compiler: `python recheck.py FILE...`.

This file stands alone (Python, NumPy, python-flint) and believes no word of a certificate. Which claims are applicable
is derived from the document. Witnesses are parsed: constants are constants, functions depend on their own blocks, all
is of its kinds, inside its domain, and meets `assume`. Proofs are tried at exact points, far out along rays, and with
test functions drawn here. A formula is read as a polynomial over Q in coordinates and in functions of polynomials;
slopes follow from the chain rule, values are exact or enclosed in balls. What is not rechecked is *trusted*, and said
to be.
Exit code: 0 all is as stated, 1 something is not, 2 a file cannot be read.
"""

import ast
import dataclasses
import functools
import hashlib
import itertools
import json
import math
import os
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat, fmpq_poly

VERSION, MOST_BYTES, MOST_CHARACTERS, MOST_NESTING, MOST_COORDINATES = 1, 20_000_000, 10_000, 60, 40
MOST_GENERATORS, MOST_EXPONENT, MOST_BITS, MOST_TERMS, MOST_WORK, MOST_ROOT = 160, 1000, 200_000, 20_000, 3_000_000, 12
PRECISIONS, DIGITS = (300, 3000, 12000), 60
"""Bits of balls: the next where a sign is open. What the last does not tell from 0 must be below 10**-DIGITS."""
HARDLY, MOST_PAIRS, MOST_SETTLED, MOST_STEPS, MOST_PAIRS_OF_WAYS = fmpq(1, 1000), 5, 4, 40, 24
FAR = (fmpq(10) ** 5, fmpq(10) ** 12)
MOST_SETTLED_TERMS, MOST_MADE, MOST_LETTERS, MOST_WORD, FEW_TERMS = 60, 9, 1000, 60, 20
LOG_OF_FAR, FAR_ANGLE = (arb(10) ** 7).log(), 10**4
"""Distances at which growth is read, and from where on an angle is a phase."""
STATED = ("diffusion", "drift", "update", "marginal")
CALCULUS, FREE = ("grad", "div", "hessian", "Derivative", "diff"), ("real", "circle")
PD, PSD = "positive definite", "positive semidefinite"
DECIMAL = re.compile(r"(?<![\w.])(\d*\.\d+|\d+\.?(?=[eE]))([eE][+-]?\d{1,3})?\b")
RING = flint.fmpq_mpoly_ctx.get(tuple(f"g{k}" for k in range(MOST_GENERATORS)), flint.Ordering.lex)
Number = fmpq | arb
Terms = list[tuple[fmpq, list[tuple[int, int]]]]
Json = dict[str, Any]
Point = dict[str, str]
Poly = Any
"""A polynomial of python-flint in the generators of `RING`."""
Array = Any
"""A matrix of polynomials; a scalar is 1 x 1, a column n x 1."""
canonical = functools.partial(json.dumps, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


class FailureError(Exception):
    """The certificate, or a finding of it, is not what it says it is."""


class UnreadError(ValueError):
    """This checker cannot evaluate a formula at a point."""


class UndefinedError(UnreadError):
    """A formula has no value at a point."""


class TrustedError(UnreadError):
    """This checker does not look at something, and names it."""


def require(holds: Any, says: str, fault: type[Exception] = FailureError) -> None:
    """Raise a fault unless something holds."""
    if not holds:
        raise fault(says)


def constant(x: Any) -> Poly:
    """Return a constant polynomial."""
    return RING.constant(fmpq(x))


def array(entries: Any) -> Array:
    """Return a matrix of rows, of a column, or of an entry; NumPy would take a polynomial for a list of terms."""
    whole = entries if isinstance(entries, list | np.ndarray) else [entries]
    rows = [list(row) if isinstance(row, list | np.ndarray) else [row] for row in whole]
    require(rows and rows[0] and len({*map(len, rows)}) == 1, "ragged rows", UnreadError)
    require(all(isinstance(x, flint.fmpq_mpoly) for row in rows for x in row), "ragged rows", UnreadError)
    found = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, j in np.ndindex(found.shape):
        found[i, j] = rows[i][j]
    return found


def diagonal(entries: Iterable[Poly]) -> Array:
    """Return a diagonal matrix."""
    x = list(entries)
    return array([[x[i] if i == j else constant(0) for j in range(len(x))] for i in range(len(x))])


def product(A: Array, B: Array, of: Callable[[Array, Array], Array] = np.matmul) -> Array:
    """Return A @ B, or another product, which must not take too long."""
    work = max(map(len, A.flat)) * max(map(len, B.flat)) * max(A.size, B.size)
    require(work <= MOST_WORK, "this many terms", TrustedError)
    return of(A, B)


def characteristic(A: Array) -> tuple[Array, list[Poly]]:
    """Return adjugate and sums of principal minors, the last the determinant, without division (Faddeev, LeVerrier)."""
    require(A.shape[0] == A.shape[1], "a matrix that is not square", UnreadError)
    found, adjugate = [constant(1)], A * 0
    for k in range(1, len(A) + 1):
        adjugate = diagonal([found[-1]] * len(A)) - product(A, adjugate)
        found.append(np.trace(product(A, adjugate)) / k)
    return adjugate, found[1:]


def _powers(x: Poly) -> Terms:
    """Return coefficients, each with the generators beside it and their powers."""
    return [(c, [(k, int(n)) for k, n in enumerate(m) if n]) for m, c in x.terms()]


class Field:
    """Coordinates and functions of them, the generators of polynomials, with slopes, and with values at a point."""

    def __init__(self) -> None:
        """Begin without a generator."""
        self.made: list[tuple[str, Poly]] = []
        self.known: dict[tuple[int, int], Number] = {}
        self.slopes: dict[tuple[int, int], Poly] = {}
        self.known_slopes: dict[tuple[int, int], tuple[Poly, Poly]] = {}
        self.known_terms: dict[int, tuple[Poly, list[int], Terms]] = {}
        self.phases: list[tuple[Poly, int]] = []
        self.exact = self.smooth = True
        self.shift: dict[int, Poly] = {}
        self.far, self.step, self.looks = False, -1, 0

    def coordinate(self, value: Poly) -> int:
        """Return the number of a new coordinate, which has a value."""
        self.made.append(("", value))
        return len(self.made) - 1

    def of(self, name: str, u: Poly) -> Poly:
        """Return a function of a polynomial, which has to have a value."""
        u = self.phase(u) if self.far and name in ("sin", "cos") else u
        found = [k for k, (other, v) in enumerate(self.made) if other == name and v == u]
        if not found:
            require(len(self.made) < MOST_GENERATORS and len(u) <= MOST_TERMS, "this many functions", TrustedError)
            looks = self.looks
            require(name != "inv" or self.sign(u), f"1/({self.value(u)})", UndefinedError)
            require("root" not in name or self.sign(u) >= self.smooth, f"a root of {self.value(u)}", UndefinedError)
            found = [self.coordinate(u)]
            self.made[-1] = (name, u)
            values = (self.value(RING.gen(found[0]), bits) for bits in PRECISIONS)
            require(any(isinstance(x, fmpq) or x.is_finite() for x in values), f"{name}({u})", UndefinedError)
            self.looks = looks  # once: the same function is the same generator elsewhere
        return RING.gen(found[0])

    def phase(self, u: Poly) -> Poly:
        """Return an angle far out as a coordinate of its own, or as a rational multiple of such."""
        value = arb(self.value(u))
        if u.is_constant() or abs(value) < FAR_ANGLE:
            return u
        for v, k in self.phases:
            ratio = u.leading_coefficient() / v.leading_coefficient()
            if u == ratio * v:
                return ratio * RING.gen(k)
        self.phases.append((u, self.coordinate(constant(1))))
        return RING.gen(self.phases[-1][1])

    def value(self, x: Poly, bits: int = PRECISIONS[0]) -> Number:
        """Return the value at the point: exact, or a ball, which is not finite where there is none."""
        if x.is_constant():
            return sum(x.coeffs(), fmpq(0))
        self.looks += 1
        _, used, terms = self._terms(x)
        at = {k: self._generator(k, bits) for k in used}
        exact = {k: v for k, v in at.items() if isinstance(v, fmpq)}
        if not terms and len(exact) == len(at):
            return x(*(at.get(k, 0) for k in range(MOST_GENERATORS)))
        rest = dict[tuple[tuple[int, int], ...], fmpq]()  # what is exact is put in exactly
        known = dict[tuple[int, int], fmpq]()
        for c, powers in terms or _powers(x.subs(exact)):
            balls, inner = list[tuple[int, int]](), c
            for k, n in powers:
                if k not in exact:
                    balls.append((k, n))
                    continue
                if (k, n) not in known:
                    known[k, n] = exact[k] ** n
                inner *= known[k, n]
            m = tuple(balls)
            rest[m] = rest[m] + inner if m in rest else inner
        if len(exact) == len(at):
            return rest[()]
        with flint.ctx.workprec(bits):
            raised = {(k, n): at[k] ** n for k, n in {power for m in rest for power in m}}
            return sum((arb(c) * math.prod(raised[power] for power in m) for m, c in rest.items() if c), arb(0))

    def _terms(self, x: Poly) -> tuple[Poly, list[int], Terms]:
        """Return a polynomial, what is in it, and its terms if they are few; of the same object they are known."""
        if self.known_terms.get(id(x), (None,))[0] is not x:
            used = [k for k, degree in enumerate(x.degrees()) if degree]
            self.known_terms[id(x)] = x, used, _powers(x) if len(x) <= FEW_TERMS else []
        return self.known_terms[id(x)]

    def whole(self, x: Poly) -> int:
        """Return the value at the point, which has to be a whole number."""
        value = self.value(x)
        require(isinstance(value, fmpq) and value.q == 1, f"{x}, which is not an integer", UnreadError)
        return int(str(value))

    def _generator(self, k: int, bits: int) -> Number:
        if (k, bits) not in self.known:
            name, u = self.made[k]
            v = self.value(u, bits)
            if name == "inv" and isinstance(v, fmpq):
                v = 1 / v
            elif name:
                with flint.ctx.workprec(bits):
                    ball = FUNCTIONS[name][0](arb(v))
                whole = ball.unique_fmpz() if ball.is_exact() else None
                v = ball if whole is None else fmpq(whole)
            self.known[k, bits] = v
        return self.known[k, bits]

    def sign(self, x: Poly) -> int:
        """Return a sign at the point: exact of a rational number; a ball that holds 0 is asked again with more bits."""
        values = (self.value(x, bits) for bits in PRECISIONS)
        v = next((v for v in values if isinstance(v, fmpq) or v > 0 or v < 0), None)
        self.exact &= isinstance(v, fmpq)
        ball = arb(self.value(x, PRECISIONS[-1]) if v is None else v)
        require(ball.is_finite(), f"{ball}, which is not finite", UndefinedError)
        require(v is not None or ball.abs_upper() < arb(10) ** -DIGITS, f"the sign of {ball}", UnreadError)
        return 0 if v is None else int(v > 0) - int(v < 0)

    def side(self, x: Poly) -> int:
        """Return the sign near the point; where it changes, what depends on it has a kink and is not read."""
        at = self.sign(x)
        require(at or x.is_constant() or not self.smooth, "a kink", UnreadError)
        return at

    def here(self, A: Array) -> Array:
        """Return a matrix at the point, where its entries are rational there."""
        values = [[(x, self.value(x)) for x in row] for row in A]
        return array([[constant(v) if isinstance(v, fmpq) else x for x, v in row] for row in values])

    def vanish(self, entries: Any) -> bool:
        """Whether all values are zero."""
        return not any(self.sign(x) for x in (entries.flat if isinstance(entries, np.ndarray) else entries))

    def slope(self, x: Poly, i: int) -> Poly:
        """Return the derivative by a coordinate, by the chain rule; of the same object it is known."""
        known, _ = self.known_slopes.get((id(x), i), (None, None))
        if known is not x:
            self.known_slopes[id(x), i] = x, self._slope(x, i)
        return self.known_slopes[id(x), i][1]

    def _slope(self, x: Poly, i: int) -> Poly:
        found: Poly = constant(0)
        for k in [] if x.is_constant() else [k for k, degree in enumerate(x.degrees()) if degree]:
            if (k, i) not in self.slopes:
                name, u = self.made[k]
                inner = self.slope(u, i) if name else constant(int(k == i))
                outer = FUNCTIONS[name][1](self, u, RING.gen(k)) if name and len(inner) else constant(1)
                require(len(outer) * len(inner) <= MOST_WORK, "this many terms", TrustedError)
                self.slopes[k, i] = outer * inner
            if self.slopes[k, i] != 0:
                found += x.derivative(k) * self.slopes[k, i]
        return found

    def gradient(self, x: Poly, over: Iterable[int]) -> list[Poly]:
        """Return the derivatives by coordinates."""
        return [self.slope(x, i) for i in over]

    def div(self, A: Any) -> Any:
        """Return the divergence of every row."""
        rows = [sum((self.slope(x, i) for i, x in enumerate(row)), constant(0)) for row in A]
        return array(rows)

    def power(self, x: Poly, y: Poly) -> Poly:
        """Return x**y; of the step size s**2 every root is a power of s."""
        if not y.is_constant():
            return self.of("exp", y * self.of("log", x))
        q = sum(y.coeffs(), fmpq(0))
        n, root = int(q.floor()), int(q.q)
        terms = math.comb(abs(n) + max(len(x), 1) - 1, abs(n)) if abs(n) <= MOST_EXPONENT else MOST_TERMS
        bits = max((c.height_bits() for c in x.coeffs()), default=0) * abs(n)
        require(max(abs(int(q.p)), root) <= MOST_EXPONENT and bits <= MOST_BITS, f"a power {q}", UnreadError)
        require(terms < MOST_TERMS, f"a power {q}", UnreadError)
        base = x if n >= 0 else constant(1 / self.value(x)) if x.is_constant() and len(x) else self.of("inv", x)
        whole = base ** abs(n)
        if root == 1:
            return whole
        least = min((int(m[self.step]) for m in x.monoms()), default=0) if self.step >= 0 else 0
        if least and (least * q).q == 1:
            s = RING.gen(self.step)
            return s ** int((least * q).p) * self.power(x / s**least, constant(q))
        require(root < MOST_ROOT, f"a power {q}", UnreadError)
        return whole * self.of(f"root {root}", x) ** int((q - n).p)


def log_gamma(n: int, x: arb) -> arb:
    """Return the n-th derivative of log gamma."""
    return flint.arb_series([x, arb(1)], prec=n + 1).lgamma()[n] * math.factorial(n)


FUNCTIONS: dict[str, tuple[Callable[[arb], arb], Callable[[Field, Poly, Poly], Poly]]] = {
    "inv": (lambda x: 1 / x, lambda f, u, t: -t * t),
    "exp": (arb.exp, lambda f, u, t: t),
    "log": (arb.log, lambda f, u, t: f.of("inv", u)),
    "sin": (arb.sin, lambda f, u, t: f.of("cos", u)),
    "cos": (arb.cos, lambda f, u, t: -f.of("sin", u)),
    "tan": (arb.tan, lambda f, u, t: t * t + 1),
    "atan": (arb.atan, lambda f, u, t: f.of("inv", u * u + 1)),
    "asinh": (arb.asinh, lambda f, u, t: f.of("inv", f.of("root 2", u * u + 1))),
    "pi": (lambda _: arb.pi(), lambda f, u, t: constant(0)),
    "erf": (arb.erf, lambda f, u, t: 2 * f.of("exp", -u * u) * f.of("inv", f.of("root 2", f.of("pi", constant(0))))),
    "gamma": (arb.gamma, lambda f, u, t: t * f.of("polygamma 1", u)),
}
for n in range(MOST_ROOT):
    FUNCTIONS[f"root {n}"] = (lambda x, n=n: x.root(n), lambda f, u, t, n=n: t * f.of("inv", u) / n)
    FUNCTIONS[f"polygamma {n}"] = (functools.partial(log_gamma, n), lambda f, u, t, n=n: f.of(f"polygamma {n + 1}", u))
"""Value and slope of each function of u, itself t; `polygamma n` is the n-th derivative of log gamma."""

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
    if k.is_constant() and f.value(k) in range(MOST_ROOT):
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
APPLIED = ("exp", "log", "sin", "cos", "tan", "atan", "asinh", "erf", "gamma")
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
sec(x): 1/cos(_x); csc(x): 1/sin(_x); cot(x): cos(_x)/sin(_x); acot(x): atan(1/_x)
asin(x): 2*atan(_x/(1 + sqrt(1 - _x**2))); acos(x): pi/2 - 2*atan(_x/(1 + sqrt(1 - _x**2)))
sech(x): 1/cosh(_x); csch(x): 1/sinh(_x); coth(x): 1/tanh(_x); acsch(x): asinh(1/_x)
acosh(x): log(_x + sqrt(_x - 1)*sqrt(_x + 1)); asech(x): log(1/_x + sqrt(1/_x - 1)*sqrt(1/_x + 1))
atanh(x): (log1p(_x) - log1p(-_x))/2; acoth(x): (log1p(1/_x) - log1p(-1/_x))/2
minimum(x, y): (_x + _y - abs(_x - _y))/2; maximum(x, y): (_x + _y + abs(_x - _y))/2; Abs(x): abs(_x)
Heaviside(x): (1 + sign(_x))/2; Heaviside(x, y): where(_x == 0, _y, (1 + sign(_x))/2)
factorial(x): gamma(_x + 1); beta(x, y): exp(loggamma(_x) + loggamma(_y) - loggamma(_x + _y))
norm2(x): sum(_x*_x); dot(x, y): sum(_x*_y); outer(x, y): _x @ _y.T; logdet(x): log(det(_x))
Transpose(x): _x.T; Inverse(x): inv(_x); Trace(x): trace(_x); Determinant(x): det(_x); DiagMatrix(x): diag(_x)
DotProduct(x, y): dot(_x, _y); S(x): _x; Integer(x): _x; Float(x): _x; Rational(x): _x; Rational(x, y): _x/_y
Add(x, y): _x + _y; Mul(x, y): _x*_y; HadamardProduct(x, y): _x*_y; Max(x, y): maximum(_x, _y)
Min(x, y): minimum(_x, _y); KroneckerProduct(x, y): kron(_x, _y)
E: exp(1); EulerGamma: -digamma(1); GoldenRatio: (1 + sqrt(5))/2
"""
"""Functions by others, and what SymPy prints; what has arguments of any number is `spelled` below."""
MEANINGS = {x: ast.parse(meaning, mode="eval").body for x, meaning in re.findall(r"\s*([^;\n]+?): ([^;\n]+)", MEANT)}
JOINED = ("Add", "Mul", "HadamardProduct", "Max", "Min", "KroneckerProduct")
RELATIONS: dict[str, type] = {"Eq": ast.Eq, "Gt": ast.Gt, "Ge": ast.GtE, "Lt": ast.Lt, "Le": ast.LtE, "Ne": ast.NotEq}


def called(name: str, *args: ast.expr) -> ast.expr:
    """Return a call in a formula."""
    return ast.Call(ast.Name(name), [*args], [])


def spelled(name: str, args: list[Any]) -> Any:
    """Return what SymPy's spelling of a call means in the language's own functions; None where it is no spelling."""
    match name, args:
        case "logsumexp", [_, _, *_]:
            return called("log", called("Add", *(called("exp", x) for x in args)))
        case "Derivative" | "diff", [found, _, *_]:
            for by in args[1:]:
                variable, times = by.elts if isinstance(by, ast.Tuple) and len(by.elts) == 2 else (by, ast.Constant(1))
                times, block = getattr(times, "value", 0), getattr(variable, "value", variable)
                if times not in range(1, MOST_ROOT) or not isinstance(block, ast.Name):
                    return None
                for _ in range(times):
                    found = called("grad", found, block)
                    found = ast.Subscript(found, variable.slice) if isinstance(variable, ast.Subscript) else found
            return found
        case "Matrix" | "ImmutableMatrix", [rows]:
            return rows
        case "Matrix" | "ImmutableMatrix", [_, ast.Constant(int() as n), ast.List(x)] if n > 0:
            return ast.List([ast.List(x[k : k + n]) for k in range(0, len(x), n)])
        case "diag", [_, _, *_]:
            return ast.List([ast.List([x if x is y else ast.Constant(0) for y in args]) for x in args])
        case "Piecewise", [*cases, ast.Tuple([found, ast.Constant(True)])]:
            for case in reversed(cases):
                found = called("where", case.elts[1], case.elts[0], found)
            return found
        case _ if name in RELATIONS and len(args) == 2:
            return ast.Compare(args[0], [RELATIONS[name]()], [args[1]])
        case _:
            return None


SIGNED = {"positive": {1}, "nonnegative": {0, 1}, "nonzero": {-1, 1}}
KINDS: dict[str, Callable[[Field, Array], bool]] = {
    "real": lambda f, A: True,
    "symmetric": lambda f, A: f.vanish(A - A.T),
    "skew": lambda f, A: f.vanish(A + A.T),
    "diagonal": lambda f, A: f.vanish(A - diagonal(np.diag(A))),
    PD: lambda f, A: f.vanish(A - A.T) and all(f.sign(c) > 0 for c in characteristic(f.here(A))[1]),
    PSD: lambda f, A: f.vanish(A - A.T) and all(f.sign(c) >= 0 for c in characteristic(f.here(A))[1]),
}


def is_of(f: Field, A: Array, kinds: list[str]) -> bool:
    """Whether a matrix is of kinds at the point; signs are those of its entries, of a diagonal one on its diagonal."""
    signs = {f.sign(x) for x in (np.diag(A) if "diagonal" in kinds else A.flat)} if {*kinds} & {*SIGNED} else set[int]()
    return all(signs <= SIGNED[kind] if kind in SIGNED else KINDS[kind](f, A) for kind in kinds)


def inverse(f: Field, A: Array) -> tuple[Array, Poly]:
    """Return inverse and determinant."""
    adjugate, (*_, determinant) = characteristic(A)
    return adjugate * array([f.power(determinant, constant(-1))]), determinant


def is_granted(claim: Json, one: str) -> bool:
    """Whether a claim may rest on something that nothing declares: by itself, or by a claim that it rests on."""
    known = (claim["id"], *RESTS_ON.get(claim["id"], ()))
    shapes = (shape for id_ in known for shape in GRANTED.get(id_, ()))
    return one in claim.get("premises", ()) or any(re.fullmatch(shape, one) for shape in shapes)


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Any:
    """Read a formula, whose grammar is a part of that of Python; nothing of it is run."""
    exact = DECIMAL.sub(lambda found: f"({Fraction(found[0])})", " ".join(text.split()))
    deepest = max(itertools.accumulate((c in "([") - (c in ")]") for c in exact), default=0)
    require(len(text) <= MOST_CHARACTERS and deepest <= MOST_NESTING, "a formula of this size", UnreadError)
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


class Documents:
    """What the documents of a certificate declare and state; a build's with what it binds and gives values."""

    def __init__(self, documents: Json) -> None:
        self.parts = documents
        self.dynamics, self.target, self.build = (documents.get(k) or {} for k in ("dynamics", "target", "build"))
        self.claims, self.bind = self.dynamics.get("claims") or {}, self.build.get("bind") or {}
        self.scheme: Json = documents.get("scheme") or {}
        entry = self.build.get("scheme") or {}
        self.cycle: list[Json] = entry.get("cycle") or []
        worded = (
            m.get("metropolis") or m for m in self.cycle if not {"refresh", "draw", "cir", "involution", "code"} & {*m}
        )
        self.step: Json = next(worded, {}) if self.cycle else entry
        self.flows: Json = self.step.get("flows") or self.scheme.get("flows") or {}
        self.D, self.Q = self.dynamics.get("D") or self.claims.get("diffusion"), self.dynamics.get("Q")
        self.blocks, own, functions = (declared(self.dynamics, key) for key in ("state", "parameters", "functions"))
        self.noise = declared(self.claims, "noise")
        gradients = re.findall(r"grad_tilde\(\w+, (\w+)\)", json.dumps(self.claims.get("update")))
        if gradients and "V" not in {*own, *functions}:  # what nothing is declared of
            shape = self.blocks[gradients[0]]["shape"]
            functions["V"] = {"is": [PSD if shape else "nonnegative"], "of": gradients[:1], "shape": shape * 2}
            functions["V"] |= {"domain": "real", "ends": []}
        self.functions = {name: entry for name, entry in functions.items() if name not in self.bind}
        bound = {name for text in self.bind.values() for name in re.findall(r"\w+", str(text))}
        theirs = {name: x for name, x in declared(self.target, "parameters").items() if name not in own}
        new = {name: x for name, x in declared(self.build, "parameters").items() if name not in theirs}
        self.parameters = {**{name: x for name, x in theirs.items() if name in bound}, **new, **own}
        self.declared = {**self.blocks, **own, **functions, **self.parameters}
        self.assume = [str(text) for text in listed(self.dynamics.get("assume"))]
        merged = {**declared(self.target, "parameters"), **own}
        for name, entry in declared(self.build, "parameters").items():
            merged[name] = {**merged.get(name, {}), **entry}
        told = {name: x.get("value", x.get("default")) for name, x in merged.items() if self.build}
        told = {name: json.dumps(x).replace('"', "") for name, x in told.items() if x and ".npy" not in str(x)}
        self.told, self.values = told, {name: text for name, text in told.items() if name in self.parameters}
        potentials = [name for name, entry in self.functions.items() if entry.get("role") == "potential"]
        self.potential = potentials[0] if potentials else ""
        self.supposed: list[str] = []
        prior = "" if self.target.get("data") or self.target.get("log_likelihood") else self.target.get("log_prior")
        self.energy = self.target.get("potential") or (prior and f"-({prior})")  # U, where no data are of it
        self.own: list[str] = self.functions[self.potential]["of"] if potentials else []

    def resting_on(self, claim: Json) -> "Documents":
        """Return these documents with no more than a claim rests on; what nothing is granted of grows as it likes."""
        own = ("state", "parameters", "functions")
        lists = [declared(part, key) for part in (self.dynamics, self.target) for key in own]
        fields = declared(self.target, "data")
        for entry in fields.values():
            least = min((Fraction(str(x)) for x in listed(entry.get("in"))), default=Fraction(-1))
            entry["is"] += ["nonnegative"] * (least >= 0) + ["positive"] * (least > 0)
        blocks, above = self.counted(fields)
        lists += [declared(self.build, "parameters"), self.noise, self.declared, fields, blocks]
        found, granted = Documents(self.parts), [one for one in claim["given"] if is_granted(claim, one)]
        every = {pair for part in lists for pair in self.facts(part)}
        stated = {*every} if self.build and claim.get("bound") else set[tuple[str, str]]()  # `bindings` has proved it
        sizes = {size for entry in self.declared.values() for size in entry["shape"]}
        page = Page(Documents({}), {})  # at which a value that a build gives is of a kind, or not
        for one in (one for one in claim["given"] if one not in granted and not one.endswith(INSIDE)):
            if re.fullmatch(r"(\w+) >= \d+", one) and one.split()[0] in sizes:
                continue  # a formula reads a position, and has no value at smaller sizes, where nothing is concluded
            read = re.fullmatch(r"(\w+) is ([a-z_ ]+)", one)
            said = {(read[1], kind) for kind in read[2].split(" and ")} if read else set[tuple[str, str]]()
            require(read or is_formula(one), f"the assumption `{one}` is not a formula")
            calls = () if read else (node.func for node in ast.walk(parse(one)) if isinstance(node, ast.Call))
            called = {fn.id for fn in calls if isinstance(fn, ast.Name)}
            compares = not read and isinstance(parse(one), ast.Compare) and self.names(one) - called <= {*self.declared}
            kinds = ["diagonal"] * (bool(read) and f"{read[1]} is diagonal" in claim["given"])  # signs are then of that
            own = {x: page.formula(self.told[x[0]], ("I",)) for x in said if x[0] in self.told}
            told = {x for x, value in own.items() if is_of(page, value, [x[1], *kinds])}
            holds = said <= every | told if read else compares or one in above
            require(holds, f"the document does not state the assumption `{one}`")
            stated |= said
            found.supposed += [] if read or not compares else [one]
        for one in (one for one in granted if re.fullmatch(LAW, one)):  # of a function, never of what is claimed
            words = {*re.findall(r"\w+", one)}
            law = one in claim.get("premises", ())  # which says that there is one
            require(law or (words & {*self.functions} and "H" not in words), f"`{one}` concerns no function")
        author = {*listed(self.target.get("assume")), *listed(self.build.get("assume"))}
        file = str(dict(self.build.get("data") or []).get("file", ""))
        for one in granted:
            read = re.fullmatch(OF_DATA, one)
            require(not read or Path(file).name == read[1], f"`{one}` does not concern data of this build")
            require(not re.fullmatch(BY_AUTHOR, one) or ASSUMED in author, f"no document states `{one}`")
        granted = [one for one in granted if not re.fullmatch("|".join((OF_DATA, BY_AUTHOR, *BY_CODE)), one)]
        W = str(claim["data"].get("W", ""))  # which grows where what it is made of is bounded below
        lyapunov = {*re.findall(r"\w+", W)} | (self.names(self.dynamics.get("H")) if re.search(r"\bH\b", W) else set())
        for name, entry in found.declared.items():
            entry["is"] = [kind for kind in WEAKER if (name, kind) in stated]
            about = [one for one in granted if re.search(rf"\b{name}\b", one)]
            laws, bounds = (list(filter(None, (re.fullmatch(x, y) for y in about))) for x in (LAW, BOUND))
            entry |= {"law": laws[0][1]} if laws else {}
            entry |= {"bound": bounds[0][3]} if bounds and bounds[0][1] == name else {}
            entry["periodic"] = [one.split()[-1] for one in about if " is periodic in " in one]
            entry["nonsingular"] = f"{name} is nonsingular" in about
            energy = name in lyapunov and not entry["shape"] and not entry["is"]
            held = [one for one in about if not (energy and re.fullmatch(CONTAINED[1], one))]
            entry["wild"] = not held and not (self.build and name == self.potential)
            entry["rough"] = energy and len(held) == len(about) and not entry["wild"] and not self.build
        return found

    def counted(self, fields: dict[str, Json]) -> tuple[dict[str, Json], set[str]]:
        """Return blocks of the target, and what is at most what; fields that are counts, or ends, are so called."""
        blocks, above, other = declared(self.target, "state"), set[str](), {"is": list[str]()}
        pairs = [(name, x["ends"]) for name, x in blocks.items() if x["domain"] == "counts"]
        for entry in blocks.values():
            entry["is"] += [entry["domain"], *(["integer", "nonnegative"] if entry["domain"] == "counts" else [])]
        for node in self.nodes([self.target.get(key) for key in ("log_prior", "log_likelihood", "potential")]):
            match node:
                case ast.Call(ast.Name(law), [of, *others]) if law in OF_COUNTS.split():
                    ends = [ast.unparse(n) for n in others[:1] if law.startswith("binomial")]
                    pairs.append((ast.unparse(of), ends))
                case _:
                    pass
        for name, ends in pairs:
            above |= {f"{name} <= {end}" for end in ends}
            for one in (name, *ends):
                fields.get(one, other)["is"] += ["nonnegative", *(["integer"] if one == name or name in blocks else [])]
        return blocks, above

    def on_trust(self, claim: Json) -> None:
        """Require that what is proved of a cycle with code says so of each, and of no other code."""
        names = [str(move["code"]) for move in self.cycle if "code" in move]  # my_moves.py:swap
        found = [(read[1], read.re.groups) for x in BY_CODE for one in claim["given"] if (read := re.fullmatch(x, one))]
        require({name for name, _ in found} <= {*names}, f"{claim['id']} depends on code outside the cycle")
        kept = {name for name, groups in found if groups == 1}
        lacking = [name for name in names if name not in kept]
        says = f"{claim['id']} omits that it depends on the code of {', '.join(lacking)}"
        require(claim["id"] not in ("code", "cycle", "exact", "irreducible") or not lacking, says)

    def facts(self, entries: dict[str, Json]) -> Iterator[tuple[str, str]]:
        """Yield names with each of their kinds, and those that these include."""
        for name, entry in entries.items():
            for kind in (*entry["is"], "smooth"):
                yield from ((name, one) for one in (kind, *WEAKER.get(kind, ())))

    def nodes(self, stated: Any) -> Iterator[ast.AST]:
        """Yield the nodes of the trees of formulas, parents first."""
        if isinstance(stated, list | tuple | dict):
            for one in stated.values() if isinstance(stated, dict) else stated:
                yield from self.nodes(one)
        elif stated is not None:
            yield from ast.walk(parse(str(stated)))

    def names(self, *stated: Any) -> set[str]:
        """Return the names in formulas, and in what is bound to them; not those that only say what a call is of."""
        found, texts, of = set[str](), [*stated], set[int]()
        while texts:
            new = set[str]()
            for node in self.nodes(texts):
                match node:
                    case ast.Call(ast.Name(name), args):
                        of |= {id(x) for x in args[0 if name in self.declared else 1 if name in CALCULUS else 99 :]}
                    case ast.Name(name) if id(node) not in of:
                        new.add(name)
                    case _:
                        pass
            texts = [self.bind[name] for name in new - found if name in self.bind]
            found |= new
        return found

    def moves(self, *stated: Any) -> bool:
        """Whether formulas depend on the state."""
        return bool(self.names(*stated) & {*self.blocks, *self.functions})

    def applicable(self) -> list[tuple[str, str]]:
        """Return part and id of every claim that is applicable to these documents, in order."""
        claims, marginal = self.claims, self.claims.get("marginal") or {}
        laws = [ast.dump(parse(text)) for text in (self.potential or "0", f"{self.potential}({', '.join(self.own)})")]
        other = [name for name, x in marginal.items() if name in self.own and ast.dump(parse(str(x))) not in laws]
        kinds = {*self.functions.get(self.potential, {}).get("is", [])} - {"real"}
        facts = {"": True, "D": self.D, "Q": self.Q, "-Q": not self.Q, "marginal": marginal, "alone": not self.build}
        facts |= {"drift": claims.get("drift"), "update": claims.get("update"), "code": self.target.get("gradient")}
        facts["diffusions"] = self.dynamics.get("D") and claims.get("diffusion")
        facts |= {"auxiliary": self.own and {*self.blocks} - {*self.own} and not other, "formula": not facts["code"]}
        domains, theirs = ({x["domain"] for x in declared(y, "state").values()} for y in (self.dynamics, self.target))
        facts |= {"circle": "circle" in domains, "circles": "circle" in theirs}
        facts |= {key: self.target.get(key) for key in ("laws", "recursion")}
        sets = [str(entry.get("constraint", "")) for entry in declared(self.target, "state").values()]
        facts["sets"] = [one for one in sets if one and one != "positive" and not one.startswith("interval")]
        facts |= {"f": self.Q or claims.get("drift"), "estimate": "grad_tilde" in self.names(claims.get("update"))}
        lacking = self.D and facts["drift"] and not self.Q
        facts["varies"] = self.moves(self.D, self.dynamics.get("D"), self.Q) or lacking
        facts["face"] = domains - {*FREE} or self.moves(self.assume)
        facts["units"] = self.dynamics.get("units") and not self.bind
        word = self.scheme.get("claims") or {}
        stated = ("order", "palindrome", "gradients", "configurational")
        facts |= {key: word.get(key) not in (None, "", "false") for key in stated}
        facts |= {"full": self.build.get("variant") == "full", "use": self.parts.get("use")}
        facts["word"] = self.step and self.step.get("name") not in EULER
        facts |= {"cycle": self.cycle, "-cycle": not self.cycle, "step": self.step or not self.cycle}
        facts |= {k: any(k in m for m in self.cycle) for k in ("refresh", "draw", "cir", "involution", "metropolis")}
        facts["coded"] = any("code" in m for m in self.cycle)
        facts["follows"] = facts["step"] and not facts["metropolis"]
        states = (x["ends"] for y in (self.dynamics, self.target) for x in declared(y, "state").values())
        named = any(isinstance(x, ast.Name) for x in self.nodes([ends for ends in states if ends[1:]]))  # then a < b
        facts["assumes"] = self.assume or {*listed(self.target.get("assume"))} - {ASSUMED} or kinds or named
        rows = [(part, *row.split(":")) for part in ASKED if self.parts.get(part) for row in ASKED[part].split()]
        return [(part, id_) for part, id_, needs in rows if all(facts[need] for need in needs.split(","))]

    def sizes(self, *, every: bool) -> list[dict[str, int]]:
        """Return three sizes with all positions that formulas name; those that a build gives, unless for every size."""
        entries = [*self.declared.values(), *self.noise.values()]
        names = sorted({s for entry in entries for s in entry["shape"] if not s.isdigit()})
        known = {name: int(n) for name, n in (self.build.get("sizes") or {}).items() if name in names and not every}
        for name, text in self.values.items():
            shape = np.array(json.loads(re.sub(r"[^][, ]+", "0", text))).shape
            known |= dict(zip(self.parameters[name]["shape"], shape, strict=False))
        stated = [self.dynamics.get(key) for key in ("H", "D", "Q", "assume")], [self.claims.get(key) for key in STATED]
        places = (one.slice for one in self.nodes([stated, self.bind]) if isinstance(one, ast.Subscript))
        walked = (x for place in places for x in ast.walk(place))
        at = [x.value for x in walked if isinstance(x, ast.Constant) and isinstance(x.value, int)]
        least = 1 + max(at, default=0)
        looks = [{name: known.get(name, least + (k + i) % 3) for i, name in enumerate(names)} for k in range(3)]
        return [look for k, look in enumerate(looks) if look not in looks[:k]]


WEAKER: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("nonnegative", "nonzero", "symmetric", "skew"), ()),
    **{"positive": ("nonnegative", "nonzero"), PD: (PSD, "symmetric"), PSD: ("symmetric",), "diagonal": ("symmetric",)},
}
"""Kinds that a claim says it rests on, with those that they include."""
OF_COUNTS = (
    "bernoulli bernoulli_logit binomial binomial_logit beta_binomial poisson poisson_log neg_binomial_2 "
    "neg_binomial_2_log zero_inflated_poisson zero_inflated_binomial"
)
"""Named laws whose first argument is whole and not negative."""
INSIDE, LAW, ASSUMED = " inside its domain", r"exp\((.+)\) has a finite integral", "normalisable"
OF_DATA, BY_AUTHOR = r"the \d+ data of (.+?): .+", LAW + ", as the document states under `assume`"
"""What the integral of a target rests on beside what is declared: facts of data that no certificate holds."""
BOUND = r"-?(\w+) >= -(?P<c>c\d*) \(1 \+ (.+)\) for some (?P=c)"
CONTAINED = (BOUND, r".+ <= (c\d*) \(1 \+ (?P<of>.+)\) for some \1", r".+ -> oo as norm2\(\w+\) -> oo")
MOVED = (
    "implicit equations are solved exactly, and the reverse step finds the old state",
    r"no solution of [\w, ]+ explodes within a step",
)
BY_CODE = (r"the code of (.+) preserves exp\(-H\)", r"the code of (.+) moves (\w+)")
"""What the author of a move that is code is taken at his word for."""
GRANTED: dict[str, tuple[str, ...]] = {
    "normalisable": (LAW, OF_DATA, BY_AUTHOR),
    "boundary": (r"chains are reflected at .+",),
    "regular": (r"\w+ is nonsingular",),
    "explosion": CONTAINED,
    **dict.fromkeys(("stationary", "claimed_stationary"), CONTAINED),
    "unique": (r"\w+ is nonsingular",),
    "periodic": (r"\w+ is periodic in \w+",),
    "claimed_update": (
        r"grad_tilde\(.+\) is unbiased, with covariance .+, new in every step",
        r"the covariance of N\(0, .+\) is positive semidefinite for small eps",
        r"\w+ is conditionally Gaussian under exp\(-H\)",
    ),
    "claimed_order": (
        "the pieces are smooth, grow like polynomials at most, and are moved by their exact flows"
        "(, or by numerical ones of order 2)?",
        r"\w+ has no noise \(its share is negative\)",
    ),
    "claimed_configurational": (
        r"A moves theta by W.T inv\(M\) r, B moves r by -W grad U, O moves r alone and keeps N\(0, M\)",
        "gradients use all data",
    ),
    "claimed_gradients": (r"only \w+ evaluates the gradient, only A moves its argument",),
    "gradient_noise": ("V_hat is positive semidefinite",),
    "noise_budget": ("V_hat is positive semidefinite", r"(eps <= eps_max of )?the V_hat that is estimated.*: .+"),
    **dict.fromkeys(("flow", "volume", "symplectic", "reversible"), ("gradients use all data",)),
    "keeps": (r"gradients use all data|no solution of [\w, ]+ explodes within a step",),
    "metropolis": MOVED,
    "code": BY_CODE[:1],
    "cycle": (*MOVED, *BY_CODE),
    "exact": (*MOVED, *BY_CODE[:1]),
    "irreducible": (*MOVED, *BY_CODE[:1]),
    "order": (
        r"\w+ and its derivatives grow like powers|drifts and noise grow like powers of (\w+) and 1/\1",
        r"no solution of [\w, ]+ explodes within a step",
        "gradients use all data",
        "steps stay inside the domain",
    ),
}
"""What a claim may rest on besides what is declared: nothing else, least of all on what it says."""
RESTS_ON: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("marginal", "claimed_marginal"), ("normalisable",)),
    **dict.fromkeys(("explosion", "claimed_lyapunov"), ("d_symmetric", "d_psd")),
    "unique": ("normalisable", "d_symmetric", "d_psd", "q_skew", "periodic", "explosion"),
    **dict.fromkeys(("configurational", "order"), ("flow",)),
    **dict.fromkeys(("draw", "cir"), ("defined",)),
    **dict.fromkeys(("involution", "metropolis", "cycle", "exact"), ("defined", "flow")),
    "irreducible": ("normalisable", "defined", "flow", "gradient"),
}
"""Claims to those without which a proof of them says nothing: none is refuted, and what is open is said to be given."""
ASKED = {
    "dynamics": """d_symmetric:D d_psd:D q_skew:Q stationary:D,Q claimed_drift:D,Q,drift
        claimed_diffusion:diffusions claimed_stationary:drift
        recovered_q:drift,-Q step_scale:update claimed_update:update periodic:circle normalisable: marginal:auxiliary
        claimed_marginal:marginal regular:varies explosion:D,f,follows boundary:face,follows
        unique:D,f,-cycle independence:estimate units:units""",
    "target": """defined:formula gradient: recursion:recursion periodic:circles,formula laws:laws constraints:sets
        normalisable:alone""",
    "scheme": """shares: claimed_order:order claimed_palindrome:palindrome claimed_gradients:gradients
        claimed_configurational:configurational""",
    "build": """bindings: gradient_noise: assumptions:assumes noise_budget: independence: pieces:word flow:word
        keeps:word volume:word symplectic:word reversible:word palindrome:word
        configurational:word,full,-cycle order:step use:use refresh:refresh draw:draw cir:cir involution:involution
        code:coded metropolis:metropolis cycle:cycle exact:cycle irreducible:cycle""",
}
"""For each part of a certificate the claims in order, with what of the documents asks for them."""
KNOWN = {row.partition(":")[0] for rows in ASKED.values() for row in rows.split()}
ADVISORY = {
    *(("dynamics", id_) for id_ in ("recovered_q", "step_scale", "explosion", "unique", "independence", "units")),
    *(("build", id_) for id_ in ("keeps", "volume", "symplectic", "reversible", "palindrome", "configurational")),
    *(("build", id_) for id_ in ("order", "exact", "irreducible")),
}
EULER = ("euler", "sequential_euler")
STOPS = {"explosion"}  # advisory claims that count where they are refuted
EXCUSED: dict[str, Callable[[Json, Documents], Any]] = {
    "normalisable": lambda c, d: c["verdict"] == "undecided" and d.names(d.dynamics.get("H")) & {*d.functions},
    "regular": lambda c, d: c["verdict"] != "refuted" and not d.Q and not d.moves(d.D, d.dynamics.get("D")),
}  # required claims to which some documents are not held


class Page(Field):
    """Documents at fixed sizes, with a constant for every name they declare, and a formula for every function."""

    def __init__(self, documents: Documents, point: Point, seed: str = "", *, tame: int = 0, plain: bool = False):
        """Read a point; with a seed the rest is drawn: tame functions grow slowly (2: and wave), plain are -1, 0, 1."""
        super().__init__()
        self.d, self.seed, self.tame, self.plain, self.n = documents, seed, tame, plain, 1
        self.memo, self.kept = dict[Any, Any](), dict[Any, Any]()
        self.beside, self.draws = dict[str, Array](), list[tuple[list[int], Array]]()
        self.sizes = {k: int(x) for k, x in point.items() if k not in documents.declared and x.isdigit() and len(x) < 6}
        calls = {f"{name}({', '.join(e['of'])})": name for name, e in documents.functions.items()}
        self.texts = {calls.get(name, name): text for name, text in point.items() if name not in self.sizes}
        unknown = {*self.texts} - {*documents.blocks, *documents.parameters, *documents.functions}
        require(not unknown, f"a value of {', '.join(sorted(unknown))}, which the document does not declare")
        ends = [0, *itertools.accumulate(self.shape(entry)[0] for entry in documents.blocks.values())]
        require(ends[-1] <= MOST_COORDINATES, "this many coordinates", TrustedError)
        self.ids = {name: range(ends[k], ends[k + 1]) for k, name in enumerate(documents.blocks)}
        self.coordinates = ends[-1]
        self.made, self.at = [("", constant(0))] * ends[-1], {name for name in self.ids if seed or name in self.texts}
        given = {name: self.formula(text) for name, text in documents.values.items() if name in self.texts}
        require(all(self.vanish(x - self.constant(name, ())) for name, x in given.items()), "values not of the build")
        for name in self.at:
            values = self.constant(name, ()) if name in self.texts else self._drawn(name, [])
            self.move(dict(zip(self.ids[name], values.flat, strict=True)))
        self.kept.clear()

    def move(self, to: Mapping[int, Poly]) -> None:
        """Give coordinates other values."""
        for i, x in to.items():
            self.made[i] = ("", x)
        for memo in (self.memo, self.known):
            memo.clear()

    def shape(self, entry: Json) -> tuple[int, int]:
        """Return rows and columns of what is declared."""
        sizes = entry["shape"]
        require(all(s.isdigit() or s in self.sizes for s in sizes), f"one of the sizes {sizes} has no value")
        rows, cols, *_ = *(self.sizes.get(s) or int(s) for s in sizes), 1, 1
        return rows, cols

    def constant(self, name: str, scope: tuple[str, ...] | None) -> Array:
        """Return what a point gives a name, of the shape declared; 0 is of every shape."""
        shape, value = self.shape(self.d.declared[name]), self.formula(self.texts[name], scope)
        value = np.broadcast_to(value, shape) if value.size == 1 and value.item() == 0 else value
        require(value.shape == shape, f"{name} = {self.texts[name]} is not of shape {shape}")
        return value

    def formula(self, text: str | ast.expr, scope: tuple[str, ...] | None = None) -> Array:
        """Return a formula, in which only the names of a scope may occur (None: all)."""
        key = (text, self.n, self.smooth, scope)
        return self.once(key, lambda: self._read(parse(text) if isinstance(text, str) else text, scope))

    def once(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return what is made of formulas, once for all points unless that depends on a value at one, or beside it."""
        key = (*key, self.far)
        if key in self.kept:
            return self.kept[key]
        if key not in self.memo:
            before, self.looks = self.looks, 0
            try:
                found = make()
                (self.memo if self.looks else self.kept)[key] = found
            finally:
                self.looks += before
            return found
        self.looks += 1
        return self.memo[key]

    def forget(self) -> None:
        """Read all formulas anew."""
        self.memo.clear()
        self.kept.clear()

    def fit(self, stated: Any, rows: int, cols: int) -> Array:
        """Return a formula in the shape of its place; I and ones have the size that gives it."""
        text = str(stated)
        outer, reason = self.n, UnreadError(f"{text} as {rows} by {cols}")
        sizes = dict.fromkeys((rows, cols, *self.sizes.values(), *map(len, self.ids.values())))
        for self.n in sizes if re.search(r"\b(I|ones)\b", text) else [1]:
            try:
                value = self.formula(text)
                if value.shape == (rows, cols) or (value.size == 1 and value.item() == 0):
                    return np.broadcast_to(value, (rows, cols))
            except (UndefinedError, TrustedError):
                raise
            except UnreadError as why:
                reason = why
            finally:
                self.n = outer
        raise reason

    def scalar(self, text: Any) -> Poly:
        """Return a formula of one entry."""
        return self.fit(text, 1, 1).item()

    def _read(self, node: Any, scope: tuple[str, ...] | None) -> Array:
        chain, read = list[Any](), functools.partial(self._read, scope=scope)
        while isinstance(node, ast.BinOp):  # long sums lean to the left
            chain, node = [*chain, node], node.left
        left = self._atom(node, read, scope)
        for one in reversed(chain):
            right, name = read(one.right), type(one.op).__name__
            fit = left.shape[1] == right.shape[0] if name == "MatMult" else left.shape == right.shape
            fit |= name != "MatMult" and 1 in (left.size, right.size)  # a scalar, or a 0 of any shape
            require(name in OPERATORS and fit, f"{name} of shapes {left.shape}, {right.shape}", UnreadError)
            left = OPERATORS[name](self, left, right)
        return left

    def _atom(self, node: Any, read: Callable[[Any], Array], scope: tuple[str, ...] | None) -> Array:
        match node:
            case ast.Constant(int() as value) if not isinstance(value, bool):
                return array(constant(value))
            case ast.List(rows):
                return array([[read(x).item() for x in getattr(row, "elts", [row])] for row in rows])
            case ast.UnaryOp(ast.USub(), arg):
                return -read(arg)
            case ast.Attribute(arg, "T"):
                return read(arg).T
            case ast.Subscript(arg, index):
                A, at = read(arg), [x.value for x in getattr(index, "elts", [index]) if isinstance(x, ast.Constant)]
                bounds = A.shape if len(at) == 2 else (A.size,)
                inside = [isinstance(i, int) and i < n for i, n in zip(at, bounds, strict=False)]
                require(len(at) == len(bounds) and all(inside), f"the position {at}", UnreadError)
                return array(A.reshape(bounds)[tuple(at)])
            case ast.Name(name):
                return self._name(name, scope)
            case _:
                return self._call(node, read, scope)

    def _call(self, node: Any, read: Callable[[Any], Array], scope: tuple[str, ...] | None) -> Array:
        match node:
            case ast.Call(ast.Name(name), args) if name in self.d.declared:
                same = [ast.unparse(x) for x in args] == self.d.declared[name]["of"]
                require(same, f"{name} at arguments other than its own", UnreadError)
                return self._name(name, scope)
            case ast.Call(ast.Name("grad" | "div" | "hessian" as name), [what, ast.Name(block)]) if block in self.ids:
                return self._derived(name, what, self.ids[block], read)
            case ast.Call(ast.Name("where"), [condition, yes, no]):
                return read(yes if self._holds(condition, read) else no)
            case ast.Call(ast.Name("N"), [ast.Constant(0), cov]):
                return self.drawn(read(cov))
            case ast.Call(ast.Name("next"), [ast.Name(block)]) if f"next({block})" in self.beside:
                self.looks += 1
                return self.beside[f"next({block})"]
            case ast.Call(ast.Name("grad_tilde"), [ast.Name(name), ast.Name(block)]):
                if f"tilde {block}" not in self.beside:
                    n = len(self.ids[block])
                    self.beside[f"tilde {block}"] = self.drawn(self.fit("V" if "V" in self.d.declared else 0, n, n))
                self.looks += 1
                slope = array(self.gradient(self._name(name, scope).item(), self.ids[block]))
                return slope + self.beside[f"tilde {block}"]
            case ast.Call(ast.Name(name), args) if name in (table := TABLES.get(len(args), {})):
                return array(table[name](self, *map(read, args)))
            case ast.Call(ast.Name("eye" | "Identity" | "zeros" | "ZeroMatrix" | "ones" | "OneMatrix" as name), sizes):
                n, m = (self.whole(read(x).item()) for x in (sizes[0], sizes[-1]))
                require(0 < n <= MOST_COORDINATES and 0 < m <= MOST_COORDINATES, f"a matrix {n} x {m}", UnreadError)
                kind = name[0].lower()
                return array([[constant(kind == "o" or (kind in "ei" and i == j)) for j in range(m)] for i in range(n)])
            case ast.Call(ast.Name(name), [one, *rest]) if name in JOINED:
                return functools.reduce(lambda A, x: self._meant(f"{name}(x, y)", A, read(x)), rest, read(one))
            case ast.Call(ast.Name(name), args) if f"{name}({', '.join('xyz'[: len(args)])})" in MEANINGS:
                return self._meant(f"{name}({', '.join('xyz'[: len(args)])})", *map(read, args))
            case ast.Call(ast.Name(name), args) if (meaning := spelled(name, args)) is not None:
                return read(meaning)
            case _:
                raise UnreadError(ast.unparse(ast.fix_missing_locations(node))[:80])

    def _derived(self, name: str, what: Any, over: Any, read: Callable[[Any], Array]) -> Array:
        outer, self.smooth = self.smooth, True
        try:
            of = read(what)
        finally:
            self.smooth = outer
        if name == "div":
            return array([sum(map(self.slope, row, over), constant(0)) for row in of])
        slopes = self.gradient(of.item(), over)
        return array([self.gradient(x, over) for x in slopes] if name == "hessian" else slopes)

    def _meant(self, head: str, *given: Array) -> Array:
        self.beside, outer = {**self.beside, **dict(zip(("_x", "_y", "_z"), given, strict=False))}, self.beside
        try:
            return self._read(MEANINGS[head], None)
        finally:
            self.beside = outer

    def _holds(self, condition: Any, read: Callable[[Any], Array]) -> bool:
        """Whether a condition of `where` holds near the point."""
        match condition:
            case ast.Compare(left, [op], [right]) if type(op) in SIDES:
                return self.side((read(left) - read(right)).item()) in SIDES[type(op)]
            case ast.Call(ast.Name("And" | "Or" as name), args):
                return (all if name == "And" else any)(self._holds(x, read) for x in args)
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr() as op, right):
                return (all if isinstance(op, ast.BitAnd) else any)(self._holds(x, read) for x in (left, right))
            case ast.Call(ast.Name("Not"), [arg]) | ast.UnaryOp(ast.Invert(), arg):
                return not self._holds(arg, read)
            case ast.Call(ast.Name(name), args) if name in RELATIONS:
                return self._holds(spelled(name, args), read)
            case _:
                raise UnreadError(f"the condition {ast.unparse(condition)[:60]}")

    def _name(self, name: str, scope: tuple[str, ...] | None) -> Array:
        require(scope is None or name in scope, f"a value depends on {name}, which it must not")
        if name in self.beside:
            self.looks += name not in ("_x", "_y", "_z")  # arguments are read with the formula
            return self.beside[name]
        if name in self.d.bind:
            return self.fit(self.d.bind[name], *self.shape(self.d.declared[name]))
        if name in self.at:
            return array([RING.gen(i) + self.shift.get(i, 0) for i in self.ids[name]])
        of = self.d.declared.get(name, {}).get("of", [])
        if name in self.texts:
            return self.constant(name, tuple(of))
        if name in self.d.values:
            return self.formula(self.d.values[name], ())
        if self.seed and name in self.d.declared:
            return self._drawn(name, [x for block in of for x in self._arguments(name, block)])
        if name in self.d.noise and self.step >= 0:
            self.looks += 1
            self.beside[name] = self.drawn(diagonal([constant(1)] * self.shape(self.d.noise[name])[0]))
            return self.beside[name]
        if name == "eps" and self.step >= 0:
            return array(RING.gen(self.step) ** 2)
        if name in MEANINGS and name not in self.d.declared:
            return self._read(MEANINGS[name], scope)
        require(name in {"I", "ones", "pi", *self.sizes} - {*self.d.declared}, f"{name} has no value", UnreadError)
        if name == "I":
            return diagonal([constant(1)] * self.n)
        number = self.of("pi", constant(0)) if name == "pi" else constant(self.sizes.get(name, 1))
        return array([number] * (self.n if name == "ones" else 1))

    def _arguments(self, name: str, block: str) -> Iterable[Poly]:
        """Return what a function that is drawn depends on: a block, or the sine around its circle."""
        x = self._name(block, None)
        if block not in self.d.declared[name].get("periodic", ()):
            return x.flat
        turns = 2 * self.of("pi", constant(0)) * self.of("inv", self.period(block))
        return [self.of("sin", y * turns) for y in x.flat]

    def period(self, block: str) -> Poly:
        """Return the length of a circle."""
        ends = [self.scalar(end) for end in self.d.blocks[block]["ends"]]
        return ends[1] - ends[0] if ends else 2 * self.of("pi", constant(0))

    def _drawn(self, name: str, z: list[Poly]) -> Array:
        """Return a value of the kinds and the domain declared, or a function of z: the same for the same seed."""
        entry, rng = self.d.declared[name], random.Random(f"{self.seed} {name}")
        (n, m), kinds, domain = self.shape(entry), {*entry["is"]}, entry["domain"]
        grows = self._growth(name, entry, z) if z and not entry["shape"] and not kinds else constant(0)
        if z and self.tame and not entry.get("wild"):  # bounded, as all slopes are
            share = self.of("inv", sum((x**2 for x in z), constant(1)))
            z = [x * share for x in z]

        plain = self.plain and not entry.get("nonsingular")

        def number() -> Poly:
            some = fmpq(rng.choice((-1, 1)) * rng.randint(1, 9), rng.choice((2, 3, 5)))
            return constant(rng.choice((-1, 0, 1)) if plain else some)

        def polynomial() -> Poly:
            terms = z if n * m == 1 else z[:2] if rng.random() * n * m < 2 else []  # of long ones no inverse
            least = 2 if plain else 1
            powers = (math.prod(rng.choices(z, k=rng.randint(least, 2)), start=number()) for _ in terms)
            return sum(powers, constant(0) if plain and z else number())

        A = array([[polynomial() for _ in range(m)] for _ in range(n)])
        squares = A * A + array(constant(fmpq(1, 9)))
        if entry["ends"] or domain == "simplex":
            low, high, *_ = *(self.scalar(end) for end in entry["ends"]), constant(0), constant(1)
            if domain not in FREE:
                return array([low + (high - low) * fmpq(rng.randint(1, 12), 13 * n) for _ in range(n)])
        if "diagonal" in kinds:
            return diagonal(np.diag(squares if kinds & {*SIGNED, PD, PSD} else A))
        if kinds & {PD, PSD}:
            return product(A, A.T) + diagonal([constant(fmpq(int(PD in kinds), 2))] * n)
        signed = squares if kinds & {*SIGNED} or domain not in FREE else A
        return signed - A.T if "skew" in kinds else signed + signed.T if "symmetric" in kinds else signed + array(grows)

    def _growth(self, name: str, entry: Json, z: list[Poly]) -> Poly:
        """Return how a function grows far out: as much or as little as what is granted of it allows, up or down."""
        potential, square = entry.get("role") == "potential", sum((x**2 for x in z), constant(0))
        if not self.tame or entry.get("wild"):
            return sum((x**4 for x in z), constant(0)) * (self.tame or int(potential))
        if "law" in entry:  # exp(a U) has a finite integral: |z|**2n, and hardly more
            outer, exponent, looks = self.beside, list[Poly](), self.looks
            for k in range(3):
                self.beside = {**outer, name: array(constant(k))}
                exponent.append(self._read(parse(entry["law"]), (name, *self.d.parameters)).item())
            self.beside, self.looks = outer, looks  # numbers, the same everywhere
            zero, a, twice = exponent
            require(zero == 0 != a and a.is_constant() and twice == 2 * a, f"{entry['law']} does not fit {name}")
            return -len(z) * self.of("log", square + 1) / self.value(a)
        if "bound" in entry and self.tame < 0:
            return -self.scalar(entry["bound"])
        waves = [self.of("sin", x**3) for x in z] if self.tame > 1 and entry.get("rough") else []
        return sum(waves, square if potential else self.tame * square)

    def admissible(self) -> "Page":
        """Require that everything is of its kinds, inside its domain, and meets `assume`."""
        values = {i: self.made[i][1] for name in self.at for i in self.ids[name]}
        for name in self.texts:
            kinds = self.d.declared[name]["is"]
            for k in range(4 if name in self.d.functions else 1):  # a function keeps its kinds at other states
                free = [i for block in self.at if self.d.blocks[block]["domain"] in FREE for i in self.ids[block]]
                self.move({i: values[i] + k * (k + i) for i in free})
                A = self._name(name, None)
                require(is_of(self, A, kinds), f"{name} = {self.texts[name]} is not {', '.join(kinds)}")
                require(name != self.d.potential or not A.item().is_constant(), f"{name} is constant")
            self.move(values)
        for name in self.at:
            domain, x = self.d.blocks[name]["domain"], [values[i] for i in self.ids[name]]
            low, *high = [self.scalar(end) for end in self.d.blocks[name]["ends"]] or [constant(0)]
            inside = [y - low for y in x] + [end - y for y in x for end in high]
            inside += [1 - sum(x, constant(0))] * (domain == "simplex")
            require(domain in FREE or all(self.sign(y) > 0 for y in inside), f"{name} is outside {domain}")
        for text in self.d.assume:
            require(self.compares(text), f"{text} does not hold")
        return self

    def compares(self, text: str) -> bool:
        """Whether a comparison holds; of the state, with room to spare."""
        tree = parse(text)
        found = {self.sign(x) for x in (self._read(tree.left, None) - self._read(tree.comparators[0], None)).flat}
        signs = SIDES[type(tree.ops[0])]
        return found <= (signs - {0} if self.d.moves(text) and len(signs) > 1 else signs)

    def blocks(self, matrix: Any, *, smooth: bool = True) -> Array:
        """Return a block matrix; where only values are asked, kinks do not matter."""
        n, self.smooth = [len(ids) for ids in self.ids.values()], smooth
        rows = zip(places(matrix), n, strict=True)
        found = np.block([[self.fit(x, h, w) for x, w in zip(row, n, strict=True)] for row, h in rows])
        self.smooth = True
        return found

    def drawn(self, covariance: Array) -> Array:
        """Return a new Gaussian draw of an update."""
        self.looks += 1
        ids = [self.coordinate(constant(0)) for _ in covariance]
        self.draws.append((ids, covariance))
        return array([RING.gen(i) for i in ids])


def part_of_D(page: Page, label: str) -> Array:
    """Return the part of D that a label names, `D[r,r]` or `D of (theta, r)`."""
    names = re.findall(r"\w+", re.split(r"[\[(]", label)[1])
    require({*names} <= {*page.ids}, f"{label} is not an entry of D")
    chosen = [i for block in page.ids if block in names for i in page.ids[block]]
    return page.blocks(page.d.D, smooth=False)[np.ix_(chosen, chosen)]


def negative(page: Page, A: Array) -> list[Poly]:
    """Return the sums of principal minors that are negative: of a semidefinite matrix there are none."""
    return [c for c in characteristic(page.here(A))[1] if page.sign(c) < 0]


def semidefinite(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return what shows that D is not semidefinite; or v.T D v less the sum of squares that is stated."""
    data, rng = claim["data"], random.Random(page.seed)
    if label:
        form = re.fullmatch(r"(\w+)\.T @ (D.*) @ \1", label)
        v = page.beside.pop(form[1]) if form else array(constant(1))
        return [x for x in (v.T @ part_of_D(page, form[2] if form else label) @ v).flat if page.sign(x) < 0]
    found = negative(page, page.blocks(page.d.D, smooth=False))
    for part in {key.partition(": ")[0] for key in data if ": Gram" in key}:
        own = {key.partition(": ")[2]: text for key, text in data.items() if key.startswith(f"{part}: ")}
        D = part_of_D(page, part)
        v = array([constant(rng.randint(-9, 9)) for _ in D])
        page.beside = {f"v{i}": array(x) for i, x in enumerate(v.flat)}
        page.beside |= {name: page.formula(text) for name, text in own.items() if name[1:].isdigit()}
        left = page.formula(own["times"]) * (v.T @ D @ v)
        for k in (name.split()[-1] for name in own if name.startswith("Gram")):
            w, m, G = (page.formula(own[f"{name} {k}"]) for name in ("multiplier", "monomials", "Gram matrix"))
            require(KINDS[PSD](page, G) and page.sign(w.item()) >= 0, f"{part}: not a sum of squares")
            left = left - w * (m.T @ G @ m)
        found += [left.item()]
    return found


def equation(page: Page, claim: str) -> tuple[Array, Array, Array, Array, list[Poly]]:
    """Return f, the f of the recipe, D, the D that is stated, and grad H."""
    return page.once(("equation", claim), lambda: _equation(page, claim))


def _equation(page: Page, claim: str) -> tuple[Array, Array, Array, Array, list[Poly]]:
    d, n = page.d, sum(map(len, page.ids.values()))
    g = page.gradient(page.scalar(d.dynamics["H"]), range(n))
    if claim == "claimed_update":
        _, mean, spread = increments(page)
        return mean, mean, spread / 2, spread / 2, g
    stated, D = page.blocks(d.claims.get("diffusion") or d.D), page.blocks(d.dynamics.get("D") or d.D)
    Q = page.blocks(d.Q) if d.Q else D * 0
    f = recipe = page.div(D + Q) - product(D + Q, array(g))
    if d.Q and not claim.startswith("claimed"):
        return f, recipe, D, D, g
    f = np.concatenate([page.fit(d.claims["drift"].get(name, "0"), len(ids), 1) for name, ids in page.ids.items()])
    if d.claims.get("interpretation") == "stratonovich":
        require(page.vanish(stated - diagonal(np.diag(stated))), "a drift in the Stratonovich sense", TrustedError)
        f = f + page.div(stated) / 2
    return f, recipe, D, stated, g


def skewness(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return D - D.T, or Q + Q.T."""
    matrix = page.blocks(page.d.Q if claim["id"] == "q_skew" else page.d.D, smooth=False)
    return list((matrix + matrix.T if claim["id"] == "q_skew" else matrix - matrix.T).flat)


def same_drift(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return what is claimed less what the recipe gives, where Q is skew."""
    f, recipe, *_ = equation(page, "claimed_drift")
    Q = page.blocks(page.d.Q)
    return [*(f - recipe).flat, *(Q + Q.T).flat]


def same_diffusion(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return the diffusion that is claimed less D."""
    stated, D = (page.blocks(x, smooth=False) for x in (page.d.claims["diffusion"], page.d.dynamics["D"]))
    return list((stated - D).flat)


def stationary(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return the residual J.grad H - div J, where J = f - div D + D grad H; and currents along a line, J itself."""
    f, _, _, D, g = equation(page, claim["id"])
    J, along = f - page.div(D) + product(D, array(g)), currents(page, f[:, 0], D, g)
    if label.startswith("current of "):
        require(label[11:] in along, f"{label[11:]} is not an autonomous diffusion on a line")
        return [along[label[11:]]]
    return [*(product(array(g).T, J) - page.div(J.T)).flat, *along.values()]


def alone(page: Page, k: int, *of: Poly) -> bool:
    """Whether functions depend on one coordinate only."""
    others = [i for ids in page.ids.values() for i in ids if i != k]
    return not any(page.sign(page.slope(x, i)) for x in of for i in others)


def coordinates(page: Page) -> Iterator[tuple[str, str, int]]:
    """Yield the block, the name and the place of every coordinate."""
    for block, ids in page.ids.items():
        for i, k in enumerate(ids):
            yield block, f"{block}[{i}]" if page.d.blocks[block]["shape"] else block, k


def currents(page: Page, f: Any, D: Array, g: list[Poly]) -> dict[str, Poly]:
    """Return J = f_k - d_k D_kk + D_kk d_k H of coordinates by themselves: on a line a stationary law has J = 0."""
    found = dict[str, Poly]()
    for block, name, k in coordinates(page):
        domain = page.d.blocks[block]["domain"]
        line = domain != "circle" and (domain != "simplex" or len(page.ids[block]) == 1)
        if line and not page.d.moves(page.d.assume) and alone(page, k, f[k], D[k, k], g[k]):
            J = f[k] - page.slope(D[k, k], k) + D[k, k] * g[k]
            if page.vanish([page.slope(J, k) - J * g[k]]):
                found[name] = J
    return found


def laws(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return the slopes of the energy left less that stated, once all blocks that are Gaussian are integrated out.

    exp(-H) with g = grad H and P = hessian(H) in such blocks, P free of them, has the integral
    exp(-H + g.P^-1 g/2 - logdet(P)/2), up to a constant factor. Of a mixed slope that a witness speaks of, that is
    returned where it is a product (so that the integral is strictly convex).
    """
    d, found = page.d, list[Poly]()
    stated = d.claims["marginal"].items() if claim["id"] == "claimed_marginal" else [(d.own, d.potential)]
    mixed = re.fullmatch(r"d2\(.*\)/\(d(\w+)\[?(\d*)\]? d(\w+)\[?(\d*)\]?\)", label)
    for blocks, energy in stated:
        keep = listed(blocks)
        left, over, rest = page.scalar(d.dynamics["H"]), list[int](), list[str]()
        for name in (name for name in page.ids if name not in keep):
            both = [*over, *page.ids[name]]
            second = [y for x in page.gradient(left, both) for y in page.gradient(x, both)]
            third = [z for y in second for z in page.gradient(y, both)]
            free = d.blocks[name]["domain"] == "real" and page.vanish(third)
            over, rest = (both, rest) if free else (over, [*rest, name])
        if over:
            g = array(page.gradient(left, over))
            P = array([page.gradient(x, over) for x in g.flat])
            gone = ", ".join({*page.ids} - {*keep, *rest})
            require(KINDS[PD](page, P), f"exp(-H) has no finite integral over {gone}")
            up, determinant = inverse(page, P)
            left += (page.of("log", determinant) - (g.T @ up @ g).item()) / 2
        left -= page.scalar(energy)
        slopes = page.gradient(left, [i for name in keep for i in page.ids[name]])
        if mixed:
            i, j = (page.ids[mixed[k]][int(mixed[k + 1] or 0)] for k in (1, 3))
            both, twice = (page.slope(page.slope(left, i), j) for _ in range(2))
            splits = both * page.slope(page.slope(twice, i), j) - page.slope(both, i) * page.slope(both, j)
            slopes = [both] if page.vanish([splits]) else []
        require(not rest or mixed or page.vanish(slopes), f"the integral over {', '.join(rest)}", TrustedError)
        found += slopes
    return found


def budget(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return negative minors of V and of 2D - eps (D + Q) V (D + Q).T, V in the place of the potential's block."""
    V, D = (page.d.build.get("gradient_noise") or {}).get("V", "0"), page.blocks(page.d.D)
    require(V != "estimate", "an estimated V", TrustedError)
    if V == "0":
        return []  # 2D is `d_psd`
    require(page.d.build["scheme"].get("name", "") in EULER, "what a word subtracts for V", TrustedError)
    own = [i for name in page.d.own for i in page.ids[name]]
    A, W = (D + page.blocks(page.d.Q))[:, own], page.fit(V, len(own), len(own))
    step = page.d.build["run"]["step_size"]
    require(step != "auto", "a step size that a run chooses", TrustedError)
    whole = 2 * D - A @ W @ A.T * page.formula(step)
    return negative(page, W) + negative(page, whole)


def expectation(page: Page, x: Poly) -> Poly:
    """Return the mean over all draws, the last first: exp(sum_ij C_ij d_i d_j / 2), at draws of 0 (Isserlis)."""
    for ids, C in reversed(page.draws):
        found, term = x, x
        for m in range(1, MOST_PAIRS):
            slopes = [page.gradient(page.slope(term, i), ids) for i in ids]
            term = sum((C[i, j] * y for i, row in enumerate(slopes) for j, y in enumerate(row)), constant(0)) / (2 * m)
            found += term
            if term == 0:
                break
        x = found.subs(dict.fromkeys(ids, 0))
    return x


def power_of_step(page: Page, x: Poly, n: int) -> Poly:
    """Return the coefficient of sqrt(eps)**n."""
    for k in range(n):
        x = page.slope(x, page.step) / (k + 1)
    return x.subs({page.step: 0})


@functools.lru_cache(maxsize=2)
def moments(page: Page) -> tuple[Array, Array]:
    """Return mean and covariance of a step that is claimed, in the coordinates, the values of which are the old."""
    update, new = page.d.claims["update"], dict[str, Array]()
    page.step = page.coordinate(constant(0))
    while len(new) < len(page.ids):
        for name, ids in page.ids.items():
            waits = [block for block in page.ids if block not in new and f"next({block})" in update.get(name, "")]
            if name in new or waits:
                continue
            page.forget()  # the same words are another draw
            new[name] = page.fit(update.get(name, name), len(ids), 1)
            page.beside[f"next({name})"] = new[name]
    change = [x - RING.gen(i) for name, ids in page.ids.items() for i, x in zip(ids, new[name].flat, strict=True)]
    mean = array([expectation(page, x) for x in change])
    return mean, array([[expectation(page, x * y) for y in change] for x in change]) - mean @ mean.T


def nothing(page: Page, A: Array) -> bool:
    """Whether a matrix is zero at every state, as a point drawn here tells."""
    return page.vanish(A) if page.seed else all(x == 0 for x in A.flat)


@functools.lru_cache(maxsize=2)
def increments(page: Page) -> tuple[int, Array, Array]:
    """Return the least power of sqrt(eps) in mean and covariance of a step, and what stands there."""
    mean, spread = moments(page)
    for n in range(MOST_PAIRS):
        at = [np.frompyfunc(lambda x, n=n: power_of_step(page, x, n), 1, 1)(A) for A in (mean, spread)]
        if not all(nothing(page, A) for A in at):
            return n, at[0], at[1]
    raise TrustedError("a step that leaves the state unchanged")


def kept_law(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return what is left of Fokker and Planck's equation in the limit of small steps, or of an exact Gaussian draw.

    Where a step F z + N(0, S) does not shrink, it has to keep mean m and covariance P^-1 of what it moves.
    """
    n, mean, spread = increments(page)
    found = list[Poly]()
    for _, C in page.draws:
        orders = [np.frompyfunc(lambda x, k=k: power_of_step(page, x, k), 1, 1)(C) for k in range(MOST_PAIRS)]
        found += negative(page, next((A for A in orders if not page.vanish(A)), C * 0))
    if n > 0:
        return [*found, *stationary(page, claim, label)]
    if nothing(page, mean):
        return [*found, *spread.flat]
    moves = [not nothing(page, array([*mean[[*ids], 0], *spread[[*ids], [*ids]]])) for ids in page.ids.values()]
    over = [i for ids, moved in zip(page.ids.values(), moves, strict=True) if moved for i in ids]
    g, m, S = array(page.gradient(page.scalar(page.d.dynamics["H"]), over)), mean[over], spread[np.ix_(over, over)]
    P, J = (array([page.gradient(x, over) for x in A.flat]) for A in (g, m))
    fixed = page.vanish([y for A in (P, J, S) for x in A.flat for y in page.gradient(x, over)])
    require(fixed, "a step that is not affine, or whose distribution is not Gaussian", TrustedError)
    up, F = inverse(page, P)[0], diagonal([constant(1)] * len(over)) + J
    return [*found, *(m - J @ up @ g).flat, *(F @ up @ F.T + S - up).flat]


def small_step(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return what of a step is of lower order than eps; and places of D that have no noise of the order of the step."""
    _, _, spread = increments(page)
    low = [power_of_step(page, x, k) for A in moments(page) for x in A.flat for k in (0, 1)]
    D = page.blocks(page.d.D) if page.d.D else spread
    return [*low, *(D[i, i] for i in range(len(D)) if nothing(page, spread[i : i + 1, i : i + 1]))]


@dataclasses.dataclass(frozen=True)
class Way:
    """How a coordinate goes to an end: to where it is at a distance R, and the power of R that its volume grows by."""

    end: str
    at: Callable[[fmpq], Poly]
    power: int = 1

    def raised(self, n: int, factor: int = 1) -> "Way":
        """Return the same way at another speed: n = -1 leads to 0 in place of infinity, n = 0 nowhere."""
        return Way(self.end, lambda R: self.at(R**n * factor), self.power * n)


def ends_of(page: Page, block: str) -> list[Way]:
    """Return the ends of the coordinates of a block."""
    domain, ends = page.d.blocks[block]["domain"], [page.scalar(end) for end in page.d.blocks[block]["ends"]]
    low, width = ends[0] if ends else constant(0), ends[1] - ends[0] if len(ends) > 1 else constant(1)
    every = {
        "-oo": Way("-oo", lambda R: constant(-R)),
        "oo": Way("oo", lambda R: constant(R)),
        "low": Way("low", lambda R: low + width / R, -1),
        "high": Way("high", lambda R: low + width - width / R, -1),
    }
    known = {"real": ("-oo", "oo"), "circle": (), "interval": ("low", "high"), "simplex": ("low",)}
    return [every[end] for end in known.get(domain, ("oo", "low"))]


def far(page: Page, ways: Mapping[int, Way], read: Callable[[], Any], *, phases: bool = False) -> list[Any]:
    """Return what is read at both distances, when coordinates go to their ends; with phases where no slope is read."""
    before = {i: x for i, (_, x) in enumerate(page.made[: page.coordinates])}
    try:
        found, page.far = list[Any](), phases
        for R in FAR:
            page.move({i: way.at(R) for i, way in ways.items()})
            found.append(read())
        return found
    finally:
        page.far = False
        page.move(before)


def number(page: Page, x: Poly) -> arb:
    """Return a value as a ball, which has to be finite."""
    value = arb(page.value(x))
    if not value.is_finite():
        raise UndefinedError(f"{str(x)[:60]} at points this far out")
    return value


def settled(page: Page, energy: Callable[[], Poly], held: Iterable[int]) -> arb:
    """Return E + log det(hessian E)/2 where E is least in phases and in what depends on those held (Laplace)."""
    E, held = energy(), [*held]
    if len(held) > 1 or page.tame < 0 or page.plain or len(E) > MOST_SETTLED_TERMS or len(page.made) > MOST_MADE:
        return number(page, E)  # one page of each size, and formulas that are not long
    free = [k for block, _, k in coordinates(page) if page.d.blocks[block]["domain"] in FREE and k not in held]
    slopes = {k: page.slope(E, k) for k in (*free, *(k for _, k in page.phases))}
    ids = [k for k, g in slopes.items() if g != 0 and (k not in free or any(page.slope(g, i) != 0 for i in held))]
    if not ids or len(ids) > MOST_SETTLED:
        return number(page, E)
    second = [[page.slope(slopes[k], i) for i in ids] for k in ids]
    least, damping, g, bends = number(page, E), fmpq(0), list[arb](), list[list[arb]]()
    for _ in range(MOST_STEPS):
        if not g:  # after a step that did not lead down all is as it was
            g = [number(page, slopes[k]).mid() for k in ids]
            bends = [[number(page, x).mid() for x in row] for row in second]
        before, size = {k: page.made[k][1] for k in ids}, sum((abs(bends[i][i]) for i in range(len(ids))), arb(0)) + 1
        damped = arb_mat([[x + size * damping * (i == j) for j, x in enumerate(row)] for i, row in enumerate(bends)])
        try:
            step = damped.solve(arb_mat([[-x] for x in g]))
            to = {k: page.value(before[k]) + rational(step[i, 0]) for i, k in enumerate(ids)}
            page.move({k: constant(x) for k, x in to.items()})
            lower = number(page, E)
        except (ZeroDivisionError, UndefinedError, ValueError):
            lower = least
        if lower < least:
            least, damping, g = lower, damping / 10, []
        else:
            page.move(before)
            damping = damping * 10 + fmpq(1, 10**6)
        if damping > 10**6:
            break
    width = arb_mat([[number(page, x).mid() for x in row] for row in second]).det()
    return number(page, energy()) + (width.log() / 2 if width > 0 else 0)


def rational(x: arb) -> fmpq:
    """Return a rational number of few digits in a ball, or next to it."""
    whole, power = x.mid().man_exp() if x.is_finite() else (0, MOST_BITS)
    if abs(power) >= MOST_BITS:
        raise ZeroDivisionError
    cut = max(int(whole).bit_length() - 100, 0)
    return fmpq(int(whole) >> cut) * fmpq(2) ** (int(power) + cut)


def diverges(page: Page, ways: Mapping[int, Way], energy: Callable[[], Poly], spare: fmpq = HARDLY) -> bool:
    """Whether exp(-E) has no finite integral along a ray: E grows no faster than the logarithm of the volume there."""
    low, high = far(page, ways, lambda: settled(page, energy, ways), phases=True)
    return bool(high - low < (sum(way.power for way in ways.values()) + spare) * LOG_OF_FAR)


def rays(page: Page) -> list[dict[int, Way]]:
    """Return ways of one coordinate alone, of two at different speeds, and of several."""
    rng, most = random.Random(page.seed), MOST_PAIRS_OF_WAYS if len(page.made) <= MOST_MADE else MOST_PAIRS
    ends = [(k, way) for block, _, k in coordinates(page) for way in ends_of(page, block)]
    twos = [
        {k: one.raised(n), i: other.raised(m)}
        for (k, one), (i, other) in itertools.combinations(ends, 2)
        for n, m in ((1, -1), (1, -2), (-1, 1), (-2, 1), (1, 1), (1, 2), (2, 1))
        if k != i
    ]
    more = [{k: way.raised(rng.choice((-1, 1, 1, 2)), rng.randint(1, 3)) for k, way in ends if rng.random() < 0.7}]
    return [*({k: way} for k, way in ends), *rng.sample(twos, min(len(twos), most)), *filter(None, more)]


def improper(page: Page, energy: Callable[[], Poly], every: list[dict[int, Way]]) -> list[Poly]:
    """Return 1 for every ray along which exp(-E) has no finite integral; where none can be read, that is said."""
    found, reasons = list[bool](), list[UnreadError]()
    for ways in every:
        try:
            found.append(diverges(page, ways, energy))
        except UnreadError as what:
            reasons.append(what)
    if every and not found:
        raise reasons[0]
    return [constant(1)] * sum(found)


def integrable(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return 1 for every ray along which exp(-H) has no finite integral; of `boundary` every face."""
    if label:
        return [constant(1)] * divergent(page, claim["witness"], label)
    every = rays(page)
    if claim["id"] == "boundary":  # where D exp(-H) vanishes, nothing flows through a face
        every = [ways for ways in every if len(ways) == 1 and all(way.power < 0 for way in ways.values())]
        every = [ways for ways in every if flows(page, ways)]
    return improper(page, lambda: page.scalar(page.d.dynamics["H"]), every)


def flows(page: Page, ways: Mapping[int, Way]) -> bool:
    """Whether D exp(-H) does not vanish at a face; where that cannot be read, it may."""

    def energy() -> Poly:
        D = sum((page.blocks(page.d.D, smooth=False)[k, k] for k in ways), constant(0))
        return page.scalar(page.d.dynamics["H"]) - (page.of("log", D) if D != 0 else constant(0))

    try:
        return diverges(page, ways, energy, 1 + HARDLY)
    except UnreadError:
        return True


def currents_of(page: Page, claim: str) -> tuple[Array, Array]:
    """Return D, and the current J = f - div D + D grad H."""

    def made() -> tuple[Array, Array]:
        f, _, _, D, g = equation(page, claim)
        return D, f - page.div(D) + product(D, array(g))

    return page.once(("currents", claim), made)


def steep(page: Page, claim: str) -> list[Poly]:
    """Return 1 where a term of the noise or of the current is as steep as exp(H), and steeper than every power."""
    found = list[Poly]()
    for k, way in ((k, way) for block, _, k in coordinates(page) for way in ends_of(page, block)):

        def read() -> tuple[arb, list[arb]]:
            sizes = (page.value(x) for A in currents_of(page, claim) for x in A.flat)
            return number(page, page.scalar(page.d.dynamics["H"])), [abs(arb(x)) for x in sizes]

        try:
            (low, first), (high, last) = far(page, {k: way}, read)
        except UnreadError:
            continue
        grown = [(y.log() - x.log()) for x, y in zip(first, last, strict=True) if x > 0 and y > 0]
        found += [constant(1)] * any(y > 1000 * LOG_OF_FAR and y >= (high - low) * fmpq(999, 1000) for y in grown)
    return found


def explodes(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return 1 for every coordinate that runs off, and where the Lyapunov function that is stated is none far out.

    Where none is stated, D/(1 + |z|)**2 and J/(1 + |z|) are to be integrable against exp(-H).
    """
    if label.startswith("current of "):
        return stationary(page, claim, label)

    def outward(k: int) -> arb:
        f, _, _, D, _ = equation(page, claim["id"])
        return number(page, RING.gen(k) * f[k, 0] - D[k, k])  # x times it

    f, _, _, D, _ = equation(page, claim["id"])
    witness, bad = claim["witness"] or {}, list[str]()
    stated = witness.get("end")
    for block, name, k in coordinates(page) if page.tame < 2 else ():  # a force that waves runs off nowhere
        said = [(x, witness.get(f"{word} of {name}")) for word, x in (("drift", f[k, 0]), ("D", D[k, k]))]
        require(all(text is None or page.vanish([page.scalar(text) - x]) for x, text in said), "another equation")
        ways = ends_of(page, block) if alone(page, k, f[k, 0], D[k, k]) else []
        asked = [way for way in ways if way.end.endswith("oo") and stated in (None, f"{name} -> {way.end}")]
        for way in asked:  # to infinity, where f - D/x outgrows x (Feller)
            low, high = far(page, {k: way}, functools.partial(outward, k))
            bad += [way.end] * bool(low > 0 and high > 0 and (high / low).log() > fmpq(21, 10) * LOG_OF_FAR)
    open_ = [ways for ways in rays(page) if min(way.power for way in ways.values()) > 0]
    W = re.sub(r", (as stated|k large)$", "", str(claim["data"].get("W", ""))).replace("k (", "1000*(")
    if bad or stated or not open_:
        return [constant(1) for _ in bad]
    if W:
        angles = (1, 2, 3, 5, 7) if {"sin", "cos"} & {name for name, _ in page.made} else (1,)
        tried = [ways for ways in open_ if page.tame < 2 or len(ways) == 1]
        every = [{k: way.raised(1, factor) for k, way in ways.items()} for ways in tried for factor in angles]
        return [constant(1) for ways in every if not contains(page, claim, W, ways)]
    found, ids = list[Poly](), [k for _, _, k in coordinates(page)]
    for n, entries in zip((1, fmpq(1, 2)), currents_of(page, claim["id"]), strict=True):
        for at in [at for at in np.ndindex(entries.shape) if entries[at] != 0]:

            def energy(n: Any = n, at: tuple[int, ...] = at, which: int = int(n != 1)) -> Poly:
                x = currents_of(page, claim["id"])[which][at]
                size = page.of("log", sum((RING.gen(k) ** 2 for k in ids), constant(1)))
                return page.scalar(page.d.dynamics["H"]) - page.of("log", x * x) / 2 + n * size

            found += improper(page, energy, [ways for ways in open_ if len(ways) == 1])
            found += [constant(1) for ways in open_ if waves(page, ways, energy)]
    return found


def waves(page: Page, ways: Mapping[int, Way], energy: Callable[[], Poly]) -> bool:
    """Whether exp(-E) has no finite integral along a ray where E holds slopes of a sine, by far: a phase has none."""
    if not {"sin", "cos"} & {name for name, _ in page.made}:
        return False
    room = (sum(way.power for way in ways.values()) - fmpq(1, 4)) * LOG_OF_FAR
    for factor in (1, 2, 3):
        low, high = far(page, {k: way.raised(1, factor) for k, way in ways.items()}, lambda: number(page, energy()))
        if bool(high - low < room):
            return True
    return False


def contains(page: Page, claim: Json, W: str, ways: Mapping[int, Way]) -> bool:
    """Whether W grows along a ray, and L W = f.grad W + tr(D hessian(W)), and what is granted of it, no faster."""
    granted = [found["of"] for one in claim["given"] if (found := re.fullmatch(CONTAINED[1], one))]

    def made() -> tuple[Poly, list[Poly]]:
        f, _, _, D, _ = equation(page, claim["id"])
        try:
            w = page.scalar(re.sub(r"\bH\b", f"({page.d.dynamics['H']})", W))
        except UnreadError as what:
            raise FailureError(f"{W} is not a Lyapunov function: {what}") from None
        g = page.gradient(w, range(len(f)))
        drift = sum((f[i, 0] * x for i, x in enumerate(g)), constant(0))
        noise = sum((D[i, j] * page.slope(x, j) for i, x in enumerate(g) for j in range(len(g))), constant(0))
        return w, [drift + noise, *(page.scalar(text) for text in granted)]

    def read() -> tuple[arb, list[arb]]:
        w, shares = page.once(("L", W, *granted), made)
        return arb(page.value(w)), [arb(page.value(x)) / arb(page.value(w + 1)) for x in shares]

    (low, first), (high, last) = far(page, ways, read)
    if not all(x.is_finite() for x in (low, high, *first, *last)):
        return True
    return not (high <= low or any(y > 1000 * (1 + abs(x)) for x, y in zip(first, last, strict=True)))


def divergent(page: Page, witness: Point, label: str) -> bool:
    """Whether exp(-H) has no finite integral at an end, along a direction that H is flat in, or on a curve."""
    H, ids = page.d.dynamics["H"], [k for _, _, k in coordinates(page)]
    stated = re.fullmatch(r"(?:what must be positive for|exponent of exp.* to) (.+) (?:->|=) (\S+)", label)
    if stated:
        names, to = {*stated[1].split(", ")}, stated[2] if stated[2].endswith("oo") else "low"
        named = [(k, block) for block, one, k in coordinates(page) if names & {block, one}]
        ways = {k: way for k, block in named for way in ends_of(page, block) if way.end == to}
        return bool(ways) and diverges(page, ways, lambda: page.scalar(H))
    if label.endswith("@ v"):
        v, P = page.beside["v"], array([page.gradient(x, ids) for x in page.gradient(page.scalar(H), ids)])
        quadratic = page.vanish([y for x in P.flat for y in page.gradient(x, ids)])
        return quadratic and page.sign((v.T @ P @ v).item()) <= 0
    curve = dict(re.findall(r"(\S+) = ([^,;]+)", witness.get("ray", witness.get("region", ""))))

    def way_of(text: str) -> Callable[[fmpq], Poly]:
        def at(R: fmpq) -> Poly:
            page.beside = {"s": array(constant(R)), **{f"u{i}": array(constant(fmpq(3, 2))) for i in range(len(curve))}}
            page.forget()
            return page.scalar(text)

        return at

    ways = {k: Way("", way_of(curve[name])) for _, name, k in coordinates(page) if name in curve}
    if not ways or not all(
        inside(page, block, ways[k].at(R)) for R in FAR for block, _, k in coordinates(page) if k in ways
    ):
        return False
    volumes = far(page, ways, lambda: number(page, math.prod((RING.gen(k) for k in ways), start=constant(1))))
    return all(far(page, ways, lambda: number(page, page.scalar(H)) < 100)) and bool(volumes[0] <= volumes[1])


def inside(page: Page, block: str, x: Poly) -> bool:
    """Whether a coordinate that goes far is inside its domain; around a circle nothing goes far."""
    domain, (low, *high) = page.d.blocks[block]["domain"], page.d.blocks[block]["ends"] or ["0"]
    above = [page.scalar(end) - x for end in high or ["1"] * (domain == "simplex")]
    return domain == "real" or (domain != "circle" and all(page.sign(y) > 0 for y in (x - page.scalar(low), *above)))


def singular(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return 1 where D or D + Q loses rank: at the witness, or at 0 or 1, where no drift leads away from there."""
    d, free = page.d, [k for block, _, k in coordinates(page) if page.d.blocks[block]["domain"] == "real"]

    def rank(A: Array) -> int:
        if all(x.is_constant() for x in A.flat):
            return fmpq_mat([[sum(x.coeffs(), fmpq(0)) for x in row] for row in A]).rank()
        minors = characteristic(A.T @ A)[1]  # of the rank of A, as a sum of minors tells
        return max((k for k, c in enumerate(minors, 1) if page.sign(c)), default=0)

    def ranks() -> list[int]:
        D = page.blocks(d.D or d.dynamics.get("D"), smooth=False)
        Q = page.blocks(d.Q, smooth=False) if d.Q else D * 0
        return [rank(page.here(A)) for A in (D, D + Q)]

    def stuck() -> bool:
        try:
            return page.vanish(equation(page, claim["id"])[0])
        except UnreadError:  # a kink, beside nothing that moves
            return True

    given = {k: page.made[k][1] for k in free}
    page.move({k: constant(fmpq(7 * i + 3, 5)) for i, k in enumerate(free)})
    most = ranks()
    zeros = itertools.product((0, 1), repeat=min(len(free), 4))
    grid = ({**given, **dict(zip(free, map(constant, x), strict=False))} for x in zeros)
    for point in [given] if label else grid:
        page.move(point)
        if any(x < y for x, y in zip(ranks(), most, strict=True)) and (label or stuck()):
            return [constant(1)]
    return [constant(1)] if label and is_wall(page, claim) else []


def is_wall(page: Page, claim: Json) -> bool:
    """Whether noise and drift across the surface of a witness vanish at points drawn on it."""
    surface, rng, n = (
        (claim["witness"] or {}).get("surface", ""),
        random.Random(page.seed),
        len(list(coordinates(page))),
    )
    for _ in range(3 if surface else 0):
        page.move({k: constant(fmpq(rng.randint(-9, 9), 4)) for k in range(n)})
        g = page.scalar(surface.removesuffix(" = 0"))
        a = page.gradient(g, range(n))
        k = next((k for k, x in enumerate(a) if x.is_constant() and page.sign(x)), -1)
        if k < 0:  # only what is flat is stated without a loss of rank
            return False
        page.move({k: constant(page.value(page.made[k][1]) - page.value(g) / page.value(a[k]))})
        f, _, _, D, _ = equation(page, claim["id"])
        across = array(page.gradient(page.scalar(surface.removesuffix(" = 0")), range(n)))
        if not page.vanish([*(product(f.T, across)).flat, *(across.T @ D @ across).flat]):
            return False
    return bool(surface)


def around(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return what H, D, Q and what is claimed of them change by once around each circle; an update is trusted."""
    d, found = page.d, list[Poly]()

    def read() -> list[Poly]:
        page.forget()
        page.smooth = False
        matrices = [d.dynamics.get("D"), d.Q, d.claims.get("diffusion")]
        parts = [page.blocks(x, smooth=False) for x in matrices if x]
        drift = d.claims.get("drift") or {}
        parts += [page.fit(drift[name], len(ids), 1) for name, ids in page.ids.items() if name in drift]
        return [page.scalar(d.dynamics["H"]), *(x for A in parts for x in A.flat)]

    for block, _, k in coordinates(page):
        if d.blocks[block]["domain"] == "circle":
            before, page.shift = read(), {k: page.period(block)}
            found += [x - y for x, y in zip(read(), before, strict=True)]
            page.shift = {}
    return found


Check = Callable[[Page, Json, str], list[Poly]]
CHECKS: dict[str, Check] = {
    **dict.fromkeys(("d_symmetric", "q_skew"), skewness),
    **dict.fromkeys(("stationary", "claimed_stationary"), stationary),
    **dict.fromkeys(("claimed_drift", "recovered_q"), same_drift),
    "claimed_diffusion": same_diffusion,
    **dict.fromkeys(("marginal", "claimed_marginal"), laws),
    **dict.fromkeys(("normalisable", "boundary"), integrable),
    **{"d_psd": semidefinite, "noise_budget": budget, "step_scale": small_step, "claimed_update": kept_law},
    **{"periodic": around, "regular": singular, "explosion": explodes},
}
"""What is zero, or empty, at every admissible point where a claim holds."""
FAR_OUT = ("normalisable", "explosion", "boundary")
VALUES = ("d_symmetric", "d_psd", "q_skew", "claimed_diffusion", "noise_budget")
"""Claims that rest on how functions grow; and those about values alone, at kinks, too."""
SOFT = (*FAR_OUT, "regular")
IMPROPER: Json = {"id": "normalisable", "witness": None}


def drawn(
    d: Documents, sizes: Mapping[str, int], given: list[Point], seed: str, *, tame: int = 0, plain: bool = False
) -> Page:
    """Return an admissible page: all drawn here; else with parameters, or all, as at a point given."""
    fitting = [point for point in given if all(point.get(name) == str(n) for name, n in sizes.items())]
    constant = [{name: x for name, x in point.items() if name in d.parameters} for point in fitting]
    for k, base in enumerate([*[Point()] * 20, *constant, *constant, *fitting]):
        point = {**base, **{name: str(n) for name, n in sizes.items()}}
        try:
            return Page(d, point, f"{seed} {k}", tame=tame, plain=plain).admissible()
        except (FailureError, UndefinedError):
            continue
    equal = any("==" in text for text in d.assume)  # which may have no rational solution
    require(not equal, "equalities that no point drawn here satisfies", TrustedError)
    raise FailureError("no admissible point is known, so the claims may hold vacuously")


def sides(d: Documents) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield both sides of every comparison in D and Q, and in what is bound."""
    texts = [x for matrix in (d.D, d.Q) if matrix for row in places(matrix) for x in row]
    for node in (node for text in (*texts, *map(str, d.bind.values())) for node in ast.walk(parse(text))):
        match node:
            case ast.Compare(left, [_], [right]):
                yield left, right
            case ast.Call(ast.Name("sign" | "abs" | "Abs" | "Heaviside"), [arg, *_]):
                yield arg, ast.Constant(0)
            case ast.Call(ast.Name(name), [one, *more]) if name in ("minimum", "maximum", "Min", "Max", *RELATIONS):
                yield from ((one, other) for other in more)
            case _:
                continue


def at_equalities(page: Page) -> Iterator[Page]:
    """Yield pages where both sides of a comparison are equal, by the choice of one number, where that is rational."""
    d, sizes = page.d, {name: str(n) for name, n in page.sizes.items()}
    known = {name: page.here(page.formula(name)) for name in (*d.blocks, *d.parameters)}
    for left, right in sides(d):
        for name, at in ((name, at) for name, A in known.items() if name not in d.values for at in np.ndindex(A.shape)):

            def moved(x: fmpq, name: str = name, at: tuple[int, ...] = at) -> Page:
                entries = {**known, name: known[name].copy()}
                entries[name][at] = constant(x)
                point = {one: str([[str(page.value(x)) for x in row] for row in A]) for one, A in entries.items()}
                return Page(d, {**sizes, **{one: text.replace("'", "") for one, text in point.items()}}, page.seed)

            def difference(there: Page, left: ast.expr = left, right: ast.expr = right) -> Any:
                there.smooth = False
                return there.value((there.formula(left) - there.formula(right)).sum())

            pages, powers = [moved(fmpq(k)) for k in range(4)], [[fmpq(k) ** n for n in range(4)] for k in range(4)]
            values = [[difference(there)] for there in pages]
            if not all(isinstance(v, fmpq) for row in values for v in row):
                continue
            through = fmpq_poly(fmpq_mat(powers).solve(fmpq_mat(values)).entries())
            for x, _ in through.roots() if through.degree() > 0 else []:
                try:
                    yield moved(x).admissible()
                except (FailureError, UndefinedError):
                    continue


def proved(claim: Json, d: Documents, points: list[Point], seed: str) -> str:
    """Try a proof at points drawn here."""
    id_, seen, reason = claim["id"], dict[str, str](), UnreadError("a document without small sizes")
    if id_ == "recovered_q":
        Q = [[claim["data"].get(f"Q[{a},{b}]", "0") for b in d.blocks] for a in d.blocks]
        d = Documents({**d.parts, "dynamics": {**d.dynamics, "Q": Q}})
    less = d.resting_on(claim)
    whole = d.resting_on(claim)  # with the kinds declared of constants
    for name in whole.parameters:
        whole.parameters[name]["is"] = d.parameters[name]["is"]
    same = all(
        {*less.facts({name: x})} == {*d.facts({name: d.parameters[name]})} for name, x in less.parameters.items()
    )
    d = d if id_ == "step_scale" else less  # powers of eps are the same whatever the kinds
    tame, often = ((1, -1), 1) if id_ in FAR_OUT else ((0,), 4 if id_ in ("d_psd", "noise_budget") else 2)
    if id_ == "explosion" and "W" in claim["data"] and any(entry.get("rough") for entry in less.declared.values()):
        tame = (*tame, 2)
    draws = [(k, plain) for plain in ((False, True) if id_ in (*VALUES, *SOFT) else (False,)) for k in range(often)]
    for sizes in d.sizes(every=claim["for_d"] == "all")[: 2 if id_ in FAR_OUT else 3]:
        at = ", ".join(f"{name} = {n}" for name, n in sizes.items()) or "the document's"
        try:
            for k, plain in draws:
                pages = [drawn(d, sizes, points, f"{seed} {k}", tame=way, plain=plain) for way in tame]
                if not (same or k or plain):  # what holds of more holds of what is declared
                    pages.append(drawn(whole, sizes, points, seed, tame=tame[0]))
                for text in d.supposed:
                    require(all(page.compares(text) for page in pages), f"the assumption `{text}` does not hold")
                if id_ in VALUES:
                    pages += at_equalities(pages[0])
                if id_ == "explosion" and "W" not in claim["data"]:  # of a law, where there is one
                    pages = [page for page in pages if not integrable(page, IMPROPER, "")]
                if id_ in ("stationary", "claimed_stationary") and not seen and k == 0:
                    require(not steep(pages[0], id_), f"{id_}: a term grows as fast as exp(H)")
                require(all(page.vanish(CHECKS[id_](page, claim, "")) for page in pages), f"{id_} fails, {at}")
                seen[at] = "exactly" if all(page.exact for page in pages) else "enclosed"
        except UndefinedError as what:
            require(id_ in FAR_OUT, f"{id_}: {what}")
            reason = what
        except UnreadError as what:
            reason = what
            continue
    if not seen:
        raise reason
    if id_ in SOFT:
        at = "; ".join(seen)
        return f"tried at sizes {at} (at points and along rays drawn here); beyond them trusted: {claim['by']}"
    gram = any("Gram" in key for key in claim["data"])
    rest = "Gram matrices exactly" if gram else f"beyond them trusted: {claim['by']}"
    return f"rechecked at sizes {'; '.join(seen)} ({max(seen.values())}, at points drawn here); {rest}"


def refuted(claim: Json, d: Documents, points: Any, seed: str) -> str:
    """Recompute what a witness says is wrong."""
    require(isinstance(claim["witness"], dict), "refuted without a witness")
    witness, id_ = dict(claim["witness"]), claim["id"]
    sizes = {s for entry in d.declared.values() for s in entry["shape"]}
    names = {*sizes, *d.declared, *(f"{name}({', '.join(e['of'])})" for name, e in d.functions.items())}
    label = next((key for key in reversed(witness) if key not in (*names, "potential")), "")
    stated = witness.pop(label, "")
    require(stated or not label, f"{label} has no value")
    form = re.fullmatch(r"(\w+)\.T @ .* @ \1", label)
    v = form[1] if form else ""
    beside = {key: witness.pop(key) for key in [*witness] if v and key.partition(",")[0] == v}
    if id_ == "recovered_q":  # its witness is about stationarity, or about the one coordinate that there is
        id_ = "claimed_drift" if label.startswith("claimed") else "claimed_stationary"
        d = Documents({**d.parts, "dynamics": {"Q": [["0"] * len(d.blocks)] * len(d.blocks), **d.dynamics}})
    if "potential" in witness:
        name, _, text = witness.pop("potential").partition(" = ")
        witness |= {name: text}
    at_data = d.build.get("data") and label in ("direction", "towards")
    require(not at_data, "data, which no certificate holds", TrustedError)
    partial = id_ in (*FAR_OUT, "regular") and not label.startswith("current of ")
    if partial:
        sizes = d.sizes(every=True)[0] if claim["for_d"] == "all" else claim["for_d"]
        point = {**{name: str(n) for name, n in sizes.items()}, **{k: x for k, x in witness.items() if k in names}}
        page = Page(d, point, seed, tame=1)
        entries = {k: witness[name] for _, name, k in coordinates(page) if name in {*witness} - names}
        page.move({k: page.scalar(text) for k, text in entries.items()})
    else:
        page = Page(d, witness).admissible()
        require(claim["for_d"] == (page.sizes or "all") or not label, f"{id_} is not refuted for {claim['for_d']}")
    for text in beside.values():
        page.beside[v] = page.formula(text, ())
    wrong = [x for x in CHECKS[id_](page, {**claim, "id": id_}, label) if page.sign(x)]
    if stated and not partial:
        ended = stated.removesuffix(" (enclosed)")
        value = page.formula(stated, ()).item() if ended == stated else arb(ended)
        ball = isinstance(value, arb)
        wrong = [x for x in wrong if (value.overlaps(arb(page.value(x))) if ball else not page.sign(x - value))]
    if not wrong and id_ == "normalisable" and d.energy and d.build and d.dynamics.get("D"):
        return of_energy(claim, d, points, seed)
    require(wrong, f"{id_} does not fail as stated")
    return f"rechecked: {'exactly' if page.exact else 'enclosed'}"


def of_energy(claim: Json, d: Documents, points: Any, seed: str) -> str:
    """Judge whether exp(-U) by itself has a finite integral."""
    domains = {entry["domain"] for entry in declared(d.target, "state").values()}
    require(domains <= {*FREE, "positive", "nonnegative", "interval"}, "other domains", TrustedError)
    own = Documents({**d.parts, "dynamics": {**d.target, "H": d.energy, "D": None}})
    return {"refuted": refuted, "proved": proved}[claim["verdict"]](claim, own, points, seed)


def unique(claim: Json, d: Documents, _: Any, seed: str) -> str:
    """Look whether H is conserved, D = 0 and f.grad H = 0, where constants that may be 0 are: refuted it has to be."""
    witness = dict(claim["witness"] or {})
    slope, _ = witness.pop("a derivative of H", None), witness.pop("also stationary", None)

    def conserved(page: Page) -> bool:
        f, _, _, D, g = equation(page.admissible(), "unique")
        stated = page.scalar(slope or 0)
        require(not slope or any(page.vanish([x - stated]) and page.sign(x) for x in g), "not a derivative of H")
        return page.vanish([*D.flat, *(f.T @ array(g)).flat])

    if claim["verdict"] == "refuted":
        require(slope, "a second stationary density that is not a function of H", TrustedError)
        require(conserved(Page(d, witness)), "H is not conserved")
        return "rechecked: H is conserved at the point"
    never = {PD, "positive", "nonzero"}
    zeros = {name: "0" for name, x in d.parameters.items() if name not in d.values and not never & {*x["is"]}}
    for chosen in [{}, *({name: "0"} for name in zeros), zeros]:
        for sizes in d.sizes(every=claim["for_d"] == "all")[:2]:
            point = {**chosen, **{name: str(n) for name, n in sizes.items()}}
            try:
                kept = all(conserved(Page(d, point, f"{seed} {k}")) for k in range(2))
            except (FailureError, UnreadError):
                continue
            require(not kept, f"H is conserved{''.join(f', where {name} = 0' for name in chosen)}")
    return f"trusted: {claim['by']} (H is not conserved at points drawn here)"


def letters(items: Any) -> Iterator[tuple[str, fmpq]]:
    """Yield the pieces of a word with their shares, repetitions written out."""
    for item in listed(items):
        if isinstance(item, dict):
            for _ in range(int(item["repeat"])):
                yield from letters(item["of"])
            continue
        found = re.fullmatch(r"\s*(-?)\s*(?:(\d+)(?:/(\d+))?\s*\*\s*)?([A-Za-z]\w*)\s*(?:/\s*(\d+))?\s*", item)
        require(found, f"{item}, which is not a letter", UnreadError)
        sign, top, bottom, piece, over = found.groups() if found else [""] * 5
        yield piece, fmpq(int(f"{sign}{top or 1}"), int(bottom or 1) * int(over or 1))


def coefficient(word: list[tuple[str, fmpq]], product: tuple[str, ...]) -> fmpq:
    """Return that of a product of generators in exp(s_1 L_1) ... exp(s_m L_m): each letter takes up some of it."""
    taken = [fmpq(1), *[fmpq(0)] * len(product)]
    for piece, share in word:
        for end in range(len(product), 0, -1):
            for k in range(1, end + 1):
                if product[end - k] != piece:
                    break
                taken[end] += taken[end - k] * share**k / math.factorial(k)
    return taken[-1]


def of_word(claim: Json, d: Documents, _: Any, __: str) -> str:
    """Decide a claim about a word once more: its verdict has to be that."""
    word = list(itertools.islice(letters(d.scheme["split"]), MOST_LETTERS))
    pieces = d.scheme.get("pieces") or d.step.get("pieces") or {}
    stated = d.scheme.get("claims") or {}
    names = sorted({piece for piece, _ in word})
    match claim["id"]:
        case "shares":
            holds = all(sum((s for p, s in word if p == name), fmpq(0)) == 1 for name in {*names, *pieces})
        case "claimed_palindrome":
            holds = word == word[::-1]
        case "claimed_gradients":
            held = [
                n for n, own in pieces.items() if any({"U", "all"} & {*listed(s.get("H", "U"))} for s in listed(own))
            ]
            require(not d.build, "these pieces", TrustedError)
            kick = held[0] if held else "B"
            numerical = d.flows.get(kick) == "generalised"
            require(kick != "A" and {kick, "A"} <= {*names} and not numerical, f"gradients of {kick} cannot be counted")
            known = [piece == kick for piece, _ in word if piece in (kick, "A")]
            count = sum(here and not before for before, here in zip(known[-1:] + known, known, strict=False))
            holds = count == int(stated["gradients"])
        case "claimed_configurational":
            require(not pieces and not d.flows and {*names} <= {*"ABO"}, "these pieces", TrustedError)
            return as_wide(kept_word(word, d), claim["verdict"] == "proved", claim["witness"] or {})
        case _:
            p = int(stated["order"])
            require(not d.flows or p <= 2 or claim["verdict"] != "proved", "numerical flows have order 2")
            p = min(p, 2) if d.flows else p
            require(len(names) ** p * len(word) <= MOST_WORK, "this many products", TrustedError)
            every = (x for q in range(1, p + 1) for x in itertools.product(names, repeat=q))
            holds = all(is_right(word, product) for product in every)
    require(holds is (claim["verdict"] == "proved"), f"{claim['id']} is {'' if holds else 'not '}as claimed")
    return "rechecked: exactly"


def pairs(word: list[tuple[str, fmpq]], omega: Any, E: Any, n: int = 1) -> tuple[Any, Any]:
    """Return F and Sigma of a step of Langevin dynamics in theta = K^-1/2 x, r = M^1/2 y: kicks and drifts by omega.

    E is exp(-C eps/n), d x d, and omega is eps times that of every pair, d x d and diagonal.
    """
    d = omega.nrows()
    one, nil = (fmpq_mat([[fmpq(x * (i == j)) for j in range(d)] for i in range(d)]) for x in (1, 0))
    step, covariance = blocks_of(one, nil, nil, one), blocks_of(nil, nil, nil, nil)
    for piece, share in word:
        if piece == "O":
            power = functools.reduce(lambda made, _: made * E, range(int(share * n)), one)
            by, noise = blocks_of(one, nil, nil, power), blocks_of(nil, nil, nil, one - power * power.transpose())
        else:
            by = blocks_of(one, share * omega, nil, one) if piece == "A" else blocks_of(one, nil, -share * omega, one)
            noise = blocks_of(nil, nil, nil, nil)
        step, covariance = by * step, by * covariance * by.transpose() + noise
    return step, covariance


def blocks_of(*grids: Any) -> Any:
    """Return a matrix of four blocks."""
    d = grids[0].nrows()
    return fmpq_mat([[grids[2 * (i // d) + j // d][i % d, j % d] for j in range(2 * d)] for i in range(2 * d)])


def kept_by(F: Any, Sigma: Any) -> Any:
    """Return S = F S F.T + Sigma."""
    m = F.nrows()
    places = list(itertools.product(range(m), repeat=2))
    rows = [[fmpq(at == to) - F[at[0], to[0]] * F[at[1], to[1]] for to in places] for at in places]
    found = fmpq_mat(rows).solve(fmpq_mat([[Sigma[at]] for at in places]))
    return fmpq_mat([[found[i * m + j, 0] for j in range(m)] for i in range(m)])


def as_wide(word: list[tuple[str, fmpq]], exact: bool, at: Json) -> str:
    """Look at the covariance of theta: at planes with full friction if it is said to be exact, else at the witness."""
    shares = [share for piece, share in word if piece == "O"]
    require(len(word) <= MOST_WORD and all(share > 0 for share in shares), "a word of this length", TrustedError)
    n = math.lcm(*(int(share.q) for share in shares))
    if exact:
        require(shares, "no letter is an O, so its distribution is not determined")
        for k in (3, 5, 7):
            omega = fmpq_mat([[fmpq(1, k), fmpq(0)], [fmpq(0), fmpq(2, 3)]])
            E = fmpq_mat([[fmpq(1, 2), fmpq(1, k)], [fmpq(1, k), fmpq(3, 4)]])
            law = kept_by(*pairs(word, omega, E, n))
            require(all(law[i, j] == (i == j) for i in range(2) for j in range(2)), "Var theta is not that of exp(-U)")
        return "rechecked at points (d = 2, friction that is not diagonal)"
    told = {name.partition("(")[0]: value for name, value in at.items()}
    h = fmpq_mat([[fmpq(*map(int, told.get("eps omega", "1").split("/")))]])
    if shares:
        decay = fmpq_mat([[fmpq(*map(int, told["exp"].split("/")))]])
        law = kept_by(*pairs(word, h, decay, n))
        require(str(law[0, 0]) == told["omega^2 Var theta"] != "1", "theta has a different variance there")
        return "rechecked: exactly"
    require(told.get("omega^2 Var theta / Var r") != "1", "the stated variance is the one of exp(-U)")
    if "omega^2 Var theta / Var r" in told:
        v = fmpq(*map(int, told["omega^2 Var theta / Var r"].split("/")))
        step, law = pairs(word, h, h)[0], fmpq_mat([[v, fmpq(0)], [fmpq(0), fmpq(1)]])
        require(step * law * step.transpose() == law, "the step does not preserve the stated covariance")
    return "rechecked: exactly"


OF_STEPS = {"pieces", "palindrome", "configurational", "order"}
WORDS = {
    "lie": "B A O",
    "leapfrog": "B/2 A B/2",
    "baoab": "B/2 A/2 O A/2 B/2",
    "aboba": "A/2 B/2 O B/2 A/2",
    "obabo": "O/2 B/2 A B/2 O/2",
    "badodab": "B/2 A/2 xi/2 O xi/2 A/2 B/2",
    "respa": "S/2 F/8 A/4 F/8 F/8 A/4 F/8 F/8 A/4 F/8 F/8 A/4 F/8 S/2",
}
"""The words that builds may name."""


def of_step(claim: Json, d: Documents, _: Any, __: str) -> str:
    """Look at what the letters of a build's word say of its step: shares, the order for any pieces, backwards."""
    entry = d.step
    if entry.get("name") in EULER:
        return f"trusted: {claim['by']}"
    stated = entry.get("split") or d.scheme.get("split") or WORDS.get(str(entry.get("name")), "").split()
    word = list(itertools.islice(letters(stated), MOST_LETTERS))
    require(word, "the word of this name", TrustedError)
    word = kept_word(word, d)
    names = sorted({piece for piece, _ in word})
    shares = {name: sum((s for p, s in word if p == name), fmpq(0)) for name in names}
    proved, at = claim["verdict"] == "proved", claim["witness"] or {}
    match claim["id"]:
        case "pieces":
            require(not proved or all(s == 1 for s in shares.values()), "shares of a piece do not add up to one step")
            told = {name: at.get(f"share of {name} in the step", str(s)) for name, s in shares.items()}
            require(told == {name: str(s) for name, s in shares.items()}, "its letters have other shares than stated")
            return f"trusted: {claim['by']} (shares rechecked: exactly)"
        case "palindrome":
            require((claim["by"] == "it is a palindrome") is (word == word[::-1]), "palindrome: stated wrongly")
            return "rechecked: exactly"
        case "configurational":
            plain = {*names} <= {*"ABO"} and not (entry.get("pieces") or d.scheme.get("pieces"))
            require(proved and plain, "these pieces", TrustedError)
            told = dict(one.split(" = ") for one in claim["data"].get("at", "").split(", ") if one)
            return as_wide(word, claim["by"].startswith("exact"), told)
        case _:
            p = int(claim["data"].get("order", 0))
            ends = "not higher" in claim["by"]
            more = range(1, p + 1 + ends)
            require(sum(len(names) ** q for q in more) * len(word) <= MOST_WORK, "this many products", TrustedError)
            off = [q for q in more for x in itertools.product(names, repeat=q) if not is_right(word, x)]
            require(off[:1] == [p + 1] * ends, f"its letters do not give order {p}")
            return f"trusted: {claim['by']} (its letters rechecked: exactly)"


def kept_word(word: list[tuple[str, fmpq]], d: Documents) -> list[tuple[str, fmpq]]:
    """Return the letters of a step between draws, where a build or a scheme keeps these."""
    return begun_after(word, str(d.step.get("keep") or d.scheme.get("keep") or len(word)), d.flows)


def begun_after(word: list[tuple[str, fmpq]], place: str, numerical: Json) -> list[tuple[str, fmpq]]:
    """Return the letters of a step between draws that are kept after a letter, by its piece or its place.

    Where the first and the last are of one piece they are one letter, unless its flow is numerical.
    """
    pieces = [piece for piece, _ in word]
    k = (int(place) if place.isdigit() else pieces.index(place) + 1) % len(word)
    (*tail, (last, s)), head = word[k:], word[:k]
    if not head or head[0][0] != last or last in numerical:
        return [*tail, (last, s), *head]
    return [*tail, *([(last, s + head[0][1])] if s + head[0][1] else []), *head[1:]]


def is_right(word: list[tuple[str, fmpq]], product: tuple[str, ...]) -> bool:
    """Whether the coefficient of a product of generators is that of exp(L_1 + L_2 + ...)."""
    return coefficient(word, product) == fmpq(1, math.factorial(len(product)))


def every_move(cycle: Any) -> Iterator[Json]:
    """Yield the moves of a cycle in order, repetitions written out."""
    for move in listed(cycle):
        for _ in range(int(move.get("repeat", 1))):
            yield from every_move(move["of"]) if isinstance(move.get("of"), list) else [move]


def kind_of(move: Json) -> str:
    """Return what a move of a cycle does."""
    return next((kind for kind in KINDS_OF_MOVES if kind in move), "steps")


def forgotten(moves: list[Json], place: int) -> set[str]:
    """Return the blocks that are drawn wholly anew after a move before a word, or a refresh in part, reads them."""
    found, read = set[str](), set[str]()
    for move in (*moves[place + 1 :], *moves[:place]):
        own = move.get("refresh")
        if kind_of(move) in ("metropolis", "steps"):
            break
        if isinstance(own, str) and str(move.get("every", 1)) == "1":
            found |= {own} - read
        read |= {name for name, _ in pairs_of(own)} if isinstance(own, dict | list) else set()
    return found


def pieces_at(page: Page) -> dict[str, tuple[Array, Array, Poly]]:
    """Return drift, noise and L* 1 of the pieces A, B and O by their names, D and Q constants; * is by exp(-H)."""
    return page.once(("pieces",), lambda: _pieces_at(page))


def _pieces_at(page: Page) -> dict[str, tuple[Array, Array, Poly]]:
    d, n = page.d, page.coordinates
    looks = page.looks
    require(len(d.own) == 1 and d.Q, "these pieces", TrustedError)
    D, Q = (page.blocks(x) if x else diagonal([constant(0)] * n) for x in (d.D, d.Q))
    U, H = (page.scalar(text) for text in (f"{d.potential}({d.own[0]})", d.dynamics["H"]))
    slopes = [array(page.gradient(x, range(n))) for x in (H, U)]
    require(page.looks == looks and page.vanish(page.div(D + Q)), "these pieces", TrustedError)
    theta = {*page.ids[d.own[0]]}
    of_theta = array([[Q[i, j] if {i, j} & theta else constant(0) for j in range(n)] for i in range(n)])
    rest = slopes[0] - slopes[1]
    drifts = {"B": -product(Q, slopes[1]), "A": -product(of_theta, rest)}
    drifts["O"] = -product(D, slopes[0]) - product(Q - of_theta, rest)
    noises = {"A": D * 0, "B": D * 0, "O": D}
    return {name: (f, noises[name], pulled(page, f, noises[name], constant(1))) for name, f in drifts.items()}


def pulled(page: Page, f: Array, D: Array, psi: Poly) -> Poly:
    """Return L* psi = exp(H) (-div(f psi exp(-H)) + D : Hess(psi exp(-H))), D constants."""
    n = page.coordinates
    g, up = (page.gradient(x, range(n)) for x in (page.scalar(page.d.dynamics["H"]), psi))
    found = sum((f[i, 0] * (psi * g[i] - up[i]) - psi * page.slope(f[i, 0], i) for i in range(n)), constant(0))
    for i, j in np.argwhere(D != 0):
        twice = page.slope(up[i], j) - 2 * up[i] * g[j] + psi * (g[i] * g[j] - page.slope(g[i], j))
        found += D[i, j] * twice
    return found


def in_mean(page: Page, f: Poly, over: list[int]) -> Poly:
    """Return E[f] over coordinates that are N(0, inv(P)) under exp(-H), P free of them: exp(S : Hess/2) f at 0."""
    g = page.gradient(page.scalar(page.d.dynamics["H"]), over)
    P = array([page.gradient(x, over) for x in g])
    page.move({i: constant(0) for i in over})
    require(page.vanish(g), "a draw whose mean is not 0", TrustedError)
    S, found = page.here(inverse(page, page.here(P))[0]), constant(0)
    for k in range(MOST_PAIRS):
        found += f / (2**k * math.factorial(k))
        f = sum(
            (
                S[a, b] * page.slope(page.slope(f, i), j)
                for (a, i), (b, j) in itertools.product(enumerate(over), repeat=2)
            ),
            constant(0),
        )
        if f == 0:
            return found
    raise TrustedError("a power of a draw of this degree")


def refreshed(page: Page, block: str, kept: Any) -> None:
    """Require that a block b is N(0, inv(P)) under exp(-H) given all others: H = b.T P b/2 + what does not hold b."""
    over, x = [*page.ids[block]], page.formula(block)
    g = page.gradient(page.scalar(page.d.dynamics["H"]), over)
    P = array([page.gradient(y, over) for y in g])
    thirds = [page.slope(y, i) for y in P.flat for i in over]
    says = f"{block} is not normal with mean 0 under exp(-H) given the others"
    require(abs(page.value(page.scalar(kept))) < 1, f"the refresh of {block} keeps the share {kept}")
    require(page.vanish(thirds) and page.vanish(array(g) - product(P, x)) and KINDS[PD](page, P), says)


def law_of(page: Page, block: str, text: str) -> Poly:
    """Return the energy of a law that a target claims of a block."""
    x, law = page.formula(block), parse(text)
    require(isinstance(law, ast.Call) and isinstance(law.func, ast.Name), f"the law {text}", TrustedError)
    n, name, stated = len(x), law.func.id, [ast.unparse(one) for one in law.args]
    if name == "N":
        off = x - page.fit(stated[0], n, 1)
        return (off.T @ inverse(page, page.fit(stated[1], n, n))[0] @ off).item() / 2
    require(name in ENERGIES and x.shape[1] == 1, f"the law {text}", TrustedError)
    one = [page.formula(text) for text in stated]
    rows = [np.broadcast_to(y, x.shape).ravel() if y.size == 1 else y.ravel() for y in (x, *one)]
    return sum((ENERGIES[name](page, *row) for row in zip(*rows, strict=True)), constant(0))


ENERGIES: dict[str, Callable[..., Poly]] = {
    "Gamma": lambda f, x, a, b: b * x - (a - 1) * f.of("log", x),
    "InverseGamma": lambda f, x, a, b: b * f.of("inv", x) + (a + 1) * f.of("log", x),
    "Exponential": lambda f, x, b: b * x,
    "LogNormal": lambda f, x, m, v: f.of("log", x) + (f.of("log", x) - m) ** 2 * f.of("inv", v) / 2,
    "Beta": lambda f, x, a, b: (1 - a) * f.of("log", x) + (1 - b) * f.of("log", 1 - x),
    "Uniform": lambda f, x, a, b: constant(0),
}
"""Energies of claimed laws, but for what is free of x."""


def drawn_by_law(claim: Json, d: Documents, block: str, points: list[Point], seed: str) -> None:
    """Require that a claimed law is that under exp(-U) given the others, data being drawn here as numbers."""
    target, law = d.target, dict(declared_laws(d)).get(block)
    require(law, f"{block} is drawn, but no law of it is claimed")
    fields, domains = declared(target, "data"), {x["domain"] for x in declared(target, "state").values()}
    plain = domains <= {*FREE, "positive", "interval"} and not any("in" in x or not x["shape"] for x in fields.values())
    require(plain and not target.get("recursion"), "draws by row and of counts", TrustedError)
    own = {
        **target,
        "H": "0",
        "D": None,
        "parameters": [*pairs_of(target.get("parameters")), *pairs_of(target.get("data"))],
    }
    of = Documents({"dynamics": own, "build": {**d.build, "scheme": None}})
    at_values = AT_VALUES in claim["by"]  # else it holds for every value
    require(not at_values or not any(re.search(r"\bI\b", x) for x in of.values.values()), "a value I", TrustedError)
    of.values = of.values if at_values else {}
    for k, sizes in enumerate(of.sizes(every=False)[:2]):
        page = drawn(of, sizes, points, f"{seed} {k}")
        left = energy_of(page, target, {*fields}) - law_of(page, block, str(law))
        require(page.vanish(page.gradient(left, page.ids[block])), f"{block} is not {law} under exp(-U)")


def energy_of(page: Page, target: Json, fields: set[str]) -> Poly:
    """Return U = -log_prior - sum_n log_likelihood_n, or the potential."""
    if target.get("potential"):
        return page.scalar(target["potential"])
    found, values = -page.scalar(target.get("log_prior") or 0), {name: page.formula(name) for name in fields}
    for n in range(len(next(iter(values.values()))) if values else 0):
        page.forget()
        page.beside = {name: array([list(A[n])]) for name, A in values.items()}
        found -= page.scalar(target.get("log_likelihood") or 0)
    page.beside = {}
    page.forget()
    return found


def declared_laws(d: Documents) -> Iterator[tuple[str, Any]]:
    """Yield the laws that a target claims, by block."""
    laws = d.target.get("laws") or {}
    yield from laws.items() if isinstance(laws, dict) else laws


def turned_twice(at: Page, move: Json, points: list[Point]) -> None:
    """Require of an involution S that S(S(z, w)) = (z, w), and of a claimed log_ratio that it is the one derived."""
    d, maps, draws = at.d, dict(pairs_of(move["involution"])), dict(pairs_of(move.get("draws")))
    laws = {name: str(own.get("law") if isinstance(own, dict) else own) for name, own in draws.items()}
    new = [[name, {"shape": own.get("shape")} if isinstance(own, dict) else {}] for name, own in draws.items()]
    parameters = [*pairs_of(d.dynamics.get("parameters")), *pairs_of(d.target.get("parameters"))]
    own = {**d.dynamics, "state": [*pairs_of(d.dynamics["state"]), *new], "parameters": parameters}
    page = drawn(Documents({**d.parts, "dynamics": own}), at.sizes, points, at.seed)

    def read() -> tuple[list[Poly], Poly]:
        page.forget()
        image = [x for name, text in maps.items() for x in page.fit(text, len(page.ids[name]), 1).flat]
        return image, sum((law_of(page, name, law) for name, law in laws.items()), constant(0))

    over = [i for name in maps for i in page.ids[name]]
    (S, here), ends = read(), [0, *itertools.accumulate(len(page.ids[name]) for name in maps)]
    page.beside = {name: array(S[a:b]) for name, a, b in zip(maps, ends, ends[1:], strict=False)}
    twice, there = read()
    page.beside = {}
    page.forget()
    says = f"the map of {', '.join(maps)} is not an involution"
    require(page.vanish([x - RING.gen(i) for i, x in zip(over, twice, strict=True)]), says)
    if move.get("log_ratio"):
        volume = characteristic(array([page.gradient(x, over) for x in S]))[1][-1]
        off = page.scalar(move["log_ratio"]) - (here - there) - page.of("log", volume * volume) / 2
        require(page.vanish([off]), "the claimed log_ratio is wrong")


def pairs_of(entries: Any) -> list[tuple[str, Any]]:
    """Return the pairs of a mapping, which a document may hold as a list of them."""
    return [(str(k), x) for k, x in (entries.items() if isinstance(entries, dict) else entries or [])]


def balanced(page: Page, word: list[tuple[str, fmpq]], flip: set[str], eps: fmpq) -> bool:
    """Whether a word of shifts Psi, taken with min(1, exp(-W)), else turned by G, keeps exp(-H) at a point y exactly.

    With H(G y) = H(y) that is max(H(x), H(y)) = max(H(y), H(Psi G y)), Psi x = y.
    """
    y = [page.value(page.made[i][1]) for i in range(page.coordinates)]
    turned = {i for name in flip for i in page.ids[name]}
    back = [-x if i in turned else x for i, x in enumerate(y)]

    def energy(z: list[Any]) -> Any:
        page.move({i: constant(x) for i, x in enumerate(z)})
        found = page.value(page.scalar(page.d.dynamics["H"]))
        require(isinstance(found, fmpq), "an energy that is not rational", TrustedError)
        return found

    def along(z: list[Any], sign: int) -> list[Any]:
        for piece, share in word[::sign]:
            page.move({i: constant(x) for i, x in enumerate(z)})
            f = [page.value(x) for x in pieces_at(page)[piece][0].flat]
            require(all(isinstance(x, fmpq) for x in f), "a drift that is not rational", TrustedError)
            z = [x + sign * share * eps * v for x, v in zip(z, f, strict=True)]
        return z

    here, there = energy(y), energy(back)
    if here != there:
        return False
    x, ahead = energy(along(y, -1)), energy(along(back, 1))
    page.move({i: constant(x) for i, x in enumerate(y)})
    return max(x, here) == max(here, ahead)


def accepted(page: Page, move: Json, anew: set[str]) -> None:
    """Require that a word which is accepted or refused is its own reverse, and in balance at exact points.

    Blocks that are drawn wholly anew may be turned after a refusal, or not: one choice has to be in balance.
    """
    word = word_of(page.d)
    require(word == word[::-1], "the word that is accepted or rejected is not a palindrome")
    flip = {name for name, _ in pairs_of(move["metropolis"].get("flip"))}
    require(flip <= {*page.ids}, "the flip names something that is not a block")
    if any(piece not in "AB" for piece, _ in word) or has_own_pieces(page.d):
        raise TrustedError("letters that are not shifts")
    choices = [flip ^ {*some} for k in range(len(anew) + 1) for some in itertools.combinations(sorted(anew), k)]
    held = any(all(balanced(page, word, one, eps) for eps in (fmpq(1, 3), fmpq(1), fmpq(3))) for one in choices)
    require(held, "the Metropolis move does not preserve exp(-H)")


def word_of(d: Documents) -> list[tuple[str, fmpq]]:
    """Return the letters of a build's word."""
    stated = d.step.get("split") or d.scheme.get("split") or WORDS.get(str(d.step.get("name")), "").split()
    word = list(itertools.islice(letters(stated), MOST_LETTERS))
    require(word, "the word of this name", TrustedError)
    return word


def has_own_pieces(d: Documents) -> bool:
    """Whether pieces or flows are stated."""
    return bool(d.step.get("pieces") or d.scheme.get("pieces") or d.flows)


def followed(page: Page, drawn_anew: set[str], *, exact: bool) -> None:
    """Require of a word that is not refused that its pieces preserve exp(-H), or do together as eps goes to 0.

    With j = L* 1 of each piece and S the sum of s_k s_m over letters k before m, what a cycle adds to the density of
    the blocks that are not drawn anew is eps**2 times the mean of sum (S_pq - S_qp) (L_q* j_p - L_p* j_q)/2.
    """
    word = word_of(page.d)
    require({piece for piece, _ in word} <= {*"ABO"} and not has_own_pieces(page.d), "these pieces", TrustedError)
    made = pieces_at(page)
    names = sorted({piece for piece, _ in word})
    if all(page.vanish([made[name][2]]) for name in names):
        return
    require(not exact, "a piece does not preserve exp(-H) by itself")
    total = sum((share * made[piece][2] for piece, share in word), constant(0))
    require(page.vanish([total]), "exp(-H) is not stationary for the word")
    if not drawn_anew:
        return
    left = constant(0)
    for p, q in itertools.combinations(names, 2):
        done = list(enumerate(word))
        ahead = sum(
            (
                (s * t * ((x == p) - (x == q)))
                for (k, (x, s)), (m, (y, t)) in itertools.product(done, done)
                if k < m and {x, y} == {p, q}
            ),
            fmpq(0),
        )
        if ahead != 0:
            (f, D, j), (e, C, i) = made[p], made[q]
            left += ahead * (pulled(page, e, C, j) - pulled(page, f, D, i)) / 2
    over = [i for name in sorted(drawn_anew) for i in page.ids[name]]
    require(
        left == 0 or page.vanish([in_mean(page, left, over)]), "the cycle does not tend to exp(-H) as eps goes to 0"
    )


def of_moves(claim: Json, d: Documents, points: list[Point], seed: str) -> str:
    """Try what is proved of the moves of a cycle at points drawn here; what is not read is trusted."""
    moves, id_, seen, left = [*every_move(d.cycle)], claim["id"], dict[str, None](), dict[str, None]()
    every = {canonical(move): place for place, move in enumerate(moves) if id_ in ("cycle", "exact", kind_of(move))}
    for k, sizes in itertools.product(range(3), d.sizes(every=False)[:2]):
        for place in every.values():
            try:
                page = drawn(d, sizes, points, f"{seed} {k}")
                keeps_law(claim, page, moves, place, points)
                seen[kind_of(moves[place])] = None
            except UnreadError as what:
                left[f"{kind_of(moves[place])}: {what}"] = None
    tried = [f"{', '.join(seen)}: rechecked at points drawn here"] * bool(seen)
    return f"trusted: {claim['by']} ({'; '.join([*tried, *(f'not read: {one}' for one in left)])})"


def keeps_law(claim: Json, page: Page, moves: list[Json], place: int, points: list[Point]) -> None:
    """Require that a move preserves exp(-H) at a page; words without a refusal do in the limit, if not `exact`."""
    d, move, kind = page.d, moves[place], kind_of(moves[place])
    match kind:
        case "refresh":
            refreshed(page, *(pairs_of(own)[0] if not isinstance(own := move[kind], str) else (own, 0)))
        case "draw":
            drawn_by_law(claim, d, str(move[kind]), points, page.seed)
        case "involution":
            turned_twice(page, move, points)
        case "metropolis":
            accepted(page, move, forgotten(moves, place))
        case "steps":
            others = [own["refresh"] for own in moves if "refresh" in own]
            names = {name for own in others for name in ([own] if isinstance(own, str) else dict(pairs_of(own)))}
            followed(page, names, exact=claim["id"] == "exact")
        case _:
            raise TrustedError("its flow")


AT_VALUES = ", at the values of the build"
KINDS_OF_MOVES = ("refresh", "draw", "cir", "involution", "metropolis", "code")
OF_MOVES = {"refresh", "draw", "involution", "metropolis", "cycle", "exact"}


def premises_of(claim: Json, claims: list[Json]) -> list[Json]:
    """Return the claims that a claim rests on."""
    return [other for other in claims if other["id"] in RESTS_ON.get(claim["id"], ())]


def consistent(certificate: Json, d: Documents) -> None:
    """Require that all fits the documents, and each other; advisory claims of a later version decide nothing."""
    every, rest = certificate["claims"], {k: x for k, x in certificate.items() if k != "seal"}
    applicable = d.applicable()
    claims = [claim for claim in every if claim["id"] in KNOWN or claim["required"] is not False]
    require(certificate["certificate_version"] == VERSION, f"the certificate does not have version {VERSION}")
    require(certificate["seal"] == hashlib.sha256(canonical(rest).encode()).hexdigest(), "changed after it was made")
    held = hashlib.sha256(canonical(certificate["documents"]).encode()).hexdigest()
    require(certificate["digest"] == held, "the digest is not that of its documents")
    found = [claim["id"] for claim in claims]
    wanted = [id_ for _, id_ in applicable]
    require(found == wanted, f"the claims {wanted} apply, but it has {found}")
    for (part, id_), claim in zip(applicable, claims, strict=True):
        stops = id_ in STOPS and claim["verdict"] == "refuted"
        excused = not claim["required"] and id_ in EXCUSED and EXCUSED[id_](claim, d)
        advisory = ((part, id_) in ADVISORY and not stops) or excused
        require(claim["required"] is not bool(advisory), f"{id_} is {'not ' if advisory else ''}required")
        require(claim["verdict"] in ("proved", "refuted", "undecided"), f"{id_} is {claim['verdict']}")
    deciding = {c["verdict"] for c in claims if c["required"]}
    verdict = next((v for v in ("refuted", "undecided") if v in deciding), "proved")
    require(certificate["verdict"] == verdict, f"verdict {certificate['verdict']}, but its claims give {verdict}")
    for claim in (claim for claim in claims if claim["verdict"] == "proved"):
        for premise in premises_of(claim, claims):
            says = f"{claim['id']} is proved, but depends on {premise['id']}, which is {premise['verdict']}"
            open_ = premise["verdict"] == "undecided" and premise["says"] in claim["given"]
            require(premise["verdict"] == "proved" or open_, says)
    require(all(re.fullmatch("[a-z_]+", c["id"]) for c in every), "a claim has no valid name")
    require(certificate["assumptions"] == sorted({a for c in every for a in c["given"]}), "not the assumptions used")


def recheck(certificate: Json) -> list[tuple[str, str]]:
    """Return every claim with how it was re-checked; raises FailureError where something is not as stated."""
    d, found = Documents(certificate["documents"]), list[tuple[str, str]]()
    consistent(certificate, d)
    parts = iter(d.applicable())
    for claim in certificate["claims"]:
        bound = any(other["id"] == "bindings" and other["verdict"] == "proved" for other in certificate["claims"])
        claim: Json = {
            **claim,
            "bound": bound,
            "premises": [other["says"] for other in premises_of(claim, certificate["claims"])],
        }
        part = next(parts)[0] if claim["id"] in KNOWN else ""
        says = "undecided: nothing to re-check" if claim["verdict"] == "undecided" else f"trusted: {claim['by']}"
        looks = claim["id"] in CHECKS and part in ("dynamics", "build")
        judge = {"refuted": refuted, "proved": proved}.get(claim["verdict"]) if looks else None
        if part == "target" and claim["id"] == "normalisable" and d.energy:
            judge = of_energy if claim["verdict"] != "undecided" else None
        if part == "scheme" and claim["verdict"] != "undecided":
            judge = of_word
        if part == "build" and claim["id"] in OF_STEPS and claim["verdict"] != "undecided":
            judge = of_step
        if part == "build" and claim["id"] in OF_MOVES and claim["verdict"] == "proved":
            judge = of_moves
        if part and claim["verdict"] == "proved":
            d.resting_on(claim)
            d.on_trust(claim)
        if claim["id"] == "unique" and claim["verdict"] != "undecided":
            judge = unique
        if judge:
            try:
                says = judge(claim, d, certificate["points"], certificate["digest"])
            except UnreadError as what:
                soft = isinstance(what, TrustedError) or claim["id"] in SOFT
                if not soft:
                    raise
                require(judge is not refuted or claim["id"] in (*SOFT, "recovered_q"), f"{claim['id']}: {what}")
                says += f" (this checker cannot read {what})"
        granted = [one for one in claim["given"] if claim["verdict"] == "proved" and is_granted(claim, one)]
        says += f"; granted, not declared: {'; '.join(granted)}" if granted else ""
        found.append((claim["id"], says))
    return found


def not_rechecked(found: list[tuple[str, str]]) -> list[str]:
    """Return the claims of which nothing was rechecked or tried: one that was turned round by hand is not found out."""
    return [id_ for id_, says in found if re.match(r"trusted(?!.*\brechecked at points drawn here)", says)]


def _once(pairs: list[tuple[str, Any]]) -> Json:
    require(len(dict(pairs)) == len(pairs), "a key occurs twice", ValueError)
    return dict(pairs)


def main(files: list[str]) -> int:
    """Re-check files, and return the exit code."""
    worst = 0 if files else 2
    lines = [] if files else ["usage: python recheck.py FILE..."]
    for file in files:
        try:
            require(Path(file).stat().st_size <= MOST_BYTES, f"the file has more than {MOST_BYTES} bytes", ValueError)
            whole = json.loads(Path(file).read_text(encoding="utf-8"), object_pairs_hook=_once)
            pairs, verdicts = recheck(whole), [claim["verdict"] for claim in whole["claims"]]
            words = ["refuted, " if verdict == "refuted" else "" for verdict in verdicts]
            said, kind = [f"{id_}: {word}{says}" for (id_, says), word in zip(pairs, words, strict=True)], 0
            said += [f"not rechecked, but trusted: {', '.join(trusted)}"] if (trusted := not_rechecked(pairs)) else []
        except FailureError as reason:
            said, kind = [f"FAILED: {reason}"], 1
        except Exception as reason:  # whatever no certificate provokes
            said, kind = [f"not a certificate: {type(reason).__name__}: {str(reason)[:200]}"], 2
        lines, worst = [*lines, *(f"{file}  {line}" for line in said)], max(worst, kind)
    try:
        print(*lines, sep="\n", file=sys.stdout if files else sys.stderr, flush=True)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

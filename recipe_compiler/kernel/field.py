"""Polynomials over Q in functions of polynomials: values at a point, slopes by the chain rule, matrices.

A function of a polynomial is a generator of one ring. Values at the point are exact or enclosed in balls.
"""

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import flint
import numpy as np
from flint import arb, fmpq

from . import limits

DIGITS = 60
"""What balls of the most bits do not tell from 0 must be below 10**-DIGITS."""
RING = flint.fmpq_mpoly_ctx.get(tuple(f"g{k}" for k in range(limits.GENERATORS)), flint.Ordering.lex)
Number = fmpq | arb
Terms = list[tuple[fmpq, list[tuple[int, int]]]]
Poly = Any
"""A polynomial of python-flint in the generators of `RING`."""
Array = Any
"""A matrix of polynomials; a scalar is 1 x 1, a column n x 1."""


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
    require(work <= limits.WORK, "this many terms", TrustedError)
    return of(A, B)


def characteristic(A: Array) -> tuple[Array, list[Poly]]:
    """Return adjugate and sums of principal minors, the last the determinant, without division (Faddeev, LeVerrier)."""
    require(A.shape[0] == A.shape[1], "a matrix that is not square", UnreadError)
    found, adjugate = [constant(1)], A * 0
    for k in range(1, len(A) + 1):
        adjugate = diagonal([found[-1]] * len(A)) - product(A, adjugate)
        found.append(np.trace(product(A, adjugate)) / k)
    return adjugate, found[1:]


def _split_terms(x: Poly) -> Terms:
    """Return the terms of a polynomial: each coefficient with pairs of generator and power."""
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
        self.defined: set[tuple[int, bool]] = set()
        self.unknowns: dict[int, tuple[str, tuple[int, ...], tuple[int, ...]]] = {}
        self.used: set[int] = set()
        self.exact = self.smooth = True
        self.is_of_one_side = False
        self.shift: dict[int, Poly] = {}
        self.step, self.looks = -1, 0

    def coordinate(self, value: Poly) -> int:
        """Return the number of a new coordinate, which has a value."""
        require(len(self.made) < limits.GENERATORS, "this many functions", TrustedError)
        self.made.append(("", value))
        return len(self.made) - 1

    def of(self, name: str, u: Poly) -> Poly:
        """Return a function of a polynomial, which has to have a value."""
        found = [k for k, (other, v) in enumerate(self.made) if other == name and v == u]
        if not found:
            require(len(u) <= limits.TERMS, "this many terms", TrustedError)
            found = [self.coordinate(u)]
            self.made[-1] = (name, u)
        self.require_defined(found[0])
        return RING.gen(found[0])

    def unknown(self, label: str, over: tuple[int, ...], instance: Poly, by: tuple[int, ...] = ()) -> Poly:
        """Return a derivative of an unknown function of coordinates, the values of which are those of an instance."""
        key = label, over, by
        found = [k for k, known in self.unknowns.items() if known == key] or [self.coordinate(instance)]
        self.unknowns[found[0]] = key
        return RING.gen(found[0])

    def require_defined(self, k: int) -> None:
        """Require that a generator has a value at the point, and slopes where those are asked."""
        self.used.add(k)
        if (k, self.smooth) in self.defined:
            return
        (name, u), looks = self.made[k], self.looks
        require(name != "inv" or self.sign(u), f"1/({self.value(u)})", UndefinedError)
        require("root" not in name or self.sign(u) >= self.smooth, f"a root of {self.value(u)}", UndefinedError)
        values = (self.value(RING.gen(k), bits) for bits in limits.PRECISIONS)
        require(any(isinstance(x, fmpq) or x.is_finite() for x in values), f"{name}({u})", UndefinedError)
        self.looks = looks  # once: the same function is the same generator elsewhere
        self.defined.add((k, self.smooth))

    def value(self, x: Poly, bits: int = limits.PRECISIONS[0]) -> Number:
        """Return the value at the point: exact, or a ball, which is not finite where there is none."""
        if x.is_constant():
            return sum(x.coeffs(), fmpq(0))
        self.looks += 1
        _, used, terms = self._cached_terms(x)
        at = {k: self._generator_value(k, bits) for k in used}
        exact = {k: v for k, v in at.items() if isinstance(v, fmpq)}
        if not terms and len(exact) == len(at):
            return x(*(at.get(k, 0) for k in range(limits.GENERATORS)))
        rest = dict[tuple[tuple[int, int], ...], fmpq]()  # what is exact is put in exactly
        known = dict[tuple[int, int], fmpq]()
        for c, powers in terms or _split_terms(x.subs(exact)):
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

    def _cached_terms(self, x: Poly) -> tuple[Poly, list[int], Terms]:
        """Return a polynomial, its generators and, if it is short, its terms; computed once per object."""
        if self.known_terms.get(id(x), (None,))[0] is not x:
            used = [k for k, degree in enumerate(x.degrees()) if degree]
            self.known_terms[id(x)] = x, used, _split_terms(x) if len(x) <= limits.FEW_TERMS else []
        return self.known_terms[id(x)]

    def whole(self, x: Poly) -> int:
        """Return the value at the point, which has to be a whole number."""
        value = self.value(x)
        require(isinstance(value, fmpq) and value.q == 1, f"{x}, which is not an integer", UnreadError)
        return int(str(value))

    def _generator_value(self, k: int, bits: int) -> Number:
        """Return the value of a generator at the point, computed once per precision."""
        if (k, bits) not in self.known:
            name, u = self.made[k]
            v = self.value(u, bits)
            if name == "inv" and isinstance(v, fmpq):
                require(v, f"1/({u})", UndefinedError)
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
        values = (self.value(x, bits) for bits in limits.PRECISIONS)
        v = next((v for v in values if isinstance(v, fmpq) or v > 0 or v < 0), None)
        self.exact &= isinstance(v, fmpq)
        ball = arb(self.value(x, limits.PRECISIONS[-1]) if v is None else v)
        require(ball.is_finite(), f"{ball}, which is not finite", UndefinedError)
        require(v is not None or ball.abs_upper() < arb(10) ** -DIGITS, f"the sign of {ball}", UnreadError)
        return 0 if v is None else int(v > 0) - int(v < 0)

    def side(self, x: Poly) -> int:
        """Return the sign near the point; where it changes, what depends on it has a kink and is not read."""
        at = self.sign(x)
        self.is_of_one_side |= not x.is_constant()
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
            self.known_slopes[id(x), i] = x, self._differentiate(x, i)
        return self.known_slopes[id(x), i][1]

    def _differentiate(self, x: Poly, i: int) -> Poly:
        """Return the derivative by a coordinate: the chain rule over all generators of the polynomial."""
        found, work = constant(0), 0
        for k in [] if x.is_constant() else [k for k, degree in enumerate(x.degrees()) if degree]:
            if (k, i) not in self.slopes:
                name, u = self.made[k]
                label, over, by = self.unknowns.get(k, ("", (), ()))
                if i in over:
                    self.slopes[k, i] = self.unknown(label, over, self.slope(u, i), tuple(sorted((*by, i))))
                else:
                    inner = self.slope(u, i) if name else constant(int(k == i))
                    outer = FUNCTIONS[name][1](self, u, RING.gen(k)) if name and len(inner) else constant(1)
                    require(len(outer) * len(inner) <= limits.WORK, "this many terms", TrustedError)
                    self.slopes[k, i] = outer * inner
            if self.slopes[k, i] != 0:
                along = x.derivative(k)
                work += len(along) * len(self.slopes[k, i])
                require(work <= limits.WORK, "this many terms", TrustedError)
                found += along * self.slopes[k, i]
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
        terms = math.comb(abs(n) + max(len(x), 1) - 1, abs(n)) if abs(n) <= limits.EXPONENT else limits.TERMS
        bits = max((c.height_bits() for c in x.coeffs()), default=0) * abs(n)
        require(max(abs(int(q.p)), root) <= limits.EXPONENT and bits <= limits.BITS, f"a power {q}", UnreadError)
        require(terms < limits.TERMS, f"a power {q}", UnreadError)
        base = x if n >= 0 else constant(1 / self.value(x)) if x.is_constant() and len(x) else self.of("inv", x)
        whole = base ** abs(n)
        if root == 1:
            return whole
        least = min((int(m[self.step]) for m in x.monoms()), default=0) if self.step >= 0 else 0
        if least and (least * q).q == 1:
            s = RING.gen(self.step)
            return s ** int((least * q).p) * self.power(x / s**least, constant(q))
        require(root < limits.ROOT, f"a power {q}", UnreadError)
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
    "atan": (arb.atan, lambda f, u, t: f.of("inv", u * u + 1)),
    "asinh": (arb.asinh, lambda f, u, t: f.of("inv", f.of("root 2", u * u + 1))),
    "pi": (lambda _: arb.pi(), lambda f, u, t: constant(0)),
    "erf": (arb.erf, lambda f, u, t: 2 * f.of("exp", -u * u) * f.of("inv", f.of("root 2", f.of("pi", constant(0))))),
    "gamma": (arb.gamma, lambda f, u, t: t * f.of("polygamma 1", u)),
}
for n in range(limits.ROOT):
    FUNCTIONS[f"root {n}"] = (lambda x, n=n: x.root(n), lambda f, u, t, n=n: t * f.of("inv", u) / n)
    FUNCTIONS[f"polygamma {n}"] = (functools.partial(log_gamma, n), lambda f, u, t, n=n: f.of(f"polygamma {n + 1}", u))
"""Value and slope of each function of u, itself t; `polygamma n` is the n-th derivative of log gamma."""
SIGNED = {"positive": {1}, "nonnegative": {0, 1}, "nonzero": {-1, 1}}
PD, PSD = "positive definite", "positive semidefinite"
KINDS: dict[str, Callable[[Field, Array], bool]] = {
    "real": lambda f, A: True,
    "symmetric": lambda f, A: f.vanish(A - A.T),
    "skew": lambda f, A: f.vanish(A + A.T),
    "diagonal": lambda f, A: f.vanish(A - diagonal(np.diag(A))),
    PD: lambda f, A: f.vanish(A - A.T) and all(f.sign(c) > 0 for c in characteristic(f.here(A))[1]),
    PSD: lambda f, A: f.vanish(A - A.T) and all(f.sign(c) >= 0 for c in characteristic(f.here(A))[1]),
}


def has_kinds(f: Field, A: Array, kinds: list[str]) -> bool:
    """Whether a matrix has all kinds at the point; signs concern every entry, on the diagonal for a diagonal one."""
    signs = {f.sign(x) for x in (np.diag(A) if "diagonal" in kinds else A.flat)} if {*kinds} & {*SIGNED} else set[int]()
    return all(signs <= SIGNED[kind] if kind in SIGNED else KINDS[kind](f, A) for kind in kinds)


def cholesky(f: Field, A: Array) -> Array:
    """Return the lower triangular L with L L^T = A; UndefinedError where A is not symmetric and definite."""
    require(f.vanish(A - A.T), "the Cholesky factor of a matrix that is not symmetric", UndefinedError)
    L = A * constant(0)
    for j in range(len(A)):
        for i in range(j, len(A)):
            rest = A[i, j] - sum((L[i, k] * L[j, k] for k in range(j)), constant(0))
            if i == j:
                require(f.sign(rest) > 0, "the Cholesky factor of a matrix that is not definite", UndefinedError)
            L[i, j] = f.of("root 2", rest) if i == j else rest * f.of("inv", L[j, j])
    return L


def inverse(f: Field, A: Array) -> tuple[Array, Poly]:
    """Return inverse and determinant."""
    adjugate, (*_, determinant) = characteristic(A)
    return adjugate * array([f.power(determinant, constant(-1))]), determinant

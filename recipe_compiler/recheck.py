"""Re-check a certificate of `recipe check --certificate` without the compiler: `python recheck.py FILE`.

This file stands alone (Python, NumPy, SymPy): it reads formulas itself, puts exact numbers for every size, parameter,
field and coordinate, and computes D - D.T, Q + Q.T, v.T D v, drifts and Fokker-Planck residuals anew. A finding is
*rechecked* (a witness, a sum of squares), *rechecked at sizes ...* (an identity, at exact points) or *trusted: ...*,
never more. Exit code 0: nothing failed; 1: something did; 2: no certificate. Laid out to fit 300 lines.
"""
# fmt: off
# pyright: basic

import ast
import functools
import hashlib
import json
import operator
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

VERSION, DIGITS, LARGEST, ADVISORY = 1, 60, 99, ("unique", "units", "step_scale", "independence", "recovered_q")
NEEDED = {"D": {"d_symmetric", "d_psd"}, "Q": {"q_skew", "stationary"}, "drift": {"claimed_stationary"}}
IDENTITIES = ("d_symmetric", "d_psd", "q_skew", "stationary", "claimed_drift", "claimed_stationary")
array = functools.partial(np.array, dtype=object)
canonical = functools.partial(json.dumps, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
NUMBER = re.compile(r"-?\d+(/\d+)?")
NAMES = ("exp", "log", "sqrt", "sign", "sin", "cos", "tan", "tanh", "atan", "cosh", "sinh", "erf", "gamma", "loggamma")
Rule = Callable[[Any], Any]
SCALAR: dict[str, Rule] = {
    **{name: getattr(sp, name) for name in NAMES}, "abs": sp.Abs,
    "log1p": lambda x: sp.log(1 + x), "expm1": lambda x: sp.exp(x) - 1,
    "softplus": lambda x: sp.log(1 + sp.exp(x)), "sigmoid": lambda x: 1 / (1 + sp.exp(-x)),
}
MATRIX: dict[str, Callable[..., Any]] = {
    "inv": lambda A: array(A.inv(method="DMNC")), "det": lambda A: A.det(), "logdet": lambda A: sp.log(A.det()),
    "sum": sum, "trace": lambda A: A.trace(), "diag": lambda A: array(sp.diag(*A)), "dot": lambda u, v: (u.T * v)[0, 0],
    "norm2": lambda u: (u.T * u)[0, 0], "outer": lambda u, v: array(u * v.T),
}
OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: lambda a, b: a + -1 * b, ast.Mult: operator.mul,
    ast.Pow: lambda a, b: a**b if not b.is_Number or abs(b) <= LARGEST else _unread(f"the exponent {b}"),
    ast.Div: lambda a, b: a * b ** sp.Integer(-1), ast.MatMult: lambda a, b: _product(a, b),
}
KINDS: dict[str, Rule] = {
    "positive": lambda A: min(A) > 0, "nonnegative": lambda A: min(A) >= 0, "nonzero": lambda A: 0 not in A,
    "symmetric": lambda A: A == A.T, "skew": lambda A: A == -A.T, "diagonal": lambda A: A.is_diagonal(),
    "positive definite": lambda A: _definite(A, 1), "positive semidefinite": lambda A: _definite(A, 0),
}

class FailureError(Exception):
    """The certificate, or a finding of it, is not what it says it is."""
class UnreadError(Exception):
    """This checker cannot evaluate a formula: the finding stays trusted."""

class Fill:
    """`c*I`, or `c*ones` as a column or a row, of a size that only its surroundings tell."""
    __array_ufunc__ = None
    def __init__(self, c: Any, kind: str) -> None:
        self.c, self.kind = c, kind
        self.T = self if kind == "I" else None if kind == "row" else Fill(c, "row")
    def at(self, rows: int, cols: int) -> Any:
        """Return it as a matrix."""
        return array(sp.diag(*[self.c] * rows) if self.kind == "I" else self.c * sp.ones(rows, cols))
    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return self.at(*other.shape) + other
        return Fill(self.c + other.c, self.kind) if isinstance(other, Fill) else self.c + other
    def __mul__(self, other: Any) -> Any:
        return self.at(*other.shape) * other if isinstance(other, np.ndarray) else Fill(self.c * other, self.kind)
    __radd__, __rmul__ = __add__, __mul__

def _require(holds: bool, says: str) -> None:
    if not holds:
        raise FailureError(says)
def _product(a: Any, b: Any) -> Any:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Fill) and one.kind == "I":
            return other * one.c
    a = a.at(1, len(b)) if isinstance(a, Fill) else a
    b = b.at(a.shape[1], 1) if isinstance(b, Fill) else b
    found = a * b if isinstance(a, sp.Expr) or isinstance(b, sp.Expr) else a @ b  # what has size 1 was made a scalar
    return found[0, 0] if isinstance(found, np.ndarray) and found.size == 1 else found
def _unread(what: Any) -> Any:
    raise UnreadError(what)
def _applied(name: str, values: list[Any]) -> Any:
    if isinstance(values[0], Fill) and name == "inv":
        return Fill(1 / values[0].c, "I")
    if name not in {*SCALAR, *MATRIX} or any(isinstance(value, Fill) for value in values):
        return _unread(name)
    matrices = (sp.Matrix(np.atleast_2d(value)) for value in values)
    return np.frompyfunc(SCALAR[name], 1, 1)(*values) if name in SCALAR else MATRIX[name](*matrices)
def _slope(name: str, what: Any, over: Any) -> Any:
    z, rows = np.ravel(over), np.atleast_2d(what)
    grad = [[sp.diff(what, x)] if name == "grad" else [sp.diff(what, x, y) for y in z] for x in z if name != "div"]
    found = grad or [[sum(sp.diff(a, x) for a, x in zip(row, z, strict=True))] for row in rows]
    return found[0][0] if len(found) == 1 else array(found)
def _sign(value: Any) -> int:
    """Return the sign of a number: exactly of a rational one, to 60 digits of another."""
    value = value if value.is_Rational else sp.N(value, DIGITS)
    value = value if value.is_Rational or value.is_Float else _unread(f"the value {value}")
    return int(sp.sign(value)) if value.is_Rational or abs(value) > sp.Rational(1, 10 ** (DIGITS // 2)) else 0
def _definite(A: Any, least: int) -> bool:
    """Whether A is symmetric and the signs of its characteristic coefficients are at least `least`."""
    return A == A.T and all((-1) ** k * _sign(c) >= least for k, c in enumerate(A.charpoly().all_coeffs()))

class Page:
    """A document at fixed sizes, with an exact value for everything that it declares."""
    def __init__(self, document: Any, build: Any, point: dict[str, str]) -> None:
        self.document, self.bind = document, build.get("bind", {})
        self.functions, state = dict(document.get("functions", [])), dict(document["state"])
        self.declared = {**dict(document.get("parameters", [])), **dict(build.get("parameters", [])), **self.functions}
        known = {*state, *self.declared, *(key for key in point if "(" in key)}
        self.sizes = {name: sp.Integer(text) for name, text in point.items() if name not in known}
        self.known: Any = {"pi": sp.pi, **{name: Fill(sp.Integer(1), name) for name in ("I", "ones")}, **self.sizes}
        for name, n in ((name, entry.get("shape", "scalar")) for name, entry in state.items()):
            labels = [name] if n == "scalar" else [f"{name}[{k}]" for k in range(int(str(self.sizes.get(n, n))))]
            column = array([[sp.Symbol(label, real=True)] for label in labels])
            self.known[name] = column[0, 0] if n == "scalar" else column
        self.state = {name: self.known[name] for name in state}
        self.heights = [np.size(block) for block in self.state.values()]
        self.z = [x for block in self.state.values() for x in np.ravel(block)]
        self.values = {name: self.formula(point[name]) for name in point if name in known}
        found = [np.ravel(self.values.pop(name, block)) for name, block in self.state.items()]
        self.at = dict(zip(self.z, (x for block in found for x in block), strict=True))
        self.known |= self.values
        self._check_admissible()
    def formula(self, text: str) -> Any:
        """Return the value of a formula, as `read` does."""
        return self._read(ast.parse(text, mode="eval").body)
    def _read(self, node: ast.expr) -> Any:
        """Return a formula as an expression in the coordinates, an array of them, or a multiple of I."""
        match node:
            case ast.Constant(int() | float() as value):
                return sp.Rational(str(value))
            case ast.List(rows):
                return array([[self._read(x) for x in getattr(row, "elts", [row])] for row in rows])
            case ast.Name(name):
                return self._name(name)
            case ast.UnaryOp(ast.USub(), arg):
                return -1 * self._read(arg)
            case ast.BinOp(left, op, right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self._read(left), self._read(right))
            case ast.Attribute(arg, "T"):
                value = self._read(arg)
                return value if isinstance(value, sp.Expr) else value.T
            case ast.Subscript(arg, index):
                at = [int(self._read(k)) for k in (index.elts if isinstance(index, ast.Tuple) else [index])]
                return np.atleast_2d(self._read(arg))[at[0], at[1] if len(at) > 1 else 0]
            case ast.Call(ast.Name(name)) if name in self.functions or name in self.bind:
                return self._name(name)
            case ast.Call(ast.Name("grad" | "div" | "hessian" as name), [what, ast.Name(block)]):
                return _slope(name, self._read(what), self.state[block])
            case ast.Call(ast.Name(name), args):
                return _applied(name, [self._read(arg) for arg in args])
            case _:
                return _unread(ast.unparse(node))
    def _name(self, name: str) -> Any:
        if name in self.bind:
            return self.formula(self.bind[name])
        if name in self.functions:
            of = self.functions[name]["of"]
            name = f"{name}({of if isinstance(of, str) else ', '.join(of)})"
        return self.known[name] if name in self.known else _unread(name)
    def _fit(self, text: str, rows: int, cols: int) -> Any:
        value = self.formula(text)
        return value.at(rows, cols) if isinstance(value, Fill) else np.broadcast_to(array(value), (rows, cols))
    def matrix(self, *names: str) -> Any:
        """Return the first of the matrices that the document holds: D, Q, the claimed diffusion."""
        stated = {"diffusion": self.document.get("claims", {}).get("diffusion"), **self.document}
        n, text = self.heights, next(stated[name] for name in names if stated.get(name))
        rows = [[self._fit(x, h, w) for x, w in zip(row, n, strict=True)] for row, h in zip(text, n, strict=True)]
        return sp.Matrix(np.block(rows))
    def vanishing(self, claim: str) -> list[Any]:
        """Return what a claim says vanishes: f = -(D+Q) g + Gamma, g = grad H; J.g - div J, J = f - div D + D g."""
        def div(A: Any) -> Any:
            return sp.Matrix([sum(sp.diff(A[i, j], x) for j, x in enumerate(self.z)) for i in range(A.rows)])

        D, stated = self.matrix("D", "diffusion"), self.matrix("diffusion", "D")
        if claim == "d_symmetric":
            return list(self.here(D - D.T))
        Q = self.matrix("Q") if claim != "claimed_stationary" else D * 0
        if claim == "q_skew":
            return list(self.here(Q + Q.T))
        H = self.formula(self.document["H"])
        g = sp.Matrix([sp.diff(H, x) for x in self.z])
        recipe = div(D + Q) - (D + Q) * g
        drifts = self.document.get("claims", {}).get("drift", {})
        f = np.vstack([self._fit(drifts.get(k, "0"), n, 1) for k, n in zip(self.state, self.heights, strict=True)])
        if claim == "claimed_drift":
            return list(self.here(sp.Matrix([*(sp.Matrix(f) - recipe), *(stated - D)])))
        f, spread = (recipe, D) if claim == "stationary" else (sp.Matrix(f), stated)
        J = f - div(spread) + spread * g
        return [self.here(sum((J[i] * g[i] - sp.diff(J[i], x) for i, x in enumerate(self.z)), sp.Integer(0)))]
    def here(self, found: Any) -> Any:
        """Return it at the point."""
        return found.xreplace(self.at).doit()
    def _check_admissible(self) -> None:
        for name, value in self.values.items():
            kinds = self.declared.get(name.partition("(")[0], {}).get("is", "real")
            A = self.here(sp.Matrix(np.atleast_2d(value)))
            holds = all(KINDS.get(kind, bool)(A) for kind in ([kinds] if isinstance(kinds, str) else kinds))
            _require(holds, f"{name} = {A.tolist()} is not {kinds}")
        for name, entry in self.document["state"]:
            domain, x = entry.get("domain", "real"), [self.at[z] for z in np.ravel(self.state[name]) if self.at[z] != z]
            inside = domain[:3] not in ("pos", "sim") or (min(x, default=1) > 0 and (domain[0] == "p" or sum(x) < 1))
            _require(inside, f"{name} = {x} is outside its domain, {domain}")
def _part(page: Page, name: str) -> Any:
    """Return the part of D that a claim names, `D[r,r]` or `D of (theta, r)`, at the point."""
    blocks = re.split(r", ?", re.findall(r"[\[(]([^\])]*)[\])]", name)[0])
    chosen = [i for i, z in enumerate(page.z) if str(z).partition("[")[0] in blocks]
    return page.here(page.matrix("D", "diffusion")).extract(chosen, chosen)
def _squares(page: Page, data: dict[str, str], rng: random.Random) -> bool:
    """Whether v.T D v = sum_k w_k m_k.T G_k m_k for parts of D, with exact Gram matrices G_k >= 0 and w_k >= 0."""
    for part in {key.partition(": ")[0] for key in data if ": Gram" in key}:
        own = {key.partition(": ")[2]: text for key, text in data.items() if key.startswith(f"{part}: ")}
        D = _part(page, part)
        v: Any = sp.Matrix([rng.randint(-9, 9) for _ in range(D.rows)])
        page.known |= {f"v{i}": x for i, x in enumerate(v)}
        page.known |= {k: page.here(page.formula(text)) for k, text in own.items() if NUMBER.fullmatch(k[1:])}
        left = page.here(page.formula(own["times"])) * (v.T * D * v)[0, 0]
        for k in (key.split()[-1] for key in own if key.startswith("Gram")):
            G, m, w = (page.formula(own[f"{key} {k}"]) for key in ("Gram matrix", "monomials", "multiplier"))
            _require(_definite(sp.Matrix(G), 0) and _sign(w) >= 0, f"{part}: not a sum of squares")
            left -= w * (m.T @ G @ m)[0, 0]
        _require(_sign(left) == 0, f"{part}: not the sum of squares stated")
    return any(": Gram" in key for key in data)
def _refuted(claim: Any, document: Any, build: Any, *_: Any) -> str:
    *point, (name, stated) = claim["witness"].items()
    page = Page(document, build, {k: v for k, v in point if k != "v"})
    if claim["id"] == "d_psd":
        v = sp.Matrix(np.ravel(page.formula(dict(point).get("v", "1"))))
        wrong = [x for x in v.T * _part(page, name) * v if _sign(x) < 0]
    else:
        wrong = [x for x in page.vanishing(claim["id"]) if _sign(x)]
    exact = "enclosed" not in stated
    _require(bool(wrong) and (not exact or page.formula(stated) in wrong), f"{claim['id']} does not fail as stated")
    return "rechecked: exactly" if exact else f"rechecked: to {DIGITS} digits"
def _proved(claim: Any, document: Any, build: Any, points: list[dict[str, str]], rng: random.Random) -> str:
    seen, squares = dict[str, None](), False
    free = {name for name, entry in document["state"] if not (document.get("assume") or entry.get("domain"))}
    for point in points:
        moved = {k: NUMBER.sub(lambda _: f"{rng.randint(-9, 9)}/{rng.randint(1, 4)}", point[k]) for k in free}
        page = Page(document, build, point | moved)
        if claim["id"] == "d_psd":
            _require(_definite(page.here(page.matrix("D", "diffusion")), 0), f"D is not >= 0 at {point | moved}")
            squares = _squares(page, claim["data"], rng)
        else:
            _require(not any(map(_sign, page.vanishing(claim["id"]))), f"{claim['id']} fails at {point | moved}")
        seen[", ".join(f"{name} = {n}" for name, n in page.sizes.items()) or "the document's"] = None
    _require(bool(seen), f"{claim['id']}: no point to re-check it at")
    beyond = "Gram matrices exactly" if squares else f"beyond them trusted: {claim['by']}"
    return f"rechecked at sizes {'; '.join(seen)} (exact points); {beyond}"
def _check_whole(certificate: Any) -> None:
    rest = {key: value for key, value in certificate.items() if key != "seal"}
    claims, documents = certificate["claims"], certificate["documents"]
    stated = {**documents.get("dynamics", {}), **documents.get("dynamics", {}).get("claims", {})}
    missing = {id for key in NEEDED if stated.get(key) for id in NEEDED[key]} - {claim["id"] for claim in claims}
    deciding = {c["verdict"] for c in claims if c["required"] or c["id"] not in (*ADVISORY, "normalisable")}
    verdict = next((v for v in ("refuted", "undecided") if v in deciding), "proved")
    _require(certificate["certificate_version"] == VERSION, f"its version is not {VERSION}")
    _require(certificate["seal"] == hashlib.sha256(canonical(rest).encode()).hexdigest(), "changed after it was made")
    _require(certificate["digest"] == hashlib.sha256(canonical(documents).encode()).hexdigest(), "not its document")
    _require(not missing, f"claims are missing: {', '.join(sorted(missing))}")
    _require(certificate["verdict"] == verdict, f"verdict {certificate['verdict']}, but its claims give {verdict}")
    _require(set(certificate["assumptions"]) == {a for c in claims for a in c["given"]}, "not the assumptions used")
def recheck(certificate: Any) -> list[tuple[str, str]]:
    """Return each claim with how it was re-checked; raise FailureError where something does not hold."""
    _check_whole(certificate)
    documents, rng, found = certificate["documents"], random.Random(certificate["digest"]), list[tuple[str, str]]()
    dynamics, build = documents.get("dynamics", {}), documents.get("build", {})
    for claim in certificate["claims"]:
        says = "undecided: nothing to re-check" if claim["verdict"] == "undecided" else f"trusted: {claim['by']}"
        converted = "interpretation" in dynamics.get("claims", {}) and claim["id"].startswith("claimed")
        judge = {"refuted": _refuted, "proved": _proved}.get(claim["verdict"])
        try:
            if judge and claim["id"] in IDENTITIES and not converted:
                says = judge(claim, dynamics, build, certificate["points"], rng)
        except UnreadError as what:
            says += f" (this checker cannot read {what})"
        found.append((claim["id"], says))
    return found
def main(files: list[str]) -> int:
    """Print how every claim was re-checked; return the exit code."""
    worst = 0 if files else 2
    for file in files:
        try:
            for claim, says in recheck(json.loads(Path(file).read_text(encoding="utf-8"))):
                print(f"{file}  {claim}: {says}")
        except Exception as reason:  # whatever a file that is no certificate provokes
            kind = 1 if isinstance(reason, FailureError) else 2
            print(f"{file}  {'FAILED' if kind == 1 else 'no certificate'}: {reason!r}")
            worst = max(worst, kind)
    return worst
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

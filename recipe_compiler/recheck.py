"""Re-check a certificate of `recipe check --certificate` without the compiler: `python recheck.py FILE`.

This file stands alone (Python, NumPy, SymPy). It reads formulas with an evaluator of its own, puts exact numbers for
every size, parameter, field and coordinate, and computes D - D.T, Q + Q.T, v.T D v, drifts and Fokker-Planck residuals
anew. A finding is *rechecked* (a witness), *rechecked at sizes ...* (an identity, at exact points) or *trusted: ...*,
never more. Exit code 0: nothing failed; 1: something did; 2: this is no certificate.
"""
# fmt: off: one empty line between functions keeps the whole within 300 lines, to be read in one sitting

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
import sympy

sp: Any = sympy  # without types of its own
VERSION, DIGITS = 1, 60
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
    ast.Add: operator.add, ast.Sub: lambda a, b: a + -1 * b, ast.Mult: operator.mul, ast.Pow: operator.pow,
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
    a, b = a.at(1, len(b)) if isinstance(a, Fill) else a, b.at(a.shape[1], 1) if isinstance(b, Fill) else b
    found = a * b if isinstance(a, sp.Expr) or isinstance(b, sp.Expr) else a @ b  # what has size 1 was made a scalar
    return found[0, 0] if isinstance(found, np.ndarray) and found.size == 1 else found

def _applied(name: str, values: list[Any]) -> Any:
    if isinstance(values[0], Fill) and name == "inv":
        return Fill(1 / values[0].c, "I")
    if name not in {*SCALAR, *MATRIX} or any(isinstance(value, Fill) for value in values):
        raise UnreadError(name)
    matrices = (sp.Matrix(np.atleast_2d(value)) for value in values)
    return np.frompyfunc(SCALAR[name], 1, 1)(*values) if name in SCALAR else MATRIX[name](*matrices)

def _sign(value: Any) -> int:
    """Return the sign of a number: exactly of a rational one, to 60 digits of another."""
    if not value.is_Rational:
        value = sp.N(value, DIGITS)
        if not value.is_Float:
            raise UnreadError(f"the value {value}")
        value = value if abs(value) > sp.Rational(1, 10 ** (DIGITS // 2)) else sp.Integer(0)
    return int(sp.sign(value))

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
            labels = [name] if n == "scalar" else [f"{name}[{k}]" for k in range(int(self.sizes.get(n, n)))]
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
        """Return the value of a formula of the document."""
        return self.read(ast.parse(text, mode="eval").body)

    def read(self, node: ast.expr) -> Any:
        """Return a formula as an expression in the coordinates, an array of them, or a multiple of I."""
        match node:
            case ast.Constant(int() | float() as value):
                return sp.Rational(str(value))
            case ast.List(rows):
                return array([[self.read(x) for x in getattr(row, "elts", [row])] for row in rows])
            case ast.Name(name):
                return self._name(name)
            case ast.UnaryOp(ast.USub(), arg):
                return -1 * self.read(arg)
            case ast.BinOp(left, op, right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self.read(left), self.read(right))
            case ast.Attribute(arg, "T"):
                value = self.read(arg)
                return value if isinstance(value, sp.Expr) else value.T
            case ast.Subscript(arg, index):
                at = [int(self.read(k)) for k in (index.elts if isinstance(index, ast.Tuple) else [index])]
                return np.atleast_2d(self.read(arg))[at[0], at[1] if len(at) > 1 else 0]
            case ast.Call(ast.Name(name)) if name in self.functions or name in self.bind:
                return self._name(name)
            case ast.Call(ast.Name("grad" | "div" | "hessian" as name), [what, ast.Name(block)]):
                return self._slope(name, self.read(what), self.state[block])
            case ast.Call(ast.Name(name), args):
                return _applied(name, [self.read(arg) for arg in args])
            case _:
                raise UnreadError(ast.unparse(node))

    def _name(self, name: str) -> Any:
        if name in self.bind:
            return self.formula(self.bind[name])
        if name in self.functions:
            of = self.functions[name]["of"]
            name = f"{name}({of if isinstance(of, str) else ', '.join(of)})"
        if name not in self.known:
            raise UnreadError(name)
        return self.known[name]

    def _slope(self, name: str, what: Any, over: Any) -> Any:
        z = np.ravel(over)
        if name == "div":
            found = [[sum(sp.diff(a, x) for a, x in zip(row, z, strict=True))] for row in np.atleast_2d(what)]
        else:
            found = [[sp.diff(what, x)] if name == "grad" else [sp.diff(what, x, y) for y in z] for x in z]
        return found[0][0] if len(found) == 1 else array(found)

    def _fit(self, text: str, rows: int, cols: int) -> Any:
        value = self.formula(text)
        return value.at(rows, cols) if isinstance(value, Fill) else np.broadcast_to(array(value), (rows, cols))

    def matrix(self, *names: str) -> Any:
        """Return the first of the matrices that the document holds: D, Q, the claimed diffusion."""
        stated = {"diffusion": self.document.get("claims", {}).get("diffusion"), **self.document}
        n, text = self.heights, next(stated[name] for name in names if stated.get(name))
        rows = [[self._fit(x, h, w) for x, w in zip(row, n, strict=True)] for row, h in zip(text, n, strict=True)]
        return sp.Matrix(np.block(rows))

    def _div(self, A: Any) -> Any:
        return sp.Matrix([sum(sp.diff(A[i, j], x) for j, x in enumerate(self.z)) for i in range(A.rows)])

    def vanishing(self, claim: str) -> list[Any]:
        """Return the entries, at the point, of what a claim says vanishes.

        Recipe: f = -(D+Q) g + Gamma, g = grad H. Residual, p = exp(-H): J.g - div J with the flux J = f - div D + D g.
        """
        D, stated = self.matrix("D", "diffusion"), self.matrix("diffusion", "D")
        if claim == "d_symmetric":
            return list(self.here(D - D.T))
        Q = self.matrix("Q") if claim != "claimed_stationary" else D * 0
        if claim == "q_skew":
            return list(self.here(Q + Q.T))
        H = self.formula(self.document["H"])
        g = sp.Matrix([sp.diff(H, x) for x in self.z])
        recipe = self._div(D + Q) - (D + Q) * g
        drifts = self.document.get("claims", {}).get("drift", {})
        f = np.vstack([self._fit(drifts.get(k, "0"), n, 1) for k, n in zip(self.state, self.heights, strict=True)])
        if claim == "claimed_drift":
            return list(self.here(sp.Matrix([*(sp.Matrix(f) - recipe), *(stated - D)])))
        f, spread = (recipe, D) if claim == "stationary" else (sp.Matrix(f), stated)
        J = f - self._div(spread) + spread * g
        return [self.here(sum(J[i] * g[i] - sp.diff(J[i], x) for i, x in enumerate(self.z)))]

    def here(self, found: Any) -> Any:
        """Return an expression or a matrix at the point."""
        return sp.sympify(found).xreplace(self.at).doit()

    def _check_admissible(self) -> None:
        """Raise FailureError where a value is not of the kind or domain that the document declares."""
        for name, value in self.values.items():
            kinds = self.declared.get(name.partition("(")[0], {}).get("is", "real")
            A = self.here(sp.Matrix(np.atleast_2d(value)))
            holds = all(KINDS.get(kind, bool)(A) for kind in ([kinds] if isinstance(kinds, str) else kinds))
            _require(holds, f"{name} = {A.tolist()} is not {kinds}")
        for name, entry in self.document["state"]:
            domain, x = entry.get("domain", "real"), [self.at[z] for z in np.ravel(self.state[name]) if self.at[z] != z]
            outside = domain in ("positive", "simplex") and (
                min(x, default=1) <= 0 or (domain[0] == "s" and sum(x) >= 1)
            )
            _require(not outside, f"{name} = {x} is outside its domain, {domain}")

def _refuted(claim: Any, document: Any, build: Any) -> str:
    """Return how a refutation was re-checked: its last value is one of the entries that should vanish, and wrong."""
    *point, (name, stated) = claim["witness"].items()
    page = Page(document, build, {k: v for k, v in point if k != "v"})
    if claim["id"] == "d_psd":
        blocks = re.split(r", ?", re.findall(r"[\[(]([^\])]*)[\])]", name)[0])
        chosen = [i for i, z in enumerate(page.z) if str(z).partition("[")[0] in blocks]
        v, D = sp.Matrix(np.ravel(page.formula(dict(point).get("v", "1")))), page.here(page.matrix("D", "diffusion"))
        wrong = [x for x in v.T * D.extract(chosen, chosen) * v if _sign(x) < 0]
    else:
        wrong = [x for x in page.vanishing(claim["id"]) if _sign(x)]
    exact = "enclosed" not in stated
    _require(bool(wrong) and (not exact or page.formula(stated) in wrong), f"{claim['id']} does not fail as stated")
    return "rechecked: exactly" if exact else f"rechecked: to {DIGITS} digits"

def _proved(claim: Any, document: Any, build: Any, points: list[dict[str, str]], rng: random.Random) -> str:
    """Return at which sizes an identity (or definiteness) holds, at the points given with other free coordinates."""
    seen: dict[str, None] = {}
    free = {name for name, entry in document["state"] if not (document.get("assume") or entry.get("domain"))}
    for point in points:
        moved = {k: NUMBER.sub(lambda _: f"{rng.randint(-9, 9)}/{rng.randint(1, 4)}", point[k]) for k in free}
        page = Page(document, build, point | moved)
        if claim["id"] == "d_psd":
            holds = _definite(page.here(page.matrix("D", "diffusion")), 0)
        else:
            holds = not any(map(_sign, page.vanishing(claim["id"])))
        _require(holds, f"{claim['id']} fails at {point | moved}")
        seen[", ".join(f"{name} = {n}" for name, n in page.sizes.items()) or "the document's"] = None
    _require(bool(seen), f"{claim['id']}: no point to re-check it at")
    return f"rechecked at sizes {'; '.join(seen)} (exact points); beyond them trusted: {claim['by']}"

def _check_whole(certificate: Any) -> None:
    """Raise FailureError where seal, digest, claims, assumptions and verdict do not fit together."""
    rest = {key: value for key, value in certificate.items() if key != "seal"}
    claims, documents = certificate["claims"], certificate["documents"]
    dynamics = documents.get("dynamics", {})
    stated = {**dynamics.get("claims", {}), "Q": dynamics.get("Q"), "D": dynamics.get("D")}
    missing = {id for key in NEEDED if stated.get(key) for id in NEEDED[key]} - {claim["id"] for claim in claims}
    deciding = {claim["verdict"] for claim in claims if claim["required"]}
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
        try:
            if claim["id"] in IDENTITIES and claim["verdict"] == "refuted" and not converted:
                says = _refuted(claim, dynamics, build)
            elif claim["id"] in IDENTITIES and claim["verdict"] == "proved" and not converted:
                says = _proved(claim, dynamics, build, certificate["points"], rng)
        except UnreadError as what:
            says += f" (this checker cannot read {what})"
        found.append((claim["id"], says))
    return found

def main(files: list[str]) -> int:
    """Print how every claim of certificates was re-checked; return the exit code."""
    worst = 0 if files else 2
    for file in files:
        try:
            for claim, says in recheck(json.loads(Path(file).read_text(encoding="utf-8"))):
                print(f"{file}  {claim}: {says}")
        except (FailureError, OSError, ValueError, LookupError, TypeError, AttributeError, SyntaxError) as reason:
            failed = isinstance(reason, FailureError)
            print(f"{file}  {'FAILED' if failed else f'no certificate: {type(reason).__name__}'}: {reason}")
            worst = max(worst, 1 if failed else 2)
    return worst

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Re-check a certificate of `recipe check --certificate` without the compiler: `python recheck.py FILE`.

This file stands alone (Python, NumPy, python-flint): it reads formulas itself, puts exact numbers for every name,
differentiates by truncated power series, and computes D - D.T, v.T D v, drifts, Fokker-Planck residuals anew. A finding
is *rechecked*, *rechecked at sizes ...* (at points) or *trusted: ...*. Exit code: 1 if one failed, 2 if none is read.
"""

# fmt: off
# ruff: noqa: B905, D101, D102, D103, E701, RUF021, SIM105, SIM201
# pyright: basic
import ast
import functools
import hashlib
import itertools
import json
import random
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import numpy as np
from flint import arb, fmpq

VERSION, DIGITS, LARGEST, DEEPEST, BITS, PAIRS = 1, 60, 99, 8, 200_000, 1_000_000
IDENTITIES = ("d_symmetric", "d_psd", "q_skew", "stationary", "claimed_drift", "claimed_stationary", "recovered_q")
ADVISORY = ("unique", "units", "step_scale", "independence", "recovered_q")
NEEDED = {  # what a document states, to the claims about it
    "H": "normalisable", "D": "d_symmetric d_psd", "diffusion": "d_symmetric d_psd", "D Q": "q_skew stationary unique",
    "drift": "claimed_stationary", "drift Q": "claimed_drift", "marginal": "claimed_marginal", "circle": "periodic",
    "update": "claimed_update", "units": "units", **dict.fromkeys(("positive", "interval", "simplex"), "boundary")}
partial, array = functools.partial, functools.partial(np.array, dtype=object, ndmin=2)
canonical = partial(json.dumps, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
NUMBER, DECIMAL = re.compile(r"-?\d+(/\d+)?"), re.compile(r"(?<![\w.])(\d*\.\d+|\d+(?=[eE]))([eE][+-]?\d{1,3})?\b")
class FailureError(Exception): """The certificate, or a finding of it, is not what it says it is."""
class UnreadError(Exception): """This checker cannot evaluate a formula at a point."""
def _require(holds: Any, says: str, fault: type[Exception] = FailureError) -> None:
    if not holds: raise fault(says)
class Jet:  # a power series about a point, cut off: sorted coordinates to coefficients, exact (fmpq) or enclosed (arb)
    def __init__(self, c: Any, order: int = LARGEST) -> None:
        c = c if isinstance(c, dict) else {(): fmpq(c) if isinstance(c, int) else c}
        self.c, self.order = {key: x for key, x in c.items() if not x == 0}, order
        self.value = self.c.get((), fmpq(0))
    def __neg__(self) -> "Jet": return self * Jet(-1)
    def __sub__(self, other: "Jet") -> "Jet": return self + -other
    def __truediv__(self, other: "Jet") -> "Jet": return self * other ** Jet(-1)
    def __add__(self, other: "Jet") -> "Jet":
        both = {key: self.c[key] + x if key in self.c else x for key, x in other.c.items()}
        return Jet({**self.c, **both}, min(self.order, other.order))
    def __mul__(self, other: "Jet") -> "Jet":
        n, found = min(self.order, other.order), {}
        _require(len(self.c) * len(other.c) <= PAIRS, "so many terms", UnreadError)
        for (p, x), (q, y) in itertools.product(self.c.items(), other.c.items()):
            if len(p) + len(q) <= n:
                key = tuple(sorted(p + q))
                found[key] = found[key] + x * y if key in found else x * y
        return Jet(found, n)
    def __pow__(self, other: "Jet") -> "Jet":
        q, x0 = other.value, self.value
        small = isinstance(q, fmpq) and not other.rest() and max(abs(q.p), q.q) <= LARGEST
        small = small and (isinstance(x0, arb) or x0.height_bits() * abs(q.p) <= BITS)
        _require(small and (q.q == 1 and q >= 0 or sign(x0)), f"{x0} ** {q}", UnreadError)
        if q.q == 1 and q >= 0: return functools.reduce(Jet.__mul__, [self] * int(q.p), Jet(1))
        first = x0 ** int(q.p) if q.q == 1 else arb(x0) ** arb(q)
        return self.after(itertools.accumulate(range(LARGEST), lambda c, k: c * (q - k) / (k + 1) / x0, initial=first))
    def rest(self) -> dict[tuple[int, ...], Any]: return {key: x for key, x in self.c.items() if key}
    def after(self, taylor: Any) -> "Jet":  # f(x) = sum_k f_k (x - x0)**k, from the coefficients f_k
        found, share, u = Jet(0), Jet(1), Jet(self.rest(), self.order)
        while share.c: found, share = found + share * Jet(next(taylor)), share * u
        return found
    def slope(self, i: int) -> "Jet":  # the derivative by a coordinate
        at = {key: key.index(i) for key in self.c if i in key}
        return Jet({k[:j] + k[j + 1:]: self.c[k] * k.count(i) for k, j in at.items()}, self.order - 1)
def _kernel(name: str, x: Jet) -> Jet:  # a value that is not defined is nan, whose sign is not read
    series = getattr(flint.arb_series([arb(x.value), 1], prec=DEEPEST + 1), name)()
    return x.after(arb(series[k]) for k in range(DEEPEST + 1))
def sign(x: Any) -> int:  # of a number or of a constant term: exactly of a rational one, to 60 digits of another
    x = x.value if isinstance(x, Jet) else x
    zero = x == 0 or isinstance(x, arb) and x.is_finite() and x.abs_upper() < arb(10) ** -DIGITS
    _require(zero or x > 0 or x < 0, f"the sign of {x}", UnreadError)
    return 0 if zero else 1 if x > 0 else -1
def _side(x: Jet) -> Jet: return Jet(sign(x) if sign(x) or not x.order or not x.rest() else arb("nan"))
def _zero(entries: Any) -> bool: return not any(map(sign, np.ravel(entries)))
def _diagonal(x: Any) -> Any: return array([[a if i == j else Jet(0) for j in range(len(x))] for i, a in enumerate(x)])
def _faddeev(A: Any) -> tuple[Any, Jet]:  # the adjugate and the determinant, without division but by whole numbers
    c, M = Jet(1), A * Jet(0)
    for k in range(1, len(A) + 1):
        M = A @ M + _diagonal([c] * len(A))
        c = (A @ M).trace() * Jet(fmpq(-1, k))
    return M * Jet((-1) ** (len(A) - 1)), c * Jet((-1) ** len(A))
def _definite(A: Any, least: int) -> bool:  # symmetric, and no sum of principal minors has a sign below `least`
    exact, rows = all(isinstance(x.value, fmpq) for x in A.flat), [[x.value for x in row] for row in A]
    made = flint.fmpq_mat(rows) if exact else flint.arb_mat([[arb(x) for x in row] for row in rows])
    return _zero(A - A.T) and all((-1) ** k * sign(c) >= least for k, c in enumerate(reversed(list(made.charpoly()))))
def _listed(one: Any) -> list[Any]: return [one] if isinstance(one, str) else one
OPERATORS: dict[type, Any] = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide,
                              ast.MatMult: np.matmul, ast.Pow: np.power}
_exp, _log = partial(_kernel, "exp"), partial(_kernel, "log")
SCALAR: dict[str, Any] = {
    **{name: partial(_kernel, name) for name in ("exp", "log", "sin", "cos", "tan", "atan", "erf", "gamma")},
    "loggamma": partial(_kernel, "lgamma"), "sqrt": lambda x: x ** Jet(fmpq(1, 2)), "log1p": lambda x: _log(x + Jet(1)),
    "expm1": lambda x: _exp(x) - Jet(1), "softplus": lambda x: _log(_exp(x) + Jet(1)), "sign": _side,
    "sigmoid": lambda x: Jet(1) / (_exp(-x) + Jet(1)), "tanh": lambda x: Jet(1) - Jet(2) / (_exp(x + x) + Jet(1)),
    "cosh": lambda x: (_exp(x) + _exp(-x)) / Jet(2), "sinh": lambda x: (_exp(x) - _exp(-x)) / Jet(2),
    **dict.fromkeys(("abs", "Abs"), lambda x: x * _side(x))}
MATRIX: dict[str, Any] = {
    "inv": lambda A: _faddeev(A)[0] / _faddeev(A)[1], "det": lambda A: _faddeev(A)[1], "sum": np.sum, "trace": np.trace,
    "logdet": lambda A: _log(_faddeev(A)[1]), "diag": lambda A: _diagonal(A.ravel()), "norm2": lambda u: (u * u).sum(),
    "dot": lambda u, v: (u * v).sum(), "outer": lambda u, v: u.reshape(-1, 1) @ v.reshape(1, -1), "kron": np.kron}
SIDES = {ast.Gt: {1}, ast.GtE: {0, 1}, ast.Lt: {-1}, ast.LtE: {-1, 0}, ast.Eq: {0}}
KINDS: dict[str, Any] = {
    "positive": lambda A: all(sign(x) > 0 for x in A.flat), "nonnegative": lambda A: all(sign(x) >= 0 for x in A.flat),
    "nonzero": lambda A: all(map(sign, A.flat)), "symmetric": lambda A: _zero(A - A.T), "real": lambda _: True,
    "skew": lambda A: _zero(A + A.T), "diagonal": lambda A: _zero(A - _diagonal(np.diag(A))),
    "positive definite": lambda A: _definite(A, 1), "positive semidefinite": lambda A: _definite(A, 0)}
class Page:  # a document at fixed sizes, with an exact value for every name; every value is a matrix of jets
    def __init__(self, document: Any, build: Any, point: dict[str, str]) -> None:
        self.document, self.bind, self.claims = document, build.get("bind", {}), document.get("claims", {})
        self.functions, self.order, self.n, self.memo = dict(document.get("functions", [])), 2, 1, {}
        self.declared = {**dict(document.get("parameters", [])), **dict(build.get("parameters", [])), **self.functions}
        self.texts = {k: x for k, x in point.items() if k in {*dict(document["state"]), *self.declared} or "(" in k}
        self.sizes = {name: int(text) for name, text in point.items() if name not in self.texts}
        n = [0, *itertools.accumulate(self._shape(entry)[0] for _, entry in document["state"])]
        self.ids = {name: range(n[k], n[k + 1]) for k, (name, _) in enumerate(document["state"])}
        self.at = {k: [x.value for x in self.formula(self.texts[k]).flat] for k in self.ids if k in self.texts}
        _require(n[-1] <= LARGEST and all(len(x) == len(self.ids[k]) > 0 for k, x in self.at.items()), "another size")
        self._check_admissible()
    def _shape(self, entry: Any) -> list[int]:
        return [*(self.sizes.get(n) or int(n) for n in _listed(entry.get("shape", "1")) if n != "scalar"), 1, 1][:2]
    def formula(self, text: str) -> Any:
        key, exact = (text, self.n, self.order), DECIMAL.sub(lambda x: f"({Fraction(x[0])})", " ".join(text.split()))
        if key not in self.memo: self.memo[key] = self._read(ast.parse(exact, mode="eval").body)
        return self.memo[key]
    def fit(self, text: str, rows: int, cols: int) -> Any:  # I and ones are of the size that gives the shape asked for
        outer = self.n
        for n in sorted({rows, cols, *self.sizes.values(), *map(len, self.ids.values())}, reverse=True):
            self.n, value = n, array([])
            try: value = self.formula(text)
            except (UnreadError, ValueError): pass
            self.n = outer
            if value.shape == (rows, cols) or value.size == 1 and not value.flat[0].c:
                return np.broadcast_to(value, (rows, cols))
        raise UnreadError(f"{text} as {rows} by {cols}")
    def _read(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(int() as value): return array(Jet(value))
            case ast.List(rows): return array([[self._read(x).item() for x in getattr(r, "elts", [r])] for r in rows])
            case ast.Name(name): return self._name(name)
            case ast.Call(ast.Name(name)) if name in self.declared: return self._name(name)
            case ast.UnaryOp(ast.USub(), arg): return -self._read(arg)
            case ast.BinOp(a, op, b) if type(op) in OPERATORS: return OPERATORS[type(op)](self._read(a), self._read(b))
            case ast.Attribute(arg, "T"): return self._read(arg).T
            case ast.Subscript(arg, ast.Constant(int() as i)): return array(self._read(arg).flat[i])
            case ast.Subscript(A, ast.Tuple([ast.Constant(i), ast.Constant(j)])): return array(self._read(A)[i, j])
            case ast.Call(ast.Name("grad" | "div" | "hessian" as f), [e, ast.Name(b)]): return self._slope(f, e, b)
            case ast.Call(ast.Name(f), args) if f in MATRIX: return array(MATRIX[f](*map(self._read, args)))
            case ast.Call(ast.Name(f), [arg]) if f in SCALAR: return np.frompyfunc(SCALAR[f], 1, 1)(self._read(arg))
        raise UnreadError(ast.unparse(node))
    def _slope(self, name: str, what: ast.expr, block: str) -> Any:
        over, outer, self.order = self.ids[block], self.order, self.order + 1 + (name == "hessian")
        _require(self.order <= DEEPEST, "so many derivatives", UnreadError)
        A, self.order = self._read(what), outer
        if name == "div": return array([[sum((x.slope(i) for x, i in zip(r, over, strict=True)), Jet(0))] for r in A])
        return array([[x.slope(j) for j in over] if name == "hessian" else [x] for x in map(A.item().slope, over)])
    def _name(self, name: str) -> Any:
        if name in self.bind: return self.fit(self.bind[name], *self._shape(self.declared[name]))
        if name in self.functions: name = f"{name}({', '.join(_listed(self.functions[name]['of']))})"
        if name in self.at:
            return array([[Jet({(): x, (i,): fmpq(1)}, self.order)] for i, x in zip(self.ids[name], self.at[name])])
        if name in self.texts: return self.formula(self.texts[name])
        known = {"pi": Jet(arb.pi()), "ones": [[Jet(1)]] * self.n, **{n: Jet(x) for n, x in self.sizes.items()}}
        _require(name in {"I", *known} - {*self.declared}, name, UnreadError)
        return array(known[name]) if name != "I" else _diagonal([Jet(1)] * self.n)
    def matrix(self, *names: str, order: int = 2) -> Any:  # the first that is stated: D, Q, the claimed diffusion
        stated, n = {**self.document, **self.claims}, [*map(len, self.ids.values())]
        self.order, rows = order, next(stated[name] for name in names if stated.get(name))
        return np.block([[self.fit(x, h, w) for x, w in zip(r, n, strict=True)] for r, h in zip(rows, n, strict=True)])
    def vanishing(self, claim: str) -> list[Any]:  # what a claim says is zero; g = grad H
        def div(A: Any) -> Any: return np.array([sum((x.slope(i) for i, x in enumerate(row)), Jet(0)) for row in A])
        if claim == "q_skew": return list((self.matrix("Q", order=0) + self.matrix("Q", order=0).T).flat)
        D = self.matrix("D", "diffusion", order=2 if claim != "d_symmetric" else 0)
        if claim == "d_symmetric": return list((D - D.T).flat)
        stated, Q = self.matrix("diffusion", "D"), self.matrix("Q") if claim != "claimed_stationary" else D * Jet(0)
        g = np.array([self.fit(self.document["H"], 1, 1).item().slope(i) for i in range(len(D))])
        drift, recipe = self.claims.get("drift", {}), div(D + Q) - (D + Q) @ g  # f = -(D+Q) g + Gamma
        f = np.concatenate([self.fit(drift.get(name, "0"), len(ids), 1)[:, 0] for name, ids in self.ids.items()])
        if claim in ("claimed_drift", "recovered_q"): return [*(f - recipe), *(stated - D).flat, *(Q + Q.T).flat]
        J = recipe - div(D) + D @ g if claim == "stationary" else f - div(stated) + stated @ g  # J.g - div J
        return [sum((J[i] * g[i] - J[i].slope(i) for i in range(len(J))), Jet(0))]
    def _check_admissible(self) -> None:
        for name, text in self.texts.items():
            kinds = _listed(self.declared.get(name.partition("(")[0], {}).get("is", "real"))
            _require(all(KINDS[k](self.formula(text)) for k in kinds), f"{name} = {text} is no {kinds}")
        for name, entry in self.document["state"]:
            domain, x = entry.get("domain", "real"), [*map(Jet, self.at.get(name, []))]
            ends = re.fullmatch(r"interval\((.*), (.*)\)", domain) if x else None
            low, high = [self.formula(end).item() for end in ends.groups()] if ends else (Jet(0), None)
            inside = domain[:3] not in ("pos", "non", "sim", "int") or all(sign(y - low) > 0 for y in x)
            inside &= all(high is None or sign(high - y) > 0 for y in x)
            _require(inside and (domain != "simplex" or sign(sum(x, Jet(-1))) < 0), f"{name} is outside {domain}")
        for text in self.document.get("assume", []):
            node, moves = ast.parse(text, mode="eval").body, {*self.ids, *self.functions} & {*re.findall(r"\w+", text)}
            signs = {sign(x) for x in (self._read(node.left) - self._read(node.comparators[0])).flat}
            _require(signs <= SIDES[type(node.ops[0])] - ({0} if moves else set()), f"{text} does not hold")
def _part(page: Page, name: str) -> Any:  # the part of D that a claim names, `D[r,r]` or `D of (theta, r)`
    blocks = re.findall(r"\w+", re.split(r"[\[(]", name)[1])
    _require({*blocks} <= {*page.ids}, f"{name} is no part of D")
    chosen = [i for block in page.ids if block in blocks for i in page.ids[block]]
    return page.matrix("D", "diffusion", order=0)[np.ix_(chosen, chosen)]
def _squares(page: Page, data: dict[str, str], rng: random.Random) -> bool:
    for part in {key.partition(": ")[0] for key in data if ": Gram" in key}:  # v.T D v = sum_k w_k m_k.T G_k m_k ?
        own = {key.partition(": ")[2]: text for key, text in data.items() if key.startswith(f"{part}: ")}
        D = _part(page, part)
        v = array([[Jet(rng.randint(-9, 9))] for _ in D])
        page.texts |= {f"v{i}": str(x.value) for i, x in enumerate(v.flat)}
        page.texts |= {g: text for g, text in own.items() if g[1:].isdigit()}
        left = page.formula(own["times"]) * (v.T @ D @ v)
        for k in (key.split()[-1] for key in own if key.startswith("Gram")):
            G, m, w = (page.formula(own[f"{key} {k}"]) for key in ("Gram matrix", "monomials", "multiplier"))
            _require(_definite(G, 0) and sign(w.item()) >= 0, f"{part}: not a sum of squares")
            left = left - w * (m.T @ G @ m)
        _require(_zero(left), f"{part}: not the sum of squares stated")
    return any(": Gram" in key for key in data)
def _refuted(claim: Any, document: Any, build: Any, *_: Any) -> str:
    *rest, (name, stated) = claim["witness"].items()
    point, asked, of_part = dict(rest), claim["id"], re.fullmatch(r"(\w+)\.T @ (.*) @ \1", name) or ["", "", name]
    if asked == "recovered_q":  # its witness is about stationarity, or about the one coordinate that there is
        asked, document = "claimed_" + ("drift" if name[:7] == "claimed" else "stationary"), {"Q": [["0"]], **document}
    direction, page = point.pop(of_part[1], "1"), Page(document, build, point)
    _require(claim["for_d"] == (page.sizes or "all"), f"{claim['id']} is not refuted for {claim['for_d']}")
    v, psd = page.formula(direction), asked == "d_psd"
    wrong = (v.T @ _part(page, of_part[2]) @ v).flat if psd else page.vanishing(asked)
    value = arb(stated.removesuffix(" (enclosed)")) if "enclosed" in stated else page.formula(stated).item().value
    wrong = [x for x in wrong if (sign(x) < 0 if psd else sign(x))]
    found = [x for x in wrong if isinstance(value, arb) and value.overlaps(arb(x.value)) or not sign(x.value - value)]
    _require(found, f"{claim['id']} does not fail as stated")
    return "rechecked: exactly" if isinstance(found[0].value, fmpq) else f"rechecked: to {DIGITS} digits"
def _proved(claim: Any, document: Any, build: Any, points: Any, rng: random.Random) -> str:
    seen, squares, psd, names = {}, False, claim["id"] == "d_psd", [name for name, _ in document["state"]]
    if claim["id"] == "recovered_q":
        document = {**document, "Q": [[claim["data"].get(f"Q[{a},{b}]", "0") for b in names] for a in names]}
    free = [name for name, entry in document["state"] if not (document.get("assume") or entry.get("domain"))]
    for point in points:  # moved, where every point of the state is admissible
        moved = {k: NUMBER.sub(lambda _: f"{rng.randint(-9, 9)}/{rng.randint(1, 4)}", point[k]) for k in free}
        page = Page(document, build, point | moved)
        holds = _definite(_part(page, f"({','.join(names)})"), 0) if psd else _zero(page.vanishing(claim["id"]))
        _require(holds, f"{claim['id']} fails at {page.texts}")
        squares = psd and _squares(page, claim["data"], rng)
        seen[", ".join(f"{name} = {n}" for name, n in page.sizes.items()) or "the document's"] = None
    _require(seen, f"{claim['id']}: no point to re-check it at")
    beyond = "Gram matrices exactly" if squares else f"beyond them trusted: {claim['by']}"
    return f"rechecked at sizes {'; '.join(seen)} (exact points); {beyond}"
def _check_whole(certificate: Any) -> None:
    rest = {key: value for key, value in certificate.items() if key != "seal"}
    claims, documents, given = certificate["claims"], certificate["documents"], certificate["assumptions"]
    dynamics = documents.get("dynamics", {})
    stated = {*re.findall(r'"domain":"(\w+)', canonical(dynamics.get("state"))), *(k for k in dynamics if dynamics[k])}
    stated |= {key for key, value in dynamics.get("claims", {}).items() if value}
    needed = {id for key, ids in NEEDED.items() if {*key.split()} <= stated for id in ids.split()}
    spare = {*ADVISORY, *("normalisable" for c in claims if (c["id"], c["verdict"]) == ("normalisable", "undecided"))}
    deciding = {c["verdict"] for c in claims if c["required"] or c["id"] not in spare}
    verdict = next((v for v in ("refuted", "undecided") if v in deciding), "proved")
    _require(certificate["certificate_version"] == VERSION, f"its version is not {VERSION}")
    _require(certificate["seal"] == hashlib.sha256(canonical(rest).encode()).hexdigest(), "changed after it was made")
    _require(certificate["digest"] == hashlib.sha256(canonical(documents).encode()).hexdigest(), "not its document")
    _require(needed <= {c["id"] for c in claims}, f"a claim is missing of {', '.join(sorted(needed))}")
    _require(certificate["verdict"] == verdict, f"verdict {certificate['verdict']}, but its claims give {verdict}")
    _require({*given} == {a for c in claims for a in c["given"]}, "not the assumptions used")
    kinds = {n: _listed(e.get("is", "real")) for key in ("parameters", "functions") for n, e in dynamics.get(key, [])}
    used = [kind in kinds.get(name, [kind]) for name, _, kind in (a.partition(" is ") for a in given) if kind in KINDS]
    _require("build" in documents or all(used), "an assumption that the document does not declare")
def recheck(certificate: Any) -> list[tuple[str, str]]:  # each claim with how it was re-checked, or FailureError
    _check_whole(certificate)
    documents, rng, found = certificate["documents"], random.Random(certificate["digest"]), list[tuple[str, str]]()
    dynamics, build = documents.get("dynamics", {}), documents.get("build", {})
    for claim in certificate["claims"]:
        says = "undecided: nothing to re-check" if claim["verdict"] == "undecided" else f"trusted: {claim['by']}"
        aside = "interpretation" in dynamics.get("claims", {}) or "a current goes round the torus" in says
        judge = {"refuted": _refuted, "proved": _proved}.get(claim["verdict"])
        try:
            if judge and claim["id"] in IDENTITIES and not (aside and claim["id"] in IDENTITIES[-3:]):
                with flint.ctx.workprec(40 * DIGITS): says = judge(claim, dynamics, build, certificate["points"], rng)
        except UnreadError as what:
            _require(judge is _proved, f"{claim['id']}: {what}")
            says += f" (this checker cannot read {what})"
        found.append((claim["id"], says))
    return found
def main(files: list[str]) -> int:
    if not files: print("usage: python recheck.py FILE...", file=sys.stderr)
    worst = 0 if files else 2
    for file in files:
        try: lines, kind = [": ".join(pair) for pair in recheck(json.loads(Path(file).read_text(encoding="utf-8")))], 0
        except FailureError as reason: lines, kind = [f"FAILED: {reason}"], 1
        except Exception as reason: lines, kind = [f"no certificate: {reason!r}"], 2  # whatever no certificate provokes
        print(*(f"{file}  {line}" for line in lines), sep="\n")
        worst = max(worst, kind)
    return worst
if __name__ == "__main__": sys.exit(main(sys.argv[1:]))

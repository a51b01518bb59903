"""Re-check a certificate of `recipe check --certificate` without the compiler: `python recheck.py FILE...`.

This file stands alone (Python, NumPy, python-flint) and believes no word of a certificate. What a document is asked is
derived from the document. Witnesses are parsed: constants are constants, functions depend on their own blocks, all is
of its kinds, inside its domain, and meets `assume`. Proofs are tried at exact points and with test functions drawn
here. Formulas are read here, and differentiated by truncated power series, exact or enclosed in balls. What is not
rechecked is *trusted*, and said to be. Exit code: 0 all is as stated, 1 something is not, 2 a file cannot be read.
"""

import ast
import functools
import hashlib
import itertools
import json
import math
import os
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import flint
import numpy as np
from flint import arb, fmpq

VERSION, MOST_BYTES, MOST_CHARACTERS, MOST_NESTING, MOST_LEVELS = 1, 20_000_000, 10_000, 60, 100
MOST_COORDINATES, MOST_DERIVATIVES, MOST_EXPONENT, MOST_BITS, MOST_WORK = 40, 12, 1000, 200_000, 3_000_000
PRECISIONS, DIGITS = (300, 3000, 12000), 60
"""Bits of balls: the next where a sign is open. What the last does not tell from 0 must be below 10**-DIGITS."""
CALCULUS, FREE = ("grad", "div", "hessian"), ("real", "circle")
PD, PSD = "positive definite", "positive semidefinite"
DECIMAL = re.compile(r"(?<![\w.])(\d*\.\d+|\d+\.?(?=[eE]))([eE][+-]?\d{1,3})?\b")
Number = fmpq | arb
Key = tuple[int, ...]
Json = dict[str, Any]
Point = dict[str, str]
Array = Any
"""A matrix of power series; a scalar is 1 x 1, a column n x 1."""
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


def sign(x: Number) -> int:
    """Return a sign: exactly of a rational number; of a ball that holds 0 it is open until the last precision."""
    if isinstance(x, fmpq) or x == 0:
        return int(x > 0) - int(x < 0)
    require(x.is_finite(), f"{x} is no finite number", UndefinedError)
    told = x > 0 or x < 0
    require(told or (Jet.last and x.abs_upper() < arb(10) ** -DIGITS), f"the sign of {x}", UnreadError)
    return (1 if x > 0 else -1) if told else 0


class Jet:
    """A power series about a point, cut off: sorted coordinates to coefficients, exact (fmpq) or enclosed (arb)."""

    last: ClassVar[bool] = False
    work: ClassVar[int] = 0

    def __init__(self, terms: Mapping[Key, Number] | Number | int, order: int = MOST_COORDINATES) -> None:
        found = terms if isinstance(terms, Mapping) else {(): fmpq(terms) if isinstance(terms, int) else terms}
        zero = {key for key, x in found.items() if x == 0}  # exactly: a ball about 0 is not
        self.terms, self.order = {key: x for key, x in found.items() if key not in zero}, order
        self.value: Number = self.terms.get((), fmpq(0))

    def __neg__(self) -> "Jet":
        return self * Jet(-1)

    def __sub__(self, other: "Jet") -> "Jet":
        return self + -other

    def __truediv__(self, other: "Jet") -> "Jet":
        return self * other ** Jet(-1)

    def __add__(self, other: "Jet") -> "Jet":
        both = {key: self.terms[key] + x if key in self.terms else x for key, x in other.terms.items()}
        return Jet({**self.terms, **both}, min(self.order, other.order))

    def __mul__(self, other: "Jet") -> "Jet":
        n, found = min(self.order, other.order), dict[Key, Number]()
        Jet.work += len(self.terms) * len(other.terms)
        require(Jet.work <= MOST_WORK, "so many terms", UnreadError)
        for (p, x), (q, y) in itertools.product(self.terms.items(), other.terms.items()):
            if len(p) + len(q) <= n:
                key = tuple(sorted(p + q))
                found[key] = found[key] + x * y if key in found else x * y
        return Jet(found, n)

    def __pow__(self, other: "Jet") -> "Jet":
        q, x0 = other.value, self.value
        if any(other.terms.keys()) or not isinstance(q, fmpq):
            return kernel("exp", other * kernel("log", self))
        bits = x0.height_bits() * abs(q.p) if isinstance(x0, fmpq) else 0
        require(max(abs(q.p), q.q) <= MOST_EXPONENT and bits <= MOST_BITS, f"a power {q}", UnreadError)
        if q.q == 1 and q >= 0:
            return functools.reduce(Jet.__mul__, [self] * int(q.p), Jet(1))
        require(sign(x0) and (q.q == 1 or sign(x0) > 0), f"({x0}) ** ({q})", UndefinedError)
        first = x0 ** int(q.p) if q.q == 1 else arb(x0) ** arb(q)
        return self.after(itertools.accumulate(range(99), lambda c, k: c * (q - k) / (k + 1) / x0, initial=first))

    def after(self, taylor: Iterator[Number]) -> "Jet":
        """Return f(x) = sum_k f_k (x - x0)**k, from the coefficients f_k."""
        found, share, varying = Jet(0), Jet(1), Jet({key: x for key, x in self.terms.items() if key}, self.order)
        while share.terms:
            found, share = found + share * Jet(next(taylor)), share * varying
        return Jet(found.terms, self.order)

    def slope(self, i: int) -> "Jet":
        """Return the derivative by a coordinate."""
        at = {key: key.index(i) for key in self.terms if i in key}
        found = {key[:j] + key[j + 1 :]: self.terms[key] * key.count(i) for key, j in at.items()}
        return Jet(found, self.order - 1)


def kernel(name: str, x: Jet, slopes: int = 0) -> Jet:
    """Return a function of a series, or a slope of it; of log x only the value is no rational function of x."""
    n = min(x.order, MOST_DERIVATIVES) + 2
    series = getattr(flint.arb_series([arb(x.value), arb(1)], prec=n + slopes), name)()
    for _ in range(slopes):
        series = series.derivative()
    require(arb(series[0]).is_finite(), f"{name}({x.value})", UndefinedError)
    if name != "log":
        return x.after(arb(series[k]) for k in range(n))
    powers = itertools.accumulate(range(n), lambda p, _: -p / x.value, initial=fmpq(-1))
    return x.after(p / k if k else arb(series[0]) for k, p in enumerate(powers))


def side(x: Jet) -> int:
    """Return the sign of a series near its point; where it changes, what depends on it has a kink and is not read."""
    at = sign(x.value)
    require(at or not any(map(sign, x.terms.values())), "a kink", UnreadError)
    return at


def array(entries: Any) -> Array:
    """Return a matrix."""
    found = np.array(entries, dtype=object, ndmin=2)
    require(found.ndim == 2 and found.size and all(isinstance(x, Jet) for x in found.flat), "no matrix", UnreadError)
    return found


def diagonal(x: Any) -> Array:
    """Return a diagonal matrix."""
    return array([[x[i] if i == j else Jet(0) for j in range(len(x))] for i in range(len(x))])


def div(A: Any) -> Any:
    """Return the divergence of every row."""
    return np.array([sum((x.slope(i) for i, x in enumerate(row)), Jet(0)) for row in A], dtype=object)


def characteristic(A: Array) -> tuple[Array, list[Jet]]:
    """Return adjugate and sums of principal minors, the last the determinant, without division (Faddeev, LeVerrier)."""
    found, adjugate = [Jet(1)], A * Jet(0)
    for k in range(1, len(A) + 1):
        adjugate = diagonal([found[-1]] * len(A)) - A @ adjugate
        found.append(np.trace(A @ adjugate) * Jet(fmpq(1, k)))
    return adjugate, found[1:]


def vanish(entries: Any) -> bool:
    """Whether all values are zero."""
    return not any(sign(x.value) for x in np.ravel(entries))


OPERATORS = {"Add": "add", "Sub": "subtract", "Mult": "multiply", "Div": "divide", "Pow": "power", "MatMult": "matmul"}
SIDES: dict[type, set[int]] = {ast.Gt: {1}, ast.GtE: {0, 1}, ast.Lt: {-1}, ast.LtE: {-1, 0}, ast.Eq: {0}}
_exp, _log = functools.partial(kernel, "exp"), functools.partial(kernel, "log")
SCALAR: dict[str, Callable[[Jet], Jet]] = {
    **{name: functools.partial(kernel, name) for name in ("exp", "log", "sin", "cos", "tan", "atan", "erf", "gamma")},
    **{
        name: functools.partial(kernel, "lgamma", slopes=k)
        for k, name in enumerate(("loggamma", "digamma", "trigamma"))
    },
    "sqrt": lambda x: x ** Jet(fmpq(1, 2)),
    "log1p": lambda x: _log(x + Jet(1)),
    "expm1": lambda x: _exp(x) - Jet(1),
    "softplus": lambda x: _log(_exp(x) + Jet(1)),
    "sigmoid": lambda x: Jet(1) / (_exp(-x) + Jet(1)),
    "tanh": lambda x: Jet(1) - Jet(2) / (_exp(x + x) + Jet(1)),
    "cosh": lambda x: (_exp(x) + _exp(-x)) / Jet(2),
    "sinh": lambda x: (_exp(x) - _exp(-x)) / Jet(2),
    "sign": lambda x: Jet(side(x)),
    "abs": lambda x: x * Jet(side(x)),
}
MATRIX: dict[str, Callable[[Array], Any]] = {
    **{name: np.frompyfunc(function, 1, 1) for name, function in SCALAR.items()},
    "inv": lambda A: characteristic(A)[0] / characteristic(A)[1][-1],
    "det": lambda A: characteristic(A)[1][-1],
    "logdet": lambda A: _log(characteristic(A)[1][-1]),
    "sum": lambda A: A.sum(),
    "trace": np.trace,
    "diag": lambda A: diagonal(A.ravel()),
    "norm2": lambda u: (u * u).sum(),
    "logsumexp": lambda u: _log(MATRIX["exp"](u).sum()),
}
PAIRS: dict[str, Callable[[Array, Array], Any]] = {
    "minimum": np.frompyfunc(lambda x, y: x if side(x - y) <= 0 else y, 2, 1),
    "maximum": np.frompyfunc(lambda x, y: x if side(x - y) >= 0 else y, 2, 1),
    "dot": lambda u, v: (u * v).sum(),
    "outer": lambda u, v: u @ v.T,
    "kron": np.kron,
}
SIGNED = {"positive": {1}, "nonnegative": {0, 1}, "nonzero": {-1, 1}}
KINDS: dict[str, Callable[[Array], bool]] = {
    "real": lambda _: True,
    "symmetric": lambda A: vanish(A - A.T),
    "skew": lambda A: vanish(A + A.T),
    "diagonal": lambda A: vanish(A - diagonal(np.diag(A))),
    PD: lambda A: vanish(A - A.T) and all(sign(c.value) > 0 for c in characteristic(A)[1]),
    PSD: lambda A: vanish(A - A.T) and all(sign(c.value) >= 0 for c in characteristic(A)[1]),
}


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Any:
    """Read a formula, whose grammar is a part of that of Python; nothing of it is run."""
    exact = DECIMAL.sub(lambda found: f"({Fraction(found[0])})", " ".join(text.split()))
    deepest = max(itertools.accumulate((c in "([") - (c in ")]") for c in exact), default=0)
    require(len(text) <= MOST_CHARACTERS and deepest <= MOST_NESTING, "a formula so large", UnreadError)
    try:
        return ast.parse(exact, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise UnreadError(f"{text[:60]!r} is no formula") from None


def listed(one: Any) -> list[Any]:
    """Return a list, of one item if it is none."""
    return one if isinstance(one, list) else [] if one is None else [one]


def declared(document: Json, key: str) -> dict[str, Json]:
    """Return names to what is declared of them, in order and complete; a document holds pairs, or a mapping."""
    given, found = document.get(key) or [], dict[str, Json]()
    for name, entry in given.items() if isinstance(given, dict) else given:
        whole = entry or {}
        domain, _, ends = str(whole.get("domain", "real")).partition("(")
        found[str(name)] = {
            **whole,
            "is": listed(whole.get("is")),
            "of": listed(whole.get("of")),
            "domain": domain.strip(),
        }
        found[name]["shape"] = [str(s) for s in listed(whole.get("shape")) if str(s) != "scalar"]
        found[name]["ends"] = [ast.unparse(end) for end in parse(f"({ends[:-1]},)").elts] if ends.strip(") ") else []
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
        self.D, self.Q = self.dynamics.get("D") or self.claims.get("diffusion"), self.dynamics.get("Q")
        self.blocks, own, functions = (declared(self.dynamics, key) for key in ("state", "parameters", "functions"))
        self.functions = {name: entry for name, entry in functions.items() if name not in self.bind}
        theirs = {*declared(self.target, "parameters")} - {*own}
        new = {name: x for name, x in declared(self.build, "parameters").items() if name not in theirs}
        self.parameters = {**new, **own}
        self.declared = {**self.blocks, **own, **functions, **self.parameters}
        self.assume = [str(text) for text in listed(self.dynamics.get("assume"))]
        given = {name: {**own.get(name, {}), **new.get(name, {})} for name in self.parameters if self.build}
        given = {name: entry.get("value", entry.get("default")) for name, entry in given.items()}
        self.values = {
            name: json.dumps(x).replace('"', "") for name, x in given.items() if x is not None and ".npy" not in str(x)
        }
        potentials = [name for name, entry in self.functions.items() if entry.get("role") == "potential"]
        self.potential = potentials[0] if potentials else ""
        self.own: list[str] = self.functions[self.potential]["of"] if potentials else []

    def resting_on(self, given: list[str]) -> "Documents":
        """Return these documents with the kinds only that a claim says it rests on, each of them declared."""
        found, read = Documents(self.parts), [re.fullmatch(r"(\w+) is ([a-z ]+)", one) for one in given]
        stated = {(one[1], kind) for one in read if one for kind in one[2].split(" and ")}
        for name, kind in {(name, kind) for name, kind in stated if kind in WEAKER or name not in self.declared}:
            known = self.declared.get(name, {"is": []})["is"]
            holds = any(kind in (one, *WEAKER.get(one, ())) for one in known)
            require(holds, f"{name} is {kind} is taken as given, which the document does not say")
        for name, entry in found.declared.items():
            entry["is"] = [kind for kind in WEAKER if (name, kind) in stated]
        return found

    def granted(self, given: list[str]) -> list[str]:
        """Return what is given, but declared nowhere: what the reader has to grant."""
        own = ("state", "parameters", "functions")
        lists = [declared(part, key) for part in (self.dynamics, self.target) for key in own]
        lists += [declared(self.build, "parameters"), declared(self.claims, "noise")]
        said = {(name, kind) for one in lists for name, x in one.items() for kind in (*x["is"], "smooth")}
        said |= {(name, weak) for name, kind in said for weak in WEAKER.get(kind, ())}
        facts = {f"{name} is {kind}" for name, kind in said}
        facts |= {f"{name} is {kind} and diagonal" for name, kind in said if (name, "diagonal") in said}
        return [x for x in given if x not in facts and not x.endswith("inside its domain")]

    def names(self, *stated: Any) -> set[str]:
        """Return the names in formulas, and in what is bound to them; not those that only say what a call is of."""
        found, texts, of = set[str](), list(stated), set[int]()
        while texts:
            one = texts.pop()
            if isinstance(one, list | dict):
                texts += one.values() if isinstance(one, dict) else one
            elif one is not None:
                nodes = list(ast.walk(parse(str(one))))
                for node in (node for node in nodes if isinstance(node, ast.Call)):
                    name = getattr(node.func, "id", "")
                    of |= {id(x) for x in node.args[0 if name in self.declared else 1 if name in CALCULUS else 99 :]}
                new = {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in of} - found
                found, texts = found | new, [*texts, *(self.bind[name] for name in new if name in self.bind)]
        return found

    def moves(self, *stated: Any) -> bool:
        """Whether formulas depend on the state."""
        return bool(self.names(*stated) & {*self.blocks, *self.functions})

    def domains(self, document: Json) -> set[str]:
        """Return the domains of the blocks of a document, without their ends."""
        return {entry["domain"] for entry in declared(document, "state").values()}

    def asked(self) -> list[tuple[str, str]]:
        """Return part and id of every claim that these documents are asked, in order."""
        claims, marginal = self.claims, self.claims.get("marginal") or {}
        laws = [ast.dump(parse(text)) for text in (self.potential or "0", f"{self.potential}({', '.join(self.own)})")]
        other = [name for name, x in marginal.items() if name in self.own and ast.dump(parse(str(x))) not in laws]
        kinds = {*self.functions.get(self.potential, {}).get("is", [])} - {"real"}
        facts = {"": True, "D": self.D, "Q": self.Q, "-Q": not self.Q, "marginal": marginal, "alone": not self.build}
        facts |= {"drift": claims.get("drift"), "update": claims.get("update"), "code": self.target.get("gradient")}
        facts |= {"auxiliary": self.own and {*self.blocks} - {*self.own} and not other, "formula": not facts["code"]}
        facts |= {"circle": "circle" in self.domains(self.dynamics), "circles": "circle" in self.domains(self.target)}
        facts |= {"f": self.Q or claims.get("drift"), "estimate": "grad_tilde" in self.names(claims.get("update"))}
        lacking = self.D and facts["drift"] and not self.Q
        facts["varies"] = self.moves(self.D, self.dynamics.get("D"), self.Q) or lacking
        facts["face"] = self.domains(self.dynamics) - {*FREE} or self.moves(self.assume)
        facts["units"] = self.dynamics.get("units") and not self.bind
        facts["assumes"] = self.assume or self.target.get("assume") or kinds
        rows = [(part, *row.split(":")) for part in ASKED if self.parts.get(part) for row in ASKED[part].split()]
        return [(part, id_) for part, id_, needs in rows if all(facts[need] for need in needs.split(","))]

    def sizes(self, *, every: bool) -> list[dict[str, int]]:
        """Return sizes to look at: 1, 2, 3 for each name in turn; those that a build gives, unless for every size."""
        entries = [*self.declared.values(), *declared(self.claims, "noise").values()]
        names = sorted({s for entry in entries for s in entry["shape"] if not s.isdigit()})
        known = {name: int(n) for name, n in (self.build.get("sizes") or {}).items() if name in names and not every}
        for name, text in self.values.items():
            known |= dict(
                zip(
                    self.parameters[name]["shape"],
                    np.array(json.loads(re.sub(r"[^][, ]+", "0", text))).shape,
                    strict=False,
                )
            )
        looks = [{name: known.get(name, 1 + (k + i) % 3) for i, name in enumerate(names)} for k in range(3)]
        return [look for k, look in enumerate(looks) if look not in looks[:k]]


WEAKER = {
    "positive": ("nonnegative", "nonzero"),
    "nonnegative": (),
    "nonzero": (),
    PD: (PSD, "symmetric"),
    PSD: ("symmetric",),
    "symmetric": (),
    "skew": (),
    "diagonal": ("symmetric",),
}
"""Kinds that a claim says it rests on, with those that they include."""
ASKED = {
    "dynamics": """d_symmetric:D d_psd:D q_skew:D,Q stationary:D,Q claimed_drift:D,Q,drift claimed_stationary:drift
        recovered_q:drift,-Q step_scale:update claimed_update:update periodic:circle normalisable: marginal:auxiliary
        claimed_marginal:marginal regular:varies explosion:D,f boundary:face unique:D,f independence:estimate
        units:units""",
    "target": "defined:formula gradient: periodic:circles,formula normalisable:alone",
    "build": "bindings: gradient_noise: assumptions:assumes noise_budget: independence:",
}
"""For each part of a certificate the claims in order, with what of the documents asks for them."""
ADVISORY = {("dynamics", id_) for id_ in ("recovered_q", "step_scale", "explosion", "unique", "independence", "units")}
STOPS = {"explosion"}  # advisory claims that count where they are refuted
EXCUSED: dict[str, Callable[[Json, Documents], Any]] = {
    "normalisable": lambda c, d: c["verdict"] == "undecided" and d.names(d.dynamics.get("H")) & {*d.functions},
    "regular": lambda c, d: c["verdict"] != "refuted" and not d.Q and not d.moves(d.D, d.dynamics.get("D")),
}  # required claims to which some documents are not held


class Page:
    """Documents at fixed sizes, with a constant for every name they declare, and a formula for every function."""

    def __init__(self, documents: Documents, point: Point, seed: str = "") -> None:
        """Read a point; with a seed, what it does not give is drawn here."""
        self.d, self.seed, self.order, self.n = documents, seed, 2, 1
        self.memo, self.at, self.beside = dict[Any, Array](), dict[str, list[Number]](), dict[str, Array]()
        self.sizes = {k: int(x) for k, x in point.items() if k not in documents.declared and x.isdigit() and len(x) < 6}
        calls = {f"{name}({', '.join(e['of'])})": name for name, e in documents.functions.items()}
        self.texts = {calls.get(name, name): text for name, text in point.items() if name not in self.sizes}
        unknown = {*self.texts} - {*documents.blocks, *documents.parameters, *documents.functions}
        require(not unknown, f"a value of {', '.join(sorted(unknown))}, which the document does not declare")
        given = {name: self.formula(text) for name, text in documents.values.items() if name in self.texts}
        require(all(vanish(x - self.constant(name, ())) for name, x in given.items()), "values not of the build")
        ends = [0, *itertools.accumulate(self.shape(entry)[0] for entry in documents.blocks.values())]
        require(ends[-1] <= MOST_COORDINATES, "so many coordinates", TrustedError)
        self.ids = {name: range(ends[k], ends[k + 1]) for k, name in enumerate(documents.blocks)}
        for name in self.ids:
            if name in self.texts or seed:
                values = self.constant(name, ()) if name in self.texts else self._drawn(name, [])
                self.at[name] = [x.value for x in values.flat]
        self.memo.clear()

    def shape(self, entry: Json) -> tuple[int, int]:
        """Return rows and columns of what is declared."""
        sizes = entry["shape"]
        require(all(s.isdigit() or s in self.sizes for s in sizes), f"no value of a size of {sizes}")
        rows, cols, *_ = *(self.sizes.get(s) or int(s) for s in sizes), 1, 1
        return rows, cols

    def constant(self, name: str, scope: tuple[str, ...] | None) -> Array:
        """Return what a point gives a name, of the shape declared; 0 is of every shape."""
        shape, value = self.shape(self.d.declared[name]), self.formula(self.texts[name], scope)
        value = np.broadcast_to(value, shape) if value.size == 1 and not value.item().terms else value
        require(value.shape == shape, f"{name} = {self.texts[name]} is not of shape {shape}")
        return value

    def formula(self, text: str, scope: tuple[str, ...] | None = None) -> Array:
        """Return the value of a formula, in which only the names of a scope may occur (None: all)."""
        key = (text, self.n, self.order, scope)
        if key not in self.memo:
            self.memo[key] = self._read(parse(text), scope)
        return self.memo[key]

    def fit(self, text: str, rows: int, cols: int) -> Array:
        """Return a formula in the shape of its place; I and ones have the size that gives it."""
        outer, reason = self.n, UnreadError(f"{text} as {rows} by {cols}")
        sizes = sorted({rows, cols, *self.sizes.values(), *map(len, self.ids.values())})
        for self.n in sizes if re.search(r"\b(I|ones)\b", text) else [1]:
            try:
                value = self.formula(text)
                if value.shape == (rows, cols) or (value.size == 1 and not value.item().terms):
                    return np.broadcast_to(value, (rows, cols))
            except UndefinedError:
                raise
            except UnreadError as why:
                reason = why
            finally:
                self.n = outer
        raise reason

    def _read(self, node: Any, scope: tuple[str, ...] | None) -> Array:
        chain, read = list[Any](), functools.partial(self._read, scope=scope)
        while isinstance(node, ast.BinOp):  # long sums lean to the left
            chain, node = [*chain, node], node.left
        found = self._atom(node, read, scope)
        for one in reversed(chain):
            right, name = read(one.right), type(one.op).__name__
            fit = found.shape[1] == right.shape[0] if name == "MatMult" else found.shape == right.shape
            fit |= name != "MatMult" and 1 in (found.size, right.size)  # a scalar, or a 0 of any shape
            require(name in OPERATORS and fit, f"{name} of shapes {found.shape}, {right.shape}", UnreadError)
            found = getattr(np, OPERATORS[name])(found, right)
        return found

    def _atom(self, node: Any, read: Callable[[Any], Array], scope: tuple[str, ...] | None) -> Array:
        match node:
            case ast.Constant(int() as value) if not isinstance(value, bool):
                return array(Jet(value))
            case ast.List(rows):
                return array([[read(x).item() for x in getattr(row, "elts", [row])] for row in rows])
            case ast.UnaryOp(ast.USub(), arg):
                return -read(arg)
            case ast.Attribute(arg, "T"):
                return read(arg).T
            case ast.Subscript(arg, index):
                A, at = read(arg), [x.value for x in getattr(index, "elts", [index]) if isinstance(x, ast.Constant)]
                bounds = A.shape if len(at) == 2 else (A.size,)
                inside = len(at) == len(bounds) and all(
                    isinstance(i, int) and i < n for i, n in zip(at, bounds, strict=True)
                )
                require(inside, f"no position {at}", UnreadError)
                return array(A[at[0], at[1]] if len(at) == 2 else A.flat[at[0]])
            case ast.Name(name):
                return self._name(name, scope)
            case ast.Call(ast.Name(name), args) if name in self.d.declared:
                same = [ast.unparse(x) for x in args] == self.d.declared[name]["of"]
                require(same, f"{name} at other arguments", UnreadError)
                return self._name(name, scope)
            case ast.Call(ast.Name("grad" | "div" | "hessian" as name), [what, ast.Name(block)]) if block in self.ids:
                outer, over, self.order = self.order, self.ids[block], self.order + 1 + (name == "hessian")
                require(outer < MOST_DERIVATIVES, "so many derivatives", UnreadError)
                try:
                    of = read(what)
                finally:
                    self.order = outer
                if name == "div":
                    return array([[sum((x.slope(i) for i, x in zip(over, row, strict=True)), Jet(0))] for row in of])
                slopes = [of.item().slope(i) for i in over]
                return array([[x.slope(j) for j in over] if name == "hessian" else [x] for x in slopes])
            case ast.Call(ast.Name("where"), [ast.Compare(left, [op], [right]), yes, no]):
                return read(yes if side((read(left) - read(right)).item()) in SIDES[type(op)] else no)
            case ast.Call(ast.Name(name), [arg]) if name in MATRIX:
                return array(MATRIX[name](read(arg)))
            case ast.Call(ast.Name(name), [one, two]) if name in PAIRS:
                return array(PAIRS[name](read(one), read(two)))
            case _:
                raise UnreadError(ast.unparse(node)[:80])

    def _name(self, name: str, scope: tuple[str, ...] | None) -> Array:
        require(scope is None or name in scope, f"{name} in a value that may not depend on it")
        if name in self.beside:
            return self.beside[name]
        if name in self.d.bind:
            return self.fit(self.d.bind[name], *self.shape(self.d.declared[name]))
        if name in self.at:
            coordinates = zip(self.ids[name], self.at[name], strict=True)
            return array([[Jet({(): x, (i,): fmpq(1)}, self.order)] for i, x in coordinates])
        of = self.d.declared.get(name, {}).get("of", [])
        if name in self.texts:
            return self.constant(name, tuple(of))
        if name in self.d.values:
            return self.formula(self.d.values[name], ())
        if self.seed and name in self.d.declared:
            return self._drawn(name, [x for block in of for x in self._name(block, None).flat])
        require(name in {"I", "ones", "pi", *self.sizes} - {*self.d.declared}, f"{name} has no value", UnreadError)
        constants = {"pi": Jet(arb.pi()), **{size: Jet(n) for size, n in self.sizes.items()}}
        return diagonal([Jet(1)] * self.n) if name == "I" else array(constants.get(name, [[Jet(1)]] * self.n))

    def _drawn(self, name: str, z: list[Jet]) -> Array:
        """Return a value of the kinds and the domain declared, or a polynomial in z: the same for the same seed."""
        entry, rng = self.d.declared[name], random.Random(f"{self.seed} {name}")
        (n, m), kinds, domain = self.shape(entry), {*entry["is"]}, entry["domain"]

        def number() -> Jet:
            return Jet(fmpq(rng.choice((-1, 1)) * rng.randint(1, 9), rng.choice((2, 3, 5))))

        def polynomial() -> Jet:
            return sum((math.prod(rng.choices(z, k=rng.randint(1, 3)), start=number()) for _ in z), number())

        A = array([[polynomial() for _ in range(m)] for _ in range(n)])
        squares = array(A * A) + array(Jet(fmpq(1, 9)))
        if entry["ends"] or domain == "simplex":
            low, high, *_ = *(self.fit(end, 1, 1).item() for end in entry["ends"]), Jet(0), Jet(1)
            if domain not in FREE:
                return array([[low + (high - low) * Jet(fmpq(rng.randint(1, 12), 13 * n))] for _ in range(n)])
        if "diagonal" in kinds:
            return diagonal(np.diag(squares if kinds & {*SIGNED, PD, PSD} else A))
        if kinds & {PD, PSD}:
            return A @ A.T + diagonal([Jet(fmpq(int(PD in kinds), 2))] * n)
        grows = array(sum((x ** Jet(4) for x in z if entry.get("role") == "potential"), Jet(0)))
        signed = squares if kinds & {*SIGNED} or domain not in FREE else A
        return signed - A.T if "skew" in kinds else signed + signed.T if "symmetric" in kinds else signed + grows

    def admissible(self) -> list[Number]:
        """Require that everything is of its kinds, inside its domain, and meets `assume`."""
        for name in self.texts:
            kinds, moved = self.d.declared[name]["is"], {**self.at}
            for k in range(4 if name in self.d.functions else 1):  # a function keeps its kinds at other states
                for block, x in moved.items() if k else ():
                    free = self.d.blocks[block]["domain"] in FREE
                    self.at[block] = [y + k * k + i if free else y for i, y in enumerate(x)]
                self.memo.clear()
                A = self._name(name, None)
                found = (
                    {sign(x.value) for x in (np.diag(A) if "diagonal" in kinds else A.flat)} if kinds else set[int]()
                )
                holds = all(found <= SIGNED[kind] if kind in SIGNED else KINDS[kind](A) for kind in kinds)
                require(holds, f"{name} = {self.texts[name]} is not {', '.join(kinds)}")
                varies = name != self.d.potential or k == 0 or any(A.item().terms)
                require(varies, f"{name} = {self.texts[name]} is constant")
            self.at |= moved
            self.memo.clear()
        for name, values in self.at.items():
            domain, ends = self.d.blocks[name]["domain"], self.d.blocks[name]["ends"]
            low, *high = [self.fit(end, 1, 1).item().value for end in ends] or [fmpq(0)]
            inside = [x - low for x in values] + [end - x for x in values for end in high]
            inside += [1 - sum(values, fmpq(0))] * (domain == "simplex")
            require(domain in FREE or all(sign(x) > 0 for x in inside), f"{name} is outside {domain}")
        for text in self.d.assume:
            tree = parse(text)
            found = {sign(x.value) for x in (self._read(tree.left, None) - self._read(tree.comparators[0], None)).flat}
            signs, strict = SIDES[type(tree.ops[0])], self.d.moves(text)  # of the state, with room to spare
            require(found <= (signs - {0} if strict and len(signs) > 1 else signs), f"{text} does not hold")
        return []

    def blocks(self, matrix: Any, order: int = 2) -> Array:
        """Return a block matrix."""
        n, self.order = [len(ids) for ids in self.ids.values()], order
        rows = zip(places(matrix), n, strict=True)
        return np.block([[self.fit(x, h, w) for x, w in zip(row, n, strict=True)] for row, h in rows])


def part_of_D(page: Page, label: str) -> Array:
    """Return the part of D that a label names, `D[r,r]` or `D of (theta, r)`."""
    names = re.findall(r"\w+", re.split(r"[\[(]", label)[1])
    require({*names} <= {*page.ids}, f"{label} is no part of D")
    chosen = [i for block in page.ids if block in names for i in page.ids[block]]
    return page.blocks(page.d.D, 0)[np.ix_(chosen, chosen)]


def squares(page: Page, data: Mapping[str, str]) -> list[Number]:
    """Return what is not 0 unless v.T D v is the sum of squares that is stated; its Gram matrices have to be PSD."""
    found, rng = list[Number](), random.Random(page.seed)
    for part in {key.partition(": ")[0] for key in data if ": Gram" in key}:
        own = {key.partition(": ")[2]: text for key, text in data.items() if key.startswith(f"{part}: ")}
        D = part_of_D(page, part)
        v = array([[Jet(rng.randint(-9, 9))] for _ in D])
        page.beside = {f"v{i}": array(x) for i, x in enumerate(v.flat)}
        page.beside |= {name: page.formula(text) for name, text in own.items() if name[1:].isdigit()}
        left = page.formula(own["times"]) * (v.T @ D @ v)
        for k in (name.split()[-1] for name in own if name.startswith("Gram")):
            w, m, G = (page.formula(own[f"{name} {k}"]) for name in ("multiplier", "monomials", "Gram matrix"))
            require(KINDS[PSD](G) and sign(w.item().value) >= 0, f"{part}: not a sum of squares")
            left = left - w * (m.T @ G @ m)
        found += [left.item().value]
    return found


def equation(page: Page, claim: str) -> tuple[Any, Any, Array, Array, Any]:
    """Return f, the f of the recipe, D, the D that is stated, and grad H; `stationary` is about the recipe's f."""
    d, page.order = page.d, 2
    stated, D = page.blocks(d.claims.get("diffusion") or d.D), page.blocks(d.dynamics.get("D") or d.D)
    Q, page.order = page.blocks(d.Q) if d.Q else D * Jet(0), 3
    H, page.order = page.fit(d.dynamics["H"], 1, 1).item(), 2
    g = np.array([H.slope(i) for i in range(len(D))], dtype=object)
    f = recipe = div(D + Q) - (D + Q) @ g
    if claim == "stationary":
        return f, recipe, D, D, g
    f = np.concatenate(
        [page.fit(d.claims["drift"].get(name, "0"), len(ids), 1)[:, 0] for name, ids in page.ids.items()]
    )
    if d.claims.get("interpretation") == "stratonovich":
        require(vanish(stated - diagonal(np.diag(stated))), "a drift in the Stratonovich sense", TrustedError)
        f = f + div(stated) * Jet(fmpq(1, 2))
    return f, recipe, D, stated, g


def residuals(page: Page, claim: str, label: str = "") -> list[Jet]:
    """Return what a claim says is zero; of stationarity J.grad H - div J, where J = f - div D + D grad H."""
    d = page.d
    if claim in ("d_symmetric", "q_skew"):
        matrix = page.blocks(d.Q if claim == "q_skew" else d.D, 0)
        return list((matrix + matrix.T if claim == "q_skew" else matrix - matrix.T).flat)
    f, recipe, D, stated, g = equation(page, claim)
    if claim in ("claimed_drift", "recovered_q"):
        Q = page.blocks(d.Q)
        return [*(f - recipe), *(stated - D).flat, *(Q + Q.T).flat]
    J, along = f - div(stated) + stated @ g, currents(page, f, stated, g)
    if label.startswith("current of "):
        require(label[11:] in along, f"{label[11:]} is no diffusion on a line by itself")
        return [along[label[11:]]]
    return [sum(J * g, Jet(0)) - div([J])[0], *along.values()]


def currents(page: Page, f: Any, D: Array, g: Any) -> dict[str, Jet]:
    """Return J = f_k - d_k D_kk + D_kk d_k H of coordinates by themselves: on a line a stationary law has J = 0."""
    found = dict[str, Jet]()
    for block, ids in page.ids.items():
        entry = page.d.blocks[block]
        line = entry["domain"] != "circle" and (entry["domain"] != "simplex" or len(ids) == 1)
        for i, k in enumerate(ids if line and not page.d.moves(page.d.assume) else ()):
            J = f[k] - D[k, k].slope(k) + D[k, k] * g[k]
            others = [x.slope(j) for x in (f[k], D[k, k], g[k]) for j in range(len(f)) if j != k]
            if vanish([*others, J.slope(k) - J * g[k]]):
                found[f"{block}[{i}]" if entry["shape"] else block] = J
    return found


def outruns(claim: Json, d: Documents, _: Any, seed: str) -> str:
    """Require of a witness of explosion that f ~ a x**p, p > 1, leads to the end; D is 0, or D > 0 of degree <= p."""
    end, drift, noise = claim["witness"].values()
    name, _, to = end.partition(" -> ")
    labels = ["end", f"drift of {name}", f"D of {name}"]
    require([*claim["witness"]] == labels and to in ("oo", "-oo"), "no witness of explosion")
    block, _, at = name.rstrip("]").partition("[")
    sizes = d.sizes(every=True)[0] if claim["for_d"] == "all" else claim["for_d"]
    for k in range(3):
        page = drawn(d, sizes, [], f"{seed} {k}")

        def found(page: Callable[[], Page] = page) -> list[Number]:
            here = page()
            f, _, _, D, _ = equation(here, "stationary" if d.Q else "claimed_drift")
            i = here.ids[block][int(at or 0)]
            here.order = MOST_DERIVATIVES
            a, b = (here.formula(text).item() for text in (drift, noise))
            require(vanish([a - f[i], b - D[i, i]]), f"{drift}, {noise} are not of the equation")
            alone = all({*key} <= {i} for x in (a, b) for key in x.terms)
            p, q = (max(map(len, x.terms), default=0) for x in (a, b))
            lead = a.terms.get((i,) * p, fmpq(0)) * (-1 if to == "-oo" and p % 2 == 0 else 1)
            free = d.blocks[block]["domain"] in (("real",) if to == "-oo" else ("real", "positive", "nonnegative"))
            require(free and alone and 1 < p < here.order and (not b.terms or q <= p), f"{name} need not get to {to}")
            return [lead, b.value if b.terms else fmpq(1)]

        require(decided(found)[0] == {1}, f"{name} does not get to {to}")
    return "rechecked: a drift that outruns its noise, at points drawn here"


def laws(page: Page, claim: str, label: str = "") -> list[Jet]:
    """Return the slopes of the energy left less that stated, once every block that is Gaussian is integrated out.

    exp(-c - b.x - x.P x/2) has the integral exp(-c - logdet(P)/2 + b.P^-1 b/2), up to a constant factor. Of a mixed
    slope that a witness speaks of, that is returned where it is a product (so that the integral is strictly convex).
    """
    d, found = page.d, list[Jet]()
    stated = [(d.own, d.potential)] if claim == "marginal" else [([b], e) for b, e in d.claims["marginal"].items()]
    mixed = re.fullmatch(r"d2\(.*\)/\(d(\w+)\[?(\d*)\]? d(\w+)\[?(\d*)\]?\)", label)
    for keep, energy in stated:
        others = [name for name in page.ids if name not in keep]
        page.order = 2 * len(others) + (4 if mixed else 2)
        left = page.fit(d.dynamics["H"], 1, 1).item()
        for name in [*others, *others]:
            ids = {i: k for k, i in enumerate(page.ids[name])}
            inside = [sum(i in ids for i in key) for key in left.terms]
            if name not in others or max(inside) != 2 or d.blocks[name]["domain"] != "real":
                continue
            parts = dict[Key, dict[Key, Number]]()
            for key, x in left.terms.items():
                outside = tuple(i for i in key if i not in ids)
                parts.setdefault(tuple(ids[i] for i in key if i in ids), {})[outside] = x
            n, order = range(len(ids)), left.order - 2
            half = array([[Jet(parts.get((min(i, j), max(i, j)), {}), order) for j in n] for i in n])
            b = array([[Jet(parts.get((i,), {}), order)] for i in n])
            up, minors = characteristic(half + diagonal(np.diag(half)))
            require(all(sign(c.value) > 0 for c in minors), f"exp(-H) has no finite integral over {name}")
            spread = _log(minors[-1]) - (b.T @ up @ b).item() / minors[-1]
            left, others = Jet(parts.get((), {}), order) + spread * Jet(fmpq(1, 2)), [x for x in others if x != name]
        page.order = left.order
        left = left - page.fit(energy, 1, 1).item()
        slopes = [left.slope(i) for name in keep for i in page.ids[name]]
        if mixed:
            i, j = (page.ids[mixed[k]][int(mixed[k + 1] or 0)] for k in (1, 3))
            both = left.slope(i).slope(j)
            product = both * both.slope(i).slope(j) - both.slope(i) * both.slope(j)
            slopes = [both] if vanish([product]) else []
        require(not others or mixed or vanish(slopes), f"the integral over {', '.join(others)}", TrustedError)
        found += slopes
    return found


def budget(page: Page) -> list[Number]:
    """Return the principal minors of V and of 2D - eps (D + Q) V (D + Q).T, V in the place of the potential's block."""
    V, D = (page.d.build.get("gradient_noise") or {}).get("V", "0"), page.blocks(page.d.D, 0)
    require(V != "estimate", "an estimated V", TrustedError)
    own = np.array([i for name in page.d.own for i in page.ids[name]])
    A, W = (D + page.blocks(page.d.Q, 0))[:, own], page.fit(V, len(own), len(own))
    whole = D * Jet(2) - A @ W @ A.T * page.formula(page.d.build["run"]["step_size"]).item()
    return [c.value for matrix in (W, whole) for c in characteristic(matrix)[1]]


IDENTITIES = ("d_symmetric", "q_skew", "stationary", "claimed_drift", "claimed_stationary", "recovered_q")
CHECKS: dict[str, Callable[[Page, str], list[Number]]] = {
    **{id_: lambda page, label, id_=id_: [x.value for x in residuals(page, id_, label)] for id_ in IDENTITIES},
    "marginal": lambda page, label: [x.value for x in laws(page, "marginal", label)],
    "claimed_marginal": lambda page, label: [x.value for x in laws(page, "claimed_marginal", label)],
    "d_psd": lambda page, _: [c.value for c in characteristic(page.blocks(page.d.D, 0))[1]],
    "noise_budget": lambda page, _: budget(page),
}
"""What a claim says is zero at every point; of these, what it says is not negative."""
NOT_NEGATIVE = ("d_psd", "noise_budget")


def decided(of: Callable[[], list[Number]]) -> tuple[set[int], str]:
    """Return the signs of numbers, with more bits until they are told, and whether that was exact."""
    for bits in PRECISIONS:
        Jet.last, Jet.work = bits == PRECISIONS[-1], 0
        with flint.ctx.workprec(bits):
            try:
                found = of()
                exact = all(isinstance(x, fmpq) for x in found)
                return {sign(x) for x in found}, "exactly" if exact else "enclosed"
            except UnreadError as reason:
                if Jet.last or isinstance(reason, UndefinedError):
                    raise
    raise UnreadError("no precision")


def drawn(d: Documents, sizes: Mapping[str, int], given: list[Point], seed: str) -> Callable[[], Page]:
    """Return what makes an admissible page: all drawn here; else with parameters, or all, as at a point given."""
    fitting = [point for point in given if all(point.get(name) == str(n) for name, n in sizes.items())]
    constant = [{name: x for name, x in point.items() if name in d.parameters} for point in fitting]
    for k, base in enumerate([*[Point()] * 20, *constant, *constant, *fitting]):
        point = {**base, **{name: str(n) for name, n in sizes.items()}}
        page = functools.partial(Page, d, point, f"{seed} {k}")
        try:
            decided(lambda page=page: page().admissible())
            return page
        except (FailureError, UndefinedError):
            continue
    raise FailureError("no admissible point is known: nothing is proved of nothing")


def proved(claim: Json, d: Documents, points: list[Point], seed: str) -> str:
    """Try a proof at points drawn here."""
    id_, seen, reason = claim["id"], dict[str, str](), UnreadError("no size that is small")
    if id_ == "recovered_q":
        Q = [[claim["data"].get(f"Q[{a},{b}]", "0") for b in d.blocks] for a in d.blocks]
        d = Documents({**d.parts, "dynamics": {**d.dynamics, "Q": Q}})
    d = d.resting_on(claim["given"])
    for sizes in d.sizes(every=claim["for_d"] == "all"):
        at = ", ".join(f"{name} = {n}" for name, n in sizes.items()) or "the document's"
        try:
            for k in range(8 if id_ in NOT_NEGATIVE else 2):
                page = drawn(d, sizes, points, f"{seed} {k}")
                signs, seen[at] = decided(lambda page=page: CHECKS[id_](page(), ""))
                stated = decided(lambda page=page: squares(page(), claim["data"]))[0] if id_ == "d_psd" else set[int]()
                require(stated <= {0}, f"{id_}: not the sum of squares that is stated")
                require(signs <= ({0, 1} if id_ in NOT_NEGATIVE else {0}), f"{id_} fails at a point drawn here, {at}")
        except UndefinedError as what:
            raise FailureError(f"{id_}: {what}") from None
        except UnreadError as what:
            reason = what
            continue
    if not seen:
        raise reason
    gram = (
        "Gram matrices exactly"
        if any("Gram" in key for key in claim["data"])
        else f"beyond them trusted: {claim['by']}"
    )
    return f"rechecked at sizes {'; '.join(seen)} ({max(seen.values())}, at points drawn here); {gram}"


def refuted(claim: Json, d: Documents, *_: Any) -> str:
    """Recompute what a witness says is wrong."""
    *rest, (label, stated) = claim["witness"].items()
    point, id_, form = dict(rest), claim["id"], re.fullmatch(r"(\w+)\.T @ (D.*) @ \1", label)
    direction = point.pop(form[1], "1") if form else "1"
    if id_ == "recovered_q":  # its witness is about stationarity, or about the one coordinate that there is
        around = label.startswith("mean of") and {entry["domain"] for entry in d.blocks.values()} == {"circle"}
        id_ = "claimed_drift" if around or label.startswith("claimed") else "claimed_stationary"
        d = Documents({**d.parts, "dynamics": {"Q": [["0"] * len(d.blocks)] * len(d.blocks), **d.dynamics}})
        require(not around or not d.moves(d.D, d.claims["drift"]), "a mean around a torus", TrustedError)

    if id_ == "explosion":
        id_ = "stationary" if d.Q else "claimed_stationary"

    def found() -> list[Number]:
        page = Page(d, point)
        page.admissible()
        require(claim["for_d"] == (page.sizes or "all"), f"{id_} is not refuted for {claim['for_d']}")
        ended = stated.removesuffix(" (enclosed)")
        value = arb(ended) if ended != stated else page.formula(stated, ()).item().value
        if id_ == "d_psd":
            v = page.formula(direction, ())
            wrong = [(v.T @ part_of_D(page, form[2] if form else label) @ v).item().value]
        else:
            wrong = CHECKS[id_](page, label)
        return [x for x in wrong if (value.overlaps(arb(x)) if isinstance(value, arb) else not sign(x - value))]

    signs, how = decided(found)
    require(signs - ({0, 1} if id_ in NOT_NEGATIVE else {0}), f"{id_} does not fail as stated")
    return f"rechecked: {how}"


def unique(claim: Json, d: Documents, _: Any, seed: str) -> str:
    """Look whether H is conserved, D = 0 and f.grad H = 0, where constants that may be 0 are: refuted it has to be."""
    kind, slope = (
        "stationary" if d.Q else "claimed_drift",
        (claim["witness"] or {}).get("a slope of H"),
    )

    def signs(page: Callable[[], Page]) -> set[int]:
        def found() -> list[Number]:
            here = page()
            here.admissible()
            f, _, _, D, g = equation(here, kind)
            stated = here.formula(slope).item() if slope else Jet(0)
            require(not slope or any(vanish([x - stated]) and sign(x.value) for x in g), "H has no such slope")
            return [x.value for x in (*D.flat, sum(f * g, Jet(0)))]

        return decided(found)[0]

    if claim["verdict"] == "refuted":
        require(slope, "a law besides exp(-H) that is not of H", TrustedError)
        point = {name: x for name, x in claim["witness"].items() if name not in ("a slope of H", "also stationary")}
        require(signs(lambda: Page(d, point)) == {0}, "H is not conserved")
        return "rechecked: H is conserved at the point"
    never = {PD, "positive", "nonzero"}
    zeros = {name: "0" for name, x in d.parameters.items() if name not in d.values and not never & {*x["is"]}}
    for chosen in [{}, *({name: "0"} for name in zeros), zeros]:
        for sizes in d.sizes(every=claim["for_d"] == "all")[:2]:
            point = {**chosen, **{name: str(n) for name, n in sizes.items()}}
            try:
                found = {x for k in range(2) for x in signs(lambda k=k, point=point: Page(d, point, f"{seed} {k}"))}
            except (FailureError, UnreadError):
                continue
            require(found != {0}, f"H is conserved{''.join(f', where {name} = 0' for name in chosen)}")
    return f"trusted: {claim['by']} (H is not conserved at points drawn here)"


def consistent(certificate: Json, d: Documents) -> None:
    """Require that seal, digest, claims, assumptions and verdict fit the documents, and each other.

    Advisory claims that this checker does not know, of a later version, are let pass: they decide nothing.
    """
    every, asked, rest = certificate["claims"], d.asked(), {k: x for k, x in certificate.items() if k != "seal"}
    known = {row.partition(":")[0] for rows in ASKED.values() for row in rows.split()}
    claims = [claim for claim in every if claim["id"] in known or claim["required"] is not False]
    require(certificate["certificate_version"] == VERSION, f"its version is not {VERSION}")
    require(certificate["seal"] == hashlib.sha256(canonical(rest).encode()).hexdigest(), "changed after it was made")
    held = hashlib.sha256(canonical(certificate["documents"]).encode()).hexdigest()
    require(certificate["digest"] == held, "not its document")
    found = [claim["id"] for claim in claims]
    require(found == [id_ for _, id_ in asked], f"asked are {[id_ for _, id_ in asked]}, found are {found}")
    for (part, id_), claim in zip(asked, claims, strict=True):
        stops = id_ in STOPS and claim["verdict"] == "refuted"
        excused = not claim["required"] and id_ in EXCUSED and EXCUSED[id_](claim, d)
        advisory = ((part, id_) in ADVISORY and not stops) or excused
        require(claim["required"] is not bool(advisory), f"{id_} is {'not ' if advisory else ''}required")
        require(claim["verdict"] in ("proved", "refuted", "undecided"), f"{id_} is {claim['verdict']}")
    deciding = {c["verdict"] for c in claims if c["required"]}
    verdict = next((v for v in ("refuted", "undecided") if v in deciding), "proved")
    require(certificate["verdict"] == verdict, f"verdict {certificate['verdict']}, but its claims give {verdict}")
    require(all(re.fullmatch("[a-z_]+", c["id"]) for c in every), "a claim has no name")
    require(certificate["assumptions"] == sorted({a for c in every for a in c["given"]}), "not the assumptions used")


def recheck(certificate: Json) -> list[tuple[str, str]]:
    """Return every claim with how it was re-checked; raises FailureError where something is not as stated."""
    d, found = Documents(certificate["documents"]), list[tuple[str, str]]()
    consistent(certificate, d)
    for claim in certificate["claims"]:
        says = "undecided: nothing to re-check" if claim["verdict"] == "undecided" else f"trusted: {claim['by']}"
        judge = {"refuted": refuted, "proved": proved}.get(claim["verdict"]) if claim["id"] in CHECKS else None
        if claim["id"] == "explosion" and claim["verdict"] == "refuted":
            label = [*(claim["witness"] or ("",))][-1].partition(" of ")[0]
            judge = {"current": refuted, "D": outruns}.get(label)
        if claim["id"] == "unique" and claim["verdict"] != "undecided":
            judge = unique
        if judge:
            try:
                says = judge(claim, d, certificate["points"], certificate["digest"])
            except TrustedError as what:
                require(judge is not refuted or claim["id"] == "recovered_q", f"{claim['id']}: {what}")
                says += f" (this checker cannot read {what})"
        granted = [] if claim["verdict"] == "undecided" else d.granted(claim["given"])
        says += f"; granted, not declared: {'; '.join(granted)}" if granted else ""
        found.append((claim["id"], says))
    return found


def _once(pairs: list[tuple[str, Any]]) -> Json:
    require(len(dict(pairs)) == len(pairs), "a key stands there twice", ValueError)
    return dict(pairs)


def main(files: list[str]) -> int:
    """Re-check files, and return the exit code."""
    worst = 0 if files else 2
    lines = [] if files else ["usage: python recheck.py FILE..."]
    for file in files:
        try:
            require(Path(file).stat().st_size <= MOST_BYTES, f"more than {MOST_BYTES} bytes", ValueError)
            whole = json.loads(Path(file).read_text(encoding="utf-8"), object_pairs_hook=_once)
            said, kind = [": ".join(pair) for pair in recheck(whole)], 0
        except FailureError as reason:
            said, kind = [f"FAILED: {reason}"], 1
        except Exception as reason:  # whatever no certificate provokes
            said, kind = [f"no certificate: {type(reason).__name__}: {str(reason)[:200]}"], 2
        lines, worst = [*lines, *(f"{file}  {line}" for line in said)], max(worst, kind)
    try:
        print(*lines, sep="\n", file=sys.stdout if files else sys.stderr, flush=True)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Documents at fixed sizes and at a point: what is declared as numbers and test functions, formulas as matrices."""

import ast
import functools
import itertools
import json
import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly

from . import limits
from .field import (
    PD,
    PSD,
    RING,
    SIGNED,
    Array,
    FailureError,
    Field,
    Poly,
    TrustedError,
    UndefinedError,
    UnreadError,
    array,
    constant,
    diagonal,
    has_kinds,
    product,
    require,
)
from .formulas import (
    CALCULUS,
    JOINED,
    MEANINGS,
    OPERATORS,
    RELATIONS,
    SIDES,
    TABLES,
    Json,
    declared,
    listed,
    parse,
    places,
    translate_sympy,
)

FREE = ("real", "circle")
STATED = ("diffusion", "drift", "update", "marginal")
Point = dict[str, str]


def scaled(dynamics: Json, scale: Json) -> Json:
    """Return dynamics with the rows of each block b in D, Q and what is claimed of them times s_b, for eps s_b eps."""
    factors = [scale.get(name, "1") for name in declared(dynamics, "state")]

    def rows(part: Json, key: str) -> Json:
        matrix = zip(factors, places(part[key]), strict=True) if part.get(key) else ()
        return {key: [[f"({s})*({x})" for x in row] for s, row in matrix]} if part.get(key) else {}

    claims: Json = dynamics.get("claims") or {}
    drift = {b: f"({scale.get(b, 1)})*({f})" for b, f in (claims.get("drift") or {}).items()}
    steps = (claims.get("update") or {}).items()
    update = {b: re.sub(r"\beps\b", f"(({scale.get(b, 1)})*eps)", f) for b, f in steps}
    own = {k: x for k, x in (("drift", drift), ("update", update)) if x}
    own = {**claims, **own, **rows(claims, "diffusion")}
    return {**dynamics, **rows(dynamics, "D"), **rows(dynamics, "Q"), "claims": own} if scale else dynamics


class Documents:
    """What the documents of a certificate declare and state; a build's with what it binds and gives values."""

    def __init__(self, documents: Json) -> None:
        self.parts = documents
        self.dynamics, self.target, self.build = (documents.get(k) or {} for k in ("dynamics", "target", "build"))
        entry = self.build.get("scheme") or {}
        self.dynamics = scaled(self.dynamics, entry.get("scale") or {})
        self.claims, self.bind = self.dynamics.get("claims") or {}, self.build.get("bind") or {}
        self.scheme: Json = documents.get("scheme") or {}
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
        self.own: list[str] = self.functions[self.potential]["of"] if potentials else []

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


class Page(Field):
    """Documents at fixed sizes, with a constant for every name they declare, and a formula for every function."""

    def __init__(
        self, documents: Documents, point: Point, seed: str = "", *, plain: bool = False, is_open: bool = False
    ) -> None:
        """Read a point; with a seed the rest is drawn, of numbers -1, 0 and 1 where it is plain.

        If it is open, all that is declared is unknown: polynomials hold for every instance, values are the point's.
        """
        super().__init__()
        self.d, self.seed, self.plain, self.is_open, self.n = documents, seed, plain, is_open, 1
        self.memo, self.kept = dict[Any, Any](), dict[Any, tuple[Any, frozenset[int]]]()
        self.beside, self.draws = dict[str, Array](), list[tuple[list[int], Array]]()
        self.others = dict[str, str]()
        self.sizes = {k: int(x) for k, x in point.items() if k not in documents.declared and x.isdigit() and len(x) < 6}
        calls = {f"{name}({', '.join(e['of'])})": name for name, e in documents.functions.items()}
        self.texts = {calls.get(name, name): text for name, text in point.items() if name not in self.sizes}
        unknown = {*self.texts} - {*documents.blocks, *documents.parameters, *documents.functions}
        require(not unknown, f"a value of {', '.join(sorted(unknown))}, which the document does not declare")
        ends = [0, *itertools.accumulate(self.shape(entry)[0] for entry in documents.blocks.values())]
        require(ends[-1] <= limits.COORDINATES, "this many coordinates", TrustedError)
        self.ids = {name: range(ends[k], ends[k + 1]) for k, name in enumerate(documents.blocks)}
        self.coordinates = ends[-1]
        self.made, self.at = [("", constant(0))] * ends[-1], {name for name in self.ids if seed or name in self.texts}
        given = {name: self.formula(text) for name, text in documents.values.items() if name in self.texts}
        require(all(self.vanish(x - self.constant(name, ())) for name, x in given.items()), "values not of the build")
        for name in self.at:
            values = self.constant(name, ()) if name in self.texts else self._draw_instance(name, [])
            self.move(dict(zip(self.ids[name], values.flat, strict=True)))
        self.kept.clear()

    def move(self, to: Mapping[int, Poly]) -> None:
        """Give coordinates other values."""
        for i, x in to.items():
            self.made[i] = ("", x)
        for memo in (self.memo, self.known, self.defined):
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
        key = (text, self.n, self.smooth, scope, *self.others.items())
        return self.once(key, lambda: self._evaluate(parse(text) if isinstance(text, str) else text, scope))

    def once(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return what is made of formulas, once for all points unless that depends on a value at one, or beside it."""
        if key in self.kept:
            found, used = self.kept[key]
            for k in used:
                self.require_defined(k)
            return found
        if key not in self.memo:
            outer, self.looks, self.used = (self.looks, self.used), 0, set()
            try:
                found = make()
                if self.looks:
                    self.memo[key] = found
                else:
                    self.kept[key] = found, frozenset(self.used)
            finally:
                self.looks, self.used = self.looks + outer[0], self.used | outer[1]
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

    def _evaluate(self, node: Any, scope: tuple[str, ...] | None) -> Array:
        """Return the matrix of a syntax tree; sums and products are evaluated from the left."""
        chain, read = list[Any](), functools.partial(self._evaluate, scope=scope)
        while isinstance(node, ast.BinOp):  # long sums lean to the left
            chain, node = [*chain, node], node.left
        left = self._evaluate_atom(node, read, scope)
        for one in reversed(chain):
            right, name = read(one.right), type(one.op).__name__
            fit = left.shape[1] == right.shape[0] if name == "MatMult" else left.shape == right.shape
            fit |= name != "MatMult" and 1 in (left.size, right.size)  # a scalar, or a 0 of any shape
            require(name in OPERATORS and fit, f"{name} of shapes {left.shape}, {right.shape}", UnreadError)
            left = OPERATORS[name](self, left, right)
        return left

    def _evaluate_atom(self, node: Any, read: Callable[[Any], Array], scope: tuple[str, ...] | None) -> Array:
        """Return the matrix of a syntax tree that is no binary operation."""
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
                return self._evaluate_name(name, scope)
            case _:
                return self._evaluate_call(node, read, scope)

    def _evaluate_call(self, node: Any, read: Callable[[Any], Array], scope: tuple[str, ...] | None) -> Array:
        """Return the matrix of a function call."""
        match node:
            case ast.Call(ast.Name(name), args) if name in self.d.declared:
                return self._evaluate_function(name, [ast.unparse(x) for x in args], scope)
            case ast.Call(ast.Name("grad" | "div" | "hessian" as name), [what, ast.Name(block)]) if block in self.ids:
                return self._evaluate_derivative(name, what, self.ids[self.others.get(block, block)], read)
            case ast.Call(ast.Name("where"), [condition, yes, no]):
                return read(yes if self._is_condition_true(condition, read) else no)
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
                slope = array(self.gradient(self._evaluate_name(name, scope).item(), self.ids[block]))
                return slope + self.beside[f"tilde {block}"]
            case ast.Call(ast.Name(name), args) if name in (table := TABLES.get(len(args), {})):
                return array(table[name](self, *map(read, args)))
            case ast.Call(ast.Name(name), [one, *rest]) if name in JOINED:
                return functools.reduce(
                    lambda A, x: self._evaluate_meaning(f"{name}(x, y)", A, read(x)), rest, read(one)
                )
            case ast.Call(ast.Name(name), args) if f"{name}({', '.join('xyz'[: len(args)])})" in MEANINGS:
                return self._evaluate_meaning(f"{name}({', '.join('xyz'[: len(args)])})", *map(read, args))
            case ast.Call(ast.Name(name), args) if (meaning := translate_sympy(name, args)) is not None:
                return read(meaning)
            case _:
                raise UnreadError(ast.unparse(ast.fix_missing_locations(node))[:80])

    def _evaluate_function(self, name: str, at: list[str], scope: tuple[str, ...] | None) -> Array:
        """Return a declared function at its blocks, or at other blocks of the same shapes."""
        own, blocks = self.d.declared[name]["of"], self.d.blocks
        alike = len(at) == len(own) and {*at} <= {*blocks} and len({*at}) == len(at)
        same = alike and all(
            blocks[x][key] == blocks[y][key]
            for x, y in zip(at, own, strict=True)
            for key in ("shape", "domain", "ends")
        )
        require(same, f"{name} at arguments other than its own", UnreadError)
        there = {x: self.others.get(y, y) for x, y in zip(own, at, strict=True)}
        self.others, outer = {x: y for x, y in there.items() if x != y}, self.others
        try:
            return self._evaluate_name(name, scope)
        finally:
            self.others = outer

    def _evaluate_derivative(self, name: str, what: Any, over: Any, read: Callable[[Any], Array]) -> Array:
        """Return a gradient, divergence or Hessian by the coordinates of a block."""
        outer, self.smooth = self.smooth, True
        try:
            of = read(what)
        finally:
            self.smooth = outer
        if name == "div":
            return array([sum(map(self.slope, row, over), constant(0)) for row in of])
        slopes = self.gradient(of.item(), over)
        return array([self.gradient(x, over) for x in slopes] if name == "hessian" else slopes)

    def _evaluate_meaning(self, head: str, *given: Array) -> Array:
        """Return a function that other functions define, at given arguments."""
        self.beside, outer = {**self.beside, **dict(zip(("_x", "_y", "_z"), given, strict=False))}, self.beside
        try:
            return self._evaluate(MEANINGS[head], None)
        finally:
            self.beside = outer

    def _is_condition_true(self, condition: Any, read: Callable[[Any], Array]) -> bool:
        """Whether a condition of `where` holds near the point."""
        match condition:
            case ast.Compare(left, [op], [right]) if type(op) in SIDES:
                return self.side((read(left) - read(right)).item()) in SIDES[type(op)]
            case ast.Call(ast.Name("And" | "Or" as name), args):
                return (all if name == "And" else any)(self._is_condition_true(x, read) for x in args)
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr() as op, right):
                return (all if isinstance(op, ast.BitAnd) else any)(
                    self._is_condition_true(x, read) for x in (left, right)
                )
            case ast.Call(ast.Name("Not"), [arg]) | ast.UnaryOp(ast.Invert(), arg):
                return not self._is_condition_true(arg, read)
            case ast.Call(ast.Name(name), args) if name in RELATIONS:
                return self._is_condition_true(translate_sympy(name, args), read)
            case _:
                raise UnreadError(f"the condition {ast.unparse(condition)[:60]}")

    def _evaluate_name(self, name: str, scope: tuple[str, ...] | None) -> Array:
        """Return the matrix that a name stands for: a block, a value, a binding or a drawn instance."""
        require(scope is None or name in scope, f"a value depends on {name}, which it must not")
        if name in self.beside:
            self.looks += name not in ("_x", "_y", "_z")  # arguments are read with the formula
            return self.beside[name]
        if name in self.d.bind:
            return self.fit(self.d.bind[name], *self.shape(self.d.declared[name]))
        if name in self.at:
            return array([RING.gen(i) + self.shift.get(i, 0) for i in self.ids[self.others.get(name, name)]])
        of = self.d.declared.get(name, {}).get("of", [])
        if name in self.d.values and name not in self.texts:
            return self.formula(self.d.values[name], ())
        if name in self.texts or (self.seed and name in self.d.declared):
            z = [] if name in self.texts else [x for block in of for x in self._arguments_of_drawn(name, block)]
            found = self.constant(name, tuple(of)) if name in self.texts else self._draw_instance(name, z)
            return self.unknown_entries(name, found) if self.is_open else found
        if name in self.d.noise and self.step >= 0:
            self.looks += 1
            self.beside[name] = self.drawn(diagonal([constant(1)] * self.shape(self.d.noise[name])[0]))
            return self.beside[name]
        if name == "eps" and self.step >= 0:
            return array(RING.gen(self.step) ** 2)
        if name in MEANINGS and name not in self.d.declared:
            return self._evaluate(MEANINGS[name], scope)
        require(name in {"I", "ones", "pi", *self.sizes} - {*self.d.declared}, f"{name} has no value", UnreadError)
        if name == "I":
            return diagonal([constant(1)] * self.n)
        number = self.of("pi", constant(0)) if name == "pi" else constant(self.sizes.get(name, 1))
        return array([number] * (self.n if name == "ones" else 1))

    def unknown_entries(self, name: str, instance: Array) -> Array:
        """Return unknown entries of what is declared, shared as its kinds say; a matrix is an instance of them."""
        kinds, found = {*self.d.declared[name]["is"]}, instance.copy()
        over = tuple(i for block in self.d.declared[name]["of"] for i in self.ids[self.others.get(block, block)])
        for i, j in np.ndindex(instance.shape):
            a, b = sorted((i, j)) if kinds & {"symmetric", "skew", PD, PSD} else (i, j)
            if (i != j and "diagonal" in kinds) or (i == j and "skew" in kinds):
                continue
            sign = -1 if "skew" in kinds and i > j else 1
            found[i, j] = sign * self.unknown(f"{name}[{a},{b}]", over, instance[a, b])
        return found

    def _arguments_of_drawn(self, name: str, block: str) -> Iterable[Poly]:
        """Return the polynomials that a drawn function depends on: entries of a block, sines of a periodic one."""
        x = self._evaluate_name(block, None)
        if block not in self.d.declared[name].get("periodic", ()):
            return x.flat
        turns = 2 * self.of("pi", constant(0)) * self.of("inv", self.period(block))
        return [self.of("sin", y * turns) for y in x.flat]

    def period(self, block: str) -> Poly:
        """Return the length of a circle."""
        ends = [self.scalar(end) for end in self.d.blocks[block]["ends"]]
        return ends[1] - ends[0] if ends else 2 * self.of("pi", constant(0))

    def _draw_instance(self, name: str, z: list[Poly]) -> Array:
        """Return a random value, or a random function of z, of the declared kinds and domain, fixed by the seed."""
        entry, rng = self.d.declared[name], random.Random(f"{self.seed} {name}")
        (n, m), kinds, domain = self.shape(entry), {*entry["is"]}, entry["domain"]
        potential = z and not kinds and entry.get("role") == "potential" and not entry["shape"]
        grows = sum((x**4 for x in z), constant(0)) if potential else constant(0)

        def number() -> Poly:
            some = fmpq(rng.choice((-1, 1)) * rng.randint(1, 9), rng.choice((2, 3, 5)))
            return constant(rng.choice((-1, 0, 1)) if self.plain else some)

        def polynomial() -> Poly:
            terms = z if n * m == 1 else z[:2] if rng.random() * n * m < 2 else []  # of long ones no inverse
            least = 2 if self.plain else 1
            powers = (math.prod(rng.choices(z, k=rng.randint(least, 2)), start=number()) for _ in terms)
            return sum(powers, constant(0) if self.plain and z else number())

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

    def admissible(self) -> "Page":
        """Require that everything is of its kinds, inside its domain, and meets `assume`."""
        values = {i: self.made[i][1] for name in self.at for i in self.ids[name]}
        for name in self.texts:
            kinds = self.d.declared[name]["is"]
            for k in range(4 if name in self.d.functions else 1):  # a function keeps its kinds at other states
                free = [i for block in self.at if self.d.blocks[block]["domain"] in FREE for i in self.ids[block]]
                self.move({i: values[i] + k * (k + i) for i in free})
                A = self._evaluate_name(name, None)
                require(has_kinds(self, A, kinds), f"{name} = {self.texts[name]} is not {', '.join(kinds)}")
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
        found = {
            self.sign(x) for x in (self._evaluate(tree.left, None) - self._evaluate(tree.comparators[0], None)).flat
        }
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


def drawn(
    d: Documents, sizes: Mapping[str, int], given: list[Point], seed: str, *, plain: bool = False, is_open: bool = False
) -> Page:
    """Return an admissible page: all drawn here; else with parameters, or all, as at a point given."""
    fitting = [point for point in given if all(point.get(name) == str(n) for name, n in sizes.items())]
    constant = [{name: x for name, x in point.items() if name in d.parameters} for point in fitting]
    for k, base in enumerate([*[Point()] * 20, *constant, *constant, *fitting]):
        point = {**base, **{name: str(n) for name, n in sizes.items()}}
        try:
            return Page(d, point, f"{seed} {k}", plain=plain, is_open=is_open).admissible()
        except (FailureError, UndefinedError):
            continue
    equal = any("==" in text for text in d.assume)  # which may have no rational solution
    require(not equal, "equalities that no point drawn here satisfies", TrustedError)
    raise FailureError("no admissible point is known, so the claims may hold vacuously")


def compared_sides(d: Documents) -> Iterator[tuple[ast.expr, ast.expr]]:
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


def pages_at_equalities(page: Page) -> Iterator[Page]:
    """Yield pages where both sides of a comparison are equal, by the choice of one number, where that is rational."""
    d, sizes = page.d, {name: str(n) for name, n in page.sizes.items()}
    known = {name: page.here(page.formula(name)) for name in (*d.blocks, *d.parameters)}
    for left, right in compared_sides(d):
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

"""Random dynamics at the edge of what is right: kinks, comparisons, roots, logarithms, quotients of sizes, assumptions.

Nothing is right by construction. Entries are built of pieces that are nonnegative, equal or defined nearly everywhere,
or only under the assumptions that the document may or may not make. What is certainly wrong with them is found at
points, in rationals and balls, by no code of the compiler. Points take special values often (0, 1, -1, one name equal
to another), since that is where kinks and edges are.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

import flint
from flint import arb, fmpq
from terms import BITS, ZERO, Point, Term, UndefinedError, UnknownError, Value, name, parse, sign, slope, value

Matrix = tuple[tuple[Term, ...], ...]

VECTOR, SIZE = "theta", "d"
DOMAINS = ("real", "real", "real", "real", "positive", "positive", "nonnegative", "interval(0, 1)", "circle")
KINDS = ("real", "real", "real", "positive", "nonnegative", "nonzero")
ASSUMED = ("a == b", "a < 1", "a > 0", "a > b", "b >= a", "a**2 < 1", "a + b > 1", "a >= 0", "b == 1", "a*b > 0")
ASSUMED_OF_SIZES = ("d > 1", "d >= 3", "d < 3")

ZEROS = (
    "abs(u) - u", "sin(u)**2 + cos(u)**2 - 1", "minimum(u, 0)", "maximum(u, v) - (u + v + abs(u - v))/2",
    "sign(u)*abs(u) - u", "sqrt(u**2) - abs(u)", "log(exp(u)) - u", "exp(log(v)) - v", "sqrt(v)**2 - v",
    "sign(u)**2 - 1", "where(u {relation} 0, u, abs(u)) - abs(u)", "(a - b)*v", "(a - 1)*v", "abs(a) - a",
    "log(v**2) - log(v)*2", "u - v",
)  # fmt: skip
"""What is zero everywhere, on part of the space, or where something is assumed."""
ZEROS_OF_SIZES = ("(d - 3)/(d - 3) - 1", "(d - 1)*(d - 2)*(d - 3)")
NONNEGATIVE = (
    "1", "u**2", "abs(u)", "sign(u) + 1", "1 - sign(u)", "1 - sign(u)**2", "sign(u)**2", "maximum(u, 0)",
    "maximum(u, v) - u", "abs(u) + minimum(u, 0)", "abs(u) - u", "where(u > 0, u, 0)", "where(u >= v, u - v, 1)",
    "where(u == 0, -1, 1)", "where(zero == 0, {number}, 1)", "where(zero {relation} 0, -1, 1)",
    "1 - where(zero == 0, 1, 0)*2", "exp(u)", "log(u**2 + 1)", "sqrt(u)", "sqrt(1 - v)", "log(v)", "exp(log(v))",
    "sqrt(v)**2", "1/u**2", "v/v", "v", "1 - v", "a", "a - b", "1 - a", "v**2 - v", "1 + sin(u)",
    "1 - cos(u)**2 - sin(u)**2", "u**2 + v**2 - u*v*2", "u**2 + v**2 - u*v*3", "sqrt(u**2) - u",
)  # fmt: skip
"""What is nonnegative everywhere, nearly, or not at all."""
NONNEGATIVE_OF_SIZES = (
    "d - 2", "(d - 1)*(d - 2)*(d - 4)", "(d - 5)/(d - 5)", "1/(d - 4)**2", "norm2(theta)*d - sum(theta)**2",
)  # fmt: skip
EQUAL = (
    "e", "e", "e", "e + zero", "e + other*v", "e*sign(u)**2", "e*(sin(u)**2 + cos(u)**2)",
    "e*where(a == b, 1, {number})", "exp(log(e))", "e*u/u", "where(u > 0, e, e)", "where(last == 0, e, -e)",
)  # fmt: skip
"""What equals e everywhere, in part, or only nearly."""
INNER = ("u", "u", "u", "u + v", "u - v", "u*v", "u**2", "u - 1", "1 - u", "sin(u)")
CONFINING = {
    "positive": ("x - log(x)", "x", "x**2/2", "log(x + 1)*{number}"),
    "circle": ("cos(x)", "0", "sin(x)**2", "cos(x*2)"),
    "interval(0, 1)": ("0", "-log(x) - log(1 - x)", "x**2"),
    "real": ("x**2/2", "x**2/2", "x**4", "abs(x)", "log(x**2 + 1)/2", "log(x**2 + 1)", "sqrt(x**2 + 1)"),
}
"""Energies of a block that confine it, nearly."""
PERTURBED = (
    "where(zero == 0, 1, 0)*x**2", "-where(zero == 0, 1, 0)*x**2", "-where(zero > 0, x**2, 0)", "zero", "zero*x**2",
    "-sign(zero)**2*x**2", "-maximum(x, 0)**2/2", "minimum(x**2, 1)", "u",
)  # fmt: skip


@dataclass(frozen=True)
class Wild:
    """Dynamics of scalar blocks and at most one column theta, which enters by norm2, sum and multiples of I only."""

    domains: tuple[tuple[str, str], ...]
    kinds: tuple[tuple[str, str], ...]
    assumed: tuple[str, ...]
    energy: Term
    D: Matrix
    Q: Matrix
    drift: tuple[Term, ...] = ()

    @property
    def blocks(self) -> tuple[str, ...]:
        """The names of the blocks, in order."""
        return tuple(block for block, _ in self.domains)

    def document(self) -> dict[str, Any]:
        """Return the document."""
        claims = {"claims": {"drift": dict(zip(self.blocks, map(str, self.drift), strict=True))}} if self.drift else {}
        return {
            "name": "wild",
            "state": {b: {"shape": SIZE} if b == VECTOR else {"domain": of} for b, of in self.domains},
            "parameters": {p: {"is": kind} for p, kind in self.kinds},
            **({"assume": self.assumed} if self.assumed else {}),
            "H": str(self.energy),
            "D": self._rows(self.D),
            "Q": self._rows(self.Q),
            **claims,
        }

    def _rows(self, matrix: Matrix) -> list[list[str]]:
        of_vector = [block == VECTOR for block in self.blocks]
        return [
            [f"{e}*I" if e != ZERO and own and other else str(e) for e, other in zip(row, of_vector, strict=True)]
            for row, own in zip(matrix, of_vector, strict=True)
        ]


def wild(random: Random) -> Wild:
    """Return random dynamics."""
    names = ("x", "y", "w")[: random.randint(1, 3)]
    domains = [(x, random.choice(DOMAINS)) for x in names]
    if random.random() < 0.25:
        domains.append((VECTOR, "real"))
    kinds = tuple((p, random.choice(KINDS)) for p in ("a", "b"))
    table = ASSUMED + (ASSUMED_OF_SIZES if domains[-1][0] == VECTOR else ())
    assumed = (random.choice(table),) if random.random() < 0.5 else ()
    pieces = Pieces(random, tuple(domains))
    blocks = [b for b, _ in domains]
    D = _symmetric(pieces, blocks)
    found = Wild(tuple(domains), kinds, assumed, pieces.energy(), D, _skew(pieces, blocks))
    if VECTOR in blocks or random.random() < 0.4:
        return found
    return replace(found, drift=_claimed(found, pieces))


def recipe(document: Wild) -> tuple[Term, ...]:
    """Return f_i = sum_j [-(D + Q)_ij dH/dz_j + d(D + Q)_ij/dz_j] for scalar blocks, off kinks."""
    A = [[d + q for d, q in zip(*rows, strict=True)] for rows in zip(document.D, document.Q, strict=True)]
    z = document.blocks
    return tuple(
        sum((slope(e, b) - e * slope(document.energy, b) for e, b in zip(row, z, strict=True)), ZERO) for row in A
    )


class Pieces:
    """Draws pieces of formulas over given blocks."""

    def __init__(self, random: Random, domains: tuple[tuple[str, str], ...]) -> None:
        self.random = random
        self.domains = dict(domains)
        self.sized = VECTOR in self.domains
        scalars = [b for b in self.domains if b != VECTOR]
        self.atoms = [*scalars, *scalars, "a", "b", *(["norm2(theta)", "sum(theta)"] if self.sized else [])]
        self.scalars = scalars

    def pick(self, texts: Sequence[str], **names: Term) -> Term:
        """Return one of several formulas."""
        return parse(self.random.choice(texts), **names)

    def some(self, *texts: str) -> str:
        """Return one of several texts."""
        return self.random.choice(texts)

    def atom(self) -> Term:
        """Return a name, rarely of a parameter or a function of theta."""
        return self.pick(self.atoms)

    def inner(self) -> Term:
        """Return something small to take a function of."""
        return self.pick(INNER, u=self.atom(), v=self.atom())

    def zero(self) -> Term:
        """Return a term that is zero everywhere, on part of the space, or where something is assumed."""
        u, v, relation = self.inner(), self.atom(), self.some(">", ">=", "==", "<", "<=")
        return self._of(ZEROS, ZEROS_OF_SIZES, {"relation": relation}, u=u, v=v)

    def nonnegative(self) -> Term:
        """Return a term that is nonnegative everywhere, nearly, or not at all."""
        u, v, zero = self.inner(), self.atom(), self.zero()
        put = {"number": self.some("1", "-1"), "relation": self.some(">", "<")}
        return self._of(NONNEGATIVE, NONNEGATIVE_OF_SIZES, put, u=u, v=v, zero=zero)

    def _of(self, texts: Sequence[str], of_sizes: Sequence[str], put: Mapping[str, str], **names: Term) -> Term:
        text = self.random.choice([*texts, *(of_sizes if self.sized else ())])
        return parse(text.format(**put), **names)

    def rewritten(self, e: Term) -> Term:
        """Return a term that equals e everywhere, in part, or only nearly."""
        names = {"u": self.inner(), "zero": self.zero(), "other": self.zero(), "v": self.atom()}
        return self._of(EQUAL, (), {"number": self.some("1", "2")}, e=e, last=self.zero(), **names)

    def energy(self) -> Term:
        """Return an energy that confines every block, nearly."""
        total = ZERO
        for b, domain in self.domains.items():
            kind = domain.replace("nonnegative", "positive")
            put = {"number": self.some("1", "2")} if kind == "positive" else {}
            total += parse("norm2(theta)/2") if b == VECTOR else self._of(CONFINING[kind], (), put, x=name(b))
        if self.random.random() < 0.5:
            total += self.pick(PERTURBED, x=self.pick(self.scalars), zero=self.zero(), u=self.inner())
        return total


def _symmetric(pieces: Pieces, blocks: list[str]) -> Matrix:
    n = range(len(blocks))
    found = [[ZERO for _ in n] for _ in n]
    for i in n:
        if pieces.random.random() < 0.8:
            found[i][i] = pieces.nonnegative()
        for j in range(i):
            if pieces.random.random() < 0.25 and VECTOR not in (blocks[i], blocks[j]):
                found[i][j] = pieces.inner()
                found[j][i] = pieces.rewritten(found[i][j])
                if pieces.random.random() < 0.6:  # diagonally dominant, nearly
                    found[i][i] = found[i][i] + parse("abs(e)", e=found[i][j])
                    found[j][j] = found[j][j] + pieces.rewritten(parse("abs(e)", e=found[i][j]))
    return tuple(map(tuple, found))


def _skew(pieces: Pieces, blocks: list[str]) -> Matrix:
    n = range(len(blocks))
    found = [[ZERO for _ in n] for _ in n]
    for i in n:
        if pieces.random.random() < 0.15:
            found[i][i] = pieces.zero()
        for j in range(i):
            if pieces.random.random() < 0.6 and VECTOR not in (blocks[i], blocks[j]):
                found[i][j] = pieces.random.choice((pieces.inner(), pieces.nonnegative()))
                found[j][i] = -pieces.rewritten(found[i][j])
    return tuple(map(tuple, found))


def _claimed(document: Wild, pieces: Pieces) -> tuple[Term, ...]:
    """Return the recipe's drift; in half of all documents with something added to one block that is nearly zero."""
    drift = list(recipe(document))
    if pieces.random.random() < 0.5:
        k = pieces.random.randrange(len(drift))
        drift[k] = drift[k] + pieces.random.choice((pieces.zero(), pieces.zero() * pieces.atom()))
    return tuple(drift)


# The judge

POINTS = 60
"""Points that are looked at for each document, special and generic ones in turn."""

SPECIAL = tuple(map(fmpq, ("0", "0", "1", "-1", "2", "-2", "1/2", "-1/2", "3")))
MIRRORED = {"d_symmetric": -1, "q_skew": 1}
"""s of claims that say M + s M.T = 0."""
FAR = range(40, 120, 8)
"""Powers of two at which energies are looked at."""


@flint.ctx.workprec(BITS)
def wrong_claims(document: Wild, random: Random) -> dict[str, str]:
    """Return the claims that certainly fail, with the point at which they do."""
    found: dict[str, str] = {}
    for k in range(POINTS):
        at = point(document, random, special=k % 2 == 0)
        if at is None:
            continue
        for claim in failing(document, at, generic=k % 2 == 1):
            found.setdefault(claim, shown(at))
    return found


def shown(at: Point) -> str:
    """Return a point as text."""
    return ", ".join(f"{b} = {x if isinstance(x, fmpq | tuple) else x.str(6)}" for b, x in at.items())


def failing(document: Wild, at: Point, *, generic: bool) -> Iterator[str]:
    """Yield the claims that certainly fail at a point, or towards infinity from it."""
    entries = {"d_symmetric": document.D, "d_psd": document.D, "q_skew": document.Q}
    for claim, matrix in entries.items():
        if fails(claim, matrix, at):
            yield claim
    if document.drift:
        yield from _of_drift(document, at)
    if generic:
        if _not_integrable(document, at):
            yield "normalisable"
        if _not_periodic(document, at):
            yield "periodic"


def fails(claim: str, matrix: Matrix, at: Point) -> bool:
    """Return whether a claim about a matrix certainly fails at a point."""
    try:
        M = _values(matrix, at)
    except UndefinedError:
        return True
    except UnknownError:
        return False
    if claim == "d_psd":
        return _negative(M)
    return any(map(_is_nonzero, _mirrored(claim, M)))


def holds_there(claim: str, matrix: Matrix, at: Point, direction: Sequence[Value]) -> bool:
    """Return whether a claim about a matrix certainly holds at a point, or in a direction there."""
    try:
        M = _values(matrix, at)
        if claim == "d_psd":
            return bool(direction) and sign(_quadratic(M, direction)) >= 0
        return all(sign(x) == 0 for x in _mirrored(claim, M))
    except (UndefinedError, UnknownError):
        return False


def _values(matrix: Matrix, at: Point) -> list[list[Value]]:
    return [[value(e, at) for e in row] for row in matrix]


def _mirrored(claim: str, M: list[list[Value]]) -> Iterator[Value]:
    """Yield the entries of M - M.T, or M + M.T, on and below the diagonal."""
    return (M[i][j] + MIRRORED[claim] * M[j][i] for i in range(len(M)) for j in range(i + 1))


WITHIN = {
    "positive": "{0} > 0",
    "nonnegative": "{0} > 0",  # what happens on a face is a claim of its own, `boundary`
    "interval(0, 1)": "{0}*(1 - {0}) > 0",
    "circle": "{0}*(6283185/1000000 - {0}) >= 0",  # once around; that more makes no difference is `periodic`
}
KIND = {"positive": "{0} > 0", "nonnegative": "{0} >= 0", "nonzero": "{0}**2 > 0"}


def admissible(document: Wild, at: Point) -> bool:
    """Return whether a point keeps to domains, kinds and assumptions."""
    conditions = [WITHIN[domain].format(b) for b, domain in document.domains if domain in WITHIN]
    conditions += [KIND[kind].format(p) for p, kind in document.kinds if kind in KIND]
    try:
        return all(value(parse(f"where({text}, 1, 0)"), at) == 1 for text in (*conditions, *document.assumed))
    except (UndefinedError, UnknownError):
        return False


def point(document: Wild, random: Random, *, special: bool) -> Point | None:
    """Return an admissible point, None if none of some is."""
    for _ in range(40):
        draw = partial(random.choice, SPECIAL) if special else lambda: fmpq(random.randint(-400, 400), 97)
        at: dict[str, Value | tuple[fmpq, ...]] = {p: draw() for p, _ in document.kinds}
        if not special:  # parameters are special in half of the generic points
            at |= {p: random.choice(SPECIAL) for p, _ in document.kinds if random.random() < 0.5}
        if VECTOR in document.blocks:
            d = random.randint(1, 6)
            at |= {SIZE: fmpq(d), VECTOR: tuple(draw() for _ in range(d))}
        at |= {b: draw() for b in document.blocks if b != VECTOR}
        if special and random.random() < 0.3:
            names = [x for x in at if x not in {VECTOR, SIZE}]
            at[random.choice(names)] = at[random.choice(names)]
        if "b == 1" in document.assumed:
            at["b"] = fmpq(1)
        if "a == b" in document.assumed:
            at["b"] = at["a"]
        if admissible(document, at):
            return at
    return None


@flint.ctx.workprec(BITS)
def contradicts(document: Wild, claim: str, witness: Mapping[str, str], random: Random) -> bool:
    """Return whether a claim that is refuted at a witness certainly holds there, or the witness is not allowed.

    What the witness does not name does not matter, and is drawn.

    Raises:
        ValueError, SyntaxError: the witness cannot be read.
    """
    given, fails_there = dict(list(witness.items())[:-1]), list(witness)[-1]
    known = {key: _point_of(key, text) for key, text in given.items() if key in _names(document)}
    if all(key in known for key in _names(document)):
        at = known if admissible(document, known) else None
    else:
        at = _completed(document, known, random)
    if at is None:
        return len(known) == len(_names(document))
    if claim != "d_psd":
        return holds_there(claim, document.Q if claim == "q_skew" else document.D, at, ())
    part = _part(document, fails_there)
    direction = [_number(x) for x in given["v"].strip("[]").split(",")] if len(part) > 1 else [fmpq(1)]
    return holds_there(claim, part, at, direction)


def _names(document: Wild) -> tuple[str, ...]:
    sizes = (SIZE,) if VECTOR in document.blocks else ()
    return (*document.blocks, *(p for p, _ in document.kinds), *sizes)


def _point_of(key: str, text: str) -> "Value | tuple[fmpq, ...]":
    if key == VECTOR:
        return tuple(_number(x) for x in text.strip("[]").split(","))
    return value(parse(text), {})


def _completed(document: Wild, known: Point, random: Random) -> Point | None:
    """Return an admissible point with the known values."""
    for _ in range(60):
        at = {**(point(document, random, special=False) or {}), **known}
        if len(at) < len(_names(document)):
            continue
        if VECTOR in at and len(at[VECTOR]) != at[SIZE]:
            at[VECTOR] = (fmpq(1),) * int(at[SIZE])
        if admissible(document, at):
            return at
    return None


def _part(document: Wild, of: str) -> Matrix:
    """Return the part of D that a witness names, `D[x,x]` or `v.T @ D of (x, y) @ v`, or all of it."""
    entry, named = re.search(r"D\[(\w+),\w+\]", of), re.search(r"of \(([\w, ]+)\)", of)
    blocks = entry.groups() if entry else tuple(named[1].split(", ")) if named else document.blocks
    at = [document.blocks.index(b) for b in blocks]
    return tuple(tuple(document.D[i][j] for j in at) for i in at)


def _number(text: str) -> fmpq:
    found = value(parse(text.strip()), {})
    if not isinstance(found, fmpq):
        raise ValueError(text)
    return found


def _of_drift(document: Wild, at: Point) -> Iterator[str]:
    """Yield the claims about the drift that fail at a point off all kinks."""
    try:
        for claimed, derived in zip(document.drift, recipe(document), strict=True):
            if _smooth(claimed, at) and _smooth(derived, at) and _is_nonzero(value(claimed - derived, at)):
                yield "claimed_drift"
                break
        residual = _residual(document)
        parts = (*document.drift, document.energy, *(e for row in document.D for e in row))
        if all(_smooth(part, at) for part in parts) and _is_nonzero(value(residual, at)):
            yield "claimed_stationary"
    except (UndefinedError, UnknownError):
        return


def _residual(document: Wild) -> Term:
    """Return -(1/p) sum_i d_i J_i with J_i = f_i p - sum_j d_j (D_ij p), p = exp(-H)."""
    z, H = document.blocks, document.energy
    total = ZERO
    for i, row, f in zip(z, document.D, document.drift, strict=True):
        current = f
        for j, e in zip(z, row, strict=True):
            current = current - slope(e, j) + e * slope(H, j)
        total = total - slope(current, i) + current * slope(H, i)
    return total


def _smooth(t: Term, at: Point) -> bool:
    """Return whether no kink of a term lies at a point."""
    if t.op == "where":
        _, left, right, yes, no = t.args
        return sign(value(left - right, at)) != 0 and all(_smooth(part, at) for part in (left, right, yes, no))
    if t.op in {"abs", "sign", "sqrt", "minimum", "maximum"}:
        bend = t.args[0] - t.args[1] if len(t.args) > 1 else t.args[0]
        if sign(value(bend, at)) == 0:
            return False
    return all(_smooth(arg, at) for arg in t.args)


def _not_integrable(document: Wild, at: Point) -> bool:
    """Return whether H grows no faster than log|x| along a coordinate, from a generic point on."""
    for b, domain in document.domains:
        if b == VECTOR or domain not in {"real", "positive", "nonnegative"}:
            continue
        for side in (1, -1) if domain == "real" else (1,):
            try:
                if all(_grows_slowly(document.energy, {**at, b: fmpq(side * 2**k)}, k) for k in FAR):
                    return True
            except (UndefinedError, UnknownError):
                continue
    return False


def _grows_slowly(H: Term, at: Point, k: int) -> bool:
    return sign(value(H, at) - k * arb(2).log() - 20) < 0


def _not_periodic(document: Wild, at: Point) -> bool:
    turn = arb.pi() * 2
    formulas = (document.energy, *(e for M in (document.D, document.Q) for row in M for e in row), *document.drift)
    for b, domain in document.domains:
        if domain != "circle":
            continue
        beyond = {**at, b: at[b] + turn}
        for formula in formulas:
            try:
                if _is_nonzero(value(formula, at) - value(formula, beyond)):
                    return True
            except (UndefinedError, UnknownError):
                continue
    return False


def _negative(M: list[list[Value]]) -> bool:
    """Return whether vᵀMv < 0 certainly, in one of a few directions."""
    n = len(M)
    unit = [[fmpq(int(i == j)) for j in range(n)] for i in range(n)]
    pairs = [
        [fmpq(1 if k == i else s if k == j else 0) for k in range(n)]
        for i in range(n)
        for j in range(i)
        for s in (1, -1, 2, -2, fmpq(1, 2), fmpq(-1, 2))
    ]
    for v in (*unit, *pairs):
        try:
            if sign(_quadratic(M, v)) < 0:
                return True
        except UnknownError:
            continue
    return False


def _quadratic(M: list[list[Value]], v: Sequence[Value]) -> Value:
    n = range(len(M))
    return sum((v[i] * M[i][j] * v[j] for i in n for j in n), fmpq(0))


def _is_nonzero(x: Value) -> bool:
    """Return whether a value is certainly not zero."""
    return x != 0 if isinstance(x, fmpq) else not x.contains(0)

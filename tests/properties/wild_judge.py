"""What is certainly wrong with wild dynamics: found at points, in rationals and balls, by no code of the compiler.

Points take special values often (0, 1, -1, one name equal to another), since that is where kinks and edges are.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from random import Random

import flint
from terms import BITS, Point, Term, UndefinedError, UnknownError, Value, holds, name, parse, sign, slope, term, value
from wild_dynamics import SIZE, VECTOR, Matrix, Wild, recipe

POINTS = 60
"""Points that are looked at for each document, special and generic ones in turn."""

SPECIAL = tuple(map(Fraction, ("0", "0", "1", "-1", "2", "-2", "1/2", "-1/2", "3")))
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
    return ", ".join(f"{b} = {x if isinstance(x, Fraction | tuple) else x.str(6)}" for b, x in at.items())


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
    return any(_nonzero(x, y, MIRRORED[claim]) for x, y in _mirrored(M))


def holds_there(claim: str, matrix: Matrix, at: Point, direction: Sequence[Value]) -> bool:
    """Return whether a claim about a matrix certainly holds at a point, or in a direction there."""
    try:
        M = _values(matrix, at)
        if claim == "d_psd":
            return bool(direction) and sign(_quadratic(M, direction)) >= 0
        return all(sign(_ball(x) + MIRRORED[claim] * _ball(y)) == 0 for x, y in _mirrored(M))
    except (UndefinedError, UnknownError):
        return False


def _values(matrix: Matrix, at: Point) -> list[list[Value]]:
    return [[value(e, at) for e in row] for row in matrix]


def _mirrored(M: list[list[Value]]) -> Iterator[tuple[Value, Value]]:
    """Yield the entries on and below the diagonal, each with the one across it."""
    return ((M[i][j], M[j][i]) for i in range(len(M)) for j in range(i + 1))


def admissible(document: Wild, at: Point) -> bool:
    """Return whether a point keeps to domains, kinds and assumptions."""
    try:
        return (
            all(_inside(domain, at[b]) for b, domain in document.domains if b != VECTOR)
            and all(_of_kind(kind, at[p]) for p, kind in document.kinds)
            and all(_assumed(condition, at) for condition in document.assumed)
        )
    except (UndefinedError, UnknownError):
        return False


def point(document: Wild, random: Random, *, special: bool) -> Point | None:
    """Return an admissible point, None if none of some is."""
    for _ in range(40):
        draw = partial(random.choice, SPECIAL) if special else lambda: Fraction(random.randint(-400, 400), 97)
        at: dict[str, Value | tuple[Fraction, ...]] = {p: draw() for p, _ in document.kinds}
        if not special:  # parameters are special in half of the generic points
            at |= {p: random.choice(SPECIAL) for p, _ in document.kinds if random.random() < 0.5}
        if VECTOR in document.blocks:
            d = random.randint(1, 6)
            at |= {SIZE: Fraction(d), VECTOR: tuple(draw() for _ in range(d))}
        at |= {b: draw() for b in document.blocks if b != VECTOR}
        if special and random.random() < 0.3:
            names = [x for x in at if x not in {VECTOR, SIZE}]
            at[random.choice(names)] = at[random.choice(names)]
        if "b == 1" in document.assumed:
            at["b"] = Fraction(1)
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
    direction = [_number(x) for x in given["v"].strip("[]").split(",")] if len(part) > 1 else [Fraction(1)]
    return holds_there(claim, part, at, direction)


def _names(document: Wild) -> tuple[str, ...]:
    sizes = (SIZE,) if VECTOR in document.blocks else ()
    return (*document.blocks, *(p for p, _ in document.kinds), *sizes)


def _point_of(key: str, text: str) -> "Value | tuple[Fraction, ...]":
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
            at[VECTOR] = (Fraction(1),) * int(at[SIZE])
        if admissible(document, at):
            return at
    return None


def _part(document: Wild, of: str) -> Matrix:
    """Return the part of D that a witness names, `D[x,x]` or `v.T @ D of (x, y) @ v`, or all of it."""
    entry, named = re.search(r"D\[(\w+),\w+\]", of), re.search(r"of \(([\w, ]+)\)", of)
    blocks = entry.groups() if entry else tuple(named[1].split(", ")) if named else document.blocks
    at = [document.blocks.index(b) for b in blocks]
    return tuple(tuple(document.D[i][j] for j in at) for i in at)


def _number(text: str) -> Fraction:
    found = value(parse(text.strip()), {})
    if not isinstance(found, Fraction):
        raise ValueError(text)
    return found


def _of_drift(document: Wild, at: Point) -> Iterator[str]:
    """Yield the claims about the drift that fail at a point off all kinks."""
    z = document.blocks
    try:
        for claimed, derived in zip(document.drift, recipe(document), strict=True):
            if _smooth(claimed, at) and _smooth(derived, at) and _nonzero(value(claimed, at), value(derived, at), -1):
                yield "claimed_drift"
                break
        residual = _residual(document)
        parts = (*document.drift, document.energy, *(e for row in document.D for e in row))
        if all(_smooth(part, at) for part in parts) and _nonzero(value(residual, at), Fraction(0), 1) and z:
            yield "claimed_stationary"
    except (UndefinedError, UnknownError):
        return


def _residual(document: Wild) -> Term:
    """Return -(1/p) sum_i d_i J_i with J_i = f_i p - sum_j d_j (D_ij p), p = exp(-H)."""
    z, H = document.blocks, document.energy
    total = term(0)
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
    if t.op in {"abs", "sign"} and sign(value(t.args[0], at)) == 0:
        return False
    if t.op in {"minimum", "maximum"} and sign(value(t.args[0] - t.args[1], at)) == 0:
        return False
    if t.op == "sqrt" and sign(value(t.args[0], at)) == 0:
        return False
    return all(_smooth(arg, at) for arg in t.args)


def _not_integrable(document: Wild, at: Point) -> bool:
    """Return whether H grows no faster than log|x| along a coordinate, from a generic point on."""
    for b, domain in document.domains:
        if b == VECTOR or domain not in {"real", "positive", "nonnegative"}:
            continue
        for side in (1, -1) if domain == "real" else (1,):
            try:
                if all(_grows_slowly(document.energy, {**at, b: Fraction(side * 2**k)}, k) for k in FAR):
                    return True
            except (UndefinedError, UnknownError):
                continue
    return False


def _grows_slowly(H: Term, at: Point, k: int) -> bool:
    return sign(_ball(value(H, at)) - flint.arb(k) * flint.arb(2).log() - 20) < 0


def _not_periodic(document: Wild, at: Point) -> bool:
    turn = flint.arb.pi() * 2
    formulas = (document.energy, *(e for M in (document.D, document.Q) for row in M for e in row), *document.drift)
    for b, domain in document.domains:
        if domain != "circle":
            continue
        beyond = {**at, b: _ball(at[b]) + turn}
        for formula in formulas:
            try:
                if _nonzero(value(formula, at), value(formula, beyond), -1):
                    return True
            except (UndefinedError, UnknownError):
                continue
    return False


def _negative(M: list[list[Value]]) -> bool:
    """Return whether vᵀMv < 0 certainly, in one of a few directions."""
    n = len(M)
    unit = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    pairs = [
        [Fraction(1 if k == i else s if k == j else 0) for k in range(n)]
        for i in range(n)
        for j in range(i)
        for s in (1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2))
    ]
    for v in (*unit, *pairs):
        try:
            if sign(_quadratic(M, v)) < 0:
                return True
        except UnknownError:
            continue
    return False


def _quadratic(M: list[list[Value]], v: Sequence[Value]) -> flint.arb:
    n = range(len(M))
    return sum((_ball(v[i]) * _ball(M[i][j]) * _ball(v[j]) for i in n for j in n), flint.arb(0))


def _nonzero(x: Value, y: Value, s: int) -> bool:
    """Return whether x + s y is certainly not zero."""
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x + s * y != 0
    return not (_ball(x) + s * _ball(y)).contains(0)


def _ball(x: "Value | tuple[Fraction, ...]") -> flint.arb:
    assert not isinstance(x, tuple)
    return flint.arb(flint.fmpq(x.numerator, x.denominator)) if isinstance(x, Fraction) else x


BELOW_TWO_PI = Fraction(6_283_185, 1_000_000)


def _inside(domain: str, x: "Value | tuple[Fraction, ...]") -> bool:
    assert not isinstance(x, tuple)
    s = sign(x)
    match domain:
        case "positive" | "nonnegative":  # what happens on a face is a claim of its own, `boundary`
            return s > 0
        case "interval(0, 1)":
            return s > 0 and holds("<", x, Fraction(1))
        case "circle":  # once around from 0; that more makes no difference is a claim of its own, `periodic`
            return s >= 0 and holds("<=", x, BELOW_TWO_PI)
        case _:
            return True


def _of_kind(kind: str, x: "Value | tuple[Fraction, ...]") -> bool:
    assert not isinstance(x, tuple)
    s = sign(x)
    return {"real": True, "positive": s > 0, "nonnegative": s >= 0, "nonzero": s != 0}[kind]


def _assumed(condition: str, at: Point) -> bool:
    left, relation, right = _CONDITIONS[condition]
    return holds(relation, value(left, at), value(right, at))


_a, _b, _d = name("a"), name("b"), name(SIZE)
_CONDITIONS: dict[str, tuple[Term, str, Term]] = {
    "a == b": (_a, "==", _b),
    "a < 1": (_a, "<", term(1)),
    "a > 0": (_a, ">", term(0)),
    "a > b": (_a, ">", _b),
    "b >= a": (_b, ">=", _a),
    "a**2 < 1": (_a**2, "<", term(1)),
    "a + b > 1": (_a + _b, ">", term(1)),
    "a >= 0": (_a, ">=", term(0)),
    "b == 1": (_b, "==", term(1)),
    "a*b > 0": (_a * _b, ">", term(0)),
    "d > 1": (_d, ">", term(1)),
    "d >= 3": (_d, ">=", term(3)),
    "d < 3": (_d, "<", term(3)),
}

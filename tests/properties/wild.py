"""Random dynamics at the edge of what is right: kinks, comparisons, roots, logarithms, quotients of sizes, assumptions.

Nothing is right by construction. Entries are built of pieces that are nonnegative, equal or defined nearly everywhere,
or only under the assumptions that the document may or may not make. What is certainly wrong with them is found at
points, exactly or in balls, by `kernel`, which shares nothing with the compiler. Points take special values often
(0, 1, -1, one name equal to another), since that is where kinks and edges are.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

from dynamics import NONE, failing, negative, total
from flint import fmpq
from growth import FarPage, has_no_integral

from recipe_compiler import recheck
from recipe_compiler.kernel import field, pages
from recipe_compiler.kernel.equations import coordinates
from recipe_compiler.verdict import Finding

Matrix = tuple[tuple[str, ...], ...]

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


def put(text: str, **names: str) -> str:
    """Return a formula with formulas in the place of names."""
    return re.sub(rf"\b({'|'.join(names)})\b", lambda found: f"({names[found[0]]})", text) if names else text


@dataclass(frozen=True)
class Wild:
    """Dynamics of scalar blocks and at most one column theta, which enters by norm2, sum and multiples of I only."""

    domains: tuple[tuple[str, str], ...]
    kinds: tuple[tuple[str, str], ...]
    assumed: tuple[str, ...]
    energy: str
    D: Matrix
    Q: Matrix
    drift: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[str, ...]:
        """The names of the blocks, in order."""
        return tuple(block for block, _ in self.domains)

    def document(self) -> dict[str, Any]:
        """Return the document."""
        claims = {"claims": {"drift": dict(zip(self.blocks, self.drift, strict=True))}} if self.drift else {}
        return {
            "name": "wild",
            "state": {b: {"shape": SIZE} if b == VECTOR else {"domain": of} for b, of in self.domains},
            "parameters": {p: {"is": kind} for p, kind in self.kinds},
            **({"assume": self.assumed} if self.assumed else {}),
            "H": self.energy,
            "D": self._rows(self.D),
            "Q": self._rows(self.Q),
            **claims,
        }

    def _rows(self, matrix: Matrix) -> list[list[str]]:
        of_vector = [block == VECTOR for block in self.blocks]
        return [
            [f"({e})*I" if e != NONE and own and other else e for e, other in zip(row, of_vector, strict=True)]
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


class Pieces:
    """Draws pieces of formulas over given blocks."""

    def __init__(self, random: Random, domains: tuple[tuple[str, str], ...]) -> None:
        self.random = random
        self.domains = dict(domains)
        self.sized = VECTOR in self.domains
        self.scalars = [b for b in self.domains if b != VECTOR]
        of_theta = ["norm2(theta)", "sum(theta)"] if self.sized else []
        self.atoms = [*self.scalars, *self.scalars, "a", "b", *of_theta]

    def pick(self, texts: Sequence[str], **names: str) -> str:
        """Return one of several formulas."""
        return put(self.random.choice(texts), **names)

    def atom(self) -> str:
        """Return a name, rarely of a parameter or a function of theta."""
        return self.pick(self.atoms)

    def inner(self) -> str:
        """Return something small to take a function of."""
        return self.pick(INNER, u=self.atom(), v=self.atom())

    def zero(self) -> str:
        """Return a term that is zero everywhere, on part of the space, or where something is assumed."""
        u, v, relation = self.inner(), self.atom(), self.pick((">", ">=", "==", "<", "<="))
        return self._of(ZEROS, ZEROS_OF_SIZES, {"relation": relation}, u=u, v=v)

    def nonnegative(self) -> str:
        """Return a term that is nonnegative everywhere, nearly, or not at all."""
        u, v, zero = self.inner(), self.atom(), self.zero()
        given = {"number": self.pick(("1", "-1")), "relation": self.pick((">", "<"))}
        return self._of(NONNEGATIVE, NONNEGATIVE_OF_SIZES, given, u=u, v=v, zero=zero)

    def _of(self, texts: Sequence[str], of_sizes: Sequence[str], given: Mapping[str, str], **names: str) -> str:
        return put(self.random.choice([*texts, *(of_sizes if self.sized else ())]).format(**given), **names)

    def rewritten(self, e: str) -> str:
        """Return a term that equals e everywhere, in part, or only nearly."""
        names = {"u": self.inner(), "zero": self.zero(), "other": self.zero(), "v": self.atom()}
        return self._of(EQUAL, (), {"number": self.pick(("1", "2"))}, e=e, last=self.zero(), **names)

    def energy(self) -> str:
        """Return an energy that confines every block, nearly."""
        terms = list[str]()
        for b, domain in self.domains.items():
            kind = domain.replace("nonnegative", "positive")
            given = {"number": self.pick(("1", "2"))} if kind == "positive" else {}
            terms.append("norm2(theta)/2" if b == VECTOR else self._of(CONFINING[kind], (), given, x=b))
        if self.random.random() < 0.5:
            terms.append(self.pick(PERTURBED, x=self.pick(self.scalars), zero=self.zero(), u=self.inner()))
        return total(terms)


def _symmetric(pieces: Pieces, blocks: list[str]) -> Matrix:
    n = range(len(blocks))
    found = [[NONE for _ in n] for _ in n]
    for i in n:
        if pieces.random.random() < 0.8:
            found[i][i] = pieces.nonnegative()
        for j in range(i):
            if pieces.random.random() < 0.25 and VECTOR not in (blocks[i], blocks[j]):
                found[i][j] = pieces.inner()
                found[j][i] = pieces.rewritten(found[i][j])
                if pieces.random.random() < 0.6:  # diagonally dominant, nearly
                    found[i][i] = total((found[i][i], f"abs({found[i][j]})"))
                    found[j][j] = total((found[j][j], pieces.rewritten(f"abs({found[i][j]})")))
    return tuple(map(tuple, found))


def _skew(pieces: Pieces, blocks: list[str]) -> Matrix:
    n = range(len(blocks))
    found = [[NONE for _ in n] for _ in n]
    for i in n:
        if pieces.random.random() < 0.15:
            found[i][i] = pieces.zero()
        for j in range(i):
            if pieces.random.random() < 0.6 and VECTOR not in (blocks[i], blocks[j]):
                found[i][j] = pieces.random.choice((pieces.inner(), pieces.nonnegative()))
                found[j][i] = negative(pieces.rewritten(found[i][j]))
    return tuple(map(tuple, found))


def _claimed(document: Wild, pieces: Pieces) -> tuple[str, ...]:
    """Return the recipe's drift, f_i = sum_j [-(D + Q)_ij dH/dz_j + d(D + Q)_ij/dz_j], off kinks.

    In half of all documents something is added to one block that is nearly zero.
    """
    slopes = [(b, slope(document.energy, b)) for b in document.blocks]
    drift = list[str]()
    for rows in zip(document.D, document.Q, strict=True):
        row = [total(pair) for pair in zip(*rows, strict=True)]
        terms = ((slope(e, b), negative(_times(e, g))) for e, (b, g) in zip(row, slopes, strict=True))
        drift.append(total(term for pair in terms for term in pair))
    if pieces.random.random() < 0.5:
        k = pieces.random.randrange(len(drift))
        more = pieces.random.choice((pieces.zero(), _times(pieces.zero(), pieces.atom())))
        drift[k] = total((drift[k], more))
    return tuple(drift)


SLOPES = {"sqrt": "1/(sqrt(u)*2)", "log": "1/u", "exp": "exp(u)", "sin": "cos(u)", "cos": "-sin(u)", "abs": "sign(u)"}


def slope(text: str, by: str) -> str:
    """Return the derivative by a scalar, off the kinks of a formula."""
    return _slope(ast.parse(text, mode="eval").body, by)


def _slope(e: ast.expr, by: str) -> str:
    match e:
        case ast.Name(id=name) if name == by:
            return "1"
        case ast.UnaryOp(operand=x):
            return negative(_slope(x, by))
        case ast.BinOp(left=a, op=op, right=b):
            u, v, du, dv = ast.unparse(a), ast.unparse(b), _slope(a, by), _slope(b, by)
            match op:
                case ast.Add() | ast.Sub():
                    return total((du, dv if isinstance(op, ast.Add) else negative(dv)))
                case ast.Mult():
                    return total((_times(du, v), _times(u, dv)))
                case ast.Div():
                    return total((_times(du, f"1/({v})"), negative(_times(dv, f"({u})/({v})**2"))))
                case _:
                    return _times(du, f"{v}*({u})**({v} - 1)")
        case ast.Call(func=ast.Name(id="where" | "minimum" | "maximum" as name), args=[*test, yes, no]):
            relation = "<=" if name == "minimum" else ">="
            holds = ast.unparse(test[0]) if test else f"{ast.unparse(yes)} {relation} {ast.unparse(no)}"
            one, other = _slope(yes, by), _slope(no, by)
            return one if one == other else f"where({holds}, {one}, {other})"
        case ast.Call(func=ast.Name(id=name), args=[x]) if name in SLOPES:
            return _times(put(SLOPES[name], u=ast.unparse(x)), _slope(x, by))
        case _:
            return NONE


def _times(one: str, other: str) -> str:
    return NONE if NONE in (one, other) else f"({one})*({other})"


# The judge

PAGES, STATES, TRIES = 14, 5, 20
"""Values of parameters, special and generic in turn; admissible states that are looked at with each, of so many."""

SPECIAL = tuple(map(fmpq, ("0", "0", "1", "-1", "2", "-2", "1/2", "-1/2", "3")))


def wrong_claims(document: Wild, parsed: pages.Documents, random: Random) -> dict[str, str]:
    """Return the claims that certainly fail, with the point at which they do."""
    found = dict[str, str]()
    for k in range(PAGES):
        for page, is_first in _pages(document, parsed, random, special=k % 2 == 0):
            claims = ["d_symmetric", "d_psd", "q_skew"]
            claims += ["claimed_drift", "claimed_stationary"] if document.drift else []
            once = is_first and k % 2
            claims += ["periodic"] if once else []
            wrong = [*failing(page, claims), *["normalisable"] * bool(once and has_no_integral(page))]
            for claim in wrong:
                found.setdefault(claim, f"{page.texts}, z = {[x for _, x in page.made]}")
    return found


def _pages(document: Wild, parsed: pages.Documents, random: Random, *, special: bool) -> Iterator[tuple[FarPage, bool]]:
    """Yield some admissible pages with the same parameters, and whether it is the first of them."""
    draw = partial(random.choice, SPECIAL) if special else lambda: fmpq(random.randint(-400, 400), 97)
    # parameters are special in half of the generic points
    constants = {p: random.choice(SPECIAL) if random.random() < 0.5 else draw() for p, _ in document.kinds}
    if "b == 1" in document.assumed:
        constants["b"] = fmpq(1)
    if "a == b" in document.assumed:
        constants["b"] = constants["a"]
    d = random.randint(1, 6)
    zeros = {b: str([0] * d) if b == VECTOR else "0" for b in document.blocks}
    sizes = {SIZE: str(d)} if VECTOR in document.blocks else {}
    page = FarPage(parsed, {**sizes, **{p: str(x) for p, x in constants.items()}, **zeros})
    seen = 0
    for _ in range(TRIES):
        z = [draw() for _ in range(page.coordinates)]
        if special and random.random() < 0.3:
            z[random.randrange(len(z))] = random.choice([*z, *constants.values()])
        for block, _, k in coordinates(page):
            if page.d.blocks[block]["domain"] == "circle":
                z[k] = abs(z[k])  # once around: from 0 to 2 pi
        page.move(dict(enumerate(map(field.constant, z))))
        try:
            page.admissible()
        except (field.FailureError, field.UnreadError):
            continue
        seen += 1
        yield page, seen == 1
        if seen == STATES:
            return


def contradiction(finding: Finding, parsed: pages.Documents) -> str:
    """Return why a claim that is refuted certainly does not fail at its witness; empty where it does."""
    witness = dict(getattr(finding.decision, "witness", ()))
    for_d = finding.for_d if isinstance(finding.for_d, str) else dict(finding.for_d)
    try:
        recheck.refuted({"id": finding.id, "witness": witness, "for_d": for_d, "data": {}}, parsed, [], "")
    except field.UnreadError:
        return ""
    except field.FailureError as why:
        return f"{why}, at {witness}"
    return ""

"""Moves of a cycle: whether each preserves exp(-H), at a page."""

import ast
import itertools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from flint import fmpq

from . import limits
from .field import (
    KINDS,
    PD,
    RING,
    Array,
    Poly,
    TrustedError,
    array,
    characteristic,
    constant,
    diagonal,
    inverse,
    product,
    require,
)
from .formulas import Json, declared, listed, parse
from .pages import FREE, Documents, Page, Point, drawn
from .words import has_own_pieces, word_of

AT_VALUES = ", at the values of the build"
KINDS_OF_MOVES = ("refresh", "draw", "cir", "involution", "metropolis", "code")


def every_move(cycle: Any) -> Iterator[Json]:
    """Yield the moves of a cycle in order, repetitions written out."""
    for move in listed(cycle):
        for _ in range(int(move.get("repeat", 1))):
            yield from every_move(move["of"]) if isinstance(move.get("of"), list) else [move]


def kind_of(move: Json) -> str:
    """Return what a move of a cycle does."""
    return next((kind for kind in KINDS_OF_MOVES if kind in move), "steps")


def blocks_redrawn_later(moves: list[Json], place: int) -> set[str]:
    """Return the blocks that a later refresh redraws wholly before a word, or a refresh in part, reads them."""
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
    return page.once(("pieces",), lambda: _compute_pieces(page))


def _compute_pieces(page: Page) -> dict[str, tuple[Array, Array, Poly]]:
    """Return drift, noise and L* 1 of the pieces A, B and O; D and Q must be constants."""
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
    return {name: (f, noises[name], apply_adjoint(page, f, noises[name], constant(1))) for name, f in drifts.items()}


def apply_adjoint(page: Page, f: Array, D: Array, psi: Poly) -> Poly:
    """Return L* psi = exp(H) (-div(f psi exp(-H)) + D : Hess(psi exp(-H))), D constants."""
    n = page.coordinates
    g, up = (page.gradient(x, range(n)) for x in (page.scalar(page.d.dynamics["H"]), psi))
    found = sum((f[i, 0] * (psi * g[i] - up[i]) - psi * page.slope(f[i, 0], i) for i in range(n)), constant(0))
    for i, j in np.argwhere(D != 0):
        twice = page.slope(up[i], j) - 2 * up[i] * g[j] + psi * (g[i] * g[j] - page.slope(g[i], j))
        found += D[i, j] * twice
    return found


def gaussian_mean(page: Page, f: Poly, over: list[int]) -> Poly:
    """Return E[f] over coordinates that are N(0, inv(P)) under exp(-H), P free of them: exp(S : Hess/2) f at 0."""
    g = page.gradient(page.scalar(page.d.dynamics["H"]), over)
    P = array([page.gradient(x, over) for x in g])
    page.move({i: constant(0) for i in over})
    require(page.vanish(g), "a draw whose mean is not 0", TrustedError)
    S, found = page.here(inverse(page, page.here(P))[0]), constant(0)
    for k in range(limits.PAIRS):
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


def require_gaussian_block(page: Page, block: str, kept: Any) -> None:
    """Require that a block is N(0, inv(P)) given the others: H = b.T P b/2 + terms without b."""
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


def require_claimed_law(claim: Json, d: Documents, block: str, points: list[Point], seed: str) -> None:
    """Require that the claimed conditional distribution of a block is that of exp(-U), at data drawn here."""
    target, law = d.target, dict(declared_laws(d)).get(block)
    require(law, f"{block} is drawn, but no law of it is claimed")
    fields, domains = declared(target, "data"), {x["domain"] for x in declared(target, "state").values()}
    plain = domains <= {*FREE, "positive", "interval"} and not any("in" in x or not x["shape"] for x in fields.values())
    require(plain and not (target.get("recursion") or target.get("solve")), "draws by row and of counts", TrustedError)
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


def require_involution(at: Page, move: Json, points: list[Point]) -> None:
    """Require S(S(z, w)) = (z, w) of an involution S, and that a claimed log_ratio equals the derived one."""
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


def is_balanced(page: Page, word: list[tuple[str, fmpq]], flip: set[str], eps: fmpq) -> bool:
    """Whether a Metropolis word keeps exp(-H) exactly at a point y; on refusal, G turns the momenta.

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


def require_metropolis_balance(page: Page, move: Json, anew: set[str]) -> None:
    """Require that an accepted or refused word is a palindrome and in balance at exact points.

    Blocks that are drawn wholly anew may be turned after a refusal, or not: one choice has to be in balance.
    """
    word = word_of(page.d)
    require(word == word[::-1], "the word that is accepted or rejected is not a palindrome")
    flip = {name for name, _ in pairs_of(move["metropolis"].get("flip"))}
    require(flip <= {*page.ids}, "the flip names something that is not a block")
    if any(piece not in "AB" for piece, _ in word) or has_own_pieces(page.d):
        raise TrustedError("letters that are not shifts")
    choices = [flip ^ {*some} for k in range(len(anew) + 1) for some in itertools.combinations(sorted(anew), k)]
    held = any(all(is_balanced(page, word, one, eps) for eps in (fmpq(1, 3), fmpq(1), fmpq(3))) for one in choices)
    require(held, "the Metropolis move does not preserve exp(-H)")


def require_word_preserves(page: Page, drawn_anew: set[str], *, exact: bool) -> None:
    """Require that every piece of a word without refusal preserves exp(-H), or the word does as eps goes to 0.

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
            left += ahead * (apply_adjoint(page, e, C, j) - apply_adjoint(page, f, D, i)) / 2
    over = [i for name in sorted(drawn_anew) for i in page.ids[name]]
    require(
        left == 0 or page.vanish([gaussian_mean(page, left, over)]),
        "the cycle does not tend to exp(-H) as eps goes to 0",
    )


def require_move_preserves(claim: Json, page: Page, moves: list[Json], place: int, points: list[Point]) -> None:
    """Require that a move preserves exp(-H) at a page, a word without refusal in the limit if not `exact`."""
    d, move, kind = page.d, moves[place], kind_of(moves[place])
    match kind:
        case "refresh":
            require_gaussian_block(page, *(pairs_of(own)[0] if not isinstance(own := move[kind], str) else (own, 0)))
        case "draw":
            require_claimed_law(claim, d, str(move[kind]), points, page.seed)
        case "involution":
            require_involution(page, move, points)
        case "metropolis":
            require_metropolis_balance(page, move, blocks_redrawn_later(moves, place))
        case "steps":
            others = [own["refresh"] for own in moves if "refresh" in own]
            names = {name for own in others for name in ([own] if isinstance(own, str) else dict(pairs_of(own)))}
            require_word_preserves(page, names, exact=claim["id"] == "exact")
        case _:
            raise TrustedError("its flow")

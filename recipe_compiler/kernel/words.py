"""Words of a splitting: letters with their shares, the order they give, and the Gaussian law that a step keeps."""

import functools
import itertools
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from flint import fmpq, fmpq_mat

from . import limits
from .field import TrustedError, UnreadError, require
from .formulas import Json, listed
from .pages import Documents

WORDS = {
    "lie": "B A O",
    "leapfrog": "B/2 A B/2",
    "baoab": "B/2 A/2 O A/2 B/2",
    "aboba": "A/2 B/2 O B/2 A/2",
    "obabo": "O/2 B/2 A B/2 O/2",
    "badodab": "B/2 A/2 xi/2 O xi/2 A/2 B/2",
    "respa": "S/2 F/8 A/4 F/8 F/8 A/4 F/8 F/8 A/4 F/8 F/8 A/4 F/8 S/2",
}
"""The words that builds may name."""


def letters(items: Any) -> Iterator[tuple[str, fmpq]]:
    """Yield the pieces of a word with their shares, repetitions written out."""
    for item in listed(items):
        if isinstance(item, dict):
            for _ in range(int(item["repeat"])):
                yield from letters(item["of"])
            continue
        found = re.fullmatch(r"\s*(-?)\s*(?:(\d+)(?:/(\d+))?\s*\*\s*)?([A-Za-z]\w*)\s*(?:/\s*(\d+))?\s*", item)
        require(found, f"{item}, which is not a letter", UnreadError)
        sign, top, bottom, piece, over = found.groups() if found else [""] * 5
        yield piece, fmpq(int(f"{sign}{top or 1}"), int(bottom or 1) * int(over or 1))


def word_of(d: Documents) -> list[tuple[str, fmpq]]:
    """Return the letters of a build's word."""
    stated = d.step.get("split") or d.scheme.get("split") or WORDS.get(str(d.step.get("name")), "").split()
    word = list(itertools.islice(letters(stated), limits.EXPONENT))
    require(word, "the word of this name", TrustedError)
    return word


def has_own_pieces(d: Documents) -> bool:
    """Whether pieces or flows are stated."""
    return bool(d.step.get("pieces") or d.scheme.get("pieces") or d.flows)


def coefficient(word: Iterable[tuple[str, Any]], product: tuple[str, ...]) -> Any:
    """Return that of a product of generators in exp(s_1 L_1) ... exp(s_m L_m), by shares s_k that are exact numbers.

    Each letter takes up some of the product: of `[B/2, A, B/2]` that of B A is 1/2, that of A A 1/2, that of B B 1/2.
    """
    taken: list[Any] = [1, *[0] * len(product)]
    for piece, share in word:
        for end in range(len(product), 0, -1):
            for k in range(1, end + 1):
                if product[end - k] != piece:
                    break
                taken[end] += taken[end - k] * share**k / math.factorial(k)
    return taken[-1]


def totals(word: list[tuple[str, fmpq]]) -> dict[str, fmpq]:
    """Return the share of one step that the letters of each piece take together."""
    names = sorted({piece for piece, _ in word})
    return {name: sum((share for piece, share in word if piece == name), fmpq(0)) for name in names}


def wrong_order(word: list[tuple[str, fmpq]], most: int) -> int | None:
    """Return the least length, up to `most`, of a product whose coefficient is not that in exp(L_1 + L_2 + ...)."""
    names = sorted({piece for piece, _ in word})
    work = sum(len(names) ** q for q in range(1, most + 1)) * len(word)
    require(work <= limits.WORK, "this many products", TrustedError)
    every = (product for q in range(1, most + 1) for product in itertools.product(names, repeat=q))
    wrong = (len(x) for x in every if coefficient(word, x) != fmpq(1, math.factorial(len(x))))
    return next(wrong, None)


def kept_word(word: list[tuple[str, fmpq]], d: Documents) -> list[tuple[str, fmpq]]:
    """Return the letters of a step between draws, where a build or a scheme keeps these."""
    return rotate_word(word, str(d.step.get("keep") or d.scheme.get("keep") or len(word)), d.flows)


def rotate_word(word: list[tuple[str, fmpq]], place: str, numerical: Json) -> list[tuple[str, fmpq]]:
    """Return the letters of a step between draws that are kept after a letter, by its piece or its place.

    Where the first and the last are of one piece they are one letter, unless its flow is numerical.
    """
    pieces = [piece for piece, _ in word]
    k = (int(place) if place.isdigit() else pieces.index(place) + 1) % len(word)
    (*tail, (last, s)), head = word[k:], word[:k]
    if not head or head[0][0] != last or last in numerical:
        return [*tail, (last, s), *head]
    return [*tail, *([(last, s + head[0][1])] if s + head[0][1] else []), *head[1:]]


def langevin_step(word: list[tuple[str, fmpq]], omega: Any, E: Any, n: int = 1) -> tuple[Any, Any]:
    """Return F and Sigma of a step of Langevin dynamics in theta = K^-1/2 x, r = M^1/2 y: kicks and drifts by omega.

    E is exp(-C eps/n), d x d, and omega is eps times that of every pair, d x d and diagonal.
    """
    d = omega.nrows()
    one, nil = (fmpq_mat([[fmpq(x * (i == j)) for j in range(d)] for i in range(d)]) for x in (1, 0))
    step, covariance = blocks_of(one, nil, nil, one), blocks_of(nil, nil, nil, nil)
    for piece, share in word:
        if piece == "O":
            power = functools.reduce(lambda made, _: made * E, range(int(share * n)), one)
            by, noise = blocks_of(one, nil, nil, power), blocks_of(nil, nil, nil, one - power * power.transpose())
        else:
            by = blocks_of(one, share * omega, nil, one) if piece == "A" else blocks_of(one, nil, -share * omega, one)
            noise = blocks_of(nil, nil, nil, nil)
        step, covariance = by * step, by * covariance * by.transpose() + noise
    return step, covariance


def blocks_of(*grids: Any) -> Any:
    """Return a matrix of four blocks."""
    d = grids[0].nrows()
    return fmpq_mat([[grids[2 * (i // d) + j // d][i % d, j % d] for j in range(2 * d)] for i in range(2 * d)])


def stationary_covariance(F: Any, Sigma: Any) -> Any:
    """Return the solution S of S = F S F.T + Sigma."""
    m = F.nrows()
    places = list(itertools.product(range(m), repeat=2))
    rows = [[fmpq(at == to) - F[at[0], to[0]] * F[at[1], to[1]] for to in places] for at in places]
    found = fmpq_mat(rows).solve(fmpq_mat([[Sigma[at]] for at in places]))
    return fmpq_mat([[found[i * m + j, 0] for j in range(m)] for i in range(m)])


def check_variance(word: list[tuple[str, fmpq]], exact: bool, at: Json) -> str:
    """Look at the covariance of theta: at planes with full friction if it is said to be exact, else at the witness."""
    shares = [share for piece, share in word if piece == "O"]
    require(len(word) <= limits.NESTING and all(share > 0 for share in shares), "a word of this length", TrustedError)
    n = math.lcm(*(int(share.q) for share in shares))
    if exact:
        require(shares, "no letter is an O, so its distribution is not determined")
        for k in (3, 5, 7):
            omega = fmpq_mat([[fmpq(1, k), fmpq(0)], [fmpq(0), fmpq(2, 3)]])
            E = fmpq_mat([[fmpq(1, 2), fmpq(1, k)], [fmpq(1, k), fmpq(3, 4)]])
            law = stationary_covariance(*langevin_step(word, omega, E, n))
            require(all(law[i, j] == (i == j) for i in range(2) for j in range(2)), "Var theta is not that of exp(-U)")
        return "rechecked at points (d = 2, friction that is not diagonal)"
    told = {name.partition("(")[0]: value for name, value in at.items()}
    h = fmpq_mat([[fmpq(*map(int, told.get("eps omega", "1").split("/")))]])
    if shares:
        decay = fmpq_mat([[fmpq(*map(int, told["exp"].split("/")))]])
        law = stationary_covariance(*langevin_step(word, h, decay, n))
        require(str(law[0, 0]) == told["omega^2 Var theta"] != "1", "theta has a different variance there")
        return "rechecked: exactly"
    require(told.get("omega^2 Var theta / Var r") != "1", "the stated variance is the one of exp(-U)")
    if "omega^2 Var theta / Var r" in told:
        v = fmpq(*map(int, told["omega^2 Var theta / Var r"].split("/")))
        step, law = langevin_step(word, h, h)[0], fmpq_mat([[v, fmpq(0)], [fmpq(0), fmpq(1)]])
        require(step * law * step.transpose() == law, "the step does not preserve the stated covariance")
    return "rechecked: exactly"

"""Random assumptions about parameters, which some hidden values satisfy: they say nothing of what is claimed.

Linear ones, chains, products, quotients, powers, roots, exponentials, and those of a vector and of a definite matrix.
"""

from dataclasses import replace
from itertools import pairwise
from math import exp, sqrt
from random import Random

from random_dynamics import Document

PARAMETERS = (
    "rho: {is: positive}",
    "kT: {is: positive}",
    "mu: {}",
    "v: {shape: 2, is: positive}",
    "M: {shape: [2, 2], is: positive definite}",
)
Term = tuple[str, float]
"""A formula and its value at the hidden point."""


def assumed(document: Document, random: Random) -> Document:
    """Return the document with one to three assumptions about what it declares, and about parameters of their own."""
    hidden = {
        name: float(f"{random.choice((0.02, 0.3, 1, 7)) * random.uniform(0.5, 1.5):.3g}") for name in ("rho", "kT", "a")
    }
    hidden |= {"mu": random.uniform(-3, 3), "c": random.uniform(-3, 3)}
    found = [text for _ in range(random.randint(1, 3)) for text in _assumption(hidden, random)]
    return replace(document, parameters=PARAMETERS, assume=tuple(found))


def _assumption(hidden: dict[str, float], random: Random) -> list[str]:
    kind = random.choice(("linear", "chain", "nonlinear", "bounds", "matrix"))
    names = random.sample(sorted(hidden), random.randint(1, 3))
    if kind == "chain":
        ordered = sorted(names, key=hidden.__getitem__)
        return [f"{x} < {y}" for x, y in pairwise(ordered)] or _assumption(hidden, random)
    if kind == "bounds":
        (name, value), width = (names[0], hidden[names[0]]), random.choice((0.01, 0.2, 5))
        return [f"{_number(value - width)} < {name}", f"{name} <= {_number(value + width)}"]
    if kind == "matrix":
        return [
            random.choice(
                (
                    "trace(M) <= 1/3",
                    "M[0, 0] < M[1, 1]",
                    "norm2(v) < 1/7",
                    "sum(v) > 9",
                    "v[0] < v[1]/8",
                    "trace(M @ M) < 1",
                    "v.T @ M @ v < 1/5",
                    "M[0, 1] > 1/2",
                    "sum(v) <= kT",
                    "M[0, 0] < rho",
                )
            )
        ]
    terms = [_times(random.choice((1, 2, -1, 4, -3)), (name, hidden[name])) for name in names]
    if kind == "nonlinear":
        terms = [*terms[1:], _curved(names, hidden, random)]
    return [_oriented(_added(terms), random)]


def _curved(names: list[str], hidden: dict[str, float], random: Random) -> Term:
    x, y = names[0], random.choice(("rho", "kT", "a"))
    u, w = hidden[x], hidden[y]
    return random.choice(
        (
            (f"{x}**2", u**2),
            (f"{x}*{y}", u * w),
            (f"{x}/{y}", u / w),
            (f"sqrt({y})", sqrt(w)),
            (f"exp({x}/4)", exp(u / 4)),
            (f"abs({x} - {y})", abs(u - w)),
            (f"{x}**2*{y}", u**2 * w),
        )
    )


def _times(k: int, term: Term) -> Term:
    return (f"{k}*{term[0]}", k * term[1])


def _added(terms: list[Term]) -> Term:
    return " + ".join(text for text, _ in terms), sum(value for _, value in terms)


def _oriented(term: Term, random: Random) -> str:
    """Return an inequality that holds at the hidden point, with room to spare."""
    text, value = term
    room = random.choice((0.01, 0.3, 2))
    if random.random() < 0.6:
        return f"{text} {random.choice(('<', '<='))} {_number(value + room)}"
    return f"{text} {random.choice(('>', '>='))} {_number(value - room)}"


def _number(value: float) -> str:
    whole = round(value * 200)
    return f"{whole}/200"

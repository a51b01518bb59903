"""Random dynamics that are right by construction, the same with a wrong claim, and their judge.

D = L L.T and Q = X - X.T of random block matrices L and X over blocks of sizes d, k and 1, and a random energy H. The
claimed drift is the recipe written out in the language, A = D + Q: f_a = sum_b [-A_ab @ grad(H, b) + div(A_ab, b)].
What is claimed wrongly certainly fails where the evaluator of `kernel` finds a residual at random exact points.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from recipe_compiler.kernel import equations, field, pages
from recipe_compiler.spec.model import Dynamics

FAULTS = ("Gamma dropped", "Gamma flipped", "sign flipped", "transposed", "noise scaled", "energy scaled")
SIZES = ({"d": 2, "k": 1}, {"d": 2, "k": 2})
NONE = "0"
Matrix = tuple[tuple[str, ...], ...]
Blocks = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Part:
    """What A = D + Q at place (a, b) gives to the drift of block a: -A @ grad(H, b), or its part of Gamma."""

    gamma: bool
    A: str
    b: str
    sign: str = ""


@dataclass(frozen=True)
class Document:
    """A dynamics with what it claims; matrices and drift block by block, as text."""

    blocks: Blocks
    energy: tuple[str, ...]
    D: Matrix
    Q: Matrix
    drift: tuple[tuple[Part, ...], ...]
    diffusion: Matrix
    claimed_energy: tuple[str, ...]
    update: bool

    def document(self, *, update: bool) -> dict[str, Any]:
        """Return the document, its claim stated as an update or as an equation."""
        first, shape = self.blocks[0]
        matrix = {"shape": [shape, shape] if shape != "scalar" else "scalar"}
        found: dict[str, Any] = {
            "name": "random",
            "state": {name: {"shape": shape} for name, shape in self.blocks},
            "parameters": {"B": matrix, "c": {}, "a": {"is": "positive"}},
            "functions": {"U": {"of": first, "role": "potential"}, "G": {"of": first, **matrix}},
            "H": " + ".join(self.energy),
            "D": self.D,
            "Q": self.Q,
        }
        drift = {name: self._drift(k) for k, (name, _) in enumerate(self.blocks)}
        if not update:
            return found | {"claims": {"drift": drift, "diffusion": self.diffusion}}
        noise = {name: self.diffusion[k][k] for k, name in enumerate(drift)}
        steps = {name: "" if f == NONE else f" + eps*({f})" for name, f in drift.items()}
        steps = {x: f + ("" if noise[x] == NONE else f" + N(0, 2*eps*({noise[x]}))") for x, f in steps.items()}
        return found | {"claims": {"update": {name: f"{name}{step}" for name, step in steps.items()}}}

    def _drift(self, a: int) -> str:
        H, shape, parts = " + ".join(self.claimed_energy), dict(self.blocks), list[str]()
        for part in self.drift[a]:
            scalar = shape[part.b] == "scalar"
            if part.gamma:
                by = "grad" if scalar and self.blocks[a][1] == "scalar" else "div"
                parts.append(f"{part.sign}({by}({part.A}, {part.b}))")
            else:
                parts.append(f"{part.sign}(-({part.A}) {'*' if scalar else '@'} grad({H}, {part.b}))")
        return " + ".join(parts) or NONE


# What is drawn


def right(random: Random) -> Document:
    """Return dynamics that are right and claim what is right."""
    shapes = [
        random.choice(("d", "d", "scalar")),
        *random.choices(("d", "d", "d", "k", "scalar", "scalar"), k=random.randint(0, 2)),
    ]
    blocks = tuple(zip(("theta", "r", "xi"), shapes, strict=False))
    n = range(len(blocks))
    update = random.random() < 0.3
    L = [[_entry(random, blocks, a, b, 0.7 if a == b else 0.0 if update else 0.3) for b in n] for a in n]
    X = [[_entry(random, blocks, a, b, 0.5) for b in n] for a in n]
    D = tuple(tuple(total(_squared(blocks, L, a, k, b) for k in n) for b in n) for a in n)
    Q = tuple(tuple(total((X[a][b], negative(_turned(blocks, X[b][a], b, a)))) for b in n) for a in n)
    energy = _energy(random, blocks)
    recipe = [[(total((D[a][b], Q[a][b])), name) for b, (name, _) in enumerate(blocks)] for a in n]
    drift = tuple(tuple(Part(gamma, A, b) for A, b in row if A != NONE for gamma in (False, True)) for row in recipe)
    return Document(blocks, energy, D, Q, drift, D, energy, update)


def mutant(document: Document, fault: str, random: Random) -> Document | None:
    """Return the document with one fault in what it claims, None where there is no room for it."""
    if fault == "energy scaled":
        k = random.randrange(len(document.energy))
        return replace(document, claimed_energy=_changed(document.energy, k, f"2*({document.energy[k]})"))
    D = document.D
    if fault == "noise scaled":
        places = [a for a, row in enumerate(D) if row[a] != NONE]
        if not places:
            return None
        a = random.choice(places)
        return replace(document, diffusion=_changed(D, a, _changed(D[a], a, f"2*({D[a][a]})")))
    drift, shape = document.drift, dict(document.blocks)

    def suits(part: Part, a: int) -> bool:
        if fault == "transposed":
            return not part.gamma and document.blocks[a][1] == shape[part.b] != "scalar"
        return part.gamma == fault.startswith("Gamma")

    places = [(a, i) for a, row in enumerate(drift) for i, part in enumerate(row) if suits(part, a)]
    if not places:
        return None
    a, i = random.choice(places)
    part = drift[a][i]
    if fault == "Gamma dropped":
        return replace(document, drift=_changed(drift, a, (*drift[a][:i], *drift[a][i + 1 :])))
    wrong = replace(part, A=f"({part.A}).T") if fault == "transposed" else replace(part, sign="-")
    return replace(document, drift=_changed(drift, a, _changed(drift[a], i, wrong)))


def _changed(row: tuple[Any, ...], k: int, new: Any) -> tuple[Any, ...]:
    return (*row[:k], new, *row[k + 1 :])


def _entry(random: Random, blocks: Blocks, a: int, b: int, chance: float) -> str:
    """Return a random entry of the shape of place (a, b), or zero."""
    if random.random() >= chance:
        return NONE
    (row, one), (col, other) = blocks[a], blocks[b]
    first = blocks[0][1]
    scalars = ["c", "a", "2", f"norm2({row})" if one != "scalar" else row]
    scalars += [name for name, shape in blocks if shape == "scalar"] + ["B", "G(theta)"] * (first == "scalar")
    if one == other == "scalar":
        return random.choice(scalars)
    if "scalar" in (one, other):
        vector, shape = (row, one) if other == "scalar" else (col, other)
        choices = [vector, f"{random.choice(scalars)}*{vector}", *[f"B @ {vector}"] * (first == shape)]
        return random.choice(choices) if other == "scalar" else f"({random.choice(choices)}).T"
    if one != other:
        return f"{row} @ {col}.T"
    squares = [f"{row} @ {col}.T", f"diag({row})", f"diag({row}*{col})"]
    return random.choice(squares + ["B", "G(theta)", "B @ B", "c*B", f"{row} @ {col}.T + B"] * (one == first))


def _energy(random: Random, blocks: Blocks) -> tuple[str, ...]:
    terms = ["U(theta)"]
    terms += [f"norm2({name})/2" if shape != "scalar" else f"a*{name}**2/2" for name, shape in blocks[1:]]
    first, shape = blocks[0]
    if random.random() < 0.5:
        terms.append(f"sum({first}**4)" if shape != "scalar" else "theta**4")
    same = [name for name, other in blocks[1:] if other == shape != "scalar"]
    if same and random.random() < 0.5:
        terms.append(f"c*{first}.T @ B @ {same[0]}" if random.random() < 0.5 else f"{same[0]}.T @ G(theta) @ {same[0]}")
    return tuple(terms)


def _squared(blocks: Blocks, L: list[list[str]], a: int, k: int, b: int) -> str:
    """Return L_ak L_bk.T."""
    left, right = L[a][k], L[b][k]
    if NONE in (left, right):
        return NONE
    if blocks[k][1] != "scalar":
        return f"({left}) @ ({right}).T"
    turned = right if blocks[b][1] == "scalar" else f"({right}).T"
    times = "*" if "scalar" in (blocks[a][1], blocks[b][1]) else "@"
    return f"({left}) {times} {turned if turned[-1] == 'T' else f'({turned})'}"


def _turned(blocks: Blocks, entry: str, a: int, b: int) -> str:
    both_scalar = blocks[a][1] == blocks[b][1] == "scalar"
    return entry if entry == NONE or both_scalar else f"({entry}).T"


def negative(entry: str) -> str:
    """Return the negative of an entry."""
    return entry if entry == NONE else f"-({entry})"


def total(entries: Iterable[str]) -> str:
    """Return the sum of entries."""
    return " + ".join(entry for entry in entries if entry != NONE) or NONE


# The judge

VALUES = ("d_symmetric", "d_psd", "q_skew")
"""Claims that fail too where something has no value."""


def failing(page: pages.Page, claims: Iterable[str]) -> Iterator[str]:
    """Yield the claims about an equation that certainly fail at a point, by the other evaluator."""
    # the drift without Q + Q.T; of stationarity the equation itself: at a point, any coordinate may look like a line
    counted = {"claimed_drift": page.coordinates, "claimed_stationary": 1}
    for claim in claims:
        try:
            found = equations.CHECKS[claim](page, {"id": claim, "data": {}, "witness": None}, "")
            if any(page.sign(x) for x in found[: counted.get(claim)]):
                yield claim
        except field.UndefinedError:
            if claim in VALUES:
                yield claim
        except field.UnreadError:  # a kink, or too large for the evaluator: no certainty here
            continue
        finally:
            if claim == "periodic":  # formulas were read once around
                page.forget()
                page.smooth = True


def parsed(read: Dynamics) -> pages.Documents:
    """Return dynamics as the other evaluator reads them."""
    return pages.Documents({"dynamics": json.loads(read.source.document)})


def certainly_failing(document: Document, read: Dynamics, random: Random) -> set[str]:
    """Return the claims about the equation that fail at an exact point."""
    looks = [pages.Page(parsed(read), point(document, sizes, random)) for sizes in SIZES]
    return {claim for page in looks for claim in failing(page, ("claimed_drift", "claimed_stationary"))}


def point(document: Document, sizes: dict[str, int], random: Random) -> dict[str, str]:
    """Return exact values for all that a random document declares, as texts."""

    def number() -> str:
        return f"{random.randint(-5, 5)}/{random.randint(1, 3)}"

    def cubic() -> str:
        terms = ((random.choice(z), random.choice(z), random.choice([*z, "1"])) for _ in range(4))
        return " + ".join(f"{number()}*{'*'.join(term)}" for term in terms)

    found = {name: str(n) for name, n in sizes.items() if name in dict(document.blocks).values()}
    for name, shape in document.blocks:
        found[name] = number() if shape == "scalar" else _list(number() for _ in range(sizes[shape]))
    first = document.blocks[0][1]
    n = range(sizes.get(first, 1))
    z = ["theta"] if first == "scalar" else [f"theta[{k}]" for k in n]
    for name, make in (("B", number), ("G(theta)", cubic)):
        found[name] = make() if first == "scalar" else _list(_list(make() for _ in n) for _ in n)
    return found | {"c": number(), "a": f"{random.randint(1, 5)}/2", "U(theta)": cubic()}


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"

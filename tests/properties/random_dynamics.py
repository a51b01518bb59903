"""Random dynamics that are right by construction, and the same with a wrong claim.

D = L L.T and Q = X - X.T of random block matrices L and X over blocks of sizes d, k and 1, and a random energy H. The
claimed drift is the recipe written out in the language, A = D + Q: f_a = sum_b [-A_ab @ grad(H, b) + div(A_ab, b)].
"""

from dataclasses import dataclass, replace
from random import Random

FAULTS = ("Gamma dropped", "Gamma flipped", "sign flipped", "transposed", "noise scaled", "energy scaled")
NONE = "0"


@dataclass(frozen=True)
class Term:
    """What A = D + Q at place (a, b) gives to the drift of block a: -A @ grad(H, b), or its part of Gamma."""

    gamma: bool
    A: str
    b: str
    sign: str = ""


@dataclass(frozen=True)
class Document:
    """A dynamics with what it claims; matrices and drift block by block, as text."""

    blocks: tuple[tuple[str, str], ...]
    energy: tuple[str, ...]
    D: tuple[tuple[str, ...], ...]
    Q: tuple[tuple[str, ...], ...]
    drift: tuple[tuple[Term, ...], ...]
    diffusion: tuple[tuple[str, ...], ...]
    claimed_energy: tuple[str, ...]
    update: bool
    parameters: tuple[str, ...] = ()
    """Further ones, `rho: {is: positive}`."""
    assume: tuple[str, ...] = ()

    def text(self, *, update: bool) -> str:
        """Return the document, its claim stated as an update or as an equation."""
        first, shape = self.blocks[0]
        matrix = f"[{shape}, {shape}]" if shape != "scalar" else "scalar"
        lines = ["name: random", "state:", *(f"  {name}: {{shape: {shape}}}" for name, shape in self.blocks)]
        lines += ["parameters:", f"  B: {{shape: {matrix}}}", "  c: {}", "  a: {is: positive}"]
        lines += [f"  {entry}" for entry in self.parameters]
        lines += ["assume:", *(f'  - "{text}"' for text in self.assume)] if self.assume else []
        lines += ["functions:", f"  U: {{of: {first}, role: potential}}", f"  G: {{of: {first}, shape: {matrix}}}"]
        lines += [f'H: "{" + ".join(self.energy)}"', "D:", *_rows(self.D, "  "), "Q:", *_rows(self.Q, "  "), "claims:"]
        return "\n".join([*lines, *(self._updates() if update else self._equation()), ""])

    def _equation(self) -> list[str]:
        drift = [f'    {name}: "{self._drift(k)}"' for k, (name, _) in enumerate(self.blocks)]
        return ["  drift:", *drift, "  diffusion:", *_rows(self.diffusion, "    ")]

    def _updates(self) -> list[str]:
        lines = ["  update:"]
        for k, (name, _) in enumerate(self.blocks):
            own = self.diffusion[k][k]
            noise = "" if own == NONE else f" + N(0, 2*eps*({own}))"
            drift = self._drift(k)
            lines.append(f'    {name}: "{name}{"" if drift == NONE else f" + eps*({drift})"}{noise}"')
        return lines

    def _drift(self, a: int) -> str:
        H = " + ".join(self.claimed_energy)
        shape = dict(self.blocks)
        parts: list[str] = []
        for term in self.drift[a]:
            if term.gamma:
                scalar = shape[term.b] == "scalar"
                parts.append(f"{term.sign}({'grad' if scalar and self._scalar(a) else 'div'}({term.A}, {term.b}))")
            else:
                times = "*" if shape[term.b] == "scalar" else "@"
                parts.append(f"{term.sign}(-({term.A}) {times} grad({H}, {term.b}))")
        return " + ".join(parts) or NONE

    def _scalar(self, a: int) -> bool:
        return self.blocks[a][1] == "scalar"


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
    D = tuple(tuple(_sum(_squared(blocks, L, a, k, b) for k in n) for b in n) for a in n)
    Q = tuple(tuple(_sum((X[a][b], _negative(_turned(blocks, X[b][a], b, a)))) for b in n) for a in n)
    energy = _energy(random, blocks)
    return Document(blocks, energy, D, Q, tuple(_recipe(blocks, D, Q, a) for a in n), D, energy, update)


def mutant(document: Document, fault: str, random: Random) -> Document | None:
    """Return the document with one fault in what it claims, None where there is no room for it."""
    if fault == "energy scaled":
        k = random.randrange(len(document.energy))
        energy = tuple(f"2*({term})" if i == k else term for i, term in enumerate(document.energy))
        return replace(document, claimed_energy=energy)
    if fault == "noise scaled":
        places = [a for a, row in enumerate(document.D) if row[a] != NONE]
        if not places:
            return None
        a = random.choice(places)
        scaled = [
            [f"2*({x})" if (i, j) == (a, a) else x for j, x in enumerate(row)] for i, row in enumerate(document.D)
        ]
        return replace(document, diffusion=tuple(map(tuple, scaled)))
    at = [
        (a, i) for a, row in enumerate(document.drift) for i, term in enumerate(row) if _suits(document, term, a, fault)
    ]
    if not at:
        return None
    a, i = random.choice(at)
    term = document.drift[a][i]
    wrong = {
        "Gamma dropped": (),
        "Gamma flipped": (replace(term, sign="-"),),
        "sign flipped": (replace(term, sign="-"),),
        "transposed": (replace(term, A=f"({term.A}).T"),),
    }[fault]
    row = (*document.drift[a][:i], *wrong, *document.drift[a][i + 1 :])
    return replace(document, drift=(*document.drift[:a], row, *document.drift[a + 1 :]))


def _suits(document: Document, term: Term, a: int, fault: str) -> bool:
    if fault == "transposed":
        name, shape = document.blocks[a]
        return not term.gamma and shape == dict(document.blocks)[term.b] != "scalar" and bool(name)
    return term.gamma == fault.startswith("Gamma")


def _recipe(
    blocks: tuple[tuple[str, str], ...], D: tuple[tuple[str, ...], ...], Q: tuple[tuple[str, ...], ...], a: int
) -> tuple[Term, ...]:
    found: list[Term] = []
    for b, (name, _) in enumerate(blocks):
        A = _sum((D[a][b], Q[a][b]))
        found += [] if A == NONE else [Term(False, A, name), Term(True, A, name)]
    return tuple(found)


def _entry(random: Random, blocks: tuple[tuple[str, str], ...], a: int, b: int, chance: float) -> str:
    """Return a random entry of the shape of place (a, b), or zero."""
    if random.random() >= chance:
        return NONE
    (row, one), (col, other) = blocks[a], blocks[b]
    first = blocks[0][1]
    scalars = [
        "c",
        "a",
        "2",
        f"norm2({row})" if one != "scalar" else row,
        *(name for name, shape in blocks if shape == "scalar"),
    ]
    scalars += ["B", "G(theta)"] if first == "scalar" else []
    if one == other == "scalar":
        return random.choice(scalars)
    if "scalar" in (one, other):
        vector = row if other == "scalar" else col
        found = random.choice(
            [
                vector,
                f"{random.choice(scalars)}*{vector}",
                *([f"B @ {vector}"] if first == (one if other == "scalar" else other) else []),
            ]
        )
        return found if other == "scalar" else f"({found}).T"
    if one != other:
        return f"{row} @ {col}.T"
    squares = [
        f"{row} @ {col}.T",
        f"diag({row})",
        f"diag({row}*{col})",
        *(["B", "G(theta)", "B @ B", "c*B", f"{row} @ {col}.T + B"] if one == first else []),
    ]
    return random.choice(squares)


def _energy(random: Random, blocks: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    terms = ["U(theta)"]
    for name, shape in blocks[1:]:
        terms.append(f"norm2({name})/2" if shape != "scalar" else f"a*{name}**2/2")
    first, shape = blocks[0]
    if random.random() < 0.5:
        terms.append(f"sum({first}**4)" if shape != "scalar" else "theta**4")
    same = [name for name, other in blocks[1:] if other == shape != "scalar"]
    if same and random.random() < 0.5:
        terms.append(f"c*{first}.T @ B @ {same[0]}" if random.random() < 0.5 else f"{same[0]}.T @ G(theta) @ {same[0]}")
    return tuple(terms)


def _squared(blocks: tuple[tuple[str, str], ...], L: list[list[str]], a: int, k: int, b: int) -> str:
    """Return L_ak L_bk.T."""
    left, right = L[a][k], L[b][k]
    if NONE in (left, right):
        return NONE
    if blocks[k][1] != "scalar":
        return f"({left}) @ ({right}).T"
    turned = right if blocks[b][1] == "scalar" else f"({right}).T"
    times = "*" if "scalar" in (blocks[a][1], blocks[b][1]) else "@"
    return f"({left}) {times} {turned if turned[-1] == 'T' else f'({turned})'}"


def _turned(blocks: tuple[tuple[str, str], ...], entry: str, a: int, b: int) -> str:
    both_scalar = blocks[a][1] == blocks[b][1] == "scalar"
    return entry if entry == NONE or both_scalar else f"({entry}).T"


def _negative(entry: str) -> str:
    return entry if entry == NONE else f"-({entry})"


def _sum(entries) -> str:
    return " + ".join(entry for entry in entries if entry != NONE) or NONE


def _rows(matrix: tuple[tuple[str, ...], ...], indent: str) -> list[str]:
    return [f"{indent}- [" + ", ".join(f'"{entry}"' for entry in row) + "]" for row in matrix]

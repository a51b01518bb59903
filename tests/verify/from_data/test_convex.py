"""Convex energies of two coordinates, against their slope along every ray on which it may be least."""

import random
from itertools import product

import pytest
from flint import fmpq

from recipe_compiler.verify.from_data.decide import Infinite, Open, Shown, decide
from recipe_compiler.verify.from_data.energy import Energy, Form, Piece

ZERO = fmpq(0)
THETA = (("theta", 0), ("theta", 1))


def random_pieces(rng: random.Random) -> tuple[tuple[Piece, ...], Form]:
    """Return pieces of small integers, and labels that make the linear form."""
    linear = [ZERO, ZERO, ZERO]
    pieces: list[Piece] = []
    kind = rng.choice(("log", "exp", "abs", "several"))
    for _ in range(rng.randint(2, 6)):
        form = tuple(fmpq(rng.randint(-2, 2)) for _ in range(3))
        weight, count = fmpq(rng.randint(1, 3)), 2 if kind == "several" else 1
        others = tuple(tuple(fmpq(rng.randint(-2, 2)) for _ in range(3)) for _ in range(count - 1))
        own = "log" if kind == "several" else kind
        pieces.append(Piece(own, weight, (form, *others)))
        label = rng.randint(0, int(weight)) if own != "abs" else rng.choice((-1, 0, 1))
        for k in range(2):
            linear[k] -= label * form[k]
    if rng.random() < 0.2:
        pieces.append(Piece("square", fmpq(1), (tuple(fmpq(rng.randint(-1, 1)) for _ in range(3)),)))
    return tuple(pieces), tuple(linear)


def slope(pieces: tuple[Piece, ...], linear: Form, d: tuple[fmpq, fmpq]) -> fmpq | None:
    """Return lim U(s d)/s for s -> oo; None where it is infinite."""
    found = linear[0] * d[0] + linear[1] * d[1]
    for piece in pieces:
        along = [form[0] * d[0] + form[1] * d[1] for form in piece.forms]
        if (piece.kind == "square" and along[0] != 0) or (piece.kind == "exp" and along[0] > 0):
            return None
        if piece.kind == "abs":
            found += piece.weight * abs(along[0])
        if piece.kind == "log":
            found += piece.weight * max(ZERO, *along)
    return found


def grows(pieces: tuple[Piece, ...], linear: Form) -> bool:
    """Whether the slope is positive along every ray: it is least where a form, or a difference of two, is zero."""
    forms = [form for piece in pieces for form in piece.forms]
    forms += [tuple(x - y for x, y in zip(a, b, strict=True)) for p in pieces for a, b in product(p.forms, repeat=2)]
    rays = [(fmpq(1), ZERO), (ZERO, fmpq(1)), *((form[1], -form[0]) for form in forms)]
    rays = [(s * x, s * y) for x, y in rays for s in (1, -1) if (x, y) != (ZERO, ZERO)]
    slopes = [slope(pieces, linear, d) for d in rays]
    return all(x is None or x > 0 for x in slopes)


@pytest.mark.parametrize("seed", range(150))
def test_verdicts_on_convex_energies_are_those_of_their_slopes(seed: int) -> None:
    pieces, linear = random_pieces(random.Random(seed))
    found = decide(Energy(THETA, (), frozenset(), (), pieces, linear, {}, exact=True))
    if isinstance(found, Shown):
        assert grows(pieces, linear)
    if isinstance(found, Infinite):
        assert not grows(pieces, linear)
    assert not isinstance(found, Open), "an exact weight or direction exists, of small numbers"

"""What a move that is accepted or refused needs, against moves that are known to keep exp(-E), or not to."""

import pytest
import sympy
from sympy import Rational, Symbol, exp

from recipe_compiler.algebra.dynamics.acceptance import Acceptance, obligations

x, y, r, s, w, eps = (Symbol(name, real=True) for name in ("x", "y", "r", "s", "w", "eps"))
H = x**2 + x * y / 2 + y**4 / 4 + (2 * r**2 + 2 * r * s + 3 * s**2) / 2


def leapfrog(flip):
    """Return where half a kick, a drift and half a kick lead, d = 2 with a full mass matrix."""
    U = x**2 + x * y / 2 + y**4 / 4
    kick = {p: p - eps / 2 * sympy.diff(U, q) for p, q in ((r, x), (s, y))}
    drift = {x: x + eps * (2 * r + s), y: y + eps * (r + 3 * s)}
    found = {v: kick.get(v, v) for v in (x, y, r, s)}
    for step in (drift, kick):
        found = {v: found[v] for v in found} | {v: e.xreplace({k: found[k] for k in found}) for v, e in step.items()}
    return {v: -e if flip and v in (r, s) else e for v, e in found.items()}


def left(move):
    return {name for name, e in obligations(move) if sympy.simplify(sympy.expand(e)) != 0}


@pytest.mark.slow
@pytest.mark.parametrize("flip", [True, False])
def test_hmc_keeps_its_energy_with_a_flip_or_with_a_turn_of_what_is_refused(flip):
    image = leapfrog(flip)
    ratio = H - H.xreplace(image)
    refused = {} if flip else {r: -r, s: -s}
    assert left(Acceptance(image, H, ratio, refused)) == set()
    if not flip:  # what is refused stays as it is
        assert {name for name in left(Acceptance(image, H, ratio)) if name.startswith("S(G(S")} != set()


WALK = {x: x + w * (1 + 0 * y), y: y, w: -w}
NORMAL, PLANE = w**2 / 2, x**2 + x * y + 2 * y**4


@pytest.mark.parametrize(
    ("image", "energy", "ratio", "wrong"),
    [
        (WALK, NORMAL + PLANE, PLANE - PLANE.xreplace({x: x + w}), False),
        (WALK, NORMAL + PLANE, 0 * x, True),  # always accepted
        (WALK, NORMAL + PLANE, 2 * (PLANE - PLANE.xreplace({x: x + w})), True),  # at another temperature
        ({x: x + w, w: w}, NORMAL + PLANE, PLANE - PLANE.xreplace({x: x + w}), True),
        ({x: exp(w) * x, w: -w}, NORMAL + x**2, x**2 - exp(2 * w) * x**2 + w, False),
        ({x: exp(w) * x, w: -w}, NORMAL + x**2, x**2 - exp(2 * w) * x**2, True),  # without its Jacobian
        ({x: y, y: x}, PLANE, PLANE - PLANE.xreplace({x: y, y: x}), False),  # an exchange
        ({x: (3 * x + 4 * y) / 5, y: (4 * x - 3 * y) / 5}, x**2 + y**2, 0 * x, False),  # a reflection
        ({x: (3 * x + 4 * y) / 5, y: (4 * x - 3 * y) / 5}, PLANE, 0 * x, True),
        ({x: (3 * x - 4 * y) / 5, y: (4 * x + 3 * y) / 5}, x**2 + y**2, 0 * x, True),  # a rotation leads on
    ],
)
def test_a_move_is_told_from_one_that_does_not_keep_its_energy(image, energy, ratio, wrong):
    assert bool(left(Acceptance(image, energy, ratio))) is wrong


def test_a_refused_move_may_not_change_the_energy():
    move = {x: x + r, y: y}
    assert "E(G(x)) - E(x)" in left(Acceptance(move, x**2 + r**2, x**2 - (x + r) ** 2, {r: -r + Rational(1, 2)}))

"""Other dynamics under the H of a build, and blocks that are held: P D P, P Q P, and whether the energies agree."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy
from answers import SPECS, answer, cycle_of, document, expect, shipped, split, vector

from recipe_compiler.algebra.dynamics.system import system
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.model import Metropolis, Moved, Use
from recipe_compiler.spec.use import followed
from recipe_compiler.verify.moves.use import use

STATE = """
name: held
state: {theta: {shape: d}, r: {shape: d}, s: {}}
parameters:
  M: {shape: [d, d], is: positive definite}
  A: {shape: [d, d]}
  C: {shape: [d, d], is: positive semidefinite}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ inv(M) @ r/2 + s**2/2MORE
D: [[0, 0, 0], [0, C, 0], [0, 0, 0]]
Q: [[0, -I, 0], [I, A - A.T, 0], [0, 0, 0]]
"""
GIBBS = (SPECS / "builds/hmc_within_gibbs.yaml").read_text().replace("../", "SPECS/")
FOLLOWED = ["hmc", "sghmc", "sgld", "sgnht", "sgrld", "generalised_langevin", "gsgrhmc", "sghmc_lognormal_friction"]


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_a_word_follows_that_holds_some_blocks_is_projected_and_keeps_the_law(name):
    """P D P and P Q P by the second engine, entry by entry, with every other matrix abstract: nothing commutes."""
    own = shipped(f"dynamics/{name}")
    blocks = tuple((block.name, block.name) for block in own.declarations.blocks)
    made = followed(own, own, Use(own, None, blocks, (Moved(("a",), "moved", (True, False)),)))
    sizes = dict.fromkeys(own.declarations.sizes, 3)
    here, there = (system(made.declarations, one.H, one.D or (), one.Q or (), sizes) for one in (own, made))
    moved = Symbol("moved", Shape("d"), Role.PARAMETER)
    mask = [x for row in rows(moved, Setting(made.declarations, sizes)) for x in row]
    held = {str(x): m for x, m in zip(coordinates(potential_blocks(own)[0], sizes), mask, strict=True)}
    P = sympy.diag(*(held.get(str(x), sympy.Integer(1)) for x in here.z))
    for one, two in ((here.D, there.D), (here.Q, there.Q)):
        assert (P * sympy.Matrix(one) * P - sympy.Matrix(two)).expand().is_zero_matrix
    for claim in ("d_symmetric", "d_psd", "q_skew", "stationary"):
        expect(answer(made, claim), "proved")


ENERGIES = {
    "proved": ["0", "s**4", "logdet(M)", "exp(s)/(1 + s**2)", "abs(s)"],  # of what is held
    "refuted": [
        "r.T @ A @ theta", "sum(theta)", "U(theta)", "norm2(r)", "s*sum(r)", "s**2*norm2(theta)", "theta.T @ M @ theta",
    ],
    # off its jumps such an energy has the slopes of H: a drift that pushes at a jump is not seen there
    "undecided": ["sum(sign(r))", "sum(where(theta > 0, ones, 0))", "sum(sign(theta))*s"],
}  # fmt: skip


@pytest.mark.parametrize(("more", "verdict"), [(more, verdict) for verdict, own in ENERGIES.items() for more in own])
def test_energies_are_compared_up_to_what_is_held(more, verdict):
    here, other = (document(STATE.replace("MORE", one)) for one in ("", f" + {more}"))
    dynamics = replace(here, claims=replace(here.claims, energy=other.H))
    step = split(dynamics, "B/2 A/2 O A/2 B/2", "cycle", cycle=(Metropolis(),))
    at = expect(use(cycle_of(step, document(GIBBS))), verdict, "second engine" if verdict == "proved" else "")
    assert verdict != "refuted" or at


# witnesses

IN_TURN = """
name: in_turn
dynamics: SPECS/dynamics/hmc.yaml
target: own.yaml
bind: {M: m*I}
parameters: {m: {is: positive, value: 2}}
scheme:
  cycle:
    - refresh: {r: 9/10}
    - {of: {theta: a}, metropolis: {split: [B/2, A, B/2]FIRST}}
    - refresh: {r: 9/10}
    - {of: {theta: b}, metropolis: {split: [B/2, A, B/2], scale: 1/4SECOND}}
variant: full
run: {step_size: 1/2, draws: 4000, warmup: 1000, chains: 4, seed: 1}
"""
OWN = "{format: 1, name: own, state: {a: {}, b: {}}, potential: a**2/2 + (b - a)**2 + b**4/4}"
FLIP = ", flip: {r: -r}"


def slope_of_own(theta, moved):
    """Return dU/da or dU/db."""
    a, b = theta
    return b**3 + 2 * (b - a) if moved else a - 2 * (b - a)


def leapfrog(theta, r, moved, eps):
    """Return a step of one coordinate, of U = `OWN` and M = 2 I; the other stands still."""
    half = r[moved] - eps / 2 * slope_of_own(theta, moved)
    end = [*theta]
    end[moved] += eps * half / 2
    return end[moved], half - eps / 2 * slope_of_own(end, moved)


@pytest.mark.parametrize(("place", "moved"), [(2, 0), (4, 1)])
def test_a_move_is_refuted_at_what_it_moves_alone(place, moved):
    """Of two moves with a word one turns nothing where it is refused: (pi K - pi)/pi is that of its own coordinate."""
    text = IN_TURN.replace("FIRST", FLIP if moved else "").replace("SECOND", "" if moved else FLIP)
    found = answer(document(text, own=OWN), "metropolis")
    at = expect(found, "refuted")
    assert found.decision.by.startswith(f"move {place}, Metropolis: ")
    assert (at["moved"], at["m"]) == (("[1, 0]", "[0, 1]")[moved], "2")
    theta, r = vector(at["theta"]), vector(at["r"])
    eps = Fraction(at["eps" if moved == 0 else "1/4*eps"])

    def energy(end):
        a, b = (end[0], theta[1]) if moved == 0 else (theta[0], end[0])
        return a**2 / 2 + (b - a) ** 2 + b**4 / 4 + end[1] ** 2 / 4

    now = energy((theta[moved], r[moved]))
    after = energy(leapfrog(theta, r, moved, eps))
    before = energy(leapfrog(theta, [-x for x in r], moved, eps))
    off = min(math.exp(float(now - before)), 1.0) - min(1.0, math.exp(float(now - after)))
    stated = at["(pi K - pi)/pi, pi = exp(-H)"]
    assert float(stated.rpartition("= ")[2]) == pytest.approx(off, rel=1e-3)

"""Other dynamics under the H of a build, and blocks that are held: P D P, P Q P, and whether the energies agree."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy
from answers import SPECS, answer, document, expect, said, shipped, split, stages, vector

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
    at = expect(use(step, stages(document(GIBBS))), verdict, "second engine" if verdict == "proved" else "")
    assert verdict != "refuted" or at


# what is reached beside words that hold some blocks

WORD = "{of: {theta: BLOCK}, metropolis: {split: [B/2, A, B/2], steps: STEPS, flip: {r: -r}}}"
MOVES = {
    name: WORD.replace("BLOCK", block).replace("STEPS", steps)
    for name, block, steps in (
        ("WORD", "beta", "1"), ("LONG", "beta", "5"), ("THREE", "beta", "3"), ("SOME", "beta", '"uniform(1, 4)"'),
        ("TAU", "tau", '"uniform(1, 4)"'), ("TAU_1", "tau", "1"), ("TAU_5", "tau", "5"),
    )
} | {"TURN": "{involution: {theta: -theta}}"}  # fmt: skip
BOTH = "{of: {theta: [tau, beta]}, metropolis: {split: [B/2, A, B/2], scale: 1/4, flip: {r: -r}}}"
COUPLED = """
state: {theta: {shape: d}, r: {shape: d}}
parameters: {M: {shape: [d, d], is: positive definite}, v: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ inv(M) @ r/2
D: [[0, 0], [0, 0]]
Q: [[0, COUPLING], [OTHER, 0]]
"""
BY_DRAWS, IN_A_ROW = "tau after it", "moves with the word reach every beta, tau from every other, r being refreshed"
NOT_ALL = "no moves in a row, of one step at times and with r drawn anew next to each, move or draw all of beta, tau"
INVERTIBLE, HELD = "is invertible, were nothing held", "what is held, tau, is"


@pytest.mark.parametrize(
    ("cycle", "coupling", "verdict", "says"),
    [
        ("draw: tau, refresh: r, SOME", "-I", "proved", BY_DRAWS),
        ("{refresh: {r: 9/10}}, SOME, draw: tau", "-I", "proved", BY_DRAWS),
        ("{draw: tau, every: 2}, refresh: r, SOME", "-I", "proved", BY_DRAWS),
        ("refresh: r, WORD, refresh: r, TAU", "-I", "proved", IN_A_ROW),
        ("refresh: {r: 1/2}, TAU, refresh: {r: 9/10}, WORD", "-I", "proved", IN_A_ROW),
        ("refresh: r, LONG, refresh: r, TAU, refresh: r, WORD", "-I", "proved", IN_A_ROW),
        (f"refresh: r, {BOTH}, refresh: r, LONG", "-I", "proved", IN_A_ROW),
        ("refresh: r, WORD, refresh: r, draw: tau, TAU, refresh: r", "-I", "proved", IN_A_ROW),
        ("refresh: r, WORD, {refresh: r, every: 2}, TAU", "-I", "proved", IN_A_ROW),
        ("refresh: r, WORD, refresh: r, TURN, refresh: r, TAU", "-I", "proved", IN_A_ROW),
        ("refresh: r, WORD, TAU_1", "-I", "undecided", "r is refreshed less often than the word runs"),
        ("refresh: r, WORD, refresh: r, TAU_5", "-I", "undecided", NOT_ALL),
        (
            "refresh: r, TAU_5, refresh: r, TAU_5", "-I", "undecided",
            "5 or more steps: for quadratic U, trajectories may be periodic",
        ),
        ("refresh: r, WORD, refresh: r, TURN, refresh: r, TAU_1, refresh: r, TURN", "-I", "undecided", NOT_ALL),
        # a coupling of rank one moves beta along v alone: such a chain is no chain of the law, whatever draws tau
        ("refresh: r, WORD, refresh: r, TAU_1", "-v @ v.T", "undecided", INVERTIBLE),
        ("draw: tau, refresh: r, WORD", "-v @ v.T", "undecided", INVERTIBLE),
        ("draw: tau, refresh: r, THREE", "-I", "undecided", "trajectories may be periodic"),
        ("draw: tau, {refresh: r, every: 2}, WORD", "-I", "undecided", "less often than the word runs"),
        ("refresh: r, WORD, refresh: r, TURN, draw: tau", "-I", "undecided", HELD),
        ("refresh: r, WORD", "-I", "undecided", f"{HELD} not all drawn"),
    ],
)  # fmt: skip
def test_what_is_held_is_reached_by_draws_or_other_words_or_left_open(cycle, coupling, verdict, says):
    dynamics = COUPLED.replace("COUPLING", coupling).replace("OTHER", coupling.removeprefix("-"))
    moves = ", ".join(MOVES.get(move, move) for move in cycle.split(", "))
    head, _, tail = GIBBS.partition("scheme:")
    head = head.replace("SPECS/dynamics/hmc.yaml", "coupled.yaml")
    head = head.replace("value: 400}", "value: 400}\n  v: {value: [1, 2, -1, 1/2, 3]}")
    own = document(f"{head}scheme: {{cycle: [{moves}]}}\nvariant{tail.partition('variant')[2]}", coupled=dynamics)
    found = answer(own, "irreducible")
    expect(found, verdict, says)
    assert says != BY_DRAWS or "every beta" in said(found)


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
    assert found.decision.by.startswith(f"move {place}: ")
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


OTHER = """
name: other
state: {theta: {shape: n}, r: {shape: n}}
parameters: {k: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: ENERGY
D: [[0, 0], [0, 0]]
Q: [[0, -I], [I, 0]]
"""
PAIR = '{format: 1, name: pair, state: {a: {}, b: {}}, potential: a**2 + a*b/2 + b**2, laws: {a: "N(-b/4, 1/2)"}}'
AT_K = """
name: at_k
dynamics: DYNAMICS.yaml
target: pair.yaml
parameters: {k: {value: VALUE}}
scheme: {cycle: [draw: a, refresh: r, {USE of: {theta: b}, metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}]}
variant: full
run: {step_size: 1/2}
"""


@pytest.mark.parametrize(
    ("claim", "energy", "beside", "value", "verdict"),
    [
        ("use", "U(theta) + k*r.T @ r/4", "use: other.yaml,", "2", "proved"),
        ("use", "U(theta) + k*r.T @ r/4", "use: other.yaml,", "1", "refuted"),
        ("draw", "U(theta)*k/2 + r.T @ r/2", "", "2", "proved"),
        ("draw", "U(theta)*k/2 + r.T @ r/2", "", "1", "undecided"),
    ],
)
def test_a_cycle_with_held_blocks_is_judged_at_the_values_of_its_build(claim, energy, beside, value, verdict):
    """At k = 2 alone H is U(theta) + r.T r/2; no witness names another k, or a mask with the entry 2."""
    text = AT_K.replace("DYNAMICS", "own" if beside else "other").replace("VALUE", value).replace("USE", beside)
    plain, other = (OTHER.replace("ENERGY", one) for one in ("U(theta) + r.T @ r/2", energy))
    at = expect(answer(document(text, own=plain, other=other, pair=PAIR), claim), verdict)
    assert at.get("k", value) == value or verdict == "proved"
    assert at.get("moved", "[0, 1]") == "[0, 1]" or verdict == "proved"

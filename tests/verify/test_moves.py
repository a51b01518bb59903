"""Claims about cycles of moves: what preserves exp(-H), by both engines, and what leaves it open."""

from dataclasses import replace
from fractions import Fraction

import pytest
from answers import SPECS, cycle_of, document, expect, split

from recipe_compiler.derive.refresh import conditional_law
from recipe_compiler.spec.model import Metropolis, Refresh, Selection, Steps
from recipe_compiler.verify.moves import refresh as refreshes
from recipe_compiler.verify.moves.refresh import law_given_others
from recipe_compiler.verify.moves.table import cycle, decide_each, exact
from recipe_compiler.verify.moves.volume import decide_volume

LEAPFROG, PATH = "B/2 A B/2", "B/2 A/2 O A/2 B/2"
FULL, PARTIAL = Refresh("r"), Refresh("r", Fraction(9, 10))
WHOLE = {"pieces": (("H", (Selection(Q=None),)),), "flows": (("H", "generalised"),)}
"""RHMC as one piece."""
BUILD = """
name: moved
dynamics: SPECS/dynamics/hmc.yaml
target: SPECS/targets/gaussian.yaml
parameters:
  {M: {value: [[2, 1/2], [1/2, 3/2]]}, mu: {value: [1, -2]}, Sigma: {value: [[2, 1/2], [1/2, 1]]}}
sizes: {d: 2}
scheme: {cycle: [refresh: r, metropolis: {split: [B/2, A, B/2], flip: {r: -r}}]}
variant: full
run: {step_size: 1/4, draws: 100, warmup: 10, chains: 2, seed: 1}
"""


@pytest.fixture(scope="module")
def any_build():
    """Return a build beside which cycles over abstract dynamics are decided."""
    return document(BUILD)


def of(dynamics, text, *moves, **more):
    return split(dynamics, text, "cycle", cycle=moves, **more)


@pytest.mark.parametrize(
    ("name", "text", "moves", "more", "says"),
    [
        ("hmc", LEAPFROG, (PARTIAL, Metropolis((3, 3), ("r",))), {}, "are reversible under r -> -r"),
        ("hmc", "A/2 B A/2", (FULL, Metropolis((1, 1), ("r",))), {}, "are reversible under r -> -r"),
        ("sghmc", PATH, (Metropolis((4, 4), ("r",)),), {}, "O in detailed balance"),
        ("sghmc", PATH, (Metropolis((4, 4), ("r",)),), {"flows": (("O", "midpoint"),)}, "O in detailed balance"),
        ("generalised_langevin", PATH, (Metropolis((1, 1), ("r",)),), {}, "O in detailed balance"),
        ("rhmc", "H", (FULL, Metropolis((8, 8), ("r",))), WHOLE, "under r -> -r"),
    ],
)
def test_moves_of_shipped_dynamics_keep_exp_minus_H(any_build, name, text, moves, more, says):
    """With full M, C, K and metrics, for every size, by both engines."""
    step = of(name, text, *moves, **more)
    found = decide_each(Metropolis)(cycle_of(step, any_build))
    data = expect(found, "proved", says)
    assert {sizes for at in found.checked_at for _, sizes in at} == {1, 2, 3}
    assert any(fact.startswith("implicit equations") for fact in found.decision.given) is bool(more)
    for how in data.values():
        assert how == "letter by letter" or any(one in how for one in ("index calculus", "symplectic", "balance"))


COUPLED = """
state: {theta: {shape: d}, w: {shape: scalar}, r: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + w**2/2 + (1 + w**2)*norm2(r)/2
D: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
Q: [[0, 0, -I], [0, 0, 0], [I, 0, 0]]
"""


@pytest.mark.parametrize("order", ["rw", "wr"])
def test_a_law_that_another_block_is_drawn_from_does_not_read_its_sign(any_build, order):
    """r ~ N(0, I/(1 + w**2)) given w, and w ~ N(0, 1/(1 + r.r)) given r: H is even in both."""
    dynamics, moves = document(COUPLED), [Refresh(name) for name in order]
    step = of(dynamics, LEAPFROG, Metropolis(), *moves)
    for block, law in (
        ("r", "r ~ N(0, I/(w**2 + 1)) given theta, w"),
        ("w", "w ~ N(0, 1/(r.T @ r + 1)) given theta, r"),
    ):
        found = law_given_others(step, block)
        expect(found, "proved")
        assert found.decision.by == law
    expect(decide_each(Metropolis)(cycle_of(step, any_build)), "proved", "r is refreshed before it is used")
    alone = of(dynamics, LEAPFROG, Metropolis(), moves[-1])
    expect(decide_each(Metropolis)(cycle_of(alone, any_build)), "proved" if order == "wr" else "undecided")


SOME = """
state: {theta: {shape: d}, r: {shape: SHAPE}}
parameters: {C: {shape: [SHAPE, SHAPE], is: positive semidefinite}, S: {shape: [SHAPE, SHAPE], is: skew}}
functions: {U: {of: theta, role: potential}, c: {of: theta}}
H: U(theta) + ENERGY
D: [[0, 0], [0, 0]]
Q: [[0, 0], [0, c(theta)*S]]
"""


def some(energy="norm2(r)/2", shape="d", flows=()):
    own = document(SOME.replace("ENERGY", energy).replace("SHAPE", shape))
    return of(own, "T", FULL, pieces=(("T", (Selection(Q=None),)),), flows=flows)


@pytest.mark.parametrize(
    ("shape", "flows", "verdict", "says"),
    [
        ("2", (("T", "midpoint"),), "proved", "index calculus"),
        ("d", (("T", "midpoint"),), "undecided", "it is not shown that Q is invertible"),
        ("d", (), "proved", "index calculus"),
    ],
)
def test_a_midpoint_keeps_volume_in_the_plane_and_is_open_beyond(shape, flows, verdict, says):
    """f = -c(theta) S r has div f = 0 for every size."""
    step = some(shape=shape, flows=flows)
    expect(decide_volume(step, step.pieces[0]), verdict, says)


@pytest.mark.parametrize(
    ("energy", "verdict", "says"),
    [
        ("norm2(r)**2/2", "refuted", "exact witness"),
        ("norm2(r)/2 + sum(r)", "refuted", "exact witness"),
        ("(norm2(r) - 2*r[0]**2)/2", "refuted", "the precision of r is not positive definite"),
        ("r.T @ C @ r / 2", "refuted", "the precision of r is not positive definite"),  # C may be 0
        ("sum(abs(r))", "not proved", ""),
        ("sum(where(r > 0, r, 2*r)**2)/2", "not proved", ""),
    ],
)
def test_what_is_no_centred_gaussian_is_no_law_of_a_refresh(energy, verdict, says):
    expect(law_given_others(some(energy), "r"), verdict, says)


def test_no_law_is_looked_for_of_the_potentials_block():
    found = law_given_others(of("hmc", LEAPFROG, Refresh("theta")), "theta")
    expect(found, "undecided", "U is a function of theta")


def test_a_wrong_covariance_is_found_by_the_second_engine(monkeypatch):
    """The index calculus gives what is drawn from: N(0, 2 S) for N(0, S) is not proved."""

    def wrong(derivation, block):
        law = conditional_law(derivation, block)
        return None if law is None else replace(law, covariance=derivation.calculus.scale(law.covariance, 2))

    monkeypatch.setattr(refreshes, "conditional_law", wrong)
    found = law_given_others(of("hmc", LEAPFROG, FULL), "r")
    expect(found, "undecided", "the engines disagree on P S - I of r")


def test_a_piece_in_detailed_balance_by_one_engine_alone_is_open(any_build, monkeypatch):
    """A second engine that loses the noise of O finds a current."""
    monkeypatch.setattr(
        "recipe_compiler.verify.moves.detailed_balance.correction", lambda D, z: tuple(1 + x - x for x in z)
    )
    step = of("sghmc", PATH, Metropolis((1, 1), ("r",)))
    expect(
        decide_each(Metropolis)(cycle_of(step, any_build)),
        "undecided",
        "the engines disagree on the current of O",
    )


def test_minibatches_and_a_boundary_leave_a_metropolis_move_open(any_build):
    turned = Metropolis((1, 1), ("r",))
    step = of("hmc", LEAPFROG, FULL, turned)
    small = replace(any_build, variant="minibatch")
    expect(decide_each(Metropolis)(cycle_of(step, small)), "undecided", "needs all data")
    text = (SPECS / "dynamics/hmc.yaml").read_text().replace("theta: {shape: d}", "theta: {shape: d, domain: positive}")
    step = of(document(text), LEAPFROG, FULL, turned)
    expect(decide_each(Metropolis)(cycle_of(step, any_build)), "undecided", "theta has a boundary")


def test_the_thermostat_is_not_drawn_around_zero(any_build):
    step = of("sgnht", "B/2 A/2 xi/2 O xi/2 A/2 B/2", FULL, Refresh("xi"), Steps(2))
    expect(cycle(cycle_of(step, any_build)), "refuted", "move 2, refresh of xi, does not preserve exp(-H)")
    expect(exact(cycle_of(step, any_build)), "not proved")

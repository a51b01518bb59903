"""Moves and cycles against exact points: by the density that a cycle leaves, and by values where proofs take slopes."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from answers import SPECS, document, expect, stages

from recipe_compiler.derive.involution import mapped
from recipe_compiler.derive.refresh import conditional_law
from recipe_compiler.spec.model import Draw, Involution, Metropolis, Refresh
from recipe_compiler.spec.read_moves import visible
from recipe_compiler.verdict import OWN_FAULT, Answer, Refuted
from recipe_compiler.verify.moves import draw, involution, refresh, table, witness
from recipe_compiler.verify.moves import metropolis as accepted
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.moves.draw import refute_draw
from recipe_compiler.verify.moves.involution import refute_involution
from recipe_compiler.verify.moves.refresh import refute_refresh
from recipe_compiler.verify.steps.in_build import decide_pieces
from recipe_compiler.verify.steps.split import split_of

BUILD = """
name: cycle
dynamics: SPECS/dynamics/DYNAMICS.yaml
target: target.yaml
parameters: {M: {value: [[2, 1], [1, 3]]}MORE}
scheme: {cycle: [MOVES]}
variant: full
sizes: {d: 2}
run: {step_size: 1/2}
"""
GAUSS = "state: {theta: {shape: 2}}\npotential: theta[0]**2 + theta[0]*theta[1]/2 + theta[1]**2\n"
QUARTIC = "state: {theta: {shape: 2}}\npotential: theta[0]**4/4 + theta[0]**2*theta[1]/3 + theta[1]**2 + theta[1]**4\n"
PARTS = "state: {a: {}, b: {}}\npotential: a**2 + a*b/2 + b**2\nlaws: {b: 'N(-a/4, 1/2)'}\n"
OWN = """
state: {{a: {{}}, b: {{domain: positive, transform: log}}}}
potential: b*(1 + a**2)/2 - 2*log(b) + a**2/2
laws: {{a: "N(0, 1/(1 + b))", b: "{law}"}}
"""
SCALED, GAMMA = "{theta: theta*exp(w), w: -w}", "Gamma(3, (1 + a**2)/2)"


def build(moves, target=GAUSS):
    noisy = "O" in moves
    text = BUILD.replace("DYNAMICS", "sghmc" if noisy else "hmc").replace("MOVES", moves)
    text = text.replace("MORE", ", C: {value: [[1, 1/2], [1/2, 2]]}" if noisy else "")
    used = (SPECS / "dynamics/hmc.yaml").read_text().replace("name: hmc", "name: used")
    return document(text, target=target, used=used)


def of_cycle(decide, own):
    return decide_pieces(lambda split: decide(Cycle(split, own)))(own)


def decided(decide, moves, target=GAUSS):
    return of_cycle(decide, stages(build(moves, target)))


def every_move(maps=SCALED, law=GAMMA):
    moves = f'refresh: r, draw: a, draw: b, {{involution: {maps}, draws: {{w: "N(0, 1/4)"}}}}'
    return stages(build(moves, OWN.format(law=law)))


def density(theta, target):
    """Return sum W_ij (d_i d_j U - d_i U d_j U)/2 over what is moved, W = inv(M): what kicks before drifts add."""
    (x, y), W = theta, ((Fraction(3, 5), Fraction(-1, 5)), (Fraction(-1, 5), Fraction(2, 5)))
    half, third = Fraction(1, 2), Fraction(1, 3)
    g, K = (2 * x + y * half, 2 * y + x * half), ((2, half), (half, 2))
    if target == QUARTIC:
        g = (x**3 + 2 * x * y * third, x**2 * third + 2 * y + 4 * y**3)
        K = ((3 * x**2 + 2 * y * third, 2 * x * third), (2 * x * third, 2 + 12 * y**2))
    return sum((W[i][j] * (K[i][j] - g[i] * g[j]) / 2 for i in (0, 1) for j in (0, 1)), Fraction(0))


KICK, DRIFT = "{split: [B, A]}", "{split: [A, B]}"
HELD = "metropolis: {split: [B, A], flip: {r: -r}}"


@pytest.mark.parametrize(
    ("moves", "target", "share"),
    [
        (f"refresh: r, {KICK}", GAUSS, 1),
        (f"refresh: {{r: -1/2}}, {DRIFT}", GAUSS, -1),
        (f"refresh: r, {KICK}", QUARTIC, 1),
        ("refresh: {r: 1/3}, {split: [A, O, B], steps: 3}", GAUSS, -3),
        ("refresh: r, {split: [2*B/5, A, 3*B/5]}", GAUSS, Fraction(-1, 5)),
        ("refresh: r, {metropolis: {split: [A, B], flip: {r: -r}}}", QUARTIC, -1),
        ("{metropolis: {split: [B, O, A], flip: {r: -r}, scale: 1/2}}", GAUSS, Fraction(1, 4)),
    ],
)
def test_a_word_is_refuted_by_the_density_that_it_leaves(moves, target, share):
    at = expect(decided(table.cycle, moves, target), "refuted")
    theta = (int(at["theta[0]"]), int(at["theta[1]"]))
    by = "by one step of the move" if "metropolis" in moves else "in a cycle"
    change = at[f"change of the density of theta[0], theta[1] {by}, over it"]
    assert change == f"{share * density(theta, target)} eps**2 + o(eps**2)"


@pytest.mark.parametrize("word", ["split: [B, A]", HELD, f"use: used.yaml, {HELD}"])
def test_what_is_drawn_beside_a_word_is_averaged_over(word):
    """It is W (m'' - m'**2)/2, m = 15 a**2/16 the energy of the marginal of a and W = 3/5: 9/16 - 135 a**2/128."""
    at = expect(decided(table.cycle, f"refresh: r, {{{word}, of: {{theta: [a]}}}}, draw: b", PARTS), "refuted")
    value = Fraction(9, 16) - Fraction(135, 128) * int(at["theta[0]"]) ** 2
    by = "in a cycle" if "metropolis" not in word else "by one step of the move"
    assert at[f"change of the density of theta[0] {by}, over it"] == f"{value} eps**2 + o(eps**2)"


def with_mass_of_many_digits(moves):
    """Return a build with a mass as warm-up finds it, of 400 numbers of 17 digits."""
    A = np.random.default_rng(2).standard_normal((20, 40))
    text = BUILD.replace("DYNAMICS", "hmc").replace("MOVES", moves).replace("MORE", "")
    text = text.replace("[[2, 1], [1, 3]]", str((A @ A.T / 40).tolist())).replace("{d: 2}", "{d: 20}")
    return stages(document(text, target="state: {theta: {shape: 20}}\npotential: norm2(theta)**2\n"))


@pytest.mark.slow
def test_a_wrong_word_with_such_a_mass_is_refuted_before_a_point_of_the_move_is_computed(monkeypatch):
    own = with_mass_of_many_digits(f"refresh: r, {HELD}")
    monkeypatch.setattr(accepted, "refute_invariance", lambda *_: pytest.fail("a point of the move outlasts the limit"))
    expect(of_cycle(table.decide_each(Metropolis), own), "refuted")


def test_a_proof_with_a_mass_of_many_digits_is_tried_at_small_sizes(monkeypatch):
    """A mass that warm-up found: with its 400 numbers of 17 digits a point would outlast the limit of the claim."""
    moves = f"refresh: r, {HELD.replace('[B, A]', '[B/2, A, B/2]')}"
    tried = []
    monkeypatch.setattr(
        witness, "_search_points", lambda split, *_: tried.extend(len(split.z(n)) for n in split.subject.sizes)
    )
    for one in (stages(build(moves)), with_mass_of_many_digits(moves)):
        expect(of_cycle(table.decide_each(Metropolis), one), "proved")
    assert tried[0] == 4
    assert 0 < max(tried) <= 8


# the energies of laws and the ratios of involutions


@pytest.mark.parametrize("factor", [1, 2])
def test_the_energy_of_a_refresh_is_that_of_h(factor):
    """A refresh from N(0, 2M) leaves (b'.T inv(M) b' - b.T inv(M) b)/4 of H(b') - H(b)."""
    own = every_move()
    split = split_of(own.declared, own.build.scheme)
    law = conditional_law(split.derivation, "r")
    scaled = replace(law, covariance=split.derivation.calculus.scale(law.covariance, factor))
    assert isinstance(refute_refresh(split, scaled), Answer) is (factor != 1)


@pytest.mark.parametrize(("law", "right"), [(GAMMA, True), ("Gamma(2, (1 + a**2)/2)", False), ("Gamma(3, 1/2)", False)])
def test_the_energy_of_a_claimed_law_is_that_of_u(law, right):
    assert (refute_draw(document(OWN.format(law=law)), "b") is None) is right


@pytest.mark.parametrize(
    ("maps", "right"), [(SCALED, True), ("{theta: theta*exp(w), w: w}", False), ("{theta: theta + ones, w: -w}", False)]
)
def test_an_involution_leads_back_with_the_inverse_ratio(maps, right):
    own = every_move(maps)
    move = next(move for move in own.build.scheme.cycle if isinstance(move, Involution))
    S = mapped(move, visible(own.declared.dynamics.declarations, own.build.target.declarations.parameters))
    assert (refute_involution(own.declared, S) is None) is right


@pytest.mark.parametrize(
    ("module", "name", "decide", "moves"),
    [
        (refresh, "refute_refresh", table.decide_each(Refresh), ""),
        (draw, "refute_draw", table.decide_each(Draw), ""),
        (involution, "refute_involution", table.decide_each(Involution), ""),
        (table, "refute_limit", table.cycle, "refresh: r, {split: [B/2, A, B/2]}"),
        (
            accepted, "refute_invariance", table.decide_each(Metropolis),
            "refresh: {r: 1/2}, {metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}",
        ),
    ],
)  # fmt: skip
def test_a_proof_that_an_exact_point_contradicts_is_a_fault_of_the_program(monkeypatch, module, name, decide, moves):
    monkeypatch.setattr(module, name, lambda *_, **__: Answer(Refuted("planted", (("theta", "1"),))))
    own = stages(build(moves)) if moves else every_move()
    expect(of_cycle(decide, own), "undecided", OWN_FAULT)

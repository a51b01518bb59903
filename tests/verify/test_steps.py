"""Claims about the step of a build: what words and pieces do, by both engines, and what leaves them open."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import factorial

import pytest
import sympy as sp
from answers import document, expect, shipped, split, word

from recipe_compiler.algebra.dynamics import flows
from recipe_compiler.algebra.dynamics import pieces as second
from recipe_compiler.kernel.words import coefficient
from recipe_compiler.spec.model import Scheme, Selection
from recipe_compiler.spec.words import letters
from recipe_compiler.splitting import words
from recipe_compiler.splitting.words import expand_word
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.core.conjunction import name_those_with
from recipe_compiler.verify.core.subject import prepare_subject
from recipe_compiler.verify.steps import kept, reversible
from recipe_compiler.verify.steps.configurational import configurational
from recipe_compiler.verify.steps.flow import flow
from recipe_compiler.verify.steps.kept import keeps, keeps_law, list_symplectic_pieces, list_volume_pieces
from recipe_compiler.verify.steps.order import euler_order, palindrome, word_order
from recipe_compiler.verify.steps.pieces import pieces

HALVES, OBABO, LEAPFROG = "B/2 A/2 O A/2 B/2", "O/2 B/2 A B/2 O/2", "B/2 A B/2"
THERMOSTAT = "B/2 A/2 xi/2 O xi/2 A/2 B/2"
WHOLE = {"pieces": (("H", (Selection(Q=None),)),)}
"""RHMC as one piece."""
NO_MORE, AT_LEAST = "weak order {}, and not higher for general U and values", "weak order {} at least, by its letters"
STEADY = (keeps, list_volume_pieces, list_symplectic_pieces, reversible.reversible)


def by(found):
    expect(found, "proved")
    return found.decision.by


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("sghmc", HALVES, ("O; not A, B", "A, B; not O", "A, B; not O", "A, B under r -> -r; not O")),
        ("hmc", LEAPFROG, ("none", "A, B", "A, B", "A, B under r -> -r")),
        ("sgnht", THERMOSTAT, ("none", "A, B, xi; not O", "none", "A, B, xi under r -> -r, xi -> 2 A - xi; not O")),
        ("gsgrhmc", HALVES, ("O; not A, B", "B; not A, O", "none", "A, B under r -> -r; not O")),
        ("generalised_langevin", HALVES, ("O; not A, B", "A, B; not O", "A, B; not O", "A, B under r -> -r; not O")),
        ("rhmc", LEAPFROG, ("none", "A, B", "A, B", "A, B under r -> -r")),
    ],
)
def test_pieces_of_shipped_dynamics_keep_this(name, text, expected):
    """With full M, C and K that do not commute, for every size, by both engines; what is not kept is shown."""
    of = split(name, text)
    found = pieces(of)
    assert by(found).startswith("index calculus for every size; second engine")
    assert name != "sghmc" or {sizes for at in found.checked_at for _, sizes in at} == {1, 2, 3}
    assert tuple(by(claim(of)) for claim in STEADY) == expected
    for claim in STEADY:
        for piece, why in claim(of).decision.data:
            shown = why.startswith("yes: index calculus") or ("no: exact witness" in why and "residual" in why)
            assert shown or name != "sghmc", piece


@pytest.mark.parametrize("numerical", [False, True])
def test_the_whole_recipe_as_one_piece_keeps_what_it_keeps(numerical):
    """RHMC is its own piece, for an abstract metric; of its volume nothing is said with a generalised leapfrog."""
    of = split("rhmc", "H", **WHOLE, flows=(("H", "generalised"),) if numerical else ())
    steady = "none; not decided for H (generalised)" if numerical else "H"
    assert [by(claim(of)) for claim in STEADY] == [steady, steady, "H", "H under r -> -r"]
    if not numerical:
        expect(flow(of), "undecided", "exact flow")


def test_numerical_flows_keep_what_is_shown_of_them_and_no_more():
    of = split("gsgrhmc", HALVES, flows=(("A", "midpoint"), ("O", "midpoint")))
    assert by(list_volume_pieces(of)) == "B; not decided for A (midpoint), O (midpoint)"
    assert by(word_order(of)) == "weak order 2 at least, by its letters and its flows"


ROUGH = """
name: rough
state: {theta: {shape: d}, r: {shape: d}}
parameters: {c: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + ENERGY
D: [[0, 0], [0, NOISE]]
Q: [[0, -I], [I, 0]]
"""
INSIDE = "steps stay inside the domain"


def rough(energy="norm2(r)/2", noise="c*I", r="{shape: d}", more=""):
    text = ROUGH.replace("ENERGY", energy).replace("NOISE", noise).replace("r: {shape: d}", f"r: {r}")
    return split(document(text + more), HALVES)


@pytest.mark.parametrize("claim", [pieces, *STEADY])
def test_a_piece_without_a_value_everywhere_is_not_proved(claim):
    expect(claim(rough(noise="'log(r[0])*I'")), "undecided", "not shown: r[0] > 0")


@pytest.mark.parametrize(
    ("claim", "changes", "says"),
    [
        (pieces, {"noise": "'(2 + sign(theta[0]))*I'"}, "not shown"),
        (list_volume_pieces, {"noise": "'(2 + sign(theta[0]))*I'"}, "not shown"),
        (word_order, {"energy": "norm2(r)/2 + abs(r[0])"}, "is smooth"),
        (reversible.reversible, {"energy": "norm2(r)/2 + sum(r)**3/9 + sum(r**4)"}, "no sign flip"),
        (reversible.reversible, {"r": "{shape: d, domain: positive}"}, "no sign flip"),  # F leads into the state space
    ],
)
def test_what_is_not_known_of_a_piece_is_open(claim, changes, says):
    expect(claim(rough(**changes)), "undecided", says)


def test_a_kink_leaves_the_order_of_an_euler_step_open():
    subject = rough(energy="norm2(r)/2 + abs(r[0])").subject
    expect(euler_order(subject, Scheme("euler")), "undecided", "is smooth")


def test_a_relativistic_kinetic_energy_is_even():
    of = rough(energy="c*sqrt(norm2(r) + 1)")
    assert by(reversible.reversible(of)) == "A, B under r -> -r; not O"
    assert by(list_symplectic_pieces(of)) == "A, B; not O"


# planted faults


def test_a_fault_in_the_derived_pieces_is_found():
    """Drifts that the index calculus has twice and not at all, and add up: the second engine derives its own."""
    of = split("sghmc", HALVES)
    c = of.derivation.calculus
    A, B, noisy = of.pieces
    wrong = replace(A, drift=tuple(c.scale(f, 2) for f in A.drift))
    less = replace(noisy, drift=tuple(c.subtract(f, own) for f, own in zip(noisy.drift, A.drift, strict=True)))
    expect(pieces(replace(of, pieces=(wrong, B, less))), "undecided", "the engines disagree on f[theta] of A")


def test_a_fault_in_the_divergence_is_found(monkeypatch):
    monkeypatch.setattr(kept, "compute_divergence", lambda *_: Tensor((), ()))
    expect(list_volume_pieces(split("gsgrhmc", HALVES)), "undecided", "A: the engines disagree on div f of A")
    monkeypatch.setattr(kept, "compute_divergence", lambda c, *_: c.constant(1))
    expect(list_volume_pieces(split("sghmc", HALVES)), "undecided", "div f of A does not reduce to zero")


def test_a_fault_in_parity_is_found(monkeypatch):
    turned = reversible.reflect

    def wrong(c, own, centres):
        found = turned(c, own, centres)
        return found if found is None or not own.free else c.scale(found, -1)

    monkeypatch.setattr(reversible, "reflect", wrong)
    expect(reversible.reversible(split("sghmc", HALVES)), "undecided", "does not reduce to zero")
    monkeypatch.setattr(reversible, "reflect", turned)
    kinetic = split("sgnht", THERMOSTAT)
    only_r = reversible.flip(kinetic.derivation.calculus, {"r": reversible.choose_flip(kinetic).centres["r"]})
    H = kinetic.derivation.H
    monkeypatch.setattr(reversible, "reflect", lambda c, own, centres: own if own == H else c.scale(own, -1))
    piece = next(piece for piece in kinetic.pieces if piece.name == "xi")
    says = "the engines disagree on the even part of f[xi]"
    expect(reversible.runs_back(kinetic, piece, only_r), "undecided", says)


def test_a_fault_in_the_series_of_a_word_is_found(monkeypatch):
    monkeypatch.setattr(
        words, "expand_word", lambda of, longest: {k: Fraction(1, factorial(len(k))) for k in expand_word(of, longest)}
    )
    expect(word_order(split("sghmc", HALVES)), "undecided", "the engines disagree on the coefficient of")


@pytest.mark.parametrize("text", [HALVES, THERMOSTAT, "B A O", "A/6 B/3 A/2 2*B/3 A/3", "O/2 A -B 2*B O/2", "A"])
def test_coefficients_by_letters_are_those_of_the_series(text):
    found, of = expand_word(word(text), 4), [(x.piece, x.share) for x in letters(word(text))]
    names = sorted({name for name, _ in of})
    for length in range(5):
        for one in product(names, repeat=length):
            assert coefficient(of, one) == found.get(one, 0)


# order


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("sghmc", HALVES, NO_MORE.format(2)),
        ("sghmc", "A/2 B/2 O B/2 A/2", NO_MORE.format(2)),
        ("sghmc", "B A O", NO_MORE.format(1)),
        ("sghmc", "B/2 A/2 O B/2 A/2", NO_MORE.format(1)),
        ("sghmc", "B/2 A/2 O A/2", "weak order 0: the pieces do not add up to the SDE"),
        ("sgnht", THERMOSTAT, NO_MORE.format(2)),
        ("hmc", LEAPFROG, NO_MORE.format(2)),
        ("generalised_langevin", HALVES, NO_MORE.format(2)),
        ("gsgrhmc", HALVES, NO_MORE.format(2)),
        ("sgld", "O", AT_LEAST.format(4)),
    ],
)
def test_a_word_has_this_order(name, text, says):
    assert by(word_order(split(name, text))) == says


APART = """
state: {x: {shape: d}, y: {shape: d}}
H: norm2(x)/2 + norm2(y)/2
D: [[I, 0], [0, I]]
Q: [[0, 0], [0, 0]]
"""


def test_pieces_that_commute_hide_what_is_wrong_in_a_word():
    """Without a potential to kick, A and O of separate blocks: no function is off, and the order is a lower bound."""
    of = (("X", (Selection(D=(("x", "x"),)),)), ("Y", (Selection(D=(("y", "y"),)),)))
    assert by(word_order(split(document(APART), "X Y", pieces=of))) == AT_LEAST.format(1)


def test_a_piece_whose_current_may_leave_the_state_space_keeps_nothing():
    """A constant drift keeps the law exp(-0) of a line by its residual, and carries it through an end."""
    text = APART.replace("Q: [[0, 0], [0, 0]]", "Q: [[0, exp(norm2(x))*I], [-exp(norm2(x))*I, 0]]")
    expect(keeps(split(document(text), "H", **WHOLE)), "undecided", "infinity")


@pytest.mark.parametrize("name", ["sghmc", "sgnht", "sgld", "gsgrhmc"])
@pytest.mark.parametrize("scheme", ["euler", "sequential_euler"])
def test_eulers_steps_have_order_one_and_no_more(name, scheme):
    subject = prepare_subject(shipped(f"dynamics/{name}"))
    order_ = sorted(subject.names, key=lambda block: block != "r") if scheme == "sequential_euler" else ()
    found = euler_order(subject, Scheme(scheme, order=tuple(order_)))
    assert by(found) == NO_MORE.format(1)
    assert "eps^2 at d = 1" in dict(found.decision.data)["beyond"]


def test_what_the_mean_of_an_euler_step_lacks_is_computed_right():
    """H = U(theta) + r**2/2, C = M = 1: E[theta'] of Euler has no eps**2, the equation (-U' - r)/2 of it."""
    data = expect(euler_order(prepare_subject(shipped("dynamics/sghmc")), Scheme("euler")), "proved")["beyond"]
    M, C, theta, r = (Fraction(re.search(rf"{name} = \[+(-?[0-9/]+)", data)[1]) for name in ("M", "C", "theta", "r"))
    assert "U(theta) = theta[0]**2/2" in data
    assert f"off by {(theta / M + C * r / M**2) / 2} eps^2" in data


def test_what_stays_inside_is_not_asked_to():
    """log x is moved, so x stays positive; a step of Euler's of the same equation may leave."""
    own = shipped("dynamics/exponential_ou")
    whole = split(own, "X", pieces=(("X", (Selection(D=None),)),))
    for found, asked in ((word_order(whole), False), (euler_order(whole.subject, Scheme("euler")), True)):
        expect(found, "proved")
        assert (INSIDE in found.decision.given) is asked
        assert ("drifts and noise grow like powers of x and 1/x" in found.decision.given) is not asked
    expect(word_order(rough(r="{shape: d, domain: positive}")), "proved", INSIDE)
    expect(word_order(rough(more="assume: ['theta[0] > 0']\n")), "proved", INSIDE)


# flows


def test_a_flow_is_shown_by_what_it_solves():
    """Ornstein-Uhlenbeck: with the covariance of twice the time the equation of the covariance is off, and no other."""
    eps, x, a = sp.symbols("eps x a", positive=True)
    f, D = (-a * x,), ((sp.Integer(1),),)

    def law(time):
        return flows.StepLaw(eps, (x,), (x * sp.exp(-a * eps),), (((1 - sp.exp(-2 * a * time)) / a,),))

    for time, right in ((eps, True), (2 * eps, False)):
        own = law(time)
        found = [
            [*flows.mean_defects(own, 1, f)],
            [*flows.covariance_defects(own, 1, f, D)],
            [*flows.initial_defects(own)],
        ]
        assert [all(sp.simplify(e) == 0 for e in entries) for entries in found] == [True, right, True]
    assert [sp.simplify(e) for e in flows.gaussian_defects(law(eps), (-x * x,), D)] == [-2, 0]


def test_a_function_of_what_moves_is_not_put_in():
    x, eps = sp.symbols("x eps")
    with pytest.raises(flows.NotPutError):
        flows.substitute_coordinates(sp.Function("U")(x), (x,), (x + eps,))
    with pytest.raises(second.NotReflectedError):
        second.reflected(sp.Function("U")(x), {x: sp.Integer(0)})


eps, a, b, c = sp.symbols("eps a b c", positive=True)


@pytest.mark.parametrize(
    ("e", "value"),
    [
        (eps * (sp.exp(-eps * (a + b)) - 1) / (-eps * a - eps * b), 0),
        (eps * c / (-eps * a - eps * b), -c / (a + b)),
        (eps**2 * c / (eps * a + eps**2 * b) ** 2, c / a**2),
        (eps / (1 / (eps * a + eps * b) + 1 / (2 * eps)), 0),
        (1 + eps * c / (eps * a + b), 1),
        (c / (eps * a + eps * b), None),
        ((sp.exp(eps * a) - 1) / (eps * a + eps * b), None),
        (eps / (sp.exp(eps * a) - 1), None),  # 1/a, and not 0
        (eps * c / (sp.cos(eps) - 1) ** 2, None),
    ],
)
def test_a_power_of_eps_is_taken_out_of_what_divides_or_nothing_is_known(e, value):
    law = flows.StepLaw(eps, (a,), (a,), ((sp.Integer(0),),))
    if value is None:
        with pytest.raises(flows.NotPutError):
            law.at_zero(e)
    else:
        assert sp.simplify(law.at_zero(sp.expand(e)) - value) == 0
        assert sp.simplify(law.at_zero(e) - value) == 0


def test_a_law_kept_by_one_piece_is_no_law_of_another():
    of = split("sghmc", HALVES)
    found = {piece.name: keeps_law(of, piece).decision for piece in of.pieces}
    assert isinstance(found["O"], Proved)
    assert isinstance(found["A"], Refuted)


def test_palindromes_are_told_from_other_words():
    assert by(palindrome(split("sghmc", HALVES))) == "it is a palindrome"
    assert by(palindrome(split("sghmc", "B A O"))) == "it is not a palindrome: letter 1 is B, letter 3 is O"


def test_pieces_of_which_nothing_is_said_are_named_apart():
    yes, no = Answer(Proved("shown")), Answer(Refuted("a point", (("x", "1"),)))
    unsaid = {"B": "midpoint"}
    assert by(name_those_with({"A": yes, "O": no}, unsaid=unsaid)) == "A; not O; not decided for B (midpoint)"
    assert by(name_those_with({"A": yes, "B": yes}, " under r -> -r")) == "A, B under r -> -r"
    assert by(name_those_with({"O": no})) == "none"
    expect(name_those_with({"A": yes, "O": Answer(Undecided(("no",)))}), "undecided", "O: no")


# theta on a quadratic U

OWN = """
name: own
state: {theta: {shape: d}, r: {shape: d}}
parameters: {c: {is: positive}, M: {shape: [d, d], is: positive definite}, W: {shape: [d, d]}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + ENERGY
D: [[0, 0], [0, NOISE]]
Q: [[0, UP], [DOWN, 0]]
"""
KINETIC = {"ENERGY": "r.T @ inv(M) @ r/2", "NOISE": "c*I", "UP": "-W.T", "DOWN": "W"}
EXACT = "exact for quadratic U"


def own(changed):
    text = OWN
    for name, formula in {**KINETIC, **changed}.items():
        text = text.replace(name, formula)
    return document(text)


@pytest.mark.parametrize(
    ("dynamics", "text", "keep", "verdict", "says"),
    [
        ("sghmc", HALVES, 0, "proved", EXACT),
        ("generalised_langevin", HALVES, 0, "proved", EXACT),
        *(({"NOISE": noise}, HALVES, 0, "proved", EXACT) for noise in ("c*I", "M", "'(2 + cos(theta[0]))*I'")),
        ({"NOISE": "'(2 + cos(r[0]))*I'"}, HALVES, 0, "proved", ""),  # O then keeps N(0, M) too
        ("sghmc", OBABO, 0, "proved", "omega^2 Var theta = 4/3"),
        ("sghmc", HALVES, 3, "proved", "omega^2 Var theta = 3/4"),
        ("sghmc", "B A O", 0, "proved", "omega^2 Var theta = 9/8"),
        ("hmc", LEAPFROG, 0, "proved", "Var theta / Var r = 4/3"),
        ("sgnht", THERMOSTAT, 0, "undecided", "not shown: O preserves exp(-H)"),
        ("gsgrhmc", HALVES, 0, "undecided", "by more than grad U times a constant matrix"),
        ("rhmc", LEAPFROG, 0, "undecided", "A moves theta, r"),
        ("generalised_langevin", OBABO, 0, "undecided", "not exact for every friction"),
        ("sghmc", "B/2 A/2 O A/2", 0, "undecided", "not shown: the pieces add up to the SDE"),
        ({"ENERGY": "sqrt(1 + norm2(r))"}, HALVES, 0, "undecided", "not moved by a linear function of r"),
        ({"UP": "-2*W.T"}, HALVES, 0, "undecided", "not shown: Q is skew"),
        (
            {"DOWN": "'cos(theta[0])*W'", "UP": "'-cos(theta[0])*W.T'"}, HALVES, 0, "undecided",
            "times a constant matrix",
        ),
        ({"ENERGY": "r.T @ inv(M) @ r/2 + cos(theta[0])"}, HALVES, 0, "undecided", ""),
    ],
)  # fmt: skip
def test_the_covariance_of_theta_on_a_quadratic_u_is_exact_or_not(dynamics, text, keep, verdict, says):
    found = configurational(split(own(dynamics) if isinstance(dynamics, dict) else dynamics, text, keep=keep))
    data = expect(found, verdict, says if says == EXACT or verdict == "undecided" else "")
    if says == EXACT:
        assert not any("quadratic" in fact for fact in found.decision.given)  # the claim itself says so
    elif "Var" in says:
        assert says in data["at"]
        assert found.decision.by.startswith("not exact")
        assert ("depend on the start" in found.decision.by) is (dynamics == "hmc")

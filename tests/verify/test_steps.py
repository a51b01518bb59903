"""Claims about the step of a build: what words and pieces do, by both engines, and what leaves them open."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import factorial
from pathlib import Path

import pytest
import sympy as sp
from loaders import load_build, load_dynamics
from reports import report

from recipe_compiler.algebra.dynamics import flows
from recipe_compiler.algebra.dynamics import pieces as second
from recipe_compiler.algebra.dynamics.words import coefficient
from recipe_compiler.errors import DocumentError
from recipe_compiler.report.check import check
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Dynamics, Scheme, Selection
from recipe_compiler.spec.words import Letter, Word, letters, read_letter
from recipe_compiler.splitting import words
from recipe_compiler.splitting.words import series
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.steps import kept, order, reversible
from recipe_compiler.verify.steps.euler import euler_order
from recipe_compiler.verify.steps.flow import flow
from recipe_compiler.verify.steps.in_build import order_in
from recipe_compiler.verify.steps.kept import keeps, keeps_law, symplectic, volume
from recipe_compiler.verify.steps.order import palindrome, word_order
from recipe_compiler.verify.steps.pieces import pieces
from recipe_compiler.verify.steps.split import Split, split_of
from recipe_compiler.verify.steps.which_pieces import which_pieces

ROOT = Path(__file__).parents[2]
DYNAMICS = ROOT / "specs/dynamics"
HALVES = "B/2 A/2 O A/2 B/2"
THERMOSTAT = "B/2 A/2 xi/2 O xi/2 A/2 B/2"


def word(text: str) -> Word:
    found = [read_letter(item) for item in text.split()]
    return tuple(letter for letter in found if isinstance(letter, Letter))


def split(dynamics: Dynamics | str, text: str = HALVES) -> Split:
    own = load_dynamics(DYNAMICS / f"{dynamics}.yaml") if isinstance(dynamics, str) else dynamics
    return split_of(subject_of(own), Scheme("split", word(text)))


def said(answer: Answer) -> str:
    assert isinstance(answer.decision, Proved), answer.decision
    return answer.decision.by


def tried(answer: Answer) -> str:
    assert isinstance(answer.decision, Undecided), answer.decision
    return "; ".join(answer.decision.tried)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("sghmc", HALVES, ("O; not A, B", "A, B; not O", "A, B; not O", "A, B under r -> -r; not O")),
        ("hmc", "B/2 A B/2", ("none", "A, B", "A, B", "A, B under r -> -r")),
        (
            "sgnht",
            THERMOSTAT,
            ("none", "A, B, xi; not O", "none", "A, B, xi under r -> -r, xi -> 2 A - xi; not O"),
        ),
        ("gsgrhmc", HALVES, ("O; not A, B", "B; not A, O", "none", "A, B under r -> -r; not O")),
        ("generalised_langevin", HALVES, ("O; not A, B", "A, B; not O", "A, B; not O", "A, B under r -> -r; not O")),
        ("rhmc", "B/2 A B/2", ("none", "A, B", "A, B", "A, B under r -> -r")),
    ],
)  # fmt: skip
def test_pieces_of_shipped_dynamics_keep_this(name: str, text: str, expected: tuple[str, ...]) -> None:
    """With full M, C and K that do not commute, for every size, by both engines."""
    of = split(name, text)
    assert said(pieces(of)).startswith("index calculus for every size; second engine")
    assert tuple(said(claim(of)) for claim in (keeps, volume, symplectic, reversible.reversible)) == expected


def test_a_piece_that_does_not_keep_something_is_shown_at_a_point() -> None:
    of = split("sghmc")
    for claim in (keeps, volume, symplectic, reversible.reversible):
        decision = claim(of).decision
        assert isinstance(decision, Proved)
        for name, why in decision.data:
            assert why.startswith("yes: index calculus") or ("no: exact witness" in why and "residual" in why), name


def test_pieces_are_looked_at_at_every_size() -> None:
    looked = {sizes for at in pieces(split("sghmc")).checked_at for _, sizes in at}
    assert looked == {1, 2, 3}


def test_the_whole_recipe_as_one_piece_keeps_what_it_keeps() -> None:
    """RHMC is its own piece: exp(-H), volume, the form and reversibility, for an abstract metric."""
    dynamics = load_dynamics(DYNAMICS / "rhmc.yaml")
    of = split_of(subject_of(dynamics), Scheme("split", word("H"), (("H", (Selection(Q=None),)),)))
    assert [said(claim(of)) for claim in (keeps, volume, symplectic)] == ["H", "H", "H"]
    assert said(reversible.reversible(of)) == "H under r -> -r"
    assert "no exact flow" in tried(flow(of)) or "without an exact flow" in tried(flow(of))


ROUGH = """
format: 1
name: rough
state:
  theta: {shape: d}
  r: {shape: d}
parameters:
  c: {is: positive}
functions:
  U: {of: theta, role: potential}
H: U(theta) + ENERGY
D: [[0, 0], [0, NOISE]]
Q: [[0, -I], [I, 0]]
"""


def rough(tmp_path: Path, energy: str = "norm2(r)/2", noise: str = "c*I") -> Split:
    path = tmp_path / "rough.yaml"
    path.write_text(ROUGH.replace("ENERGY", energy).replace("NOISE", noise), encoding="utf-8")
    return split(load_dynamics(path))


def test_a_piece_without_a_value_everywhere_is_not_proved(tmp_path: Path) -> None:
    of = rough(tmp_path, noise="'log(r[0])*I'")
    for claim in (pieces, keeps, volume, symplectic, reversible.reversible):
        assert "r[0] > 0" in tried(claim(of)) or "not shown" in tried(claim(of))


def test_a_kink_that_jumps_leaves_pieces_open(tmp_path: Path) -> None:
    of = rough(tmp_path, noise="'(2 + sign(theta[0]))*I'")
    for claim in (pieces, volume):
        assert "not shown" in tried(claim(of))


def test_a_kink_leaves_the_order_open(tmp_path: Path) -> None:
    assert "is smooth" in tried(word_order(rough(tmp_path, energy="norm2(r)/2 + abs(r[0])")))
    dynamics = load_dynamics(tmp_path / "rough.yaml")
    assert "is smooth" in tried(euler_order(subject_of(dynamics), Scheme("euler")))


def test_a_relativistic_kinetic_energy_is_even(tmp_path: Path) -> None:
    of = rough(tmp_path, energy="c*sqrt(norm2(r) + 1)")
    assert said(reversible.reversible(of)) == "A, B under r -> -r; not O"
    assert said(symplectic(of)) == "A, B; not O"


def test_where_no_flip_is_known_it_stays_open(tmp_path: Path) -> None:
    assert "no flip" in tried(reversible.reversible(rough(tmp_path, energy="norm2(r)/2 + sum(r)**3/9 + sum(r**4)")))


def test_a_fault_in_the_derived_pieces_is_found() -> None:
    """Drifts that the index calculus has twice and not at all, and add up: the second engine derives its own."""
    of = split("sghmc")
    c = of.derivation.calculus
    A, B, noisy = of.pieces
    wrong = replace(A, drift=tuple(c.scale(f, 2) for f in A.drift))
    less = replace(noisy, drift=tuple(c.subtract(f, own) for f, own in zip(noisy.drift, A.drift, strict=True)))
    assert "the engines disagree on f of A" in tried(pieces(replace(of, pieces=(wrong, B, less))))


def test_a_fault_in_the_divergence_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "divergence_of", lambda *_: Tensor((), ()))
    assert "A: the engines disagree on div f of A" in tried(volume(split("gsgrhmc")))
    monkeypatch.setattr(kept, "divergence_of", lambda c, *_: c.constant(1))
    assert "div f of A does not reduce to zero" in tried(volume(split("sghmc")))


def test_a_fault_in_parity_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    turned = reversible.reflected_vector

    def wrong(c, blocks, f, centres):
        found = turned(c, blocks, f, centres)
        return None if found is None else tuple(c.scale(x, -1) for x in found)

    monkeypatch.setattr(reversible, "reflected_vector", wrong)
    assert "does not reduce to zero" in tried(reversible.reversible(split("sghmc")))
    monkeypatch.setattr(reversible, "reflected_vector", lambda c, blocks, f, centres: tuple(c.scale(x, -1) for x in f))
    kinetic = split("sgnht", THERMOSTAT)
    only_r = reversible.flip(kinetic.derivation.calculus, {"r": reversible.flip_of(kinetic).centres["r"]})
    piece = next(piece for piece in kinetic.pieces if piece.name == "xi")
    assert "the engines disagree on what is even in f[xi]" in tried(reversible.runs_back(kinetic, piece, only_r))


def test_a_fault_in_the_series_of_a_word_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(of: Word, longest: int) -> dict:
        return {k: Fraction(1, factorial(len(k))) for k in series(of, longest)}

    monkeypatch.setattr(words, "series", wrong)
    assert "the engines disagree on the coefficient of" in tried(word_order(split("sghmc")))


@pytest.mark.parametrize("text", [HALVES, THERMOSTAT, "B A O", "A/6 B/3 A/2 2*B/3 A/3", "O/2 A -B 2*B O/2", "A"])
def test_coefficients_by_matrices_are_those_of_the_series(text: str) -> None:
    found, of = series(word(text), 4), [(x.piece, x.share) for x in letters(word(text))]
    names = sorted({name for name, _ in of})
    for length in range(5):
        for one in product(names, repeat=length):
            assert coefficient(of, one) == found.get(one, 0)


@pytest.mark.parametrize(
    ("name", "text", "by"),
    [
        ("sghmc", HALVES, "weak order 2, and no more for general U and values"),
        ("sghmc", "A/2 B/2 O B/2 A/2", "weak order 2, and no more for general U and values"),
        ("sghmc", "B A O", "weak order 1, and no more for general U and values"),
        ("sghmc", "B/2 A/2 O B/2 A/2", "weak order 1, and no more for general U and values"),
        ("sghmc", "B/2 A/2 O A/2", "weak order 0: the pieces do not make the equation"),
        ("sgnht", THERMOSTAT, "weak order 2, and no more for general U and values"),
        ("hmc", "B/2 A B/2", "weak order 2, and no more for general U and values"),
        ("generalised_langevin", HALVES, "weak order 2, and no more for general U and values"),
        ("gsgrhmc", HALVES, "weak order 2, and no more for general U and values"),
        ("sgld", "O", "weak order 4 at least, by its letters"),
    ],
)
def test_a_word_has_this_order(name: str, text: str, by: str) -> None:
    assert said(word_order(split(name, text))) == by


def test_pieces_that_commute_hide_what_is_wrong_in_a_word(tmp_path: Path) -> None:
    """Without a potential to kick, A and O of separate blocks: no function is off, and the order is a lower bound."""
    path = tmp_path / "apart.yaml"
    path.write_text(
        "format: 1\nname: apart\nstate:\n  x: {shape: d}\n  y: {shape: d}\nH: norm2(x)/2 + norm2(y)/2\n"
        "D: [[I, 0], [0, I]]\nQ: [[0, 0], [0, 0]]\n",
        encoding="utf-8",
    )
    of = (("X", (Selection(D=(("x", "x"),)),)), ("Y", (Selection(D=(("y", "y"),)),)))
    found = word_order(split_of(subject_of(load_dynamics(path)), Scheme("split", word("X Y"), of)))
    assert said(found) == "weak order 1 at least, by its letters"


@pytest.mark.parametrize("name", ["sghmc", "sgnht", "sgld", "gsgrhmc"])
@pytest.mark.parametrize("scheme", ["euler", "sequential_euler"])
def test_eulers_steps_have_order_one_and_no_more(name: str, scheme: str) -> None:
    dynamics = load_dynamics(DYNAMICS / f"{name}.yaml")
    blocks = [block.name for block in dynamics.declarations.blocks]
    order_ = ("r", *(b for b in blocks if b != "r")) if "r" in blocks else tuple(blocks)
    found = euler_order(subject_of(dynamics), Scheme(scheme, order=order_ if scheme == "sequential_euler" else ()))
    assert said(found) == "weak order 1, and no more for general U and values"
    assert isinstance(found.decision, Proved)
    assert "eps^2 at d = 1" in dict(found.decision.data)["beyond"]


EXCEPTIONAL = """
format: 1
name: exceptional
dynamics: DYNAMICS
target: TARGET
scheme: SCHEME
variant: full
run: {step_size: 0.1}
"""
LANGEVIN = """
bind: {M: m*I, C: c*I}
parameters:
  m: {is: positive, value: 2}
  c: {is: nonnegative, value: VALUE}
sizes: {d: 1}
"""
CONSTANT_FORCE = """
format: 1
name: exponential
state:
  theta: {shape: 2, domain: positive}
potential: 2*theta[0] + 3*theta[1]
"""
ON_POSITIVE = """
format: 1
name: sgld_positive
state:
  theta: {shape: d, domain: positive}
functions:
  U: {of: theta, role: potential}
H: U(theta)
D: [[I]]
Q: [[0]]
"""


@pytest.mark.parametrize(
    ("c", "by"), [("0", "weak order 1, and no more for general U and values"), ("1", "weak order 1, and no more")]
)
def test_a_word_whose_order_a_value_raises_is_not_said_to_have_no_more(tmp_path: Path, c: str, by: str) -> None:
    """[O, B/2, A, B/2] is of order 1; without friction it is a leapfrog, of order 2."""
    stated = EXCEPTIONAL.replace("DYNAMICS", str(DYNAMICS / "sghmc.yaml")).replace(
        "SCHEME", "{split: [O, B/2, A, B/2]}"
    )
    path = tmp_path / "build.yaml"
    path.write_text(
        stated.replace("TARGET", str(ROOT / "specs/targets/double_well.yaml")) + LANGEVIN.replace("VALUE", c)
    )
    assert said(of_build(path)) == by


@pytest.mark.parametrize(
    ("more", "by"),
    [("", "weak order 1, and no more for general U and values"), (" + theta[0]**2", "weak order 1, and no more")],
)
def test_a_step_that_is_exact_for_a_constant_force_is_not_said_to_have_no_more(
    tmp_path: Path, more: str, by: str
) -> None:
    """theta' = theta - eps grad U + N(0, 2 eps) is the law of the equation where grad U is constant."""
    (tmp_path / "dynamics.yaml").write_text(ON_POSITIVE)
    (tmp_path / "target.yaml").write_text(CONSTANT_FORCE.rstrip() + more + "\n")
    path = tmp_path / "build.yaml"
    stated = EXCEPTIONAL.replace("DYNAMICS", "dynamics.yaml").replace("TARGET", "target.yaml")
    path.write_text(stated.replace("SCHEME", "{name: euler}") + "sizes: {d: 2}\n")
    found = of_build(path)
    assert said(found) == by
    assert isinstance(found.decision, Proved)
    assert ("U(theta) =" in dict(found.decision.data)["beyond"]) is (not more)


def of_build(path: Path) -> Answer:
    build = load_build(path)
    return order_in(Stages(build, bind(build)))


def test_what_the_mean_of_an_euler_step_lacks_is_computed_right() -> None:
    """H = U(theta) + r**2/2, C = M = 1: E[theta'] of Euler has no eps**2, the equation (-U' - r)/2 of it."""
    found = euler_order(subject_of(load_dynamics(DYNAMICS / "sghmc.yaml")), Scheme("euler"))
    assert isinstance(found.decision, Proved)
    told = dict(found.decision.data)["beyond"]
    M, C, theta, r = (Fraction(re.search(rf"{name} = \[+(-?[0-9/]+)", told)[1]) for name in ("M", "C", "theta", "r"))
    assert "U(theta) = theta[0]**2/2" in told
    assert f"off by {(theta / M + C * r / M**2) / 2} eps^2" in told


def test_a_flow_is_shown_by_what_it_solves() -> None:
    """Ornstein-Uhlenbeck: with the covariance of twice the time the equation of the covariance is off, and no other."""
    eps, x, a = sp.symbols("eps x a", positive=True)
    f, D = (-a * x,), ((sp.Integer(1),),)

    def law(time: sp.Expr) -> flows.StepLaw:
        return flows.StepLaw(eps, (x,), (x * sp.exp(-a * eps),), (((1 - sp.exp(-2 * a * time)) / a,),))

    for time, right in ((eps, True), (2 * eps, False)):
        found = [
            list(flows.drifts(law(time), 1, f)),
            list(flows.spreads(law(time), 1, f, D)),
            list(flows.starts(law(time))),
        ]
        zero = [all(sp.simplify(e) == 0 for e in entries) for entries in found]
        assert zero == [True, right, True]
    assert [sp.simplify(e) for e in flows.frozen(law(eps), (-x * x,), D)] == [-2, 0]


@pytest.mark.slow
def test_the_flow_of_a_transform_is_shown_by_what_it_solves() -> None:
    """Exponential Ornstein-Uhlenbeck: log x is normal; without Ito's term in the mean, its equation alone is off."""
    eps, x, a, v = sp.symbols("eps x a v", positive=True)
    f, D = (-a * x * sp.log(x) + a * v * x,), ((a * v * x**2,),)
    e = sp.exp(-a * eps)

    def law(more: sp.Expr) -> flows.StepLaw:
        return flows.StepLaw(eps, (x,), (sp.log(x) * e + more * (1 - e),), ((v * (1 - e**2),),), (sp.log(x),))

    for more, right in ((sp.Integer(0), True), (v, False)):
        of = flows.of_law(law(more), f, D)
        found = [
            list(flows.frozen(law(more), *of)),
            list(flows.starts(law(more))),
            list(flows.drifts(law(more), 1, of[0])),
            list(flows.spreads(law(more), 1, *of)),
        ]
        assert [all(sp.simplify(e) == 0 for e in entries) for entries in found] == [True, True, right, True]


def test_what_stays_inside_is_not_asked_to() -> None:
    """log x is moved, so x stays positive; a step of Euler's of the same equation may leave."""
    own = subject_of(load_dynamics(DYNAMICS / "exponential_ou.yaml"))
    whole = Scheme("split", word("X"), (("X", (Selection(D=None),)),))
    for found, asked in ((word_order(split_of(own, whole)), False), (euler_order(own, Scheme("euler")), True)):
        assert isinstance(found.decision, Proved)
        assert ("steps stay inside the domain" in found.decision.given) is asked
        assert ("drifts and noise grow like powers of x and 1/x" in found.decision.given) is not asked


def test_a_function_of_what_moves_is_not_put_in() -> None:
    x, eps = sp.symbols("x eps")
    with pytest.raises(flows.NotPutError):
        flows.at(sp.Function("U")(x), (x,), (x + eps,))
    with pytest.raises(second.NotReflectedError):
        second.reflected(sp.Function("U")(x), {x: sp.Integer(0)})


@pytest.mark.parametrize(
    ("scheme", "problem"),
    [
        ("{split: [B/2, A, X, B/2, O]}", "found the letter X"),
        ("{name: baoab, flows: {X: midpoint}}", "found a flow of X, expected one of the pieces"),
    ],
)
def test_what_names_no_piece_is_a_fault_of_the_document(tmp_path: Path, scheme: str, problem: str) -> None:
    text = (ROOT / "specs/builds/sghmc_double_well_baoab.yaml").read_text(encoding="utf-8")
    path = tmp_path / "build.yaml"
    path.write_text(text.replace("../", f"{ROOT}/specs/").replace("{name: baoab}", scheme), encoding="utf-8")
    with pytest.raises(DocumentError, match=problem) as raised:
        check(load_build(path))
    assert raised.value.faults[0].where.file == str(path)


@pytest.mark.slow
def test_a_build_of_minibatches_says_whose_order_it_is() -> None:
    found = report(ROOT / "specs/builds/sghmc_logistic.yaml")
    own = next(f for f in found.findings if f.id == "order")
    assert own.decision.verdict is Verdict.PROVED
    assert "gradients are those of all data" in own.decision.given
    assert not [f for f in found.findings if f.id in ("pieces", "flow", "keeps")]


def test_a_law_kept_by_one_piece_is_no_law_of_another() -> None:
    of = split("sghmc")
    found = {piece.name: keeps_law(of, piece).decision for piece in of.pieces}
    assert isinstance(found["O"], Proved)
    assert isinstance(found["A"], Refuted)


def test_palindromes_are_read_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(palindrome(split("sghmc"))) == "it is its own reverse"
    assert said(palindrome(split("sghmc", "B A O"))) == "it is not: letter 1 is B, letter 3 is O"
    monkeypatch.setattr(order, "first_asymmetry", lambda _: None)
    assert "disagree" in tried(palindrome(split("sghmc", "B A O")))


def test_pieces_of_which_nothing_is_said_are_named_apart() -> None:
    yes, no = Answer(Proved("shown")), Answer(Refuted("a point", (("x", "1"),)))
    unsaid = {"B": "midpoint"}
    assert said(which_pieces({"A": yes, "O": no}, unsaid=unsaid)) == "A; not O; nothing is said of B (midpoint)"
    assert said(which_pieces({"A": yes, "B": yes}, " under r -> -r")) == "A, B under r -> -r"
    assert said(which_pieces({"O": no})) == "none"
    assert tried(which_pieces({"A": yes, "O": Answer(Undecided(("no",)))})) == "O: no"


@pytest.mark.slow
def test_a_word_with_minibatches_is_moved_by_flows_but_for_their_noise() -> None:
    found = {f.id: f for f in report(ROOT / "specs/builds/sghmc_gaussian_mean_baoab.yaml").findings}
    for claim in ("flow", "order", "keeps", "volume", "symplectic", "reversible"):
        assert "gradients are those of all data" in found[claim].decision.given
    assert "gradients are those of all data" not in (
        *found["pieces"].decision.given,
        *found["palindrome"].decision.given,
    )


def test_a_block_with_a_boundary_is_not_flipped(tmp_path: Path) -> None:
    """F has to lead from the state space into it: r -> -r does not where r is positive."""
    rough(tmp_path)
    path = tmp_path / "rough.yaml"
    path.write_text(path.read_text().replace("r: {shape: d}", "r: {shape: d, domain: positive}"), encoding="utf-8")
    of = split(load_dynamics(path))
    assert "no flip" in tried(reversible.reversible(of))
    decision = word_order(of).decision
    assert isinstance(decision, Proved)
    assert "steps stay inside the domain" in decision.given


def test_a_piece_whose_current_may_leave_the_state_space_keeps_nothing(tmp_path: Path) -> None:
    """A constant drift keeps the law exp(-0) of a line by its residual, and carries it through an end."""
    path = tmp_path / "drift.yaml"
    path.write_text(
        "format: 1\nname: drift\nstate:\n  x: {shape: d}\n  y: {shape: d}\nH: norm2(x)/2 + norm2(y)/2\n"
        "D: [[I, 0], [0, I]]\nQ: [[0, exp(norm2(x))*I], [-exp(norm2(x))*I, 0]]\n",
        encoding="utf-8",
    )
    of = split_of(subject_of(load_dynamics(path)), Scheme("split", word("T"), (("T", (Selection(Q=None),)),)))
    assert "infinity" in tried(keeps(of))


def test_numerical_flows_keep_what_is_shown_of_them_and_no_more() -> None:
    """Generalised leapfrog of a whole RHMC: symplectic and reversible, of volume nothing is said; midpoint likewise."""
    whole = (("H", (Selection(Q=None),)),)
    of = split_of(
        subject_of(load_dynamics(DYNAMICS / "rhmc.yaml")),
        Scheme("split", word("H"), whole, flows=(("H", "generalised"),)),
    )
    assert said(symplectic(of)) == "H"
    assert said(volume(of)) == said(keeps(of)) == "none; nothing is said of H (generalised)"
    assert said(reversible.reversible(of)) == "H under r -> -r"
    dynamics = load_dynamics(DYNAMICS / "gsgrhmc.yaml")
    flows_ = (("A", "midpoint"), ("O", "midpoint"))
    of = split_of(subject_of(dynamics), Scheme("split", word(HALVES), flows=flows_))
    assert said(volume(of)) == "B; nothing is said of A (midpoint), O (midpoint)"
    assert said(word_order(of)) == "weak order 2 at least, by its letters and its flows"

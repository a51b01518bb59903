"""Claims about cycles of moves: what keeps exp(-H), by both engines, and what leaves it open."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from loaders import load_build, load_dynamics

from recipe_compiler.algebra.dynamics import balance
from recipe_compiler.derive.refresh import GaussianLaw, conditional_law
from recipe_compiler.report.check import check
from recipe_compiler.spec.model import Build, Metropolis, Move, Refresh, Scheme, Selection, Steps
from recipe_compiler.spec.words import Letter, Word, read_letter
from recipe_compiler.verdict import Answer, Finding, Proved, Refuted, Report, Undecided, Verdict
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.moves import refresh as refreshes
from recipe_compiler.verify.moves.cycle import cycle, exact
from recipe_compiler.verify.moves.irreducible import irreducible
from recipe_compiler.verify.moves.metropolis import metropolis
from recipe_compiler.verify.moves.refresh import law_given_others
from recipe_compiler.verify.moves.volume import volume_kept
from recipe_compiler.verify.steps.split import Split, split_of

ROOT = Path(__file__).parents[2]
LEAPFROG = "B/2 A B/2"
PATH = "B/2 A/2 O A/2 B/2"
FULL = Refresh("r")
PARTIAL = Refresh("r", Fraction(9, 10))
WHOLE = (("H", (Selection(Q=None),)),)
"""RHMC as one piece."""

BUILD = """
format: 1
name: moved
dynamics: {root}/specs/dynamics/{dynamics}.yaml
target: {root}/specs/targets/{target}.yaml
{values}
scheme: {scheme}
variant: full
run: {{step_size: 1/4, draws: 100, warmup: 10, chains: 2, seed: 1}}
"""
GAUSSIAN = "M: {value: [[2, 1/2], [1/2, 3/2]]}, mu: {value: [1, -2]}, Sigma: {value: [[2, 1/2], [1/2, 1]]}"
VALUES = {
    "double_well": "bind: {M: m*I}\nparameters: {m: {is: positive, value: 3/2}}\nsizes: {d: 1}",
    "gaussian": f"parameters: {{{GAUSSIAN}}}\nsizes: {{d: 2}}",
    "banana": "bind: {M: I}\nsizes: {d: 2}",
    "logistic_regression": f"""bind: {{M: I}}
sizes: {{d: 2}}
data: {{file: {ROOT}/specs/data/breast_cancer.csv, x: [mean_radius, mean_texture], y: diagnosis, standardise: [x]}}""",
}
HMC = "{cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: STEPS, flip: {r: -r}}}]}"


def word(text: str) -> Word:
    found = [read_letter(item) for item in text.split()]
    return tuple(letter for letter in found if isinstance(letter, Letter))


def write(tmp_path: Path, target: str, scheme: str, dynamics: str = "hmc", values: str = "") -> Path:
    path = tmp_path / "moved.yaml"
    text = BUILD.format(root=ROOT, dynamics=dynamics, target=target, values=values or VALUES[target], scheme=scheme)
    path.write_text(text, encoding="utf-8")
    return path


def finding(found: Report, claim: str) -> Finding:
    return next(f for f in found.findings if f.id == claim)


def verdicts(found: Report) -> dict[str, Verdict]:
    return {f.id: f.verdict for f in found.findings}


@pytest.fixture(scope="module")
def any_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return a build beside which cycles over abstract dynamics are decided."""
    return load_build(write(tmp_path_factory.mktemp("any"), "gaussian", HMC.replace("STEPS", "1")))


def of(dynamics: str, text: str, *moves: Move, pieces=(), flows=()) -> Split:
    own = load_dynamics(ROOT / f"specs/dynamics/{dynamics}.yaml")
    return split_of(subject_of(own), Scheme("cycle", word(text), pieces, flows, cycle=moves))


def stages(build: Build, split: Split) -> Stages:
    return Stages(replace(build, scheme=split.scheme), build.dynamics)


def said(answer: Answer) -> str:
    assert isinstance(answer.decision, Proved), answer.decision
    return answer.decision.by


def tried(answer: Answer) -> str:
    assert isinstance(answer.decision, Undecided), answer.decision
    return "; ".join(answer.decision.tried)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "steps", "reached"),
    [
        ("double_well", "1", True),
        ("gaussian", "10", False),
        ("gaussian", '"uniform(1, 16)"', True),
        ("banana", "1", True),
        ("logistic_regression", '"uniform(1, 16)"', True),
    ],
)
def test_hamiltonian_monte_carlo_is_exact(tmp_path: Path, target: str, steps: str, reached: bool) -> None:
    found = check(load_build(write(tmp_path, target, HMC.replace("STEPS", steps))))
    known = verdicts(found)
    assert {known[claim] for claim in ("refresh", "metropolis", "cycle", "exact")} == {Verdict.PROVED}
    assert known["irreducible"] is (Verdict.PROVED if reached else Verdict.UNDECIDED)
    assert found.verdict is Verdict.PROVED
    assert not found.explanations


@pytest.mark.slow
def test_what_is_about_equations_alone_is_not_asked_of_a_cycle(tmp_path: Path) -> None:
    """HMC's equation keeps many laws; a cycle with its word keeps one."""
    known = verdicts(check(load_build(write(tmp_path, "double_well", HMC.replace("STEPS", "3")))))
    assert known.keys().isdisjoint({"unique", "explosion", "boundary", "configurational"})
    steps = "{cycle: [{refresh: r}, {split: [B/2, A, B/2], steps: 3}]}"
    known = verdicts(check(load_build(write(tmp_path, "double_well", steps))))
    assert "explosion" in known
    assert known.keys().isdisjoint({"unique", "configurational"})


@pytest.mark.slow
def test_the_order_of_a_cycle_is_that_of_its_word(tmp_path: Path) -> None:
    decision = finding(check(load_build(write(tmp_path, "gaussian", HMC.replace("STEPS", "3")))), "order").decision
    assert isinstance(decision, Proved)
    assert decision.by == "weak order 2, and no more"
    assert decision.remarks == ("it is that of the word, which a move of the cycle repeats",)


@pytest.mark.slow
def test_steps_as_they_come_are_not_exact(tmp_path: Path) -> None:
    found = check(load_build(write(tmp_path, "gaussian", "{cycle: [{refresh: r}, {split: [B/2, A, B/2], steps: 3}]}")))
    assert found.verdict is Verdict.PROVED
    assert finding(found, "cycle").how == "move 1, refresh of r; move 2, steps, as eps goes to 0"
    decision = finding(found, "exact").decision
    assert isinstance(decision, Undecided)
    assert "A, B does not keep exp(-H) by itself" in "; ".join(decision.tried)


@pytest.mark.parametrize(
    ("name", "text", "moves", "pieces", "flows", "expected"),
    [
        ("hmc", LEAPFROG, (PARTIAL, Metropolis((3, 3), ("r",))), (), (), "run backwards under r -> -r"),
        ("hmc", "A/2 B A/2", (FULL, Metropolis((1, 1), ("r",))), (), (), "run backwards under r -> -r"),
        ("sghmc", PATH, (Metropolis((4, 4), ("r",)),), (), (), "O in detailed balance"),
        ("sghmc", PATH, (Metropolis((4, 4), ("r",)),), (), (("O", "midpoint"),), "O in detailed balance"),
        ("generalised_langevin", PATH, (Metropolis((1, 1), ("r",)),), (), (), "O in detailed balance"),
        ("rhmc", "H", (FULL, Metropolis((8, 8), ("r",))), WHOLE, (("H", "generalised"),), "under r -> -r"),
    ],
)  # fmt: skip
def test_moves_of_shipped_dynamics_keep_exp_minus_H(
    any_build: Build, name: str, text: str, moves, pieces, flows, expected: str
) -> None:
    """With full M, C, K and metrics, for every size, by both engines."""
    split = of(name, text, *moves, pieces=pieces, flows=flows)
    found = metropolis(split, stages(any_build, split))
    assert expected in said(found)
    assert isinstance(found.decision, Proved)
    assert {sizes for at in found.checked_at for _, sizes in at} == {1, 2, 3}
    implicit = [fact for fact in found.decision.given if fact.startswith("implicit equations")]
    assert bool(implicit) is bool(flows)
    assert all("index calculus" in how or how == "letters and shares" or "symplectic" in how or "balance" in how
               for _, how in found.decision.data)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "moves", "open_"),
    [
        ("hmc", (FULL, Metropolis()), ""),
        ("hmc", (Metropolis(), FULL), ""),
        ("hmc", (PARTIAL, Metropolis()), "the refresh of r keeps 9/10 of it"),
        ("hmc", (FULL, PARTIAL, Metropolis()), ""),
        ("hmc", (PARTIAL, FULL, Metropolis()), "the refresh of r keeps 9/10 of it"),
        ("hmc", (Metropolis(),), "r is not drawn wholly anew before `"),
        ("hmc", (replace(FULL, every=2), Metropolis()), "r is not drawn wholly anew before `"),
        ("hmc", (FULL, replace(PARTIAL, every=3), Metropolis()), ""),
        ("hmc", (replace(PARTIAL, every=3), FULL, replace(PARTIAL, every=2), Metropolis()), "keeps 9/10 of it"),
        ("hmc", (FULL, replace(FULL, every=7), Metropolis()), ""),
        ("hmc", (replace(PARTIAL, every=5), Metropolis()), "r is not drawn wholly anew before `"),
        ("hmc", (FULL, Metropolis(flip=("theta",))), "theta is not drawn wholly anew before `"),
        ("hmc", (FULL, Metropolis(every=5)), ""),
        ("hmc", (replace(FULL, every=2), Metropolis(every=3)), ""),
        ("hmc", (replace(FULL, every=3), Metropolis(every=2)), "r is not drawn wholly anew before `"),
        ("hmc", (PARTIAL, Metropolis(every=2)), "the refresh of r keeps 9/10 of it"),
    ],
)  # fmt: skip
def test_a_flip_may_be_left_out_only_of_what_is_drawn_anew_before_it_is_read(
    any_build: Build, name: str, moves, open_: str
) -> None:
    split = of(name, LEAPFROG, *moves)
    found = metropolis(split, stages(any_build, split)).decision
    if not open_:
        assert isinstance(found, Proved)
        assert "r is drawn anew before it is read" in found.by
        assert "not where a refused move has left it" in found.remarks[0]
        return
    if any(isinstance(move, Refresh) and not move.kept for move in moves):
        assert isinstance(found, Undecided)
        assert open_ in found.tried[0]
        assert "open whether r, drawn wholly anew, mends it" in found.tried[-1]
    else:
        assert isinstance(found, Refuted)
        assert open_ in found.by


COUPLED = """
format: 1
name: coupled
state: {theta: {shape: d}, w: {shape: scalar}, r: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + w**2/2 + (1 + w**2)*norm2(r)/2
D: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
Q: [[0, 0, -I], [0, 0, 0], [I, 0, 0]]
"""


@pytest.mark.parametrize("order", ["r w", "w r"])
def test_a_law_that_another_block_is_drawn_from_does_not_read_its_sign(
    tmp_path: Path, any_build: Build, order: str
) -> None:
    """r ~ N(0, I/(1 + w**2)) given w, and w ~ N(0, 1/(1 + r.r)) given r: H is even in both."""
    path = tmp_path / "coupled.yaml"
    path.write_text(COUPLED, encoding="utf-8")
    moves = (Metropolis(), *(Refresh(name) for name in order.split()))
    split = split_of(subject_of(load_dynamics(path)), Scheme("cycle", word(LEAPFROG), cycle=moves))
    assert said(law_given_others(split, "r")) == "r ~ N(0, I/(w**2 + 1)) given theta, w"
    assert said(law_given_others(split, "w")) == "w ~ N(0, 1/(r.T @ r + 1)) given theta, r"
    assert "r is drawn anew before it is read" in said(metropolis(split, stages(any_build, split)))
    alone = split_of(subject_of(load_dynamics(path)), Scheme("cycle", word(LEAPFROG), cycle=(Metropolis(), moves[-1])))
    found = metropolis(alone, stages(any_build, alone)).decision
    assert isinstance(found, Proved if order == "w r" else Undecided)


SOME = """
format: 1
name: some
state: {theta: {shape: d}, r: {shape: SHAPE}}
parameters: {C: {shape: [SHAPE, SHAPE], is: positive semidefinite}, S: {shape: [SHAPE, SHAPE], is: skew}}
functions: {U: {of: theta, role: potential}, c: {of: theta}}
H: U(theta) + ENERGY
D: [[0, 0], [0, 0]]
Q: [[0, 0], [0, c(theta)*S]]
"""


def some(tmp_path: Path, energy: str = "norm2(r)/2", shape: str = "d", flows=()) -> Split:
    path = tmp_path / "some.yaml"
    path.write_text(SOME.replace("ENERGY", energy).replace("SHAPE", shape), encoding="utf-8")
    pieces = (("T", (Selection(Q=None),)),)
    return split_of(subject_of(load_dynamics(path)), Scheme("cycle", word("T"), pieces, flows, cycle=(FULL,)))


def test_a_midpoint_keeps_volume_in_the_plane_and_is_open_beyond(tmp_path: Path) -> None:
    """f = -c(theta) S r has div f = 0 for every size."""
    flows = (("T", "midpoint"),)
    plane, more = some(tmp_path, shape="2", flows=flows), some(tmp_path, flows=flows)
    assert "index calculus" in said(volume_kept(plane, plane.pieces[0]))
    assert "it is not shown that Q is invertible" in tried(volume_kept(more, more.pieces[0]))
    own = some(tmp_path)
    assert "index calculus" in said(volume_kept(own, own.pieces[0]))


def test_the_midpoint_of_a_field_in_space_does_not_keep_volume() -> None:
    """tr A = 0: det(1 + t A/2) - det(1 - t A/2) = t**3 det(A)/4, as the theory says."""
    t, a, b, c = Fraction(1, 2), Fraction(1), Fraction(2), Fraction(-3)
    there, back = ((1 + s * a) * (1 + s * b) * (1 + s * c) for s in (t / 2, -t / 2))
    assert there - back == t**3 * a * b * c / 4 != 0


@pytest.mark.parametrize(
    ("energy", "why"),
    [
        ("norm2(r)**2/2", "exact witness"),
        ("norm2(r)/2 + sum(r)", "exact witness"),
        ("(norm2(r) - 2*r[0]**2)/2", "the precision of r is not positive definite"),
    ],
)
def test_what_is_no_centred_gaussian_is_refuted_as_a_law(tmp_path: Path, energy: str, why: str) -> None:
    found = law_given_others(some(tmp_path, energy), "r").decision
    assert isinstance(found, Refuted)
    assert why in found.by


def test_a_precision_that_may_be_singular_is_no_law(tmp_path: Path) -> None:
    """C is positive semidefinite as declared."""
    why = tried(law_given_others(some(tmp_path, "r.T @ C @ r / 2"), "r"))
    assert why == "the precision of r is not shown to be positive definite"


@pytest.mark.parametrize("energy", ["sum(abs(r))", "sum(where(r > 0, r, 2*r)**2)/2"])
def test_a_kinked_energy_is_no_law(tmp_path: Path, energy: str) -> None:
    assert not isinstance(law_given_others(some(tmp_path, energy), "r").decision, Proved)


def test_no_law_is_looked_for_of_the_potentials_block() -> None:
    assert "theta is what U is a function of" in tried(law_given_others(of("hmc", LEAPFROG, Refresh("theta")), "theta"))


def test_a_wrong_covariance_is_found_by_the_second_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The index calculus gives what is drawn from: N(0, 2 S) for N(0, S) is not proved."""

    def wrong(derivation, block: str) -> GaussianLaw | None:
        law, c = conditional_law(derivation, block), derivation.calculus
        return None if law is None else replace(law, covariance=c.scale(law.covariance, 2))

    monkeypatch.setattr(refreshes, "conditional_law", wrong)
    assert "the engines disagree on P S - I of r" in tried(law_given_others(of("hmc", LEAPFROG, FULL), "r"))


def test_a_piece_in_detailed_balance_by_one_engine_alone_is_open(
    any_build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second engine that loses the noise of O finds a current."""
    monkeypatch.setattr(
        "recipe_compiler.verify.moves.detailed_balance.correction", lambda D, z: tuple(1 + x - x for x in z)
    )
    split = of("sghmc", PATH, Metropolis((1, 1), ("r",)))
    assert "the engines disagree on the current of O" in tried(metropolis(split, stages(any_build, split)))


def U(x: Fraction) -> Fraction:
    return x**4 - 2 * x**2


def leapfrog(x: Fraction, r: Fraction, eps: Fraction) -> balance.State:
    r -= eps / 2 * (4 * x**3 - 4 * x)
    x += eps * r
    return x, r - eps / 2 * (4 * x**3 - 4 * x)


@pytest.mark.parametrize("x", [Fraction(1, 2), Fraction(1), Fraction(3, 2)])
@pytest.mark.parametrize("r", [Fraction(-1), Fraction(1, 4), Fraction(1)])
def test_a_metropolis_move_without_its_flip_is_refuted(x: Fraction, r: Fraction) -> None:
    """On the double well, eps = 1/2: nothing is left with the flip at nine points, 0.94 without it at (3/2, -1)."""

    def H(z: balance.State) -> Fraction:
        return U(z[0]) + z[1] ** 2 / 2

    eps = Fraction(1, 2)
    before = leapfrog(x, r, -eps)
    turned = (x, -r)
    assert not balance.departure(H, (x, r), turned, [(before, leapfrog(*turned, eps))])
    left = balance.departure(H, (x, r), (x, r), [(before, leapfrog(x, r, eps))])
    if (x, r) == (Fraction(3, 2), Fraction(-1)):
        assert f"{float(balance.value(left, H((x, r))).mid()):.2f}" == "0.94"


@pytest.mark.slow
def test_what_leaves_the_number_of_states_open_is_named(any_build: Build) -> None:
    for name, text, moves, why in (
        ("hmc", LEAPFROG, (FULL, Metropolis((2, 2), ("r",))), "trajectories may close"),
        ("hmc", LEAPFROG, (replace(FULL, every=2), Metropolis((1, 1), ("r",))), "less often than a word is done"),
        ("hmc", LEAPFROG, (replace(FULL, every=2), Metropolis((1, 20), ("r",))), "less often than a word is done"),
        ("hmc", LEAPFROG, (replace(FULL, every=4), Metropolis((1, 1), ("r",), 2)), "less often than a word is done"),
        ("hmc", LEAPFROG, (FULL, Steps(1)), "a word that is accepted or refused"),
        ("hmc", LEAPFROG, (Metropolis((1, 1), ("r",)),), "r is not drawn wholly anew before `"),
        ("hmc", "A/2 B A/2", (FULL, Metropolis((1, 1), ("r",))), "one letter that moves theta"),
        ("sghmc", PATH, (FULL, Metropolis((1, 1), ("r",))), "one letter that moves theta"),
        ("sghmc", "O/2 B/2 A B/2 O/2", (FULL, Metropolis((1, 1), ("r",))), "a word without noise"),
        ("rhmc", LEAPFROG, (FULL, Metropolis((1, 1), ("r",))), "theta, and theta alone"),
        ("sgnht", LEAPFROG, (FULL, Metropolis((1, 1), ("r",))), "a position and a momentum"),
    ):
        split = of(name, text, *moves)
        assert why in "; ".join(irreducible(split, stages(any_build, split)).decision.tried), (name, text)


def test_minibatches_and_code_leave_a_metropolis_move_open(any_build: Build) -> None:
    split = of("hmc", LEAPFROG, FULL, Metropolis((1, 1), ("r",)))
    small = replace(any_build, variant="minibatch")
    assert "H of all data" in tried(metropolis(split, stages(small, split)))


def test_a_boundary_that_a_move_may_cross_leaves_it_open(tmp_path: Path, any_build: Build) -> None:
    path = tmp_path / "half.yaml"
    text = (ROOT / "specs/dynamics/hmc.yaml").read_text(encoding="utf-8")
    path.write_text(text.replace("theta: {shape: d}", "theta: {shape: d, domain: positive}"), encoding="utf-8")
    scheme = Scheme("cycle", word(LEAPFROG), cycle=(FULL, Metropolis((1, 1), ("r",))))
    split = split_of(subject_of(load_dynamics(path)), scheme)
    assert "theta has a boundary" in tried(metropolis(split, stages(any_build, split)))


def test_the_thermostat_is_not_drawn_around_zero(any_build: Build) -> None:
    split = of("sgnht", "B/2 A/2 xi/2 O xi/2 A/2 B/2", FULL, Refresh("xi"), Steps(2))
    found = cycle(split, stages(any_build, split)).decision
    assert isinstance(found, Refuted)
    assert found.by == "move 2, refresh of xi, does not keep exp(-H)"
    assert not isinstance(exact(split, stages(any_build, split)).decision, Proved)

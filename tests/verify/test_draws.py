"""Draws of blocks of the target as moves of a cycle: Gibbs sampling is exact, what is not shown of a draw is named."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
import sympy
from loaders import load_build, load_dynamics, load_target

from recipe_compiler.program.by_datum import by_datum
from recipe_compiler.report.check import check
from recipe_compiler.run.observed import observed
from recipe_compiler.spec.laws import of_all_data
from recipe_compiler.spec.model import Build, Cir, Draw, Metropolis, Move, Refresh, Scheme, Steps, Target
from recipe_compiler.spec.words import Letter, Word, read_letter
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text as tensor_text
from recipe_compiler.tensor.terms import Index
from recipe_compiler.verdict import Answer, Finding, Proved, Refuted, Report, Undecided, Verdict
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.builds.transformed import law_is_kept
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.moves import cir as cir_module
from recipe_compiler.verify.moves.cir import cir, flow_keeps, residuals
from recipe_compiler.verify.moves.cycle import cycle
from recipe_compiler.verify.moves.draw import draw, drawn_from_law
from recipe_compiler.verify.moves.irreducible import draws_in_a_row, irreducible
from recipe_compiler.verify.moves.metropolis import metropolis
from recipe_compiler.verify.steps.split import Split, split_of

ROOT = Path(__file__).parents[2]
BUILD = """
format: 1
name: drawn
dynamics: {dynamics}
target: {target}
{values}
scheme: {{cycle: [{moves}]}}
variant: full
run: {{step_size: 1/4, draws: 100, warmup: 10, chains: 2, seed: 1}}
"""
NORMAL = ("normal_mean_precision", f"sizes: {{d: 2}}\ndata: {{file: {ROOT}/specs/data/normal_sample.csv, y: y}}")
REGRESSION = (
    "regression_precision",
    f"sizes: {{d: 4}}\ndata: {{file: {ROOT}/specs/data/linear_regression.csv, x: [a, b, c], y: y}}",
)
MASS = "parameters: {M: {value: [[2, 1/2], [1/2, 3/2]]}}\n"
LEAP = "metropolis: {split: [B/2, A, B/2], flip: {r: -r}}"
BENT = """
name: bent
state: {theta: {shape: d}, r: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r/2 + ENERGY
D: [[0, 0], [0, 0]]
Q: [[0, -I], [I, 0]]
"""
BOUNDED = """
name: bounded
state:
  mu: {}
  tau: {shape: k, domain: positive, transform: log}
  share: {shape: k, domain: "interval(-1, 3)", transform: logit}
data: {y: {shape: N}}
log_prior: -mu**2/2 - sum(tau) + sum(log(share + ones)) - mu*sum(share*tau)**2
log_likelihood: log(sum(tau))/2 - sum(tau)*(y - mu)**2/2
"""


def write(folder: Path, target: str, values: str, moves: str, dynamics: str = "still") -> Path:
    path = folder / "drawn.yaml"
    known = ROOT / f"specs/targets/{target}.yaml"
    where = known if known.exists() else folder / f"{target}.yaml"
    own = ROOT / f"specs/dynamics/{dynamics}.yaml"
    text = BUILD.format(dynamics=own, target=where, values=values, moves=moves)
    path.write_text(text, encoding="utf-8")
    return path


def verdicts(found: Report) -> dict[str, Verdict]:
    return {one.id: one.verdict for one in found.findings}


def finding(found: Report, claim: str) -> Finding:
    return next(one for one in found.findings if one.id == claim)


def tried(answer: Answer) -> str:
    assert isinstance(answer.decision, Undecided), answer.decision
    return "; ".join(answer.decision.tried)


def word(text: str) -> Word:
    return tuple(letter for letter in map(read_letter, text.split()) if isinstance(letter, Letter))


def of(dynamics: str, text: str, *moves: Move) -> Split:
    own = load_dynamics(ROOT / f"specs/dynamics/{dynamics}.yaml")
    return split_of(subject_of(own), Scheme("cycle", word(text), cycle=moves))


def stages(build: Build, split: Split) -> Stages:
    return Stages(replace(build, scheme=split.scheme, dynamics=split.subject.dynamics), split.subject.dynamics)


@pytest.fixture(scope="module")
def normal(tmp_path_factory: pytest.TempPathFactory) -> Build:
    return load_build(write(tmp_path_factory.mktemp("normal"), *NORMAL, "draw: mu, draw: tau"))


# what is right


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "moves"),
    [
        (NORMAL, "draw: mu, draw: tau"),
        (NORMAL, "draw: tau, draw: mu, draw: tau"),
        (REGRESSION, "draw: beta, draw: tau"),
        (REGRESSION, "draw: tau, draw: beta"),
    ],
)
def test_gibbs_sampling_is_exact_for_every_number_of_data(tmp_path: Path, model: tuple[str, str], moves: str) -> None:
    found = check(load_build(write(tmp_path, *model, moves)))
    known = verdicts(found)
    assert {known[claim] for claim in ("laws", "draw", "cycle", "exact", "irreducible", "normalisable")} == {
        Verdict.PROVED
    }
    assert found.verdict is Verdict.PROVED
    assert all(finding(found, claim).seconds < 1 for claim in ("laws", "draw"))
    assert finding(found, "draw").for_d == "all"
    assert known.keys().isdisjoint({"unique", "explosion", "pieces", "order", "metropolis", "refresh"})


@pytest.mark.slow
@pytest.mark.parametrize(
    "moves",
    [
        f"draw: tau, refresh: r, {LEAP}",
        f"refresh: r, draw: tau, {LEAP}",
        f"refresh: r, {LEAP}, draw: tau, draw: mu",
        "refresh: r, metropolis: {split: [B/2, A, B/2]}, draw: tau",
    ],
)
def test_a_draw_beside_hamiltonian_moves_is_exact(tmp_path: Path, moves: str) -> None:
    """The last is not turned where it is refused; the draw of tau does not read r, which is drawn anew after it."""
    target, values = NORMAL
    found = check(load_build(write(tmp_path, target, MASS + values, moves, "hmc")))
    known = verdicts(found)
    assert {known[claim] for claim in ("draw", "refresh", "metropolis", "cycle", "exact", "irreducible")} == {
        Verdict.PROVED
    }
    assert found.verdict is Verdict.PROVED


@pytest.mark.slow
def test_steps_as_they_come_are_asked_what_equations_are(tmp_path: Path) -> None:
    target, values = NORMAL
    moves = "draw: tau, refresh: r, {split: [B/2, A, B/2], steps: 3}"
    known = verdicts(check(load_build(write(tmp_path, target, MASS + values, moves, "hmc"))))
    assert "explosion" in known
    assert known["draw"] is known["cycle"] is Verdict.PROVED
    assert known["exact"] is Verdict.UNDECIDED


def test_steps_of_order_1_beside_a_draw_are_open(tmp_path: Path) -> None:
    """Of theta**2/2 + tau**2/2 + 3/5 theta tau the covariance of [draw tau, B, A] grows without bound."""
    target, values = NORMAL
    moves = "draw: tau, {split: [B, A], steps: 1}"
    found = check(load_build(write(tmp_path, target, MASS + values, moves, "hmc")))
    assert verdicts(found)["cycle"] is Verdict.UNDECIDED
    decision = next(one for one in found.findings if one.id == "cycle").decision
    assert isinstance(decision, Undecided)
    assert "of weak order 1" in decision.tried[0]
    assert "move 1" in decision.tried[0]


@pytest.mark.slow
def test_every_block_of_the_target_has_to_be_moved(normal: Build) -> None:
    split = of("still", "", Draw("tau"))
    found = cycle(split, stages(normal, split)).decision
    assert isinstance(found, Refuted)
    assert found.by.startswith("no move moves mu: it stays where it began")
    split = of("hmc", "B/2 A B/2", Draw("mu"), Draw("tau"), Metropolis((1, 1), ("r",)))
    assert isinstance(cycle(split, stages(normal, split)).decision, Proved)
    split = of("hmc", "", Draw("mu"), Draw("tau"))
    found = cycle(split, stages(normal, split)).decision
    assert isinstance(found, Refuted)
    assert found.by.startswith("no move moves r:")


@pytest.mark.slow
def test_what_every_cycle_draws_reaches_every_state(normal: Build) -> None:
    for names, moves, drawn in (
        ("still", (Draw("mu"), Draw("tau")), True),
        ("still", (Draw("mu"),), False),
        ("still", (Draw("mu", every=2), Draw("tau", every=3)), True),
        ("still", (Draw("mu", every=7), Draw("mu")), False),
        ("hmc", (Draw("mu", every=2), Draw("tau"), Refresh("r"), Metropolis((7, 7), ("r",))), True),
        ("hmc", (Draw("mu", every=2), Refresh("r"), Metropolis((7, 7), ("r",)), Draw("tau", every=2)), False),
        ("hmc", (Draw("mu", every=2), Draw("tau", every=5), Refresh("r", every=3), Steps(2)), True),
        ("hmc", (Draw("mu"), Draw("tau")), False),
        ("hmc", (Draw("mu"), Refresh("r"), Draw("tau")), True),
        ("hmc", (Draw("mu"), Draw("tau"), Refresh("r"), Metropolis((7, 7), ("r",))), True),
        ("hmc", (Draw("mu"), Draw("tau"), Refresh("r"), Steps(2)), True),
    ):
        worded = any(isinstance(move, Metropolis | Steps) for move in moves)
        split = of(names, "B/2 A B/2" if worded else "", *moves)
        assert draws_in_a_row(split, normal) is drawn
        known = irreducible(split, stages(normal, split))
        assert isinstance(known.decision, Proved) is (drawn and not isinstance(moves[-1], Steps)), moves


# what is wrong, or open


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ("", ""),
        ("-sum(log(tau)) +", "g' dJ/dlog_tau - g''"),
        ("sum(log(tau)) +", "g' dJ/dlog_tau - g''"),
        ("-sum(log(ones + share)) - sum(log(3*ones - share)) +", "g' dJ/dlogit_share - g''"),
        ("sum(log(3*ones - share)) +", "g' dJ/dlogit_share - g''"),
        ("mu +", "dJ/dmu"),
    ],
)
def test_the_jacobian_of_a_transform_is_part_of_the_law(tmp_path: Path, more: str, left: str) -> None:
    """Left out, counted twice, by half, or beside something else: what is sampled is compared with what is declared."""
    targets: list[Target] = []
    for text in (BOUNDED, BOUNDED.replace("log_prior: ", f"log_prior: {more}")):
        (tmp_path / "bounded.yaml").write_text(text, encoding="utf-8")
        targets.append(load_target(tmp_path / "bounded.yaml"))
    own, bent = targets
    found = law_is_kept(replace(bent, declared=own.declared)).decision
    if not left:
        assert isinstance(found, Proved)
    else:
        assert isinstance(found, Refuted)
        assert left in dict(found.witness)


@pytest.mark.parametrize(
    ("energy", "refuted"),
    [
        ("norm2(theta)*norm2(r)", "d(H - U(theta))/dtau = "),
        ("theta[1]*norm2(r)", "d(H - U(theta))/dtau = "),
        ("theta[0]*norm2(r)", ""),
        ("U(theta)", ""),
    ],
)
def test_what_else_h_says_of_a_block_makes_its_law_another(
    tmp_path: Path, normal: Build, energy: str, refuted: str
) -> None:
    """Open where it is of another part of theta alone, or where it is as U is."""
    (tmp_path / "bent.yaml").write_text(BENT.replace("ENERGY", energy), encoding="utf-8")
    own = load_dynamics(tmp_path / "bent.yaml")
    split = split_of(subject_of(own), Scheme("cycle", cycle=(Draw("tau"),)))
    found = drawn_from_law(split, "tau", stages(normal, split))
    if refuted:
        assert isinstance(found.decision, Refuted)
        assert any(f"{name} = ".startswith(refuted) for name, _ in found.decision.witness)
    else:
        assert "H - U(theta) is free of theta" in tried(found)


def test_an_assumption_leaves_a_draw_open(tmp_path: Path, normal: Build) -> None:
    text = BENT.replace("ENERGY", "sum(r)") + "assume: ['theta[0] > 0']\n"
    (tmp_path / "bent.yaml").write_text(text, encoding="utf-8")
    split = split_of(subject_of(load_dynamics(tmp_path / "bent.yaml")), Scheme("cycle", cycle=(Draw("tau"),)))
    assert "an assumption restricts the state" in tried(drawn_from_law(split, "tau", stages(normal, split)))


GROUPS = Path(__file__).parents[1] / "mutants/moves/groups.yaml"


def by_slices(weights: str, left: str, tmp_path: Path) -> Build:
    """Return the build of data in groups whose rows are drawn by slices."""
    move = f"{{draw: z, slice: {weights}, left: {left}}}"
    values = f"sizes: {{K: 2}}\ndata: {{file: {ROOT}/specs/data/few_choices.csv, x: [one, other]}}"
    path = tmp_path / "sliced.yaml"
    dynamics = f"{ROOT}/specs/dynamics/still.yaml"
    text = BUILD.format(dynamics=dynamics, target=GROUPS, values=values, moves=f"draw: theta, {move}")
    path.write_text(text, encoding="utf-8")
    return load_build(path)


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["log(theta)", "-theta", "x - 2*ones @ theta.T", "0*theta"])
def test_a_draw_by_slices_keeps_the_law_whatever_they_are_of(tmp_path: Path, weights: str) -> None:
    found = check(by_slices(weights, "-sum(theta)", tmp_path))
    for claim in ("draw", "cycle", "exact", "irreducible"):
        decision = next(f for f in found.findings if f.id == claim).decision
        assert isinstance(decision, Proved), decision
    assert found.verdict is Verdict.PROVED
    of_draw = next(f for f in found.findings if f.id == "draw").decision
    assert isinstance(of_draw, Proved)
    assert f"z is drawn below levels, u ~ Uniform(0, w) with log w = {weights}" in of_draw.by
    of_cycle = next(f for f in found.findings if f.id == "cycle").decision
    assert isinstance(of_cycle, Proved)
    assert of_cycle.by.endswith("move 2, draw of z by slices")


@pytest.mark.slow
@pytest.mark.parametrize(("weights", "left"), [("log(theta - ones)", "-sum(theta)"), ("theta", "log(sum(theta) - 1)")])
def test_weights_without_a_value_leave_a_draw_by_slices_open(tmp_path: Path, weights: str, left: str) -> None:
    found = check(by_slices(weights, left, tmp_path))
    decisions = {f.id: f.decision for f in found.findings}
    assert isinstance(decisions["draw"], Undecided)
    assert "in what z is sliced by" in decisions["draw"].tried[0]
    assert isinstance(decisions["cycle"], Undecided)
    assert not isinstance(decisions["irreducible"], Proved)


def kernel(weights: tuple[Fraction, ...], rest: tuple[Fraction, ...]) -> list[list[Fraction]]:
    """Return K(k, j) of a slice by levels that are uniform below w_k, then places above them by exp(logits)/w."""
    places = range(len(weights))
    K = [[Fraction(0) for _ in places] for _ in places]
    edges = sorted({Fraction(0), *weights})
    for low, high in pairwise(edges):
        above = [place for place in places if weights[place] >= high]
        whole = sum((rest[place] for place in above), Fraction(0))
        for k in above:
            for to in above:
                K[k][to] += (high - low) / weights[k] * rest[to] / whole
    return K


def test_the_lemma_of_slices_holds_at_rational_weights() -> None:
    """pi K = pi exactly for pi = w exp(logits)/w, at equal weights too; not with weights left in the logits."""
    numbers = (Fraction(1, 3), Fraction(2), Fraction(2), Fraction(5, 7))
    rest = (Fraction(3), Fraction(1, 4), Fraction(2), Fraction(1))
    for count in (1, 2, 3, 4):
        w, f = numbers[:count], rest[:count]
        K, pi = kernel(w, f), [a * b for a, b in zip(w, f, strict=True)]
        assert all(sum(row) == 1 for row in K)
        assert [sum(pi[k] * K[k][to] for k in range(count)) for to in range(count)] == pi
    wrong = kernel(numbers, tuple(a * b for a, b in zip(numbers, rest, strict=True)))  # weights left in
    pi = [a * b for a, b in zip(numbers, rest, strict=True)]
    assert [sum(pi[k] * wrong[k][to] for k in range(4)) for to in range(4)] != pi


def test_a_batch_leaves_a_draw_open(normal: Build) -> None:
    split = of("still", "", Draw("mu"), Draw("tau"))
    small = stages(replace(normal, variant="minibatch"), split)
    assert "takes all data: `variant: full`" in tried(draw(split, small))
    assert "see draw" in tried(cycle(split, small))


@pytest.mark.slow
def test_a_draw_reads_the_position_that_a_refused_move_has_left(normal: Build) -> None:
    """Turned about: theta -> -theta for r -> -r is wrong before a draw of a part of theta, which reads the others."""
    split = of("hmc", "B/2 A B/2", Draw("tau"), Refresh("r"), Metropolis((1, 1), ("theta",)))
    assert not isinstance(metropolis(split, stages(normal, split)).decision, Proved)
    split = of("hmc", "B/2 A B/2", Metropolis((1, 1)), Draw("tau"), Refresh("r"))
    assert isinstance(metropolis(split, stages(normal, split)).decision, Proved)


def test_a_draw_might_mend_what_a_move_before_it_does(normal: Build) -> None:
    split = of("hmc", "B A", Draw("tau"), Metropolis((1, 1), ("r",)))
    assert "open whether tau, drawn wholly anew, mends it" in tried(metropolis(split, stages(normal, split)))


def test_conditional_laws_do_not_make_a_law(tmp_path: Path) -> None:
    """exp(-a b) on a, b > 0: each exponential given the other, and no finite integral (Casella, George 1992)."""
    text = """
name: none
state: {a: {domain: positive, transform: log}, b: {domain: positive, transform: log}}
potential: a*b
laws: {a: Exponential(b), b: Exponential(a)}
"""
    (tmp_path / "none.yaml").write_text(text, encoding="utf-8")
    found = check(load_build(write(tmp_path, "none", "sizes: {d: 2}", "draw: a, draw: b")))
    known = verdicts(found)
    assert known["laws"] is known["draw"] is Verdict.PROVED
    assert known["normalisable"] is not Verdict.PROVED
    assert known["irreducible"] is Verdict.UNDECIDED
    decision = finding(found, "irreducible").decision
    assert isinstance(decision, Undecided)
    assert "refuted: exp(-H) has a finite integral" in decision.tried[0]
    assert found.verdict is not Verdict.PROVED


@pytest.mark.parametrize(("c", "value", "of_values"), [("0", "0", False), ("c", "0", True), ("d - 1", "0", True)])
def test_a_law_at_the_values_of_a_build_is_told_by_all_that_rests_on_it(
    tmp_path: Path, c: str, value: str, of_values: bool
) -> None:
    """exp(-c a) on 0 < a < 1 is uniform where c is 0: a module takes c as an argument, and draws no other law."""
    text = f"""
name: tilted
state: {{a: {{shape: d, domain: "interval(0, 1)", transform: logit}}}}
parameters: {{c: {{default: {value}}}}}
potential: ({c})*sum(a) + (c - c)*sum(a)
laws: {{a: "Uniform(0, 1)"}}
"""
    (tmp_path / "tilted.yaml").write_text(text, encoding="utf-8")
    found = check(load_build(write(tmp_path, "tilted", "sizes: {d: 1}", "draw: a")))
    for claim in ("laws", "draw", "cycle", "exact", "irreducible"):
        decision, for_d = finding(found, claim).decision, finding(found, claim).for_d
        assert isinstance(decision, Proved)
        assert decision.by.endswith(", at the values of the build") is of_values
        assert decision.by.count("at the values") == of_values
        assert for_d == ((("d", 1),) if of_values else "all")


# flows that keep a Gamma law


COUNTED = """
format: 1
name: counted
state: {g: {shape: 2, domain: positive, transform: log}}
data: {z: {shape: [N, 2], in: [0, 1]}, y: {shape: N, in: [0, 1, 2]}}
parameters: {a: {shape: 2, is: positive}}
log_prior: sum((a - ones)*log(g)) - 2*sum(g)
log_likelihood: LIKELIHOOD
laws: {g: "Gamma(SHAPE, 2)"}
"""
COUNTED_BUILD = f"""
format: 1
name: counted
dynamics: {ROOT}/specs/dynamics/still.yaml
target: counted.yaml
parameters: {{a: {{value: [1/2, 2]}}}}
scheme: {{cycle: [cir: g]}}
variant: VARIANT
sizes: {{d: 2}}
data: {{file: {ROOT}/tests/verify/counted.csv, z: [u, v], y: y}}
run: {{step_size: 1/8, draws: 100, warmup: 10, chains: 2, seed: 1BATCH}}
"""
BATCH = ", batch_size: 5"


def counted(folder: Path, shape: str, likelihood: str, variant: str = "minibatch") -> Build:
    (folder / "counted.yaml").write_text(COUNTED.replace("SHAPE", shape).replace("LIKELIHOOD", likelihood), "utf-8")
    text = COUNTED_BUILD.replace("VARIANT", variant).replace("BATCH", BATCH if variant == "minibatch" else "")
    (folder / "build.yaml").write_text(text, "utf-8")
    return load_build(folder / "build.yaml")


def open_of(build: Build, claim: str) -> str:
    return tried(Answer(finding(check(build), claim).decision))


@pytest.mark.slow
@pytest.mark.parametrize(("model", "moves"), [(NORMAL, "draw: mu, cir: tau"), (REGRESSION, "cir: tau, draw: beta")])
def test_a_flow_is_exact_with_all_data_at_every_step_size(tmp_path: Path, model: tuple[str, str], moves: str) -> None:
    """The rate is a sum over the data, at a state that other moves change."""
    known = verdicts(check(load_build(write(tmp_path, *model, moves))))
    assert {known[claim] for claim in ("cir", "draw", "cycle", "exact", "irreducible")} == {Verdict.PROVED}


@pytest.mark.slow
def test_a_flow_by_minibatches_keeps_the_mean_and_its_excess_is_named(tmp_path: Path) -> None:
    found = check(counted(tmp_path, "a + 3*z.T @ y", "3*y*(z @ log(g))"))
    known = verdicts(found)
    assert found.verdict is Verdict.PROVED
    assert (known["cir"], known["cycle"]) == (Verdict.PROVED, Verdict.PROVED)
    assert "move 1, cir of g, as eps goes to 0" in str(finding(found, "cycle").decision)
    assert (known["exact"], known["irreducible"]) == (Verdict.UNDECIDED, Verdict.UNDECIDED)
    bias = "the mean of g is exact at every step size, its variance too large by tanh(rate eps/2) Var[shape]/rate**2"
    assert bias in str(finding(found, "cir").decision)
    assert bias in tried(Answer(finding(found, "exact").decision))
    full = verdicts(check(counted(tmp_path, "a + 3*z.T @ y", "3*y*(z @ log(g))", "full")))
    assert (full["cir"], full["exact"]) == (Verdict.PROVED, Verdict.PROVED)


@pytest.mark.slow
def test_a_shape_without_data_is_exact_beside_minibatches(tmp_path: Path) -> None:
    known = verdicts(check(counted(tmp_path, "a", "0*y")))
    assert (known["cir"], known["exact"]) == (Verdict.PROVED, Verdict.PROVED)


@pytest.mark.slow
def test_a_flow_towards_another_law_is_not_proved(tmp_path: Path) -> None:
    """With values, and data that are known when a run begins, what is off elsewhere refutes nothing."""
    found = check(counted(tmp_path, "a + z.T @ y", "3*y*(z @ log(g))"))
    known = verdicts(found)
    assert (known["laws"], known["cir"], known["cycle"]) == (Verdict.UNDECIDED,) * 3
    assert "wrong at N = 1, a = [1/2, 2], z = [[1, 1]], y = [2]" in tried(Answer(finding(found, "laws").decision))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "likelihood", "why"),
    [
        ("a + N*ones", "sum(log(g))", ""),
        ("a + N*ones + z.T @ ones", "sum(log(g)) + z @ log(g)", "N stands in it beside the sum"),
    ],
)
def test_a_shape_with_the_number_of_data_beside_a_sum_is_left_open(
    tmp_path: Path, shape: str, likelihood: str, why: str
) -> None:
    """That of all data is positive for every N, that of a batch with N of all data is not shown to be."""
    build = counted(tmp_path, shape, likelihood)
    if why:
        assert why in open_of(build, "cir")
    else:
        assert verdicts(check(build))["cir"] is Verdict.PROVED


def test_sums_over_data_are_told_from_functions_of_them(tmp_path: Path) -> None:
    def split(shape: str) -> tuple[str, str] | None:
        build = counted(tmp_path, shape, "0*y")
        target = build.target.declared or build.target
        tensor = convert(dict(target.laws)["g"].arguments[0], of_all_data(target.declarations), Index(2, "i"))
        found = by_datum(tensor, frozenset({"z", "y"}))
        return None if found is None else (tensor_text(found.fixed), tensor_text(found.datum))

    assert split("a + z.T @ y") == ("a[i]", "y[n] z[n,i]")
    assert split("a + sum(y**2)*ones + z.T @ exp(y)") == ("a[i]", "y[n]**2 + z[n,i] exp(y[n])")
    assert split("2*a") == ("2 a[i]", "0")
    assert split("a + sum(y)**2*ones") is None
    assert split("a + sum(y)*(z.T @ ones)") is None
    assert split("a + log(ones + z.T @ ones)") is None
    assert split("a + z.T @ (z @ a)") == ("a[i]", "sum_j z[n,j] a[j] z[n,i]")


def test_the_two_identities_hold_and_a_wrong_flow_fails_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [name for name, left in residuals() if left != 0] == []
    real = sympy.log
    for times in (2, Fraction(1, 2)):  # other degrees of freedom
        monkeypatch.setattr(cir_module.sympy, "log", lambda x, times=times: times * real(x))
        assert {name for name, left in residuals() if left != 0} >= {"du/dt = L u"}
        monkeypatch.setattr(cir_module.sympy, "log", real)


def test_a_metric_leaves_a_flow_open(tmp_path: Path) -> None:
    normal = load_build(write(tmp_path, *NORMAL, "draw: mu, cir: tau"))
    split = of("rhmc", "", Refresh("r"), Draw("mu"), Cir("tau"))
    found = flow_keeps(split, Cir("tau"), stages(normal, split))
    assert not isinstance(found.decision, Proved | Refuted)
    assert "is free of theta" in tried(cir(split, stages(normal, split)))


@pytest.mark.parametrize(("shape", "open_"), [(4, True), (5, False)])
def test_a_law_that_is_right_at_the_number_of_data_alone_is_open(tmp_path: Path, shape: int, open_: bool) -> None:
    """Gamma(2 + N/2, ...) is Gamma(4, ...) with the 4 data of a build; a module takes others as well."""
    (tmp_path / "data.csv").write_text("y\n1\n2\n3\n5\n", encoding="utf-8")
    target = (
        "name: four\nstate: {tau: {domain: positive, transform: log}}\ndata: {y: {shape: N}}\n"
        "log_prior: gamma(tau, 2, 1)\n"
        f'log_likelihood: log(tau)/2 - tau*y**2/2\nlaws: {{tau: "Gamma({shape}, 1 + norm2(y)/2)"}}\n'
    )
    (tmp_path / "four.yaml").write_text(target, encoding="utf-8")
    path = write(tmp_path, "four", "data: {file: data.csv, y: y}", "draw: tau")
    decision = finding(check(observed(load_build(path))), "laws").decision
    assert isinstance(decision, Undecided if open_ else Refuted)
    if isinstance(decision, Undecided):
        assert "right at N = 4, which the data of the build have" in decision.tried[0]

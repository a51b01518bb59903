"""Draws of blocks of the target as moves of a cycle: Gibbs sampling is exact, what is not shown of a draw is named."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
import sympy
from answers import ROOT, answer, document, expect, split, stages

from recipe_compiler.program.by_datum import by_datum
from recipe_compiler.report.check import check
from recipe_compiler.spec.laws import of_all_data
from recipe_compiler.spec.model import Cir, Draw, Metropolis, Refresh, Steps
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text as tensor_text
from recipe_compiler.tensor.terms import Index
from recipe_compiler.verify.builds.transformed import law_is_kept
from recipe_compiler.verify.moves import cir as cir_module
from recipe_compiler.verify.moves.cir import cir, flow_keeps, residuals
from recipe_compiler.verify.moves.cycle import cycle
from recipe_compiler.verify.moves.draw import draw, drawn_from_law
from recipe_compiler.verify.moves.irreducible import draws_in_a_row, irreducible
from recipe_compiler.verify.moves.metropolis import metropolis

BUILD = """
name: drawn
dynamics: SPECS/dynamics/DYNAMICS.yaml
target: TARGET
VALUES
scheme: {cycle: [MOVES]}
variant: full
run: {step_size: 1/4, draws: 100, warmup: 10, chains: 2, seed: 1}
"""
NORMAL = ("normal_mean_precision", "sizes: {d: 2}\ndata: {file: SPECS/data/normal_sample.csv, y: y}")
REGRESSION = (
    "regression_precision",
    "sizes: {d: 4}\ndata: {file: SPECS/data/linear_regression.csv, x: [a, b, c], y: y}",
)
MASS = "parameters: {M: {value: [[2, 1/2], [1/2, 3/2]]}}\n"
LEAP, WORD = "metropolis: {split: [B/2, A, B/2], flip: {r: -r}}", "B/2 A B/2"


def build(model, moves, dynamics="still", **beside):
    target, values = model
    text = BUILD.replace("TARGET", "target.yaml" if beside else f"SPECS/targets/{target}.yaml")
    own = MASS + values if dynamics == "hmc" else values
    return document(text.replace("DYNAMICS", dynamics).replace("VALUES", own).replace("MOVES", moves), **beside)


def findings(own):
    report = check(own)
    return report, {one.id: one for one in report.findings}


def of(dynamics, text, *moves):
    return split(dynamics, text, "cycle", cycle=moves)


def beside(own, step):
    return stages(replace(own, scheme=step.scheme, dynamics=step.subject.dynamics))


@pytest.fixture(scope="module")
def normal():
    return build(NORMAL, "draw: mu, draw: tau")


# what is right

KEEPS = ("cycle", "exact", "irreducible")
HAMILTONIAN = ("draw", "refresh", "metropolis", *KEEPS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "moves", "dynamics", "claims"),
    [
        (NORMAL, "draw: mu, draw: tau", "still", ("laws", "draw", *KEEPS, "normalisable")),
        (NORMAL, "draw: tau, draw: mu, draw: tau", "still", ("laws", "draw", *KEEPS, "normalisable")),
        (REGRESSION, "draw: beta, draw: tau", "still", ("laws", "draw", *KEEPS, "normalisable")),
        (REGRESSION, "draw: tau, draw: beta", "still", ("laws", "draw", *KEEPS, "normalisable")),
        (NORMAL, f"draw: tau, refresh: r, {LEAP}", "hmc", HAMILTONIAN),
        (NORMAL, f"refresh: r, draw: tau, {LEAP}", "hmc", HAMILTONIAN),
        (NORMAL, f"refresh: r, {LEAP}, draw: tau, draw: mu", "hmc", HAMILTONIAN),
        # not turned where it is refused: the draw of tau does not read r, which is drawn anew after it
        (NORMAL, "refresh: r, metropolis: {split: [B/2, A, B/2]}, draw: tau", "hmc", HAMILTONIAN),
        # a flow with all data is exact at every step size: its rate is a sum over the data, at a state that moves
        (NORMAL, "draw: mu, cir: tau", "still", ("cir", "draw", *KEEPS)),
        (REGRESSION, "cir: tau, draw: beta", "still", ("cir", "draw", *KEEPS)),
    ],
)
def test_a_cycle_with_draws_is_exact_for_every_number_of_data(model, moves, dynamics, claims):
    report, known = findings(build(model, moves, dynamics))
    assert report.verdict == "proved"
    for claim in claims:
        expect(known[claim], "proved")
    if dynamics == "still":
        assert known["draw"].for_d == "all"
        assert all(known[claim].seconds < 1 for claim in ("laws", "draw"))
        assert known.keys().isdisjoint({"unique", "explosion", "pieces", "order", "metropolis", "refresh"})


@pytest.mark.slow
def test_steps_as_they_come_are_asked_what_equations_are():
    _, known = findings(build(NORMAL, "draw: tau, refresh: r, {split: [B/2, A, B/2], steps: 3}", "hmc"))
    assert "explosion" in known
    for claim, verdict in (("draw", "proved"), ("cycle", "proved"), ("exact", "undecided")):
        expect(known[claim], verdict)


def test_steps_of_order_1_beside_a_draw_are_open():
    """Of theta**2/2 + tau**2/2 + 3/5 theta tau the covariance of [draw tau, B, A] grows without bound."""
    found = answer(build(NORMAL, "draw: tau, {split: [B, A], steps: 1}", "hmc"), "cycle")
    expect(found, "undecided")
    assert "of weak order 1" in found.decision.tried[0]
    assert "move 1" in found.decision.tried[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dynamics", "text", "moves", "says"),
    [
        ("still", "", (Draw("tau"),), "no move moves mu: it stays where it began"),
        ("hmc", WORD, (Draw("mu"), Draw("tau"), Metropolis((1, 1), ("r",))), ""),
        ("hmc", "", (Draw("mu"), Draw("tau")), "no move moves r:"),
    ],
)
def test_every_block_has_to_be_moved(normal, dynamics, text, moves, says):
    step = of(dynamics, text, *moves)
    expect(cycle(step, beside(normal, step)), "refuted" if says else "proved", says)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dynamics", "moves", "drawn"),
    [
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
    ],
)
def test_what_every_cycle_draws_reaches_every_state(normal, dynamics, moves, drawn):
    worded = any(isinstance(move, Metropolis | Steps) for move in moves)
    step = of(dynamics, WORD if worded else "", *moves)
    assert draws_in_a_row(step, normal) is drawn
    reached = drawn and not isinstance(moves[-1], Steps)
    expect(irreducible(step, beside(normal, step)), "proved" if reached else "not proved")


# what is wrong, or open

BOUNDED = """
name: bounded
state:
  mu: {}
  tau: {shape: k, domain: positive, transform: log}
  share: {shape: k, domain: "interval(-1, 3)", transform: logit}
data: {y: {shape: N}}
log_prior: MORE -mu**2/2 - sum(tau) + sum(log(share + ones)) - mu*sum(share*tau)**2
log_likelihood: log(sum(tau))/2 - sum(tau)*(y - mu)**2/2
"""


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
def test_the_jacobian_of_a_transform_is_part_of_the_law(more, left):
    """Left out, counted twice, by half, or beside something else: what is sampled is compared with what is declared."""
    own, bent = (document(BOUNDED.replace("MORE ", one)) for one in ("", f"{more} "))
    at = expect(law_is_kept(replace(bent, declared=own.declared)), "refuted" if left else "proved")
    assert not left or left in at


BENT = """
state: {theta: {shape: d}, r: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r/2 + ENERGY
D: [[0, 0], [0, 0]]
Q: [[0, -I], [I, 0]]
"""


@pytest.mark.parametrize(
    ("energy", "verdict", "says"),
    [
        ("norm2(theta)*norm2(r)", "refuted", "d(H - U(theta))/dtau"),
        ("theta[1]*norm2(r)", "refuted", "d(H - U(theta))/dtau"),
        ("theta[0]*norm2(r)", "undecided", "H - U(theta) is free of theta"),  # of another part of theta alone
        ("U(theta)", "undecided", "H - U(theta) is free of theta"),  # as U is
        ("sum(r)\nassume: ['theta[0] > 0']", "undecided", "an assumption restricts the state"),
    ],
)
def test_what_else_h_says_of_a_block_makes_its_law_another(normal, energy, verdict, says):
    step = of(document(BENT.replace("ENERGY", energy)), "", Draw("tau"))
    found = drawn_from_law(step, "tau", beside(normal, step))
    at = expect(found, verdict, "" if verdict == "refuted" else says)
    assert verdict != "refuted" or any(name.startswith(says) for name in at)


def by_slices(weights, left):
    """Return the build of data in groups whose rows are drawn by slices."""
    move = f"draw: theta, {{draw: z, slice: {weights}, left: {left}}}"
    values = "sizes: {K: 2}\ndata: {file: SPECS/data/few_choices.csv, x: [one, other]}"
    return build(("", values), move, target=(ROOT / "tests/mutants/moves/groups.yaml").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["log(theta)", "-theta", "x - 2*ones @ theta.T", "0*theta"])
def test_a_draw_by_slices_keeps_the_law_whatever_they_are_of(weights):
    report, known = findings(by_slices(weights, "-sum(theta)"))
    assert report.verdict == "proved"
    expect(known["draw"], "proved", f"z is drawn below levels, u ~ Uniform(0, w) with log w = {weights}")
    for claim in KEEPS:
        expect(known[claim], "proved")
    assert known["cycle"].decision.by.endswith("move 2, draw of z by slices")


@pytest.mark.slow
@pytest.mark.parametrize(("weights", "left"), [("log(theta - ones)", "-sum(theta)"), ("theta", "log(sum(theta) - 1)")])
def test_weights_without_a_value_leave_a_draw_by_slices_open(weights, left):
    own = by_slices(weights, left)
    expect(answer(own, "draw"), "undecided", "in what z is sliced by")
    expect(answer(own, "cycle"), "undecided")
    expect(answer(own, "irreducible"), "not proved")


def kernel(weights, rest):
    """Return K(k, j) of a slice by levels that are uniform below w_k, then places above them by exp(logits)/w."""
    places = range(len(weights))
    K = [[Fraction(0) for _ in places] for _ in places]
    for low, high in pairwise(sorted({Fraction(0), *weights})):
        above = [place for place in places if weights[place] >= high]
        whole = sum((rest[place] for place in above), Fraction(0))
        for k in above:
            for to in above:
                K[k][to] += (high - low) / weights[k] * rest[to] / whole
    return K


def test_the_lemma_of_slices_holds_at_rational_weights():
    """pi K = pi exactly for pi = w exp(logits)/w, at equal weights too; not with weights left in the logits."""
    numbers = (Fraction(1, 3), Fraction(2), Fraction(2), Fraction(5, 7))
    rest = (Fraction(3), Fraction(1, 4), Fraction(2), Fraction(1))
    pi = [a * b for a, b in zip(numbers, rest, strict=True)]

    def moved(K, count):
        return [sum(pi[k] * K[k][to] for k in range(count)) for to in range(count)]

    for count in (1, 2, 3, 4):
        K = kernel(numbers[:count], rest[:count])
        assert all(sum(row) == 1 for row in K)
        assert moved(K, count) == pi[:count]
    assert moved(kernel(numbers, pi), 4) != pi


def test_a_batch_leaves_a_draw_open(normal):
    step = of("still", "", Draw("mu"), Draw("tau"))
    small = beside(replace(normal, variant="minibatch"), step)
    expect(draw(step, small), "undecided", "takes all data: `variant: full`")
    expect(cycle(step, small), "undecided", "see draw")


@pytest.mark.parametrize(
    ("text", "moves", "verdict", "says"),
    [
        # turned about, theta -> -theta for r -> -r is wrong before a draw of a part of theta, which reads the others
        pytest.param(
            WORD, (Draw("tau"), Refresh("r"), Metropolis((1, 1), ("theta",))), "not proved", "", marks=pytest.mark.slow
        ),
        pytest.param(WORD, (Metropolis((1, 1)), Draw("tau"), Refresh("r")), "proved", "", marks=pytest.mark.slow),
        (
            "B A", (Draw("tau"), Metropolis((1, 1), ("r",))), "undecided",
            "open whether tau, drawn wholly anew, mends it",
        ),
    ],
)  # fmt: skip
def test_a_draw_reads_the_position_that_a_refused_move_has_left(normal, text, moves, verdict, says):
    step = of("hmc", text, *moves)
    expect(metropolis(step, beside(normal, step)), verdict, says)


def test_conditional_laws_do_not_make_a_law():
    """exp(-a b) on a, b > 0: each exponential given the other, and no finite integral (Casella, George 1992)."""
    text = """
    name: none
    state: {a: {domain: positive, transform: log}, b: {domain: positive, transform: log}}
    potential: a*b
    laws: {a: Exponential(b), b: Exponential(a)}
    """
    report, known = findings(build(("", "sizes: {d: 2}"), "draw: a, draw: b", target=text))
    expect(known["laws"], "proved")
    expect(known["draw"], "proved")
    expect(known["normalisable"], "not proved")
    expect(known["irreducible"], "undecided", "refuted: exp(-H) has a finite integral")
    assert report.verdict != "proved"


@pytest.mark.parametrize(("c", "of_values"), [("0", False), ("c", True), ("d - 1", True)])
def test_a_law_at_the_values_of_a_build_is_told_by_all_that_rests_on_it(c, of_values):
    """exp(-c a) on 0 < a < 1 is uniform where c is 0: a module takes c as an argument, and draws no other law."""
    text = f"""
    name: tilted
    state: {{a: {{shape: d, domain: "interval(0, 1)", transform: logit}}}}
    parameters: {{c: {{default: 0}}}}
    potential: ({c})*sum(a) + (c - c)*sum(a)
    laws: {{a: "Uniform(0, 1)"}}
    """
    _, known = findings(build(("", "sizes: {d: 1}"), "draw: a", target=text))
    for claim in ("laws", "draw", *KEEPS):
        expect(known[claim], "proved")
        assert known[claim].decision.by.endswith(", at the values of the build") is of_values
        assert known[claim].decision.by.count("at the values") == of_values
        assert known[claim].for_d == ((("d", 1),) if of_values else "all")


@pytest.mark.parametrize(("shape", "verdict"), [(4, "undecided"), (5, "refuted")])
def test_a_law_that_is_right_at_the_number_of_data_alone_is_open(shape, verdict):
    """Gamma(2 + N/2, ...) is Gamma(4, ...) with the 4 data of a build; a module takes others as well."""
    text = f"""
    name: four
    state: {{tau: {{domain: positive, transform: log}}}}
    data: {{y: {{shape: N}}}}
    log_prior: gamma(tau, 2, 1)
    log_likelihood: log(tau)/2 - tau*y**2/2
    laws: {{tau: "Gamma({shape}, 1 + norm2(y)/2)"}}
    """
    own = build(("", "data: {file: data.csv, y: y}"), "draw: tau", target=text, **{"data.csv": "y\n1\n2\n3\n5\n"})
    says = "right at N = 4, which the data of the build have" if verdict == "undecided" else ""
    expect(answer(own, "laws"), verdict, says)


# flows that keep a Gamma law

COUNTED = """
name: counted
state: {g: {shape: 2, domain: positive, transform: log}}
data: {z: {shape: [N, 2], in: [0, 1]}, y: {shape: N, in: [0, 1, 2]}}
parameters: {a: {shape: 2, is: positive}}
log_prior: sum((a - ones)*log(g)) - 2*sum(g)
log_likelihood: LIKELIHOOD
laws: {g: "Gamma(SHAPE, 2)"}
"""
COUNTED_BUILD = """
name: counted
dynamics: SPECS/dynamics/still.yaml
target: counted.yaml
parameters: {a: {value: [1/2, 2]}}
scheme: {cycle: [cir: g]}
variant: VARIANT
sizes: {d: 2}
data: {file: SPECS/../tests/verify/counted.csv, z: [u, v], y: y}
run: {step_size: 1/8, draws: 100, warmup: 10, chains: 2, seed: 1BATCH}
"""


def counted(shape, likelihood, variant="minibatch"):
    text = COUNTED_BUILD.replace("VARIANT", variant).replace("BATCH", ", batch_size: 5" if variant != "full" else "")
    return document(text, counted=COUNTED.replace("SHAPE", shape).replace("LIKELIHOOD", likelihood))


BIAS = "the mean of g is exact at every step size, its variance too large by tanh(rate eps/2) Var[shape]/rate**2"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "likelihood", "variant", "expected"),
    [
        (
            "a + 3*z.T @ y", "3*y*(z @ log(g))", "minibatch",
            {
                "cir": ("proved", BIAS), "cycle": ("proved", "move 1, cir of g, as eps goes to 0"),
                "exact": ("undecided", BIAS), "irreducible": ("undecided", ""),
            },
        ),
        ("a + 3*z.T @ y", "3*y*(z @ log(g))", "full", {"cir": ("proved", ""), "exact": ("proved", "")}),
        ("a", "0*y", "minibatch", {"cir": ("proved", ""), "exact": ("proved", "")}),  # a shape without data
        # with values, and data that are known when a run begins, what is off elsewhere refutes nothing
        (
            "a + z.T @ y", "3*y*(z @ log(g))", "minibatch",
            {
                "laws": ("undecided", "wrong at N = 1, a = [1/2, 2], z = [[1, 1]], y = [2]"), "cir": ("undecided", ""),
                "cycle": ("undecided", ""),
            },
        ),
        # that of all data is positive for every N, that of a batch with N of all data is not shown to be
        ("a + N*ones", "sum(log(g))", "minibatch", {"cir": ("proved", "")}),
        (
            "a + N*ones + z.T @ ones", "sum(log(g)) + z @ log(g)", "minibatch",
            {"cir": ("undecided", "N stands in it beside the sum")},
        ),
    ],
)  # fmt: skip
def test_a_flow_by_minibatches_keeps_the_mean_and_its_excess_is_named(shape, likelihood, variant, expected):
    report, known = findings(counted(shape, likelihood, variant))
    for claim, (verdict, says) in expected.items():
        expect(known[claim], verdict, says)
    assert report.verdict == "proved" or expected["cir"][0] == "undecided"


@pytest.mark.parametrize(
    ("shape", "fixed", "datum"),
    [
        ("a + z.T @ y", "a[i]", "y[n] z[n,i]"),
        ("a + sum(y**2)*ones + z.T @ exp(y)", "a[i]", "y[n]**2 + z[n,i] exp(y[n])"),
        ("2*a", "2 a[i]", "0"),
        ("a + sum(y)**2*ones", None, None),
        ("a + sum(y)*(z.T @ ones)", None, None),
        ("a + log(ones + z.T @ ones)", None, None),
        ("a + z.T @ (z @ a)", "a[i]", "sum_j z[n,j] a[j] z[n,i]"),
    ],
)
def test_sums_over_data_are_told_from_functions_of_them(shape, fixed, datum):
    own = counted(shape, "0*y")
    target = own.target.declared or own.target
    tensor = convert(dict(target.laws)["g"].arguments[0], of_all_data(target.declarations), Index(2, "i"))
    found = by_datum(tensor, frozenset({"z", "y"}))
    assert (found and tensor_text(found.fixed), found and tensor_text(found.datum)) == (fixed, datum)


def test_the_two_identities_hold_and_a_wrong_flow_fails_them(monkeypatch):
    assert [name for name, left in residuals() if left != 0] == []
    real = sympy.log
    for times in (2, Fraction(1, 2)):  # other degrees of freedom
        monkeypatch.setattr(cir_module.sympy, "log", lambda x, times=times: times * real(x))
        assert {name for name, left in residuals() if left != 0} >= {"du/dt = L u"}
        monkeypatch.setattr(cir_module.sympy, "log", real)


def test_a_metric_leaves_a_flow_open():
    step = of("rhmc", "", Refresh("r"), Draw("mu"), Cir("tau"))
    own = beside(build(NORMAL, "draw: mu, cir: tau"), step)
    expect(flow_keeps(step, Cir("tau"), own), "undecided")
    expect(cir(step, own), "undecided", "is free of theta")

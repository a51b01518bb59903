"""Integrals of large data by some of them: what is shown so is so of all, and nothing else is."""

import numpy as np
import pytest
from answers import answer, document, expect

from recipe_compiler.spec.transform import standard
from recipe_compiler.verify.builds import of_data, part_of_data

BUILD = """
name: part
dynamics: SPECS/dynamics/sghmc.yaml
target: target.yaml
scheme: {name: baoab}
variant: full
data: {file: data.csv, COLUMNS}
run: {step_size: auto}
"""
TARGET = """
state: {STATE}
data: {x: {shape: [N, p]}, y: KIND}
log_prior: PRIOR
log_likelihood: LIKELIHOOD
"""
SCALE, BETA = "beta: {shape: p}, sigma: {domain: positive, transform: log}", "beta: {shape: p}"
NORMAL, BY_HAND = "normal(y, x @ beta, sigma)", "-log(sigma) - ((y - x @ beta)/sigma)**2/2"
WITH_ONE, LABELS = "x: [a, b], y: y, intercept: true", "{shape: N, in: [0, 1]}"


def build(table, likelihood=NORMAL, *, state=SCALE, prior="0", kind="{shape: N}", columns=WITH_ONE):
    """Return a build of columns a, b, y, its data read."""
    target = TARGET.replace("STATE", state).replace("KIND", kind).replace("PRIOR", prior)
    rows = "\n".join(["a,b,y", *(",".join(f"{x:.17g}" for x in row) for row in table), ""])
    text = BUILD.replace("COLUMNS", columns)
    return document(text, target=target.replace("LIKELIHOOD", likelihood), **{"data.csv": rows})


def integral(own):
    return answer(own, "normalisable")


def is_by_part(found):
    return found.verdict == "proved" and any("evenly spaced" in fact for fact in found.decision.given)


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    """Of 40 data of four numbers 8 are looked at."""
    monkeypatch.setattr(part_of_data, "FEW", 32)
    monkeypatch.setattr(part_of_data, "ROWS_EACH", 2)


def table(y=None):
    """Return 40 rows of columns a, b of two decimals and a y that is no form of them, or a function of these."""
    rows = np.random.default_rng(0).normal(size=(40, 3)).round(2)
    if y is not None:
        rows[:, 2] = y(rows)
    return rows


def counts(top):
    return table(lambda rows: np.random.default_rng(1).integers(0, top + 1, len(rows)))


@pytest.mark.parametrize("likelihood", [NORMAL, BY_HAND, "laplace(y, x @ beta, sigma)"])
def test_a_few_of_many_data_show_what_all_do(likelihood):
    found = integral(build(table(), likelihood))
    expect(found, "proved")
    (fact,) = [fact for fact in found.decision.given if "evenly spaced" in fact]
    assert fact.startswith("8 of the 40 data of data.csv, evenly spaced: forms of beta of full rank 3")
    assert fact.endswith("the likelihood of each of the others is bounded")


@pytest.mark.parametrize(
    ("likelihood", "kind"),
    [
        ("bernoulli_logit(y, x @ beta)", LABELS),
        ("poisson_log(y, x @ beta)", "{shape: N, is: [integer, nonnegative]}"),
        ("student_t(y, 4, x @ beta, 2)", "{shape: N}"),
    ],
)
def test_a_bounded_likelihood_needs_what_some_of_its_data_show(likelihood, kind):
    own = build(counts(1), likelihood, state=BETA, kind=kind)
    part = part_of_data.part_of(own.observed)
    assert part_of_data.rest_of(own, standard(own.target), part).count == 40 - part.rows
    expect(integral(own), "proved")


def test_what_a_bound_asks_of_data_is_given():
    """At y > n the formula of a binomial law is no law: y eta - n softplus(eta) grows."""
    found = integral(build(counts(2), "binomial_logit(y, 2, x @ beta)", state=BETA))
    assert is_by_part(found)
    assert "y <= 2" in found.decision.given


def test_classes_that_a_direction_separates_are_separated_in_every_part():
    rows = table(lambda rows: rows[:, 0] > 0)
    expect(integral(build(rows, "bernoulli_logit(y, x @ beta)", state=BETA, kind=LABELS)), "refuted")


def test_what_one_datum_shows_that_is_in_no_part_is_seen_in_all():
    """All rows but the third are on one plane: a part without it shows nothing, and is not what is decided by."""
    rows = table() * 100
    rows[:, 2] = 1 + 2 * rows[:, 0] - rows[:, 1]
    expect(integral(build(rows.round())), "refuted")
    rows[2, 2] += 1
    found = integral(build(rows.round()))
    expect(found, "proved")
    assert not is_by_part(found)


@pytest.mark.parametrize(
    ("power", "proved"),
    # the integral over sigma is that of sigma**(power - N + p) at oo, and all 40 data count; of eight alone it is
    # infinite from power 4 on
    [(0, True), (30, True), (35, True), (36, False), (40, False)],
)
def test_every_datum_counts_beside_the_part(power, proved):
    found = integral(build(table(), prior=f"{power}*log(sigma)"))
    expect(found, "proved" if proved else "refuted")
    assert is_by_part(found) is proved


WEIGHTS = {"likelihood": "-log(sigma) - y*((1 - x @ beta)/sigma)**2/2", "kind": "{shape: N, is: positive}"}
MADE = "x: [s, t], y: y, columns:"


@pytest.mark.parametrize(
    ("rows", "given", "by_part"),
    [
        # no bound that is free of y, weights of either sign
        *(
            (table(lambda rows: abs(rows[:, 2]) + 0.25), {"likelihood": likelihood, "kind": kind}, False)
            for likelihood, kind in (
                ("-y*log(sigma) - ((y - x @ beta)/sigma)**2/2", "{shape: N}"),
                ("-log(sigma) - y*((y - x @ beta)/sigma)**2/2", "{shape: N}"),
                ("normal(y, x @ beta, exp(y*log(sigma)))", "{shape: N}"),
                ("gamma(y, sigma, exp(x @ beta))", "{shape: N, is: positive}"),
            )
        ),
        # the bound of weighted residuals asks for weights that are not negative, in every row as it is written
        (table(lambda rows: abs(rows[:, 2]) + 4), {**WEIGHTS, "columns": "x: [a, b], y: y"}, True),
        (
            table(lambda rows: abs(rows[:, 2]) + 4),
            {**WEIGHTS, "columns": "x: [a, b], y: z, columns: {z: y + b - a}"}, False,
        ),
        # means of made columns are those of all rows
        (table(), {"columns": f"{MADE} {{s: standardise(a), t: centre(b)}}, intercept: true"}, True),
        (table(), {"columns": f"{MADE} {{s: standardise(exp(a)), t: standardise(b)}}"}, True),
        (table(), {"columns": "x: [a, b], y: y, standardise: x"}, True),
    ],
)  # fmt: skip
def test_a_part_decides_what_has_a_bound_that_is_free_of_the_other_data(rows, given, by_part):
    assert is_by_part(integral(build(rows, **given))) is by_part


def test_kinds_of_made_columns_are_seen_in_all_rows_or_left_open(monkeypatch):
    """In one row a + b - y is 0 as it is written, and positive by rounding; no part has it."""
    rows = np.tile([1.0, 1.0, 0.25], (40, 1))
    rows[7] = 0.1, 0.2, 0.3
    kind, columns = "{shape: N, is: positive}", "x: [a, b], y: w, columns: {w: a + b - y}"
    own = build(rows, "-y*norm2(beta)", state=BETA, prior="-norm2(beta)", kind=kind, columns=columns)
    expect(integral(own), "undecided")
    monkeypatch.setattr(of_data, "MANY", 20)
    expect(integral(own), "undecided")


@pytest.mark.parametrize(("bound", "beside"), [("lower(1)", "- s"), ("lower(1)", "- s/5"), ("upper(1)", "+ s/5")])
def test_what_is_stated_of_a_bounded_block_is_of_its_distance(bound, beside):
    state, prior = f"{BETA}, s: {{constraint: {bound}}}", "-s" if bound == "lower(1)" else "s"
    expect(integral(build(table(), f"normal(y, x @ beta, 1) {beside}", state=state, prior=prior)), "proved")


def test_a_column_that_is_constant_but_for_its_mean_has_the_mean_of_all_rows():
    """In the eight rows that are looked at a is 1, and so is a less its mean over them, 0, beside that over all 40."""
    rows = table()
    rows[:, 0] = 3
    rows[np.linspace(0, 39, 8).astype(int), 0] = 1
    found = integral(build(rows, columns="x: [c, b], y: y, columns: {c: centre(a)}"))
    assert is_by_part(found)  # centre(a) is -1.6 there: with their own mean it would be 0, and the rank 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_no_part_shows_finite_what_all_data_show_infinite(seed, monkeypatch):
    """Small whole numbers: equal columns, planes, separated classes and too few data come up by themselves."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 2, size=(int(rng.integers(4, 9)), 3)).astype(float)
    power, prior = int(rng.integers(0, 6)), f"{rng.integers(0, 6)}*log(sigma)"
    cases = [(one, {"prior": prior}) for one in (NORMAL, "student_t(y, 3, x @ beta, sigma)")]
    if set(rows[:, 2]) <= {0, 1} or power % 2:
        rows[:, 2] = rows[:, 2] > 0
        cases += [("bernoulli_logit(y, x @ beta)", {"state": BETA, "kind": LABELS})]
    monkeypatch.setattr(part_of_data, "ROWS_EACH", 0)
    few = 4 * int(rng.integers(2, 5))
    for likelihood, given in cases:
        own = build(rows, likelihood, **given)
        monkeypatch.setattr(part_of_data, "FEW", few)
        by_part = is_by_part(integral(own))
        monkeypatch.setattr(part_of_data, "FEW", 10**6)
        assert not by_part or integral(own).verdict == "proved"

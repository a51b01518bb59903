"""Integrals of large data by some of them: what is shown so is so of all, and nothing else is."""

from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.run.observed import observed
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Observed
from recipe_compiler.spec.transform import standard
from recipe_compiler.verdict import Decision, Proved, Refuted, Undecided
from recipe_compiler.verify.builds import of_data, part_of_data
from recipe_compiler.verify.builds.normalisable import normalisable_build

ROOT = Path(__file__).parents[3]
BUILD = f"""
format: 1
name: part
dynamics: {ROOT / "specs" / "dynamics" / "sghmc.yaml"}
target: target.yaml
scheme: {{name: baoab}}
variant: full
data: {{file: data.csv, COLUMNS}}
run: {{step_size: auto}}
"""
TARGET = """
format: 1
name: part_target
state: {STATE}
data: {x: {shape: [N, p]}, y: KIND}
log_prior: PRIOR
log_likelihood: LIKELIHOOD
"""
SCALE = "beta: {shape: p}, sigma: {domain: positive, transform: log}"
NORMAL = "normal(y, x @ beta, sigma)"
BY_HAND = "-log(sigma) - ((y - x @ beta)/sigma)**2/2"
WITH_ONE = "x: [a, b], y: y, intercept: true"


def build(
    folder: Path,
    table: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    likelihood: str = NORMAL,
    *,
    state: str = SCALE,
    prior: str = "0",
    kind: str = "{shape: N}",
    columns: str = WITH_ONE,
) -> Build:
    """Return a build of columns a, b, y, its data read."""
    np.savetxt(folder / "data.csv", table, delimiter=",", header="a,b,y", comments="", fmt="%.17g")
    text = TARGET.replace("STATE", state).replace("KIND", kind).replace("PRIOR", prior)
    (folder / "target.yaml").write_text(text.replace("LIKELIHOOD", likelihood))
    (folder / "build.yaml").write_text(BUILD.replace("COLUMNS", columns))
    own = observed(load_build(folder / "build.yaml"))
    assert isinstance(own, Build)
    return own


def decided(own: Build) -> Decision:
    return normalisable_build(own, bind(own)).decision


def is_by_part(found: Decision) -> bool:
    return isinstance(found, Proved) and any("evenly spaced" in fact for fact in found.given)


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 data of four numbers 8 are looked at."""
    monkeypatch.setattr(part_of_data, "FEW", 32)
    monkeypatch.setattr(part_of_data, "ROWS_EACH", 2)


def table(rows: int = 40, seed: int = 0) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return columns a, b of two decimals and a y that is no form of them."""
    return np.random.default_rng(seed).normal(size=(rows, 3)).round(2)


@pytest.mark.parametrize("likelihood", [NORMAL, BY_HAND, "laplace(y, x @ beta, sigma)"])
def test_a_few_of_many_data_show_what_all_do(likelihood: str, tmp_path: Path) -> None:
    found = decided(build(tmp_path, table(), likelihood))
    assert is_by_part(found)
    assert isinstance(found, Proved)
    (fact,) = [fact for fact in found.given if "evenly spaced" in fact]
    assert fact.startswith("8 of the 40 data of data.csv, evenly spaced: forms of beta of full rank 3")
    assert fact.endswith("the likelihood of each of the others is bounded by its law")


@pytest.mark.parametrize(
    ("likelihood", "kind"),
    [
        ("bernoulli_logit(y, x @ beta)", "{shape: N, in: [0, 1]}"),
        ("poisson_log(y, x @ beta)", "{shape: N, is: [integer, nonnegative]}"),
        ("student_t(y, 4, x @ beta, 2)", "{shape: N}"),
    ],
)
def test_a_bounded_likelihood_needs_what_some_of_its_data_show(likelihood: str, kind: str, tmp_path: Path) -> None:
    rows = table()
    rows[:, 2] = np.random.default_rng(1).integers(0, 2, len(rows))
    own = build(tmp_path, rows, likelihood, state="beta: {shape: p}", kind=kind)
    part = own.observed and part_of_data.part_of(own.observed) if isinstance(own.observed, Observed) else None
    assert part is not None
    rest = part_of_data.rest_of(own, standard(own.target), part)
    assert rest is not None
    assert rest.count == len(rows) - part.rows
    assert isinstance(decided(own), Proved)


def test_what_a_bound_asks_of_data_is_given(tmp_path: Path) -> None:
    """At y > n the formula of a binomial law is no law: y eta - n softplus(eta) grows."""
    rows = table()
    rows[:, 2] = np.random.default_rng(1).integers(0, 3, len(rows))
    found = decided(build(tmp_path, rows, "binomial_logit(y, 2, x @ beta)", state="beta: {shape: p}"))
    assert isinstance(found, Proved)
    assert is_by_part(found)
    assert "y <= 2" in found.given


def test_classes_that_a_direction_separates_are_separated_in_every_part(tmp_path: Path) -> None:
    rows = table()
    rows[:, 2] = rows[:, 0] > 0
    own = build(tmp_path, rows, "bernoulli_logit(y, x @ beta)", state="beta: {shape: p}", kind="{shape: N, in: [0, 1]}")
    assert isinstance(decided(own), Refuted)


def test_what_one_datum_shows_that_is_in_no_part_is_seen_in_all(tmp_path: Path) -> None:
    """All rows but the third are on one plane: a part without it shows nothing, and is not what is decided by."""
    rows = table() * 100
    rows[:, 2] = 1 + 2 * rows[:, 0] - rows[:, 1]
    plane = rows.copy()
    rows[2, 2] += 1
    found = decided(build(tmp_path, rows.round()))
    assert isinstance(found, Proved)
    assert not is_by_part(found)
    assert isinstance(decided(build(tmp_path, plane.round())), Refuted)


@pytest.mark.parametrize(
    ("power", "proved"),
    # the integral over sigma is that of sigma**(power - N + p) at oo, and all 40 data count
    [(0, True), (30, True), (35, True), (36, False), (40, False)],
)
def test_every_datum_counts_beside_the_part(power: int, *, proved: bool, tmp_path: Path) -> None:
    """Eight data alone leave it infinite from power 4 on."""
    found = decided(build(tmp_path, table(), prior=f"{power}*log(sigma)"))
    assert isinstance(found, Proved if proved else Refuted)
    assert is_by_part(found) is proved


@pytest.mark.parametrize(
    ("likelihood", "kind"),
    [
        ("-y*log(sigma) - ((y - x @ beta)/sigma)**2/2", "{shape: N}"),  # no bound that is free of y
        ("-log(sigma) - y*((y - x @ beta)/sigma)**2/2", "{shape: N}"),  # weights of either sign
        ("normal(y, x @ beta, exp(y*log(sigma)))", "{shape: N}"),
        ("gamma(y, sigma, exp(x @ beta))", "{shape: N, is: positive}"),
    ],
)
def test_a_likelihood_without_such_a_bound_is_not_decided_by_a_part(likelihood: str, kind: str, tmp_path: Path) -> None:
    rows = table()
    rows[:, 2] = abs(rows[:, 2]) + 0.25
    assert not is_by_part(decided(build(tmp_path, rows, likelihood, kind=kind)))


def test_kinds_of_made_columns_are_not_taken_for_the_others(tmp_path: Path) -> None:
    """The bound of weighted residuals asks for weights that are not negative, in every row as it is written."""
    likelihood = "-log(sigma) - y*((1 - x @ beta)/sigma)**2/2"
    kind, made = "{shape: N, is: positive}", "x: [a, b], y: z, columns: {z: y + b - a}"
    rows = table()
    rows[:, 2] = abs(rows[:, 2]) + 4
    assert is_by_part(decided(build(tmp_path, rows, likelihood, kind=kind, columns="x: [a, b], y: y")))
    assert not is_by_part(decided(build(tmp_path, rows, likelihood, kind=kind, columns=made)))


def test_kinds_of_made_columns_are_seen_in_all_rows_or_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one row a + b - y is 0 as it is written, and positive by rounding; no part has it."""
    rows = np.tile([1.0, 1.0, 0.25], (40, 1))
    rows[7] = 0.1, 0.2, 0.3
    kind, columns = "{shape: N, is: positive}", "x: [a, b], y: w, columns: {w: a + b - y}"
    own = build(
        tmp_path, rows, "-y*norm2(beta)", state="beta: {shape: p}", prior="-norm2(beta)", kind=kind, columns=columns
    )
    assert isinstance(decided(own), Undecided)
    monkeypatch.setattr(of_data, "MANY", 20)
    assert isinstance(decided(own), Undecided)


@pytest.mark.parametrize(("bound", "beside"), [("lower(1)", "- s"), ("lower(1)", "- s/5"), ("upper(1)", "+ s/5")])
def test_what_is_stated_of_a_bounded_block_is_of_its_distance(bound: str, beside: str, tmp_path: Path) -> None:
    state = f"beta: {{shape: p}}, s: {{constraint: {bound}}}"
    prior = "-s" if bound == "lower(1)" else "s"
    found = decided(build(tmp_path, table(), f"normal(y, x @ beta, 1) {beside}", state=state, prior=prior))
    assert isinstance(found, Proved)


@pytest.mark.parametrize(
    "columns",
    [
        "x: [s, t], y: y, intercept: true, columns: {s: standardise(a), t: centre(b)}",
        "x: [s, t], y: y, columns: {s: standardise(exp(a)), t: standardise(b)}",
        "x: [a, b], y: y, standardise: x",
    ],
)
def test_means_of_made_columns_are_those_of_all_rows(columns: str, tmp_path: Path) -> None:
    assert is_by_part(decided(build(tmp_path, table(), columns=columns)))


def test_a_column_that_is_constant_but_for_its_mean_has_the_mean_of_all_rows(tmp_path: Path) -> None:
    """In the eight rows that are looked at a is 1, and so is a less its mean over them, 0, beside that over all 40."""
    rows = table()
    looked_at = np.linspace(0, 39, 8).astype(int)
    rows[:, 0] = 3
    rows[looked_at, 0] = 1
    columns = "x: [c, b], y: y, columns: {c: centre(a)}"
    found = decided(build(tmp_path, rows, columns=columns))
    assert is_by_part(found)  # centre(a) is -1.6 there: with their own mean it would be 0, and the rank 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_no_part_shows_finite_what_all_data_show_infinite(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small whole numbers: equal columns, planes, separated classes and too few data come up by themselves."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 2, size=(int(rng.integers(4, 9)), 3)).astype(float)
    power, scale = int(rng.integers(0, 6)), {"prior": f"{rng.integers(0, 6)}*log(sigma)"}
    cases = [(NORMAL, SCALE, "{shape: N}"), ("student_t(y, 3, x @ beta, sigma)", SCALE, "{shape: N}")]
    if set(rows[:, 2]) <= {0, 1} or power % 2:
        rows[:, 2] = rows[:, 2] > 0
        cases += [("bernoulli_logit(y, x @ beta)", "beta: {shape: p}", "{shape: N, in: [0, 1]}")]
    monkeypatch.setattr(part_of_data, "ROWS_EACH", 0)
    monkeypatch.setattr(part_of_data, "FEW", 4 * int(rng.integers(2, 5)))
    for likelihood, state, kind in cases:
        prior = scale["prior"] if "sigma" in state else "0"
        own = build(tmp_path, rows, likelihood, state=state, kind=kind, prior=prior)
        by_part = is_by_part(decided(own))
        with monkeypatch.context() as whole_data:
            whole_data.setattr(part_of_data, "FEW", 10**6)
            whole = decided(own)
        assert not (by_part and isinstance(whole, Refuted | Undecided))

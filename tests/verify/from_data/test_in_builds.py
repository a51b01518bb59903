"""Finite integrals that rest on data: when they are decided, what is kept, what a run reads (`verify/from_data`)."""

import numpy as np
import pytest
from answers import answer, document, expect

from recipe_compiler import limits
from recipe_compiler.cache import Cache, check_once
from recipe_compiler.report.in_builds import list_build_caveats

LINE = """
name: line
state: {beta: {shape: p}, sigma: {domain: positive, transform: log}}
data: {x: {shape: [N, p]}, y: {shape: N}}
ASSUMElog_prior: 0
log_likelihood: -log(sigma) - ((y - x @ beta)/sigma)**2/2
"""
BUILD = """
name: on_data
dynamics: SPECS/dynamics/sghmc.yaml
target: target.yaml
scheme: {name: baoab}
variant: full
data: DATA
MORErun: {step_size: auto}
"""
TABLE = "{file: data.csv, x: a, y: y, intercept: true}"
ROWS = ((0, 1), (1, 3), (2, 2), (3, 5), (4, 4))


def csv(rows, head="a,y"):
    return "\n".join([head, *(",".join(f"{float(x):.17g}" for x in row) for row in rows), ""])


def build(rows=ROWS, data=TABLE, in_target="", more="sizes: {p: 2}\n", target=LINE, **files):
    """Return a build on a table of two columns, its data read."""
    files = {"data.csv": rows if isinstance(rows, str) else csv(rows), **files}
    text = BUILD.replace("DATA", data).replace("MORE", more)
    return document(text, target=target.replace("ASSUME", in_target), **files)


def integral(own):
    return answer(own, "normalisable")


def array(folder, numbers):
    np.save(folder / "of.npy", np.array(numbers))
    return (folder / "of.npy").read_bytes()


def test_no_default_stands_for_a_value_that_the_run_reads(tmp_path, monkeypatch):
    """With w = 0 nothing confines beta, which the default of w, ones, would do."""
    monkeypatch.setattr("recipe_compiler.spec.npy.MANY", 1)
    target = LINE.replace("ASSUME", "parameters: {w: {shape: 2, default: ones}}\n")
    target = target.replace("log_prior: 0", "log_prior: -w[0]**2*norm2(beta)").replace("(y - x @ beta)", "y")
    values = "parameters: {w: {value: w.npy}}\nsizes: {p: 2}\n"
    expect(integral(build(target=target, more=values, **{"w.npy": array(tmp_path, [0.0, 0.0])})), "not proved")


@pytest.mark.slow
def test_a_verdict_that_is_kept_is_not_that_of_other_data(tmp_path):
    for rows, verdict in ((ROWS, "proved"), ([(0, 1), (1, 3), (2, 5), (3, 7)], "refuted")):
        report = check_once(build(rows), Cache(tmp_path / "kept"), advisory=False)
        (found,) = (one for one in report.findings if one.id == "normalisable")
        expect(found, verdict)


def test_what_is_larger_than_is_read_before_a_run_is_left_to_it(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    files = {
        "x.npy": array(tmp_path, rng.normal(size=(150_000, 2))),
        "y.npy": array(tmp_path, rng.normal(size=150_000)),
    }
    given = {"data": "{arrays: {x: x.npy, y: y.npy}}", **files}
    expect(integral(build(**given)), "proved", "the 150000 data of x.npy")
    monkeypatch.setattr("recipe_compiler.run.observed.MOST", 250_000)
    own = build(**given)
    assert own.observed == "x.npy is large, and known when a run begins"
    expect(integral(own), "undecided", own.observed)


@pytest.mark.parametrize(
    ("state", "prior", "pieces"),
    [
        ("m: {}, s: {domain: positive, transform: log}", "normal(m, 0, 1) + half_normal(s, 1)", "normal(y, m, s), 0"),
        ("m: {}", "0", "m**4, normal(y, m, 1)"),
    ],
)
def test_rows_that_are_not_read_may_take_a_piece_that_no_other_takes(state, prior, pieces, monkeypatch):
    """Two equal data leave ds/s, and m**4 grows; both are of a row between those that are read."""
    monkeypatch.setattr(limits, "DATA", 4)
    target = f"""
    name: pieces
    state: {{{state}}}
    data: {{c: {{shape: N}}, y: {{shape: N}}}}
    log_prior: {prior}
    log_likelihood: where(c > 0, {pieces})
    """
    own = build([(0, 1), (1, 2), (1, 2), (0, 5)], "{file: data.csv, c: a, y: y}", target=target, more="")
    found = integral(own)
    assert found.verdict.value == "undecided" or "data outside a null set (ties may be in it)" in found.decision.given


def test_a_number_that_is_none_is_a_caveat_of_the_build():
    assert not any("cannot be used" in one for one in list_build_caveats(build()))
    caveats = list_build_caveats(build("a,y\n1,nan\n"))
    assert any("row 1 (line 2), column `y`: found nan" in one for one in caveats)


@pytest.mark.parametrize(("first", "from_one"), [(0, ""), (1, ", from_one: [g]"), (1, "")])
def test_positions_that_may_be_counted_from_1_are_told(first, from_one):
    target = """
    name: levels
    state: {mu: {shape: J}}
    data: {g: {shape: N, index_of: J}, y: {shape: N}}
    log_prior: normal(mu, 0, 1)
    log_likelihood: normal(y, mu[g], 1)
    """
    rows = [(first + k % 3, k) for k in range(6)]
    own = build(rows, f"{{file: data.csv, g: a, y: y{from_one}}}", target=target, more="")
    told = any("no row has position 0 of `g`" in one for one in list_build_caveats(own))
    assert told is (first == 1 and not from_one)

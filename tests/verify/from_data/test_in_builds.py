"""What is said of a finite integral that rests on data: the facts, what would decide it, what is taken as given."""

import numpy as np
import pytest
from answers import ROOT, SPECS, answer, document, expect, said

from recipe_compiler.cache import Cache, check_once
from recipe_compiler.errors import ModelError
from recipe_compiler.report.in_builds import build_caveats
from recipe_compiler.spec.model import Observed
from recipe_compiler.verify.builds import of_data
from recipe_compiler.verify.builds.of_data import BY_ROUNDING

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
ON_A_LINE = ((0.1, 0.3), (0.2, 0.6), (0.3, 0.9), (0.7, 2.1), (1.1, 3.3))
"""y = 3 a as it is written: 0.1 and 0.3 as doubles are other numbers."""
OFF = (*ON_A_LINE[:4], (1.1, 3.4))
ASSUMED = "assume: [normalisable]\n"


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


def test_facts_of_the_data_are_named_with_their_file():
    found = integral(build())
    data = expect(found, "proved")
    fact = "the 5 data of data.csv: forms of beta of full rank 2, residuals of scale sigma that no beta makes zero"
    assert fact in found.decision.given
    assert data["target: forms of beta of full rank 2"] == "a minor that is not zero modulo a prime"


NEAR = [(1, 1), (1, 3), (1, 2), (1 + 2**-52, 5), (1, 4)]


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        (ROWS, "proved"),
        ([(a, a / 8) for a in range(4)], "refuted"),  # a line of doubles that are what is written
        (ROWS[:3], "refuted"),
        (ROWS[:4], "proved"),
        (NEAR, "proved"),  # columns that differ by a last bit
        ([(1, y) for _, y in NEAR], "refuted"),
        ([(a / 2, y / 4) for a, y in ROWS], "proved"),
        (OFF, "proved"),
    ],
)
def test_data_decide_an_integral_exactly(rows, verdict):
    expect(integral(build(rows)), verdict)


@pytest.mark.parametrize("more", ["", ", standardise: [x]", ", standardise: [x, y]", ", dtype: float32"])
def test_what_lies_on_a_line_as_it_is_written_is_not_off_it_by_rounding(more):
    data = TABLE.replace("}", f"{more}}}")
    expect(integral(build(ON_A_LINE, data)), "undecided", BY_ROUNDING)
    expect(integral(build(OFF, data)), "proved")


def test_columns_that_are_multiples_as_they_are_written_have_no_full_rank():
    """Beside one of 0.1 a column of 0.3 a: their doubles span the plane, the decimals a line."""
    rows = "".join(f"{a},{b},{y}\n" for (a, b), y in zip(ON_A_LINE, (1, 3, 2, 5, 4), strict=True))
    expect(integral(build(f"a,b,y\n{rows}", "{file: data.csv, x: [a, b], y: y}")), "undecided", BY_ROUNDING)


@pytest.mark.parametrize(("rows", "times"), [(ROWS, 1), (OFF, 2)], ids=["equal as doubles", "other numbers as doubles"])
def test_data_that_doubles_hold_as_they_are_written_are_decided_once(rows, times, monkeypatch):
    samples, decide = [], of_data._decided
    monkeypatch.setattr(of_data, "_decided", lambda *given: samples.append(given) or decide(*given))
    expect(integral(build(rows)), "proved")
    assert len(samples) == times


def test_no_default_stands_for_a_value_that_the_run_reads(tmp_path, monkeypatch):
    """With w = 0 nothing confines beta, which the default of w, ones, would do."""
    monkeypatch.setattr("recipe_compiler.spec.npy.MANY", 1)
    target = LINE.replace("ASSUME", "parameters: {w: {shape: 2, default: ones}}\n")
    target = target.replace("log_prior: 0", "log_prior: -w[0]**2*norm2(beta)").replace("(y - x @ beta)", "y")
    expect(integral(build(target=target)), "proved")
    values = "parameters: {w: {value: w.npy}}\nsizes: {p: 2}\n"
    expect(integral(build(target=target, more=values, **{"w.npy": array(tmp_path, [0.0, 0.0])})), "not proved")


@pytest.mark.slow
def test_a_verdict_that_is_kept_is_not_that_of_other_data(tmp_path):
    for rows, verdict in ((ROWS, "proved"), ([(0, 1), (1, 3), (2, 5), (3, 7)], "refuted")):
        report = check_once(build(rows), Cache(tmp_path / "kept"), advisory=False)
        (found,) = (one for one in report.findings if one.id == "normalisable")
        expect(found, verdict)


def test_a_target_says_what_its_data_are_to_show():
    asked = "the full rank of the forms of beta, residuals of scale sigma that no beta makes zero"
    found = integral(document(LINE.replace("ASSUME", "")))
    expect(found, "undecided", f"the data of a build would decide it: {asked}")


def test_what_is_larger_than_is_read_before_a_run_is_left_to_it(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    files = {
        "x.npy": array(tmp_path, rng.normal(size=(150_000, 2))),
        "y.npy": array(tmp_path, rng.normal(size=150_000)),
    }
    given = {"data": "{arrays: {x: x.npy, y: y.npy}}", **files}
    expect(integral(build(**given)), "proved", "6666 of the 150000 data of x.npy, evenly spaced")
    monkeypatch.setattr("recipe_compiler.run.observed.MOST", 250_000)
    own = build(**given)
    assert own.observed == "x.npy is large, and known when a run begins"
    expect(integral(own), "undecided", own.observed)


def test_a_file_that_cannot_be_read_leaves_the_integral_open():
    expect(integral(build("a,y\n1,no number\n")), "undecided", "cannot be read", "no number")
    assert not any("cannot be read" in one for one in build_caveats(build()))
    caveats = build_caveats(build("a,y\n1,nan\n"))
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
    told = any("no datum has position 0 of `g`" in one for one in build_caveats(own))
    assert told is (first == 1 and not from_one)


# what is assumed


@pytest.mark.parametrize("where", [{"in_target": ASSUMED}, {"more": f"sizes: {{p: 2}}\n{ASSUMED}"}])
def test_what_is_assumed_is_given_and_never_proved_alone(where):
    found = integral(build("a,y\n", **where))
    expect(found, "proved", "exp(-U) has a finite integral, as the document states under `assume`")
    assert found.decision.by == "as its author states"


def test_what_is_assumed_and_wrong_is_refuted_and_what_is_shown_is_shown():
    own = f"sizes: {{p: 2}}\n{ASSUMED}"
    expect(integral(build(ROWS[:3], more=own)), "refuted")
    found = integral(build(more=own))
    expect(found, "proved")
    assert "as the document states" not in said(found)


def test_dynamics_cannot_assume_it():
    text = (SPECS / "dynamics/sghmc.yaml").read_text()
    with pytest.raises(ModelError, match="not declared"):
        document(text.replace("functions:", f"{ASSUMED}functions:", 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["earnings", "kidiq", "mesquite", "nes", "rats", "sblrc"])
def test_published_posteriors_have_a_finite_integral(name):
    own = document(ROOT / f"tests/posteriors/builds/{name}.yaml")
    assert isinstance(own.observed, Observed)
    expect(integral(own), "proved")


# as they are declared, and facts of parameters: of the doubles that run and of what is written

WEIGHTED = "state: {mu: {}}\ndata: {w: {shape: N, is: positive}, y: {shape: N}}\nlog_likelihood: -w*(y - mu)**2/2\n"
OF_A_DENSITY = "state: {mu: {}}\ndata: {w: {shape: N}, y: {shape: N}}\nlog_likelihood: normal(y, mu, w)\n"
DECIMALS = "a,b,c,y\n0.1,0.2,0.3,1\n0.1,0.2,0.3,2\n0.2,0.4,0.6,3.5\n"


@pytest.mark.parametrize("target", [WEIGHTED, OF_A_DENSITY], ids=["declared", "of a density"])
def test_what_is_0_as_it_is_written_is_not_positive_by_rounding(target):
    """As doubles 0.1 + 0.2 - 0.3 is 5.6e-17; as they are written U is the same for every mu."""
    data = "{file: data.csv, columns: {made: FORMULA}, w: made, y: y}"
    found, right = (
        integral(build(DECIMALS, data.replace("FORMULA", one), target=target, more=""))
        for one in ("a + b - c", "a + b")
    )
    expect(found, "undecided")
    assert "as it is written has numbers that it may not have" in found.decision.tried[0]
    expect(right, "proved")


FORMS = """
name: forms
state: {b: {shape: 2}}
parameters: {A: {shape: [4, 2]}}
data: {y: {shape: N}}
log_prior: -norm2(A @ b)/2
log_likelihood: -(y - b[0] - 3*b[1])**2/2
"""
ALONE = f"{FORMS[: FORMS.index('data:')]}potential: norm2(A @ b)/2\n"
BEYOND = "[[1, 3], [1, 3.00000000000000000001], [2, 6], [4, 12]]"
LAST = "[[1, 3], [2, 6], [1, {}], [4, 12]]"
MULTIPLES = [[0.1, 0.3], [0.2, 0.6], [0.7, 2.1], [0.4, 1.2]]


@pytest.mark.parametrize(
    ("value", "target", "verdict", "says"),
    [
        # along b = (-3, 1) nothing changes: 0.3 is three times 0.1, though its double is not three times that of 0.1
        (MULTIPLES, FORMS, "undecided", ""),
        ([*MULTIPLES[:3], [0.4, 1.3]], FORMS, "proved", ""),
        (BEYOND, FORMS, "undecided", ""),  # multiples as doubles
        (BEYOND.replace("3.00000000000000000001", "3.5"), FORMS, "proved", ""),
        # a potential is proved only if it is so as doubles and as written
        (LAST.format("3.00000000000000000001"), ALONE, "undecided", ""),
        (LAST.format("1e400"), ALONE, "undecided", "too large for a double"),
        (LAST.format("3.1"), ALONE, "proved", ""),
    ],
)
def test_columns_that_are_multiples_as_doubles_or_as_written_have_no_full_rank(tmp_path, value, target, verdict, says):
    stated = value if isinstance(value, str) else "A.npy"
    files = {} if isinstance(value, str) else {"A.npy": array(tmp_path, value)}
    text = BUILD.replace("MORE", f"bind: {{M: I, C: I}}\nparameters: {{A: {{value: {stated}}}}}\n")
    data = "data: {file: data.csv, y: y}\n" if target == FORMS else ""
    text = text.replace("data: DATA\n", data).replace("auto", "0.01")
    own = document(text, target=target, **{"data.csv": "y\n0.5\n1.5\n2.25\n"}, **files)
    expect(integral(own), verdict, says)


# `where` on the data alone: read as the piece that each datum takes, so as a sum of pieces times zeros and ones

LEVEL = """
state: {l: {shape: T}, q: {domain: positive, transform: log}, s: {domain: positive, transform: log}}
data: {y: {shape: N}, t: {shape: N, index_of: T}, before: {shape: N, index_of: T}, first: {shape: N, in: [0, 1]}}
log_prior: -log(1 + q**2) - log(1 + s**2)
log_likelihood: normal(y, l[t], s) + PIECES
"""
CHOICE = "where(first > 0, normal(l[t], 0, 5), normal(l[t], l[before], q))"
MASKED = "first*normal(l[t], 0, 5) + (1 - first)*normal(l[t], l[before], q)"


@pytest.mark.parametrize("pieces", [CHOICE, MASKED], ids=["where", "masked"])
@pytest.mark.parametrize(
    ("each", "verdict"),
    # of each seen once q**-7 and s**-8 are taken by l, and no l makes all residuals zero; twice, q**-14 leaves q**-7
    [(1, "proved"), (2, "refuted")],
)
def test_pieces_are_read_as_what_they_are(each, verdict, pieces):
    """A series of eight levels, each seen so often."""
    levels = enumerate((3, 1, 4, 1, 5, 9, 2, 6))
    rows = [(y + r, k, max(k - 1, 0), k == 0) for k, y in levels for r in range(each)]
    data = "{file: data.csv, y: y, t: t, before: before, first: first}"
    expect(
        integral(build(csv(rows, "y,t,before,first"), data, target=LEVEL.replace("PIECES", pieces), more="")), verdict
    )


CENSORED = """
state: {beta: {shape: p}, sigma: {domain: positive, transform: log}}
data: {x: {shape: [N, p]}, y: {shape: N}, c: {shape: N, is: nonnegative}}
log_prior: PRIOR
log_likelihood: PIECES
"""
RESIDUAL, PRIOR = "normal(y, x @ beta, sigma)", "normal(beta, 0, 1) + half_normal(sigma, 1)"
CUT = "a,y,c\n0,1,0\n1,3,1\n2,2,2\n3,5,2\n4,4,2\n5,5,2\n"
EQUAL, OTHERS = "a,y,c\n0,1,0.03\n1,3,0.03\n2,2,0.03\n3,5,0.03\n4,4,0.03\n", "4,4,0.04\n5,9,0.05\n"
UNEQUAL = EQUAL.replace("4,4,0.03\n", OTHERS)
MIXED = f"where(c {{}}, {RESIDUAL}, student_t(y, 4, x @ beta, sigma))"
OF_STATE = f"where(sigma > 1, {RESIDUAL}, {RESIDUAL.replace('sigma', '2*sigma')})"


@pytest.mark.parametrize(
    ("rows", "prior", "pieces", "verdict"),
    [
        # four rows and more on no line are enough for two coefficients and sigma, one or none are not
        *((CUT, "0", f"where(c {one}, {RESIDUAL}, 0)", "proved") for one in (">= 0", "> 0", "> 1", "== 2")),
        *((CUT, "0", f"where(c {one}, {RESIDUAL}, 0)", "refuted") for one in ("== 1", "> 2")),
        # of c = 0 the logarithm has no value, and the piece is another
        (CUT, "0", f"where(c > 0, {RESIDUAL} + log(c), {RESIDUAL})", "proved"),
        (CUT, "0", OF_STATE, "undecided"),  # the state decides
        # 0.03 + 0.26 > 0.29 holds of doubles, not of what is written: the run takes the other piece
        *(
            (EQUAL, "0", f"where({one}, 3*log(sigma), 0) + {RESIDUAL}", "undecided")
            for one in ("c + 0.26 > 0.29", "c > 0.03")
        ),
        (UNEQUAL, PRIOR, MIXED.format("> 0"), "proved"),
        (UNEQUAL, PRIOR, MIXED.format("+ 0.26 > 0.29"), "not proved"),
    ],
)
def test_data_that_are_cut_away_show_nothing(rows, prior, pieces, verdict):
    target = CENSORED.replace("PRIOR", prior).replace("PIECES", pieces)
    data = "{file: data.csv, x: a, y: y, c: c, intercept: true}"
    expect(integral(build(rows, data, target=target, more="")), verdict)

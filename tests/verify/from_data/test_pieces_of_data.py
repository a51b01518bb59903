"""`where` on the data alone: read as the piece that each datum takes, so as a sum of pieces times zeros and ones."""

from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.run.observed import observed
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Decision, Proved, Refuted
from recipe_compiler.verify.builds.normalisable import normalisable_build

ROOT = Path(__file__).parents[3]
BUILD = f"""
format: 1
name: levels
dynamics: {ROOT / "specs" / "dynamics" / "sghmc.yaml"}
target: target.yaml
scheme: {{name: baoab}}
variant: full
data: {{file: data.csv, FIELDS}}
run: {{step_size: auto}}
"""
LEVEL = """
format: 1
name: level
state: {l: {shape: T}, q: {domain: positive, transform: log}, s: {domain: positive, transform: log}}
data:
  y: {shape: N}
  t: {shape: N, index_of: T}
  before: {shape: N, index_of: T}
  first: {shape: N, in: [0, 1]}
log_prior: -log(1 + q**2) - log(1 + s**2)
log_likelihood: normal(y, l[t], s) + PIECES
"""
PIECES = "where(first > 0, normal(l[t], 0, 5), normal(l[t], l[before], q))"
MASKED = "first*normal(l[t], 0, 5) + (1 - first)*normal(l[t], l[before], q)"
FIELDS = "y: y, t: t, before: before, first: first"


def decided(folder: Path, target: str, rows: str, fields: str) -> Decision:
    (folder / "target.yaml").write_text(target)
    (folder / "data.csv").write_text(rows)
    (folder / "build.yaml").write_text(BUILD.replace("FIELDS", fields))
    own = observed(load_build(folder / "build.yaml"))
    assert isinstance(own, Build)
    return normalisable_build(own, bind(own)).decision


def levels(each: int) -> str:
    """Return a series of eight levels, each seen so often."""
    y = (3, 1, 4, 1, 5, 9, 2, 6)
    rows = [f"{y[k] + r},{k},{max(k - 1, 0)},{int(k == 0)}" for k in range(8) for r in range(each)]
    return "\n".join(["y,t,before,first", *rows, ""])


@pytest.mark.parametrize("pieces", [PIECES, MASKED], ids=["where", "masked"])
@pytest.mark.parametrize(
    ("each", "expected"),
    # of each seen once q**-7 and s**-8 are taken by l, and no l makes all residuals zero; twice, q**-14 leaves q**-7
    [(1, Proved), (2, Refuted)],
)
def test_pieces_are_read_as_what_they_are(each: int, expected: type, pieces: str, tmp_path: Path) -> None:
    found = decided(tmp_path, LEVEL.replace("PIECES", pieces), levels(each), FIELDS)
    assert isinstance(found, expected)


CENSORED = """
format: 1
name: cut
state: {beta: {shape: p}, sigma: {domain: positive, transform: log}}
data: {x: {shape: [N, p]}, y: {shape: N}, c: {shape: N, is: nonnegative}}
log_prior: 0
log_likelihood: where(c CONDITION, normal(y, x @ beta, sigma), 0)
"""
CUT = "x: a, y: y, c: c, intercept: true"
TABLE = "a,y,c\n0,1,0\n1,3,1\n2,2,2\n3,5,2\n4,4,2\n5,5,2\n"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [(">= 0", Proved), ("> 0", Proved), ("> 1", Proved), ("== 2", Proved), ("== 1", Refuted), ("> 2", Refuted)],
)
def test_data_that_are_cut_away_show_nothing(condition: str, expected: type, tmp_path: Path) -> None:
    """Four rows and more on no line are enough for two coefficients and sigma, one or none are not."""
    found = decided(tmp_path, CENSORED.replace("CONDITION", condition), TABLE, CUT)
    assert isinstance(found, expected)


def test_what_is_not_taken_need_not_be_defined(tmp_path: Path) -> None:
    """Of c = 0 the logarithm has no value, and the piece is another."""
    pieces = "where(c > 0, normal(y, x @ beta, sigma) + log(c), normal(y, x @ beta, sigma))"
    target = CENSORED.replace("where(c CONDITION, normal(y, x @ beta, sigma), 0)", pieces)
    assert isinstance(decided(tmp_path, target, TABLE, CUT), Proved)


def test_where_the_state_decides_it_is_not_read(tmp_path: Path) -> None:
    target = CENSORED.replace("c CONDITION", "sigma > 1").replace("sigma), 0)", "sigma), normal(y, x @ beta, 2*sigma))")
    assert not isinstance(decided(tmp_path, target, TABLE, CUT), Proved | Refuted)


def test_what_rounding_may_decide_is_not_read(tmp_path: Path) -> None:
    """0.03 + 0.26 > 0.29 holds of doubles, not of what is written: the run takes the other piece."""
    rows = "a,y,c\n0,1,0.03\n1,3,0.03\n2,2,0.03\n3,5,0.03\n4,4,0.03\n"
    target = CENSORED.replace(
        "where(c CONDITION, normal(y, x @ beta, sigma), 0)", "PIECES + normal(y, x @ beta, sigma)"
    )
    for condition in ("c + 0.26 > 0.29", "c > 0.03"):
        pieces = target.replace("PIECES", f"where({condition}, 3*log(sigma), 0)")
        assert not isinstance(decided(tmp_path, pieces, rows, CUT), Proved | Refuted)


def test_cases_of_the_data_are_none_where_rounding_may_decide(tmp_path: Path) -> None:
    """Of c > 0 they are; of 0.03 + 0.26 > 0.29 doubles take the first piece, and what is written the second."""
    rows = "a,y,c\n0,1,0.03\n1,3,0.03\n2,2,0.03\n3,5,0.03\n4,4,0.04\n5,9,0.05\n"
    pieces = "where(c CONDITION, normal(y, x @ beta, sigma), student_t(y, 4, x @ beta, sigma))"
    target = CENSORED.replace("log_prior: 0", "log_prior: normal(beta, 0, 1) + half_normal(sigma, 1)")
    target = target.replace("where(c CONDITION, normal(y, x @ beta, sigma), 0)", pieces)
    assert isinstance(decided(tmp_path, target.replace("CONDITION", "> 0"), rows, CUT), Proved)
    assert not isinstance(decided(tmp_path, target.replace("CONDITION", "+ 0.26 > 0.29"), rows, CUT), Proved)

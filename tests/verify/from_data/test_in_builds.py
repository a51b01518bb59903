"""What is said of a finite integral that rests on data: the facts, what would decide it, what is taken as given."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build, load_dynamics, load_target

from recipe_compiler.cache import Cache, check_once
from recipe_compiler.errors import ModelError
from recipe_compiler.report.in_builds import build_caveats
from recipe_compiler.run.observed import observed
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Observed
from recipe_compiler.verdict import Answer, Decision, Finding, Proved, Refuted, Undecided
from recipe_compiler.verify.builds import of_data
from recipe_compiler.verify.builds.cases import Sample
from recipe_compiler.verify.builds.normalisable import normalisable_alone, normalisable_build
from recipe_compiler.verify.builds.of_data import BY_ROUNDING
from recipe_compiler.verify.builds.part_of_data import Rest

ROOT = Path(__file__).parents[3]
SGHMC = ROOT / "specs" / "dynamics" / "sghmc.yaml"

TARGET = """
format: 1
name: line
state: {beta: {shape: p}, sigma: {domain: positive, transform: log}}
data: {x: {shape: [N, p]}, y: {shape: N}}
ASSUMElog_prior: 0
log_likelihood: -log(sigma) - ((y - x @ beta)/sigma)**2/2
"""
BUILD = """
format: 1
name: line_build
dynamics: DYNAMICS
target: target.yaml
scheme: {name: baoab}
variant: full
sizes: {p: 2}
data: DATA
ASSUMErun: {step_size: auto}
"""
TABLE = "{file: data.csv, x: a, y: y, intercept: true}"
ROWS = ((0, 1), (1, 3), (2, 2), (3, 5), (4, 4))


def build(folder: Path, rows: object = ROWS, data: str = TABLE, in_target: str = "", in_build: str = "") -> Build:
    """Return a regression on a table of two columns."""
    table = np.asarray(rows, dtype=float)
    np.savetxt(folder / "data.csv", table, delimiter=",", header="a,y", comments="", fmt="%.17g")
    (folder / "target.yaml").write_text(TARGET.replace("ASSUME", in_target))
    text = BUILD.replace("DYNAMICS", str(SGHMC)).replace("DATA", data).replace("ASSUME", in_build)
    (folder / "build.yaml").write_text(text)
    return load_build(folder / "build.yaml")


def decided(document: Build) -> Decision:
    """Return what is decided of the integral, the data being read."""
    own = observed(document)
    assert isinstance(own, Build)
    return normalisable_build(own, bind(own)).decision


def test_facts_of_the_data_are_named_with_their_file(tmp_path: Path) -> None:
    found = decided(build(tmp_path))
    assert isinstance(found, Proved)
    fact = "the 5 data of data.csv: forms of beta of full rank 2, residuals of scale sigma that no beta makes zero"
    assert fact in found.given
    assert dict(found.data)["target: forms of beta of full rank 2"] == "a minor that is not zero modulo a prime"


def test_no_default_stands_for_a_value_that_the_run_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With w = 0 nothing confines beta, which the default of w, ones, would do."""
    np.save(tmp_path / "w.npy", np.zeros(2))
    monkeypatch.setattr("recipe_compiler.spec.npy.MANY", 1)
    build(tmp_path)
    target = TARGET.replace("ASSUME", "parameters: {w: {shape: 2, default: ones}}\n")
    target = target.replace("log_prior: 0", "log_prior: -w[0]**2*norm2(beta)").replace("(y - x @ beta)", "y")
    (tmp_path / "target.yaml").write_text(target)
    assert isinstance(decided(load_build(tmp_path / "build.yaml")), Proved)
    values = (tmp_path / "build.yaml").read_text().replace("sizes:", "parameters: {w: {value: w.npy}}\nsizes:")
    (tmp_path / "build.yaml").write_text(values)
    assert not isinstance(decided(load_build(tmp_path / "build.yaml")), Proved)


@pytest.mark.slow
def test_a_verdict_that_is_kept_is_not_that_of_other_data(tmp_path: Path) -> None:
    def verdict(rows: object) -> Finding:
        report = check_once(build(tmp_path, rows), Cache(tmp_path / "kept"), advisory=False)
        return next(finding for finding in report.findings if finding.id == "normalisable")

    assert isinstance(verdict(ROWS).decision, Proved)
    assert isinstance(verdict([(0, 1), (1, 3), (2, 5), (3, 7)]).decision, Refuted)


def test_a_line_of_doubles_that_are_what_is_written_is_one(tmp_path: Path) -> None:
    assert isinstance(decided(build(tmp_path, [(a, a / 8) for a in range(4)])), Refuted)


def test_one_more_row_makes_three_points_enough(tmp_path: Path) -> None:
    assert isinstance(decided(build(tmp_path, ROWS[:3])), Refuted)
    assert isinstance(decided(build(tmp_path, ROWS[:4])), Proved)


def test_columns_that_differ_by_a_last_bit_have_full_rank(tmp_path: Path) -> None:
    near = [(1, 1), (1, 3), (1, 2), (1 + 2**-52, 5), (1, 4)]
    assert isinstance(decided(build(tmp_path, near)), Proved)
    assert isinstance(decided(build(tmp_path, [(1, y) for _, y in near])), Refuted)


def test_a_target_says_what_its_data_are_to_show(tmp_path: Path) -> None:
    build(tmp_path)
    found = normalisable_alone(load_target(tmp_path / "target.yaml")).decision
    assert isinstance(found, Undecided)
    asked = "the full rank of the forms of beta, residuals of scale sigma that no beta makes zero"
    assert f"the data of a build would decide it: {asked}" in found.tried


def test_what_is_larger_than_is_read_before_a_run_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(150_000, 2)))
    np.save(tmp_path / "y.npy", rng.normal(size=150_000))
    large = build(tmp_path, data="{arrays: {x: x.npy, y: y.npy}}")
    found = decided(large)
    assert isinstance(found, Proved)
    assert any("6666 of the 150000 data of x.npy, evenly spaced" in fact for fact in found.given)
    monkeypatch.setattr("recipe_compiler.run.observed.MOST", 250_000)
    own = observed(large)
    assert isinstance(own, Build)
    assert own.observed == "x.npy is large, and known when a run begins"
    found = decided(own)
    assert isinstance(found, Undecided)
    assert own.observed in found.tried


def test_a_file_that_cannot_be_read_leaves_the_integral_open(tmp_path: Path) -> None:
    own = build(tmp_path)
    (tmp_path / "data.csv").write_text("a,y\n1,no number\n")
    found = decided(own)
    assert isinstance(found, Undecided)
    assert any("cannot be read" in reason and "no number" in reason for reason in found.tried)


def test_a_report_says_that_data_were_not_looked_at(tmp_path: Path) -> None:
    own = observed(build(tmp_path))
    assert isinstance(own, Build)
    assert not any("cannot be read" in one for one in build_caveats(own))
    (tmp_path / "data.csv").write_text("a,y\n1,nan\n")
    own = observed(load_build(tmp_path / "build.yaml"))
    assert isinstance(own, Build)
    assert any("row 1 (line 2), column `y`: found nan" in one for one in build_caveats(own))


@pytest.mark.parametrize(("first", "from_one"), [(0, ""), (1, ", from_one: [g]"), (1, "")])
def test_positions_that_may_be_counted_from_1_are_told(first: int, from_one: str, tmp_path: Path) -> None:
    rows = "".join(f"{first + k % 3},{k}\n" for k in range(6))
    (tmp_path / "data.csv").write_text(f"a,y\n{rows}")
    laws = "log_prior: normal(mu, 0, 1)\nlog_likelihood: normal(y, mu[g], 1)\n"
    target = "name: levels\nstate: {mu: {shape: J}}\ndata: {g: {shape: N, index_of: J}, y: {shape: N}}\n"
    (tmp_path / "target.yaml").write_text(target + laws)
    text = BUILD.replace("DYNAMICS", str(SGHMC)).replace("sizes: {p: 2}\n", "").replace("ASSUME", "")
    (tmp_path / "build.yaml").write_text(text.replace("DATA", f"{{file: data.csv, g: a, y: y{from_one}}}"))
    own = observed(load_build(tmp_path / "build.yaml"))
    assert isinstance(own, Build)
    told = any("no datum has position 0 of `g`" in one for one in build_caveats(own))
    assert told is (first == 1 and not from_one)


@pytest.mark.parametrize("where", ["in_target", "in_build"])
def test_what_is_assumed_is_given_and_never_proved_alone(where: str, tmp_path: Path) -> None:
    (tmp_path / "y.npy").write_bytes(b"")
    own = build(tmp_path, **{where: "assume: [normalisable]\n"})
    (tmp_path / "data.csv").unlink()
    found = decided(own)
    assert isinstance(found, Proved)
    assert "exp(-U) has a finite integral, as the document states under `assume`" in found.given
    assert found.by == "as its author states"


def test_what_is_assumed_and_wrong_is_refuted(tmp_path: Path) -> None:
    assert isinstance(decided(build(tmp_path, ROWS[:3], in_build="assume: [normalisable]\n")), Refuted)


def test_what_is_assumed_and_shown_is_shown(tmp_path: Path) -> None:
    found = decided(build(tmp_path, in_build="assume: [normalisable]\n"))
    assert isinstance(found, Proved)
    assert not any("as the document states" in fact for fact in found.given)


def test_dynamics_cannot_assume_it(tmp_path: Path) -> None:
    text = SGHMC.read_text(encoding="utf-8").replace("functions:", "assume: [normalisable]\nfunctions:", 1)
    (tmp_path / "dynamics.yaml").write_text(text)
    with pytest.raises(ModelError, match="not declared"):
        load_dynamics(tmp_path / "dynamics.yaml")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["earnings", "kidiq", "mesquite", "nes", "rats", "sblrc"])
def test_published_posteriors_have_a_finite_integral(name: str) -> None:
    own = observed(load_build(ROOT / "tests" / "posteriors" / "builds" / f"{name}.yaml"))
    assert isinstance(own, Build)
    assert isinstance(own.observed, Observed)
    assert isinstance(decided(own), Proved)


LINE = ((0.1, 0.3), (0.2, 0.6), (0.3, 0.9), (0.7, 2.1), (1.1, 3.3))
"""y = 3 a as it is written: 0.1 and 0.3 as doubles are other numbers."""
OFF = ((0.1, 0.3), (0.2, 0.6), (0.3, 0.9), (0.7, 2.1), (1.1, 3.4))


@pytest.mark.parametrize("more", ["", ", standardise: [x]", ", standardise: [x, y]", ", dtype: float32"])
def test_what_lies_on_a_line_as_it_is_written_is_not_off_it_by_rounding(more: str, tmp_path: Path) -> None:
    data = TABLE.replace("}", f"{more}}}")
    exact = {Fraction(y) - 3 * Fraction(a) for a, y in LINE}
    assert exact != {0}
    found = decided(build(tmp_path, LINE, data))
    assert isinstance(found, Undecided)
    assert any(BY_ROUNDING in reason for reason in found.tried), found.tried
    assert isinstance(decided(build(tmp_path, OFF, data)), Proved)


def test_columns_that_are_multiples_as_they_are_written_have_no_full_rank(tmp_path: Path) -> None:
    """Beside one of 0.1 a column of 0.3 a: their doubles span the plane, the decimals a line."""

    def found(third: float) -> Decision:
        rows = [(a, y, k) for (a, y), k in zip(LINE, (1, 3, 2, 5, third), strict=True)]
        text = "a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows)
        document = build(tmp_path, data="{file: data.csv, x: [a, b], y: y}")
        (tmp_path / "data.csv").write_text(text)
        return decided(document)

    decision = found(4)
    assert isinstance(decision, Undecided)
    assert any(BY_ROUNDING in reason for reason in decision.tried), decision.tried


def test_whole_numbers_are_as_they_are_written(tmp_path: Path) -> None:
    assert isinstance(decided(build(tmp_path, ROWS)), Proved)
    halves = tuple((a / 2, y / 4) for a, y in ROWS)
    assert isinstance(decided(build(tmp_path, halves)), Proved)


@pytest.mark.parametrize(("rows", "times"), [(ROWS, 1), (OFF, 2)], ids=["equal as doubles", "other numbers as doubles"])
def test_data_that_doubles_hold_as_they_are_written_are_decided_once(
    rows: object, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples: list[object] = []
    decide = of_data._decided

    def counted(build: Build, general: Answer, observed: Observed, sample: Sample, rest: Rest | None) -> Answer:
        samples.append(sample)
        return decide(build, general, observed, sample, rest)

    monkeypatch.setattr(of_data, "_decided", counted)
    assert isinstance(decided(build(tmp_path, rows)), Proved)
    assert len(samples) == times

"""Grades between ordered cuts, `ordered_logistic`: against logistic laws of SciPy and 50 digits, as a formula, as
emitted code, as draws; proved to be laws; and entries of a row of positions at numbers, which it is made of."""

from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from loaders import load_build
from mpmath import mpf
from scipy import stats

from recipe_compiler.algebra.structure.psd import sign
from recipe_compiler.errors import Place
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Datum, Declarations
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.run.data import load_data
from recipe_compiler.run.evaluate import Point, evaluate_rows
from recipe_compiler.run.predictive import _Drawer, predictive_of

SPECS = Path(__file__).parents[2] / "specs"
CUTS = np.array([-1.5, 0.25, 2.0])


def typed(d: int) -> Formula:
    cuts = Block("c", Shape(d), constraint=Constraint.ORDERED)
    declared = Declarations((Block("eta"), cuts), data=(Datum("y", "N", Shape(None, d + 1), is_index=True),))
    where, text = Place("t"), "ordered_logistic(y, eta, c)"
    return elaborate(parse(text, "log_likelihood", where), Scope(declared, densities=True), SCALAR, "", where)


def value(grade: int, eta: float, c: np.ndarray) -> float:
    row = np.eye(len(c) + 1)[grade].reshape(1, 1, -1)
    at = Point({"eta": np.asarray(eta), "c": c.reshape(-1, 1)}, {})
    return float(np.ravel(evaluate_rows(typed(len(c)), at, {"y": row}))[0])


@pytest.mark.parametrize("cuts", [CUTS, CUTS[:1], CUTS[:2]])
@pytest.mark.parametrize("eta", [-3.0, 0.0, 1.7])
def test_grades_have_the_probabilities_of_logistic_noise(cuts: np.ndarray, eta: float) -> None:
    wanted = np.diff(stats.logistic(eta).cdf([-np.inf, *cuts, np.inf]))
    found = [value(k, eta, cuts) for k in range(len(cuts) + 1)]
    np.testing.assert_allclose(found, np.log(wanted), rtol=1e-12)
    assert np.exp(found).sum() == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize("eta", [-40.0, 0.3, 60.0])
@pytest.mark.parametrize("gap", [1e-9, 0.5, 50.0])
def test_no_digit_is_lost_far_out_or_between_close_cuts(eta: float, gap: float) -> None:
    c = np.array([0.25, 0.25 + gap])
    with mpmath.workdps(50):
        low, high = (1 / (1 + mpmath.exp(mpf(eta) - mpf(one))) for one in c)
        wanted = [mpmath.log(low), mpmath.log(high - low), mpmath.log(1 / (1 + mpmath.exp(mpf(c[1]) - mpf(eta))))]
    for k, one in enumerate(wanted):
        assert value(k, eta, c) == pytest.approx(float(one), rel=1e-14, abs=1e-300), k


TARGET = """
state: {b: {shape: 2}, c: {shape: 3, constraint: ordered}}
data: {x: {shape: [N, 2]}, y: {shape: N, index_of: 4}}
log_prior: normal(b, 0, 5) + normal(c, 0, 5)
log_likelihood: ordered_logistic(y, x @ b, c)
"""
BUILD = f"""
name: t
dynamics: {SPECS}/dynamics/sgld.yaml
target: t.yaml
bind: {{D: I}}
scheme: {{name: euler}}
variant: full
data: {{file: data.csv, x: [a, b], y: g}}
run: {{step_size: 0.01}}
"""
X = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.5], [0.0, 1.0], [1.5, -1.0]])
G = np.array([2, 0, 3, 1, 0])


def written(folder: Path, target: str = TARGET) -> Any:
    (folder / "t.yaml").write_text(f"name: t\n{target}")
    rows = [f"{g},{a},{b}" for g, (a, b) in zip(G, X, strict=True)]
    (folder / "data.csv").write_text("\n".join(["g,a,b", *rows, ""]))
    (folder / "build.yaml").write_text(BUILD)
    return load_build(folder / "build.yaml")


@pytest.mark.parametrize(
    ("i", "j", "constraint", "positive"),
    [(1, 0, Constraint.ORDERED, True), (2, 0, Constraint.POSITIVE_ORDERED, True), (0, 1, Constraint.ORDERED, False),
     (1, 1, Constraint.ORDERED, False), (1, 0, None, False), (1, 0, Constraint.SIMPLEX, False)],
)  # fmt: skip
def test_entries_of_increasing_blocks_differ_by_what_is_positive(
    i: int, j: int, constraint: Constraint | None, positive: bool
) -> None:
    declared = Declarations((Block("c", Shape(3), constraint=constraint),))
    where = Place("t")
    difference = elaborate(parse(f"c[{i}] - c[{j}]", "H", where), Scope(declared), SCALAR, "", where)
    assert sign(difference, declared).positive is positive


def test_grades_are_drawn_with_their_probabilities() -> None:
    """Counts of 30,000 draws: chi squared of 3 degrees, one false alarm in 10**6."""
    eta, c = np.full((30_000, 1), 0.4), np.broadcast_to(CUTS, (30_000, 3))
    draws = DENSITIES["ordered_logistic"].draw(np.random.default_rng(4), 30_000, eta, c)
    wanted = 30_000 * np.diff(stats.logistic(0.4).cdf([-np.inf, *CUTS, np.inf]))
    assert (((np.bincount(draws, minlength=4) - wanted) ** 2) / wanted).sum() < stats.chi2(3).isf(1e-6)


def test_grades_of_data_are_drawn_row_by_row(tmp_path: Path) -> None:
    build = written(tmp_path)
    found = predictive_of(build.target)
    drawer = _Drawer(build, load_data(build.data, build.target), {}, {})
    n = 400
    b, c = np.array([0.8, -0.6]), CUTS
    posterior = {"b": np.broadcast_to(b, (1, n, 2)).copy(), "c": np.broadcast_to(c, (1, n, 3)).copy()}
    made = drawer.data_at(posterior, found, [np.random.default_rng(6)])["y"][0]
    assert made.shape == (n, len(G))
    for k, x in enumerate(X):
        wanted = n * np.diff(stats.logistic(x @ b).cdf([-np.inf, *c, np.inf]))
        counts = np.bincount(made[:, k].astype(int), minlength=4)
        assert (((counts - wanted) ** 2) / wanted).sum() < stats.chi2(3).isf(1e-7), k

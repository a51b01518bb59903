"""Columns that a build makes of those of its file: by formula, row by row, exactly as NumPy computes them."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy
from loaders import load_build

import recipe_compiler as rc
from recipe_compiler.errors import DataError, DocumentError
from recipe_compiler.run.data import Data, load_data
from recipe_compiler.run.observed import observed
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.to_yaml import archived, from_archive, to_yaml
from recipe_compiler.verdict import Proved, Refuted, Undecided
from recipe_compiler.verify.builds.normalisable import normalisable_build

SPECS = Path(__file__).parents[2] / "specs"
TARGET = """
name: line
state: {beta: {shape: p}}
data: {x: {shape: [N, p]}, y: {shape: N}}
log_prior: 0
log_likelihood: -(y - x @ beta)**2/2
"""
BUILD = f"""
name: made
dynamics: {SPECS}/dynamics/sgld.yaml
target: target.yaml
bind: {{D: I}}
scheme: {{name: euler}}
variant: full
data:
  file: table.csv
  columns: {{COLUMNS}}
  x: [X]
  y: y
run: {{step_size: 0.001, draws: 20, warmup: 5, chains: 2}}
"""
a = np.array([0.3, 49.0, 2.5, 0.7, 8.0, 1.0])
b = np.array([3.0, 49.0, -1.0, 0.25, 2.0, 5.0])
y = np.array([1.0, 0.5, -2.0, 0.1, 3.0, 0.0])


def build(folder: Path, columns: str, x: str, data: str = "") -> Build:
    """Return a regression on columns that are made of `a` and `b`."""
    np.savetxt(folder / "table.csv", np.stack([a, b, y], 1), "%.17g", ",", header="a,b,y", comments="")
    (folder / "target.yaml").write_text(TARGET)
    text = BUILD.replace("COLUMNS", columns).replace("[X]", f"[{x}]").replace("  y: y\n", f"  y: y\n{data}")
    (folder / "build.yaml").write_text(text)
    return load_build(folder / "build.yaml")


def data_of(own: Build) -> Data:
    return load_data(own.data, own.target)


def standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


MADE = {
    "log(a)": np.log(a),
    "standardise(a)": standard(a),
    "a*b": a * b,
    "a**2 - 3*b": a**2 - 3 * b,
    "centre(b)": b - b.mean(),
    "a/b": a / b,
    "a/10": a / 10,
    "a/b >= 1": (a / b >= 1).astype(float),
    "b > 2": (b > 2).astype(float),
    "where(b > 0, log(abs(b)), -1)": np.where(b > 0, np.log(abs(b)), -1),
    "maximum(a, b)": np.maximum(a, b),
    "standardise(log(a) - mean(b))/sd(a*b)": standard(np.log(a) - b.mean()) / (a * b).std(),
    "standardise(standardise(a)**2)": standard(standard(a) ** 2),
    "cos(2*pi*a)": np.cos(2 * np.pi * a),
    "mean(a) - mean(a)": np.zeros(6),
}


def test_formulas_are_those_of_numpy(tmp_path: Path) -> None:
    columns = ", ".join(f'c{k}: "{formula}"' for k, formula in enumerate(MADE))
    x = data_of(build(tmp_path, columns, ", ".join(f"c{k}" for k in range(len(MADE))))).fields[0]
    assert x.columns == tuple(f"c{k}" for k in range(len(MADE)))
    for k, (formula, expected) in enumerate(MADE.items()):
        np.testing.assert_allclose(x.values[:, k], expected, rtol=4e-16, atol=1e-16, err_msg=formula)


def test_a_quotient_is_compared_as_it_is_rounded_once(tmp_path: Path) -> None:
    """In doubles 49 times (1/49) is less than 1."""
    x = data_of(build(tmp_path, "same: a/b >= 1, tenth: b/10 <= 0.3", "same, tenth")).fields[0]
    assert x.values[1].tolist() == [1, 0]
    assert x.values[0].tolist() == [0, 1]
    assert 49.0 * (1 / 49.0) < 1.0


def test_made_columns_are_made_of_made_ones_in_any_order(tmp_path: Path) -> None:
    own = build(tmp_path, "z: standardise(xz), xz: la*b, la: log(a), unused: log(b)", "z, b, la")
    assert own.data is not None
    assert own.data.read == ("b", "y", "a")
    x = data_of(own).fields[0]
    np.testing.assert_allclose(x.values, np.stack([standard(np.log(a) * b), b, np.log(a)], 1), rtol=1e-15)


def test_fields_of_made_columns_are_standardised_and_checked_too(tmp_path: Path) -> None:
    own = build(tmp_path, "la: log(a), sq: b**2", "la, sq", "  standardise: [x]\n")
    x = data_of(own).fields[0].values
    np.testing.assert_allclose(x, np.stack([standard(np.log(a)), standard(b**2)], 1), rtol=1e-14)


FAR = {
    "large": (1e200, [1.0, 2.0, -3.0, 4.0, 5.0, 9.0]),
    "largest": (1.7e308, [1.0, -1.0, -1.0, 0.5, 1.0, -1.0]),
    "small": (1e-170, [1.0, 2.0, -3.0, 4.0, 5.0, 9.0]),
    "subnormal": (5e-324, [1e9, 2e9, -3e9, 4e9, 5e9, 9e9]),
    "large, most of them the same": (1e200, [7.0, 7.0, 7.0, 7.0, 9.0, 9.0]),
    "small, the first all zeros": (1e-200, [0.0, 0.0, 0.0, 0.0, 1.0, 3.0]),
    "large after small": (1e200, [1e-300, 2e-300, 3e-300, 1.0, 2.0, 4.0]),
}


@pytest.mark.parametrize("far", FAR)
def test_squares_neither_overflow_nor_underflow(tmp_path: Path, far: str) -> None:
    """Columns beyond 1e154 and below 1e-154 are standardised as those near 1 are."""
    unit, numbers = FAR[far]
    columns = "z: standardise(f), s: sd(f), m: mean(f), c: centre(f/2)"
    own = build(tmp_path, columns, "f, z, s, m, c")
    table = np.stack([np.array(numbers) * unit, y], 1)
    np.savetxt(tmp_path / "table.csv", table, "%.17g", ",", header="f,y", comments="")
    x = data_of(own).fields[0].values
    exact = [Fraction(number) for number in table[:, 0]]
    mean = sum(exact) / 6
    centred = np.array([float((e - mean) / Fraction(unit)) for e in exact])
    sd = np.sqrt(np.mean(centred**2))
    np.testing.assert_allclose(x[:, 1], centred / sd, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(x[:, 2] / unit, sd, rtol=1e-9 if far == "subnormal" else 1e-14)
    np.testing.assert_allclose(x[:, 3], float(mean), rtol=1e-9 if far == "subnormal" else 1e-14)
    np.testing.assert_allclose(x[:, 4] / unit, centred / 2, rtol=1e-9 if far == "subnormal" else 1e-14, atol=1e-15)


REFUSED: list[tuple[list[float] | None, str, str]] = [
    ([0] * 5 + [5e-324], "c: sd(f)", "column `sd(f)`: found rows from 0.0 to 5e-324, whose standard deviation"),
    ([2**53 + 2 * k for k in range(6)], "c: standardise(f)", "from 9007199254740992.0 to 9007199254741002.0"),
    ([3e-170] * 6, "c: standardise(f)", "`standardise(f)`: every row is 3e-170, so it cannot be standardised"),
    ([-1.7e308] * 5 + [1.7e308], "c: centre(f)", "row 6 (line 7), column `centre(f)`: found inf by f at f = 1.7e+308"),
    (None, "c: log(b)", "row 3 (line 4), column `c`: found nan by log(b) at b = -1, expected a number"),
    (None, "c: sqrt(b - 1)*a", "row 3 (line 4), column `c`: found nan by sqrt(b - 1)*a at b = -1, a = 2.5"),
    (None, "c: 1/(a - 49)", "row 2 (line 3), column `c`: found inf by 1/(a - 49) at a = 49"),
    (None, "c: loggamma(b)", "row 3 (line 4), column `c`: found nan by loggamma(b) at b = -1"),
    (None, "c: exp(exp(a))", "found inf by exp(exp(a)) at a = 49, expected a number, and 1 more row"),
    (None, "c: standardise(log(b))", "column `standardise(log(b))`: found nan by log(b) at b = -1"),
    (None, "c: standardise(b - b)", "column `standardise(b - b)`: every row is 0, so it cannot be standardised"),
    (None, "c: a/sd(b - b)", "column `c`: found inf by a/sd(b - b) at a = 0.3, sd(b - b) = 0"),
    (None, "c: log(aa)", "table.csv: found no column `aa`: did you mean `a`?"),
    (None, "c: a*b, b: 2*a", "table.csv: found a column `b`, which the build makes"),
]  # fmt: skip
"""Numbers of a column f, or those of a and b."""


@pytest.mark.parametrize(("numbers", "columns", "said"), REFUSED)
def test_what_has_no_value_is_named_with_its_row(
    tmp_path: Path, numbers: list[float] | None, columns: str, said: str
) -> None:
    own = build(tmp_path, columns, "c" if numbers is None else "f, c")
    if numbers is not None:
        np.savetxt(tmp_path / "table.csv", np.stack([numbers, y], 1), "%.17g", ",", header="f,y", comments="")
    with pytest.raises(DataError, match=re.escape(said)):
        data_of(own)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ("c: log(c)", "found `c` in its own formula: c -> c"),
        ("c: d + a, d: 2*c", "found `c` in its own formula: c -> d -> c"),
        ('c: "standardise(a, b)"', "found 2 arguments of standardise(), expected one"),
        ("c: logg(a)", "'logg' is neither declared nor a function of the language"),
        ("c: sum(a)", "found a scalar, expected a vector or a matrix in sum()"),
        ('c: "sum([a, b])"', "found sum(), expected functions of one row's numbers, or mean, sd, centre, standardise"),
        ("c: a @ b.T", "expected"),
        ("c: a +", "expected"),
        ('c: "a[0]"', "a scalar has no entries"),
        ("c: grad(a, b)", "expected the name of a block"),
        ('c: "N(0, a)"', "N"),
        ("c: 2*a}\n  arrays: {x: x.npy, y: y.npy", "found `columns` beside `arrays`"),
    ],
)
def test_what_means_nothing_is_a_fault(tmp_path: Path, columns: str, problem: str) -> None:
    with pytest.raises(DocumentError) as caught:
        build(tmp_path, columns, "c")
    found = [fault for fault in caught.value.faults if problem in str(fault)]
    assert found
    assert "arrays" in columns or (found[0].entry, found[0].where.line) == ("data.columns.c", 10)


def test_an_integral_rests_on_the_numbers_that_are_made(tmp_path: Path) -> None:
    """Forms of full rank, or not, as the exact numbers of the doubles are, and as the formulas say."""

    def decided(columns: str) -> object:
        own = observed(build(tmp_path, columns, "a, c"))
        assert isinstance(own, Build)
        return normalisable_build(own, bind(own)).decision

    assert isinstance(decided("c: a**2"), Proved)
    assert isinstance(decided("c: 4*a"), Refuted)
    assert isinstance(decided("c: a/10 + a**2"), Proved)
    assert isinstance(decided("c: a/10"), Undecided)  # of full rank as doubles: a/10 is rounded, row by row


def test_formulas_stay_with_the_build(tmp_path: Path) -> None:
    own = build(tmp_path, 'z: "standardise(where(a > 1, a, b))"', "z")
    assert to_yaml(own)
    again = from_archive(archived(own))
    assert again.data == own.data
    np.testing.assert_array_equal(data_of(again).fields[0].values, data_of(own).fields[0].values)


def test_formulas_of_python_are_the_same(tmp_path: Path) -> None:
    own = build(tmp_path, "z: log(a)*b + a**2, late: a > 1", "z, late")
    s, t = sympy.symbols("a b")
    stated = rc.Build(
        name="made", dynamics=f"{SPECS}/dynamics/sgld.yaml", target=str(tmp_path / "target.yaml"), scheme="euler",
        variant="full", step_size=0.001, bind={"D": "I"},
        data={"file": str(tmp_path / "table.csv"), "columns": {"z": sympy.log(s) * t + s**2, "late": s > 1},
              "x": ["z", "late"], "y": "y"},
    )  # fmt: skip
    assert stated.document.data is not None
    np.testing.assert_array_equal(data_of(stated.document).fields[0].values, data_of(own).fields[0].values)


def test_the_example_of_the_reference_runs_on_what_ships(tmp_path: Path) -> None:
    section = (SPECS.parent / "docs/spec_reference.md").read_text().split("#### Made columns")[1]
    (tmp_path / "example.yaml").write_text(section.split("```yaml")[1].split("```")[0])
    own = load_build(tmp_path / "example.yaml")
    x = data_of(own).fields[0]
    table = np.genfromtxt(SPECS / "data/breast_cancer.csv", delimiter=",", names=True)
    area, texture = standard(np.log(table["mean_area"])), standard(table["mean_texture"])
    radius = table["mean_radius"]
    far = np.maximum(radius - radius.mean(), 0) ** 2
    expected = np.stack([np.ones(569), area, texture, area * texture, table["mean_area"] > 700, far], 1)
    np.testing.assert_allclose(x.values, expected, rtol=1e-12, atol=1e-14)
    assert x.columns == ("intercept", "area", "texture", "both", "large", "far")

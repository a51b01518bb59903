"""Numbers that lie between others keep their bounds in columns, at positions, in products and beside a number."""

from pathlib import Path

import pytest
from loaders import load_target

from recipe_compiler.report.check import check
from recipe_compiler.verdict import Verdict

COLUMN = """
name: shares
state: {p: {shape: SIZE, domain: "interval(LOW, HIGH)", transform: logit}}
data: {y: {shape: N, in: [0, 1]}, g: {shape: N, index_of: J}}
log_prior: -norm2(p)
log_likelihood: LIKELIHOOD
"""
LINE = """
name: probit
state: {a: {}, b: {}}
data: {y: {shape: N, in: [0, 1]}, x: {shape: N}}
log_prior: normal(a, 0, 1) + normal(b, 0, 1)
log_likelihood: LIKELIHOOD
"""


def verdict(folder: Path, text: str, claim: str = "defined") -> Verdict:
    (folder / "t.yaml").write_text(text)
    return next(one.verdict for one in check(load_target(folder / "t.yaml")).findings if one.id == claim)


def of_column(likelihood: str, low: str = "0", high: str = "1") -> str:
    text = COLUMN.replace("LIKELIHOOD", likelihood).replace("LOW", low).replace("HIGH", high)
    if "g]" in likelihood:
        return text.replace("SIZE", "J")
    return text.replace(", g: {shape: N, index_of: J}", "").replace("SIZE", "2")


@pytest.mark.parametrize(
    "likelihood",
    ["bernoulli(y, p[g])", "bernoulli(y, p[0])", "y*log1p(-p[1])", "bernoulli(y, p[0]*p[1])", "y*log(1 - p[0]*p[1])"],
)
def test_entries_of_a_column_of_probabilities_are_some(likelihood: str, tmp_path: Path) -> None:
    assert verdict(tmp_path, of_column(likelihood)) is Verdict.PROVED


@pytest.mark.parametrize(
    ("likelihood", "low", "high"),
    [
        ("bernoulli(y, p[g])", "0", "2"),
        ("bernoulli(y, p[0])", "-1", "1"),
        ("y*log1p(-p[0]*p[1])", "-2", "1"),  # a product of negative numbers, up to 4
        ("y*log1p(-p[0]*p[1])", "0", "2"),
        ("y*log1p(p[0]*p[1])", "-2", "1"),
        ("y*log1p(-2*p[0])", "0", "1"),
        ("y*log1p(-p[0] - p[1])", "0", "1"),
    ],
)
def test_what_may_lie_beyond_is_not_said_to_be_one(likelihood: str, low: str, high: str, tmp_path: Path) -> None:
    assert verdict(tmp_path, of_column(likelihood, low, high)) is not Verdict.PROVED


@pytest.mark.parametrize(
    ("likelihood", "proved"),
    [
        ("bernoulli(y, ndtr(a + b*x))", True),
        ("bernoulli(y, (1 + erf((a + b*x)/sqrt(2)))/2)", True),
        ("bernoulli(y, ndtr(a)*sigmoid(b*x))", True),
        ("bernoulli(y, erf(a + b*x))", False),
        ("bernoulli(y, ndtr(a) + sigmoid(b*x))", False),
    ],
)
def test_a_probit_is_a_probability(likelihood: str, *, proved: bool, tmp_path: Path) -> None:
    assert (verdict(tmp_path, LINE.replace("LIKELIHOOD", likelihood)) is Verdict.PROVED) is proved


SETS = """
name: sets
state: {STATE, p: {shape: 4, constraint: "interval(0, 1)"}}
data: {y: {shape: N}}
log_prior: PRIOR + beta(p, 2, 2)
log_likelihood: normal(y, sum(p), 1)
"""


@pytest.mark.parametrize(
    ("state", "prior"),
    [
        ('m: {constraint: "lower(3)"}', "exponential(m, 1)"),
        ("m: {shape: 2, constraint: ordered}", "normal(m, 0, 1)"),
        (
            'w: {shape: 5, constraint: simplex}, q: {shape: 6, constraint: "lower(1)"}',
            "dirichlet(w, ones) + exponential(q, 1)",
        ),
    ],
    ids=["lower", "ordered", "simplex"],
)
def test_blocks_in_sets_beside_columns_of_a_large_fixed_size_are_decided(
    state: str, prior: str, tmp_path: Path
) -> None:
    (tmp_path / "t.yaml").write_text(SETS.replace("STATE", state).replace("PRIOR", prior))
    report = check(load_target(tmp_path / "t.yaml"))
    assert {one.id: one.verdict for one in report.findings if one.required} == {
        one.id: Verdict.PROVED for one in report.findings if one.required
    }


VECTOR = """
name: vector
state: {theta: {shape: 4}}
potential: (theta - [1, 2, 3, 4]).T @ (theta - [1, 2, 3, 4])
"""


def test_a_vector_that_is_written_out_has_the_size_it_has(tmp_path: Path) -> None:
    assert verdict(tmp_path, VECTOR, "normalisable") is Verdict.PROVED
    flat = VECTOR.replace("(theta - [1, 2, 3, 4]).T @ (theta - [1, 2, 3, 4])", "([1, 2, 3, 4].T @ theta)**2")
    assert verdict(tmp_path, flat, "normalisable") is not Verdict.PROVED


@pytest.mark.parametrize(
    ("state", "potential"),
    [
        ("s: {constraint: lower(1)}, distance_s: {}", "s"),
        ("s: {constraint: upper(1)}, distance_s: {}", "-s"),
        ("s: {constraint: lower(1)}, distance_s: {domain: positive, transform: log}", "2*s"),
    ],
)
def test_a_block_of_the_name_of_a_distance_is_another(state: str, potential: str, tmp_path: Path) -> None:
    """Nothing confines `distance_s`: one name for both was taken for a proof."""
    text = f"name: clash\nstate: {{{state}}}\npotential: {potential}\n"
    assert verdict(tmp_path, text, "normalisable") is Verdict.REFUTED
    assert (
        verdict(tmp_path, text.replace("potential: ", "potential: distance_s**2 + "), "normalisable") is Verdict.PROVED
    )


def test_a_parameter_of_the_name_of_a_distance_is_another(tmp_path: Path) -> None:
    state = "state: {s: {constraint: lower(1)}}\nparameters: {distance_s: {is: positive}}"
    text = f"name: clash\n{state}\npotential: s*distance_s\n"
    assert verdict(tmp_path, text, "normalisable") is Verdict.PROVED

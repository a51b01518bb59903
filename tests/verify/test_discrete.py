"""Discrete blocks and their claimed laws: right ones proved for every number of rows and places, wrong ones refuted at
rows that are written out, and what is not seen named."""

from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_build, load_target

from recipe_compiler.spec.discrete import held
from recipe_compiler.spec.model import Target
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import target_decided_in
from recipe_compiler.verify.builds.laws import law_of
from recipe_compiler.verify.builds.normalisable import normalisable_target
from recipe_compiler.verify.builds.target import defined

ROOT = Path(__file__).parents[2]
Load = Callable[[str], Target]
TEXT = """
name: allocated
state:
  theta: {shape: K, domain: positive}
  mu: {shape: K}
  tau: {domain: positive}
  z: {shape: [N, K], domain: one_hot}
data: {y: {shape: N}, x: {shape: [N, d], is: nonnegative}}
parameters: {a: {is: positive}, v: {is: positive}, W: {shape: [K, K]}, b: {shape: [K, d], is: positive}}
log_prior: (a - 1)*sum(log(theta)) - sum(theta) - norm2(mu)/(2*v) - tau
log_likelihood: LIKELIHOOD
laws: {BLOCK: "LAW"}
"""
AFFINE = "z @ (log(theta) - tau*(y*ones - mu)**2/2)"
SQUARE = "z @ log(theta) - tau*(y - z @ mu)**2/2"
GAUSSIAN = "ones @ log(theta).T - tau*(y @ ones.T - ones @ mu.T)**2/2"
TOPICS = "z @ (log(theta) + log(b) @ x.T)"
PAIRS = """
name: pairs
state: {z: {shape: [M, K], domain: one_hot}, s: {}}
parameters: {a: {shape: [M, K]}, W: {shape: [M, M], is: symmetric}, V: {shape: [K, K], is: symmetric}}
potential: s**2/2 - sum(a*z)EXTRA
laws: {z: "Categorical(LOGITS)"}
"""


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def of(text: str) -> Target:
        path = tmp_path / "target.yaml"
        path.write_text(text, encoding="utf-8")
        return load_target(path)

    return of


def stated(likelihood: str, block: str, law: str) -> str:
    return TEXT.replace("LIKELIHOOD", likelihood).replace("BLOCK", block).replace("LAW", law)


def witness(answer: Answer) -> dict[str, str]:
    assert isinstance(answer.decision, Refuted), answer.decision
    return dict(answer.decision.witness)


@pytest.mark.parametrize(
    ("likelihood", "block", "law"),
    [
        (AFFINE, "z", f"Categorical({GAUSSIAN})"),
        (SQUARE, "z", f"Categorical({GAUSSIAN})"),
        (SQUARE, "z", f"Categorical({GAUSSIAN} + y @ ones.T)"),  # alike for all places
        (TOPICS, "z", "Categorical(ones @ log(theta).T + x @ log(b).T)"),
        ("log(z @ theta)", "z", "Categorical(ones @ log(theta).T)"),
        (AFFINE, "theta", "Gamma(a*ones + z.T @ ones, 1)"),
        (SQUARE, "mu", "N(inv(diag(tau*z.T @ ones) + I/v) @ (tau*z.T @ y), inv(diag(tau*z.T @ ones) + I/v))"),
        (SQUARE, "mu", "N(inv(tau*z.T @ z + I/v) @ (tau*z.T @ y), inv(tau*z.T @ z + I/v))"),
        (f"{AFFINE} + sum(z)*log(tau)/2", "tau", "Gamma(1 + N/2, 1 + sum(z*(y @ ones.T - ones @ mu.T)**2)/2)"),
        (f"{SQUARE} + log(tau)/2", "tau", "Gamma(1 + N/2, 1 + norm2(y - z @ mu)/2)"),
    ],
)
def test_right_laws_are_proved_for_every_size(load: Load, likelihood: str, block: str, law: str) -> None:
    answer = law_of(load(stated(likelihood, block, law)), block)
    if likelihood.startswith(
        "log("
    ):  # z @ theta > 0 rests on a row that has a one, which the rules of signs do not see
        assert isinstance(answer.decision, Undecided)
        assert not any("does not reduce" in reason for reason in answer.decision.tried), answer.decision
        return
    assert isinstance(answer.decision, Proved), answer.decision
    assert answer.for_d == "all"
    assert answer.decision.by.startswith("index calculus for every size")


@pytest.mark.parametrize(
    ("likelihood", "block", "law"),
    [
        (AFFINE, "z", "Categorical(-tau*(y @ ones.T - ones @ mu.T)**2/2)"),
        (AFFINE, "z", f"Categorical({GAUSSIAN} + ones @ log(theta).T)"),
        (SQUARE, "z", "Categorical(ones @ log(theta).T - tau*(y @ ones.T - ones @ mu.T)**2)"),
        (SQUARE, "z", "Categorical(ones @ log(theta).T + tau*y @ mu.T)"),  # the square of mu is not alike
        (f"{SQUARE} - z @ W @ z.T", "z", f"Categorical({GAUSSIAN})"),  # a row that is coupled to itself
        (AFFINE, "theta", "Gamma(a*ones + 2*z.T @ ones, 1)"),
        (AFFINE, "theta", "Gamma(z.T @ ones, 1)"),
        (SQUARE, "mu", "N(inv(diag(z.T @ ones) + I/v) @ (tau*z.T @ y), inv(diag(z.T @ ones) + I/v))"),
        (f"{SQUARE} + log(tau)/2", "tau", "Gamma(1 + N, 1 + norm2(y - z @ mu)/2)"),
        (f"{SQUARE} + log(tau)/2", "tau", "Gamma(1 + N/2, 1 + norm2(y - z @ mu))"),
    ],
)
def test_wrong_laws_are_refuted_with_the_rows_at_which_they_are(
    load: Load, likelihood: str, block: str, law: str
) -> None:
    at = witness(law_of(load(stated(likelihood, block, law)), block))
    rows = at["z"].strip("[]").split("], [")
    assert all(sorted(row.replace(" ", "").split(","))[-1] == "1" for row in rows), at["z"]
    assert all(row.count("1") == 1 for row in rows)


@pytest.mark.parametrize(
    ("extra", "logits", "expected"),
    [
        ("", "a", Proved),
        ("", "a + s*ones @ ones.T", Proved),  # the same number for all places
        (" - s*sum(z)", "a", Proved),  # there is one one in each row
        (" - sum(a*z**2)", "2*a", Proved),  # z is 0 or 1
        (" - trace(V @ z.T @ z)", "a", Refuted),  # the diagonal of V is of each place
        (" - trace(W @ z @ V @ z.T)", "a", Refuted),  # rows that are coupled
        (" - s*z[0, 0]", "a", Refuted),
        (" - sum(a)", "2*a", Refuted),
    ],
)
def test_rows_of_a_matrix_that_is_not_of_the_data(load: Load, extra: str, logits: str, expected: type) -> None:
    text = PAIRS.replace("EXTRA", extra).replace("LOGITS", logits)
    if "z[0, 0]" in extra:
        text = text.replace("[M, K]", "[M, 2]").replace("V: {shape: [K, K], is: symmetric}", "c: {}")
    answer = law_of(load(text), "z")
    assert isinstance(answer.decision, expected), answer.decision


def test_coupled_rows_are_refuted_by_a_row_in_the_difference(load: Load) -> None:
    answer = law_of(load(PAIRS.replace("EXTRA", " - trace(W @ z @ V @ z.T)").replace("LOGITS", "a")), "z")
    assert witness(answer)["z"].startswith("[[")


def test_a_column_is_one_row(load: Load) -> None:
    text = """
name: one
state: {k: {shape: K, domain: one_hot}, mu: {shape: K}}
data: {y: {shape: N}}
log_prior: -norm2(mu)/2
log_likelihood: -(y - k.T @ mu)**2/2
laws: {k: "Categorical(LOGITS)"}
"""
    right = load(text.replace("LOGITS", "sum(y)*mu - N*mu**2/2"))
    assert isinstance(law_of(right, "k").decision, Proved)
    at = witness(law_of(load(text.replace("LOGITS", "sum(y)*mu - mu**2/2")), "k"))
    assert at["N"] == "2"
    assert at["k"].count("1") == 1


@pytest.mark.slow
def test_two_discrete_blocks(load: Load) -> None:
    text = """
name: cells
state: {r: {shape: [N, J], domain: one_hot}, z: {shape: [N, K], domain: one_hot}, mu: {shape: [J, K]}}
data: {y: {shape: N}}
log_prior: -sum(mu**2)/2
log_likelihood: -(y - r @ mu @ z.T)**2/2
laws:
  r: "Categorical(-(y @ ones.T - z @ mu.T)**2/2)"
  z: "Categorical(-(y @ ones.T - r @ mu)**2/2)"
"""
    target = load(text)
    assert isinstance(law_of(target, "r").decision, Proved)
    assert isinstance(law_of(target, "z").decision, Proved)
    at = witness(law_of(load(text.replace("- r @ mu)**2/2", "- r @ mu)**2")), "z"))
    assert {"r", "z"} <= at.keys()


def test_integral_and_formulas_are_decided_for_all_rows(load: Load) -> None:
    target = load(stated(AFFINE, "z", f"Categorical({GAUSSIAN})"))
    assert isinstance(defined(target).decision, Proved)
    assert [field.name for field in held(target).declarations.data] == ["y", "x", "z"]
    shipped = (ROOT / "specs/targets/mixture_allocations.yaml").read_text(encoding="utf-8")
    assert isinstance(normalisable_target(load(shipped)).decision, Proved)
    improper = load(shipped.replace(" - norm2(mu)/(2*mean_variance)", ""))
    assert not isinstance(normalisable_target(improper).decision, Proved)  # a mean without data has no law


def test_named_densities_beside_a_row_are_held_at_the_sizes_of_a_build(tmp_path: Path) -> None:
    """What is stated by densities has the sizes of the document, what is decided at values those of the build."""
    (tmp_path / "y.csv").write_text("y\n1\n2\n", encoding="utf-8")
    (tmp_path / "target.yaml").write_text(
        """
name: shifted
state: {mu: {shape: K}, z: {shape: [N, K], domain: one_hot}}
data: {y: {shape: N}}
parameters: {c: {shape: K}}
log_prior: normal(mu, 0, 1) + sum(c*mu)**3
log_likelihood: z @ c + normal(y, z @ mu, 1)
laws: {z: "Categorical(ones @ c.T - (y @ ones.T - ones @ mu.T)**2/2)"}
""",
        encoding="utf-8",
    )
    (tmp_path / "build.yaml").write_text(
        f"""
name: at_sizes
dynamics: {ROOT}/specs/dynamics/still.yaml
target: target.yaml
parameters: {{c: {{value: [1, 2]}}}}
scheme: {{cycle: [draw: z]}}
variant: full
sizes: {{K: 2}}
data: {{file: y.csv, y: y}}
run: {{draws: 10}}
""",
        encoding="utf-8",
    )
    build = load_build(tmp_path / "build.yaml")
    answer = target_decided_in(normalisable_target, build)
    assert isinstance(answer.decision, Undecided | Refuted)
    assert not any("replacement" in reason for reason in getattr(answer.decision, "tried", ()))


@pytest.mark.parametrize(
    ("block", "old", "new", "expected"),
    [
        ("v", "", "", Proved),
        ("alpha", "", "", Proved),
        ("p", "", "", Proved),
        ("z", "", "", Proved),
        ("alpha", "Gamma(b1 + J,", "Gamma(b1 + J - 1,", Refuted),
        ("alpha", "Gamma(b1 + J,", "Gamma(b1 + J + 1,", Refuted),
        ("alpha", "b2 - sum(log(ones - v))", "b2 - sum(log(v))", Refuted),
        ("v", "alpha*ones + before.T @ z.T @ ones", "alpha*ones", Refuted),  # without the users beyond
        ("v", "alpha*ones + before.T @ z.T @ ones", "alpha*ones + before @ z.T @ ones", Refuted),
        ("v", "Beta(ones + z.T @ ones", "Beta(z.T @ ones + 2*ones", Refuted),
        ("p", "a*ones + z.T @ one,", "a*ones + z.T @ ones,", Refuted),
        ("z", "log(v) + before @ log(ones - v)", "log(v)", Refuted),
        ("z", "ones @ (log(v) + before @ log(ones - v)).T + ", "", Refuted),  # weights left out
    ],
)
def test_laws_of_a_dirichlet_process_mixture(load: Load, block: str, old: str, new: str, expected: type) -> None:
    """For every number of sticks and users: one stick more or less, users beyond left out, weights left out."""
    text = (ROOT / "specs/targets/dp_mixture.yaml").read_text(encoding="utf-8")
    head, laws = text.split("laws:")
    assert old in laws
    answer = law_of(load(f"{head}laws:{laws.replace(old, new, 1)}"), block)
    assert isinstance(answer.decision, expected), answer.decision

"""Claimed conditional laws: right ones are proved for every number of data, wrong ones refuted or left open."""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loaders import load_target
from some import some

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import nodes, parts, rebuild
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.spec.model import Law, Target
from recipe_compiler.verdict import Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.builds.laws import laws
from recipe_compiler.verify.core.generalise_size import of_target

SAMPLE = """
name: sample
state: {mu: {}, tau: {domain: positive}}
data: {y: {shape: N}}
parameters: {k: {is: positive}, m0: {}, a: {is: positive}, b: {is: positive}}
log_prior: -k*(mu - m0)**2/2 + (a - 1)*log(tau) - b*tau
log_likelihood: log(tau)/2 - tau*(y - mu)**2/2
laws:
  mu: "N((tau*sum(y) + k*m0)/(N*tau + k), 1/(N*tau + k))"
  tau: "Gamma(a + N/2, b + norm2(y - mu*ones)/2)"
"""
REGRESSION = """
name: regression
state: {beta: {shape: d}, tau: {domain: positive}}
data: {x: {shape: [N, d]}, y: {shape: N}}
parameters: {S: {shape: [d, d], is: positive definite}, m: {shape: d}, a: {is: positive}, b: {is: positive}}
log_prior: -(beta - m).T @ inv(S) @ (beta - m)/2 + (a - 1)*log(tau) - b*tau
log_likelihood: log(tau)/2 - tau*(y - x @ beta)**2/2
laws:
  beta: "N(inv(tau*x.T @ x + inv(S)) @ (tau*x.T @ y + inv(S) @ m), inv(tau*x.T @ x + inv(S)))"
  tau: "Gamma(a + N/2, b + norm2(y - x @ beta)/2)"
"""
VARIANCE = """
name: variance
state: {theta: {shape: d}, s: {domain: positive}}
data: {x: {shape: [N, d]}}
parameters: {V: {shape: [d, d], is: positive definite}, a: {is: positive}, b: {is: positive}}
log_prior: -(a + 1)*log(s) - b/s
log_likelihood: -d*log(s)/2 - (x - theta.T) @ inv(V) @ (x - theta.T).T/(2*s)
laws:
  theta: "N(x.T @ ones/N, s*V/N)"
  s: "InverseGamma(a + N*d/2, b + trace((x - ones @ theta.T) @ inv(V) @ (x - ones @ theta.T).T)/2)"
"""
FAMILIES = """
name: families
state:
  th: {shape: J}
  tau: {domain: positive}
  v: {shape: J, domain: "interval(0, 1)"}
  g: {shape: K, domain: positive}
  w: {shape: K, domain: simplex}
  s: {shape: K, domain: positive}
  u: {shape: J, domain: "interval(lo, hi)"}
  l: {shape: K, domain: positive}
  q: {domain: nonnegative}
  al: {domain: positive}
parameters:
  y: {shape: J}
  sd: {shape: J, is: positive}
  m: {shape: J, is: nonnegative}
  t: {shape: J, is: nonnegative}
  c: {is: positive}
  a: {shape: K, is: positive}
  n: {shape: K, is: nonnegative}
  lo: {}
  hi: {}
  M: {shape: [K, K], is: positive definite}
assume: [hi > lo]
potential: >-
  sum((y - th)**2/sd**2)/2 + tau*norm2(th)/2 - J*log(tau)/2 + tau
  - sum(m*log(v)) - sum((t + (tau - 1)*ones)*log(ones - v)) + J*q*tau - J*log(tau)
  + sum((M @ n + ones)*g) - sum((a + n - ones)*log(g))
  - sum((a + n - ones)*log(w)) - (c + J - 1)*log(1 - sum(w))
  + sum((a + ones)*log(s)) + (c + norm2(y)/2)*sum(s**(-1)) + J*sum(log(s))/2
  + sum((log(l) - M @ log(g))**2)/2 + sum(log(l)) + (c + norm2(g))*q
  - J*log(al) - al*sum(log(ones - v)) - (c - 1)*log(al) + c*al
laws:
  th: "N((y/sd**2)/(ones/sd**2 + tau*ones), diag(ones/(ones/sd**2 + tau*ones)))"
  v: "Beta(ones + m, tau*ones + al*ones + t)"
  al: "Gamma(c + J, c - sum(log(ones - v)))"
  w: "Dirichlet(a + n, c + J)"
  s: "InverseGamma(a + J/2*ones, c + norm2(y)/2)"
  u: "Uniform(lo, hi)"
  l: "LogNormal(M @ log(g), 1)"
  q: "Exponential(J*tau + c + norm2(g))"
"""
WEIGHTS = """
name: weights
state:
  w: {shape: K, constraint: simplex}
  tau: {domain: positive}
  z: {shape: [N, K], domain: one_hot}
data: {y: {shape: N}, m: {shape: N, is: nonnegative}}
parameters: {alpha: {shape: K, is: positive}, c: {shape: K, is: nonnegative}, B: {shape: [K, K], is: nonnegative}}
log_prior: sum((alpha + tau*B @ c - ones)*log(w)) - tau*sum(w) - tau**2
log_likelihood: (1 + m)*(z @ log(w)) - tau*(y - z @ c)**2/2
laws:
  w: "Dirichlet(alpha + tau*B @ c + z.T @ ones + z.T @ m)"
  z: "Categorical((ones + m) @ log(w).T - tau*(y @ ones.T - ones @ c.T)**2/2)"
"""
RIGHT = {"sample": SAMPLE, "regression": REGRESSION, "variance": VARIANCE, "families": FAMILIES, "weights": WEIGHTS}


@pytest.fixture
def load_text(tmp_path: Path) -> Callable[[str], Target]:
    def read(text: str) -> Target:
        path = tmp_path / "target.yaml"
        path.write_text(text, encoding="utf-8")
        return load_target(path)

    return read


@pytest.mark.parametrize("name", RIGHT)
def test_right_laws_are_proved(load_text, name: str) -> None:
    target = load_text(RIGHT[name])
    found = laws(target)
    assert isinstance(found.decision, Proved), found.decision
    assert [entry for entry, _ in found.decision.data] == [f"law[{block}]" for block, _ in target.laws]
    assert found.for_d == "all"
    if target.declarations.data:
        assert {dict(sizes)["N"] for sizes in found.checked_at} == {1, 2, 3}
    assert any(n > 1 for sizes in found.checked_at for name, n in sizes if name != "N") or name == "sample"


MUTANTS = [
    ("sample", "a + N/2", "a + N"),
    ("sample", "a + N/2", "a + N/2 + 1"),
    ("sample", "a + N/2", "N/2"),
    ("sample", "b + norm2(y - mu*ones)/2", "b + norm2(y - mu*ones)"),
    ("sample", "b + norm2(y - mu*ones)/2", "b + norm2(y)/2"),
    ("sample", "b + norm2(y - mu*ones)/2", "b + exp(sum(y))/2"),
    ("sample", "b + norm2(y - mu*ones)/2", "norm2(y - mu*ones)/2"),
    ("sample", "Gamma(a + N/2", "InverseGamma(a + N/2"),
    ("sample", "Gamma(a + N/2, b", "LogNormal(a + N/2, b"),
    ("sample", "tau*sum(y) + k", "sum(y) + k"),
    ("sample", "1/(N*tau + k))", "N*tau + k)"),
    ("sample", "1/(N*tau + k))", "1/(tau + k))"),
    ("sample", "(N*tau + k), 1", "(tau + k), 1"),
    ("sample", "k*m0)/", "m0)/"),
    ("regression", "tau*x.T @ y + inv(S)", "x.T @ y + inv(S)"),
    ("regression", "tau*x.T @ y + inv(S) @ m", "tau*x.T @ y + S @ m"),
    ("regression", "tau*x.T @ y + inv(S) @ m", "tau*x.T @ y"),
    ("regression", ", inv(tau*x.T @ x + inv(S)))", ", tau*x.T @ x + inv(S))"),
    ("regression", ", inv(tau*x.T @ x + inv(S)))", ", inv(tau*x.T @ x + S))"),
    ("regression", ", inv(tau*x.T @ x + inv(S)))", ", inv(tau*I + inv(S)))"),
    ("regression", ", inv(tau*x.T @ x + inv(S)))", ", inv(tau*x.T @ x + inv(S)) @ S @ inv(tau*x.T @ x + inv(S)))"),
    ("regression", "inv(tau*x.T @ x + inv(S)) @ (", "inv(x.T @ x + inv(S)) @ ("),
    ("regression", "norm2(y - x @ beta)", "norm2(x @ beta)"),
    ("regression", "norm2(y - x @ beta)", "norm2(y - x @ m)"),
    ("variance", "s*V/N", "s*V"),
    ("variance", "s*V/N", "s*inv(V)/N"),
    ("variance", "s*V/N", "s*V @ V/N"),
    ("variance", "N*d/2", "N/2"),
    ("variance", "@ inv(V) @", "@ V @"),
    ("families", "a + n, c + J", "a + n, c + J - 1"),
    ("families", "a + n, c + J", "a + n + ones, c + J"),
    ("families", "Beta(ones + m, tau*ones + al*ones + t)", "Beta(tau*ones + al*ones + t, ones + m)"),
    ("families", "Beta(ones + m, tau*ones + al*ones + t)", "Beta(ones + m, al)"),
    ("families", "Gamma(c + J,", "Gamma(c + J - 1,"),
    ("families", "c - sum(log(ones - v))", "c + sum(log(ones - v))"),
    ("families", "c - sum(log(ones - v))", "c - sum(log(v))"),
    ("families", "J*tau + c", "(J - 1)*tau + c"),
    ("families", "J*tau + c", "(J + 1)*tau + c"),
    ("families", "Uniform(lo, hi)", "Uniform(lo, hi + 1)"),
    ("families", "Uniform(lo, hi)", "Uniform(hi, lo)"),
    ("families", "LogNormal(M @ log(g), 1)", "LogNormal(log(g), 1)"),
    ("families", "LogNormal(M @ log(g), 1)", "LogNormal(M @ log(g), 2)"),
    ("weights", "Dirichlet(alpha +", "Dirichlet(ones +"),
    ("weights", "Dirichlet(alpha +", "Dirichlet(alpha + ones +"),
    ("weights", "Dirichlet(alpha +", "Dirichlet(2*alpha +"),
    ("weights", "Dirichlet(alpha +", "Dirichlet("),
    ("weights", "tau*B @ c", "B @ c"),
    ("weights", "tau*B @ c", "tau*B.T @ c"),
    ("weights", "tau*B @ c", "tau*c"),
    ("weights", "tau*B @ c +", ""),
    ("weights", "+ z.T @ ones", ""),
    ("weights", "+ z.T @ ones", "+ N*ones/K"),
    ("weights", "+ z.T @ ones", "+ 2*z.T @ ones"),
    ("weights", "+ z.T @ m", ""),
    ("weights", "+ z.T @ m", "+ sum(m)*ones"),
    ("weights", "+ z.T @ m", "+ z.T @ m**2"),
    ("weights", "(ones + m) @ log(w)", "ones @ log(w)"),
    ("weights", "(ones + m) @ log(w).T", "(ones + m) @ w.T"),
]


@pytest.mark.parametrize(("name", "old", "new"), some(MUTANTS, 2))
def test_a_wrong_law_is_refuted_with_what_is_left(load_text, name: str, old: str, new: str) -> None:
    head, right = RIGHT[name].split("laws:")
    assert old in right
    found = laws(load_text(f"{head}laws:{right.replace(old, new)}"))
    assert isinstance(found.decision, Refuted), found.decision
    point = dict(found.decision.witness)
    assert found.decision.residual
    assert found.where is not None
    assert found.where.line > head.count("\n")
    if name != "families":  # the data are part of the point
        assert {field.name for field in load_text(RIGHT[name]).declarations.data} <= set(point)


@pytest.mark.slow
def test_shares_are_looked_at_on_the_simplex(load_text) -> None:
    """What is alike for all shares is no part of the law of all of them, and a witness adds up to 1."""
    for right in ("tau*sum(w)", "tau*sum(w)**3", "exp(tau*sum(w))", "tau*(1 - sum(w))*w.T @ alpha"):
        found = laws(load_text(WEIGHTS.replace("- tau*sum(w)", f"- {right}")))
        assert isinstance(found.decision, Proved), right
    for wrong in ("tau*norm2(w)", "tau*sum(B @ w)", "tau*(2 - sum(w))*w.T @ alpha"):
        found = laws(load_text(WEIGHTS.replace("- tau*sum(w)", f"- {wrong}"))).decision
        assert isinstance(found, Refuted), wrong
        shares = [Fraction(text) for text in dict(found.witness)["w"].strip("[]").split(", ")]
        assert sum(shares) == 1
        assert len(shares) > 1
        assert min(shares) > 0


@pytest.mark.slow
def test_laws_of_other_blocks_take_shares_to_add_up_to_one(load_text) -> None:
    """sum(w) stands in U beside tau, and its law has 1 there; 2, or a share left out, is refuted."""
    text = WEIGHTS.replace("laws:\n", "laws:\n  tau: Exponential(1 + norm2(y - z @ c)/2)\n")
    text = text.replace("- tau**2", "").replace(" + tau*B @ c", "")
    assert isinstance(laws(load_text(text)).decision, Proved)
    for wrong in ("Exponential(2 + ", "Exponential(w.T @ c + ", "Exponential(K + "):
        assert isinstance(laws(load_text(text.replace("Exponential(1 + ", wrong))).decision, Refuted), wrong


def test_parameters_of_a_dirichlet_law_that_may_be_negative_leave_it_open(load_text) -> None:
    text = WEIGHTS.replace("alpha: {shape: K, is: positive}", "alpha: {shape: K}")
    found = laws(load_text(text)).decision
    assert isinstance(found, Undecided)
    assert any("alpha" in tried and "> 0" in tried for tried in found.tried)


def test_a_rate_that_may_be_negative_leaves_a_law_open(load_text) -> None:
    """U has the same term, so that it is the law wherever it is one."""
    text = SAMPLE.replace("- b*tau", "- (b - k)*tau").replace("b + norm2", "b - k + norm2")
    found = laws(load_text(text)).decision
    assert isinstance(found, Undecided)
    assert found.tried == ("law of tau: not shown: b - k + (y - mu*ones).T @ (y - mu*ones) / 2 > 0",)


def test_a_precision_that_may_be_negative_leaves_a_law_open(load_text) -> None:
    text = SAMPLE.replace("-k*(mu - m0)**2/2", "k*(mu - m0)**2/2").replace("+ k*m0", "- k*m0").replace("+ k", "- k")
    found = laws(load_text(text)).decision
    assert isinstance(found, Undecided)
    assert any("N*tau - k" in tried for tried in found.tried)
    assert not found.residual


def test_a_covariance_that_is_not_symmetric_leaves_a_law_open(load_text) -> None:
    """The quadratic form sees the symmetric part of the precision alone."""
    text = """
name: skewed
state: {x: {shape: d}}
parameters: {S: {shape: [d, d], is: positive definite}, A: {shape: [d, d], is: skew}}
potential: x.T @ inv(S) @ x/2
laws: {x: "N(0, inv(inv(S) + A))"}
"""
    assert laws(load_text(text)).verdict is not Verdict.PROVED
    assert laws(load_text(text.replace(" + A", ""))).verdict is Verdict.PROVED


def test_a_law_that_is_right_at_some_sizes_is_refuted_at_others(load_text) -> None:
    text = SAMPLE.replace("a + N/2", "a + N/2 + (N - 1)*(N - 2)*(N - 3)")
    found = laws(load_text(text))
    assert isinstance(found.decision, Refuted)
    assert dict(found.for_d)["N"] == 4


def test_a_law_that_is_wrong_at_one_value_of_a_parameter_is_not_proved(load_text) -> None:
    """Off m0 = 0 they are the same."""
    text = SAMPLE.replace("tau*sum(y) + k*m0", "tau*sum(y)*sign(m0)**2 + k*m0")
    found = laws(load_text(text)).decision
    assert isinstance(found, Undecided)
    assert any("smooth" in tried for tried in found.tried)


def test_a_kink_of_the_block_leaves_its_law_open(load_text) -> None:
    """Where mu is not 0 its derivative is right, but what is added jumps there."""
    found = laws(load_text(SAMPLE.replace("- b*tau", "- b*tau - sign(mu)"))).decision
    assert isinstance(found, Undecided)
    found = laws(load_text(SAMPLE.replace("- b*tau", "- b*tau - abs(mu)"))).decision
    assert not isinstance(found, Proved)


def test_what_is_assumed_of_a_block_restricts_its_law(load_text) -> None:
    found = laws(load_text(SAMPLE.replace("log_prior", "assume: [mu > 1]\nlog_prior"))).decision
    assert isinstance(found, Undecided)
    assert any("mu > 1" in tried for tried in found.tried)


def test_an_assumption_makes_a_rate_positive(load_text) -> None:
    text = SAMPLE.replace("b: {is: positive}", "b: {}")
    assert laws(load_text(text)).verdict is Verdict.UNDECIDED
    assert laws(load_text(text.replace("log_prior", "assume: [b > 0]\nlog_prior"))).verdict is Verdict.PROVED


def test_what_data_may_be_counts(load_text) -> None:
    """y**2 is y for labels 0 and 1 only, and a rate of labels is positive for no others."""
    text = """
name: counts
state: {p: {domain: "interval(0, 1)"}}
data: {y: {shape: N, in: [0, 1]}}
log_likelihood: y*log(p) + (1 - y)*log(1 - p)
laws: {p: "Beta(1 + sum(y), 1 + N - sum(y))"}
"""
    assert isinstance(laws(load_text(text)).decision, Undecided)  # N - sum(y) >= 0 is not shown
    sharp = text.replace("N - sum(y)", "sum((ones - y)**2)").replace("(1 - y)*", "(1 - y)**2*")
    assert laws(load_text(sharp)).verdict is Verdict.PROVED
    wrong = laws(load_text(sharp.replace("Beta(1 + sum(y)", "Beta(2 + sum(y)")))
    assert isinstance(wrong.decision, Refuted)
    assert set(dict(wrong.decision.witness)["y"].strip("[]").split(", ")) <= {"0", "1"}


def test_a_sampler_in_another_variable_has_the_laws_of_its_blocks(load_text) -> None:
    text = SAMPLE.replace("{domain: positive}", "{domain: positive, transform: log}")
    assert laws(load_text(text)).verdict is Verdict.PROVED
    assert laws(load_text(text.replace("a + N/2", "a + N/2 + 1"))).verdict is Verdict.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize("transform", ["", ", transform: log"])
def test_fifty_coefficients_are_decided_as_any_number_of_them(load_text, transform: str) -> None:
    text = REGRESSION.replace("shape: d}", "shape: 50}").replace("[N, d]", "[N, 50]").replace("[d, d]", "[50, 50]")
    text = text.replace("domain: positive", f"domain: positive{transform}")
    assert of_target(laws, load_text(text)).verdict is Verdict.PROVED
    assert of_target(laws, load_text(text.replace("tau*x.T @ y", "x.T @ y"))).verdict is not Verdict.PROVED


def test_nothing_is_said_of_a_gradient_that_is_code(load_text, tmp_path: Path) -> None:
    (tmp_path / "grad.py").write_text("def grad_U(out, x): out[:] = x\n", encoding="utf-8")
    text = 'name: code\nstate: {x: {shape: d}}\ngradient: "grad.py:grad_U"\nlaws: {x: "N(0, I)"}\n'
    assert isinstance(laws(load_text(text)).decision, Undecided)


def test_one_wrong_law_refutes_all(load_text) -> None:
    found = laws(load_text(SAMPLE.replace("a + N/2", "a + N")))
    assert isinstance(found.decision, Refuted)
    assert any("dtau" in name for name, _ in found.decision.witness)


# Structured edits of right laws: each is wrong where its parameters differ at a point, and none may be proved.


def edit(law: Law, rng: random.Random) -> Law:
    """Return a law one edit of one node away."""
    k = rng.randrange(len(law.arguments))
    old = rng.choice(list(nodes(law.arguments[k])))
    new = edited(old, rng, [node for argument in law.arguments for node in nodes(argument)])
    changed = swapped(law.arguments[k], old, new) if new.shape == old.shape else law.arguments[k]
    return Law(law.name, (*law.arguments[:k], changed, *law.arguments[k + 1 :]))


def edited(node: Formula, rng: random.Random, others: list[Formula]) -> Formula:
    """Return a node with a number, a sign, a term, a factor or a name changed."""
    scale = ex.Number(rng.choice([Fraction(2), Fraction(1, 2), Fraction(-1), Fraction(3)]))
    choices: list[Formula] = [ex.Multiply(scale, node, node.shape)]
    match node:
        case ex.Number(value):
            choices = [ex.Number(value + 1), ex.Number(value - 1), ex.Number(value * 2)]
        case ex.Add(terms, shape) if len(terms) > 1:
            k = rng.randrange(len(terms))
            left = (*terms[:k], *terms[k + 1 :])
            choices.append(ex.Add(left, shape) if len(left) > 1 else left[0])
        case ex.Multiply(left, right):
            choices += [one for one in (left, right) if one.shape == node.shape]
        case ex.Power(base, ex.Number(value), shape) if value > 1:
            choices += [ex.Power(base, ex.Number(value + 1), shape), base]
        case ex.Apply("inv", (arg,)):
            choices.append(arg)
        case _:
            pass
    choices += [one for one in others if one.shape == node.shape and one != node][:6]
    return rng.choice(choices)


def swapped(formula: Formula, old: Formula, new: Formula) -> Formula:
    if formula is old:
        return new
    return rebuild(formula, [swapped(part, old, new) for part in parts(formula)], lambda shape: shape)


SIZES = {"N": 4, "d": 3, "J": 3, "K": 2}


def drawn(target: Target, rng: np.random.Generator) -> dict[str, Any]:
    """Return values of every name, data as all of their rows; all positive, which no kind forbids."""
    declared = target.declarations
    items = [(i.name, i.shape.sizes, i) for i in (*declared.parameters, *declared.blocks)]
    items += [(f.name, (f.size, *f.shape.sizes), f) for f in declared.data]
    found: dict[str, Any] = dict(SIZES)
    for name, sizes, item in items:
        value = rng.uniform(0.2, 1.2, [SIZES.get(n, n) for n in sizes])
        if "positive definite" in getattr(item, "kinds", ()):
            value = value @ value.T + np.eye(len(value))
        found[name] = value
    return found


def evaluated(formula: Formula, at: dict[str, Any]) -> Any:
    """Return a formula in floats: columns are 1-d arrays."""
    own = [evaluated(part, at) for part in parts(formula)]
    sizes = [SIZES.get(n, n) for n in formula.shape.sizes]
    match formula:
        case ex.Number(value):
            return float(value)
        case ex.Symbol(name, _, Role.SIZE):
            return float(SIZES[name])
        case ex.Symbol(name):
            return at[name]
        case ex.Identity():
            return np.eye(*sizes, sizes[0])
        case ex.Filled(value):
            return np.full(sizes, float(value))
        case ex.Add():
            return sum(own[1:], own[0])
        case ex.Multiply():
            return own[0] * own[1]
        case ex.Power():
            return own[0] ** own[1]
        case ex.MatMul(left) if left.shape.rows is not None and left.shape.cols is None:
            return np.outer(own[0], own[1])
        case ex.MatMul():
            return own[0] @ own[1]
        case ex.Transpose():
            return own[0].T
        case ex.Apply(fn):
            plain = {"inv": np.linalg.inv, "diag": np.diag, "trace": np.trace, "sum": np.sum, "log": np.log}
            return plain[fn](own[0])
        case _:
            raise TypeError(type(formula).__name__)


def differs(target: Target, one: Law, other: Law) -> bool:
    """Whether the parameters of two laws of one name differ at a point at which both have a value."""
    rng = np.random.default_rng(7)
    with np.errstate(all="ignore"):
        for _ in range(3):
            at = drawn(target, rng)
            for left, right in zip(one.arguments, other.arguments, strict=True):
                try:
                    gap = np.max(np.abs(np.asarray(evaluated(left, at)) - np.asarray(evaluated(right, at))))
                except (np.linalg.LinAlgError, ValueError):
                    continue
                if np.isfinite(gap) and gap > 1e-6:
                    return True
    return False


def wrong_laws(target: Target, block: str, count: int, seed: int) -> list[Law]:
    """Return different laws, one edit away from the right one or, where it has few, from one of these."""
    law, rng = dict(target.laws)[block], random.Random(seed)
    found: list[Law] = []
    while len(found) < count:
        other = edit(law if rng.random() < 0.8 else rng.choice([law, *found]), rng)
        if other not in found and differs(target, law, other):
            found.append(other)
    return found


EDITED = [
    ("sample", "mu"), ("sample", "tau"), ("regression", "beta"), ("regression", "tau"), ("variance", "theta"),
    ("variance", "s"), *(("families", block) for block in ("th", "v", "al", "w", "s", "u", "l", "q")),
]  # fmt: skip


def proved_among(target: Target, block: str, found: list[Law]) -> list[Law]:
    return [law for law in found if laws(replace(target, laws=((block, law),))).verdict is Verdict.PROVED]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "block"), EDITED)
def test_no_edit_of_a_right_law_is_proved(load_text, name: str, block: str) -> None:
    target = load_text(RIGHT[name])
    assert proved_among(target, block, wrong_laws(target, block, 10, seed=1)) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "block"), EDITED)
def test_none_of_a_thousand_edits_is_proved(load_text, name: str, block: str) -> None:
    """80 edits of each of 14 laws."""
    target = load_text(RIGHT[name])
    assert proved_among(target, block, wrong_laws(target, block, 80, seed=2)) == []

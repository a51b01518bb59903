"""Claimed conditional laws: right ones are proved for every number of data, wrong ones refuted or left open."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from answers import answer, document, expect, vector
from some import some

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import nodes, parts, rebuild
from recipe_compiler.run.evaluate import Point, evaluate
from recipe_compiler.spec.model import Law

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
state: {
  th: {shape: J}, tau: {domain: positive}, v: {shape: J, domain: "interval(0, 1)"}, g: {shape: K, domain: positive},
  w: {shape: K, domain: simplex}, s: {shape: K, domain: positive}, u: {shape: J, domain: "interval(lo, hi)"},
  l: {shape: K, domain: positive}, q: {domain: nonnegative}, al: {domain: positive}}
parameters: {
  y: {shape: J}, sd: {shape: J, is: positive}, m: {shape: J, is: nonnegative}, t: {shape: J, is: nonnegative},
  c: {is: positive}, a: {shape: K, is: positive}, n: {shape: K, is: nonnegative}, lo: {}, hi: {},
  M: {shape: [K, K], is: positive definite}}
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
state: {w: {shape: K, constraint: simplex}, tau: {domain: positive}, z: {shape: [N, K], domain: one_hot}}
data: {y: {shape: N}, m: {shape: N, is: nonnegative}}
parameters: {alpha: {shape: K, is: positive}, c: {shape: K, is: nonnegative}, B: {shape: [K, K], is: nonnegative}}
log_prior: sum((alpha + tau*B @ c - ones)*log(w)) - tau*sum(w) - tau**2
log_likelihood: (1 + m)*(z @ log(w)) - tau*(y - z @ c)**2/2
laws:
  w: "Dirichlet(alpha + tau*B @ c + z.T @ ones + z.T @ m)"
  z: "Categorical((ones + m) @ log(w).T - tau*(y @ ones.T - ones @ c.T)**2/2)"
"""
RIGHT = {"sample": SAMPLE, "regression": REGRESSION, "variance": VARIANCE, "families": FAMILIES, "weights": WEIGHTS}


def found(text):
    return answer(document(text), "laws")


@pytest.mark.parametrize("name", RIGHT)
def test_right_laws_are_proved(name):
    target = document(RIGHT[name])
    own = answer(target, "laws")
    assert [*expect(own, "proved")] == [f"law[{block}]" for block, _ in target.laws]
    assert own.for_d == "all"
    if target.declarations.data:
        assert {dict(sizes)["N"] for sizes in own.checked_at} == {1, 2, 3}
    assert any(n > 1 for sizes in own.checked_at for name, n in sizes if name != "N") or name == "sample"


MUTANTS = {
    "sample": {
        "a + N/2": ["a + N", "a + N/2 + 1", "N/2"],
        "b + norm2(y - mu*ones)/2": [
            "b + norm2(y - mu*ones)", "b + norm2(y)/2", "b + exp(sum(y))/2", "norm2(y - mu*ones)/2",
        ],
        "Gamma(a + N/2": ["InverseGamma(a + N/2"],
        "Gamma(a + N/2, b": ["LogNormal(a + N/2, b"],
        "tau*sum(y) + k": ["sum(y) + k"],
        "1/(N*tau + k))": ["N*tau + k)", "1/(tau + k))"],
        "(N*tau + k), 1": ["(tau + k), 1"],
        "k*m0)/": ["m0)/"],
    },
    "regression": {
        "tau*x.T @ y + inv(S)": ["x.T @ y + inv(S)"],
        "tau*x.T @ y + inv(S) @ m": ["tau*x.T @ y + S @ m", "tau*x.T @ y"],
        ", inv(tau*x.T @ x + inv(S)))": [
            ", tau*x.T @ x + inv(S))", ", inv(tau*x.T @ x + S))", ", inv(tau*I + inv(S)))",
            ", inv(tau*x.T @ x + inv(S)) @ S @ inv(tau*x.T @ x + inv(S)))",
        ],
        "inv(tau*x.T @ x + inv(S)) @ (": ["inv(x.T @ x + inv(S)) @ ("],
        "norm2(y - x @ beta)": ["norm2(x @ beta)", "norm2(y - x @ m)"],
    },
    "variance": {
        "s*V/N": ["s*V", "s*inv(V)/N", "s*V @ V/N"],
        "N*d/2": ["N/2"],
        "@ inv(V) @": ["@ V @"],
    },
    "families": {
        "a + n, c + J": ["a + n, c + J - 1", "a + n + ones, c + J"],
        "Beta(ones + m, tau*ones + al*ones + t)": ["Beta(tau*ones + al*ones + t, ones + m)", "Beta(ones + m, al)"],
        "Gamma(c + J,": ["Gamma(c + J - 1,"],
        "c - sum(log(ones - v))": ["c + sum(log(ones - v))", "c - sum(log(v))"],
        "J*tau + c": ["(J - 1)*tau + c", "(J + 1)*tau + c"],
        "Uniform(lo, hi)": ["Uniform(lo, hi + 1)", "Uniform(hi, lo)"],
        "LogNormal(M @ log(g), 1)": ["LogNormal(log(g), 1)", "LogNormal(M @ log(g), 2)"],
    },
    "weights": {
        "Dirichlet(alpha +": ["Dirichlet(ones +", "Dirichlet(alpha + ones +", "Dirichlet(2*alpha +", "Dirichlet("],
        "tau*B @ c": ["B @ c", "tau*B.T @ c", "tau*c"],
        "tau*B @ c +": [""],
        "+ z.T @ ones": ["", "+ N*ones/K", "+ 2*z.T @ ones"],
        "+ z.T @ m": ["", "+ sum(m)*ones", "+ z.T @ m**2"],
        "(ones + m) @ log(w)": ["ones @ log(w)"],
        "(ones + m) @ log(w).T": ["(ones + m) @ w.T"],
    },
}  # fmt: skip
"""Of each document what stands in its laws, and what is wrong there."""


@pytest.mark.parametrize(
    ("name", "old", "new"),
    some([(name, old, new) for name, own in MUTANTS.items() for old, wrong in own.items() for new in wrong], 2),
)
def test_a_wrong_law_is_refuted_with_what_is_left(name, old, new):
    head, right = RIGHT[name].split("laws:")
    assert old in right
    target = document(f"{head}laws:{right.replace(old, new)}")
    own = answer(target, "laws")
    point = expect(own, "refuted")
    assert own.decision.residual
    assert own.where.line > head.count("\n")
    if name != "families":  # the data are part of the point
        assert {field.name for field in target.declarations.data} <= set(point)


# what is no part of a law, and what leaves one open

ALONE = WEIGHTS.replace("laws:\n", "laws:\n  tau: Exponential(1 + norm2(y - z @ c)/2)\n").replace("- tau**2", "")
ALONE = ALONE.replace(" + tau*B @ c", "")
LESS = SAMPLE.replace("-k*(mu - m0)**2/2", "k*(mu - m0)**2/2").replace("+ k*m0", "- k*m0").replace("+ k", "- k")
SKEWED = """
name: skewed
state: {x: {shape: d}}
parameters: {S: {shape: [d, d], is: positive definite}, A: {shape: [d, d], is: skew}}
potential: x.T @ inv(S) @ x/2
laws: {x: "N(0, inv(inv(S) + A))"}
"""
LABELS = """
name: labels
state: {p: {domain: "interval(0, 1)"}}
data: {y: {shape: N, in: [0, 1]}}
log_likelihood: y*log(p) + (1 - y)*log(1 - p)
laws: {p: "Beta(1 + sum(y), 1 + N - sum(y))"}
"""
SHARP = LABELS.replace("N - sum(y)", "sum((ones - y)**2)").replace("(1 - y)*", "(1 - y)**2*")
BINOMIAL = """
name: trials
state: {p: {domain: "interval(0, 1)"}}
data: {y: {shape: N}, n: {shape: N}}
log_prior: beta(p, 2, 2)
log_likelihood: binomial(y, n, p)
laws: {p: "Beta(2 + sum(y), 2 + sum(n - y))"}
"""
REAL_RATE = SAMPLE.replace("b: {is: positive}", "b: {}")
IN_LOG = SAMPLE.replace("{domain: positive}", "{domain: positive, transform: log}")
RATE = SAMPLE.replace("- b*tau", "- (b - k)*tau").replace("b + norm2", "b - k + norm2")


@pytest.mark.parametrize(
    ("text", "verdict", "says"),
    [
        # sum(w) is 1: it stands in U beside tau, and its law has 1 there
        (ALONE, "proved", ""),
        (ALONE.replace("Exponential(1 + ", "Exponential(2 + "), "refuted", ""),
        (ALONE.replace("Exponential(1 + ", "Exponential(w.T @ c + "), "refuted", ""),
        (ALONE.replace("Exponential(1 + ", "Exponential(K + "), "refuted", ""),
        # what is alike for all shares is no part of the law of all of them
        *(
            (WEIGHTS.replace("- tau*sum(w)", f"- {right}"), "proved", "")
            for right in ("tau*sum(w)", "tau*sum(w)**3", "exp(tau*sum(w))", "tau*(1 - sum(w))*w.T @ alpha")
        ),
        (WEIGHTS.replace("alpha: {shape: K, is: positive}", "alpha: {shape: K}"), "undecided", "alpha"),
        (RATE, "undecided", "law of tau: not shown: b - k + (y - mu*ones).T @ (y - mu*ones) / 2 > 0"),
        (LESS, "undecided", "N*tau - k"),
        (SKEWED, "not proved", ""),  # the quadratic form sees the symmetric part of the precision alone
        (SKEWED.replace(" + A", ""), "proved", ""),
        # off m0 = 0 they are the same
        (SAMPLE.replace("tau*sum(y) + k*m0", "tau*sum(y)*sign(m0)**2 + k*m0"), "undecided", "smooth"),
        # where mu is not 0 the derivative is right, but what is added jumps there, or bends
        (SAMPLE.replace("- b*tau", "- b*tau - sign(mu)"), "undecided", ""),
        (SAMPLE.replace("- b*tau", "- b*tau - abs(mu)"), "not proved", ""),
        (SAMPLE.replace("log_prior", "assume: [mu > 1]\nlog_prior"), "undecided", "mu > 1"),
        (REAL_RATE, "undecided", ""),
        (REAL_RATE.replace("log_prior", "assume: [b > 0]\nlog_prior"), "proved", ""),
        (LABELS, "undecided", ""),  # N - sum(y) >= 0 is not shown
        (SHARP, "proved", ""),  # y**2 is y for labels 0 and 1 alone
        (IN_LOG, "proved", ""),
        (IN_LOG.replace("a + N/2", "a + N/2 + 1"), "refuted", ""),
        (BINOMIAL, "proved", ""),
    ],
)
def test_what_a_law_rests_on(text, verdict, says):
    expect(found(text), verdict, says)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["tau*norm2(w)", "tau*sum(B @ w)", "tau*(2 - sum(w))*w.T @ alpha"])
def test_a_witness_of_shares_is_on_the_simplex(wrong):
    shares = vector(expect(found(WEIGHTS.replace("- tau*sum(w)", f"- {wrong}")), "refuted")["w"])
    assert sum(shares) == 1
    assert len(shares) > 1
    assert min(shares) > 0


def test_a_witness_names_sizes_data_and_the_block_of_a_law():
    own = found(SAMPLE.replace("a + N/2", "a + N/2 + (N - 1)*(N - 2)*(N - 3)"))  # right at N = 1, 2, 3
    expect(own, "refuted")
    assert dict(own.for_d)["N"] == 4
    labels = expect(found(SHARP.replace("Beta(1 + sum(y)", "Beta(2 + sum(y)")), "refuted")["y"]
    assert {*vector(labels)} <= {0, 1}
    at = expect(found(BINOMIAL.replace("n - y", "n")), "refuted")  # `y <= n` is about every row
    assert int(at["y"].strip("[]")) <= int(at["n"].strip("[]"))
    assert any("dtau" in name for name in expect(found(SAMPLE.replace("a + N/2", "a + N")), "refuted"))


@pytest.mark.slow
@pytest.mark.parametrize("transform", ["", ", transform: log"])
def test_fifty_coefficients_are_decided_as_any_number_of_them(transform):
    text = REGRESSION.replace("shape: d}", "shape: 50}").replace("[N, d]", "[N, 50]").replace("[d, d]", "[50, 50]")
    text = text.replace("domain: positive", f"domain: positive{transform}")
    expect(found(text), "proved")
    expect(found(text.replace("tau*x.T @ y", "x.T @ y")), "not proved")


def test_nothing_is_said_of_a_gradient_that_is_code():
    text = 'state: {x: {shape: d}}\ngradient: "grad.py:grad_U"\nlaws: {x: "N(0, I)"}\n'
    target = document(text, **{"grad.py": "def grad_U(out, x): out[:] = x\n"})
    expect(answer(target, "laws"), "undecided")


# Structured edits of right laws: each is wrong where its parameters differ at a point, and none may be proved.


def edit(law, rng):
    """Return a law one edit of one node away."""
    k = rng.randrange(len(law.arguments))
    old = rng.choice(list(nodes(law.arguments[k])))
    new = edited(old, rng, [node for argument in law.arguments for node in nodes(argument)])
    changed = swapped(law.arguments[k], old, new) if new.shape == old.shape else law.arguments[k]
    return Law(law.name, (*law.arguments[:k], changed, *law.arguments[k + 1 :]))


def edited(node, rng, others):
    """Return a node with a number, a sign, a term, a factor or a name changed."""
    scale = ex.Number(rng.choice([Fraction(2), Fraction(1, 2), Fraction(-1), Fraction(3)]))
    choices = [ex.Multiply(scale, node, node.shape)]
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
    return rng.choice([*choices, *[one for one in others if one.shape == node.shape and one != node][:6]])


def swapped(formula, old, new):
    if formula is old:
        return new
    return rebuild(formula, [swapped(part, old, new) for part in parts(formula)], lambda shape: shape)


SIZES = {"N": 4, "d": 3, "J": 3, "K": 2}


def drawn(target, rng):
    """Return values of every name, data as all of their rows; all positive, which no kind forbids."""
    declared = target.declarations
    items = [(i.name, i.shape.sizes, i) for i in (*declared.parameters, *declared.blocks)]
    items += [(f.name, (f.size, *f.shape.sizes), f) for f in declared.data]
    found = {}
    for name, sizes, item in items:
        value = rng.uniform(0.2, 1.2, [SIZES.get(n, n) for n in sizes])
        if "positive definite" in getattr(item, "kinds", ()):
            value = value @ value.T + np.eye(len(value))
        found[name] = value[:, None] if value.ndim == 1 else value
    return Point(found, SIZES)


def differs(target, one, other):
    """Whether the parameters of two laws of one name differ at a point at which both have a value."""
    rng = np.random.default_rng(7)
    with np.errstate(all="ignore"):
        for at in (drawn(target, rng) for _ in range(3)):
            for left, right in zip(one.arguments, other.arguments, strict=True):
                try:
                    gap = np.max(np.abs(evaluate(left, at) - evaluate(right, at)))
                except (np.linalg.LinAlgError, ValueError):
                    continue
                if np.isfinite(gap) and gap > 1e-6:
                    return True
    return False


def wrong_laws(target, block, count, seed):
    """Return different laws, one edit away from the right one or, where it has few, from one of these."""
    law, rng = dict(target.laws)[block], random.Random(seed)
    found = []
    while len(found) < count:
        other = edit(law if rng.random() < 0.8 else rng.choice([law, *found]), rng)
        if other not in found and differs(target, law, other):
            found.append(other)
    return found


EDITED = [(name, block) for name, blocks in {
    "sample": "mu tau", "regression": "beta tau", "variance": "theta s", "families": "th v al w s u l q",
}.items() for block in blocks.split()]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "block"), EDITED)
def test_none_of_eighty_edits_of_a_right_law_is_proved(name, block):
    target = document(RIGHT[name])
    for law in wrong_laws(target, block, 80, seed=2):
        expect(answer(replace(target, laws=((block, law),)), "laws"), "not proved")

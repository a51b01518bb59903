"""Claimed laws of counts and of rows with a one at one place: right ones are proved for every size, wrong ones refuted
at counts and rows that are written out; sums over all counts are found, or named as unknown."""

import pytest
from answers import SPECS, answer, document, expect, said, vector

from recipe_compiler.spec.discrete import held
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, Tensor
from recipe_compiler.verify.builds.in_build import target_decided_in
from recipe_compiler.verify.builds.laws import law_of
from recipe_compiler.verify.builds.normalisable import normalisable_target
from recipe_compiler.verify.builds.summed import summed, without_counts

SEEN = """
name: seen
state: {lam: {domain: positive}, p: {domain: "interval(0, 1)"}, z: {shape: N, domain: counts}}
data: {y: {shape: N, is: [integer, nonnegative]}, area: {shape: N, is: positive}}
parameters: {a: {is: positive}}
log_prior: gamma(lam, 2, 1) + beta(p, a, 2)
log_likelihood: LIKELIHOOD
laws: {BLOCK: "LAW"}
"""
NAMED = "poisson(y, area*lam*p) + poisson(z, area*lam*(1 - p))"
THINNED = (
    "(y + z)*log(area*lam) - area*lam - loggamma(y + z + 1) + loggamma(y + z + 1) - loggamma(y + 1) - loggamma(z + 1) "
    "+ y*log(p) + z*log1p(-p)"
)
TWICE = "poisson(y, area*lam*p) + z*(log(area*lam) + 2*log1p(-p)) - area*lam*(1 - p)**2 - loggamma(z + 1)"
SIGNAL = """
name: signal
state: {s: {domain: positive}, b: {domain: positive}, k: {shape: N, domain: counts(y)}}
data: {y: {shape: N}, w: {shape: N, is: [integer, nonnegative]}, t: {shape: N, is: positive}}
log_prior: gamma(s, 2, 1) + gamma(b, 2, 1)
log_likelihood: LIKELIHOOD
laws: {BLOCK: "LAW"}
"""
SPLIT = "poisson(y, (s + b)*t) + binomial(k, y, s/(s + b)) + poisson(w, 3*t*b)"
TIMED = "poisson(y, (s + b)*t) + binomial(k, y, t/(t + 1)) + poisson(w, 3*t*b)"
APART = "k*log(s*t) + (y - k)*log(b*t) - (s + 4*b)*t - loggamma(k + 1) - loggamma(y - k + 1) + w*log(b)"
SEVERAL = """
name: several
state: {
  lam: {domain: positive}, p: {domain: "interval(0, 1)"}, m: {domain: counts}, k: {domain: counts(7)},
  c: {shape: J, domain: counts}, z: {shape: [N, 2], domain: one_hot}}
data: {y: {shape: N, is: [integer, nonnegative]}}
parameters: {a: {shape: J, is: positive}}
log_prior: >-
  gamma(lam, 2, 1) + beta(p, 2, 2) + poisson(m, lam) + binomial(k, 7, p) + sum(c*log(a*lam)) - lam*sum(a)
  - sum(loggamma(c + ones))
log_likelihood: poisson(y, lam) + log(1/2)
laws: {BLOCK: "LAW"}
"""
ALLOCATED = """
name: allocated
state: {
  theta: {shape: K, domain: positive}, mu: {shape: K}, tau: {domain: positive}, z: {shape: [N, K], domain: one_hot}}
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
COUPLED = """
name: coupled
state: {c: {shape: J, domain: counts}}
parameters: {a: {shape: J, is: positive}, W: {shape: [J, J], is: symmetric}}
potential: COUPLING - sum(c*log(a)) + sum(loggamma(c + ones))
laws: {c: Poisson(a)}
"""
ONE_ROW = """
name: one
state: {k: {shape: K, domain: one_hot}, mu: {shape: K}}
data: {y: {shape: N}}
log_prior: -norm2(mu)/2
log_likelihood: -(y - k.T @ mu)**2/2
laws: {k: "Categorical(LOGITS)"}
"""
CELLS = """
name: cells
state: {r: {shape: [N, J], domain: one_hot}, z: {shape: [N, K], domain: one_hot}, mu: {shape: [J, K]}}
data: {y: {shape: N}}
log_prior: -sum(mu**2)/2
log_likelihood: -(y - r @ mu @ z.T)**2/2
laws: {r: "Categorical(-(y @ ones.T - z @ mu.T)**2/2)", z: "Categorical(-(y @ ones.T - r @ mu)**2/2)"}
"""
STICKS = (SPECS / "targets/dp_mixture.yaml").read_text()


def stated(text, likelihood, block, law):
    return text.replace("LIKELIHOOD", likelihood).replace("BLOCK", block).replace("LAW", law)


def found(text, claim="laws"):
    return answer(document(text), claim)


def rows(extra, logits):
    text = PAIRS.replace("EXTRA", extra).replace("LOGITS", logits)
    if "z[0, 0]" in extra:
        text = text.replace("[M, K]", "[M, 2]").replace("V: {shape: [K, K], is: symmetric}", "c: {}")
    return text


@pytest.mark.parametrize(
    ("text", "likelihood", "block", "law"),
    [
        (SEEN, NAMED, "z", "Poisson(lam*(1 - p)*area)"),
        (SEEN, NAMED, "z", "Poisson(lam*area - lam*p*area)"),
        (SEEN, THINNED, "z", "Poisson(lam*(1 - p)*area)"),
        (SEEN, THINNED, "z", "Poisson(area*exp(log(lam) + log(1 - p)))"),
        (SEEN, TWICE, "z", "Poisson((1 - p)**2*lam*area)"),
        (SEEN, f"{NAMED} + sin(lam)*p", "z", "Poisson(lam*(1 - p)*area)"),
        (SEEN, NAMED, "lam", "Gamma(2 + sum(y + z), 1 + sum(area))"),
        (SEEN, THINNED, "p", "Beta(a + sum(y), 2 + sum(z))"),
        (SIGNAL, SPLIT, "k", "Binomial(y, s/(s + b)*ones)"),
        (SIGNAL, APART, "k", "Binomial(y, s/(s + b)*ones)"),
        (SIGNAL, APART, "k", "Binomial(y, (1 - b/(s + b))*ones)"),
        (SIGNAL, TIMED, "k", "Binomial(y, exp(log(t) - log(t + ones)))"),
        (SIGNAL, SPLIT, "b", "Gamma(2 + sum(y - k + w), 1 + 4*sum(t))"),
        (SEVERAL, "", "m", "Poisson(lam)"),
        (SEVERAL, "", "k", "Binomial(7, p)"),
        (SEVERAL, "", "c", "Poisson(lam*a)"),
        (SEVERAL, "", "z", "Categorical(ones @ ones.T)"),
        (SEVERAL, "", "p", "Beta(2 + k, 9 - k)"),
        (SEVERAL, "", "lam", "Gamma(2 + m + sum(y) + sum(c), 2 + N + sum(a))"),
        (ALLOCATED, AFFINE, "z", f"Categorical({GAUSSIAN})"),
        (ALLOCATED, SQUARE, "z", f"Categorical({GAUSSIAN})"),
        (ALLOCATED, SQUARE, "z", f"Categorical({GAUSSIAN} + y @ ones.T)"),  # alike for all places
        (ALLOCATED, TOPICS, "z", "Categorical(ones @ log(theta).T + x @ log(b).T)"),
        (ALLOCATED, AFFINE, "theta", "Gamma(a*ones + z.T @ ones, 1)"),
        (
            ALLOCATED,
            SQUARE,
            "mu",
            "N(inv(diag(tau*z.T @ ones) + I/v) @ (tau*z.T @ y), inv(diag(tau*z.T @ ones) + I/v))",
        ),
        (ALLOCATED, SQUARE, "mu", "N(inv(tau*z.T @ z + I/v) @ (tau*z.T @ y), inv(tau*z.T @ z + I/v))"),
        (
            ALLOCATED,
            f"{AFFINE} + sum(z)*log(tau)/2",
            "tau",
            "Gamma(1 + N/2, 1 + sum(z*(y @ ones.T - ones @ mu.T)**2)/2)",
        ),
        (ALLOCATED, f"{SQUARE} + log(tau)/2", "tau", "Gamma(1 + N/2, 1 + norm2(y - z @ mu)/2)"),
    ],
)
def test_right_laws_are_proved_for_every_size(text, likelihood, block, law):
    own = found(stated(text, likelihood, block, law))
    expect(own, "proved")
    assert own.for_d == "all"
    assert own.decision.by.startswith("index calculus for every size")


@pytest.mark.parametrize(
    ("text", "likelihood", "block", "law"),
    [
        (SEEN, NAMED, "z", "Poisson(lam*p*area)"),
        (SEEN, NAMED, "z", "Poisson(lam*(1 - p))"),
        (SEEN, TWICE, "z", "Poisson((1 - p)*lam*area)"),
        (SEEN, f"{NAMED} - loggamma(z + 2) + loggamma(z + 1)", "z", "Poisson(lam*(1 - p)*area)"),
        (SEEN, f"{NAMED} + loggamma(z + 1)", "z", "Poisson(lam*(1 - p)*area)"),  # a geometric law
        (SEEN, f"{NAMED} - z*p", "z", "Poisson(lam*(1 - p)*area)"),
        (SEEN, f"{NAMED} - z**2", "z", "Poisson(lam*(1 - p)*area)"),
        (SEEN, f"{NAMED} + loggamma(y + z + 1)", "z", "Poisson(lam*(1 - p)*area)"),
        (SEEN, NAMED, "lam", "Gamma(2 + sum(y), 1 + sum(area))"),
        (SEEN, NAMED, "lam", "Gamma(2 + sum(y + z), 1 + p*sum(area))"),  # without the normaliser of the law of z
        (SEEN, NAMED, "p", "Beta(a + sum(y), 2 + sum(y))"),
        (SIGNAL, SPLIT, "k", "Binomial(w, s/(s + b)*ones)"),
        (SIGNAL, SPLIT, "k", "Binomial(y + ones, s/(s + b)*ones)"),
        (SIGNAL, SPLIT, "k", "Binomial(y, b/(s + b)*ones)"),
        (SIGNAL, TIMED, "k", "Binomial(y, s/(s + b)*ones)"),
        (SIGNAL, f"{APART} + loggamma(y - k + 1)", "k", "Binomial(y, s/(s + b)*ones)"),
        (SEVERAL, "", "m", "Poisson(2*lam)"),
        (SEVERAL, "", "k", "Binomial(8, p)"),
        (SEVERAL, "", "k", "Binomial(7, 1 - p)"),
        (SEVERAL, "", "c", "Poisson(lam*ones)"),
        (ALLOCATED, AFFINE, "z", "Categorical(-tau*(y @ ones.T - ones @ mu.T)**2/2)"),
        (ALLOCATED, AFFINE, "z", f"Categorical({GAUSSIAN} + ones @ log(theta).T)"),
        (ALLOCATED, SQUARE, "z", "Categorical(ones @ log(theta).T - tau*(y @ ones.T - ones @ mu.T)**2)"),
        (ALLOCATED, SQUARE, "z", "Categorical(ones @ log(theta).T + tau*y @ mu.T)"),  # the square of mu is not alike
        (ALLOCATED, f"{SQUARE} - z @ W @ z.T", "z", f"Categorical({GAUSSIAN})"),  # a row that is coupled to itself
        (ALLOCATED, AFFINE, "theta", "Gamma(a*ones + 2*z.T @ ones, 1)"),
        (ALLOCATED, AFFINE, "theta", "Gamma(z.T @ ones, 1)"),
        (ALLOCATED, SQUARE, "mu", "N(inv(diag(z.T @ ones) + I/v) @ (tau*z.T @ y), inv(diag(z.T @ ones) + I/v))"),
        (ALLOCATED, f"{SQUARE} + log(tau)/2", "tau", "Gamma(1 + N, 1 + norm2(y - z @ mu)/2)"),
        (ALLOCATED, f"{SQUARE} + log(tau)/2", "tau", "Gamma(1 + N/2, 1 + norm2(y - z @ mu))"),
    ],
)
def test_wrong_laws_are_refuted_with_the_counts_and_rows_at_which_they_are(text, likelihood, block, law):
    at = expect(found(stated(text, likelihood, block, law)), "refuted")
    if text == ALLOCATED:
        shown = [vector(row) for row in at["z"].strip("[]").split("], [")]
        assert all(sorted(row)[-1] == 1 and sum(row) == 1 for row in shown)
        return
    counts = {"m", "k", "c"} if text == SEVERAL else {"z", "k"}
    assert all({*vector(at[name])} <= {0, 1, 2} for name in counts & at.keys())
    assert {"z", "k", "c"} & at.keys()
    if text == SIGNAL and law == "Binomial(y, b/(s + b)*ones)":
        assert int(at["y"].strip("[]")) > int(at["k"].strip("[]"))  # counts of the domain


@pytest.mark.parametrize(
    ("text", "verdict", "says"),
    [
        (
            stated(SEEN, NAMED.replace("lam*(1 - p)", "(lam - 1)"), "z", "Poisson((lam - 1)*area)"),
            "undecided", "(lam - 1)*area > 0",
        ),
        (stated(SEEN, f"{NAMED} + loggamma(z)", "z", "Poisson(lam*(1 - p)*area)"), "undecided", "z > 0"),
        (stated(SIGNAL, SPLIT, "k", "Binomial(y, s*ones)"), "undecided", "ones - s*ones > 0"),
        (stated(SIGNAL, f"{APART} - log(y - k)", "k", "Binomial(y, s/(s + b)*ones)"), "undecided", "y - k > 0"),
        # z @ theta > 0 rests on a row that has a one, which the rules of signs do not see
        (stated(ALLOCATED, "log(z @ theta)", "z", "Categorical(ones @ log(theta).T)"), "undecided", ""),
        (COUPLED.replace("COUPLING", "trace(W)"), "proved", ""),
        (rows("", "a"), "proved", ""),
        (rows("", "a + s*ones @ ones.T"), "proved", ""),  # the same number for all places
        (rows(" - s*sum(z)", "a"), "proved", ""),  # there is one one in each row
        (rows(" - sum(a*z**2)", "2*a"), "proved", ""),  # z is 0 or 1
        (rows(" - trace(V @ z.T @ z)", "a"), "refuted", ""),  # the diagonal of V is of each place
        (rows(" - s*z[0, 0]", "a"), "refuted", ""),
        (rows(" - sum(a)", "2*a"), "refuted", ""),
        (ONE_ROW.replace("LOGITS", "sum(y)*mu - N*mu**2/2"), "proved", ""),
        (CELLS, "proved", ""),
    ],
)  # fmt: skip
def test_what_a_law_of_counts_and_rows_rests_on(text, verdict, says):
    own = found(text)
    expect(own, verdict, says)
    assert says or "does not reduce" not in said(own)


def test_witnesses_of_what_is_coupled_name_it():
    assert "W" in expect(found(COUPLED.replace("COUPLING", "c.T @ W @ c")), "refuted")
    assert expect(found(rows(" - trace(W @ z @ V @ z.T)", "a")), "refuted")["z"].startswith("[[")
    at = expect(found(ONE_ROW.replace("LOGITS", "sum(y)*mu - mu**2/2")), "refuted")
    assert at["N"] == "2"
    assert at["k"].count("1") == 1
    assert {"r", "z"} <= expect(found(CELLS.replace("- r @ mu)**2/2", "- r @ mu)**2")), "refuted").keys()


@pytest.mark.parametrize(
    ("block", "old", "new"),
    [
        ("alpha", "Gamma(b1 + J,", "Gamma(b1 + J - 1,"),
        ("alpha", "Gamma(b1 + J,", "Gamma(b1 + J + 1,"),
        ("alpha", "b2 - sum(log(ones - v))", "b2 - sum(log(v))"),
        ("v", "alpha*ones + before.T @ z.T @ ones", "alpha*ones"),  # without the users beyond
        ("v", "alpha*ones + before.T @ z.T @ ones", "alpha*ones + before @ z.T @ ones"),
        ("v", "Beta(ones + z.T @ ones", "Beta(z.T @ ones + 2*ones"),
        ("p", "a*ones + z.T @ one,", "a*ones + z.T @ ones,"),
        ("z", "log(v) + before @ log(ones - v)", "log(v)"),
        ("z", "ones @ (log(v) + before @ log(ones - v)).T + ", ""),  # weights left out
    ],
)
def test_wrong_laws_of_a_dirichlet_process_mixture_are_refuted(block, old, new):
    """For every number of sticks and users: one stick more or less, users beyond left out, weights left out."""
    head, own = STICKS.split("laws:")
    assert old in own
    expect(law_of(document(f"{head}laws:{own.replace(old, new, 1)}"), block), "refuted")


def test_laws_of_a_dirichlet_process_mixture_are_proved():
    assert [*expect(found(STICKS), "proved")] == ["law[v]", "law[alpha]", "law[p]", "law[z]"]


# what is defined and has a finite integral


def test_what_holds_up_to_the_end_of_counts_is_shown():
    expect(found(stated(SIGNAL, APART, "b", "Gamma(2, 1)"), "defined"), "proved")
    expect(found(stated(SIGNAL, f"{APART} - loggamma(y - k)", "b", "Gamma(2, 1)"), "defined"), "undecided")


def test_integral_and_formulas_are_decided_for_all_rows():
    target = document(stated(ALLOCATED, AFFINE, "z", f"Categorical({GAUSSIAN})"))
    expect(answer(target, "defined"), "proved")
    assert [field.name for field in held(target).declarations.data] == ["y", "x", "z"]
    shipped = (SPECS / "targets/mixture_allocations.yaml").read_text()
    expect(found(shipped, "normalisable"), "proved")
    # a mean without data has no law
    expect(found(shipped.replace(" - norm2(mu)/(2*mean_variance)", ""), "normalisable"), "not proved")


BOUNDED = """
name: bounded
state: {lam: {constraint: lower(1)}, z: {domain: counts}}
data: {y: {shape: N}}
log_prior: poisson_log(z, lam) + PRIOR
log_likelihood: normal(y, 0, 1)
"""
# with flat priors the integral over lam is what it is of y ~ Poisson(area lam p) alone: open, and not proved
FLAT = SEEN.replace("gamma(lam, 2, 1) + beta(p, a, 2)", "beta(p, a, 2)")
BY_ITSELF = "name: other\nstate: {m: {domain: counts}, lam: {domain: positive}}\n"
MANY = BY_ITSELF + "parameters: {a: {shape: J, is: positive}}\npotential: lam - poisson(m, a)\n"
INVERSE = f"{BY_ITSELF}potential: lam + poisson(m, lam)\n"  # 1/p, not p
POWER = f"{BY_ITSELF}data: {{y: {{shape: N}}}}\nlog_prior: gamma(lam, 2, 1)\n"
POWER += "log_likelihood: poisson(y, lam) + poisson(m, lam)\n"  # p**N, not p
ROUND = """
name: chain
state: {lam: {domain: positive}, m: {domain: counts}, k: {domain: counts}}
log_prior: gamma(lam, 2, 1) + poisson(m, lam) + poisson(k, m + 1)
data: {y: {shape: N}}
log_likelihood: poisson(y, lam)
"""
IMPROPER = """
name: improper
state: {lam: {domain: positive}, m: {domain: counts}}
potential: lam - m*log(lam) + loggamma(m + 1)
laws: {lam: "Gamma(m + 1, 1)", m: Poisson(lam)}
"""
PROPER = IMPROPER.replace("potential: lam", "potential: 2*lam").replace("Gamma(m + 1, 1)", "Gamma(m + 1, 2)")
OTHER_END = stated(SIGNAL, SPLIT.replace("binomial(k, y,", "binomial(k, y + w,"), "s", "Gamma(2, 1)")
SQUARED = stated(SIGNAL, f"{SPLIT} - k**2", "s", "Gamma(2, 1)")
THIN = "Poisson(lam*(1 - p)*area)"


@pytest.mark.parametrize(
    ("text", "sums", "verdict"),
    [
        (stated(SEEN, NAMED, "z", "Poisson(lam*p*area)"), {"z": "poisson, whose sum is 1"}, "proved"),  # by its name
        (stated(SEEN, THINNED, "z", THIN), {"z": f"by its law {THIN}"}, "proved"),
        (
            stated(SEEN, TWICE, "z", "Poisson((1 - p)**2*lam*area)"),
            {"z": "by its law Poisson((1 - p)**2*lam*area)"}, "proved",
        ),
        (stated(SIGNAL, SPLIT, "s", "Gamma(2, 1)"), {"k": "binomial, whose sum is 1"}, ""),
        (
            stated(SIGNAL, APART, "k", "Binomial(y, s/(s + b)*ones)"),
            {"k": "by its law Binomial(y, s/(s + b)*ones)"}, "",
        ),
        (SQUARED, {}, "proved"),  # each count is bounded, and held at all of its values
        # a named law of other counts is no law of these: up to another end, or of one beside many parameters
        (OTHER_END, {}, ""),
        (MANY, {}, ""),
        (INVERSE, {}, "undecided"),
        (POWER, {}, "undecided"),
        # what the named law of one count has in its mean is summed over last
        (ROUND, {"k": "poisson, whose sum is 1", "m": "poisson, whose sum is 1"}, "proved"),
        # proper laws do not make a joint one finite
        (IMPROPER, None, "refuted"),
        (PROPER, None, "proved"),
        *((BOUNDED.replace("PRIOR", one), None, "proved") for one in ("exponential(lam, 1)", "-lam", "-2*log(lam)")),
        *((BOUNDED.replace("PRIOR", one), None, "refuted") for one in ("lam", "-log(lam)", "-lam/(lam + 1)")),
    ],
)  # fmt: skip
def test_sums_over_all_counts_are_known_by_name_or_by_law(text, sums, verdict):
    target = document(text)
    if sums is not None:
        assert [*summed(target).data] == [(f"summed over {name}", way) for name, way in sums.items()]
    if verdict:
        data = expect(normalisable_target(target), verdict)
        assert verdict != "proved" or all(data[f"summed over {name}"] == way for name, way in (sums or {}).items())
    if text in (IMPROPER, PROPER):
        expect(answer(target, "laws"), "proved")


@pytest.mark.parametrize(
    ("likelihood", "law"),
    [
        (THINNED, "Poisson(lam*p*area)"),
        (f"{NAMED} + z*p", THIN),
        (NAMED.replace("poisson(z,", "2*poisson(z,"), THIN),
        (f"{NAMED} + poisson(z, area)", THIN),
        (NAMED.replace("area*lam*(1 - p))", "area*(lam - 1))"), THIN),
    ],
)
def test_a_sum_that_is_not_known_is_named(likelihood, law):
    own = found(stated(SEEN, likelihood, "z", law), "normalisable")
    expect(own, "undecided")
    assert "the sum over all z is not known" in own.decision.tried[0]


def test_what_is_left_after_a_sum_is_the_law_of_what_was_seen():
    fewer = without_counts(document(stated(SEEN, NAMED, "z", THIN)))
    assert [block.name for block in fewer.declarations.blocks] == ["lam", "p"]
    own = normalisable_target(document(stated(FLAT, THINNED, "z", THIN)))
    expect(own, "not proved")
    assert not any("sum over all z" in reason for reason in getattr(own.decision, "tried", ()))


def test_the_mean_of_each_datum_is_read_off_a_law_of_all():
    """A design matrix, a field that is counted and one that is not: what is left is the law of y alone."""
    text = """
    name: design
    state: {beta: {shape: K}, lam: {domain: positive}, z: {shape: N, domain: counts}}
    data: {y: {shape: N, is: [integer, nonnegative]}, x: {shape: [N, K]}, t: {shape: N, is: positive}}
    log_prior: -norm2(beta)/2 + gamma(lam, 2, 1)
    log_likelihood: (y + z)*(x @ beta + log(t*lam)) - 2*t*lam*exp(x @ beta) - loggamma(z + 1) - loggamma(y + 1)
    laws: {z: Poisson(lam*t*exp(x @ beta))}
    """
    own = document(text)
    alone = document(text.replace("(y + z)", "y").replace("2*t", "t").replace(" - loggamma(z + 1)", ""))
    assert likelihood_of(without_counts(own)) == likelihood_of(alone)
    expect(normalisable_target(own), "proved")


def likelihood_of(target):
    declared, n = target.declarations, Index("N", "n")
    shown = convert(target.log_likelihood, declared, datum=n)
    (constant,) = calculus(declared).applied("loggamma", calculus(declared).constant(1)).terms  # log 0!
    return Tensor(shown.free, tuple(term for term in shown.terms if term.factors != constant.factors))


# builds

CYCLE = """
name: b
dynamics: SPECS/dynamics/still.yaml
target: target.yaml
scheme: {cycle: [draw: z]}
variant: full
data: {file: y.csv, y: y}
run: {draws: 10}
"""


@pytest.mark.parametrize(("counts", "verdict"), [("2\n0", "proved"), ("0\n0", "not proved")])
def test_data_of_a_build_decide_what_is_left_after_the_sum(counts, verdict):
    """Of the density 1/lam: that of lam given y alone has a finite integral if something was seen."""
    target = """
    name: flat
    state: {lam: {domain: positive, transform: log}, z: {shape: N, domain: counts}}
    data: {y: {shape: N}}
    log_prior: -log(lam)
    log_likelihood: poisson(y, lam) + poisson(z, lam)
    laws: {z: Poisson(lam*ones)}
    """
    expect(answer(document(CYCLE, target=target, **{"y.csv": f"y\n{counts}\n"}), "normalisable"), verdict)


def test_named_densities_beside_a_row_are_held_at_the_sizes_of_a_build():
    """What is stated by densities has the sizes of the document, what is decided at values those of the build."""
    target = """
    name: shifted
    state: {mu: {shape: K}, z: {shape: [N, K], domain: one_hot}}
    data: {y: {shape: N}}
    parameters: {c: {shape: K}}
    log_prior: normal(mu, 0, 1) + sum(c*mu)**3
    log_likelihood: z @ c + normal(y, z @ mu, 1)
    laws: {z: "Categorical(ones @ c.T - (y @ ones.T - ones @ mu.T)**2/2)"}
    """
    text = f"{CYCLE}parameters: {{c: {{value: [1, 2]}}}}\nsizes: {{K: 2}}\n"
    own = target_decided_in(normalisable_target, document(text, target=target, **{"y.csv": "y\n1\n2\n"}))
    expect(own, "not proved")
    assert not any("replacement" in reason for reason in getattr(own.decision, "tried", ()))

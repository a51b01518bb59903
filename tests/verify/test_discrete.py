"""Sums over counts, and rows in builds, by what is left of a target (`documents/verify/discrete.yaml`)."""

import pytest
from answers import ROOT, answer, document, expect, vector
from families import read_variants

from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, Tensor
from recipe_compiler.verify.builds.in_build import target_decided_in
from recipe_compiler.verify.builds.summed import sum_all_counts, sum_over_counts
from recipe_compiler.verify.builds.target_integral import normalisable_target


def test_witnesses_have_whole_counts_and_rows_with_one_one():
    families = read_variants(ROOT / "tests/documents/verify/discrete.yaml", "discrete")
    wrong = [one.texts["document.yaml"] for one in families if "a wrong one is refuted" in one.name]
    for text in wrong[::6]:
        own = document(text)
        at = expect(answer(own, "laws"), "refuted")
        shape = {block.name: block for block in own.declarations.blocks}
        for name in {"k", "z"} & at.keys():
            if shape[name].domain.name == "one_hot":
                rows = [vector(row) for row in at[name].strip("[]").split("], [")]
                assert all((max(row), sum(row)) == (1, 1) for row in rows)
            else:
                assert {*vector(at[name])} <= {0, 1, 2}


def test_a_witness_of_shares_is_on_the_simplex():
    families = read_variants(ROOT / "tests/documents/verify/laws.yaml", "laws")
    wrong = next(one.texts["document.yaml"] for one in families if "a witness of shares" in one.name)
    shares = vector(expect(answer(document(wrong), "laws"), "refuted")["w"])
    assert (sum(shares), len(shares) > 1, min(shares) > 0) == (1, True, True)


SIGNAL = """
state: {s: {domain: positive}, b: {domain: positive}, k: {shape: N, domain: counts(y)}}
data: {y: {shape: N}, w: {shape: N, is: [integer, nonnegative]}, t: {shape: N, is: positive}}
log_prior: gamma(s, 2, 1) + gamma(b, 2, 1)
log_likelihood: poisson(y, (s + b)*t) + binomial(k, END, s/(s + b)) + poisson(w, 3*t*b)MORE
"""
MANY = """
state: {m: {domain: counts}, lam: {domain: positive}}
parameters: {a: {shape: J, is: positive}}
potential: lam - poisson(m, a)
"""


@pytest.mark.parametrize(
    ("text", "sums"),
    [
        (SIGNAL.replace("END", "y").replace("MORE", ""), {"summed over k": "binomial, whose sum is 1"}),
        (SIGNAL.replace("END", "y").replace("MORE", " - k**2"), {}),
        # up to another end, or of one beside many parameters
        (SIGNAL.replace("END", "y + w").replace("MORE", ""), {}),
        (MANY, {}),
    ],
)
def test_a_named_law_of_other_counts_is_no_law_of_these(text, sums):
    assert dict(sum_over_counts(document(text)).data) == sums


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
    assert likelihood_of(sum_all_counts(own)) == likelihood_of(alone)
    expect(normalisable_target(own), "proved")


def likelihood_of(target):
    declared, n = target.declarations, Index("N", "n")
    shown = convert(target.log_likelihood, declared, datum=n)
    (constant,) = calculus(declared).applied("loggamma", calculus(declared).constant(1)).terms  # log 0!
    return Tensor(shown.free, tuple(term for term in shown.terms if term.factors != constant.factors))


CYCLE = """
name: b
dynamics: SPECS/dynamics/still.yaml
target: target.yaml
scheme: {cycle: [draw: z]}
variant: full
data: {file: y.csv, y: y}
run: {draws: 10}
"""


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

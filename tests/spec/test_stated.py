"""What targets state by named densities is kept, and what these need of data is declared of the data."""

from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.formula.show import text

SCHOOLS = """
name: t
state: {mu: {}, tau: {domain: positive, transform: log}, eta: {shape: J}}
data: {y: {shape: N}, sigma: {shape: N}, z: {shape: [N, J]}}
log_prior: normal(mu, 0, 5) - tau + (half_cauchy(tau, 5) + normal(eta, 0, 1))
log_likelihood: normal(y, mu + tau*(z @ eta), sigma)
"""


def test_densities_are_kept_as_they_were_stated(load_text) -> None:
    stated = load_text(SCHOOLS).stated
    assert [(one.name, one.of, one.entry, one.is_term) for one in stated.densities] == [
        ("normal", "mu", "log_prior", True),
        ("half_cauchy", "tau", "log_prior", True),
        ("normal", "eta", "log_prior", True),
        ("normal", "y", "log_likelihood", True),
    ]
    assert text(stated.densities[-1].arguments[1]) == "mu + tau*(z @ eta)"
    assert stated.densities[0].arguments[2] == Number(5)
    assert [(entry, text(formula)) for entry, formula in stated.others] == [("log_prior", "-tau")]
    assert [text(condition) for condition in stated.needs] == ["tau >= 0"]


def test_a_density_within_a_summand_is_no_summand(load_text) -> None:
    changed = SCHOOLS.replace("normal(mu, 0, 5) -", "2*normal(mu, 0, 5) -")
    stated = load_text(changed).stated
    assert [one.is_term for one in stated.densities] == [False, True, True, True]
    assert len(stated.others) == 1
    assert text(stated.others[0][1]).startswith("2*(")


def test_data_are_of_the_kinds_that_densities_need(load_text) -> None:
    head = "name: t\nstate: {b: {}}\ndata: {y: {shape: N}, e: {shape: N}, n: {shape: N, in: [3, 4]}}\n"
    target = load_text(head + "log_likelihood: poisson_log(y, b + log(e))")
    assert [field.kinds for field in target.declarations.data] == [
        (Kind.INTEGER, Kind.NONNEGATIVE), (Kind.REAL,), (Kind.REAL,),
    ]  # fmt: skip
    target = load_text(head + "log_likelihood: lognormal(y, b, n) + bernoulli_logit(e, b)")
    y, e, _ = target.declarations.data
    assert (y.kinds, e.kinds, e.values) == ((Kind.POSITIVE,), (Kind.INTEGER,), (0, 1))


def test_what_data_have_to_satisfy_together_is_assumed(load_text) -> None:
    text_of = "name: t\nstate: {b: {}}\ndata: {y: {shape: N}, n: {shape: N}}\nlog_likelihood: binomial_logit(y, n, b)"
    assert [text(one) for one in load_text(text_of).declarations.assume] == ["y <= n"]

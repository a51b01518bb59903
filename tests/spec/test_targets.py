"""Targets from YAML: blocks, data, densities, counts, laws, recursions, and formulas that are written in two ways."""

import re
from fractions import Fraction
from typing import Any

import pytest
from answers import document, shipped, written

import recipe_compiler as rc
from recipe_compiler.errors import DocumentError
from recipe_compiler.formula.declaration import Block, Domain
from recipe_compiler.formula.expression import Compare, Filled, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.discrete import discrete_blocks, ends_of_all, held, largest, of_data, of_one_datum

ONE_HOT = "state: {mu: {shape: K}, F: {shape: [K, 2]}, z: {shape: [N, K], domain: one_hot}}\ndata: {y: {shape: N}}\n"
SAME = {
    "a name in `let` is its formula": (
        "state: {theta: {shape: d}, a: {}, tau: {domain: positive}}\ndata: {x: {shape: [N, d]}, y: {shape: N}}\n",
        "let: {sd: 2*tau, eta: line + a, line: x @ theta}\nlog_prior: normal(theta, 0, sd) - tau\n"
        "log_likelihood: normal(y, eta, sd)",
        "log_prior: normal(theta, 0, 2*tau) - tau\nlog_likelihood: normal(y, x @ theta + a, 2*tau)",
    ),
    "a row with a one is a position, whatever is computed of it": (
        ONE_HOT, "log_likelihood: -(y - (exp(mu)[z] + F[z] @ F[z].T))**2/2",
        "log_likelihood: -(y - (z @ exp(mu) + (z @ F) @ (z @ F).T))**2/2",
    ),
    "a column with a one is a position": (
        ONE_HOT.replace("[N, K]", "K"), "log_likelihood: -(y - mu[z])**2/2", "log_likelihood: -(y - z.T @ mu)**2/2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SAME)
def test_two_ways_to_write_a_formula_are_one(case: str) -> None:
    head, one, other = SAME[case]
    own, wide = document(head + one), document(head + other)
    assert (own.log_prior, own.log_likelihood, own.stated) == (wide.log_prior, wide.log_likelihood, wide.stated)


@pytest.mark.slow
def test_names_that_double_a_formula_each_are_bounded() -> None:
    """Thirty names, each twice the one before, would be 2**30 parts."""
    lines = "".join(f"  n{k}: n{k - 1} + n{k - 1}\n" for k in range(1, 31))
    with pytest.raises(DocumentError):
        document(f"state: {{a: {{}}}}\ndata: {{y: {{shape: N}}}}\nlet:\n  n0: a\n{lines}log_likelihood: n30 - y**2")


def test_blocks_and_data_have_their_shapes_and_defaults_are_exact() -> None:
    found = document("state: {W: {shape: [K, d]}, b: {shape: K}, s: {}}\npotential: trace(W @ W.T) + b.T @ b + s**2")
    assert [block.shape for block in found.declarations.blocks] == [Shape("K", "d"), Shape("K"), SCALAR]
    declared = shipped("targets/logistic_regression").declarations
    x, y = declared.data
    assert (x.size, x.shape, y.size, y.shape, y.values) == ("N", Shape(None, "d"), "N", SCALAR, (0, 1))
    assert declared.parameters[0].default == Number(Fraction(10))


# What is stated by named densities.

SCHOOLS = """
state: {mu: {}, tau: {domain: positive, transform: log}, eta: {shape: J}}
data: {y: {shape: N}, sigma: {shape: N}, z: {shape: [N, J]}}
log_prior: normal(mu, 0, 5) - tau + (half_cauchy(tau, 5) + normal(eta, 0, 1))
log_likelihood: normal(y, mu + tau*(z @ eta), sigma)
"""


def test_densities_are_kept_as_they_were_stated() -> None:
    stated = document(SCHOOLS).stated
    assert [(one.name, one.of, one.entry, one.is_term) for one in stated.densities] == [
        ("normal", "mu", "log_prior", True), ("half_cauchy", "tau", "log_prior", True),
        ("normal", "eta", "log_prior", True), ("normal", "y", "log_likelihood", True),
    ]  # fmt: skip
    assert text(stated.densities[-1].arguments[1]) == "mu + tau*(z @ eta)"
    assert stated.densities[0].arguments[2] == Number(5)
    assert [(entry, text(formula)) for entry, formula in stated.others] == [("log_prior", "-tau")]
    assert [text(condition) for condition in stated.needs] == ["tau >= 0"]
    within = document(SCHOOLS.replace("normal(mu, 0, 5) -", "2*normal(mu, 0, 5) -")).stated
    assert [one.is_term for one in within.densities] == [False, True, True, True]
    ((_, other),) = within.others
    assert text(other).startswith("2*(")


NONE, COUNT = (Kind.REAL,), (Kind.INTEGER, Kind.NONNEGATIVE)


@pytest.mark.parametrize(
    ("likelihood", "kinds", "assumed"),
    [
        ("poisson_log(y, b + log(e))", [COUNT, NONE, NONE], []),
        ("lognormal(y, b, n) + bernoulli_logit(e, b)", [(Kind.POSITIVE,), (Kind.INTEGER,), NONE], []),
        ("binomial_logit(y, n, b)", [COUNT, NONE, COUNT], ["y <= n"]),
    ],
)
def test_data_are_of_the_kinds_that_densities_need(likelihood: str, kinds: list[Any], assumed: list[str]) -> None:
    head = "state: {b: {}}\ndata: {y: {shape: N}, e: {shape: N}, n: {shape: N, in: [3, 4]}}\n"
    declared = document(f"{head}log_likelihood: {likelihood}").declarations
    assert [field.kinds for field in declared.data[:2]] == kinds[:2]
    assert [text(one) for one in declared.assume] == assumed
    assert (declared.data[1].values == (0, 1)) is ("bernoulli" in likelihood)


# Discrete blocks: what their names mean, and who may move them.

COUNTED = """
name: counted
state:
  lam: {domain: positive}
  p: {domain: "interval(0, 1)"}
  z: {shape: N, domain: counts}
  k: {shape: N, domain: counts(n)}
  m: {domain: counts(7)}
  c: {shape: J, domain: counts(J)}
data: {y: {shape: N}, n: {shape: N}}
parameters: {a: {shape: J, is: positive}}
log_prior: gamma(lam, 2, 1) + beta(p, 2, 2) + binomial(m, 7, p) + sum(c*a)
log_likelihood: poisson(y, lam) + poisson(z, lam*(1 - p)) + binomial(k, n, p)
laws: {z: Poisson(lam*(1 - p)), k: "Binomial(n, p)", m: "Binomial(7, p)"}
"""


def test_blocks_with_a_row_for_each_datum_are_its_row_in_the_log_likelihood() -> None:
    declared = document(COUNTED).declarations
    assert [block.name for block in of_data(declared)] == ["z", "k"]
    assert [block.shape for block in of_one_datum(declared).blocks] == [SCALAR] * 5 + [Shape("J")]
    assert declared.blocks[2].domain == Domain(DomainName.COUNTS)
    assert declared.blocks[3].domain.bounds == (Symbol("n", SCALAR, Role.DATUM),)
    allocated = document(
        f"{ONE_HOT}log_likelihood: -(y - z @ mu)**2/2\n".replace("}}\nd", "}, w: {shape: [K, 3], domain: one_hot}}\nd")
    )
    assert [block.name for block in discrete_blocks(allocated.declarations)] == ["z", "w"]
    assert [block.name for block in of_data(allocated.declarations)] == ["z"]
    row = of_one_datum(allocated.declarations).find("z")
    assert isinstance(row, Block)
    assert row.shape == Shape(None, "K")


def test_a_field_that_is_an_end_of_counts_is_whole_and_not_negative() -> None:
    field = document(COUNTED.replace("binomial(k, n, p)", "k*log(p)")).declarations.find("n")
    assert {*field.kinds} == {Kind.INTEGER, Kind.NONNEGATIVE}


def test_the_largest_count_has_the_shape_of_its_block_in_laws() -> None:
    declared = document(COUNTED).declarations
    z, k, m, c = declared.blocks[2:]
    assert largest(z, declared) is None
    assert largest(k, declared) == Symbol("n", Shape("N"), Role.PARAMETER)
    assert largest(m, declared) == Number(Fraction(7))
    assert largest(c, declared).shape == Shape("J")
    assert [end.left.shape for end in ends_of_all(declared)] == [Shape("N"), SCALAR, Shape("J")]
    assert ends_of_all(declared)[0].right == Filled(0, Shape("N"))


def test_what_is_held_stays_below_its_end() -> None:
    found = held(document(COUNTED)).declarations
    assert [block.name for block in found.blocks] == ["lam", "p"]
    assert [(field.name, field.shape) for field in found.data] == [(name, SCALAR) for name in "ynzk"]
    assert found.find("k").kinds == (Kind.NONNEGATIVE, Kind.INTEGER)
    k, n = (Symbol(name, SCALAR, Role.DATUM) for name in ("k", "n"))
    assert Compare("<=", k, n, SCALAR) in found.assume
    assert Compare("<=", Symbol("m", SCALAR, Role.PARAMETER), Number(Fraction(7)), SCALAR) in found.assume


# Conditional laws.

LAWS = """
name: lawful
state:
  beta: {shape: d}
  tau: {domain: positive}
  p: {shape: K, domain: "interval(0, 1)"}
  w: {shape: K, constraint: simplex}
data: {x: {shape: [N, d]}, y: {shape: N}}
parameters: {S: {shape: [d, d], is: positive definite}, a: {is: positive}}
log_prior: -norm2(beta)/2 - tau - sum(p) + sum(log(w))
log_likelihood: -tau*(y - x @ beta)**2/2
"""


@pytest.mark.parametrize(
    ("law", "shapes"),
    [
        ('beta: "N(x.T @ y, inv(x.T @ x + S))"', [Shape("d"), Shape("d", "d")]),
        ('tau: "Gamma(a + N/2, norm2(y))"', [SCALAR, SCALAR]),
        ('p: "Beta(a, a*ones)"', [Shape("K"), Shape("K")]),
        ("w: Dirichlet(1/2)", [Shape("K")]),
    ],
)
def test_laws_take_all_rows_of_data_and_numbers_for_all_entries(law: str, shapes: list[Shape]) -> None:
    ((_, found),) = document(f"{LAWS}laws: {{{law}}}").laws
    assert [argument.shape for argument in found.arguments] == shapes


def test_laws_and_counts_are_stated_in_python() -> None:
    mu, tau, y = rc.scalar("mu"), rc.scalar("tau", domain="positive"), rc.data("y", "N")
    z = rc.vector("z", "N", domain="counts")
    given = {"log_prior": "-mu**2/2 - tau", "log_likelihood": "poisson(y, tau) + poisson(z, tau)"}
    laws = {"tau": "Gamma(1 + N/2, 1 + norm2(y - mu*ones)/2)", "z": "Poisson(tau)"}
    stated = rc.Target(name="written", state=[mu, tau, z], data=[y], laws={tau: laws["tau"], z: laws["z"]}, **given)
    own = document(
        "state: {mu: {}, tau: {domain: positive}, z: {shape: N, domain: counts}}\ndata: {y: {shape: N}}\n"
        + "".join(f"{name}: {formula}\n" for name, formula in given.items())
        + "".join(f'laws: {{tau: "{laws["tau"]}", z: {laws["z"]}}}\n')
    )
    assert stated.document.laws == own.laws
    assert stated.document.declarations.blocks == own.declarations.blocks
    with pytest.raises(DocumentError, match="laws"):
        rc.Target(name="t", state=[mu], potential=mu**2, laws={mu: mu**2})


# Recursions and derived quantities.

GARCH = """
state: {mu: {}, omega: {constraint: positive}}
data: {y: {shape: N}}
let: {excess: y - mu}
recursion:
  sigma2: {is: positive, start: omega, next: omega + excess**2/4 + sigma2/2}
  total: {shape: 2, next: "[total[1], excess/sigma2]", start: "0"}
log_likelihood: normal(y, mu, sqrt(sigma2)) - norm2(total)
"""


def test_states_of_a_recursion_are_read_in_their_order_and_in_what_is_sampled() -> None:
    target = document(GARCH)
    first, second = target.recursion
    assert (first.block.name, first.block.domain.name) == ("sigma2", DomainName.POSITIVE)
    assert text(first.start) == "exp(log_omega)"
    assert text(first.next) == "exp(log_omega) + (y - mu)**2/4 + sigma2/2"
    assert second.block.shape.rows == 2
    assert text(target.declared.recursion[0].start) == "omega"
    assert [block.name for block in target.declarations.blocks] == ["mu", "log_omega"]


def test_a_parameter_of_the_dynamics_makes_room_for_a_state_of_a_recursion() -> None:
    build = document(
        "name: b\ndynamics: sghmc\ntarget: garch.yaml\nbind: {M: I, C: I}\nscheme: {name: euler}\nvariant: full\n"
        "data: {file: data.csv, y: y}\nrun: {step_size: 0.01}\n",
        garch=re.sub(r"\btotal\b", "c", GARCH.replace("sigma2", "C")), **{"data.csv": "y\n1\n"},
    )  # fmt: skip
    assert {name for name, _ in build.bind} == {"M", "C_"}


def test_a_build_derives_under_other_names_than_its_target() -> None:
    more = "derived: {theta_s: mu*ones + tau*eta}\nparameters: {s: {is: positive, default: 2}}\n"
    target = written(SCHOOLS.replace(", z: {shape: [N, J]}", "").replace("z @ eta", "sum(eta)") + more)
    given = {"dynamics": "sghmc", "target": target, "sizes": {"J": 3, "d": 5}, "step_size": 0.1}
    build = rc.Build(name="b", derived={"first": "eta[0]*s*J"}, bind={"M": "I", "C": "I"}, **given)
    assert [name for name, _ in (*build.document.target.derived, *build.document.derived)] == ["theta_s", "first"]
    for name in ("theta_s", "theta", "eta"):
        with pytest.raises(rc.ModelError, match=f"derived.{name}  found `{name}`, which is declared already"):
            rc.Build(name="b", derived={name: "eta[0]"}, bind={"M": "I", "C": "I"}, **given)

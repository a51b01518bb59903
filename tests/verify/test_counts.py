"""Blocks of counts and their claimed laws: right ones proved for every size and number of data, however U is written;
wrong ones refuted at counts that are written out; sums over all counts found, or named as unknown."""

from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_build, load_target

from recipe_compiler.run.observed import observed
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Target
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, Tensor
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.laws import law_of, laws
from recipe_compiler.verify.builds.normalisable import normalisable_alone, normalisable_build, normalisable_target
from recipe_compiler.verify.builds.summed import summed, without_counts
from recipe_compiler.verify.builds.target import defined

ROOT = Path(__file__).parents[2]
Load = Callable[[str], Target]
SEEN = """
name: seen
state:
  lam: {domain: positive}
  p: {domain: "interval(0, 1)"}
  z: {shape: N, domain: counts}
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
state:
  s: {domain: positive}
  b: {domain: positive}
  k: {shape: N, domain: counts(y)}
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
state:
  lam: {domain: positive}
  p: {domain: "interval(0, 1)"}
  m: {domain: counts}
  k: {domain: counts(7)}
  c: {shape: J, domain: counts}
  z: {shape: [N, 2], domain: one_hot}
data: {y: {shape: N, is: [integer, nonnegative]}}
parameters: {a: {shape: J, is: positive}}
log_prior: >-
  gamma(lam, 2, 1) + beta(p, 2, 2) + poisson(m, lam) + binomial(k, 7, p) + sum(c*log(a*lam)) - lam*sum(a)
  - sum(loggamma(c + ones))
log_likelihood: poisson(y, lam) + log(1/2)
laws: {BLOCK: "LAW"}
"""


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def of(text: str) -> Target:
        path = tmp_path / "target.yaml"
        path.write_text(text, encoding="utf-8")
        return load_target(path)

    return of


def stated(document: str, likelihood: str, block: str, law: str) -> str:
    return document.replace("LIKELIHOOD", likelihood).replace("BLOCK", block).replace("LAW", law)


def witness(answer: Answer) -> dict[str, str]:
    assert isinstance(answer.decision, Refuted), answer.decision
    return dict(answer.decision.witness)


@pytest.mark.parametrize(
    ("document", "likelihood", "block", "law"),
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
    ],
)
def test_right_laws_are_proved_for_every_size(load: Load, document: str, likelihood: str, block: str, law: str) -> None:
    answer = law_of(load(stated(document, likelihood, block, law)), block)
    assert isinstance(answer.decision, Proved), answer.decision
    assert answer.for_d == "all"
    assert answer.decision.by.startswith("index calculus for every size")


@pytest.mark.parametrize(
    ("document", "likelihood", "block", "law"),
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
    ],
)
def test_wrong_laws_are_refuted_with_the_counts_at_which_they_are(
    load: Load, document: str, likelihood: str, block: str, law: str
) -> None:
    at = witness(law_of(load(stated(document, likelihood, block, law)), block))
    for name in ("z", "k") if document != SEVERAL else ("m", "k", "c"):
        if name in at:
            assert set(at[name].strip("[]").split(", ")) <= {"0", "1", "2"}
    assert {"z", "k", "c"} & at.keys()


def test_a_witness_is_at_counts_of_the_domain(load: Load) -> None:
    at = witness(law_of(load(stated(SIGNAL, SPLIT, "k", "Binomial(y, b/(s + b)*ones)")), "k"))
    assert int(at["y"].strip("[]")) > int(at["k"].strip("[]"))


@pytest.mark.parametrize(
    ("document", "likelihood", "law", "says"),
    [
        (SEEN, NAMED.replace("lam*(1 - p)", "(lam - 1)"), "Poisson((lam - 1)*area)", "(lam - 1)*area > 0"),
        (SEEN, f"{NAMED} + loggamma(z)", "Poisson(lam*(1 - p)*area)", "z > 0"),
        (SIGNAL, SPLIT, "Binomial(y, s*ones)", "ones - s*ones > 0"),
        (SIGNAL, f"{APART} - log(y - k)", "Binomial(y, s/(s + b)*ones)", "y - k > 0"),
    ],
)
def test_what_is_no_law_or_has_no_value_is_left_open(
    load: Load, document: str, likelihood: str, law: str, says: str
) -> None:
    block = "z" if document == SEEN else "k"
    answer = law_of(load(stated(document, likelihood, block, law)), block)
    assert isinstance(answer.decision, Undecided), answer.decision
    assert any(says in reason for reason in answer.decision.tried), answer.decision.tried


def test_counts_that_are_coupled_have_no_law_of_their_own(load: Load) -> None:
    text = """
name: coupled
state: {c: {shape: J, domain: counts}}
parameters: {a: {shape: J, is: positive}, W: {shape: [J, J], is: symmetric}}
potential: c.T @ W @ c - sum(c*log(a)) + sum(loggamma(c + ones))
laws: {c: Poisson(a)}
"""
    assert isinstance(law_of(load(text.replace("c.T @ W @ c ", "trace(W) ")), "c").decision, Proved)
    assert "W" in witness(law_of(load(text), "c"))


def test_what_holds_up_to_the_end_of_counts_is_shown(load: Load) -> None:
    assert isinstance(defined(load(stated(SIGNAL, APART, "b", "Gamma(2, 1)"))).decision, Proved)
    short = stated(SIGNAL, f"{APART} - loggamma(y - k)", "b", "Gamma(2, 1)")
    assert isinstance(defined(load(short)).decision, Undecided)


@pytest.mark.parametrize(
    ("likelihood", "law", "way"),
    [
        (NAMED, "Poisson(lam*p*area)", "poisson, whose sum is 1"),  # by its name, whatever is claimed
        (THINNED, "Poisson(lam*(1 - p)*area)", "by its law Poisson(lam*(1 - p)*area)"),
        (TWICE, "Poisson((1 - p)**2*lam*area)", "by its law Poisson((1 - p)**2*lam*area)"),
    ],
)
def test_sums_over_all_counts_are_known_by_name_or_by_law(load: Load, likelihood: str, law: str, way: str) -> None:
    target = load(stated(SEEN, likelihood, "z", law))
    fewer = without_counts(target)
    assert fewer is not None
    assert [block.name for block in fewer.declarations.blocks] == ["lam", "p"]
    answer = normalisable_target(target)
    assert isinstance(answer.decision, Proved), answer.decision
    assert dict(answer.decision.data)["summed over z"] == way


@pytest.mark.parametrize(
    ("likelihood", "law"),
    [
        (THINNED, "Poisson(lam*p*area)"),
        (f"{NAMED} + z*p", "Poisson(lam*(1 - p)*area)"),
        (NAMED.replace("poisson(z,", "2*poisson(z,"), "Poisson(lam*(1 - p)*area)"),
        (f"{NAMED} + poisson(z, area)", "Poisson(lam*(1 - p)*area)"),
        (NAMED.replace("area*lam*(1 - p))", "area*(lam - 1))"), "Poisson(lam*(1 - p)*area)"),
    ],
)
def test_a_sum_that_is_not_known_is_named(load: Load, likelihood: str, law: str) -> None:
    answer = normalisable_alone(load(stated(SEEN, likelihood, "z", law)))
    assert isinstance(answer.decision, Undecided), answer.decision
    assert "the sum over all z is not known" in answer.decision.tried[0]


def test_a_sum_over_counts_with_an_end_has_as_many_terms_as_they_say(load: Load) -> None:
    """By the name of their law, or its claim; where neither is known each is bounded, held at all of its values."""
    by_name = summed(load(stated(SIGNAL, SPLIT, "s", "Gamma(2, 1)")))
    assert dict(by_name.data) == {"summed over k": "binomial, whose sum is 1"}
    by_law = summed(load(stated(SIGNAL, APART, "k", "Binomial(y, s/(s + b)*ones)")))
    assert dict(by_law.data) == {"summed over k": "by its law Binomial(y, s/(s + b)*ones)"}
    held = load(stated(SIGNAL, f"{SPLIT} - k**2", "s", "Gamma(2, 1)"))
    assert summed(held).data == ()
    assert isinstance(normalisable_target(held).decision, Proved)


BOUNDED = """
format: 1
name: bounded
state: {lam: {constraint: lower(1)}, z: {domain: counts}}
data: {y: {shape: N}}
log_prior: poisson_log(z, lam) + PRIOR
log_likelihood: normal(y, 0, 1)
"""


@pytest.mark.parametrize("prior", ["exponential(lam, 1)", "-lam", "-2*log(lam)"])
def test_a_law_stated_of_a_bounded_block_is_one_of_its_distance(prior: str, tmp_path: Path) -> None:
    """The sum over z leaves the law of lam, whose integral is finite, in the distance of lam to its bound."""
    (tmp_path / "bounded.yaml").write_text(BOUNDED.replace("PRIOR", prior))
    found = normalisable_alone(load_target(tmp_path / "bounded.yaml")).decision
    assert isinstance(found, Proved)
    assert dict(found.data)["summed over z"] == "poisson_log, whose sum is 1"


@pytest.mark.parametrize("prior", ["lam", "-log(lam)", "-lam/(lam + 1)"])
def test_an_infinite_integral_over_a_bounded_block_is_one_of_its_distance(prior: str, tmp_path: Path) -> None:
    (tmp_path / "bounded.yaml").write_text(BOUNDED.replace("PRIOR", prior))
    found = normalisable_alone(load_target(tmp_path / "bounded.yaml")).decision
    assert isinstance(found, Refuted), found


def test_a_named_law_of_other_counts_is_no_law_of_these(load: Load) -> None:
    """Up to another end, or of one number beside many parameters, the probabilities add up to something else."""
    other = SPLIT.replace("binomial(k, y,", "binomial(k, y + w,")
    assert summed(load(stated(SIGNAL, other, "s", "Gamma(2, 1)"))).data == ()
    many = """
name: many
state: {m: {domain: counts}, lam: {domain: positive}}
parameters: {a: {shape: J, is: positive}}
potential: lam - poisson(m, a)
"""
    assert summed(load(many)).data == ()


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ("potential: lam + poisson(m, lam)", "1/p, not p"),
        ("log_prior: gamma(lam, 2, 1)\nlog_likelihood: poisson(y, lam) + poisson(m, lam)", "p**N, not p"),
    ],
)
def test_a_named_law_is_summed_over_where_it_is_the_density_once(load: Load, stated: str, says: str) -> None:
    data = "data: {y: {shape: N}}" if "log_likelihood" in stated else ""
    text = f"name: other\nstate: {{m: {{domain: counts}}, lam: {{domain: positive}}}}\n{data}\n{stated}\n"
    assert summed(load(text)).data == (), says
    assert isinstance(normalisable_target(load(text)).decision, Undecided)


def test_sums_one_after_the_other(load: Load) -> None:
    """What the named law of one count has in its mean is summed over last."""
    text = """
name: chain
state: {lam: {domain: positive}, m: {domain: counts}, k: {domain: counts}}
log_prior: gamma(lam, 2, 1) + poisson(m, lam) + poisson(k, m + 1)
data: {y: {shape: N}}
log_likelihood: poisson(y, lam)
"""
    assert [name for name, _ in summed(load(text)).data] == ["summed over k", "summed over m"]
    assert isinstance(normalisable_target(load(text)).decision, Proved)


def test_the_marginal_of_a_thinned_count_is_that_of_what_was_seen(load: Load) -> None:
    """With flat priors the integral over lam is what it is of y ~ Poisson(area lam p) alone: open, and not proved."""
    flat = SEEN.replace("gamma(lam, 2, 1) + beta(p, a, 2)", "beta(p, a, 2)")
    text = stated(flat, THINNED, "z", "Poisson(lam*(1 - p)*area)")
    answer = normalisable_target(load(text))
    assert not isinstance(answer.decision, Proved)
    assert not any("sum over all z" in reason for reason in getattr(answer.decision, "tried", ()))


def test_the_mean_of_each_datum_is_read_off_a_law_of_all(load: Load) -> None:
    """A design matrix, a field that is counted and one that is not: what is left is the law of y alone."""
    text = """
name: design
state: {beta: {shape: K}, lam: {domain: positive}, z: {shape: N, domain: counts}}
data: {y: {shape: N, is: [integer, nonnegative]}, x: {shape: [N, K]}, t: {shape: N, is: positive}}
log_prior: -norm2(beta)/2 + gamma(lam, 2, 1)
log_likelihood: (y + z)*(x @ beta + log(t*lam)) - 2*t*lam*exp(x @ beta) - loggamma(z + 1) - loggamma(y + 1)
laws: {z: Poisson(lam*t*exp(x @ beta))}
"""
    fewer = without_counts(load(text))
    assert fewer is not None
    alone = load(text.replace("(y + z)", "y").replace("2*t", "t").replace(" - loggamma(z + 1)", ""))
    of_both = [_likelihood(target) for target in (fewer, alone)]
    assert of_both[0] == of_both[1]
    assert isinstance(normalisable_target(load(text)).decision, Proved)


def _likelihood(target: Target) -> Tensor:
    assert target.log_likelihood is not None
    declared, n = target.declarations, Index("N", "n")
    c = calculus(declared)
    shown = convert(target.log_likelihood, declared, datum=n)
    (constant,) = c.applied("loggamma", c.constant(1)).terms  # log 0! of what is not there
    return Tensor(shown.free, tuple(term for term in shown.terms if term.factors != constant.factors))


def test_proper_laws_of_an_improper_joint_do_not_make_it_finite(load: Load) -> None:
    text = """
name: improper
state: {lam: {domain: positive}, m: {domain: counts}}
potential: lam - m*log(lam) + loggamma(m + 1)
laws: {lam: "Gamma(m + 1, 1)", m: Poisson(lam)}
"""
    assert isinstance(laws(load(text)).decision, Proved)
    assert isinstance(normalisable_target(load(text)).decision, Refuted)
    proper = text.replace("potential: lam", "potential: 2*lam").replace("Gamma(m + 1, 1)", "Gamma(m + 1, 2)")
    assert isinstance(laws(load(proper)).decision, Proved)
    assert isinstance(normalisable_target(load(proper)).decision, Proved)


@pytest.mark.parametrize(("counts", "expected"), [((2, 0), Proved), ((0, 0), Refuted | Undecided)])
def test_data_of_a_build_decide_what_is_left_after_the_sum(
    tmp_path: Path, counts: tuple[int, ...], expected: type
) -> None:
    """Of the density 1/lam: that of lam given y alone has a finite integral if something was seen."""
    (tmp_path / "y.csv").write_text("y\n" + "".join(f"{y}\n" for y in counts), encoding="utf-8")
    (tmp_path / "target.yaml").write_text(
        """
name: flat
state: {lam: {domain: positive, transform: log}, z: {shape: N, domain: counts}}
data: {y: {shape: N}}
log_prior: -log(lam)
log_likelihood: poisson(y, lam) + poisson(z, lam)
laws: {z: Poisson(lam*ones)}
""",
        encoding="utf-8",
    )
    (tmp_path / "build.yaml").write_text(
        f"name: b\ndynamics: {ROOT}/specs/dynamics/still.yaml\ntarget: target.yaml\nscheme: {{cycle: [draw: z]}}\n"
        "variant: full\ndata: {file: y.csv, y: y}\nrun: {draws: 10}\n",
        encoding="utf-8",
    )
    build = observed(load_build(tmp_path / "build.yaml"))
    answer = normalisable_build(build, bind(build))
    assert isinstance(answer.decision, expected), answer.decision


def test_conditions_on_data_are_met_by_witnesses(load: Load) -> None:
    """`y <= n` of a binomial law is about every row: of all rows the witness of a wrong law has to meet it, too."""
    text = """
name: trials
state: {p: {domain: "interval(0, 1)"}}
data: {y: {shape: N}, n: {shape: N}}
log_prior: beta(p, 2, 2)
log_likelihood: binomial(y, n, p)
laws: {p: "Beta(2 + sum(y), 2 + sum(LEFT))"}
"""
    assert isinstance(law_of(load(text.replace("LEFT", "n - y")), "p").decision, Proved)
    at = witness(law_of(load(text.replace("LEFT", "n")), "p"))
    assert int(at["y"].strip("[]")) <= int(at["n"].strip("[]"))

"""Which energies have a finite integral: kernels with known answers, and what must never be proved."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
import sympy
from answers import SPECS, answer, document, expect, said
from energies import energy
from some import some

from recipe_compiler.algebra.polynomial_integrability.infinite_volume import flat
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Value
from recipe_compiler.verify.builds.normalisable import normalisable_build

X, XY, ONE, PAIR = "x: {shape: d}", "x: {shape: d}, y: {shape: d}", "x: {}", "x: {}, y: {}"
POSITIVE, HALF, UNIT = "x: {shape: d, domain: positive}", "x: {domain: positive}", 'x: {domain: "interval(0, 1)"}'
TWO, BOTH = "x: {shape: 2}", 'x: {domain: "interval(-1, 1)"}'
SIMPLEX, ANGLE = "w: {shape: d, domain: simplex}", "phi: {domain: circle}"
MOMENTA, BLOCKS = "theta: {shape: d}, r: {shape: d}", "x: {shape: d}, y: {shape: k}"


PROVED = [
    (X, "x.T @ M @ x/2 + sum(sin(x)) - sum(x)"),
    (X, "norm2(x)**2 - x.T @ A @ x + sum(x)"),  # a quartic beats any quadratic
    (XY, "sum(x**4) + sum(y**4) + 9*x.T @ y"),
    (XY, "x.T @ x/2 + y.T @ y/2 + x.T @ y/2"),
    ("x: {}, r: {}", "x**4 - 2*x**2 + r**2/2"),
    (PAIR, "x**4/10 + (4*(y + 6/5) - x**2)**2/2"),  # a banana
    (TWO, "x[0]**4/10 + (4*(x[1] + 6/5) - x[0]**2)**2/2"),
    ("x: {shape: 2, domain: positive}, y: {shape: 2}", "x[0] + x[1]**2 + norm2(y) - y[0]*y[1]"),
    (TWO, "2*log(1 + x[0]**2 + x[1]**2)"),
    (PAIR, "x**4 + y**4 - x**2*y**2 + x**3*y/2"),  # a form by Z3
    (POSITIVE, "sum(x) - sum((e - ones)*log(x))"),
    (HALF, "b/x + (a + 1)*log(x)"),
    (UNIT, "-(a - 1)*log(x) - (b - 1)*log(1 - x)"),
    (SIMPLEX, "-sum((e - ones)*log(w)) - (b - 1)*log(1 - sum(w))"),
    # Student's law
    (X, "(nu + 1)/2*sum(log1p(x**2/nu))"),
    (X, "sum((nu + 1)/2*log(ones + x**2/nu))"),
    (X, "(nu + d)/2*log(1 + x.T @ x/nu)"),
    (X, "(nu + d)/2*log1p(x.T @ x/nu)"),
    (X, "(nu + d)/2*log(1 + (x - mu).T @ inv(M) @ (x - mu)/nu)"),
    (BLOCKS.replace("k", "d_2"), "(nu + d + d_2)/2*log(1 + x.T @ x + y.T @ y)"),
    (X, "(nu + d)/4*log(1 + sum(x**4) + x.T @ x)"),
    (X, "(nu + d)*log(1 + x.T @ x) - d/2*log(2 + x.T @ x)"),
    # relativistic
    ("x: {shape: d}, p: {shape: d}", "norm2(x)/2 + m*c**2*sum(sqrt(ones + p**2/(m**2*c**2)))"),
    (X, "c*sqrt(m**2*c**2 + x.T @ x)"),
    (X, "c*sqrt(1 + (x - mu).T @ inv(M) @ (x - mu)) + sum(sin(x))"),
    (X, "sum(sqrt(ones + x**4)) - sum(sqrt(ones + x**2))"),
    (X, "g*sum(log(cosh(b*x)))"),
    (X, "sum(softplus(x)) + sum(softplus(-x))"),
    (BOTH, "-a*log(1 - x) - b*log(1 + x)"),
    ('x: {shape: d, domain: "interval(-1, 1)"}', "-a*sum(log(ones - x**2))"),
    # mixtures
    (X, "-log(exp(-norm2(x - mu)/2) + exp(-norm2(x + mu)/2))"),
    (X, "-log(w*exp(-norm2(x - mu)/2) + exp(-(x + mu).T @ M @ (x + mu)/2))"),
    (X, "-log(exp(-norm2(x)/2) + 1) + sum(abs(x))"),
    (ONE, "x + exp(-x)"),
    (X, "sum(abs(x))"),
    (ANGLE, "k*cos(phi)"),
    (MOMENTA, "U(theta) + norm2(r)/2 + norm2(theta - r)"),
    (MOMENTA, "U(theta) + sum(r**4) + r.T @ r"),
]
REFUTED = [
    (X, "-x.T @ x/2"),
    (X, "x.T @ S @ x/2"),
    (X, "sum(x)"),
    (ONE, "x**3"),
    (PAIR, "x**2"),
    (PAIR, "(x - y)**2"),
    (PAIR, "x**2 - 4*x*y + y**2"),
    (PAIR, "x**2*y**2 + x**2"),  # a valley
    (XY, "x.T @ x/2 + y.T @ y/2 + x.T @ y"),
    (X, "d/2*log(1 + x.T @ x)"),
    (X, "(nu + 1)/2*log(1 + x.T @ x/nu)"),
    (BLOCKS.replace("k", "d_2"), "(nu + d)/2*log(1 + x.T @ x + y.T @ y)"),
    (X, "sum(log(ones + x**2))/2"),
    (X, "d*log(1 + x.T @ x) - d/2*log(2 + x.T @ x)"),
    (X, "-sum(sqrt(ones + x**2))"),
    (X, "-g*sum(log(cosh(x)))"),
    (X, "sum(log(cosh(k*x)))"),
    (X, "sum(softplus(x))"),
    (BOTH, "-a*log(1 - x) - k*log(1 + x)"),
    (X, "-log(exp(-norm2(x)/2) + 1)"),
    (ONE, "-log(exp(-x) + exp(-2*x))"),
    (PAIR, "x**4 - 4*x**2*y**2 + y**4"),
    (PAIR, "x**4 - 9*x**3*y/4 + y**4"),  # negative between the axes alone
    (PAIR, "x**4 - 3*x**2*y + y**2"),  # a weighted form
    (ONE, "log(1 + x**2)/2"),
    (UNIT, "-(a - 1)*log(x) - (k - 1)*log(1 - x)"),
    (SIMPLEX, "-sum((v - ones)*log(w))"),
    (HALF, "n*x - (k - 1)*log(x)"),
    (ONE, "x**2 + n*log(abs(x))"),  # a pole
    (X, "sum(exp(x)) - sum(exp(2*x))"),
    (X, "x.T @ x/2 - exp(2*log(1 + norm2(x)))"),
    ("x: {shape: 2, domain: positive}", "x[0] + 2*log(1 + x[0])"),
    (TWO, "log(1 + x[0]**2 + x[1]**2)"),
    (MOMENTA, "U(theta) - r.T @ r/2"),
    (MOMENTA, "U(theta)"),
    (MOMENTA, "U(theta) + norm2(r)/2 + r.T @ theta"),
]
OPEN = [
    (MOMENTA, "U(theta) + r.T @ inv(G) @ r/2"),
    (ONE, "x**2 + log(x)"),
    (ONE, "x**2 - 1/(x - 3)"),
    (ONE, "2*exp(x) - exp(2*x) + x**2"),
    (X, "x.T @ P @ x/2"),
    (PAIR, "x**4 + y**4 - 2*x**2*y**2"),  # zero on a line
    (ONE, "x**4 + 3*log(1 + x**2) - x**3*sqrt(1 + x**2)"),  # leading terms cancel
    (X, "-sqrt(1 + x.T @ x)"),
    (X, "sqrt(1 + x.T @ P @ x)"),
    (X, "(nu + d)/2*log(1 + x.T @ P @ x)"),
    (POSITIVE, "(nu + 2*d)*log(x.T @ x)"),
    (X, "-log(exp(-norm2(x)/2) + exp(-x.T @ P @ x/2))"),
    (ONE, "-log(exp(-x**2/2) - exp(-x**2))"),
    ('x: {domain: "interval(0, a)"}', "-log(x) + 0*a"),
]
CHOICES = {
    "proved": [
        "Piecewise((x**2/2, Abs(x) <= 1), (Abs(x) - 1/2, True))",
        "where(abs(x) > c, c*abs(x) - c**2/2, x**2/2)",
        "x**2 + maximum(x, 0)",
        "x**2 + minimum(3*x, -x) + maximum(x, 1)",
        "where(x > c, x**2, x**2 + (x - c)**2)",
    ],
    "not proved": [
        "maximum(x, 0)",  # one piece is flat, and so is the whole on the left
        "minimum(x**2, 1)",
        "where(x > 0, x**2, 0)",
        "maximum(x, -x) - abs(x)",
        "where(x > 1, x**2, x**2*exp(1 - x))",
        "x**2/2 - maximum(x**2, 0)",
    ],
}


@pytest.mark.parametrize(
    ("state", "H", "verdict", "says"),
    [
        *((*own, "proved", "exp(-U) has a finite integral" if "U(" in own[1] else "") for own in PROVED),
        *((*own, "refuted", "") for own in REFUTED),
        *((*own, "undecided", "") for own in OPEN),
        (MOMENTA, "U(theta)/2 + norm2(r)/2", "proved", "exp(-U/2) has a finite integral"),
        (MOMENTA, "norm2(r)/2 - L(theta)", "proved", "exp(L) has a finite integral"),
        (MOMENTA, "E(theta, r)", "proved", "exp(-E) has a finite integral"),
        *(
            ("x: {}, theta: {shape: d}", f"norm2(theta) + {own}", verdict, "")
            for verdict, found in CHOICES.items()
            for own in found
        ),
    ],
)
def test_the_integral_of_an_energy_is_decided(state, H, verdict, says):
    found = answer(document(energy(state, H)), "normalisable")
    shown = expect(found, verdict, says)
    assert shown or verdict not in ("proved", "refuted") or "x: {}, theta" in state or says
    assert says or verdict != "proved" or "has a finite integral" not in "".join(found.decision.given)
    assert "theta: {shape: d}, " in state or "U" in H or "0 > 0" not in said(found)
    if H.split(" + ", 1)[-1] in CHOICES["proved"]:
        assert "at most the sum of its pieces" in found.decision.by


@pytest.mark.parametrize(
    "H",
    [
        "-U(theta) + norm2(r)/2",
        "U(theta) - norm2(theta) + norm2(r)/2",
        "U(theta) - phi(theta) + norm2(r)/2",
        "U(theta)*(1 + norm2(r)) + norm2(r)/2",
    ],
)
def test_the_assumption_about_u_covers_nothing_else(H):
    found = answer(document(energy(MOMENTA, H)), "normalisable")
    expect(found, "not proved")
    assert found.required is (found.verdict == "refuted")


def test_an_assumption_on_the_state_stops_refutations():
    expect(answer(document(energy(X, "sum(x)") + 'assume: ["x[0] > 0"]\n'), "normalisable"), "undecided")


def test_a_flat_region_is_what_it_says():
    """The region named in the witness is checked at its corners: the energy stays below the bound, far out too."""
    x, y = sympy.symbols("x y", real=True)
    H = x**2 * y**2 + x**2 - y**3 * x**4
    text = dict(flat(H, (x, y), (False, False)).text)
    bound = Fraction(text["H in the region"].removeprefix("at most "))
    places = [part.partition(" = ")[2] for part in text["region"].split(", with")[0].split("; ")]
    parsed = [re.fullmatch(r"(-?)u\d\*s\*\*\((-?\d+)\)", place) for place in places]
    weights = [(-1 if m[1] else 1, int(m[2])) for m in parsed]
    assert len(weights) == 2
    assert sum(w for _, w in weights) >= 0
    for s, *u in product((1, 7, 1000), (1, 2), (1, 2)):
        at = [sign * k * Fraction(s) ** w for (sign, w), k in zip(weights, u, strict=True)]
        value = H.subs({x: sympy.Rational(str(at[0])), y: sympy.Rational(str(at[1]))})
        assert value <= sympy.Rational(str(bound))


def test_a_falling_ray_is_what_it_says():
    """Along the ray named in the witness, and close to it, the energy falls."""
    x, y = sympy.symbols("x y", real=True)
    H = x**4 - 3 * x**2 * y + y**2 + 7 * x + 5
    text = dict(flat(H, (x, y), (False, False)).text)
    s = sympy.Symbol("s", positive=True)
    places = [part.partition(" = ")[2] for part in text["ray"].removesuffix(", s -> oo").split(", ")]
    parsed = [re.fullmatch(r"(?:(-?\d+)\*)?s(?:\*\*(\d+))?", place) for place in places]
    path = [int(m[1] or 1) * s ** int(m[2] or 1) for m in parsed]
    assert len(path) == 2
    for near in (sympy.Rational(99, 100), 1, sympy.Rational(101, 100)):
        assert sympy.limit(H.subs({x: path[0] * near, y: path[1]}), s, sympy.oo) == -sympy.oo


# targets

LOGISTIC, CAUCHY, NORMAL = "y*(x @ theta) - softplus(x @ theta)", "-sum(log1p(theta**2))", "-theta.T @ theta/2"
LAPLACE, FLAT, RESIDUAL = "-sum(abs(theta))", "0*theta[0]", "(y - x @ theta)**2"
MIXED = f"log(exp(-{RESIDUAL}/2)/3 + 2*exp(-{RESIDUAL}/9)/3)"
LIKELIHOODS = [
    (NORMAL, LOGISTIC, "proved"),
    (CAUCHY, LOGISTIC, "proved"),
    (CAUCHY, f"-{LOGISTIC}", "undecided"),  # the sign of y reversed
    (FLAT, LOGISTIC, "undecided"),
    (NORMAL, "y*(x @ theta) - exp(x @ theta)", "proved"),
    (LAPLACE, f"-{RESIDUAL}/2", "proved"),
    (NORMAL, f"-5/2*log(1 + {RESIDUAL}/4)", "proved"),
    (LAPLACE, f"5/2*log(1 + {RESIDUAL}/4)", "undecided"),
    (LAPLACE, MIXED, "proved"),
    (LAPLACE, MIXED.replace("2*exp(-", "2*exp("), "undecided"),  # a component that grows
    (FLAT, f"log(exp(-{RESIDUAL}/2)/3 + 2/3)", "undecided"),
    ("log(exp(-norm2(theta)/2) + exp(-norm2(theta - 3*ones)/8))", LOGISTIC, "proved"),
    (LAPLACE, f"{RESIDUAL}/2", "undecided"),
]
SQUARES, BEND = "(theta[0]**2 + theta[1]**2 + theta[0]*theta[1])", "log(1 + theta[0]**2 + theta[1]**2)"
PRIORS = [
    ("", f"-{SQUARES}", "", "proved"),
    ("", "-(theta[0]**2 - theta[1]**2)", "", "refuted"),
    ("", "-(theta[0] + theta[1])**2", "", "refuted"),
    (", s: {domain: positive}", f"exponential(s, 1) - {SQUARES}/s", "", "proved"),
    ("", f"-3/2*{BEND}", "", "proved"),
    ("", f"-{BEND}", "", "refuted"),
    ("", f"-{SQUARES}", "-log(1 + (y - theta[0])**2)", "proved"),
    ("", f"-{SQUARES}", "(y - theta[0])**2", "undecided"),
    ("", "-(theta[0] + theta[1])**2", "-(y - theta[0])**2", "undecided"),
]
MATRIX = "state: {X: {shape: [d, d], domain: positive}}\npotential: "
SHARES = """
name: shares
state: {{w: {{shape: K, constraint: simplex}}, mu: {{}}}}
parameters: {{c: {{shape: K, is: positive}}, b: {{is: positive}}}}
data: {{y: {{shape: N}}}}
log_prior: {} + normal(mu, 0, 1)
log_likelihood: normal(y, mu, 1)
"""
OF_SHARES = {
    "proved": [
        "sum((c - ones)*log(w))", "(c - ones).T @ log(w)", "(b - 1)*sum(log(w))", "(b - 1)*log(w[0])",
        "dirichlet(w, c)",
    ],
    "not proved": [
        "sum((c - ones)*log(w[0]))",  # w[0] to the power sum(c) - K, which is below -1 at c = 1/10, K = 3
        "gamma(w[0], c, 1)", "beta(w[0], c, 1)", "(c - 2*ones).T @ log(w)", "(b - 1)*log(w[0]) + (b - 1)*log(w[0])",
    ],
}  # fmt: skip


def of_prior(others, prior, likelihood):
    data = f"data: {{y: {{shape: N}}}}\nlog_likelihood: {likelihood}\n" if likelihood else ""
    return f"state: {{theta: {{shape: 2}}{others}}}\nlog_prior: {prior}\n{data}"


def of_likelihood(prior, likelihood):
    data = "data: {x: {shape: [N, d]}, y: {shape: N, in: [0, 1]}}\n"
    return f"state: {{theta: {{shape: d}}}}\n{data}log_prior: {prior}\nlog_likelihood: {likelihood}\n"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        *((of_likelihood(*own), verdict) for *own, verdict in LIKELIHOODS),
        *((of_prior(*own), verdict) for *own, verdict in PRIORS),
        (f"{MATRIX}trace(X)", "refuted"),  # which bounds the diagonal alone
        (f"{MATRIX}ones.T @ X @ ones", "proved"),
        (f"{MATRIX}trace(X.T @ X)", "proved"),
        ("state: {theta: {shape: d}}\npotential: -theta.T @ theta/2\n", "refuted"),
        *((SHARES.format(prior), verdict) for verdict, own in OF_SHARES.items() for prior in own),
    ],
)
def test_the_posterior_is_decided_for_all_data(text, verdict):
    expect(answer(document(text), "normalisable"), verdict)


@pytest.mark.parametrize("rows", ["K", "3"])
@pytest.mark.parametrize("other", ["{constraint: 'interval(0, 1)'}", "{shape: K, constraint: simplex}"])
@pytest.mark.parametrize("likelihood", ["bernoulli(y, {b}*w[g]/2)", "bernoulli_logit(y, {b} + w[g])"])
def test_shares_beside_bounded_blocks_under_an_index_field(rows, other, likelihood):
    """The size of the shares is known by them and by the index field alone, and both go."""
    b, more = ("b[g]", " + dirichlet(b, 2*ones)") if "shape" in other else ("b", "")
    text = f"""
    state: {{w: {{shape: K, constraint: simplex}}, b: {other}}}
    data: {{y: {{shape: N, in: [0, 1]}}, g: {{shape: N, index_of: K}}}}
    log_prior: dirichlet(w, ones){more}
    log_likelihood: {likelihood.format(b=b)}
    """
    target = document(re.sub(r"\bK\b", rows, text))
    expect(answer(target, "defined"), "proved")
    expect(answer(target, "normalisable"), "proved")


# builds


@pytest.mark.parametrize("path", some(sorted((SPECS / "builds").glob("*.yaml"))), ids=lambda path: path.stem)
def test_shipped_builds_rest_on_no_assumption_about_the_potential(path):
    found = answer(document(path), "normalisable")
    expect(found, "proved")
    assert "exp(-U) has a finite integral" not in found.decision.given


TEMPERED = """
state: {theta: {shape: d}}
parameters: {T: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta)/T
D: [[I]]
Q: [[0]]
"""
BUILD = """
name: b
dynamics: dynamics.yaml
target: target.yaml
parameters: {T: {value: TEMPERATURE}}
scheme: {name: euler}
variant: full
run: {step_size: 0.1}
sizes: SIZES
"""
QUADRATIC = """
state: {x: {shape: 2}}
parameters: {P: {shape: [2, 2], is: positive definite, default: '[[2, 1], [1, 1]]'}}
potential: x.T @ P @ x/2
"""
TAILS = "state: {x: {shape: 2}}\npotential: sum(log(ones + x**2))"
ROOTS = "state: {x: {shape: 2, constraint: positive}}\npotential: sum(x) + sum(log(x))/2"
PRIOR = "state: {theta: {shape: d}}\nlog_prior: "
LOGARITHM = "state: {theta: {shape: d}}\npotential: log(1 + norm2(theta))"
ONE_ALONE = f"{PRIOR}-norm2(theta)/2 + (d - 1)*norm2(theta)"


def tempered(target, temperature, sizes="{}", dynamics=TEMPERED):
    text = BUILD.replace("TEMPERATURE", temperature).replace("SIZES", sizes)
    return document(text, dynamics=dynamics, target=target)


@pytest.mark.parametrize(
    ("target", "temperature", "sizes", "verdict", "at"),
    [
        (QUADRATIC, "1", "{}", "proved", 0),
        (QUADRATIC, "3", "{}", "proved", 0),
        (TAILS, "1", "{}", "proved", 0),
        (TAILS, "2", "{}", "refuted", 0),  # the integral of 1/sqrt(1 + x**2)
        (ROOTS, "1", "{}", "proved", 0),
        (ROOTS, "3", "{}", "undecided", 0),  # the Jacobian of log x is in U, and in U/T
        (f"{PRIOR}-norm2(theta)/2", "4", "{}", "proved", 0),
        (f"{PRIOR}0*theta[0]", "1", "{}", "refuted", 1),
        (f"{PRIOR}0*theta[0]", "1", "{d: 3}", "refuted", 3),
        (f"{PRIOR}-theta[0]**2", "1", "{}", "refuted", 2),
        (f"{PRIOR}-theta[0]**2", "1", "{d: 1}", "proved", 0),
        (ONE_ALONE, "1", "{}", "refuted", 2),
        (ONE_ALONE, "1", "{d: 1}", "proved", 0),
        (LOGARITHM, "1", "{}", "refuted", 2),
        (LOGARITHM, "1", "{d: 1}", "proved", 0),
        (LOGARITHM, "2", "{d: 1}", "refuted", 1),
        (LOGARITHM, "1/2", "{d: 3}", "proved", 0),
        (LOGARITHM, "1/2", "{d: 4}", "refuted", 4),
    ],
)
def test_an_integral_is_decided_at_the_temperature_and_sizes_of_a_build(target, temperature, sizes, verdict, at):
    found = answer(tempered(target, temperature, sizes), "normalisable")
    expect(found, verdict)
    assert not at or dict(found.for_d) == {"d": at}


def test_a_size_that_a_file_fixes_is_not_free(tmp_path):
    """Where the value of P is in a file, the improper integral at d = 2 says nothing about the d that it has."""
    dynamics = TEMPERED.replace("parameters: {", "parameters: {P: {shape: [d, d], is: positive definite}, ")
    build = tempered(ONE_ALONE, "1}, P: {value: [[1]]", dynamics=dynamics.replace("[[I]]", "[[P]]"))
    expect(normalisable_build(build, bind(build)), "proved")
    unread = tuple((name, Value(file=tmp_path / "P.npy") if name == "P" else value) for name, value in build.values)
    build = replace(build, values=unread)
    expect(normalisable_build(build, bind(build)), "undecided")


@pytest.mark.parametrize("sizes", ["{}", "{d: 2}"])
def test_a_flat_potential_is_not_held_against_an_energy_that_confines_its_blocks(sizes):
    dynamics = TEMPERED.replace("H: U(theta)/T", "H: U(theta)/T + norm2(theta)")
    expect(answer(tempered(f"{PRIOR}0*norm2(theta)", "1", sizes, dynamics), "normalisable"), "undecided")

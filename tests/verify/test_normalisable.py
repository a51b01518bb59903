"""Which energies have a finite integral: kernels with known answers, and what must never be proved."""

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from loaders import load_build, load_dynamics, load_target
from some import some

from recipe_compiler.algebra.polynomial_integrability.infinite_volume import flat
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.builds.normalisable import normalisable_build, normalisable_target
from recipe_compiler.verify.claims_in_builds import bound_build, of_any_metric
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.integrability.normalisable import normalisable

SPECS = Path(__file__).parents[2] / "specs"

POTENTIAL = "{U: {of: theta, role: potential}}"
VECTOR, PAIR = "{x: {shape: d}}", "{x: {}, y: {}}"
AUXILIARY = "{theta: {shape: d}, r: {shape: d}}"

Energy = tuple[str, str, str, str]


def energy(state: str, H: str, parameters: str = "{}", functions: str = "{}") -> Energy:
    return state, H, parameters, functions


PROVED = {
    "quadratic": energy(VECTOR, "x.T @ M @ x/2 + sum(sin(x)) - sum(x)", "{M: {shape: [d, d], is: positive definite}}"),
    "quartic beats any quadratic": energy(VECTOR, "norm2(x)**2 - x.T @ A @ x + sum(x)", "{A: {shape: [d, d]}}"),
    "coupled quartics": energy("{x: {shape: d}, y: {shape: d}}", "sum(x**4) + sum(y**4) + 9*x.T @ y"),
    "completed square": energy("{x: {shape: d}, y: {shape: d}}", "x.T @ x/2 + y.T @ y/2 + x.T @ y/2"),
    "double well": energy("{x: {}, r: {}}", "x**4 - 2*x**2 + r**2/2"),
    "banana": energy(PAIR, "x**4/10 + (4*(y + 6/5) - x**2)**2/2"),
    "banana by positions": energy("{x: {shape: 2}}", "x[0]**4/10 + (4*(x[1] + 6/5) - x[0]**2)**2/2"),
    "entries apart": energy(
        "{x: {shape: 2, domain: positive}, y: {shape: 2}}", "x[0] + x[1]**2 + norm2(y) - y[0]*y[1]"
    ),
    "Student of entries": energy("{x: {shape: 2}}", "2*log(1 + x[0]**2 + x[1]**2)"),
    "form by Z3": energy(PAIR, "x**4 + y**4 - x**2*y**2 + x**3*y/2"),
    "gamma": energy(
        "{x: {shape: d, domain: positive}}", "sum(x) - sum((a - ones)*log(x))", "{a: {shape: d, is: positive}}"
    ),
    "inverse gamma": energy(
        "{x: {domain: positive}}", "b/x + (a + 1)*log(x)", "{a: {is: positive}, b: {is: positive}}"
    ),
    "beta": energy(
        '{x: {domain: "interval(0, 1)"}}',
        "-(a - 1)*log(x) - (b - 1)*log(1 - x)",
        "{a: {is: positive}, b: {is: positive}}",
    ),
    "Dirichlet": energy(
        "{w: {shape: d, domain: simplex}}",
        "-sum((a - ones)*log(w)) - (b - 1)*log(1 - sum(w))",
        "{a: {shape: d, is: positive}, b: {is: positive}}",
    ),
    "Student": energy(VECTOR, "(nu + 1)/2*sum(log1p(x**2/nu))", "{nu: {is: positive}}"),
    "Student by log": energy(VECTOR, "sum((nu + 1)/2*log(ones + x**2/nu))", "{nu: {is: positive}}"),
    "Student vector": energy(VECTOR, "(nu + d)/2*log(1 + x.T @ x/nu)", "{nu: {is: positive}}"),
    "Student vector by log1p": energy(VECTOR, "(nu + d)/2*log1p(x.T @ x/nu)", "{nu: {is: positive}}"),
    "Student vector, moved and scaled": energy(
        VECTOR,
        "(nu + d)/2*log(1 + (x - mu).T @ inv(S) @ (x - mu)/nu)",
        "{nu: {is: positive}, mu: {shape: d}, S: {shape: [d, d], is: positive definite}}",
    ),
    "Student of two blocks": energy(
        "{x: {shape: d}, y: {shape: k}}", "(nu + d + k)/2*log(1 + x.T @ x + y.T @ y)", "{nu: {is: positive}}"
    ),
    "quartic tail": energy(VECTOR, "(nu + d)/4*log(1 + sum(x**4) + x.T @ x)", "{nu: {is: positive}}"),
    "heavy tail that is lightened": energy(
        VECTOR, "(nu + d)*log(1 + x.T @ x) - d/2*log(2 + x.T @ x)", "{nu: {is: positive}}"
    ),
    "relativistic, each": energy(
        AUXILIARY.replace("theta", "x").replace("r:", "p:"),
        "norm2(x)/2 + m*c**2*sum(sqrt(ones + p**2/(m**2*c**2)))",
        "{m: {is: positive}, c: {is: positive}}",
    ),
    "relativistic": energy(VECTOR, "c*sqrt(m**2*c**2 + x.T @ x)", "{m: {is: positive}, c: {is: positive}}"),
    "relativistic with a mass matrix, moved": energy(
        VECTOR,
        "c*sqrt(1 + (x - b).T @ inv(M) @ (x - b)) + sum(sin(x))",
        "{c: {is: positive}, b: {shape: d}, M: {shape: [d, d], is: positive definite}}",
    ),
    "root beats a slower root": energy(VECTOR, "sum(sqrt(ones + x**4)) - sum(sqrt(ones + x**2))"),
    "hyperbolic cosine": energy(VECTOR, "g*sum(log(cosh(b*x)))", "{b: {is: positive}, g: {is: positive}}"),
    "softplus both ways": energy(VECTOR, "sum(softplus(x)) + sum(softplus(-x))"),
    "Jacobi": energy(
        '{x: {domain: "interval(-1, 1)"}}',
        "-a*log(1 - x) - b*log(1 + x)",
        "{a: {is: positive}, b: {is: positive}}",
    ),
    "Jacobi in one logarithm": energy(
        '{x: {shape: d, domain: "interval(-1, 1)"}}', "-a*sum(log(ones - x**2))", "{a: {is: positive}}"
    ),
    "mixture": energy(VECTOR, "-log(exp(-norm2(x - mu)/2) + exp(-norm2(x + mu)/2))", "{mu: {shape: d}}"),
    "mixture of unlike components": energy(
        VECTOR,
        "-log(w*exp(-norm2(x - mu)/2) + exp(-(x + mu).T @ A @ (x + mu)/2))",
        "{mu: {shape: d}, w: {is: positive}, A: {shape: [d, d], is: positive definite}}",
    ),
    "mixture with one flat component, confined": energy(VECTOR, "-log(exp(-norm2(x)/2) + 1) + sum(abs(x))"),
    "Gumbel": energy("{x: {}}", "x + exp(-x)"),
    "Laplace": energy(VECTOR, "sum(abs(x))"),
    "circle": energy("{phi: {domain: circle}}", "k*cos(phi)", "{k: {}}"),
    "potential and momenta": energy(AUXILIARY, "U(theta) + norm2(r)/2 + norm2(theta - r)", functions=POTENTIAL),
    "potential and quartic momenta": energy(AUXILIARY, "U(theta) + sum(r**4) + r.T @ r", functions=POTENTIAL),
}

REFUTED = {
    "negative quadratic": energy(VECTOR, "-x.T @ x/2"),
    "symmetric only": energy(VECTOR, "x.T @ M @ x/2", "{M: {shape: [d, d], is: symmetric}}"),
    "linear": energy(VECTOR, "sum(x)"),
    "cubic": energy("{x: {}}", "x**3"),
    "flat coordinate": energy(PAIR, "x**2"),
    "flat diagonal": energy(PAIR, "(x - y)**2"),
    "saddle": energy(PAIR, "x**2 - 4*x*y + y**2"),
    "valley": energy(PAIR, "x**2*y**2 + x**2"),
    "too strongly coupled": energy("{x: {shape: d}, y: {shape: d}}", "x.T @ x/2 + y.T @ y/2 + x.T @ y"),
    "Student vector with exponent d": energy(VECTOR, "d/2*log(1 + x.T @ x)"),
    "Student vector with exponent of one dimension": energy(
        VECTOR, "(nu + 1)/2*log(1 + x.T @ x/nu)", "{nu: {is: positive}}"
    ),
    "Student of two blocks, one not counted": energy(
        "{x: {shape: d}, y: {shape: k}}", "(nu + d)/2*log(1 + x.T @ x + y.T @ y)", "{nu: {is: positive}}"
    ),
    "Student, each, exponent one": energy(VECTOR, "sum(log(ones + x**2))/2"),
    "heavy tail that is lightened too much": energy(VECTOR, "d*log(1 + x.T @ x) - d/2*log(2 + x.T @ x)"),
    "relativistic with the sign reversed": energy(VECTOR, "-sum(sqrt(ones + x**2))"),
    "hyperbolic cosine with the sign reversed": energy(VECTOR, "-g*sum(log(cosh(x)))", "{g: {is: positive}}"),
    "hyperbolic cosine at a rate that may vanish": energy(VECTOR, "sum(log(cosh(b*x)))", "{b: {}}"),
    "softplus one way": energy(VECTOR, "sum(softplus(x))"),
    "Jacobi of both signs": energy(
        '{x: {domain: "interval(-1, 1)"}}', "-a*log(1 - x) - b*log(1 + x)", "{a: {is: positive}, b: {}}"
    ),
    "mixture with a flat component": energy(VECTOR, "-log(exp(-norm2(x)/2) + 1)"),
    "mixture of one-sided components": energy("{x: {}}", "-log(exp(-x) + exp(-2*x))"),
    "quartic that is negative on a ray": energy(PAIR, "x**4 - 4*x**2*y**2 + y**4"),
    "quartic, negative between the axes only": energy(PAIR, "x**4 - 9*x**3*y/4 + y**4"),
    "weighted form that is negative": energy(PAIR, "x**4 - 3*x**2*y + y**2"),
    "log too slow": energy("{x: {}}", "log(1 + x**2)/2"),
    "beta at its end": energy(
        '{x: {domain: "interval(0, 1)"}}', "-(a - 1)*log(x) - (b - 1)*log(1 - x)", "{a: {is: positive}, b: {}}"
    ),
    "Dirichlet at its end": energy("{w: {shape: d, domain: simplex}}", "-sum((a - ones)*log(w))", "{a: {shape: d}}"),
    "gamma rate may vanish": energy("{x: {domain: positive}}", "k*x - (a - 1)*log(x)", "{a: {}, k: {is: nonnegative}}"),
    "pole inside": energy("{x: {}}", "x**2 + a*log(abs(x))", "{a: {is: nonnegative}}"),
    "exponentials that vanish at one end": energy(VECTOR, "sum(exp(x)) - sum(exp(2*x))"),
    "power written by exp and log": energy(VECTOR, "x.T @ x/2 - exp(2*log(1 + norm2(x)))"),
    "one entry of two confined": energy("{x: {shape: 2, domain: positive}}", "x[0] + 2*log(1 + x[0])"),
    "Student of entries of a tail too heavy": energy("{x: {shape: 2}}", "log(1 + x[0]**2 + x[1]**2)"),
    "wrong momenta": energy(AUXILIARY, "U(theta) - r.T @ r/2", functions=POTENTIAL),
    "no momenta": energy(AUXILIARY, "U(theta)", functions=POTENTIAL),
    "potential eaten up": energy(AUXILIARY, "U(theta) + norm2(r)/2 + r.T @ theta", functions=POTENTIAL),
}

OPEN = {
    "not covered by the assumption": energy(
        AUXILIARY,
        "U(theta) + r.T @ inv(G) @ r/2",
        functions="{U: {of: theta, role: potential}, G: {of: theta, shape: [d, d], is: positive definite}}",
    ),
    "log of what may be negative": energy("{x: {}}", "x**2 + log(x)"),
    "pole of a denominator": energy("{x: {}}", "x**2 - 1/(x - 3)"),
    "exponentials of both signs": energy("{x: {}}", "2*exp(x) - exp(2*x) + x**2"),
    "semidefinite": energy(VECTOR, "x.T @ M @ x/2", "{M: {shape: [d, d], is: positive semidefinite}}"),
    "quartic that vanishes on a line": energy(PAIR, "x**4 + y**4 - 2*x**2*y**2"),
    "roots whose leading terms cancel": energy("{x: {}}", "x**4 + 3*log(1 + x**2) - x**3*sqrt(1 + x**2)"),
    "joint root with the sign reversed": energy(VECTOR, "-sqrt(1 + x.T @ x)"),
    "joint root of a semidefinite form": energy(
        VECTOR, "sqrt(1 + x.T @ A @ x)", "{A: {shape: [d, d], is: positive semidefinite}}"
    ),
    "Student of a semidefinite form": energy(
        VECTOR, "(nu + d)/2*log(1 + x.T @ A @ x)", "{nu: {is: positive}, A: {shape: [d, d], is: positive semidefinite}}"
    ),
    "Student whose logarithm vanishes at an edge": energy(
        "{x: {shape: d, domain: positive}}", "(nu + 2*d)*log(x.T @ x)", "{nu: {is: positive}}"
    ),
    "mixture with a semidefinite component": energy(
        VECTOR, "-log(exp(-norm2(x)/2) + exp(-x.T @ A @ x/2))", "{A: {shape: [d, d], is: positive semidefinite}}"
    ),
    "difference of exponentials": energy("{x: {}}", "-log(exp(-x**2/2) - exp(-x**2))"),
    "ends that are parameters": energy('{x: {domain: "interval(0, a)"}}', "-log(x)", "{a: {is: positive}}"),
}


@pytest.fixture
def made(tmp_path: Path) -> Callable[[Energy], Dynamics]:
    """Return a function that reads dynamics at rest with an energy."""

    def read(given: Energy) -> Dynamics:
        state, H, parameters, functions = given
        names = re.findall(r"(\w+): \{", state)
        rows = "[" + ", ".join(f"[{', '.join('0' for _ in names)}]" for _ in names) + "]"
        text = f"name: energy\nstate: {state}\nparameters: {parameters}\nfunctions: {functions}\n"
        (tmp_path / "energy.yaml").write_text(f"{text}H: {H}\nD: {rows}\nQ: {rows}\n")
        return load_dynamics(tmp_path / "energy.yaml")

    return read


@pytest.mark.parametrize("name", PROVED)
def test_a_finite_integral_is_proved(made: Callable[[Energy], Dynamics], name: str) -> None:
    found = normalisable(subject_of(made(PROVED[name])))
    assert isinstance(found.decision, Proved)
    assert found.decision.data
    assert ("exp(-U) has a finite integral" in found.decision.given) == ("potential" in name)


@pytest.mark.parametrize("name", REFUTED)
def test_an_infinite_integral_is_refuted_with_a_witness(made: Callable[[Energy], Dynamics], name: str) -> None:
    found = normalisable(subject_of(made(REFUTED[name])))
    assert isinstance(found.decision, Refuted)
    assert found.decision.witness


@pytest.mark.parametrize("name", OPEN)
def test_what_no_rule_covers_is_undecided_and_says_so(made: Callable[[Energy], Dynamics], name: str) -> None:
    assert normalisable(subject_of(made(OPEN[name]))).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("H", "functions", "assumed"),
    [
        ("U(theta)/2 + norm2(r)/2", POTENTIAL, "exp(-U/2) has a finite integral"),
        ("norm2(r)/2 - L(theta)", "{L: {of: theta}}", "exp(L) has a finite integral"),
        ("E(theta, r)", "{E: {of: [theta, r]}}", "exp(-E) has a finite integral"),
    ],
)
def test_what_is_assumed_of_abstract_energies_is_listed(
    made: Callable[[Energy], Dynamics], H: str, functions: str, assumed: str
) -> None:
    assert assumed in normalisable(subject_of(made(energy(AUXILIARY, H, functions=functions)))).decision.given


@pytest.mark.parametrize(
    ("H", "functions"),
    [
        ("-U(theta) + norm2(r)/2", POTENTIAL),
        ("U(theta) - norm2(theta) + norm2(r)/2", POTENTIAL),
        ("U(theta) - phi(theta) + norm2(r)/2", "{U: {of: theta, role: potential}, phi: {of: theta}}"),
        ("U(theta)*(1 + norm2(r)) + norm2(r)/2", POTENTIAL),
    ],
)
def test_the_assumption_covers_nothing_else(made: Callable[[Energy], Dynamics], H: str, functions: str) -> None:
    found = normalisable(subject_of(made(energy(AUXILIARY, H, functions=functions))))
    assert found.verdict is not Verdict.PROVED
    assert found.excused is (found.verdict is not Verdict.REFUTED)


def test_what_does_not_grow_is_said_in_words(made: Callable[[Energy], Dynamics]) -> None:
    found = normalisable(subject_of(made(energy(VECTOR, "-sqrt(1 + x.T @ x)")))).decision
    assert isinstance(found, Undecided)
    assert not any("0 > 0" in what for what in found.tried)


def test_an_assumption_on_the_state_stops_refutations(made: Callable[[Energy], Dynamics], tmp_path: Path) -> None:
    made(REFUTED["linear"])
    path = tmp_path / "energy.yaml"
    path.write_text(path.read_text() + 'assume: ["x[0] > 0"]\n')
    document = load_dynamics(path)
    assert normalisable(subject_of(document)).verdict is Verdict.UNDECIDED


def test_a_flat_region_is_what_it_says() -> None:
    """The region named in the witness is checked at its corners: the energy stays below the bound, far out too."""
    import sympy

    x, y = sympy.symbols("x y", real=True)
    H = x**2 * y**2 + x**2 - y**3 * x**4
    found = flat(H, (x, y), (False, False))
    assert found is not None
    text = dict(found.text)
    bound = Fraction(text["H in the region"].removeprefix("at most "))
    places = [part.partition(" = ")[2] for part in text["region"].split(", with")[0].split("; ")]
    parsed = [re.fullmatch(r"(-?)u\d\*s\*\*\((-?\d+)\)", place) for place in places]
    weights = [(-1 if m[1] else 1, int(m[2])) for m in parsed if m is not None]
    assert len(weights) == 2
    assert sum(w for _, w in weights) >= 0
    for s, *u in product((1, 7, 1000), (1, 2), (1, 2)):
        at = [sign * k * Fraction(s) ** w for (sign, w), k in zip(weights, u, strict=True)]
        value = H.subs({x: sympy.Rational(str(at[0])), y: sympy.Rational(str(at[1]))})
        assert value <= sympy.Rational(str(bound))


LIKELIHOODS = {
    "logistic, Gaussian": ("-theta.T @ theta/2", "y*(x @ theta) - softplus(x @ theta)", Verdict.PROVED),
    "logistic, Cauchy": ("-sum(log1p(theta**2))", "y*(x @ theta) - softplus(x @ theta)", Verdict.PROVED),
    "logistic with the sign of y reversed, Cauchy": (
        "-sum(log1p(theta**2))",
        "-y*(x @ theta) - softplus(x @ theta)",
        Verdict.UNDECIDED,
    ),
    "logistic, flat": ("0*theta[0]", "y*(x @ theta) - softplus(x @ theta)", Verdict.UNDECIDED),
    "Poisson, Gaussian": ("-theta.T @ theta/2", "y*(x @ theta) - exp(x @ theta)", Verdict.PROVED),
    "regression, Laplace": ("-sum(abs(theta))", "-(y - x @ theta)**2/2", Verdict.PROVED),
    "Student regression, Gaussian": ("-theta.T @ theta/2", "-5/2*log(1 + (y - x @ theta)**2/4)", Verdict.PROVED),
    "Student regression with the sign reversed, Laplace": (
        "-sum(abs(theta))",
        "5/2*log(1 + (y - x @ theta)**2/4)",
        Verdict.UNDECIDED,
    ),
    "mixture of residuals, Laplace": (
        "-sum(abs(theta))",
        "log(exp(-(y - x @ theta)**2/2)/3 + 2*exp(-(y - x @ theta)**2/9)/3)",
        Verdict.PROVED,
    ),
    "mixture with a component that grows, Laplace": (
        "-sum(abs(theta))",
        "log(exp(-(y - x @ theta)**2/2)/3 + 2*exp((y - x @ theta)**2/9)/3)",
        Verdict.UNDECIDED,
    ),
    "mixture, flat": ("0*theta[0]", "log(exp(-(y - x @ theta)**2/2)/3 + 2/3)", Verdict.UNDECIDED),
    "Gaussian mixture as prior": (
        "log(exp(-norm2(theta)/2) + exp(-norm2(theta - 3*ones)/8))",
        "y*(x @ theta) - softplus(x @ theta)",
        Verdict.PROVED,
    ),
    "regression, sign of the residual reversed": ("-sum(abs(theta))", "(y - x @ theta)**2/2", Verdict.UNDECIDED),
}


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_targets_for_all_data(tmp_path: Path, name: str) -> None:
    prior, likelihood, verdict = LIKELIHOODS[name]
    text = "name: t\nstate: {theta: {shape: d}}\ndata: {x: {shape: [N, d]}, y: {shape: N, in: [0, 1]}}\n"
    (tmp_path / "t.yaml").write_text(f"{text}log_prior: {prior}\nlog_likelihood: {likelihood}\n")
    document = load_target(tmp_path / "t.yaml")
    assert normalisable_target(document).verdict is verdict


SQUARES = "(theta[0]**2 + theta[1]**2 + theta[0]*theta[1])"
PRIORS = {
    "squares": ("", f"-{SQUARES}", "", Verdict.PROVED),
    "squares of one sign too few": ("", "-(theta[0]**2 - theta[1]**2)", "", Verdict.REFUTED),
    "a square of a sum": ("", "-(theta[0] + theta[1])**2", "", Verdict.REFUTED),
    "squares beside a density": (", s: {domain: positive}", f"exponential(s, 1) - {SQUARES}/s", "", Verdict.PROVED),
    "a logarithm": ("", "-3/2*log(1 + theta[0]**2 + theta[1]**2)", "", Verdict.PROVED),
    "a logarithm at the edge": ("", "-log(1 + theta[0]**2 + theta[1]**2)", "", Verdict.REFUTED),
    "squares beside a bounded likelihood": ("", f"-{SQUARES}", "-log(1 + (y - theta[0])**2)", Verdict.PROVED),
    "squares beside a likelihood without a bound": ("", f"-{SQUARES}", "(y - theta[0])**2", Verdict.UNDECIDED),
    "a square of a sum beside a likelihood": ("", "-(theta[0] + theta[1])**2", "-(y - theta[0])**2", Verdict.UNDECIDED),
}


@pytest.mark.parametrize("name", PRIORS)
def test_a_prior_that_is_a_formula_is_decided_as_a_potential_is(tmp_path: Path, name: str) -> None:
    others, prior, likelihood, verdict = PRIORS[name]
    of_data = f"data: {{y: {{shape: N}}}}\nlog_likelihood: {likelihood}\n" if likelihood else ""
    text = f"name: t\nstate: {{theta: {{shape: 2}}{others}}}\nlog_prior: {prior}\n{of_data}"
    (tmp_path / "t.yaml").write_text(text)
    assert normalisable_target(load_target(tmp_path / "t.yaml")).verdict is verdict


POSITIVE = "{X: {shape: [d, d], domain: positive}}"
MATRICES = {
    "the trace of a positive matrix bounds its diagonal only": (POSITIVE, "trace(X)", Verdict.REFUTED),
    "the sum of its entries bounds all": (POSITIVE, "ones.T @ X @ ones", Verdict.PROVED),
    "the trace of its square bounds all": (POSITIVE, "trace(X.T @ X)", Verdict.PROVED),
}


@pytest.mark.parametrize("name", MATRICES)
def test_every_entry_of_a_matrix_has_to_be_confined(tmp_path: Path, name: str) -> None:
    state, potential, verdict = MATRICES[name]
    (tmp_path / "t.yaml").write_text(f"name: t\nstate: {state}\npotential: {potential}\n")
    document = load_target(tmp_path / "t.yaml")
    assert normalisable_target(document).verdict is verdict


def test_a_falling_ray_is_what_it_says() -> None:
    """Along the ray named in the witness, and close to it, the energy falls."""
    import sympy

    x, y = sympy.symbols("x y", real=True)
    H = x**4 - 3 * x**2 * y + y**2 + 7 * x + 5
    found = flat(H, (x, y), (False, False))
    assert found is not None
    places = [part.partition(" = ")[2] for part in dict(found.text)["ray"].removesuffix(", s -> oo").split(", ")]
    s = sympy.Symbol("s", positive=True)
    parsed = [re.fullmatch(r"(?:(-?\d+)\*)?s(?:\*\*(\d+))?", place) for place in places]
    path = [int(m[1] or 1) * s ** int(m[2] or 1) for m in parsed if m is not None]
    assert len(path) == 2
    for near in (sympy.Rational(99, 100), 1, sympy.Rational(101, 100)):
        assert sympy.limit(H.subs({x: path[0] * near, y: path[1]}), s, sympy.oo) == -sympy.oo


def test_a_target_without_a_finite_integral_is_refuted(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("name: t\nstate: {theta: {shape: d}}\npotential: -theta.T @ theta/2\n")
    document = load_target(tmp_path / "t.yaml")
    assert isinstance(normalisable_target(document).decision, Refuted)


@pytest.mark.parametrize("path", some(sorted((SPECS / "builds").glob("*.yaml"))), ids=lambda path: path.stem)
def test_shipped_builds_rest_on_no_assumption_about_the_potential(path: Path) -> None:
    found = of_any_metric(lambda own: normalisable_build(own.build, own.dynamics), bound_build(load_build(path)))
    assert isinstance(found.decision, Proved)
    assert "exp(-U) has a finite integral" not in found.decision.given


LINE = "name: k\nstate: {x: {}, theta: {shape: d}}\nparameters: {c: {is: positive}}\nH: norm2(theta) + ENERGY\n"
PIECES = {
    "Piecewise((x**2/2, Abs(x) <= 1), (Abs(x) - 1/2, True))": "proved",
    "where(abs(x) > c, c*abs(x) - c**2/2, x**2/2)": "proved",
    "x**2 + maximum(x, 0)": "proved",
    "x**2 + minimum(3*x, -x) + maximum(x, 1)": "proved",
    "where(x > c, x**2, x**2 + (x - c)**2)": "proved",
    "maximum(x, 0)": "open",  # one piece is flat, and so is the whole on the left
    "minimum(x**2, 1)": "open",
    "where(x > 0, x**2, 0)": "open",
    "maximum(x, -x) - abs(x)": "open",
    "where(x > 1, x**2, x**2*exp(1 - x))": "open",
    "x**2/2 - maximum(x**2, 0)": "open",
}


@pytest.mark.parametrize("energy", PIECES)
def test_a_choice_of_pieces_is_integrable_where_each_piece_alone_is(tmp_path: Path, energy: str) -> None:
    path = tmp_path / "k.yaml"
    blocks = "D: [[1, 0], [0, I]]\nQ: [[0, 0], [0, 0]]\n"
    path.write_text(LINE.replace("ENERGY", f'"{energy}"' if ":" in energy else energy) + blocks, encoding="utf-8")
    decision = normalisable(subject_of(load_dynamics(path))).decision
    assert isinstance(decision, Proved) is (PIECES[energy] == "proved")
    if isinstance(decision, Proved):
        assert "at most the sum of its pieces" in decision.by

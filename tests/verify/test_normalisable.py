"""Which energies have a finite integral: kernels with known answers, and what must never be proved."""

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from recipe_compiler.algebra.growth.flat import flat
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.verdict import Proved, Refuted, Verdict
from recipe_compiler.verify.case import case_of
from recipe_compiler.verify.normalisable import normalisable
from recipe_compiler.verify.normalisable_target import normalisable_build, normalisable_target

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
    "log too slow": energy("{x: {}}", "log(1 + x**2)/2"),
    "beta at its end": energy(
        '{x: {domain: "interval(0, 1)"}}', "-(a - 1)*log(x) - (b - 1)*log(1 - x)", "{a: {is: positive}, b: {}}"
    ),
    "Dirichlet at its end": energy("{w: {shape: d, domain: simplex}}", "-sum((a - ones)*log(w))", "{a: {shape: d}}"),
    "gamma rate may vanish": energy("{x: {domain: positive}}", "k*x - (a - 1)*log(x)", "{a: {}, k: {is: nonnegative}}"),
    "pole inside": energy("{x: {}}", "x**2 + a*log(abs(x))", "{a: {is: nonnegative}}"),
    "exponentials that vanish at one end": energy(VECTOR, "sum(exp(x)) - sum(exp(2*x))"),
    "power written by exp and log": energy(VECTOR, "x.T @ x/2 - exp(2*log(1 + norm2(x)))"),
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
        document = load(tmp_path / "energy.yaml")
        assert isinstance(document, Dynamics)
        return document

    return read


@pytest.mark.parametrize("name", PROVED)
def test_a_finite_integral_is_proved(made: Callable[[Energy], Dynamics], name: str) -> None:
    found = normalisable(case_of(made(PROVED[name])))
    assert isinstance(found.decision, Proved)
    assert found.decision.data
    assert ("exp(-U) has a finite integral" in found.decision.given) == ("potential" in name)


@pytest.mark.parametrize("name", REFUTED)
def test_an_infinite_integral_is_refuted_with_a_witness(made: Callable[[Energy], Dynamics], name: str) -> None:
    found = normalisable(case_of(made(REFUTED[name])))
    assert isinstance(found.decision, Refuted)
    assert found.decision.witness


@pytest.mark.parametrize("name", OPEN)
def test_what_no_rule_covers_is_undecided_and_says_so(made: Callable[[Energy], Dynamics], name: str) -> None:
    assert normalisable(case_of(made(OPEN[name]))).verdict is Verdict.UNDECIDED


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
    assert assumed in normalisable(case_of(made(energy(AUXILIARY, H, functions=functions)))).decision.given


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
    found = normalisable(case_of(made(energy(AUXILIARY, H, functions=functions))))
    assert found.verdict is not Verdict.PROVED
    assert found.required is (found.verdict is Verdict.REFUTED)


def test_an_assumption_on_the_state_stops_refutations(made: Callable[[Energy], Dynamics], tmp_path: Path) -> None:
    made(REFUTED["linear"])
    path = tmp_path / "energy.yaml"
    path.write_text(path.read_text() + 'assume: ["x[0] > 0"]\n')
    document = load(path)
    assert isinstance(document, Dynamics)
    assert normalisable(case_of(document)).verdict is Verdict.UNDECIDED


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
    "regression, sign of the residual reversed": ("-sum(abs(theta))", "(y - x @ theta)**2/2", Verdict.UNDECIDED),
}


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_targets_for_all_data(tmp_path: Path, name: str) -> None:
    prior, likelihood, verdict = LIKELIHOODS[name]
    text = "name: t\nstate: {theta: {shape: d}}\ndata: {x: {shape: [N, d]}, y: {shape: N, in: [0, 1]}}\n"
    (tmp_path / "t.yaml").write_text(f"{text}log_prior: {prior}\nlog_likelihood: {likelihood}\n")
    document = load(tmp_path / "t.yaml")
    assert isinstance(document, Target)
    assert normalisable_target(document).verdict is verdict


def test_a_target_without_a_finite_integral_is_refuted(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("name: t\nstate: {theta: {shape: d}}\npotential: -theta.T @ theta/2\n")
    document = load(tmp_path / "t.yaml")
    assert isinstance(document, Target)
    assert isinstance(normalisable_target(document).decision, Refuted)


@pytest.mark.parametrize("path", sorted((SPECS / "builds").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_builds_rest_on_no_assumption_about_the_potential(path: Path) -> None:
    build = load(path)
    assert isinstance(build, Build)
    found = normalisable_build(build, bind(build))
    assert isinstance(found.decision, Proved)
    assert "exp(-U) has a finite integral" not in found.decision.given

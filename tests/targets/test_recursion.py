"""Recursions over the rows as they are emitted: a loop forwards for the states, one backwards for their adjoints.

Gradient, U and pointwise log likelihood beside recursions written by hand in 50 digits, at shifted and scaled data and
at 1, 2, 3 and more rows; mutants of the text are found by the read-back.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from emitted_target import Emitted, emitted_target
from some import some

from recipe_compiler.errors import CompilerError
from recipe_compiler.program.canonical import check_canonical
from recipe_compiler.program.canonical_kernel import check_kernel

mp = mpmath.mp

GARCH = """
state: {mu: {}, omega: {constraint: positive}, alpha: {}, beta: {}}
data: {y: {shape: N}}
recursion:
  s: {is: positive, start: omega + mu**2, next: omega + alpha**2*(y - mu)**2 + beta**2*s}
log_prior: -mu**2/50
log_likelihood: normal(y, mu, sqrt(s))
"""
ARMA = """
state: {mu: {}, phi: {}, theta: {}}
data: {y: {shape: N}, x: {shape: N}}
recursion:
  last: {start: mu, next: y}
  e: {start: phi*theta, next: y - mu - phi*(last - mu) - theta*e}
log_likelihood: -(y - mu - phi*(last - mu) - theta*e)**2/2 - x*theta**2
"""
FILTER = """
state: {mu: {shape: 2}, stay: {shape: 2, domain: "interval(0, 1)", transform: logit}}
data: {y: {shape: N}}
let: {v: "a*exp(-(y*ones - mu)*(y*ones - mu)/2)", p: "stay[0]", q: "stay[1]"}
recursion:
  a: {shape: 2, is: positive, start: ones/2, next: "[p*v[0] + q*v[1], v[0] + v[1]/3]/sum(v)"}
log_likelihood: log(sum(v))
"""
COLUMN = """
state: {theta: {shape: 2}}
data: {x: {shape: [N, 2]}}
parameters: {A: {shape: [2, 2]}}
recursion: {h: {shape: 2, start: A @ theta, next: tanh(A @ h) + x.T - theta/2}}
log_prior: -norm2(theta)/2
log_likelihood: -norm2(h - x.T)/2 - h.T @ A @ h/4
"""
THREE = """
state:
  mu: {shape: 3, constraint: ordered}
  p: {shape: 3, constraint: simplex}
  q: {shape: 3, constraint: simplex}
  s: {shape: 3, constraint: simplex}
  sigma: {constraint: positive}
data: {y: {shape: N}}
let: {v: "a*exp(-((y*ones - mu)/sigma)**2/2)/sigma"}
recursion: {a: {shape: 3, is: positive, start: ones/3, next: "(p*v[0] + q*v[1] + s*v[2])/sum(v)"}}
log_likelihood: log(sum(v))
"""
TARGETS = {"garch": GARCH, "arma": ARMA, "filter": FILTER, "column": COLUMN}
OF_SIZES = """
state: {mu: {}, omega: {constraint: positive}, alpha: {}, beta: {}}
data: {y: {shape: N}}
recursion:
  s: {is: positive, start: omega + mu**2, next: omega + alpha**2*abs(y - mu) + beta**2*s}
log_prior: -mu**2/50
log_likelihood: normal(y, mu, sqrt(s))
"""
A = [[0.5, -0.25], [0.75, 1.0]]
COLUMNS = {
    "three": "y: y",
    "garch": "y: y",
    "sizes": "y: y",
    "arma": "y: y, x: x",
    "filter": "y: y",
    "column": "x: [x, y]",
}


def emitted(name: str) -> Emitted:
    more = f"parameters: {{A: {{value: {A}}}}}\n" if name == "column" else ""
    target = {**TARGETS, "three": THREE, "sizes": OF_SIZES}[name]
    return emitted_target(name, target, COLUMNS[name], "y,x\n1,2\n3,4\n", more)


# U by hand: -log prior, and -log likelihood of every row.

Numbers = Sequence[Any]


def garch(z: Numbers, data: Mapping[str, Numbers]) -> tuple[Any, list[Any]]:
    mu, log_omega, alpha, beta = z
    omega = mp.exp(log_omega)
    s, terms = omega + mu**2, []
    for y in data["y"]:
        terms.append((y - mu) ** 2 / (2 * s) + mp.log(s) / 2 + mp.log(2 * mp.pi) / 2)
        s = omega + alpha**2 * (y - mu) ** 2 + beta**2 * s
    return mu**2 / 50 - log_omega, terms


def arma(z: Numbers, data: Mapping[str, Numbers]) -> tuple[Any, list[Any]]:
    mu, phi, theta = z
    last, e, terms = mu, phi * theta, []
    for y, x in zip(data["y"], data["x"], strict=True):
        new = y - mu - phi * (last - mu) - theta * e
        terms.append(new**2 / 2 + x * theta**2)
        last, e = y, new
    return mp.mpf(0), terms


def filtered(z: Numbers, data: Mapping[str, Numbers]) -> tuple[Any, list[Any]]:
    mu, stay = z[:2], [1 / (1 + mp.exp(-u)) for u in z[2:]]
    a, terms = [mp.mpf(1) / 2] * 2, []
    for y in data["y"]:
        v = [p * mp.exp(-((y - m) ** 2) / 2) for p, m in zip(a, mu, strict=True)]
        terms.append(-mp.log(sum(v)))
        a = [(stay[0] * v[0] + stay[1] * v[1]) / sum(v), (v[0] + v[1] / 3) / sum(v)]
    return -sum(mp.log(p * (1 - p)) for p in stay), terms


def column(z: Numbers, data: Mapping[str, Numbers]) -> tuple[Any, list[Any]]:
    def times(v: Numbers) -> list[Any]:
        return [sum(a * x for a, x in zip(row, v, strict=True)) for row in A]

    h, terms = times(z), []
    for x in data["x"]:
        pulled = sum(a * b for a, b in zip(h, times(h), strict=True))
        terms.append(sum((a - b) ** 2 for a, b in zip(h, x, strict=True)) / 2 + pulled / 4)
        h = [mp.tanh(a) + b - t / 2 for a, b, t in zip(times(h), x, z, strict=True)]
    return sum(t**2 for t in z) / 2, terms


def three(z: Numbers, data: Mapping[str, Numbers]) -> tuple[Any, list[Any]]:
    mu, sigma, odds = [z[0], z[0] + mp.exp(z[1])], mp.exp(z[12]), [z[3:6], z[6:9], z[9:12]]
    mu.append(mu[1] + mp.exp(z[2]))
    shares = [[mp.exp(u) / sum(map(mp.exp, row)) for u in row] for row in odds]
    a, terms = [mp.mpf(1) / 3] * 3, []
    for y in data["y"]:
        v = [p * mp.exp(-(((y - m) / sigma) ** 2) / 2) / sigma for p, m in zip(a, mu, strict=True)]
        terms.append(-mp.log(sum(v)))
        a = [sum(x * row[k] for x, row in zip(v, shares, strict=True)) / sum(v) for k in range(3)]
    of_shares = sum(mp.log(b) for row in shares for b in row) - sum(sum(row) ** 2 for row in odds) / 6
    return -(z[1] + z[2] + of_shares + z[12]), terms


BY_HAND = {"three": three, "garch": garch, "arma": arma, "filter": filtered, "column": column}
THETA = {
    "three": [-0.7, 0.2, -0.3, 0.4, -0.6, 0.9, -0.2, 0.5, 0.1, 0.7, -0.8, 0.3, -0.25],
    "garch": [0.3, -0.5, 0.6, -0.8],
    "arma": [0.4, 0.7, -0.3],
    "filter": [-0.5, 0.75, 0.3, -1.1],
    "column": [0.3, -0.9],
}


def data_of(name: str, count: int, shift: float = 0.0, scale: float = 1.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(count)
    y, x = shift + scale * rng.standard_normal(count), rng.uniform(0.5, 1.5, count)
    return {
        "three": {"y": y},
        "garch": {"y": y},
        "arma": {"y": y, "x": x},
        "filter": {"y": y},
        "column": {"x": np.column_stack([x, y])},
    }[name]


def called(name: str, procedure: str, theta: np.ndarray, data: dict[str, np.ndarray]) -> Any:
    parameters = {"A": np.array(A)} if name == "column" else {}
    return emitted(name).called(procedure, theta, data, **parameters)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.usefixtures("without_jit")
def test_the_gradient_is_that_of_the_recursion_by_hand(name: str, count: int) -> None:
    theta, data = np.array(THETA[name]), data_of(name, count)
    exact(name, theta, data, 1e-13)


@pytest.mark.slow
@pytest.mark.usefixtures("without_jit")
def test_a_filter_of_three_states_with_ordered_means() -> None:
    exact("three", np.array(THETA["three"]), data_of("three", 5), 1e-12)


@pytest.mark.parametrize(("name", "shift", "scale"), [("garch", 1e9, 1.0), ("garch", 0, 1e6), ("arma", 0, 1e6)])
@pytest.mark.usefixtures("without_jit")
def test_data_that_are_shifted_and_scaled_lose_no_digits(name: str, shift: float, scale: float) -> None:
    theta = np.array(THETA[name])
    theta[0] += shift
    theta[1] += 2 * np.log(scale) if name == "garch" else 0.0
    exact(name, theta, data_of(name, 6, shift, scale), 1e-12)


def exact(name: str, theta: np.ndarray, data: dict[str, np.ndarray], share: float) -> None:
    """Compare gradient, U and log likelihood with 50 digits, and the first with differences of U."""
    with mp.workdps(60):
        given = {key: [[mp.mpf(float(x)) for x in np.atleast_1d(row)] for row in field] for key, field in data.items()}
        plain = {key: rows if data[key].ndim > 1 else [row[0] for row in rows] for key, rows in given.items()}
        z = [mp.mpf(float(x)) for x in theta]

        def U(*at: Any) -> Any:
            prior, terms = BY_HAND[name](at, plain)
            return prior + sum(terms)

        slopes = [mp.diff(U, z, tuple(int(k == n) for k in range(len(z)))) for n in range(len(z))]
        _, terms = BY_HAND[name](z, plain)
        expected = np.array([float(slope) for slope in slopes])
        of_rows = np.array([float(-term) for term in terms])
        whole = U(*z) - U(*(x + mp.mpf(1) / 8 for x in z))
    found = called(name, "gradient", theta, data)
    np.testing.assert_allclose(found, expected, rtol=share, atol=share * np.abs(expected).max())
    np.testing.assert_allclose(called(name, "log_likelihood", theta, data), of_rows, rtol=share)
    if share > 1e-13:
        return
    energies = [float(called(name, "full_potential", at, data)) for at in (theta, theta + 1 / 8)]
    assert energies[0] - energies[1] == pytest.approx(float(whole), rel=1e-11, abs=1e-11)
    for k, x in enumerate(np.eye(len(theta))):
        ends = [float(called(name, "full_potential", theta + h * x, data)) for h in (1e-5, -1e-5)]
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(found[k], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", TARGETS)
def test_programs_and_loops_are_canonical(name: str) -> None:
    own = emitted(name).module
    assert check_canonical(own.program) == ()
    assert check_kernel(own.kernel) == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_the_text_is_read_back_at_one_row_and_more(name: str) -> None:
    assert {sizes["N"] for sizes in emitted(name).read()} == {1, 2, 3}


MUTANTS = [
    # wrong start
    ("garch", "s_passed = mu[0] ** 2 + _exp(log_omega[0])", "s_passed = _exp(log_omega[0])"),
    ("column", "h_passed[i] = A_theta[i]", "h_passed[i] = theta[i]"),
    ("garch", "grad_U_mu[0] = 2.0 * slope_s * mu[0] + ", "grad_U_mu[0] = "),
    # wrong lag: what a row leaves is kept as what was before it
    ("garch", "s[row] = s_passed\n        s_passed = ", "s[row] = s_passed\n        s_passed = s[row] = "),
    ("arma", "e[row] = e_passed", "e[row] = last_passed"),
    ("filter", "a[row, i] = a_passed[i]", "a[row, i] = a_passed[0]"),
    # adjoints of another row, of none, or not of all
    ("garch", "adjoint_s[row] = slope_s", "adjoint_s[row] = 0.0"),
    ("garch", "slope_s = 0.0", "slope_s = 1.0"),
    ("garch", "range(N - 1, -1, -1)", "range(N)"),
    ("garch", "range(N - 1, -1, -1)", "range(N - 1, 0, -1)"),
    ("arma", "range(N - 1, -1, -1)", "range(1, N)"),
    ("column", "range(N - 1, -1, -1)", "range(N)"),
    ("column", "adjoint_h[row, i] = slope_h[i]", "adjoint_h[row, i] = slope_h[0]"),
    # a term dropped from an adjoint
    ("garch", "slope_s = adjoint_s[row] * beta[0] ** 2 + 1.0", "slope_s = 1.0"),
    ("garch", " - (y[row] - mu[0]) ** 2 / (2.0 * s[row] ** 2)", ""),
    ("garch", "-2.0 * adjoint_s[row] * alpha[0] ** 2 * (y[row] - mu[0]) - ", "-"),
    ("arma", "slope_last = -adjoint_e[row] * phi[0]", "slope_last = 0.0"),
    ("column", "+ A_adjoint_h_cosh[i] ", ""),
]


@pytest.mark.parametrize(("name", "old", "new"), some(MUTANTS, 2))
def test_a_fault_of_the_loops_is_found(name: str, old: str, new: str) -> None:
    own = emitted(name)
    assert old in own.module.text
    with pytest.raises(CompilerError):
        own.read(lambda text: text.replace(old, new))


SIZES = ("abs(y[row] - mu[0])", "(y[row] - mu[0])"), ("_sign(y[row] - mu[0])", "1.0")


@pytest.mark.slow
def test_a_kink_is_read_on_either_side() -> None:
    """|x| is x at half of all points: each place where it is taken is changed by itself."""
    text = emitted("sizes").module.text
    for old, new in SIZES:
        places = [k for k in range(len(text)) if text.startswith(old, k)]
        assert places
        for k in places:
            with pytest.raises(CompilerError):
                emitted("sizes").read(lambda _, k=k, old=old, new=new: text[:k] + new + text[k + len(old) :])
    assert emitted("sizes").read()

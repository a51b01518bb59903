"""Laws of vectors, factors, classes and grades: as formulas beside SciPy and closed forms, and as draws."""

import re
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from answers import document
from by_hand import factor, lkj
from mpmath import mpf
from scipy import stats

import recipe_compiler as rc
from recipe_compiler.errors import DocumentError, Place
from recipe_compiler.facts.semidefinite import sign
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Domain, Parameter
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.density_terms import type_density
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Apply, Formula, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.readback.names import exact_inverse
from recipe_compiler.run.data import load_data
from recipe_compiler.run.evaluate import Point, evaluate, evaluate_rows
from recipe_compiler.run.predictive import _Drawer, predictive_of
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verify.builds.proper_prior import prove_by_proper_prior
from recipe_compiler.verify.core.scalars import make_leaf, write_out

POSITIVE = Domain(DomainName.POSITIVE)
PARTIAL = [[0.3], [-0.5, 0.7], [0.2, 0.4, -0.6]]
COLUMN, SQUARE = Shape(3), Shape(3, 3)
DECLARED = Declarations(
    (
        Block("x", COLUMN), Block("mu", COLUMN), Block("tau", COLUMN, POSITIVE), Block("s"),
        Block("w", SCALAR, POSITIVE), Block("eta", SCALAR, POSITIVE),
        Block("L", SQUARE, constraint=Constraint.CHOLESKY_CORR),
        Block("B", Shape("J", 3)), Block("M", Shape("J", 3)),
    ),
    (Parameter("Sigma", SQUARE, (Kind.PD,)), Parameter("F", SQUARE)),
    data=(Datum("row", "N", Shape(None, 3)),),
)  # fmt: skip
X, MU, TAU, S, W, ETA = np.array([0.3, -1.2, 2.0]), np.array([1.0, 0.5, -0.4]), np.array([0.5, 2, 0.7]), 0.6, 0.4, 0.7
SIGMA = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 1.5]])
F, L, T, ONE = np.linalg.cholesky(SIGMA), np.array(factor(PARTIAL[:2])), np.diag(TAU), np.eye(3)
B, M = np.sin(np.arange(12.0)).reshape(4, 3), np.cos(np.arange(12.0)).reshape(4, 3)
VALUES = {"x": X, "mu": MU, "tau": TAU, "s": S, "w": W, "eta": ETA, "L": L, "B": B, "M": M, "Sigma": SIGMA, "F": F}
HALF, ONES = np.sqrt(ETA) * ONE, np.ones((3, 3))


def typed(text: str, declared: Declarations = DECLARED) -> Formula:
    where = Place("t")
    return elaborate(
        parse(text, "log_prior", where), Scope(declared, densities=type_density), SCALAR, "log_prior", where
    )


def at(**values: Any) -> Point:
    known = VALUES | values
    arrays = {
        name: np.asarray(v, float).reshape(-1, 1) if np.ndim(v) == 1 else np.asarray(v) for name, v in known.items()
    }
    return Point(arrays | {"row": X.reshape(1, -1)}, {"J": 4})


def normal(x: Any, mean: Any, root: Any) -> float:
    """Return the sum over rows of log N(row | mean, root root.T)."""
    return stats.multivariate_normal(np.zeros(3), root @ root.T).logpdf(x - mean).sum()


ROWS = {
    "multi_normal(x, mu, Sigma)": normal(X, MU, F),
    "multi_normal(row, mu, Sigma)": normal(X, MU, F),
    "multi_normal(x, 0, 2*I)": normal(X, 0, np.sqrt(2) * ONE),
    "multi_normal_cholesky(x, mu, F)": normal(X, MU, F),
    "dirichlet([w, 1 - w], [2, 3])": stats.dirichlet([2, 3]).logpdf([W, 1 - W]),
    "normal(x, mu, s)": stats.norm.logpdf(X, MU, S).sum(),
    "normal(x, 1/2, s)": stats.norm.logpdf(X, 0.5, S).sum(),
    "normal(0, mu, 2)": stats.norm.logpdf(0, MU, 2).sum(),
    "normal(row, mu, 2)": stats.norm.logpdf(X, MU, 2).sum(),
    "student_t(x, 4, ones, exp(mu))": stats.t.logpdf(X, 4, 1, np.exp(MU)).sum(),
    "gamma(exp(x), w, exp(mu))": stats.gamma.logpdf(np.exp(X), W, scale=np.exp(-MU)).sum(),
    "mixture(w, normal(s, 0, 1), cauchy(s, 1, 2))":
        np.log(W * stats.norm.pdf(S) + (1 - W) * stats.cauchy.pdf(S, 1, 2)),
    "mixture([w, (1 - w)/2, (1 - w)/2], normal(s, 0, 1), cauchy(s, 1, 2), 2*s - 1)":
        np.log(W * stats.norm.pdf(S) + 0.3 * stats.cauchy.pdf(S, 1, 2) + 0.3 * np.exp(2 * S - 1)),
    "mixture([w, 1/2 - w, 1/2], normal(s, mu, 2))": np.log(np.array([W, 0.5 - W, 0.5]) @ stats.norm.pdf(S, MU, 2)),
    "sum(softmax(mu)*x)": np.exp(MU) @ X / np.exp(MU).sum(),
    "sum([s, w, 2])": S + W + 2,
    "[1, 2].T @ [[s, 0], [1, w]] @ [3, 4]": 3 * S + 6 + 8 * W,
    "gamma(tau[1]) + beta(w, eta)": float(mpmath.gamma(2) + mpmath.beta(W, ETA)),
    "gaussian_process(x, tau, w, eta, 1/10)":
        normal(X, 0, np.linalg.cholesky(W**2 * np.exp(-((TAU[:, None] - TAU) ** 2) / (2 * ETA**2)) + ONE / 100)),
    "multi_normal_cholesky(B, mu, L)": normal(B, MU, L),
    "multi_normal_cholesky(B, mu.T, diag(tau) @ L)": normal(B, MU, T @ L),
    "multi_normal_cholesky(B, M, eta*L @ diag(tau))": normal(B, M, ETA * L @ T),
    "multi_normal_cholesky(B, 0, eta)": normal(B, 0, ETA * ONE),
    "multi_normal(B, mu, L @ L.T)": normal(B, MU, L),
    "multi_normal(B, mu, eta*I)": normal(B, MU, HALF),
    "multi_normal(B, 0, inv(I))": normal(B, 0, ONE),
    "multi_normal(B, M, ones @ ones.T + I)": normal(B, M, np.linalg.cholesky(ONES + ONE)),
    "multi_normal_cholesky(B, 0, 2*I)": normal(B, 0, 2 * ONE),
    "multi_normal(B, ones @ ones.T, L @ L.T)": normal(B, 1, L),
    "normal(B, M, eta)": normal(B, M, ETA * ONE),
    "normal(B, 0, eta)": normal(B, 0, ETA * ONE),
    # beside a square matrix I and ones are that of its columns
    "multi_normal(L, I, eta*I)": normal(L, ONE, HALF),
    "multi_normal(L, ones, eta*I)": normal(L, 1, HALF),
    "multi_normal(I, L, eta)": normal(ONE, L, HALF),
    "multi_normal(L, 0, eta*I)": normal(L, 0, HALF),
}  # fmt: skip


@pytest.mark.parametrize("text", ROWS)
def test_values_are_those_of_scipy(text: str) -> None:
    formula, wanted = typed(text), ROWS[text]
    assert float(evaluate(formula, at())) == pytest.approx(wanted, rel=1e-12)
    if {"row", "B", "L", "I"} & {*re.findall(r"\w+", text)}:
        return
    (tensor,) = write_out(convert(formula, DECLARED), {}, make_leaf(DECLARED, {}))
    assert float(tensor.subs({x: _entry(str(x)) for x in tensor.free_symbols})) == pytest.approx(wanted, rel=1e-12)


def _entry(symbol: str) -> float:
    name, *place = re.findall(r"[A-Za-z]+|\d+", symbol)
    return VALUES[name][tuple(map(int, place))] if place else VALUES[name]


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("L", L), ("diag(tau) @ L", T @ L), ("L @ diag(tau)", L @ T), ("diag(tau) @ (3*L @ diag(tau))", 3 * T @ L @ T),
        ("2*L", 2 * L), ("diag(exp(x/4)) @ L", np.diag(np.exp(X / 4)) @ L),
    ],
)  # fmt: skip
def test_a_normal_law_of_a_factor_of_the_state_inverts_the_triangle_alone(text: str, root: Any) -> None:
    formula = typed(f"multi_normal_cholesky(x, mu, {text})")
    found = {node for node in nodes(formula) if isinstance(node, Apply) and node.fn in ("inv", "det")}
    assert [one.args for one in found] == [(Symbol("L", SQUARE, Role.BLOCK),)]
    assert float(evaluate(formula, at())) == pytest.approx(normal(X, MU, root), rel=1e-12)


@pytest.mark.parametrize("text", ["L @ L", "L.T"])
def test_what_is_not_seen_to_be_a_triangle_keeps_its_inverse(text: str) -> None:
    formula = typed(f"multi_normal_cholesky(x, mu, {text})")
    assert any(isinstance(node, Apply) and node.fn == "inv" for node in nodes(formula))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("normal(x, mu)", "found 2 arguments of normal(), expected 3: normal(x, mu, sigma)"),
        ("gamma(x, 1)", "found 2 arguments of gamma(), expected 3: gamma(x, shape, rate)"),
        ("normal(x, [1, 2], 1)", "found a column [2], expected a column [3]"),
        ("multi_normal(s, 0, 1)", "found scalars in multi_normal(x, mu, Sigma), expected columns"),
        ("mixture(s)", "found 0 densities and weights that are a scalar, expected a density for each weight"),
        ("mixture(x, normal(s, 0, 1), normal(s, 1, 1))", "found 2 densities and weights that are a column"),
        ("dirichlet(L, 1)", "found a matrix [3, 3] in dirichlet(x, alpha), expected scalars or vectors"),
        ("norml(s, 0, 1)", "'norml' is neither declared nor a function of the language"),
        ("sum([[1, 2], [3]])", "found rows of different lengths in a list"),
        ("multi_normal(B, I, L @ L.T)", "matrix [?, ?], expected a matrix [J, 3]"),
        ("multi_normal(0, I, L)", "matrix [?, ?] in multi_normal(x, mu, Sigma), expected scalars or vectors"),
        ("multi_normal_cholesky(B, mu, tau)", "column [3], expected a matrix [3, 3]"),
        ("multi_normal_cholesky(mu, B, L)", "matrix [J, 3], expected a column [3]"),
        ("multi_normal_cholesky(B, M.T, L)", "matrix [3, J], expected a matrix [J, 3]"),
        ("normal(B, mu, 1)", "column [3], expected a matrix [J, 3]"),
        ("dirichlet(B, mu)", "expected scalars or vectors"),
    ],
)
def test_what_does_not_fit_is_said(text: str, problem: str) -> None:
    with pytest.raises(DocumentError) as raised:
        typed(text)
    assert problem in str(raised.value)


def test_a_density_stands_in_a_target_and_a_declared_name_hides_it() -> None:
    where = Place("t")
    with pytest.raises(DocumentError, match="only log_prior, log_likelihood and potential take densities"):
        elaborate(parse("-normal(x, 0, 1)", "H", where), Scope(Declarations((Block("x"),))), SCALAR, "H", where)
    with pytest.raises(DocumentError, match="hides the density normal"):
        typed("normal(x, 0, 1)", Declarations((Block("normal"), Block("x"))))


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("eta", [0.4, 1.0, 2.5])
def test_lkj_is_that_of_the_paper_carried_to_the_factor(K: int, eta: float) -> None:
    """The free entries of R have the volume prod_k L_kk**(K - 1 - k) in those of L, k counted from 0."""
    own = factor(PARTIAL[: K - 1])
    declared = Declarations(
        (Block("eta", SCALAR, POSITIVE), Block("L", Shape(K, K), constraint=Constraint.CHOLESKY_CORR))
    )
    found = float(evaluate(typed("lkj_cholesky(L, eta)", declared), at(L=np.array(own), eta=eta)))
    with mpmath.workdps(50):
        wide = mpmath.matrix([[mpf(entry) for entry in row] for row in own])
        volume = mpmath.fsum((K - 1 - k) * mpmath.log(wide[k, k]) for k in range(1, K))
        assert found == pytest.approx(float(lkj(wide * wide.T, mpf(eta)) + volume), rel=1e-12)


CUTS = np.array([-1.5, 0.25, 2.0])


def graded(grade: int, eta: float, c: np.ndarray) -> float:
    cuts = Block("c", Shape(len(c)), constraint=Constraint.ORDERED)
    declared = Declarations((Block("eta"), cuts), data=(Datum("y", "N", Shape(None, len(c) + 1), is_index=True),))
    row = np.eye(len(c) + 1)[grade].reshape(1, 1, -1)
    return float(
        np.ravel(evaluate_rows(typed("ordered_logistic(y, eta, c)", declared), at(eta=eta, c=c), {"y": row}))[0]
    )


@pytest.mark.parametrize("eta", [-40.0, 0.3, 60.0])
@pytest.mark.parametrize("c", [CUTS, CUTS[:1], *(np.array([0.25, 0.25 + gap]) for gap in (1e-9, 0.5, 50.0))])
def test_grades_have_the_probabilities_of_logistic_noise(eta: float, c: np.ndarray) -> None:
    """No digit is lost far out, or between close cuts."""
    with mpmath.workdps(50):
        below = [1 / (1 + mpmath.exp(mpf(eta) - mpf(one))) for one in c]
        last = 1 / (1 + mpmath.exp(mpf(c[-1]) - mpf(eta)))
        masses = [below[0], *(b - a for a, b in pairwise(below)), last]
        wanted = [float(mpmath.log(mass)) for mass in masses]
    found = [graded(k, eta, c) for k in range(len(c) + 1)]
    assert found == pytest.approx(wanted, rel=1e-14, abs=1e-300)


@pytest.mark.parametrize(
    ("i", "j", "constraint", "positive"),
    [(1, 0, Constraint.ORDERED, True), (2, 0, Constraint.POSITIVE_ORDERED, True), (0, 1, Constraint.ORDERED, False),
     (1, 1, Constraint.ORDERED, False), (1, 0, None, False), (1, 0, Constraint.SIMPLEX, False)],
)  # fmt: skip
def test_entries_of_increasing_blocks_differ_by_what_is_positive(
    i: int, j: int, constraint: Constraint | None, positive: bool
) -> None:
    declared = Declarations((Block("c", COLUMN, constraint=constraint),))
    assert sign(typed(f"c[{i}] - c[{j}]", declared), declared).positive is positive


@pytest.mark.parametrize("block", ["unit_vector", "simplex"])
def test_a_law_is_proper_over_the_measure_of_its_set_alone(block: str) -> None:
    """N(w | 0, s) over directions is s**-3 exp(-1/(2 s**2)): not at most 1, whatever s is."""
    text = f"state: {{w: {{shape: 3, constraint: {block}}}, s: {{constraint: positive}}}}\ndata: {{y: {{shape: N}}}}\n"
    text += "log_prior: normal(w, 0, s) + half_normal(s, 1)\nlog_likelihood: -abs(y - w[0])\n"
    assert prove_by_proper_prior(document(text)) is None


def test_a_gaussian_process_is_the_normal_law_written_out() -> None:
    text = "state: {f: {shape: 3}}\nparameters: {x: {shape: 3}}\nlog_prior: "
    named = document(f"{text}gaussian_process(f, x, 2, 1, 1)")
    wide = document(f"{text}multi_normal(f, 0, gp_exp_quad_cov(x, 2, 1) + 1**2*I)")
    assert named.log_prior == wide.log_prior
    assert [one.name for one in named.stated.densities] == ["multi_normal"]
    f, x = rc.vector("f", 3), rc.vector("x", 3)
    made = rc.Target(name="written", state=[f], parameters=[x], log_prior=rc.gaussian_process(f, x, 2, 1, 1))
    assert made.document.log_prior == named.log_prior


def test_a_mass_of_more_rows_than_cofactors_take_is_read_beside_a_factor() -> None:
    """What the draws are told by inverts M, of 9 rows of digits where a block lies in a set."""
    entries = np.array([[sp.Float(1 + 9 * (i == j) + 1 / (i + j + 1), 80) for j in range(9)] for i in range(9)])
    product = exact_inverse(entries) @ entries
    assert all(abs(product[i, j] - int(i == j)) < sp.Float(10) ** -75 for i in range(9) for j in range(9))


# Draws: each false alarm is one in 10**6.


@pytest.mark.parametrize("eta", [0.7, 2.0])
def test_draws_of_lkj_have_its_marginals(eta: float) -> None:
    """Every correlation is 2 beta(b, b) - 1, b = eta - 1 + K/2."""
    rng, b = np.random.default_rng(5), eta - 1 + 3 / 2
    draws = np.array([DENSITIES["lkj_cholesky"].draw(rng, (3, 3), eta) for _ in range(4000)])
    R = draws @ draws.transpose(0, 2, 1)
    for i, j in ((1, 0), (2, 0), (2, 1)):
        distance = stats.kstest((R[:, i, j] + 1) / 2, stats.beta(b, b).cdf).statistic
        assert distance < np.sqrt(np.log(2 / 1e-6) / 2 / 4000), (i, j)


ODDS = np.array([0.5, -1.0, 1.5])


@pytest.mark.parametrize(
    ("name", "arguments", "probabilities"),
    [
        ("categorical_logit", [np.broadcast_to(ODDS, (30_000, 3))], np.exp(ODDS) / np.exp(ODDS).sum()),
        (
            "ordered_logistic", [np.full((30_000, 1), 0.4), np.broadcast_to(CUTS, (30_000, 3))],
            np.diff(stats.logistic(0.4).cdf([-np.inf, *CUTS, np.inf])),
        ),
    ],
)  # fmt: skip
def test_classes_and_grades_are_drawn_with_their_probabilities(name: str, arguments: Any, probabilities: Any) -> None:
    draws = DENSITIES[name].draw(np.random.default_rng(4), 30_000, *arguments)
    counts = np.bincount(draws, minlength=len(probabilities))
    squares = ((counts - 30_000 * probabilities) ** 2 / (30_000 * probabilities)).sum()
    assert squares < stats.chi2(len(probabilities) - 1).isf(1e-6)


BUILD = """
name: t
dynamics: sgld
target: target.yaml
bind: {D: I}
scheme: {name: euler}
variant: full
data: {file: data.csv, COLUMNS}
run: {step_size: 0.01}
"""


def drawer(target: str, columns: str, data: str) -> tuple[_Drawer, Any]:
    build = document(BUILD.replace("COLUMNS", columns), target=target, **{"data.csv": data})
    return _Drawer(build, load_data(build.data, build.target), {}, {}), predictive_of(build.target)


def prior_of(target: str, columns: str = "y: a", data: str = "a\n1\n0\n1\n", seed: int = 7) -> dict[str, np.ndarray]:
    own, found = drawer(target, columns, data)
    return {name: x[0] for name, x in own.prior(found.blocks, np.random.default_rng(seed)).items()}


def test_priors_of_factors_and_data_of_classes_are_drawn() -> None:
    own, found = drawer(
        "state: {a: {shape: 2}, L: {shape: [2, 2], constraint: cholesky_factor_corr}, eta: {constraint: positive}}\n"
        "data: {y: {shape: N, index_of: 2}}\nlog_prior: normal(a, 0, 2) + lkj_cholesky(L, eta) + exponential(eta, 1)\n"
        "log_likelihood: categorical_logit(y, L @ a)\n",
        "y: g", "g\n1\n0\n1\n",
    )  # fmt: skip
    assert [one.of for one in found.blocks] == ["a", "eta", "L"]
    rng = np.random.default_rng(6)
    prior = own.prior(found.blocks, rng)
    L = prior["L"][0]
    np.testing.assert_allclose((L**2).sum(axis=-1), 1, rtol=1e-12)
    assert (L[:, 0, 1] == 0).all()
    made = own.data_at(prior, found, [rng])["y"][0]
    assert made.shape == (500, 3)
    eta = (L @ prior["a"][0][:, :, None])[:, :, 0]
    expected = 1 / (1 + np.exp(eta[:, 0] - eta[:, 1]))
    assert abs((made - expected[:, None]).sum()) < 5 * np.sqrt((3 * expected * (1 - expected)).sum())


def test_rows_of_a_matrix_are_drawn_with_the_covariance_of_each_prior_draw() -> None:
    """Standardised by the mean, scales and factor of its draw, every row is N(0, I): 500 x 4 rows, within 5 errors."""
    prior = prior_of(
        "state: {beta: {shape: [4, 2]}, mu: {shape: 2}, L: {shape: [2, 2], constraint: cholesky_factor_corr},\n"
        "  tau: {shape: 2, constraint: positive}}\n"
        "data: {x: {shape: [N, 2]}, g: {shape: N, index_of: 4}, y: {shape: N}}\n"
        "log_prior: multi_normal_cholesky(beta, mu, diag(tau) @ L) + normal(mu, 0, 5) + half_normal(tau, 1)\n"
        "  + lkj_cholesky(L, 2)\nlog_likelihood: normal(y, dot(x, beta[g]), 1/2)\n",
        "x: [a, b], g: g, y: j", "g,a,b,j\n1,0.3,2,1\n0,1,-1,2\n3,1,0.5,1\n", 8,
    )  # fmt: skip
    factors = prior["tau"][:, :, None] * prior["L"]
    apart = prior["beta"] - prior["mu"][:, None, :]
    z = np.linalg.solve(factors[:, None], apart[..., None])[..., 0].reshape(-1, 2)
    assert len(z) == 2000
    assert (abs(z.mean(axis=0)) < 5 / np.sqrt(2000)).all()
    assert (abs(z.T @ z / 2000 - np.eye(2)) < 5 * np.sqrt(2 / 2000)).all()


@pytest.mark.parametrize(
    ("state", "prior", "mean", "scale"),
    [
        *((f"W: {{shape: {axes}}}, M: {{shape: {axes}}}", "normal(W, M, 1/9) + normal(M, 0, 1)", "M", 1 / 9)
          for axes in ("[5, 1]", "[1, 5]", "[5, 2]")),
        ("W: {shape: [5, 2]}, M: {shape: [5, 2]}", "multi_normal(W, M, 9*I) + normal(M, 0, 1)", "M", 3),
        ("W: {shape: [5, 2]}", "multi_normal_cholesky(W, ones @ ones.T, 2*I)", 1, 2),
        ("W: {shape: [2, 2]}", "multi_normal(W, I, 9*I)", np.eye(2), 3),
        ("W: {shape: 1}", "multi_normal(W, 0, 9*I)", 0, 3),
    ],
)  # fmt: skip
def test_entries_of_a_matrix_are_drawn_around_their_means(state: str, prior: str, mean: Any, scale: float) -> None:
    text = f"state: {{{state}}}\ndata: {{y: {{shape: N}}}}\nlog_prior: {prior}\nlog_likelihood: normal(y, 0, 1)\n"
    found = prior_of(text)
    apart = found["W"] - (found["M"] if isinstance(mean, str) else mean)
    assert stats.kstest(apart.ravel() / scale, "norm").pvalue > 1e-6


def test_grades_of_data_are_drawn_row_by_row() -> None:
    X, n = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.5], [0.0, 1.0], [1.5, -1.0]]), 400
    own, found = drawer(
        "state: {b: {shape: 2}, c: {shape: 3, constraint: ordered}}\n"
        "data: {x: {shape: [N, 2]}, y: {shape: N, index_of: 4}}\nlog_prior: normal(b, 0, 5) + normal(c, 0, 5)\n"
        "log_likelihood: ordered_logistic(y, x @ b, c)\n",
        "x: [a, b], y: g", "\n".join(["g,a,b", *(f"{k % 4},{a},{b}" for k, (a, b) in enumerate(X)), ""]),
    )  # fmt: skip
    b = np.array([0.8, -0.6])
    posterior = {"b": np.broadcast_to(b, (1, n, 2)).copy(), "c": np.broadcast_to(CUTS, (1, n, 3)).copy()}
    made = own.data_at(posterior, found, [np.random.default_rng(6)])["y"][0]
    assert made.shape == (n, len(X))
    for k, x in enumerate(X):
        wanted = n * np.diff(stats.logistic(x @ b).cdf([-np.inf, *CUTS, np.inf]))
        counts = np.bincount(made[:, k].astype(int), minlength=4)
        assert (((counts - wanted) ** 2) / wanted).sum() < stats.chi2(3).isf(1e-7), k
